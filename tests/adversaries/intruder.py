"""An adapter that does its work honestly, and in its runs one thing beside it that it may not, which the variable CHEAT
names. All but that is tests/adapters/plain.py. CHEAT_KEEP names a folder in which it may keep something between runs.

  inputs          sets rates, initial weights and labels in the prepared files to 0, in the run with seed 1
  inputs_mapped   the same through mappings, and gives the files their old times
  store           makes every run that is stored twice as fast
  other_run       writes beside its own folder, where other runs lie
  hello, open, save  uses 11 s of processor time there, or before it
  steal           answers `save` with the path of the initial weights in the cache
  ahead_open, ahead_first, ahead_block, ahead_pause  trains all steps in open, in the first step, in the block behind it, or in
                  the first save between steps, says in the others what it had, and saves the weights of the step at which it
                  is asked to
  last_block      says that all blocks but the last took no time
  more            trains as many steps again when it saves at the end
  between         trains between its blocks and says that the blocks took no time
  waits           says that it waited for rows all the time
  shrunk          says that each block took a tenth of its time
  replay          says what it said in an earlier run, and hands its weights out
  proof_weights   hands out the weights that it trained in the proof
  cancelled       says in the run with seed 2 that it was cancelled
  helper          starts a helper that leaves its session and its parent, and uses 1 s of processor time
  cpus            frees itself from the CPUs that it was given
  blocks          blocks the paths of runs to come, as far as it can guess them
  leaves          leaves shared memory, of System V too, and a temporary file that have its number
  says            says of itself what is not so
  negative        says that it has fewer parameters than none
  features        tells in its runs that it can save no state, as it told in its proof that it can
  idle            says in its runs that it does no work
"""

import ctypes
import mmap
import os
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "adapters"))

import plain  # noqa: E402  (sets the path of common)
import common  # noqa: E402
import numpy as np  # noqa: E402

CHEAT = os.environ.get("CHEAT", "")
KEEP = os.environ.get("CHEAT_KEEP", "")
PROOF_STEPS = 10


def burn(seconds, processes=2):
    """Uses so much processor time, in processes of its own."""
    children = []
    for _ in range(processes):
        pid = os.fork()
        if pid == 0:
            while time.process_time() < seconds / processes:
                pass
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def pretend():
    """So much processor time that it could be a block of work on some processor."""
    end = time.process_time() + 0.001
    while time.process_time() < end:
        pass


def attempt(what, change, *arguments):
    try:
        change(*arguments)
        print("intruder: done:", what, flush=True)
    except (OSError, sqlite3.Error) as error:
        print("intruder: refused:", what, error, flush=True)


def blank(path, mapped):
    """Sets the second half of the file, which is all data, to 0."""
    before = os.stat(path)
    half = before.st_size // 2
    with open(path, "r+b") as file:
        if mapped:
            with mmap.mmap(file.fileno(), 0) as memory:
                memory[half:] = bytes(before.st_size - half)
        else:
            file.seek(half)
            file.write(bytes(before.st_size - half))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def double_speeds(path):
    db = sqlite3.connect(path, timeout=30)
    with db:
        db.execute("update metric set value = value * 2 where name = 'rate_per_s'")
    db.close()


def spoil(path):
    with open(path, "ab") as file:
        file.write(b"\0")


def leave_segment():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(0, ctypes.c_size_t(123456), 0o600) < 0:
        raise OSError(ctypes.get_errno(), "shmget")


def helper():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while time.process_time() < 1:
                pass
            os._exit(0)
        os._exit(0)
    os.wait()


class Intruder(plain.Plain):
    name = framework = "intruder"

    def build(self, plan):
        self.worked, self.told_steps, self.ahead, self.kept = 0, 0, {}, {}
        self.runs = plan.steps > PROOF_STEPS
        self.cheats = CHEAT if self.runs else ""
        if self.cheats.startswith("inputs") and plan.seed == 1:
            for path in (self.raw["input"]["order"], self.raw["weights"], self.raw["input"]["path"]):
                attempt(os.path.basename(path), blank, path, self.cheats == "inputs_mapped")
        folder = self.raw["folder"]
        results = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        if self.cheats == "store":
            attempt("results.db", double_speeds, os.path.join(results, "results.db"))
        if self.cheats == "other_run":
            beside = os.path.dirname(folder)
            for other in [beside] + [os.path.join(beside, name) for name in os.listdir(beside) if not folder.endswith(name)]:
                attempt("beside", spoil, os.path.join(other, "weights.safetensors"))
        if self.cheats == "blocks":
            self.block_rivals(os.path.dirname(folder), os.path.basename(folder))
        if self.cheats == "helper":
            helper()
        if self.cheats == "cpus":
            os.sched_setaffinity(0, range(os.cpu_count()))
        if self.cheats == "leaves":
            for folder in ("/dev/shm", "/tmp"):
                attempt(folder, spoil, "%s/intruder-%d" % (folder, os.getpid()))
            attempt("segment", leave_segment)
        if self.cheats == "open":
            burn(11)
        reply = super().build(plan)
        if self.cheats == "ahead_open":
            self.train_ahead()
        if self.cheats == "negative":
            reply.update(parameters=-7)
        if self.cheats == "says":
            reply.update(parameters=7, threads=64, libraries=["BLIS 4.0"])
        return reply

    def block_rivals(self, runs, own):
        """Folders are called r0-t1-a0- and eight random digits: its own digits, no digits, and the next trial's place."""
        place, digits = own.rsplit("-", 1)
        for trial in range(4):
            for name in (place[:place.index("-t")] + "-t%d-a0" % trial, "r0-t%d-a0-%s" % (trial, digits), "r1-t%d-a0-%s" % (trial, digits)):
                if name != own:
                    attempt("block " + name, spoil, os.path.join(runs, name))

    def train_step(self, x, y, lr):
        began = time.process_time()
        loss = super().train_step(x, y, lr)
        self.worked += time.process_time() - began
        return loss

    def train_ahead(self):
        for step in range(self.network.steps, self.plan.steps):
            self.ahead[step] = self.train_step(*self.plan.batch(step), self.plan.lr[step])
            self.kept[step + 1] = {name: self.told(value) for name, value in super().weights().items()}

    def weights(self):
        if self.told_steps == self.plan.steps:
            print("intruder: worked %.6f" % self.worked, flush=True)
        if self.cheats == "ahead_pause" and self.network.steps < self.plan.steps:
            self.kept[self.told_steps] = super().weights()
            self.train_ahead()
        if self.kept:
            return self.kept[self.told_steps]
        if self.cheats == "more" and self.network.steps == self.plan.steps:
            for step in range(self.plan.steps):
                self.train_step(*self.plan.batch(step), self.plan.lr[step])
        if self.cheats == "save":
            burn(11)
        kept = os.path.join(KEEP, "weights.npz")
        if CHEAT == "proof_weights" and not self.runs and self.network.steps:
            np.savez(kept, **self.network.weights)
        if self.cheats == "proof_weights":
            with np.load(kept) as stored:
                return {name: self.told(stored[name]) for name in stored}
        return super().weights()


class Server(common._Server):
    def on_hello(self, message):
        reply = super().on_hello(message)
        is_run = "runs" in os.getcwd().split(os.sep)
        if CHEAT == "idle":
            reply["no_work"] = is_run
        if CHEAT == "features":
            reply["features"] = [feature for feature in reply["features"] if feature != "state"] + ["state"] * (not is_run)
        return reply

    def on_open(self, message):
        self.adapter.raw = message["plan"]
        return super().on_open(message)

    def on_save(self, message):
        reply = super().on_save(message)
        if self.adapter.cheats == "steal":
            print("intruder: done: steal", self.adapter.raw["weights"], flush=True)
            reply["path"], reply["bytes"] = self.adapter.raw["weights"], os.path.getsize(self.adapter.raw["weights"])
        return reply

    def _train_block(self, first, last):
        cheats = self.adapter.cheats
        if cheats == "cancelled" and self.plan.seed == 2 and first > 4:
            error = common.AdapterError("the user asked to stop")
            error.code = "cancelled"
            raise error
        if cheats == "replay":
            return self.replayed(first, last)
        self.adapter.told_steps = last
        if first == {"ahead_first": 0, "ahead_block": 1}.get(cheats):
            self.adapter.train_ahead()
        if cheats.startswith("ahead") and first in self.adapter.ahead:
            pretend()
            now, losses = time.monotonic_ns(), self.adapter.losses([self.adapter.ahead[step] for step in range(first, last)])
            return {"type": "block", "first": first, "count": last - first, "t_start_ns": now, "t_end_ns": time.monotonic_ns(),
                    "input_ns": 0, "loss": losses}
        block = super()._train_block(first, last)
        if cheats == "between":
            time.sleep(0.05)
            block["t_start_ns"] = block["t_end_ns"] = time.monotonic_ns()
            block["input_ns"] = 0
        if cheats == "waits":
            block["input_ns"] = block["t_end_ns"] - block["t_start_ns"]
        if cheats == "last_block" and first > 0:
            self.began = min(getattr(self, "began", block["t_start_ns"]), block["t_start_ns"])
            block["t_start_ns"] = self.began + first
            block["t_end_ns"] = self.began + last if last < self.plan.steps else block["t_end_ns"]
            block["input_ns"] = 0
        if cheats == "shrunk":
            block["t_start_ns"] = block["t_end_ns"] - (block["t_end_ns"] - block["t_start_ns"]) // 10
            block["input_ns"] = 0
        return block

    def replayed(self, first, last):
        kept = os.path.join(KEEP, "losses-%d" % first)
        if not os.path.exists(kept):
            block = super()._train_block(first, last)
            with open(kept, "w") as file:
                file.write(" ".join(map(repr, block["loss"])))
            return block
        with open(kept) as file:
            losses = [float(loss) for loss in file.read().split()]
        now = time.monotonic_ns()
        return {"type": "block", "first": first, "count": last - first, "t_start_ns": now, "t_end_ns": now, "input_ns": 0,
                "loss": losses}


if __name__ == "__main__":
    common._Server = Server
    if CHEAT == "hello":
        burn(11)
    common.serve(Intruder())
