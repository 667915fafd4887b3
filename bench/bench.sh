#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares gpume with FFmpeg's mestimate on the CPU, in one binary: 'make bench'.
#
# usage: bench.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is any clip, by default the demonstration's. Environment (defaults in brackets):
#   BENCH_RUNS     runs of each measurement [3]
#   BENCH_SECONDS  approximate length of a run [1]
#   BENCH_SIZES    [352x288 1280x720 1920x1080]
#   BENCH_DIR      folder for results [build/bench]

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
out=${BENCH_DIR:-build/bench}
runs=${BENCH_RUNS:-3}
. "$top/bench/lib.sh"

seconds=${BENCH_SECONDS:-1}
sizes=${BENCH_SIZES:-352x288 1280x720 1920x1080}
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
block=16
# Number of pictures. They are taken from the middle of the clip and repeated. They are few, so that the
# slowest search sees them all.
pictures=4

# The searches that are compared, one a line: mestimate's method, gpume's search, the range, other options of gpume.
# mestimate always searches both directions, so gpume does too.
table=$(for algo in $(tools/searches.sh); do
    case $algo in
        fs) printf 'esa fs %s\n' 7 16 '16 exhaustive=1' ;;
        hme) ;;     # mestimate has none
        *)  echo "$algo $algo 16" ;;
    esac
done)

trap 'rm -f "$out"/*.gray "$out"/run.*' EXIT
take_clip "${2-}"

# search THREADS FRAMES FILTER: runs raw pictures through a filter.
search() {
    run_seconds -filter_threads "$1" -f rawvideo -pixel_format gray -video_size "$size" \
        -framerate 25 -stream_loop -1 -i "$out/$size.gray" -vf "$3" -frames:v "$2"
}

# measure WHAT RANGE THREADS FILTER: sets $fps to the frames/s without the time for reading, and writes its row.
measure() {
    # enough frames for the wanted time, and always whole repeats of the pictures, so that fast and slow searches see
    # the same ones
    t=$(search "$3" $pictures "$4")
    frames=$(awk "BEGIN { n = int($seconds / ($t + 1e-3)); print $pictures * (n < 1 ? 1 : n > 500 ? 500 : n) }")
    # shellcheck disable=SC2046  # numbers
    set -- "$1" "$2" "$3" $(repeat "$runs" search "$3" "$frames" "$4" | awk -v n="$frames" -v none="$none" \
        '{ t = $1 - n * none; if (t < 1e-4) t = 1e-4; print n / t }' | median)
    row cpu "$1" clip "$size" $block "$2" 8 "$3" rate fps "$4" "$5" "$6" "$7"
    fps=$4
}

# Compares mestimate, gpume on one thread, and gpume on all cores.
begin cpu
say "clip: $input, $pictures frames; median frames/s of $runs run(s), past and future, ${block}x$block blocks,"
say "without the time for reading the pictures"
for size in $sizes; do
    raw_luma "$size" $pictures "$(($(frames_of "$input") / 2))"
    # shellcheck disable=SC2046
    none=$(repeat "$runs" search 1 400 null | median | awk '{ print $1 / 400 }')
    row cpu reading clip "$size" '' '' 8 1 rate fps "$(awk "BEGIN { print 1 / $none }")"
    echo
    awk "BEGIN { printf \"%s: reading alone %.0f frames/s\n\", \"$size\", 1 / $none }"
    printf '%-24s %8s %16s %24s\n' search mestimate 'gpume, 1 thread' "gpume, $cores threads"
    last=
    echo "$table" | while read -r method algo range options; do
        if [ -z "$method" ]; then
            continue
        fi
        # two rows in sequence may share a measurement of mestimate
        if [ "$last" != "$method $range" ]; then
            measure "mestimate $method" "$range" 1 "mestimate=method=$method:mb_size=$block:search_param=$range"
            peer=$fps
            last="$method $range"
        fi
        name=${options%%=*}
        filter=gpume=algo=$algo:range=$range:block=$block:dir=both:backend=cpu${options:+:$options}
        measure "gpume $algo${name:+ $name}" "$range" 1 "$filter"
        one=$fps
        measure "gpume $algo${name:+ $name}" "$range" "$cores" "$filter"
        echo "$algo +-$range,$name,$peer,$one,$fps" | awk -F, '{ printf "%-9s %-14s %8.2f %8.1f %6.1fx %8.1f %6.1fx %6.1fx\n",
            $1, $2, $3, $4, $4 / $3, $5, $5 / $3, $5 / $4 }'
    done
done
finish
