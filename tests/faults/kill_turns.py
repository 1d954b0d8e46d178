#!/usr/bin/env python3
"""Kills yardstick at random moments of a study by turns, of which one member burns a processor while it waits and so is
kept from running. Then no process of it is left, frozen or not, nor a control group with one in it, and no run that was
stored is lost; each kill goes on with the study that the one before it ended. A group that had been made and not yet used is
removed by the next yardstick: at last there is none.

    tests/faults/kill_turns.py [--kills N] [--seed S] [--tap]

The moments are drawn with the seed. YARDSTICK_CGROUP=off in every second, where members are stopped by signals. Ends with
`N passed, N failed, N skipped`, or speaks TAP.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenarios  # noqa: E402
from scenarios import require  # noqa: E402

ADAPTER = os.path.join(scenarios.ROOT, "tests", "adapters", "misbehaving.py")
RECIPE = "name = member\nprogram = python3 %s\nno_work = yes\n" % ADAPTER.replace(" ", "\\ ")
ROUNDS = 200  # more than all kills let it come to
STUDY = """version = 1
name = turns
repeat = %d
audit = off
interleave = blocks
turn = 10ms
on_disturbance = mark
[a]
framework = member
model = mlp
data = digits
batch = 8
threads = 1
steps = 60
block = 2
env.MISBEHAVE = {honest, burn, none}
"""
LATEST_S = 2.5  # after it was started: in one of its first rounds


def groups(pids):
    """Control groups that were made by these."""
    pattern = re.compile("yardstick-.*-(%s)-[0-9]+$" % "|".join(map(str, pids)))
    return [path for path in glob.glob("/sys/fs/cgroup/**/yardstick-*", recursive=True) if pattern.search(path) and os.path.isdir(path)]


def is_used(path):
    try:
        with open(os.path.join(path, "cgroup.procs")) as file:
            return bool(file.read().strip())
    except OSError:
        return False


def wait_until_none(pids, counts=lambda path: True, patience_s=20):
    until = time.monotonic() + patience_s
    while any(map(counts, groups(pids))) and time.monotonic() < until:
        time.sleep(0.05)
    left = list(filter(counts, groups(pids)))
    require(not left, "control groups were left:", left)


def kill_once(box, after_s, with_groups):
    before = box.stored()
    goes_on = bool(box.studies())
    command = ["resume", "last"] if goes_on else ["run", "study.ys"]
    fault = {} if with_groups else {"YARDSTICK_CGROUP": "off"}
    process = subprocess.Popen([scenarios.PROGRAM] + command + ["--recipes=.", "--quiet"], cwd=box.folder, env=box.environment(fault),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(after_s)
    stored = box.stored()
    process.send_signal(signal.SIGKILL)
    err = process.communicate(timeout=scenarios.LIMIT_S)[1]
    require(process.returncode == -signal.SIGKILL, "it ended with", process.returncode, err[-600:])
    box.require_no_process()
    wait_until_none([process.pid], is_used)
    after = box.stored()
    for key, facts in list(before.items()) + list(stored.items()):
        require(after.get(key) == facts, "a run that was stored is gone or another:", key)
    return process.pid


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--tap", action="store_true")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32)
    print("# seed %d" % seed, flush=True)
    rng, killed = random.Random(seed), []
    folder = tempfile.mkdtemp(prefix="ys-turns-")
    box = scenarios.Box(os.path.join(folder, "box"), None)
    for name, text in (("study.ys", STUDY % ROUNDS), ("short.ys", STUDY % 1), ("member.recipe", RECIPE)):
        with open(os.path.join(box.folder, name), "w") as file:
            file.write(text)
    tally = scenarios.Tally(asked.kills, asked.tap)
    try:
        box.expect("run", "short.ys", "--recipes=.", "--quiet")  # data and work are there from now on
        shutil.rmtree(os.path.join(box.folder, "yardstick-results"))
        for i in range(asked.kills):
            after_s, with_groups = rng.uniform(0, LATEST_S), i % 2 == 0
            name = "%.3f s after its start, %s" % (after_s, "with control groups" if with_groups else "by signals")
            with tally.case(name):
                killed.append(kill_once(box, after_s, with_groups))
                if i + 1 == asked.kills:
                    box.expect("run", "short.ys", "--recipes=.", "--quiet")
                    wait_until_none(killed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
