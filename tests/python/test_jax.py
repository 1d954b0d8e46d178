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


class Whole(agreement.Agreement, agreement.Bfloat16):
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


if __name__ == "__main__":
    unittest.main()
