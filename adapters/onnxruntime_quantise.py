"""ONNX Runtime's own quantiser: of the network as an ONNX file another one, in integers."""

import sys

import common
import common_conversion
from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quant_pre_process, quantize_dynamic,
                                      quantize_static)

MAKER = "ONNX Runtime's quantiser"
METHODS = {"minmax": CalibrationMethod.MinMax, "percentile": CalibrationMethod.Percentile}


class Rows(CalibrationDataReader):
    def __init__(self, batches):
        self.batches = batches

    def get_next(self):
        x = next(self.batches, None)
        return None if x is None else {"x": x}


def quantise(asked):
    kind = asked.need("kind", ("static", "dynamic"), MAKER)
    if asked.onnx is None:
        raise common.Unsupported("there is no ONNX file of this network: yardstick has said why")
    prepared = "prepared.onnx"  # in the folder that it is run in
    quant_pre_process(asked.onnx, prepared, skip_symbolic_shape=True)  # as its makers say: batch normalisation is folded
    kinds = {"per_channel": asked.rule["scheme"] == "per-channel", "reduce_range": asked.rule["range"] == "reduced",
             "weight_type": QuantType.QInt8}
    if kind == "dynamic":
        quantize_dynamic(prepared, asked.out, **kinds)
        return
    method = asked.need("calibration", METHODS, MAKER)
    more = {"CalibPercentile": asked.rule["percentile"]} if method == "percentile" else {}
    quantize_static(prepared, asked.out, Rows(asked.rows()), QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                    calibrate_method=METHODS[method], extra_options=more, **kinds)


if __name__ == "__main__":
    common_conversion.answer(lambda: quantise(common_conversion.Asked(sys.argv[1:])))
