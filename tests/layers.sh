#!/bin/sh
# layers.sh - an include points down: base < graph < simulate < search < io < validation < lua < cli.
# And the core never sees lua.h, so that nothing in it can jump.
set -eu
cd "${SS_SRCDIR:-.}"
failed=0
below() {
  case $1 in
    base) echo base ;;
    graph) echo base graph ;;
    simulate) echo base graph simulate ;;
    search) echo base graph simulate search ;;
    io) echo base graph simulate search io ;;
    validation) echo base graph simulate search io validation ;;
    lua) echo base graph simulate search io validation lua ;;
    cli) echo base graph simulate search io validation lua cli ;;
  esac
}
# validation/ lies beside sim/, with a folder for each of its rooms.
files_of() {
  case $1 in validation) find validation -name '*.[ch]' | sort ;; *) ls "sim/$1"/*.[ch] ;; esac
}
passed=0
for layer in base graph simulate search io validation lua cli; do
  allowed=$(below "$layer")
  for file in $(files_of "$layer"); do
    bad=
    for include in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file"); do
      case " $allowed " in *" $include "*) ;; *) bad="$bad $include/" ;; esac
    done
    case $layer in lua | cli) ;; *) grep -q '#include <lua' "$file" && bad="$bad lua.h" ;; esac
    if [ -n "$bad" ]; then
      echo "FAILED $file includes$bad"
      failed=$((failed + 1))
    else
      passed=$((passed + 1))
    fi
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
