"""adapters/pytorch.py as a whole network against the plain NumPy oracle, in double; and the adapters made wrong on purpose,
each of which must differ. Needs an interpreter that has PyTorch."""

import json
import os
import shutil
import sys
import unittest

import agreement
import driver
import numpy as np
import oracle

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed: yardstick install pytorch")

sys.path.insert(0, os.path.join(driver.ROOT, "tests", "adapters"))

import pytorch  # noqa: E402
import wrong_pytorch  # noqa: E402

SCRIPT = os.path.join(driver.ADAPTERS, "pytorch.py")
# Both sides round in double; sums here have at most a few hundred terms, and correct implementations were seen to
# differ by 1e-13 at most. The smallest mistake below moves something by 1e-8 or more.
BOUND = 1e-10
compiles = unittest.skipUnless(hasattr(torch, "compile"), "PyTorch %s has no torch.compile" % torch.__version__)


def error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


class Case(unittest.TestCase):
    def setUp(self):
        self.work = driver.Work()
        self.addCleanup(self.work.remove)
        self.adapter = self.start()
        self.addCleanup(self.adapter.end)
        self.oracle = oracle.Oracle(driver.graph(), self.work.weights)

    def start(self):
        return driver.Direct(pytorch.PyTorch())

    def open(self, **changes):
        return self.adapter.need("opened", "open", plan=self.work.plan(**changes))

    def batch(self, step):
        rows = self.work.order[step]
        return self.work.x[rows], self.work.y[rows]

    def errors(self, modes=("eval", "train"), steps=driver.Work.STEPS, **optimizer):
        """All errors that the proof looks at."""
        errors = {}
        for mode in modes:
            logits = self.oracle.forward(self.batch(0)[0], mode == "train")
            errors["logits " + mode] = error(self.adapter.tensors("forward", batch=0, mode=mode)["logits"], logits)
        for name, value in self.adapter.tensors("step", n=0).items():
            errors["start " + name] = error(value, self.work.weights[name])
        loss, gradients = self.oracle.backward(*self.batch(0))
        backward = self.adapter.tensors("backward", batch=0, mode="train")
        self.assertEqual(set(backward), {"loss"} | {"grad." + name for name in gradients})
        errors["loss"] = error(backward["loss"], loss)
        for name, gradient in gradients.items():
            errors["gradient " + name] = error(backward["grad." + name], gradient)
        for step in range(steps):
            self.oracle.step(*self.batch(step), self.work.lr[step], dict(driver.SGD, **optimizer))
        for name, value in self.adapter.tensors("step", n=steps).items():
            start = self.work.weights[name]
            errors["weight " + name] = error(value - start, self.oracle.weights[name] - start)
        return errors

    def agrees(self, optimizer=None, modes=("eval", "train"), **changes):
        reply = self.open(optimizer=dict(driver.SGD, **(optimizer or {})), **changes)
        self.oracle.kind = changes.get("loss", self.oracle.kind)
        self.oracle.label_smoothing = changes.get("label_smoothing", 0)
        errors = self.errors(modes, **(optimizer or {}))
        self.assertLess(max(errors.values()), BOUND, errors)
        return reply


class PyTorch(agreement.OwnLoader, Case):
    LOADER = "torch.utils.data.DataLoader"

    def test_it_agrees_with_the_oracle(self):
        self.agrees()

    def test_it_agrees_with_nesterov_momentum(self):
        self.agrees({"nesterov": True})

    def test_it_agrees_without_momentum(self):
        self.agrees({"momentum": 0.0, "nesterov": True})

    def test_it_agrees_by_adam(self):
        self.agrees({"name": "adam", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3})

    def test_it_agrees_by_adamw(self):
        self.agrees({"name": "adamw", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3})

    def test_it_agrees_by_rmsprop(self):
        self.agrees({"name": "rmsprop", "momentum": 0.5, "alpha": 0.9, "epsilon": 1e-3})

    def test_it_agrees_by_rmsprop_without_momentum(self):
        self.agrees({"name": "rmsprop", "momentum": 0.0, "alpha": 0.9, "epsilon": 1e-3})

    def norm(self):
        return np.sqrt(sum((gradient**2).sum() for gradient in self.oracle.backward(*self.batch(0))[1].values()))

    def test_it_agrees_with_clipped_gradients(self):
        self.agrees({"clip_norm": 0.5 * self.norm()})

    def test_it_agrees_with_a_clip_that_is_never_reached(self):
        self.agrees({"clip_norm": 1e6 * self.norm()})

    def test_it_agrees_with_smoothed_labels(self):
        self.agrees(label_smoothing=0.2)

    def test_it_agrees_on_nll(self):
        self.agrees(loss="nll")

    def test_it_agrees_on_mean_squared_error(self):
        self.agrees(loss="mean_squared_error")

    def test_channels_last_agrees_and_is_declared(self):
        reply = self.agrees(options={"channels_last": True})
        self.assertEqual(reply["deviations"], ["channels_last memory format"])

    def test_it_counts_parameters_and_multiply_adds(self):
        reply = self.open()
        trained = [value.size for name, value in self.work.weights.items() if "running" not in name]
        self.assertEqual(reply["parameters"], sum(trained))
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
        between = self.adapter.tensors("step", n=0)
        after = self.adapter.tensors("step", n=2)
        self.adapter.need("done", "reset")
        self.adapter.need("tensors", "step", n=2)
        again = self.adapter.tensors("step", n=2)
        for name in before:
            self.assertTrue(np.array_equal(between[name], before[name]), name)
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

    def test_bfloat16_keeps_float32_where_it_must(self):
        """Files are F32; weights and statistics move by less than bfloat16 could hold; products are rounded to it."""
        self.open(precision="bf16")
        start, after = self.adapter.tensors("step", n=0), self.adapter.tensors("step", n=1)
        forward = self.adapter.tensors("forward", batch=0, mode="train")
        backward = self.adapter.tensors("backward", batch=0, mode="train")
        for tensors in (start, after, forward, backward):
            kinds = {array.dtype for name, array in tensors.items() if name not in "xy"}
            self.assertEqual(kinds, {np.dtype(np.float32)})
        for name, value in after.items():
            self.assertTrue(np.array_equal(start[name], self.work.weights[name]), name)
            self.assertTrue((value.view(np.uint32) & 0xFFFF).any(), name)  # more digits than bfloat16 has

    def test_bfloat16_is_as_exact_as_it_can_be(self):
        self.open(precision="bf16")
        errors = self.errors(modes=["eval"], steps=0)
        for name in list(errors):
            if name.startswith(("start", "weight")):
                del errors[name]
        # Eight digits of 2: each of nine layers rounds its result and its weight by 2^-9 at most, and back again; errors of
        # many terms add up like their root. A ReLU that rounding switches is one of some hundred.
        self.assertLess(max(errors.values()), 0.1, errors)
        self.assertGreater(errors["logits eval"], 2.0**-14)  # single precision would be below

    def test_a_new_operator_is_named(self):
        with open(self.work.path("graph", "json")) as file:
            graph = json.load(file)
        graph["nodes"][3]["op"] = "Hardmax"
        with open(self.work.path("graph", "json"), "w") as file:
            json.dump(graph, file)
        reply = self.adapter.need("error", "open", plan=self.work.plan())
        self.assertEqual((reply["code"], reply["op"]), ("unsupported", "Hardmax"))

    @compiles
    def test_every_mode_of_torch_compile_is_taken(self):
        for mode in ("default", "reduce-overhead", "max-autotune"):
            adapter = self.start()
            reply = adapter.need("opened", "open", plan=self.work.plan(options={"compile": mode}))
            self.assertEqual(reply["deviations"], ["torch.compile, mode " + mode])
        reply = self.adapter.need("error", "open", plan=self.work.plan(options={"compile": "fastest"}))
        self.assertEqual(reply["code"], "build_failed")
        self.assertIn("fastest", reply["message"])

    @unittest.skipIf(hasattr(torch, "compile"), "PyTorch %s has torch.compile" % torch.__version__)
    def test_without_torch_compile_it_is_unsupported(self):
        reply = self.adapter.need("error", "open", plan=self.work.plan(options={"compile": "default"}))
        self.assertEqual(reply["code"], "unsupported")
        self.assertIn(torch.__version__, reply["message"])

    @compiles
    def test_a_missing_compiler_is_named(self):
        before = os.environ.get("CXX")
        os.environ["CXX"] = "/nowhere/c++"
        try:
            reply = self.adapter.need("error", "open", plan=self.work.plan(options={"compile": "default"}))
        finally:
            del os.environ["CXX"]
            if before is not None:
                os.environ["CXX"] = before
        self.assertEqual(reply["code"], "build_failed")
        self.assertIn("/nowhere/c++", reply["message"])


    def test_bfloat16_weights_are_made_once_for_all_requests(self):
        adapter = self.adapter.server.adapter
        self.open(mode="infer", precision="bf16")
        self.addCleanup(adapter.contexts.close)
        x = adapter.plan.rows(0)
        adapter.infer_step(x)
        with torch.profiler.profile(record_shapes=True) as profile:
            adapter.infer_step(x)
        converted = [tuple(event.input_shapes[0]) for event in profile.events() if event.name == "aten::_to_copy"]
        self.assertIn(x.shape, converted)  # the pixels, at least: the profile is not empty
        self.assertFalse(set(converted) & {value.shape for value in self.work.weights.values()}, converted)


class Process(agreement.InputGradients, Case):
    """As yardstick runs it."""

    Adapter, options = pytorch.PyTorch, {}

    def start(self):
        return driver.Driver(SCRIPT)

    def test_hello_has_the_version_and_it_agrees(self):
        reply = self.adapter.need("hello", "hello", protocol=1)
        self.assertEqual(reply["framework"], "PyTorch")
        self.assertRegex(reply["version"], r"^\d+\.\d+")
        self.assertIn("infer", reply["features"])
        self.agrees()

    def infers(self, precision, **options):
        self.open(mode="infer", precision=precision, options=options)
        evaluated = self.adapter.tensors("forward", batch=1, mode="eval")
        reports, last = self.adapter.series("latencies", "infer", requests=20, batch=driver.Work.BATCH)
        self.assertEqual((last["type"], sum(report["count"] for report in reports)), ("done", 20))
        again = self.adapter.tensors("forward", batch=1, mode="eval")
        self.assertTrue(np.array_equal(again["logits"], evaluated["logits"]))
        for name, value in self.adapter.tensors("step", n=0).items():
            self.assertTrue(np.array_equal(value, self.work.weights[name]), name)
        return error(evaluated["logits"], self.oracle.forward(self.batch(1)[0]))

    def test_it_infers_in_double(self):
        self.assertLess(self.infers("f64"), BOUND)

    def test_it_infers_in_bfloat16_and_channels_last(self):
        self.assertLess(self.infers("bf16", channels_last=True), 0.05)

    @compiles
    def test_compiled_it_agrees(self):
        if not shutil.which(os.environ.get("CXX", "g++")):
            self.skipTest("torch.compile needs a C++ compiler")
        self.adapter.socket.settimeout(800)  # minutes, where PyTorch's own cache does not have this network yet
        reply = self.agrees(options={"compile": "default"}, modes=["eval"])
        self.assertEqual(reply["deviations"], ["torch.compile, mode default"])


class Wrong(Case):
    def start(self):
        return driver.Direct(wrong_pytorch.Wrong())

    def check(self, name, low, high=np.inf):
        self.open(options={"wrong": name})
        errors = self.errors()
        self.assertGreaterEqual(max(errors.values()), low, errors)
        self.assertLess(max(errors.values()), high, errors)

    def test_without_a_mistake_it_is_right(self):
        self.check("nothing", 0, BOUND)

    def test_swapped_batches_are_seen_in_the_rows(self):
        self.open(options={"wrong": "batches_swapped"})
        self.assertTrue(np.array_equal(self.adapter.tensors("forward", batch=1, mode="eval")["y"], self.batch(2)[1]))


def must_be_seen(mistake):
    return lambda self: self.check(mistake, 1e-8)


@unittest.skipUnless("Attention" in pytorch.PyTorch.ops, "PyTorch %s has no scaled_dot_product_attention" % torch.__version__)
class WrongSequences(unittest.TestCase):
    """Mistakes that a small transformer with tied weights and clipped gradients shows."""

    TOKENS = np.array([[4, 0, 4, 6], [1, 4, 2, 1]], np.int32)

    def results(self, mistake):
        """Logits, gradients, and weights after a step."""
        random = np.random.RandomState(11)
        shapes = {"embed.weight": (7, 6), "positions.weight": (4, 6), "norm.weight": (6,), "norm.bias": (6,)}
        weights = {name: random.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}
        nodes = driver.chain(("Embedding", "embed", {}, ["weight"]), ("Add", "positions", {}, ["weight"]),
                             ("LayerNormalization", "norm", {"axis": 2, "epsilon": 1e-3}, ["weight", "bias"]))
        how = {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1, "scale": 0}
        nodes += [driver.node("Attention", "attend", ["norm"] * 3, how),
                  dict(driver.node("Gemm", "head", ["attend"], {"positions": 1}), params={"weight": "embed.weight"}),
                  driver.node("Flatten", "flat", ["head"], {"axis": 1})]
        settings = dict(driver.SGD, clip_norm=0.05)
        with agreement.opened(wrong_pytorch.Wrong, nodes, self.TOKENS, weights, {"wrong": mistake}, settings) as adapter:
            found = {"logits": np.array(adapter.tensors("forward", batch=0, mode="train")["logits"])}
            found.update((name, np.array(value)) for name, value in adapter.tensors("backward", batch=0, mode="train").items())
            found.update((name, value - weights[name]) for name, value in adapter.tensors("step", n=1).items())
        return found

    def test_each_is_seen(self):
        right = self.results("nothing")
        for mistake in ("layernorm_epsilon", "mask_off_by_one", "scale_left_out", "position_off_by_one", "tie_lost",
                        "norm_by_parameter", "clip_epsilon"):
            with self.subTest(mistake):
                errors = {name: error(value, right[name]) for name, value in self.results(mistake).items()}
                self.assertGreater(max(errors.values()), 1e-8, errors)
                if mistake in ("norm_by_parameter", "clip_epsilon"):  # which no pass shows
                    self.assertEqual(errors["logits"], 0)


for name in wrong_pytorch.WRONG:
    if name != "nothing" and name not in wrong_pytorch.OF_SEQUENCES + wrong_pytorch.OF_RANKS:
        setattr(Wrong, "test_%s_is_seen" % name, must_be_seen(name))
