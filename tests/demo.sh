#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the demonstration on a clip of a few frames and checks the files and numbers that it makes.
#
# usage: tests/demo.sh RESULTS SERIES

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
bin=build/$2/obj

work=build/check/demo
fresh "$work"
ffmpeg() { "$bin/ffmpeg" -nostdin -hide_banner -loglevel error -y "$@"; }

if [ ! -x "$bin/ffmpeg" ]; then
    fail demo "$bin/ffmpeg is not built"
    exit
fi

# A picture that moves by exactly (-6,-2) per frame, so that the vectors are known.
ffmpeg -f lavfi -i "perlin=size=640x480:octaves=3:random_mode=seed:random_seed=2:xscale=8:yscale=6,
    trim=end_frame=1,loop=11:1,setpts=N/25/TB,format=yuv420p,crop=320:240:20+6*n:20+2*n" \
    -c:v ffv1 "$work/moving clip.mkv"
DEMO_DIR=$work/out sh tools/demo.sh demo "$bin" "$work/moving clip.mkv" > $work/table 2>&1
check demo/succeeds "$(tail -n 1 $work/table)" test $? = 0

for f in overlay.mp4 overlay.png vectors.csv vectors.npy stats.log; do
    check "demo/$f" "it is missing or empty" test -s $work/out/$f
done
check demo/frames "$(grep '^frames ' $work/table)" \
    grep -qx 'frames         12' $work/table
check demo/frames-per-second "$(grep '^frames/s' $work/table)" \
    grep -qE '^frames/s  *[0-9]+\.[0-9] ' $work/table
check demo/mean-vector "$(grep '^mean vector' $work/table)" \
    grep -qE '^mean vector  *[67]\.[0-9]* samples' $work/table
# 40 x 30 blocks in 11 frames; most have exactly the picture's motion
awk -F, 'NR > 1 { n++; right += $10 == 6 * $12 && $11 == 2 * $12 } END { exit !(n == 13200 && right > 0.8 * n) }' \
    $work/out/vectors.csv
check demo/vectors "the vectors of vectors.csv are not the picture's motion" test $? = 0
n=$("$bin/ffprobe" -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 $work/out/overlay.mp4)
check demo/overlay-frames "overlay.mp4 has '$n' frames" test "$n" = 12
codec=mpeg4
if "$bin/ffmpeg" -v error -encoders | grep -qE ' lib(openh264|x264) '; then codec=h264; fi
n=$("$bin/ffprobe" -v error -show_entries stream=codec_name -of csv=p=0 $work/out/overlay.mp4)
check demo/overlay-codec "overlay.mp4 is '$n', not $codec" test "$n" = $codec
n=$("$bin/ffprobe" -v error -show_entries stream=width,height -of csv=p=0 $work/out/overlay.png)
check demo/overlay-picture "overlay.png is '$n'" test "$n" = 320,240

# the arrows are visible: the picture differs from the one without them
"$bin/ffmpeg" -nostdin -hide_banner -i $work/out/overlay.mp4 -i "$work/moving clip.mkv" \
    -lavfi psnr -f null - 2>&1 |
    sed -n 's/.*PSNR y:\([0-9.inf]*\).*/\1/p' > $work/psnr
# shellcheck disable=SC2016
check demo/arrows "PSNR against the picture without arrows: $(cat $work/psnr)" \
    awk 'END { exit !($1 + 0 > 10 && $1 + 0 < 30) }' $work/psnr

DEMO_DIR=$work/none sh tools/demo.sh demo "$bin" $work/there-is-none.mkv > $work/out.log 2>&1
check demo/missing-input "it continued without its input" test $? != 0
grep -q 'error: INPUT: cannot read' $work/out.log
check demo/missing-input-message "$(sed -n 1p $work/out.log)" test $? = 0
echo 'this is no video' > $work/text.mkv
DEMO_DIR=$work/none sh tools/demo.sh demo "$bin" $work/text.mkv > $work/out.log 2>&1
check demo/bad-input "it continued without video" test $? != 0

# a stream of one frame has no vectors; that is not an error
ffmpeg -i "$work/moving clip.mkv" -frames:v 1 -c:v ffv1 $work/one.mkv
DEMO_DIR=$work/one sh tools/demo.sh demo "$bin" $work/one.mkv > $work/out.log 2>&1
check demo/one-frame "$(tail -n 1 $work/out.log)" test $? = 0
