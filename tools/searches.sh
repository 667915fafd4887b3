#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the table of searches, core/searches.h, for scripts, makefiles and documents. FATE uses a copy in FFmpeg's
# tree.
#
# usage: searches.sh [KIND]     the names of all searches, or of a kind: FULL, PATTERN, PREDICTIVE, HIERARCHICAL
#        searches.sh -t         a line each: name|kind|title|paper|other names
#        searches.sh --update   writes names, titles and papers into the tables of doc/searches.md
#                               and doc/gpume.texi; the measurements in these tables stay
#        searches.sh --check    prints what --update would change, and searches that doc/gpume.texi lacks

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
header=$top/core/searches.h

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

# generated FILE: prints the file with an updated table. Fails if the file has no table.
generated() {
    table | awk -v texi="$(case $1 in *.texi) echo 1 ;; esac)" '
        function trim(s) { gsub(/^ +| +$/, "", s); return s }
        function cell(s) { return s == "" ? " |" : " " s " |" }
        # the first column has the name as the document writes names
        function called(i,  s, k, n, other) {
            s = texi ? "@samp{" name[i] "}" : "`" name[i] "`"
            n = split(texi ? "" : others[i], other, " ")
            for (k = 1; k <= n; k++)
                s = s ", `" other[k] "`"
            return s
        }
        function write_table(  i, f) {
            for (i = 1; i <= n; i++) {
                split(figures[name[i]], f, "\t")
                if (texi)
                    print trim("@item " called(i) " @tab" (paper[i] == "" ? "" : " " paper[i]) \
                               " @tab" (f[1] == "" ? "" : " " f[1]) " @tab" (f[2] == "" ? "" : " " f[2]))
                else
                    print "|" cell(called(i)) cell(title[i]) cell(paper[i]) cell(f[1]) cell(f[2])
            }
            inside = 0
            found  = 1
        }
        FNR == NR {
            split($0, row, "|")
            name[++n] = row[1]
            title[n]  = row[3]
            sub(/ search$/, "", title[n])
            paper[n]  = row[4]
            others[n] = row[5]
            next
        }
        inside && (texi ? !/^@item/ : !/^\|/) { write_table() }
        inside && (texi || !/^\| ---/) {
            k = split($0, column, texi ? "@tab" : "|")
            first = column[texi ? 1 : 2]
            gsub(/@item|@samp|[{}`]|,.*/, "", first)
            figures[trim(first)] = trim(column[texi ? 3 : 5]) "\t" trim(column[texi ? 4 : 6])
            next
        }
        /^\| `algo` \| search \| published by / || /^@headitem search @tab published by / { inside = 1 }
        { print }
        END { exit !found }' - "$top/$1"
}

# undescribed: searches that the list of values in the texi page leaves out
undescribed() {
    table | sed 's/|.*|/ /' | while read -r names; do
        for item in $names; do
            grep -qx "@item $item" "$top/doc/gpume.texi" || echo "doc/gpume.texi has no '@item $item'"
        done
    done
}

documents='doc/searches.md doc/gpume.texi'
case ${1-} in
    -t)
        table
        ;;
    --update)
        for f in $documents; do
            new=$top/$f.new
            generated "$f" > "$new" || { rm -f "$new"; echo "$f has no table of searches" >&2; exit 1; }
            if cmp -s "$new" "$top/$f"; then rm -f "$new"; else mv "$new" "$top/$f"; fi
        done
        ;;
    --check)
        differences=$({
            for f in $documents; do
                { generated "$f" || echo "no table of searches"; } | diff "$top/$f" - |
                    sed -n "s,^[<>] \(.*\),$f: differs from core/searches.h: \1,p"
            done
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
