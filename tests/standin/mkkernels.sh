#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes a source that includes a file of kernels and registers every kernel in it. The
# kernels are found in the preprocessor's output, which includes those made by macros.
#
# usage: mkkernels.sh SOURCE.cu OUTPUT COMPILER FLAG...

set -eu
LC_ALL=C
export LC_ALL
source=$1
output=$2
shift 2
tmp=$output.tmp$$
trap 'rm -f "$tmp"' EXIT

"$@" -DSTANDIN_LIST_KERNELS -E -P -x c++ "$source" > "$tmp.i" || { rm -f "$tmp.i"; exit 1; }
# a kernel's name follows 'standin_global void', unless 'template<...>' precedes it
tr '\n' ' ' < "$tmp.i" | sed 's/standin_global /\
&/g' | awk '
    { ends = $0 ~ />[ ]*$/ }
    !template && /^standin_global +void +[A-Za-z_][A-Za-z0-9_]* *\(/ {
        sub(/^standin_global +void +/, "")
        sub(/ *\(.*/, "")
        print
    }
    { template = ends }
' > "$tmp"
rm -f "$tmp.i"
if [ ! -s "$tmp" ]; then
    echo "mkkernels.sh: no '__global__ void' in $source" >&2
    exit 1
fi
{
    printf '#include "%s"\n' "$source"
    sed 's/.*/STANDIN_KERNEL(&)/' "$tmp"
    echo
} > "$output.new"
mv -f "$output.new" "$output"
