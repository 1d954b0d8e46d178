"""OpenVINO on the CPU: the ONNX file of the plan, compiled for its batch. It answers requests and does not train."""

import os
import zipfile

import common
import numpy as np

with common.importing("OpenVINO"):
    import openvino as ov

MODEL, CONSTANTS = "model.xml", "model.bin"
HINTS = {"latency": "LATENCY", "throughput": "THROUGHPUT"}


class OpenVINO(common.InferenceAdapter):
    name = "openvino"
    framework = "OpenVINO"
    version = ov.__version__.split("-")[0]
    precisions = ("f32", "bf16")
    ops = tuple(op for op in common.InferenceAdapter.ops if op != "Mish")  # 2026.4.1 compiles it of images, and not of (N, features)
    options = {"hint": "latency"}
    quantised = True
    forms = {"ir": True, "ir-f32": True}  # half precision, as save_model() has it unless told otherwise

    def build(self, plan):
        core = ov.Core()
        if plan.precision == "bf16" and "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            raise common.Unsupported("bf16: OpenVINO has it on processors with instructions for it alone")
        for node in plan.graph["nodes"]:
            check(node["op"], node["attrs"])
        model = read_archive(core, common.made_file(plan)) if plan.quantise else core.read_model(
            os.path.join(plan.form_path, MODEL) if plan.form else self.model_file())
        scales = {"scales": list(scales_of(model))} if plan.quantise else {}
        has_own = not (plan.form or plan.scales or plan.quantise)  # else names of constants are not kept
        parameters = {"parameters": self.parameters(self.constants(model))} if has_own else {}
        model.reshape({"x": [plan.batch_size] + plan.graph["inputs"][0]["shape"][1:]})
        # Precision is said in any case: by itself OpenVINO takes bf16 where the processor has it.
        settings = {"PERFORMANCE_HINT": HINTS[self.option("hint")], "INFERENCE_NUM_THREADS": plan.threads,
                    "INFERENCE_PRECISION_HINT": plan.precision}
        deviations = ["performance hint %s" % self.option("hint")] * (self.option("hint") != "latency")
        if plan.quantise:
            deviations.append("quantised by %s" % plan.converted["by"])
        if adds_dense(plan.graph["nodes"]):
            settings["SNIPPETS_MODE"] = "DISABLE"
            deviations.append("without snippets: OpenVINO crashes while it fuses sums of dense layers")
        self.compiled = core.compile_model(model, "CPU", settings)
        return {
            **parameters,
            "threads": self.compiled.get_property("INFERENCE_NUM_THREADS"),
            "libraries": ["OpenVINO Runtime %s" % ov.get_version()],
            "deviations": deviations,
            **scales,
        }

    def save_form(self, form, path):
        """A folder: the network in one file, its constants in another."""
        os.mkdir(path)
        more = {} if form == "ir" else {"compress_to_fp16": False}
        ov.save_model(ov.Core().read_model(self.model_file()), os.path.join(path, MODEL), **more)

    def infer_step(self, x):
        return self.compiled(x)[0]

    def weights(self):
        """Read anew: a compiled network does not give its constants out, and a second one would count as its memory."""
        return {name: np.array(values) for name, values in self.constants(ov.Core().read_model(self.model_file())).items()}

    def constants(self, model):
        """{parameter: array} of a network that OpenVINO has read; the arrays are views of it."""
        found = {op.friendly_name: op.data for op in model.get_ops() if op.get_type_name() == "Constant"}
        return {param["name"]: found[param["name"]] for param in self.plan.params}


def read_archive(core, path):
    """The network of an archive that openvino_quantise.py made."""
    try:
        with zipfile.ZipFile(path) as archive:
            text, constants = archive.read(MODEL), np.frombuffer(archive.read(CONSTANTS), np.uint8)
    except (zipfile.BadZipFile, KeyError) as error:
        raise common.BuildFailed("%s is no network in integers: %s" % (path, error))
    return core.read_model(text, ov.Tensor(constants))


def scales_of(model):
    """Texts of what the quantiser gave scales: of a FakeQuantize by its ends, of a weight in integers by what it is multiplied by."""
    for op in model.get_ops():
        ends = [op.input_value(i).get_node() for i in range(op.get_input_size())]
        if op.get_type_name() == "FakeQuantize":
            low, high = (np.ravel(ends[i].data).astype(np.float64) for i in (3, 4))
            scales = (high - low) / (op.get_attributes()["levels"] - 1)
            yield common.scale_text(op.friendly_name, scales, np.rint(-low / scales) if low.size == 1 else 0)
        elif op.get_type_name() == "Multiply" and ends[0].get_type_name() == "Convert":
            weight = ends[0].input_value(0).get_node()
            if weight.get_type_name() == "Constant" and weight.get_element_type() == ov.Type.i8:
                yield common.scale_text(op.friendly_name, np.array(ends[1].data))


def check(op, attrs):
    """Raises Unsupported for what ONNX defines and the CPU plugin computes otherwise."""
    if op == "LRN" and attrs["bias"] != 1:
        raise common.Unsupported("LRN with bias %g: OpenVINO takes 1 for it" % attrs["bias"], op)
    if op == "LRN" and attrs["size"] % 2 == 0:
        raise common.Unsupported("LRN of even size %d: OpenVINO takes one channel less" % attrs["size"], op)


def adds_dense(nodes):
    """Whether a dense layer's result is added to another value."""
    made = {name: node["op"] for node in nodes for name in node["out"]}
    return any(made.get(name) == "Gemm" for node in nodes if node["op"] == "Add" for name in node["in"])


if __name__ == "__main__":
    common.serve(OpenVINO())
