--[[ Torch7: the modules of nn, called in the order of the graph, and the optimizers of optim, on the processor.

Graphs are any directed acyclic ones, so that the modules stand in an nn.Container (for its parameters and its modes)
and are called here one after the other, as nn.Sequential does with a chain. ]]

package.path = (arg[0]:match('^(.*/)') or './') .. '?.lua;' .. package.path
local common = require 'common'
local ffi = require 'ffi'

local TYPES = {f32 = 'torch.FloatTensor', f64 = 'torch.DoubleTensor'}
local DTYPES = {['torch.FloatTensor'] = 'F32', ['torch.DoubleTensor'] = 'F64', ['torch.LongTensor'] = 'I64',
                ['torch.ByteTensor'] = 'U8'}
local GRADIENTS = {weight = 'gradWeight', bias = 'gradBias'}

-- Their backward pass does not read what they made, so its only reader may write over it.
local FORGETFUL = {Conv = true, Gemm = true, BatchNormalization = true, Add = true, MaxPool = true, AveragePool = true}

local function set(...)
   local members = {}
   for _, name in ipairs({...}) do
      members[name] = true
   end
   return members
end

local Torch7 = {
   name = 'torch7', framework = 'Torch7', version = '7',
   precisions = set('f32', 'f64'), modes = set('train', 'infer', 'attack'),
   ops = set('normalize', 'Conv', 'Gemm', 'BatchNormalization', 'LRN', 'MaxPool', 'AveragePool', 'GlobalAveragePool',
             'GlobalMaxPool', 'Relu', 'LeakyRelu', 'Clip', 'Tanh', 'Sigmoid', 'Softmax', 'LogSoftmax', 'Dropout', 'Add',
             'Mul', 'Concat', 'Split', 'Flatten', 'Reshape', 'Transpose', 'ReduceMean'),
   losses = set('softmax_cross_entropy', 'nll', 'mean_squared_error'),
   optimizers = set('sgd', 'adam', 'adamw', 'rmsprop'), extras = set('clip_norm', 'connections'), options = {},
   forms = {'t7'},
}

------------------------------------------------------------------------------------------------------------ the network

--[[ How the windows of a pool or convolution lie along one axis (1: rows, 2: columns) of `size` pixels: padded by
`before` and `behind` (which is negative where no window sees the last pixels), windows without padding are exactly
those of the node. ]]
local function window(attrs, axis, size)
   local stride, before = attrs.strides[axis], attrs.pads[axis]
   local reach = attrs.dilations[axis] * (attrs.kernel_shape[axis] - 1) + 1
   local ceil = attrs.ceil_mode or 0
   local steps = math.floor((size + before + attrs.pads[axis + 2] - reach + (stride - 1) * ceil) / stride)
   if ceil == 1 and steps * stride >= size + before then -- the last window would begin behind the image
      steps = steps - 1
   end
   return {before = before, behind = steps * stride + reach - size - before, after = attrs.pads[axis + 2]}
end

-- Adds a module that reads the values `inputs`; gives the name of its value. Tried on one row, for the shape of that.
function Torch7:call(module, inputs, out)
   self.model:add(module)
   module:evaluate()
   local arguments, needed = {}, module.weight ~= nil
   for index, name in ipairs(inputs) do
      arguments[index], needed = self.sample[name], needed or self.needed[name]
   end
   out = out or ('%s:%d'):format(inputs[1], #self.steps)
   self.sample[out] = module:forward(#inputs == 1 and arguments[1] or arguments)
   self.needed[out] = needed
   self.steps[#self.steps + 1] = {module = module, inputs = inputs, out = out}
   return out
end

function Torch7:extent(value, axis)
   return self.sample[value]:size(axis + 1)
end

-- Remembers which tensor holds a parameter, or the part of it from element `offset` on; `at`: only that row of it.
function Torch7:own(name, layer, role, offset, at)
   self.owned[name] = self.owned[name] or {}
   table.insert(self.owned[name], {layer = layer, role = role, offset = offset or 0, at = at})
end

function Torch7:own_all(layer, names)
   for role, name in pairs(names) do
      self:own(name, layer, role)
   end
   return layer
end

-- A convolution of channels that all see one another, padded by (rows, columns).
local function convolution(attrs, channels, filters, rows, columns, bias)
   local kernel, strides, dilations = attrs.kernel_shape, attrs.strides, attrs.dilations
   local kind = dilations[1] * dilations[2] == 1 and nn.SpatialConvolution or nn.SpatialDilatedConvolution
   local layer = kind(channels, filters, kernel[2], kernel[1], strides[2], strides[1], columns, rows, dilations[2],
                      dilations[1])
   return bias and layer or layer:noBias()
end

local makers = {}

function makers.Conv(self, node, x)
   local attrs, names, pads = node.attrs, node.params, node.attrs.pads
   if attrs.connections then
      return self:connected(node, x)
   end
   local shape, group = self.plan.weights[names.weight].shape, attrs.group
   local even = pads[1] == pads[3] and pads[2] == pads[4]
   if not even then
      x = self:call(nn.SpatialZeroPadding(pads[2], pads[4], pads[1], pads[3]), {x})
   end
   local rows, columns, filters = even and pads[1] or 0, even and pads[2] or 0, shape[1] / group
   local parts = {}
   for part = 1, group do -- nn has no groups: each gets its channels, and a convolution of its own
      local layer = convolution(attrs, shape[2], filters, rows, columns, names.bias ~= nil)
      if group == 1 then
         return self:call(self:own_all(layer, names), {x}, node.out[1])
      end
      for role, name in pairs(names) do
         self:own(name, layer, role, (part - 1) * layer[role]:nElement())
      end
      parts[part] = self:call(layer, {self:narrow(x, 1, (part - 1) * shape[2], shape[2])})
   end
   return self:call(nn.JoinTable(2), parts, node.out[1])
end

-- A convolution with a table of connections: its weights are the kernels of those alone.
function Torch7:connected(node, x)
   local attrs, names = node.attrs, node.params
   local shape = self.plan.weights[names.weight].shape
   if attrs.dilations[1] * attrs.dilations[2] ~= 1 or not names.bias then
      common.unsupported('SpatialConvolutionMap has no dilation, and always a bias (node ' .. node.name .. ')', 'Conv')
   end
   local rows, columns = window(attrs, 1, self:extent(x, 2)), window(attrs, 2, self:extent(x, 3))
   if rows.before ~= 0 or rows.behind ~= 0 or columns.before ~= 0 or columns.behind ~= 0 then
      x = self:call(nn.SpatialZeroPadding(columns.before, columns.behind, rows.before, rows.behind), {x})
   end
   local pairs_, filters, channels, size = {}, shape[1] / attrs.group, shape[2], shape[3] * shape[4]
   for out, seen in ipairs(attrs.connections) do
      local first = math.floor((out - 1) / filters) * channels
      for _, channel in ipairs(seen) do
         pairs_[#pairs_ + 1] = {first + channel + 1, out, ((out - 1) * channels + channel) * size}
      end
   end
   local layer = nn.SpatialConvolutionMap(torch.Tensor(pairs_):narrow(2, 1, 2):contiguous(), attrs.kernel_shape[2],
                                          attrs.kernel_shape[1], attrs.strides[2], attrs.strides[1])
   layer.nInputPlane, layer.nOutputPlane = channels * attrs.group, shape[1] -- it takes the largest in its table
   for at, pair in ipairs(pairs_) do
      self:own(names.weight, layer, 'weight', pair[3], at)
   end
   self:own(names.bias, layer, 'bias')
   return self:call(layer, {x}, node.out[1])
end

function makers.Gemm(self, node, x)
   local shape = self.plan.weights[node.params.weight].shape
   return self:call(self:own_all(nn.Linear(shape[2], shape[1], node.params.bias ~= nil), node.params), {x}, node.out[1])
end

function makers.BatchNormalization(self, node, x)
   if self.plan.mode == 'train' and self.plan.batch == 1 then
      common.unsupported('nn normalises a batch of one by the running statistics (node ' .. node.name .. ')', node.op)
   end
   local kind = self.sample[x]:dim() == 4 and nn.SpatialBatchNormalization or nn.BatchNormalization
   local layer = kind(self:extent(x, 1), node.attrs.epsilon, node.attrs.momentum)
   self.buffered[#self.buffered + 1] = layer
   return self:call(self:own_all(layer, node.params), {x}, node.out[1])
end

function makers.LRN(self, node, x)
   local attrs = node.attrs
   if attrs.size % 2 == 0 or attrs.size < 3 then
      common.unsupported(('SpatialCrossMapLRN has odd sizes from 3 on, not %d (node %s)'):format(attrs.size, node.name),
                         node.op)
   end
   return self:call(nn.SpatialCrossMapLRN(attrs.size, attrs.alpha, attrs.beta, attrs.bias), {x}, node.out[1])
end

-- Whether a pool of nn has these windows by itself.
local function pools_so(attrs)
   local pads, kernel, fits = attrs.pads, attrs.kernel_shape, true
   for axis = 1, 2 do
      local reach = attrs.dilations[axis] * (kernel[axis] - 1) + 1
      fits = fits and pads[axis] == pads[axis + 2] and 2 * pads[axis] <= kernel[axis]
         and (attrs.ceil_mode == 0 or attrs.strides[axis] <= reach) -- or a window might begin behind the image
   end
   return fits
end

local function rounded(pool, attrs)
   return attrs.ceil_mode == 1 and pool:ceil() or pool:floor()
end

function makers.MaxPool(self, node, x)
   local attrs = node.attrs
   local kernel, strides, dilations, pads = attrs.kernel_shape, attrs.strides, attrs.dilations, {0, 0}
   if pools_so(attrs) then
      pads = attrs.pads
   else
      local rows, columns = window(attrs, 1, self:extent(x, 2)), window(attrs, 2, self:extent(x, 3))
      for dim, at in pairs({[3] = rows, [4] = columns}) do
         for _, pad in ipairs({-at.before, math.max(at.behind, 0)}) do
            if pad ~= 0 then
               x = self:call(nn.Padding(dim, pad, nil, -math.huge), {x})
            end
         end
      end
      if math.min(rows.behind, columns.behind) < 0 then
         x = self:call(nn.SpatialZeroPadding(0, math.min(columns.behind, 0), 0, math.min(rows.behind, 0)), {x})
      end
   end
   local kind = dilations[1] * dilations[2] == 1 and nn.SpatialMaxPooling or nn.SpatialDilatedMaxPooling
   local pool = kind(kernel[2], kernel[1], strides[2], strides[1], pads[2], pads[1], dilations[2], dilations[1])
   return self:call(pools_so(attrs) and rounded(pool, attrs) or pool:floor(), {x}, node.out[1])
end

function makers.AveragePool(self, node, x)
   local attrs = node.attrs
   local kernel, strides, pads = attrs.kernel_shape, attrs.strides, attrs.pads
   local padded = math.max(unpack(pads)) > 0
   if attrs.dilations[1] * attrs.dilations[2] ~= 1 then
      common.unsupported('nn has no AveragePool with dilation (node ' .. node.name .. ')', node.op)
   elseif not pools_so(attrs) and padded and attrs.count_include_pad == 0 then
      common.unsupported('nn has no AveragePool with uneven padding that does not count (node ' .. node.name .. ')',
                         node.op)
   end
   local pool = nn.SpatialAveragePooling(kernel[2], kernel[1], strides[2], strides[1])
   if pools_so(attrs) then
      pool.padW, pool.padH = pads[2], pads[1]
      rounded(pool, attrs)
   else -- padding that counts becomes a part of the image, but not what ceil_mode adds to it
      local rows, columns = window(attrs, 1, self:extent(x, 2)), window(attrs, 2, self:extent(x, 3))
      x = self:call(nn.SpatialZeroPadding(columns.before, math.min(columns.after, columns.behind), rows.before,
                                          math.min(rows.after, rows.behind)), {x})
      pool:ceil()
   end
   if attrs.count_include_pad == 0 then
      pool:setCountExcludePad()
   end
   return self:call(pool, {x}, node.out[1])
end

function makers.GlobalAveragePool(self, node, x)
   return self:call(nn.SpatialAveragePooling(self:extent(x, 3), self:extent(x, 2)), {x}, node.out[1])
end

function makers.GlobalMaxPool(self, node, x)
   return self:call(nn.SpatialMaxPooling(self:extent(x, 3), self:extent(x, 2)), {x}, node.out[1])
end

-- Modules with nothing to decide: (attributes, whether they may write over their input).
local PLAIN = {
   Relu = function(_, spare) return nn.ReLU(spare) end,
   Clip = function(attrs, spare) return nn.HardTanh(attrs.min, attrs.max, spare) end,
   LeakyRelu = function(attrs) return nn.LeakyReLU(attrs.alpha) end,
   Tanh = function() return nn.Tanh() end,
   Sigmoid = function() return nn.Sigmoid() end,
   Dropout = function(attrs) return nn.Dropout(attrs.ratio) end,
   Add = function() return nn.CAddTable() end,
   Mul = function() return nn.CMulTable() end,
   Concat = function(attrs) return nn.JoinTable(attrs.axis + 1) end,
}

local function product(sizes, from, to)
   local result = 1
   for index = from, to do
      result = result * sizes[index]
   end
   return result
end

-- Softmax and LogSoftmax go over the second of four dimensions (or of two): others become that.
local function over_axis(self, node, x)
   local module = node.op == 'Softmax' and nn.SoftMax() or nn.LogSoftMax()
   local sizes, axis = self.sample[x]:size():totable(), node.attrs.axis + 1
   if #sizes == 2 or #sizes == 4 and axis == 2 then
      return self:call(module, {x}, node.out[1])
   end
   x = self:call(nn.View(-1, sizes[axis], product(sizes, axis + 1, #sizes), 1), {x})
   return self:call(nn.View(-1, unpack(sizes, 2)), {self:call(module, {x})}, node.out[1])
end

makers.Softmax, makers.LogSoftmax = over_axis, over_axis

function Torch7:reshape(x, sizes, out)
   return self:call(nn.Reshape(torch.LongStorage(sizes), true), {x}, out)
end

function Torch7:narrow(x, axis, first, length, out)
   return self:call(nn.Contiguous(), {self:call(nn.Narrow(axis + 1, first + 1, length), {x})}, out)
end

function makers.Flatten(self, node, x)
   local sizes = self.sample[x]:size():totable()
   return self:reshape(x, {product(sizes, 2, #sizes)}, node.out[1])
end

function makers.Reshape(self, node, x)
   return self:reshape(x, {unpack(node.attrs.shape, 2)}, node.out[1])
end

function makers.Transpose(self, node, x)
   local order, swaps = {}, {}
   for axis = 1, #node.attrs.perm do
      order[axis] = axis - 1
   end
   for axis, wanted in ipairs(node.attrs.perm) do -- a permutation as the exchanges that nn.Transpose makes
      for other = axis + 1, #order do
         if order[axis] ~= wanted and order[other] == wanted then
            order[axis], order[other] = order[other], order[axis]
            swaps[#swaps + 1] = {axis, other}
         end
      end
   end
   return self:call(nn.Transpose(unpack(swaps)), {x}, node.out[1])
end

function makers.Split(self, node, x)
   local first = 0
   for part, length in ipairs(node.attrs.split) do
      self:narrow(x, node.attrs.axis, first, length, node.out[part])
      first = first + length
   end
end

function makers.ReduceMean(self, node, x)
   local axes, sizes = node.attrs.axes, self.sample[x]:size():totable()
   for index = #axes, 1, -1 do
      x = self:call(nn.Mean(axes[index] + 1), {x})
      sizes[axes[index] + 1] = 1
   end
   local kept = node.attrs.keepdims == 1 and {unpack(sizes, 2)} or {unpack(self.sample[x]:size():totable(), 2)}
   return self:reshape(x, kept, node.out[1])
end

--[[ The modules of the graph: self.steps, in order, each with the names of the values it reads and makes. self.owned:
where the parameters are. Values are named as in the graph, those between the modules of one node by a number. ]]
function Torch7:network()
   local graph, readers, maker = self.plan.network, {}, {}
   self.model, self.steps, self.owned, self.buffered, self.needed = nn.Container(), {}, {}, {}, {}
   self.sample = {x = torch.zeros(1, unpack(self.plan.row_shape))}
   for _, node in ipairs(graph.nodes) do
      for _, name in ipairs(node['in']) do
         readers[name] = (readers[name] or 0) + 1
      end
   end
   for _, node in ipairs(graph.nodes) do
      local x = node['in'][1]
      if node.op == 'normalize' then
         if x ~= 'x' or readers.x > 1 then
            common.unsupported('normalize of anything but the input, once', node.op)
         end
         self.normalize = node
         self.sample[node.out[1]] = self.sample.x
      elseif makers[node.op] then
         makers[node.op](self, node, x)
      else
         local spare = readers[x] == 1 and x ~= graph.output and FORGETFUL[maker[x]]
         self:call(PLAIN[node.op](node.attrs, spare or false), node['in'], node.out[1])
      end
      for _, name in ipairs(node.out) do
         maker[name] = node.op
      end
   end
end

----------------------------------------------------------------------------------------------------------------- passes

-- Pixels as numbers, under the name that the rest of the network reads: those of the rows, or those that were given.
function Torch7:prepare(values)
   local node = self.normalize
   values.x = self.input:copy(self.numbers or self.x)
   if node then
      local attrs = node.attrs
      self.input:mul(attrs.scale)
      for channel = 1, #attrs.mean do
         local part = #attrs.mean == 1 and self.input or self.input:select(2, channel)
         part:add(-attrs.mean[channel]):div(attrs.std[#attrs.std == 1 and 1 or channel])
      end
      values[node.out[1]] = self.input
   end
end

function Torch7:pass_forward()
   local values = {}
   self:prepare(values)
   for _, step in ipairs(self.steps) do
      local input = values[step.inputs[1]]
      if #step.inputs > 1 then
         input = {}
         for index, name in ipairs(step.inputs) do
            input[index] = values[name]
         end
      end
      step.input = input
      values[step.out] = step.module:forward(input)
   end
   self.logits = values[self.output]
   return self.logits
end

-- Adds to the gradient of a value what one of its readers says. What comes second goes to a sum of its own.
function Torch7:gather(gradients, name, gradient)
   if not gradients[name] then
      gradients[name] = gradient
   elseif gradients[name] == self.sums[name] then
      self.sums[name]:add(gradient)
   else
      self.sums[name] = (self.sums[name] or gradient.new()):resizeAs(gradient):add(gradients[name], gradient)
      gradients[name] = self.sums[name]
   end
end

-- As nn.Sequential's, and without the gradient of the pixels, which nobody reads.
function Torch7:pass_backward()
   local gradients = {[self.plan.network.output] = self.criterion:backward(self.logits, self.target)}
   for at = #self.steps, 1, -1 do
      local step = self.steps[at]
      local gradient = gradients[step.out]
      gradients[step.out] = nil
      if gradient and self.needed[step.inputs[1]] or gradient and #step.inputs > 1 and self.needed[step.out] then
         local result = step.module:backward(step.input, gradient)
         for index, name in ipairs(step.inputs) do
            if self.needed[name] then
               self:gather(gradients, name, #step.inputs > 1 and result[index] or result)
            end
         end
      elseif gradient and self.needed[step.out] then
         step.module:accGradParameters(step.input, gradient)
      end
   end
end

-- From the logits to the pixels, and without the gradients of weights.
function Torch7:pass_to_pixels(slope)
   local node, gradients = self.normalize, {[self.plan.network.output] = slope}
   for at = #self.steps, 1, -1 do
      local step = self.steps[at]
      local gradient = gradients[step.out]
      gradients[step.out] = nil
      if gradient then
         local result = step.module:updateGradInput(step.input, gradient)
         for index, name in ipairs(step.inputs) do
            self:gather(gradients, name, #step.inputs > 1 and result[index] or result)
         end
      end
   end
   local result = gradients[node and node.out[1] or 'x']:clone()
   if node then
      local attrs = node.attrs
      for channel = 1, #attrs.std do
         local part = #attrs.std == 1 and result or result:select(2, channel)
         part:mul(attrs.scale / attrs.std[channel])
      end
   end
   return result
end

function Torch7:loss()
   if self.plan.loss == 'mean_squared_error' then
      self.target = self.logits.new():resizeAs(self.logits):zero():scatter(2, self.y:view(-1, 1), 1)
   else
      self.target = self.y
   end
   return self.criterion:forward(self.logits, self.target)
end

-- Runs `body` with the model in that mode; afterwards it is as before, with its running statistics and random numbers.
function Torch7:unchanged(train, body)
   local kept, random = {}, torch.getRNGState()
   for index, layer in ipairs(self.buffered) do
      kept[index] = {layer.running_mean:clone(), layer.running_var:clone()}
   end
   if train then
      self.model:training()
   else
      self.model:evaluate()
   end
   body()
   if self.plan.mode == 'train' then
      self.model:training()
   end
   for index, layer in ipairs(self.buffered) do
      layer.running_mean:copy(kept[index][1])
      layer.running_var:copy(kept[index][2])
   end
   torch.setRNGState(random)
end

----------------------------------------------------------------------------------------------------------------- arrays

local function array(tensor, shape)
   tensor = tensor:contiguous()
   return {dtype = DTYPES[tensor:type()], shape = shape or tensor:size():totable(), data = tensor:data(), keep = tensor}
end

local function scalar(number)
   return array(torch.Tensor({number}), {})
end

-- The tensor that holds (a part of) a parameter, or its gradient.
local function tensor_of(part, role)
   local tensor = part.layer[role]
   return part.at and tensor:select(1, part.at) or tensor
end

-- A parameter, or its gradient, in the graph's shape; what no tensor holds is 0.
function Torch7:gathered(name, gradient, kind)
   local shape = self.plan.weights[name].shape
   local result = torch.zeros(product(shape, 1, #shape)):type(kind or self.kind)
   for _, part in ipairs(self.owned[name]) do
      local tensor = tensor_of(part, gradient and GRADIENTS[part.role] or part.role)
      result:narrow(1, part.offset + 1, tensor:nElement()):copy(tensor)
   end
   return array(result, shape)
end

function Torch7:load_weights()
   for name, parts in pairs(self.owned) do
      local from = ffi.cast('const float *', self.plan.weights[name].data)
      for _, part in ipairs(parts) do
         local tensor = tensor_of(part, part.role)
         local values = torch.FloatTensor(tensor:nElement())
         ffi.copy(values:data(), from + part.offset, 4 * values:nElement())
         tensor:copy(values)
      end
   end
end

------------------------------------------------------------------------------------------------------------- optimizers

--[[ Each gets a run of neighbouring parameters with one pair of factors: values, gradients, state; r and d are the
learning rate and the decay of these. The formulas of optim are docs/protocol.md's but where a comment says so. ]]
local optimizers = {}

function optimizers.sgd(settings, run, r, d)
   optim.sgd(run.evaluate, run.values, {
      learningRate = r, weightDecay = d, momentum = settings.momentum, dampening = 0,
      nesterov = settings.nesterov and settings.momentum > 0}, run.state)
end

-- optim.adam adds its epsilon to the square root before that is corrected for its start at 0.
function optimizers.adam(settings, run, r, d)
   local step = (run.state.t or 0) + 1
   optim.adam(run.evaluate, run.values, {
      learningRate = r, weightDecay = d, beta1 = settings.beta1, beta2 = settings.beta2,
      epsilon = settings.epsilon * math.sqrt(1 - settings.beta2 ^ step)}, run.state)
end

function optimizers.adamw(settings, run, r, d)
   run.values:mul(1 - r * d)
   optimizers.adam(settings, run, r, 0)
end

function optimizers.rmsprop(settings, run, r, d)
   optim.rmsprop(run.evaluate, run.values, {
      learningRate = r, weightDecay = d, alpha = settings.alpha, epsilon = settings.epsilon}, run.state)
end

-- Cuts the flat vector of all parameters into runs of neighbours that share their factors.
function Torch7:make_runs()
   local places, runs = {}, {}
   for _, param in ipairs(self.plan.network.params) do
      for _, part in ipairs(param.role == 'weight' and self.owned[param.name] or {}) do
         local tensor = tensor_of(part, part.role)
         places[#places + 1] = {first = tensor:storageOffset(), size = tensor:nElement(),
                                lr_mult = param.lr_mult or 1, decay_mult = param.decay_mult or 1}
      end
   end
   table.sort(places, function(a, b) return a.first < b.first end)
   for _, place in ipairs(places) do
      local last = runs[#runs]
      if last and last.lr_mult == place.lr_mult and last.decay_mult == place.decay_mult then
         last.size = last.size + place.size
      else
         runs[#runs + 1] = place
      end
   end
   for _, run in ipairs(runs) do
      run.values = self.flat:narrow(1, run.first, run.size)
      run.gradients = self.gradients:narrow(1, run.first, run.size)
      run.state = {}
      run.evaluate = function() return 0, run.gradients end -- optim asks for the gradient, which is there
   end
   self.runs = runs
end

-- Elements of frozen weights: they are no parameters.
function Torch7:count_frozen()
   local count = 0
   for _, param in ipairs(self.plan.network.params) do
      local frozen = param.role == 'weight' and param.lr_mult == 0 and param.decay_mult == 0
      for _, part in ipairs(frozen and self.owned[param.name] or {}) do
         count = count + tensor_of(part, part.role):nElement()
      end
   end
   return count
end

------------------------------------------------------------------------------------------------------------ the adapter

-- The libraries that Torch has loaded to compute with.
local function libraries()
   local found, names = {}, common.array()
   for line in io.lines('/proc/self/maps') do
      local name = line:match('/([^/]*)$')
      if name and not found[name] and (name:find('^libTH') or name:find('blas') or name:find('gomp')) then
         found[name] = true
         names[#names + 1] = name
      end
   end
   return names
end

function Torch7:build(plan)
   if plan.optimizer.name == 'rmsprop' and plan.optimizer.momentum ~= 0 then
      common.unsupported('optim.rmsprop has no momentum')
   end
   self.kind, self.sums = TYPES[plan.precision], {}
   torch.setdefaulttensortype(self.kind)
   torch.setnumthreads(plan.threads)
   if plan.stored then
      self:load_form(plan.stored.path)
   else
      self.output = plan.network.output
      self:network()
   end
   self.sample = nil
   self.flat, self.gradients = self.model:getParameters()
   local criteria = {softmax_cross_entropy = nn.CrossEntropyCriterion, nll = nn.ClassNLLCriterion,
                     mean_squared_error = nn.MSECriterion}
   self.criterion = criteria[plan.loss]()
   self.x = torch[plan.dtype == 'U8' and 'ByteTensor' or 'FloatTensor'](plan.batch, unpack(plan.row_shape))
   self.y, self.input = torch.LongTensor(plan.batch), torch.Tensor(plan.batch, unpack(plan.row_shape))
   if plan.stored then
      self.model:evaluate()
   else
      self:reset()
   end
   return {parameters = self.flat:nElement() - self:count_frozen(), threads = torch.getnumthreads(), libraries = libraries(),
           deviations = common.array()}
end

function Torch7:reset()
   torch.manualSeed(self.plan.seed)
   self:load_weights()
   if self.plan.mode == 'train' then
      self:make_runs()
      self.model:training()
   else
      self.model:evaluate()
   end
end

function Torch7:read(step)
   self.plan:rows(step, self.x:data())
   self.plan:labels(step, self.y:data(), 1) -- classes are counted from 1
end

function Torch7:forward(train)
   local loss
   self:unchanged(train, function()
      self:pass_forward()
      loss = self:loss()
   end)
   return {x = array(self.x), y = array(self.y - 1), logits = array(self.logits), loss = scalar(loss)}
end

function Torch7:backward(train)
   local loss
   self.gradients:zero()
   self:unchanged(train, function()
      self:pass_forward()
      loss = self:loss()
      self:pass_backward()
   end)
   local gradients = {}
   for _, param in ipairs(self.plan.network.params) do
      if param.role == 'weight' then
         gradients[param.name] = self:gathered(param.name, true)
      end
   end
   return scalar(loss), gradients
end

function Torch7:train_step(lr)
   local settings = self.plan.optimizer
   self.gradients:zero()
   self:pass_forward()
   local loss = self:loss()
   self:pass_backward()
   if settings.clip_norm then
      local norm = self.gradients:norm()
      if norm > settings.clip_norm then
         self.gradients:mul(settings.clip_norm / norm)
      end
   end
   for _, run in ipairs(self.runs) do
      optimizers[settings.name](settings, run, lr * run.lr_mult, settings.weight_decay * run.decay_mult)
   end
   return loss
end

-- A tensor of the run's type with the numbers of an array.
local function numbers_of(array_of, kind)
   local wide = array_of.dtype == 'F64'
   local tensor = torch[wide and 'DoubleTensor' or 'FloatTensor'](unpack(array_of.shape))
   ffi.copy(tensor:data(), array_of.data, (wide and 8 or 4) * tensor:nElement())
   return tensor:type(kind)
end

function Torch7:take_numbers(x)
   self.numbers = numbers_of(x, self.kind)
   if not self.numbers:isSameSizeAs(self.input) then
      self.numbers = nil
      common.fail('crashed', 'x has shape ' .. table.concat(x.shape, 'x') .. ', which is no batch of the plan')
   end
end

function Torch7:input_gradient(slope)
   local gradient
   self:unchanged(false, function()
      self:pass_forward()
      gradient = slope and self:pass_to_pixels(numbers_of(slope, self.kind))
   end)
   self.numbers = nil
   return array(self.logits), gradient and array(gradient) or nil
end

-- As torch.save() has it: the modules, with their gradients, and in what order they are called.
function Torch7:save_form(_, path)
   self.model:clearState()
   local calls = {}
   for index, step in ipairs(self.steps) do
      calls[index] = {module = step.module, inputs = step.inputs, out = step.out}
   end
   torch.save(path, {model = self.model, calls = calls, normalize = self.normalize, output = self.output})
end

function Torch7:load_form(path)
   local stored = torch.load(path)
   self.model, self.steps, self.normalize, self.output = stored.model, stored.calls, stored.normalize, stored.output
   self.owned, self.buffered, self.needed = {}, {}, {}
end

function Torch7:infer_step()
   return array(self:pass_forward())
end

function Torch7:weights(single)
   local arrays = {}
   for name in pairs(self.owned) do
      arrays[name] = self:gathered(name, false, single and TYPES.f32)
   end
   return arrays
end

common.serve(function()
   require 'torch'
   require 'nn'
   optim = optim or {}
   for _, name in ipairs({'sgd', 'adam', 'rmsprop'}) do -- not all of it: the rest wants packages for plots
      require('optim.' .. name)
   end
   return Torch7
end)
