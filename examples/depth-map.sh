#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows the left view of a stereoscopic video side by side with its disparity in colors.
#
# usage: depth-map.sh INPUT OUTPUT [LAYOUT]
# LAYOUT is how the views are arranged in a frame: a value of mvstereo's option layout (auto: as the file says, sbsl,
# abl, sbs2l, irl, ...), anaglyph (red-cyan), or vr180 (half spheres side by side) [auto].
# FFMPEG names an ffmpeg with mvstereo [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [LAYOUT]" >&2
    exit 2
fi
ffmpeg=${FFMPEG:-ffmpeg}
layout=${3:-auto}
views=null
case $layout in
    auto|sbs|sbs[lr]|sbs2[lr]|tb|ab[lr]|ab2[lr]|ir[lr]|ic[lr]|a[lr]) ;;
    anaglyph)       # the left view is red, the right one green and blue
                    views='format=gbrp,split[r][g];[r]extractplanes=r[l];[g]extractplanes=g[c];[l][c]hstack'
                    layout=sbsl ;;
    vr180)          # straight lines must be straight in the picture, so that rows agree
                    if ! "$ffmpeg" -hide_banner -filters | grep -q ' v360 '; then
                        echo "$0: $ffmpeg has no filter v360, which vr180 needs" >&2
                        exit 1
                    fi
                    views='v360=hequirect:flat:in_stereo=sbs:out_stereo=sbs:h_fov=90:v_fov=90:w=960:h=960'
                    layout=sbsl ;;
    *)              echo "$0: '$layout' is none of auto, sbsl, sbsr, sbs2l, sbs2r, abl, abr, ab2l, ab2r, irl, irr, icl," \
                         "icr, al, ar, anaglyph, vr180" >&2
                    exit 2 ;;
esac

"$ffmpeg" -hide_banner -loglevel error -nostdin -y -i "$1" -map '0:a?' -c:a copy -filter_complex \
    "[0:v:0]$views,mvstereo=layout=$layout:output=left+gray8,setsar=1,split[a][b];[a]crop=iw/2:x=0,format=yuv420p[left];
     [b]crop=iw/2:x=iw/2,format=gbrp,pseudocolor=preset=turbo,format=yuv420p[map];[left][map]hstack[v]" \
    -map '[v]' -c:v h264 -b:v 8M "$2"
