"""tests/adapters/plain.py with convolutions, batch normalisation and `input_gradient`; SLOPES_WRONG names a mistake in that:

  factor  the gradient is twice what it is
  train   the pass is one of training
  loss    the gradient is that of a loss, whatever the cotangent
  row     rows have each other's gradients
"""

import os

import numpy as np
import plain

WRONG = os.environ.get("SLOPES_WRONG", "nothing")


class Slopes(plain.Plain):
    name = framework = "slopes"
    ops = (*plain.Plain.ops, "Conv", "BatchNormalization")

    def input_gradient(self, x, cotangent):
        logits = self.network.forward(x.astype(np.float64), WRONG == "train")
        if cotangent is None:
            return self.told(logits), None
        if WRONG == "loss":
            cotangent = self.network.loss(logits, np.zeros(len(x), int))[1]
        gradient = self.network.pull(cotangent) * (2 if WRONG == "factor" else 1)
        return self.told(logits), self.told(gradient[::-1] if WRONG == "row" else gradient)


if __name__ == "__main__":
    plain.common.serve(Slopes())
