#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies the documents for users to DIR. They keep their folders, so that their links work.
#
# usage: documents.sh DIR

set -eu
cd "$(dirname "$0")/.."
dir=${1:?usage: documents.sh DIR}

for f in README.md CONTRIBUTING.md LICENSE doc/*.md doc/*.texi doc/*.jpg doc/*.png examples/* bench/README.md \
         python/README.md python/examples/* tests/README.md tests/fuzz/README.md tests/standin/README.md; do
    mkdir -p "$dir/$(dirname "$f")"
    rm -f "$dir/$f"
    cp "$f" "$dir/$f"
    case $f in
        examples/*.sh|examples/*.py|python/examples/*.py) chmod 755 "$dir/$f" ;;
        *)                           chmod 644 "$dir/$f" ;;
    esac
done
