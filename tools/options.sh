#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the options of the filters, from the program's own help, for shells or as a manual page.
#
# usage: options.sh table FFMPEG         a line each: filter|option|type|text, and
#                                        filter|option|=value|text for each named value
#        options.sh completion FFMPEG    a script for bash-completion
#        options.sh manual FFMPEG DOC    the manual page gpume(7); DOC is FFmpeg's folder doc, whose
#                                        texi2pod.pl is used. Needs perl and pod2man

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
filters=$(sed -n '/^#/d; /^common /d; s/ .*//p' "$top/filters.list")
program=${2:?usage: options.sh table|completion|manual FFMPEG [DOC]}
# the command that runs a program of another system
run=${GPUME_EXEC-}
# a pipe in sh has the status of its last command only, so commands that can fail write to files here
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# help FILTER: writes the program's help of the filter to $tmp/help
help() {
    if ! $run "$program" -hide_banner -h filter="$1" > "$tmp/help" || ! grep -q "^Filter $1" "$tmp/help"; then
        echo "options.sh: $program has no help of $1" >&2
        exit 1
    fi
}

table() {
    for filter in $filters; do
        help "$filter"
        awk -v filter="$filter" '
            function rest(first,  s, i) {
                for (i = first; i <= NF; i++)
                    s = s (i > first ? " " : "") $i
                return s
            }
            / AVOptions:$/    { inside = 1; next }
            !inside || NF < 3 { next }
            /^   [^ ]/        { option = $1; print filter "|" option "|" substr($2, 2, length($2) - 2) "|" rest(4) }
            # values of flags have no number
            /^     [^ ]/      { print filter "|" option "|=" $1 "|" rest($2 ~ /^-?[0-9]+$/ ? 4 : 3) }' "$tmp/help"
    done
}

completion() {
    table > "$tmp/table"
    cat << 'END'
# bash completion of gpume's filters and their options, behind -vf, -filter:v, -filter_complex and -lavfi
_gpume_table='
END
    awk -F '|' '{ print $1 "|" $2 "|" ($3 ~ /^=/ || $3 == "boolean" ? $3 : "") }' "$tmp/table"
    cat << 'END'
'

_gpume() {
    local line=${COMP_LINE:0:COMP_POINT} word filter option target replies suffix current
    COMPREPLY=()
    word=${line##*[[:space:]]}
    set -- ${line%"$word"}
    word=${word##*[\'\"]}
    case ${!#-} in
        -vf|-filter:v|-filter|-filter_complex|-lavfi) ;;
        *) [[ $word == *[=,\;]* ]] || return 0 ;;
    esac
    # find the last filter and its last option
    word=${word##*[,;\]]}
    filter=${word%%=*}
    option=${word#*=}
    option=${option##*:}
    if [[ $word != *=* ]]; then
        target=$word suffix==
        replies=$(awk -F '|' 'NF { print $1 }' <<< "$_gpume_table" | uniq)
    elif [[ $option != *=* ]]; then
        target=$option suffix==
        replies=$(awk -F '|' -v f="$filter" '$1 == f { print $2 }' <<< "$_gpume_table" | uniq)
    else
        target=${option#*=} suffix=
        target=${target##*+}
        replies=$(awk -F '|' -v f="$filter" -v o="${option%%=*}" '
            $1 == f && $2 == o { print $3 == "boolean" ? "0 1" : substr($3, 2) }' <<< "$_gpume_table")
    fi
    # bash replaces the text after the last character that ends words
    current=${line##*[$COMP_WORDBREAKS]}
    [[ $current == *"$target" ]] || current=$target
    COMPREPLY=($(compgen -P "${current%"$target"}" -S "$suffix" -W "$replies" -- "$target"))
    compopt -o nospace
}
complete -o default -F _gpume ffmpeg ffplay ffmpeg-gpume ffplay-gpume
END
}

manual() {
    doc=$1
    table > "$tmp/table"
    {
        echo '\input texinfo @c -*- texinfo -*-'
        echo '@setfilename gpume'
        echo '@settitle FFmpeg filters for motion estimation and its uses'
        echo '@chapter Synopsis'
        echo '@example'
        for filter in $filters; do
            echo "ffmpeg -i input -vf ${filter}[=option=value[:option=value...]] output"
        done
        echo '@end example'
        echo '@chapter Description'
        echo 'Filters of FFmpeg that search the motion between the frames of a video, and that use it.'
        echo
        echo '@table @samp'
        for filter in $filters; do
            help "$filter"
            sed -n "1,2{ s/^Filter \(.*\)/@item \1/; s/^  *//; p; }" "$tmp/help"
        done
        echo '@end table'
        for filter in $filters; do
            sed "s/^@section /@chapter /; s/^@subsection /@section /" "$top/doc/$filter.texi"
        done
        echo '@chapter Options at a glance'
        echo '@table @option'
        awk -F '|' '{ gsub(/[@{}]/, "@&") }
            $3 !~ /^=/ { print "@item " $1 ": " $2; print $4; print ""; next }
                       { print "@samp{" substr($3, 2) "}" ($4 == "" ? "" : ": " $4); print "" }' "$tmp/table"
        echo '@end table'
        echo '@bye'
    } > "$tmp/gpume.texi"
    perl "$doc/texi2pod.pl" -Dconfig-not-all=yes "$tmp/gpume.texi" "$tmp/gpume.pod"
    # without git, pod2man takes the date of its input
    date=$(git -C "$top" log -1 --format=%cs 2> /dev/null) || date=
    pod2man --section=7 --center='FFmpeg filters' --release=gpume ${date:+"--date=$date"} --name=GPUME "$tmp/gpume.pod"
}

case $1 in
    table)      table ;;
    completion) completion ;;
    manual)     manual "${3:?DOC}" ;;
    *)          echo "options.sh: unknown '$1'" >&2; exit 1 ;;
esac
