#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures what encoders make of vectors and hints: 'make bench-encode'.
#
# usage: encode.sh BIN_DIR GPL_BIN_DIR [INPUT]
# BIN_DIR has ffmpeg, GPL_BIN_DIR one with libx264; without it that part is left out. INPUT is a
# clip that is measured, too. Environment (defaults in brackets):
#   GPUME_VIDEO   folder of clips [../shared/video]
#   FRAMES        of each clip [120]
#   FIELDS        gpume's options, words [hme:block=8 hme:tree=1 hme:block=16 fs fs:smooth=4 umh]
#   ENCODERS      names in encode.py, separated by commas [all]
#   PRESETS       of libx264 [ultrafast veryfast medium slow]
#   BENCH_RUNS    runs of each measurement of time [3]
#   BENCH_DIR     folder for results [build/bench-encode]

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
gpl=$2/ffmpeg
input=${3-}
out=${BENCH_DIR:-build/bench-encode}
. "$top/bench/lib.sh"
. bench/peers.sh
frames=${FRAMES:-120}
fields=${FIELDS-algo=hme:block=8 algo=hme:tree=1 algo=hme:block=16 algo=fs algo=fs:smooth=4 algo=umh}

trap 'rm -f "$out"/*.nut' EXIT

take_python
package "import numpy, bjontegaard" numpy bjontegaard ||
    die "this needs the Python packages numpy and bjontegaard, see $out/pip.log"

# raw NAME INPUT_OPTIONS...: a clip that costs next to nothing to read.
raw() {
    name=$1
    shift
    ffmpeg "$@" -map 0:v:0 -vf format=yuv420p -frames:v "$frames" -fps_mode passthrough \
        -c:v rawvideo -f nut "$out/$name.nut"
}

# still PICTURE VIDEO: a picture of one clip stands, another one plays in its corner.
still() {
    at=$((frames * 3 / 4))
    ffmpeg -i "$1" -i "$2" -filter_complex "
        [0:v]trim=start_frame=$at:end_frame=$((at + 1)),scale=1280:720,loop=-1:1,setpts=N/25/TB[p];
        [1:v]scale=176:144,setpts=N/25/TB[f];
        [p][f]overlay=W-w-48:H-h-36:shortest=1:format=yuv420,format=yuv420p" \
        -frames:v "$frames" -fps_mode passthrough -c:v rawvideo -f nut "$out/still.nut"
}

picture=
video=
clips=
add() {
    raw "$(basename "${1%.*}" | tr -c 'A-Za-z0-9_\n' -)" -i "$1"
    video=$out/$name.nut
    picture=${picture:-$video}
    clips="$clips --clip $name=$video"
}
each_clip add "$input"
# shellcheck disable=SC2086  # names without spaces
set -- $clips
raw zoom -f lavfi -i mandelbrot=s=640x352:r=25:end_pts=200
set -- "$@" --clip "zoom=$out/zoom.nut"
if [ -x "$gpl" ]; then
    set -- "$@" --gpl "$gpl"
    if [ -n "$picture" ]; then
        still "$picture" "$video"
        set -- "$@" --screen "still=$out/still.nut"
    fi
    for scene in insert scrolling typing; do
        "$python" bench/encode/screens.py $scene 1280 720 "$frames" |
            ffmpeg -f rawvideo -pixel_format yuv420p -video_size 1280x720 -i pipe:0 \
                -c:v rawvideo -f nut "$out/$scene.nut"
        set -- "$@" --screen "$scene=$out/$scene.nut"
    done
else
    say "left out: libx264, there is no build under the GPL (Debian's package: libx264-dev)"
fi
"$python" bench/encode/encode.py --ffmpeg "$bin/ffmpeg" --out "$out" \
    --runs "${BENCH_RUNS:-3}" --fields "$fields" --presets "${PRESETS-ultrafast veryfast medium slow}" \
    ${ENCODERS:+--encoders "$ENCODERS"} "$@"
say "figures: $out/encode.csv"
