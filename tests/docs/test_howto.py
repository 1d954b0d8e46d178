"""The tasks of docs/howto.md, pasted section by section into a shell in an empty folder: without network, and with no framework installed."""
import importlib.util
import os
import re
import subprocess
import tempfile
import unittest

ROOT, BIN = os.environ["YS_SOURCE_ROOT"], os.environ["YARDSTICK_BIN"]
# As short as a study can be: whether commands hold is asked, not what they measure. A gate is then open (4), and looks no
# further; verify says by 6 that there is a framework that it has not tried.
SHORTER = ((r"--repeat=\d+", "--repeat=2 --on-disturbance=mark"), (r"^repeat = \d+", "repeat = 2\non_disturbance = mark"),
           (r"\bsteps( ?= ?)\d+", r"steps\g<1>3"), (r"\brequests( ?= ?)\d+", r"requests\g<1>3"),
           (r"--confirm", "--confirm --budget=1ms"), (r"^(yardstick verify .*)", r"\1 || [ $? = 6 ]"))
CODES = {"Is this commit slower?": 4, "How soon is it good?": 1}  # in three steps it is not


def sections():
    with open(os.path.join(ROOT, "docs", "howto.md"), encoding="utf-8") as file:
        parts = re.split(r"^## (.*)\n", file.read(), flags=re.M)[1:]
    for title, text in zip(parts[::2], parts[1::2]):
        blocks = re.findall(r"(?:^    .*\n|\n(?=    ))+", text, flags=re.M)
        yield title, re.sub(r"^    ", "", "".join(blocks), flags=re.M)


class Howto(unittest.TestCase):
    def test_each_task_runs_as_it_stands(self):
        box = tempfile.TemporaryDirectory()
        self.addCleanup(box.cleanup)
        env = dict(os.environ, PATH=BIN + os.pathsep + os.environ["PATH"], YARDSTICK_HOME=ROOT, YARDSTICK_BIN=BIN,
                   YARDSTICK_CACHE=os.path.join(box.name, "cache"), PYTHONPATH=os.path.join(ROOT, "python"))
        folder = os.path.join(box.name, "empty")
        os.mkdir(folder)
        tasks = [(title, script) for title, script in sections() if title != "The other commands"]
        self.assertGreaterEqual(len(tasks), 6)
        for title, script in tasks:
            self.assertIn("yardstick ", script, title)
            for said, shorter in SHORTER:
                script = re.sub(said, shorter, script, flags=re.M)
            if importlib.util.find_spec("pandas"):
                script = re.sub(r"^python3 -m pip .*\n", "", script, flags=re.M)
            else:
                script = script.split("python3 -m pip")[0]
            with self.subTest(title):
                done = subprocess.run(["sh", "-eu"], input=script, cwd=folder, env=env, capture_output=True, text=True)
                self.assertEqual(done.returncode, CODES.get(title, 0), script + done.stdout[-2000:] + done.stderr[-2000:])

    def test_the_table_of_commands_names_every_verb(self):
        listed = subprocess.run([os.path.join(BIN, "yardstick"), "help"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
        text = " ".join(script for _, script in sections())
        for verb in re.findall(r"^  yardstick (\w+)", listed, flags=re.M):
            with self.subTest(verb):
                self.assertRegex(text, r"yardstick %s\b|`%s " % (verb, verb))


if __name__ == "__main__":
    unittest.main()
