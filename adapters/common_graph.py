"""What the Python adapters read out of a graph, as docs/graph.md defines its members."""

import numpy as np

PADDING = 0  # the token of positions that attention hides, and of which none is the last of a row


def connection_mask(attrs, shape):
    """Of a convolution with a table of connections, whose weight has this shape (OIHW): 1 where an output channel sees an
    input channel and 0 elsewhere, (out, in, 1, 1). None where it has no table."""
    if "connections" not in attrs:
        return None
    mask = np.zeros(tuple(shape[:2]) + (1, 1), np.float32)
    for out, seen in enumerate(attrs["connections"]):
        mask[out, seen] = 1
    return mask


class Window:
    """How the windows of a pool or convolution lie along one axis (0: rows, 1: columns) of an image of `size` pixels.

    before, behind: the pixels to pad by so that windows without padding, their number rounded down, are exactly those of the
    node. What ceil_mode needs beyond the node's own padding is in `behind`; it is negative where pixels are to be cut
    off that no window sees. windows: their number. taps: where a window's pixels lie, from its first on.
    """

    def __init__(self, attrs, axis, size):
        kernel, self.stride = attrs["kernel_shape"][axis], attrs["strides"][axis]
        self.dilation = attrs["dilations"][axis]
        self.before, after = attrs["pads"][axis], attrs["pads"][axis + 2]
        reach = self.dilation * (kernel - 1) + 1
        ceil = attrs.get("ceil_mode", 0)
        steps = (size + self.before + after - reach + (self.stride - 1) * ceil) // self.stride
        if ceil and steps * self.stride >= size + self.before:  # the last window would begin behind the image
            steps -= 1
        self.windows = steps + 1
        self.behind = steps * self.stride + reach - size - self.before
        self.taps = range(0, reach, self.dilation)
        # The pixels that count in an average: those of the image, with the node's own padding where it says so.
        self._counted = (-self.before, size + after) if attrs.get("count_include_pad") else (0, size)

    def counts(self):
        """Of each window, how many of its pixels count in an average."""
        low, high = self._counted
        starts = range(-self.before, self.windows * self.stride - self.before, self.stride)
        return [sum(low <= start + tap < high for tap in self.taps) for start in starts]


def causal(count):
    """Of attention over so many positions, (queries, keys): whether a query sees a key, those up to its own place."""
    return np.tri(count, dtype=bool)


def sides_of(attrs):
    """Of a Pad: (elements before, behind) for each axis."""
    rank = len(attrs["pads"]) // 2
    return list(zip(attrs["pads"][:rank], attrs["pads"][rank:]))


def padded_indices(mode, sides, extent):
    """Of a Pad of mode "reflect" or "edge": where each index of the padded axis is read."""
    return np.pad(np.arange(extent), sides, mode)


def multiplier(param, key):
    """lr_mult or decay_mult of an entry of `params`."""
    return float(param.get(key, 1.0))


def untrained(graph, weights):
    """The elements of weights, arrays by name, that are no parameters: frozen ones, and those that tables of connections
    leave out."""
    frozen = {param["name"] for param in graph["params"] if param["role"] == "weight" and
              not multiplier(param, "lr_mult") and not multiplier(param, "decay_mult")}
    count = sum(weights[name].size for name in frozen)
    for node in graph["nodes"]:
        table = node.get("attrs", {}).get("connections")
        if table is not None and node["params"]["weight"] not in frozen:
            filters, channels, rows, columns = weights[node["params"]["weight"]].shape
            count += (filters * channels - sum(map(len, table))) * rows * columns
    return count


def shares(graph):
    """Whether several nodes read one parameter."""
    read = [name for node in graph["nodes"] for name in (node.get("params") or {}).values()]
    return len(set(read)) < len(read)


def extras(graph):
    """Of Adapter.extras, those that are a matter of the graph: whether it asks for each."""
    nodes, inputs = graph["nodes"], graph["inputs"]

    def has(attr):
        return any(node.get("attrs", {}).get(attr) for node in nodes)

    return {
        "connections": any("connections" in node.get("attrs", {}) for node in nodes),
        "inputs": [entry["name"] for entry in inputs] != ["x"],
        "tokens": any(entry["dtype"] == "I32" for entry in inputs),
        "shared": shares(graph),
        "broadcast": has("broadcast"),
        "operands": any(node["op"] in ("Add", "Sub", "Mul", "Div") and node.get("params") for node in nodes),
        "positions": has("positions"),
    }
