"""TensorFlow's operators as the graph means them, spelled alike in TensorFlow 1.15 and 2.

Values of rank 4 are kept as (N, height, width, channels), the layout of TensorFlow's operators on a CPU; what the graph
says of their axes is translated, and what depends on their order (Flatten, Reshape, Transpose) is done in the graph's own
layout. Values of other ranks are as in the graph.
"""

import math

import common
import common_graph
import common_places
import numpy as np

with common.importing("TensorFlow"):
    import tensorflow as tf

NHWC, NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


def rank(x):
    return len(x.shape.as_list())


def to_nhwc(x):
    return tf.transpose(x, NHWC) if rank(x) == 4 else x


def to_nchw(x):
    return tf.transpose(x, NCHW) if rank(x) == 4 else x


def find_axis(x, axis):
    """Where axis `axis` of the graph lies in x."""
    return NCHW[axis] if rank(x) == 4 else axis


def widen(x):
    """x in float32 where it is bfloat16: sums of many terms, and what autocast leaves in float32."""
    return tf.cast(x, tf.float32) if x.dtype == tf.bfloat16 else x


# Windows: pools and the padding of convolutions.

def find_sides(x, attrs):
    return [common_graph.Window(attrs, axis, size) for axis, size in enumerate(x.shape.as_list()[1:3])]


def name_padding(x, sides):
    """What TensorFlow calls these windows, "VALID" or "SAME" (which pads for ceil(size / stride) windows, the odd pixel
    behind), or None."""
    if all(side.before == 0 and side.behind <= 0 for side in sides):
        return "VALID"
    sizes = x.shape.as_list()[1:3]
    same = all(side.windows == -(-size // side.stride) and side.before == max(side.before + side.behind, 0) // 2
               for side, size in zip(sides, sizes))
    return "SAME" if same else None


def list_paddings(sides):
    """What windows without padding need around the image. (They pass over what is left behind the last one.)"""
    return [[0, 0]] + [[side.before, max(side.behind, 0)] for side in sides] + [[0, 0]]


def pad(x, sides, value):
    return tf.pad(x, list_paddings(sides), constant_values=value)


def list_taps(x, sides):
    """For each position of a window, in row order, what all windows see there; x is padded."""
    rows, columns = [[slice(tap, tap + (side.windows - 1) * side.stride + 1, side.stride) for tap in side.taps]
                     for side in sides]
    return [x[:, row, column] for row in rows for column in columns]


def max_pool(x, attrs):
    sides, kernel, strides = find_sides(x, attrs), attrs["kernel_shape"], attrs["strides"]
    if attrs["dilations"] != [1, 1]:
        first, *others = list_taps(pad(x, sides, -math.inf), sides)
        for other in others:  # the gradient of maximum goes to the first of equals
            first = tf.maximum(first, other)
        return first
    padding = name_padding(x, sides)
    return tf.nn.max_pool2d(x if padding else pad(x, sides, -math.inf), kernel, strides, padding or "VALID")


def average_pool(x, attrs):
    sides, kernel, strides = find_sides(x, attrs), attrs["kernel_shape"], attrs["strides"]
    counts = np.outer(*[side.counts() for side in sides])[:, :, None]
    if attrs["dilations"] != [1, 1]:
        return tf.add_n(list_taps(pad(x, sides, 0.0), sides)) / tf.constant(counts, x.dtype)
    pixels = np.outer(*[side.counts() for side in find_sides(x, dict(attrs, count_include_pad=0))])[:, :, None]
    padding = name_padding(x, sides)
    if padding and np.array_equal(counts, pixels):  # TensorFlow divides by the pixels of the image
        return tf.nn.avg_pool2d(x, kernel, strides, padding)
    means = tf.nn.avg_pool2d(pad(x, sides, 0.0), kernel, strides, "VALID")
    shares = kernel[0] * kernel[1] / counts
    return means if np.all(shares == 1) else means * tf.constant(shares, x.dtype)


def global_max_pool(x, _attrs):
    """Not tf.reduce_max, whose gradient is shared among equals."""
    extent = x.shape.as_list()[1:3]
    return tf.nn.max_pool2d(x, extent, extent, "VALID")


# Operators without parameters, by their attributes.

def mean(x, axes):
    return tf.cast(tf.reduce_mean(widen(x), axes, keepdims=True), x.dtype)


def reduce_mean(x, attrs):
    result = mean(x, [find_axis(x, axis) for axis in attrs["axes"]])
    if attrs["keepdims"]:
        return result
    result = to_nchw(result)
    kept = [extent for axis, extent in enumerate(result.shape.as_list()) if axis not in attrs["axes"]]
    return to_nhwc(tf.reshape(result, kept))


def leaky_relu(x, attrs):
    if x.dtype == tf.float64:  # the attribute of TensorFlow's own operator is a float32
        return tf.where(x > 0, x, attrs["alpha"] * x)
    return tf.nn.leaky_relu(x, alpha=attrs["alpha"])


def elu(x, alpha, inner=1):
    """TensorFlow's own has alpha 1. At 0 the derivative is that of the lower branch."""
    if alpha == inner == 1:
        return tf.nn.elu(x)
    return tf.where(x > 0, x, alpha * tf.math.expm1(tf.minimum(x, 0) / inner))


def clip(x, attrs):
    low, high = attrs["min"], attrs["max"]
    if (low, high) == (0, 6):
        return tf.nn.relu6(x)
    # The gradient of clip_by_value is 1 at the bounds too.
    return tf.where(tf.logical_and(x > low, x < high), x, tf.stop_gradient(tf.clip_by_value(x, low, high)))


def pad_axes(x, attrs):
    sides = common_graph.sides_of(attrs)
    if attrs["mode"] == "edge":  # which TensorFlow has not
        for axis, side in enumerate(sides):
            own = find_axis(x, axis)
            if side != (0, 0):
                x = tf.gather(x, common_graph.padded_indices("edge", side, x.shape.as_list()[own]), axis=own)
        return x
    sides = [sides[axis] for axis in NHWC] if rank(x) == 4 else sides
    return tf.pad(x, sides, attrs["mode"].upper(), constant_values=attrs["value"])


def gelu(x, attrs):
    """tf.nn.gelu has its constants in single precision."""
    dtype, x = x.dtype, widen(x)
    if attrs["approximate"] == "tanh":
        curve = tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
    else:
        curve = tf.math.erf(x / math.sqrt(2))
    return tf.cast(x * (1 + curve) / 2, dtype)


def local_response_normalization(x, attrs):
    size, beta, bias, dtype = attrs["size"], attrs["beta"], attrs["bias"], x.dtype
    x = widen(x)
    if size % 2 and x.dtype == tf.float32:
        return tf.cast(tf.nn.local_response_normalization(
            x, depth_radius=size // 2, bias=bias, alpha=attrs["alpha"] / size, beta=beta), dtype)
    channels, before = x.shape.as_list()[3], (size - 1) // 2
    offset = np.arange(channels)[:, None] - np.arange(channels)  # of the channel that is summed from that of the sum
    seen = tf.constant((offset >= -before) & (offset < size - before), tf.float32)
    sums = tf.tensordot(x * x, tf.cast(seen, x.dtype), 1)
    return tf.cast(x / tf.pow(bias + attrs["alpha"] / size * sums, beta), dtype)


def reorder(do):
    """An operator that works on the graph's layout."""
    return lambda x, attrs: to_nhwc(do(to_nchw(x), attrs))


def attention(inputs, attrs):
    """Products of (N, groups, heads of a group, positions, width). How many keys there are may be unknown."""
    groups, dtype = attrs["kv_num_heads"], inputs[0].dtype
    parts = []
    for x, heads in zip(inputs, (attrs["q_num_heads"], groups, groups)):
        rows, _, width = x.shape.as_list()
        x = tf.reshape(x, [rows, -1, groups, heads // groups, width // heads])
        parts.append(tf.transpose(x, [0, 2, 3, 1, 4]))
    q, k, v = parts
    scores = widen(tf.matmul(q, k, transpose_b=True)) * (attrs["scale"] or q.shape.as_list()[-1] ** -0.5)
    if attrs["is_causal"]:
        hidden = np.where(np.tri(*scores.shape.as_list()[-2:]), 0.0, -np.inf)
        scores += tf.constant(hidden, scores.dtype)
    for tokens in inputs[3:]:
        hidden = tf.where(tf.equal(tokens, common_graph.PADDING), tf.constant(-np.inf, scores.dtype), tf.constant(0.0, scores.dtype))
        scores += tf.reshape(hidden, [tokens.shape.as_list()[0], 1, 1, 1, -1])
    result = tf.transpose(tf.matmul(tf.cast(tf.nn.softmax(scores), dtype), v), [0, 3, 1, 2, 4])
    return tf.reshape(result, inputs[0].shape.as_list()[:2] + [-1])


def last_counted(inputs, _attrs):
    """Of each row the last position whose token is not the padding."""
    x, tokens = inputs
    places = tf.range(tokens.shape.as_list()[1]) * tf.cast(tf.not_equal(tokens, common_graph.PADDING), tf.int32)
    return tf.gather(x, tf.reduce_max(places, 1), batch_dims=1)


class Place:
    """Which positions are passed: those of whole rows, or where `positions` says how many these have, some from `at` on."""

    def __init__(self, positions, at):
        self.positions, self.at = positions, at

    def tables(self, make, attrs, count, width, dtype):
        """What tells `count` positions their places, of common_places."""
        made = make(attrs, self.positions or count, width)
        return [self.here(tf.constant(table, dtype), count) for table in (made if isinstance(made, tuple) else (made,))]

    def here(self, table, count):
        return tf.gather(table, self.at + tf.range(count)) if self.positions else table


def rotary(x, attrs, place):
    rows, positions, width = x.shape.as_list()
    dtype, heads = x.dtype, attrs["num_heads"]
    wide = tf.reshape(widen(x), [rows, positions, heads, width // heads])
    cosines, sines = place.tables(common_places.rotations, attrs, positions, width // heads, wide.dtype)
    a, b = (wide[..., ::2], wide[..., 1::2]) if attrs["interleaved"] else tf.split(wide, 2, 3)
    turned = a * cosines - b * sines, b * cosines + a * sines
    y = tf.stack(turned, 4) if attrs["interleaved"] else tf.concat(turned, 3)
    return tf.cast(tf.reshape(y, [rows, positions, width]), dtype)


def sinusoid(x, attrs, place):
    waves, = place.tables(common_places.waves, attrs, *x.shape.as_list()[1:], tf.float64)
    return x + tf.cast(waves, x.dtype)


PLACES = {"RotaryEmbedding": rotary, "sinusoid": sinusoid}
OPERATORS = {
    "Relu": lambda x, attrs: tf.nn.relu(x),
    "LeakyRelu": leaky_relu,
    "Clip": clip,
    "Tanh": lambda x, attrs: tf.tanh(x),
    "Sigmoid": lambda x, attrs: tf.sigmoid(x),
    "HardSwish": lambda x, attrs: x * tf.nn.relu6(x + 3) / 6,
    "HardSigmoid": lambda x, attrs: clip(x * attrs["alpha"] + attrs["beta"], {"min": 0.0, "max": 1.0}),
    "Swish": lambda x, attrs: x * tf.sigmoid(x),
    "Gelu": gelu,
    "Pad": pad_axes,
    "Exp": lambda x, attrs: tf.exp(x),
    "Elu": lambda x, attrs: elu(x, attrs["alpha"]),
    "Selu": lambda x, attrs: attrs["gamma"] * elu(x, attrs["alpha"]),
    "Celu": lambda x, attrs: elu(x, attrs["alpha"], attrs["alpha"]),
    "Softplus": lambda x, attrs: tf.math.softplus(x),
    "Softsign": lambda x, attrs: tf.nn.softsign(x),
    "Mish": lambda x, attrs: x * tf.tanh(tf.math.softplus(x)),
    "Sqrt": lambda x, attrs: tf.sqrt(x),
    "Pow": lambda x, attrs: tf.pow(x, tf.constant(attrs["exponent"], x.dtype)),
    "Softmax": lambda x, attrs: tf.nn.softmax(widen(x), axis=find_axis(x, attrs["axis"])),
    "LogSoftmax": lambda x, attrs: tf.nn.log_softmax(widen(x), axis=find_axis(x, attrs["axis"])),
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": lambda x, attrs: mean(x, [1, 2]),
    "GlobalMaxPool": global_max_pool,
    "LRN": local_response_normalization,
    "Flatten": reorder(lambda x, attrs: tf.reshape(x, [x.shape.as_list()[0], -1])),
    "Reshape": reorder(lambda x, attrs: tf.reshape(x, x.shape.as_list()[:1] + attrs["shape"][1:])),
    "Transpose": reorder(lambda x, attrs: tf.transpose(x, attrs["perm"])),
    "ReduceMean": reduce_mean,
}
# Those of several values.
JOINTS = {
    "Add": lambda x, attrs: x[0] + x[1],
    "Sub": lambda x, attrs: x[0] - x[1],
    "Mul": lambda x, attrs: x[0] * x[1],
    "Div": lambda x, attrs: x[0] / x[1],
    "MatMul": lambda x, attrs: to_nhwc(tf.matmul(to_nchw(x[0]), to_nchw(x[1]))),
    "Attention": attention,
    "last": last_counted,
    "Concat": lambda x, attrs: tf.concat(x, find_axis(x[0], attrs["axis"])),
}


# What layers with parameters are made of.

def spread(weight, axis, dilation):
    """A kernel with zeros between its taps along an axis: convolutions with dilations have no gradient on a CPU."""
    taps = weight.shape.as_list()[axis]
    if dilation == 1 or taps == 1:
        return weight
    shape = weight.shape.as_list()
    behind = [[0, 0]] * 5
    behind[axis + 1] = [0, dilation - 1]
    shape[axis] = taps * dilation
    weight = tf.reshape(tf.pad(tf.expand_dims(weight, axis + 1), behind), shape)
    reach = (taps - 1) * dilation + 1
    return weight[:reach] if axis == 0 else weight[:, :reach]


def batch_norm_fused(x, scale, offset, running, epsilon, train):
    """The result; in training also mean and variance of the batch, that divided by n - 1. The operator itself, because
    tf.compat.v1.nn.fused_batch_norm raises an epsilon below 1.001e-5."""
    past = [tf.constant([], tf.float32)] * 2 if train else running
    return tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=past[0], variance=past[1],
                                       epsilon=epsilon, is_training=train)[:3]


def batch_norm_double(x, scale, offset, running, epsilon, train):
    """The same from TensorFlow's other operators: the fused one knows float32 only."""
    n = int(np.prod(x.shape.as_list()[:3]))
    average, variance = tf.nn.moments(x, [0, 1, 2]) if train else running
    result = tf.nn.batch_normalization(x, average, variance, offset, scale, epsilon)
    return result, average, variance * (n / max(n - 1, 1))
