#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the steps of the Dockerfile without Docker: each stage is a folder that debootstrap fills and chroot enters. Then
# runs the program of the last stage. Needs root and debootstrap, and takes some minutes.
#
# usage: tests/dockerfile.sh [DIR]     working folder, removed before and after [build/check/dockerfile]
# Environment: MIRROR, a mirror of Debian; default: the first one of this system

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"
. "$top/tests/chroot.sh"
dir=${1:-$top/build/check/dockerfile}
missing=$(bare_missing)
[ -z "$missing" ] || die "dockerfile.sh: $missing"
rm -rf --one-file-system "$dir"
mkdir -p "$dir"
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# size DIR: prints the size in MiB
size() { du -sxm "$1" | cut -f1; }

root=
work=/
environment=
entry=
# joins the lines of a step
sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' "$top/Dockerfile" | grep -v '^#' | grep . > "$dir/steps"
while read -r step rest <&3; do
    echo "== $step $rest"
    case $step in
        FROM)
            # shellcheck disable=SC2086  # words
            set -- $rest
            release=${1#debian:}
            root=$dir/${3:-last}
            bare_new "${release%-slim}" "$(dpkg --print-architecture)" "$root"
            # the image has no package lists and no documents
            rm -rf "$root/var/lib/apt/lists"/* "$root/var/cache/apt"/* "$root/usr/share/doc"/* "$root/usr/share/man"/* \
                   "$root/usr/share/locale"/* "$root/var/log"/*
            base=$(size "$root")
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
        RUN)        inside "$root" sh -c "cd $work && $rest" < /dev/null ;;
        ENTRYPOINT) entry=$(printf '%s' "$rest" | tr -d '[]"') ;;
        *)          die "dockerfile.sh: unknown step '$step'" ;;
    esac
done 3< "$dir/steps"
# shellcheck disable=SC2086
inside "$root" env $environment sh -c "cd $work && $entry -v error -f lavfi -i testsrc2=size=176x144:rate=5:duration=2 \
    -vf noise=alls=20,mvdenoise,gpume=algo=ds:stats_file=- -f null -" < /dev/null > "$dir/frames"
frames=$(grep -c . "$dir/frames")
[ "$frames" = 9 ] || die "dockerfile.sh: $frames lines of statistics"
whole=$(size "$root")
echo "the image: $whole MiB, of which $base MiB are Debian's; the stage that builds: $(size "$dir/build") MiB"
