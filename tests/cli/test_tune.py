"""The settings that make a trial best: an adapter that does nothing at a rate that a knob sets."""
import json
import os
import shutil
import signal
import sys

from harness import BIN, ROOT, Case, recipe_word, tearDownModule  # noqa: F401

sys.path.append(os.path.join(ROOT, "tests", "faults"))
import disturb  # noqa: E402

WORK = ["--framework=toy", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=60", "--block=2", "--opt.toy.rate=4000",
        "--on-disturbance=ignore"]  # what runs beside the tests is not to leave a verdict open
FOR = ["--recipes=recipes", "--for=rate_per_s"]
# Rows a second of a sleep, which no load makes faster: a step takes 2 ms without a knob.
RATE = "tune.rate = opt.rate=8000 | opt.rate=16000: how fast it pretends to be\n"
NO_COMMON = "".join("tune.%s = none\n" % name for name in ("threads", "cpus", "wait", "malloc", "pages", "isa"))


class Tune(Case):
    def toy(self, knobs, name="toy"):
        os.makedirs(os.path.join(self.folder, "recipes"), exist_ok=True)
        self.write("recipes/%s.recipe" % name, "name = %s\nprogram = %s\nno_work = yes\nopt.rate = number: rows a second\n"
                   "opt.timetable = text: a file\n%s%s" % (name, recipe_word(os.path.join(BIN, "yardstick-null")), NO_COMMON, knobs))

    def tune(self, *arguments, budget="60s", code=0, **options):
        out, err = self.yardstick("tune", *arguments, *FOR, "--budget=" + budget, "--format=json", code=code, timeout=600, **options)
        return json.loads(out), err

    def studies(self):
        out, _ = self.yardstick("history", "--format=json")
        return len(json.loads(out)["points"])

    def test_the_best_value_is_found_confirmed_and_written(self):
        self.toy(RATE + "tune.name = a(env.TOY=a): says nothing\n")
        found, _ = self.tune(*WORK, "--out=tuned.ys")
        trial = found["trials"][0]
        self.assertEqual(trial["answer"], "better", trial)
        self.assertIn("rate=16000", trial["settings"])
        self.assertIn("rate=16000", trial["sentence"])
        self.assertEqual(trial["verdict"], "better")
        self.assertGreaterEqual(trial["rounds"], 10)
        self.assertGreater(trial["ci"][0], 1.5)
        self.assertLess(trial["ci"][0], trial["ratio"])
        self.assertGreater(trial["memory"], 0)
        self.assertIn("opt.toy.rate = 16000", trial["lines"])
        # Every point that was tried is told, the trial as it is first.
        self.assertEqual(trial["points"][0]["settings"], "")
        self.assertEqual(trial["points"][0]["ratio"], 1)
        self.assertLessEqual({"rate=8000", "rate=16000", "name=a"}, {point["settings"] for point in trial["points"]})
        self.assertLessEqual(sum(part["seconds"] for part in trial["spent"]), found["budget_s"])
        self.assertEqual(sum(part["runs"] for part in trial["spent"] if part["what"] == "confirmation"), 2 * trial["rounds"])
        # Nothing but the fresh rounds is in the user's store.
        self.assertEqual(self.studies(), 1)
        shown = json.loads(self.yardstick("show", str(trial["study"]), "--format=json")[0])
        self.assertEqual([one["id"] for one in shown["trials"]], ["default", "tuned"])
        self.assertEqual([one["runs"] for one in shown["trials"]], [trial["rounds"]] * 2)
        # What was written runs, with the settings of the answer.
        result, _ = self.result("run", "tuned.ys", "--recipes=recipes", "--repeat=2")
        self.assertEqual([one["options"]["rate"] for one in result["trials"]], [16000])

    def test_where_nothing_is_better_it_says_so(self):
        self.toy("tune.name = a(env.TOY=a) | b(env.TOY=b): says nothing\n")
        out, _ = self.yardstick("tune", *WORK, *FOR, "--budget=60s", "--margin=50%", "--out=same.ys", timeout=600)
        self.assertIn("no setting was shown to be better", " ".join(out.split()))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        with open(os.path.join(self.folder, "same.ys"), encoding="utf-8") as file:
            self.assertNotIn("TOY", file.read())

    def test_what_fails_is_out_and_counted(self):
        self.toy(RATE + "tune.broken = opt.timetable=/no/such/file: fails\ntune.refused = opt.rate=-1: is no rate\n"
                 "tune.load = gone(env.LD_PRELOAD=libnosuch.so.9) | unmapped(env.LD_PRELOAD=/no/such/libjemalloc.so.2) | "
                 "mapped(env.LD_PRELOAD=%s): a library\n" % os.path.join(self.folder, "libjemalloc.so.2"))
        # Any library that can be loaded, by the name of one whose kind is known.
        shutil.copy(os.path.join(BIN, "yardstick-collectives.so"), os.path.join(self.folder, "libjemalloc.so.2"))
        found, _ = self.tune(*WORK)
        out = {point["settings"]: (point["out"], point["reason"]) for point in found["trials"][0]["points"] if point["out"]}
        self.assertEqual(set(out), {"broken=/no/such/file", "refused=-1", "load=gone", "load=unmapped"}, out)
        self.assertIn("timetable", out["broken=/no/such/file"][1])
        self.assertEqual(out["refused=-1"][0], "unsupported")
        self.assertIn("opt.toy.rate = -1", out["refused=-1"][1])
        self.assertEqual(out["load=gone"], ("unsupported", "libnosuch.so.9 is not installed"))
        self.assertEqual(out["load=unmapped"][0], "unsupported")
        self.assertIn("not mapped", out["load=unmapped"][1])
        self.assertIn("load=mapped", [point["settings"] for point in found["trials"][0]["points"] if point["rung"]])
        self.assertEqual(found["trials"][0]["settings"].split()[0], "rate=16000")

    def test_a_wish_has_bounds(self):
        self.toy(RATE)
        out, _ = self.yardstick("tune", *WORK, "--recipes=recipes", "--for=fastest within 1 kB", "--budget=60s", "--format=json", code=4, timeout=600)
        trial = json.loads(out)["trials"][0]
        self.assertEqual((trial["answer"], trial["settings"]), ("unconfirmed", None))
        self.assertEqual([(point["out"], point["reason"]) for point in trial["points"]],
                         [(None, None)] + [("misses a bound", "rss_peak_bytes <= 1kB")] * 2)

    def test_a_round_that_does_not_arrive_counts_as_longer_than_any_that_does(self):
        """Of the ten seeds some meet the target within the limit, and of each seed the engine takes as many steps whatever TOY says."""
        os.makedirs(os.path.join(self.folder, "recipes"), exist_ok=True)
        self.write("recipes/engine.recipe", "name = engine\nprogram = %s\n%stune.name = a(env.TOY=a): says nothing\n"
                   % (recipe_word(os.path.join(BIN, "yardstick-builtin")), NO_COMMON))
        out, _ = self.yardstick("tune", "--framework=engine", "--model=mlp", "--data=digits", "--threads=1", "--batch=16", "--steps=40", "--block=4",
                                "--lr=0.1", "--eval-every=40", "--until=accuracy >= 52 %", "--on-disturbance=ignore", "--recipes=recipes",
                                "--for=steps_to_target", "--budget=230s", "--format=json", timeout=600)
        trial = json.loads(out)["trials"][0]
        self.assertEqual([(point["settings"], point["out"]) for point in trial["points"]], [("", None), ("name=a", None)])
        self.assertEqual((trial["answer"], trial["rounds"]), ("none better", 10))
        self.assertGreater(trial["met"], 0)
        self.assertLess(trial["met"], 10)
        self.assertIn("of which %d met the target, %d as it is" % (trial["met"], trial["met"]), trial["sentence"])

    def test_each_trial_has_an_equal_share(self):
        self.toy(RATE)
        self.toy("tune.rate = opt.rate=8000: how fast it pretends to be\n", name="other")
        found, _ = self.tune(*[word for word in WORK if "framework" not in word], "--framework=toy,other", "--opt.other.rate=4000", budget="100s")
        self.assertEqual([trial["answer"] for trial in found["trials"]], ["better", "better"])
        for trial in found["trials"]:
            self.assertLessEqual(sum(part["seconds"] for part in trial["spent"]), found["budget_s"] / 2)
        self.assertEqual(self.studies(), 2)

    def test_a_trial_that_cannot_run_is_told(self):
        self.toy(RATE)
        broken = [word for word in WORK if "rate" not in word] + ["--opt.toy.timetable=/no/such/file"]
        found, _ = self.tune(*broken, code=6)
        self.assertEqual(found["trials"][0]["answer"], "cannot run")
        self.assertIn("cannot be tuned", found["trials"][0]["sentence"])

    def test_interrupted_it_tells_what_it_has(self):
        self.toy(RATE)
        process = self.start("tune", *WORK, *FOR, "--budget=1h", "--format=json")
        for line in process.stderr:
            if "rung 2" in line:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        found = json.loads(out)
        self.check_document(found)
        self.assertTrue(found["interrupted"])
        self.assertEqual(found["trials"][0]["answer"], "unconfirmed")
        self.assertIn("it was interrupted. During the search rate=", found["trials"][0]["sentence"])

    def test_a_full_disk_takes_nothing_of_what_was_found(self):
        """It becomes full when the first of the fresh rounds goes into the user's store: the search is elsewhere."""
        self.toy(RATE)
        self.yardstick("run", *WORK, "--recipes=recipes", "--repeat=1")  # the store is there
        fault = {"LD_PRELOAD": disturb.build_library(self.folder), "YS_FAULT_PROGRAM": "yardstick", "YS_FAULT_AT": "0", "YS_FAULT_CALLS": "write",
                 "YS_FAULT_BELOW": os.path.join(self.folder, "yardstick-results"), "YS_FAULT_TRACE": os.path.join(self.folder, "trace")}
        self.refusal("tune", *WORK, *FOR, "--budget=0.5s", words=("too short",), env=fault)
        with open(fault.pop("YS_FAULT_TRACE")) as file:
            opened = len(file.readlines())
        found, err = self.tune(*WORK, code=7, env=dict(fault, YS_FAULT_AT=str(opened + 1), YS_FAULT_HOW="ENOSPC"))
        trial = found["trials"][0]
        self.assertEqual(trial["answer"], "unconfirmed")
        self.assertIn("During the search rate=", trial["sentence"])
        self.assertIn("no space left", trial["sentence"])
        self.assertIn("no space left", err)

    def test_bad_input(self):
        self.toy(RATE)
        short = ["--budget=60s"]
        self.refusal("tune", *WORK, *short, words=("say what is to be best", "--for=rate_per_s"))
        self.refusal("tune", *WORK, *FOR, words=("--budget=30min",))
        self.refusal("tune", *WORK, *FOR, "--budget=soon", words=("--budget=soon", "30min"))
        self.refusal("tune", *FOR, *short, words=("study file or flags",))
        self.refusal("tune", "nosuch.ys", *FOR, *short, words=("nosuch.ys",))
        self.refusal("tune", *WORK, *FOR, *short, "--out=tuned.txt", words=("--out=tuned.txt", "FILE.ys"))
        self.refusal("tune", *WORK, "--recipes=recipes", "--for=rate_pers", *short, words=("--for=rate_pers", 'did you mean "rate_per_s"'))
        self.refusal("tune", *WORK, "--recipes=recipes", "--for=parameters", *short, words=("--for=parameters", "no metric by which trials are compared"))
        self.refusal("tune", *WORK, "--recipes=recipes", "--for=fastest threads = 2", *short, words=("threads", "the study's to say"))
        self.refusal("tune", *WORK, *FOR, *short, "--knobs=rat", words=("--knobs=rat", "did you mean rate?", "list knobs"))
        self.refusal("tune", *WORK, *FOR, *short, "--knobs=threads", words=("--knobs=threads", "no framework of this study"))
        self.refusal("tune", *WORK, "--recipes=recipes", "--for=accuracy", *short, words=("--for=accuracy", "choose one that this study has"), timeout=600)
        message = self.refusal("tune", *WORK, *FOR, "--budget=0.5s", words=("--budget: ", "too short", "10 fresh rounds"), timeout=600)
        self.assertRegex(message, r"need [\d.]+ \w+ in all")
        self.toy("")
        self.refusal("tune", *WORK, *FOR, *short, words=("there is nothing to choose",))

    def test_knobs_are_read_from_files(self):
        common = json.loads(self.yardstick("list", "knobs", "--format=json")[0])["knobs"]
        self.assertEqual([knob["name"] for knob in common], ["threads", "cpus", "wait", "malloc", "pages", "isa"])
        self.toy(RATE)
        own = json.loads(self.yardstick("list", "knobs", "toy", "--recipes=recipes", "--format=json")[0])["knobs"]
        self.assertEqual([(knob["name"], knob["from"], [value["keys"] for value in knob["values"]]) for knob in own],
                         [("rate", "toy.recipe", [["opt.toy.rate=8000"], ["opt.toy.rate=16000"]])])
        for line, words in (("tune.rate = opt.rate=1\n", ("tune.rate", "VALUES: why")),
                            ("tune.rate = opt.nosuch=1: why\n", ("tune.rate", "no option opt.nosuch")),
                            ("tune.batch = batch=64: why\n", ("batch is no key of the machine", "change what is computed")),
                            ("tune.rate = fast: why\n", ('"fast" is no value',)),
                            ("tune.rate = a(env.A=1: why\n", ("is no value",)),
                            ("tune.threads = threads=0: why\n", ("threads = 0",)),
                            ("tune. = none\n", ("tune.KNOB",))):
            with self.subTest(line=line):
                self.toy(line if "threads" not in line else "")
                if "threads" in line:
                    self.write("recipes/toy.recipe", "name = toy\nprogram = yardstick-null\n" + line)
                self.refusal("list", "knobs", "toy", "--recipes=recipes", words=words)
