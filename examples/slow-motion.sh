#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slow motion: stretches a clip to several times its duration, at its original frame rate, by frame
# interpolation. The sound is dropped.
#
# usage: slow-motion.sh INPUT OUTPUT [FACTOR]
# FACTOR is any number from 1 [4]. INPUT needs timestamps: a file such as .mp4 or .mkv has them, a bare .h264 has not.
# FFMPEG names an ffmpeg with mvfps [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [FACTOR]" >&2
    exit 2
fi

factor=${3:-4}
if ! held=$(awk -v factor="$factor" 'BEGIN { if (factor + 0 < 1) exit 1; print int(factor) - 1 }'); then
    echo "FACTOR is a number from 1, not $factor" >&2
    exit 2
fi

# -itsscale stretches the timestamps, and mvfps restores the frame rate.
# The last frame's duration is not stretched by -itsscale, but by tpad.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -itsscale "$factor" -i "$1" -map 0:v:0 \
    -vf "mvfps=fps=1x,tpad=stop_mode=clone:stop=$held" \
    -c:v h264 -b:v 12M "$2"
