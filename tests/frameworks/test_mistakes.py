"""Frameworks beside PyTorch that are made wrong on purpose at networks of sequences: the proof must pass for each and fail for each
mistake. One seed of those that tools/prove_sequences.py goes through; prints TAP."""

import os
import sys

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
SEED = 1

sys.path.insert(0, os.path.join(os.environ["YS_SOURCE_ROOT"], "tools"))
import prove_seeds  # noqa: E402
import tap  # noqa: E402


def every_case(ready):
    for framework in prove_seeds.OTHERS:
        if framework not in ready:
            yield True, "%s # SKIP it is not installed: yardstick install %s" % (framework, framework), ""
            continue
        for model in prove_seeds.cases_of(framework):
            yield from prove_seeds.judge(model, SEED, prove_seeds.verify(PROGRAM, model, SEED, framework), framework)


def main():
    return tap.tell(every_case(tap.ready(prove_seeds.OTHERS)))


if __name__ == "__main__":
    sys.exit(main())
