"""Chainer on the CPU: define-by-run, its links and functions over NumPy."""

import contextlib
import functools
import json
import math
import os
import time
import warnings

import common
import common_graph
import common_meeting
import common_places
import numpy as np

warnings.simplefilter("ignore")  # about libraries that Chainer would like and does not need here

with common.importing("Chainer"):
    import chainer
    import chainer.functions as F
    import chainer.links as L

DTYPES = {"f32": np.float32, "f64": np.float64}
ROLES = {"weight": "W", "bias": "b", "recurrent": "R", "recurrent_bias": "q"}
BATCH_NORM = {"weight": "gamma", "bias": "beta", "running_mean": "avg_mean", "running_var": "avg_var"}


class Convolution2D(L.Convolution2D):
    """With uneven padding, and with a table of connections: `mask` is 1 where there is one."""

    pads = mask = None

    def forward(self, x):
        if self.pads is not None:
            x = pad(x, self.pads, 0.0)
        weight = self.W if self.mask is None else self.W * self.mask
        return F.convolution_2d(x, weight, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups)


class Owner(chainer.Link):
    """Of parameters, by role."""

    def __init__(self, **shapes):
        super().__init__()
        with self.init_scope():
            for role, shape in shapes.items():
                setattr(self, ROLES[role], chainer.Parameter(0, shape))


class Operand(Owner):
    """A value and a parameter, combined."""

    def __init__(self, combine, shape):
        super().__init__(weight=shape)
        self.combine = combine

    def forward(self, x):
        return self.combine((x, self.W), {})


class PlacedOperand(Operand):
    """A value and those rows of a parameter that are of its positions."""

    def __init__(self, combine, shape, place):
        super().__init__(combine, shape)
        self.place = place

    def forward(self, x):
        return self.combine((x, self.W[self.place.at:self.place.at + x.shape[1]]), {})


class Linear(L.Linear):
    """Along the last axis."""

    def forward(self, x):
        return super().forward(x, x.ndim - 1)


class LayerNormalization(Owner):
    def __init__(self, epsilon, **shapes):
        super().__init__(**shapes)
        self.epsilon = epsilon

    def forward(self, x):
        bias = self.b if hasattr(self, "b") else np.zeros_like(self.W.array)
        lines = F.reshape(x, (-1, x.shape[-1]))
        return F.reshape(F.layer_normalization(lines, self.W, bias, self.epsilon), x.shape)


class RMSNormalization(LayerNormalization):
    def forward(self, x):
        return x / F.sqrt(F.mean(x * x, -1, keepdims=True) + self.epsilon) * self.W


class Recurrent(Owner):
    """start: the state that rows go on from, None where that is zero; end: that they were left in, as numbers."""

    kinds = "h"
    start = end = None

    def begin(self, x):
        return self.start or [np.zeros((len(x), self.R.shape[1]), self.R.dtype)] * len(self.kinds)

    def finish(self, states, *state):
        if self.start:
            self.end = [one.array for one in state]
        return F.stack(states, 1)


class LSTM(Recurrent):
    """F.lstm, position after position, which wants the gates of each unit side by side: g, i, f, o."""

    kinds = "hc"

    def forward(self, x):
        weight, recurrent, bias = (F.reshape(F.transpose(F.reshape(whole, (4, self.R.shape[1], -1))[[2, 0, 1, 3]], (1, 0, 2)), whole.shape)
                                   for whole in (self.W, self.R, self.b))
        given = F.linear(x, weight, bias, 2)
        (h, c), states = self.begin(x), []
        for t in range(x.shape[1]):
            c, h = F.lstm(c, given[:, t] + F.linear(h, recurrent))
            states.append(h)
        return self.finish(states, h, c)


class GRU(Recurrent):
    """Position after position: Chainer's own trains two biases of every gate."""

    def forward(self, x):
        units = self.R.shape[1]
        given = F.linear(x, self.W, self.b, 2)
        (h,), states = self.begin(x), []
        for t in range(x.shape[1]):
            made = F.linear(h, self.R)
            r, z = F.split_axis(F.sigmoid(given[:, t, :2 * units] + made[:, :2 * units]), 2, 1)
            n = F.tanh(given[:, t, 2 * units:] + r * (made[:, 2 * units:] + self.q))
            h = (1 - z) * n + z * h
            states.append(h)
        return self.finish(states, h)


def pad(x, pads, value):
    """By (before, behind) for rows and for columns; negative ones cut off."""
    rows, columns = pads
    x = x[:, :, :x.shape[2] + min(rows[1], 0), :x.shape[3] + min(columns[1], 0)]
    return F.pad(x, [(0, 0), (0, 0)] + [(before, max(behind, 0)) for before, behind in pads], "constant",
                 constant_values=value)


def pad_axes(x, attrs):
    """Chainer's own knows the gradient of constants alone."""
    sides = common_graph.sides_of(attrs)
    if attrs["mode"] == "constant":
        return F.pad(x, sides, "constant", constant_values=attrs["value"])
    for axis, (before, behind) in enumerate(sides):
        if before or behind:
            x = x[(slice(None),) * axis + (common_graph.padded_indices(attrs["mode"], (before, behind), x.shape[axis]),)]
    return x


class Pool:
    """Chainer's own pool where it pads and counts alike, else one without padding on an image that was padded first."""

    def __init__(self, op, attrs):
        if attrs["dilations"] != [1, 1]:
            raise common.Unsupported("%s with dilations %s: Chainer's pools have none" % (op, attrs["dilations"]), op)
        self.attrs, self.average = attrs, op == "AveragePool"
        self.kernel, self.strides = tuple(attrs["kernel_shape"]), tuple(attrs["strides"])

    def __call__(self, x):
        attrs, size, ceil = self.attrs, x.shape[2:], self.attrs["ceil_mode"]
        windows, own = [common_graph.Window(attrs, axis, extent) for axis, extent in enumerate(size)], tuple(attrs["pads"][:2])
        even = own == tuple(attrs["pads"][2:])
        counted = [chainer.utils.conv.get_conv_outsize(extent, kernel, stride, before, bool(ceil)) for
                   extent, kernel, stride, before in zip(size, self.kernel, self.strides, own)]
        if not self.average:
            if even and counted == [window.windows for window in windows]:
                return F.max_pooling_2d(x, self.kernel, self.strides, own, cover_all=bool(ceil))
            return F.max_pooling_2d(self.padded(x, windows, -np.inf), self.kernel, self.strides, cover_all=False)
        if even and not ceil and (attrs["count_include_pad"] or own == (0, 0)):
            return F.average_pooling_2d(x, self.kernel, self.strides, own)
        x = F.average_pooling_2d(self.padded(x, windows, 0.0), self.kernel, self.strides)
        share = self.kernel[0] * self.kernel[1] / np.outer(*[window.counts() for window in windows])
        return x if (share == 1).all() else x * np.broadcast_to(share.astype(x.dtype), x.shape)

    @staticmethod
    def padded(x, windows, value):
        return pad(x, [(window.before, window.behind) for window in windows], value)


def local_response_norm(x, attrs):
    """Chainer does not divide its alpha by the size, and its windows are even on both sides."""
    size, alpha, before = attrs["size"], attrs["alpha"] / attrs["size"], (attrs["size"] - 1) // 2
    if size % 2:
        return F.local_response_normalization(x, size, attrs["bias"], alpha, attrs["beta"])
    squares = F.pad(x * x, [(0, 0), (before, size - 1 - before), (0, 0), (0, 0)], "constant")
    total = sum(squares[:, i:i + x.shape[1]] for i in range(size))
    return x * (total * alpha + attrs["bias"]) ** -attrs["beta"]


def clip(x, attrs):
    low, high = float(attrs["min"]), float(attrs["max"])  # Chainer's clip has slope 1 at the bounds, its clipped ReLU has 0
    return F.clipped_relu(x, high) if low == 0 else F.clipped_relu(x - low, high - low) + low


def gelu(x, attrs):
    if attrs["approximate"] == "tanh":
        return x * (1 + F.tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))) / 2
    return x * (1 + F.erf(x * math.sqrt(0.5))) / 2


def attention(x, attrs):
    """Of (N, groups, heads of a group, positions, width)."""
    groups, (rows, count, _) = attrs["kv_num_heads"], x[0].shape
    q, k, v = (F.transpose(F.reshape(part, (rows, part.shape[1], groups, heads // groups, -1)), (0, 2, 3, 1, 4))
               for part, heads in zip(x, (attrs["q_num_heads"], groups, groups)))
    k, v = (F.broadcast_to(part, q.shape[:3] + part.shape[3:]) for part in (k, v))
    scores = F.matmul(q, k, transb=True) * (attrs["scale"] or q.shape[4] ** -0.5)
    seen = common_graph.causal(count) if attrs["is_causal"] else True
    for tokens in x[3:]:
        seen = seen & (tokens != common_graph.PADDING)[:, None, None, None]
    if seen is not True:
        scores += np.where(seen, 0, -np.inf).astype(scores.dtype)
    return F.reshape(F.transpose(F.matmul(F.softmax(scores, 4), v), (0, 3, 1, 2, 4)), (rows, count, -1))


def last_counted(x, _attrs):
    """Of each row the last position whose token is not the padding."""
    x, tokens = x
    places = np.where(tokens != common_graph.PADDING, np.arange(tokens.shape[1]), 0).max(1)
    return x[np.arange(len(places)), places]


def rotary(x, attrs, at=0):
    rows, count, width = x.shape
    parts = F.reshape(x, (rows, count, attrs["num_heads"], -1))
    cosines, sines = (table[at:].astype(x.dtype) for table in common_places.rotations(attrs, at + count, parts.shape[3]))
    a, b = (parts[..., ::2], parts[..., 1::2]) if attrs["interleaved"] else F.split_axis(parts, 2, 3)
    turned = a * cosines - b * sines, b * cosines + a * sines
    return F.reshape(F.stack(turned, 4) if attrs["interleaved"] else F.concat(turned, 3), x.shape)


def sinusoid(x, attrs, at=0):
    return x + common_places.waves(attrs, at + x.shape[1], x.shape[2])[at:].astype(x.dtype)


class CachedAttention:
    """Of a prompt, and of single positions behind it, which see the keys and values that are kept."""

    def __init__(self, attrs, place):
        self.attrs, self.place, self.kept = attrs, place, None

    def __call__(self, q, k, v):
        if self.place.at:
            k, v = (F.concat(pair, 1) for pair in zip(self.kept, (k, v)))
        self.kept = k, v
        return attention((q, k, v), dict(self.attrs, is_causal=self.attrs["is_causal"] and not self.place.at))


# Operators without parameters, by their first input, or all of them, and their attributes.
CALLS = {
    "Relu": lambda x, attrs: F.relu(x),
    "LeakyRelu": lambda x, attrs: F.where(x.array > 0, x, x * attrs["alpha"]),  # Chainer's has slope 1 at 0
    "Clip": clip,
    "Tanh": lambda x, attrs: F.tanh(x),
    "Sigmoid": lambda x, attrs: F.sigmoid(x),
    "HardSwish": lambda x, attrs: x * F.clipped_relu(x + 3, 6.0) / 6,
    "Swish": lambda x, attrs: x * F.sigmoid(x),
    "Gelu": gelu,
    "RotaryEmbedding": rotary,
    "sinusoid": sinusoid,
    "Softmax": lambda x, attrs: F.softmax(x, attrs["axis"]),
    "LogSoftmax": lambda x, attrs: F.log_softmax(x, attrs["axis"]),
    "GlobalAveragePool": lambda x, attrs: F.average_pooling_2d(x, x.shape[2:]),
    "GlobalMaxPool": lambda x, attrs: F.max_pooling_2d(x, x.shape[2:]),
    "Flatten": lambda x, attrs: F.reshape(x, (len(x), -1)),
    "Reshape": lambda x, attrs: F.reshape(x, (len(x), *attrs["shape"][1:])),
    "Transpose": lambda x, attrs: F.transpose(x, attrs["perm"]),
    "ReduceMean": lambda x, attrs: F.mean(x, tuple(attrs["axes"]), keepdims=bool(attrs["keepdims"])),
    "Pad": pad_axes,
    "Split": lambda x, attrs: F.split_axis(x, np.cumsum(attrs["split"])[:-1], attrs["axis"]),
    "Dropout": lambda x, attrs: F.dropout(x, attrs["ratio"]) if attrs["ratio"] else x,
    "LRN": local_response_norm,
}
JOINS = {
    "Add": lambda x, attrs: x[0] + x[1],
    "Sub": lambda x, attrs: x[0] - x[1],
    "Mul": lambda x, attrs: x[0] * x[1],
    "Div": lambda x, attrs: x[0] / x[1],
    "MatMul": lambda x, attrs: F.matmul(x[0], x[1]),
    "Concat": lambda x, attrs: F.concat(x, attrs["axis"]),
    "Attention": attention, "last": last_counted,
}


PLACED = {"RotaryEmbedding": rotary, "sinusoid": sinusoid}
NORMS = {"LayerNormalization": LayerNormalization, "RMSNormalization": RMSNormalization}
RECURRENT = {"LSTM": LSTM, "GRU": GRU}


class Network(chainer.Chain):
    """The graph: its links and functions, called in its order. owned: name in the graph -> its link and the name there.
    batch_norm: the link that normalises by a batch."""

    def __init__(self, plan, dtype, batch_norm):
        super().__init__()
        self.batch_norm = batch_norm
        self.plan, self.dtype, self.nodes, self.owned, self.made, self.recurrents = plan, dtype, [], {}, {}, {}
        self.place = common_places.Place()
        for node in plan.graph["nodes"]:
            self.nodes.append((self.make_once(node) if node.get("params") else self.make(node), node["in"], node["out"]))

    def forward(self, x):
        values = {self.plan.graph["inputs"][0]["name"]: x}
        for function, inputs, outputs in self.nodes:
            result = function(*[values[name] for name in inputs])
            values.update(zip(outputs, result if isinstance(result, (tuple, list)) else [result]))
        return values[self.plan.graph["output"]]

    def make_once(self, node):
        """The link of a node: one that stands at several places is made for the first of them."""
        names = node["params"]
        table = self.owned.get(names.get("weight"), (None,))[0]
        if node["op"] == "Gemm" and isinstance(table, L.EmbedID) and "bias" not in names:
            return lambda x: F.linear(x, table.W, None, x.ndim - 1)
        key = json.dumps([node["op"], node.get("attrs"), names], sort_keys=True)
        if key not in self.made:
            for name in names.values():
                if name in self.owned:
                    raise common.Unsupported("parameter %s of node %s is that of another layer too: this adapter's links share all or "
                                             "nothing" % (name, node["name"]), node["op"])
            self.made[key] = self.make(node)
            self.add_link("link%d" % len(self.made), self.made[key])
        return self.made[key]

    def make(self, node):
        op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
        if self.plan.prompt and op == "Attention":
            return CachedAttention(attrs, self.place)
        if self.plan.prompt and op in PLACED:
            return lambda x: PLACED[op](x, attrs, self.place.at)
        if op in CALLS:
            return lambda x: CALLS[op](x, attrs)
        shapes = {role: self.plan.weights[name].shape for role, name in names.items()}
        if op == "Embedding":
            return self.own(L.EmbedID(*shapes["weight"], 0), names, ROLES)
        if op in NORMS:
            return self.own(NORMS[op](attrs["epsilon"], **shapes), names, ROLES)
        if op in RECURRENT:
            self.recurrents[node["name"]] = self.own(RECURRENT[op](**shapes), names, ROLES)
            return self.recurrents[node["name"]]
        if op in JOINS and names:
            return self.operand(JOINS[op], names, shapes["weight"])
        if op in JOINS:
            return lambda *x: JOINS[op](x, attrs)
        if op == "normalize":
            return self.normalize(attrs)
        if op == "Conv":
            return self.conv(attrs, names)
        if op == "Gemm":
            units, inputs = self.plan.weights[names["weight"]].shape
            return self.own(Linear(inputs, units, "bias" not in names, 0), names, ROLES)
        if op == "BatchNormalization":
            channels, = self.plan.weights[names["weight"]].shape
            link = self.batch_norm(channels, decay=1 - attrs["momentum"], eps=attrs["epsilon"], dtype=self.dtype)
            return self.own(link, names, BATCH_NORM)
        return Pool(op, attrs)

    def operand(self, combine, names, shape):
        is_placed = self.plan.prompt and len(shape) == 2 and shape[0] == self.plan.prompt + self.plan.tokens
        return self.own(PlacedOperand(combine, shape, self.place) if is_placed else Operand(combine, shape), names, ROLES)

    def normalize(self, attrs):
        shape = [-1] + [1] * (len(self.plan.graph["inputs"][0]["shape"]) - 2)
        mean, std = (np.reshape(attrs[key], shape).astype(self.dtype) for key in ("mean", "std"))

        def normalized(x):
            numbers = x if isinstance(x, chainer.Variable) else x.astype(self.dtype)  # a variable is of that type already
            return chainer.as_variable((numbers * self.dtype(attrs["scale"]) - mean) / std)

        return normalized

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        top, left, bottom, right = attrs["pads"]
        even = (top, left) == (bottom, right)
        link = self.own(Convolution2D(
            channels * attrs["group"], filters, kernel, attrs["strides"], (top, left) if even else 0,
            "bias" not in names, 0, dilate=attrs["dilations"], groups=attrs["group"]), names, ROLES)
        if not even:
            link.pads = (top, bottom), (left, right)
        mask = common_graph.connection_mask(attrs, link.W.shape)
        if mask is not None:
            link.mask = np.broadcast_to(mask.astype(self.dtype), link.W.shape)
        return link

    def own(self, link, names, roles):
        self.owned.update((name, (link, roles[role])) for role, name in names.items())
        return link

    def array(self, name):
        link, attribute = self.owned[name]
        value = getattr(link, attribute)
        return value.array if isinstance(value, chainer.Parameter) else value


class Rule(chainer.UpdateRule):
    """RMSprop with momentum, which Chainer's has not, and Nesterov's momentum: Chainer's NesterovAG moves by the momentum's
    square times the new velocity, where its paper and the graph have the old one."""

    def __init__(self, settings):
        super().__init__(chainer.optimizer.Hyperparameter())
        self.settings = settings

    def init_state(self, param):
        self.state["mean"], self.state["step"] = np.zeros_like(param.array), np.zeros_like(param.array)

    def update_core_cpu(self, param):
        s, mean, step = self.settings, self.state["mean"], self.state["step"]
        step *= s["momentum"]
        if s["name"] == "sgd":
            step += param.grad
            param.array -= self.hyperparam.lr * (param.grad + s["momentum"] * step)
            return
        mean *= s["alpha"]
        mean += (1 - s["alpha"]) * param.grad * param.grad
        step += param.grad / (np.sqrt(mean) + s["epsilon"])
        param.array -= self.hyperparam.lr * step


class ByRule(chainer.optimizer.GradientMethod):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings

    def create_update_rule(self):
        return Rule(self.settings)


def sgd(s):
    if s["momentum"] == 0:
        return chainer.optimizers.SGD()
    return ByRule(s) if s["nesterov"] else chainer.optimizers.MomentumSGD(momentum=s["momentum"])


OPTIMIZERS = {
    "sgd": sgd,
    "adam": lambda s: chainer.optimizers.Adam(beta1=s["beta1"], beta2=s["beta2"]),
    "adamw": lambda s: chainer.optimizers.Adam(beta1=s["beta1"], beta2=s["beta2"]),
    "rmsprop": lambda s: ByRule(s) if s["momentum"] else chainer.optimizers.RMSprop(alpha=s["alpha"], eps=s["epsilon"]),
}


class Chainer(common.Adapter):
    name = "chainer"
    framework = "Chainer"
    version = chainer.__version__
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "MaxPool", "AveragePool", "Embedding", *NORMS, *RECURRENT, *CALLS, *JOINS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = tuple(OPTIMIZERS)
    extras = ("clip_norm", "label_smoothing", "connections", "tokens", "targets", "shared", "broadcast", "operands", "positions", "hidden",
              "carried", "prompt")
    forms = {"npz": False}
    statistics = ("local", "sync")
    exchanges_by = "mean"
    strategies = ("data", "alone")
    weighs = True
    communicator = None  # of several ranks

    def build(self, plan):
        self.dtype = DTYPES[plan.precision]
        chainer.global_config.dtype = self.dtype
        chainer.global_config.train = plan.mode == "train"
        batch_norm = self.distribute() if plan.exchanges else L.BatchNormalization
        self.net = Network(plan, self.dtype, batch_norm)
        self.reset()
        if plan.form == "npz":
            chainer.serializers.load_npz(plan.form_path, self.net)
        return {
            "parameters": self.net.count_params() - plan.untrained(),
            "threads": int(os.environ.get("OPENBLAS_NUM_THREADS") or os.cpu_count()),
            "libraries": ["NumPy %s, OpenBLAS" % np.__version__],
            "deviations": [],
        }

    def distribute(self):
        """This process as one of several ranks; gives the link by which they normalise."""
        if not self.plan.address.startswith("127."):  # between hosts MPICH is to use their wire, as it does within one what is fastest
            os.environ.setdefault("UCX_TLS", "tcp,self")
            if "UCX_NET_DEVICES" not in os.environ:  # UCX knows devices, and not their labels
                os.environ["UCX_NET_DEVICES"] = common_meeting.interface_of(self.plan.address, "UCX_NET_DEVICES").partition(":")[0]
        import chainer_ranks

        self.communicator, self.exchanged = chainer_ranks.meet(self.plan), []
        if self.plan.statistics == "local":
            return L.BatchNormalization
        return functools.partial(chainer_ranks.BatchNormalization, comm=self.communicator)

    def reset(self):
        np.random.seed(self.plan.own_seed % 2**32)  # Chainer's dropout draws from NumPy
        for name in self.net.owned:
            np.copyto(self.net.array(name), self.plan.weights[name])
        self.net.cleargrads()
        self.steps, self.rate = 0, None
        if self.plan.mode == "train":
            self.make_optimizer()
        if self.plan.carries_state:
            self.clear_carried_state()

    def clear_carried_state(self):
        for link in self.net.recurrents.values():
            link.start = [np.zeros((self.plan.batch_size, link.R.shape[1]), self.dtype)] * len(link.kinds)

    def carried_state(self):
        found = {}
        for name, link in self.net.recurrents.items():
            for kind, values in zip(link.kinds, link.start):
                found.setdefault(kind, {})[name] = values
        return found

    def make_optimizer(self):
        settings = self.plan.optimizer
        self.optimizer = OPTIMIZERS[settings["name"]](settings).setup(self.net)
        self.rate_inside = isinstance(self.optimizer, chainer.optimizers.MomentumSGD)
        if self.rate_inside and 0.0 in self.plan.lr:
            raise common.Unsupported("a learning rate of 0 with momentum: Chainer keeps the rate inside it")
        if settings["clip_norm"] is not None:
            self.optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(settings["clip_norm"]))
        self.rules = []  # of each parameter, with its factors on rate and decay
        for entry in self.plan.params:
            if entry["role"] == "weight":
                link, attribute = self.net.owned[entry["name"]]
                rule = getattr(link, attribute).update_rule
                decay = settings["weight_decay"] * self.plan.multiplier(entry, "decay_mult")
                if decay and settings["name"] != "adamw":
                    rule.add_hook(chainer.optimizer_hooks.WeightDecay(decay))
                self.rules.append((rule, self.plan.multiplier(entry, "lr_mult"), decay))

    def set_rate(self, lr):
        settings = self.plan.optimizer
        for rule, factor, decay in self.rules:
            hyper = rule.hyperparam
            if settings["name"] in ("adam", "adamw"):
                hyper.alpha = lr * factor
                # Chainer adds epsilon to the root of the second moment before that is corrected for the first steps.
                hyper.eps = settings["epsilon"] * (1 - settings["beta2"] ** (self.steps + 1)) ** 0.5
                hyper.weight_decay_rate = lr * factor * decay if settings["name"] == "adamw" else 0
            else:
                hyper.lr = lr * factor
            if self.rate_inside and self.rate not in (None, lr):
                rule.state["v"] *= lr / self.rate
        self.rate = lr

    def loss(self, logits, y):
        if self.plan.target == "vector":
            return F.mean_squared_error(logits, y.astype(self.dtype))
        logits, y = F.reshape(logits, (-1, logits.shape[-1])), y.flatten()
        if self.plan.hides_targets:
            seen, = np.nonzero(y >= 0)
            logits, y = logits[seen], y[seen]
        if self.plan.loss == "mean_squared_error":
            return F.mean_squared_error(logits, np.eye(logits.shape[1], dtype=self.dtype)[y])
        if self.plan.loss == "softmax_cross_entropy" and not self.plan.label_smoothing:
            return F.softmax_cross_entropy(logits, y)
        log_p = logits if self.plan.loss == "nll" else F.log_softmax(logits)
        smoothing = self.plan.label_smoothing
        return -(F.mean(F.select_item(log_p, y)) * (1 - smoothing) + F.mean(log_p) * smoothing)

    def train_step(self, x, y, lr):
        self.net.cleargrads()
        began_ns = time.monotonic_ns()
        loss = self.loss(self.net(x), y)
        self.run_backward(loss)
        self.set_rate(lr)
        self.optimizer.update()
        if self.exchanged is not None:
            self.exchanged.append((began_ns, *self.reduced, time.monotonic_ns()))
        self.steps += 1
        for link in self.net.recurrents.values() if self.plan.carries_state else ():
            link.start = link.end
        return loss.array

    def run_backward(self, loss):
        """Afterwards gradients are those of all ranks: their mean, in which each has the weight of its targets. ChainerMN's own
        optimizer would spend its first batch on a broadcast of the weights, and then do the same."""
        super().run_backward(loss)
        if self.communicator is not None:
            ready_ns = time.monotonic_ns()
            self.communicator.multi_node_mean_grad(self.net)
            self.reduced = ready_ns, time.monotonic_ns()

    @contextlib.contextmanager
    def unchanged(self, train):
        """Inside, the network trains or not; afterwards running statistics and random numbers are as before."""
        kept = {name: self.net.array(name).copy() for name in self.net.owned if self.is_buffer(name)}
        random = np.random.get_state()
        try:
            with chainer.using_config("train", train):
                yield
        finally:
            np.random.set_state(random)
            for name, values in kept.items():
                np.copyto(self.net.array(name), values)

    def is_buffer(self, name):
        return self.net.owned[name][1].startswith("avg_")

    def forward(self, x, y, train):
        with self.unchanged(train), chainer.no_backprop_mode():
            logits = self.pass_pieces(x) if self.plan.prompt else self.net(x)
            loss = self.loss(logits, y)
        return {"x": x, "y": y, "logits": logits.array, "loss": loss.array}

    def pass_pieces(self, x):
        made = []
        for self.net.place.at, end in self.plan.pieces():
            made.append(self.net(x[:, self.net.place.at:end]))
        return F.concat(made, 1)

    def infer_piece(self, x, first):
        self.net.place.at = first
        return self.infer_step(x)

    def backward(self, x, y, train):
        with self.unchanged(train):
            self.net.cleargrads()
            loss = self.loss(self.net(x), y)
            self.run_backward(loss)
        gradients = {}
        for entry in self.plan.params:
            if entry["role"] == "weight":
                link, attribute = self.net.owned[entry["name"]]
                gradients[entry["name"]] = getattr(link, attribute).grad.copy()
        self.net.cleargrads()
        return loss.array, gradients

    def input_gradient(self, x, cotangent):
        with self.unchanged(False) if self.plan.mode == "train" else contextlib.nullcontext():
            if cotangent is None:
                return self.infer_step(x), None
            x = chainer.Variable(x)
            logits = self.net(x)
            gradient, = chainer.grad([logits], [x], [chainer.Variable(cotangent)])  # without those of the weights
        return logits.array, gradient.array

    def save_form(self, _form, path):
        """Compressed, as Chainer has it."""
        chainer.serializers.save_npz(path, self.net)
        return {"parameters_as_said": sum(value.nbytes for value in self.weights().values())}

    def infer_step(self, x):
        with chainer.no_backprop_mode():
            return self.net(x).array

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def weights(self):
        return {name: self.net.array(name) for name in self.net.owned}

    def optimizer_state(self):
        kinds = {"mean": "exp_avg_sq", "step": "velocity", "ms": "exp_avg_sq"}  # Rule's own, and Chainer's RMSprop
        if self.plan.optimizer["name"] in ("adam", "adamw"):
            kinds = {"m": "exp_avg", "v": "exp_avg_sq"}
        elif self.rate_inside:
            kinds = {"v": "velocity"} if self.rate is not None else {}
        names, found = [entry["name"] for entry in self.plan.params if entry["role"] == "weight"], {}
        for name, (rule, factor, _) in zip(names, self.rules):
            for key, value in (rule.state or {}).items():
                if key in kinds:
                    rate = self.rate * factor if self.rate_inside else 0.0  # Chainer subtracts it, rate and all
                    found.setdefault(kinds[key], {})[name] = -value / rate if rate else value
        return found


if __name__ == "__main__":
    common.serve(Chainer())
