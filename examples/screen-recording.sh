#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Transcodes a screen recording to H.264. gpume marks what did not change, and libx264 codes it without
# a search. This saves time and bytes where most of the picture stands still, see doc/encoders.md.
#
# usage: screen-recording.sh INPUT OUTPUT [PRESET]
# FFMPEG names an ffmpeg with gpume and libx264 [ffmpeg]; PRESET is libx264's [medium].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [PRESET]" >&2
    exit 2
fi

if ! "${FFMPEG:-ffmpeg}" -hide_banner -h encoder=libx264 2>&1 | grep -q '^Encoder libx264'; then
    echo "${FFMPEG:-ffmpeg} has no libx264: install libx264-dev, then ./configure --enable-gpl && make" >&2
    exit 1
fi

# The frame before must be the encoder's reference: no B frames, no weighted prediction, and
# -fps_mode passthrough, so that no frame is dropped or repeated after the filter. For the same
# reason format comes before gpume.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' -c:a copy \
    -vf format=yuv420p,gpume=algo=ds:range=8:backend=cpu:hint=constant -fps_mode passthrough \
    -c:v libx264 -preset "${3:-medium}" -crf 23 -bf 0 -weightp 0 -mb_info 1 "$2"
