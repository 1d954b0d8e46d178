"""LeNet in tinygrad, as in beautiful_mnist.py of its examples: one TinyJit a step."""
import os

import prepared

images, labels, order, threads = prepared.arguments()
os.environ.update(DEV="CPU", NUM_CPU_THREADS=str(threads), PARALLEL="0")  # the last: as under yardstick, no pool that compiles

from tinygrad import Context, Tensor, TinyJit, nn  # noqa: E402


class Model:
    def __init__(self):
        self.layers = [
            nn.Conv2d(1, 32, 5, padding=2), Tensor.relu, Tensor.max_pool2d,
            nn.Conv2d(32, 64, 5, padding=2), Tensor.relu, Tensor.max_pool2d,
            lambda x: x.flatten(1), nn.Linear(3136, 1024), Tensor.relu, nn.Linear(1024, 10)]

    def __call__(self, x):
        return x.sequential(self.layers)


model = Model()
opt = nn.optim.SGD(nn.state.get_parameters(model), lr=prepared.LR, momentum=prepared.MOMENTUM)


@TinyJit
@Context(TRAINING=1)
def train_step(x, y):
    opt.zero_grad()
    loss = model(x.float() / 255).sparse_categorical_crossentropy(y).backward()
    return loss.realize(*opt.schedule_step())


# The jit writes each loss over the last: the example looks at each, too.
prepared.train(order, lambda rows: train_step(Tensor(images[rows]), Tensor(labels[rows])).item(),
               lambda losses: sum(losses) / len(losses))
