#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Leaves out every second frame of clips and has filters make them again: 'make bench-fps'.
#
# usage: fps.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is a clip that is measured, too, before the others. Environment
# (defaults in brackets):
#   GPUME_VIDEO    folder of clips [../shared/video]
#   FRAMES         of each clip [60], from frame START [20] on, where it has so many
#   SCENES         drawn clips with known intermediate frames, names in clips.py [all]
#   SCENE_FRAMES   of each of them [24]
#   TRIPLETS       folder of the sets of fps/triplets.py; they are measured, nothing else
#   METHODS        names in fps.py, separated by commas [all]
#   BENCH_RUNS     runs of each measurement of time [3]; 0: none
#   QUICK          1: few frames, few scenes, one run
#   METER          ffmpeg with libvmaf that compares pictures [that of BIN_DIR, with libvmaf or without]
#   BENCH_DIR      folder for results [build/bench-fps]
#   PYTHON         [python3]; VapourSynth's packages want 3.12 or newer
#   VAPOURSYNTH    command that runs Python with VapourSynth's plugins [PYTHON]

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
input=${2-}
out=${BENCH_DIR:-build/bench-fps}
. "$top/bench/lib.sh"
. bench/peers.sh
if [ "${QUICK:-0}" != 0 ]; then
    frames=${FRAMES:-20}
    scenes=${SCENES-layers-2 writing}
    scene_frames=${SCENE_FRAMES:-12}
    runs=${BENCH_RUNS:-1}
else
    frames=${FRAMES:-60}
    scenes=${SCENES-all}
    scene_frames=${SCENE_FRAMES:-24}
    runs=${BENCH_RUNS:-3}
fi

trap 'rm -f "$out"/*.nut "$out"/*.yuv "$out/psnr.txt" "$out/vmaf.json"' EXIT

take_meter "$bin/ffmpeg"

take_python
package "import numpy" numpy || die "this needs the Python package numpy, see $out/pip.log"
if [ -n "${TRIPLETS-}" ]; then
    exec "$python" bench/fps/triplets.py "$bin/ffmpeg" "$TRIPLETS"
fi
package "import matplotlib" matplotlib || say "left out: the picture, there is no matplotlib"
[ -n "${VAPOURSYNTH-}" ] || take_plugins "${METHODS:-MVTools}"

# add NAME: a clip for fps.py, whose frames are in NAME.nut, and every second one in NAME-half.nut
add() {
    ffmpeg -i "$out/$1.nut" -vf "select=not(mod(n\,2)),fps=25" -fps_mode passthrough \
        -c:v rawvideo -f nut "$out/$1-half.nut"
    clips="$clips --clip $1"
}
clips=

# take FILE: some frames of a clip, unless it is INPUT again or there is another clip with this name
take() {
    name=$(basename "${1%.*}" | tr -c 'A-Za-z0-9_\n' -)
    case "$clips " in
        *" $name "*) return ;;
    esac
    middle "$1" "$frames"
    count=$((count / 2 * 2))
    if [ $count -lt 10 ]; then
        say "left out: $1, which has too few frames"
        return
    fi
    ffmpeg -i "$1" -map 0:v:0 \
        -vf "trim=start_frame=$start:end_frame=$((start + count)),setpts=N/50/TB,fps=50,format=yuv420p" \
        -fps_mode passthrough -c:v rawvideo -f nut "$out/$name.nut"
    add "$name"
}
each_clip take "$input"

# The scenes are the same on every machine, but drawing them takes a minute or two.
sum=$(cat bench/fps/clips.py bench/quality/scenes.py | cksum)
[ "$scenes" != all ] || scenes=$("$python" bench/fps/clips.py)
for scene in $scenes; do
    drawn=$out/scenes/$scene-$scene_frames
    if [ "$(cat "$drawn.sum" 2>/dev/null)" != "$sum" ]; then
        say "drawing $scene"
        mkdir -p "$out/scenes"
        "$python" bench/fps/clips.py "$scene" "$scene_frames" > "$drawn.raw"
        echo "$sum" > "$drawn.sum"
    fi
    ffmpeg -f rawvideo -pixel_format yuv420p -video_size 640x360 -framerate 50 -i "$drawn.raw" \
        -c:v rawvideo -f nut "$out/$scene.nut"
    add "$scene"
done

# shellcheck disable=SC2086  # names without spaces
"$python" bench/fps/fps.py --ffmpeg "$bin/ffmpeg" --meter "$meter" $vmaf --out "$out" \
    --runs "$runs" --vapoursynth "${VAPOURSYNTH:-$python}" ${METHODS:+--methods "$METHODS"} $clips
