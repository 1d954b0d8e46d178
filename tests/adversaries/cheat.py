"""An adapter that does its work in the proof, and in its runs one thing wrong, which the variable CHEAT names. All but
that is tests/adapters/plain.py. It knows a run by the number of its steps, as a real one could.

  other_rows   trains each step with the rows of the next
  half_batch   trains with the first half of each batch
  made_up      says losses that it did not have
  same_batch   trains the first batch again and again
  no_decay     leaves the weight decay out
  rate         trains at twice the learning rate
  skip         leaves out every step but the first and says the loss of the batch
  last_layer   trains the last layer alone
  elsewhere    saves other weights than it has
  later        says losses that it did not have, from the second step on
  format       keeps its weights, but multiplies with them rounded to bfloat16, from the second step on
  flip         is honest: only that in every fourth step the unit of its last ReLU that is nearest to 0 lies on its other
               side, as rounding may put it
  patient      leaves out every step from the fifth on and says the loss of the batch, but trains them all when it is asked to
               save, hands those weights out, and is honest from there on
  crowd        starts three programs beside its work that compute nothing of it, so that all wait for a CPU and the run looks
               as if the machine were busy with something else
  audit_exit, audit_memory, audit_nan, audit_weights  trains nothing behind the fourth step and says the loss of the batch, and once it
               is asked to save before its end, which nobody does but an audit, exits, says that it is out of memory, says NaN from there
               on, or saves it
  ahead        trains in a thread what it will be asked for, as soon as it is asked nothing, while others have their turn
  put_off      trains what it will be asked for when it is asked for the one step that a turn begins with, which does not count
  once         says made-up losses in a study's first run, beside which there is no other's folder, and does its work later

With 1 in the variable CHEAT_STATE it saves its optimizer's state too.
"""

import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "adapters"))

import plain  # noqa: E402  (sets the path of common)
import common  # noqa: E402
import numpy as np  # noqa: E402

CHEAT = os.environ.get("CHEAT", "")
PROOF_STEPS = 10
AHEAD = 40  # steps at most


class Cheat(plain.Plain):
    name = framework = "cheat"
    optimizers = ("sgd", "adam", "adamw", "rmsprop")

    def build(self, plan):
        self.cheats = CHEAT if plan.steps > PROOF_STEPS else ""
        self.first = plan.batch(0)
        self.shift = 0
        self.left_out, self.seen, self.asked = [], 0, False
        if self.cheats == "other_rows":
            rows, count = plan.batch, plan.steps
            plan.batch = lambda step: rows((step + 1) % count)
        if self.cheats == "crowd":
            self.crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
        if self.cheats in ("ahead", "put_off"):
            self.trained, self.lock, self.answered_s = {}, threading.Lock(), 0.0
        if self.cheats == "ahead":
            threading.Thread(target=self.work_ahead, daemon=True).start()
        if self.cheats == "once":
            self.cheats = "later" if len(os.listdir(os.path.dirname(plan.folder))) == 1 else ""
        return super().build(plan)

    def reset(self):
        super().reset()
        if self.cheats == "flip":
            self.network.relu_backward = flipped(self.network)

    def train_step(self, x, y, lr):
        settings, network = dict(self.plan.optimizer), self.network
        x = x.astype(np.float64)
        if self.cheats == "half_batch":
            x, y = x[:len(x) // 2], y[:len(y) // 2]
        if self.cheats == "same_batch" and network.steps > 0:
            x, y = self.first[0].astype(np.float64), self.first[1]
        if self.cheats == "no_decay":
            settings["weight_decay"] = 0.0
        if self.cheats == "rate":
            lr = 2 * lr
        self.seen += 1
        if self.cheats in ("ahead", "put_off"):
            return self.trained_before(self.seen - 1)
        if self.cheats.startswith("audit") and self.seen > 4:
            return float("nan") if self.asked and self.cheats == "audit_nan" else network.loss(network.forward(x, True), y)[0]
        if self.cheats == "patient" and self.seen > 4 and not self.asked:
            self.left_out.append(self.seen - 1)
            return network.loss(network.forward(x, True), y)[0]
        if self.cheats == "skip" and network.steps > 0:
            return network.loss(network.forward(x, True), y)[0]
        later, kept = network.steps > 0, dict(network.weights)
        if self.cheats == "format" and later:
            network.weights.update((name, narrow(value)) for name, value in kept.items())
        loss = network.step(x, y, lr, settings)
        if self.cheats == "format" and later:
            network.weights.update((name, value + kept[name] - narrow(kept[name])) for name, value in network.weights.items())
        if self.cheats == "later" and later:
            loss += 0.1
        if self.cheats == "last_layer":
            last = {param["name"] for param in self.plan.params[-2:]}
            network.weights.update({name: value for name, value in kept.items() if name not in last})
        return loss + 0.01 if self.cheats == "made_up" else loss

    def train_next(self):
        step = self.network.steps
        x, y = self.plan.batch(step)
        self.trained[step] = self.network.step(x.astype(np.float64), y, self.plan.lr[step], self.plan.optimizer)

    def trained_before(self, step):
        self.answered_s = float("inf")
        with self.lock:
            while self.network.steps <= step or (self.cheats == "put_off" and self.question == 1 and self.network.steps < min(step + AHEAD, self.plan.steps)):
                self.train_next()
        self.answered_s = time.monotonic()
        return self.trained.pop(step)

    def work_ahead(self):
        while not hasattr(self, "network") or self.network.steps < self.plan.steps:
            if self.answered_s == 0 or time.monotonic() < self.answered_s + 0.001 or self.network.steps >= self.seen + AHEAD:
                time.sleep(0.0005)
                continue
            with self.lock:
                self.train_next()

    def weights(self):
        self.asked = self.seen > 0
        if 0 < self.seen < self.plan.steps:
            if self.cheats == "audit_exit":
                os._exit(3)
            if self.cheats == "audit_memory":
                raise MemoryError("no memory for an audit")
            if self.cheats == "audit_weights":
                return {name: value * float("nan") for name, value in super().weights().items()}
        for step in self.left_out:
            x, y = self.plan.batch(step)
            self.network.step(x.astype(np.float64), y, self.plan.lr[step], self.plan.optimizer)
        self.left_out = []
        weights = super().weights()
        if self.cheats == "elsewhere":
            self.shift += 1
            weights = {name: value * (1 + 1e-3 * self.shift) for name, value in weights.items()}
        return weights


def flipped(network):
    backward, flips = network.relu_backward, set()

    def relu_backward(d, x, attrs, names):
        [gradient] = backward(d, x, attrs, names)
        if network.steps % 4 == 0 and network.steps not in flips:
            flips.add(network.steps)
            nearest = np.argmin(np.abs(x))
            gradient.flat[nearest] = d.flat[nearest] - gradient.flat[nearest]
        return [gradient]
    return relu_backward


class StatefulCheat(Cheat):
    def optimizer_state(self):
        first = "velocity" if self.plan.optimizer["name"] in ("sgd", "rmsprop") else "exp_avg"
        kept = [(entry["name"], self.network.state[entry["name"]]) for entry in self.plan.params]
        return {first: {name: pair[0] for name, pair in kept}, "exp_avg_sq": {name: pair[1] for name, pair in kept}}


def narrow(values):
    """Rounded to bfloat16."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def noting(train):
    def on_train(server, message):
        server.adapter.question = message["to"] - message["from"]
        return train(server, message)
    return on_train


if __name__ == "__main__":
    common._Server.on_train = noting(common._Server.on_train)
    common.serve(StatefulCheat() if os.environ.get("CHEAT_STATE") == "1" else Cheat())
