--[[ What adapters in Lua share: the message loop, the plan and its files, the timing of blocks and requests. The other
half of docs/protocol.md, as common.py is for Python. Needs LuaJIT (its ffi), on Linux, and nothing else.

An adapter is a table that common.serve() is given:

   name, framework, version         texts
   precisions, modes, losses, optimizers, ops, extras, options     sets: {f32 = true}; options: name -> value without it
   build(self, plan)         makes network and optimizer; gives {parameters, threads, libraries, deviations}
   reset(self)               weights, buffers and optimizer as after build
   read(self, step)          fetches the rows of `step` by plan:rows() and plan:labels()
   forward(self, train)      of what was read: {x, y, logits, loss}, arrays, and multiply_adds of a row, a number, if it
                             can count them; changes no state
   backward(self, train)     loss, {parameter: gradient}; arrays; changes no state
   train_step(self, lr)      one step; gives its loss, a number
   infer_step(self)          the logits of what was read, an array in memory
   weights(self, single)     {name: array} of every parameter and buffer; `single`: as float32

An array is {dtype = "F32", shape = {2, 3}, data = pointer, keep = whatever must live as long}. ]]

local ffi = require 'ffi'

ffi.cdef [[
   typedef struct { long tv_sec; long tv_nsec; } ys_timespec;
   typedef struct { uint64_t sequence, request; uint32_t batch, count; } ys_ring_slot;
   int clock_gettime(int clock, ys_timespec *time);
   int open(const char *path, int flags, ...);
   int close(int fd);
   long lseek(int fd, long offset, int whence);
   long read(int fd, void *data, size_t size);
   long write(int fd, const void *data, size_t size);
   long send(int fd, const void *data, size_t size, int flags);
   int fcntl(int fd, int command, ...);
   void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
   int munmap(void *address, size_t size);
   int access(const char *path, int mode);
   int rename(const char *from, const char *to);
   char *strerror(int error);
   void exit(int status);
   void _exit(int status);
]]

local C = ffi.C
local common = {}

local protocol = require 'common_protocol'
local PROTOCOL, LINE_LIMIT, BLOCK_LIMIT, LATENCIES_LIMIT =
   protocol.VERSION, protocol.LINE_LIMIT, protocol.BLOCK_LIMIT, protocol.LATENCIES_LIMIT
local REPORT_NS = 250000000LL       -- a report of requests is due after this time, so that a slow network is no silence
local EINTR, MONOTONIC = 4, 1

----------------------------------------------------------------------------------------------------------------- errors

-- Raises an error that is answered by a message with that code, a run status. `op` names the operator, where it is one.
function common.fail(code, message, op)
   error({code = code, message = message, op = op}, 0)
end

function common.unsupported(message, op)
   common.fail('unsupported', message, op)
end

local function system_error(what)
   common.fail('load_failed', what .. ': ' .. ffi.string(C.strerror(ffi.errno())))
end

------------------------------------------------------------------------------------------------------------------- JSON

local ARRAY = {} -- the metatable of what is written as an array, even if it is empty

function common.array(values)
   return setmetatable(values or {}, ARRAY)
end

local ESCAPES = {['"'] = '"', ['\\'] = '\\', ['/'] = '/', b = '\b', f = '\f', n = '\n', r = '\r', t = '\t'}

local function utf8(code)
   if code < 0x80 then
      return string.char(code)
   elseif code < 0x800 then
      return string.char(0xC0 + math.floor(code / 64), 0x80 + code % 64)
   elseif code < 0x10000 then
      return string.char(0xE0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
   end
   return string.char(0xF0 + math.floor(code / 262144), 0x80 + math.floor(code / 4096) % 64,
                      0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

local function parse_string(text, at)
   local parts = {}
   while true do
      local stop = text:find('["\\]', at) or error('a string without an end')
      parts[#parts + 1] = text:sub(at, stop - 1)
      if text:sub(stop, stop) == '"' then
         return table.concat(parts), stop + 1
      end
      local kind = text:sub(stop + 1, stop + 1)
      at = stop + 2
      if kind == 'u' then
         local code = tonumber(text:sub(at, at + 3), 16) or error('a wrong escape')
         at = at + 4
         if code >= 0xD800 and code < 0xDC00 and text:sub(at, at + 1) == '\\u' then -- the first half of a pair
            local low = tonumber(text:sub(at + 2, at + 5), 16) or error('a wrong escape')
            code = 0x10000 + (code - 0xD800) * 1024 + (low - 0xDC00)
            at = at + 6
         end
         parts[#parts + 1] = utf8(code)
      else
         parts[#parts + 1] = ESCAPES[kind] or error('a wrong escape')
      end
   end
end

local parse_value

-- The values between brackets: each(at) parses one and gives where it ends.
local function parse_list(text, at, close, each)
   at = text:find('%S', at)
   if text:sub(at, at) == close then
      return at + 1
   end
   while true do
      at = text:find('%S', each(at))
      local mark = text:sub(at, at)
      if mark == close then
         return at + 1
      elseif mark ~= ',' then
         error('a comma is missing')
      end
      at = at + 1
   end
end

local CONSTANTS = {['true'] = true, ['false'] = false} -- null is left out: a member that is null reads as absent

function parse_value(text, at)
   at = text:find('%S', at) or error('a value is missing')
   local mark = text:sub(at, at)
   if mark == '"' then
      return parse_string(text, at + 1)
   elseif mark == '[' then
      local values = common.array()
      return values, parse_list(text, at + 1, ']', function(from)
         local value, stop = parse_value(text, from)
         values[#values + 1] = value
         return stop
      end)
   elseif mark == '{' then
      local members = {}
      return members, parse_list(text, at + 1, '}', function(from)
         local _, quote = text:find('^%s*"', from)
         local name, colon = parse_string(text, (quote or error('a name is missing')) + 1)
         local _, stop = text:find('^%s*:', colon)
         members[name], stop = parse_value(text, (stop or error('a colon is missing')) + 1)
         return stop
      end)
   end
   local _, stop, word = text:find('^([%w%+%-%.]+)', at)
   local value = CONSTANTS[word]
   if value == nil and word ~= 'null' then
      value = tonumber(word) or error('neither a value nor a number')
   end
   return value, stop + 1
end

-- The value that a text stands for, or nil and what is wrong with it.
function common.decode(text)
   local good, value, stop = pcall(parse_value, text, 1)
   if good and text:find('%S', stop) then
      return nil, 'more than one value'
   end
   return good and value or nil, value
end

local function quote(text)
   return '"' .. text:gsub('[%c"\\]', function(char) return ('\\u%04x'):format(char:byte()) end) .. '"'
end

-- A number as JSON can hold it: losses that are none become words.
local function spell(number)
   if number ~= number then
      return '"nan"'
   elseif number == math.huge then
      return '"inf"'
   elseif number == -math.huge then
      return '"-inf"'
   end
   return number == math.floor(number) and math.abs(number) < 2^53 and ('%d'):format(number) or ('%.17g'):format(number)
end

function common.encode(value)
   local kind = type(value)
   if kind == 'string' then
      return quote(value)
   elseif kind == 'number' then
      return spell(value)
   elseif kind == 'cdata' then -- a 64-bit integer
      return (tostring(value):gsub('U?LL$', ''))
   elseif kind ~= 'table' then
      return tostring(value)
   end
   local parts = {}
   if getmetatable(value) == ARRAY then
      for index, item in ipairs(value) do
         parts[index] = common.encode(item)
      end
      return '[' .. table.concat(parts, ',') .. ']'
   end
   for name, item in pairs(value) do
      parts[#parts + 1] = quote(name) .. ':' .. common.encode(item)
   end
   return '{' .. table.concat(parts, ',') .. '}'
end

------------------------------------------------------------------------------------------------------------ safetensors

local SIZES = {F64 = 8, F32 = 4, I64 = 8, I32 = 4, U32 = 4, U8 = 1}

local function count(shape)
   local elements = 1
   for _, extent in ipairs(shape) do
      elements = elements * extent
   end
   return elements
end

-- The arrays of a file, by name, over a mapping of it that lasts as long as the process, or until the function that
-- comes second is called.
function common.read_safetensors(path)
   local fd = C.open(path, 0)
   if fd < 0 then
      system_error(path)
   end
   local size = tonumber(C.lseek(fd, 0, 2))
   local address = C.mmap(nil, size, 1, 2, fd, 0) -- PROT_READ, MAP_PRIVATE
   C.close(fd)
   if ffi.cast('intptr_t', address) == -1 then
      system_error(path)
   end
   local bytes = ffi.cast('const uint8_t *', address)
   local start = 8 + tonumber(ffi.cast('const uint64_t *', address)[0])
   local header = start <= size and common.decode(ffi.string(bytes + 8, start - 8))
   if type(header) ~= 'table' then
      common.fail('load_failed', path .. ' is not a file of safetensors')
   end
   local arrays = {}
   for name, entry in pairs(header) do
      if name ~= '__metadata__' then
         if start + entry.data_offsets[2] > size then
            common.fail('load_failed', path .. ' ends before its array ' .. name)
         end
         arrays[name] = {dtype = entry.dtype, shape = entry.shape, data = bytes + start + entry.data_offsets[1]}
      end
   end
   return arrays, function() C.munmap(address, size) end
end

local function write_all(fd, data, size)
   local at = ffi.cast('const uint8_t *', data)
   while size > 0 do
      local written = tonumber(C.write(fd, at, size))
      if written < 0 and ffi.errno() ~= EINTR then
         system_error('cannot write')
      elseif written > 0 then
         at, size = at + written, size - written
      end
   end
end

-- Writes arrays by name. The file appears whole or not at all. Gives its size.
function common.write_safetensors(path, arrays)
   local names = {}
   for name in pairs(arrays) do
      names[#names + 1] = name
   end
   table.sort(names, function(a, b) -- wide types first, so that every array lies at a multiple of its own size
      local wide, narrow = SIZES[arrays[a].dtype], SIZES[arrays[b].dtype]
      return wide > narrow or wide == narrow and a < b
   end)
   local header, stop = {}, 0
   for _, name in ipairs(names) do
      local array = arrays[name]
      array.size = count(array.shape) * SIZES[array.dtype]
      header[name] = {dtype = array.dtype, shape = common.array(array.shape),
                      data_offsets = common.array({stop, stop + array.size})}
      stop = stop + array.size
   end
   local text = common.encode(header)
   text = text .. (' '):rep(-#text % 8)
   local temporary = path .. '.part'
   local fd = C.open(temporary, 577, ffi.cast('int', 420)) -- O_WRONLY | O_CREAT | O_TRUNC, 0644
   if fd < 0 then
      system_error(temporary)
   end
   write_all(fd, ffi.new('uint64_t[1]', #text), 8)
   write_all(fd, text, #text)
   for _, name in ipairs(names) do
      write_all(fd, arrays[name].data, arrays[name].size)
   end
   C.close(fd)
   if C.rename(temporary, path) ~= 0 then
      system_error(path)
   end
   return 8 + #text + stop
end

------------------------------------------------------------------------------------------------------------------- time

local now_time = ffi.new('ys_timespec')

-- Nanoseconds of CLOCK_MONOTONIC, a 64-bit integer.
local function now()
   C.clock_gettime(MONOTONIC, now_time)
   return ffi.cast('int64_t', now_time.tv_sec) * 1000000000LL + now_time.tv_nsec
end

------------------------------------------------------------------------------------------------------------------- plan

--[[ What one run has to do, with its files open. It has the members of docs/protocol.md, and: network, the graph;
weights, name -> array of float32, none where it is `stored`; rate[step], the learning rate of each step; row_shape, the shape of one row of x;
dtype, its type. ]]
local Plan = {}
Plan.__index = Plan

local MEMBERS = {'mode', 'batch', 'steps', 'precision', 'loss', 'optimizer', 'folder', 'input', 'graph'}

local function check_files(plan, rows)
   for _, param in ipairs(plan.stored and {} or plan.network.params) do
      local array = plan.weights[param.name]
      if not array or table.concat(array.shape, 'x') ~= table.concat(param.shape, 'x') then
         common.fail('load_failed', ('the file of weights has no %s of shape %s'):format(
            param.name, table.concat(param.shape, 'x')))
      end
   end
   if plan.indices.shape[1] ~= plan.steps or plan.indices.shape[2] ~= plan.batch then
      common.fail('load_failed', ('the order of batches has shape %s, not %d steps of %d'):format(
         table.concat(plan.indices.shape, 'x'), plan.steps, plan.batch))
   end
   local order, largest = plan:order(0), -1
   for index = 0, plan.steps * plan.batch - 1 do
      largest = math.max(largest, order[index])
   end
   if largest >= rows then
      common.fail('load_failed', ('the order of batches names row %d of %d'):format(largest, rows))
   end
end

local function open_plan(plan)
   if type(plan) ~= 'table' or plan.format ~= 'yardstick-plan' then
      common.fail('protocol_error', 'member "plan" must be an object with format "yardstick-plan"')
   elseif plan.version ~= 1 then
      common.unsupported('plan version ' .. tostring(plan.version) .. ': this adapter reads version 1')
   end
   for _, name in ipairs(MEMBERS) do
      if plan[name] == nil then
         common.fail('protocol_error', 'the plan lacks ' .. name)
      end
   end
   if plan.weights == nil and plan.stored == nil then
      common.fail('protocol_error', 'the plan lacks weights')
   end
   plan.measures_size = plan.mode == 'size'
   plan.mode = plan.measures_size and 'infer' or plan.mode -- it is one that answers requests
   plan.options = plan.options or {}
   if plan.input.kind == 'own' then
      common.unsupported("input = own: this adapter gives no batches by a loader of its framework's own")
   elseif plan.input.kind ~= 'file' then
      common.unsupported('input of kind ' .. tostring(plan.input.kind))
   end
   setmetatable(plan, Plan)
   local file = io.open(plan.graph) or common.fail('load_failed', 'cannot read ' .. plan.graph)
   plan.network = common.decode(file:read('*a')) or common.fail('load_failed', plan.graph .. ' is not JSON')
   file:close()
   plan.weights = plan.weights and common.read_safetensors(plan.weights)
   local data, order = common.read_safetensors(plan.input.path), common.read_safetensors(plan.input.order)
   plan.x, plan.y, plan.indices = data.x, data.y, order.order
   plan.rate = plan.mode == 'train' and ffi.cast('const double *', order.lr.data) or nil
   plan.dtype, plan.row_shape = plan.x.dtype, {unpack(plan.x.shape, 2)}
   plan.row_size = count(plan.row_shape) * SIZES[plan.dtype]
   check_files(plan, plan.x.shape[1])
   return plan
end

function Plan:order(step)
   return ffi.cast('const uint32_t *', self.indices.data) + step * self.batch
end

-- Copies the rows of a step, as they are stored, to where `to` points.
function Plan:rows(step, to)
   local order, at = self:order(step), ffi.cast('uint8_t *', to)
   for row = 0, self.batch - 1 do
      ffi.copy(at + row * self.row_size, self.x.data + order[row] * self.row_size, self.row_size)
   end
end

-- Writes their labels, plus `base`, as 64-bit integers to where `to` points.
function Plan:labels(step, to, base)
   local order, labels = self:order(step), ffi.cast('const int64_t *', self.y.data)
   for row = 0, self.batch - 1 do
      to[row] = labels[order[row]] + base
   end
end

---------------------------------------------------------------------------------------------------------------- channel

local Channel = {}
Channel.__index = Channel

local function open_channel()
   local fd = tonumber(os.getenv('YARDSTICK_FD') or '')
   if not fd then
      io.stderr:write('this program is an adapter: yardstick starts it and names a socket in YARDSTICK_FD\n')
      os.exit(1)
   end
   C.fcntl(fd, 2, ffi.cast('int', 1)) -- FD_CLOEXEC: programs that the framework starts must not hold it open
   return setmetatable({fd = fd, text = '', buffer = ffi.new('uint8_t[65536]')}, Channel)
end

-- The next message; nil at the end of the file; false and the line for one that is no message.
function Channel:receive()
   local stop = self.text:find('\n', 1, true)
   while not stop do
      local got = tonumber(C.read(self.fd, self.buffer, 65536))
      if got == 0 or got < 0 and ffi.errno() ~= EINTR then
         return nil
      elseif got > 0 then
         local from = #self.text + 1
         self.text = self.text .. ffi.string(self.buffer, got)
         stop = self.text:find('\n', from, true)
      end
      if #self.text > LINE_LIMIT and not stop then
         return false, self.text
      end
   end
   local line = self.text:sub(1, stop - 1)
   self.text = self.text:sub(stop + 1)
   local message = common.decode(line)
   if type(message) ~= 'table' or type(message.type) ~= 'string' then
      return false, line
   end
   return message
end

function Channel:send(message)
   local text = common.encode(message) .. '\n'
   local at, size = ffi.cast('const char *', text), #text
   while size > 0 do
      local sent = tonumber(C.send(self.fd, at, size, 0x4000)) -- MSG_NOSIGNAL
      if sent < 0 and ffi.errno() ~= EINTR then
         io.stderr:write('stopped: yardstick has closed the connection\n')
         C.exit(1)
      elseif sent > 0 then
         at, size = at + sent, size - sent
      end
   end
end

----------------------------------------------------------------------------------------------------------------- server

-- Raises where rows are other than one input called x of numbers with a class each, or nodes share a parameter.
local function check_rows(network)
   local inputs, used = network.inputs, {}
   if #inputs ~= 1 or inputs[1].name ~= 'x' then
      common.unsupported('this adapter has no networks whose input is another than the one called x')
   elseif inputs[1].dtype == 'I32' then
      common.unsupported('this adapter has no int32 inputs')
   elseif network.target and network.target.kind ~= 'class' then
      common.unsupported('this adapter has no targets other than a class for each row')
   end
   for _, node in ipairs(network.nodes) do
      for _, name in pairs(node.params or {}) do
         if used[name] then
            common.unsupported('this adapter has no parameters that several nodes share')
         end
         used[name] = true
      end
   end
end

local function has_form(adapter, form)
   for _, name in ipairs(adapter.forms or {}) do
      if name == form then
         return true
      end
   end
   return false
end

-- Raises for the first thing in the plan that the adapter does not list.
local function check_supported(adapter, plan)
   check_rows(plan.network)
   for _, node in ipairs(plan.network.nodes) do
      if not adapter.ops[node.op] then
         common.unsupported(('this adapter has no operator %s (node %s)'):format(node.op, node.name), node.op)
      elseif node.attrs and node.attrs.broadcast then
         common.unsupported('this adapter has no Add and Mul of values of different shapes')
      elseif node.attrs and node.attrs.positions then
         common.unsupported('this adapter has no Gemm of values of more than two dimensions')
      elseif (node.op == 'Add' or node.op == 'Mul') and next(node.params or {}) then
         common.unsupported('this adapter has no Add and Mul of a value and a parameter')
      elseif node.attrs and node.attrs.connections and not adapter.extras.connections then
         common.unsupported('this adapter has no connections')
      end
   end
   if plan.optimizer.clip_norm and not adapter.extras.clip_norm then
      common.unsupported('this adapter has no clip_norm')
   elseif (plan.label_smoothing or 0) ~= 0 and not adapter.extras.label_smoothing then
      common.unsupported('this adapter has no label_smoothing')
   elseif plan.prompt then
      common.unsupported('this adapter has no prompt that is answered before the tokens behind it: prompt = none')
   elseif plan.dist and plan.dist.world ~= 1 then
      common.unsupported(('this adapter has no work for %s processes'):format(tostring(plan.dist.world)))
   end
   for what, pair in pairs({mode = {plan.mode, adapter.modes}, precision = {plan.precision, adapter.precisions},
                            device = {plan.device, {cpu = true}}, loss = {plan.loss, adapter.losses},
                            optimizer = {plan.optimizer.name, adapter.optimizers}}) do
      if not pair[2][pair[1]] then
         common.unsupported(('%s %s: this adapter has not that'):format(what, tostring(pair[1])))
      end
   end
   if plan.measures_size and not adapter.forms then
      common.unsupported("mode size: this adapter saves its networks in no form of its framework's own")
   elseif plan.stored and not has_form(adapter, plan.stored.form) then
      common.unsupported('this adapter has no form ' .. tostring(plan.stored.form))
   end
   for name in pairs(plan.options) do
      if adapter.options[name] == nil then
         common.unsupported('this adapter has no option ' .. name)
      end
   end
end

local function names_of(set)
   local names = common.array()
   for name in pairs(set) do
      names[#names + 1] = name
   end
   table.sort(names)
   return names
end

-- The messages, by type: each gets the server {adapter, channel, plan, next} and the message, gives the last answer.
-- next: the step that comes next; nil after a failure in the middle of training.
local answers = {}

local function integer(message, key, low, high)
   local value = message[key]
   if type(value) ~= 'number' or value ~= math.floor(value) or value < low or value > high then
      common.fail('protocol_error', ('member "%s" is %s; it must be an integer between %d and %d'):format(
         key, tostring(value), low, high))
   end
   return value
end

local function need_mode(server, mode, kind)
   if server.plan.mode ~= mode then
      common.fail('protocol_error', ('"%s" may not come in a plan of mode %s'):format(kind, server.plan.mode))
   end
end

-- Whether the adapter has what a question asks for.
local function can(adapter, question)
   local lacks = question.name == 'input_gradient' and not adapter.input_gradient
   return answers[question.name] and not lacks and (not question.mode or adapter.modes[question.mode])
end

-- Raises where a message may not come now.
local function check_place(server, kind)
   for _, question in ipairs(protocol.QUESTIONS) do
      if question.name == kind and can(server.adapter, question) then
         if question.plan and not server.plan then
            common.fail('protocol_error', ('no plan is open; send "open" before "%s"'):format(kind))
         elseif question.mode then
            need_mode(server, question.mode, kind)
         end
         return
      end
   end
   common.unsupported(('this adapter cannot answer the message "%s"'):format(kind))
end

local function next_step(server)
   return server.next or common.fail('protocol_error', 'training failed before; send "reset" first')
end

function answers.hello(server, message)
   local adapter = server.adapter
   if message.protocol ~= PROTOCOL then
      common.unsupported(('protocol %s is unknown; this adapter speaks protocol %d'):format(
         tostring(message.protocol), PROTOCOL))
   end
   local features = common.array()
   for _, question in ipairs(protocol.QUESTIONS) do
      if question.plan and question.name ~= 'reset' and can(adapter, question) then
         features[#features + 1] = question.name
      end
   end
   features[#features + 1] = adapter.modes.infer and 'answers' or nil
   return {type = 'hello', protocol = PROTOCOL, adapter = adapter.name, framework = adapter.framework,
           version = adapter.version, runtime = jit.version, devices = common.array({'cpu'}),
           precisions = names_of(adapter.precisions), ops = names_of(adapter.ops),
           optimizers = names_of(adapter.optimizers), features = features, forms = common.array(adapter.forms), no_work = false}
end

-- Those that Lua has its modules from.
local function loaded_files()
   local found = common.array()
   for name in pairs(package.loaded) do
      found[#found + 1] = package.searchpath(name, package.path) or package.searchpath(name, package.cpath)
   end
   return found
end

function answers.open(server, message)
   if server.plan then
      common.fail('protocol_error', 'a plan is already open; one adapter process runs one plan')
   end
   local plan = open_plan(message.plan)
   check_supported(server.adapter, plan)
   server.adapter.plan = plan
   local reply = server.adapter:build(plan)
   if plan.stored then
      reply.graph_from_file, reply.files = true, loaded_files()
   end
   server.plan, reply.type = plan, 'opened'
   return reply
end

function answers.reset(server)
   server.adapter:reset()
   server.next = 0
   return {type = 'done'}
end

-- Reads the batch that forward and backward were asked for; gives whether it is to train, and the file for the answer.
local function prepare_pass(server, message)
   local step = integer(message, 'batch', 0, server.plan.steps - 1)
   if message.mode ~= 'train' and message.mode ~= 'eval' then
      common.fail('protocol_error', 'member "mode" must be "train" or "eval"')
   elseif message.mode == 'train' then
      need_mode(server, 'train', message.type)
   end
   server.adapter:read(step)
   local name = ('%s-%d-%s.safetensors'):format(message.type, step, message.mode)
   return message.mode == 'train', server.plan.folder .. '/' .. name
end

function answers.forward(server, message)
   local train, path = prepare_pass(server, message)
   local arrays = server.adapter:forward(train)
   local reply = {type = 'tensors', path = path, multiply_adds = arrays.multiply_adds}
   arrays.multiply_adds = nil
   common.write_safetensors(path, arrays)
   return reply
end

function answers.backward(server, message)
   local train, path = prepare_pass(server, message)
   local loss, gradients = server.adapter:backward(train)
   local arrays = {loss = loss}
   for name, gradient in pairs(gradients) do
      arrays['grad.' .. name] = gradient
   end
   common.write_safetensors(path, arrays)
   return {type = 'tensors', path = path}
end

function answers.step(server, message)
   local first = next_step(server)
   local steps = integer(message, 'n', 0, server.plan.steps - first)
   if steps > 0 then
      need_mode(server, 'train', message.type)
   end
   server.next = nil
   for step = first, first + steps - 1 do
      server.adapter:read(step)
      server.adapter:train_step(server.plan.rate[step])
   end
   local path = ('%s/step-%d.safetensors'):format(server.plan.folder, first + steps)
   common.write_safetensors(path, server.adapter:weights())
   server.next = first + steps
   return {type = 'tensors', path = path}
end

local function train_block(server, first, last)
   local adapter, rate, losses, input_ns = server.adapter, server.plan.rate, common.array(), 0LL
   local start = now()
   for step = first, last - 1 do
      local asked = now()
      adapter:read(step)
      input_ns = input_ns + (now() - asked)
      losses[#losses + 1] = adapter:train_step(rate[step])
   end
   return {type = 'block', first = first, count = last - first, t_start_ns = start, t_end_ns = now(),
           input_ns = input_ns, loss = losses}
end

function answers.train(server, message)
   local first = next_step(server)
   local begin = integer(message, 'from', 0, server.plan.steps)
   local stop = integer(message, 'to', begin, server.plan.steps)
   local block = integer(message, 'block', 1, BLOCK_LIMIT)
   if begin ~= first then
      common.fail('protocol_error', ('training cannot start at step %d: the next step is %d'):format(begin, first))
   end
   while first < stop do
      server.next = nil
      local last = math.min(first + block, stop)
      server.channel:send(train_block(server, first, last))
      first = last
      server.next = first
   end
   return {type = 'done'}
end

-- Maps the ring in which answers are shown (docs/protocol.md, "The ring of answers").
local function open_ring(path)
   local fd = C.open(path, 2) -- O_RDWR
   local size = fd >= 0 and tonumber(C.lseek(fd, 0, 2)) or 0
   local address = size >= 64 and C.mmap(nil, size, 3, 1, fd, 0) -- PROT_READ | PROT_WRITE, MAP_SHARED
   if fd >= 0 then
      C.close(fd)
   end
   local bytes = address and ffi.cast('intptr_t', address) ~= -1 and ffi.cast('uint8_t *', address)
   local head = bytes and ffi.cast('const uint32_t *', bytes)
   if not head or ffi.string(bytes, 8) ~= 'YSRING1\0' or 64 + 4 * head[4] + 8 > head[3] or
      head[2] < 1 or 64 + head[2] * head[3] > size then
      common.fail('load_failed', 'cannot map the ring of answers ' .. path)
   end
   return {bytes = bytes, slots = head[2], size = head[3], room = head[4]}
end

-- The sequence is written before all else and behind all else, so that a reader knows what is not whole.
local function show(ring, request, batch, logits)
   local start = ring.bytes + 64 + request % ring.slots * ring.size
   local slot, values = ffi.cast('ys_ring_slot *', start), ffi.cast('float *', start + 64)
   local from = ffi.cast(logits.dtype == 'F64' and 'const double *' or 'const float *', logits.data)
   local shown = math.min(count(logits.shape), ring.room)
   slot.sequence = request + 1
   slot.request, slot.batch, slot.count = request, batch, shown
   for index = 0, shown - 1 do
      values[index] = from[index]
   end
   ffi.cast('uint64_t *', start + ring.size - 8)[0] = request + 1
end

-- Requests from `first` on, until `stop` or until it is time for a report, one after the other.
local function answer_requests(server, first, stop, ring)
   local adapter, steps, latencies = server.adapter, server.plan.steps, common.array()
   local start = now()
   local last = start
   while #latencies < stop - first and last - start < REPORT_NS do
      local request = first + #latencies
      local asked = now()
      adapter:read(request % steps)
      local logits = adapter:infer_step()
      if ring then
         show(ring, request, request % steps, logits)
      end
      last = now()
      latencies[#latencies + 1] = last - asked
   end
   return {type = 'latencies', first = first, count = #latencies, t_start_ns = start, t_end_ns = last,
           latency_ns = latencies}
end

function answers.infer(server, message)
   local requests = integer(message, 'requests', 1, 2^40)
   integer(message, 'batch', server.plan.batch, server.plan.batch)
   local ring = message.answers and open_ring(message.answers)
   local first = 0
   while first < requests do
      local report = answer_requests(server, first, math.min(first + LATENCIES_LIMIT, requests), ring)
      server.channel:send(report)
      first = first + report.count
   end
   return {type = 'done'}
end

-- Calls use() with the array `name` of a file that the message names, which is there as long as that runs.
local function with_given(message, key, name, use)
   local path = message[key]
   if type(path) ~= 'string' or path:sub(1, 1) ~= '/' then
      common.fail('protocol_error', ('member "%s" must be an absolute path'):format(key))
   end
   local arrays, release = common.read_safetensors(path)
   local array = arrays[name]
   if not array or array.dtype ~= 'F32' and array.dtype ~= 'F64' then
      release()
      common.fail('crashed', ('cannot read %s of %s: there are no such numbers'):format(name, path))
   end
   use(array)
   release()
end

-- The adapter has take_numbers(), which copies the pixels of a batch, and input_gradient(), which gives logits and where
-- it gets a cotangent the gradient of their products' sum by those pixels.
function answers.input_gradient(server, message)
   local adapter, path = server.adapter, server.plan.folder .. '/input-gradient.safetensors'
   local logits, gradient, start_ns
   with_given(message, 'path', 'x', function(x) adapter:take_numbers(x) end)
   if message.cotangent then
      with_given(message, 'cotangent', 'cotangent', function(slope)
         start_ns = now()
         logits, gradient = adapter:input_gradient(slope)
      end)
   else
      start_ns = now()
      logits = adapter:input_gradient()
   end
   local computed_ns = tonumber(now() - start_ns)
   common.write_safetensors(path, {logits = logits, ['grad.x'] = gradient})
   return {type = 'tensors', path = path, computed_ns = computed_ns}
end

-- All forms of an adapter hold the network, in one file.
local function save_form(server, form, path)
   if not has_form(server.adapter, form) then
      common.unsupported(('form %s: this adapter has %s'):format(tostring(form), table.concat(server.adapter.forms or {}, ', ')))
   end
   need_mode(server, 'infer', 'save of a form')
   if C.access(path, 0) == 0 then
      common.fail('protocol_error', 'member "path" is ' .. path .. ', where something is already')
   end
   server.adapter:save_form(form, path)
   local file = io.open(path)
   local bytes = file:seek('end')
   file:close()
   return {type = 'saved', path = path, bytes = bytes}
end

function answers.save(server, message)
   if message.form then
      return save_form(server, message.form, message.path)
   elseif message.format ~= 'safetensors' then
      common.unsupported(('this adapter saves the format "safetensors", not "%s"'):format(tostring(message.format)))
   elseif type(message.path) ~= 'string' or message.path:sub(1, 1) ~= '/' then
      common.fail('protocol_error', 'member "path" must be an absolute path')
   end
   local dtype = message.dtype or 'f32'
   if dtype ~= 'f32' and not (dtype == 'f64' and server.plan.precision == 'f64') then
      common.unsupported(('this adapter saves f32, and f64 in a plan of that precision, not "%s"'):format(tostring(dtype)))
   end
   local bytes = common.write_safetensors(message.path, server.adapter:weights(dtype == 'f32'))
   return {type = 'saved', path = message.path, bytes = bytes}
end

-- What pcall caught, as an `error` message. Errors of the framework are texts.
local function describe(problem, kind)
   if type(problem) == 'table' then
      return {type = 'error', code = problem.code, stage = kind, message = problem.message, op = problem.op}
   end
   io.stderr:write(tostring(problem), '\n')
   local text = tostring(problem):match('^[^\n]*')
   local full = tostring(problem):find('not enough memory', 1, true) ~= nil
   local code = full and 'oom_host' or kind == 'open' and 'build_failed' or 'crashed'
   return {type = 'error', code = code, stage = kind, message = text}
end

local function answer(server, message)
   local kind = message.type
   local good, reply = xpcall(function()
      check_place(server, kind)
      return answers[kind](server, message)
   end, function(problem)
      return type(problem) == 'table' and problem or debug.traceback(tostring(problem), 2)
   end)
   server.channel:send(good and reply or describe(reply, kind))
end

--[[ Calls make(), which loads the framework and gives the adapter, and answers messages until `bye` or the end of the
file. If the framework cannot be loaded, yardstick is told so in answer to its first message. ]]
function common.serve(make)
   local good, adapter = pcall(make)
   local channel = open_channel()
   local server = {adapter = adapter, channel = channel, next = 0}
   while true do
      local message, line = channel:receive()
      if message == false then
         channel:send({type = 'error', code = 'protocol_error', stage = 'protocol',
                       message = 'a line that is not a message: ' .. line:sub(1, 60)})
         C.exit(1)
      elseif not message or message.type == 'bye' then
         break
      elseif not good then
         channel:send({type = 'error', code = 'load_failed', stage = message.type,
                       message = 'cannot load the framework: ' .. tostring(adapter):match('^[^\n]*')})
         C.exit(1)
      end
      answer(server, message)
   end
   io.stdout:flush()
   C._exit(0) -- nothing that is left to be taken down is needed any more
end

return common
