"""Paddle on the CPU: dynamic graphs, or the network through paddle.jit.to_static; Paddle's optimizers. The network is in
paddle_network.py.

Momentum and decay of Paddle's fused updates are float32. In double, where that would be another training, refined() makes up for
the difference.
"""

import contextlib
import os
import time

import common
import common_meeting
import numpy as np
from common_feed import Rows

with common.importing("Paddle"):
    import paddle
    import paddle.nn.functional as F

from paddle_network import CALLS, LAYERS, Network, Static, single

DTYPES = {"f32": "float32", "f64": "float64"}


class RMSProp:
    """Paddle's own has epsilon inside the root."""

    def __init__(self, settings, groups):
        self.settings, self.groups, self.lr = settings, groups, 0.0
        self.state = {id(param): (paddle.zeros_like(param), paddle.zeros_like(param)) for group in groups
                      for param in group["params"]}

    def set_lr(self, lr):
        self.lr = lr

    @paddle.no_grad()
    def step(self):
        s = self.settings
        for group in self.groups:
            for param in group["params"]:
                mean, step = self.state[id(param)]
                gradient = param.grad + param * group["weight_decay"] if group["weight_decay"] else param.grad
                mean.set_value(mean * s["alpha"] + gradient * gradient * (1 - s["alpha"]))
                step.set_value(step * s["momentum"] + gradient / (mean.sqrt() + s["epsilon"]))
                param.subtract_(step * (self.lr * group["learning_rate"]))


def sgd(s, **common_):
    if s["momentum"] == 0:
        return paddle.optimizer.SGD(**common_)
    return paddle.optimizer.Momentum(momentum=s["momentum"], use_nesterov=s["nesterov"], **common_)


def moments(s):
    return {"beta1": s["beta1"], "beta2": s["beta2"], "epsilon": s["epsilon"]}


OPTIMIZERS = {
    "sgd": sgd,
    "adam": lambda s, **common_: paddle.optimizer.Adam(**moments(s), **common_),
    "adamw": lambda s, **common_: paddle.optimizer.AdamW(**moments(s), **common_),
    "rmsprop": lambda s, parameters, **_: RMSProp(s, parameters),
}


class Paddle(common.Adapter):
    name = "paddle"
    framework = "Paddle"
    version = paddle.__version__
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "LayerNormalization", "RMSNormalization", "Embedding", "LSTM", "GRU",
           "MaxPool", "AveragePool", *LAYERS, *CALLS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm", "label_smoothing", "connections", "tokens", "targets", "shared", "broadcast", "operands", "positions",
              "hidden", "carried", "prompt")
    options = {"to_static": False}
    forms = {"pdiparams": True}
    statistics = ("local",)  # nn.SyncBatchNorm wants a GPU
    exchanges_by = "ring"
    strategies = ("data", "alone")
    weighs = True
    buckets = True
    loader = "paddle.io.DataLoader"

    def build(self, plan):
        paddle.set_device("cpu")
        self.dtype = DTYPES[plan.precision]
        paddle.set_default_dtype(self.dtype)
        paddle.base.core.set_num_threads(plan.threads)
        if plan.form:
            self.run = paddle.jit.load(os.path.join(plan.form_path, "model"))
            self.run.eval()
            return self.describe()  # constants are among what it calls parameters
        self.net = self.run = Network(plan, self.dtype)
        if self.option("to_static"):
            if plan.mode == "attack":
                raise common.Unsupported("gradients of pixels through paddle.jit.to_static: opt.paddle.to_static = off")
            if plan.carries_state or plan.prompt:
                raise common.Unsupported("%s through paddle.jit.to_static: opt.paddle.to_static = off"
                                         % ("state that is carried" if plan.carries_state else "prompt that is answered before its tokens"))
            paddle.set_flags({"FLAGS_new_executor_serial_run": True})  # else it has threads of its own
            self.run = paddle.jit.to_static(Static(self.net), full_graph=True)
        if plan.exchanges:
            self.run = self.distribute()
        self.trained = {entry["name"]: self.net.owned[entry["name"]] for entry in plan.params if entry["role"] == "weight"}
        self.reset()
        if plan.mode != "train":
            self.run.eval()
        return dict(self.describe(), parameters=sum(param.size for param in self.trained.values()) - plan.untrained())

    def describe(self):
        return {
            "threads": self.plan.threads,
            "libraries": libraries(),
            "deviations": ["paddle.jit.to_static"] if self.option("to_static") else [],
        }

    def distribute(self):
        """The network as one of several ranks trains it: after each backward pass gradients are the means of all. Each bucket is
        exchanged as soon as it is complete, and the pass waits for that: Paddle's gloo has no other way."""
        if self.option("to_static"):
            raise common.Unsupported("several processes through paddle.jit.to_static: opt.paddle.to_static = off")
        common_meeting.name_interface(self.plan.address)
        os.environ.update(PADDLE_DISTRI_BACKEND="gloo", PADDLE_MASTER=self.plan.rendezvous,
                          PADDLE_TRAINERS_NUM=str(self.plan.world), PADDLE_TRAINER_ID=str(self.plan.rank),
                          PADDLE_CURRENT_ENDPOINT=self.plan.address + ":0")  # has to be there, and is not asked for its port
        paddle.distributed.init_parallel_env()
        for param in self.net.parameters():
            if not param.stop_gradient:
                param.register_hook(self.note_gradient)
        size = {}
        if self.plan.bucket_bytes is not None:
            size = dict.fromkeys(("comm_buffer_size", "last_comm_buffer_size"), self.plan.bucket_bytes / 2**20)
        run = paddle.DataParallel(self.net, **size)
        if len(run.group_indices) == 1:  # of several the first would count as computing
            self.exchanged = []
        else:
            self.untimed = "each bucket is exchanged before the backward pass goes on; with one, as by bucket = 1GiB, it tells"
        return run

    def note_gradient(self, _gradient):
        """The last of these calls in a step comes when all gradients of this rank are there."""
        self.ready_ns = time.monotonic_ns()

    def reset(self):
        paddle.seed(self.plan.own_seed)
        for name, tensor in self.net.owned.items():
            values = self.plan.weights[name].astype(self.dtype)
            if name in self.net.statistics:
                values = values * self.net.statistics[name].unit(name)
            tensor.set_value(self.turned(name, values))
        self.clear()
        self.steps = 0
        if self.plan.mode == "train":
            self.make_optimizer()
        if self.plan.carries_state:
            self.clear_carried_state()

    def clear_carried_state(self):
        for layer in self.net.recurrents.values():
            layer.start = [paddle.zeros([self.plan.batch_size, layer.recurrent.shape[1]], self.dtype)] * len(layer.kinds)

    def carried_state(self):
        found = {}
        for name, layer in self.net.recurrents.items():
            for kind, values in zip(layer.kinds, layer.start):
                found.setdefault(kind, {})[name] = values.numpy()
        return found

    def clear(self):
        for param in self.trained.values():
            param.clear_gradient(False)

    def turned(self, name, values):
        """Between the graph's layout and Paddle's."""
        return values.T if name in self.net.dense else values

    def make_optimizer(self):
        settings, groups = self.plan.optimizer, {}
        for entry in self.plan.params:
            if entry["role"] == "weight":
                factors = self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
                groups.setdefault(factors, []).append(self.net.owned[entry["name"]])
        self.groups = [{"params": params, "learning_rate": lr_mult, "weight_decay": settings["weight_decay"] * decay_mult}
                       for (lr_mult, decay_mult), params in groups.items()]
        self.optimizer = OPTIMIZERS[settings["name"]](
            settings, learning_rate=0.0, parameters=[dict(group) for group in self.groups])

    def loss(self, logits, y):
        classes = logits.shape[-1]
        if self.plan.target == "vector":
            return F.mse_loss(logits, y.astype(self.dtype))
        if self.plan.hides_targets:
            seen = paddle.nonzero(y.flatten() >= 0).flatten()
            logits, y = logits.reshape([-1, classes]).index_select(seen), y.flatten().index_select(seen)
        if self.plan.loss == "nll":
            return F.nll_loss(logits.reshape([-1, classes]), y.flatten())
        if self.plan.loss == "mean_squared_error":
            return F.mse_loss(logits, F.one_hot(y, classes).astype(self.dtype))
        loss, smoothing = F.cross_entropy(logits, y), self.plan.label_smoothing
        return loss * (1 - smoothing) - F.log_softmax(logits).mean() * smoothing if smoothing else loss

    def load(self, first, last):
        x, y, order = self.plan.stored()
        batches = paddle.io.DataLoader(Rows(x, y), batch_sampler=order[first:last].tolist(), num_workers=self.plan.loader_threads)
        for x, y in batches:
            yield x.numpy(), y.numpy()

    def train_step(self, x, y, lr):
        double = self.dtype == "float64"
        before = {name: self.net.owned[name].clone() for name in self.net.statistics} if double else {}
        x, y = paddle.to_tensor(x), paddle.to_tensor(y)
        began_ns = time.monotonic_ns()
        loss = self.loss(self.run(x), y)
        self.run_backward(loss)
        reduced_ns = time.monotonic_ns()
        with paddle.no_grad():
            if self.plan.optimizer["clip_norm"] is not None:
                self.clip(self.plan.optimizer["clip_norm"])
            self.optimizer.set_lr(lr)
            with self.refined(lr) if double else contextlib.nullcontext():
                self.optimizer.step()
        if self.exchanged is not None:
            self.exchanged.append((began_ns, self.ready_ns, reduced_ns, time.monotonic_ns()))
        self.clear()
        self.steps += 1
        for layer in self.net.recurrents.values() if self.plan.carries_state else ():
            layer.start = layer.end
        for name, old in before.items():
            self.net.statistics[name].refine(self.net.owned[name], old)
        return loss.detach()

    def clip(self, limit):
        """As nn.ClipGradByGlobalNorm, which takes the norm of each group of parameters by itself."""
        gradients = [param.grad for param in self.trained.values()]
        norm = paddle.add_n([gradient.square().sum() for gradient in gradients]).sqrt()
        share = limit / norm.clip(min=limit)
        for gradient in gradients:
            gradient.multiply_(share)

    @contextlib.contextmanager
    def refined(self, lr):
        """Around an update in double: moves gradients, state and weights so that Paddle's update, with momentum and decay
        rounded to float32, does what it would do with the numbers themselves."""
        s, momentum = self.plan.optimizer, single(self.plan.optimizer["momentum"])
        fused = s["name"] == "sgd" and momentum > 0
        for group in self.groups:
            decay = group["weight_decay"]
            for param in group["params"]:
                if fused:
                    param.grad.add_(param * (decay - single(decay)))
                    if self.steps:
                        self.velocity(param).scale_(s["momentum"] / momentum)
                elif s["name"] == "adamw":
                    rate = lr * group["learning_rate"]
                    param.scale_((1 - rate * decay) / (1 - rate * single(decay)))
        yield
        for group in self.groups if fused and s["nesterov"] else ():
            for param in group["params"]:
                param.subtract_(self.velocity(param) * (lr * group["learning_rate"] * (s["momentum"] - momentum)))

    def velocity(self, param):
        return self.optimizer._get_accumulator_master("velocity", param)

    def running(self, name):
        """A running statistic as the graph means it."""
        values = self.net.statistics[name].to_graph(
            name, self.net.owned[name].numpy(), self.plan.weights[name].astype(np.float64), self.steps)
        return values.astype(self.dtype)

    @contextlib.contextmanager
    def unchanged(self, train):
        """Inside, the network trains or not, by the graph's running statistics; afterwards all is as before."""
        before, random = self.net.training, paddle.get_rng_state()
        kept = {name: self.net.owned[name].clone() for name in self.net.statistics}
        try:
            for name, layer in self.net.statistics.items():
                self.net.owned[name].set_value(self.running(name) * np.asarray(layer.unit(name), self.dtype))
            self.run.train() if train else self.run.eval()
            yield
        finally:
            self.run.train() if before else self.run.eval()
            paddle.set_rng_state(random)
            for name, values in kept.items():
                self.net.owned[name].set_value(values)

    def forward(self, x, y, train):
        x, y = paddle.to_tensor(x), paddle.to_tensor(y)
        # to_static cannot do both with one network; ranks have nothing to exchange here.
        run = self.run if self.plan.world == 1 and (train or self.plan.mode == "infer") else self.net
        with self.unchanged(train), paddle.no_grad() if run is self.net else contextlib.nullcontext():
            logits = self.pass_pieces(x) if self.plan.prompt else run(x)
            loss = self.loss(logits, y)
        return {"x": x.numpy(), "y": y.numpy(), "logits": logits.numpy(), "loss": loss.numpy()}

    def pass_pieces(self, x):
        made = []
        for self.net.place.at, end in self.plan.pieces():
            made.append(self.net(x[:, self.net.place.at:end]))
        return paddle.concat(made, 1)

    def infer_piece(self, x, first):
        self.net.place.at = first
        return self.infer_step(x)

    def backward(self, x, y, train):
        with self.unchanged(train):
            loss = self.loss(self.run(paddle.to_tensor(x)), paddle.to_tensor(y))
            self.run_backward(loss)
        gradients = {name: self.turned(name, param.grad.numpy()) for name, param in self.trained.items()}
        self.clear()
        return loss.numpy(), gradients

    def input_gradient(self, x, cotangent):
        with self.unchanged(False) if self.plan.mode == "train" else contextlib.nullcontext():
            x = paddle.to_tensor(x, stop_gradient=cotangent is None)
            if cotangent is None:
                with paddle.no_grad():
                    return self.net(x).numpy(), None
            for layer in self.net.recurrents.values():
                layer.train()  # in evaluation Paddle's LSTM keeps nothing for a backward pass
            logits, cotangent = self.net(x), paddle.to_tensor(cotangent)
            if self.net.recurrents:  # paddle.grad() fails at LSTM, whose kernel gives all gradients or none
                paddle.autograd.backward([logits], [cotangent])
                gradient = x.grad
                self.clear()
            else:
                gradient, = paddle.grad([logits], [x], [cotangent])  # without those of the weights
        return logits.numpy(), gradient.numpy()

    def save_form(self, _form, path):
        """A folder: the program in one file, its parameters in another."""
        entry, = self.plan.graph["inputs"]
        kind = {"U8": "uint8", "I32": "int32", "F32": "float32"}[entry["dtype"]]
        os.mkdir(path)
        given = paddle.static.InputSpec([self.plan.batch_size, *entry["shape"][1:]], kind, "x")
        paddle.jit.save(paddle.jit.to_static(Static(self.net), full_graph=True), os.path.join(path, "model"), [given])
        return {"parameters_as_said": sum(value.numpy().nbytes for value in self.net.state_dict().values())}

    def infer_step(self, x):
        with paddle.no_grad():
            return self.run(paddle.to_tensor(x)).numpy()

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def weights(self):
        return {name: self.running(name) if name in self.net.statistics else self.turned(name, tensor.numpy())
                for name, tensor in self.net.owned.items()}

    def optimizer_state(self):
        settings = self.plan.optimizer
        own = {"sgd": {"velocity": "velocity"} if settings["momentum"] else {}}.get(
            settings["name"], {"exp_avg": "moment1", "exp_avg_sq": "moment2"})
        found = {}
        for name, param in self.trained.items() if self.steps else ():  # Paddle makes it in the first step
            if settings["name"] == "rmsprop":
                parts = zip(("exp_avg_sq", "velocity"), self.optimizer.state[id(param)])
            else:
                parts = ((kind, self.optimizer._get_accumulator_master(key, param)) for kind, key in own.items())
            for kind, value in parts:
                found.setdefault(kind, {})[name] = self.turned(name, value.numpy())
        return found

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "ResourceExhausted" in str(error) or "bad_alloc" in str(error)


def libraries():
    """What this build has to compute with."""
    there = {"MKL": paddle.version.mkl() == "ON", "oneDNN": paddle.base.core.is_compiled_with_onednn()}
    return [name for name, built in there.items() if built]


if __name__ == "__main__":
    common.serve(Paddle())
