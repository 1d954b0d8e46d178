"""The built-in engine, told something else than was said of its network in integers: what it is asked goes through here. ENGINE
names the program, WRONG what it does: unscaled (it is told of no scales), no-zero-point, other-channel (each channel of a
weight has the scale of the one before), half-away (halves go away from zero: no other number is moved over a half)."""
import json
import os
import socket
import subprocess
import sys
import threading

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "adapters"))
from common_tensors import read_safetensors, write_safetensors  # noqa: E402

ours, theirs = socket.socketpair()
yardstick = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))
engine = subprocess.Popen([os.environ["ENGINE"]], pass_fds=[theirs.fileno()],
                          env={**os.environ, "YARDSTICK_FD": str(theirs.fileno())})
theirs.close()


def change_scales(plan, change):
    with open(plan["scales"], encoding="utf-8") as file:
        scales = json.load(file)
    change(scales)
    plan["scales"] = os.path.join(plan["folder"], "wrong-scales.json")
    with open(plan["scales"], "w", encoding="utf-8") as file:
        json.dump(scales, file)


def leave_out_zero_points(scales):
    for activation in scales["activations"]:
        activation["zero_point"] = 0


def turn_channels(scales):
    for weight in scales["weights"]:
        weight["scales"] = weight["scales"][-1:] + weight["scales"][:-1]


def move_halves(plan):
    tensors = read_safetensors(plan["input"]["path"])
    if tensors["x"].dtype != np.float32:  # the network itself: the one of its operators has numbers
        return
    x = tensors["x"]
    plan["input"]["path"] = os.path.join(plan["folder"], "wrong-data.safetensors")
    write_safetensors(plan["input"]["path"], {**tensors, "x": np.nextafter(x, np.where(x == 0, 0, np.copysign(np.inf, x)).astype(np.float32))})


WRONG = {"unscaled": lambda plan: plan.pop("scales"),
         "no-zero-point": lambda plan: change_scales(plan, leave_out_zero_points),
         "other-channel": lambda plan: change_scales(plan, turn_channels),
         "half-away": move_halves}


def tell():
    for line in yardstick.makefile("rb"):
        message = json.loads(line)
        if message.get("plan", {}).get("scales"):
            WRONG[os.environ["WRONG"]](message["plan"])
        ours.sendall(json.dumps(message).encode() + b"\n")
    ours.shutdown(socket.SHUT_WR)


threading.Thread(target=tell, daemon=True).start()
for answer in ours.makefile("rb"):
    yardstick.sendall(answer)
raise SystemExit(engine.wait())
