#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Deinterlaces and denoises a tape, and encodes it with one frame for each field. The sound is copied.
#
# usage: deinterlace-tape.sh INPUT OUTPUT [auto|tff|bff]
# The last argument says which field is the first, for captures that are marked wrongly [auto]: DV is bff. FFMPEG
# names an ffmpeg with mvdeint and mvdenoise [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [auto|tff|bff]" >&2
    exit 2
fi

# Three passes, because time matters less than the picture. mvdenoise comes second because it needs whole frames.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' \
    -vf mvdeint=passes=3:parity="${3:-auto}",mvdenoise -c:a copy -c:v h264 -b:v 12M "$2"
