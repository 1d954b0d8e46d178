"""Networks as files: ONNX and JSON."""
import json
import os
import unittest

from harness import Case, tearDownModule  # noqa: F401


class Export(Case):
    def size(self, name):
        return os.path.getsize(os.path.join(self.folder, name))

    def test_a_model_with_its_weights(self):
        self.yardstick("export", "--model=mlp", "--out=m.onnx")
        parameters = 535818
        self.assertTrue(4 * parameters < self.size("m.onnx") < 4 * parameters + 4096)
        self.yardstick("export", "--model=mlp", "--precision=f64", "--out=d.onnx")
        self.assertTrue(8 * parameters < self.size("d.onnx") < 8 * parameters + 4096)
        self.assertEqual(sorted(os.listdir(self.folder)), ["d.onnx", "m.onnx"])

    def content(self, *arguments):
        self.yardstick("export", *arguments, "--out=x.onnx")
        with open(os.path.join(self.folder, "x.onnx"), "rb") as file:
            return file.read()

    def test_a_seed_says_which_weights(self):
        first = self.content("--model=mlp")
        self.assertEqual(self.content("--model=mlp", "--seed=1"), first)
        self.assertNotEqual(self.content("--model=mlp", "--seed=2"), first)

    def test_a_graph_goes_out_and_comes_back(self):
        self.yardstick("export", "--model=lenet", "--data=cifar10", "--out=g.json")
        with open(os.path.join(self.folder, "g.json")) as file:
            self.assertEqual(json.load(file)["inputs"][0]["shape"], ["N", 3, 32, 32])
        self.assertEqual(self.content("--model=g.json"), self.content("--model=lenet", "--data=cifar10"))

    def test_what_cannot_be_written_is_refused(self):
        self.refusal("export", "--model=lenet", words=["--out=FILE.onnx"])
        self.refusal("export", "--out=l.onnx", words=["--model=NAME"])
        self.refusal("export", "--model=lenet", "--out=l.pb", words=["l.pb", "FILE.onnx"])
        self.refusal("export", "--model=lenett", "--out=l.onnx", words=["lenett", "list models"])
        self.refusal("export", "--model=lenet", "--data=cifar", "--out=l.onnx", words=["cifar", "list datasets"])
        self.refusal("export", "--model=lenet", "--precision=bf16", "--out=l.onnx", words=["bf16", "f64"])
        self.refusal("export", "--model=lenet", "--seed=-1", "--out=l.onnx", words=["-1"])
        self.refusal("export", "--model=lenet", "--seed=2", "--out=l.json", words=["l.json", "no weights"])
        self.refusal("export", "--model=missing.json", "--out=l.onnx", words=["missing.json"])
        self.refusal("export", "--model=lenet", "--out=no/such/folder/l.onnx", code=7, words=["no/such/folder"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_weights_of_another_network_are_refused(self):
        text = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        self.write("w.safetensors", len(text).to_bytes(8, "little") + text + b"\0\0\0\0")
        self.refusal("export", "--model=mlp", "--weights=w.safetensors", "--out=m.onnx", words=["w.safetensors", "weight"])
        self.assertEqual(os.listdir(self.folder), ["w.safetensors"])

    def test_flags_of_a_network_belong_to_export(self):
        self.refusal("show", "--model=lenet", words=["--model"])
        self.refusal("list", "models", "--out=x", words=["--out"])


if __name__ == "__main__":
    unittest.main()
