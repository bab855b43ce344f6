#!/bin/sh
# layers.sh - an include points down: base < graph < simulate < search < io < lua < cli.
# And the core never sees lua.h, so that nothing in it can jump.
set -eu
cd "${SS_SRCDIR:-.}/sim"
failed=0
below() {
  case $1 in
    base) echo base ;;
    graph) echo base graph ;;
    simulate) echo base graph simulate ;;
    search) echo base graph simulate search ;;
    io) echo base graph simulate search io ;;
    lua) echo base graph simulate search io lua ;;
    cli) echo base graph simulate search io lua cli ;;
  esac
}
passed=0
for layer in base graph simulate search io lua cli; do
  allowed=$(below "$layer")
  for file in "$layer"/*.[ch]; do
    [ -f "$file" ] || continue
    bad=
    for include in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file"); do
      case " $allowed " in *" $include "*) ;; *) bad="$bad $include/" ;; esac
    done
    case $layer in lua | cli) ;; *) grep -q '#include <lua' "$file" && bad="$bad lua.h" ;; esac
    if [ -n "$bad" ]; then
      echo "FAILED sim/$file includes$bad"
      failed=$((failed + 1))
    else
      passed=$((passed + 1))
    fi
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
