#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the script that ./configure has written, which runs FFmpeg's configure in TREE/obj. Does nothing if this has been
# done and its inputs have not changed since.
#
# usage: ffconfigure.sh TREE

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"

base=$1
series=$(basename "$base")
src=$(dirname "$base")/${series%%-*}/src      # also for 9.0-san
script=$(configure_script "$base")
done_file=$base/obj/.gpume-configured

if [ -f "$done_file" ] &&
   [ -z "$(find "$script" "$top/tools/optimize.mak" "$top/tools/shared.mak" "$src/configure" "$src/libavfilter/allfilters.c" \
                -newer "$done_file")" ]; then
    exit
fi
mkdir -p "$base/obj"
rm -f "$done_file"
say "configuring FFmpeg in $base/obj"
touch "$base/started"
# A link of an earlier run would give the sources other names. Messages contain them, so the program would differ.
[ ! -L "$base/obj/src" ] || rm "$base/obj/src"
if ! sh "$script" > "$base/configure.log" 2>&1; then
    tail -n 15 "$base/configure.log" >&2
    die "FFmpeg's configure failed; see $base/configure.log and $base/obj/ffbuild/config.log"
fi
enabled() {
    grep -q "^#define $1 1" "$base/obj/config.h" "$base/obj/config_components.h"
}

# Builds with sanitizers have flags of their own, and a user may have chosen some. Shared libraries keep FFmpeg's
# flags because programs that link them may decode anything.
if ! enabled CONFIG_SHARED && { enabled HAVE_X86ASM || enabled HAVE_NEON; } &&
   ! grep -q -e '--optflags=' -e '--disable-optimizations' -e '--enable-small' "$script"; then
    cat "$top/tools/optimize.mak" >> "$base/obj/ffbuild/config.mak"
fi
if enabled CONFIG_SHARED; then
    cat "$top/tools/shared.mak" >> "$base/obj/ffbuild/config.mak"
fi
# The series of FFmpeg declare the same CUDA functions in headers that are not the same. With the newest one in every
# tree, all trees compile kernels by the same commands, and the compiler's cache has them after the first tree.
if enabled CONFIG_CUDA_LLVM; then
    for s in $(all_series "$top"); do
        header=$(dirname "$base")/$s/src/compat/cuda/cuda_runtime.h
        if [ -f "$header" ]; then
            cp "$header" "$base/cuda_runtime.h"
            install_if_changed "$base/cuda_runtime.h" "$(dirname "$base")/cuda_runtime.h"
            # shellcheck disable=SC2016
            echo 'NVCCFLAGS := -include ../../cuda_runtime.h $(NVCCFLAGS)' >> "$base/obj/ffbuild/config.mak"
            break
        fi
    done
fi
# FFmpeg's makefiles do not assemble a file again when a decoder that it depends on is enabled
grep -lE '^%if.*CONFIG_[A-Z0-9_]*(DECODER|ENCODER)' "$src"/lib*/x86/*.asm | while read -r f; do
    f=${f#"$src/"}
    rm -f "$base/obj/${f%.asm}.o"
done
# use the start time, so that changes made meanwhile are noticed next time
touch -r "$base/started" "$done_file"
rm -f "$base/started"

yes_no() {
    if enabled "$1"; then echo yes; else echo no; fi
}
cuda=no
if enabled CONFIG_CUDA_LLVM; then
    cuda='yes, by clang'
elif enabled CONFIG_CUDA_NVCC; then
    cuda='yes, by nvcc'
fi
filters=$(sed -n '/^#/d; /^common /d; s/ .*//p' "$top/filters.list" | while read -r f; do
    if enabled "CONFIG_$(printf '%s' "$f" | tr '[:lower:]' '[:upper:]')_FILTER"; then
        printf ' %s' "$f"
    fi
done)
say "  filters:${filters:- none}   CUDA: $cuda   ffplay: $(yes_no CONFIG_FFPLAY)   libx264: $(yes_no CONFIG_LIBX264)"
sed -n 's/^License: /  licence: /p' "$base/configure.log"
