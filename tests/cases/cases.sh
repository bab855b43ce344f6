# Every case file of this folder.
exec "$SS_BUILDDIR/tests/run-cases" "$SS_SRCDIR"/tests/cases/*.json
