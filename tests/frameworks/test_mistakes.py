"""Frameworks beside PyTorch that are made wrong on purpose at networks of sequences: the proof must pass for each and fail for each
mistake. One seed of those that tools/prove_sequences.py goes through; prints TAP."""

import json
import os
import subprocess
import sys

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
SEED = 1

sys.path.insert(0, os.path.join(os.environ["YS_SOURCE_ROOT"], "tools"))
import prove_seeds  # noqa: E402


def main():
    listed = subprocess.run([PROGRAM, "list", "frameworks", "--format=json"], capture_output=True, text=True, check=True)
    state = {entry["spec"]: entry["state"] for entry in json.loads(listed.stdout)["frameworks"]}
    number, bad = 0, False
    for framework in prove_seeds.OTHERS:
        if state.get(framework) != "ready":
            number += 1
            print("ok %d - %s # SKIP it is not installed: yardstick install %s" % (number, framework, framework), flush=True)
            continue
        for model in prove_seeds.cases_of(framework):
            for good, name, why in prove_seeds.judge(model, SEED, prove_seeds.verify(PROGRAM, model, SEED, framework), framework):
                number += 1
                bad |= not good
                if not good:
                    print("# " + why.replace("\n", " "))
                print("%s %d - %s" % ("ok" if good else "not ok", number, name), flush=True)
    print("1..%d" % number)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
