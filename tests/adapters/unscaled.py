"""The built-in engine, told by nobody that its network is quantised: what it is asked goes through here, and scales stay. UNSCALED
names the program."""
import json
import os
import socket
import subprocess
import threading

ours, theirs = socket.socketpair()
yardstick = socket.socket(fileno=int(os.environ["YARDSTICK_FD"]))
engine = subprocess.Popen([os.environ["UNSCALED"]], pass_fds=[theirs.fileno()],
                          env={**os.environ, "YARDSTICK_FD": str(theirs.fileno())})
theirs.close()


def tell():
    for line in yardstick.makefile("rb"):
        message = json.loads(line)
        message.get("plan", {}).pop("scales", None)
        ours.sendall(json.dumps(message).encode() + b"\n")
    ours.shutdown(socket.SHUT_WR)


threading.Thread(target=tell, daemon=True).start()
for answer in ours.makefile("rb"):
    yardstick.sendall(answer)
raise SystemExit(engine.wait())
