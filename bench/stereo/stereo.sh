#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares the maps of mvstereo and of OpenCV with the true ones: 'make bench-stereo'.
#
# usage: stereo.sh BIN_DIR
# Environment (defaults in brackets):
#   DATA           folder of pairs, see bench/README.md [../shared/stereo]
#   CONDITIONS     names in stereo.py, separated by commas [all]
#   METHODS        names in stereo.py, separated by commas [all]
#   BENCH_DIR      folder for results [build/bench-stereo]
#   PYTHON         [python3]

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1" && pwd)
out=${BENCH_DIR:-build/bench-stereo}
data=${DATA:-../shared/stereo}
. "$top/bench/lib.sh"
. bench/peers.sh

[ -d "$data" ] || die "DATA: there is no folder $data"
take_python
package "import numpy, cv2" numpy opencv-python-headless ||
    die "this needs the Python packages numpy and opencv-python-headless, see $out/pip.log"
"$python" bench/stereo/stereo.py "$bin/ffmpeg" "$data" "$out" "${CONDITIONS-}" "${METHODS-}"
"$python" bench/stereo/flicker.py "$bin/ffmpeg" "$data" > "$out/flicker.txt"
cat "$out/flicker.txt"
say "numbers: $out/stereo.csv; errors: $out/PAIR-CONDITION-METHOD.png (red: off by more than one sample)"
