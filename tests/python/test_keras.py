"""adapters/keras.py against the plain NumPy oracle, on the engine that KERAS_BACKEND names (tensorflow without it), and what
is particular about Keras: its padding="same", strides together with dilations, pools that it lacks, corners of its functions."""

import os
import unittest

import agreement
import driver

ENGINE = os.environ.get("KERAS_BACKEND", "tensorflow")
try:
    import importlib.metadata
    importlib.metadata.version("keras")
    engine = importlib.import_module(ENGINE)
except ImportError:
    raise unittest.SkipTest("Keras on %s is not installed: yardstick install keras" % ENGINE)

if ENGINE == "jax":
    engine.config.update("jax_disable_most_optimizations", True)  # compiling is most of the time that these tests take
Adapter = driver.load("keras").Keras


class Whole(agreement.Agreement, agreement.Bfloat16):
    Adapter = Adapter
    options = {"backend": ENGINE}
    optimizers = agreement.FEW_OPTIMIZERS
    bounds = {"f64": agreement.DOUBLE}

    def test_an_engine_that_is_none_is_named(self):
        reply = self.adapter.need("error", "open", plan=self.work.plan(options={"backend": "mxnet"}))
        self.assertEqual(reply["code"], "build_failed")
        self.assertIn("mxnet", reply["message"])

    @unittest.skipUnless(ENGINE == "tensorflow", "only TensorFlow's graph optimizer moves weights too early")
    def test_no_trace_moves_a_weight_before_all_gradients_are_there(self):
        """Seen in one trace of fourteen, where the loss has a constant gradient: TRACES=200 looks for it."""
        for _ in range(int(os.environ.get("TRACES", "1"))):
            self.start()
            self.agrees(loss="nll")


class Parts(agreement.Parts):
    Adapter = Adapter
    options = {"backend": ENGINE}


class Tokens(agreement.Tokens):
    Adapter = Adapter
    options = {"backend": ENGINE}


class Places(agreement.Places):
    Adapter = Adapter
    options = {"backend": ENGINE}


if __name__ == "__main__":
    unittest.main()
