"""An adapter that misbehaves as the environment variable MISBEHAVE says; without it, an honest one that does no work.
Needs the standard library alone.

  crash                exits with 3 before it says hello
  segv                 dies of SIGSEGV in `open`
  killed               says so in its log and gets SIGKILL in `open`
  hang                 never answers `open`
  rubbish              sends a line that is not JSON in `open`
  endless_line         sends a line without end in `open`
  close_early          closes the connection in `open` and lives on
  error_unsupported    answers `open` by an error that names an operator
  rude_error           answers `open` by an error of several lines that holds orders to a terminal
  children             leaves processes behind that have left its session and ignore SIGTERM
  children_crash       leaves them behind and crashes
  binary_crash         prints bytes that are no text and crashes in `open`
  hang_after_blocks    sends two blocks, then nothing
  crash_mid_train      exits with 4 after two blocks
  crash_seed SEED      exits with 4 in a run whose plan has that seed, and is honest in all others
  stop_mid_train       stops itself after two blocks
  die_waiting          gets SIGKILL while it is asked nothing, after it has trained
  burn                 has a process beside it that uses a processor all the time
  fill_log             writes 16 MiB to stdout in `train`, then goes on honestly
  memory               takes memory without end in `train`
  wrong_times          sends blocks that end before they start
  nan_loss             sends losses that are not numbers
  exit_nonzero_at_bye  exits with 5 after `bye`
  ignore_bye           does not end after `bye`
  late_message         says something after `bye`
  late_rubbish         says what is no message after `bye`
  children_hang        leaves processes behind, then never answers `open`
  steal_weights        names the plan's own weights as the file of its answer
  linked_answer        names a link in its folder to the plan's weights
  save_elsewhere       saves, and says that it saved something else
  save_unsized         saves, and does not say how many bytes that are
  save_link            makes a link to the plan's weights in place of saving
  slow SECONDS         takes that long for each block, and is honest
  type KIND MEMBER     gives the member MEMBER of messages KIND another type
"""

import json
import os
import signal
import socket
import sys
import time

BEHAVIOUR = os.environ.get("MISBEHAVE", "")
SAVES = BEHAVIOUR.startswith(("save_", "type saved"))
WORKS = SAVES or BEHAVIOUR in ("nan_loss", "steal_weights", "linked_answer")
PACE_S = float(BEHAVIOUR.split()[1]) if BEHAVIOUR.startswith("slow ") else 0.001  # of a block
PLAN = {}  # as opened
SENT = []  # the blocks behind the first step, however many questions they came in


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def hang():
    while True:
        time.sleep(3600)


def leave_children():
    """Two processes that no parent waits for; each ends by itself after ten minutes."""
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)
            os._exit(0)
        os.wait()


def spoilt(value):
    """Something of another type."""
    return [7] if isinstance(value, str) else "7"


def tensors(send):
    """An answer in a file that is not this adapter's own."""
    path = PLAN["weights"]
    if BEHAVIOUR == "linked_answer":
        path = os.path.join(PLAN["folder"], "answer.safetensors")
        os.symlink(PLAN["weights"], path)
    send({"type": "tensors", "path": path})


def save(send, path):
    if BEHAVIOUR == "save_link":
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(PLAN["weights"], path)
    else:
        with open(path, "wb") as file:
            file.write(b"12345")
    said = PLAN["graph"] if BEHAVIOUR == "save_elsewhere" else path
    size = {} if BEHAVIOUR == "save_unsized" else {"bytes": os.path.getsize(said)}
    send({"type": "saved", "path": said, **size})


def burn():
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            pass
        os._exit(0)


def on_open(send, connection):
    if BEHAVIOUR == "burn":
        burn()
    if BEHAVIOUR == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif BEHAVIOUR == "killed":
        print("about to be killed", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    elif BEHAVIOUR == "hang":
        hang()
    elif BEHAVIOUR == "rubbish":
        connection.sendall(b"Loading the framework ...\n")
    elif BEHAVIOUR == "endless_line":
        while True:
            connection.sendall(b"x" * 65536)
    elif BEHAVIOUR == "close_early":
        connection.shutdown(socket.SHUT_RDWR)
        hang()
    elif BEHAVIOUR in ("children", "children_crash", "children_hang"):
        leave_children()
        if BEHAVIOUR == "children_crash":
            os._exit(6)
        if BEHAVIOUR == "children_hang":
            hang()
    elif BEHAVIOUR == "binary_crash":
        os.write(2, bytes(range(256)) * 4 + b"\n" + b"x" * 100000)
        os._exit(7)
    elif BEHAVIOUR == "rude_error":
        return send({"type": "error", "code": "build_failed", "stage": "open", "message": "first\n\x1b[31msecond\r\n\tthird\x07"})
    elif BEHAVIOUR == "error_unsupported":
        return send({"type": "error", "code": "unsupported", "stage": "open", "op": "Conv",
                     "message": "this adapter has no operator Conv"})
    send({"type": "opened", "parameters": 0, "threads": 1, "libraries": [], "deviations": []})


def train(send, message):
    if BEHAVIOUR == "fill_log":
        line, left = b"warning: something is not as it should be\n", 16 << 20
        while left > 0:
            left -= os.write(1, line * 1000)
    hoard = []
    while BEHAVIOUR == "memory":
        hoard.append(bytearray(b"x") * (64 << 20))
    first = message["from"]
    while first < message["to"]:
        is_third = len(SENT) == 2
        if is_third and BEHAVIOUR == "hang_after_blocks":
            hang()
        if is_third and BEHAVIOUR == "stop_mid_train":
            os.kill(os.getpid(), signal.SIGSTOP)
        if is_third and BEHAVIOUR in ("crash_mid_train", "crash_seed %s" % PLAN.get("seed")):
            print("Traceback: something went wrong", file=sys.stderr)
            os._exit(4)
        count = min(message["block"], message["to"] - first)
        start = now()
        time.sleep(PACE_S)
        end = start - 1000000 if BEHAVIOUR == "wrong_times" else now()
        send({"type": "block", "first": first, "count": count, "t_start_ns": start, "t_end_ns": end, "input_ns": 0,
              "loss": ["nan"] * count if BEHAVIOUR == "nan_loss" else [0.5] * count if WORKS else []})
        if message["to"] > 1:
            SENT.append(first)
        first += count
    send({"type": "done"})
    if BEHAVIOUR == "die_waiting" and first > 1:
        os.kill(os.getpid(), signal.SIGKILL)


def main():
    if BEHAVIOUR == "crash":
        print("error: cannot load a library", file=sys.stderr)
        sys.exit(3)
    connection = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))

    def send(message):
        if BEHAVIOUR.startswith("type %s " % message["type"]):
            member = BEHAVIOUR.split()[2]
            message[member] = spoilt(message.get(member))
        connection.sendall(json.dumps(message).encode() + b"\n")

    for line in connection.makefile("rb"):
        message = json.loads(line.decode())
        kind = message["type"]
        if kind == "hello":
            send({"type": "hello", "protocol": 1, "adapter": "misbehaving", "framework": "misbehaving", "version": "1",
                  "runtime": "Python", "devices": ["cpu"], "precisions": ["f64", "f32", "bf16"], "ops": [],
                  "optimizers": ["sgd"], "features": ["train"], "no_work": not WORKS})
        elif kind == "open":
            PLAN.update(message["plan"])
            on_open(send, connection)
        elif kind == "reset":
            send({"type": "done"})
        elif kind == "train":
            train(send, message)
        elif kind == "bye":
            if BEHAVIOUR == "ignore_bye":
                hang()
            if BEHAVIOUR == "late_message":
                send({"type": "done"})
            if BEHAVIOUR == "late_rubbish":
                connection.sendall(b"Goodbye!\n")
            sys.exit(5 if BEHAVIOUR == "exit_nonzero_at_bye" else 0)
        elif kind == "save" and SAVES:
            save(send, message["path"])
        elif kind in ("forward", "backward", "step") and BEHAVIOUR in ("steal_weights", "linked_answer"):
            tensors(send)
        else:
            send({"type": "error", "code": "unsupported", "stage": kind, "message": "this adapter does no work"})


if __name__ == "__main__":
    main()
