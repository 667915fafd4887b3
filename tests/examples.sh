#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every script of examples/ on small input and looks at what it wrote. libx264 is in a build
# under the GPL, which has the filter cropdetect, too.
#
# usage: tests/examples.sh RESULTS SERIES

set -u
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit
results=$1
bin=$top/build/$2/obj
gpl=$top/build/$2-gpl/obj
. tests/lib.sh

work=$top/build/check/examples
rm -rf "$work"
mkdir -p "$work/clips"
FFMPEG=$bin/ffmpeg
export FFMPEG
ffmpeg() { "$FFMPEG" -nostdin -hide_banner -loglevel error -y "$@"; }
frames() {
    "$bin/ffprobe" -v error -select_streams v -count_frames -show_entries stream=codec_name,nb_read_frames \
        -of csv=p=0 "$1" | sed -n 's/,$//; 1p'
}

if [ ! -x "$FFMPEG" ]; then
    fail examples "$FFMPEG is not built"
    exit
fi

# example NAME ARGUMENT...: runs it; the result is named after it.
example() {
    name=$1
    shift
    sh "examples/$name.sh" "$@" > "$work/log" 2>&1
    check "examples/$name" "$(tail -n 1 "$work/log")" test $? = 0
}

# expect NAME WHAT IS
expect() { check "examples/$1" "'$3' instead of '$2'" test "$2" = "$3"; }

for name in examples/*.sh; do
    sh "$name" > "$work/log" 2>&1
    code=$?
    expect "$(basename "$name" .sh)-usage" 2 "$code"
done

moving='perlin=size=320x240:octaves=3:random_mode=seed:random_seed=2:xscale=8:yscale=6,trim=end_frame=1,loop=11:1,setpts=N/25/TB,format=yuv420p,crop=240:176:20+4*n:20+2*n'
ffmpeg -f lavfi -i "$moving" -c:v mpeg4 -q:v 2 "$work/clips/moving clip.mkv"
ffmpeg -f lavfi -i "testsrc2=s=240x176:r=25,trim=end_frame=10" -c:v mpeg4 -q:v 2 "$work/clips/other.mp4"

example side-by-side "$work/clips/moving clip.mkv" "$work/side.mkv"
expect side-by-side-frames mpeg4,12 "$(frames "$work/side.mkv")"

example 24-to-60 "$work/clips/moving clip.mkv" "$work/smooth.mkv"
expect 24-to-60-frames mpeg4,29 "$(frames "$work/smooth.mkv")"
example 24-to-60 "$work/clips/moving clip.mkv" "$work/smooth.mkv" 2x
expect 24-to-60-factor mpeg4,24 "$(frames "$work/smooth.mkv")"
example slow-motion "$work/clips/moving clip.mkv" "$work/slow.mkv" 3
expect slow-motion-frames 'mpeg4,34 25/1' "$(frames "$work/slow.mkv") $("$bin/ffprobe" -v error \
    -select_streams v -show_entries stream=avg_frame_rate -of csv=p=0 "$work/slow.mkv")"

example clean-film "$work/clips/moving clip.mkv" "$work/clean.mkv" 1.5
expect clean-film-frames mpeg4,12 "$(frames "$work/clean.mkv")"

# without a window: the same filters, and what ffplay would be told
cat > "$work/ffplay" <<'EOT'
#!/bin/sh
filters= input=
while [ $# -gt 0 ]; do
    case $1 in
        -vf) filters=$2 ;;
        -i)  input=$2 ;;
    esac
    shift
done
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$input" -vf "$filters" -c:v mpeg4 -q:v 3 "$LIVE"
EOT
chmod +x "$work/ffplay"
FFPLAY=$work/ffplay
LIVE=$work/live.mkv
export FFPLAY LIVE
example live "$work/clips/moving clip.mkv" 50 90
expect live-frames 'mpeg4,24 122,90' "$(frames "$LIVE") $("$bin/ffprobe" -v error -select_streams v \
    -show_entries stream=width,height -of csv=p=0 "$LIVE")"
if [ -x "$bin/ffplay" ]; then
    FFPLAY=$bin/ffplay
    SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy timeout 60 sh examples/live.sh "$work/clips/moving clip.mkv" \
        > "$work/log" 2>&1
    check examples/live-ffplay "$(tail -n 1 "$work/log")" test $? = 0
else
    skip examples/live-ffplay "there is no ffplay"
fi

example vectors-of-a-folder "$work/clips" "$work/vectors"
expect vectors-of-a-folder-files 'moving clip.mkv.npy other.mp4.npy' "$(cd "$work/vectors" && echo *)"
# what is there is left alone, and what is missing is made
: > "$work/vectors/other.mp4.npy"
rm "$work/vectors/moving clip.mkv.npy"
sh examples/vectors-of-a-folder.sh "$work/clips" "$work/vectors"
check examples/vectors-of-a-folder-goes-on "it did not go on where it stopped" \
    test ! -s "$work/vectors/other.mp4.npy" -a -s "$work/vectors/moving clip.mkv.npy"

# three scenes of 12, 10 and 12 frames
ffmpeg -i "$work/clips/moving clip.mkv" -i "$work/clips/other.mp4" -i "$work/clips/moving clip.mkv" \
    -filter_complex '[0:v]setsar=1[a];[1:v]setsar=1[b];[2:v]setsar=1[c];[a][b][c]concat=n=3,settb=1/25,setpts=N' \
    -c:v ffv1 "$work/film.mkv"
example split-at-cuts "$work/film.mkv" "$work/scenes"
expect split-at-cuts-times '12 0.48,22 0.88' "$(paste -s -d , "$work/scenes/cuts.txt")"
expect split-at-cuts-files 'mpeg4,12 mpeg4,10 mpeg4,12' \
    "$(for f in "$work/scenes"/*.mkv; do frames "$f"; done | paste -s -d ' ')"

example h264-to-mpeg2 tests/clips/h264.mkv "$work/mpeg2.ts"
expect h264-to-mpeg2-frames "mpeg2video,$(frames tests/clips/h264.mkv | sed 's/.*,//')" \
    "$(frames "$work/mpeg2.ts" | sed -n 1p)"

if [ -x "$gpl/ffmpeg" ]; then
    FFMPEG=$gpl/ffmpeg
    ffmpeg -f lavfi -i 'color=gray:s=320x240,drawgrid=w=40:h=40' -f lavfi -i "$moving" \
        -filter_complex '[0:v][1:v]overlay=x=40:y=32:shortest=1' -c:v ffv1 "$work/screen.mkv"
    example screen-recording "$work/screen.mkv" "$work/screen.mp4" veryfast
    expect screen-recording-frames h264,12 "$(frames "$work/screen.mp4")"
else
    skip examples/screen-recording "there is no build with libx264"
fi

if "$bin/ffmpeg" -v error -f lavfi -i color=s=256x256 -frames:v 1 -c:v h264_nvenc -f null - 2> "$work/log"; then
    FFMPEG=$bin/ffmpeg
    example gpu-transcode tests/clips/h264.mkv "$work/gpu.mp4" "$work/gpu.npy"
else
    skip examples/gpu-transcode "there is no GPU with an encoder"
fi
