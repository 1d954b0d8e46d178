"""What trained weights withstand: keys, refusals, metrics and pages. With the built-in engine alone."""
import contextlib
import glob
import json
import math
import os
import resource
import signal
import sqlite3
import struct

from harness import BIN, CACHE, Case, tearDownModule  # noqa: F401

TRAIN = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=64", "--steps=60", "--lr=0.1", "--block=6", "--audit=off"]


class Attacks(Case):
    def test_a_study_says_what_its_weights_withstand(self):
        result, _ = self.result("run", *TRAIN, "--momentum=0,0.5", "--repeat=2", "--attack=fgsm(8/255)   pgd(0.1, 20) ddn(20)", "--attack.rows=60",
                                "--attack.curve=0.2 0.05")
        for trial in result["trials"]:
            self.assertEqual(trial["keys"]["attack"], "fgsm(8/255) pgd(0.1, 20, 0.01) ddn(20)")
            self.assertEqual((trial["keys"]["attack.rows"], trial["keys"]["attack.restarts"], trial["keys"]["attack.curve"]), (60, 1, "0.05 0.2"))
            found = trial["robustness"]
            self.assertEqual((found["runs"], found["rows"], found["reason"]), (2, 60, None))
            self.assertEqual([one["attack"] for one in found["attacks"]], trial["keys"]["attack"].replace(") ", ")|").split("|"))
            self.assertEqual([one["eps"] for one in found["robust"]], [8 / 255, 0.1])
            self.assertGreaterEqual(found["robust"][0]["accuracy"], found["robust"][1]["accuracy"])  # a wider bound breaks no fewer
            self.assertLessEqual(found["robust"][0]["accuracy"], found["accuracy"])  # what was wrong before is no success
            self.assertGreater(found["attacks"][2]["broken"], 0)
            metrics = trial["metrics"]
            self.assertEqual(metrics["robust_accuracy"]["value"], found["robust"][0]["accuracy"])
            self.assertAlmostEqual(metrics["perturbation_p50"]["value"], found["attacks"][2]["change_p50"], places=12)
        compared = {one["metric"]: one["scale"] for one in result["comparisons"]}
        self.assertEqual((compared["robust_accuracy"], compared["perturbation_p50"]), ("difference", "ratio"))
        self.assertGreater(result["study"]["timing"]["attack_s"], 0)
        page, _ = self.yardstick("report", "last")
        with open(page.strip()) as file:
            self.assertIn("What does it withstand?", file.read())
        self.assertIn("What it withstands", self.yardstick("show", "last", "--details")[0])

    def test_corruptions_are_an_accuracy_of_their_own(self):
        """The same pictures for both trials and again; no attack is made where none is asked for."""
        words = [*TRAIN, "--momentum=0,0.5", "--repeat=1", "--attack=corruptions(4) corruptions(1)", "--attack.rows=60"]
        first, _ = self.result("run", *words)
        again, _ = self.result("run", *words, "--attack.twins=1")
        for trial, same in zip(first["trials"], again["trials"]):
            self.assertEqual(trial["keys"]["attack"], "corruptions(1) corruptions(4)")
            found, metrics = trial["robustness"], trial["metrics"]
            self.assertEqual([one["severity"] for one in found["corruptions"]], [1] * 15 + [4] * 15)
            self.assertEqual(found["corruptions"], same["robustness"]["corruptions"])
            self.assertEqual((found["attacks"], found["robust"], found["alarms"]), ([], [], []))
            mean = sum(one["accuracy"] for one in found["corruptions"]) / 30
            self.assertAlmostEqual(metrics["corrupted_accuracy"]["value"], mean, places=12)
            self.assertIn("no attack that is bounded", metrics["robust_accuracy"]["reason"])
            self.assertAlmostEqual(same["robustness"]["twins"][0]["corrupted_accuracy"], mean, delta=0.1)
            mild, hard = (sum(one["accuracy"] for one in found["corruptions"][k:k + 15]) for k in (0, 15))
            self.assertGreater(mild, hard)
        compared = {one["metric"]: one["scale"] for one in first["comparisons"]}
        self.assertEqual(compared["corrupted_accuracy"], "difference")
        shown = self.yardstick("show", "last", "--details")[0]
        self.assertIn("Accuracy after corruptions", shown)
        self.assertNotIn("What it withstands", shown)
        page, _ = self.yardstick("report", "last")
        with open(page.strip()) as file:
            self.assertIn("zigzag", file.read())

    def test_an_alarm_makes_of_the_number_an_upper_bound(self):
        """Five steps of a hundredth do not reach the bound, where one step of fgsm lies: gradients that lead nowhere look like that."""
        result, _ = self.result("run", *TRAIN, "--repeat=1", "--attack=pgd(0.1, 5)", "--attack.rows=100")
        trial, = result["trials"]
        self.assertTrue(trial["robustness"]["is_masked"])
        self.assertIsNone(trial["metrics"]["robust_accuracy"]["value"])
        self.assertIn("at most", trial["metrics"]["robust_accuracy"]["reason"])
        self.assertIn("gradients may be masked", self.yardstick("show", "last", "--details")[0])

    def test_attacks_are_no_part_of_a_run(self):
        """Its times add up without them, and the weights are gone."""
        result, _ = self.result("run", *TRAIN, "--repeat=1", "--attack=cw(2, 40)", "--attack.rows=64")
        trial, = result["trials"]
        parts = sum(trial["metrics"][name]["value"] for name in ("start_s", "build_s", "first_step_s", "warmup_s", "train_s", "eval_s", "save_s", "stop_s", "rest_s"))
        self.assertAlmostEqual(parts, trial["metrics"]["wall_s"]["value"], places=6)
        self.assertGreater(result["study"]["timing"]["attack_s"], trial["metrics"]["eval_s"]["value"])
        left = [name for _, _, names in os.walk(self.folder) for name in names if name.endswith(".safetensors")]
        self.assertEqual(left, [])

    def test_the_same_seed_gives_the_same_outcomes(self):
        found = [self.result("run", *TRAIN, "--repeat=1", "--attack=pgd(0.1, 4)", "--attack.rows=40", "--attack.restarts=2")[0]["trials"][0]["robustness"] for _ in range(2)]
        for one in found:
            for attack in one["attacks"]:
                del attack["attack_s"]
        self.assertEqual(found[0], found[1])

    def test_twins_say_what_rounding_does(self):
        """Trained and attacked once, in the first round, and the same for all trials that train the same."""
        result, _ = self.result("run", *TRAIN, "--momentum=0,0.5", "--repeat=2", "--attack=pgd(0.05, 20) ddn(20)", "--attack.rows=60", "--attack.twins=3")
        first, other = (trial["robustness"]["twins"] for trial in result["trials"])
        self.assertEqual((len(first), len(other)), (3, 3))
        self.assertNotEqual(first, other)  # they train otherwise
        for trial, twins in zip(result["trials"], (first, other)):
            self.assertEqual(trial["keys"]["attack.twins"], 3)
            for twin in twins:  # a unit in the last place is no other network
                self.assertAlmostEqual(twin["robust_accuracy"], trial["metrics"]["robust_accuracy"]["values"][0], delta=0.1)
                self.assertGreater(twin["perturbation_p50"], 0)
        # Beside bits that are equal there are moved ones: a median of real numbers tells twins apart.
        self.assertEqual(len({twin["perturbation_p50"] for twin in first}), 3)
        shown = self.yardstick("show", "last", "--details")[0]
        self.assertIn("rounding alone, in 3 twins of the built-in engine", shown)
        again, _ = self.result("run", *TRAIN, "--momentum=0", "--repeat=1", "--attack=pgd(0.05, 20) ddn(20)", "--attack.rows=60", "--attack.twins=3")
        self.assertEqual(again["trials"][0]["robustness"]["twins"], first)

    def transfers(self, result):
        return {(one["attack"], one["from"], one["to"]): (one["rounds"], one["both_right"], one["broken"], one["also_wrong"]) for one in result["transfers"]}

    CARRY = ["--attack=pgd(0.05, 20) ddn(20)", "--attack.rows=60", "--attack.transfer=on"]

    def test_what_is_made_on_one_is_shown_to_the_other(self):
        """Two networks that are equal are fooled by the same images; nothing is kept."""
        result, _ = self.result("run", *TRAIN, "--repeat=2", *self.CARRY, "--momentum=0,1e-30")
        first, second = result["trials"]
        found = self.transfers(result)
        self.assertEqual(len(found), 4)
        for attack in first["robustness"]["attacks"]:
            rounds, right, broken, wrong = found[(attack["attack"], first["id"], second["id"])]
            self.assertEqual((rounds, right, broken), (2, 2 * attack["clean"], 2 * attack["broken"]))
            self.assertEqual(wrong, broken)
            self.assertEqual(found[(attack["attack"], second["id"], first["id"])], (rounds, right, broken, wrong))
        self.assertEqual(os.listdir(self.study_folder()).count("kept"), 0)
        for words in (["show", "last", "--details"], ["show", "last", "--format=md"]):
            self.assertIn("Attacks that carry over, pgd(0.05, 20, 0.005)", self.yardstick(*words)[0])

    def test_a_trial_alone_has_nobody_to_be_shown_to(self):
        result, err = self.result("run", *TRAIN, "--repeat=2", *self.CARRY, "--momentum=0")
        self.assertEqual(result["transfers"], [])
        self.assertEqual(err.count("shows what was made on its weights to nobody"), 1)
        shown = self.yardstick("show", "last", "--details")[0]
        self.assertIn("were shown to no other trial", " ".join(shown.split()))
        self.assertNotIn("Attacks that carry over", shown)

    def test_sections_keep_to_themselves(self):
        self.study("repeat = 1", "[global]", "framework = builtin", "data = digits", "threads = 1", "steps = 40", "lr = 0.1", "block = 4", "attack = fgsm(0.1)", "attack.rows = 40",
                   "attack.transfer = on", "[two]", "model = mlp", "batch = {32, 64}", "[networks]", "model = {mlp, lenet}")
        result, _ = self.result("run", "study.ys", "--audit=off")
        sections = {trial["id"]: trial["section"] for trial in result["trials"]}
        self.assertEqual(len(result["transfers"]), 4)
        for one in result["transfers"]:
            self.assertEqual((sections[one["from"]], sections[one["to"]]), (one["section"],) * 2)
        self.assertEqual({one["section"] for one in result["transfers"]}, {"two", "networks"})

    def test_an_interrupted_round_keeps_nothing_and_resume_makes_it(self):
        """The weights of the first trial are kept while those of the second are attacked."""
        words = ["--momentum=0,0.5", "--attack=fgsm(0.05) cw(4, 2000)", "--attack.rows=200", "--attack.transfer=on", "--order=fixed", "--repeat=1"]
        process = self.start("run", *TRAIN, *words)
        kept = lambda: glob.glob(os.path.join(self.folder, "yardstick-results", "*", "kept", "t0", "found.json"))  # noqa: E731
        self.wait_until(lambda: kept() and any(self.is_attacker(pid) for pid in self.marked_processes()), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(glob.glob(os.path.join(self.folder, "yardstick-results", "*", "kept")), [])
        self.assertEqual([name for _, _, names in os.walk(self.folder) for name in names if name.endswith(".safetensors")], [])
        self.assert_nothing_left()
        self.assertEqual(self.result("show", "last")[0]["transfers"], [])
        self.yardstick("resume", "last")
        result, _ = self.result("show", "last")
        self.assertEqual({one["rounds"] for one in result["transfers"]}, {1})
        self.assertEqual(len(result["transfers"]), 4)

    def test_what_a_killed_study_kept_is_swept(self):
        self.yardstick("run", *TRAIN, "--repeat=1")
        kept = os.path.join(self.study_folder(), "kept", "t0")
        os.makedirs(kept)
        with open(os.path.join(kept, "images"), "w") as file:
            file.write("x")
        self.yardstick("clean")
        self.assertFalse(os.path.exists(os.path.dirname(kept)))

    def test_images_without_room_are_a_warning_and_the_rest_stays(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))  # the weights take 2.1 MB, a thousand images 3.2 MB
        words = [*TRAIN, "--momentum=0,0.5", "--repeat=1"]
        many = " ".join("fgsm(%g)" % (0.5 + eps / 100) for eps in range(8))
        self.yardstick("run", *words)  # what both need is prepared
        result, err = self.result("run", *words, "--attack=" + many, "--attack.rows=300", "--attack.transfer=on", preexec_fn=limit)
        self.assertEqual(result["transfers"], [])
        self.assertIn("images: File too large", err)
        self.assertIn("or write attack.transfer = off", err)
        for trial in result["trials"]:
            self.assertEqual(len(trial["robustness"]["attacks"]), 8)
        self.assertEqual(glob.glob(os.path.join(self.folder, "yardstick-results", "*", "kept")), [])

    def study_folder(self):
        path, = glob.glob(os.path.join(self.folder, "yardstick-results", "*", "job.json"))
        return os.path.dirname(path)

    def test_check_counts_the_time_of_attacks(self):
        """By a guess that grows with steps, twins and rounds; then by what the same attacks took before."""
        def estimate(*words):
            return self.result("check", *TRAIN, "--repeat=2", *words)[0]["estimate_s"]
        heavy = ["--attack=cw(100, 100000)", "--attack.rows=1000"]
        plain, guessed, twins = estimate(), estimate(*heavy), estimate(*heavy, "--attack.twins=3")
        self.assertGreater(guessed, plain + 10)
        self.assertGreater(twins - plain, 2 * (guessed - plain))  # five times in place of two, less what a start takes
        light = ["--attack=ddn(200)", "--attack.rows=500"]
        result, _ = self.result("run", *TRAIN, "--repeat=2", *light)
        self.assertGreaterEqual(estimate(*light), estimate("--attack=none") + result["study"]["timing"]["attack_s"] * 0.9)

    def test_twins_are_not_made_where_nobody_asks(self):
        result, _ = self.result("run", *TRAIN, "--repeat=1", "--attack=fgsm(0.1)", "--attack.rows=20")
        self.assertNotIn("twins", result["trials"][0]["robustness"])
        _, err = self.yardstick("run", *TRAIN, "--attack=fgsm(0.1)", "--attack.twins=101", code=2)
        self.assertIn("0 to 100", err)

    def test_fewer_rows_than_asked_are_all(self):
        result, _ = self.result("run", *TRAIN, "--repeat=1", "--attack=fgsm(0.1)", "--attack.rows=100000000")
        self.assertEqual(result["trials"][0]["keys"]["attack.rows"], result["work"][0]["test_count"])
        self.assertEqual(result["trials"][0]["robustness"]["rows"], result["work"][0]["test_count"])

    def test_bad_words_are_refused_with_a_remedy(self):
        for words, said in ((["--attack=pdg(0.1)"], "did you mean pgd?"), (["--attack=pgd"], "EPS"), (["--attack=fgsm(1.5)"], "EPS must be"),
                            (["--attack=fgsm(-0.1)"], "EPS must be"), (["--attack=fgsm(0.1, 3)"], "too many numbers: write fgsm(EPS)"),
                            (["--attack=pgd(0.1, x)"], "no number"), (["--attack=corruptions(0)"], "SEVERITY must be a whole number, 1 to 5"),
                            (["--attack=corruptions(6)"], "1 to 5"), (["--attack=corruptions(2.5)"], "1 to 5"), (["--attack=corruptions"], "SEVERITY is missing"), (["--attack={fgsm(0.1), pgd(0.1)}"], "not an axis"),
                            (["--attack=fgsm(0.1)", "--attack.curve=2"], "no EPS"), (["--attack.rows=10"], "attack = pgd(0.1)"),
                            (["--attack=fgsm(0.1)", "--compare=same-weights"], "same-weights")):
            _, err = self.yardstick("run", *TRAIN, *words, code=2)
            self.assertIn(said, err, words)
        _, err = self.yardstick("run", "--framework=builtin", "--model=mlp", "--data=digits", "--mode=infer", "--attack=fgsm(0.1)", code=2)
        self.assertIn("mode = infer", err)

    def test_pictures_that_cannot_be_corrupted_are_refused(self):
        words = ["check", "--framework=builtin", "--data=synthetic", "--steps=20", "--attack=corruptions(1)"]
        self.refusal(*words, "--model=check_flatten_behind_conv", words=["corruptions need pictures of at least 8 x 8 pixels, and these have 4 x 5"])
        self.refusal(*words, "--model=check_numbers", words=["tokens"])
        self.refusal(*words, "--model=mlp", "--attack.transfer=on", words=["corruptions are the same for every trial: write attack.transfer = off"])

    def test_what_has_no_pixels_or_no_weights_is_refused(self):
        _, err = self.yardstick("run", "--framework=builtin", "--model=gpt-nano", "--data=chars", "--steps=2", "--attack=fgsm(0.1)", code=2)
        self.assertIn("tokens", err)
        for words, said in ((["--model=check_rows", "--data=synthetic"], "several inputs"), (["--model=check_numbers", "--data=synthetic"], "tokens"),
                            (["--model=mlp", "--data=digits", "--input=ring", "--augment=cifar"], "no scale of pixels")):
            self.refusal("run", "--framework=builtin", "--steps=20", "--attack=fgsm(0.1)", *words, words=["attack: ", said, "write attack = none"])
        _, err = self.yardstick("run", "--framework=null", "--model=mlp", "--data=digits", "--steps=20", "--attack=fgsm(0.1)", code=2)
        self.assertIn("does no work", err)

    def test_a_run_whose_attacks_are_stopped_is_made_again(self):
        """What was measured before is kept, and the attacks that were finished."""
        process = self.start("run", *TRAIN, "--repeat=2", "--attack=fgsm(0.1) cw(50, 100000)", "--attack.rows=1000")
        # fgsm and the alarms before it take a hundredth of what cw is given here: it is cw that is interrupted.
        self.wait_until(lambda: any(self.is_attacker(pid) and self.cpu_s(pid) > 4 for pid in self.marked_processes()), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "yardstick-results", "results.db"))) as database:
            rows = database.execute("select status from run").fetchall()
        self.assertEqual(rows, [("cancelled",)], err)
        self.assert_nothing_left()
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual([one["attack"] for one in trial["robustness"]["attacks"]], ["fgsm(0.1)"])
        self.assertIn("stopped by signal", trial["robustness"]["reason"])
        self.assertIsNone(trial["metrics"]["robust_accuracy"]["value"])

    def test_an_interrupted_run_of_mode_attack_ends_at_once(self):
        """The framework gives gradients in the run itself: that is cancelled, and its adapter and the judge are gone."""
        process = self.start("run", *TRAIN, "--compare=same-weights", "--mode=attack", "--repeat=1",
                             "--attack=cw(50, 100000)", "--attack.rows=300")
        runs = lambda: glob.glob(os.path.join(self.folder, "yardstick-results", "*", "runs", "r0-*"))  # noqa: E731
        self.wait_until(lambda: runs() and any(self.cpu_s(pid) > 2 and self.is_adapter(pid) for pid in self.marked_processes()), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        self.assert_nothing_left()
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "yardstick-results", "results.db"))) as database:
            self.assertEqual(database.execute("select status from run").fetchall(), [("cancelled",)], err)
        trial, = self.result("show", "last")[0]["trials"]
        self.assertIsNone(trial["metrics"]["robust_accuracy"]["value"])
        left = [name for _, _, names in os.walk(self.folder) for name in names if name.endswith(".safetensors")]
        self.assertEqual(left, [])

    @staticmethod
    def is_adapter(pid):
        """The built-in engine without a verb."""
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                words = file.read().rstrip(b"\0").split(b"\0")
        except OSError:
            return False
        return len(words) == 1 and words[0].endswith(b"yardstick-builtin")

    @staticmethod
    def cpu_s(pid):
        try:
            with open("/proc/%d/stat" % pid) as file:
                user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        except OSError:
            return 0
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def test_a_model_that_is_wrong_on_every_row_has_nothing_to_attack(self):
        self.write_network(init=0)  # the first class of every row, which that of the first row is not
        words = [word for word in TRAIN if not word.startswith(("--model", "--lr"))]
        result, _ = self.result("run", *words, "--model=net.json", "--lr=1e-20", "--repeat=1", "--attack=fgsm(0.1) ddn(5)", "--attack.rows=1")
        trial, = result["trials"]
        self.assertEqual((trial["robustness"]["accuracy"], trial["robustness"]["reason"]), (0, None))
        for name in ("robust_accuracy", "perturbation_p50"):
            self.assertIsNone(trial["metrics"][name]["value"])
            self.assertIn("nothing to attack", trial["metrics"][name]["reason"])

    def test_weights_without_room_are_a_failed_run_and_the_reason(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # the weights take 2.1 MB
        self.yardstick("run", *TRAIN, "--repeat=1")  # what both need is prepared
        result, _ = self.result("run", *TRAIN, "--repeat=1", "--attack=fgsm(0.1)", "--attack.rows=20", code=1, preexec_fn=limit)
        trial, = result["trials"]
        self.assertEqual(trial["status"], "crashed")
        self.assertIn("weights.safetensors: File too large", trial["reason"])
        self.assertIsNone(trial["metrics"]["robust_accuracy"]["value"])

    def write_network(self, init=None, weights=None):
        """net.json, whose numbers all begin as `init`, and w.safetensors, in which all are `weights`."""
        self.yardstick("export", "--model=mlp", "--data=digits", "--out=net.json")
        with open(os.path.join(self.folder, "net.json")) as file:
            net = json.load(file)
        if init is not None:
            for param in net["params"]:
                param["init"] = {"dist": "constant", "value": init}
            self.write("net.json", json.dumps(net))
        if weights is not None:
            head, at = {}, 0
            for param in net["params"]:
                size = 4 * math.prod(param["shape"])
                head[param["name"]] = {"dtype": "F32", "shape": param["shape"], "data_offsets": [at, at + size]}
                at += size
            text = json.dumps(head).encode()
            self.write("w.safetensors", struct.pack("<Q", len(text)) + text + struct.pack("<f", weights) * (at // 4))

    def test_the_verb_says_what_it_cannot_attack(self):
        self.write_network(weights=math.nan)
        self.yardstick("run", "--framework=null", "--model=mlp", "--data=digits", "--steps=20", "--repeat=1")  # which prepares the rows
        data = self.prepared_rows("digits")
        for model in ("gpt-nano", "check_rows"):
            self.yardstick("export", "--model=" + model, "--out=%s.json" % model)
        for changed, said in (({}, "the logits of an image are no finite numbers"), ({"weights": "none"}, "none: No such file"),
                              ({"attack": "pdg(0.1)"}, "did you mean pgd?"), ({"graph": "gpt-nano.json"}, "it reads tokens"),
                              ({"graph": "check_rows.json"}, "it has several inputs")):
            flags = dict({"graph": "net.json", "weights": "w.safetensors", "data": data, "rows": "20", "threads": "1", "attack": "pgd(0.1)"}, **changed)
            words = [word for name, value in flags.items() for word in ("--" + name, value)]
            out, err = self.yardstick("attack", *words, program=os.path.join(BIN, "yardstick-builtin"), code=2)
            self.assertEqual(out, "")
            self.assertIn(said, err)

    @staticmethod
    def prepared_rows(name):
        """The prepared test rows of a data set."""
        path, = glob.glob(os.path.join(CACHE, "data", name, "*", "test.safetensors"))
        return path

    @staticmethod
    def is_attacker(pid):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                return file.read().split(b"\0")[1:2] == [b"attack"]
        except OSError:
            return False
