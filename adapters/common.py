"""What the Python adapters share: the message loop, the plan and its files, the timing of blocks and requests.

An adapter is a subclass of Adapter and a call of serve(). docs/adapters.md says how to write one, docs/protocol.md what
the messages mean. Needs Python 3.7 or later and NumPy.
"""

import contextlib
import importlib.machinery
import os
import platform
import sys
import time
import traceback

_HERE = os.path.dirname(os.path.abspath(__file__))
# Programs of this folder that are modules of others too, and no package is called so.
_SHARED = ("common", "converted", "pytorch")


class _Siblings(importlib.machinery.PathFinder):
    """Finds what adapters share and nothing else of this folder: adapters are called like their frameworks, and `import jax`
    means the framework wherever it stands, or that it is not there."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if path is None and (fullname in _SHARED or "_" in fullname):
            return super().find_spec(fullname, [_HERE], target)
        return None


sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
sys.meta_path.insert(0, _Siblings)

from common_channel import AdapterError, BuildFailed, Channel, LoadFailed, ProtocolError, Unsupported
from common_protocol import BLOCK_LIMIT, LATENCIES_LIMIT, QUESTIONS, VERSION as PROTOCOL

REPORT_NS = 250000000  # a report of requests is due after this time, so that a slow network is no silence


@contextlib.contextmanager
def importing(what):
    """Put around the import of a framework: if that fails, yardstick is told so in answer to its first message."""
    try:
        yield
    except Exception as error:  # a broken installation fails in many ways, not by ImportError alone
        traceback.print_exc()
        channel = Channel()
        message = channel.receive()
        if message is not None:
            text = "cannot import %s: %s: %s" % (what, type(error).__name__, error)
            channel.send_error(LoadFailed.code, message["type"], text)
        sys.exit(1)


with importing("NumPy"):
    import numpy as np

# These need NumPy.
import common_graph
from common_plan import Plan, Ring
from common_tensors import read_safetensors, write_safetensors


class Adapter:
    """What a framework has to be able to do. Arrays are NumPy's; floats come back in the run's precision (bfloat16
    widened to float32); names, shapes and layouts of parameters are those of the graph (OIHW, (out, in))."""

    name = ""           # "pytorch"
    framework = ""      # "PyTorch"
    version = ""
    devices = ("cpu",)
    precisions = ("f32",)
    modes = ("train",)  # "infer" too where infer_step() is there; input_gradient() makes it have "attack"
    ops = ()            # of the graph, as the graph spells them
    losses_known = ("softmax_cross_entropy",)
    optimizers = ("sgd",)
    # Of "clip_norm", "label_smoothing", "connections" (of a convolution), "inputs" (several, or
    # one that is not called "x"), "tokens" (int32 inputs),
    # "targets" (other than a class a row), "shared" (parameters that several nodes read), "broadcast" (in Add, Sub, Mul, Div),
    # "operands" (parameters there), "positions" (Gemm along the last of more than two axes), "hidden" (positions whose target is -1, which has no
    # loss), "carried" (of LSTM and GRU each row goes on from the state of the batch before: carried_state() and clear_carried_state()),
    # "prompt" (rows are answered piece by piece: infer_piece()).
    extras = ()
    options = {}        # name -> value without it
    # What save_form() writes and build() reads, its own form first: form -> whether a file of it holds the network; without
    # that it is the weights alone. "safetensors" needs nothing of either.
    forms = {}
    # Where it trains as one of several processes, whose rows batch normalisation can be by: "local", each rank's own, or
    # "sync", those of all. Empty: it is one process alone.
    statistics = ()
    # "sharded" where the processes can divide the network too; "alone" where they can also exchange nothing (Plan.exchanges).
    strategies = ("data",)
    # How they exchange gradients, a word of docs/protocol.md that yardstick holds the bytes of the wire against; "" says nothing.
    exchanges_by = ""
    weighs = False      # whether their mean is by the targets that the rows of each rank do not hide, `weight` or likewise
    buckets = False     # whether gradients of several processes are exchanged in buckets of the size that the plan asks for
    quantised = False   # whether build() takes a network in integers, as the plan's ONNX file has it with Plan.scales
    loader = ""         # the framework's own of batches, where load() is there: "torch.utils.data.DataLoader"

    plan = None
    weight = 1.0        # of this rank's gradients in the mean of the batch at hand (Plan.weight())
    # Of several processes a list where train_step() can tell, of each step, four times of time.monotonic_ns(): its forward
    # pass began, its own gradients were there, they were those of all, and the weights had changed; or the middle two alone.
    exchanged = None
    untimed = ""        # why it cannot, once build() is done: "a step is one compiled program"

    def build(self, plan):
        """Makes network and optimizer, with the plan's initial weights; in mode "infer" the network alone, for
        evaluation, and where the plan has a `form` that of the file at `form_path`. Returns {"parameters": trainable elements as the framework counts them, without Plan.untrained(),
        "threads": as it says, "libraries": [text], "deviations": [text]}."""
        raise NotImplementedError

    def reset(self):
        """Weights, buffers and optimizer as after build()."""
        raise NotImplementedError

    def forward(self, x, y, train):
        """{"x", "y": as the framework holds them before normalisation, "logits", "loss"}; changes no state, running
        statistics included. Where the framework can count, also "multiply_adds": an int, for one row."""
        raise NotImplementedError

    def backward(self, x, y, train):
        """(loss, {parameter of role weight: gradient, without decay}); changes no state."""
        raise NotImplementedError

    def train_step(self, x, y, lr):
        """One step. Returns a handle of its loss without waiting for it."""
        raise NotImplementedError

    def run_backward(self, loss):
        """For train_step() and backward() of who `weighs` by the loss: the mean that ranks take of their gradients gives each the same
        weight; that of its targets is put on its loss."""
        (loss if self.weight == 1 else loss * self.weight).backward()

    def load(self, first, last):
        """Iterates over x and y of the batches of steps `first` to `last` - 1, by the framework's own loader of batches with
        the rows and the order of the plan: what train_step() takes."""
        raise NotImplementedError

    def losses(self, handles):
        """The floats behind the handles; returns when all work is done."""
        raise NotImplementedError

    def input_gradient(self, x, cotangent):
        """The logits of one batch, evaluated, and the gradient of sum(cotangent * logits) by x, None where there is no
        cotangent. Of networks with one input of numbers, which come in the run's precision. In a plan of mode "attack"
        nothing else is asked, of the network as build() leaves it: what only training needs may be left out there. An
        adapter that does not define this has no such feature."""
        raise NotImplementedError

    def infer_step(self, x):
        """The logits of one batch, evaluated, as an array that can be read. Everything it does is timed."""
        raise NotImplementedError

    def infer_piece(self, x, first):
        """Where the plan has a prompt, in place of infer_step(): the logits of some positions of the rows of a batch, `first`
        the first of them, by the keys and values that are kept of those before it; 0 begins with none. forward() then gives
        the logits of all pieces as well."""
        raise NotImplementedError

    def infer_pieces(self, x):
        """Those of all pieces of a batch."""
        return np.concatenate([self.infer_piece(x[:, first:end], first) for first, end in self.plan.pieces()], 1)

    def weights(self):
        """{name: array} of every parameter and buffer."""
        raise NotImplementedError

    def save_form(self, form, path):
        """Writes the network of a plan of mode "infer" in one of `forms`, a file or folder at this path, where nothing is. None, or
        what is to be said of it: {"path": where else it lies, if the form wants a name of its own, and "parameters_as_said": the
        bytes of its parameters by the framework's own list, where it keeps them in another layout than the graph's}."""
        raise NotImplementedError

    def optimizer_state(self):
        """What the optimizer keeps of each trained parameter, as the plan's formulas mean it: {"velocity": {name: array},
        "exp_avg": ..., "exp_avg_sq": ...}, as far as its rule has them (docs/protocol.md, `save`). Only where the
        framework gives it out: an adapter that does not define this has no such feature."""
        raise NotImplementedError

    def carried_state(self):
        """Where the plan carries state, that with which the next batch begins: {"h": {node: (rows, hidden)}, "c": ...}.
        forward() and backward() begin with it and leave it; train_step() ends with that of its own batch, detached."""
        raise NotImplementedError

    def clear_carried_state(self):
        """The next batch begins with zeros."""
        raise NotImplementedError

    def close(self):
        """Called at the end, of several processes by all of them at about the same time."""

    def is_out_of_memory(self, error):
        """Whether an exception says that memory ran out."""
        return isinstance(error, MemoryError)

    def option(self, name):
        """The value of an option in this run."""
        return self.plan.options.get(name, self.options[name])


class InferenceAdapter(Adapter):
    """Of what reads the plan's ONNX file and answers requests, and cannot train. build(), infer_step() and weights() are
    the framework's; the loss, which none of them has, is NumPy's."""

    modes = ("infer",)
    ops = ("normalize", "Conv", "Gemm", "BatchNormalization", "LayerNormalization", "LRN", "MaxPool", "AveragePool",
           "GlobalAveragePool", "GlobalMaxPool", "Relu", "LeakyRelu", "Clip", "Tanh", "Sigmoid", "Softmax", "LogSoftmax", "Dropout", "Add", "Mul",
           "Concat", "Split", "Flatten", "Reshape", "Transpose", "ReduceMean", "HardSwish",
           "HardSigmoid", "Swish", "Gelu", "Exp", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Mish", "Sqrt", "Pow", "Sub", "Div", "Pad", "ConvTranspose", "MatMul")  # the file has them all
    losses_known = ("softmax_cross_entropy", "nll", "mean_squared_error")
    optimizers = ()
    extras = ("label_smoothing", "connections", "broadcast", "operands")

    def model_file(self):
        """The path of the ONNX file."""
        if self.plan.onnx is None:
            raise Unsupported("there is no ONNX file of this network: yardstick has said why")
        return self.plan.onnx

    def reset(self):
        """A network that does not learn is as it was."""

    def forward(self, x, y, train):
        logits = np.array(self.infer_step(x))
        return {"x": x, "y": y, "logits": logits, "loss": loss_of(self.plan, logits, y)}

    def parameters(self, weights):
        """The trainable elements among the arrays that the framework has, by their names in the graph."""
        sizes = [weights[param["name"]].size for param in self.plan.params if param["role"] == "weight"]
        return sum(sizes) - self.plan.untrained()


def made_file(plan):
    """The path of the file that a converter or a quantiser made of the network; raises what it failed with."""
    made = plan.converted
    if made is None:
        raise Unsupported("there is no converted file of this network: the recipe names a converter, and the plan none")
    if made.get("path") is None:
        raise (Unsupported if made.get("code") == Unsupported.code else BuildFailed)("%s: %s" % (made["by"], made["message"]))
    return made["path"]


def scale_text(name, scales, zero_points=0):
    """What an adapter tells of one tensor that its framework's own quantiser gave scales."""
    scales, zeros = np.ravel(scales), np.unique(zero_points)
    said = "scale %.6g" % scales[0] if scales.size == 1 else "%d scales, %.6g to %.6g" % (scales.size, scales.min(), scales.max())
    said += ", zero point %d" % zeros[0] if zeros.size == 1 else ", zero points %d to %d" % (zeros[0], zeros[-1])
    return "%s: %s" % (name, said)


def loss_of(plan, logits, y):
    """The plan's loss of a batch, as docs/graph.md defines it; of the type of the logits."""
    z, rows, smoothing = logits.astype(np.float64), np.arange(len(y)), plan.label_smoothing
    target = np.zeros_like(z)
    target[rows, y] = 1
    if plan.loss == "nll":
        loss = -z[rows, y]
    elif plan.loss == "mean_squared_error":
        loss = ((z - target) ** 2).mean(axis=1)
    else:
        target = (1 - smoothing) * target + smoothing / z.shape[1]
        top = z.max(axis=1)
        loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - (target * z).sum(axis=1)
    return loss.mean().astype(logits.dtype)


# What extras are, where their name alone does not say it.
EXTRAS = {
    "inputs": "networks whose input is another than the one called x",
    "tokens": "int32 inputs",
    "targets": "targets other than a class for each row",
    "shared": "parameters that several nodes share",
    "broadcast": "Add, Sub, Mul and Div of values of different shapes",
    "operands": "Add, Sub, Mul and Div of a value and a parameter",
    "positions": "Gemm of values of more than two dimensions",
    "hidden": "targets that are hidden (-1)",
    "carried": "state that is carried from batch to batch: carry_state = off",
    "prompt": "prompt that is answered before the tokens behind it: prompt = none",
}


def _has_input_gradient(adapter):
    return type(adapter).input_gradient is not Adapter.input_gradient


def _check_supported(adapter, plan):
    """Raises Unsupported for the first thing in the plan that the adapter does not list."""
    for node in plan.graph["nodes"]:
        if node["op"] not in adapter.ops:
            raise Unsupported("this adapter has no operator %s (node %s)" % (node["op"], node["name"]), node["op"])
    asked = {
        "clip_norm": plan.mode == "train" and plan.optimizer.get("clip_norm") is not None,
        "label_smoothing": plan.label_smoothing != 0,
        "targets": plan.target != "class",
        **common_graph.extras(plan.graph),
        "hidden": plan.hides_targets,
        "carried": plan.carries_state,
        "prompt": plan.prompt is not None,
    }
    for what, wanted in asked.items():
        if wanted and what not in adapter.extras:
            raise Unsupported("this adapter has no %s" % EXTRAS.get(what, what))
    if plan.shares and not adapter.weighs:
        raise Unsupported("rows that hide different numbers of targets in %d processes: this adapter takes their mean as if each "
                          "had as many, write ranks = 1" % plan.world)
    for what, value, known in (
        ("mode", plan.mode, (*adapter.modes, *["attack"] * _has_input_gradient(adapter))),
        *[("form", plan.form, tuple(adapter.forms))] * (plan.form is not None),
        ("precision", plan.precision, adapter.precisions),
        ("device", plan.device, adapter.devices),
        ("loss", plan.loss, adapter.losses_known),
        ("number of processes", plan.world, (plan.world if adapter.statistics and plan.mode == "train" else 1,)),
        *[("statistics of batch normalisation in several processes:", plan.statistics, adapter.statistics)]
        * (plan.world > 1 and any(node["op"] == "BatchNormalization" for node in plan.graph["nodes"])),
        *[("strategy", plan.strategy, adapter.strategies)] * (plan.world > 1),
        *[("optimizer", plan.optimizer.get("name"), adapter.optimizers)] * (plan.mode == "train"),
    ):
        if value not in known:
            raise Unsupported("%s %s: this adapter has %s" % (what, value, ", ".join(map(str, known))))
    if plan.bucket_bytes is not None and not adapter.buckets:
        raise Unsupported("bucket = %d bytes: this adapter's framework exchanges gradients in its own way, write bucket = auto"
                          % plan.bucket_bytes)
    if plan.scales is not None and not adapter.quantised:
        raise Unsupported("a network in integers: this adapter does not read an ONNX file, which has the common scales")
    if plan.quantise is not None and plan.converted is None:
        raise Unsupported("a network in integers: there is none that this adapter's framework has quantised by itself")
    if plan.by_own_loader and not adapter.loader:
        raise Unsupported("input = own: this adapter gives no batches by a loader of its framework's own")
    if plan.asked_mode == "size" and not adapter.forms:
        raise Unsupported("mode size: this adapter saves its networks in no form of its framework's own")
    for name in plan.options:
        if name not in adapter.options:
            raise Unsupported("this adapter has no option %s" % name)


def _spell(loss):
    """A loss as JSON can hold it."""
    if loss != loss:
        return "nan"
    if loss in (float("inf"), float("-inf")):
        return "inf" if loss > 0 else "-inf"
    return loss


def _place(adapter):
    """Where what is being handled came up, as the end of a message: the last line of the adapter's own, or, where none of
    those was being run, the very last."""
    frames = [(frame[0], frame[1]) for frame in traceback.extract_tb(sys.exc_info()[2])]
    own = getattr(sys.modules.get(type(adapter).__module__), "__file__", None)
    name, line = ([frame for frame in frames if frame[0] == own] or frames)[-1]
    return " (%s, line %d)" % (os.path.basename(name), line)


def _size(path):
    """Bytes of a file, or of all files of a folder."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def _list_files():
    """Those that Python has its modules from."""
    named = (vars(module).get("__file__") for module in list(sys.modules.values()) if hasattr(module, "__dict__"))
    return sorted({os.path.abspath(path) for path in named if isinstance(path, str) and os.path.isfile(path)})


class _Server:
    """Answers one message after the other. `step` and `train` share one counter of steps."""

    def __init__(self, adapter, channel):
        self.adapter = adapter
        self.channel = channel
        self.plan = None
        self.next = 0  # the step that comes next; None after a failure in the middle of training
        self.loaded = None  # what the framework's own loader gives, while there is training by it

    def answer(self, message):
        kind = message["type"]
        try:
            self._check_place(kind)
            reply = getattr(self, "on_" + kind)(message)
            if self.plan is not None:
                self.plan.release()
        except AdapterError as error:
            self.channel.send_error(error.code, kind, str(error), error.op)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            traceback.print_exc()
            code = BuildFailed.code if kind == "open" else AdapterError.code
            if self.adapter.is_out_of_memory(error):
                code = "oom_host"
            self.channel.send_error(code, kind, "%s: %s%s" % (type(error).__name__, error, _place(self.adapter)))
        else:
            self.channel.send(reply)

    def _can(self, kind):
        """Whether the adapter has what a question asks for."""
        if kind == "input_gradient" and not _has_input_gradient(self.adapter):
            return False
        return kind in QUESTIONS and hasattr(self, "on_" + kind) and QUESTIONS[kind][1] in (None, *self.adapter.modes)

    def _check_place(self, kind):
        """Whether a message may come now."""
        if not self._can(kind):
            raise Unsupported('this adapter cannot answer the message "%s"' % kind)
        needs_plan, mode = QUESTIONS[kind]
        if needs_plan and self.plan is None:
            raise ProtocolError('no plan is open; send "open" before "%s"' % kind)
        if mode is not None:
            self._need_mode(mode, kind)

    def on_hello(self, message):
        if message.get("protocol") != PROTOCOL:
            raise Unsupported("protocol %s is unknown; this adapter speaks protocol %d"
                              % (message.get("protocol"), PROTOCOL))
        adapter = self.adapter
        runtime = "%s %s" % (platform.python_implementation(), platform.python_version())
        features = [kind for kind, (needs_plan, _) in QUESTIONS.items() if needs_plan and kind != "reset" and self._can(kind)]
        features += ["answers"] * ("infer" in adapter.modes)
        features += ["dist"] * bool(adapter.statistics)
        features += ["state"] * (type(adapter).optimizer_state is not Adapter.optimizer_state)
        return {
            "type": "hello", "protocol": PROTOCOL, "adapter": adapter.name, "framework": adapter.framework,
            "version": adapter.version, "runtime": runtime,
            "devices": list(adapter.devices), "precisions": list(adapter.precisions), "ops": list(adapter.ops),
            "optimizers": list(adapter.optimizers), "features": features, "forms": list(adapter.forms) if "infer" in adapter.modes else [],
            "no_work": False,
        }

    def on_open(self, message):
        if self.plan is not None:
            raise ProtocolError("a plan is already open; one adapter process runs one plan")
        if not isinstance(message.get("plan"), dict):
            raise ProtocolError('member "plan" must be an object')
        plan = Plan(message["plan"])
        _check_supported(self.adapter, plan)
        self.adapter.plan = plan
        reply = self.adapter.build(plan)
        if plan.world > 1 and not plan.exchanges:
            reply["deviations"] = [*reply["deviations"], "gradients are not exchanged"]
        untimed = self.adapter.untimed if plan.exchanges else "its ranks exchange nothing"
        if plan.world > 1 and self.adapter.exchanged is None and untimed:
            reply["untimed"] = untimed
        if plan.world > 1 and plan.exchanges and self.adapter.exchanges_by:
            reply["exchange"] = self.adapter.exchanges_by
        if plan.by_own_loader:
            reply["deviations"] = [*reply["deviations"], "batches by %s, %d beside the loop"
                                   % (self.adapter.loader, plan.loader_threads)]
        if plan.form is not None:
            reply.update(graph_from_file=self.adapter.forms[plan.form], files=_list_files())
        self.plan = plan
        return dict(reply, type="opened")

    def on_reset(self, _message):
        self.adapter.reset()
        self.next = 0
        return {"type": "done"}

    def on_forward(self, message):
        x, y, train, path = self._pass(message)
        tensors = self._forward_loaded(x, y) if self.adapter.forms.get(self.plan.form) else self.adapter.forward(x, y, train)
        reply = {"type": "tensors", "path": path}
        if "multiply_adds" in tensors:
            reply["multiply_adds"] = tensors.pop("multiply_adds")
        write_safetensors(path, tensors)
        return reply

    def _forward_loaded(self, x, y):
        """Of a network that came with its file and does nothing but answer."""
        logits = np.array(self.adapter.infer_step(x))
        tensors = dict(zip(self.plan.inputs, x if isinstance(x, tuple) else (x,)), y=y, logits=logits)
        return dict(tensors, loss=loss_of(self.plan, logits, y)) if self.plan.target == "class" else tensors

    def on_backward(self, message):
        x, y, train, path = self._pass(message)
        self.adapter.weight = self.plan.weight(message["batch"])
        loss, gradients = self.adapter.backward(x, y, train)
        tensors = {"grad." + name: value for name, value in gradients.items()}
        write_safetensors(path, dict(tensors, loss=loss))
        return {"type": "tensors", "path": path}

    def on_step(self, message):
        first = self._counter()
        count = self._integer(message, "n", 0, self.plan.steps - first)
        if count > 0:
            self._need_mode("train", message["type"])
        self.next = None
        if count > 0:
            self._begin_loading(first, first + count)
            self._run_steps(first, first + count)
            self.loaded = None
        path = self._path("step-%d" % (first + count))
        write_safetensors(path, self.adapter.weights())
        self.next = first + count
        return {"type": "tensors", "path": path}

    def on_train(self, message):
        first = self._counter()
        begin = self._integer(message, "from", 0, self.plan.steps)
        end = self._integer(message, "to", begin, self.plan.steps)
        block = self._integer(message, "block", 1, BLOCK_LIMIT)
        if begin != first:
            raise ProtocolError("training cannot start at step %d: the next step is %d" % (begin, first))
        if first < end:
            self._begin_loading(first, end)
        while first < end:
            self.next = None
            last = min(first + block, end)
            self.channel.send(self._train_block(first, last))
            self.next = first = last
        self.loaded = None
        return {"type": "done"}

    def _begin_loading(self, first, last):
        self.loaded = iter(self.adapter.load(first, last)) if self.plan.by_own_loader else None

    def _train_block(self, first, last):
        """Steps first to last - 1. The framework may run ahead of this loop until losses() waits for it."""
        exchanged = self.adapter.exchanged
        if exchanged:
            exchanged.clear()
        start = time.monotonic_ns()
        losses, input_ns = self._run_steps(first, last)
        end = time.monotonic_ns()
        told = {"type": "block", "first": first, "count": last - first, "t_start_ns": start, "t_end_ns": end,
                "input_ns": input_ns, "loss": [_spell(loss) for loss in losses]}
        if exchanged:
            names = ("began_ns", "ready_ns", "reduced_ns", "updated_ns")
            told.update((name, [time_ns - start for time_ns in times])
                        for name, times in zip(names if len(exchanged[0]) == 4 else names[1:3], zip(*exchanged)))
        return told

    def _run_steps(self, first, last):
        """Their losses, and how long batches were waited for. Batches of a ring are held until their steps are done."""
        adapter, plan, now = self.adapter, self.plan, time.monotonic_ns
        handles, losses, input_ns = [], [], 0
        for step in range(first, last):
            if plan.is_full():
                losses += adapter.losses(handles)
                handles = []
                plan.release()
            asked = now()
            x, y = plan.batch(step) if self.loaded is None else next(self.loaded)
            input_ns += now() - asked
            adapter.weight = plan.weight(step)
            handles.append(adapter.train_step(x, y, plan.lr[step]))
            if plan.carries_state and plan.ends_epoch(step):
                adapter.clear_carried_state()
        losses += adapter.losses(handles)
        plan.release()
        return losses, input_ns

    def on_infer(self, message):
        requests = self._integer(message, "requests", 1, 1 << 40)
        self._integer(message, "batch", self.plan.batch_size, self.plan.batch_size)
        ring = Ring(message["answers"]) if message.get("answers") else None
        first, room = 0, LATENCIES_LIMIT // max(1, self.plan.tokens)
        while first < requests:
            report = self._answer_requests(first, min(first + room, requests), ring)
            self.channel.send(report)
            first += report["count"]
        return {"type": "done"}

    def _answer_requests(self, first, end, ring):
        """Requests from `first` on, to `end` or until it is time for a report, one after the other: each from its rows in
        memory to its logits in memory, and where there is a ring in that."""
        plan, now = self.plan, time.monotonic_ns
        latencies, prompts, tokens = [], [], []
        start = last = now()
        while len(latencies) < end - first and last - start < REPORT_NS:
            request = first + len(latencies)
            batch = request % plan.steps
            asked = now()
            if plan.prompt is None:
                logits = self.adapter.infer_step(plan.rows(batch))
            else:
                logits, stamps = self._answer_pieces(plan.rows(batch))
                prompts.append(stamps[0] - asked)
                tokens.extend(behind - before for before, behind in zip(stamps, stamps[1:]))
            if ring is not None:
                ring.show(request, batch, logits)
            last = now()
            latencies.append(last - asked)
            plan.release()
        report = {"type": "latencies", "first": first, "count": len(latencies), "t_start_ns": start, "t_end_ns": last,
                  "latency_ns": latencies}
        return report if plan.prompt is None else dict(report, prompt_ns=prompts, token_ns=tokens)

    def _answer_pieces(self, x):
        """The logits of the last piece, and when each was answered."""
        stamps = []
        for first, end in self.plan.pieces():
            logits = self.adapter.infer_piece(x[:, first:end], first)
            stamps.append(time.monotonic_ns())
        return logits, stamps

    def on_input_gradient(self, message):
        plan, entry = self.plan, self.plan.graph["inputs"][0]
        if plan.world > 1 or plan.prompt is not None:
            raise Unsupported("input_gradient is of one process, and of rows that are answered whole")
        if len(plan.inputs) > 1 or entry["dtype"] == "I32" or plan.graph.get("carries_state"):
            raise Unsupported("input_gradient is of networks with one input of numbers, which carry no state")
        x = self._given(message, "path", entry["name"], (plan.batch_size, *entry["shape"][1:]))
        cotangent = self._given(message, "cotangent", "cotangent") if "cotangent" in message else None
        start_ns = time.monotonic_ns()
        logits, gradient = self.adapter.input_gradient(x, cotangent)
        computed_ns = time.monotonic_ns() - start_ns
        path = self._path("input-gradient")
        write_safetensors(path, {"logits": logits, **({} if cotangent is None else {"grad." + entry["name"]: gradient})})
        return {"type": "tensors", "path": path, "computed_ns": computed_ns}

    def _given(self, message, key, name, shape=None):
        """An array of numbers of a file that the message names, in the run's precision."""
        try:
            values = read_safetensors(self._absolute(message, key))[name]
        except (OSError, KeyError, ValueError) as error:
            raise AdapterError("cannot read %s of %s: %s: %s" % (name, message[key], type(error).__name__, error))
        if shape not in (None, values.shape):
            raise AdapterError("%s of %s has shape %s, not %s" % (name, message[key], values.shape, shape))
        return values.astype(np.float64 if self.plan.precision == "f64" else np.float32)

    @staticmethod
    def _absolute(message, key):
        path = message.get(key)
        if not isinstance(path, str) or not os.path.isabs(path):
            raise ProtocolError('member "%s" must be an absolute path' % key)
        return path

    def on_save(self, message):
        if "form" in message:
            return self._save_form(message)
        if message.get("format") != "safetensors":
            raise Unsupported('this adapter saves the format "safetensors", not "%s"' % message.get("format"))
        path = self._absolute(message, "path")
        dtype = message.get("dtype", "f32")
        if dtype != "f32" and not dtype == self.plan.precision == "f64":
            raise Unsupported('this adapter saves f32, and f64 in a plan of that precision, not "%s"' % dtype)
        tensors = dict(self.adapter.weights())
        if message.get("state"):
            kinds = dict(self.adapter.optimizer_state())
            if self.plan.carries_state:
                kinds.update(self.adapter.carried_state())
            tensors.update(("state.%s.%s" % (kind, name), value)
                           for kind, values in kinds.items() for name, value in values.items())
            tensors["state.steps"] = np.float64(self._counter())
        write_safetensors(path, tensors, np.float64 if dtype == "f64" else np.float32)
        return {"type": "saved", "path": path, "bytes": os.path.getsize(path)}

    def _save_form(self, message):
        form, path = message["form"], self._absolute(message, "path")
        if form not in self.adapter.forms:
            raise Unsupported("form %s: this adapter has %s" % (form, ", ".join(self.adapter.forms) or "none"))
        self._need_mode("infer", "save of a form")
        if os.path.lexists(path):
            raise ProtocolError('member "path" is %s, where something is already' % path)
        if form == "safetensors":
            write_safetensors(path, self.adapter.weights(), np.float64 if self.plan.precision == "f64" else np.float32)
            told = {}
        else:
            told = self.adapter.save_form(form, path) or {}
        return {"type": "saved", "path": path, **told, "bytes": _size(told.get("path", path))}

    def _counter(self):
        if self.next is None:
            raise ProtocolError('training failed before; send "reset" first')
        return self.next

    def _need_mode(self, mode, kind):
        if self.plan.mode != mode:
            raise ProtocolError('"%s" may not come in a plan of mode %s' % (kind, self.plan.mode))

    @staticmethod
    def _integer(message, key, low, high):
        value = message.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ProtocolError('member "%s" is %r; it must be an integer between %d and %d' % (key, value, low, high))
        return value

    def _path(self, name):
        return os.path.join(self.plan.folder, name + ".safetensors")

    def _pass(self, message):
        """The arguments that forward and backward share."""
        batch = self._integer(message, "batch", 0, self.plan.steps - 1)
        mode = message.get("mode")
        if mode not in ("train", "eval"):
            raise ProtocolError('member "mode" is %r; it must be "train" or "eval"' % (mode,))
        if mode == "train":
            self._need_mode("train", message["type"])
        x, y = self.plan.batch(batch)
        return x, y, mode == "train", self._path("%s-%d-%s" % (message["type"], batch, mode))


def serve(adapter):
    """Answers messages until `bye` or the end of the file, then ends the program with 0."""
    channel = Channel()
    server = _Server(adapter, channel)
    try:
        while True:
            message = channel.receive()
            if message is None:
                break
            if message["type"] == "bye":
                if server.plan is not None:
                    adapter.close()
                break
            server.answer(message)
    except ProtocolError as error:
        channel.send_error(error.code, "protocol", str(error))
        sys.exit("stopped: %s" % error)
    except (BrokenPipeError, ConnectionResetError):
        sys.exit("stopped: yardstick has closed the connection")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a large framework takes seconds to be taken down, and nothing of it is needed any more
