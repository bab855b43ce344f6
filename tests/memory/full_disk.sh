#!/bin/sh
# A full disk: whatever is being written, the program ends with status 3 and says so in one sentence, the
# final name has the old file or none, and nothing else is left.
#
# First with writes that fail after so many bytes (full_disk.c); then, where we may mount one, on a tmpfs
# that is really full, which gnuplot meets as well.
set -u
dir=$PWD/full_disk.dir
script=$SS_SRCDIR/tests/memory/write_one.lua
library=$SS_BUILDDIR/tests/memory/full_disk.so
passed=0 failed=0 skipped=0
if [ "${1:-}" != --in-namespace ]; then
    rm -rf "$dir"
    mkdir "$dir" || exit 1
fi

fail() {
    echo "FAILED $1: $2"
    sed 's/^/    /' "$dir/err" | head -n 5
    failed=$((failed + 1))
}

# $1 claim, $2 exit status, $3 the file, $4 "old" where one was there before
judge() {
    if [ "$2" != 3 ]; then
        fail "$1" "exit status $2"
    elif ! grep -q "$(basename "$3").*: No space left on device" "$dir/err"; then
        fail "$1" "it does not say what is the matter with which file"
    elif [ "$(grep -c . "$dir/err")" -gt 1 ]; then
        fail "$1" "more than one sentence"
    elif [ "$4" = old ] && ! cmp -s "$3" "$dir/old"; then
        fail "$1" "the old file is not what it was"
    elif [ "$4" != old ] && [ -e "$3" ]; then
        fail "$1" "there is a file of the final name"
    elif [ "$(find "$(dirname "$3")" -name '.*.part' | wc -l)" -gt 0 ]; then
        fail "$1" "it left a temporary file"
    else
        return 0
    fi
    return 1
}

# The whole file is written once, to know its size; then the disk is full after a part of it.
fails_after_some_bytes() {
    what=$1
    file=$dir/out.$2
    if ! "$SOAPSTONE" run "$script" "$what" "$file" 2>"$dir/err"; then
        fail "$what" "it cannot be written at all"
        return
    fi
    size=$(cat "$dir"/out.* | wc -c)
    case $what in
        record | strategy) cp "$file" "$dir/old" ;; # each replaces its like only
        *) echo old >"$dir/old" ;;
    esac
    rm -f "$dir"/out.*
    first=$(wc -c <"$dir/err") # nothing was said
    [ "$first" = 0 ] || fail "$what" "it was written with complaints"
    for after in 0 1 $((size / 3)) $((size * 2 / 3)) $((size - 1)); do
        [ "$what" = figure ] && [ "$after" -gt 1000 ] && continue # the rest is gnuplot's
        LD_PRELOAD=$library FULL_DISK_AFTER=$after "$SOAPSTONE" run "$script" "$what" "$file" 2>"$dir/err"
        judge "$what, full after $after of $size bytes" $? "$file" none || return
        cp "$dir/old" "$file"
        LD_PRELOAD=$library FULL_DISK_AFTER=$after "$SOAPSTONE" run "$script" "$what" "$file" 2>"$dir/err"
        judge "$what over an old file, full after $after of $size bytes" $? "$file" old || return
        rm -f "$file"
    done
    echo "ok     $what: full after some of $size bytes"
    passed=$((passed + 1))
}

# The log of a search is not whole or nothing: what was flushed is there after a repair.
logs_keep_what_they_have() {
    file=$dir/log.h5
    writer=$SS_BUILDDIR/tests/property/kill_trajectory
    "$writer" --write "$file" 3000 2>"$dir/err" || {
        fail log "it cannot be written at all"
        return
    }
    size=$(wc -c <"$file")
    for after in 0 1 $((size / 3)) $((size * 2 / 3)) $((size - 1)) $((size + 100000)); do
        rm -f "$file"
        LD_PRELOAD=$library FULL_DISK_AFTER=$after "$writer" --write "$file" 3000 2>"$dir/err"
        status=$?
        if [ $status != 3 ]; then
            fail "log, full after $after bytes" "exit status $status"
            return
        elif ! grep -q 'log\.h5.*No space left on device' "$dir/err"; then
            fail "log, full after $after bytes" "it does not say what is the matter with which file"
            return
        elif [ ! -e "$file" ]; then
            if [ -e "$file.journal" ]; then
                fail "log, full after $after bytes" "it left a journal"
                return
            fi
            continue
        elif ! grep -q "soapstone repair $file" "$dir/err"; then
            fail "log, full after $after bytes" "it does not say what to do"
            return
        elif ! "$SOAPSTONE" repair "$file" >"$dir/err" 2>&1 || ! "$SOAPSTONE" inspect "$file" >"$dir/err" 2>&1; then
            fail "log, full after $after bytes" "it cannot be repaired"
            return
        fi
    done
    rm -f "$file"
    echo "ok     log: full after some bytes"
    passed=$((passed + 1))
}

# What an exhaustive search has found is printed though its log could not be written to the end.
exhaustive_says_what_it_has() {
    file=$dir/all.h5
    LD_PRELOAD=$library FULL_DISK_AFTER=300000 "$SOAPSTONE" search -m lenet -t ring --searcher exhaustive \
        --log "$file" >"$dir/out" 2>"$dir/err"
    status=$?
    if [ $status != 3 ] || ! grep -q 'all\.h5.*No space left on device' "$dir/err"; then
        fail "exhaustive, full after some bytes" "exit status $status, or it does not say why"
    elif ! grep -q '^best so far' "$dir/out" || ! grep -q 'the log could not be written' "$dir/out"; then
        fail "exhaustive, full after some bytes" "it does not say what it has found"
    elif ! "$SOAPSTONE" repair "$file" >"$dir/err" 2>&1 || ! "$SOAPSTONE" inspect "$file" >"$dir/err" 2>&1; then
        fail "exhaustive, full after some bytes" "its log cannot be repaired"
    else
        echo "ok     exhaustive: full after some bytes"
        passed=$((passed + 1))
    fi
    rm -f "$file"* "$dir/out"
}

full_tmpfs() { # inside a mount namespace of our own; $1 bytes are taken already, the rest are files to write
    umount "$dir/small" 2>/dev/null
    mount -t tmpfs -o size=64k,mode=755 none "$dir/small" || return 9
    head -c "$1" /dev/zero >"$dir/small/filling"
    shift
    for what in "$@"; do
        file=$dir/small/out.${what#*:}
        "$SOAPSTONE" run "$script" "${what%:*}" "$file" 2>"$dir/err"
        judge "$what on a full tmpfs" $? "$file" none || return 1
    done
    [ "$(ls -A "$dir/small")" = filling ] || {
        fail "on a full tmpfs" "it left $(ls -A "$dir/small" | tr '\n' ' ')"
        return 1
    }
}

# However little room there is, a figure is whole or refused.
figures_on_a_small_disk() {
    for taken in $(seq 0 8192 61440); do
        umount "$dir/small" 2>/dev/null
        mount -t tmpfs -o size=96k,mode=755 none "$dir/small" || return 9
        head -c "$taken" /dev/zero >"$dir/small/filling"
        for format in svg png pdf; do
            file=$dir/small/out.$format
            if "$SOAPSTONE" run "$script" figure "$file" 2>"$dir/err"; then
                tail -c 32 "$file" | grep -aqE '</svg>|IEND|%%EOF' || {
                    fail "figure ($format) beside $taken bytes" "it is cut off, and nothing was said"
                    return 1
                }
                rm -f "$file" "$file.tsv"
            else
                judge "figure ($format) beside $taken bytes" $? "$file" none || return 1
            fi
        done
    done
}

if [ "${1:-}" = --in-namespace ]; then
    figures_on_a_small_disk || exit 1
    full_tmpfs 61440 record:h5 trace:json figure:svg figure:png figure:pdf &&
        full_tmpfs 65536 record:h5 trace:json graph:dot strategy:json figure:svg
    exit $?
fi

if [ ! -f "$library" ]; then
    echo "skipped failing writes: a library cannot be loaded before the sanitizers"
    skipped=$((skipped + 1))
else
    fails_after_some_bytes record h5
    fails_after_some_bytes trace json
    fails_after_some_bytes graph dot
    fails_after_some_bytes strategy json
    logs_keep_what_they_have
    exhaustive_says_what_it_has
    if command -v gnuplot >/dev/null; then fails_after_some_bytes figure svg; fi
fi

mkdir "$dir/small"
if ! command -v gnuplot >/dev/null; then
    echo "skipped a full tmpfs: no gnuplot"
    skipped=$((skipped + 1))
elif ! unshare -m true 2>/dev/null || ! unshare -m mount -t tmpfs none "$dir/small" 2>/dev/null; then
    echo "skipped a full tmpfs: we may not mount one"
    skipped=$((skipped + 1))
elif unshare -m sh "$SS_SRCDIR/tests/memory/full_disk.sh" --in-namespace; then
    echo "ok     everything on a full tmpfs"
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
[ $failed = 0 ] && rm -rf "$dir"
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed = 0 ]
