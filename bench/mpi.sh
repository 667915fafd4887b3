#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures the frames per second of gpume-mpi with 1, 2 and 4 ranks, from the start of mpirun to the
# complete files, and their efficiency: 'make bench-mpi'. The search is ds +-64 of 1080p.
#
# usage: mpi.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg and gpume-mpi; INPUT is any clip, by default the demonstration's.
# Its packets are repeated to make a video. Environment (defaults in brackets):
#   BENCH_RANKS     numbers of ranks [1 2 4; with GPUs 1 2 4 8 up to their number]
#   BENCH_RUNS      runs of each measurement, in turn [3]
#   BENCH_FRAMES    minimum number of frames of the video [20000]
#   BENCH_HWACCEL   none or cuda [cuda if there is a GPU]
#   BENCH_MPIRUN    options of mpirun [--bind-to core; with GPUs --bind-to none]
#   BENCH_DIR       folder for results, videos and vectors [build/bench]
# A rank has one core, and with GPUs a GPU, unless the variables say otherwise.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
out=${BENCH_DIR:-build/bench}
. "$top/bench/lib.sh"
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

runs=${BENCH_RUNS:-3}
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || :)
hwaccel=${BENCH_HWACCEL:-none}
if [ -z "${BENCH_HWACCEL-}" ] && [ "$gpus" -gt 0 ]; then
    hwaccel=cuda
fi
size=1920x1080
if [ "$hwaccel" = cuda ]; then
    ranks=${BENCH_RANKS:-$(for n in 1 2 4 8; do [ $n -gt "$gpus" ] || printf '%s ' $n; done)}
    options=${BENCH_MPIRUN---bind-to none}
    backend=cuda
    threads=
else
    ranks=${BENCH_RANKS:-1 2 4}
    options=${BENCH_MPIRUN---bind-to core}
    backend=cpu
    threads='--threads 1'
    cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
fi
frames=${BENCH_FRAMES:-20000}

trap 'rm -f "$out"/mpi.npy "$out"/mpi.log "$out"/mpi.err "$out"/mpi-*.time' EXIT
take_clip "${2-}"

clip=$out/mpi-$size.mkv
if [ ! -f "$clip" ]; then
    bench/make-clip.sh "$bin" "$input" "$clip" >&2
fi
nb=$(frames_of "$clip")
video=$out/mpi-video-$frames.mkv
if [ ! -f "$video" ] || [ -n "$(find "$clip" -newer "$video")" ]; then
    ffmpeg -stream_loop $(((frames + nb - 1) / nb - 1)) -i "$clip" -map 0:v:0 -c copy "$video"
fi
nb=$(frames_of "$video")

# launch RANKS COMMAND...: runs mpirun. Starts more ranks than there are cores, too.
launch() {
    n=$1
    shift
    over=
    if [ "$hwaccel" = none ] && [ "$n" -gt "$cores" ]; then
        over='--oversubscribe --bind-to none'
    fi
    # shellcheck disable=SC2086  # lists of words
    mpirun ${over:-$options} -n "$n" "$@"
}

# rate RANKS: prints frames/s
rate() {
    rm -f "$out/mpi.npy" "$out/mpi.log"
    began=$(date +%s.%N)
    # shellcheck disable=SC2086  # lists of words
    launch "$1" "$bin/gpume-mpi" -i "$video" -vf "gpume=algo=ds:range=64:backend=$backend" --mv-file "$out/mpi.npy" \
        --stats-file "$out/mpi.log" --hwaccel $hwaccel $threads --progress no 2> "$out/mpi.err" || {
        cat "$out/mpi.err" >&2
        return 1
    }
    echo "$nb $began $(date +%s.%N)" | awk '{ printf "%.2f\n", $1 / ($3 - $2) }'
}

begin mpi
say "decoding and searching $nb frames of $size, $hwaccel; median of $runs"
i=0
rm -f "$out"/mpi-*.time
while [ $i -lt "$runs" ]; do
    for n in $ranks; do
        rate "$n" >> "$out/mpi-$n.time"
    done
    i=$((i + 1))
done
printf '\n%5s %12s %12s %12s\n' ranks frames/s times efficiency
first=
for n in $ranks; do
    found=$(median < "$out/mpi-$n.time")
    [ -n "$first" ] || first="${found%% *} $n"
    printf '%s %s %s\n' "$first" "${found%% *}" "$n" |
        awk '{ t = $3 / $1; printf "%5d %12.1f %12.2f %11.1f%%\n", $4, $3, t, 100 * t * $2 / $4 }'
    # shellcheck disable=SC2086  # median, minimum, maximum and number
    row mpi gpume-mpi clip $size 16 64 8 "$n" ds frames/s $found
done
finish
