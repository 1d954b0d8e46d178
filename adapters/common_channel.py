"""The socket to yardstick, and errors that are answered over it."""

import json
import os
import socket
import sys

from common_protocol import LINE_LIMIT


class AdapterError(Exception):
    """Answered by an `error` message with `code`, a run status."""

    code = "crashed"

    def __init__(self, message, op=None):
        super().__init__(message)
        self.op = op


class Unsupported(AdapterError):
    """The framework, or this adapter, cannot do what was asked. `op` names the operator, where it is one."""

    code = "unsupported"


class ProtocolError(AdapterError):
    """The message is not one that may come now, or an argument is out of range."""

    code = "protocol_error"


class LoadFailed(AdapterError):
    """A file of the plan, or the framework itself, could not be loaded."""

    code = "load_failed"


class BuildFailed(AdapterError):
    """The framework refused to make the network or the optimizer."""

    code = "build_failed"


class Channel:
    """One JSON object a line over the socket that YARDSTICK_FD names."""

    def __init__(self):
        try:
            fd = int(os.environ["YARDSTICK_FD"])
        except (KeyError, ValueError):
            sys.exit("this program is an adapter: yardstick starts it and names a socket in YARDSTICK_FD")
        os.set_inheritable(fd, False)  # programs that the framework starts must not hold the connection open
        self._socket = socket.socket(fileno=fd)
        self._reader = self._socket.makefile("rb")

    def receive(self):
        """The next message, or None at the end of the file."""
        line = self._reader.readline(LINE_LIMIT + 1)
        if not line:
            return None
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError:
            message = None
        if not line.endswith(b"\n") or not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise ProtocolError("a line that is not a message: %r" % line[:60])
        return message

    def send(self, message):
        self._socket.sendall(json.dumps(message, separators=(",", ":"), allow_nan=False).encode("utf-8") + b"\n")

    def send_error(self, code, stage, message, op=None):
        error = {"type": "error", "code": code, "stage": stage, "message": message}
        if op is not None:
            error["op"] = op
        self.send(error)
