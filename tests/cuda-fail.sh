#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes calls of the CUDA driver fail, one in each run of FFmpeg on the stand-in. A run must end with an error message
# or with the right output: vectors, or the pictures of a filter that uses them. It must not crash, leak (if FFMPEG is
# built with LeakSanitizer), misuse the driver, or succeed with another output.
#
# usage: cuda-fail.sh RESULTS FFMPEG STANDIN_DIR
# Without GPUME_LONG only the first two calls and the last call of each function of the driver fail.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
ffmpeg=$2
standin=$3

tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

# 4 frames of 3 by 2 blocks, with partial blocks at the right and bottom edges
source='testsrc2=size=40x24:rate=4:duration=1'

# run BACKEND KIND ALGO: vectors or pictures on standard output
run() {
    input=$source
    output=framecrc
    device='-init_hw_device cuda=cu:0 -filter_hw_device cu'
    before="format=nv12,gpume=algo=$3:range=4:backend=cpu:dir"
    case $2 in
        mvview)    filters="$before=past,hwupload_cuda,mvview=mode=flow+arrows+blocks:background=gray,hwdownload,format=nv12" ;;
        mvfps)     filters="$before=both,hwupload_cuda,mvfps=fps=3x:scene=1,hwdownload,format=nv12" ;;
        mvdenoise) filters="$before=both,hwupload_cuda,mvdenoise=radius=1:strength=9,hwdownload,format=nv12" ;;
        # small pictures: each pass searches, which takes the stand-in 8 s for four pictures of 40x24
        mvdeint)   input=testsrc2=size=20x14:rate=3:duration=1 filters="format=nv12,hwupload_cuda,mvdeint=$3,hwdownload,format=nv12" ;;
        mvstab)    input=testsrc2=size=32x24:rate=3:duration=1 filters="format=nv12,hwupload_cuda,mvstab=$3,hwdownload,format=nv12" ;;
        mvstereo)  input=$source,trim=end_frame=2 filters="format=nv12,hwupload_cuda,mvstereo=layout=$3,hwdownload,format=p016" ;;
        mvstereo-memory) input=$source,trim=end_frame=2 filters="mvstereo=layout=$3:backend=$1" device='' ;;
        memory)    filters="format=gray,gpume=algo=$3:range=4:dir=both:mv_file=-:backend=$1" device='' output=null ;;
        # samples that must be shifted on the device
        frames)    filters="format=p010le,hwupload_cuda,gpume=algo=$3:range=4:dir=both:mv_file=-:backend=$1:hint=constant,
                       hwdownload,format=p010le" output=null ;;
    esac
    # shellcheck disable=SC2086  # words
    LD_LIBRARY_PATH=$standin timeout 60 "$ffmpeg" -hide_banner -nostdin -loglevel error $device -f lavfi -i "$input" \
        -vf "$filters" -fps_mode passthrough -f "$output" -
}

# each KIND BACKEND ALGO CODE STICKY: each call of this run fails in turn
each() {
    kind=$1
    backend=$2
    algo=$3
    name=cuda-fail-$kind-$backend-$algo-$4$5
    if ! GPUME_STANDIN_COUNT=$tmp/count run "$backend" "$kind" "$algo" > "$tmp/good" 2> "$tmp/log"; then
        fail "$name" "does not run at all: $(tail -n 1 "$tmp/log")"
        return
    fi
    count=$(sed -n '1s/[^0-9]*\([0-9][0-9]*\).*/\1/p' "$tmp/count")
    calls=$(seq "${count:-0}")
    if [ -z "${GPUME_LONG-}" ]; then
        GPUME_STANDIN_TRACE=$tmp/trace run "$backend" "$kind" "$algo" > /dev/null 2>&1
        calls=$(awk '{ if (++seen[$3] <= 2) print $1; else last[$3] = $1 }
                     END { for (name in last) print last[name] }' "$tmp/trace" | sort -n)
    fi
    tried=0
    errors=0
    recovered=0
    foreign=0
    wrong=
    for n in $calls; do
        tried=$((tried + 1))
        status=0
        GPUME_STANDIN_FAIL=$n GPUME_STANDIN_FAIL_CODE=$4 GPUME_STANDIN_FAIL_STICKY=$5 \
            run "$backend" "$kind" "$algo" > "$tmp/out" 2> "$tmp/log" || status=$?
        if grep -q -e 'Sanitizer' -e 'runtime error:' -e '^standin:' "$tmp/log"; then
            wrong="$wrong $n(report)"
        elif grep -q 'cuMemcpy2DAsync.* failed' "$tmp/log"; then
            # FFmpeg's own copy from or to a frame: it continues without the samples
            foreign=$((foreign + 1))
            { [ $status -lt 124 ] || [ $status -ge 160 ]; } || wrong="$wrong $n(status $status)"
        elif [ $status = 0 ]; then
            recovered=$((recovered + 1))
            cmp -s "$tmp/out" "$tmp/good" || wrong="$wrong $n(other output)"
        elif [ $status -ge 124 ] && [ $status -lt 160 ]; then
            # a timeout or a signal
            wrong="$wrong $n(status $status)"
        elif ! grep -q -e 'Could not' -e 'failed' -e 'Error' "$tmp/log"; then
            wrong="$wrong $n(no message)"
        else
            errors=$((errors + 1))
        fi
    done
    if [ $tried -lt 20 ]; then
        fail "$name" "made only $tried calls fail"
    elif [ -n "$wrong" ]; then
        fail "$name" "of $tried failing calls these were handled wrongly:$wrong"
    elif [ $errors = 0 ] && [ "$kind-$backend" != mvstereo-memory-auto ]; then
        fail "$name" "none of $tried failing calls was noticed"
    else
        ok "$name ($tried of $count calls: $errors ended with an error, $recovered with the right output, $foreign were FFmpeg's copies)"
    fi
}

# gpume_soak -failures tests the backend alone, with every search. These tests run ffmpeg.
each memory auto ds 999 0
each frames cuda ds 999 0
each memory cuda fs 2 0         # out of memory
each frames auto umh 719 1      # a launch failed: the context is dead
each mvview device ds 999 0
each mvfps device ds 999 0
each mvdenoise device ds 999 0
each mvdeint device passes=2 999 0
each mvstab device mode=tripod:border=keep 999 0
each mvstereo device sbsl:temporal=0 999 0
each mvstereo device sbsl:max=64:fast=1:temporal=1:view=both 999 0
each mvstereo-memory cuda sbsl:max=32:temporal=1 999 0
each mvstereo-memory auto sbsl:max=32:temporal=0 719 1      # goes on without the device
