#!/usr/bin/env python3
"""Holds what `yardstick tune` finds against the best of all points of its knobs.

    tools/tune_exhaustive.py STUDY.ys --knobs=threads,wait,malloc,layout [--for=rate_per_s] [--rounds=6] [--points=48] [--budget=TIME]

STUDY.ys has one trial. Every combination of the knobs' values is a section of a study of `--rounds` rounds; the best by the
median is the exhaustive winner. Then `tune` searches the same knobs in a fifth of the time that this took (proofs included,
in both), and both winners and the trial as it is run again, 10 fresh rounds each. What is printed are the three medians, and
the ratio of both winners with its interval. For a quiet machine: it takes hours.
"""
import argparse
import glob
import itertools
import json
import os
import random
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def yardstick(*words, codes=(0, 1, 4)):
    done = subprocess.run([os.path.join(ROOT, "yardstick"), *words], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in codes:
        sys.exit("yardstick %s: exit code %d" % (" ".join(words), done.returncode))
    return json.loads(done.stdout)


def values_of(knob):
    """Lists of lines of a section, the first as it is."""
    values = [[]]
    for value in knob["values"]:
        if value["keys"] == ["threads=each"]:
            values += [["threads = %d" % n] for n in range(1, len(os.sched_getaffinity(0)) + 1)]
            continue
        lines = []
        for key, _, text in (pair.partition("=") for pair in value["keys"]):
            if key == "env.LD_PRELOAD" and "/" not in text:
                text = (glob.glob("/usr/lib/*-linux-gnu*/" + text) + [None])[0]
            lines.append(None if text is None or text == "packed" else "%s = %s" % (key, text))
        if None not in lines:
            values.append(lines)
    return values


def study_of(base, points, name, rounds):
    """The lines of a tuned study's only section, and sections that change them."""
    text = "version = 1\nname = %s\nrepeat = %d\ninterleave = runs\naudit = off\n\n[p0]\n%s\n" % (name, rounds, "\n".join(base))
    return text + "".join("\n[p%d : p0]\n%s\n" % (i, "\n".join(point)) for i, point in enumerate(points) if i)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("study")
    parser.add_argument("--knobs", required=True)
    parser.add_argument("--for", dest="metric", default="rate_per_s")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--points", type=int, default=48, help="so many at most, drawn by lot (seed 1)")
    parser.add_argument("--budget", help="of tune, in the place of a fifth")
    args = parser.parse_args()
    trials = yardstick("check", args.study, "--format=json")["trials"]
    if len(trials) != 1:
        sys.exit("%s has %d trials: one is searched" % (args.study, len(trials)))
    framework = trials[0]["framework"]
    knobs = [knob for knob in yardstick("list", "knobs", framework, "--format=json")["knobs"] if knob["name"] in args.knobs.split(",")]
    points = [sum(choice, []) for choice in itertools.product(*map(values_of, knobs))]
    rest = points[1:]
    random.Random(1).shuffle(rest)
    points = points[:1] + rest[:args.points - 1]
    with open(args.study, encoding="utf-8") as file:
        own = [line.strip() for line in file if "=" in line and not line.strip().startswith((";", "#", "version", "name", "repeat"))]
    with open("exhaustive.ys", "w", encoding="utf-8") as file:
        file.write(study_of(own, points, "exhaustive", args.rounds))
    started = time.monotonic()
    found = yardstick("run", "exhaustive.ys", "--format=json", codes=(0, 1, 5))
    spent_s = time.monotonic() - started
    sign = 1 if found["metrics"][args.metric]["better"] == "higher" else -1
    medians = {trial["id"]: trial["metrics"][args.metric]["value"] for trial in found["trials"]}
    medians = {name: value for name, value in medians.items() if value is not None}
    best = max(medians, key=lambda name: sign * medians[name])
    print("%d points, %.0f s; the best is %s: %s" % (len(points), spent_s, best, points[int(best[1:])]), flush=True)
    budget = args.budget or "%ds" % (spent_s / 5)
    tuned = yardstick("tune", args.study, "--for=" + args.metric, "--budget=" + budget, "--knobs=" + args.knobs, "--format=json")
    answer = tuned["trials"][0]
    print(answer["sentence"], flush=True)
    lines = [line for line in answer["lines"] if not line.startswith(";")]
    with open("winners.ys", "w", encoding="utf-8") as file:
        file.write("version = 1\nname = winners\nrepeat = 10\ninterleave = runs\n\n[as-it-is]\n%s\n\n[exhaustive : as-it-is]\n%s\n\n[tuned]\n%s\n" %
                   ("\n".join(own), "\n".join(points[int(best[1:])]), "\n".join(lines)))
    fresh = yardstick("run", "winners.ys", "--format=json", codes=(0, 1, 5))
    for trial in fresh["trials"]:
        print("%-12s %s" % (trial["id"], trial["metrics"][args.metric]["value"]))
    for pair in yardstick("compare", "winners/exhaustive", "winners/tuned", "--format=json")["pairs"]:
        for metric in pair["metrics"]:
            if metric["metric"] == args.metric:
                print("tuned / exhaustive: %s %s, %s" % (metric["ratio"], metric["ci"], metric["verdict"]))


main()
