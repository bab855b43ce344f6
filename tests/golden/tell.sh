#!/bin/sh
# tell.sh - what soapstone tells of two small steps is what it was; `make golden` renews the files.
set -u
golden=$SS_SRCDIR/tests/golden
told=$(mktemp -d) || exit 99
trap 'rm -rf "$told"' EXIT
"$SS_BUILDDIR/tests/golden/tell" "$told" || exit 99
passed=0
failed=0
for file in "$told"/*; do
  name=${file##*/}
  # The version is not what is tested.
  sed 's/"program":"[^"]*"/"program":""/' "$file" >"$told/.new"
  if sed 's/"program":"[^"]*"/"program":""/' "$golden/$name" | diff -u - "$told/.new"; then
    echo "ok     $name"
    passed=$((passed + 1))
  else
    echo "FAILED $name"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
