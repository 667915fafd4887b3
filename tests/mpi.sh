#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares gpume-mpi with 1 to 4 ranks with one ffmpeg, byte for byte: containers, groups of
# pictures, searches, directions, references and formats; ranks that are killed, and resumed runs;
# wrong arguments, videos that cannot be searched in parts, and faults.
#
# usage: tests/mpi.sh RESULTS SERIES
# GPUME_SEED chooses the points in time at which ranks are killed.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2
obj=$top/build/$series/obj

if ! have mpirun || [ ! -x "$obj/gpume-mpi" ]; then
    skip mpi "there is no MPI (Debian's packages: libopenmpi-dev, openmpi-bin)"
    exit
fi
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# processes on one machine need no network
OMPI_MCA_btl=self,vader
OMPI_MCA_pml=ob1
export OMPI_MCA_btl OMPI_MCA_pml

work=$top/build/check/mpi
fresh "$work"
cd "$work" || exit
ffmpeg() { "$obj/ffmpeg" -nostdin -hide_banner -loglevel error -y "$@"; }
# ranks N ARGUMENT...
ranks() {
    n=$1
    shift
    timeout 120 mpirun --oversubscribe --bind-to none -n "$n" "$obj/gpume-mpi" "$@" 2> err
}
# prints its messages without those of mpirun
said() { grep -v -e '^---' -e '^Primary' -e '^a non-zero' -e '^mpirun' -e '^the job' -e 'Process name' -e 'Exit code' -e '^$' err; }

# victim JOB N: prints the process of the Nth rank that mpirun, process JOB, has started
victim() { sed -n "s/^\([0-9]*\) (gpume-mpi) [DRS] $1 .*/\1/p" /proc/[0-9]*/stat 2> /dev/null | sed -n "$2p"; }

# finish JOB: returns mpirun's status. mpirun may wait for ever if a rank was killed while it connected
finish() {
    (sleep 60; [ -n "$(victim "$1" 1)" ] || kill -9 "$1") > /dev/null 2>&1 &
    watch=$!
    wait "$1"
    status=$?
    kill $watch 2> /dev/null
    return $status
}

# prints the number of finished segments
nb_finished() { find many.npy.gpume-part -name 'segment-*' ! -name '*.new' 2> /dev/null | grep -c .; }

# one CLIP FILTER: writes the output of one process to one.npy, one.csv and one.log
one() {
    rm -f one.*
    ffmpeg -i "$1" -vf "$2:mv_file=one.npy:stats_file=one.log,$2:mv_file=one.csv" -f null - 2> /dev/null
}

# same NAME N CLIP FILTER FORMAT ARGUMENT...: checks that N ranks write the same files and leave no other
same() {
    what=$1
    nb=$2
    clip=$3
    filter=$4
    format=$5
    shift 5
    rm -rf many.*
    ranks "$nb" -i "$clip" -vf "$filter" --mv-file "many.$format" --stats-file many.log --segment 8 "$@"
    check "mpi/$what/$nb-ranks" "$(said | head -n 1)" eval "cmp -s one.$format many.$format && cmp -s one.log many.log &&
        [ \$(wc -c < one.$format) -gt 1000 ] && [ \$(ls -d many.* | wc -l) = 2 ]"
}

# The clips are in $work. Each part has its own folder in $work; the parts run in parallel, because
# most of the time is spent starting and ending processes.

# Clips: open groups of pictures (B frames) and closed ones; with and without an index; with
# timestamps in the order of presentation, of decoding, or none; with frames that are not shown.
source="-f lavfi -i testsrc2=size=112x80:rate=25:duration=4"
# shellcheck disable=SC2086  # words
{
    ffmpeg $source -c:v mpeg4 -bf 2 -g 9 open.mp4
    ffmpeg $source -c:v mpeg2video -bf 2 -g 9 open.mkv
    ffmpeg $source -c:v mpeg2video -bf 2 -g 9 -sc_threshold 1000000000 -flags cgop closed.mkv
    ffmpeg $source -c:v mpeg2video -bf 2 -g 9 open.ts
    ffmpeg $source -c:v mpeg4 -bf 2 -g 9 open.avi
    ffmpeg $source -c:v mpeg4 -g 9 simple.avi
    ffmpeg $source -c:v mpeg4 -bf 2 -g 9 open.m4v
    ffmpeg $source -vf 'select=not(mod(n\,7)-3)+not(mod(n\,4))+not(mod(n\,9))' -fps_mode vfr -c:v mpeg4 -bf 2 -g 5 variable.mkv
    ffmpeg $source -c:v ffv1 intra.mkv
}
# begins with frames that are decoded and not shown
ffmpeg -ss 1.13 -i open.mp4 -c copy edited.mp4
# clips that begin in the middle of a stream: frames with missing references, and no key frame
ffmpeg -ss 1.1 -i open.ts -c copy late.ts
tail -c +$((188 * 150 + 1)) open.ts > later.ts
ffmpeg -stream_loop 3 -i "$top/tests/clips/h264.mkv" -c copy h264.mp4
ffmpeg -stream_loop 3 -i "$top/tests/clips/h264.mkv" -c copy -bsf:v h264_mp4toannexb raw.h264
# timestamps that a raw stream lacks, and wrong ones
ffmpeg -r 25 -i "$top/tests/clips/hevc10.hevc" -c copy -bsf:v dts2pts right.mp4
ffmpeg -i right.mp4 -c copy -frames:v 20 hevc10.mp4
ffmpeg -fflags +genpts -r 25 -i "$top/tests/clips/hevc10.hevc" -c copy wrong.mp4
# Matroska that is cut off ends there
head -c $(($(wc -c < open.mkv) * 6 / 10)) open.mkv > cut.mkv
# timestamps that jump
cat open.ts late.ts > jump.ts

containers() {
    for clip in ../open.mp4 ../open.mkv ../closed.mkv ../open.ts ../simple.avi ../open.m4v ../variable.mkv \
                ../intra.mkv ../edited.mp4 ../late.ts ../later.ts ../h264.mp4 ../hevc10.mp4 ../cut.mkv; do
        one "$clip" gpume=algo=ds:dir=both
        for n in 1 2 3 4; do
            same "${clip##*/}" $n "$clip" gpume=algo=ds:dir=both npy
        done
        case $clip in
            *open*) same "${clip##*/}-csv" 3 "$clip" gpume=algo=ds:dir=both csv ;;
        esac
    done
}

# Each search with all directions, each time with another number of ranks.
searches() {
    i=0
    for search in $("$top/tools/searches.sh") ds:check=1 ds:smooth=2:pel=4; do
        case $search in
            epzs*) continue ;;
        esac
        for dir in past future both; do
            i=$((i + 1))
            one ../open.mkv "gpume=algo=$search:range=12:dir=$dir"
            same "$search-$dir" $((i % 4 + 1)) ../open.mkv "gpume=algo=$search:range=12:dir=$dir" npy
        done
    done
    # a frame has this number of lines
    filter=gpume=algo=hme:tree=1:block=4:dir=both:backend=cpu
    one ../open.mkv "$filter"
    for format in csv npy; do
        same tree-$format 3 ../open.mkv "$filter" $format
    done
    one ../open.mp4 scale=64:48,gpume=algo=hexbs:dir=both
    same filters 3 ../open.mp4 scale=64:48,gpume=algo=hexbs:dir=both csv
}

# References at several distances: segments share as many pictures, and have only a few more.
references() {
    for search in fs hme; do
        for refs in 2 3; do
            for dir in past both; do
                filter=gpume=algo=$search:range=12:dir=$dir:refs=$refs
                one ../open.mkv "$filter"
                for n in 1 2 3 4; do
                    same $search-$dir-refs$refs $n ../open.mkv "$filter" npy
                done
            done
        done
    done
    i=0
    # open groups of pictures, no timestamps, groups of one frame; a video shorter than the distance
    ffmpeg -i ../intra.mkv -c:v ffv1 -g 1 single.mkv
    ffmpeg -i single.mkv -c copy -frames:v 5 short.mkv
    for clip in ../open.mp4 ../open.ts ../h264.mp4 ../simple.avi ../variable.mkv single.mkv short.mkv; do
        for filter in dir=past:refs=8 dir=future:refs=2 dir=future:refs=5:check=1 dir=both:refs=2:check=1 dir=both:refs=8; do
            i=$((i + 1))
            one "$clip" "gpume=algo=ds:range=8:$filter"
            same "${clip##*/}-$filter" $((i % 3 + 2)) "$clip" "gpume=algo=ds:range=8:$filter" csv --segment 1
        done
    done
}

gpu() {
    # The GPU's backend on the stand-in for the driver: ranks share a device, frames are decoded on the CPU.
    if [ -f "$top/build/standin/libcuda.so.1" ] && has_cuda "$obj"; then
        ffmpeg -i ../open.mp4 -c copy -frames:v 30 short.mp4
        one short.mp4 gpume=algo=ds:range=8
        LD_LIBRARY_PATH=$top/build/standin same standin 3 short.mp4 gpume=algo=ds:range=8:backend=cuda npy --hwaccel cuda -v quiet
    else
        skip mpi/standin "the stand-in for the driver is not built"
    fi
}

# Formats that do not follow from the file name, and output to a pipe.
formats() {
    ffmpeg -i ../open.ts -vf gpume=algo=ds:dir=both:mv_format=csv:mv_file=one.csv:stats_format=jsonl:stats_file=one.log -f null -
    for n in 1 3; do
        rm -rf many*
        ranks "$n" -i ../open.ts -vf gpume=algo=ds:dir=both --mv-file many --mv-format csv --stats-file many.log \
            --stats-format jsonl --segment 8
        check "mpi/formats/$n" "$(said | head -n 1)" eval 'cmp -s one.csv many && cmp -s one.log many.log'
        ranks "$n" -i ../open.ts -vf gpume=algo=ds:dir=both --mv-file /dev/stdout --stats-file many.jsonl --segment 8 > many.csv
        check "mpi/formats-stdout/$n" "$(said | head -n 1)" eval 'cmp -s one.csv many.csv && cmp -s one.log many.jsonl'
    done
}

kills() {
    # A rank is killed at a random time; the same command with --resume continues. Finished segments
    # stay.
    ffmpeg -stream_loop 2 -i ../open.mkv -c copy long.mkv
    filter=gpume=algo=fs:range=32:block=8:dir=both:refs=2:exhaustive=1:backend=cpu
    one long.mkv $filter
    seed=${GPUME_SEED:-1}
    killed=0
    completed=0
    half=0
    rm -rf many.*
    i=0
    while [ $i -lt 20 ]; do
        i=$((i + 1))
        mpirun --oversubscribe --bind-to none -n 3 "$obj/gpume-mpi" -i long.mkv -vf "$filter" --mv-file many.npy \
            --stats-file many.log --segment 8 --resume > /dev/null 2> err &
        job=$!
        sleep "$(echo "$seed $i" | awk '{ srand($1 * 1000 + $2); print 0.2 + 0.8 * rand() }')"
        pid=$(victim $job $((i % 3 + 1)))
        [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
        if finish $job; then
            completed=$((completed + 1))
            [ -e many.npy ] && [ -e many.log ] || half=$((half + 1))
        else
            killed=$((killed + 1))
        fi
        # files are complete or absent, also if a rank was killed after its work
        for type in npy log; do
            if [ -e many.$type ]; then
                cmp -s one.$type many.$type || half=$((half + 1))
            fi
        done
        if [ ! -e many.npy.gpume-part ]; then
            rm -rf many.*
        fi
    done
    check mpi/kill-no-half-file "$half times" test $half = 0
    check mpi/kill-kills "only $killed of 20" test $killed -ge 5
    same resume 2 long.mkv $filter npy
    say "(20 times killed at random: $killed ended, $completed complete)"
    # a run is killed after some segments are finished, and resumed with another number of ranks
    rm -rf many.*
    mpirun --oversubscribe --bind-to none -n 3 "$obj/gpume-mpi" -i long.mkv -vf "$filter" --mv-file many.npy \
        --stats-file many.log --segment 8 > /dev/null 2> err &
    job=$!
    tries=0
    while [ $tries -lt 200 ] && kill -0 $job 2>/dev/null && [ "$(nb_finished)" -lt 4 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    pid=$(victim $job 2)
    [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
    finish $job
    finished=$(nb_finished)
    check mpi/kill-keeps "$finished segments" test "$finished" -ge 4
    # a finished segment that is damaged is searched again
    printf x |
        dd of=many.npy.gpume-part/data bs=1 seek=1000 conv=notrunc 2> /dev/null
    # a run with other options does not resume it
    ranks 2 -i long.mkv -vf gpume=algo=ds --mv-file many.npy --resume
    check mpi/resume-other "$(said | tail -n 1)" grep -q 'belongs to another video or other options' err
    ranks 4 -i long.mkv -vf "$filter" --mv-file many.npy --stats-file many.log --resume --progress yes
    check mpi/resume-goes-on "$(said | tail -n 1)" eval 'cmp -s one.npy many.npy && cmp -s one.log many.log && [ ! -e many.npy.gpume-part ]'
    check mpi/progress "no progress bar" grep -q '/300 frames, .* frames/s, 4 ranks, 0:.* left' err
}

# refused NAME PATTERN ARGUMENT...: checks that it fails with a message, writes no file, and keeps an older one
refused() {
    what=$1
    pattern=$2
    shift 2
    rm -rf many.*
    if ranks 2 "$@" > /dev/null; then
        fail "mpi/refused-$what" "it succeeded"
    elif ! grep -q -e "$pattern" err; then
        fail "mpi/refused-$what" "$(said | head -n 1)"
    else
        check "mpi/refused-$what" "$(ls -d many.* 2>/dev/null)" eval '! ls many.npy many.csv many.log > /dev/null 2>&1'
    fi
}
faults() {
    o='-i ../open.mkv --mv-file many.npy -vf'
    # shellcheck disable=SC2086  # words
    {
        refused no-arguments '-i is needed'
        refused unknown 'unknown argument --fast' --fast
        refused no-value 'a value is missing after --mv-file' $o gpume --mv-file
        refused wrong-value "'--threads' is 'many'; it must be 1 to 1024" $o gpume --threads many
        refused wrong-number "'--segment' is '0'; it must be 1 to 1073741824" $o gpume --segment 0
        refused wrong-choice "'--progress' is '1'; it must be auto, no or yes" $o gpume --progress 1
        refused needless-format "'--stats-format' is only valid with --stats-file" $o gpume --stats-format jsonl
        refused nothing-to-write 'there is nothing to write' -i ../open.mkv -vf gpume
        refused no-input 'none.mkv: No such file' -i none.mkv -vf gpume --mv-file many.npy
        refused no-video 'rank 0: ../tests.txt: ' -i ../tests.txt -vf gpume --mv-file many.npy
        refused epzs 'uses vectors of earlier frames' $o gpume=algo=epzs
        refused stateful 'The filter fps may need several frames' $o fps=5,gpume
        refused not-last 'gpume must be the last filter' $o gpume,hflip
        refused no-gpume 'gpume must be the last filter' $o hflip
        refused names 'use --mv-file and --stats-file' $o gpume=mv_file=x.npy
        refused hint "'hint' is not valid here" $o gpume=hint=constant
        refused filter-option "Unable to parse \"algo\" option value \"fastest\"" $o gpume=algo=fastest
        refused filter-range 'out of range' $o gpume=range=5000
        refused filter-ending 'must end in .csv, .npy' -i ../open.mkv -vf gpume --mv-file many.txt
        refused stream 'not .npys' -i ../open.mkv -vf gpume --mv-file many.npys
        refused filter-folder 'Could not open none/many.npy' -i ../open.mkv -vf gpume --mv-file none/many.npy
        refused filter-same 'must differ, but both are' -i ../open.mkv -vf gpume --mv-file many.csv --stats-file many.csv
        refused filter-spelling 'is the same file as' -i ../open.mkv -vf gpume --mv-file many.csv --stats-file ./many.csv
        refused filter-needless "'exhaustive' is only valid with algo=fs" $o gpume=algo=ds:exhaustive=1
    }
    if [ ! -e /dev/nvidia0 ]; then
        # shellcheck disable=SC2086
        refused no-gpu 'rank 1: could not open the GPU' $o gpume --hwaccel cuda
    fi
    echo old > kept.npy
    ranks 2 -i ../open.mkv -vf gpume --mv-file kept.npy --no-overwrite
    # shellcheck disable=SC2016  # check evaluates it
    check mpi/no-overwrite "$(said | head -n 1)" eval 'grep -q "File exists" err && [ "$(cat kept.npy)" = old ]'

    # Videos whose timestamps are not sufficient.
    for clip in open.avi raw.h264; do
        refused "no-times-$clip" 'Some frames have no timestamps' -i ../$clip -vf gpume --mv-file many.npy
    done
    refused wrong-times 'use ffmpeg instead of gpume-mpi' -i ../wrong.mp4 -vf gpume --mv-file many.npy
    ffmpeg -display_rotation 90 -i ../open.mp4 -c copy rotated.mp4
    refused rotated 'wants its video to be rotated' -i rotated.mp4 -vf gpume --mv-file many.npy
    refused jump 'The timestamps jump at' -i ../jump.ts -vf gpume --mv-file many.npy

    # Input that is cut off, and input that is damaged in the middle.
    for clip in open.mp4 simple.avi; do
        head -c $(($(wc -c < ../$clip) * 6 / 10)) ../$clip > cut.${clip#*.}
        refused "cut-$clip" "rank 0: cut.${clip#*.}: Invalid data" -i cut.${clip#*.} -vf gpume --mv-file many.npy
    done
    cp ../open.mp4 damaged.mp4
    dd if=/dev/zero of=damaged.mp4 bs=1 seek=$(($(wc -c < ../open.mp4) / 2)) count=4000 conv=notrunc 2> /dev/null
    refused damaged 'rank [0-9]*, segment [0-9]*: ' -i damaged.mp4 -vf gpume --mv-file many.npy --segment 8

    # A disk that is full, if this process may mount one.
    mkdir small
    if mount -t tmpfs -o size=200k tmpfs small 2> /dev/null; then
        for format in npy csv; do
            echo old > small/many.$format
            ranks 2 -i ../open.mkv -vf gpume=block=4 --mv-file small/many.$format
            # shellcheck disable=SC2016
            check "mpi/full-disk-$format" "$(said | head -n 1)" eval \
                'grep -q "rank [0-9]*, segment [0-9]*: .*No space left" err && [ "$(cat small/many.'$format')" = old ]'
            rm -rf small/*
        done
        umount small
    else
        skip mpi/full-disk "no file system can be mounted"
    fi
}

echo 'This is no video.' > tests.txt
parts="${PARTS:-containers searches references gpu formats kills faults}"
all_results=$results
for part in $parts; do
    (
        mkdir -p "$part/tmp"
        cd "$part" || exit
        # mpirun's own folder: runs in parallel would remove each other's folders
        TMPDIR=$PWD/tmp
        export TMPDIR
        results=$work/$part.txt
        $part
    ) &
done
wait
for part in $parts; do
    cat "$work/$part.txt" >> "$all_results"
done
