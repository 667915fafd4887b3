#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The demonstration: draws the motion vectors of a clip and writes them to files.
#
# usage: demo.sh demo BIN_DIR [INPUT]    writes to build/demo and prints a table
#        demo.sh play BIN_DIR [INPUT]    shows the vectors live in a window
#        demo.sh clip BIN_DIR            only makes build/demo/input.mp4
# Only the first DEMO_SECONDS (20) of INPUT are used, except by play.

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tools/common.sh

mode=$1
bin=$2
input=${3-}
out=${DEMO_DIR:-build/demo}
seconds=${DEMO_SECONDS:-20}

search=gpume=algo=hme
# the picture is gray, so that its colours are not mistaken for motion
draw=mvview=mode=flow+arrows:legend=1:background=gray

run() { "$bin/ffmpeg" -hide_banner -nostdin -loglevel error -y "$@"; }

# A clip with known motion, 30 frames/s: a pan, a zoom, a cut and a rotation. Perlin
# noise gives every block some texture.
generate() {
    clouds='perlin=size=2624x1476:rate=30:octaves=5:persistence=0.55:random_mode=seed:random_seed'
    run -filter_complex "
        $clouds=5:xscale=9:yscale=6,trim=end_frame=1,format=yuv444p,normalize,
            pseudocolor=preset=magma,format=yuv420p,split[pan][zoom];
        [pan]loop=44:1,setpts=N/30/TB,
            crop=1280:720:x=400+7*n:y=378+40*sin(n/8),setsar=1[a];
        [zoom]zoompan=z=2*pow(1.015\,on):x=(iw-iw/zoom)/2:y=(ih-ih/zoom)/2:d=40:s=1280x720:fps=30,
            setsar=1[b];
        $clouds=3:xscale=13:yscale=9,trim=end_frame=1,format=gbrp,normalize[noise];
        mandelbrot=size=2624x1476:rate=30:start_x=-0.16:start_y=1.0405:start_scale=0.02:maxiter=200,
            trim=end_frame=1,format=gbrp,gblur=2[fractal];
        [fractal][noise]blend=all_mode=hardlight,format=yuv420p,loop=44:1,setpts=N/30/TB,
            rotate=a=n*0.035-0.8:ow=1280:oh=720,setsar=1[c];
        [a][b][c]concat=n=3[v]" -map '[v]' -r 30 -c:v mpeg4 -q:v 2 "$1"
}

if [ -n "$input" ] && [ ! -r "$input" ]; then
    die "INPUT: cannot read $input"
fi
mkdir -p "$out"
if [ -z "$input" ]; then
    input=$out/input.mp4
    if [ ! -f "$input" ]; then
        say "making a clip with a pan, a zoom, a cut and a rotation: $input"
        generate "$out/new.mp4"
        mv "$out/new.mp4" "$input"
    fi
fi

if [ "$mode" = clip ]; then
    exit
fi
if [ "$mode" = play ]; then
    if [ ! -x "$bin/ffplay" ]; then
        die "$bin/ffplay was not built: it needs SDL2 (Debian's package: libsdl2-dev), then ./configure && make"
    fi
    exec "$bin/ffplay" -hide_banner -loglevel warning -autoexit -window_title "gpume: $input" \
        -vf "$search,$draw" -i "$input"
fi

codec='mpeg4 -q:v 3'
if run -h encoder=libx264 2>&1 | grep -q '^Encoder libx264'; then
    codec='libx264 -crf 18'
elif run -h encoder=libopenh264 2>&1 | grep -q '^Encoder libopenh264'; then
    # it has only 4:2:0, and would cut an odd width or height
    codec='libopenh264 -b:v 100M -qmin 20 -qmax 20 -pix_fmt yuv420p'
    draw="$draw,pad=ceil(iw/2)*2:ceil(ih/2)*2"
fi

say "searching: $search on $input"
# Decoding and searching are timed separately, without writing anything.
"$bin/ffmpeg" -hide_banner -nostdin -loglevel info -benchmark -t "$seconds" -i "$input" \
    -map 0:v:0 -vf "$search" -fps_mode passthrough -f null - > "$out/time.log" 2>&1 || {
    tail -n 5 "$out/time.log" >&2
    die "ffmpeg failed on $input"
}
say "drawing: $out/overlay.mp4"
# shellcheck disable=SC2086  # $codec is a list of words
run -t "$seconds" -i "$input" -map 0:v:0 \
    -vf "$search:mv_file=$out/vectors.csv:stats_file=$out/stats.log,$draw" -c:v $codec "$out/overlay.mp4"

# Choose the middle of the longest stretch of strong motion. A frame that costs far
# more than both its neighbours is a cut, and its vectors do not show motion.
frame=$(awk '
    {
        for (i = 1; i <= NF; i++) {
            split($i, f, ":")
            v[f[1]] = f[2]
        }
        n[NR] = v["n"]; cost[NR] = v["cost"] + 0; mean[NR] = v["mean_mv"] + 0
    }
    END {
        for (i = 1; i <= NR; i++) {
            beside = i > 1 ? cost[i - 1] : 0
            if (i < NR && cost[i + 1] > beside)
                beside = cost[i + 1]
            cut[i] = cost[i] > 2 * beside
            if (!cut[i] && mean[i] > max)
                max = mean[i]
        }
        for (i = 1; i <= NR; i++) {
            stretch = !cut[i] && mean[i] >= 0.9 * max ? stretch + 1 : 0
            if (stretch > longest) {
                longest = stretch
                end = i
            }
        }
        print longest ? n[end - int(longest / 2)] : 1
    }' "$out/stats.log")
run -t "$seconds" -i "$input" -map 0:v:0 \
    -vf "$search:mv_file=$out/vectors.npy,$draw,select=eq(n\,$((frame - 1)))" \
    -fps_mode passthrough -update 1 "$out/overlay.png"

frames=$(sed -n 's/.*frame= *\([0-9]*\).*/\1/p' "$out/time.log" | tail -n 1)
rtime=$(sed -n 's/^bench: .*rtime=\([0-9.]*\)s.*/\1/p' "$out/time.log")
# a stream of one frame has no vectors and no statistics
awk -v frames="$frames" -v rtime="$rtime" -v out="$out" -v input="$input" -v frame="$frame" '
    {
        for (i = 1; i <= NF; i++) {
            split($i, f, ":")
            v[f[1]] = f[2]
        }
        blocks += v["blocks"]; zero += v["zero"]; sum += v["blocks"] * v["mean_mv"]
        if (v["max_mv"] > max)
            max = v["max_mv"]
    }
    END {
        line = "%-14s %s\n"
        rate = sprintf("%.1f (decoding and search, nothing written)", frames / rtime)
        printf "\n"
        printf line, "clip", input
        printf line, "frames", frames
        printf line, "frames/s", rate
        if (blocks) {
            printf line, "mean vector", sprintf("%.2f samples (longest %.1f)", sum / blocks, max)
            printf line, "zero vectors", sprintf("%.1f %% of %d", 100 * zero / blocks, blocks)
        } else
            printf line, "vectors", "none: the clip has only one frame"
        printf line, "overlay", out "/overlay.mp4"
        printf line, "one frame", out "/overlay.png (frame " frame ")"
        printf line, "vectors", out "/vectors.csv, " out "/vectors.npy"
        printf line, "statistics", out "/stats.log"
    }' "$out/stats.log"
