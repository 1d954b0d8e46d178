"""JAX made wrong on purpose as several processes train it, one mistake at a time, for the tests of the proof.

opt.wrong-jax.wrong names the mistake, and what it shows first in:

    nothing
    summed      the gradients: a sum where the mean is due
    alone       the gradients of rank 1, which are not rank 0's: nothing is exchanged
    left_out    likewise, of the network's end: its gradients are left out of the exchange
    rows        the batch: rank 1 has the rows of rank 0
    decay       the weights of rank 1 after 1 step, which are not rank 0's: it leaves the weight decay out
    stale       the weights after more steps: each step takes the gradients of the one before
    local       the logits, where bn = sync was asked: each rank normalises by its own rows
    even        the gradients, where rows hide different numbers of targets: each rank counts for as many
"""

import importlib.util
import os
import sys

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters")
sys.path.insert(0, ADAPTERS)

import common  # noqa: E402
import numpy as np  # noqa: E402
import wrong_one  # noqa: E402

# Its file has the name of the framework.
SPEC = importlib.util.spec_from_file_location("adapter_of_jax", os.path.join(ADAPTERS, "jax.py"))
adapter = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(adapter)
JAX, jax, jnp = adapter.JAX, adapter.jax, adapter.jnp


class Summed(JAX):
    def gradients(self, *given, **more):
        found, gradients = super().gradients(*given, **more)
        return found, jax.tree.map(lambda gradient: gradient * self.plan.world, gradients)


class Alone(JAX):
    def mean(self, gradients):
        return gradients


class LeftOut(JAX):
    def mean(self, gradients):
        own = {entry["name"]: gradients[entry["name"]] for entry in self.entries[-2:]}
        return {**super().mean(gradients), **own}


class Rows(JAX):
    def meet(self):
        wrong_one.take_rows_of_rank_0(self.plan)
        super().meet()


class Decay(JAX):
    def build(self, plan):
        if plan.rank == 1:
            plan.optimizer["weight_decay"] = 0.0
        return super().build(plan)


class Stale(JAX):
    """The first step takes its own."""

    stepping = False

    def reset(self):
        super().reset()
        self.state["before"] = self.shared({name: np.zeros(value.shape, value.dtype) for name, value in self.state["params"].items()}, adapter.ALIKE)

    def gradients(self, state, *given, **more):
        found, self.newest = super().gradients(state, *given, **more)
        if not self.stepping:
            return found, self.newest
        return found, {name: jnp.where(state["steps"] > 0, state["before"][name], own) for name, own in self.newest.items()}

    def step(self, *given):
        self.stepping = True
        state, loss = super().step(*given)
        self.stepping = False
        return {**state, "before": self.newest}, loss


class Local(JAX):
    def build(self, plan):
        plan.statistics = "local"
        return super().build(plan)


class Even(wrong_one.Even, JAX):
    pass


WRONG = {"nothing": JAX, "summed": Summed, "alone": Alone, "left_out": LeftOut, "rows": Rows, "decay": Decay, "stale": Stale, "local": Local, "even": Even}
Wrong = wrong_one.one_of(JAX, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
