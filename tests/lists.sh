#!/bin/sh
# lists.sh - each test has a log of its own.  A test's log, and with it the test, is named without the
# ending .sh or .lua: of two with one name in a folder, make check runs one and says nothing of the other.
# And each page, script and source of these folders is in a list of what is distributed.
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
src=${SS_SRCDIR:-..}
lists=$(cat "$src"/Makefile.am "$src"/*/module.am "$src"/*/*/module.am)
for file in $(cd "$src" && find docs models topologies scripts analysis validation sim -type f \
  \( -name '*.md' -o -name '*.lua' -o -name '*.gp' -o -name '*.c' -o -name '*.h' -o -name '*.csv' -o -name '*.py' \)); do
  case $lists in
    *"$file"*) passed=$((passed + 1)) ;;
    *) echo "FAILED $file is in no list of what is distributed"; failed=$((failed + 1)) ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
