"""`yardstick doctor`: what can be observed on this machine, and whether it is true."""

import glob
import json
import os
import re
import tempfile
import unittest

from harness import CACHE, NULL, ROOT, Case, tearDownModule  # noqa: F401

STATES = {"good", "poor", "unknown"}
VERDICTS = {"true", "unknown", "wrong"}


def unpack(machine, root):
    """tests/fixtures/machines/README.md has the format."""
    with open(machine, encoding="utf-8") as file:
        lines = file.read().splitlines()
    path, contents = None, {}
    for line in lines:
        if line.startswith("\t"):
            contents[path].append(line[1:])
        elif line and not line.startswith("#"):
            path = line
            contents[path] = []
    for path, content in contents.items():
        span = re.search(r"\{(\d+)-(\d+)\}", path)
        for number in range(int(span[1]), int(span[2]) + 1) if span else [None]:
            to = root + (path if number is None else path.replace(span[0], str(number)))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "w", encoding="utf-8") as file:
                text = "\n".join(content) + "\n"
                file.write(text if number is None else text.replace("@", str(number)))


class Doctor(Case):
    def test_each_line_has_a_state_and_what_is_poor_its_consequence(self):
        lines = json.loads(self.yardstick("doctor", "--format=json")[0])
        self.assertIn("processor time", [line["name"] for line in lines])
        for line in lines:
            self.assertIn(line["state"], STATES)
            self.assertTrue(line["found"])
            self.assertLessEqual(len(line["name"]), 18)  # its column
            if line["state"] != "good":
                self.assertTrue(line["consequence"] and line["remedy"], line)

    def test_it_speaks_of_other_machines_briefly(self):
        """Machines that were recorded elsewhere, as the probes see them (YS_ROOT)."""
        machines = glob.glob(os.path.join(ROOT, "tests", "fixtures", "machines", "*.machine"))
        self.assertTrue(machines)
        for machine in machines:
            with self.subTest(os.path.basename(machine)), tempfile.TemporaryDirectory() as root:
                unpack(machine, root)
                lines = json.loads(self.yardstick("doctor", "--format=json", env={"YS_ROOT": root})[0])
                for line in lines:
                    self.assertTrue(line["state"] == "good" or (line["consequence"] and line["remedy"]), line)
                out, _ = self.yardstick("doctor", env={"YS_ROOT": root})
                variables = next((line["found"] for line in lines if line["name"] == "variables"), "")  # of whoever runs the tests
                self.assertLessEqual(len(out.splitlines()), 3 * len(lines) + len(variables) // 40)  # of 80 columns
                self.assertLessEqual(len(lines), 25)

    def test_without_control_groups_it_says_what_is_lost_and_how_to_gain_it(self):
        out, _ = self.yardstick("doctor", env={"YARDSTICK_CGROUP": "off"})
        self.assertIn("nobody waits for is missed", out)
        self.assertIn("systemd-run --user --scope -p Delegate=yes", " ".join(out.split()))

    def test_without_landlock_it_says_what_is_lost_and_how_to_gain_it(self):
        out, _ = self.yardstick("doctor", env={"YARDSTICK_LANDLOCK": "off"})
        for words in ("no Landlock: YARDSTICK_LANDLOCK is off", "can write the cache and the results", "Linux 6.2 or newer"):
            self.assertIn(words, " ".join(out.split()))
        lines = json.loads(self.yardstick("doctor", "--format=json")[0])
        line, = [line for line in lines if line["name"] == "guarded files"]
        self.assertEqual(line["state"] == "good", line["found"].startswith("by Landlock"))

    def self_test(self, env):
        """Asked again, and the median of more, while something is wrong: bounds are for a machine that does nothing else."""
        for times in (1, 3, 5, 9):
            process = self.start("doctor", "--self-test", f"--times={times}", "--format=json", env=env)
            out, err = process.communicate(timeout=600)
            self.assertIn(process.returncode, (0, 1), err)
            table = json.loads(out)
            rows = {row["what"]: row for row in table["rows"]}
            # How long a phase takes from outside is a matter of what else this machine does just now.
            wrong = [row for what, row in rows.items() if row["verdict"] == "wrong" and not what.startswith("length of")]
            if not wrong:
                break
        self.assertFalse(wrong)
        self.assertGreaterEqual(len(rows), 22)
        for what, slept_s in (("length of the start", 0.05), ("length of open", 0.05), ("length of the training", 0.16),
                              ("length of blocks that follow a gap", 0.12), ("length of a save", 0.05),
                              ("length of the stop", 0.05)):
            if rows[what]["verdict"] == "unknown":  # the machine does too much else
                continue
            self.assertGreaterEqual(rows[what]["truth"], slept_s)
            self.assertGreaterEqual(rows[what]["observed"], slept_s)  # nobody sleeps less than was asked for
        for row in rows.values():
            self.assertIn(row["verdict"], VERDICTS)
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


class Perf(Case):
    """perf = on: where processor time goes, by library."""

    STUDY = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--steps=120", "--block=5", "--repeat=1",
             "--audit=off"]

    def test_time_is_attributed_or_it_is_said_why_not(self):
        result, _ = self.result("run", *self.STUDY, "--perf=on")
        perf = result["trials"][0]["perf"]
        with open(os.path.join(self.folder, "yardstick-results", "001-run", "report.html"), encoding="utf-8") as file:
            self.assertIn("Processor time by library", file.read())
        if perf["reason"]:
            self.skipTest(perf["reason"])
        self.assertEqual(perf["runs"], 1)
        self.assertGreater(perf["samples"], 0)
        phases = [perf[name] for name in ("startup", "steady", "after")]
        seconds = sum(value or 0 for phase in phases for value in phase.values())
        self.assertAlmostEqual(seconds, perf["samples"] * perf["period_ns"] * 1e-9, places=6)
        cpu_s = result["trials"][0]["metrics"]["cpu_s"]["value"]
        self.assertLess(abs(seconds - cpu_s), 0.1 + 0.5 * cpu_s)  # a machine that does much else shifts what is sampled

    def test_it_is_off_by_default(self):
        result, _ = self.result("run", *NULL, "--repeat=1")
        self.assertNotIn("perf", result["trials"][0])


if __name__ == "__main__":
    unittest.main()
