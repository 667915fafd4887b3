#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the shared libraries, installs them, and tests programs that link them: examples/read_vectors.c with the flags
# of pkg-config, PyAV compiled from its source on PyPI, and the system's mpv, in a window, if it needs libraries of the
# same version. Their results must be the same bytes as those of ffmpeg.
#
# usage: tests/shared.sh RESULTS SERIES
# With QUICK=1 only the parts of FFmpeg that the tests need are built, if the libraries are not there yet.
# Needs what 'tools/deps.sh shared tests' installs; mpv and Xvfb (Debian's packages mpv, xvfb) if they are there.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2

work=$top/build/check/shared
prefix=$work/opt
clip=$top/tests/clips/h264.mkv
log=$work/log
fresh "$work"
# programs must find the libraries only by the prefix
unset LD_LIBRARY_PATH

# The libraries.
tree=build/$series-shared
if [ -n "${QUICK-}" ]; then
    SERIES_ARGS='--only-tested --enable-decoder=xwd --enable-encoder=png'
    export SERIES_ARGS
elif grep -q -e --disable-everything "$tree/configure-ffmpeg.sh" 2>/dev/null; then
    rm "$tree/configure-ffmpeg.sh"
fi
if ! make --no-print-directory SERIES="$series" SHARED=1 PREFIX="$prefix" install > "$log" 2>&1; then
    fail shared-build "make SHARED=1 install: $(tail -n 1 "$log")"
    exit
fi
ok shared-build
ffmpeg=$prefix/bin/ffmpeg
for f in avcodec avdevice avfilter avformat avutil swresample swscale; do
    check "shared/lib$f" "no library, header or pkg-config file" \
        test -e "$prefix/lib/lib$f.so" -a -e "$prefix/include/lib$f/version.h" -a -s "$prefix/lib/pkgconfig/lib$f.pc"
done
for f in bin/ffprobe share/man/man7/gpume.7 share/bash-completion/completions/ffmpeg \
         share/doc/gpume/README.md share/doc/gpume/examples/read_vectors.c; do
    check "shared/$f" "it is not there" test -s "$prefix/$f"
done
"$ffmpeg" -hide_banner -L > "$log" 2>&1
grep -q '^#define CONFIG_GPL 1' "$tree/obj/config.h" ||
    check shared/licence "it is not the LGPL" grep -q 'GNU Lesser General Public' "$log"
# gpume's filters, and some features of FFmpeg that the usual build leaves out
features='filters.gpume filters.mvview filters.mvfps filters.mvdenoise filters.mvdeint filters.mvstab filters.mvstereo'
[ -n "${QUICK-}" ] ||
    features="$features filters.v360 filters.bm3d filters.afftdn decoders.vc1 decoders.cook encoders.jpeg2000 demuxers.rtsp
           muxers.hls protocols.http bsfs.trace_headers"
for what in $features; do
    "$ffmpeg" -hide_banner "-${what%.*}" > "$log" 2>&1
    check "shared/has-${what#*.}" "not in -${what%.*}" grep -qw "${what#*.}" "$log"
done
ldd "$ffmpeg" "$prefix"/lib/lib*.so > "$log" 2>&1
check shared/libraries-found "$(grep 'not found' "$log" | sed -n 1p)" eval "! grep -q 'not found' '$log'"
sed -n 's/^[[:space:]]*\([^ ]*\) => .*/\1/p' "$log" | sort -u |
    grep -vE '^(linux-vdso|libc|libm|libz|libpthread|libdl|libatomic|lib(av|sw|SDL2|x264)[a-z]*)[-.]' > "$work/odd"
[ -x "$prefix/bin/ffplay" ] || check shared/no-odd-libraries "they need $(sed -n 1p "$work/odd")" test ! -s "$work/odd"

# A staged installation: the prefix is that of later, and programs run where they are.
if make --no-print-directory SERIES="$series" SHARED=1 PREFIX=/opt/gpume DESTDIR="$work/stage" install > "$log" 2>&1; then
    check shared/staged-prefix "not in libavfilter.pc" \
        grep -qx 'prefix=/opt/gpume' "$work/stage/opt/gpume/lib/pkgconfig/libavfilter.pc"
    ldd "$work/stage/opt/gpume/bin/ffmpeg" > "$log" 2>&1
    check shared/staged-runs "the libraries are not those beside it" \
        test "$(grep -c " => $work/stage/opt/gpume/" "$log")" -ge 7
else
    fail shared/staged-prefix "make install: $(tail -n 1 "$log")"
fi
rm -rf "$work/stage"

# The expected results: vectors and pictures.
"$ffmpeg" -nostdin -v error -i "$clip" -vf "gpume=algo=hme:block=8:mv_file=$work/vectors.csv,mvdenoise" \
    -fps_mode passthrough -f framemd5 "$work/frames" > "$log" 2>&1
check shared/ffmpeg "$(tail -n 1 "$log")" test -s "$work/vectors.csv"
frames=$(grep -vc '^#' "$work/frames")

# The paths by which programs find the libraries when they are compiled and when they run.
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_RUN_PATH=$prefix/lib
export PKG_CONFIG_PATH LD_RUN_PATH

# A program in C.
# shellcheck disable=SC2046  # words
if pkg-config --cflags --libs libavfilter libavutil > "$work/flags" &&
   ${CC:-cc} -Wall -Werror examples/read_vectors.c -o "$work/read_vectors" $(cat "$work/flags") > "$log" 2>&1; then
    "$work/read_vectors" "$clip" algo=hme:block=8 > "$work/read" 2> "$log"
    check shared/read_vectors "$(tail -n 1 "$log")" test $? = 0
    check shared/read_vectors-frames "not $frames frames" test "$(grep -c ' vectors' "$work/read")" = "$frames"
    awk -F, 'NR > 1 {
        if ($14 != time) { show(); time = $14 }
        n++; x += $10 / $12; y += $11 / $12
    }
    function show() {
        if (n) printf "%.3f s: %d vectors, mean (%.2f, %.2f)\n", time, n, x / n, y / n
        n = x = y = 0
    }
    END { show() }' "$work/vectors.csv" > "$work/expected"
    grep mean "$work/read" > "$work/means"
    check shared/read_vectors-means "$(diff "$work/expected" "$work/means" | sed -n 2p)" \
        eval "[ -s '$work/expected' ] && cmp -s '$work/expected' '$work/means'"
    "$work/read_vectors" "$work/nowhere.mkv" > "$log" 2>&1
    check shared/read_vectors-fails "it succeeded without a clip" test $? = 1
else
    fail shared/read_vectors "it cannot be compiled: $(tail -n 1 "$log")"
fi

# PyAV: its releases and FFmpeg's series go together.
case $series in
    7.1)     pyav=15.1.0 ;;
    8.1|9.0) pyav=18.1.0 ;;
    *)       pyav= ;;
esac
pyav=${PYAV-$pyav}
python=$work/python/bin/python3
if [ -z "$pyav" ]; then
    skip shared/pyav "PYAV= names no release of PyAV, or none is known for FFmpeg $series"
elif ! python3 -m venv "$work/python" > "$log" 2>&1; then
    skip shared/pyav "python3 cannot make a venv (Debian's package: python3-venv)"
elif ! "$python" -m pip install -q 'cython>=3.1,<4' 'setuptools>77' numpy > "$log" 2>&1; then
    skip shared/pyav "PyPI cannot be reached"
elif ! LDFLAGS=-Wl,-rpath,$prefix/lib "$python" -m pip install --no-build-isolation --no-binary av --no-cache-dir \
        "av==$pyav" > "$log" 2>&1; then
    fail shared/pyav-build "PyAV $pyav: $(grep -i error "$log" | sed -n 1p)"
else
    ok shared/pyav-build
    "$python" tests/shared_pyav.py vectors "$clip" gpume algo=hme:block=8 > "$work/pyav-vectors" 2> "$log"
    check shared/pyav "$(tail -n 1 "$log")" test $? = 0
    cut -d, -f2-12 "$work/vectors.csv" | sed 1d > "$work/expected"
    check shared/pyav-vectors "$(diff "$work/expected" "$work/pyav-vectors" | sed -n 2p)" \
        eval "[ -s '$work/expected' ] && cmp -s '$work/expected' '$work/pyav-vectors'"
    "$python" tests/shared_pyav.py frames "$clip" gpume algo=hme:block=8 mvdenoise > "$work/pyav-frames" 2> "$log"
    check shared/pyav-graph "$(tail -n 1 "$log")" test $? = 0
    sed -n 's/^[^#].*, *//p' "$work/frames" > "$work/expected"
    check shared/pyav-frames "$(diff "$work/expected" "$work/pyav-frames" | sed -n 2p)" \
        eval "[ -s '$work/expected' ] && cmp -s '$work/expected' '$work/pyav-frames'"
    # it must use these libraries
    "$python" -c 'import av; print(av.library_versions["libavfilter"]); print(open("/proc/self/maps").read())' > "$log" 2>&1
    check shared/pyav-libraries "it does not use $prefix/lib" grep -qF "$prefix/lib/libavfilter.so" "$log"
fi

# The system's mpv, with these libraries instead of its own: they must have the same names.
soname=$(basename "$(readlink -f "$prefix/lib/libavfilter.so")" | sed 's/\(\.so\.[0-9]*\).*/\1/')
graph='lavfi=[gpume=algo=hme:dir=future,mvview=search=never:mode=flow+arrows]'
run_mpv() {
    env LD_LIBRARY_PATH="$prefix/lib" HOME="$work" mpv --no-config --msg-level=all=warn --no-audio --hwdec=no "$@"
}
if ! have mpv; then
    skip shared/mpv "there is no mpv (Debian's package: mpv)"
elif ! ldd "$(command -v mpv)" | grep -q "$soname "; then
    skip shared/mpv "mpv is linked with $(ldd "$(command -v mpv)" | grep -o 'libavfilter[^ ]*' | sed -n 1p), not $soname"
else
    run_mpv "$clip" --vf="$graph" --of=rawvideo --ovc=rawvideo -o "$work/mpv.raw" > "$log" 2>&1
    check shared/mpv "$(tail -n 1 "$log")" test $? = 0
    "$ffmpeg" -nostdin -v error -i "$clip" -vf "$(echo "$graph" | sed 's/^lavfi=.\(.*\).$/\1/')" \
        -y -fps_mode passthrough -f rawvideo "$work/expected" > "$log" 2>&1
    check shared/mpv-frames "they are not ffmpeg's" eval "[ -s '$work/expected' ] && cmp -s '$work/expected' '$work/mpv.raw'"
    if have Xvfb; then
        # a picture with the vectors, and one without; the server keeps its screen in a file
        Xvfb -displayfd 3 -screen 0 640x480x24 -fbdir "$work" 3> "$work/display" > /dev/null 2>&1 &
        xvfb=$!
        trap '{ kill $xvfb; wait $xvfb; } 2>/dev/null' EXIT
        for shown in vectors plain; do
            sleep 3
            set -- "$clip" --vo=x11 --pause --no-osc --osd-level=0 --no-border --geometry=640x480+0+0
            [ $shown = plain ] || set -- "$@" --vf="$graph"
            DISPLAY=:$(cat "$work/display")
            export DISPLAY
            run_mpv "$@" > "$log" 2>&1 &
            pid=$!
            sleep 8
            "$ffmpeg" -nostdin -v error -y -f image2 -c:v xwd -i "$work/Xvfb_screen0" -pix_fmt rgb24 "$work/window-$shown.png" > "$log" 2>&1
            check "shared/mpv-window-$shown" "$(tail -n 1 "$log")" test -s "$work/window-$shown.png"
            { kill $pid; wait $pid; } 2>/dev/null
        done
        check shared/mpv-window-differs "the vectors are not seen" \
            eval "! cmp -s '$work/window-vectors.png' '$work/window-plain.png'"
    else
        skip shared/mpv-window "there is no Xvfb (Debian's package: xvfb)"
    fi
fi
