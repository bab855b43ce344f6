#!/bin/sh
# test_paper_flexflow_curves.sh - the scripts of the published curves, each in a version of a second.
. "$SS_SRCDIR/tests/lua/paper_steps.sh"

# expect STATUS TEXT SCRIPT ARGUMENT... - TEXT must be in what is said, on either stream.
expect() {
  want=$1 text=$2 script=$3
  shift 3
  "$SOAPSTONE" run "$scripts/$script.lua" "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" != "$want" ]; then
    bad "$script $*: status $got, not $want"
  elif ! cat out err | grep -qF -- "$text"; then
    bad "$script $*: does not say: $text"
  else
    ok
  fi
}

# has FILE TEXT - what a script wrote.
has() {
  if grep -qF -- "$2" "$1"; then ok; else bad "$1 has no: $2"; fi
}

# wrong input first
expect 2 "unknown option 'second'; did you mean 'seconds'?" throughput --second 3
expect 2 "option 'seconds' should be a number" throughput --seconds soon
expect 2 "--seconds needs a value after it" throughput --seconds
expect 2 "--networks has 'AlexNett' in it; did you mean AlexNet?" throughput --networks AlexNett
expect 2 "--clusters has nothing in it" throughput --clusters ,
expect 2 "--devices has '3' in it" throughput --devices 3
expect 2 "a search would never end" throughput --seconds 0
expect 2 "nothing can be written there" throughput nowhere/at/all
expect 2 "one folder is expected: 'b' stands after 'a'" throughput a b
expect 2 "two_levels" throughput --sync two_levels
expect 2 "have no such points" throughput --clusters P100 --devices 64
expect 0 "with --long: --seconds 60.0" throughput --help
has out "  --overlap "

mkdir tp
expect 0 "Order: of 6 pairs" throughput tp --networks AlexNet,RNNTC --clusters P100 --devices 1,2 --seconds 0 --proposals 30
has out "so that one device does 2254 samples/s as published"
has tp/throughput.tsv "P100	AlexNet	2	data_parallel"
awk -F'\t' '$3 == 1 && ($5 < 0.9999999 * $6 || $5 > 1.0000001 * $6) { exit 1 }' tp/throughput.tsv && ok || bad "one device is not calibrated"
expect 0 "overlap true" throughput tp --overlap --networks RNNTC --clusters K80 --devices 2 --seconds 0 --proposals 3
expect 0 "gradients round a ring" throughput tp --others --networks AlexNet --clusters K80 --devices 2

expect 2 "search would never end" nmt64 --seconds 0
expect 2 "unknown option 'network'; did you mean" search_time --network NMT
expect 2 "option 'start' cannot be 'exprt'; did you mean 'expert'?" search_time --start exprt
expect 2 "--devices has '2' in it" search_time --devices 2
expect 2 "it must be at least 1" progress --proposals 0
expect 2 "search would never end" training --seconds 0

expect 0 "found     " nmt64 tp --seconds 0 --proposals 3
has tp/nmt64.tsv "	65.830078125	65.830078125	65.830078125	"
has tp/nmt64.tsv "	23.298828125	24.173828125	24.173828125	"
has tp/nmt64-found.json "softmax"
expect 0 "every way found the same" search_time tp --networks RNNTC --devices 4 --proposals 30
has tp/search_time.tsv "RNNTC	4	30"
expect 0 "alike at all 6 looks" progress tp --proposals 50 --steps 5
has tp/progress.tsv "50	"
expect 2 "--devices has '3' in it" quality --devices 3
expect 2 "option 'mark' is 0" quality --mark 0
expect 0 "are within 1 % of their end after 0.05 s" quality tp --networks RNNTC --devices 4 --seconds 0.2 --mark 0.05
has tp/quality.tsv "RNNTC	0.05	"
has tp/quality-rnntc.json "softmax"
expect 0 "86 of the 95 points" training tp --seconds 0 --proposals 3
has tp/training.tsv "figure 8	0.625"
if command -v gnuplot >/dev/null 2>&1; then
  for figure in throughput-p100 progress quality training nmt64; do
    has tp/$figure.svg "<svg"
    has tp/$figure.png PNG
  done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
