"""What yardstick is disturbed in, and what must hold afterwards: one class a scenario.

A scenario prepares a folder (once; every disturbance gets a copy), names the command that is disturbed, says which of its
calls are aimed at, and then uses the folder as a user would who knows of nothing: everything that had been stored is there
still, the command can be repeated, and nothing is left over.
"""
import contextlib
import gzip
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time

ROOT = os.environ.get("YS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.environ.get("YARDSTICK_BIN", ROOT)
PROGRAM = os.path.join(BIN, "yardstick")
NULL = ["--on-disturbance=mark", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=4", "--block=2"]
LIMIT_S = 120

# Names that only something half done has.
LEFT_OVER = re.compile(r"^(.*\.[A-Za-z0-9]{6}\.tmp|working-.*|yardstick-(run-)?[A-Za-z0-9]{6}|weights\.safetensors|checkpoint.*"
                       r"|\.mnist.*|.*\.db-(wal|shm|journal)|.*\.gone|probe.*)$")


class Broken(Exception):
    """Something that was promised does not hold."""


def require(holds, *said):
    if not holds:
        raise Broken(" ".join(str(word) for word in said))


class Tally:
    """What held and what did not of so many cases: TAP, or a line for each and a line of counts."""
    def __init__(self, count, tap):
        self.tap, self.passed, self.failed = tap, 0, 0
        if tap:
            print("1..%d" % count)

    @contextlib.contextmanager
    def case(self, name, remedy=""):
        try:
            yield
        except Broken as broken:
            self.failed += 1
            print("# " + str(broken).replace("\n", " ") + (remedy and "\n#   " + remedy))
            print("not ok - " + name if self.tap else "FAIL " + name, flush=True)
        else:
            self.passed += 1
            print("ok - " + name if self.tap else "ok   " + name, flush=True)

    def end(self):
        """The exit status."""
        if not self.tap:
            print("%d passed, %d failed, 0 skipped" % (self.passed, self.failed))
        return 1 if self.failed else 0


class Box:
    """One folder with all that a yardstick sees: results, cache, temporary files."""

    def __init__(self, folder, library):
        self.folder, self.library = folder, library
        self.cache = os.path.join(folder, "cache")
        self.mark = os.path.basename(folder)
        os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)

    def environment(self, fault=()):
        env = dict(os.environ, YARDSTICK_CACHE=self.cache, YARDSTICK_HOME=ROOT, YARDSTICK_BIN=BIN, TMPDIR=os.path.join(self.folder, "tmp"),
                   YS_FAULT_MARK=self.mark, PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"], NO_COLOR="1")
        env.update(fault)
        return env

    def run(self, *arguments, fault=()):
        """Exit code (below 0: the signal), stdout, stderr."""
        try:
            done = subprocess.run([PROGRAM] + list(arguments), cwd=self.folder, env=self.environment(fault), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            self.require_no_process()  # it was killed: what it had started goes as well
            raise Broken("`yardstick %s` did not end in %g s" % (" ".join(arguments), LIMIT_S))
        return done.returncode, done.stdout, done.stderr

    def expect(self, *arguments, codes=(0,)):
        code, out, err = self.run(*arguments)
        require(code in codes, "afterwards `yardstick %s` ended with %s: %s" % (" ".join(arguments), code, err.strip()[-600:]))
        return out

    def document(self, *arguments):
        return json.loads(self.expect(*arguments, "--format=json"))

    def query(self, sql):
        """Rows of the database, read from a copy, so that nothing is changed by looking; [] where there are no tables."""
        with tempfile.TemporaryDirectory() as copy:
            for name in ("results.db", "results.db-wal", "results.db-journal"):
                with contextlib.suppress(FileNotFoundError):  # a journal comes and goes while yardstick writes
                    shutil.copyfile(os.path.join(self.folder, "yardstick-results", name), os.path.join(copy, name))
            with contextlib.closing(sqlite3.connect(os.path.join(copy, "results.db"))) as db:
                if not db.execute("select count(*) from sqlite_schema where name = 'run'").fetchone()[0]:
                    return []
                return db.execute(sql).fetchall()

    def stored(self):
        """{(study, trial, round, attempt): facts} of every run, as committed."""
        rows = self.query("select study_id, trial.name, round, attempt, facts from run join trial on trial.id = trial_id")
        return {row[:4]: row[4] for row in rows}

    def studies(self):
        return [row[0] for row in self.query("select id from study order by id")]

    def processes(self):
        """Those that were started below this box and still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    ours = ("YS_FAULT_MARK=%s\0" % self.mark).encode() in file.read()
                with open("/proc/%s/stat" % pid) as file:
                    alive = file.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                continue
            if ours and alive:
                found.append(int(pid))
        return found

    def require_no_process(self, patience_s=20):
        until = time.monotonic() + patience_s
        while self.processes() and time.monotonic() < until:
            time.sleep(0.02)
        left = self.processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        require(not left, "processes were left running:", left)

    def left_over(self):
        found = []
        for folder, folders, files in os.walk(self.folder):
            for name in folders + files:
                path = os.path.relpath(os.path.join(folder, name), self.folder)
                if LEFT_OVER.match(name) and not path.startswith("cache/work/"):
                    found.append(path)
        return found


class Scenario:
    name = ""
    fault_codes = (0, 7)  # of a call that failed: the disk is at fault, and nobody else

    def prepare(self, box):
        """Makes what is there before the command."""

    def command(self):
        raise NotImplementedError

    def aims(self, trace):
        """The numbers of the calls worth disturbing, of lines (number, call, path)."""
        return [number for number, _, _ in trace]

    def settle(self, box, before):
        """Uses the box afterwards; raises Broken. `before`: box.stored() right after the disturbance."""
        raise NotImplementedError

    def finish(self, box):
        """What holds for all: nothing runs, and after `clean` nothing is left over."""
        box.require_no_process()
        box.expect("clean")
        left = box.left_over()
        require(not left, "left over:", ", ".join(left[:5]))


class Study(Scenario):
    trials, rounds = 3, 3

    def flags(self):
        rates = ",".join("0.%04d" % (i + 1) for i in range(self.trials))
        return NULL + ["--lr=" + rates, "--repeat=%d" % self.rounds, "--max-runs=100000"]

    def command(self):
        return ["run"] + self.flags()

    def require_whole(self, box, selector="last"):
        document = box.document("show", selector)
        require(document["study"]["status"] == "done", "the study is", document["study"]["status"])
        require(len(document["trials"]) == self.trials, "it has", len(document["trials"]), "trials of", self.trials)
        for trial in document["trials"]:
            require(trial["status"] == "ok" and trial["runs"] >= self.rounds, trial["id"], "is", trial["status"], "with", trial["runs"], "runs")
        require(document["study"]["rounds"] == self.rounds, document["study"]["rounds"], "rounds of", self.rounds)

    def settle(self, box, before):
        if box.studies():
            box.expect("resume", "last")
        else:
            box.expect("run", *self.flags())
        self.require_whole(box)
        after = box.stored()
        lost = [key for key in before if after.get(key) != before[key]]
        require(not lost, "runs that had been stored are lost or changed:", lost)
        box.expect("report", "last")


class Storing(Study):
    """While study, host and trials are stored."""
    name, trials, rounds = "storing", 40, 1

    def aims(self, trace):
        begin = next(number for number, _, path in trace if "/results.db" in path)
        end = next(number for number, _, path in trace if "/runs" in path)
        return [number for number, _, _ in trace if begin <= number <= end]


class Rounds(Study):
    """In the rounds, from the first run to the end of the report."""
    name = "rounds"

    def aims(self, trace):
        begin = next(number for number, _, path in trace if "/runs" in path)
        return [number for number, _, _ in trace if number >= begin]


class Turns(Rounds):
    """In rounds whose trials take turns."""
    name = "turns"

    def flags(self):
        return super().flags() + ["--interleave=blocks", "--turn=10ms"]


class Resume(Study):
    """In `resume` of a study that a signal had interrupted."""
    name, rounds = "resume", 4

    def prepare(self, box):
        # The 17th folder that is made in the results is in the middle of the twelve runs.
        fault = {"LD_PRELOAD": box.library, "YS_FAULT_PROGRAM": "yardstick", "YS_FAULT_CALLS": "make", "YS_FAULT_AT": "17",
                 "YS_FAULT_BELOW": os.path.join(box.folder, "yardstick-results"), "YS_FAULT_HOW": "interrupt"}
        code, _, err = box.run("run", *self.flags(), fault=fault)
        require(code == 130 and 0 < len(box.stored()) < self.trials * self.rounds, "the study to be resumed ended with", code, err[-600:])

    def command(self):
        return ["resume", "last"]


class Builtin(Study):
    """In preparation, proof and runs of the built-in engine, with an empty cache."""
    name, trials, rounds = "proof", 2, 1

    def flags(self):
        return ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=16", "--steps=6", "--block=3", "--lr=0.01,0.02",
                "--repeat=1", "--on-disturbance=mark"]

    def aims(self, trace):
        return [number for number, _, path in trace if "/cache/" in path]

    def settle(self, box, before):
        super().settle(box, before)
        for trial in box.document("show", "last")["trials"]:
            require(trial["proof"]["verdict"] == "pass", "the proof of", trial["id"], "is", trial["proof"]["verdict"])
        box.expect("verify", *self.flags()[:-1])


def write_idx(path, shape, values):
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(">BBBB", 0, 0, 8, len(shape)) + struct.pack(">%dI" % len(shape), *shape) + bytes(values))


def write_mnist(folder, seed):
    """Small files of MNIST's form, of noise."""
    draw = random.Random(seed)
    os.makedirs(folder)
    for part, count in (("train", 96), ("t10k", 32)):
        write_idx(os.path.join(folder, part + "-images-idx3-ubyte.gz"), (count, 28, 28), draw.randbytes(count * 784))
        write_idx(os.path.join(folder, part + "-labels-idx1-ubyte.gz"), (count,), [draw.randrange(10) for _ in range(count)])


class Import(Scenario):
    """While a data set is imported, over one that is there."""
    name = "import"
    fault_codes = (0, 1, 7)
    study = ["--framework=builtin", "--model=mlp", "--data=mnist", "--threads=1", "--batch=8", "--steps=4", "--block=2", "--repeat=1", "--on-disturbance=mark"]

    def prepare(self, box):
        write_mnist(os.path.join(box.folder, "first"), 1)
        write_mnist(os.path.join(box.folder, "second"), 2)
        box.expect("data", "fetch", "mnist", "--from=first", "--unverified")
        self.old = self.hash(box)

    def hash(self, box):
        sets = box.document("list", "datasets")["datasets"]
        return next(entry for entry in sets if entry["name"] == "mnist")["train_hash"]

    def command(self):
        return ["data", "fetch", "mnist", "--from=second", "--unverified"]

    def settle(self, box, before):
        now = self.hash(box)
        require(now, "the data set is gone")
        box.expect("run", *self.study)
        again = self.hash(box)
        require(again == now, "using the data changed them")
        box.expect(*self.command())
        new = self.hash(box)
        require(new and new != self.old and now in (self.old, new), "what was imported is neither of the two")
        box.expect("run", *self.study)


PYTHON = """#!/bin/sh
case "$1 $2" in
"-c "*) echo 3.11 ;;
"-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
"-m pip") mkdir -p "$(dirname "$0")/../lib" && for i in 1 2 3 4 5; do echo $i >> "$(dirname "$0")/../lib/toy.py"; sleep 0.02; done ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""


class Install(Scenario):
    """While an environment is made, by a Python that only pretends."""
    name = "install"
    fault_codes = (0, 1, 7)

    def prepare(self, box):
        os.mkdir(os.path.join(box.folder, "bin"))
        for name, text in (("python3.11", PYTHON), ("uv", "#!/bin/sh\nexit 1\n")):
            path = os.path.join(box.folder, "bin", name)
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o755)
        for name, text in (("toy.recipe", "name = toy\ntitle = Toy\nadapter = toy.py\nversions = 1.0\npython = 3.11\n"
                                          "requirements = toy-{version}-py{python}.txt\n"),
                           ("toy-1.0-py3.11.txt", "toy==1.0\n"), ("toy.py", "")):
            with open(os.path.join(box.folder, name), "w") as file:
                file.write(text)

    def command(self):
        return ["install", "toy", "--recipes=."]

    def settle(self, box, before):
        box.expect(*self.command())
        entry = box.document("list", "frameworks", "toy", "--recipes=.")["frameworks"][0]
        require(entry["state"] == "ready", "it is", entry["state"], entry["reason"])
        with open(os.path.join(box.cache, "envs", "toy@1.0", "env", "lib", "toy.py")) as file:
            written = file.read().split()
        require(written == ["1", "2", "3", "4", "5"], "two installations wrote into one environment:", written)
        box.expect("uninstall", "toy", "--recipes=.")


class Report(Study):
    """While the report is written."""
    name, trials, rounds = "report", 2, 1

    def prepare(self, box):
        box.expect("run", *self.flags())

    def command(self):
        return ["report", "last"]

    def settle(self, box, before):
        box.expect("report", "last")
        self.require_whole(box)
        require(box.stored() == before, "a report changed what is stored")


ALL = [Storing(), Rounds(), Turns(), Resume(), Builtin(), Import(), Install(), Report()]
