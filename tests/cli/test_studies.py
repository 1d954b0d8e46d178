"""The studies that are shipped: each can be read, and its models can be built. On random data, so that nothing is fetched."""
import glob
import os
import re
import unittest

from harness import ROOT, Case, tearDownModule  # noqa: F401


class Studies(Case):
    def test_every_study_resolves(self):
        studies = glob.glob(os.path.join(ROOT, "studies", "**", "*.ys"), recursive=True)
        self.assertGreater(len(studies), 10)
        for path in studies:
            with self.subTest(os.path.relpath(path, ROOT)):
                with open(path) as file:
                    text = file.read()
                # The defaults of frameworks are for data sets that would have to be fetched. Where other sections stand beside them, such
                # a trial is checked as one that has none.
                is_own = re.search(r"^\[global\]\n[^\[]*^compare = own", text, re.MULTILINE)
                own = [["--own-data=" + data] for data in ("mnist", "cifar10")] if is_own else [[]]
                frameworks = re.findall(r"^framework = \{(.*)\}", text, re.MULTILINE)
                for flags in own:
                    out, _ = self.yardstick("check", path, "--data=synthetic", *flags)
                    for name in ", ".join(frameworks).split(", ") if frameworks else ():
                        self.assertIn("framework=" + name, out)


class Datasets(Case):
    def test_the_list_shows_form_rows_and_what_to_do(self):
        out, _ = self.yardstick("list", "datasets")
        lines = out.splitlines()
        at = {line.split()[0]: i for i, line in enumerate(lines)}
        for name in ("mnist", "fashion-mnist", "cifar10", "cifar100"):
            self.assertIn("missing", lines[at[name]])
            self.assertEqual(lines[at[name] + 1], "    run: yardstick data fetch %s" % name)
        self.assertIn("3x32x32    10 classes   50000 + 10000 rows", lines[at["cifar10"]])
        self.assertIn("of the model's usual shape and classes", lines[at["synthetic"]])
        self.assertTrue(all(len(line) <= 80 for line in lines), out)

    def test_synthetic_has_the_form_of_each_model(self):
        job = self.study("[both]", "framework = null", "model = {mlp, caffe-cifar10}", "data = synthetic", "batch = 8",
                         "steps = 20", "block = 5", "threads = 1", head="version = 1\nrepeat = 1\n")
        result, _ = self.result("run", job)
        work = {entry["model"]: entry for entry in result["work"]}
        self.assertEqual({model: entry["data"] for model, entry in work.items()},
                         {"mlp": "synthetic", "caffe-cifar10": "synthetic"})
        self.assertNotEqual(work["mlp"]["train_hash"], work["caffe-cifar10"]["train_hash"])
        self.assertEqual(work["mlp"]["parameters"], 535818)  # 784-512-256-10: the form is 1x28x28 with 10 classes
        out, _ = self.yardstick("show", "last", "--details")
        self.assertIn("accuracy means nothing", " ".join(out.split()))

    def test_synthetic_cannot_be_fetched_or_be_too_small(self):
        self.refusal("data", "fetch", "synthetic", words=["made when a study uses it"])
        self.refusal("check", "--framework=null", "--model=mlp", "--data=synthetic", "--batch=5000",
                     words=["batch = 5000", "4096"])


if __name__ == "__main__":
    unittest.main()
