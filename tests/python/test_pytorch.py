"""adapters/pytorch.py against the plain NumPy oracle, in double; and the adapters made wrong on purpose, each of which
must differ. Needs an interpreter that has PyTorch: this one, or the one that YS_TORCH_PYTHON names."""

import importlib.util
import json
import os
import sys
import unittest

import driver
import numpy as np
import oracle

PYTHON = os.environ.get("YS_TORCH_PYTHON") or sys.executable
if PYTHON == sys.executable and importlib.util.find_spec("torch") is None:
    raise unittest.SkipTest("PyTorch is not installed; YS_TORCH_PYTHON may name an interpreter that has it")

# Both sides round in double; sums here have at most a few hundred terms, and correct implementations were seen to
# differ by 1e-13 at most. The smallest mistake below moves something by 1e-8 or more.
BOUND = 1e-10


def error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


class Case(unittest.TestCase):
    script = None

    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.adapter = driver.Driver(self.script, PYTHON)
        self.addCleanup(self.adapter.end)
        self.oracle = oracle.Oracle(driver.graph(), self.work.weights)

    def open(self, **changes):
        return self.adapter.need("opened", "open", plan=self.work.plan(**changes))

    def batch(self, step):
        rows = self.work.order[step]
        return self.work.x[rows], self.work.y[rows]

    def worst_error(self, nesterov=False):
        """The largest of all errors that the proof looks at."""
        logits = self.oracle.forward(self.batch(0)[0])
        forward = self.adapter.tensors("forward", batch=0, mode="eval")
        errors = {"logits": error(forward["logits"], logits)}
        for name, value in self.adapter.tensors("step", n=0).items():
            errors["start " + name] = error(value, self.work.weights[name])
        loss, gradients = self.oracle.backward(*self.batch(0))
        backward = self.adapter.tensors("backward", batch=0, mode="train")
        errors["loss"] = error(backward["loss"], loss)
        for name, gradient in gradients.items():
            errors["gradient " + name] = error(backward["grad." + name], gradient)
        optimizer = dict(self.work.plan()["optimizer"], nesterov=nesterov)
        for step in range(driver.Work.STEPS):
            self.oracle.step(*self.batch(step), self.work.lr[step], optimizer)
        for name, value in self.adapter.tensors("step", n=driver.Work.STEPS).items():
            start = self.work.weights[name]
            errors["weight " + name] = error(value - start, self.oracle.weights[name] - start)
        return max(errors.values()), errors


class PyTorch(Case):
    script = os.path.join(driver.ADAPTERS, "pytorch.py")

    def test_it_agrees_with_the_oracle(self):
        self.open()
        worst, errors = self.worst_error()
        self.assertLess(worst, BOUND, errors)

    def test_it_agrees_with_nesterov_momentum(self):
        self.open(optimizer=dict(self.work.plan()["optimizer"], nesterov=True))
        worst, errors = self.worst_error(nesterov=True)
        self.assertLess(worst, BOUND, errors)

    def test_channels_last_agrees_and_is_declared(self):
        reply = self.open(options={"channels_last": True})
        self.assertEqual(reply["deviations"], ["channels_last memory format"])
        worst, errors = self.worst_error()
        self.assertLess(worst, BOUND, errors)

    def test_it_counts_parameters_and_multiply_adds(self):
        reply = self.open()
        self.assertEqual(reply["parameters"], sum(value.size for value in self.work.weights.values()))
        self.assertEqual(reply["threads"], 1)
        self.assertEqual(reply["deviations"], [])
        self.assertTrue(reply["libraries"])
        counted = self.adapter.need("tensors", "forward", batch=0, mode="eval").get("multiply_adds")
        self.oracle.forward(self.batch(0)[0])
        self.assertIn(counted, (self.oracle.multiply_adds, None))

    def test_forward_and_backward_change_nothing(self):
        self.open()
        before = self.adapter.tensors("step", n=2)
        self.adapter.need("tensors", "forward", batch=5, mode="train")
        self.adapter.need("tensors", "backward", batch=5, mode="train")
        after = self.adapter.tensors("step", n=2)
        self.adapter.need("done", "reset")
        self.adapter.need("tensors", "step", n=2)
        again = self.adapter.tensors("step", n=2)
        for name in before:
            self.assertTrue(np.array_equal(after[name], again[name]), name)
            self.assertFalse(np.array_equal(after[name], before[name]), name)

    def test_training_gives_the_losses_of_its_steps(self):
        self.open()
        blocks, last = self.adapter.train(0, driver.Work.STEPS, 4)
        self.assertEqual(last["type"], "done")
        settings, lr = self.work.plan()["optimizer"], self.work.lr
        expected = [self.oracle.step(*self.batch(step), lr[step], settings) for step in range(driver.Work.STEPS)]
        np.testing.assert_allclose([loss for block in blocks for loss in block["loss"]], expected, rtol=BOUND)

    def test_single_precision_is_single(self):
        self.open(precision="f32")
        forward = self.adapter.tensors("forward", batch=0, mode="eval")
        self.assertEqual(forward["logits"].dtype, np.float32)
        worst = error(forward["logits"], self.oracle.forward(self.batch(0)[0]))
        # Rounding of 2^-24 in sums of at most 54 terms through three layers.
        self.assertLess(worst, 3 * 54 * 2.0**-24)
        self.assertGreater(worst, 0)

    def test_a_new_operator_is_named(self):
        with open(self.work.path("graph", "json")) as file:
            graph = json.load(file)
        graph["nodes"][2]["op"] = "Gelu"
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(graph, file)
        reply = self.adapter.need("error", "open", plan=self.work.plan())
        self.assertEqual((reply["code"], reply["op"]), ("unsupported", "Gelu"))

    def test_hello_has_the_version(self):
        reply = self.adapter.need("hello", "hello", protocol=1)
        self.assertEqual(reply["framework"], "PyTorch")
        self.assertRegex(reply["version"], r"^\d+\.\d+")


class Wrong(Case):
    script = os.path.join(driver.ROOT, "tests", "adapters", "wrong_pytorch.py")

    def check(self, name, low, high=np.inf):
        self.open(options={"wrong": name})
        worst, errors = self.worst_error()
        self.assertGreaterEqual(worst, low, errors)
        self.assertLess(worst, high, errors)

    def test_without_a_mistake_it_is_right(self):
        self.check("nothing", 0, BOUND)

    def test_swapped_batches_are_seen_in_the_rows(self):
        self.open(options={"wrong": "batches_swapped"})
        self.assertTrue(np.array_equal(self.adapter.tensors("forward", batch=1, mode="eval")["y"], self.batch(2)[1]))


def must_be_seen(mistake):
    return lambda self: self.check(mistake, 1e-8)


for name in ("decay_left_out", "decay_sign", "decay_not_on_biases", "decay_decoupled", "momentum_rate_inside",
             "loss_summed", "pad_side", "batches_swapped", "one_weight", "conv_bf16"):
    setattr(Wrong, "test_%s_is_seen" % name, must_be_seen(name))
