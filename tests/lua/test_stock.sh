#!/bin/sh
# test_stock.sh - the module in a stock lua5.4: the host's globals stay, until repeatable() is asked for.
set -u
lua=$(command -v lua5.4) || { echo "0 passed, 0 failed, 1 skipped"; exit 77; }
module=$SS_BUILDDIR/soapstone.so
# a module with sanitizers cannot be loaded into a program without them
if grep -q __asan_init "$module" 2>/dev/null; then echo "0 passed, 0 failed, 1 skipped"; exit 77; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/host.lua" <<'LUA'
package.cpath = os.getenv "SS_BUILDDIR" .. "/?.so;" .. package.cpath
local before, before_math, before_table = {}, {}, {}
for k, v in pairs(_G) do before[k] = v end
for k, v in pairs(math) do before_math[k] = v end
for k, v in pairs(table) do before_table[k] = v end
local path = package.path

local passed, failed = 0, 0
local function claim(name, ok)
  if ok then passed = passed + 1 else failed = failed + 1; print("FAILED " .. name) end
end
local function same(a, b)
  for k, v in pairs(a) do if b[k] ~= v then return false end end
  for k, v in pairs(b) do if a[k] ~= v then return false end end
  return true
end

local soapstone = require "soapstone"
local model = require "soapstone.model"
local topology = require "soapstone.topology"
local nmt = require "models.nmt" { batch = 64 }
local options = require "soapstone.options"

claim("globals stay", same(before, _G) and same(before_math, math) and same(before_table, table))
claim("the host's path comes first", package.path:sub(1, #path) == path)
claim("parts are the module's own tables", model == soapstone.model and topology == soapstone.topology)
claim("a model is made", nmt.batch == 64)
local ok, message = pcall(options, { a = 1 }, { b = 2 })
claim("errors have a place", not ok and message:find("unknown option 'a'", 1, true))
local t = topology.new { name = "one" }
t:device("gpu", { kind = "p100" })
local p = soapstone.problem { model = nmt, topology = t }
claim("a step is simulated", p:simulate(p:strategy "data_parallel").step_time > 0)
local keys = {}
for k in soapstone.pairs { b = 1, a = 2, [3] = 4, [1] = 1 } do keys[#keys + 1] = k end
claim("soapstone.pairs has an order", table.concat(keys, " ") == "1 3 a b")

soapstone.repeatable { seed = 5 }
claim("repeatable replaces", pairs ~= before.pairs and math.random ~= before_math.random and
  next ~= before.next and table.sort ~= before_table.sort)
claim("and nothing else", print == before.print and math.floor == before_math.floor)
print("random " .. math.random(0))
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0, true)
LUA
"$lua" "$dir/host.lua" >"$dir/first" 2>&1
status=$?
"$lua" "$dir/host.lua" >"$dir/second" 2>&1
grep -v '^random' "$dir/first"
cmp "$dir/first" "$dir/second" || status=1
exit $status
