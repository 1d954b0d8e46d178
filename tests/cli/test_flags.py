"""Each verb knows its flags, its formats and its words, and its help says them."""
import re
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

VERBS = ["run", "check", "verify", "resume", "show", "report", "export", "list", "install", "uninstall", "data", "clean", "init", "help"]


class Flags(Case):
    def test_a_flag_of_another_verb_says_whose_it_is(self):
        for arguments, *words in [
                (["show", "--from=x"], "show has no flag --from", "`install` and `data`"),
                (["check", "--unverified", *NULL], "check has no flag --unverified", "`data`"),
                (["show", "--dry-run"], "`clean`"),
                (["uninstall", "--from=x", "a"], "--from", "`install`"),
                (["init", "--format=json"], "init has no flag --format", "`show`"),
                (["show", "--model=mlp"], "`export`", "`run`, `size`, `check`, `verify`, `bisect`, `tune` and `doctor` take it")]:
            with self.subTest(arguments):
                self.refusal(*arguments, words=words)

    def test_recipes_are_for_who_reads_recipes(self):
        for what in ("models", "datasets", "metrics", "keys"):
            self.refusal("list", what, "--recipes=.", words=["--recipes=.: only list frameworks and knobs read recipes"])
        self.yardstick("list", "frameworks", "--recipes=.")

    def test_a_key_of_a_job_says_who_takes_it(self):
        for arguments, key in [(["show", "--repeat=3"], "repeat"), (["resume", "--run-time-limit", "3s"], "run_time_limit"),
                               (["report", "--opt.pytorch.compile=on"], "opt.pytorch.compile"), (["export", "--env.A-B=1"], "env.A-B"),
                               (["list", "frameworks", "--batch=3"], "batch")]:
            with self.subTest(arguments):
                message = self.refusal(*arguments, words=[key + " is a key of a job: `run`, `size`, `check`, `verify`, `bisect`, `tune` and `doctor` take it"])
                self.assertNotIn("did you mean", message)
        self.refusal("run", "--include=x", words=["include", "job files only"])

    def test_a_flag_that_nobody_has_names_the_nearest_of_this_verb(self):
        self.refusal("show", "--resluts=x", words=["show has no flag --resluts", "did you mean --results?"])
        self.refusal("run", "--treads=2", words=["did you mean --threads?"])
        self.refusal("run", "--run-time-limt=2s", words=["did you mean --run_time_limit?"])
        self.refusal("show", "--treads=2", words=["yardstick show --help"])

    def test_a_beginning_of_a_flag_is_no_flag(self):
        self.refusal("show", "--forma=json", words=["--forma", "did you mean --format?"])
        self.refusal("show", "--form=json", words=["form is a key of a job"])
        self.refusal("data", "fetch", "mnist", "--unverif", words=["--unverif"])

    def test_a_format_that_a_verb_cannot_print(self):
        for verb, can in [("list", "table, json"), ("check", "table, json"), ("verify", "table, json"), ("import", "table, json")]:
            with self.subTest(verb):
                self.refusal(verb, "--format=csv", words=[verb + " can print " + can + ";", "`show`"])
        self.refusal("show", "--format=xml", words=["--format=xml", "table, json, csv, md"])

    def test_values(self):
        self.refusal("show", "--results", words=["--results needs a value"])
        self.refusal("show", "--results=", words=["--results needs a value"])
        self.refusal("show", "--results", "", words=["--results needs a value"])
        self.refusal("show", "--results", "--quiet", words=["--results needs a value"])
        self.refusal("run", *NULL, "--results=", words=["--results has no value"])
        self.refusal("show", "--quiet=yes", words=["--quiet takes no value"])
        self.refusal("show", "--results=a", "--results=b", words=["--results is given twice"])
        self.refusal("show", "--format=csv", "--format=json", words=["--format is given twice"])
        self.refusal("show", "-x", words=["two dashes"])
        self.refusal("list", "frameworks", "--recipes=nowhere", words=["nowhere"])

    def test_a_flag_whose_value_is_one_of_some_words(self):
        self.refusal("export", "--model=mlp", "--out=a.onnx", "--precision=f16", words=["--precision=f16", "f32|f64"])
        self.refusal("export", "--model=mlp", "--out=a.onnx", "--precision=f32|f64", words=["f32|f64"])
        self.yardstick("export", "--model=mlp", "--out=a.onnx", "--precision=f64")

    def test_flags_that_only_go_with_another(self):
        self.refusal("export", "last", "--seed=3", words=["--model=NAME"])
        self.refusal("export", "--model=mlp", "--out=a.json", "--format=json", words=["--format"])
        self.refusal("list", "frameworks", "--fresh", words=["--fresh", "--check"])
        self.refusal("list", "frameworks", "null", "--check=null", words=["null", "--check"])

    def test_too_many_words(self):
        for arguments in (["resume", "a", "b"], ["show", "last", "last"], ["report", "a", "b"], ["export", "a", "b"], ["run", "a.ys", "b.ys"],
                          ["init", "a.ys", "b.ys"], ["data", "fetch", "mnist", "b"], ["clean", "b"], ["help", "run", "b"]):
            with self.subTest(arguments):
                self.refusal(*arguments, words=['"b' if arguments[0] != "show" else '"last"', "one word too many", arguments[0]])
        self.refusal("list", "models", "lenet", "mlp", words=["one name"])

    def test_keys_of_a_job_are_flags_in_every_spelling(self):
        out, _ = self.yardstick("check", "--framework", "null", "--model=mlp", "--data", "digits", "--threads", "1", "--batch=8", "--steps=20",
                                "--run-time-limit", "3s", "--stall_limit=2s", "--lr", "0.5", "--env.A_B", "x=y,z", "--opt.null.rate=5,6")
        self.assertIn("opt.null.rate=6", out)
        self.assertIn("env.A_B=x=y,", out)
        self.assertIn("4 trials, at most 80 runs", out)

    def test_flags_stand_anywhere_and_words_follow_two_dashes(self):
        path = self.study("[a]", "framework = null", "model = mlp", "data = digits", "steps = 2", "batch = 8", "threads = 1", name="a.ys")
        for arguments in (["--quiet", "check", path], ["check", "--threads=1", path, "--quiet"], ["check", "--quiet", "--", path]):
            with self.subTest(arguments):
                out, _ = self.yardstick(*arguments)
                self.assertIn("1 trial, 7 runs", out)
        self.refusal("--results=x", "show", words=["before --results=x"])

    def test_the_help_of_a_verb_names_its_flags_and_no_others(self):
        whole, _ = self.yardstick("--help")
        self.assertLessEqual(max(map(len, whole.splitlines())), 80)
        listed = re.findall(r"^  yardstick ([a-z]+) ", whole, re.M)
        self.assertGreater(len(listed), len(VERBS))
        for verb in listed:
            self.assertLessEqual(max(map(len, self.yardstick(verb, "--help")[0].splitlines())), 80, verb)
        for verb in VERBS:
            out, _ = self.yardstick(verb, "--help")
            self.assertEqual(out, self.yardstick("help", verb)[0])
            self.assertTrue(out.startswith("usage: yardstick " + verb), out)
            self.assertIn("  yardstick " + verb + " ", whole)
            flags = set(re.findall(r"^  --([a-z-]+)", out.split("\nEvery verb has")[0], re.M))
            self.assertEqual(re.findall(r"--(\w+) \(", out), ["quiet", "debug", "help", "version"])
            self.assertFalse({"quiet", "debug", "help", "version"} & flags)
            self.assertEqual("from" in flags, verb in ("install", "data"), verb)
            self.assertEqual("dry-run" in flags, verb == "clean", verb)
            self.assertEqual("--repeat" in out, verb in ("run", "check", "verify"), verb)
            self.assertEqual("fresh" in flags, verb in ("run", "check", "verify", "resume", "list"), verb)
            self.assertIn("yardstick 0.", self.yardstick(verb, "--version")[0])
        self.assertIn("--format=table|json|csv|md", self.yardstick("show", "-h")[0])
        self.refusal("help", "rum", words=["run"])


if __name__ == "__main__":
    unittest.main()
