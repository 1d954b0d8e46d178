"""Numbers and messages of the adapter protocol. Made by tools/protocol.py from tools/protocol_limits.txt and tools/protocol_messages.txt: change that."""
VERSION = 1  # of the protocol
LINE_LIMIT = 33554432  # bytes of a message, without its newline
BLOCK_LIMIT = 262144  # steps in one block: its losses and times must fit one message
LATENCIES_LIMIT = 4096  # requests that one message reports
# What can be asked: whether a plan must be open, and the mode that it must have, if any.
QUESTIONS = {
    "hello": (False, None),
    "open": (False, None),
    "reset": (True, None),
    "forward": (True, None),
    "backward": (True, "train"),
    "step": (True, None),
    "train": (True, "train"),
    "infer": (True, "infer"),
    "input_gradient": (True, None),
    "save": (True, None),
    "bye": (False, None),
}
