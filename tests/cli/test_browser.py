"""yardstick-browser, with a browser that is none (tests/adapters/stand_in_browser.py): what it hands on, and what it makes of
one that is old, dies, hangs or talks rubbish. No Chromium is needed. And what pages share, under Node."""
import base64
import glob
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from harness import BIN, ROOT

STAND_IN = os.path.join(ROOT, "tests", "adapters", "stand_in_browser.py")
PAGE = os.path.join(ROOT, "adapters", "web", "onnxruntime-web.js")
NODE = shutil.which("node")
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


@unittest.skipUnless(NODE, "Node is not installed")
class Common(unittest.TestCase):
    """adapters/web/common.js."""

    def tensors(self, name, **tensors):
        """A safetensors file of one number a row: {name: (its type, the format of struct, numbers)}."""
        head, body = {}, b""
        for tensor, (dtype, form, numbers) in tensors.items():
            data = struct.pack("<%d%s" % (len(numbers), form), *numbers)
            head[tensor] = {"dtype": dtype, "shape": [len(numbers)], "data_offsets": [len(body), len(body) + len(data)]}
            body += data
        text = json.dumps(head).encode()
        return self.file(name, struct.pack("<Q", len(text)) + text + body)

    def file(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def say(self, names, *messages):
        """What draws these, and what is answered after `opened`; of what is written the number behind the head."""
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        network = {"nodes": [], "inputs": [{"name": "x"}]}
        data = self.tensors("data", x=("F32", "f", [1, 2, 3, 4]), y=("I64", "q", [0, 1, 0, 1]))
        order = self.tensors("order", order=("I32", "i", [0, 1, 2, 3, 0, 2, 0, 0]), lr=("F64", "d", [0.5, 0.25, 1, -1]))
        plan = {"graph": self.file("graph.json", json.dumps(network).encode()), "folder": self.folder.name, "mode": "train", "batch": 2,
                "steps": 4, "optimizer": {"name": "sgd"}, "input": {"kind": "file", "path": data, "order": order}}
        script, page = os.path.join(ROOT, "tests", "cli", "page_in_node.mjs"), os.path.join(ROOT, "adapters", "web", "common.js")
        done = subprocess.run([NODE, script, page, json.dumps(names), json.dumps([{"type": "open", "plan": plan}, *messages])],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn, ready, opened, *said = map(json.loads, done.stdout.splitlines())
        self.assertEqual((ready["type"], opened["type"]), ("ready", "opened"), opened)
        return drawn, [struct.unpack("<f", base64.b64decode(part["data"])[-4:])[0] if "data" in part else part for part in said]

    def test_what_draws_in_software_is_told_from_a_processor(self):
        names = ["ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)",
                 "llvmpipe (LLVM 15.0.6, 256 bits)", "Microsoft Basic Render Driver",
                 "ANGLE (NVIDIA Corporation, NVIDIA GeForce RTX 3060/PCIe/SSE2, OpenGL 4.5.0)", ""]
        self.assertEqual(self.say(names)[0], ["SwiftShader", "llvmpipe", "Basic Render", None, None])

    def test_training_goes_on_where_it_was_and_steps_give_the_weights(self):
        _, (first, second, done, again, reset, weight, stepped) = self.say(
            [], {"type": "train", "from": 0, "to": 3, "block": 2}, {"type": "train", "from": 0, "to": 3, "block": 2}, {"type": "reset"},
            {"type": "step", "n": 2})
        self.assertEqual([(block["first"], block["count"], block["loss"]) for block in (first, second)], [(0, 2, [1.5, 3.25]), (2, 1, ["inf"])])
        self.assertLessEqual(first["t_start_ns"] + first["input_ns"], first["t_end_ns"])
        self.assertLessEqual(first["t_end_ns"], second["t_start_ns"])
        self.assertEqual((done, reset), ({"type": "done"},) * 2)
        self.assertEqual((again["code"], again["stage"]), ("protocol_error", "train"))
        self.assertIn("the next step is 3", again["message"])
        self.assertEqual((weight, stepped["type"]), (3.25, "tensors"))

    def test_behind_a_step_that_failed_reset_comes_first(self):
        _, (weight, _, failed, refused, _, after, _) = self.say(
            [], {"type": "step", "n": 3}, {"type": "step", "n": 1}, {"type": "step", "n": 0}, {"type": "reset"}, {"type": "step", "n": 1})
        self.assertEqual((weight, after), (7.25, 1.5))
        self.assertEqual((failed["code"], failed["message"]), ("crashed", "Error: down"))
        self.assertEqual(refused["code"], "protocol_error")
        self.assertIn("reset comes first", refused["message"])


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
