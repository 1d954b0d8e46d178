"""LeNet in MXNet, as in "Image classification with Gluon" of its tutorials: a hybridized network and a Trainer."""
import os

import prepared

images, labels, order, threads = prepared.arguments()
os.environ["OMP_NUM_THREADS"] = str(threads)

import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402
from mxnet.gluon import nn  # noqa: E402

net = nn.HybridSequential()
net.add(nn.Conv2D(32, 5, padding=2, activation="relu"), nn.MaxPool2D(2, 2),
        nn.Conv2D(64, 5, padding=2, activation="relu"), nn.MaxPool2D(2, 2), nn.Flatten(),
        nn.Dense(1024, activation="relu"), nn.Dense(10))
net.initialize(mx.init.Xavier())
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": prepared.LR, "momentum": prepared.MOMENTUM})


def step(rows):
    x, y = mx.nd.array(images[rows], dtype="float32") / 255, mx.nd.array(labels[rows])
    with autograd.record():
        loss = loss_fn(net(x), y)
    loss.backward()
    trainer.step(len(rows))
    return loss


prepared.train(order, step, lambda losses: sum(loss.mean().asscalar() for loss in losses) / len(losses))
