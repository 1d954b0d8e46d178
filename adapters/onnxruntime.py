"""ONNX Runtime on the CPU: a session over the ONNX file of the plan. It answers requests and does not train."""

import common
import numpy as np

with common.importing("ONNX Runtime"):
    import onnxruntime as ort
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

LEVELS = {
    "off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
MODEL_GRAPH, GRAPH_INITIALIZER = 7, 5  # field numbers of onnx.proto
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW_DATA = 1, 2, 8, 9
TENSOR_FLOATS, TENSOR_INTEGERS = 4, 5  # in place of raw data
INT8 = 3
FLOATS = 1, 11  # of TensorDataType: single and double
DTYPES = {1: np.float32, 7: np.int64, 11: np.float64}


class OnnxRuntime(common.InferenceAdapter):
    name = "onnxruntime"
    framework = "ONNX Runtime"
    version = ort.__version__
    precisions = ("f32", "f64")
    options = {"optimization": "all", "spinning": True}
    forms = {"ort": True}
    quantised = True

    def build(self, plan):
        for node in plan.graph["nodes"]:
            check(node["op"], node["attrs"])
        path = plan.form_path or self.model_file()
        deviations = ["graph optimizations: %s" % self.option("optimization")] * (self.option("optimization") != "all")
        if plan.quantise:
            path = common.made_file(plan)
            deviations.append("quantised by %s" % plan.converted["by"])
        self.values = {} if plan.form or plan.scales or plan.quantise else initializers(path)  # a file of ORT's own format has them behind its optimizations
        settings = ort.SessionOptions()
        settings.intra_op_num_threads = plan.threads
        settings.inter_op_num_threads = 1
        settings.graph_optimization_level = LEVELS[self.option("optimization")]
        settings.add_session_config_entry("session.intra_op.allow_spinning", "1" if self.option("spinning") else "0")
        settings.add_free_dimension_override_by_name("N", plan.batch_size)
        if plan.form:
            settings.add_session_config_entry("session.load_model_format", "ORT")
        try:
            self.session = ort.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        except NoKernel as error:  # most of what convolves has no double
            raise common.Unsupported("ONNX Runtime has no %s: %s" % (plan.precision, error))
        deviations += ["threads that wait do not spin"] * (not self.option("spinning"))
        return {
            **({"parameters": self.parameters(self.values)} if self.values else {}),
            "threads": self.session.get_session_options().intra_op_num_threads,
            "libraries": [ort.get_build_info()] + self.session.get_providers(),
            "deviations": deviations,
            **({"scales": list(scales_of(path))} if plan.quantise else {}),
        }

    def save_form(self, form, path):
        """As it is converted for devices: with the optimizations that every processor can do with, as ONNX Runtime's own tool has
        them, and without those for this one."""
        settings = ort.SessionOptions()
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        settings.optimized_model_filepath = path
        settings.add_session_config_entry("session.save_model_format", "ORT")
        ort.InferenceSession(self.model_file(), settings, providers=["CPUExecutionProvider"])
        return {"parameters_as_said": count_stored(path)}  # batch normalisation is folded into the weights

    def infer_step(self, x):
        return self.session.run(None, {"x": x})[0]

    def weights(self):
        return {param["name"]: self.values[param["name"]] for param in self.plan.params}

    def is_out_of_memory(self, error):
        return super().is_out_of_memory(error) or "Failed to allocate memory" in str(error) or "bad_alloc" in str(error)


def check(op, attrs):
    """Raises Unsupported for what ONNX defines and the runtime's kernels refuse."""
    if op == "LRN" and attrs["size"] % 2 == 0:
        raise common.Unsupported("LRN of even size %d" % attrs["size"], op)
    if op == "AveragePool" and any(pad >= attrs["kernel_shape"][i % 2] for i, pad in enumerate(attrs["pads"][:2])):
        raise common.Unsupported("AveragePool with padding as large as its kernel", op)


def fields(message):
    """(number, value) of the fields of a protocol buffer: an integer, or the bytes of what is longer."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = int(message[at])
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = 4 if tag & 7 == 5 else varint()
            at += size
            yield tag >> 3, message[at - size:at]


def initializers(path):
    """{name: array} of the tensors in the file that the session is made from: it does not give them back."""
    model = np.memmap(path, np.uint8, "r").view(np.ndarray)
    graph = next(value for number, value in fields(model) if number == MODEL_GRAPH)
    tensors = {}
    for number, message in fields(graph):
        if number == GRAPH_INITIALIZER:
            tensor = list(fields(message))
            shape = [value for field, value in tensor if field == TENSOR_DIMS]
            parts = dict(tensor)
            values = np.frombuffer(parts[TENSOR_RAW_DATA], DTYPES[parts[TENSOR_TYPE]])
            tensors[bytes(parts[TENSOR_NAME]).decode("utf-8")] = values.reshape(shape)
    return tensors


def tensors_of(path):
    """(name, {field number: bytes or integer}) of each tensor in an ONNX file."""
    model = np.memmap(path, np.uint8, "r").view(np.ndarray)
    graph = next(value for number, value in fields(model) if number == MODEL_GRAPH)
    for number, message in fields(graph):
        if number == GRAPH_INITIALIZER:
            parts = dict(fields(message))
            yield bytes(parts[TENSOR_NAME]).decode("utf-8"), parts


def scales_of(path):
    """Texts of the tensors that the quantiser gave scales, by the names of its file: NAME_scale and NAME_zero_point."""
    tensors = dict(tensors_of(path))
    for name, parts in tensors.items():
        if name.endswith("_scale") and parts.get(TENSOR_TYPE) == FLOATS[0]:
            of = name[:-len("_scale")]
            zeros = tensors.get(of + "_zero_point", {})
            raw = parts.get(TENSOR_RAW_DATA, parts.get(TENSOR_FLOATS, b""))
            yield common.scale_text(of, np.frombuffer(raw, np.float32), whole_numbers(zeros))


def whole_numbers(parts):
    """Those of a tensor of bytes: as they are, or each as an integer of variable length."""
    if TENSOR_RAW_DATA in parts:
        return np.frombuffer(parts[TENSOR_RAW_DATA], np.int8 if parts[TENSOR_TYPE] == INT8 else np.uint8)
    packed = [int(byte) for byte in parts.get(TENSOR_INTEGERS, b"")]
    found, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value - (value >> 63 << 64))  # negative ones have all bits of 64
            value = shift = 0
    return found or [0]


def count_stored(path):
    """Bytes of the floats among the initializers of a file of ORT's own format, read by ONNX Runtime's tools."""
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import InferenceSession

    with open(path, "rb") as file:
        graph = InferenceSession.GetRootAsInferenceSession(bytearray(file.read()), 0).Model().Graph()
    tensors = map(graph.Initializers, range(graph.InitializersLength()))
    return sum(tensor.RawDataLength() for tensor in tensors if tensor.DataType() in FLOATS)


if __name__ == "__main__":
    common.serve(OnnxRuntime())
