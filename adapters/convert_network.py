"""Makes PyTorch's module of a graph, for converters that begin with one. It runs in an environment of kind tool, never in
that of a framework: CONVERT GRAPH WEIGHTS BATCH OPTIONS OUT (src/framework/converter.h)."""

import json
import sys
import types

import common
import numpy as np
import torch

import pytorch
from common_conversion import answer
from common_tensors import read_safetensors


def read(graph_path, weights_path, batch):
    """(module for evaluation, its example input) with the given weights."""
    with open(graph_path, encoding="utf-8") as file:
        graph = json.load(file)
    entry = graph["inputs"][0]
    adapter = pytorch.PyTorch()
    lacking = [node["op"] for node in graph["nodes"] if node["op"] not in adapter.ops]
    if lacking or len(graph["inputs"]) > 1:
        raise common.Unsupported("the converter's network has no %s" % (lacking or ["several inputs"])[0])
    adapter.plan = types.SimpleNamespace(graph=graph, weights=read_safetensors(weights_path), precision="f32", options={}, prompt=None,
                                         world=1, own_seed=0, mode="infer", carries_state=False)
    module = adapter.network()
    adapter.reset()
    kinds = {"U8": torch.uint8, "I32": torch.int32, "F32": torch.float32}
    example = torch.from_numpy(np.zeros([batch] + entry["shape"][1:], np.float32)).to(kinds[entry["dtype"]])
    return module.eval(), example


def serve(convert):
    """Calls convert(module, example, options, path), which writes the file."""
    graph, weights, batch, options, out = sys.argv[1:]

    def act():
        with torch.no_grad():
            convert(*read(graph, weights, int(batch)), json.loads(options), out)

    answer(act)
