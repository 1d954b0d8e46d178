"""LiteRT on the CPU: the file that litert-torch made of the network, interpreted with XNNPACK. It answers requests and does
not train."""

import importlib.metadata
import shutil

import common
import converted

with common.importing("LiteRT"):
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter

FLOAT32 = 0  # of TensorType


class LiteRT(converted.ConvertedAdapter):
    name = "litert"
    framework = "LiteRT"
    version = importlib.metadata.version("ai-edge-litert")
    ops = tuple(op for op in common.InferenceAdapter.ops if op != "GlobalMaxPool")  # litert-torch 0.10.0 cannot lower it
    forms = {"tflite": True}

    def build(self, plan):
        self.path, deviations = self.open_file(plan)
        self.runtime = Interpreter(self.path, num_threads=plan.threads)
        self.runtime.allocate_tensors()
        self.input = self.runtime.get_input_details()[0]["index"]
        self.output = self.runtime.get_output_details()[0]["index"]
        return {
            **({} if plan.form or plan.quantise else {"parameters": self.parameters(plan.weights)}),
            "threads": plan.threads,
            "libraries": ["ai-edge-litert %s" % self.version],
            "deviations": deviations,
            **({"scales": list(scales_of(self.runtime))} if plan.quantise else {}),
        }

    def save_form(self, form, path):
        shutil.copy(self.path, path)
        return {"parameters_as_said": count_constants(path)}

    def infer_step(self, x):
        self.runtime.set_tensor(self.input, x)
        self.runtime.invoke()
        return self.runtime.get_tensor(self.output)


def scales_of(runtime):
    """Texts of the tensors that the quantiser gave scales."""
    for tensor in runtime.get_tensor_details():
        found = tensor["quantization_parameters"]
        if len(found["scales"]):
            yield common.scale_text(tensor["name"], found["scales"], found["zero_points"])


def count_constants(path):
    """Bytes of the floats that the file has, read by its schema."""
    with open(path, "rb") as file:
        model = schema.Model.GetRootAs(bytearray(file.read()), 0)
    graph = model.Subgraphs(0)
    tensors = map(graph.Tensors, range(graph.TensorsLength()))
    return sum(model.Buffers(tensor.Buffer()).DataLength() for tensor in tensors if tensor.Type() == FLOAT32)


if __name__ == "__main__":
    common.serve(LiteRT())
