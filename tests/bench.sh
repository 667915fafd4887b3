#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs 'make bench-denoise' on a few small frames and checks its tables; fits the taps of mvdeint to some frames.
#
# usage: tests/bench.sh RESULTS SERIES

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
bin=$top/build/$2/obj
gpl=$top/build/$2-gpl/obj

work=$top/build/check/bench
fresh "$work"
python=
for p in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$p" -c 'import numpy' 2>/dev/null; then
        python=$p
    fi
done
if [ -z "$python" ]; then
    skip bench-denoise "there is no numpy"
    exit
fi

"$gpl/ffmpeg" -nostdin -hide_banner -loglevel error -y -f lavfi \
    -i 'perlin=size=320x240:octaves=3:random_mode=seed:random_seed=2:xscale=8:yscale=6,trim=end_frame=1,loop=6:1,setpts=N/25/TB,format=yuv420p,crop=112:96:20+4*n:20+2*n' \
    -c:v ffv1 "$work/clip.mkv"
PYTHON=$python GPUME_VIDEO=$work/none START=0 FRAMES=7 CROP=96x80 SIGMAS=10 BENCH_RUNS=1 ENCODERS=libx264,mpeg4 \
    METHODS='nlmeans,bm3d,mvdenoise' NOISES='white 5' BENCH_DIR=$work/out bench/denoise/denoise.sh "$bin" "$gpl" "$work/clip.mkv" \
    > "$work/log" 2>&1
check bench-denoise/runs "$(tail -n 1 "$work/log")" test $? = 0

# result FILE METHOD METRIC: prints a value from a CSV file
result() {
    awk -F, -v method="$2" -v metric="$3" '$NF + 0 == $NF { for (i = 1; i < NF; i++)
        if ($i == method && index($0, "," metric ",")) { print $NF; exit } }' "$work/out/$1.csv"
}

# better NAME A B MARGIN: checks that A exceeds B by more than MARGIN
better() { check "bench-denoise/$1" "$2, not $4 more than $3" awk "BEGIN { exit !(\"$2\" + 0 > \"$3\" + $4) }"; }

noisy=$(result denoise noisy psnr)
better noise 28.5 "$noisy" 0
better noise-not-more "$noisy" 27.5 0
better nlmeans "$(result denoise nlmeans psnr)" "$noisy" 2
better bm3d "$(result denoise bm3d psnr)" "$noisy" 2
better mvdenoise "$(result denoise mvdenoise psnr)" "$(result denoise nlmeans psnr)" 1
better rate "$(result denoise mvdenoise 'rate 1')" 0 0.1
for encoder in libx264 mpeg4; do
    better "gain-$encoder" "$(awk -F, -v e=$encoder '$3 == e && $4 == "mvdenoise" && /,bd-psnr/ { print $NF }' \
        "$work/out/gain.csv")" 0 1
    check "bench-denoise/table-$encoder" "no row in the table" \
        grep -q "^| 10 | $encoder | mvdenoise | -[0-9.]* % | +[0-9.]* dB | [0-9.]* dB | [0-9.]* s | [0-9.]* s |$" "$work/log"
done
# the matrix of noises, 15 cells of three clips
check bench-denoise/matrix "no row in the matrix" grep -q '^| white 5, chroma | [0-9.]* (' "$work/log"
check bench-denoise/matrix-default "$(grep ' cells: ' "$work/log")" grep -q '^15 cells: .*, below the input: 0$' "$work/log"
# coded ENCODER METHOD: prints the PSNR after encoding
coded() {
    awk -F, -v e="$1" -v m="$2" '$3 == e && $4 == m && /,psnr,/ { print $NF }' "$work/out/coded.csv"
}
for encoder in libx264 mpeg4; do
    better "behind-$encoder" "$(coded $encoder mvdenoise)" "$(coded $encoder noisy)" 0.2
    # shellcheck disable=SC2016  # awk's
    check "bench-denoise/table-behind-$encoder" "no row in the table" \
        awk -v e="-c:v $encoder " '/ behind -c:v / { here = index($0, e) }
            here && /^\| mvdenoise \| [0-9.]+ \|/ { found = 1 } END { exit !found }' "$work/log"
done
# shellcheck disable=SC2016  # backquotes of Markdown
check bench-denoise/table "no row in the table" grep -q '^| nlmeans | [0-9.]* | [0-9.]* |.* `nlmeans=.*` |$' "$work/log"

# what fits the taps of mvdeint makes a table for all classes that is better than no classes
FRAMES=4 CROP=160x96 "$python" bench/deint/taps.py "$bin/ffmpeg" "$work/clip.mkv" > "$work/taps" 2> "$work/taps.log"
check bench-deint/taps "$(tail -n 1 "$work/taps.log")" test $? = 0
# shellcheck disable=SC2016  # fields of awk
check bench-deint/taps-table "not 63 rows of 36 taps whose sum is 4096" awk '
    { gsub(/[{},]/, " ") } { for (i = 1; i <= NF; i++) { sum += $i; if (++n % 36 == 0) { bad += sum != 4096; sum = 0 } } }
    END { exit n != 63 * 36 || bad }' "$work/taps"
# CLIP mean of both lines A dB, landed B, fitted C
# shellcheck disable=SC2016  # fields of awk
check bench-deint/taps-fit "$(cat "$work/taps.log")" awk '{ gsub(",", "") } $9 <= $6 || $11 <= $6 { exit 1 }' "$work/taps.log"
