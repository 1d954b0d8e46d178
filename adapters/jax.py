"""JAX on the CPU: pure functions, and one compiled program for the whole training step.

Inside, images are NHWC: every value of four dimensions has the graph's axis 1 last. Weights of convolutions are HWIO, dense
ones (in, out), as jax.nn and Flax have them. One of several processes holds a share of the rows of arrays that are those of all
(jax.shard_map), and copies of the weights.
"""

import functools
import math
import operator
import os

import common
import common_graph
import common_places
import numpy as np

with common.importing("JAX"):
    import jax
    import jax.numpy as jnp
    import jaxlib
    from jax import lax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

# Of parameters, and of what convolutions and products compute with.
DTYPES = {"f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.float32}
COMPUTE = {"f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16}


RANKS = "ranks"  # the axis along which the rows of a batch lie on several processes
ALIKE, APART = PartitionSpec(), PartitionSpec(RANKS)  # on each the same array, on each its share


def to_own(x):
    """A value in the graph's order of axes, as it is kept here."""
    return x.transpose(0, 2, 3, 1) if x.ndim == 4 else x


def to_graph(x):
    return x.transpose(0, 3, 1, 2) if x.ndim == 4 else x


def own_axis(axis, x):
    return (0, 3, 1, 2)[axis] if x.ndim == 4 else axis


def own_weight(value):
    """OIHW as HWIO, (out, in) as (in, out)."""
    return value.transpose(2, 3, 1, 0) if value.ndim == 4 else value.T


def graph_weight(value):
    return value.transpose(3, 2, 0, 1) if value.ndim == 4 else value.T


class Pass:
    """One pass through the network while it is traced: what its operators need to know, and what they leave behind.

    tables: the parameters kept as in the graph. dtype: of parameters; compute: of products and the values between them. statistics: the running ones after this batch.
    carried: of each node with a state the one that its rows go on from, none where that is zero; left: the one that they were left in.
    joined: how many ranks normalise by the rows of all of them together; 1: each by its own.
    positions: of a whole row where some of them are passed, from `at` on; then keys and values that attention keeps are its state.
    fused: whether attention is JAX's own.
    """

    def __init__(self, params, tables, dtype, compute, train, key, joined, carried, positions, at, fused):
        self.params, self.tables, self.dtype, self.compute, self.train, self.key = params, tables, dtype, compute, train, key
        self.joined, self.statistics, self.carried, self.left = joined, {}, carried, {}
        self.positions, self.at, self.fused = positions, at, fused

    def here(self, table, count):
        """Of a table that has a row for each position those of the `count` that are passed."""
        return lax.dynamic_slice_in_dim(table, self.at, count) if self.positions else table

    def mean(self, x, axes):
        """Over the rows that batch normalisation is by, as well."""
        return x.mean(axes) if self.joined == 1 else lax.pmean(x.mean(axes), RANKS)

    def param(self, node, role):
        return self.params[node["params"][role]]

    def weight(self, node, role="weight"):
        """As products see it."""
        weight = self.param(node, role)
        return own_weight(weight) if node["params"][role] in self.tables else weight

    def product(self, node, x, multiply):
        """multiply(x, weight) + bias, in the precision of products."""
        y = multiply(x.astype(self.compute), self.weight(node))
        return y + self.param(node, "bias").astype(self.compute) if "bias" in node["params"] else y


def normalize(run, node, x):
    attrs = node["attrs"]
    shape = [-1] + [1] * (x.ndim - 2 if x.ndim != 4 else 0)
    mean, std = (jnp.asarray(attrs[key], run.dtype).reshape(shape) for key in ("mean", "std"))
    return ((x.astype(run.dtype) * attrs["scale"] - mean) / std).astype(run.compute)


def conv(run, node, x):
    attrs = node["attrs"]
    top, left, bottom, right = attrs["pads"]
    mask = common_graph.connection_mask(attrs, run.param(node, "weight").shape[::-1])  # its shape is HWIO

    def multiply(x, weight):
        weight = weight if mask is None else weight * own_weight(mask).astype(weight.dtype)
        if attrs["group"] > 1 and run.compute == jnp.float64:
            return conv_tap_by_tap(attrs, x, weight)
        return lax.conv_general_dilated(
            x, weight.astype(run.compute), attrs["strides"], ((top, bottom), (left, right)),
            rhs_dilation=attrs["dilations"], feature_group_count=attrs["group"],
            dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return run.product(node, x, multiply)


def conv_tap_by_tap(attrs, x, weight):
    """A convolution in groups as a sum over the pixels of its kernel. XLA on a CPU has a slow one in double, hundreds of times
    slower than this and than its own in one group, which a proof of many of them would wait for."""
    groups, (top, left, bottom, right) = attrs["group"], attrs["pads"]
    x = lax.pad(x, x.dtype.type(0), ((0, 0, 0), (top, bottom, 0), (left, right, 0), (0, 0, 0)))
    sides = [common_graph.Window(dict(attrs, pads=[0, 0, 0, 0]), axis, size) for axis, size in enumerate(x.shape[1:3])]
    weight = weight.reshape(*weight.shape[:3], groups, -1)
    total = 0
    for i, row in enumerate(sides[0].taps):
        for j, column in enumerate(sides[1].taps):
            tap = x[:, row::sides[0].stride, column::sides[1].stride][:, :sides[0].windows, :sides[1].windows]
            tap = tap.reshape(*tap.shape[:3], groups, -1)
            one = weight.shape[2] == 1  # a channel in each group
            total += tap * weight[i, j, 0] if one else jnp.einsum("nhwgc,cgo->nhwgo", tap, weight[i, j])
    return total.reshape(*total.shape[:3], -1)


def conv_transpose(run, node, x):
    """As a convolution of the image with zeros between its pixels, the kernel flipped."""
    attrs, group = node["attrs"], node["attrs"]["group"]
    (top, left, bottom, right), extra = attrs["pads"], attrs["output_padding"]
    reach = [(size - 1) * dilation for size, dilation in zip(attrs["kernel_shape"], attrs["dilations"])]

    def multiply(x, weight):
        height, width, filters, channels = weight.shape
        weight = weight[::-1, ::-1].reshape(height, width, filters, group, channels // group)
        weight = weight.transpose(0, 1, 4, 3, 2).reshape(height, width, channels // group, group * filters)
        return lax.conv_general_dilated(
            x, weight.astype(run.compute), (1, 1),
            ((reach[0] - top, reach[0] - bottom + extra[0]), (reach[1] - left, reach[1] - right + extra[1])),
            lhs_dilation=attrs["strides"], rhs_dilation=attrs["dilations"], feature_group_count=group,
            dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return run.product(node, x, multiply)


def pad(_run, node, x):
    attrs = node["attrs"]
    sides = common_graph.sides_of(attrs)
    sides = [sides[axis] for axis in (0, 2, 3, 1)] if x.ndim == 4 else sides
    values = {"constant_values": attrs["value"]} if attrs["mode"] == "constant" else {}
    return jnp.pad(x, sides, attrs["mode"], **values)


def gemm(run, node, x):
    return to_own(run.product(node, to_graph(x), lambda x, weight: x @ weight.astype(run.compute)))


def embedding(run, node, x):
    return to_own(run.param(node, "weight")[to_graph(x)].astype(run.compute))


def attention(run, node, q, k, v, tokens=None):
    """Composed: jax.nn.dot_product_attention has its softmax in single precision, whatever that of its values is."""
    attrs, groups = node["attrs"], node["attrs"]["kv_num_heads"]
    if run.positions:
        k, v = kept(run, node, k, v)
    seen = np.ones((1, 1, 1, 1), bool)
    if attrs["is_causal"]:
        seen = (run.at + np.arange(q.shape[1])[:, None] >= np.arange(k.shape[1]))[None, None]
    if tokens is not None:
        seen = seen & (tokens != common_graph.PADDING)[:, None, None, :]
    k, v = (x.reshape(*x.shape[:2], groups, -1) for x in (k, v))
    if run.fused:
        if k.shape != v.shape:
            raise common.Unsupported("fused = on: keys and values of node %s have parts of %d and %d numbers, which JAX has alike"
                                     % (node["name"], k.shape[3], v.shape[3]), node["op"])
        q = q.reshape(*q.shape[:2], attrs["q_num_heads"], -1)
        return jax.nn.dot_product_attention(q, k, v, mask=seen, scale=attrs["scale"] or None).reshape(*q.shape[:2], -1)
    q = q.reshape(*q.shape[:2], groups, attrs["q_num_heads"] // groups, -1)
    scores = jnp.einsum("ntghd,nsgd->nghts", q, k).astype(run.dtype) * (attrs["scale"] or q.shape[-1] ** -0.5)
    if attrs["is_causal"] or tokens is not None:
        scores = jnp.where(seen[:, :, None], scores, -jnp.inf)
    shares = jax.nn.softmax(scores).astype(run.compute)
    return jnp.einsum("nghts,nsge->ntghe", shares, v).reshape(*q.shape[:2], -1)


def kept(run, node, k, v):
    """Keys and values with those of the positions before, from a cache as long as a row. A prompt has none before it."""
    before = run.carried.get(node["name"])
    if before is None:
        behind = (0, 0), (0, run.positions - k.shape[1]), (0, 0)
        run.left[node["name"]] = jnp.pad(k, behind), jnp.pad(v, behind)
        return k, v
    run.left[node["name"]] = tuple(lax.dynamic_update_slice_in_dim(old, new, run.at, 1) for old, new in zip(before, (k, v)))
    return run.left[node["name"]]


def recurrent(start, advance):
    """Position after position: what the input gives the gates is one product ahead. start(zeros): the state, which begins
    with what is given on; advance(run, node, state, gates, weight): the next one."""

    def run_recurrent(run, node, x):
        gates = run.product(node, x, lambda x, weight: x @ weight.astype(run.compute))
        weight = run.weight(node, "recurrent").astype(run.compute)

        def step(state, gates):
            state = advance(run, node, state, gates, weight)
            return state, state[0]

        zeros = jnp.zeros((x.shape[0], weight.shape[0]), run.compute)
        state = run.carried.get(node["name"]) or start(run, zeros)
        run.left[node["name"]], states = lax.scan(step, state, gates.swapaxes(0, 1))
        return states.swapaxes(0, 1)

    return run_recurrent


# Of each operator with a state the one that begins with zeros.
STATES = {"LSTM": lambda run, zeros: (zeros, zeros.astype(run.dtype)), "GRU": lambda run, zeros: (zeros,)}


def lstm_step(run, _node, state, gates, weight):
    h, c = state
    i, f, g, o = jnp.split((gates + h @ weight).astype(run.dtype), 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(run.compute), c


def gru_step(run, node, state, gates, weight):
    (h,), size = state, weight.shape[0]
    given, made = gates.astype(run.dtype), (h @ weight).astype(run.dtype)
    r, z = jnp.split(jax.nn.sigmoid(given[:, :2 * size] + made[:, :2 * size]), 2, -1)
    n = jnp.tanh(given[:, 2 * size:] + r * (made[:, 2 * size:] + run.param(node, "recurrent_bias")))
    return (((1 - z) * n + z * h).astype(run.compute),)


def batch_norm(run, node, x):
    weight, bias, mean, var = (run.param(node, role) for role in ("weight", "bias", "running_mean", "running_var"))
    wide, attrs = x.astype(run.dtype), node["attrs"]
    if run.train:
        axes, n, share = tuple(range(x.ndim - 1)), x.size // x.shape[-1] * run.joined, attrs["momentum"]
        running, mean = (mean, var), run.mean(wide, axes)
        var = wide.var(axes) if run.joined == 1 else run.mean(jnp.square(wide - mean), axes)
        unbiased = var * (n / (n - 1) if n > 1 else 0)
        for role, old, new in zip(("running_mean", "running_var"), running, (mean, unbiased)):
            run.statistics[node["params"][role]] = (1 - share) * old + share * new
    return ((wide - mean) * (weight / jnp.sqrt(var + attrs["epsilon"])) + bias).astype(x.dtype)


def layer_norm(run, node, x):
    wide = to_graph(x).astype(run.dtype)
    wide = (wide - wide.mean(-1, keepdims=True)) / jnp.sqrt(wide.var(-1, keepdims=True) + node["attrs"]["epsilon"])
    wide = wide * run.param(node, "weight")
    return to_own((wide + run.param(node, "bias") if "bias" in node["params"] else wide).astype(x.dtype))


def rms_norm(run, node, x):
    wide = to_graph(x).astype(run.dtype)
    wide = wide / jnp.sqrt(jnp.square(wide).mean(-1, keepdims=True) + node["attrs"]["epsilon"])
    return to_own((wide * run.param(node, "weight")).astype(x.dtype))


def rotary(run, node, x):
    attrs, heads = node["attrs"], node["attrs"]["num_heads"]
    wide = x.astype(run.dtype).reshape(*x.shape[:2], heads, -1)
    tables = common_places.rotations(attrs, run.positions or x.shape[1], wide.shape[3])
    cosines, sines = (run.here(table.astype(run.dtype), x.shape[1]) for table in tables)
    a, b = (wide[..., ::2], wide[..., 1::2]) if attrs["interleaved"] else jnp.split(wide, 2, -1)
    turned = a * cosines - b * sines, b * cosines + a * sines
    y = jnp.stack(turned, -1) if attrs["interleaved"] else jnp.concatenate(turned, -1)
    return y.reshape(x.shape).astype(x.dtype)


def sinusoid(run, node, x):
    waves = common_places.waves(node["attrs"], run.positions or x.shape[1], x.shape[2])
    return x + run.here(waves.astype(x.dtype), x.shape[1])


def last(_run, _node, x, tokens):
    """Of each row the last position whose token is not the padding."""
    places = (np.arange(tokens.shape[1]) * (tokens != common_graph.PADDING)).max(1)
    return x[np.arange(len(x)), places]


def lrn(run, node, x):
    attrs, size = node["attrs"], node["attrs"]["size"]
    wide = x.astype(run.dtype)
    total = lax.reduce_window(wide * wide, 0.0, lax.add, (1, 1, 1, size), (1, 1, 1, 1),
                              ((0, 0), (0, 0), (0, 0), ((size - 1) // 2, size // 2)))
    return (wide / (attrs["bias"] + attrs["alpha"] / size * total) ** attrs["beta"]).astype(x.dtype)


def reduce_windows(x, attrs, start, operator):
    """One of lax's reductions over each window, as common_graph.Window lays them."""
    sides = [common_graph.Window(attrs, axis, size) for axis, size in enumerate(x.shape[1:3])]
    pads = [(side.before, max(side.behind, 0)) for side in sides]
    return lax.reduce_window(x, start, operator, (1, *attrs["kernel_shape"], 1), (1, *attrs["strides"], 1),
                             ((0, 0), *pads, (0, 0)), window_dilation=(1, *attrs["dilations"], 1)), sides


def max_pool(_run, node, x):
    attrs = node["attrs"]
    if attrs["dilations"] == [1, 1]:
        return reduce_windows(x, attrs, -jnp.inf, lax.max)[0]
    # Dilated windows have no gradient in JAX: the largest so far, tap by tap, which is the first among equals.
    rows, columns = (common_graph.Window(attrs, axis, size) for axis, size in enumerate(x.shape[1:3]))
    padded = lax.pad(x, x.dtype.type(-np.inf), ((0, 0, 0), *((s.before, s.behind, 0) for s in (rows, columns)), (0, 0, 0)))
    best = None
    for i in rows.taps:
        for j in columns.taps:
            tap = padded[:, i::rows.stride, j::columns.stride][:, :rows.windows, :columns.windows]
            best = tap if best is None else jnp.where(tap > best, tap, best)
    return best


def average_pool(run, node, x):
    total, sides = reduce_windows(x.astype(run.dtype), node["attrs"], 0.0, lax.add)
    return (total / np.multiply.outer(*(side.counts() for side in sides))[:, :, None].astype(total.dtype)).astype(x.dtype)


def global_max_pool(_run, _node, x):
    """The gradient of jnp.max would be shared among equals."""
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, *x.shape[1:3], 1), (1, 1, 1, 1), "VALID")


def softmax(function):
    return lambda run, node, x: function(x.astype(run.dtype), axis=own_axis(node["attrs"]["axis"], x))


def clip(_run, node, x):
    """Not jnp.clip, whose gradient at the bounds is a half."""
    return lax.clamp(x.dtype.type(node["attrs"]["min"]), x, x.dtype.type(node["attrs"]["max"]))


def hard_sigmoid(_run, node, x):
    """jax.nn.hard_sigmoid has 1/6 and 0.5."""
    return lax.clamp(x.dtype.type(0), x * node["attrs"]["alpha"] + node["attrs"]["beta"], x.dtype.type(1))


def dropout(run, node, x):
    ratio = node["attrs"]["ratio"]
    if not run.train or ratio == 0:
        return x
    run.key, key = jax.random.split(run.key)
    return jnp.where(jax.random.bernoulli(key, 1 - ratio, x.shape), x / (1 - ratio), 0).astype(x.dtype)


def split(_run, node, x):
    return jnp.split(x, np.cumsum(node["attrs"]["split"])[:-1].tolist(), own_axis(node["attrs"]["axis"], x))


def pair(combine):
    """Of two values, or of a value and a parameter, which lies along the last axes of the graph's."""

    def run_pair(run, node, a, b=None):
        if b is None:
            weight = graph_weight(run.param(node, "weight")).astype(a.dtype)
            if weight.ndim == 2 and len(weight) == run.positions:
                weight = run.here(weight, a.shape[1])
            b = to_own(weight.reshape((1,) * (a.ndim - weight.ndim) + weight.shape))
        return combine(a, b)

    return run_pair


OPS = {
    "Embedding": embedding, "Attention": attention,
    "LSTM": recurrent(STATES["LSTM"], lstm_step), "GRU": recurrent(STATES["GRU"], gru_step),
    "normalize": normalize, "Conv": conv, "ConvTranspose": conv_transpose, "Gemm": gemm, "Pad": pad, "BatchNormalization": batch_norm,
    "LayerNormalization": layer_norm, "RMSNormalization": rms_norm, "LRN": lrn, "RotaryEmbedding": rotary, "sinusoid": sinusoid, "last": last,
    "MaxPool": max_pool, "AveragePool": average_pool, "GlobalMaxPool": global_max_pool, "Clip": clip, "Dropout": dropout,
    "GlobalAveragePool": lambda run, node, x: x.mean((1, 2), keepdims=True),
    "Softmax": softmax(jax.nn.softmax), "LogSoftmax": softmax(jax.nn.log_softmax),
    "Relu": lambda run, node, x: jax.nn.relu(x),
    # jax.nn.leaky_relu has the slope 1 at 0.
    "LeakyRelu": lambda run, node, x: jnp.where(x > 0, x, node["attrs"]["alpha"] * x),
    "Tanh": lambda run, node, x: jnp.tanh(x), "Sigmoid": lambda run, node, x: jax.nn.sigmoid(x),
    "HardSwish": lambda run, node, x: x * jax.nn.relu6(x + 3) / 6,
    "HardSigmoid": hard_sigmoid, "Swish": lambda run, node, x: jax.nn.silu(x),
    "Gelu": lambda run, node, x: jax.nn.gelu(x, approximate=node["attrs"]["approximate"] == "tanh"),
    "Exp": lambda run, node, x: jnp.exp(x), "Elu": lambda run, node, x: jax.nn.elu(x, node["attrs"]["alpha"]),
    "Selu": lambda run, node, x: node["attrs"]["gamma"] * jax.nn.elu(x, node["attrs"]["alpha"]),
    "Celu": lambda run, node, x: jax.nn.celu(x, node["attrs"]["alpha"]), "Softplus": lambda run, node, x: jax.nn.softplus(x),
    "Softsign": lambda run, node, x: jax.nn.soft_sign(x), "Mish": lambda run, node, x: jax.nn.mish(x),
    "Sqrt": lambda run, node, x: jnp.sqrt(x), "Pow": lambda run, node, x: x ** node["attrs"]["exponent"],
    "Add": pair(operator.add), "Sub": pair(operator.sub), "Mul": pair(operator.mul), "Div": pair(operator.truediv),
    "MatMul": lambda run, node, a, b: to_own(to_graph(a) @ to_graph(b)),
    "Concat": lambda run, node, *parts: jnp.concatenate(parts, own_axis(node["attrs"]["axis"], parts[0])), "Split": split,
    "Flatten": lambda run, node, x: to_graph(x).reshape(len(x), -1),
    "Reshape": lambda run, node, x: to_own(to_graph(x).reshape(len(x), *node["attrs"]["shape"][1:])),
    "Transpose": lambda run, node, x: to_own(to_graph(x).transpose(node["attrs"]["perm"])),
    "ReduceMean": lambda run, node, x: to_own(
        to_graph(x).mean(tuple(node["attrs"]["axes"]), keepdims=bool(node["attrs"]["keepdims"]))),
}


# One parameter's update: its new value and slots. s: the plan's optimizer; t: this step, counted from 1.


def sgd(s, w, g, slots, rate, _t):
    if s["momentum"] == 0:
        return w - rate * g, slots
    v = s["momentum"] * slots[0] + g
    return w - rate * (g + s["momentum"] * v if s["nesterov"] else v), (v,)


def adam(s, w, g, slots, rate, t):
    m, v = (beta * slot + (1 - beta) * power
            for beta, slot, power in zip((s["beta1"], s["beta2"]), slots, (g, g * g)))
    # 1 - beta^t without cancellation.
    m_hat, v_hat = (slot / -jnp.expm1(t * (math.log(beta) if beta > 0 else -math.inf))
                    for slot, beta in ((m, s["beta1"]), (v, s["beta2"])))
    return w - rate * m_hat / (jnp.sqrt(v_hat) + s["epsilon"]), (m, v)


def rmsprop(s, w, g, slots, rate, _t):
    v = s["alpha"] * slots[0] + (1 - s["alpha"]) * g * g
    u = s["momentum"] * slots[1] + g / (jnp.sqrt(v) + s["epsilon"])
    return w - rate * u, (v, u)


RULES = {"sgd": (sgd, 1), "adam": (adam, 2), "adamw": (adam, 2), "rmsprop": (rmsprop, 2)}  # with the slots of each


class JAX(common.Adapter):
    name = "jax"
    framework = "JAX"
    version = jax.__version__
    precisions = ("f32", "f64", "bf16")
    modes = ("train", "infer")
    ops = tuple(OPS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = tuple(RULES)
    extras = ("clip_norm", "label_smoothing", "connections", "inputs", "tokens", "targets", "shared", "broadcast",
              "operands", "positions", "hidden", "carried", "prompt")
    options = {"fused": False}
    forms = {"npz": False}
    statistics = ("local", "sync") if hasattr(jax, "shard_map") else ()
    exchanges_by = "ring"
    weighs = True
    mesh = None  # of several processes
    untimed = "a step is one compiled program, and its exchange a part of that"

    def build(self, plan):
        fused = self.option("fused") and any(node["op"] == "Attention" for node in plan.graph["nodes"])
        if fused and plan.precision == "f64":
            raise common.Unsupported("fused = on in double: jax.nn.dot_product_attention has its softmax in single precision")
        os.environ["PJRT_NPROC"] = str(plan.threads)  # what XLA makes its pool of threads by, in the first computation
        jax.config.update("jax_enable_x64", plan.precision == "f64")
        jax.config.update("jax_default_matmul_precision", "highest")
        if plan.world > 1:
            self.meet()
        self.dtype, self.compute = DTYPES[plan.precision], COMPUTE[plan.precision]
        self.entries = [entry for entry in plan.params if entry["role"] == "weight"]
        # What an embedding reads is kept by rows.
        self.tables = {node["params"]["weight"] for node in plan.graph["nodes"] if node["op"] == "Embedding"}
        # Were its state donated, XLA on a CPU would copy weights in each step.
        weight = (APART,) if plan.shares else ()
        self.train_program = jax.jit(self.on_ranks(self.step, (ALIKE, APART, APART, ALIKE, *weight), (ALIKE, ALIKE)))
        self.loss_program, self.gradient_program = (
            {train: jax.jit(self.on_ranks(functools.partial(function, train=train), (ALIKE, APART, APART, *more), out))
             for train in (False, True)}
            for function, more, out in ((self.logits_and_loss, (), (APART, ALIKE)),
                                        (self.gradients, weight, ((ALIKE, (APART, ALIKE)), ALIKE))))
        self.infer_program = jax.jit(self.predict)
        self.input_program = jax.jit(self.predict_and_pull)
        self.prompt_program = jax.jit(lambda params, x: self.predict_piece(params, {}, x, 0))
        self.token_program = jax.jit(self.predict_piece, donate_argnums=1)  # the cache is written in its place
        if plan.form == "npz":
            with np.load(plan.form_path) as stored:
                plan.weights = {name: self.leave(name, value) for name, value in stored.items()}
        self.reset()
        return {
            "parameters": sum(value.size for value in self.state["params"].values()) - plan.untrained(),
            "threads": plan.threads,
            "libraries": ["jaxlib " + jaxlib.__version__, "XLA " + jax.devices()[0].client.platform_version],
            "deviations": ["attention by jax.nn.dot_product_attention"] * fused,
        }

    def meet(self):
        """The processes that train together, each with the one device it has."""
        plan = self.plan
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(plan.rendezvous, plan.world, plan.rank, local_device_ids=[0],
                                   coordinator_bind_address=plan.rendezvous)
        self.mesh = Mesh(np.array(jax.devices()), (RANKS,))

    def close(self):
        if self.mesh is not None:
            jax.distributed.shutdown()  # who goes first would be taken for one that failed

    def on_ranks(self, function, given, made):
        """The same function, of several processes with each one's rows."""
        if self.mesh is None:
            return function
        return jax.shard_map(function, mesh=self.mesh, in_specs=given, out_specs=made, check_vma=False)

    def shared(self, values, how):
        """Arrays of this process as its part of those of all."""
        if self.mesh is None:
            return values
        return jax.tree.map(
            lambda value: jax.make_array_from_process_local_data(NamedSharding(self.mesh, how), np.asarray(value)), values)

    def weight_of_batch(self):
        """Of this process's gradients in the batch at hand, as the last argument of a program; none where each has as many targets."""
        return (self.shared(np.array([self.weight], self.dtype), APART),) if self.plan.shares else ()

    def own(self, value):
        """The rows of this process."""
        return value if self.mesh is None else value.addressable_shards[0].data

    def reset(self):
        def copies(role):
            return {entry["name"]: jnp.array(self.enter(entry["name"], self.plan.weights[entry["name"]]), self.dtype)
                    for entry in self.plan.params if entry["role"] == role}

        self.state = {"params": copies("weight"), "buffers": copies("buffer")}
        if self.plan.mode != "train":
            # Products would convert their weights anew in each request.
            self.served = {name: value.astype(self.compute) if value.ndim > 1 else value
                           for name, value in {**self.state["params"], **self.state["buffers"]}.items()}
            return
        settings = self.plan.optimizer
        slots = 0 if settings["name"] == "sgd" and settings["momentum"] == 0 else RULES[settings["name"]][1]
        self.state["slots"] = {name: tuple(jnp.zeros_like(value) for _ in range(slots))
                               for name, value in self.state["params"].items()}
        self.state["steps"] = jnp.zeros((), jnp.uint32)
        self.state["carried"] = {}
        if self.plan.carries_state:
            self.clear_carried_state()
        self.state = self.shared(self.state, ALIKE)

    def clear_carried_state(self):
        for node in self.plan.graph["nodes"]:
            if node["op"] in STATES:
                hidden = self.plan.weights[node["params"]["recurrent"]].shape[1]
                zeros = jnp.zeros((self.plan.batch_size, hidden), self.compute)
                self.state["carried"][node["name"]] = STATES[node["op"]](self, zeros)

    def carried_state(self):
        carried = self.state["carried"].items()
        return {kind: {name: np.asarray(state[place].astype(self.dtype)) for name, state in carried if place < len(state)}
                for place, kind in enumerate("hc")}

    def enter(self, name, value):
        """A parameter of the graph as it is kept here."""
        return value if name in self.tables else own_weight(value)

    def leave(self, name, value):
        return np.asarray(value) if name in self.tables else graph_weight(np.asarray(value))

    def network(self, params, x, train=False, key=None, carried={}, positions=None, at=0):
        """The logits of rows as they are stored, and what they leave behind: running statistics, and the states that are carried."""
        graph = self.plan.graph
        joined = self.plan.world if self.plan.statistics == "sync" else 1
        run = Pass(params, self.tables, self.dtype, self.compute, train, key, joined, carried, positions, at,
                   self.option("fused"))
        values = {entry["name"]: to_own(array.astype(self.dtype) if entry["dtype"] == "F32" else array)
                  for entry, array in zip(graph["inputs"], x if isinstance(x, tuple) else (x,))}
        for node in graph["nodes"]:
            result = OPS[node["op"]](run, node, *(values[name] for name in node["in"]))
            values.update(zip(node["out"], result if node["op"] == "Split" else [result]))
        left = run.left if positions else {name: run.left[name] for name in carried}
        return to_graph(values[graph["output"]]).astype(self.dtype), {"buffers": run.statistics, "carried": left}

    def loss(self, logits, y):
        if self.plan.target == "vector":
            return jnp.square(logits - y).mean()
        wanted = jax.nn.one_hot(y, logits.shape[-1], dtype=logits.dtype)
        where = (y >= 0) if self.plan.hides_targets else None
        if self.plan.loss == "mean_squared_error":
            return jnp.square(logits - wanted).mean(-1).mean(where=where)
        if self.plan.loss == "softmax_cross_entropy":
            smoothing = self.plan.label_smoothing
            wanted = (1 - smoothing) * wanted + smoothing / logits.shape[-1]
            logits = jax.nn.log_softmax(logits)
        return -(wanted * logits).sum(-1).mean(where=where)

    def objective(self, params, state, x, y, train):
        key = jax.random.fold_in(jax.random.key(self.plan.seed % 2**31), state["steps"]) if train else None
        if train and self.mesh is not None:
            key = jax.random.fold_in(key, lax.axis_index(RANKS))
        logits, left = self.network({**params, **state["buffers"]}, x, train, key, state["carried"])
        return self.loss(logits, y), (logits, left)

    def gradients(self, state, x, y, weight=None, train=True):
        found, gradients = jax.value_and_grad(self.objective, has_aux=True)(state["params"], state, x, y, train)
        if self.mesh is None:
            return found, gradients
        if weight is not None:
            gradients = jax.tree.map(lambda gradient: gradient * weight[0], gradients)
        return found, self.mean(gradients)

    def mean(self, gradients):
        """Of those of all processes."""
        return lax.pmean(gradients, RANKS)

    def logits_and_loss(self, state, x, y, train):
        loss, (logits, _) = self.objective(state["params"], state, x, y, train)
        return logits, loss

    def step(self, state, x, y, lr, weight=None):
        """The state after one step, and its loss."""
        (loss, (_, left)), gradients = self.gradients(state, x, y, weight)
        settings, steps = self.plan.optimizer, state["steps"] + 1
        if settings["clip_norm"] is not None:
            norm = jnp.sqrt(sum(jnp.square(gradient).sum() for gradient in gradients.values()))
            scale = settings["clip_norm"] / jnp.maximum(norm, settings["clip_norm"])
            gradients = {name: gradient * scale for name, gradient in gradients.items()}
        params, slots = {}, {}
        for entry in self.entries:
            name = entry["name"]
            rate, decay = lr * self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
            w, g, decay = state["params"][name], gradients[name], decay * settings["weight_decay"]
            if decay != 0 and settings["name"] == "adamw":
                w = w - rate * decay * w
            elif decay != 0:
                g = g + decay * w
            rule, _ = RULES[settings["name"]]
            params[name], slots[name] = rule(settings, w, g, state["slots"][name], rate, steps.astype(self.dtype))
        buffers = {**state["buffers"], **left["buffers"]}
        return {"params": params, "buffers": buffers, "slots": slots, "steps": steps, "carried": left["carried"]}, loss

    def predict(self, params, x):
        return self.network(params, x)[0]

    def predict_and_pull(self, params, x, cotangent):
        logits, pull = jax.vjp(functools.partial(self.predict, params), x)
        return logits, pull(cotangent)[0]

    def predict_piece(self, params, cache, x, at):
        """Logits of the positions from `at` on, and the cache with their keys and values."""
        logits, left = self.network(params, x, carried=cache, positions=self.plan.prompt + self.plan.tokens, at=at)
        return logits, left["carried"]

    def train_step(self, x, y, lr):
        self.state, loss = self.train_program(self.state, self.shared(x, APART), self.shared(y, APART), lr, *self.weight_of_batch())
        return loss

    def losses(self, handles):
        jax.block_until_ready(self.state)
        return [float(loss) for loss in jax.device_get(handles)]

    def input_gradient(self, x, cotangent):
        params = self.served if self.plan.mode != "train" else {**self.state["params"], **self.state["buffers"]}
        if cotangent is None:
            return self.infer_program(params, x), None
        return self.input_program(params, x, cotangent)

    def save_form(self, _form, path):
        """As NumPy keeps arrays, which is how JAX has them saved."""
        arrays = {name: np.asarray(value) for part in ("params", "buffers") for name, value in self.state[part].items()}
        with open(path, "wb") as file:
            np.savez(file, **arrays)
        return {"parameters_as_said": sum(array.nbytes for array in arrays.values())}

    def infer_step(self, x):
        return np.asarray(self.infer_program(self.served, x))

    def infer_piece(self, x, first):
        if first == 0:
            logits, self.cache = self.prompt_program(self.served, x)
        else:
            logits, self.cache = self.token_program(self.served, self.cache, x, first)
        return np.asarray(logits)

    def forward(self, x, y, train):
        x, y = jax.tree.map(jnp.asarray, x), jnp.asarray(y)
        if self.plan.mode != "train":
            logits = self.infer_pieces(x) if self.plan.prompt else self.infer_program(self.served, x)
            loss = self.loss(logits, y)
        else:
            logits, loss = self.loss_program[train](self.state, self.shared(x, APART), self.shared(y, APART))
            logits = self.own(logits)
        fed = dict(zip(self.plan.inputs, x if isinstance(x, tuple) else (x,)))
        return {**fed, "y": np.asarray(y, np.float32 if self.plan.target == "vector" else np.int64), "logits": logits, "loss": loss}

    def backward(self, x, y, train):
        (loss, _), gradients = self.gradient_program[train](
            self.state, self.shared(x, APART), self.shared(y, APART), *self.weight_of_batch())
        return loss, {name: self.leave(name, gradient) for name, gradient in gradients.items()}

    def weights(self):
        return {name: self.leave(name, value)
                for part in ("params", "buffers") for name, value in self.state[part].items()}

    def optimizer_state(self):
        kinds = {"sgd": ("velocity",), "rmsprop": ("exp_avg_sq", "velocity")}.get(
            self.plan.optimizer["name"], ("exp_avg", "exp_avg_sq"))
        slots = self.state["slots"].items()
        return {kind: {name: self.leave(name, values[place]) for name, values in slots if place < len(values)}
                for place, kind in enumerate(kinds)}

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "RESOURCE_EXHAUSTED" in str(error) or "Out of memory" in str(error)


if __name__ == "__main__":
    common.serve(JAX())
