"""adapters/common.py: its files, its plan, its message loop."""

import importlib.util
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import driver
import common
import common_meeting
import numpy as np
from common_feed import Feed

HERE = os.path.dirname(os.path.abspath(__file__))


class Siblings(unittest.TestCase):
    """A framework looks for others while it works (TensorFlow for JAX and litert), long after it was imported."""

    def test_no_adapter_is_taken_for_its_framework(self):
        names = [name[:-3] for name in os.listdir(driver.ADAPTERS) if name.endswith(".py") and "_" not in name]
        for name in sorted(set(names) - {"common", "converted", "pytorch"}):
            found = importlib.util.find_spec(name)
            self.assertFalse(found and os.path.dirname(found.origin or "") == driver.ADAPTERS, name)

    def test_what_adapters_share_is_found(self):
        self.assertEqual(os.path.dirname(importlib.util.find_spec("common_graph").origin), driver.ADAPTERS)


class Places(unittest.TestCase):
    """Where something went wrong, as the end of a message."""

    def fail(self, adapter, text):
        try:
            json.loads(text)
        except ValueError:
            return common._place(adapter)

    def test_of_the_adapters_own_line(self):
        class Own(common.Adapter):
            pass
        line = self.fail.__code__.co_firstlineno + 2
        self.assertEqual(self.fail(Own(), "{"), " (%s, line %d)" % (os.path.basename(__file__), line))

    def test_of_another_where_none_of_its_own_was_run(self):
        self.assertRegex(self.fail(common.Adapter.__new__(common.Adapter), "{"), r" \(decoder\.py, line \d+\)$")


class Interfaces(unittest.TestCase):
    """common_meeting.py: which leads to the other hosts."""

    SECOND = """
ip link set lo up
ip link add ysa type veth peer name ysb
ip address add 10.97.3.1/24 dev ysa
ip address add 10.97.3.2/24 dev ysa
ip address add 10.97.3.3/24 dev ysa label ysa:1
cd "$1" && shift && exec "$@"
"""

    def test_every_address_of_an_interface_finds_it(self):
        inside = ["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", self.SECOND, "sh", os.path.dirname(common.__file__)]
        tried = subprocess.run([*inside, "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            self.skipTest("no network interfaces can be made here: " + tried.stderr.strip())
        program = "import common_meeting\nfor i in range(1, 4): print(common_meeting.interface_of('10.97.3.%d' % i, 'X'))"
        told = subprocess.run([*inside, sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((told.stdout.split(), told.stderr), (["ysa", "ysa", "ysa:1"], ""))

    def test_the_loopback_interface_is_among_them(self):
        self.assertIn(("lo", "127.0.0.1"), common_meeting.addresses())

    def test_an_address_of_no_interface_is_named_with_what_to_say(self):
        with mock.patch.object(common_meeting, "addresses", lambda: [("lo", "127.0.0.1"), ("eth0", "10.0.0.1"), ("eth0", "10.0.0.2")]):
            self.assertEqual(common_meeting.interface_of("10.0.0.2", "X"), "eth0")
            self.assertEqual(common_meeting.interface_of("127.0.1.9", "X"), "lo")
            with self.assertRaisesRegex(common.BuildFailed, r"10\.0\.0\.3: say with env\.GLOO_SOCKET_IFNAME "):
                common_meeting.interface_of("10.0.0.3", "GLOO_SOCKET_IFNAME")
            with mock.patch.dict(os.environ, {"GLOO_SOCKET_IFNAME": "eth7"}):  # who says it is not asked for more
                common_meeting.name_interface("10.0.0.3")
                self.assertEqual(os.environ["GLOO_SOCKET_IFNAME"], "eth7")


class Feeding(unittest.TestCase):
    """common_feed.py, with the other side played here."""

    SLOTS, SLOT, START = 4, 4096, 4096

    def feed(self, round_):
        """A ring of batches of two bytes, and the feeder's end of the socket."""
        memory = os.memfd_create("ring")
        os.truncate(memory, self.START + self.SLOTS * self.SLOT)
        os.pwrite(memory, struct.pack("<8sIIQQQ24x", b"YSFEED1", self.SLOTS, 1, self.SLOT, self.START, round_), 0)
        os.pwrite(memory, struct.pack("<64s8sI4x8QQQ", b"x", b"U8", 1, 2, *[0] * 7, 0, 2), 64)
        for slot in range(self.SLOTS):
            os.pwrite(memory, bytes((slot, 7)), self.START + slot * self.SLOT)
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(own.close)
        return Feed(its.detach(), memory), own

    def wishes(self, own):
        own.setblocking(False)
        found = []
        try:
            while True:
                found.append(struct.unpack("<QQQ", own.recv(24)))
        except BlockingIOError:
            return found

    def test_a_round_goes_on_with_its_first_batch_unasked(self):
        feed, own = self.feed(3)
        for position in range(7):
            own.send(struct.pack("<QQQ", 1, position % 3, position % self.SLOTS))
        for position in range(7):
            self.assertEqual(feed.take(position % 3)["x"].tolist(), [position % self.SLOTS, 7])
            feed.release()
        self.assertEqual(self.wishes(own), [(1, 1, 0)] + [(2, 1, 0)] * 7)

    def test_without_a_round_what_is_not_next_is_asked_for(self):
        feed, own = self.feed(0)
        for turn, batch, slot in ((1, 2, 0), (2, 0, 0), (2, 1, 1)):
            own.send(struct.pack("<QQQ", turn, batch, slot))
        for batch in (2, 0, 1):
            feed.take(batch)
        self.assertEqual([wish for wish in self.wishes(own) if wish[0] == 1], [(1, 1, 2), (1, 2, 0)])


class Safetensors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "t.safetensors")
        self.addCleanup(self.folder.cleanup)

    def test_arrays_read_back_equal(self):
        written = {
            "bytes": np.arange(5, dtype=np.uint8), "double": np.array([[0.1, -2.5]]), "scalar": np.float32(3.25),
            "none": np.empty((0, 3), np.float32), "long": np.array([-1, 2**62]),
            "index": np.array([4294967295], np.uint32), "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        }
        common.write_safetensors(self.path, written)
        read = common.read_safetensors(self.path)
        self.assertEqual(set(read), set(written))
        for name, value in written.items():
            self.assertEqual(read[name].dtype, np.asarray(value).dtype, name)
            self.assertEqual(read[name].shape, np.shape(value), name)
            self.assertTrue(np.array_equal(read[name], value), name)

    def test_tensors_lie_at_multiples_of_their_size_without_holes(self):
        tensors = {"a": np.zeros(3, np.uint8), "b": np.zeros(2), "c": np.zeros(1, np.float32)}
        common.write_safetensors(self.path, tensors)
        with open(self.path, "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size).decode())
        self.assertEqual(size % 8, 0)
        end = 0
        for entry in sorted(header.values(), key=lambda one: one["data_offsets"]):
            self.assertEqual(entry["data_offsets"][0], end)
            self.assertEqual(end % {"F64": 8, "F32": 4, "U8": 1}[entry["dtype"]], 0)
            end = entry["data_offsets"][1]
        self.assertEqual(os.path.getsize(self.path), 8 + size + end)

    def test_bfloat16_is_widened_exactly(self):
        header = json.dumps({"w": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}).encode()
        with open(self.path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + struct.pack("<3H", 0x3F80, 0xC049, 0x7F80))
        values = common.read_safetensors(self.path)["w"]
        self.assertEqual(values.dtype, np.float32)
        self.assertEqual(values.tolist(), [1.0, -3.140625, float("inf")])

    def test_a_file_that_ends_early_is_refused(self):
        common.write_safetensors(self.path, {"a": np.zeros(8)})
        with open(self.path, "r+b") as file:
            file.truncate(os.path.getsize(self.path) - 8)
        self.assertRaises(ValueError, common.read_safetensors, self.path)

    def test_arrays_are_converted_as_they_are_written(self):
        turned = np.arange(6, dtype=np.float64).reshape(2, 3).T
        common.write_safetensors(self.path, {"a": turned, "b": np.float32(0.5)}, np.float32)
        read = common.read_safetensors(self.path)
        self.assertEqual({array.dtype for array in read.values()}, {np.dtype(np.float32)})
        self.assertTrue(np.array_equal(read["a"], turned))
        self.assertEqual(read["b"], 0.5)

    def test_a_failed_write_leaves_nothing_behind(self):
        with self.assertRaises(KeyError):
            common.write_safetensors(self.path, {"a": np.zeros(1, np.complex128)})
        with self.assertRaises(OSError):
            common.write_safetensors(os.path.join(self.folder.name, "none", "t"), {"a": np.zeros(1)})
        self.assertEqual(os.listdir(self.folder.name), [])


class Streams(unittest.TestCase):
    """Of a plan whose graph carries a state, or whose targets are hidden, what an adapter asks."""

    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        with open(self.work.path("graph", "json")) as file:
            self.graph = json.load(file)

    def plan(self, **members):
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(dict(self.graph, **members), file)
        return common.Plan(self.work.plan())

    def test_an_epoch_ends_where_the_next_step_is_of_another(self):
        order = common.read_safetensors(self.work.path("order"))
        common.write_safetensors(self.work.path("order"), dict(order, epoch=np.array([0, 0, 1, 1, 1, 2], np.uint32)))
        plan = self.plan(carries_state=True)
        self.assertTrue(plan.carries_state)
        self.assertEqual([plan.ends_epoch(step) for step in range(6)], [False, True, False, False, True, False])

    def test_without_epochs_there_is_one(self):
        plan = self.plan()
        self.assertFalse(plan.carries_state)
        self.assertFalse(any(plan.ends_epoch(step) for step in range(6)))

    def test_targets_of_positions_alone_are_hidden(self):
        y = np.zeros((20, 3), np.int64)
        for hidden, wanted in ((0, False), (-1, True)):
            y[4, 1] = hidden
            common.write_safetensors(self.work.path("train"), {"x": self.work.x, "y": y})
            self.assertIs(self.plan(target={"kind": "classes", "shape": ["N", 3]}).hides_targets, wanted)

    def test_who_cannot_do_it_says_so(self):
        plan = self.plan(carries_state=True)

        class Lacking(common.Adapter):
            ops, precisions = [node["op"] for node in plan.graph["nodes"]], ("f64",)

        with self.assertRaisesRegex(common.Unsupported, "state that is carried"):
            common._check_supported(Lacking(), plan)


class Pieces(unittest.TestCase):
    """Of a plan with a prompt: what is asked of an adapter, and what is told of it."""

    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.x = np.arange(20 * 6, dtype=np.int32).reshape(20, 6)
        common.write_safetensors(self.work.path("train"), {"x": self.x, "y": np.zeros((20, 6), np.int64)})

    def plan(self, **changes):
        return common.Plan(dict(self.work.plan(), **dict({"mode": "infer", "prompt": 4, "tokens": 2}, **changes)))

    def test_rows_are_a_prompt_and_each_token(self):
        self.assertEqual(self.plan().pieces(), [(0, 4), (4, 5), (5, 6)])
        whole = self.plan(prompt=None, tokens=None)
        self.assertEqual((whole.prompt, whole.tokens), (None, 0))

    def test_pieces_are_asked_for_in_their_order_and_timed(self):
        asked = []

        class Piecing(common.Adapter):
            def infer_piece(self, x, first):
                asked.append((first, x.copy()))
                return x / 2

        server = common._Server(Piecing(), None)
        server.plan = self.plan()
        report = server._answer_requests(3, 3 + 2, None)
        self.assertEqual([first for first, _ in asked], [0, 4, 5] * 2)
        for request in range(2):
            rows = np.concatenate([x for _, x in asked[3 * request:3 * request + 3]], 1)
            self.assertTrue(np.array_equal(rows, self.x[self.work.order[3 + request]]))
        self.assertEqual((report["first"], report["count"]), (3, 2))
        self.assertEqual([len(report[name]) for name in ("latency_ns", "prompt_ns", "token_ns")], [2, 2, 4])
        for request, latency in enumerate(report["latency_ns"]):
            pieces = [report["prompt_ns"][request], *report["token_ns"][2 * request:2 * request + 2]]
            self.assertLessEqual(sum(pieces), latency)
            self.assertGreaterEqual(min(pieces), 0)

    def test_all_pieces_of_a_batch_are_those_of_its_rows(self):
        class Piecing(common.Adapter):
            plan = self.plan()

            def infer_piece(self, x, first):
                return x + 1000 * first

        made = Piecing().infer_pieces(self.x)
        self.assertTrue(np.array_equal(made, self.x + [0, 0, 0, 0, 4000, 5000]))

    def test_what_is_no_prompt_is_refused(self):
        for error, said, changes in (
            (common.ProtocolError, "only in mode", {"mode": "train"}),
            (common.ProtocolError, '"prompt" is 0', {"prompt": 0}),
            (common.ProtocolError, '"prompt" is True', {"prompt": True}),
            (common.ProtocolError, '"tokens" is None', {"tokens": None}),
            (common.LoadFailed, "4 positions and 3 tokens are not a row", {"tokens": 3}),
        ):
            with self.subTest(said), self.assertRaisesRegex(error, said):
                self.plan(**changes)

    def test_who_cannot_do_it_says_so(self):
        plan = self.plan()

        class Lacking(common.Adapter):
            ops, precisions, modes = [node["op"] for node in plan.graph["nodes"]], ("f64",), ("infer",)

        with self.assertRaisesRegex(common.Unsupported, "prompt that is answered before the tokens behind it: prompt = none"):
            common._check_supported(Lacking(), plan)


class Toy(unittest.TestCase):
    """The message loop, with an adapter whose answers are known."""

    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.adapter = driver.Driver(os.path.join(HERE, "toy_adapter.py"))
        self.ended = False
        self.addCleanup(self.end)

    def end(self):
        if not self.ended:
            self.ended = True
            return self.adapter.end()

    def refused(self, code, type_, **members):
        reply = self.adapter.need("error", type_, **members)
        self.assertEqual(reply["code"], code, reply["message"])
        return reply

    def open(self, **changes):
        return self.adapter.need("opened", "open", plan=self.work.plan(**changes))

    def test_hello_says_who_it_is(self):
        reply = self.adapter.need("hello", "hello", protocol=1)
        self.assertEqual((reply["adapter"], reply["version"], reply["protocol"]), ("toy", "1.0", 1))
        self.assertIn("Python", reply["runtime"])
        self.assertEqual(reply["features"], ["forward", "backward", "step", "train", "infer", "save", "answers"])
        self.assertIs(reply["no_work"], False)
        self.refused("unsupported", "hello", protocol=2)

    def test_end_of_file_ends_with_0(self):
        self.open()
        self.assertEqual(self.end(), 0)

    def test_bye_ends_with_0(self):
        self.adapter.say("bye")
        self.assertRaises(EOFError, self.adapter.hear)
        self.assertEqual(self.end(), 0)

    def test_a_line_that_is_no_message_ends_with_an_error(self):
        self.adapter.socket.sendall(b"what?\n")
        self.assertEqual(self.adapter.hear()["code"], "protocol_error")
        self.assertNotEqual(self.end(), 0)

    def test_a_plan_must_be_open(self):
        for kind in ("reset", "forward", "backward", "step", "train", "infer", "save"):
            self.refused("protocol_error", kind)
        self.open()
        self.refused("protocol_error", "open", plan=self.work.plan())

    def test_what_is_not_supported_is_named(self):
        optimizer = self.work.plan()["optimizer"]
        for part, changes in (
            ("bf16", {"precision": "bf16"}), ("cuda", {"device": "cuda"}), ("mode dream", {"mode": "dream"}),
            ("label_smoothing", {"label_smoothing": 0.1}),
            ("hinge", {"loss": "hinge"}), ("adam", {"optimizer": dict(optimizer, name="adam")}),
            ("clip_norm", {"optimizer": dict(optimizer, clip_norm=1.0)}), ("speed", {"options": {"speed": 2}}),
            ("pipe", {"input": {"kind": "pipe"}}), ("processes", {"dist": {"rank": 0, "world": 2}}),
        ):
            with self.subTest(part):
                self.assertIn(part, self.refused("unsupported", "open", plan=self.work.plan(**changes))["message"])
        with open(self.work.path("graph", "json")) as file:
            graph = json.load(file)
        graph["nodes"][3]["op"] = "Softsign"
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(graph, file)
        reply = self.refused("unsupported", "open", plan=self.work.plan())
        self.assertEqual((reply["op"], reply["stage"]), ("Softsign", "open"))

    def test_rows_that_are_no_images_are_refused_by_who_does_not_declare_them(self):
        with open(self.work.path("graph", "json")) as file:
            graph = json.load(file)
        x = graph["inputs"][0]
        names = [entry["name"] for entry in graph["params"]]
        for part, change in (
            ("int32 inputs", {"inputs": [dict(x, dtype="I32")]}),
            ("targets other than a class", {"target": {"kind": "vector", "shape": ["N", 3]}}),
            ("several nodes share", {"nodes": graph["nodes"] + [dict(graph["nodes"][-1], params={"weight": names[0]}),
                                                               dict(graph["nodes"][-1], params={"weight": names[0]})]}),
            ("different shapes", {"nodes": graph["nodes"] + [dict(graph["nodes"][-1], params={}, attrs={"broadcast": 1})]}),
            ("more than two dimensions", {"nodes": graph["nodes"][:-1] + [dict(graph["nodes"][-1], attrs={"positions": 1})]}),
        ):
            with self.subTest(part), open(self.work.path("graph", "json"), "w") as file:
                json.dump(dict(graph, **change), file)
                file.flush()
                self.assertIn(part, self.refused("unsupported", "open", plan=self.work.plan())["message"])

    def test_files_that_do_not_fit_the_plan_are_refused(self):
        self.refused("load_failed", "open", plan=self.work.plan(weights="/nowhere/w"))
        self.refused("load_failed", "open", plan=self.work.plan(steps=7))
        self.refused("load_failed", "open", plan=self.work.plan(graph=self.work.path("weights")))
        self.work.order[5, 0] = 20
        common.write_safetensors(self.work.path("order"), {"order": self.work.order, "lr": self.work.lr})
        self.assertIn("row 20 of 20", self.refused("load_failed", "open", plan=self.work.plan())["message"])
        self.work.weights["fc.bias"] = np.zeros(4, np.float32)
        common.write_safetensors(self.work.path("weights"), self.work.weights)
        self.assertIn("fc.bias", self.refused("load_failed", "open", plan=self.work.plan())["message"])

    def test_a_plan_without_its_members_is_refused(self):
        plan = self.work.plan()
        del plan["batch"]
        self.assertIn("batch", self.refused("protocol_error", "open", plan=plan)["message"])
        self.refused("protocol_error", "open", plan={})
        self.refused("protocol_error", "open")

    def test_failures_have_the_code_of_their_kind(self):
        self.refused("build_failed", "open", plan=self.work.plan(options={"fail": "build"}))
        self.refused("oom_host", "open", plan=self.work.plan(options={"fail": "memory"}))
        self.open(options={"fail": "step"})
        blocks, last = self.adapter.train(0, 6, 2)
        self.assertEqual(len(blocks), 1)
        self.assertEqual((last["type"], last["code"], last["stage"]), ("error", "crashed", "train"))
        self.assertIn("the kernel failed", last["message"])
        self.assertIn("Traceback", self.adapter.log_text())
        self.refused("protocol_error", "step", n=1)
        self.adapter.need("done", "reset")
        self.adapter.need("tensors", "step", n=1)

    def test_what_the_framework_got_is_what_is_stored(self):
        self.open()
        reply = self.adapter.need("tensors", "forward", batch=2, mode="eval")
        self.assertEqual(reply["multiply_adds"], 7)
        tensors = common.read_safetensors(reply["path"])
        self.assertEqual(set(tensors), {"x", "y", "logits", "loss"})
        self.assertTrue(np.array_equal(tensors["x"], self.work.x[self.work.order[2]]))
        self.assertEqual(tensors["x"].dtype, np.uint8)
        self.assertTrue(np.array_equal(tensors["y"], self.work.y[self.work.order[2]]))
        self.assertEqual(tensors["loss"].shape, ())
        logits = self.adapter.tensors("forward", batch=0, mode="train")["logits"]
        self.assertTrue(np.array_equal(logits, np.ones((4, 2))))
        gradients = self.adapter.tensors("backward", batch=0, mode="train")
        self.assertEqual(set(gradients), {"loss"} | {"grad." + name for name in self.work.weights})
        for arguments in ({"batch": 6, "mode": "eval"}, {"batch": 0, "mode": "test"}, {"batch": True, "mode": "eval"}):
            self.refused("protocol_error", "forward", **arguments)

    def test_step_and_train_share_one_counter(self):
        self.open()
        start = self.adapter.tensors("step", n=0)
        self.assertTrue(np.array_equal(start["fc.bias"], self.work.weights["fc.bias"]))
        after = self.adapter.tensors("step", n=4)
        # Sums of at most six numbers near 1: a few units in the last place of a double.
        np.testing.assert_allclose(start["fc.bias"] - after["fc.bias"], self.work.lr[:4].sum(), rtol=0, atol=1e-14)
        self.refused("protocol_error", "train", **{"from": 0, "to": 2, "block": 1})
        self.refused("protocol_error", "step", n=3)
        blocks, last = self.adapter.train(4, 6, 5)
        self.assertEqual(([b["first"] for b in blocks], last["type"]), ([4], "done"))
        self.adapter.need("done", "reset")
        again = self.adapter.tensors("step", n=4)
        self.assertTrue(np.array_equal(again["fc.bias"], after["fc.bias"]))

    def test_blocks_have_times_in_order_and_all_losses(self):
        self.open()
        blocks, last = self.adapter.train(0, 5, 2)
        self.assertEqual(last["type"], "done")
        self.assertEqual([(block["first"], block["count"], block["loss"]) for block in blocks],
                         [(0, 2, [0, 1]), (2, 2, [2, 3]), (4, 1, [4])])
        before = 0
        for block in blocks:
            self.assertLessEqual(before, block["t_start_ns"])
            self.assertLessEqual(block["t_start_ns"] + block["input_ns"], block["t_end_ns"])
            before = block["t_end_ns"]

    def test_a_loader_of_ones_own_is_refused_by_who_has_none(self):
        plan = self.work.plan()
        plan["input"] = dict(plan["input"], kind="own", threads=2)
        self.assertIn("no batches by a loader", self.refused("unsupported", "open", plan=plan)["message"])

    def test_losses_that_are_no_numbers_are_spelled(self):
        self.open(options={"fail": "-inf"})
        self.assertEqual(self.adapter.train(0, 2, 2)[0][0]["loss"], ["-inf", "-inf"])

    def test_saved_weights_are_float32_under_the_graphs_names(self):
        self.open()
        path = self.work.path("saved")
        reply = self.adapter.need("saved", "save", format="safetensors", path=path)
        self.assertEqual((reply["path"], reply["bytes"]), (path, os.path.getsize(path)))
        saved = common.read_safetensors(path)
        for name, value in self.work.weights.items():
            self.assertEqual(saved[name].dtype, np.float32)
            self.assertTrue(np.array_equal(saved[name], value))
        self.refused("unsupported", "save", format="onnx", path=path)
        self.refused("unsupported", "save", format="safetensors", path=path, dtype="bf16")
        self.adapter.need("saved", "save", format="safetensors", path=path, dtype="f64")  # the plan is in double
        self.assertEqual({value.dtype for value in common.read_safetensors(path).values()}, {np.dtype(np.float64)})
        self.refused("protocol_error", "save", format="safetensors", path="here")

    def infer(self, requests):
        """The reports and the last message."""
        return self.adapter.series("latencies", "infer", requests=requests, batch=self.work.BATCH)

    def test_requests_go_through_the_order_and_begin_again(self):
        self.open(mode="infer")
        requests = 2 * self.work.STEPS + 1
        reports, last = self.infer(requests)
        self.assertEqual(last, {"type": "done"})
        with open(os.path.join(self.work.folder, "requests"), "rb") as file:
            rows = np.frombuffer(file.read(), np.uint8).reshape(requests, self.work.BATCH)
        for number in range(requests):
            self.assertTrue(np.array_equal(rows[number], self.work.x[self.work.order[number % 6], 0, 0, 0]), number)

    def make_ring(self, slots=4, room=20):
        """A ring with that room; its path, bytes of a slot."""
        path, size = self.work.path("ring"), 64 + 4 * room + 8 + room % 2 * 4
        with open(path, "wb") as file:
            file.write(struct.pack("<8sIII", b"YSRING1", slots, size, room).ljust(64 + slots * size, b"\0"))
        return path, size

    def test_answers_are_shown_in_the_ring(self):
        self.open(mode="infer")
        requests = self.work.STEPS + 2  # the last is of batch 1 again
        logits = self.work.x[self.work.order[1], 0, 0, :2] / 3  # the toy's, in double
        for room in (20, 5):
            path, size = self.make_ring(room=room)
            _, last = self.adapter.series("latencies", "infer", requests=requests, batch=self.work.BATCH, answers=path)
            self.assertEqual(last, {"type": "done"})
            with open(path, "rb") as file:
                data = file.read()
            for request in range(requests - 4, requests):
                start = 64 + request % 4 * size
                count = min(room, logits.size)
                self.assertEqual(struct.unpack_from("<QQII", data, start), (request + 1, request, request % self.work.STEPS, count))
                self.assertEqual(struct.unpack_from("<Q", data, start + size - 8), (request + 1,))
            values = np.frombuffer(data, "<f4", count, start + 64)
            self.assertTrue(np.array_equal(values, logits.astype(np.float32).ravel()[:count]))

    def test_what_is_no_ring_is_refused(self):
        self.open(mode="infer")
        for content in (None, b"", b"YSRING1\0", bytes(4096), struct.pack("<8sIII", b"YSRING1", 4, 1 << 20, 1 << 10).ljust(4096, b"\0")):
            path = self.work.path("ring")
            if content is not None:
                with open(path, "wb") as file:
                    file.write(content)
            self.assertIn("ring of answers", self.refused("load_failed", "infer", requests=1, batch=self.work.BATCH, answers=path)["message"])

    def test_every_request_is_reported_once_with_its_time(self):
        self.open(mode="infer")
        reports, last = self.infer(5000)
        self.assertEqual(last["type"], "done")
        first = before = 0
        for report in reports:
            self.assertEqual((report["first"], report["count"]), (first, len(report["latency_ns"])))
            self.assertLessEqual(report["count"], 4096)
            self.assertGreater(min(report["latency_ns"]), 0)
            self.assertLessEqual(before, report["t_start_ns"])
            # One after the other, so together they last no longer than the time they lie in.
            self.assertLessEqual(sum(report["latency_ns"]), report["t_end_ns"] - report["t_start_ns"])
            first, before = first + report["count"], report["t_end_ns"]
        self.assertEqual(first, 5000)

    def test_a_request_that_fails_ends_the_answer(self):
        self.open(mode="infer", options={"fail": "request"})
        _, last = self.infer(9)
        self.assertEqual((last["type"], last["code"], last["stage"]), ("error", "crashed", "infer"))

    def test_a_plan_that_infers_does_not_train(self):
        os.unlink(self.work.path("order"))
        common.write_safetensors(self.work.path("order"), {"order": self.work.order})  # no learning rates
        self.open(mode="infer")
        self.adapter.need("tensors", "forward", batch=0, mode="eval")
        self.adapter.need("tensors", "step", n=0)
        self.adapter.need("saved", "save", format="safetensors", path=self.work.path("saved"))
        self.refused("protocol_error", "forward", batch=0, mode="train")
        self.refused("protocol_error", "backward", batch=0, mode="eval")
        self.refused("protocol_error", "step", n=1)
        self.refused("protocol_error", "train", **{"from": 0, "to": 1, "block": 1})
        for arguments in ({"requests": 0, "batch": 4}, {"requests": 1, "batch": 3}, {"requests": 1}, {"batch": 4}):
            self.refused("protocol_error", "infer", **arguments)

    def test_a_plan_that_trains_does_not_infer(self):
        self.open()
        self.assertIn("infer", self.refused("protocol_error", "infer", requests=1, batch=4)["message"])

    def test_unknown_messages_are_unsupported(self):
        self.open()
        for kind in ("input_gradient", "dance"):
            self.refused("unsupported", kind)


class Importing(unittest.TestCase):
    def test_a_framework_that_cannot_be_imported_is_reported(self):
        adapter = driver.Driver(os.path.join(HERE, "toy_adapter.py"), env={"TOY_IMPORT": "fail"})
        reply = adapter.need("error", "hello", protocol=1)
        self.assertEqual((reply["code"], reply["stage"]), ("load_failed", "hello"))
        self.assertIn("libtoy.so.1", reply["message"])
        self.assertEqual(adapter.end(), 1)
