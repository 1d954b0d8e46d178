#!/usr/bin/env python3
"""Runs the tests of a build folder and counts their cases.

    tools/run_tests.py BUILD [--suite NAME ...] [--test NAME ...] [--except NAME ...] [--all] [--frameworks [NAME ...]] [--quick NAME ...]
                       [--third N,...] [--jobs N] [--slowest N] [--verbose]

Every test is a program that speaks TAP. Prints what failed, a line for each reason to skip what was skipped (--verbose: each of
those too), then `N passed, N failed, N skipped`. How far it is stands on stderr, with the time left where a run before tells it.
Those that took longest the last time (BUILD/test-seconds.json) start first, so that no long one is left alone at the end.
As many run side by side as there are cores, without --suite and the like twice as many: half of what those take is waiting.
Without --suite four suites are left out: `slow`, what takes long and rarely fails, `frameworks`, what needs one installed,
`exports`, hours of networks that other programs exported, and `memory`, gigabytes through every framework. --all runs the first
two too, --suite slow the one alone.
--slowest lists the N programs that took longest, and what all took together.
--test runs the program of that name (cli/life), beside what --suite names.
--except leaves out what is in that suite, whatever else it is in.
--third: only every third of those programs, by name, from the Nth on (0 to 2); 0,2: those two thirds.
--frameworks runs the suites that need one installed, and `yardstick list frameworks --check` of every framework that is
installed, each of whose cases counts; those that are not are skipped. With names, only the tests and checks of those.
--quick names frameworks of which only the tests of the adapter are run, and the check with --quick.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import functools
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import thirds

LINE = re.compile(r"^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*SKIP\b\s*(.*))?$", re.IGNORECASE)
SKIPPED = re.compile(r"^1\.\.0\s*#\s*SKIP\b\s*(.*)$", re.IGNORECASE)
FRAMEWORK_SUITE = "frameworks"
FRAMEWORK_OF = "of-"  # before the name of the framework that a test is of
SLOW_SUITE = "slow"
BY_NAME_ALONE = {"exports", "memory"}
OF_ONE_CORE = {FRAMEWORK_SUITE, "one-core"}  # what starts programs of one thread, which takes the first core that it may use
LEFT_OPEN_S = 10  # what a program that took too long had printed is waited for
SAID_EVERY_S = 30  # how far it is, where stderr is no terminal
PLACES = 4  # named of those where something was skipped for one reason


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
    new = "%s.%d" % (seconds_file(build), os.getpid())  # several may run at once (tools/matrix.py)
    with open(new, "w", encoding="utf-8") as file:
        json.dump(seconds, file, indent=0, sort_keys=True)
    os.replace(new, seconds_file(build))


class Teller:
    """What is printed while tests run: failures at once, how far it is, and at the end why what was skipped."""

    def __init__(self, names, before, jobs, verbose):
        self.left, self.all, self.before, self.jobs, self.verbose = set(names), len(names), before, jobs, verbose
        self.skips = collections.defaultdict(list)  # reason -> where, once for each case
        self.rows = set()  # of a table that the tests of a suite fill together
        self.said, self.shown = time.monotonic(), False

    def print(self, lines):
        if lines:
            self.clear()
            print("\n".join(lines), flush=True)

    def skip(self, where, name, reason):
        self.skips[reason].append(where)
        if self.verbose:
            self.print(["skip %s: %s (%s)" % (where, name, reason)])

    def end_of(self, name):
        self.left.discard(name)
        self.show()

    def text(self):
        known = [self.before[name] for name in self.left if name in self.before]
        text = "%d of %d programs" % (self.all - len(self.left), self.all)
        if len(known) < 0.9 * len(self.left) or not known:
            return text
        left_s = max(sum(known) / self.jobs, max(known))
        return text + ", about %s left" % ("%d min" % round(left_s / 60) if left_s >= 90 else "%d s" % left_s)

    def show(self):
        if sys.stderr.isatty():
            print("\r\033[K" + self.text(), end="", file=sys.stderr, flush=True)
            self.shown = True
        elif time.monotonic() - self.said >= SAID_EVERY_S:
            self.said = time.monotonic()
            print(self.text(), file=sys.stderr, flush=True)

    def clear(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.shown = False

    def sum_up(self):
        """The rows of tables by their names, and a line for each reason, the most frequent first."""
        self.clear()
        for row in sorted(self.rows):
            print(row)
        for reason, where in sorted(self.skips.items(), key=lambda item: (-len(item[1]), item[0])):
            names = sorted(set(where))
            names[PLACES:] = ["%d more programs" % (len(names) - PLACES)] if len(names) > PLACES + 1 else names[PLACES:]
            print("skip %d %s: %s (%s)" % (len(where), "cases" if len(where) > 1 else "case", reason, ", ".join(names)))


@contextlib.contextmanager
def on_cores_for(test, cores):
    """Inside, what a worker of a core starts may use that core, or all of `cores`, as the test is."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, own if OF_ONE_CORE & suites_of(test) else cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def run_one(test, cores):
    with on_cores_for(test, cores):
        return run_to_its_end(test)


def run_to_its_end(test):
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


def count(test, code, out, err, teller):
    passed = failed = skipped = 0
    notes, lines = [], []
    teller.rows.update(line[2:] for line in out.splitlines() if line.startswith("# | "))
    for line in out.splitlines():
        whole, match = SKIPPED.match(line), LINE.match(line)
        if whole:
            skipped += 1
            teller.skip(test["name"], "all of it", whole.group(1))
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
            teller.skip(test["name"], name, reason or "without a reason")
        else:
            passed += 1
            if teller.verbose:
                lines.append("ok   %s: %s" % (test["name"], name))
        notes = []
    if code != 0 and not failed:
        failed += 1
        lines.append("FAIL %s: the program ended with %s" % (test["name"], code))
        lines += ["     " + line for line in (out.splitlines()[-5:] + err.splitlines()[-15:])]
    elif not passed + failed + skipped:
        failed += 1
        lines.append("FAIL %s: no case ran" % test["name"])
    teller.print(lines)
    return passed, failed, skipped


def spec_of(entry):
    return entry.get("spec", entry["name"])


def list_frameworks(program, env, names):
    """What there is, the largest first, so that none is left alone at the end; only `names` where some are given."""
    text = subprocess.run([program, "list", "frameworks", "--format=json"], check=True, capture_output=True, text=True, env=env).stdout
    known = json.loads(text)["frameworks"]
    for name in names:
        if name not in [spec_of(entry) for entry in known]:
            sys.exit("run_tests: there is no framework %s" % name)
    wanted = [entry for entry in known if not names or spec_of(entry) in names]
    return sorted(wanted, key=lambda entry: -(entry.get("size_bytes") or 0))


def run_check(program, env, entry, quick):
    """The framework, what came of its check (None: it is not there to be checked), and whether it was a quick one."""
    if entry["state"] != "ready":
        return entry, None, quick
    command = [program, "list", "frameworks", "--check=" + spec_of(entry), "--format=json"] + ["--quick"] * quick
    return entry, subprocess.run(command, capture_output=True, text=True, errors="replace", env=env, stdin=subprocess.DEVNULL), quick


def count_check(entry, done, quick, teller):
    """The counts of one framework's check."""
    spec, lines = spec_of(entry), []
    if done is None and entry["state"] != "damaged":
        teller.skip("check of " + spec, "all of it", "%s%s" % (entry.get("reason"), "; run: " + entry["command"] if entry.get("command") else ""))
        return 0, 0, 1
    try:
        report = json.loads(done.stdout) if done else None
    except ValueError:
        report = None
    if not report:
        why = "its check ended with %s: %s" % (done.returncode, done.stderr.strip()[-1000:]) if done else entry.get("reason")
        teller.print(["FAIL %s: %s" % (spec, why)])
        return 0, 1, 0
    for line in report["cases"]:
        if line["verdict"] == "fail":
            figures = "%s %s, bound %s, in %s" % (line.get("check"), line.get("error"), line.get("bound"), line.get("worst"))
            lines.append("FAIL %s, %s: %s; %s" % (spec, line["name"], figures, line.get("message")))
        elif teller.verbose or line["verdict"] == "unsupported":
            lines.append("%-4s %s, %s: %s" % ({"pass": "ok", "unsupported": "no"}.get(line["verdict"], line["verdict"]), spec, line["name"],
                                              line.get("message") or ""))
    failed = report["failed"] or (1 if done.returncode else 0)
    counts = "%d passed, %d failed, %d unsupported" % (report["passed"], failed, report["unsupported"])
    teller.print(lines + ["%s %s: %s" % ("quick check" if quick else "check", " ".join(filter(None, (spec, report["version"]))), counts)])
    return report["passed"], failed, 0


def prepare_checks(build, names):
    """What run_check() is to be called with, for each framework; an unknown name ends the program."""
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


def as_they_end(jobs, teller):
    """Of those that ended since the last look the one that started first comes first."""
    started, left = {job: i for i, job in enumerate(jobs)}, set(jobs)
    while left:
        ended, left = concurrent.futures.wait(left, 1 if sys.stderr.isatty() else SAID_EVERY_S, concurrent.futures.FIRST_COMPLETED)
        yield from sorted(ended, key=started.get)
        teller.show()


def choose(arguments):
    """The tests, the checks of frameworks, and whether it is about frameworks at all."""
    tests, whole, quick = list_tests(arguments.build), arguments.frameworks, arguments.quick
    checks = [] if whole is None else [(*check, False) for check in prepare_checks(arguments.build, whole)]
    checks += [(*check, True) for check in prepare_checks(arguments.build, quick)] if quick else []
    of_frameworks = whole is not None or bool(quick)
    wanted = set(arguments.suite) | ({FRAMEWORK_SUITE} if of_frameworks else set())
    if unknown := set(arguments.test) - {t["name"] for t in tests}:
        sys.exit("run_tests: there is no test %s: `meson test -C %s --list` lists them" % (" ".join(sorted(unknown)), arguments.build))
    if wanted or arguments.test:
        tests = [t for t in tests if wanted & suites_of(t) or t["name"] in arguments.test]
    else:
        left_out = BY_NAME_ALONE if arguments.all else BY_NAME_ALONE | {SLOW_SUITE, FRAMEWORK_SUITE}
        tests = [t for t in tests if not left_out & suites_of(t)]
    tests = [t for t in tests if not set(arguments.left_out) & suites_of(t) and of_those(t, (whole or []) + quick if whole != [] else [])]
    if quick and whole is None:
        tests = [t for t in tests if any(suite.startswith(FRAMEWORK_OF) for suite in suites_of(t))]
    tests = thirds.of(sorted(tests, key=lambda test: test["name"]), arguments.third)
    if whole:  # those of all that are installed ask for it
        os.environ["FRAMEWORKS"] = " ".join(whole)
    return tests, checks, of_frameworks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--test", action="append", default=[])
    parser.add_argument("--except", action="append", default=[], dest="left_out")
    parser.add_argument("--frameworks", nargs="*", metavar="NAME")
    parser.add_argument("--quick", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--slowest", type=int, default=0, metavar="N")
    parser.add_argument("--third", type=thirds.parse)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs, and so in what they start
    tests, checks, of_frameworks = choose(arguments)
    totals, before, seconds = [0, 0, 0], read_seconds(arguments.build), {}
    cores = os.sched_getaffinity(0)
    jobs = arguments.jobs or len(cores)
    usual = not (arguments.jobs or arguments.suite or arguments.test or of_frameworks or arguments.all)
    # Name, priority, whether others may run beside it, what to call, and what to call with what that returned.
    tasks = [(t["name"], t["priority"], t["is_parallel"], functools.partial(run_one, t, cores), count) for t in tests]
    tasks += [("check of " + spec_of(entry), 0, True, functools.partial(run_check, program, env, entry, quick), count_check)
              for program, env, entry, quick in checks]
    tasks.sort(key=lambda task: (-task[1], -before.get(task[0], float("inf"))))
    teller = Teller([task[0] for task in tasks], before, jobs, arguments.verbose)

    def timed(task):
        started = time.monotonic()
        result = task[3]()
        seconds[task[0]] = round(time.monotonic() - started, 2)
        return task, result

    def add(task, result):
        totals[:] = [a + b for a, b in zip(totals, task[4](*result, teller))]
        teller.end_of(task[0])

    with workers_of_a_core(2 * jobs if usual else jobs) as pool:
        for job in as_they_end([pool.submit(timed, task) for task in tasks if task[2]], teller):
            add(*job.result())
    for task in tasks:
        if not task[2]:
            add(*timed(task))
    write_seconds(arguments.build, dict(before, **seconds))
    teller.sum_up()
    if arguments.slowest:
        longest = sorted(seconds.items(), key=lambda item: -item[1])[:arguments.slowest]
        for name, took in longest:
            print("%8.2f s  %s" % (took, name))
        print("%8.2f s  all of them together" % sum(seconds.values()))
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
