#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Decodes, deinterlaces and encodes a recording on the GPU, with one frame for each field. The sound is copied. Frames
# that are not marked as interlaced stay as they are.
#
# usage: gpu-deinterlace.sh INPUT OUTPUT [PASSES]
# PASSES is 1 for speed, 3 for quality [2]. FFMPEG names an ffmpeg with mvdeint and h264_nvenc [ffmpeg]; the GPU needs
# an encoder.

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [PASSES]" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -hwaccel cuda -hwaccel_output_format cuda \
    -i "$1" -map 0:v:0 -map '0:a?' -c:a copy -vf mvdeint=passes="${3:-2}":deint=interlaced -fps_mode passthrough \
    -c:v h264_nvenc -preset p5 -cq 20 "$2"
