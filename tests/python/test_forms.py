"""Networks that a framework saves in forms of its own (docs/adapters.md): one process saves, a fresh one builds from the file
alone, and answers as the oracle does by the weights as the form keeps them. Of the framework that tap_framework.py names,
and where that says nothing of PyTorch."""

import os
import sys
import unittest
import unittest.mock

import driver
import numpy as np

import common
from test_converted import convert
from test_onnx import ROWS, SINGLE_BOUND, Network, error

NAME, _, VERSION = os.environ.get("YARDSTICK_TEST_FRAMEWORK", "pytorch").partition("@")
MODELS = {"pytensor": ("mlp",), "theano": ("theano-mnist",)}.get(NAME, ("lenet", "resnet20"))  # what they have, and soon enough
HALF = ("ir",)  # forms that keep half precision
# A network, a form that cannot keep it, a word of the reason, and what the process gets of variables.
LACKS = {"keras": [("check_Gelu", "h5", "layers alone", {}), ("lenet", "export", "TensorFlow and JAX", {"KERAS_BACKEND": "torch"})],
         "caffe": [("torch-mnist", "caffemodel", "LogSoftmax", {})]}
TOOLS = {"litert": ("litert-converter", "litert_convert.py"), "executorch": ("executorch-converter", "executorch_convert.py")}
SCRIPTS = {"tensorflow": "tensorflow1.py" if VERSION.startswith("1.") else "tensorflow2.py", "torch7": "torch7.lua"}
SCRIPT = SCRIPTS.get(NAME, NAME + ".py")
PYTHON = os.environ.get("YARDSTICK_TEST_INTERPRETER", sys.executable)
if PYTHON == sys.executable:
    driver.require({"pytorch": "torch", "mnn": "MNN", "litert": "ai_edge_litert"}.get(NAME, NAME), NAME)


class Forms(unittest.TestCase):
    def start(self):
        program = driver.Driver(os.path.join(driver.ADAPTERS, SCRIPT), PYTHON)
        self.addCleanup(program.end)
        return program

    def network(self, model):
        network = Network(model, "f32")
        self.addCleanup(network.remove)
        return network

    def saver(self, network):
        """A process that has the network from graph and weights, and the forms that it names."""
        program = self.start()
        forms = program.need("hello", "hello", protocol=1)["forms"]
        made = {"converted": convert(self, *TOOLS[NAME], network)} if NAME in TOOLS else {}
        program.need("opened", "open", plan=network.plan(mode="size", **made))
        return program, forms

    def loader(self, network, form, path):
        """A process that has it from that file, and what it says of that."""
        program, plan = self.start(), network.plan(mode="size", stored={"form": form, "path": path})
        del plan["weights"], plan["onnx"]
        program.need("hello", "hello", protocol=1)
        return program, program.need("opened", "open", plan=plan)

    def test_a_fresh_process_answers_as_the_one_that_saved(self):
        for model in MODELS:
            network = self.network(model)
            program, forms = self.saver(network)
            self.assertTrue(forms)
            for form in forms:
                with self.subTest(model=model, form=form):
                    path = network.path("stored-" + form)
                    saved = program.need("saved", "save", form=form, path=path)
                    self.assertTrue(os.path.realpath(saved["path"]).startswith(os.path.realpath(network.folder) + os.sep))
                    self.assertEqual(saved["bytes"], size(saved["path"]))
                    self.check(network, form, saved)

    def check(self, network, form, saved):
        held = sum(value.size for value in network.weights.values())
        self.assertGreater(saved["bytes"], 1.5 * held)  # a half each, and compressed a little
        if "parameters_as_said" in saved:
            self.assertGreater(saved["parameters_as_said"], 1.99 * held)
        fresh, opened = self.loader(network, form, saved["path"])
        self.assertIsInstance(opened["graph_from_file"], bool)
        if "parameters" in opened:
            trained = sum(network.weights[entry["name"]].size for entry in network.graph["params"] if entry["role"] == "weight")
            self.assertEqual(opened["parameters"], trained)
        self.assertTrue(all(map(os.path.isfile, opened["files"])))
        self.assertTrue(any(os.path.basename(path) == "common" + os.path.splitext(SCRIPT)[1] for path in opened["files"]))
        reports, done = fresh.series("latencies", "infer", requests=2, batch=ROWS)
        self.assertEqual((sum(report["count"] for report in reports), done["type"]), (2, "done"))
        made = fresh.tensors("forward", batch=0, mode="eval")
        weights = dict(network.weights)
        if form in HALF:
            common.write_safetensors(network.path("weights"), {name: value.astype(np.float16).astype(np.float32)
                                                               for name, value in weights.items()})
        try:
            self.assertLess(error(made["logits"], network.oracle()["logits"]), SINGLE_BOUND)
        finally:
            common.write_safetensors(network.path("weights"), weights)

    def test_a_form_that_it_has_not_is_unsupported(self):
        network = self.network(MODELS[0])
        program, forms = self.saver(network)
        reply = program.ask("save", form="punched cards", path=network.path("cards"))
        self.assertEqual((reply["type"], reply["code"]), ("error", "unsupported"))
        self.assertIn(forms[0], reply["message"])

    def test_what_a_form_cannot_keep_is_refused_by_name(self):
        if NAME not in LACKS:
            self.skipTest("each form of %s keeps every network" % NAME)
        for model, form, words, variables in LACKS[NAME]:
            with self.subTest(model=model, form=form), unittest.mock.patch.dict(os.environ, variables):
                network = self.network(model)
                program, _ = self.saver(network)
                reply = program.ask("save", form=form, path=network.path("lacking"))
                self.assertEqual((reply["type"], reply["code"]), ("error", "unsupported"))
                self.assertIn(words, reply["message"])
                self.assertFalse(os.path.exists(network.path("lacking")))

    def test_what_is_there_is_not_written_over(self):
        network = self.network(MODELS[0])
        program, forms = self.saver(network)
        reply = program.ask("save", form=forms[0], path=network.path("graph.json"))
        self.assertEqual((reply["type"], reply["code"]), ("error", "protocol_error"))


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)
