-- reroute.lua - a link fails in the middle of a step, and the script sends the rest another way.
--
--   soapstone run scripts/lua/experiments/processes/reroute.lua
--
-- Two machines are joined by two switches.  A checkpoint of 1 GB goes from one to the other in pieces, over the first
-- switch; after 30 ms the link into it fails, and it is repaired after 200 ms.  A sender that knows nothing waits for the
-- repair.  One that gives each piece 10 ms sends the piece that was lost, and all after it, over the second switch,
-- which is half as fast.

local soapstone = require "soapstone"
local process = require "soapstone.process"
local topology = require "soapstone.topology"

local bytes, pieces = 1e9, 50
local show = soapstone.unit.show

local t = topology.new { name = "two ways" }
t:device("a", { kind = "p100" })
t:device("b", { kind = "p100" })
for name, bandwidth in soapstone.pairs { first = "10 GB/s", second = "5 GB/s" } do
  t:switch(name)
  t:link("a", name, { bandwidth = bandwidth, latency = "5 us" })
  t:link(name, "b", { bandwidth = bandwidth, latency = "5 us" })
end
local ways = { { "a->first", "first->b" }, { "a->second", "second->b" } }

local function send_all(patience)
  local sim = process.new { topology = t, links = "shared" }
  local way, lost = 1, 0
  sim:spawn("sender", function(p)
    for piece = 1, pieces do
      while not p:send("b", bytes // pieces, piece, { route = ways[way], timeout = patience }) do
        way, lost = 2, lost + 1
      end
    end
  end, { device = "a" })
  sim:spawn("receiver", function(p)
    for piece = 1, pieces do assert(p:receive "b" == piece) end
  end)
  sim:spawn("the network", function(p)
    p:wait "30 ms"
    sim.world:fail "a->first"
    p:wait "170 ms"
    sim.world:restore "a->first"
  end, { background = true })
  return sim:run(), lost
end

local waited = send_all()
local rerouted, lost = send_all "10 ms"
print(("waits for the repair   %s"):format(show(waited, "s")))
print(("goes another way       %s, %d piece lost"):format(show(rerouted, "s"), lost))
