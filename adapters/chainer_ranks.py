"""Several processes that train together: ChainerMN, over the MPI that mpi4py finds. The adapter imports it where there are several,
for that import starts MPI."""

import chainermn
import common_meeting
from mpi4py import MPI

import chainer


def meet(plan):
    """The communicator of all ranks: `naive`, the one that ChainerMN has for CPUs. No mpiexec has started them, so one after the
    other comes to those that are there already, at a port of its own."""
    ports = [MPI.Open_port() for _ in range(1, plan.world)] if plan.rank == 0 else None
    ports, *_ = common_meeting.share(plan, ports)
    ranks = MPI.COMM_SELF
    for newcomer, port in enumerate(ports, 1):
        if newcomer == plan.rank:
            ranks = MPI.COMM_SELF.Connect(port).Merge(high=True)
        elif newcomer > plan.rank:
            ranks = ranks.Accept(port).Merge(high=False)
    return chainermn.create_communicator("naive", ranks)


class BatchNormalization(chainermn.links.MultiNodeBatchNormalization):
    """By the rows of all ranks. ChainerMN's own corrects the running variance by how many values its own rank has."""

    def __call__(self, x):
        before = self.decay * self.avg_var
        y = super().__call__(x)
        if chainer.config.train:
            own, count = (x.size // len(before) * ranks for ranks in (1, self.comm.size))
            self.avg_var[...] = before + (self.avg_var - before) * (count / (count - 1) * max(own - 1, 1) / own)
        return y
