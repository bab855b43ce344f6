#!/bin/sh
# bad.sh - every case of tests/bad; see tests/bad/run.
exec sh "$SS_SRCDIR/tests/bad/run" "$SS_SRCDIR"/tests/bad/*.case
