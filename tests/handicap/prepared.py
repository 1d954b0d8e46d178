"""What the loops share: the prepared files as NumPy arrays, and the clock around every ten steps.

    LOOP.py DATA.safetensors ORDER.safetensors THREADS

A loop trains LeNet as the tutorials of its framework do: it takes the rows of each batch from the array, turns pixels into
numbers from 0 to 1, and looks at the losses every ten steps. It prints a JSON object: "blocks", a list of [first step, start,
end] in nanoseconds of the monotonic clock, and "cpu_s", the processor time of the "steps" that follow the first ten.
"""
import json
import sys
import time

import numpy as np

TYPES = {"U8": np.uint8, "I64": np.int64, "U32": np.uint32, "F64": np.float64}
LOOK_EVERY = 10
LR, MOMENTUM = 0.01, 0.9


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        values = np.frombuffer(file.read(), np.uint8)
    header.pop("__metadata__", None)
    return {name: values[slice(*entry["data_offsets"])].view(TYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def arguments():
    """Images (n, 1, 28, 28) of uint8, labels, the rows of each step, threads."""
    data, order = read(sys.argv[1]), read(sys.argv[2])
    return data["x"], data["y"], order["order"], int(sys.argv[3])


def train(order, step, look):
    """Calls step(rows) for each batch, look(losses) every ten, and prints the times."""
    blocks, warm_s = [], None
    for first in range(0, len(order), LOOK_EVERY):
        start = time.monotonic_ns()
        losses = [step(rows) for rows in order[first:first + LOOK_EVERY]]
        last = look(losses)
        blocks.append([first, start, time.monotonic_ns()])
        warm_s = time.process_time() if first == 0 else warm_s
    print("last loss %.6f" % last, file=sys.stderr)
    print(json.dumps({"blocks": blocks, "cpu_s": time.process_time() - warm_s, "steps": len(order) - LOOK_EVERY}))
