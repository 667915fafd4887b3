# shellcheck shell=sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the other scripts: messages and a few small helpers.

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

have() { command -v "$1" >/dev/null 2>&1; }

# quote WORD...: prints the words, quoted for the shell.
quote() {
    for word; do
        printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
    done
}

# absolute PATH: prints the absolute path.
absolute() {
    case $1 in
        /*) printf '%s\n' "$1" ;;
        *)  printf '%s/%s\n' "$(pwd)" "$1" ;;
    esac
}

# install_if_changed NEW OLD: moves NEW to OLD. An unchanged OLD keeps its time stamp, so
# that make does not rebuild anything.
install_if_changed() {
    if cmp -s "$1" "$2"; then
        rm -f "$1"
    else
        mv -f "$1" "$2"
    fi
}

# series_of DIR: prints the FFmpeg series (9.0, 7.1, ...) of a source tree, or nothing.
series_of() {
    for version_file in "$1/RELEASE" "$1/VERSION"; do
        if [ -f "$version_file" ]; then
            found=$(sed -n '1s/^n\{0,1\}\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' "$version_file")
            if [ -n "$found" ]; then
                printf '%s\n' "$found"
                return
            fi
        fi
    done
}

# all_series TOP: prints the series in patches/, newest first.
all_series() {
    for series_file in "$1"/patches/*/series; do
        basename "$(dirname "$series_file")"
    done | sort -t. -k1,1nr -k2,2nr
}

# configure_script TREE: prints the path of the script that configures FFmpeg in TREE/obj. The trees that only tests and
# benchmarks use have it in the folder of their series, so that they have no folder of their own before they are built.
configure_script() {
    case $1 in
        *-san|*-fuzz|*-tsan|*-gpl|*-fate) printf '%s\n' "${1%-*}/configure-${1##*-}.sh" ;;
        *)                                printf '%s\n' "$1/configure-ffmpeg.sh" ;;
    esac
}
