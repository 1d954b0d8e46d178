"""Paddle on the CPU: dynamic graphs, or the network through paddle.jit.to_static.

Dense weights are (in, out) inside. Paddle keeps some numbers as float32: momentum and decay of its updates, momentum and epsilon
of batch norm, bounds and slopes. In double that would be other work, so there they are made exact: by what is done to
gradients, state and statistics (refine(), BatchNorm), or by operators that take their numbers in double.
"""

import contextlib

import common
import numpy as np

with common.importing("Paddle"):
    import paddle
    import paddle.nn.functional as F
    from paddle import nn

DTYPES = {"f32": "float32", "f64": "float64"}
BATCH_NORM = {"running_mean": "_mean", "running_var": "_variance"}
ZERO = nn.initializer.Constant(0.0)


def single(value):
    return float(np.float32(value))


def number(value, x):
    """As a tensor like x: to_static would make a float32 of it."""
    return paddle.full([], value, x.dtype)


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
        mask = np.zeros(conv.weight.shape[:2] + [1, 1])
        for out, seen in enumerate(attrs["connections"]):
            mask[out, seen] = 1
        self.absent = int((mask == 0).sum()) * int(np.prod(conv.weight.shape[2:]))
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
        self.windows = [common.Window(self.attrs, axis, extent) for axis, extent in enumerate(size)]
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
    "Mul": lambda x, attrs: x[0] * x[1],
    "LeakyRelu": lambda x, attrs: paddle.where(x[0] > 0, x[0], x[0] * number(attrs["alpha"], x[0])),  # Paddle's has slope 1 at 0
    "Concat": lambda x, attrs: paddle.concat(x, attrs["axis"]),
    "Split": lambda x, attrs: paddle.split(x[0], attrs["split"], attrs["axis"]),
    "Reshape": lambda x, attrs: x[0].reshape([-1] + attrs["shape"][1:]),
    "Transpose": lambda x, attrs: x[0].transpose(attrs["perm"]),
    "ReduceMean": lambda x, attrs: x[0].mean(attrs["axes"], bool(attrs["keepdims"])),
}


class Network(nn.Layer):
    """The graph: its layers, called in its order; values are let go of after their last use.

    owned: name in the graph -> its tensor.  dense: names of dense weights.  statistics: name of a running mean or variance
    -> its layer.
    """

    def __init__(self, plan, dtype):
        super().__init__()
        self.plan, self.dtype = plan, dtype
        self.owned, self.dense, self.statistics, self.absent = {}, set(), {}, 0
        graph, self.nodes, last = plan.graph, [], {}
        for place, node in enumerate(graph["nodes"]):
            last.update(dict.fromkeys(node["in"], place))
        last[graph["output"]] = None
        for place, node in enumerate(graph["nodes"]):
            function = self.make(node)
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

    def make(self, node):
        op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
        if op in LAYERS:
            return LAYERS[op](attrs)
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
        if op == "BatchNormalization":
            layer = BatchNorm(attrs, self.plan.weights[names["weight"]].shape[0], self.dtype)
            layer.roles = {names[role]: role for role in BATCH_NORM}
            self.statistics.update(dict.fromkeys(layer.roles, layer))
            return self.own(layer, names)
        return Pool(op, attrs, self.dtype)

    def own(self, layer, names):
        self.owned.update((name, getattr(layer, BATCH_NORM.get(role, role))) for role, name in names.items())
        return layer

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        bias = paddle.ParamAttr(initializer=ZERO) if "bias" in names else False
        layer = self.own(nn.Conv2D(
            channels * attrs["group"], filters, kernel, attrs["strides"], paddle_pads(attrs), attrs["dilations"],
            attrs["group"], weight_attr=paddle.ParamAttr(initializer=ZERO), bias_attr=bias), names)
        if "connections" not in attrs:
            return layer
        layer = ConnectedConv2D(layer, attrs)
        self.absent += layer.absent
        return layer


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


class RMSProp:
    """Paddle's own has epsilon inside the root."""

    def __init__(self, settings, groups):
        self.settings, self.groups, self.lr = settings, groups, 0.0
        self.state = {id(param): (paddle.zeros_like(param), paddle.zeros_like(param)) for group in groups
                      for param in group["params"]}

    def set_lr(self, lr):
        self.lr = lr

    @paddle.no_grad()
    def step(self):
        s = self.settings
        for group in self.groups:
            for param in group["params"]:
                mean, step = self.state[id(param)]
                gradient = param.grad + param * group["weight_decay"] if group["weight_decay"] else param.grad
                mean.set_value(mean * s["alpha"] + gradient * gradient * (1 - s["alpha"]))
                step.set_value(step * s["momentum"] + gradient / (mean.sqrt() + s["epsilon"]))
                param.subtract_(step * (self.lr * group["learning_rate"]))


def sgd(s, **common_):
    if s["momentum"] == 0:
        return paddle.optimizer.SGD(**common_)
    return paddle.optimizer.Momentum(momentum=s["momentum"], use_nesterov=s["nesterov"], **common_)


def moments(s):
    return {"beta1": s["beta1"], "beta2": s["beta2"], "epsilon": s["epsilon"]}


OPTIMIZERS = {
    "sgd": sgd,
    "adam": lambda s, **common_: paddle.optimizer.Adam(**moments(s), **common_),
    "adamw": lambda s, **common_: paddle.optimizer.AdamW(**moments(s), **common_),
    "rmsprop": lambda s, parameters, **_: RMSProp(s, parameters),
}


class Paddle(common.Adapter):
    name = "paddle"
    framework = "Paddle"
    version = paddle.__version__
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "MaxPool", "AveragePool", *LAYERS, *CALLS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm", "label_smoothing", "connections")
    options = {"to_static": False}

    def build(self, plan):
        paddle.set_device("cpu")
        self.dtype = DTYPES[plan.precision]
        paddle.set_default_dtype(self.dtype)
        paddle.base.core.set_num_threads(plan.threads)
        self.net = self.run = Network(plan, self.dtype)
        if self.option("to_static"):
            self.run = paddle.jit.to_static(Static(self.net), full_graph=True)
        self.trained = {entry["name"]: self.net.owned[entry["name"]] for entry in plan.params if entry["role"] == "weight"}
        self.reset()
        if plan.mode == "infer":
            self.run.eval()
        return {
            "parameters": sum(param.size for param in self.trained.values()) - self.net.absent,
            "threads": plan.threads,
            "libraries": libraries(),
            "deviations": ["paddle.jit.to_static"] if self.option("to_static") else [],
        }

    def reset(self):
        paddle.seed(self.plan.seed)
        for name, tensor in self.net.owned.items():
            values = self.plan.weights[name].astype(self.dtype)
            if name in self.net.statistics:
                values = values * self.net.statistics[name].unit(name)
            tensor.set_value(self.turned(name, values))
        self.clear()
        self.steps = 0
        if self.plan.mode == "train":
            self.make_optimizer()

    def clear(self):
        for param in self.trained.values():
            param.clear_gradient(False)

    def turned(self, name, values):
        """Between the graph's layout and Paddle's."""
        return values.T if name in self.net.dense else values

    def make_optimizer(self):
        settings, groups = self.plan.optimizer, {}
        for entry in self.plan.params:
            if entry["role"] == "weight":
                factors = self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
                groups.setdefault(factors, []).append(self.net.owned[entry["name"]])
        self.groups = [{"params": params, "learning_rate": lr_mult, "weight_decay": settings["weight_decay"] * decay_mult}
                       for (lr_mult, decay_mult), params in groups.items()]
        self.optimizer = OPTIMIZERS[settings["name"]](
            settings, learning_rate=0.0, parameters=[dict(group) for group in self.groups])

    def loss(self, logits, y):
        if self.plan.loss == "nll":
            return F.nll_loss(logits, y)
        if self.plan.loss == "mean_squared_error":
            return F.mse_loss(logits, F.one_hot(y, logits.shape[1]).astype(self.dtype))
        loss, smoothing = F.cross_entropy(logits, y), self.plan.label_smoothing
        return loss * (1 - smoothing) - F.log_softmax(logits).mean() * smoothing if smoothing else loss

    def train_step(self, x, y, lr):
        double = self.dtype == "float64"
        before = {name: self.net.owned[name].clone() for name in self.net.statistics} if double else {}
        loss = self.loss(self.run(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        with paddle.no_grad():
            if self.plan.optimizer["clip_norm"] is not None:
                self.clip(self.plan.optimizer["clip_norm"])
            self.optimizer.set_lr(lr)
            with self.refined(lr) if double else contextlib.nullcontext():
                self.optimizer.step()
        self.clear()
        self.steps += 1
        for name, old in before.items():
            self.net.statistics[name].refine(self.net.owned[name], old)
        return loss.detach()

    def clip(self, limit):
        """As nn.ClipGradByGlobalNorm, which takes the norm of each group of parameters by itself."""
        gradients = [param.grad for param in self.trained.values()]
        norm = paddle.add_n([gradient.square().sum() for gradient in gradients]).sqrt()
        share = limit / norm.clip(min=limit)
        for gradient in gradients:
            gradient.multiply_(share)

    @contextlib.contextmanager
    def refined(self, lr):
        """Around an update in double: moves gradients, state and weights so that Paddle's update, with momentum and decay
        rounded to float32, does what it would do with the numbers themselves."""
        s, momentum = self.plan.optimizer, single(self.plan.optimizer["momentum"])
        fused = s["name"] == "sgd" and momentum > 0
        for group in self.groups:
            decay = group["weight_decay"]
            for param in group["params"]:
                if fused:
                    param.grad.add_(param * (decay - single(decay)))
                    if self.steps:
                        self.velocity(param).scale_(s["momentum"] / momentum)
                elif s["name"] == "adamw":
                    rate = lr * group["learning_rate"]
                    param.scale_((1 - rate * decay) / (1 - rate * single(decay)))
        yield
        for group in self.groups if fused and s["nesterov"] else ():
            for param in group["params"]:
                param.subtract_(self.velocity(param) * (lr * group["learning_rate"] * (s["momentum"] - momentum)))

    def velocity(self, param):
        return self.optimizer._get_accumulator_master("velocity", param)

    def running(self, name):
        """A running statistic as the graph means it."""
        values = self.net.statistics[name].to_graph(
            name, self.net.owned[name].numpy(), self.plan.weights[name].astype(np.float64), self.steps)
        return values.astype(self.dtype)

    @contextlib.contextmanager
    def unchanged(self, train):
        """Inside, the network trains or not, by the graph's running statistics; afterwards all is as before."""
        before, random = self.net.training, paddle.get_rng_state()
        kept = {name: self.net.owned[name].clone() for name in self.net.statistics}
        try:
            for name, layer in self.net.statistics.items():
                self.net.owned[name].set_value(self.running(name) * np.asarray(layer.unit(name), self.dtype))
            self.run.train() if train else self.run.eval()
            yield
        finally:
            self.run.train() if before else self.run.eval()
            paddle.set_rng_state(random)
            for name, values in kept.items():
                self.net.owned[name].set_value(values)

    def forward(self, x, y, train):
        x, y = paddle.to_tensor(x), paddle.to_tensor(y)
        run = self.run if train or self.plan.mode == "infer" else self.net  # to_static cannot do both with one network
        with self.unchanged(train), paddle.no_grad() if run is self.net else contextlib.nullcontext():
            logits = run(x)
            loss = self.loss(logits, y)
        return {"x": x.numpy(), "y": y.numpy(), "logits": logits.numpy(), "loss": loss.numpy()}

    def backward(self, x, y, train):
        with self.unchanged(train):
            loss = self.loss(self.run(paddle.to_tensor(x)), paddle.to_tensor(y))
            loss.backward()
        gradients = {name: self.turned(name, param.grad.numpy()) for name, param in self.trained.items()}
        self.clear()
        return loss.numpy(), gradients

    def infer_step(self, x):
        with paddle.no_grad():
            return self.run(paddle.to_tensor(x)).numpy()

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def weights(self):
        return {name: self.running(name) if name in self.net.statistics else self.turned(name, tensor.numpy())
                for name, tensor in self.net.owned.items()}

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "ResourceExhausted" in str(error) or "bad_alloc" in str(error)


def libraries():
    """What this build has to compute with."""
    there = {"MKL": paddle.version.mkl() == "ON", "oneDNN": paddle.base.core.is_compiled_with_onednn()}
    return [name for name, built in there.items() if built]


if __name__ == "__main__":
    common.serve(Paddle())
