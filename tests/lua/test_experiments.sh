#!/bin/sh
# test_experiments.sh - the experiments on assumptions, each in its smallest form: that it ends with a sentence that has numbers
# in it, that its figures are there, and that one process and two say the same.
. "$SS_SRCDIR/tests/lua/paper_steps.sh"
scripts=$SS_SRCDIR/scripts/lua/experiments/assumptions

# expect STATUS TEXT SCRIPT ARGUMENT... - TEXT must be in what is said, on either stream.
expect() {
  want=$1 text=$2 script=$3
  shift 3
  "$SOAPSTONE" run "$scripts/$script.lua" "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" = "$want" ] && cat out err | grep -qF -- "$text"; then ok; else bad "$script $*: status $got, or does not say: $text"; fi
}

# wrong input first
expect 2 "unknown option 'device'; did you mean 'devices'?" a3_order --device 3
expect 2 "--networks has 'alexnett' in it; did you mean alexnet?" a2_message_size --networks alexnett
expect 2 "--half_sizes has 'much' in it, where numbers are expected, such as 4 MiB" a2_message_size --half_sizes 1,much
expect 2 "--overheads has 'GiB' in it, where numbers are expected, such as 10 us" a4_overhead --overheads "1e-6,10 GiB"
expect 2 "--loads has 0.5 in it twice" a2_background_load --loads 0.5,0.1,0.5
expect 2 "--loads has -1 in it; at least 0 is expected" a2_background_load --loads=-1
expect 2 "nothing can be written there" a3_copies nowhere/at/all
expect 2 "--jobs has 9 in it, and there are 8 leaves" a2_two_jobs --jobs 9
expect 2 "--networks has nothing in it" a1_noise --networks ,
expect 2 "--topologies has 'rings' in it; did you mean ring?" a3_order --topologies rings
expect 2 "option 'searches' is 0; it must be at least 1" a4_overhead --searches 0
expect 2 "option 'draws' is 0; it must be at least 1" unstated --draws 0
expect 2 "--shares has '1/2' in it, where numbers are expected" unstated --shares 1/2
expect 2 "--shares has 2 in it, and a share of the memory that the fastest strategy holds is 1 at most" unstated --shares 0.5,2
expect 2 "--jobs has 1.5 in it, and a number of jobs is whole" a2_two_jobs --jobs 1.5
expect 2 "inception_v3 is asked on at most 8 devices; --most_inception says on how many" a4_overhead --networks inception_v3 --devices 16
expect 2 "cell 1 (devices 6, network mlp, topology p100_cluster): " a3_order --networks mlp --orders shortest --devices 6
has() { if grep -qF -- "$2" "$1"; then ok; else bad "$1 has no: $2"; fi; }
has err "p100_cluster has 4 devices, where 6 are meant"

figures=$(command -v gnuplot)
mkdir printed
for path in "$scripts"/*.lua; do
  name=$(basename "$path" .lua)
  case $name in common | counts) continue ;; esac
  expect 0 "with --long: --" "$name" --help
  mkdir "$name"
  expect 0 "result: " "$name" --tiny "$name" --workers 2
  cp out "printed/$name.txt"
  last=$(tail -n 1 out)
  case $last in
    "result: "*[0-9]*.) ok ;;
    *) bad "$name ends with: $last" ;;
  esac
  case $last in
    *nan* | *inf*) bad "$name says what is no number: $last" ;;
    *) ok ;;
  esac
  if [ -n "$figures" ]; then
    if ls "$name"/*.svg >/dev/null 2>&1; then ok; else bad "$name draws nothing"; fi
  fi
done
# what they printed is counted: rows that are made up, of one experiment, beside those of the others
expect 2 "there is no ./a1_noise.txt" counts
expect 0 "result: of " counts printed
for name in printed/*.txt; do : >"$name"; done
expect 2 "what is in printed has no table of regrets" counts printed
# row NETWORK COLUMNS... - a line of a table as the experiments print it.
row() { printf '%s' "$1"; shift; printf '  %s' "$@"; printf '\n'; }
{
  row network slower strategies tau "best, simple" "best, broken" regret "by search"
  row net 1.5 6 0.80 a a "+0.0 %: none" x
  row net 2 6 0.81 a b "+5.1 %" x
  row mlp 1.5 6 1.00 a b "+44 %: noise" x
  row mlp 2 6 none a a "+3.0 %: luck" x
  echo
  row network "regret from" "greatest regret"
  row net 2 "+5.1 %"
} >printed/a1_slow_device.txt
{
  row network kind overhead strategies tau "best, simple" "best, broken" regret
  row net step 1 6 1.00 a a "+0.0 %: none"
  row net message 1 6 "0.85 (0.1 to 0.9)" a a "+5.0 %"
} >printed/a4_overhead.txt
{
  row simple network devices strategies tau "best, simple" "best, broken" regret
  row fifo-hop net 8 6 -0.95 a a "+3.0 %: luck"
} >printed/a2_sharing_by_cluster_size.txt
expect 0 "result: of 6 rows tau is above 0.8 in 3 and the best of the list the same in 4; a regret is told apart and above 5 % in 1, told apart and no more than that in 1, luck or noise in 3 (above 5 % in 1) and none in 1; of 3 rows at the strongest of each sweep tau is above 0.8 in 2 and the best of the list the same in 2; a regret is told apart and above 5 % in 1, told apart and no more than that in 1, luck or noise in 1 (above 5 % in 0) and none in 0." counts printed
expect 0 "shared links, against fifo-hop     1              0          1" counts printed

# lists of sizes and topologies, and strengths that leave next to nothing to see
mkdir small
expect 0 "mlp      fat_tree            8  launch" a4_overhead --tiny small --devices 4,8 --topologies p100_cluster,fat_tree
for cv in 0.000001 0.000001,0.0001; do
  expect 0 "result: " a1_noise --tiny small --cv $cv
  if grep -q "not drawn" out && [ -n "$figures" ]; then bad "a1_noise --cv $cv draws nothing"; else ok; fi
done
expect 0 "up to 20 ms" a4_overhead --tiny small --overheads "10 us,20 ms"
expect 0 "4000  " a2_message_size --tiny small --half_sizes "4k,1 MiB"
mkdir one
expect 0 "result: " a2_sharing_by_cluster_size --tiny one --workers 1
mkdir two_workers
cp out one.txt
expect 0 "result: " a2_sharing_by_cluster_size --tiny two_workers --workers 2
sed 's|two_workers/|one/|' out >two.txt
if cmp -s one.txt two.txt; then ok; else bad "one process and two print different things"; fi
for file in one/*; do
  if cmp -s "$file" "two_workers/$(basename "$file")"; then ok; else bad "$file differs between one process and two"; fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
