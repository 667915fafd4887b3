# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by bench-gpu.sh. Measures the time to the first vector, memory, and driver calls per frame.

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
            row start "$search cache $cache" clip x '' '' '' '' 'more than decoding' s \
                "$(awk "BEGIN { print $1 - $none }")"
        done
    done
    unset CUDA_CACHE_DISABLE
}

# calls NAME SIZE OPTIONS...: one run of 100 frames, with its driver calls and memory.
calls() {
    what=$1
    calls_size=$2
    shift 2
    if [ "$calls_size" = clip ]; then
        calls_size=$(ffmpeg -i "$input" -map 0:v:0 -c copy -frames:v 1 -f framecrc - |
                   sed -n 's/^#dimensions 0: //p')
    fi
    rm -f "$out/run.calls"
    LD_PRELOAD="$bin/gpume_calls.so" GPUME_CALLS_FILE=$out/run.calls GPUME_CALLS_FRAMES=$calls_frames \
        "$bin/ffmpeg" -hide_banner -nostdin -loglevel info -nostats -benchmark -y "$@" -f null - \
        > "$out/run.log" 2>&1 || {
        tail -n 5 "$out/run.log" >&2
        return 1
    }
    maxrss=$(sed -n 's/^bench: maxrss=\([0-9]*\)Ki*B.*/\1/p' "$out/run.log")
    if [ ! -s "$out/run.calls" ]; then
        printf '%-46s %-9s %38s %9.1f\n' "$what" "$calls_size" '' "$(awk "BEGIN { print $maxrss / 1024 }")"
        row memory "$what" clip "$calls_size" '' '' 8 '' 'host memory' MiB \
            "$(awk "BEGIN { print $maxrss / 1024 }")"
        return
    fi
    # shellcheck disable=SC2046  # numbers
    set -- $(awk -v frames="$calls_frames" '
        /^cuLaunchKernel/                     { launches = $2; if (NF > 2) late = $3 }
        /^cu(Mem|Array|Tex|Module|Stream|Event).*(Alloc|Free|Create|Destroy|Load|Unload|egister)/ {
                                                allocations += $3 }
        /^cuCtxSynchronize/                   { context += $3 }
        /^cuMemcpy/                           { context += $3 }
        /^cu(Stream|Event)Synchronize/        { waits += $3 }
        /^peak-device/                        { device = $2 }
        /^peak-pinned/                        { pinned = $2 }
        /^device-bytes/                       { use = $2 }
        END {
            if (!launches)              # decoding alone
                printf "- - - "
            else if (late < 1)
                exit
            else
                printf "%d %d %.2f ", allocations, context, waits * launches / frames / late
            printf "%.1f %.1f %.1f\n", device / 1048576, pinned / 1048576, use / 1048576
        }' "$out/run.calls")
    if [ $# != 6 ]; then
        die "$what: too few launches to tell frames apart: $(grep Launch "$out/run.calls")"
    fi
    host=$(awk "BEGIN { printf \"%.1f\", $maxrss / 1024 }")
    printf '%-46s %-9s %6s %6s %7s %8.1f %7.1f %9.1f\n' "$what" "$calls_size" "$1" "$2" "$3" "$4" "$5" "$host"
    if [ "$1" != - ]; then
        # list the calls by name, to find a pool that grew late or a call in every frame
        awk '/^cu(Mem|Array|Tex|Module|Stream|Event|Ctx)/ && !/^cu(Stream|Event)Synchronize/ && $3 {
            printf "    %s %d times\n", $1, $3 }' "$out/run.calls"
        row memory "$what" clip "$calls_size" '' '' 8 '' 'allocations after the tenth frame' calls "$1"
        row memory "$what" clip "$calls_size" '' '' 8 '' 'context-wide waits after the tenth frame' calls "$2"
        row memory "$what" clip "$calls_size" '' '' 8 '' 'waits for a stream or an event' 'calls a frame' "$3"
        row memory "$what" clip "$calls_size" '' '' 8 '' 'device memory in use on the card' MiB "$6"
    fi
    row memory "$what" clip "$calls_size" '' '' 8 '' 'device memory' MiB "$4"
    row memory "$what" clip "$calls_size" '' '' 8 '' 'pinned memory' MiB "$5"
    row memory "$what" clip "$calls_size" '' '' 8 '' 'host memory' MiB "$host"
}

# Counts the allocations and waits in FFmpeg's process after the first frames. A synchronous copy
# counts as a wait for the context.
bench_calls() {
    calls_frames=${BENCH_CALLS_FRAMES:-100}
    calls_sizes=${BENCH_CALLS_SIZES:-1920x1080}
    if [ ! -f "$bin/gpume_calls.so" ]; then
        say "driver calls not counted: there is no $bin/gpume_calls.so"
        return
    fi
    echo
    say "driver calls by FFmpeg and gpume together after the tenth of $calls_frames frames:"
    say "allocations and releases, waits for the whole context, waits for a stream or an event"
    say "per frame; and the maximum device, pinned and host memory in MiB"
    printf '%-46s %-9s %6s %6s %7s %8s %7s %9s\n' '' size alloc. contxt waits device pinned host
    for size in $calls_sizes; do
        for search in null gpume=algo=ds:range=64 gpume=algo=ds:range=64:block=4:dir=both \
                      gpume=algo=fs:range=32 gpume=algo=fs:range=32:block=4; do
            calls "memory: $search" "$size" -f lavfi -i "testsrc2=size=$size,format=yuv420p" \
                -vf "${search}$(backend_of "$search")" -frames:v "$calls_frames"
            if [ -z "${BENCH_CALLS_FRAMES-}" ]; then
                calls "nvdec: $search" clip -hwaccel cuda -hwaccel_output_format cuda \
                    -stream_loop $((calls_frames / 10)) -i "$input" -map 0:v:0 -vf "$search" \
                    -frames:v "$calls_frames"
            fi
        done
    done
}

backend_of() {
    case $1 in
        gpume*) echo :backend=cuda ;;
    esac
}
