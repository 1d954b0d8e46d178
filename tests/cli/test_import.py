"""Networks of one's own: yardstick import, and model = FILE.onnx."""
import json
import os
import shutil
import unittest

from harness import Case, tearDownModule  # noqa: F401

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "onnx")
LINES = ["framework = builtin", "data = synthetic", "batch = 8", "steps = 12", "block = 4", "threads = 1", "lr = 0.01"]


class Import(Case):
    def fixture(self, name, to=None):
        shutil.copy(os.path.join(FIXTURES, name + ".onnx"), os.path.join(self.folder, to or name + ".onnx"))

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return json.load(file)

    def test_what_a_file_is_and_what_was_changed_is_listed(self):
        self.fixture("keras")
        text, _ = self.yardstick("import", "keras.onnx", "--out=k.json", "--weights=k.safetensors")
        for word in ("keras.onnx, operator set 15, by tf2onnx", "normalize", "(N, height, width, channels)", "not trained",
                     "is padding of the node behind it", "is the bias of node /Conv_8", "6605 parameters"):
            self.assertIn(word, text)
        graph = self.read("k.json")
        self.assertEqual(graph["inputs"][0]["shape"], ["N", 3, 12, 14])
        self.assertEqual([node["op"] for node in graph["nodes"]].count("Transpose"), 1)
        self.yardstick("export", "--model=k.json", "--weights=k.safetensors", "--out=again.onnx")
        report = json.loads(self.yardstick("import", "again.onnx", "--format=json")[0])
        self.assertEqual(report["producer"], "yardstick")
        self.assertEqual(report["parameter_count"], 6605)

    def test_what_is_not_understood_is_refused(self):
        self.write("text.onnx", "no network")
        self.write("empty.onnx", "")
        os.mkfifo(os.path.join(self.folder, "pipe.onnx"))
        self.refusal("import", words=["import net.onnx"])
        self.refusal("import", "none.onnx", words=["none.onnx"])
        self.refusal("import", "text.onnx", words=["text.onnx is no ONNX file"])
        self.refusal("import", "empty.onnx", words=["empty.onnx is no ONNX file"])
        self.refusal("import", "pipe.onnx", words=["pipe.onnx is not a regular file"])
        self.fixture("resnet")
        self.refusal("import", "resnet.onnx", "--data=digits", words=["its input", "1 x 28 x 28"])
        self.refusal("import", "resnet.onnx", "--data=nothing", words=["--data=nothing"])
        self.study("[a]", "model = text.onnx", *LINES)
        self.refusal("check", "study.ys", words=["study.ys:4:9: ", "model = text.onnx", "no ONNX file"])

    def test_every_form_is_trained_and_proven(self):
        for name in ("resnet", "mobilenet", "keras", "old"):
            self.fixture(name)
        self.study("[a]", "model = {resnet.onnx, mobilenet.onnx, keras.onnx, old.onnx}", *LINES,
                   head="version = 1\nname = t\nrepeat = 1\n")
        document, _ = self.result("run", "study.ys")
        self.assertEqual([trial["status"] for trial in document["trials"]], ["ok"] * 4)
        self.assertEqual([trial["proof"]["verdict"] for trial in document["trials"]], ["pass"] * 4)
        self.assertEqual(sorted(line["parameters"] for line in document["work"]), [934, 1006, 3997, 6605])
        self.assertTrue(all(len(line["model_hash"]) == 64 for line in document["work"]))


if __name__ == "__main__":
    unittest.main()
