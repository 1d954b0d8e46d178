"""TensorFlow made wrong on purpose as several processes train it, one mistake at a time, for the tests of the proof.

opt.wrong-tensorflow.wrong names the mistake, and what it shows first in:

    nothing
    summed      the gradients: a sum, which collectives take unless told otherwise, where the mean is due
    share       the gradients: each loss is a share of the whole batch's, as where gradients are summed, and their mean is taken
    alone       the gradients of rank 1, which are not rank 0's: nothing is exchanged
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters"))

import common  # noqa: E402
import tensorflow2  # noqa: E402
import tensorflow as tf  # noqa: E402
import wrong_one  # noqa: E402


class Summed(tensorflow2.TensorFlow2):
    def mean(self, gradients):
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, gradients)


class Share(tensorflow2.TensorFlow2):
    def mean(self, gradients):
        return [gradient / self.plan.world for gradient in super().mean(gradients)]


class Alone(tensorflow2.TensorFlow2):
    def mean(self, gradients):
        return gradients


WRONG = {"nothing": tensorflow2.TensorFlow2, "summed": Summed, "share": Share, "alone": Alone}
Wrong = wrong_one.one_of(tensorflow2.TensorFlow2, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
