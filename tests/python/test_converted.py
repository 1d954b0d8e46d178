"""Adapters whose networks come as files of a converter's: what they say of it, where it failed and where it did not."""

import json
import os
import subprocess
import unittest

import driver
from tap_framework import find_python
from test_onnx import SINGLE_BOUND, Case, error, there


ONNXRUNTIME = "onnxruntime-quantiser", "onnxruntime_quantise.py"
OPENVINO = "openvino-quantiser", "openvino_quantise.py"
LITERT = "litert-converter", "litert_convert.py"
PRODUCTS = "conv1", "conv2", "fc1", "fc2"  # each has a weight in integers
SCALES = r"^\S.*: (scale [0-9.e-]+|\d+ scales, [0-9.e-]+ to [0-9.e-]+), zero points? [0-9-]+( to [0-9-]+)?$"
# Each of LeNet's four products moves values by half a step of 255 of the largest and of their weights, some 0.4 percent
# of the largest, which adds up; numbers that mean nothing differ by 1.
COARSE = 0.2


def convert(case, tool, script, network):
    """The member `converted` of a plan of the network; the case is skipped where the tool is not installed."""
    python = find_python(tool)
    if "envs" not in python:
        case.skipTest("%s is not installed: yardstick install %s" % (tool, tool))
    path = network.path("converted")
    done = subprocess.run([python, os.path.join(driver.ADAPTERS, script), network.path("graph.json"), network.path("weights"),
                           str(network.plan()["batch"]), "{}", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    case.assertEqual(done.returncode, 0, done.stdout)
    return {"by": "tool@1", "path": path}


class Converted:
    """What holds for all."""

    def start(self):
        adapter = driver.Direct(self.adapter())
        self.addCleanup(adapter.end)
        return adapter

    def refused(self, converted):
        return self.start().ask("open", plan=self.network("lenet", "f32").plan(converted=converted))

    def test_why_there_is_no_file_is_the_answer(self):
        for code in "unsupported", "build_failed":
            reply = self.refused({"by": "tool@1", "code": code, "message": "no operator Foo"})
            self.assertEqual((reply["type"], reply["code"], reply["message"]), ("error", code, "tool@1: no operator Foo"))

    def test_a_plan_without_a_file_is_refused(self):
        reply = self.refused(None)
        self.assertEqual((reply["type"], reply["code"]), ("error", "unsupported"))

    def test_a_file_that_is_none_is_build_failed(self):
        network = self.network("lenet", "f32")
        with open(network.path("junk"), "wb") as file:
            file.write(b"junk" * 100)
        reply = self.start().ask("open", plan=network.plan(converted={"by": "tool@1", "path": network.path("junk")}))
        self.assertEqual((reply["type"], reply["code"]), ("error", "build_failed"), reply)

    def test_what_was_converted_gives_the_logits_of_the_oracle(self):
        for model, merged in ("lenet", False), ("resnet20", True):
            with self.subTest(model):
                network = self.network(model, "f32")
                converted = convert(self, self.tool, self.script, network)
                adapter = self.start()
                reply = adapter.need("opened", "open", plan=network.plan(converted=converted))
                self.assertIn("network converted by tool@1", reply["deviations"][0])
                self.assertEqual("merged" in reply["deviations"][0], merged)
                found = adapter.tensors("forward", batch=0, mode="eval")["logits"]
                self.assertLess(error(found, network.oracle()["logits"]), SINGLE_BOUND)


@unittest.skipUnless(there("ai_edge_litert"), "LiteRT is not installed: yardstick install litert")
class LiteRT(Converted, Case):
    tool, script = "litert-converter", "litert_convert.py"

    def adapter(self):
        return driver.load("litert").LiteRT()


@unittest.skipUnless(there("executorch"), "ExecuTorch is not installed: yardstick install executorch")
class ExecuTorch(Converted, Case):
    tool, script = "executorch-converter", "executorch_convert.py"

    def adapter(self):
        return driver.load("executorch").ExecuTorch()


class Quantised(Case):
    """Own quantisers, run as src/framework/converter.h says: what they make is another network than the one in float, and near it."""

    def quantise(self, tool, script, network, **rule):
        python = find_python(tool)
        if "envs" not in python:
            self.skipTest("%s is not installed: yardstick install %s" % (tool, tool))
        rule = {"kind": "static", "scheme": "per-channel", "range": "full", "calibration": "minmax", "rows": 2, **rule}
        asked = {"rule": rule, "data": network.path("train"), "order": network.path("order")}
        options = json.dumps({"quantise": asked, "onnx": network.path("model.onnx")})
        done = subprocess.run([python, os.path.join(driver.ADAPTERS, script), network.path("graph.json"), network.path("weights"),
                               str(network.plan()["batch"]), options, network.path("made")], cwd=network.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done, network.plan(quantise=asked, converted={"by": "tool@1", "path": network.path("made")})

    def check(self, made, tool, script, kinds):
        for kind in kinds:
            with self.subTest(kind):
                network = self.network("lenet", "f32")
                done, plan = self.quantise(tool, script, network, kind=kind)
                self.assertEqual(done.returncode, 0, done.stdout)
                adapter = driver.Direct(made())
                self.addCleanup(adapter.end)
                opened = adapter.need("opened", "open", plan=plan)
                self.assertIn("quantised by tool@1", opened["deviations"][0])
                self.assertGreaterEqual(len(opened["scales"]), len(PRODUCTS))
                for text in opened["scales"]:
                    self.assertRegex(text, SCALES)
                far = error(adapter.tensors("forward", batch=0, mode="eval")["logits"], network.oracle()["logits"])
                self.assertGreater(far, SINGLE_BOUND)
                self.assertLess(far, COARSE)

    def check_refused(self, tool, script, words, **rule):
        done, _ = self.quantise(tool, script, self.network("lenet", "f32"), **rule)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertTrue(done.stdout.splitlines()[-1].endswith(words), done.stdout)

    @unittest.skipUnless(there("onnxruntime"), "ONNX Runtime is not installed: yardstick install onnxruntime")
    def test_that_of_onnx_runtime(self):
        self.check(lambda: driver.load("onnxruntime").OnnxRuntime(), *ONNXRUNTIME, ("static", "dynamic"))
        self.check_refused(*ONNXRUNTIME, "has no quant.calibration = mse", calibration="mse")
        self.check_refused(*ONNXRUNTIME, "has no quant = weights", kind="weights")

    @unittest.skipUnless(there("openvino"), "OpenVINO is not installed: yardstick install openvino")
    def test_that_of_openvino(self):
        self.check(lambda: driver.load("openvino").OpenVINO(), *OPENVINO, ("static", "weights"))
        self.check_refused(*OPENVINO, "has no quant = dynamic", kind="dynamic")
        self.check_refused(*OPENVINO, "has no quant.range = reduced", kind="weights", range="reduced")

    @unittest.skipUnless(there("ai_edge_litert"), "LiteRT is not installed: yardstick install litert")
    def test_that_of_litert(self):
        self.check(lambda: driver.load("litert").LiteRT(), *LITERT, ("static",))
        self.check_refused(*LITERT, "has no quant.range = reduced", range="reduced")


if __name__ == "__main__":
    unittest.main()
