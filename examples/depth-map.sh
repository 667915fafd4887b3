#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows the left view of a stereoscopic film side by side with its disparity in colors.
#
# usage: depth-map.sh INPUT OUTPUT [LAYOUT]
# LAYOUT is how the views are arranged in a frame: a value of mvstereo's option layout (sbsl, abl, sbs2l, ...),
# anaglyph (red-cyan), or vr180 (half spheres side by side) [sbsl].
# FFMPEG names an ffmpeg with mvstereo [ffmpeg].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [LAYOUT]" >&2
    exit 2
fi
layout=${3:-sbsl}
views=null
case $layout in
    sbs|sbsl|sbs2l) left='crop=iw/2:ih:0:0' ;;
    sbsr|sbs2r)     left='crop=iw/2:ih:iw/2:0' ;;
    tb|abl|ab2l)    left='crop=iw:ih/2:0:0' ;;
    abr|ab2r)       left='crop=iw:ih/2:0:ih/2' ;;
    anaglyph)       # the left view is red, the right one green and blue
                    views='format=gbrp,split[r][g];[r]extractplanes=r[l];[g]extractplanes=g[c];[l][c]hstack'
                    left='crop=iw/2:ih:0:0'
                    layout=sbsl ;;
    vr180)          # straight lines must be straight in the picture, so that rows agree
                    views='v360=hequirect:flat:in_stereo=sbs:out_stereo=sbs:h_fov=90:v_fov=90:w=960:h=960'
                    left='crop=iw/2:ih:0:0'
                    layout=sbsl ;;
    *)              echo "$0: '$layout' is none of sbsl, sbsr, sbs2l, sbs2r, abl, abr, ab2l, ab2r, anaglyph, vr180" >&2
                    exit 2 ;;
esac

"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -i "$1" -map '0:a?' -c:a copy -filter_complex \
    "[0:v:0]$views,split[a][b];[a]$left,format=yuv420p[left];[b]mvstereo=layout=$layout:output=color,format=yuv420p,setsar=1[map];
     [left]setsar=1[l];[l][map]hstack[v]" \
    -map '[v]' -c:v mpeg4 -q:v 3 "$2"
