#!/usr/bin/env python3
"""Runs the tests of a build folder and counts their cases.

    tools/run_tests.py BUILD [--suite NAME ...] [--test NAME ...] [--except NAME ...] [--all] [--frameworks [NAME ...]] [--jobs N] [--slowest N] [--verbose]

Every test is a program that speaks TAP. Prints what failed or was skipped, then `N passed, N failed, N skipped`.
Those that took longest the last time (BUILD/test-seconds.json) start first, so that no long one is left alone at the end.
As many run side by side as there are cores, without --suite and the like twice as many: half of what those take is waiting.
Without --suite four suites are left out: `slow`, what takes long and rarely fails, `frameworks`, what needs one installed,
`exports`, hours of networks that other programs exported, and `memory`, gigabytes through every framework. --all runs the first
two too, --suite slow the one alone.
--slowest lists the N programs that took longest, and what all took together.
--test runs the program of that name (cli/life), beside what --suite names.
--except leaves out what is in that suite, whatever else it is in.
--frameworks runs the suites that need one installed, then `yardstick list frameworks --check` of every framework that is
installed, each of whose cases counts; those that are not are skipped. With names, only the tests and checks of those.
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

LINE = re.compile(r"^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*SKIP\b\s*(.*))?$", re.IGNORECASE)
SKIPPED = re.compile(r"^1\.\.0\s*#\s*SKIP\b\s*(.*)$", re.IGNORECASE)
FRAMEWORK_SUITE = "frameworks"
FRAMEWORK_OF = "of-"  # before the name of the framework that a test is of
SLOW_SUITE = "slow"
BY_NAME_ALONE = {"exports", "memory"}
OF_ONE_CORE = {FRAMEWORK_SUITE, "one-core"}  # what starts programs of one thread, which takes the first core that it may use
LEFT_OPEN_S = 10  # what a program that took too long had printed is waited for


def list_tests(build):
    done = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True)
    if done.returncode:
        sys.exit("run_tests: %s is no build folder (make makes it): %s" % (build, (done.stdout + done.stderr).strip()))
    return json.loads(done.stdout)


def suites_of(test):
    return {suite.split(":")[-1] for suite in test["suite"]}


def of_those(test, frameworks):
    """Whether a test is of no framework in particular, or of one of those named; all are where none is named."""
    of = {suite[len(FRAMEWORK_OF):] for suite in suites_of(test) if suite.startswith(FRAMEWORK_OF)}
    return not frameworks or not of or bool(of & set(frameworks))


def seconds_file(build):
    return os.path.join(build, "test-seconds.json")


def read_seconds(build):
    """How long each test took the last time, by name; one that never ran is taken for a long one."""
    try:
        with open(seconds_file(build), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write_seconds(build, seconds):
    with open(seconds_file(build) + ".new", "w", encoding="utf-8") as file:
        json.dump(seconds, file, indent=0, sort_keys=True)
    os.replace(seconds_file(build) + ".new", seconds_file(build))


@contextlib.contextmanager
def on_cores_for(test, cores):
    """Inside, what a worker of a core starts may use that core, or all of `cores`, as the test is."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, own if OF_ONE_CORE & suites_of(test) else cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def run_timed(test, seconds, cores):
    started = time.monotonic()
    with on_cores_for(test, cores):
        result = run_one(test)
    seconds[test["name"]] = round(time.monotonic() - started, 2)
    return result


def run_one(test):
    env = dict(os.environ, **test["env"])
    try:
        process = subprocess.Popen(test["cmd"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", env=env, cwd=test["workdir"] or None)
    except FileNotFoundError as lacking:
        return test, "nothing", "", "%s is not there: `ninja -C BUILD` builds the tests" % lacking.filename
    try:
        out, err = process.communicate(timeout=test["timeout"] or None)
        return test, process.returncode, out, err
    except subprocess.TimeoutExpired as late:
        return test, "timeout", said_until_ended(process, late), "no end within its time limit of %d s" % test["timeout"]


def said_until_ended(process, late):
    """Ends a program and returns what it had printed. What it started may outlive it and hold the pipe open: nobody waits for that."""
    process.kill()
    try:
        return process.communicate(timeout=LEFT_OPEN_S)[0]
    except subprocess.TimeoutExpired:
        return (late.stdout or b"").decode(errors="replace")


def count(test, code, out, err, verbose):
    passed = failed = skipped = 0
    notes, lines = [], []
    for line in out.splitlines():
        whole, match = SKIPPED.match(line), LINE.match(line)
        if whole:
            skipped += 1
            lines.append("skip %s: all of it (%s)" % (test["name"], whole.group(1)))
            continue
        if not match:
            notes.append(line)
            continue
        bad, name, reason = match.groups()
        if bad:
            failed += 1
            lines.append("FAIL %s: %s" % (test["name"], name))
            lines += ["     " + note for note in notes[-12:]]
        elif reason is not None:
            skipped += 1
            lines.append("skip %s: %s (%s)" % (test["name"], name, reason))
        else:
            passed += 1
            if verbose:
                lines.append("ok   %s: %s" % (test["name"], name))
        notes = []
    if code != 0 and not failed:
        failed += 1
        lines.append("FAIL %s: the program ended with %s" % (test["name"], code))
        lines += ["     " + line for line in (out.splitlines()[-5:] + err.splitlines()[-15:])]
    elif not passed + failed + skipped:
        failed += 1
        lines.append("FAIL %s: no case ran" % test["name"])
    if lines:
        print("\n".join(lines), flush=True)
    return passed, failed, skipped


def list_frameworks(program, env, names):
    """What there is, the largest first, so that none is left alone at the end; only `names` where some are given."""
    text = subprocess.run([program, "list", "frameworks", "--format=json"], check=True, capture_output=True, text=True, env=env).stdout
    known = json.loads(text)["frameworks"]
    for name in names:
        if name not in [entry.get("spec", entry["name"]) for entry in known]:
            sys.exit("run_tests: there is no framework %s" % name)
    wanted = [entry for entry in known if not names or entry.get("spec", entry["name"]) in names]
    return sorted(wanted, key=lambda entry: -(entry.get("size_bytes") or 0))


def check_framework(program, env, entry, verbose):
    """The counts of one framework's check."""
    spec = entry.get("spec", entry["name"])
    if entry["state"] == "damaged":
        print("FAIL %s: %s" % (spec, entry.get("reason")), flush=True)
        return 0, 1, 0
    if entry["state"] != "ready":
        print("skip %s: %s%s" % (spec, entry.get("reason"), "; run: " + entry["command"] if entry.get("command") else ""), flush=True)
        return 0, 0, 1
    done = subprocess.run([program, "list", "frameworks", "--check=" + spec, "--format=json"], capture_output=True, text=True,
                          errors="replace", env=env, stdin=subprocess.DEVNULL)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print("FAIL %s: its check ended with %s: %s" % (spec, done.returncode, done.stderr.strip()[-1000:]), flush=True)
        return 0, 1, 0
    for line in report["cases"]:
        if line["verdict"] == "fail":
            figures = "%s %s, bound %s, in %s" % (line.get("check"), line.get("error"), line.get("bound"), line.get("worst"))
            print("FAIL %s, %s: %s; %s" % (spec, line["name"], figures, line.get("message")))
        elif verbose or line["verdict"] == "unsupported":
            print("%-4s %s, %s: %s" % ({"pass": "ok", "unsupported": "no"}.get(line["verdict"], line["verdict"]), spec, line["name"],
                                       line.get("message") or ""))
    failed = report["failed"] or (1 if done.returncode else 0)
    counts = "%d passed, %d failed, %d unsupported" % (report["passed"], failed, report["unsupported"])
    print("check %s: %s" % (" ".join(filter(None, (spec, report["version"]))), counts), flush=True)
    return report["passed"], failed, 0


def prepare_checks(build, names):
    """What check_framework() is to be called with, for each framework; an unknown name ends the program."""
    folder, root = os.path.abspath(os.path.join(build, "src")), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    env = dict(os.environ, YARDSTICK_BIN=folder, YARDSTICK_HOME=root)
    program = os.path.join(folder, "yardstick")
    if not os.path.exists(program):
        sys.exit("run_tests: %s is not there: `ninja -C %s` builds it" % (program, build))
    return [(program, env, entry) for entry in list_frameworks(program, env, names)]


def workers_of_a_core(jobs):
    """For what runs frameworks with one thread, which takes the first core it may use: each of those side by side gets a core of its own."""
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))
    return concurrent.futures.ThreadPoolExecutor(jobs, initializer=lambda: os.sched_setaffinity(0, {next(cores)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--test", action="append", default=[])
    parser.add_argument("--except", action="append", default=[], dest="left_out")
    parser.add_argument("--frameworks", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--slowest", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs, and so in what they start
    tests = list_tests(arguments.build)
    checks = prepare_checks(arguments.build, arguments.frameworks) if arguments.frameworks is not None else []
    wanted = set(arguments.suite) | ({FRAMEWORK_SUITE} if arguments.frameworks is not None else set())
    if unknown := set(arguments.test) - {t["name"] for t in tests}:
        sys.exit("run_tests: there is no test %s: `meson test -C %s --list` lists them" % (" ".join(sorted(unknown)), arguments.build))
    if wanted or arguments.test:
        tests = [t for t in tests if wanted & suites_of(t) or t["name"] in arguments.test]
    else:
        left_out = BY_NAME_ALONE if arguments.all else BY_NAME_ALONE | {SLOW_SUITE, FRAMEWORK_SUITE}
        tests = [t for t in tests if not left_out & suites_of(t)]
    tests = [t for t in tests if not set(arguments.left_out) & suites_of(t) and of_those(t, arguments.frameworks)]
    totals, before, seconds = [0, 0, 0], read_seconds(arguments.build), {}
    tests.sort(key=lambda t: (-t["priority"], -before.get(t["name"], float("inf"))))
    cores = os.sched_getaffinity(0)
    jobs = arguments.jobs or len(cores)
    with workers_of_a_core(jobs if arguments.jobs or wanted or arguments.test or arguments.all else 2 * jobs) as pool:
        for job in concurrent.futures.as_completed([pool.submit(run_timed, t, seconds, cores) for t in tests if t["is_parallel"]]):
            totals = [a + b for a, b in zip(totals, count(*job.result(), arguments.verbose))]
    for test in tests:
        if not test["is_parallel"]:
            totals = [a + b for a, b in zip(totals, count(*run_timed(test, seconds, cores), arguments.verbose))]
    write_seconds(arguments.build, dict(before, **seconds))
    with workers_of_a_core(jobs) as pool:
        for counts in pool.map(lambda check: check_framework(*check, arguments.verbose), checks):
            totals = [a + b for a, b in zip(totals, counts)]
    if arguments.slowest:
        longest = sorted(seconds.items(), key=lambda item: -item[1])[:arguments.slowest]
        for name, took in longest:
            print("%8.2f s  %s" % (took, name))
        print("%8.2f s  all of them together" % sum(seconds.values()))
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
