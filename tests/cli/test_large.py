"""Results that are large, that are kept without their folders, that nobody reads to their end; and signals."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import schema
from harness import NULL, ROOT, Case, tearDownModule  # noqa: F401

TRIALS = 40  # of the adapter that does nothing, so that no comparison is valid
LIMIT_S = 300  # generous: each takes well below a second
FIXTURES = os.path.join(ROOT, "tests", "fixtures", "result")


def pairs(document):
    return [(c["a"], c["b"]) for c in document["comparisons"] if c["metric"] == "rate_per_s"]


class Many(Case):
    """One study of many trials; what is shown of it grows with its trials, not with their pairs."""

    def test_each_trial_is_compared_with_the_first_along_its_axis_or_all_with_all(self):
        steps = "--steps=" + ",".join(str(n) for n in range(20, 20 + TRIALS))
        document, _ = self.result("run", *NULL[:-2], "--block=5", steps, "--repeat=1", "--quiet", timeout=LIMIT_S)
        self.assertEqual(document["study"]["comparisons"], "axes")
        self.assertEqual(pairs(document), [("run:steps=%d" % n, "run:steps=20") for n in range(21, 20 + TRIALS)])
        text, _ = self.yardstick("show", "--details", timeout=LIMIT_S)
        self.assertIn("steps 21 vs steps 20, null: ", text)
        path, _ = self.yardstick("report", timeout=LIMIT_S)
        self.assertLess(os.path.getsize(path.strip()), 1 << 20)
        document, _ = self.result("show", "--comparisons=all", timeout=LIMIT_S)
        self.assertEqual(document["study"]["comparisons"], "all")
        self.assertEqual(len(pairs(document)), TRIALS * (TRIALS - 1) // 2)
        self.assertEqual(len(set(pairs(document))), len(pairs(document)))
        self.yardstick("show", "--comparisons=all", timeout=LIMIT_S)
        self.yardstick("report", "--comparisons=all", timeout=LIMIT_S)
        self.refusal("show", "--comparisons=some", words=["some", "axes", "all"])


class One(Case):
    def setUp(self):
        super().setUp()
        # More than a pipe holds, when it is exported.
        self.yardstick("run", *NULL[:-2], "--steps=20000", "--block=1", "--repeat=1", "--quiet")

    def test_a_study_says_which_pairs_it_wants(self):
        three = NULL[:-2] + ["--block=5", "--steps=20,30,40", "--repeat=1", "--quiet"]
        document, _ = self.result("run", *three, "--comparisons=all")
        self.assertEqual(len(pairs(document)), 3)
        document, _ = self.result("show", "--comparisons=axes")
        self.assertEqual(len(pairs(document)), 2)

    def test_the_database_alone_is_enough(self):
        alone = os.path.join(self.folder, "alone")
        os.mkdir(alone)
        shutil.copy(os.path.join(self.folder, "yardstick-results", "results.db"), alone)
        self.assertEqual(self.yardstick("show", "--details", "--results=alone"), self.yardstick("show", "--details"))
        self.assertEqual(self.yardstick("export", "--results=alone"), self.yardstick("export"))
        self.assertEqual(os.listdir(alone), ["results.db"])
        path, _ = self.yardstick("report", "--results=alone")
        self.assertEqual(path.strip(), os.path.join(os.path.realpath(alone), "001-run", "report.html"))
        self.assertTrue(os.path.getsize(path.strip()))

    def test_a_reader_that_has_enough_is_no_failure(self):
        for arguments in (["export"], ["show", "--format=json"], ["list", "keys", "--format=json"], ["--help"]):
            process = self.start(*arguments)
            process.stdout.close()
            self.assertEqual(process.wait(LIMIT_S), 0, arguments)
            self.assertEqual(process.stderr.read(), "")

    def test_the_end_of_a_study_that_nobody_reads_keeps_its_exit_code(self):
        process = self.start("run", *NULL, "--repeat=1", "--quiet")
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT_S), 0)

    def test_a_signal_ends_what_only_reads_at_once(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("export")  # it fills the pipe, and waits
            self.assertTrue(process.stdout.read(1))
            process.send_signal(number)
            self.assertEqual(process.wait(LIMIT_S), -number)

    def test_a_signal_leaves_no_half_of_a_report(self):
        folder = os.path.join(self.folder, "yardstick-results", "001-run")
        for delay_s in (0.005, 0.01, 0.02, 0.04):
            process = self.start("report")
            try:
                process.wait(delay_s)
            except subprocess.TimeoutExpired:
                process.terminate()
            self.assertIn(process.wait(LIMIT_S), (0, -signal.SIGTERM))
            self.assertEqual([name for name in os.listdir(folder) if name.startswith("report.html.")], [])

    def test_a_signal_that_was_ignored_at_the_start_stays_so(self):
        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
        runs = os.path.join(self.folder, "yardstick-results", "002-run", "runs")
        process = self.start("run", *NULL, "--repeat=20", "--cooldown=50ms", "--quiet", preexec_fn=ignore)
        self.wait_until(lambda: os.path.exists(runs), process)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 0, err)
        document, _ = self.result("show")
        self.assertEqual((document["study"]["status"], document["study"]["rounds"]), ("done", 20))


class Schema(unittest.TestCase):
    """The judge of all documents finds what it should."""

    def read(self, name):
        with open(os.path.join(FIXTURES, name)) as file:
            return json.load(file)

    def test_the_fixtures_fit(self):
        for name in os.listdir(FIXTURES):
            if name.endswith(".json"):
                self.assertEqual(schema.result_faults(self.read(name)), [], name)

    def test_faults_are_found(self):
        def rate(document):
            return document["trials"][0]["metrics"]["rate_per_s"]
        for spoil, fault in [
                (lambda d: d.update(undocumented=1), "result.undocumented is not documented"),
                (lambda d: d["study"].update(timing={"lunch_s": 1}), "result.study.timing.lunch_s"),
                (lambda d: d["trials"][0].update(status="tired"), "result.trials[0].status is 'tired'"),
                (lambda d: rate(d).pop("unit"), "result.trials[0].metrics.rate_per_s lacks unit"),
                (lambda d: rate(d).update(n=0), "result.trials[0].metrics.rate_per_s.n is 0"),
                (lambda d: rate(d).update(ci=[1]), "result.trials[0].metrics.rate_per_s.ci"),
                (lambda d: d["comparisons"][0].update(a=1), "result.comparisons[0].a is 1")]:
            document = self.read("small.json")
            spoil(document)
            self.assertIn(fault, " ".join(schema.result_faults(document)))


if __name__ == "__main__":
    unittest.main()
