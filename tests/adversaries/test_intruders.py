"""Each adversary of intruder.py ends as docs/proof.md says."""
import glob
import os
import re
import unittest

from gains import RECIPES, Adversary
from harness import tearDownModule  # noqa: F401  (removes the cache that the cases share)

UNGUARDED = {"YARDSTICK_LANDLOCK": "off"}


class Intruders(Adversary):
    program = "intruder.py"

    def run_intruder(self, cheat, *flags, code=0, keep="-", frameworks="intruder", **options):
        """The trials of the result document, stderr, and what the intruder printed."""
        document, err = self.result("run", *self.words(cheat, *flags, keep=keep, frameworks=frameworks), code=code, timeout=300, **options)
        printed = ""
        for path in glob.glob(os.path.join(self.folder, "yardstick-results/*/runs/*/adapter.log")):
            with open(path) as file:
                printed += file.read()
        if code and cheat not in ("inputs", "inputs_mapped"):
            self.tell_end(cheat, document["trials"][0])
        return document["trials"], err, printed

    def words(self, cheat, *flags, keep="-", frameworks="intruder"):
        usual = {"--batch": "16", "--lr": "0.01", "--momentum": "0.9", "--steps": "40", "--block": "4", "--repeat": "1", "--audit": "off"}
        usual.update(flag.split("=", 1) for flag in flags)
        return ["--framework=" + frameworks, "--recipes=" + RECIPES, "--model=mlp", "--data=digits", "--threads=1", "--keep_log=yes",
                "--env.CHEAT=" + cheat, "--env.CHEAT_KEEP=" + keep, *map("=".join, usual.items())]


class Files(Intruders):
    def honest(self):
        trials, _, _ = self.run_intruder("nothing", "--seed=1")
        return trials[0]["metrics"]["accuracy"]["value"]

    def test_inputs_and_store_cannot_be_written(self):
        self.need_landlock()
        right = self.honest()
        for cheat, refused in (("inputs", 3), ("inputs_mapped", 3), ("store", 1), ("other_run", 2)):
            with self.subTest(cheat):
                trials, err, printed = self.run_intruder(cheat, "--seed=1")
                self.assertGreaterEqual(printed.count("intruder: refused"), refused, printed)
                self.assertNotIn("intruder: done", printed)
                self.assertEqual(trials[0]["status"], "ok", err)
                self.assertEqual(trials[0]["metrics"]["accuracy"]["value"], right)
                self.tell(cheat, "refused by the kernel", none="nothing")

    def test_where_they_can_a_run_that_does_is_wrong_and_no_later_one_is(self):
        """By runs: by turns those that live beside it are wrong too, and say so."""
        right = self.honest()
        for cheat in ("inputs", "inputs_mapped"):
            with self.subTest(cheat):
                trials, err, printed = self.run_intruder(cheat, "--repeat=2", "--order=fixed", "--interleave=runs",
                                                         frameworks="intruder,builtin", code=1, env=UNGUARDED)
                intruder, builtin = trials
                self.assertIn("intruder: done", printed)
                self.assertEqual((intruder["status"], intruder["failed"]), ("wrong_output", 1))
                self.assertIn("nothing kept it from writing there", err)
                self.assertEqual((builtin["status"], builtin["failed"]), ("ok", 0), err)
                self.assertAlmostEqual(builtin["metrics"]["accuracy"]["values"][0], right, delta=0.02)
                self.assertEqual(self.honest(), right)

    def test_no_rival_is_blocked(self):
        """Without Landlock, where it may write beside its own folder."""
        trials, err, printed = self.run_intruder("blocks", "--repeat=2", "--order=fixed", frameworks="intruder,builtin", env=UNGUARDED)
        self.assertIn("intruder: done: block", printed)
        self.assertEqual([(trial["status"], trial["runs"], trial["failed"]) for trial in trials], [("ok", 2, 0)] * 2, err)
        self.tell("blocks", "names cannot be guessed", none="nothing")

    def test_the_store_is_not_what_was_linked(self):
        """Without Landlock nothing keeps an adapter from the store; what it changes there shows."""
        trials, _, printed = self.run_intruder("store", "--repeat=2", env=UNGUARDED)
        self.assertEqual(printed.count("intruder: done: results.db"), 2, printed)
        self.assertEqual(trials[0]["status"], "ok")
        out, _ = self.yardstick("show", "--verify", code=7)
        self.assertIn("run 1", out)

    def test_a_path_that_is_not_its_own_is_neither_read_nor_removed(self):
        trials, err, printed = self.run_intruder("steal", code=1)
        self.assertEqual((trials[0]["status"], trials[0]["failed"]), ("protocol_error", 1), err)
        stolen = printed.split("intruder: done: steal ")[1].splitlines()[0]
        self.assertGreater(os.path.getsize(stolen), 0)

    def test_what_it_leaves_is_removed_and_told(self):
        trials, _, printed = self.run_intruder("leaves")
        left = glob.glob("/dev/shm/intruder-*") + glob.glob("/tmp/intruder-*")
        for path in left:
            os.unlink(path)
        if [path for path in left if len(path.rsplit("-", 1)[1]) < 4]:
            self.skipTest("the adapter's number has too few digits to be told from a counter")
        self.assertEqual(left, [])
        self.tell("leaves", "removed, and a warning", none="nothing")
        if "done: /tmp" in printed:
            self.assertTrue([text for text in trials[0]["warnings"] if "it left behind" in text and "/tmp/intruder-" in text])
        if "done: /dev/shm" in printed:
            self.assertTrue([text for text in trials[0]["warnings"] if "/dev/shm/intruder-" in text])
        if "done: segment" in printed and os.path.exists("/proc/sysvipc/shm"):
            with open("/proc/sysvipc/shm") as file:
                self.assertNotIn(" 123456 ", file.read())
            self.assertTrue([text for text in trials[0]["warnings"] if "shared memory of System V" in text])


class Time(Intruders):
    def test_work_elsewhere_than_in_steps_is_told(self):
        for cheat, place in (("hello", "before hello"), ("open", "in open"), ("save", "in saving the weights")):
            with self.subTest(cheat):
                trials, _, _ = self.run_intruder(cheat, "--sample_hz=20")
                self.assertTrue([text for text in trials[0]["warnings"] if "of processor time " + place in text], trials[0]["warnings"])
                self.tell(cheat, "a warning", none="nothing")

    def test_work_that_was_done_before_its_steps_is_not_done_in_them(self):
        for cheat in ("ahead_open", "ahead_first"):
            with self.subTest(cheat):
                trials, err, _ = self.run_intruder(cheat, "--batch=128", "--steps=200", "--block=100", code=1)
                self.assertEqual(trials[0]["status"], "wrong_output", trials[0]["warnings"])
                self.assertIn("the work was not done there", err)

    def gains(self, cheat, *flags, metric="rate_per_s", **options):
        """How many times as fast as its own steps took it says that it is, and is at the other end; the trial."""
        trials, err, printed = self.run_intruder(cheat, "--batch=8", "--steps=150", "--block=4", *flags,
                                                 **options)
        self.assertEqual(trials[0]["status"], "ok", err)
        worked = float(re.findall("intruder: worked ([0-9.]+)", printed)[0])
        found = trials[0]["metrics"][metric]
        ends = [found["values"][0], found.get("whole_values", found["values"])[0]]
        honest = 150 * 8 / worked if metric == "rate_per_s" else worked / 150
        gains = [end / honest if metric == "rate_per_s" else honest / end for end in ends]
        self.tell(cheat, "a range" if "whole_values" in found else "yardstick's clock", *gains)
        return gains, worked, trials[0]

    def test_of_work_ahead_of_its_steps_the_whole_run_tells(self):
        """What its proof took for the same parts is not counted against it: some steps' worth."""
        for cheat, *flags in (("ahead_open",), ("ahead_first",), ("ahead_block",), ("ahead_pause", "--eval-every=10")):
            with self.subTest(cheat):
                (said, held), worked, trial = self.gains(cheat, *flags)
                proof = trial["proof"]
                self.assertGreater(said, 2)
                self.assertLess(held, 1.05 + 2 * (proof["open_cpu_s"] + proof["first_cpu_s"]) / worked)
                self.assertIn("may have been done ahead", " ".join(trial["doubts"]))
        checked, _ = self.yardstick("check", *self.words("ahead_first", "--batch=8", "--steps=150", "--block=4"))
        apart = re.search(r"its speed was a range of ([0-9.]+) times .* with ([0-9]+) steps or more it is none", " ".join(checked.split()))
        self.assertGreater(float(apart.group(1)), 1.2)
        self.assertGreater(int(apart.group(2)), 150)

    def test_one_that_does_its_work_gains_nothing(self):
        (said, held), _, _ = self.gains("nothing")
        self.assertLessEqual(held, said)
        self.assertLess(said, 1.05)

    def test_of_a_last_block_that_gets_what_others_cost_the_mean_tells(self):
        (said, held), _, trial = self.gains("last_block", metric="step_s")
        self.assertGreater(said, 20)
        self.assertLess(held, 1.05)
        self.assertIn("took much longer than most", " ".join(trial["doubts"]))

    def test_of_a_wait_in_which_it_computed_none_is_left(self):
        trials, _, printed = self.run_intruder("waits", "--batch=64")
        worked = float(re.findall("intruder: worked ([0-9.]+)", printed)[0])
        compute, train, warmup = (trials[0]["metrics"][name]["value"] for name in ("compute_s", "train_s", "warmup_s"))
        honest = worked / (train + warmup)
        self.assertGreater(compute / train, 0.9 * honest)  # a fortieth is the first step's
        self.tell("waits", "processes that idle wait, others do not", *[honest / (compute / train)] * 2)

    def test_time_between_blocks_and_stamps_that_are_shrunk_make_nothing_faster(self):
        for cheat in ("between", "shrunk"):
            with self.subTest(cheat):
                gains, _, _ = self.gains(cheat)
                self.assertLess(max(gains), 2)  # believed they would gain 10 times

    def test_other_cpus_are_told(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        trials, _, _ = self.run_intruder("cpus")
        self.assertTrue([text for text in trials[0]["warnings"] if "had unbound themselves" in text])
        self.tell("cpus", "a warning: it has one thread, others may gain", none="nothing")

    def test_a_helper_outside_the_tree_is_counted_and_does_not_survive(self):
        trials, _, _ = self.run_intruder("helper")
        self.assert_nothing_left()
        trial = trials[0]
        told = [text for text in trial["warnings"] if "nobody waited for" in text or "left behind" in text]
        self.assertTrue(told or trial["metrics"]["cpu_s"]["value"] > 0.2, trial["warnings"])
        self.tell("helper", "counted and ended", none="nothing")


class Words(Intruders):
    def test_cancelled_is_not_its_word(self):
        trials, err, _ = self.run_intruder("cancelled", "--repeat=2", code=1)
        self.assertEqual((trials[0]["status"], trials[0]["failed"]), ("protocol_error", 1))
        self.assertIn("not an adapter's to say", err)

    def test_what_counts_something_is_not_below_0(self):
        trials, err, _ = self.run_intruder("negative", code=1)
        self.assertEqual((trials[0]["status"], trials[0]["failed"]), ("protocol_error", 1))
        self.assertIn('member "parameters" of the message "opened" is below 0', err)

    def test_what_it_can_do_in_its_proof_it_can_in_its_runs(self):
        trials, err, _ = self.run_intruder("features", code=1)
        self.assertEqual((trials[0]["status"], trials[0]["failed"]), ("protocol_error", 1))
        self.assertIn('told the feature "state" in its proof and does not tell it in this run', err)

    def test_whether_it_does_work_its_recipe_says(self):
        trials, err, _ = self.run_intruder("idle", code=1)
        self.assertEqual((trials[0]["status"], trials[0]["failed"]), ("protocol_error", 1))
        self.assertIn("it says that it does no work, and its recipe does not", err)

    def test_what_it_says_of_itself_stands_beside_what_is_so(self):
        trials, _, _ = self.run_intruder("says")
        told = "\n".join(trials[0]["warnings"])
        for words in ("says that it trains 7 parameters; the network has",
                      "told to use 1 thread, says it uses 64"):
            self.assertIn(words, told)
        self.tell("says", "a warning with both", none="nothing")

    def test_answers_of_an_earlier_study_are_not_those_of_another_seed(self):
        keep = os.path.join(self.folder, "keep")
        os.mkdir(keep)
        trials, _, _ = self.run_intruder("replay", "--seed=1", keep=keep)
        self.assertEqual(trials[0]["status"], "ok")
        trials, err, _ = self.run_intruder("replay", "--seed=2", keep=keep, code=1)
        self.assertEqual(trials[0]["status"], "wrong_output")
        self.assertRegex(err, "it trains something else than the plan says|the work was not done there")

    def test_more_steps_than_were_asked_for_fail_the_audit(self):
        trials, err, _ = self.run_intruder("more", "--audit=one", code=5)
        self.assertEqual(trials[0]["proof"]["audit"]["verdict"], "fail")
        self.assertIn("other work was done there", err)

    def test_weights_of_the_proof_fail_the_audit(self):
        keep = os.path.join(self.folder, "keep")
        os.mkdir(keep)
        trials, err, _ = self.run_intruder("proof_weights", "--audit=one", "--seed=7", keep=keep, code=5)
        self.assertEqual(trials[0]["proof"]["audit"]["verdict"], "fail")


if __name__ == "__main__":
    unittest.main()
