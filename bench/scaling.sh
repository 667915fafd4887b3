#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures searches, mvfps, mvdeint, mvstab and mvstereo on the CPU by the number of threads: 'make bench-scaling'.
#
# usage: scaling.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is any clip, by default pictures that ffmpeg draws. Environment
# (defaults in brackets):
#   BENCH_THREADS  numbers of threads [1 2 4 8 16]
#   BENCH_SIZES    [1920x1080]
#   BENCH_RUNS     runs of each measurement [3]
#   BENCH_SECONDS  approximate length of a run [1]
#   BENCH_DIR      folder for results [build/bench]

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
out=${BENCH_DIR:-build/bench}
runs=${BENCH_RUNS:-3}
. "$top/bench/lib.sh"

input=${2-}
numbers=${BENCH_THREADS:-1 2 4 8 16}
seconds=${BENCH_SECONDS:-1}
# Number of pictures, which are held in memory and repeated.
pictures=12

raw=$(mktemp "$( [ -w /dev/shm ] && echo /dev/shm || echo "$out" )/scaling.XXXXXX")
trap 'rm -f "$raw" "$out"/run.*' EXIT

take_pictures() {
    if [ -n "$input" ]; then
        set -- "$1" -ss "${BENCH_START:-0}" -i "$input" -map 0:v:0 -vf "scale=$1:flags=lanczos,format=yuv420p"
    else
        set -- "$1" -f lavfi \
            -i "mandelbrot=size=$1:rate=25:start_scale=0.6:end_pts=60,noise=alls=4:allf=t,format=yuv420p"
    fi
    shift
    ffmpeg "$@" -fps_mode passthrough -frames:v $pictures -f rawvideo "$raw"
}

# chain THREADS FRAMES FILTERS: prints the seconds that the filters need. The pictures are read once; cloning
# a frame costs next to nothing.
chain() {
    run_seconds -filter_threads "$1" -f rawvideo -pixel_format yuv420p -video_size "$size" -framerate 25 \
        -i "$raw" -vf "loop=-1:$pictures,trim=end_frame=$2,$3" -fps_mode passthrough
}

# measure NAME FILTERS: prints a line of the table.
measure() {
    printf '%-22s' "$1"
    one=
    for n in $numbers; do
        t=$(chain "$n" $((2 * pictures)) "$2")
        frames=$(awk "BEGIN { n = int(2 * $seconds / ($t + 1e-3) + 1); print $pictures * (n > 500 ? 500 : n) }")
        # shellcheck disable=SC2046  # numbers
        set -- "$1" "$2" $(repeat "$runs" chain "$n" "$frames" "$2" | awk -v n="$frames" '{ print n / $1 }' | median)
        row scaling "$1" "${input:+clip}" "$size" '' '' 8 "$n" 'rate by threads' fps "$3" "$4" "$5" "$6"
        one=${one:-$5}
        printf ' %9.1f %6s' "$5" "$(awk "BEGIN { printf \"(%.1f)\", $5 / $one }")"
    done
    echo
}

begin scaling
say "frames/s, the highest of $runs runs, by number of threads; in brackets relative to the first number;"
say "pictures: ${input:-drawn by ffmpeg}, $pictures frames held in memory; $(nproc 2>/dev/null || echo '?') cores"
for size in ${BENCH_SIZES:-1920x1080}; do
    take_pictures "$size"
    echo
    printf '%-22s' "$size"
    # shellcheck disable=SC2086  # numbers
    printf ' %9d       ' $numbers
    echo
    measure 'hme 8x8'   gpume=algo=hme:block=8:backend=cpu
    measure 'umh 16x16' gpume=algo=umh:block=16:range=16:backend=cpu
    measure 'fs 16x16'  gpume=algo=fs:block=16:range=16:backend=cpu
    measure 'hme 8x8 both + mvfps' gpume=algo=hme:block=8:dir=both:backend=cpu,mvfps=fps=50
    measure 'mvdeint passes=1' setfield=tff,mvdeint=passes=1
    measure mvstab mvstab
    measure 'mvstab tripod' mvstab=mode=tripod
    # parts of the same picture are views 32 samples apart
    views='split[l][r];[l]crop=iw-32:ih:0:0[l];[r]crop=iw-32:ih:32:0[r];[l][r]mvstereo=inputs=2:max=128:backend=cpu'
    measure mvstereo "$views"
done
finish
