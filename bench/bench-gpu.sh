#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the searches cost on the GPU: kernels alone, whole pipelines, the start.
#
# usage: bench-gpu.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg and gpume_bench; results go to build/bench/. INPUT is a clip
# that the GPU can decode (H.264 720p, some seconds); without it the
# demonstration's clip is used.

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tools/common.sh

bin=$1
input=${2-}
out=${BENCH_DIR:-build/bench}
runs=${BENCH_RUNS:-5}
sizes='1280x720 1920x1080 3840x2160'

ffmpeg() { "$bin/ffmpeg" -hide_banner -nostdin -loglevel error -y "$@"; }

# The command's wall-clock seconds.
seconds() {
    start=$(date +%s.%N)
    "$@" || return
    echo "$start $(date +%s.%N)" | awk '{ printf "%.3f\n", $2 - $1 }'
}

# The median, the least and the most of the numbers on standard input.
median() {
    sort -n | awk '{ v[NR] = $1 } END { printf "%.3f %.3f %.3f\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

repeat() {
    i=0
    while [ $i -lt "$runs" ]; do
        seconds "$@" || return
        i=$((i + 1))
    done
}

mkdir -p "$out"
if [ -z "$input" ]; then
    tools/demo.sh clip "$bin"
    input=build/demo/input.mp4
fi
if [ ! -r "$input" ]; then
    die "cannot read $input"
fi

# 1. Kernels: luma of the clip, scaled to each size, on the device.
pictures=
for size in $sizes; do
    raw=$out/$size.gray
    # no more than the benchmark keeps on the device
    ffmpeg -i "$input" -vf "scale=${size%x*}:${size#*x}:flags=lanczos,format=gray" \
           -frames:v 64 -f rawvideo "$raw"
    pictures="$pictures $size=$raw"
done
# shellcheck disable=SC2086  # a list of words without spaces
"$bin/gpume_bench" -p ceilings,kernels "$out/kernels.csv" $pictures
for size in $sizes; do
    rm -f "$out/$size.gray"
done

# 2. Pipelines: decoded on the GPU, scaled there, with the filter and without it.
loops=20
frames=$(ffmpeg -i "$input" -map 0:v:0 -f framecrc - | grep -vc '^#')
total=$((frames * (loops + 1)))
pipeline() {
    ffmpeg -stream_loop $loops -hwaccel cuda -hwaccel_output_format cuda -i "$input" \
           -map 0:v:0 -vf "$1" -f null -
}
echo
echo "pipeline on the GPU: $total frames of $input; seconds are medians of $runs runs"
printf '%-10s %-28s %8s %8s %9s %8s\n' size filter seconds spread fps 'of none'
echo 'size,filter,seconds,min,max,frames,fps' > "$out/pipelines.csv"
for size in $sizes; do
    scale=scale_cuda=${size%x*}:${size#*x}
    ffmpeg -hwaccel cuda -hwaccel_output_format cuda -i "$input" -vf "$scale" \
           -frames:v 2 -f null -    # fills the driver's cache of compiled kernels
    none=
    for search in none algo=ds:range=64 algo=ds:range=64:block=4 algo=fs:range=16 algo=fs:range=32; do
        case $search in
            none) graph=$scale ;;
            *)    graph=$scale,gpume=$search ;;
        esac
        # shellcheck disable=SC2046  # three numbers
        set -- $(repeat pipeline "$graph" | median)
        if [ -z "$none" ]; then
            none=$1
        fi
        awk -v s="$1" -v min="$2" -v max="$3" -v n=$total -v none="$none" \
            -v size="$size" -v name="$search" -v csv="$out/pipelines.csv" 'BEGIN {
            printf "%-10s %-28s %8.3f %6.1f %% %9.0f %6.1f %%\n", size, name, s,
                   100 * (max - min) / s, n / s, 100 * none / s
            printf "%s,%s,%s,%s,%s,%d,%.1f\n", size, name, s, min, max, n, n / s >> csv }'
    done
done

# 3. The start: a process that ends when the first vectors are there.
first() {
    ffmpeg -hwaccel cuda -hwaccel_output_format cuda -i "$input" -map 0:v:0 \
           -vf "$1" -frames:v 2 -f null -
}
echo
echo "start to first vector, seconds (median, least, most of $runs); the driver keeps"
echo "compiled kernels in a cache: with it, and as the first time"
echo 'filter,cache,seconds,min,max' > "$out/start.csv"
for cache in kept empty; do
    if [ $cache = empty ]; then
        CUDA_CACHE_DISABLE=1
        export CUDA_CACHE_DISABLE
    fi
    for search in null gpume=algo=fs gpume=algo=fs:block=4 gpume=algo=ds; do
        # shellcheck disable=SC2046
        set -- $(repeat first "$search" | median)
        printf '%-24s %-6s %s %s %s\n' "$search" $cache "$1" "$2" "$3"
        echo "$search,$cache,$1,$2,$3" >> "$out/start.csv"
    done
done
echo
echo "figures: $out/kernels.csv $out/pipelines.csv $out/start.csv"
