"""ONNX files that are damaged, enormous, malicious or no networks to train: each is refused with exit code 2 and one sentence
that names the node and what of it is wrong."""
import math
import os
import resource
import unittest

import wire
from harness import Case, tearDownModule  # noqa: F401
from wire import INT64, attribute, field, model, node, tensor

GROWTH = 9  # between 4 and 16, of four times as much
IMAGE = (("x", (None, 2, 6, 6)),)
W, IMAGES = tensor("w", (4, 3), [0.5] * 12), tensor("k", (3, 2, 3, 3), [0.5] * 54)
GEMM = node("Gemm", "x w", "y")
GOOD = model([GEMM], [W])


def conv(**attributes):
    return model([node("Conv", "x k", "c", **attributes), node("GlobalAveragePool", "c", "p"), node("Flatten", "p", "y")],
                 [IMAGES], IMAGE)


def outside(**external):
    return model([GEMM], [tensor("w", (4, 3), external=dict({"location": "w.bin", "offset": "0", "length": "48"}, **external))])


def nested(depth):
    """A graph in an attribute of a node of a graph, and so on."""
    graph = field(2, "g")
    for _ in range(depth):
        graph = field(1, field(4, "If") + field(5, attribute("then_branch", graph)))
    return field(1, 8) + field(7, graph + field(12, wire.value("y", ()))) + field(8, field(2, 17))


def grown(times):
    """A constant that each node makes 1024 times as large."""
    shape = lambda n: tensor("s%d" % n, (n + 1,), [1024] * (n + 1), INT64)  # noqa: E731
    nodes = [node("Expand", "e%d s%d" % (n, n), "e%d" % (n + 1)) for n in range(times)]
    return model(nodes + [node("Add", "x e%d" % times, "a"), node("Gemm", "a w", "y")],
                 [W, tensor("e0", (1,), [1.0])] + [shape(n) for n in range(times)])


def copied(times, width):
    """Norms that share one vector, and each train their own."""
    nodes = [node("LayerNormalization", "%s v" % ("v%d" % n if n else "x"), "v%d" % (n + 1)) for n in range(times)]
    return model(nodes + [node("Gemm", "v%d w" % times, "y")], [tensor("v", (width,), [0.5, 0.25] * (width // 2)), tensor("w", (width, 1), [0.5] * width)],
                 (("x", (None, width)),))


def scaled(times, width):
    """Layers that share a matrix and one bias, each times another number."""
    nodes = [node("Gemm", "x m v", "v%d" % n, beta=1 + n / 1024) for n in range(times)]
    return model(nodes + [node("Sum", " ".join("v%d" % n for n in range(times)), "s"), node("Gemm", "s w", "y")],
                 [tensor("m", (4, width), [0.5, 0.25] * (2 * width)), tensor("v", (width,), [0.5, 0.25] * (width // 2)), tensor("w", (width, 1), [0.5] * width)])


# What it is, the file, and words of the sentence.
FILES = [
    ("empty", b"", ["is no ONNX file"]),
    ("text", b"import torch\n", ["is no ONNX file"]),
    ("cut in the middle", GOOD[:len(GOOD) // 2], ["ends|beyond|no ONNX file"]),
    ("a length beyond all memory", field(1, 8) + wire.varint(7 << 3 | 2) + wire.varint(1 << 62) + b"x", ["ends|beyond|longer|damaged"]),
    ("a length of more than 64 bits", field(1, 8) + wire.varint(7 << 3 | 2) + b"\xff" * 11, ["net.onnx"]),
    ("graphs within graphs", nested(5000), ["more than 16 branches"]),
    ("no operator set", field(1, 8) + field(7, b""), ["operator set"]),
    ("an operator set of long ago", model([GEMM], [W], opset=5), ["operator set 5"]),
    ("an operator set to come", model([GEMM], [W], opset=29), ["operator set 29", "is 28"]),
    ("a shape of more elements than there are", model([GEMM], [tensor("w", (1 << 40, 1 << 40), b"")]), ["w"]),
    ("fewer values than the shape", model([GEMM], [tensor("w", (1 << 20, 3), [0.5] * 12)]), ["w", "fewer values"]),
    ("more values than the shape", model([GEMM], [tensor("w", (2, 3), [0.5] * 12)]), ["w", "more values"]),
    ("a shape below 0", model([GEMM], [tensor("w", (-4, 3), [0.5] * 12)]), ["w"]),
    ("weights that are not finite", model([GEMM], [tensor("w", (4, 3), [math.inf] * 12)]), ["node y (Gemm)", "w has a value that is no finite number"]),
    ("two weights of one name", model([GEMM], [W, W]), ["\"w\""]),
    ("a cycle", model([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Gemm", "b w", "y")], [W]), ["node a (Add)", "reads b"]),
    ("a value that is made twice", model([node("Relu", "x", "a"), node("Tanh", "x", "a"), node("Gemm", "a w", "y")], [W]),
     ["node a (Tanh)", "makes a"]),
    ("an input that is not there", model([node("Gemm", "z w", "y")], [W]), ["depends on no input|reads z"]),
    ("an output that is not there", model([GEMM], [W], outputs=("z",)), ["z|no input"]),
    ("a matrix that does not fit", model([GEMM], [W], (("x", (None, 5)),)), ["node y (Gemm)"]),
    ("a kernel that does not fit", model([node("Conv", "x k", "y")], [tensor("k", (3, 7, 3, 3), [0.5] * 189)], IMAGE), ["node y (Conv)"]),
    ("a shape that does not fit", model([node("Reshape", "x s", "r"), node("Gemm", "r w", "y")], [W, tensor("s", (2,), [-1, 3], INT64)]),
     ["node r (Reshape)"]),
    ("a stride of 0", conv(strides=[0, 1]), ["node c (Conv)", "strides"]),
    ("a group of 0", conv(group=0), ["node c (Conv)", "group"]),
    ("padding below 0", conv(pads=[-1, 0, 0, 0]), ["node c (Conv)", "pads"]),
    ("padding of three sides", conv(pads=[1, 1, 1]), ["node c (Conv)", "pads"]),
    ("a dilation beyond all numbers", conv(dilations=[1 << 62, 1]), ["node c (Conv)", "dilations"]),
    ("an attribute of another type", conv(group=1.5), ["node c (Conv)", "group"]),
    ("a filled weight of 32 GiB", model([node("ConstantOfShape", "s", "w"), node("Gemm", "x w", "y")], [tensor("s", (2,), [65536, 131072], INT64)],
                                        (("x", (None, 65536)),)), ["node y (Gemm)", "8589934592 elements"]),
    ("a filled weight that does not fit", model([node("ConstantOfShape", "s", "w"), node("Gemm", "x w", "y")],
                                                [tensor("s", (2,), [65536, 131072], INT64)]), ["node y (Gemm)", "65536 features", "reads 4"]),
    ("a filled kernel of 32 GiB", model([node("ConstantOfShape", "s", "w"), node("Conv", "x w", "y")],
                                        [tensor("s", (4,), [65536, 131072, 1, 1], INT64)], (("x", (None, 131072, 1, 1)),)), ["node y (Conv)", "8589934592"]),
    ("a number beside a value without end", model([node("Relu", "x", "r"), node("Mul", "r k", "m"), node("GlobalAveragePool", "m", "y")], [tensor("k", (), [0.5])],
                                                  (("x", (None, 1 << 30, 7, 7)),)), ["node m (Mul)", "elements"]),
    ("a constant that grows", grown(4), ["node e3 (Expand)"]),
    ("a vector of 1 MB times 400 numbers", scaled(400, 1 << 18), ["node v129 (Gemm)", "reads v in another form"]),
    ("a vector of 1 MB that 6,000 nodes read", copied(6000, 1 << 18), ["node v1026 (LayerNormalization)", "no bytes of the file stand for"]),
    ("INT8 weights", model([GEMM], [tensor("w", (4, 3), bytes(12), wire.INT8)]), ["INT8"]),
    ("integers as input", model([GEMM], [W], input_type=INT64), ["input x is I32", "Embedding"]),
    ("two outputs", model([GEMM, node("Relu", "y", "z")], [W], outputs=("y", "z")), ["2 outputs"]),
    ("two operator sets", GOOD + field(8, field(2, 9)), ["17 and 9"]),
    ("two inputs of one name", model([GEMM], [W], (("x", (None, 4)), ("x", (None, 4)))), ["two of its inputs are called x"]),
    ("a variance below 0", model([node("BatchNormalization", "x o o o v", "b"), node("Gemm", "b w", "y")],
                                 [W, tensor("o", (4,), [1.0] * 4), tensor("v", (4,), [1.0, 1.0, -0.5, 1.0])]),
     ["node b (BatchNormalization)", "running_var has -0.5 for channel 2"]),
    ("a shape that is no number", model([node("Cast", "f", "s", to=INT64), node("Reshape", "x s", "r"), node("Gemm", "r w", "y")],
                                        [W, tensor("f", (2,), [-1.0, math.nan])]), ["node s (Cast)", "makes an integer of nan"]),
    ("no weight", model([node("Relu", "x", "y")], []), ["no weight that could be trained"]),
    ("operators that no graph has", model([node("Loop", "x", "a"), node("Scan", "a", "b"), node("Fused", "b", "c", "com.example"),
                                           node("Gemm", "c w", "y")], [W]),
     ["node a (Loop)", "node b (Scan)", "node c (Fused)", "com.example"]),
    ("an axis beyond the value", model([node("Concat", "x x", "c", axis=7), node("Gemm", "c w", "y")], [W]), ["node c (Concat)", "axis 7"]),
    ("an axis twice", model([node("Conv", "x k", "c"), node("ReduceMean", "c", "m", axes=[2, -2]), node("Flatten", "m", "y")], [IMAGES], IMAGE),
     ["node m (ReduceMean)", "axes has axis 2 twice"]),
    ("a new axis twice", model([node("Unsqueeze", "x a", "u"), node("Flatten", "u", "f"), node("Gemm", "f w", "y")],
                               [W, tensor("a", (2,), [1, 1], INT64)]), ["node u (Unsqueeze)", "axes has axis 1 twice"]),
    ("a constant's new axis twice", model([node("Unsqueeze", "q a", "s"), node("Reshape", "x s", "r"), node("Gemm", "r w", "y")],
                                          [W, tensor("q", (2,), [-1, 4], INT64), tensor("a", (2,), [1, 1], INT64)]), ["node s (Unsqueeze)", "axes has axis 1 twice"]),
    ("a step of 0", model([node("Slice", "q a b z d", "s"), node("Reshape", "x s", "r"), node("Gemm", "r w", "y")],
                          [W, tensor("q", (3,), [-1, 4, 5], INT64)] + [tensor(name, (1,), [number], INT64) for name, number in
                                                                       (("a", 0), ("b", 2), ("z", 0), ("d", 0))]), ["node s (Slice)", "steps has the number 0"]),
    ("a constant's piece of one axis twice", model([node("Slice", "q a b z", "s"), node("Reshape", "x s", "r"), node("Gemm", "r w", "y")],
                                                   [W, tensor("q", (3,), [-1, 4, 5], INT64)] +
                                                   [tensor(name, (2,), [number] * 2, INT64) for name, number in (("a", 2), ("b", 3), ("z", 0))]),
     ["node s (Slice)", "axes has axis 0 twice"]),
    ("a piece of one axis twice", model([node("Slice", "x a b z", "s"), node("Gemm", "s w", "y")],
                                        [W] + [tensor(name, (2,), [number] * 2, INT64) for name, number in (("a", 0), ("b", 4), ("z", 1))]),
     ["node s (Slice)", "axes has axis 1 twice"]),
    ("padding of one axis twice", model([node("Pad", "x p v a", "s"), node("Gemm", "s w", "y")],
                                        [W, tensor("p", (4,), [0, 1, 0, 1], INT64), tensor("v", (), [0.0]), tensor("a", (2,), [1, -1], INT64)], opset=18),
     ["node s (Pad)", "axes has axis 1 twice"]),
    ("axes that the data tell", model([node("Unsqueeze", "x x", "u"), node("Flatten", "u", "f"), node("Gemm", "f w", "y")], [W]),
     ["node u (Unsqueeze)", "reads x, which is computed from data"]),
    ("a ratio that the data tell", model([node("Dropout", "x x", "d"), node("Gemm", "d w", "y")], [W]), ["node d (Dropout)", "reads x, which is computed from data"]),
    ("a place that the batch tells", model([node("Shape", "x", "s"), node("Gather", "s z", "n"), node("Gather", "q n", "g"), node("Add", "x g", "a"),
                                            node("Gemm", "a w", "y")], [W, tensor("z", (), [0], INT64), tensor("q", (3, 4), [0.5] * 12)]),
     ["node g (Gather)", "depend on how many rows there are"]),
    ("a permutation of no axis", model([node("Transpose", "v", "t", perm=[]), node("Gemm", "x t", "y")], [tensor("v", (3, 4), [0.5] * 12)]),
     ["node t (Transpose)", "perm names 0 axes, not 2"]),
    ("an output below all numbers", model([node("ConvTranspose", "x k", "c", output_shape=[-1 << 63, 1]), node("GlobalAveragePool", "c", "p"),
                                           node("Flatten", "p", "y")], [tensor("k", (2, 3, 3, 3), [0.5] * 54)], IMAGE),
     ["node c (ConvTranspose)", "output_shape asks for -9223372036854775808"]),
    ("a hundred thousand floats in an attribute", model([node("Constant", "", "c") + field(5, field(1, "value_floats") + field(7, 0.5) * 100000 + field(20, 6)),
                                                         node("Add", "x c", "a"), node("Gemm", "a w", "y")], [W]), ["node a (Add)", "extent 100000"]),
    ("a mask of a million positions squared", model([node("Gather", "e x", "q"), node("Transpose", "q", "k", perm=[0, 2, 1]), node("MatMul", "q k", "s"),
                                                     node("ConstantOfShape", "m", "n") + field(5, field(1, "value") + field(5, tensor("", (1,), [-1e9])) + field(20, 4)),
                                                     node("Add", "s n", "t"), node("Softmax", "t", "p"), node("MatMul", "p q", "y")],
                                                    [tensor("e", (5, 4), [0.5] * 20), tensor("m", (2,), [1 << 20] * 2, INT64)],
                                                    (("x", (None, 1 << 20)),), input_type=INT64), ["node t (Add)", "mask that hides other than"]),
    ("quantised weights", model([node("DequantizeLinear", "v f", "w"), GEMM], [tensor("v", (4, 3), bytes(12), wire.INT8), tensor("f", (), [0.5])]),
     ["node w (DequantizeLinear)"]),
    ("weights of 8 bits that are floats", model([GEMM], [tensor("w", (4, 3), bytes(12), 17)]), ["tensor w is of FLOAT8E4M3FN", "yardstick reads FLOAT"]),
    ("weights that are text", model([GEMM], [tensor("w", (4, 3), b"", 8)]), ["tensor w is of STRING"]),
    ("half of the bytes of FLOAT16", model([GEMM], [tensor("w", (4, 3), bytes(12), wire.FLOAT16)]), ["tensor w has fewer values"]),
    ("local functions", GOOD + field(25, field(1, "f")), ["local functions", "inline them"]),
    ("sparse weights", field(1, 8) + field(7, field(1, GEMM) + field(15, b"") + field(11, wire.value("x", (None, 4))) + field(12, wire.value("y", ()))) +
     field(8, field(2, 17)), ["sparse tensors: store them dense"]),
    ("values in two places", model([GEMM], [tensor("w", (4, 3), [0.5] * 12) + field(4, bytes(48))]), ["tensor w", "in two places"]),
    ("external data outside the folder", outside(location="../w.bin"), ["tensor w", "outside"]),
    ("external data at an absolute path", outside(location="/etc/passwd"), ["w", "outside"]),
    ("external data behind a link", outside(location="link.bin"), ["w", "outside"]),
    ("external data in a pipe", outside(location="pipe.bin"), ["w", "regular"]),
    ("external data beyond the end", outside(offset="20"), ["w", "beyond the end"]),
    ("external data of another length", outside(length="44"), ["w", "44 bytes"]),
    ("external data that are the folder", outside(location="."), ["tensor w", "outside"]),
    ("external data without a file", outside(location=""), ["tensor w", "no file"]),
    ("external data that are gone", outside(location="none.bin"), ["tensor w", "none.bin are not there: copy them"]),
    ("external data before the beginning", outside(offset="-4"), ["tensor w", "offset -4 of its external data is no number"]),
    ("external data of no length", outside(length="many"), ["tensor w", "length many of its external data is no number"]),
    ("external data at no place", outside(offset="18446744073709551615"), ["w", "offset"]),
]


# Nodes that read one table, which was read again for each of them -> what is said of all but the first.
READERS = dict.fromkeys(("a matrix", "a matrix and a vector", "a kernel", "an operand", "a mask"), "shares parameter")
READERS.update({"a vector": "gets a copy that is trained by itself", "scores": None, "angles": None})
# What makes many pieces of values, each of which asks which others of its value wait.
PIECES = ("of as many values", "under as many names", "of one value")


def many_readers(what, count, side):
    def chain(op, rest, **attributes):
        return [node(op, ("v%d" % n if n else "x") + " " + rest, "v%d" % (n + 1), **attributes) for n in range(count)]

    def mask():
        return tensor("m", (side, side), [-1e9 if key > query else 0.0 for query in range(side) for key in range(side)])
    end, opset = "v%d" % count, 17
    table = tensor("t", (side, side), [0.5, 0.25, 0.125, 1.0] * (side * side // 4))
    head = tensor("w", (side, 3), [0.5] * (3 * side))
    over_rows = [node("ReduceMean", end, "r", axes=[2], keepdims=0), node("Gemm", "r w", "y")]
    if what == "a matrix":
        nodes, tensors, shape = chain("MatMul", "t") + [node("Gemm", end + " w", "y")], [table, head], (None, side)
    elif what == "a matrix and a vector":
        nodes, tensors, shape = chain("Gemm", "t b") + [node("Gemm", end + " w", "y")], [table, head, tensor("b", (side,), [0.5] * side)], (None, side)
    elif what == "a kernel":
        nodes, shape = chain("Conv", "k") + [node("Flatten", end, "f"), node("Gemm", "f w", "y")], (None, side, 1, 1)
        tensors = [tensor("k", (side, side, 1, 1), [0.5, 0.25] * (side * side // 2)), head]
    elif what == "an operand":
        nodes, tensors, shape = chain("Add", "t") + over_rows, [table, head], (None, side, side)
    elif what == "a vector":
        width = side * side // 8
        nodes, shape = chain("LayerNormalization", "l") + [node("Gemm", end + " n", "y")], (None, width)
        tensors = [tensor("l", (width,), [0.5, 0.25] * (width // 2)), tensor("n", (width, 1), [0.5] * width)]
    elif what == "a mask":
        nodes, tensors, shape = chain("Add", "m") + over_rows, [mask(), head], (None, side, side)
    elif what == "scores":
        nodes, shape, opset = [node("Attention", "%s %s %s m" % (("v%d" % n if n else "x",) * 3), "v%d" % (n + 1), q_num_heads=1, kv_num_heads=1)
                               for n in range(count)] + [node("ReduceMean", end + " a", "r", keepdims=0), node("Gemm", "r n", "y")], (None, side, 4), 23
        tensors = [mask(), tensor("n", (4, 3), [0.5] * 12), tensor("a", (1,), [1], INT64)]
    else:
        places = side * side // 64
        angles = [place / 10000 ** (pair / 64) for place in range(places) for pair in range(64)]
        nodes, shape, opset = chain("RotaryEmbedding", "c s", num_heads=1) + [node("ReduceMean", end + " a", "r", keepdims=0),
                                                                            node("Gemm", "r w", "y")], (None, places, 128), 23
        tensors = [tensor("c", (1, places, 64), [math.cos(angle) for angle in angles]), tensor("s", (1, places, 64), [math.sin(angle) for angle in angles]),
                   tensor("w", (128, 3), [0.5] * 384), tensor("a", (1,), [1], INT64)]
    return model(nodes, tensors, (("x", shape),), opset=opset)


def many_pieces(what, count):
    places = [tensor(name, (1,), [number], INT64) for name, number in (("a", 0), ("b", 2), ("o", 1))]
    narrow = tensor("v", (2, 3), [0.5] * 6)
    if what == "of as many values":
        nodes = [node("Relu", "x", "r%d" % n) for n in range(count)] + [node("Slice", "r%d a b o" % n, "s%d" % n) for n in range(count)]
        nodes += [node("Concat", " ".join("s%d" % n for n in range(count)), "c", axis=1), node("Gemm", "c t", "y")]
        return model(nodes, places + [tensor("t", (2 * count, 3), [0.5] * 6 * count)])
    if what == "under as many names":  # of a piece that waits: each looks for the others
        names = [node("Identity", "n%d" % n, "n%d" % (n + 1)) for n in range(count)]
        return model([node("Slice", "x a b o", "n0")] + names + [node("Gemm", "n%d v" % count, "y")], places + [narrow])
    same = [node("Slice", "x a b o", "p%d" % n) for n in range(count)]  # each read before the next
    sums = [node("Add", "%s p%d" % ("q%d" % (n - 1) if n else "p0", n), "q%d" % n) for n in range(count)]
    return model([part for pair in zip(same, sums) for part in pair] + [node("Gemm", "q%d v" % (count - 1), "y")], places + [narrow])


class Hostile(Case):
    def put(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def test_each_is_refused_in_one_sentence(self):
        os.mkdir(os.path.join(self.folder, "below"))
        self.put("w.bin", bytes(48))
        self.put("below/w.bin", bytes(48))
        os.symlink("../w.bin", os.path.join(self.folder, "below", "link.bin"))
        os.mkfifo(os.path.join(self.folder, "below", "pipe.bin"))
        for what, data, words in FILES:
            with self.subTest(what):
                self.put("below/net.onnx", data)
                message = self.refusal("import", "below/net.onnx")
                self.assertIn("net.onnx", message)
                self.assertLess(len(message), 2000)
                for word in words:
                    self.assertRegex(message, word.replace("(", r"\(").replace(")", r"\)"))

    def test_a_study_of_one_is_refused_before_it_runs(self):
        self.put("bad.onnx", model([GEMM], [W], outputs=("z",)))
        self.put("good.onnx", GOOD)
        keys = ["--data=synthetic", "--framework=builtin", "--batch=8", "--steps=4"]
        self.assertIn("bad.onnx", self.refusal("run", "--model=bad.onnx", *keys))
        self.assertIn("LogSoftmax", self.refusal("run", "--model=good.onnx", "--loss=nll", *keys))

    def test_a_loss_that_does_not_fit_the_head_is_refused(self):
        keys = ["--data=synthetic", "--framework=builtin", "--batch=8", "--steps=4"]
        self.put("soft.onnx", model([node("Gemm", "x w", "z"), node("Softmax", "z", "p"), node("Identity", "p", "y")], [W]))
        self.put("one.onnx", model([GEMM], [tensor("w", (4, 1), [0.5] * 4)]))
        for loss in ("mse", "nll"):
            self.assertRegex(self.refusal("run", "--model=soft.onnx", "--loss=" + loss, *keys), "loss = .*soft.* ends in a Softmax")
        self.yardstick("import", "soft.onnx", "--out=soft.json")
        self.assertIn("ends in a Softmax", self.refusal("check", "--model=soft.json", "--loss=mse", *keys))
        self.yardstick("check", "--model=soft.onnx", *keys)
        self.assertRegex(self.refusal("run", "--model=one.onnx", *keys), "loss = auto: .*one class alone")
        self.yardstick("check", "--model=one.onnx", "--loss=mse", *keys)

    def spent_on(self, file):
        """What import says of the file, and its processor time."""
        self.put("net.onnx", file)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text, _ = self.yardstick("import", "net.onnx")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def grows_evenly(self, make):
        """What import says of make(4). How the work grows is held, not how long it takes: of four times as much, 4 times as
        much, and 16 times where each part looks at all others. A disturbed pair is measured again; no such search gets by."""
        for left in (2, 1, 0):
            _, quarter = self.spent_on(make(1))
            text, whole = self.spent_on(make(4))
            if whole < GROWTH * quarter:
                return text
        self.fail("four times as much took %.1f times the processor time" % (whole / quarter))

    def test_many_nodes_of_one_name_take_no_longer(self):
        def make(scale):
            count = 2500 * scale
            chain = [node("Relu", "v%d" % n if n else "x", "v%d" % (n + 1)).replace(field(3, "v%d" % (n + 1)), field(3, "same")) for n in range(count)]
            return model(chain + [node("Gemm", "v%d w" % count, "y")], [W])
        self.assertIn("same_10000 ", self.grows_evenly(make))

    def test_many_sums_take_no_longer(self):
        def make(scale, behind_all):  # each asks who else reads what it adds to
            count = 4000 * scale
            sums = [node("Add", "p%d b" % n, "s%d" % n) for n in range(count)]
            if behind_all:
                nodes = [node("Gemm", "x s", "p%d" % n) for n in range(count)] + sums + \
                    [node("Sum", " ".join("s%d" % n for n in range(count)), "all"), node("Gemm", "all w", "y")]
            else:
                chain = [node("Gemm", "s%d s" % (n - 1) if n else "x s", "p%d" % n) for n in range(count)]
                nodes = [part for pair in zip(chain, sums) for part in pair] + [node("Gemm", "s%d w" % (count - 1), "y")]
            return model(nodes, [W, tensor("s", (4, 4), [0.5, 0.25] * 8), tensor("b", (4,), [0.5] * 4)])
        for behind_all in (False, True):
            with self.subTest(behind_all=behind_all):
                text = self.grows_evenly(lambda scale: make(scale, behind_all))
                self.assertEqual(text.count(" (Add) is the bias of node "), 16000)

    def test_many_readers_of_one_table_take_no_longer(self):
        for what, said in READERS.items():
            with self.subTest(what):
                text = self.grows_evenly(lambda scale: many_readers(what, 1500 * scale, 256 * math.isqrt(scale)))
                self.assertIn("v6000 ", text)
                if said:
                    self.assertEqual(text.count(said), 5999)

    def test_many_pieces_take_no_longer(self):
        for what in PIECES:
            with self.subTest(what):
                self.assertIn(" parameters, ", self.grows_evenly(lambda scale: many_pieces(what, 2500 * scale)))

    def test_what_is_wide_enough_is_read_and_said(self):
        self.put("half.onnx", model([GEMM], [tensor("w", (4, 3), b"\x00\x3c" * 12, wire.FLOAT16)]))
        self.put("brain.onnx", model([GEMM], [tensor("w", (4, 3), b"\x80\x3f" * 12, wire.BFLOAT16)]))
        self.assertIn("FLOAT16", self.yardstick("import", "half.onnx")[0])
        self.assertIn("BFLOAT16", self.yardstick("import", "brain.onnx")[0])
        self.put("good.onnx", GOOD)
        self.assertIn("12 parameters", self.yardstick("import", "good.onnx")[0])


if __name__ == "__main__":
    unittest.main()
