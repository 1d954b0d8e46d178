"""Odd surroundings: every verb ends with a documented exit code and says why, once."""
import os
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

WORDS = ["run", "check", "verify", "resume", "show", "report", "export", "list", "install", "uninstall", "data", "init", "help"]
PRINTING = [["run", *NULL, "--repeat=1"], ["check", *NULL], ["verify", *NULL], ["show"], ["show", "--format=json"], ["show", "--format=csv"],
            ["show", "--format=md"], ["report"], ["export"], ["resume"], ["list", "models"], ["list", "keys", "threads"], ["list", "metrics"],
            ["list", "frameworks", "--check=null"], ["list", "models", "--format=json"], ["clean", "--dry-run"], ["help"], ["show", "--help"],
            ["--version"]]


class Odd(Case):
    def setUp(self):
        super().setUp()
        self.yardstick("run", *NULL, "--repeat=1")
        self.write("file", "no folder\n")
        os.mkdir(os.path.join(self.folder, "empty"))
        os.mkdir(os.path.join(self.folder, "broken"))
        self.write("broken/results.db", "no database\n")

    def said_once(self, err):
        self.assertEqual(err.count("yardstick: error: "), 1, err)
        self.assertIn("standard output", err)

    def test_a_standard_output_that_takes_nothing(self):
        for arguments in PRINTING:
            with self.subTest(arguments), open("/dev/full", "w") as full:
                self.said_once(self.yardstick(*arguments, code=7, stdout=full)[1])

    def test_a_standard_output_that_is_closed(self):
        for arguments in PRINTING:
            with self.subTest(arguments):
                self.said_once(self.yardstick(*arguments, code=7, preexec_fn=lambda: os.close(1))[1])

    def test_everything_closed(self):
        def close():
            for fd in range(3):
                os.close(fd)
        for arguments, code in [(["show"], 7), (["run", *NULL, "--repeat=1"], 7), (["show", "nothing"], 2), (["check", "-"], 2),
                                (["init", "new.ys"], 0), (["init", "new.ys"], 2)]:
            with self.subTest(arguments):
                self.yardstick(*arguments, code=code, preexec_fn=close)

    def test_a_standard_error_that_takes_nothing(self):
        for arguments, code in [(["show"], 0), (["run", *NULL, "--repeat=1"], 0), (["show", "nothing"], 2)]:
            with self.subTest(arguments):
                self.yardstick(*arguments, code=code, preexec_fn=lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 2))

    def test_empty_words(self):
        self.refusal("", words=["say what to do"])
        for verb in WORDS:
            with self.subTest(verb):
                self.refusal(verb, "", words=["a word is empty", "yardstick " + verb])
        self.refusal("list", "models", "", words=["a word is empty"])
        self.refusal("data", "fetch", "", words=["a word is empty"])
        self.refusal("run", *NULL, "--name=\"\"", words=["name", "no name"])

    def test_results_that_are_none(self):
        for verb in ("show", "report", "export", "resume"):
            for folder in ("nowhere", "empty", "file"):
                with self.subTest((verb, folder)):
                    self.refusal(verb, "--results=" + folder, words=["no results in", folder])
        self.assertEqual([name for name in ("nowhere", "empty/results.db") if os.path.exists(os.path.join(self.folder, name))], [])
        os.makedirs(os.path.join(self.folder, "went", "001-lost"))  # of a study whose database went
        lost = ["the folder 001-lost of a study is", "lost or emptied; restore a copy"]
        for words, code in ((["show"], 2), (["report"], 2), (["show", "--verify"], 7), (["resume"], 7)):
            self.refusal(*words, "--results=went", code=code, words=lost)
        self.assertEqual(os.listdir(os.path.join(self.folder, "went")), ["001-lost"])
        self.assertIn(lost[0], self.yardstick("run", *NULL, "--repeat=1", "--results=went")[1])
        for verb in ("show", "report", "export"):
            self.refusal(verb, "--results=broken", words=["damaged"])
        self.refusal("resume", "--results=broken", code=7, words=["damaged"])
        for folder in ("nowhere", "empty", "file"):
            self.refusal("clean", "--results=" + folder, words=["no results"])

    def test_folders_in_the_place_of_files(self):
        os.mkdir(os.path.join(self.folder, "a.onnx"))
        for verb in ("run", "check", "verify"):
            self.refusal(verb, "empty", words=["empty is a folder"])
            self.refusal(verb, "empty/", words=["empty/ is a folder"])
        self.refusal("init", "empty", words=["exists"])
        self.refusal("data", "fetch", "mnist", "--from=file", words=["file is not a folder"])
        self.refusal("data", "fetch", "mnist", "--from=nowhere", words=["nowhere"])
        self.refusal("export", "--model=mlp", "--out=a.onnx", code=7, words=["a.onnx"])
        self.refusal("export", "--model=mlp", "--out=b.onnx", "--weights=empty", words=["empty"])
        self.refusal("list", "frameworks", "--recipes=file", words=["--recipes=file"])
        self.refusal("list", "frameworks", "--check=null@9", words=["it has: none"])

    def test_a_place_for_temporary_files_that_is_none(self):
        self.refusal("run", *NULL, code=7, env={"TMPDIR": "/dev/null"}, words=["TMPDIR"])
        self.refusal("run", *NULL, code=7, env={"YARDSTICK_CACHE": "/dev/null"}, words=["YARDSTICK_CACHE"])


if __name__ == "__main__":
    unittest.main()
