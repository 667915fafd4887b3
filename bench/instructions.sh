#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Counts the instructions of one call of each function that has assembly code, on x86 and on 64-bit Arm:
# QEMU lists every instruction that libavfilter/tests/gpume_count runs. Instructions of
# the caller are not counted; those of functions that it calls are. Prints a table for Markdown.
#
# usage: instructions.sh X86_OBJ AARCH64_OBJ

set -eu
LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/gpume-instructions.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# count NAME FLAGS PROGRAM EMULATOR...: writes a line for each call to $work/NAME
count() {
    name=$1
    flags=$2
    program=$3
    shift 3
    mkfifo "$work/log"
    "$@" -singlestep -d exec,nochain -D "$work/log" "$program" "$flags" > "$work/names" &
    # the symbol is the last word, and missing in other libraries
    awk '/^Trace/ {
             symbol = $NF ~ /\]$/ ? "" : $NF
             if (symbol == "gpume_mark") {
                 if (last != symbol && ++marks % 2 == 0)
                     print n
                 n = 0
             } else if (symbol !~ /^count_/) {
                 n++
             }
             last = symbol
         }' "$work/log" > "$work/counts"
    wait $!
    rm "$work/log"
    paste -d '|' "$work/names" "$work/counts" > "$work/$name"
}

x86=$1/libavfilter/tests/gpume_count
arm=$2/libavfilter/tests/gpume_count
count c_x86    0            "$x86" qemu-x86_64 -cpu max
count sse2     sse2         "$x86" qemu-x86_64 -cpu max
count avx2     avx2         "$x86" qemu-x86_64 -cpu max
count c_arm    0            "$arm" qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu
count neon     neon         "$arm" qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu
count dotprod  neon+dotprod "$arm" qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu

echo '| one call of | x86: C | SSE2 | AVX2 | Arm: C | NEON | DotProd |'
echo '| --- | ---: | ---: | ---: | ---: | ---: | ---: |'
awk -F '|' -v work="$work" '
    # a level without a version of its own runs that of the level before it, and its cell stays empty
    { of[FILENAME, $1] = $2; if (FILENAME == work "/neon") row[++n] = $1 }
    function cell(level, below, what) {
        if (!((work "/" level, what) in of) || (below && of[work "/" level, what] == of[work "/" below, what]))
            return " "
        return of[work "/" level, what]
    }
    END {
        for (i = 1; i <= n; i++)
            printf "| %s | %s | %s | %s | %s | %s | %s |\n", row[i], cell("c_x86", "", row[i]),
                   cell("sse2", "c_x86", row[i]), cell("avx2", "sse2", row[i]), cell("c_arm", "", row[i]),
                   cell("neon", "c_arm", row[i]), cell("dotprod", "neon", row[i])
    }' "$work/c_x86" "$work/sse2" "$work/avx2" "$work/c_arm" "$work/neon" "$work/dotprod"
