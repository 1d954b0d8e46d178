"""Networks as tf2onnx and Keras write them, for test_onnx_import.py and tests/frameworks/test_exports.py. Needs tensorflow, keras and tf2onnx.

    exports_tensorflow.py NETWORK FILE.onnx
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402

CLASSES, PIXELS = 10, 64


class Plain(tf.Module):
    """Of tf.nn alone: convolutions with biases, a pool without and one with padding, dense layers, softmax."""

    def __init__(self):
        super().__init__()
        random = np.random.default_rng(5)
        def weight(*shape):
            return tf.Variable((random.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32))
        self.values = [weight(5, 5, 3, 16), weight(16), weight(3, 3, 16, 32), weight(32), weight(8 * 8 * 32, 64), weight(64),
                       weight(64, CLASSES), weight(CLASSES)]

    def __call__(self, x):
        v = self.values
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, v[0], 2, "SAME"), v[1]))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        x = tf.nn.leaky_relu(tf.nn.bias_add(tf.nn.conv2d(x, v[2], 1, "SAME"), v[3]), 0.1)
        x = tf.reshape(tf.nn.avg_pool2d(x, 2, 2, "VALID"), (-1, 8 * 8 * 32))
        return tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(x, v[4]) + v[5]), v[6]) + v[7])


def separable():
    """Depthwise and pointwise convolutions with batch normalisation, squeeze and excitation, swish."""
    layers, inputs = keras.layers, keras.Input((PIXELS, PIXELS, 3))
    x = layers.Rescaling(1 / 127.5, offset=-1)(layers.Rescaling(255.0)(inputs))
    x = layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False)(x)
    x = layers.Activation("swish")(layers.BatchNormalization()(x))
    for filters, stride in ((32, 2), (32, 1), (64, 2)):
        y = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)(x)
        y = layers.Activation("swish")(layers.BatchNormalization()(y))
        s = layers.Reshape((1, 1, y.shape[-1]))(layers.GlobalAveragePooling2D()(y))
        s = layers.Conv2D(y.shape[-1], 1, activation="sigmoid")(layers.Conv2D(8, 1, activation="relu")(s))
        y = layers.BatchNormalization()(layers.Conv2D(filters, 1, use_bias=False)(layers.Multiply()([y, s])))
        x = layers.Add()([x, y]) if x.shape == y.shape else y
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, layers.Dense(CLASSES)(x))


def application(name):
    return lambda: getattr(keras.applications, name)(weights=None, input_shape=(PIXELS, PIXELS, 3), classes=CLASSES)


def trained(network):
    """Vectors are not all 0 or 1."""
    random = np.random.default_rng(7)
    for variable in network.variables:
        if len(variable.shape) == 1:
            low, high = (0.5, 1.5) if "variance" in variable.path or "gamma" in variable.path else (-0.2, 0.2)
            variable.assign(random.uniform(low, high, variable.shape))
    return network


MADE = {"tf2onnx plain": None, "tf2onnx separable": separable, "keras separable": separable, "keras MobileNetV2": application("MobileNetV2")}

FOLDS = {name: "plain" not in name for name in MADE}  # batch normalisation into convolutions


def export(name, path, rows):
    """Writes the network and gives its answers to the rows (N, height, width, channels), pixels in [0, 1], and how many weights
    are trained."""
    keras.utils.set_random_seed(3)
    signature = (tf.TensorSpec((None, PIXELS, PIXELS, 3), tf.float32, name="x"),)
    if name == "tf2onnx plain":
        network = Plain()
        tf2onnx.convert.from_function(tf.function(network, input_signature=signature), signature, opset=18, output_path=path)
        return network(tf.constant(rows)).numpy(), sum(int(np.prod(value.shape)) for value in network.values)
    network = trained(MADE[name]())
    answers = network(rows, training=False).numpy()  # Keras exports none that was never called
    if name.startswith("keras"):
        network.export(path, format="onnx", verbose=False)
    else:
        function = tf.function(lambda x: network(x, training=False), input_signature=signature)
        tf2onnx.convert.from_function(function, signature, opset=18, output_path=path)
    return answers, sum(int(np.prod(value.shape)) for value in network.trainable_variables)


if __name__ == "__main__":
    export(sys.argv[1], sys.argv[2], np.zeros((1, PIXELS, PIXELS, 3), np.float32))
