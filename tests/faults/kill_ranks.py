#!/usr/bin/env python3
"""Kills one process of a run of four ranks: yardstick itself, or the keeper or the adapter of a rank, or where they are on
several hosts the agent of one; then looks whether the row names the rank and how it ended, whether anything is left running,
and whether the study comes to its end.

    tests/faults/kill_ranks.py [--kills N] [--seed S] [--transport tcp|shared] [--nodes 1|2|4] [--tap]

Which process, and when after all four are there, is drawn with the seed. Ends with `N passed, N failed, N skipped`, or speaks
TAP.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenarios  # noqa: E402
from scenarios import require  # noqa: E402

RANKS, ROUNDS = 4, 2
STUDY = """version = 1
name = ranks
repeat = %d
on_disturbance = mark
audit = off
[run]
framework = builtin
model = mlp
data = digits
batch = 8
ranks = %d
nodes = %%d
threads = 1
steps = %%d
block = 5
opt.builtin.transport = %%s
""" % (ROUNDS, RANKS)
LATEST_S = 0.3  # after all ranks are there: a run of that many steps takes as long on a machine that does nothing else
STEPS = 600
TRIES = 20  # of a kill that comes when the run is over


def state(pid):
    """(parent, program, folder that it works in); None where it has gone."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            parent = int(file.read().rsplit(")", 1)[1].split()[1])
        return parent, os.path.basename(os.readlink("/proc/%d/exe" % pid)), os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        return None


def find(box):
    """{rank: (adapter, keeper, agent)} of the run under way; without agents the last is yardstick."""
    found = {}
    for pid in box.processes():
        seen = state(pid)
        if seen is None or seen[1] != "yardstick-builtin" or "/runs/" not in seen[2]:
            continue
        name = os.path.basename(seen[2])
        keeper = state(seen[0])
        if keeper is not None:
            found[int(name[len("rank-"):]) if name.startswith("rank-") else 0] = pid, seen[0], keeper[0]
    return found


def wait_for_ranks(box, process):
    until = time.monotonic() + scenarios.LIMIT_S
    while time.monotonic() < until:
        found = find(box)
        if len(found) == RANKS:
            return found
        require(process.poll() is None, "yardstick ended before its ranks were there:", process.returncode)
        time.sleep(0.005)
    raise scenarios.Broken("the ranks never came")


class Killer:
    def __init__(self, folder, transport, nodes):
        self.transport, self.nodes = transport, nodes
        self.box = scenarios.Box(os.path.join(folder, "box"), None)
        self.write("first.ys", 10)
        self.box.expect("run", "first.ys", "--quiet")  # data, work and proof are there from now on
        self.write("study.ys", STEPS)

    def write(self, name, steps):
        with open(os.path.join(self.box.folder, name), "w") as file:
            file.write(STUDY % (self.nodes, steps, self.transport))

    def kill(self, whom, rank, after_s):
        """Raises scenarios.Broken when something is wrong, lost or left. False: the run was over."""
        box = self.box
        process = subprocess.Popen([scenarios.PROGRAM, "run", "study.ys", "--quiet"], cwd=box.folder, env=box.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            adapter, keeper, agent = wait_for_ranks(box, process)[rank]
            time.sleep(after_s)
            os.kill({"adapter": adapter, "keeper": keeper, "agent": agent, "yardstick": process.pid}[whom], signal.SIGKILL)
            _, err = process.communicate(timeout=scenarios.LIMIT_S)
        except ProcessLookupError:
            return False
        except subprocess.TimeoutExpired as error:
            raise scenarios.Broken(error)
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
        box.require_no_process()
        study = box.studies()[-1]
        first = self.facts(study)[:1]
        if first and first[0]["status"] == "ok":
            return False
        if whom == "yardstick":
            require(process.returncode == -signal.SIGKILL, "it ended with", process.returncode)
            require(not self.facts(study), "a run that was under way was stored")
            box.expect("resume", str(study), "--quiet")
        else:
            require(process.returncode == 1, "it ended with", process.returncode, err[-600:])
            each = RANKS // self.nodes
            first = rank // each * each
            self.look_at(self.facts(study)[0], range(first, first + each) if whom == "agent" else [rank])
        facts = self.facts(study)
        require(len(facts) == ROUNDS, "it has", len(facts), "runs")
        for run in facts[whom != "yardstick":]:
            require(run["status"] == "ok", "another run is", run["status"], run["message"])
        box.require_no_process()
        return True

    def facts(self, study):
        """Of the study's runs, by round."""
        rows = self.box.stored()
        return [json.loads(rows[key]) for key in sorted(rows) if key[0] == study]

    def look_at(self, facts, killed):
        """The run of which these ranks were killed, and are all to blame."""
        told = facts["ranks"]
        require(facts["status"] == "killed", "the run is", facts["status"], facts["message"])
        require("rank %d of %d" % (killed[0], RANKS) in facts["message"], "it does not name the rank:", facts["message"])
        for rank in told:
            # Others heard of it while they trained, while all were to meet, or not at all.
            ends = ("killed",) if rank["rank"] in killed else ("crashed", "load_failed", "cancelled")
            require(rank["status"] in ends, "rank", rank["rank"], "is", rank["status"], rank["message"])


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--transport", choices=("tcp", "shared"), default="tcp")
    parser.add_argument("--nodes", type=int, choices=(1, 2, 4), default=1)
    parser.add_argument("--tap", action="store_true")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32)
    print("# seed %d" % seed, flush=True)
    rng = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="ys-ranks-")
    whom = ["adapter", "keeper", "yardstick"] + (["agent"] if asked.nodes > 1 else [])
    tally = scenarios.Tally(asked.kills, asked.tap)
    try:
        killer = Killer(folder, asked.transport, asked.nodes)
        for i in range(asked.kills):
            case = whom[i % len(whom)], rng.randrange(RANKS), rng.uniform(0, LATEST_S)
            name = "%s of rank %d, %.3f s after all were there" % case if case[0] != "yardstick" else "yardstick, %.3f s after" % case[2]
            with tally.case(name):
                tries = 0
                while not killer.kill(case[0], case[1], case[2] / 2**tries):
                    tries += 1
                    require(tries < TRIES, "each time it was over before")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
