"""Networks as paddle2onnx writes them, for test_onnx_import.py and tests/frameworks/test_exports.py. Needs paddle and paddle2onnx.

    exports_paddle.py NETWORK FILE.onnx
"""

import sys

import numpy as np
import paddle

try:  # paddle2onnx would let polygraphy install by itself what it lacks, unless its settings were read before
    import polygraphy.config  # noqa: F401
except ImportError:
    pass

CLASSES, PIXELS = 10, 64
NETWORKS = ("resnet18", "mobilenet_v2")
FOLDS = {}  # batch normalisation is kept


def export(name, path, rows):
    """Writes the network and gives its answers to the rows (N, channels, height, width), pixels in [0, 1], and how many weights
    are trained."""
    paddle.seed(3)
    network = getattr(paddle.vision.models, name)(num_classes=CLASSES)
    network.eval()
    random = np.random.default_rng(7)
    for key, value in network.state_dict().items():
        if value.ndim == 1:
            low, high = (0.5, 1.5) if key.endswith("_variance") else (-0.2, 0.2)
            value.set_value(value.numpy() * (not key.endswith("_variance")) + random.uniform(low, high, value.shape).astype(np.float32))
    spec = paddle.static.InputSpec([None, 3, PIXELS, PIXELS], "float32", "x")
    paddle.onnx.export(network, path[:-len(".onnx")], input_spec=[spec], opset_version=17)
    with paddle.no_grad():
        answers = network(paddle.to_tensor(rows)).numpy()
    return answers, sum(int(np.prod(value.shape)) for value in network.parameters() if not value.stop_gradient)


if __name__ == "__main__":
    export(sys.argv[1], sys.argv[2], np.zeros((1, 3, PIXELS, PIXELS), np.float32))
