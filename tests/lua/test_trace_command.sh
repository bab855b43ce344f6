#!/bin/sh
# test_trace_command.sh - soapstone trace: wrong input first, then what it prints and writes.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"

cat >step.json <<'END'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Tesla P100"}], "record_shapes": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 7, "tid": 7, "ts": 100, "dur": 50,
 "args": {"Input Dims": [[12, 16], [16, 16], [16]], "Input type": ["float", "float", "float"], "Sequence number": 3}},
{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 7, "tid": 7, "ts": 200, "dur": 50,
 "args": {"Input Dims": [[12, 16], [12, 16]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 110, "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 7, "tid": 7, "ts": 210, "dur": 3, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 1, "ts": 120, "dur": 15, "args": {"correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 1, "ts": 220, "dur": 5, "args": {"correlation": 2}}
]}
END

# wrong input: status 2, and nothing is written
expect 2 "cannot read nowhere.json" trace nowhere.json --profile x.h5
expect 2 "cannot read ." trace .
head -c 400 step.json >cut.json
expect 2 "cut.json: byte 400: parse error: premature EOF" trace cut.json --profile x.h5
gzip -c step.json >step.json.gz
head -c 150 step.json.gz >cut.json.gz
expect 2 "the gzip file ends in the middle: it was cut" trace cut.json.gz --profile x.h5
sed 's/"dur": 15/"dur": -15/' step.json >wrong.json
expect 2 "wrong.json: event 5: its duration (dur) should be a number of microseconds, not -15" trace wrong.json --profile x.h5
sed 's/Input Dims/Input dimensions/' step.json >wrong.json
expect 2 "record them with torch.profiler.profile(record_shapes=True)" trace wrong.json --profile x.h5
sed 's/aten::linear/aten::other/' step.json >wrong.json
expect 2 "none of its operators is one of ours" trace wrong.json --profile x.h5
expect 2 "--kind is for what is written: give --profile FILE.h5 too" trace step.json --kind p100
expect 2 "--add is for what is written: give --profile FILE.h5 too" trace step.json --add
expect 2 "--top should be a whole number" trace step.json --top few
expect 2 "-3 rows" trace step.json --top -3
expect 2 "cannot write nowhere/x.h5" trace step.json --profile nowhere/x.h5
echo mine >mine.txt
expect 2 "no profile of this soapstone" trace step.json --profile mine.txt
if [ "$(cat mine.txt)" = mine ] && [ ! -e x.h5 ]; then ok; else bad "what was refused wrote something"; fi

# what it says
expect 0 "aten::linear  12x16, 16x16, 16       1   15.00 us  75.0 %" trace step.json
expect 0 "linear forward" trace step.json.gz
expect 0 "20.00 us in all in 2 kernels and copies; 75.0 % is of operators of ours, 25.0 % of others" trace step.json
expect 0 "25.0 %  aten::copy_: no kind of operator" trace step.json --top 1
expect 0 "and 1 more with 25.0 %" trace step.json --top 1
expect 0 '"mapped_s": 1.5e-05' trace step.json --json
expect 0 "soapstone trace step.json.gz --profile a100.h5 --kind a100" trace --help
expect 0 "soapstone trace" help trace

# what it writes
expect 0 "written: got.h5, 1 time of p100" trace step.json --profile got.h5 --kind p100
expect 0 "profile of 1 row: p100, PyTorch (trace), step inputs, dtype" inspect got.h5
expect 0 "written: got.h5, 1 time of p100, 1 known before" trace step.json --profile got.h5 --kind p100 --add
expect 0 "written: named.h5, 1 time of Tesla P100" trace step.json --profile named.h5
expect 2 'profiles of device kind "p100" and "Tesla P100" do not go together' trace step.json --profile got.h5 --add
cat >net.lua <<'END'
local m = require("soapstone.model").new { name = "net", dtype = "f32" }
m:squared_error("loss", m:linear("fc", m:input("x", { 12, 16 }), { out = 16 }))
return m
END
expect 0 "written: needed.csv" profile -m ./net.lua -t ring -s whole --output got.h5 --add --list needed.csv
if grep -q 'linear,.*forward' needed.csv; then bad "what a trace had is still needed"; else ok; fi
expect 0 "" simulate -m ./net.lua -t ring -s whole -c got.h5 -r run.h5
expect 0 "table got.h5 (1 of 4 parts)" inspect run.h5

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
