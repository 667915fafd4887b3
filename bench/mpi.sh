#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Measures the frames per second of gpume-mpi with 1, 2 and 4 ranks, from the start of mpirun to the
# complete files, and their efficiency: 'make bench-mpi'.
#
# usage: mpi.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg and gpume-mpi; INPUT is any clip, by default the demonstration's.
# Its packets are repeated to make a film. Environment (defaults in brackets):
#   BENCH_RANKS     numbers of ranks [1 2 4; with GPUs 1 2 4 8 up to their number]
#   BENCH_RUNS      runs of each measurement, in turn [3]
#   BENCH_FRAMES    minimum number of frames of the film [20000]
#   BENCH_FS_FRAMES minimum number of frames of the film for full search [2000; with GPUs 20000]
#   BENCH_SIZE      size to which the clip is scaled; it is then coded as H.264 if there is an encoder.
#                   Empty: the packets of the clip are taken as they are [1920x1080]
#   BENCH_SEARCHES  [ds:64 fs:64]
#   BENCH_RANKS_PER_GPU  [1]
#   BENCH_HWACCEL   none or cuda [cuda if there is a GPU]
#   BENCH_MPIRUN    options of mpirun [--bind-to core; with GPUs --bind-to none]
#   BENCH_DIR       folder for results, films and vectors [build/bench]
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
size=${BENCH_SIZE-1920x1080}
if [ "$hwaccel" = cuda ]; then
    ranks=${BENCH_RANKS:-$(for n in 1 2 4 8; do [ $n -gt "$gpus" ] || printf '%s ' $n; done)}
    fs_frames=${BENCH_FS_FRAMES:-20000}
    options=${BENCH_MPIRUN---bind-to none}
    backend=cuda
    threads=
else
    ranks=${BENCH_RANKS:-1 2 4}
    fs_frames=${BENCH_FS_FRAMES:-2000}
    options=${BENCH_MPIRUN---bind-to core}
    backend=cpu
    threads='--threads 1'
    cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
fi
frames=${BENCH_FRAMES:-20000}
per_gpu=${BENCH_RANKS_PER_GPU:-1}

trap 'rm -f "$out"/mpi.npy "$out"/mpi.log "$out"/mpi.err "$out"/mpi-*.time' EXIT
take_clip "${2-}"

# film FRAMES: makes a film of at least FRAMES frames and prints its name.
film() {
    # shellcheck disable=SC2154  # take_clip sets it
    clip=$input
    if [ -n "$size" ]; then
        clip=$out/mpi-$size.mkv
        if [ ! -f "$clip" ]; then
            bench/make-clip.sh "$bin" "$input" "$clip" >&2
        fi
    fi
    n=$(frames_of "$clip")
    name=$out/mpi-film-$1.mkv
    if [ ! -f "$name" ] || [ -n "$(find "$clip" -newer "$name")" ]; then
        ffmpeg -stream_loop $((($1 + n - 1) / n - 1)) -i "$clip" -map 0:v:0 -c copy "$name"
    fi
    echo "$name"
}

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

# ours RANKS FILM SEARCH RANGE FRAMES: prints frames/s
ours() {
    rm -f "$out/mpi.npy" "$out/mpi.log"
    began=$(date +%s.%N)
    # shellcheck disable=SC2086  # lists of words
    launch "$1" "$bin/gpume-mpi" -i "$2" -vf "gpume=algo=$3:range=$4:backend=$backend" --mv-file "$out/mpi.npy" \
        --stats-file "$out/mpi.log" --hwaccel $hwaccel $threads --progress no 2> "$out/mpi.err" || {
        cat "$out/mpi.err" >&2
        return 1
    }
    echo "$5 $began $(date +%s.%N)" | awk '{ printf "%.2f\n", $1 / ($3 - $2) }'
}

begin mpi
say "decoding and searching ${size:-$input}, $hwaccel; median of $runs"
for search in ${BENCH_SEARCHES:-ds:64 fs:64}; do
    algo=${search%:*}
    range=${search#*:}
    nb=$frames
    [ "$algo" != fs ] || nb=$fs_frames
    film=$(film "$nb")
    nb=$(frames_of "$film")
    rm -f "$out"/mpi-*.time
    i=0
    while [ $i -lt "$runs" ]; do
        for n in $ranks; do
            total=$((n * per_gpu))
            ours $total "$film" "$algo" "$range" "$nb" >> "$out/mpi-$n.time"
        done
        i=$((i + 1))
    done
    printf '\n%-28s %5s %12s %12s %12s\n' "$algo +-$range, $nb frames" ranks frames/s times efficiency
    first=
    for n in $ranks; do
        rate=$(median < "$out/mpi-$n.time")
        [ -n "$first" ] || first="${rate%% *} $n"
        printf '%s %s %s\n' "$first" "${rate%% *}" "$n" |
            awk '{ t = $3 / $1; printf "%-28s %5d %12.1f %12.2f %11.1f%%\n", "gpume-mpi", $4, $3, t, 100 * t * $2 / $4 }'
        # shellcheck disable=SC2086  # median, minimum, maximum and number
        row mpi gpume-mpi clip "${size:-x}" 16 "$range" 8 "$n" "$algo" frames/s $rate
    done
done
say "results: $out/mpi.csv"
