-- ring_all_reduce.lua - a training step written as processes, against the one that is built in.
--
--   soapstone run scripts/lua/experiments/processes/ring_all_reduce.lua [DEVICES]
--
-- Every device computes, then passes shares of its gradient round a ring: in the first n - 1 rounds each adds what it
-- gets and passes it on, in the next n - 1 the sums go round.  A process for each device does so in nine lines; the
-- problem beside it has the same network cut by sample with sync = "ring".  Both take the same time, to the picosecond.

local soapstone = require "soapstone"
local model = require "soapstone.model"
local process = require "soapstone.process"

local n = tonumber(arg and arg[1]) or 8
local show = soapstone.unit.show

local ring = require "topologies.ring" { devices = n, bandwidth = "25 GB/s", latency = "2 us", one_way = true }
local net = model.new { name = "layer" }
net:linear("fc", net:input("x", { 64 * n, 1024 }), { out = 3000, bias = false })
local bytes = net:totals().parameter_bytes
local times = { forward = 1e-3, backward = 2e-3 }

local problem = soapstone.problem { model = net, topology = ring, sync = "ring", costs = soapstone.costs.given { fc = times } }
local built_in = problem:simulate(problem:strategy "data_parallel")

-- Share k of n, from 0: they differ by a byte at most.
local function share(k)
  return bytes * (k + 1) // n - bytes * k // n
end

local sim = process.new { topology = ring }
local inboxes = {}
for i = 0, n - 1 do inboxes[i] = sim:mailbox("to " .. i, i + 1) end
for i = 0, n - 1 do
  sim:spawn("device " .. i, function(p)
    p:execute(i + 1, times.forward)
    p:execute(i + 1, times.backward)
    for round = 0, 2 * (n - 1) - 1 do
      local k = (i - round) % n
      p:post(inboxes[(i + 1) % n], share(k), k)
      local got = p:receive(inboxes[i])
      assert(got == (k - 1) % n)
    end
  end, { device = i + 1 })
end
sim:run()
local by_processes = sim:finish()

print(("%d devices, %s of weights"):format(n, show(bytes, "B")))
print(("built in      %s"):format(show(built_in.step_time, "s")))
print(("by processes  %s, %s"):format(show(by_processes.step_time, "s"),
  by_processes.step_time == built_in.step_time and "equal" or "not equal"))
