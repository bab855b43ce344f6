#!/bin/sh
# test_short_accuracy.sh - a short form of make validation: what it writes, that gradients of every strategy are those of the
# whole model, and how far simulated steps are from executed ones here, which is said and not asserted: machines are noisy.
#
# scripts/check runs it after all other tests, when the machine has nothing else to do, and repeats the line "accuracy: ...".
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"

if "$SOAPSTONE" profile -m mlp -o model.batch=2 -o model.layers=1 -o model.width=2 -s whole -n 1 2>&1 </dev/null | grep -q "no oneDNN"; then
  echo "accuracy: not tried: this build has no oneDNN to execute steps with; install libdnnl-dev (Debian) and configure again"
  echo "$passed passed, $failed failed"
  exit
fi
pinned=true
[ "$(nproc 2>/dev/null || echo 2)" -gt 1 ] || pinned=false
figures=true
command -v gnuplot >/dev/null 2>&1 || figures=false
mkdir report
expect 0 "result: 10 strategies of 2 networks are" run "$SS_SRCDIR/validation/accuracy.lua" report --networks lenet,mlp --each 1 --rounds 6 --steps 3 \
  --pinned $pinned --figures $figures
line=$(sed -n 's/^result: //p' out)
for part in "By class" "By kind of task" "By device" "By step" "Gradients" "The machine meanwhile"; do
  if grep -q "<h2>$part" report/report.html; then ok; else bad "the report has no '$part'"; fi
done
if grep -q "<td>lenet</td><td>5</td>" report/report.html && grep -q "<td>all</td><td>10</td>" report/report.html; then ok; else bad "the report has no errors"; fi
if [ $figures = false ] || [ "$(grep -c '^</svg>' report/report.html)" -ge 5 ]; then ok; else bad "three figures, one of two steps, are in the report"; fi
if [ "$(grep -o '"worst_gradient": ' report/accuracy.json | wc -l)" = 10 ]; then ok; else bad "ten strategies are proven"; fi
expect 0 "cpu core" inspect report/lenet.profile.h5
expect 0 "cpu core" inspect report/mlp.profile.h5
if [ $pinned = true ]; then
  echo "accuracy: $line"
else
  echo "accuracy: not tried: steps of two devices need two cores, and this machine has one"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
