#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Problems that occur on a GPU in practice; called by tests/gpu.sh: many streams at once,
# device memory taken by another process, a truncated file, a signal while searches are in
# flight. Each run must end with the right exit code and with complete files.
#
# usage: gpu-reliability.sh RESULTS GPU_DIR [beside|alone|PART]     (GPU_DIR: prepared by tests/gpu.sh)
#   beside: the parts that may run beside other work on the GPU; alone: the other parts; PART: one of the functions
#   below; default: all
# QUICK=1 shortens the run. To try it without a decoder on the device, GPUME_HW gives the
# options before the input and GPUME_UP the filters before gpume.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
gpu=$2
seconds=60
[ -z "${QUICK-}" ] || seconds=12
hw=${GPUME_HW-'-hwaccel cuda -hwaccel_output_format cuda'}
up=${GPUME_UP-}

tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
cd "$gpu/obj" || exit
clip=$gpu/clips/h264.mkv

# shellcheck disable=SC2086  # $hw is a list of words
device() { timeout 600 ./ffmpeg -hide_banner -nostdin -loglevel error $hw "$@"; }
host() { timeout 600 ./ffmpeg -hide_banner -nostdin -loglevel error "$@"; }

# unfinished: names of partial files
unfinished() { find "$tmp" -name '*.gpume-part'; }

# Runs a stream of every search at once, each repeated until it is stopped, and compares eight filters of one process,
# some of which share a device, with the oracle.
many_streams() {
    timeout 900 ./libavfilter/tests/gpume_soak -threads 8 -seconds "$seconds" \
        > "$top/build/results/gpu-soak.log" 2>&1 &
    soak=$!
    # shellcheck disable=SC2046  # a list of words
    set -- $(combinations FULL range=16 range=8:block=8) $(combinations PATTERN range=64) \
        $(combinations PREDICTIVE range=32) $(combinations HIERARCHICAL range=64) ds:range=16:block=4 \
        ds:range=32:smooth=2:check=1:pel=4
    i=0
    for search; do
        i=$((i + 1))
        # shellcheck disable=SC2086
        timeout --preserve-status -s INT "$seconds" ./ffmpeg -hide_banner -nostdin -loglevel error $hw \
            -stream_loop -1 -i "$clip" -vf "${up}gpume=algo=$search:dir=both:backend=cuda:stats_file=$tmp/s$i" \
            -f null - > "$tmp/log$i" 2>&1 &
        echo $! > "$tmp/pid$i"
    done
    i=0
    frames=0
    for search; do
        i=$((i + 1))
        status=0
        wait "$(cat "$tmp/pid$i")" || status=$?
        # compare the first frames, but not the end of the clip: the repeated stream has no end there
        host -i "$clip" -vf "gpume=algo=$search:dir=both:backend=cpu:stats_file=$tmp/c$i" -f null -
        lines=$(($(grep -c . "$tmp/c$i") - 2))
        head -n $lines "$tmp/c$i" | sed 's/pts[^ ]*//g' > "$tmp/cpu"
        head -n $lines "$tmp/s$i" 2>/dev/null | sed 's/pts[^ ]*//g' > "$tmp/gpu"
        frames=$((frames + $(grep -c . "$tmp/s$i" 2>/dev/null) / 2))
        check "many-streams/$search" "status $status: $(tail -n 1 "$tmp/log$i")" \
            eval "[ $status = 255 ] && [ $lines -gt 10 ] && cmp -s '$tmp/cpu' '$tmp/gpu'"
    done
    say "$# streams at once: $frames frames in $seconds s"
    check many-streams/files "$(unfinished)" test -z "$(unfinished)"
    rm -f "$tmp"/*
    check eight-threads "see $top/build/results/gpu-soak.log" wait $soak
    tail -n 1 "$top/build/results/gpu-soak.log"
}

# Memory over many frames and graphs, as counted by the driver.
memory_over_time() {
    frames=100000 times=100
    [ -z "${QUICK-}" ] || frames=4000 times=40
    # mvdenoise takes longer
    for long in "-long $frames" "-long $frames -behind mvview,mvfps" "-long $((frames / 4)) -behind mvdenoise,mvfps" \
                "-teardown $times" "-teardown $times -behind mvview,mvfps" "-teardown $times -behind mvdenoise" \
                "-changes $times"; do
        # shellcheck disable=SC2086
        check "gpu-memory/$long" "see $top/build/results/gpu-memory.log" sh -c "timeout 900 \
            ./libavfilter/tests/gpume_soak -backends cuda,frames $long > '$top/build/results/gpu-memory.log' 2>&1"
        cat "$top/build/results/gpu-memory.log"
    done
}

# Filters for mvdenoise after a search: on the CPU, and on the device behind ${up}.
denoised=gpume=algo=hme:block=8:dir=both:refs=2
on_host=$denoised:backend=cpu,format=nv12,mvdenoise
on_device=$denoised:backend=cuda,mvdenoise,hwdownload,format=nv12

# Four mvdenoise in one process and two processes beside it; streams of two sizes, one after the other, so that the
# graph is made again; a truncated file; a signal. The pictures are those of the CPU.
denoising() {
    host -i "$clip" -vf "$on_host" -f framecrc "$tmp/cpu"
    for i in 5 6; do
        device -i "$clip" -vf "$up$on_device" -f framecrc "$tmp/d$i" 2> "$tmp/log$i" &
        echo $! > "$tmp/pid$i"
    done
    device -i "$clip" -filter_complex "[0:v]${up}split=4[a][b][c][d];
        [a]${on_device}[e];[b]${on_device}[f];[c]${on_device}[g];[d]${on_device}[h]" -map '[e]' -f framecrc "$tmp/d1" \
        -map '[f]' -f framecrc "$tmp/d2" -map '[g]' -f framecrc "$tmp/d3" -map '[h]' -f framecrc "$tmp/d4" 2> "$tmp/log"
    for i in 5 6; do
        wait "$(cat "$tmp/pid$i")"
    done
    for i in 1 2 3 4 5 6; do
        check "denoising/at-once-$i" "other pictures: $(cat "$tmp/log" "$tmp"/log? | tail -n 1)" \
            eval "[ \"\$(grep -c '^0,' '$tmp/cpu')\" -gt 10 ] && cmp -s '$tmp/cpu' '$tmp/d$i'"
    done

    # the loop's end differs from the clip's end
    lines=$(($(grep -c . "$tmp/cpu") - 2))
    # shellcheck disable=SC2086
    ./ffmpeg -hide_banner -nostdin -loglevel error $hw -stream_loop -1 -i "$clip" -vf "$up$on_device" \
        -flush_packets 1 -f framecrc "$tmp/d" > "$tmp/log" 2>&1 &
    pid=$!
    tries=0
    while [ $tries -lt 600 ] && ! sed -n $((lines + 4))p "$tmp/d" 2>/dev/null | grep -q .; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -INT $pid
    status=0
    wait $pid || status=$?
    head -n $lines "$tmp/cpu" > "$tmp/cpu-start"
    head -n $lines "$tmp/d" > "$tmp/start"
    check denoising/interrupted "status $status: $(tail -n 1 "$tmp/log")" \
        eval "[ $status = 255 ] && cmp -s '$tmp/cpu-start' '$tmp/start'"
    rm -f "$tmp"/*

    # When the size changes, ffmpeg makes a new graph and drops the frames that the old one still holds. The frames that
    # are output must be right, and none of the second size may be missing. A raw stream has no timestamps, and decoders
    # number its pictures in different ways.
    for name in "$clip" "$gpu/clips/carphone_pristine.mp4"; do
        host -i "$name" -map 0:v:0 -c copy -frames:v 12 -f h264 - >> "$tmp/sizes.h264"
        [ -e "$tmp/first.h264" ] || cp "$tmp/sizes.h264" "$tmp/first.h264"
    done
    # print size and checksum
    pictures() { sed -n 's/^0,.*,\(.*,.*\)$/\1/p'; }
    for name in first sizes; do
        host -i "$tmp/$name.h264" -vf "$on_host" -fps_mode passthrough -f framecrc - | pictures > "$tmp/$name"
    done
    sort -u "$tmp/first" "$tmp/sizes" > "$tmp/cpu"
    device -i "$tmp/sizes.h264" -vf "$up$on_device" -fps_mode passthrough -f framecrc - 2> "$tmp/log" | pictures > "$tmp/d"
    tail -n 12 "$tmp/sizes" > "$tmp/second"
    tail -n 12 "$tmp/d" > "$tmp/d-second"
    check denoising/sizes "other pictures: $(tail -n 1 "$tmp/log")" \
        eval "[ \"\$(grep -c . '$tmp/cpu')\" = 24 ] && cmp -s '$tmp/second' '$tmp/d-second' &&
              ! grep -vxFf '$tmp/cpu' '$tmp/d'"
    rm -f "$tmp"/*

    size=$(wc -c < "$clip")
    for part in 50 90; do
        head -c $((size * part / 100)) "$clip" > "$tmp/broken.mkv"
        status=0
        device -i "$tmp/broken.mkv" -vf "$up$on_device" -f framecrc "$tmp/d" > "$tmp/log" 2>&1 || status=$?
        device -i "$tmp/broken.mkv" -vf "${up}hwdownload,format=nv12,$on_host" -f framecrc "$tmp/cpu" > /dev/null 2>&1
        check "denoising/broken-$part" "status $status: $(tail -n 1 "$tmp/log")" \
            eval "[ $status = 0 ] && [ \"\$(grep -c '^0,' '$tmp/d')\" -gt 2 ] && cmp -s '$tmp/cpu' '$tmp/d'"
        rm -f "$tmp"/*
    done
}

# after_hog NAME STATUS EXPECTED MADE: with status 0 the right file; else an error status, but not that of a signal
# or a timeout, and a message
after_hog() {
    if [ "$2" = 0 ]; then
        check "little-memory/$1" "the files differ" cmp -s "$3" "$4"
    else
        check "little-memory/$1" "status $2: $(tail -n 1 "$tmp/log")" \
            eval "{ [ $2 -lt 124 ] || [ $2 -ge 160 ]; } && [ -z \"\$(unfinished)\" ] &&
                  grep -qi -e memory -e 'could not' -e error '$tmp/log'"
    fi
}

# Another process takes nearly all memory: right vectors and pictures, or an error and no file.
little_memory() {
    host -i "$clip" -vf gpume=algo=ds:backend=cpu:mv_file=- -f null - > "$tmp/cpu"
    host -i "$clip" -vf "$on_host" -f framecrc "$tmp/denoised"
    for left in 4096 1024 512 256 64 16; do
        ./libavfilter/tests/gpume_soak -hog $left > "$tmp/hog" 2>&1 &
        hog=$!
        tries=0
        while [ $tries -lt 300 ] && ! grep -q '^taken' "$tmp/hog" && kill -0 $hog 2>/dev/null; do
            sleep 0.1
            tries=$((tries + 1))
        done
        if ! grep -q '^taken' "$tmp/hog"; then
            fail "little-memory/$left" "$(tail -n 1 "$tmp/hog")"
            continue
        fi
        status=0
        device -i "$clip" -vf "${up}gpume=algo=ds:backend=cuda:async_depth=4:mv_file=$tmp/v.csv" -f null - \
            > "$tmp/log" 2>&1 || status=$?
        after_hog "$left" $status "$tmp/cpu" "$tmp/v.csv"
        [ $status = 0 ] || check "little-memory/$left-absent" "there is a file" test ! -e "$tmp/v.csv"
        denoised_status=0
        device -i "$clip" -vf "$up$on_device" -f framecrc "$tmp/d" > "$tmp/log" 2>&1 || denoised_status=$?
        after_hog "denoised-$left" $denoised_status "$tmp/denoised" "$tmp/d"
        say "$left MiB left: ffmpeg ends with $status, with mvdenoise with $denoised_status"
        kill $hog
        wait $hog 2>/dev/null
        rm -f "$tmp/v.csv" "$tmp/d"
    done
    device -i "$clip" -vf "${up}gpume=algo=ds:backend=cuda:mv_file=$tmp/v.csv" -f null -
    check little-memory/after "vectors differ" cmp -s "$tmp/v.csv" "$tmp/cpu"
    device -i "$clip" -vf "$up$on_device" -f framecrc "$tmp/d"
    check little-memory/denoised-after "pictures differ" cmp -s "$tmp/d" "$tmp/denoised"
    rm -f "$tmp"/*
}

# A truncated file: the frames that were decoded have the same vectors as on the CPU.
broken_files() {
    size=$(wc -c < "$clip")
    for part in 50 70 90; do
        head -c $((size * part / 100)) "$clip" > "$tmp/broken.mkv"
        status=0
        device -i "$tmp/broken.mkv" -vf "${up}gpume=algo=ds:async_depth=8:mv_file=$tmp/v.csv" -f null - \
            > "$tmp/log" 2>&1 || status=$?
        down=
        [ -z "$hw" ] || down=hwdownload,format=nv12,
        device -i "$tmp/broken.mkv" -vf "${up}${down}gpume=algo=ds:backend=cpu:mv_file=$tmp/c.csv" -f null - \
            > /dev/null 2>&1
        check "broken-file/$part" "status $status: $(tail -n 1 "$tmp/log")" \
            eval "[ $status = 0 ] && [ -z \"\$(unfinished)\" ] && [ \"\$(grep -c . '$tmp/v.csv')\" -gt 10 ] &&
                  cmp -s '$tmp/v.csv' '$tmp/c.csv'"
        rm -f "$tmp"/*
    done
}

# SIGINT while searches are in flight: both files cover the same frames, and the output
# has no frame that they lack.
interrupted() {
    for depth in 1 2 32; do
        # shellcheck disable=SC2086
        ./ffmpeg -hide_banner -nostdin -loglevel error $hw -stream_loop -1 -i "$clip" \
            -vf "${up}gpume=algo=fs:range=48:block=8:async_depth=$depth:stats_file=$tmp/s:mv_file=$tmp/v.npy,${hw:+hwdownload,format=nv12,}scale=16:16" \
            -f framecrc "$tmp/crc" > "$tmp/log" 2>&1 &
        pid=$!
        tries=0
        while [ $tries -lt 600 ] && [ -z "$(find "$tmp" -name 's.*.gpume-part' -size +1k)" ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -INT $pid
        status=0
        wait $pid || status=$?
        lines=$(grep -c . "$tmp/s" 2>/dev/null)
        crc=$(grep -c '^0,' "$tmp/crc")
        check "interrupted/$depth" "status $status, ${lines:-no} lines, $crc frames: $(tail -n 1 "$tmp/log")" \
            eval "[ $status = 255 ] && [ -z \"\$(unfinished)\" ] && [ ${lines:-0} -gt 5 ] &&
                  head -c 128 '$tmp/v.npy' | grep -q \"'shape': ($((${lines:-0} + 1)), \" &&
                  [ $crc -le $((${lines:-0} + 1)) ] && [ $crc -gt 0 ]"
        rm -f "$tmp"/*
    done
}

beside() {
    many_streams
    broken_files
    interrupted
    denoising
}

alone() {
    memory_over_time
    little_memory
}

case ${3-all} in
    all) beside; alone ;;
    *)   "$3" ;;
esac
