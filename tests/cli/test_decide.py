"""Rounds that go on until the comparisons are decided (repeat = decide)."""
import contextlib
import os
import signal
import sqlite3

from harness import NULL, Case, tearDownModule  # noqa: F401

# Accuracies are the same bits in every run of the same work, so what they decide is known.
LEARNING = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=2", "--block=1", "--audit=off",
            "--decide=accuracy"]
# Blocks too few to tell whether a run was steady: no number of rounds decides such speeds.
NEVER = NULL + ["--opt.null.rate=800,1600"]


class Decide(Case):
    def rounds(self):
        """Rounds of which both trials have a run."""
        path = os.path.join(self.folder, "yardstick-results", "results.db")
        try:
            with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % path, uri=True)) as db:
                return db.execute("select count(distinct round) from (select round from run group by round, attempt having count(*) = 2)").fetchone()[0]
        except sqlite3.Error:  # there is no database yet, or it is being made
            return 0

    def decisions(self, result, metric):
        return [(one["verdict"], one["decision"], one["look_rounds"], one["n"]) for one in result["comparisons"] if one["metric"] == metric]

    def test_what_is_the_same_at_the_first_look_ends_the_study(self):
        result, err = self.result("run", *LEARNING, "--env.WORD=a,b")
        self.assertEqual(self.decisions(result, "accuracy"), [("same", "decided", 7, 7)])
        self.assertEqual((result["study"]["repeat"], result["study"]["rounds"]), (7, 7))
        self.assertEqual([look["rounds"] for look in result["study"]["decide"]["looks"]], [7, 12, 20])
        self.assertIn("after 7 of at most 20 rounds 1 of 1 comparisons are decided: that ends the study", err)

    def test_what_is_open_goes_on_to_the_next_look(self):
        result, err = self.result("run", *LEARNING, "--lr=0.001,0.0011,0.3", "--repeat-most=8", "--margin=0")
        found = self.decisions(result, "accuracy")
        last = 8 if any(decision == "open" for _, decision, _, _ in found) else max(look for _, _, look, _ in found)
        self.assertEqual(result["study"]["rounds"], last)
        for verdict, decision, look, count in found:
            self.assertEqual(decision == "decided", verdict in ("better", "worse", "same"))
            self.assertEqual(look, count)
            self.assertEqual(look if decision == "decided" else 8, look)
        self.assertIn("after %d of at most 8 rounds" % last, err)

    def test_what_more_rounds_cannot_decide_ends_it_too(self):
        result, err = self.result("run", *NEVER)
        self.assertEqual([found[1:3] for found in self.decisions(result, "rate_per_s")], [("never", 7)])
        self.assertEqual(result["study"]["rounds"], 7)
        self.assertIn("0 of 1 comparisons are decided, 1 cannot be by more rounds: that ends the study", err)

    def test_one_trial_has_as_many_rounds_as_the_first_look(self):
        result, _ = self.result("run", *NULL)
        self.assertEqual((result["study"]["rounds"], result["comparisons"]), (7, []))

    def test_a_file_keeps_its_number(self):
        study = self.study("[a]", "framework = null", "model = mlp", "data = digits", "batch = 8", "steps = 20", "block = 5", head="version = 1\nrepeat = 2\n")
        result, _ = self.result("run", study)
        self.assertEqual((result["study"]["rounds"], result["study"]["decide"]), (2, None))

    def test_a_budget_too_small_for_the_first_look_is_told(self):
        self.refusal("run", *NULL, "--repeat-most=5", words=("repeat_most = 5", "6 to 10000"))
        self.refusal("run", *NEVER, "--max-runs=13", words=("2 trials, each run 7 times, make 14 runs", "max_runs = 13"))
        slow = NULL + ["--opt.null.rate=200,201"]  # 0.8 s a run
        _, err = self.result("run", *slow, "--time-limit=4s", code=124)
        self.assertIn("it will end before the first look, which is after 7 rounds", err)
        self.assertRegex(err, r"ended after \d rounds, before the first look, which is after 7: nothing is decided; give it more time")

    def test_resume_goes_on_to_the_look_and_no_further(self):
        process = self.start("run", *NEVER)
        self.wait_until(lambda: self.rounds() >= 3, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143)
        self.assertLess(self.rounds(), 7)
        self.yardstick("resume")
        self.assertEqual(self.rounds(), 7)
        _, err = self.yardstick("resume")
        self.assertIn("complete", err)
        self.assertEqual(self.rounds(), 7)
