"""TensorFlow 2 on the CPU: a training loop of one's own in tf.function, on request compiled by XLA or eager.

The network, its loss and its optimizers are in tensorflow_network.py, its operators in tensorflow_operators.py.
"""

import json
import math
import os

import common
import common_meeting
import numpy as np

with common.importing("TensorFlow"):
    import tensorflow as tf
    from tensorflow.python.framework.test_util import IsMklEnabled

import tensorflow_forms
import tensorflow_network


class TensorFlow2(tensorflow_network.TensorFlowAdapter):
    precisions = ("f32", "f64", "bf16")
    ops = tensorflow_network.TensorFlowAdapter.ops + ("Embedding", "LSTM", "GRU")
    extras = tensorflow_network.TensorFlowAdapter.extras + (
        "inputs", "tokens", "targets", "positions", "hidden", "carried", "prompt")
    options = {"function": True, "xla": False}
    forms = {"savedmodel": True, "h5": False}
    served = None            # the network of a file that came with it
    loader = "tf.data, which keeps all rows in memory"
    statistics = ("local",)  # MultiWorkerMirroredStrategy averages what a layer keeps, not what it normalises by
    exchanges_by = "ring"
    weighs = True
    strategy = None          # of several processes, what their means are taken by
    untimed = "a step is one tf.function, and its exchange a part of that"

    def build(self, plan):
        if self.option("xla") and not self.option("function"):
            raise common.BuildFailed("XLA compiles functions: opt.tensorflow.xla needs opt.tensorflow.function = on")
        if self.option("xla") and plan.prompt:
            raise common.Unsupported("prompt with xla = on: a cache that grows would be compiled for each token")
        tf.config.threading.set_intra_op_parallelism_threads(plan.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        if plan.world > 1:
            self.strategy = self.distribute()
        if plan.form == "savedmodel":
            self.served = tf.saved_model.load(plan.form_path)
            return self.describe(sum(math.prod(variable.shape) for variable in self.served.trained) - plan.untrained())
        self.network = tensorflow_network.Network(plan, explicit=True, dilated=bool(self.option("xla")))
        self.functions = {}
        self.kept = None  # the rows, once the own loader has them
        if plan.mode == "train":
            self.optimizer = tensorflow_network.Optimizer(self.network)
        self.reset()
        if plan.form == "h5":
            import h5py
            with h5py.File(plan.form_path, "r") as file:
                for name, variable in self.network.variables.items():
                    variable.assign(file[name][()])
        return self.describe(self.network.count_parameters())

    def describe(self, parameters):
        deviations = ["compiled by XLA"] * self.option("xla")
        deviations += ["eager, without tf.function"] * (not self.option("function"))
        return {
            "parameters": parameters,
            "threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "libraries": ["oneDNN in TensorFlow's own operators: %s" % ("on" if IsMklEnabled() else "off")],
            "deviations": deviations,
        }

    def distribute(self):
        """One of several workers, each of which has its own variables and takes means over a ring."""
        if self.option("xla") or not self.option("function"):
            raise common.Unsupported("several processes train in tf.function, not compiled by XLA")
        places = common_meeting.share_places(self.plan)
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": places}, "task": {"type": "worker", "index": self.plan.rank}})
        communication = tf.distribute.experimental
        return tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication.CommunicationOptions(
            implementation=communication.CommunicationImplementation.RING))

    def mean(self, gradients):
        """Of those of all processes, whose shares of the batch are equal."""
        if self.strategy is None:
            return gradients
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradients)

    def reset(self):
        for variable, value in self.initial_values():
            variable.assign(value)
        self.clear_carried_state()
        self.steps = 0
        network = self.network
        if self.plan.mode == "infer" and network.compute != network.dtype:
            network.narrow = {name: tf.cast(variable, network.compute) for name, variable in network.variables.items()}

    def clear_carried_state(self):
        for state in self.network.carried.values():
            for variable in state:
                variable.assign(tf.zeros_like(variable))

    def carried_state(self):
        carried = self.network.carried.items()
        return {kind: {name: tf.cast(state[place], self.network.dtype).numpy() for name, state in carried if place < len(state)}
                for place, kind in enumerate("hc")}

    def function(self, name, *state):
        """The method of that name, with `state` as its first arguments, as a function that TensorFlow traces when it is
        first called."""
        key = (name,) + state
        if key not in self.functions:
            def call(*tensors):
                method = getattr(self, name)
                if self.strategy is not None:
                    return self.strategy.run(method, args=(*state, *tensors))
                return method(*state, *tensors)
            self.functions[key] = call
            if self.option("function"):
                self.functions[key] = tf.function(call, jit_compile=self.option("xla") or None)
        return self.functions[key]

    def pass_forward(self, train, x, y):
        logits, _ = self.network.run(x, train, tf.constant(0))
        return logits, self.network.loss(logits, y)

    def gradients(self, tape, loss, weight=None):
        """Dense: of what an embedding reads TensorFlow gives the rows alone that were named."""
        network = self.network
        gradients = [tf.convert_to_tensor(gradient) for gradient in
                     tape.gradient(loss, [network.variables[name] for name in network.trained])]
        return gradients if weight is None else [gradient * weight for gradient in gradients]

    def weight_of_batch(self):
        """Of this process's gradients in the batch at hand, as the last argument of a function; none where each has as many targets."""
        return (tf.constant(self.weight, self.network.dtype),) if self.plan.shares else ()

    def pass_backward(self, train, x, y, *weight):
        with tf.GradientTape() as tape:
            _, loss = self.pass_forward(train, x, y)
        return loss, self.mean(self.gradients(tape, loss, *weight))

    def pass_step(self, x, y, rates, step, *weight):
        network = self.network
        with tf.GradientTape() as tape:
            logits, statistics = network.run(x, True, step)
            loss = network.loss(logits, y)
        gradients = self.mean(self.gradients(tape, loss, *weight))
        self.optimizer.apply(gradients, statistics, rates)
        return loss

    def pass_infer(self, x):
        return self.network.run(x, False, None)[0]

    def pass_gradient(self, x, cotangent):
        with tf.GradientTape() as tape:
            tape.watch(x)
            logits = self.pass_infer(x)
        return logits, tape.gradient(logits, x, cotangent)

    def pass_piece(self, x, at):
        return self.network.run(x, False, None, at)[0]

    @staticmethod
    def tensors(x):
        """The input of a batch; of several inputs a tuple."""
        return tuple(map(tf.constant, x)) if isinstance(x, tuple) else tf.constant(x)

    def forward(self, x, y, train):
        x, y = self.tensors(x), tf.constant(y)
        if self.plan.prompt:
            logits = tf.constant(self.infer_pieces(x))
            loss = self.network.loss(logits, y)
        else:
            logits, loss = self.function("pass_forward", train)(x, y)
        fed = zip(self.plan.inputs, x if isinstance(x, tuple) else (x,))
        return {**{name: array.numpy() for name, array in fed}, "y": y.numpy(), "logits": logits.numpy(), "loss": loss.numpy()}

    def backward(self, x, y, train):
        loss, gradients = self.function("pass_backward", train)(self.tensors(x), tf.constant(y), *self.weight_of_batch())
        return loss.numpy(), self.leave(zip(self.network.trained, (gradient.numpy() for gradient in gradients)))

    def load(self, first, last):
        """As from_tensor_slices() has them: all rows in memory, once."""
        x, y, order = self.plan.stored()
        if self.kept is None:
            self.kept = self.tensors(x), tf.constant(y)
        x, y = self.kept

        def pick(rows):
            picked = tuple(tf.gather(array, rows) for array in x) if isinstance(x, tuple) else tf.gather(x, rows)
            return picked, tf.gather(y, rows)
        threads = self.plan.loader_threads
        batches = tf.data.Dataset.from_tensor_slices(order[first:last].astype(np.int64))
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        return iter(batches.map(pick, num_parallel_calls=threads).prefetch(2 * threads).with_options(options))

    def train_step(self, x, y, lr):
        self.steps += 1
        rates = tf.constant(self.optimizer.find_rates(lr, self.steps), self.network.dtype)
        return self.function("pass_step")(self.tensors(x), tf.constant(y), rates, tf.constant(self.steps), *self.weight_of_batch())

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def input_gradient(self, x, cotangent):
        if cotangent is None:
            return self.infer_step(x), None
        logits, gradient = self.function("pass_gradient")(tf.constant(x), tf.constant(cotangent))
        return logits.numpy(), gradient.numpy()

    def save_form(self, form, path):
        network, entries = self.network, self.plan.graph["inputs"]
        if form == "h5":
            import h5py
            with h5py.File(path, "w") as file:
                for name, variable in network.variables.items():
                    file[name] = variable.numpy()
            return {"parameters_as_said": sum(variable.numpy().nbytes for variable in network.variables.values())}
        kept, kinds = tf.Module(), {"U8": tf.uint8, "I32": tf.int32, "F32": tf.float32}
        kept.all = list(network.variables.values())
        kept.trained = [network.variables[name] for name in network.trained]
        # Of so many rows, which operators make their shapes by.
        given = [tf.TensorSpec([self.plan.batch_size, *entry["shape"][1:]], kinds[entry["dtype"]], entry["name"]) for entry in entries]
        kept.serve = tf.function(lambda *x: network.run(x, False, None)[0], given, autograph=False)
        tf.saved_model.save(kept, path)
        return {"parameters_as_said": tensorflow_forms.count_bytes(path)}

    def infer_step(self, x):
        if self.served is not None:
            return self.served.serve(*map(tf.constant, x if isinstance(x, tuple) else (x,))).numpy()
        return self.function("pass_infer")(self.tensors(x)).numpy()

    def infer_piece(self, x, first):
        return self.function("pass_piece")(tf.constant(x), tf.constant(first)).numpy()

    def weights(self):
        return self.leave((name, variable.numpy()) for name, variable in self.network.variables.items())

    def optimizer_state(self):
        return {kind: self.leave((name, variables[place].numpy()) for name, variables in self.optimizer.state.items())
                for place, kind in enumerate(self.optimizer.kinds())}


if __name__ == "__main__":
    common.serve(TensorFlow2())
