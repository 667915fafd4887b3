#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds noise to clips and has filters take it out again: 'make bench-denoise'.
#
# usage: denoise.sh BIN_DIR GPL_BIN_DIR [INPUT]
# GPL_BIN_DIR has an ffmpeg with the filters that are not in the usual build, and libx264; without it
# BIN_DIR's does what it can. INPUT is a clip that is measured before the others. Environment (defaults
# in brackets):
#   FFMPEG         another ffmpeg with mvdenoise, the other filters and libx264
#   GPUME_VIDEO    folder of clips [../shared/video]; without any, and without INPUT, the demonstration's clip
#   FRAMES         of each clip [19], from frame START [20] on, where it has so many
#   CROP           of these the middle part of at most this size [640x360]; rates are those of whole frames
#   SIGMAS         of the noise, in 8-bit samples [5 10 20 40]
#   METHODS        names in denoise.py, separated by commas [all]
#   NOISES         names in noise.py, separated by commas [all]; none
#   ENCODERS       names in gain.py and coded.py, separated by commas [all]; none
#   SEQUENCES      folder of the sequences of denoise/sequences.py; they are measured, nothing else;
#                  for them FRAMES is [11] and CROP [320x240]
#   BENCH_RUNS     runs of each measurement of time [3]; 0: none
#   QUICK          1: few frames and methods, one sigma, one run
#   METER          ffmpeg with libvmaf that compares pictures [that of BIN_DIR, with libvmaf or without]
#   BENCH_DIR      folder for results [build/bench-denoise]
#   PYTHON         [python3]; MVTools' packages want 3.12 or newer

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
program=${FFMPEG:-$2/ffmpeg}
input=${3-}
out=${BENCH_DIR:-build/bench-denoise}
. "$top/bench/lib.sh"
. bench/peers.sh
if [ "${QUICK:-0}" != 0 ]; then
    frames=${FRAMES:-9}
    sigmas=${SIGMAS:-10}
    runs=${BENCH_RUNS:-1}
    crop=${CROP:-320x180}
    methods=${METHODS:-nlmeans,mvdenoise radius=0,mvdenoise}
    gain=${ENCODERS-mpeg4}
    noises=${NOISES-white 10}
else
    frames=${FRAMES:-19}
    sigmas=${SIGMAS:-5 10 20 40}
    runs=${BENCH_RUNS:-3}
    crop=${CROP:-640x360}
    methods=${METHODS-}
    gain=${ENCODERS-all}
    noises=${NOISES-all}
fi

trap 'rm -f "$out"/*.yuv "$out"/*.nut "$out/psnr.txt" "$out/vmaf.json"' EXIT

if [ ! -x "$program" ]; then
    [ -z "${FFMPEG-}" ] || die "FFMPEG: cannot run $FFMPEG"
    program=$bin/ffmpeg
    say "left out: filters and libx264 that $program does not have; there is no build under the GPL (Debian's package: libx264-dev)"
fi
take_meter "$bin/ffmpeg"
take_python
package "import numpy" numpy || die "this needs the Python package numpy, see $out/pip.log"
if [ -n "${SEQUENCES-}" ]; then
    exec "$python" bench/denoise/sequences.py "$bin/ffmpeg" "$SEQUENCES"
fi
package "import matplotlib" matplotlib || say "left out: the picture, there is no matplotlib"
take_plugins "${methods:-MVTools V-BM3D}"

# add FILE: the middle of a clip as NAME.yuv and, of the first one, its whole frames as NAME-whole.yuv
clips=
files=
add() {
    files="$files $1"
    name=$(basename "${1%.*}" | tr -c 'A-Za-z0-9_\n' -)
    middle "$1" "$frames"
    for part in "" -whole; do
        area=iw:ih
        [ "$part" ] || area="min(${crop%x*}\,iw):min(${crop#*x}\,ih)"
        ffmpeg -loglevel info -i "$1" -map 0:v:0 \
            -vf "trim=start_frame=$start:end_frame=$((start + count)),format=yuv420p,crop=$area,crop=trunc(iw/2)*2:trunc(ih/2)*2" \
            -fps_mode passthrough -f rawvideo "$out/$name$part.yuv" 2> "$out/clip.log" ||
            die "cannot read $1, see $out/clip.log"
        size=$(sed -n '/^Output/,$s/.*Video:.* \([0-9]*x[0-9]*\).*/\1/p' "$out/clip.log")
        [ "$part" ] || clips="$clips --clip $name:$size"
        [ -z "$part" ] || clips="$clips --whole $name-whole:$size"
        [ $first = 1 ] || break
    done
    first=0
}

first=1
each_clip add "$input"
if [ $first = 1 ]; then
    take_clip ""
    add "$input"
fi

# shellcheck disable=SC2086  # names without spaces
"$python" bench/denoise/denoise.py --ffmpeg "$program" --meter "$meter" $vmaf --out "$out" --runs "$runs" \
    --sigmas "$sigmas" ${methods:+--methods "$methods"} $clips
if [ "${noises:-none}" != none ]; then
    # shellcheck disable=SC2086
    "$python" bench/denoise/noise.py --ffmpeg "$bin/ffmpeg" --encoder "$program" --out "$out" --noises "$noises" $files
fi
[ "${gain:-none}" != none ] || exit 0
# shellcheck disable=SC2086
"$python" bench/denoise/gain.py --ffmpeg "$program" --out "$out" --runs "$runs" --sigmas "$sigmas" --encoders "$gain" $clips
# shellcheck disable=SC2086,SC2046
"$python" bench/denoise/coded.py --ffmpeg "$program" --meter "$meter" $vmaf --out "$out" --sigmas "$sigmas" \
    --encoders "$gain" ${methods:+--methods "$methods"} $(echo " $clips" | sed 's/ --whole [^ ]*//')
