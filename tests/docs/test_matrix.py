"""tools/matrix.py: its surroundings are what they are called, and what the tests count in them is added up. Of a checkout that is small."""
import contextlib
import importlib.util
import io
import json
import os
import pwd
import shutil
import sys
import tempfile
import unittest
from unittest import mock

PATH = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools", "matrix.py")
sys.path.insert(0, os.path.dirname(PATH))
SPEC = importlib.util.spec_from_file_location("matrix", PATH)
matrix = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(matrix)

# Stands for run_tests.py, and says where it was.
TESTS = """import os, sys
print("skip some: a reason")
print("FAIL one: %s" % " ".join(sys.argv[2:]))
print("     # at %s" % os.getcwd())
print("ok   two: fine")
print("3 passed, 1 failed, 2 skipped")
sys.exit(1)
"""
INTERFACE_UP = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())"
OTHERS = "import socket; print([name for _, name in socket.if_nameindex() if name != 'lo'])"


class Matrix(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="ys-matrix-")
        self.addCleanup(shutil.rmtree, self.root, True)
        os.chmod(self.root, 0o755)
        self.build = os.path.join(self.root, "build")
        for folder in ("tools", "build/meson-info", "build/meson-private", "build/other/meson-private", "build/a.p", ".git"):
            os.makedirs(os.path.join(self.root, folder))
        for name, text in (("tools/run_tests.py", TESTS), ("build/made", "made\n"), ("build/liba.a", ""), ("build/a.p/a.o", ""),
                           ("build/meson-info/intro-tests.json", json.dumps([{"cmd": ["/bin/sh", self.build]}, {"cmd": ["/nowhere/sh"]}]))):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
                file.write(text)
        patch = mock.patch.object(matrix, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)

    @contextlib.contextmanager
    def place(self, name):
        row, = [row for row in matrix.ROWS if row.name == name]
        with contextlib.ExitStack() as made:
            try:
                place = row.make(self.build, made)
            except matrix.Skip as reason:
                self.skipTest(str(reason))
            yield place

    def said(self, name, *command):
        with self.place(name) as place:
            return place.output(command)

    def test_what_can_be_set_is(self):
        self.assertEqual(self.said("isa-avx2", "sh", "-c", "echo $ONEDNN_MAX_CPU_ISA"), "AVX2")
        self.assertEqual(self.said("one-cpu", "env", "-u", "OMP_NUM_THREADS", "-u", "OMP_THREAD_LIMIT", "nproc"), "1")
        self.assertEqual(self.said("umask", "sh", "-c", "umask"), "0077")
        self.assertEqual(self.said("home-unset", "sh", "-c", "echo ${HOME-none}${XDG_CACHE_HOME-none}"), "nonenone")
        self.assertEqual(self.said("home-locked", "sh", "-c", "mkdir \"$HOME/x\" 2>/dev/null || echo refused"), "refused")

    def test_a_locale_has_a_comma_and_one_that_did_not_take_is_a_failure(self):
        self.assertEqual(self.said("locale", "python3", "-c", matrix.SAY_DECIMAL_POINT), ",")
        with mock.patch.object(matrix.Place, "output", lambda place, command: "."):
            self.assertRaisesRegex(matrix.Broken, "did not take: the decimal point is \\.", matrix.with_comma, self.build, mock.Mock())

    def test_a_network_of_its_own_has_loopback_alone(self):
        self.assertEqual(self.said("no-network", "python3", "-c", INTERFACE_UP + "; " + OTHERS), "[]")
        with self.place("no-loopback") as place:
            self.assertRaisesRegex(matrix.Broken, "unreachable", place.output, ["python3", "-c", INTERFACE_UP])

    def check_copy(self, place):
        self.assertNotEqual(place.root, self.root)
        self.assertEqual(place.output(["pwd"]), os.path.realpath(place.root))
        self.assertEqual(sorted(os.listdir(place.root)), ["build", "tools"])
        self.assertEqual(sorted(os.listdir(place.build)), ["made", "meson-info", "meson-private"])
        with open(os.path.join(place.build, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
            return [test["cmd"] for test in json.load(file)]

    def test_an_ordinary_user_owns_what_he_tests(self):
        with self.place("user") as place:
            self.assertEqual(place.output(["id", "-u"]), str(pwd.getpwnam("nobody").pw_uid))
            place.output(["sh", "-c", "echo more >> build/made && touch new && rm new && touch \"$HOME/new\""])
            self.assertEqual(self.check_copy(place), [["/bin/sh", place.build], [shutil.which("sh")]])

    def test_blanks_are_in_every_path(self):
        with self.place("blank") as place:
            self.assertEqual(self.check_copy(place), [["/bin/sh", place.build], ["/nowhere/sh"]])
            for path in (place.root, place.build, place.output(["sh", "-c", 'cd "$TMPDIR" && touch new && pwd'])):
                self.assertIn(" ", path)
        self.assertFalse(os.path.exists(os.path.dirname(place.root)))

    def check_another(self, name, start, set_besides, make, lacks):
        folder = os.path.join(self.build, name)
        shutil.copytree(os.path.join(self.build, "meson-info"), os.path.join(folder, "build", "meson-info"))
        os.mkdir(os.path.join(folder, "root"))  # as if fetched before
        for _ in range(2):  # a build that is there already has them changed
            with mock.patch.object(matrix.Place, "output") as output, self.place(name) as place:
                pass
            with open(os.path.join(place.build, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
                commands = [test["cmd"] for test in json.load(file)]
            self.assertEqual([(command[:len(start)], command[len(start) + set_besides:]) for command in commands],
                             [(start, ["/bin/sh", self.build]), (start, ["/nowhere/sh"])])
            self.assertIn("engine-tests", output.call_args.args[0])
        with mock.patch.object(matrix.Place, "output", side_effect=matrix.Broken("run: apt-get install")):
            self.assertRaisesRegex(matrix.Skip, lacks + ": run: apt-get install", make, self.build, mock.Mock())

    def test_programs_of_another_processor_are_started_by_the_emulator(self):
        self.check_another(matrix.AARCH64, list(matrix.EMULATOR), 2, matrix.on_aarch64, "no compiler for aarch64 and no emulator of it")

    def test_modules_of_webassembly_are_started_by_node(self):
        self.check_another(matrix.WASM, matrix.NODE, 0, matrix.on_wasm, "no compiler for WebAssembly")

    def run_rows(self, *arguments, code):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch("sys.argv", ["matrix.py", self.build, *arguments]):
            self.assertEqual(matrix.main(), code)
        return out.getvalue()

    def test_counts_are_added_up_and_failures_shown(self):
        out = self.run_rows("--row=umask", "--row=isa-sse41", "--quick", code=1)
        told = "\n".join(["FAIL one: %s", "     # at " + self.root, r"row %s 3 passed, 1 failed, 2 skipped", ""])
        rows = [row for row in matrix.ROWS if row.name in ("umask", "isa-sse41")]
        self.assertRegex(out, "^%s6 passed, 2 failed, 4 skipped\n$" % "".join(told % (" ".join(row.quick), row.name.ljust(11)) for row in rows))
        self.assertIn("FAIL one: \n", self.run_rows("--row=umask", code=1))

    def test_what_cannot_be_made_is_skipped_and_what_prints_no_counts_has_failed(self):
        with mock.patch.object(matrix.shutil, "which", lambda name: None):
            self.assertRegex(self.run_rows("--row=locale", code=0), r"row locale .*: no localedef .*\n0 passed, 0 failed, 1 skipped\n$")
        with open(os.path.join(self.root, "tools", "run_tests.py"), "w", encoding="utf-8") as file:
            file.write("raise SystemExit('nothing')\n")
        self.assertRegex(self.run_rows("--row=umask", code=1), r": run_tests.py ended with 1 and printed no counts\n0 passed, 1 failed, 0 skipped\n$")


if __name__ == "__main__":
    unittest.main()
