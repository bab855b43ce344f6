#!/bin/sh
# test_validate_command.sh - soapstone validate: wrong input first, then what it prints and writes.
# No time is expected to be any: machines are noisy.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"
small="-m mlp -o model.batch=12 -o model.layers=2 -o model.width=16 --not-pinned"
short="--rounds 2 --steps 2 --warmup 0 --profile-rounds 2"

expect 2 "--model is missing" validate
expect 2 "there is no models/mpl.lua; did you mean models/mlp.lua?" validate -m mpl
expect 2 "validate has no option --topology" validate $small --topology ring
expect 2 "--option topology.latency: steps are executed on cores of this machine" validate $small -o topology.latency=1us
expect 2 "--option chance.launch: steps are executed on cores of this machine" validate $small -o chance.launch=5us
expect 2 "unknown option 'synk'; did you mean 'sync'?" validate $small -o synk=ring
expect 2 "--strategy has no name in it" validate $small -s ,
expect 2 "did you mean 'data_parallel'?" validate $small -s data_paralel
expect 2 "nowhere.json" validate $small -s nowhere.json
expect 2 "--devices should be a whole number" validate $small -d two
expect 2 "strategies are over two devices or more, and there is one" validate $small -d 1
expect 2 "option 'each' is 0; it must be at least 1" validate $small --each 0
expect 2 "option 'rounds' is 1; it must be at least 2" validate $small --rounds 1
expect 2 "--tasks is -1; it must be at least 0" validate $small --tasks -1
expect 2 "nowhere/scatter.svg" validate $small --figures nowhere
expect 2 "cannot write nowhere/x.h5: there is no folder nowhere" validate $small --profile nowhere/x.h5
echo mine >mine.txt
expect 2 "no profile of this soapstone" validate $small --profile mine.txt
if [ "$(cat mine.txt)" = mine ]; then ok; else bad "a file of another kind was written over"; fi
expect 0 "soapstone validate -m lenet" validate --help

"$SOAPSTONE" profile -m mlp -o model.batch=12 -o model.layers=2 -o model.width=16 -s whole -n 1 >out 2>err </dev/null
if [ $? != 0 ]; then
  expect 2 "this build has no oneDNN: install libdnnl-dev (Debian) and configure again" validate $small
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
fi

expect 2 "forward and backward are one task (lumped)" validate $small -o lumped=true

# given strategies: every table, and a profile that is written, then known
expect 0 "written: here.h5" validate $small $short -s whole,data_parallel --train 0 --profile here.h5 --tasks 2
for text in "strategy " "rho" "linear forward" "busy share: executed" "tasks that are furthest off:" "simulated: " "costs: table profile"; do
  if grep -qF -- "$text" out; then ok; else bad "the page has no '$text'"; fi
done
if grep -q "others had .* cores* for\|who else computed is not known" out; then ok; else bad "who else computed"; fi
if [ "$(grep -c '^    [12] ' out)" = 2 ]; then ok; else bad "a line for each round"; fi
if grep -q gradients out; then bad "nothing was proven"; else ok; fi
expect 0 "profile of 10 rows" inspect here.h5
cp here.h5 before.h5
expect 0 "left as it is: here.h5" validate $small $short -s whole --train 0 --profile here.h5
if cmp -s here.h5 before.h5; then ok; else bad "a profile that lacks nothing was written anew"; fi
if grep -q "furthest off:" out; then bad "tasks that were not asked for"; else ok; fi
expect 0 "written: here.h5" validate $small $short -d 3 -s data_parallel --train 0 --profile here.h5
expect 0 "0 times measured, 15 known before" profile -m mlp -d 3 -o model.batch=12 -o model.layers=2 -o model.width=16 -s data_parallel --output here.h5 --add

# drawn ones, of three devices too, proven
expect 0 "gradients of all are those of the whole model" validate $small $short --each 1 --proof
if grep -q "^mixed 1 " out && grep -q "^operator 1 " out; then ok; else bad "strategies of all classes"; fi
expect 0 "topology 3 cores" validate $small $short -d 3 --each 1 -s whole --profile here.h5
if grep -q "^whole " out && grep -q "^mixed 1 " out; then ok; else bad "given and drawn"; fi
expect 0 "topology one core" validate $small $short -d 1 -s whole

# what computes something else is said, with status 1: statistics of parts are not those of the batch
cat >norm.lua <<'E'
local model = require "soapstone.model"
return function()
  local m = model.new { name = "norm", dtype = "f32" }
  local x = m:conv2d("conv", m:input("x", { 4, 2, 6, 6 }), { out = 2, kernel = 3 })
  m:linear_softmax("loss", m:flatten("flat", m:batch_norm("norm", x)), { out = 3 })
  return m
end
E
expect 1 "NOT THE SAME: data_parallel" validate -m ./norm.lua $short -s whole,data_parallel --proof --not-pinned
expect 0 "data_parallel" validate -m ./norm.lua $short -s whole,data_parallel --not-pinned

# everything, for a program
expect 0 '"timeline": [' validate $small $short -s whole,data_parallel --train 0 --profile here.h5 --json --proof
if [ "$(head -c 1 out)" = "{" ] && ! grep -q "written" out; then ok; else bad "more than JSON"; fi
if command -v python3 >/dev/null 2>&1; then
  if python3 -c '
import json
d = json.load(open("out"))
s = d["strategies"]
assert [x["strategy"] for x in s] == ["whole", "data_parallel"] and d["network"] == "mlp"
for x in s:
    assert len(x["steps_s"]) == 4 and len(x["timeline"]) == x["tasks"] and len(x["devices"]) == 2
    assert abs(x["error"] - (x["simulated_s"] / x["executed_s"] - 1)) < 1e-9 and x["gradients"] <= 1e-4
    assert all(t["executed_s"] >= 0 and t["device"].startswith("core") for t in x["timeline"])
total = sum(t["executed_s"] for x in s for t in x["timeline"])
assert abs(sum(k["executed_s"] for k in d["kinds"]) / total - 1) < 1e-9
assert sum(k["tasks"] for k in d["kinds"]) == sum(x["tasks"] for x in s)
assert len(d["iterations"]) == 2 and len(d["iterations"][0]) == 2
for k in d["kinds"]:
    assert k["bias"] is None or abs(k["bias"] - (k["simulated_s"] / k["executed_s"] - 1)) < 1e-9
for i, device in enumerate(d["devices"]):
    for name in ("simulated_busy_s", "simulated_idle_s", "executed_busy_s", "executed_idle_s"):
        assert abs(device[name] - sum(x["devices"][i][name] for x in s)) < 1e-12
    assert abs(device["simulated_busy_s"] + device["simulated_idle_s"] - sum(x["simulated_s"] for x in s)) < 1e-9
for r in range(2):
    for k in range(2):
        off = sum(x["steps_s"][2 * r + k] / x["executed_s"] - 1 for x in s) / 2
        assert abs(d["iterations"][r][k] - off) < 1e-9
assert d["comparison"]["n"] == 2 and d["floor"]["n"] == 2
assert d["others"] is None or 0 <= d["others"]["taken"] <= 1 and d["others"]["cores"] >= 1
' 2>err; then ok; else bad "the JSON: $(tail -n 3 err)"; fi
fi

if command -v gnuplot >/dev/null 2>&1; then
  mkdir figures
  expect 0 "drawn: figures/scatter.svg" validate $small $short -s whole,data_parallel --figures figures
  for name in scatter histogram gantt; do
    if grep -q "</svg>" figures/$name.svg; then ok; else bad "figures/$name.svg"; fi
  done
  if [ "$(grep -c '<text x="4"' figures/gantt.svg)" = 2 ]; then ok; else bad "an executed step above a simulated one"; fi
  ends=$(awk -F '\t' '$3 == "title" { print $5 }' figures/gantt_executed.svg.tsv figures/gantt_simulated.svg.tsv | sort -u)
  if [ "$(echo "$ends" | wc -l)" = 1 ] && [ -n "$ends" ]; then ok; else bad "two axes of time: $ends"; fi
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
