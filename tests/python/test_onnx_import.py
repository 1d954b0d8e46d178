"""What the reader makes of ONNX files that others wrote, held against what those make of them: the test sets and the nine light
networks of the package `onnx` (tools/judge_onnx.py, ONNX Runtime), networks of torchvision and of exports_torch.py as both
exporters of PyTorch write them, with and without batch normalisation kept, and what tf2onnx, Keras and paddle2onnx write. Each
part skips where its packages are not installed; no environment needs all of them."""

import copy
import importlib
import importlib.util
import os
import sys
import tempfile
import unittest

SLOW = os.environ.get("YS_ONNX_EXPORTS")
MINUTES = "exports take minutes: set YS_ONNX_EXPORTS=1, or to those that are to be made, as \"torch sequences\""


def is_there(*names):
    return all(importlib.util.find_spec(name) for name in names)


# Before the folder of adapters is searched, in which jax.py and others lie.
EXPORTS = {}
for maker, packages in (("torch", ("torch", "torchvision", "onnxscript")), ("sequences", ("torch", "torchvision", "onnxscript")), ("tensorflow", ("tensorflow", "keras", "tf2onnx")),
                        ("paddle", ("paddle", "paddle2onnx"))):
    # Some of these cannot be in one process: PyTorch, TensorFlow and Paddle together end it by a signal.
    if SLOW and (SLOW == "1" or maker in SLOW.split()) and is_there(*packages):
        EXPORTS[maker] = importlib.import_module("exports_" + maker)
HAS_RUNTIME = is_there("onnxruntime")

import driver  # noqa: E402
import numpy as np  # noqa: E402
from exports_known import IDIOMS, NETWORKS, SEQUENCES, SEQUENCE_WAYS, UNUSUAL, WAYS  # noqa: E402

PROGRAM = os.path.join(os.environ.get("YARDSTICK_BIN", driver.ROOT), "yardstick")
if not os.access(PROGRAM, os.X_OK):
    raise unittest.SkipTest("%s is not built" % PROGRAM)
if importlib.util.find_spec("onnx") is None:
    raise unittest.SkipTest("the package onnx is not installed")
sys.path.insert(0, os.path.join(driver.ROOT, "tools"))
import judge_onnx  # noqa: E402

# How many cases must be right at least, which is what docs/onnx.md says of the version of `onnx` that it names.
PASSED = {"node": 307, "simple": 5, "pytorch-converted": 70, "pytorch-operator": 21}
# An export is in single precision, and what it folds into its weights is rounded once more: 2^-24 of the largest, times
# the root of the layers. Kept apart, weights are the same numbers, and only attributes have 32 bits.
FOLDED_BOUND, KEPT_BOUND = 1e-5, 1e-6
# The other side computes in single precision: 2^-24 for each of about a hundred layers, and once more as much.
SINGLE_BOUND = 2e-5
# The numbers of parameters that are known; of ShuffleNet and Inception, whose files are not those of their papers, the files' own.
LIGHT = {"bvlc_alexnet": 60965224, "densenet121": 8062504, "inception_v1": 6998552, "inception_v2": 11214888,
         "resnet50": 25557032, "shufflenet": 1393320, "squeezenet": 1235496, "vgg19": 143667240, "zfnet512": 87250536}
# Networks that nobody prepared; those that are refused, and by what.
OTHERS = {"squeezenet1_1": None, "mnasnet0_5": None, "regnet_y_400mf": None, "googlenet": None, "inception_v3": None,
          "vgg11_bn": None, "resnext50_32x4d": None, "wide_resnet50_2": None, "mixer": None, "siamese": None,
          "unet": None, "vit": None}


class Options:
    only, verbose = None, False


class Judged(unittest.TestCase):
    def setUp(self):
        self.oracle = judge_onnx.Oracle(os.path.dirname(PROGRAM))

    def assert_near(self, found, expected, bound):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(np.abs(found - expected).max() / np.abs(expected).max(), bound)

    def assert_rows_stay_apart(self, graph, pixels, together, folder):
        """Of a network that is read into the folder: what each row is alone, to the last bit."""
        for i, logits in enumerate(together):
            alone = self.oracle.run(graph, {"x": pixels[i:i + 1]}, 1, folder)
            self.assertTrue((alone[0] == logits).all(), "row %d is another beside others" % i)

    @staticmethod
    def pixels(rows, size, seed=3):
        return np.random.RandomState(seed).randint(0, 256, (rows, 3, size, size)).astype(np.uint8)

    @staticmethod
    def count_trained(graph):
        return sum(int(np.prod(param["shape"])) for param in graph["params"] if param["role"] == "weight" and param["lr_mult"])


class Sets(Judged):
    def test_no_case_is_wrong_and_most_are_read(self):
        for which in judge_onnx.SETS:
            with self.subTest(which):
                table = judge_onnx.judge_set(self.oracle, which, Options)
                self.assertEqual(sum(count["wrong"] for count in table.values()), 0)
                self.assertGreaterEqual(sum(count["passed"] for count in table.values()), PASSED[which])


class Light(Judged):
    """Their weights are all 0.02: values are drawn here, except for the largest matrices, so that logits differ."""

    LARGEST = 8e6  # elements

    def drawn(self, path):
        import onnx
        random = np.random.default_rng(7)
        model = onnx.load(path)
        held = {tensor.name: tensor for tensor in model.graph.initializer}
        for node in [node for node in model.graph.node if node.op_type == "ConstantOfShape"]:
            shape = onnx.numpy_helper.to_array(held[node.input[0]])
            if np.prod(shape) > self.LARGEST:
                continue
            values = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else random.uniform(0.5, 1.5, shape)
            model.graph.initializer.append(onnx.numpy_helper.from_array(values.astype(np.float32), node.output[0]))
            model.graph.node.remove(node)
        return model

    def test_numbers_of_parameters(self):
        for name, count in LIGHT.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                graph, _ = self.oracle.imported(judge_onnx.light_file(name), folder)
                self.assertEqual(self.count_trained(graph), count)

    @unittest.skipUnless(SLOW, MINUTES)
    @unittest.skipUnless(HAS_RUNTIME, "onnxruntime is not installed")
    def test_logits_are_those_of_onnx_runtime(self):
        import onnx
        import onnxruntime
        for name in LIGHT:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path, pixels = os.path.join(folder, "net.onnx"), self.pixels(2, 224)
                onnx.save(self.drawn(judge_onnx.light_file(name)), path)
                session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
                feed = session.get_inputs()[0].name  # one row at a time: that is what the files are made for
                rows = [session.run(None, {feed: (row[None] / np.float32(255)).astype(np.float32)})[0].ravel() for row in pixels]
                found, graph = self.oracle.evaluate(path, {"x": pixels}, folder)
                self.assert_near(judge_onnx.headed(found, rows), np.stack(rows), SINGLE_BOUND)


@unittest.skipUnless(SLOW, MINUTES)
@unittest.skipUnless("torch" in EXPORTS, "torch, torchvision and onnxscript are not installed")
class Torch(Judged):
    def judge(self, name, way, refused):
        import torch
        exports = EXPORTS["torch"]
        size = exports.pixels_of(name)
        network, pixels = exports.make(name), self.pixels(3, size)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            exports.export(network, way, path, size)
            if refused:
                with self.assertRaisesRegex(judge_onnx.Refused, refused):
                    self.oracle.imported(path, folder)
                return
            found, graph = self.oracle.evaluate(path, {"x": pixels}, folder)
            self.assert_rows_stay_apart(graph, pixels, found, folder)
        with torch.no_grad():  # behind the export: that for training moves the running statistics
            expected = copy.deepcopy(network).double()(torch.from_numpy(pixels).double() / 255).numpy()
        self.assert_near(found, expected, KEPT_BOUND if way.endswith("kept") else FOLDED_BOUND)
        if way.endswith("kept"):
            self.assertEqual(self.count_trained(graph), sum(value.numel() for value in network.parameters()))

    def test_logits_are_those_of_torch(self):
        for name in NETWORKS:
            for way in WAYS:
                with self.subTest(name=name, way=way):
                    self.judge(name, way, None)

    def test_unusual_networks_answer_as_torch_does(self):
        for name in UNUSUAL:
            for way in WAYS:
                with self.subTest(name=name, way=way):
                    self.judge(name, way, None)

    def test_idioms_of_today_answer_as_torch_does(self):
        for name, ways in IDIOMS.items():
            for way in ways:
                with self.subTest(name=name, way=way):
                    self.judge(name, way, None)

    def test_networks_that_nobody_prepared_are_read_or_refused_by_name(self):
        for name, refused in OTHERS.items():
            for way in WAYS:
                with self.subTest(name=name, way=way):
                    self.judge(name, way, refused)


@unittest.skipUnless(SLOW, MINUTES)
@unittest.skipUnless("sequences" in EXPORTS, "torch, torchvision and onnxscript are not installed")
class Sequences(Judged):
    """Recurrent networks and transformers. Their batch is the first axis, and vectors are no folded ones: bounds as kept."""

    def judge(self, name, way):
        import torch
        exports = EXPORTS["sequences"]
        network, x = exports.make(name), exports.example(name)
        is_image = x.dtype.is_floating_point
        stored = self.pixels(3, 32) if is_image else x.numpy().astype(np.int32)
        x = torch.from_numpy(stored).double() / 255 if is_image else x
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            exports.export(network, name, way, path)
            found, graph = self.oracle.evaluate(path, {"x": stored}, folder)
            self.assert_rows_stay_apart(graph, stored, found, folder)
        with torch.no_grad():
            expected = copy.deepcopy(network).double()(x).numpy().reshape(3, -1)
        self.assert_near(found, expected, KEPT_BOUND)
        seconds = sum(value.numel() for key, value in network.named_parameters() if "bias_hh" in key)
        kept = sum(network.gru.hidden_size for key, _ in network.named_parameters() if "bias_hh" in key and name == "gru")
        count = sum(value.numel() for value in network.parameters()) - seconds + kept
        self.assertEqual(self.count_trained(graph), count)

    def test_logits_are_those_of_torch(self):
        for name in SEQUENCES:
            for way in SEQUENCE_WAYS[name]:
                with self.subTest(name=name, way=way):
                    self.judge(name, way)


class Exported(Judged):
    """Of frameworks that keep or fold batch normalisation as they like."""

    def judge(self, name, exports, channels_last):
        pixels = self.pixels(3, exports.PIXELS)
        rows = (pixels / np.float32(255)).astype(np.float32)
        rows = np.ascontiguousarray(np.moveaxis(rows, 1, 3)) if channels_last else rows
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            answers, count = exports.export(name, path, rows)
            found, graph = self.oracle.evaluate(path, {"x": pixels}, folder)
            self.assert_rows_stay_apart(graph, pixels, found, folder)
        self.assert_near(judge_onnx.headed(found, answers), answers, SINGLE_BOUND)
        if not exports.FOLDS.get(name):
            self.assertEqual(self.count_trained(graph), count)

    @unittest.skipUnless(SLOW, MINUTES)
    @unittest.skipUnless("tensorflow" in EXPORTS, "tensorflow, keras and tf2onnx are not installed")
    def test_logits_are_those_of_keras_and_tensorflow(self):
        for name in EXPORTS["tensorflow"].MADE:
            with self.subTest(name):
                self.judge(name, EXPORTS["tensorflow"], True)

    @unittest.skipUnless(SLOW, MINUTES)
    @unittest.skipUnless("paddle" in EXPORTS, "paddle and paddle2onnx are not installed")
    def test_logits_are_those_of_paddle(self):
        for name in EXPORTS["paddle"].NETWORKS:
            with self.subTest(name):
                self.judge(name, EXPORTS["paddle"], False)


if __name__ == "__main__":
    unittest.main()
