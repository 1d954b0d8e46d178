"""adapters/chainer.py against the plain NumPy oracle, and the corners of Chainer's functions."""

import unittest

import agreement
import driver

driver.require("chainer", "Chainer")

Adapter = driver.load("chainer").Chainer


class Whole(agreement.Agreement):
    Adapter = Adapter


class Parts(agreement.Parts):
    Adapter = Adapter

    def test_corners(self):
        """Where Chainer's own leaky ReLU and clip have slope 1."""
        self.corners()

    def test_local_response_normalisation(self):
        self.local_response_norm()


if __name__ == "__main__":
    unittest.main()
