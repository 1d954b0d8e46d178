#!/usr/bin/env python3
"""What turns are worth on this machine beside runs: figures of docs/statistics.md.

    tools/turns_figures.py burner [--studies N] [--by-runs N] [--rounds N] [--seconds S] [--quiet]
    tools/turns_figures.py alike [--studies N] [--framework NAME] [--model NAME]

burner: two adapters that compute, 3 % apart, by turns and by runs, as long each, while a program burns the same processor,
on and off at random for 0.2 to 5 s (--quiet: none does). How often each manner tells them apart at margin 0, and how many
times narrower its interval is; by runs none is left out (on_disturbance = ignore).
alike: one trial under two names, by turns; how often the interval holds 1. It should in 19 of 20.
"""
import argparse
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPERATIONS = 2e6  # of a row of the faster one


def run(folder, *words):
    command = [os.path.join(ROOT, "yardstick"), "run", "--results=" + folder, "--audit=off", "--quiet", "--margin=0", "--threads=1",
               "--data=digits", "--format=json", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout)


def speed(result):
    [found] = [one for one in result["comparisons"] if one["metric"] == "rate_per_s"]
    return found


def width(ends):
    return math.log(ends[1] / ends[0])


def burn(cpu, seed):
    """A child that burns a processor on and off, until it is killed or its parent has gone."""
    parent, child = os.getpid(), os.fork()
    if child:
        return child
    os.sched_setaffinity(0, {cpu})
    rng = random.Random(seed)
    while os.getppid() == parent:
        until = time.monotonic() + rng.uniform(0.2, 5)
        while time.monotonic() < until:
            pass
        time.sleep(rng.uniform(0.2, 5))


def rows_per_s(folder):
    """Of the faster adapter, so that a run takes as long as it should."""
    result = run(folder, "--framework=null", "--model=mlp", "--batch=8", "--steps=60", "--block=2", "--repeat=1",
                 "--opt.null.burn=%d" % OPERATIONS)
    return result["trials"][0]["metrics"]["rate_per_s"]["value"]


def burner(asked, folder):
    cpu = min(os.sched_getaffinity(0))
    steps = max(60, int(asked.seconds * rows_per_s(folder) / 8))
    apart, widths = {"blocks": 0, "runs": 0}, {"blocks": [], "runs": []}
    child = None if asked.quiet else burn(cpu, asked.seed)
    try:
        for i in range(asked.studies):
            for manner in ("blocks", "runs") if i < asked.by_runs else ("blocks",):
                # By runs each was disturbed and would be left out: all count. By turns pairs of cycles are left out.
                found = speed(run(folder, "--framework=null", "--model=mlp", "--batch=8", "--steps=%d" % steps, "--block=1",
                                  "--repeat=%d" % asked.rounds, "--interleave=" + manner, "--seed=%d" % (1000 * i + 1), "--cpus=%d" % cpu,
                                  "--on-disturbance=" + ("mark" if manner == "blocks" else "ignore"),
                                  "--opt.null.burn=%d,%d" % (OPERATIONS, OPERATIONS * 1.03)))
                apart[manner] += found["verdict"] == "worse"
                widths[manner].append(width(found["ci"]))
                print("study %d by %s: %.4f to %.4f, %s" % (i + 1, manner, *found["ci"], found["verdict"]), flush=True)
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    for manner in filter(widths.get, apart):
        print("by %s: told apart %d of %d, half width %.2f %% (median)" % (manner, apart[manner], len(widths[manner]), 50 * statistics.median(widths[manner])))
    if widths["runs"]:
        print("by turns %.2f times narrower (median)" % statistics.median(r / t for r, t in zip(widths["runs"], widths["blocks"])))


def alike(asked, folder):
    held = 0
    for i in range(asked.studies):
        found = speed(run(folder, "--framework=" + asked.framework, "--model=" + asked.model, "--batch=%d" % asked.batch,
                          "--steps=%d" % asked.steps, "--block=2", "--repeat=%d" % asked.rounds, "--interleave=blocks",
                          "--seed=%d" % (1000 * i + 1), "--on-disturbance=mark", "--env.TWIN=a,b"))
        held += found["ci"][0] <= 1 <= found["ci"][1]
        print("study %d: %.3f (%.3f to %.3f)" % (i + 1, found["ratio"], *found["ci"]), flush=True)
    print("%s, %s: the interval holds 1 in %d of %d" % (asked.framework, asked.model, held, asked.studies))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("burner", "alike"))
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--by-runs", type=int, default=20, help="so many of the first studies are made by runs as well")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5, help="that each adapter of a round takes (a round is of two)")
    parser.add_argument("--quiet", action="store_true", help="no burner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--framework", default="builtin")
    parser.add_argument("--model", default="lenet")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=90)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ys-turns-") as folder:
        {"burner": burner, "alike": alike}[asked.what](asked, folder)


if __name__ == "__main__":
    main()
