#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Transcodes H.264 to MPEG-2; the encoder also tries the vectors of the H.264 stream. This needs no
# other search: the decoder exports its vectors.
#
# usage: h264-to-mpeg2.sh INPUT OUTPUT [QSCALE]
# Into a transport stream (.ts) sound is copied. A program stream (.mpg, .mpeg, .vob) cannot hold AAC: there
# it becomes MPEG audio.
# FFMPEG names an ffmpeg with the option me_hint [ffmpeg]; QSCALE is 2 (best) to 31 [4].

set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 INPUT OUTPUT [QSCALE]" >&2
    exit 2
fi

case $2 in
    *.mpg | *.mpeg | *.vob) other='-c:a mp2 -b:a 192k -f vob' ;;
    *)                      other='-c:a copy' ;;
esac

# A decoder's vector does not say how many frames it spans. Most are right if the input has no B
# frames; where they are wrong, the encoder's own candidates win.
# shellcheck disable=SC2086  # options
"${FFMPEG:-ffmpeg}" -hide_banner -loglevel error -nostdin -y -export_side_data +mvs -i "$1" \
    -map 0:v:0 -map '0:a?' \
    -c:v mpeg2video -q:v "${3:-4}" -me_hint 1 $other "$2"
