#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints how much moves in a part of the picture: time, mean length of the vectors of the blocks there in samples a
# frame, and the share of those that are longer than half a sample.
#
# usage: motion-in-region.sh INPUT REGION
# REGION is X:Y:WIDTH:HEIGHT in samples, or a picture of any size, in which what is bright counts.
# FFMPEG names an ffmpeg with gpume [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT REGION" >&2
    exit 2
fi

ffmpeg() { "${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin "$@"; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

if [ -f "$2" ]; then
    # one sample for each block of 16x16
    ffmpeg -i "$2" -i "$1" -filter_complex '[0:v][1:v]scale=w=ceil(rw/16):h=ceil(rh/16):flags=area,format=gray' \
        -frames:v 1 -c:v rawvideo -f tee "[f=rawvideo]$tmp/mask|[f=framecrc]$tmp/size"
    cols=$(sed -n 's/^#dimensions 0: \([0-9]*\)x.*/\1/p' "$tmp/size")
    od -An -v -tu1 "$tmp/mask" | tr -s ' ' '\n' | grep . > "$tmp/blocks"
    region=0:0:0:0
elif printf '%s\n' "$2" | grep -qE '^[0-9]+(:[0-9]+){3}$'; then
    region=$2
    cols=0
    : > "$tmp/blocks"
else
    echo "REGION is X:Y:WIDTH:HEIGHT or the name of a picture, not $2" >&2
    exit 2
fi

ffmpeg -i "$1" -map 0:v:0 -vf gpume=algo=hme:block=16:mv_file=- -f null - > "$tmp/vectors"
awk -v region="$region" -v cols="$cols" '
    function tell() { if (nb) printf "%s %.3f %.3f\n", time, sum / nb, moving / nb; nb = sum = moving = 0 }
    BEGIN { split(region, r, ":") }
    FILENAME ~ /blocks$/ { mask[FNR - 1] = $1; next }
    FNR == 1 { FS = ","; $0 = $0; for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["framenum"] != frame { tell(); frame = $at["framenum"]; time = $at["pts_time"] }
    {
        x = $at["dstx"]; y = $at["dsty"]
        if (cols) inside = mask[int(y / 16) * cols + int(x / 16)] >= 128
        else inside = x >= r[1] && y >= r[2] && x < r[1] + r[3] && y < r[2] + r[4]
        if (!inside) next
        length_ = sqrt($at["motion_x"] ^ 2 + $at["motion_y"] ^ 2) / $at["motion_scale"]
        nb++; sum += length_; moving += length_ > 0.5
    }
    END { tell() }' "$tmp/blocks" "$tmp/vectors"
