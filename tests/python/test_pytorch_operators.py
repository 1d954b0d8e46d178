"""Every operator of adapters/pytorch.py, in double: its result against a formula in NumPy, its gradients against central
differences of that formula, and the points where a gradient is a matter of convention."""

import itertools
import re
import types
import unittest

import driver
import numpy as np

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed: yardstick install pytorch")

import pytorch  # noqa: E402

# Forward, both sides add up at most some hundred terms of size 1 in double. Central differences with a step of 1e-5 are
# wrong by some 1e-10 (its square) and, because values of size 10 carry errors of 1e-15, by 1e-10 again.
FORWARD, BACKWARD, STEP = 1e-12, 1e-7, 1e-5


def network(nodes, weights, rank, output, train):
    """The module that the adapter makes of the nodes, and its parameters by name."""
    graph = {"inputs": [{"name": "x", "shape": ["N"] + [0] * (rank - 1), "dtype": "F32"}], "nodes": nodes, "output": output}
    adapter = pytorch.PyTorch()
    adapter.plan = types.SimpleNamespace(graph=graph, weights=weights, precision="f64", options={}, world=1, prompt=None)
    module = adapter.network().train(train)
    with torch.no_grad():
        for name, param in adapter.params.items():
            param.copy_(torch.from_numpy(weights[name]))
    return module, adapter.params


class Case(unittest.TestCase):
    def setUp(self):
        self.random = np.random.RandomState(3)

    def check(self, nodes, formula, shape=(2, 3, 7, 6), weights=None, train=True, x=None):
        """formula(x, {parameter: array}) is what the last node's last value should be; every parameter of the graph must
        be in `weights`. Gives the module and its parameters, after forward and backward."""
        x = self.random.normal(0, 1, shape) if x is None else x
        weights = weights or {}
        module, params = network(nodes, weights, x.ndim, nodes[-1]["out"][-1], train)
        given = torch.tensor(x, requires_grad=True)
        result = module(given)
        expected = formula(x, weights)
        self.assertEqual(tuple(result.shape), expected.shape)
        np.testing.assert_allclose(result.detach().numpy(), expected, rtol=FORWARD, atol=FORWARD)
        slope = self.random.normal(0, 1, expected.shape)
        (result * torch.from_numpy(slope)).sum().backward()

        def value():
            return (formula(x, weights) * slope).sum()

        found = [(x, given.grad)] + [(weights[name], param.grad) for name, param in params.items() if param.requires_grad]
        for array, gradient in found:
            np.testing.assert_allclose(gradient.numpy(), differences(value, array), rtol=BACKWARD, atol=BACKWARD)
        return module, params

    def one(self, op, attrs, formula, **more):
        return self.check(driver.chain((op, "node", attrs)), lambda x, _: formula(x), **more)


def differences(value, array):
    """The derivative of value() by every element of the array, which is moved and put back."""
    result = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + STEP
        high = value()
        array[index] = kept - STEP
        result[index] = (high - value()) / (2 * STEP)
        array[index] = kept
    return result


def places(extent, kernel, stride, dilation, before, after, ceil):
    """For each window along an axis the positions that its taps meet, some of them outside the image."""
    reach = dilation * (kernel - 1) + 1
    count = -(-(extent + before + after - reach) // stride) if ceil else (extent + before + after - reach) // stride
    starts = [start for start in range(-before, -before + count * stride + 1, stride) if not ceil or start < extent]
    return [[start + tap * dilation for tap in range(kernel)] for start in starts]


def pool(x, attrs, result):
    """result(values in the image, counted positions) of every window."""
    top, left, bottom, right = attrs["pads"]
    sides = [(top, bottom), (left, right)]
    axes = [places(extent, kernel, stride, dilation, before, after, attrs["ceil_mode"])
            for extent, kernel, stride, dilation, (before, after) in
            zip(x.shape[2:], attrs["kernel_shape"], attrs["strides"], attrs["dilations"], sides)]
    out = np.zeros(x.shape[:2] + (len(axes[0]), len(axes[1])))
    for (i, rows), (j, columns) in itertools.product(enumerate(axes[0]), enumerate(axes[1])):
        inside = [(r, c) for r in rows for c in columns if 0 <= r < x.shape[2] and 0 <= c < x.shape[3]]
        counted = sum(-top <= r < x.shape[2] + bottom and -left <= c < x.shape[3] + right for r in rows for c in columns)
        out[:, :, i, j] = result(np.stack([x[:, :, r, c] for r, c in inside]), counted)
    return out


# What pools meet: evenly padded or not, more than PyTorch itself pads, reaching beyond the padding by ceil_mode, gaps.
WINDOWS = [
    driver.window((2, 2), (0, 0, 0, 0), (2, 2)), driver.window((3, 2), (1, 1, 1, 1), (2, 1)),
    driver.window((3, 3), (0, 0, 1, 1), (2, 2)), driver.window((2, 3), (1, 2, 0, 1), (3, 2)),
    driver.window((3, 3), (2, 2, 2, 2), (1, 2)), driver.window((1, 1), (0, 0, 0, 0), (3, 3)),
    driver.window((2, 2), (0, 1, 0, 1), (2, 2), (2, 3)), driver.window((7, 6), (0, 0, 0, 0)),
    driver.window((3, 3), (1, 0, 0, 1), (3, 3), (2, 1)), driver.window((3, 2), (0, 0, 0, 0), (3, 4)),
]


class Pools(Case):
    def test_max_pools(self):
        for attrs, ceil in itertools.product(WINDOWS, (0, 1)):
            attrs = dict(attrs, ceil_mode=ceil)
            with self.subTest(attrs):
                self.one("MaxPool", attrs, lambda x: pool(x, attrs, lambda values, _: values.max(axis=0)))

    def test_average_pools(self):
        for attrs, ceil, include in itertools.product(WINDOWS, (0, 1), (0, 1)):
            attrs = dict(attrs, ceil_mode=ceil, count_include_pad=include)
            with self.subTest(attrs):
                self.one("AveragePool", attrs, lambda x: pool(
                    x, attrs, lambda values, counted: values.sum(axis=0) / (counted if include else len(values))))

    def test_padding_loses_against_negative_values(self):
        for pads in ((1, 1, 1, 1), (0, 0, 1, 1)):
            attrs = driver.window((2, 2), pads, (2, 2), ceil_mode=0)
            x = -1 - self.random.uniform(0, 1, (2, 3, 7, 6))
            self.one("MaxPool", attrs, lambda x: pool(x, attrs, lambda values, _: values.max(axis=0)), x=x)

    def test_the_first_of_equals_gets_the_gradient(self):
        for pads in ((0, 0, 0, 0), (1, 0, 0, 1)):
            attrs = driver.window((2, 2), pads, (2, 2), ceil_mode=0)
            module, _ = network(driver.chain(("MaxPool", "pool", attrs)), {}, 4, "pool", True)
            x = torch.zeros(1, 1, 4, 4, dtype=torch.float64, requires_grad=True)
            module(x).sum().backward()
            wanted = np.zeros((4, 4))
            rows = [0, 2] if pads[0] == 0 else [0, 1]  # padded above: the windows begin at -1 and 1
            wanted[np.ix_(rows, [0, 2])] = 1
            self.assertEqual(x.grad[0, 0].tolist(), wanted.tolist())

    def test_global_pools(self):
        self.one("GlobalAveragePool", {}, lambda x: x.mean(axis=(2, 3), keepdims=True))
        self.one("GlobalMaxPool", {}, lambda x: x.max(axis=(2, 3), keepdims=True))


def conv(x, weight, bias, attrs):
    top, left, bottom, right = attrs["pads"]
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    (sy, sx), (dy, dx), (kh, kw) = attrs["strides"], attrs["dilations"], attrs["kernel_shape"]
    height = (padded.shape[2] - dy * (kh - 1) - 1) // sy + 1
    width = (padded.shape[3] - dx * (kw - 1) - 1) // sx + 1
    per_in, per_out = weight.shape[1], len(weight) // attrs["group"]
    out = np.zeros((len(x), len(weight), height, width))
    for o, i, j in itertools.product(range(len(weight)), range(height), range(width)):
        g = o // per_out
        seen = padded[:, g * per_in:(g + 1) * per_in, i * sy:i * sy + dy * kh:dy, j * sx:j * sx + dx * kw:dx]
        out[:, o, i, j] = (seen[:, :, :kh, :kw] * weight[o]).sum(axis=(1, 2, 3)) + (0 if bias is None else bias[o])
    return out


class Products(Case):
    def convolve(self, filters, channels, attrs, bias=True):
        weights = {"node.weight": self.random.normal(0, 1, (filters, channels // attrs["group"], *attrs["kernel_shape"]))}
        if bias:
            weights["node.bias"] = self.random.normal(0, 1, filters)
        nodes = driver.chain(("Conv", "node", attrs, ["weight", "bias"] if bias else ["weight"]))
        return self.check(nodes, lambda x, w: conv(x, w["node.weight"], w.get("node.bias"), attrs), (2, channels, 5, 6), weights)

    def test_convolutions(self):
        for filters, channels, attrs in (
            (2, 3, driver.window((1, 1), (0, 0, 0, 0), group=1)), (3, 2, driver.window((3, 2), (1, 1, 1, 1), group=1)),
            (2, 2, driver.window((3, 3), (0, 0, 1, 1), (2, 2), group=1)), (4, 4, driver.window((3, 3), (1, 1, 1, 1), group=4)),
            (4, 2, driver.window((2, 2), (2, 0, 1, 3), (3, 1), (1, 2), group=2)),
            (6, 3, driver.window((2, 1), (0, 0, 0, 0), (1, 4), group=3)),
        ):
            with self.subTest(attrs):
                self.convolve(filters, channels, attrs)
        self.convolve(2, 2, driver.window((3, 3), (1, 1, 1, 1), group=1), bias=False)

    def test_absent_connections_have_no_gradient(self):
        for group, connections in ((1, [[0, 2], [1], [], [0, 1, 2, 3], [3]]), (2, [[0], [1], [0, 1], [1]])):
            attrs = driver.window((2, 2), (0, 0, 1, 0), group=group, connections=connections)
            weight = self.random.normal(0, 1, (len(connections), 4 // group, 2, 2))
            mask = np.zeros(weight.shape[:2])
            for out, seen in enumerate(connections):
                mask[out, seen] = 1
            mask = mask[:, :, None, None]
            weights = {"node.weight": weight * mask, "node.bias": self.random.normal(0, 1, len(weight))}
            nodes = driver.chain(("Conv", "node", attrs, ["weight", "bias"]))
            module, params = self.check(
                nodes, lambda x, w: conv(x, w["node.weight"] * mask, w["node.bias"], attrs), (2, 4, 4, 3), weights)
            absent = np.broadcast_to(mask == 0, weight.shape)
            self.assertEqual(abs(params["node.weight"].grad.numpy()[absent]).max(), 0)
            self.assertEqual(sum(getattr(layer, "absent", 0) for layer in module.modules()), absent.sum())

    def test_dense(self):
        weights = {"node.weight": self.random.normal(0, 1, (3, 5)), "node.bias": self.random.normal(0, 1, 3)}
        self.check(driver.chain(("Gemm", "node", {}, ["weight", "bias"])),
                   lambda x, w: x @ w["node.weight"].T + w["node.bias"], (2, 5), weights)
        del weights["node.bias"]
        self.check(driver.chain(("Gemm", "node", {}, ["weight"])), lambda x, w: x @ w["node.weight"].T, (2, 5), weights)


class Normalisation(Case):
    def batch_norm(self, shape, train):
        """Forward, gradients and running statistics."""
        attrs = {"epsilon": 0.03, "momentum": 0.2}
        axes, n = (0,) + tuple(range(2, len(shape))), np.prod(shape) // shape[1]
        weights = {"node." + role: self.random.normal(0, 1, shape[1]) for role in driver.BATCHNORM}
        weights["node.running_var"] = weights["node.running_var"] ** 2 + 0.5

        def spread(values):
            return values.reshape((-1,) + (1,) * (len(shape) - 2))

        def formula(x, w):
            mean, variance = w["node.running_mean"], w["node.running_var"]
            if train:
                mean, variance = x.mean(axis=axes), ((x - spread(x.mean(axis=axes))) ** 2).mean(axis=axes)
            hat = (x - spread(mean)) / np.sqrt(spread(variance) + attrs["epsilon"])
            return spread(w["node.weight"]) * hat + spread(w["node.bias"])

        x = self.random.normal(1, 2, shape)
        nodes = driver.chain(("BatchNormalization", "node", attrs, driver.BATCHNORM))
        _, params = self.check(nodes, formula, weights=weights, train=train, x=x)
        mean, variance = weights["node.running_mean"], weights["node.running_var"]
        if train:
            mean = 0.8 * mean + 0.2 * x.mean(axis=axes)
            variance = 0.8 * variance + 0.2 * x.var(axis=axes) * n / (n - 1)
        np.testing.assert_allclose(params["node.running_mean"].numpy(), mean, rtol=FORWARD)
        np.testing.assert_allclose(params["node.running_var"].numpy(), variance, rtol=FORWARD)

    def test_batch_normalisation_of_images(self):
        for train in (True, False):
            self.batch_norm((3, 2, 4, 3), train)

    def test_batch_normalisation_of_features(self):
        for train in (True, False):
            self.batch_norm((5, 4), train)

    def test_local_response_normalisation(self):
        for size in (1, 2, 3, 4, 5):
            def formula(x):
                total = np.zeros(x.shape)
                for c in range(x.shape[1]):
                    low, high = c - (size - 1) // 2, c + -(-(size - 1) // 2)
                    total[:, c] = (x[:, max(low, 0):high + 1] ** 2).sum(axis=1)
                return x / (1.5 + 0.7 / size * total) ** 0.6
            with self.subTest(size=size):
                self.one("LRN", {"size": size, "alpha": 0.7, "beta": 0.6, "bias": 1.5}, formula, shape=(2, 6, 3, 2))

    def test_pixels_are_normalised(self):
        x = self.random.randint(0, 256, (2, 3, 4, 4))
        attrs = {"scale": 1 / 255, "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.25, 2]}
        module, _ = network(driver.chain(("normalize", "node", attrs)), {}, 4, "node", True)
        mean, std = (np.array(attrs[key])[:, None, None] for key in ("mean", "std"))
        np.testing.assert_allclose(module(torch.from_numpy(x.astype(np.uint8))).numpy(), (x / 255 - mean) / std,
                                   rtol=FORWARD, atol=FORWARD)


class Elementwise(Case):
    def test_functions(self):
        def softmax(x, axis):
            shifted = np.exp(x - x.max(axis=axis, keepdims=True))
            return shifted / shifted.sum(axis=axis, keepdims=True)

        self.one("Relu", {}, lambda x: np.maximum(x, 0))
        self.one("Clip", {"min": -0.5, "max": 0.75}, lambda x: np.clip(x, -0.5, 0.75))
        self.one("LeakyRelu", {"alpha": 0.2}, lambda x: np.where(x > 0, x, 0.2 * x))
        self.one("Tanh", {}, np.tanh)
        self.one("Sigmoid", {}, lambda x: 1 / (1 + np.exp(-x)))
        for axis in (1, 3):
            self.one("Softmax", {"axis": axis}, lambda x: softmax(x, axis))
            self.one("LogSoftmax", {"axis": axis}, lambda x: np.log(softmax(x, axis)))

    def gradient(self, op, attrs, points, in_place):
        """At the points; behind an Add, which a node may write over, or not."""
        nodes = driver.chain((op, "node", attrs))
        if in_place:
            nodes = [driver.node("Mul", "square", ["x", "x"]), driver.node("Add", "sum", ["x", "square"]),
                     driver.node(op, "node", ["sum"], attrs)]
        x = torch.tensor([points], dtype=torch.float64, requires_grad=True)
        values = x + x * x if in_place else x
        module, _ = network(nodes, {}, 2, "node", True)
        module(x).sum().backward()
        return (x.grad / (1 + 2 * x.detach() if in_place else 1)).tolist()[0], values.tolist()[0]

    def test_gradients_where_a_function_has_a_corner(self):
        for in_place in (False, True):
            gradient, _ = self.gradient("Relu", {}, [-0.25, 0, 0.25], in_place)
            self.assertEqual(gradient, [0, 0, 1])
            points = [-0.25, 0, 1, 2, 2.5]  # with in_place the values are -0.1875, 0, 2, 6, 8.75
            bounds = {"min": 0, "max": 6} if in_place else {"min": 0, "max": 2}
            gradient, values = self.gradient("Clip", bounds, points, in_place)
            self.assertEqual(gradient, [0, 0, 1, 0, 0], values)
        self.assertEqual(self.gradient("LeakyRelu", {"alpha": 0.2}, [-1, 0, 1], False)[0], [0.2, 0.2, 1])

    def test_sums_and_products_of_two_values(self):
        nodes = driver.chain(("Tanh", "a"), ("Sigmoid", "b"))
        for op, function in (("Add", np.add), ("Mul", np.multiply)):
            self.check(nodes + [driver.node(op, "node", ["a", "b"])],
                       lambda x, _: function(np.tanh(x), 1 / (1 + np.exp(-np.tanh(x)))))
            self.check([driver.node(op, "node", ["x", "x"])], lambda x, _: function(x, x))

    def test_what_is_written_over_is_read_by_nobody_else(self):
        """Values behind sums, where nodes work in place: each of these reads one that another still needs."""
        def twice(x):
            return 2 * x

        nodes = [driver.node("Add", "a", ["x", "x"]), driver.node("Relu", "b", ["a"]), driver.node("Add", "c", ["a", "b"]),
                 driver.node("Add", "d", ["b", "c"]), driver.node("Relu", "e", ["d"]), driver.node("Mul", "f", ["e", "e"])]
        self.check(nodes, lambda x, _: np.maximum(twice(x) + 2 * np.maximum(twice(x), 0), 0) ** 2)
        nodes = [driver.node("Add", "a", ["x", "x"]), driver.node("Tanh", "b", ["a"]), driver.node("Add", "c", ["b", "b"]),
                 driver.node("Sigmoid", "d", ["x"]), driver.node("Add", "e", ["d", "c"]), driver.node("Relu", "g", ["e"])]
        self.check(nodes, lambda x, _: np.maximum(1 / (1 + np.exp(-x)) + 2 * np.tanh(2 * x), 0))


class Shapes(Case):
    def test_shapes(self):
        self.one("Flatten", {}, lambda x: x.reshape(2, -1))
        self.one("Reshape", {"shape": ["N", 9, 14]}, lambda x: x.reshape(2, 9, 14))
        self.one("Transpose", {"perm": [0, 2, 3, 1]}, lambda x: x.transpose(0, 2, 3, 1))
        for axes, keep in itertools.product(([2, 3], [1], [1, 2, 3]), (0, 1)):
            self.one("ReduceMean", {"axes": axes, "keepdims": keep}, lambda x: x.mean(axis=tuple(axes), keepdims=bool(keep)))

    def test_concat_and_split(self):
        for axis, sizes in ((1, [1, 2]), (2, [4, 1, 2])):
            names = ["part%d" % i for i in range(len(sizes))]
            nodes = [driver.node("Split", "split", ["x"], {"axis": axis, "split": sizes}, outputs=names),
                     driver.node("Tanh", "tanh", [names[0]]),
                     driver.node("Concat", "node", names[1:] + ["tanh"], {"axis": axis})]

            def formula(x, _):
                parts = np.split(x, np.cumsum(sizes)[:-1], axis=axis)
                return np.concatenate(parts[1:] + [np.tanh(parts[0])], axis=axis)
            self.check(nodes, formula)


class Dropout(Case):
    def drop(self, ratio, train=True, seed=5):
        torch.manual_seed(seed)
        module, _ = network(driver.chain(("Dropout", "node", {"ratio": ratio})), {}, 2, "node", train)
        return module(torch.ones(100, 1000, dtype=torch.float64)).numpy()

    def test_what_is_kept_makes_up_for_what_is_dropped(self):
        dropped = self.drop(0.25)
        self.assertEqual(set(np.unique(dropped)), {0, 1 / 0.75})
        # 100000 draws: the share has a standard deviation of 0.0014; six of them.
        self.assertLess(abs((dropped == 0).mean() - 0.25), 0.0084)
        self.assertTrue(np.array_equal(dropped, self.drop(0.25)))
        self.assertFalse(np.array_equal(dropped, self.drop(0.25, seed=6)))

    def test_nothing_is_dropped_in_evaluation_or_at_ratio_0(self):
        self.assertTrue((self.drop(0.25, train=False) == 1).all())
        self.assertTrue((self.drop(0.0) == 1).all())


class Complete(unittest.TestCase):
    def test_every_operator_of_the_graph_is_there(self):
        with open(driver.ROOT + "/src/graph/op_table.c") as file:
            names = set(re.findall(r'(?:\.name = |FUNCTION\(\w+, )"(\w+)"', file.read()))
        self.assertGreater(len(names), 20)
        later = {"Attention": hasattr(torch.nn.functional, "scaled_dot_product_attention"), "RMSNormalization": hasattr(torch.nn, "RMSNorm")}
        self.assertEqual({name for name in names if later.get(name, True)}, set(pytorch.PyTorch.ops))
