"""The layers and functions of SINGA that a graph becomes: exactly its operators, or an answer that they cannot be. What
is made here of operators of our own is what SINGA lacks; they consist of its tensor functions."""

import builtins
import collections
import collections.abc

import common
import common_graph
import numpy as np

# SINGA names what newer versions of Python and NumPy have no more.
collections.Iterable = getattr(collections, "Iterable", collections.abc.Iterable)
for _name in ("int", "float", "bool"):
    if _name not in vars(np):
        setattr(np, _name, getattr(builtins, _name))

with common.importing("SINGA"):
    from singa import autograd, layer, model, singa_wrap, tensor


class Times(autograd.Operator):
    """y = c x, where c is a number or a CTensor of x's shape, or of one for each of its dimensions 1 to 3."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        if isinstance(self.factor, float):
            return singa_wrap.MultFloat(x, self.factor)
        return singa_wrap.__mul__(x, self.factor)

    backward = forward


class Normalize(autograd.Operator):
    """y = (x * scale - mean[c]) / std[c], of pixels: it has no gradient. mean, std: numbers, or CTensors."""

    def __init__(self, scale, mean, std):
        super().__init__()
        self.scale, self.mean, self.std = scale, mean, std

    def forward(self, x):
        x = singa_wrap.MultFloat(x, self.scale)
        if isinstance(self.mean, float):
            return singa_wrap.MultFloat(singa_wrap.AddFloat(x, -self.mean), 1 / self.std)
        return singa_wrap.__div__(singa_wrap.__sub__(x, self.mean), self.std)


class Frame(autograd.Operator):
    """Pads rows and columns by a value, or cuts them off where a width is negative: ((top, bottom), (left, right))."""

    def __init__(self, widths, value):
        super().__init__()
        self.widths, self.value = widths, value

    @staticmethod
    def change(x, axis, width, at_end, value):
        size = x.shape()[axis]
        if width < 0:
            return singa_wrap.SliceOn(x, 0, size + width, axis) if at_end else singa_wrap.SliceOn(x, -width, size, axis)
        shape = list(x.shape())
        shape[axis] = width
        border = singa_wrap.Tensor(shape, x.device())
        border.SetFloatValue(value)
        return singa_wrap.ConcatOn(singa_wrap.VecTensor([x, border] if at_end else [border, x]), axis)

    def run(self, x, sign, value):
        for axis, pair in enumerate(self.widths):
            for at_end, width in enumerate(pair):
                if width:
                    x = self.change(x, axis + 2, sign * width, at_end, value)
        return x

    def forward(self, x):
        return self.run(x, 1, self.value)

    def backward(self, dy):
        return self.run(dy, -1, 0.0)


class Network(model.Model):
    """The graph's nodes as calls, in order. train_one_batch() is what SINGA compiles."""

    def __init__(self, calls, inputs, output, loss):
        super().__init__()
        self.calls, self.inputs, self.output, self.loss = calls, inputs, output, loss
        for number, (call, _, _) in enumerate(calls):
            if isinstance(call, layer.Layer):
                setattr(self, "layer%d" % number, call)

    def forward(self, x):
        values = {self.inputs: x}
        for call, sources, targets in self.calls:
            results = call(*(values[name] for name in sources))
            values.update(zip(targets, results if isinstance(results, tuple) else (results,)))
        return values[self.output]

    def train_one_batch(self, x, y):
        loss = self.loss(self.forward(x), y)
        self.update(autograd.backward(loss))
        return loss


class Builder:
    """The calls of a plan's graph. owned: parameter -> (layer, its name there)."""

    def __init__(self, plan):
        self.plan, self.calls, self.owned = plan, [], {}
        readers = [name for node in plan.graph["nodes"] for name in node["in"]]
        first = plan.graph["inputs"][0]
        self.shapes = {first["name"]: [plan.batch_size] + first["shape"][1:]}
        for node in plan.graph["nodes"]:
            self.node = node
            ins, attrs, names = node["in"], node.get("attrs", {}), node.get("params", {})
            if node["op"] == "Add" and all(readers.count(name) > 1 for name in ins):
                # SINGA gives both sides of a sum one gradient, to which other readers of both would then be added.
                ins = [self.call(lambda x: Times(1.0)(x)[0], [ins[0]]), ins[1]]
            getattr(self, "on_" + node["op"], self.plain)(ins, attrs, names)

    def unsupported(self, what):
        raise common.Unsupported("SINGA has no %s (node %s)" % (what, self.node["name"]), self.node["op"])

    def call(self, function, sources, targets=None):
        targets = targets or ["%s:%d" % (sources[0], len(self.calls))]
        self.calls.append((function, sources, targets))
        return targets[0]

    def own(self, made, names, *roles):
        """Notes that the layer's attributes `roles` are the parameters weight and bias."""
        for role, attribute in zip(("weight", "bias", "running_mean", "running_var"), roles):
            if role in names:
                self.owned[names[role]] = made, attribute
        return made

    def shape(self, value):
        """Asks SINGA, by running what is there so far on zeros."""
        if value not in self.shapes:
            probe = Network(self.calls, self.plan.graph["inputs"][0]["name"], value, None)
            zeros = tensor.Tensor(self.shapes[probe.inputs], requires_grad=False)
            zeros.set_value(0.0)
            autograd.training = False
            self.shapes[value] = list(probe.forward(zeros).shape)
        return self.shapes[value]

    def plain(self, ins, attrs, _names):
        calls = {
            "Relu": lambda: layer.ReLU(), "Sigmoid": lambda: layer.Sigmoid(), "Tanh": lambda: autograd.tanh,
            "Add": lambda: autograd.add, "Mul": lambda: autograd.mul, "Flatten": lambda: layer.Flatten(),
            "Reshape": lambda: lambda x: autograd.reshape(x, [self.plan.batch_size] + attrs["shape"][1:]),
            "Concat": lambda: lambda *xs: autograd.cat(xs, attrs["axis"]),
            "Split": lambda: lambda x: autograd.split(x, attrs["axis"], attrs["split"]),
        }
        self.call(calls[self.node["op"]](), ins, self.node["out"])

    def on_normalize(self, ins, attrs, _names):
        mean, std, rank = attrs["mean"], attrs["std"], len(self.shape(ins[0]))
        if len(mean) == len(std) == 1:
            constants = float(mean[0]), float(std[0])
        else:
            channels = self.shape(ins[0])[1]
            self.kept = [tensor.from_numpy(np.broadcast_to(np.float32(values), (channels,)).reshape(
                [1, channels] + [1] * (rank - 2)).copy()) for values in (mean, std)]
            constants = tuple(kept.data for kept in self.kept)
        self.call(lambda x: Normalize(attrs["scale"], *constants)(x)[0], ins, self.node["out"])

    def on_Conv(self, ins, attrs, names):
        if attrs["group"] != 1 or attrs["dilations"] != [1, 1]:
            self.unsupported("convolution with groups or dilation on the CPU")
        top, left, bottom, right = attrs["pads"]
        # Always with a bias, which stays 0 where the node has none: the one that SINGA then makes for a step is gone
        # when its graph runs.
        made = layer.Conv2d(self.plan.weights[names["weight"]].shape[0], tuple(attrs["kernel_shape"]),
                            stride=tuple(attrs["strides"]), padding=(top, bottom, left, right))
        self.call(self.own(made, names, "W", "b"), ins, self.node["out"])

    def on_Gemm(self, ins, _attrs, names):
        made = layer.Linear(self.plan.weights[names["weight"]].shape[0], bias="bias" in names)
        self.call(self.own(made, names, "W", "b"), ins, self.node["out"])

    def on_BatchNormalization(self, ins, attrs, names):
        shape = self.shape(ins[0])
        if abs(attrs["epsilon"] - 1e-5) > 1e-12:
            self.unsupported("batch norm with epsilon %s: its own is 1e-5" % attrs["epsilon"])
        if np.prod(shape) == shape[1]:
            self.unsupported("batch norm of one number a channel")
        made = layer.BatchNorm2d(momentum=attrs["momentum"])  # the share of the new, as in the graph
        self.call(self.own(made, names, "scale", "bias", "running_mean", "running_var"), ins, self.node["out"])

    def on_MaxPool(self, ins, attrs, _names):
        self.pool(ins, attrs, True)

    def on_AveragePool(self, ins, attrs, _names):
        self.pool(ins, attrs, False)

    def pool(self, ins, attrs, is_max):
        if attrs["dilations"] != [1, 1]:
            self.unsupported("pool with dilation")
        kernel, strides, pads, value = tuple(attrs["kernel_shape"]), tuple(attrs["strides"]), attrs["pads"], ins[0]
        made = layer.MaxPool2d if is_max else layer.AvgPool2d
        # SINGA rounds down, pads evenly, and counts no padding.
        counts_none = is_max or not attrs["count_include_pad"] or not any(pads)
        if pads[:2] == pads[2:] and not attrs["ceil_mode"] and counts_none:
            self.call(made(kernel, strides, padding=tuple(pads[:2])), [value], self.node["out"])
            return
        windows = [common_graph.Window(attrs, axis, size) for axis, size in enumerate(self.shape(value)[2:])]
        widths = [(window.before, window.behind) for window in windows]
        if any(sum(widths, ())):
            border = float(np.finfo(np.float32).min) if is_max else 0.0
            value = self.call(lambda x: Frame(widths, border)(x)[0], [value])
        counts = np.outer(windows[0].counts(), windows[1].counts())
        factor = np.float32(kernel[0] * kernel[1] / np.maximum(counts, 1))
        if is_max or np.all(factor == 1):
            self.call(made(kernel, strides), [value], self.node["out"])
            return
        value = self.call(made(kernel, strides), [value])
        kept = tensor.from_numpy(np.broadcast_to(factor, self.shape(value)).copy())
        self.call(lambda x: Times(kept.data)(x)[0], [value], self.node["out"])

    def on_GlobalAveragePool(self, ins, _attrs, _names):
        self.call(layer.AvgPool2d(tuple(self.shape(ins[0])[2:]), 1), ins, self.node["out"])

    def on_GlobalMaxPool(self, ins, _attrs, _names):
        self.call(layer.MaxPool2d(tuple(self.shape(ins[0])[2:]), 1), ins, self.node["out"])

    def on_LeakyRelu(self, ins, attrs, _names):
        # leakyrelu() has gradient 0 at 0. a x + (1 - a) relu(x) is the same function with gradient a there.
        alpha = attrs["alpha"]
        whole = self.call(lambda x: Times(alpha)(x)[0], ins)
        above = self.call(lambda x: Times(1 - alpha)(autograd.relu(x))[0], ins)
        self.call(autograd.add, [whole, above], self.node["out"])

    def on_Clip(self, ins, attrs, _names):
        # clip() has gradient 1 at its bounds, the graph 0. Below, relu() makes it 0; above, the largest number that is
        # less than the bound takes its place.
        if attrs["min"] != 0:
            self.unsupported("Clip from %s with gradient 0 at its bounds" % attrs["min"])
        top = float(np.nextafter(np.float32(attrs["max"]), np.float32(0)))
        self.call(lambda x: autograd.clip(autograd.relu(x), None, top), ins, self.node["out"])

    def on_Dropout(self, ins, attrs, _names):
        ratio = attrs["ratio"]
        if ratio == 0:
            self.call(autograd.identity, ins, self.node["out"])
            return

        def drop(x):  # dropout() scales by 1 - ratio, where it should by 1 / (1 - ratio)
            if not autograd.training:
                return x
            return Times(1 / (1 - ratio) ** 2)(autograd.dropout(x, self.plan.seed, ratio))[0]
        self.call(drop, ins, self.node["out"])

    def on_Softmax(self, ins, attrs, _names):
        if len(self.shape(ins[0])) != 2:
            self.unsupported("softmax but of (N, classes)")
        self.call(lambda x: autograd.softmax(x, attrs["axis"]), ins, self.node["out"])

    def on_LogSoftmax(self, ins, attrs, _names):
        if self.node["out"][0] != self.plan.graph["output"] or attrs["axis"] != 1:
            self.unsupported("log softmax but at the end of a network")
        self.call(autograd.identity, ins, self.node["out"])  # the loss has it; the logits get it where they are read
