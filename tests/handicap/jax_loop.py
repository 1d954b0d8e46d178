"""LeNet in JAX, as in "Training a simple neural network" of its tutorials: pure functions, one compiled update."""
import os

import prepared

images, labels, order, threads = prepared.arguments()
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=%s" % str(threads > 1).lower()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # XLA has as many threads as there are processors

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

images = images.transpose(0, 2, 3, 1).copy()


def init(key):
    shapes = [(5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10)]
    return [(jax.random.normal(k, shape) * (2 / shape[0] / shape[-2]) ** 0.5, jnp.zeros(shape[-1]))
            for k, shape in zip(jax.random.split(key, len(shapes)), shapes)]


def predict(params, x):
    x = x.astype(jnp.float32) / 255
    for w, b in params[:2]:
        x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = x.reshape(len(x), -1)
    (w, b), (w_out, b_out) = params[2:]
    return jax.nn.relu(x @ w + b) @ w_out + b_out


def loss_of(params, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(predict(params, x)), y[:, None], axis=1))


@jax.jit
def update(params, velocity, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    velocity = jax.tree.map(lambda v, g: prepared.MOMENTUM * v + g, velocity, gradients)
    return jax.tree.map(lambda p, v: p - prepared.LR * v, params, velocity), velocity, loss


params = init(jax.random.key(0))
velocity = jax.tree.map(jnp.zeros_like, params)


def step(rows):
    global params, velocity
    params, velocity, loss = update(params, velocity, images[rows], labels[rows])
    return loss


prepared.train(order, step, lambda losses: sum(float(loss) for loss in losses) / len(losses))
