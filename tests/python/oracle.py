"""The meaning of a chain of nodes, of the loss and of the optimizer, in NumPy and double: loops over windows, nothing
clever. Forward keeps what backward needs."""

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


class Oracle:
    def __init__(self, graph, weights):
        self.graph = graph
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}
        self.velocity = {name: np.zeros(value.shape) for name, value in weights.items()}

    def forward(self, x):
        self.inputs, self.multiply_adds = [], 0
        for node in self.graph["nodes"]:
            self.inputs.append(x)
            x = getattr(self, node["op"].lower())(x, node.get("attrs"), self.params(node))
        return x

    def params(self, node):
        return {role: self.weights[name] for role, name in node.get("params", {}).items()}

    def normalize(self, x, attrs, _params):
        mean, std = (np.array(attrs[key])[:, None, None] for key in ("mean", "std"))
        return (x * attrs["scale"] - mean) / std

    def conv(self, x, attrs, params):
        weight, group = params["weight"], attrs["group"]
        padded, taps, (oh, ow) = windows(x, attrs, 0.0)
        out, per = np.zeros((len(x), len(weight), oh, ow)), len(weight) // group
        for g in range(group):
            mine, part = slice(g * per, (g + 1) * per), slice(g * weight.shape[1], (g + 1) * weight.shape[1])
            for i, j, rows, columns in taps:
                out[:, mine] += np.einsum("nchw,oc->nohw", padded[:, part, rows, columns], weight[mine, :, i, j])
        self.multiply_adds += out[0].size * weight[0].size
        return out + params["bias"][:, None, None]

    def relu(self, x, _attrs, _params):
        return np.maximum(x, 0)

    def maxpool(self, x, attrs, _params):
        padded, taps, _ = windows(x, attrs, -np.inf)
        return np.max([padded[:, :, rows, columns] for _, _, rows, columns in taps], axis=0)

    def flatten(self, x, _attrs, _params):
        return x.reshape(len(x), -1)

    def gemm(self, x, _attrs, params):
        self.multiply_adds += params["weight"].size
        return x @ params["weight"].T + params["bias"]

    @staticmethod
    def loss(logits, y):
        """Mean over the batch, and the gradient of the logits."""
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        gradient = np.exp(log_p)
        gradient[np.arange(len(y)), y] -= 1
        return -log_p[np.arange(len(y)), y].mean(), gradient / len(y)

    def backward(self, x, y):
        """The loss and the gradient of every parameter."""
        loss, d = self.loss(self.forward(x), y)
        gradients = {}
        for node, x in zip(reversed(self.graph["nodes"]), reversed(self.inputs)):
            names, attrs, params = node.get("params", {}), node.get("attrs"), self.params(node)
            if node["op"] == "Gemm":
                gradients[names["weight"]], gradients[names["bias"]] = d.T @ x, d.sum(axis=0)
                d = d @ params["weight"]
            elif node["op"] == "Flatten":
                d = d.reshape(x.shape)
            elif node["op"] == "Relu":
                d = d * (x > 0)
            elif node["op"] == "MaxPool":
                d = self.maxpool_backward(x, d, attrs)
            elif node["op"] == "Conv":
                gradients[names["bias"]] = d.sum(axis=(0, 2, 3))
                d, gradients[names["weight"]] = self.conv_backward(x, d, attrs, params["weight"])
        return loss, gradients

    @staticmethod
    def maxpool_backward(x, d, attrs):
        padded, taps, _ = windows(x, attrs, -np.inf)
        values = np.stack([padded[:, :, rows, columns] for _, _, rows, columns in taps])
        winner = values.argmax(axis=0)  # the first of equals, in the order of the window
        dx = np.zeros(padded.shape)
        for k, (_, _, rows, columns) in enumerate(taps):
            dx[:, :, rows, columns] += d * (winner == k)
        return crop(dx, attrs)

    @staticmethod
    def conv_backward(x, d, attrs, weight):
        padded, taps, _ = windows(x, attrs, 0.0)
        dx, dw, per = np.zeros(padded.shape), np.zeros(weight.shape), len(weight) // attrs["group"]
        for g in range(attrs["group"]):
            mine, part = slice(g * per, (g + 1) * per), slice(g * weight.shape[1], (g + 1) * weight.shape[1])
            for i, j, rows, columns in taps:
                dw[mine, :, i, j] = np.einsum("nohw,nchw->oc", d[:, mine], padded[:, part, rows, columns])
                dx[:, part, rows, columns] += np.einsum("nohw,oc->nchw", d[:, mine], weight[mine, :, i, j])
        return crop(dx, attrs), dw

    def step(self, x, y, lr, optimizer):
        loss, gradients = self.backward(x, y)
        momentum = optimizer["momentum"]
        for entry in self.graph["params"]:
            name = entry["name"]
            g = gradients[name] + optimizer["weight_decay"] * entry["decay_mult"] * self.weights[name]
            v = self.velocity[name] = momentum * self.velocity[name] + g
            self.weights[name] -= lr * entry["lr_mult"] * (g + momentum * v if optimizer["nesterov"] else v)
        return loss
