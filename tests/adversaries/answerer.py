"""An adapter that answers honestly in its proof, and to its requests as the variable CHEAT says. All but that is
tests/adapters/plain.py. CHEAT_KEEP names a folder in which it may keep something between runs.

  opened       computes all answers when it opens, and then gives them
  cached       computes the answer to each row of the order once and gives it again
  other_rows   answers with the rows of the next request
  one          gives the first answer to all requests
  zeros        shows zeros
  unwritten    shows nothing
  half         computes the first half of each batch and shows that for both
  narrow       multiplies with weights rounded to bfloat16
  late         says latencies in which it did not work, and answers later
  early        answers first, and says later latencies in which it did not work
  shrunk       works a tenth of a second for each request and says a tenth of that
  replay       shows what it answered in an earlier run
  length       shows one value less than there are
  cut          cuts the ring
  head         changes the ring's head
  ahead        shows the answer as that of a request that is yet to come
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "adapters"))

import plain  # noqa: E402  (sets the path of common)
import common  # noqa: E402
import numpy as np  # noqa: E402

CHEAT = os.environ.get("CHEAT", "")
KEEP = os.environ.get("CHEAT_KEEP", "")
AT_ONCE = 64  # requests of one report


class Answerer(plain.Plain):
    name = framework = "answerer"
    modes = ("train", "infer")
    worked, answers = 0, 0

    def infer_step(self, x):
        began = time.process_time()
        answer = self.told(self.network.forward(x.astype(np.float64), False))
        self.worked += time.process_time() - began
        self.answers += 1
        return answer


def narrow(values):
    """Cut to bfloat16."""
    return (values.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(np.float64)


class Server(common._Server):
    kept = {}

    def on_open(self, message):
        reply = super().on_open(message)
        if CHEAT == "opened" and "runs" in os.getcwd().split(os.sep):
            for batch in range(self.plan.steps):
                self.kept[batch] = self.adapter.infer_step(self.plan.rows(batch))
        return reply

    def on_infer(self, message):
        self.path = message.get("answers")
        if CHEAT == "narrow":
            network = self.adapter.network
            network.weights.update((name, narrow(value)) for name, value in network.weights.items())
        return super().on_infer(message)

    def logits_of(self, request):
        rows = self.plan.rows
        batch = request % self.plan.steps
        answer = self.adapter.infer_step
        if CHEAT == "other_rows":
            return answer(rows((batch + 1) % self.plan.steps))
        if CHEAT == "one":
            return self.kept.setdefault(0, answer(rows(batch)))
        if CHEAT in ("cached", "opened"):
            if batch not in self.kept:
                self.kept[batch] = answer(rows(batch))
            return self.kept[batch]
        if CHEAT == "half":
            x = rows(batch)
            half = answer(x[:len(x) // 2])
            return np.concatenate([half, half])
        if CHEAT == "replay":
            path = os.path.join(KEEP, "answer-%d.npy" % request)
            if os.path.exists(path):
                return np.load(path)
            logits = answer(rows(batch))
            np.save(path, logits)
            return logits
        logits = answer(rows(batch))
        return np.zeros_like(logits) if CHEAT == "zeros" else logits.ravel()[:-1] if CHEAT == "length" else logits

    def show(self, ring, request, logits):
        if CHEAT == "cut":
            os.truncate(self.path, 100)
        elif CHEAT == "head":
            ring._map[0] = 0
        elif CHEAT != "unwritten":
            ring.show(request + (10 ** 6 if CHEAT == "ahead" else 0), request % self.plan.steps, logits)

    def work(self, requests, ring):
        for request in requests:
            self.show(ring, request, self.logits_of(request))

    def _answer_requests(self, first, end, ring):
        if CHEAT == "nothing" or ring is None:
            return super()._answer_requests(first, end, ring)
        now, latencies, requests = time.monotonic_ns, [], range(first, min(first + AT_ONCE, end))
        if CHEAT == "early":
            self.work(requests, ring)
            time.sleep(0.01)
        start = now()
        for request in requests:
            asked = now()
            if CHEAT not in ("late", "early"):
                self.work([request], ring)
            latencies.append(now() - asked)
            if CHEAT == "shrunk":
                time.sleep(0.1)
                latencies[-1] += 10 ** 7
        last = now()
        if CHEAT == "late":
            time.sleep(0.01)
            self.work(requests, ring)
        if self.adapter.answers:  # else all were kept
            print("answerer: took %.9f" % (self.adapter.worked / self.adapter.answers), flush=True)
        return {"type": "latencies", "first": first, "count": len(latencies), "t_start_ns": start, "t_end_ns": last,
                "latency_ns": latencies}


if __name__ == "__main__":
    common._Server = Server
    common.serve(Answerer())
