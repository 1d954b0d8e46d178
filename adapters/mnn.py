"""MNN on the CPU: the network built by its expressions, saved as MNN's own file, and a module loaded from that. It answers
requests and does not train."""

import importlib.metadata
import math
import os
import shutil
import tempfile

import common
import converted
import numpy as np

with common.importing("MNN"):
    import MNN.expr as F
    from MNN import nn

INPUT, OUTPUT = "x", "y"
# Operators of values alone: what computes them, of values in the graph's order of axes, and the node's attributes.
PLAIN = {
    "Tanh": lambda x, attrs: F.tanh(x),
    "Sigmoid": lambda x, attrs: F.sigmoid(x),
    "HardSigmoid": lambda x, attrs: F.relu6(x * number(attrs["alpha"]) + number(attrs["beta"]), 0.0, 1.0),
    "HardSwish": lambda x, attrs: x * F.relu6(x + number(3), 0.0, 6.0) * number(1 / 6),
    "Swish": lambda x, attrs: x * F.sigmoid(x),
    "Elu": lambda x, attrs: F.elu(x, attrs["alpha"]),
    "Selu": lambda x, attrs: F.selu(x, attrs["gamma"], attrs["alpha"]),
    "Softplus": lambda x, attrs: F.softplus(x),
    "Softsign": lambda x, attrs: F.softsign(x),
    "Mish": lambda x, attrs: x * F.tanh(F.softplus(x)),
    "Sqrt": lambda x, attrs: F.sqrt(x),
    "Exp": lambda x, attrs: F.exp(x),
    "Pow": lambda x, attrs: F.pow(x, number(attrs["exponent"])),
    "Softmax": lambda x, attrs: F.softmax(x, attrs["axis"]),
    "LogSoftmax": lambda x, attrs: log_softmax(x, attrs["axis"]),
    "GlobalAveragePool": lambda x, attrs: F.reduce_mean(x, [2, 3], True),
    "GlobalMaxPool": lambda x, attrs: F.reduce_max(x, [2, 3], True),
    "Flatten": lambda x, attrs: F.reshape(x, [x.shape[0], -1]),
    "Reshape": lambda x, attrs: F.reshape(x, [x.shape[0], *attrs["shape"][1:]]),
    "Transpose": lambda x, attrs: F.transpose(x, attrs["perm"]),
    "ReduceMean": lambda x, attrs: F.reduce_mean(x, attrs["axes"], bool(attrs["keepdims"])),
    "Split": lambda x, attrs: F.split(x, attrs["split"], attrs["axis"]),
}
SAME_FORM = {  # of these, blocks of four channels stay what they are
    "Relu": lambda x, attrs: F.relu(x),
    "LeakyRelu": lambda x, attrs: F.relu(x, attrs["alpha"]),
    "Clip": lambda x, attrs: F.relu6(x, attrs["min"], attrs["max"]),
    "Dropout": lambda x, attrs: x,
}
PAIRS = {"Add": F.add, "Sub": F.subtract, "Mul": F.multiply, "Div": F.divide, "MatMul": F.matmul}


class Mnn(converted.ConvertedAdapter):
    name = "mnn"
    framework = "MNN"
    version = importlib.metadata.version("MNN")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "MaxPool", "AveragePool", "Gelu", "Concat", *PLAIN, *SAME_FORM, *PAIRS)
    extras = ("label_smoothing", "connections", "broadcast")
    options = {"precision": "high"}
    forms = {"mnn": True}

    def build(self, plan):
        self.written, deviations = None, []
        self.path = plan.form_path
        if not plan.form:
            self.written = tempfile.TemporaryDirectory(prefix="yardstick-mnn-")
            self.path = os.path.join(self.written.name, "model.mnn")
            write(plan, self.path)
            lost = sum(not found for found in converted.find(self.path, plan.weights).values())
            deviations += ["%d of %d parameters merged into others" % (lost, len(plan.params))] * bool(lost)
        precision = self.option("precision")
        settings = {"backend": "CPU", "precision": precision, "numThread": plan.threads}
        self.module = nn.load_module_from_file(self.path, [INPUT], [OUTPUT], runtime_manager=nn.create_runtime_manager((settings,)),
                                               shape_mutable=False)
        return {
            **({} if plan.form else {"parameters": self.parameters(plan.weights)}),
            "threads": plan.threads,
            "libraries": ["MNN %s" % self.version],
            "deviations": deviations + ["precision: %s" % precision] * (precision != "high"),
        }

    def save_form(self, form, path):
        shutil.copy(self.path, path)

    def infer_step(self, x):
        x = np.ascontiguousarray(x, np.float32)
        answer = self.module.forward(F.const(x, list(x.shape), F.NCHW))
        return np.array(answer.read())

    def close(self):
        if self.written:
            self.written.cleanup()


def write(plan, path):
    """Saves the plan's graph with its weights as a file of MNN's."""
    entry = plan.graph["inputs"][0]
    values = {entry["name"]: F.placeholder([plan.batch_size, *entry["shape"][1:]], F.NCHW, F.float)}
    values[entry["name"]].name = INPUT
    for node in plan.graph["nodes"]:
        ins = [values[name] for name in node["in"]]
        weights = {place: plan.weights[name] for place, name in node["params"].items()}
        found = compute(node, ins, weights)
        values.update(zip(node["out"], found if isinstance(found, (list, tuple)) else [found]))
    answer = plain(values[plan.graph["output"]])
    answer.name = OUTPUT
    F.save([answer], path)


def compute(node, ins, weights):
    op, attrs = node["op"], node["attrs"]
    special = SPECIAL.get(op)
    if special:
        return special(ins[0], attrs, weights)
    if op in SAME_FORM:
        return SAME_FORM[op](ins[0], attrs)
    if op == "Concat":
        return F.concat([plain(value) for value in ins], attrs["axis"])
    if op in PAIRS:
        blocks = all(value.data_format == F.NC4HW4 and value.shape == ins[0].shape for value in ins)
        return PAIRS[op](*(ins if blocks else map(plain, ins)))
    return PLAIN[op](plain(ins[0]), attrs)


def log_softmax(x, axis):
    x = x - F.reduce_max(x, [axis], True)
    return x - F.log(F.reduce_sum(F.exp(x), [axis], True))


def number(value):
    return F.const(np.float32([value]), [1], F.NCHW)


def constant(values):
    values = np.ascontiguousarray(values, np.float32)
    return F.const(values, list(values.shape), F.NCHW)


def plain(value):
    """A value in the graph's order of axes."""
    return value if value.data_format == F.NCHW else F.convert(value, F.NCHW)


def blocks(value):
    """A value in MNN's blocks of four channels, which convolutions and pools want."""
    return value if value.data_format == F.NC4HW4 else F.convert(value, F.NC4HW4)


def normalize(x, attrs, _weights):
    std = np.ones(x.shape[1]) * attrs["std"]
    shape = [1, -1] + [1] * (len(x.shape) - 2)
    return x * constant((attrs["scale"] / std).reshape(shape)) - constant((np.array(attrs["mean"]) / std).reshape(shape))


def convolve(x, attrs, weights):
    weight = weights["weight"]
    bias = weights.get("bias", np.zeros(len(weight), np.float32))
    (top, left, bottom, right), (down, across) = attrs["pads"], attrs["strides"]
    if (top, left) != (bottom, right):
        x, top, left = pad(x, attrs["pads"]), 0, 0

    def one(value, first, last, groups):
        return F.conv2d(blocks(value), constant(weight[first:last]), constant(bias[first:last]), (across, down), (left, top),
                        tuple(reversed(attrs["dilations"])), groups, F.CAFFE)

    groups, outs = attrs["group"], len(weight)
    if groups == 1 or groups == outs == x.shape[1]:
        return one(x, 0, outs, groups)
    size = outs // groups  # its expression has one group, or one for each channel
    parts = F.split(plain(x), [weight.shape[1]] * groups, 1)
    return F.concat([plain(one(part, i * size, (i + 1) * size, 1)) for i, part in enumerate(parts)], 1)


def multiply_matrix(x, _attrs, weights):
    product = F.matmul(plain(x), constant(weights["weight"]), False, True)
    return product + constant(weights["bias"]) if "bias" in weights else product


def normalize_batch(x, attrs, weights):
    scale = weights["weight"].astype(np.float64) / np.sqrt(weights["running_var"].astype(np.float64) + attrs["epsilon"])
    bias = weights["bias"] - weights["running_mean"] * scale
    if len(x.shape) == 4:
        return F.scale(blocks(x), len(scale), scale.tolist(), bias.tolist())
    return plain(x) * constant(scale) + constant(bias)


def pad(x, pads):
    """Zeros around images."""
    top, left, bottom, right = pads
    return F.pad(plain(x), constant_integers([[0, 0], [0, 0], [top, bottom], [left, right]]))


def constant_integers(values):
    return F.const(np.int32(values), list(np.shape(values)), F.NCHW, F.int)


def refuse_pool(op, attrs, extent):
    """Raises Unsupported for what MNN has no words for, or other results."""
    top, left, bottom, right = attrs["pads"]
    if attrs["dilations"] != [1, 1]:
        raise common.Unsupported("%s with dilation: MNN has none" % op, op)
    spans = [size + padding - kernel for size, padding, kernel in zip(extent, (top + bottom, left + right), attrs["kernel_shape"])]
    if attrs.get("ceil_mode") and any(span % stride for span, stride in zip(spans, attrs["strides"])):
        raise common.Unsupported("%s with ceil_mode whose last window is cut" % op, op)


def pool_largest(x, attrs, _weights):
    refuse_pool("MaxPool", attrs, x.shape[2:])
    (top, left, bottom, right), (down, across) = attrs["pads"], attrs["strides"]
    if (top, left) != (bottom, right):
        raise common.Unsupported("MaxPool with other padding at one side than at the other", "MaxPool")
    if not any(attrs["pads"]):
        return F.max_pool(blocks(x), list(reversed(attrs["kernel_shape"])), [across, down], F.VALID)
    sizes = [(size + 2 * padding - kernel) // stride + 1
             for size, padding, kernel, stride in zip(x.shape[2:], (top, left), attrs["kernel_shape"], attrs["strides"])]
    value = F.max_pool(blocks(x), list(reversed(attrs["kernel_shape"])), [across, down], F.CAFFE, [left, top])
    if list(value.shape[2:]) == sizes:
        return value
    ends = constant_integers([*value.shape[:2], *sizes])  # MNN adds a window that is cut
    return F.strided_slice(plain(value), constant_integers([0] * 4), ends, constant_integers([1] * 4))


def pool_mean(x, attrs, _weights):
    refuse_pool("AveragePool", attrs, x.shape[2:])
    if any(attrs["pads"]):
        if not attrs["count_include_pad"]:
            raise common.Unsupported("AveragePool whose padding does not count", "AveragePool")
        x = pad(x, attrs["pads"])
    return F.avg_pool(blocks(x), list(reversed(attrs["kernel_shape"])), list(reversed(attrs["strides"])), F.VALID)


def gelu(x, attrs, _weights):
    x = plain(x)
    if attrs["approximate"] == "tanh":
        inner = (x + x * x * x * number(0.044715)) * number(math.sqrt(2 / math.pi))
        return x * number(0.5) * (F.tanh(inner) + number(1))
    return x * number(0.5) * (F.erf(x * number(math.sqrt(0.5))) + number(1))


SPECIAL = {"normalize": normalize, "Conv": convolve, "Gemm": multiply_matrix, "BatchNormalization": normalize_batch,
           "MaxPool": pool_largest, "AveragePool": pool_mean, "Gelu": gelu}


if __name__ == "__main__":
    common.serve(Mnn())
