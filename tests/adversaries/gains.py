"""The table of docs/proof.md of what each adversary gains, of which tell() says a row: `make test-adversaries` prints it."""
import os
import subprocess
import unittest

from harness import ROOT, Case

RECIPES = os.path.join(ROOT, "tests", "adversaries")
NUMPY = subprocess.run(["python3", "-c", "import numpy"], capture_output=True).returncode == 0


@unittest.skipUnless(NUMPY, "NumPy is not installed")
class Adversary(Case):
    program = None  # which has the adversaries

    def tell(self, cheat, how, *gains, none="no verdict"):
        """`gains`: how many times as fast as its own work it says that it is, and what a verdict may rest on; `none` without."""
        print("# | %s %s | %s | %s | %s |" % (self.program, cheat, *(["%.3g" % gain for gain in gains] or [none] * 2), how))

    def tell_end(self, cheat, trial):
        """Of one that was found: how."""
        audit = trial.get("proof", {}).get("audit") or {"verdict": "missing"}
        self.tell(cheat, "`%s`" % trial["status"] if trial["status"] != "ok" else "audit `%s`" % audit["verdict"])
