"""tools/run_tests.py: which tests it runs, in which order, and what it says of their times."""
import contextlib
import glob
import importlib.util
import io
import os
import re
import sys
import tempfile
import time
import unittest
from unittest import mock

PATH = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools", "run_tests.py")
sys.path.insert(0, os.path.dirname(PATH))
SPEC = importlib.util.spec_from_file_location("run_tests", PATH)
run_tests = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run_tests)


def fake(name, suites, command):
    return {"name": name, "suite": ["yardstick:" + suite for suite in suites], "cmd": ["sh", "-c", command], "env": {}, "workdir": None,
            "timeout": 60, "priority": 0, "is_parallel": True}


TESTS = [fake("quick", ["a"], "echo ok 1 - quick"), fake("long", ["a"], "sleep 0.3; echo ok 1 - long"),
         fake("slow", ["b", "slow"], "echo ok 1 - slow"), fake("framework", ["c", "frameworks"], "echo ok 1 - framework"),
         fake("export", ["exports"], "echo ok 1 - export"), fake("large", ["memory"], "echo ok 1 - large")]


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name

    def run_them(self, *arguments, tests=TESTS, code=0, verbose=True):
        out, self.err = io.StringIO(), io.StringIO()
        command = ["run_tests.py", self.build, "--jobs", "1"] + ["--verbose"] * verbose + list(arguments)
        with mock.patch.object(run_tests, "list_tests", lambda build: list(tests)), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(self.err), mock.patch.dict(os.environ), mock.patch("sys.argv", command):
            self.assertEqual(run_tests.main(), code)
        return out.getvalue()

    def test_a_program_that_was_not_built_is_a_failure_that_says_so(self):
        lacking = dict(fake("lacking", ["a"], ""), cmd=[os.path.join(self.build, "tests", "lacking")])
        out = self.run_them(tests=[lacking], code=1)
        self.assertIn("FAIL lacking: the program ended with nothing", out)
        self.assertIn("tests/lacking is not there: `ninja -C BUILD` builds the tests", out)

    def test_what_outlives_a_program_that_took_too_long_holds_nothing_up(self):
        late = dict(fake("late", ["a"], "echo ok 1 - begun; sleep 60 & sleep 60"), timeout=1)
        started = time.monotonic()
        with mock.patch.object(run_tests, "LEFT_OPEN_S", 1):
            out = self.run_them(tests=[late], code=1)
        self.assertLess(time.monotonic() - started, 55, "it waited for what the program left")
        self.assertIn("ok   late: begun", out)
        self.assertIn("FAIL late: the program ended with timeout", out)

    def ran(self, *arguments):
        return re.findall(r"^ok   (\w+):", self.run_them(*arguments), flags=re.M)

    def test_four_suites_are_left_out_unless_they_are_asked_for(self):
        self.assertEqual(sorted(self.ran()), ["long", "quick"])
        self.assertEqual(self.ran("--suite", "slow"), ["slow"])
        self.assertEqual(self.ran("--suite", "b"), ["slow"])
        self.assertEqual(self.ran("--suite", "frameworks"), ["framework"])
        self.assertEqual(self.ran("--suite", "c"), ["framework"])
        self.assertEqual(self.ran("--suite", "exports"), ["export"])
        self.assertEqual(self.ran("--suite", "memory"), ["large"])
        self.assertEqual(sorted(self.ran("--all")), ["framework", "long", "quick", "slow"])

    def test_thirds_are_by_name_and_each_program_is_in_one(self):
        self.assertEqual([sorted(self.ran("--all", "--third", third)) for third in ("0", "1", "2")], [["framework", "slow"], ["long"], ["quick"]])
        self.assertEqual(sorted(self.ran("--all", "--third", "2,0")), ["framework", "quick", "slow"])
        for wrong in ("3", "0,0", "", "one"):
            with self.subTest(wrong), self.assertRaises(SystemExit):
                self.run_them("--third", wrong)

    def test_no_program_of_the_tests_is_forgotten(self):
        root = os.environ["YS_SOURCE_ROOT"]
        told = ""
        for path in glob.glob(os.path.join(root, "tests", "**", "meson.build"), recursive=True):
            with open(path, encoding="utf-8") as file:
                told += file.read()
        names = [os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(root, "tests", "**", "test_*"), recursive=True)]
        self.assertGreater(len(names), 200)
        self.assertEqual([name for name in names if not {"'%s'" % name, "'%s'" % name[len("test_"):]} & set(re.findall(r"'\w+'", told)) and
                          name + ".py" not in told], [])

    def test_programs_are_named_one_by_one_beside_suites(self):
        self.assertEqual(self.ran("--test", "quick"), ["quick"])
        self.assertEqual(sorted(self.ran("--test", "large", "--suite", "b", "--test", "long")), ["large", "long", "slow"])
        with self.assertRaisesRegex(SystemExit, "there is no test nonsuch: `meson test -C .* --list` lists them"):
            self.ran("--test", "nonsuch", "--test", "quick")

    def test_what_is_in_a_suite_can_be_left_out(self):
        self.assertEqual(self.ran("--all", "--except", "slow", "--except", "a"), ["framework"])

    def test_named_frameworks_leave_out_the_tests_of_others(self):
        named = [fake("one", ["frameworks", "of-one"], "echo ok 1 - one"), fake("two", ["frameworks", "of-two@2"], "echo ok 1 - two"),
                 fake("any", ["frameworks"], "echo ok 1 - any")]

        def ran(*arguments):
            with mock.patch.object(run_tests, "prepare_checks", lambda build, names: []):
                return sorted(re.findall(r"^ok   (\w+):", self.run_them(*arguments, tests=named), flags=re.M))

        self.assertEqual(ran("--frameworks"), ["any", "one", "two"])
        self.assertEqual(ran("--frameworks", "one"), ["any", "one"])
        self.assertEqual(ran("--frameworks", "two@2"), ["any", "two"])
        self.assertEqual(ran("--frameworks", "one", "--quick", "two@2"), ["any", "one", "two"])
        self.assertEqual(ran("--quick", "two@2"), ["two"])

    def test_what_asks_which_frameworks_are_whole_is_told(self):
        asks = [fake("asks", ["frameworks"], "echo ok 1 - of $FRAMEWORKS")]
        with mock.patch.object(run_tests, "prepare_checks", lambda build, names: []):
            self.assertIn("ok   asks: of one three\n", self.run_them("--frameworks", "one", "three", "--quick", "two", tests=asks))

    def test_checks_are_whole_or_quick(self):
        """With a program that says with how many words it was called."""
        program = os.path.join(self.build, "program")
        with open(program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "{\\"cases\\": [], \\"passed\\": $#, \\"failed\\": 0, \\"unsupported\\": 0, \\"version\\": null}"\n')
        os.chmod(program, 0o755)
        entries = {"one": {"name": "one", "state": "ready"}, "two": {"name": "two", "state": "ready"},
                   "gone": {"name": "gone", "state": "missing", "reason": "it is not installed", "command": "yardstick install gone"}}

        with mock.patch.object(run_tests, "prepare_checks", lambda build, names: [(program, None, entries[name]) for name in names]):
            out = self.run_them("--frameworks", "one", "gone", "--quick", "two", tests=[fake("any", ["frameworks"], "echo ok 1 - any")])
        self.assertIn("\ncheck one: 4 passed, 0 failed, 0 unsupported\n", out)
        self.assertIn("\nquick check two: 5 passed, 0 failed, 0 unsupported\n", out)
        self.assertIn("\nskip 1 case: it is not installed; run: yardstick install gone (check of gone)\n", out)
        self.assertTrue(out.endswith("10 passed, 0 failed, 1 skipped\n"))

    SKIPS = [fake("p%d" % i, ["a"], "echo 'ok 1 - case # SKIP no bf16 here'; echo 'ok 2 - other # SKIP no bf16 here'") for i in range(7)] + \
        [fake("whole", ["a"], "echo '1..0 # SKIP no network'")]

    def test_what_was_skipped_is_summed_up_by_reason(self):
        out = self.run_them(tests=self.SKIPS, verbose=False)
        self.assertEqual(out, "skip 14 cases: no bf16 here (p0, p1, p2, p3, 3 more programs)\nskip 1 case: no network (whole)\n"
                         "0 passed, 0 failed, 15 skipped\n")
        self.assertIn("skip p3: other (no bf16 here)\n", self.run_them(tests=self.SKIPS))

    def test_rows_of_a_table_stand_together(self):
        tests = [fake(name, ["a"], "echo '# | %s | 1 |'; echo '# | %s | 1 |'; echo '# no row'; echo 'ok 1 - case'" % (name, name)) for name in "ba"]
        self.assertIn("| a | 1 |\n| b | 1 |\n2 passed", self.run_them(tests=tests, verbose=False))

    def test_how_far_it_is_stands_on_stderr(self):
        with mock.patch.object(run_tests, "SAID_EVERY_S", 0.01):
            self.run_them()
            self.assertRegex(self.err.getvalue(), r"(?m)^[01] of 2 programs$")
            self.run_them()
            self.assertRegex(self.err.getvalue(), r"(?m)^[01] of 2 programs, about \d+ s left$")

    def test_what_took_longest_starts_first(self):
        self.ran("--all")
        seconds = run_tests.read_seconds(self.build)
        self.assertGreaterEqual(seconds["long"], 0.3)
        known = dict.fromkeys(seconds, 0.2) | {"long": 0.3}  # on a busy machine another may have taken longer
        run_tests.write_seconds(self.build, known)
        self.assertEqual(self.ran("--all")[0], "long")
        run_tests.write_seconds(self.build, known)
        new = [fake("new", ["a"], "echo ok 1 - new")]  # nobody knows how long it takes
        self.assertEqual(re.findall(r"^ok   (\w+):", self.run_them(tests=TESTS + new), flags=re.M)[:2], ["new", "long"])

    def test_what_is_of_one_core_gets_one_and_the_others_all(self):
        command = "echo ok 1 - $(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)"
        some = [fake("cores%d" % i, ["a"] + ["one-core"] * (i % 2), command) for i in range(6)]
        counted = dict(re.findall(r"^ok   (\w+): (\d+)$", self.run_them("--jobs", "2", tests=some), flags=re.M))
        cores = str(len(os.sched_getaffinity(0)))
        self.assertEqual(counted, {"cores%d" % i: "1" if i % 2 else cores for i in range(6)})

    def test_the_slowest_are_listed(self):
        out = self.run_them("--slowest", "1")
        self.assertRegex(out, r"\n +\d+\.\d\d s  long\n +\d+\.\d\d s  all of them together\n2 passed, 0 failed, 0 skipped\n$")

    def test_a_failure_is_a_failure(self):
        out = self.run_them(tests=TESTS + [fake("bad", ["a"], "echo not ok 1 - bad")], code=1)
        self.assertIn("2 passed, 1 failed, 0 skipped", out)
