"""Paddle, Chainer, MXNet and tinygrad made wrong on purpose at networks of sequences, to show that the proof finds each mistake in
them as it does in wrong_pytorch.py, by the same names. YS_WRONG_OF, which the recipe sets, names the framework and its option
`wrong` the mistake; all but that is the adapter.

What is a matter of the graph, of the order in which weights lie or of when state begins anew is made wrong for all of them, by
another plan. The rest lies in the adapter, where it has it: MXNet's RNN knows no other place of the reset and no state that is
not detached; tinygrad's adapter has neither LSTM nor GRU. wrong_ranks.py has those of several processes.
"""

import importlib.util
import os
import sys

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters")
sys.path.insert(0, ADAPTERS)

import common  # noqa: E402
import common_graph  # noqa: E402
import numpy as np  # noqa: E402
import wrong_one  # noqa: E402
import wrong_ranks  # noqa: E402

OF = os.environ["YS_WRONG_OF"]
EPSILON = 1e-6  # that of PyTorch's clip_grad_norm_


def load(name):
    """An adapter, which is called like its framework."""
    spec = importlib.util.spec_from_file_location("adapter_of_" + name, os.path.join(ADAPTERS, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Elsewhere:
    """Rows of some parameters lie in another order than those of the graph, and the network takes them for it."""

    def orders(self, plan):
        """Of each of them the graph's row that lies at each place."""
        raise NotImplementedError

    def build(self, plan):
        self.found = self.orders(plan)
        plan.weights = {name: values[self.found[name]] if name in self.found else values for name, values in plan.weights.items()}
        return super().build(plan)

    def at_home(self, tensors):
        return {name: values[np.argsort(self.found[name])] if name in self.found else values for name, values in tensors.items()}

    def weights(self):
        return self.at_home(super().weights())

    def backward(self, x, y, train):
        loss, gradients = super().backward(x, y, train)
        return loss, self.at_home(gradients)


class GateOrder(Elsewhere):
    """The third and the fourth gate of LSTM are exchanged."""

    def orders(self, plan):
        found = {}
        for node in plan.graph["nodes"]:
            for name in node["params"].values() if node["op"] == "LSTM" else ():
                i, f, g, o = np.split(np.arange(len(plan.weights[name])), 4)
                found[name] = np.concatenate((i, f, o, g))  # the other way round it is the same
        return found


class PositionOffByOne(Elsewhere):
    """Each position is given the number of the one before it."""

    def orders(self, plan):
        names = [node["params"]["weight"] for node in plan.graph["nodes"] if node["name"] == "positions"]
        return {name: np.roll(np.arange(len(plan.weights[name])), 1) for name in names}


class OtherGraph:
    """The network of another graph."""

    def change(self, node, plan):
        """The nodes that stand in the place of one."""
        raise NotImplementedError

    def build(self, plan):
        plan.graph["nodes"] = [changed for node in plan.graph["nodes"] for changed in self.change(node, plan)]
        return super().build(plan)


class LayerNormEpsilon(OtherGraph):
    """The epsilon of layer normalisation is a tenth too large."""

    def change(self, node, plan):
        if node["op"] == "LayerNormalization":
            node["attrs"]["epsilon"] *= 1.1
        return [node]


class ScaleLeftOut(OtherGraph):
    """Scores of attention are not divided by the root of the width."""

    def change(self, node, plan):
        if node["op"] == "Attention":
            node["attrs"]["scale"] = 1.0
        return [node]


class PaddingCounted(OtherGraph):
    """Positions see the padding too."""

    def change(self, node, plan):
        return [dict(node, **{"in": node["in"][:3]}) if node["op"] == "Attention" else node]


class LastOfAll(OtherGraph):
    """The last position of each row is read, whether its token is the padding or not."""

    def change(self, node, plan):
        if node["op"] != "last":
            return [node]
        made, = (one for one in plan.graph["nodes"] if one["out"] == node["in"][:1])
        positions, width = plan.graph["inputs"][0]["shape"][1], plan.weights[made["params"]["recurrent"]].shape[1]
        return [{"op": "Split", "name": "cut", "in": node["in"][:1], "out": ["others", "end"], "params": {},
                 "attrs": {"axis": 1, "split": [positions - 1, 1]}},
                {"op": "Reshape", "name": "flat", "in": ["end"], "out": node["out"], "params": {}, "attrs": {"shape": ["N", width]}}]


class TieLost(OtherGraph):
    """A weight that several nodes share is as many weights, which begin alike."""

    def change(self, node, plan):
        for role, name in node.get("params", {}).items():
            if name in self.seen:
                entry, = (one for one in plan.params if one["name"] == name)
                node["params"][role] = name + ".again"
                plan.params.append(dict(entry, name=name + ".again"))
                plan.weights[name + ".again"] = plan.weights[name]
            self.seen.add(name)
        return [node]

    def build(self, plan):
        self.seen = set()
        return super().build(plan)

    def weights(self):
        return {name: values for name, values in super().weights().items() if name in self.seen}

    def backward(self, x, y, train):
        loss, gradients = super().backward(x, y, train)
        return loss, {name: values for name, values in gradients.items() if name in self.seen}


class StateNotCarried:
    """Every batch begins with zeros."""

    def train_step(self, x, y, lr):
        loss = super().train_step(x, y, lr)
        self.clear_carried_state()
        return loss


class MaskOffByOne:
    """Each position sees the next one too."""

    def build(self, plan):
        common_graph.causal = lambda count: np.tri(count, k=1, dtype=bool)
        return super().build(plan)


EVERYWHERE = {"layernorm_epsilon": LayerNormEpsilon, "mask_off_by_one": MaskOffByOne, "scale_left_out": ScaleLeftOut,
              "position_off_by_one": PositionOffByOne, "tie_lost": TieLost, "padding_counted": PaddingCounted}
RECURRENT = {"gate_order": GateOrder, "state_not_carried": StateNotCarried, "last_of_all": LastOfAll}


def of_prompts(module, Right):
    """What is made wrong where rows are answered piece by piece. module: has the layers of `Right`."""

    class OverTheLast(module.CachedAttention):
        def __call__(self, q, k, v):
            if self.place.at:
                self.kept = [one[:, :-1] for one in self.kept]
            return super().__call__(q, k, v)

    class WithoutTheFirst(module.CachedAttention):
        def __call__(self, q, k, v):
            y = super().__call__(q, k, v)
            seen = (one[:, 1:] for one in self.kept)
            return module.attention((q, *seen), dict(self.attrs, is_causal=0)) if self.place.at else y

    class BehindItsPlace(module.PlacedOperand):
        def forward(self, x):
            at, self.place.at = self.place.at, max(self.place.at - 1, 0)
            y = super().forward(x)
            self.place.at = at
            return y

    def put(name, kind, doc):
        def build(self, plan):
            setattr(module, kind.__mro__[1].__name__, kind)
            return Right.build(self, plan)

        return type(name, (Right,), {"build": build, "__doc__": doc})

    return {"cache_off_by_one": put("CacheOffByOne", OverTheLast, "Key and value of a token take the place of the one's before."),
            "cache_first_lost": put("CacheFirstLost", WithoutTheFirst, "Tokens do not see the first key."),
            "token_place_off_by_one": put("TokenPlaceOffByOne", BehindItsPlace,
                                          "Each token behind the prompt is given the number of the one before it.")}


def of_paddle():
    adapter = load("paddle")
    import paddle_network

    paddle, F, Right = adapter.paddle, adapter.F, adapter.Paddle

    class SecondBias(Right):
        """The second bias of nn.LSTM is trained too."""

        def seconds(self):
            return [layer.lstm.bias_hh_l0 for layer in self.net.recurrents.values() if layer.kinds == "hc"]

        def make_optimizer(self):
            super().make_optimizer()
            for bias in self.seconds():
                bias.set_value(paddle.zeros_like(bias))
            self.groups.append({"params": self.seconds(), "learning_rate": 1.0, "weight_decay": 0.0})
            groups, settings = [dict(group) for group in self.groups], self.plan.optimizer
            self.optimizer = adapter.OPTIMIZERS[settings["name"]](settings, learning_rate=0.0, parameters=groups)

        def clear(self):
            super().clear()
            for bias in self.seconds():
                bias.clear_gradient(False)

    class ResetFirst(paddle_network.GRU):
        def forward(self, x):
            given, size = x.matmul(self.weight, transpose_y=True) + self.bias, self.recurrent.shape[1]
            h, states = paddle.zeros([x.shape[0], size], x.dtype), []
            for t in range(x.shape[1]):
                r, z = F.sigmoid(given[:, t, :2 * size] + h.matmul(self.recurrent[:2 * size], transpose_y=True)).split(2, 1)
                inner = (r * h).matmul(self.recurrent[2 * size:], transpose_y=True) + self.recurrent_bias
                h = (1 - z) * paddle.tanh(given[:, t, 2 * size:] + inner) + z * h
                states.append(h)
            return paddle.stack(states, 1)

    class ResetBefore(Right):
        """The reset stands before the product, as in the paper of GRU."""

        def build(self, plan):
            paddle_network.GRU = ResetFirst
            return super().build(plan)

    class StateNotDetached(Right):
        """The gradient goes back through the state into the batch before."""

        def build(self, plan):
            def finish(layer, y, *state):
                layer.end = list(state) if layer.start else None
                return y

            paddle_network.Recurrent.finish = finish
            return super().build(plan)

        def clear_carried_state(self):
            super().clear_carried_state()
            self.before = None

        def train_step(self, x, y, lr):
            layers = self.net.recurrents.values()
            starts = [layer.start for layer in layers]
            if self.before is not None:
                for layer, start in zip(layers, self.before[1]):
                    layer.start = start
                self.run(paddle.to_tensor(self.before[0]))
                for layer, start in zip(layers, starts):  # of the value that was carried, with the gradient of how it was made
                    layer.start = [value + (made - made.detach()) for value, made in zip(start, layer.end)]
            self.before = x, starts
            loss = super().train_step(x, y, lr)
            for layer in layers:
                layer.start = [value.detach() for value in layer.start]
            return loss

    class NormByParameter(Right):
        """Each parameter's gradient is clipped by its own norm."""

        def clip(self, limit):
            for param in self.trained.values():
                param.grad.multiply_(limit / param.grad.square().sum().sqrt().clip(min=limit))

    class ClipEpsilon(Right):
        """A little is added to the norm."""

        def clip(self, limit):
            gradients = [param.grad for param in self.trained.values()]
            norm = paddle.add_n([gradient.square().sum() for gradient in gradients]).sqrt()
            for gradient in gradients:
                gradient.multiply_((limit / (norm + EPSILON)).clip(max=1.0))

    return Right, {"bias_second_trained": SecondBias, "reset_before": ResetBefore, "state_not_detached": StateNotDetached,
                   "norm_by_parameter": NormByParameter, "clip_epsilon": ClipEpsilon, **of_prompts(paddle_network, Right)}, RECURRENT


def of_chainer():
    adapter = load("chainer")
    chainer, F, Right = adapter.chainer, adapter.F, adapter.Chainer

    class TwoBiases(adapter.LSTM):
        def __init__(self, **shapes):
            super().__init__(**shapes)
            with self.init_scope():
                self.second = chainer.Parameter(0, shapes["bias"])

        def forward(self, x):
            first = self.b
            self.b = first + self.second
            y = super().forward(x)
            self.b = first
            return y

    class SecondBias(Right):
        """A second bias of LSTM, which begins as zeros, is trained beside the first."""

        def build(self, plan):
            adapter.RECURRENT["LSTM"] = TwoBiases
            return super().build(plan)

        def reset(self):
            super().reset()
            for link in self.net.recurrents.values():
                link.second.array[...] = 0

        def set_rate(self, lr):
            super().set_rate(lr)
            self.optimizer.hyperparam.lr = lr

    class ResetFirst(adapter.GRU):
        def forward(self, x):
            units = self.R.shape[1]
            given, (h,), states = F.linear(x, self.W, self.b, 2), self.begin(x), []
            for t in range(x.shape[1]):
                r, z = F.split_axis(F.sigmoid(given[:, t, :2 * units] + F.linear(h, self.R[:2 * units])), 2, 1)
                n = F.tanh(given[:, t, 2 * units:] + F.linear(r * h, self.R[2 * units:], self.q))
                h = (1 - z) * n + z * h
                states.append(h)
            return self.finish(states, h)

    class ResetBefore(Right):
        """The reset stands before the product, as in the paper of GRU."""

        def build(self, plan):
            adapter.RECURRENT["GRU"] = ResetFirst
            return super().build(plan)

    class StateNotDetached(Right):
        """The gradient goes back through the state into the batches before."""

        def build(self, plan):
            def finish(link, states, *state):
                link.end = list(state) if link.start else None
                return F.stack(states, 1)

            adapter.Recurrent.finish = finish
            return super().build(plan)

    class OtherClip(Right):
        """Gradients are clipped in another way."""

        def clip(self, gradients, limit):
            raise NotImplementedError

        def make_optimizer(self):
            super().make_optimizer()
            limit = self.plan.optimizer["clip_norm"]
            self.optimizer.remove_hook("GradientClipping")
            self.optimizer.add_hook(lambda optimizer: self.clip([param.grad for param in self.net.params()], limit), "clip")

    class NormByParameter(OtherClip):
        """Each parameter's gradient is clipped by its own norm."""

        def clip(self, gradients, limit):
            for gradient in gradients:
                gradient *= limit / max(np.linalg.norm(gradient), limit)

    class ClipEpsilon(OtherClip):
        """A little is added to the norm."""

        def clip(self, gradients, limit):
            norm = sum(np.sum(gradient * gradient) for gradient in gradients) ** 0.5
            for gradient in gradients:
                gradient *= min(limit / (norm + EPSILON), 1)

    return Right, {"bias_second_trained": SecondBias, "reset_before": ResetBefore, "state_not_detached": StateNotDetached,
                   "norm_by_parameter": NormByParameter, "clip_epsilon": ClipEpsilon, **of_prompts(adapter, Right)}, RECURRENT


def of_mxnet():
    adapter = load("mxnet")
    import mxnet_network

    mx, Right = adapter.mx, adapter.MXNet

    class TwoBiases(mxnet_network.Recurrent):
        def __init__(self, op, shapes, rows, carries, dtype):
            super().__init__(op, shapes, rows, carries, dtype)
            self._reg_params["nothing"] = self.params.get("second", shape=self.nothing.shape)

    class SecondBias(Right):
        """The second bias of the operator RNN is trained too."""

        seconds = ()

        def build(self, plan):
            mxnet_network.Recurrent = TwoBiases
            reply = super().build(plan)
            self.seconds = [param for name, param in self.net.collect_params().items() if name.endswith("second")]
            self.trained += self.seconds
            self.values += [param.data() for param in self.seconds]
            self.gradients += [param.grad() for param in self.seconds]
            self.reset()
            return reply

        def reset(self):
            for param in self.seconds:
                param.set_data(mx.nd.zeros(param.shape, dtype=self.dtype))
            super().reset()

    class NormByParameter(Right):
        """Each parameter's gradient is clipped by its own norm."""

        def clip(self, limit):
            for gradient in self.gradients:
                gradient *= limit / max(gradient.norm().asscalar(), limit)

    class ClipEpsilon(Right):
        """A little is added to the norm."""

        def clip(self, limit):
            norm = sum(gradient.norm().asscalar() ** 2 for gradient in self.gradients) ** 0.5
            for gradient in self.gradients:
                gradient *= min(limit / (norm + EPSILON), 1)

    return Right, {"bias_second_trained": SecondBias, "norm_by_parameter": NormByParameter, "clip_epsilon": ClipEpsilon}, RECURRENT


def of_tinygrad():
    adapter = load("tinygrad")
    attention, Right = adapter.attention, adapter.TinyGrad

    def ahead(x, attrs):
        """Of queries that stand one place further on, the last of which sees the last key twice."""
        q, k, v = x
        return attention((q[:, :1].cat(q, dim=1), k.cat(k[:, -1:], dim=1), v.cat(v[:, -1:], dim=1)), attrs)[:, 1:]

    class Ahead(Right):
        """Each position sees the next one too."""

        def build(self, plan):
            adapter.JOINS["Attention"] = ahead
            return super().build(plan)

    class NormByParameter(Right):
        """Each parameter's gradient is clipped by its own norm."""

        @staticmethod
        def clipped(gradients, limit):
            return [gradient * (limit / gradient.square().sum().sqrt().maximum(limit)) for gradient in gradients]

    class ClipEpsilon(Right):
        """A little is added to the norm."""

        @staticmethod
        def clipped(gradients, limit):
            norm = sum(gradient.square().sum() for gradient in gradients).sqrt()
            return [gradient * (limit / (norm + EPSILON)).minimum(1.0) for gradient in gradients]

    return Right, {"mask_off_by_one": Ahead, "norm_by_parameter": NormByParameter, "clip_epsilon": ClipEpsilon}, {}


RIGHT, OWN, OF_LAYERS = {"paddle": of_paddle, "chainer": of_chainer, "mxnet": of_mxnet, "tinygrad": of_tinygrad}[OF]()


def both(name, mistake):
    return type(name, (mistake, RIGHT), {"__doc__": mistake.__doc__})


WRONG = {"nothing": RIGHT, **{name: both(name, mistake) for name, mistake in {**EVERYWHERE, **OF_LAYERS, **wrong_ranks.mistakes(OF)}.items()}, **OWN}
Wrong = wrong_one.one_of(RIGHT, WRONG)


if __name__ == "__main__":
    common.serve(Wrong())
