"""OpenVINO on the CPU: the ONNX file of the plan, compiled for its batch. It answers requests and does not train."""

import os

import common
import numpy as np

with common.importing("OpenVINO"):
    import openvino as ov

MODEL = "model.xml"
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
        model = core.read_model(os.path.join(plan.form_path, MODEL) if plan.form else self.model_file())
        parameters = {} if plan.form or plan.scales else {"parameters": self.parameters(self.constants(model))}  # names of constants are not kept
        model.reshape({"x": [plan.batch_size] + plan.graph["inputs"][0]["shape"][1:]})
        # Precision is said in any case: by itself OpenVINO takes bf16 where the processor has it.
        settings = {"PERFORMANCE_HINT": HINTS[self.option("hint")], "INFERENCE_NUM_THREADS": plan.threads,
                    "INFERENCE_PRECISION_HINT": plan.precision}
        deviations = ["performance hint %s" % self.option("hint")] * (self.option("hint") != "latency")
        if adds_dense(plan.graph["nodes"]):
            settings["SNIPPETS_MODE"] = "DISABLE"
            deviations.append("without snippets: OpenVINO crashes while it fuses sums of dense layers")
        self.compiled = core.compile_model(model, "CPU", settings)
        return {
            **parameters,
            "threads": self.compiled.get_property("INFERENCE_NUM_THREADS"),
            "libraries": ["OpenVINO Runtime %s" % ov.get_version()],
            "deviations": deviations,
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
