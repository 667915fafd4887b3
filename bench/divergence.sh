#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Maps where the lanes of warps diverge, line by line, on the tests' stand-in for the driver: 'make divergence'.
# bench-gpu.sh reads it for the part 'divergence', which compares the maps with a device's counters.
#
# usage: divergence.sh BIN_DIR [INPUT]
# BIN_DIR has ffmpeg; INPUT is a clip, by default the demonstration's, whose pictures are taken from
# the first second on. Environment (defaults in brackets):
#   ALGO      searches of gpume; mvview, mvfps, mvdenoise; 'all' [ds fs]
#   BLOCK     [16]
#   RANGE     [32; for hme 256]
#   OPTIONS   more options of gpume, such as 'exhaustive=1'
#   SIZE      [1920x1080]
#   WORST     number of lines shown of each kernel [10]
#   FORMAT    -m: tables for Markdown
#   GPUME_STANDIN_SMS, GPUME_STANDIN_CC   the device that the kernels are launched for [132, 9.0]

# names of ncu's metrics: the branches of warps, those at which threads diverge, and the threads of an instruction
divergence_metrics=smsp__sass_branch_targets.sum,smsp__sass_branch_targets_threads_divergent.sum
divergence_metrics=$divergence_metrics,smsp__inst_executed.sum,smsp__thread_inst_executed.sum
divergence_average=smsp__sass_average_branch_targets_threads_uniform.pct

# divergence_run FOLDER NAME COMMAND...: runs the command that makes NAME's frames
divergence_run() {
    read -r div_size div_frames div_yuv div_graph < "$1/$2.graph"
    div_yuv=$1/$div_yuv
    shift 2
    "$@" -hide_banner -nostdin -loglevel error -init_hw_device cuda=cu -filter_hw_device cu -f rawvideo \
        -pixel_format yuv420p -video_size "$div_size" -i "$div_yuv" -vf "hwupload,$div_graph" \
        -frames:v "$div_frames" -f null -
}

# divergence_ncu FOLDER: prints each map of the folder beside the counters of the device for the same frames
divergence_ncu() {
    if ! command -v "${NCU:-ncu}" > /dev/null; then
        say "divergence: skipped, because ncu was not found. It is part of the CUDA toolkit; NCU=PATH names it"
        return
    fi
    begin divergence
    printf '%-22s %25s %38s %17s %17s\n' '' 'branches' 'divergent' 'share' 'threads/instr.'
    printf '%-22s %12s %12s %12s %12s %12s %8s %8s %8s %8s\n' kernel map device map 'not short' device map device \
        map device
    for div_map in "$1"/*.graph; do
        [ -f "$div_map" ] || die "there is no map: 'make divergence' makes one, 'tests/gpu.sh -g' packs it"
        div_name=$(basename "$div_map" .graph)
        say "$div_name"
        # some versions of ncu lack the metric of the average
        for div_metrics in "$divergence_metrics,$divergence_average" "$divergence_metrics"; do
            divergence_run "$1" "$div_name" "${NCU:-ncu}" --csv --page raw --print-units base -k regex:gpume_ \
                --metrics "$div_metrics" "$bin/ffmpeg" > "$out/run.ncu" 2>&1 && div_status=0 || div_status=$?
            [ "$div_status" != 0 ] || break
        done
        if [ "$div_status" != 0 ]; then
            tail -n 5 "$out/run.ncu"
            die "ncu failed; it may lack the permission to read the counters"
        fi
        "${PYTHON:-python3}" "$top/tests/standin/divergence.py" compare "$1/$div_name.csv" "$out/run.ncu" "$csv"
    done
}

[ "${0##*/}" = divergence.sh ] || return 0
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$1" && pwd)
folder=build/divergence
out=$folder
. "$top/bench/lib.sh"
size=${SIZE:-1920x1080}
block=${BLOCK:-16}
trap 'rm -f "$folder"/run.*' EXIT
algos=${ALGO:-ds fs}
if [ "$algos" = all ]; then
    algos="$(sed -n 's/^ *S([A-Z]*, *\([a-z]*\), .*/\1/p' core/searches.h) mvview mvfps mvdenoise"
fi
GPUME_STANDIN_SMS=${GPUME_STANDIN_SMS:-132}
GPUME_STANDIN_CC=${GPUME_STANDIN_CC:-9.0}
export GPUME_STANDIN_SMS GPUME_STANDIN_CC

for algo in $algos; do
    frames=2
    name=$algo-$block${RANGE:+-$RANGE}${OPTIONS:+-$(printf %s "$OPTIONS" | tr ':=' '-_')}-$size
    search=algo=$algo:block=$block:range=${RANGE:-$([ "$algo" = hme ] && echo 256 || echo 32)}
    case $algo in
        mvview)    search=algo=hme:block=$block
                   after=,mvview=mode=flow+arrows+blocks:legend=1 ;;
        mvfps)     search=algo=hme:block=$block:dir=both
                   after=,mvfps=fps=2x
                   frames=3 ;;
        mvdenoise) search=algo=hme:block=$block:dir=both:smooth=8:sweeps=2:refs=2
                   after=,mvdenoise=sigma=10
                   frames=5 ;;
        *)         after= ;;
    esac
    yuv=$size-$frames.yuv
    if [ ! -f "$folder/$yuv" ] || [ -n "${2-}" ]; then
        take_clip "${2-}"
        # bitexact, so that the scaled pictures do not depend on the processor
        ffmpeg -i "$input" -map 0:v:0 \
            -vf "trim=start=1,setpts=PTS-STARTPTS,scale=${size%x*}:${size#*x}:flags=bicubic+bitexact+accurate_rnd,format=yuv420p" \
            -fps_mode passthrough -frames:v $frames -f rawvideo "$folder/$yuv"
    fi
    echo "$size $frames $yuv gpume=$search${OPTIONS:+:$OPTIONS}$after" > "$folder/$name.graph"
    rm -f "$folder/$name.csv"
    LD_LIBRARY_PATH=build/standin-divergence${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        GPUME_STANDIN_DIVERGENCE=$folder/$name.csv divergence_run "$folder" "$name" "$bin/ffmpeg"
    say "$algo: $(cut -d ' ' -f 4- < "$folder/$name.graph"), $size, $frames frames"
    # shellcheck disable=SC2086  # none or one
    tests/standin/divergence.py table ${FORMAT-} -n "${WORST:-10}" "$folder/$name.csv"
    say "map: $folder/$name.csv"
done
