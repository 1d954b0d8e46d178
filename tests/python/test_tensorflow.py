"""The adapters of TensorFlow, in double against the plain NumPy oracle, and what is particular about them: which
paddings TensorFlow has a name for, its conventions of gradients, its float32 attributes. adapters/tensorflow2.py or
tensorflow1.py, as the interpreter's TensorFlow is."""

import importlib.util
import itertools
import unittest

import agreement
import driver
import numpy as np
import oracle

if importlib.util.find_spec("tensorflow") is None:
    raise unittest.SkipTest("TensorFlow is not installed: yardstick install tensorflow")

import tensorflow_network  # noqa: E402
from tensorflow_operators import tf  # noqa: E402

V2 = int(tf.__version__.split(".")[0]) >= 2
module = driver.load("tensorflow2" if V2 else "tensorflow1")


class Whole(agreement.OwnLoader, agreement.Agreement):
    Adapter = module.TensorFlow2 if V2 else module.TensorFlow1
    LOADER = "tf.data, which keeps all rows in memory"

    @unittest.skipUnless(V2, "TensorFlow 1 has no such loader here")
    def test_its_own_loader_gives_the_batches_of_the_plan(self):
        super().test_its_own_loader_gives_the_batches_of_the_plan()

    @unittest.skipUnless(V2, "TensorFlow 1 has no convolutions in bfloat16 on a CPU")
    def test_bfloat16_keeps_float32_where_it_must(self):
        for mode in ("train", "infer"):
            self.start()
            self.open(mode=mode, precision="bf16")
            forward = self.adapter.tensors("forward", batch=0, mode="eval")
            self.assertEqual(forward["logits"].dtype, np.float32)
            worst = agreement.error(forward["logits"], self.oracle.forward(self.batch(0)[0]))
            # Nine layers that round by 2^-9 at most, twice; errors of many terms add up like their root. Single
            # precision would be below the other bound.
            self.assertLess(worst, 0.1)
            self.assertGreater(worst, 2.0**-14)
        self.start()
        self.open(precision="bf16")
        for name, value in self.adapter.tensors("step", n=1).items():
            self.assertEqual(value.dtype, np.float32)
            self.assertTrue((value.view(np.uint32) & 0xFFFF).any(), name)  # more digits than bfloat16 has

    @unittest.skipUnless(V2, "options of TensorFlow 2")
    def test_other_modes_agree_and_are_declared(self):
        self.assertEqual(self.agrees(options={"function": False})["deviations"], ["eager, without tf.function"])
        self.start()
        self.assertEqual(self.agrees(options={"xla": True})["deviations"], ["compiled by XLA"])
        self.start()
        reply = self.adapter.need("error", "open", plan=self.work.plan(options={"xla": True, "function": False}))
        self.assertEqual(reply["code"], "build_failed")


@unittest.skipUnless(V2, "TensorFlow 1 does not answer them")
class InputGradients(agreement.InputGradients, agreement.Case):
    Adapter = Whole.Adapter


class Parts(unittest.TestCase):
    """Single operators."""

    def setUp(self):
        self.random = np.random.RandomState(3)

    def run_node(self, op, attrs, x, slope=None, weights=None, precision="f64", train=True):
        """What a node makes of x, and the gradient of sum(result * slope) by x."""
        weights, v1 = weights or {}, tf.compat.v1  # which both versions have
        plan = Plan(driver.chain((op, "node", attrs, [name.split(".")[1] for name in weights])), x, weights, precision)
        with v1.Graph().as_default(), v1.Session() as session:
            network = tensorflow_network.Network(plan, explicit=V2, dilated=False)
            for name, variable in network.variables.items():
                variable.load(network.layouts[name].enter(weights[name]), session)
            given = v1.placeholder(x.dtype, x.shape)
            result, _ = network.run(given, train, 1)
            total = tf.reduce_sum(result * (1.0 if slope is None else slope))
            return session.run([result, tf.gradients(total, given)[0]], {given: x})

    def test_paddings_of_pools(self):
        """Windows that TensorFlow calls SAME or VALID, and others, against the oracle's loops."""
        for kernel, stride, before, after, include in itertools.product((2, 3), (1, 2), (0, 1), (0, 1), (0, 1)):
            attrs = driver.window((kernel, 2), (before, 0, after, 1), (stride, 2), ceil_mode=0,
                                  count_include_pad=include)
            for size in (6, 7):
                x = -1 - self.random.uniform(0, 1, (2, 3, size, 5))  # negative: padding by 0 would win
                for op in ("MaxPool", "AveragePool"):
                    with self.subTest(op=op, size=size, attrs=attrs):
                        check = oracle.Oracle({}, {})
                        wanted = getattr(check, op.lower())(x, attrs, {})
                        slope = self.random.normal(0, 1, wanted.shape)
                        result, gradient = self.run_node(op, attrs, x, slope)
                        np.testing.assert_allclose(result, wanted, rtol=1e-12)
                        np.testing.assert_allclose(gradient, getattr(check, op.lower() + "_backward")(
                            slope, x, attrs, {})[0], rtol=1e-12, atol=1e-12)

    def test_paddings_of_convolutions(self):
        for (stride, dilation, group), before, after, size in itertools.product(
                ((1, 1, 1), (2, 1, 1), (2, 1, 4), (1, 2, 4), (2, 2, 2), (3, 1, 2)), (0, 1), (0, 1, 2), (6, 7)):
            attrs = driver.window((3, 2), (before, 0, after, 1), (stride, stride), (dilation, 1), group=group)
            with self.subTest(size=size, attrs=attrs):
                x = self.random.normal(0, 1, (2, 4, size, 5))
                weights = {"node.weight": self.random.normal(0, 1, (8, 4 // group, 3, 2)),
                           "node.bias": self.random.normal(0, 1, 8)}
                check = oracle.Oracle({}, weights)
                names = {"weight": "node.weight", "bias": "node.bias"}
                check.multiply_adds, check.gradients = 0, {}
                wanted = check.conv(x, attrs, names)
                slope = self.random.normal(0, 1, wanted.shape)
                result, gradient = self.run_node("Conv", attrs, x, slope, weights)
                np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
                back = check.conv_backward(slope, x, attrs, names)[0]
                np.testing.assert_allclose(gradient, back, rtol=1e-12, atol=1e-12)

    def test_a_shared_weight_is_read_in_each_nodes_layout(self):
        """A grouped convolution that is TensorFlow's depthwise one at one node and not at the other, and a matrix that is
        multiplied by and added."""
        window, Layout = driver.window((3, 2), (0, 0, 0, 0), (1, 1), (1, 1), group=4), tensorflow_network.Layout
        weight, x = self.random.normal(0, 1, (8, 1, 3, 2)), self.random.normal(0, 1, (2, 4, 6, 5))
        plan = Plan(driver.chain(("Conv", "node", window, ["weight"])), x, {"node.weight": weight}, "f64")
        with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
            network = tensorflow_network.Network(plan, explicit=V2, dilated=False)
            depthwise, grouped = [network.find_layout("Conv", dict(window, strides=strides), "weight", "node.weight")
                                  for strides in ([1, 1], [1, 2])]
            self.assertNotEqual(depthwise.inside(), grouped.inside())
            for values, kept, read in ((weight, depthwise, grouped), (weight, grouped, depthwise),
                                       (weight[:, 0, 0], Layout((8, 2), (1, 0)), Layout((8, 2)))):
                turned = session.run(kept.turn(tf.constant(kept.enter(values)), read))
                np.testing.assert_array_equal(turned, read.enter(values))

    def test_the_first_of_equals_gets_the_gradient(self):
        x = np.zeros((1, 2, 4, 4))
        first = np.zeros((4, 4))
        first[0, 0] = 1
        _, gradient = self.run_node("GlobalMaxPool", {}, x)
        self.assertEqual(gradient.tolist(), [[first.tolist()] * 2])
        for dilation in (1, 3):
            attrs = driver.window((2, 2), (0, 0, 0, 0), (4, 4), (dilation, dilation), ceil_mode=0)
            _, gradient = self.run_node("MaxPool", attrs, x)
            self.assertEqual(gradient.tolist(), [[first.tolist()] * 2], dilation)

    def test_clip_has_no_gradient_at_its_bounds(self):
        for low, high in ((0, 6), (-1, 1)):
            middle = (low + high) / 2
            x = np.array([[low - 1.0, low, middle, high, high + 1]])
            result, gradient = self.run_node("Clip", {"min": low, "max": high}, x)
            self.assertEqual(result.tolist(), [[low, low, middle, high, high]])
            self.assertEqual(gradient.tolist(), [[0, 0, 1, 0, 0]])

    def test_a_leak_is_a_double_in_double(self):
        result, gradient = self.run_node("LeakyRelu", {"alpha": 0.01}, np.array([[-1.0, 0.0, 2.0]]))
        self.assertEqual(result.tolist(), [[-0.01, 0.0, 2.0]])
        self.assertEqual(gradient.tolist(), [[0.01, 0.01, 1.0]])

    def test_windows_of_normalisation(self):
        """By TensorFlow's own operator and put together; the odd channel of an even size lies ahead."""
        for size, precision in itertools.product((1, 2, 3, 4, 9), ("f32", "f64")):
            x = self.random.normal(0, 1, (2, 6, 2, 3)).astype({"f32": np.float32, "f64": np.float64}[precision])
            sums = np.zeros(x.shape)
            for c in range(6):
                sums[:, c] = (x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1].astype(float)**2).sum(axis=1)
            wanted = x / (2 + 0.7 / size * sums)**0.75
            attrs = {"size": size, "alpha": 0.7, "beta": 0.75, "bias": 2.0}
            result, _ = self.run_node("LRN", attrs, x, precision=precision)
            # Single: a sum of nine, a power through logarithm and exponential: some ten roundings of 2^-24.
            np.testing.assert_allclose(result, wanted, rtol=1e-12 if precision == "f64" else 20 * 2.0**-24)

    def test_a_small_epsilon_of_batch_norm_is_kept(self):
        """tf.compat.v1.nn.fused_batch_norm would take 1.001e-5."""
        x = self.random.normal(0, 1e-4, (4, 2, 3, 3)).astype(np.float32)
        weights = {"node." + role: value for role, value in zip(
            driver.BATCHNORM, (np.ones(2), np.zeros(2), np.zeros(2), np.ones(2)))}
        for epsilon in (1e-5, 1e-7):
            result, _ = self.run_node("BatchNormalization", {"epsilon": epsilon, "momentum": 0.1}, x,
                                      weights=weights, precision="f32")
            wide = x.astype(np.float64)
            mean, variance = wide.mean((0, 2, 3), keepdims=True), wide.var((0, 2, 3), keepdims=True)
            wanted = (wide - mean) / np.sqrt(variance + epsilon)
            # Mean and variance of 36 numbers: each off by some ten roundings; 1.001e-5 is off by 4e-4.
            np.testing.assert_allclose(result, wanted, rtol=0, atol=30 * 2.0**-24 * abs(wanted).max())

    def test_dropout_scales_what_it_keeps_and_draws_anew(self):
        x = np.ones((100, 1000))
        result, gradient = self.run_node("Dropout", {"ratio": 0.25}, x)
        self.assertEqual(set(np.unique(result)), {0, 1 / 0.75})
        self.assertTrue(np.array_equal(result, gradient))
        # 100000 draws: the share has a standard deviation of 0.0014; six of them.
        self.assertLess(abs((result == 0).mean() - 0.25), 0.0084)
        self.assertTrue((self.run_node("Dropout", {"ratio": 0.25}, x, train=False)[0] == 1).all())

    def test_values_of_rank_4_are_reordered_like_the_graph_s(self):
        x = self.random.normal(0, 1, (2, 3, 4, 5))
        for op, attrs, wanted in (
                ("Flatten", {"axis": 1}, x.reshape(2, -1)), ("Reshape", {"shape": ["N", 6, 10]}, x.reshape(2, 6, 10)),
                ("Transpose", {"perm": [0, 2, 3, 1]}, x.transpose(0, 2, 3, 1)),
                ("ReduceMean", {"axes": [2], "keepdims": 0}, x.mean(axis=2)),
                ("ReduceMean", {"axes": [1, 3], "keepdims": 1}, x.mean(axis=(1, 3), keepdims=True))):
            with self.subTest(op=op, attrs=attrs):
                np.testing.assert_allclose(self.run_node(op, attrs, x)[0], wanted, rtol=1e-14)


class Plan:
    """As much of a plan as a network needs."""

    def __init__(self, nodes, x, weights, precision):
        self.graph = {"inputs": [{"name": "x", "shape": ["N"] + list(x.shape[1:]), "dtype": "F32"}], "nodes": nodes,
                      "output": nodes[-1]["out"][0]}
        self.params = [{"name": name, "shape": list(value.shape), "role": "buffer" if "running" in name else "weight"}
                       for name, value in weights.items()]
        self.weights, self.precision, self.mode, self.seed, self.carries_state = weights, precision, "train", 5, False
        self.prompt = None
