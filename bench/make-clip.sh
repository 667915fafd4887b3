#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a 1080p clip for the pipeline benchmark: H.264 if there is an encoder (in our
# ffmpeg, the system's, or x264), otherwise MPEG-4 Part 2, which not every GPU can decode.
#
# usage: make-clip.sh BIN_DIR INPUT OUTPUT

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"
bin=$1
input=$2
output=$3

scale=scale=1920:1080:flags=lanczos,format=yuv420p
frames=300
new=${output%.*}.new.mkv
trap 'rm -f "$new"' EXIT

scaled() {
    "$bin/ffmpeg" -hide_banner -nostdin -loglevel error -y -i "$input" -map 0:v:0 -vf "$scale" \
        -frames:v $frames "$@"
}

ffmpeg_with_x264() {
    for f in "$bin/ffmpeg" ffmpeg; do
        if "$f" -hide_banner -h encoder=libx264 2>/dev/null | grep -q '^Encoder libx264'; then
            printf '%s\n' "$f"
            return
        fi
    done
}

other=$(ffmpeg_with_x264)
if [ -n "$other" ]; then
    scaled -f yuv4mpegpipe - |
        "$other" -hide_banner -loglevel error -y -f yuv4mpegpipe -i - -c:v libx264 \
            -preset veryfast -crf 25 "$new"
elif have x264; then
    scaled -f yuv4mpegpipe - |
        x264 --demuxer y4m --quiet --no-progress --preset veryfast --crf 25 -o "$new" - 2>&1 |
        grep -v '^encoded ' || :
else
    warn "no H.264 encoder (Debian's package: x264): the pipelines' clip is MPEG-4 Part 2"
    scaled -c:v mpeg4 -q:v 4 "$new"
fi
[ -s "$new" ] || die "could not make $output"
mv "$new" "$output"
