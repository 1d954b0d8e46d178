"""An adapter's side of the ring of batches (docs/protocol.md, "The ring of batches"): shared memory that
yardstick-feeder fills, and a socket on which both agree, which common.py alone uses; and rows one by one, for a
loader of a framework's own."""

import mmap
import os
import socket
import struct
import warnings

import numpy as np

from common_tensors import DTYPES

# What PyTorch says of arrays that it could write to and must not: none of its operators writes to its input.
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")

_HEAD, _ARRAY = struct.Struct("<8sIIQQQ24x"), struct.Struct("<64s8sI4x8QQQ")
_WISH = _READY = struct.Struct("<QQQ")
_BEGIN, _FREE = 1, 2


class Feed:
    """Batches by their number. What take() gives are views of a slot, which stays as it is until it is released."""

    def __init__(self, channel, memory):
        self._socket = socket.socket(fileno=channel)
        size = os.fstat(memory).st_size
        self._map = mmap.mmap(memory, size, prot=mmap.PROT_READ)
        os.close(memory)
        magic, self.slots, arrays, slot_bytes, start, self._round = _HEAD.unpack_from(self._map)
        if magic != b"YSFEED1\0":
            raise ValueError("the ring of batches does not begin as one")
        self._views = [{} for _ in range(self.slots)]
        for index in range(arrays):
            name, dtype, rank, *rest = _ARRAY.unpack_from(self._map, _HEAD.size + index * _ARRAY.size)
            shape, offset = rest[:rank], rest[8]
            kind = np.dtype(DTYPES[dtype.rstrip(b"\0").decode()])
            count = int(np.prod(shape))
            for slot, views in enumerate(self._views):
                values = np.frombuffer(self._map, kind, count, start + slot * slot_bytes + offset)
                views[name.rstrip(b"\0").decode()] = values.reshape(shape)
        self.held = 0  # slots that were taken and not yet released
        self._turn = 0
        self._next = None

    def names(self):
        return set(self._views[0])

    def array(self, name):
        """That of the first slot, whatever is in it: for its shape and type."""
        return self._views[0][name]

    def take(self, batch):
        """The arrays of a batch by their names, once it is there."""
        if batch != self._next:
            self._turn += 1
            self.held = 0
            self._socket.send(_WISH.pack(_BEGIN, self._turn, batch))
        self._next = None
        turn = None
        while turn != self._turn:  # what was said of an earlier turn is passed over
            said = self._socket.recv(_READY.size)
            if len(said) != _READY.size:
                raise EOFError("yardstick-feeder is gone: no more batches come")
            turn, number, slot = _READY.unpack(said)
        if number != batch or slot >= self.slots:
            raise ValueError("the feeder says batch %d in slot %d where %d was asked for" % (number, slot, batch))
        self._next = 0 if batch + 1 == self._round else batch + 1
        self.held += 1
        return self._views[slot]

    def release(self):
        """Frees the slots that are held."""
        while self.held > 0:
            self._socket.send(_WISH.pack(_FREE, self._turn, 0))
            self.held -= 1


class Rows:
    """The rows of a prepared file, one by one, as the DataLoader of several frameworks wants them; x as Plan.stored() has it."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, row):
        x = tuple(array[row] for array in self.x) if isinstance(self.x, tuple) else self.x[row]
        return x, self.y[row]
