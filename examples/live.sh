#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Plays a video, a stream or a camera at 60 frames per second, by frame interpolation in real time.
# Large frames are scaled down first, so that the processor can keep up.
#
# usage: live.sh INPUT [RATE [HEIGHT [FFPLAY_OPTION...]]]
# RATE is that of the display [60]; HEIGHT is the greatest height of the picture [720]. FFPLAY names an ffplay with
# gpume and mvfps [ffplay]. A camera: live.sh /dev/video0 60 480 -f v4l2

set -eu
if [ $# -lt 1 ]; then
    echo "usage: $0 INPUT [RATE [HEIGHT [FFPLAY_OPTION...]]]" >&2
    exit 2
fi
input=$1
rate=${2:-60}
height=${3:-720}
shift $(($# < 3 ? $# : 3))

if ! "${FFPLAY:-ffplay}" -hide_banner -filters 2>/dev/null | grep -q ' mvfps '; then
    echo "${FFPLAY:-ffplay} has no mvfps: install libsdl2-dev, then ./configure && make, and FFPLAY=build/bin/ffplay" >&2
    exit 1
fi
# Large blocks, because the search must be fast enough.
exec "${FFPLAY:-ffplay}" -hide_banner -loglevel error -autoexit "$@" \
    -vf "scale=-2:min($height\,ih),gpume=algo=hme:block=16:dir=both:pel=1:sweeps=8,mvfps=fps=$rate" -i "$input"
