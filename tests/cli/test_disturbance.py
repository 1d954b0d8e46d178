"""What else the machine does while a run is measured: marked, shown, and run again unless the job says otherwise."""

import json
import subprocess
import sys
import unittest

from harness import Case, tearDownModule  # noqa: F401

# Runs of 1.2 s that use no processor time themselves.
SLOW = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=120", "--block=5",
        "--opt.null.rate=800", "--repeat=1"]


class Disturbance(Case):
    def burn(self):
        """Another program, which uses a CPU until the case ends."""
        burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)

    def runs(self, result):
        return result["trials"][0]["disturbed"], result["trials"][0]["warnings"]

    def test_a_burner_beside_a_run_marks_it_in_the_first_line(self):
        self.burn()
        out, _ = self.yardstick("run", *SLOW, "--details")
        self.assertIn("1 of 1 runs disturbed", " ".join(out.split()))
        self.assertIn("other programs used", " ".join(out.split()))
        self.assertIn("1 of 1 run was disturbed by other work on the machine; one trial has no undisturbed run.", " ".join(out.split()))
        trial = json.loads(self.yardstick("show", "--format=json")[0])["trials"][0]
        self.assertEqual(trial["quiet"], {"runs": 0, "rate_per_s": None, "latency_p50_s": None, "wall_s": None, "cpu_s": None})

    def test_rounds_of_which_nobody_knows_what_was_taken_are_run_again_half_as_many(self):
        self.burn()
        words = [word for word in SLOW if not word.startswith("--repeat")]
        result, err = self.result("run", *words, "--repeat=3", "--on-disturbance=repeat")
        self.assertEqual(result["trials"][0]["runs"], 3)
        runs = [json.loads(line) for line in self.yardstick("export")[0].splitlines() if '"type":"run"' in line]
        self.assertEqual(sorted((run["round"], run["attempt"]) for run in runs), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)])
        self.assertIn("in 3 of 3 rounds the machine did something else to the end", err)
        self.assertEqual({run["facts"]["taken"]["work_s"] for run in runs}, {None})

    def test_it_is_not_looked_at_where_the_job_says_so(self):
        self.burn()
        disturbed, warnings = self.runs(self.result("run", *SLOW, "--on-disturbance=ignore")[0])
        self.assertEqual(disturbed, 0)
        self.assertFalse([text for text in warnings if "disturbed" in text])


if __name__ == "__main__":
    unittest.main()
