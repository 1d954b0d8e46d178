"""What fresh rounds in turn say of a suspicion: two commits of an adapter, which pause as planted."""
import importlib.util
import json
import os
import unittest

from harness import ROOT, Case, recipe_word, tearDownModule  # noqa: F401

ADAPTER = os.path.join(ROOT, "tests", "adapters", "plain.py")
# A step is a sleep of so long, which no load makes shorter: 2 ms against 20 ms are told apart by far. Enough of them to tell what is
# left of warm-up.
FAST, SLOW = "0.002", "0.02"
LOOKS = (8, 20, 50)  # rounds: a load that lengthens a run of one side by as much makes a later look decide
WORK = ["--framework=mine", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=32", "--block=1", "--repeat=6",
        "--audit=off", "--anchor=off", "--on-disturbance=ignore", "--quiet"]  # what runs beside the tests says nothing of these


@unittest.skipUnless(importlib.util.find_spec("numpy"), "the plain adapter needs NumPy")
class Confirm(Case):
    def measured(self, name, pause, more=""):
        """The results folder of a study of the adapter in the folder `name`."""
        os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        self.write(name + "/mine.recipe", "name = mine\nprogram = python3 %s\ndouble = yes\nenv.PLAIN_PAUSE = %s\n%s" % (recipe_word(ADAPTER), pause, more))
        self.yardstick("run", *WORK, "--recipes=" + name, "--results=of-" + name)
        return self.write(name + ".jsonl", self.yardstick("export", "--results=of-" + name)[0])

    def gate(self, *arguments, code):
        return json.loads(self.yardstick("gate", *arguments, "--confirm", "--format=json", code=code, timeout=600)[0])["checks"][0]

    def test_a_gate_is_decided_by_fresh_rounds(self):
        old, new = self.measured("old", FAST), self.measured("new", SLOW)
        check = self.gate(old, new, "--rule=rate_per_s >= -30 %", code=3)
        self.assertEqual(check["outcome"], "broken")
        self.assertIn(check["fresh_rounds"], LOOKS)
        self.assertLess(check["fresh_change"], 0.7)
        self.assertLessEqual(check["fresh_p"], 0.05 / 3)
        self.assertIn("%d fresh rounds of both in turn" % check["fresh_rounds"], check["reason"])
        check = self.gate(new, old, "--rule=rate_per_s >= -30 %", code=0)
        self.assertEqual(check["outcome"], "holds")
        self.assertIn(check["fresh_rounds"], LOOKS)
        # What was meant to be confirmed is of the two that were measured, and of no other.
        check = self.gate(old, new, "--rule=rate_per_s >= -30 %", "--budget=1ms", code=4)
        self.assertIn("the budget ended after 0 rounds", check["reason"])
        self.assertIsNone(check["fresh_rounds"])
        self.write("new/mine.recipe", "name = mine\ntitle = other\nprogram = python3 %s\ndouble = yes\n" % recipe_word(ADAPTER))
        self.assertIn("have changed since", self.gate(old, new, "--rule=rate_per_s >= -30 %", code=4)["reason"])
        os.unlink(os.path.join(self.folder, "new", "mine.recipe"))
        self.assertIn("its recipe", self.gate(old, new, "--rule=rate_per_s >= -30 %", code=4)["reason"])
        self.refusal("gate", old, new, "--confirm", "--budget=soon", words=("--budget=soon", "10min"))

    def test_what_was_looked_at_and_left_open_says_why(self):
        """Rounds have the seeds 1, 2, ...: the candidate's 12th fails, after the first look at 8."""
        # Either is the slow one every second round: no eight rounds say which is the faster.
        old, new = self.measured("old", FAST + "," + SLOW), self.measured("new", SLOW + "," + FAST, "env.PLAIN_CRASH_SEED = 12\n")
        check = self.gate(old, new, "--rule=rate_per_s >= 0 %", code=4)
        self.assertEqual((check["outcome"], check["fresh_rounds"]), ("open", 8))
        self.assertIn("8 fresh rounds of both in turn", check["reason"])
        self.assertIn("; no more of them: a fresh run of ", check["reason"])

    def test_compare_shows_both_verdicts(self):
        old, new = self.measured("old", FAST), self.measured("new", SLOW)
        pair, = json.loads(self.yardstick("compare", old, new, "--confirm", "--format=json", timeout=600)[0])["pairs"]
        rate = {name: [metric for metric in pair[name] if metric["metric"] == "rate_per_s"][0] for name in ("metrics", "confirmed")}
        self.assertEqual(rate["metrics"]["verdict"], "unclear")  # nothing bounds the drift between the two studies
        self.assertLess(rate["confirmed"]["ci"][1], 0.7)
        self.assertEqual(rate["confirmed"]["base_n"], 10)
        self.assertIsNone(pair["unconfirmed"])
        os.unlink(os.path.join(self.folder, "old", "mine.recipe"))
        out, _ = self.yardstick("compare", old, new, "--confirm")
        self.assertIn("not confirmed: ", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
