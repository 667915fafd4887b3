#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Takes the noise out of a film in 10 bits, and writes ProRes 422, for editing. A film of 8 bits gains, too:
# without noise its steps would show. The sound is copied.
#
# usage: clean-10bit.sh INPUT OUTPUT [STRENGTH]
# OUTPUT is a .mov or .mkv. STRENGTH is more than 1 for a smoother picture, less to keep some noise [1].
# FFMPEG names an ffmpeg with mvdenoise [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [STRENGTH]" >&2
    exit 2
fi

# The subsampling of chroma changes behind the filter only: in chroma that was scaled, noise is correlated.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' \
    -vf "format=yuv420p10|yuv422p10|yuv444p10,mvdenoise=strength=${3:-1},format=yuv422p10" \
    -c:a copy -c:v prores_ks -profile:v hq "$2"
