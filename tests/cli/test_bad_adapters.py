"""Adapters that misbehave: each ends in its status, what was measured stays, no process is left."""
import json
import os
import re
import shutil
import unittest

from harness import NULL, RECIPES, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

MISBEHAVING = recipe_word(os.path.join(ROOT, "tests", "adapters", "misbehaving.py"))


class BadAdapters(Case):
    def run_bad(self, behaviour, status, *flags, code=1, repeat=1):
        arguments = ["run", "--recipes=" + RECIPES, "--framework=null,misbehaving"] + NULL[1:]
        arguments += ["--repeat=%d" % repeat, "--env.MISBEHAVE=" + behaviour] + list(flags)
        result, err = self.result(*arguments, code=code)
        rows = {t["factors"]["framework"]: t for t in result["trials"]}
        self.assertEqual(rows["null"]["status"], "ok")
        self.assertEqual(rows["misbehaving"]["status"], status, err)
        self.assert_nothing_left()
        return rows["misbehaving"], err

    def test_one_that_crashes_at_the_start(self):
        row, _ = self.run_bad("crash", "crashed")
        self.assertEqual(row["failed"], 1)
        self.assertIsNone(row["metrics"].get("rate_per_s", {}).get("value"))

    def test_a_warning_that_every_run_has_is_said_once_and_stored_of_each(self):
        self.write("other.recipe", "name = other\nprogram = python3 %s\nno_work = yes\nversions = 7\n" % MISBEHAVING)
        result, err = self.result("run", "--recipes=" + self.folder, "--framework=other", *NULL[1:], "--repeat=3")
        said = "its adapter says that it is version 1; its recipe is that of 7"
        self.assertEqual(err.count(said), 1, err)
        self.assertIn(said, "; ".join(result["trials"][0]["warnings"]))
        self.assertEqual(result["trials"][0]["runs"], 3)

    def test_one_that_dies_of_a_signal(self):
        self.run_bad("segv", "crashed")

    def test_one_that_crashes_in_the_middle_of_training(self):
        _, err = self.run_bad("crash_mid_train", "crashed")
        self.assertIn("train", err)
        self.assertIn("misbehaving.py ended with exit code 4", err)
        self.assertIn("Traceback: something went wrong", err)
        log = re.search(r" and is (.*?/adapter\.log)", err)[1]
        with open(log) as file:
            self.assertIn("Traceback", file.read())

    def test_one_that_hangs(self):
        _, err = self.run_bad("hang", "stalled", "--stall-limit=2s")
        self.assertIn("stalled", err)

    def test_one_that_hangs_after_some_blocks(self):
        self.run_bad("hang_after_blocks", "stalled", "--stall-limit=2s")

    def test_one_that_takes_longer_than_its_limit(self):
        self.run_bad("hang", "timeout_wall", "--run-time-limit=3s")

    def test_one_that_prints_rubbish(self):
        self.run_bad("rubbish", "protocol_error")

    def test_one_that_prints_an_endless_line(self):
        self.run_bad("endless_line", "protocol_error")

    def test_one_that_closes_its_descriptor_early(self):
        self.run_bad("close_early", "protocol_error", "--stall-limit=20s")

    def test_one_that_fills_its_log_is_ok_with_a_warning(self):
        row, err = self.run_bad("fill_log", "ok", code=0)
        self.assertTrue(any("log" in w for w in row["warnings"]), row["warnings"])
        logs = [os.path.join(d, f) for d, _, files in os.walk(self.folder) for f in files if f.endswith(".log")]
        self.assertTrue(logs and all(os.path.getsize(log) < (6 << 20) for log in logs))

    def test_one_that_leaves_children_behind_is_ok_with_a_warning(self):
        row, _ = self.run_bad("children", "ok", code=0)
        self.assertTrue(any("left behind" in w for w in row["warnings"]), row["warnings"])

    def test_one_that_leaves_children_behind_and_crashes(self):
        self.run_bad("children_crash", "crashed")

    def test_one_that_prints_what_is_no_text(self):
        row, _ = self.run_bad("binary_crash", "crashed")
        self.assertIn("exit code 7", row["reason"])
        out, _ = self.yardstick("export")
        tails = [run["facts"]["log_tail"] for run in map(json.loads, out.splitlines()) if run["type"] == "run"]
        self.assertTrue(any("xxxx" in tail for tail in tails if tail), tails)

    def test_one_whose_error_gives_the_terminal_orders(self):
        _, err = self.run_bad("rude_error", "build_failed")
        for form in ("table", "md", "csv"):
            out, _ = self.yardstick("show", "--format=" + form)
            for text in (out, err):
                self.assertFalse([c for c in text if (c < " " and c != "\n") or c == "\x7f"], text)
                self.assertIn("third", text)
        warnings = [line for line in err.splitlines() if "first" in line]
        self.assertTrue(warnings and all("third" in line for line in warnings), err)

    def test_one_whose_losses_are_no_numbers(self):
        self.run_bad("nan_loss", "diverged")

    def test_one_that_fails_when_it_should_end(self):
        self.run_bad("exit_nonzero_at_bye", "crashed")

    def test_one_that_does_not_end(self):
        self.run_bad("ignore_bye", "stalled")

    def test_one_that_hangs_while_it_is_proven(self):
        """Patience in a proof is ten times the stall limit; the trial runs all the same, and stalls."""
        self.write("lazy.recipe", "name = lazy\nprogram = python3 %s\n" % MISBEHAVING)
        flags = NULL[1:] + ["--env.MISBEHAVE=hang", "--stall-limit=0.2s", "--repeat=1"]
        result, err = self.result("run", "--recipes=.", "--framework=lazy", *flags, code=5)
        trial = result["trials"][0]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("stalled", "fail"))
        self.assertIn("stalled", err)
        self.yardstick("verify", "--recipes=.", "--framework=lazy", *flags, code=5)
        self.assert_nothing_left()

    def test_one_whose_times_are_wrong(self):
        self.run_bad("wrong_times", "protocol_error")

    def test_one_that_lacks_an_operator_is_unsupported_and_no_failure(self):
        row, _ = self.run_bad("error_unsupported", "unsupported", code=0)
        self.assertIn("Conv", str(row))

    def test_a_trial_that_fails_twice_and_never_ends_well_is_given_up(self):
        row, err = self.run_bad("crash", "crashed", repeat=5)
        self.assertEqual(row["failed"], 2)
        self.assertIn("left out", err)

    def test_an_adapter_that_is_not_executable_is_missing(self):
        shutil.copy(os.path.join(RECIPES, "misbehaving.recipe"), self.folder)
        self.write("plain.recipe", "name = plain\nprogram = ./plain.txt\n")
        self.write("plain.txt", "no program\n")
        result, _ = self.result("run", "--recipes=" + self.folder, "--framework=plain", *NULL[1:], "--repeat=1", code=6)
        self.assertEqual(result["trials"][0]["status"], "missing")

    def test_a_program_that_speaks_no_protocol_is_a_protocol_error(self):
        self.write("true.recipe", "name = true\nprogram = /bin/true\n")
        result, _ = self.result("run", "--recipes=" + self.folder, "--framework=true", *NULL[1:], "--repeat=1", code=5)
        self.assertIn(result["trials"][0]["status"], ("crashed", "protocol_error"))


if __name__ == "__main__":
    unittest.main()
