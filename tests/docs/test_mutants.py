"""tools/mutants.py: a mutant, which may run for ever, does not outlive the tool, however that ends; and what is allowed is made."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = os.path.join(os.environ["YS_SOURCE_ROOT"], "tools")
sys.path.insert(0, TOOLS)
import mutants  # noqa: E402

JUDGE = "import sys; sys.path.insert(0, sys.argv[1]); import mutants; mutants.passes(['sh', '-c', sys.argv[2]], '.')"


def is_alive(pid):
    """Whether it still runs: one that nobody has waited for yet does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Mutants(unittest.TestCase):
    def test_a_mutant_ends_with_the_tool(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                note = os.path.join(folder, "pid")
                tool = subprocess.Popen([sys.executable, "-B", "-c", JUDGE, TOOLS, "echo $$ > %s.part; mv %s.part %s; exec sleep 60" % (note, note, note)])
                try:
                    until = time.monotonic() + 30
                    while not os.path.exists(note) and time.monotonic() < until:
                        time.sleep(0.01)
                    with open(note) as file:
                        mutant = int(file.read())
                finally:
                    tool.send_signal(number)
                    tool.wait()
                while is_alive(mutant) and time.monotonic() < until:
                    time.sleep(0.01)
                alive = is_alive(mutant)
                if alive:
                    os.kill(mutant, signal.SIGKILL)
                self.assertFalse(alive, "after signal %d" % number)


    def test_what_is_allowed_to_survive_is_made(self):
        made = {mutants.key_of(source, number, text) for source, number, text, _, _ in mutants.plan(None, None)}
        self.assertGreater(len(made), 1000)
        self.assertEqual([key for key in mutants.read_allowed() if key not in made], [], "lines of tools/mutants_allowed.txt that nobody makes")


if __name__ == "__main__":
    unittest.main()
