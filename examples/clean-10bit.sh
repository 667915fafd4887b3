#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Denoises a video in 10 bits and writes ProRes 422, for editing. This also helps a video of 8 bits, whose steps
# would be visible without the noise. The sound is copied.
#
# usage: clean-10bit.sh INPUT OUTPUT [STRENGTH]
# OUTPUT is a .mov or .mkv. STRENGTH is more than 1 for a smoother picture, less to keep some noise [1].
# FFMPEG names an ffmpeg with mvdenoise [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [STRENGTH]" >&2
    exit 2
fi

# Chroma is scaled only after the filter, because scaling makes the noise of neighbouring samples correlated.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' \
    -vf "format=yuv420p10|yuv422p10|yuv444p10,mvdenoise=strength=${3:-1},format=yuv422p10" \
    -c:a copy -c:v prores_ks -profile:v hq "$2"
