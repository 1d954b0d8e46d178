"""DeepSpeed on the CPU: the networks and optimizers of PyTorch's adapter, trained through DeepSpeed's engine over gloo, in one or in
several processes; ZeRO in its stages 0, 1 and 2.
"""

import os

import common
import common_meeting
from pytorch import PyTorch, torch

with common.importing("DeepSpeed"):
    import deepspeed
    from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator
    from deepspeed.utils import safe_get_full_grad, safe_get_full_optimizer_state


class Accelerator(CPU_Accelerator):
    """The CPU, of whose types DeepSpeed's own leaves float64 out, so that gradients of that type would not be exchanged. Training needs
    none of its compiled operators: they would be built when the first run begins, by a compiler that need not be there."""

    def supported_dtypes(self):
        return [*super().supported_dtypes(), torch.float64]

    def create_op_builder(self, op_name):
        return None


class DeepSpeed(PyTorch):
    name = "deepspeed"
    framework = "DeepSpeed"
    version = deepspeed.__version__
    precisions = ("f32", "f64")
    modes = ("train",)
    options = dict(PyTorch.options, zero="0")
    strategies = ("data",)
    buckets = False
    engine = None
    input_gradient = common.Adapter.input_gradient  # not with an engine of DeepSpeed's around the network

    def build(self, plan):
        self.stage = int(self.option("zero"))
        if self.stage:  # gloo takes a whole mean of the gradients, and the weights are gathered behind it: three turns
            self.exchanges_by = "shards"
        if self.stage and plan.precision == "f64":
            raise common.Unsupported("zero = %d in f64: of weights that it divides DeepSpeed keeps and updates float32 copies" % self.stage)
        deepspeed.accelerator.set_accelerator(Accelerator())
        self.meet()
        reply = super().build(plan)
        reply["libraries"] = ["PyTorch %s" % torch.__version__, *reply["libraries"]]
        return reply

    def meet(self):
        """Without a launcher of DeepSpeed's: it asks the environment for one thing alone."""
        common_meeting.name_interface(self.plan.address)
        os.environ.setdefault("LOCAL_RANK", "0")
        deepspeed.init_distributed("gloo", auto_mpi_discovery=False, rank=self.plan.rank, world_size=self.plan.world,
                                   init_method="tcp://" + (self.plan.rendezvous or "127.0.0.1:0"))

    def distribute(self):
        if self.stage < 2:
            self.note_gradients()
        else:
            self.untimed = "ZeRO 2 exchanges each part of the gradients before the backward pass goes on"
        return self.model

    def reset(self):
        if self.engine is not None:
            self.engine.destroy()
        super().reset()
        self.run = self.engine = deepspeed.initialize(model=self.model, optimizer=self.optimizer, config=self.config())[0]
        self.engine.communication_data_type = self.dtype

    def config(self):
        clip_norm = self.plan.optimizer["clip_norm"] if self.stage else None  # by itself where no rank has whole gradients
        return {
            "train_micro_batch_size_per_gpu": self.plan.batch_size,
            "zero_optimization": {"stage": self.stage},
            "zero_allow_untested_optimizer": True,
            "gradient_clipping": clip_norm or 0.0,  # 1.0 without a word
        }

    def run_backward(self, loss):
        self.engine.backward(loss if self.weight == 1 else loss * self.weight)

    def gradient(self, param):
        return safe_get_full_grad(param)

    def clip(self, limit):
        if not self.stage:
            super().clip(limit)

    def update(self):
        self.engine.step()

    def state_of(self, param):
        if not self.stage:
            return super().state_of(param)
        kinds = {kind for state in self.optimizer.state.values() for kind, value in state.items() if torch.is_tensor(value) and value.dim()}
        return {kind: safe_get_full_optimizer_state(param, kind) for kind in sorted(kinds)}


if __name__ == "__main__":
    common.serve(DeepSpeed())
