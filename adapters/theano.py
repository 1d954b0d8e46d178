"""Theano on the CPU: functions compiled to C, with convolutions and products by OpenBLAS."""

import os
import sys

# Compiled functions are kept in a folder of this environment alone, and OpenBLAS is named because Theano's own search for a
# BLAS looks for the one that NumPy was linked with, which comes without headers. What the user sets wins.
os.environ["THEANO_FLAGS"] = ",".join(filter(None, (
    "device=cpu", "blas.ldflags=-lopenblas", "base_compiledir=" + os.path.join(sys.prefix, "cache", "compiled"),
    os.environ.get("THEANO_FLAGS"))))

import common

with common.importing("Theano"):
    import theano
    from theano import tensor as T
    from theano.sandbox.rng_mrg import MRG_RandomStreams
    from theano.tensor.signal import pool

import theano_network


class Theano(theano_network.Symbolic):
    name = "theano"
    framework = "Theano"
    version = theano.__version__
    ops = tuple(theano_network.OPS)
    lib, tt = theano, T

    def prepare(self, plan):
        if not theano.config.cxx:
            raise common.BuildFailed("Theano compiles what it computes and finds no C++ compiler: install g++")
        theano.config.floatX = self.dtype
        theano.config.openmp = plan.threads > 1
        self.random = MRG_RandomStreams(plan.seed % 2147462579 + 1)

    def symbol(self, dtype, rank):
        return T.TensorType(dtype, (False,) * rank)()

    def convolve(self, x, weight, **attrs):
        return T.nnet.conv2d(x, weight, **attrs)

    def sum_windows(self, x, kernel, strides):
        return pool.pool_2d(x, kernel, ignore_border=True, stride=strides, mode="sum")

    def sigmoid(self, x):
        return T.nnet.sigmoid(x)

    def constant(self, x):
        return theano.gradient.disconnected_grad(x)

    def draw(self, share, shape):
        return self.random.binomial(shape, p=share)

    def seed(self, seed):
        self.random.seed(seed % 2147462579 + 1)

    def libraries(self):
        return ["BLAS: " + theano.config.blas.ldflags, "C++ compiler: " + theano.config.cxx]


if __name__ == "__main__":
    common.serve(Theano())
