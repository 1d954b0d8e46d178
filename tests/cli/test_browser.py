"""yardstick-browser, with a browser that is none (tests/adapters/stand_in_browser.py): what it hands on, and what it makes of
one that is old, dies, hangs or talks rubbish. No Chromium is needed."""
import glob
import json
import os
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from harness import BIN, ROOT

STAND_IN = os.path.join(ROOT, "tests", "adapters", "stand_in_browser.py")
PAGE = os.path.join(ROOT, "adapters", "web", "onnxruntime-web.js")
RING_HEAD, SLOTS, SLOT = 64, 8, 64 + 4 * 16384 + 64


class Locks(unittest.TestCase):
    def test_packages_have_a_hash_each_and_no_address(self):
        locks = glob.glob(os.path.join(ROOT, "frameworks", "*", "package-lock.json"))
        self.assertTrue(locks)
        for lock in locks:
            with self.subTest(lock), open(lock) as file:
                text = file.read()
                self.assertNotIn("://", text)
                packages = json.loads(text)["packages"]
                self.assertEqual([name for name, package in packages.items() if name and "sha512-" not in package["integrity"]], [])
                with open(os.path.join(os.path.dirname(lock), "package.json")) as wanted:
                    self.assertEqual(packages[""]["dependencies"], json.load(wanted)["dependencies"])


class Browser(unittest.TestCase):
    def start(self, act="", browser=STAND_IN):
        self.folder = tempfile.mkdtemp(prefix="yardstick-browser-test-")
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder])
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        self.addCleanup(ours.close)
        env = dict(os.environ, YARDSTICK_FD=str(theirs.fileno()), YARDSTICK_BROWSER=browser, STAND_IN=act, TMPDIR=self.folder)
        self.program = subprocess.Popen([os.path.join(BIN, "yardstick-browser"), PAGE], pass_fds=[theirs.fileno()], env=env,
                                        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(self.end, self.program)
        theirs.close()
        self.socket, self.lines = ours, ours.makefile("rb")

    @staticmethod
    def end(program):
        program.kill()
        program.wait()

    def say(self, type_, **members):
        self.socket.sendall(json.dumps(dict(members, type=type_)).encode() + b"\n")

    def hear(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def ask(self, type_, **members):
        self.say(type_, **members)
        return self.hear()

    def open(self):
        hello = self.ask("hello", protocol=1)
        self.assertEqual(hello["type"], "hello", hello)
        plan = {"folder": self.folder, "steps": 3, "batch": 1, "input": {}}
        return self.ask("open", plan=plan)

    def infer(self, requests, **more):
        self.say("infer", requests=requests, batch=1, **more)
        parts = []
        while True:
            message = self.hear()
            if message is None or message["type"] != "latencies":
                return parts, message
            parts.append(message)

    def test_messages_pass_and_stamps_are_those_of_this_machine(self):
        self.start()
        opened = self.open()
        self.assertEqual(opened["clock_tick_ns"], 5000)
        self.assertGreater(opened["clock_error_ns"], 5000)
        self.assertIn("Stand-in/156.0", opened["libraries"][-1])
        before = time.monotonic_ns()
        parts, done = self.infer(12)
        after = time.monotonic_ns()
        self.assertEqual((len(parts), done), (3, {"type": "done"}))
        last = before
        for part in parts:
            self.assertGreaterEqual(part["t_start_ns"], last)
            self.assertGreaterEqual(part["t_end_ns"] - part["t_start_ns"], sum(part["latency_ns"]))
            last = part["t_end_ns"]
        self.assertLessEqual(last, after)
        self.say("bye")
        self.assertEqual(self.program.wait(30), 0)
        self.assertEqual(os.listdir(self.folder), [])  # its profile has gone

    def test_of_a_clock_that_drifts_and_ticks_no_span_is_shorter_than_it_was(self):
        self.start("ticks")
        opened = self.open()
        self.assertGreaterEqual(opened["clock_error_ns"], 100000)
        parts, _ = self.infer(12)
        for part in parts:
            self.assertGreaterEqual(part["t_end_ns"] - part["t_start_ns"], 10000000 + 100000)

    def test_one_answer_of_each_message_is_shown_before_it_goes(self):
        self.start()
        self.open()
        ring = os.path.join(self.folder, "ring")
        with open(ring, "wb") as file:
            file.write(b"YSRING1\0" + struct.pack("<3I", SLOTS, SLOT, 16384) + bytes(RING_HEAD - 20) + bytes(SLOTS * SLOT))
        parts, _ = self.infer(40, answers=ring)
        seen = set()
        with open(ring, "rb") as file:
            data = file.read()
        for slot in range(SLOTS):
            at = RING_HEAD + slot * SLOT
            sequence, request, batch, count = struct.unpack_from("<QQII", data, at)
            if sequence:
                seen.add(request // 4)
                self.assertEqual((sequence, batch, count), (request + 1, request % 3, 10))
                self.assertEqual(struct.unpack_from("<10f", data, at + RING_HEAD), tuple(map(float, range(10))))
        self.assertEqual(len(parts), 10)
        self.assertTrue(seen)

    def check_hello(self, act, code, words, browser=STAND_IN):
        self.start(act, browser)
        reply = self.ask("hello", protocol=1)
        self.assertEqual((reply["type"], reply["code"]), ("error", code), reply)
        self.assertIn(words, reply["message"])
        self.assertEqual(self.program.wait(60), 1)

    def test_one_that_is_too_old_is_unsupported(self):
        self.check_hello("old", "unsupported", "version 120 or newer is wanted")

    def test_none_is_unsupported_and_names_the_package(self):
        self.check_hello("", "unsupported", "install the package chromium", browser="/no/such/browser")

    def test_one_that_dies_at_once_is_said(self):
        self.check_hello("dies", "load_failed" if os.geteuid() == 0 else "unsupported", "ended at once")

    def test_a_script_that_fails_is_said_in_its_words(self):
        self.check_hello("script", "load_failed", "SyntaxError: no such word")

    def test_rubbish_on_the_pipe_is_said(self):
        self.check_hello("rubbish", "load_failed", "what the browser says")

    def test_a_tab_that_crashes_and_a_browser_that_dies(self):
        for act, words in (("crashes", "the page's tab crashed"), ("dies_later", "the browser has gone")):
            with self.subTest(act):
                self.start(act)
                reply = self.open()
                self.assertEqual((reply["type"], reply["code"], reply["stage"]), ("error", "crashed", "open"), reply)
                self.assertIn(words, reply["message"])
                self.assertEqual(self.program.wait(60), 1)

    def test_a_page_that_hangs_says_nothing_and_ends_with_its_connection(self):
        self.start("hangs")
        self.say("hello", protocol=1)
        self.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            self.socket.recv(1)
        self.lines.close()
        self.socket.close()
        self.assertEqual(self.program.wait(30), 0)

    def test_behind_a_plan_that_failed_the_files_are_those_of_the_next(self):
        self.start("fetches")
        self.assertEqual(self.ask("hello", protocol=1)["type"], "hello")
        for graph, answer in ((STAND_IN, "200"), (PAGE, "200"), (os.path.join(self.folder, "none"), "404")):
            opened = self.ask("open", plan={"folder": self.folder, "graph": graph, "steps": 3, "batch": 1, "input": {}})
            self.assertEqual(opened["message"], answer, graph)

    def test_a_megabyte_passes_and_two_answers_are_two(self):
        self.start("megabyte")
        self.assertEqual(len(self.ask("hello", protocol=1)["framework"]), 1 << 20)
        self.start("twice")
        self.ask("hello", protocol=1)
        self.assertEqual(self.hear()["type"], "hello")  # which yardstick then refuses: nothing was asked

    def test_without_a_socket_it_says_what_it_is(self):
        env = {name: value for name, value in os.environ.items() if name != "YARDSTICK_FD"}
        done = subprocess.run([os.path.join(BIN, "yardstick-browser"), PAGE], env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage", done.stderr)
