# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by bench-gpu.sh: measurements of the part 'seed' that need the CPU only. bench/seed/seed.py makes the table and
# the plot.

# Measures how many microseconds an encoder takes for a frame on one thread, without its search. With this time,
# seed.py computes which share of an encoder's time a search takes.
seed_encoder() {
    for size in "$@"; do
        # small clips are repeated, so that a run takes long enough to be measured
        loops=$((1920 * 1080 / (${size%x*} * ${size#*x}) + 1))
        frames=$(($(wc -c < "$out/$size.gray") * (loops + 1) / (${size%x*} * ${size#*x})))
        rm -f "$out/run.null" "$out/run.mpeg4"
        run=3
        while [ $run -gt 0 ]; do
            run=$((run - 1))
            for codec in null mpeg4; do
                case $codec in
                    null) set -- wrapped_avframe ;;
                    *)    set -- mpeg4 -motion_est zero -qscale:v 5 ;;
                esac
                run_seconds -stream_loop $loops -f rawvideo -pixel_format gray -video_size "$size" -i "$out/$size.gray" \
                    -vf format=yuv420p -threads 1 -c:v "$@" >> "$out/run.$codec"
            done
        done
        us=$(paste "$out/run.mpeg4" "$out/run.null" | awk -v n="$frames" '{ print ($1 - $2) / n * 1e6 }' | median)
        printf 'mpeg4 without a search, one thread, %s: %s us a frame\n' "$size" "${us%% *}"
        # shellcheck disable=SC2086  # median, minimum, maximum and number
        row "seed encoder" mpeg4 clip "$size" '' '' 8 1 time us $us
    done
}

# Measures gpume-mpi on this machine's cores, if MPI is installed.
seed_ranks() {
    if ! command -v mpirun > /dev/null || ! [ -x "$bin/gpume-mpi" ]; then
        say "seed: gpume-mpi was not measured; this needs mpirun and gpume-mpi ('make mpi' builds it)"
        return
    fi
    # the pack has a clip that needs no encoder here
    film=$bin/../bench/${input##*/}-1080p.mkv
    [ ! -r "$film" ] || BENCH_SIZE=
    [ -r "$film" ] || film=$input
    cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
    BENCH_RANKS=${BENCH_RANKS:-$(for n in 1 2 4 8 16; do [ $n -gt "$cores" ] || printf '%s ' $n; done)}
    export BENCH_RANKS ${BENCH_SIZE+BENCH_SIZE}
    BENCH_HWACCEL=none BENCH_RUNS=${BENCH_RUNS:-1} BENCH_FRAMES=${BENCH_FRAMES:-1200} BENCH_BASELINE='' \
        BENCH_FS_FRAMES=${BENCH_FS_FRAMES:-300} BENCH_DIR=$out bench/mpi.sh "$bin" "$film" ||
        say "seed: gpume-mpi was not measured; it does not run with this machine's MPI, mpi/pack.sh says how to link it"
}
