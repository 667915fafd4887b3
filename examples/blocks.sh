#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Divides each frame of a video into blocks of several sizes, as an encoder would, and draws them. Prints how many
# blocks of each size the frames have.
#
# usage: blocks.sh INPUT OUTPUT [QP]
# QP, 0 to 51, is the quantiser of the encoder [28]; the higher it is, the fewer blocks there are.
# FFMPEG names an ffmpeg with gpume and mvview [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [QP]" >&2
    exit 2
fi

stats=$(mktemp)
trap 'rm -f "$stats"' EXIT
trap 'exit 1' HUP INT TERM
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map '0:v:0' -map '0:a?' -c:a copy \
    -vf "gpume=algo=hme:tree=1:qp=${3:-28}:stats_file=$stats,mvview=mode=blocks:background=gray" \
    -c:v h264 -b:v 8M "$2"
awk '{ line = ""
       for (i = 1; i <= NF; i++)
           if (split($i, a, ":") == 2 && sub(/^leaves/, "", a[1]))
               line = line "  " a[1] "x" a[1] ": " a[2]
       split($1, n, ":")
       print "frame " n[2] line }' "$stats"
