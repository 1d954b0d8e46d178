"""Hyper-parameters with which trials meet their target soonest, under equal budgets of steps."""
import json
import os
import unittest

from harness import Case, tearDownModule  # noqa: F401

WORK = ["[a]", "framework = builtin", "model = mlp", "data = digits", "batch = 16", "threads = 1", "block = 4", "lr = 0.01",
        "steps = 60", "eval_every = 20", "until = accuracy >= 50 %"]
FOR = ["--for=lowest steps_to_target"]
HEAD = "version = 1\nname = t\naudit = off\n"


class TuneOver(Case):
    def test_the_winner_is_judged_on_fresh_seeds_and_all_rows(self):
        found = json.loads(self.yardstick("tune", self.study(*WORK, head=HEAD), *FOR, "--over=optimizer={sgd, adam} momentum={0, 0.9}",
                                          "--budget=600 steps", "--out=tuned.ys", "--format=json", timeout=600)[0])
        self.check_document(found)
        trial, = found["trials"]
        self.assertEqual((found["search"], found["budget_steps"], found["budget_s"]), ("halving", 600, None))
        self.assertLessEqual(trial["steps"], 600)
        points = {point["settings"]: point for point in trial["points"]}
        refused = points["optimizer=adam momentum=0.9"]
        self.assertEqual((refused["out"], refused["rounds"], refused["steps"], trial["skipped"]), ("unsupported", 0, 0, 1))
        self.assertIn("adam has BETA1 in the place of a momentum", refused["reason"])
        self.assertEqual(sum(point["steps"] for point in points.values()), trial["steps"])
        self.assertIn(trial["answer"], ("better", "none better"))
        self.assertEqual(trial["rounds"], 7)
        self.assertIn("on the test rows and 7 fresh seeds", trial["sentence"])
        # Nothing but the fresh rounds is stored: on all training rows, judged on the test rows, on other seeds.
        shown = json.loads(self.yardstick("show", "last", "--format=json")[0])
        self.assertEqual(shown["study"]["id"], trial["study"])
        self.assertGreater(shown["study"]["seed"], 1000)
        self.assertEqual([one["keys"]["tune.rows"] for one in shown["trials"]], [None, None])
        values = {one["id"]: one["metrics"]["steps_to_target"]["value"] for one in shown["trials"]}
        self.assertEqual((values["default"], values["tuned"]), (trial["as_it_is"], trial["value"]))
        with open(os.path.join(self.folder, "tuned.ys"), encoding="utf-8") as file:
            self.assertIn("until = accuracy >= 0.5", file.read())

    def test_each_trial_has_an_equal_share(self):
        self.refusal("tune", self.study(*WORK, "momentum = {0, 0.5}", head=HEAD), *FOR, "--over=lr={0.01, 0.1}", "--budget=359 steps",
                     words=("359 steps are too few", "in each of 2 equal shares, need 360"))

    def test_bad_input(self):
        over = "--over=lr={0.01, 0.1}"
        budget = "--budget=600 steps"
        study = self.study(*WORK, head=HEAD)
        self.refusal("tune", study, *FOR, over, "--budget=30min", words=("--budget=30min", "20000 steps"))
        self.refusal("tune", study, *FOR, over, "--budget=0 steps", words=("--budget=0 steps",))
        self.refusal("tune", study, *FOR, "--over=lr={0.01}", budget, words=("a single point",))
        self.refusal("tune", study, *FOR, "--over=threads={1, 2}", budget, words=("threads", "no key of training"))
        self.refusal("tune", study, "--for=rate_per_s", over, budget, words=("--for=rate_per_s", "time_to_target_s"))
        self.refusal("tune", study, *FOR, over, budget, "--search=grid", words=("--search=grid", "random, halving or tpe"))
        self.refusal("tune", study, *FOR, over, budget, "--knobs=threads", words=("--over and --knobs",))
        self.refusal("tune", study, *FOR, "--search=random", "--budget=30min", words=("--search=random", "--over="))
        self.refusal("tune", self.study(*WORK[:-1], head=HEAD), *FOR, over, budget, words=("has no target", "until = accuracy"))
        epochs = [line if not line.startswith("steps") else "epochs = 1" for line in WORK]
        self.refusal("tune", self.study(*epochs, head=HEAD), *FOR, over, budget, words=("has epochs", "write steps = NUMBER"))


if __name__ == "__main__":
    unittest.main()
