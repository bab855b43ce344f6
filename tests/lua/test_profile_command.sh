#!/bin/sh
# test_profile_command.sh - soapstone profile and soapstone execute: wrong input first, then what they print and write.
# No time is expected to be any: machines are noisy.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"
small="-m mlp -o model.batch=12 -o model.layers=2 -o model.width=16"

for command in profile execute; do
  expect 2 "--model is missing" $command
  expect 2 "there is no models/mpl.lua; did you mean models/mlp.lua?" $command -m mpl
  expect 2 "--devices is for the cores that are meant without --topology" $command $small -d 2 -t full_mesh
  expect 2 "--devices and --option topology.devices=... say the same" $command $small -d 2 -o topology.devices=3
  expect 2 "--devices should be a whole number, such as 4000 or 4k, not 'two'" $command $small -d two
  expect 2 "option 'devices' is 0; it must be at least 1" $command $small -d 0
  expect 2 "--strategy has no name in it" $command $small -s ,
  expect 2 "--strategy: whole is there twice" $command $small -s whole,whole
  expect 2 "did you mean 'data_parallel'?" $command $small -s data_paralel
  expect 2 "nowhere.json" $command $small -s nowhere.json
  expect 2 "unknown option 'synk'; did you mean 'sync'?" $command $small -o synk=ring
  expect 0 "soapstone $command -m mlp" $command --help
done
expect 2 "--topology is missing" search $small
expect 2 "--devices is for a search that measures (--measure TIME) or executes (--execute K)" search $small -t ring -d 2
expect 2 "--measured is for a search that measures" search $small -t ring --measured here.h5
expect 2 "--log does not go with --measure and --execute" search $small --measure 1s --log a.h5
expect 2 "--searcher exhaustive does not go with --measure" search $small --measure 1s --searcher exhaustive
expect 2 "--measure should be a time, such as 30s or \"2 min\", not 'soon'" search $small --measure soon
expect 2 "--execute should be a whole number" search $small --execute many
expect 2 "--option search.proposals: it is given by --proposals" search $small --measure 1s -n 3 -o search.proposals=4
expect 2 "--save a.h5 and --measured ./a.h5 are one file" search $small --measure 1s --save a.h5 --measured ./a.h5
expect 2 "--add completes the file of --output: give --output FILE.h5 too" profile $small --add
expect 2 "--random is -1; it must be at least 0" profile $small --random -1
expect 2 "option 'rounds' is 0; it must be at least 1" profile $small --rounds 0
expect 2 "option 'budget' is -1.000 s" profile $small --budget -1
expect 2 "option 'kind': topology cores has no device of kind 'p100'" profile $small --kind p100
expect 2 "cannot write nowhere/x.h5: there is no folder nowhere" profile $small --output nowhere/x.h5
echo mine >mine.txt
expect 2 "no profile of this soapstone" profile $small --output mine.txt
if [ "$(cat mine.txt)" = mine ]; then ok; else bad "a file of another kind was written over"; fi
expect 2 "option 'steps' is 0; it must be at least 1" execute $small --steps 0
expect 2 "nowhere.h5" execute $small --profile nowhere.h5
expect 2 "cannot write nowhere/x.h5: there is no folder nowhere" execute $small -r nowhere/x.h5

"$SOAPSTONE" profile $small -s whole -n 1 >out 2>err </dev/null
if [ $? != 0 ]; then
  expect 2 "this build has no oneDNN: install libdnnl-dev (Debian) and configure again" profile $small
  expect 2 "this build has no oneDNN: install libdnnl-dev (Debian) and configure again" execute $small
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
fi

# measured, kept, completed
expect 0 "1 strategy: 5 times measured" profile $small -s whole -n 2 --warm-up 0 --output here.h5
expect 0 "written: here.h5" profile $small -s whole -n 2 --output here.h5 # in place of the other
expect 0 "operators   linear (3), squared_error (2)" inspect here.h5
expect 0 "profile of 5 rows: cpu core, oneDNN" inspect here.h5
expect 0 '"devices"' inspect here.h5 --json
if grep -q "profile of" out; then bad "more than JSON"; else ok; fi
cp here.h5 before.h5
expect 0 "1 strategy: 0 times measured, 5 known before" profile $small -s whole --output here.h5 --add
expect 0 "left as it is: here.h5" profile $small -s whole --output here.h5 --add
if cmp -s here.h5 before.h5; then ok; else bad "a profile that lacks nothing was written anew"; fi
expect 0 "1 strategy: 5 times measured, 5 known before" profile $small -s data_parallel -n 2 --output here.h5 --add
expect 0 "6x16 < 6x16" profile $small -s whole --output here.h5 --add
expect 2 'profiles of inputs "warm" and "cold" do not go together' profile $small --output here.h5 --add --cold
expect 0 "3 strategies: " profile $small --random 3 --seed 5 -n 1
expect 0 "4 strategies: " profile $small --random 3 -s whole -n 1
expect 0 "without expert_rnn: " profile $small -n 1 --budget 1ms
expect 0 "3x16 < 3x16" profile $small -d 4 -s data_parallel -n 1
expect 0 '"phase": "weight_gradient"' profile $small -s whole -n 1 --json
if cat out | grep -q "measured"; then bad "more than JSON"; else ok; fi

# executed: beside what is simulated with measured times, against the whole model, and recorded
expect 0 "data_parallel" execute $small -s whole,data_parallel -n 3 --not-pinned
if grep -q "median" out && grep -q "first loss" out && ! grep -q "simulated" out; then ok; else bad "a table of steps"; fi
expect 0 "the same" execute $small -s data_parallel -n 2 --proof --profile here.h5 --record step.h5 --not-pinned
if grep -q "simulated" out && grep -q "off by" out && ! grep -q "NOT THE SAME" out; then ok; else bad "simulated and proven"; fi
expect 0 "costs: table here.h5 (6 of 6 parts)" inspect step.h5
expect 0 "measured: the step was executed" inspect step.h5
if [ "$(grep -c '^  timeline' out)" = 2 ]; then ok; else bad "a timeline that was measured and one that was simulated"; fi
expect 0 "mlp on cores, data_parallel" simulate $small -t cores -s step.h5
expect 0 '"losses": [' execute $small -s whole -n 2 --json --proof --not-pinned
expect 0 "3 devices" execute $small -d 3 -s data_parallel -n 1 --not-pinned
expect 2 "forward and backward are one task (lumped)" execute $small -s whole -o lumped=true --not-pinned
# a search that measures and executes
expect 0 "times it lacked" search $small --measure 1min --execute 2 --measured here.h5 --save best.json -n 30 --seed 2 --not-pinned
if grep -q "taken" out && grep -q "optimism" out; then ok; else bad "what was executed"; fi
expect 0 "0 times measured" profile $small -s best.json --output here.h5 --add
expect 0 "mlp on cores, best.json" simulate $small -t cores -s best.json -c here.h5
expect 0 '"executed_s": null' search $small --measure 1min --measured here.h5 -n 30 --seed 2 --json
expect 0 '"gain": ' search $small --execute 1 -d 3 -n 30 --json --not-pinned

if command -v gnuplot >/dev/null 2>&1; then
  expect 0 "step.svg" plot gantt step.h5 -t data_parallel -o step.svg
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
