#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The table of searches, core/searches.h, for scripts and makefiles.
#
# usage: searches.sh [KIND]     the names, of FULL, PATTERN or PREDICTIVE ones or of all
#        searches.sh -t         a line each: name|kind|title|paper

set -eu
header=$(dirname "$0")/../core/searches.h

# the rows of the macro, a line each; no title or paper has a quotation mark
table() {
    sed -n '/define GPUME_SEARCHES_AND_ALIASES/,/[^\\]$/p' "$header" |
        sed 's/ *\\$//' | { tr '\n' ' '; echo; } | sed 's/ S(/\
S(/g' | sed -n 's/^S(\([A-Z0-9]*\), *\([a-z0-9]*\), *\([A-Z]*\), *"\([^"]*\)", *"\([^"]*\)".*/\2|\3|\4|\5/p'
}

if [ "${1-}" = -t ]; then
    table
else
    table | sed -n "s/^\([^|]*\)|${1:-[A-Z]*}|.*/\1/p"
fi
