#!/usr/bin/env python3
"""Kills yardstick, and lets its writes fail, at the calls that change a disk; then looks whether anything is lost or left.

    tests/faults/disturb.py [--kills N] [--failures N] [--scenario NAME ...] [--seed S] [--at N [--how HOW]] [--tap]

Every scenario of scenarios.py is run once undisturbed, its calls are counted (failing_io.c), and N of them in all, drawn
with the seed, become the last call of a yardstick (SIGKILL), or fail: alone with EIO, or as on a disk that is full from then
on. --at repeats one. Ends with `N passed, N failed, N skipped`, or speaks TAP.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenarios  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def build_library(folder):
    """failing_io.c as a library; where a build has made it that one."""
    made = os.environ.get("YS_FAULT_LIBRARY")
    if made:
        return made
    path = os.path.join(folder, "failing_io.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", "-o", path, os.path.join(HERE, "failing_io.c"), "-ldl"],
                   check=True)
    return path


class Disturber:
    def __init__(self, folder):
        self.folder = folder
        self.library = build_library(folder)
        self.traces = {}

    def prepared(self, scenario):
        """The scenario's folder, prepared, and the calls of its command; both made once."""
        if scenario.name not in self.traces:
            box = scenarios.Box(os.path.join(self.folder, scenario.name), self.library)
            scenario.prepare(box)
            path = os.path.join(self.folder, scenario.name + ".trace")
            copy = self.copy(scenario, "whole")
            code, _, err = copy.run(*scenario.command(), fault=self.fault(copy, 0, "kill", path))
            scenarios.require(code == 0, "undisturbed, it ended with %s: %s" % (code, err[-600:]))
            with open(path) as file:
                lines = [line.rstrip("\n").split(" ", 2) for line in file]
            self.traces[scenario.name] = [(int(number), call, name) for number, call, name in lines]
            shutil.rmtree(copy.folder)
        return self.traces[scenario.name]

    def copy(self, scenario, label):
        folder = os.path.join(self.folder, "%s-%s" % (scenario.name, label))
        shutil.copytree(os.path.join(self.folder, scenario.name), folder, symlinks=True)
        return scenarios.Box(folder, self.library)

    def fault(self, box, at, how, trace=""):
        wanted = {"LD_PRELOAD": self.library, "YS_FAULT_PROGRAM": "yardstick", "YS_FAULT_BELOW": box.folder, "YS_FAULT_AT": str(at),
                  "YS_FAULT_HOW": how}
        return dict(wanted, YS_FAULT_TRACE=trace) if trace else wanted

    def disturb(self, scenario, at, how):
        """Raises scenarios.Broken when something is lost, wrong or left."""
        self.prepared(scenario)
        box = self.copy(scenario, "%s-%d" % (how, at))
        try:
            code, _, err = box.run(*scenario.command(), fault=self.fault(box, at, how))
            if how == "kill":
                scenarios.require(code in (-9, 0), "it ended with %s: %s" % (code, err[-600:]))
            else:
                scenarios.require(code in scenario.fault_codes, "with a disk that fails it ended with %s: %s" % (code, err[-600:]))
                scenarios.require(code == 0 or "yardstick: error: " in err, "it ended with %s without a word" % code)
            box.require_no_process()
            scenario.settle(box, box.stored())
            scenario.finish(box)
        except subprocess.TimeoutExpired as late:
            raise scenarios.Broken("it never ended: %s" % late)
        finally:
            shutil.rmtree(box.folder, ignore_errors=True)


def draw(disturber, chosen, count, hows, rng):
    """`count` disturbances, the scenarios in turn, each at a call that was drawn from those it aims at."""
    drawn = []
    for i in range(count):
        scenario = chosen[i % len(chosen)]
        drawn.append((scenario, rng.choice(scenario.aims(disturber.prepared(scenario))), hows[i // len(chosen) % len(hows)]))
    return drawn


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with it ignored, and so would their children be
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--failures", type=int, default=0)
    parser.add_argument("--scenario", action="append", default=[])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--at", type=int)
    parser.add_argument("--how", default="kill", choices=("kill", "EIO", "ENOSPC"))
    parser.add_argument("--tap", action="store_true")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32)
    chosen = [s for s in scenarios.ALL if not asked.scenario or s.name in asked.scenario]
    if not chosen:
        sys.exit("disturb: there is no scenario %s; there are %s" % (", ".join(asked.scenario), ", ".join(s.name for s in scenarios.ALL)))
    print("# seed %d" % seed, flush=True)
    folder = tempfile.mkdtemp(prefix="ys-faults-")
    try:
        disturber, rng = Disturber(folder), random.Random(seed)
        if asked.at:
            todo = [(scenario, asked.at, asked.how) for scenario in chosen]
        else:
            todo = draw(disturber, chosen, asked.kills, ("kill",), rng) + draw(disturber, chosen, asked.failures, ("ENOSPC", "EIO"), rng)
        tally = scenarios.Tally(len(todo), asked.tap)
        for scenario, at, how in todo:
            number, call, path = disturber.traces.get(scenario.name, disturber.prepared(scenario))[at - 1]
            name = "%s: %s at call %d (%s %s)" % (scenario.name, how, at, call, path.split(scenario.name + "-whole/")[-1])
            with tally.case(name, "(repeat it: tests/faults/disturb.py --scenario=%s --at=%d --how=%s)" % (scenario.name, at, how)):
                disturber.disturb(scenario, at, how)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
