"""Timetables: what a measured run computed, slept by ranks for which there are no cores, and what a step is predicted to take."""
import json
import os
import subprocess
import sys
import unittest

from harness import ROOT, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

TOOL = os.path.join(ROOT, "tools", "timetable.py")
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1"]
WORK = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1", "--block=1", "--audit=off"]


class Timetables(Case):
    def take(self, *words):
        """Path of the timetable of the last study, and what is in it."""
        exported, _ = self.yardstick("export")
        told = subprocess.run([sys.executable, TOOL, "take", *words], input=exported, capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        return self.write("table.json", told.stdout), json.loads(told.stdout)

    def facts(self):
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return run["facts"]

    def made(self, ranks, numbers=1000):
        """A file of steps (before, after) in ms, by rank."""
        return self.write("made.json", json.dumps({"format": "yardstick/timetable/1", "of": "a test", "numbers": numbers, "ranks": [
            {"before_ns": [int(1e6 * before) for before, _ in steps], "after_ns": [int(1e6 * after) for _, after in steps]}
            for steps in ranks]}))

    def test_ranks_that_sleep_take_as_long_as_those_that_were_measured(self):
        self.yardstick("run", *NULL, "--ranks=2", "--steps=21", "--block=4", "--opt.null.rate=800", "--opt.null.exchange=1000",
                       "--opt.null.late_ms=15", "--opt.null.late_rank=1")
        path, table = self.take()
        self.assertEqual(len(table["ranks"]), 2)
        for rank in table["ranks"]:
            self.assertEqual((len(rank["before_ns"]), len(rank["after_ns"])), (20, 20))
            self.assertTrue(all(time >= 0 for time in rank["before_ns"] + rank["after_ns"]))
        measured = self.facts()["ranks"]
        means_s = [(sum(rank["before_ns"]) + sum(rank["after_ns"])) / 20e9 for rank in table["ranks"]]
        for rank, mean_s in zip(measured, means_s):
            self.assertAlmostEqual(rank["compute_s"], mean_s, delta=1e-6)  # the same sums, another way
        self.assertGreater(means_s[1] - means_s[0], 0.01)
        out, _ = self.result("run", *NULL, "--ranks=2", "--steps=21", "--block=4", "--opt.null.timetable=" + path)
        trial, = out["trials"]
        self.assertEqual(trial["status"], "ok")
        for told, mean_s in zip(trial["ranks"], means_s):
            self.assertGreater(told["compute_s"], 0.95 * mean_s)  # sleep is not shorter than it is meant to be
            # As many numbers as the network has parameters, and 16 bytes that say so.
            self.assertEqual(told["sent_bytes"], 4 * table["numbers"] + 16)

    def test_its_rows_say_that_they_sleep_and_what(self):
        out, _ = self.result("run", *NULL, "--ranks=2", "--steps=6", "--opt.null.timetable=" + self.made([[(1, 0), (2, 1)]]))
        trial, = out["trials"]
        self.assertIn("sleeps a timetable in the place of computing: a test", trial["deviations"])
        self.assertIn("sleeps a timetable in the place of computing: a test", " ".join(self.yardstick("show", "last")[0].split()))
        self.assertEqual(trial["proof"]["verdict"], "none")

    def test_one_process_that_computed_becomes_as_many_ranks_as_are_asked_for(self):
        self.yardstick("run", *WORK, "--steps=12")
        path, table = self.take()
        self.assertEqual(len(table["ranks"]), 1)
        self.assertEqual(len(table["ranks"][0]["before_ns"]), 11)
        self.assertEqual(set(table["ranks"][0]["after_ns"]), {0})
        self.assertEqual(table["numbers"], self.facts()["work"]["parameters"])
        self.assertIn("mlp, one process of 8 rows, 11 steps", table["of"])
        out, _ = self.result("run", *NULL, "--ranks=4", "--steps=12", "--block=1", "--opt.null.timetable=" + path)
        trial, = out["trials"]
        self.assertEqual([rank["status"] for rank in trial["ranks"]], ["ok"] * 4)
        for rank in trial["ranks"]:  # three of four shares, twice; shares differ by one number
            self.assertAlmostEqual(rank["sent_bytes"], 2 * 3 / 4 * 4 * table["numbers"], delta=16 + 24)

    def test_two_ranks_that_computed_are_told_apart_from_their_exchange(self):
        self.yardstick("run", *WORK, "--ranks=2", "--steps=12", "--opt.builtin.transport=shared")
        _, table = self.take()
        self.assertIn("mlp, 2 ranks of 8 rows, 11 steps", table["of"])
        for told, rank in zip(self.facts()["ranks"], table["ranks"]):
            own_s = sum(told[name] for name in ("compute_s", "optimizer_s", "framework_s", "input_s"))
            self.assertAlmostEqual((sum(rank["before_ns"]) + sum(rank["after_ns"])) / 11e9, own_s, delta=1e-6)
            self.assertGreater(min(rank["after_ns"]), 0)  # each step has an update

    def test_what_is_predicted_is_the_slowest_rank_and_the_formula(self):
        path = self.made([[(10, 1), (10, 1), (10, 1)], [(10, 1), (30, 1), (12, 1)]], numbers=250000)
        told = subprocess.run([sys.executable, TOOL, "predict", path, "--ranks", "2", "--rate", "100mbit", "--delay", "2ms"],
                              capture_output=True, text=True, check=True).stdout
        # 31 and 13 ms; 500 kB twice, each with its headers 41.82 ms, one behind the other, and once 2 ms. In the second step rank 1
        # is late by 20 ms: it has the mean when its own piece has gone and come back, at 192.3 ms, rank 0 at 212.3. In the third it
        # begins when its wire is free, at 210.3, rank 0 at 223.3, which has sent all 2 ms before rank 1 has the mean: at 308.9. The
        # first took until 95.6.
        self.assertEqual(told, "computing 22.000 ms, exchanging 84.646 ms, a step 106.646 ms\n")
        told = subprocess.run([sys.executable, TOOL, "predict", path, "--ranks", "2", "--rate", "100mbit", "--delay", "2ms", "--handling", "1.5ms",
                               "--steps", "2"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(told, "computing 31.000 ms, exchanging %.3f ms, a step %.3f ms\n" % (2 * 41.823 + 3.5, 31 + 2 * 41.823 + 3.5))
        even = self.made([[(10, 1)] * 3], numbers=250000)
        # A third takes 27.882 ms, so each piece but the first waits for a frame of 5.450 ms, and the latency.
        self.assertEqual(self.predicted(even, "--ranks", "3", "--rate", "100mbit", "--delay", "50ms"), [11, 244.233, 255.233])
        told = subprocess.run([sys.executable, TOOL, "predict", path, "--ranks", "1", "--rate", "100mbit"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(told, "computing 11.000 ms, exchanging 0.000 ms, a step 11.000 ms\n")

    def predicted(self, path, *words):
        told = subprocess.run([sys.executable, TOOL, "predict", path, *words], capture_output=True, text=True, check=True).stdout
        return [float(number) for number in told.replace(",", "").split() if number[0].isdigit()]

    def test_buckets_are_exchanged_while_a_step_computes(self):
        """250000 floats at 100 Mbit/s between two ranks: 41.823 ms of a half of the bytes with headers, twice."""
        wire = ["--ranks", "2", "--rate", "100mbit", "--delay", "2ms"]
        long = self.made([[(300, 1)] * 3], numbers=250000)
        # Two buckets, of 41.823 + 2 ms each. The first is ready after 200 ms and exchanged before the second is.
        self.assertEqual(self.predicted(long, *wire, "--bucket", "500kB"), [301, 43.823, 344.823])
        # Of ten all are but the last. Their pieces are of one frame each, so each of the two takes 4.182 + 2 ms.
        self.assertEqual(self.predicted(long, *wire, "--bucket", "100000B"), [301, 12.365, 313.365])
        # In the second file the wire is never free again: the first is ready after 12 ms, and from then on 10 times 12.365.
        short = self.made([[(30, 0)] * 3, [(10, 0)] * 3], numbers=250000)
        self.assertEqual(self.predicted(short, *wire, "--bucket", "100000B"), [30, 105.646, 135.646])

    def test_ranks_that_sleep_exchange_as_many_buckets_as_it_takes(self):
        path = self.made([[(9, 0)] * 5], numbers=1001)
        for bucket, count in (("1000B", 5), ("4004B", 1), ("1GiB", 1)):
            with self.subTest(bucket):
                out, _ = self.result("run", *NULL, "--ranks=2", "--steps=6", "--block=1", "--opt.null.timetable=" + path, "--bucket=" + bucket)
                trial, = out["trials"]
                self.assertEqual(trial["status"], "ok")
                self.assertEqual(sum(rank["sent_bytes"] for rank in trial["ranks"]), 2 * (4 * 1001 + 16 * count))

    def test_what_cannot_be_a_timetable_is_named(self):
        good = self.made([[(1, 0)]])
        broken = self.write("broken.json", '{"format": "yardstick/timetable/1", "of": "x", "numbers": 0, "ranks": []}')
        for option, words in ((["--opt.null.timetable=made.json"], "a path that begins with a /"),
                              (["--opt.null.timetable=" + good, "--opt.null.rate=5"], "leave rate out"),
                              (["--opt.null.timetable=" + good, "--opt.null.exchange=5"], "leave exchange out"),
                              (["--opt.null.timetable=" + broken], "0 numbers to exchange"),
                              (["--opt.null.timetable=" + os.path.join(self.folder, "none.json")], "none.json")):
            with self.subTest(words):
                self.yardstick("run", *NULL, "--ranks=2", "--steps=4", *option, code=1)
                self.assertIn(words, self.facts()["message"])

    def refused(self, *words, text=""):
        """The one sentence that it says."""
        told = subprocess.run([sys.executable, TOOL, *words], input=text, capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stdout, told.stderr.count("\n")), (1, "", 1), told.stderr)
        return told.stderr

    def test_what_cannot_be_predicted_is_named_with_its_remedy(self):
        path, wire = self.made([[(1, 0)] * 3]), {"--ranks": "2", "--rate": "1gbit"}
        for flag, value, remedy in (("--rate", "125MB", "above 0 with one of kbit, mbit, gbit"), ("--rate", "5ms", "above 0 with one of kbit"),
                                    ("--rate", "0gbit", "above 0 with one of kbit"), ("--rate", "fast", "above 0 with one of kbit"),
                                    ("--rate", "infgbit", "above 0 with one of kbit"), ("--delay", "1gbit", "a number with one of us, ms, s"),
                                    ("--delay", "1", "a number with one of us"), ("--handling", "1MiB", "a number with one of us"),
                                    ("--bucket", "0B", "above 0 with one of B, kB"), ("--bucket", "1ms", "above 0 with one of B"),
                                    ("--bucket", "", "above 0 with one of B"), ("--ranks", "0", "above 0"), ("--ranks", "-2", "above 0"),
                                    ("--steps", "-1", "2 or more"), ("--steps", "0", "2 or more"), ("--steps", "1", "2 or more")):
            with self.subTest(flag + " " + value):
                flags = ["=".join(pair) for pair in dict(wire, **{flag: value}).items()]
                said = self.refused("predict", path, *flags)
                self.assertIn("timetable: %s is %s: write " % (flag, value), said)
                self.assertIn(remedy, said)
        flags = ["=".join(pair) for pair in wire.items()]
        self.assertIn("made.json has one step, and the first is left out: say with --steps", self.refused("predict", self.made([[(1, 0)]]), *flags))
        times = '{"before_ns": [1, 2], "after_ns": [0, 0]}'
        right = '{"format": "yardstick/timetable/1", "of": "x", "numbers": 9, "ranks": [%s]}'
        for text in ("", "[]", "7", "{}", "no", right % "", right % "7", right % (times + ', {"before_ns": [1], "after_ns": [0]}'),
                     right % times.replace("[1, 2]", '["1", "2"]'), right % times.replace("[1, 2]", "[1, -2]"), (right % times).replace("9", "0"),
                     (right % times).replace("/1", "/2")):
            with self.subTest(text):
                short = self.write("short.json", text)
                self.assertIn("short.json is no timetable: `yardstick export last | tools/timetable.py take` writes one", self.refused("predict", short, *flags))
        self.assertEqual(self.predicted(self.write("short.json", right % times), *flags)[0], 0)  # 2 ns, so that those above are of one fault each

    def test_what_is_no_export_is_named(self):
        for text, place in (("", "stdin has 0 lines"), ("no\n", "line 1 of stdin"), ('{"type": "study"}\n7\n', "line 2 of stdin"),
                            ('{"type": "study"}\n{}\n', "line 2 of stdin"), ('{"type": "study"}\n', "stdin has 1 lines and no trial")):
            with self.subTest(text):
                said = self.refused("take", text=text)
                self.assertIn(place, said)
                self.assertIn("yardstick export last | tools/timetable.py take", said)

    def test_of_attempts_at_a_round_the_last_counts(self):
        self.yardstick("run", *NULL[:-1], "--repeat=2", "--ranks=2", "--steps=11", "--block=5", "--opt.null.timetable=" + self.made([[(1, 0)]]))
        lines = [json.loads(line) for line in self.yardstick("export")[0].splitlines()]
        runs = {run["round"]: run for run in lines if run["type"] == "run"}
        self.assertEqual([run["attempt"] for run in runs.values()], [0, 0])

        def again(run, attempt, status):
            return dict(run, attempt=attempt, facts=dict(run["facts"], status=status))

        def steps_with(*more):
            told = subprocess.run([sys.executable, TOOL, "take"], input="\n".join(map(json.dumps, [*lines, *more])), capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stderr)
            return [rank["before_ns"] for rank in json.loads(told.stdout)["ranks"]]

        both = steps_with()
        self.assertEqual([len(steps) for steps in both], [20, 20])
        self.assertEqual(steps_with(again(runs[1], 1, "ok")), both)
        self.assertEqual(steps_with(again(runs[1], 1, "cancelled")), both)
        self.assertEqual(steps_with(again(runs[1], 1, "crashed")), [steps[:10] for steps in both])

    def test_a_run_that_cannot_be_taken_is_named(self):
        self.yardstick("run", *NULL, "--ranks=2", "--steps=4", "--opt.null.rate=5000")
        exported, _ = self.yardstick("export")
        for words, expected in ((["take"], "rank 0 does not tell when its gradients were there"), (["take", "--trial", "none"], "--trial is none; the study has: ")):
            told = subprocess.run([sys.executable, TOOL, *words], input=exported, capture_output=True, text=True)
            self.assertEqual((told.returncode, told.stdout), (1, ""))
            self.assertIn(expected, told.stderr)


if __name__ == "__main__":
    unittest.main()
