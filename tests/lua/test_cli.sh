#!/bin/sh
# test_cli.sh - the command line: help, exit statuses, and what is said of mistakes.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
XDG_STATE_HOME=$dir/state HOME=$dir
export XDG_STATE_HOME HOME
. "$SS_SRCDIR/tests/lua/expect.sh"

# wrong input first
expect 2 "usage: soapstone COMMAND"
expect 2 "there is no command 'rnu'; did you mean 'run'?" rnu x.lua
expect 2 "there is no command 'frobnicate'; soapstone help lists them" frobnicate
expect 2 "run has no option --sed; did you mean --seed?" run --sed 3 x.lua
expect 2 "run has no option -q" run -q x.lua
expect 2 "--seed needs N after it" run --seed
expect 2 "--seed should be a whole number, not '3x'" run --seed 3x x.lua
expect 2 "--json takes no value" inspect --json=yes x
expect 2 "something is missing: soapstone run" run
expect 2 "plot has nothing to do with 'more'" plot gantt x.h5 more
expect 2 "there is no such file" run nowhere.lua
expect 2 "nowhere.h5" inspect nowhere.h5
mkfifo pipe
expect 2 "cannot read pipe: it is no regular file" inspect pipe
rm pipe
expect 2 "there is no figure 'gant'; did you mean 'gantt'?" plot gant x.h5
expect 2 "nowhere.h5" plot gantt nowhere.h5
expect 2 "nowhere.h5" plot search nowhere.h5
expect 2 "nowhere.h5" plot strategy nowhere.h5
expect 2 "--strategy does not go with a figure of kind gantt" plot gantt x.h5 -s data
expect 2 "cannot read nowhere.csv: No such file" plot throughput nowhere.csv
expect 2 "lines are drawn by a script" plot lines x.csv
expect 2 "--log should be x, y or xy, not 'z'" plot search x.h5 --log z
printf 'series,device,value\na,1,2\n' >rates.csv
expect 2 "rates.csv:1: there is no column 'device'" plot throughput rates.csv
printf 'series,devices,value\n"a,1,2\n' >rates.csv
expect 2 "rates.csv:2: this is no row of 3 fields" plot throughput rates.csv
printf 'series,devices,value\na,1.5,2\n' >rates.csv
expect 2 "rates.csv:2: a row has a series, a number of devices and a value" plot throughput rates.csv
printf 'series,devices,value,published\na,1,2,maybe\n' >rates.csv
expect 2 "rates.csv:2: published is 'maybe', neither 0 nor 1" plot throughput rates.csv
expect 2 "--x does not go with a figure of kind memory" plot memory x.h5 --x seconds
expect 2 "--timeline does not go with a figure of kind search" plot search x.h5 -t data
expect 2 "option 'x' cannot be 'second'; did you mean 'seconds'?" plot search x.h5 --x second
expect 2 "option 'window': \"many\" does not begin with a number" plot acceptance x.h5 --window many
expect 2 "option 'from_x'" plot search x.h5 --from many
expect 2 "--from does not go with a figure of kind strategy" plot strategy x.h5 --from 3
expect 2 "--model is missing" simulate
expect 2 "--topology is missing" simulate -m mlp
expect 2 "there is no models/mpl.lua" simulate -m mpl -t x
expect 2 "there is no models/mpl.lua; did you mean models/mlp.lua?" simulate -m mpl -t x
expect 2 "there is no topologies/rings.lua; did you mean topologies/ring.lua?" simulate -m mlp -t rings
expect 2 "there is no models/frobnicate.lua; there are alexnet, bert," simulate -m frobnicate -t x
expect 2 "--model ../mlp: No such file" simulate -m ../mlp -t x
expect 2 "--topology nowhere.lua: No such file" simulate -m mlp -t nowhere.lua
echo 'local x = = 3' >unfinished.lua
expect 2 "soapstone: --model should be the path of a Lua file: unfinished.lua:1: unexpected symbol near '='" \
  simulate -m unfinished.lua -t ring
expect 2 "soapstone: --topology should be the path of a Lua file: unfinished.lua:1:" simulate -m mlp -t unfinished.lua
expect 2 "soapstone: --model ./: Is a directory" simulate -m ./ -t ring
echo 'kind,shape' >short.csv
expect 2 "soapstone: --model should be the path of a Lua file: ./short.csv:" simulate -m ./short.csv -t ring
if grep -q traceback err; then bad "a traceback for a file that is not Lua"; else ok; fi
echo 'return 3' >private.lua
chmod 0 private.lua
if [ ! -r private.lua ]; then # the superuser reads it
  expect 2 "cannot read private.lua: Permission denied" simulate -m private.lua -t ring
  expect 2 "cannot read private.lua: Permission denied" run private.lua
fi
rm -f private.lua
echo 'return 3' >number.lua
expect 2 "--model number.lua: the file should return a function of options, or the model itself, not a number" \
  simulate -m number.lua -t ring
echo 'return nil + 1' >fails.lua
expect 2 "fails.lua:1: attempt to perform arithmetic" simulate -m fails.lua -t ring
expect 2 "--option should be KEY=VALUE, not 'batch'" simulate -m mlp -t x -o batch
expect 2 "--option model=3: the model is given by --model" simulate -m mlp -t ring -o model=3
expect 2 "--option topology=8: the topology is given by --topology" simulate -m mlp -t ring -o topology=8
expect 2 "--option costs=times.csv: measured times are given by --costs FILE" simulate -m mlp -t ring -o costs=times.csv
expect 2 "nowhere.csv: there is no such file" simulate -m mlp -t ring --costs nowhere.csv
expect 2 "--links and --option links=... say the same: give one of them" simulate -m mlp -t ring --links shared -o links=shared
expect 2 "option 'links' cannot be 'sharde'; did you mean 'shared'?" simulate -m mlp -t ring --links sharde
expect 0 "links shared" simulate -m mlp -t ring --links shared -s data_parallel
expect 2 "--costs does not go with --dag" simulate --dag x.json --costs x.csv
expect 2 "--strategy: whole is there twice" simulate -m mlp -t ring -s whole,data_parallel,whole
expect 2 "--strategy: whole is there twice" simulate -m mlp -t ring -s whole -s whole
expect 2 "--strategy has no name in it" simulate -m mlp -t ring -s ,
expect 2 "--by-name is for strategies from files" simulate -m mlp -t ring -s whole --by-name
# before anything is simulated
expect 2 "cannot write nowhere/x.h5: there is no folder nowhere" simulate -m mlp -t ring -s whole -r nowhere/x.h5
if [ ! -s out ]; then ok; else bad "simulated before the record's folder was looked at"; fi
expect 2 "--option modl.batch: did you mean model.batch?" simulate -m mlp -t x -o modl.batch=3
expect 2 "options of the model are model.NAME" simulate -m mlp -t ring -o batch=3
expect 2 "unknown option 'synk'; did you mean 'sync'?" simulate -m mlp -t ring -o synk=ring
expect 2 "mlp: unknown option 'bach'; did you mean 'batch'?" simulate -m mlp -t x -o model.bach=3
expect 2 "--model does not go with --dag" simulate --dag x.json -m mlp
expect 2 "nowhere.json" simulate --dag nowhere.json
expect 2 "--links is there twice: shared and fifo-hop" simulate -m mlp -t ring --links shared --links fifo-hop
expect 2 "--record is there twice" simulate -m mlp -t ring -s data_parallel --record a.h5 --record b.h5
expect 2 "--option links is there twice, and the second time as fifo-hop" simulate -m mlp -t ring -o links=shared -o links=fifo-hop
expect 2 "--max-segments is for messages that are cut" simulate -m mlp -t ring --max-segments 4
expect 2 "--seed is -1; it must be from 0 to 2^53" simulate -m mlp -t ring --seed -1
printf '{"links":[[1e9,0],[1e-300,0]],"routes":[[0,1]],"tasks":[["x",0,5]]}' >slow.json
expect 2 "slow.json: tasks[0]: 5 bytes over links[1] of 1e-300 B/s" simulate --dag slow.json --links fifo-hop
expect 2 "--dag is there twice" simulate --dag slow.json --dag slow.json
expect 2 "--seed does not go with --dag" simulate --dag slow.json --seed 5
expect 2 "--max-segments is for messages that are cut" simulate --dag slow.json --max-segments 5
printf 'bytes,seconds,bandwidth\n1024,4e-6,1e9\n65536,10e-6,6.55e9\n8388608,843e-6,9e9\n' >rates.csv
expect 0 "2 rows with a bandwidth that is not its bytes over its seconds: the seconds count" calibrate rates.csv
expect 2 "--output: cannot tell the format of out.xyz" calibrate rates.csv -o out.xyz
if test -s out; then bad "a page before the refusal"; else ok; fi
expect 2 "--width is of the figure: give --output FILE too" calibrate rates.csv --width 5
expect 2 "--width should be a number of inches from 1 to 40, not '0'" calibrate rates.csv --width 0 -o w.svg
expect 2 "--ranks is 0; it must be at least 1" calibrate rates.csv --ranks 0
expect 2 "rates.csv has no curve 'zz': it has one, without a name" calibrate rates.csv --curve zz
printf 'bytes,seconds\n1024,4e-6\n' >one.csv
expect 2 "soapstone: one.csv: 1 row" calibrate one.csv
expect 2 "--output is there twice" calibrate slow.json -o a.svg -o b.svg
expect 0 "max-min fair rates" help links
expect 0 "of the bandwidth it has; 1 unless given" help events
expect 0 "a number, or a list with one for each level" help fat_tree
expect 2 "there is no help on 'conv2'; did you mean 'conv2d'?" help conv2
expect 2 "there is no help on 'nmtt'; did you mean 'nmt'?" help nmtt
expect 2 "there is no help on 'frobnicate'; soapstone help topics lists" help frobnicate
expect 2 "--tasks should be a whole number, such as 4000 or 4k, not 'many'" bench --tasks many

# scripts that fail
echo 'error("boom")' >boom.lua
expect 2 "soapstone: boom.lua:1: boom" run boom.lua
if grep -q traceback err; then bad "a traceback without --debug"; else ok; fi
expect 2 "stack traceback" run --debug boom.lua
echo 'local x = = 3' >syntax.lua
expect 2 "syntax.lua:1: unexpected symbol" run syntax.lua
echo 'error({})' >table.lua
expect 2 "(the error is a table)" run table.lua
for call in 'compare { 3 }' 'extremes(3)' 'fullest()' 'wrap(nil, 10)' 'wrap("a b")' 'table("a", {})' 'table({}, { 1 })' 'compare()'; do
  echo "require('soapstone.report').$call" >misuse.lua
  expect 2 "soapstone: misuse.lua:1: report.${call%%[ (]*}: " run misuse.lua
  if grep -q traceback err; then bad "a traceback of report.$call"; else ok; fi
done
for call in 'words()' 'words(m, "x")' 'words(m, "x", {})' 'each(3)' 'lstm(m, "x", 3, nil, {})' 'transformer(m, "x", nil, { hidden = 7 })'; do
  echo "local m = require('soapstone.model').new { name = 'm' } require('soapstone.layers').$call" >misuse.lua
  expect 2 "soapstone: misuse.lua:1: layers.${call%%[ (]*}: " run misuse.lua
  if grep -q traceback err; then bad "a traceback of layers.$call"; else ok; fi
done
echo 'local function f() return f() + 1 end f()' >deep.lua
expect 2 "stack overflow" run deep.lua
echo 'local t = {} for i = 1, 1e6 do t[i] = { i } end' >big.lua
SOAPSTONE_FAIL_ALLOCATION=5000
export SOAPSTONE_FAIL_ALLOCATION
expect 3 "soapstone: not enough memory" run big.lua
unset SOAPSTONE_FAIL_ALLOCATION
echo 'require "nothing.of.the.kind"' >missing.lua
expect 2 "module 'nothing.of.the.kind' not found" run missing.lua
echo 'os.exit(7)' >exit.lua
expect 7 "" run exit.lua
echo 'closed = setmetatable({}, { __gc = function() io.write "closed" end }) os.exit(...)' >exit.lua
expect 0 closed run exit.lua
sed 's/\.\.\./5, false/' exit.lua >exit_at_once.lua
"${SOAPSTONE%-under-valgrind}" run exit_at_once.lua >out # what it does not free is meant
if [ $? = 5 ] && [ ! -s out ]; then ok; else bad "os.exit(5, false)"; fi

# help
for command in run simulate search plot inspect calibrate repair repl bench help; do
  expect 0 "example:" "$command" --help
  expect 0 "usage: soapstone $command" help "$command"
done
expect 0 "usage: soapstone COMMAND" --help
expect 0 "soapstone " --version
expect 0 "conv2d" help operators
expect 0 "parameter_server" help options
expect 0 "output channels; must be given" help conv2d
for word in kernel stride padding groups; do
  if grep -q "^  $word " out; then ok; else bad "help conv2d does not tell of $word"; fi
done
expect 0 "kernel_h and kernel_w at once: a number, or { h, w }; must be given" help pool2d
expect 0 "soapstone help topics" help
expect 0 "strategies" help topics
expect 0 "by_depth" help strategies
expect 0 '"100 Gb/s"' help units
expect 0 "nmt              neural machine translation" help models
expect 0 "p100_cluster     machines of four P100" help topologies
expect 0 'require "models.nmt"' help nmt
expect 0 "  attention            one of proxy, luong; proxy unless given" help nmt
expect 0 "  batch                a whole number, at least 1; 256 unless given" help mlp
expect 0 "  nvlink               a quantity in B/s; 18.3 GB/s unless given" help p100_cluster
for name in $("$SOAPSTONE" repl <<'LUA'
for line in io.popen("ls '" .. soapstone.home .. "/models' '" .. soapstone.home .. "/topologies'"):lines() do
  print(line:match "^([%w_]+)%.lua$" or "")
end
LUA
); do
  if "$SOAPSTONE" help "$name" | grep -qx 'options:'; then ok; else bad "help $name tells no options"; fi
done

expect 0 "problem:simulate(strategy, { name =, repetition = }) -> result" help problem
expect 0 "model:totals()" help model
expect 0 "result.step_time" help result
expect 0 "search:best_of(chain)" help search
expect 0 "beta_relative" help searches
expect 0 "moves              one, or weights of several: free, block, pow2, place, list; free 0.1, block 0.3, pow2 1 unless given" \
  help searches
expect 0 "seed               of every draw; the run's unless given" help searches
if grep -q "unless given.*unless given" out; then bad "an option with two presets"; else ok; fi

# Ctrl-C stops a script, with the status that shells give it
echo 'print "on" io.stdout:flush() while true do end' >forever.lua
"$SOAPSTONE" run forever.lua >out 2>err &
pid=$!
while ! grep -q on out 2>/dev/null && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
kill -INT "$pid" 2>/dev/null
wait "$pid"
if [ $? = 130 ] && grep -q interrupted err; then ok; else bad "Ctrl-C"; fi

# and long work of ours (millions of tasks, seconds), which says how far it was
cat >long.lua <<'LUA'
local soapstone = require "soapstone"
local problem = soapstone.problem { model = require "models.nmt" { batch = 4096 },
  topology = require "topologies.k80_cluster" { nodes = 64 }, sync = "ring", segment = "64 kB" }
local strategy = problem:strategy "data_parallel"
print "on" io.stdout:flush()
problem:simulate(strategy)
LUA
"$SOAPSTONE" run long.lua >out 2>err &
pid=$!
while ! grep -q on out 2>/dev/null && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
sleep 0.3
kill -INT "$pid" 2>/dev/null
wait "$pid"
if [ $? = 130 ] && grep -q 'long.lua:6: interrupted while .* done)' err; then ok; else bad "Ctrl-C in long work"; fi

# valgrind (make check-long) takes its time to start
case $SOAPSTONE in *-under-valgrind) started=10 ;; *) started=2 ;; esac

# also where commands of ours run Lua: no traceback, nor the line of a file of ours
interrupt_command() {
  # job control, or a shell in the background has SIGINT ignored; in the foreground, or it is sent twice, to the
  # program and to its group, and a second one ends the program without a word
  timeout --foreground --preserve-status -k 20 -s INT "$started" "$SOAPSTONE" "$@" >out 2>err
  if [ $? = 130 ] && grep -q '^soapstone: interrupted' err && ! grep -q -e traceback -e '\.lua' err; then ok; else
    bad "Ctrl-C in soapstone $*"
  fi
}
interrupt_command bench --tasks 100000000
interrupt_command simulate -m mlp -t ring -o model.layers=99999999 -s whole

# a script that catches errors does not catch its end
echo 'while true do pcall(function() while true do end end) end' >pcall.lua
timeout --foreground --preserve-status -k 20 -s INT "$started" "$SOAPSTONE" run pcall.lua >out 2>err
if [ $? = 130 ] && grep -q '^soapstone: pcall.lua:1: interrupted' err; then ok; else bad "Ctrl-C under pcall"; fi

# what works
echo 'print(#arg, arg[0], arg[1], arg[-1], ...)' >args.lua
expect 0 "2	args.lua	a	run	a	b c" run args.lua a "b c"
expect 0 "1	args.lua	--x	${SOAPSTONE%-under-valgrind}	--x" args.lua --x
mkdir lib && echo 'return "beside the script"' >lib/part.lua
echo 'print(require "part")' >lib/main.lua
expect 0 "beside the script" run lib/main.lua
printf '\357\273\277print "after a mark"\n' >mark.lua
expect 0 "after a mark" run mark.lua
printf '\nerror { code = 3 }\n' >table.lua
expect 2 "table.lua:2: (the error is a table)" run table.lua
printf '#!/usr/bin/env soapstone\nprint(debug.getinfo(1).currentline)\n' >shebang.lua
expect 0 "2" run shebang.lua
if [ "$(echo 'print(6 * 7)' | "$SOAPSTONE" run -)" = 42 ]; then ok; else bad "run -"; fi
answer=$(printf '1+1\n=2\nx = {\n3}\nx[1]\n' | "$SOAPSTONE" repl | tr '\n' ' ')
if [ "$answer" = "2 2 3 " ]; then ok; else bad "repl from a pipe: $answer"; fi
# repl INPUT WANTED: what a pipe into the prompt prints, lines joined by spaces
repl() {
  answer=$(printf "$1" | "$SOAPSTONE" repl 2>&1 | tr '\n' ' ')
  if [ "$answer" = "$2" ]; then ok; else bad "repl from a pipe: $1: $answer"; fi
}
repl '1 +\n2\n' '3 '
repl '1 +\n' 'soapstone: stdin:1: unexpected symbol near <eof> '
repl 'quit\nprint(7)\n' ''
repl 'exit()\nprint(7)\n' ''
repl 'exit = 3\nexit\n' '3 '
repl '{ b = 1.5, a = { 1, 2 }, [3] = "hi", c = {}, f = print }\n' \
  '{   [3] = "hi"   a = { ... } -- list of 2   b = 1.5   c = {}   f = function } '
repl '{}\n' '{} '
repl '{ { name = "a", x = 1 }, { name = "b" } }\n' '{   [1] = { name = "a", ... }   [2] = { name = "b", ... } } '
repl 'help "units"\n' "$("$SOAPSTONE" help units | tr '\n' ' ')"
repl 'help "conv2d"\n' "$("$SOAPSTONE" help conv2d | tr '\n' ' ')"
repl 'help "conv2"\n' "soapstone: stdin:1: there is no help on 'conv2'; did you mean 'conv2d'? "
repl 'help(3)\n' "soapstone: stdin:1: help: the topic should be a text, not a number "
echo help | "$SOAPSTONE" repl >out 2>err
if grep -q '^help "TOPIC" explains' out; then ok; else bad "help at the prompt"; fi
repl 'x = 1\n\nfor i = 1, 2 do\nend\nerror("here")\n' 'soapstone: stdin:5: here '
repl 'x = 1\nfunction f(\n)\nerror("in it") end\nf()\n' 'soapstone: stdin:4: in it '
printf 'error("a")\nprint("not here")\n' | "$SOAPSTONE" repl >out 2>err
if [ $? = 2 ] && [ ! -s out ]; then ok; else bad "repl goes on after an error in a pipe"; fi
echo '{"devices": [1], "links": [], "routes": [], "tasks": [["c", 0, 1.5]], "deps": []}' >one.json
expect 0 "makespan 1.5 s" simulate --dag one.json
expect 0 '{"makespan": 1.5, "finish": [1.5]}' simulate --dag one.json --json
echo '{"devices": [1], "links": [], "routes": [], "tasks": [["c", 0, 0.1]], "deps": []}' >tenth.json
expect 0 '{"makespan": 0.1, "finish": [0.1]}' simulate --dag tenth.json --json
expect 0 "1 task (1 compute, 0 transfers), 0 dependencies" inspect one.json
cat >times.csv <<'CSV'
# measured by hand
kind,attributes,shape,dtype,phase,device,seconds
linear,,64x128 < 64x300,f32,forward,p100,1.25 ms
linear,,64x128 < 64x300,f32,backward,p100,2.5 ms
linear,,64x128 < 64x300,f32,forward,k80,3 ms
CSV
expect 0 "times.csv: soapstone measured table, 3 rows" inspect times.csv
expect 0 "devices     p100 (2), k80 (1)" inspect times.csv
expect 0 "operators   linear (3)" inspect times.csv
expect 0 '"rows": 3' inspect times.csv --json
echo 'kind,shape' >short.csv
expect 2 "short.csv:1:1: column attributes is missing" inspect short.csv
echo 'some words' >words.txt
expect 2 "neither a record (HDF5) nor measured times (CSV) nor JSON" inspect words.txt
expect 0 "without expert_rnn: expert_rnn places operators by their layer" simulate -m mlp -t ring -o model.batch=64 -o sync=ring
mkdir "own parts"
cat >"own parts/net.lua" <<'END'
local width = require "width"
return function()
  local m = require("soapstone.model").new { name = "it's" }
  m:linear("fc", m:input("x", { 8, 16 }), { out = width })
  return m
end
END
echo 'return 12 -- wide' >"own parts/width.lua"
expect 0 "" simulate -m "own parts/net.lua" -t star -o topology.devices=2 -s whole --record "it's.h5"
expect 0 "files       own parts/net.lua, own parts/width.lua (their texts are in" inspect "it's.h5"
command=$("$SOAPSTONE" inspect "it's.h5" | sed -n 's/^  command  *//p')
rm "it's.h5"
if eval "$command" >out 2>err && [ -f "it's.h5" ]; then ok; else bad "the record's command does not run: $command"; fi

expect 0 "critical path" simulate -m mlp -t ring -o model.batch=64 -s data_parallel --record run.h5
expect 0 "data_parallel" inspect run.h5
cat >measured.csv <<'CSV'
kind,attributes,shape,dtype,phase,device,seconds
linear,,4x6 < 4x6,f32,forward,mine,2
linear,,4x6 < 4x6,f32,backward,mine,3
CSV
cat >timed.lua <<'LUA'
return function()
  local m = require("soapstone.model").new { name = "timed" }
  m:linear("fc1", m:input("x", { 4, 6 }), { out = 6 })
  return m
end
LUA
cat >alone.lua <<'LUA'
local t = require("soapstone.topology").new { name = "alone" }
t:device("a", { kind = "mine", flops = { f32 = 1e12 }, memory_bandwidth = 1e12 })
return t
LUA
expect 0 "3.500 s" simulate -m timed.lua -t alone.lua -s whole --costs measured.csv
expect 0 "table measured.csv of 2 times: 2 answered" simulate -m timed.lua -t alone.lua -s whole -c measured.csv
expect 0 '"step_time_s": 3.5,' simulate -m timed.lua -t alone.lua -s whole -c measured.csv --json
cat >save.lua <<'LUA'
local p = require("soapstone").problem { model = require "models.mlp" {}, topology = require "topologies.ring" {} }
p:strategy("data_parallel"):save "mlp.strategy"
LUA
expect 0 "" run save.lua
expect 2 "by_name = true (simulate --by-name) takes what fits" simulate -m mlp -t ring -o model.layers=3 -s mlp.strategy
expect 0 "by name: 4 operators of the model found in it, 0 not; 5 of its own not used" \
  simulate -m mlp -t ring -o model.layers=3 -s ./mlp.strategy,whole --by-name
cat >own.lua <<'LUA'
local part = require "part" -- beside the file
return function(o)
  local m = require("soapstone.model").new { name = part }
  m:linear("fc1", m:input("x", { o.batch or 32, 64 }), { out = 6 })
  return m
end
LUA
echo 'return "my network"' >part.lua
cat >pair.lua <<'LUA'
local t = require("soapstone.topology").new { name = "my pair" }
t:link(t:device("a", { kind = "p100" }), t:device("b", { kind = "p100" }), { bandwidth = "10 GB/s" })
return t
LUA
expect 0 "my network on my pair, data_parallel" simulate -m own.lua -t ./pair.lua -s data_parallel
expect 0 "96 samples a step" simulate -m own.lua -t pair.lua -s data_parallel -o model.batch=96
expect 2 "--option topology.count: pair.lua returns a topology, not a function of options" \
  simulate -m own.lua -t pair.lua -o topology.count=3
expect 0 '"data_parallel"' inspect run.h5 --json
if grep -Eq '"step_time_s": [0-9.e-]{1,15},' out; then ok; else bad "whole picoseconds need few digits"; fi
expect 0 'simulate -m mlp -t ring' inspect run.h5
expect 0 '"step_time_s"' simulate -m mlp -t ring -o model.batch=64 -s data_parallel,whole --json
if command -v python3 >/dev/null 2>&1; then
  if python3 -c 'import json, sys; assert len(json.load(open("out"))) == 2'; then ok; else bad "JSON"; fi
fi
if command -v gnuplot >/dev/null 2>&1; then
  expect 0 "mine.svg" plot gantt run.h5 -o mine.svg
  if [ -s mine.svg ] && [ -s mine.svg.tsv ]; then ok; else bad "no figure"; fi
  expect 2 "nothing" plot gantt run.h5 -o mine.svg -t nothing
  expect 0 "window.svg" plot gantt run.h5 -o window.svg --from "1 us" --to "2 us" --width 7
  expect 2 "option 'width' is \"wide\"; it is a number of inches" plot gantt run.h5 -o no.svg --width wide
  expect 2 "option 'width' is 0; it is a number of inches" plot gantt run.h5 -o no.svg --width 0
  expect 2 "from 2.000 us to 1.000 us: it has to end" plot gantt run.h5 -o no.svg --from "2 us" --to "1 us"
  # three figures of each strategy, also of the one that moves nothing
  expect 0 "whole" simulate -m mlp -t ring -o model.batch=64 -s data_parallel,whole --record two.h5
  for kind in gantt links memory; do
    expect 0 "whole-$kind.png" plot $kind two.h5 -t whole -o whole-$kind.png
  done
  expect 2 "two.h5 holds 2 strategies, so say which: \"data_parallel\", \"whole\"" plot strategy two.h5
  expect 0 "whole.pdf" plot strategy two.h5 -s whole -o whole.pdf
  expect 2 "two.h5 is a record, but no log of a search" plot search two.h5
  printf '# ours\npanel,series,devices,value,published\n"a ""b"", c",d,1,3,\n,d,2,2.5,1\n' >rates.csv
  expect 0 "rates.pdf" plot throughput rates.csv -o rates.pdf
  if grep -q "panel	a .042b.042, c	" rates.pdf.tsv; then ok; else bad "quotes in a table of throughput"; fi
  if grep -q "No link carries anything" whole-links.png.tsv; then ok; else bad "links that are idle"; fi
fi
expect 0 "ns/task" bench --tasks 1000
expect 0 "batch 2000" simulate -m mlp -t ring -s whole,data_parallel -o model.batch=2k
expect 2 "option 'batch' is 2.5, which is not a whole number" simulate -m mlp -t ring -o model.batch=2.5
expect 2 "option 'batch' is 0.0025k, which is not a whole number" simulate -m mlp -t ring -o model.batch=0.0025k
expect 2 "option 'batch' should be a whole number, such as 4000" simulate -m mlp -t ring -o model.batch=2kB
expect 0 '"ns_per_task"' bench --tasks 1000 --json

# a full disk, and a reader that goes away
echo 'for i = 1, 1e5 do print(i) end' >long.lua
if [ -w /dev/full ]; then
  "$SOAPSTONE" run long.lua >/dev/full 2>err
  if [ $? = 3 ] && grep -q 'cannot write to standard output: No space left on device' err; then ok; else bad "a full disk"; fi
fi
first=$( ("$SOAPSTONE" run long.lua; echo "status $?" >status) 2>err | head -n 1)
if [ "$first" = 1 ] && grep -qx 'status 0' status && [ ! -s err ]; then ok; else bad "a closed pipe"; fi

# nothing is drawn on what is no terminal
"$SOAPSTONE" bench --tasks 1000 >out 2>err
if [ ! -s err ]; then ok; else bad "a progress line without a terminal"; fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
