#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Splits a video at its cuts: where the value 'cut' in stats_file is 1, a scene begins.
#
# usage: split-at-cuts.sh INPUT FOLDER
# Writes FOLDER/cuts.txt, the first frame of each scene and its time in seconds, and the scenes
# as FOLDER/000.mkv, 001.mkv ... They are encoded again (MPEG-4, quantizer 3), so that each begins
# with a key frame. FFMPEG names an ffmpeg with gpume [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT FOLDER" >&2
    exit 2
fi
if [ ! -r "$1" ]; then
    echo "cannot read $1" >&2
    exit 1
fi
stats=$(mktemp "${TMPDIR:-/tmp}/split-at-cuts.XXXXXX")
trap 'rm -f "$stats"' EXIT

# One pass over a small copy is enough to find cuts. fps makes frame n begin at n/25 s; encoding uses
# the same rate.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -i "$1" -map 0:v:0 \
    -vf "fps=25,scale=320:-2,gpume=algo=hme:block=16:pel=1:stats_file=-" -f null - > "$stats"
mkdir -p "$2"
awk '
    { for (i = 1; i <= NF; i++) { split($i, pair, ":"); value[pair[1]] = pair[2] } }
    value["cut"] == 1 { printf "%d %.2f\n", value["n"] - 1, (value["n"] - 1) / 25 }
' "$stats" > "$2/cuts.txt"

frames=$(cut -d ' ' -f 1 "$2/cuts.txt" | paste -s -d , -)
if [ -z "$frames" ]; then
    echo "$1 has no cut" >&2
    frames=1000000000   # one scene
fi
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map 0:v:0 -vf fps=25 \
    -c:v h264 -b:v 8M -force_key_frames "expr:eq(n,0)$(
        echo "$frames" | tr , '\n' | sed 's/.*/+eq(n,&)/' | tr -d '\n')" \
    -f segment -segment_frames "$frames" -reset_timestamps 1 "$2/%03d.mkv"
