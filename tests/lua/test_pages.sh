#!/bin/sh
# test_pages.sh - every command and script that the pages print, in an empty folder.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/build"
ln -s "$SOAPSTONE" "$dir/build/soapstone"
cd "$dir" || exit 99
LUA_PATH="$SS_SRCDIR/tests/lua/?.lua;;" "$SOAPSTONE" run "$SS_SRCDIR/tests/lua/pages.lua"
