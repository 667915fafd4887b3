#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Denoises a video and encodes it. The sound is copied.
#
# usage: clean-video.sh INPUT OUTPUT [STRENGTH]
# STRENGTH is more than 1 for a smoother picture, less to keep some noise [1]. FFMPEG names an ffmpeg
# with mvdenoise [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [STRENGTH]" >&2
    exit 2
fi

# Three frames on each side, because time matters less than the picture.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' \
    -vf mvdenoise=radius=3:strength="${3:-1}" -c:a copy -c:v h264 -b:v 12M "$2"
