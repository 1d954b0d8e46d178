"""The other side of the protocol, and a small piece of work, for tests of adapters."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ADAPTERS = os.path.join(ROOT, "adapters")
sys.path.insert(0, ADAPTERS)

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("NumPy is not installed")

import common  # noqa: E402


def is_installed(name):
    """Whether there is such a package: the adapter of that name is a module."""
    found = importlib.util.find_spec(name)
    return found is not None and found.submodule_search_locations is not None


def require(name, title):
    """Skips the module that calls it where a framework is not installed."""
    if not is_installed(name):
        raise unittest.SkipTest("%s is not installed: yardstick install %s" % (title, name))


def load(name):
    """The module adapters/NAME.py, as `NAME_adapter`: its own name is the framework's."""
    spec = importlib.util.spec_from_file_location(name + "_adapter", os.path.join(ADAPTERS, name + ".py"))
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Conversation:
    """Asks an adapter, which say() and hear() reach."""

    def ask(self, type_, **members):
        self.say(type_, **members)
        return self.hear()

    def need(self, expected, type_, **members):
        """Asks; raises unless the answer is of type `expected`."""
        reply = self.ask(type_, **members)
        if reply["type"] != expected:
            raise AssertionError("%s was answered by %s; log:\n%s" % (type_, reply, self.log_text()))
        return reply

    def tensors(self, type_, **members):
        return common.read_safetensors(self.need("tensors", type_, **members)["path"])

    def series(self, kind, type_, **members):
        """The messages of type `kind` that come before the final answer, and that."""
        self.say(type_, **members)
        messages = []
        while True:
            message = self.hear()
            if message["type"] != kind:
                return messages, message
            messages.append(message)

    def train(self, first, last, block):
        return self.series("block", "train", **{"from": first, "to": last, "block": block})


class Direct(Conversation, common.Channel):
    """An adapter in this process: no start to wait for."""

    def __init__(self, adapter):
        self.server, self.replies = common._Server(adapter, self), []

    def say(self, type_, **members):
        self.server.answer(dict(members, type=type_))

    def send(self, message):
        self.replies.append(json.loads(json.dumps(message)))

    def hear(self):
        return self.replies.pop(0)

    def log_text(self):
        return "(on standard error)"

    def end(self):
        return 0


class Driver(Conversation):
    """An adapter process and its socket; without a script `python` is the adapter."""

    def __init__(self, script, python=sys.executable, env=None):
        near, far = socket.socketpair()
        near.settimeout(120)
        self.log = tempfile.TemporaryFile()
        self.temporary = tempfile.TemporaryDirectory(prefix="yardstick-driver-")  # as yardstick gives each run one
        environment = dict(os.environ, YARDSTICK_FD=str(far.fileno()), TMPDIR=self.temporary.name, **(env or {}))
        self.process = subprocess.Popen([python, script] if script else [python], pass_fds=[far.fileno()], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        far.close()
        self.socket = near
        self.reader = near.makefile("rb")

    def say(self, type_, **members):
        self.socket.sendall(json.dumps(dict(members, type=type_)).encode() + b"\n")

    def hear(self):
        line = self.reader.readline()
        if not line:
            raise EOFError("the adapter closed the connection; its log:\n" + self.log_text())
        return json.loads(line.decode())

    def log_text(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def end(self):
        """Closes the connection; the exit code."""
        self.reader.close()
        self.socket.close()
        try:
            code = self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            self.log.close()
            self.temporary.cleanup()
        return code


def node(op, name, inputs, attrs=None, params=(), outputs=None):
    """A node whose parameters are called after it: `params` are their roles."""
    return {"op": op, "name": name, "in": list(inputs), "out": list(outputs or [name]), "attrs": attrs or {},
            "params": {role: "%s.%s" % (name, role) for role in params}}


def chain(*parts):
    """Nodes of which each reads what the one before it made: (op, name, attrs, roles of its parameters)."""
    names = ["x"] + [name for _, name, *_ in parts]
    return [node(op, name, [source], *rest) for source, (op, name, *rest) in zip(names, parts)]


def window(kernel, pads, strides=(1, 1), dilations=(1, 1), **more):
    return dict(more, kernel_shape=list(kernel), strides=list(strides), dilations=list(dilations), pads=list(pads))


BATCHNORM = ("weight", "bias", "running_mean", "running_var")
# Uneven numbers everywhere, so that nothing that is exchanged goes unnoticed.
SHAPES = {"conv1.weight": (4, 3, 3, 2), "bn.weight": (4,), "bn.bias": (4,), "bn.running_mean": (4,),
          "bn.running_var": (4,), "conv2.weight": (6, 2, 2, 3), "conv2.bias": (6,), "fc.weight": (5, 54), "fc.bias": (5,)}
FACTORS = {"bn.bias": (2.0, 0.0), "fc.weight": (0.5, 3.0)}  # lr_mult, decay_mult


def graph():
    nodes = chain(
        ("normalize", "norm", {"scale": 1 / 255, "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.25]}),
        ("Conv", "conv1", window((3, 2), (1, 0, 0, 1), group=1), ["weight"]),
        ("BatchNormalization", "bn", {"epsilon": 1e-5, "momentum": 0.3}, BATCHNORM),
        ("Relu", "relu1"),
        ("AveragePool", "around", window((3, 3), (1, 1, 1, 1), ceil_mode=0, count_include_pad=0)),
    ) + [node("Add", "sum", ["relu1", "around"])] + [
        node("MaxPool", "pool1", ["sum"], window((3, 2), (1, 0, 1, 0), (2, 1), ceil_mode=0)),
        node("Conv", "conv2", ["pool1"], window((2, 3), (1, 2, 1, 2), (2, 2), (1, 2), group=2), ["weight", "bias"]),
        node("Relu", "relu2", ["conv2"]),
        node("MaxPool", "pool2", ["relu2"], window((2, 2), (0, 0, 1, 1), ceil_mode=0)),
        node("AveragePool", "pool3", ["pool2"], window((2, 2), (1, 1, 0, 0), ceil_mode=0, count_include_pad=1)),
        node("Flatten", "flat", ["pool3"]),
        node("Gemm", "fc", ["flat"], {}, ["weight", "bias"]),
    ]
    params = [{"name": name, "shape": list(shape), "role": "buffer" if "running" in name else "weight",
               "init": {"dist": "constant", "value": float(name.endswith("running_var"))},
               "lr_mult": FACTORS.get(name, (1, 1))[0], "decay_mult": FACTORS.get(name, (1, 1))[1]}
              for name, shape in SHAPES.items()]
    return {"format": "yardstick-graph", "version": 1, "name": "test",
            "inputs": [{"name": "x", "shape": ["N", 3, 9, 7], "dtype": "U8"}], "nodes": nodes, "params": params,
            "output": "fc", "loss": "softmax_cross_entropy"}


SGD = {"name": "sgd", "momentum": 0.9, "nesterov": False, "weight_decay": 0.01, "beta1": 0.9, "beta2": 0.999,
       "alpha": 0.99, "epsilon": 1e-8, "clip_norm": None}


class Work:
    """The files of a plan, in a folder of their own."""

    BATCH, STEPS = 4, 6

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="yardstick-test-")
        random = np.random.RandomState(7)
        self.x = random.randint(0, 256, (20, 3, 9, 7)).astype(np.uint8)
        self.y = random.randint(0, 5, 20).astype(np.int64)
        self.order = np.array([random.permutation(20)[:self.BATCH] for _ in range(self.STEPS)], np.uint32)
        self.lr = np.array([0.05, 0.05, 0.05, 0.005, 0.005, 0.02])
        self.weights = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in SHAPES.items()}
        for name in ("bn.weight", "bn.running_var"):
            self.weights[name] = np.abs(self.weights[name]) + np.float32(0.5)
        common.write_safetensors(self.path("weights"), self.weights)
        common.write_safetensors(self.path("train"), {"x": self.x, "y": self.y})
        common.write_safetensors(self.path("order"), {"order": self.order, "lr": self.lr})
        with open(self.path("graph", "json"), "w") as file:
            json.dump(graph(), file)

    def path(self, name, ending="safetensors"):
        return os.path.join(self.folder, name + "." + ending)

    def plan(self, **changes):
        plan = {
            "format": "yardstick-plan", "version": 1, "mode": "train", "model": "test",
            "graph": self.path("graph", "json"), "weights": self.path("weights"),
            "input": {"kind": "file", "path": self.path("train"), "order": self.path("order")},
            "batch": self.BATCH, "steps": self.STEPS, "block": 2, "seed": 1, "precision": "f64",
            "loss": "softmax_cross_entropy", "label_smoothing": 0, "optimizer": SGD,
            "threads": 1, "cpus": [0], "device": "cpu", "options": {},
            "dist": {"rank": 0, "world": 1, "rendezvous": None}, "folder": self.folder,
        }
        plan.update(changes)
        return plan

    def remove(self):
        shutil.rmtree(self.folder)
