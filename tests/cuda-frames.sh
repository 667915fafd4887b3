#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the CUDA backend that FATE does not have, on the stand-in for the driver: FFmpeg's own uploads and downloads,
# frames on the device compared with the CPU, two devices in one graph, the pictures of other filters. After the first
# frames nothing may be allocated, and nothing may wait for the whole context or stream.
#
# usage: cuda-frames.sh RESULTS FFMPEG STANDIN_DIR

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
ffmpeg=$2
LD_LIBRARY_PATH=$3
export LD_LIBRARY_PATH

tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

# the stand-in ends a process that made an error with status 86, though its output may be right
ffmpeg() {
    timeout 120 "$ffmpeg" -hide_banner -nostdin -loglevel error "$@"
    status=$?
    [ $status != 86 ] || fail cuda-errors "the stand-in reports errors of: $*"
    return $status
}

on_device() { ffmpeg -init_hw_device cuda=cu:0 -filter_hw_device cu "$@"; }
# run GRAPH OPTION...: runs a graph, with a device for frames that it uploads
run() {
    case $1 in
        *hwupload*) on_device -lavfi "$@" ;;
        *)          ffmpeg -lavfi "$@" ;;
    esac
}

# cpu CONDITION GRAPH: makes pictures on the CPU, whose number must meet the condition: '= 8'
# gpu NAME GRAPH: checks that the graph, on the device, makes the same pictures
crc='-fps_mode passthrough -copyts -enc_time_base filter -f framecrc -'
# shellcheck disable=SC2086  # words
cpu() {
    wanted=$1
    run "$2" $crc > "$tmp/cpu"
}
# shellcheck disable=SC2086  # words
gpu() {
    run "$2" $crc > "$tmp/gpu"
    check "$1" "other pictures" eval "[ \"\$(grep -c '^0,' '$tmp/cpu')\" $wanted ] && cmp -s '$tmp/cpu' '$tmp/gpu'"
}

# same: succeeds if both runs gave vectors and these are equal
same() {
    [ "$(grep -c . "$tmp/cpu")" -gt 10 ] && cmp -s "$tmp/cpu" "$tmp/gpu"
}

# a seed decides the order in which the device's work runs: frames and vectors are the same in every order
odd=testsrc2=size=149x99:rate=25:duration=0.4
for format in nv12 yuv420p yuv444p p010le p016le yuv444p16le; do
    cpu '= 10' "$odd,format=$format"
    for seed in 0 1 2 3; do
        GPUME_STANDIN_SEED=$seed gpu "cuda-up-and-down/$format/$seed" \
            "$odd,format=$format,hwupload_cuda,hwdownload,format=$format"
    done
done
for search in fs ds; do
    for from in nv12 yuv420p10le nv12,hwupload_cuda; do
        options=gpume=algo=$search:range=12:block=8:dir=both:mv_file=-:backend
        run "$odd,format=${from%,*},$options=cpu" -f null - > "$tmp/cpu"
        for seed in 0 1 2; do
            GPUME_STANDIN_SEED=$seed run "$odd,format=$from,$options=cuda" -f null - > "$tmp/gpu"
            check "cuda-order/$search/$from/$seed" "vectors differ" same
        done
    done
done

source='testsrc2=size=70x50:rate=25:duration=1,format=gray'
ffmpeg -lavfi "$source,gpume=algo=ds:backend=cpu:mv_file=-" -f null - > "$tmp/cpu"
GPUME_STANDIN_DEVICES=2 ffmpeg -lavfi "$source,gpume=algo=fs:range=4:backend=cuda:device=0,
    gpume=algo=ds:backend=cuda:device=1:mv_file=-" -f null - > "$tmp/gpu"
check cuda-two-devices "vectors differ" same
# the CPU does not replace a device that is named and missing; a device that would have no effect is refused
GPUME_STANDIN_DEVICES=2 ffmpeg -lavfi "$source,gpume=algo=ds:device=1:mv_file=-" -f null - > "$tmp/gpu"
check cuda-named-device "vectors differ" same
GPUME_STANDIN_DEVICES=2 ffmpeg -lavfi "$source,gpume=algo=ds:device=7" -f null - 2> "$tmp/log"
status=$?
check cuda-missing-device "$(tail -n 1 "$tmp/log")" eval "[ $status != 0 ] && grep -q 'CUDA device 7' '$tmp/log'"
on_device -f lavfi -i "testsrc2=s=64x48:d=1,format=nv12" -vf hwupload_cuda,gpume=algo=ds:device=0 -f null - 2> "$tmp/log"
status=$?
check cuda-needless-device "$(tail -n 1 "$tmp/log")" \
    eval "[ $status != 0 ] && grep -q 'only valid with frames in system memory' '$tmp/log'"
GPUME_STANDIN_DEVICES=0 on_device -lavfi "$source" -f null - 2> "$tmp/log"
status=$?
check cuda-no-device "$(tail -n 1 "$tmp/log")" \
    eval "[ $status != 86 ] && grep -q 'no CUDA-capable device' '$tmp/log'"

# full search of 10 bits has kernels for devices and drivers with half-precision numbers, and kernels for the others
ten='testsrc2=size=70x50:rate=25:duration=0.4,format=yuv420p10le'
for search in fs:block=4:range=9 fs:block=16:range=12 fs:block=32:range=5 fs:block=8:tree=1:range=5; do
    ffmpeg -lavfi "$ten,gpume=algo=$search:backend=cpu:mv_file=-" -f null - > "$tmp/cpu"
    for device in CC=5.0 CC=9.0 DRIVER=10010; do
        (export "GPUME_STANDIN_$device"
            ffmpeg -lavfi "$ten,gpume=algo=$search:backend=cuda:mv_file=-" -f null -) > "$tmp/gpu"
        check "cuda-10-bits/$device/$search" "vectors differ" same
    done
done

# a picture upside down, whose rows are no whole units
flipped='testsrc2=size=70x50:rate=25:duration=0.4,format=nv12'
for search in ds:block=8 fs:range=7 hme:block=8:pel=4; do
    ffmpeg -lavfi "$flipped,vflip,gpume=algo=$search:backend=cpu:mv_file=-" -f null - > "$tmp/cpu"
    on_device -lavfi "$flipped,hwupload,fps=25,vflip,gpume=algo=$search:mv_file=-" -f null - > "$tmp/gpu"
    check "cuda-flipped/$search" "vectors differ" same
done

# frames on the device, with even sides because chroma needs them
searches="$(combinations FULL range=5:block=4 range=5:block=8 range=5 range=5:block=32)
$(combinations PATTERN range=40:block=8 range=40)
$(combinations PREDICTIVE range=20)
$(combinations HIERARCHICAL range=40 range=20:block=4) ds:smooth=2:pel=4 epzs:range=9:check=1:smooth=2"
mkdir "$tmp/on-cpu" "$tmp/on-gpu"
rows='nv12/70x50 p010le/34x126 yuv444p/34x126 yuv444p16le/70x50'
[ -z "${GPUME_LONG-}" ] || rows="$rows nv12/34x126 p010le/70x50 yuv444p/70x50 yuv444p16le/34x126"
for row in $rows; do
    format=${row%/*}
    size=${row#*/}
    from="testsrc2=size=$size:rate=4:duration=1,format=$format"
    rm -f "$tmp"/on-*/*
    # shellcheck disable=SC2086  # lists of words
    {
        ffmpeg -f lavfi -i "$from" -vf "$(branches '' :dir=both:backend=cpu "$tmp/on-cpu" $searches)" -f null -
        on_device -f lavfi -i "$from" -vf "$(branches hwupload_cuda, :dir=both "$tmp/on-gpu" $searches),hwdownload,format=$format" -f null -
        same_vectors "cuda-hwframes/$format/$size" "$tmp/on-cpu" "$tmp/on-gpu" $searches
    }
done

# hint=constant marks the same parts as on the CPU, and hwdownload keeps them. gpume_hint_constant tests more.
hints() { sed -n -e 's/.*ncoding video hint: *//p' -e 's/.*unknown side data type [0-9]* //p'; }
for format in nv12 yuv420p p010le yuv444p16le; do
    from="testsrc2=size=320x192:rate=10:duration=1,format=$format"
    search=gpume=algo=ds:range=6:hint=constant:backend
    ffmpeg -f lavfi -i "$from" -vf "$search=cpu,showinfo" -loglevel info -f null - 2>&1 | hints > "$tmp/cpu"
    on_device -f lavfi -i "$from" -vf "hwupload_cuda,$search=cuda,hwdownload,format=$format,showinfo" \
        -loglevel info -f null - 2>&1 | hints > "$tmp/gpu"
    check "cuda-hint/$format" "other parts are marked" \
        eval "[ \"\$(grep -c bytes '$tmp/cpu')\" = 4 ] && cmp -s '$tmp/cpu' '$tmp/gpu'"
done

# One frame leaves the graph. The buffers of the others are returned inside the graph by its own thread, so the number
# in use does not depend on the delay of the output.
first_only='select=eq(n\,0)'

# Pictures of mvview in frames that gpume keeps, also if fields on the device are lost or replaced between the filters.
# A row has the format, options of the search, filters between the two, and options of mvview. gpume_mvview tests more.
again=gpume=algo=ds:range=9:block=16:backend
for row in nv12///mode=flow+arrows:legend=1 yuv420p///mode=arrows+blocks:step=1 \
           p010le///mode=arrows+flow+blocks:background=gray yuv444p16le///mode=flow:background=black \
           nv12/:dir=both:check=1//mode=arrows+flow+blocks:legend=1:scale=9 \
           nv12/:dir=both:refs=3//mode=arrows+blocks:distance=2 p010le/:refs=2:pel=1//mode=flow+arrows:step=2 \
           nv12/:dir=both//mode=arrows+blocks,mvview=mode=flow yuv420p//DOWN,UP,/mode=arrows+blocks+flow \
           nv12/:dir=both/$again=BACKEND,/mode=arrows+blocks+flow nv12//sidedata=delete:MOTION_VECTORS,/mode=flow; do
    format=${row%%/*}
    from="testsrc2=size=94x70:rate=4:duration=1,format=$format"
    options=${row#*/}
    between=${options#*/}
    drawn=${between#*/}
    between=${between%%/*}
    search=gpume=algo=hme:range=24:block=8${options%%/*}:backend
    cpu '= 4' "$from,$search=cpu,$(echo "$between" | sed 's/DOWN,UP,//; s/BACKEND/cpu/')mvview=$drawn"
    between=$(echo "$between" | sed "s/DOWN/hwdownload,format=$format/; s/UP/hwupload/; s/BACKEND/cuda/")
    gpu "cuda-mvview/$row" "$from,hwupload,$search=cuda,${between}mvview=$drawn,hwdownload,format=$format"
done

# Pictures of mvfps at several rates, across a cut, and without vectors. gpume_mvfps tests more.
cut="testsrc2=size=94x70:rate=4:duration=1[a];testsrc2=size=400x300:rate=4:duration=1,crop=94:70:211:190[b];[a][b]concat"
for row in nv12/fps=2x yuv420p/fps=5/2x:scene=0 p010le/fps=3x:scene=1:cut=blend yuv444p16le/fps=10 \
           yuv444p/fps=2x:scene=1 nv12/mode=blend:fps=3x p016le/mode=blend:fps=7:scene=1 yuva420p/mode=dup \
           yuv444p/fps=3/4x:scene=0.5 nv12/fps=3x:scene=0/tree; do
    tree=0
    case $row in
        */tree) tree=1 ;;
    esac
    row=${row%/tree}
    format=${row%%/*}
    search=gpume=algo=hme:range=24:block=8:dir=both:tree=$tree:backend
    cpu '-ge 6' "$cut,format=$format,$search=cpu,mvfps=${row#*/}"
    gpu "cuda-mvfps/$row/$tree" "$cut,format=$format,hwupload_cuda,$search=cuda,mvfps=${row#*/},hwdownload,format=$format"
    # the same if the fields do not stay on the device
    gpu "cuda-mvfps-copied/$row/$tree" "$cut,format=$format,hwupload_cuda,$search=cuda,hwdownload,format=$format,
        hwupload_cuda,mvfps=${row#*/},hwdownload,format=$format"
done

# Maps of mvstereo, of one frame with both views and of two inputs. gpume_mvstereo tests more.
views='testsrc2=size=200x140:rate=4:duration=0.5,format=nv12,split[a][b];[a]crop=92:61:20:10[l];[b]crop=92:61:26:10[r]'
for row in disparity:max=32:p016 gray8:max=32:nv12 color:max=32:rgb0 disparity:max=64:fast=1:temporal=1:view=both:p016; do
    options=output=${row%:*}
    format=${row##*:}
    planes=extractplanes=y
    [ "$format" != rgb0 ] || planes=format=rgb24
    cpu '= 2' "$views;[l][r]mvstereo=inputs=2:backend=cpu:$options"
    # frames in memory, matched on the device
    gpu "cuda-mvstereo-memory/$row" "$views;[l][r]mvstereo=inputs=2:backend=cuda:$options"
    gpu "cuda-mvstereo/$row" "$views;[l]hwupload[lu];[r]hwupload[ru];[lu][ru]mvstereo=inputs=2:$options,
        hwdownload,format=$format,$planes"
    gpu "cuda-mvstereo-sbsl/$row" "$views;[l][r]hstack,hwupload,mvstereo=layout=sbsl:$options,
        hwdownload,format=$format,$planes"
done

# Pictures of mvdenoise for every kind of samples, with noise that it estimates, across a cut, and with its own search.
# gpume_mvdenoise tests more.
for row in nv12/radius=2/refs=2 yuv420p/radius=1:passes=1:sigma=9/refs=1 p010le/radius=2/refs=2 \
           yuv444p16le/radius=3:planes=1/refs=3 yuv444p/radius=4:sigma=3/refs=4 p016le/radius=0:passes=2/refs=1 \
           nv12/radius=2/refs=2:tree=1 nv12/radius=2:sigma=12.5:strength=0.7/none yuva420p/radius=1/none nv12/radius=1/command; do
    format=${row%%/*}
    options=${row#*/}
    search=gpume=algo=hme:range=24:block=8:dir=both:smooth=8:${options#*/}:backend
    options=${options%%/*}
    case $row in
        */none) on_cpu='' on_gpu='' ;;
        */command) on_cpu="sendcmd=c='0.25 mvdenoise strength 0.5'," on_gpu=$on_cpu ;;
        *) on_cpu=$search=cpu, on_gpu=$search=cuda, ;;
    esac
    noisy="$cut,noise=alls=14:allf=t,format=$format"
    cpu '= 8' "$noisy,${on_cpu}mvdenoise=$options"
    gpu "cuda-mvdenoise/$row" "$noisy,hwupload_cuda,${on_gpu}mvdenoise=$options,hwdownload,format=$format"
    # the same if the fields do not stay on the device
    [ -z "$on_gpu" ] || gpu "cuda-mvdenoise-copied/$row" "$noisy,hwupload_cuda,${on_gpu}hwdownload,format=$format,
        hwupload_cuda,mvdenoise=$options,hwdownload,format=$format"
done

# Pictures of mvdeint, alone and before other filters, whose frames stay on the device. gpume_mvdeint tests more.
for row in nv12/mvdeint p010le/mvdeint=passes=3:refs=1 yuv444p/mvdeint=mode=send_frame:passes=1 \
           nv12/mvdeint=deint=interlaced,mvdenoise=radius=1:sigma=9,mvfps=fps=2x \
           p010le/unmarked,mvdeint=passes=1; do
    format=${row%%/*}
    graph=${row#*/}
    woven=testsrc2=s=48x36:r=50:d=0.32
    flip=
    if [ "$graph" != "${graph#unmarked,}" ]; then   # the motion shows which field comes first
        woven="testsrc2=s=320x240:r=50:d=0.16,crop=128:128:3*n:100"
        flip=,vflip,setfield=prog
        graph=${graph#*,}
    fi
    woven="$woven,setfield=tff,separatefields,select=not(mod(n\\,4))+not(mod(n-3\\,4)),
        weave=first_field=top$flip,format=$format"
    cpu '-ge 8' "$woven,$graph"
    gpu "cuda-mvdeint/$row" "$woven,hwupload_cuda,$graph,hwdownload,format=$format"
done

# Pictures of mvstab, whose frames stay on the device. gpume_mvstab tests more.
for row in nv12/mode=tripod p010le/border=mirror:smoothing=2 yuv444p/border=keep:model=homography; do
    shaken="testsrc2=s=128x96:r=25:d=0.28,format=yuv444p,crop=80:64:8+mod(n*7\\,13):9+mod(n*5\\,11),format=${row%%/*}"
    cpu '= 7' "$shaken,mvstab=${row#*/}"
    gpu "cuda-mvstab/$row" "$shaken,hwupload_cuda,mvstab=${row#*/},hwdownload,format=${row%%/*}"
done

# Frames that repeat the one before them. Up to four in a row get its result.
for row in nv12/fps=12/radius=2/ yuv420p10/fps=24/radius=1/ p010le/fps=12/radius=1:enable=between\(n\\,5\\,12\)/ \
           yuv444p/fps=8/radius=2/gpume=algo=hme:block=8:dir=both:refs=2:backend; do
    format=${row%%/*}
    options=${row%/*}
    options=${options##*/}
    search=${row##*/}
    noisy=${row#*/}
    noisy="$cut,noise=alls=14:allf=t,${noisy%%/*},format=$format"
    cpu '-ge 16' "$noisy,${search:+$search=cpu,}mvdenoise=$options"
    gpu "cuda-mvdenoise-repeats/$row" "$noisy,hwupload_cuda,${search:+$search=cuda,}mvdenoise=$options,
        hwdownload,format=$format"
done

# steady NAME LAUNCHES FILTERS: checks the driver calls of the 10th to the 20th frame; LAUNCHES is the number of launches
# for each frame
steady() {
    name=$1
    launches=$2
    GPUME_STANDIN_TRACE=$tmp/trace run "$source,$3,$first_only" -f null - > /dev/null
    awk -v from=$((10 * launches)) -v to=$((20 * launches)) \
        '$3 == "cuLaunchKernel" { n++ } n >= from && n < to { print $3 } END { print "launches", n + 0 }' \
        "$tmp/trace" > "$tmp/calls"
    if [ "$(sed -n 's/^launches //p' "$tmp/calls")" -lt $((20 * launches)) ]; then
        fail "$name" "too few launches to tell"
    elif grep -E 'Alloc|MemFree|FreeHost|CtxSynchronize|StreamSynchronize|Create|Destroy|ModuleLoad' \
            "$tmp/calls" > "$tmp/bad"; then
        fail "$name" "after the tenth frame: $(sort "$tmp/bad" | uniq -c | tr -s '\n ' ' ')"
    else
        ok "$name"
    fi
}
# no_calls NAME WHY PATTERN: checks that the last steady run had launches and no such calls
no_calls() { check "$1" "$2" eval "grep -q cuLaunchKernel '$tmp/calls' && ! grep -q '$3' '$tmp/calls'"; }
steady cuda-steady-memory 1 gpume=algo=ds:backend=cuda:dir=both
steady cuda-steady-frames 1 "format=nv12,hwupload_cuda,gpume=algo=ds"
steady cuda-steady-hint 2 "format=nv12,hwupload_cuda,gpume=algo=ds:hint=constant"
# launches: longest vector, colours, picture; frames are uploaded by another call than vectors
steady cuda-steady-mvview 4 "format=nv12,hwupload,gpume=algo=ds,mvview=mode=flow+arrows+blocks:step=1:legend=1"
no_calls cuda-mvview-fields "vectors or shapes were uploaded" cuMemcpyHtoD
# launches for a list of vectors: colours, picture
steady cuda-steady-mvview-list 2 \
    "format=nv12,gpume=algo=ds:backend=cpu:async_depth=1,hwupload,mvview=mode=flow+arrows+blocks:step=1"
check cuda-mvview-list "vectors were not uploaded" grep -q cuMemcpyHtoD "$tmp/calls"
# launches: copy of the frame; own copy, cells of vectors, cut, fade; vectors, picture, mean
steady cuda-steady-mvfps 10 "format=nv12,hwupload_cuda,gpume=algo=ds:dir=both,mvfps=fps=2x"
# vectors that gpume has left on the device are not uploaded again
no_calls cuda-mvfps-fields "vectors were uploaded" cuMemcpyHtoD
# another filter has copied the frames: a map of vectors is made, too
steady cuda-steady-mvfps-list 11 \
    "format=nv12,gpume=algo=ds:dir=both:backend=cpu:async_depth=1,hwupload_cuda,mvfps=fps=2x"
check cuda-mvfps-list "vectors were not uploaded" grep -q cuMemcpyHtoD "$tmp/calls"
# launches: comparison with the frame before, copy of the frame, its half samples, cells of vectors, noise in two steps;
# for the pilot matches, patches, picture, half samples; the same again without half samples
steady cuda-steady-mvdenoise 14 "format=nv12,hwupload_cuda,gpume=algo=ds:dir=both:refs=2,mvdenoise=strength=9"
no_calls cuda-mvdenoise-fields "vectors were uploaded" cuMemcpyHtoD
# leaves are not uploaded either: one launch for each size and two fields, and two for the tree
steady cuda-steady-tree 24 "format=nv12,hwupload_cuda,gpume=algo=ds:tree=1:dir=both:refs=2,mvdenoise=strength=9"
no_calls cuda-tree-fields "vectors were uploaded" cuMemcpyHtoD
# another filter has copied the frames: a map of vectors is made, too
steady cuda-steady-mvdenoise-list 14 \
    "format=nv12,gpume=algo=ds:dir=both:refs=2:backend=cpu:async_depth=1,hwupload_cuda,mvdenoise=strength=9"
check cuda-mvdenoise-list "vectors were not uploaded" grep -q cuMemcpyHtoD "$tmp/calls"
# launches: copy of the frame; for each field an estimate and its edges, the search, and for the picture three
steady cuda-steady-mvdeint 24 "format=nv12,hwupload_cuda,mvdeint=passes=1"
no_calls cuda-mvdeint-fields "vectors were transferred, or the search was waited for" \
    'cuMemcpyHtoD\|cuMemcpyDtoH\|cuEventSynchronize'
# launches: copy of the frame, tensors, the search, the warp; the field and the tensors are read by the host
steady cuda-steady-mvstab 12 "format=nv12,hwupload_cuda,mvstab=smoothing=1:zoom=1"
