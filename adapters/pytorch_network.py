"""Modules that a plan's network needs and torch.nn lacks, exactly as docs/graph.md means them."""

import common
import common_graph
import common_places

with common.importing("PyTorch"):
    import torch
    import torch.nn.functional as F
    from torch import nn


class Normalize(nn.Module):
    """y = (x * scale - mean[c]) / std[c], computed in `dtype`; x has `rank` dimensions, the second of which is c."""

    def __init__(self, scale, mean, std, rank, dtype):
        super().__init__()
        self.scale = scale
        self.dtype = dtype
        shape = [-1] + [1] * (rank - 2)
        self.register_buffer("mean", torch.tensor(mean, dtype=dtype).view(shape), persistent=False)
        self.register_buffer("std", torch.tensor(std, dtype=dtype).view(shape), persistent=False)

    def forward(self, x):
        return (x.to(self.dtype) * self.scale).sub_(self.mean).div_(self.std)


class ConnectedConv2d(nn.Conv2d):
    """A convolution whose output channels see some of the input channels only: `mask` is 1 where they do."""

    def connect(self, attrs):
        mask = torch.from_numpy(common_graph.connection_mask(attrs, self.weight.shape)).to(self.weight)
        self.register_buffer("mask", mask, persistent=False)
        self.absent = int((mask == 0).sum()) * self.weight[0, 0].numel()
        return self

    def forward(self, x):
        return self._conv_forward(x, self.weight * self.mask, self.bias)


class BatchNorm(nn.BatchNorm2d):
    """Of images and of features alike: nn.BatchNorm1d differs in nothing but this check."""

    def _check_input_dim(self, x):
        pass


class JoinedBatchNorm(BatchNorm):
    """By the rows of all processes, which have as many each: what nn.SyncBatchNorm does, which refuses the CPU."""

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        axes = [axis for axis in range(x.dim()) if axis != 1]
        shape = [-1] + [1] * (x.dim() - 2)
        centred = x.to(self.weight.dtype)
        mean = joined_mean(centred.mean(axes))
        centred = centred - mean.view(shape)
        variance = joined_mean((centred * centred).mean(axes))
        with torch.no_grad():
            count = x.numel() // x.shape[1] * torch.distributed.get_world_size()
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)
        scale = self.weight * torch.rsqrt(variance + self.eps)
        return (centred * scale.view(shape) + self.bias.view(shape)).to(x.dtype)


class JoinedSum(torch.autograd.Function):
    """Over all processes. What each makes of the sum depends on the values of all: so gradients are summed as well."""

    @staticmethod
    def forward(ctx, values):
        total = values.clone()
        torch.distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx, gradient):
        return JoinedSum.forward(ctx, gradient)


def joined_mean(values):
    return JoinedSum.apply(values) / torch.distributed.get_world_size()


class ForwardLocalResponseNorm(nn.LocalResponseNorm):
    """Of even size: PyTorch's window reaches one channel further back than forward, the graph's further forward."""

    def forward(self, x):
        return super().forward(x.flip(1)).flip(1)


class HardSigmoid(nn.Module):
    """nn.Hardsigmoid has 1/6 and 0.5, the 1/6 of its gradient in single precision."""

    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, x):
        if (self.alpha, self.beta) == (1 / 6, 0.5) and x.dtype != torch.float64:
            return F.hardsigmoid(x)
        return F.hardtanh(x * self.alpha + self.beta, 0.0, 1.0)


class Selu(nn.Module):
    """The kernel of nn.SELU, whose numbers are fixed, with those of the graph."""

    def __init__(self, alpha, gamma):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, x):
        return torch.ops.aten.elu(x, self.alpha, self.gamma)


class Operand(nn.Module):
    """A value and a parameter, combined."""

    def __init__(self, combine, shape, dtype):
        super().__init__()
        self.combine = combine
        self.weight = nn.Parameter(torch.empty(*shape, dtype=dtype))

    def forward(self, x):
        return self.combine(x, self.weight)


class Attention(nn.Module):
    """F.scaled_dot_product_attention of values whose last axis holds all heads."""

    def __init__(self, attrs):
        super().__init__()
        self.heads, self.kv_heads, self.scale = attrs["q_num_heads"], attrs["kv_num_heads"], attrs["scale"] or None
        self.causal = bool(attrs["is_causal"])

    def forward(self, q, k, v, tokens=None):
        q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2)
                   for x, heads in zip((q, k, v), (self.heads, self.kv_heads, self.kv_heads)))
        if self.heads != self.kv_heads:
            k, v = (x.repeat_interleave(self.heads // self.kv_heads, 1) for x in (k, v))
        seen = {"is_causal": self.causal} if tokens is None else {"attn_mask": self.seen(tokens)}
        result = F.scaled_dot_product_attention(q, k, v, scale=self.scale, **seen)
        return result.transpose(1, 2).flatten(2)

    def seen(self, tokens):
        """What each query sees of the keys, whose token is not the padding."""
        counts = (tokens != common_graph.PADDING)[:, None, None, :]
        return counts & torch.ones(2 * tokens.shape[1:], dtype=torch.bool).tril() if self.causal else counts


class CachedAttention(Attention):
    """Of a prompt, and of single positions behind it, which see the keys and values that are kept."""

    def __init__(self, attrs, place, positions):
        super().__init__(attrs)
        self.place, self.positions = place, positions

    def forward(self, q, k, v):
        at, end = self.place.at, self.place.at + q.shape[1]
        if at == 0:
            self.keys, self.values = (x.new_empty(x.shape[0], self.positions, x.shape[2]) for x in (k, v))
        self.keys[:, at:end], self.values[:, at:end] = k, v
        self.causal = at == 0  # a single position sees all that is there
        return super().forward(q, self.keys[:, :end], self.values[:, :end])


class PlacedOperand(Operand):
    """A value and those rows of a parameter that are of its positions."""

    def __init__(self, combine, shape, dtype, place):
        super().__init__(combine, shape, dtype)
        self.place = place

    def forward(self, x):
        return self.combine(x, self.weight[self.place.at:self.place.at + x.shape[1]])


class Recurrent(nn.Module):
    """What nn.LSTM and nn.GRU call, with one bias: of the second, which they would train too, an LSTM has none, and a GRU
    that of its last gate alone. start: the state that rows go on from, None where that is zero; end: that they were left in."""

    def __init__(self, op, shapes, dtype):
        super().__init__()
        self.op, self.hidden = op, shapes["recurrent"][1]
        self.start = self.end = None
        for role, shape in shapes.items():
            setattr(self, role, nn.Parameter(torch.empty(*shape, dtype=dtype)))
        self.register_buffer("nothing", torch.zeros(self.recurrent.shape[0] if op == "LSTM" else 2 * self.hidden,
                                                    dtype=dtype), persistent=False)

    def forward(self, x):
        second = self.nothing if self.op == "LSTM" else torch.cat((self.nothing, self.recurrent_bias))
        weights = [self.weight, self.recurrent, self.bias, second]
        start = self.start or [x.new_zeros(1, x.shape[0], self.hidden)] * (2 if self.op == "LSTM" else 1)
        if self.op == "LSTM":
            y, *end = torch.lstm(x, start, weights, True, 1, 0.0, self.training, False, True)
        else:
            y, *end = torch.gru(x, *start, weights, True, 1, 0.0, self.training, False, True)
        if self.start is not None:
            self.end = end
        return y


class Places(nn.Module):
    """Of what tells values their places: tables by the number of positions and the width, made when they are first wanted.
    A pass is of the positions from place.at on; positions: of a whole row, where it is of some of them."""

    def __init__(self, attrs, dtype, place, positions):
        super().__init__()
        self.attrs, self.dtype, self.place, self.positions, self.extents = attrs, dtype, place, positions, None

    def tables_for(self, make, positions, width):
        extents = self.positions or positions, width
        if self.extents != extents:
            made = make(self.attrs, *extents)
            made = made if isinstance(made, tuple) else (made,)
            self.tables, self.extents = tuple(torch.from_numpy(table).to(self.dtype) for table in made), extents
        return tuple(table[self.place.at:self.place.at + positions] for table in self.tables)


class Rotary(Places):
    """Pairs of each head, turned."""

    def forward(self, x):
        dtype, x = x.dtype, x.unflatten(2, (self.attrs["num_heads"], -1))
        cosines, sines = self.tables_for(common_places.rotations, x.shape[1], x.shape[3])
        a, b = (x[..., ::2], x[..., 1::2]) if self.attrs["interleaved"] else x.chunk(2, -1)
        turned = a * cosines - b * sines, b * cosines + a * sines
        y = torch.stack(turned, -1) if self.attrs["interleaved"] else torch.cat(turned, -1)
        return y.flatten(2).to(dtype)


class Sinusoid(Places):
    def forward(self, x):
        waves, = self.tables_for(common_places.waves, x.shape[1], x.shape[2])
        return x + waves.to(x.dtype)


def last_counted(x, tokens):
    """Of each row the last position whose token is not the padding."""
    places = torch.arange(tokens.shape[1]) * (tokens != common_graph.PADDING)
    return x[torch.arange(x.shape[0]), places.amax(1)]


class Crop(nn.Module):
    """Takes rows and columns away from images."""

    def __init__(self, pads):
        super().__init__()
        self.pads = pads

    def forward(self, x):
        top, left, bottom, right = self.pads
        return x[:, :, top:x.shape[2] - bottom, left:x.shape[3] - right]


def pad_axes(x, mode, sides, value):
    """Of any axes, which F.pad has for constants alone."""
    if mode == "constant":
        return F.pad(x, [size for side in reversed(sides) for size in side], value=value)
    if x.dim() == 4 and sides[1] == (0, 0):
        return F.pad(x, (*sides[3], *sides[2]), {"edge": "replicate"}.get(mode, mode))
    for axis, side in enumerate(sides):
        if side != (0, 0):
            x = x.index_select(axis, torch.from_numpy(common_graph.padded_indices(mode, side, x.shape[axis])))
    return x


class Pad(nn.Module):
    """Pads images by `value` so that the windows of a pool without padding are exactly those of the node. (What ceil_mode
    needs beyond the node's own padding is added, rows that no window sees are cut off.)"""

    def __init__(self, attrs, value):
        super().__init__()
        self.attrs, self.value = attrs, value

    def forward(self, x):
        rows, columns = self.windows(x)
        return F.pad(x, (columns.before, columns.behind, rows.before, rows.behind), value=self.value)

    def windows(self, x):
        return [common_graph.Window(self.attrs, axis, size) for axis, size in enumerate(x.shape[2:])]


class AveragePool(Pad):
    """What nn.AvgPool2d lacks: uneven padding, and dilation. The sum of each window over the number of its pixels that
    count."""

    def __init__(self, attrs):
        super().__init__(attrs, 0.0)

    def forward(self, x):
        rows, columns = map(self.counts, self.windows(x))
        x = super().forward(x)
        for dim, stride, dilation, reach in zip((2, 3), self.attrs["strides"], self.attrs["dilations"], self.reaches()):
            x = x.unfold(dim, reach, stride)[..., ::dilation]
        return x.sum((4, 5)) / (x.new_tensor(rows)[:, None] * x.new_tensor(columns))

    def reaches(self):
        return [dilation * (kernel - 1) + 1
                for kernel, dilation in zip(self.attrs["kernel_shape"], self.attrs["dilations"])]

    def counts(self, window):
        return window.counts()
