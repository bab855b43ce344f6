#!/bin/sh
# long.sh - the full counts, the sanitizers and valgrind: `make check-long`, an hour or so.
#
# Run in the build folder. The last line adds everything up.
set -u
src=$SS_SRCDIR
export SS_SRCDIR
total_failed=0
step() {
  name=$1
  shift
  printf '%s ... ' "$name"
  if "$@" >long.out 2>&1; then
    echo "$(grep -E '^[0-9]+ passed' long.out | tail -n 1)"
  else
    echo "FAILED"
    tail -n 30 long.out
    total_failed=$((total_failed + 1))
  fi
}

# The count (or how many times the default) first, the seed second, in every one of them.
step "a million task graphs against the slow twin" ./tests/property/prop_engine 1000000 20
step "a hundred thousand lowerings against the slow twin" ./tests/property/prop_lower 100000 20
step "accounts against the slow twin, a hundred times" ./tests/property/prop_account 100 20
step "a million damaged task graphs" ./tests/property/fuzz_dag 1000000 20
step "a million damaged strategies" ./tests/property/fuzz_strategy 1000000 20
step "fifty thousand damaged records" ./tests/property/fuzz_record 50000 20

# A prompt on a pseudo-terminal: it once waited for ever on a busy machine, so it is not in the default suite.
step "the prompt" timeout 120 sh "$src/tests/lua/test_prompt.sh"

# Everything once more with the sanitizers, in a build of their own.
sanitized() {
  mkdir -p sanitized && cd sanitized || return 1
  [ -f Makefile ] || "$src/configure" --enable-sanitizers CFLAGS="-g -O1" || return 1
  status=0
  make -k -s -j2 check >check.out 2>&1 || status=$?
  sh "$src/tests/sum-up" "$PWD" "$status"
}
step "the suite under the address and undefined-behaviour sanitizers" sanitized

# And under valgrind: programs, Lua scripts, and every wrong input.
under_valgrind() {
  launcher="$VALGRIND -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible"
  launcher="$launcher --suppressions=$src/tests/valgrind.supp"
  status=0
  make -k -s -j2 check LOG_COMPILER="$launcher" \
    LUA_LOG_COMPILER="$launcher $PWD/soapstone run" LAUNCHER="$launcher" >check.out 2>&1 || status=$?
  sh "$src/tests/sum-up" "$PWD" "$status"
}
if [ "${VALGRIND:-no}" = no ]; then
  echo "valgrind is not installed: skipped"
else
  step "the suite under valgrind" under_valgrind
fi
echo "$((9 - total_failed)) passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
