"""The adapters of frameworks that compute in single precision only, Caffe and SINGA, whichever this interpreter has.
Their proofs are weak: no proof looks at their steps, so these tests do, in single precision against the plain NumPy
oracle."""

import json
import unittest
from unittest import mock

import agreement
import driver
import numpy as np
import oracle


NAME = next(filter(driver.is_installed, ("caffe", "singa")), None)
if NAME is None:
    raise unittest.SkipTest("neither Caffe nor SINGA is here: docs/frameworks/caffe.md, singa.md say how to build them")
module = driver.load(NAME)
HASTY = agreement.HASTY


class Caffe:
    Adapter = getattr(module, "Caffe", None)
    # Windows that it has no exact answer to, exchanged for others.
    nodes = (driver.node("AveragePool", "around", ["relu1"], driver.window(
                 (3, 3), (1, 1, 1, 1), ceil_mode=0, count_include_pad=1)),
             driver.node("AveragePool", "pool3", ["pool2"], driver.window(
                 (3, 3), (1, 1, 1, 1), ceil_mode=0, count_include_pad=1)))
    shapes = {}
    optimizers = agreement.OPTIMIZERS
    deviations = ("adam", "adamw", "rmsprop", "nesterov")


class Singa:
    Adapter = getattr(module, "Singa", None)
    nodes = (driver.node("Conv", "conv2", ["pool1"], driver.window((2, 3), (1, 1, 1, 1), (2, 2), group=1),
                         ["weight", "bias"]),)
    shapes = {"conv2.weight": (6, 4, 2, 3)}
    optimizers = [settings for settings in agreement.OPTIMIZERS
                  if settings.get("name") != "rmsprop" and "clip_norm" not in settings]
    deviations = ()


Kind = {"caffe": Caffe, "singa": Singa}[NAME]


class Single(Kind, agreement.Agreement):
    def start(self):
        with mock.patch.dict(driver.SHAPES, self.shapes):
            self.work, graph = driver.Work(), driver.graph()
        self.addCleanup(self.work.remove)
        others = {node["name"]: node for node in self.nodes}
        graph["nodes"] = [others.get(node["name"], node) for node in graph["nodes"]]
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(graph, file)
        self.adapter = driver.Direct(self.Adapter())
        self.oracle = oracle.Oracle(graph, self.work.weights)

    setUp = start

    def open(self, **changes):
        return super().open(**dict({"precision": "f32"}, **changes))

    def agrees(self, optimizer=None, bound=agreement.SINGLE, **changes):
        return super().agrees(optimizer, bound, **changes)

    def test_it_agrees_by_every_optimizer(self):
        for settings in self.optimizers:
            with self.subTest(settings):
                self.start()
                reply = self.agrees(dict(HASTY, **settings))
                rule = "nesterov" if settings.get("nesterov") and settings.get("momentum", 1) else settings.get("name")
                self.assertEqual(bool(reply["deviations"]), rule in self.deviations)

    def test_it_agrees_on_every_loss(self):
        self.agrees(loss="mean_squared_error")

    def test_losses_are_those_of_their_steps(self):
        self.open()
        blocks, last = self.adapter.train(0, driver.Work.STEPS, 4)
        self.assertEqual(last["type"], "done")
        expected = [self.oracle.step(*self.batch(step), self.work.lr[step], driver.SGD)
                    for step in range(driver.Work.STEPS)]
        losses = [loss for block in blocks for loss in block["loss"]]
        np.testing.assert_allclose(losses, expected, rtol=agreement.SINGLE)

    def test_it_infers_in_double_and_single(self):
        self.open(mode="infer")
        logits = self.adapter.server.adapter.infer_step(self.batch(1)[0])
        self.assertEqual(logits.dtype, np.float32)
        self.assertLess(agreement.error(logits, self.oracle.forward(self.batch(1)[0])), 3 * 54 * 2.0**-24)
        reports, _ = self.adapter.series("latencies", "infer", requests=3, batch=driver.Work.BATCH)
        self.assertEqual(sum(report["count"] for report in reports), 3)

    def test_what_it_cannot_do_exactly_is_refused_by_name(self):
        for changes in ({"loss": "nll"}, {"label_smoothing": 0.2}, {"precision": "f64"}):
            with self.subTest(changes):
                self.start()
                reply = self.adapter.need("error", "open", plan=self.work.plan(**dict({"precision": "f32"}, **changes)))
                self.assertEqual(reply["code"], "unsupported")
        self.start()
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(driver.graph(), file)  # with the node that was exchanged
        if not self.shapes:
            reply = self.adapter.need("error", "open", plan=self.work.plan(precision="f32"))
            self.assertEqual((reply["code"], reply["op"]), ("unsupported", self.nodes[0]["op"]))


# The case that is inherited would run here too.
def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(Single)
