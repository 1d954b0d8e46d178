"""Keras 3 on TensorFlow, JAX or PyTorch: a functional model of Keras' own layers (keras_network.py), trained by
train_on_batch."""

import contextlib
import importlib
import math
import os
import tempfile

import common
import keras_network
import numpy as np

# Keras reads both while it is imported: its engine, which the recipe takes from the option, and the user's own settings,
# which do not count here.
BACKEND = os.environ.get("KERAS_BACKEND") or "tensorflow"
os.environ.update(KERAS_BACKEND=BACKEND, KERAS_HOME=tempfile.mkdtemp())

with common.importing("Keras on " + BACKEND):
    import keras

POLICIES = {"f32": "float32", "f64": "float64", "bf16": "mixed_bfloat16"}


# What each engine does in its own words: how it is told the number of threads, gradients for the proof, and that they are
# whole.


class TensorFlow:
    title, module = "TensorFlow", "tensorflow"

    def start(self, threads, _precision):
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    def gradients(self, model, objective):
        import tensorflow as tf
        with tf.GradientTape() as tape:
            loss = objective()
        return loss, self.dense(tape.gradient(loss, [variable.value for variable in model.trainable_variables]))

    def input_gradient(self, model):
        import tensorflow as tf

        @tf.function
        def differentiate(x, cotangent):
            with tf.GradientTape() as tape:
                tape.watch(x)
                logits = model(x, training=False)
            return logits, tape.gradient(logits, x, cotangent)

        return differentiate

    def dense(self, gradients):
        """Of what an embedding reads TensorFlow gives the rows alone that were named, some of them twice. None is there before
        all are: else where a loss has a constant gradient ("nll") TensorFlow 2.21's graph optimizer lets, in one trace of
        fourteen, a weight move before the gradients of the layers below have read it."""
        import tensorflow as tf
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        with tf.control_dependencies(gradients):
            return [tf.identity(gradient) for gradient in gradients]


class JAX:
    title, module = "JAX", "jax"

    def start(self, threads, precision):
        os.environ["PJRT_NPROC"] = str(threads)  # what XLA makes its pool of threads by, in the first computation
        import jax
        jax.config.update("jax_enable_x64", precision == "f64")
        jax.config.update("jax_default_matmul_precision", "highest")

    def gradients(self, model, objective):
        import jax

        def stateless(values):
            with keras.StatelessScope(state_mapping=list(zip(model.trainable_variables, values))):
                return objective()

        return jax.value_and_grad(stateless)([variable.value for variable in model.trainable_variables])

    def input_gradient(self, model):
        import jax

        @jax.jit
        def differentiate(trained, others, x, cotangent):
            logits, back = jax.vjp(lambda x: model.stateless_call(trained, others, x, training=False)[0], x)
            return logits, back(cotangent)[0]

        def of_weights(x, cotangent):
            lists = model.trainable_variables, model.non_trainable_variables
            return differentiate(*([variable.value for variable in variables] for variables in lists), x, cotangent)

        return of_weights

    def dense(self, gradients):
        return gradients


class Torch:
    title, module = "PyTorch", "torch"

    def start(self, threads, _precision):
        import torch
        torch.set_num_threads(threads)
        if torch.get_num_interop_threads() != 1:  # may be set once in a process
            torch.set_num_interop_threads(1)

    def gradients(self, model, objective):
        model.zero_grad()
        loss = objective()
        loss.backward()
        gradients = [variable.value.grad.clone() for variable in model.trainable_variables]
        model.zero_grad()
        return loss, gradients

    def input_gradient(self, model):
        import torch

        def differentiate(x, cotangent):
            x.requires_grad_(True)
            logits = model(x, training=False)
            return logits.detach(), torch.autograd.grad(logits, x, cotangent)[0]

        return differentiate

    def dense(self, gradients):
        return gradients


ENGINE = {"tensorflow": TensorFlow, "jax": JAX, "torch": Torch}[BACKEND]()


def make_optimizer(settings, factors):
    """The plan's optimizer in keras.ops. Keras' own have the learning rate inside the momentum, decay apart from the
    gradient, another epsilon, and no factors on rate and decay. factors: of each trained variable its lr_mult, decay_mult."""
    ops, name = keras.ops, settings["name"]
    slots_each = 2 if name != "sgd" else int(settings["momentum"] > 0)

    class Rule(keras.optimizers.Optimizer):
        def build(self, variables):
            if not self.built:
                super().build(variables)
                self.slots = [[self.add_variable_from_reference(variable, name="slot%d" % i) for i in range(slots_each)]
                              for variable in variables]

        def apply(self, grads, trainable_variables=None):
            super().apply(ENGINE.dense(grads), trainable_variables)

        def update_step(self, gradient, variable, learning_rate):
            index = self._get_variable_index(variable)
            lr_mult, decay_mult = factors[index]
            rate, decay = ops.cast(learning_rate, variable.dtype) * lr_mult, settings["weight_decay"] * decay_mult
            if decay != 0 and name == "adamw":
                self.assign_sub(variable, rate * decay * variable)
            elif decay != 0:
                gradient = gradient + decay * variable
            update = {"sgd": self.sgd, "rmsprop": self.rmsprop}.get(name, self.adam)
            self.assign_sub(variable, rate * update(gradient, self.slots[index], settings))

        def moved(self, slot, value):
            self.assign(slot, value)
            return value

        def sgd(self, g, slots, s):
            if not slots:
                return g
            v = self.moved(slots[0], s["momentum"] * slots[0] + g)
            return g + s["momentum"] * v if s["nesterov"] else v

        def rmsprop(self, g, slots, s):
            v = self.moved(slots[0], s["alpha"] * slots[0] + (1 - s["alpha"]) * g * g)
            return self.moved(slots[1], s["momentum"] * slots[1] + g / (ops.sqrt(v) + s["epsilon"]))

        def adam(self, g, slots, s):
            t, hats = ops.cast(self.iterations + 1, g.dtype), []
            for slot, beta, power in zip(slots, (s["beta1"], s["beta2"]), (g, g * g)):
                v = self.moved(slot, beta * slot + (1 - beta) * power)
                # 1 - beta^t without cancellation.
                hats.append(v / -ops.expm1(t * (math.log(beta) if beta > 0 else -math.inf)))
            return hats[0] / (ops.sqrt(hats[1]) + s["epsilon"])

    return Rule(learning_rate=0.0, global_clipnorm=settings["clip_norm"], name="rule")


class Keras(common.Adapter):
    name = "keras"
    framework = "Keras"
    version = keras.__version__
    precisions = ("f32", "f64", "bf16")
    modes = ("train", "infer")
    ops = (*keras_network.LAYERS, *keras_network.CALLS)
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ("sgd", "adam", "adamw", "rmsprop")
    extras = ("clip_norm", "label_smoothing", "connections", "tokens", "targets", "shared", "broadcast", "operands",
              "positions", "carried", "prompt")
    options = {"backend": BACKEND, "jit": "auto"}
    forms = {"keras": True, "h5": True, "export": True}
    served = None  # the network of a file that export() wrote

    def build(self, plan):
        self.start_engine()
        if plan.form:
            return self.load()
        network = keras_network.Network(keras, plan)
        self.model, self.owned, self.carried = network.model, network.owned, network.carried
        self.token_model, self.place = network.token_model, network.place
        self.network, self.numbers = network, None
        self.first = list(map(np.array, self.model.non_trainable_variables))  # the seeds of dropout are among them
        self.lr = None
        jit, own = self.option("jit"), {id(variable): name for name, (variable, *_) in self.owned.items()}
        self.names = [own[id(variable)] for variable in self.model.trainable_variables]
        if plan.mode == "train":
            entries = {entry["name"]: entry for entry in plan.params}
            factors = [[plan.multiplier(entries[name], key) for key in ("lr_mult", "decay_mult")]
                       for name in self.names]
            self.optimizer = make_optimizer(plan.optimizer, factors)
            self.model.compile(self.optimizer, self.losses_of, jit_compile={"on": True, "off": False}.get(jit, jit))
            self.optimizer.build(self.model.trainable_variables)
        self.reset()
        return self.describe(self.model.trainable_variables)

    def load(self):
        """The network of the plan's file."""
        if self.plan.form != "export":
            self.model = keras.models.load_model(self.plan.form_path, compile=False)
            return self.describe(self.model.trainable_variables)
        import tensorflow as tf
        self.served = tf.saved_model.load(self.plan.form_path)
        return self.describe(self.served.trainable_variables)

    def save_form(self, form, path):
        if form == "export":
            if BACKEND == "torch":
                raise common.Unsupported("export: Keras writes a SavedModel from TensorFlow and JAX")
            self.model.export(path, verbose=False)
            import tensorflow_forms
            return {"parameters_as_said": tensorflow_forms.count_bytes(path)}
        for operation in self.model.operations:
            own, layer = type(operation).__module__ != keras_network.__name__, isinstance(operation, keras.Layer)
            if not own or form == "h5" and not layer:
                raise common.Unsupported("form %s: Keras loads %s again, and %s is none"
                                         % (form, "layers alone" if own else "layers of its own alone", type(operation).__name__))
        path += "." + form  # an ending tells Keras the form
        self.model.save(path)
        arrays = [keras.ops.convert_to_numpy(weight) for weight in self.model.weights]
        return {"path": path, "parameters_as_said": sum(array.nbytes for array in arrays if array.dtype.kind == "f")}

    def describe(self, trained):
        jit = self.option("jit")
        return {
            "parameters": sum(math.prod(variable.shape) for variable in trained) - self.plan.untrained(),
            "threads": self.plan.threads,
            "libraries": ["%s %s" % (ENGINE.title, importlib.import_module(ENGINE.module).__version__)],
            "deviations": [] if jit == "auto" else ["jit_compile=%s" % (jit == "on")],
        }

    def start_engine(self):
        """Keras' settings and its engine's, before either computes anything."""
        if self.option("backend") != BACKEND:
            raise common.BuildFailed("option backend is %s, but KERAS_BACKEND is %s: let the option alone say it"
                                     % (self.option("backend"), BACKEND))
        ENGINE.start(self.plan.threads, self.plan.precision)
        keras.config.set_floatx("float64" if self.plan.precision == "f64" else "float32")
        if self.plan.precision == "f64":
            # On JAX and PyTorch means and normalisations of float64 would be computed in float32 by this table.
            importlib.import_module("keras.src.backend.common.dtypes").BIT64_TO_BIT32_DTYPE["float64"] = "float64"
        keras.config.set_dtype_policy(POLICIES[self.plan.precision])
        keras.config.set_image_data_format("channels_last")

    def reset(self):
        for name, (variable, to_own, _) in self.owned.items():
            variable.assign(to_own(np.asarray(self.plan.weights[name])))
        owned = {id(variable) for variable, *_ in self.owned.values()}
        for variable, value in zip(self.model.non_trainable_variables, self.first):
            if id(variable) not in owned:
                variable.assign(value)
        if self.plan.mode == "train":
            for variable in self.optimizer.variables:
                variable.assign(np.zeros(variable.shape))
            self.lr = None

    def clear_carried_state(self):
        for layer in self.carried.values():
            for state in layer.states:
                state.assign(np.zeros(state.shape))

    def carried_state(self):
        carried = self.carried.items()
        return {kind: {name: keras.ops.convert_to_numpy(layer.states[place]) for name, layer in carried if place < len(layer.states)}
                for place, kind in enumerate("hc")}

    def losses_of(self, y, logits):
        """The loss of each target: of a row, or of each of its positions; of a vector, of each of its numbers."""
        ops, kind, classes = keras.ops, self.plan.loss, logits.shape[-1]
        smoothing = self.plan.label_smoothing
        if self.plan.target == "vector":
            return ops.square(logits - ops.cast(y, logits.dtype))
        y = ops.cast(ops.reshape(y, (-1, *logits.shape[1:-1])), "int32")
        if kind == "softmax_cross_entropy" and not smoothing and self.plan.graph["nodes"][-1]["op"] != "Softmax":
            return keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        wanted = ops.one_hot(y, classes, dtype=logits.dtype)
        if kind == "mean_squared_error":
            return ops.mean(ops.square(logits - wanted), axis=-1)
        if kind == "softmax_cross_entropy":
            wanted, logits = wanted * (1 - smoothing) + smoothing / classes, ops.log_softmax(logits)
        return -ops.sum(wanted * logits, axis=-1)

    @contextlib.contextmanager
    def unchanged(self):
        """Afterwards statistics and the seeds of dropout are as before."""
        kept = list(map(np.array, self.model.non_trainable_variables))
        try:
            yield
        finally:
            for variable, value in zip(self.model.non_trainable_variables, kept):
                variable.assign(value)

    def objective(self, x, y, train):
        if self.plan.prompt:
            logits = keras.ops.convert_to_tensor(self.infer_pieces(x))
        else:
            logits = self.model(x, training=train)
        return logits, keras.ops.mean(self.losses_of(y, logits))

    def forward(self, x, y, train):
        convert, numpy = keras.ops.convert_to_tensor, keras.ops.convert_to_numpy
        x, y, kind = convert(x), convert(y), np.float32 if self.plan.target == "vector" else np.int64
        with self.unchanged():
            logits, loss = map(numpy, self.objective(x, y, train))
        return {"x": numpy(x), "y": numpy(y).astype(kind), "logits": logits, "loss": loss}

    def backward(self, x, y, train):
        numpy = keras.ops.convert_to_numpy
        with self.unchanged():
            loss, gradients = ENGINE.gradients(self.model, lambda: self.objective(x, y, train)[1])
        converted = {name: self.owned[name][2](numpy(gradient)) for name, gradient in zip(self.names, gradients)}
        return numpy(loss), converted

    def train_step(self, x, y, lr):
        if lr != self.lr:
            self.optimizer.learning_rate = self.lr = lr
        return self.model.train_on_batch(x, y)

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def input_gradient(self, x, cotangent):
        if self.numbers is None:
            self.numbers = self.network.make_of_numbers()
            self.differentiate = ENGINE.input_gradient(self.numbers)
        if cotangent is None:
            return self.numbers.predict_on_batch(x), None
        return map(keras.ops.convert_to_numpy, self.differentiate(*map(keras.ops.convert_to_tensor, (x, cotangent))))

    def infer_step(self, x):
        if self.served is not None:
            return self.served.serve(x).numpy()
        return self.model.predict_on_batch(x)

    def infer_piece(self, x, first):
        self.place.at.assign(first)
        return (self.token_model if first else self.model).predict_on_batch(x)

    def weights(self):
        return {name: to_graph(keras.ops.convert_to_numpy(variable))
                for name, (variable, _, to_graph) in self.owned.items()}

    def optimizer_state(self):
        kinds = {"sgd": ("velocity",), "rmsprop": ("exp_avg_sq", "velocity")}.get(
            self.plan.optimizer["name"], ("exp_avg", "exp_avg_sq"))
        found = {kind: {} for kind in kinds}
        for name, slots in zip(self.names, self.optimizer.slots):
            for kind, slot in zip(kinds, slots):
                found[kind][name] = self.owned[name][2](keras.ops.convert_to_numpy(slot))
        return found

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or any(
            words in str(error) for words in ("RESOURCE_EXHAUSTED", "Out of memory", "OOM when", "allocate memory"))


if __name__ == "__main__":
    common.serve(Keras())
