#!/usr/bin/env python3
"""What a study would say had the host taken processors from every run of it.

    tools/what_if_stolen.py EXPORTED.jsonl [--most SHARE] [--seed N] > STOLEN.jsonl

Reads a study that `yardstick export` wrote, notes of each run that the hypervisor took a share of its CPUs' time, drawn between 1 %
and --most (0.03), as a run on such a machine has it noted (docs/measuring.md, Disturbance), and leaves every time that was measured
as it is. The study's name gets `-what-if-stolen` behind it. `yardstick results import` takes the result, and `show` then says what
its verdicts are worth where so much may be in them (docs/statistics.md, A disturbed machine)."""
import argparse
import hashlib
import json
import random
import sys


def steal(facts, share):
    """As src/study/disturbed.c notes it: what was taken, and a tick more for each CPU."""
    run, work = facts["disturbance"]["cpus"], facts["disturbance"]["work"]
    if not run or not work:
        sys.exit("what_if_stolen: a run has no count of its CPUs: it ended early, or an older version made it")
    taken = {name: share * cpus["cpus"] * cpus["seconds"] + cpus["tick_s"] for name, cpus in (("run_s", run), ("work_s", work))}
    facts["disturbed"] = ["the hypervisor took %.3f of the CPUs' time" % share]
    facts["taken"] = dict(taken, share=share, by_host=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exported")
    parser.add_argument("--most", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    random.seed(told.seed)
    chain, lines = bytes(32), 0
    with open(told.exported, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "study":
                line["name"] += "-what-if-stolen"
            if line["type"] == "run":
                steal(line["facts"], random.uniform(0.01, told.most))
            if line["type"] == "end":
                line.update(lines=lines, chain=chain.hex())
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
            chain, lines = hashlib.sha256(chain + text.encode()).digest(), lines + 1
            sys.stdout.write(text)


if __name__ == "__main__":
    main()
