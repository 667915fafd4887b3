# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by bench-gpu.sh: compares decoding alone with decoding and searching. Starting and ending a process takes a
# fraction of a second that does not depend on the number of frames, so rates are measured in the steady state: a
# filter at the end of the graph sets each frame's timestamp to the current time, and the rate covers the frames from
# 20 % to 90 % of the stream; for several streams, the time while all are running.

# make_clip: sets $clip to $input as a 1080p clip that NVDEC can decode.
make_clip() {
    clip=${BENCH_CLIP-}
    if [ -n "$clip" ]; then
        [ -r "$clip" ] || die "BENCH_CLIP: cannot read $clip"
        return
    fi
    # a clip made on a machine with an encoder and copied here
    clip=$bin/../bench/${input##*/}-1080p.mkv
    if [ ! -f "$clip" ]; then
        clip=$out/${input##*/}-1080p.mkv
        "$top/bench/make-clip.sh" "$bin" "$input" "$clip"
    fi
}

# Prints the combined frames/s of the streams whose timestamps are in these files.
steady_rate() {
    awk '
        FNR == 1 { file++ }
        { t[file, FNR] = $1; n[file] = FNR }
        END {
            for (f = 1; f <= file; f++) {
                a = t[f, int(n[f] / 5) + 1]
                b = t[f, int(n[f] * 9 / 10)]
                from = f == 1 || a > from ? a : from
                to   = f == 1 || b < to   ? b : to
            }
            if (to <= from) {
                print "the streams did not run at the same time" > "/dev/stderr"
                exit 1
            }
            for (f = 1; f <= file; f++) {
                first = last = 0
                for (i = 1; i <= n[f]; i++)
                    if (t[f, i] >= from && t[f, i] <= to) {
                        first = first ? first : i
                        last = i
                    }
                # n frames have n - 1 intervals
                rate += (last - first) / (t[f, last] - t[f, first]) * 1e6
            }
            printf "%.2f\n", rate
        }' "$@"
}

# microseconds, strictly increasing
stamp="settb=1/1000000,setpts='st(0,max(time(0)*1000000,ld(0)+1))'"
stamped='-fps_mode passthrough -enc_time_base 1:1000000 -stats_enc_pre_fmt {pts}'

# streams N GRAPH INPUT_OPTIONS...: runs N processes at once; prints their rate.
streams() {
    many=$1
    graph=$2
    shift 2
    i=0
    pids=
    rm -f "$out"/run.stamps.*
    while [ $i -lt "$many" ]; do
        # shellcheck disable=SC2086  # options
        ffmpeg "$@" -map 0:v:0 -vf "$graph,$stamp" $stamped \
               -stats_enc_pre "$out/run.stamps.$i" -f null - &
        pids="$pids $!"
        i=$((i + 1))
    done
    for pid in $pids; do
        wait "$pid" || return
    done
    steady_rate "$out"/run.stamps.*
}

# one_process N GRAPH INPUT_OPTIONS...: runs N streams in one process; prints their rate.
one_process() {
    many=$1
    graph=$2
    shift 2
    i=0
    rm -f "$out"/run.stamps.*
    # N times the input, then N outputs
    nb=$#
    while [ $i -lt $((many - 1)) ]; do
        j=0
        for word; do
            if [ $j -lt "$nb" ]; then
                set -- "$@" "$word"
            fi
            j=$((j + 1))
        done
        i=$((i + 1))
    done
    i=0
    while [ $i -lt "$many" ]; do
        # shellcheck disable=SC2086
        set -- "$@" -map $i:v:0 -vf "$graph,$stamp" $stamped \
               -stats_enc_pre "$out/run.stamps.$i" -f null -
        i=$((i + 1))
    done
    ffmpeg "$@" || return
    steady_rate "$out"/run.stamps.*
}

# compare NAME N FUNCTION SEARCHES INPUT_OPTIONS...: decodes alone and with each search, in turn, so that
# disturbances affect all of them.
compare() {
    what=$1
    number=$2
    function=$3
    searches=$4
    shift 4
    rm -f "$out"/run.rates.*
    turn=0
    while [ $turn -lt "$runs" ]; do
        for search in none $searches; do
            graph=gpume=$search
            [ "$search" != none ] || graph=null
            "$function" "$number" "$graph" "$@" > "$out/run.rate" || return
            # rates count input frames; mvfps doubles their number
            awk -v search="$search" '{ print search ~ /,mvfps/ ? $1 / 2 : $1 }' "$out/run.rate" \
                >> "$out/run.rates.$search"
        done
        turn=$((turn + 1))
    done
    none_rate=
    for search in none $searches; do
        # shellcheck disable=SC2046  # four numbers
        set -- $(median < "$out/run.rates.$search")
        none_rate=${none_rate:-$1}
        awk -v what="$what" -v n="$number" -v search="$search" -v rate="$1" \
            -v least="$2" -v most="$3" -v none="$none_rate" 'BEGIN {
            printf "%-28s %d  %-48s %9.1f %6.1f %% %7.1f %%\n", what, n, search, rate,
                   100 * (most - least) / rate, 100 * rate / none }'
        row pipeline "$what: $(printf '%s\n' "$search" | tr , ' ')" clip 1920x1080 '' '' 8 "$number" rate fps \
            "$1" "$2" "$3" "$4"
        row pipeline "$what: $(printf '%s\n' "$search" | tr , ' ')" clip 1920x1080 '' '' 8 "$number" 'of decoding alone' % \
            "$(awk "BEGIN { print 100 * $1 / $none_rate }")"
    done
}

bench_pipeline() {
    begin pipeline
    make_clip
    frames=1500
    long=$out/long.mkv
    # repeats the packets, so that the decoder sees one long stream
    ffmpeg -stream_loop $((frames / $(frames_of "$clip"))) -i "$clip" -map 0:v:0 -c copy "$long"
    gpu='-hwaccel cuda -hwaccel_output_format cuda'
    ds=algo=ds:range=64
    fs=algo=fs:range=32
    hme=algo=hme

    echo
    say "pipelines, frames/s of all streams together in the steady state, median of $runs runs;"
    say "clip: $(codec_of "$clip") $clip, $frames frames"
    printf '%-28s %s  %-48s %9s %8s %9s\n' pipeline n search fps spread 'of none'
    # shellcheck disable=SC2086  # lists of options
    {
        compare 'nvdec' 1 streams \
            "$ds $ds:block=4 algo=fs:range=16 $fs algo=fs:range=64 $fs:block=4 $hme:block=16 $hme:block=8" $gpu -i "$long"
        # a frame between each two; rates are those of the input
        for size in 16 8; do
            compare "nvdec doubled" 1 streams \
                "$hme:dir=both:pel=1:block=$size $hme:dir=both:pel=1:block=$size,mvfps" $gpu -i "$long"
        done
        # along the vectors of two frames on each side
        compare "nvdec denoised" 1 streams \
            "$hme:dir=both:refs=2:block=8 $hme:dir=both:refs=2:block=8:smooth=8:sweeps=2,mvdenoise $hme:dir=both:refs=2:block=8,mvdenoise=sigma=5" \
            $gpu -i "$long"
        for n in 2 4 7; do
            compare 'nvdec processes' $n streams "$ds $fs $hme:block=16" $gpu -i "$long"
        done
        compare 'nvdec one process' 4 one_process "$ds $fs $hme:block=16 $hme:block=8" $gpu -i "$long"
        compare 'frames in system memory' 1 streams "$ds $fs $ds:block=4" \
            -f rawvideo -pixel_format yuv420p -video_size 1920x1080 -framerate 25 \
            -stream_loop $((frames / 32)) -i "$(raw_frames)"
    }
    rm -f "$long" "$out"/run.*
}

# Makes 32 raw frames of the 1080p clip, which the demuxer then reads from the page cache.
raw_frames() {
    if [ ! -f "$out/run.yuv" ]; then
        ffmpeg -i "$clip" -map 0:v:0 -frames:v 32 -pix_fmt yuv420p -f rawvideo "$out/run.yuv"
    fi
    printf '%s\n' "$out/run.yuv"
}

codec_of() {
    "$bin/ffmpeg" -hide_banner -i "$1" 2>&1 | sed -n 's/.*Video: \([a-z0-9]*\).*/\1/p' | sed -n 1p
}
