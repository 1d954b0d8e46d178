"""MXNet on the CPU: a Gluon network, hybridized with static memory and shapes, or bound by the symbolic executor; MXNet's
fused updates. The network is in mxnet_network.py.

The fused updates keep their numbers (rate, momentum, decay) as float32, as batch norm keeps its momentum. In double, where
that would be another training, refine() and refine_statistics() make up for the difference.
"""

import contextlib
import os

import common
import numpy as np
from common_feed import Rows

with common.importing("MXNet"):
    import mxnet as mx
    from mxnet import autograd, gluon
    from mxnet.base import _LIB, check_call

from mxnet_network import CALLS, JOINS, KINDS, Loss, Network, single

DTYPES = {"f32": "float32", "f64": "float64"}


class Bound:
    """Network and loss under the symbolic executor, on the Gluon parameters' own arrays; the loss alone has gradients."""

    def __init__(self, net, loss, x, y, train):
        logits = net(mx.sym.var("x"))
        symbol = mx.sym.Group([loss(logits, mx.sym.var("y")), mx.sym.BlockGrad(logits)]) if train else logits
        params = net.collect_params().values()
        trained = [param for param in params if param.grad_req != "null"] if train else []
        arrays = {param.name: param.data() for param in params}
        arrays.update({"x": x.zeros_like(), "y": y.zeros_like()})
        self.executor = symbol.bind(
            mx.cpu(), {name: arrays[name] for name in symbol.list_arguments()},
            {param.name: param.grad() for param in trained}, {param.name: "write" for param in trained},
            {name: arrays[name] for name in symbol.list_auxiliary_states()})
        self.slopes = [mx.nd.ones_like(output) * (place == 0) for place, output in enumerate(self.executor.outputs)]

    def forward(self, train, **batch):
        """Copies of the outputs: the executor uses its arrays again."""
        return [output.copy() for output in self.executor.forward(train, **batch)]


class Formula(mx.optimizer.Optimizer):
    """The update rules of the protocol, operator by operator. The fused updates of MXNet are used where they are the same;
    its RMSProp is not (epsilon inside the root)."""

    def __init__(self, settings):
        super().__init__(wd=settings["weight_decay"])
        self.settings = settings

    def create_state(self, _index, weight):
        return weight.zeros_like(), weight.zeros_like()

    def update(self, index, weight, grad, state):
        self._update_count(index)
        self.rule(weight, grad, *state, self._get_lr(index), self._get_wd(index), self._index_update_count[index])

    def rule(self, w, g, a, v, rate, decay, steps):
        s = self.settings
        if s["name"] == "adamw":
            w *= 1 - rate * decay
        elif decay:
            g = g + decay * w
        if s["name"] == "sgd":  # Nesterov's
            a[:] = s["momentum"] * a + g
            w -= rate * (g + s["momentum"] * a)
        elif s["name"] == "rmsprop":
            v[:] = s["alpha"] * v + (1 - s["alpha"]) * g * g
            a[:] = s["momentum"] * a + g / (v.sqrt() + s["epsilon"])
            w -= rate * a
        else:
            a[:] = s["beta1"] * a + (1 - s["beta1"]) * g
            v[:] = s["beta2"] * v + (1 - s["beta2"]) * g * g
            w -= rate / (1 - s["beta1"] ** steps) * a / ((v / (1 - s["beta2"] ** steps)).sqrt() + s["epsilon"])


class FusedAdam(Formula):
    """MXNet's updates for Adam and AdamW. They leave the corrections of the first steps to the caller, which here belong
    to epsilon as well."""

    def rule(self, w, g, a, v, rate, decay, steps):
        s, root = self.settings, (1 - self.settings["beta2"] ** steps) ** 0.5
        common_ = dict(out=w, lr=rate * root / (1 - s["beta1"] ** steps), beta1=s["beta1"], beta2=s["beta2"],
                       epsilon=s["epsilon"] * root)
        if s["name"] == "adam":
            mx.nd.adam_update(w, g, a, v, wd=decay, **common_)
        else:
            mx.nd.contrib.adamw_update(w, g, a, v, mx.nd.ones((1,)), eta=1.0, wd=rate * decay, **common_)


class MXNet(common.Adapter):
    name = "mxnet"
    framework = "MXNet"
    version = mx.__version__
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "ConvTranspose", "Gemm", "BatchNormalization", "LayerNormalization", "LRN", "MaxPool", "AveragePool",
           "GlobalAveragePool", "GlobalMaxPool", "Dropout", "Embedding", "RMSNormalization", *KINDS, "Attention", "RotaryEmbedding",
           "sinusoid", "last", *CALLS, *JOINS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm", "label_smoothing", "connections", "tokens", "targets", "shared", "broadcast", "operands", "positions", "hidden",
              "carried")
    options = {"executor": "gluon"}
    forms = {"params": True}
    served = None  # the network of a file
    statistics = ("local",)
    exchanges_by = "servers"
    strategies = ("data", "alone")
    weighs = True
    bound = None
    store = None  # of several ranks, what takes the mean of their gradients
    untimed = "its engine runs behind the loop, which sees the end of no part; to wait for one would make a step longer"
    ends = ()
    loader = "mxnet.gluon.data.DataLoader"

    def build(self, plan):
        copy_alone()
        self.dtype = DTYPES[plan.precision]
        if plan.form:
            return self.load_form(os.path.join(plan.form_path, "model"))
        self.net, self.asked = Network(plan, self.dtype, plan.mode == "attack"), None
        self.loss = Loss(plan, self.net.classes, self.dtype)
        self.net.initialize(mx.init.Zero())
        self.trained = []
        for entry in plan.params:
            param = self.net.owned[entry["name"]]
            param.lr_mult, param.wd_mult = plan.multiplier(entry, "lr_mult"), plan.multiplier(entry, "decay_mult")
            if entry["role"] == "weight":
                self.trained.append(param)
        self.values = [param.data() for param in self.trained]
        train = plan.mode == "train"
        self.gradients = [param.grad() for param in self.trained] if train else []
        self.bound = None
        if plan.mode == "attack":
            if self.option("executor") == "symbol":
                raise common.Unsupported("gradients of pixels under the symbolic executor: opt.mxnet.executor = gluon")
            self.net.collect_params().setattr("grad_req", "null")
        if self.option("executor") == "symbol":
            if plan.carries_state:
                raise common.Unsupported("state that is carried under the symbolic executor: opt.mxnet.executor = gluon")
            self.bound = Bound(self.net, self.loss, *map(self.array, plan.batch(0)), train)
        else:
            self.net.hybridize(static_alloc=True, static_shape=True)
            self.loss.hybridize(static_alloc=True, static_shape=True)
        if plan.exchanges:
            self.store = self.distribute()
        self.reset()
        return dict(self.describe(), parameters=sum(value.size for value in self.values) - plan.untrained())

    def describe(self):
        return {"threads": threads(), "libraries": libraries(), "deviations": ["symbolic executor"] if self.bound else []}

    def load_form(self, prefix):
        """What a file says of its parameters does not tell which of them were trained."""
        if self.option("executor") == "symbol":
            raise common.Unsupported("a network of a file under the symbolic executor: opt.mxnet.executor = gluon")
        self.served = gluon.SymbolBlock.imports(prefix + "-symbol.json", ["data"], prefix + "-0000.params")
        self.served.hybridize(static_alloc=True, static_shape=True)
        return self.describe()

    def save_form(self, _form, path):
        """A folder: the network in one file, its parameters in another."""
        if self.bound:
            raise common.Unsupported("form params under the symbolic executor: opt.mxnet.executor = gluon")
        os.mkdir(path)
        self.infer_step(self.plan.rows(0))  # what is exported is the network as it was traced
        self.net.export(os.path.join(path, "model"))

    def distribute(self):
        if self.dtype == "float64":
            raise common.Unsupported("several processes in f64: MXNet's key-value store sends float64 as float32")
        import mxnet_ranks

        return mxnet_ranks.Store(self.plan, self.gradients)

    def close(self):
        if self.store is not None:
            self.store.close()

    def reset(self):
        mx.random.seed(self.plan.own_seed)
        for name, param in self.net.owned.items():
            param.set_data(mx.nd.array(self.plan.weights[name], dtype=self.dtype))
        self.steps, self.rate = 0, None
        if self.plan.mode == "train":
            self.make_optimizer()
        if self.plan.carries_state:
            self.clear_carried_state()

    def clear_carried_state(self):
        for start in self.net.carried.values():
            start.set_data(mx.nd.zeros(start.shape, dtype=self.dtype))

    def carried_state(self):
        found = {}
        for (kind, name), start in self.net.carried.items():
            found.setdefault(kind, {})[name] = start.data().asnumpy()[0]
        return found

    def make_optimizer(self):
        settings = self.plan.optimizer
        name, momentum, decay = settings["name"], settings["momentum"], settings["weight_decay"]
        # MXNet keeps the rate inside its momentum.
        self.rate_inside = name == "sgd" and momentum > 0
        if name == "sgd" and not (settings["nesterov"] and momentum > 0):
            optimizer = mx.optimizer.SGD(momentum=momentum, wd=decay)
        elif name == "rmsprop" or self.dtype == "float64":
            optimizer, self.rate_inside = Formula(settings), False
        else:
            optimizer = mx.optimizer.NAG(momentum=momentum, wd=decay) if name == "sgd" else FusedAdam(settings)
        if self.rate_inside and 0.0 in self.plan.lr:
            raise common.Unsupported("a learning rate of 0 with momentum: MXNet keeps the rate inside it")
        optimizer.param_dict = dict(enumerate(self.trained))
        self.updater = mx.optimizer.get_updater(optimizer)

    @staticmethod
    def array(values):
        return mx.nd.from_numpy(values)

    def differentiate(self, x, y, train=True):
        """The loss; its gradients, of several ranks the mean of all, are in the parameters."""
        if self.bound:
            if not train:
                raise common.Unsupported("gradients in evaluation: the symbolic executor has them in training alone")
            loss, _ = self.bound.forward(True, x=x, y=y)
            self.bound.executor.backward(self.bound.slopes)
        else:
            with autograd.record(train):
                loss = self.loss(self.network(x), y)
            loss.backward(train_mode=train)
        if self.store is not None:
            self.store.take_mean(self.weight)
        return loss

    def network(self, x):
        """The logits. Of state that is carried the ends are kept."""
        if not self.net.carried:
            return self.net(x)
        logits, *self.ends = self.net(x)
        return logits

    def load(self, first, last):
        x, y, order = self.plan.stored()
        batches = mx.gluon.data.DataLoader(Rows(x, y), batch_sampler=order[first:last].tolist(), num_workers=self.plan.loader_threads)
        for x, y in batches:
            yield x.asnumpy(), y.asnumpy()

    def train_step(self, x, y, lr):
        double = self.dtype == "float64"
        before = {name: self.net.owned[name].data().copy() for name in self.net.statistics} if double else {}
        loss = self.differentiate(self.array(x), self.array(y))
        if self.plan.optimizer["clip_norm"] is not None:
            self.clip(self.plan.optimizer["clip_norm"])
        self.set_rate(lr)
        if double and isinstance(self.updater.optimizer, mx.optimizer.SGD):
            self.refine(lr)
        self.updater(list(range(len(self.values))), self.gradients, self.values)
        self.steps += 1
        for start, end in zip(self.net.carried.values(), self.ends):
            start.set_data(end)
        self.refine_statistics(before)
        return loss

    def set_rate(self, lr):
        self.updater.optimizer.set_learning_rate(lr)
        if self.rate_inside and self.rate not in (None, lr):
            for state in self.updater.states.values():
                state *= lr / self.rate
        self.rate = lr

    def clip(self, limit):
        """As gluon.utils.clip_global_norm, which however adds 1e-8 to the norm and waits."""
        norm = mx.nd.concat(*[gradient.norm() for gradient in self.gradients], dim=0).norm()
        share = limit / mx.nd.maximum(norm, limit)
        for gradient in self.gradients:
            mx.nd.broadcast_mul(gradient, share.reshape((1,) * gradient.ndim), out=gradient)

    def refine(self, lr):
        """In double: moves gradients and state so that MXNet's update, with rate, decay and momentum rounded to float32, does
        what it would do with the numbers themselves."""
        optimizer, momentum = self.updater.optimizer, self.plan.optimizer["momentum"]
        for param, value, gradient in zip(self.trained, self.values, self.gradients):
            rate, decay = lr * param.lr_mult, optimizer.wd * param.wd_mult
            if rate:
                gradient *= rate / single(rate)
                gradient += value * (decay * rate / single(rate) - single(decay))
        for state in self.updater.states.values():
            if state is not None and momentum:
                state *= momentum / single(momentum)

    def refine_statistics(self, before):
        """The same for running statistics, from what they were before the step."""
        for name, old in before.items():
            share, kept = self.net.statistics[name][0], single(1 - self.net.statistics[name][0])
            if share:
                new, factor = self.net.owned[name].data(), share / (1 - kept)
                new *= factor
                new += old * (1 - share - kept * factor)

    def running(self, name):
        """A running statistic as the graph means it: MXNet divides the variance by n, in every step alike, so that all of
        what was added to the start is too small by one factor."""
        share, factor = self.net.statistics[name]
        values = self.net.owned[name].data().asnumpy().astype(np.float64)
        start = self.plan.weights[name].astype(np.float64) * (1 - share) ** self.steps
        return (start + (values - start) * factor).astype(self.dtype)

    @contextlib.contextmanager
    def unchanged(self, train):
        """Inside, running statistics are those of the graph; afterwards everything is as before."""
        kept = {name: self.net.owned[name].data().copy() for name in self.net.statistics}
        try:
            for name in kept if not train else ():
                self.net.owned[name].set_data(mx.nd.array(self.running(name), dtype=self.dtype))
            yield
        finally:
            for name, values in kept.items():
                self.net.owned[name].set_data(values)

    def forward(self, x, y, train):
        x, y = self.array(x), self.array(y)
        with self.unchanged(train):
            if self.bound and self.plan.mode == "train":
                loss, logits = self.bound.forward(train, x=x, y=y)
            else:
                logits = self.logits(x, train)
                loss = self.loss(logits, y)
            return {"x": x.asnumpy(), "y": y.asnumpy(), "logits": logits.asnumpy(), "loss": loss.asnumpy().reshape(())}

    def logits(self, x, train=False):
        if self.bound:
            return self.bound.executor.forward(train, x=x)[0]
        with autograd.pause(train_mode=train):
            return self.network(x)

    def backward(self, x, y, train):
        with self.unchanged(train):
            loss = self.differentiate(self.array(x), self.array(y), train).asnumpy()
            names = [entry["name"] for entry in self.plan.params if entry["role"] == "weight"]
            return loss.reshape(()), {name: value.asnumpy() for name, value in zip(names, self.gradients)}

    def input_gradient(self, x, cotangent):
        """By Gluon, also where the symbolic executor trains: it is bound to the loss alone."""
        x = self.array(x)
        with self.unchanged(False):
            if cotangent is None:
                with autograd.pause(train_mode=False):
                    return self.network(x).asnumpy(), None
            network = self.evaluated()
            x.attach_grad()
            with autograd.record():
                logits = network(x)
            if self.plan.mode == "attack":
                gradient, = autograd.grad([logits], [x], [self.array(cotangent)])
            else:  # a GRU's gradient by its input is right only where that by its weights is made too
                logits.backward(self.array(cotangent))
                gradient = x.grad
            return logits.asnumpy(), gradient.asnumpy()

    def evaluated(self):
        """The network as it is evaluated, in what MXNet takes for training."""
        if self.plan.mode == "attack":
            return self.net
        if self.asked is None:
            self.asked = Network(self.plan, self.dtype, True)
            self.asked.initialize(mx.init.Zero())
        for name, param in self.net.owned.items():
            self.asked.owned[name].set_data(param.data())
        return self.asked

    def infer_step(self, x):
        if self.served is not None:
            return self.served(self.array(x)).asnumpy()
        return self.logits(self.array(x)).asnumpy()

    def losses(self, handles):
        losses = mx.nd.concat(*handles, dim=0).asnumpy().tolist()
        mx.nd.waitall()
        return losses

    def weights(self):
        return {name: self.running(name) if name in self.net.statistics else param.data().asnumpy()
                for name, param in self.net.owned.items()}

    def optimizer_state(self):
        names = [entry["name"] for entry in self.plan.params if entry["role"] == "weight"]
        first = "velocity" if self.plan.optimizer["name"] in ("sgd", "rmsprop") else "exp_avg"
        found = {}
        for place, state in self.updater.states.items():
            if self.rate_inside:  # and subtracted: the momentum is the way itself
                rate = self.rate * self.trained[place].lr_mult
                parts = [-state.asnumpy() / rate if rate else state.asnumpy()]
            else:
                parts = [part.asnumpy() for part in (state if isinstance(state, tuple) else (state,)) if part is not None]
            for kind, values in zip((first, "exp_avg_sq"), parts):
                found.setdefault(kind, {})[names[place]] = values
        return found

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or any(
            text in str(error) for text in ("bad_alloc", "Failed to allocate", "out of memory"))


def copy_alone():
    """Large arrays go to NumPy and back in the calling thread, with an OpenMP team of its own. Beside the team of the
    engine's worker that is more threads than processors, and libgomp from then on lets threads sleep at every barrier
    where they would spin. The calling thread alone is told to be a team of one."""
    check_call(_LIB.MXSetNumOMPThreads(1))


def threads():
    """Those of OpenMP, which MXNet's worker takes from the environment when MXNet is loaded. More workers would each have as
    many."""
    return int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count()) * int(os.environ.get("MXNET_CPU_WORKER_NTHREADS") or 1)


def libraries():
    """What MXNet says it was built with."""
    wanted = ("MKLDNN", "MKL", "OPENMP", "LAPACK", "SSE", "F16C")
    return [feature.name for feature in mx.runtime.feature_list()
            if feature.enabled and (feature.name in wanted or feature.name.startswith(("BLAS_", "CPU_")))]


if __name__ == "__main__":
    common.serve(MXNet())
