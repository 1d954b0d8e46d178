"""adapters/jax.py against the plain NumPy oracle, and what is particular about JAX: the corners of its functions, gradients
of dilated pools, rates that must not compile anew, donated buffers."""

import unittest

import agreement
import driver
import numpy as np

driver.require("jax", "JAX")
import jax  # noqa: E402

jax.config.update("jax_disable_most_optimizations", True)  # compiling is most of the time that these tests take
Adapter = driver.load("jax").JAX


class Whole(agreement.Agreement):
    Adapter = Adapter

    def test_it_agrees_by_every_optimizer(self):
        """In double alone, and by those that differ: each is compiled anew."""
        for settings in ({"nesterov": True}, {"name": "adam"}, {"name": "adamw"}, {"name": "rmsprop", "momentum": 0.5},
                         {"clip_norm": 0.01}):
            with self.subTest(settings):
                self.start()
                self.agrees(dict(agreement.HASTY, **settings))

    def test_a_step_is_compiled_once(self):
        self.open()
        self.adapter.need("tensors", "step", n=driver.Work.STEPS)  # three learning rates
        self.assertEqual(self.adapter.server.adapter.train_program._cache_size(), 1)

    def test_donated_buffers_leave_the_file_of_weights_alone(self):
        """Arrays that lie well are taken over without a copy, and a step writes over what it was given."""
        before = {name: value.copy() for name, value in self.work.weights.items()}
        self.open(precision="f32")
        self.adapter.need("tensors", "step", n=2)
        self.adapter.need("done", "reset")
        for name, value in self.adapter.tensors("step", n=0).items():
            self.assertTrue(np.array_equal(value, before[name]), name)

    def test_bfloat16_keeps_float32_where_it_must(self):
        self.open(precision="bf16")
        after = self.adapter.tensors("step", n=1)
        for name, value in after.items():
            self.assertEqual(value.dtype, np.float32, name)
            self.assertTrue((value.view(np.uint32) & 0xFFFF).any(), name)  # more digits than bfloat16 has
        self.assertEqual(self.adapter.tensors("forward", batch=0, mode="train")["logits"].dtype, np.float32)


class Parts(unittest.TestCase):
    def run_behind(self, parts, points):
        """Behind points that a product makes, and before one that keeps logits away from their labels: the gradient of each
        point, by that of what follows the parts."""
        nodes = driver.chain(("Gemm", "in", {}, ["weight"]), *parts, ("Gemm", "out", {}, ["weight", "bias"]))
        count = len(points)
        weights = {"in.weight": np.array(points)[:, None], "out.weight": np.eye(count), "out.bias": np.full(count, 8.0)}
        logits, gradients = agreement.gradients_of(Adapter, nodes, np.ones((1, 1)), weights)
        return gradients["in.weight"][:, 0] / (2 * (logits[0] - np.eye(1, count)[0]) / count)

    def slope(self, op, attrs, points):
        """The derivative of an operator at these points."""
        return self.run_behind([(op, "node", attrs)], points)

    def test_corners(self):
        np.testing.assert_allclose(self.slope("Relu", {}, [-0.25, 0, 0.25]), [0, 0, 1])
        np.testing.assert_allclose(self.slope("LeakyRelu", {"alpha": 0.25}, [-1, 0, 1]), [0.25, 0.25, 1])
        np.testing.assert_allclose(self.slope("Clip", {"min": 0, "max": 6}, [-1, 0, 1, 6, 7]), [0, 0, 1, 0, 0])

    def winner(self, pool):
        """Which of nine equal pixels the gradient of a pool's largest goes to."""
        parts = [("Reshape", "image", {"shape": ["N", 1, 3, 3]}), (pool[0], "node", pool[1]), ("Flatten", "flat", {"axis": 1})]
        nodes = driver.chain(("Gemm", "in", {}, ["weight"]), *parts)
        _, gradients = agreement.gradients_of(Adapter, nodes, np.ones((1, 1)), {"in.weight": np.full((9, 1), 2.0)})
        return np.nonzero(gradients["in.weight"][:, 0])[0].tolist()

    def test_the_first_of_equals_wins(self):
        whole = driver.window((3, 3), (0, 0, 0, 0), ceil_mode=0)
        sparse = driver.window((2, 2), (0, 0, 0, 0), (1, 1), (2, 2), ceil_mode=0)
        for pool in (("MaxPool", whole), ("MaxPool", sparse), ("GlobalMaxPool", {})):
            with self.subTest(pool):
                self.assertEqual(self.winner(pool), [0])


if __name__ == "__main__":
    unittest.main()
