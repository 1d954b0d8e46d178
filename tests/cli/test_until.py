"""Trainings that end at a target: what ends them, whose time is whose, and what of them is compared."""
import json
import os
import signal
import unittest

from harness import ROOT, Case, recipe_word, tearDownModule  # noqa: F401

MISBEHAVING = recipe_word(os.path.join(ROOT, "tests", "adapters", "misbehaving.py"))
HEAD = "version = 1\naudit = off\nname = until\nrepeat = %d\n"
WORK = ("[global]", "model = mlp", "data = digits", "framework = builtin", "batch = 16", "threads = 1", "block = 4",
        "lr = 0.1")
PARTS = ("start_s", "build_s", "first_step_s", "warmup_s", "train_s", "eval_s", "save_s", "stop_s", "rest_s")


class Until(Case):
    def run_study(self, *lines, repeat=1, code=0):
        self.yardstick("run", self.study(*WORK, *lines, head=HEAD % repeat), code=code)
        lines = [json.loads(line) for line in self.yardstick("export", "last")[0].splitlines()]
        return [line for line in lines if line["type"] == "run"]

    def result(self):
        return json.loads(self.yardstick("show", "last", "--format=json")[0])

    def test_a_run_ends_at_the_first_checkpoint_that_meets_its_target(self):
        run, = self.run_study("[a]", "steps = 400", "eval_every = 8", "until = accuracy >= 60 %")
        facts = run["facts"]
        target, looks = facts["target"], facts["checkpoints"]
        self.assertEqual(facts["status"], "ok")
        self.assertEqual(facts["steps_done"], target["step"])
        self.assertEqual([look["step"] for look in looks], list(range(8, target["step"] + 1, 8)))
        self.assertEqual(target["before"], target["step"] - 8)
        worth = [look["evaluation"]["accuracy"] for look in looks]
        self.assertGreaterEqual(worth[-1], 0.6)
        self.assertLess(max(worth[:-1], default=0), 0.6)
        self.assertEqual(facts["evaluation"]["weights_hash"], looks[-1]["evaluation"]["weights_hash"])
        self.assertEqual(len(run["series"]["step_loss"]), target["step"])

    def test_the_parts_of_a_run_still_add_up_and_evaluation_is_counted_once(self):
        run, = self.run_study("[a]", "steps = 400", "eval_every = 16", "until = accuracy >= 60 %")
        metrics = {name: metric["value"] for name, metric in self.result()["trials"][0]["metrics"].items()}
        self.assertAlmostEqual(sum(metrics[part] for part in PARTS), metrics["wall_s"], places=7)
        paused = sum(to - begun for begun, to in run["facts"]["times"]["pauses"]) * 1e-9
        self.assertAlmostEqual(metrics["eval_s"], paused + run["facts"]["evaluation"]["seconds"], places=7)
        inside = sum(look["evaluation"]["seconds"] for look in run["facts"]["checkpoints"])
        self.assertGreaterEqual(paused, inside)
        self.assertAlmostEqual(metrics["time_to_target_s"],
                               metrics["first_step_s"] + metrics["warmup_s"] + metrics["train_s"], places=7)
        self.assertEqual(metrics["steps_to_target"], run["facts"]["target"]["step"])
        self.assertIsNone(metrics["target_limit_s"])

    def test_a_run_that_does_not_get_there_is_a_failure_with_its_best_value(self):
        runs = self.run_study("[a]", "steps = 24", "eval_every = 8", "until = accuracy >= 99.9 %", repeat=3, code=1)
        self.assertEqual([run["facts"]["status"] for run in runs], ["not_converged"] * 3)  # none is left out
        for run in runs:
            target = run["facts"]["target"]
            self.assertIsNone(target["step"])
            self.assertIn("accuracy >= 99.9 % was not reached in 24 steps: the best was ", run["facts"]["message"])
            worth = [look["evaluation"]["accuracy"] for look in run["facts"]["checkpoints"]]
            self.assertEqual(target["best"], max(worth + [run["facts"]["evaluation"]["accuracy"]]))
        metric = self.result()["trials"][0]["metrics"]["steps_to_target"]
        self.assertIsNone(metric["value"])
        self.assertEqual((metric["met"], metric["n"], metric["limit"]), (0, 3, 24))
        self.assertEqual(metric["reason"], "more than 24: 0 of 3 runs met the target")
        self.assertIn("0 of 3", self.yardstick("show", "last", "--details")[0])

    def test_the_end_is_a_checkpoint_too(self):
        run, = self.run_study("[a]", "steps = 400", "eval_every = 400", "until = test_loss <= 1")
        self.assertEqual(run["facts"]["target"]["step"], 400)
        self.assertEqual(run["facts"]["checkpoints"], [])

    def test_a_target_that_is_met_before_the_first_step_is_no_measurement(self):
        run, = self.run_study("[a]", "steps = 40", "eval_every = 8", "until = test_loss <= 100", code=6)
        self.assertEqual(run["facts"]["status"], "unsupported")
        self.assertIn("until = test_loss <= 100 is met before the first step: the initial weights have ",
                      run["facts"]["message"])

    def test_it_goes_by_runs_and_whole_runs_are_not_compared(self):
        err = self.yardstick("run", self.study(*WORK, "[a]", "steps = 400", "eval_every = 16", "lr = {0.1, 0.2}",
                                               "until = accuracy >= 60 %", head=HEAD % 1 + "interleave = auto\n"))[1]
        self.assertIn("interleave = auto: runs, one after the other, for a:lr=0.1 ends where its target is met", err)
        found = {comparison["metric"]: comparison for comparison in self.result()["comparisons"]}
        for whole in ("wall_s", "cpu_s"):
            self.assertEqual(found[whole]["verdict"], "invalid")
            self.assertIn("different work: a run that ends at a target does as many steps as that takes",
                          found[whole]["reason"])

    def test_what_cannot_be_is_refused(self):
        both = ("steps = 40", "eval_every = 8")
        for said, lines in {
                "looks at checkpoints, and section [a] has none: write eval_every": ("steps = 40", "until = accuracy >= 98 %"),
                "a checkpoint cannot tell rate_per_s": both + ("until = rate_per_s >= 5",),
                "write until = accuracy >= X or test_loss <= X": both + ("until = bits_per_token <= 1",),
                "cannot take turns with others, as interleave = blocks has it: it ends where its target is met":
                    both + ("until = accuracy >= 98 %",)}.items():
            head = HEAD % 1 + ("interleave = blocks\n" if "turns" in said else "")
            err = self.yardstick("check", self.study(*WORK, "[a]", *lines, head=head), code=2)[1]
            self.assertIn(said, err)

    def test_a_round_that_stopped_in_between_is_run_again(self):
        study = self.study(*WORK, "[a]", "steps = 100000", "eval_every = 2", "until = accuracy >= 99.9 %", head=HEAD % 1)
        process = self.start("run", study)
        runs = os.path.join(self.folder, "yardstick-results", "001-until", "runs")
        self.wait_until(lambda: any("step-4." in name for _, _, names in os.walk(runs) for name in names), process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        run, = [json.loads(line) for line in self.yardstick("export", "last")[0].splitlines() if '"type":"run"' in line]
        self.assertEqual(run["facts"]["status"], "cancelled")
        self.assertIsNone(run["facts"]["target"]["step"])
        process = self.start("resume", "last")
        self.wait_until(lambda: any("step-4." in name for _, _, names in os.walk(runs) for name in names), process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(len([line for line in self.yardstick("export", "last")[0].splitlines() if '"type":"run"' in line]), 2)

    def test_weights_that_cannot_be_evaluated_do_not_end_the_run(self):
        self.write("works.recipe", "name = works\nprogram = python3 %s\n" % MISBEHAVING)
        err = self.yardstick("run", "--recipes=" + self.folder, "--env.MISBEHAVE=save_rubbish",
                             self.study("[a]", "framework = works", "model = mlp", "data = digits", "batch = 8", "steps = 12",
                                        "threads = 1", "block = 2", "eval_every = 4", "until = accuracy >= 90 %",
                                        head=HEAD % 1), code=5)[1]
        run, = [json.loads(line) for line in self.yardstick("export", "last")[0].splitlines() if '"type":"run"' in line]
        self.assertEqual(run["facts"]["steps_done"], 12)
        self.assertEqual([look["step"] for look in run["facts"]["checkpoints"]], [4, 8])
        for step in (4, 8):
            self.assertRegex(err, r"warning: the weights in \S*/step-%d.safetensors could not be evaluated: " % step)
        self.assertIsNone(run["facts"]["target"]["best"])

    def test_several_ranks_end_at_one_checkpoint(self):
        run, = self.run_study("[a]", "steps = 400", "eval_every = 16", "until = accuracy >= 60 %", "ranks = 2", "batch = 8")
        facts = run["facts"]
        self.assertEqual([rank["status"] for rank in facts["ranks"]], ["ok", "ok"])
        self.assertEqual([rank["steps_done"] for rank in facts["ranks"]], [facts["target"]["step"]] * 2)
        self.assertLess(facts["target"]["step"], 400)
        self.assertGreaterEqual(facts["checkpoints"][-1]["evaluation"]["accuracy"], 0.6)

    def test_several_nodes_have_nobody_who_judges_their_checkpoints(self):
        err = self.yardstick("check", self.study(*WORK, "[a]", "steps = 400", "eval_every = 16", "until = accuracy >= 60 %", "nodes = 2", "batch = 8",
                                                 head=HEAD % 1), code=2)[1]
        self.assertIn("looks at checkpoints while a run stands still, and those of several hosts lie on others: remove nodes", err)

    def test_rows_kept_from_training_are_judged_in_the_place_of_the_test_rows(self):
        kept, none = self.run_study("[a]", "steps = 40", "eval_every = 8", "until = accuracy >= 40 %", "tune.rows = {10%, none}")
        count = [run["facts"]["evaluation"]["count"] for run in (kept, none)]
        self.assertEqual(count, [384, 1000])  # digits: 3840 rows to train on, 1000 to test on
        for look in kept["facts"]["checkpoints"]:
            self.assertEqual(look["evaluation"]["count"], 384)
        err = self.yardstick("run", self.study(*WORK, "[a]", "steps = 40", "tune.rows = 10%", "input = own", "framework = builtin",
                                               head=HEAD % 1), code=2)[1]
        self.assertIn("tune.rows: the training rows of digits are read by the framework's own loader (input = own)", err)

    def test_check_says_what_it_does(self):
        out = self.yardstick("check", self.study(*WORK, "[a]", "steps = 40", "eval_every = 8", "schedule = cosine",
                                                 "until = accuracy >= 98 %", head=HEAD % 1))[0]
        out = " ".join(out.split())
        self.assertIn("until accuracy >= 98 % on the test rows: its weights are evaluated at most 5 times a run", out)
        self.assertIn("schedule = cosine is laid over all 40 steps, wherever the run ends", out)


if __name__ == "__main__":
    unittest.main()
