"""What one run has to do, with its files open, and where its answers are shown. Of common.py, which adapters import."""

import json
import mmap
import struct

import numpy as np

import common_graph
from common_channel import LoadFailed, ProtocolError, Unsupported
from common_feed import Feed
from common_tensors import read_safetensors

RANK_SEED = 0x9E3779B9  # apart from those of a study's rounds, which are consecutive
TARGET = "y"  # in a data file, beside an array for each input


class Plan:
    """What one run has to do, with its files open.

    graph: the network as in its JSON file.  inputs: the names of its inputs, in its order.  target: what kind its target
    is, "class", "classes" (one for each position) or "vector".  params: its list of parameters.  weights: name -> float32 initial values,
    mapped.  hides_targets: whether some positions have the target -1 and no loss, whose mean is over the
    others of the batch.  carries_state: whether each row goes on from the state of the batch before.  mode, steps, precision, seed, loss, label_smoothing, optimizer, threads, device, options, folder: as in
    docs/protocol.md.  batch_size: rows of its own of each batch.  lr: the learning rate of every step, zeros where none is trained.
    rank, world, rendezvous, address, statistics, strategy, bucket_bytes: as in its `dist`.  exchanges: whether gradients are to be those of
    several processes.  own_seed: the seed, of several processes another for each.
    onnx: path of the network with its weights as an ONNX file, None unless the recipe asks for one.  converted: what the recipe's
    converter made of both, {"by", and "path", or "code" and "message" where it failed}; None without one.  scales: path of how it is
    quantised, None where it is not.  by_own_loader: whether
    training takes its batches from Adapter.load(), loader_threads: with how many threads or processes.  prompt, tokens: positions of
    each row that are answered together, and those behind them, one by one; None and 0 where rows are answered whole.
    form, form_path: of Adapter.forms the one that the network is built from, and its file or folder; None where it is built
    from graph and weights. Then `weights` are zeros of the parameters' shapes, of "safetensors" those of the file. A plan of
    mode "size" is one of mode "infer" here.
    """

    def __init__(self, plan):
        if plan.get("format") != "yardstick-plan":
            raise ProtocolError('member "plan" must be an object with format "yardstick-plan"')
        if plan.get("version") != 1:
            raise Unsupported("plan version %s: this adapter reads version 1" % plan.get("version"))
        try:
            self.asked_mode, rows, self.steps = plan["mode"], plan["batch"], plan["steps"]
            self.mode = "infer" if self.asked_mode == "size" else self.asked_mode
            self.precision, self.loss = plan["precision"], plan["loss"]
            self.optimizer = plan["optimizer"]
            self.folder = plan["folder"]
            input_ = plan["input"]
        except KeyError as error:
            raise ProtocolError("the plan lacks %s" % error)
        self.label_smoothing = plan.get("label_smoothing") or 0.0
        self.seed = plan.get("seed", 0)
        self.threads = plan.get("threads", 1)
        self.device = plan.get("device", "cpu")
        self.onnx = plan.get("onnx")
        self.converted = plan.get("converted")
        self.scales, self.quantise = plan.get("scales"), plan.get("quantise")
        stored = plan.get("stored") or {}
        self.form, self.form_path = stored.get("form"), stored.get("path")
        if stored and not (self.asked_mode == "size" and isinstance(self.form, str) and isinstance(self.form_path, str)):
            raise ProtocolError('the plan\'s "stored" has a form and a path, in mode "size" alone')
        self.prompt = plan.get("prompt")
        self.tokens = 0 if self.prompt is None else plan.get("tokens")
        self.options = plan.get("options") or {}
        dist = plan.get("dist") or {}
        self.world, self.rank, self.rendezvous = dist.get("world", 1), dist.get("rank", 0), dist.get("rendezvous")
        self.address = dist.get("address") or "127.0.0.1"
        self.statistics, self.bucket_bytes = dist.get("statistics") or "local", dist.get("bucket_bytes")
        self.strategy = dist.get("strategy") or "data"
        self.exchanges = self.world > 1 and self.strategy != "alone"
        if rows % self.world or not 0 <= self.rank < self.world:
            raise ProtocolError("rank %s of %s has no equal share of %s rows" % (self.rank, self.world, rows))
        self.batch_size = rows // self.world
        self.own_seed = self.seed + self.rank * RANK_SEED
        if input_.get("kind") not in ("file", "ring", "own"):
            raise Unsupported("input of kind %s" % input_.get("kind"))
        if input_["kind"] != "file" and self.world > 1:
            raise Unsupported("several processes are not fed by a ring or a loader: write input = file")
        self.by_own_loader = input_["kind"] == "own"
        self.loader_threads = input_.get("threads") or 1
        self._feed = None
        try:
            with open(plan["graph"], encoding="utf-8") as file:
                self.graph = json.load(file)
            self.params = self.graph["params"]
            self.weights = self._read_weights(plan)
            order = read_safetensors(input_["order"])
            self.inputs = [entry["name"] for entry in self.graph["inputs"]]
            self.target = self.graph.get("target", {}).get("kind", "class")
            if input_["kind"] == "ring":
                self._feed = Feed(input_["channel"], input_["memory"])
                data = {name: self._feed.array(name) for name in self._feed.names()}
            else:
                data = read_safetensors(input_["path"])
            self.hides_targets = self.target == "classes" and not self._feed and bool((data[TARGET] < 0).any())
            self._inputs, self._y = [data[name] for name in self.inputs], data[TARGET]
            self._order = order["order"]
            self.shares = self._find_shares() if self.world > 1 and self.hides_targets else None
            if self._order.shape == (self.steps, rows):
                self._order = self._order[:, self.rank * self.batch_size:(self.rank + 1) * self.batch_size]
            self.carries_state = bool(self.graph.get("carries_state")) and self.mode == "train"
            self._epochs = order.get("epoch", np.zeros(self.steps, np.uint32))
            self.lr = order["lr"].tolist() if self.mode == "train" else [0.0] * self.steps
        except (OSError, KeyError, ValueError) as error:
            raise LoadFailed("cannot load the plan's files: %s: %s" % (type(error).__name__, error))
        self._check()

    def _read_weights(self, plan):
        if self.form == "safetensors":
            return read_safetensors(self.form_path)
        if self.form is not None:
            return {param["name"]: np.broadcast_to(np.float32(0), param["shape"]) for param in self.params}
        return read_safetensors(plan["weights"])

    def _check_prompt(self):
        """That prompt and tokens are the positions of a row, of a plan that infers."""
        if self.mode != "infer":
            raise ProtocolError('the plan\'s "prompt" is %s: there is one only in mode "infer"' % self.prompt)
        for key, value in ("prompt", self.prompt), ("tokens", self.tokens):
            if type(value) is not int or value < 1:
                raise ProtocolError('the plan\'s "%s" is %s; it must be an integer of at least 1' % (key, value))
        shapes = [array.shape[1:] for array in self._inputs]
        if shapes != [(self.prompt + self.tokens,)]:
            raise LoadFailed("a prompt of %d positions and %d tokens are not a row, which is %s" % (self.prompt, self.tokens, shapes))

    def _find_shares(self):
        """For each step the part that this rank's rows have of the batch's targets that are not hidden."""
        seen = (self._y >= 0).reshape(len(self._y), -1).sum(axis=1)[self._order].reshape(self.steps, self.world, -1).sum(axis=2)
        return (seen[:, self.rank] / seen.sum(axis=1)).tolist()

    def weight(self, step):
        """By which the gradients of this rank are multiplied in that step, so that the mean over the ranks is the mean over all
        targets of the batch that are not hidden: 1 where each has as many."""
        return self.shares[step] * self.world if self.shares else 1.0

    def _check(self):
        if self.prompt is not None:
            self._check_prompt()
        for param in self.params:
            name, shape = param["name"], tuple(param["shape"])
            if name not in self.weights or self.weights[name].shape != shape:
                raise LoadFailed("the file of weights has no %s of shape %s" % (name, shape))
        if self._order.shape != (self.steps, self.batch_size) or len(self.lr) != self.steps:
            raise LoadFailed("the order of batches has shape %s, not %d steps of %d"
                             % (self._order.shape, self.steps, self.batch_size))
        for name, array in zip(self.inputs, self._inputs):
            if len(array) != len(self._y):
                raise LoadFailed("the data have %d rows of %s and %d of %s" % (len(array), name, len(self._y), TARGET))
        if not self._feed and self._order.size and int(self._order.max()) >= len(self._y):
            raise LoadFailed("the order of batches names row %d of %d" % (self._order.max(), len(self._y)))

    def batch(self, step):
        """x and y of the batch of `step`: contiguous arrays, pixels as they are stored; y is int64, of a vector float32.
        Of a network with several inputs x is a tuple of their arrays, in the order of `inputs`. They are new, or lie in
        a ring: then they are read-only, and change once they were released, which is done for the adapter."""
        if self._feed:
            fed = self._feed.take(step)
            return self._x_of(fed), fed[TARGET]
        return self.rows(step), self._y.take(self._order[step], axis=0)

    def _x_of(self, arrays):
        x = tuple(arrays[name] for name in self.inputs)
        return x[0] if len(x) == 1 else x

    def stored(self):
        """The arrays that rows are taken from, for a loader of the framework's own: (x, y, order), x as batch() has it; order
        has the rows of each step."""
        return self._inputs[0] if len(self._inputs) == 1 else tuple(self._inputs), self._y, self._order

    def is_full(self):
        """Whether half of the ring is held: their steps are waited for, while the feeder fills the other half."""
        return self._feed is not None and 2 * self._feed.held >= self._feed.slots

    def release(self):
        """Frees the batches that are held: their steps are done."""
        if self._feed:
            self._feed.release()

    def rows(self, step):
        """x alone."""
        if self._feed:
            return self._x_of(self._feed.take(step))
        if len(self._inputs) == 1:
            return self._inputs[0].take(self._order[step], axis=0)
        return tuple(array.take(self._order[step], axis=0) for array in self._inputs)

    def ends_epoch(self, step):
        """Whether the step after this one is the first of another epoch."""
        return step + 1 < self.steps and self._epochs[step + 1] != self._epochs[step]

    def pieces(self):
        """Of rows that are answered piece by piece the pieces, as pairs of their first position and the one behind their
        last: the prompt, and each token."""
        return [(0, self.prompt)] + [(at, at + 1) for at in range(self.prompt, self.prompt + self.tokens)]

    def multiplier(self, param, key):
        """lr_mult or decay_mult of an entry of `params`."""
        return common_graph.multiplier(param, key)

    def untrained(self):
        """The elements of weights that are no parameters: frozen ones, and those that tables of connections leave out."""
        return common_graph.untrained(self.graph, self.weights)


class Ring:
    """Where the answers to requests are shown while they are given: a file that yardstick made (docs/protocol.md, "The
    ring of answers")."""

    _HEAD, _SLOT, _SEQUENCE = struct.Struct("<8sIII"), struct.Struct("<QQII"), struct.Struct("<Q")
    _VALUES = 64  # where they lie in a slot

    def __init__(self, path):
        try:
            with open(path, "r+b") as file:
                self._map = mmap.mmap(file.fileno(), 0)
            magic, self._slots, self._size, self._room = self._HEAD.unpack_from(self._map)
            if magic != b"YSRING1\0":
                raise ValueError("it does not begin as a ring")
            self._values = [np.frombuffer(self._map, "<f4", self._room, 64 + slot * self._size + self._VALUES)
                            for slot in range(self._slots)]
        except (OSError, ValueError, struct.error) as error:
            raise LoadFailed("cannot map the ring of answers %s: %s" % (path, error))

    def show(self, request, batch, logits):
        """The sequence is written before all else and behind all else, so that a reader knows what is not whole."""
        logits = np.asarray(logits).ravel()[:self._room]
        slot, count = request % self._slots, logits.size
        start = 64 + slot * self._size
        self._SLOT.pack_into(self._map, start, request + 1, request, batch, count)
        self._values[slot][:count] = logits
        self._SEQUENCE.pack_into(self._map, start + self._size - 8, request + 1)
