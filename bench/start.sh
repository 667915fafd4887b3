# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by bench-gpu.sh. Measures the time to the first vector, and memory.

# Runs a process until it has the first vectors.
first_vectors() {
    ffmpeg -hwaccel cuda -hwaccel_output_format cuda -i "$input" -map 0:v:0 -vf "$1" \
           -frames:v 2 -f null -
}

bench_start() {
    begin start
    echo
    say "start to first vector, seconds of a whole process (median of $runs runs); with"
    say "the driver's cache of compiled kernels (kept), and without it (empty)"
    for cache in kept empty; do
        if [ $cache = empty ]; then
            CUDA_CACHE_DISABLE=1
            export CUDA_CACHE_DISABLE
        else
            first_vectors null      # wakes up the GPU
        fi
        none=
        for search in null gpume=algo=fs gpume=algo=fs:block=8 gpume=algo=fs:block=4 \
                      gpume=algo=ds gpume=algo=ds:block=4; do
            # shellcheck disable=SC2046  # four numbers
            set -- $(repeat "$runs" wall_seconds first_vectors "$search" | median)
            none=${none:-$1}
            awk -v search="$search" -v cache=$cache -v s="$1" -v least="$2" -v most="$3" \
                -v none="$none" 'BEGIN { printf "%-24s cache %-5s %7.3f s %5.1f %%  %+7.3f s\n",
                search, cache, s, 100 * (most - least) / s, s - none }'
            row start "$search cache $cache" clip x '' '' '' '' time s "$1" "$2" "$3" "$4"
        done
    done
    unset CUDA_CACHE_DISABLE
}

# held NAME SIZE FILTER: runs 100 frames of this size, and prints how much memory the process holds at most.
held() {
    rm -f "$out/run.calls"
    LD_PRELOAD="$bin/gpume_calls.so" GPUME_CALLS_FILE=$out/run.calls \
        "$bin/ffmpeg" -hide_banner -nostdin -loglevel info -nostats -benchmark -y -f lavfi \
        -i "testsrc2=size=$2,format=yuv420p" -vf "$3" -frames:v "${BENCH_CALLS_FRAMES:-100}" -f null - \
        > "$out/run.log" 2>&1 || {
        tail -n 5 "$out/run.log" >&2
        return 1
    }
    printf '%-46s %-9s' "$1" "$2"
    {
        cat "$out/run.calls" 2>/dev/null || printf '0\n0\n'
        sed -n 's/^bench: maxrss=\([0-9]*\)Ki*B.*/\1 1024/p' "$out/run.log"
    } | awk '{ printf "%.1f\n", $1 * ($2 ? $2 : 1) / 1048576 }' > "$out/run.memory"
    for kind in device pinned host; do
        read -r mib
        printf ' %8s' "$mib"
        row memory "$1" clip "$2" '' '' 8 '' "$kind memory" MiB "$mib"
    done < "$out/run.memory"
    echo
}

bench_memory() {
    if [ ! -f "$bin/gpume_calls.so" ]; then
        say "memory not measured: there is no $bin/gpume_calls.so"
        return
    fi
    echo
    say "the maximum device, pinned and host memory in MiB"
    printf '%-46s %-9s %8s %8s %8s\n' '' size device pinned host
    for size in ${BENCH_CALLS_SIZES:-1920x1080}; do
        held null "$size" null
        for search in ds:range=64 ds:range=64:block=4:dir=both fs:range=32 fs:range=32:block=4; do
            held "$search" "$size" "gpume=algo=$search:backend=cuda"
        done
    done
}
