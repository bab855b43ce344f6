-- The bytes that FlexFlow's figure 7b plots (MLSys 2019; decoded from the printed drawing), counted in
-- the lowered graph: NMT on 16 machines of 4 K80, 64 samples for each, parameter server.
local check = require "check"
local soapstone = require "soapstone"
local nmt = require "models.nmt"
local k80 = require "topologies.k80_cluster" { nodes = 16 }

local equal, claim = check.equal, check.claim
local GiB = 2^30

local function moved(states, strategy, more)
  local o = { model = nmt { batch = 64 * 64, attention = "proxy", states = states },
    topology = k80, costs = soapstone.costs.roofline(), sync = "parameter_server" }
  for name, value in pairs(more or {}) do o[name] = value end
  local problem = soapstone.problem(o)
  return problem:simulate(problem:strategy(strategy))
end

claim("data parallel moves 65.830078125 GiB", function()
  local r = moved("plain", "data_parallel")
  equal(r.bytes_moved, 70684508160)
  equal(r.bytes_moved / GiB, 65.830078125)
  equal(moved(2018, "data_parallel").bytes_moved, r.bytes_moved)
end)

claim("the expert placement moves 24.173828125 GiB, counting states as the 2018 simulator", function()
  equal(moved(2018, "expert_rnn").bytes_moved / GiB, 24.173828125)
end)

claim("and 23.298828125 GiB counting them once", function()
  equal(moved("plain", "expert_rnn").bytes_moved / GiB, 23.298828125)
end)

claim("links, segments and the way of meeting change the time and not the bytes", function()
  for _, more in ipairs { { links = "fifo-pipe" }, { links = "fifo-path" }, { overlap = false },
      { segment = "1 MiB", max_segments = 4 }, { sync = "tree" }, { sync = "two_level" },
      { sync = "ring", aggregate = true }, { sync = "closed_form" } } do
    equal(moved(2018, "expert_rnn", more).bytes_moved / GiB, 24.173828125)
  end
end)

claim("devices send and receive what is moved", function()
  local r = moved("plain", "expert_rnn")
  local sent, received = 0, 0
  for _, d in ipairs(r.devices) do sent, received = sent + d.sent, received + d.received end
  equal(sent, r.bytes_moved)
  equal(received, r.bytes_moved)
end)

check.done()
