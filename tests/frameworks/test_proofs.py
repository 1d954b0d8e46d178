"""The proof against PyTorch and against adapters made wrong on purpose, one seed of those that tools/prove_seeds.py goes
through; prints TAP."""

import json
import os
import subprocess
import sys

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
SEED = 1

sys.path.insert(0, os.path.join(ROOT, "tools"))
import prove_seeds  # noqa: E402


def main():
    listed = subprocess.run([PROGRAM, "list", "frameworks", "--format=json"], capture_output=True, text=True, check=True)
    state = {entry["spec"]: entry["state"] for entry in json.loads(listed.stdout)["frameworks"]}
    if state.get("pytorch") != "ready":
        print("1..0 # SKIP PyTorch is not installed: yardstick install pytorch")
        return 0
    cases = (case for model in prove_seeds.MODELS for case in prove_seeds.judge(model, SEED, prove_seeds.verify(PROGRAM, model, SEED)))
    return 0 if prove_seeds.tell(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
