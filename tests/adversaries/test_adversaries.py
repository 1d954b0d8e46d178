"""Each adversary of cheat.py ends as docs/proof.md says."""
import json
import os
import statistics
import unittest

from gains import RECIPES, Adversary
from harness import tearDownModule  # noqa: F401  (removes the cache that the cases share)

PLACE_LIBRARY = os.environ.get("YS_TEST_PLACE_LIBRARY")


class Adversaries(Adversary):
    program = "cheat.py"

    def run_cheat(self, cheat, *flags, code=0, **options):
        """The trial in the result document; its proof is that of an honest adapter."""
        usual = {"--batch": "16", "--lr": "0.01", "--momentum": "0.9", "--weight-decay": "0.05", "--steps": "40", "--block": "4",
                 "--repeat": "1"}
        usual.update(flag.split("=", 1) for flag in flags)
        document, err = self.result(
            "run", "--framework=cheat", "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--threads=1",
            "--env.CHEAT=" + cheat, *map("=".join, usual.items()), code=code, timeout=300, **options)
        if code:
            self.tell_end(cheat, document["trials"][0])
        return document["trials"][0], err


class InTurns(Adversaries):
    """Work that is done while others have their turn, or in the step that does not count, makes nobody faster."""

    def versus_honest(self, cheat):
        """The run of the cheat beside an honest one, its comparison and its trial."""
        document, _ = self.result(
            "run", "--framework=cheat", "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--lr=0.01",
            "--steps=64", "--block=1", "--repeat=6", "--margin=0.5", "--audit=off", "--interleave=blocks", "--turn=10ms",
            "--on-disturbance=ignore", "--env.CHEAT=nothing,%s" % cheat, timeout=600)
        runs = [json.loads(line) for line in self.yardstick("export")[0].splitlines()]
        runs = [run for run in runs if run["type"] == "run" and run["trial"].endswith(cheat)]
        [rate] = [one for one in document["comparisons"] if one["metric"] == "rate_per_s"]
        self.assertTrue(rate["a"].endswith(cheat), rate)
        honest, found = (trial["metrics"]["rate_per_s"] for trial in document["trials"])
        held = statistics.median(found.get("whole_values", found["values"])) / honest["value"]
        self.tell(cheat, "%s, by turns" % ("a range" if "whole_values" in found else "its time is counted"), rate["ratio"], held)
        return runs, rate, document["trials"][1]

    def test_of_one_that_trains_while_others_have_their_turn(self):
        runs, rate, _ = self.versus_honest("ahead")
        self.assertNotEqual(rate["verdict"], "better", rate)
        for run in runs:
            self.assertIn(run["facts"]["turns"]["hold"], ("group", "signals"))
            self.assertGreater(run["facts"]["turns"]["ahead_ns"], 0)
            self.assertEqual(sum(run["series"]["request_ahead_ns"]) > 0, True)

    def test_of_one_that_trains_in_the_step_that_does_not_count(self):
        runs, rate, trial = self.versus_honest("put_off")
        self.assertGreater(rate["ratio"], 2, rate)  # so it would gain
        self.assertNotEqual(rate["verdict"], "better", rate)  # by a half: one machine's load is another's noise
        self.assertIn("may have been done ahead", " ".join(trial["doubts"]))


class FirstLoss(Adversaries):
    """The loss of a run's first step is that of the batch that it was to begin with."""

    def test_of_one_that_does_its_work(self):
        trial, _ = self.run_cheat("nothing")
        self.assertEqual(trial["status"], "ok")
        self.assertEqual(trial["proof"]["verdict"], "pass")

    def test_of_one_that_does_other_work(self):
        for cheat in ("other_rows", "half_batch", "made_up"):
            with self.subTest(cheat):
                trial, err = self.run_cheat(cheat, code=1)
                self.assertEqual(trial["status"], "wrong_output")
                self.assertIn("it trains something else than the plan says", err)


class Crowd(Adversaries):
    """What a run does to itself is no disturbance of the machine, however long its threads wait for a CPU."""

    def test_of_one_that_crowds_its_own_cpu(self):
        self.run_cheat("crowd", "--audit=off", "--steps=80", "--on-disturbance=mark")
        runs = [json.loads(line) for line in self.yardstick("export")[0].splitlines()]
        facts = [run["facts"] for run in runs if "facts" in run]
        self.assertGreater(facts[0]["observation"]["cpu_wait_ns"], 0.5e9)
        self.assertEqual([cause for cause in facts[0].get("disturbed") or [] if "waited for a CPU" in cause], [])
        self.tell("crowd", "no disturbance of the machine", none="nothing")


class Checkpoint(Adversaries):
    """The loss behind a checkpoint is that of its weights."""

    def test_of_one_that_does_its_work(self):
        for flags in ((), ("--precision=f64",), ("--optimizer=adam", "--momentum=0")):
            with self.subTest(flags):
                trial, _ = self.run_cheat("nothing", "--eval-every=15", "--audit=off", *flags)
                self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))

    def test_of_weights_from_elsewhere(self):
        trial, err = self.run_cheat("elsewhere", "--eval-every=15", "--audit=off", code=1)
        self.assertEqual(trial["status"], "wrong_output")
        self.assertIn("behind the checkpoint of step 15", err)


class Audit(Adversaries):
    """A stretch of one more run is gone through again by the built-in engine."""

    def audit(self, cheat, *flags, code=0, **options):
        trial, err = self.run_cheat(cheat, *flags, code=code, **options)
        self.assertEqual(trial["status"], "ok")
        return trial["proof"], err

    def test_of_one_that_does_its_work(self):
        for flags in ((), ("--momentum=0",), ("--precision=f64",)):
            with self.subTest(flags):
                proof, _ = self.audit("nothing", *flags)
                audit = proof["audit"]
                self.assertEqual((proof["verdict"], audit["verdict"]), ("pass", "pass"))
                self.assertEqual((audit["tensors"], audit["steps"], audit["round"]), (6, 4, 0))
                self.assertLess(audit["error"], audit["bound"])
                self.assertTrue(1 <= audit["step"] <= 36)
        self.assertEqual([path for path, _, _ in os.walk(self.folder) if "audit" in path], [])

    def test_of_one_with_a_relu_on_its_other_side(self):
        for flags in (("--batch=32",), ("--batch=64", "--clip-norm=0.5")):
            with self.subTest(flags):
                proof, _ = self.audit("flip", *flags)
                self.assertEqual(proof["audit"]["verdict"], "pass", proof["audit"])
        self.tell("flip", "does its work", none="nothing")

    def test_of_a_relu_on_its_other_side_shows_in_later_losses_too(self):
        """At the first place it moves the loss of step 22, which that of step 19 happens to equal, by 1.8e-5; at the other
        the ways of two layers alone."""
        for place, step in ((17, 19), (5, 7)):
            with self.subTest(step):
                env = {"LD_PRELOAD": PLACE_LIBRARY, "YS_TEST_PLACE": str(place), "YS_TEST_PLACES": "34"}
                audit = self.audit("flip", "--batch=32", env=env)[0]["audit"]
                self.assertEqual((audit["verdict"], audit["step"], audit["tries"]), ("pass", step, 1), audit)

    def test_of_the_built_in_engine_in_each_format(self):
        for flags in ((), ("--optimizer=adam",), ("--momentum=0.9", "--optimizer=sgd,nesterov", "--precision=f64")):
            with self.subTest(flags):
                document, _ = self.result("run", "--framework=builtin", "--model=mlp", "--data=digits", "--batch=16",
                                          "--threads=1", "--lr=0.01", "--steps=40", "--repeat=1", *flags)
                audit = document["trials"][0]["proof"]["audit"]
                self.assertEqual((audit["verdict"], audit["tensors"]), ("pass", 6))
                self.assertEqual((audit["compared"], audit["same"]), (audit["step"] + 4,) * 2)

    def test_of_an_optimizer_whose_state_is_saved_judges_the_weights(self):
        for rule, state, verdict in (("sgd", "1", "pass"), ("sgd,nesterov", "1", "pass"), ("adam", "1", "pass"),
                                     ("adam", "0", "weak"), ("adamw", "1", "pass"), ("rmsprop", "1", "pass")):
            momentum = "--momentum=0" if rule.startswith("adam") else "--momentum=0.9"
            with self.subTest(rule, state=state):
                proof, _ = self.audit("nothing", "--optimizer=" + rule, momentum, "--lr=0.001", "--env.CHEAT_STATE=" + state)
                self.assertEqual((proof["verdict"], proof["audit"]["verdict"]), ("pass", verdict))

    def test_of_the_last_layer_alone_with_an_optimizer_that_keeps_state(self):
        for rule in ("adam", "rmsprop"):
            with self.subTest(rule):
                proof, _ = self.audit("last_layer", "--optimizer=" + rule, "--momentum=0", "--env.CHEAT_STATE=1", code=5)
                self.assertEqual(proof["audit"]["verdict"], "fail")

    def test_of_losses_that_were_made_up_in_the_timed_run_alone(self):
        proof, err = self.audit("once", code=5)
        self.assertEqual(proof["audit"]["verdict"], "fail")
        self.assertEqual(proof["audit"]["same"], 1)
        self.assertIn("of the timed run", proof["audit"]["place"])
        self.assertIn("fails its audit", err)

    def test_of_those_that_train_something_else_in_the_run(self):
        for cheat in ("same_batch", "no_decay", "rate", "skip", "last_layer", "elsewhere", "later", "format"):
            with self.subTest(cheat):
                proof, err = self.audit(cheat, code=5)
                self.assertEqual((proof["verdict"], proof["audit"]["verdict"]), ("fail", "fail"))
                self.assertIn("not those of its plan", proof["reason"])
                self.assertIn("fails its audit", err)

    def test_of_one_that_works_once_it_is_asked_to_save(self):
        """Its weights and its block are right; what it said in the timed run it could not know without the work."""
        proof, _ = self.audit("patient", "--lr=0.05", code=5)
        self.assertEqual(proof["audit"]["verdict"], "fail")
        self.assertIn("of the timed run", proof["audit"]["place"])

    def test_that_is_not_due_costs_nothing_and_is_said(self):
        for flags, cheat, words in ((("--audit=off",), "same_batch", "audit = off"), (("--steps=20",), "nothing", "fewer than 30 steps")):
            with self.subTest(words):
                trial, _ = self.run_cheat(cheat, *flags)
                proof = trial["proof"]
                self.assertEqual((proof["verdict"], "audit" in proof), ("pass", False))
                audit = proof["due"][-1]
                self.assertEqual((audit["check"], audit["state"]), ("audit", "not due"))
                self.assertEqual(trial["doubts"][0], "not audited (%s)" % audit["reason"])
                self.assertIn(words, audit["reason"])

    def test_that_does_not_come_about_is_made_again_and_then_a_failed_one(self):
        for cheat, words in (("audit_exit", "crashed"), ("audit_memory", "oom_host"), ("audit_nan", "diverged"), ("audit_weights", "is no number")):
            with self.subTest(cheat):
                document, err = self.result(
                    "run", "--framework=builtin,cheat", "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--threads=1", "--batch=16",
                    "--lr=0.01", "--steps=40", "--block=4", "--repeat=1", "--env.CHEAT=" + cheat, code=5, timeout=300)
                builtin, trial = document["trials"]
                self.tell_end(cheat, trial)
                due = {check["check"]: check for check in trial["proof"]["due"]}
                self.assertEqual([check["state"] for check in builtin["proof"]["due"]], ["pass"] * 3)
                self.assertEqual((due["audit"]["state"], due["weights"]["state"], due["first loss"]["state"]), ("missing", "pass", "pass"))
                self.assertIn(words, due["audit"]["reason"])
                self.assertIn("not audited, and should have been", trial["doubts"][0])
                self.assertIn(words, err)
                invalid = {comparison["metric"] for comparison in document["comparisons"] if comparison["verdict"] == "invalid"}
                self.assertEqual(invalid, {comparison["metric"] for comparison in document["comparisons"]})
                self.assertIn("should have been", document["comparisons"][0]["reason"])

    def test_of_several_trials_keeps_them_apart(self):
        """One starts while another is under way."""
        document, _ = self.result(
            "run", "--framework=cheat,builtin", "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--batch=16", "--threads=1",
            "--lr=0.01", "--steps=40", "--block=4", "--repeat=2", "--audit=all", "--env.CHEAT=skip", code=5, timeout=300)
        audits = [trial["proof"]["audit"] for trial in document["trials"]]
        self.assertEqual([audit["verdict"] for audit in audits], ["fail", "pass"])
        for audit in audits:
            self.assertTrue(audit["run_s"] > 0 and audit["judge_s"] > 0)
            self.assertEqual(audit["tries"], 1)
        left = [path for path, _, files in os.walk(self.folder) for name in files if name.startswith(("audit-", "replay-", "twin-"))]
        self.assertEqual(left, [])
        self.assert_nothing_left()

    def test_of_all_rounds_finds_one(self):
        proof, _ = self.audit("skip", "--audit=all", "--repeat=2", code=5)
        self.assertEqual(proof["audit"]["verdict"], "fail")
