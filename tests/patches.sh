#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests every patch series: its format, that it only registers gpume's parts, that it applies exactly once to its
# pristine source, and that it does not change other sources.
#
# usage: tests/patches.sh RESULTS

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

work=build/check/patches
fresh "$work"

all=$(all_series .)

# The files that a patch may change: FFmpeg's lists of its parts, and encoders that call gpume's functions.
allowed='^(configure|libavcodec/Makefile|libavcodec/motion_est(\.[ch]|_template\.c)|libavcodec/mpegvideo_?enc\.[ch]|libavfilter/Makefile|libavfilter/allfilters\.c|doc/filters\.texi|tests/Makefile|tests/checkasm/(Makefile|checkasm\.[ch])|tests/fate/checkasm\.mak)$'

# mail_format SERIES: prints what is wrong.
mail_format() {
    (cd "patches/$1" && ls ./*.patch) | sed 's,^\./,,' > $work/files
    if ! cmp -s $work/files "patches/$1/series"; then
        echo "series does not list the patches in order"
    fi
    total=$(wc -l < "patches/$1/series")
    n=0
    while read -r name; do
        n=$((n + 1))
        p=patches/$1/$name
        sed '/^---$/,$d' "$p" > $work/head
        grep -q '^From [0-9a-f]\{40\} ' $work/head || echo "$name has no 'From HASH' line"
        for field in From Date; do
            grep -q "^$field: ." $work/head || echo "$name has no $field:"
        done
        grep -q "^Subject: \[PATCH $n/$total\] [a-z0-9/_-]*: ." $work/head ||
            echo "$name: the subject is not '[PATCH $n/$total] component: ...'"
        grep -q '^ [0-9]* files\{0,1\} changed, ' "$p" || echo "$name has no diffstat"
    done < "patches/$1/series"
}

# The patches that correct FFmpeg, and may remove lines.
corrections='-(return-the-least-cost-from-full_s|drain-the-filtergraph-before-it)\.patch$'

# registration_only SERIES: prints what is wrong.
registration_only() {
    grep -vE -e "$corrections" "patches/$1/series" > $work/registering
    while read -r name; do
        sed -n 's,^+++ b/,,p' "patches/$1/$name" | grep -vE "$allowed" |
            sed "s,^,$name touches ,"
        sed '1,/^---$/d' "patches/$1/$name" | grep -E '^-' | grep -vE '^--- a/' |
            sed "s,^,$name removes: ,"
        added=$(sed '1,/^---$/d' "patches/$1/$name" | grep -cE '^\+([^+]|$)')
        if [ "$added" -gt 30 ]; then
            echo "$name adds $added lines"
        fi
    done < $work/registering
}

# state DIR: lists every file with its times and checksum, to detect changes.
state() {
    (cd "$1" && find . -type f -exec ls -l --time-style=full-iso {} + -exec cksum {} + | sort)
}

# verdict NAME FILE: the check passes if FILE is empty; else its first line says why not.
verdict() {
    if [ -s "$2" ]; then
        fail "$1" "$(sed -n 1p "$2")"
    else
        ok "$1"
    fi
}

fetched=
for s in $all; do
    mail_format "$s" > $work/out
    verdict "patches-$s/mail-format" $work/out
    registration_only "$s" > $work/out
    verdict "patches-$s/registration-only" $work/out

    if ! tarball=$(tools/fetch.sh build ffmpeg "$s"); then
        skip "patches-$s" "its source cannot be fetched; put the tarball into build/dist/"
        continue
    fi
    # the patched files of all series, so that each series can be tried on each source
    # shellcheck disable=SC2046
    mkdir -p "$work/$s" && tar -xf "$tarball" --strip-components=1 -C "$work/$s" --wildcards \
        '*/RELEASE' $(sed -n 's,^+++ b/,*/,p' patches/*/*.patch | grep -v /tests/ref/ | sort -u) '*/configure'
    fetched="$fetched $s"
done

for s in $fetched; do
    cp -Rp "$work/$s" "$work/$s-laid"
    if ! tools/lay.sh "$work/$s-laid" > $work/out 2>&1; then
        fail "patches-$s/applies" "$(sed -n 2p $work/out)"
        continue
    fi
    ok "patches-$s/applies"
    grep -q 'libavfilter/gpume/Makefile$' "$work/$s-laid/libavfilter/Makefile" &&
        grep -q '/tests/fate/gpume.mak$' "$work/$s-laid/tests/Makefile" &&
        grep -q ' vf_gpume\.o$' "$work/$s-laid/tests/checkasm/Makefile" &&
        grep -q 'me_hint\.o ' "$work/$s-laid/libavcodec/Makefile" &&
        grep -q '"me_hint"' "$work/$s-laid/libavcodec/mpegvideoenc.h" &&
        sed -n '/^#/d; /^common /d; s/ .*//p' filters.list | while read -r filter; do
            grep -q "^extern const .* ff_vf_$filter;" "$work/$s-laid/libavfilter/allfilters.c" &&
                grep -q "^@include filter_$filter.texi\$" "$work/$s-laid/doc/filters.texi" || echo "$filter"
        done > $work/out && test ! -s $work/out
    check "patches-$s/registers" "filter, tests or documentation are not registered" test $? = 0

    state "$work/$s-laid" > $work/before
    tools/lay.sh "$work/$s-laid" > $work/out 2>&1
    check "patches-$s/twice-succeeds" "$(sed -n 1p $work/out)" test $? = 0
    state "$work/$s-laid" > $work/after
    check "patches-$s/twice-changes-nothing" "the tree changed" cmp -s $work/before $work/after

    # patched by hand first, then by our script
    cp -Rp "$work/$s" "$work/$s-hand"
    while read -r name; do
        patch -s -p1 -d "$work/$s-hand" < "patches/$s/$name"
    done < "patches/$s/series"
    tools/lay.sh "$work/$s-hand" > $work/out 2>&1 && rm -rf "$work/$s-hand/libavfilter/gpume/.laid" &&
        diff -r -x .laid "$work/$s-laid" "$work/$s-hand" > $work/out
    check "patches-$s/after-git-am" "$(sed -n 1p $work/out)" test $? = 0

    # a patch of an earlier version that no longer exists is reverted
    cp -Rp "$work/$s-laid" "$work/$s-old"
    cat > "$work/$s-old/libavfilter/gpume/.laid/0009-old.patch" <<'EOF'
--- a/RELEASE
+++ b/RELEASE
@@ -0,0 +1 @@
+earlier
EOF
    sed -i '1i earlier' "$work/$s-old/RELEASE"
    sed -i 's,^@@ -0\,0 +1 @@,@@ -1 +1\,2 @@,' "$work/$s-old/libavfilter/gpume/.laid/0009-old.patch"
    sed -n 's/^/ /p' "$work/$s/RELEASE" >> "$work/$s-old/libavfilter/gpume/.laid/0009-old.patch"
    echo 0009-old.patch >> "$work/$s-old/libavfilter/gpume/.laid/series"
    echo libavfilter/gpume/old.c >> "$work/$s-old/libavfilter/gpume/.laid/files"
    echo > "$work/$s-old/libavfilter/gpume/old.c"
    tools/lay.sh "$work/$s-old" "$s" > $work/out 2>&1 && diff -r "$work/$s-laid" "$work/$s-old" > $work/out
    check "patches-$s/after-an-earlier-version" "$(sed -n 1p $work/out)" test $? = 0

    for other in $fetched; do
        if [ "$other" = "$s" ]; then
            continue
        fi
        state "$work/$other" > $work/before
        tools/lay.sh "$work/$other" "$s" > $work/out 2>&1
        check "patches-$s/refused-by-$other" "they applied to FFmpeg $other" test $? != 0
        grep -q "^  patches/$s/0.*\.patch: .*: hunk [0-9]* .*does not apply" $work/out
        check "patches-$s/names-the-hunk-on-$other" "$(sed -n 1p $work/out)" test $? = 0
        state "$work/$other" > $work/after
        check "patches-$s/leaves-$other-alone" "the tree changed" cmp -s $work/before $work/after
    done
done
