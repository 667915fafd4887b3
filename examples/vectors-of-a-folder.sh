#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes the vectors of all clips in a folder as NumPy arrays, several clips at a time. Existing
# arrays are skipped, so after an interruption the same command continues: a .npy file has its
# name only once it is complete.
#
# usage: vectors-of-a-folder.sh CLIPS VECTORS [GPUME_OPTIONS]
# VECTORS/NAME.EXT.npy has the shape (frames, directions, rows, blocks, 3).
# FFMPEG names an ffmpeg with gpume [ffmpeg]; JOBS is the number of clips at a time [number of cores].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 CLIPS VECTORS [GPUME_OPTIONS]" >&2
    exit 2
fi
FFMPEG=${FFMPEG:-ffmpeg}
VECTORS=$2
OPTIONS=${3:-algo=hme:block=16}
export FFMPEG VECTORS OPTIONS
mkdir -p "$2"

# Several clips with a thread each use the cores better than one clip with several threads. Names of
# clips may have any character. Vectors are written from inside a folder, under a plain name, because
# some characters have a meaning in a filter's options.
# shellcheck disable=SC2016  # for the shells that xargs starts
find "$1" -type f \( -name '*.mp4' -o -name '*.mkv' -o -name '*.mov' -o -name '*.y4m' \) -print0 |
    xargs -0 -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" -I CLIP sh -c '
        clip=$1
        out=$VECTORS/${clip##*/}.npy
        if [ -f "$out" ]; then
            exit
        fi
        # the filter writes a file with a plain name, which is then renamed
        part=$(mktemp -d "$VECTORS/part.XXXXXX")
        trap "rm -rf \"\$part\"" EXIT
        clip=$(cd "$(dirname "$clip")" && pwd)/${clip##*/}
        if (cd "$part" && "$FFMPEG" -hide_banner -loglevel error -nostdin -filter_threads 1 \
                -i "$clip" -map 0:v:0 -vf "gpume=$OPTIONS:mv_file=v.npy" -fps_mode passthrough \
                -f null -); then
            mv "$part/v.npy" "$out"
        else
            echo "left out: $clip" >&2
        fi
    ' sh CLIP
