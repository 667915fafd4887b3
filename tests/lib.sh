# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the test scripts. Each result is one line in the file $results:
#   ok NAME / FAIL NAME (why) / skipped NAME (why)

. "$top/tools/common.sh"

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

# has_cuda OBJ: FFmpeg was configured there with a compiler for kernels
has_cuda() {
    grep -q -e '^CONFIG_CUDA_LLVM=yes' -e '^CONFIG_CUDA_NVCC=yes' "$1/ffbuild/config.mak" 2>/dev/null
}
