#!/usr/bin/env python3
"""Runs the first study and MNIST as a user would, and holds what they must say.

    tools/prove_studies.py [--data DIR] [--program ./yardstick]

Needs PyTorch installed. DIR holds mnist/ with the four IDX files (default: the variable YS_DATA_DIR); without it MNIST is
skipped. No time is asserted. Ends with `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
counts = {"passed": 0, "failed": 0, "skipped": 0}


def holds(what, ok, why=""):
    counts["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL %s %s" % (what, why), flush=True)


def run(program, folder, *arguments):
    command = [program, "run"] + list(arguments) + ["--results=" + folder, "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=ROOT)
    holds("%s exits 0" % " ".join(arguments), done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr[-1500:]))
    return json.loads(done.stdout) if done.stdout else {"trials": [], "comparisons": []}


def value(trial, metric):
    return trial["metrics"].get(metric, {}).get("value")


def first_study(program, folder):
    result = run(program, folder, "studies/first.ys", "--repeat=6")
    holds("the first study has four trials", len(result["trials"]) == 4)
    for trial in result["trials"]:
        name = trial["id"]
        holds(name + " is ok in six rounds", trial["status"] == "ok" and trial["runs"] == 6, str(trial["status"]))
        holds(name + " is proven", trial["proof"]["verdict"] == "pass", str(trial["proof"].get("reason")))
        holds(name + " learns", (value(trial, "accuracy") or 0) > 0.9, str(value(trial, "accuracy")))
        holds(name + " has a speed", (value(trial, "rate_per_s") or 0) > 0)
    rates = [c for c in result["comparisons"] if c["metric"] == "rate_per_s" and c["varies"] == "framework"]
    holds("the frameworks are compared, on one thread and on two", len(rates) == 2)
    for c in rates:
        if c["left_out"] and not c["ci"]:
            print("skip an interval of %s against %s: %s" % (c["a"], c["b"], c["reason"]))
            counts["skipped"] += 1
        else:
            holds("%s against %s has an interval" % (c["a"], c["b"]), c["ci"] and c["verdict"] != "invalid", str(c["reason"]))
    dense = run(program, folder, "--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=32", "--steps=48", "--lr=0.04",
                 "--momentum=0.9", "--repeat=1")
    best = max(value(t, "accuracy") or 0 for t in result["trials"])
    flat = value(dense["trials"][0], "accuracy") or 1
    holds("a network without convolutions stays behind on the digits", flat < best, "%s against %s" % (flat, best))


def mnist(program, folder, data):
    source = os.path.join(data, "mnist") if data else None
    if not source or not os.path.isdir(source):
        print("skip MNIST: no folder with its files (YS_DATA_DIR)")
        counts["skipped"] += 1
        return
    done = subprocess.run([program, "data", "fetch", "mnist", "--from", source], capture_output=True, text=True)
    holds("MNIST can be imported", done.returncode == 0, done.stderr)
    result = run(program, folder, "studies/mnist.ys", "--repeat=1")
    for trial in result["trials"]:
        accuracy = value(trial, "accuracy") or 0
        print("MNIST, one epoch: %s %.2f %%, %.0f images/s" % (trial["id"], accuracy * 100, value(trial, "rate_per_s") or 0))
        holds(trial["id"] + " reaches 98 % verified", accuracy >= 0.98, str(accuracy))
        holds(trial["id"] + " is proven", trial["proof"]["verdict"] == "pass")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("YS_DATA_DIR"))
    parser.add_argument("--program", default=os.path.join(ROOT, "yardstick"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first_study(arguments.program, folder)
        mnist(arguments.program, folder, arguments.data)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
