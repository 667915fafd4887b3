#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Computes the disparity of two cameras while they film. A map is written as soon as the next frame of the right camera
# has arrived and both views are matched.
#
# usage: depth-live.sh LEFT RIGHT OUTPUT [OPTIONS]
# LEFT, RIGHT: devices like /dev/video0. OUTPUT: a file, a URL, or - for a player: depth-live.sh ... - | ffplay -
# OPTIONS of mvstereo besides inputs and output [max=128]
# INPUT    options of ffmpeg before each camera [-f v4l2 -framerate 30]
# FFMPEG   names an ffmpeg with mvstereo [ffmpeg].

set -eu
if [ $# -lt 3 ]; then
    echo "usage: $0 LEFT RIGHT OUTPUT [OPTIONS]" >&2
    exit 2
fi
input=${INPUT:--f v4l2 -framerate 30}

# shellcheck disable=SC2086  # options
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y $input -i "$1" $input -i "$2" \
    -lavfi "mvstereo=inputs=2:output=color:${4:-max=128},format=yuv420p" \
    -c:v mpeg4 -q:v 3 -bf 0 -flush_packets 1 -f nut "$3"
