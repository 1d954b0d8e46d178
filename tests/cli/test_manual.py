"""Completion and manual pages: made of the program's own tables, so nothing of these is missing, and others read them."""
import json
import os
import pty
import re
import shutil
import subprocess
import threading

from harness import PROGRAM, Case, tearDownModule  # noqa: F401


def drain(terminal):
    """Reads what a shell says until there is no shell."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass


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
            helps = {verb: self.yardstick(verb, "--help")[0].split("Every key of a study")[0] for verb in self.texts["verbs"]}
            self.texts["flags"] = {verb: [own or every for own, every in re.findall(r"^  --([a-z-]+)|--(\w+) \(-", text, re.M)]
                                   for verb, text in helps.items()}

    def test_every_verb_and_flag_is_in_each(self):
        self.assertGreater(len(self.texts["verbs"]), 15)
        bash = dict(re.findall(r"^    ([a-z]+)\)\n      flags='([^']*)'", self.texts["bash"], re.M))
        zsh = dict(re.findall(r"^  ([a-z]+)\)\n    _arguments((?:.*\\\n)*.*);;", self.texts["zsh"], re.M))
        fish = {}
        for verb, flag in re.findall(r"__yardstick_verb ([a-z]+)' -l (\S+)", self.texts["fish"]):
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
        self.assertEqual(self.complete("yardstick run --model=len"), ["lenet"])
        self.assertEqual(self.complete("yardstick list models len"), ["lenet"])
        self.assertEqual(self.complete("yardstick data fetch mni"), ["mnist"])
        self.assertIn("bisect", self.complete("yardstick help bis"))
        self.assertEqual(self.complete("yardstick history --metric=rate"), ["rate_per_s"])
        self.assertEqual(self.complete("yardstick run --optimizer=ad"), ["adam", "adamw"])
        self.assertEqual(self.complete("yardstick run --model=lenet,len"), ["lenet,lenet"])  # what stands in its place is the whole list
        self.assertEqual(self.complete("yardstick results import "), [])

    def test_bash_offers_files_only_where_one_is_wanted(self):
        if not shutil.which("bash"):
            self.skipTest("there is no bash")
        for name in ("mine.ys", "mine.onnx", "mine.jsonl", "mine.txt"):
            self.write(name, "")
        os.mkdir(os.path.join(self.folder, "minefolder"))
        for line, files in (("run ", {"mine.ys", "minefolder"}), ("import ", {"mine.onnx", "minefolder"}), ("compare ", {"mine.jsonl", "minefolder"}),
                            ("gate ", {"mine.ys", "mine.jsonl", "minefolder"}), ("show ", set()), ("list ", set()), ("list models ", set()),
                            ("install ", set()), ("clean ", set()), ("help ", set()), ("data fetch ", set()), ("resume ", set()),
                            ("results import ", {"mine.jsonl", "minefolder"}), ("run --model=", {"mine.onnx", "minefolder"}),
                            ("run --threads=", set()), ("run --framework=", set()), ("run --data=", {"minefolder"})):
            found = self.complete("yardstick %s" % line)
            self.assertEqual({word for word in found if word.startswith("mine")}, files, line)

    def environment_of_shells(self):
        """Nobody's own settings, and the program found by its name."""
        path = os.path.dirname(PROGRAM) + os.pathsep + os.environ.get("PATH", "")
        return self.environment(HOME=self.folder, ZDOTDIR=self.folder, XDG_CONFIG_HOME=self.folder, XDG_DATA_HOME=self.folder,
                                PATH=path, TERM="dumb")

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("there is no fish")
        self.write("mine.ys", "")
        path = self.write("text.fish", self.texts["fish"])

        def complete(line):
            found = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', path, line], text=True,
                                   capture_output=True, cwd=self.folder, env=self.environment_of_shells())
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertEqual(found.stderr, "")
            return [entry.split("\t")[0] for entry in found.stdout.splitlines()]
        self.assertEqual(complete("yardstick ga"), ["gate"])
        self.assertIn("mine.ys", complete("yardstick mi"))
        self.assertEqual(complete("yardstick recommend --wi"), ["--wish"])
        self.assertEqual(complete("yardstick gate last --format=j"), ["--format=json", "--format=junit"])
        self.assertIn("--framework=builtin", complete("yardstick run --framework=bui"))
        self.assertIn("--mode=infer", complete("yardstick mine.ys --mode=inf"))
        self.assertIn("--threads", complete("yardstick mine.ys --thr"))
        self.assertEqual(complete("yardstick list fram"), ["frameworks"])
        self.assertIn("last", complete("yardstick show la"))
        self.assertNotIn("gate", complete("yardstick show ga"))
        # `results import` has the flags of `results` alone, though `import` is a verb as well.
        self.assertEqual(complete("yardstick results import --layo"), [])
        self.assertEqual(complete("yardstick list models len"), ["lenet"])
        self.assertEqual(complete("yardstick run --model=lene"), ["--model=lenet"])
        self.assertIn("bisect", complete("yardstick help bis"))
        self.assertEqual(complete("yardstick show mine"), [])
        self.assertEqual(complete("yardstick list mine"), [])
        self.assertEqual(complete("yardstick import mine"), [])
        self.assertNotIn("--model=mine.ys", complete("yardstick run --model=mine"))
        self.assertEqual(complete("yardstick run --model=mlp,lene"), ["--model=mlp,lenet"])

    def test_zsh_completes(self):
        if not shutil.which("zsh"):
            self.skipTest("there is no zsh")
        self.write("mine.ys", "")
        os.mkdir(os.path.join(self.folder, "functions"))
        self.write("functions/_yardstick", self.texts["zsh"])
        self.write(".zshrc", "fpath=($PWD/functions $fpath)\nautoload -U compinit\ncompinit -u -d $PWD/dump\nPS1='ready%% '\n"
                             "unsetopt prompt_cr prompt_sp\ntold() { print -r -- \"{$BUFFER}\" > told; BUFFER= }\n"
                             "zle -N told\nbindkey '^T' told\nbindkey '^I' complete-word\n")
        master, slave = pty.openpty()
        shell = subprocess.Popen(["zsh", "-i"], stdin=slave, stdout=slave, stderr=slave, cwd=self.folder, start_new_session=True,
                                 env=self.environment_of_shells())
        os.close(slave)
        said = threading.Thread(target=lambda: drain(master), daemon=True)  # or it would wait for somebody to read
        said.start()
        told = os.path.join(self.folder, "told")

        def complete(line):
            if os.path.exists(told):
                os.unlink(told)
            os.write(master, line.encode() + b"\t\x14")
            self.wait_until(lambda: os.path.exists(told) and os.path.getsize(told) > 0, shell)
            with open(told) as file:
                return file.read()
        try:
            self.assertEqual(complete("yardstick gat"), "{yardstick gate }\n")
            self.assertEqual(complete("yardstick mine"), "{yardstick mine.ys }\n")
            self.assertEqual(complete("yardstick recommend --wi"), "{yardstick recommend --wish=}\n")
            self.assertEqual(complete("yardstick gate last --format=jso"), "{yardstick gate last --format=json }\n")
            self.assertEqual(complete("yardstick run --framework=builti"), "{yardstick run --framework=builtin }\n")
            self.assertEqual(complete("yardstick mine.ys --mode=inf"), "{yardstick mine.ys --mode=infer }\n")
            self.assertEqual(complete("yardstick mine.ys --thr"), "{yardstick mine.ys --threads=}\n")
            self.assertEqual(complete("yardstick list fram"), "{yardstick list frameworks }\n")
            self.assertEqual(complete("yardstick show las"), "{yardstick show last }\n")
            self.assertEqual(complete("yardstick run --model=mlp,lene"), "{yardstick run --model=mlp,lenet }\n")
        finally:
            shell.kill()
            shell.wait()
            os.close(master)

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
