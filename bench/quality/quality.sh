#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures gpume's vectors by ground truth, and beside other systems: 'make quality'.
#
# usage: quality.sh BIN_DIR [INPUT [GPL_BIN_DIR]]
# BIN_DIR has ffmpeg; INPUT is any clip, by default the demonstration's; GPL_BIN_DIR has an ffmpeg
# with libx264, whose partitions are compared with blocks of several sizes (tree=1). The results are
# quality.csv and, of the bits of vectors, rate.csv. Environment (defaults in brackets):
#   DATA           folders with ground truth, separated by colons [scenes that are drawn here]
#   METHODS        gpume's searches: the value of algo, then other options
#                  [fs ds epzs umh fs:smooth=2:check=1 umh:smooth=2:check=1 epzs:smooth=2:check=1 hme]
#   BLOCKS         sides of blocks [4 8 16]
#   RANGE          of searches that do not say it, but for hme [32]; scenes with faster motion
#                  have their own
#   PAIRS          most pairs of a group, spread over it; 0: all [24]
#   CLIP_FRAMES    frames of the clip [8], CLIP_SIZE [1280x720]; CLIP_FRAMES=0: no clip
#   RATES          searches whose fields have their bits counted, words; '': none [hme fs]
#   SPEED          0: no rates [1]
#   QUALITY_DIR    folder for results [build/quality]
#   PYTHON         [python3]; MVTools' packages want 3.12 or newer
#   NVOFA          gpume_bench, to measure NVIDIA's optical-flow hardware, too [none]

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
gpl=
if [ -x "${3-}/ffmpeg" ]; then
    gpl=$(cd "$3" && pwd)/ffmpeg
fi
cd "$top"
out=${QUALITY_DIR:-build/quality}
. bench/lib.sh

blocks=${BLOCKS:-4 8 16}
range=${RANGE:-32}
methods=${METHODS:-fs ds epzs umh fs:smooth=2:check=1 umh:smooth=2:check=1 epzs:smooth=2:check=1 hme}
clip_frames=${CLIP_FRAMES:-8}
clip_size=${CLIP_SIZE:-1280x720}
rates=${RATES-hme fs}
speed_size=1920x1080
pictures=4  # from the middle of the clip, repeated, as bench.sh does
python=${PYTHON:-python3}
venv=$out/venv

mkdir -p "$out"
trap 'rm -f "$out"/*.gray "$out/gpume_tried" "$out/costs.txt"' EXIT
trap 'exit 1' HUP INT TERM

# has MODULE: whether $python has it.
has() { "$python" -c "import $1" 2>/dev/null; }

# package MODULE PACKAGE...: has pip install what brings the module, unless it is there.
package() {
    module=$1
    shift
    if has "$module"; then
        return
    fi
    # only wheels: a compiler's run would take longer than the measurement; eager, because the
    # system's packages were compiled for the system's numpy
    if ! "$python" -m pip install -q --disable-pip-version-check --retries 1 --only-binary :all: \
            --upgrade --upgrade-strategy eager "$@" > "$out/pip.log" 2>&1; then
        say "left out: $*, pip cannot install it for $("$python" --version 2>&1)"
    fi
}

# Sets $python to one with numpy, and what there is of the peers' packages.
prepare_python() {
    system_python=$python
    if [ "$("$venv/bin/python" --version 2>&1)" != "$("$python" --version 2>&1)" ]; then
        rm -rf "$venv"  # there is none, or it is another Python's
    fi
    if [ -x "$venv/bin/python" ] ||
            "$python" -m venv --system-site-packages "$venv" > "$out/pip.log" 2>&1; then
        python=$venv/bin/python
        package numpy numpy
        package cv2 opencv-python-headless
        package matplotlib matplotlib
        package vapoursynth vapoursynth vapoursynth-mvtools  # for Python 3.12 and newer
    else
        rm -rf "$venv"
        say "no virtual environment: $python has what the system has (Debian's package: python3-venv)"
    fi
    if ! has numpy; then
        python=$system_python  # without a network, what the environment does not see
    fi
    has numpy || die "this needs Python 3 with numpy (Debian's package: python3-numpy)"
}

# The scenes are the same on every machine, but drawing them takes a minute.
draw_scenes() {
    sum=$(cat bench/quality/scenes.py bench/quality/pictures.py | cksum)
    if [ "$(cat "$out/scenes/sum" 2>/dev/null)" != "$sum" ]; then
        say "drawing scenes: $out/scenes"
        rm -rf "$out/scenes"
        "$python" bench/quality/scenes.py "$out/scenes"
        echo "$sum" > "$out/scenes/sum"
    fi
}

# count_costs FRAMES: sets 'costs' to a file of how many costs each search computes a block of
# the clip's first frames, each by its plain description in the tests.
count_costs() {
    costs=$out/costs.txt
    : > "$costs"
    if ! "${CC:-cc}" -O3 -w -o "$out/gpume_tried" bench/gpume_tried.c; then
        say "left out: how many costs a block takes, there is no compiler"
        return
    fi
    head -c $((${clip_size%x*} * ${clip_size#*x} * $1)) "$out/clip.gray" > "$out/first.gray"
    for block in $blocks; do
        # shellcheck disable=SC2086  # words
        "$out/gpume_tried" "${clip_size%x*}" "${clip_size#*x}" "$block" "$range" $methods \
            < "$out/first.gray" | sed "s/^/$block /" >> "$costs"
    done
}

# Sets $reader to FFmpeg's program that prints the vectors of a decoder, if there are libx264 and a clip.
prepare_x264() {
    reader=
    if [ "$clip_frames" -le 1 ]; then
        return
    elif [ -z "$gpl" ]; then
        say "left out: x264's partitions, there is no build under the GPL (make gpl)"
    elif ! make -s -C "$bin" doc/examples/extract_mvs > "$out/reader.log" 2>&1; then
        say "left out: x264's partitions, FFmpeg's extract_mvs cannot be built: $out/reader.log"
    else
        reader=$bin/doc/examples/extract_mvs
    fi
}

prepare_python
data=${DATA:-}
if [ -z "$data" ]; then
    draw_scenes
    data=$out/scenes
fi
set -- "${2-}"
take_clip "$1"
set --
rest=$data:
while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    [ -d "$folder" ] || die "DATA: there is no folder $folder"
    set -- "$@" --data "$folder"
done
costs=
speed=
middle=$(($(frames_of "$input") / 2))
if [ "$clip_frames" -gt 1 ]; then
    raw_luma "$clip_size" "$clip_frames" "$middle"
    mv "$out/$clip_size.gray" "$out/clip.gray"
    count_costs 2
    set -- "$@" --clip "$out/clip.gray" "$clip_size"
fi
if [ "${SPEED:-1}" != 0 ]; then
    raw_luma "$speed_size" $pictures "$middle"
    speed=$out/$speed_size.gray
fi
export MPLCONFIGDIR="$out/.matplotlib"
"$python" bench/quality/quality.py --ffmpeg "$bin/ffmpeg" --out "$out" --methods "$methods" \
    --blocks "$blocks" --range "$range" --pairs "${PAIRS:-24}" \
    ${costs:+--costs "$costs"} ${speed:+--speed "$speed" "$speed_size"} ${NVOFA:+--nvofa "$NVOFA"} "$@"
if [ -n "$rates" ]; then
    prepare_x264
    "$python" bench/quality/rate.py --ffmpeg "$bin/ffmpeg" --out "$out" --searches "$rates" \
        --range "$range" --pairs "${PAIRS:-24}" \
        ${reader:+--x264 "$gpl" --reader "$reader"} "$@"
fi
if has matplotlib; then
    for figures in "$out/quality.csv" ${rates:+"$out/rate.csv"}; do
        "$python" bench/quality/plot.py "$figures" "$out"
    done
else
    say "no plots: this needs Python 3 with matplotlib (Debian's package: python3-matplotlib)"
fi
