"""tests/adapters/plain.py with convolutions, batch normalisation and `input_gradient`; SLOPES_WRONG names a mistake in that:

  factor  the gradient is twice what it is
  train   the pass is one of training
  loss    the gradient is that of a loss, whatever the cotangent
  row     rows have each other's gradients
  zero    gradients of zero
  noise   gradients by lot
  single  in single precision they are off by a thousandth
  last    of equal values in a pool of maxima the last has the gradient
  share   they share it
  says    as last, and it says so among its deviations

SLOPES_RUN names one that it makes in its runs alone, of which its proof knows nothing:

  zero    gradients of zero
  noise   gradients by lot
  length  gradients a thousand times as long
  logits  rows have each other's logits
"""

import os

import numpy as np
import plain

WRONG = os.environ.get("SLOPES_WRONG", "nothing")
WRONG_RUN = os.environ.get("SLOPES_RUN", "nothing") if "runs" in os.getcwd().split(os.sep) else "nothing"
LOT = np.random.RandomState(1)


class Network(plain.Network):
    def maxpool_backward(self, d, x, attrs, names):
        if WRONG in ("last", "says"):
            turned = super().maxpool_backward(d[:, :, ::-1, ::-1], x[:, :, ::-1, ::-1], attrs, names)
            return [turned[0][:, :, ::-1, ::-1]]
        if WRONG == "share":
            return [(super().maxpool_backward(d, x, attrs, names)[0]
                     + super().maxpool_backward(d[:, :, ::-1, ::-1], x[:, :, ::-1, ::-1], attrs, names)[0][:, :, ::-1, ::-1]) / 2]
        return super().maxpool_backward(d, x, attrs, names)


class Slopes(plain.Plain):
    name = framework = "slopes"
    ops = (*plain.Plain.ops, "Conv", "BatchNormalization")

    def build(self, plan):
        opened = super().build(plan)
        deviations = ["of equal values in a pool the last has the gradient"] * (WRONG == "says")
        return dict(opened, deviations=deviations)

    def reset(self):
        plan = self.plan
        self.network = Network(plan.graph, plan.weights, plan.loss, plan.label_smoothing)

    def input_gradient(self, x, cotangent):
        logits = self.network.forward(x.astype(np.float64), WRONG == "train")
        if WRONG_RUN == "logits":
            logits = logits[::-1]
        if cotangent is None:
            return self.told(logits), None
        if WRONG == "loss":
            cotangent = self.network.loss(logits, np.zeros(len(x), int))[1]
        gradient = self.network.pull(cotangent) * (2 if WRONG == "factor" else 1)
        gradient = gradient * (1.001 if WRONG == "single" and self.plan.precision == "f32" else 1)
        gradient = gradient[::-1] if WRONG == "row" else gradient
        for wrong in (WRONG, WRONG_RUN):
            gradient = {"zero": 0 * gradient, "noise": LOT.normal(size=gradient.shape), "length": 1000 * gradient}.get(wrong, gradient)
        return self.told(logits), self.told(gradient)


if __name__ == "__main__":
    plain.common.serve(Slopes())
