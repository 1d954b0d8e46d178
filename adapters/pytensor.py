"""PyTensor on the CPU, Theano's descendant: functions compiled by Numba. It has no convolutions and no pools any more."""

import common

with common.importing("PyTensor"):
    import pytensor
    from pytensor import tensor as pt
    from pytensor.gradient import disconnected_grad
    from pytensor.tensor.random.utils import RandomStream

import theano_network

GONE = ("Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LRN")


class PyTensor(theano_network.Symbolic):
    name = "pytensor"
    framework = "PyTensor"
    version = pytensor.__version__
    ops = tuple(op for op in theano_network.OPS if op not in GONE)
    extras = ("clip_norm", "label_smoothing")
    lib, tt = pytensor, pt

    def prepare(self, plan):
        pytensor.config.floatX = self.dtype
        self.random = RandomStream(plan.seed)

    def symbol(self, dtype, rank):
        return pt.tensor(dtype=dtype, shape=(None,) * rank)

    def sigmoid(self, x):
        return pt.sigmoid(x)

    def constant(self, x):
        return disconnected_grad(x)

    def draw(self, share, shape):
        return self.random.bernoulli(share, size=shape)

    def seed(self, seed):
        self.random.seed(seed)

    def libraries(self):
        return ["linker: " + pytensor.config.linker, "BLAS: " + pytensor.config.blas__ldflags]


if __name__ == "__main__":
    common.serve(PyTensor())
