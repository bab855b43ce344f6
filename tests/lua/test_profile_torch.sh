#!/bin/sh
# test_profile_torch.sh - times that are measured elsewhere: the list of what is needed, validation/profile_torch.py, and its
# table made a profile.  PyTorch is not asked: a stand-in that knows shapes takes its place (fake_torch.py), so the calls
# themselves are not tried here.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"
small="-m mlp -o model.batch=12 -o model.layers=2 -o model.width=16 -t ring -o topology.devices=2"

# the list
expect 0 "2 strategies: 10 times to be measured" profile $small -s whole,data_parallel --list needed.csv
if grep -q '^linear,"bias=true activation=relu","6x16 < 6x16",f32,weight_gradient,"p100"$' needed.csv; then ok; else bad "a row of the list"; fi
expect 0 "written: parts.csv" profile $small -s whole --parts-of-backward --list parts.csv
if [ "$(grep -c input_gradient parts.csv)" = 2 ]; then ok; else bad "parts of backward"; fi
expect 2 "topology ring has no device of kind 'none'" profile $small --list x.csv --kind none
expect 2 "--rounds does not go with --list, which measures nothing" profile $small --list x.csv -n 3
expect 2 "--list leaves out what the file of --output has already: give --add too" profile $small --list x.csv --output a.h5
expect 2 "cannot write nowhere/x.csv" profile $small --list nowhere/x.csv
echo mine >mine.txt
expect 2 "is no list of times" profile $small --list mine.txt
if [ "$(cat mine.txt)" = mine ] && [ ! -e x.csv ]; then ok; else bad "what was refused wrote something"; fi

# what comes back, by hand
cat >good.csv <<'END'
# soapstone profile
# library: PyTorch 2.3.1
# inputs: warm
# element_type: dtype
# cores: 108
kind,attributes,shape,dtype,phase,device,seconds,spread_s,samples,q05_s,samples_s
linear,activation=relu,"6x16<6x16",f32,forward,p100,2e-6,0,3,0,"3e-6 1e-6 2e-6"
linear,activation=relu,6x16 < 6x16,f32,backward,p100,5 us,0,,0,5e-6
END
expect 0 "profile of 2 rows: p100, PyTorch 2.3.1, warm inputs, dtype" profile --import good.csv
expect 0 "written: got.h5" profile --import good.csv --output got.h5
expect 0 "108 cores" inspect got.h5
expect 0 '"attributes": "bias=true activation=relu", "shape": "6x16 < 6x16"' profile --import good.csv --json
expect 0 "8 times to be measured, 2 known before" profile $small -s whole,data_parallel --output got.h5 --add --list rest.csv
expect 0 "" simulate $small -s data_parallel -c good.csv
wrong() { # sed command, what is said
  sed "$1" good.csv >wrong.csv
  expect 2 "$2" profile --import wrong.csv --output wrong.h5
}
wrong 's/"3e-6 1e-6 2e-6"/"3e-6 fast 2e-6"/' 'wrong.csv:7:64: sample 2 is "fast": seconds are wanted, with a blank between two'
wrong 's/,5e-6$/,/' "wrong.csv:8:64: no samples (column samples_s)"
wrong 's/,samples_s$/,samples/' "column samples is there twice"
wrong 's/,samples_s$/,samples_x/' "there is no column samples_x; did you mean samples_s?"
wrong 's/2e-6,0,3/2.1e-6,0,3/' "seconds is 2.1e-06, and the median of its samples is 2e-06"
wrong 's/2e-6,0,3/2e-6,0,4/' "samples is 4, and samples_s has 3"
wrong 's/backward,p100/backward,tpu/' "device is tpu, and a profile is of one kind, here p100"
wrong 's/cores: 108/cores: many/' 'wrong.csv: the comment "cores: many" should be a whole number'
wrong 's/cores: 108/cores: 8 or more/' 'the comment "cores: 8 or more" should be a whole number'
wrong 's/library/# library/;s/1e-6 2e-6/1e-6 -2e-6/' 'sample 3 is "-2e-6"'
wrong 's/5e-6$/inf/' 'sample 1 is "inf"'
wrong '8s/backward/forward/' "was measured before"
wrong 's/linear/linaer/' "linaer is no kind of operator; did you mean linear?"
if [ ! -e wrong.h5 ]; then ok; else bad "what was refused wrote a file"; fi
expect 2 "nowhere.csv" profile --import nowhere.csv
expect 2 "--model does not go with --import, which measures nothing" profile --import good.csv -m mlp
expect 2 "--add completes the file of --output" profile --import good.csv --add
sed 's/2.3.1/2.4.0/' good.csv >other.csv
expect 2 'profiles of version "PyTorch 2.3.1" and "PyTorch 2.4.0" do not go together' profile --import other.csv --output got.h5 --add

# a table of somebody's own, with names and units of its own
cat >own.csv <<'END'
op,how,extents,dtype,phase,gpu,duration [ms],runs
linear,activation=relu,6x16 < 6x16,f32,forward,p100,0.25,7
linear,activation=relu,6x16 < 6x16,f32,backward,p100,500 us,7
linear,activation=relu,6x16 < 6x16,f32,weight_gradient,p100,0.25,7
squared_error,,6x16 < 6x16,f32,forward,p100,0.125,7
squared_error,,6x16 < 6x16,f32,backward,p100,0.125,7
END
named="kind=op,attributes=how,shape=extents,device=gpu,seconds=duration"

expect 2 "own.csv:1:1: there is no column op" simulate $small -c own.csv
expect 0 "" simulate $small -s data_parallel -c own.csv --columns "$named" --record own.h5
expect 0 "table own.csv (6 of 6 parts)" inspect own.h5
sed 's/,runs$/,seconds/' own.csv >other.csv # a name of ours for something else
expect 0 "" simulate $small -s data_parallel -c other.csv --columns "$named"
cat >own.lua <<'END'
local soapstone = require "soapstone"
local names = { kind = "op", attributes = "how", shape = "extents", device = "gpu", seconds = "duration" }
local function step(columns)
  local problem = soapstone.problem { model = require "models.mlp" { batch = 12, layers = 2, width = 16 }, topology = require "topologies.ring" { devices = 2 },
    costs = soapstone.costs.table("own.csv", { columns = columns }) }
  return problem:simulate(problem:strategy "data_parallel").devices[1].busy
end
names.seconds = arg[1] or names.seconds
print(("%.9f"):format(step(names)))
END
"$SOAPSTONE" run own.lua >ms 2>err
"$SOAPSTONE" run own.lua "duration [us]" >us 2>>err
if grep -q "^0.00" ms && ! cmp -s ms us; then ok; else bad "the unit of a column"; cat ms us; fi
expect 2 "own.csv:1:1: there is no column time, which is to be the seconds" run own.lua time
expect 2 "own.csv:1:1: column seconds [m]" run own.lua "duration [m]"
expect 2 "own.csv:1:1: column kind has no unit, and [s] is behind it" simulate $small -c own.csv --columns "$named,kind=op [s]"
expect 2 "unknown option 'sekonds'; did you mean 'seconds'?" simulate $small -c own.csv --columns sekonds=duration
expect 2 "column device is missing" simulate $small -c own.csv --columns kind=op,attributes=how,shape=extents,seconds=duration
expect 2 "--columns should be OURS=THEIRS,..., not 'op'" simulate $small -c own.csv --columns op
expect 2 "--columns is what a table of --costs calls them: give --costs FILE.csv too" simulate $small --columns kind=op
sed 's/,seconds,/,seconds [us],/;s/,2e-6,0/,2,0/' good.csv >units.csv
expect 0 '"median_s": 2e-06' profile --import units.csv --json

for python in python3 /usr/bin/python3 none; do
  $python -c 'import argparse, csv, difflib' 2>/dev/null && break
done
if [ $python = none ]; then
  echo "skipped: no Python"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
fi
script=$SS_SRCDIR/validation/profile_torch.py
if $python "$SS_SRCDIR/tests/lua/try_profile_torch.py" >tried 2>&1; then ok; else bad "profile_torch.py"; cat tried; fi
if $python "$script" --help | grep -q "soapstone profile -m bert"; then ok; else bad "its help has no example"; fi
$python "$script" needed.csv --dry-run >out 2>err
if grep -q "10 times would be measured, 0 cost nothing, 0 are known" out; then ok; else bad "a dry run of our own list"; fi

# all the way round: what every ready-made strategy needs, measured by the stand-in, is all that a simulation asks for
measure() {
  $python - "$script" "$@" <<'END' >out 2>err
import os, runpy, sys
sys.path.insert(0, os.environ["SS_SRCDIR"] + "/tests/lua")
import fake_torch
sys.modules["torch"] = fake_torch
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
END
}
for model in "mlp -o model.batch=12 -o model.layers=2 -o model.width=16" "alexnet -o model.batch=4" "bert -o model.dtype=f16 -o model.batch=2 -o model.layers=1"; do
  of="-m $model -t ring -o topology.devices=2"
  rm -f needed.csv made.csv made.h5
  expect 0 "written: needed.csv" profile $of --list needed.csv
  if measure needed.csv -o made.csv -n 3; then ok; else bad "profile_torch.py of $model"; fi
  expect 0 "written: made.h5" profile --import made.csv --output made.h5
  expect 0 "0 times to be measured" profile $of --output made.h5 --add --list needed.csv
  expect 0 "roofline" simulate $of -s data_parallel
  expect 0 "" simulate $of -s data_parallel -c made.h5 --record made.step.h5
  expect 0 "" inspect made.step.h5
  if grep -q "table made.h5" out && ! grep -q "roofline for the rest" out; then ok; else bad "$model: the roofline was asked"; fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
