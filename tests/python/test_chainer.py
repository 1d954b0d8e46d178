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
