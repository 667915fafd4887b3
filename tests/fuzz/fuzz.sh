#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the fuzzers: options; frames on the CPU; frames on the CUDA backend with the stand-in for the driver; mvview on
# both; streams for mvfps, mvdenoise, mvdeint, mvstab and mvstereo. New inputs are kept in build/fuzz/ and used by the next run.
# Inputs that fail are build/fuzz/crash-*.
#
# usage: fuzz.sh RESULTS OBJ STANDIN_DIR SECONDS [NAME...]
#   SECONDS   for each fuzzer; 0: run each corpus once; replay: the same, with the programs gpume_replay_*
#   NAME      options, cpu, cuda, view, view-cuda, fps, denoise, deint, stab, stereo; default: all
# GPUME_FUZZ_SEED: random seed, to repeat a run

set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib.sh"
obj=$2
standin=$3
seconds=$4
shift 4

out=$top/build/fuzz
mkdir -p "$out"
ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
UBSAN_OPTIONS=print_stacktrace=1
# abort at the first error that the stand-in finds
GPUME_STANDIN_ABORT=1
export ASAN_OPTIONS UBSAN_OPTIONS GPUME_STANDIN_ABORT

# fuzz NAME CORPUS ARGUMENT...: the program is gpume_fuzz_CORPUS, or gpume_fuzz_$program where that is set
program=
fuzz() {
    fuzzer=$1
    corpus=$2
    shift 2
    mkdir -p "$out/$corpus"
    log=$out/$fuzzer.log
    if [ "$seconds" = replay ]; then
        inputs=$(find "$top/tests/fuzz/corpus/$corpus" -type f | grep -c .)
        if ! "$obj/gpume_replay_${program:-$corpus}" "$top/tests/fuzz/corpus/$corpus"/* > "$log" 2>&1 ||
           [ "$(tail -n 1 "$log")" != "$inputs inputs" ] || [ "$inputs" -lt 10 ]; then
            fail "replay-$fuzzer" "the last file that $log names"
        else
            ok "replay-$fuzzer ($inputs inputs)"
        fi
        return
    fi
    if [ "$seconds" = 0 ]; then
        set -- -runs=0 "$@"
    else
        set -- -max_total_time="$seconds" "$@"
    fi
    [ -z "${GPUME_FUZZ_SEED-}" ] || set -- -seed="$GPUME_FUZZ_SEED" "$@"
    status=0
    "$obj/gpume_fuzz_${program:-$corpus}" -print_final_stats=1 -timeout=60 -rss_limit_mb=3000 \
        -artifact_prefix="$out/crash-$fuzzer-" "$@" \
        "$out/$corpus" "$top/tests/fuzz/corpus/$corpus" > "$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    cov=$(sed -n 's/^#[0-9].* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    if [ $status != 0 ]; then
        fail "fuzz-$fuzzer" "see $log: $(grep -E '^SUMMARY|runtime error|written to' "$log" | tail -n 1)"
    elif [ "${runs:-0}" -lt 10 ]; then
        fail "fuzz-$fuzzer" "only ${runs:-no} executions; see $log"
    else
        ok "fuzz-$fuzzer ($runs executions, $cov edges)"
        say "fuzz-$fuzzer: $runs executions, $cov edges, nothing found"
    fi
}

[ $# -gt 0 ] || set -- options cpu cuda view view-cuda fps denoise deint stab stereo
for name; do
    case $name in
        options)
            [ "$seconds" = replay ] || "$obj/gpume_fuzz_options" -dict > "$out/options.dict"
            fuzz options options -max_len=300 -dict="$out/options.dict"
            ;;
        cpu)
            GPUME_FUZZ_BACKENDS=cpu fuzz cpu frames -max_len=300
            ;;
        cuda)
            if [ ! -f "$standin/libcuda.so.1" ]; then
                skip fuzz-cuda "there is no stand-in for the driver"
                continue
            fi
            GPUME_FUZZ_BACKENDS=cuda,frames LD_LIBRARY_PATH=$standin fuzz cuda frames -max_len=300
            ;;
        view)
            GPUME_FUZZ_BACKENDS=cpu fuzz view view -max_len=400
            ;;
        view-cuda)
            if [ ! -f "$standin/libcuda.so.1" ]; then
                skip fuzz-view-cuda "there is no stand-in for the driver"
                continue
            fi
            GPUME_FUZZ_BACKENDS=cuda LD_LIBRARY_PATH=$standin fuzz view-cuda view -max_len=400
            ;;
        fps | denoise | deint | stab | stereo)
            program=stream
            GPUME_FUZZ_FILTER=mv$name fuzz "$name" "$name" -max_len=400
            program=
            ;;
        *)
            die "there is no fuzzer '$name'" ;;
    esac
done
