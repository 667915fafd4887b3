#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds the motion blur of a camera's shutter: interpolates frames and averages those during which it is open. Each frame
# of the result ends an exposure.
#
# usage: motion-blur.sh INPUT OUTPUT [ANGLE] [SAMPLES]
# ANGLE is that of the shutter, 1 to 360 degrees [180]: 360 is open from one frame to the next. SAMPLES is how many
# frames are interpolated for each one, 2 to 64 [16]; motion of more samples than that shows steps.
# FFMPEG names an ffmpeg with mvfps [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [ANGLE] [SAMPLES]" >&2
    exit 2
fi

angle=${3:-180}
samples=${4:-16}
if ! open=$(awk -v a="$angle" -v n="$samples" 'BEGIN {
        if (a !~ /^[0-9.]+$/ || n !~ /^[0-9]+$/ || a < 1 || a > 360 || n < 2 || n > 64) exit 1
        k = int(n * a / 360 + 0.5)
        print (k > 1 ? k : 1) }'); then
    echo "ANGLE is a number from 1 to 360 and SAMPLES one from 2 to 64, not $angle and $samples" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' -c:a copy \
    -vf "mvfps=fps=${samples}x,tmix=frames=$open,framestep=$samples" -fps_mode passthrough \
    -c:v h264 -b:v 12M "$2"
