#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies gpume's sources into an FFmpeg tree and applies the registration patches of its
# series, all or none. Running it again changes only what differs. With the record in
# libavfilter/gpume/.laid a later version can undo what an earlier one did.

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"

usage="usage: lay.sh [-q] FFMPEG_TREE [SERIES]
       lay.sh -l           (list what goes where)"

# Prints one line for each file: its path here and its path in the FFmpeg tree.
list_layout() {
    (
        cd "$top"
        set -- vf_*.[ch] codec/*.[ch] filters.list gpume.mak tools/searches.sh doc/*.texi tests/gpume*.c \
               tests/*.h bench/gpume_bench*.[ch] bench/gpume_bench*.cu bench/seed/gpume_bench* tests/checkasm/*.[ch] tests/fate/* fate-refs/*
        folders=$(sed -n 's/^[a-z][a-z]* //p' filters.list)
        for folder in $folders; do
            set -- "$@" "$folder"/*.[ch] "$folder"/*.cu "$folder"/*.cuh "$folder"/x86/* "$folder"/aarch64/*
        done
        for f; do
            if [ ! -f "$f" ]; then
                continue
            fi
            case $f in
                *~)           continue ;;
                vf_*)         to=libavfilter/$f ;;
                gpume.mak)    to=libavfilter/gpume/Makefile ;;
                codec/*)      to=libavcodec/${f#codec/} ;;
                doc/*.texi)   to=doc/filter_${f#doc/} ;;
                tests/checkasm/*) to=tests/checkasm/vf_${f##*/} ;;
                tests/fate/*) to=$f ;;
                tests/*)      to=libavfilter/$f ;;
                bench/*)      to=libavfilter/tests/${f##*/} ;;
                fate-refs/*)  to=tests/ref/fate/${f#fate-refs/} ;;
                *)            to=libavfilter/gpume/$f ;;
            esac
            printf '%s %s\n' "$f" "$to"
        done
    )
}

quiet=
case ${1-} in
    -l) list_layout; exit ;;
    -q) quiet=1; shift ;;
esac
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    die "$usage"
fi

tree=$1
for f in configure libavfilter/Makefile libavfilter/allfilters.c; do
    if [ ! -f "$tree/$f" ]; then
        die "$tree is not an FFmpeg source tree: it has no $f"
    fi
done
tree=$(cd "$tree" && pwd)
if [ ! -w "$tree" ] || [ ! -w "$tree/libavfilter" ]; then
    die "$tree is not writable"
fi

series=${2-}
if [ -z "$series" ]; then
    series=$(series_of "$tree")
    if [ ! -f "$top/patches/$series/series" ]; then
        newest=$(all_series "$top" | sed -n 1p)
        say "no patches for FFmpeg ${series:-of unknown version}: trying those for $newest"
        series=$newest
    fi
fi
if [ ! -f "$top/patches/$series/series" ]; then
    die "patches/ has no series $series"
fi
patches=$top/patches/$series

tmp=$(mktemp -d "${TMPDIR:-/tmp}/gpume-lay.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

record=$tree/libavfilter/gpume/.laid

# touched DIR: the files that the patches of a series change.
touched() {
    while read -r name; do
        sed -n 's,^+++ b/\([^	]*\).*,\1,p' "$1/$name"
    done < "$1/series" | sort -u
}

# stage: copies those files to $tmp/new.
stage() {
    rm -rf "$tmp/new"
    mkdir "$tmp/new"
    {
        touched "$patches"
        if [ -f "$record/series" ]; then
            touched "$record"
        fi
    } | sort -u | while read -r f; do
        if [ -f "$tree/$f" ]; then
            mkdir -p "$tmp/new/$(dirname "$f")"
            cp "$tree/$f" "$tmp/new/$f"
        fi
    done
}

# GNU's patch would leave backups; others do not know the option
backups=
case $(patch --version 2>&1) in
    *GNU*) backups=--no-backup-if-mismatch ;;
esac

# run_patch FILE [-R]: applies a patch without fuzz; line offsets are allowed.
# shellcheck disable=SC2086  # an option or none
run_patch() {
    (
        file=$1
        shift
        cd "$tmp/new"
        patch -p1 -f -F 0 $backups -r "$tmp/rejected" "$@" -i "$file"
    ) > "$tmp/log" 2>&1
}

# forward DIR, backward DIR: apply or revert the whole series; $failed names a failing patch.
forward() {
    while read -r name; do
        if ! run_patch "$1/$name"; then
            failed=$name
            return 1
        fi
    done < "$1/series"
}

backward() {
    sed '1!G;h;$!d' "$1/series" > "$tmp/reversed"
    while read -r name; do
        if ! run_patch "$1/$name" -R; then
            return 1
        fi
    done < "$tmp/reversed"
}

# Converts patch's messages to 'FILE: hunk N'.
failed_hunks() {
    sed -n -e "s/^patching file '\{0,1\}\([^']*\)'\{0,1\}\$/\1/" -e 't file' \
           -e 's/^Hunk #\([0-9]*\) FAILED at \([0-9]*\).*/hunk \1 (line \2)/' -e 't hunk' \
           -e 's/^|+++ b\/\([^	]*\).*/\1: the file is not there/p' \
           -e d -e ':file' -e h -e d -e ':hunk' -e G \
           -e 's/\(.*\)\n\(.*\)/\2: \1 does not apply/p' "$tmp/log"
}

# Treat the tree first as changed by an earlier run of this script, then as pristine,
# then as already patched by hand.
stage
if ! { [ -f "$record/series" ] && backward "$record" && forward "$patches"; }; then
    stage
    if ! forward "$patches"; then
        first_failed=$failed
        failed_hunks > "$tmp/hunks"
        stage
        if ! backward "$patches"; then
            {
                printf 'error: the patches for FFmpeg %s do not apply to %s; nothing in it was changed\n' \
                       "$series" "$tree"
                sed "s,^,  patches/$series/$first_failed: ," "$tmp/hunks"
            } >&2
            exit 1
        fi
        stage
    fi
fi

# Everything applies. The tree is changed only from here on, and only where it differs.
changed=0

# put FROM TO: replaces TO atomically and keeps its mode.
put() {
    if cmp -s "$1" "$2"; then
        return
    fi
    mkdir -p "$(dirname "$2")"
    if [ -f "$2" ]; then
        cp -p "$2" "$2.gpume-new"
    fi
    cat "$1" > "$2.gpume-new"
    mv -f "$2.gpume-new" "$2"
    changed=$((changed + 1))
}

mkdir -p "$record"
list_layout > "$tmp/layout"
while read -r from to; do
    put "$top/$from" "$tree/$to"
done < "$tmp/layout"

# Remove files of an earlier version that this one does not have, and their folders.
cut -d' ' -f2 "$tmp/layout" > "$tmp/files"
if [ -f "$record/files" ]; then
    while read -r f; do
        if ! grep -qxF "$f" "$tmp/files"; then
            rm -f "$tree/$f"
            rmdir "$tree/$(dirname "$f")" 2>/dev/null || :
            changed=$((changed + 1))
        fi
    done < "$record/files"
fi
put "$tmp/files" "$record/files"

(cd "$tmp/new" && find . -type f) | sed 's,^\./,,' > "$tmp/patched"
while read -r f; do
    put "$tmp/new/$f" "$tree/$f"
done < "$tmp/patched"

for f in "$record"/*.patch; do
    if [ -f "$f" ] && [ ! -f "$patches/$(basename "$f")" ]; then
        rm -f "$f"
    fi
done
while read -r name; do
    put "$patches/$name" "$record/$name"
done < "$patches/series"
put "$patches/series" "$record/series"

if [ $changed -gt 0 ]; then
    say "copied gpume into $tree (patches for $series, $changed files changed)"
elif [ -z "$quiet" ]; then
    say "gpume is already in $tree (patches for $series), nothing to change"
fi
