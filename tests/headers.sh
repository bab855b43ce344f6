#!/bin/sh
# headers.sh - every header compiles when it is included alone.
set -eu
passed=0 failed=0
for header in $(cd "$SS_SRCDIR/sim" && find . -name '*.h' | sort | sed 's|^\./||'); do
  if printf '#include "%s"\n' "$header" |
    $CC -std=c11 -fsyntax-only -I"$SS_SRCDIR/sim" $SS_CPPFLAGS -x c - 2>"headers.$$"; then
    passed=$((passed + 1))
  else
    echo "FAILED $header"
    head -n 5 "headers.$$"
    failed=$((failed + 1))
  fi
done
rm -f "headers.$$"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
