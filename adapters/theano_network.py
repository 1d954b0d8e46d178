"""What Theano and its descendant PyTensor share: a network as one symbolic expression, its loss and its updates, and the
functions compiled from them. theano.py and pytensor.py add what only one of them has."""

import collections
import math

import common
import common_graph
import numpy as np

DTYPES = {"f32": "float32", "f64": "float64"}

# An expression, and its shape without the batch.
Value = collections.namedtuple("Value", "x shape")


class Network:
    """The expressions of one pass. tt: theano.tensor or pytensor.tensor. params: name -> shared variable. statistics: of a
    training pass, the running ones after it, as [(shared variable, expression)]."""

    def __init__(self, adapter, x, train):
        self.adapter, self.tt, self.params, self.train = adapter, adapter.tt, adapter.params, train
        self.dtype, self.statistics = adapter.dtype, []
        graph = adapter.plan.graph
        entry = graph["inputs"][0]
        values = {entry["name"]: Value(x, tuple(entry["shape"][1:]))}
        for node in graph["nodes"]:
            result = getattr(self, OPS[node["op"]])(node, *(values[name] for name in node["in"]))
            values.update(zip(node["out"], result if node["op"] == "Split" else [result]))
        self.logits, (self.classes,) = values[graph["output"]]

    def number(self, value):
        """A constant that makes no float32 wider."""
        return np.asarray(value, self.dtype)

    def param(self, node, role, rank=None):
        """A parameter; with a `rank` one number for each channel of such a value."""
        param = self.params[node["params"][role]]
        return param if rank is None else param.dimshuffle("x", 0, *["x"] * (rank - 2))

    def normalize(self, node, value):
        attrs, shape = node["attrs"], [1, -1] + [1] * (len(value.shape) - 1)
        mean, std = (self.number(attrs[key]).reshape(shape) for key in ("mean", "std"))
        return Value((value.x.astype(self.dtype) * self.number(attrs["scale"]) - mean) / std, value.shape)

    def conv(self, node, value):
        attrs, weight = node["attrs"], self.param(node, "weight")
        shape = self.adapter.plan.weights[node["params"]["weight"]].shape
        mask = common_graph.connection_mask(attrs, shape)
        if mask is not None:
            weight = weight * self.number(mask)
        top, left, bottom, right = attrs["pads"]
        x = self.adapter.convolve(
            value.x, weight, border_mode=((top, bottom), (left, right)), subsample=tuple(attrs["strides"]),
            filter_dilation=tuple(attrs["dilations"]), num_groups=attrs["group"], filter_flip=False,
            input_shape=(None,) + value.shape, filter_shape=shape)
        if "bias" in node["params"]:
            x = x + self.param(node, "bias", 4)
        return Value(x, shape[:1] + tuple(window.windows for window in windows(attrs, value)))

    def gemm(self, node, value):
        weight = self.param(node, "weight")
        x = self.tt.dot(value.x, weight.T)
        if "bias" in node["params"]:
            x = x + self.param(node, "bias", 2)
        return Value(x, self.adapter.plan.weights[node["params"]["weight"]].shape[:1])

    def batch_norm(self, node, value):
        x, attrs, rank = value.x, node["attrs"], 1 + len(value.shape)
        mean, var = self.param(node, "running_mean", rank), self.param(node, "running_var", rank)
        if self.train:
            axes = (0,) + tuple(range(2, rank))
            n, share = self.adapter.plan.batch_size * math.prod(value.shape[1:]), attrs["momentum"]
            mean = x.mean(axes, keepdims=True)
            var = self.tt.sqr(x - mean).mean(axes, keepdims=True)
            for role, new in (("running_mean", mean), ("running_var", var * self.number(n / (n - 1) if n > 1 else 0))):
                old = self.param(node, role)
                new = new.dimshuffle(1)
                self.statistics.append((old, self.number(1 - share) * old + self.number(share) * new))
        scale = self.param(node, "weight", rank) / self.tt.sqrt(var + self.number(attrs["epsilon"]))
        return Value((x - mean) * scale + self.param(node, "bias", rank), value.shape)

    def pad(self, x, shape, axis, before, behind, fill):
        """Pads one axis of an expression of that shape (without the batch) by a number; what is negative cuts nothing."""
        before, behind = max(before, 0), max(behind, 0)
        if before == behind == 0:
            return x, shape
        size = shape[axis - 1]
        wide = shape[:axis - 1] + (before + size + behind,) + shape[axis:]
        frame = self.tt.alloc(self.number(fill), x.shape[0], *wide)
        place = (slice(None),) * axis + (slice(before, before + size),)
        return self.tt.set_subtensor(frame[place], x), wide

    def padded(self, value, sides, fill):
        x, shape = value
        for axis, side in enumerate(sides):
            x, shape = self.pad(x, shape, axis + 2, side.before, side.behind, fill)
        return x

    def taps(self, value, sides, fill):
        """For each place in a window, in row order, the image of what lies there in every window."""
        x, (rows, columns) = self.padded(value, sides, fill), sides
        for i in rows.taps:
            for j in columns.taps:
                yield x[:, :, i:i + (rows.windows - 1) * rows.stride + 1:rows.stride,
                        j:j + (columns.windows - 1) * columns.stride + 1:columns.stride]

    def max_pool(self, node, value):
        """Tap by tap, so that the gradient goes to the first among equals; the library's own pool gives it to each."""
        sides = windows(node["attrs"], value)
        taps = self.taps(value, sides, -np.inf)
        best = next(taps)
        for tap in taps:
            best = self.tt.switch(self.tt.gt(tap, best), tap, best)
        return Value(best, value.shape[:1] + tuple(side.windows for side in sides))

    def average_pool(self, node, value):
        attrs, sides = node["attrs"], windows(node["attrs"], value)
        if attrs["dilations"] == [1, 1]:
            total = self.adapter.sum_windows(self.padded(value, sides, 0), tuple(attrs["kernel_shape"]),
                                             tuple(attrs["strides"]))
        else:
            total = sum(self.taps(value, sides, 0))
        counts = self.number(np.multiply.outer(*(side.counts() for side in sides)))[None, None]
        return Value(total / counts, value.shape[:1] + tuple(side.windows for side in sides))

    def global_average_pool(self, _node, value):
        return Value(value.x.mean((2, 3), keepdims=True), value.shape[:1] + (1, 1))

    def global_max_pool(self, _node, value):
        channels, rows, columns = value.shape
        flat = value.x.reshape((value.x.shape[0] * channels, rows * columns))
        best = flat[self.tt.arange(flat.shape[0]), self.tt.argmax(flat, axis=1)]
        return Value(best.reshape((value.x.shape[0], channels, 1, 1)), (channels, 1, 1))

    def lrn(self, node, value):
        attrs, channels = node["attrs"], value.shape[0]
        size = attrs["size"]
        squares, _ = self.pad(self.tt.sqr(value.x), value.shape, 1, (size - 1) // 2, size // 2, 0)
        total = sum(squares[:, i:i + channels] for i in range(size))
        base = self.number(attrs["bias"]) + self.number(attrs["alpha"] / size) * total
        return Value(value.x / base ** self.number(attrs["beta"]), value.shape)

    def leaky_relu(self, node, value, slope=None):
        slope = self.number(node["attrs"]["alpha"] if slope is None else slope)
        return Value(self.tt.switch(self.tt.gt(value.x, self.number(0)), value.x, slope * value.x), value.shape)

    def relu(self, _node, value):
        """Not the library's relu(), (x + |x|) / 2, whose slope is a half at 0."""
        return Value(self.tt.switch(self.tt.gt(value.x, self.number(0)), value.x, self.number(0)), value.shape)

    def clip(self, node, value):
        low, high = (self.number(node["attrs"][key]) for key in ("min", "max"))
        x = self.tt.switch(self.tt.gt(value.x, low), value.x, low)
        return Value(self.tt.switch(self.tt.lt(x, high), x, high), value.shape)

    def tanh(self, _node, value):
        return Value(self.tt.tanh(value.x), value.shape)

    def hard_swish(self, _node, value):
        share = self.clip({"attrs": {"min": 0, "max": 6}}, Value(value.x + self.number(3), value.shape))
        return Value(value.x * share.x / self.number(6), value.shape)

    def sigmoid(self, _node, value):
        return Value(self.adapter.sigmoid(value.x), value.shape)

    def log_softmax(self, node, value):
        axis = node["attrs"]["axis"] if node else 1
        x = value.x - self.adapter.constant(value.x.max(axis, keepdims=True))
        return Value(x - self.tt.log(self.tt.exp(x).sum(axis, keepdims=True)), value.shape)

    def softmax(self, node, value):
        return Value(self.tt.exp(self.log_softmax(node, value).x), value.shape)

    def dropout(self, node, value):
        ratio = node["attrs"]["ratio"]
        if not self.train or ratio == 0:
            return value
        keep = self.adapter.draw(1 - ratio, value.x.shape)
        return Value(value.x * keep.astype(self.dtype) / self.number(1 - ratio), value.shape)

    def add(self, _node, a, b):
        return Value(a.x + b.x, a.shape)

    def mul(self, _node, a, b):
        return Value(a.x * b.x, a.shape)

    def concat(self, node, *parts):
        at, shape = node["attrs"]["axis"] - 1, parts[0].shape
        extent = sum(part.shape[at] for part in parts)
        return Value(self.tt.concatenate([part.x for part in parts], at + 1), shape[:at] + (extent,) + shape[at + 1:])

    def split(self, node, value):
        axis, begin, parts = node["attrs"]["axis"], 0, []
        for extent in node["attrs"]["split"]:
            x = value.x[(slice(None),) * axis + (slice(begin, begin + extent),)]
            parts.append(Value(x, value.shape[:axis - 1] + (extent,) + value.shape[axis:]))
            begin += extent
        return parts

    def reshape(self, node, value):
        shape = tuple(node["attrs"]["shape"][1:])
        return Value(value.x.reshape((value.x.shape[0],) + shape), shape)

    def flatten(self, _node, value):
        return Value(value.x.reshape((value.x.shape[0], math.prod(value.shape))), (math.prod(value.shape),))

    def transpose(self, node, value):
        perm = node["attrs"]["perm"]
        return Value(value.x.dimshuffle(*perm), tuple(value.shape[axis - 1] for axis in perm[1:]))

    def reduce_mean(self, node, value):
        axes, keep = node["attrs"]["axes"], bool(node["attrs"]["keepdims"])
        shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(value.shape, 1) if keep or axis not in axes)
        return Value(value.x.mean(tuple(axes), keepdims=keep), shape)


OPS = {
    "normalize": "normalize", "Conv": "conv", "Gemm": "gemm", "BatchNormalization": "batch_norm", "MaxPool": "max_pool",
    "AveragePool": "average_pool", "GlobalAveragePool": "global_average_pool", "GlobalMaxPool": "global_max_pool",
    "LRN": "lrn", "LeakyRelu": "leaky_relu", "Relu": "relu", "Clip": "clip", "Tanh": "tanh", "Sigmoid": "sigmoid",
    "LogSoftmax": "log_softmax", "Softmax": "softmax", "Dropout": "dropout", "Add": "add", "Mul": "mul", "Concat": "concat",
    "Split": "split", "Reshape": "reshape", "Flatten": "flatten", "Transpose": "transpose", "ReduceMean": "reduce_mean",
    "HardSwish": "hard_swish",
}


def windows(attrs, value):
    return [common_graph.Window(attrs, axis, size) for axis, size in enumerate(value.shape[1:])]


class Symbolic(common.Adapter):
    """An adapter but for the library: `lib`, `tt`, symbol(), convolve(), sum_windows(), sigmoid(), constant(), draw(),
    seed(), prepare(), libraries()."""

    precisions = tuple(DTYPES)
    modes = ("train", "infer")
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm", "label_smoothing", "connections")
    forms = {"npz": False}
    lib = tt = None

    def build(self, plan):
        if plan.form == "npz":
            with np.load(plan.form_path) as stored:
                plan.weights = dict(stored)
        self.dtype, self.compiled = DTYPES[plan.precision], {}
        self.prepare(plan)
        rows, _ = plan.batch(0)
        self.x, self.y = self.symbol(str(rows.dtype), rows.ndim), self.symbol("int64", 1)
        self.params = {entry["name"]: self.lib.shared(plan.weights[entry["name"]].astype(self.dtype), entry["name"])
                       for entry in plan.params}
        self.trained = [entry for entry in plan.params if entry["role"] == "weight"]
        self.slots, self.steps = {}, self.lib.shared(np.asarray(0, self.dtype), "steps")
        self.seed(plan.seed)
        self.function("step" if plan.mode == "train" else "predict")
        return {
            "parameters": sum(self.params[entry["name"]].get_value().size for entry in self.trained) - plan.untrained(),
            "threads": plan.threads, "libraries": self.libraries(), "deviations": [],
        }

    def reset(self):
        for name, param in self.params.items():
            param.set_value(self.plan.weights[name].astype(self.dtype))
        for slot in self.slots.values():
            slot.set_value(np.zeros_like(slot.get_value()))
        self.steps.set_value(np.asarray(0, self.dtype))
        self.seed(self.plan.seed)

    def function(self, kind, train=True):
        """The compiled function, made when it is asked for first: to compile one takes seconds."""
        if (kind, train) not in self.compiled:
            network = Network(self, self.x, train and kind != "predict")
            self.compiled[kind, train] = getattr(self, "make_" + kind)(network)
        return self.compiled[kind, train]

    def make_of_numbers(self, asked):
        """From pixels that come as numbers of the run's precision, whatever they are in the graph: the logits, and where it is
        `asked` for the gradient of their sum, each times its cotangent."""
        x, cotangent = self.symbol(self.dtype, self.x.ndim), self.symbol(self.dtype, 2)
        logits = Network(self, x, False).logits
        if not asked:
            return self.lib.function([x], logits)
        return self.lib.function([x, cotangent], [logits, self.lib.grad((logits * cotangent).sum(), x)])

    def make_predict(self, network):
        return self.lib.function([self.x], network.logits)

    def make_forward(self, network):
        return self.lib.function([self.x, self.y], [self.x, self.y, network.logits, self.loss(network)])

    def make_backward(self, network):
        loss = self.loss(network)
        return self.lib.function([self.x, self.y], [loss] + self.gradients(loss))

    def make_step(self, network):
        loss, rate = self.loss(network), self.symbol(self.dtype, 0)
        gradients = self.gradients(loss)
        limit = self.plan.optimizer["clip_norm"]
        if limit is not None:
            limit = network.number(limit)
            norm = self.tt.sqrt(sum(self.tt.sqr(gradient).sum() for gradient in gradients))
            gradients = [gradient * (limit / self.tt.maximum(norm, limit)) for gradient in gradients]
        updates = [(self.steps, self.steps + network.number(1))] + network.statistics
        for entry, gradient in zip(self.trained, gradients):
            updates += self.update(network.number, entry, gradient, rate)
        return self.lib.function([self.x, self.y, rate], loss, updates=updates)

    def gradients(self, loss):
        return self.lib.grad(loss, [self.params[entry["name"]] for entry in self.trained])

    def loss(self, network):
        logits, tt, smoothing = network.logits, self.tt, self.plan.label_smoothing
        if self.plan.loss == "mean_squared_error":
            wanted = tt.eq(self.y.dimshuffle(0, "x"), np.arange(network.classes)[None]).astype(self.dtype)
            return tt.sqr(logits - wanted).mean()
        if self.plan.loss == "softmax_cross_entropy":
            logits = network.log_softmax(None, Value(logits, (network.classes,))).x
        loss = -logits[tt.arange(self.y.shape[0]), self.y].mean()
        if smoothing:
            loss = network.number(1 - smoothing) * loss - network.number(smoothing) * logits.mean()
        return loss

    def slot(self, name, place):
        """What the optimizer keeps beside a parameter, zero at first."""
        key = name, place
        if key not in self.slots:
            self.slots[key] = self.lib.shared(np.zeros_like(self.params[name].get_value()), "%s.slot%d" % key)
        return self.slots[key]

    def update(self, number, entry, g, rate):
        s, name = self.plan.optimizer, entry["name"]
        w, tt, decay = self.params[name], self.tt, s["weight_decay"] * self.plan.multiplier(entry, "decay_mult")
        rate = rate * number(self.plan.multiplier(entry, "lr_mult"))
        moved = w
        if decay and s["name"] == "adamw":
            moved = w - rate * number(decay) * w
        elif decay:
            g = g + number(decay) * w
        if s["name"] == "sgd" and s["momentum"] == 0:
            return [(w, w - rate * g)]
        first, momentum = self.slot(name, 0), number(s["momentum"])
        if s["name"] == "sgd":
            v = momentum * first + g
            return [(first, v), (w, w - rate * (g + momentum * v if s["nesterov"] else v))]
        second = self.slot(name, 1)
        if s["name"] == "rmsprop":
            v = number(s["alpha"]) * first + number(1 - s["alpha"]) * tt.sqr(g)
            u = momentum * second + g / (tt.sqrt(v) + number(s["epsilon"]))
            return [(first, v), (second, u), (w, w - rate * u)]
        m, v = (number(s[beta]) * old + number(1 - s[beta]) * new
                for beta, old, new in (("beta1", first, g), ("beta2", second, tt.sqr(g))))
        m_hat, v_hat = m / self.share("beta1", number), v / self.share("beta2", number)
        return [(first, m), (second, v), (w, moved - rate * m_hat / (tt.sqrt(v_hat) + number(s["epsilon"])))]

    def share(self, beta, number):
        """1 - beta^t, without cancellation."""
        beta = self.plan.optimizer[beta]
        return -self.tt.expm1((self.steps + number(1)) * number(math.log(beta))) if beta > 0 else number(1)

    def forward(self, x, y, train):
        x, y, logits, loss = self.function("forward", train)(x, y)
        return {"x": x, "y": y, "logits": logits, "loss": loss}

    def backward(self, x, y, train):
        loss, *gradients = self.function("backward", train)(x, y)
        return loss, {entry["name"]: gradient for entry, gradient in zip(self.trained, gradients)}

    def train_step(self, x, y, lr):
        return self.function("step")(x, y, np.asarray(lr, self.dtype))

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def input_gradient(self, x, cotangent):
        key = "of_numbers", cotangent is not None
        if key not in self.compiled:
            self.compiled[key] = self.make_of_numbers(cotangent is not None)
        return (self.compiled[key](x), None) if cotangent is None else self.compiled[key](x, cotangent)

    def save_form(self, _form, path):
        """The values of shared variables: what is compiled of them belongs to one machine."""
        with open(path, "wb") as file:
            np.savez(file, **self.weights())

    def infer_step(self, x):
        return self.function("predict")(x)

    def weights(self):
        return {name: param.get_value() for name, param in self.params.items()}

    def optimizer_state(self):
        kinds = {"sgd": ("velocity",), "rmsprop": ("exp_avg_sq", "velocity")}.get(
            self.plan.optimizer["name"], ("exp_avg", "exp_avg_sq"))
        found = {}
        for (name, place), slot in self.slots.items():
            found.setdefault(kinds[place], {})[name] = slot.get_value()
        return found
