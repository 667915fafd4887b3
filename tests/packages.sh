#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests packages on the systems that they are for: bare Debians, Arm by QEMU, Windows by Wine. Each part first makes its
# package with the Makefile.
#
# usage: tests/packages.sh RESULTS SERIES [PART...]     all parts without PART
#   linux      the archive, unpacked in Debian 12 and 13: the README's command lines
#   deb        lintian; the package in Debian 12 and 13: installed beside their ffmpeg, used, and removed
#   windows    the archive for Windows, unpacked: the same command lines
#   aarch64    archive and package for 64-bit Arm, in Debian 12 and 13 for Arm
#   source     the patch in Debian 13's source package of FFmpeg: libavfilter, checkasm, vectors
#   docker     the Dockerfile's steps, and the size of the image
#   again      archive and package for Debian, compiled again in another folder: the same bytes

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2
shift 2
obj=$top/build/$series/obj
. tests/chroot.sh

releases='bookworm trixie'
begin packages

# makes in.mp4 for the README's command lines, and writes these lines of FOLDER/README.md to a file
clip() {
    "$obj/ffmpeg" -nostdin -v error -y -i tests/clips/h264.mkv -frames:v 8 -c copy "$1/in.mp4"
    awk '{ while (sub(/\\$/, "")) { getline more; $0 = $0 more } } /^```/ { shell = $0 == "```sh"; next }
         shell && /^ffmpeg -i in.mp4 / { sub(/ +#.*/, ""); print }' README.md > "$1/lines"
}

# contents FOLDER: prints the contents of every file that a line wrote: vectors byte by byte; for videos the number of
# frames, because encoders without -bitexact depend on the processor; frames.md5 has their frames
contents() {
    for f in "$1"/*; do
        case ${f##*/} in
            in.mp4|lines) ;;
            *.npy|*.csv)  echo "${f##*/} $(cksum < "$f")" ;;
            *.md5)        grep -v '^#' "$f" ;;
            *)            echo "${f##*/} $("$obj/ffmpeg" -nostdin -v error -i "$f" -map 0:v -f framecrc - 2>&1 | grep -c '^0')" ;;
        esac
    done
}

# readme NAME FOLDER RUN...: runs the README's lines in FOLDER, each by 'RUN... LINE', in a shell that has a command
# 'ffmpeg'. Checks that they write what the programs here write.
readme() {
    readme=$1
    folder=$2
    shift 2
    mkdir -p "$folder" "$work/here"
    clip "$folder"
    number=0
    while read -r line; do
        number=$((number + 1))
        encoded=${line% -c:v h264 *}
        [ "$encoded" = "$line" ] || line="$line && $encoded -f framemd5 frames.md5"
        (cd "$folder" && "$@" "$line") < /dev/null > "$work/said" 2>&1
        status=$?
        cat "$work/said" >> "$log"
        contents "$folder" > "$work/theirs"
        if [ ! -f "$work/here/$number" ]; then
            rm -rf "$work/alone"
            mkdir "$work/alone"
            clip "$work/alone"
            (cd "$work/alone" && PATH=$obj:$PATH && sh -c "$line") < /dev/null > "$work/here/log" 2>&1
            contents "$work/alone" > "$work/here/$number"
        fi
        find "$folder" -type f ! -name in.mp4 ! -name lines -exec rm {} +
        check "packages/$readme/line-$number" "status $status, '$line': $(tail -n 1 "$work/said"); $(cat "$work/theirs")" \
            eval "[ $status = 0 ] && [ -s '$work/theirs' ] && cmp -s '$work/theirs' '$work/here/$number'"
    done < "$folder/lines"
    check "packages/$readme/lines" "the README has $number command lines" test "$number" -ge 7
}

# in_root ROOT PROGRAM LINE: runs LINE in the folder /test of ROOT
in_root() { inside "$1" sh -c "cd /test && ffmpeg() { $2 \"\$@\"; } && $3"; }

# bare NAME RELEASE ARCHITECTURE: sets $root to a new bare Debian
bare() {
    root=$work/$2-$3
    bare_new "$2" "$3" "$root"
    status=$?
    check "packages/$1/debian" "debootstrap; see build/chroots/$2-$3.log" test "$status" = 0
    mkdir -p "$root/test"
    return "$status"
}
gone() { rm -rf --one-file-system "$root"; }

# archive NAME ARCHITECTURE: tests the archive $file in both releases
archive() {
    check "packages/$1/sha256sums" "they are not those of SHA256SUMS" \
        eval "(cd build/packages && grep '${file##*/}' SHA256SUMS | sha256sum -c --status)"
    for release in $releases; do
        bare "$1-$release" "$release" "$2" || continue
        started=$(date +%s.%N)
        tar -C "$root/test" -xf "$file"
        mv "$root/test"/ffmpeg-gpume-* "$root/gpume"
        clip "$root/test"
        inside "$root" sh -c 'cd /test && /gpume/bin/ffmpeg -v error -i in.mp4 -vf mvview -c:v h264 -b:v 8M overlay.mp4' >> "$log" 2>&1
        check "packages/$1-$release/first" "no picture with vectors; see $log" test -s "$root/test/overlay.mp4"
        say "$1, $release: $(seconds "$started") s to unpack and to draw vectors"
        rm -f "$root/test"/overlay.mp4
        readme "$1-$release" "$root/test" in_root "$root" /gpume/bin/ffmpeg
        inside "$root" /gpume/bin/ffprobe -v error -show_entries stream=codec_name -of csv=p=0 /test/in.mp4 > "$work/said" 2>&1
        check "packages/$1-$release/ffprobe" "$(cat "$work/said")" grep -q '^h264' "$work/said"
        check_links "packages/$1-$release/links" "$root/gpume"
        for f in ABOUT.txt LICENSE README.md licenses/COPYING.LGPLv2.1 source share/man/man7/gpume.7 examples/vectors.py; do
            check "packages/$1-$release/$f" "it is not there" test -s "$root/gpume/$f"
        done
        gone
    done
}

# refused NAME PATTERN: checks that 'make dist' fails with a message that matches PATTERN
refused() {
    tools/package.sh dist "build/$series" "$work/none" > "$work/made" 2>&1
    status=$?
    cat "$work/made" >> "$log"
    check "packages/refused-$1" "status $status: $(tail -n 1 "$work/made")" \
        eval "[ $status != 0 ] && grep -q '$2' '$work/made' && [ -z \"\$(ls '$work/none')\" ]"
}

# 'make dist' fails unless it can add the source that was built
sources() {
    from=build/$series/src/.gpume-origin
    changed=build/$series/src/libavutil/mem.c
    cp -p "$from" "$work/origin"
    cp -p "$changed" "$work/changed"
    trap 'cp -p "$work/origin" "$from"; cp -p "$work/changed" "$changed"; rm -rf --one-file-system "$work"' EXIT
    pwd > "$from"
    refused folder 'from the folder'
    echo /nowhere.tar.xz > "$from"
    refused gone 'no longer exists'
    cp -p "$work/origin" "$from"
    echo '/* other */' >> "$changed"
    refused other 'was not built from .*mem.c'
    cp -p "$work/changed" "$changed"
    # under another name
    read -r origin < "$work/origin"
    cp "$origin" "$work/source.${origin##*.}"
    { echo "$work/source.${origin##*.}"; sed 1d "$work/origin"; } > "$from"
    tools/package.sh dist "build/$series" "$work/none" > "$work/made" 2>&1
    check packages/source-elsewhere "$(tail -n 1 "$work/made")" test $? = 0
    cp -p "$work/origin" "$from"
    trap 'rm -rf --one-file-system "$work"' EXIT
    tar -tf "$work/none"/ffmpeg-gpume-*.tar.xz > "$work/listed"
    check packages/source-named "no archive of FFmpeg in it" \
        grep -q "/source/ffmpeg-${series}[.0-9]*\.tar\.${origin##*.}\$" "$work/listed"
    rm -rf "$work/none"
}

part_linux() {
    made dist || return
    # a later commit is greater for dpkg, and all of them are greater than FFmpeg's own version
    version=$(basename "$file" | sed 's/^ffmpeg-gpume-\(.*\)-linux-.*/\1/')
    check packages/version "$version" eval "dpkg --validate-version '$version' && dpkg --compare-versions '$version' gt '${version%%+*}' &&
        dpkg --compare-versions '$version' lt '${version%.*}.9999'"
    sources
    archive linux amd64
}

# files_of ROOT: lists the files of packages, without those that programs write
files_of() { (cd "$1" && find bin sbin lib etc usr opt ! -name '*.cache' ! -name '*-cache' 2> /dev/null | sort); }

# package NAME ARCHITECTURE [BESIDE...]: tests the package $file in both releases, beside other packages
package() {
    what=$1
    architecture=$2
    shift 2
    if have lintian; then
        lintian --allow-root --fail-on error "$file" > "$work/said" 2>&1
        check "packages/$what/lintian" "$(grep '^E:' "$work/said" | head -n 2)" test $? = 0
        cat "$work/said" >> "$log"
    else
        skip "packages/$what/lintian" "there is no lintian"
    fi
    for release in $releases; do
        place=$what-$release
        bare "$place" "$release" "$architecture" || continue
        cp "$file" "$root/"
        if [ $# -gt 0 ]; then
            inside "$root" apt-get -q install -y --no-install-recommends "$@" >> "$log" 2>&1
            check "packages/$place/beside" "apt-get install $*; see $log" test $? = 0
        fi
        files_of "$root" > "$work/before"
        inside "$root" apt-get -q install -y --no-install-recommends "/${file##*/}" >> "$log" 2>&1
        check "packages/$place/installed" "apt-get install; see $log" test $? = 0
        clip "$root/test"
        files_of "$root" > "$work/after"
        check "packages/$place/files" "it installed nothing" test "$(wc -l < "$work/after")" -gt "$(wc -l < "$work/before")"
        check_links "packages/$place/links" "$root/usr/share/doc/ffmpeg-gpume"
        inside "$root" ffprobe-gpume -v error -show_entries stream=codec_name -of csv=p=0 /test/in.mp4 > "$work/said" 2>&1
        check "packages/$place/ffprobe" "$(cat "$work/said")" grep -q '^h264' "$work/said"
        readme "$place" "$root/test" in_root "$root" ffmpeg-gpume
        if [ $# -gt 0 ]; then
            inside "$root" sh -c 'ffmpeg -hide_banner -filters' > "$work/said" 2>&1
            grep -q ' scale ' "$work/said" && ! grep -q ' gpume ' "$work/said"
            check "packages/$place/debian-ffmpeg" "ffmpeg is not Debian's" test $? = 0
            for page in gpume ffmpeg-gpume ffprobe-gpume; do
                inside "$root" man "$page" > "$work/said" 2>&1
                check "packages/$place/man-$page" "$(tail -n 1 "$work/said")" grep -q mvdenoise "$work/said"
            done
            # shellcheck disable=SC2016  # expanded inside
            inside "$root" bash -c '. /usr/share/bash-completion/bash_completion
                f=_comp_load; declare -F _comp_load > /dev/null || f=_completion_loader; $f ffmpeg-gpume
                COMP_LINE="ffmpeg-gpume -i a -vf mvden" COMP_POINT=27; compopt() { :; }; _gpume; echo "${COMPREPLY[*]}"
                complete -p ffmpeg-gpume' > "$work/said" 2>&1
            check "packages/$place/completion" "$(cat "$work/said")" \
                eval "grep -qx mvdenoise= '$work/said' && grep -q '_gpume ffmpeg-gpume' '$work/said'"
        fi
        inside "$root" apt-get -q purge -y ffmpeg-gpume >> "$log" 2>&1
        check "packages/$place/purged" "apt-get purge; see $log" test $? = 0
        files_of "$root" > "$work/after"
        check "packages/$place/nothing-left" "$(diff "$work/before" "$work/after" | sed -n 2p)" \
            cmp -s "$work/before" "$work/after"
        gone
    done
}

part_deb() {
    made deb || return
    package deb amd64 ffmpeg man-db bash-completion
}

part_aarch64() {
    if ! have aarch64-linux-gnu-gcc || ! have qemu-aarch64-static; then
        skip packages/aarch64 "there is no aarch64-linux-gnu-gcc or no qemu-aarch64-static"
        return
    fi
    made dist aarch64 && archive aarch64 arm64
    # without Debian's own ffmpeg, which takes long there and was tested above
    made deb aarch64 && package deb-arm64 arm64
}

# on_windows LINE
on_windows() { sh -c "ffmpeg() { '$top/tests/wine.sh' '$work/windows/gpume/bin/ffmpeg.exe' \"\$@\"; }; $1"; }

part_windows() {
    if ! have x86_64-w64-mingw32-gcc || ! have wine; then
        skip packages/windows "there is no x86_64-w64-mingw32-gcc or no wine"
        return
    fi
    made dist windows || return
    check packages/windows/sha256sums "they are not those of SHA256SUMS" \
        eval "(cd build/packages && grep '${file##*/}' SHA256SUMS | sha256sum -c --status)"
    mkdir -p "$work/windows"
    python3 -m zipfile -e "$file" "$work/windows" >> "$log" 2>&1
    mv "$work/windows"/ffmpeg-gpume-* "$work/windows/gpume"
    check_links packages/windows/links "$work/windows/gpume"
    # the first program waits for Wine's own folder
    tests/wine.sh "$work/windows/gpume/bin/ffmpeg.exe" -hide_banner -version > "$work/said" 2>&1
    check packages/windows/first "$(tail -n 1 "$work/said")" grep -q '^ffmpeg version' "$work/said"
    readme windows "$work/windows/test" on_windows
    # programs need only the system's DLLs
    for f in ffmpeg ffprobe; do
        x86_64-w64-mingw32-objdump -p "$work/windows/gpume/bin/$f.exe" | sed -n 's/.*DLL Name: //p' | sort > "$work/dlls"
        grep -vixE '(advapi32|bcrypt|gdi32|kernel32|msvcrt|ole32|oleaut32|psapi|shell32|shlwapi|strmiids|user32|uuid|vfw32|avicap32)\.dll' \
            "$work/dlls" > "$work/others"
        check "packages/windows/dlls-$f" "it needs $(paste -s -d ' ' "$work/others")" \
            test -s "$work/dlls" -a ! -s "$work/others"
    done
    rm -rf "$work/windows"
}

part_source() {
    make SERIES=7.1 source-patch > "$work/made" 2>&1
    check packages/source-patch "$(tail -n 1 "$work/made")" test $? = 0
    cat "$work/made" >> "$log"
    patch=$top/build/packages/gpume-ffmpeg-7.1.patch
    bare source trixie amd64 || return
    cp "$patch" "$root/test/gpume.patch"
    "$obj/ffmpeg" -nostdin -v error -y -i tests/clips/h264.mkv -frames:v 6 -pix_fmt yuv420p "$root/test/in.yuv"
    graph=format=yuv420p,gpume=algo=hme:mv_file
    "$obj/ffmpeg" -nostdin -v error -y -f rawvideo -video_size 322x242 -i "$root/test/in.yuv" \
        -vf "$graph=$work/expected.npy" -f null -
    # each step has a line in the results
    while read -r step command; do
        echo "== $step: $command" >> "$log"
        inside "$root" sh -c "cd /test && $command" < /dev/null >> "$log" 2>&1
        status=$?
        check "packages/source/$step" "'$command'; see $log" test "$status" = 0
        [ "$status" = 0 ] || break
    done << 'END'
packages apt-get -q install -y --no-install-recommends dpkg-dev gcc libc6-dev make nasm pkg-config zlib1g-dev
fetched apt-get -q source --download-only ffmpeg
unpacked dpkg-source -x ffmpeg_*.dsc tree
series mkdir -p tree/debian/patches && cp gpume.patch tree/debian/patches/ && echo gpume.patch >> tree/debian/patches/series
applied cd tree && dpkg-source --before-build . && grep -q gpume .pc/applied-patches
packed cd tree && dpkg-source -b . && ls ../ffmpeg_*.debian.tar.xz
again dpkg-source -x ffmpeg_*.dsc second && cmp tree/libavfilter/vf_gpume.c second/libavfilter/vf_gpume.c && rm -r second
configured cd tree && ./configure --enable-shared --disable-static --disable-autodetect --enable-zlib --disable-doc --disable-debug --disable-network --disable-ffplay --disable-encoders --enable-encoder=wrapped_avframe,mpeg4,rawvideo --disable-decoders --enable-decoder=rawvideo --disable-parsers --disable-bsfs --enable-bsf=null --disable-demuxers --enable-demuxer=rawvideo --disable-muxers --enable-muxer=null --disable-hwaccels --disable-filters --enable-filter=gpume,mvview,mvfps,mvdenoise,format,scale,null,aformat,anull,trim,hflip,vflip,crop,copy
library cd tree && make -j2 libavfilter/libavfilter.so
program cd tree && make -j2 ffmpeg
checkasm cd tree && make -j2 tests/checkasm/checkasm && tests/checkasm/checkasm --test=vf_gpume 20
filters cd tree && export LD_LIBRARY_PATH=libavfilter:libavutil:libavcodec:libavformat:libavdevice:libswscale:libswresample && ./ffmpeg -hide_banner -filters > list && for f in gpume mvview mvfps mvdenoise; do grep " $f " list || exit; done
vectors cd tree && export LD_LIBRARY_PATH=libavfilter:libavutil:libavcodec:libavformat:libavdevice:libswscale:libswresample && ./ffmpeg -nostdin -v error -f rawvideo -video_size 322x242 -i ../in.yuv -vf format=yuv420p,gpume=algo=hme:mv_file=../found.npy -f null -
END
    [ "$status" != 0 ] || check packages/source/same-vectors "they are not those of FFmpeg $series" \
        cmp -s "$work/expected.npy" "$root/test/found.npy"
    gone
}

part_docker() {
    sh tests/dockerfile.sh "$work/docker" > "$work/made" 2>&1
    check packages/docker "$(tail -n 1 "$work/made")" test $? = 0
    cat "$work/made" >> "$log"
    say "$(tail -n 1 "$work/made")"
    rm -rf --one-file-system "$work/docker"
}

part_again() {
    made deb || return
    deb=$file
    made dist || return
    git clone -q "$top" "$work/again" && mkdir -p "$work/again/build" && cp -r build/dist "$work/again/build/"
    (
        unset MAKEFLAGS MFLAGS MAKELEVEL
        CCACHE_DISABLE=1
        export CCACHE_DISABLE
        make -C "$work/again" CONFIGURE_ARGS="--no-install-deps --ffmpeg-series=$series" SERIES="$series" dist deb
    ) > "$work/made" 2>&1
    check packages/again/built "$(tail -n 1 "$work/made")" test $? = 0
    cat "$work/made" >> "$log"
    for made in "$file" "$deb"; do
        check "packages/again/same-bytes-${made##*.}" "the packages differ" cmp -s "$made" "$work/again/build/packages/${made##*/}"
    done
    # its source is that of the repository
    mkdir "$work/unpacked"
    tar -xOf "$file" --wildcards '*/source/gpume-*.tar.gz' | tar -xz --strip-components=1 -C "$work/unpacked"
    (cd "$work/again" && git ls-files) > "$work/listed"
    while read -r f; do
        cmp -s "$work/again/$f" "$work/unpacked/$f" || echo "$f"
    done < "$work/listed" > "$work/others"
    check packages/again/source "not in the archive's source: $(head -n 3 "$work/others" | paste -s -d ' ')" \
        test -s "$work/listed" -a ! -s "$work/others"
    rm -rf "$work/again" "$work/unpacked"
}

[ $# -gt 0 ] || set -- linux deb windows aarch64 source docker again
run_parts 'windows again' "$@"
