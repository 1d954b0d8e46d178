"""model = FILE.json: a graph of one's own, relative to the study, known in the results by its content."""
import hashlib
import json
import os

from harness import Case, tearDownModule  # noqa: F401

LINES = ["framework = builtin", "data = digits", "batch = 8", "steps = 5", "block = 5", "threads = 1"]


class ModelFiles(Case):
    def model(self, path="nets/own.json", name="mlp"):
        os.makedirs(os.path.dirname(os.path.join(self.folder, path)) or self.folder, exist_ok=True)
        self.yardstick("export", "--model=" + name, "--out=" + path)
        return os.path.join(self.folder, path)

    def test_a_file_beside_the_study_is_proven_and_trained_as_the_model_that_it_holds(self):
        path = self.model()
        os.makedirs(os.path.join(self.folder, "elsewhere"))
        self.study("[a]", "model = {mlp, nets/own.json}", *LINES, head="version = 1\nname = t\nrepeat = 1\n")
        document, _ = self.result("run", "study.ys")
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        work = {line["model"]: line for line in document["work"]}
        self.assertEqual({name: line["model_hash"] for name, line in work.items()}, {"mlp": None, os.path.realpath(path): digest})
        self.assertEqual({line["parameters"] for line in work.values()}, {535818})
        self.assertEqual([trial["proof"]["verdict"] for trial in document["trials"]], ["pass", "pass"])
        losses = [trial["metrics"]["final_loss"]["value"] for trial in document["trials"]]
        self.assertEqual(losses[0], losses[1])
        self.assertEqual([trial["factors"]["model"] for trial in document["trials"]], ["mlp", os.path.realpath(path)])

    def test_the_path_starts_where_it_stands(self):
        self.model()
        os.makedirs(os.path.join(self.folder, "below"))
        self.study("[a]", "model = ../nets/own.json", *LINES, name="below/study.ys")
        self.yardstick("check", "below/study.ys")
        self.yardstick("check", "--model=nets/own.json", "--data=digits", "--framework=builtin", "--batch=8", "--steps=5")
        self.refusal("check", "below/study.ys", "--model=own.json", words=["model = own.json", "own.json: No such file"])

    def test_what_cannot_be_a_model_is_refused_with_its_place(self):
        self.write("empty.json", "{}")
        self.write("torn.json", '{"format"')
        self.write("large.json", " " * (16 * 1024 * 1024 + 1))
        os.mkfifo(os.path.join(self.folder, "pipe.json"))
        os.makedirs(os.path.join(self.folder, "folder.json"))
        for name, words in (("none", "No such file"), ("empty", "format must be"), ("torn", "torn.json"), ("large", "16777216"),
                            ("pipe", "not a regular file"), ("folder", "is a folder")):
            self.study("[a]", "model = %s.json" % name, *LINES)
            self.refusal("check", "study.ys", words=["study.ys:4:9: ", "model = %s.json" % name, words])

    def test_data_of_another_shape_are_refused(self):
        self.model(name="resnet20")
        self.study("[a]", "model = nets/own.json", *LINES)
        self.refusal("run", "study.ys", words=["own.json is a network for 3x32x32, 10 classes, U8", "the data are 1x28x28"])

    def test_synthetic_data_follow_the_file(self):
        self.model(name="resnet20")
        self.study("[a]", "framework = null", "model = nets/own.json", "data = synthetic", "batch = 8", "steps = 5", "block = 5")
        self.yardstick("check", "study.ys")

    def test_resume_wants_the_file_that_the_study_began_with(self):
        path = self.model()
        study = self.study("[a]", "framework = null", "model = nets/own.json", *LINES[1:], head="version = 1\nname = t\nrepeat = 3\n")
        self.yardstick("run", study, "--time-limit=1ms", code=124)
        with open(path) as file:
            graph = json.load(file)
        with open(path, "w") as file:
            json.dump(dict(graph, name="another"), file)
        message = self.refusal("resume", words=["own.json has changed since this study began"])
        self.assertIn("begin a new study", message)
        with open(path, "w") as file:
            file.write(json.dumps(graph))
        self.refusal("resume", words=["has changed"])  # the same graph in other bytes is another file

    def test_the_networks_of_frameworks_are_models_by_name(self):
        out, _ = self.yardstick("list", "models", "--format=json")
        names = {model["name"]: model for model in json.loads(out)["models"]}
        self.assertEqual(names["torch-mnist"]["title"], "Torch's demo")
        self.assertEqual(names["tf-cifar10"]["input"], [3, 24, 24])
        self.yardstick("check", "--framework=builtin", "--model=torch-mnist", "--data=digits")
        self.refusal("check", "--framework=builtin", "--model=torch-mnists", "--data=digits", words=["did you mean torch-mnist?"])

    def test_families_come_in_sizes_that_a_job_chooses(self):
        out, _ = self.yardstick("list", "models", "resnet20", "--format=json")
        self.assertEqual([key["name"] for key in json.loads(out)["models"][0]["keys"]], ["model.depth"])
        out, _ = self.yardstick("list", "models", "shufflenet-v2")
        self.assertIn("model.width = 1", out)
        self.assertIn("0.5, 1, 1.5 or 2", " ".join(out.split()))
        given = ["check", "--framework=builtin", "--data=digits"]
        out, _ = self.yardstick(*given, "--model=resnet20", "--model.depth=8,14", "--model.classes=12")
        self.assertIn("model.depth=14", out)
        self.refusal(*given, "--model=resnet20", "--model.depth=33", words=["model.depth = 33", "8, 14, 20 ... 1202"])
        self.refusal(*given, "--model=lenet", "--model.width=2", words=["lenet has no such key", "model.classes"])
        self.refusal(*given, "--model=lenet", "--model.classes=5", words=["at least the 10 classes of the data digits"])


if __name__ == "__main__":
    import unittest
    unittest.main()
