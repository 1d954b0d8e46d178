"""The reader in python/: what it says is what the program says."""
import importlib.util
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys

from harness import NULL, ROOT, Case, load_version_2, tearDownModule  # noqa: F401

sys.path.insert(0, os.path.join(ROOT, "python"))
sys.dont_write_bytecode = True
import yardstick_results  # noqa: E402


TRAINS = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=12", "--block=4", "--repeat=2",
          "--audit=off", "--anchor=off"]


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """The fields of a message of protocol buffers: number and value."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif key & 7 == 5:
            value, at = data[at:at + 4], at + 4
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        found.append((key >> 3, value))
    return found


def events(path):
    """(step, tag, value) of all scalars of an event file."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at)
        event = dict(fields(data[at + 12:at + 12 + size]))
        at += 16 + size
        if 5 in event:
            value = dict(fields(dict(fields(event[5]))[1]))
            found.append((event[2], value[1].decode(), struct.unpack("<f", value[2])[0]))
    return found


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

    def test_the_database_holds_the_same(self):
        """Of a study that trains, so with losses, and a database of two studies."""
        self.yardstick("run", *TRAINS, "--quiet")
        exported = yardstick_results.read(self.write("trains.jsonl", self.yardstick("export")[0]))
        for path in (self.folder + "/yardstick-results", os.path.join(self.folder, "yardstick-results", "results.db")):
            stored = yardstick_results.read(path)
            self.assertEqual(stored.runs(), exported.runs())
            self.assertEqual(stored.metrics(), exported.metrics())
            self.assertEqual(stored.trial_rows(), exported.trial_rows())
            self.assertEqual(stored.host, exported.host)
            self.assertEqual(stored.series_names(), exported.series_names())
            for name in stored.series_names():
                self.assertEqual(stored.series(name), exported.series(name), name)
            for member in ("id", "name", "folder", "started_s", "ended_s", "status", "exit_code", "timing", "seed"):
                self.assertEqual(stored.document.get(member), exported.document.get(member), member)
        self.assertEqual(len(stored.series("step_loss")), 2 * 12)
        self.assertEqual({row["proof"] for row in stored.trial_rows()}, {"pass"})
        path = os.path.join(self.folder, "yardstick-results", "results.db")
        self.assertEqual([(row["id"], row["name"]) for row in yardstick_results.studies(path)], [(1, "run"), (2, "run")])
        for study in (1, "1", "001-run"):
            self.assertEqual(yardstick_results.read(path, study).runs(), self.study.runs())
        self.assertEqual(yardstick_results.read(path, "run").document["id"], 2)
        with self.assertRaisesRegex(KeyError, "nosuch"):
            yardstick_results.read(path, "nosuch")

    def test_a_database_of_an_earlier_version_is_read_the_same(self):
        shutil.rmtree(os.path.join(self.folder, "yardstick-results"))
        path = load_version_2(self.folder)
        earlier = {number: yardstick_results.read(path, number) for number in (1, 2)}
        exported = yardstick_results.read(self.write("earlier.jsonl", self.yardstick("export", "2")[0]))
        self.assertEqual(repr(earlier[2].raw_runs), repr(exported.raw_runs))  # whole numbers are whole, real ones real
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        for number, study in earlier.items():
            carried = yardstick_results.read(path, number)
            self.assertEqual(repr(carried.raw_runs), repr(study.raw_runs))
            self.assertEqual((carried.document, carried.host, carried.trials), (study.document, study.host, study.trials))
        os.mkdir(os.path.join(self.folder, "damaged"))
        link = sqlite3.connect(load_version_2(os.path.join(self.folder, "damaged")))
        link.execute("update metric set value = 1 where position = 3")
        link.commit()
        link.close()
        with self.assertRaisesRegex(ValueError, "row of metric"):
            yardstick_results.read(os.path.join(self.folder, "damaged", "yardstick-results"))

    def test_a_damaged_database_is_refused(self):
        path = os.path.join(self.folder, "yardstick-results", "results.db")
        for change, words in (("update run set round = 7 where id = 1", "row of run"), ("update metric set value = 1 where position = 3", "row of metric"),
                              ("update metric_form set doc = '{}' where id = 1", "row of metric"),
                              ("update series set data = x'00' where position = 0", "row of series"), ("update study set name = 'x'", "row of study"),
                              ("update trial set doc = '{}'", "row of trial"), ("pragma user_version = 99", "newer yardstick"),
                              ("pragma application_id = 1", "no results of yardstick")):
            copy = os.path.join(self.folder, "copy.db")
            shutil.copy(path, copy)
            link = sqlite3.connect(copy)
            link.execute(change)
            link.commit()
            link.close()
            with self.assertRaisesRegex(ValueError, words):
                yardstick_results.read(copy)
        with self.assertRaises(ValueError):
            yardstick_results.read(self.write("text.db", "SQLite format 3\0 and nothing more"))

    def test_scalars_are_what_tensorboard_reads(self):
        self.yardstick("run", *TRAINS, "--quiet")
        study = yardstick_results.read(self.folder + "/yardstick-results")
        paths = study.write_tensorboard(os.path.join(self.folder, "logs"))
        trial, = study.trials
        place = os.path.join(self.folder, "logs", re.sub("[^A-Za-z0-9._=,@+-]", "_", trial["id"]))
        self.assertEqual(sorted({os.path.dirname(path) for path in paths}), [place, place + "/round-0", place + "/round-1"])
        rows = study.runs()
        of_trial = events(next(path for path in paths if os.path.dirname(path) == place))
        rates = [(step, value) for step, tag, value in of_trial if tag == "rate_per_s"]
        self.assertEqual([step for step, _ in rates], [0, 1])
        for (_, value), row in zip(rates, rows):
            self.assertLess(abs(value / row["rate_per_s"] - 1), 2 ** -23)  # a float of 32 bits
        of_round = events(next(path for path in paths if os.path.dirname(path).endswith("round-1")))
        losses = [(step, value) for step, tag, value in of_round if tag == "loss"]
        wanted = [row["value"] for row in study.series("step_loss") if row["round"] == 1]
        self.assertEqual([step for step, _ in losses], list(range(12)))
        for (_, value), loss in zip(losses, wanted):
            self.assertLess(abs(value - loss), 2 ** -23 * abs(loss))
        self.assertEqual([step for step, tag, _ in of_round if tag == "step_s"][-1], 11)
        if importlib.util.find_spec("tensorboard"):
            from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
            told = [event for path in paths for event in EventFileLoader(path).Load()]
            self.assertEqual(sum(len(event.summary.value) for event in told), sum(len(events(path)) for path in paths))

    def test_two_trials_have_two_folders_of_scalars(self):
        self.yardstick("run", *NULL, "--env.A=\u00e4,\u00f6", "--repeat=1", "--quiet")
        paths = yardstick_results.read(self.folder + "/yardstick-results").write_tensorboard(os.path.join(self.folder, "logs"))
        self.assertEqual(len(set(paths)), len(paths))
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "logs"))), 2)

    def test_checksums_of_events(self):
        from yardstick_results import _tensorboard
        self.assertEqual(_tensorboard.crc32c(b"123456789"), 0xE3069283)  # the check value of CRC-32C

    def test_frames(self):
        if not importlib.util.find_spec("pandas"):
            self.skipTest("there is no pandas")
        frame = self.study.frame()
        self.assertEqual(len(frame), 4)
        self.assertEqual(list(frame["rate_per_s"]), [row["rate_per_s"] for row in self.study.runs()])
        self.assertEqual(list(self.study.series_frame("block_first").columns), ["trial", "round", "attempt", "index", "value"])
        self.assertEqual(list(self.study.trial_frame()["trial"]), [trial["id"] for trial in self.study.trials])
        long = self.study.metric_frame()
        self.assertEqual(len(long), 4 * len(self.study.metric_names()))
        self.assertEqual(list(long[long["metric"] == "wall_s"]["value"]), [row["wall_s"] for row in self.study.runs()])

    def test_parquet_files_hold_what_the_frames_hold(self):
        for name in ("pandas", "pyarrow"):
            if not importlib.util.find_spec(name):
                self.skipTest("there is no " + name)
        import pandas
        paths = self.study.write_parquet(os.path.join(self.folder, "out"))
        names = [os.path.basename(path) for path in paths]
        self.assertEqual(names[:3], ["trials.parquet", "runs.parquet", "metrics.parquet"])
        self.assertIn("series-block_end_ns.parquet", names)
        back = pandas.read_parquet(paths[1])
        pandas.testing.assert_series_equal(back["rate_per_s"], self.study.frame()["rate_per_s"])
        self.assertEqual(list(back["round"]), [row["round"] for row in self.study.runs()])
        ends = pandas.read_parquet(paths[names.index("series-block_end_ns.parquet")])
        self.assertEqual(list(ends["value"]), [row["value"] for row in self.study.series("block_end_ns")])

    def test_it_is_typed(self):
        if not importlib.util.find_spec("mypy"):
            self.skipTest("there is no mypy")
        found = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir=" + self.folder, "-p", "yardstick_results"],
                               cwd=os.path.join(ROOT, "python"), capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_line_ends_that_were_changed_change_nothing(self):
        whole = yardstick_results.read(self.write("whole.jsonl", self.text)).runs()
        for text in self.text.replace("\n", "\r\n"), "\ufeff" + self.text, self.text.rstrip("\n"):
            self.assertEqual(yardstick_results.read(self.write("carried.jsonl", text)).runs(), whole)

    def test_other_files_are_refused(self):
        lines = self.text.splitlines(True)
        for text, words in (("", "cut short"), ("nonsense\n", "line 1"), ("[]\n", "line 1"), ("".join(lines[:-1]), "cut short"),
                            (self.text.replace('"round":1', '"round":7', 1), "changed"), ("".join(lines[:2] + lines[3:]), "changed"),
                            (self.text + lines[0], "behind its end")):
            with self.assertRaisesRegex(ValueError, words):
                yardstick_results.read(self.write("bad.jsonl", text))
