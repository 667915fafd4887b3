#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes packages of a built tree: 'make dist' and 'make deb'. One commit and one compiler give the same bytes in any
# folder.
#
# usage: package.sh dist TREE OUT_DIR    an archive that runs where it is unpacked, with its source, and
#                                        SHA256SUMS beside it; TREE: build/SERIES or build/SERIES-NAME
#        package.sh deb TREE OUT_DIR     ffmpeg-gpume, a package for Debian that may be installed beside ffmpeg
#
#        package.sh vapoursynth TREE OUT_DIR   the plugin for VapourSynth as a wheel; TREE: build/SERIES-plugin
#        package.sh wheel TREE OUT_DIR   the Python package gpume, with ffmpeg and ffprobe in it
#
#        package.sh patch SERIES OUT_DIR   the filters as one patch for a source package of that FFmpeg, as
#                                        distributions have them: debian/patches/gpume.patch
#
# MAINTAINER is the maintainer of the Debian package, 'name <address>'; HOMEPAGE is the address of gpume's source, by
# default that from which the repository was cloned.
# Programs that need a newer glibc than GLIBC [2.36, that of Debian 12] are an error.

set -eu
LC_ALL=C
export LC_ALL
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"
kind=$1
series=$2
[ "$kind" = patch ] || tree=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
cd "$top"
glibc=${GLIBC:-2.36}
maintainer=${MAINTAINER:-gpume <gpume@gpume.invalid>}
HOMEPAGE=${HOMEPAGE:-$(git remote get-url origin 2> /dev/null | sed -n 's,^\(https://.*[^/]\)/*$,\1,p' | sed 's,//[^/@]*@,//,; s,\.git$,,')}
HOMEPAGE=${HOMEPAGE:-https://gpume.invalid}
export HOMEPAGE
# the names of the filters, for texts
filters=$(sed -n '/^#/d; /^common /d; s/ .*//p' filters.list | paste -s -d, - | sed 's/,/, /g; s/, \([^,]*\)$/ and \1/')

[ -z "$(git status --porcelain 2>/dev/null)" ] || die "there are uncommitted changes: commit them first, because packages contain their source"
epoch=$(git log -1 --format=%ct) || die "packages are made from a git repository"
SOURCE_DATE_EPOCH=$epoch
export SOURCE_DATE_EPOCH
commit=$(git rev-parse --short=12 HEAD)
if [ "$kind" != patch ]; then
    conf=$tree/obj/ffbuild/config.mak
    [ -f "$conf" ] || die "$tree is not built: run make first"
    value() { sed -n "s/^$1=//p" "$conf" | head -n 1; }
    arch=$(value ARCH)
    arch=${arch%%_32}
    [ "$arch" != x86 ] || arch=x86_64
    suffix=$(value EXESUF)
    strip=$(value STRIP)
    GPUME_EXEC=$(value TARGET_EXEC)
    export GPUME_EXEC
    series=$(basename "$tree")
    series=${series%%-*}
    system=linux
    [ -z "$suffix" ] || system=windows
    # FFmpeg's version and the time of gpume's last change, so that dpkg sorts later versions behind earlier ones
    release=$(cat "build/$series/src/RELEASE")
    version=$release+gpume$(date -u -d "@$epoch" +%Y%m%d.%H%M)
fi

# a pipe in sh has the status of its last command only, so commands that can fail write to files here
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# source_of DIR WHAT: prints the archive that WHAT in DIR was unpacked from
source_of() {
    [ -s "$1/.gpume-origin" ] || die "$1 does not say what it was unpacked from: run ./configure"
    sed -n 1p "$1/.gpume-origin" > "$tmp/origin"
    read -r origin < "$tmp/origin"
    [ ! -d "$origin" ] ||
        die "$2 was built from the folder $origin; a package needs an archive of it: ./configure --ffmpeg-source=ARCHIVE"
    [ -f "$origin" ] || die "$2 was built from $origin, which no longer exists: run ./configure again"
    printf '%s\n' "$origin"
}

# same_source DIR OTHER WHAT: fails unless both have the same source, except for files that configure writes
same_source() {
    status=0
    diff -rq -x .gpume-origin -x ffnvcodec.pc "$1" "$2" > "$tmp/log" || status=$?
    [ $status = 0 ] || die "$3 was not built from $origin: $(head -n 1 "$tmp/log")"
}

# sources: finds the archives that the programs were built from, and verifies that they were
sources() {
    src=build/$series/src
    ffmpeg_source=$(source_of "$src" FFmpeg)
    origin=$ffmpeg_source
    mkdir "$tmp/ffmpeg"
    tar -C "$tmp/ffmpeg" --strip-components=1 -xf "$ffmpeg_source"
    ./configure --no-install-deps --patch-only "$tmp/ffmpeg" > "$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
    same_source "$tmp/ffmpeg" "$src" FFmpeg
    headers_source=
    if [ -d build/ffnvcodec/src ] && grep -q '^CONFIG_FFNVCODEC=yes' "$conf"; then
        headers_source=$(source_of build/ffnvcodec/src "the code for CUDA")
        origin=$headers_source
        mkdir "$tmp/headers"
        tar -C "$tmp/headers" --strip-components=1 -xf "$headers_source"
        same_source "$tmp/headers" build/ffnvcodec/src "the code for CUDA"
    fi
    contained=
    for library in dav1d openh264; do
        if grep -q "^CONFIG_LIB$(echo $library | tr '[:lower:]' '[:upper:]')=yes" "$conf"; then
            origin=$(source_of build/$library/src $library)
            mkdir "$tmp/$library"
            tar -C "$tmp/$library" --strip-components=1 -xf "$origin"
            same_source "$tmp/$library" build/$library/src $library
            rm -rf "${tmp:?}/$library"
            contained="$contained $origin"
        fi
    done
    rm -rf "$tmp/ffmpeg" "$tmp/headers"
}

# texts DIR: copies the licences
texts() {
    mkdir -p "$1"
    cp "build/$series/src/COPYING.LGPLv2.1" "build/$series/src/LICENSE.md" "$1/"
    for f in $contained; do
        f=${f##*/}
        f=${f%%_*}
        cat build/"$f"/src/COPYING build/"$f"/src/LICENSE > "$1/$f.txt" 2> /dev/null || :
    done
}

# programs DIR: copies the programs, without symbols
programs() {
    mkdir -p "$1"
    for program in ffmpeg ffprobe ffplay; do
        if [ -f "$tree/obj/$program$suffix" ]; then
            "$strip" -o "$1/$program$suffix" "$tree/obj/$program$suffix"
            chmod 755 "$1/$program$suffix"
        fi
    done
    [ -f "$1/ffmpeg$suffix" ] || die "$tree has no ffmpeg: run make first"
    # the programs must have the formats that users expect, and a licence that lets users pass them on
    grep -q -e '--enable-filters' "$tree/configure-ffmpeg.sh" ||
        die "$tree has only what tests need: run ./configure and make again"
    ! grep -q -E '^(CONFIG_GPL|CONFIG_NONFREE|CONFIG_VERSION3)=yes' "$conf" ||
        die "packages are under the LGPL, and $tree is not: build it without --enable-gpl, --enable-version3 and --enable-nonfree"
    [ "$system" != linux ] || needs_glibc "$1"/*
}

# programs_sharing DIR: links ffmpeg and ffprobe again, so that what both contain is once in DIR, in a library
programs_sharing() {
    programs "$tmp/whole"
    mkdir -p "$1"
    if [ "$system" != linux ]; then
        cp "$tmp/whole/ffmpeg$suffix" "$tmp/whole/ffprobe$suffix" "$1/"
        return
    fi
    # shellcheck disable=SC2016,SC2046,SC2086  # $ORIGIN is the loader's; lists of words
    (
        cd "$tree/obj"
        find fftools -name '*.o' ! -name ffmpeg.o ! -name ffprobe.o ! -name 'ffplay*' > "$tmp/objects"
        sort -o "$tmp/objects" "$tmp/objects"
        "$(value AR)" qcsD "$tmp/tools.a" $(cat "$tmp/objects")
        nm -u "$tmp/tools.a" fftools/ffmpeg.o fftools/ffprobe.o | sed -n 's/^ *U //p' | sort -u > "$tmp/wanted"
        nm -g --defined-only libav*/*.a libsw*/*.a | awk 'NF == 3 { print $3 }' | sort -u |
            comm -12 "$tmp/wanted" - > "$tmp/exported"
        { echo '{ global:'; sed 's/$/;/' "$tmp/exported"; echo 'local: *; };'; } > "$tmp/exported.ver"
        sed 's/^/-Wl,-u,/' "$tmp/exported" > "$tmp/exported.flags"
        libs=$(sed -n 's/^EXTRALIBS\(-av[a-z]*\|-sw[a-z]*\|\)=//p' ffbuild/config.mak | tr '\n' ' ')
        $(value CC) -shared -Wl,-soname,libgpume-ffmpeg.so -Wl,-Bsymbolic $(value LDFLAGS | tr ' ' '\n' | grep -v -e -pie) \
            $(value LDEXEFLAGS | tr ' ' '\n' | grep -v -e -pie) -Wl,--version-script="$tmp/exported.ver" \
            @"$tmp/exported.flags" -o "$1/libgpume-ffmpeg.so" libavdevice/libavdevice.a libavfilter/libavfilter.a \
            libavformat/libavformat.a libavcodec/libavcodec.a libswresample/libswresample.a libswscale/libswscale.a \
            libavutil/libavutil.a $libs
        for program in ffmpeg ffprobe; do
            $(value CC) $(value LDFLAGS) $(value LDEXEFLAGS) -Wl,-rpath,'$ORIGIN' -o "$1/$program" \
                fftools/$program.o "$tmp/tools.a" "$1/libgpume-ffmpeg.so" $libs
        done
        "$strip" "$1"/*
        chmod 755 "$1"/*
    )
    needs_glibc "$1"/*
}

# needs_glibc FILES...: sets $needed to the version that they need
needs_glibc() {
    objdump -T "$@" > "$tmp/symbols"
    needed=$(sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' "$tmp/symbols" | sort -t . -k 1,1n -k 2,2n -k 3,3n -u | tail -n 1)
    [ -n "$needed" ] || die "objdump finds no version of glibc"
    newest=$(printf '%s\n' "$needed" "$glibc" | sort -t . -k 1,1n -k 2,2n -k 3,3n | tail -n 1)
    [ "$newest" = "$glibc" ] || die "the programs need glibc $needed: build on a system with $glibc or older"
}

# options DIR: makes the manual page and the completion, under share/
options() {
    mkdir -p "$1/man/man7" "$1/bash-completion/completions"
    tools/options.sh manual "$tree/obj/ffmpeg$suffix" "build/$series/src/doc" > "$1/man/man7/gpume.7"
    tools/options.sh completion "$tree/obj/ffmpeg$suffix" > "$1/bash-completion/completions/$2"
}

# sets the time of all files to that of the commit
dated() { find "$1" -exec touch -h -d "@$epoch" {} +; }

dist() {
    name=ffmpeg-gpume-$version-$system-$arch
    dir=$tmp/$name
    sources
    programs "$dir/bin"
    tools/documents.sh "$dir"
    if [ "$system" = linux ]; then
        options "$dir/share" ffmpeg
        ln -s ffmpeg "$dir/share/bash-completion/completions/ffplay"
    fi
    mkdir -p "$dir/source"
    texts "$dir/licenses"
    # add the source and the configuration
    git archive --prefix="gpume-$version/" -o "$tmp/source.tar" HEAD
    gzip -n9 < "$tmp/source.tar" > "$dir/source/gpume-$version.tar.gz"
    # use a name under which configure finds the archive
    named=$(basename "$ffmpeg_source")
    case $named in
        ffmpeg_"$series".*.orig.tar.*|ffmpeg-"$series".*.tar.*|ffmpeg-"$series".tar.*) ;;
        *) named=ffmpeg-$release.tar.${named##*.} ;;
    esac
    cp "$ffmpeg_source" "$dir/source/$named"
    for f in $headers_source $contained; do
        cp "$f" "$dir/source/"
    done
    {
        echo "ffmpeg-gpume $version, gpume's commit $commit"
        echo
        echo "The programs are in bin/. They are FFmpeg $series with the filters $filters,"
        echo "under the LGPL 2.1 or later${contained:+, with dav1d and OpenH264, under BSD licences} (licenses/). Their source is in source/: unpack gpume-$version.tar.gz, copy"
        echo "the other archives into its folder build/dist, and run ./configure and make."
        echo "To use a GPU, only NVIDIA's driver is needed."
    } > "$dir/ABOUT.txt"
    chmod -R u+w,go-w,a+rX "$dir"
    dated "$dir"
    if [ "$system" = windows ]; then
        (cd "$tmp" && find "$name" -type f > found && sort found > files && TZ=UTC python3 - "$out/$name.zip" "$epoch" << 'END'
import sys, time, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name in open('files').read().splitlines():
        info = zipfile.ZipInfo(name, time.gmtime(int(sys.argv[2]))[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        archive.writestr(info, open(name, 'rb').read())
END
        )
        archive=$name.zip
    else
        archive=$name.tar.xz
        tar -C "$tmp" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf "$tmp/archive" "$name"
        xz -9 -T1 < "$tmp/archive" > "$tmp/archive.xz"
        chmod 644 "$tmp/archive.xz"
        mv "$tmp/archive.xz" "$out/$archive"
    fi
    (
        cd "$out"
        for f in ffmpeg-gpume-"$version"-*.tar.xz ffmpeg-gpume-"$version"-*.zip; do
            [ ! -f "$f" ] || sha256sum "$f"
        done > SHA256SUMS
    )
    say "$out/$archive: $(du -h "$out/$archive" | cut -f1), FFmpeg $series${needed:+, glibc $needed or newer}"
}

deb() {
    [ "$system" = linux ] || die "packages for Debian are for Linux"
    case $arch in
        x86_64)  architecture=amd64 ;;
        aarch64) architecture=arm64 ;;
        *)       die "there is no Debian package for $arch" ;;
    esac
    dir=$tmp/deb
    package=ffmpeg-gpume
    sources
    programs "$dir/usr/lib/$package"
    options "$dir/usr/share" $package
    doc=$dir/usr/share/doc/$package
    mkdir -p "$dir/usr/bin" "$dir/usr/share/man/man1" "$doc" "$dir/usr/share/lintian/overrides" "$dir/DEBIAN"
    names=
    for program in ffmpeg ffprobe ffplay; do
        if [ -f "$dir/usr/lib/$package/$program" ]; then
            ln -s ../lib/$package/$program "$dir/usr/bin/$program-gpume"
            names="${names:+$names, }$program\\-gpume"
            [ $program = ffmpeg ] || ln -s $package.1.gz "$dir/usr/share/man/man1/$program-gpume.1.gz"
        fi
    done
    [ ! -f "$dir/usr/bin/ffplay-gpume" ] || ln -s $package "$dir/usr/share/bash-completion/completions/ffplay-gpume"
    tools/documents.sh "$doc"
    # Debian has the same text there
    ln -sf ../../common-licenses/LGPL-2.1 "$doc/LICENSE"
    texts "$doc/ffmpeg"
    rm "$doc/ffmpeg/COPYING.LGPLv2.1"
    chmod 644 "$doc/examples"/*
    cat > "$dir/usr/share/man/man1/$package.1" << END
.TH FFMPEG\-GPUME 1 "$(date -u -d "@$epoch" +%Y-%m-%d)" "gpume $version" "User Commands"
.SH NAME
$names \- FFmpeg with filters for motion estimation and its uses
.SH SYNOPSIS
.B ffmpeg\-gpume
.RI [ options ]\ \-i\ input\ \-vf\ filters\ output
.SH DESCRIPTION
This is FFmpeg $series with the filters $filters. These programs have the
options of ffmpeg, ffprobe and ffplay.
The filters are described in
.BR gpume (7).
.SH EXAMPLE
ffmpeg\-gpume \-i noisy.mkv \-vf mvdenoise output.mkv
.SH SEE ALSO
.BR gpume (7)
END
    gzip -n9 "$dir/usr/share/man/man1/$package.1" "$dir/usr/share/man/man7/gpume.7"
    cat > "$doc/copyright" << END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gpume
Comment: FFmpeg $series, see https://ffmpeg.org, with the filters of gpume, commit $commit.
 Some files of FFmpeg have licenses like those of MIT, X11 and BSD; the whole is
 under the license below. The file ffmpeg/LICENSE.md beside this one has the details.
 dav1d and OpenH264, if they are inside, have the BSD licenses in ffmpeg/.

Files: *
Copyright: 2000-$(date -u -d "@$epoch" +%Y) the FFmpeg developers
           $(git log -1 --format=%cd --date=format:%Y) the gpume authors
License: LGPL-2.1+
 FFmpeg is free software; you can redistribute it and/or modify it under the
 terms of the GNU Lesser General Public License as published by the Free Software
 Foundation; either version 2.1 of the License, or (at your option) any later
 version.
 .
 FFmpeg is distributed in the hope that it will be useful, but WITHOUT ANY
 WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A
 PARTICULAR PURPOSE. See the GNU Lesser General Public License for more details.
 .
 On Debian systems, the text of the GNU Lesser General Public License, version
 2.1, is in /usr/share/common-licenses/LGPL-2.1.
END
    printf '%s (%s) unstable; urgency=medium\n\n  * Commit %s.\n\n -- %s  %s\n' $package "$version" \
        "$commit" "$maintainer" "$(date -u -R -d "@$epoch")" > "$tmp/changelog"
    gzip -n9 < "$tmp/changelog" > "$doc/changelog.gz"
    # lintian: FFmpeg's libraries are inside on purpose
    printf '%s: embedded-library *\n' $package > "$dir/usr/share/lintian/overrides/$package"
    # in KiB, independent of this file system's blocks
    find "$dir/usr" -type f -printf '%s\n' > "$tmp/sizes"
    find "$dir/usr" ! -type f -printf '1\n' >> "$tmp/sizes"
    installed=$(awk '{ n += int(($1 + 1023) / 1024) } END { print n }' "$tmp/sizes")
    cat > "$dir/DEBIAN/control" << END
Package: $package
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $installed
Depends: libc6 (>= $needed), zlib1g (>= 1:1.2.11)$([ ! -f "$dir/usr/lib/$package/ffplay" ] || echo ', libsdl2-2.0-0')
Suggests: libcuda1, bash-completion
Section: video
Priority: optional
Homepage: $HOMEPAGE
Description: FFmpeg with filters for motion estimation and its uses
 The filter gpume searches motion vectors on the CPU or an NVIDIA GPU. mvview
 draws them; mvfps interpolates frames, mvdenoise denoises and mvdeint
 deinterlaces along them. mvstereo finds the disparity of two views. This
 package can be installed beside ffmpeg: its programs are ffmpeg-gpume and
 ffprobe-gpume.
END
    chmod -R u+w,go-w,a+rX "$dir"
    (cd "$dir" && find usr -type f > "$tmp/found" && sort "$tmp/found" > "$tmp/files" && xargs md5sum < "$tmp/files" > DEBIAN/md5sums)
    dated "$dir"
    file=$out/${package}_${version}_$architecture.deb
    dpkg-deb --root-owner-group -Zxz --build "$dir" "$file" > /dev/null
    say "$file: $(du -h "$file" | cut -f1)"
}

# wheel_tag: prints the platform of a wheel, which depends on the glibc that the programs need
wheel_tag() {
    case $system in
        linux) echo "manylinux_$(echo "$needed" | tr . _)_$arch" ;;
        *)     echo win_amd64 ;;
    esac
}

# the time of the last commit
VERSION=$(date -u -d "@$epoch" +%Y.%-m.%-d.%-H%M | sed 's,\.0*\([0-9]\),.\1,g')
export VERSION

# pack_wheel FOLDER README: packs $tmp/tree with the metadata of FOLDER
pack_wheel() {
    file=$(python3 python/build_wheel.py "$out" "$tmp/tree" "$1/METADATA" "$2" "$tmp/licences" "$(wheel_tag)" "$epoch")
    say "$file: $(du -h "$file" | cut -f1)"
}

# licences DIR: writes the texts of the licences, and where the source is
licences() {
    texts "$1"
    cp LICENSE "$1/LICENSE"
    {
        echo "The programs and libraries here are FFmpeg $release with the filters of gpume, commit $commit, under the"
        echo "LGPL 2.1 or later.${contained:+ They contain dav1d and the encoder of OpenH264, under BSD licences.}"
        echo "They were built from gpume's repository at that commit,"
        echo "  $HOMEPAGE"
        echo "with these archives of Debian's sources:"
        for f in $ffmpeg_source $headers_source $contained; do
            echo "  ${f##*/}"
        done
        echo "by its ./configure and make. FFmpeg's own source is also at"
        echo "  https://ffmpeg.org/releases/ffmpeg-$release.tar.xz"
        echo "'make dist' there packs the same programs with their whole source; whoever passes these files on has to"
        echo "offer it. Patents on H.264 may be valid in your country."
    } > "$1/SOURCE.txt"
}

wheel() {
    sources
    mkdir -p "$tmp/tree/gpume"
    programs_sharing "$tmp/tree/gpume/bin"
    cp python/gpume/*.py python/gpume/py.typed "$tmp/tree/gpume/"
    licences "$tmp/licences"
    printf '# SPDX-License-Identifier: LGPL-2.1-or-later\n"""The version: when the source was changed."""\n\n__version__ = "%s"\n' \
        "$VERSION" > "$tmp/tree/gpume/_version.py"
    # the options of the filters, for help(); where the programs cannot run here, the package asks them later
    {
        printf '# SPDX-License-Identifier: LGPL-2.1-or-later\n"""What ffmpeg says about the filters."""\n\n'
        printf 'from typing import Dict\n\nHELP: Dict[str, str] = {\n'
        sed -n '/^#/d; /^common /d; s/ .*//p' filters.list | while read -r filter; do
            if ${GPUME_EXEC-} "$tree/obj/ffmpeg$suffix" -nostdin -hide_banner -h "filter=$filter" > "$tmp/said" 2> "$tmp/log"; then
                printf '    "%s": r"""' "$filter"
                tr -d '\r' < "$tmp/said"
                echo '""",'
            fi
        done
        echo '}'
    } > "$tmp/tree/gpume/_options.py"
    pack_wheel python python/README.md
}

vapoursynth() {
    sources
    dir=$tmp/tree/vapoursynth/plugins/gpume
    mkdir -p "$dir"
    library=gpume.so
    [ "$system" = linux ] || library=gpume.dll
    vapoursynth/build.sh "$tree" "$tmp/$library" || die "the plugin cannot be linked"
    "$strip" -s -o "$dir/$library" "$tmp/$library"
    [ "$system" != linux ] || needs_glibc "$dir/$library"
    licences "$tmp/licences"
    pack_wheel vapoursynth doc/vapoursynth.md
}

patch_of_series() {
    tarball=$(tools/fetch.sh build ffmpeg "$series")
    name=$out/gpume-ffmpeg-$series.patch
    mkdir "$tmp/a" "$tmp/b"
    tar -C "$tmp/a" --strip-components=1 -xf "$tarball"
    cp -a "$tmp/a/." "$tmp/b/"
    ./configure --no-install-deps --patch-only "$tmp/b" > "$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
    find "$tmp/b" \( -name '.gpume*' -o -name '*.orig' \) -exec rm -rf {} +
    # status 1: they differ
    status=0
    (cd "$tmp" && diff -ruN a b) > "$tmp/diff" || status=$?
    [ "$status" = 1 ] || die "diff finds nothing, or fails"
    {
        echo "Description: avfilter: $filters"
        echo " Filters that search for the motion between frames and use it. Commit $commit of gpume."
        echo "Author: $maintainer"
        echo "Last-Update: $(date -u -d "@$epoch" +%Y-%m-%d)"
        echo "---"
        sed -e '/^diff -ruN /d' -e 's/^\(\(---\|+++\) [^\t]*\)\t.*/\1/' "$tmp/diff"
    } > "$name"
    # verify that the patch makes the same tree
    (cd "$tmp/a" && patch -p1 -s -E < "$name")
    diff -r "$tmp/a" "$tmp/b" > "$tmp/log" || die "$name does not make the same tree: $(head -n 1 "$tmp/log")"
    say "$name: $(grep -c '^+' "$name") lines"
}

case $kind in
    dist|deb|wheel|vapoursynth) "$kind" ;;
    patch)    patch_of_series ;;
    *) die "package.sh: unknown '$kind'" ;;
esac
