"""Each adversary of answerer.py ends as docs/proof.md says."""
import glob
import os
import re
import unittest

from gains import RECIPES, Adversary
from harness import tearDownModule  # noqa: F401  (removes the cache that the cases share)


class Answerers(Adversary):
    program = "answerer.py"

    def run_answerer(self, cheat, *flags, code=0, keep="-"):
        """The trial in the result document, and stderr."""
        usual = {"--batch": "8", "--requests": "400", "--repeat": "1"}
        usual.update(flag.split("=", 1) for flag in flags)
        document, err = self.result(
            "run", "--framework=answerer", "--recipes=" + RECIPES, "--mode=infer", "--model=mlp", "--data=digits", "--threads=1",
            "--env.CHEAT=" + cheat, "--env.CHEAT_KEEP=" + keep, *map("=".join, usual.items()), code=code, timeout=300)
        trial = document["trials"][0]
        self.assertEqual(trial["status"], "ok", err)
        if code:
            self.tell_end(cheat, trial)
        return trial, err

    def gains(self, cheat, *flags):
        """How many times as fast as the answers took that it computed it says that it is, and at the other end; the trial."""
        trial, _ = self.run_answerer(cheat, "--batch=64", "--keep_log=yes", *flags)
        [path] = glob.glob(os.path.join(self.folder, "yardstick-results/*/runs/*/adapter.log"))
        with open(path) as file:
            honest = 64 / float(re.findall("answerer: took ([0-9.]+)", file.read())[-1])
        found = trial["metrics"]["rate_per_s"]
        gains = [found["value"] / honest, found.get("whole_values", found["values"])[0] / honest]
        self.tell(cheat, "a range" if "whole_values" in found else "audit `%s`" % trial["proof"]["audit"]["verdict"], *gains)
        return (*gains, trial)

    def found(self, cheat, words, *flags, **options):
        with self.subTest(cheat):
            trial, err = self.run_answerer(cheat, *flags, code=5, **options)
            proof = trial["proof"]
            self.assertEqual((proof["verdict"], proof["audit"]["verdict"]), ("fail", "fail"), proof)
            self.assertRegex(proof["audit"]["reason"], words)
            self.assertIn("fails its audit", err)
            return proof["audit"]

    def test_of_one_that_does_its_work(self):
        for precision in ("f32", "f64"):
            proof = self.run_answerer("nothing", "--precision=" + precision, "--repeat=2")[0]["proof"]
            audit = proof["audit"]
            self.assertEqual((proof["verdict"], audit["verdict"]), ("pass", "pass"), audit)
            self.assertGreaterEqual(audit["answers"], 2 * 8)

    def test_of_answers_that_are_not_those_of_their_rows(self):
        for cheat in ("other_rows", "one", "zeros", "half", "narrow"):
            audit = self.found(cheat, "not those of their rows")
            self.assertGreater(audit["error"], audit["bound"])
            self.assertIn("the answer to request", audit["place"])

    def test_of_answers_that_are_shown_at_another_time(self):
        self.found("unwritten", "at a moment when none was shown")
        self.found("late", "at a moment when")
        self.found("early", "was shown before the time")
        self.found("ahead", "was shown before the time")

    def test_of_latencies_that_leave_the_time_out(self):
        self.found("shrunk", "its latencies are together", "--requests=20")

    def test_of_a_ring_that_is_damaged(self):
        self.found("cut", "cut the ring")
        self.found("head", "changed the ring's head")
        self.found("length", "has 79 values where 80 were due")

    def test_of_answers_of_an_earlier_run(self):
        keep = os.path.join(self.folder, "keep")
        os.mkdir(keep)
        proof = self.run_answerer("replay", "--seed=1", keep=keep)[0]["proof"]
        self.assertEqual(proof["audit"]["verdict"], "pass")
        self.found("replay", "not those of their rows", "--seed=2", keep=keep)

    def test_answers_that_are_kept_are_excluded_only_where_rows_do_not_come_again(self):
        trial = self.gains("cached", "--requests=200")[2]
        proof = trial["proof"]
        self.assertEqual((proof["verdict"], proof["audit"]["verdict"]), ("pass", "weak"))
        self.assertIn("cannot be excluded", proof["audit"]["reason"])

    def test_of_answers_that_were_ready_when_it_opened_the_whole_run_tells(self):
        said, held, trial = self.gains("opened", "--requests=60")
        self.assertGreater(said, 2)
        self.assertLess(held, said / 2)
        self.assertIn("may have been done ahead", " ".join(trial["doubts"]))

    def test_that_is_not_made(self):
        proof = self.run_answerer("zeros", "--audit=off")[0]["proof"]
        self.assertEqual((proof["verdict"], "audit" in proof), ("pass", False))


if __name__ == "__main__":
    unittest.main()
