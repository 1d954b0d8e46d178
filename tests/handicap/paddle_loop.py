"""LeNet in Paddle, as in its quick start: dynamic graph, Layer and Momentum."""
import os

import prepared

images, labels, order, threads = prepared.arguments()
os.environ["OMP_NUM_THREADS"] = str(threads)

import paddle  # noqa: E402
from paddle import nn  # noqa: E402

net = nn.Sequential(
    nn.Conv2D(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(32, 64, 5, padding=2), nn.ReLU(),
    nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
criterion = nn.CrossEntropyLoss()
optimizer = paddle.optimizer.Momentum(prepared.LR, prepared.MOMENTUM, parameters=net.parameters())


def step(rows):
    x = paddle.to_tensor(images[rows]).astype("float32") / 255
    loss = criterion(net(x), paddle.to_tensor(labels[rows]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss.detach()


prepared.train(order, step, lambda losses: sum(float(loss) for loss in losses) / len(losses))
