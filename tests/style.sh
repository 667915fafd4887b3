#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks the repository's text files: white space, line lengths, licences, script syntax,
# no names of package mirrors, commit subjects.
#
# usage: tests/style.sh RESULTS

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"

work=build/check/style
fresh "$work"

if ! have git || ! git rev-parse --git-dir >/dev/null 2>&1; then
    skip style "this is not a git checkout"
    exit
fi
git ls-files > $work/all
while read -r f; do
    if [ -f "$f" ]; then
        printf '%s\n' "$f"
    fi
done < $work/all | grep -vE '^(patches/.*\.patch|LICENSE|fate-refs/.*|tests/fuzz/corpus/.*)$|\.(png|jpg|jpeg|mkv|hevc)$' > $work/text
grep -E '\.([ch]|cu|cuh)$' $work/text > $work/c
xargs grep -lE '^#!.*/(env )?(ba)?sh' < $work/text > $work/scripts
grep -E '\.sh$' $work/text >> $work/scripts
sort -u -o $work/scripts $work/scripts

# none NAME LIST PATTERN: checks that no line of the files in LIST matches.
none() {
    xargs grep -HnE "$3" < "$2" > $work/out
    check "style/$1" "$(sed -n 1p $work/out | cut -c 1-100)" test ! -s $work/out
}

tab=$(printf '\t')
cr=$(printf '\r')
cat $work/c $work/scripts > $work/no-tabs
grep -E '\.(cpp|py|md|texi)$' $work/text >> $work/no-tabs
none no-tabs-for-indent $work/no-tabs "^ *$tab"
none no-trailing-space $work/text "[ $tab]\$"
none no-carriage-return $work/text "$cr"
none lines-of-120-at-most $work/c '^.{121}'
# written so that this file does not match
none no-mirror $work/text "(deb|ftp|security|snapshot|archive)[.][a-z.]*(debian|ubuntu)[.](org|com)"

# Prose is wrapped; tables, code, headings and what has no blank to break at are not. Without their later bytes, the
# letters of UTF-8 are counted.
grep -E '\.md$' $work/text | while read -r f; do
    tr -d '\200-\277' < "$f" | awk -v name="$f" '
        /^ *(```|~~~)/ { code = !code }
        length > 100 && !code && !/^ *[|<#>]|^!\[/ && !(blank && /^    /) {
            text = substr($0, 1, 101)
            sub(/^ *([-*+]|[0-9]+\.)? */, "", text)
            gsub(/`[^`]*`|`[^`]*$/, "x", text)
            if (text ~ / /)
                print name ":" FNR ": " $0
        }
        { blank = !NF }'
done > $work/out
check style/prose-of-100-at-most "$(sed -n 1p $work/out | cut -c 1-100)" test ! -s $work/out

while read -r f; do
    if [ -s "$f" ] && [ "$(tail -c 1 "$f" | od -An -c | tr -d ' ')" != '\n' ]; then
        echo "$f"
    fi
done < $work/text > $work/out
check style/final-newline "$(sed -n 1p $work/out)" test ! -s $work/out

xargs grep -LE 'GNU Lesser General Public|SPDX-License-Identifier: LGPL-2.1-or-later' \
    < $work/c > $work/out
{
    cat $work/scripts
    grep -E '(^|/)Makefile$|\.mak$|\.py$' $work/text
} | xargs grep -L 'SPDX-License-Identifier: LGPL-2.1-or-later' >> $work/out
check style/licence-notice "$(sed -n 1p $work/out)" test ! -s $work/out

shells='sh'
if have dash; then
    shells='sh dash'
fi
while read -r f; do
    case $(sed -n 1p "$f") in
        *bash*) bash -n "$f" ;;
        *)      for shell in $shells; do "$shell" -n "$f"; done ;;
    esac
done < $work/scripts > $work/out 2>&1
check style/scripts-parse "$(sed -n 1p $work/out)" test ! -s $work/out

if have shellcheck; then
    # SC1090, SC1091: sourced files are checked by themselves
    xargs shellcheck -e SC1090,SC1091 -f gcc < $work/scripts > $work/out 2>&1
    check style/shellcheck "$(sed -n 1p $work/out)" test ! -s $work/out
else
    skip style/shellcheck "there is no shellcheck"
fi

# the table that a stranger reads first has each folder with sources
sed -n 's,/[^/]*\.\(c\|cu\|py\)$,,p' $work/text | grep -vE '^(tests|bench|examples|tools)|/(x86|aarch64)$' | sed 's,/.*,,' | sort -u |
while read -r folder; do
    if ! grep -qF "| \`$folder/\` |" doc/architecture.md; then
        echo "doc/architecture.md has no row for $folder/"
    fi
done > $work/out
check style/architecture "$(sed -n 1p $work/out)" test ! -s $work/out

# a file says what it is for at its head, or the header of its name does
grep -E '^([a-z]*|python/gpume)/[^/]*\.(c|cu|cuh|h|py)$' $work/text |
    grep -vE '^(tests|bench|examples|tools)/|/_version\.py$|_template\.c$' |
    xargs grep -LE '^[ /]\*+ @file|^"""' | while read -r f; do
    if ! grep -qs '^ \* @file' "${f%.*}.h"; then
        echo "$f has no @file comment"
    fi
done > $work/out
check style/heads "$(sed -n 1p $work/out)" test ! -s $work/out

grep -nE '^\+?#include ["<]libavfilter' codec/* patches/*/*-avcodec-*.patch > $work/out || :
check style/libavcodec-without-libavfilter "$(sed -n 1p $work/out)" test ! -s $work/out

# what the README claims was measured
if have python3; then
    python3 tests/claims.py README.md doc/performance.md > $work/out 2>&1
    check style/claims "$(sed -n 1p $work/out)" test ! -s $work/out
else
    skip style/claims "there is no python3"
fi

tools/searches.sh --check > $work/out
check style/searches "$(sed -n 1p $work/out)" test ! -s $work/out

git log --no-merges --format=%s 2>/dev/null > $work/subjects
grep -vE '^[A-Za-z0-9._/,+ -]+: [^ ].*[^. ]$' $work/subjects > $work/out
grep -E '^.{101}' $work/subjects >> $work/out
check style/commit-subjects "$(sed -n 1p $work/out)" test ! -s $work/out
