#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Follows the steps of the Dockerfile where there is no Docker: each stage is a folder that debootstrap
# fills and chroot enters. Then runs the program of the last one. Needs root, debootstrap, some minutes.
#
# usage: tests/dockerfile.sh [DIR]     [/var/tmp/gpume-dockerfile], made anew
# Environment: MIRROR, of Debian; default: the first of this system

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-/var/tmp/gpume-dockerfile}
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -hoE '(https?|file)://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ')}
command -v debootstrap > /dev/null || { echo "dockerfile.sh: debootstrap is missing" >&2; exit 1; }
rm -rf "$dir"
mkdir -p "$dir"
mounted=
leave() { [ -z "$mounted" ] || umount "$mounted/proc" "$mounted/dev"; mounted=; }
trap leave EXIT

root=
work=/
environment=
entry=
# a step that the line after continues is one line
sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' "$top/Dockerfile" | grep -v '^#' | grep . > "$dir/steps"
while read -r step rest; do
    echo "== $step $rest"
    case $step in
        FROM)
            leave
            # shellcheck disable=SC2086  # words
            set -- $rest
            release=${1#debian:}
            root=$dir/${3:-last}
            [ -d "$dir/base" ] || debootstrap --variant=minbase "${release%-slim}" "$dir/base" "$mirror" > "$dir/log" 2>&1
            cp -a "$dir/base" "$root"
            cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
            cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
            mount -t proc proc "$root/proc"
            mount --bind /dev "$root/dev"
            mounted=$root
            work=/ ;;
        COPY)
            # shellcheck disable=SC2086
            set -- $rest
            case $1 in
                --from=*) cp -a "$dir/${1#--from=}$2/." "$root$3" ;;
                .)        mkdir -p "$root$2"
                          git -C "$top" archive HEAD | tar -x -C "$root$2" ;;
            esac ;;
        WORKDIR)    work=$rest
                    mkdir -p "$root$work" ;;
        ENV)        environment=$rest ;;
        RUN)        chroot "$root" sh -c "cd $work && $rest" < /dev/null ;;
        ENTRYPOINT) entry=$(printf '%s' "$rest" | tr -d '[]"') ;;
        *)          echo "dockerfile.sh: unknown step '$step'" >&2; exit 1 ;;
    esac
done < "$dir/steps"
# shellcheck disable=SC2086
chroot "$root" env $environment sh -c "cd $work && $entry -v error -f lavfi -i testsrc2=size=176x144:rate=5:duration=2 \
    -vf noise=alls=20,mvdenoise,gpume=algo=ds:stats_file=- -f null -" < /dev/null | grep -c . > "$dir/frames"
frames=$(cat "$dir/frames")
size=$(du -sxm --exclude=proc --exclude=dev "$root" | cut -f1)
base=$(du -sxm "$dir/base" | cut -f1)
echo "the image: $size MiB, of which Debian $base (minbase); $frames lines of statistics"
[ "$frames" -ge 9 ]
