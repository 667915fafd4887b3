#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Slow motion: a clip that takes several times as long, at the frame rate that it had. Frames in
# between are made along the motion. The sound is left out.
#
# usage: slow-motion.sh INPUT OUTPUT [FACTOR]
# FACTOR is any number above 1 [4]. FFMPEG names an ffmpeg with gpume and mvfps [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [FACTOR]" >&2
    exit 2
fi

# The input's times are stretched, and as many frames per second as it had are made of it. Small
# blocks, as one looks closely at it.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -itsscale "${3:-4}" -i "$1" -map 0:v:0 \
    -vf gpume=algo=hme:block=8:dir=both:pel=1:sweeps=4,mvfps=fps=1x -c:v mpeg4 -q:v 2 "$2"
