"""The life of a study: results that cannot be written, interruptions, resume, limits, what goes where."""
import contextlib
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from harness import CACHE, NULL, PROGRAM, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

# Paced, so that there is time to interrupt it: 20 steps of 8 rows at 800 rows a second take 0.2 s.
SLOW = NULL + ["--opt.null.rate=800", "--repeat=20"]


class Life(Case):
    def stored_runs(self):
        with sqlite3.connect("file:%s/yardstick-results/results.db?mode=ro" % self.folder, uri=True) as db:
            return db.execute("select count(*) from run").fetchone()[0]

    def wait_for_runs(self, count, process, limit_s=300):
        def stored():
            try:
                return self.stored_runs() >= count
            except sqlite3.Error:
                return False
        self.wait_until(stored, process, limit_s)

    def interrupted(self, how, code):
        process = self.start("run", *SLOW)
        self.wait_for_runs(2, process)
        process.send_signal(how)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, code)
        self.assertGreaterEqual(self.stored_runs(), 2)
        self.assert_nothing_left()

    def resumed(self):
        before = self.stored_runs()
        result, _ = self.result("resume", "last")
        self.assertEqual(result["study"]["rounds"], 20)
        self.assertEqual(result["study"]["status"], "done")
        self.assertGreater(self.stored_runs(), before)
        _, err = self.yardstick("resume", "last")
        self.assertIn("complete", err)
        again, _ = self.result("show")
        self.assertEqual(again["study"]["timing"], result["study"]["timing"])  # there was nothing to do
        overhead_s = again["harness"]["overhead_s"]
        self.assertTrue(overhead_s is None or overhead_s >= 0, overhead_s)

    def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(self):
        self.interrupted(signal.SIGINT, 130)
        self.resumed()

    def test_sigterm_is_143(self):
        self.interrupted(signal.SIGTERM, 143)

    def test_kill_9_loses_at_most_the_run_in_flight(self):
        self.interrupted(signal.SIGKILL, -signal.SIGKILL)
        self.resumed()

    def test_runs_whose_rows_were_lost_with_the_end_of_the_log_are_named(self):
        """The database as it was after the first run, beside the folders of all that followed."""
        process = self.start("run", *NULL, "--opt.null.rate=1600", "--repeat=12")
        database = os.path.join(self.folder, "yardstick-results", "results.db")
        kept = sqlite3.connect(":memory:")
        self.addCleanup(kept.close)

        def runs():
            try:
                with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % database, uri=True)) as now:
                    count = now.execute("select count(*) from run").fetchone()[0]
                    if count and not kept.execute("select count(*) from sqlite_master").fetchone()[0]:
                        now.backup(kept)
                    return count
            except sqlite3.Error:  # there is no database yet, or it is being made
                return 0
        self.wait_until(lambda: runs() >= 4, process)
        process.kill()
        process.communicate()
        stored = kept.execute("select count(*) from run").fetchone()[0]
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(database + end)
        with contextlib.closing(sqlite3.connect(database)) as file:
            kept.backup(file)
        out, _ = self.yardstick("show", "--verify", "--format=json", code=7)
        found = json.loads(out)
        lost = {name.split("-")[0] for name in found["unstored"]}
        self.assertLessEqual({"r%d" % r for r in range(stored, 4)}, lost)
        self.assertFalse(lost & {"r%d" % r for r in range(stored)})
        self.assertIn("rows were lost", " ".join(found["damaged"]))
        out, _ = self.yardstick("show", "--verify", code=7)
        self.assertIn("runs/r%d-t0-a0-" % stored, out)
        self.yardstick("resume", "--quiet")
        self.yardstick("show", "--verify")

    def test_a_study_whose_rows_were_lost_is_named_by_its_folder(self):
        """The database as it was before the study."""
        database, kept = (os.path.join(self.folder, name) for name in ("yardstick-results/results.db", "kept.db"))
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        shutil.copy(database, kept)
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        shutil.copy(kept, database)
        for words in ["show"], ["show", "--verify"]:
            self.assertIn("the folder 002-run of a study is there and its rows are lost: `last` is study 1", self.yardstick(*words, code=7)[1])
        self.yardstick("show", "1")

    def hung(self, *flags, no_work=True):
        """A study whose adapter hangs in `open`; returns when it does."""
        self.write("lazy.recipe", "name = lazy\nprogram = python3 %s\n%s" %
                   (recipe_word(os.path.join(ROOT, "tests", "adapters", "misbehaving.py")), "no_work = yes\n" if no_work else ""))
        process = self.start("run", "--recipes=.", "--framework=lazy", "--env.MISBEHAVE=hang", *NULL[1:], *flags)

        def opened():
            for pid in self.marked_processes():
                with contextlib.suppress(OSError):  # it may have ended since it was listed
                    with open("/proc/%d/cmdline" % pid, "rb") as file:
                        if b"misbehaving.py" in file.read():
                            return True
            return False
        self.wait_until(opened, process)
        return process

    def test_kill_9_takes_a_hanging_adapter_with_it(self):
        process = self.hung()
        self.assertGreaterEqual(len(self.marked_processes()), 2)
        process.kill()
        process.wait()
        self.assert_nothing_left()

    def test_ctrl_c_ends_a_hanging_adapter(self):
        process = self.hung()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()

    def test_resume_needs_the_recipes_that_the_study_had(self):
        process = self.hung()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143)
        self.refusal("resume", words=["lazy", "--recipes"])
        with open(os.path.join(self.folder, "lazy.recipe"), "w") as file:
            file.write("name = lazy\nprogram = yardstick-null\nno_work = yes\n")
        result, _ = self.result("resume", "--recipes=.")
        self.assertEqual((result["study"]["status"], result["trials"][0]["status"]), ("done", "ok"))

    def test_ctrl_c_while_a_framework_is_proven(self):
        process = self.hung(no_work=False)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assert_nothing_left()
        self.assertEqual([name for name in os.listdir(os.path.join(CACHE, "proofs")) if name.startswith("working")], [])
        result, _ = self.result("show")
        self.assertEqual((result["study"]["status"], result["trials"][0]["runs"]), ("interrupted", 0))

    def test_ctrl_c_during_a_check(self):
        """So many trials that it cannot be done before the signal comes; the cache stays usable."""
        many = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--lr=" + ",".join("0.%04d" % i for i in range(1, 900)),
                "--batch=8,16,32", "--steps=20", "--repeat=1", "--max-runs=10000"]
        cache = os.path.join(self.folder, "cache")
        process = self.start("check", *many, env={"YARDSTICK_CACHE": cache})
        self.wait_until(lambda: os.path.exists(cache), process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assert_nothing_left()
        self.yardstick("check", *NULL, env={"YARDSTICK_CACHE": cache})

    def test_ctrl_c_during_a_cooldown(self):
        process = self.start("run", *NULL, "--repeat=2", "--cooldown=10min")
        self.wait_for_runs(1, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)

    def test_the_time_limit_ends_a_cooldown(self):
        begun = time.monotonic()
        self.yardstick("run", *NULL, "--repeat=2", "--cooldown=10min", "--time-limit=1s", code=124)
        self.assertLess(time.monotonic() - begun, 60)

    def test_a_second_study_in_the_same_folder_names_the_first(self):
        process = self.start("run", *SLOW)
        self.wait_for_runs(1, process)
        _, err = self.yardstick("run", *NULL, "--repeat=1", code=2)
        self.assertIn(str(process.pid), err)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)

    def test_results_that_cannot_be_written_are_exit_7_before_any_run(self):
        self.write("plain", "a file, no folder\n")
        self.refusal("run", *NULL, "--repeat=1", "--results=plain/results", code=7, words=["plain/results", "--results"])
        self.refusal("run", *NULL, "--repeat=1", "--results=/proc/none", code=7, words=["/proc/none", "--results"])

    def test_a_full_disk_is_exit_7_and_what_was_stored_stays(self):
        results = os.path.join(self.folder, "small")
        os.mkdir(results)
        mount = "mount -t tmpfs -o size=400k tmpfs %s" % shlex.quote(results)
        if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode != 0:
            self.skipTest("this user may not mount a small file system")
        keep = os.path.join(self.folder, "kept")
        os.mkdir(keep)
        # With its journal: a database that could not be closed for want of space is read from both.
        script = "%s; \"$@\"; code=$?; cp %s/results.db* %s; exit $code" % (mount, shlex.quote(results), shlex.quote(keep))
        command = ["unshare", "-m", "sh", "-c", script, "sh", PROGRAM, "run"] + NULL + ["--repeat=500", "--results=" + results]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 7, done.stderr[-1000:])
        self.assertIn(results, done.stderr)
        with sqlite3.connect(os.path.join(keep, "results.db")) as db:
            self.assertEqual(db.execute("pragma integrity_check").fetchone()[0], "ok")
            self.assertGreater(db.execute("select count(*) from run").fetchone()[0], 0)
        self.assert_nothing_left()

    def test_the_time_limit_of_the_study_is_exit_124(self):
        result, _ = self.result("run", *SLOW, "--time-limit=3s", code=124)
        self.assertEqual(result["study"]["status"], "time_limit")
        self.assertGreater(result["trials"][0]["runs"], 0)

    def test_the_time_limit_is_exit_124_in_the_last_run_too(self):
        result, _ = self.result("run", "--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--steps=300000", "--batch=16",
                                "--repeat=1", "--time-limit=3s", code=124)
        self.assertEqual((result["study"]["status"], result["trials"][0]["status"]), ("time_limit", "cancelled"))

    def test_stdout_holds_the_result_and_nothing_else(self):
        for form in ("json", "csv", "md", "table"):
            out, err = self.yardstick("run", *NULL, "--repeat=1", "--format=" + form)
            self.assertNotIn("report:", out)
            self.assertIn("report.html", err)
            if form == "json":
                self.assertEqual(json.loads(out)["schema"], "yardstick/result/1")
            if form == "table":
                self.assertLessEqual(max(map(len, out.splitlines())), 80)
                self.assertNotIn("\x1b", out)

    def test_quiet_says_nothing_when_all_is_well(self):
        _, err = self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        self.assertEqual(err, "")

    def test_a_file_as_first_word_implies_run(self):
        path = self.study("[a]", "framework = null", "model = mlp", "data = digits", "steps = 2", "batch = 8")
        result, _ = self.result(path, "--repeat=2", "--threads=1")
        self.assertEqual(result["trials"][0]["runs"], 2)

    def test_show_report_and_export_read_what_is_stored(self):
        first, _ = self.result("run", *NULL, "--repeat=2")
        shown, _ = self.result("show")
        self.assertEqual(first["trials"], shown["trials"])
        out, _ = self.yardstick("report")
        page = out.strip()
        with open(page) as file:
            text = file.read()
        self.assertIn("<svg", text)
        self.assertEqual(text.count("<script"), 1)  # the page's own
        self.assertNotIn("http://", text.replace("http://www.w3.org", ""))
        out, _ = self.yardstick("export")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["study", "host", "trial", "run", "run", "end"])
        self.assertEqual(lines[-1]["lines"], 5)
        self.assertEqual(len(lines[-2]["series"]["block_end_ns"]), 5)

    def test_the_time_split_adds_up_to_the_wall_time(self):
        result, _ = self.result("run", *NULL, "--opt.null.rate=2000", "--repeat=1")
        metrics = {name: metric["value"] for name, metric in result["trials"][0]["metrics"].items()}
        parts = ["start_s", "build_s", "first_step_s", "warmup_s", "train_s", "eval_s", "save_s", "stop_s", "rest_s"]
        total = sum(metrics[part] or 0 for part in parts)
        self.assertAlmostEqual(total, metrics["wall_s"], delta=1e-9)  # sums of seconds, exact to rounding

    def test_init_writes_a_study_that_check_accepts(self):
        self.yardstick("init", "mine.ys")
        out, _ = self.yardstick("check", "mine.ys")
        self.assertIn("28 runs" if "missing" not in out else "runs", out)
        self.yardstick("init", "mine.ys", code=2)

    def test_nothing_selected_is_said(self):
        _, err = self.yardstick("show", code=2)
        self.assertIn("yardstick-results", err)

    def test_what_there_is_not_is_no_verb(self):
        for verb in ("serve", "teach", "bless"):
            self.refusal(verb, words=["\"%s\" is no verb" % verb])

    def test_the_built_in_engine_learns_and_its_accuracy_is_verified(self):
        result, _ = self.result("run", "--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=64",
                                "--steps=60", "--lr=0.05", "--momentum=0.9", "--repeat=1")
        trial = result["trials"][0]
        self.assertEqual(trial["proof"]["verdict"], "pass")
        self.assertGreater(trial["metrics"]["accuracy"]["value"], 0.5)  # ten classes: guessing gives 0.1
        self.assertEqual(trial["metrics"]["parameters"]["value"], 535818)
        shutil.rmtree(os.path.join(self.folder, "yardstick-results"))


if __name__ == "__main__":
    unittest.main()
