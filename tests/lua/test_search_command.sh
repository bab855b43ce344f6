#!/bin/sh
# test_search_command.sh - soapstone search: what it refuses, the same again, killed and interrupted and gone on with,
# and the line on a terminal (which needs python3).
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"

# wrong input first
expect 2 "--model is missing" search
expect 2 "--topology is missing" search -m mlp
expect 2 "there is no models/mpl.lua; did you mean models/mlp.lua?" search -m mpl -t ring
expect 2 "--searcher mcmcc: did you mean mcmc?" search -m mlp -t ring --searcher mcmcc
expect 2 "--searcher frobnicate: there are annealing, exhaustive, greedy, mcmc, random" \
  search -m mlp -t ring --searcher frobnicate
expect 2 "--proposals should be a whole number, such as 4000 or 4k, not 'many'" search -m mlp -t ring -n many
expect 2 "--proposals should be a whole number, such as 4000 or 4k, not '0.5'" search -m mlp -t ring -n 0.5
expect 2 "--threads should be a whole number, such as 4000 or 4k, not '2kB'" search -m mlp -t ring --threads 2kB
expect 2 "option 'seconds' is -1.000 s; it must be at least 0 s" search -m mlp -t ring --seconds -1
expect 2 "option 'effort' is a time such as" search -m mlp -t ring -e minutely
expect 2 "--start has no name in it" search -m mlp -t ring -s ,
expect 2 "cannot be 'dataparallel'; did you mean 'data_parallel'?" search -m mlp -t ring -s dataparallel
expect 2 "nowhere.json" search -m mlp -t ring -s nowhere.json
expect 2 "--by-name is for strategies from files: --start FILE" search -m mlp -t ring --by-name
expect 2 "search.mcmc: unknown option 'bta'; did you mean 'beta'?" search -m mlp -t ring -o search.bta=3
expect 2 "--option search.seconds: it is given by --seconds" search -m mlp -t ring --seconds 3 -o search.seconds=4
expect 2 "--option search.log: it is given by --log" search -m mlp -t ring --searcher exhaustive --log a -o search.log=b
expect 2 "nowhere.json" search -m mlp -t ring --searcher exhaustive -o search.start=nowhere.json
expect 2 "--option serch.beta: did you mean search.beta?" search -m mlp -t ring -o serch.beta=3
expect 2 "--effort does not go with --searcher exhaustive" search -m mlp -t ring --searcher exhaustive -e minute
expect 2 "--resume FILE.h5 goes on with that log: leave --log out" search -m mlp -t ring --log a.h5 --resume a.h5
expect 2 "nowhere.h5" search -m mlp -t ring --resume nowhere.h5
# before anything is searched
expect 2 "cannot write nowhere/x.json: there is no folder nowhere" search -m mlp -t ring --save nowhere/x.json
if [ ! -s out ]; then ok; else bad "searched before the folder of the best was looked at"; fi
expect 2 "nowhere" search -m mlp -t ring --log nowhere/x.h5 -n 10
expect 2 "nowhere.h5" repair nowhere.h5

expect 2 "--save a and --log ./a are one file" search -m mlp -t ring --save a --log ./a
expect 2 "--save a and --option search.log=a are one file" search -m mlp -t ring --save a -o search.log=a
expect 2 "--save a and --option search.log=a are one file" \
  search -m mlp -t ring --searcher exhaustive --save a -o search.log=a
expect 2 "--save a and --log a are one file" search -m mlp -t ring --searcher exhaustive --save a --log a
expect 2 "--save a.journal and --log a are one file" search -m mlp -t ring --save a.journal --log a
expect 2 "--save a and --resume $dir/a are one file" search -m mlp -t ring --save a --resume "$dir/a"
echo 'int main(void) { return 0; }' >own.c
cp own.c kept.c
expect 2 'own.c is not an HDF5 file: it begins with "int main"' search -m mlp -t ring --resume own.c
expect 2 "cannot write own.c: there is a file of that name which is no record or log" search -m mlp -t ring --log own.c
expect 2 "--record: cannot write own.c: there is a file" simulate -m mlp -t ring -s whole --record own.c
for searcher in mcmc exhaustive; do
  expect 2 "--save: cannot write own.c: there is a file of that name which is no strategy file of soapstone" \
    search -m mlp -t ring --searcher $searcher --save own.c
done
if [ ! -s out ]; then ok; else bad "searched before the place of the best was looked at"; fi
if cmp -s own.c kept.c && [ ! -e own.c.journal ]; then ok; else bad "a file of another kind was touched"; fi
mkfifo pipe.svg
expect 2 "--save: cannot write pipe.svg: it is a pipe" search -m mlp -t ring --save pipe.svg
expect 2 "cannot write pipe.svg: a log is a regular file" search -m mlp -t ring --log pipe.svg
expect 2 "--record: cannot write pipe.svg: it is a pipe" simulate -m mlp -t ring --record pipe.svg
expect 2 "--output: cannot write pipe.svg: it is a pipe" plot search a.h5 -o pipe.svg

# what works; a small network, so that thousands of proposals take a second
small="-m mlp -t ring -o model.batch=64 -o model.layers=3"
expect 0 "mcmc: best " search $small -n 200 --save best.json
cp best.json first.json
expect 0 "mcmc: best " search $small -n 300 --save first.json
: >empty.json
expect 0 "mcmc: best " search $small -n 200 --save empty.json
if cmp -s best.json empty.json; then ok; else bad "an empty file was no place for the best"; fi
expect 0 "mcmc: best " search $small -n 200
for text in "data_parallel" "expert_cnn" "chain " "proposals 200," "400 proposals in" "at proposal" "options: searcher mcmc, seed 0" "moves free 0.1, block 0.3, pow2 1" "step time" \
  "assumptions: A1"; do
  if grep -qF -- "$text" out; then ok; else bad "the page of a search does not say: $text"; fi
done
if [ ! -s err ]; then ok; else bad "something on standard error"; fi
best=$(sed -n 's/^mcmc: best \([0-9.]* [a-z]*\),.*/\1/p' out)
expect 0 "step time    $best" simulate $small -s best.json
expect 0 "chain" search $small -n 100 -s best.json,random --searcher greedy -o search.group=0.2 -o search.descent=true
expect 0 "limits:  proposals 2000," search $small -n 2k
expect 0 "limits:  proposals 300," search $small -n 3e2
expect 0 '"ended": "seconds"' search $small -o search.moves=place --searcher random --seconds "50 ms" -s whole --json
expect 0 "optimum " search $small -o topology.devices=2 -o search.moves=pow2 --searcher exhaustive --save optimum.json
expect 0 '"proven": true' search $small -o topology.devices=2 -o search.moves=pow2 --searcher exhaustive --json

# the same again, and with another number of threads: everything but clocks
without_clocks() { sed -e 's/"[a-z_]*wallclock_s": [0-9.e+-]*//g' "$1"; }
expect 0 '"chains"' search $small -n 2000 --seed 3 --json --threads 1
without_clocks out >one
expect 0 '"chains"' search $small -n 2000 --seed 3 --json --threads 1
without_clocks out >two
if cmp -s one two; then ok; else bad "the same search twice"; fi
expect 0 '"chains"' search $small -n 2000 --seed 3 --json --threads 2
without_clocks out >two
if cmp -s one two; then ok; else bad "one thread and two"; fi
expect 0 '"chains"' search $small -n 2000 --seed 4 --json
without_clocks out >two
if ! cmp -s one two; then ok; else bad "another seed, the same search"; fi

# rows FILE: everything that a log has of its chains, but clocks
rows() {
  set -- "$1" $(h5dump -n "$1" | sed -n 's/^ dataset *\(\/search\/.*\)/\1/p' | grep -v wallclock | sed 's/^/-d /')
  log=$1
  shift
  h5dump -A 0 "$@" "$log" | grep -v '^HDF5'
}
# begin FILE: a search of thousands of proposals with that log is under way, and the journal has some
many=30000
begin() {
  "$SOAPSTONE" search $small -n $many --seed 5 --log "$1" --save "$1.json" >out 2>err &
  pid=$!
  while ! grep -qs '^s [0-9]' "$1.journal" && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
}
if command -v h5dump >/dev/null 2>&1; then
  expect 0 "proposals" search $small -n $many --seed 5 --log whole.h5 --save whole.json
  expect 2 "--save: cannot write whole.h5: there is a file of that name which is no strategy" \
    search $small -n 10 --save whole.h5
  rows whole.h5 >whole.rows
  if [ "$(grep -c '^' whole.rows)" -gt 10000 ]; then ok; else bad "the rows of a log are few"; fi

  # Ctrl-C: what there is is printed, saved and recorded, and the search goes on later
  begin ended.h5
  kill -INT "$pid"
  wait "$pid"
  status=$?
  if [ "$status" = 130 ] && grep -q 'interrupted$' out && grep -q '  stopped$' out && [ ! -s err ]; then ok; else
    bad "Ctrl-C in a search: status $status"
  fi
  if [ -s ended.h5.json ] && [ ! -e ended.h5.journal ]; then ok; else bad "Ctrl-C leaves a search half done"; fi
  expect 0 "at work" search $small -n $many --seed 5 --resume ended.h5 --save ended.json
  rows ended.h5 >ended.rows
  if cmp -s whole.rows ended.rows && cmp -s whole.json ended.json; then ok; else
    bad "a search that was interrupted went on otherwise"
  fi

  # whoever writes a log keeps it, for SECONDS_HELD (3); and what was found is shown also where it cannot be saved
  # any more
  mkdir gone
  "$SOAPSTONE" search $small --seconds "${SECONDS_HELD:-3}" --log held.h5 --save gone/best.json >found 2>held.err &
  pid=$!
  while ! [ -s held.h5.journal ] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  rmdir gone
  expect 0 "; at work" inspect held.h5
  expect 3 "held.h5 is being written by another soapstone" simulate $small -s whole --record held.h5
  expect 3 "held.h5 is being written by another soapstone" search $small -n 10 --save held.h5
  "$SOAPSTONE" search $small -n 10 --log one.h5 --save two.json >out 2>&1 || bad "two searches at once"
  while kill -0 "$pid" 2>/dev/null; do
    "$SOAPSTONE" inspect held.h5 >out 2>&1 || bad "a log that is being written was read halfway: $(cat out)"
  done
  wait "$pid"
  status=$?
  if [ "$status" = 2 ] && grep -q 'mcmc: best' found && grep -q 'cannot write gone/best.json' held.err; then ok; else
    bad "a best that could not be saved: status $status"
  fi

  # killed: repaired, and gone on with
  begin killed.h5
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  if [ -e killed.h5.journal ]; then ok; else bad "the search ended before it was killed"; fi
  expect 2 "repair" search $small -n 10 --log killed.h5
  expect 2 "soapstone repair killed.h5" simulate $small -s whole --record killed.h5
  expect 2 "soapstone repair killed.h5" search $small -n 10 --save killed.h5
  cp killed.h5 again.h5
  cp killed.h5.journal again.h5.journal
  expect 0 "; killed" inspect again.h5
  expect 0 "again.h5" repair again.h5
  expect 0 '"soapstone search --resume again.h5", with the other options as before, goes on with it' inspect again.h5
  if grep -q "; did not end" out && ! grep -q "at work" out; then ok; else bad "a log that was repaired: at work?"; fi
  if [ ! -e again.h5.journal ]; then ok; else bad "a journal is left after the repair"; fi
  expect 2 "again.h5 is the log of a search that did not end: resume it," search $small -n 10 --log again.h5
  expect 2 "again.h5 is the log of a search that did not end: resume it," simulate $small -s whole --record again.h5
  expect 2 "again.h5 is the log of a search that has not ended, and holds no best strategy yet" simulate $small -s again.h5
  expect 0 "" search $small -n $many --seed 5 --resume again.h5
  expect 0 "; proposals" inspect again.h5
  if grep -q "did not end\|goes on" out; then bad "a search that was gone on with did not end?"; else ok; fi
  rows again.h5 >again.rows
  expect 0 "" search $small -n $many --seed 5 --resume killed.h5
  rows killed.h5 >killed.rows
  if cmp -s whole.rows again.rows; then ok; else bad "a search that was repaired went on otherwise"; fi
  if cmp -s whole.rows killed.rows; then ok; else bad "a search that was killed went on otherwise"; fi
  expect 2 "seed" search $small -n $many --seed 6 --resume killed.h5
  expect 0 "mlp on ring, best" simulate $small -s killed.h5

  # an exhaustive search that was killed: nobody goes on with it, and its best so far is in its rows
  cat >all.lua <<'LUA'
local soapstone = require "soapstone"
local problem = soapstone.problem { model = require "models.mlp" { batch = 64, layers = 9 },
  topology = require "topologies.ring" { devices = 4 } }
soapstone.search.exhaustive(problem, { start = "whole", moves = "block", bounds = {}, log = "all.h5" }) -- for years
LUA
  deep="-m mlp -t ring -o model.batch=64 -o model.layers=9 -o topology.devices=4"
  "$SOAPSTONE" run all.lua >out 2>err &
  pid=$!
  while ! grep -qs '^s [0-9]' all.h5.journal && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  if [ -e all.h5.journal ]; then ok; else bad "the exhaustive search ended before it was killed"; fi
  expect 2 "all.h5 is the log of a search that was killed: make the file whole with" search $small -n 10 --log all.h5
  expect 0 "all.h5 is whole" repair all.h5
  expect 0 "whole: " inspect all.h5
  best=$(sed -n 's/^.* step .* -> \(.*\) (at proposal .*/\1/p' out)
  expect 0 "step time    $best" simulate $deep -s all.h5
  expect 2 "all.h5 is the log of a search that did not end: keep it under" search $small -n 10 --log all.h5
else
  echo "skipped the logs of searches: there is no h5dump"
fi

# on a terminal
if command -v python3 >/dev/null 2>&1; then
  answer=$(python3 - "$SOAPSTONE" $small 2>&1 <<'PYTHON'
import os, pty, select, sys, time

program, options = sys.argv[1], sys.argv[2:]


def run(keys, *more):
    """Everything that a search on a terminal said, and how it ended; a Ctrl-C for each text in keys that it says."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(program, [program, "search", *options, *more])
    seen, waits, end = "", list(keys), time.time() + 60
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                got = os.read(fd, 65536)
            except OSError:
                break
            if not got:
                break
            seen += got.decode("utf-8", "replace")
        if waits and waits[0] in seen:
            waits.pop(0)
            os.write(fd, b"\x03")
    return seen, os.waitpid(pid, 0)[1]


try:
    seen, status = run(["accepted"], "--seconds", "40")
except OSError as why:
    print("skipped: there is no pseudo-terminal here:", why)
    sys.exit()
lines = [line for line in seen.split("\r") if "proposals/s" in line]
if not lines:
    sys.exit(f"no progress line: {seen!r}")
for part in "%, ", " s left, ", "best ", "proposals/s, ", "% accepted":
    if part not in lines[-1]:
        sys.exit(f"{part!r} is not in {lines[-1]!r}")
if any(len(line.replace("\x1b[K", "")) > 79 for line in lines):
    sys.exit(f"a line is too long: {lines!r}")
if os.waitstatus_to_exitcode(status) != 130 or "interrupted" not in seen or "stopped" not in seen:
    sys.exit(f"Ctrl-C: {status} {seen!r}")
print("well")
PYTHON
  )
  case $answer in well | skipped*) ok ;; *) bad "a terminal: $answer" ;; esac
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
