"""The meaning of a graph, of the losses and of the optimizers, in NumPy and double: loops over windows, nothing clever.
Forward keeps what backward needs."""

import numpy as np


def windows(x, attrs, value):
    """x padded by `value`; for each place (i, j) of the kernel, the rows and columns it meets; the size of the result."""
    top, left, bottom, right = attrs["pads"]
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)
    (kh, kw), (sh, sw), (dh, dw) = attrs["kernel_shape"], attrs["strides"], attrs["dilations"]
    oh = (padded.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (padded.shape[3] - dw * (kw - 1) - 1) // sw + 1
    taps = [(i, j, slice(i * dh, i * dh + sh * (oh - 1) + 1, sh), slice(j * dw, j * dw + sw * (ow - 1) + 1, sw))
            for i in range(kh) for j in range(kw)]
    return padded, taps, (oh, ow)


def crop(padded, attrs):
    top, left, bottom, right = attrs["pads"]
    return padded[:, :, top:padded.shape[2] - bottom, left:padded.shape[3] - right]


def by_channel(values, x):
    return values.reshape((-1,) + (1,) * (x.ndim - 2))


class Oracle:
    def __init__(self, graph, weights, loss="softmax_cross_entropy", label_smoothing=0.0):
        self.graph, self.kind, self.label_smoothing = graph, loss, label_smoothing
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}
        self.state = {name: [np.zeros(value.shape), np.zeros(value.shape)] for name, value in weights.items()}
        self.steps = 0

    def forward(self, x, train=False):
        """The logits. In training, self.statistics gets the new running statistics; nothing is changed."""
        self.train, self.statistics, self.multiply_adds = train, {}, 0
        self.values = {"x": x}
        for node in self.graph["nodes"]:
            inputs = [self.values[name] for name in node["in"]]
            self.values[node["out"][0]] = getattr(self, node["op"].lower())(*inputs, node["attrs"], node["params"])
        return self.values[self.graph["output"]]

    def backward(self, x, y):
        """The loss and the gradient of every trained parameter."""
        loss, d = self.loss(self.forward(x, train=True), y)
        self.pull(d)
        return loss, self.gradients

    def pull(self, d):
        """The gradient of the sum of d * logits by the input of the last forward pass."""
        self.gradients = {}
        pending = {self.graph["output"]: d}
        for node in reversed(self.graph["nodes"]):
            inputs, d = [self.values[name] for name in node["in"]], pending[node["out"][0]]
            shares = getattr(self, node["op"].lower() + "_backward")(d, *inputs, node["attrs"], node["params"])
            for name, share in zip(node["in"], shares):
                pending[name] = pending.get(name, 0) + share
        return pending["x"]

    def normalize(self, x, attrs, _names):
        mean, std = (np.array(attrs[key])[:, None, None] for key in ("mean", "std"))
        return (x * attrs["scale"] - mean) / std

    def normalize_backward(self, d, _x, attrs, _names):
        return [d * attrs["scale"] / np.array(attrs["std"])[:, None, None]]

    def conv(self, x, attrs, names):
        weight, group = self.weights[names["weight"]], attrs["group"]
        padded, taps, (oh, ow) = windows(x, attrs, 0.0)
        out, per = np.zeros((len(x), len(weight), oh, ow)), len(weight) // group
        for g in range(group):
            mine, part = slice(g * per, (g + 1) * per), slice(g * weight.shape[1], (g + 1) * weight.shape[1])
            for i, j, rows, columns in taps:
                out[:, mine] += np.einsum("nchw,oc->nohw", padded[:, part, rows, columns], weight[mine, :, i, j])
        self.multiply_adds += out[0].size * weight[0].size
        return out + self.weights[names["bias"]][:, None, None] if "bias" in names else out

    def conv_backward(self, d, x, attrs, names):
        weight = self.weights[names["weight"]]
        padded, taps, _ = windows(x, attrs, 0.0)
        dx, dw, per = np.zeros(padded.shape), np.zeros(weight.shape), len(weight) // attrs["group"]
        for g in range(attrs["group"]):
            mine, part = slice(g * per, (g + 1) * per), slice(g * weight.shape[1], (g + 1) * weight.shape[1])
            for i, j, rows, columns in taps:
                dw[mine, :, i, j] = np.einsum("nohw,nchw->oc", d[:, mine], padded[:, part, rows, columns])
                dx[:, part, rows, columns] += np.einsum("nohw,oc->nchw", d[:, mine], weight[mine, :, i, j])
        self.gradients[names["weight"]] = dw
        if "bias" in names:
            self.gradients[names["bias"]] = d.sum(axis=(0, 2, 3))
        return [crop(dx, attrs)]

    def batchnormalization(self, x, attrs, names):
        mean, variance = self.weights[names["running_mean"]], self.weights[names["running_var"]]
        if self.train:
            axes, n, momentum = (0,) + tuple(range(2, x.ndim)), x.size // x.shape[1], attrs["momentum"]
            old, (mean, variance) = (mean, variance), (x.mean(axis=axes), x.var(axis=axes))
            self.statistics[names["running_mean"]] = (1 - momentum) * old[0] + momentum * mean
            self.statistics[names["running_var"]] = (1 - momentum) * old[1] + momentum * variance * n / (n - 1)
        self.centred = x - by_channel(mean, x)
        self.deviation = np.sqrt(by_channel(variance, x) + attrs["epsilon"])
        weight, bias = (by_channel(self.weights[names[role]], x) for role in ("weight", "bias"))
        return weight * self.centred / self.deviation + bias

    def batchnormalization_backward(self, d, x, attrs, names):
        self.batchnormalization(x, attrs, names)
        axes, n = (0,) + tuple(range(2, x.ndim)), x.size // x.shape[1]
        hat = self.centred / self.deviation
        self.gradients[names["weight"]], self.gradients[names["bias"]] = (d * hat).sum(axis=axes), d.sum(axis=axes)
        d = d * by_channel(self.weights[names["weight"]], x)
        if not self.train:
            return [d / self.deviation]
        along = by_channel((d * hat).sum(axis=axes), x) / n
        return [(d - by_channel(d.sum(axis=axes), x) / n - hat * along) / self.deviation]

    def relu(self, x, _attrs, _names):
        return np.maximum(x, 0)

    def relu_backward(self, d, x, _attrs, _names):
        return [d * (x > 0)]

    def add(self, a, b, _attrs, _names):
        return a + b

    def add_backward(self, d, _a, _b, _attrs, _names):
        return [d, d]

    def maxpool(self, x, attrs, _names):
        padded, taps, _ = windows(x, attrs, -np.inf)
        return np.max([padded[:, :, rows, columns] for _, _, rows, columns in taps], axis=0)

    def maxpool_backward(self, d, x, attrs, _names):
        padded, taps, _ = windows(x, attrs, -np.inf)
        values = np.stack([padded[:, :, rows, columns] for _, _, rows, columns in taps])
        winner = values.argmax(axis=0)  # the first of equals, in the order of the window
        dx = np.zeros(padded.shape)
        for k, (_, _, rows, columns) in enumerate(taps):
            dx[:, :, rows, columns] += d * (winner == k)
        return [crop(dx, attrs)]

    @staticmethod
    def counted(x, attrs):
        """How many pixels of each window count."""
        marks, taps, _ = windows(np.ones((1, 1) + x.shape[2:]), attrs, float(attrs["count_include_pad"]))
        return sum(marks[:, :, rows, columns] for _, _, rows, columns in taps)

    def averagepool(self, x, attrs, _names):
        padded, taps, _ = windows(x, attrs, 0.0)
        return sum(padded[:, :, rows, columns] for _, _, rows, columns in taps) / self.counted(x, attrs)

    def averagepool_backward(self, d, x, attrs, _names):
        padded, taps, _ = windows(x, attrs, 0.0)
        dx = np.zeros(padded.shape)
        for _, _, rows, columns in taps:
            dx[:, :, rows, columns] += d / self.counted(x, attrs)
        return [crop(dx, attrs)]

    def flatten(self, x, _attrs, _names):
        return x.reshape(len(x), -1)

    def flatten_backward(self, d, x, _attrs, _names):
        return [d.reshape(x.shape)]

    def gemm(self, x, _attrs, names):
        self.multiply_adds += self.weights[names["weight"]].size
        return x @ self.weights[names["weight"]].T + self.weights[names["bias"]]

    def gemm_backward(self, d, x, _attrs, names):
        self.gradients[names["weight"]], self.gradients[names["bias"]] = d.T @ x, d.sum(axis=0)
        return [d @ self.weights[names["weight"]]]

    def loss(self, logits, y):
        """Mean over the batch, and the gradient of the logits."""
        n, classes = logits.shape
        one = np.eye(classes)[y]
        if self.kind == "nll":
            return -(one * logits).sum() / n, -one / n
        if self.kind == "mean_squared_error":
            return ((logits - one) ** 2).mean(), 2 * (logits - one) / logits.size
        target = one * (1 - self.label_smoothing) + self.label_smoothing / classes
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -(target * log_p).sum() / n, (np.exp(log_p) - target) / n

    def step(self, x, y, lr, settings):
        loss, gradients = self.backward(x, y)
        self.steps += 1
        self.weights.update(self.statistics)
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        limit = settings["clip_norm"]
        factor = limit / norm if limit is not None and norm > limit else 1.0
        for entry in self.graph["params"]:
            if entry["role"] == "weight":
                name = entry["name"]
                w, rate, decay = self.weights[name], lr * entry["lr_mult"], settings["weight_decay"] * entry["decay_mult"]
                self.weights[name] = self.update(self.state[name], w, factor * gradients[name], rate, decay, settings)
        return loss

    def update(self, state, w, g, rate, decay, s):
        if s["name"] == "adamw":
            w, decay = w - rate * decay * w, 0.0
        g = g + decay * w
        if s["name"] == "sgd":
            state[0] = s["momentum"] * state[0] + g
            return w - rate * (g + s["momentum"] * state[0] if s["nesterov"] else state[0])
        if s["name"] == "rmsprop":
            state[1] = s["alpha"] * state[1] + (1 - s["alpha"]) * g**2
            state[0] = s["momentum"] * state[0] + g / (np.sqrt(state[1]) + s["epsilon"])
            return w - rate * state[0]
        state[0] = s["beta1"] * state[0] + (1 - s["beta1"]) * g
        state[1] = s["beta2"] * state[1] + (1 - s["beta2"]) * g**2
        m, v = state[0] / (1 - s["beta1"] ** self.steps), state[1] / (1 - s["beta2"] ** self.steps)
        return w - rate * m / (np.sqrt(v) + s["epsilon"])
