"""The proof against PyTorch and against adapters made wrong on purpose, one seed of those that tools/prove_seeds.py goes
through; prints TAP. YS_THIRD (0 to 2): only every third model, from that one on; 0,2: those two thirds."""

import os
import sys

ROOT = os.environ["YS_SOURCE_ROOT"]
PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
SEED = 1

sys.path.insert(0, os.path.join(ROOT, "tools"))
import prove_seeds  # noqa: E402
import tap  # noqa: E402
import thirds  # noqa: E402


def main():
    if not tap.ready(["pytorch"]):
        print("1..0 # SKIP PyTorch is not installed: yardstick install pytorch")
        return 0
    third = os.environ.get("YS_THIRD")
    models = thirds.of(prove_seeds.MODELS, thirds.parse(third) if third else None)
    cases = (case for model in models for case in prove_seeds.judge(model, SEED, prove_seeds.verify(PROGRAM, model, SEED)))
    return tap.tell(cases)


if __name__ == "__main__":
    sys.exit(main())
