"""TensorFlow 1 on the CPU: a graph made once, and a session that runs parts of it.

The network, its loss and its optimizers are in tensorflow_network.py, its operators in tensorflow_operators.py.
Variables are resource variables, as tf.compat.v1.enable_resource_variables() makes them: their reads are ordered.
"""

import common

with common.importing("TensorFlow"):
    import tensorflow.compat.v1 as tf

import tensorflow_forms
import tensorflow_network

tf.enable_resource_variables()


class TensorFlow1(tensorflow_network.TensorFlowAdapter):
    precisions = ("f32", "f64")
    forms = {"savedmodel": True}
    served = None  # of a file that came with its network, the tensors of its rows and its logits

    def build(self, plan):
        self.graph = tf.Graph()
        if plan.form:
            self.session = self.make_session()
            loaded = tf.saved_model.load(self.session, [tf.saved_model.SERVING], plan.form_path).signature_def
            serving = loaded[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
            self.served = serving.inputs["x"].name, serving.outputs["logits"].name
            return self.describe()
        with self.graph.as_default():
            self.network = tensorflow_network.Network(plan, explicit=False, dilated=False)
            self.make_inputs()
            self.passes = {False: self.make_pass(False)}
            if plan.mode == "train":
                self.passes[True] = self.make_pass(True)
                self.make_step()
        self.session = self.make_session()
        self.numbers = None  # the pixels as numbers, and what is made of them, once it is asked for
        self.reset()
        return dict(self.describe(), parameters=self.network.count_parameters())

    def make_session(self):
        return tf.Session(graph=self.graph, config=tf.ConfigProto(
            intra_op_parallelism_threads=self.plan.threads, inter_op_parallelism_threads=1))

    def describe(self):
        return {"threads": self.plan.threads, "libraries": ["Eigen in TensorFlow's own operators"], "deviations": []}

    def save_form(self, _form, path):
        with self.graph.as_default():
            tf.saved_model.simple_save(self.session, path, {"x": self.x}, {"logits": self.passes[False]["logits"]})
        return {"parameters_as_said": tensorflow_forms.count_bytes(path)}

    def make_inputs(self):
        plan, entry = self.plan, self.plan.graph["inputs"][0]
        kind = {"U8": tf.uint8, "F32": tf.float32}[entry["dtype"]]
        self.x = tf.placeholder(kind, [plan.batch_size] + entry["shape"][1:], "x")
        self.y = tf.placeholder(tf.int64, [plan.batch_size], "y")
        self.step = tf.placeholder(tf.int32, [], "step")

    def make_pass(self, train):
        """{"x", "y": what was fed, "logits", "loss", and in a plan of training "gradients", "statistics"}."""
        network = self.network
        logits, statistics = network.run(self.x, train, self.step)
        loss = network.loss(logits, self.y)
        made = {"x": tf.identity(self.x), "y": tf.identity(self.y), "logits": logits, "loss": loss}
        if self.plan.mode == "train":
            made["gradients"] = tf.gradients(loss, [network.variables[name] for name in network.trained])
            made["statistics"] = statistics
        return made

    def make_step(self):
        self.optimizer = tensorflow_network.Optimizer(self.network)
        self.rates = tf.placeholder(self.network.dtype, [self.optimizer.count_rates()], "rates")
        self.training = tf.group(*self.optimizer.apply(self.passes[True]["gradients"], self.passes[True]["statistics"],
                                                       self.rates))

    def reset(self):
        for variable, value in self.initial_values():
            variable.load(value, self.session)
        self.steps = 0

    def feed(self, x, y):
        return {self.x: x, self.y: y, self.step: self.steps}

    def forward(self, x, y, train):
        made = self.passes[train]
        return self.session.run({key: made[key] for key in ("x", "y", "logits", "loss")}, self.feed(x, y))

    def backward(self, x, y, train):
        made = self.passes[train]
        loss, gradients = self.session.run([made["loss"], made["gradients"]], self.feed(x, y))
        return loss, self.leave(zip(self.network.trained, gradients))

    def train_step(self, x, y, lr):
        self.steps += 1
        rates = self.optimizer.find_rates(lr, self.steps)
        fed = self.feed(x, y)
        fed[self.rates] = rates
        return self.session.run([self.passes[True]["loss"], self.training], fed)[0]

    def losses(self, handles):
        return [float(loss) for loss in handles]

    def make_gradient(self):
        """The network of pixels that come as numbers, which alone have a gradient."""
        with self.graph.as_default():
            self.numbers = tf.placeholder(self.network.dtype, self.x.shape, "numbers")
            self.slopes = {"logits": self.network.run(self.numbers, False, self.step)[0]}
            self.cotangent = tf.placeholder(self.network.dtype, self.slopes["logits"].shape, "cotangent")
            self.slopes["gradient"], = tf.gradients(self.slopes["logits"], self.numbers, self.cotangent)

    def input_gradient(self, x, cotangent):
        if self.numbers is None:
            self.make_gradient()
        if cotangent is None:
            return self.session.run(self.slopes["logits"], {self.numbers: x}), None
        made = self.session.run(self.slopes, {self.numbers: x, self.cotangent: cotangent})
        return made["logits"], made["gradient"]

    def infer_step(self, x):
        if self.served is not None:
            rows, logits = self.served
            return self.session.run(logits, {rows: x})
        return self.session.run(self.passes[False]["logits"], {self.x: x})

    def weights(self):
        return self.leave(self.session.run(self.network.variables).items())

    def optimizer_state(self):
        kinds, state = self.optimizer.kinds(), self.optimizer.state
        values = self.session.run(state) if kinds else {}
        return {kind: self.leave((name, slots[place]) for name, slots in values.items()) for place, kind in enumerate(kinds)}


if __name__ == "__main__":
    common.serve(TensorFlow1())
