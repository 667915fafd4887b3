#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests on a GPU: 'make check-gpu'. First the programs and files needed are copied
# to build/gpu from the tree that was built here. If there is none, a build/gpu copied
# from another machine is used as it is. Prints the failures and a last line
# 'N passed, N failed, N skipped'.
#
# usage: tests/gpu.sh [-g] [SERIES]
#   -g    only prepare build/gpu
# PARTS: some of 'streams fate sanitizers field'; default: all. JOBS: number of tests of FATE and
# compute-sanitizer that run at once. QUICK=1 shortens the part 'field', see
# tests/gpu-reliability.sh, and the input of racecheck, which is by far the slowest. GPUME_HW and
# GPUME_UP allow a trial on a device without a decoder: options before the input, and filters before
# gpume.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
mkdir -p build/results
results=$top/build/results/gpu.txt
: > "$results"

gather_only=
if [ "${1-}" = -g ]; then
    gather_only=1
    shift
fi
series=${1:-$(sed -n 's/^DEFAULT_SERIES = //p' build/config.mk 2>/dev/null)}
gpu=$top/build/gpu
tree=$top/build/$series
parts=${PARTS:-streams field fate sanitizers}
jobs=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)}
[ "$jobs" -le 16 ] || jobs=16
hw=${GPUME_HW-'-hwaccel cuda -hwaccel_output_format cuda -extra_hw_frames 16'}
up=${GPUME_UP-}
# without a home directory, the driver would compile the kernels again for each process
[ -w "${HOME:-/nonexistent}" ] || export CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-$top/build/cuda-cache}"
programs='gpume_unit gpume_compare gpume_hint_constant gpume_robustness gpume_mvdeint gpume_mvdenoise gpume_mvfps gpume_mvstab gpume_mvstereo gpume_mvview gpume_soak gpume_bench'
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

# Copies FATE's script, its references and the commands that its makefile would run.
gather() {
    set --
    for program in $programs; do
        set -- "$@" "libavfilter/tests/$program"
    done
    make --no-print-directory SERIES="$series" all &&
        make -s --no-print-directory -C "$tree/obj" "$@" || return
    rm -rf "$gpu"
    mkdir -p "$gpu/obj/libavfilter/tests" "$gpu/obj/tests/data/fate" "$gpu/src/tests/ref/fate" \
             "$gpu/src/tests/fate" "$gpu/clips"
    # FFmpeg's make may call its source folder ./src
    ln -s ../src "$gpu/obj/src"
    for program in ffmpeg "$@"; do
        strip -o "$gpu/obj/$program" "$tree/obj/$program" || return
    done
    # bench/README.md
    ln -s libavfilter/tests/gpume_bench "$gpu/obj/gpume_bench"
    "${CC:-cc}" -O2 -fPIC -shared -o "$gpu/obj/gpume_calls.so" bench/calls.c -ldl -lpthread || return
    cp "$tree/src/tests/fate-run.sh" "$tree/src/tests/md5.sh" "$gpu/src/tests/"
    cp "$tree"/src/tests/ref/fate/gpume* "$gpu/src/tests/ref/fate/"
    cp "$tree"/src/tests/fate/gpume* "$gpu/src/tests/fate/"
    cp tests/clips/*.* "$gpu/clips/"
    video=$(cd "${GPUME_VIDEO:-../shared/video}" 2>/dev/null && pwd)
    if [ -n "$video" ]; then
        cp "$video"/*.mp4 "$gpu/clips/"
    fi
    if [ -n "$gather_only" ]; then
        bench_input=${INPUT:-$gpu/clips/bigbuckbunny.mp4}
        if [ ! -r "$bench_input" ]; then
            tools/demo.sh clip "$gpu/obj" || return
            bench_input=build/demo/input.mp4
        fi
        mkdir "$gpu/bench"
        if [ -x "$tree/obj/gpume-mpi" ]; then
            strip -o "$gpu/obj/gpume-mpi" "$tree/obj/gpume-mpi" || return
        fi
        git rev-parse --short HEAD > "$gpu/commit" || return
        bench/make-clip.sh "$gpu/obj" "$bench_input" "$gpu/bench/${bench_input##*/}-1080p.mkv" || return
    fi
    GPUME_VIDEO=@GPU@/clips make -n -k -C "$tree/obj" fate-gpume-device 2>/dev/null |
        sed -n "/fate-run.sh/{ s,$tree/src,@GPU@/src,g; s,$tree/obj,@GPU@/obj,g; p; }" > "$gpu/fate.list"
    chmod -R u+w "$gpu"
    [ -s "$gpu/fate.list" ]
}

if [ -d "$tree/obj/libavfilter" ] && [ -n "$series" ]; then
    gather || die "could not prepare build/gpu from $tree"
fi
[ -x "$gpu/obj/ffmpeg" ] || die "there is no built tree: run make first, or copy build/gpu from another machine"
if [ -n "$gather_only" ]; then
    say "build/gpu: $(du -sh "$gpu" | cut -f1), $(grep -c . "$gpu/fate.list") FATE tests"
    exit
fi

tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
cd "$gpu/obj" || exit
ffmpeg() { timeout 300 ./ffmpeg -hide_banner -nostdin -loglevel error "$@"; }
# shellcheck disable=SC2086  # a list of words
device() { ffmpeg $hw "$@"; }
# hints: prints the size of AV_FRAME_DATA_VIDEO_HINT of each frame from showinfo's output; FFmpeg
# 7.1 does not name the type
hints() { sed -n -e 's/.*ncoding video hint: *//p' -e 's/.*unknown side data type [0-9]* //p'; }
summary() {
    cd "$top" || exit
    passed=$(grep -c '^ok ' "$results")
    failed=$(grep -c '^FAIL ' "$results")
    say "$passed passed, $failed failed, $(grep -c '^skipped ' "$results") skipped"
    [ "$failed" = 0 ]
}

if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader
fi
if ! ffmpeg -init_hw_device cuda=cu:0 -f lavfi -i nullsrc -frames:v 1 -f null - > "$tmp/log" 2>&1; then
    cat "$tmp/log"
    fail gpu "no CUDA device can be opened"
    summary
    exit 1
fi

# Tests that do not depend on others run in parallel: $tmp/queue has a script for each test, which
# saves its output and its status. They start in the order of their names, $jobs at a time.
queue() {
    [ -n "$(ls "$tmp/queue")" ] || return
    ! [ -f "$tmp/queue/graphs" ] || sh "$tmp/queue/graphs" > "$tmp/queue/graphs.log" 2>&1 || rm -rf "$tmp/vectors"
    # shellcheck disable=SC2016
    find "$tmp/queue" -name '*.sh' | sort |
        xargs -P "$jobs" -n 1 sh -c 'began=$(date +%s); sh "$0" > "$0.log" 2>&1 < /dev/null; echo $? > "$0.status"
            echo "($(($(date +%s) - began)) s: ${0##*/})" >> "${0%/*}/times"'
    sort -rn -k 1.2 "$tmp/queue/times" | head -n 5
}

# verdict NAME SCRIPT...: ok if all scripts succeeded; else the reason is the last line of output
verdict() {
    what=$1
    shift
    for script; do
        if [ "$(cat "$script.status" 2>/dev/null)" != 0 ]; then
            tail -n 20 "$script.log"
            fail "$what" "$(tail -n 1 "$script.log")"
            return
        fi
    done
    ok "$what"
}

# FATE's tests that reach the device; backend=auto chooses the GPU. Creating a context takes longer
# than a search, so tests that only write one file are graphs of one process, and then only the
# files are compared. Programs leave out what does not reach the device. The longest run in shares,
# whose names end with a digit.
prepare_fate() {
    mkdir "$tmp/vectors"
    awk -v gpu="$gpu" -v tmp="$tmp" '
        BEGIN { graphs = "timeout 300 ./ffmpeg -v error -nostdin -nostats -noauto_conversion_filters" }
        {
            gsub("@GPU@", gpu)
            sub("tests/gpume_robustness", "& -gpu")
            sub(/tests\/gpume_(hint_constant|mv[a-z]+)/, "& -device")
            sub("tests/gpume_unit", "& -backend cuda")
            match($0, / fate-[^ ]*/)
            name = substr($0, RSTART + 6, RLENGTH - 6)
            shares = name ~ /^gpume-unit/ ? 3 : name ~ /^gpume-compare(-clips)?$/ ? 4 : 1
            # where FATE itself runs a program in shares, one of them is divided
            first = 0
            all   = shares
            if (shares > 1 && match($0, /-share [0-9]+\/[0-9]+/)) {
                split(substr($0, RSTART + 7, RLENGTH - 7), share, "/")
                first = (share[1] - 1) * shares
                all   = share[2] * shares
                sub(/ -share [0-9]+\/[0-9]+/, "")
            }
        }
        match($0, /\047(\. [^ ]*; gpume_sums )?ffmpeg +-lavfi "[^"]*_file=-" -f null -\047/) {
            graph = substr($0, RSTART, RLENGTH)
            sums = graph ~ /gpume_sums/
            reference = substr($0, RSTART + RLENGTH)
            sub(/^[^"]*/, "", graph)
            sub(/-" .*/, tmp "/vectors/" name ".csv\"", graph)
            graphs = graphs " -lavfi " graph
            split(reference, words, "\047")
            reference = words[4] ? words[4] : gpu "/src/tests/ref/fate/" name
            output = tmp "/vectors/" name ".csv"
            $0 = ""
            if (sums) {
                $0 = "outfile=" output "; . " gpu "/src/tests/fate/gpume_sums.sh; gpume_sums cat " output " > " output ".sums; "
                output = output ".sums"
            }
            $0 = $0 "diff -u -b " reference " " output
        }
        {
            for (i = 1; i <= shares; i++) {
                line = $0
                if (shares > 1) {
                    sub(" fate-[^ ]*", "&-" i, line)
                    sub("tests/gpume_[a-z]*", "& -share " (first + i) "/" all, line)
                }
                file = tmp "/queue/" (/libavfilter\/tests/ ? 2 : 3) "-" name "." i ".sh"
                print (line ~ /^outfile=/ ? "" : "timeout 600 ") line > file
                close(file)
            }
        }
        END { print graphs " -f null -" > (tmp "/queue/graphs") }' "$gpu/fate.list"
}

fate() {
    wait "$queue"
    sed -n 's/.*fate-run.sh fate-\([^ ]*\).*/\1/p' "$gpu/fate.list" > "$tmp/names"
    while read -r name; do
        verdict "fate/$name" "$tmp/queue"/?-"$name".*.sh
    done < "$tmp/names"
    cat "$tmp/queue/graphs.log"
    sed -n 's/^\([A-Za-z0-9_-]*: skipped, .*\)/\1/p' "$tmp"/queue/[23]-*.log | sort -u
}

# same NAME INPUT GRAPH_CPU GRAPH_GPU: compares decoding by NVDEC and searching in place
# with decoding and searching on the CPU
same() {
    ffmpeg -i "$2" -vf "$3" -f null - > "$tmp/cpu" 2> "$tmp/log"
    device -i "$2" -vf "$up$4" -f null - > "$tmp/gpu" 2>> "$tmp/log"
    if [ "$(grep -c . "$tmp/cpu")" -gt 100 ] && cmp -s "$tmp/cpu" "$tmp/gpu"; then
        ok "$1"
    else
        fail "$1" "vectors differ: $(tail -n 1 "$tmp/log")"
    fi
}

# Streams, one and several. All searches of a clip run in one process on the same frames, with one
# context.
streams() {
    searches="$(combinations FULL range=16 range=12:block=8 range=20:block=32 range=8:block=4)
$(combinations PATTERN range=16 range=64 range=40:block=8 range=16:block=4 range=64:block=32)
$(combinations PREDICTIVE range=16 range=100 range=40:block=8 range=20:block=4 range=30:block=32)
$(combinations HIERARCHICAL range=256 range=40:block=8 range=90:block=4 range=64:block=32:smooth=9:pel=2)
$(combinations PREDICTIVE check=1 smooth=2:check=1:pel=4)
ds:smooth=2 ds:check=1:block=8 ds:range=64:smooth=2:check=1:pel=4 fs:range=8:pel=2:block=4"
    for clip in "$gpu"/clips/*; do
        case $clip in
            # devices do not decode AV1 of 64x64 samples
            *.md|*/av1.mkv) continue ;;
        esac
        rm -rf "$tmp/on-cpu" "$tmp/on-gpu"
        mkdir "$tmp/on-cpu" "$tmp/on-gpu"
        # shellcheck disable=SC2086  # a list of words
        {
            ffmpeg -i "$clip" -vf "$(branches trim=end_frame=30, :dir=both:backend=cpu "$tmp/on-cpu" $searches)" \
                -f null - &
            device -i "$clip" -vf "${up}$(branches trim=end_frame=30, :dir=both:backend=cuda "$tmp/on-gpu" $searches)" \
                -f null -
            wait $!
            same_vectors "nvdec/${clip##*/}" "$tmp/on-cpu" "$tmp/on-gpu" $searches
        }
    done
    rm -rf "$tmp/on-cpu" "$tmp/on-gpu"

    # In the middle of a graph on the device, twice in one graph, and followed by a download.
    clip=$gpu/clips/h264.mkv
    same chain "$clip" gpume=algo=ds:range=32:mv_file=-:backend=cpu \
        "gpume=algo=fs:range=8,gpume=algo=ds:range=32:mv_file=-,scale_cuda=160:120"
    same deep "$clip" gpume=algo=ds:mv_file=-:backend=cpu gpume=algo=ds:async_depth=16:mv_file=-
    ffmpeg -i "$clip" -vf gpume=algo=ds:backend=cpu,format=yuv420p,codecview=mv_type=fp -f framemd5 - > "$tmp/cpu"
    device -i "$clip" -vf "${up}"gpume=algo=ds,hwdownload,format=nv12,format=yuv420p,codecview=mv_type=fp -f framemd5 - > "$tmp/gpu"
    check overlay "codecview draws a different picture" cmp -s "$tmp/cpu" "$tmp/gpu"
    # only the last download leaves the device
    draw=mvview=mode=flow+arrows+blocks:legend=1
    ffmpeg -i "$clip" -vf "gpume=algo=hme:backend=cpu,format=nv12,$draw" -f framemd5 - > "$tmp/cpu"
    device -i "$clip" -vf "${up}gpume=algo=hme,$draw,hwdownload,format=nv12" -f framemd5 - > "$tmp/gpu"
    check drawn "mvview draws a different picture" cmp -s "$tmp/cpu" "$tmp/gpu"
    # unchanged parts are marked, also after a download; frames are repeated so that there are unchanged parts
    hint=loop=loop=7:size=1:start=4,gpume=algo=ds:hint=constant
    ffmpeg -i "$clip" -vf "$hint:backend=cpu,format=nv12,showinfo" -loglevel info -f null - 2>&1 | hints > "$tmp/cpu"
    device -i "$clip" -vf "${up}$hint,hwdownload,format=nv12,showinfo" -loglevel info -f null - 2>&1 | hints > "$tmp/gpu"
    check hint "other parts are marked" eval "[ -s '$tmp/cpu' ] && cmp -s '$tmp/cpu' '$tmp/gpu'"
    for options in fps=2x fps=5/2x:scene=0 mode=blend:fps=3x fps=3x:scene=1:cut=blend; do
        ffmpeg -i "$clip" -vf "gpume=algo=hme:block=8:dir=both:backend=cpu,format=nv12,mvfps=$options" \
            -fps_mode passthrough -f framemd5 - > "$tmp/cpu"
        device -i "$clip" -vf "${up}gpume=algo=hme:block=8:dir=both,mvfps=$options,hwdownload,format=nv12" \
            -fps_mode passthrough -f framemd5 - > "$tmp/gpu"
        check "mvfps/$options" "mvfps makes different pictures" cmp -s "$tmp/cpu" "$tmp/gpu"
    done
    for options in sigma=8 radius=1:passes=1 radius=2:strength=9; do
        search=gpume=algo=hme:block=8:dir=both:smooth=8:sweeps=2:refs=2
        ffmpeg -i "$clip" -vf "$search:backend=cpu,format=nv12,mvdenoise=$options" -f framemd5 - > "$tmp/cpu"
        device -i "$clip" -vf "${up}$search,mvdenoise=$options,hwdownload,format=nv12" -f framemd5 - > "$tmp/gpu"
        check "mvdenoise/$options" "mvdenoise makes different pictures" cmp -s "$tmp/cpu" "$tmp/gpu"
    done
    if ffmpeg -f lavfi -i testsrc2=size=256x256:rate=5:duration=1 -c:v h264_nvenc -f null - > "$tmp/log" 2>&1; then
        check nvenc "h264_nvenc after the filters" device -i "$clip" -vf "${up}gpume=algo=ds:dir=both,mvdenoise,mvview,mvfps" -c:v h264_nvenc -f null -
    else
        skip nvenc "this GPU has no encoder"
    fi
    if [ "$(nvidia-smi -L 2>/dev/null | grep -c GPU)" -gt 1 ]; then
        ffmpeg -i "$clip" -vf gpume=algo=ds:backend=cpu:mv_file=- -f null - > "$tmp/cpu"
        ffmpeg -i "$clip" -vf "gpume=algo=fs:backend=cuda:device=0,gpume=algo=ds:backend=cuda:device=1:mv_file=-" \
            -f null - > "$tmp/gpu"
        check two-devices "vectors differ" cmp -s "$tmp/cpu" "$tmp/gpu"
    else
        skip two-devices "there is only one GPU"
    fi

    # Four streams at once, in four processes and in one.
    opt=gpume=algo=ds:range=64:dir=both
    ffmpeg -i "$clip" -vf "$opt:backend=cpu:mv_file=-" -f null - > "$tmp/one"
    for i in 1 2 3 4; do
        device -i "$clip" -vf "$up$opt:mv_file=-" -f null - > "$tmp/p$i" &
        echo $! > "$tmp/p$i.pid"
        # shellcheck disable=SC2086  # a list of words
        set -- "$@" $hw -i "$clip"
    done
    for i in 1 2 3 4; do
        wait "$(cat "$tmp/p$i.pid")"
    done
    rm -f "$tmp"/t*.csv
    ffmpeg "$@" -filter_complex "[0:v]$up$opt:mv_file=$tmp/t1.csv[a];[1:v]$up$opt:mv_file=$tmp/t2.csv[b];
        [2:v]$up$opt:mv_file=$tmp/t3.csv[c];[3:v]$up$opt:mv_file=$tmp/t4.csv[d]" \
        -map '[a]' -map '[b]' -map '[c]' -map '[d]' -f null -
    for i in 1 2 3 4; do
        check "four-processes/$i" "vectors differ" cmp -s "$tmp/one" "$tmp/p$i"
        check "four-graphs/$i" "vectors differ" cmp -s "$tmp/one" "$tmp/t$i.csv"
    done

    # A stream that ends while searches are in flight, and a seek.
    check early "-frames:v 3" device -i "$clip" \
        -vf "${up}gpume=algo=fs:range=64:async_depth=8" -frames:v 3 -f null -
    check seek "after -ss" device -ss 0.5 -i "$clip" -vf "${up}gpume=algo=ds:async_depth=4" -f null -
}

# Problems that occur in practice: some tests run in parallel with the queue, the others when it is
# empty.
field() {
    sh "$top/tests/gpu-reliability.sh" "$results" "$gpu" beside
    wait "$queue"
    sh "$top/tests/gpu-reliability.sh" "$results" "$gpu" alone
}

# compute-sanitizer on every kernel, in shares because it slows down the units. It does not check
# the driver's calls: in some tests they fail, and FFmpeg downloads the padding of rows.
tools='memcheck racecheck initcheck'
prepare_sanitizers() {
    command -v compute-sanitizer > /dev/null || return
    for tool in $tools; do
        # the slowest tests first, in the smallest shares
        case $tool in
            racecheck) first=10 shares=10 cases=${QUICK:+:-cases:140} ;;
            *)         first=30 shares=5 cases= ;;
        esac
        set --
        n=0
        while [ "$n" -lt "$shares" ]; do
            n=$((n + 1))
            set -- "$@" "unit:-backend:cuda:-share:$n/$shares$cases"
        done
        n=$first
        for program in "$@" hint_constant:-device mvdeint:-device mvdenoise:-device mvfps:-device mvstab:-device mvstereo:-device mvview:-device; do
            n=$((n + 1))
            echo "timeout 1800 compute-sanitizer --tool $tool --error-exitcode 1 --report-api-errors no" \
                "--check-api-memory-access no ./libavfilter/tests/gpume_$(echo "$program" | tr : ' ') -quick" \
                > "$tmp/queue/1-$n-$tool.sh"
        done
    done
}

sanitizers() {
    if ! command -v compute-sanitizer > /dev/null; then
        skip compute-sanitizer "it is not installed (part of the CUDA toolkit)"
        return
    fi
    wait "$queue"
    for tool in $tools; do
        verdict "compute-sanitizer/$tool" "$tmp"/queue/1-??-"$tool".sh
        tail -q -n 1 "$tmp"/queue/1-??-"$tool".sh.log | sort | uniq -c
    done
}

mkdir "$tmp/queue"
for part in $parts; do
    case $part in
        fate|sanitizers) "prepare_$part" ;;
    esac
done
queue &
queue=$!
for part in $parts; do
    began=$(date +%s)
    $part
    say "($part: $(($(date +%s) - began)) s)"
done
summary
