#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Decodes, denoises and encodes on an NVIDIA GPU. Frames stay in its memory; only the coded stream is
# downloaded. The sound is copied.
#
# usage: gpu-denoise.sh INPUT OUTPUT [STRENGTH]
# STRENGTH is more than 1 for a smoother picture, less to keep some noise [1]. FFMPEG names an ffmpeg
# with mvdenoise and h264_nvenc [ffmpeg]; the GPU needs an encoder (data-centre cards such as
# H100 have none).

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [STRENGTH]" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -hwaccel cuda -hwaccel_output_format cuda \
    -i "$1" -map 0:v:0 -map '0:a?' -c:a copy -vf mvdenoise=strength="${3:-1}" -fps_mode passthrough \
    -c:v h264_nvenc -preset p4 -cq 23 "$2"
