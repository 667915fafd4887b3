#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares the map of divergence of divergence_kernels.cu with the numbers in its comments, for several orders of
# threads.
#
# usage: divergence.sh PROGRAM LIBCUDA KERNELS.cu

set -eu
LC_ALL=C
export LC_ALL
map=$(mktemp)
trap 'rm -f "$map"' EXIT
for seed in 0 1 2 3; do
    GPUME_STANDIN_SEED=$seed GPUME_STANDIN_DIVERGENCE=$map "$1" "$2"
    awk -F, -v seed=$seed '
        FNR == NR {
            if (match($0, /expect [0-9]+ [0-9]+/))
                expected[FNR] = substr($0, RSTART + 7, RLENGTH - 7)
            next
        }
        $3 > 0 && $2 ~ /divergence_kernels/ { found[$3] = $4 " " $5 }
        END {
            for (line in expected)
                if (found[line] != expected[line]) {
                    print "FAIL line " line ", seed " seed ": visits and divergent visits are \"" found[line] \
                          "\", expected \"" expected[line] "\""
                    bad = 1
                }
            for (line in found)
                if (!(line in expected)) {
                    print "FAIL line " line ", seed " seed ": there is no branch, found \"" found[line] "\""
                    bad = 1
                }
            exit bad
        }' "$3" "$map"
done
echo "divergence: as expected"
