"""What the adapters of TensorFlow 1.15 and 2 share: the network, its loss and its optimizers, spelled alike in both.

Images are (N, height, width, channels): see tensorflow_operators.py.
"""

import math
import zlib

import common
import common_graph
import numpy as np

from tensorflow_operators import (JOINTS, OPERATORS, PLACES, Place, batch_norm_double, batch_norm_fused, find_axis,
                                  find_sides, list_paddings, name_padding, pad, rank, spread, tf, to_nchw,
                                  to_nhwc)

DTYPES = {"f32": tf.float32, "f64": tf.float64, "bf16": tf.float32}  # of parameters


class Layout:
    """How TensorFlow keeps a parameter: the graph's array, reshaped to `parts` and then transposed by `order`."""

    def __init__(self, shape, order=None, parts=None):
        self.shape, self.parts = tuple(shape), tuple(parts or shape)
        self.order = tuple(order or range(len(self.parts)))

    def enter(self, array):
        return array.reshape(self.parts).transpose(self.order)

    def leave(self, array):
        return array.transpose(np.argsort(self.order)).reshape(self.shape)

    def inside(self):
        """The shape of what TensorFlow keeps."""
        return [self.parts[axis] for axis in self.order]

    def turn(self, x, other):
        """What is kept like this, as `other` of the same shape keeps it."""
        if (self.parts, self.order) == (other.parts, other.order):
            return x
        return tf.transpose(tf.reshape(tf.transpose(x, np.argsort(self.order)), other.parts), other.order)


class Network:
    """The plan's graph. variables: name -> tf.Variable, in TensorFlow's layout; layouts: name -> Layout; trained: the
    names of role `weight`.

    explicit, dilated: whether convolutions take a list of paddings, and dilations, gradients included.
    """

    def __init__(self, plan, explicit, dilated):
        self.plan, self.explicit, self.dilated = plan, explicit, dilated
        self.dtype = DTYPES[plan.precision]
        self.compute = tf.bfloat16 if plan.precision == "bf16" else self.dtype
        self.layouts, self.variables, self.narrow = {}, {}, {}
        for node in plan.graph["nodes"]:
            for role, name in node.get("params", {}).items():
                self.layouts.setdefault(name, self.find_layout(node["op"], node.get("attrs", {}), role, name))
        for entry in plan.params:
            name = entry["name"]
            self.variables[name] = self.make_variable(name, entry["role"] == "weight")
        self.trained = [entry["name"] for entry in plan.params if entry["role"] == "weight"]
        self.carried = self.make_carried() if plan.carries_state else {}
        self.positions = plan.prompt and plan.prompt + plan.tokens
        self.caches = {}  # of a prompt: node -> the variables of the keys and values of its rows

    def make_carried(self):
        """Of each LSTM and GRU the variables of the state that its rows go on from."""
        carried = {}
        for node in self.plan.graph["nodes"]:
            if node["op"] in ("LSTM", "GRU"):
                shape = [self.plan.batch_size, self.plan.weights[node["params"]["recurrent"]].shape[1]]
                dtypes = (self.compute, self.dtype) if node["op"] == "LSTM" else (self.compute,)
                carried[node["name"]] = tuple(tf.Variable(tf.zeros(shape, dtype), trainable=False) for dtype in dtypes)
        return carried

    def make_variable(self, name, trainable=False):
        return tf.Variable(tf.zeros(self.layouts[name].inside(), self.dtype), trainable=trainable)

    def find_layout(self, op, attrs, role, name):
        """The layout in which a node reads a parameter; of those that several nodes read the first is kept."""
        shape = self.plan.weights[name].shape
        if role == "recurrent" or role == "weight" and op in ("Gemm", "LSTM", "GRU"):
            return Layout(shape, (1, 0))
        if role == "weight" and op == "Conv":
            if self.is_depthwise(attrs, shape):
                return Layout(shape, (2, 3, 0, 1), (attrs["group"], shape[0] // attrs["group"]) + shape[2:])
            return Layout(shape, (2, 3, 1, 0))
        if role == "weight" and op == "ConvTranspose":
            return Layout(shape, (2, 3, 1, 0))
        return Layout(shape)

    @staticmethod
    def is_depthwise(attrs, shape):
        """Whether TensorFlow's depthwise convolution is this one."""
        return (attrs["group"] > 1 and shape[1] == 1 and attrs["strides"][0] == attrs["strides"][1]
                and attrs["dilations"] == [1, 1] and "connections" not in attrs)

    def count_parameters(self):
        sizes = [int(np.prod(self.variables[name].shape.as_list())) for name in self.trained]
        return sum(sizes) - self.plan.untrained()

    def run(self, x, train, step, at=0):
        """The logits in the dtype of the parameters, and what a training step sets: (variable, value) of running
        statistics, and of states that are carried. x:
        the input as in the graph, of several a tuple; step: the number of the training step, from which dropout draws; at: with
        a prompt, the first of the positions that are passed."""
        others = {"normalize": self.normalize, "Conv": self.conv, "ConvTranspose": self.conv_transpose, "Gemm": self.gemm,
                  "Embedding": self.embedding}
        values, statistics, place = {}, [], Place(self.positions, at)
        for entry, array in zip(self.plan.graph["inputs"], x if isinstance(x, tuple) else (x,)):
            values[entry["name"]] = to_nhwc(tf.cast(array, self.dtype) if entry["dtype"] == "F32" else array)
        for node in self.plan.graph["nodes"]:
            op, attrs, names = node["op"], node.get("attrs", {}), node.get("params", {})
            inputs = [values[name] for name in node["in"]]
            if op in OPERATORS:
                results = [OPERATORS[op](inputs[0], attrs)]
            elif op in PLACES:
                results = [PLACES[op](inputs[0], attrs, place)]
            elif op == "Attention" and self.positions:
                results = [self.cached_attention(inputs, node, place)]
            elif op in JOINTS:
                if "weight" in names:
                    inputs.append(self.operand(inputs[0], op, names, place))
                if len({value.dtype for value in inputs if value.dtype != tf.int32}) > 1:
                    inputs = [value if value.dtype == tf.int32 else tf.cast(value, self.compute) for value in inputs]
                results = [JOINTS[op](inputs, attrs)]
            elif op == "Split":
                results = tf.split(inputs[0], attrs["split"], find_axis(inputs[0], attrs["axis"]))
            elif op == "BatchNormalization":
                results = [self.batch_norm(inputs[0], attrs, names, train, statistics)]
            elif op == "LayerNormalization":
                results = [self.layer_norm(inputs[0], attrs, names)]
            elif op == "RMSNormalization":
                results = [self.rms_norm(inputs[0], attrs, names)]
            elif op == "Dropout":
                results = [self.dropout(inputs[0], node, train, step)]
            elif op in ("LSTM", "GRU"):
                results = [self.recurrent(inputs[0], node, names, statistics)]
            else:
                results = [others[op](inputs[0], attrs, names)]
            values.update(zip(node["out"], results))
        return tf.cast(to_nchw(values[self.plan.graph["output"]]), self.dtype), statistics

    def param(self, name):
        """A weight or bias as products see it."""
        return self.narrow[name] if name in self.narrow else tf.cast(self.variables[name], self.compute)

    def weight(self, op, attrs, names):
        """A weight as a node's product sees it."""
        name = names["weight"]
        return self.layouts[name].turn(self.param(name), self.find_layout(op, attrs, "weight", name))

    def normalize(self, x, attrs, _names):
        shape = [-1] + [1] * (rank(x) - 2) if rank(x) not in (2, 4) else [-1]  # the last axis is that of the channels
        of_channels = [tf.reshape(tf.constant(attrs[key], self.dtype), shape) for key in ("mean", "std")]
        return tf.cast((tf.cast(x, self.dtype) * attrs["scale"] - of_channels[0]) / of_channels[1], self.compute)

    def add_bias(self, x, names):
        return tf.nn.bias_add(x, self.param(names["bias"])) if "bias" in names else x

    def gemm(self, x, attrs, names):
        """Of every line along the last axis. A table that an embedding reads too lies the other way round."""
        x = to_nchw(tf.cast(x, self.compute))
        extents, name = x.shape.as_list(), names["weight"]
        is_table = self.layouts[name].order == (0, 1)
        weight = self.param(name) if is_table else self.weight("Gemm", attrs, names)
        result = self.add_bias(tf.matmul(tf.reshape(x, [-1, extents[-1]]), weight, transpose_b=is_table), names)
        return to_nhwc(tf.reshape(result, extents[:-1] + [result.shape.as_list()[1]]))

    def embedding(self, x, _attrs, names):
        name = names["weight"]
        table = self.layouts[name].turn(self.variables[name], Layout(self.layouts[name].shape))
        return to_nhwc(tf.cast(tf.gather(table, to_nchw(x)), self.compute))

    def cached_attention(self, inputs, node, place):
        """Of a prompt, and of single positions behind it, which see the keys and values that are kept."""
        rows, count, _ = inputs[0].shape.as_list()
        with tf.init_scope():  # where this is traced: of all traces the same variables
            if node["name"] not in self.caches:
                self.caches[node["name"]] = [tf.Variable(tf.zeros([rows, self.positions, x.shape.as_list()[2]], x.dtype))
                                             for x in inputs[1:]]
        end, caches = place.at + count, self.caches[node["name"]]
        for cache, x in zip(caches, inputs[1:]):
            tf.raw_ops.ResourceStridedSliceAssign(
                ref=cache.handle, begin=tf.stack([0, place.at, 0]), end=tf.stack([0, end, 0]), strides=[1, 1, 1], value=x,
                begin_mask=0b101, end_mask=0b101)
        if count > 1:
            return JOINTS["Attention"](inputs, node["attrs"])
        return JOINTS["Attention"]([inputs[0], *(cache[:, :end] for cache in caches)], dict(node["attrs"], is_causal=0))

    def recurrent(self, x, node, names, statistics):
        zeros = tf.zeros([x.shape.as_list()[0], self.plan.weights[names["recurrent"]].shape[1]], self.compute)
        state = (zeros, tf.cast(zeros, self.dtype)) if node["op"] == "LSTM" else (zeros,)
        carried = self.carried.get(node["name"])
        if carried:
            state = tuple(map(tf.identity, carried))
        advance = self.lstm_step(names) if node["op"] == "LSTM" else self.gru_step(names)
        result, left = self.scan(self.gemm(x, {}, names), state, advance)
        statistics += zip(carried or (), left)
        return result

    def lstm_step(self, names):
        weight = self.param(names["recurrent"])

        def advance(gates, state):
            h, c = state
            i, f, g, o = tf.split(tf.cast(gates + tf.matmul(h, weight), self.dtype), 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            return tf.cast(tf.sigmoid(o) * tf.tanh(c), self.compute), c

        return advance

    def gru_step(self, names):
        weight, bias = self.param(names["recurrent"]), self.variables[names["recurrent_bias"]]
        size = weight.shape.as_list()[0]

        def advance(gates, state):
            h, = state
            given, made = tf.cast(gates, self.dtype), tf.cast(tf.matmul(h, weight), self.dtype)
            r, z = tf.split(tf.sigmoid(given[:, :2 * size] + made[:, :2 * size]), 2, 1)
            n = tf.tanh(given[:, 2 * size:] + r * (made[:, 2 * size:] + bias))
            return (tf.cast((1 - z) * n + z * tf.cast(h, self.dtype), self.compute),)

        return advance

    @staticmethod
    def scan(gates, state, advance):
        """The first of each state, position after position, and the last state. gates: (rows, positions, ...)."""
        steps = gates.shape.as_list()[1]
        given = tf.TensorArray(gates.dtype, steps).unstack(tf.transpose(gates, [1, 0, 2]))
        made = tf.TensorArray(state[0].dtype, steps, element_shape=state[0].shape)

        def body(t, state, made):
            state = advance(given.read(t), state)
            return t + 1, state, made.write(t, state[0])

        _, state, made = tf.while_loop(lambda t, *_: t < steps, body, (tf.constant(0), state, made), maximum_iterations=steps)
        return tf.transpose(made.stack(), [1, 0, 2]), state

    def conv(self, x, attrs, names):
        weight, shape, sides = self.weight("Conv", attrs, names), self.layouts[names["weight"]].shape, find_sides(x, attrs)
        mask = common_graph.connection_mask(attrs, shape)
        if mask is not None:
            weight = weight * tf.constant(mask.transpose(2, 3, 1, 0), self.compute)
        for axis, dilation in enumerate([] if self.dilated else attrs["dilations"]):
            weight = spread(weight, axis, dilation)
        x, padding = tf.cast(x, self.compute), name_padding(x, sides)
        depthwise = self.is_depthwise(attrs, shape)
        # Where TensorFlow joins a depthwise convolution and its bias, it loses the list of paddings, and ends by SIGABRT.
        if not padding and self.explicit and not (depthwise and "bias" in names):
            padding = list_paddings(sides)
        elif not padding:
            x, padding = pad(x, sides, 0.0), "VALID"
        strides, dilations = ([1] + attrs[key] + [1] for key in ("strides", "dilations"))
        if depthwise:
            return self.add_bias(tf.nn.depthwise_conv2d(x, weight, strides, padding), names)
        parts = [(x, weight)]
        if attrs["group"] > 1:  # on a CPU grouped convolutions have no gradient
            parts = zip(tf.split(x, attrs["group"], 3), tf.split(weight, attrs["group"], 3))
        results = [tf.nn.conv2d(part, kernel, strides=strides, padding=padding,
                                dilations=dilations if self.dilated else [1, 1, 1, 1]) for part, kernel in parts]
        return self.add_bias(tf.concat(results, 3) if len(results) > 1 else results[0], names)

    def conv_transpose(self, x, attrs, names):
        """Without padding, the edges taken away behind it."""
        weight, group, (rows, *size, _) = self.weight("ConvTranspose", attrs, names), attrs["group"], x.shape.as_list()
        (top, left, bottom, right), strides = attrs["pads"], attrs["strides"]
        for axis, dilation in enumerate(attrs["dilations"]):
            weight = spread(weight, axis, dilation)
        kernel, filters = weight.shape.as_list()[:2], weight.shape.as_list()[2]
        height, width = [(extent - 1) * stride + taps + extra for extent, stride, taps, extra in
                         zip(size, strides, kernel, attrs["output_padding"])]
        parts = zip(tf.split(tf.cast(x, self.compute), group, 3), tf.split(weight, group, 3))
        results = [tf.nn.conv2d_transpose(part, own, [rows, height, width, filters], [1] + strides + [1], "VALID")
                   for part, own in parts]
        result = tf.concat(results, 3) if group > 1 else results[0]
        return self.add_bias(result[:, top:height - bottom, left:width - right], names)

    def batch_norm(self, x, attrs, names, train, statistics):
        scale, offset, *running = [self.variables[names[role]]
                                   for role in ("weight", "bias", "running_mean", "running_var")]
        images = x if rank(x) == 4 else x[:, None, None, :]
        normalize = batch_norm_double if self.dtype == tf.float64 else batch_norm_fused
        result, *batch = normalize(images, scale, offset, running, attrs["epsilon"], train)
        for role, old, new in zip(("running_mean", "running_var"), running, batch if train else []):
            statistics.append((old, (1 - attrs["momentum"]) * old + attrs["momentum"] * new))
        return result if rank(x) == 4 else result[:, 0, 0, :]

    def layer_norm(self, x, attrs, names):
        """Not by tf.nn.moments(): where a batch has one row TensorFlow's graph optimizer takes what is made of that for oneDNN's
        layer normalization, which gives other values and knows no double (docs/frameworks/tensorflow.md)."""
        wide = tf.cast(to_nchw(x), self.dtype)
        average = tf.reduce_mean(wide, rank(x) - 1, keepdims=True)
        variance = tf.reduce_mean(tf.square(wide - average), rank(x) - 1, keepdims=True)
        wide = (wide - average) * tf.math.rsqrt(variance + attrs["epsilon"]) * self.variables[names["weight"]]
        return to_nhwc(tf.cast(wide + self.variables[names["bias"]] if "bias" in names else wide, x.dtype))

    def rms_norm(self, x, attrs, names):
        wide = tf.cast(to_nchw(x), self.dtype)
        square = tf.reduce_mean(wide * wide, rank(x) - 1, keepdims=True)
        wide = wide * tf.math.rsqrt(square + attrs["epsilon"]) * self.variables[names["weight"]]
        return to_nhwc(tf.cast(wide, x.dtype))

    def operand(self, x, op, names, place):
        """A parameter as the second value: as many axes, in the same order."""
        weight = self.weight(op, {}, names)
        if rank(weight) == 2 and weight.shape.as_list()[0] == self.positions:
            weight = place.here(weight, x.shape.as_list()[1])
        return to_nhwc(tf.reshape(weight, [1] * (rank(x) - rank(weight)) + weight.shape.as_list()))

    def dropout(self, x, node, train, step):
        ratio = node["attrs"]["ratio"]
        if not train or ratio == 0:
            return x
        seed = (zlib.crc32(node["name"].encode()) ^ self.plan.seed) & 0x7FFFFFFF
        draws = tf.random.stateless_uniform(x.shape.as_list(), tf.stack([seed, step]))
        return x * tf.cast(draws >= ratio, x.dtype) / (1 - ratio)

    def loss(self, logits, y):
        if self.plan.target == "vector":
            return tf.reduce_mean((logits - tf.cast(y, logits.dtype)) ** 2)
        classes, smoothing, mean = logits.shape.as_list()[-1], self.plan.label_smoothing, tf.reduce_mean
        if self.plan.hides_targets:
            seen, y = tf.cast(y >= 0, self.dtype), tf.maximum(y, 0)

            def mean(losses):
                return tf.reduce_sum(losses * seen) / tf.reduce_sum(seen)
        one = tf.one_hot(y, classes, dtype=self.dtype)
        if self.plan.loss == "nll":
            return -mean(tf.reduce_sum(one * logits, -1))
        if self.plan.loss == "mean_squared_error":
            return mean(tf.reduce_mean((logits - one) ** 2, -1))
        if smoothing:
            one = one * (1 - smoothing) + smoothing / classes
            return mean(tf.nn.softmax_cross_entropy_with_logits(labels=one, logits=logits))
        return mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


class Optimizer:
    """One of the plan's, in TensorFlow's own fused updates where these are the plan's formula."""

    STATE = {"sgd": lambda s: s["momentum"] > 0, "adam": lambda s: 2, "adamw": lambda s: 2,
             "rmsprop": lambda s: 1 + (s["momentum"] > 0)}

    def __init__(self, network):
        self.network, self.settings = network, network.plan.optimizer
        self.factors = {entry["name"]: [network.plan.multiplier(entry, key) for key in ("lr_mult", "decay_mult")]
                        for entry in network.plan.params}
        count = int(self.STATE[self.settings["name"]](self.settings))
        self.state = {name: [network.make_variable(name) for _ in range(count)] for name in network.trained}

    def kinds(self):
        """What docs/protocol.md calls the variables that `state` has of each parameter, in turn."""
        kinds = {"sgd": ["velocity"], "rmsprop": ["exp_avg_sq", "velocity"]}
        return kinds.get(self.settings["name"], ["exp_avg", "exp_avg_sq"])[:len(self.state[self.network.trained[0]])]

    def find_rates(self, lr, step):
        """What a step (counted from 1) is told: the learning rate; then, of Adam, rate and epsilon with the corrections
        of its means, which TensorFlow would compute in float32."""
        s = self.settings
        if s["name"] not in ("adam", "adamw"):
            return [lr]
        root = math.sqrt(1 - s["beta2"] ** step)
        return [lr, lr * root / (1 - s["beta1"] ** step), s["epsilon"] * root]

    def count_rates(self):
        return len(self.find_rates(0.0, 1))

    def apply(self, gradients, statistics, rates):
        """Changes variables and statistics; gives the operations that do, where this is a graph. They wait for all
        gradients, so that no weight is overwritten, or copied, while it is still needed."""
        if self.settings["clip_norm"] is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, self.settings["clip_norm"])
        rates, updates = tf.unstack(rates), []
        with tf.control_dependencies(gradients):
            for name, gradient in zip(self.network.trained, gradients):
                updates += self.update(name, gradient, rates)
            updates += [variable.assign(value, read_value=False) for variable, value in statistics]
        return updates

    def update(self, name, g, rates):
        s, w, state = self.settings, self.network.variables[name], self.state[name]
        lr_mult, decay_mult = self.factors[name]
        rates = [rate * lr_mult for rate in rates[:2]] + rates[2:]
        decay = s["weight_decay"] * decay_mult
        if s["name"] == "adamw":
            return self.adamw(w, state, g, rates, decay)
        if decay:
            g = g + decay * w
        if s["name"] == "adam":
            return [self.adam(w, state, g, rates)]
        if s["name"] == "rmsprop":
            return self.rmsprop(w, state, g, rates[0])
        if not state:
            return [tf.raw_ops.ResourceApplyGradientDescent(var=w.handle, alpha=rates[0], delta=g)]
        return [tf.raw_ops.ResourceApplyMomentum(var=w.handle, accum=state[0].handle, lr=rates[0], grad=g,
                                                 momentum=self.number(s["momentum"]), use_nesterov=s["nesterov"])]

    def number(self, value):
        return tf.constant(value, self.network.dtype)

    def adam(self, w, state, g, rates):
        """TensorFlow adds epsilon before it corrects the second mean, so epsilon is corrected with it."""
        s = self.settings
        return tf.raw_ops.ResourceApplyAdam(
            var=w.handle, m=state[0].handle, v=state[1].handle, beta1_power=self.number(0), beta2_power=self.number(0),
            lr=rates[1], beta1=self.number(s["beta1"]), beta2=self.number(s["beta2"]), epsilon=rates[2], grad=g)

    def adamw(self, w, state, g, rates, decay):
        decayed = [w.assign_sub(rates[0] * decay * w, read_value=False)] if decay else []
        with tf.control_dependencies(decayed):
            return [self.adam(w, state, g, rates)]

    def rmsprop(self, w, state, g, rate):
        """TensorFlow's own has the rate inside the momentum and epsilon inside the root."""
        s = self.settings
        square = s["alpha"] * state[0] + (1 - s["alpha"]) * g * g
        way, updates = g / (tf.sqrt(square) + s["epsilon"]), [state[0].assign(square, read_value=False)]
        if s["momentum"]:
            way = s["momentum"] * state[1] + way
            updates.append(state[1].assign(way, read_value=False))
        return updates + [w.assign_sub(rate * way, read_value=False)]


class TensorFlowAdapter(common.Adapter):
    """What the adapters of TensorFlow 1 and 2 have in common."""

    name = "tensorflow"
    framework = "TensorFlow"
    version = tf.__version__
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "ConvTranspose", "Gemm", "BatchNormalization", "LayerNormalization",
           "RMSNormalization", "Dropout", "Split", *OPERATORS, *PLACES, *JOINTS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = tuple(Optimizer.STATE)
    extras = ("clip_norm", "label_smoothing", "connections", "shared", "broadcast", "operands")

    def leave(self, pairs):
        """{name: array} in the graph's layout, of pairs (name, array) in TensorFlow's."""
        return {name: self.network.layouts[name].leave(value) for name, value in pairs}

    def initial_values(self):
        """(variable, array) of every parameter and of the optimizer's state."""
        network, dtype = self.network, self.network.dtype.as_numpy_dtype
        values = [(variable, network.layouts[name].enter(self.plan.weights[name]).astype(dtype))
                  for name, variable in network.variables.items()]
        if self.plan.mode == "train":
            values += [(variable, np.zeros(variable.shape.as_list(), dtype))
                       for state in self.optimizer.state.values() for variable in state]
        return values

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or isinstance(error, tf.errors.ResourceExhaustedError)
