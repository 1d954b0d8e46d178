"""tools/changed.py: which slower checks a change asks for."""
import importlib.util
import os
import subprocess
import unittest

ROOT = os.environ["YS_SOURCE_ROOT"]
SPEC = importlib.util.spec_from_file_location("changed", os.path.join(ROOT, "tools", "changed.py"))
changed = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(changed)


class Changed(unittest.TestCase):
    def setUp(self):
        self.table = changed.read_table()

    def test_the_longest_prefix_decides(self):
        table = {"a/": ["x"], "a/b": ["y", "z"], "a/b/none": []}
        self.assertEqual([changed.groups_of(path, table) for path in ("a/c", "a/bc", "a/b/none/d")], [["x"], ["y", "z"], []])

    def test_what_nobody_knows_asks_for_all(self):
        self.assertEqual(changed.groups_of("new/file", self.table), ["adversaries", "faults", "jax", "matrix", "mutants", "proofs", "slow", "tensorflow"])

    def test_each_line_fits_a_file_and_each_room_has_one(self):
        files = [os.path.relpath(os.path.join(folder, name), ROOT) for top in os.listdir(ROOT) if not top.startswith(("build", ".git"))
                 for folder, _, names in os.walk(os.path.join(ROOT, top)) for name in names]
        files += [name for name in os.listdir(ROOT) if os.path.isfile(os.path.join(ROOT, name))]
        for prefix in self.table:
            with self.subTest(prefix):
                self.assertTrue(any(path.startswith(prefix) for path in files))
        for room in os.listdir(os.path.join(ROOT, "src")):
            with self.subTest(room):
                self.assertTrue(any(("src/%s/" % room).startswith(prefix) for prefix in self.table))

    def test_groups_are_those_that_the_checks_ask_for(self):
        with open(os.path.join(ROOT, ".ci", "run"), encoding="utf-8") as file:
            text = file.read()
        for group in changed.groups_of("new/file", self.table):
            self.assertIn("\nrest %s " % group, text)

    def test_files_of_a_folder(self):
        command = [os.path.join(ROOT, "tools", "changed.py"), "--under", "src/stat/", "no-such-commit"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertIn("src/stat/compare.c", done.stdout.split())
        self.assertTrue(all(path.startswith("src/stat/") for path in done.stdout.split()))

    def test_a_base_that_is_no_commit_asks_for_all(self):
        done = subprocess.run([os.path.join(ROOT, "tools", "changed.py"), "no-such-commit"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["adversaries", "faults", "jax", "matrix", "mutants", "proofs", "slow", "tensorflow"])


if __name__ == "__main__":
    unittest.main()
