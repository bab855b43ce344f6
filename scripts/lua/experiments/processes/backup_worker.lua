-- backup_worker.lua - a parameter server that does not wait for the slowest of its workers.
--
--   soapstone run scripts/lua/experiments/processes/backup_worker.lua [STEPS]
--
-- Eight workers compute gradients and send them to a server, which sends new weights to all of them.  From the fourth step
-- on, one of them works at a quarter of its speed.  The server either waits for all eight, or goes on with the first seven
-- and drops what comes too late.  The workers' rates are changed by a process of its own, through sim.world.

local soapstone = require "soapstone"
local process = require "soapstone.process"

local steps = tonumber(arg and arg[1]) or 10
local workers, compute, bytes = 8, 10e-3, 40e6
local show = soapstone.unit.show

-- Device 9 is the server's.
local star = require "topologies.star" { devices = workers + 1, bandwidth = "12.5 GB/s", latency = "5 us" }

-- The time of each step, if the server waits for so many gradients.
local function train(wanted)
  local sim = process.new { topology = star, links = "shared" }
  local gradients, times, list = sim:mailbox("gradients", workers + 1), {}, {}
  for i = 1, workers do
    list[i] = sim:spawn("worker " .. i, function(p)
      local step = 1
      while step do
        p:execute(i, compute)
        p:post(gradients, bytes, step)
        repeat -- of what was sent meanwhile the newest
          step = p:receive()
        until step == nil or p.mailbox.messages:is_empty()
      end
    end, { device = i, background = true })
  end
  sim:spawn("server", function(p)
    for step = 1, steps do
      local began, got = p.now, 0
      while got < wanted do
        if p:receive(gradients) == step then got = got + 1 end -- others are too old
      end
      local sent = {}
      for i = 1, workers do sent[i] = p:post(list[i], bytes, step + 1) end
      p:join(table.unpack(sent))
      times[step] = p.now - began
    end
  end, { device = workers + 1 })
  sim:spawn("trouble", function(p)
    while #times < 3 do p:wait "1 ms" end
    sim.world:set_device(workers, { speed = 0.25 })
  end, { background = true })
  sim:run()
  return times
end

local all, seven = train(workers), train(workers - 1)
print "step   waits for all   for seven of eight"
for step = 1, steps do print(("%4d   %13s   %18s"):format(step, show(all[step], "s"), show(seven[step], "s"))) end
