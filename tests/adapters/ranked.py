"""The built-in engine behind a middleman that spoils what it is told, where it is one of several ranks. The environment
variable RANKED_WRONG names the mistake, and RANKED_BIN where the engine is, on hosts that do not know it otherwise:

  decay    rank 1 leaves the weight decay out
  rows     rank 1 is fed the rows of rank 0
  sum      gradients are summed where their mean is due (rates are as many times as large: the same for plain SGD)
  even     each rank's mean counts for as much, however many of its targets are hidden
  alone    each rank trains by itself, on its share
  local    batch normalisation takes each rank's own rows
  bypass   on hosts that are network namespaces of one machine, gradients go over the loopback interface of that
           machine's own, which RANKED_HOME is the file of
  nowhere  it says that its connections are in a network namespace that there is not
  mute     it does not say that it has the feature dist
"""
import json
import os
import socket
import struct
import subprocess
import sys
import threading

WRONG = os.environ.get("RANKED_WRONG", "")


def read_order(path):
    """Rows and rates, as lists."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    head, body = json.loads(data[8:8 + size]), data[8 + size:]
    begin, end = head["order"]["data_offsets"]
    steps, batch = head["order"]["shape"]
    flat = struct.unpack("<%dI" % (steps * batch), body[begin:end])
    begin, end = head["lr"]["data_offsets"]
    return [list(flat[s * batch:(s + 1) * batch]) for s in range(steps)], struct.unpack("<%dd" % steps, body[begin:end])


def write_order(path, rows, rates):
    flat = [row for step in rows for row in step]
    lr, order = struct.pack("<%dd" % len(rates), *rates), struct.pack("<%dI" % len(flat), *flat)
    head = json.dumps({"lr": {"dtype": "F64", "shape": [len(rates)], "data_offsets": [0, len(lr)]},
                       "order": {"dtype": "U32", "shape": [len(rows), len(rows[0])],
                                 "data_offsets": [len(lr), len(lr) + len(order)]}})
    head += " " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head.encode() + lr + order)


def spoil(plan):
    dist = plan["dist"]
    rank, world = dist["rank"], dist["world"]
    if world == 1:
        return
    rows, rates = read_order(plan["input"]["order"])
    share = len(rows[0]) // world
    if WRONG == "bypass":
        dist["address"] = "127.0.0.1"
        dist["rendezvous"] = "127.0.0.1:" + dist["rendezvous"].split(":")[1]
    if WRONG == "decay" and rank == 1:
        plan["optimizer"]["weight_decay"] = 0.0
    if WRONG == "local":
        dist["statistics"] = "local"
    if WRONG == "rows" and rank == 1:
        rows = [step[:share] + step[:share] + step[2 * share:] for step in rows]
    if WRONG == "even":  # as it sees it, all ranks have its own rows
        rows = [world * step[rank * share:(rank + 1) * share] for step in rows]
    if WRONG == "sum":
        rates = [rate * world for rate in rates]
    if WRONG == "alone":
        rows = [step[rank * share:(rank + 1) * share] for step in rows]
        plan["batch"] = share
        plan["dist"] = {"rank": 0, "world": 1, "local_rank": 0, "rendezvous": None}
    plan["input"]["order"] = os.path.join(plan["folder"], "spoilt-order.safetensors")
    write_order(plan["input"]["order"], rows, rates)


def pass_on(source, sink, change):
    with source.makefile("rb") as lines:
        for line in lines:
            message = json.loads(line)
            change(message)
            try:
                sink.sendall(json.dumps(message).encode() + b"\n")
            except OSError:  # it has ended meanwhile
                break
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def change_question(message):
    if message.get("type") == "open":
        spoil(message["plan"])


def change_answer(message):
    if message.get("type") == "hello" and WRONG == "mute":
        message["features"].remove("dist")

    if message.get("type") == "opened" and WRONG == "nowhere":
        message["network"] = "/run/netns/nowhere"


def main():
    yardstick = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))
    mine, theirs = socket.socketpair()
    program = os.path.join(os.environ.get("RANKED_BIN") or os.environ["YARDSTICK_BIN"], "yardstick-builtin")
    around = ["nsenter", "--net=" + os.environ["RANKED_HOME"]] if WRONG == "bypass" else []
    child = subprocess.Popen([*around, program], pass_fds=[theirs.fileno()],
                             env=dict(os.environ, YARDSTICK_FD=str(theirs.fileno())))
    theirs.close()
    threading.Thread(target=pass_on, args=(yardstick, mine, change_question), daemon=True).start()
    pass_on(mine, yardstick, change_answer)
    sys.exit(child.wait())


main()
