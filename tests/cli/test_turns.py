"""Studies whose trials take turns: the same work as by runs, and nothing left standing, whatever happens."""
import json
import os
import random
import signal
import sqlite3
import time
import unittest

from harness import ROOT, Case, recipe_word, tearDownModule  # noqa: F401

ADAPTER = os.path.join(ROOT, "tests", "adapters", "misbehaving.py")
BUILTIN = ("[global]", "model = mlp", "data = digits", "batch = 16", "threads = 1", "block = 5")
# Paced, so that there is time to interrupt it: 40 steps of 8 rows at 800 rows a second take 0.4 s each.
PACED = ("[global]", "framework = null", "model = mlp", "data = digits", "batch = 8", "threads = 1", "steps = 40",
         "block = 5", "opt.null.rate = 800", "[a]", "lr = {0.01, 0.02, 0.03}")


def head(interleave, repeat=1, turn="20ms"):
    return "version = 1\naudit = off\nname = %s\nrepeat = %d\ninterleave = %s\nturn = %s\n" % (interleave, repeat, interleave, turn)


class Turns(Case):
    def runs(self, selector="last"):
        lines = [json.loads(line) for line in self.yardstick("export", selector)[0].splitlines()]
        return {(line["trial"], line["round"]): line for line in lines if line["type"] == "run"}

    def stored_runs(self):
        try:
            with sqlite3.connect("file:%s/yardstick-results/results.db?mode=ro" % self.folder, uri=True) as db:
                return db.execute("select count(*) from run").fetchone()[0]
        except sqlite3.Error:
            return 0

    def test_losses_and_weights_are_those_of_runs_to_the_bit(self):
        work = BUILTIN + ("steps = 60", "eval_every = 25", "[a]", "lr = {0.01, 0.02, 0.05}")
        for interleave in ("runs", "blocks"):
            self.yardstick("run", self.study(*work, head=head(interleave, repeat=2)))
        by_runs, by_turns = self.runs("runs"), self.runs("blocks")
        self.assertEqual(len(by_turns), 6)
        self.assertEqual(by_runs.keys(), by_turns.keys())
        for key, run in by_turns.items():
            other = by_runs[key]
            self.assertEqual(run["series"]["step_loss"], other["series"]["step_loss"])
            self.assertEqual(len(run["series"]["step_loss"]), 60)
            self.assertEqual(run["facts"]["evaluation"]["weights_hash"], other["facts"]["evaluation"]["weights_hash"])
            self.assertEqual([c["evaluation"]["weights_hash"] for c in run["facts"]["checkpoints"]],
                             [c["evaluation"]["weights_hash"] for c in other["facts"]["checkpoints"]])
            self.assertNotIn("turns", other["facts"])
        judged = json.loads(self.yardstick("compare", "runs", "blocks", "--format=json")[0])
        self.assertIn({"what": "interleave", "base": "runs", "candidate": "blocks"}, judged["differences"])

    def test_turns_are_stored_and_shared(self):
        self.yardstick("run", self.study(*BUILTIN, "steps = 80", "[a]", "lr = {0.01, 0.02, 0.05}",
                                         head=head("blocks", repeat=2)))
        for number in range(2):
            members = [run for (_, at), run in self.runs().items() if at == number]
            self.assertEqual(sorted(run["facts"]["turns"]["place"] for run in members), [0, 1, 2])
            first = members[0]["series"]
            for run in members:
                series, turns = run["series"], run["facts"]["turns"]
                self.assertEqual(turns["members"], 3)
                self.assertGreater(turns["waited_ns"], 0)
                # The same questions to each, so that what is dropped is the same work.
                for column in ("request_first", "request_cycle", "request_settles", "request_dropped"):
                    self.assertEqual(series[column], first[column])
                self.assertEqual(series["request_cycle"][0], -1)
                self.assertEqual(sum(series["request_settles"]), max(series["request_cycle"]) + 1)
                parts = [run["metrics"][name].get("value") or 0 for name in
                         ("start_s", "build_s", "first_step_s", "warmup_s", "train_s", "eval_s", "save_s", "stop_s",
                          "rest_s")]
                self.assertAlmostEqual(sum(parts), run["metrics"]["wall_s"]["value"], delta=1e-8)
                lived_ns = run["facts"]["times"]["end_ns"] - run["facts"]["times"]["exec_ns"]
                wall_ns = (lived_ns - turns["waited_ns"] + turns["ahead_ns"]
                           + run["facts"]["evaluation"]["seconds"] * 1e9)
                self.assertAlmostEqual(run["metrics"]["wall_s"]["value"], wall_ns * 1e-9, delta=1e-8)

    def test_what_cannot_take_turns_is_refused(self):
        work = ("[global]", "framework = null", "model = mlp", "data = digits", "[a]")
        for line, word in (("mode = infer", "infer"), ("input = ring", "ring"), ("input = own", "own"),
                           ("nodes = 2", "nodes")):
            for verb in ("check", "run"):
                message = self.refusal(verb, self.study(*work, line, head=head("blocks")), words=["interleave", word])
                self.assertIn("interleave = runs", message)

    def test_auto_takes_turns_where_all_can_and_says_in_one_line_why_not(self):
        work = ("[global]", "framework = null", "model = mlp", "data = digits", "threads = 1", "batch = 8", "block = 1", "[a]")
        for lines, words in ((("mode = infer", "env.TWIN = {a, b}"), "requests"), (("input = ring", "env.TWIN = {a, b}"), "feeder"),
                             (("input = own", "env.TWIN = {a, b}"), "loader"), (("ranks = 2", "nodes = 2", "env.TWIN = {a, b}"), "hosts"),
                             (("steps = {40, 80}",), "other steps"), (("steps = 32", "env.TWIN = {a, b}"), "too few blocks")):
            plan, err = self.yardstick("check", "--format=json", self.study(*work, *lines, head=head("auto")))
            said = [line for line in err.splitlines() if "interleave" in line]
            self.assertEqual(len(said), 1, err)
            self.assertIn("interleave = auto: runs, ", said[0])
            self.assertIn(words, said[0])
            self.assertEqual(json.loads(plan)["study"]["interleave"], "runs")
        out, err = self.yardstick("run", self.study(*work, "steps = 48", "env.TWIN = {a, b}", "opt.null.rate = 4000", head=head("auto")))
        self.assertIn("interleave = auto: blocks", err)
        self.assertEqual([run["facts"]["turns"]["members"] for run in self.runs().values()], [2, 2])
        self.assertEqual(json.loads(self.yardstick("show", "--format=json")[0])["study"]["interleave"], "blocks")

    def test_nine_trials_are_five_and_four(self):
        self.yardstick("run", self.study(*PACED[:-1], "lr = {0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09}", head=head("blocks")))
        self.assertEqual(sorted(run["facts"]["turns"]["members"] for run in self.runs().values()), [4] * 4 + [5] * 5)

    def test_a_turn_is_of_a_time_above_none_and_up_to_a_minute(self):
        for turn in ("0s", "-1s", "61s", "2min", "soon"):
            self.refusal("check", self.study(*PACED, head=head("blocks", turn=turn)), words=["turn"])
        self.yardstick("check", self.study(*PACED, head=head("blocks", turn="60s")))
        self.yardstick("check", self.study(*PACED, head=head("blocks", turn="auto")))
        self.refusal("check", self.study(*PACED, head=head("turns")), words=["interleave", "runs", "blocks"])

    def test_trials_of_other_work_are_no_group(self):
        self.yardstick("run", self.study(*BUILTIN, "[a]", "steps = {20, 30}", "lr = {0.01, 0.02}", "[b]", "steps = 10",
                                         head=head("blocks")))
        turns = {trial: run["facts"].get("turns") for (trial, _), run in self.runs().items()}
        self.assertEqual(len(turns), 5)
        self.assertEqual(sorted(each["members"] if each else 0 for each in turns.values()), [0, 2, 2, 2, 2])

    def test_a_small_network_waits_for_no_large_one(self):
        work = PACED[:-2]
        self.yardstick("run", self.study(*work, "[large]", "model = lenet", "lr = {0.01, 0.02}", "[small]", "lr = {0.01, 0.02}",
                                         head=head("blocks")))
        self.assertEqual([run["facts"]["turns"]["members"] for run in self.runs().values()], [2] * 4)
        _, err = self.yardstick("check", self.study(*work[:2], *work[3:], "[a]", "model = {mlp, lenet}", head=head("auto")))
        self.assertIn("work a step", err)

    def misbehaving(self, *behaviours, code=0, env=()):
        """A study of one trial for each behaviour; its runs by trial."""
        with open(self.write("bad.recipe", ""), "w") as recipe:
            recipe.write("name = bad\nprogram = python3 %s\nno_work = yes\n" % recipe_word(ADAPTER))
        lines = ["[global]", "framework = bad", "model = mlp", "data = digits", "batch = 8", "threads = 1",
                 "steps = 120", "block = 5", "stall_limit = 2s", "memory_limit = 200MiB"]
        for name in behaviours:
            lines += ["[%s]" % name.replace("_", "-"), "env.MISBEHAVE = %s" % name]
        process = self.start("run", "--recipes=.", self.study(*lines, head=head("blocks")), env=env)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, err)
        self.assert_nothing_left()
        return {trial: run for (trial, _), run in self.runs().items()}

    def test_a_member_that_fails_leaves_the_others_their_turns(self):
        for behaviour, status in (("crash_mid_train", "crashed"), ("hang_after_blocks", "stalled"), ("segv", "crashed"),
                                  ("stop_mid_train", "stalled"), ("die_waiting", "killed"), ("memory", "oom_host")):
            runs = self.misbehaving("none", behaviour, "honest", code=1)
            self.assertEqual(runs[behaviour.replace("_", "-")]["status"], status, behaviour)
            for trial in ("none", "honest"):
                self.assertEqual((runs[trial]["status"], runs[trial]["facts"]["steps_done"]), ("ok", 120), behaviour)
                self.assertEqual(runs[trial]["facts"]["turns"]["members"], 3)

    def test_one_that_burns_while_others_have_their_turn_is_held_and_pays_for_it(self):
        for env in ({}, {"YARDSTICK_CGROUP": "off"}):
            runs = self.misbehaving("none", "burn", env=env)
            turns = {trial: run["facts"]["turns"] for trial, run in runs.items()}
            self.assertIn(turns["burn"]["hold"], ("signals",) if env else ("group", "signals"))
            self.assertEqual(turns["none"]["hold"], "none")
            self.assertGreater(turns["burn"]["ahead_ns"], turns["none"]["ahead_ns"])
            self.assertGreater(sum(runs["burn"]["series"]["request_ahead_ns"]), 0)

    def interrupted(self, how, code, after_s):
        process = self.start("run", self.study(*PACED, head=head("blocks", repeat=20)))
        self.wait_until(lambda: len(self.marked_processes()) > 2, process)
        time.sleep(after_s)
        stored = self.stored_runs()
        process.send_signal(how)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, code)
        self.assert_nothing_left()
        self.assertGreaterEqual(self.stored_runs(), stored)

    def test_ctrl_c_in_any_phase_leaves_nothing_and_resume_goes_on(self):
        for after_s in (0, 0.2, 0.7, 1.3):
            self.interrupted(signal.SIGINT, 130, after_s)
            cancelled = [run for run in self.runs().values() if run["status"] != "ok"]
            self.assertLessEqual(len(cancelled), 3)
            for run in cancelled:
                self.assertEqual(run["status"], "cancelled")
        stored = self.stored_runs()
        self.yardstick("resume", "last", "--quiet", timeout=600)
        self.assertGreater(self.stored_runs(), stored)
        ok = [run for run in self.runs().values() if run["status"] == "ok"]
        self.assertEqual(len({(run["trial"], run["round"]) for run in ok}), 60)
        for run in ok:
            self.assertEqual(run["facts"]["turns"]["members"], 3)

    def test_killed_at_any_moment_it_leaves_no_frozen_process(self):
        draw = random.Random(1)
        for _ in range(6):
            before = self.stored_runs() if draw else 0
            self.interrupted(signal.SIGKILL, -signal.SIGKILL, draw.uniform(0, 1.5))


if __name__ == "__main__":
    unittest.main()
