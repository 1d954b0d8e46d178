"""What the statistics of a study rest on: the order of its runs, its blocks, and comparisons that hold together."""
import contextlib
import json
import os
import sqlite3
import unittest

from harness import Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

TRIALS = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8"]


class Statistics(Case):
    def order(self):
        """[[trials' positions, as they were run], one list a round]"""
        path = os.path.join(self.folder, "yardstick-results", "results.db")
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % path, uri=True)) as db:
            rows = db.execute("select round, position from run join trial on trial.id = trial_id order by run.id").fetchall()
        return [[position for at, position in rows if at == number] for number in sorted({at for at, _ in rows})]

    def test_every_second_round_is_the_one_before_it_backwards(self):
        self.yardstick("run", "--framework=null", *TRIALS[1:], "--steps=2", "--lr=0.01,0.02,0.03,0.04", "--repeat=5")
        order = self.order()
        self.assertEqual([len(found) for found in order], [4] * 5)
        self.assertEqual(order[1], order[0][::-1])
        self.assertEqual(order[3], order[2][::-1])
        self.assertGreater(len({tuple(found) for found in order}), 2)  # one seed in 24 would have pairs alike

    def test_comparisons_of_a_section_hold_together(self):
        out, _ = self.yardstick("run", *TRIALS, "--steps=31", "--block=1", "--lr=0.01,0.02,0.03", "--repeat=6",
                                "--format=json")
        result = json.loads(out)
        rates = [found for found in result["comparisons"] if found["metric"] == "rate_per_s"]
        self.assertEqual(len(rates), 2)
        for found in rates:
            (lo, hi), (low, high) = found["ci"], found["single"]["ci"]
            self.assertTrue(lo <= low <= found["ratio"] <= high <= hi, found)
            self.assertEqual((found["level"], found["single"]["level"]), (0.95, 0.96875))
            self.assertEqual((found["rounds"], found["round_correlation"]), ("cannot be told", None))
            self.assertGreaterEqual(found["bias_bound"], 0)
        for trial in result["trials"]:
            self.assertFalse([text for text in trial["warnings"] if "too few blocks" in text])

    def test_too_few_blocks_are_said_before_and_after(self):
        _, err = self.yardstick("check", *TRIALS, "--steps=30", "--block=1")
        self.assertIn("29 after the first step, 30 are needed", err)
        _, err = self.yardstick("check", *TRIALS, "--steps=31", "--block=1")
        self.assertNotIn("blocks", err)
        out, _ = self.yardstick("run", *TRIALS, "--steps=20", "--block=5", "--repeat=1", "--format=json")
        warnings = json.loads(out)["trials"][0]["warnings"]
        self.assertTrue([text for text in warnings if "1 of 1 runs have too few blocks" in text], warnings)


if __name__ == "__main__":
    unittest.main()
