#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests FFmpeg's own CUDA parts, and gpume if the program has it, on the stand-in for the
# driver: upload and download give the same frames, and the device finds the same vectors
# as the CPU, whatever the order in which work runs.
#
# usage: roundtrip.sh FFMPEG STANDIN_FOLDER

set -u
LC_ALL=C
export LC_ALL
ffmpeg=$1
LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gpume-standin.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

# result NAME STATUS: reports a test; its messages are in $tmp/log
result() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
        echo "ok    $1"
    else
        failed=$((failed + 1))
        echo "FAIL  $1: status $2"
        sed 's/^/      /' "$tmp/log"
    fi
}

run() {
    "$ffmpeg" -nostdin -v error -y "$@" 2>> "$tmp/log"
}

source=testsrc2=s=149x99:d=0.4:r=25

for format in nv12 yuv420p yuv444p p010le p016le yuv444p16le; do
    : > "$tmp/log"
    run -f lavfi -i $source -vf format=$format -f framecrc "$tmp/plain"
    status=$?
    for seed in 0 1 2 3; do
        GPUME_STANDIN_SEED=$seed
        export GPUME_STANDIN_SEED
        if [ $status = 0 ]; then
            run -init_hw_device cuda=cu:0 -filter_hw_device cu -f lavfi -i $source \
                -vf format=$format,hwupload_cuda,hwdownload,format=$format -f framecrc "$tmp/through" &&
            cmp "$tmp/plain" "$tmp/through" >> "$tmp/log"
            status=$?
        fi
    done
    result "up-and-down/$format" $status
done

: > "$tmp/log"
GPUME_STANDIN_DEVICES=0 run -init_hw_device cuda=cu:0 -f lavfi -i $source -f null -
status=$?
grep -q 'no CUDA-capable device' "$tmp/log" && [ $status != 86 ]
result no-device $?

if "$ffmpeg" -v quiet -h filter=gpume | grep -q backend; then
    for algo in fs ds; do
        for format in nv12 yuv420p10le; do
            : > "$tmp/log"
            options=algo=$algo:range=12:block=8:dir=both
            run -f lavfi -i $source -vf "format=$format,gpume=backend=cpu:$options:mv_file=$tmp/cpu.csv" -f null -
            status=$?
            for seed in 0 1 2; do
                GPUME_STANDIN_SEED=$seed
                export GPUME_STANDIN_SEED
                if [ $status = 0 ]; then
                    run -f lavfi -i $source \
                        -vf "format=$format,gpume=backend=cuda:$options:mv_file=$tmp/cuda.csv" -f null - &&
                    cmp "$tmp/cpu.csv" "$tmp/cuda.csv" >> "$tmp/log"
                    status=$?
                fi
            done
            result "gpume/$algo/$format" $status
        done
        : > "$tmp/log"
        for seed in 0 1 2; do
            GPUME_STANDIN_SEED=$seed
            export GPUME_STANDIN_SEED
            run -f lavfi -i $source -vf "format=nv12,gpume=backend=cpu:$options:mv_file=$tmp/cpu.csv" -f null - &&
            run -init_hw_device cuda=cu:0 -filter_hw_device cu -f lavfi -i $source \
                -vf "format=nv12,hwupload_cuda,gpume=$options:mv_file=$tmp/cuda.csv,hwdownload,format=nv12" \
                -f null - &&
            cmp "$tmp/cpu.csv" "$tmp/cuda.csv" >> "$tmp/log"
            status=$?
            if [ $status != 0 ]; then
                break
            fi
        done
        result "gpume/$algo/frames-on-the-device" $status
    done
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
