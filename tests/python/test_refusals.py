"""Networks that a form of Caffe or Keras cannot keep, refused by name: the adapters' own words, with stand-ins for both
libraries, so that it is tested where neither is installed. test_forms.py has the same with the libraries."""

import os
import sys
import types
import unittest
import unittest.mock

import driver
import numpy as np

import common


def caffe():
    """The adapter of Caffe, on a library that is none."""
    modules = {name: unittest.mock.MagicMock(__version__="1.0") for name in ("caffe", "caffe.proto", "google", "google.protobuf")}
    with unittest.mock.patch.dict(sys.modules, modules):
        return driver.load("caffe")


def keras(engine):
    """The adapter of Keras on that engine, and the class of what Keras takes for a layer."""
    layer = type("Layer", (), {"__module__": "keras.layers"})
    stand_in = unittest.mock.MagicMock(Layer=layer, __version__="3.0")
    stand_in.ops.convert_to_numpy = np.asarray
    with unittest.mock.patch.dict(sys.modules, {"keras": stand_in}), unittest.mock.patch.dict(os.environ, {"KERAS_BACKEND": engine}):
        return driver.load("keras"), layer


class Refusals(unittest.TestCase):
    def refused(self, save, form, words):
        with self.assertRaises(common.Unsupported) as raised:
            save(form, "/there is no such folder/file")
        self.assertIn(words, str(raised.exception))

    def test_caffe_has_no_logsoftmax_to_end_a_net_with(self):
        module = caffe()
        adapter = types.SimpleNamespace(writer=types.SimpleNamespace(ends_in_log=True))
        self.refused(lambda form, path: module.Caffe.save_form(adapter, form, path), "caffemodel", "LogSoftmax")

    def keras_refuses(self, engine, operations, form, words):
        module, _ = keras(engine)
        adapter = types.SimpleNamespace(model=types.SimpleNamespace(operations=operations, weights=[]))
        self.refused(lambda form, path: module.Keras.save_form(adapter, form, path), form, words)

    def test_keras_exports_from_no_network_of_pytorch(self):
        self.keras_refuses("torch", [], "export", "TensorFlow and JAX")

    def test_keras_loads_no_layer_of_the_adapter_again(self):
        _, layer = keras("tensorflow")
        own = type("Rotary", (layer,), {"__module__": "keras_network"})
        for form in "keras", "h5":
            self.keras_refuses("tensorflow", [own()], form, "Rotary is none")

    def test_keras_loads_from_h5_layers_alone(self):
        operation = type("Gelu", (), {"__module__": "keras.ops"})
        self.keras_refuses("tensorflow", [operation()], "h5", "layers alone again, and Gelu is none")


if __name__ == "__main__":
    unittest.main()
