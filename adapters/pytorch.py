"""PyTorch on the CPU, 1.13 and later: eager, or compiled by torch.compile.

The graph becomes the program that one would write by hand: torch.nn modules, called in order by a forward() that torch.fx
writes. Modules of our own, in pytorch_network.py, are only for what torch.nn lacks.
"""

import collections
import contextlib
import operator
import os
import re
import shutil
import sysconfig
import time

import common
import common_graph
import common_meeting
import common_places
import numpy as np
from common_feed import Rows

with common.importing("PyTorch"):
    import torch
    import torch.nn.functional as F
    from torch import fx, nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.nn.utils import skip_init
    torch.from_numpy(np.zeros(1))  # with a NumPy that it was not built for PyTorch imports, and fails here

from pytorch_network import (Attention, AveragePool, BatchNorm, CachedAttention, ConnectedConv2d, Crop,
                             ForwardLocalResponseNorm, HardSigmoid, JoinedBatchNorm, Normalize, Operand, Pad, PlacedOperand,
                             Recurrent, Rotary, Selu, Sinusoid, last_counted, pad_axes)

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.float32}  # of parameters

# Those that have neither parameters nor anything to decide; LAYERS by their attributes, CALLS by their inputs too.
LAYERS = {
    "LeakyRelu": lambda attrs: nn.LeakyReLU(attrs["alpha"]),
    "Tanh": lambda attrs: nn.Tanh(),
    "Sigmoid": lambda attrs: nn.Sigmoid(),
    "HardSwish": lambda attrs: nn.Hardswish(),
    "HardSigmoid": lambda attrs: HardSigmoid(attrs["alpha"], attrs["beta"]),
    "Swish": lambda attrs: nn.SiLU(),
    "Gelu": lambda attrs: nn.GELU(attrs["approximate"]),
    "Elu": lambda attrs: nn.ELU(attrs["alpha"]),
    "Selu": lambda attrs: Selu(attrs["alpha"], attrs["gamma"]),
    "Celu": lambda attrs: nn.CELU(attrs["alpha"]),
    "Softplus": lambda attrs: nn.Softplus(threshold=50),  # from 20 on, PyTorch's own, it would leave out what doubles see
    "Softsign": lambda attrs: nn.Softsign(),
    "Mish": lambda attrs: nn.Mish(),
    "Softmax": lambda attrs: nn.Softmax(attrs["axis"]),
    "LogSoftmax": lambda attrs: nn.LogSoftmax(attrs["axis"]),
    "GlobalAveragePool": lambda attrs: nn.AdaptiveAvgPool2d(1),
    "GlobalMaxPool": lambda attrs: nn.AdaptiveMaxPool2d(1),
    "Flatten": lambda attrs: nn.Flatten(),
    "Dropout": lambda attrs: nn.Dropout(attrs["ratio"]),
}
PAIRS = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv}
CALLS = {
    "Pad": lambda code, x, attrs: code.call_function(
        pad_axes, (x[0], attrs["mode"], common_graph.sides_of(attrs), attrs["value"])),
    "last": lambda code, x, attrs: code.call_function(last_counted, tuple(x)),
    "Exp": lambda code, x, attrs: code.call_function(torch.exp, tuple(x)),
    "Sqrt": lambda code, x, attrs: code.call_function(torch.sqrt, tuple(x)),
    "Pow": lambda code, x, attrs: code.call_function(torch.pow, (x[0], attrs["exponent"])),
    "Concat": lambda code, x, attrs: code.call_function(torch.cat, (x, attrs["axis"])),
    "MatMul": lambda code, x, attrs: code.call_function(torch.matmul, tuple(x)),
    "Split": lambda code, x, attrs: code.call_function(torch.split, (x[0], attrs["split"], attrs["axis"])),
    "Reshape": lambda code, x, attrs: code.call_method("reshape", (x[0], -1, *attrs["shape"][1:])),
    "Transpose": lambda code, x, attrs: code.call_method("permute", (x[0], *attrs["perm"])),
    "ReduceMean": lambda code, x, attrs: code.call_function(torch.mean, (x[0], attrs["axes"], bool(attrs["keepdims"]))),
}
# Their backward pass does not read what they made, so its only reader may write over it, as PyTorch's own models do.
FORGETFUL = ("Conv", "Gemm", "BatchNormalization", "Add", "MaxPool", "AveragePool")

OPTIMIZERS = {
    "sgd": lambda groups, s: torch.optim.SGD(
        groups, lr=0.0, momentum=s["momentum"], nesterov=s["nesterov"] and s["momentum"] > 0),
    "adam": lambda groups, s: torch.optim.Adam(groups, lr=0.0, betas=(s["beta1"], s["beta2"]), eps=s["epsilon"]),
    "adamw": lambda groups, s: torch.optim.AdamW(groups, lr=0.0, betas=(s["beta1"], s["beta2"]), eps=s["epsilon"]),
    "rmsprop": lambda groups, s: torch.optim.RMSprop(
        groups, lr=0.0, alpha=s["alpha"], eps=s["epsilon"], momentum=s["momentum"]),
}


class PyTorch(common.Adapter):
    name = "pytorch"
    framework = "PyTorch"
    version = torch.__version__
    precisions = ("f32", "f64", "bf16")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "ConvTranspose", "Gemm", "BatchNormalization", "LayerNormalization", "LRN", "MaxPool", "AveragePool", "Relu", "Clip",
           "Embedding", *(("Attention",) if hasattr(F, "scaled_dot_product_attention") else ()), "LSTM", "GRU", "RotaryEmbedding", "sinusoid",
           *(("RMSNormalization",) if hasattr(nn, "RMSNorm") else ()), *LAYERS, *CALLS, *PAIRS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = tuple(OPTIMIZERS)
    extras = ("clip_norm", "label_smoothing", "connections", "inputs", "tokens", "targets", "shared", "broadcast",
              "operands", "positions", "hidden", "carried", "prompt")
    options = {"channels_last": False, "compile": "off"}
    forms = {"pt": False, "torchscript": True, **dict.fromkeys(["pt2"] * hasattr(torch, "export"), True), "safetensors": False}
    statistics = ("local", "sync")
    exchanges_by = "ring"
    strategies = ("data", "sharded", "alone")
    weighs = True
    buckets = True
    loader = "torch.utils.data.DataLoader"

    def build(self, plan):
        torch.set_num_threads(plan.threads)
        if torch.get_num_interop_threads() != 1:  # may be set once in a process
            torch.set_num_interop_threads(1)
        if plan.prompt and self.option("compile") != "off":
            raise common.Unsupported("prompt with compile = %s: a cache that grows would be compiled for each token"
                                     % self.option("compile"))
        deviations = ["channels_last memory format"] if self.option("channels_last") else []
        self.model = self.run = self.network() if not self.forms.get(plan.form) else self.loaded()
        if plan.exchanges:
            self.run = self.distribute()
        if self.option("compile") != "off":
            need_compiler()
            self.run = torch.compile(self.run, mode=self.option("compile"))
            deviations.append("torch.compile, mode %s" % self.option("compile"))
        self.reset()
        if plan.form == "pt":
            self.model.load_state_dict(torch.load(plan.form_path, weights_only=True))
        if plan.mode != "train" and self.model.training:
            self.model.eval()
        if plan.mode == "attack":
            self.model.requires_grad_(False)
        if plan.mode == "infer":
            # Entered once for all requests, so that autocast keeps its bfloat16 copies of the weights: in inference_mode
            # it would make them anew for each.
            self.contexts = contextlib.ExitStack()
            self.contexts.enter_context(torch.no_grad() if plan.precision == "bf16" else torch.inference_mode())
            self.contexts.enter_context(self.casting())
        return {
            "parameters": sum(param.numel() for param in self.model.parameters()) - plan.untrained(),
            "threads": torch.get_num_threads(),
            "libraries": libraries(),
            "deviations": deviations,
        }

    def distribute(self):
        """The network as one of several ranks trains it: after each backward pass gradients are the means of all, taken in
        buckets while the pass goes on."""
        common_meeting.name_interface(self.plan.address)
        torch.distributed.init_process_group("gloo", init_method="tcp://" + self.plan.rendezvous,
                                             rank=self.plan.rank, world_size=self.plan.world)
        if self.plan.strategy == "sharded":
            self.untimed = "each layer is exchanged by itself, in the forward and the backward pass"
            self.exchanges_by = "shards"
            return self.shard()
        self.note_gradients()
        # Rank 0's running statistics are those of all. Constants of the network need not travel.
        size = {} if self.plan.bucket_bytes is None else {"bucket_cap_mb": self.plan.bucket_bytes / 2**20}
        return DistributedDataParallel(self.model, broadcast_buffers=bool(self.buffers()), **size)

    def shard(self):
        """The network as FSDP2 trains it: of every parameter, its gradient and the optimizer's state each rank keeps a part;
        a layer's parameters are whole while it is passed alone."""
        try:
            import torch.distributed.tensor
            from torch.distributed.fsdp import fully_shard
        except ImportError:
            raise common.Unsupported("strategy sharded: PyTorch %s has no fully_shard, it came with 2.6" % torch.__version__)
        if self.plan.bucket_bytes is not None:
            raise common.Unsupported("strategy sharded: each layer is exchanged by itself, write bucket = auto")
        mesh = torch.distributed.init_device_mesh("cpu", (self.plan.world,))
        if not common_graph.extras(self.plan.graph)["shared"]:  # layers that share parameters are one group
            for layer in self.model.children():
                if next(layer.parameters(), None) is not None:
                    fully_shard(layer, mesh=mesh)
        fully_shard(self.model, mesh=mesh, reshard_after_forward=True)  # parts are what is written, and read again
        self.params = {name: getattr(layer, role) for name, (layer, role) in self.owned.items()}
        return self.model

    def note_gradients(self):
        """From now on ranks tell how long they exchange."""
        weights = list(self.model.parameters())
        if all(hasattr(weight, "register_post_accumulate_grad_hook") for weight in weights):  # since 2.1
            self.exchanged = []
            for weight in weights:
                weight.register_post_accumulate_grad_hook(self.note_gradient)
        else:
            self.untimed = "PyTorch %s does not say when a gradient is complete, 2.1 is the first that does" % torch.__version__

    def note_gradient(self, _weight):
        """The last of these calls in a step comes when all gradients of this rank are there."""
        self.ready_ns = time.monotonic_ns()

    def network(self):
        """The graph as a module, whose forward() calls one layer after the other and lets go of values after their last
        use. self.params gets its parameters and buffers, under their names in the graph."""
        graph = self.plan.graph
        self.dtype = DTYPES[self.plan.precision]
        self.images = torch.channels_last if self.option("channels_last") else torch.contiguous_format
        self.owned = {}  # name in the graph -> layer, its name there
        self.place = common_places.Place()
        self.positions = self.plan.prompt and self.plan.prompt + self.plan.tokens
        self.recurrents = {}  # node -> layer, of those that can carry a state
        code, layers, makers = fx.Graph(), {}, {}
        values = {entry["name"]: code.placeholder("input%d" % place) for place, entry in enumerate(graph["inputs"])}
        for entry in graph["inputs"]:
            if entry["dtype"] == "F32" and self.dtype != torch.float32:
                values[entry["name"]] = code.call_method("to", (values[entry["name"]], self.dtype))
        self.ranks = {entry["name"]: len(entry["shape"]) for entry in graph["inputs"]}
        readers = collections.Counter(name for node in graph["nodes"] for name in node["in"])
        readers[graph["output"]] += 1
        for node in graph["nodes"]:
            op, attrs, inputs = node["op"], node.get("attrs", {}), [values[name] for name in node["in"]]
            spare = [readers[name] == 1 and makers.get(name) in FORGETFUL for name in node["in"]]
            if op == "Add" and len(inputs) == 2 and not attrs.get("broadcast"):
                own, other = inputs if spare[0] else reversed(inputs)
                result = code.call_function(operator.iadd if any(spare) else operator.add, (own, other))
            elif op in PAIRS and len(inputs) == 2:
                result = code.call_function(PAIRS[op], tuple(inputs))
            elif op in CALLS:
                result = CALLS[op](code, inputs, attrs)
            else:
                key = "layer%d" % len(layers)
                layers[key] = self.layer(node, attrs, spare[0])
                if op in ("LSTM", "GRU"):
                    self.recurrents[node["name"]] = layers[key]
                result = code.call_module(key, tuple(inputs))
            parts = [result] if op != "Split" else [
                code.call_function(operator.getitem, (result, part)) for part in range(len(node["out"]))]
            values.update(zip(node["out"], parts))
            makers.update(dict.fromkeys(node["out"], op))
        code.output(values[graph["output"]])
        model = fx.GraphModule(layers, code).to(memory_format=self.images)
        self.params = {name: getattr(layer, role) for name, (layer, role) in self.owned.items()}
        return model

    def loaded(self):
        """The network of the plan's file, whose parameters have names of their own."""
        self.dtype, self.params, self.images = DTYPES[self.plan.precision], {}, torch.contiguous_format
        if self.plan.form == "torchscript":
            return torch.jit.load(self.plan.form_path)
        program = torch.export.load(self.plan.form_path).module()
        program.training = False  # as it was exported, and eval() refuses to say
        return program

    def save_form(self, form, path):
        if form == "pt":
            torch.save(self.model.state_dict(), path)
            return None
        example = self.tensors(self.plan.rows(0))
        if form == "torchscript":
            torch.jit.save(torch.jit.trace(self.model, example), path)
            return None
        torch.export.save(torch.export.export(self.model, example), path + ".pt2")  # the ending by which it knows its files
        return {"path": path + ".pt2"}

    def layer(self, node, attrs, in_place):
        op, names = node["op"], node.get("params", {})
        if op == "normalize":
            return Normalize(attrs["scale"], attrs["mean"], attrs["std"], self.ranks[node["in"][0]], self.dtype)
        if op == "Conv":
            return self.conv(attrs, names)
        if op == "ConvTranspose":
            return self.conv_transpose(attrs, names)
        if op == "Gemm":
            out_features, in_features = self.plan.weights[names["weight"]].shape
            layer = skip_init(nn.Linear, in_features, out_features, bias="bias" in names, dtype=self.dtype)
            return self.own(layer, names)
        if op == "BatchNormalization":
            return self.batch_norm(attrs, names)
        if op == "LayerNormalization":
            layer = nn.LayerNorm(self.plan.weights[names["weight"]].shape, attrs["epsilon"], bias="bias" in names,
                                 dtype=self.dtype)
            return self.own(layer, names)
        if op == "RMSNormalization":
            return self.own(nn.RMSNorm(self.plan.weights[names["weight"]].shape, attrs["epsilon"], dtype=self.dtype), names)
        if op in ("RotaryEmbedding", "sinusoid"):
            return (Rotary if op == "RotaryEmbedding" else Sinusoid)(attrs, self.dtype, self.place, self.positions)
        if op == "Embedding":
            layer = skip_init(nn.Embedding, *self.plan.weights[names["weight"]].shape, dtype=self.dtype)
            return self.own(layer, names)
        if op == "Attention":
            return CachedAttention(attrs, self.place, self.positions) if self.plan.prompt else Attention(attrs)
        if op in ("LSTM", "GRU"):
            shapes = {role: self.plan.weights[name].shape for role, name in names.items()}
            return self.own(Recurrent(op, shapes, self.dtype), names)
        if op in PAIRS:
            shape = self.plan.weights[names["weight"]].shape
            if self.plan.prompt and len(shape) == 2 and shape[0] == self.positions:
                return self.own(PlacedOperand(PAIRS[op], shape, self.dtype, self.place), names)
            return self.own(Operand(PAIRS[op], shape, self.dtype), names)
        if op == "LRN":
            kind = nn.LocalResponseNorm if attrs["size"] % 2 else ForwardLocalResponseNorm
            return kind(attrs["size"], attrs["alpha"], attrs["beta"], attrs["bias"])
        if op == "MaxPool":
            return self.max_pool(attrs)
        if op == "AveragePool":
            return self.average_pool(attrs)
        if op == "Relu":
            return nn.ReLU(in_place)
        if op == "Clip":
            return nn.Hardtanh(attrs["min"], attrs["max"], in_place)
        return LAYERS[op](attrs)

    def conv(self, attrs, names):
        filters, channels, *kernel = self.plan.weights[names["weight"]].shape
        group, (top, left, bottom, right) = attrs["group"], attrs["pads"]
        even = (top, left) == (bottom, right)
        layer = self.own(skip_init(
            ConnectedConv2d if "connections" in attrs else nn.Conv2d, channels * group, filters, kernel,
            stride=attrs["strides"], padding=(top, left) if even else 0, dilation=attrs["dilations"], groups=group,
            bias="bias" in names, dtype=self.dtype), names)
        if "connections" in attrs:
            layer.connect(attrs)
        return layer if even else nn.Sequential(nn.ZeroPad2d((left, right, top, bottom)), layer)

    def conv_transpose(self, attrs, names):
        channels, filters, *kernel = self.plan.weights[names["weight"]].shape
        pads = attrs["pads"]
        even = pads[:2] == pads[2:]
        layer = self.own(skip_init(
            nn.ConvTranspose2d, channels, filters * attrs["group"], kernel, stride=attrs["strides"],
            padding=pads[:2] if even else 0, output_padding=attrs["output_padding"], dilation=attrs["dilations"],
            groups=attrs["group"], bias="bias" in names, dtype=self.dtype), names)
        return layer if even else nn.Sequential(layer, Crop(pads))

    def batch_norm(self, attrs, names):
        channels, = self.plan.weights[names["weight"]].shape
        kind = JoinedBatchNorm if self.plan.world > 1 and self.plan.statistics == "sync" else BatchNorm
        return self.own(kind(channels, attrs["epsilon"], attrs["momentum"], dtype=self.dtype), names)

    def max_pool(self, attrs):
        kernel, strides, dilations = attrs["kernel_shape"], attrs["strides"], attrs["dilations"]
        if pads_evenly(attrs):
            return nn.MaxPool2d(kernel, strides, attrs["pads"][:2], dilations, ceil_mode=bool(attrs["ceil_mode"]))
        return nn.Sequential(Pad(attrs, float("-inf")), nn.MaxPool2d(kernel, strides, 0, dilations))

    def average_pool(self, attrs):
        if pads_evenly(attrs) and attrs["dilations"] == [1, 1]:
            return nn.AvgPool2d(attrs["kernel_shape"], attrs["strides"], attrs["pads"][:2], bool(attrs["ceil_mode"]),
                                bool(attrs["count_include_pad"]))
        return AveragePool(attrs)

    def own(self, layer, names):
        for role, name in names.items():
            if name in self.owned:  # of another node too: both layers have the one parameter
                first, first_role = self.owned[name]
                setattr(layer, role, getattr(first, first_role))
            else:
                self.owned[name] = layer, role
        return layer

    def reset(self):
        torch.manual_seed(self.plan.own_seed)
        torch.clear_autocast_cache()
        for name, param in self.params.items():
            fill(param, self.plan.weights[name])
            param.grad = None
        if self.plan.mode == "train":
            self.optimizer = self.make_optimizer()
        if self.plan.carries_state:
            self.clear_carried_state()

    def clear_carried_state(self):
        for layer in self.recurrents.values():
            zeros = torch.zeros(1, self.plan.batch_size, layer.hidden, dtype=self.dtype)
            layer.start = [zeros] * (2 if layer.op == "LSTM" else 1)

    def carry_state(self):
        for layer in self.recurrents.values():
            layer.start, layer.end = [one.detach() for one in layer.end], None

    def carried_state(self):
        layers = self.recurrents.items()
        return {kind: {name: layer.start[place][0].to(self.dtype).numpy() for name, layer in layers if place < len(layer.start)}
                for place, kind in enumerate("hc")}

    def make_optimizer(self):
        settings, groups = self.plan.optimizer, {}
        for entry in self.plan.params:  # parameters that share their factors share a group
            if entry["role"] != "weight":
                continue
            factors = self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
            groups.setdefault(factors, []).append(self.params[entry["name"]])
        return OPTIMIZERS[settings["name"]](
            [{"params": params, "lr_mult": lr_mult, "weight_decay": settings["weight_decay"] * decay_mult}
             for (lr_mult, decay_mult), params in groups.items()], settings)

    def casting(self):
        return torch.autocast("cpu", torch.bfloat16) if self.plan.precision == "bf16" else contextlib.nullcontext()

    def tensors(self, x):
        """The inputs of a batch, as a tuple."""
        return tuple(map(self.tensor, x if isinstance(x, tuple) else (x,)))

    def tensor(self, x):
        x = torch.from_numpy(x)
        return x.contiguous(memory_format=self.images) if x.dim() == 4 else x

    def loss(self, logits, y):
        if self.plan.target == "vector":
            return F.mse_loss(logits, y.to(logits.dtype))
        if logits.dim() > 2:  # a class for each position, as so many rows
            logits, y = logits.flatten(0, -2), y.flatten()
        if self.plan.loss == "nll":
            return F.nll_loss(logits, y, ignore_index=-1)
        if self.plan.loss == "mean_squared_error":
            if self.plan.hides_targets:
                logits, y = logits[y >= 0], y[y >= 0]
            return F.mse_loss(logits, F.one_hot(y, logits.shape[1]).to(logits.dtype))
        return F.cross_entropy(logits, y, ignore_index=-1, label_smoothing=self.plan.label_smoothing)

    def pass_forward(self, model, x, y):
        with self.casting():
            logits = self.pass_pieces(model, *x) if self.plan.prompt else model(*x)
            return logits, self.loss(logits, y)

    def pass_pieces(self, model, x):
        made = []
        for self.place.at, end in self.plan.pieces():
            made.append(model(x[:, self.place.at:end]))
        return torch.cat(made, 1)

    @contextlib.contextmanager
    def unchanged(self, train):
        """Inside, the model is in that mode; afterwards it is as before, with its running statistics."""
        before, kept, random = self.model.training, [buffer.clone() for buffer in self.buffers()], torch.get_rng_state()
        self.model.train(train)
        try:
            yield
        finally:
            self.model.train(before)
            torch.set_rng_state(random)
            for buffer, values in zip(self.buffers(), kept):
                buffer.copy_(values)

    def buffers(self):
        return [param for param in self.params.values() if not isinstance(param, nn.Parameter)]

    def forward(self, x, y, train):
        x, y = self.tensors(x), torch.from_numpy(y)
        with self.unchanged(train), torch.no_grad():
            with counting() as counter:
                logits, loss = self.pass_forward(self.model, x, y)
            if self.option("compile") != "off":  # compiled code cannot be counted
                logits, loss = self.pass_forward(self.run, x, y)
        result = {"y": y.numpy(), "logits": logits.to(self.dtype).numpy(), "loss": loss.numpy()}
        result.update((name, array.numpy()) for name, array in zip(self.plan.inputs, x))
        if counter is not None and not any(map(miscounted, self.model.modules())):
            result["multiply_adds"] = counter.get_total_flops() // 2 // len(y)
        return result

    def backward(self, x, y, train):
        with self.unchanged(train):
            self.model.zero_grad(set_to_none=True)
            _, loss = self.pass_forward(self.run, self.tensors(x), torch.from_numpy(y))
            self.run_backward(loss)
        gradients = {name: self.gradient(param) for name, param in self.params.items()}
        self.model.zero_grad(set_to_none=True)
        return loss.detach().numpy(), {name: value.numpy() for name, value in gradients.items() if value is not None}

    def gradient(self, param):
        return None if param.grad is None else whole(param.grad)

    def load(self, first, last):
        x, y, order = self.plan.stored()
        batches = torch.utils.data.DataLoader(Rows(x, y), batch_sampler=order[first:last].tolist(),
                                              num_workers=self.plan.loader_threads)
        for x, y in batches:
            yield tuple(array.numpy() for array in x) if isinstance(x, (tuple, list)) else x.numpy(), y.numpy()

    def train_step(self, x, y, lr):
        x, y = self.tensors(x), torch.from_numpy(y)
        for group in self.optimizer.param_groups:
            group["lr"] = lr * group["lr_mult"]
        self.optimizer.zero_grad(set_to_none=True)
        began_ns = time.monotonic_ns()
        _, loss = self.pass_forward(self.run, x, y)
        self.run_backward(loss)
        reduced_ns = time.monotonic_ns()
        if self.plan.optimizer["clip_norm"] is not None:
            self.clip(self.plan.optimizer["clip_norm"])
        self.update()
        if self.exchanged is not None:
            self.exchanged.append((began_ns, self.ready_ns, reduced_ns, time.monotonic_ns()))
        if self.plan.carries_state:
            self.carry_state()
        return loss.detach()

    def update(self):
        self.optimizer.step()

    def clip(self, limit):
        """As torch.nn.utils.clip_grad_norm_, which however adds 1e-6 to the norm."""
        gradients = [param.grad for param in self.model.parameters()]
        norm = whole(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients])))
        factor = limit / norm.clamp(min=limit)
        for gradient in gradients:
            gradient.mul_(factor)

    def input_gradient(self, x, cotangent):
        asked, evaluates = cotangent is not None, self.plan.mode != "train"
        with contextlib.nullcontext() if evaluates else self.unchanged(False), torch.inference_mode(False), \
                torch.set_grad_enabled(asked), self.casting():
            x = self.tensor(x).requires_grad_(asked)
            logits = self.run(x).to(self.dtype)
            gradient, = torch.autograd.grad(logits, x, torch.from_numpy(cotangent)) if asked else (None,)
        return logits.detach().numpy(), gradient

    def infer_step(self, x):
        return self.run(*self.tensors(x)).to(self.dtype).numpy()

    def infer_piece(self, x, first):
        self.place.at = first
        return self.infer_step(x)

    def losses(self, handles):
        return torch.stack(handles).tolist()

    def weights(self):
        return {name: whole(param.detach()).numpy() for name, param in self.params.items()}

    def optimizer_state(self):
        kept = {"momentum_buffer": "velocity", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq", "square_avg": "exp_avg_sq"}
        found = {}
        for name, param in self.params.items():
            for key, value in self.state_of(param).items():
                if key in kept and value is not None:
                    found.setdefault(kept[key], {})[name] = whole(value).numpy()
        return found

    def state_of(self, param):
        return self.optimizer.state.get(param, {})

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "allocate memory" in str(error) or "not enough memory" in str(error)


def whole(tensor):
    """Of what each rank keeps a part all of it, for which all ranks ask at once; anything else as it is."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def fill(param, values):
    if not hasattr(param, "full_tensor"):
        np.copyto(param.detach().numpy(), values)
        return
    own = torch.distributed.tensor.distribute_tensor(torch.tensor(values, dtype=param.dtype), param.device_mesh, param.placements)
    param.detach().copy_(own)


def miscounted(layer):
    """Whether PyTorch's counter misses a part of what it does: on a CPU it knows nothing of fused attention, and of
    recurrent layers."""
    return hasattr(layer, "absent") or isinstance(layer, (Attention, Recurrent))


def pads_evenly(attrs):
    """Whether a pool of torch.nn pads so: alike on opposite sides, and by half its window at most."""
    (top, left, bottom, right), kernel = attrs["pads"], attrs["kernel_shape"]
    return (top, left) == (bottom, right) and 2 * top <= kernel[0] and 2 * left <= kernel[1]


def need_compiler():
    """torch.compile asks for these in the first step only, and says less clearly what is missing."""
    if not hasattr(torch, "compile"):
        raise common.Unsupported("torch.compile: PyTorch %s has none, it came with 2.0" % torch.__version__)
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        raise common.BuildFailed("torch.compile needs a C++ compiler, and there is no %s: install g++, or name a compiler "
                                 "by env.CXX" % compiler)
    headers = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(headers, "Python.h")):
        raise common.BuildFailed("torch.compile needs Python's headers, and %s has no Python.h" % headers)


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
