"""tests/adapters/misbehaving.py does what it promises, so that tests that rely on it mean something."""

import os
import signal
import socket
import sys
import unittest

import driver

SCRIPT = os.path.join(driver.ROOT, "tests", "adapters", "misbehaving.py")


class Case(unittest.TestCase):
    tag = "YS_TEST_TAG=%d" % os.getpid()  # tells processes of this test from those of another that runs beside it

    def start(self, behaviour):
        self.adapter = driver.Driver(SCRIPT, env=dict([self.tag.split("=")], MISBEHAVE=behaviour))
        self.ended = False
        self.addCleanup(self.end)

    def end(self):
        if not self.ended:
            self.ended = True
            return self.adapter.end()

    def quiet(self, *arguments, **members):
        """No answer comes: half a second is enough to catch one that would have been given."""
        self.adapter.say(*arguments, **members)
        self.adapter.socket.settimeout(0.5)
        self.assertRaises(socket.timeout, self.adapter.hear)
        self.adapter.process.kill()


class Misbehaving(Case):
    def test_without_a_choice_it_is_honest(self):
        self.start("")
        self.assertTrue(self.adapter.need("hello", "hello", protocol=1)["no_work"])
        self.adapter.need("opened", "open", plan={})
        blocks, last = self.adapter.train(0, 5, 2)
        self.assertEqual(([block["count"] for block in blocks], last["type"]), ([2, 2, 1], "done"))
        self.assertEqual(self.adapter.ask("save")["code"], "unsupported")
        self.adapter.say("bye")
        self.assertEqual(self.end(), 0)

    def test_crash(self):
        self.start("crash")
        self.assertEqual(self.adapter.process.wait(60), 3)

    def test_segv(self):
        self.start("segv")
        self.adapter.say("open", plan={})
        self.assertEqual(self.adapter.process.wait(60), -signal.SIGSEGV)

    def test_hang(self):
        self.start("hang")
        self.adapter.need("hello", "hello", protocol=1)
        self.quiet("open", plan={})

    def test_ignore_bye(self):
        self.start("ignore_bye")
        self.quiet("bye")

    def test_rubbish(self):
        self.start("rubbish")
        self.adapter.say("open", plan={})
        self.assertRaises(ValueError, self.adapter.hear)

    def test_endless_line(self):
        self.start("endless_line")
        self.adapter.say("open", plan={})
        self.assertEqual(self.adapter.reader.readline(1 << 20), b"x" * (1 << 20))
        self.adapter.process.kill()

    def test_close_early(self):
        self.start("close_early")
        self.adapter.say("open", plan={})
        self.assertRaises(EOFError, self.adapter.hear)
        self.assertIsNone(self.adapter.process.poll())
        self.adapter.process.kill()

    def test_crash_mid_train(self):
        self.start("crash_mid_train")
        self.adapter.need("opened", "open", plan={})
        self.adapter.say("train", **{"from": 0, "to": 9, "block": 1})
        self.assertEqual([self.adapter.hear()["type"] for _ in range(2)], ["block"] * 2)
        self.assertRaises(EOFError, self.adapter.hear)
        self.assertEqual(self.adapter.process.wait(60), 4)

    def test_exit_nonzero_at_bye(self):
        self.start("exit_nonzero_at_bye")
        self.adapter.say("bye")
        self.assertEqual(self.adapter.process.wait(60), 5)

    def test_wrong_times_and_losses(self):
        self.start("wrong_times")
        block = self.adapter.train(0, 1, 1)[0][0]
        self.assertLess(block["t_end_ns"], block["t_start_ns"])
        self.end()
        self.start("nan_loss")
        self.assertFalse(self.adapter.need("hello", "hello", protocol=1)["no_work"])
        self.assertEqual(self.adapter.train(0, 2, 2)[0][0]["loss"], ["nan", "nan"])

    def test_error_unsupported(self):
        self.start("error_unsupported")
        reply = self.adapter.need("error", "open", plan={})
        self.assertEqual((reply["code"], reply["op"]), ("unsupported", "Conv"))


    @unittest.skipUnless(sys.platform == "linux", "needs /proc")
    def test_children_outlive_it(self):
        self.start("children")
        self.adapter.need("opened", "open", plan={})
        parent, left = self.adapter.process.pid, []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                with open("/proc/%d/environ" % pid, "rb") as file:
                    if self.tag.encode() in file.read().split(b"\0") and pid != parent:
                        left.append(pid)
            except OSError:  # another user's, or already gone
                pass
        try:
            self.assertEqual(len(left), 2)
            self.assertNotIn(os.getsid(parent), [os.getsid(pid) for pid in left])
            self.assertEqual(self.end(), 0)
            for pid in left:
                os.kill(pid, signal.SIGTERM)
                os.kill(pid, 0)  # still there
        finally:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
