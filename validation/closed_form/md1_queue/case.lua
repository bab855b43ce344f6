-- Tasks that come by chance to one device that takes as long for each: waiting times by Lindley's recursion, and their mean.
--
--   soapstone run validation/closed_form/md1_queue/case.lua
--
-- M/D/1: arrivals of a Poisson process, one server, fixed service.  The script draws the arrivals.

local law = require "validation.closed_form.common"
local soapstone = require "soapstone"
local topology = require "soapstone.topology"

local case = law.open("md1_queue", { "what", "load", "arrivals" }, "ps")

local service = 1000003 -- ps
local batches = 20
local batch_of = { [0.2] = 2500, [0.5] = 2500, [0.8] = 10000, [1.1] = 1000 } -- longer where the queue remembers longer
local t_quantile = 3.883 -- Student's t, 19 degrees of freedom, two-sided 99.9 %

local function one_device()
  local t = topology.new { name = "one" }
  t:device "server"
  return t
end

-- Tasks are added when they arrive: whole picoseconds, some of them equal.  Their waits and when they were ready.
local function queue(arrivals)
  local run = soapstone.run { topology = one_device() }
  for i, at in ipairs(arrivals) do
    run:advance_to(at * 1e-12)
    assert(run:compute(1, service * 1e-12) == i)
  end
  local result = run:finish()
  local waits, ready = {}, {}
  for i, at in ipairs(arrivals) do
    local task = result:task(i)
    ready[i], waits[i] = law.picoseconds(task.ready), law.picoseconds(task.start) - at
  end
  return waits, ready, result
end

local function drawn(load, n)
  local arrivals, at = {}, 0
  for i = 1, n do
    at = at - math.log(1 - math.random()) * service / load
    arrivals[i] = law.rounded(at * 1e-12)
  end
  return arrivals
end

math.randomseed(1)
local all = {}
for _, load in ipairs { 0.2, 0.5, 0.8, 1.1 } do
  local arrivals = drawn(load, (batches + 1) * batch_of[load])
  local waits, ready, result = queue(arrivals)
  local came = case:group { "ready when it comes, each", load, #arrivals }
  local lindley, wait = case:group { "Lindley, each", load, #arrivals }, 0
  for i, at in ipairs(arrivals) do
    if i > 1 then wait = math.max(0, wait + service - (at - arrivals[i - 1])) end
    came:equal(ready[i], at)
    lindley:equal(waits[i], wait)
  end
  came:close()
  lindley:close()
  case:equal({ "busy", load, #arrivals }, law.picoseconds(result.devices[1].busy), service * #arrivals)
  all[load] = waits
end

-- The mean, where there is one: of 20 batches behind one that is left out, since the queue begins empty.
local function of_batches(waits, batch, value)
  local means, mean, square = {}, 0, 0
  for k = 1, batches do
    local sum = 0
    for i = k * batch + 1, (k + 1) * batch do sum = sum + value(waits[i]) end
    means[k] = sum / batch
    mean = mean + means[k] / batches
  end
  for k = 1, batches do square = square + (means[k] - mean) ^ 2 end
  return mean, t_quantile * math.sqrt(square / (batches - 1) / batches)
end
for _, load in ipairs { 0.2, 0.5, 0.8 } do
  local batch = batch_of[load]
  local mean, half = of_batches(all[load], batch, function(wait) return wait end)
  case:within({ "mean wait, 99.9 %", load, batches * batch }, mean, load * service / (2 * (1 - load)), half)
  local share, half_of_share = of_batches(all[load], batch, function(wait) return wait > 0 and 1 or 0 end)
  case:within({ "share that waits, 99.9 %", load, batches * batch }, share, load, half_of_share)
end

case:close()
