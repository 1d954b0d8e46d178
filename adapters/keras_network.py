"""The functional model that adapters/keras.py makes of a graph.

Images are channels_last on every engine, which is Keras' own default: every value of four dimensions has the graph's axis 1
last. Where Keras has no layer, the model calls keras.ops, which is part of the functional API.
"""

import functools
import json
import math
import types

import common
import common_graph
import common_places
import numpy as np


def own_kernel(value):
    """OIHW as HWIO, (out, in) as (in, out)."""
    return value.transpose(2, 3, 1, 0) if value.ndim == 4 else value.T


def graph_kernel(value):
    return value.transpose(3, 2, 0, 1) if value.ndim == 4 else value.T


def unchanged(value):
    """Of tables, which Keras keeps by rows as graphs do."""
    return value


def own_depthwise(channels):
    """(channels * multiplier, 1, height, width) as (height, width, channels, multiplier)."""
    return lambda value: value.reshape(channels, -1, *value.shape[2:]).transpose(2, 3, 0, 1)


def graph_depthwise(value):
    return value.transpose(2, 3, 0, 1).reshape(-1, 1, *value.shape[:2])


def operand_layout(shape, rank):
    """Of a parameter that is combined with a value of this rank: to and from as many axes as the value's, in the same order."""
    full = (1,) * (rank - len(shape)) + tuple(shape)
    there, back = ((0, 2, 3, 1), (0, 3, 1, 2)) if rank == 4 else (range(rank), range(rank))
    return (lambda value: value.reshape(full).transpose(there)), (lambda value: value.transpose(back).reshape(shape))


def own_layers(keras):
    """What Keras' layers leave open, as subclasses; they can only be made once Keras is imported."""

    class BatchNormalization(keras.layers.BatchNormalization):
        """The running variance takes that of the batch with n - 1, where Keras takes it with n. (`count`: n.)"""

        def __init__(self, count, **more):
            super().__init__(**more)
            self.unbiased = count / (count - 1) if count > 1 else 0.0

        def call(self, inputs, training=None, mask=None):
            if not training:
                return super().call(inputs, training=training, mask=mask)
            kept = self.momentum * self.moving_variance  # what Keras adds its share of the batch's variance to
            result = super().call(inputs, training=training, mask=mask)
            self.moving_variance.assign(kept + self.unbiased * (self.moving_variance - kept))
            return result

    class ConnectedConv2D(keras.layers.Conv2D):
        """A convolution whose output channels see some of the input channels only: `seen` is 1 where they do."""

        def __init__(self, filters, seen, **more):
            super().__init__(filters, **more)
            self.seen = seen

        def convolution_op(self, inputs, kernel):
            return super().convolution_op(inputs, kernel * keras.ops.convert_to_tensor(self.seen, kernel.dtype))

    class Operand(keras.layers.Layer):
        """A value and a parameter, combined."""

        def __init__(self, combine, shape):
            super().__init__()
            self.combine = combine
            self.kernel = self.add_weight(shape=shape, name="kernel")

        def call(self, inputs):
            return self.combine(inputs, self.kernel)

    class Place(keras.layers.Layer):
        """Where in their rows the positions lie that are passed: their first."""

        def __init__(self):
            super().__init__()
            self.at = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="at")
            self.built = True  # it is read, and never called

        def here(self, table, count, axis=0):
            """Of a table whose axis is that of positions those of the `count` that are passed."""
            return keras.ops.take(table, self.at.value + np.arange(count, dtype="int32"), axis=axis)

    class Placed(keras.layers.Layer):
        """What hangs on where its positions lie."""

        def __init__(self, place, function):
            super().__init__()
            self.place, self.function = place, function

        def call(self, inputs):
            return self.function(inputs, self.place.here)

    class PlacedOperand(Operand):
        """A value and those rows of a parameter that are of its positions."""

        def __init__(self, combine, shape, place):
            super().__init__(combine, shape)
            self.place = place

        def call(self, inputs):
            return self.combine(inputs, self.place.here(self.kernel, inputs.shape[1], 1))

    class Kept(keras.layers.Layer):
        """Attention of a prompt, and of single positions behind it, which see the keys and values that are kept."""

        def __init__(self, place, attend, shapes):
            super().__init__()
            self.place, self.attend = place, attend
            self.kept = [self.add_weight(shape=shape, initializer="zeros", dtype=self.compute_dtype, trainable=False, name="kept%d" % i)
                         for i, shape in enumerate(shapes)]

        def call(self, q, k, v):
            at, zero = self.place.at.value, np.int32(0)  # JAX wants them of one type
            for kept, new in zip(self.kept, (k, v)):
                kept.assign(keras.ops.slice_update(kept.value, (zero, at, zero), new))
            if q.shape[1] > 1:
                return self.attend(q, k, v)
            seen = keras.ops.less_equal(np.arange(self.kept[0].shape[1], dtype="int32"), at)
            return self.attend(q, *(kept.value for kept in self.kept), seen=seen)

    class GRUCell(keras.layers.Layer):
        """With one bias. Keras' own trains a second one of all its gates, of which graphs have the last alone."""

        def __init__(self, units):
            super().__init__()
            self.units = self.state_size = self.output_size = units

        def build(self, input_shape):
            shapes = {"kernel": (input_shape[-1], 3 * self.units), "recurrent_kernel": (self.units, 3 * self.units),
                      "bias": (3 * self.units,), "recurrent_bias": (self.units,)}
            for name, shape in shapes.items():
                setattr(self, name, self.add_weight(shape=shape, name=name))

        def call(self, inputs, states, training=False):
            ops, size, (h,) = keras.ops, self.units, states
            given = ops.matmul(inputs, self.kernel) + self.bias
            made = ops.matmul(h, self.recurrent_kernel)
            r, z = ops.split(ops.sigmoid(given[:, :2 * size] + made[:, :2 * size]), 2, axis=1)
            n = ops.tanh(given[:, 2 * size:] + r * (made[:, 2 * size:] + self.recurrent_bias))
            h = (1 - z) * n + z * h
            return h, [h]

    class Carried(keras.layers.Layer):
        """A recurrent layer whose rows go on from the state in which the batch before left them. Keras' own, stateful=True,
        keeps it where steps that JAX compiles do not find it."""

        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def build(self, input_shape):
            self.layer.build(input_shape)
            self.states = [self.add_weight(shape=(input_shape[0], size), initializer="zeros", trainable=False, name="state%d" % place)
                           for place, size in enumerate(self.layer.state_size)]

        def call(self, inputs, training=False):
            # Copies: PyTorch needs what a product was made of in the backward pass, when it has been written over.
            y, *left = self.layer(inputs, initial_state=list(map(keras.ops.copy, self.states)), training=training)
            for state, value in zip(self.states, left):
                state.assign(value)
            return y

    return types.SimpleNamespace(BatchNormalization=BatchNormalization, ConnectedConv2D=ConnectedConv2D, Operand=Operand,
                                 GRUCell=GRUCell, Carried=Carried, Place=Place, Placed=Placed, PlacedOperand=PlacedOperand, Kept=Kept)


class Network:
    """The functional model of a graph. owned: the variable of each parameter, with the conversions to and from its layout;
    carried: node -> the layer that carries its state. Of a prompt: place: the layer that knows where its positions lie; token_model:
    the same of one position alone."""

    def __init__(self, keras, plan):
        self.keras, self.own, self.plan = keras, own_layers(keras), plan
        self.ops, self.layers = keras.ops, keras.layers
        self.owned, self.made = {}, {}
        self.tables = {}  # what an embedding reads -> its layer
        self.carried = {}
        self.place = self.own.Place() if plan.prompt else None
        self.positions = plan.prompt and plan.prompt + plan.tokens
        self.kept = {}  # node -> the layer that keeps its keys and values
        self.model = self.make_model([plan.prompt] if plan.prompt else plan.graph["inputs"][0]["shape"][1:])
        self.token_model = self.make_model([1]) if plan.prompt else None

    def make_of_numbers(self):
        """The same network of pixels that come as numbers, to which there is a gradient. Its layers are those of the model."""
        return self.make_model(self.plan.graph["inputs"][0]["shape"][1:], self.keras.config.floatx())

    def make_model(self, shape, dtype=None):
        """Of rows of that shape, and of that type where it is not the graph's. What several models have in common is made for
        the first of them."""
        keras, plan, graph = self.keras, self.plan, self.plan.graph
        entry = graph["inputs"][0]
        rows = plan.batch_size if plan.carries_state or plan.prompt else None
        x = keras.Input(shape, rows, dtype=dtype or {"U8": "uint8", "I32": "int32", "F32": "float32"}[entry["dtype"]])
        values = {entry["name"]: self.layers.Permute((2, 3, 1))(x) if len(x.shape) == 4 else x}
        for node in graph["nodes"]:
            inputs = [values[name] for name in node["in"]]
            if node["op"] in CALLS and node.get("params"):
                result = self.operand(node, *inputs)
            elif node["op"] == "Attention" and plan.prompt:
                result = self.kept_attention(node, *inputs)
            elif node["op"] in CALLS:
                result = CALLS[node["op"]](self, node["attrs"], *inputs)
            else:
                result = getattr(self, LAYERS[node["op"]])(node, *inputs)
            values.update(zip(node["out"], result if node["op"] == "Split" else [result]))
        return keras.Model(x, self.wide(values[graph["output"]]))

    # Layouts and precisions.

    def to_graph(self, x):
        return self.layers.Permute((3, 1, 2))(x) if len(x.shape) == 4 else x

    def to_own(self, x):
        return self.layers.Permute((2, 3, 1))(x) if len(x.shape) == 4 else x

    def wide(self, x):
        """In the precision of parameters."""
        return self.ops.cast(x, self.keras.config.floatx()) if self.plan.precision == "bf16" else x

    def keep(self, node, variables, convert=(own_kernel, graph_kernel)):
        self.owned.update({name: (variables[role], *(convert if role == "weight" else (own_kernel, graph_kernel)))
                           for role, name in node["params"].items()})

    def made_once(self, node, make, *also):
        """The layer of a node: one that stands at several places is made for the first of them."""
        key = json.dumps([node["op"], node.get("attrs"), node["params"], also], sort_keys=True)
        if key not in self.made:
            for name in node["params"].values():
                if name in self.owned:
                    raise common.Unsupported("parameter %s of node %s is that of another layer too: Keras' layers share all or nothing"
                                             % (name, node["name"]), node["op"])
            self.made[key] = make()
        return self.made[key]

    # Layers with parameters.

    def normalize(self, node, x):
        mean, std = (np.array(node["attrs"][key]).reshape([-1] + [1] * (len(x.shape) - 2 if len(x.shape) != 4 else 0))
                     for key in ("mean", "std"))
        return self.layers.Rescaling(node["attrs"]["scale"] / std, -mean / std, dtype=self.keras.config.floatx())(x)

    def conv(self, node, x):
        attrs, weight = node["attrs"], self.plan.weights[node["params"]["weight"]].shape
        filters, mask = weight[0], common_graph.connection_mask(attrs, weight)
        (rows, columns), group, channels = attrs["strides"], attrs["group"], x.shape[-1]
        convert = own_kernel, graph_kernel
        both = attrs["dilations"] != [1, 1] and (rows, columns) != (1, 1)  # Keras takes the one or the other
        padding = "same" if pads_alike(attrs, x) and not both else "valid"
        shape = dict(kernel_size=attrs["kernel_shape"], strides=(1, 1) if both else (rows, columns), padding=padding,
                     dilation_rate=attrs["dilations"], use_bias="bias" in node["params"])
        if mask is not None:
            layer = self.own.ConnectedConv2D(filters, own_kernel(mask), groups=group, **shape)
        elif 1 < group == channels and rows == columns:
            layer = self.made_once(
                node, lambda: self.layers.DepthwiseConv2D(depth_multiplier=filters // channels, **shape), padding)
            convert = own_depthwise(channels), graph_depthwise
        else:
            layer = self.made_once(node, lambda: self.layers.Conv2D(filters, groups=group, **shape), padding)
        y = layer(x if padding == "same" else self.pad(attrs, x, 0.0))
        self.keep(node, {"weight": layer.kernel, "bias": layer.bias}, convert)
        return y[:, ::rows, ::columns] if both else y

    def gemm(self, node, x):
        name, with_bias = node["params"]["weight"], "bias" in node["params"]
        if name in self.tables and not with_bias:
            return self.to_own(self.tables[name](self.to_graph(x), reverse=True))
        layer = self.made_once(node, lambda: self.layers.Dense(self.plan.weights[name].shape[0], use_bias=with_bias))
        y = self.to_own(layer(self.to_graph(x)))
        self.keep(node, {"weight": layer.kernel, "bias": layer.bias})
        return y

    def embedding(self, node, x):
        name = node["params"]["weight"]
        layer = self.made_once(node, lambda: self.layers.ReversibleEmbedding(*self.plan.weights[name].shape))
        y = self.to_own(layer(self.to_graph(x)))
        self.tables[name] = layer
        self.keep(node, {"weight": layer.embeddings}, (unchanged, unchanged))
        return y

    def lstm(self, node, x):
        units = self.plan.weights[node["params"]["recurrent"]].shape[1]
        return self.recurrent(node, functools.partial(self.layers.LSTM, units), x)

    def gru(self, node, x):
        units = self.plan.weights[node["params"]["recurrent"]].shape[1]
        return self.recurrent(node, lambda **more: self.layers.RNN(self.own.GRUCell(units), **more), x)

    def recurrent(self, node, make, x):
        if self.plan.carries_state:
            layer = self.made_once(node, lambda: make(return_sequences=True, return_state=True), node["name"])
            self.carried[node["name"]] = self.own.Carried(layer)
            y = self.carried[node["name"]](x)
        else:
            layer = self.made_once(node, lambda: make(return_sequences=True))
            y = layer(x)
        cell = layer.cell
        self.keep(node, {"weight": cell.kernel, "recurrent": cell.recurrent_kernel, "bias": cell.bias,
                         "recurrent_bias": getattr(cell, "recurrent_bias", None)})
        return y

    def kept_attention(self, node, q, k, v):
        if node["name"] not in self.kept:
            attend = functools.partial(self.attention, node["attrs"])
            shapes = [(x.shape[0], self.positions, x.shape[2]) for x in (k, v)]
            self.kept[node["name"]] = self.own.Kept(self.place, attend, shapes)
        return self.kept[node["name"]](q, k, v)

    def attention(self, attrs, q, k, v, tokens=None, seen=None):
        """Composed: Keras' own leaves it to its engine, and JAX's has its softmax in single precision. seen: which keys, for all
        queries alike."""
        ops, groups, heads, positions = self.ops, attrs["kv_num_heads"], attrs["q_num_heads"], q.shape[1]
        q = ops.reshape(q, (-1, positions, groups, heads // groups, q.shape[2] // heads))
        k, v = (ops.reshape(x, (-1, x.shape[1], groups, x.shape[2] // groups)) for x in (k, v))
        scores = self.wide(ops.einsum("ntghd,nsgd->nghts", q, k)) * (attrs["scale"] or q.shape[-1] ** -0.5)
        if seen is not None:
            scores = ops.where(seen, scores, -np.inf)
        elif attrs["is_causal"]:
            hidden = np.where(np.tri(*scores.shape[-2:]), 0.0, -np.inf)
            scores = scores + hidden.astype(self.keras.config.floatx())
        if tokens is not None:
            counts = ops.reshape(ops.not_equal(tokens, common_graph.PADDING), (-1, 1, 1, 1, k.shape[1]))
            scores = ops.where(counts, scores, -np.inf)
        shares = ops.cast(ops.softmax(scores), v.dtype)
        return ops.reshape(ops.einsum("nghts,nsge->ntghe", shares, v), (-1, positions, heads * v.shape[-1]))

    def last(self, x, tokens):
        """Of each row the last position whose token is not the padding."""
        ops = self.ops
        counts = ops.cast(ops.not_equal(tokens, common_graph.PADDING), "int32")
        places = ops.max(counts * np.arange(tokens.shape[1], dtype="int32"), axis=1)
        return ops.take_along_axis(x, ops.expand_dims(places, (1, 2)), axis=1)[:, 0]

    def operand(self, node, x):
        shape, rank = self.plan.weights[node["params"]["weight"]].shape, len(x.shape)
        to_own, to_graph = operand_layout(shape, rank)
        combine, own_shape = functools.partial(CALLS[node["op"]], self, {"broadcast": 1}), to_own(np.empty(shape)).shape
        if self.place and len(shape) == 2 and shape[0] == self.positions:
            layer = self.made_once(node, lambda: self.own.PlacedOperand(combine, own_shape, self.place), rank)
        else:
            layer = self.made_once(node, lambda: self.own.Operand(combine, own_shape), rank)
        self.keep(node, {"weight": layer.kernel}, (to_own, to_graph))
        return layer(x)

    def batch_norm(self, node, x):
        settings = {"momentum": 1 - node["attrs"]["momentum"], "epsilon": node["attrs"]["epsilon"]}
        if self.plan.mode == "train":
            layer = self.own.BatchNormalization(self.plan.batch_size * math.prod(x.shape[1:-1]), **settings)
        else:  # Keras' own does the same, and can be saved
            layer = self.layers.BatchNormalization(**settings)
        y = layer(x)
        self.keep(node, {"weight": layer.gamma, "bias": layer.beta,
                         "running_mean": layer.moving_mean, "running_var": layer.moving_variance})
        return y

    def pad_axes(self, attrs, x):
        sides = common_graph.sides_of(attrs)
        sides = [sides[axis] for axis in (0, 2, 3, 1)] if len(x.shape) == 4 else sides
        if attrs["mode"] == "constant":
            return self.ops.pad(x, sides, constant_values=attrs["value"])
        for axis, side in enumerate(sides):
            if side != (0, 0):
                x = self.ops.take(x, common_graph.padded_indices(attrs["mode"], side, x.shape[axis]), axis=axis)
        return x

    def layer_norm(self, node, x):
        epsilon, with_bias = node["attrs"]["epsilon"], "bias" in node["params"]
        layer = self.made_once(node, lambda: self.layers.LayerNormalization(epsilon=epsilon, center=with_bias))
        y = self.to_own(layer(self.to_graph(x)))
        self.keep(node, {"weight": layer.gamma, "bias": layer.beta})
        return y

    def rms_norm(self, node, x):
        layer = self.made_once(node, lambda: self.layers.RMSNormalization(epsilon=node["attrs"]["epsilon"]))
        y = self.to_own(layer(self.to_graph(x)))
        self.keep(node, {"weight": layer.scale})
        return y

    def placed(self, function, x):
        """function(x, here): here cuts from tables what is of the positions that are passed."""
        return self.own.Placed(self.place, function)(x) if self.place else function(x, lambda table, _count: table)

    def rotary(self, attrs, x, here):
        ops, heads, (positions, width) = self.ops, attrs["num_heads"], x.shape[1:]
        parts = ops.reshape(self.wide(x), (-1, positions, heads, width // heads))
        tables = common_places.rotations(attrs, self.positions or positions, width // heads)
        cosines, sines = (here(table.astype(self.keras.config.floatx()), positions) for table in tables)
        a, b = (parts[..., ::2], parts[..., 1::2]) if attrs["interleaved"] else ops.split(parts, 2, axis=3)
        turned = a * cosines - b * sines, b * cosines + a * sines
        y = ops.stack(turned, axis=4) if attrs["interleaved"] else ops.concatenate(turned, axis=3)
        return ops.cast(ops.reshape(y, (-1, positions, width)), x.dtype)

    def sinusoid(self, attrs, x, here):
        waves = common_places.waves(attrs, self.positions or x.shape[1], x.shape[2]).astype(self.keras.config.floatx())
        return self.ops.cast(self.wide(x) + here(waves, x.shape[1]), x.dtype)

    # Windows.

    def pad(self, attrs, x, value):
        """x, so that windows without padding are those of the node."""
        pads = [(side.before, max(side.behind, 0)) for side in windows(attrs, x)]
        if not any(map(any, pads)):
            return x
        if value == 0:
            return self.layers.ZeroPadding2D(pads)(x)
        return self.ops.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value)

    def max_pool(self, node, x):
        attrs = node["attrs"]
        padded = self.pad(attrs, x, -math.inf)
        if attrs["dilations"] == [1, 1]:
            return self.layers.MaxPooling2D(attrs["kernel_shape"], attrs["strides"])(padded)
        # The largest so far, which is the first among equals.
        return functools.reduce(lambda best, tap: self.ops.where(tap > best, tap, best), taps(attrs, x, padded))

    def average_pool(self, node, x):
        """Where not all pixels of a window count, the mean over its padded whole, made up for those that do not."""
        attrs = node["attrs"]
        counts = np.multiply.outer(*(side.counts() for side in windows(attrs, x)))
        share = (math.prod(attrs["kernel_shape"]) / counts)[:, :, None].astype(self.keras.config.floatx())
        padded = self.pad(attrs, x, 0.0)
        if attrs["dilations"] == [1, 1]:
            y = self.layers.AveragePooling2D(attrs["kernel_shape"], attrs["strides"])(padded)
        else:
            y = sum(taps(attrs, x, padded)) / math.prod(attrs["kernel_shape"])
        return y if (share == 1).all() else y * share

    def lrn(self, node, x):
        attrs, size, channels, x = node["attrs"], node["attrs"]["size"], x.shape[-1], self.wide(x)
        squares = self.ops.pad(x * x, ((0, 0), (0, 0), (0, 0), ((size - 1) // 2, size // 2)))
        total = sum(squares[..., first:first + channels] for first in range(size))
        return x / (attrs["bias"] + attrs["alpha"] / size * total) ** attrs["beta"]

    def clip(self, node, x):
        """keras.ops.clip has a gradient at the bounds, and so has relu6 on JAX."""
        low, high = node["attrs"]["min"], node["attrs"]["max"]
        if (low, high) == (0, 6) and self.keras.config.backend() != "jax":
            return self.layers.ReLU(6.0)(x)
        return self.bound(x, low, high)

    def bound(self, x, low, high):
        flat = self.ops.where(x < low + (high - low) / 2, low, high)
        return self.ops.where(self.ops.logical_and(x > low, x < high), x, self.ops.cast(flat, x.dtype))

    def gelu(self, attrs, x):
        """Keras's own leaves the constants to its engine, which may have them in single precision."""
        if attrs["approximate"] == "tanh":
            return x * (1 + self.ops.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2
        return x * (1 + self.ops.erf(x / math.sqrt(2))) / 2

    def elu(self, x, alpha, inner=1):
        """Keras's own leaves alpha to its engine, which may have it in single precision."""
        below = self.ops.where(x > 0, self.ops.zeros_like(x), x)
        return self.ops.where(x > 0, x, alpha * self.ops.expm1(below / inner))

    def softplus(self, x):
        """Not Keras's own, which on PyTorch ends at 20."""
        return -self.ops.log_sigmoid(-x)

    def leaky_relu(self, node, x):
        """Keras's own has the slope 1 at 0 on JAX, and a factor of single precision on TensorFlow."""
        return self.ops.where(x > 0, x, node["attrs"]["alpha"] * x)

    def dropout(self, node, x):
        """Each with a seed of its own, or values of one shape would lose the same elements."""
        names = [other["name"] for other in self.plan.graph["nodes"]]
        return self.layers.Dropout(node["attrs"]["ratio"], seed=self.plan.seed % 2**31 + names.index(node["name"]))(x)


def windows(attrs, x):
    return [common_graph.Window(attrs, axis, size) for axis, size in enumerate(x.shape[1:3])]


def taps(attrs, x, padded):
    """Of pools with dilations, which Keras does not have: for each place of the kernel, the pixels that windows over x meet
    there."""
    rows, columns = windows(attrs, x)

    def met(tap, side):
        return slice(tap, tap + side.windows * side.stride - side.stride + 1, side.stride)

    return [padded[:, met(i, rows), met(j, columns)] for i in rows.taps for j in columns.taps]


def pads_alike(attrs, x):
    """Whether padding="same" pads as the node does: for ceil(size / stride) windows, and an odd pixel behind the image."""
    return all(side.windows == -(-size // side.stride) and 0 <= side.before <= side.behind <= side.before + 1
               for side, size in zip(windows(attrs, x), x.shape[1:3])) and any(attrs["pads"])


def own_axis(attrs, x):
    return (0, 3, 1, 2)[attrs["axis"]] if len(x.shape) == 4 else attrs["axis"]


LAYERS = {  # methods of Network
    "normalize": "normalize", "Conv": "conv", "Gemm": "gemm", "Embedding": "embedding", "LSTM": "lstm", "GRU": "gru",
    "BatchNormalization": "batch_norm", "LayerNormalization": "layer_norm", "RMSNormalization": "rms_norm",
    "LRN": "lrn",
    "MaxPool": "max_pool", "AveragePool": "average_pool", "Clip": "clip", "LeakyRelu": "leaky_relu", "Dropout": "dropout",
}
CALLS = {
    "Relu": lambda net, attrs, x: net.layers.ReLU()(x),
    "Tanh": lambda net, attrs, x: net.ops.tanh(x),
    "Sigmoid": lambda net, attrs, x: net.ops.sigmoid(x),
    "HardSwish": lambda net, attrs, x: x * net.ops.relu6(x + 3) / 6,
    "HardSigmoid": lambda net, attrs, x: net.bound(x * attrs["alpha"] + attrs["beta"], 0.0, 1.0),
    "Swish": lambda net, attrs, x: x * net.ops.sigmoid(x),
    "Gelu": lambda net, attrs, x: net.gelu(attrs, x),
    "Attention": lambda net, attrs, *values: net.attention(attrs, *values),
    "last": lambda net, attrs, x, tokens: net.last(x, tokens),
    "Pad": lambda net, attrs, x: net.pad_axes(attrs, x),
    "RotaryEmbedding": lambda net, attrs, x: net.placed(functools.partial(net.rotary, attrs), x),
    "sinusoid": lambda net, attrs, x: net.placed(functools.partial(net.sinusoid, attrs), x),
    "Exp": lambda net, attrs, x: net.ops.exp(x),
    "Elu": lambda net, attrs, x: net.elu(x, attrs["alpha"]),
    "Selu": lambda net, attrs, x: attrs["gamma"] * net.elu(x, attrs["alpha"]),
    "Celu": lambda net, attrs, x: net.elu(x, attrs["alpha"], attrs["alpha"]),
    "Softplus": lambda net, attrs, x: net.softplus(x),
    "Softsign": lambda net, attrs, x: x / (1 + net.ops.abs(x)),
    "Mish": lambda net, attrs, x: x * net.ops.tanh(net.softplus(x)),
    "Sqrt": lambda net, attrs, x: net.ops.sqrt(x),
    "Pow": lambda net, attrs, x: net.ops.power(x, net.ops.convert_to_tensor(np.float64(attrs["exponent"]), dtype=x.dtype)),
    "Softmax": lambda net, attrs, x: net.ops.softmax(net.wide(x), axis=own_axis(attrs, x)),
    "LogSoftmax": lambda net, attrs, x: net.ops.log_softmax(net.wide(x), axis=own_axis(attrs, x)),
    "GlobalAveragePool": lambda net, attrs, x: net.layers.GlobalAveragePooling2D(keepdims=True)(x),
    # Not GlobalMaxPooling2D, whose gradient is shared among equals.
    "GlobalMaxPool": lambda net, attrs, x: net.layers.MaxPooling2D(tuple(x.shape[1:3]))(x),
    "Add": lambda net, attrs, a, b: net.ops.add(a, b) if attrs.get("broadcast") else net.layers.Add()([a, b]),
    "Sub": lambda net, attrs, a, b: net.ops.subtract(a, b),
    "Mul": lambda net, attrs, a, b: net.ops.multiply(a, b),
    "Div": lambda net, attrs, a, b: net.ops.divide(a, b),
    "MatMul": lambda net, attrs, a, b: net.to_own(net.ops.matmul(net.to_graph(a), net.to_graph(b))),
    "Concat": lambda net, attrs, *parts: net.ops.concatenate(parts, axis=own_axis(attrs, parts[0])),
    "Split": lambda net, attrs, x: net.ops.split(x, np.cumsum(attrs["split"])[:-1].tolist(), axis=own_axis(attrs, x)),
    "Flatten": lambda net, attrs, x: net.layers.Flatten()(net.to_graph(x)),
    "Reshape": lambda net, attrs, x: net.to_own(net.ops.reshape(net.to_graph(x), [-1] + attrs["shape"][1:])),
    "Transpose": lambda net, attrs, x: net.to_own(net.ops.transpose(net.to_graph(x), attrs["perm"])),
    "ReduceMean": lambda net, attrs, x: net.to_own(
        net.ops.mean(net.to_graph(x), axis=attrs["axes"], keepdims=bool(attrs["keepdims"]))),
}
