-- Numbers and messages of the adapter protocol. Made by tools/protocol.py from tools/protocol_limits.txt and tools/protocol_messages.txt: change that.
return {
   VERSION = 1, -- of the protocol
   LINE_LIMIT = 33554432, -- bytes of a message, without its newline
   BLOCK_LIMIT = 262144, -- steps in one block: its losses and times must fit one message
   LATENCIES_LIMIT = 4096, -- requests that one message reports
   -- What can be asked: whether a plan must be open, and the mode that it must have, if any.
   QUESTIONS = {
      {name = 'hello', plan = false},
      {name = 'open', plan = false},
      {name = 'reset', plan = true},
      {name = 'forward', plan = true},
      {name = 'backward', plan = true, mode = 'train'},
      {name = 'step', plan = true},
      {name = 'train', plan = true, mode = 'train'},
      {name = 'infer', plan = true, mode = 'infer'},
      {name = 'input_gradient', plan = true},
      {name = 'save', plan = true},
      {name = 'bye', plan = false},
   },
}
