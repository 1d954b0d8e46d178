"""Numbers of the adapter protocol. Made by tools/protocol_limits.py from tools/protocol_limits.txt: change that."""
VERSION = 1  # of the protocol
LINE_LIMIT = 33554432  # bytes of a message, without its newline
BLOCK_LIMIT = 262144  # steps in one block: its losses and times must fit one message
LATENCIES_LIMIT = 4096  # requests that one message reports
