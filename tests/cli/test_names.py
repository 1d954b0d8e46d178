"""Words as people write them, who come from other tools: understood where one thing alone can be meant, else the message
names the fault and the remedy."""
import json
import os
import re
import shlex
import signal
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

WORK = ["--model=mlp", "--data=digits", "--batch=8", "--steps=40", "--block=1", "--threads=1"]


class Names(Case):
    def trial(self, *arguments):
        trials = json.loads(self.yardstick("check", *arguments, "--format=json")[0])["trials"]
        self.assertEqual(len(trials), 1)
        return trials[0]

    def test_frameworks_by_the_names_that_people_use(self):
        for said, meant in (("torch", "pytorch"), ("tf", "tensorflow"), ("ort", "onnxruntime"), ("onnx", "onnxruntime"), ("ov", "openvino"),
                            ("PyTorch", "pytorch"), ("JAX", "jax"), ("BuiltIn", "builtin"), ("onnx-runtime", "onnxruntime"),
                            ("paddlepaddle", "paddle"), ("torch@1.13.1", "pytorch@1.13.1"), ("torch==1.13.1", "pytorch@1.13.1"),
                            ("Torch7", "torch7")):
            with self.subTest(said):
                self.assertEqual(self.trial("--framework=" + said, *WORK)["framework"], meant)

    def test_a_recipe_of_ones_own_keeps_its_name(self):
        os.mkdir(os.path.join(self.folder, "mine"))
        self.write("mine/torch.recipe", "name = torch\nprogram = /bin/true\nno_work = yes\n")
        self.assertEqual(self.trial("--recipes=mine", "--framework=torch", *WORK)["framework"], "torch")
        self.write("mine/other.recipe", "name = other\nalso = anything, any-thing-else\nprogram = /bin/true\nno_work = yes\n")
        self.assertEqual(self.trial("--recipes=mine", "--framework=Anything", *WORK)["framework"], "other")

    def test_two_names_of_one_framework_are_one(self):
        self.refusal("check", "--framework=torch,pytorch", *WORK, words=("pytorch twice",))
        out, _ = self.yardstick("check", "--framework=torch,builtin", "--opt.torch.channels_last=on", "--exclude=framework=Torch", *WORK)
        self.assertNotIn("torch", out)
        self.write("named.ys", "version = 1\n[a]\nmodel = mlp\ndata = digits\nframework = {Torch, builtin}\nopt.torch.channels_last = on\n")
        trials = json.loads(self.yardstick("check", "named.ys", "--format=json")[0])["trials"]
        self.assertEqual([trial["framework"] for trial in trials], ["pytorch", "builtin"])

    def test_verbs_that_take_a_framework_know_its_names(self):
        out, _ = self.yardstick("list", "frameworks", "Torch")
        self.assertIn("pytorch", out)
        out, _ = self.yardstick("list", "frameworks", "torch==1.13.1")
        self.assertIn("pytorch@1.13.1", out)
        _, err = self.yardstick("install", "BuiltIn")
        self.assertIn("builtin needs no installation", err)
        self.refusal("uninstall", "tf@0", words=("recipe of tensorflow", "no version"), code=2)

    def test_capitals_and_dashes(self):
        self.yardstick("check", "--model=MLP", "--data=Digits", "--precision=FP32", "--optimizer=Adam", "--mode=Train", "--threads=ALL")
        self.yardstick("check", "--model=ResNet-18", "--data=digits", "--precision=float64", "--mode=inference")
        self.assertIn("lenet", self.yardstick("list", "models", "LeNet")[0])
        self.yardstick("data", "fetch", "Digits")
        self.refusal("check", *WORK, "--precision=fp16", words=("precision = fp16", "f32, f64, bf16 or int8"))

    def test_a_folder_is_meant_before_another_spelling_of_a_name(self):
        os.mkdir(os.path.join(self.folder, "Digits"))
        self.refusal("check", "--model=mlp", "--data=Digits", words=("Digits",))

    def test_sizes_and_times_as_other_tools_have_them(self):
        for said, size_bytes in (("2G", 2 << 30), ("2g", 2 << 30), ("2GiB", 2 << 30), ("2gb", 2 * 10 ** 9), ("500M", 500 << 20), ("64k", 64 << 10)):
            with self.subTest(said):
                self.write("size.ys", "version = 1\n[a]\nframework = null\nmodel = mlp\ndata = digits\nsteps = 40\nblock = 1\nmemory_limit = %s\n" % said)
                result, _ = self.result("run", "size.ys", "--repeat=1", code=0 if size_bytes > 1 << 24 else 1)
                self.assertEqual(result["trials"][0]["keys"]["memory_limit"], size_bytes)
        self.yardstick("check", *WORK, "--time-limit=5m", "--stall-limit=30sec", "--run-time-limit=1d")
        self.refusal("check", *WORK, "--memory-limit=2", words=("no size with a unit", "KiB", "G"))

    def test_letters_that_every_verb_has(self):
        quiet = self.yardstick("run", *NULL, "--repeat=1", "-q")
        loud = self.yardstick("run", *NULL, "--repeat=1")
        self.assertNotIn("report: ", quiet[1])
        self.assertIn("report: ", loud[1])
        self.assertNotIn("report: ", self.yardstick("-q", "run", *NULL, "--repeat=1")[1])
        self.assertIn("yardstick 0.", self.yardstick("-V")[0])
        self.assertEqual(self.yardstick("show", "-h")[0], self.yardstick("help", "show")[0])
        self.refusal("show", "-x", words=("-x", "two dashes", "-q"))

    def test_braces_that_the_shell_took(self):
        for words in (["--threads=1", "--threads=2", "--threads=3"], ["--threads", "1", "2", "3"]):
            self.refusal("check", "--model=mlp", "--data=digits", *words, words=("--threads=1,2,3", "braces", "quotes"))
        self.refusal("check", *NULL, "--name=a", "--name=b", words=("--name is given twice",))
        for said in ("1..4", "1-4", "1:4"):
            self.refusal("check", "--model=mlp", "--data=digits", "--threads=" + said, words=("threads = " + said, "{1..4}", "quotes"))

    def test_words_of_other_programs_lead_to_ones_own(self):
        for said, meant in (("batch-size", "batch"), ("learning_rate", "lr"), ("dataset", "data"), ("iterations", "steps"), ("runs", "repeat")):
            self.refusal("check", "--model=mlp", "--data=digits", "--%s=8" % said, words=("--%s;" % said, "did you mean --%s?" % meant))
        self.write("said.ys", "version = 1\n[a]\nmodel = mlp\ndata = digits\nBatch-Size = 8\n")
        self.refusal("check", "said.ys", words=("said.ys:5", "Batch-Size", "did you mean batch?"))
        self.refusal("check", "--framework=torc", *WORK, words=("torc", 'did you mean "torch"?'))
        self.refusal("bisect", *WORK, "--good=1.13.1", "--bad=torch@2.13.0", words=("1.13.1", "write NAME@1.13.1"))

    def test_a_comma_that_is_no_axis(self):
        self.refusal("check", *WORK, "--lr=0,02", words=("lr = 0,02", "comma makes an axis", "0.02"))
        self.refusal("check", *WORK, "--momentum=0,9", words=("momentum = 0,9", "0.9"))
        self.refusal("check", "--model=mlp", "--data=digits", "--steps=1,000", words=("steps = 1,000", "1000"))
        self.refusal("check", *WORK, "--margin=2,5%", words=("margin = 2,5%", "point", "2.5%"))
        self.write("comma.ys", "version = 1\n[a]\nmodel = mlp\ndata = digits\nlr = 0,02\n")
        self.refusal("check", "comma.ys", words=("comma.ys:5", "lr = 0,02", "0.02"))
        self.yardstick("check", "--model=mlp", "--data=digits", "--weight-decay=0,1", "--block=1")

    def test_what_is_not_there_is_named(self):
        message = self.refusal("export", "--model=lenet", words=("--out=FILE.onnx", "lenet"))
        self.assertNotIn("SELECTOR", message)
        self.refusal("export", "--out=lenet.onnx", words=("--model=NAME",))
        for arguments in (["gate", "base.jsonl"], ["compare", "base.jsonl", "last"], ["gate", "./base"]):
            self.refusal(*arguments, words=("there is no file", arguments[1], "yardstick export"))
        self.yardstick("run", *NULL, "--repeat=1")
        self.refusal("gate", "base.jsonl", words=("there is no file base.jsonl",))
        self.refusal("gate", "nothing", words=("no study `nothing`",))
        self.study("[a]", "model = mlp", "data = digits", name="mine.ys")
        for arguments in (["gate", "mine.ys"], ["compare", "last", "mine.ys"], ["show", "mine.ys"], ["gate", "gone.ys"]):
            self.refusal(*arguments, words=("a study to run, and no result", "last"))
        self.refusal("gate", "last", "gone.ys", words=("no study file gone.ys",))

    def test_check_names_what_is_missing_and_what_installs_it(self):
        out, _ = self.yardstick("check", "--framework=singa", *WORK, env={"YARDSTICK_CACHE": os.path.join(self.folder, "cache")})
        self.assertRegex(out, r"missing: SINGA \S+: ")
        self.assertIn("yardstick install singa", out)

    def test_a_study_in_which_nothing_could_run_is_not_done(self):
        result, err = self.result("run", "--framework=singa", *WORK, "--repeat=2", code=6)
        self.assertEqual((result["study"]["status"], result["study"]["exit_code"]), ("failed", 6))
        self.assertIn("Nothing of the study could run", self.yardstick("show", "last")[0])
        result, _ = self.result("run", "--framework=null", *WORK[:-1], "--threads=4096", "--repeat=2", code=6)
        self.assertEqual(result["study"]["status"], "failed")

    def test_more_threads_than_processors_are_named(self):
        out, _ = self.yardstick("check", "--model=mlp", "--data=digits", "--threads=4096")
        self.assertRegex(out, r"threads = 4096: this machine has \d+ CPUs? that yardstick may use:\s+write\s+at most \d+, or all")
        self.assertIn("1 trial, of which none can run here", out)

    def test_init_writes_what_check_does_not_warn_of(self):
        self.yardstick("init")
        _, err = self.yardstick("check", "study.ys")
        self.assertNotIn("warning", err)

    def test_alone_it_prints_what_to_begin_with(self):
        out, err = self.yardstick(code=2)
        self.assertEqual((len(out.splitlines()), err), (10, ""))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        for verb in re.findall(r"^  yardstick (\w+)", out, re.M):
            self.yardstick("help", verb)

    def test_help_has_the_verbs_own_flags_and_two_examples_that_parse(self):
        for verb in re.findall(r"^  yardstick (\w+)", self.yardstick("help")[0], re.M):
            out, _ = self.yardstick("help", verb)
            self.assertEqual("  --threads  " in out, verb in ("run", "size", "check", "verify", "bisect", "tune", "doctor"), verb)
            self.assertLess(len(out.splitlines()), 50, verb)
            examples = re.sub(r"\n {6}", " ", out.split("\nExamples:\n")[1]).splitlines()
            self.assertEqual(len(examples), 2, verb)
            for example in examples:
                words = shlex.split(re.split(r" (?:\||>(?!=))", example)[0])
                self.assertEqual(words[:2], ["yardstick", verb])
                # Parsed as it stands: --help is what is done in the end.
                self.assertEqual(self.yardstick(*words[1:], "--help")[0], out)

    def test_bisect_downloads_nothing_unasked(self):
        message = self.refusal("bisect", *WORK, "--good=torch@1.13.1", "--bad=torch==2.5.1",
                               words=("not installed", "pytorch@1.13.1", "pytorch@2.5.1", "--install", "to download", "on disk"),
                               env={"YARDSTICK_CACHE": os.path.join(self.folder, "cache")})
        self.assertRegex(message, r"\d GB to download")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "cache", "envs")))

    def test_the_same_file_imported_twice_is_one_study(self):
        self.yardstick("run", *NULL, "--repeat=1", "--name=one")
        exported = self.yardstick("export", "last")[0]
        self.write("one.jsonl", exported)
        for _ in range(2):
            self.assertEqual(self.yardstick("results", "import", "one.jsonl", "--results=other")[0], "1\n")
        self.assertIn("study 1 already", self.yardstick("results", "import", self.write("copy.jsonl", exported), "--results=other")[1])
        for text in exported.replace("\n", "\r\n"), "\ufeff" + exported, exported.rstrip("\n"):  # git and editors do that
            self.assertEqual(self.yardstick("results", "import", self.write("carried.jsonl", text), "--results=other")[0], "1\n")
            self.assertEqual(self.yardstick("results", "import", "carried.jsonl", "--results=third")[0], "1\n")
        self.yardstick("run", *NULL, "--repeat=1", "--name=two")
        self.write("two.jsonl", self.yardstick("export", "last")[0])
        self.assertEqual(self.yardstick("results", "import", "two.jsonl", "--results=other")[0], "2\n")
        self.yardstick("show", "1", "--verify", "--results=other")

    def test_recommend_shows_names_that_differ(self):
        self.write("many.ys", "version = 1\nname = many\nrepeat = 2\n[a-section-of-a-long-name]\nframework = {builtin, null}\nthreads = 1\nmodel = mlp\n"
                              "data = digits\nbatch = {8, 16}\nsteps = 20\nlr = {0.01, 0.02}\nblock = 1\n")
        self.yardstick("run", "many.ys")
        out, _ = self.yardstick("recommend", "many", "--wish=fastest")
        rows = [line.split()[:4] for line in out.split("\n\n")[1].splitlines()]
        self.assertEqual(rows[0], ["framework", "batch", "lr", "standing"])
        self.assertEqual(len({tuple(row[:3]) for row in rows[1:]}), 8)
        self.assertNotIn("…", out)

    def test_checks_estimate_is_corrected_by_what_was_measured(self):
        work = [*NULL, "--repeat=3", "--cooldown=0.4s"]
        self.yardstick("run", *work)
        checked = json.loads(self.yardstick("check", *work, "--format=json")[0])
        self.assertGreaterEqual(checked["estimate_s"], 2 * 0.4)
        self.assertLess(checked["trials"][0]["run_s"], checked["estimate_s"])

    def test_an_interrupted_study_names_what_goes_on_with_it(self):
        process = self.start("run", *NULL, "--repeat=400", "--name=long")
        runs = os.path.join(self.folder, "yardstick-results", "001-long", "runs")
        self.wait_until(lambda: os.path.isdir(runs) and os.listdir(runs), process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("`yardstick resume long`", err)
        self.assertRegex(self.yardstick("show", "long")[0].replace("\n", " "), r"interrupted: .*`yardstick\s+resume 1`")


if __name__ == "__main__":
    unittest.main()
