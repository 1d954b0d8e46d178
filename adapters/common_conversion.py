"""Programs that src/framework/converter.h calls in an environment of kind tool: how they end, and what those are told that call
a framework's own quantiser: QUANTISE GRAPH WEIGHTS BATCH OPTIONS OUT."""

import json
import sys
import traceback

from common_channel import Unsupported
from common_tensors import read_safetensors

UNSUPPORTED = 3  # exit code: the network cannot be had in that form
WORDS = 400  # of an error, whose first line alone says what it is


class Asked:
    """Of the command line. rule: how it is to be quantised, by the words of the keys quant. onnx: path of the network as an ONNX
    file, None without one."""

    def __init__(self, arguments):
        self.graph, _, batch, options, self.out = arguments
        self.batch, options = int(batch), json.loads(options)
        self._quantise, self.onnx = options["quantise"], options.get("onnx")
        self.rule = self._quantise["rule"]

    def rows(self):
        """The rows to calibrate on, in batches of the run's size, as pixels are stored; the last is filled up with the first rows."""
        with open(self.graph, encoding="utf-8") as file:
            name = json.load(file)["inputs"][0]["name"]
        data = read_safetensors(self._quantise["data"])[name]
        order = read_safetensors(self._quantise["order"])["order"].ravel().tolist()
        for first in range(0, len(order), self.batch):
            taken = order[first:first + self.batch]
            while len(taken) < self.batch:
                taken += order[:self.batch - len(taken)]
            yield data.take(taken, axis=0)

    def need(self, key, known, maker):
        """The value of a key of the rule; Unsupported where the quantiser has it not."""
        value = self.rule.get(key)
        if value not in known:
            raise Unsupported("quant.by = own: %s has no quant%s = %s" % (maker, "" if key == "kind" else "." + key, value))
        return value


def answer(act):
    """Calls act(), which writes the file; what it raises becomes the last line, and the exit code."""
    try:
        act()
    except Unsupported as error:
        print(error)
        sys.exit(UNSUPPORTED)
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        print("%s: %s" % (type(error).__name__, (str(error).strip() or "no reason given").splitlines()[0][:WORDS]))
        sys.exit(1)
