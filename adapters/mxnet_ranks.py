"""Several processes that train together: MXNet's key-value store `dist_sync`, as MXNet's own launcher sets it up. Each process has a
server beside it, which sums a part of the gradients, and rank 0 the scheduler by which all find each other; both are what the
import of MXNet becomes where DMLC_ROLE says so, and end with the store."""

import os
import subprocess
import sys

from mxnet import kv


class Store:
    def __init__(self, plan, gradients):
        host, port = plan.rendezvous.rsplit(":", 1)
        os.environ.update(DMLC_PS_ROOT_URI=host, DMLC_PS_ROOT_PORT=port, DMLC_NODE_HOST=plan.address,
                          DMLC_NUM_WORKER=str(plan.world), DMLC_NUM_SERVER=str(plan.world))
        self.others = [subprocess.Popen([sys.executable, "-c", "import mxnet"], env=dict(os.environ, DMLC_ROLE=role))
                       for role in ("scheduler", "server")[plan.rank > 0:]]
        os.environ["DMLC_ROLE"] = "worker"
        self.world, self.gradients, self.keys = plan.world, gradients, list(range(len(gradients)))
        self.store = kv.create("dist_sync")
        self.store.init(self.keys, [gradient.zeros_like() for gradient in gradients])

    def take_mean(self, weight):
        """Of the gradients of all ranks; weight: of this one's."""
        for gradient in self.gradients:
            gradient *= weight / self.world
        self.store.pushpull(self.keys, self.gradients, out=self.gradients)

    def close(self):
        self.store = None  # it waits for those of the others, and tells the servers to end
        for other in self.others:
            other.wait()
