#!/bin/sh
# headers.sh - every header compiles when it is included alone.
set -eu
passed=0 failed=0
for header in $(cd "$SS_SRCDIR/sim" && find . -name '*.h' | sort | sed 's|^\./||') \
  $(cd "$SS_SRCDIR" && find validation -name '*.h' | sort); do
  # without oneDNN its own headers are not there
  case $header in */onednn_inside.h) [ -n "${SS_ONEDNN:-}" ] || continue ;; esac
  if printf '#include "%s"\n' "$header" |
    $CC -std=c11 -fsyntax-only -I"$SS_SRCDIR/sim" -I"$SS_SRCDIR" $SS_CPPFLAGS -x c - 2>"headers.$$"; then
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
