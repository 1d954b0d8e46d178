"""Rows that are no images: two float inputs, a shared layer, a broadcast sum and a class for each position (check_rows);
int32 inputs and numbers as target (check_numbers). From the data set through the proof to the result."""
import glob
import importlib.util
import json
import os
import unittest

from harness import CACHE, RECIPES, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

ROWS = ["--model=check_rows", "--data=synthetic", "--threads=1", "--batch=8"]
NUMBERS = ["--model=check_numbers", "--data=synthetic", "--threads=1", "--batch=8"]


def installed(name):
    """The folder of environments that has the framework, None without."""
    cache = os.environ.get("YARDSTICK_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                                                            "yardstick")
    envs = os.path.join(cache, "envs")
    return envs if glob.glob(os.path.join(envs, name + "@*[0-9]")) else None


class Rows(Case):
    def proofs(self, *flags):
        out, _ = self.yardstick("verify", *flags, "--format=json", "--fresh")
        return [trial["proof"] for trial in json.loads(out)]

    def passes(self, *flags):
        for proof in self.proofs(*flags):
            self.assertEqual(proof["verdict"], "pass", proof)
            self.assertTrue(any(check["name"] == "logits" and check["half"] == "meaning" for check in proof["checks"]))

    def test_are_proven_in_the_built_in_engine(self):
        self.passes("--framework=builtin", *ROWS)
        self.passes("--framework=builtin", *NUMBERS)

    def test_are_trained_saved_and_evaluated(self):
        out, _ = self.yardstick("run", "--framework=builtin", *ROWS, "--steps=20", "--block=5", "--lr=0.1", "--format=json")
        result = json.loads(out)
        self.assertEqual([work["unit"] for work in result["work"]], ["sequences"])
        trial, = result["trials"]
        self.assertEqual(trial["status"], "ok", trial)
        self.assertTrue(0 < trial["metrics"]["accuracy"]["value"] < 1)  # of 3 classes, drawn at random
        self.assertTrue(0.9 < trial["metrics"]["test_loss"]["value"] < 1.4)  # log 3 is 1.1
        self.yardstick("report")
        with open(os.path.join(self.folder, "yardstick-results", "001-run", "report.html")) as file:
            page = file.read()
        self.assertIn("sequences per second", page)
        self.assertNotIn("image", page)

    def test_answer_requests(self):
        proof, = self.proofs("--framework=builtin", *ROWS, "--mode=infer")
        self.assertEqual(proof["verdict"], "pass", proof)

    def test_of_images_are_no_rows_of_that_network(self):
        _, err = self.yardstick("verify", "--framework=builtin", "--model=check_rows", "--data=digits", "--batch=8", code=2)
        self.assertIn("the data set digits has not the rows that the model check_rows takes", err)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_are_unsupported_by_an_adapter_that_does_not_declare_them(self):
        proof, = self.proofs("--framework=plain", "--recipes=" + RECIPES, *NUMBERS)
        self.assertEqual(proof["verdict"], "none", proof)
        self.assertIn("ended as unsupported", proof["reason"])

    @unittest.skipUnless(installed("pytorch"), "PyTorch is not installed: yardstick install pytorch")
    def test_are_proven_in_pytorch(self):
        os.makedirs(CACHE, exist_ok=True)
        os.symlink(installed("pytorch"), os.path.join(CACHE, "envs"))
        self.passes("--framework=pytorch", *ROWS)
