"""What is shown of a study while it runs: on a terminal a line a trial, elsewhere now and then a line."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from harness import NULL, PROGRAM, Case, tearDownModule  # noqa: F401


def read_all(terminal):
    data = b""
    try:
        while True:
            part = os.read(terminal, 65536)
            if not part:
                return data
            data += part
    except OSError:  # the other end is closed
        return data


class Live(Case):
    def shown(self, columns, **variables):
        """What a terminal of so many columns gets of `show`."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        running = subprocess.Popen([PROGRAM, "show"], cwd=self.folder, env=dict(self.environment(), **variables), stdin=subprocess.DEVNULL,
                                   stdout=slave)
        os.close(slave)
        said = read_all(master).decode()
        os.close(master)
        self.assertEqual(running.wait(), 0)
        return said

    def test_a_table_is_as_wide_as_the_terminal(self):
        self.yardstick("run", *NULL, "--opt.null.rate={400,800}", "--repeat=1", "--quiet")
        widest = {columns: max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in self.shown(columns).splitlines())
                  for columns in (40, 60, 80, 160, 1000)}
        for columns, most in ((40, 40), (60, 60), (80, 80), (160, 160), (1000, 160)):
            self.assertLessEqual(widest[columns], most)
        self.assertGreater(widest[160], 80)
        self.assertIn("\x1b[", self.shown(80))
        self.assertNotIn("\x1b[", self.shown(80, NO_COLOR="1"))
        plain = self.yardstick("show")[0]
        self.assertNotIn("\x1b[", plain)
        self.assertLessEqual(max(map(len, plain.splitlines())), 80)

    def on_terminal(self, *arguments, rows=24, columns=80, work=NULL):
        """What a terminal of that size gets of a run, and its exit code."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        running = subprocess.Popen([PROGRAM, "run", *work, *arguments], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        said = read_all(master).decode()
        os.close(master)
        return said, running.wait()

    def test_a_terminal_gets_a_line_a_trial(self):
        said, code = self.on_terminal("--opt.null.rate={400,800}", "--repeat=3")
        self.assertEqual(code, 0, said)
        lines = re.split(r"\r?\n|\r\x1b\[K|\x1b\[A\x1b\[K", said)
        for line in lines:
            if not re.match(r"(\x1b\[\d+m)?yardstick: |report: ", line):  # messages are as long as they are
                self.assertLessEqual(len(line), 80, line)
        self.assertTrue(any(re.match(r"\S*rate=400\s+0/3\s+-\s*$", line) for line in lines), said)
        self.assertTrue(any(re.match(r"\S*rate=\d+00\s+2/3\s+\d+(\.\d+)?/s$", line) for line in lines), said)
        self.assertTrue(any(re.search(r"run \d/6 .*, about .* left$", line) for line in lines), said)
        # What was shown is gone at the end: as many lines were taken away as were written above the progress line.
        written = sum(bool(re.match(r"\S*rate=\d+\s+\d/3 ", line)) for line in lines)
        self.assertGreater(written, 3)
        self.assertEqual(said.count("\x1b[A\x1b[K"), written)

    def test_what_is_known_of_comparisons_so_far_stands_below(self):
        said, code = self.on_terminal("--opt.null.rate={400,800}", "--steps=40", "--block=1", "--repeat=decide", columns=120, work=NULL[:-2])
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"round 2: \S*rate=800\S* \S+ so far of \S*rate=400\S*, open")
        self.assertRegex(said, r"at most \S+ s left")

    def test_more_trials_than_rows_are_cut(self):
        said, code = self.on_terminal("--opt.null.rate={%s}" % ",".join(str(rate) for rate in range(1000, 2000, 100)), "--repeat=1", rows=8)
        self.assertEqual(code, 0, said)
        self.assertIn("... and 5 trials more", said)

    def test_quiet_says_nothing(self):
        said, code = self.on_terminal("--repeat=1", "--quiet")
        self.assertEqual((said, code), ("", 0))
