#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs parts of the tests. Prints what failed, and last one line 'N passed, N failed, N skipped'. All results are in
# build/results/. What the parts need is built first. Then the parts run in two rows, so that one row uses the cores
# that the other one leaves idle.
#
# usage: tests/run.sh [-s SERIES] PART...
#   fate       builds the series and runs all its FATE tests, units included; with QUICK=1 the tests of
#              tests/fate/other_builds.mak
#   san        FATE under AddressSanitizer and UndefinedBehaviorSanitizer. Tests that reach a device run on the
#              stand-in for the driver. Driver calls fail in turn, and the fuzzers' corpora run once
#   valgrind   units and two tests under valgrind
#   cuda       the stand-in's own tests; frames on the device compared with the CPU
#   files      signals that end ffmpeg: its output files must be complete or absent
#   soak       random streams on every backend against the oracle, GPUME_SOAK seconds (20)
#   fuzz       the fuzzers, GPUME_FUZZ seconds each (12); 0 builds them only
#   threads    random streams under ThreadSanitizer, twice GPUME_THREADS seconds (5)
#   failures   each driver call fails in turn, for one search of each kind
#   long       memory over many frames, graphs and changes
#   ffmpeg     FFmpeg's own FATE tests that need no samples, in a tree with everything that FFmpeg has;
#              with GPUME_CHANGED=1 only if tests/ffmpeg/passed is about other patches
#   patches    every patch series on its pristine source
#   build      configure and the Makefile
#   demo       the demonstration on a short clip
#   gpl        a build under the GPL, if there is libx264, and the FATE tests that need it
#   mpi        gpume-mpi with 1 to 4 ranks, and under Slurm, if there is MPI
#   series     builds every other series and runs the tests of other_builds.mak, without QUICK all tests
#   aarch64    for 64-bit Arm, by QEMU: checkasm, units and FATE on two processors, the choice between
#              them, the kernels on the stand-in; with QUICK=1 the tests of other_builds.mak, no kernels
#   windows    for Windows, by Wine: checkasm, units, FATE, files, and with the stand-in as nvcuda.dll the FATE
#              tests that reach a device; with QUICK=1 the tests of other_builds.mak, no kernels
#   packages   the packages in bare Debians, for Arm by QEMU, for Windows by Wine, and Debian's own source with the
#              patch; PARTS: those of tests/packages.sh. Needs root, and an hour
#   shared     the shared libraries, built and installed, and programs that link them
#   examples   the scripts of examples/ on small input
#   style      the format of the repository's text files
# GPUME_VIDEO is a folder of real clips; without it the tests that use it are skipped. With GPUME_LONG=whole the parts
# san, failures and long run everything, as in 'make nightly'. GPUME_MINUTES is about how much processor time the parts
# take, for a message.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
results=/dev/null

series=
if [ "${1-}" = -s ]; then
    series=$2
    shift 2
fi
if [ $# = 0 ]; then
    die "usage: tests/run.sh [-s SERIES] PART..."
fi

GPUME_VIDEO=${GPUME_VIDEO:-../shared/video}
GPUME_VIDEO=$(cd "$GPUME_VIDEO" 2>/dev/null && pwd)
export GPUME_VIDEO
export GPUME_CLIPS="$top/tests/clips"
# time limit of a part; a test that hangs counts as failed
limit=${GPUME_TEST_LIMIT:-1500}

mkdir -p build/results
base=build/$series
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

# use the python3 that has numpy, if it is not the first one
if ! python3 -c 'import numpy' 2>/dev/null && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    mkdir -p build/results/bin
    ln -sf /usr/bin/python3 build/results/bin/python3
    PATH=$top/build/results/bin:$PATH
fi

submake() {
    make --no-print-directory "$@"
}

# tests_of OBJ TARGET: lists the FATE tests that a make target runs.
tests_of() {
    make -n -k -C "$1" "$2" 2>/dev/null |
    sed -n 's/.*echo "TEST  *\([^"]*\)".*/\1/p' | sort -u
}

# run_fate NAME OBJ TARGET [MAKE_ARGUMENT...]: results are called NAME/TEST.
run_fate() {
    prefix=$1
    obj=$2
    target=$3
    shift 3
    log=build/results/$prefix.log
    expected=build/results/$prefix.expected
    skipped=build/results/$prefix.skipped
    rm -f "$obj"/tests/data/fate/*.rep
    timeout "$limit" make --no-print-directory -k -j"$jobs" -C "$obj" "$target" "$@" 2>&1 | tee "$log"

    # 'numpy: skipped, WHY': the test gpume-numpy, or a part of some test
    sed -n 's/^\([A-Za-z0-9_-]*\): skipped, \(.*\)/\1 \2/p' "$log" | sort -u > "$skipped"
    tests_of "$obj" "$target" > "$expected"
    if [ ! -s "$expected" ]; then
        fail "$prefix" "$target runs no test; see $log"
    fi
    while read -r test; do
        rep=$obj/tests/data/fate/$test.rep
        if [ ! -f "$rep" ]; then
            fail "$prefix/$test" "did not run; see $log"
        elif [ "$(sed -n '1s/^[^:]*:\([^:]*\):.*/\1/p' "$rep")" != 0 ]; then
            fail "$prefix/$test" "see $log"
        elif ! grep -q "^${test#gpume-} " "$skipped"; then
            ok "$prefix/$test"
        fi
    done < "$expected"
    while read -r what why; do
        skip "$prefix/$what" "$why"
    done < "$skipped"

    # tests that are skipped because there are no clips
    if [ -z "$GPUME_VIDEO" ]; then
        GPUME_VIDEO=/ tests_of "$obj" "$target" > "$expected-with-clips"
        comm -13 "$expected" "$expected-with-clips" > "$skipped"
        while read -r test; do
            skip "$prefix/$test" "GPUME_VIDEO names no folder of clips"
        done < "$skipped"
    fi
}

# Builds what the parts need, each tree once. A part whose tree could not be built reports this
# itself: it builds again, which is quick for trees that have been built.
want() {
    case " $trees " in
        *" $1 "*) ;;
        *) trees="$trees $1" ;;
    esac
}

build_trees() {
    trees=
    standin=
    for part; do
        case $part in
            fate|files|soak|long|build|demo|valgrind|gpl|examples|mpi) ;;
            san|failures)  want san; standin=1 ;;
            cuda)          standin=1 ;;
            fuzz)          want fuzz ;;
            threads)       want tsan ;;
            *)       continue ;;
        esac
        any=1
    done
    if [ -z "${any-}" ] || ! submake SERIES="$series" configured; then
        return
    fi
    # FFmpeg's configure runs on one core
    for tree in $trees; do
        tools/ffconfigure.sh "$base-$tree" > "build/results/configure-$tree.log" 2>&1 &
    done
    wait
    submake SERIES="$series" all tests
    if [ -n "$standin" ] && has_cuda "$base/obj"; then
        say "building the stand-in for the CUDA driver"
        make -f tests/standin/standin.mak -j"$jobs" standin standin-asan > build/results/standin-build.log 2>&1
    fi
    for tree in $trees; do
        say "building in $base-$tree"
        case $tree in
            san)  tools/progress.sh "$base-san/obj" -j"$jobs" ffmpeg libavfilter/tests/gpume_soak \
                          libavfilter/tests/gpume_unit libavfilter/tests/gpume_robustness &&
                      make -s -f tests/fuzz/fuzz.mak -j"$jobs" OBJ="$base-san/obj" SRC="$base/src" replay ;;
            fuzz) tools/progress.sh "$base-fuzz/obj" -j"$jobs" libavfilter/libavfilter.a libavutil/libavutil.a &&
                      make -s -f tests/fuzz/fuzz.mak -j"$jobs" OBJ="$base-fuzz/obj" SRC="$base/src" ;;
            tsan) tools/progress.sh "$base-tsan/obj" -j"$jobs" libavfilter/tests/gpume_soak libavfilter/tests/gpume_mvstab ;;
        esac
    done
}

part_fate() {
    # the objects of the other series that no test needs are not built for the part 'series'
    only=${1-}
    if [ ! -d "$base/src" ]; then
        status=0
        tools/fetch.sh build ffmpeg "$series" > build/results/fetch.log 2>&1 || status=$?
        if [ $status = 2 ]; then
            skip "fate-$series" "FFmpeg $series is no longer in Debian's archive"
            return
        fi
    fi
    if ! submake SERIES="$series" ${only:+"SERIES_ARGS=$only"} all; then
        fail "build-$series" "make SERIES=$series"
        return
    fi
    ok "build-$series"
    # The newest series has all tests that other_builds.mak names; other series may lack some.
    missing=$(make -s --no-print-directory -C "$base/obj" fate-gpume-other-builds-missing 2>&1)
    if [ -z "${QUICK-}" ] && [ "$series" = "$(all_series . | sed -n 1p)" ]; then
        check fate-other-builds-names "tests/fate/other_builds.mak names tests that there are not: $missing" test -z "$missing"
    elif [ -n "$missing" ]; then
        say "not tested with FFmpeg $series: $missing"
    fi
    run_fate "fate-$series" "$base/obj" "fate-gpume${QUICK:+-other-builds}"
}

part_series() {
    newest=$series
    for series in $(all_series .); do
        base=build/$series
        [ "$series" = "$newest" ] || part_fate --only-tested
    done
    series=$newest
    base=build/$series
}

# The stand-in takes a hundred times as long as a processor, and valgrind is slow, too: the units have fewer cases.
every=23
[ -z "${GPUME_LONG-}" ] || every=

# build_standin: builds the stand-in for the driver, for both kinds of programs.
build_standin() {
    log=build/results/standin.log
    if ! make -f tests/standin/standin.mak -j"$jobs" standin standin-asan > "$log" 2>&1; then
        tail "$log"
        fail "$1-standin-build" "the stand-in for the driver; see $log"
        return 1
    fi
}

part_san() {
    obj=$base-san/obj
    if ! submake SERIES="$series" sanitized || ! submake -j"$jobs" -C "$obj" ffmpeg ||
       ! make -s -f tests/fuzz/fuzz.mak -j"$jobs" OBJ="$obj" SRC="$base/src" replay; then
        fail "san-build-$series" "the build for the sanitizers"
        return
    fi
    ok "san-build-$series"
    library=
    scripts=
    if has_cuda "$obj"; then
        build_standin san || return
        library=$top/build/standin-asan
    fi
    # these parts use one core each, in parallel with the parts that use all cores
    if [ -n "$library" ]; then
        sh tests/cuda-fail.sh "$results" "$obj/ffmpeg" "$library" &
        scripts=$!
    else
        skip cuda-fail "built without CUDA"
    fi
    sh tests/fuzz/fuzz.sh "$results" "$obj" "$library" replay &
    scripts="$scripts $!"
    # first the CPU's code, without a visible device
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    export ASAN_OPTIONS UBSAN_OPTIONS
    run_fate "san-$series" "$obj" fate-gpume-san
    LD_LIBRARY_PATH=$library run_fate "san-device-$series" "$obj" fate-gpume-standin GPUME_EVERY="$every"
    unset ASAN_OPTIONS UBSAN_OPTIONS
    # shellcheck disable=SC2086  # a list of words
    wait $scripts
    sed -n 's/^ok \(cuda-fail\|replay-\)/\1/p' "$results"
}

part_cuda() {
    if ! submake SERIES="$series" all; then
        fail "build-$series" "make SERIES=$series"
        return
    fi
    if ! has_cuda "$base/obj"; then
        skip "cuda-$series" "built without CUDA"
        return
    fi
    build_standin cuda || return
    check standin "its own tests; see $log" \
        sh -c "make -f tests/standin/standin.mak check-standin > '$log' 2>&1"
    tail -n 1 "$log"
    sh tests/cuda-frames.sh "$results" "$base/obj/ffmpeg" "$top/build/standin"
}

part_valgrind() {
    if ! have valgrind; then
        skip "valgrind-$series" "there is no valgrind"
        return
    fi
    if ! submake SERIES="$series" all > build/results/valgrind-build.log 2>&1; then
        fail "valgrind-$series" "make SERIES=$series"
        return
    fi
    run_fate "valgrind-$series" "$base/obj" fate-gpume-valgrind \
        TARGET_EXEC="$top/tests/valgrind.sh" GPUME_EVERY="$every"
}

reliability() { sh tests/reliability.sh "$results" "$series" "$@"; }
part_files() { reliability files; }
part_soak() { reliability soak "${GPUME_SOAK:-20}"; }
part_fuzz() {
    # a fixed seed: the same run each time, up to the time limit
    GPUME_FUZZ_SEED=${GPUME_FUZZ_SEED:-1}
    export GPUME_FUZZ_SEED
    reliability fuzz "${GPUME_FUZZ:-12}"
}
part_threads() { reliability threads "${GPUME_THREADS:-5}"; }
part_failures() { reliability failures; }
part_long() { reliability long ${GPUME_LONG:+"$GPUME_LONG"}; }
part_ffmpeg() {
    sum=$(cat "patches/$series/"* codec/* tests/ffmpeg/exceptions | cksum)
    if [ -n "${GPUME_CHANGED-}" ] && grep -qx "$series $sum" tests/ffmpeg/passed; then
        ok "ffmpeg-$series-passed-with-these-patches"
        return
    fi
    obj=$base-fate/obj
    log=build/results/ffmpeg.log
    if ! submake SERIES="$series" fate-tree; then
        fail "ffmpeg-build-$series" "the build of all that FFmpeg has; see $base-fate/make.log"
        return
    fi
    ok "ffmpeg-build-$series"
    expected=build/results/ffmpeg.expected
    # gpume's own tests run in the other trees
    filters=$(sed -n '/^common/d; s/^\([a-z]*\) .*/\1/p' filters.list | paste -s -d '|' -)
    make -s -C "$obj" fate-list 2>/dev/null | sed -n 's/^fate-//p' | grep -Ev "^($filters)-" | sort -u > $expected
    rm -f "$obj"/tests/data/fate/*.rep
    # shellcheck disable=SC2046  # a list of words
    timeout "${GPUME_TEST_LIMIT:-7200}" make --no-print-directory -s -k -j"$jobs" -C "$obj" \
        $(sed 's/^/fate-/' $expected) > $log 2>&1
    while read -r test; do
        why=$(sed -n "s/^$test  *//p" tests/ffmpeg/exceptions)
        passes=
        if [ "$(sed -n '1s/^[^:]*:\([^:]*\):.*/\1/p' "$obj/tests/data/fate/$test.rep" 2>/dev/null)" = 0 ]; then
            passes=1
        fi
        case $passes-$why in
            1-)  ok "ffmpeg-$series/$test" ;;
            1-*) fail "ffmpeg-$series/$test" "it passes: take it out of tests/ffmpeg/exceptions" ;;
            -)   fail "ffmpeg-$series/$test" "see $log" ;;
            *)   skip "ffmpeg-$series/$test" "$why" ;;
        esac
    done < $expected
    check "ffmpeg-$series/number" "fate-list names $(grep -c '' $expected) tests" \
        test "$(grep -c '' $expected)" -gt 1500
    if ! grep -q '^FAIL' "$results"; then
        say "all as expected: tests/ffmpeg/passed may have the line '$series $sum'"
    fi
}
part_patches() { sh tests/patches.sh "$results"; }
part_build() { sh tests/build.sh "$results" "$series"; }
part_gpl() {
    if ! submake SERIES="$series" NO_INSTALL=-n gpl > build/results/gpl-build.log 2>&1; then
        fail "gpl-build-$series" "make gpl; see build/results/gpl-build.log"
    elif [ ! -x "$base-gpl/obj/ffmpeg" ]; then
        skip "gpl-$series" "there is no libx264 (Debian's package: libx264-dev)"
    else
        ok "gpl-build-$series"
        run_fate "gpl-$series" "$base-gpl/obj" fate-gpume-gpl
        sh tests/bench.sh "$results" "$series"
    fi
}

# build_cross NAME: builds the series and its tests for another system.
build_cross() {
    obj=$base-$1/obj
    if ! submake SERIES="$series" CROSS="$1" SERIES_ARGS=--only-tested all ||
       ! suffix=$(sed -n 's/^EXESUF=//p' "$obj/ffbuild/config.mak") ||
       ! submake -s -j"$jobs" -C "$obj" "tests/checkasm/checkasm$suffix" "libavfilter/tests/gpume_unit$suffix" \
             > "build/results/$1-build.log" 2>&1; then
        fail "$1-build-$series" "make SERIES=$series CROSS=$1 all; see $obj/../make.log, build/results/$1-build.log"
        return 1
    fi
    ok "$1-build-$series"
    # how FATE runs its programs
    exec=$(sed -n 's/^TARGET_EXEC=\(.*[^ ]\) *$/\1/p' "$obj/ffbuild/config.mak")
}

part_aarch64() {
    if ! build_cross aarch64; then
        return
    fi
    sh tests/aarch64.sh "$results" "$obj" "$exec"
    # the whole set takes longer than here
    limit=${GPUME_TEST_LIMIT:-7200}
    run_fate "aarch64-$series" "$obj" "fate-gpume${QUICK:+-other-builds}" GPUME_EVERY="${QUICK:+23}"
    if [ -n "${QUICK-}" ] || ! has_cuda "$obj"; then
        return
    fi
    if ! make -f tests/standin/standin.mak -j"$jobs" STANDIN_OUT=build/standin-aarch64 \
            STANDIN_CXX=aarch64-linux-gnu-g++ STANDIN_OBJCOPY=aarch64-linux-gnu-objcopy standin \
            > build/results/aarch64-standin.log 2>&1; then
        fail aarch64-standin-build "the stand-in for the driver; see build/results/aarch64-standin.log"
        return
    fi
    ok aarch64-standin-build
    LD_LIBRARY_PATH=$top/build/standin-aarch64 run_fate "aarch64-cuda-$series" "$obj" fate-gpume-standin
}

part_windows() {
    if ! build_cross windows; then
        return
    fi
    sh tests/windows.sh "$results" "$obj" "$exec"
    run_fate "windows-$series" "$obj" "fate-gpume${QUICK:+-other-builds}"
    if [ -n "${QUICK-}" ] || ! has_cuda "$obj"; then
        return
    fi
    if ! have winegcc; then
        skip "windows-cuda-$series" "there is no winegcc"
        return
    fi
    if ! { make -f tests/standin/standin.mak -j"$jobs" standin &&
           tests/standin/nvcuda.sh build/standin build/standin-windows; } > build/results/windows-standin.log 2>&1; then
        fail windows-standin-build "the stand-in as nvcuda.dll; see build/results/windows-standin.log"
        return
    fi
    ok windows-standin-build
    cp build/standin-windows/nvcuda.dll "$obj/"
    cp build/standin-windows/nvcuda.dll "$obj/libavfilter/tests/"
    run_fate "windows-cuda-$series" "$obj" fate-gpume-standin \
        TARGET_EXEC="env LD_LIBRARY_PATH=$top/build/standin WINEDLLPATH=$top/build/standin-windows $exec"
    rm -f "$obj/nvcuda.dll" "$obj/libavfilter/tests/nvcuda.dll"
}

part_packages() {
    # shellcheck disable=SC2086  # a list of words
    sh tests/packages.sh "$results" "$series" ${PARTS-}
}
part_wheels() {
    # shellcheck disable=SC2086  # a list of words
    sh tests/wheels.sh "$results" "$series" ${PARTS-}
}
part_shared() { sh tests/shared.sh "$results" "$series"; }
part_examples() { sh tests/examples.sh "$results" "$series"; }
part_mpi() {
    if ! submake SERIES="$series" NO_INSTALL=-n mpi > build/results/mpi-build.log 2>&1; then
        fail "mpi-build-$series" "make mpi; see build/results/mpi-build.log"
        return
    fi
    sh tests/mpi.sh "$results" "$series"
    sh tests/slurm.sh "$results" "$series"
}
part_demo() { sh tests/demo.sh "$results" "$series"; }
part_style() { sh tests/style.sh "$results"; }

for part; do
    case $part in
        fate|san|cuda|valgrind|gpl|examples|mpi|series|aarch64|windows|files|soak|fuzz|threads|failures|long|ffmpeg|patches|build|demo|packages|shared|style|wheels) ;;
        *) die "there is no part '$part'" ;;
    esac
done

# processor_time FILE: sets $used, the seconds of user and system time of the commands that this shell has waited for.
processor_time() {
    times > "$1"
    used=$(sed '1d; s/[ms]/ /g' "$1" | { read -r um us sm ss; echo $((um * 60 + ${us%.*} + sm * 60 + ${ss%.*})); })
}

# run PART: runs it and prints its time.
run() {
    results=$top/build/results/$1.txt
    part_began=$(date +%s)
    processor_time "$results"
    before=$used
    : > "$results"
    say "== $1${series:+ ($series)}"
    "part_$1"
    if [ ! -s "$results" ]; then
        fail "$1" "gave no result at all"
    fi
    processor_time "build/results/$1.times"
    say "== $1: $(($(date +%s) - part_began)) s, $((used - before)) s of processor time"
}

# The first row has the parts that keep all cores busy for long. The other parts run in the second row; each prints its
# output when it is done.
first_row='fate san valgrind examples aarch64 windows shared ffmpeg'
in_first_row() {
    case " $first_row " in
        *" $1 "*) ;;
        *) return 1 ;;
    esac
}

began=$(date +%s)
if [ -n "${GPUME_MINUTES-}" ]; then
    say "== about $((GPUME_MINUTES / jobs + 1)) minutes with $jobs cores; results are in build/results"
fi
build_trees "$@"
processor_time build/results/built.times
say "== built in $(($(date +%s) - began)) s, $used s of processor time; testing $*"
(
    for part; do
        if ! in_first_row "$part"; then
            run "$part" > build/results/beside.out 2>&1
            cat build/results/beside.out
        fi
    done
) &
beside=$!
trap 'kill $beside 2>/dev/null; exit 1' HUP INT TERM
for part; do
    if in_first_row "$part"; then
        # this shell would count the processor time of the second row, if that ends during the part
        (run "$part")
    fi
done
wait $beside

say "== all: $((($(date +%s) - began + 30) / 60)) minutes"
all=build/results/all.txt
for part; do
    cat "build/results/$part.txt"
done > $all

count() { grep -c "^$1 " $all; }
passed=$(count ok)
failed=$(count FAIL)
skipped=$(count skipped)
if [ "$failed" -gt 0 ]; then
    say "== failed"
    grep '^FAIL ' $all
fi
if [ "$skipped" -gt 0 ]; then
    say "$passed passed, $failed failed, $skipped skipped"
else
    say "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
