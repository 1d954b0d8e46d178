"""Adapters made wrong on purpose, to show that the proof finds each mistake. The option `wrong` chooses one of WRONG;
all but the mistake is adapters/pytorch.py.

    mistake                 the first thing that differs              on networks with
    batches_swapped         the batches                               more than one batch
    one_weight              the initial weights                       any
    pad_side                the logits                                padded convolutions (the last one's counts)
    batchnorm_epsilon       the logits, evaluated and trained         batch normalisation
    pool_counts_padding     the logits                                average pools that reach beyond what counts: padding
                                                                      with count_include_pad = 0, or ceil_mode
    pool_omits_padding      the logits                                padded average pools with count_include_pad = 1
    loss_summed             the loss                                  any
    decay_left_out          the weights after 1 step                  any, with weight_decay
    decay_sign              the weights after 1 step                  likewise
    running_var_n           the buffers after 1 step                  batch normalisation
    decay_not_on_biases     the weights after more steps (biases      likewise
                            start at 0), after 1 step where some
                            do not, such as a batch norm's weight
    decay_decoupled         the weights after more steps              likewise, with momentum
    momentum_rate_inside    the weights after a change of the rate    any, with momentum
    conv_bf16               logits and loss, in single precision too  convolutions
    gate_order              the logits                                LSTM
    bias_second_trained     the weights after more steps              LSTM
    reset_before            the logits                                GRU
    state_not_carried       the weights after more steps              LSTM and GRU, with carry_state = on
    state_not_detached      the weights after more steps              likewise
    hidden_counted          the loss                                  hidden targets
    hidden_by_row           the loss                                  likewise, of rows that hide different numbers
    padding_counted         the logits                                attention that hides padding
    last_of_all             the logits                                the last position that is no padding
    layernorm_epsilon       the logits                                layer normalisation
    mask_off_by_one         the logits                                causal attention
    scale_left_out          the logits                                attention
    position_off_by_one     the logits                                a table of positions that is added
    tie_lost                the number of parameters, and the         a weight that several nodes share
                            gradients
    norm_by_parameter       the weights after 1 step                  any, with clip_norm
    clip_epsilon            the weights after 1 step                  likewise
    cache_off_by_one        the logits                                causal attention, answered with a prompt
    cache_first_lost        the logits                                likewise
    token_place_off_by_one  the logits                                a table of positions that is added, likewise

Of several ranks, any network:

    ranks_summed            the gradients: a sum where the mean is due
    ranks_rows              the batch: rank 1 has the rows of rank 0
    ranks_decay             the weights after 1 step: rank 1 leaves the weight decay out
    ranks_stale             the weights after more steps: each step takes the gradients of the one before
    ranks_bucket            the gradients: one bucket of several is left out of the exchange
    ranks_half              the gradients: they are exchanged in half precision, which a run on hosts of their own shows by its
                            bytes too
    ranks_even              the gradients, where rows hide different numbers of targets: each rank counts for as many
    ranks_local             the logits, of those with batch normalisation, where bn = sync was asked: each rank normalises by
                            its own rows
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters"))

import common  # noqa: E402
import pytorch  # noqa: E402
import torch  # noqa: E402
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
import wrong_one  # noqa: E402


class NoDecay(pytorch.PyTorch):
    """The weight decay is left out."""

    def make_optimizer(self):
        optimizer = super().make_optimizer()
        for group in optimizer.param_groups:
            group["weight_decay"] = 0.0
        return optimizer


class DecaySign(pytorch.PyTorch):
    """The weight decay makes weights larger."""

    def make_optimizer(self):
        optimizer = super().make_optimizer()
        for group in optimizer.param_groups:
            group["weight_decay"] = -group["weight_decay"]
        return optimizer


class DecayNotOnBiases(pytorch.PyTorch):
    """The weight decay leaves biases out, as many frameworks do."""

    def make_optimizer(self):
        optimizer = super().make_optimizer()
        for group in list(optimizer.param_groups):
            biases = [param for param in group["params"] if param.dim() == 1]
            group["params"] = [param for param in group["params"] if param.dim() > 1]
            optimizer.add_param_group(dict(group, params=biases, weight_decay=0.0))
        return optimizer


class Decoupled(torch.optim.SGD):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for param in group["params"]:
                param.mul_(1 - group["lr"] * group["decoupled"])
        super().step()


class DecayDecoupled(pytorch.PyTorch):
    """The weight decay acts on the weights directly, beside the momentum, as in AdamW."""

    def make_optimizer(self):
        groups = super().make_optimizer().param_groups
        return Decoupled([dict(group, decoupled=group["weight_decay"], weight_decay=0.0) for group in groups], lr=0.0)


class RateInside(torch.optim.Optimizer):
    """v = momentum * v + lr * g; w = w - v: equal to the right form until the learning rate changes."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for param in group["params"]:
                gradient = param.grad + group["weight_decay"] * param
                state = self.state[param]
                state["v"] = group["momentum"] * state.get("v", 0) + group["lr"] * gradient
                param.sub_(state["v"])


class MomentumRateInside(pytorch.PyTorch):
    def make_optimizer(self):
        return RateInside(super().make_optimizer().param_groups, {})


class LossSummed(pytorch.PyTorch):
    """The loss is summed over the batch."""

    def loss(self, logits, y):
        return F.cross_entropy(logits, y, reduction="sum")


class PadSide(pytorch.PyTorch):
    """The last convolution looks one pixel further left than it should."""

    def build(self, plan):
        nodes = [node for node in plan.graph["nodes"] if node["op"] == "Conv"]
        top, left, bottom, right = nodes[-1]["attrs"]["pads"]
        nodes[-1]["attrs"]["pads"] = [top, left + 1, bottom, right - 1]
        return super().build(plan)


class BatchesSwapped(pytorch.PyTorch):
    """The second and the third batch change places."""

    def build(self, plan):
        batch = plan.batch
        plan.batch = lambda step: batch({1: 2, 2: 1}.get(step, step))
        return super().build(plan)


class OneWeight(pytorch.PyTorch):
    """One initial weight is off by a millionth of its tensor's largest."""

    def reset(self):
        super().reset()
        with torch.no_grad():
            param = max(self.params.values(), key=lambda one: one.numel())
            param.view(-1)[0] += 1e-6 * param.abs().max()


class Bfloat16(nn.Module):
    """Computes a layer in bfloat16 and says nothing about it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        short = torch.bfloat16
        bias = self.layer.bias.to(short) if self.layer.bias is not None else None
        return self.layer._conv_forward(x.to(short), self.layer.weight.to(short), bias).to(x.dtype)


class ConvBfloat16(pytorch.PyTorch):
    def conv(self, attrs, names):
        layer = super().conv(attrs, names)
        if isinstance(layer, nn.Sequential):
            return nn.Sequential(layer[0], Bfloat16(layer[1]))
        return Bfloat16(layer)


class BatchNormEpsilon(pytorch.PyTorch):
    """The epsilon of batch normalisation is a tenth too large: 1.1e-5 in place of 1e-5."""

    def batch_norm(self, attrs, names):
        return super().batch_norm(dict(attrs, epsilon=1.1 * attrs["epsilon"]), names)


class BatchNormN(pytorch.BatchNorm):
    def forward(self, x):
        kept = (1 - self.momentum) * self.running_var
        y = super().forward(x)
        if self.training:
            n = x.numel() // x.shape[1]
            self.running_var.data.sub_(kept).mul_((n - 1) / n).add_(kept)
        return y


class RunningVarN(pytorch.PyTorch):
    """The running variance is fed the batch's variance with n, not with n - 1."""

    def batch_norm(self, attrs, names):
        layer = super().batch_norm(attrs, names)
        layer.__class__ = BatchNormN
        return layer


class WholeWindow(pytorch.AveragePool):
    def counts(self, window):
        return [len(window.taps)] * window.windows


class PoolCountsPadding(pytorch.PyTorch):
    """Average pools divide by the whole window, however little of it lies in the image."""

    def average_pool(self, attrs):
        return WholeWindow(attrs)


class PoolOmitsPadding(pytorch.PyTorch):
    """Average pools divide by the window's pixels alone, also where padding counts."""

    def average_pool(self, attrs):
        return super().average_pool(dict(attrs, count_include_pad=0))


class GatesOutOfOrder(pytorch.Recurrent):
    def forward(self, x):
        given = self.weight, self.recurrent, self.bias
        i, f, g, o = torch.arange(4 * self.hidden).split(self.hidden)
        weights = [one[torch.cat((i, f, o, g))] for one in given]
        start = x.new_zeros(1, x.shape[0], self.hidden)
        return torch.lstm(x, (start, start), weights + [self.nothing], True, 1, 0.0, self.training, False, True)[0]


class OtherLayers(pytorch.PyTorch):
    """The layers of one operator are of another kind."""

    operator = kind = None

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["op"] == self.operator:
            layer.__class__ = self.kind
        return layer


class GateOrder(OtherLayers):
    """The gates stand as TensorFlow 1 and ONNX have them, the third and the fourth exchanged."""

    operator, kind = "LSTM", GatesOutOfOrder


class SecondBias(pytorch.PyTorch):
    """The second bias of nn.LSTM is trained too."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["op"] == "LSTM":
            layer.nothing.requires_grad_()
        return layer

    def make_optimizer(self):
        optimizer = super().make_optimizer()
        second = [layer.nothing for layer in self.model.modules() if isinstance(layer, pytorch.Recurrent)]
        for bias in second:
            bias.detach().zero_()
        optimizer.add_param_group({"params": second, "lr_mult": 1.0, "weight_decay": 0.0})
        return optimizer


class ResetFirst(pytorch.Recurrent):
    def forward(self, x):
        size, given, states = self.hidden, F.linear(x, self.weight, self.bias), []
        h = x.new_zeros(x.shape[0], size)
        for t in range(x.shape[1]):
            r, z = (given[:, t, :2 * size] + F.linear(h, self.recurrent[:2 * size])).sigmoid().chunk(2, 1)
            inner = F.linear(r * h, self.recurrent[2 * size:], self.recurrent_bias)
            h = (1 - z) * (given[:, t, 2 * size:] + inner).tanh() + z * h
            states.append(h)
        return torch.stack(states, 1)


class ResetBefore(OtherLayers):
    """The reset stands before the product, as in the paper of GRU."""

    operator, kind = "GRU", ResetFirst


class StateNotCarried(pytorch.PyTorch):
    """Every batch begins with zeros."""

    def carry_state(self):
        pass


class StateNotDetached(pytorch.PyTorch):
    """The gradient goes back through the state into the batch before."""

    def clear_carried_state(self):
        super().clear_carried_state()
        self.before = None

    def train_step(self, x, y, lr):
        layers = self.recurrents.values()
        starts = [layer.start for layer in layers]
        if self.before is not None:
            for layer, start in zip(layers, self.before[1]):
                layer.start = start
            self.model(*self.tensors(self.before[0]))
            for layer, start in zip(layers, starts):  # of the value that was carried, with the gradient of how it was made
                layer.start = [value + (made - made.detach()) for value, made in zip(start, layer.end)]
        self.before = x, starts
        return super().train_step(x, y, lr)


class HiddenCounted(pytorch.PyTorch):
    """The sum over the targets that are not hidden is divided by the number of all."""

    def loss(self, logits, y):
        return F.cross_entropy(logits.flatten(0, -2), y.flatten(), ignore_index=-1, reduction="sum") / y.numel()


class HiddenByRow(pytorch.PyTorch):
    """The mean over the rows of the means over each one's own."""

    def loss(self, logits, y):
        return torch.stack([F.cross_entropy(*row, ignore_index=-1) for row in zip(logits, y)]).mean()


class AttentionOfAll(pytorch.Attention):
    def forward(self, q, k, v, tokens=None):
        return super().forward(q, k, v)


class PaddingCounted(OtherLayers):
    """Positions see the padding too."""

    operator, kind = "Attention", AttentionOfAll


def last_of_all(x, _tokens):
    return x[:, -1]


class LastOfAll(pytorch.PyTorch):
    """The last position of each row is read, whether its token is the padding or not."""

    def network(self):
        model = super().network()
        for node in model.graph.nodes:
            if node.target is pytorch.last_counted:
                node.target = last_of_all
        model.recompile()
        return model


class RanksSummed(pytorch.PyTorch):
    """The gradients of ranks are summed, where their mean is due."""

    def distribute(self):
        def add_up(_state, bucket):
            work = torch.distributed.all_reduce(bucket.buffer(), async_op=True)
            return work.get_future().then(lambda future: future.value()[0])

        run = super().distribute()
        run.register_comm_hook(None, add_up)
        return run


class RanksRows(pytorch.PyTorch):
    """Every rank takes the rows of rank 0."""

    def distribute(self):
        run = super().distribute()
        order = torch.from_numpy(self.plan._order.astype("int64"))
        torch.distributed.broadcast(order, 0)
        self.plan._order = order.numpy()
        return run


class RanksDecay(pytorch.PyTorch):
    """One rank leaves the weight decay out."""

    def make_optimizer(self):
        optimizer = super().make_optimizer()
        for group in optimizer.param_groups:
            group["weight_decay"] *= self.plan.rank != 1
        return optimizer


class RanksLocal(pytorch.PyTorch):
    """Each rank normalises by its own rows, whatever was asked."""

    def batch_norm(self, attrs, names):
        self.plan.statistics = "local"
        return super().batch_norm(attrs, names)


class RanksBucket(pytorch.PyTorch):
    """The gradients of the first bucket, those of the network's end, are not exchanged."""

    def distribute(self):
        def leave_out(_state, bucket):
            if bucket.index() > 0:
                return default_hooks.allreduce_hook(None, bucket)
            kept = torch.futures.Future()
            kept.set_result(bucket.buffer())
            return kept

        self.plan.bucket_bytes = 64  # each tensor of some size is a bucket
        run = super().distribute()
        run.register_comm_hook(None, leave_out)
        return run


class RanksHalf(pytorch.PyTorch):
    """Gradients are compressed to half precision for their exchange."""

    def distribute(self):
        run = super().distribute()
        run.register_comm_hook(None, default_hooks.fp16_compress_hook)
        return run


class RanksStale(pytorch.PyTorch):
    """A step takes the gradients of the step before, as where it does not wait for the exchange; the first its own."""

    def make_optimizer(self):
        optimizer, before = super().make_optimizer(), {}

        def exchange(*_):
            for param in self.model.parameters():
                own = param.grad.clone()
                param.grad.copy_(before.get(param, own))
                before[param] = own

        optimizer.register_step_pre_hook(exchange)
        return optimizer


class LayerNormEpsilon(pytorch.PyTorch):
    """The epsilon of layer normalisation is a tenth too large."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["op"] == "LayerNormalization":
            layer.eps *= 1.1
        return layer


class AttentionAhead(pytorch.Attention):
    def forward(self, q, k, v):
        q, k, v = (x.unflatten(2, (self.heads, -1)).transpose(1, 2) for x in (q, k, v))
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.scale).transpose(1, 2).flatten(2)


class MaskOffByOne(pytorch.PyTorch):
    """Each position sees the next one too."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["op"] == "Attention" and attrs["is_causal"]:
            layer.__class__ = AttentionAhead
        return layer


class ScaleLeftOut(pytorch.PyTorch):
    """Scores of attention are not divided by the root of the width."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["op"] == "Attention":
            layer.scale = 1.0
        return layer


class TurnedOperand(pytorch.Operand):
    def forward(self, x):
        return self.combine(x, self.weight.roll(1, 0))


class PositionOffByOne(pytorch.PyTorch):
    """Each position is given the number of the one before it."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if node["name"] == "positions":
            layer.__class__ = TurnedOperand
        return layer


class TieLost(pytorch.PyTorch):
    """A weight that several nodes share is as many weights, which begin alike."""

    def build(self, plan):
        self.copies = []
        return super().build(plan)

    def own(self, layer, names):
        again = [(role, name) for role, name in names.items() if name in self.owned]
        for role, name in again:
            first, first_role = self.owned[name]
            setattr(layer, role, nn.Parameter(torch.empty_like(getattr(first, first_role))))
            self.copies.append((name, getattr(layer, role)))
        super().own(layer, {role: name for role, name in names.items() if (role, name) not in again})
        return layer

    def make_optimizer(self):
        with torch.no_grad():
            for name, copy in self.copies:
                copy.copy_(self.params[name])
        optimizer = super().make_optimizer()
        optimizer.add_param_group({"params": [copy for _, copy in self.copies], "lr_mult": 1.0, "weight_decay": 0.0})
        return optimizer


class NormByParameter(pytorch.PyTorch):
    """Each parameter's gradient is clipped by its own norm."""

    def clip(self, limit):
        for param in self.model.parameters():
            param.grad.mul_(limit / torch.linalg.vector_norm(param.grad).clamp(min=limit))


class ClipEpsilon(pytorch.PyTorch):
    """PyTorch's own, which adds 1e-6 to the norm."""

    def clip(self, limit):
        nn.utils.clip_grad_norm_(self.model.parameters(), limit)


class OverTheLast(pytorch.CachedAttention):
    def forward(self, q, k, v):
        at = self.place.at
        self.place.at = max(at - 1, 0)
        y = super().forward(q, k, v)
        self.place.at = at
        return y


class CacheOffByOne(OtherLayers):
    """Key and value of a token lie where those of the one before it were."""

    operator, kind = "Attention", OverTheLast


class WithoutTheFirst(pytorch.CachedAttention):
    def forward(self, q, k, v):
        y, end = super().forward(q, k, v), self.place.at + 1
        return pytorch.Attention.forward(self, q, self.keys[:, 1:end], self.values[:, 1:end]) if self.place.at else y


class CacheFirstLost(OtherLayers):
    """Tokens do not see the first key."""

    operator, kind = "Attention", WithoutTheFirst


class BehindItsPlace(pytorch.PlacedOperand):
    def forward(self, x):
        at = self.place.at
        return self.combine(x, self.weight[max(at - 1, 0):max(at - 1, 0) + x.shape[1]])


class TokenPlaceOffByOne(pytorch.PyTorch):
    """Each token behind the prompt is given the number of the one before it."""

    def layer(self, node, attrs, in_place):
        layer = super().layer(node, attrs, in_place)
        if isinstance(layer, pytorch.PlacedOperand):
            layer.__class__ = BehindItsPlace
        return layer


WRONG = {
    "nothing": pytorch.PyTorch,
    "decay_left_out": NoDecay,
    "decay_sign": DecaySign,
    "decay_not_on_biases": DecayNotOnBiases,
    "decay_decoupled": DecayDecoupled,
    "momentum_rate_inside": MomentumRateInside,
    "loss_summed": LossSummed,
    "pad_side": PadSide,
    "batches_swapped": BatchesSwapped,
    "one_weight": OneWeight,
    "conv_bf16": ConvBfloat16,
    "batchnorm_epsilon": BatchNormEpsilon,
    "running_var_n": RunningVarN,
    "pool_counts_padding": PoolCountsPadding,
    "pool_omits_padding": PoolOmitsPadding,
    "gate_order": GateOrder,
    "bias_second_trained": SecondBias,
    "reset_before": ResetBefore,
    "state_not_carried": StateNotCarried,
    "state_not_detached": StateNotDetached,
    "hidden_counted": HiddenCounted,
    "hidden_by_row": HiddenByRow,
    "padding_counted": PaddingCounted,
    "last_of_all": LastOfAll,
    "layernorm_epsilon": LayerNormEpsilon,
    "mask_off_by_one": MaskOffByOne,
    "scale_left_out": ScaleLeftOut,
    "position_off_by_one": PositionOffByOne,
    "tie_lost": TieLost,
    "norm_by_parameter": NormByParameter,
    "clip_epsilon": ClipEpsilon,
    "cache_off_by_one": CacheOffByOne,
    "cache_first_lost": CacheFirstLost,
    "token_place_off_by_one": TokenPlaceOffByOne,
    "ranks_summed": RanksSummed,
    "ranks_rows": RanksRows,
    "ranks_decay": RanksDecay,
    "ranks_stale": RanksStale,
    "ranks_bucket": RanksBucket,
    "ranks_half": RanksHalf,
    "ranks_local": RanksLocal,
    "ranks_even": type("RanksEven", (wrong_one.Even, pytorch.PyTorch), {}),
}
# Nothing is wrong where there is no such layer, no such weight and no such limit.
OF_SEQUENCES = ("gate_order", "bias_second_trained", "reset_before", "state_not_carried", "state_not_detached",
                "hidden_counted", "hidden_by_row", "padding_counted", "last_of_all", "layernorm_epsilon", "mask_off_by_one", "scale_left_out", "position_off_by_one", "tie_lost",
                "norm_by_parameter", "clip_epsilon", "cache_off_by_one", "cache_first_lost", "token_place_off_by_one")
OF_RANKS = tuple(name for name in WRONG if name.startswith("ranks_"))  # nothing is wrong in one process
Wrong = wrong_one.one_of(pytorch.PyTorch, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
