# shellcheck shell=sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by fate-run.sh. A field of distance d equals the field of distance 1 in the clip of every d-th picture. This
# searches a clip with refs=8 and, in the same process, the clips of every d-th picture, and compares the rows for d = 1
# to 8.
#
# usage: gpume_refs SOURCE NAME OPTIONS...    (prints 'OPTIONS: distances that are the same')
gpume_refs() {
    source=$1
    tmp=tests/data/fate/$2
    shift 2
    for options; do
        graph="$source,split=9[a]"
        outputs="[a]gpume=$options:dir=both:refs=8:mv_file=$tmp-all.csv,nullsink"
        for d in 1 2 3 4 5 6 7 8; do
            graph="${graph}[s$d]"
            outputs="$outputs;[s$d]select=not(mod(n\,$d)),gpume=$options:dir=both:mv_file=$tmp-$d.csv"
            [ $d = 8 ] || outputs="$outputs,nullsink"
        done
        ffmpeg -lavfi "$graph;$outputs" -f null - || return
        same=
        for d in 1 2 3 4 5 6 7 8; do
            awk -F, -v OFS=, -v d=$d 'NR == 1 || (($2 == d || $2 == -d) && ($1 - 1) % d == 0) {
                    if (NR > 1) { $1 = ($1 - 1) / d + 1; $2 /= d }
                    print
                }' "$tmp-all.csv" > "$tmp-expected.csv"
            if [ "$(wc -l < "$tmp-$d.csv")" -gt 1 ] && cmp -s "$tmp-expected.csv" "$tmp-$d.csv"; then
                same="$same $d"
            fi
        done
        echo "$options:$same"
        rm -f "$tmp-all.csv" "$tmp-expected.csv" "$tmp"-[1-8].csv
    done
}
