"""An adapter for tests of common.py: each step takes the learning rate off every weight; the loss of a step is its
number. The option `fail` says how it fails: in build, at the step `at`, or by what its losses are."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters"))

import common  # noqa: E402
import numpy as np  # noqa: E402

if os.environ.get("TOY_IMPORT"):
    with common.importing("Toy"):
        raise OSError("libtoy.so.1: cannot open shared object file")


class Toy(common.Adapter):
    name = framework = "toy"
    version = "1.0"
    precisions = ("f32", "f64")
    modes = ("train", "infer")
    ops = ("normalize", "Conv", "BatchNormalization", "Relu", "Add", "MaxPool", "AveragePool", "Flatten", "Gemm")
    options = {"fail": "", "at": 3}

    def build(self, plan):
        if self.option("fail") == "build":
            raise ValueError("a kernel of that size is not possible")
        if self.option("fail") == "memory":
            raise MemoryError
        self.reset()
        return {"parameters": 1, "threads": plan.threads, "libraries": [], "deviations": []}

    def reset(self):
        self.now = {name: value.astype(np.float64) for name, value in self.plan.weights.items()}
        self.count = 0

    def forward(self, x, y, train):
        logits = np.full((len(x), 2), float(train))
        return {"x": x, "y": y, "logits": logits, "loss": np.float64(0.5), "multiply_adds": 7}

    def backward(self, x, y, train):
        return np.float64(0.25), {name: np.ones_like(value) for name, value in self.now.items()}

    def train_step(self, x, y, lr):
        if self.option("fail") == "step" and self.count == self.option("at"):
            raise RuntimeError("the kernel failed")
        for value in self.now.values():
            value -= lr
        self.count += 1
        return self.count - 1

    def infer_step(self, x):
        if self.option("fail") == "request" and self.count == self.option("at"):
            raise RuntimeError("the kernel failed")
        self.count += 1
        with open(os.path.join(self.plan.folder, "requests"), "ab") as file:
            file.write(x[:, 0, 0, 0].tobytes())
        return x[:, 0, 0, :2] / 3

    def losses(self, handles):
        special = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}
        return [special.get(self.option("fail"), float(handle)) for handle in handles]

    def weights(self):
        return self.now


if __name__ == "__main__":
    common.serve(Toy())
