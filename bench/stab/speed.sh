#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares the processor time of mvstab with that of vid.stab's two passes: user time for a frame of 1080p, in ms,
# without that of decoding. The programs take turns; the least of all runs counts.
#
# usage: VIDSTAB=FFMPEG speed.sh FFMPEG [CLIP]
# VIDSTAB has vid.stab, such as Debian's ffmpeg. CLIP is scaled and shaken. Environment (defaults in brackets):
#   FRAMES [60]   RUNS [3]   THREADS: numbers of threads ["1 2"]

set -eu
LC_ALL=C
export LC_ALL
ours=$1 clip=${2:-../shared/video/bigbuckbunny.mp4} nb=${FRAMES:-60}
theirs=${VIDSTAB:?names an ffmpeg with vid.stab}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$ours" -v error -i "$clip" -vf "scale=1952:1098:flags=lanczos,crop=1920:1080:16+mod(n*7\,13):9+mod(n*5\,9),format=yuv420p" \
    -frames:v "$nb" -c:v ffv1 -level 3 -g 1 "$tmp/clip.nut"

# User time of a program with a filter, in ms
user_ms()
{
    OMP_NUM_THREADS=$threads "$1" -v info -benchmark -threads 1 -filter_threads "$threads" -i "$tmp/clip.nut" \
        -vf "$2" -f null - 2>&1 | sed -n 's/.*bench: utime=\([0-9]*\)\.\([0-9]*\)s.*/\1\2/p' | tail -1 | sed 's/^0*\(.\)/\1/'
}

for threads in ${THREADS:-1 2}; do
    : > "$tmp/times"
    for run in $(seq "${RUNS:-3}"); do
        echo "$run" \
            "$(user_ms "$ours" null)" "$(user_ms "$ours" mvstab)" "$(user_ms "$ours" mvstab=mode=tripod)" \
            "$(user_ms "$theirs" null)" "$(user_ms "$theirs" "vidstabdetect=result=$tmp/path.trf")" \
            "$(user_ms "$theirs" "vidstabtransform=input=$tmp/path.trf")" >> "$tmp/times"
    done
    awk -v nb="$nb" -v threads="$threads" '
        { for (i = 2; i <= 7; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
        END {
            printf "%d threads: mvstab %.1f, mode=tripod %.1f, vidstabdetect %.1f, vidstabtransform %.1f ms\n", threads,
                   (least[3] - least[2]) / nb, (least[4] - least[2]) / nb,
                   (least[6] - least[5]) / nb, (least[7] - least[5]) / nb
        }' "$tmp/times"
done
