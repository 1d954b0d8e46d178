#!/usr/bin/env python3
"""Judges the reader of ONNX files by the test sets of the package `onnx`: each case is imported, evaluated by the oracle in
double, and its result compared with the one that the case comes with. Prints a table by operator, as docs/onnx.md has
it; exits with 1 if anything is read wrongly.

    tools/judge_onnx.py [--build=DIR] [--set=node] [--only=TEXT] [--verbose]

A case of one operator is no network, so a network is made around it. What flows along is the first input, in one of
these ways, and each that is not refused is judged:

  as it is    axis 0 of the first input is the batch; the other inputs are initializers
  live        all inputs of floats flow along
  lifted      an axis is put before all others, and what the case says of axes is shifted by one: the case is a row
  constant    all inputs are initializers: the operator is computed when the file is read

The results are flattened, joined and passed through a convolution with the one weight 1: a network must have a weight.
A case is passed if one of the ways is right and none is wrong. A test set's own tolerance is 1e-3; here it is 1e-5 of the largest."""

import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "adapters"), os.path.join(ROOT, "tests", "python")]

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit("judge_onnx: needs Python with numpy and onnx (pip install onnx)")

TOLERANCE = 1e-5
SETS = ("node", "simple", "pytorch-operator", "pytorch-converted")
REALS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)


def source(path):
    with open(os.path.join(ROOT, "src", path), encoding="utf-8") as file:
        return file.read()


def entries(path, table):
    """The first column of a table of the reader."""
    rows = re.search(r"\b%s\[\] = \{\n(.*?)\n\};" % table, source(path), re.DOTALL).group(1)
    return set(re.findall(r'^    \{"(\w+)", ', rows, re.MULTILINE))


# Functions of one element, without attributes, that ONNX has under a name: the descriptors of the operators say so.
PLAIN = {name for rule in re.findall(r"ys_op_rule rule_\w+ = \{(.*?)\};", source("graph/op_table.c"), re.DOTALL)
         if "UNARY" in rule and "NO_ATTRS" in rule and "YS_OPKIND_POINTWISE" in rule for name in re.findall(r'\.onnx = "(\w+)"', rule)}
# Of the set `node`: the operators that are judged, those that the reader makes nodes of or computes. Sequences are no tensors.
OPERATORS = {name for name in PLAIN | entries("onnx/read/op_readers.c", "maps") | entries("onnx/file/fold_constants.c", "folds") if "Sequence" not in name}
# What the reader computes of constants and shapes alone, beside the operators of graphs.
FOLDED = ("Cast", "CastLike", "Constant", "ConstantOfShape", "Equal", "Expand", "Gather", "Identity", "Shape", "Slice")
# What an operator says of axes, in attributes and in inputs.
LIFTED_AXIS = {"Concat": 0, "Split": 0, "Softmax": -1, "LogSoftmax": -1, "LayerNormalization": -1}
LIFTED_PLAIN = PLAIN | {"Add", "Neg", "Abs", "Sub", "Mul", "Div", "Sum", "LeakyRelu", "Clip", "HardSigmoid", "Identity", "Dropout", "Cast",
                        "Pow", "Gelu", "Elu", "Swish", "MatMul"}


class Refused(Exception):
    """The program says why."""


def as_array(value):
    """Of a number too; what is no tensor, a sequence, stays what it is."""
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else value


class Case:
    """A model, its inputs and its outputs by name."""

    def __init__(self, name, model, inputs, outputs):
        self.name, self.model = name, model
        held = {tensor.name for tensor in model.graph.initializer}
        names = [value.name for value in model.graph.input if value.name not in held]
        self.inputs = dict(zip(names, map(as_array, inputs)))
        self.outputs = {value.name: as_array(out) for value, out in zip(model.graph.output, outputs)}
        self.ops = [node.op_type for node in model.graph.node]

    @property
    def operator(self):
        return self.ops[0] if len(set(self.ops)) == 1 else "several"


def node_cases():
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        if "_expanded" not in case.name and case.data_sets:
            inputs, outputs = case.data_sets[0]
            yield Case(case.name[5:], case.model, inputs, outputs)


def read_values(folder, what):
    count = len(glob.glob(os.path.join(folder, what + "_*.pb")))
    values = []
    for i in range(count):
        with open(os.path.join(folder, "%s_%d.pb" % (what, i)), "rb") as file:
            tensor = TensorProto()
            tensor.ParseFromString(file.read())
            values.append(numpy_helper.to_array(tensor))
    return values


def stored_cases(which):
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", which)
    for folder in sorted(glob.glob(os.path.join(data, "*"))):
        model = onnx.load(os.path.join(folder, "model.onnx"))
        values = os.path.join(folder, "test_data_set_0")
        try:
            yield Case(os.path.basename(folder)[5:], model, read_values(values, "input"), read_values(values, "output"))
        except Exception:  # sequences and maps, which are no tensors
            yield Case(os.path.basename(folder)[5:], model, [], [])


def light_file(name):
    """Of one of the nine light networks of the package."""
    return os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light", "light_%s.onnx" % name)


def headed(logits, answers):
    """What a file answers that ends in Softmax, which is left to the loss, or not: as `answers` are probabilities or not."""
    answers = np.asarray(answers)
    if answers.min() < 0 or np.abs(answers.sum(axis=1) - 1).max() > 1e-3:
        return logits
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def is_float(value):
    return isinstance(value, np.ndarray) and value.dtype == np.float32


def copy_of(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def wrap_up(model, outputs, size):
    """Adds what makes logits of the outputs, by name; `size` elements a row."""
    flat = []
    for i, (name, kind) in enumerate(outputs):
        if kind not in ("float32", "float64"):
            model.graph.node.append(helper.make_node("Cast", [name], ["real_%d" % i], name="judge/cast%d" % i, to=1))
            name = "real_%d" % i
        model.graph.node.append(helper.make_node("Flatten", [name], ["flat_%d" % i], name="judge/flat%d" % i, axis=1))
        flat.append("flat_%d" % i)
    if len(flat) > 1:
        model.graph.node.append(helper.make_node("Concat", flat, ["all"], name="judge/all", axis=1))
        flat = ["all"]
    nodes = [helper.make_node("Reshape", [flat[0], "judge_image"], ["judge_image_"], name="judge/image"),
             helper.make_node("Conv", ["judge_image_", "judge_one"], ["judge_same"], name="judge/one"),
             helper.make_node("Flatten", ["judge_same"], ["judged"], name="judge/flat", axis=1)]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(numpy_helper.from_array(np.array([-1, 1, 1, size], np.int64), "judge_image"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "judge_one"))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("judged", TensorProto.FLOAT, None))


def set_inputs(model, live, held):
    """Inputs that flow along, by name, and initializers."""
    stored = {tensor.name for tensor in model.graph.initializer}
    del model.graph.input[:]
    for name, value in live.items():
        shape = ["N"] + list(value.shape[1:])
        model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    for name, value in held.items():
        if name not in stored:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))


class Network:
    """A model to import; `live` inputs by name, rows first; `expected` (rows, elements)."""

    def __init__(self, model, live, expected, way, trains=None):
        self.model, self.live, self.expected, self.way, self.trains = model, live, expected, way, trains


def joined(outputs, rows):
    return np.concatenate([np.asarray(out, np.float64).reshape(rows, -1) for out in outputs], axis=1)


def as_rows(case, every_input):
    """Axis 0 is the batch."""
    names = list(case.inputs)
    live = {name: case.inputs[name] for name in (names if every_input else names[:1]) if is_float(case.inputs[name])}
    rows = {value.shape[0] if value.ndim else 0 for value in live.values()}
    outputs = judged_outputs(case)
    rows |= {out.shape[0] if out.ndim else 0 for out in outputs.values()}
    if not live or len(rows) != 1 or 0 in rows or (every_input and len(live) < 2):
        return None
    model = copy_of(case.model)
    expected = joined(outputs.values(), rows.pop())
    wrap_up(model, [(name, out.dtype.name) for name, out in outputs.items()], expected.shape[1])
    set_inputs(model, live, {name: value for name, value in case.inputs.items() if name not in live})
    trains = case if case.ops == ["BatchNormalization"] and len(case.outputs) > 1 else None
    return Network(model, live, expected, "live" if every_input else "as it is", trains)


def judged_outputs(case):
    """Of batch normalisation while training the statistics are judged by the map that they need, not here; of layer
    normalisation the result alone, without mean and deviation."""
    if case.ops in (["BatchNormalization"], ["LayerNormalization"]):
        return dict(list(case.outputs.items())[:1])
    return case.outputs


def lift_node(node, case):
    """Says of axes what holds with one before them; False where this is not known."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    shifted = {}
    rank = max(value.ndim for value in case.inputs.values() if is_float(value))
    if node.op_type in LIFTED_AXIS:
        axis = attributes["axis"].i if "axis" in attributes else LIFTED_AXIS[node.op_type]
        if "axis" in attributes:
            node.attribute.remove(attributes["axis"])
        node.attribute.append(helper.make_attribute("axis", axis + 1 if axis >= 0 else axis))
        if node.op_type == "Split" and len(node.input) > 1:
            return {}
    elif node.op_type == "Transpose":
        perm = list(attributes["perm"].ints) if "perm" in attributes else list(range(rank))[::-1]
        del node.attribute[:]
        node.attribute.append(helper.make_attribute("perm", [0] + [axis + 1 for axis in perm]))
    elif node.op_type == "Reshape":
        shape = case.inputs[node.input[1]]
        old = case.inputs[node.input[0]].shape
        allow = attributes["allowzero"].i if "allowzero" in attributes else 0
        whole = [old[i] if n == 0 and not allow else n for i, n in enumerate(shape)]
        shifted[node.input[1]] = np.array([-1] + whole, np.int64)
    elif node.op_type in ("Squeeze", "Unsqueeze", "ReduceMean", "ReduceMax"):
        if len(node.input) > 1:
            axes = case.inputs[node.input[1]]
            axes = axes if axes.size or not node.op_type.startswith("Reduce") else np.arange(rank)
        else:
            axes = np.arange(rank)
            node.input.append("axes")
        shifted[node.input[1]] = np.array([axis + 1 if axis >= 0 else axis for axis in axes], np.int64)
    elif node.op_type == "Pad" and len(node.input) == 3:
        pads = list(case.inputs[node.input[1]])
        shifted[node.input[1]] = np.array([0] + pads[:len(pads) // 2] + [0] + pads[len(pads) // 2:], np.int64)
    elif node.op_type == "Flatten":
        axis = attributes["axis"].i if "axis" in attributes else 1
        at = axis if axis >= 0 else rank + axis
        old = next(iter(case.inputs.values())).shape
        whole = [-1, int(np.prod(old[:at])), int(np.prod(old[at:]))]
        node.op_type = "Reshape"
        del node.attribute[:]
        node.input.append("shape")
        shifted["shape"] = np.array(whole, np.int64)
    elif node.op_type not in LIFTED_PLAIN:
        return False
    return shifted


def as_a_row(case, every_input):
    several = len(case.model.graph.node) > 1
    if case.model.graph.initializer or several and not set(case.ops) <= set(LIFTED_PLAIN):
        return None
    model = copy_of(case.model)
    floats = [name for name, value in case.inputs.items() if is_float(value)]
    outputs = judged_outputs(case)
    if not floats or any(not isinstance(out, np.ndarray) or out.size == 0 for out in outputs.values()):
        return None
    shifted = {} if several else lift_node(model.graph.node[0], case)
    if shifted is False or case.ops == ["Flatten"] and len(case.inputs) > 1:
        return None
    rank = max(case.inputs[name].ndim for name in floats)
    if case.ops == ["Clip"]:
        floats = floats[:1]
    chosen = floats if every_input or case.ops[0] in ("Concat", "Sum") else floats[:1]
    if every_input and len(floats) < 2:
        return None
    live = {}
    for name in chosen:
        value = case.inputs[name]
        if value.ndim == 0 or case.ops == ["MatMul"] and value.ndim == 1:
            return None
        live[name] = value.reshape((1,) + (1,) * (rank - value.ndim) + value.shape)
    held = {name: value for name, value in case.inputs.items() if name not in live}
    held.update(shifted)
    expected = joined(outputs.values(), 1)
    wrap_up(model, [(name, out.dtype.name) for name, out in outputs.items()], expected.shape[1])
    set_inputs(model, live, held)
    return Network(model, live, expected, "lifted")


def as_constants(case):
    if len(case.model.graph.node) != 1 or case.ops[0] in ("Dropout",):
        return None
    outputs = case.outputs
    if len(outputs) != 1 or any(not isinstance(value, np.ndarray) for value in list(case.inputs.values()) +
                                list(outputs.values())):
        return None
    (name, out), = outputs.items()
    if out.size == 0 or out.dtype.name not in ("float32", "float64", "float16", "int64", "int32", "bool"):
        return None
    model = copy_of(case.model)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, -1], np.int64), "judge_shape"))
    if out.dtype != np.float32:
        model.graph.node.append(helper.make_node("Cast", [name], ["judge_real"], name="judge/cast", to=1))
        name = "judge_real"
    model.graph.node.append(helper.make_node("Reshape", [name, "judge_shape"], ["judge_row"], name="judge/row"))
    model.graph.node.append(helper.make_node("MatMul", ["judge_x", "judge_row"], ["judged"], name="judge/times"))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("judged", TensorProto.FLOAT, None))
    live = {"judge_x": np.ones((1, 1), np.float32)}
    set_inputs(model, live, case.inputs)
    return Network(model, live, joined([out], 1), "constant")


def networks(case):
    if not case.inputs or not case.outputs or any(not isinstance(value, np.ndarray) for value in case.inputs.values()):
        return
    made = []
    if all(isinstance(out, np.ndarray) and out.size for out in judged_outputs(case).values()):
        made = [as_rows(case, False), as_rows(case, True), as_a_row(case, False), as_a_row(case, True)]
    yield from (network for network in made + [as_constants(case)] if network)


class Oracle:
    """What yardstick makes of a network, in double."""

    def __init__(self, build):
        self.program, self.evaluator = os.path.join(build, "yardstick"), os.path.join(build, "yardstick-builtin")

    def imported(self, onnx_path, folder):
        """Imports into folder/m.json and folder/weights; the graph, and what was said."""
        done = subprocess.run([self.program, "import", onnx_path, "--out=" + os.path.join(folder, "m.json"),
                               "--weights=" + os.path.join(folder, "weights")], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 2:
            raise Refused(done.stderr.split(".onnx: ", 1)[-1].strip())
        if done.returncode:
            raise RuntimeError("import exits with %d: %s" % (done.returncode, done.stderr))
        with open(os.path.join(folder, "m.json")) as file:
            return json.load(file), done.stdout

    def run(self, graph, arrays, rows, folder, trains=None):
        """Logits of a graph, whose file and weights lie in the folder; `trains` judges a step too."""
        import common
        import driver
        path = lambda name: os.path.join(folder, name)  # noqa: E731
        common.write_safetensors(path("data"), dict(arrays, y=np.zeros([rows, *graph.get("target", {}).get("shape", ["N"])[1:]], np.int64)))
        common.write_safetensors(path("order"), {"order": np.arange(rows, dtype=np.uint32)[None], "lr": np.zeros(1)})
        plan = {"format": "yardstick-plan", "version": 1, "mode": "train" if trains else "infer", "model": "judged",
                "graph": path("m.json"), "weights": path("weights"),
                "input": {"kind": "file", "path": path("data"), "order": path("order")}, "batch": rows, "steps": 1,
                "block": 1, "seed": 1, "precision": "f64", "loss": graph["loss"], "label_smoothing": 0.0,
                "optimizer": driver.SGD, "threads": 1, "cpus": [0], "device": "cpu", "options": {"backend": "ref"},
                "dist": {"rank": 0, "world": 1, "rendezvous": None}, "folder": folder}
        oracle = driver.Driver(self.evaluator, python="/usr/bin/env")
        try:
            oracle.need("opened", "open", plan=plan)
            found = oracle.tensors("forward", batch=0, mode="train" if trains else "eval")["logits"]
            if trains:
                trains(oracle.tensors("step", n=1))
            return np.array(found).reshape(rows, -1)
        finally:
            oracle.end()

    def evaluate(self, onnx_path, arrays, folder):
        """Logits of a file for the rows as it takes them, and its graph."""
        graph, _ = self.imported(onnx_path, folder)
        rows = len(next(iter(arrays.values())))
        return self.run(graph, arrays, rows, folder), graph

    def logits(self, network, folder):
        onnx.save(network.model, os.path.join(folder, "m.onnx"))
        graph, said = self.imported(os.path.join(folder, "m.onnx"), folder)
        arrays = feed(graph, network.live, "(N, height, width, channels)" in said)
        with open(os.path.join(folder, "m.json"), "w") as file:
            json.dump(graph, file)
        judge_step = (lambda parameters: self.judge_statistics(network, parameters)) if network.trains else None
        return self.run(graph, arrays, network.expected.shape[0], folder, judge_step)

    @staticmethod
    def judge_statistics(network, parameters):
        """Running statistics after a step. ONNX keeps the variance over n elements, yardstick that over n - 1."""
        case, (x, *_) = network.trains, network.live.values()
        n = x.size // x.shape[1]
        names, (_, mean, variance) = list(case.inputs), case.outputs.values()
        batch_share = 1 - next((a.f for a in case.model.graph.node[0].attribute if a.name == "momentum"), 0.9)
        old = case.inputs[names[4]].astype(np.float64)
        of_batch = (variance - old * (1 - batch_share)) / batch_share
        expected = old * (1 - batch_share) + batch_share * of_batch * n / (n - 1)
        for name, wanted in ((names[3], mean), (names[4], expected)):
            if not np.abs(parameters[name] - wanted).max() <= TOLERANCE * max(1, np.abs(wanted).max()):
                raise RuntimeError("running statistics %s are off" % name)


def feed(graph, live, channels_last):
    """Lets the graph read the floats of the case instead of pixels; the arrays of the data file."""
    names = [value["name"] for value in graph["inputs"]]
    for value in graph["inputs"]:
        value["dtype"] = "F32"
    for node in graph["nodes"]:
        if node["op"] == "normalize" and names == ["x"]:
            scale = node["attrs"]["scale"]
            node["attrs"]["scale"] = scale * 255 if len(graph["inputs"][0]["shape"]) == 4 else scale
    values = list(live.values()) if names == ["x"] else [live[name] for name in names]
    arrays = {}
    if channels_last:
        values = [np.moveaxis(value, 3, 1) for value in values]
    for name, value, said in zip(names, values, graph["inputs"]):
        arrays[name] = np.ascontiguousarray(value, np.float32).reshape([value.shape[0]] + said["shape"][1:])
    return arrays


def judge(oracle, case):
    """("passed" or "refused" or "wrong", why)."""
    right, reasons = [], []
    for network in networks(case):
        with tempfile.TemporaryDirectory(prefix="yardstick-judge-") as folder:
            try:
                found = oracle.logits(network, folder)
            except Refused as refusal:
                reasons.append("%s: %s" % (network.way, refusal))
                continue
            except Exception as trouble:  # whatever the program does beside refusing is wrong
                return "wrong", "%s: %s" % (network.way, trouble)
        if found.shape != network.expected.shape:
            return "wrong", "%s: makes %s, not %s" % (network.way, found.shape, network.expected.shape)
        largest = max(1.0, np.abs(network.expected[np.isfinite(network.expected)]).max(initial=0))
        with np.errstate(invalid="ignore"):
            same = (found == network.expected) | (np.isnan(found) & np.isnan(network.expected))
            off = np.where(same, 0, np.abs(found - network.expected)).max()
        if not off <= TOLERANCE * largest:
            return "wrong", "%s: off by %g of %g" % (network.way, off, largest)
        right.append(network.way)
    if right:
        return "passed", ", ".join(right)
    return "refused", "; ".join(reasons) or "no tensors of 32-bit floats flow through it"


def of_floats(case):
    """Whether the values of a case are those that graphs have: float32; shapes and truths beside it."""
    first = next(iter(case.inputs.values()), None)
    return is_float(first)


def is_drawn(case):
    """What a generator of random numbers decides is no function of the inputs."""
    return case.ops == ["Dropout"] and case.name.startswith("training_") and "zero_ratio" not in case.name


def judge_set(oracle, which, options):
    table = collections.defaultdict(collections.Counter)
    cases = node_cases() if which == "node" else stored_cases(which)
    for case in cases:
        if options.only and options.only not in case.name:
            continue
        if which == "node" and (not of_floats(case) or is_drawn(case) or not set(case.ops) <= set(OPERATORS) or
                                any(node.domain for node in case.model.graph.node)):
            continue
        verdict, why = judge(oracle, case)
        table[case.operator][verdict] += 1
        if options.verbose or verdict == "wrong":
            print("%-8s %s %s: %s" % (verdict, case.operator, case.name, why), file=sys.stderr, flush=True)
    return table


def show(tables):
    print("| set | operator | cases | passed | refused | wrong |\n| --- | --- | --- | --- | --- | --- |")
    for which, table in tables.items():
        total = collections.Counter()
        for operator in sorted(table):
            count = table[operator]
            total.update(count)
            print("| %s | %s | %d | %d | %d | %d |" % (which, operator, sum(count.values()), count["passed"],
                                                       count["refused"], count["wrong"]))
        print("| %s | **all** | **%d** | **%d** | **%d** | **%d** |" % (which, sum(total.values()), total["passed"],
                                                                        total["refused"], total["wrong"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT, help="where yardstick and yardstick-builtin are")
    parser.add_argument("--set", choices=SETS, help="one of them; all without it")
    parser.add_argument("--only", help="cases whose name has this text")
    parser.add_argument("--verbose", action="store_true", help="every case, and why it is refused")
    options = parser.parse_args()
    oracle = Oracle(os.path.abspath(options.build))
    tables = {which: judge_set(oracle, which, options) for which in ([options.set] if options.set else SETS)}
    show(tables)
    return 1 if any(count["wrong"] for table in tables.values() for count in table.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
