"""Environments that are broken, in each way that happens, and work that they cannot take: each ends in its status with a
sentence that says why, and the study goes on. The environment is made by hand and holds a framework of one file."""
import fcntl
import hashlib
import json
import os
import signal
import sys
import sysconfig
import unittest

from harness import CACHE, NULL, RECIPES, ROOT, Case, tearDownModule  # noqa: F401

RECIPE = """name = stub
title = Stub
adapter = stub.py
versions = 1.0
python = %d.%d
requirements = stub.txt
no_work = yes
opt.appetite = text: bytes that build asks for
opt.threads = number: threads that it takes, whatever it is told
opt.lies = bool: it says that it takes those it was told to
""" % sys.version_info[:2]

FRAMEWORK = """
version = "1.0"
"""

# Every step takes the learning rate off every weight.
ADAPTER = """
import sys
import threading
import time
sys.path.insert(0, %r)
import common
with common.importing("Stub"):
    import stubframework

class Stub(common.Adapter):
    name, framework, version = "stub", "Stub", stubframework.version
    ops = ("normalize", "Flatten", "Gemm", "Relu")
    options = {"appetite": "0", "threads": 0, "lies": False}

    def build(self, plan):
        self.memory = bytearray(int(self.option("appetite")))
        self.reset()
        count = int(self.option("threads"))
        for _ in range(1, count):
            threading.Thread(target=self.spin, daemon=True).start()
        said = plan.threads if self.option("lies") or not count else count
        return {"parameters": 1, "threads": said, "libraries": [], "deviations": []}

    def spin(self):
        while True:
            pass

    def reset(self):
        self.now = {name: value.copy() for name, value in self.plan.weights.items()}

    def train_step(self, x, y, lr):
        for value in self.now.values():
            value -= lr
        return 0.5

    def losses(self, handles):
        time.sleep(0.2)
        return handles

    def weights(self):
        return self.now

if __name__ == "__main__":
    common.serve(Stub())
""" % os.path.join(ROOT, "adapters")


def numpy_folder():
    """Where NumPy lies, for the environment to see it too."""
    try:
        import numpy
    except ImportError:
        raise unittest.SkipTest("NumPy is not installed")
    return os.path.dirname(os.path.dirname(numpy.__file__))


class Environments(Case):
    @classmethod
    def setUpClass(cls):
        cls.numpy = numpy_folder()

    def setUp(self):
        super().setUp()
        self.cache = os.path.join(self.folder, "cache")
        self.home = os.path.join(self.cache, "envs", "stub@1.0")
        self.python = os.path.join(self.home, "env", "bin", "python")
        self.site = os.path.join(self.home, "env", "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
        self.write("stub.recipe", RECIPE)
        self.write("stub.txt", "stubframework==1.0\n")
        self.write("stub.py", ADAPTER)
        os.makedirs(self.site)
        os.makedirs(os.path.dirname(self.python))
        interpreter = os.path.realpath(sys.executable)
        os.symlink(interpreter, self.python)
        self.write(os.path.join(self.home, "env", "pyvenv.cfg"), "home = %s\n" % os.path.dirname(interpreter))
        self.write(os.path.join(self.site, "numpy.pth"), self.numpy + "\n")
        self.write(os.path.join(self.site, "stubframework.py"), FRAMEWORK)
        self.note(python_path=interpreter)
        self.env = {"YARDSTICK_CACHE": self.cache, "PYTHONDONTWRITEBYTECODE": ""}

    def note(self, **more):
        with open(os.path.join(self.folder, "stub.txt"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        note = {"python_version": "%d.%d" % sys.version_info[:2], "requirements": digest, "size_bytes": 1}
        self.write(os.path.join(self.home, "installed.json"), json.dumps(dict(note, **more)))

    def note_files(self):
        """Puts the files on record, as `install` does: a line each, sorted by path, with size and time or target."""
        lines, top = [], os.path.join(self.home, "env")
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name != "__pycache__" and os.path.join(folder, name) != top + "/cache"]
            for name in names:
                path = os.path.join(folder, name)
                shown = os.path.relpath(path, top)
                state = os.lstat(path)
                link = os.path.islink(path)
                lines.append((shown.encode(), "-> %s %s\n" % (os.readlink(path), shown) if link else
                              "%d %d %s\n" % (state.st_size, state.st_mtime_ns, shown)))
        text = "".join(line for _, line in sorted(lines)).encode()
        self.write(os.path.join(self.home, "installed.files"), text)
        self.note(python_path=os.path.realpath(sys.executable), fingerprint=hashlib.sha256(text).hexdigest())

    def row(self):
        out, _ = self.yardstick("list", "frameworks", "stub", "--recipes=.", "--format=json", env=self.env)
        return json.loads(out)["frameworks"][0]

    def study(self, status, *flags, code, model="mlp", env=()):
        """Runs the stub and the adapter that does nothing; the stub's trial, and what was said."""
        arguments = ["run", "--recipes=.", "--framework=null,stub", "--model=" + model] + NULL[2:] + ["--repeat=1"]
        result, err = self.result(*arguments, *flags, code=code, env=dict(self.env, **dict(env)))
        trials = {trial["factors"]["framework"]: trial for trial in result["trials"]}
        self.assertEqual(trials["stub"]["status"], status, err)
        self.assertEqual(trials["null"]["status"], "ok")
        self.assert_nothing_left()
        return trials["stub"], err

    def reason(self, *arguments, **options):
        trial, _ = self.study(*arguments, **options)
        self.assertNotIn("\n", trial["reason"])
        return trial["reason"]

    def test_one_that_is_whole_runs_whatever_the_caller_has_set(self):
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        for module in ("numpy", "stubframework"):
            self.write(os.path.join("elsewhere", module + ".py"), "raise RuntimeError('this is the module of the caller')\n")
        caller = {"PYTHONPATH": elsewhere, "PYTHONUSERBASE": elsewhere, "PYTHONHOME": elsewhere, "PYTHONSAFEPATH": "1",
                  "PYTHONWARNINGS": "error", "VIRTUAL_ENV": elsewhere, "CONDA_PREFIX": elsewhere}
        self.study("ok", code=0, env=caller)

    def test_one_that_ran_is_as_it_was_installed(self):
        self.note_files()
        trial, err = self.study("ok", code=0)
        self.assertTrue(os.path.isdir(os.path.join(self.site, "__pycache__")))  # what Python keeps of what it compiled
        self.assertNotIn("as it was installed", err)
        self.assertEqual(self.row()["changed"], None)
        fingerprint = trial["framework"]["fingerprint"]
        self.assertEqual(self.study("ok", code=0)[0]["framework"]["fingerprint"], fingerprint)

    def test_one_whose_files_changed_runs_and_says_so(self):
        self.note_files()
        self.write(os.path.join(self.site, "stubframework.py"), FRAMEWORK + "changed = True\n")
        trial, err = self.study("ok", code=0)
        sentence = "1 file of stub@1.0 is not as it was installed (%s changed)" % os.path.relpath(
            os.path.join(self.site, "stubframework.py"), os.path.join(self.home, "env"))
        self.assertIn("warning: " + sentence + ": `yardstick install --repair stub@1.0` makes it anew", err)
        self.assertEqual(err.count(sentence), 1, err)
        self.assertEqual(trial["framework"]["changes"], sentence)

    def test_one_that_was_edited_is_proven_anew(self):
        """`lr * 0.5` in the framework's own optimizer: the proof that it passed before is not this one's."""
        optimizer = os.path.join(self.site, "stubframework.py")
        self.write("stub.py", "import sys\nsys.path.insert(0, %r)\nimport plain\nimport stubframework\n" % os.path.join(ROOT, "tests", "adapters") + """
class Edited(plain.Plain):
    def train_step(self, x, y, lr):
        return super().train_step(x, y, stubframework.rate(lr))

plain.common.serve(Edited())
""")
        self.write("stub.recipe", RECIPE.replace("no_work = yes", "double = yes", 1))
        self.write(optimizer, "version = '1.0'\n\ndef rate(lr):\n    return lr\n")
        self.note_files()
        flags = ("verify", "--recipes=.", "--framework=stub", "--model=mlp", "--data=digits", "--threads=1", "--batch=8",
                 "--steps=20", "--format=json")

        def prove(code):
            out, err = self.yardstick(*flags, env=self.env, code=code)
            proof = json.loads(out)[0]["proof"]
            return proof["verdict"], proof["cached"], err

        self.assertEqual(prove(0)[:2], ("pass", False))
        self.assertEqual(prove(0)[:2], ("pass", True))
        self.write(optimizer, "version = '1.0'\n\ndef rate(lr):\n    return lr * 0.5\n")
        verdict, cached, err = prove(5)
        self.assertEqual((verdict, cached), ("fail", False))
        self.assertIn("is not as it was installed", err)

    def test_one_that_lost_files_is_missing(self):
        self.note_files()
        os.unlink(os.path.join(self.site, "stubframework.py"))
        trial, _ = self.study("missing", code=0)
        self.assertIn("stubframework.py is missing", trial["reason"])
        self.assertEqual(trial["command"], "yardstick install --repair stub@1.0")
        self.yardstick("list", "frameworks", "--check=stub", "--recipes=.", env=self.env, code=6)
        self.yardstick("verify", "--recipes=.", "--framework=stub", "--model=mlp", "--data=digits", "--threads=1", "--batch=8",
                       "--steps=20", env=self.env, code=6)

    def is_in_use(self):
        with open(os.path.join(self.cache, "envs", "stub@1.0.lock"), "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def test_one_that_a_study_uses_is_neither_removed_nor_repaired(self):
        self.note_files()
        process = self.start("run", "--recipes=.", "--framework=stub", *NULL[1:5], "--steps=100000", "--block=1", env=self.env)
        self.wait_until(self.is_in_use, process)
        self.refusal("uninstall", "stub", "--recipes=.", env=self.env, words=["stub@1.0 is in use by a study", "wait"])
        self.write(os.path.join(self.site, "stubframework.py"), FRAMEWORK + "changed = True\n")
        self.refusal("install", "--repair", "stub", "--recipes=.", env=self.env, words=["stub@1.0 is in use by a study"])
        _, err = self.yardstick("uninstall", "all", env=self.env, code=1)
        self.assertIn("stub@1.0 is in use by a study", err)
        self.assertTrue(os.path.exists(self.python))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.yardstick("uninstall", "stub", "--recipes=.", env=self.env)
        self.assertFalse(os.path.exists(self.home))

    def test_a_recipe_of_another_folder_is_named(self):
        trial, _ = self.study("ok", code=0)
        path = os.path.join(os.path.realpath(self.folder), "stub.recipe")
        self.assertEqual(os.path.realpath(trial["framework"]["recipe"]), path)
        out, _ = self.yardstick("show", "last", env=self.env)
        self.assertIn("a recipe is none of yardstick's own: " + trial["framework"]["recipe"], " ".join(out.split()))  # lines are broken at blanks

    def test_a_builtin_of_the_users_is_not_the_oracle(self):
        """The user's does nothing right; proofs and accuracies come from yardstick's own all the same."""
        os.makedirs(os.path.join(self.folder, "yardstick", "recipes"))
        recipe = self.write(os.path.join("yardstick", "recipes", "builtin.recipe"), "name = builtin\nprogram = sh -c false\n")
        env = dict(self.env, XDG_CONFIG_HOME=self.folder, YARDSTICK_CACHE=CACHE)
        proof = ["verify", "--recipes=" + RECIPES, "--framework=plain", "--model=mlp", "--data=digits", "--threads=1", "--batch=8",
                 "--steps=20", "--fresh"]
        self.yardstick(*proof, env=env)
        out, _ = self.yardstick("run", "--framework=builtin", *NULL[1:], "--repeat=1", "--format=json", env=env, code=5)
        trial = json.loads(out)["trials"][0]
        self.assertNotEqual(trial["status"], "ok")
        self.assertEqual(trial["framework"]["recipe"], recipe)

    def test_one_without_its_framework(self):
        os.unlink(os.path.join(self.site, "stubframework.py"))
        reason = self.reason("load_failed", code=1)
        self.assertIn("cannot import Stub: ModuleNotFoundError: No module named 'stubframework'", reason)

    def test_one_without_numpy(self):
        os.unlink(os.path.join(self.site, "numpy.pth"))
        self.write(os.path.join(self.site, "numpy.py"), "raise ImportError('libopenblas.so is not there')\n")
        self.assertIn("cannot import NumPy: ImportError: libopenblas.so", self.reason("load_failed", code=1))

    def test_one_with_a_numpy_that_its_framework_was_not_made_for(self):
        """As MXNet 1.9.1 fails with NumPy 1.24 and later."""
        self.write(os.path.join(self.site, "stubframework.py"), "import numpy\nnumpy.a_name_that_is_gone\n")
        self.assertIn("cannot import Stub: AttributeError", self.reason("load_failed", code=1))

    def test_one_whose_python_is_gone(self):
        os.unlink(self.python)
        trial, _ = self.study("missing", code=0)
        self.assertIn("its environment is damaged: " + self.python, trial["reason"])
        self.assertEqual(trial["command"], "yardstick install stub")

    def test_one_whose_python_became_another(self):
        self.note(python_path="/usr/lib/another/python")
        trial, _ = self.study("missing", code=0)
        self.assertIn("its Python is another one since it was installed", trial["reason"])
        self.assertEqual(trial["command"], "yardstick install stub")

    def test_one_whose_python_sees_no_packages(self):
        os.rename(self.site, self.site + "-of-another-version")
        self.assertIn("cannot import", self.reason("load_failed", code=1))

    def test_one_that_was_never_finished(self):
        os.unlink(os.path.join(self.home, "installed.json"))
        trial, _ = self.study("missing", code=0)
        self.assertEqual(trial["reason"], "its installation was interrupted")
        self.assertEqual(trial["command"], "yardstick install stub")

    def test_one_whose_requirements_changed(self):
        self.write("stub.txt", "stubframework==1.1\n")
        self.assertIn("requirements changed", self.reason("missing", code=0))

    def test_an_operator_that_the_framework_lacks(self):
        reason = self.reason("unsupported", code=0, model="lenet")
        self.assertIn("no operator Conv", reason)

    def test_a_network_that_the_memory_does_not_hold(self):
        reason = self.reason("oom_host", "--opt.stub.appetite=%d" % (1 << 60), code=1)
        self.assertIn("MemoryError", reason)

    def test_a_network_that_needs_more_than_it_may(self):
        reason = self.reason("oom_host", "--opt.stub.appetite=600000000", "--memory-limit=300MiB", code=1)
        self.assertRegex(reason, r"its processes (held [3-9]\d\d(\.\d+)? MB,|needed) more than the 315(\.\d+)? MB of memory_limit")
        self.study("ok", "--memory-limit=2GiB", code=0)

    def thread_warning(self, *flags):
        trial, err = self.study("ok", "--opt.stub.threads=8", *flags, code=0)
        warnings = [warning for warning in trial["warnings"] if "was told to use 1 thread" in warning]
        self.assertEqual(len(warnings), 1, trial["warnings"])
        self.assertIn("was told to use 1 thread", err)
        self.assertIn("bound to 1 CPU", warnings[0])
        self.assertLess(trial["metrics"]["cpu_per_wall"]["value"], 1.1)  # one CPU is all that it got; ticks blur
        return warnings[0]

    def test_a_framework_that_says_it_takes_more_threads_than_it_was_told(self):
        self.assertIn("says it uses 8, had up to ", self.thread_warning())

    def test_a_framework_that_takes_more_threads_in_secret(self):
        self.assertRegex(self.thread_warning("--opt.stub.lies=on"), "had up to [0-9]+, and about [5-9] shared the work")

    def test_one_that_keeps_to_its_threads_is_not_warned_of(self):
        trial, _ = self.study("ok", code=0)
        self.assertFalse([warning for warning in trial["warnings"] if "thread" in warning], trial["warnings"])


if __name__ == "__main__":
    unittest.main()
