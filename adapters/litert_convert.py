"""A graph as LiteRT's file: PyTorch's module of it through litert-torch, and LiteRT's own quantiser where the options ask for it."""

import sys

import common
import convert_network
import litert_torch
from ai_edge_litert.interpreter import Interpreter
from ai_edge_quantizer import algorithm_manager, qtyping, quantizer
from common_conversion import Asked

LACKS = "Lowering not found: "  # then PyTorch's name of the operator
MAKER = "LiteRT's quantiser"
GRAINS = {"per-channel": qtyping.QuantGranularity.CHANNELWISE, "per-tensor": qtyping.QuantGranularity.TENSORWISE}
EVERY = ".*", qtyping.TFLOperationName.ALL_SUPPORTED
NOT = algorithm_manager.AlgorithmName.NO_QUANTIZE
BITS = 8
FLOAT = "float.tflite"  # in the folder that it is run in


def convert(module, example, options, path):
    asked = Asked(sys.argv[1:]) if "quantise" in options else None
    if asked:
        check(asked)
    try:
        made = litert_torch.convert(module, (example,))
    except RuntimeError as error:
        if str(error).startswith(LACKS):
            raise common.Unsupported("litert-torch has no operator %s" % str(error)[len(LACKS):])
        raise
    made.export(FLOAT if asked else path)
    if asked:
        quantise(asked, path)


def check(asked):
    asked.need("kind", ("static", "dynamic", "weights"), MAKER)
    asked.need("scheme", GRAINS, MAKER)
    asked.need("range", ("full",), MAKER)
    if asked.rule["kind"] == "static":
        asked.need("calibration", ("minmax",), MAKER)


def quantise(asked, path):
    kind, grain = asked.rule["kind"], GRAINS[asked.rule["scheme"]]
    work, seen = quantizer.Quantizer(FLOAT), None
    if kind == "static":
        work.add_static_config(*EVERY, BITS, BITS, grain)
    else:
        (work.add_dynamic_config if kind == "dynamic" else work.add_weight_only_config)(*EVERY, BITS, grain)
    for end in qtyping.TFLOperationName.INPUT, qtyping.TFLOperationName.OUTPUT:  # pixels and logits stay as they are
        work.update_quantization_recipe(".*", end, algorithm_key=NOT)
    if kind == "static":
        (signature, names), = Interpreter(FLOAT).get_signature_list().items()
        seen = work.calibrate({signature: [{names["inputs"][0]: x} for x in asked.rows()]}, num_threads=1)
    with open(path, "wb") as file:
        file.write(work.quantize(seen).quantized_model)


if __name__ == "__main__":
    convert_network.serve(convert)
