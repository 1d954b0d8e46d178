"""The network of a plan in Paddle's layers, exactly as docs/graph.md means it.

Dense weights are (in, out) inside. Paddle keeps some numbers as float32: momentum and epsilon of batch norm, bounds, exponents, what
an average divides by in its gradient. In double that would be another network, so there they are made exact, or go to
operators that take their numbers in double.
"""

import json
import math

import common
import common_graph
import common_places
import numpy as np

with common.importing("Paddle"):
    import paddle
    import paddle.nn.functional as F
    from paddle import nn

BATCH_NORM = {"running_mean": "_mean", "running_var": "_variance"}
ZERO = nn.initializer.Constant(0.0)


def single(value):
    return float(np.float32(value))


def number(value, x):
    """As a tensor like x: to_static would make a float32 of it."""
    return paddle.full([], value, x.dtype)


def hard_sigmoid(x, alpha, beta):
    """With the gradient 0 at both bounds: a ReLU's from below, and from above as well."""
    return 1 - F.relu(1 - F.relu(x * alpha + beta))


def elu(x, alpha, inner=1):
    """Paddle's own keeps alpha in single precision."""
    below = paddle.where(x > 0, paddle.zeros_like(x), x)
    return paddle.where(x > 0, x, paddle.expm1(below / number(inner, x)) * number(alpha, x))


def softplus(x):
    """Not Paddle's own, which ends at 20."""
    return -F.log_sigmoid(-x)


def gelu(x, attrs):
    if attrs["approximate"] == "tanh":
        curve = paddle.tanh((x + x * x * x * number(0.044715, x)) * number(math.sqrt(2 / math.pi), x))
    else:
        curve = paddle.erf(x * number(math.sqrt(0.5), x))
    return x * (1 + curve) / 2


def attention(x, attrs):
    """Of (N, groups, heads of a group, positions, width)."""
    groups = attrs["kv_num_heads"]
    q, k, v = (part.reshape([0, 0, groups, heads // groups, part.shape[2] // heads]).transpose([0, 2, 3, 1, 4])
               for part, heads in zip(x, (attrs["q_num_heads"], groups, groups)))
    scores = q.matmul(k, transpose_y=True) * number(attrs["scale"] or q.shape[4] ** -0.5, q)
    if attrs["is_causal"]:
        scores = paddle.where(paddle.to_tensor(common_graph.causal(scores.shape[3])), scores, number(-math.inf, q))
    for tokens in x[3:]:
        counts = (tokens != common_graph.PADDING).reshape([0, 1, 1, 1, tokens.shape[1]])
        scores = paddle.where(counts, scores, number(-math.inf, q))
    return F.softmax(scores).matmul(v).transpose([0, 3, 1, 2, 4]).flatten(2)


def last_counted(x, _attrs):
    """Of each row the last position whose token is not the padding."""
    x, tokens = x
    places = paddle.arange(tokens.shape[1]) * (tokens != common_graph.PADDING).astype("int64")
    return paddle.gather_nd(x, paddle.stack([paddle.arange(x.shape[0]), places.max(1)], 1))


def pad(x, attrs):
    """Axis after axis: Paddle's own pads images alone in every mode, and by a float32."""
    for axis, sides in enumerate(common_graph.sides_of(attrs)):
        if not any(sides):
            continue
        if attrs["mode"] == "constant":
            before, behind = (paddle.full([*x.shape[:axis], rows, *x.shape[axis + 1:]], attrs["value"], x.dtype) for rows in sides)
            x = paddle.concat([before, x, behind], axis)
        else:
            x = x.index_select(paddle.to_tensor(common_graph.padded_indices(attrs["mode"], sides, x.shape[axis])), axis)
    return x


def rotary(x, attrs, at=0):
    parts = x.reshape([0, 0, attrs["num_heads"], x.shape[2] // attrs["num_heads"]])
    tables = common_places.rotations(attrs, at + parts.shape[1], parts.shape[3])
    cosines, sines = (paddle.to_tensor(table[at:], x.dtype) for table in tables)
    a, b = (parts[..., ::2], parts[..., 1::2]) if attrs["interleaved"] else parts.chunk(2, -1)
    turned = [a * cosines - b * sines, b * cosines + a * sines]
    y = paddle.stack(turned, -1) if attrs["interleaved"] else paddle.concat(turned, -1)
    return y.reshape(x.shape)


def sinusoid(x, attrs, at=0):
    return x + paddle.to_tensor(common_places.waves(attrs, at + x.shape[1], x.shape[2])[at:], x.dtype)


class CachedAttention:
    """Of a prompt, and of single positions behind it, which see the keys and values that are kept."""

    def __init__(self, attrs, place):
        self.attrs, self.place, self.kept = attrs, place, None

    def __call__(self, q, k, v):
        if self.place.at:
            k, v = (paddle.concat(pair, 1) for pair in zip(self.kept, (k, v)))
        self.kept = k, v
        return attention((q, k, v), dict(self.attrs, is_causal=self.attrs["is_causal"] and not self.place.at))


class LayerNorm(nn.LayerNorm):
    """Paddle's own in single precision, which takes no epsilon above 0.001."""

    def forward(self, x):
        if x.dtype == paddle.float32 and self._epsilon <= 1e-3:
            return super().forward(x)
        x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + number(self._epsilon, x)).sqrt() * self.weight
        return x if self.bias is None else x + self.bias


class RMSNorm(nn.Layer):
    def __init__(self, shape, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.weight = self.create_parameter(list(shape), default_initializer=ZERO)

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + number(self.epsilon, x)).sqrt() * self.weight


class Recurrent(nn.Layer):
    """start: the state that rows go on from, None where that is zero; end: that they were left in, detached."""

    kinds = "h"
    start = end = None

    def finish(self, y, *state):
        if self.start:
            self.end = [one.detach() for one in state]
        return y


class LSTM(Recurrent):
    """nn.LSTM, whose second bias stays 0: no optimizer has it. Its backward pass wants it to be trained."""

    kinds = "hc"

    def __init__(self, inputs, units):
        super().__init__()
        zeros = paddle.ParamAttr(initializer=ZERO)
        self.lstm = nn.LSTM(inputs, units, weight_ih_attr=zeros, weight_hh_attr=zeros, bias_ih_attr=zeros, bias_hh_attr=zeros)
        self.weight, self.recurrent, self.bias = self.lstm.weight_ih_l0, self.lstm.weight_hh_l0, self.lstm.bias_ih_l0

    def forward(self, x):
        y, (h, c) = self.lstm(x, self.start and tuple(one.unsqueeze(0) for one in self.start))
        return self.finish(y, h[0], c[0])


class GRU(Recurrent):
    """Position after position: Paddle's own trains two biases of every gate."""

    def __init__(self, inputs, units):
        super().__init__()
        shapes = {"weight": [3 * units, inputs], "recurrent": [3 * units, units], "bias": [3 * units], "recurrent_bias": [units]}
        for role, shape in shapes.items():
            setattr(self, role, self.create_parameter(shape, default_initializer=ZERO))

    def forward(self, x):
        given, size = x.matmul(self.weight, transpose_y=True) + self.bias, self.recurrent.shape[1]
        (h,), states = self.start or [paddle.zeros([x.shape[0], size], x.dtype)], []
        for t in range(x.shape[1]):
            made = h.matmul(self.recurrent, transpose_y=True)
            r, z = F.sigmoid(given[:, t, :2 * size] + made[:, :2 * size]).split(2, 1)
            n = paddle.tanh(given[:, t, 2 * size:] + r * (made[:, 2 * size:] + self.recurrent_bias))
            h = (1 - z) * n + z * h
            states.append(h)
        return self.finish(paddle.stack(states, 1), h)


class Table(nn.Layer):
    """What an embedding reads; as a dense layer it is the other way round."""

    def __init__(self, shape):
        super().__init__()
        self.weight = self.create_parameter(list(shape), default_initializer=ZERO)

    def forward(self, x):
        return F.embedding(x, self.weight)


class Operand(nn.Layer):
    """A value and a parameter, combined."""

    def __init__(self, combine, shape):
        super().__init__()
        self.combine = combine
        self.weight = self.create_parameter(list(shape), default_initializer=ZERO)

    def forward(self, x):
        return self.combine((x, self.weight), {})


class PlacedOperand(Operand):
    """A value and those rows of a parameter that are of its positions."""

    def __init__(self, combine, shape, place):
        super().__init__(combine, shape)
        self.place = place

    def forward(self, x):
        return self.combine((x, self.weight[self.place.at:self.place.at + x.shape[1]]), {})


class Normalize(nn.Layer):
    """y = (x * scale - mean[c]) / std[c], computed in `dtype`."""

    def __init__(self, attrs, rank, dtype):
        super().__init__()
        self.dtype = dtype
        shape = [1, -1] + [1] * (rank - 2)
        for name in ("scale", "mean", "std"):
            self.register_buffer(name, paddle.to_tensor(np.reshape(attrs[name], shape), dtype), persistable=False)

    def forward(self, x):
        return (x.astype(self.dtype) * self.scale - self.mean) / self.std


class ConnectedConv2D(nn.Layer):
    """A convolution whose output channels see some of the input channels only: `mask` is 1 where they do."""

    def __init__(self, conv, attrs):
        super().__init__()
        self.conv, self.attrs = conv, attrs
        mask = common_graph.connection_mask(attrs, conv.weight.shape)
        self.register_buffer("mask", paddle.to_tensor(mask, conv.weight.dtype), persistable=False)

    def forward(self, x):
        return F.conv2d(x, self.conv.weight * self.mask, self.conv.bias, self.attrs["strides"], paddle_pads(self.attrs),
                        self.attrs["dilations"], self.attrs["group"])


class LocalResponseNorm(nn.LocalResponseNorm):
    """Paddle's own in single precision; of even size its window reaches one channel further back than forward, the graph's
    further forward."""

    def forward(self, x):
        if x.dtype == paddle.float32:
            return super().forward(x) if self.size % 2 else super().forward(x.flip(1)).flip(1)
        before, channels = (self.size - 1) // 2, x.shape[1]
        around = [paddle.zeros([x.shape[0], rows, *x.shape[2:]]) for rows in (before, self.size - 1 - before)]
        squares = paddle.concat([around[0], x * x, around[1]], 1)
        total = sum(squares[:, i:i + channels] for i in range(self.size))
        total = total * number(self.alpha / self.size, x) + number(self.k, x)
        return x * (total.log() * number(-self.beta, x)).exp()  # the exponent of pow is float32


class Pool(nn.Layer):
    """Paddle's own pool where it pads and counts alike, else one without padding on an image that was padded first."""

    def __init__(self, op, attrs, dtype):
        super().__init__()
        if attrs["dilations"] != [1, 1]:
            raise common.Unsupported("%s with dilations %s: Paddle's pools have none" % (op, attrs["dilations"]), op)
        self.attrs, self.dtype, self.average = attrs, dtype, op == "AveragePool"
        self.kernel, self.strides, self.ceil = attrs["kernel_shape"], attrs["strides"], bool(attrs["ceil_mode"])
        self.exclusive = not attrs.get("count_include_pad")
        self.size = None

    def adapt(self, size):
        """To images of this size."""
        self.size, pads = size, self.attrs["pads"]
        self.windows = [common_graph.Window(self.attrs, axis, extent) for axis, extent in enumerate(size)]
        theirs = [(extent + pads[axis] + pads[axis + 2] - self.kernel[axis] + (self.strides[axis] - 1) * self.ceil)
                  // self.strides[axis] + 1 for axis, extent in enumerate(size)]
        beyond = any(window.behind > after for window, after in zip(self.windows, pads[2:]))
        self.native = theirs == [window.windows for window in self.windows] and not (
            self.average and beyond and not self.exclusive)
        counts = np.outer(*[window.counts() for window in self.windows])
        self.counts, share = paddle.to_tensor(counts, self.dtype), self.kernel[0] * self.kernel[1] / counts
        self.share = paddle.to_tensor(share, self.dtype) if (share != 1).any() else None

    def forward(self, x):
        if self.size != x.shape[2:]:
            self.adapt(x.shape[2:])
        if self.average and x.dtype == paddle.float64:
            return self.mean(x)
        if self.native:
            pads = paddle_pads(self.attrs)
            if self.average:
                return F.avg_pool2d(x, self.kernel, self.strides, pads, self.ceil, self.exclusive)
            return F.max_pool2d(x, self.kernel, self.strides, pads, ceil_mode=self.ceil)
        if not self.average:
            return F.max_pool2d(self.padded(x, -np.inf), self.kernel, self.strides)
        x = F.avg_pool2d(self.padded(x, 0.0), self.kernel, self.strides)
        return x if self.share is None else x * self.share

    def padded(self, x, value):
        rows, columns = self.windows
        x = x[:, :, :self.size[0] + min(rows.behind, 0), :self.size[1] + min(columns.behind, 0)]
        return F.pad(x, [columns.before, max(columns.behind, 0), rows.before, max(rows.behind, 0)], value=value)

    def mean(self, x):
        """In double, where the gradient of Paddle's own has a float32 share in it: the sum of the windows' taps."""
        x, (rows, columns) = self.padded(x, 0.0), self.windows
        total = sum(x[:, :, i:i + rows.stride * (rows.windows - 1) + 1:rows.stride,
                      j:j + columns.stride * (columns.windows - 1) + 1:columns.stride]
                    for i in rows.taps for j in columns.taps)
        return total / self.counts


def paddle_pads(attrs):
    top, left, bottom, right = attrs["pads"]
    return [top, bottom, left, right]


class Clip(nn.Hardtanh):
    def forward(self, x):
        low, high = self._min, self._max
        if x.dtype == paddle.float32 or (single(low), single(high)) == (low, high):
            return super().forward(x)
        return paddle.where(x > low, paddle.where(x < high, x, paddle.full_like(x, high)), paddle.full_like(x, low))


class GlobalAveragePool(nn.AdaptiveAvgPool2D):
    """Paddle's own in single precision: see Pool.mean."""

    def forward(self, x):
        return super().forward(x) if x.dtype == paddle.float32 else x.mean([2, 3], keepdim=True)


LAYERS = {
    "Relu": lambda attrs: nn.ReLU(),
    "Tanh": lambda attrs: nn.Tanh(),
    "Sigmoid": lambda attrs: nn.Sigmoid(),
    "HardSwish": lambda attrs: nn.Hardswish(),
    "Softmax": lambda attrs: nn.Softmax(attrs["axis"]),
    "LogSoftmax": lambda attrs: nn.LogSoftmax(attrs["axis"]),
    "GlobalAveragePool": lambda attrs: GlobalAveragePool(1),
    "GlobalMaxPool": lambda attrs: nn.AdaptiveMaxPool2D(1),
    "Flatten": lambda attrs: nn.Flatten(),
    "Dropout": lambda attrs: nn.Dropout(attrs["ratio"]),
    "LRN": lambda attrs: LocalResponseNorm(attrs["size"], attrs["alpha"], attrs["beta"], attrs["bias"]),
    "Clip": lambda attrs: Clip(attrs["min"], attrs["max"]),
}
CALLS = {
    "Add": lambda x, attrs: x[0] + x[1],
    "Sub": lambda x, attrs: x[0] - x[1],
    "Mul": lambda x, attrs: x[0] * x[1],
    "Div": lambda x, attrs: x[0] / x[1],
    "HardSigmoid": lambda x, attrs: hard_sigmoid(x[0], number(attrs["alpha"], x[0]), number(attrs["beta"], x[0])),
    "Swish": lambda x, attrs: x[0] * F.sigmoid(x[0]),
    "Gelu": lambda x, attrs: gelu(x[0], attrs),
    "Exp": lambda x, attrs: x[0].exp(),
    "Elu": lambda x, attrs: elu(x[0], attrs["alpha"]),
    "Selu": lambda x, attrs: elu(x[0], attrs["alpha"]) * number(attrs["gamma"], x[0]),
    "Celu": lambda x, attrs: elu(x[0], attrs["alpha"], attrs["alpha"]),
    "Softplus": lambda x, attrs: softplus(x[0]),
    "Softsign": lambda x, attrs: x[0] / (1 + x[0].abs()),
    "Mish": lambda x, attrs: x[0] * softplus(x[0]).tanh(),
    "Sqrt": lambda x, attrs: x[0].sqrt(),
    "Pow": lambda x, attrs: x[0] ** number(attrs["exponent"], x[0]),
    "LeakyRelu": lambda x, attrs: paddle.where(x[0] > 0, x[0], x[0] * number(attrs["alpha"], x[0])),  # Paddle's has slope 1 at 0
    "Attention": attention, "last": last_counted,
    "RotaryEmbedding": lambda x, attrs: rotary(x[0], attrs),
    "sinusoid": lambda x, attrs: sinusoid(x[0], attrs),
    "MatMul": lambda x, attrs: x[0].matmul(x[1]),
    "Concat": lambda x, attrs: paddle.concat(x, attrs["axis"]),
    "Split": lambda x, attrs: paddle.split(x[0], attrs["split"], attrs["axis"]),
    "Pad": lambda x, attrs: pad(x[0], attrs),
    "Reshape": lambda x, attrs: x[0].reshape([-1] + attrs["shape"][1:]),
    "Transpose": lambda x, attrs: x[0].transpose(attrs["perm"]),
    "ReduceMean": lambda x, attrs: x[0].mean(attrs["axes"], bool(attrs["keepdims"])),
}


PLACED = {"RotaryEmbedding": rotary, "sinusoid": sinusoid}


class Network(nn.Layer):
    """The graph: its layers, called in its order; values are let go of after their last use.

    owned: name in the graph -> its tensor.  dense: names of dense weights.  statistics: name of a running mean or variance
    -> its layer.
    """

    def __init__(self, plan, dtype):
        super().__init__()
        self.plan, self.dtype, self.place = plan, dtype, common_places.Place()
        self.owned, self.dense, self.statistics, self.made, self.tables, self.recurrents = {}, set(), {}, {}, {}, {}
        graph, self.nodes, last = plan.graph, [], {}
        for place, node in enumerate(graph["nodes"]):
            last.update(dict.fromkeys(node["in"], place))
        last[graph["output"]] = None
        for place, node in enumerate(graph["nodes"]):
            function = self.make_once(node) if node.get("params") else self.make(node)
            if isinstance(function, nn.Layer):
                self.add_sublayer("layer%d" % place, function)
            done = [name for name in set(node["in"]) if last[name] == place]
            self.nodes.append((function, node["in"], node["out"], done))

    def forward(self, x):
        values = {self.plan.graph["inputs"][0]["name"]: x}
        for function, inputs, outputs, done in self.nodes:
            result = function(*[values[name] for name in inputs])
            for name in done:
                del values[name]
            values.update(zip(outputs, result if isinstance(result, list) else [result]))
        return values[self.plan.graph["output"]]

    def make_once(self, node):
        """The layer of a node: one that stands at several places is made for the first of them."""
        name = node["params"].get("weight")
        if node["op"] == "Gemm" and name in self.tables and "bias" not in node["params"]:
            table = self.tables[name]
            return lambda x: x.matmul(table.weight, transpose_y=True)
        key = json.dumps([node["op"], node.get("attrs"), node["params"]], sort_keys=True)
        if key not in self.made:
            for name in node["params"].values():
                if name in self.owned:
                    raise common.Unsupported("parameter %s of node %s is that of another layer too: this adapter's layers share all or "
                                             "nothing" % (name, node["name"]), node["op"])
            self.made[key] = self.make(node)
        return self.made[key]

    def make(self, node):
        op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
        if op in LAYERS:
            return LAYERS[op](attrs)
        if op in CALLS and names:
            return self.operand(op, names)
        if self.plan.prompt and op == "Attention":
            return CachedAttention(attrs, self.place)
        if self.plan.prompt and op in PLACED:
            return lambda x: PLACED[op](x, attrs, self.place.at)
        if op in CALLS:
            return lambda *x: CALLS[op](x, attrs)
        if op == "normalize":
            return Normalize(attrs, len(self.plan.graph["inputs"][0]["shape"]), self.dtype)
        if op == "Conv":
            return self.conv(attrs, names)
        if op == "Gemm":
            units, inputs = self.plan.weights[names["weight"]].shape
            self.dense.add(names["weight"])
            bias = paddle.ParamAttr(initializer=ZERO) if "bias" in names else False
            return self.own(nn.Linear(inputs, units, paddle.ParamAttr(initializer=ZERO), bias), names)
        if op == "Embedding":
            self.tables[names["weight"]] = self.own(Table(self.plan.weights[names["weight"]].shape), names)
            return self.tables[names["weight"]]
        if op == "LayerNormalization":
            return self.own(LayerNorm(self.plan.weights[names["weight"]].shape, attrs["epsilon"],
                                      bias_attr=None if "bias" in names else False), names)
        if op == "RMSNormalization":
            return self.own(RMSNorm(self.plan.weights[names["weight"]].shape, attrs["epsilon"]), names)
        if op in ("LSTM", "GRU"):
            units, inputs = self.plan.weights[names["recurrent"]].shape[1], self.plan.weights[names["weight"]].shape[1]
            self.recurrents[node["name"]] = self.own((LSTM if op == "LSTM" else GRU)(inputs, units), names)
            return self.recurrents[node["name"]]
        if op == "BatchNormalization":
            layer = BatchNorm(attrs, self.plan.weights[names["weight"]].shape[0], self.dtype)
            layer.roles = {names[role]: role for role in BATCH_NORM}
            self.statistics.update(dict.fromkeys(layer.roles, layer))
            return self.own(layer, names)
        return Pool(op, attrs, self.dtype)

    def operand(self, op, names):
        shape = self.plan.weights[names["weight"]].shape
        is_placed = self.plan.prompt and len(shape) == 2 and shape[0] == self.plan.prompt + self.plan.tokens
        return self.own(PlacedOperand(CALLS[op], shape, self.place) if is_placed else Operand(CALLS[op], shape), names)

    def own(self, layer, names):
        self.owned.update((name, getattr(layer, BATCH_NORM.get(role, role))) for role, name in names.items())
        return layer

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        bias = paddle.ParamAttr(initializer=ZERO) if "bias" in names else False
        layer = self.own(nn.Conv2D(
            channels * attrs["group"], filters, kernel, attrs["strides"], paddle_pads(attrs), attrs["dilations"],
            attrs["group"], weight_attr=paddle.ParamAttr(initializer=ZERO), bias_attr=bias), names)
        return ConnectedConv2D(layer, attrs) if "connections" in attrs else layer


class Static(nn.Layer):
    """For paddle.jit.to_static, which takes a layer's own forward() away."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)


class BatchNorm(nn.BatchNorm2D):
    """Of images and of features alike.

    Paddle's momentum is the share of the old, and its running variance divides by n: all of what was added to the start is
    too small by one factor, in every step alike. In double, Paddle's epsilon is another one: x is scaled so that it is as
    good, and what Paddle keeps is scaled with it (1 in single precision).
    """

    def __init__(self, attrs, channels, dtype):
        super().__init__(channels, 1 - attrs["momentum"], attrs["epsilon"])
        double = dtype == "float64"
        self.scale = (single(attrs["epsilon"]) / attrs["epsilon"]) ** 0.5 if double else 1.0
        self.share = attrs["momentum"]
        self.kept = single(1 - self.share) if double else 1 - self.share  # of the old, as Paddle has it
        self.rows = 2

    def forward(self, x):
        self.rows = int(np.prod(x.shape)) // x.shape[1]
        return super().forward(x if self.scale == 1 else x * number(self.scale, x))

    def _check_input_dim(self, x):
        pass

    def unit(self, name):
        return self.scale if self.roles[name] == "running_mean" else self.scale**2

    def to_graph(self, name, values, start, steps):
        """The running statistic as the graph means it, from Paddle's and from its start, steps ago."""
        factor = 1.0 if self.roles[name] == "running_mean" else self.rows / (self.rows - 1) if self.rows > 1 else 0.0
        start = start * (1 - self.share) ** steps
        return start + (values / self.unit(name) - start) * factor if steps else values / self.unit(name)

    def refine(self, new, old):
        """In double: what Paddle made of `old` with its own momentum becomes what the graph's makes of it."""
        if self.share:
            factor = self.share / (1 - self.kept)
            new.set_value(new * factor + old * (1 - self.share - self.kept * factor))
