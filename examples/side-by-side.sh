#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows a video side by side with a copy that has its motion drawn over it.
#
# usage: side-by-side.sh INPUT OUTPUT [GPUME_OPTIONS]
# FFMPEG names an ffmpeg with gpume and mvview [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [GPUME_OPTIONS]" >&2
    exit 2
fi

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map '0:a?' -c:a copy -filter_complex \
    "[0:v:0]split[plain][a];[a]gpume=${3:-algo=hme:block=8},mvview=mode=flow+arrows:legend=1[drawn];[plain][drawn]hstack[v]" \
    -map '[v]' -c:v h264 -b:v 8M "$2"
