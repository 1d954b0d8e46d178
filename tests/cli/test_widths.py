"""What is printed for people keeps to the terminal: 80 columns where there is none, as many as it has where there is one."""
import fcntl
import glob
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios

from harness import NULL, PROGRAM, ROOT, Case, other_backend, tearDownModule  # noqa: F401
from test_doctor import unpack
from test_live import read_all

# What is pasted stays whole: a command, a path, one long word, a key of a job file, a link.
WHOLE = re.compile(r"^ *(run: .+|Repeat with .+|recipe: .+|from: .+|/.+: changed, left out, assumed|(removed|left over) .+|\S+|[a-z_.]+ = .+|; .+|\S*`[^`]+`\S*)$")
BUILTIN = ["--framework=builtin", *NULL[1:], "--repeat=1", "--anchor=off", "--audit=off"]


class Widths(Case):
    def too_wide(self, text, columns=80):
        return [line for line in text.splitlines() if len(line) > columns and not WHOLE.match(line)]

    def keeps(self, *arguments, code=0, **options):
        """Prints in 80 columns where there is no terminal; gives what it printed."""
        out, _ = self.yardstick(*arguments, code=code, **options)
        self.assertTrue(out.strip(), arguments)
        self.assertEqual(self.too_wide(out), [], arguments)
        self.assertEqual([line for line in out.splitlines() if line != line.rstrip()], [], arguments)
        return out

    def shown(self, columns, *arguments, code=0, **variables):
        """What a terminal of so many columns gets. `code` None: whatever comes of it."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        running = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=dict(self.environment(), NO_COLOR="1", **variables), stdin=subprocess.DEVNULL,
                                   stdout=slave, stderr=subprocess.DEVNULL)
        os.close(slave)
        said = read_all(master).decode().replace("\r\n", "\n")
        os.close(master)
        ended = running.wait()
        self.assertIn(code, (None, ended), arguments)
        return said

    def names(self, kind, member="name"):
        return [entry[member] for entry in json.loads(self.yardstick("list", kind, "--format=json")[0])[kind]]

    def test_lists(self):
        for kind, member in (("models", "name"), ("datasets", "name"), ("metrics", "name"), ("frameworks", "spec")):
            self.keeps("list", kind)
            names = self.names(kind, member)
            self.assertGreater(len(names), 5)
            for name in names:
                self.assertIn(name, self.keeps("list", kind, name))
        self.keeps("list", "keys")
        for key in json.loads(self.yardstick("list", "keys", "--format=json")[0]):
            self.keeps("list", "keys", key["name"])

    def test_what_a_recipe_says_at_length(self):
        self.write("toy.recipe", "name = toy\ntitle = toy\nadapter = toy.py\nversions = 1.0\npython = 3.11\nrequirements = toy.txt\n"
                                 "double = yes\nmodes = train infer\nopt.fast = bool: %s\nlimits = %s\n" %
                   ("go faster in every way that there is, " * 5, "no pixels but those of small images, " * 5))
        self.write("a-framework-whose-name-is-long.recipe", "name = a-framework-whose-name-is-long\nprogram = false\n")
        self.keeps("list", "frameworks", "--recipes=.")
        out = self.keeps("list", "frameworks", "toy", "--recipes=.")
        self.assertIn("opt.toy.fast = on|off", out)
        self.assertIn("no pixels but those of small images, no pixels", " ".join(out.split()))

    def test_a_check_of_an_adapter(self):
        out, _ = self.yardstick("list", "frameworks", "--check=null")
        self.assertEqual(self.too_wide(out), [])

    def test_doctor(self):
        self.keeps("doctor")
        for machine in glob.glob(os.path.join(ROOT, "tests", "fixtures", "machines", "*.machine")):
            with self.subTest(os.path.basename(machine)), tempfile.TemporaryDirectory() as root:
                unpack(machine, root)
                self.keeps("doctor", env={"YS_ROOT": root})

    def test_studies(self):
        self.yardstick("init", "study.ys")
        self.keeps("check", "study.ys")
        self.keeps("check", "--framework=null,builtin", *NULL[1:], "--repeat=100")
        shutil.copy(os.path.join(ROOT, "tests", "fixtures", "onnx", "keras.onnx"), self.folder)
        onnx = ["--framework=builtin", "--model=keras.onnx", "--data=synthetic", "--threads=1", "--batch=8", "--steps=4", "--block=2"]
        self.keeps("check", *onnx)
        self.keeps("import", "keras.onnx")
        self.keeps("verify", "--framework=builtin", *NULL[1:])
        for more in ([], [], ["--lr=0.01,0.02"]):
            self.yardstick("run", *BUILTIN, *more, "--quiet")
        for arguments in (["show"], ["show", "1"], ["show", "--verify"], ["show", "1", "--verify"], ["compare", "1", "2"], ["history"],
                          ["recommend", "--wish=fastest at accuracy >= 1 % within 100 GiB"], ["clean", "--dry-run"]):
            self.keeps(*arguments)
        self.keeps("recommend", "--wish=fastest at accuracy >= 101 %", code=3)
        self.keeps("gate", "1", "2", code=4)

    def test_hashes_are_whole(self):
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        hashes = re.findall(r"\b[0-9a-f]{64}\b", self.keeps("show", "--verify"))
        self.assertEqual(len(hashes), 2)

    def test_narrow_terminals(self):
        """What is read while measuring keeps to 60 and 40 columns; commands are whole, and tables go on below themselves."""
        self.yardstick("run", *BUILTIN, "--lr=0.01,0.02", "--quiet")
        shutil.copy(os.path.join(ROOT, "tests", "fixtures", "onnx", "keras.onnx"), self.folder)
        for columns in (60, 40):
            for arguments in (["show"], ["show", "--verify"], ["history"], ["compare", "1/0", "1/1"], ["doctor"], ["import", "keras.onnx"],
                              ["list", "metrics", "rate_per_s"], ["list", "models"], ["list", "frameworks"], ["list", "frameworks", "pytorch"],
                              ["list", "datasets"], ["check", *BUILTIN], ["verify", *BUILTIN], ["clean", "--dry-run"],
                              ["recommend", "--wish=fastest at accuracy >= 1 % within 100 GiB"]):
                with self.subTest(columns=columns, arguments=arguments):
                    out = self.shown(columns, *arguments)
                    self.assertEqual(self.too_wide(out, columns), [])
                    for line in out.splitlines():
                        self.assertEqual(line.count("`") % 2, 0, line)
            self.assertEqual(self.too_wide(self.shown(columns, "gate", "1", "1", code=4), columns), [], columns)

    def test_commands_are_not_broken(self):
        for columns in (40, 60, 80, 100):
            out = self.shown(columns, "doctor")
            self.assertIn("`yardstick doctor --noise 60s`", out)
            for line in out.splitlines():
                self.assertEqual(line.count("`") % 2, 0, line)

    def test_measurements_of_doctor(self):
        """Its own tables, made in as short a time as they can be; what they find is another test's."""
        own = ["--framework=null", "--model=mlp", "--steps=20", "--block=5", "--threads=1", "--opt.null.rate=2000"]
        cache = {"YARDSTICK_CACHE": os.path.join(self.folder, "cache")}
        peak = [["--peak", "--times=1"]] * (other_backend() == "onednn")  # whose products it measures
        for arguments in (["--self-test", "--times=1"], ["--noise", "1s", *own], ["--perturbation", "--times=1", *own], *peak):
            for columns in (80, 40):
                out = self.shown(columns, "doctor", *arguments, code=None, **cache)
                self.assertGreater(len(out.splitlines()), 1 if columns == 40 else 0)
                self.assertEqual(self.too_wide(out, columns), [], (columns, arguments))

    def test_wide_where_there_is_room(self):
        for arguments in (["list", "metrics", "rate_per_s"], ["list", "frameworks", "pytorch"], ["doctor"]):
            for columns in (80, 100, 160):
                self.assertEqual(self.too_wide(self.shown(columns, *arguments), columns), [], (columns, arguments))
        for arguments in (["list", "metrics", "rate_per_s"], ["doctor"]):
            self.assertGreater(max(map(len, self.shown(160, *arguments).splitlines())), 80, arguments)
