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
#   METHODS        names in fps.py, separated by commas [all]
#   BENCH_RUNS     runs of each measurement of time [3]; 0: none
#   QUICK          1: few frames, few scenes, one run
#   METER          ffmpeg with libvmaf that compares pictures [that of BIN_DIR, with libvmaf or without]
#   BENCH_DIR      folder for results [build/bench-fps]
#   PYTHON         [python3]; MVTools' packages want 3.12 or newer

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
input=${2-}
cd "$top"
out=${BENCH_DIR:-build/bench-fps}
. bench/lib.sh
python=${PYTHON:-python3}
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

mkdir -p "$out"
trap 'rm -f "$out"/*.nut "$out"/*.yuv "$out/psnr.txt" "$out/vmaf.json"' EXIT
trap 'exit 1' HUP INT TERM

# can_vmaf PROGRAM: whether it measures VMAF; sets 'why' if not.
can_vmaf() {
    if ! "$1" -hide_banner -filters > "$out/meter.log" 2>&1; then
        why="it does not run"
    elif ! grep -q ' libvmaf ' "$out/meter.log"; then
        why="it has no libvmaf"
    elif ! head -c 49152 /dev/zero | "$1" -v error -f rawvideo -pixel_format yuv420p -video_size 128x128 -i - \
            -filter_complex "split,libvmaf=log_fmt=json:log_path=$out/vmaf.json" -fps_mode passthrough \
            -f null - > "$out/meter.log" 2>&1; then
        why="it fails, see $out/meter.log"
    elif ! grep -q pooled_metrics "$out/vmaf.json"; then
        why="its libvmaf is older than version 2"
    else
        return 0
    fi
    return 1
}
meter=${METER:-$bin/ffmpeg}
vmaf=
if can_vmaf "$meter"; then
    vmaf=--vmaf
elif [ "${METER:-}" ]; then
    die "METER: $METER cannot measure VMAF: $why"
else
    say "left out: VMAF, $meter: $why (METER=PROGRAM takes another ffmpeg)"
fi

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    die "PYTHON: cannot run $python"
venv=$out/venv
if [ "$("$venv/bin/python" --version 2>&1)" != "$("$python" --version 2>&1)" ]; then
    rm -rf "$venv"
    if ! "$python" -m venv --system-site-packages "$venv" > "$out/pip.log" 2>&1; then
        rm -rf "$venv"
        die "PYTHON: $python makes no virtual environments (Debian's package: python3-venv), see $out/pip.log"
    fi
fi
python=$venv/bin/python
export MPLCONFIGDIR="$out/.matplotlib"

# package CODE PACKAGE...: has pip install what this code wants, unless it is there.
package() {
    code=$1
    shift
    if ! "$python" -c "$code" 2>/dev/null; then
        "$python" -m pip install -q --disable-pip-version-check --retries 1 --only-binary :all: \
            "$@" > "$out/pip.log" 2>&1 && "$python" -c "$code" >> "$out/pip.log" 2>&1
    fi
}
package "import numpy" numpy || die "this needs the Python package numpy, see $out/pip.log"
package "import matplotlib" matplotlib || say "left out: the plot and the picture, there is no matplotlib"
case ${METHODS:-MVTools} in
    *MVTools*) mvtools="import vapoursynth; vapoursynth.core.mv" ;;
    *)         mvtools=pass ;;
esac
if ! package "$mvtools" vapoursynth vapoursynth-mvtools; then
    case $version in
        2.* | 3.? | 3.1[01]) why="it needs Python 3.12 or newer (PYTHON=PROGRAM), this is $version" ;;
        *)                   why="pip cannot install it for Python $version, see $out/pip.log" ;;
    esac
    say "left out: MVTools, $why"
fi

# add NAME: a clip for fps.py, whose frames are in NAME.nut, and every second one in NAME-half.nut
add() {
    ffmpeg -i "$out/$1.nut" -vf "select=not(mod(n\,2)),fps=25" -fps_mode passthrough \
        -c:v rawvideo -f nut "$out/$1-half.nut"
    clips="$clips --clip $1"
}
clips=

for f in "$input" "${GPUME_VIDEO:-../shared/video}"/*.mp4 "${GPUME_VIDEO:-../shared/video}"/*.y4m; do
    if [ ! -f "$f" ]; then
        [ "$f" != "$input" ] || [ -z "$f" ] || die "INPUT: cannot read $f"
        continue
    fi
    if [ -n "$clips" ] && [ -n "$input" ] && cmp -s "$f" "$input"; then
        continue  # it was the first one
    fi
    name=$(basename "${f%.*}" | tr -c 'A-Za-z0-9_\n' -)
    case "$clips " in
        *" $name "*)
            say "left out: $f, there is another clip with this name"
            continue ;;
    esac
    there=$(frames_of "$f") || die "cannot read $f"
    start=${START:-20}
    count=$frames
    [ "$count" -le "$there" ] || count=$there
    [ $((start + count)) -le "$there" ] || start=$((there - count))
    count=$((count / 2 * 2))
    if [ $count -lt 10 ]; then
        say "left out: $f, which has too few frames"
        continue
    fi
    ffmpeg -i "$f" -map 0:v:0 \
        -vf "trim=start_frame=$start:end_frame=$((start + count)),setpts=N/50/TB,fps=50,format=yuv420p" \
        -fps_mode passthrough -c:v rawvideo -f nut "$out/$name.nut"
    add "$name"
    # one is enough for a look
    [ "${QUICK:-0}" = 0 ] || break
done

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
    --runs "$runs" ${METHODS:+--methods "$METHODS"} $clips
