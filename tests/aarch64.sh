#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the build for 64-bit Arm on two of QEMU's processors, one with the dot product instructions
# (DotProd), one without them. Each processor must get the functions that it can run, these must compute what plain C
# computes, and a search must find the same vectors with every set of instructions.
#
# usage: aarch64.sh RESULTS OBJ EXEC

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
obj=$(cd "$2" && pwd)
exec=$3
. "$top/tests/lib.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/gpume-aarch64.XXXXXX")
trap 'rm -rf "$work"' EXIT

# on PROCESSOR COMMAND...: QEMU takes the processor from the environment
on() {
    processor=$1
    program=$2
    shift 2
    # shellcheck disable=SC2086  # a command and its options
    QEMU_CPU=$processor $exec "$obj/$program" "$@"
}

for processor in max cortex-a57; do
    on "$processor" tests/checkasm/checkasm --test=vf_gpume 20 > "$work/$processor" 2>&1
    status=$?
    cp "$work/$processor" "$top/build/results/aarch64-checkasm-$processor.log"
    check "aarch64/checkasm-$processor" "status $status; see build/results/aarch64-checkasm-$processor.log" \
        test "$status" = 0
    check "aarch64/neon-$processor" "no function for NEON was tested" grep -q '^NEON:' "$work/$processor"
done
check aarch64/dotprod-max "no function for DotProd was tested" grep -q '^DOTPROD:' "$work/max"
grep -q '^DOTPROD:' "$work/cortex-a57"
check aarch64/no-dotprod-cortex-a57 "functions for DotProd where there is none" test $? = 1

# FATE uses the processor 'max'; run the units on the other one, too.
units() {
    on cortex-a57 libavfilter/tests/gpume_unit -quick ${QUICK:+-every 23} -backend cpu > build/results/aarch64-unit.log 2>&1
}
check aarch64/unit-cortex-a57 "gpume_unit -quick; see build/results/aarch64-unit.log" units

# search PROCESSOR FLAGS SEARCH FORMAT: writes the vectors to $work/found.npy
search() {
    rm -f "$work/found.npy"
    on "$1" ffmpeg -nostdin -v error ${2:+-cpuflags "$2"} \
        -lavfi "testsrc2=s=320x180:r=10,crop=300:170:3*n:2*n,trim=end_frame=3,format=$4,gpume=algo=$3:mv_file=$work/found.npy" \
        -f null - > "$work/log" 2>&1
}

# every set of instructions finds the same vectors on both processors
for format in gray yuv420p10; do
    for what in fs hme ds:cost=satd; do
        search max 0 "$what" "$format"
        mv "$work/found.npy" "$work/plain.npy"
        check "aarch64/vectors-$format/$what" "no vectors: $(cat "$work/log")" test -s "$work/plain.npy"
        for level in max:neon max:neon+dotprod max: cortex-a57:neon cortex-a57:; do
            search "${level%:*}" "${level#*:}" "$what" "$format"
            check "aarch64/vectors-$format/$what/$level" "vectors differ from those of plain C: $(cat "$work/log")" \
                cmp -s "$work/plain.npy" "$work/found.npy"
        done
    done
done

# denoised PROCESSOR FLAGS FORMAT: writes checksums of the pictures to $work/pictures
denoised() {
    on "$1" ffmpeg -nostdin -v error ${2:+-cpuflags "$2"} \
        -lavfi "testsrc2=s=160x90:r=10,trim=end_frame=4,noise=all_seed=1:alls=20:allf=t,format=$3,gpume=algo=hme:dir=both:refs=2,mvdenoise=radius=2" \
        -f framemd5 - > "$work/pictures" 2> "$work/log"
}

for format in yuv420p yuv420p10 yuv422p12 gray16; do
    denoised max 0 "$format"
    mv "$work/pictures" "$work/plain"
    check "aarch64/pictures-$format" "no pictures: $(cat "$work/log")" grep -q '^0,  *3,' "$work/plain"
    for level in max:neon max:neon+dotprod max: cortex-a57:; do
        denoised "${level%:*}" "${level#*:}" "$format"
        check "aarch64/pictures-$format/$level" "pictures differ from those of plain C: $(cat "$work/log")" \
            cmp -s "$work/plain" "$work/pictures"
    done
done

# mapped PROCESSOR FLAGS OPTIONS: writes checksums of maps of disparities to $work/maps
mapped() {
    on "$1" ffmpeg -nostdin -v error ${2:+-cpuflags "$2"} \
        -lavfi "testsrc2=s=192x60:r=10,trim=end_frame=2,split[a][b];[a]crop=150:60:0:0[l];[b]crop=150:60:12:0,noise=all_seed=1:alls=12[r];[l][r]hstack,mvstereo=layout=sbsl$3" \
        -f framemd5 - > "$work/maps" 2> "$work/log"
}

for options in '' :max=96:rows=1 :max=128:fast=1; do
    mapped max 0 "$options"
    mv "$work/maps" "$work/plain"
    check "aarch64/maps$options" "no maps: $(cat "$work/log")" grep -q '^0,  *1,' "$work/plain"
    for level in max:neon max: cortex-a57:; do
        mapped "${level%:*}" "${level#*:}" "$options"
        check "aarch64/maps$options/$level" "maps differ from those of plain C: $(cat "$work/log")" \
            cmp -s "$work/plain" "$work/maps"
    done
done

# Shows that these tests can fail: a processor without DotProd cannot run its functions.
search cortex-a57 neon+dotprod fs gray
check aarch64/dotprod-needs-it "a processor without DotProd ran it" test $? = 132
