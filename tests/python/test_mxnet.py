"""adapters/mxnet.py against the plain NumPy oracle, under both executors, and what is particular about MXNet: its fused updates
with the rate inside the momentum, its variances, its numbers in float32, the corners of its functions."""

import os
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # MXNet reads it when it is loaded; yardstick sets it for an adapter

import agreement  # noqa: E402
import driver  # noqa: E402
import numpy as np  # noqa: E402

try:
    import mxnet as mx
except (ImportError, AttributeError):  # the latter with NumPy 1.24 and later
    raise unittest.SkipTest("MXNet is not installed: yardstick install mxnet")

Adapter = driver.load("mxnet").MXNet


class Gluon(agreement.Agreement):
    Adapter = Adapter

    def test_rates_of_zero_are_refused_with_momentum(self):
        self.work.lr[2] = 0.0
        driver.common.write_safetensors(self.work.path("order"), {"order": self.work.order, "lr": self.work.lr})
        reply = self.adapter.need("error", "open", plan=self.work.plan())
        self.assertEqual(reply["code"], "unsupported")
        self.start()
        self.agrees({"momentum": 0.0})

    def test_threads_are_those_of_the_environment(self):
        self.assertEqual(self.open()["threads"], int(os.environ["OMP_NUM_THREADS"]))


class Symbol(agreement.Agreement):
    Adapter = Adapter
    options = {"executor": "symbol"}

    def test_it_is_declared(self):
        self.assertEqual(self.open()["deviations"], ["symbolic executor"])


class Parts(unittest.TestCase):
    def slope(self, op, attrs, points):
        """The derivative of an operator at these points, from the gradient of a weight before it."""
        k = len(points)
        nodes = driver.chain(("normalize", "float", {"scale": 1.0, "mean": [0.0], "std": [1.0]}), ("Gemm", "in", {}, ["weight"]),
                             (op, "node", attrs), ("Gemm", "out", {}, ["weight", "bias"]))
        weights = {"in.weight": np.array(points)[:, None], "out.weight": np.eye(k), "out.bias": np.full(k, 8.0)}
        logits, gradients = agreement.gradients_of(Adapter, nodes, np.ones((1, 1)), weights)
        return gradients["in.weight"][:, 0] / (2 * (logits - np.eye(1, k))[0] / k)

    def test_corners(self):
        """Where MXNet's own clip has slope 1, and where its numbers are not those of the graph in double."""
        for op, attrs, points, slopes in (
            ("Relu", {}, [-0.25, 0, 0.25], [0, 0, 1]),
            ("LeakyRelu", {"alpha": 0.25}, [-1, 0, 1], [0.25, 0.25, 1]),
            ("LeakyRelu", {"alpha": 0.2}, [-1, 0, 1], [0.2, 0.2, 1]),
            ("Clip", {"min": 0, "max": 6}, [-1, 0, 1, 7], [0, 0, 1, 0]),
            ("Clip", {"min": -0.5, "max": 0.7}, [-0.5, 0.25, 0.75], [0, 1, 0]),
        ):
            with self.subTest(op, **attrs):
                np.testing.assert_allclose(self.slope(op, attrs, points), slopes, rtol=agreement.DOUBLE)


if __name__ == "__main__":
    unittest.main()
