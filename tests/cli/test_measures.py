"""What `yardstick doctor` measures by studies of its own: noise, perturbation, peak; and where their tables are shown."""

import json
import os
import unittest

from harness import Case, other_backend, tearDownModule  # noqa: F401

# Runs that take next to no time, whatever else this machine does.
QUICK = ["--framework=null", "--model=mlp", "--steps=20", "--block=5", "--threads=1", "--opt.null.rate=2000"]


class Measures(Case):
    """Doctor's own studies, with the adapter that does nothing."""

    def environment(self, **extra):
        return dict(super().environment(**extra), YARDSTICK_CACHE=os.path.join(self.folder, "cache"))

    def measure(self, *arguments, code=0):
        return json.loads(self.yardstick("doctor", *arguments, "--format=json", code=code)[0])

    def kept(self, name):
        return os.path.join(self.folder, "cache", "doctor", name + ".json")

    def noise_of_enough_pairs(self):
        """On a machine that does much else a run takes longer, and six pairs do."""
        for span in ("4s", "16s", "60s"):
            out, err = self.start("doctor", "--noise", span, *QUICK, "--interleave=runs", "--format=json").communicate(timeout=300)
            noise = json.loads(out)
            if not noise["reason"]:
                return noise
        self.fail(err)

    def what_is_old_or_of_another_machine_is_not_said(self):
        with open(self.kept("noise"), encoding="utf-8") as file:
            noise = json.load(file)
        for change in ({"date": "2020-01-01T00:00:00Z"}, {"host": "another"}):
            with open(self.kept("noise"), "w", encoding="utf-8") as file:
                json.dump(dict(noise, **change), file)
            plan = json.loads(self.yardstick("check", *QUICK, "--data=digits", "--format=json")[0])
            self.assertIsNone(plan["noise"])

    def test_a_trial_against_itself_says_what_runs_tell_apart_and_check_and_run_say_it(self):
        noise = self.noise_of_enough_pairs()
        self.assertEqual(noise["trial"], "mlp on digits, null")
        self.assertGreaterEqual(noise["pairs"], 6)
        self.assertEqual(len(noise["ratios"]), noise["pairs"])
        self.assertTrue(noise["ci"][0] <= noise["ratio"] <= noise["ci"][1])
        self.assertEqual([step["runs"] for step in noise["tells_apart"]][:3], [6, 7, 8])
        self.assertTrue(all(step["difference"] > 0 for step in noise["tells_apart"]))
        self.assertEqual([step["difference"] for step in noise["needed"]], [0.01, 0.02, 0.03, 0.05, 0.1])
        study = QUICK + ["--data=digits", "--repeat=7"]
        self.assertIn("with 7 runs this study can tell", " ".join(self.yardstick("check", *study)[0].split()))
        plan = json.loads(self.yardstick("check", *study, "--format=json")[0])
        self.assertIn("tell", plan["noise"])
        self.assertIn("with 7 runs this study can tell", self.yardstick("run", *study)[1])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "cache", "doctor", "results.db")))
        self.what_is_old_or_of_another_machine_is_not_said()
        left = [name for name in os.listdir(os.path.join(self.folder, "cache", "doctor")) if name != "noise.json"]
        self.assertEqual(left, [])
        # What was found by runs says nothing of turns.
        self.assertEqual(noise["interleave"], "runs")
        self.assertIsNone(json.loads(self.yardstick("check", *study, "--interleave=blocks", "--format=json")[0])["noise"])

    def test_too_few_pairs_say_nothing_and_are_not_kept(self):
        noise = self.measure("--noise=1s", "--framework=null", "--model=mlp", "--steps=2000", "--block=5", "--threads=1",
                             "--opt.null.rate=500", code=1)
        self.assertTrue(noise["reason"])
        self.assertEqual(noise["tells_apart"], [])
        self.assertFalse(os.path.exists(self.kept("noise")))

    def test_being_watched_is_compared_with_not_being_watched(self):
        found = self.measure("--perturbation", "--times=8", *QUICK)["found"]  # an interval needs six
        self.assertEqual([one["what"] for one in found], ["10 samples a second", "perf = on"])
        for one in found:
            self.assertIn(one["pairs"], (6, 7, 8), one)  # those in which what ran beside left both runs a speed
            self.assertTrue(one["ci"][0] <= one["ratio"] <= one["ci"][1])
        self.assertTrue(os.path.exists(self.kept("perturbation")))
        # These runs are short, and may take turns: neither way have they thirty blocks.
        out, err = self.start("doctor", "--noise=4s", *QUICK, "--interleave=auto").communicate(timeout=300)
        self.assertIn("interleave = auto: blocks", err)
        self.assertIn("by turns", " ".join(out.split()))
        self.assertFalse(os.path.exists(self.kept("noise")))
        few = self.yardstick("doctor", "--perturbation", "--times=2", *QUICK)[0]
        self.assertIn("2 pairs, an interval needs 6", " ".join(few.split()))

    def test_the_self_test_is_shown_in_reports_made_here(self):
        self.start("doctor", "--self-test", "--times=1", env={"YARDSTICK_CGROUP": "off"}).communicate(timeout=120)
        result, _ = self.result("run", *QUICK, "--data=digits", "--repeat=1")
        self.assertEqual(len(result["host"]["self_test"]["rows"]) > 10, True)
        with open(os.path.join(self.folder, "yardstick-results", "001-run", "report.html"), encoding="utf-8") as file:
            self.assertIn("Is what is observed true on this machine?", file.read())
        self.assertIn("CPU time of a child |", self.yardstick("show", "--format=md")[0])

    def test_the_measured_peak_is_kept(self):
        if other_backend() != "onednn":
            self.refusal("doctor", "--peak", "--times=1", words=["no products were measured", "oneDNN"])
            self.assertFalse(os.path.exists(self.kept("peak")))
            return
        peak = self.measure("--peak", "--times=1")
        self.assertTrue(os.path.exists(self.kept("peak")))
        self.assertGreater(peak["peaks"][0]["flops_per_s"], 0)

    def test_what_cannot_be_measured_is_refused(self):
        self.refusal("doctor", "--noise=soon", words=["--noise=soon", "60s"])
        self.refusal("doctor", "--noise=10s", "--repeat=3", words=["repeat", "10000"])
        self.refusal("doctor", "--noise=10s", "--threads=1,2", words=["one value"])
        self.refusal("doctor", "--model=mlp", words=["--model", "--noise"])
        self.refusal("doctor", "--noise=10s", "--self-test", words=["one of"])


if __name__ == "__main__":
    unittest.main()
