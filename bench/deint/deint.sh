#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Interlaces scenes and clips, and compares what filters make of them with the scenes and clips: 'make bench-deint'.
#
# usage: deint.sh BIN_DIR GPL_BIN_DIR [INPUT]
# GPL_BIN_DIR has an ffmpeg with the filters that are not in the usual build (mcdeint); without it BIN_DIR's does
# what it can. INPUT is a clip that is measured before the others. Environment (defaults in brackets):
#   FFMPEG         another ffmpeg with mvdeint
#   GPUME_VIDEO    folder of clips [../shared/video]
#   BENCH_DIR      folder for results [build/bench-deint]
#   PYTHON         [python3], with numpy
#   SCENES         names of the scenes, or 'none' [all]
#   FRAMES, START, CROP, VSPYTHON, VSPATH   see deint.py; FRAMES, PHOTO: scenes.py
# The exit status is 1 if mvdeint is below bwdif in a scene.

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
program=${FFMPEG:-$2/ffmpeg}
out=${BENCH_DIR:-build/bench-deint}
. "$top/bench/lib.sh"
[ -x "$program" ] || program=$bin/ffmpeg
set -- ${3:+"$3"}
for clip in "${GPUME_VIDEO:-../shared/video}"/*.mp4 "${GPUME_VIDEO:-../shared/video}"/*.mkv "${GPUME_VIDEO:-../shared/video}"/*.y4m; do
    if [ -f "$clip" ]; then
        set -- "$@" "$clip"
    fi
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
