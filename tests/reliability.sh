#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the guarantees of doc/reliability.md: files after a signal, random streams compared with the oracle, fuzzers,
# threads, long runs. CUDA builds run on the stand-in for the driver.
#
# usage: reliability.sh RESULTS SERIES PART...
#   files          signals that end ffmpeg, and the state of its files
#   soak SECONDS   random streams on every backend, compared with the oracle
#   fuzz SECONDS   builds the fuzzers and runs each of them; 0: builds only
#   threads SECONDS   random streams on several threads under ThreadSanitizer
#   failures       each CUDA driver call failing in turn, for every search; without GPUME_LONG for one search of each
#                  kind, because the driver calls depend on nothing else
#   long [whole]   memory over frames, graphs and changes; whole: the long version

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2
shift 2

base=$top/build/$series
standin=$top/build/standin
soak=$base/obj/libavfilter/tests/gpume_soak
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
mkdir -p build/results
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

# build_lib DIR: builds the libraries in a separate tree
build_lib() {
    make -s --no-print-directory SERIES="$series" configured &&
        tools/ffconfigure.sh "$1" &&
        make -s --no-print-directory -j"$jobs" -C "$1/obj" libavfilter/libavfilter.a \
             libavutil/libavutil.a > "build/results/$(basename "$1").log" 2>&1
}

build_soak() {
    make -s --no-print-directory SERIES="$series" all &&
        make -s --no-print-directory -C "$base/obj" libavfilter/tests/gpume_soak
}

# Without the stand-in the programs skip what needs it.
build_standin() {
    if has_cuda "$base/obj"; then
        make -f tests/standin/standin.mak -j"$jobs" standin > build/results/standin.log 2>&1 ||
            fail standin-build "see build/results/standin.log"
    fi
}

# counted NAME COMMAND...: runs a program whose last line states how many tests it ran
counted() {
    name=$1
    shift
    log=build/results/$name.log
    if LD_LIBRARY_PATH=$standin timeout "${GPUME_TEST_LIMIT:-100000}" "$@" > "$log" 2>&1; then
        ok "$name ($(tail -n 1 "$log"))"
        cat "$log"
    else
        tail -n 20 "$log"
        fail "$name" "$*; see $log"
    fi
}

# Writes files from an endless stream with a frame every 40 ms.
endless() {
    exec "$base/obj/ffmpeg" -hide_banner -nostdin -v error -re -f lavfi -i testsrc2=s=64x48:r=25 \
         -vf "gpume=algo=ds:backend=cpu:mv_file=$tmp/v.$1:stats_file=$tmp/s.log" -f null -
}

# signal ENDING SIGNAL...: sends the signals once something has been written
signal() {
    ending=$1
    shift
    rm -f "$tmp"/*
    echo 'as it was' > "$tmp/s.log"
    endless "$ending" 2> "$tmp/err" &
    pid=$!
    tries=0
    while [ $tries -lt 100 ] && [ -z "$(find "$tmp" -name 'v.*.gpume-part' -size +1k)" ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    for s; do
        kill -"$s" $pid
    done
    status=0
    wait $pid 2>/dev/null || status=$?
}

# whole ENDING: the vectors are those of complete frames (12 blocks), as many as in the statistics
whole() {
    lines=$(grep -c '^n:' "$tmp/s.log")
    [ -z "$(find "$tmp" -name '*.gpume-part')" ] || return
    case $1 in
        csv) [ "$lines" -gt 1 ] && [ "$(grep -c . "$tmp/v.csv")" = $((lines * 12 + 1)) ] ;;
        npy) [ "$lines" -gt 1 ] &&
             [ "$(wc -c < "$tmp/v.npy")" = $((128 + (lines + 1) * 12 * 12)) ] &&
             head -c 128 "$tmp/v.npy" | grep -q "'shape': ($((lines + 1)), 1, 3, 4, 3)" ;;
    esac
}

part_files() {
    if ! make -s --no-print-directory SERIES="$series" all; then
        fail files "make SERIES=$series"
        return
    fi
    for ending in csv npy; do
        for s in INT TERM; do
            signal "$ending" "$s"
            check "files-$ending-$s" "status $status, files $(ls "$tmp")" \
                eval "[ $status = 255 ] && whole $ending"
        done
        signal "$ending" KILL
        check "files-$ending-KILL" "status $status, files $(ls "$tmp")" \
            eval "[ $status = 137 ] && [ ! -e $tmp/v.$ending ] &&
                  [ \"\$(cat $tmp/s.log)\" = 'as it was' ] &&
                  [ \$(find $tmp -name 'v.$ending.*.gpume-part' | wc -l) = 1 ] &&
                  [ \$(find $tmp -name 's.log.*.gpume-part' | wc -l) = 1 ]"
    done

    # a pipe that nobody reads
    rm -f "$tmp"/*
    mkfifo "$tmp/pipe.npy"
    for filter in mvstereo=layout=sbsl:file gpume=algo=ds:backend=cpu:mv_file; do
        timeout 60 "$base/obj/ffmpeg" -hide_banner -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=2:d=1 \
            -vf "$filter=$tmp/pipe.npy" -f null - 2> "$tmp/err"
        status=$?
        check "files-pipe-${filter%%=*}" "status $status, $(head -n 1 "$tmp/err")" \
            eval "[ $status != 0 ] && [ $status != 124 ] && grep -q 'cannot be written to a pipe' '$tmp/err'"
    done

    # file names that need escaping, as in the documentation
    rm -f "$tmp"/*
    (cd "$tmp" && for name in 'take\\:2.csv' 'C\\:\\\\take.csv'; do
        "$base/obj/ffmpeg" -hide_banner -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=2:d=1 \
            -vf "gpume=algo=ds:backend=cpu:mv_file=$name" -f null - || exit
    done)
    check files-names "$(ls "$tmp")" eval "[ -s '$tmp/take:2.csv' ] && [ -s '$tmp/C:\\take.csv' ]"
}

part_soak() {
    if ! build_soak; then
        fail soak "the build"
        return
    fi
    build_standin
    counted soak "$soak" -seconds "$1"
}

part_fuzz() {
    if ! have clang || ! echo 'int LLVMFuzzerTestOneInput(const void *p, long n) { return 0; }' |
         clang -fsanitize=fuzzer,address,undefined -x c - -o "$tmp/fuzzer" 2>/dev/null; then
        skip "fuzz-$series" "there is no clang with libFuzzer"
        return
    fi
    if ! build_lib "$base-fuzz" ||
       ! make -s -f tests/fuzz/fuzz.mak OBJ="$base-fuzz/obj" SRC="$base/src"; then
        fail fuzz-build "the fuzzers"
        return
    fi
    build_standin
    say "fuzzers: $(cd "$base-fuzz/obj" && echo gpume_fuzz_*) in $base-fuzz/obj"
    ok fuzz-build
    if [ "$1" != 0 ]; then
        sh tests/fuzz/fuzz.sh "$results" "$base-fuzz/obj" "$standin" "$1"
    fi
}

part_threads() {
    if ! echo 'int main(void) { return 0; }' |
         gcc -fsanitize=thread -x c - -o "$tmp/tsan" 2>/dev/null || ! "$tmp/tsan"; then
        skip "threads-$series" "there is no ThreadSanitizer"
        return
    fi
    if ! build_lib "$base-tsan" ||
       ! make -s --no-print-directory -C "$base-tsan/obj" libavfilter/tests/gpume_soak \
         libavfilter/tests/gpume_mvstab; then
        fail threads-build "the build for ThreadSanitizer"
        return
    fi
    build_standin
    tsan=$base-tsan/obj/libavfilter/tests/gpume_soak
    stab=$base-tsan/obj/libavfilter/tests/gpume_mvstab
    TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1'
    export TSAN_OPTIONS
    # one filter per thread, each with its own slice threads
    counted threads-cpu "$tsan" -backends cpu -threads 3 -side 80 -seconds "$1"
    # what mvstab does between searches, on several threads
    counted threads-mvstab env LD_LIBRARY_PATH= "$stab" -cases 25
    if has_cuda "$base-tsan/obj"; then
        counted threads-cuda "$tsan" -backends cuda,frames -threads 3 -side 40 -seconds "$1"
    else
        skip threads-cuda "built without CUDA"
    fi
}

# Under the sanitizers, which report memory that leaks when a call fails.
part_failures() {
    if ! make -s --no-print-directory SERIES="$series" all sanitized ||
       ! make -s --no-print-directory -C "$base-san/obj" libavfilter/tests/gpume_soak; then
        fail failures "the build"
    elif ! has_cuda "$base-san/obj"; then
        skip failures "built without CUDA"
    elif ! make -f tests/standin/standin.mak -j"$jobs" standin-asan > build/results/standin-asan.log 2>&1; then
        fail failures "the stand-in; see build/results/standin-asan.log"
    else
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
        export ASAN_OPTIONS UBSAN_OPTIONS
        standin=$standin-asan
        searches=all
        if [ -z "${GPUME_LONG-}" ]; then
            searches='fs ds epzs hme'
        fi
        for search in $searches; do
            counted "failures-$search" "$base-san/obj/libavfilter/tests/gpume_soak" -failures 1 -algo "$search"
        done
        standin=$top/build/standin
    fi
}

part_long() {
    if ! build_soak; then
        fail long "the build"
        return
    fi
    build_standin
    if [ "${1-}" = whole ]; then
        algo=all cpu=100000 cuda=100000 behind=100000 slow=10000 graphs=1000
        counted long-cuda-all "$soak" -backends cuda,frames -long 10000 -algo all
    else
        algo=ds cpu=20000 cuda=4000 behind=10000 slow=3000 graphs=200
        counted long-cpu-all "$soak" -backends cpu -long 4000 -algo all
    fi
    counted long-cpu "$soak" -backends cpu -long $cpu -algo $algo
    counted long-cuda "$soak" -backends cuda,frames -long $cuda -algo ds
    counted long-behind "$soak" -backends cpu -long $behind -algo ds -behind mvview,mvfps
    counted long-denoise "$soak" -backends cpu -long $slow -algo ds -behind mvdenoise,mvfps
    counted long-deint "$soak" -backends cpu -long $slow -algo ds -behind mvdeint,mvdenoise,mvfps
    counted long-stereo "$soak" -backends cpu -long $slow -algo ds -behind mvstereo=layout=sbsl:temporal=1
    counted teardown "$soak" -teardown 1000 -algo $algo
    counted teardown-behind "$soak" -teardown $graphs -algo ds -behind mvdenoise,mvview,mvfps
    counted teardown-stereo "$soak" -backends cpu -teardown $graphs -algo ds -behind mvstereo=layout=sbsl
    counted changes "$soak" -changes 1000 -algo $algo
}

while [ $# -gt 0 ]; do
    part=$1
    shift
    case $part in
        files|failures)       "part_$part" ;;
        soak|fuzz|threads)    "part_$part" "$1"; shift ;;
        long)
            if [ "${1-}" = whole ]; then
                part_long whole
                shift
            else
                part_long
            fi
            ;;
        *) die "there is no part '$part'" ;;
    esac
done
