"""A graph as ExecuTorch's file: PyTorch's module of it, exported, and what XNNPACK has of it given to that."""

import re

import common
import convert_network
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.verification.verifier import SpecViolationError
from executorch.extension.pybindings import _C as runtime


def convert(module, example, options, path):
    exported = torch.export.export(module, (example,))
    refuse_cuts(exported.graph)
    partitioner = [] if options.get("kernels") == "portable" else [XnnpackPartitioner()]
    try:
        program = to_edge_transform_and_lower(exported, partitioner=partitioner).to_executorch()
    except SpecViolationError as error:
        operator = re.search(r"aten\.\w+", str(error))
        raise common.Unsupported("ExecuTorch's export does not take %s" % (operator.group() if operator else str(error).splitlines()[0]))
    refuse_lacking(program.executorch_program)
    with open(path, "wb") as file:
        program.write_to_file(file)


def refuse_cuts(graph):
    """Raises Unsupported for padding below zero, which cuts a value: the export takes it, and the kernel fails when it runs."""
    for node in graph.nodes:
        if node.target == torch.ops.aten.pad.default and min(node.args[1]) < 0:
            raise common.Unsupported("ExecuTorch's pad cannot cut a value, as this pool needs it")


def refuse_lacking(program):
    """Raises Unsupported for the first operator that the file has and the runtime has no kernel of."""
    known = set(runtime._get_operator_names())
    for plan in program.execution_plan:
        for operator in plan.operators:
            name = operator.name + ("." + operator.overload) * bool(operator.overload)
            if name not in known:
                raise common.Unsupported("ExecuTorch has no kernel %s" % name)


if __name__ == "__main__":
    convert_network.serve(convert)
