"""tests/adapters/plain.py with convolutions, batch normalisation and `input_gradient`; SLOPES_WRONG names a mistake in that:

  factor  the gradient is twice what it is
  train   the pass is one of training
  loss    the gradient is that of a loss, whatever the cotangent
  row     rows have each other's gradients

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


class Slopes(plain.Plain):
    name = framework = "slopes"
    ops = (*plain.Plain.ops, "Conv", "BatchNormalization")

    def input_gradient(self, x, cotangent):
        logits = self.network.forward(x.astype(np.float64), WRONG == "train")
        if WRONG_RUN == "logits":
            logits = logits[::-1]
        if cotangent is None:
            return self.told(logits), None
        if WRONG == "loss":
            cotangent = self.network.loss(logits, np.zeros(len(x), int))[1]
        gradient = self.network.pull(cotangent) * (2 if WRONG == "factor" else 1)
        gradient = gradient[::-1] if WRONG == "row" else gradient
        gradient = {"zero": 0 * gradient, "noise": LOT.normal(size=gradient.shape), "length": 1000 * gradient}.get(WRONG_RUN, gradient)
        return self.told(logits), self.told(gradient)


if __name__ == "__main__":
    plain.common.serve(Slopes())
