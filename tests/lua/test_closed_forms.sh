#!/bin/sh
# test_closed_forms.sh - every law in validation/closed_form holds, would be found broken if its form were a millionth off, and is
# on the page that lists them.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
. "$SS_SRCDIR/tests/lua/expect.sh"
laws=$SS_SRCDIR/validation/closed_form

# last STATUS START END ARGUMENT... - the status of a script, and how the last line of what it prints begins and ends.
last() {
  want=$1 start=$2 end=$3
  shift 3
  "$SOAPSTONE" run "$@" >out 2>err </dev/null
  got=$?
  verdict=$(tail -n 1 out)
  case $got:$verdict in
    "$want:$start"[1-9]*"$end") ok ;;
    *) bad "$*: status $got, and it ends with: $verdict" ;;
  esac
}

listed=0
for law in "$laws"/*/; do
  name=$(basename "$law")
  last 0 "$name holds: " " comparisons" "$law/case.lua"
  last 1 "$name is BROKEN: " " comparisons" "$law/case.lua" --bend
  if grep -qF "| [$name]($name/README.md) |" "$laws/README.md"; then ok; else bad "$name is not listed in closed_form/README.md"; fi
  listed=$((listed + 1))
  for part in "**Law.**" "**Derivation.**" "**Needs**" "**Exact**" "**Source.**"; do
    if grep -qF "$part" "$law/README.md"; then ok; else bad "$name/README.md has no $part"; fi
  done
done
rows=$(grep -c '^| \[' "$laws/README.md")
if [ "$rows" = "$listed" ] && [ "$rows" -ge 12 ]; then ok; else bad "closed_form/README.md lists $rows laws, and there are $listed"; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
