"""What every adapter of a framework that trains owes, as a case for its test module to inherit: a small network with uneven
windows, groups, dilation, factors on rate and decay and a value that is read twice, against the plain NumPy oracle."""

import unittest

import driver
import numpy as np
import oracle

# As in test_pytorch.py: both sides round in double, in sums of a few hundred terms.
DOUBLE = 1e-10
# In single precision a step rounds weights of some 0.3 by 2^-25 of that, while it moves them by 0.001 and more, and gradients by
# some 1e-6: a few 1e-5 of the way gone. The mistakes that are looked for move something by a hundredth.
SINGLE = 1e-3
HASTY = {"beta1": 0.8, "beta2": 0.95, "alpha": 0.9, "epsilon": 1e-3}  # moments that move within six steps
OPTIMIZERS = ({}, {"nesterov": True}, {"momentum": 0.0}, {"momentum": 0.0, "nesterov": True}, {"name": "adam"},
              {"name": "adamw"}, {"name": "rmsprop", "momentum": 0.5}, {"name": "rmsprop", "momentum": 0.0},
              {"clip_norm": 0.01}, {"clip_norm": 1e6})


def error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


class Agreement(unittest.TestCase):
    Adapter = None  # the class
    options = {}    # of every plan

    def start(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.adapter = driver.Direct(self.Adapter())
        self.oracle = oracle.Oracle(driver.graph(), self.work.weights)

    setUp = start

    def open(self, **changes):
        return self.adapter.need("opened", "open", plan=self.work.plan(**dict({"options": self.options}, **changes)))

    def batch(self, step):
        rows = self.work.order[step]
        return self.work.x[rows], self.work.y[rows]

    def errors(self, settings, steps=driver.Work.STEPS):
        errors = {}
        for mode in ("eval", "train"):
            logits = self.oracle.forward(self.batch(0)[0], mode == "train")
            errors["logits " + mode] = error(self.adapter.tensors("forward", batch=0, mode=mode)["logits"], logits)
        loss, gradients = self.oracle.backward(*self.batch(0))
        backward = self.adapter.tensors("backward", batch=0, mode="train")
        self.assertEqual(set(backward), {"loss"} | {"grad." + name for name in gradients})
        errors["loss"] = error(backward["loss"], loss)
        errors.update((name, error(backward["grad." + name], gradient)) for name, gradient in gradients.items())
        for step in range(steps):
            self.oracle.step(*self.batch(step), self.work.lr[step], settings)
        for name, value in self.adapter.tensors("step", n=steps).items():
            start = self.work.weights[name]
            errors["trained " + name] = error(value - start, self.oracle.weights[name] - start)
        # Evaluation by the running statistics as they have become.
        logits = self.oracle.forward(self.batch(1)[0])
        errors["logits after"] = error(self.adapter.tensors("forward", batch=1, mode="eval")["logits"], logits)
        return errors

    def agrees(self, optimizer=None, bound=DOUBLE, **changes):
        settings = dict(driver.SGD, **(optimizer or {}))
        reply = self.open(optimizer=settings, **changes)
        self.oracle.kind = changes.get("loss", self.oracle.kind)
        self.oracle.label_smoothing = changes.get("label_smoothing", 0)
        errors = self.errors(settings)
        self.assertLess(max(errors.values()), bound, errors)
        return reply

    def test_it_agrees_with_the_oracle(self):
        reply = self.agrees()
        trained = [value.size for name, value in self.work.weights.items() if "running" not in name]
        self.assertEqual(reply["parameters"], sum(trained))
        if not self.options:
            self.assertEqual(reply["deviations"], [])

    def test_it_agrees_by_every_optimizer(self):
        for settings in OPTIMIZERS:
            for precision, bound in (("f64", DOUBLE), ("f32", SINGLE)):
                with self.subTest(settings, precision=precision):
                    self.start()
                    self.agrees(dict(HASTY, **settings), bound, precision=precision)

    def test_it_agrees_on_every_loss(self):
        for changes in ({"label_smoothing": 0.2}, {"loss": "nll"}, {"loss": "mean_squared_error"}):
            with self.subTest(changes):
                self.start()
                self.agrees(**changes)

    def test_losses_are_those_of_their_steps(self):
        self.open()
        blocks, last = self.adapter.train(0, driver.Work.STEPS, 4)
        self.assertEqual(last["type"], "done")
        expected = [self.oracle.step(*self.batch(step), self.work.lr[step], driver.SGD) for step in range(driver.Work.STEPS)]
        np.testing.assert_allclose([loss for block in blocks for loss in block["loss"]], expected, rtol=DOUBLE)

    def test_forward_and_backward_change_nothing_and_reset_brings_all_back(self):
        self.open(optimizer=dict(driver.SGD, name="adam"))
        before = self.adapter.tensors("step", n=2)
        self.adapter.need("tensors", "forward", batch=5, mode="train")
        self.adapter.need("tensors", "backward", batch=5, mode="train")
        between, after = self.adapter.tensors("step", n=0), self.adapter.tensors("step", n=2)
        self.adapter.need("done", "reset")
        again = self.adapter.tensors("step", n=4)
        for name in before:
            self.assertTrue(np.array_equal(between[name], before[name]), name)
            self.assertTrue(np.array_equal(after[name], again[name]), name)
            self.assertFalse(np.array_equal(after[name], before[name]), name)

    def test_it_infers_in_double_and_single(self):
        for precision, bound in (("f64", DOUBLE), ("f32", 3 * 54 * 2.0**-24)):  # three layers, sums of 54 terms
            with self.subTest(precision):
                self.start()
                self.open(mode="infer", precision=precision)
                logits = self.adapter.server.adapter.infer_step(self.batch(1)[0])
                self.assertEqual(logits.dtype, {"f64": np.float64, "f32": np.float32}[precision])
                self.assertLess(error(logits, self.oracle.forward(self.batch(1)[0])), bound)
                reports, _ = self.adapter.series("latencies", "infer", requests=3, batch=driver.Work.BATCH)
                self.assertEqual(sum(report["count"] for report in reports), 3)


def gradients_of(Adapter, nodes, x, weights, options=None, precision="f64"):
    """What an adapter makes of a network of these nodes, the last of which gives (N, classes), over float values x: the
    logits, and the gradients of the mean squared error for label 0 in every row."""
    work = driver.Work()
    try:
        params = [{"name": name, "shape": list(value.shape), "role": "weight", "lr_mult": 1.0, "decay_mult": 1.0}
                  for name, value in weights.items()]
        graph = {"format": "yardstick-graph", "version": 1, "name": "part", "nodes": nodes, "params": params,
                 "inputs": [{"name": "x", "shape": ["N"] + list(x.shape[1:]), "dtype": "F32"}],
                 "output": nodes[-1]["out"][-1], "loss": "mean_squared_error"}
        with open(work.path("graph", "json"), "w") as file:
            driver.json.dump(graph, file)
        common = driver.common
        common.write_safetensors(work.path("weights"), {name: value.astype(np.float32) for name, value in weights.items()})
        common.write_safetensors(work.path("train"), {"x": x.astype(np.float32), "y": np.zeros(len(x), np.int64)})
        common.write_safetensors(work.path("order"), {"order": np.arange(len(x), dtype=np.uint32)[None], "lr": np.array([0.1])})
        adapter = driver.Direct(Adapter())
        adapter.need("opened", "open", plan=work.plan(
            steps=1, batch=len(x), loss="mean_squared_error", precision=precision, options=options or {}))
        logits = np.array(adapter.tensors("forward", batch=0, mode="train")["logits"])
        found = adapter.tensors("backward", batch=0, mode="train")
        return logits, {name: np.array(found["grad." + name]) for name in weights}
    finally:
        work.remove()
