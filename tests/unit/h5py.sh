#!/bin/sh
# What other programs make of our HDF5 files: h5dump, h5py, pandas, xarray.  The examples of
# docs/file-format.md are run as they stand.
set -e
dir=h5py.dir
rm -rf $dir
mkdir $dir
for python in python3 /usr/bin/python3 none; do
    $python -c 'import h5py, pandas' 2>/dev/null && break
done
if [ $python = none ]; then
    echo "skipped: no Python with h5py and pandas"
    rm -rf $dir
    exit 77
fi
"$SS_BUILDDIR/tests/unit/test_record" $dir/run.h5
"$SS_BUILDDIR/tests/unit/test_measured_h5" $dir/profile.h5
"$SS_BUILDDIR/tests/unit/test_trajectory" $dir/search.h5
awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$SS_SRCDIR/docs/file-format.md" >$dir/examples.py
cd $dir
passed=0 failed=0
claim() { # name, command...
    name=$1
    shift
    if "$@" >out.txt 2>&1; then
        echo "ok     $name"
        passed=$((passed + 1))
    else
        cat out.txt
        echo "FAILED $name"
        failed=$((failed + 1))
    fi
}
says() { grep -q -e "$1" out.txt || { echo "  \"$1\" was not printed"; cat out.txt; failed=$((failed + 1)); }; }

claim the_examples_of_the_documentation_run $python examples.py
says 'conv1 *backward'
says 'gpu0'
says '64x4096 < 64x1024'
claim every_column_explains_itself_and_holds_what_was_written $python "$SS_SRCDIR/tests/unit/look_with_h5py.py" run.h5 profile.h5 \
    "$SS_SRCDIR/docs/file-format.md" search.h5
if command -v h5dump >/dev/null; then
    claim h5dump_shows_names_and_units h5dump -d timeline/data/lanes/busy run.h5
    says '"ps"'
    claim h5dump_shows_a_log h5dump -d 'search/data parallel/reach' -c 4 search.h5
    says 'GROUP\|group\|ONE\|one'
    claim h5dump_shows_kinds_by_name h5dump -d timeline/data/tasks/kind run.h5
    says 'FORWARD\|forward'
fi
if "$SOAPSTONE" help >/dev/null 2>&1 && "$SOAPSTONE" help | grep -q inspect; then
    claim soapstone_tells_what_is_in_it "$SOAPSTONE" inspect run.h5
    says 'timeline    data'
fi
cd ..
[ $failed = 0 ] && rm -rf $dir
echo "$passed passed, $failed failed"
[ $failed = 0 ]
