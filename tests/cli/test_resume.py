"""Going on with a study: what was stored of it decides what is left, whatever happened in between."""
import contextlib
import os
import shlex
import signal
import sqlite3
import subprocess
import unittest

from harness import BIN, NULL, PROGRAM, Case, make_version_1, tearDownModule  # noqa: F401

# Two frameworks that do nothing: the null adapter, paced so that there is time to interrupt it, and one whose program
# is a script of the test's, which can go, come back and fail.
TWO = ["--recipes=.", "--framework=null,mine"] + NULL[1:] + ["--opt.null.rate=1600"]

SCRIPT = """#!/bin/sh
[ -e %(folder)s/broken ] && { echo "cannot load a library" >&2; exit 3; }
[ -e %(folder)s/full ] && { echo "OSError: [Errno 28] No space left on device" >&2; exit 4; }
exec %(bin)s/yardstick-null "$@"
"""


class Resume(Case):
    def setUp(self):
        super().setUp()
        self.write("mine.recipe", "name = mine\nprogram = ./mine\nno_work = yes\n")
        self.program = self.write("mine", SCRIPT % {"folder": shlex.quote(self.folder), "bin": shlex.quote(BIN)})
        os.chmod(self.program, 0o755)
        self.database = os.path.join(self.folder, "yardstick-results", "results.db")

    def query(self, sql):
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % self.database, uri=True)) as db:
            return db.execute(sql).fetchall()

    def runs(self):
        """[(trial's position, round, attempt, status)]"""
        return self.query("select position, round, attempt, run.status from run join trial on trial.id = trial_id order by run.id")

    def count_runs(self):
        try:
            return self.query("select count(*) from run")[0][0]
        except sqlite3.Error:  # there is no database yet, or it is being made
            return 0

    def stop_after(self, count, *arguments, how=signal.SIGTERM):
        process = self.start("run", *arguments)

        self.wait_until(lambda: self.count_runs() >= count, process)
        process.send_signal(how)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143 if how == signal.SIGTERM else -how)
        return err

    def trials(self, result):
        return {trial["factors"]["framework"]: trial for trial in result["trials"]}

    def test_a_study_killed_while_it_begins_has_all_of_its_trials_or_is_not_there(self):
        many = ["--framework=null"] + NULL[1:] + ["--lr=" + ",".join("0.%04d" % i for i in range(1, 301)), "--repeat=2"]
        folder = os.path.join(self.folder, "yardstick-results", "001-run")
        process = self.start("run", *many)
        self.wait_until(lambda: os.path.exists(folder), process)
        process.kill()
        process.communicate(timeout=120)
        stored = self.query("select count(*) from trial")[0][0]
        self.assertIn(stored, (0, 300))
        result, _ = self.result("run", *NULL, "--repeat=1")
        self.assertEqual(result["study"]["folder"], "002-run" if stored else "001-run")

    def test_resumes_that_are_killed_come_to_an_end(self):
        kept, command = [], ["run", *TWO, "--repeat=8"]
        for more in (1, 2, 3, 1):
            process = self.start(*command)
            self.wait_until(lambda: self.count_runs() >= len(kept) + more, process)
            process.kill()
            process.communicate(timeout=120)
            rows = self.query("select * from run order by id")
            self.assertEqual([row[:7] for row in rows[:len(kept)]], [row[:7] for row in kept])
            kept, command = rows, ["resume", "--recipes=."]
        os.unlink(os.path.join(self.folder, "yardstick-results", "001-run", "job.json"))  # as if killed before it was written
        result, _ = self.result("resume", "--recipes=.")
        self.assertEqual((result["study"]["status"], result["study"]["rounds"]), ("done", 8))
        self.assertEqual([trial["runs_lacking"] for trial in result["trials"]], [0, 0])
        self.assertIsNone(result["harness"]["overhead_s"])  # a session that was killed could not say
        self.assertTrue(os.path.exists(os.path.join(self.folder, "yardstick-results", "001-run", "job.json")))
        self.yardstick("show", "--verify")

    def test_a_study_of_which_trials_are_missing_is_not_gone_on_with(self):
        self.yardstick("run", *TWO, "--repeat=1")
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            db.executescript("delete from run where trial_id = 2; delete from trial where id = 2;")
        self.refusal("resume", "--recipes=.", code=7, words=["1 of its 2 trials", "run it again", "yardstick run"])

    def test_a_framework_that_went_is_waited_for(self):
        self.stop_after(4, *TWO, "--repeat=5")
        os.chmod(self.program, 0o644)
        result, err = self.result("resume", "--recipes=.", code=6)
        self.assertIn("framework=mine could run when this study began and is missing now", err)
        self.assertIn("resume", err)
        self.assertEqual(result["study"]["status"], "interrupted")
        trials = self.trials(result)
        self.assertEqual((trials["null"]["runs"], trials["null"]["runs_lacking"]), (5, 0))
        lacking = trials["mine"]["runs_lacking"]
        self.assertEqual(trials["mine"]["runs"] + lacking, trials["mine"]["runs_planned"])
        self.assertGreaterEqual(lacking, 1)
        self.assertTrue(any("have no run of it" in text for text in trials["mine"]["warnings"]))
        before = self.runs()
        out, _ = self.yardstick("resume", "--recipes=.", code=6)  # there is nothing to do without it
        self.assertRegex(" ".join(out.split()), "- %d runs? (is|are) missing, where other trials have one" % lacking)
        self.assertEqual(self.runs(), before)

        os.chmod(self.program, 0o755)
        result, _ = self.result("resume", "--recipes=.")
        self.assertEqual((result["study"]["status"], result["study"]["rounds"]), ("done", 5))
        self.assertEqual([trial["runs_lacking"] for trial in result["trials"]], [0, 0])
        self.assertEqual(max(comparison["n"] for comparison in result["comparisons"]), 5)  # every round has both
        _, err = self.yardstick("resume", "--recipes=.")
        self.assertIn("complete", err)

    def test_a_framework_that_came_does_not_join_in_the_middle(self):
        os.chmod(self.program, 0o644)
        self.stop_after(2, *TWO, "--repeat=4")
        os.chmod(self.program, 0o755)
        result, err = self.result("resume", "--recipes=.")
        self.assertIn("does not join in the middle", err)
        mine = self.trials(result)["mine"]
        self.assertEqual((mine["status"], mine["runs"], mine["runs_planned"]), ("missing", 0, 0))
        self.assertIn("not there", mine["reason"])
        self.assertEqual((result["study"]["status"], result["study"]["rounds"]), ("done", 4))

    def test_a_trial_that_was_given_up_is_not_tried_again(self):
        self.write("broken", "")
        self.stop_after(6, *TWO, "--repeat=6")
        os.unlink(os.path.join(self.folder, "broken"))
        result, err = self.result("resume", "--recipes=.", code=1)  # a stored failure is one
        self.assertIn("not tried again: it failed twice and never ended well", err)
        self.assertEqual([run[3] for run in self.runs() if run[0] == 1], ["crashed", "crashed"])
        self.assertEqual((result["study"]["status"], result["study"]["rounds"]), ("done", 6))
        mine = self.trials(result)["mine"]
        self.assertEqual((mine["runs_planned"], mine["runs_lacking"]), (6, 4))
        self.assertTrue(any("never ended well" in text for text in mine["warnings"]))
        _, err = self.yardstick("resume", "--recipes=.", code=1)  # also when nothing is left to do
        self.assertIn("complete", err)

    def test_a_study_killed_before_it_could_say_its_end_is_ended(self):
        self.yardstick("run", *TWO, "--repeat=1")
        make_version_1(self.database)
        with contextlib.closing(sqlite3.connect(self.database)) as db:  # as before its last write, of an earlier version
            db.executescript("update study set status = 'running', exit_code = null, ended_s = null")
        result, err = self.result("resume", "--recipes=.")
        self.assertIn("checksums", err)
        self.assertEqual((result["study"]["status"], result["study"]["exit_code"]), ("done", 0))
        self.assertEqual(len(self.runs()), 2)
        out, _ = self.yardstick("show", "--verify")
        self.assertIn("all as they were stored", out)

    def test_audits_that_were_interrupted_are_made_and_kept(self):
        """The audit follows the last run."""
        builtin = ["--framework=builtin", "--model=mlp", "--data=digits", "--batch=16", "--threads=1", "--lr=0.01",
                   "--steps=400", "--repeat=1"]
        self.stop_after(1, *builtin)
        self.assertNotIn("audit", self.result("show", "last")[0]["trials"][0]["proof"])
        self.assertIn("audits are lacking", self.yardstick("resume", "last")[1])
        result, _ = self.result("show", "last")
        audit = result["trials"][0]["proof"]["audit"]
        self.assertEqual((audit["verdict"], result["study"]["status"]), ("pass", "done"))
        self.assertIn("is complete", self.yardstick("resume", "last")[1])
        self.assertEqual(self.result("show", "last")[0]["trials"][0]["proof"]["audit"], audit)
        self.assertEqual(len(self.runs()), 1)

    def test_the_time_limit_holds_for_all_sessions_together(self):
        slow = NULL + ["--opt.null.rate=800", "--repeat=1000", "--time-limit=1s"]
        self.yardstick("run", *slow, code=124)
        before = self.runs()
        result, err = self.result("resume", code=124)
        self.assertIn("time limit of 1 s is used up", err)
        self.assertEqual(self.runs(), before)
        self.assertEqual(result["study"]["status"], "time_limit")

    def test_the_time_limit_counts_the_runs_of_a_session_that_was_killed(self):
        slow = NULL + ["--opt.null.rate=160", "--repeat=1000", "--time-limit=3s"]  # 1 s a run
        self.stop_after(2, *slow, how=signal.SIGKILL)
        before = len(self.runs())
        self.result("resume", code=124)
        self.assertLessEqual(len(self.runs()) - before, 2)  # a whole limit has room for more

    def test_no_space_left_is_no_failure_of_the_framework(self):
        self.write("full", "")
        _, err = self.yardstick("run", *TWO, "--repeat=2", code=7)
        self.assertIn("no space left", err)
        self.assertIn("yardstick resume", err)
        self.assertEqual([run for run in self.runs() if run[0] == 1], [])
        os.unlink(os.path.join(self.folder, "full"))
        result, _ = self.result("resume", "--recipes=.")
        self.assertEqual([(trial["status"], trial["failed"]) for trial in result["trials"]], [("ok", 0)] * 2)

    def on_small_disk(self, size, script):
        """Runs `script` with a results folder $small of `size` that can be made larger."""
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        head = "small=%s; yardstick() { %s \"$@\"; }; mount -t tmpfs -o size=%s tmpfs \"$small\" || exit 99\n" % (
            shlex.quote(small), shlex.quote(PROGRAM), size)
        done = subprocess.run(["unshare", "-m", "sh", "-c", head + script], cwd=self.folder, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        if done.returncode in (1, 99):
            self.skipTest("this user may not mount a small file system")
        return done

    def test_weights_that_do_not_fit_end_the_study_and_resume_makes_the_run_again(self):
        job = "--framework=builtin --model=mlp --data=digits --threads=1 --batch=16 --steps=5 --repeat=2 --results=\"$small\""
        done = self.on_small_disk("1500k", """
            yardstick run %s >/dev/null; echo first $?
            find "$small" -name '*.safetensors*'
            mount -o remount,size=50m tmpfs "$small"
            yardstick resume --results="$small" --format=csv; echo second $?
            find "$small" -name '*.safetensors*'
            yardstick show --verify --results="$small"; exit 0""" % job)
        self.assertIn("first 7", done.stdout, done.stderr)
        self.assertIn("no space left in", done.stderr)
        self.assertIn("second 0", done.stdout, done.stderr)
        self.assertIn("all as they were stored", done.stdout)
        self.assertNotIn("safetensors", done.stdout)
        self.assertNotIn("crashed", done.stdout)

    def test_a_study_that_does_not_fit_is_not_stored_half(self):
        job = "--framework=null --model=mlp --data=digits --threads=1 --batch=8 --steps=2 --repeat=2 --lr=%s --results=\"$small\"" % (
            ",".join("0.%04d" % i for i in range(1, 301)))
        done = self.on_small_disk("200k", """
            yardstick run %s >/dev/null; echo first $?
            ls "$small"
            mount -o remount,size=50m tmpfs "$small"
            yardstick show --results="$small"; exit 0""" % job)
        self.assertIn("first 7", done.stdout, done.stderr)
        self.assertIn("no space left", done.stderr)
        self.assertNotIn("001-run", done.stdout)
        self.assertIn("no study in", done.stderr)

    def test_what_runs_write_does_not_outlive_them(self):
        self.yardstick("run", "--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=16", "--repeat=1",
                       "--steps=300000", "--eval-every=100", "--run-time-limit=1s", code=1)
        self.assertEqual(self.query("select status from run"), [("timeout_wall",)])
        left = [name for _, _, names in os.walk(os.path.join(self.folder, "yardstick-results", "001-run")) for name in names]
        self.assertEqual(sorted(left), ["adapter.log", "job.json", "job.ys", "report.html"])

    def test_a_stopped_writer_keeps_the_folder_and_goes_on(self):
        process = self.start("run", *NULL, "--opt.null.rate=320", "--repeat=5")
        self.wait_until(lambda: self.count_runs() > 0, process)
        process.send_signal(signal.SIGSTOP)
        self.refusal("run", *NULL, "--repeat=1", words=[str(process.pid)])
        self.yardstick("show")
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.runs()), 5)


if __name__ == "__main__":
    unittest.main()
