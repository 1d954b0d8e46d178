"""Running yardstick as a user would: what the tests of the command line share."""
import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest
import uuid

import schema

ROOT = os.environ.get("YS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.environ.get("YARDSTICK_BIN", ROOT)
PROGRAM = os.path.join(BIN, "yardstick")
RECIPES = os.path.join(ROOT, "tests", "frameworks")

# Signals that the tests were started without would be ignored by the programs that they start.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# One shared cache for the whole test program, so that data and work are prepared once.
CACHE = tempfile.mkdtemp(prefix="ys-cli-cache-")


def tearDownModule():
    shutil.rmtree(CACHE, ignore_errors=True)


# The smallest study there is: the adapter that does nothing, one step.
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--steps=20", "--block=5"]


def row_sum(*values):
    """The checksum of a stored row, yardstick's own way of it in Python."""
    data = []
    for value in values:
        kind, number = (b"n", 0) if value is None else (b"i", value) if isinstance(value, int) else \
            (b"r", struct.unpack("<q", struct.pack("<d", value))[0]) if isinstance(value, float) else \
            (b"t", len(value.encode())) if isinstance(value, str) else (b"b", len(value))
        data += [kind, (number & (2 ** 64 - 1)).to_bytes(8, "little"), value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""]
    return int.from_bytes(hashlib.sha256(b"".join(data)).digest()[:8], "little", signed=True)


FORM = "(select doc from metric_form where id = form)"  # what the checksum of a metric is of, in place of its number


def metric_doc(value, reason, note, cpu_s, steady, steady_from, left, windows, form):
    """The object of a stored metric, as versions before 3 had it."""
    told = json.loads(form)
    for name, number in (("value", value), ("cpu_s", cpu_s), ("left", left)):
        if number is not None:
            told[name] = type(told[name])(number)
    for name, text in (("reason", reason), ("note", note), ("steady_from", steady_from)):
        told.update({name: text} if text is not None else {})
    told.update({"steady": bool(steady)} if steady is not None else {})
    told.update({"windows": json.loads(windows)} if windows is not None else {})
    return json.dumps(told, separators=(",", ":"))


def load_version_2(folder):
    """Makes a results folder of two studies that the last yardstick wrote whose tables were of version 2; the path of its database."""
    path = os.path.join(folder, "yardstick-results", "results.db")
    os.mkdir(os.path.dirname(path))
    with open(os.path.join(ROOT, "tests", "fixtures", "store", "version-2.sql"), encoding="utf-8") as file, \
            contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(file.read())
    return path


def make_version_1(path):
    """Makes of a database one of the time before rows had checksums, and metrics columns."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.create_function("metric_doc", -1, metric_doc)
        database.executescript("""
            create table earlier (run_id integer not null references run(id) on delete cascade, position integer not null, name text not null,
                value real, doc text not null, primary key (run_id, name)) strict;
            insert into earlier select run_id, position, name, value, metric_doc(value, reason, note, cpu_s, steady, steady_from, "left", windows,
                %s) from metric;
            drop table metric; drop table metric_form; alter table earlier rename to metric;""" % FORM)
        for table in ("study", "trial", "run"):
            database.execute("alter table %s drop column parts" % table)
        for table in ("study", "host", "trial", "proof", "run", "series"):
            database.execute("alter table %s drop column sum" % table)
        database.execute("pragma user_version = 1")


def seal(database, table):
    """Gives every row of a table the checksum of what it holds now."""
    database.create_function("row_sum", -1, row_sum)
    names = [FORM if row[1] == "form" else row[1] for row in database.execute("pragma table_info(%s)" % table) if row[1] != "sum"]
    database.execute("update %s set sum = row_sum('%s', %s)" % (table, table, ", ".join(names)))


def recipe_word(path):
    """A path as one word of a recipe's `program`."""
    return path.replace(" ", "\\ ")


@functools.cache
def other_backend():
    """The first back end of this build that is not `ref`, which `auto` takes in single precision; None: there is none."""
    out = subprocess.run([os.path.join(BIN, "yardstick-builtin"), "--backends"], capture_output=True, text=True, timeout=60, check=True).stdout
    first = re.match(r"\w+", out).group()
    return None if first == "ref" else first


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ys-cli-")
        self.mark = uuid.uuid4().hex
        self.addCleanup(shutil.rmtree, self.folder, True)

    def environment(self, **extra):
        env = dict(os.environ, YARDSTICK_CACHE=CACHE, YARDSTICK_HOME=ROOT, YARDSTICK_BIN=BIN, YS_TEST_MARK=self.mark, **extra)
        env.pop("NO_COLOR", None)
        return env

    def start(self, *arguments, env=(), program=None, **options):
        """Starts yardstick, or what starts it; `env` are variables over the usual ones."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        arguments = list(arguments)
        if arguments[:1] == ["run"] and arguments[1:] and not any(word.startswith("--on-disturbance") for word in arguments):
            arguments.insert(1, "--on-disturbance=mark")  # what runs beside the tests is not to add rounds
        process = subprocess.Popen([program or PROGRAM] + arguments, cwd=self.folder, env=dict(self.environment(), **dict(env)),
                                   stderr=subprocess.PIPE, text=True, errors="replace", **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Nothing of a case that failed goes on running."""
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()
        for pid in self.marked_processes():
            os.kill(pid, signal.SIGKILL)

    def yardstick(self, *arguments, code=0, timeout=300, text=None, **options):
        """Runs to the end, `text` on its standard input, checks the exit code; gives stdout and stderr."""
        if text is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **options)
        out, err = process.communicate(text, timeout=timeout)
        shown = "yardstick %s\n%s\n%s" % (" ".join(arguments), (out or "")[-2000:], err[-2000:])
        self.assertEqual(process.returncode, code, shown)
        if out and "--format=json" in arguments:
            self.check_document(json.loads(out))
        return out, err

    def check_document(self, document):
        """Every result document that any test gets to see is as its schema and the page about it say."""
        if isinstance(document, dict) and document.get("schema") == "yardstick/result/1":
            self.assertEqual(schema.result_faults(document)[:10], [])
        elif isinstance(document, dict) and str(document.get("schema", "")).startswith("yardstick/"):
            self.assertEqual(schema.judged_faults(document)[:10], [])

    def refusal(self, *arguments, code=2, words=(), **options):
        """Runs to a failure and gives its message: one line, free of internals, with every one of `words`."""
        out, err = self.yardstick(*arguments, code=code, **options)
        self.assertFalse(out)
        lines = [line for line in err.splitlines() if line.startswith("yardstick: error: ")]
        self.assertEqual(len(lines), 1, err)
        message = lines[0][len("yardstick: error: "):]
        for word in words:
            self.assertIn(word, message)
        return message

    def wait_until(self, holds, process, limit_s=300):
        """Waits until `holds()`; fails when `process` ends first or it takes too long."""
        until = time.monotonic() + limit_s
        while not holds():
            if process.poll() is not None:
                self.fail("yardstick ended with %s: %s" % (process.returncode, process.communicate()[1]))
            if time.monotonic() > until:
                self.fail("waited %s s in vain" % limit_s)
            time.sleep(0.005)

    def result(self, *arguments, code=0, **options):
        """The result document of a run, and stderr."""
        out, err = self.yardstick(*arguments, "--format=json", code=code, **options)
        return json.loads(out), err

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def doctor(self, name):
        """What `doctor` says of one property of this machine."""
        line, = [line for line in json.loads(self.yardstick("doctor", "--format=json")[0]) if line["name"] == name]
        return line

    def need_landlock(self):
        """Skips the test where nothing keeps an adapter from the cache: what changes there is then taken for its doing."""
        line = self.doctor("guarded files")
        if line["state"] != "good":
            self.skipTest(line["found"])

    def instructions(self, **env):
        """What the engine computes with here, and why it has no bf16, or None."""
        out = subprocess.run([os.path.join(BIN, "yardstick-builtin"), "--instructions"], env=self.environment(**env),
                             capture_output=True, text=True, timeout=60, check=True).stdout
        return (out.splitlines() + [None])[:2]

    def need_other_backend(self):
        """Skips the test where the engine was built with `ref` alone, and so there are no two trials that differ in the back end."""
        if not other_backend():
            self.skipTest("this build has no back end but ref")

    def formats(self):
        """The formats in which the engine computes on this machine."""
        return ["f32", "f64"] if self.instructions()[1] else ["f32", "f64", "bf16"]

    def study(self, *lines, name="study.ys", head="version = 1\nname = test\n"):
        return self.write(name, head + "\n".join(lines) + "\n")

    def marked_processes(self):
        """Processes that still carry this test's mark in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    marked = self.mark.encode() in file.read()
                with open("/proc/%s/stat" % pid) as file:
                    alive = file.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                continue
            if marked and alive and int(pid) != os.getpid():
                found.append(int(pid))
        return found

    def assert_nothing_left(self, patience_s=20):
        """No process of this test is left; the kernel gets a moment to finish the killed."""
        until = time.monotonic() + patience_s
        while self.marked_processes() and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.marked_processes(), [])
