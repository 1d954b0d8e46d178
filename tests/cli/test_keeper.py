"""Nothing that yardstick started outlives it, nothing else is touched, and what its own engine breaks off ends no study."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness
import shlex
from harness import BIN, NULL, PROGRAM, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

LAZY = "name = lazy\nprogram = python3 %s\n" % recipe_word(os.path.join(ROOT, "tests", "adapters", "misbehaving.py"))
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8"]


def state_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rsplit(")", 1)[1].split()[0]


class Keeper(Case):
    def running(self, word):
        """Processes of this test whose command line has `word`, keepers aside: they have their adapter's."""
        found = []
        for pid in self.marked_processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    line = file.read()
                if word in line and b"yardstick-launch" not in line:
                    found.append(pid)
            except OSError:  # it has ended since it was listed
                pass
        return found

    def test_children_that_it_had_before_it_began_are_left_alone(self):
        script = "sleep 300 >&2 & echo $!; exec \"$@\" >&2"
        command = ["sh", "-c", script, "sh", PROGRAM, "run", *NULL, "--repeat=2", "--opt.null.rate=400"]
        with open(os.path.join(self.folder, "err"), "w") as err:
            done = subprocess.run(command, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=err,
                                  timeout=120, stdin=subprocess.DEVNULL)
        sleeper = int(done.stdout.split()[0])
        try:
            self.assertEqual(done.returncode, 0)
            self.assertIn(state_of(sleeper), "SR")
            out, _ = self.yardstick("export")
            runs = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
            self.assertEqual([run["facts"]["observed"]["processes_peak"] for run in runs], [1, 1])
        finally:
            os.kill(sleeper, signal.SIGKILL)

    def test_kill_9_takes_the_workers_of_an_adapter_with_it_and_its_temporary_files_are_swept(self):
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(temporary)
        self.write("lazy.recipe", LAZY + "no_work = yes\n")
        process = self.start("run", "--recipes=.", "--framework=lazy", "--env.MISBEHAVE=children_hang", *NULL[1:],
                             env={"TMPDIR": temporary})
        self.wait_until(lambda: len(self.running(b"misbehaving.py")) == 3, process)  # it and two that left its session
        process.kill()
        process.wait()
        self.assert_nothing_left()
        left = glob.glob(temporary + "/yardstick-run-*")
        self.assertEqual(len(left), 1)
        self.yardstick("run", *NULL, "--repeat=1", env={"TMPDIR": temporary})
        self.assertEqual(os.listdir(temporary), [])

    def test_a_stop_of_yardstick_alone_is_no_stall_and_is_told(self):
        # Four seconds of work in blocks of half a second.
        long = [word for word in NULL if not word.startswith("--steps")] + ["--steps=40"]
        process = self.start("run", *long, "--repeat=1", "--opt.null.rate=80", "--stall-limit=4s", "--format=json")
        self.wait_until(lambda: self.running(b"yardstick-null"), process)
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("yardstick itself was stopped for", err)
        self.assertTrue(any("was stopped for" in warning for warning in json.loads(out)["trials"][0]["warnings"]))
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertGreater(run["facts"]["harness"]["stopped_s"], 2)
        self.yardstick("run", *NULL, "--repeat=1")
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertEqual(run["facts"]["harness"]["stopped_s"], 0)

    def test_an_answer_is_the_adapters_own_file(self):
        """It names the plan's weights, or links to them: they stay where they are."""
        self.write("lazy.recipe", LAZY)
        cache = os.path.join(self.folder, "cache")
        for behaviour, word in (("steal_weights", "does not lie in its folder"), ("linked_answer", "does not lie in its folder")):
            flags = ["--recipes=.", "--framework=lazy", "--env.MISBEHAVE=" + behaviour, *NULL[1:], "--format=json"]
            out, _ = self.yardstick("verify", *flags, code=5, env={"YARDSTICK_CACHE": cache})
            proof = json.loads(out)[0]["proof"]
            self.assertEqual((proof["verdict"], proof["ended"]), ("fail", "protocol_error"))
            self.assertIn(word, proof["reason"])
            self.yardstick("run", *MLP, "--steps=20", "--repeat=1", "--results=" + behaviour, env={"YARDSTICK_CACHE": cache})


class BrokenEngine(Case):
    """yardstick-builtin is killed at one of its starts, as for want of memory."""

    def setUp(self):
        super().setUp()
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        for name in ("yardstick", "yardstick-launch", "yardstick-null"):
            shutil.copy(os.path.join(BIN, name), self.bin)
        harness.PROGRAM = os.path.join(self.bin, "yardstick")
        self.addCleanup(setattr, harness, "PROGRAM", PROGRAM)

    def breaks(self, condition):
        script = ("#!/bin/sh\nn=$(cat {0} 2>/dev/null || echo 0)\necho $((n + 1)) > {0}\n"
                  "if {1}; then kill -9 $$; fi\nexec {2} \"$@\"\n").format(
                      shlex.quote(os.path.join(self.bin, "count")), condition, shlex.quote(os.path.join(BIN, "yardstick-builtin")))
        with open(os.path.join(self.bin, "yardstick-builtin"), "w") as file:
            file.write(script)
        os.chmod(file.name, 0o755)

    def surroundings(self):
        return {"YARDSTICK_CACHE": os.path.join(self.folder, "cache"), "YARDSTICK_BIN": self.bin,
                "YARDSTICK_LANDLOCK": "off"}  # the engine in its place counts its starts beside itself

    def study(self, *flags, code=0):
        flags = flags or ("--steps=20", "--repeat=1")
        result, err = self.result("run", *MLP, *flags, code=code, env=self.surroundings())
        return result["trials"], err

    def test_an_oracle_that_is_killed_ends_its_proof_alone(self):
        self.breaks("[ $n = 0 ]")
        first, second = self.study("--lr=0.01,0.02", "--steps=20", "--repeat=1", code=5)[0]
        self.assertEqual((first["proof"]["verdict"], second["proof"]["verdict"]), ("none", "pass"))
        self.assertIn("the oracle ended as", first["proof"]["reason"])
        self.assertIs(first["proof"]["lasting"], False)
        self.assertEqual((first["status"], second["status"]), ("ok", "ok"))
        again, _ = self.study("--lr=0.01,0.02", "--steps=20", "--repeat=1")
        self.assertEqual([trial["proof"]["verdict"] for trial in again], ["pass", "pass"])

    def test_a_twin_that_is_killed_ends_its_proof_alone(self):
        self.breaks("[ $n = 2 ]")  # after the oracle, and the proven engine in double
        trials, err = self.study(code=5)
        self.assertEqual((trials[0]["proof"]["verdict"], trials[0]["status"]), ("none", "ok"))
        self.assertIn("twin 0 of the oracle ended as", trials[0]["proof"]["reason"])
        self.assertIn("is not proven", err)

    def test_an_evaluator_that_is_killed_ends_its_evaluation_alone(self):
        self.breaks("[ \"$1\" = evaluate ]")
        trials, err = self.study(code=5)  # the weights are a check that was due
        self.assertEqual(trials[0]["status"], "ok")
        self.assertIsNone(trials[0]["metrics"]["accuracy"]["value"])
        self.assertIn("could not be evaluated", err)

    def test_a_training_that_is_interrupted_while_it_is_evaluated_is_no_run_that_is_ok(self):
        at = os.path.join(self.bin, "at")
        self.breaks("[ \"$1\" = evaluate ] && touch %s && sleep 300" % shlex.quote(at))
        process = self.start("run", *MLP, "--steps=20", "--repeat=1", env=self.surroundings())
        self.wait_until(lambda: os.path.exists(at), process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        run, = [json.loads(line) for line in self.yardstick("export", "last")[0].splitlines() if '"type":"run"' in line]
        self.assertEqual((run["facts"]["status"], run["facts"]["message"]),
                         ("cancelled", "the evaluation of its weights was interrupted"))

    def test_a_check_of_a_run_that_breaks_off_is_made_again_and_then_missing(self):
        """Once it is proven the engine starts for the run, and then for what checks it."""
        last = os.path.join(self.bin, "last")
        self.breaks("[ $n -ge 1 ] && [ $n -le $(cat %s) ]" % shlex.quote(last))
        for check, flags in (("first loss", ("--lr=0.01", "--steps=20")), ("answers", ("--mode=infer", "--requests=400"))):
            self.write(last, "0")
            self.yardstick("verify", *MLP, *flags, env=self.surroundings())
            for end, states, code in (("2", ("missing",), 5), ("1", ("pass", "weak"), 0)):
                with self.subTest(check, end=end):
                    os.unlink(os.path.join(self.bin, "count"))
                    self.write(last, end)
                    trials, _ = self.study(*flags, "--repeat=1", code=code)
                    due = {found["check"]: found["state"] for found in trials[0]["proof"]["due"]}
                    self.assertEqual((trials[0]["status"], due.get("weights", "pass")), ("ok", "pass"))
                    self.assertIn(due[check], states)
                    self.assertEqual("and should have been" in " ".join(trials[0]["doubts"]), code == 5)

    def test_a_reference_of_same_weights_that_is_killed_ends_its_run_alone(self):
        self.breaks("[ $n = 13 ]")  # after a proof of inference: the oracle, eight twins, their moves, the engine in double and single
        trials, err = self.study("--compare=same-weights", "--steps=0", "--rows=8", "--repeat=2", code=1)
        self.assertIn("own prediction ended as", err)
        self.assertEqual((trials[0]["runs"], trials[0]["failed"]), (2, 1))


if __name__ == "__main__":
    unittest.main()
