"""ONNX files as people have them: names of any bytes, what the data say, branches, several outputs, other files."""
import gzip
import io
import json
import os
import pickle
import struct
import unittest
import zipfile

from harness import Case, tearDownModule  # noqa: F401
from wire import FLOAT, FLOAT16, INT64, field, node, tensor, value

BOOL = 9
IMAGE = (("x", (None, 3, None, None)),)


def graph(nodes, tensors=(), inputs=(("x", (None, 4)),), outputs=("y",), type_=FLOAT, name="g"):
    out = b"".join(field(1, one) for one in nodes) + field(2, name) + b"".join(field(5, one) for one in tensors)
    out += b"".join(field(11, value(*one, type_)) for one in inputs)
    return out + b"".join(field(12, value(one, ())) for one in outputs)


def model(*arguments, opset=17, **more):
    return field(1, 8) + field(7, graph(*arguments, **more)) + field(8, field(2, opset))


def named(op, inputs, outputs, name):
    """A node with names as they are, blanks and all."""
    return b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in outputs) + field(3, name) + field(4, op)


def halves(values):
    return struct.pack("<%de" % len(values), *values)


W = tensor("w", (4, 3), [n / 16 for n in range(12)])
GEMM = node("Gemm", "x w", "y")


class Files(Case):
    def report(self, data, *flags, name="net.onnx"):
        self.write(name, data)
        return json.loads(self.yardstick("import", name, "--format=json", *flags)[0])

    def parameters(self, data, *flags):
        return [one["name"] for one in self.report(data, *flags)["parameters"]]

    def test_two_names_stay_two(self):
        pairs = [("größe".encode(), "grüße".encode()), (b"a b", b"a\tb"), (b"a\xff", b"a\xfe"), (b"a b", b"a\\x20b"), (b"a\nb", b"a b"),
                 ("e\u0301".encode(), "\u00e9".encode()), (b"w\0a", b"w\0b"), ("\u200bw".encode(), b"w"), (b"W", b"w"),
                 ("n".encode() * 300 + b"1", "n".encode() * 300 + b"2"), ("\u00e9".encode() * 150, "\u00e9".encode() * 150 + b"x")]
        for one, other in pairs:
            nodes = [named("Gemm", [b"x", one], [b"h"], b"first"), named("Gemm", [b"h", other], [b"y"], b"second")]
            tensors = [tensor(one, (4, 5), [0.25] * 20), tensor(other, (5, 3), [0.5] * 15)]
            with self.subTest(one[:12]):
                names = self.parameters(model(nodes, tensors))
                self.assertEqual(len(set(names)), 2)
                for name in names:
                    self.assertNotRegex(name, r"[\s\x00-\x1f]")
                # What a list of names says is that one, whatever stands in it.
                self.study("[a]", "model = net.onnx", "framework = builtin", "data = synthetic", "steps = 4", "batch = 4",
                           "model.freeze = \"%s\"" % names[0].replace("\\", "\\\\"))
                listed, = json.loads(self.yardstick("check", "study.ys", "--format=json")[0])["files"]
                self.assertEqual({one["name"]: one["role"] for one in listed["params"]}, {names[0]: "constant", names[1]: "weight"})
        nodes = [named("Gemm", [b"x", b"w" * 5000], [b"y"], b"n")]
        self.write("net.onnx", model(nodes, [tensor(b"w" * 5000, (4, 3), [0.25] * 12)]))
        self.refusal("import", "net.onnx", words=["a name of 5000 bytes", "4096"])

    def test_nodes_stand_in_any_order(self):
        nodes = [node("Relu", "x", "a"), node("Gemm", "a w", "b"), node("Softmax", "b", "y")]
        first = self.report(model(nodes, [W]))
        for order in ((2, 1, 0), (1, 0, 2), (2, 0, 1)):
            other = self.report(model([nodes[n] for n in order], [W]))
            self.assertEqual((other["nodes"], other["parameters"]), (first["nodes"], first["parameters"]))
        self.write("net.onnx", model([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Gemm", "b w", "y")], [W]))
        self.refusal("import", "net.onnx", words=["reads b", "cycle"])

    def test_a_branch_that_is_known_is_taken(self):
        truth = tensor("t", (), b"\1", BOOL)
        # Both branches call a value `h` and a matrix `v`; they read what lies outside of them.
        for_true = graph([node("Relu", "a", "h"), node("Gemm", "h v", "z")], [tensor("v", (4, 3), [0.5] * 12)], (), ("z",))
        for_false = graph([node("Tanh", "a", "h"), node("Gemm", "h v", "z")], [tensor("v", (4, 5), [0.5] * 20)], (), ("z",))

        def branch(condition, before=(), tensors=(), then=for_true, other=for_false, more=()):
            return model([*before, node("Identity", "x", "a"), node("If", condition, "y", then_branch=then, else_branch=other), *more], tensors)

        def read(data):
            report = self.report(data)
            return [one["op"] for one in report["nodes"]], [json.loads(one["shape"]) for one in report["parameters"]]

        as_true, as_false = (["Relu", "Gemm"], [[3, 4]]), (["Tanh", "Gemm"], [[5, 4]])
        self.assertEqual(read(branch("t", tensors=[truth])), as_true)
        self.assertEqual(read(branch("t", tensors=[tensor("t", (1,), b"\0", BOOL)])), as_false)
        not_ = [node("Not", "t", "n"), node("Identity", "n", "m")]
        self.assertEqual(read(branch("m", not_, [truth])), as_false)
        # The shape of what depends on the data, as PyTorch's squeeze() asks it.
        shape = [node("Shape", "x", "s"), node("Gather", "s one", "e"), node("Equal", "e four", "t")]
        numbers = [tensor("one", (), [1], INT64), tensor("four", (), [4], INT64)]
        self.assertEqual(read(branch("t", shape, numbers)), as_true)
        self.assertEqual(read(branch("t", shape[:2] + [node("Greater", "e four", "t")], numbers)), as_false)
        # One within another, whose names are those of the outer, and two beside each other.
        inner = graph([node("Sigmoid", "h", "z")], (), (), ("z",))
        outer = graph([node("Relu", "a", "h"), node("If", "t", "i", then_branch=inner, else_branch=inner), node("Gemm", "i v", "z")],
                      [tensor("v", (4, 3), [0.5] * 12)], (), ("z",))
        self.assertEqual(read(branch("t", tensors=[truth], then=outer)), (["Relu", "Sigmoid", "Gemm"], [[3, 4]]))
        twice = [node("If", "t", "b", then_branch=graph([node("Relu", "a", "h")], (), (), ("h",)), else_branch=for_false),
                 node("If", "t", "c", then_branch=graph([node("Sigmoid", "b", "h")], (), (), ("h",)), else_branch=for_false)]
        self.assertEqual(read(model([node("Identity", "x", "a"), *twice, node("Gemm", "c w", "y")], [truth, W]))[0], ["Relu", "Sigmoid", "Gemm"])
        self.write("net.onnx", branch("t", [node("Relu", "x", "t")]))
        self.refusal("import", "net.onnx", words=["node y (If)"])

    def test_the_output_is_asked_for_where_there_are_two(self):
        two = model([node("Relu", "x", "a"), node("Gemm", "a w", "y"), node("Gemm", "a v", "boxes/2")],
                    [W, tensor("v", (4, 2), [0.5] * 8)], outputs=("y", "boxes/2"))
        self.write("net.onnx", two)
        self.refusal("import", "net.onnx", words=["2 outputs, y and boxes/2", "model.output = y", "--output"])
        self.assertEqual(self.parameters(two, "--output=y"), ["w"])
        self.assertEqual(self.parameters(two, "--output=box*"), ["v"])
        self.refusal("import", "net.onnx", "--output=z", words=["model.output = z", "no output is called so", "y and others"])
        self.refusal("import", "net.onnx", "--output=*", words=["both y and boxes/2"])
        keys = ["--model=net.onnx", "--data=synthetic", "--framework=builtin", "--batch=4", "--steps=4", "--repeat=1"]
        self.refusal("check", *keys, words=["model.output = y"])
        document, _ = self.result("run", *keys, "--model.output=boxes/2")
        trial, = document["trials"]
        self.assertEqual((trial["keys"]["model.output"], trial["status"], document["work"][0]["parameters"]), ("boxes/2", "ok", 8))
        self.refusal("check", "--model=lenet", *keys[1:], "--model.output=y", words=["model.output = y", "no ONNX file"])

    def test_open_height_and_width_are_those_of_the_job(self):
        self.write("net.onnx", model([node("Conv", "x k", "c", kernel_shape=[3, 3]), node("GlobalAveragePool", "c", "p"), node("Flatten", "p", "y")],
                                     [tensor("k", (10, 3, 3, 3), [0.01 * (n % 17) for n in range(270)])], IMAGE))
        keys = ["--model=net.onnx", "--framework=builtin", "--batch=4", "--steps=4", "--repeat=1"]
        self.refusal("check", *keys, "--data=synthetic", words=["open height, width", "input.size"])
        document, _ = self.result("run", *keys, "--data=synthetic", "--input.size=20")
        self.assertEqual(document["work"][0]["multiply_adds"], 10 * 27 * 18 * 18)
        document, _ = self.result("run", *keys, "--data=images", "--input.size=12", "--input.width=16")
        self.assertEqual(document["work"][0]["multiply_adds"], 10 * 27 * 10 * 14)
        self.refusal("check", *keys, "--data=digits", words=["[-1,3,-1,-1]", "the data are 1 x 28 x 28"])

    def test_half_precision_between_casts(self):
        half = tensor("w", (4, 3), halves([n / 16 for n in range(12)]), FLOAT16)
        one = tensor("one", (1,), halves([1.0]), FLOAT16)
        nodes = [node("Cast", "x", "h", to=FLOAT16), node("Relu", "h", "r"), node("Add", "r one", "s"), node("Gemm", "s w", "g"), node("Cast", "g", "y", to=FLOAT)]
        report = self.report(model(nodes, [half, one]))
        self.assertEqual([one["op"] for one in report["nodes"]][-1], "Gemm")
        image = [node("Cast", "x", "h", to=FLOAT16), node("Conv", "h k", "c", kernel_shape=[3, 3]), node("Relu", "c", "r"),
                 node("GlobalAveragePool", "r", "p"), node("Flatten", "p", "f"), node("Gemm", "f v", "g"), node("Softmax", "g", "q"), node("Cast", "q", "y", to=FLOAT)]
        tensors = [tensor("k", (4, 3, 3, 3), halves([n / 128 for n in range(108)]), FLOAT16), tensor("v", (4, 3), halves([n / 8 for n in range(12)]), FLOAT16)]
        self.write("net.onnx", model(image, tensors, (("x", (None, 3, 8, 8)),)))
        document, _ = self.result("run", "--model=net.onnx", "--data=synthetic", "--framework=builtin", "--batch=4", "--steps=4", "--repeat=1")
        self.assertEqual([(trial["status"], trial["proof"]["verdict"]) for trial in document["trials"]], [("ok", "pass")])
        # In and out in half precision, without casts.
        self.write("net.onnx", model(nodes[1:4] + [node("Identity", "g", "y")], [half, one], (("h", (None, 4)),), type_=FLOAT16))
        self.yardstick("import", "net.onnx")

    def test_other_files_are_told_by_what_they_are(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("archive/data.pkl", b"\x80\x02}" + bytes(17 << 20))
        good = model([GEMM], [W])
        kinds = {b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n": "git lfs pull",
                 b"/annex/objects/SHA256E-s9--00.onnx\n": "git annex get",
                 b"outs:\n- md5: 00\n": "dvc pull",
                 b"404: Not Found": "what a server says where there is no such file",
                 b"GGUF\x03\x00\x00\x00": "a GGUF file of weights",
                 b"\xef\xbb\xbf\r\n<!DOCTYPE html>\n<html>": "an HTML page", b"<html lang=en>": "an HTML page",
                 archive.getvalue(): "torch.onnx.export", pickle.dumps({}, 2): "torch.onnx.export", b"\x89HDF\r\n\x1a\n" + bytes(99): "Keras",
                 gzip.compress(good): "unpack", b"": "is empty", good[:len(good) // 2]: "bring it again"}
        for data, words in kinds.items():
            with self.subTest(words):
                self.write("net.onnx", data)
                self.assertIn("net.onnx", self.refusal("import", "net.onnx", words=[words]))
                self.refusal("check", "--model=net.onnx", "--data=synthetic", words=["net.onnx", words])
        self.write("net.pt", archive.getvalue())
        self.refusal("check", "--model=net.pt", "--data=synthetic", words=["net.pt", "torch.onnx.export"])
        self.write("net", good)
        self.refusal("check", "--model=./net", "--data=synthetic", words=["ends in .onnx"])
        os.rename(os.path.join(self.folder, "net"), os.path.join(self.folder, "NET.ONNX"))
        self.yardstick("check", "--model=NET.ONNX", "--data=synthetic", "--framework=builtin")
        self.write("net.onnx", model([GEMM], [tensor("w", (4, 3), external={"location": "w.bin", "offset": "0", "length": "48"})]))
        for more in b"", b"v1\noid sha256:%s\nsize 48\n" % (b"0" * 64):  # shorter than the values, and longer
            self.write("w.bin", b"version https://git-lfs.github.com/spec/" + more)
            self.refusal("import", "net.onnx", words=["w.bin", "git lfs pull"])

    def test_a_path_that_is_no_text_is_refused_by_name(self):
        self.folder = os.path.join(self.folder, os.fsdecode(b"d\xfc"))
        os.makedirs(os.path.join(self.folder, "photos"))
        self.write("net.onnx", model([GEMM], [W]))
        for key, name in (("--model=./net.onnx", "net.onnx"), ("--data=./photos", "photos")):
            self.refusal("check", key, words=["is no UTF-8 text", name])


if __name__ == "__main__":
    unittest.main()
