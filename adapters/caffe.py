"""Caffe on the CPU: a prototxt made of the graph, pycaffe, and Caffe's own SGDSolver.

Written against BVLC's Caffe 1.0 as its master branch has it. pycaffe computes in single precision only.
"""

import ctypes
import math
import os

import common
import numpy as np

from caffe_network import ACTIVATIONS, LABEL, Writer, write

with common.importing("Caffe"):
    import caffe
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format

STORED = "deploy.prototxt", "net.caffemodel"


def nesterov(s, w, g, state, r, _step):
    v = state.setdefault("v", np.zeros_like(w))
    v *= s["momentum"]
    v += g
    w -= r * (g + s["momentum"] * v)


def adam(s, w, g, state, r, step):
    a, v = state.setdefault("a", np.zeros_like(w)), state.setdefault("v", np.zeros_like(w))
    a += (1 - s["beta1"]) * (g - a)
    v += (1 - s["beta2"]) * (g * g - v)
    w -= r / (1 - s["beta1"] ** step) * a / (np.sqrt(v / (1 - s["beta2"] ** step)) + s["epsilon"])


def rmsprop(s, w, g, state, r, _step):
    v, u = state.setdefault("v", np.zeros_like(w)), state.setdefault("u", np.zeros_like(w))
    v += (1 - s["alpha"]) * (g * g - v)
    u *= s["momentum"]
    u += g / (np.sqrt(v) + s["epsilon"])
    w -= r * u


# Optimizers of which Caffe has another form: docs/protocol.md's formulas, over the arrays that pycaffe shares.
RULES = {"nesterov": nesterov, "adam": adam, "adamw": adam, "rmsprop": rmsprop}


class Caffe(common.Adapter):
    name = "caffe"
    framework = "Caffe"
    version = caffe.__version__
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "LRN", "MaxPool", "AveragePool", "Clip", "ReduceMean",
           "LogSoftmax", "Split", *ACTIVATIONS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm",)
    forms = {"caffemodel": True}
    served = None  # the net of a file

    def build(self, plan):
        caffe.set_mode_cpu()
        threads = set_threads(plan.threads)
        if plan.form:
            self.served = caffe.Net(*(os.path.join(plan.form_path, name) for name in STORED), caffe.TEST)
            return {"threads": threads, "libraries": libraries(), "deviations": []}
        self.rule = plan.optimizer["name"]
        if self.rule == "sgd" and plan.optimizer["nesterov"] and plan.optimizer["momentum"]:
            self.rule = "nesterov"
        if plan.mode == "train" and plan.optimizer["momentum"] and self.rule == "sgd" and min(plan.lr) == 0:
            raise common.Unsupported("a learning rate of 0: Caffe's momentum would be lost")
        self.writer = Writer(plan)
        self.make_nets()
        own = self.rule in RULES and plan.mode == "train"
        return {"parameters": sum(blob.count for _, blob in self.trained()) - plan.untrained(), "threads": threads,
                "libraries": libraries(), "deviations": ["%s in NumPy: Caffe's own differs" % self.rule] if own else []}

    def make_nets(self):
        """The nets, with the plan's weights: self.test for evaluation, and (in mode train alone) the solver's own."""
        plan, path = self.plan, write(self.plan, "net", self.writer.net)
        caffe.set_random_seed(plan.seed)
        if plan.mode == "train":
            settings = plan.optimizer
            self.solver = caffe.SGDSolver(write(plan, "solver", caffe_pb2.SolverParameter(
                net=path, base_lr=1, lr_policy="fixed", momentum=settings["momentum"], random_seed=plan.seed,
                weight_decay=settings["weight_decay"], max_iter=plan.steps, snapshot_after_train=False)))
            self.parameters = self.solver.param
            self.net = self.solver.net
        self.test = caffe.Net(path, caffe.TEST)
        if plan.mode != "train":
            self.net = self.test
        self.slopes = None
        self.load()
        if self.net is not self.test:
            self.test.share_with(self.net)
        self.end = len(self.net.layers) - 1
        self.last = list(self.test._layer_names).index(self.writer.logits_layer)
        self.rate, self.step, self.state = None, 0, {}

    def blob(self, net, name):
        layer, number = self.writer.owned[name]
        return net.params[layer][number]

    def held(self, name):
        """What the blob of a running statistic has to be divided by; 1 for other parameters."""
        layer, _ = self.writer.owned[name]
        constants = self.writer.constants.get(layer)
        return 1.0 if constants is None else constants[2][0]

    def load(self):
        # Batch norm keeps s = f s + mean and c = f c + 1, and takes s / c. Begun with c = 1 / (1 - f), which c then
        # remains, that is the graph's running mean with momentum 1 - f.
        for layer, constants in self.writer.constants.items():
            for blob, values in zip(self.net.params[layer], constants):
                if values is not None:
                    blob.data[...] = values
        for name, values in self.plan.weights.items():
            if name in self.writer.owned:
                self.blob(self.net, name).data[...] = values * np.float32(self.held(name))

    def reset(self):
        self.make_nets()  # the history of a solver cannot be cleared

    def feed(self, net, x, y):
        net.blobs[self.writer.source].data[...] = x
        labels = net.blobs[LABEL].data
        labels[...] = y if labels.ndim == 1 else np.eye(labels.shape[1])[y]

    def logits(self, net):
        logits = net.blobs[self.writer.logits].data
        if self.writer.ends_in_log:
            logits = logits - logits.max(1, keepdims=True)
            logits -= np.log(np.exp(logits).sum(1, keepdims=True))
        return logits

    def statistics(self):
        """The blobs that a forward pass in training changes."""
        return [blob for layer, values in self.writer.constants.items() if values[0] is None
                for blob in self.net.params[layer]]

    def passes(self, x, y, train, backward):
        """A pass that leaves running statistics as they were: the net, and the loss."""
        net, kept = self.net if train else self.test, [blob.data.copy() for blob in self.statistics()]
        self.feed(net, x, y)
        loss = net._forward(0, self.end)
        if backward:
            net.clear_param_diffs()
            net._backward(self.end, 0)
        for blob, values in zip(self.statistics(), kept):
            blob.data[...] = values
        return net, np.float32(loss)

    def forward(self, x, y, train):
        net, loss = self.passes(x, y, train, False)
        held = net.blobs[self.writer.source].data
        labels = net.blobs[LABEL].data
        labels = labels if labels.ndim == 1 else labels.argmax(1)
        return {"x": held.astype(x.dtype), "y": labels.astype(np.int64), "logits": self.logits(net), "loss": loss}

    def backward(self, x, y, train):
        before = [blob.diff.copy() for _, blob in self.trained()]  # the solver's last update lies there
        net, loss = self.passes(x, y, train, True)
        gradients = {entry["name"]: self.blob(net, entry["name"]).diff.copy() for entry, _ in self.trained()}
        for (_, blob), values in zip(self.trained(), before):
            blob.diff[...] = values
        return loss, gradients

    def trained(self):
        """The parameters that learn: as in the graph, and their blobs."""
        return [(entry, self.blob(self.net, entry["name"])) for entry in self.plan.params if entry["role"] == "weight"]

    def train_step(self, x, y, lr):
        net, momentum = self.net, self.plan.optimizer["momentum"]
        changed = self.rule == "sgd" and momentum and self.rate not in (None, lr)
        last = [blob.diff.copy() for _, blob in self.trained()] if changed else []
        self.feed(net, x, y)
        net.clear_param_diffs()
        loss = net._forward(0, self.end)
        net._backward(self.end, 0)
        if self.plan.optimizer["clip_norm"] is not None:
            self.clip(self.plan.optimizer["clip_norm"])
        # Caffe's history is h = m h + r g, the graph's v = m v + g with an update of r v. After a change of r, h has to
        # be r / (the last r) as large: what m h lacks is added to g. (The last h is the last update, which `diff` still
        # holds.)
        if changed:
            for (entry, blob), update in zip(self.trained(), last):
                rate = lr * self.plan.multiplier(entry, "lr_mult")
                blob.diff[...] += np.float32(momentum * (lr / self.rate - 1) / rate) * update
        self.rate = lr
        self.step += 1
        if self.rule == "sgd":
            self.parameters.base_lr = lr
            self.solver.apply_update()
        else:
            self.apply(lr)
        return loss

    def clip(self, limit):
        gradients = [blob.diff for _, blob in self.trained()]
        norm = math.sqrt(sum(float(np.vdot(gradient, gradient)) for gradient in gradients))
        if norm > limit:
            for gradient in gradients:
                gradient *= np.float32(limit / norm)

    def apply(self, lr):
        settings = self.plan.optimizer
        for entry, blob in self.trained():
            w, g = blob.data, blob.diff
            r = lr * self.plan.multiplier(entry, "lr_mult")
            decay = settings["weight_decay"] * self.plan.multiplier(entry, "decay_mult")
            if decay and self.rule == "adamw":
                w *= np.float32(1 - r * decay)
            elif decay:
                g += np.float32(decay) * w
            RULES[self.rule](settings, w, g, self.state.setdefault(entry["name"], {}), r, self.step)

    def make_slopes(self):
        """A net for evaluation whose backward pass goes on to the pixels, and has no gradients of weights on its way."""
        wanted = caffe_pb2.NetParameter()
        wanted.CopyFrom(self.writer.net)
        wanted.force_backward = True
        for layer in wanted.layer:
            for spec in layer.param:
                spec.lr_mult = spec.decay_mult = 0
        self.slopes = caffe.Net(write(self.plan, "slopes", wanted), caffe.TEST)
        self.slopes.share_with(self.net)
        self.slopes_last = list(self.slopes._layer_names).index(self.writer.logits_layer)

    def input_gradient(self, x, cotangent):
        if cotangent is None:
            return self.infer_step(x), None
        if self.slopes is None:
            self.make_slopes()
        net = self.slopes
        net.blobs[self.writer.source].data[...] = x
        net._forward(0, self.slopes_last)
        logits = self.logits(net)
        if self.writer.ends_in_log:  # which the net does not have: through its gradient here
            cotangent = cotangent - np.exp(logits) * cotangent.sum(1, keepdims=True)
        net.blobs[self.writer.logits].diff[...] = cotangent
        logits = logits.copy()
        net._backward(self.slopes_last, 0)
        return logits, net.blobs[self.writer.source].diff.copy()

    def save_form(self, _form, path):
        """A folder: the net without its loss, as one that is deployed, and the blobs of all its layers."""
        if self.writer.ends_in_log:
            raise common.Unsupported("LogSoftmax at the end of a net without its loss: Caffe has none", "LogSoftmax")
        deployed = caffe_pb2.NetParameter()
        deployed.CopyFrom(self.writer.net)
        names = [layer.name for layer in deployed.layer]
        del deployed.layer[names.index(self.writer.logits_layer) + 1:]
        os.mkdir(path)
        net, blobs = (os.path.join(path, name) for name in STORED)
        with open(net, "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(deployed))
        self.net.save(blobs)
        return {"parameters_as_said": sum(self.blob(self.net, name).data.nbytes for name in self.writer.owned)}

    def infer_step(self, x):
        if self.served is not None:
            self.served.blobs[self.served.inputs[0]].data[...] = x
            return self.served.forward()[self.served.outputs[0]]
        net = self.test
        net.blobs[self.writer.source].data[...] = x
        net._forward(0, self.last)
        return self.logits(net)

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def weights(self):
        return {name: self.blob(self.net, name).data / np.float32(self.held(name)) for name in self.writer.owned}


def libraries():
    """What this process has mapped to compute with."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(path for path in paths if "libcaffe" in path or "blas" in os.path.basename(path))


def set_threads(threads):
    """Caffe has no threads of its own, but its BLAS does: what OpenBLAS then says that it uses, or 1."""
    for path in libraries():
        blas = ctypes.CDLL(path)
        if hasattr(blas, "openblas_set_num_threads"):
            blas.openblas_set_num_threads(threads)
            return blas.openblas_get_num_threads()
    return 1


if __name__ == "__main__":
    common.serve(Caffe())
