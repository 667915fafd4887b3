#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Converts a video of 24 (or any other number of) frames per second for a display of 60 Hz, by
# motion-compensated frame interpolation. Sound and subtitles are copied; text subtitles that the format
# of the output cannot hold are converted.
#
# usage: 24-to-60.sh INPUT OUTPUT [RATE]
# A Matroska file (.mkv) as OUTPUT can hold nearly every kind of sound and subtitles.
# RATE is the option fps of mvfps: a number, a ratio, or a factor such as 2x [60]. FFMPEG names an ffmpeg
# with mvfps [ffmpeg]; ENCODER has the options of an encoder [-c:v h264 -b:v 8M].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT.mkv [RATE]" >&2
    exit 2
fi

# Matroska cannot hold MP4's format of subtitles, nor MP4 the others: sets an encoder for each such stream.
case $2 in
    *.mkv)               from='mov_text' to=srt ;;
    *.mp4 | *.m4v | *.mov) from='subrip|srt|ass|ssa|webvtt|text' to=mov_text ;;
    *)                   from=none to= ;;
esac
subtitles=$("${FFMPEG:-ffmpeg}" -hide_banner -nostdin -i "$1" 2>&1 | awk -v from="^($from)\$" -v to=$to '
    /^ *Stream #0:/ && sub(/.*: Subtitle: /, "") {
        sub(/[^a-z_0-9].*/, "")
        if ($0 ~ from)
            printf " -c:s:%d %s", n, to
        n++
    }')

# shellcheck disable=SC2086  # options
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -map '0:a?' -map '0:s?' -c copy \
    -vf "mvfps=fps=${3:-60}" \
    $subtitles ${ENCODER:--c:v h264 -b:v 8M} "$2"
