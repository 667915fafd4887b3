# shellcheck shell=sh disable=SC2154,SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the benchmark scripts: repeated runs, rows of results, clips. The scripts set $top,
# $bin and $out to the repository, a folder with ffmpeg and the folder for results. They run in $top.

LC_ALL=C
export LC_ALL
cd "$top" || exit
. "$top/tools/common.sh"
mkdir -p "$out"
trap 'exit 1' HUP INT TERM

ffmpeg() { "$bin/ffmpeg" -hide_banner -nostdin -loglevel error -y "$@"; }

# run_seconds ARGUMENT...: runs ffmpeg and prints the seconds from its first frame to its last,
# without the start of the process. Its messages go to $run_log.
run_seconds() {
    run_log=${run_log:-$out/run.log}
    "$bin/ffmpeg" -hide_banner -nostdin -loglevel info -nostats -benchmark -y "$@" -f null - \
        > "$run_log" 2>&1 || {
        tail -n 5 "$run_log" >&2
        return 1
    }
    sed -n 's/^bench: .*rtime=\([0-9.]*\)s.*/\1/p' "$run_log"
}

# Prints the command's wall-clock seconds.
wall_seconds() {
    start=$(date +%s.%N)
    "$@" || return
    echo "$start $(date +%s.%N)" | awk '{ printf "%.3f\n", $2 - $1 }'
}

# repeat N COMMAND...: runs the command N times.
repeat() {
    repeats=$1
    shift
    while [ "$repeats" -gt 0 ]; do
        "$@" || return
        repeats=$((repeats - 1))
    done
}

# Prints the median, minimum, maximum and count of the numbers on standard input.
median() {
    sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "%.6g %.6g %.6g %d\n",
        (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR], NR }'
}

# One schema for all parts: what was measured, on what, and median, minimum and maximum of
# the runs. count: threads, streams, calls. A row with a single number has no min and max.
csv_header=part,what,content,width,height,block,range,depth,count,metric,unit,median,min,max,runs

# begin PART: starts a new file $csv for its rows.
begin() {
    csv=$out/$1.csv
    echo "$csv_header" > "$csv"
}

# row PART WHAT CONTENT SIZE BLOCK RANGE DEPTH COUNT METRIC UNIT MEDIAN [MIN MAX RUNS]
row() {
    case $* in
        *,*) die "a comma in a row: $*" ;;
    esac
    printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n' "$1" "$2" "$3" "${4%x*}" "${4#*x}" "$5" \
        "$6" "$7" "$8" "$9" "${10}" "${11}" "${12-}" "${13-}" "${14-}" >> "$csv"
}

# finish: collects the rows of all parts in one file.
finish() {
    {
        echo "$csv_header"
        for f in "$out"/*.csv; do
            if [ "$f" != "$out/bench.csv" ]; then
                tail -n +2 "$f"
            fi
        done
    } > "$out/bench.csv.new"
    mv "$out/bench.csv.new" "$out/bench.csv"
    say "results: $out/bench.csv"
}

# take_clip [INPUT]: sets $input, by default to the demonstration's clip.
take_clip() {
    input=${1-}
    if [ -z "$input" ]; then
        "$top/tools/demo.sh" clip "$bin"
        input=$top/build/demo/input.mp4
    fi
    if [ ! -r "$input" ]; then
        die "INPUT: cannot read $input"
    fi
}

# raw_luma SIZE FRAMES [FIRST]: writes frames of the clip, scaled to this size, from frame
# FIRST (0) on, as 8-bit gray to $out/SIZE.gray.
raw_luma() {
    ffmpeg -i "$input" -map 0:v:0 \
           -vf "trim=start_frame=${3:-0},scale=${1%x*}:${1#*x}:flags=lanczos,format=gray" \
           -fps_mode passthrough -frames:v "$2" -f rawvideo "$out/$1.gray"
}

# frames_of CLIP: prints the number of frames.
frames_of() { ffmpeg -i "$1" -map 0:v:0 -c copy -f framecrc - | grep -vc '^#'; }

# middle CLIP FRAMES: sets $start and $count to the part of a clip that is measured: so many frames from START (20) on,
# if it has them.
middle() {
    frames_there=$(frames_of "$1") || die "cannot read $1"
    start=${START:-20}
    count=$2
    [ "$count" -le "$frames_there" ] || count=$frames_there
    [ $((start + count)) -le "$frames_there" ] || start=$((frames_there - count))
}

# each_clip COMMAND INPUT: calls the command with INPUT, if it is not empty, and with the clips of GPUME_VIDEO; with QUICK
# only with the first one.
each_clip() {
    for f in "$2" "${GPUME_VIDEO:-../shared/video}"/*.mp4 "${GPUME_VIDEO:-../shared/video}"/*.y4m; do
        if [ -f "$f" ]; then
            "$1" "$f"
            [ "${QUICK:-0}" = 0 ] || break
        elif [ "$f" = "$2" ] && [ -n "$f" ]; then
            die "INPUT: cannot read $f"
        fi
    done
}
