"""LeNet in Chainer, as in "How to write a training loop in Chainer" of its examples."""
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[3]  # before NumPy is loaded

import prepared  # noqa: E402
import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402

images, labels, order, threads = prepared.arguments()


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1, self.conv2 = L.Convolution2D(1, 32, 5, pad=2), L.Convolution2D(32, 64, 5, pad=2)
            self.fc1, self.fc2 = L.Linear(3136, 1024), L.Linear(1024, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.fc2(F.relu(self.fc1(h)))


model = LeNet()
optimizer = chainer.optimizers.MomentumSGD(prepared.LR, prepared.MOMENTUM)
optimizer.setup(model)


def step(rows):
    loss = F.softmax_cross_entropy(model(images[rows].astype("float32") / 255), labels[rows].astype("int32"))
    model.cleargrads()
    loss.backward()
    optimizer.update()
    return loss.array


prepared.train(order, step, lambda losses: sum(float(loss) for loss in losses) / len(losses))
