"""OpenVINO's own quantiser, NNCF: of the network as an ONNX file OpenVINO's two files, in integers, in one archive."""

import os
import sys
import zipfile

import common_conversion
from common import Unsupported

os.environ["NNCF_CI"] = "1"  # else it tells its makers that it is used
import nncf  # noqa: E402
import openvino as ov  # noqa: E402
from nncf.quantization import advanced_parameters as advanced  # noqa: E402
from nncf.quantization import range_estimator as ranges  # noqa: E402

MAKER = "OpenVINO's quantiser"
MODEL = "model.xml"  # in the folder that it is run in; beside it model.bin
SETS = ranges.RangeEstimatorParametersSet
FIXES = {"full": advanced.OverflowFix.DISABLE, "reduced": advanced.OverflowFix.ENABLE}


def of_percentile(rule):
    """As ONNX Runtime's and yardstick's: half of what is left out on each side."""
    out = (100 - rule["percentile"]) / 200
    ends = [ranges.StatisticsCollectorParameters(ranges.StatisticsType.QUANTILE, aggregator, quantile_outlier_prob=out)
            for aggregator in (ranges.AggregatorType.MIN, ranges.AggregatorType.MAX)]
    return ranges.RangeEstimatorParameters(*ends)


CALIBRATIONS = {"minmax": lambda rule: SETS.MINMAX, "percentile": of_percentile, "mse": lambda rule: SETS.HISTOGRAM}


def quantise(asked):
    kind = asked.need("kind", ("static", "weights"), MAKER)
    if asked.onnx is None:
        raise Unsupported("there is no ONNX file of this network: yardstick has said why")
    model = ov.Core().read_model(asked.onnx)
    model.reshape({"x": [asked.batch] + list(model.input("x").partial_shape)[1:]})
    if kind == "weights":
        asked.need("scheme", ("per-channel",), MAKER)
        asked.need("range", ("full",), MAKER)
        made = nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_SYM)
    else:
        made = calibrate(model, asked)
    ov.save_model(made, MODEL, compress_to_fp16=False)  # what stays in float stays in single precision
    with zipfile.ZipFile(asked.out, "w") as archive:
        for name in MODEL, "model.bin":
            archive.write(name)


def calibrate(model, asked):
    estimate = CALIBRATIONS[asked.need("calibration", CALIBRATIONS, MAKER)](asked.rule)
    batches = list(asked.rows())
    parameters = advanced.AdvancedQuantizationParameters(
        overflow_fix=FIXES[asked.rule["range"]],
        activations_range_estimator_params=estimate,
        weights_quantization_params=advanced.QuantizationParameters(per_channel=asked.rule["scheme"] == "per-channel"))
    return nncf.quantize(model, nncf.Dataset(batches), target_device=nncf.TargetDevice.CPU, subset_size=len(batches),
                         advanced_parameters=parameters)


if __name__ == "__main__":
    common_conversion.answer(lambda: quantise(common_conversion.Asked(sys.argv[1:])))
