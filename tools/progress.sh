#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs FFmpeg's make and shows the progress: in one line on a terminal, else in a line each half minute. make.log,
# beside the folder of objects, has make's output. Only warnings about gpume's own sources are shown and, if make fails,
# its errors. V=1 shows everything.
#
# usage: progress.sh OBJ MAKE_ARGUMENT...     MAKE names another make

set -eu
LC_ALL=C
export LC_ALL
obj=$1
shift
make=${MAKE:-make}
log=$(dirname "$obj")/make.log
tab=$(printf '\t')

# 'make -n' and 'make -q' run this script, too
case ${MAKEFLAGS-} in
    -*) flags= ;;
    *)  flags=${MAKEFLAGS-} ;;
esac
case ${flags%% *} in
    *[nq]*) exec "$make" --no-print-directory -C "$obj" "$@" ;;
esac
if [ -n "${V-}" ]; then
    exec "$make" -s --no-print-directory -C "$obj" "$@"
fi

# FFmpeg's rules print 'CC<tab>FILE' and so on before each command
total=$(MAKEFLAGS='' "$make" -n -s -C "$obj" "$@" 2>/dev/null | grep -c '^printf "[A-Z0-9]*\\t') || :
if [ "$total" = 0 ]; then
    # nothing to do, or make fails at once
    exec "$make" -s --no-print-directory -C "$obj" "$@"
fi

terminal=
if [ -t 1 ] && [ "${TERM-dumb}" != dumb ]; then
    terminal=1
fi
began=$(date +%s)

# minutes: sets $minutes, since the start, with one digit after the point
minutes() {
    seconds=$(($(date +%s) - began))
    minutes=$((seconds / 60)).$((seconds % 60 / 6))
}

# clear: removes the line with the progress
clear() { [ -z "$terminal" ] || printf '\r%79s\r' ''; }

# step NAME: counts a command that begins
step() {
    steps=$((steps + 1))
    [ "$steps" -le "$total" ] || total=$steps
    percent=$((100 * steps / total))
    if [ -n "$terminal" ]; then
        minutes
        printf '\r%-79.79s' "$(printf '%3d %%  step %d of %d, %s min  %s' \
                               "$percent" "$steps" "$total" "$minutes" "$1")"
    elif [ "$steps" -gt 1 ]; then
        minutes
        if [ $((percent / 10)) -gt "$tenths" ] || [ $((seconds - shown_at)) -ge 30 ]; then
            printf '%3d %%  step %d of %d, %s min\n' "$percent" "$steps" "$total" "$minutes"
            tenths=$((percent / 10))
            shown_at=$seconds
        fi
    fi
}

# Reads make's output and then a line with its exit status.
watch() {
    steps=0
    tenths=0
    shown_at=0
    shown=
    while IFS= read -r line; do
        case $line in
            "make ended with "*)
                status=${line##* }
                break ;;
        esac
        printf '%s\n' "$line" >> "$log"
        case $line in
            [A-Z]*"$tab"*)
                shown=
                step "${line#*"$tab"}" ;;
            *gpume*warning:*|*vf_mv*warning:*|*me_hint*warning:*)
                shown=1 ;;
            *warning:*|*note:*|*': In function '*)
                shown= ;;
        esac
        if [ -n "$shown" ]; then
            clear
            printf '%s\n' "$line"
        fi
    done
    clear
    if [ "${status:-1}" != 0 ]; then
        grep -v "^[A-Z0-9]*$tab" "$log" | tail -n 30 >&2
        printf 'error: the build failed; the complete output is in %s\n' "$log" >&2
        exit "${status:-1}"
    fi
    # 'make -n' also counts what turns out not to have changed
    if [ "$steps" -gt 0 ]; then
        minutes
        printf 'built in %s minutes (%d steps)\n' "$minutes" "$steps"
    fi
}

: > "$log"
trap 'clear; exit 130' INT
{
    status=0
    "$make" -s --no-print-directory -C "$obj" "$@" 2>&1 || status=$?
    printf 'make ended with %d\n' $status
} | watch
