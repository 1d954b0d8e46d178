"""ncnn on the CPU: the graph written as ncnn's own text and weights, and a network read from them. It answers requests and
does not train."""

import os
import shutil
import tempfile

import common
import numpy as np

with common.importing("ncnn"):
    import ncnn

TEXT, WEIGHTS = "model.param", "model.bin"
MAGIC = "7767517"
HALF = ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic")
NO_MEMORY = -100
FLOATS = np.uint32(0)  # in front of weights that may be stored otherwise: these are float32
PERMUTATIONS = {2: [(0, 1), (1, 0)], 3: [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]}  # in ncnn's order
BINARY = {"Add": 0, "Sub": 1, "Mul": 2, "Div": 3, "Pow": 6}
# Operators of one value and no parameters: (ncnn's layer, its arguments by the node's attributes).
LAYERS = {
    "Relu": ("ReLU", lambda attrs: {}),
    "LeakyRelu": ("ReLU", lambda attrs: {0: attrs["alpha"]}),
    "Clip": ("Clip", lambda attrs: {0: attrs["min"], 1: attrs["max"]}),
    "Tanh": ("TanH", lambda attrs: {}),
    "Sigmoid": ("Sigmoid", lambda attrs: {}),
    "HardSwish": ("HardSwish", lambda attrs: {0: 1 / 6, 1: 0.5}),
    "HardSigmoid": ("HardSigmoid", lambda attrs: {0: attrs["alpha"], 1: attrs["beta"]}),
    "Swish": ("Swish", lambda attrs: {}),
    "Gelu": ("GELU", lambda attrs: {0: int(attrs["approximate"] == "tanh")}),
    "Elu": ("ELU", lambda attrs: {0: attrs["alpha"]}),
    "Selu": ("SELU", lambda attrs: {0: attrs["alpha"], 1: attrs["gamma"]}),
    "Mish": ("Mish", lambda attrs: {}),
    "Sqrt": ("UnaryOp", lambda attrs: {0: 5}),
    "Exp": ("UnaryOp", lambda attrs: {0: 7}),
    "Pow": ("BinaryOp", lambda attrs: power(attrs["exponent"])),
    "Softmax": ("Softmax", lambda attrs: {0: attrs["axis"] - 1, 1: 1}),
    "GlobalAveragePool": ("Pooling", lambda attrs: {0: 1, 4: 1}),
    "GlobalMaxPool": ("Pooling", lambda attrs: {0: 0, 4: 1}),
    "Flatten": ("Flatten", lambda attrs: {}),
    "Concat": ("Concat", lambda attrs: {0: attrs["axis"] - 1}),
    "Add": ("BinaryOp", lambda attrs: {0: BINARY["Add"]}),
    "Sub": ("BinaryOp", lambda attrs: {0: BINARY["Sub"]}),
    "Mul": ("BinaryOp", lambda attrs: {0: BINARY["Mul"]}),
    "Div": ("BinaryOp", lambda attrs: {0: BINARY["Div"]}),
    "MaxPool": ("Pooling", lambda attrs: pool(attrs, 0)),
    "AveragePool": ("Pooling", lambda attrs: pool(attrs, 1)),
    "Split": ("Slice", lambda attrs: {-23300: attrs["split"], 1: attrs["axis"] - 1}),
    "Reshape": ("Reshape", lambda attrs: reshape(attrs["shape"][1:])),
    "Transpose": ("Permute", lambda attrs: permute(attrs["perm"])),
    "ReduceMean": ("Reduction", lambda attrs: {0: 3, 1: 0, -23303: [axis - 1 for axis in attrs["axes"]], 4: attrs["keepdims"], 5: 1}),
    "MatMul": ("MatMul", lambda attrs: {}),
    "LRN": ("LRN", lambda attrs: response(attrs)),
}


class Ncnn(common.InferenceAdapter):
    name = "ncnn"
    framework = "ncnn"
    version = ncnn.__version__
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "Dropout", *LAYERS)
    extras = ("label_smoothing", "connections", "broadcast")
    options = {"half": False}
    forms = {"ncnn": True}

    def build(self, plan):
        folder = plan.form_path
        if not plan.form:
            self.written = tempfile.TemporaryDirectory(prefix="yardstick-ncnn-")
            folder = self.written.name
            self.places = write(plan.graph, plan.weights, folder)
        self.net = ncnn.Net()
        self.net.opt.num_threads = plan.threads
        for kind in HALF:
            setattr(self.net.opt, kind, self.option("half"))
        for load, name in ((self.net.load_param, TEXT), (self.net.load_model, WEIGHTS)):
            if load(os.path.join(folder, name)) != 0:
                raise common.BuildFailed("ncnn cannot read the network from the %s that was written of it" % name)
        self.input, self.output = self.net.input_names()[0], self.net.output_names()[0]
        return {
            **({} if plan.form else {"parameters": self.parameters(self.weights())}),
            "threads": self.net.opt.num_threads,
            "libraries": ["ncnn %s" % ncnn.__version__],
            "deviations": ["half precision"] * self.option("half"),
        }

    def save_form(self, form, path):
        """A folder: the layers as text in one file, the weights in another."""
        os.mkdir(path)
        for name in (TEXT, WEIGHTS):
            shutil.copy(os.path.join(self.written.name, name), path)

    def infer_step(self, x):
        rows = ncnn.Mat(np.ascontiguousarray(x, np.float32), batch_index=0)
        extractor = self.net.create_extractor()
        code = extractor.input(self.input, rows)
        if code == 0:
            code, found = extractor.extract(self.output)
        if code != 0:
            raise (MemoryError if code == NO_MEMORY else RuntimeError)("ncnn ended the network with %d" % code)
        return np.stack([np.array(found.batch(row)) for row in range(len(x))])

    def weights(self):
        """Read back from the file that the network was read from: it does not give them out."""
        path = os.path.join(self.written.name, WEIGHTS)
        return {name: np.fromfile(path, np.float32, offset=at, count=int(np.prod(shape))).reshape(shape)
                for name, (at, shape) in self.places.items()}

    def close(self):
        if not self.plan.form:
            self.written.cleanup()


def write(graph, weights, folder):
    """Writes a graph as the two files that ncnn reads: a layer a line, and the weights in the order of the layers. Returns
    where in the second file which parameter lies, {name: (offset, shape)}."""
    network = Network(graph)
    with open(os.path.join(folder, TEXT), "w", encoding="ascii") as file:
        file.write(network.text())
    places = {}
    with open(os.path.join(folder, WEIGHTS), "wb") as file:
        for part in network.parts:
            if isinstance(part, str):
                places[part], part = (file.tell(), weights[part].shape), weights[part]
            file.write(np.ascontiguousarray(part).tobytes())
    return places


class Network:
    """The layers of a graph as ncnn has them, and what its file of weights holds.

    layers: [layer, name, values it reads, values it makes, arguments].  parts: the weights in order, a parameter by its name
    and what is none as an array."""

    def __init__(self, graph):
        self.layers, self.parts = [], []
        self.same = {}  # value: the one that it is a copy of
        self.shapes = {param["name"]: param["shape"] for param in graph["params"]}
        entry = graph["inputs"][0]
        self.channels = entry["shape"][1]
        self.add("Input", "input", [], [entry["name"]], {})
        for node in graph["nodes"]:
            special = getattr(self, "add_" + node["op"].lower(), None)
            if special:
                special(node, node["attrs"], node["params"])
            else:
                layer, arguments = LAYERS[node["op"]]
                self.add_node(layer, node, arguments(node["attrs"]))
        self.copy_values(self.same.get(graph["output"], graph["output"]))

    def add(self, layer, name, ins, outs, arguments):
        if ncnn.layer_to_index(layer) < 0:
            raise common.Unsupported("ncnn %s has no layer %s (node %s)" % (ncnn.__version__, layer, name))
        self.layers.append((layer, name, [self.same.get(value, value) for value in ins], list(outs), arguments))

    def add_node(self, layer, node, arguments):
        self.add(layer, node["name"], node["in"], node["out"], arguments)

    def add_dropout(self, node, _attrs, _params):
        self.same[node["out"][0]] = self.same.get(node["in"][0], node["in"][0])

    def add_normalize(self, node, attrs, _params):
        ones = np.ones(self.channels)
        std = ones * attrs["std"]
        self.add_node("Scale", node, {0: self.channels, 1: 1})
        self.parts += [np.float32(attrs["scale"] / std), np.float32(-np.array(attrs["mean"]) / std)]

    def add_conv(self, node, attrs, params):
        if node["attrs"]["group"] == 1:
            self.add_node("Convolution", node, self.convolution(attrs, params, 0))
        else:
            self.add_node("ConvolutionDepthWise", node, {**self.convolution(attrs, params, 0), 7: attrs["group"]})
        self.parts += [FLOATS, *params_of(params)]

    def convolution(self, attrs, params, out_axis):
        shape = self.shapes[params["weight"]]
        (top, left, bottom, right), (down, across) = attrs["pads"], attrs["dilations"]
        return {0: shape[out_axis], 1: shape[3], 11: shape[2], 2: across, 12: down, 3: attrs["strides"][1], 13: attrs["strides"][0],
                4: left, 15: right, 14: top, 16: bottom, 5: int("bias" in params), 6: int(np.prod(shape))}

    def add_gemm(self, node, _attrs, params):
        shape = self.shapes[params["weight"]]
        self.add_node("InnerProduct", node, {0: shape[0], 1: int("bias" in params), 2: shape[0] * shape[1]})
        self.parts += [FLOATS, *params_of(params)]

    def add_batchnormalization(self, node, attrs, params):
        self.add_node("BatchNorm", node, {0: self.shapes[params["weight"]][0], 1: attrs["epsilon"]})
        self.parts += [params[place] for place in ("weight", "running_mean", "running_var", "bias")]

    def copy_values(self, output):
        """ncnn gives each value to one layer alone: one that several read is copied by a layer Split, before the first of them."""
        readers = {}
        for _, _, ins, _, _ in self.layers:
            for value in ins:
                readers[value] = readers.get(value, 0) + 1
        layers, given = [], {}
        for layer, name, ins, outs, arguments in self.layers:
            for place, value in enumerate(ins):
                if readers[value] > 1:
                    given[value] = given.get(value, -1) + 1
                    ins[place] = "%s_%d" % (value, given[value])
            layers.append((layer, name, ins, outs, arguments))
            for value in outs:
                if readers.get(value, 0) > 1:
                    copies = ["%s_%d" % (value, copy) for copy in range(readers[value])]
                    layers.append(("Split", "split_" + value, [value], copies, {}))
                elif value not in readers and value != output:  # nobody reads it, and it is no result
                    layers.append(("Noop", "end_" + value, [value], [], {}))
        self.layers = layers

    def text(self):
        blobs = sum(len(outs) for _, _, _, outs, _ in self.layers)
        lines = [MAGIC, "%d %d" % (len(self.layers), blobs)]
        for layer, name, ins, outs, arguments in self.layers:
            words = [layer, name, str(len(ins)), str(len(outs)), *ins, *outs]
            lines.append(" ".join(words + ["%d=%s" % (key, spell(value)) for key, value in arguments.items()]))
        return "\n".join(lines) + "\n"


def params_of(params):
    return [params[place] for place in ("weight", "bias") if place in params]


def spell(value):
    """A number as ncnn reads it, of a float 15 characters, a point among them; of a list how many there are, and those."""
    if isinstance(value, list):
        return ",".join(map(str, [len(value), *value]))
    return "%d" % value if isinstance(value, int) else "%.8e" % value


def reshape(shape):
    """The arguments of a Reshape: width, height, channels, and depth where there are four."""
    if len(shape) > 4:
        raise common.Unsupported("Reshape to %d axes: ncnn has four" % len(shape), "Reshape")
    keys = {1: (0,), 2: (1, 0), 3: (2, 1, 0), 4: (2, 11, 1, 0)}[len(shape)]
    return dict(zip(keys, shape))


def permute(perm):
    """The arguments of a Permute, which numbers the orders of the axes behind the batch."""
    axes = tuple(axis - 1 for axis in perm[1:])
    if len(axes) > 3:
        raise common.Unsupported("Transpose of %d axes" % len(perm), "Transpose")
    return {0: PERMUTATIONS[len(axes)].index(axes)} if len(axes) > 1 else {0: 0}


def power(exponent):
    if exponent == int(exponent):
        raise common.Unsupported("Pow with exponent %g: ncnn has powers of what is above 0 alone" % exponent, "Pow")
    return {0: BINARY["Pow"], 1: 1, 2: exponent}


def response(attrs):
    if attrs["size"] % 2 == 0:
        raise common.Unsupported("LRN of even size %d" % attrs["size"], "LRN")
    return {0: 0, 1: attrs["size"], 2: attrs["alpha"], 3: attrs["beta"], 4: attrs["bias"]}


def pool(attrs, kind):
    """The arguments of a pool, 0 for the largest and 1 for the mean."""
    op = "AveragePool" if kind else "MaxPool"
    kernel, strides, (top, left, bottom, right) = attrs["kernel_shape"], attrs["strides"], attrs["pads"]
    if attrs["dilations"] != [1, 1]:
        raise common.Unsupported("%s with dilation: ncnn has none" % op, op)
    if attrs.get("ceil_mode") and (any(attrs["pads"]) or strides[0] > kernel[0] or strides[1] > kernel[1]):
        raise common.Unsupported("%s with ceil_mode and padding, or strides beyond its kernel: ncnn lays its last windows otherwise" % op, op)
    return {0: kind, 1: kernel[1], 11: kernel[0], 2: strides[1], 12: strides[0], 3: left, 14: right, 13: top, 15: bottom,
            5: 0 if attrs.get("ceil_mode") else 1, **({6: attrs["count_include_pad"]} if kind else {})}


if __name__ == "__main__":
    common.serve(Ncnn())
