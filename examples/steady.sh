#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Takes the shake out of a clip from a phone or a drone. The sound is copied.
#
# usage: steady.sh INPUT OUTPUT [FRAMES]
# FRAMES on each side smooth the path of the camera: 15 for a drone that flies curves, 60 for a
# phone that is held still [30]. FFMPEG names an ffmpeg with mvstab [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [FRAMES]" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' \
    -vf mvstab=smoothing="${3:-30}" -c:a copy -c:v h264 -b:v 12M "$2"
