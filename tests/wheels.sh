#!/bin/sh
# shellcheck disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the wheels on their target systems, in empty environments of bare Debians. Each part first
# makes its wheel with the Makefile.
#
# usage: tests/wheels.sh RESULTS SERIES [PART...]     without PART: python and vapoursynth, and others without QUICK
#   python       the package gpume in Debian 13, without QUICK also in 12: installed, pytest, mypy, uninstalled
#   vapoursynth  the plugin in Debian 13: installed beside other plugins, pytest, uninstalled
#   others       the contents of wheels for 64-bit Arm and Windows
#
# WHEELS_RELEASES names the releases of the part python.
# If PIP_CERT is set, or /etc/pip.conf names a certificate, pip in the bare Debian uses it, too.

set -u
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit
results=$1
series=$2
shift 2
. tests/lib.sh
. tests/chroot.sh

missing=$(bare_missing)
quick=${QUICK-}
mkdir -p build/check build/results
work=$top/$(mktemp -d build/check/wheels.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM
log=$top/build/results/$(basename "$results" .txt).log
: > "$log"

# made TARGET [CROSS]: makes a wheel; sets $file to it
made() {
    echo "== make $1 ${2:+CROSS=$2}" >> "$log"
    make SERIES="$series" ${2:+"CROSS=$2"} "$1" > "$work/made" 2>&1
    status=$?
    cat "$work/made" >> "$log"
    file=$(sed -n 's/^\(\/.*\.whl\): [0-9.]*[KM].*/\1/p' "$work/made" | tail -n 1)
    check "wheels/${2:+$2-}$1" "$(tail -n 1 "$work/made")" test "$status" = 0 -a -f "$file"
    [ "$status" = 0 ] && say "$(tail -n 1 "$work/made")"
}

# room RELEASE PACKAGES...: sets $root to a bare Debian with these packages and an empty environment
# in /env
room() {
    release=$1
    shift
    root=$work/$release
    if ! bare_new "$release" amd64 "$root" >> "$log" 2>&1; then
        fail "wheels/$release" "debootstrap failed; see $bare_folder/$release-amd64.log"
        return 1
    fi
    cert=${PIP_CERT:-$(sed -n 's/^cert *= *//p' /etc/pip.conf 2> /dev/null)}
    if [ -n "$cert" ]; then
        cp "$cert" "$root/etc/pip.pem"
        printf '[global]\ncert = /etc/pip.pem\n' > "$root/etc/pip.conf"
    fi
    mkdir -p "$root/test"
    inside "$root" apt-get -q install -y --no-install-recommends python3-venv ca-certificates "$@" >> "$log" 2>&1 &&
        inside "$root" python3 -m venv /env >> "$log" 2>&1
    check "wheels/$release/room" "no environment; see $log" test $? = 0
}

# in_env COMMAND...: runs the command in the environment, in the folder of the tests; sets $said to
# its last line of output
in_env() {
    program=$1
    shift
    echo "== $program $*" >> "$log"
    inside "$root" sh -c 'cd /test && exec "$@"' sh "/env/bin/$program" "$@" > "$work/said" 2>&1
    status=$?
    cat "$work/said" >> "$log"
    said=$(grep . "$work/said" | tail -n 1)
    return $status
}

files_of() { (cd "$root/env" && find . ! -name '*.pyc' ! -name __pycache__ | sort); }

# suite NAME FOLDER: runs pytest's tests in FOLDER
suite() {
    rm -rf "$root/test"
    cp -r "$2" "$root/test"
    cp tests/clips/h264.mkv "$root/test/"
    in_env python -m pytest -q -p no:cacheprovider
    check "wheels/$1/pytest" "$(grep -E '^(FAILED|ERROR)' "$work/said" | head -n 3 | paste -s -d ' ') $said; see $log" test $? = 0
    say "$1: $said"
}

# leaves NAME WHEEL: checks that uninstalling the wheel removes all of its files
leaves() {
    in_env pip uninstall -q -y "$2"
    files_of > "$work/after"
    check "wheels/$1/nothing-left" "$(diff "$work/before" "$work/after" | sed -n 2p)" cmp -s "$work/before" "$work/after"
    rm -rf --one-file-system "$root"
}

# tagged NAME WHEEL: checks the wheel's tag against the libraries that it needs
tagged() {
    tag=$(basename "$2" .whl)
    tag=${tag##*-}
    in_env python -m auditwheel show "/test/$(basename "$2")"
    tr '\n' ' ' < "$work/said" > "$work/line"
    check "wheels/$1/auditwheel" "$tag, but: $(cut -c 1-300 "$work/line")" \
        grep -qF "consistent with the following platform tag: \"$tag\"" "$work/line"
}

part_python() {
    made wheel || return
    for release in ${WHEELS_RELEASES-trixie $([ -n "$quick" ] || echo bookworm)}; do
        room "$release" || continue
        in_env python -m pip install -q numpy pytest auditwheel mypy tqdm
        check "wheels/$release/peers" "$said; see $log" test $? = 0
        cp "$file" tests/clips/h264.mkv "$root/test/"
        files_of > "$work/before"
        tagged "python-$release" "$file"
        in_env python -m venv /fresh
        since=$(date +%s.%N)
        inside "$root" sh -c 'cd /test && /fresh/bin/pip install -q ./*.whl && /fresh/bin/python -c "
import gpume
field = next(gpume.vectors(\"h264.mkv\"))
print(\"first array:\", field.mv.shape)"' > "$work/said" 2>&1
        check "wheels/python-$release/first-array" "$(tail -n 1 "$work/said")" grep -q '^first array' "$work/said"
        say "$release: from pip install to the first array: $(awk -v a="$since" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }') s"
        in_env python -m pip install -q "./$(basename "$file")"
        check "wheels/python-$release/installed" "$said; see $log" test $? = 0
        in_env python -c "import os, sys; sys.exit(os.path.exists('/env/bin/ffmpeg') or os.path.exists('/env/bin/ffprobe'))"
        check "wheels/python-$release/no-ffmpeg-on-the-path" "there is one" test $? = 0
        suite "python-$release" python/tests
        in_env python -m mypy --strict -p gpume
        check "wheels/python-$release/mypy" "$said; see $log" test $? = 0
        cp -r python/examples "$root/test/"
        for example in python/examples/*.py; do
            rm -f "$root/test/out.png"
            in_env python "examples/${example##*/}" h264.mkv out.png
            check "wheels/python-$release/${example##*/}" "$said" test $? = 0 -a -s "$root/test/out.png" -a "$(wc -l < "$example")" -le 40
        done
        leaves "python-$release" gpume
    done
}

part_vapoursynth() {
    made vapoursynth || return
    room trixie || return
    in_env python -m pip install -q numpy pytest auditwheel vapoursynth vapoursynth-mvutensils vapoursynth-bestsource
    check wheels/vapoursynth/peers "$said; see $log" test $? = 0
    cp "$file" "$root/test/"
    files_of > "$work/before"
    tagged vapoursynth "$file"
    in_env python -m pip install -q "./$(basename "$file")"
    check wheels/vapoursynth/installed "$said; see $log" test $? = 0
    # ffmpeg, for comparing frames
    mkdir -p "$root/opt/ffmpeg"
    cp "build/$series/obj/ffmpeg" "$root/opt/ffmpeg/"
    suite vapoursynth vapoursynth/tests
    leaves vapoursynth vapoursynth-gpume
}

# has NAME WHEEL PATTERN...: checks that the wheel has these files
has() {
    name=$1
    python3 -m zipfile -l "$2" > "$work/listed"
    shift 2
    for pattern; do
        check "wheels/$name/${pattern##*/}" "there is no such file" grep -qE "^[^ ]*$pattern " "$work/listed"
    done
}

part_others() {
    for cross in aarch64 windows; do
        case $cross in
            aarch64) compiler=aarch64-linux-gnu-gcc kind='ELF 64-bit.*aarch64' tag='manylinux_2_[0-9]*_aarch64' exe="" so=so ;;
            windows) compiler=x86_64-w64-mingw32-gcc kind='PE32\+.*x86-64' tag=win_amd64 exe=.exe so=dll ;;
        esac
        if ! have "$compiler"; then
            skip "wheels/$cross" "there is no $compiler"
            continue
        fi
        for target in wheel vapoursynth; do
            made $target $cross || continue
            check "wheels/$cross/$target/tag" "$(basename "$file")" eval "basename '$file' | grep -qE -- '-py3-none-$tag\\.whl\$'"
            rm -rf "$work/unpacked"
            python3 -m zipfile -e "$file" "$work/unpacked"
            case $target in
                wheel)       has "$cross/$target" "$file" "bin/ffmpeg$exe" "bin/ffprobe$exe" py.typed licenses/LICENSE
                             binary=gpume/bin/ffmpeg$exe ;;
                vapoursynth) has "$cross/$target" "$file" licenses/LICENSE
                             binary=vapoursynth/plugins/gpume/gpume.$so ;;
            esac
            check "wheels/$cross/$target/binary" "$(file -b "$work/unpacked/$binary")" \
                eval "file -b '$work/unpacked/$binary' | grep -qE '$kind'"
        done
    done
}

# shellcheck disable=SC2046  # words
[ $# -gt 0 ] || set -- python vapoursynth $([ -n "$quick" ] || echo others)
for part; do
    case $part in
        others) ;;
        *) if [ -n "$missing" ]; then
               skip "wheels/$part" "$missing"
               continue
           fi ;;
    esac
    began=$(date +%s)
    "part_$part"
    say "wheels, $part: $(($(date +%s) - began)) s"
done
