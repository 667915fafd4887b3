#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the build for Windows with Wine. Functions in assembly must save the registers that Windows' calling convention
# requires. Files must be complete or absent, have names in UTF-8, and keep their line ends.
#
# usage: windows.sh RESULTS OBJ EXEC

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
obj=$(cd "$2" && pwd)
exec=$3
. "$top/tests/lib.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/gpume-windows.XXXXXX")
trap 'rm -rf "$work"' EXIT

# on PROGRAM ARGUMENT...
# shellcheck disable=SC2086  # a command and its options
on() {
    program=$1
    shift
    $exec "$obj/$program.exe" "$@"
}

# the first program waits for Wine's own folder
on ffmpeg -hide_banner -version > "$work/log" 2>&1
check windows/wine "ffmpeg.exe -version: $(head -n 3 "$work/log")" grep -q '^ffmpeg version' "$work/log"

on tests/checkasm/checkasm --test=vf_gpume 20 > "$work/checkasm" 2>&1
status=$?
cp "$work/checkasm" "$top/build/results/windows-checkasm.log"
check windows/checkasm "status $status; see build/results/windows-checkasm.log" test $status = 0
for level in SSE2 SSSE3; do
    check windows/checkasm-$level "no function for it was tested" grep -q "^$level" "$work/checkasm"
done

mkdir "$work/files"
cd "$work/files" || exit

# search GRAPH_OPTIONS: runs a search with options that name files; sets $status
search() {
    on ffmpeg -nostdin -hide_banner -v error -lavfi "testsrc2=s=64x48:r=5,trim=end_frame=3,gpume=algo=ds:$1" \
        -f null - > "$work/out" 2> "$work/err"
    status=$?
}
# alone NAME...: succeeds if the folder has these files and no other
alone() {
    [ "$(ls)" = "$(printf '%s\n' "$@" | sort)" ]
}
said() { tr '\r\n' '  ' < "$work/err"; }

search mv_file=-
check windows/stdout "status $status: $(said)" test $status = 0
cr=$(printf '\r')
grep -q "$cr" "$work/out"
check windows/stdout-line-ends "standard output has other line ends" test $? = 1
check windows/stdout-lines "$(head -n 1 "$work/out")" test "$(grep -c '' "$work/out")" -gt 12
cp "$work/out" "$work/vectors"

file='übung-日本-🎞.csv'
search "mv_file=$file:stats_file=s.jsonl"
check windows/utf-8 "status $status: $(said)" eval "[ $status = 0 ] && alone '$file' s.jsonl"
check windows/utf-8-contents "it differs from standard output" cmp -s "$work/vectors" "$file"
grep -q "$cr" s.jsonl
check windows/stats-line-ends "a file has other line ends" test $? = 1

echo 'as it was' > "$file"
search "mv_file=$file:overwrite=0"
check windows/overwrite-0 "status $status: $(said)" \
    eval "[ $status != 0 ] && grep -q 'File exists' '$work/err' && [ \"\$(cat '$file')\" = 'as it was' ]"
check windows/overwrite-0-alone "$(ls)" alone "$file" s.jsonl
search "mv_file=$file"
check windows/overwrite-1 "status $status: $(said)" cmp -s "$work/vectors" "$file"

search mv_file=no-folder/v.csv
check windows/no-folder "status $status: $(said)" grep -q 'Could not open no-folder/v.csv: No such file' "$work/err"

# names that differ only in case or separators are one name
rm -f ./*
mkdir sub
for pair in 'v.csv V.CSV' 'sub/v.csv ./SUB/V.csv' 'sub/v.csv sub\\\\v.csv' 'ü.csv Ü.CSV'; do
    search "mv_file=${pair% *}:stats_file=${pair#* }"
    check "windows/same-file-$pair" "status $status: $(said)" grep -q 'is the same file as' "$work/err"
    search "mv_file=${pair% *},gpume=mv_file=${pair#* }"
    check "windows/two-filters-$pair" "status $status: $(said)" grep -q 'another filter writes this file' "$work/err"
done
check windows/none-left "$(ls . sub)" eval "alone sub && [ -z \"\$(ls sub)\" ]"
search 'mv_file=sub\\\\deep.npy'
check windows/separator "status $status: $(said), $(ls . sub)" test -s sub/deep.npy
rm -r sub

# a path with a drive
search "mv_file=Z\\\\:$work/files/drive.csv"
check windows/drive "status $status: $(said)" eval "alone drive.csv && cmp -s '$work/vectors' drive.csv"
rm -f ./*

# devices are written directly
for device in NUL nul; do
    search "mv_file=$device:mv_format=csv:stats_file=s.log:overwrite=0"
    check windows/device-$device "status $status: $(said)" eval "[ $status = 0 ] && alone s.log"
    rm -f s.log
done

# a read-only file stays as it is
echo 'as it was' > locked.csv
chmod 444 locked.csv
search mv_file=locked.csv
check windows/read-only "status $status: $(said)" \
    eval "[ $status != 0 ] && [ \"\$(cat locked.csv)\" = 'as it was' ] && alone locked.csv"
chmod 644 locked.csv
rm -f locked.csv

# an open file, here the input of the same program, cannot be replaced: the finished file is kept, and the error names
# it
yes 'as it was' | head -c 9216 > held.csv
held() {
    on ffmpeg -nostdin -hide_banner -v error -f rawvideo -pixel_format gray -video_size 64x48 -i held.csv \
        -vf "gpume=algo=ds:mv_file=$1" -f null - > "$work/out" 2> "$work/err"
    status=$?
}
held -
cp "$work/out" "$work/held"
held held.csv
part=$(ls held.csv.*.gpume-part)
check windows/held "status $status: $(said)" \
    eval "[ $status != 0 ] && [ \"\$(head -n 1 held.csv)\" = 'as it was' ] && alone held.csv '$part'"
check windows/held-named "$(said)" \
    eval "tr '\\\\' / < '$work/err' | grep -q 'Could not complete held.csv: .*The complete output is in .*$part; rename it'"
check windows/held-whole "$(ls -l)" eval "[ -s '$part' ] && cmp -s '$part' '$work/held'"
rm -f ./*

# several processes can write one name at the same time
i=0
pids=
while [ $i -lt 4 ]; do
    i=$((i + 1))
    (
        search mv_file=one.csv
        exit "$status"
    ) 2> /dev/null &
    pids="$pids $!"
done
i=0
for pid in $pids; do
    i=$((i + 1))
    wait "$pid"
    check windows/at-once-$i "one of four processes failed: $(said)" test $? = 0
done
check windows/at-once-file "$(ls)" eval "alone one.csv && cmp -s '$work/vectors' one.csv"
rm -f ./*

# a name of 255 characters; its temporary name is shorter
file=$(printf 'é%.0s' $(seq 124)).npy
search "mv_file=$file"
check windows/long-name "status $status: $(said)" alone "$file"
rm -f ./*

# a process that ends in the middle leaves no file, or the old one
echo 'as it was' > v.csv
# shellcheck disable=SC2086
$exec "$obj/ffmpeg.exe" -nostdin -v error -lavfi \
    "testsrc2=s=64x48:r=5,gpume=algo=ds:mv_file=v.csv:stats_file=s.log" -f null - > /dev/null 2>&1 &
pid=$!
n=0
while [ "$(find . -name '*.gpume-part' -size +8k | wc -l)" = 0 ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    sleep 0.1
done
kill -KILL $pid
wait $pid 2> /dev/null
check windows/killed "$(ls)" \
    eval "[ \"\$(cat v.csv)\" = 'as it was' ] && [ ! -e s.log ] && [ \$(find . -name 'v.csv.*.gpume-part' | wc -l) = 1 ]"
