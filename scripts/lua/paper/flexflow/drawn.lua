-- drawn.lua - the best strategies that the paper draws, as strategies of our models; and strategies in its letters.
--
-- FlexFlow (MLSys 2019), figures 12 and 13: Inception-v3 and NMT on 4 P100.  A GPU is a colour there and a letter
-- here, A to D for devices 1 to 4.  Each operator is a square of four sample quarters, in figure 13 by four quarters of
-- the output channel.  Equal neighbours may be one part or several on one GPU: the drawing cannot tell.

local paper = require "scripts.lua.paper.flexflow.common"
local soapstone = require "soapstone"

local drawn = {}

-- Figure 12 has a fifth colour on two boxes, a blue near D's; no fifth GPU is there.
local device_of = { A = 1, B = 2, C = 3, D = 4, E = 4 }
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@#"

function drawn.letter(device)
  return device <= #letters and letters:sub(device, device) or "?"
end

local function devices_of(quarters)
  local devices = {}
  for i, letter in ipairs(quarters) do
    devices[i] = device_of[letter] or soapstone.refuse("a drawing has the letter '%s'", letter)
  end
  return devices
end

-- Quarters in as few equal parts as they can be, or each a part of its own.
local function merged(quarters, each)
  local q = devices_of(quarters)
  if #q ~= 4 or each then return q end
  if q[1] == q[2] and q[3] == q[4] then return q[1] == q[3] and { q[1] } or { q[1], q[3] } end
  return q
end

local function all_equal(list)
  for _, value in ipairs(list) do
    if value ~= list[1] then return false end
  end
  return true
end

local function put(strategy, op, dimension, devices)
  strategy:set(op.name, { degrees = { [dimension] = #devices }, devices = devices })
end

local function is_kind(row, op)
  local text = row.operator
  if op.kind == "concat" then return text == "concat" end
  if op.kind == "pool2d" then return text:find("^" .. op.attributes.type .. " pool") ~= nil end
  if op.kind == "linear_softmax" then return text == "linear 2048->1000 + softmax" end
  local h, w, stride, out = text:match "^conv (%d)x(%d)/?(%d?) %d+%->(%d+)"
  local a = op.attributes
  return op.kind == "conv2d" and a.kernel_h == math.tointeger(h) and a.kernel_w == math.tointeger(w)
    and a.out == math.tointeger(out) and a.stride_h == (math.tointeger(stride) or 1)
end

-- Figure 12 onto an Inception-v3.  One of seven operators of the stem is not drawn, like the other six; nor is the
-- flattening, which stays where its input is.  o.each: four parts everywhere.
function drawn.inception(problem, o)
  local rows, at = paper.published "fig12_inception_strategy", 0
  local strategy = problem:strategy("whole", { name = o.name or "figure 12" })
  local before
  for op in problem.model:ops() do
    local quarters
    if op.name:find "^stem" then
      if op.name ~= "stem1" then at = at + 1 end
      quarters = { "A", "B", "C", "D" }
    elseif op.kind == "flatten" then
      quarters = before
    else
      at = at + 1
      local row = rows[at]
      if not is_kind(row, op) then
        soapstone.refuse("figure 12, line %d: %s %s is not operator %s", at, row.module, row.operator, op.name)
      end
      quarters = { row.part1, row.part2, row.part3, row.part4 }
      if row.split == "parameter" then quarters = { row.part1, row.part2 } end
    end
    before = quarters
    put(strategy, op, #quarters == 2 and "c" or "n", merged(quarters, o.each))
  end
  if at ~= #rows then soapstone.refuse("figure 12: %d of %d operators were read", at, #rows) end
  return strategy
end

local layer_of = {
  ["encoder Embed"] = "source_embedding", ["decoder Embed"] = "target_embedding", ["encoder LSTM1"] = "encoder1",
  ["decoder LSTM1"] = "decoder1", ["encoder LSTM2"] = "encoder2", ["decoder LSTM2"] = "decoder2",
  ["decoder Attention"] = "attention", ["decoder Softmax"] = "softmax",
}
local drawn_step = { first = 1, second = 2, third = 3, ["third last"] = 4, ["second last"] = 5, last = 6 }

-- The drawings of each layer, first three and last three steps.
local function read_layers()
  local layers = {}
  for _, row in ipairs(paper.published "fig13_nmt_strategy") do
    local name = layer_of[row.side .. " " .. row.layer]
    layers[name] = layers[name] or {}
    layers[name][drawn_step[row.drawn_step]] = { row.row1, row.row2, row.row3, row.row4 }
  end
  return layers
end

-- Which of the six drawings a step has.  Those in between are not drawn: as the third and the third last, or the six in
-- turn ("in_turn").
local function drawing_of(step, steps, undrawn)
  if step <= 3 then return step end
  if step > steps - 3 then return step - steps + 6 end
  if undrawn == "in_turn" then return (step - 1) % 6 + 1 end
  return step <= steps // 2 and 3 or 4
end

-- Figure 13 onto an NMT with at least six operators a layer.
function drawn.nmt(problem, o)
  local layers, count = read_layers(), {}
  local strategy = problem:strategy("whole", { name = o.name or "figure 13" })
  for op in problem.model:ops() do
    local layer = op.name:match "^[^.]+"
    count[layer] = (count[layer] or 0) + 1
  end
  for op in problem.model:ops() do
    local layer, step = op.name:match "^([^.]+)%.(%d+)$"
    if not layers[layer] then soapstone.refuse("figure 13 has no layer %s", layer) end
    if count[layer] < 6 then soapstone.refuse("figure 13 has six steps of a layer, and %s has %d", layer, count[layer]) end
    local rows = layers[layer][drawing_of(math.tointeger(step), count[layer], o.undrawn)]
    local columns, by_sample = {}, {}
    for i = 1, 4 do
      columns[i] = rows[1]:sub(i, i)
      by_sample[i] = rows[i]:sub(1, 1)
    end
    if all_equal(columns) then
      put(strategy, op, "n", merged(by_sample, o.each))
    elseif all_equal(rows) then
      put(strategy, op, "c", merged(columns, o.each))
    else
      soapstone.refuse("figure 13: %s is split in two ways at once", op.name)
    end
  end
  return strategy
end

-- A configuration in letters: the devices of four sample quarters where they are that, else those of its parts with
-- what is split: "AADD", "CB(c2)".
function drawn.letters_of(configuration, op)
  local text, split = {}, {}
  for i, device in ipairs(configuration.devices) do text[i] = drawn.letter(device) end
  for _, dimension in ipairs(op.dims) do
    local degree = configuration.degrees[dimension.name]
    if degree and degree > 1 then split[#split + 1] = dimension.name .. degree end
  end
  if #split == 0 then return text[1]:rep(4) end
  if #split == 1 and split[1]:find "^n[24]$" then
    for i, letter in ipairs(text) do text[i] = letter:rep(4 // #text) end
    split = {}
  end
  local word = table.concat(text)
  return #split == 0 and word or ("%s(%s)"):format(word, table.concat(split, " "))
end

-- -- what a strategy comes to ------------------------------------------------------------------------------

-- Part k (from 0) of an extent, in elements: the first ones have one more.
local function part_of(dimension, degree, k)
  local grains, grain = dimension.extent // dimension.grain, dimension.grain
  local size, over = grains // degree, grains % degree
  local lo = k * size + math.min(k, over)
  return lo * grain, (lo + size + (k < over and 1 or 0)) * grain
end

-- Calls visit(device, share of the operator's work, lo, hi) for each part; lo and hi are its shares of the weights.
local function each_part(op, configuration, visit)
  local index = {}
  for d in ipairs(op.dims) do index[d] = 0 end
  for _, device in ipairs(configuration.devices) do
    local share, lo, hi = 1, 0, 1
    for d, dimension in ipairs(op.dims) do
      local from, to = part_of(dimension, configuration.degrees[dimension.name] or 1, index[d])
      share = share * (to - from) / dimension.extent
      if dimension.class == "p" then lo, hi = from / dimension.extent, to / dimension.extent end
    end
    visit(device, share, lo, hi)
    for d = #op.dims, 1, -1 do -- the last dimension is the fastest
      index[d] = index[d] + 1
      if index[d] < (configuration.degrees[op.dims[d].name] or 1) then break end
      index[d] = 0
    end
  end
end

local function devices_between(pieces, lo, hi)
  local seen, count = {}, 0
  for _, piece in ipairs(pieces) do
    if piece.lo < hi and piece.hi > lo and not seen[piece.device] then
      seen[piece.device], count = true, count + 1
    end
  end
  return count
end

-- The same degrees and devices in another problem with that model.
function drawn.onto(problem, strategy)
  local copy = problem:strategy("whole", { name = strategy.name })
  for op in problem.model:ops() do
    local configuration = strategy:get(op.name)
    copy:set(op.name, { degrees = configuration.degrees, devices = configuration.devices })
  end
  return copy
end

-- Calls visit(bytes, devices) for each stretch of weights that the same devices hold.  Operators that share weights are
-- one; no kind of operator has two dimensions of class p.
local function each_stretch(problem, strategy, visit)
  local groups, names = {}, {}
  local totals = problem.model:totals()
  for op in problem.model:ops() do
    if op.parameters > 0 then
      local key = op.share or op.name
      if not groups[key] then
        groups[key] = { bytes = op.parameters * totals.parameter_bytes / totals.parameters, cuts = {} }
        names[#names + 1] = key
      end
      local group = groups[key]
      each_part(op, strategy:get(op.name), function(device, _, lo, hi)
        group[#group + 1] = { device = device, lo = lo, hi = hi }
        group.cuts[#group.cuts + 1] = lo
      end)
    end
  end
  for _, key in ipairs(names) do
    local group = groups[key]
    table.sort(group.cuts)
    for i, lo in ipairs(group.cuts) do
      local hi = group.cuts[i + 1] or 1
      if hi > lo then visit(group.bytes * (hi - lo), devices_between(group, lo, hi), key) end
    end
  end
end

-- For weights of W bytes on g devices: the sum of 2 W (g - 1), which is what all devices send and receive of gradients and
-- weights, and that of 2 W (g - 1) / g, what each of g sends in a ring.
function drawn.synchronised(problem, strategy)
  local all, ring = 0, 0
  each_stretch(problem, strategy, function(bytes, devices)
    all = all + 2 * bytes * (devices - 1)
    ring = ring + 2 * bytes * (devices - 1) / devices
  end)
  return all, ring
end

-- The module or layer that an operator is drawn in.
function drawn.row_of(op)
  return op.name:match "^(%u%d)%." or op.name:match "^(stem)" or op.name:match "^([%l_]+%d?)%." or "head"
end

-- Multiply-accumulates by device, their sum, and the sum over modules of what the busiest device of each has.
function drawn.work(problem, strategy)
  local work, rows, all, one_by_one = {}, {}, 0, 0
  for i = 1, problem.topology.devices do work[i] = 0 end
  for op in problem.model:ops() do
    local row = drawn.row_of(op)
    rows[row] = rows[row] or {}
    each_part(op, strategy:get(op.name), function(device, share)
      work[device] = work[device] + share * op.macs
      rows[row][device] = (rows[row][device] or 0) + share * op.macs
    end)
    all = all + op.macs
  end
  for _, row in soapstone.pairs(rows) do
    local most = 0
    for _, macs in soapstone.pairs(row) do most = math.max(most, macs) end
    one_by_one = one_by_one + most
  end
  return work, all, one_by_one
end

-- How many operators with weights are on one device, on two, ...
function drawn.spread(problem, strategy)
  local counts = {}
  for i = 1, problem.topology.devices do counts[i] = 0 end
  for op in problem.model:ops() do
    if op.parameters > 0 then
      local seen, devices = {}, 0
      for _, device in ipairs(strategy:get(op.name).devices) do
        if not seen[device] then seen[device], devices = true, devices + 1 end
      end
      counts[devices] = counts[devices] + 1
    end
  end
  return counts
end

return drawn
