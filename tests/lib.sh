# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the test scripts first, with their arguments; they run in $top, the repository. Each result is one line in
# the file $results, their first argument:
#   ok NAME / FAIL NAME (why) / skipped NAME (why)

LC_ALL=C
export LC_ALL
cd "$top" || exit
results=${1-}
. "$top/tools/common.sh"

# fresh FOLDER: makes an empty folder
fresh() {
    rm -rf "$1"
    mkdir -p "$1"
}

ok() { printf 'ok %s\n' "$1" >> "$results"; }
fail() { printf 'FAIL %s (%s)\n' "$1" "$2" | tee -a "$results"; }
skip() { printf 'skipped %s (%s)\n' "$1" "$2" | tee -a "$results"; }

# check NAME WHY COMMAND...: ok if the command succeeds, else FAIL with WHY.
check() {
    name=$1
    why=$2
    shift 2
    if "$@"; then
        ok "$name"
    else
        fail "$name" "$why"
    fi
}

# check_links NAME DIR: checks that every link in the documents of DIR leads to a file
check_links() {
    (
        cd "$2" && find . -name '*.md' | while read -r f; do
            sed -n 's/](/\
](/gp' "$f" | sed -n 's/^](\([^)#]*\).*/\1/p' | grep -v '^[a-z]*:' | sort -u | while read -r link; do
                [ -z "$link" ] && continue
                echo "$f: $link" >&3
                [ -e "$(dirname "$f")/$link" ] || echo "$f: $link"
            done
        done
    ) > "$top/build/results/links.dead" 3> "$top/build/results/links"
    check "$1" "not there: $(paste -s -d ' ' "$top/build/results/links.dead")" \
        test -s "$top/build/results/links" -a ! -s "$top/build/results/links.dead"
}

# has_cuda OBJ: succeeds if FFmpeg was configured there with a compiler for kernels
has_cuda() {
    grep -q -e '^CONFIG_CUDA_LLVM=yes' -e '^CONFIG_CUDA_NVCC=yes' "$1/ffbuild/config.mak" 2>/dev/null
}

# combinations KIND OPTIONS...: prints every search of the table's kind (FULL, PATTERN,
# PREDICTIVE, HIERARCHICAL) with each of the options, as gpume's algo= takes it
combinations() {
    kind=$1
    shift
    for algo in $("$top/tools/searches.sh" "$kind"); do
        for options; do
            printf '%s:%s\n' "$algo" "$options"
        done
    done
}

# branches BEFORE OPTIONS FOLDER SEARCH...: prints a graph that runs all searches on the same frames in one process and
# writes vectors to FOLDER/1.npy and so on. The output has the frames of the last search
branches() {
    before=$1
    options=$2
    folder=$3
    shift 3
    n=0
    split=
    filters=
    for search; do
        n=$((n + 1))
        split="${split}[s$n]"
        filters="${filters};[s$n]gpume=algo=$search$options:mv_file=$folder/$n.npy"
        [ $n = $# ] || filters="$filters,nullsink"
    done
    printf '%s' "${before}split=$n$split$filters"
}

# same_vectors NAME FOLDER OTHER SEARCH...: checks that two such graphs found the same vectors
same_vectors() {
    what=$1
    one=$2
    other=$3
    shift 3
    n=0
    for search; do
        n=$((n + 1))
        check "$what/$search" "vectors differ" \
            eval "[ \"\$(wc -c < '$one/$n.npy')\" -gt 128 ] && cmp -s '$one/$n.npy' '$other/$n.npy'"
    done
}
