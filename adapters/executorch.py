"""ExecuTorch on the CPU: the file that its own export made of PyTorch's module of the network. It answers requests and does
not train."""

import importlib.metadata
import shutil

import common
import converted

with common.importing("ExecuTorch"):
    import torch  # first: the extension is linked against its libraries
    # Not executorch.runtime, which imports what exports networks as well.
    from executorch.extension.pybindings import _C as runtime


class ExecuTorch(converted.ConvertedAdapter):
    name = "executorch"
    framework = "ExecuTorch"
    version = importlib.metadata.version("executorch")
    # Its export does not take the first, and its runtime has no kernel of what the second becomes.
    ops = tuple(op for op in common.InferenceAdapter.ops if op not in ("GlobalMaxPool", "LRN"))
    options = {"kernels": "xnnpack"}
    forms = {"pte": True}

    def build(self, plan):
        self.path, deviations = self.open_file(plan)
        runtime._unsafe_reset_threadpool(plan.threads)
        try:
            self.program = runtime._load_program(self.path)
            self.method = self.program.load_method("forward")
        except RuntimeError as error:
            raise common.BuildFailed("ExecuTorch cannot load the network: %s" % error)
        return {
            **({} if plan.form else {"parameters": self.parameters(plan.weights)}),
            "threads": runtime._threadpool_get_thread_count(),
            "libraries": ["executorch %s" % self.version, "torch %s" % torch.__version__],
            "deviations": deviations,
        }

    def save_form(self, form, path):
        shutil.copy(self.path, path)

    def infer_step(self, x):
        return self.method((torch.from_numpy(x),))[0].numpy()


if __name__ == "__main__":
    common.serve(ExecuTorch())
