"""tinygrad on the CPU, its kernels compiled by clang: one TinyJit for the whole training step.

The update rules are written out in tensors, as tinygrad's own are: they become part of the same kernels, and take rates and
corrections in the run's precision, where tinygrad's keep them in float32.
"""

import contextlib
import math
import shutil
import types

import common
import common_graph
import common_places
import numpy as np

with common.importing("tinygrad"):
    from importlib.metadata import version

    from tinygrad import Context, Device, Tensor, TinyJit, dtypes, nn
    from tinygrad.helpers import NUM_CPU_THREADS

DTYPES = {"f32": dtypes.float32, "f64": dtypes.float64}
PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}


def sides(attrs):
    top, left, bottom, right = attrs["pads"]
    return left, right, top, bottom


def first_max_pool(x, attrs):
    """Among equals the first of a window gets the gradient; tinygrad's own pool shares it out."""
    rows, columns = [common_graph.Window(attrs, axis, size) for axis, size in enumerate(x.shape[2:])]
    x = x.pad(((0, 0), (0, 0), (rows.before, rows.behind), (columns.before, columns.behind)), value=-float("inf"))
    windows = x._pool(tuple(attrs["kernel_shape"]), tuple(attrs["strides"]), tuple(attrs["dilations"])).flatten(4)
    places = Tensor.arange(windows.shape[4]).cast(dtypes.int32)
    values = windows.detach()
    first = (values == values.max(-1, keepdim=True)).where(places, windows.shape[4] - 1).min(-1, keepdim=True)
    return (places == first).where(windows, 0).sum(-1)


def average_pool(x, attrs):
    return x.avg_pool2d(tuple(attrs["kernel_shape"]), tuple(attrs["strides"]), tuple(attrs["dilations"]), sides(attrs),
                        bool(attrs["ceil_mode"]), bool(attrs["count_include_pad"]))


def local_response_norm(x, attrs):
    size, before = attrs["size"], (attrs["size"] - 1) // 2
    squares = x.square().reshape(x.shape[0], 1, x.shape[1], -1)
    mean = squares.avg_pool2d((size, 1), stride=1, padding=(0, 0, before, size - 1 - before)).reshape(x.shape)
    return x * (mean * attrs["alpha"] + attrs["bias"]).pow(-attrs["beta"])


def attention(x, attrs):
    """Of (N, groups, heads of a group, positions, width)."""
    groups, (rows, count, _) = attrs["kv_num_heads"], x[0].shape
    q, k, v = (part.reshape(rows, part.shape[1], groups, heads // groups, -1).permute(0, 2, 3, 1, 4)
               for part, heads in zip(x, (attrs["q_num_heads"], groups, groups)))
    scores = q.matmul(k.transpose(3, 4)) * (attrs["scale"] or q.shape[4] ** -0.5)
    if attrs["is_causal"]:
        scores = (Tensor.arange(count).reshape(count, 1) >= Tensor.arange(count)).where(scores, -math.inf)
    for tokens in x[3:]:
        scores = (tokens != common_graph.PADDING).reshape(rows, 1, 1, 1, -1).where(scores, -math.inf)
    return scores.softmax(4).matmul(v).permute(0, 3, 1, 2, 4).reshape(rows, count, -1)


def last_counted(x, _attrs):
    """Of each row the last position whose token is not the padding."""
    x, tokens = x
    positions = Tensor.arange(tokens.shape[1])
    places = (tokens != common_graph.PADDING).where(positions, 0).max(1, keepdim=True)
    return (positions == places).unsqueeze(2).where(x, 0).sum(1)


def rotary(x, attrs):
    rows, count, width = x.shape
    heads = attrs["num_heads"]
    cosines, sines = (Tensor(table, dtype=x.dtype) for table in common_places.rotations(attrs, count, width // heads))
    parts = x.reshape(rows, count, heads, width // heads)
    a, b = (parts[..., ::2], parts[..., 1::2]) if attrs["interleaved"] else parts.chunk(2, -1)
    turned = a * cosines - b * sines, b * cosines + a * sines
    y = turned[0].stack(turned[1], dim=-1) if attrs["interleaved"] else turned[0].cat(turned[1], dim=-1)
    return y.reshape(x.shape)


def elu(x, alpha, inner=1):
    return (x > 0).where(x, (((x > 0).where(0, x) / inner).exp() - 1) * alpha)


def softplus(x):
    """Each side by what does not overflow there."""
    above, below = (x > 0).where(x, 0), (x > 0).where(0, x)
    return (x > 0).where(above + (1 + (-above).exp()).log(), (1 + below.exp()).log())


CALLS = {
    "Exp": lambda x, attrs: x.exp(),
    "Elu": lambda x, attrs: elu(x, attrs["alpha"]),
    "Selu": lambda x, attrs: elu(x, attrs["alpha"]) * attrs["gamma"],
    "Celu": lambda x, attrs: elu(x, attrs["alpha"], attrs["alpha"]),
    "Softplus": lambda x, attrs: softplus(x),
    "Softsign": lambda x, attrs: x / (1 + x.abs()),
    "Mish": lambda x, attrs: x * softplus(x).tanh(),
    "Gelu": lambda x, attrs: x * (1 + ((x + 0.044715 * x * x * x) * math.sqrt(2 / math.pi)).tanh()) / 2,
    "RotaryEmbedding": rotary,
    "sinusoid": lambda x, attrs: x + Tensor(common_places.waves(attrs, *x.shape[1:]), dtype=x.dtype),
    "Relu": lambda x, attrs: x.relu(),
    "LeakyRelu": lambda x, attrs: (x > 0).where(x, x * attrs["alpha"]),
    "Clip": lambda x, attrs: (x > attrs["min"]).where((x < attrs["max"]).where(x, attrs["max"]), attrs["min"]),
    "Tanh": lambda x, attrs: x.tanh(),
    "Sigmoid": lambda x, attrs: x.sigmoid(),
    "HardSwish": lambda x, attrs: x * (x + 3).relu6() / 6,
    "Swish": lambda x, attrs: x * x.sigmoid(),
    "Softmax": lambda x, attrs: x.softmax(attrs["axis"]),
    "LogSoftmax": lambda x, attrs: x.log_softmax(attrs["axis"]),
    "MaxPool": first_max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": lambda x, attrs: x.mean((2, 3), keepdim=True),
    "GlobalMaxPool": lambda x, attrs: first_max_pool(
        x, {"kernel_shape": x.shape[2:], "strides": [1, 1], "dilations": [1, 1], "pads": [0, 0, 0, 0]}),
    "LRN": local_response_norm,
    "Flatten": lambda x, attrs: x.flatten(1),
    "Pad": lambda x, attrs: x.pad(tuple(common_graph.sides_of(attrs)), PAD_MODES[attrs["mode"]], attrs["value"]),
    "Reshape": lambda x, attrs: x.reshape(x.shape[0], *attrs["shape"][1:]),
    "Transpose": lambda x, attrs: x.permute(*attrs["perm"]),
    "ReduceMean": lambda x, attrs: x.mean(tuple(attrs["axes"]), keepdim=bool(attrs["keepdims"])),
    "Split": lambda x, attrs: list(x.split(attrs["split"], attrs["axis"])),
    "Dropout": lambda x, attrs: x.dropout(attrs["ratio"]),
}
JOINS = {
    "Add": lambda x, attrs: x[0] + x[1],
    "Sub": lambda x, attrs: x[0] - x[1],
    "Mul": lambda x, attrs: x[0] * x[1],
    "Div": lambda x, attrs: x[0] / x[1],
    "MatMul": lambda x, attrs: x[0].matmul(x[1]),
    "Concat": lambda x, attrs: x[0].cat(*x[1:], dim=attrs["axis"]),
    "Attention": attention, "last": last_counted,
}


class TinyGrad(common.Adapter):
    name = "tinygrad"
    framework = "tinygrad"
    version = version("tinygrad")
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "LayerNormalization", "RMSNormalization", "Embedding", *CALLS, *JOINS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    forms = {"safetensors": False}
    extras = ("clip_norm", "label_smoothing", "connections", "tokens", "targets", "shared", "broadcast", "operands", "positions", "hidden")

    def build(self, plan):
        if not shutil.which("clang"):
            raise common.BuildFailed("tinygrad compiles its kernels with clang, and there is none on PATH: install clang")
        NUM_CPU_THREADS.value = plan.threads  # before its device is made; it counts the CPUs that it may use
        self.dtype = DTYPES[plan.precision]
        self.params = {}
        self.nodes = [(self.make(node), node["in"], node["out"]) for node in plan.graph["nodes"]]
        self.entries = [entry for entry in plan.params if entry["role"] == "weight"]
        self.trained = [self.params[entry["name"]] for entry in self.entries]
        self.buffers = [self.params[entry["name"]] for entry in plan.params if entry["role"] != "weight"]
        kind = plan.optimizer["name"]
        self.state = [[Tensor.zeros(*param.shape, dtype=self.dtype).contiguous().realize() for param in self.trained]
                      for _ in range(0 if plan.mode != "train" else 1 if kind == "sgd" else 2)]
        self.reset()
        self.step, self.answer = TinyJit(self.step), TinyJit(lambda x: self.network(x).realize())
        # Of pixels that come as numbers: a compiled function is of one type.
        self.answer_numbers, self.slopes = TinyJit(lambda x: self.network(x).realize()), TinyJit(self.slopes)
        return {
            "parameters": sum(tensor.numel() for tensor in self.trained) - plan.untrained(),
            "threads": NUM_CPU_THREADS.value,
            "libraries": ["clang, device %s" % Device.DEFAULT],
            "deviations": [],
        }

    def own(self, layer, names):
        for role, name in names.items():
            tensor = getattr(layer, role)
            if name not in self.params:  # else it is that of another node too
                self.params[name] = tensor.cast(self.dtype).contiguous().realize().is_param_(tensor.is_param)
            setattr(layer, role, self.params[name])
        return layer

    def make(self, node):
        op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
        if op == "Gelu" and attrs["approximate"] != "tanh":
            raise common.Unsupported("Gelu by erf: tinygrad's erf is an approximation, 1e-7 away", op)
        if op in CALLS:
            return lambda x: CALLS[op](x, attrs)
        shape = self.plan.weights[names["weight"]].shape if names else None
        if op in JOINS and names:
            layer = self.own(types.SimpleNamespace(weight=Tensor.zeros(*shape)), names)
            return lambda x: JOINS[op]((x, layer.weight), attrs)
        if op in JOINS:
            return lambda *x: JOINS[op](x, attrs)
        if op == "normalize":
            return self.normalize(attrs)
        if op == "Gemm":
            return self.own(nn.Linear(shape[1], shape[0], "bias" in names), names)
        if op == "Embedding":
            return self.own(nn.Embedding(*shape), names)
        if op in ("LayerNormalization", "RMSNormalization"):
            return self.norm(op, attrs, names, shape)
        if op == "BatchNormalization":
            return self.own(nn.BatchNorm(shape[0], attrs["epsilon"], momentum=attrs["momentum"]), names)
        layer = self.own(nn.Conv2d(shape[1] * attrs["group"], shape[0], tuple(shape[2:]), tuple(attrs["strides"]),
                                   sides(attrs), tuple(attrs["dilations"]), attrs["group"], "bias" in names), names)
        return self.connected(layer, attrs) if "connections" in attrs else layer

    def normalize(self, attrs):
        shape = [1, -1] + [1] * (len(self.plan.graph["inputs"][0]["shape"]) - 2)
        mean, std = (Tensor(attrs[key], dtype=self.dtype).reshape(shape).realize() for key in ("mean", "std"))
        return lambda x: (x.cast(self.dtype) * attrs["scale"] - mean) / std

    def norm(self, op, attrs, names, shape):
        """Over the last axis. tinygrad's own RMSNorm is in single precision."""
        layer = self.own(types.SimpleNamespace(weight=Tensor.zeros(*shape), bias=Tensor.zeros(*shape)), names)

        def layer_norm(x):
            y = x.layernorm(eps=attrs["epsilon"]) * layer.weight
            return y + layer.bias if "bias" in names else y

        return layer_norm if op == "LayerNormalization" else lambda x: (
            x * (x.square().mean(-1, keepdim=True) + attrs["epsilon"]).rsqrt() * layer.weight)

    def connected(self, layer, attrs):
        """A convolution whose output channels see some of the input channels only."""
        mask = Tensor(common_graph.connection_mask(attrs, layer.weight.shape), dtype=self.dtype).realize()
        return lambda x: x.conv2d(layer.weight * mask, layer.bias, layer.groups, layer.stride, layer.dilation, layer.padding)

    def reset(self):
        Tensor.manual_seed(self.plan.seed)
        for name, tensor in self.params.items():
            self.put(tensor, self.plan.weights[name])
        for tensor in sum(self.state, []):
            tensor.assign(tensor.zeros_like()).realize()
        self.steps = 0

    def put(self, tensor, values):
        tensor.assign(self.tensor(np.array(values), self.dtype)).realize()

    @staticmethod
    def tensor(values, dtype=None):
        return Tensor(values, dtype=dtype).to(Device.DEFAULT).contiguous().realize()

    def network(self, x):
        values = {self.plan.graph["inputs"][0]["name"]: x}
        for function, inputs, outputs in self.nodes:
            result = function(*[values[name] for name in inputs])
            values.update(zip(outputs, result if isinstance(result, list) else [result]))
        return values[self.plan.graph["output"]]

    def loss(self, logits, y):
        if self.plan.target == "vector":
            return (logits - y.cast(self.dtype)).square().mean()
        target, smoothing = y.one_hot(logits.shape[-1]).cast(self.dtype), self.plan.label_smoothing
        if self.plan.loss == "mean_squared_error":
            losses = (logits - target).square().mean(-1)
        elif self.plan.loss == "nll":
            losses = -(logits * target).sum(-1)
        else:
            log_p = logits.log_softmax()
            losses = -(log_p * target).sum(-1) * (1 - smoothing) - log_p.mean(-1) * smoothing
        if not self.plan.hides_targets:
            return losses.mean()
        seen = (y >= 0).cast(self.dtype)
        return (losses * seen).sum() / seen.sum()

    def differentiate(self, x, y):
        """Logits, loss and gradients, none of them computed yet."""
        logits = self.network(x)
        loss = self.loss(logits, y)
        return logits, loss, loss.gradient(*self.trained)

    def step(self, x, y, rates):
        """rates: of learning, and the corrections of Adam's two moments."""
        _, loss, gradients = self.differentiate(x, y)
        s = self.plan.optimizer
        if s["clip_norm"] is not None:
            gradients = self.clipped(gradients, s["clip_norm"])
        news = [self.rule(s, w, g, state, rates, entry)
                for w, g, entry, *state in zip(self.trained, gradients, self.entries, *self.state)]
        olds = zip(self.trained, *self.state)
        for old, new in zip(sum(map(list, olds), []), sum(news, [])):
            old.assign(new)
        return loss.realize(*self.trained, *sum(self.state, []), *self.buffers)

    @staticmethod
    def clipped(gradients, limit):
        norm = sum(gradient.square().sum() for gradient in gradients).sqrt()
        share = limit / norm.maximum(limit)
        return [gradient * share for gradient in gradients]

    def rule(self, s, w, g, state, rates, entry):
        """The weight and its state after a step."""
        rate, decay = rates[0] * entry.get("lr_mult", 1.0), s["weight_decay"] * entry.get("decay_mult", 1.0)
        w = w.detach()
        if s["name"] == "adamw":
            w = w - rate * decay * w
        elif decay:
            g = g + decay * w
        if s["name"] == "sgd":
            v = s["momentum"] * state[0] + g
            return [w - rate * (g + s["momentum"] * v if s["nesterov"] else v), v]
        a, v = state
        if s["name"] == "rmsprop":
            v = s["alpha"] * v + (1 - s["alpha"]) * g * g
            a = s["momentum"] * a + g / (v.sqrt() + s["epsilon"])
            return [w - rate * a, a, v]
        a, v = s["beta1"] * a + (1 - s["beta1"]) * g, s["beta2"] * v + (1 - s["beta2"]) * g * g
        return [w - rate * (a / rates[1]) / ((v / rates[2]).sqrt() + s["epsilon"]), a, v]

    def train_step(self, x, y, lr):
        self.steps += 1
        s = self.plan.optimizer
        rates = np.array([lr, 1 - s["beta1"]**self.steps, 1 - s["beta2"]**self.steps])
        with Context(TRAINING=1):
            loss = self.step(self.tensor(x), self.tensor(y), self.tensor(rates, self.dtype))
        return loss.item()  # the next step writes over it

    @contextlib.contextmanager
    def unchanged(self, train):
        kept = [buffer.numpy().copy() for buffer in self.buffers]
        with Context(TRAINING=int(train)):
            yield
        for buffer, values in zip(self.buffers, kept):
            self.put(buffer, values)

    def forward(self, x, y, train):
        x, y = self.tensor(x), self.tensor(y)
        with self.unchanged(train):
            logits = self.network(x)
            loss = self.loss(logits, y)
            Tensor.realize(logits, loss)
        return {"x": x.numpy(), "y": y.numpy(), "logits": logits.numpy(), "loss": loss.numpy()}

    def backward(self, x, y, train):
        with self.unchanged(train):
            _, loss, gradients = self.differentiate(self.tensor(x), self.tensor(y))
            loss.realize(*gradients)
        return loss.numpy(), {entry["name"]: value.numpy() for entry, value in zip(self.entries, gradients)}

    def slopes(self, x, cotangent):
        logits = self.network(x)
        gradient, = (logits * cotangent).sum().gradient(x)
        Tensor.realize(logits, gradient)
        return logits, gradient

    def input_gradient(self, x, cotangent):
        with Context(TRAINING=0):
            if cotangent is None:
                return self.answer_numbers(self.tensor(x)).numpy(), None
            return (made.numpy() for made in self.slopes(self.tensor(x), self.tensor(cotangent)))

    def infer_step(self, x):
        return self.answer(self.tensor(x)).numpy()

    def losses(self, handles):
        return handles

    def weights(self):
        return {name: tensor.numpy() for name, tensor in self.params.items()}

    def optimizer_state(self):
        kinds = {"sgd": ("velocity",), "rmsprop": ("velocity", "exp_avg_sq")}.get(
            self.plan.optimizer["name"], ("exp_avg", "exp_avg_sq"))
        return {kind: {entry["name"]: tensor.numpy() for entry, tensor in zip(self.entries, tensors)}
                for kind, tensors in zip(kinds, self.state)}


if __name__ == "__main__":
    common.serve(TinyGrad())
