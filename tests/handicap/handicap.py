#!/usr/bin/env python3
"""Is a framework slower under yardstick than in a loop of its own?

    tests/handicap/handicap.py [NAME ...] [--pairs N] [--steps N] [--threads N] [--seed N] [--kept]

In turn, the order inside a pair drawn from the seed: yardstick's run of LeNet (64 rows, random images), and the loop of
NAME_loop.py in the same environment over the same prepared files. Both rates are of the second half of the steps, from the
start of its first block to the end of its last. Prints a table in Markdown: the median of the ratios with the lowest and the highest, which of six
pairs hold the true median at 96.9 %. Nothing else should run.

Beside it stands what tells causes apart, the medians of both: processor time a step, of the steps alone without the first of them; page
faults and voluntary switches a step, of the whole process with its start. With --kept the C library of both sides keeps freed memory
(as studies/bench/memory-kept.inc): what is left then of a difference is not the page faults'.
"""
import argparse
import collections
import glob
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BATCH, BLOCK = 64, 10
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "67108864"}
# Of one process: rows a second; the rest is a step's.
Taken = collections.namedtuple("Taken", "rate cpu_ms faults switches")


def home_cache():
    return os.environ.get("YARDSTICK_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "yardstick")


def loops():
    return sorted(os.path.basename(path)[:-len("_loop.py")] for path in glob.glob(os.path.join(HERE, "*_loop.py")))


def rate(blocks, steps):
    """Rows a second over the second half; blocks are (first step, start, end)."""
    half = [block for block in blocks if block[0] >= steps // 2]
    return (steps - half[0][0]) * BATCH / (half[-1][2] - half[0][1]) * 1e9


class Pairs:
    def __init__(self, name, options, folder):
        self.name, self.options, self.folder = name, options, folder
        self.kept = KEPT if options.kept else {}
        self.cache = os.path.join(folder, "cache")
        pythons = sorted(glob.glob(os.path.join(self.cache, "envs", name + "@*", "env", "bin", "python")))
        self.python = pythons[-1] if pythons else None

    def under_yardstick(self):
        environment = dict(os.environ, YARDSTICK_CACHE=self.cache)
        results = tempfile.mkdtemp(dir=self.folder)
        command = [os.path.join(ROOT, "yardstick"), "run", "--framework=" + self.name, "--model=lenet", "--data=synthetic",
                   "--batch=%d" % BATCH, "--steps=%d" % self.options.steps, "--block=%d" % BLOCK, "--lr=0.01",
                   "--momentum=0.9", "--threads=%d" % self.options.threads, "--repeat=1", "--audit=off", "--quiet",
                   "--results=" + results, *("--env.%s=%s" % setting for setting in self.kept.items())]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([command[0], "export", "--results=" + results], env=environment, check=True,
                              capture_output=True, text=True).stdout
        run = next(row for row in map(json.loads, text.splitlines()) if row["type"] == "run")
        series, steps = run["series"], self.options.steps
        blocks = list(zip(series["block_first"], series["block_start_ns"], series["block_end_ns"]))
        facts = run["facts"]
        return Taken(rate(blocks, steps), facts["phase_cpu"]["steps_s"] / (steps - 1) * 1e3,
                     facts["usage"]["minor_faults"] / steps, facts["usage"]["voluntary_switches"] / steps)

    def alone(self):
        data, = glob.glob(os.path.join(self.cache, "data", "synthetic-*", "*", "train.safetensors"))
        order = max(glob.glob(os.path.join(self.cache, "work", "*", "order.safetensors")), key=os.path.getsize)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.python, "-B", os.path.join(HERE, self.name + "_loop.py"), data, order, str(self.options.threads)],
                              env=dict(os.environ, **self.kept), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("%s_loop.py ended with %d:\n%s" % (self.name, done.returncode, done.stderr[-2000:]))
        after, steps = resource.getrusage(resource.RUSAGE_CHILDREN), self.options.steps
        told = json.loads(done.stdout.splitlines()[-1])
        return Taken(rate(told["blocks"], steps), told["cpu_s"] / told["steps"] * 1e3,
                     (after.ru_minflt - before.ru_minflt) / steps, (after.ru_nvcsw - before.ru_nvcsw) / steps)

    def measure(self, draw):
        pairs = []
        self.under_yardstick()  # the proof, the files and the file cache are there afterwards
        for number in range(self.options.pairs):
            ways = [self.under_yardstick, self.alone]
            first = draw.randrange(2)
            taken = {ways[first]: ways[first]()}
            taken[ways[1 - first]] = ways[1 - first]()
            pairs.append((taken[self.under_yardstick], taken[self.alone]))
            print("%s: pair %d of %d: %.0f and %.0f rows a second" %
                  (self.name, number + 1, self.options.pairs, pairs[-1][0].rate, pairs[-1][1].rate), file=sys.stderr)
        return pairs


def row(name, pairs):
    ratios = [ours.rate / alone.rate for ours, alone in pairs]
    ours, alone = (Taken(*map(statistics.median, zip(*side))) for side in zip(*pairs))
    return "| %s | %.0f, %.0f | %.2f (%.2f to %.2f) | %.1f, %.1f | %.0f, %.0f | %.1f, %.1f |" % (
        name, ours.rate, alone.rate, statistics.median(ratios), min(ratios), max(ratios), ours.cpu_ms, alone.cpu_ms,
        ours.faults, alone.faults, ours.switches, alone.switches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of %s; all that are installed without it" % ", ".join(loops()))
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", action="store_true", help="let the C library of both sides keep freed memory")
    options = parser.parse_args()
    unknown = set(options.names) - set(loops())
    if unknown:
        parser.error("no loop is there for %s" % ", ".join(sorted(unknown)))
    folder = tempfile.mkdtemp(prefix="ys-handicap-")
    try:
        os.mkdir(os.path.join(folder, "cache"))
        os.symlink(os.path.join(home_cache(), "envs"), os.path.join(folder, "cache", "envs"))
        print("seed %d" % options.seed, file=sys.stderr)
        print("Each pair of numbers: under yardstick, in its own loop.\n")
        print("| framework | rows a second | ratio | CPU a step, ms | page faults a step | voluntary switches a step |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in options.names or loops():
            pairs = Pairs(name, options, folder)
            if pairs.python is None:
                print("%s is not installed: yardstick install %s" % (name, name), file=sys.stderr)
                continue
            print(row(name, pairs.measure(random.Random(options.seed))), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
