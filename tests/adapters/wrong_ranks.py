"""Paddle, Chainer and MXNet made wrong on purpose as several processes train them, to show that the proof finds each mistake in them as it
does in wrong_pytorch.py, by the same names, and two more:

    ranks_alone      the gradients of rank 1, which are not rank 0's: nothing is exchanged
    ranks_broadcast  the weights after 1 step: the first batch is spent on a broadcast (ChainerMN's own optimizer does that)

Each is what stands before the adapter among the parents of a class: wrong_sequences.py puts them together.
"""

import wrong_one


def of_paddle():
    import paddle

    class Summed:
        """The gradients of ranks are summed, where their mean is due."""

        def run_backward(self, loss):
            super().run_backward(loss)
            with paddle.no_grad():
                for param in self.trained.values():
                    param.grad.scale_(float(self.plan.world))

    class Rows:
        """Every rank takes the rows of rank 0."""

        def distribute(self):
            run = super().distribute()
            order = paddle.to_tensor(self.plan._order.astype("int64"))
            paddle.distributed.broadcast(order, 0)
            self.plan._order = order.numpy()
            return run

    class Stale:
        """A step takes the gradients of the step before, as where it does not wait for the exchange; the first its own."""

        def make_optimizer(self):
            super().make_optimizer()
            update, before = self.optimizer.step, {}

            def late():
                for name, param in self.trained.items():
                    own = param.grad.clone()
                    param.grad.set_value(before.get(name, own))
                    before[name] = own
                update()

            self.optimizer.step = late

    class Bucket:
        """The parameters of the network's end, whose gradients are there first, are not exchanged."""

        def distribute(self):
            for param in self.net.parameters()[-2:]:
                param.no_sync = True
            return super().distribute()

    class Alone:
        """Nothing is exchanged."""

        def distribute(self):
            run = super().distribute()
            run.grad_need_sync = False
            return run

    return {"ranks_summed": Summed, "ranks_rows": Rows, "ranks_decay": Decay, "ranks_stale": Stale, "ranks_bucket": Bucket, "ranks_alone": Alone,
            "ranks_even": wrong_one.Even}


def of_chainer():
    class Exchange:
        """Something else is done in the place of the mean."""

        def exchange(self, communicator, net):
            raise NotImplementedError

        def distribute(self):
            link = super().distribute()
            self.mean = self.communicator.multi_node_mean_grad
            self.communicator.multi_node_mean_grad = lambda net: self.exchange(self.communicator, net)
            return link

    class Summed(Exchange):
        """The gradients of ranks are summed, where their mean is due."""

        def exchange(self, communicator, net):
            self.mean(net)
            for param in net.params():
                param.grad *= communicator.size

    class Rows:
        """Every rank takes the rows of rank 0."""

        def distribute(self):
            link = super().distribute()
            self.plan._order = self.communicator.mpi_comm.bcast(self.plan._order)
            return link

    class Stale:
        """A step takes the gradients of the step before, as where it does not wait for the exchange; the first its own."""

        def make_optimizer(self):
            super().make_optimizer()
            before = {}

            def late(_optimizer):
                for name, param in self.net.namedparams():
                    own = param.grad.copy()
                    param.grad[...] = before.get(name, own)
                    before[name] = own

            self.optimizer.add_hook(late, "late")

    class Bucket(Exchange):
        """The parameters of the network's end are not exchanged."""

        def exchange(self, communicator, net):
            kept = [(param, param.grad.copy()) for param in list(net.params())[-2:]]
            self.mean(net)
            for param, gradient in kept:
                param.grad[...] = gradient

    class Alone(Exchange):
        """Nothing is exchanged."""

        def exchange(self, communicator, net):
            pass

    class Local:
        """Each rank normalises by its own rows, whatever was asked."""

        def distribute(self):
            self.plan.statistics = "local"
            return super().distribute()

    class Broadcast:
        """The optimizer is ChainerMN's, whose first update is a broadcast of the weights."""

        def make_optimizer(self):
            import chainermn

            super().make_optimizer()
            self.optimizer = chainermn.create_multi_node_optimizer(self.optimizer, self.communicator)

    return {"ranks_summed": Summed, "ranks_rows": Rows, "ranks_decay": Decay, "ranks_stale": Stale, "ranks_bucket": Bucket,
            "ranks_alone": Alone, "ranks_local": Local, "ranks_broadcast": Broadcast, "ranks_even": wrong_one.Even}


def of_mxnet():
    class Exchange:
        """Something else is done in the place of the mean."""

        def exchange(self, store, weight):
            raise NotImplementedError

        def distribute(self):
            store = super().distribute()
            self.mean = store.take_mean
            store.take_mean = lambda weight: self.exchange(store, weight)
            return store

    class Summed(Exchange):
        """The gradients of ranks are summed, as the store does, where their mean is due."""

        def exchange(self, store, weight):
            self.mean(weight * store.world)

    class Rows:
        """Every rank takes the rows of rank 0."""

        def distribute(self):
            wrong_one.take_rows_of_rank_0(self.plan)
            return super().distribute()

    class Stale:
        """A step takes the gradients of the step before, as where it does not wait for the exchange; the first its own."""

        def make_optimizer(self):
            super().make_optimizer()
            self.before = {}

        def set_rate(self, lr):
            for key, gradient in enumerate(self.gradients):
                own = gradient.copy()
                gradient[:] = self.before.get(key, own)
                self.before[key] = own
            super().set_rate(lr)

    class Bucket:
        """The keys of the network's end are left out of the store."""

        def distribute(self):
            store = super().distribute()
            store.keys, store.gradients = store.keys[:-2], store.gradients[:-2]
            return store

    class Alone(Exchange):
        """Nothing is exchanged."""

        def exchange(self, store, weight):
            pass

    return {"ranks_summed": Summed, "ranks_rows": Rows, "ranks_decay": Decay, "ranks_stale": Stale, "ranks_bucket": Bucket, "ranks_alone": Alone,
            "ranks_even": wrong_one.Even}


class Decay:
    """One rank leaves the weight decay out."""

    def make_optimizer(self):
        if self.plan.rank == 1:
            self.plan.optimizer["weight_decay"] = 0.0
        super().make_optimizer()


def mistakes(framework):
    """{name: class} of a framework; none of those that do not train in several processes."""
    return {"paddle": of_paddle, "chainer": of_chainer, "mxnet": of_mxnet}.get(framework, dict)()
