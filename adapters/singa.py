"""Apache SINGA on the CPU: layers in a Model, compiled into SINGA's graph, with SINGA's optimizers.

Written against SINGA 5.1. Its CPU kernels compute in single precision only.
"""

import os

import common
import numpy as np

from singa_network import Builder, Network  # before SINGA: it puts back what SINGA misses in Python and NumPy

with common.importing("SINGA"):
    import singa
    from singa import autograd, device, layer, opt, tensor


class Singa(common.Adapter):
    name = "singa"
    framework = "SINGA"
    version = "%d.%d.%d" % (singa.__version__ // 1000, singa.__version__ // 100 % 10, singa.__version__ % 100)
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "MaxPool", "AveragePool", "GlobalAveragePool",
           "GlobalMaxPool", "Relu", "LeakyRelu", "Clip", "Tanh", "Sigmoid", "Softmax", "LogSoftmax", "Dropout", "Add",
           "Mul", "Concat", "Split", "Flatten", "Reshape")
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw")

    def build(self, plan):
        self.ends_in_log = plan.graph["nodes"][-1]["op"] == "LogSoftmax"
        if plan.loss == "nll" and not self.ends_in_log or plan.loss == "mean_squared_error" and self.ends_in_log:
            raise common.Unsupported("loss %s: SINGA has it for the softmax of the last layer only" % plan.loss)
        self.device = device.get_default_device()
        built = Builder(plan)
        self.owned, first = built.owned, plan.graph["inputs"][0]
        criterion = autograd.mse_loss if plan.loss == "mean_squared_error" else autograd.softmax_cross_entropy
        self.model = Network(built.calls, first["name"], plan.graph["output"], criterion)
        self.model.update = self.update
        self.x = tensor.Tensor([plan.batch_size] + first["shape"][1:], self.device, requires_grad=False)
        self.x.set_value(0.0)
        autograd.training = False
        classes = self.model.forward(self.x).shape[1]
        one_hot = plan.loss == "mean_squared_error"
        self.y = tensor.Tensor([plan.batch_size] + [classes] * one_hot, self.device,
                               tensor.float32 if one_hot else tensor.int32)
        self.model.compile([self.x], is_train=plan.mode == "train", use_graph=True)
        self.params = {name: getattr(*where) for name, where in self.owned.items()}
        self.names = {id(param): name for name, param in self.params.items()}
        self.optimizers_made = {}
        if plan.mode == "train":
            self.make_optimizers()
        self.reset()
        numbers = [self.params[entry["name"]].size() for entry in plan.params if entry["role"] == "weight"]
        return {"parameters": int(sum(numbers)) - plan.untrained(), "threads": int(os.environ.get("OMP_NUM_THREADS", plan.threads)),
                "libraries": libraries(), "deviations": []}

    def make_optimizers(self):
        """One of SINGA's for each pair of factors: they have one rate and one decay each."""
        settings, self.by_name = self.plan.optimizer, {}
        for entry in self.plan.params:
            if entry["role"] != "weight":
                continue
            factors = self.plan.multiplier(entry, "lr_mult"), self.plan.multiplier(entry, "decay_mult")
            if factors not in self.optimizers_made:
                decay = float(settings["weight_decay"] * factors[1])
                if settings["name"] == "sgd":
                    momentum = float(settings["momentum"])
                    made = opt.SGD(lr=1.0, momentum=momentum, weight_decay=decay,
                                   nesterov=bool(settings["nesterov"]) and momentum > 0)
                else:
                    made = opt.Adam(lr=1.0, beta_1=settings["beta1"], beta_2=settings["beta2"],
                                    epsilon=settings["epsilon"],
                                    weight_decay=decay if settings["name"] == "adam" else 0.0)
                made.shrink = tensor.Tensor((1,), self.device)  # of the weights, in adamw: 1 - r D
                made.decay = decay
                self.optimizers_made[factors] = made
            self.by_name[entry["name"]] = self.optimizers_made[factors]

    def update(self, gradients):
        """A step, as SINGA's optimizers do it when they are called. Runs while the graph is made."""
        for param, gradient in gradients:
            name = self.names.get(id(param))
            if name is None:  # a bias that the graph does not have
                continue
            made = self.by_name[name]
            made.apply(name, param, gradient)
            if self.plan.optimizer["name"] == "adamw":
                # Behind the update, which then has to be larger by as much: in its place before, nothing would keep
                # SINGA's graph from shrinking the weight ahead of the pass that reads it.
                param *= made.shrink
        for made in self.optimizers_made.values():
            made.step()

    def reset(self):
        self.device.SetRandSeed(self.plan.seed)
        for name, param in self.params.items():
            values = self.plan.weights[name]
            param.copy_from_numpy(np.ascontiguousarray(values.T if self.is_dense(name) else values))
        for made in self.optimizers_made.values():
            made.step_counter.set_value(0)
            for states in ("moments", "m", "v"):
                for state in getattr(made, states, {}).values():
                    state.set_value(0.0)

    def is_dense(self, name):
        """Whether it lies here as (in, out)."""
        made, attribute = self.owned[name]
        return isinstance(made, layer.Linear) and attribute == "W"

    def array(self, name, value):
        values = tensor.to_numpy(value)
        return np.ascontiguousarray(values.T) if self.is_dense(name) else values

    def feed(self, x, y=None):
        self.x.copy_from_numpy(np.ascontiguousarray(x, np.float32))
        if y is not None:
            one_hot = len(self.y.shape) == 2
            self.y.copy_from_numpy(np.eye(self.y.shape[1], dtype=np.float32)[y] if one_hot else y.astype(np.int32))

    def logits(self, value):
        logits = tensor.to_numpy(value)
        if self.ends_in_log:
            logits -= logits.max(1, keepdims=True)
            logits -= np.log(np.exp(logits).sum(1, keepdims=True))
        return logits

    def passes(self, x, y, train):
        """A forward pass outside the graph, that leaves running statistics as they were: logits, loss."""
        statistics = {entry["name"]: self.array(entry["name"], self.params[entry["name"]])
                      for entry in self.plan.params if entry["role"] != "weight"}
        self.feed(x, y)
        autograd.training = train
        logits = self.model.forward(self.x)
        loss = self.model.loss(logits, self.y)
        autograd.training = self.plan.mode == "train"
        for name, values in statistics.items():
            self.params[name].copy_from_numpy(values)
        return logits, loss

    def forward(self, x, y, train):
        logits, loss = self.passes(x, y, train)
        held, labels = tensor.to_numpy(self.x), tensor.to_numpy(self.y)
        return {"x": held.astype(x.dtype), "y": (labels.argmax(1) if labels.ndim == 2 else labels).astype(np.int64),
                "logits": self.logits(logits), "loss": tensor.to_numpy(loss).reshape(())}

    def backward(self, x, y, train):
        if not train and any(entry["role"] != "weight" for entry in self.plan.params):
            raise common.Unsupported("SINGA has no gradient of batch norm in evaluation", "BatchNormalization")
        _, loss = self.passes(x, y, True)
        gradients = {}
        for param, gradient in autograd.backward(loss):
            if id(param) in self.names:
                name = self.names[id(param)]
                gradients[name] = self.array(name, gradient)
        return tensor.to_numpy(loss).reshape(()), gradients

    def train_step(self, x, y, lr):
        self.feed(x, y)
        for (lr_mult, _), made in self.optimizers_made.items():
            rate, shrink = lr * lr_mult, 1.0
            if self.plan.optimizer["name"] == "adamw":
                shrink = 1 - rate * made.decay
                made.shrink.copy_from_numpy(np.array([shrink], np.float32))
            made.lr_value.copy_from_numpy(np.array([rate / shrink], np.float32))
        return tensor.to_numpy(self.model(self.x, self.y)).item()

    def infer_step(self, x):
        self.feed(x)
        return self.logits(self.model(self.x))

    def losses(self, handles):
        return handles

    def weights(self):
        return {name: self.array(name, param) for name, param in self.params.items()}


def libraries():
    """What this process has mapped to compute with."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(path for path in paths
                  if any(part in os.path.basename(path) for part in ("libsinga", "dnnl", "blas")))


if __name__ == "__main__":
    common.serve(Singa())
