#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a time lapse of a clip whose camera was moved by wind or steps: it shows every SPEEDth frame,
# as from a tripod. Borders that a frame does not have stay as they were in the frame before.
#
# usage: steady-time-lapse.sh INPUT OUTPUT [SPEED]
# SPEED is a whole number [8]. FFMPEG names an ffmpeg with mvstab [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [SPEED]" >&2
    exit 2
fi

# Frames are dropped first, because only those that are shown need to be moved.
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -an \
    -vf "select=not(mod(n\,${3:-8})),setpts=N/FRAME_RATE/TB,mvstab=mode=tripod:border=keep" -c:v h264 -b:v 12M "$2"
