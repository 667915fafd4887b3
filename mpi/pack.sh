#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Packs what the benchmark needs on a machine that has an MPI and a C compiler, but neither our
# build nor packages: 'make pack-mpi' writes build/gpume-mpi.tar.xz. There:
#   tar -xf gpume-mpi.tar.xz && cd gpume-mpi && sh link.sh && bench/mpi.sh . build/bench/mpi-1920x1080.mkv
# link.sh compiles only the files of mpi/, with that machine's mpicc; without it the programs are
# those that were linked here.
#
# usage: pack.sh OBJ SRC [CLIP]

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"
cd "$top"
obj=$1
src=$2
pack=build/gpume-mpi
rm -rf $pack
mkdir -p $pack/mpi $pack/bench $pack/tools $pack/include $pack/lib $pack/build/bench
clip=${3-}
if [ -z "$clip" ]; then
    tools/demo.sh clip "$obj"
    clip=build/demo/input.mp4
fi
bench/make-clip.sh "$obj" "$clip" $pack/build/bench/mpi-1920x1080.mkv

# headers that the program includes, in one folder
# shellcheck disable=SC1003  # a backslash
cat "$obj"/mpi/*.d "$obj"/mpi/bench/*.d | tr -d '\\' | tr ' ' '\n' |
    sed -n -e "s,^$src/\(.*\.h\)\$,$src \1,p" -e "s,^$obj/\(.*\.h\)\$,$obj \1,p" \
           -e 's,^build/ffnvcodec/include/\(.*\.h\)$,build/ffnvcodec/include \1,p' | sort -u |
    while read -r from header; do
        mkdir -p "$pack/include/$(dirname "$header")"
        cp "$from/$header" "$pack/include/$header"
    done
cp mpi/*.[ch] $pack/mpi/
cp bench/broadcast.c bench/mpi.sh bench/lib.sh bench/make-clip.sh $pack/bench/
cp tools/common.sh $pack/tools/
for l in avfilter avformat avcodec swscale swresample avutil; do
    strip --strip-debug -o "$pack/lib/lib$l.a" "$obj/lib$l/lib$l.a"
done
# that machine may have no packages for developers
for l in z atomic; do
    cp "$(${CC:-cc} -print-file-name=lib$l.a)" $pack/lib/
done
strip -o $pack/ffmpeg "$obj/ffmpeg"
for f in gpume-mpi broadcast; do
    strip -o "$pack/$f" "$obj/$f"
done
cat > $pack/link.sh <<'EOF'
#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds gpume-mpi and the benchmark's baseline with this machine's MPI. usage: link.sh
set -eu
cd "$(dirname "$0")"
mpicc=${MPICC:-mpicc}
flags='-std=c17 -O2 -D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -pthread -I. -Iinclude'
libs='-Wl,--start-group lib/libavfilter.a lib/libavformat.a lib/libavcodec.a lib/libswscale.a
    lib/libswresample.a lib/libavutil.a lib/libz.a lib/libatomic.a -Wl,--end-group -lm -lpthread -ldl'
# shellcheck disable=SC2086  # lists of words
"$mpicc" $flags -o gpume-mpi mpi/*.c $libs
# shellcheck disable=SC2086
"$mpicc" $flags -o broadcast bench/broadcast.c mpi/clock.c mpi/device.c mpi/film.c mpi/input.c mpi/shared.c $libs
EOF
tar -C build -cf - gpume-mpi | xz -T0 -3 > build/gpume-mpi.tar.xz
say "build/gpume-mpi.tar.xz: $(du -h build/gpume-mpi.tar.xz | cut -f1)"
