"""Networks of one's own: yardstick import, and model = FILE.onnx."""
import json
import os
import shutil
import unittest

import wire
from harness import CACHE, Case, tearDownModule  # noqa: F401

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
        self.assertNotIn("no dropout", text)  # Keras has it too, and no flag that keeps it
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

    def test_rows_of_each_and_spelled_operators_are_listed(self):
        self.fixture("folded")
        report = json.loads(self.yardstick("import", "folded.onnx", "--format=json")[0])
        operators = [node["op"] for node in report["nodes"]]
        self.assertEqual((operators.count("LayerNormalization"), operators.count("HardSwish"), operators.count("Sqrt")), (2, 2, 0))
        notes = "\n".join(report["notes"])
        for words in ("node /Add_12 (Add) and what leads to it is a LayerNormalization", "is fixed at 1 rows: read as any number of them",
                      "node /Reshape_13 (Reshape) makes 16 rows of each: they are an axis behind the batch"):
            self.assertIn(words, notes)

    def test_what_is_trained_is_told_from_what_is_not(self):
        with open(os.path.join(self.folder, "net.onnx"), "wb") as file:
            file.write(wire.model([wire.node("Relu", "x", "a"), wire.node("Mul", "a m", "b"), wire.node("Gemm", "b w", "y")],
                                  [wire.tensor("m", (4,), [1, 0, 1, 1]), wire.tensor("w", (4, 3), [0.5] * 12)]))
        text, _ = self.yardstick("import", "net.onnx")
        self.assertRegex(text, r"\n  m +constant +\[4\]\n")
        self.assertRegex(text, r"\n  w +weight +\[3,4\]\n")
        report = json.loads(self.yardstick("import", "net.onnx", "--format=json")[0])
        self.assertEqual([(one["name"], one["trained"]) for one in report["parameters"]], [("m", False), ("w", True)])
        self.fixture("resnet")
        text, _ = self.yardstick("import", "resnet.onnx")
        self.assertRegex(" ".join(text.split()), "no dropout: .*training=torch.onnx.TrainingMode.TRAINING")

    def test_every_small_model_comes_back_from_its_export(self):
        """Large ones: tests/unit/onnx/test_read.c. Without what ONNX has no word for, or says by zeros and padding."""
        def bare(graph):
            del graph["name"]
            for param in graph["params"]:
                for key in ("init", "lr_mult", "decay_mult"):
                    param.pop(key, None)
            for node in graph["nodes"]:
                for key in ("connections", *(["ceil_mode", "pads"] if node["op"].endswith("Pool") else [])):
                    node["attrs"].pop(key, None)
            return graph

        compared = 0
        for model in json.loads(self.yardstick("list", "models", "--format=json")[0])["models"]:
            name = model["name"]
            if model["parameters"] > 3e6 or len(model["input"]) != 3:
                continue
            with self.subTest(name):
                for path in ("net.onnx", "net.json"):
                    self.yardstick("export", "--model=" + name, "--out=" + path)
                self.yardstick("import", "net.onnx", "--out=again.json")
                self.assertEqual(bare(self.read("again.json")), bare(self.read("net.json")))
                compared += 1
        self.assertGreater(compared, 10)

    def test_what_is_not_understood_is_refused(self):
        self.write("text.onnx", "no network")
        self.write("empty.onnx", "")
        os.mkfifo(os.path.join(self.folder, "pipe.onnx"))
        self.refusal("import", words=["import net.onnx"])
        self.refusal("import", "none.onnx", words=["none.onnx"])
        self.refusal("import", "text.onnx", words=["text.onnx is no ONNX file"])
        self.refusal("import", "empty.onnx", words=["empty.onnx is no ONNX file"])
        self.refusal("import", "study.jsonl", words=["study.jsonl", "`yardstick results import`"])
        self.refusal("import", "pipe.onnx", words=["pipe.onnx is not a regular file"])
        self.fixture("resnet")
        self.refusal("import", "resnet.onnx", "--data=digits", words=["its input", "1 x 28 x 28"])
        self.refusal("import", "resnet.onnx", "--data=nothing", words=["--data=nothing"])
        self.study("[a]", "model = text.onnx", *LINES)
        self.refusal("check", "study.ys", words=["study.ys:4:9: ", "model = text.onnx", "no ONNX file"])

    def test_every_form_is_trained_and_proven(self):
        for name in ("resnet", "mobilenet", "keras", "old", "convnext", "sundry", "upward", "folded"):
            self.fixture(name)
        self.study("[a]", "model = {resnet.onnx, mobilenet.onnx, keras.onnx, old.onnx, convnext.onnx, sundry.onnx, upward.onnx, folded.onnx}", *LINES,
                   head="version = 1\nname = t\nrepeat = 1\n")
        document, _ = self.result("run", "study.ys")
        self.assertEqual([trial["status"] for trial in document["trials"]], ["ok"] * 8)
        self.assertEqual([trial["proof"]["verdict"] for trial in document["trials"]], ["pass"] * 8)
        self.assertEqual(sorted(line["parameters"] for line in document["work"]), [621, 768, 934, 1006, 1877, 2213, 3997, 6605])
        self.assertTrue(all(len(line["model_hash"]) == 64 for line in document["work"]))

    def test_a_check_says_what_was_assumed(self):
        self.fixture("keras")
        self.study("[a]", "model = keras.onnx", *LINES)
        text, _ = self.yardstick("check", "study.ys")
        self.assertIn("keras.onnx: changed, left out, assumed", text)
        self.assertIn("taken to be pixels in [0, 1]", text)
        plan = json.loads(self.yardstick("check", "study.ys", "--format=json")[0])
        self.assertEqual([os.path.basename(line["model"]) for line in plan["files"]], ["keras.onnx"])

    def test_a_check_lists_what_is_trained_frozen_and_tied(self):
        with open(os.path.join(self.folder, "net.onnx"), "wb") as file:
            file.write(wire.model([wire.node("Relu", "x", "a"), wire.node("Mul", "a m", "b"), wire.node("MatMul", "b s", "c"),
                                   wire.node("MatMul", "c s", "d"), wire.node("Gemm", "d w", "y")],
                                  [wire.tensor("m", (4,), [1, 0, 1, 1]), wire.tensor("s", (4, 4), [0.5] * 15 + [1]),
                                   wire.tensor("w", (4, 3), [0.5] * 12)]))
        self.study("[a]", "model = net.onnx", *LINES)
        text, _ = self.yardstick("check", "study.ys")
        for line in (r"parameters of a\n", r"  trained +s, w\n", r"  constant +m\n", r"  tied +s \(2 nodes\)\n"):
            self.assertRegex(text, line)
        self.study("[a]", "model = net.onnx", "model.freeze = {w, s}", "model.untie = s", *LINES)
        plan = json.loads(self.yardstick("check", "study.ys", "--format=json")[0])
        found = [{param["name"]: (param["role"], param["nodes"]) for param in line["params"]} for line in plan["files"]]
        wanted = {"m": ("constant", 1), "s": ("weight", 1), "w": ("weight", 1), "s.copy2": ("weight", 1)}
        self.assertEqual(found, [dict(wanted, w=("constant", 1)), {**wanted, "s": ("constant", 1), "s.copy2": ("constant", 1)}])
        self.assertEqual([line["trial"] for line in plan["files"]], [trial["id"] for trial in plan["trials"]])

    def test_without_data_rows_are_drawn_for_a_file(self):
        self.fixture("resnet")
        shutil.copy(os.path.join(self.folder, "resnet.onnx"), os.path.join(self.folder, "other.onnx"))
        plan = json.loads(self.yardstick("check", "--model=resnet.onnx", "--framework=builtin", "--format=json")[0])
        self.assertEqual(plan["trials"][0]["status"], "ok")
        self.assertIn("the data are synthetic: rows drawn at random", "\n".join(plan["files"][0]["notes"]))
        document, _ = self.result("run", "--model=resnet.onnx", "--repeat=1",
                                  *["--" + line.replace(" = ", "=") for line in LINES if not line.startswith("data")])
        trial, = document["trials"]
        self.assertEqual((trial["keys"]["data"], trial["status"], trial["proof"]["verdict"]), ("synthetic", "ok", "pass"))
        self.study("[a]", "model = {resnet.onnx, other.onnx}", *[line for line in LINES if not line.startswith("data")])
        self.assertEqual(len(json.loads(self.yardstick("check", "study.ys", "--format=json")[0])["files"]), 2)
        self.study("[a]", "model = {resnet.onnx, lenet}", *[line for line in LINES if not line.startswith("data")])
        self.refusal("check", "study.ys", words=["has no data: write data = NAME"])

    def test_external_data_that_changed_are_another_model(self):
        self.fixture("external")
        values = os.path.join(self.folder, "external.bin")
        shutil.copy(os.path.join(FIXTURES, "external.bin"), values)
        self.study("[a]", "model = external.onnx", "init = file", *LINES, head="version = 1\nname = t\nrepeat = 1\n")
        first, _ = self.result("run", "study.ys")
        self.yardstick("run", "study.ys", "--repeat=3", "--time-limit=1ms", code=124)  # one run is longer than that
        with open(values, "r+b") as file:
            file.seek(64)
            byte = file.read(1)
            file.seek(64)
            file.write(bytes([byte[0] ^ 1]))
        self.refusal("resume", words=["external.onnx has changed since this study began"])
        second, _ = self.result("run", "study.ys")
        (before,), (after,) = first["work"], second["work"]
        self.assertNotEqual(before["model_hash"], after["model_hash"])
        os.remove(values)
        self.refusal("check", "study.ys", words=["external.bin are not there"])

    def test_a_job_says_how_inputs_are_fed(self):
        self.fixture("resnet")  # [N,3,24,24]
        keys = ["--model=resnet.onnx", "--data=synthetic"]
        refusals = {"model.input=x": ["must be ARRAY=INPUT"], "model.input=left=nobody": ["no input is called \"nobody\""],
                    "model.input=y=input": ["y, logits and loss are taken"], "model.layout=chwn": ["write auto, nchw or nhwc"]}
        for key, words in refusals.items():
            self.refusal("check", *keys, "--" + key, words=words)
        self.refusal("check", "--model=lenet", "--data=synthetic", "--model.input=a=x", words=["model.input", "no ONNX file"])
        self.refusal("check", "--model=lenet", "--data=synthetic", "--model.layout=nhwc", words=["model.layout", "no ONNX file"])
        text, _ = self.yardstick("import", "resnet.onnx", "--input=pixels=*", "--out=r.json")
        self.assertEqual(self.read("r.json")["inputs"][0]["name"], "pixels")
        self.yardstick("import", "resnet.onnx", "--layout=nhwc", "--out=r.json")
        self.assertEqual(self.read("r.json")["inputs"][0]["shape"], ["N", 24, 3, 24])
        document, _ = self.result("run", *keys, "--model.input=pixels=inp*", "--model.layout=nchw", "--init=file", "--repeat=1",
                                  *["--" + line.replace(" = ", "=") for line in LINES if not line.startswith("data")])
        trial, = document["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
        self.assertEqual((trial["keys"]["model.input"], trial["keys"]["model.layout"]), ("pixels=inp*", "nchw"))

    def test_what_the_file_leaves_open_the_data_say(self):
        self.fixture("wide")  # [N,1,height,width], one dense layer behind a mean
        self.refusal("check", "--model=wide.onnx", "--data=synthetic", words=["open height, width", "--data=NAME"])
        document, _ = self.result("run", "--model=wide.onnx", "--data=digits", "--init=file", "--repeat=1",
                                  *["--" + line.replace(" = ", "=") for line in LINES if not line.startswith("data")])
        trial, = document["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))

    def works(self):
        """The graphs and initial values that runs got."""
        return {os.path.join(folder, name) for folder, _, names in os.walk(CACHE) for name in names
                if name in ("graph.json", "weights.safetensors")}

    def prepared(self, *keys):
        """Graph and values that a run with these keys is the first to need."""
        before = self.works()
        document, _ = self.result("run", "--model=resnet.onnx", *["--" + line.replace(" = ", "=") for line in LINES], *keys,
                                  "--repeat=1")
        self.assertEqual([trial["status"] for trial in document["trials"]], ["ok"])
        self.assertEqual([trial["proof"]["verdict"] for trial in document["trials"]], ["pass"])
        made = sorted(self.works() - before)
        with open([path for path in made if path.endswith("json")][0]) as file:
            graph = json.load(file)
        with open([path for path in made if path.endswith("safetensors")][0], "rb") as file:
            return graph, file.read(), document

    def test_a_job_says_what_is_trained_and_where_values_come_from(self):
        self.fixture("resnet")
        self.yardstick("import", "resnet.onnx", "--out=r.json", "--weights=r.safetensors")
        graph = self.read("r.json")
        trained = [param["name"] for param in graph["params"] if param["role"] == "weight"]
        refusals = {"model.freeze=nobody": ["no parameter of", "nobody"], "model.freeze=*": ["nothing to train"],
                    "model.tie=" + trained[0]: ["names one parameter"], "model.mean=1 2": ["1 or 3"],
                    "model.untie=" + trained[0]: ["belongs to one node alone"], "model.std=0": ["above 0"]}
        for key, words in refusals.items():
            self.refusal("check", "--model=resnet.onnx", "--data=synthetic", "--" + key, words=words)
        first = trained[0]
        found, values, document = self.prepared("--model.freeze=" + first, "--model.mean=0.5", "--model.std=0.25 0.5 1",
                                                "--init=file", "--seed=5")
        factors = {param["name"]: param["lr_mult"] for param in found["params"]}
        self.assertEqual((factors[first], factors[trained[1]]), (0, 1))
        self.assertEqual([node["attrs"]["std"] for node in found["nodes"] if node["op"] == "normalize"], [[0.25, 0.5, 1]])
        keys = document["trials"][0]["keys"]
        self.assertEqual((keys["model.freeze"], keys["model.tie"], keys["init"]), (first, None, "file"))
        with open(os.path.join(self.folder, "r.safetensors"), "rb") as file:
            self.assertEqual(values, file.read())
        self.refusal("check", "--model=r.json", "--data=synthetic", "--init=file", words=["init = file", "no ONNX file"])

    def test_answers_come_from_the_weights_of_the_file(self):
        self.fixture("resnet")
        self.yardstick("import", "resnet.onnx", "--out=r.json", "--weights=r.safetensors")
        with open(os.path.join(self.folder, "r.safetensors"), "rb") as file:
            held = file.read()
        keys = ["--model=resnet.onnx", "--framework=builtin", "--data=synthetic", "--batch=8", "--threads=1", "--repeat=1"]
        for more, said, words in ((["--mode=infer", "--requests=8"], "file", "the file's weights"),
                                  (["--mode=infer", "--requests=8", "--init=seed"], "seed", "weights drawn with the seed"),
                                  (["--steps=8", "--block=4"], "seed", "weights drawn with the seed")):
            before = self.works()
            document, _ = self.result("run", *keys, *more, "--seed=77")
            self.assertEqual(document["trials"][0]["keys"]["init"], said)
            self.assertIn(words, " ".join(self.yardstick("show", "--details")[0].split()))
            for path in self.works() - before:
                if path.endswith("safetensors"):
                    with open(path, "rb") as file:
                        self.assertEqual(file.read() == held, said == "file")
        self.assertIn("the weights are those of the file", self.yardstick("check", *keys, "--mode=infer", "--requests=8")[0])
        self.assertIn("the weights are drawn with the seed", self.yardstick("check", *keys, "--steps=8")[0])


if __name__ == "__main__":
    unittest.main()
