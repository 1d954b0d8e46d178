"""Each adversary of cheat.py ends as docs/proof.md says."""
import os
import subprocess
import unittest

from harness import ROOT, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

RECIPES = os.path.join(ROOT, "tests", "adversaries")
NUMPY = subprocess.run(["python3", "-c", "import numpy"], capture_output=True).returncode == 0


@unittest.skipUnless(NUMPY, "NumPy is not installed")
class Adversaries(Case):
    def run_cheat(self, cheat, *flags, code=0):
        """The trial in the result document; its proof is that of an honest adapter."""
        document, err = self.result(
            "run", "--framework=cheat", "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--batch=16", "--threads=1",
            "--lr=0.01", "--momentum=0.9", "--weight-decay=0.05", "--steps=40", "--block=4", "--env.CHEAT=" + cheat, *flags,
            code=code, timeout=300)
        trial = document["trials"][0]
        self.assertEqual(trial["proof"]["verdict"], "pass")
        return trial, err


class FirstLoss(Adversaries):
    """The loss of a run's first step is that of the batch that it was to begin with."""

    def test_of_one_that_does_its_work(self):
        trial, _ = self.run_cheat("nothing")
        self.assertEqual(trial["status"], "ok")

    def test_of_one_that_does_other_work(self):
        for cheat in ("other_rows", "half_batch", "made_up"):
            with self.subTest(cheat):
                trial, err = self.run_cheat(cheat, code=1)
                self.assertEqual(trial["status"], "wrong_output")
                self.assertIn("it trains something else than the plan says", err)
