#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures gpume and other searches on a GPU, and the limits of that GPU: 'make bench-gpu'.
#
# usage: bench-gpu.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg, gpume_bench and gpume_calls.so. INPUT is a clip that the GPU can
# decode; its pictures are scaled to every size. Environment (defaults in brackets):
#   PARTS          [ceilings kernels searches motion mvview mvfps mvdenoise mvdeint mvstab mvstereo seed nvofa quality pipeline start memory];
#   QUICK          if not empty: 1080p only, fewer repeats
#   BENCH_RUNS     runs of each pipeline and start [3; with QUICK 2]
#   BENCH_SIZES    [352x288 1280x720 1920x1080 3840x2160]
#   BENCH_CLIP     a 1080p clip for the pipelines [made from INPUT]
#   BENCH_DIR      folder for results [build/bench]

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
out=${BENCH_DIR:-build/bench}
quick=${QUICK-}
runs=${BENCH_RUNS:-${quick:+2}}
runs=${runs:-3}
parts=${PARTS:-ceilings kernels searches motion mvview mvfps mvdenoise mvdeint mvstab mvstereo seed nvofa quality pipeline start memory}
sizes=${BENCH_SIZES:-${quick:+1920x1080}}
sizes=${sizes:-352x288 1280x720 1920x1080 3840x2160}
. "$top/bench/lib.sh"
. bench/pipeline.sh
. bench/start.sh

trap 'rm -f "$out"/*.gray "$out"/run.* "$out"/long.mkv' EXIT
take_clip "${2-}"

# program PART SIZE...: runs a part of gpume_bench for pictures of these sizes.
program() {
    part=$1
    shift
    begin "$part"
    pictures=
    for size in "$@"; do
        if [ ! -f "$out/$size.gray" ]; then
            # not more frames than gpume_bench keeps on the device
            raw_luma "$size" 64
        fi
        pictures="$pictures $size=$out/$size.gray"
    done
    # shellcheck disable=SC2086  # a list of words without spaces
    "$bin/gpume_bench" -p "$part" -r "$repeats" "$csv" $pictures
}

# without WORD WORDS: prints the other words.
without() {
    for word in $2; do
        if [ "$word" != "$1" ]; then
            printf '%s ' "$word"
        fi
    done
}

repeats=${quick:+5}
repeats=${repeats:-9}
say "clip: $input"
# for bench/tables.py
begin machine
for what in name driver_version; do
    row machine $what "$(nvidia-smi --query-gpu=$what --format=csv,noheader -i 0)" '' '' '' '' '' '' '' 0
done
row machine commit "$(cat build/gpu/commit)" '' '' '' '' '' '' '' 0
row machine clip "${input##*/}" '' '' '' '' '' '' '' 0
began=$(date +%s)
for name in $parts; do
    # the seed does not support 2160p, nor NVOFA CIF
    # shellcheck disable=SC2046,SC2086  # lists of words
    case $name in
        ceilings) program ceilings ;;
        kernels | searches | motion | mvview | mvfps | mvdenoise | mvdeint | mvstab | mvstereo) program $name $sizes ;;
        seed)     set -- $(without 3840x2160 "$sizes")
                  # with the largest of the seed's sizes
                  [ -n "$quick${BENCH_SIZES-}" ] || set -- "$@" 2560x1600
                  program seed "$@" ;;
        nvofa)    program nvofa $(without 352x288 "$sizes") ;;
        quality)  begin quality
                  QUALITY_DIR=$out/quality NVOFA=$bin/gpume_bench \
                  METHODS=${METHODS:-'hme:backend=cuda hme'} \
                  bench/quality/quality.sh "$bin" "$input" ;;
        memory)   begin memory
                  bench_memory ;;
        pipeline) bench_pipeline ;;
        start)    bench_start ;;
        *)        die "PARTS: there is no part '$name'" ;;
    esac
    say "($name done after $(($(date +%s) - began)) s)"
done
finish
bench/tables.py "$out/bench.csv" > "$out/tables.md"
say "tables: $out/tables.md; 'bench/tables.py $out/bench.csv doc/performance.md' writes them into the document"
