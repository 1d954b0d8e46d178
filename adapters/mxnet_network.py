"""The network and the loss of a plan in MXNet's Gluon, exactly as docs/graph.md means them.

MXNet keeps the numbers that its operators are given (a slope, the alpha of an LRN) as float32. In double that would be another
network, so there such numbers go to operators that take theirs in double.
"""

import json
import math

import common
import common_graph
import common_places
import numpy as np

with common.importing("MXNet"):
    import mxnet as mx
    from mxnet import gluon
    from mxnet.gluon import nn

HIDDEN = -1e30  # a score whose share is 0
KINDS = {"LSTM": "hc", "GRU": "h"}  # of the state that a layer is left in
BATCH_NORM = {"weight": "gamma", "bias": "beta", "running_mean": "running_mean", "running_var": "running_var"}


def single(value):
    """What MXNet makes of a number that an operator is given."""
    return float(np.float32(value))


class Normalize(gluon.HybridBlock):
    """y = (x * scale - mean[c]) / std[c], computed in `dtype`."""

    def __init__(self, attrs, rank, dtype):
        super().__init__()
        self.scale, self.dtype = attrs["scale"], dtype
        shape = [1, -1] + [1] * (rank - 2)
        self.mean = constant(self, "mean", np.reshape(attrs["mean"], shape), dtype)
        self.std = constant(self, "std", np.reshape(attrs["std"], shape), dtype)

    def hybrid_forward(self, F, x, mean, std):
        return F.broadcast_div(F.broadcast_sub(F.cast(x, self.dtype) * self.scale, mean), std)


class ConnectedConv2D(nn.Conv2D):
    """A convolution whose output channels see some of the input channels only."""

    def connect(self, mask, dtype):
        self.mask = constant(self, "mask", mask, dtype)

    def hybrid_forward(self, F, x, weight, mask, bias=None):
        return super().hybrid_forward(F, x, F.broadcast_mul(weight, mask), bias)


class LayerNorm(gluon.HybridBlock):
    """Of elementary operators: MXNet's own has its epsilon in single precision."""

    def __init__(self, attrs, names, shape):
        super().__init__()
        self.epsilon = attrs["epsilon"]
        self.weight = self.params.get("weight", shape=shape[-1:])
        if "bias" in names:
            self.bias = self.params.get("bias", shape=shape[-1:], init="zeros")

    def hybrid_forward(self, F, x, weight, bias=None):
        x = F.broadcast_sub(x, F.mean(x, axis=-1, keepdims=True))
        x = F.broadcast_div(x, F.sqrt(F.mean(F.square(x), axis=-1, keepdims=True) + self.epsilon))
        x = F.broadcast_mul(x, weight)
        return x if bias is None else F.broadcast_add(x, bias)


class RMSNorm(gluon.HybridBlock):
    def __init__(self, attrs, shape):
        super().__init__()
        self.epsilon = attrs["epsilon"]
        self.weight = self.params.get("weight", shape=shape[-1:])

    def hybrid_forward(self, F, x, weight):
        root = F.sqrt(F.mean(F.square(x), axis=-1, keepdims=True) + self.epsilon)
        return F.broadcast_mul(F.broadcast_div(x, root), weight)


class Tied(gluon.HybridBlock):
    """A dense layer without a bias, of the table that an embedding reads."""

    def __init__(self, table):
        super().__init__()
        self.weight = table

    def hybrid_forward(self, F, x, weight):
        return F.FullyConnected(x, weight, num_hidden=self.weight.shape[0], no_bias=True, flatten=False)


class Recurrent(gluon.HybridBlock):
    """What gluon.rnn calls. Of its second biases an LSTM has none, and a GRU that of its last gate alone; the others are zeros.
    Where state is carried it gives the one that it ends with too; that with which it begins are the constants h and c."""

    def __init__(self, op, shapes, rows, carries, dtype):
        super().__init__()
        self.op, self.units, self.carries, self.kinds = op.lower(), shapes["recurrent"][1], carries, KINDS[op]
        for role, shape in shapes.items():
            setattr(self, role, self.params.get(role, shape=shape))
        self.nothing = constant(self, "nothing", np.zeros(shapes["bias"][0] - (self.units if op == "GRU" else 0)), dtype)
        for kind in self.kinds:
            setattr(self, kind, constant(self, kind, np.zeros((1, rows, self.units)), dtype))

    def hybrid_forward(self, F, x, weight, recurrent, bias, nothing, h, c=None, recurrent_bias=None):
        parts = [F.reshape(weight, shape=(-1,)), F.reshape(recurrent, shape=(-1,)), bias, nothing]
        parts = F.concat(*parts, *[recurrent_bias] * (self.op == "gru"), dim=0)
        state = {"state": h, "state_cell": c} if self.op == "lstm" else {"state": h}
        y = F.RNN(F.swapaxes(x, 0, 1), parts, mode=self.op, state_size=self.units, num_layers=1, state_outputs=self.carries, **state)
        if not self.carries:
            return F.swapaxes(y, 0, 1)
        return [F.swapaxes(y[0], 0, 1), *[y[1 + place] for place in range(len(self.kinds))]]


class Attention(gluon.HybridBlock):
    """Of products and a softmax. Perhaps tokens say what is hidden."""

    def __init__(self, attrs, shape, keys, dtype):
        super().__init__()
        self.heads, self.groups, self.dtype = attrs["q_num_heads"], attrs["kv_num_heads"], dtype
        self.queries, self.keys = shape[1], keys
        self.scale = attrs["scale"] or (shape[2] / self.heads) ** -0.5
        if attrs["is_causal"]:
            self.seen = constant(self, "seen", np.where(common_graph.causal(shape[1]), 0, HIDDEN)[None, None], dtype)

    def apart(self, F, x, positions, heads):
        """(N times heads, positions, width of a head), each head of keys as often as it has queries."""
        x = F.transpose(F.reshape(x, shape=(0, positions, heads, -1)), axes=(0, 2, 1, 3))
        if heads < self.heads:
            x = F.repeat(x, self.heads // heads, axis=1)
        return F.reshape(x, shape=(-3, 0, 0))

    def hybrid_forward(self, F, q, k, v, tokens=None, seen=None):
        q, k, v = self.apart(F, q, self.queries, self.heads), *(self.apart(F, part, self.keys, self.groups) for part in (k, v))
        scores = F.reshape(F.batch_dot(q, k, transpose_b=True) * self.scale, shape=(-4, -1, self.heads, 0, 0))
        if seen is not None:
            scores = F.broadcast_add(scores, seen)
        if tokens is not None:
            hidden = F.cast(tokens == common_graph.PADDING, self.dtype) * HIDDEN
            scores = F.broadcast_add(scores, F.reshape(hidden, shape=(0, 1, 1, -1)))
        y = F.batch_dot(F.reshape(F.softmax(scores, axis=-1), shape=(-3, 0, 0)), v)
        y = F.transpose(F.reshape(y, shape=(-4, -1, self.heads, 0, 0)), axes=(0, 2, 1, 3))
        return F.reshape(y, shape=(0, 0, -3))


class Rotary(gluon.HybridBlock):
    """Pairs of each head, turned."""

    def __init__(self, attrs, shape, dtype):
        super().__init__()
        self.heads, self.half, self.interleaved = attrs["num_heads"], shape[2] // attrs["num_heads"] // 2, attrs["interleaved"]
        cosines, sines = common_places.rotations(attrs, shape[1], 2 * self.half)
        self.cosines, self.sines = constant(self, "cosines", cosines[None], dtype), constant(self, "sines", sines[None], dtype)

    def hybrid_forward(self, F, x, cosines, sines):
        pair = (self.half, 2) if self.interleaved else (2, self.half)
        axis = 4 if self.interleaved else 3
        parts = F.reshape(x, shape=(0, 0, self.heads, *pair))
        a, b = (F.reshape(F.slice_axis(parts, axis=axis, begin=i, end=i + 1), shape=(0, 0, 0, self.half)) for i in range(2))
        turned = (F.broadcast_mul(a, cosines) - F.broadcast_mul(b, sines), F.broadcast_mul(b, cosines) + F.broadcast_mul(a, sines))
        return F.reshape(F.stack(*turned, axis=axis), shape=(0, 0, -1))


class Sinusoid(gluon.HybridBlock):
    def __init__(self, attrs, shape, dtype):
        super().__init__()
        self.waves = constant(self, "waves", common_places.waves(attrs, *shape[1:])[None], dtype)

    def hybrid_forward(self, F, x, waves):
        return F.broadcast_add(x, waves)


class Last(gluon.HybridBlock):
    """Of each row the last position whose token is not the padding."""

    def __init__(self, positions, dtype):
        super().__init__()
        self.dtype = dtype
        self.places = constant(self, "places", np.arange(1, positions + 1)[None], dtype)

    def hybrid_forward(self, F, x, tokens, places):
        counts = F.broadcast_mul(F.cast(tokens != common_graph.PADDING, self.dtype), places)
        return F.SequenceLast(F.swapaxes(x, 0, 1), F.max(counts, axis=1), use_sequence_length=True)


class Operand(gluon.HybridBlock):
    """A value of `rank` dimensions and a parameter that lies along the last of them."""

    def __init__(self, op, shape, rank):
        super().__init__()
        self.op, self.shape = op, (1,) * (rank - len(shape)) + shape
        self.weight = self.params.get("weight", shape=shape)

    def hybrid_forward(self, F, x, weight):
        return JOINS[self.op](F, (x, F.reshape(weight, shape=self.shape)), {"broadcast": 1})


class PaddedPool(gluon.HybridBlock):
    """A pool on an image that was padded so that windows without padding are those of the node; an average then counts
    what the node says."""

    def __init__(self, op, attrs, windows, dtype):
        super().__init__()
        self.windows, kernel = windows, attrs["kernel_shape"]
        self.value = 0.0 if op == "AveragePool" else float(np.finfo(dtype).min)
        self.pool = (nn.AvgPool2D if op == "AveragePool" else nn.MaxPool2D)(kernel, attrs["strides"])
        share = kernel[0] * kernel[1] / np.outer(*[window.counts() for window in windows])
        if op == "AveragePool" and (share != 1).any():
            self.share = constant(self, "share", share[None, None], dtype)

    def hybrid_forward(self, F, x, share=None):
        pads = [0, 0, 0, 0]
        for axis, window in enumerate(self.windows, 2):
            if window.behind < 0:
                x = F.slice_axis(x, axis=axis, begin=0, end=window.behind)
            pads += [window.before, max(window.behind, 0)]
        x = self.pool(F.pad(x, mode="constant", pad_width=pads, constant_value=self.value))
        return x if share is None else F.broadcast_mul(x, share)


class LocalResponseNorm(gluon.HybridBlock):
    """MXNet's own in single precision, of odd size. Next to images in one of oneDNN's blocked layouts MXNet 1.9.1 computes wrong
    gradients of it; products that are broadcast, even by 1, leave them plain."""

    def __init__(self, attrs, shape, dtype):
        super().__init__()
        self.attrs, self.shape, self.fused = attrs, shape, dtype == "float32" and attrs["size"] % 2
        if self.fused:
            self.one = constant(self, "one", np.ones((1, 1, 1, 1)), dtype)

    def hybrid_forward(self, F, x, one=None):
        size, alpha, beta, bias = (self.attrs[key] for key in ("size", "alpha", "beta", "bias"))
        if self.fused:
            x = F.LRN(F.broadcast_mul(x, one), alpha=alpha, beta=beta, knorm=bias, nsize=size)
            return F.broadcast_mul(x, one)
        before, channels = (size - 1) // 2, self.shape[1]
        squares = F.reshape(F.square(x), shape=(0, 1, channels, -1))  # channels as rows of an image, which can be padded
        squares = F.pad(squares, mode="constant", pad_width=(0, 0, 0, 0, before, size - 1 - before, 0, 0))
        total = F.add_n(*[F.slice_axis(squares, axis=2, begin=i, end=i + channels) for i in range(size)])
        return x * F.reshape(total * (alpha / size) + bias, shape=(0, *self.shape[1:])) ** -beta


def constant(block, name, value, dtype):
    return block.params.get_constant(name, mx.nd.array(value, dtype=dtype))


def clip(F, x, attrs, holds):
    """MXNet's own clip lets the gradient pass at the bounds as well: at 0, where many values lie, ReLU puts that right."""
    low, high = attrs["min"], attrs["max"]
    if low == 0 and holds(high):
        return F.clip(F.relu(x), low, high)
    bounded = F.BlockGrad(F.minimum(F.maximum(x, low), high))
    return F.where((x > low) * (x < high), x, bounded)


def leaky_relu(F, x, attrs, holds):
    slope = attrs["alpha"]
    return F.LeakyReLU(x, act_type="leaky", slope=slope) if holds(slope) else F.where(x > 0, x, x * slope)


def gelu(F, x, attrs, holds):
    if attrs["approximate"] == "tanh":
        return x * (1 + F.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2
    curve = F.erf(x / math.sqrt(2))
    root = math.sqrt(math.pi)
    if not holds(root):  # the gradient of MXNet's erf divides by the root in single precision
        more = single(root) / root - 1
        curve = curve + (curve * more - F.BlockGrad(curve * more))
    return x * (1 + curve) / 2


def split(F, x, attrs, _holds):
    ends = np.cumsum(attrs["split"]).tolist()
    return [F.slice_axis(x, axis=attrs["axis"], begin=end - size, end=end) for end, size in zip(ends, attrs["split"])]


def pad(F, x, attrs, _holds):
    """MXNet pads rows and columns of images alone; the checks of make() see to it. What has three axes is an image of one channel."""
    sides = common_graph.sides_of(attrs)
    is_image = len(sides) == 4
    width = [size for side in (sides if is_image else [sides[0], (0, 0), *sides[1:]]) for size in side]
    y = F.pad(x if is_image else F.expand_dims(x, axis=1), mode=attrs["mode"], pad_width=width, constant_value=attrs["value"])
    return y if is_image else F.reshape(y, shape=(0, -3, 0))


# Operators without parameters. holds(number): whether MXNet keeps the number as it is.
CALLS = {
    "Relu": lambda F, x, attrs, holds: F.Activation(x, act_type="relu"),  # as nn.Activation: oneDNN's, which F.relu is not
    "LeakyRelu": leaky_relu,
    "Clip": clip,
    "Tanh": lambda F, x, attrs, holds: F.tanh(x),
    "Sigmoid": lambda F, x, attrs, holds: F.sigmoid(x),
    "HardSwish": lambda F, x, attrs, holds: x * F.clip(x + 3, 0, 6) / 6,
    "HardSigmoid": lambda F, x, attrs, holds: clip(F, x * attrs["alpha"] + attrs["beta"], {"min": 0.0, "max": 1.0}, holds),
    "Swish": lambda F, x, attrs, holds: x * F.sigmoid(x),
    "Gelu": gelu,
    "Pad": pad,
    "Sqrt": lambda F, x, attrs, holds: F.sqrt(x),
    "Pow": lambda F, x, attrs, holds: x ** attrs["exponent"],
    "Softmax": lambda F, x, attrs, holds: F.softmax(x, axis=attrs["axis"]),
    "LogSoftmax": lambda F, x, attrs, holds: F.log_softmax(x, axis=attrs["axis"]),
    "Flatten": lambda F, x, attrs, holds: F.Flatten(x),
    "Reshape": lambda F, x, attrs, holds: F.reshape(x, shape=(0, *attrs["shape"][1:])),
    "Transpose": lambda F, x, attrs, holds: F.transpose(x, axes=attrs["perm"]),
    "ReduceMean": lambda F, x, attrs, holds: F.mean(x, axis=tuple(attrs["axes"]), keepdims=bool(attrs["keepdims"])),
    "Split": split,
}
# Of several values.
JOINS = {
    "Add": lambda F, x, attrs: (F.broadcast_add if attrs.get("broadcast") else F.elemwise_add)(*x),
    "Sub": lambda F, x, attrs: (F.broadcast_sub if attrs.get("broadcast") else F.elemwise_sub)(*x),
    "Mul": lambda F, x, attrs: (F.broadcast_mul if attrs.get("broadcast") else F.elemwise_mul)(*x),
    "Div": lambda F, x, attrs: (F.broadcast_div if attrs.get("broadcast") else F.elemwise_div)(*x),
    "MatMul": lambda F, x, attrs: F.linalg_gemm2(*x),
    "Concat": lambda F, x, attrs: F.concat(*x, dim=attrs["axis"]),
}


class Network(gluon.HybridBlock):
    """The graph: its layers, called in its order.

    owned: name in the graph -> its Parameter.  statistics: name of a running mean or variance -> the share of the new in it,
    and by what MXNet's batch variance, divided by n, is multiplied in the graph's meaning (1 for a mean).  classes: of the
    logits.  carried: of LSTM and GRU whose state is carried, (kind, node) -> the constant with which the next batch begins;
    then the states that the layers were left in, in its order, come behind the logits.  evaluated: it means evaluation also where
    MXNet is told that it trains, without which its pools of maxima in float32 have no gradient.
    """

    def __init__(self, plan, dtype, evaluated=False):
        super().__init__()
        self.plan, self.dtype, self.evaluated = plan, dtype, evaluated
        self.owned, self.statistics, self.tables, self.made, self.carried, self.nodes = {}, {}, set(), {}, {}, []
        graph = plan.graph
        source = graph["inputs"][0]
        # Shapes are asked of MXNet: each layer is called on symbols as soon as it is made.
        self.size = (plan.batch_size, *source["shape"][1:])
        values = {source["name"]: mx.sym.var("x", shape=self.size)}
        for node in graph["nodes"]:
            inputs = [values[name] for name in node["in"]]
            made = self.make(node, inputs)
            states = [key for key in self.carried if key[1] == node["name"]]
            self.nodes.append((node["in"], node["out"] + states, made))
            values.update(self.call(mx.sym, *self.nodes[-1], values))
        self.classes = self.shape(values[graph["output"]])[-1]
        self.cast(dtype)

    @staticmethod
    def shape(value):
        return value.infer_shape()[1][0]

    @staticmethod
    def call(F, inputs, outputs, function, values):
        result = function(F, *[values[name] for name in inputs])
        return zip(outputs, result if isinstance(result, list) else [result])

    def hybrid_forward(self, F, x):
        values = {self.plan.graph["inputs"][0]["name"]: x}
        for node in self.nodes:
            values.update(self.call(F, *node, values))
        logits = values[self.plan.graph["output"]]
        return [logits, *[values[key] for key in self.carried]] if self.carried else logits

    def holds(self, value):
        return self.dtype == "float32" or single(value) == value

    def make(self, node, inputs):
        """A function of F and the node's inputs."""
        op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
        if op == "Pad" and (len(attrs["pads"]) not in (6, 8) or len(attrs["pads"]) == 8 and any(common_graph.sides_of(attrs)[1])):
            raise common.Unsupported("Pad of other axes than the rows and columns of images: MXNet has none", op)
        if op in CALLS:
            return lambda F, x: CALLS[op](F, x, attrs, self.holds)
        if op in JOINS and not names:
            return lambda F, *x: JOINS[op](F, x, attrs)
        shape = self.shape(inputs[0])
        if op in KINDS:
            return self.recurrent(node["name"], op, names, shape)
        if not names:
            return self.compose(op, attrs, names, inputs, shape)
        key = json.dumps([op, attrs, names, len(shape)], sort_keys=True)
        if key not in self.made:  # else it is the layer of another node too
            self.made[key] = self.compose(op, attrs, names, inputs, shape)
        elif op == "BatchNormalization":
            raise common.Unsupported("batch normalisation at two places: its statistics would be those of the second alone", op)
        return self.made[key]

    def recurrent(self, name, op, names, shape):
        """A layer that stands at one place, or where no state is carried at several."""
        carries, key = self.plan.carries_state, json.dumps([op, names], sort_keys=True)
        if carries or key not in self.made:
            self.refuse_shared(op, [parameter for parameter in names.values() if parameter in self.owned])
            shapes = {role: self.plan.weights[parameter].shape for role, parameter in names.items()}
            layer = self.own(Recurrent(op, shapes, shape[0], carries, self.dtype), names)
            self.register_child(layer)
            self.made[key] = lambda F, x: layer(x)
            self.carried.update({(kind, name): getattr(layer, kind) for kind in layer.kinds} if carries else {})
        return self.made[key]

    @staticmethod
    def refuse_shared(op, shared):
        if shared:
            raise common.Unsupported("parameter %s is that of another layer too: this adapter's layers share all or nothing" % shared[0], op)

    def compose(self, op, attrs, names, inputs, shape):
        shared = [name for name in names.values() if name in self.owned]
        if shared and op == "Gemm" and shared[0] in self.tables and "bias" not in names:
            layer = Tied(self.owned[shared[0]])
        else:
            self.refuse_shared(op, shared)
            if op == "Conv":
                return self.conv(attrs, names)
            if op == "ConvTranspose":
                return self.conv_transpose(attrs, names)
            layer = self.of_positions(op, attrs, names, inputs, shape) or self.layer(op, attrs, names, shape)
        self.register_child(layer)
        return lambda F, *x: layer(*x)

    def of_positions(self, op, attrs, names, inputs, shape):
        """What networks of tokens have besides; None: it is another."""
        if op == "Embedding":
            self.tables.add(names["weight"])
            return self.own(nn.Embedding(*self.plan.weights[names["weight"]].shape, dtype=self.dtype), names)
        if op == "RMSNormalization":
            return self.own(RMSNorm(attrs, shape), names)
        if op == "Attention":
            return Attention(attrs, shape, self.shape(inputs[1])[1], self.dtype)
        return {"RotaryEmbedding": lambda: Rotary(attrs, shape, self.dtype), "sinusoid": lambda: Sinusoid(attrs, shape, self.dtype),
                "last": lambda: Last(shape[1], self.dtype)}.get(op, lambda: None)()

    def layer(self, op, attrs, names, shape):
        if op == "normalize":
            return Normalize(attrs, len(shape), self.dtype)
        if op == "Gemm":
            units, inputs = self.plan.weights[names["weight"]].shape
            return self.own(nn.Dense(units, use_bias="bias" in names, in_units=inputs, flatten=False), names)
        if op == "BatchNormalization":
            layer = nn.BatchNorm(momentum=1 - attrs["momentum"], epsilon=attrs["epsilon"], in_channels=shape[1],
                                 use_global_stats=self.evaluated)
            rows = int(np.prod(shape)) // shape[1]
            self.statistics[names["running_mean"]] = attrs["momentum"], 1.0
            self.statistics[names["running_var"]] = attrs["momentum"], rows / (rows - 1) if rows > 1 else 0.0
            return self.own(layer, names, BATCH_NORM)
        if op == "LayerNormalization":
            return self.own(LayerNorm(attrs, names, shape), names)
        if op in JOINS:
            return self.own(Operand(op, self.plan.weights[names["weight"]].shape, len(shape)), names)
        if op in ("MaxPool", "AveragePool"):
            return self.pool(op, attrs, shape)
        if op == "LRN":
            return LocalResponseNorm(attrs, shape, self.dtype)
        return {"GlobalAveragePool": nn.GlobalAvgPool2D, "GlobalMaxPool": nn.GlobalMaxPool2D,
                "Dropout": lambda: nn.Dropout(0.0 if self.evaluated else attrs["ratio"])}[op]()

    def own(self, layer, names, attributes=None):
        self.owned.update((name, getattr(layer, (attributes or {}).get(role, role))) for role, name in names.items())
        return layer

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        group, (top, left, bottom, right) = attrs["group"], attrs["pads"]
        even = (top, left) == (bottom, right)
        mask = common_graph.connection_mask(attrs, (filters, channels))
        layer = self.own((nn.Conv2D if mask is None else ConnectedConv2D)(
            filters, kernel, attrs["strides"], (top, left) if even else (0, 0), attrs["dilations"], group,
            use_bias="bias" in names, in_channels=channels * group), names)
        if mask is not None:
            layer.connect(mask, self.dtype)
        self.register_child(layer)
        if even:
            return lambda F, x: layer(x)
        return lambda F, x: layer(F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, top, bottom, left, right)))

    def conv_transpose(self, attrs, names):
        channels, filters, *kernel = self.plan.weights[names["weight"]].shape
        group, (top, left, bottom, right) = attrs["group"], attrs["pads"]
        even = (top, left) == (bottom, right)
        layer = self.own(nn.Conv2DTranspose(
            filters * group, kernel, attrs["strides"], (top, left) if even else (0, 0), attrs["output_padding"],
            attrs["dilations"], group, use_bias="bias" in names, in_channels=channels), names)
        self.register_child(layer)
        if even:
            return lambda F, x: layer(x)

        def crop(F, x):
            for axis, before, behind in ((2, top, bottom), (3, left, right)):
                x = F.slice_axis(x, axis=axis, begin=before, end=-behind or None)
            return x

        return lambda F, x: crop(F, layer(x))

    def pool(self, op, attrs, shape):
        """MXNet's own where it pads and counts alike."""
        kernel, strides, (top, left, bottom, right) = attrs["kernel_shape"], attrs["strides"], attrs["pads"]
        if attrs["dilations"] != [1, 1]:
            raise common.Unsupported("%s with dilations %s: MXNet's pools have none" % (op, attrs["dilations"]), op)
        windows, ceil = [common_graph.Window(attrs, axis, size) for axis, size in enumerate(shape[2:])], attrs["ceil_mode"]
        # MXNet's "full" pools do not leave out a last window that begins behind the image.
        theirs = [(size + 2 * pad - kernel[axis] + (strides[axis] - 1) * ceil) // strides[axis] + 1
                  for axis, (size, pad) in enumerate(zip(shape[2:], (top, left)))]
        if (top, left) != (bottom, right) or theirs != [window.windows for window in windows]:
            return PaddedPool(op, attrs, windows, self.dtype)
        if op == "MaxPool":
            return nn.MaxPool2D(kernel, strides, (top, left), ceil_mode=bool(ceil))
        return nn.AvgPool2D(kernel, strides, (top, left), bool(ceil), count_include_pad=bool(attrs["count_include_pad"]))


def log_softmax(F, x):
    """Of elementary operators: the loss by oneDNN's, which MXNet has in single precision, and its gradients are ten times as
    far from the exact ones."""
    x = F.broadcast_sub(x, F.BlockGrad(F.max(x, axis=-1, keepdims=True)))
    return F.broadcast_sub(x, F.log(F.sum(F.exp(x), axis=-1, keepdims=True)))


class Loss(gluon.HybridBlock):
    """The mean over the batch."""

    def __init__(self, plan, classes, dtype):
        super().__init__()
        self.kind, self.smoothing, self.classes, self.dtype = plan.loss, plan.label_smoothing, classes, dtype
        self.is_vector, self.hides = plan.target == "vector", plan.hides_targets

    def hybrid_forward(self, F, logits, y):
        if self.is_vector:
            return F.mean(F.square(logits - F.cast(y, self.dtype)))
        if self.kind == "mean_squared_error":
            return self.mean(F, F.mean(F.square(logits - F.one_hot(y, self.classes, dtype=self.dtype)), axis=-1), y)
        log_p = logits if self.kind == "nll" else log_softmax(F, logits)
        chosen = self.mean(F, F.pick(log_p, y), y)  # of a class below 0 the first one's
        if self.smoothing:
            chosen = chosen * (1 - self.smoothing) + self.mean(F, F.mean(log_p, axis=-1), y) * self.smoothing
        return -chosen

    def mean(self, F, values, y):
        """Over the targets that are not hidden."""
        if not self.hides:
            return F.mean(values)
        seen = F.cast(y >= 0, self.dtype)
        return F.sum(values * seen) / F.sum(seen)
