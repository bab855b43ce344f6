#!/bin/sh
# test_paper_flexflow_strategies.sh - the scripts about single strategies of the published evaluation, in versions of seconds.
. "$SS_SRCDIR/tests/lua/paper_steps.sh"

# expect STATUS TEXT SCRIPT ARGUMENT... - TEXT must be in what is said, on either stream.
expect() {
  want=$1 text=$2 script=$3
  shift 3
  "$SOAPSTONE" run "$scripts/$script.lua" "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" != "$want" ]; then
    bad "$script $*: status $got, not $want"
  else
    says "$text"
  fi
}

# says TEXT - of the last that ran, whatever the width of columns.
says() {
  if cat out err | tr -s ' ' | grep -qF -- "$1"; then ok; else bad "it does not say: $1"; fi
}

# wrong input first
expect 2 "unknown option 'proposal'; did you mean 'proposals'?" published_strategies --proposal 3
expect 2 "--networks has 'NMTT' in it; did you mean NMT?" published_strategies --networks NMTT
expect 2 "option 'proposals' is 0" placement --proposals 0
expect 2 "nothing can be written there" placement nowhere/at/all
expect 2 "option 'moves' cannot be 'blok'; did you mean 'block'?" optimum --moves blok
expect 2 "option 'devices' is 5; it must be at most 4" optimum --devices 5
expect 2 "--devices has '16' in it" local_optimum --devices 16
expect 2 "option 'random' should be a whole number" local_optimum --random many
expect 2 "--networks has nothing in it" approaches --networks ,
for script in published_strategies placement optimum local_optimum approaches; do
  expect 0 "with --long:" $script --help
done

# the drawn strategies: what can be counted in the drawings is counted in what was read from them
expect 0 "figure 12 78.95 MiB 14.5 85.5 21.6" published_strategies --networks Inception-v3 --proposals 20
says "figure 12 26.9 22.7 26.0 24.4 1.077"
says " 47 27 11 10"
says "C1 figure 12 BBCB CCCC BCDC BBBB CCCC BBBB AAAA BBBB BBBB DDDD ACDA CBCD"
says "head figure 12 CBAD CBAD CB(c2)"
says "figure 12, less synchronised than data parallel text 8.4 75.0 % 85.5 %"
expect 0 "encoder1 figure 13 CBAD BBCC AACC ... DDCC ACBD CCDD" published_strategies --networks NMT --proposals 20
says "softmax figure 13 AABD(c4) CBBD(c4) AACD(c4) ... AABD(c4) CCCD(c4) BBBD(c4)"
# and what was written can be read again
"$SOAPSTONE" simulate -m nmt -o model.batch=256 -o model.steps_per_op=1 -t p100_cluster -o topology.nodes=1 \
  --strategy ./NMT-figure-13.strategy >out 2>err
says "weight gradient 380.2 MiB"

expect 0 "Inception-v3 full space 152.0 118.5 -22.0 %" placement --proposals 20 --descent=false --networks Inception-v3
expect 0 "NMT 4 K80 376.6 388.0 -2.9 %" placement --proposals 20 --descent=false --networks NMT
expect 0 "LeNet 0.8 h" optimum --devices 2 --seeds 2 --proposals 3000 --networks LeNet
says "proven"
says "2 of 2"
expect 0 "AlexNet 2" local_optimum --networks AlexNet --devices 2 --proposals 100 --random 50
says "no 115.561 0.000 % 1 128 46"
expect 0 "data parallelism S S no no the same" approaches --networks AlexNet,RNNTC --proposals 20
says "Wu et al. 2016 (RNN expert) S O S O no no the same"
says "Krizhevsky 2014 (CNN expert) S P S P no no the same"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
