"""Networks that came as a file which the framework's own converter made, and what of their weights is in it. Of the adapters
of such frameworks; the other side, which converts, is convert_network.py."""

import mmap

import common
import numpy as np

ORDERS = {2: ((1, 0),), 4: ((0, 2, 3, 1), (2, 3, 1, 0), (1, 2, 3, 0), (2, 3, 0, 1))}  # of axes, other than the graph's


class ConvertedAdapter(common.InferenceAdapter):
    """Of what answers requests by such a file. `self.path` is that of the file, once open_file() was called."""

    def open_file(self, plan):
        """The path of the file, and how this run departs from others by it, for the answer to `open`."""
        if plan.form:
            return plan.form_path, []
        path = common.made_file(plan)
        if plan.quantise:
            return path, ["converted and quantised by %s" % plan.converted["by"]]
        self.lost = [name for name, found in find(path, plan.weights).items() if not found]
        said = "network converted by %s" % plan.converted["by"]
        if self.lost:
            said += ", which merged %d of %d parameters into others" % (len(self.lost), len(plan.params))
        return path, [said]

    def weights(self):
        """Those that were looked for in the file when it was opened and are there, bit for bit. Of those that the converter merged
        into others the plan's own stand here: the file does not have them, which the deviation says."""
        return {param["name"]: np.array(self.plan.weights[param["name"]]) for param in self.plan.params}


def find(path, weights):
    """{name: whether the numbers are in the file, in some order of their axes}."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return {name: any(content.find(np.ascontiguousarray(values, np.float32).tobytes()) >= 0 for values in orders(array))
                for name, array in weights.items()}


def orders(array):
    yield array
    for axes in ORDERS.get(array.ndim, ()):
        yield array.transpose(axes)
