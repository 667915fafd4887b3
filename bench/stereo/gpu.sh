#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks mvstereo on a GPU, then measures it: pairs of 1920x1080 samples a second, with frames that are on the GPU.
#
# usage: gpu.sh BIN_DIR [TESTS_DIR]
# BIN_DIR has ffmpeg, TESTS_DIR has gpume_mvstereo [BIN_DIR]. PAIRS of each measurement [600].

set -u
LC_ALL=C
export LC_ALL
bin=$1
tests=${2:-$1}
pairs=${PAIRS:-600}

"$tests/gpume_mvstereo" -device -cases 300 || exit

# A scene and its other view, 60 samples away, uploaded once. $1: size; $2: options of mvstereo
measure() {
    w=${1%x*}
    h=${1#*x}
    begin=$(date +%s%N)
    for n in 1 "$pairs"; do
        "$bin/ffmpeg" -v error -init_hw_device cuda=c -filter_hw_device c -f lavfi -i \
            "testsrc2=s=$((w + 60))x$h,format=nv12,trim=end_frame=1,split[a][b];[a]crop=$w:$h:0:0[l];
             [b]crop=$w:$h:60:0[r];[l][r]hstack" \
            -vf "hwupload,loop=loop=$((n - 1)):size=1,setpts=N/25/TB,mvstereo=layout=sbsl:$2" \
            -fps_mode passthrough -f null - || exit
        end=$(date +%s%N)
        eval "time_$n=$((end - begin))"
        begin=$end
    done
    eval "echo \"\$1 \$2: \$(( (pairs - 1) * 1000000000 / (time_$pairs - time_1) )) pairs/s\""
}

measure 1920x1080 max=64
measure 1920x1080 max=128
measure 1920x1080 max=128:output=color
measure 1920x1080 max=128:rows=1
measure 1920x1080 max=128:fast=1
measure 1920x1080 max=256
measure 1920x1080 max=0
measure 1024x440 max=128
