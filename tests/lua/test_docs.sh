#!/bin/sh
# test_docs.sh - every block of Lua in docs/lua-api.md runs, one after the other, as one script.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
# one line of the script is one line of the page, so that an error names its place
awk '/^```/ { on = $0 == "```lua" && !on; print "--"; next } { print on ? $0 : "--" }' \
  "$SS_SRCDIR/docs/lua-api.md" >lua-api.lua
blocks=$(grep -c '^```lua$' "$SS_SRCDIR/docs/lua-api.md")
if ! command -v gnuplot >/dev/null 2>&1; then
  sed -i 's/^soapstone\.plot\./-- &/' lua-api.lua # the drawing program is not here
fi
if "$SOAPSTONE" run lua-api.lua >out 2>err; then
  echo "$blocks passed, 0 failed"
else
  cat err
  echo "$((blocks - 1)) passed, 1 failed"
  exit 1
fi
