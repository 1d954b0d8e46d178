"""A part of a list that is checked by thirds: --third=N of the tools that know it, N of 0 to 2, or two of them (0,2)."""
import argparse


def parse(text):
    """The type of the argument: which thirds."""
    thirds = sorted(text.split(","))
    if not thirds or len(set(thirds)) < len(thirds) or not set(thirds) <= {"0", "1", "2"}:
        raise argparse.ArgumentTypeError("%s: 0, 1 or 2, or some of them with commas between" % text)
    return [int(third) for third in thirds]


def of(items, thirds):
    """Those of the list that the thirds have, every third from the Nth on; all where none is asked for (None)."""
    return [item for at, item in enumerate(items) if thirds is None or at % 3 in thirds]
