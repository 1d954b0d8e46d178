"""adapters/paddle.py against the plain NumPy oracle, dynamic and to_static, and what is particular about Paddle: its numbers in
float32, its variances, the corners of its functions."""

import unittest

import agreement
import driver

driver.require("paddle", "Paddle")

Adapter = driver.load("paddle").Paddle


class Dynamic(agreement.OwnLoader, agreement.Agreement):
    Adapter = Adapter
    LOADER = "paddle.io.DataLoader"


class Static(agreement.Agreement):
    Adapter = Adapter
    options = {"to_static": True}

    def test_it_is_declared(self):
        self.assertEqual(self.open()["deviations"], ["paddle.jit.to_static"])


class Parts(agreement.Parts):
    Adapter = Adapter
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
