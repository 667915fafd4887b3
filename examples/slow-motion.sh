#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slow motion: stretches a clip to several times its duration, at its original frame rate, by frame
# interpolation. The sound is dropped.
#
# usage: slow-motion.sh INPUT OUTPUT [FACTOR]
# FACTOR is any number above 1 [4]. FFMPEG names an ffmpeg with gpume and mvfps [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [FACTOR]" >&2
    exit 2
fi

# -itsscale stretches the timestamps, and mvfps restores the frame rate. Small blocks, because slow
# motion shows every detail.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -itsscale "${3:-4}" -i "$1" -map 0:v:0 \
    -vf gpume=algo=hme:block=8:dir=both:pel=1:sweeps=4,mvfps=fps=1x -c:v mpeg4 -q:v 2 "$2"
