"""`yardstick doctor`: what can be observed on this machine, and whether it is true."""

import json
import os
import unittest

from harness import CACHE, Case, tearDownModule  # noqa: F401

STATES = {"good", "poor", "unknown"}
VERDICTS = {"true", "unknown", "wrong"}


class Doctor(Case):
    def test_each_line_has_a_state_and_what_is_poor_its_consequence(self):
        lines = json.loads(self.yardstick("doctor", "--format=json")[0])
        self.assertIn("processor time", [line["name"] for line in lines])
        for line in lines:
            self.assertIn(line["state"], STATES)
            self.assertTrue(line["found"])
            if line["state"] == "poor":
                self.assertTrue(line["consequence"], line)

    def test_without_control_groups_it_says_what_is_lost_and_how_to_gain_it(self):
        out, _ = self.yardstick("doctor", env={"YARDSTICK_CGROUP": "off"})
        self.assertIn("nobody waits for is missed", out)
        self.assertIn("systemd-run --user --scope -p Delegate=yes", out)

    def self_test(self, env):
        process = self.start("doctor", "--self-test", "--times=1", "--format=json", env=env)
        out, err = process.communicate(timeout=120)
        self.assertIn(process.returncode, (0, 1), err)
        table = json.loads(out)
        rows = {row["what"]: row for row in table["rows"]}
        self.assertGreaterEqual(len(rows), 17)
        for what, row in rows.items():
            self.assertIn(row["verdict"], VERDICTS)
            if what != "length of a phase":  # a matter of what else this machine does just now
                self.assertNotEqual(row["verdict"], "wrong", row)
            if row["verdict"] == "unknown":
                self.assertIsNone(row["observed"])
                self.assertTrue(row["reason"])
        return rows

    def test_what_is_observed_of_known_things_is_true_or_unknown(self):
        rows = self.self_test({})
        self.assertEqual(rows["CPU time of a child"]["verdict"], "true")
        kept = os.path.join(CACHE, "doctor", "self-test.json")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["rows"]), len(rows))

    def test_without_control_groups_too(self):
        rows = self.self_test({"YARDSTICK_CGROUP": "off"})
        self.assertEqual(rows["memory held for 80 ms"]["verdict"], "true")
        self.assertEqual(rows["memory shared between five"]["verdict"], "unknown")

    def test_a_number_of_times_that_is_none_is_refused(self):
        self.refusal("doctor", "--self-test", "--times=0", words=["--times=0"])


if __name__ == "__main__":
    unittest.main()
