#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds a library that FFmpeg's programs contain, so that they run where its package is not installed: dav1d decodes
# AV1, OpenH264 encodes H.264. Both have BSD licences. Does nothing if the library is built already.
#
# usage: library.sh dav1d|openh264 OUT [CROSS]   build/NAME/src has the source; OUT gets lib/, include/ and the files of
#                                                pkg-config; CROSS: aarch64-linux-gnu or x86_64-w64-mingw32

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tools/common.sh
name=$1
out=$2
cross=${3-}
src=build/$name/src
obj=build/$name/obj${cross:+-$cross}
log=$obj.log
done_file=$out/$name.built

if [ -f "$done_file" ] && [ -z "$(find "$src/.gpume-origin" tools/library.sh tools/runtime.cpp -newer "$done_file")" ]; then
    exit
fi
rm -rf "$obj"
mkdir -p "$obj" "$out/lib/pkgconfig" "$out/include"
if [ -n "$cross" ]; then
    cpu=${cross%%-*}
    system=linux
    [ "$cpu" = aarch64 ] || system=windows
    {
        ccache=
        ! have ccache || ccache="'ccache', "
        printf "[binaries]\nc = [%s'%s-gcc']\ncpp = [%s'%s-g++']\n" "$ccache" "$cross" "$ccache" "$cross"
        printf "ar = '%s-ar'\nstrip = '%s-strip'\n" "$cross" "$cross"
        printf "[host_machine]\nsystem = '%s'\ncpu_family = '%s'\ncpu = '%s'\nendian = 'little'\n" $system "$cpu" "$cpu"
    } > "$obj.cross"
fi
case $name in
    dav1d)    options='-Denable_tools=false -Denable_tests=false -Dlogging=false'
              targets=src/libdav1d.a headers=$src/include/dav1d libs=-ldav1d ;;
    # without its decoder, and without the library of C++, of which it needs little
    openh264) options=-Dtests=disabled
              export CXXFLAGS='-fno-exceptions -fno-rtti -fcheck-new'
              targets='codec/common/libcommon.a codec/processing/libprocessing.a codec/encoder/libencoder.a'
              headers=$src/codec/api/wels libs='-lopenh264 -lm' ;;
esac
version=$(sed -n "s/^ *version *: *'\([0-9.]*\)'.*/\1/p" "$src/meson.build" | sed -n 1p)
say "building $name $version${cross:+ for $cross}"
# shellcheck disable=SC2086  # lists of words
{
    meson setup --default-library=static --buildtype=release -Doptimization=2 -Db_ndebug=true -Db_staticpic=true \
        $options ${cross:+--cross-file "$obj.cross"} "$obj" "$src" && ninja -C "$obj" $targets &&
        if [ "$name" = openh264 ]; then
            "${cross:+$cross-}g++" -O2 -fPIC -fno-exceptions -c tools/runtime.cpp -o "$obj/runtime.o"
        fi
} > "$log" 2>&1 || die "$name cannot be built; see $log, or leave it out: ./configure --disable-lib$name"
# The archives of meson have only links to objects. Some objects have the same name.
rm -f "$out/lib/lib$name.a"
find "$obj" -path '*/meson-private' -prune -o \( -name '*.o' -o -name '*.obj' \) -print | sort |
    xargs "${cross:+$cross-}ar" qcsD "$out/lib/lib$name.a"
rm -rf "$out/include/${headers##*/}"
cp -r "$headers" "$out/include/"
# relative paths, so that compiler command lines are the same in every clone
# shellcheck disable=SC2016
printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L${pcfiledir}/.. %s -pthread\nCflags: -I${pcfiledir}/../../include\n' \
    "$name" "$name" "$version" "$libs" > "$out/lib/pkgconfig/$name.pc"
: > "$done_file"
