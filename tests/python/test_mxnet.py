"""adapters/mxnet.py against the plain NumPy oracle, under both executors, and what is particular about MXNet: its fused updates
with the rate inside the momentum, its variances, its numbers in float32, the corners of its functions."""

import os
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # MXNet reads it when it is loaded; yardstick sets it for an adapter

import agreement  # noqa: E402
import driver  # noqa: E402

driver.require("mxnet", "MXNet")

Adapter = driver.load("mxnet").MXNet


class Gluon(agreement.OwnLoader, agreement.Agreement):
    Adapter = Adapter
    LOADER = "mxnet.gluon.data.DataLoader"

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


class Parts(agreement.Parts):
    Adapter = Adapter
    clip_edge = 1  # as docs/frameworks/mxnet.md says
    dilated_pools = False


class Tokens(agreement.Tokens):
    Adapter = Adapter


class Places(agreement.Places):
    Adapter = Adapter


class Hidden(agreement.Hidden):
    Adapter = Adapter


class Pads(agreement.Pads):
    Adapter = Adapter


if __name__ == "__main__":
    unittest.main()
