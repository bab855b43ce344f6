#!/bin/sh
# lists.sh - each test has a log of its own.  A test's log, and with it the test, is named without the
# ending .sh or .lua: of two with one name in a folder, make check runs one and says nothing of the other.
set -eu
cd "${SS_BUILDDIR:-build}"
# asked of make itself; MAKEFLAGS would bring in the TESTS= of a command line
list=$(printf 'include Makefile\nlist-of-tests:\n\t@for test in $(TESTS); do echo $$test; done\n' |
  MAKEFLAGS='' MFLAGS='' "${MAKE:-make}" -s --no-print-directory -f - list-of-tests)
passed=0 failed=0
for test in $list; do
  case $test in *.sh | *.lua) log=${test%.*} ;; *) log=$test ;; esac
  others=
  for other in $list; do
    case $other in "$log" | "$log.sh" | "$log.lua") [ "$other" = "$test" ] || others="$others $other" ;; esac
  done
  if [ -n "$others" ]; then
    echo "FAILED $test has the log of$others"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
