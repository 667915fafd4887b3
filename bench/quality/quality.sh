#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures gpume's vectors by ground truth, and beside other systems: 'make quality'.
#
# usage: quality.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is any clip for the rates, by default the demonstration's. The results are in
# quality.csv. Environment (defaults in brackets):
#   DATA           folders with ground truth, separated by colons [scenes that are drawn here]
#   METHODS        gpume's searches: the value of algo, then other options
#                  [fs ds epzs umh fs:smooth=2:check=1 umh:smooth=2:check=1 epzs:smooth=2:check=1 hme]
#   BLOCKS         sides of blocks [4 8 16]
#   RANGE          of searches that do not say it, but for hme [32]; scenes with faster motion
#                  have their own
#   SPEED          0: no rates [1]
#   QUALITY_DIR    folder for results [build/quality]
#   PYTHON         [python3]; MVTools' packages want 3.12 or newer
#   NVOFA          gpume_bench, to measure NVIDIA's optical-flow hardware, too [none]

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
out=${QUALITY_DIR:-build/quality}
. "$top/bench/lib.sh"
. bench/peers.sh

blocks=${BLOCKS:-4 8 16}
range=${RANGE:-32}
methods=${METHODS:-fs ds epzs umh fs:smooth=2:check=1 umh:smooth=2:check=1 epzs:smooth=2:check=1 hme}
speed_size=1920x1080
pictures=4  # from the middle of the clip, repeated, as bench.sh does

trap 'rm -f "$out"/*.gray' EXIT

# The scenes are the same on every machine, but drawing them takes a minute.
draw_scenes() {
    sum=$(cat bench/quality/scenes.py bench/quality/pairs.py | cksum)
    if [ "$(cat "$out/scenes/sum" 2>/dev/null)" != "$sum" ]; then
        say "drawing scenes: $out/scenes"
        rm -rf "$out/scenes"
        "$python" bench/quality/scenes.py "$out/scenes"
        echo "$sum" > "$out/scenes/sum"
    fi
}

take_python
package "import numpy" numpy || die "this needs Python 3 with numpy (Debian's package: python3-numpy)"
package "import cv2" opencv-python-headless || say "left out: OpenCV, see $out/pip.log"
take_plugins MVTools
data=${DATA:-}
if [ -z "$data" ]; then
    draw_scenes
    data=$out/scenes
fi
input=${2-}
set --
rest=$data:
while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    [ -d "$folder" ] || die "DATA: there is no folder $folder"
    set -- "$@" --data "$folder"
done
speed=
if [ "${SPEED:-1}" != 0 ]; then
    take_clip "$input"
    raw_luma "$speed_size" $pictures $(($(frames_of "$input") / 2))
    speed=$out/$speed_size.gray
fi
"$python" bench/quality/quality.py --ffmpeg "$bin/ffmpeg" --out "$out" --methods "$methods" \
    --blocks "$blocks" --range "$range" ${speed:+--speed "$speed" "$speed_size"} ${NVOFA:+--nvofa "$NVOFA"} "$@"
