#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Interlaces scenes and clips, and compares what filters make of them with the scenes and clips: 'make bench-deint'.
#
# usage: deint.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is a clip that is measured before the others. Environment (defaults in brackets):
#   FFMPEG         another ffmpeg with mvdeint; one under the GPL can have mcdeint, too
#   GPUME_VIDEO    folder of clips [../shared/video]
#   BENCH_DIR      folder for results [build/bench-deint]
#   PYTHON         [python3], with numpy
#   SCENES         names of the scenes, or 'none' [all]
#   FRAMES, START, CROP, VSPYTHON, VSPATH   see deint.py; FRAMES, PHOTO: scenes.py
# The exit status is 1 if mvdeint is below bwdif in a scene.

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
program=${FFMPEG:-$(cd "$1" && pwd)/ffmpeg}
out=${BENCH_DIR:-build/bench-deint}
. "$top/bench/lib.sh"
videos=${GPUME_VIDEO:-../shared/video}
set -- ${2:+"$2"}
for clip in "$videos"/*.mp4 "$videos"/*.mkv "$videos"/*.y4m; do
    [ ! -f "$clip" ] || set -- "$@" "$clip"
done
python=${PYTHON:-python3}
status=0
if [ "${SCENES:-}" != none ]; then
    # shellcheck disable=SC2086 # names
    "$python" bench/deint/scenes.py "$out" "$program" ${SCENES:-} || status=$?
fi
if [ $# = 0 ]; then
    say "there is no clip; INPUT=FILE or GPUME_VIDEO=FOLDER names some"
    exit $status
fi
"$python" bench/deint/deint.py "$out" "$program" "$@"
cat "$out/table.md"
exit $status
