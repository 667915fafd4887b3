#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compiles the plugin for VapourSynth and links it with the libraries of a tree: build/SERIES-plugin, see configure.
#
# usage: vapoursynth/build.sh TREE OUT     OUT: gpume.so or gpume.dll
#
# VAPOURSYNTH_INCLUDE names the folder of VapourSynth's header. If it is not set, the header is taken from VapourSynth's
# package, which pip fetches into build/dist.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"
cd "$top"
tree=$1
out=$2
series=$(basename "$tree")
series=${series%%-*}
conf=$tree/obj/ffbuild/config.mak
value() { sed -n "s/^$1=//p" "$conf" | head -n 1; }

include=${VAPOURSYNTH_INCLUDE-}
if [ -z "$include" ]; then
    include=build/vapoursynth
    if [ ! -f $include/VapourSynth4.h ]; then
        mkdir -p build/dist $include
        if ! ls build/dist/[vV]apour[sS]ynth-*.whl > /dev/null 2>&1; then
            python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.12 --platform manylinux_2_28_x86_64 \
                -d build/dist 'vapoursynth>=80' > build/vapoursynth.log 2>&1 ||
                die "cannot fetch VapourSynth's header: set VAPOURSYNTH_INCLUDE; $(tail -n 1 build/vapoursynth.log)"
        fi
        python3 - build/dist $include << 'END'
import glob, os, sys, zipfile
wheel = sorted(glob.glob(os.path.join(sys.argv[1], '[vV]apour[sS]ynth-*.whl')))[-1]
with zipfile.ZipFile(wheel) as archive:
    name = [n for n in archive.namelist() if n.endswith('/VapourSynth4.h')][0]
    with open(os.path.join(sys.argv[2], 'VapourSynth4.h'), 'wb') as f:
        f.write(archive.read(name))
END
    fi
fi

case $out in
    *.dll) own='-static-libgcc -Wl,--no-insert-timestamp' libs='-lbcrypt -Wl,-Bstatic -lpthread -Wl,-Bdynamic' ;;
    *)     own='-fPIC -Wl,-z,now -Wl,-z,noexecstack -Wl,-Bsymbolic' libs='-lm -lpthread -ldl' ;;
esac
# shellcheck disable=SC2046,SC2086  # lists of words
$(value CC) -std=c17 -O2 -Wall -Wno-pointer-sign -Wno-parentheses -shared -fvisibility=hidden -DHAVE_AV_CONFIG_H \
    -I"$include" -I"$tree/obj" -I"build/$series/src" vapoursynth/*.c -o "$out" \
    "$tree/obj/libavfilter/libavfilter.a" "$tree/obj/libavutil/libavutil.a" -Wl,--exclude-libs,ALL -Wl,--gc-sections \
    $own $libs $(value LDFLAGS | tr ' ' '\n' | grep -v -e '-pie' | tr '\n' ' ')
