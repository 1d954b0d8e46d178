"""PyTorch, eager mode, on the CPU."""

import re

import common
import numpy as np

with common.importing("PyTorch"):
    import torch
    import torch.nn.functional as F
    from torch import nn

DTYPES = {"f32": torch.float32, "f64": torch.float64}


class Normalize(nn.Module):
    """y = (x * scale - mean[c]) / std[c], computed in `dtype`; x has `rank` dimensions, the second of which is c."""

    def __init__(self, scale, mean, std, rank, dtype):
        super().__init__()
        self.scale = scale
        self.dtype = dtype
        shape = [-1] + [1] * (rank - 2)
        self.register_buffer("mean", torch.tensor(mean, dtype=dtype).view(shape), persistent=False)
        self.register_buffer("std", torch.tensor(std, dtype=dtype).view(shape), persistent=False)

    def forward(self, x):
        return (x.to(self.dtype) * self.scale).sub_(self.mean).div_(self.std)


class Network(nn.Module):
    """The nodes of a graph, in its order. `by_name` has the parameters under their names in the graph."""

    def __init__(self, graph, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.wires = [(node["in"], node["out"][0]) for node in graph["nodes"]]
        self.input, self.output = graph["inputs"][0]["name"], graph["output"]

    def forward(self, x):
        values = {self.input: x}
        for layer, (sources, target) in zip(self.layers, self.wires):
            values[target] = layer(*[values[source] for source in sources])
        return values[self.output]


class PyTorch(common.Adapter):
    name = "pytorch"
    framework = "PyTorch"
    version = torch.__version__
    precisions = ("f32", "f64")
    ops = ("normalize", "Conv", "Relu", "MaxPool", "Flatten", "Gemm")
    options = {"channels_last": False}

    def build(self, plan):
        torch.set_num_threads(plan.threads)
        torch.set_num_interop_threads(1)
        self.dtype = DTYPES[plan.precision]
        self.images = torch.channels_last if self.option("channels_last") else torch.contiguous_format
        self.params = {}  # name in the graph -> nn.Parameter
        self.model = Network(plan.graph, [self.layer(node) for node in plan.graph["nodes"]])
        self.model.to(self.dtype, memory_format=self.images)
        self.reset()
        return {
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "threads": torch.get_num_threads(),
            "libraries": libraries(),
            "deviations": ["channels_last memory format"] if self.option("channels_last") else [],
        }

    def layer(self, node):
        attrs, names = node.get("attrs", {}), node.get("params", {})
        if node["op"] == "normalize":
            rank = len(self.plan.graph["inputs"][0]["shape"])
            return Normalize(attrs["scale"], attrs["mean"], attrs["std"], rank, self.dtype)
        if node["op"] == "Conv":
            return self.conv(attrs, names)
        if node["op"] == "MaxPool":
            return self.max_pool(attrs)
        if node["op"] == "Gemm":
            out_features, in_features = self.plan.weights[names["weight"]].shape
            return self.own(nn.Linear(in_features, out_features, bias="bias" in names), names)
        return {"Relu": nn.ReLU, "Flatten": nn.Flatten}[node["op"]]()

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        group, (top, left, bottom, right) = attrs["group"], attrs["pads"]
        even = (top, left) == (bottom, right)
        layer = self.own(nn.Conv2d(
            channels * group, filters, kernel, stride=attrs["strides"], padding=(top, left) if even else 0,
            dilation=attrs["dilations"], groups=group, bias="bias" in names), names)
        return layer if even else nn.Sequential(nn.ZeroPad2d((left, right, top, bottom)), layer)

    def max_pool(self, attrs):
        (top, left, bottom, right), kernel = attrs["pads"], attrs["kernel_shape"]
        # PyTorch itself pads a pool evenly, and by half its window at most.
        even = (top, left) == (bottom, right) and 2 * top <= kernel[0] and 2 * left <= kernel[1]
        pool = nn.MaxPool2d(kernel, attrs["strides"], (top, left) if even else 0, attrs["dilations"])
        return pool if even else nn.Sequential(nn.ConstantPad2d((left, right, top, bottom), float("-inf")), pool)

    def own(self, layer, names):
        """Remembers the parameters of a layer under their names in the graph; a name that came before is shared."""
        for role, name in names.items():
            setattr(layer, role, self.params.setdefault(name, getattr(layer, role)))
        return layer

    def reset(self):
        with torch.no_grad():
            for name, param in self.params.items():
                param.copy_(torch.tensor(self.plan.weights[name]))
                param.grad = None
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        settings, groups = self.plan.optimizer, {}
        for entry in self.plan.params:  # parameters that share their factors share a group
            if entry["role"] != "weight":
                continue
            factors = self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
            groups.setdefault(factors, []).append(self.params[entry["name"]])
        return torch.optim.SGD(
            [{"params": params, "lr_mult": lr_mult, "weight_decay": settings["weight_decay"] * decay_mult}
             for (lr_mult, decay_mult), params in groups.items()],
            lr=0.0, momentum=settings["momentum"], nesterov=settings["nesterov"] and settings["momentum"] > 0)

    def tensors(self, x, y):
        x = torch.from_numpy(x)
        return x.contiguous(memory_format=self.images) if x.dim() == 4 else x, torch.from_numpy(y)

    def loss(self, logits, y):
        return F.cross_entropy(logits, y)

    def forward(self, x, y, train):
        x, y = self.tensors(x, y)
        self.model.train(train)
        with torch.no_grad(), counting() as counter:
            logits = self.model(x)
            loss = self.loss(logits, y)
        self.model.train()
        result = {"x": x.numpy(), "y": y.numpy(), "logits": logits.numpy(), "loss": loss.numpy()}
        if counter is not None:
            result["multiply_adds"] = counter.get_total_flops() // 2 // len(x)
        return result

    def backward(self, x, y, train):
        x, y = self.tensors(x, y)
        self.model.train(train)
        self.model.zero_grad(set_to_none=True)
        loss = self.loss(self.model(x), y)
        loss.backward()
        gradients = {name: param.grad.numpy() for name, param in self.params.items()}
        self.model.zero_grad(set_to_none=True)
        self.model.train()
        return loss.detach().numpy(), gradients

    def train_step(self, x, y, lr):
        x, y = self.tensors(x, y)
        for group in self.optimizer.param_groups:
            group["lr"] = lr * group["lr_mult"]
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def losses(self, handles):
        return torch.stack(handles).tolist()

    def weights(self):
        return {name: param.detach().numpy() for name, param in self.params.items()}

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "allocate memory" in str(error) or "not enough memory" in str(error)


class counting:
    """Counts the operations inside, with PyTorch's own counter; gives None where PyTorch is too old to have one."""

    def __enter__(self):
        try:
            from torch.utils.flop_counter import FlopCounterMode
        except ImportError:
            self.counter = None
            return None
        self.counter = FlopCounterMode(display=False)
        return self.counter.__enter__()

    def __exit__(self, *error):
        return self.counter.__exit__(*error) if self.counter is not None else None


def libraries():
    """What PyTorch says it was built with and uses."""
    lines = (line.strip(" -") for line in torch.__config__.show().splitlines())
    wanted = re.compile(r"Math Kernel Library|MKL-DNN|oneDNN|OpenMP|LAPACK|CPU capability")
    return [line for line in lines if wanted.search(line) and "Build settings" not in line]


if __name__ == "__main__":
    common.serve(PyTorch())
