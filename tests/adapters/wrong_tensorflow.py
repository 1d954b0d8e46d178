"""TensorFlow made wrong on purpose as several processes train it, one mistake at a time, for the tests of the proof.

opt.wrong-tensorflow.wrong names the mistake, and what it shows first in:

    nothing
    summed      the gradients: a sum, which collectives take unless told otherwise, where the mean is due
    share       the gradients: each loss is a share of the whole batch's, as where gradients are summed, and their mean is taken
    alone       the gradients of rank 1, which are not rank 0's: nothing is exchanged
    left_out    likewise, of the network's end: its gradients are left out of the exchange
    rows        the batch: rank 1 has the rows of rank 0
    decay       the weights of rank 1 after 1 step, which are not rank 0's: it leaves the weight decay out
    stale       the weights after more steps: each step takes the gradients of the one before
    even        the gradients, where rows hide different numbers of targets: each rank counts for as many
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters"))

import common  # noqa: E402
import tensorflow2  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_network  # noqa: E402
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


class LeftOut(tensorflow2.TensorFlow2):
    def mean(self, gradients):
        return super().mean(gradients[:-2]) + gradients[-2:]


class Rows(tensorflow2.TensorFlow2):
    def distribute(self):
        wrong_one.take_rows_of_rank_0(self.plan)
        return super().distribute()


class Decay(tensorflow2.TensorFlow2):
    def build(self, plan):
        if plan.rank == 1:
            plan.optimizer["weight_decay"] = 0.0
        return super().build(plan)


class Late(tensorflow_network.Optimizer):
    """Its first step takes its own gradients."""

    def __init__(self, network):
        super().__init__(network)
        self.before = [network.make_variable(name) for name in network.trained]
        self.begun = tf.Variable(False, trainable=False)

    def apply(self, gradients, statistics, rates):
        late = [tf.where(self.begun, before, own) for before, own in zip(self.before, gradients)]
        with tf.control_dependencies(late):
            for before, own in zip(self.before, gradients):
                before.assign(own)
            self.begun.assign(True)
        return super().apply(late, statistics, rates)


class Stale(tensorflow2.TensorFlow2):
    def build(self, plan):
        tensorflow_network.Optimizer = Late
        return super().build(plan)

    def reset(self):
        super().reset()
        self.optimizer.begun.assign(False)


class Even(wrong_one.Even, tensorflow2.TensorFlow2):
    pass


WRONG = {"nothing": tensorflow2.TensorFlow2, "summed": Summed, "share": Share, "alone": Alone, "left_out": LeftOut, "rows": Rows, "decay": Decay,
         "stale": Stale, "even": Even}
Wrong = wrong_one.one_of(tensorflow2.TensorFlow2, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
