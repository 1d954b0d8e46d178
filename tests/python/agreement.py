"""What every adapter of a framework that trains owes, as a case for its test module to inherit: a small network with uneven
windows, groups, dilation, factors on rate and decay and a value that is read twice, against the plain NumPy oracle."""

import contextlib
import os
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
# Where each plan is compiled anew: those whose formulas differ, and double alone.
FEW_OPTIMIZERS = ({"nesterov": True}, {"name": "adam"}, {"name": "adamw"}, {"name": "rmsprop", "momentum": 0.5}, {"clip_norm": 0.01})


def error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


class Case(unittest.TestCase):
    """The small network in an adapter, and the oracle."""

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


class Agreement(Case):
    optimizers = OPTIMIZERS
    bounds = {"f64": DOUBLE, "f32": SINGLE}

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
        for settings in self.optimizers:
            for precision, bound in self.bounds.items():
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


class OwnLoader:
    """For cases of an adapter that has load() to inherit. LOADER: what it is called."""

    def test_its_own_loader_gives_the_batches_of_the_plan(self):
        """Training by it is training on the same rows in the same order: the same weights, by any number of workers."""
        ends = []
        for threads in (0, 1, 2):
            self.adapter = self.start() or self.adapter
            plan = self.work.plan()
            if threads:
                plan["input"] = dict(plan["input"], kind="own", threads=threads)
            opened = self.adapter.need("opened", "open", plan=plan)
            self.assertEqual([text for text in opened["deviations"] if "batches by" in text],
                             ["batches by %s, %d beside the loop" % (self.LOADER, threads)] * bool(threads))
            self.adapter.tensors("step", n=1)
            blocks, last = self.adapter.train(1, 6, 2)
            self.assertEqual((len(blocks), last["type"]), (3, "done"))
            ends.append(self.adapter.tensors("step", n=0))
        for name, value in ends[0].items():
            self.assertTrue(np.array_equal(value, ends[1][name]) and np.array_equal(value, ends[2][name]), name)


class InputGradients:
    """Gradients of the logits by the pixels, against those of the built-in engine, for a Case to inherit."""

    # In double as the proof has it. In single precision the two round some ten layers apart, sums of up to a hundred terms.
    INPUT_BOUNDS = {"f64": 1e-9, "f32": 1e-4}

    def input_gradients(self, adapter, random):
        """Of two batches by a cotangent each; and the logits alone."""
        pixels = random.randint(0, 256, (2, driver.Work.BATCH, 3, 9, 7)).astype(np.float32)
        made = []
        for number, x in enumerate(pixels):
            path, cotangent = self.work.path("pixels%d" % number), self.work.path("cotangent%d" % number)
            slopes = random.normal(0, 1, (driver.Work.BATCH, 5))
            driver.common.write_safetensors(path, {"x": x})
            driver.common.write_safetensors(cotangent, {"cotangent": slopes}, np.float64 if self.precision == "f64" else np.float32)
            both = {name: value.copy() for name, value in adapter.tensors("input_gradient", path=path, cotangent=cotangent).items()}
            self.assertEqual(set(both), {"logits", "grad.x"})
            self.assertEqual(both["grad.x"].shape, x.shape)
            self.assertEqual({value.dtype for value in both.values()}, {np.dtype("f8" if self.precision == "f64" else "f4")})
            alone = adapter.tensors("input_gradient", path=path)
            self.assertEqual(set(alone), {"logits"})
            made += [both["logits"], both["grad.x"], alone["logits"].copy()]
        return made

    def test_input_gradients_are_those_of_the_built_in_engine(self):
        for self.precision, mode, steps in (("f64", "train", 2), ("f32", "infer", 0)):
            with self.subTest(precision=self.precision, mode=mode):
                self.setUp()
                engine = driver.Driver(None, os.path.join(os.environ["YS_BUILD_ROOT"], "src", "yardstick-builtin"))
                self.addCleanup(engine.end)
                pairs = []
                for adapter in engine, self.adapter:
                    self.assertIn("input_gradient", adapter.need("hello", "hello", protocol=1)["features"])
                    adapter.need("opened", "open", plan=self.work.plan(precision=self.precision, mode=mode))
                    pairs.append([adapter.tensors("step", n=steps), *self.input_gradients(adapter, np.random.RandomState(11))])
                before, after = pairs[1][0], self.adapter.tensors("step", n=0)
                for name in before:
                    self.assertTrue(np.array_equal(before[name], after[name]), name)
                for known, made in zip(pairs[0][1:], pairs[1][1:]):
                    self.assertGreater(np.abs(known).max(), 0)
                    self.assertLess(error(made, known), self.INPUT_BOUNDS[self.precision])

    def test_the_first_of_equal_pixels_has_the_gradient(self):
        """All numbers here are exact: sums of a few halves."""
        x, weight = np.full((2, 1, 4, 4), 96.0), np.arange(8.0).reshape(2, 4) - 2.5
        nodes = driver.chain(("normalize", "norm", {"scale": 1 / 256, "mean": [0.5], "std": [0.25]}),
                             ("MaxPool", "pool", driver.window((2, 2), (0, 0, 0, 0), (2, 2), ceil_mode=0)), ("Flatten", "flat"),
                             ("Gemm", "fc", {}, ["weight"]))
        cotangent, expected = np.array([[1, -2], [0.5, 0]]), np.zeros_like(x)
        expected[:, 0, ::2, ::2] = (cotangent @ weight).reshape(2, 2, 2) * (4 / 256)
        with opened(self.Adapter, nodes, x, {"fc.weight": weight}, self.options) as adapter:
            paths = [os.path.join(adapter.server.plan.folder, name + ".safetensors") for name in ("train", "cotangent")]
            driver.common.write_safetensors(paths[1], {"cotangent": cotangent})
            made = adapter.tensors("input_gradient", path=paths[0], cotangent=paths[1])
            self.assertEqual(made["grad.x"].tolist(), expected.tolist())

    def test_input_gradients_of_what_is_not_there(self):
        self.open()
        driver.common.write_safetensors(self.work.path("few"), {"x": np.zeros((1, 3, 9, 7), np.float32)})
        for code, members in (("protocol_error", {}), ("protocol_error", {"path": "few"}), ("crashed", {"path": "/nonexistent/x"}),
                              ("crashed", {"path": self.work.path("few")})):
            self.assertEqual(self.adapter.need("error", "input_gradient", **members)["code"], code, members)


class Bfloat16:
    """For cases of a framework that computes in bfloat16 to inherit beside Agreement."""

    def test_bfloat16_keeps_float32_where_it_must(self):
        self.open(precision="bf16")
        for name, value in self.adapter.tensors("step", n=1).items():
            self.assertEqual(value.dtype, np.float32, name)
            self.assertTrue((value.view(np.uint32) & 0xFFFF).any(), name)  # more digits than bfloat16 has
        self.assertEqual(self.adapter.tensors("forward", batch=0, mode="train")["logits"].dtype, np.float32)


FLOATS = ("normalize", "float", {"scale": 1.0, "mean": [0.0], "std": [1.0]})
CORNERS = (
    ("Relu", {}, [-0.25, 0, 0.25], [0, 0, 1]),
    ("LeakyRelu", {"alpha": 0.25}, [-1, 0, 1], [0.25, 0.25, 1]),
    ("LeakyRelu", {"alpha": 0.2}, [-1, 0, 1], [0.2, 0.2, 1]),
    ("Clip", {"min": 0, "max": 6}, [-1, 0, 1, 7], [0, 0, 1, 0]),
    ("Clip", {"min": -0.5, "max": 0.7}, [-0.5, 0.25, 0.75], [0, 1, 0]),
)


class Parts(unittest.TestCase):
    """Single operators, for cases to inherit."""

    Adapter = None
    options = {}
    clip_edge = 0  # the slope of ReLU6 at 6
    dilated_pools = True

    def gradients(self, nodes, x, weights, precision="f64"):
        return gradients_of(self.Adapter, nodes, x, weights, self.options, precision)

    def slope(self, op, attrs, points):
        """The derivative of an operator at these points, from the gradient of a weight before it."""
        k = len(points)
        nodes = driver.chain(FLOATS, ("Gemm", "in", {}, ["weight"]), (op, "node", attrs), ("Gemm", "out", {}, ["weight", "bias"]))
        weights = {"in.weight": np.array(points)[:, None], "out.weight": np.eye(k), "out.bias": np.full(k, 8.0)}
        logits, gradients = self.gradients(nodes, np.ones((1, 1)), weights)
        return gradients["in.weight"][:, 0] / (2 * (logits - np.eye(1, k))[0] / k)

    def test_corners(self):
        """Where functions of frameworks have slopes of their own, and numbers that are not those of the graph in double."""
        for op, attrs, points, slopes in CORNERS + (("Clip", {"min": 0, "max": 6}, [1, 6], [1, self.clip_edge]),):
            with self.subTest(op, **attrs):
                np.testing.assert_allclose(self.slope(op, attrs, points), slopes, rtol=DOUBLE)

    def test_the_first_of_equals_wins(self):
        """The gradient of a pool's largest goes to one of nine equal pixels."""
        whole = driver.window((3, 3), (0, 0, 0, 0), ceil_mode=0)
        sparse = driver.window((2, 2), (0, 0, 0, 0), (1, 1), (2, 2), ceil_mode=0)
        for op, attrs in (("MaxPool", whole), ("GlobalMaxPool", {})) + (("MaxPool", sparse),) * self.dilated_pools:
            with self.subTest(op, **attrs):
                nodes = driver.chain(FLOATS, ("Gemm", "in", {}, ["weight"]), ("Reshape", "image", {"shape": ["N", 1, 3, 3]}),
                                     (op, "node", attrs), ("Flatten", "flat", {"axis": 1}))
                _, gradients = self.gradients(nodes, np.ones((1, 1)), {"in.weight": np.full((9, 1), 2.0)})
                self.assertEqual(np.nonzero(gradients["in.weight"][:, 0])[0].tolist(), [0])

    def test_local_response_normalisation(self):
        """Of odd and even size, between a convolution and a pool (layouts change there), in double and in single precision:
        forward against the formula, gradients against central differences of it."""
        random = np.random.RandomState(5)
        x, weight = random.normal(0, 1, (2, 3, 4, 4)), random.normal(0, 1, (16, 3, 1, 1)).astype(np.float32)
        for size in (1, 4, 5):
            attrs = {"size": size, "alpha": 0.7, "beta": 0.6, "bias": 1.5}
            nodes = driver.chain(
                FLOATS, ("Conv", "conv", driver.window((1, 1), (0, 0, 0, 0), group=1), ["weight"]), ("LRN", "norm", attrs),
                ("AveragePool", "pool", driver.window((2, 2), (0, 0, 0, 0), (2, 2), ceil_mode=0, count_include_pad=0)),
                ("Flatten", "flat"))
            x = x.astype(np.float32).astype(np.float64)

            def logits(weight):
                y = np.einsum("nchw,oc->nohw", x, weight[:, :, 0, 0])
                squares = np.pad(y * y, ((0, 0), ((size - 1) // 2, size - 1 - (size - 1) // 2), (0, 0), (0, 0)))
                total = sum(squares[:, i:i + 16] for i in range(size))
                y = y / (1.5 + 0.7 / size * total) ** 0.6
                return y.reshape(2, 16, 2, 2, 2, 2).mean(axis=(3, 5)).reshape(2, -1)

            def loss(weight):
                return ((logits(weight) - np.eye(1, 64)) ** 2).mean()

            slopes, moved = np.zeros(weight.shape), weight.astype(np.float64)
            for index in np.ndindex(weight.shape):
                kept = moved[index]
                values = []
                for moved[index] in (kept - 1e-5, kept + 1e-5):
                    values.append(loss(moved))
                slopes[index], moved[index] = (values[1] - values[0]) / 2e-5, kept
            # Sums of some ten terms; differences of 1e-5 are wrong by their square and by rounding over them.
            for precision, forward, backward in (("f64", 1e-12, 1e-8), ("f32", 1e-5, 1e-5)):
                with self.subTest(size=size, precision=precision):
                    found, gradients = self.gradients(nodes, x, {"conv.weight": weight}, precision)
                    self.assertLess(error(found, logits(weight.astype(np.float64))), forward)
                    self.assertLess(error(gradients["conv.weight"], slopes), backward)


def root_mean_squares(x, attrs, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + attrs["epsilon"]) * weight


def turned(x, attrs, _weight):
    """As complex numbers."""
    rows, positions, width = x.shape
    heads = x.reshape(rows, positions, attrs["num_heads"], -1)
    half = heads.shape[-1] // 2
    a, b = (heads[..., ::2], heads[..., 1::2]) if attrs["interleaved"] else (heads[..., :half], heads[..., half:])
    angles = np.arange(positions)[:, None, None] / attrs["base"] ** (np.arange(half) / half)
    pairs = (a + 1j * b) * np.exp(1j * angles)
    made = np.stack((pairs.real, pairs.imag), -1 if attrs["interleaved"] else -2)
    return made.reshape(rows, positions, width)


def waved(x, attrs, _weight):
    made = x.copy()
    for k in range(x.shape[2]):
        angle = np.arange(x.shape[1]) / attrs["base"] ** (2 * (k // 2) / x.shape[2])
        made[:, :, k] += np.cos(angle) if k % 2 else np.sin(angle)
    return made


class Places(unittest.TestCase):
    """Normalisation by the mean square, rotary and sinusoidal positions, for cases to inherit: forward against the formula,
    gradients against central differences of it."""

    Adapter = None
    options = {}
    CASES = (("RMSNormalization", {"axis": 2, "epsilon": 0.1}, ["weight"], root_mean_squares),
             ("RotaryEmbedding", {"num_heads": 2, "interleaved": 0, "base": 100.0}, [], turned),
             ("RotaryEmbedding", {"num_heads": 1, "interleaved": 1, "base": 10000.0}, [], turned),
             ("sinusoid", {"base": 50.0}, [], waved))

    def test_they_are_their_formulas(self):
        random = np.random.RandomState(9)
        x = random.normal(0, 1, (2, 3)).astype(np.float32).astype(np.float64)
        for op, attrs, roles, formula in self.CASES:
            weights = {"in.weight": random.normal(0, 1, (32, 3)).astype(np.float32)}
            weights.update({"node." + role: random.normal(1, 0.3, 8).astype(np.float32) for role in roles})
            nodes = driver.chain(FLOATS, ("Gemm", "in", {}, ["weight"]), ("Reshape", "rows", {"shape": ["N", 4, 8]}),
                                 (op, "node", attrs, roles), ("Flatten", "flat", {"axis": 1}))

            def logits(values):
                y = formula((x @ values["in.weight"].T).reshape(2, 4, 8), attrs, values.get("node.weight"))
                return y.reshape(2, -1)

            with self.subTest(op, **attrs):
                found, gradients = gradients_of(self.Adapter, nodes, x, weights, self.options)
                values = {name: value.astype(np.float64) for name, value in weights.items()}
                self.assertLess(error(found, logits(values)), 1e-12)  # sums of some ten terms
                for name, value in values.items():
                    slopes = np.zeros_like(value)
                    for index in np.ndindex(value.shape):
                        kept, losses = value[index], []
                        for value[index] in (kept - 1e-5, kept + 1e-5):
                            losses.append(((logits(values) - np.eye(1, 32)) ** 2).mean())
                        slopes[index], value[index] = (losses[1] - losses[0]) / 2e-5, kept
                    # Differences of 1e-5 are wrong by their square and by rounding over them.
                    self.assertLess(error(gradients[name], slopes), 1e-8, name)


class Tokens(unittest.TestCase):
    """What frameworks do with rows of a table that are named twice, or by nobody, for cases to inherit."""

    Adapter = None
    options = {}
    TOKENS = np.array([[4, 0, 4], [1, 4, 1]], np.int32)

    def expected(self, weights, settings, lr):
        """Weights after a step, by the formulas."""
        table, weight, bias = (weights[name].astype(np.float64) for name in ("embed.weight", "fc.weight", "fc.bias"))
        inner = table[self.TOKENS].reshape(2, -1)
        slope = 2 * (inner @ weight.T + bias - np.eye(1, 3)) / 6
        gradients = {"embed.weight": np.zeros_like(table), "fc.weight": slope.T @ inner, "fc.bias": slope.sum(0)}
        np.add.at(gradients["embed.weight"], self.TOKENS, (slope @ weight).reshape(2, 3, -1))
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        factor = min(1, settings["clip_norm"] / norm)
        return {name: weights[name] - lr * (factor * gradients[name] + settings["weight_decay"] * weights[name])
                for name in gradients}

    def test_a_token_named_twice_counts_as_one_gradient(self):
        """In the norm too: its rows are added before they are squared. What no token names decays."""
        random = np.random.RandomState(3)
        weights = {name: random.normal(0, 1, shape).astype(np.float32)
                   for name, shape in (("embed.weight", (5, 2)), ("fc.weight", (3, 6)), ("fc.bias", (3,)))}
        nodes = driver.chain(("Embedding", "embed", {}, ["weight"]), ("Flatten", "flat", {"axis": 1}),
                             ("Gemm", "fc", {}, ["weight", "bias"]))
        for clip_norm in (0.5, 1e6):
            settings = dict(driver.SGD, momentum=0.0, clip_norm=clip_norm)
            with self.subTest(clip_norm), opened(self.Adapter, nodes, self.TOKENS, weights, self.options, settings) as adapter:
                found = adapter.tensors("step", n=1)
                for name, value in self.expected(weights, settings, 0.1).items():
                    np.testing.assert_allclose(found[name], value, rtol=DOUBLE, atol=DOUBLE, err_msg=name)


class Hidden(unittest.TestCase):
    """Targets of -1, which have no loss, for cases to inherit: each loss against its formula, gradients against central
    differences of it."""

    Adapter = None
    options = {}
    TOKENS, TARGETS = np.array([[4, 0, 4], [1, 4, 1]], np.int32), np.array([[2, -1, 0], [-1, -1, 3]])

    def loss(self, weights, kind, smoothing):
        z = weights["embed.weight"][self.TOKENS[self.TARGETS >= 0]] @ weights["fc.weight"].T + weights["fc.bias"]
        target = np.eye(4)[self.TARGETS[self.TARGETS >= 0]]
        if kind == "mean_squared_error":
            return ((z - target) ** 2).mean()
        target = (1 - smoothing) * target + smoothing / 4
        return (np.log(np.exp(z).sum(1)) - (target * z).sum(1)).mean()

    def test_hidden_targets_have_no_loss(self):
        random = np.random.RandomState(4)
        weights = {name: random.normal(0, 1, shape).astype(np.float32)
                   for name, shape in (("embed.weight", (5, 3)), ("fc.weight", (4, 3)), ("fc.bias", (4,)))}
        for kind, smoothing in (("softmax_cross_entropy", 0), ("softmax_cross_entropy", 0.2), ("nll", 0), ("mean_squared_error", 0)):
            nodes = driver.chain(("Embedding", "embed", {}, ["weight"]), ("Gemm", "fc", {"positions": 1}, ["weight", "bias"]),
                                 *[("LogSoftmax", "log", {"axis": 2})] * (kind == "nll"))
            with self.subTest(kind, smoothing=smoothing), opened(self.Adapter, nodes, self.TOKENS, weights, self.options, y=self.TARGETS,
                                                                 loss=kind, label_smoothing=smoothing) as adapter:
                found = adapter.tensors("backward", batch=0, mode="train")
                values = {name: value.astype(np.float64) for name, value in weights.items()}
                np.testing.assert_allclose(found["loss"], self.loss(values, kind, smoothing), rtol=DOUBLE)
                for name, value in values.items():
                    slopes = np.zeros_like(value)
                    for index in np.ndindex(value.shape):
                        kept, losses = value[index], []
                        for value[index] in (kept - 1e-5, kept + 1e-5):
                            losses.append(self.loss(values, kind, smoothing))
                        slopes[index], value[index] = (losses[1] - losses[0]) / 2e-5, kept
                    # Differences of 1e-5 are wrong by their square and by rounding over them.
                    self.assertLess(error(found["grad." + name], slopes), 1e-8, name)


class Pads(unittest.TestCase):
    """Pad of (N, positions, width), in every mode, for cases to inherit."""

    Adapter = None
    options = {}

    def test_rows_of_positions_are_padded(self):
        random = np.random.RandomState(6)
        x, weight = random.normal(0, 1, (2, 3)).astype(np.float32).astype(np.float64), random.normal(0, 1, (12, 3)).astype(np.float32)
        for mode, value in (("constant", -1.7), ("edge", 0.0), ("reflect", 0.0)):
            nodes = driver.chain(
                FLOATS, ("Gemm", "in", {}, ["weight"]), ("Reshape", "rows", {"shape": ["N", 4, 3]}),
                ("Pad", "pad", {"pads": [0, 2, 1, 0, 1, 0], "mode": mode, "value": value}), ("Flatten", "flat", {"axis": 1}))
            rows, more = (x @ weight.T.astype(np.float64)).reshape(2, 4, 3), {"constant_values": value} if mode == "constant" else {}
            made = np.pad(rows, ((0, 0), (2, 1), (1, 0)), mode, **more)
            # Which element of a row each of the padded ones is, and -1 for those that are the value.
            places = np.pad(np.arange(12).reshape(4, 3), ((2, 1), (1, 0)), mode, **({"constant_values": -1} if more else {})).ravel()
            slope = 2 * (made.reshape(2, -1) - np.eye(1, made[0].size)) / made.size
            gradient = np.zeros((12, 3))
            for place, column in zip(places, slope.T):
                if place >= 0:
                    gradient[place] += column @ x
            with self.subTest(mode):
                found, gradients = gradients_of(self.Adapter, nodes, x, {"in.weight": weight}, self.options)
                np.testing.assert_allclose(found, made.reshape(2, -1), rtol=DOUBLE)
                np.testing.assert_allclose(gradients["in.weight"], gradient, rtol=DOUBLE, atol=DOUBLE)


@contextlib.contextmanager
def opened(Adapter, nodes, x, weights, options, settings=driver.SGD, precision="f64", y=None, **changes):
    """An adapter with a network of these nodes, the last of which gives (N, classes), over values or tokens x; its loss is
    the mean squared error for label 0 in every row, or another for the classes y of each position. One step at the rate 0.1."""
    work = driver.Work()
    try:
        params = [{"name": name, "shape": list(value.shape), "role": "weight", "lr_mult": 1.0, "decay_mult": 1.0}
                  for name, value in weights.items()]
        graph = {"format": "yardstick-graph", "version": 1, "name": "part", "nodes": nodes, "params": params,
                 "inputs": [{"name": "x", "shape": ["N"] + list(x.shape[1:]), "dtype": "I32" if x.dtype == np.int32 else "F32"}],
                 "output": nodes[-1]["out"][-1], "loss": "mean_squared_error"}
        if y is not None:
            graph["target"] = {"kind": "classes", "shape": ["N", *y.shape[1:]]}
        with open(work.path("graph", "json"), "w") as file:
            driver.json.dump(graph, file)
        common = driver.common
        driver.common.write_safetensors(work.path("weights"), {name: value.astype(np.float32) for name, value in weights.items()})
        x = x if x.dtype == np.int32 else x.astype(np.float32)
        driver.common.write_safetensors(work.path("train"), {"x": x, "y": np.zeros(len(x), np.int64) if y is None else y})
        driver.common.write_safetensors(work.path("order"), {"order": np.arange(len(x), dtype=np.uint32)[None], "lr": np.array([0.1])})
        adapter = driver.Direct(Adapter())
        adapter.need("opened", "open", plan=work.plan(
            **dict({"steps": 1, "batch": len(x), "loss": "mean_squared_error", "precision": precision, "options": options,
                    "optimizer": settings}, **changes)))
        yield adapter
    finally:
        work.remove()


def gradients_of(Adapter, nodes, x, weights, options, precision="f64"):
    """Of a network as opened() makes it: the logits, and the gradients."""
    with opened(Adapter, nodes, x, weights, options, precision=precision) as adapter:
        logits = np.array(adapter.tensors("forward", batch=0, mode="train")["logits"])
        found = adapter.tensors("backward", batch=0, mode="train")
        return logits, {name: np.array(found["grad." + name]) for name in weights}
