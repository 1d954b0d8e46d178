"""The plain oracle of tests/python as a framework: NumPy, double, a few operators. It does what it declares; the
environment variable PLAIN_WRONG names the mistakes to make, separated by commas or +.

  relu_backward   the gradient of Relu passes where its input was negative
  side            pools pad on the other side: left for right
  save            saved weights are rounded to two decimals
  single          weights are saved as float32, whatever type is asked for
  eighth          gradients are sums over the batch, divided by 8
  train           train leaves out the weight decay, step does not
  no_double       it has single precision alone
  train_loss      train says the loss of a step times 1.001
  option          options that there are not are passed over
  bye             ends with exit code 3

PLAIN_FORM makes it store models too, in the form npz: right, or

  link            as a link to what it has elsewhere
  elsewhere       and says that its own source is what it saved
  less            the last class of each row loses a quarter
  rubbish         what nobody can load

PLAIN_PAUSE makes each step of a training take so many seconds longer; of several numbers, separated by commas, the one
whose turn it is by the plan's seed. PLAIN_CRASH_SEED: a training whose plan has that seed ends with exit code 4.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "adapters"))
sys.path.insert(0, os.path.join(HERE, "..", "python"))

import common  # noqa: E402
import numpy as np  # noqa: E402
from oracle import Oracle  # noqa: E402

FORM = os.environ.get("PLAIN_FORM", "")
WRONG = os.environ.get("PLAIN_WRONG", "").replace("+", ",").split(",")
PAUSES_S = [float(pause) for pause in os.environ.get("PLAIN_PAUSE", "0").split(",")]
CRASH_SEED = os.environ.get("PLAIN_CRASH_SEED", "none")
TYPES = {"f64": np.float64, "f32": np.float32}


class Network(Oracle):
    """What the oracle lacks."""

    def loss(self, logits, y):
        loss, d = super().loss(logits, y)
        return (loss, d * len(y) / 8) if "eighth" in WRONG else (loss, d)

    def relu_backward(self, d, x, attrs, names):
        return [d] if "relu_backward" in WRONG else super().relu_backward(d, x, attrs, names)

    def side(self, attrs):
        top, left, bottom, right = attrs["pads"]
        return dict(attrs, pads=[top, right, bottom, left]) if "side" in WRONG else attrs

    def maxpool(self, x, attrs, names):
        return super().maxpool(x, self.side(attrs), names)

    def maxpool_backward(self, d, x, attrs, names):
        return super().maxpool_backward(d, x, self.side(attrs), names)

    def gemm(self, x, attrs, names):
        if "bias" in names:
            return super().gemm(x, attrs, names)
        return x @ self.weights[names["weight"]].T

    def gemm_backward(self, d, x, attrs, names):
        if "bias" in names:
            return super().gemm_backward(d, x, attrs, names)
        self.gradients[names["weight"]] = d.T @ x
        return [d @ self.weights[names["weight"]]]

    def reshape(self, x, attrs, _names):
        return x.reshape((len(x),) + tuple(attrs["shape"][1:]))

    def reshape_backward(self, d, x, _attrs, _names):
        return [d.reshape(x.shape)]

    def concat(self, *values):
        *values, attrs, _ = values
        return np.concatenate(values, axis=attrs["axis"])

    def concat_backward(self, d, *values):
        *values, attrs, _ = values
        ends = np.cumsum([value.shape[attrs["axis"]] for value in values])
        return np.split(d, ends[:-1], axis=attrs["axis"])


class Plain(common.Adapter):
    name = framework = "plain"
    version = "1.0"
    precisions = ("f32",) if "no_double" in WRONG else ("f32", "f64")
    ops = ("normalize", "Relu", "MaxPool", "Flatten", "Gemm", "Add", "Reshape", "Concat")
    losses_known = ("softmax_cross_entropy", "mean_squared_error")
    extras = ("clip_norm", "label_smoothing")
    modes = ("train", "infer") if FORM else ("train",)
    forms = {"npz": False} if FORM else {}

    def build(self, plan):
        if plan.form:
            with np.load(plan.form_path) as stored:
                plan.weights = dict(stored)
        for node in plan.graph["nodes"]:
            if node["attrs"].get("ceil_mode"):
                raise common.Unsupported("this adapter has no ceil_mode (node %s)" % node["name"], node["op"])
        self.reset()
        count = sum(self.network.weights[param["name"]].size for param in plan.params if param["role"] == "weight")
        return {"parameters": count, "threads": 1, "libraries": [], "deviations": []}

    def reset(self):
        plan = self.plan
        self.network = Network(plan.graph, plan.weights, plan.loss, plan.label_smoothing)

    def told(self, value):
        return np.asarray(value, TYPES[self.plan.precision])

    def forward(self, x, y, train):
        logits = self.network.forward(x.astype(np.float64), train)
        return {"x": x, "y": y, "logits": self.told(logits), "loss": self.told(self.network.loss(logits, y)[0])}

    def backward(self, x, y, train):
        loss, gradients = self.network.backward(x.astype(np.float64), y)
        return self.told(loss), {name: self.told(value) for name, value in gradients.items()}

    def train_step(self, x, y, lr):
        time.sleep(PAUSES_S[self.plan.seed % len(PAUSES_S)])
        if str(self.plan.seed) == CRASH_SEED:
            os._exit(4)
        return self.network.step(x.astype(np.float64), y, lr, self.plan.optimizer)

    def infer_step(self, x):
        return self.told(self.network.forward(x.astype(np.float64), False))

    def save_form(self, _form, path):
        weights = {name: np.float32(value) for name, value in self.network.weights.items()}
        if FORM == "less":
            list(weights.values())[-1][-1] *= 0.75  # the bias of the last class, or its weights
        written = path + ".target" if FORM == "link" else path
        with open(written, "wb") as file:
            if FORM == "rubbish":
                file.write(b"12345")
            else:
                np.savez(file, **weights)
        if FORM == "link":
            os.symlink(written, path)
        return {"path": os.path.abspath(__file__)} if FORM == "elsewhere" else {}

    def losses(self, handles):
        return [float(handle) for handle in handles]

    def weights(self):
        return {name: self.told(value) for name, value in self.network.weights.items()}


def rounding(save):
    def on_save(server, message):
        reply = save(server, message)
        rounded = {name: np.round(value, 2) for name, value in server.adapter.weights().items()}
        common.write_safetensors(message["path"], rounded, np.float32)
        return reply
    return on_save


def single(save):
    return lambda server, message: save(server, dict(message, dtype="f32"))


def without_decay(train):
    def on_train(server, message):
        kept, server.plan.optimizer = server.plan.optimizer, dict(server.plan.optimizer, weight_decay=0.0)
        reply = train(server, message)
        server.plan.optimizer = kept
        return reply
    return on_train


def louder(train_block):
    def on_block(server, first, last):
        block = train_block(server, first, last)
        return dict(block, loss=[loss * 1.001 for loss in block["loss"]])
    return on_block


def without_options(check):
    def check_the_rest(adapter, plan):
        plan.options = {}
        check(adapter, plan)
    return check_the_rest


if __name__ == "__main__":
    if "save" in WRONG:
        common._Server.on_save = rounding(common._Server.on_save)
    if "single" in WRONG:
        common._Server.on_save = single(common._Server.on_save)
    if "train" in WRONG:
        common._Server.on_train = without_decay(common._Server.on_train)
    if "train_loss" in WRONG:
        common._Server._train_block = louder(common._Server._train_block)
    if "option" in WRONG:
        common._check_supported = without_options(common._check_supported)
    if "bye" in WRONG:
        os._exit = lambda code: sys.exit(3)
    common.serve(Plain())
