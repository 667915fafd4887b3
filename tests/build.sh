#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests configure and the Makefile: options, messages, and that other files stay as they are.
#
# usage: tests/build.sh RESULTS SERIES     (the series is built already)

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2

work=$top/build/check/build
fresh "$work"
out=$work/out

# expect NAME STATUS PATTERN COMMAND...: checks whether it succeeds, and its output.
expect() {
    name=$1
    wanted=$2
    pattern=$3
    shift 3
    "$@" > "$out" 2>&1
    status=$?
    if [ "$wanted" = 0 ] && [ $status != 0 ]; then
        fail "build/$name" "failed: $(tail -n 1 "$out")"
    elif [ "$wanted" != 0 ] && [ $status = 0 ]; then
        fail "build/$name" "succeeded"
    elif ! grep -qE -- "$pattern" "$out"; then
        fail "build/$name" "does not say '$pattern' but '$(tail -n 1 "$out")'"
    else
        ok "build/$name"
    fi
}

# same NAME WHY BEFORE AFTER: the two files are equal.
same() {
    check "build/$1" "$2" cmp -s "$3" "$4"
}

# A copy of the files in git, with the downloaded tarballs, in which configure can
# run freely.
copy=$work/copy
mkdir -p "$copy/build"
if git ls-files > "$work/files" 2>/dev/null && [ -s "$work/files" ]; then
    while read -r f; do
        if [ -f "$f" ]; then
            printf '%s\n' "$f"
        fi
    done < "$work/files" > "$work/there"
    tar -cf - -T "$work/there" | tar -xf - -C "$copy"
else
    tar -cf - --exclude=./build . | tar -xf - -C "$copy"
fi
ln -s "$top/build/dist" "$copy/build/dist"
config() { (cd "$copy" && ./configure "$@"); }
small() { config --no-install-deps --disable-cuda --disable-libdav1d --disable-libopenh264 "$@"; }

# Arguments.
expect help 0 '^  --ffmpeg-source=PATH' config --help
expect help-names-series 0 "series of FFmpeg to fetch: .*$series" config --help
expect unknown-argument 1 "^error: unknown argument 'frobnicate'" config frobnicate
expect misspelt-option 1 '^error: unknown option --ffmpeg-serie=' config --ffmpeg-serie=9.0
expect empty-value 1 '^error: --ffmpeg-source needs a value' config --ffmpeg-source=
expect missing-value 1 '^error: --patch-only needs a value' config --patch-only
expect unknown-series 1 "^error: --ffmpeg-series=1.0: patches/ has .*$series" config --ffmpeg-series=1.0
expect missing-source 1 '^error: --ffmpeg-source: there is no ' config --ffmpeg-source="$work/nothing"
expect empty-source 1 'is not an FFmpeg source tree' config --no-install-deps --ffmpeg-source="$work"
echo text > "$work/text.tar.xz"
expect bad-tarball 1 'is not a tarball of FFmpeg' config --no-install-deps --ffmpeg-source="$work/text.tar.xz"
other=$(all_series . | grep -vx "$series" | sed -n 1p)
expect wrong-series 1 "is FFmpeg $series, not $other" \
    config --no-install-deps --ffmpeg-source="$top/build/$series/src" --ffmpeg-series="$other"
mkdir -p "$work/old/libavfilter"
: > "$work/old/libavfilter/allfilters.c"
echo 4.4.2 > "$work/old/RELEASE"
expect old-source 1 "is FFmpeg 4.4; patches/ has .*$series" config --no-install-deps --ffmpeg-source="$work/old"

# Shared libraries.
expect shared-help 0 '^  --enable-shared  ' config --help
expect shared-is-for-this-system 1 '^error: --enable-shared builds for this system only' \
    config --no-install-deps --enable-shared --cross=aarch64-linux-gnu
expect libx264-names-its-licence 1 '^error: --enable-libx264 needs --enable-gpl: libx264 is under the GPL' \
    config --no-install-deps --enable-shared --enable-libx264
for what in mpi dist check; do
    expect "shared-no-$what" 2 'usual build' make SERIES="$series" SHARED=1 $what
done

# Unknown options are passed to FFmpeg's configure, which rejects the first one here
# and accepts the others.
expect ffmpeg-refuses 1 'Unknown option "--enable-frobnicate"' \
    small --ffmpeg-source="$top/build/$series/src" --enable-frobnicate
expect ffmpeg-accepts 0 'filters: gpume mvview mvfps mvdenoise mvdeint mvstab mvstereo   CUDA: no   ffplay: no' \
    small --ffmpeg-source="$top/build/$series/src" \
    --disable-ffplay --disable-ffprobe --disable-x86asm --extra-cflags='-DTWO -DWORDS'
check build/no-folders-of-other-trees "$(echo "$copy"/build/*)" \
    test ! -e "$copy/build/$series-san" -a ! -e "$copy/build/$series-gpl" -a -d "$copy/build/$series/obj"
check build/ffmpeg-got-the-words "FFmpeg's configuration does not have both words in one option" \
    grep -q -- "--extra-cflags='-DTWO -DWORDS'" "$copy/build/$series/obj/config.h"
expect configured-once 0 '^now run: make$' small \
    --ffmpeg-source="$top/build/$series/src" \
    --disable-ffplay --disable-ffprobe --disable-x86asm --extra-cflags='-DTWO -DWORDS'
grep -q '^configuring FFmpeg' "$out"
check build/configured-no-second-time "the second ./configure ran FFmpeg's configure again" test $? != 0

# If a series with patches is no longer in the archive, configure uses the next one. If
# the series was chosen by name, configure asks for its tarball.
mkdir "$copy/patches/99.0"
cp "$copy/patches/$series/"* "$copy/patches/99.0/"
rm "$copy/build/dist"
mkdir "$copy/build/dist"
for f in build/dist/*; do
    ln -s "$top/$f" "$copy/build/dist/"
done
if (cd "$copy" && tools/fetch.sh build ffmpeg 99.0) > "$out" 2>&1 || [ $? = 2 ]; then
    newest=$(all_series . | sed -n 1p)
    expect series-has-left 0 "^warning: FFmpeg 99.0 is no longer in Debian's archive" small --disable-ffprobe --disable-ffplay --disable-x86asm
    check build/series-before-it "DEFAULT_SERIES is not $newest" \
        grep -qx "DEFAULT_SERIES = $newest" "$copy/build/config.mk"
    expect series-has-left-by-name 1 '--ffmpeg-source=PATH/TO/ffmpeg-99.0.tar.xz' \
        config --no-install-deps --ffmpeg-series=99.0
else
    skip build/series-has-left "no Debian archive can be reached"
fi
rm -r "$copy/patches/99.0" "$copy/build/dist"

# Packages: a PATH without nasm, clang and valgrind, but with everything else.
mkdir "$work/bin"
for dir in /usr/local/bin /usr/bin /bin; do
    for f in "$dir"/*; do
        case ${f##*/} in
            nasm|clang|valgrind) ;;
            *) [ -e "$work/bin/${f##*/}" ] || ln -s "$f" "$work/bin/${f##*/}" ;;
        esac
    done
done
poor() { PATH=$work/bin "$@"; }
expect packages-named 1 '^  nasm	' poor tools/deps.sh -n build x86 cuda
expect packages-required 1 '^error: installation is disabled: please install nasm' \
    poor tools/deps.sh -n build x86 cuda
expect packages-wanted 0 '^warning: installation is disabled: continuing without clang' \
    poor tools/deps.sh -n build cuda
check build/packages-only-listed "nasm was installed" test ! -e "$work/bin/nasm"

# If no archive can be reached, the required tarball is named.
rm "$work/bin/apt-get"
for f in nasm clang; do
    if have $f; then
        ln -s "$(command -v $f)" "$work/bin/$f"
    fi
done
expect no-archive 1 "^error: cannot fetch FFmpeg $other .*pass its tarball" \
    poor config --no-install-deps --ffmpeg-series="$other"
expect no-archive-names-option 1 '--ffmpeg-source=PATH/TO/ffmpeg-' \
    poor config --no-install-deps --ffmpeg-series="$other"

# Fetching does not change the system's apt state.
if have apt-get; then
    apt_state() {
        find /var/lib/apt /var/cache/apt /etc/apt -type f ! -name lock -exec ls -l --time-style=full-iso {} + 2>/dev/null
    }
    apt_state > "$work/before"
    tools/fetch.sh "$work/fetch" nv-codec-headers 12.1 12 13 14 > "$out" 2>"$work/err"
    status=$?
    apt_state > "$work/after"
    same apt-untouched "the system's apt state changed" "$work/before" "$work/after"
    if [ $status = 0 ]; then
        check build/fetch "'$(cat "$out")' is not a tarball" tar -tf "$(cat "$out")" > /dev/null
        # tarballs in dist are used without asking an archive
        expect fetch-offline 0 'nv-codec-headers' poor tools/fetch.sh "$work/fetch" nv-codec-headers 12.1 12 13 14
        tools/fetch.sh "$work/fetch" ffmpeg 1.0 > "$out" 2>/dev/null
        check build/fetch-gone "a version that does not exist gives status $?" test $? = 2
    else
        skip build/fetch "no Debian archive can be reached"
    fi
else
    skip build/fetch "there is no apt-get"
fi

# --patch-only on a separate tree.
pristine=$work/pristine
mkdir "$pristine"
if tarball=$(tools/fetch.sh build ffmpeg "$series") &&
   tar -xf "$tarball" --strip-components=1 -C "$pristine"; then
    expect patch-only 0 "^copied gpume into $pristine " config --patch-only "$pristine"
    # shellcheck disable=SC2016
    (cd "$pristine" && find . -type f -exec ls -l --time-style=full-iso {} +) > "$work/before"
    expect patch-only-twice 0 'nothing to change' config --patch-only="$pristine"
    (cd "$pristine" && find . -type f -exec ls -l --time-style=full-iso {} +) > "$work/after"
    same patch-only-twice-changes-nothing "the tree changed" "$work/before" "$work/after"
    (cd "$pristine" && ./configure --disable-everything --disable-autodetect --disable-x86asm \
        --disable-doc --enable-filter=gpume) > "$out" 2>&1
    check build/patch-only-configures "$(tail -n 1 "$out")" \
        grep -q '^#define CONFIG_GPUME_FILTER 1' "$pristine/config_components.h"
    (cd "$pristine" && make -j2 libavfilter/vf_gpume.o libavfilter/gpume/cpu/search.o) > "$out" 2>&1
    check build/patch-only-compiles "$(tail -n 1 "$out")" test -s "$pristine/libavfilter/gpume/cpu/search.o"
    (cd "$pristine" && make clean) > "$out" 2>&1
    check build/ffmpeg-clean "make clean leaves our objects" \
        test -z "$(find "$pristine/libavfilter" -name '*.[od]')"
    rm -rf "$pristine"
else
    skip build/patch-only "the source cannot be fetched"
fi
expect patch-only-no-tree 1 'is not an FFmpeg source tree' config --patch-only "$work"
expect patch-only-no-dir 1 'there is no directory' config --patch-only "$work/nowhere"

# A second make has nothing to do.
expect make-again 0 "^FFmpeg $series with gpume" make SERIES="$series"
grep -E '^(CC|LD|AR)|step [0-9]|^built in' "$out" > "$work/compiled"
check build/make-again-compiles-nothing "$(sed -n 1p "$work/compiled")" test ! -s "$work/compiled"
expect make-help 0 '^make demo' make help
check build/make-help-has-eight "$(make help | grep -c '^make [^h]') targets" test "$(make help | grep -c '^make [^h]')" = 8
expect make-help-all 0 '^  make nightly ' make help-all
expect make-install 0 . make SERIES="$series" install DESTDIR="$work/stage" PREFIX=/opt/gpume
"$work/stage/opt/gpume/bin/ffmpeg" -hide_banner -filters > "$out" 2>&1
check build/installed-filter "the installed ffmpeg has no gpume" grep -q ' gpume ' "$out"
check_links build/installed-links "$work/stage/opt/gpume/share/doc/gpume"
for f in bin/ffprobe share/doc/gpume/LICENSE share/doc/gpume/README.md share/doc/gpume/doc/overlay.jpg \
         share/doc/gpume/examples/24-to-60.sh share/doc/gpume/doc/gpume.texi share/man/man7/gpume.7; do
    check "build/installed-$f" "it is not there" test -s "$work/stage/opt/gpume/$f"
done
# the manual page and the completion have every option of the filters
for what in table completion manual; do
    expect "options-fail-$what" 1 'has no help of gpume' tools/options.sh $what false doc
done
tools/options.sh table "build/$series/obj/ffmpeg" | sed -n 's/^\([a-z]*\)|\([a-z_]*\)|[^=].*/\1: \2/p' > "$work/options"
sed 's/\\-/-/g' "$work/stage/opt/gpume/share/man/man7/gpume.7" | grep -oF -f "$work/options" | sort -u > "$out"
check build/manual-options "the manual page lacks options" \
    eval "[ \$(grep -c . '$work/options') -gt 40 ] && [ \$(grep -c . '$out') = \$(grep -c . '$work/options') ]"
if command -v bash > /dev/null; then
    cat > "$work/complete" << 'END'
compopt() { :; }
. "$1"
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
for COMP_LINE in "ffmpeg -i a -vf mvden" "ffmpeg -vf gpume=al" "ffmpeg -vf gpume=algo=hm" "ffmpeg -vf gpume=check=" \
                 "ffmpeg -lavfi \"[0:v]gpume=algo=hme,mvview=mode=flow+a" "ffmpeg -vf gpume=dir=both,mvf" "ffmpeg -i a"; do
    COMP_POINT=${#COMP_LINE}
    _gpume
    echo "${COMPREPLY[*]}"
done
END
    bash "$work/complete" "$work/stage/opt/gpume/share/bash-completion/completions/ffmpeg" > "$out" 2>&1
    printf '%s\n' mvdenoise= algo= hme '0 1' flow+arrows both,mvfps= '' > "$work/completed"
    check build/completion "$(diff "$work/completed" "$out" | sed -n 2p)" cmp -s "$work/completed" "$out"
fi
"build/$series/obj/ffmpeg" -hide_banner -L > "$out" 2>&1
if grep -q '^#define CONFIG_NONFREE 1' "build/$series/obj/config.h"; then
    skip build/redistributable "it was configured with --enable-nonfree"
elif grep -q '^#define CONFIG_GPL 1' "build/$series/obj/config.h"; then
    check build/redistributable "its licence is not the GPL" grep -q 'GNU General Public' "$out"
else
    check build/redistributable "its licence is not the LGPL" grep -q 'GNU Lesser General Public' "$out"
fi
# the demonstration and the README's command lines need these
for what in 'protocols fd' 'protocols file' 'protocols pipe' 'devices lavfi' 'filters codecview' 'filters mvview' \
            'filters mvfps' 'filters mvdenoise' 'filters mestimate' 'filters scale' 'filters hwupload' 'filters testsrc2' \
            'filters atempo' 'filters minterpolate' 'muxers null' 'muxers srt' 'decoders mov_text' 'encoders srt'; do
    "build/$series/obj/ffmpeg" -hide_banner "-${what% *}" > "$out" 2>&1
    check "build/has-$(echo "$what" | tr ' ' -)" "not in the build" \
        grep -qE "(^| |,)${what#* }( |,|\$)" "$out"
done

# all formats of doc/install.md are in the build, but for libraries that could not be built
for kind in demuxers decoders muxers encoders; do
    "build/$series/obj/ffmpeg" -hide_banner -$kind 2> /dev/null | awk '{ print $2 }' | tr , '\n' > "$work/there"
    # shellcheck disable=SC2016
    sed -n "/^## Formats/,/^## Systems/s/^| [^|]*($kind) |//p" doc/install.md | grep -o '`[a-z0-9_]*`' | tr -d '`' > "$work/named"
    check "build/$kind-named" "$(grep -c . "$work/named") are in doc/install.md" test "$(grep -c . "$work/named")" -gt 15
    while read -r named; do
        case $named in
            lib*) if ! grep -q "enable-$named" "build/$series/configure-ffmpeg.sh"; then
                      skip "build/$kind-$named" "it was not built"
                      continue
                  fi ;;
        esac
        check "build/$kind-$named" "doc/install.md names it, but the build does not have it" grep -qx "$named" "$work/there"
    done < "$work/named"
done

encode() { "build/$series/obj/ffmpeg" -nostdin -v error -y "$@" > "$out" 2>&1; }
frames_of() {
    "build/$series/obj/ffprobe" -v error -count_frames -select_streams v -show_entries stream=nb_read_frames \
        -of default=nk=1:nw=1 "$@" 2>&1 | sed -n 1p
}

# users' formats: a picture and, if the format can have it, sound, with the default encoders
for f in avi flv gif mkv mov mp4 mpg ts vob wtv; do
    sound=
    [ $f = gif ] || sound='-f lavfi -i sine=r=44100'
    # shellcheck disable=SC2086  # options
    encode -f lavfi -i testsrc2=s=64x48:r=25 $sound -t 0.4 "$work/out.$f"
    check "build/writes-$f" "$(tail -n 1 "$out")" test $? = 0
    encode -xerror -i "$work/out.$f" -f null -
    check "build/reads-$f" "$(tail -n 1 "$out")" test $? = 0
    n=$("build/$series/obj/ffprobe" -v error -show_entries stream=codec_type -of csv=p=0 "$work/out.$f" |
        tr -d , | sed '/^$/d' | sort -u | paste -s -d ' ')
    check "build/streams-of-$f" "they are '$n'" test "$n" = "${sound:+audio }video"
done

# Editing, film scans, tapes and screen recordings: 24 frames must be 24 frames again. The least PSNR says that they are
# the same pictures; lossless encoders have 'inf'.
while read -r to least options; do
    file=$work/round.${to##*.}
    case $to in
        *%*) mkdir -p "$work/round"
             rm -f "$work/round"/*
             file=$work/round/$to ;;
    esac
    # shellcheck disable=SC2086  # options
    encode -f lavfi -i testsrc2=s=720x576:r=25 -frames:v 24 $options "$file"
    check "build/writes-$to-${options##*-c:v }" "$(tail -n 1 "$out")" test $? = 0
    n=$(frames_of "$file")
    check "build/reads-$to-${options##*-c:v }" "'$n' of 24 frames" test "$n" = 24
    encode -v info -i "$file" -f lavfi -i testsrc2=s=720x576:r=25 -lavfi \
        '[0:v]setpts=N/25/TB,format=yuv422p[a];[1:v]setpts=N/25/TB,format=yuv422p[b];[a][b]psnr=shortest=1' -f null -
    psnr=$(sed -n 's/.*average:\([0-9.inf]*\).*/\1/p' "$out" | tail -n 1)
    check "build/same-$to-${options##*-c:v }" "PSNR '$psnr'" \
        awk -v a="${psnr:-0}" -v b="$least" 'BEGIN { exit !(a == "inf" || (b != "inf" && a + 0 >= b + 0)) }'
done << 'END'
mxf 30 -b:v 20M -c:v mpeg2video
mxf 20 -pix_fmt yuv422p -profile:v dnxhr_hq -c:v dnxhd
mxf 30 -pix_fmt yuv422p10 -c:v prores_ks
mxf 30 -pix_fmt yuv422p -c:v jpeg2000
gxf 30 -b:v 20M -c:v mpeg2video
dv 25 -pix_fmt yuv420p -c:v dvvideo
mov 30 -pix_fmt yuv422p10 -c:v cfhd
mov 30 -pix_fmt rgb24 -c:v qtrle
mov 60 -pix_fmt yuv422p10 -c:v v210
avi inf -pix_fmt yuv422p -c:v utvideo
avi inf -pix_fmt yuv422p -c:v magicyuv
avi inf -pix_fmt yuv422p -c:v huffyuv
avi inf -pix_fmt yuv422p -c:v ffvhuff
mkv inf -pix_fmt yuv422p -c:v ffv1
%d.dpx 30 -pix_fmt gbrp10be -c:v dpx
%d.exr 30 -pix_fmt gbrpf32 -c:v exr
%d.tif 30 -pix_fmt rgb48 -c:v tiff
%d.tga 30 -pix_fmt bgr24 -c:v targa
%d.jp2 30 -pix_fmt yuv422p -c:v jpeg2000
END
if grep -q enable-libopenh264 "build/$series/configure-ffmpeg.sh"; then
    encode -f lavfi -i testsrc2=s=322x242:r=25 -frames:v 24 -b:v 4M -c:v h264 "$work/out.mp4"
    check build/writes-h264 "$(tail -n 1 "$out")" test $? = 0
    n=$("build/$series/obj/ffprobe" -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 "$work/out.mp4")
    check build/h264-for-browsers "it is '$n'" test "$n" = h264,322,242,yuv420p -a "$(frames_of "$work/out.mp4")" = 24
fi
if grep -q enable-libdav1d "build/$series/configure-ffmpeg.sh"; then
    # 6 frames of 10 bits
    encode -c:v libdav1d -i tests/clips/av1.mkv -f framecrc "$work/named.crc"
    encode -xerror -i tests/clips/av1.mkv -f framecrc "$work/default.crc"
    check build/av1-without-a-gpu "$(grep -c '^0, ' "$work/default.crc") frames; $(tail -n 1 "$out")" \
        eval "[ \$(grep -c '^0, ' '$work/default.crc') = 6 ] && cmp -s '$work/named.crc' '$work/default.crc'"
fi

# standard input and output
"build/$series/obj/ffmpeg" -v error -f lavfi -i testsrc2=s=64x48 -frames:v 3 -c:v ffv1 -f nut - 2> "$out" |
    "build/$series/obj/ffmpeg" -v error -i - -f framecrc - 2>> "$out" | grep -c '^0, ' > "$work/frames"
check build/stdin-and-stdout "$(cat "$work/frames") frames: $(tail -n 1 "$out")" grep -qx 3 "$work/frames"

# the compiler of kernels does not warn about the version of a CUDA toolkit
if grep -q '^CONFIG_CUDA_LLVM=yes' "build/$series/obj/ffbuild/config.mak" &&
   echo | clang -Werror -Wno-unknown-cuda-version -x c - -fsyntax-only 2>/dev/null; then
    check build/quiet-kernels "clang may warn of the toolkit's version for each kernel" \
        grep -q '^NVCCFLAGS=.* -Wno-unknown-cuda-version ' "build/$series/obj/ffbuild/config.mak"
fi

# A link to a program that was not built is removed. The test uses a copy of the links, because other tests need them.
if [ ! -x "build/$series/obj/ffplay" ] && grep -qx "DEFAULT_SERIES = $series" build/config.mk; then
    ln -sf ../nowhere/ffplay build/bin/ffplay
    expect no-dangling-ffplay 0 '^no ffplay: it needs SDL2 .*libsdl2-dev' make
    check build/no-dangling-link "build/bin/ffplay leads nowhere" test ! -L build/bin/ffplay
fi
mkdir "$work/empty"
expect play-names-sdl 1 '^error: .*ffplay was not built: it needs SDL2 .*libsdl2-dev' \
    env DEMO_DIR="$work/demo" tools/demo.sh play "$work/empty" "$top/tests/clips/h264.mkv"

# The progress of a build, tested with a small makefile whose rules print what FFmpeg's print.
mkdir -p "$work/tree/obj"
tree=$work/tree/obj
cat > "$tree/Makefile" <<'EOT'
.RECIPEPREFIX = >
all: $(foreach n,1 2 3 4 5 6 7 8 9 10,lib/$(n).o)
lib/%.o:
> @mkdir -p lib
> @printf "CC\t%s\n" $@; echo "other.c:1: warning: not ours" >&2; touch $@
ours: all
> @printf "CC\t%s\n" vf_gpume.o; echo "libavfilter/gpume/x.c:1:2: warning: ours" >&2
bad:
> @printf "CC\t%s\n" bad.o; echo "bad.c:1: error: so bad" >&2; exit 3
EOT
expect progress-steps 0 '^100 %  step 10 of 10, [0-9]+\.[0-9] min$' tools/progress.sh "$tree"
check build/progress-lines "$(grep -c step "$out") lines" test "$(grep -c '^ *[0-9]* %  step' "$out")" = 9
grep -q 'not ours' "$out"
check build/progress-is-quiet "a warning of FFmpeg's is shown" test $? != 0
check build/progress-log "make.log has not everything" test "$(grep -c 'not ours' "$work/tree/make.log")" = 10
expect progress-nothing-to-do 0 '^done$' sh -c "tools/progress.sh '$tree' && echo done"
grep -q step "$out"
check build/progress-again "it counts steps where there are none" test $? != 0
expect progress-warns 0 'gpume/x.c:1:2: warning: ours' tools/progress.sh "$tree" ours
expect progress-fails 2 'bad.c:1: error: so bad' tools/progress.sh "$tree" bad
expect progress-names-log 2 '^error: the build failed; .*the complete output is in .*make.log' tools/progress.sh "$tree" bad
expect progress-verbose 2 '^CC	bad.o' env V=1 tools/progress.sh "$tree" bad

ldd "build/$series/obj/ffmpeg" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) .*/\1/p' |
    grep -vE '^(linux-vdso|libc|libm|libz|libpthread|libdl|libatomic|/lib.*/ld-linux|libx264)' > "$out"
check build/no-odd-libraries "ffmpeg needs $(sed -n 1p "$out")" test ! -s "$out"

rm -rf "$copy" "$work/stage"
