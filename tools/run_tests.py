#!/usr/bin/env python3
"""Runs the tests of a build folder and counts their cases.

    tools/run_tests.py BUILD [--suite NAME ...] [--frameworks] [--jobs N] [--verbose]

Every test is a program that speaks TAP. Prints what failed or was skipped, then `N passed, N failed, N skipped`.
--frameworks runs the suites that need PyTorch, and fails where they could only skip.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

LINE = re.compile(r"^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*SKIP\b\s*(.*))?$", re.IGNORECASE)
SKIPPED = re.compile(r"^1\.\.0\s*#\s*SKIP\b\s*(.*)$", re.IGNORECASE)
FRAMEWORK_SUITE = "frameworks"


def list_tests(build):
    text = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def run_one(test):
    env = dict(os.environ, **test["env"])
    command = test["cmd"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=env, cwd=test["workdir"] or None,
                              timeout=test["timeout"] or None, stdin=subprocess.DEVNULL)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, out, err = "timeout", (late.stdout or b"").decode(errors="replace"), "no end within its time limit"
    return test, code, out, err


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--frameworks", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    tests = list_tests(arguments.build)
    wanted = set(arguments.suite) | ({FRAMEWORK_SUITE} if arguments.frameworks else set())
    if wanted:
        tests = [t for t in tests if wanted & {s.split(":")[-1] for s in t["suite"]}]
    totals = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(run_one, t) for t in sorted(tests, key=lambda t: -t["priority"]) if t["is_parallel"]]
        for job in concurrent.futures.as_completed(jobs):
            totals = [a + b for a, b in zip(totals, count(*job.result(), arguments.verbose))]
    for test in tests:
        if not test["is_parallel"]:
            totals = [a + b for a, b in zip(totals, count(*run_one(test), arguments.verbose))]
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    if arguments.frameworks and totals[2]:
        print("run_tests: with --frameworks nothing may skip: yardstick install pytorch", file=sys.stderr)
        return 1
    return 1 if totals[1] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
