#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a DLL of the stand-in for programs that Wine runs: nvcuda.dll.so, whose functions call those of
# libcuda.so.1, and nvcuda.dll, which has to be in the program's folder for Wine to look for the other.
#
# usage: nvcuda.sh STANDIN OUT      STANDIN has libcuda.so.1; OUT gets the DLL
# Programs are run with LD_LIBRARY_PATH=STANDIN WINEDLLPATH=OUT.

set -eu
LC_ALL=C
export LC_ALL
mkdir -p "$2"
standin=$(cd "$1" && pwd)
cd "$2"
names=$(nm -D "$standin/libcuda.so.1" | sed -n 's/.* T \(cu[A-Z].*\|gpume_standin_.*\)$/\1/p')
# FFmpeg loads these functions, which only Windows' driver has; there is no Direct3D device
windows='cuD3D11GetDevice cuD3D11GetDevices cuGraphicsD3D11RegisterResource'

{
    # arguments are integers and pointers, at most as many as cuLaunchKernel() has
    cat <<'EOF'
#include <stddef.h>
#define LIST(T) T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k
#define BRIDGE(name)                                            \
    extern int name(LIST(size_t));                              \
    __attribute__((ms_abi)) int bridge_##name(LIST(size_t))     \
    {                                                           \
        return name(a, b, c, d, e, f, g, h, i, j, k);           \
    }
#define MISSING(name)                                           \
    __attribute__((ms_abi)) int bridge_##name(void)             \
    {                                                           \
        return 100; /* no device */                             \
    }
EOF
    # shellcheck disable=SC2086  # lists of words
    {
        printf 'BRIDGE(%s)\n' $names
        printf 'MISSING(%s)\n' $windows
    }
} > nvcuda.c
for name in $names $windows; do
    echo "@ cdecl $name() bridge_$name"
done > nvcuda.spec
winegcc -m64 -shared -O2 nvcuda.spec nvcuda.c -o nvcuda.dll.so "$standin/libcuda.so.1"
winebuild -m64 --dll --fake-module -o nvcuda.dll nvcuda.spec
