#!/bin/sh
# long.sh - the full counts, the sanitizers and valgrind: `make check-long`, an hour or so on two cores.
#
#   make check-long                  everything
#   make check-long STEPS=valgrind   only the steps whose names hold this text
#
# Run in the build folder. A line for each step, with what the step said and its seconds; the last line
# adds the steps up.  A step whose tool is absent is skipped, and counted so.
set -u
src=$SS_SRCDIR
export SS_SRCDIR
passed=0 failed=0 skipped=0

step() {
  name=$1
  shift
  case $name in *"${STEPS:-}"*) ;; *) return ;; esac
  printf '%s ... ' "$name"
  began=$(date +%s)
  status=0
  ("$@") >long.out 2>&1 || status=$?
  said=$(grep -E '^[0-9]+ passed' long.out | tail -n 1)
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) said="skipped: $(grep '^skipped ' long.out | head -n 1)" ;;
    *) failed=$((failed + 1)) said="FAILED, exit status $status" ;;
  esac
  echo "$said ($(($(date +%s) - began)) s)"
  case $status in 0 | 77) ;; *) tail -n 40 long.out ;; esac
}

# The count (or how many times the default) first, the seed second, in every one of them.
step "a million task graphs against the slow twin" ./tests/property/prop_engine 1000000 20
step "a hundred thousand sequences of flows against the slow twin" ./tests/property/prop_sharing 100000 20
step "a hundred thousand task graphs over shared links against the slow twin" ./tests/property/prop_shared 100000 20
step "two hundred thousand runs that are changed on the way against the slow twin" ./tests/property/prop_run 200000 20
step "a hundred thousand lowerings against the slow twin" ./tests/property/prop_lower 100000 20
step "a million changes in place, and ten thousand in a row, against simulating anew" ./tests/property/prop_live 1000000 20 10000
step "two hundred thousand changes in place over shared links" ./tests/property/prop_live_shared 20000 20
step "searches of ten thousand proposals, row by row the same whichever way they score" ./tests/property/prop_ways 20 10000 20
step "delta as printed and ours, two thousand changes a row" ./tests/property/prop_published_delta 2000 20
step "accounts against the slow twin, a hundred times" ./tests/property/prop_account 100 20
step "ten thousand exhaustive searches against trying everything" ./tests/property/prop_exhaustive 10000 20
step "a million damaged task graphs" ./tests/property/fuzz_dag 1000000 20
step "300,000 damaged tables and profiles in CSV" ./tests/property/fuzz_csv 300000 20
step "a million damaged traces of PyTorch" ./tests/property/fuzz_torch 1000000 20
step "a million damaged strategies" ./tests/property/fuzz_strategy 1000000 20
step "fifty thousand damaged records" ./tests/property/fuzz_record 50000 20
step "kernels of five thousand operators of each kind against the slow twin" ./tests/property/prop_kernels 5000 20
step "plain kernels of five thousand operators of each kind against the slow twin" ./tests/property/prop_kernels_plain 5000 20
step "kernels of five thousand operators on images of each kind against the slow twin" ./tests/property/prop_kernels_image 5000 20
step "logs of three searches, killed at every write" ./tests/property/prop_trajectory 3 20
step "two hundred searches killed at random moments" ./tests/property/kill_trajectory 200 20

# Everything once more with the sanitizers, in a build of their own.
sanitized() {
  mkdir -p sanitized && cd sanitized || return 1
  [ -f Makefile ] || "$src/configure" --enable-sanitizers CFLAGS="-g -O1" || return 1
  status=0
  make -k -s -j2 check LIMIT= >check.out 2>&1 || status=$?
  sh "$src/tests/sum-up" "$PWD" "$status"
}
step "the suite under the address and undefined-behaviour sanitizers" sanitized

# And under valgrind: programs, Lua scripts, and every wrong input.
under_valgrind() {
  [ "${VALGRIND:-no}" != no ] || { echo "skipped valgrind: it is not installed"; return 77; }
  launcher="$VALGRIND -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible"
  launcher="$launcher --suppressions=$src/tests/valgrind.supp"
  printf '#!/bin/sh\nexec %s "%s/soapstone" "$@"\n' "$launcher" "$PWD" >soapstone-under-valgrind
  chmod +x soapstone-under-valgrind
  status=0
  SECONDS_EACH=1800 SECONDS_HELD=90 \
    make -k -s -j2 check LIMIT= LAUNCHER="$launcher" SOAPSTONE="$PWD/soapstone-under-valgrind" >check.out 2>&1 || status=$?
  sh "$src/tests/sum-up" "$PWD" "$status"
}
step "the suite under valgrind" under_valgrind

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
