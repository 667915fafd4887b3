#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Maps where the lanes of warps diverge, line by line, on the tests' stand-in for the driver: 'make divergence'.
#
# usage: divergence.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is a clip, by default the demonstration's, whose pictures are taken from
# the first second on. Environment (defaults in brackets):
#   ALGO      searches of gpume; mvview, mvfps, mvdenoise; 'all' [ds fs]
#   BLOCK     [16]
#   RANGE     [32; for hme 256]
#   OPTIONS   more options of gpume, such as 'exhaustive=1'
#   SIZE      [1920x1080]
#   WORST     number of lines shown of each kernel [10]
#   FORMAT    -m: tables for Markdown
#   GPUME_STANDIN_SMS, GPUME_STANDIN_CC   the device that the kernels are launched for [132, 9.0]

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
folder=build/divergence
out=$folder
. "$top/bench/lib.sh"
size=${SIZE:-1920x1080}
block=${BLOCK:-16}
trap 'rm -f "$folder"/run.*' EXIT
algos=${ALGO:-ds fs}
if [ "$algos" = all ]; then
    algos="$(sed -n 's/^ *S([A-Z]*, *\([a-z]*\), .*/\1/p' core/searches.h) mvview mvfps mvdenoise"
fi
GPUME_STANDIN_SMS=${GPUME_STANDIN_SMS:-132}
GPUME_STANDIN_CC=${GPUME_STANDIN_CC:-9.0}
export GPUME_STANDIN_SMS GPUME_STANDIN_CC

for algo in $algos; do
    frames=2
    name=$algo-$block${RANGE:+-$RANGE}${OPTIONS:+-$(printf %s "$OPTIONS" | tr ':=' '-_')}-$size
    search=algo=$algo:block=$block:range=${RANGE:-$([ "$algo" = hme ] && echo 256 || echo 32)}
    case $algo in
        mvview)    search=algo=hme:block=$block
                   after=,mvview=mode=flow+arrows+blocks:legend=1 ;;
        mvfps)     search=algo=hme:block=$block:dir=both
                   after=,mvfps=fps=2x
                   frames=3 ;;
        mvdenoise) search=algo=hme:block=$block:dir=both:smooth=8:sweeps=2:refs=2
                   after=,mvdenoise=sigma=10
                   frames=5 ;;
        *)         after= ;;
    esac
    yuv=$size-$frames.yuv
    if [ ! -f "$folder/$yuv" ] || [ -n "${2-}" ]; then
        take_clip "${2-}"
        # bitexact, so that the scaled pictures do not depend on the processor
        ffmpeg -i "$input" -map 0:v:0 \
            -vf "trim=start=1,setpts=PTS-STARTPTS,scale=${size%x*}:${size#*x}:flags=bicubic+bitexact+accurate_rnd,format=yuv420p" \
            -fps_mode passthrough -frames:v $frames -f rawvideo "$folder/$yuv"
    fi
    graph=gpume=$search${OPTIONS:+:$OPTIONS}$after
    rm -f "$folder/$name.csv"
    LD_LIBRARY_PATH=build/standin-divergence${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        GPUME_STANDIN_DIVERGENCE=$folder/$name.csv \
        "$bin/ffmpeg" -hide_banner -nostdin -loglevel error -init_hw_device cuda=cu -filter_hw_device cu -f rawvideo \
        -pixel_format yuv420p -video_size "$size" -i "$folder/$yuv" -vf "hwupload,$graph" -frames:v $frames -f null -
    say "$algo: $graph, $size, $frames frames"
    # shellcheck disable=SC2086  # none or one
    tests/standin/divergence.py table ${FORMAT-} -n "${WORST:-10}" "$folder/$name.csv"
    say "map: $folder/$name.csv"
done
