#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Decodes, searches and encodes on an NVIDIA GPU, and writes the vectors to a file. Frames stay in the
# memory of the GPU; only the vectors and the coded stream are downloaded.
#
# usage: gpu-transcode.sh INPUT OUTPUT VECTORS.npy
# FFMPEG names an ffmpeg with gpume and h264_nvenc [ffmpeg]; the GPU needs an encoder (data-centre
# cards such as H100 have none).

set -eu
if [ $# -lt 3 ]; then
    echo "usage: $0 INPUT OUTPUT VECTORS.npy" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -hwaccel cuda -hwaccel_output_format cuda \
    -i "$1" -map 0:v:0 -map '0:a?' -c:a copy \
    -vf "gpume=algo=hme:block=8:backend=cuda:mv_file=$3" -fps_mode passthrough \
    -c:v h264_nvenc -preset p4 -cq 23 "$2"
