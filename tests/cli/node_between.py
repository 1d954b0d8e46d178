#!/usr/bin/env python3
"""Stands where yardstick starts the agent of a host, and does one thing to what is said between the two. NODE_WRONG is the
host and the thing ("1 version"); all other hosts get the agent as it is. NODE_PROGRAM is the agent itself.

The agent gets the address of this program in place of the study's, and lines go both ways."""
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

heard = []  # the words that the agent has said

# Mounts of its own, for a user who may make them.
UNSHARE = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])


def changed(line, wrong):
    """What is said in place of `line`."""
    message = json.loads(line)
    heard.append(message["type"])
    if wrong == "version" and message["type"] == "hello":
        message["version"] = "0.0.1"
    elif wrong == "bytes" and message["type"] == "job":
        message["files"][0]["sha256"] = "0" * 64
    elif wrong == "job" and message["type"] == "job":
        del message["argv"]
    elif wrong in ("slow", "endless", "hang") and message["type"] == "job":
        read_through_a_pipe(message["files"][0], wrong)
    elif wrong in ("table", "lost") and message["type"] == "job":
        for file in message["files"]:
            if file["path"].endswith(".timetable"):
                file.update({"sha256": "0" * 64} if wrong == "table" else {"path": "/nowhere/steps.timetable"})
    elif wrong == "rubbish" and message["type"] == "ready":
        return b"{}\n"
    elif wrong == "rank" and message["type"] == "rank":
        message["rank"] += 1
    elif wrong == "mute" and message["type"] == "hello":
        message["clock"] = "of another kernel"
    elif wrong == "mute" and message["type"] == "ping":
        return b""
    else:
        return line
    return json.dumps(message).encode() + b"\n"


def read_through_a_pipe(file, wrong):
    path, file["path"] = file["path"], os.environ["NODE_PIPE"]
    os.mkfifo(file["path"])
    if wrong != "hang":  # else whoever opens it waits for somebody who writes
        threading.Thread(target=write_slowly, args=(path, file["path"], wrong), daemon=True).start()


def write_slowly(path, pipe, wrong):
    """A byte at a time, until the agent has said twice meanwhile that it lives; or until nobody reads any more."""
    with open(path, "rb") as source, open(pipe, "wb", buffering=0) as target:
        until = time.monotonic() + 60
        try:
            while time.monotonic() < until:
                if wrong == "slow" and heard.count("alive") >= 2:
                    target.write(source.read())
                    return
                target.write(source.read(1))
                time.sleep(0.05)
        except BrokenPipeError:
            pass


def carry(source, target, wrong):
    for line in source.makefile("rb"):
        try:
            target.sendall(changed(line, wrong))
        except OSError:
            break
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    program, address, node = os.environ["NODE_PROGRAM"], sys.argv[1], sys.argv[2]
    which, _, wrong = os.environ.get("NODE_WRONG", "").partition(" ")
    if which != node:
        os.execv(program, [program, address, node])
    if wrong == "token":
        os.execve(program, [program, address, node], dict(os.environ, YARDSTICK_NODE_TOKEN="0" * 32))
    if wrong == "clock":
        os.execvp("unshare", ["unshare", "-T", "--monotonic", "1000", "--boottime", "1000", program, address, node])
    if wrong == "full":  # a disk of this host's own, of one page, lies where its rank saves
        os.execvp(UNSHARE[0], UNSHARE + ["sh", "-c", 'mount -t tmpfs -o size=4k tmpfs "$0" && exec "$@"', os.path.join(os.getcwd(), "rank-" + node),
                                         program, address, node])
    if wrong == "twice":
        with subprocess.Popen([program, address, node]) as first:
            time.sleep(0.5)
            subprocess.run([program, address, node], check=False)
            sys.exit(first.wait())
    host, port = re.fullmatch(r"(.*):(\d+)", address).groups()
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection((host, int(port))) as study, \
            subprocess.Popen([program, "127.0.0.1:%d" % door.getsockname()[1], node]) as agent:
        connection = door.accept()[0]
        ways = [threading.Thread(target=carry, args=ends) for ends in ((study, connection, wrong), (connection, study, wrong))]
        for way in ways:
            way.start()
        code = agent.wait()
        for way in ways:
            way.join()
    sys.exit(code)


if __name__ == "__main__":
    main()
