#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs every script of examples/ on small input and checks its output. The build under the GPL has libx264 and the filter
# cropdetect.
#
# usage: tests/examples.sh RESULTS SERIES

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
bin=$top/build/$2/obj
gpl=$top/build/$2-gpl/obj

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

# example NAME ARGUMENT...: runs the example; the result has its name
example() {
    name=$1
    shift
    sh "examples/$name.sh" "$@" > "$work/log" 2>&1
    check "examples/$name" "$(tail -n 1 "$work/log")" test $? = 0
}

# expect NAME WHAT IS
expect() { check "examples/$1" "'$3' instead of '$2'" test "$2" = "$3"; }

# refuses NAME WHAT ARGUMENT...: the example must fail and write one line that matches the pattern WHAT
refuses() {
    refused=$1
    what=$2
    shift 2
    sh "examples/$refused.sh" "$@" > "$work/log" 2>&1
    check "examples/$refused-fails" "it succeeded" test $? != 0
    # shellcheck disable=SC2016  # eval expands it
    check "examples/$refused-says-why" "not one line with '$what': $(cat "$work/log")" \
        eval 'test "$(grep -c "" "$work/log")" = 1 && grep -q -- "$what" "$work/log"'
}

codecs() {
    "$bin/ffprobe" -v error -show_entries stream=codec_name -of csv=p=0 "$1" | tr -d , | paste -s -d ' '
}

for name in examples/*.sh; do
    sh "$name" > "$work/log" 2>&1
    code=$?
    expect "$(basename "$name" .sh)-usage" 2 "$code"
done

moving='perlin=size=320x240:octaves=3:random_mode=seed:random_seed=2:xscale=8:yscale=6,trim=end_frame=1,loop=11:1,setpts=N/25/TB,format=yuv420p,crop=240:176:20+4*n:20+2*n'
ffmpeg -f lavfi -i "$moving" -c:v mpeg4 -q:v 2 "$work/clips/moving clip.mkv"
ffmpeg -f lavfi -i "testsrc2=s=240x176:r=25,trim=end_frame=10" -c:v mpeg4 -q:v 2 "$work/clips/other.mp4"

example side-by-side "$work/clips/moving clip.mkv" "$work/side.mkv"
expect side-by-side-frames h264,12 "$(frames "$work/side.mkv")"

example 24-to-60 "$work/clips/moving clip.mkv" "$work/smooth.mkv"
expect 24-to-60-frames h264,29 "$(frames "$work/smooth.mkv")"
example 24-to-60 "$work/clips/moving clip.mkv" "$work/smooth.mkv" 2x
expect 24-to-60-factor h264,24 "$(frames "$work/smooth.mkv")"

# subtitles that the other format cannot have
printf '1\n00:00:00,100 --> 00:00:00,400\nIt moves.\n' > "$work/words.srt"
ffmpeg -i "$work/clips/other.mp4" -i "$work/words.srt" -i "$work/words.srt" -f lavfi -i sine=d=0.4 \
    -map 0 -map 3 -map 1 -map 2 -c:v copy -c:a aac -c:s mov_text "$work/words.mp4"
example 24-to-60 "$work/words.mp4" "$work/words.mkv" 2x
expect 24-to-60-mov_text 'h264 aac subrip subrip' "$(codecs "$work/words.mkv")"
example 24-to-60 "$work/words.mkv" "$work/back.mp4" 2x
expect 24-to-60-subrip 'h264 aac mov_text mov_text' "$(codecs "$work/back.mp4")"
example 24-to-60 "$work/words.mp4" "$work/same.mp4" 2x
expect 24-to-60-copied 'h264 aac mov_text mov_text' "$(codecs "$work/same.mp4")"

# what moves sideways loses its vertical edges, the more the longer the shutter is open; all frames stay
edges() {
    "$bin/ffmpeg" -v error -nostdin -i "$1" -vf format=gray,sobel,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=- -f null - |
        awk -F= '/YAVG/ && ++n > 2 { sum += $2 } END { printf "%d", 1000 * sum / (n - 2) }'
}
for angle in 1 180 360; do
    example motion-blur "$work/clips/moving clip.mkv" "$work/blur$angle.mkv" $angle 8
    expect "motion-blur-frames-$angle" h264,12 "$(frames "$work/blur$angle.mkv")"
done
expect motion-blur-edges yes "$(awk -v a="$(edges "$work/blur1.mkv")" -v b="$(edges "$work/blur180.mkv")" -v c="$(edges "$work/blur360.mkv")" \
    'BEGIN { print (a > 1.01 * b && b > 1.01 * c ? "yes" : a " " b " " c) }')"
refuses motion-blur "ANGLE is a number from 1 to 360 .* not 0 and 16" "$work/clips/other.mp4" "$work/none.mkv" 0

# the clip moves by (4, 2), of which the left half is kept and the right half stands still
ffmpeg -i "$work/clips/moving clip.mkv" -vf "crop=120:176:0:0,pad=240:176" -c:v ffv1 "$work/half.mkv"
ffmpeg -f lavfi -i "color=black:s=120x88,drawbox=w=60:color=white:t=fill" -frames:v 1 -pix_fmt gray -c:v pgm -f image2 "$work/mask.pgm"
for region in 16:16:80:128 "$work/mask.pgm"; do
    example motion-in-region "$work/half.mkv" "$region"
    expect "motion-in-region-${region##*[/0-9]}" "11 yes" "$(awk '{ n++; sum += $2; all += $3 } END { print n, (sum / n > 4 && sum / n < 4.9 && all / n > 0.85 ? "yes" : sum / n " " all / n) }' "$work/log")"
done
example motion-in-region "$work/half.mkv" 144:0:96:176
expect motion-in-region-still "11 0" "$(awk '{ n++; sum += $2 } END { print n, sum }' "$work/log")"
refuses motion-in-region "not middle" "$work/half.mkv" middle

# every frame, the last one too, lasts FACTOR times as long
example slow-motion "$work/clips/moving clip.mkv" "$work/slow.mkv" 2
expect slow-motion-twice h264,24 "$(frames "$work/slow.mkv")"
example slow-motion "$work/clips/other.mp4" "$work/slow.mp4" 2.5
expect slow-motion-fraction h264,25 "$(frames "$work/slow.mp4")"
for factor in 0.5 -1 fast; do
    refuses slow-motion "FACTOR is a number from 1, not $factor" "$work/clips/other.mp4" "$work/none.mkv" $factor
done
example slow-motion "$work/clips/moving clip.mkv" "$work/slow.mkv" 3
expect slow-motion-frames 'h264,36 25/1' "$(frames "$work/slow.mkv") $("$bin/ffprobe" -v error \
    -select_streams v -show_entries stream=avg_frame_rate -of csv=p=0 "$work/slow.mkv")"

example steady "$work/clips/moving clip.mkv" "$work/steady.mkv" 5
expect steady-frames h264,12 "$(frames "$work/steady.mkv")"
example steady-time-lapse "$work/clips/moving clip.mkv" "$work/lapse.mkv" 3
expect steady-time-lapse-frames h264,4 "$(frames "$work/lapse.mkv")"

mkdir -p "$work/stills"
"$bin/ffmpeg" -v error -nostdin -i "$work/clips/other.mp4" -frames:v 3 -pix_fmt gray -c:v pgm -f image2 "$work/stills/%d.pgm"
example slow-morph "$work/stills/%d.pgm" "$work/morph.mkv" 3
expect slow-morph-frames h264,225 "$(frames "$work/morph.mkv")"
refuses slow-morph "SECONDS is a number above 0, not 0" "$work/stills/%d.pgm" "$work/none.mkv" 0

example blocks "$work/clips/moving clip.mkv" "$work/blocks.mkv" 40
expect blocks-sizes 11 "$(grep -cE '^frame [0-9]+  8x8: [0-9]+  16x16: [0-9]+  32x32: [0-9]+  64x64: [0-9]+$' "$work/log")"
expect blocks-frames h264,12 "$(frames "$work/blocks.mkv")"
# statistics that end early are an error
sh examples/blocks.sh "$work/none.mkv" "$work/other.mkv" > "$work/log" 2>&1
check examples/blocks-fails "it succeeded" test $? != 0

ffmpeg -f lavfi -i "testsrc2=s=240x176:r=25,format=yuv420p,trim=end_frame=4,split[a][b];[a]crop=200:176:0:0[l];[b]crop=200:176:8:0[r];[l][r]hstack" \
    -metadata:s:v stereo_mode=left_right -c:v mpeg4 -q:v 2 "$work/both views.mkv"
# FFmpeg 7.1 does not tell filters the layout
case $("$bin/ffmpeg" -version) in "ffmpeg version 7"*) layout=sbsl ;; *) layout=auto ;; esac
example depth-map "$work/both views.mkv" "$work/depth.mkv" $layout
expect depth-map-frames h264,4 "$(frames "$work/depth.mkv")"
# its left half is the left view, after two encoders
ffmpeg -i "$work/depth.mkv" -i "$work/both views.mkv" -lavfi "[0:v]crop=200:x=0[a];[1:v]crop=200:x=0[b];[a][b]psnr=f=$work/psnr" -f null -
# shellcheck disable=SC2016  # awk expands it
check examples/depth-map-left-view "$(tail -n 1 "$work/psnr")" awk '{ sub(/.*psnr_y:/, ""); if ($1 < 30) exit 1 }' "$work/psnr"
example depth-map "$work/both views.mkv" "$work/depth.mkv" irl
expect depth-map-of-rows h264,4 "$(frames "$work/depth.mkv")"
ffmpeg -f lavfi -i "testsrc2=s=240x176:r=25,format=gbrp,trim=end_frame=4,split[a][b];[a]crop=200:176:0:0,extractplanes=r[r];[b]crop=200:176:8:0,split[c][d];[c]extractplanes=g[g];[d]extractplanes=b[u];[g][u][r]mergeplanes=0x001020:gbrp" \
    -c:v mpeg4 -q:v 2 "$work/anaglyph.mkv"
example depth-map "$work/anaglyph.mkv" "$work/depth.mkv" anaglyph
expect depth-map-of-an-anaglyph h264,4 "$(frames "$work/depth.mkv")"
example depth-map "$work/both views.mkv" "$work/depth.mkv" vr180
expect depth-map-of-half-spheres h264,4 "$(frames "$work/depth.mkv")"
INPUT='-f lavfi' example depth-live 'testsrc2=s=200x176:r=25:d=0.2' 'testsrc2=s=200x176:r=25:d=0.2' "$work/live.nut" max=32
expect depth-live-frames mpeg4,5 "$(frames "$work/live.nut")"
refuses depth-map "'up' is none of" "$work/both views.mkv" "$work/none.mkv" up

example clean-video "$work/clips/moving clip.mkv" "$work/clean.mkv" 1.5
expect clean-video-frames h264,12 "$(frames "$work/clean.mkv")"
example deinterlace-tape "$work/clips/moving clip.mkv" "$work/tape.mkv" bff
expect deinterlace-tape-frames h264,24 "$(frames "$work/tape.mkv")"

# the format of its samples
samples_of() { "$bin/ffprobe" -v error -select_streams v -show_entries stream=pix_fmt -of csv=p=0 "$1" | tr -d ,; }
example clean-10bit "$work/clips/moving clip.mkv" "$work/clean.mov"
expect clean-10bit-frames 'prores,12 yuv422p10le' "$(frames "$work/clean.mov") $(samples_of "$work/clean.mov")"
ffmpeg -i "$work/clips/moving clip.mkv" -vf noise=alls=20:allf=t -pix_fmt yuv420p10le -c:v ffv1 "$work/ten.mkv"
example clean-10bit "$work/ten.mkv" "$work/clean-ten.mkv" 1.2
expect clean-10bit-of-ten 'prores,12 yuv422p10le' "$(frames "$work/clean-ten.mkv") $(samples_of "$work/clean-ten.mkv")"

example clean-camera "$work/clips/moving clip.mkv" "$work/camera.mkv" 96
expect clean-camera-frames 'mpeg4,12' "$(frames "$work/camera.mkv")"
# as the example says, the 7th of 12 frames comes out when two more have arrived
filters=$(sed -n 's/^ *-vf "scale=[^"]*),\(gpume=[^"]*\)".*/\1/p' examples/clean-camera.sh)
"$FFMPEG" -hide_banner -nostdin -f lavfi -i testsrc2=s=96x80:r=25,format=yuv420p,trim=end_frame=12 \
    -vf "settb=1/25,showinfo=checksum=0,${filters:-none},showinfo=checksum=0" -f null - 2>&1 |
    awk '/Parsed_showinfo/ && match($0, / pts: *[0-9]+/) { t = substr($0, RSTART + 5, RLENGTH - 5) + 0
             if (/showinfo_1/) last = t; else if (t == 6) print last - t }' > "$work/delay"
expect clean-camera-delay 2 "$(cat "$work/delay")"

# without a window: the same filters, and the arguments of ffplay
cat > "$work/ffplay" <<'EOT'
#!/bin/sh
filters= input=
while [ $# -gt 0 ]; do
    case $1 in
        -filters) echo ' .. mvfps V->V'; exit ;;
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
echo 'exit 0' > "$work/other-ffplay"
chmod +x "$work/other-ffplay"
FFPLAY=$work/other-ffplay
refuses live 'has no mvfps' "$work/clips/moving clip.mkv"
FFPLAY=$work/ffplay
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
# existing files stay, and missing files are made
: > "$work/vectors/other.mp4.npy"
rm "$work/vectors/moving clip.mkv.npy"
sh examples/vectors-of-a-folder.sh "$work/clips" "$work/vectors"
check examples/vectors-of-a-folder-goes-on "it did not go on where it stopped" \
    test ! -s "$work/vectors/other.mp4.npy" -a -s "$work/vectors/moving clip.mkv.npy"

# Debian's packages are for /usr/bin/python3, which need not be the first in the path
python=
for p in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$p" -c 'import numpy' 2> /dev/null; then
        python=$p
    fi
done
if [ -n "$python" ]; then
    plot=
    if "$python" -c 'import matplotlib' 2> /dev/null; then
        plot="--plot $work/vectors.png"
    fi
    # shellcheck disable=SC2086  # words
    "$python" examples/vectors.py "$work/clips/moving clip.mkv" --block 8 --output "$work/array.npy" $plot > "$work/log" 2>&1
    expect vectors-array "12 frames of 22 x 30 blocks" "$(sed -n 's/,.*//p' "$work/log")"
    # everything except what enters the picture moves by (-4,-2)
    expect vectors-moved "4.0 2.0" "$("$python" -c "import numpy
a = numpy.load('$work/array.npy')
print(*numpy.abs(numpy.median(a[1:, 5:-5, 5:-5].reshape(-1, 2), axis=0)))")"
    [ -z "$plot" ] || expect vectors-plot 240,176 "$("$bin/ffprobe" -v error -show_entries stream=width,height -of csv=p=0 "$work/vectors.png")"
else
    skip examples/vectors "python3 has no numpy"
fi

# three scenes of 12, 10 and 12 frames
ffmpeg -i "$work/clips/moving clip.mkv" -i "$work/clips/other.mp4" -i "$work/clips/moving clip.mkv" \
    -filter_complex '[0:v]setsar=1[a];[1:v]setsar=1[b];[2:v]setsar=1[c];[a][b][c]concat=n=3,settb=1/25,setpts=N' \
    -c:v ffv1 "$work/film.mkv"
example split-at-cuts "$work/film.mkv" "$work/scenes"
expect split-at-cuts-times '12 0.48,22 0.88' "$(paste -s -d , "$work/scenes/cuts.txt")"
expect split-at-cuts-files 'h264,12 h264,10 h264,12' \
    "$(for f in "$work/scenes"/*.mkv; do frames "$f"; done | paste -s -d ' ')"

# the manual's example: 12 frames that move, and the last one 6 times more
still=$(sed -n '/^Drop frames with almost no motion/,/@end example/s/^ffmpeg -i in.mp4 -vf "\(.*\)" out.mp4$/\1/p' doc/gpume.texi)
ffmpeg -f lavfi -i "$moving,loop=6:1:11,setpts=N/25/TB" -c:v mpeg4 -q:v 2 "$work/still.mp4"
ffmpeg -i "$work/still.mp4" -vf "${still:-null}" -c:v mpeg4 -q:v 2 "$work/moves.mp4"
expect texi-still-frames mpeg4,12 "$(frames "$work/moves.mp4")"

refuses split-at-cuts 'cannot read .*there-is-none.mkv' "$work/there-is-none.mkv" "$work/no-scenes"
echo 'no film' > "$work/text.mkv"
sh examples/split-at-cuts.sh "$work/text.mkv" "$work/no-scenes" > "$work/log" 2>&1
check examples/split-at-cuts-stops "it went on without a video" test $? != 0
grep -q 'has no cut' "$work/log"
check examples/split-at-cuts-says-one-thing "it says that a video which it cannot read has no cut" test $? != 0
check examples/split-at-cuts-leaves-no-folder "it made a folder" test ! -e "$work/no-scenes"
example split-at-cuts "$work/clips/other.mp4" "$work/one-scene"
expect split-at-cuts-none "h264,10" "$(frames "$work/one-scene/000.mkv")"

example h264-to-mpeg2 tests/clips/h264.mkv "$work/mpeg2.ts"
expect h264-to-mpeg2-frames "mpeg2video,$(frames tests/clips/h264.mkv | sed 's/.*,//')" \
    "$(frames "$work/mpeg2.ts" | sed -n 1p)"


# a program stream, and a video with audio that it cannot contain
ffmpeg -i tests/clips/h264.mkv -f lavfi -i sine=d=1 -c:v copy -c:a aac "$work/sound.mkv"
for to in mpg vob; do
    example h264-to-mpeg2 "$work/sound.mkv" "$work/mpeg2.$to" 2
    expect "h264-to-mpeg2-$to" "mpeg2video,$(frames tests/clips/h264.mkv | sed 's/.*,//') mpeg mp2" \
        "$(frames "$work/mpeg2.$to") $("$bin/ffprobe" -v error -show_entries format=format_name -of csv=p=0 \
            "$work/mpeg2.$to") $(codecs "$work/mpeg2.$to" | tr ' ' '\n' | grep -v mpeg2video)"
done

# an ffmpeg without libx264
if "$FFMPEG" -hide_banner -h encoder=libx264 2>&1 | grep -q '^Encoder libx264'; then
    skip examples/screen-recording-says-why "$FFMPEG has libx264"
else
    refuses screen-recording 'has no libx264: ' "$work/clips/other.mp4" "$work/none.mp4"
fi
if [ -x "$gpl/ffmpeg" ]; then
    FFMPEG=$gpl/ffmpeg
    ffmpeg -f lavfi -i 'color=gray:s=320x240,drawgrid=w=40:h=40' -f lavfi -i "$moving" \
        -filter_complex '[0:v][1:v]overlay=x=40:y=32:shortest=1' -c:v ffv1 "$work/screen.mkv"
    example screen-recording "$work/screen.mkv" "$work/screen.mp4" veryfast
    expect screen-recording-frames h264,12 "$(frames "$work/screen.mp4")"
else
    skip examples/screen-recording "there is no build with libx264"
fi

# The README's command lines, without those that need a GPU, a window or two views, in a folder with an in.mp4.
mkdir "$work/readme"
ffmpeg -i "$work/clips/moving clip.mkv" -c:v mpeg4 -q:v 2 "$work/readme/in.mp4"
awk '/^```/ { inside = $0 == "```sh"; next } inside { printf "%s", $0; if (!sub(/\\$/, "")) print "" }' README.md |
    sed 's/\\  */ /g' | grep -E '^(ffmpeg|python3) ' | grep -v -e hwaccel -e left.mp4 > "$work/commands"
n=0
while IFS= read -r line; do
    n=$((n + 1))
    case $line in
        python3*) if ! python3 -c 'import numpy' 2>/dev/null; then continue; fi ;;
    esac
    (cd "$work/readme" && PATH=$bin:$PATH sh -c "$line" < /dev/null) > "$work/log" 2>&1
    check "examples/readme-$n" "$line: $(tail -n 1 "$work/log")" test $? = 0
done < "$work/commands"
check examples/readme-commands "found $n" test "$n" -ge 6
# what browsers play, with a bit rate instead of the encoder's 2 Mbit/s
grep '^ffmpeg' "$work/commands" | head -n 1 | grep -q -e '-c:v h264 -b:v [1-9]'
check examples/readme-quality "the first command line names no encoder or no bit rate" test $? = 0

if "$bin/ffmpeg" -v error -f lavfi -i color=s=256x256 -frames:v 1 -c:v h264_nvenc -f null - 2> "$work/log"; then
    FFMPEG=$bin/ffmpeg
    example gpu-transcode tests/clips/h264.mkv "$work/gpu.mp4" "$work/gpu.npy"
    example gpu-deinterlace tests/clips/h264.mkv "$work/gpu-deinterlaced.mp4" 1
    example gpu-denoise tests/clips/h264.mkv "$work/gpu-clean.mp4" 1.2
else
    skip examples/gpu-transcode "there is no GPU with an encoder"
    skip examples/gpu-denoise "there is no GPU with an encoder"
fi
