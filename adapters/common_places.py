"""Tables of the operators that tell values their places (docs/graph.md, RotaryEmbedding and sinusoid), for the Python adapters;
in double, to be rounded to a run's precision."""

import numpy as np


class Place:
    """Where in their rows the positions lie that are passed: their first."""

    at = 0


def angles(base, positions, width):
    """Of each position and each pair of `width` numbers: (positions, width / 2)."""
    return np.arange(positions)[:, None] * base ** (-np.arange(0, width, 2) / width)


def rotations(attrs, positions, width):
    """Cosines and sines for parts of `width` numbers, of all heads: (positions, 1, width / 2) each."""
    turned = angles(attrs["base"], positions, width)[:, None]
    return np.cos(turned), np.sin(turned)


def waves(attrs, positions, width):
    """What is added: sine and cosine by turns, (positions, width)."""
    turned = angles(attrs["base"], positions, width)
    return np.stack((np.sin(turned), np.cos(turned)), -1).reshape(positions, width)
