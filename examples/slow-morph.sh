#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slow morph: turns stills into a video in which each one changes into the next one over some seconds.
#
# usage: slow-morph.sh PATTERN OUTPUT [SECONDS]
# PATTERN names pictures of one size by their number, such as still-%03d.jpg. SECONDS is the time from each to
# the next one, any number above 0 [5].
# FFMPEG names an ffmpeg with mvfps [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 PATTERN OUTPUT [SECONDS]" >&2
    exit 2
fi

seconds=${3:-5}
if ! rate=$(awk -v s="$seconds" 'BEGIN { if (s + 0 <= 0) exit 1; printf "1000/%d", 1000 * s }'); then
    echo "SECONDS is a number above 0, not $seconds" >&2
    exit 2
fi

# gap is the longest time that is interpolated. With scene=0 no cuts are detected: stills differ as much as scenes.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -framerate "$rate" -i "$1" \
    -vf "format=yuv420p,mvfps=fps=25:gap=$seconds:scene=0" -c:v h264 -b:v 12M "$2"
