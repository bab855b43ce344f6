-- process.lua - processes that take turns on a run: they wait, compute, send and receive.
--
--   local sim = require("soapstone.process").new { topology = t, links = "shared" }
--   local box = sim:mailbox("gradients", "gpu2")
--   sim:spawn("worker", function(p)
--     p:execute("gpu1", "2 ms")
--     p:send(box, "4 MiB", { step = 1 })
--   end, { device = "gpu1" })
--   sim:spawn("server", function(p)
--     local value, from = p:receive(box)
--   end)
--   sim:run()
--
-- A process is a coroutine.  What it does takes simulated time, in which others go on; between two such calls no
-- time passes, and nobody else is at work.  Who goes on at one instant is told by the order of events alone: first
-- who waited for tasks that were done, in the order in which these were told, then whose time has come, in the order
-- in which they began to wait.  So equal scripts give equal runs.

local soapstone = require "soapstone"

local refuse, nearest, ordered = soapstone.refuse, soapstone.nearest, soapstone.pairs

-- A time beyond is none of a run; and so many processes that begin at one instant spawn each other without end.
local LONGEST <const>, MOST_AT_ONCE <const> = 9.2e6, 100000

-- Times are compared as whole picoseconds, as the run has them.
local function picoseconds(seconds)
  return math.tointeger(math.floor(seconds * 1e12 + 0.5))
end

local function read_seconds(value, what)
  local ok, seconds = pcall(soapstone.unit.read, value, "s")
  if not ok then refuse("%s%s", what, (seconds:gsub("^.-the quantity", ""))) end
  if not (seconds >= 0) then refuse("%s is %s s; it must be at least 0 s", what, seconds) end
  if seconds > LONGEST then refuse("%s is %s s; times end after 106 days (9.22e6 s)", what, seconds) end
  return seconds
end

-- The picosecond that is so many seconds from now.
local function time_from_now(sim, seconds, what)
  local now, time = picoseconds(sim.world.now), picoseconds(read_seconds(seconds, what))
  if time > math.maxinteger - now then refuse("%s is %s s; times end after 106 days (9.22e6 s)", what, seconds) end
  return now + time
end

-- As an option; nil: none is given.  Read before anything else is done, so that what is refused has changed nothing.
local function read_timeout(sim, o, what)
  return o.timeout ~= nil and time_from_now(sim, o.timeout, what .. ": option 'timeout'") or nil
end

local function check_options(given, known, what)
  if given == nil then return {} end
  if type(given) ~= "table" then refuse("%s takes a table of options", what) end
  for name in ordered(given) do
    local is_known = false
    for _, one in ipairs(known) do is_known = is_known or one == name end
    if not is_known then
      local near = nearest(tostring(name), known)
      if near then refuse("%s: unknown option '%s'; did you mean '%s'?", what, name, near) end
      refuse("%s: unknown option '%s'; there are %s", what, name, table.concat(known, ", "))
    end
  end
  return given
end

-- f(...), a function of the run that is called `name`: what it refuses is refused by the name that the script called.
local function as(what, name, f, ...)
  local answer = table.pack(pcall(f, ...))
  if answer[1] then return table.unpack(answer, 2, answer.n) end
  local message = answer[2]
  local from, to = tostring(message):find(name .. ": ", 1, true)
  if from then refuse("%s: %s", what, message:sub(to + 1)) end
  return f(...) -- anything else is raised as it was: nothing was changed
end

-- A queue of any values, nil too.
local Queue = {}
Queue.__index = Queue

local function queue()
  return setmetatable({ first = 1, last = 0 }, Queue)
end

function Queue:put(value)
  self.last = self.last + 1
  self[self.last] = value
end

function Queue:take()
  local value = self[self.first]
  self[self.first] = nil
  self.first = self.first + 1
  return value
end

function Queue:remove(value)
  for i = self.first, self.last do
    if self[i] == value then
      table.move(self, i + 1, self.last + 1, i)
      self.last = self.last - 1
      return
    end
  end
end

function Queue:is_empty()
  return self.first > self.last
end

-- -- mailboxes ----------------------------------------------------------------------------------

local Mailbox = { __name = "mailbox" }
Mailbox.__index = Mailbox

function Mailbox:__tostring()
  return "mailbox " .. self.name
end

local function new_mailbox(name, device)
  return setmetatable({ name = name, device = device, messages = queue(), receivers = queue() }, Mailbox)
end

-- -- the simulation -----------------------------------------------------------------------------

local Sim = { __name = "simulation of processes", __methods = {} }
local Process = { __name = "process", __methods = {} }
local methods = Process.__methods

local function refuse_unknown(what, key, more)
  local names = { table.unpack(more) }
  for name in ordered(what.__methods) do names[#names + 1] = name end
  local near = type(key) == "string" and nearest(key, names)
  refuse("a %s has no field or method '%s'%s", what.__name, tostring(key),
    near and ("; did you mean '%s'?"):format(near) or "")
end

function Sim:__index(key)
  return Sim.__methods[key] or refuse_unknown(Sim, key, { "world" })
end

local may_be_nil = { device = true, done = true, since = true, timer = true, why = true }

function Process.__index(p, key)
  if key == "now" then return p.sim.world.now end
  return methods[key] or not may_be_nil[key] and refuse_unknown(Process, key, { "device", "name", "now" }) or nil
end

function Process:__tostring()
  return "process " .. self.name
end

-- The number of a device that is given by number, name or node.
local function device_of(sim, value, what)
  if type(value) == "number" then
    if not sim.device_names[value] then
      refuse("%s: there is no device %s; there are 1 to %d", what, value, #sim.device_names)
    end
    return value
  elseif type(value) == "string" then
    if not sim.devices[value] then
      local near = nearest(value, sim.device_names)
      refuse("%s: there is no device '%s'%s", what, value, near and ("; did you mean '%s'?"):format(near) or "")
    end
    return sim.devices[value]
  end
  local node, device = pcall(function() return value.device end)
  if not node or math.type(device) ~= "integer" then refuse("%s should be a device, not a %s", what, type(value)) end
  return device
end

-- A mailbox, a process (its own), a name, or a device (the mailbox of the device).
local function mailbox_of(sim, value, what)
  local kind = getmetatable(value)
  if kind == Mailbox then return value end
  if kind == Process then return value.mailbox end
  if type(value) == "string" and sim.mailboxes[value] then return sim.mailboxes[value] end
  if type(value) == "string" and not sim.devices[value] then
    local names = table.move(sim.device_names, 1, #sim.device_names, 1, {})
    for name in ordered(sim.mailboxes) do names[#names + 1] = name end
    local near = nearest(value, names)
    refuse("%s: there is no mailbox or device '%s'%s", what, value, near and ("; did you mean '%s'?"):format(near) or "")
  end
  local device = device_of(sim, value, what)
  sim.of_device[device] = sim.of_device[device] or new_mailbox("of " .. sim.device_names[device], device)
  return sim.of_device[device]
end

local process = {}

local run_options = { "blocked_end", "copies_block", "events", "links", "name", "order", "run", "slowed_by_copies", "streams", "topology" }

-- Either the options of soapstone.run, or a run that is there: { run = problem:start(strategy) }.
function process.new(o)
  if o == process then refuse "process.new was called with a colon; use a dot: process.new { topology = t }" end
  o = check_options(o, run_options, "process.new")
  local world = o.run
  if world == nil then
    world = as("process.new", "soapstone.run", soapstone.run, o)
  else
    for name in ordered(o) do
      if name ~= "run" then refuse("process.new: option '%s' is of the run that was given: start it with it", name) end
    end
  end
  if world.finished then refuse "process.new: the run that was given is finished, and time no longer passes in it" end
  if not world.topology then refuse "process.new: the run has no topology, whose devices could be named" end
  local sim = setmetatable({
    world = world, devices = {}, device_names = {}, mailboxes = {}, of_device = {}, processes = {},
    ready = queue(), waiting = {}, timers = {}, arriving = {}, foreground = 0, timer_order = 0,
    at = picoseconds(world.now), current = false, began_at = -1, began = 0,
  }, Sim)
  for i, device in ipairs(world.topology:device_list()) do
    sim.devices[device.name], sim.device_names[i] = i, device.name
  end
  return sim
end

-- Whether somebody wants to be told what happens.
local function is_waited_for(sim)
  for _, p in ipairs(sim.processes) do
    if not p.done then return true end
  end
  return next(sim.arriving) ~= nil
end

-- What ended while somebody else let the run go on was told to them, and timers passed unheard: nobody would be woken.
local function check_time(sim, who)
  local now = picoseconds(sim.world.now)
  if now == sim.at then return end
  local show, from = soapstone.unit.show, sim.at
  sim.at = now -- it is said once
  if not is_waited_for(sim) then return end
  refuse("%s let sim.world go on from %s to %s, past what processes wait for: time is for %s", who, show(from * 1e-12, "s"),
    show(now * 1e-12, "s"), 'sim:run to pass (p:wait, sim:run { ["until"] = ... })')
end

-- A mailbox at a device, which is where messages to it go.
function Sim.__methods:mailbox(name, device)
  if type(name) ~= "string" then refuse("sim:mailbox: the name should be a text, not a %s", type(name)) end
  if self.mailboxes[name] then refuse("sim:mailbox: there is a mailbox '%s' already", name) end
  local box = new_mailbox(name, device_of(self, device, "sim:mailbox: the device"))
  self.mailboxes[name] = box
  return box
end

-- sim:spawn(name, f, { device =, background = }): f(p) begins now, after those that are at work.
function Sim.__methods:spawn(name, f, o)
  if type(name) ~= "string" then refuse("sim:spawn: the name should be a text, not a %s", type(name)) end
  if type(f) ~= "function" then refuse("sim:spawn: process '%s' should be a function, not a %s", name, type(f)) end
  o = check_options(o, { "background", "device" }, "sim:spawn")
  if not self.current then check_time(self, "sim:spawn: the script") end
  local device = o.device ~= nil and device_of(self, o.device, "sim:spawn: option 'device'") or nil
  local now, defined = picoseconds(self.world.now), debug.getinfo(f, "S")
  if now ~= self.began_at then self.began_at, self.began = now, 0 end
  self.began = self.began + 1
  if self.began > MOST_AT_ONCE then
    refuse("sim:spawn: process '%s' would be one of more than %d that begin at %s: they spawn each other without end",
      name, MOST_AT_ONCE, soapstone.unit.show(now * 1e-12, "s"))
  end
  local p = setmetatable({ place = ("%s:%d: "):format(defined.short_src, defined.linedefined), name = name, sim = self, device = device, background = o.background and true or false,
    mailbox = new_mailbox("of " .. name, device), thread = coroutine.create(f) }, Process)
  self.processes[#self.processes + 1] = p
  if not p.background then self.foreground = self.foreground + 1 end
  self.ready:put { p, p }
  return p
end

-- -- who goes on --------------------------------------------------------------------------------

-- `why` says what for, should nobody ever wake it.
local function sleep(p, why)
  if coroutine.running() ~= p.thread then
    refuse("process '%s' is not at work: what a process does belongs into its own function", p.name)
  end
  check_time(p.sim, "this process")
  p.why, p.since = why, p.sim.world.now
  return coroutine.yield()
end

local function wake(p, ...)
  if p.timer then p.timer.void = true end
  p.why, p.timer = nil, nil
  p.sim.ready:put(table.pack(p, ...))
end

-- Timers are few: the list is kept in order of (time, when it was made).
local function add_timer(sim, at, p, on_time)
  sim.timer_order = sim.timer_order + 1
  local timer, list = { at = at, order = sim.timer_order, p = p, on_time = on_time }, sim.timers
  local low, high = 1, #list + 1
  while low < high do
    local middle = (low + high) // 2
    if list[middle].at <= at then low = middle + 1 else high = middle end
  end
  table.insert(list, low, timer)
  p.timer = timer
end

local function next_timer(sim)
  while sim.timers[1] and sim.timers[1].void do table.remove(sim.timers, 1) end
  return sim.timers[1]
end

-- A message arrived: to who waits for one longest, or into the box.
local function deliver(box, message)
  if box.receivers:is_empty() then
    box.messages:put(message)
  else
    wake(box.receivers:take(), message.value, message.from)
  end
end

local function tell_ended(sim)
  for _, task in ipairs(sim.world:ended()) do
    local arriving = sim.arriving[task]
    sim.arriving[task] = nil
    if arriving then deliver(arriving.box, arriving) end
    local waiting = sim.waiting[task]
    sim.waiting[task] = nil
    for _, wait in ipairs(waiting or {}) do
      wait.left = wait.left - 1
      if wait.left == 0 and not wait.void then wake(wait.p, true) end
    end
  end
end

-- An error keeps the line of the script that made it, and gets the name of the process.  That of a script's own is
-- noted as said in its words, so that nobody takes it for a fault of this file.
local function raise(p, message)
  if type(message) == "table" or type(message) == "userdata" then error(message, 0) end -- somebody's own, to be caught
  message = message == nil and "error() without a message" or tostring(message)
  local place, rest = message:match "^([^\n]-:%d+: )(.*)$"
  local by = debug.getinfo(p.thread, 0, "Sf")
  if by and (by.what ~= "C" or by.func == error or by.func == assert) then pcall(refuse, "%s", rest or message) end
  -- The last call of a function leaves no line of it: then the process has the line it begins at.
  if not place and by and by.what == "C" and by.func ~= error then place = p.place end
  error(("%sprocess '%s': %s"):format(place or "", p.name, rest or message), 0)
end

-- A coroutine that gave way by itself: nobody knows when it is to go on.
local function refuse_yield(sim, p)
  local at = debug.getinfo(p.thread, 1, "Sl")
  p.done = true
  if not p.background then sim.foreground = sim.foreground - 1 end
  local place = at and at.currentline > 0 and ("%s:%d: "):format(at.short_src, at.currentline) or p.place
  local message = ("process '%s' called coroutine.yield, and nothing says when it goes on: p:wait lets time pass"):format(p.name)
  pcall(refuse, "%s", message)
  error(place .. message, 0)
end

local function go_on(sim)
  while not sim.ready:is_empty() do
    local entry = sim.ready:take()
    local p = entry[1]
    sim.current = p
    local ok, message = coroutine.resume(p.thread, table.unpack(entry, 2, entry.n or #entry))
    sim.current = false
    if coroutine.status(p.thread) == "dead" then
      p.done = true
      if not p.background then sim.foreground = sim.foreground - 1 end
      if not ok then raise(p, message) end
      check_time(sim, ("process '%s'"):format(p.name))
    elseif not p.why then
      refuse_yield(sim, p)
    end
  end
end

-- What takes no time is done as soon as it is begun, at the instant at hand.
local function settle(sim)
  repeat
    go_on(sim)
    tell_ended(sim)
  until sim.ready:is_empty()
end

local function refuse_deadlock(sim)
  local list = {}
  for _, p in ipairs(sim.processes) do
    if not p.done and not p.background then
      list[#list + 1] = ("process '%s' %s since %s"):format(p.name, p.why(), soapstone.unit.show(p.since, "s"))
    end
  end
  refuse("nothing can happen any more, and %d process%s wait%s: %s", #list, #list == 1 and "" or "es",
    #list == 1 and "s" or "", table.concat(list, "; "))
end

-- sim:run { until = }: until every process in the foreground has ended, or up to a time.  Gives the time.
function Sim.__methods:run(o)
  o = check_options(o, { "until" }, "sim:run")
  local last = o["until"] ~= nil and picoseconds(read_seconds(o["until"], "sim:run: option 'until'")) or nil
  local world = self.world
  if self.current then
    refuse("sim:run: process '%s' is at work in it already: a process lets time pass with p:wait", self.current.name)
  end
  check_time(self, "sim:run: the script")
  settle(self)
  while self.foreground > 0 do
    local timer, event = next_timer(self), world.next
    local at = event and picoseconds(event)
    if timer and (not at or timer.at < at) then at = timer.at end
    if last and (not at or at > last) then break end
    if not at then refuse_deadlock(self) end
    self.at = at
    if event and picoseconds(event) == at then
      world:step()
      tell_ended(self)
    else
      world:advance_to(at * 1e-12)
    end
    timer = next_timer(self)
    while timer and timer.at <= at do
      timer.void = true
      timer.on_time()
      timer = next_timer(self)
    end
    settle(self)
  end
  if last and self.foreground > 0 and picoseconds(world.now) < last then
    self.at = last
    world:advance_to(last * 1e-12)
  end
  return world.now
end

-- The result of the run, once what is under way has ended.
function Sim.__methods:finish()
  local result = self.world:finish()
  self.at = picoseconds(self.world.now)
  return result
end

-- -- what a process does ------------------------------------------------------------------------

-- p:wait(seconds)
function methods:wait(seconds)
  add_timer(self.sim, time_from_now(self.sim, seconds, "p:wait: how long"), self, function() wake(self) end)
  sleep(self, function() return "waits for a time to pass" end)
end

-- p:join(task, ...): until all of them are done; with { timeout = } last, false if they were not in time.
function methods:join(...)
  local list = table.pack(...)
  local o = type(list[list.n]) == "table" and check_options(table.remove(list), { "timeout" }, "p:join") or {}
  local wait, world, left = { p = self, left = 0 }, self.sim.world, {}
  local until_then = read_timeout(self.sim, o, "p:join")
  for _, task in ipairs(list) do
    if as("p:join", "run:task", world.task, world, task).stage ~= "done" then left[#left + 1] = task end
  end
  for _, task in ipairs(left) do
    wait.left = wait.left + 1
    self.sim.waiting[task] = self.sim.waiting[task] or {}
    table.insert(self.sim.waiting[task], wait)
  end
  if wait.left == 0 then return true end
  if until_then then
    add_timer(self.sim, until_then, self, function()
      wait.void = true
      wake(self, false)
    end)
  end
  return sleep(self, function()
    local names = {}
    for _, task in ipairs(list) do
      local t = world:task(task)
      if t.stage ~= "done" then
        names[#names + 1] = ("task %d (%s%s, which %s)"):format(task, t.kind, t.name and " " .. t.name or "", t.stage)
      end
    end
    return "waits for " .. table.concat(names, " and ")
  end)
end

local function name_of(p, o)
  if o.name == nil then return p.name end
  return o.name
end

local function compute(p, device, seconds, o, what)
  local world = p.sim.world
  return as(what, "run:compute", world.compute, world, device, seconds, { name = name_of(p, o) })
end

-- p:start(device, seconds, { name = }) -> task: a computation beside what the process does itself
function methods:start(device, seconds, o)
  o = check_options(o, { "name" }, "p:start")
  device = device_of(self.sim, device, "p:start: the device")
  return compute(self, device, seconds, o, "p:start")
end

-- p:execute(device, seconds, { name = }): computes, and goes on when that is done
function methods:execute(device, seconds, o)
  o = check_options(o, { "name" }, "p:execute")
  device = device_of(self.sim, device, "p:execute: the device")
  self:join(compute(self, device, seconds, o, "p:execute"))
end

local function post(p, to, bytes, value, o, what)
  local box = mailbox_of(p.sim, to, what .. ": the target")
  local from = p.device
  if o.from ~= nil then from = device_of(p.sim, o.from, what .. ": option 'from'") end
  if not from then
    refuse("%s: process '%s' is on no device: spawn it with { device = ... } or say from where, { from = ... }", what, p.name)
  end
  if not box.device then
    refuse("%s: %s is on no device, and a message needs to go somewhere", what, tostring(box))
  end
  local world = p.sim.world
  local task = as(what, "run:send", world.send, world, from, box.device, bytes, { name = name_of(p, o), route = o.route })
  p.sim.arriving[task] = { box = box, value = value, from = p }
  return task
end

-- p:post(to, bytes, value, { from =, route =, name = }) -> task: a message, without waiting for its arrival
function methods:post(to, bytes, value, o)
  return post(self, to, bytes, value, check_options(o, { "from", "name", "route" }, "p:post"), "p:post")
end

-- p:send(to, bytes, value, { from =, route =, name =, timeout = }) -> whether it arrived in time
function methods:send(to, bytes, value, o)
  o = check_options(o, { "from", "name", "route", "timeout" }, "p:send")
  read_timeout(self.sim, o, "p:send")
  local task = post(self, to, bytes, value, o, "p:send")
  if self:join(task, { timeout = o.timeout }) then return true end
  self.sim.arriving[task] = nil -- whoever sends it again sends another message
  return false
end

-- p:receive(mailbox, { timeout = }) -> value, who sent it; nothing if none came in time
function methods:receive(from, o)
  o = check_options(o, { "timeout" }, "p:receive")
  local until_then = read_timeout(self.sim, o, "p:receive")
  local box = from == nil and self.mailbox or mailbox_of(self.sim, from, "p:receive: the mailbox")
  if not box.messages:is_empty() then
    local message = box.messages:take()
    return message.value, message.from
  end
  box.receivers:put(self)
  if until_then then
    add_timer(self.sim, until_then, self, function()
      box.receivers:remove(self)
      wake(self)
    end)
  end
  return sleep(self, function() return ("waits for a message in mailbox '%s'"):format(box.name) end)
end

return process
