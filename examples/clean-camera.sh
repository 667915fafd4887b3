#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Denoises a live picture with little delay, and encodes it. The delay is two frames: one for the motion
# search, which needs the next frame, and one for mvdenoise, which needs the motion of that frame. Large
# frames are scaled down first, so that the processor can keep up.
#
# usage: clean-camera.sh INPUT OUTPUT [HEIGHT [INPUT_OPTION...]]
# HEIGHT is the greatest height of the picture [480]. FFMPEG names an ffmpeg with gpume and mvdenoise [ffmpeg].
# To send a camera to a player on another machine: clean-camera.sh /dev/video0 - 480 -f v4l2 | nc HOST PORT

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [HEIGHT [INPUT_OPTION...]]" >&2
    exit 2
fi
input=$1
output=$2
height=${3:-480}
shift $(($# < 3 ? $# : 3))

# radius=1 uses one frame on each side; with async_depth=1 no frame waits for the search of the next one.
exec "${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y "$@" -i "$input" -map 0:v:0 \
    -vf "scale=-2:min($height\,ih),gpume=algo=hme:block=16:dir=both:smooth=8:sweeps=2:async_depth=1,mvdenoise=radius=1:passes=1" \
    -c:v mpeg4 -q:v 3 -flush_packets 1 -f matroska "$output"
