"""adapters/tinygrad.py against the plain NumPy oracle, and the corners of its functions."""

import os
import shutil
import unittest

os.environ.setdefault("DEV", "CPU")  # as the recipe says; read when tinygrad is imported

import agreement  # noqa: E402
import driver  # noqa: E402

driver.require("tinygrad", "tinygrad")
if not shutil.which("clang"):
    raise unittest.SkipTest("tinygrad needs clang")

Adapter = driver.load("tinygrad").TinyGrad


class Whole(agreement.Agreement):
    Adapter = Adapter


class Parts(agreement.Parts):
    Adapter = Adapter


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
