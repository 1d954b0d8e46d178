"""DeepSpeed made wrong on purpose, one mistake at a time, for the tests of the proof. The first two are what it does unless told
otherwise, or wherever it is asked for ZeRO 1 and 2.

opt.wrong-deepspeed.wrong names the mistake, and what it shows first in:

    nothing
    clipped        the weights after 1 step: gradient_clipping, of which nobody said anything, is 1.0
    masters        the gradients, in double, and behind them the weights: ZeRO 1 keeps both as float32
    summed         the gradients: a sum where the mean is due
    alone          the gradients of rank 1, which are not rank 0's: nothing is exchanged
    ranks_rows, ranks_decay, ranks_stale, ranks_even   as in wrong_pytorch.py
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters"))

import common  # noqa: E402
from pytorch_deepspeed import DeepSpeed  # noqa: E402
import wrong_one  # noqa: E402
import wrong_pytorch  # noqa: E402


class Clipped(DeepSpeed):
    def config(self):
        return {key: value for key, value in super().config().items() if key != "gradient_clipping"}


class Masters(DeepSpeed):
    def config(self):
        return {**super().config(), "zero_optimization": {"stage": 1}}

    def gradient(self, param):
        gradient = super().gradient(param)
        return gradient if gradient is None else gradient.to(self.dtype)


class Summed(DeepSpeed):
    def config(self):
        return {**super().config(), "gradient_allreduce_op": "sum"}


class Alone(DeepSpeed):
    def reset(self):
        super().reset()
        self.engine.enable_backward_allreduce = False


def likewise(mistake):
    return type(mistake.__name__, (mistake, DeepSpeed), {"__doc__": mistake.__doc__})


WRONG = {"nothing": DeepSpeed, "clipped": Clipped, "masters": Masters, "summed": Summed, "alone": Alone,
         **{name: likewise(wrong_pytorch.WRONG[name]) for name in ("ranks_rows", "ranks_decay", "ranks_stale", "ranks_even")}}
Wrong = wrong_one.one_of(DeepSpeed, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
