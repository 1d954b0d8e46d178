"""adapters/jax.py against the plain NumPy oracle, and what is particular about JAX: the corners of its functions, gradients
of dilated pools, rates that must not compile anew, arrays taken over."""

import unittest

import agreement
import driver
import numpy as np

driver.require("jax", "JAX")
import jax  # noqa: E402

jax.config.update("jax_disable_most_optimizations", True)  # compiling is most of the time that these tests take
Adapter = driver.load("jax").JAX


class Whole(agreement.InputGradients, agreement.Agreement, agreement.Bfloat16):
    Adapter = Adapter
    optimizers = agreement.FEW_OPTIMIZERS
    bounds = {"f64": agreement.DOUBLE}

    def test_a_step_is_compiled_once(self):
        self.open()
        self.adapter.need("tensors", "step", n=driver.Work.STEPS)  # three learning rates
        self.assertEqual(self.adapter.server.adapter.train_program._cache_size(), 1)

    def test_steps_leave_the_file_of_weights_alone(self):
        """Arrays that lie well may be taken over without a copy."""
        before = {name: value.copy() for name, value in self.work.weights.items()}
        self.open(precision="f32")
        self.adapter.need("tensors", "step", n=2)
        self.adapter.need("done", "reset")
        for name, value in self.adapter.tensors("step", n=0).items():
            self.assertTrue(np.array_equal(value, before[name]), name)


class Parts(agreement.Parts):
    Adapter = Adapter


class Tokens(agreement.Tokens):
    Adapter = Adapter


class Places(agreement.Places):
    Adapter = Adapter


class Fused(unittest.TestCase):
    """Attention by JAX's own."""

    def made(self, attrs, fused, precision):
        random = np.random.RandomState(4)
        x = random.normal(0, 1, (2, 3)).astype(np.float32).astype(np.float64)
        weights = {name + ".weight": random.normal(0, 1, (32, 3)).astype(np.float32) for name in "qkv"}
        nodes = driver.chain(agreement.FLOATS)
        for name in "qkv":
            nodes += [driver.node("Gemm", name, ["float"], {}, ["weight"]),
                      driver.node("Reshape", "rows_" + name, [name], {"shape": ["N", 4, 8]})]
        nodes += [driver.node("Attention", "attend", ["rows_q", "rows_k", "rows_v"], attrs),
                  driver.node("Flatten", "flat", ["attend"], {"axis": 1})]
        return agreement.gradients_of(Adapter, nodes, x, weights, {"fused": fused}, precision)

    def test_it_is_the_composed_one_in_single_precision(self):
        for causal, scale in ((0, 0), (1, 0.3)):
            attrs = {"q_num_heads": 4, "kv_num_heads": 4, "is_causal": causal, "scale": scale}
            with self.subTest(**attrs):
                (logits, gradients), (fused, fused_gradients) = (self.made(attrs, way, "f32") for way in (False, True))
                # Sums of some ten terms in single precision.
                self.assertLess(agreement.error(fused, logits), 1e-5)
                for name, gradient in gradients.items():
                    self.assertLess(agreement.error(fused_gradients[name], gradient), 1e-5, name)

    def test_it_is_not_done_in_double(self):
        with self.assertRaisesRegex(AssertionError, "fused = on in double"):
            self.made({"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 0, "scale": 0}, True, "f64")


if __name__ == "__main__":
    unittest.main()
