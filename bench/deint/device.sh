#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# mvdeint on a GPU: whether it makes the same pictures as the CPU, and how many frames a second of 1080i that lie on the
# device, beside bwdif_cuda where FFmpeg has it. Takes about a minute.
#
# usage: bench/deint/device.sh FOLDER
# FOLDER has ffmpeg and, for the check of all formats, libavfilter/tests/gpume_mvdeint: build/9.0/obj.

set -eu
bin=${1:?usage: device.sh FOLDER}
if [ -x "$bin/libavfilter/tests/gpume_mvdeint" ]; then
    "$bin/libavfilter/tests/gpume_mvdeint" -device -quick
fi
# a second of interlaced frames, again and again
source='testsrc2=s=1920x1080:r=50,format=nv12,setfield=tff,separatefields,select=not(mod(n\,4))+not(mod(n-3\,4)),weave=first_field=top,trim=end_frame=25'
up='hwupload_cuda,loop=loop=-1:size=25'
first='trim=end_frame=4'
"$bin/ffmpeg" -v error -lavfi "$source,$first,mvdeint" -f framemd5 - > cpu.md5
"$bin/ffmpeg" -v error -init_hw_device cuda=cu:0 -filter_hw_device cu -filter_complex \
    "$source,$first,hwupload_cuda,mvdeint,hwdownload,format=nv12" -f framemd5 - > gpu.md5
cmp cpu.md5 gpu.md5 && echo 'the same pictures as on the CPU'
rm -f cpu.md5 gpu.md5
echo '| filter | frames out per second |'
echo '| --- | --- |'
for filter in mvdeint=passes=1 mvdeint=passes=2 mvdeint=passes=3 bwdif_cuda; do
    case $("$bin/ffmpeg" -v error -filters) in *" ${filter%%=*} "*) ;; *) continue ;; esac
    # two runs, whose difference leaves out the start
    for frames in 100 1100; do
        "$bin/ffmpeg" -v info -benchmark -nostats -init_hw_device cuda=cu:0 -filter_hw_device cu -filter_complex \
            "$source,$up,$filter" -frames:v $frames -f null - 2>&1 | sed -n 's/.*rtime=\([0-9.]*\)s.*/\1/p'
    done | paste -s -d ' ' | awk -v f="$filter" '{ printf "| %s | %.0f |\n", f, 1000 / ($2 - $1) }'
done
