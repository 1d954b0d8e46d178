--[[ toy_adapter.py in Lua, for tests of adapters/common.lua: each step takes the learning rate off every weight; the loss
of a step is its number. The option `fail` says how it fails. ]]

local here = arg[0]:match('^(.*/)') or './'
package.path = here .. '../../adapters/?.lua;' .. package.path
local common = require 'common'
local ffi = require 'ffi'

local Toy = {
   name = 'toy', framework = 'toy', version = '1.0', precisions = {f32 = true, f64 = true},
   modes = {train = true, infer = true}, losses = {softmax_cross_entropy = true}, optimizers = {sgd = true},
   extras = {},
   ops = {normalize = true, Conv = true, BatchNormalization = true, Relu = true, Add = true, MaxPool = true,
          AveragePool = true, Flatten = true, Gemm = true},
   options = {fail = '', at = 3},
}

local function doubles(count, value)
   local data = ffi.new('double[?]', count)
   for index = 0, count - 1 do
      data[index] = value
   end
   return data
end

local function count(shape)
   local elements = 1
   for _, extent in ipairs(shape) do
      elements = elements * extent
   end
   return elements
end

function Toy:fails(how)
   return self.plan.options.fail == how
end

function Toy:build(plan)
   if self:fails('build') then
      error('a kernel of that size is not possible')
   elseif self:fails('memory') then
      error('not enough memory')
   end
   self:reset()
   self.x, self.y = ffi.new('uint8_t[?]', plan.batch * plan.row_size), ffi.new('int64_t[?]', plan.batch)
   return {parameters = 1, threads = plan.threads, libraries = common.array(), deviations = common.array()}
end

function Toy:reset()
   self.taken, self.count = 0, 0
end

function Toy:read(step)
   self.plan:rows(step, self.x)
   self.plan:labels(step, self.y, 0)
end

function Toy:forward(train)
   local batch = self.plan.batch
   return {x = {dtype = self.plan.dtype, shape = {batch, unpack(self.plan.row_shape)}, data = self.x},
           y = {dtype = 'I64', shape = {batch}, data = self.y},
           logits = {dtype = 'F64', shape = {batch, 2}, data = doubles(batch * 2, train and 1 or 0)},
           loss = {dtype = 'F64', shape = {}, data = doubles(1, 0.5)}, multiply_adds = 7}
end

function Toy:backward()
   local gradients = {}
   for name, array in pairs(self.plan.weights) do
      gradients[name] = {dtype = 'F64', shape = array.shape, data = doubles(count(array.shape), 1)}
   end
   return {dtype = 'F64', shape = {}, data = doubles(1, 0.25)}, gradients
end

function Toy:train_step(lr)
   if self:fails('step') and self.count == self.options.at then
      error('the kernel failed')
   end
   self.taken, self.count = self.taken + lr, self.count + 1
   return self:fails('nan') and 0 / 0 or self:fails('-inf') and -math.huge or self.count - 1
end

function Toy:infer_step()
   if self:fails('request') and self.count == self.options.at then
      error('the kernel failed')
   end
   self.count = self.count + 1
   local file = io.open(self.plan.folder .. '/requests', 'ab')
   local logits = doubles(self.plan.batch * 2, 0)
   for row = 0, self.plan.batch - 1 do
      local x = self.x + row * self.plan.row_size
      file:write(ffi.string(x, 1))
      logits[2 * row], logits[2 * row + 1] = x[0] / 3, x[1] / 3
   end
   file:close()
   return {dtype = 'F64', shape = {self.plan.batch, 2}, data = logits}
end

function Toy:weights(single)
   local arrays = {}
   for name, array in pairs(self.plan.weights) do
      local elements, from = count(array.shape), ffi.cast('const float *', array.data)
      local data = ffi.new(single and 'float[?]' or 'double[?]', elements)
      for index = 0, elements - 1 do
         data[index] = from[index] - self.taken
      end
      arrays[name] = {dtype = single and 'F32' or 'F64', shape = array.shape, data = data}
   end
   return arrays
end

common.serve(function()
   if os.getenv('TOY_IMPORT') then
      error('libtoy.so.1: cannot open shared object file')
   end
   return Toy
end)
