"""Completion and manual pages: made of the program's own tables, so nothing of these is missing, and others read them."""
import json
import re
import shutil
import subprocess

from harness import PROGRAM, Case, tearDownModule  # noqa: F401


class Manual(Case):
    texts = {}

    def setUp(self):
        super().setUp()
        for word in ("bash", "zsh", "fish", "man", "man-study"):
            if word not in self.texts:
                self.texts[word] = self.yardstick("completion", word)[0]
        if "verbs" not in self.texts:
            listed = self.yardstick("--help")[0]
            self.texts["verbs"] = re.findall(r"^  yardstick ([a-z]+) ", listed, re.M)
            self.texts["flags"] = {verb: re.findall(r"^  --([a-z-]+)", self.yardstick(verb, "--help")[0].split("Flags:")[1]
                                                    .split("Keys of a study")[0], re.M) for verb in self.texts["verbs"]}

    def test_every_verb_and_flag_is_in_each(self):
        self.assertGreater(len(self.texts["verbs"]), 15)
        bash = dict(re.findall(r"^    ([a-z]+)\)\n      flags='([^']*)'", self.texts["bash"], re.M))
        zsh = dict(re.findall(r"^  ([a-z]+)\)\n    _arguments((?:.*\\\n)*.*);;", self.texts["zsh"], re.M))
        fish = {}
        for verb, flag in re.findall(r"__fish_seen_subcommand_from ([a-z]+)' -l (\S+)", self.texts["fish"]):
            fish.setdefault(verb, []).append(flag)
        man = {}
        for part in self.texts["man"].split(".SS \"yardstick ")[1:]:
            man[part.split('"')[0]] = re.findall(r"^\.B \\-\\-([^=\n]*)", part, re.M)
        for verb, flags in self.texts["flags"].items():
            self.assertGreaterEqual(len(flags), 4, verb)
            for flag in flags:
                self.assertRegex(bash[verb], r" --%s(=|\b)" % flag, verb)
                self.assertRegex(zsh[verb], r"--%s[=\[]" % flag, verb)
                self.assertIn(flag, fish[verb], verb)
                self.assertIn(flag.replace("-", "\\-"), man[verb], verb)

    def test_every_key_is_in_the_manual_and_after_run(self):
        keys = json.loads(self.yardstick("list", "keys", "--format=json")[0])
        named = re.findall(r"^\.B (\S+)$", self.texts["man-study"], re.M)
        for key in keys["keys"] if isinstance(keys, dict) else keys:
            self.assertIn(key["name"].replace("-", "\\-"), named)
        for word in ("bash", "zsh", "fish"):
            self.assertIn("threads", self.texts[word])

    def test_shells_read_them(self):
        for word, command in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            if shutil.which(command[0]):
                path = self.write("text", self.texts[word])
                found = subprocess.run(command + [path], capture_output=True, text=True)
                self.assertEqual((found.returncode, found.stderr), (0, ""), word)

    def complete(self, line):
        """What bash offers at the end of that line."""
        path = self.write("text", self.texts["bash"])
        script = ('source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; compopt() { :; }; yardstick() { "$3" "$@"; }; '
                  '_yardstick; printf "%s\\n" "${COMPREPLY[@]}"')
        script = 'program=$3; ' + script.replace('"$3" "$@"', '"$program" "$@"')
        found = subprocess.run(["bash", "-c", script, "-", path, line, PROGRAM], capture_output=True, text=True, cwd=self.folder,
                               env=self.environment(), check=True)
        return found.stdout.split()

    def test_bash_completes(self):
        if not shutil.which("bash"):
            self.skipTest("there is no bash")
        self.write("mine.ys", "")
        self.assertIn("gate", self.complete("yardstick ga"))
        self.assertIn("mine.ys", self.complete("yardstick "))
        self.assertIn("--wish=", self.complete("yardstick recommend --wi"))
        self.assertEqual(self.complete("yardstick gate last --format=j"), ["json", "junit"])
        self.assertIn("builtin", self.complete("yardstick run --framework=bui"))
        self.assertIn("infer", self.complete("yardstick mine.ys --mode=inf"))
        self.assertEqual(self.complete("yardstick list fram"), ["frameworks"])
        self.assertIn("last", self.complete("yardstick show la"))
        self.assertIn("--threads=", self.complete("yardstick mine.ys --thr"))

    def test_manual_pages_render_without_warnings(self):
        for word in ("man", "man-study"):
            path = self.write(word + ".1", self.texts[word])
            if shutil.which("groff"):
                found = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=78n", path], capture_output=True, text=True)
            elif shutil.which("man"):
                found = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True,
                                       env=self.environment(MANROFFSEQ="", MANWIDTH="78", LC_ALL="C.UTF-8"))
            else:
                self.skipTest("neither groff nor man is here")
            self.assertEqual((found.returncode, found.stderr), (0, ""))
            self.assertIn("yardstick", found.stdout)

    def test_bad_words(self):
        self.refusal("completion", words=("bash", "man-study"))
        self.refusal("completion", "ksh", words=("bash",))
