"""Installing frameworks, with a Python that only pretends: nothing is downloaded, and it takes as long as a test wants."""
import json
import os
import signal
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

# Stands for python3.11, and for the interpreter of an environment that it made. Waits in `venv` while the file `hold` is
# there, and notes that it has come so far; `refuse` makes pip fail.
PYTHON = """#!/bin/sh
here=%(folder)s
case "$1 $2" in
"-c "*) echo 3.11 ;;
"-m venv")
    echo "$$" >> $here/made
    while [ -e $here/hold ]; do sleep 0.02; done
    mkdir -p "$4/bin" && cp $here/bin/python3.11 "$4/bin/python" ;;
"-m pip")
    [ -e $here/refuse ] && { echo "ERROR: No matching distribution found for toy==1.0"; exit 1; }
    mkdir -p $(dirname "$0")/../lib && echo "$$" >> $(dirname "$0")/../lib/toy.py ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""
RECIPE = "name = toy\ntitle = Toy\nadapter = toy.py\nversions = 1.0\npython = 3.11\nrequirements = toy-{version}-py{python}.txt\n"


class Install(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "bin"))
        self.program("python3.11", PYTHON % {"folder": self.folder})
        self.program("uv", "#!/bin/sh\nexit 1\n")
        self.write("toy.recipe", RECIPE)
        self.write("toy-1.0-py3.11.txt", "toy==1.0\n")
        self.write("toy.py", "")
        self.cache = os.path.join(self.folder, "cache")
        self.env = {"PATH": os.path.join(self.folder, "bin") + ":/usr/bin:/bin", "YARDSTICK_CACHE": self.cache}

    def program(self, name, text):
        os.chmod(self.write(os.path.join("bin", name), text), 0o755)

    def install(self, code=0, **options):
        return self.yardstick("install", "toy", "--recipes=.", code=code, env=self.env, **options)

    def row(self):
        out, _ = self.yardstick("list", "frameworks", "toy", "--recipes=.", "--format=json", env=self.env)
        return json.loads(out)["frameworks"][0]

    def made(self):
        """How often an environment was begun."""
        path = os.path.join(self.folder, "made")
        if not os.path.exists(path):
            return 0
        with open(path) as file:
            return len(file.readlines())

    def begun(self):
        """An installation that goes no further until `hold` is removed."""
        self.write("hold", "")
        process = self.start("install", "toy", "--recipes=.", env=self.env)
        before = self.made()
        self.wait_until(lambda: self.made() > before, process)
        return process

    def test_what_is_installed_is_ready_and_installed_once(self):
        self.assertEqual(self.row()["reason"], "it is not installed")
        self.install()
        row = self.row()
        self.assertEqual((row["state"], row["reason"]), ("ready", None))
        _, err = self.install()
        self.assertIn("is installed", err)
        self.assertEqual(self.made(), 1)
        self.yardstick("uninstall", "toy", "--recipes=.", env=self.env)
        self.assertEqual(self.row()["state"], "missing")

    def test_a_framework_without_a_recipe(self):
        self.refusal("install", "toi", "--recipes=.", env=self.env, words=["toi", "toy"])
        self.refusal("install", "toy@7", "--recipes=.", env=self.env, words=["7", "1.0"])
        self.refusal("install", words=["yardstick list frameworks"])

    def test_requirements_that_cannot_be_had_are_exit_1_and_the_reason_is_kept(self):
        self.write("refuse", "")
        message = self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["toy", "No matching distribution"])
        row = self.row()
        self.assertEqual((row["state"], row["command"]), ("missing", "yardstick install toy"))
        self.assertIn(message.split(": ", 1)[1], row["reason"])
        out, _ = self.yardstick("run", "--recipes=.", "--framework=toy", *NULL[1:], "--repeat=1", "--format=json", code=6, env=self.env)
        trial = json.loads(out)["trials"][0]
        self.assertEqual(trial["status"], "missing")
        self.assertIn("No matching distribution", trial["reason"])
        os.unlink(os.path.join(self.folder, "refuse"))
        self.install()
        self.assertEqual(self.row()["state"], "ready")

    def test_requirements_that_are_not_pinned_are_unsupported(self):
        os.unlink(os.path.join(self.folder, "toy-1.0-py3.11.txt"))
        self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["toy", "Python 3.11", "toy-1.0-py3.11.txt"])
        self.assertEqual(self.row()["state"], "unsupported")

    def test_a_python_that_is_not_there_is_unsupported_and_no_failure(self):
        self.write("toy.recipe", RECIPE.replace("3.11", "3.99"))
        self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["toy", "Python 3.99"])
        row = self.row()
        self.assertEqual(row["state"], "unsupported")
        self.assertIn("Python 3.99", row["reason"])
        out, _ = self.yardstick("run", "--recipes=.", "--framework=null,toy", *NULL[1:], "--repeat=1", "--format=json", env=self.env)
        statuses = {t["factors"]["framework"]: t["status"] for t in json.loads(out)["trials"]}
        self.assertEqual(statuses, {"null": "ok", "toy": "unsupported"})

    def test_two_installations_at_once(self):
        first = self.begun()
        self.refusal("install", "toy", "--recipes=.", env=self.env, words=[str(first.pid), "toy@1.0"])
        self.refusal("uninstall", "toy", "--recipes=.", env=self.env, words=[str(first.pid), "toy@1.0"])
        self.assertEqual(self.row()["reason"], "process %d is installing it" % first.pid)
        os.unlink(os.path.join(self.folder, "hold"))
        _, err = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 0, err)
        self.assertEqual((self.row()["state"], self.made()), ("ready", 1))

    def test_ctrl_c_leaves_it_interrupted_and_repeatable(self):
        process = self.begun()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()
        row = self.row()
        self.assertEqual((row["state"], row["reason"]), ("missing", "its installation was interrupted"))
        os.unlink(os.path.join(self.folder, "hold"))
        self.install()
        self.assertEqual(self.row()["state"], "ready")

    def test_kill_9_leaves_it_interrupted_and_repeatable(self):
        process = self.begun()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertEqual(self.row()["reason"], "its installation was interrupted")
        os.unlink(os.path.join(self.folder, "hold"))
        self.install()
        self.assertEqual(self.row()["state"], "ready")


if __name__ == "__main__":
    unittest.main()
