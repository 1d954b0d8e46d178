"""Installing frameworks, with a Python that only pretends: nothing is downloaded, and it takes as long as a test wants."""
import fcntl
import json
import os
import shlex
import signal
import sys
import time
import unittest

from harness import NULL, Case, tearDownModule  # noqa: F401

# Stands for python3.11, and for the interpreter of an environment that it made. Waits in `venv` while the file `hold` is
# there, and notes that it has come so far; `refuse` makes pip fail, `full` says how it does on a full disk, with
# `offline` nothing comes from an index that is asked alone.
PYTHON = """#!/bin/sh
here=%(folder)s
case "$1 $2" in
"-c "*) echo 3.11 ;;
"-m venv")
    echo "$$" >> "$here/made"
    while [ -e "$here/hold" ]; do sleep 0.02; done
    mkdir -p "$4/bin" && cp "$here/bin"/python3.11 "$4/bin/python" ;;
"-m pip")
    env > "$here/environment"
    echo "$*" > "$here/asked"
    echo "$*" >> "$here/all_asked"
    for word; do case $word in *.txt) cat "$word" > "$here/wanted" ;; esac; done
    [ -e "$here/full" ] && { touch "$TMPDIR/unpacked"; echo "ERROR: Could not install packages due to an OSError: [Errno 28] $(cat "$here/full")"; exit 1; }
    [ -e "$here/refuse" ] && { echo "ERROR: No matching distribution found for toy==1.0"; exit 1; }
    case "$*" in *" --index-url"*) [ -e "$here/offline" ] && { echo "ERROR: No matching distribution found for toy==2.5"; exit 1; } ;; esac
    mkdir -p "$(dirname "$0")/../lib" && echo "$$" >> "$(dirname "$0")/../lib/toy.py"
    echo "toy" > "$(dirname "$0")/../lib/other.py" ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""
# An adapter that answers hello, without a framework.
HELLO = """
import json, os, socket
channel = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))
for line in channel.makefile("rb"):
    if json.loads(line.decode())["type"] == "bye":
        break
    answer = {"type": "hello", "protocol": 1, "adapter": "made", "framework": "Made", "version": "1.0-rc3", "runtime": "?",
              "devices": ["cpu"], "precisions": ["f32"], "ops": [], "optimizers": [], "features": [], "no_work": False}
    channel.sendall(json.dumps(answer).encode() + b"\\n")
"""
RECIPE = "name = toy\ntitle = Toy\nadapter = toy.py\nversions = 1.0\npython = 3.11\nrequirements = toy-{version}-py{python}.txt\n"


class Install(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "bin"))
        self.program("python3.11", PYTHON % {"folder": shlex.quote(self.folder)})
        for other in ("python3", "python"):  # so that no recipe finds a Python that is real
            os.symlink("python3.11", os.path.join(self.folder, "bin", other))
        self.program("uv", "#!/bin/sh\nexit 1\n")
        self.write("toy.recipe", RECIPE)
        self.write("toy-1.0-py3.11.txt", "toy==1.0\n")
        self.write("toy.py", "")
        self.cache = os.path.join(self.folder, "cache")
        self.env = {"PATH": os.path.join(self.folder, "bin") + ":/usr/bin:/bin", "YARDSTICK_CACHE": self.cache,
                    "PYENV_ROOT": self.folder}

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

    def test_a_python_without_ensurepip_names_what_installs_it(self):
        answer = "#!/bin/sh\ncase $1 in -c) echo 3.11 ;; *) cat <<'END'\n%s\nEND\nexit 1 ;; esac\n"
        self.program("python3.11", answer % (
            "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu systems, you need to "
            "install the python3-venv\npackage using the following command.\n\n    apt install python3.11-venv\n\nYou may need to use sudo."))
        _, err = self.install(code=1)
        self.assertIn("without ensurepip", err)
        self.assertIn("`apt install python3.11-venv`", err)
        self.program("python3.11", answer % "Error: Command '['/env/bin/python', '-m', 'ensurepip']' returned non-zero exit status 1.")
        _, err = self.install(code=1)
        self.assertRegex(err, "without ensurepip.*python3-venv.*uv")

    def test_a_framework_without_a_recipe(self):
        self.refusal("install", "toi", "--recipes=.", env=self.env, words=["toi", "toy"])
        self.refusal("install", "toy@7", "--recipes=.", env=self.env, words=["7", "1.0"])
        self.refusal("install", words=["yardstick list frameworks"])

    def test_a_version_that_is_not_pinned_is_resolved_and_every_result_says_so(self):
        self.write("toy.recipe", RECIPE + "unpinned = toy=={version} tool<2\n")
        _, err = self.yardstick("install", "toy@2.5", "--recipes=.", env=self.env)
        self.assertIn("which the recipe does not pin: toy==2.5 tool<2", err)
        self.assertEqual(self.text("wanted"), "toy==2.5\ntool<2")
        self.assertNotIn("--no-deps", self.text("asked"))
        self.assertEqual(self.text("cache/envs/toy@2.5/resolved.txt"), "3.11\n")  # what the Python says it has
        out, _ = self.yardstick("run", "--recipes=.", "--framework=toy@2.5", *NULL[1:], "--repeat=1", "--format=json", code=5, env=self.env)
        result = json.loads(out)
        self.assertIn("toy@2.5 are not pinned", result["trials"][0]["framework"]["unpinned"])
        self.assertTrue([d for d in result["environment_differences"] if d["what"] == "files" and "not pinned" in d["text"]])
        # What is pinned stays pinned, and a word that is no version is none.
        self.install()
        self.assertIn("--no-deps", self.text("asked"))
        self.refusal("install", "toy@newest", "--recipes=.", env=self.env, words=["newest", "1.0"])

    def test_a_version_that_its_makers_index_does_not_give_is_refused_with_what_it_would_bring(self):
        words = RECIPE + "unpinned = toy=={version} tool<2\nindex = https://makers\nelsewhere = a cellar full of toys, 5 GB\n"
        self.write("toy.recipe", words)
        self.write("offline", "")
        self.refusal("install", "toy@2.5", "--recipes=.", env=self.env, code=1,
                     words=["https://makers", "No matching distribution", "a cellar full of toys, 5 GB", "install --any-index"])
        self.assertEqual(self.text("wanted"), "toy==2.5")  # and nothing else was asked for
        self.assertNotIn("--extra-index-url", self.text("all_asked"))
        self.yardstick("install", "--any-index", "toy@2.5", "--recipes=.", env=self.env)
        self.assertEqual(self.text("wanted"), "toy==2.5\ntool<2")
        self.yardstick("uninstall", "toy@2.5", "--recipes=.", env=self.env)
        # Where the makers give it the rest is resolved after it, from anywhere.
        os.unlink(os.path.join(self.folder, "offline"))
        os.unlink(os.path.join(self.folder, "all_asked"))
        self.yardstick("install", "toy@2.5", "--recipes=.", env=self.env)
        first, rest = self.text("all_asked").splitlines()
        self.assertIn("--index-url https://makers", first)
        self.assertIn("--no-deps", first)
        self.assertIn("--extra-index-url https://makers", rest)
        self.assertNotIn("--no-deps", rest)
        self.refusal("install", "--any-index", "--repair", "toy@2.5", "--recipes=.", env=self.env, words=["--any-index"])

    def text(self, *names):
        with open(os.path.join(self.folder, *names)) as file:
            return file.read()

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
        self.assertEqual(self.row()["reason"], "it is being installed by process %d" % first.pid)
        os.unlink(os.path.join(self.folder, "hold"))
        _, err = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0, err)
        self.assertEqual((self.row()["state"], self.made()), ("ready", 1))

    def test_ctrl_c_leaves_it_interrupted_and_repeatable(self):
        process = self.begun()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
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
        process.communicate(timeout=120)
        self.assertEqual(self.row()["reason"], "its installation was interrupted")
        os.unlink(os.path.join(self.folder, "hold"))
        self.install()
        self.assertEqual(self.row()["state"], "ready")

    def test_one_waits_for_what_a_killed_one_left_to_end(self):
        """Who holds the lock here stands for the end of a killed installation's helpers."""
        os.makedirs(os.path.join(self.cache, "envs", "toy@1.0", "env"))
        with open(os.path.join(self.cache, "envs", "toy@1.0.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.start("install", "toy", "--recipes=.", env=self.env)
            time.sleep(0.7)
            self.assertIsNone(process.poll())
            self.assertEqual(self.made(), 0)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual((self.row()["state"], self.made()), ("ready", 1))

    def test_a_full_disk_is_called_so_and_leaves_nothing_behind(self):
        self.write("full", "Auf dem Gerät ist kein Speicherplatz mehr verfügbar")  # the user's language
        home = os.path.join(self.cache, "envs", "toy@1.0")
        self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["no space left in " + home])
        self.assertEqual(os.listdir(home), ["failed.json"])
        self.assertIn("no space left", self.row()["reason"])
        self.write("toy.recipe", RECIPE + "download = 200 MB\ndisk = 600 MB\n")
        self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["it needs about 1 GB"])
        os.unlink(os.path.join(self.folder, "full"))
        self.install()
        self.assertEqual(self.row()["state"], "ready")

    def installed_file(self, *name):
        return os.path.join("cache", "envs", "toy@1.0", "env", *name)

    def test_one_that_changed_is_told_of_and_repaired(self):
        self.install()
        self.assertIsNone(self.row()["changed"])
        self.write(self.installed_file("lib", "toy.py"), "changed\n")
        row = self.row()
        sentence = "1 file of toy@1.0 is not as it was installed (lib/toy.py changed)"
        self.assertEqual((row["state"], row["reason"], row["command"]), ("ready", sentence, "yardstick install --repair toy@1.0"))
        self.assertEqual(row["changed"], {"count": 1, "missing": 0, "first": "lib/toy.py"})
        out, _ = self.yardstick("list", "frameworks", "toy", "--recipes=.", env=self.env)
        self.assertIn(sentence, out)
        _, err = self.install()
        self.assertIn(sentence, err)
        self.assertEqual(self.made(), 1)
        _, err = self.yardstick("install", "--repair", "toy", "--recipes=.", env=self.env)
        self.assertIn(sentence + ": it is made anew", err)
        self.assertEqual((self.row()["changed"], self.made()), (None, 2))
        _, err = self.yardstick("install", "--repair", "toy@1.0", "--recipes=.", env=self.env)
        self.assertIn("every file is as it was installed", err)
        self.assertEqual(self.made(), 2)

    def test_one_with_missing_files_is_missing_until_it_is_repaired(self):
        self.install()
        os.unlink(os.path.join(self.folder, self.installed_file("lib", "other.py")))
        row = self.row()
        self.assertEqual((row["state"], row["command"]), ("missing", "yardstick install --repair toy@1.0"))
        self.assertIn("lib/other.py is missing", row["reason"])
        self.assertEqual(row["changed"]["missing"], 1)
        self.refusal("install", "toy", "--recipes=.", env=self.env, code=1, words=["lib/other.py is missing", "--repair toy@1.0"])
        self.yardstick("install", "all", "--repair", "--recipes=.", env=self.env)
        self.assertEqual((self.row()["state"], self.made()), ("ready", 2))

    def test_all_are_repaired_where_they_need_it_and_no_other_is_installed(self):
        self.install()
        self.write("other.recipe", RECIPE.replace("name = toy", "name = other"))
        self.yardstick("install", "all", "--repair", "--recipes=.", env=self.env)
        self.assertEqual(self.made(), 1)
        os.makedirs(os.path.join(self.cache, "envs", "gone@2", "env"))
        self.write(self.installed_file("lib", "toy.py"), "changed\n")
        _, err = self.yardstick("install", "all", "--repair", "--recipes=.", env=self.env, code=1)
        self.assertIn("gone@2", err)
        self.assertEqual((self.row()["changed"], self.made()), (None, 2))
        self.refusal("install", "toy", "--repair", "--from=bin/uv", "--recipes=.", env=self.env, words=["--repair", "--from"])

    def test_one_of_an_earlier_yardstick_is_left_alone_but_for_a_repair(self):
        self.install()
        path = os.path.join(self.cache, "envs", "toy@1.0", "installed.json")
        with open(path) as file:
            note = json.load(file)
        note.pop("fingerprint")
        self.write(path, json.dumps(note))
        self.write(self.installed_file("lib", "toy.py"), "changed\n")
        self.assertEqual((self.row()["state"], self.row()["changed"]), ("ready", None))
        _, err = self.yardstick("install", "toy", "--repair", "--recipes=.", env=self.env)
        self.assertIn("before its files were put on record", err)
        self.assertEqual(self.made(), 2)

    def test_an_interrupted_one_can_be_removed(self):
        process = self.begun()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
        _, err = self.yardstick("uninstall", "toy", "--recipes=.", env=self.env)
        self.assertIn("removed", err)
        self.assertEqual(self.row()["reason"], "it is not installed")
        _, err = self.yardstick("uninstall", "toy", "--recipes=.", env=self.env)
        self.assertIn("nothing to remove", err)

    def test_settings_of_the_caller_lead_neither_python_nor_pip_elsewhere(self):
        names = ["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSAFEPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT",
                 "PIP_PYTHON", "PIP_DRY_RUN", "PIP_CONSTRAINT"]
        mine = dict.fromkeys(names + ["VIRTUAL_ENV", "CONDA_PREFIX"], os.path.join(self.folder, "mine"))
        self.yardstick("install", "toy", "--recipes=.", env=dict(self.env, PIP_USER="1", **mine))
        with open(os.path.join(self.folder, "environment")) as file:
            seen = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        self.assertEqual({name: seen[name] for name in names}, dict.fromkeys(names, ""))
        self.assertEqual((seen["PIP_USER"], seen["PYTHONNOUSERSITE"]), ("0", "1"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "mine")))

    def test_the_table_says_what_is_there_and_what_it_can(self):
        self.write("toy.recipe", RECIPE + "double = yes\nmodes = infer\nopt.fast = bool: go faster\ndownload = 10 MB\ndisk = 20 MB\n")
        out, _ = self.yardstick("list", "frameworks", "toy", "--recipes=.", env=self.env)
        for text in ("missing", "3.11", "infer, double", "it is not installed", "run: yardstick install toy",
                     "10 MB", "opt.toy.fast = on|off"):
            self.assertIn(text, out)
        self.install()
        row = self.row()
        self.assertEqual((row["modes"], row["double"], row["python"], row["kind"]), (["infer"], True, "3.11", "packages"))
        self.assertEqual((row["download_bytes"], row["disk_bytes"]), (10000000, 20000000))
        self.assertGreater(row["size_bytes"], 0)

    def test_a_version_with_a_recipe_of_its_own_is_a_row_and_an_environment(self):
        self.write("toy@0.9.recipe", RECIPE.replace("1.0", "0.9"))
        self.write("toy-0.9-py3.11.txt", "toy==0.9\n")
        self.yardstick("install", "toy@0.9", "--recipes=.", env=self.env)
        out, _ = self.yardstick("list", "frameworks", "toy", "--recipes=.", "--format=json", env=self.env)
        rows = {row["spec"]: (row["name"], row["version"], row["state"]) for row in json.loads(out)["frameworks"]}
        self.assertEqual(rows, {"toy": ("toy", "1.0", "missing"), "toy@0.9": ("toy", "0.9", "ready")})
        self.refusal("install", "toy@0.8", "--recipes=.", env=self.env, words=["0.8"])

    def test_all_takes_what_it_can_and_says_what_it_skips(self):
        self.write("large.recipe", RECIPE.replace("name = toy", "name = large") + "disk = 999999 GB\n")
        self.write("other.recipe", RECIPE.replace("name = toy", "name = other").replace("python = 3.11", "python = 3.99"))
        self.write("made.recipe", "name = made\nadapter = toy.py\nversions = 1.0\nget = build it\n")
        env = dict(self.env, YARDSTICK_HOME=self.folder)  # none of the real recipes
        _, err = self.yardstick("install", "all", "--recipes=.", env=env)
        self.assertIn("skipped large: installing it takes 999.999 TB", err)
        self.assertIn("skipped other: it needs Python 3.99", err)
        self.assertIn("skipped made: it is in no package index: build it", err)
        self.assertEqual(self.row()["state"], "ready")
        self.write("refuse", "")
        self.write("bad.recipe", RECIPE.replace("name = toy", "name = bad"))
        _, err = self.yardstick("install", "all", "--recipes=.", env=env, code=1)
        self.assertIn("bad could not be installed", err)
        self.assertIn("Toy 1.0 is installed in", err)
        self.assertIn("0 installed, ", err)
        self.assertIn(" 1 failed", err)

    def test_all_environments_are_removed_those_without_a_recipe_too(self):
        self.install()
        os.makedirs(os.path.join(self.cache, "envs", "gone@2", "env"))
        self.yardstick("uninstall", "all", env=self.env)
        self.assertEqual([name for name in os.listdir(os.path.join(self.cache, "envs")) if not name.endswith(".lock")], [])

    def test_one_that_runs_in_the_environment_of_another_needs_that_one(self):
        self.write("mine.recipe", "name = mine\nadapter = toy.py\nuses = toy\n")
        self.refusal("install", "mine", "--recipes=.", env=self.env, code=1,
                     words=["mine: it runs in the environment of toy", "yardstick install toy"])
        self.install()
        _, err = self.yardstick("install", "mine", "--recipes=.", env=self.env)
        self.assertIn("it uses toy", err)
        self.write("mine.recipe", "name = mine\nadapter = toy.py\nuses = nonsuch\n")
        self.refusal("install", "mine", "--recipes=.", env=self.env, words=["mine.recipe: uses = nonsuch", "no recipe"])

    def test_a_tool_is_installed_by_its_name_alone_and_no_framework(self):
        self.write("saw.recipe", RECIPE.replace("adapter = toy.py", "kind = tool").replace("name = toy", "name = saw"))
        env = dict(self.env, YARDSTICK_HOME=self.folder)  # none of the real recipes
        _, err = self.yardstick("install", "all", "--recipes=.", env=env)
        self.assertIn("1 installed, 0 were there", err)  # toy
        out, _ = self.yardstick("list", "frameworks", "--recipes=.", "--format=json", env=env)
        self.assertEqual([row["spec"] for row in json.loads(out)["frameworks"]], ["toy"])
        _, err = self.yardstick("install", "saw", "--recipes=.", env=env)
        self.assertIn("installed Toy 1.0", err)
        _, err = self.yardstick("install", "saw", "--recipes=.", env=env)
        self.assertIn("is installed in", err)
        for command in (["run", "--framework=saw", "--model=lenet", "--data=digits"],
                        ["list", "frameworks", "--check=saw"], ["install", "saw", "--from=/bin/true"]):
            self.refusal(*command, "--recipes=.", env=self.env,
                         words=["saw is a tool and no framework: `yardstick install saw` installs it, no study runs it"])
        _, err = self.yardstick("uninstall", "saw", "--recipes=.", env=env)
        self.assertIn("removed ", err)

    def launcher(self, text):
        os.chmod(self.write("run-made", "#!/bin/sh\n" + text), 0o755)
        return "--from=run-made"

    def test_one_that_the_user_built_is_known_by_its_program(self):
        self.write("built.recipe", "name = built\nadapter = built.py\nversions = 1.0\nget = build it: docs/frameworks/built.md\n")
        self.write("built.py", HELLO)
        self.refusal("install", "built", "--recipes=.", env=self.env, code=1, words=["build it", "--from=PROGRAM"])
        broken = self.launcher("echo libmade.so is not there >&2; exit 3\n")
        self.refusal("install", "built", broken, "--recipes=.", env=self.env, code=1, words=["run-made", "exit code 3", "libmade.so"])
        self.refusal("install", "built", "--from=nothing", "--recipes=.", env=self.env, words=["nothing"])
        self.refusal("install", "toy", broken, "--recipes=.", env=self.env, words=["packages"])
        self.refusal("install", "all", broken, "--recipes=.", env=self.env, words=["of one framework"])
        good = self.launcher('exec %s "$@"\n' % shlex.quote(sys.executable))
        _, err = self.yardstick("install", "built", good, "--recipes=.", env=self.env)
        self.assertIn("runs Made 1.0-rc3", err)
        out, _ = self.yardstick("list", "frameworks", "built", "--recipes=.", "--format=json", env=self.env)
        row = json.loads(out)["frameworks"][0]
        self.assertEqual((row["state"], row["kind"]), ("ready", "build"))
        self.assert_nothing_left()
        os.unlink(os.path.join(self.folder, "run-made"))
        out, _ = self.yardstick("list", "frameworks", "built", "--recipes=.", env=self.env)
        self.assertIn("run-made, is not there", " ".join(out.split()))


if __name__ == "__main__":
    unittest.main()
