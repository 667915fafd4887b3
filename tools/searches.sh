#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the table of searches, core/searches.h, for scripts, makefiles and documents. FATE uses a copy in FFmpeg's
# tree.
#
# usage: searches.sh [KIND]     the names of all searches, or of a kind: FULL, PATTERN, PREDICTIVE, HIERARCHICAL
#        searches.sh -t         a line each: name|kind|title|paper|other names
#        searches.sh --update   writes names and papers into the table of doc/gpume.texi; its measurements stay
#        searches.sh --check    prints what --update would change, and searches that doc/gpume.texi lacks

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
header=$top/core/searches.h
page=$top/doc/gpume.texi

# the rows of the macro, a line each; no title or paper has a quotation mark or a bar
rows() {
    sed -n '/define GPUME_SEARCHES_AND_ALIASES/,/[^\\]$/p' "$header" |
        sed 's/ *\\$//' | { tr '\n' ' '; echo; } | sed 's/ \([SA]\)(/\
\1(/g' | sed -n \
            -e 's/^S(\([A-Z0-9]*\), *\([a-z0-9]*\), *\([A-Z]*\), *"\([^"]*\)", *"\([^"]*\)".*/S|\1|\2|\3|\4|\5/p' \
            -e 's/^A(\([a-z0-9]*\), *\([A-Z0-9]*\),.*/A|\2|\1/p'
}

table() {
    rows | awk -F '|' '
        $1 == "S" { id[++n] = $2; row[n] = $3 "|" $4 "|" $5 "|" $6 }
        $1 == "A" { others[$2] = others[$2] (others[$2] == "" ? "" : " ") $3 }
        END { for (i = 1; i <= n; i++) print row[i] "|" others[id[i]] }'
}

# generated: prints doc/gpume.texi with an updated table. Fails if it has no table.
generated() {
    table | awk '
        function trim(s) { gsub(/^ +| +$/, "", s); return s }
        function cell(s) { return " @tab" (s == "" ? "" : " " s) }
        function write_table(  i, f) {
            for (i = 1; i <= n; i++) {
                split(figures[name[i]], f, "\t")
                print "@item @samp{" name[i] "}" cell(paper[i]) cell(f[1]) cell(f[2])
            }
            inside = 0
            found  = 1
        }
        FNR == NR {
            split($0, row, "|")
            name[++n] = row[1]
            paper[n]  = row[4]
            next
        }
        inside && !/^@item/ { write_table() }
        inside {
            split($0, column, "@tab")
            first = column[1]
            gsub(/@item|@samp|[{}]/, "", first)
            figures[trim(first)] = trim(column[3]) "\t" trim(column[4])
            next
        }
        /^@headitem search @tab published by / { inside = 1 }
        { print }
        END { exit !found }' - "$page"
}

# undescribed: searches that the list of values in the texi page leaves out
undescribed() {
    table | sed 's/|.*|/ /' | while read -r names; do
        for item in $names; do
            grep -qx "@item $item" "$page" || echo "doc/gpume.texi has no '@item $item'"
        done
    done
}

case ${1-} in
    -t)
        table
        ;;
    --update)
        generated > "$page.new" || { rm -f "$page.new"; echo "doc/gpume.texi has no table of searches" >&2; exit 1; }
        if cmp -s "$page.new" "$page"; then rm -f "$page.new"; else mv "$page.new" "$page"; fi
        ;;
    --check)
        differences=$({
            { generated || echo "no table of searches"; } | diff "$page" - |
                sed -n "s,^[<>] \(.*\),doc/gpume.texi: differs from core/searches.h: \1,p"
            undescribed
        })
        if [ -n "$differences" ]; then
            printf '%s\n' "$differences"
            exit 1
        fi
        ;;
    *)
        table | sed -n "s/^\([^|]*\)|${1:-[A-Z]*}|.*/\1/p"
        ;;
esac
