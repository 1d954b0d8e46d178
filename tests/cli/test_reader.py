"""The reader in python/: what it says is what the program says."""
import importlib.util
import os
import sys

from harness import NULL, ROOT, Case, tearDownModule  # noqa: F401

sys.path.insert(0, os.path.join(ROOT, "python"))
sys.dont_write_bytecode = True
import yardstick_results  # noqa: E402


class Reader(Case):
    def setUp(self):
        super().setUp()
        self.yardstick("run", *NULL, "--opt.null.rate={4000,8000}", "--repeat=2", "--quiet")
        self.text = self.yardstick("export")[0]
        self.study = yardstick_results.read(self.write("study.jsonl", self.text))

    def test_rows_are_the_runs_of_the_result(self):
        rows = self.study.runs()
        trials = self.result("show")[0]["trials"]
        self.assertEqual(len(rows), 4)
        for trial in trials:
            of = sorted((row for row in rows if row["trial"] == trial["id"]), key=lambda row: row["round"])
            for name, metric in trial["metrics"].items():
                self.assertEqual([row[name] for row in of], metric.get("values") or [None, None], name)
            self.assertEqual({row["key.opt.null.rate"] for row in of}, {trial["factors"]["opt.null.rate"]})
        self.assertEqual({row["framework"] for row in rows}, {"null"})
        ends = self.study.series("block_end_ns")
        self.assertEqual(len(ends), sum(len(run["series"]["block_end_ns"]) for run in self.study.raw_runs))
        self.assertEqual(self.study.series("nosuch"), [])

    def test_frames(self):
        if not importlib.util.find_spec("pandas"):
            self.skipTest("there is no pandas")
        frame = self.study.frame()
        self.assertEqual(len(frame), 4)
        self.assertEqual(list(frame["rate_per_s"]), [row["rate_per_s"] for row in self.study.runs()])
        self.assertEqual(list(self.study.series_frame("block_first").columns), ["trial", "round", "attempt", "index", "value"])

    def test_other_files_are_refused(self):
        lines = self.text.splitlines(True)
        for text, words in (("", "cut short"), ("nonsense\n", "line 1"), ("[]\n", "line 1"), ("".join(lines[:-1]), "cut short"),
                            (self.text.replace('"round":1', '"round":7', 1), "changed"), ("".join(lines[:2] + lines[3:]), "changed"),
                            (self.text + lines[0], "behind its end")):
            with self.assertRaisesRegex(ValueError, words):
                yardstick_results.read(self.write("bad.jsonl", text))
