#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shakes pictures, and compares what mvstab and others make of them with the truth: 'make bench-stab'.
#
# usage: stab.sh BIN_DIR [INPUT]
# INPUT is a clip of two pictures. Environment (defaults in brackets):
#   FFMPEG      another ffmpeg with mvstab
#   VIDSTAB     an ffmpeg with vid.stab, such as Debian's [none]
#   BENCH_DIR   folder for results [build/bench-stab]
#   PYTHON      [python3], with numpy; OpenCV, and VapourSynth with MVUtensils, are compared; matplotlib draws paths
#   SCENES      names of the scenes [all]
#   FRAMES      frames of a scene [60]

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
program=${FFMPEG:-$(cd "$1" && pwd)/ffmpeg}
out=${BENCH_DIR:-build/bench-stab}
. "$top/bench/lib.sh"
clip=${2:-../shared/video/bigbuckbunny.mp4}
python=${PYTHON:-python3}
[ -r "$clip" ] || die "there is no clip $clip; INPUT=FILE names one"
# shellcheck disable=SC2086 # names
"$python" bench/stab/scenes.py "$program" "$clip" "$out" ${SCENES:-}
# shellcheck disable=SC2086
"$python" bench/stab/stab.py "$program" "$out" "$out/stab.csv" ${SCENES:-}
