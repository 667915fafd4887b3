#!/bin/sh
# shellcheck disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the wheels on their target systems, in empty environments of bare Debians. Each part first
# makes its wheel with the Makefile.
#
# usage: tests/wheels.sh RESULTS SERIES [PART...]     without PART: python and vapoursynth, and others without QUICK
#   python       the package gpume in Debian 13, without QUICK also in 12: installed, pytest, mypy, uninstalled
#   vapoursynth  the plugin in Debian 13: installed beside other plugins, pytest, uninstalled
#   others       the contents of wheels for 64-bit Arm and Windows. The wheels for Arm are installed and tested in a
#                Debian 13 that QEMU runs. Neither Debian nor PyPI has a Python for Windows: Wine runs the programs and
#                loads the plugin, and the package runs on this system's Python
#
# WHEELS_RELEASES names the releases of the part python, WHEELS_CROSS the systems of the part others.
# pip in the bare Debian uses the certificates of PIP_CERT, of /etc/pip.conf or of this system.

set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/lib.sh"
series=$2
shift 2
. tests/chroot.sh

begin wheels
quick=${QUICK-}

# room RELEASE ARCHITECTURE: sets $root to a bare Debian with an empty environment in /env
room() {
    release=$1
    root=$work/$release-$2
    if ! bare_new "$release" "$2" "$root" >> "$log" 2>&1; then
        fail "wheels/$release" "debootstrap failed; see $bare_folder/$release-$2.log"
        return 1
    fi
    cert=${PIP_CERT:-$(sed -n 's/^cert *= *//p' /etc/pip.conf 2> /dev/null)}
    cp "${cert:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/pip.pem"
    printf '[global]\ncert = /etc/pip.pem\n' > "$root/etc/pip.conf"
    mkdir -p "$root/test"
    inside "$root" apt-get -q install -y --no-install-recommends python3-venv >> "$log" 2>&1 &&
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

# suite NAME FOLDER OPTIONS...: runs pytest's tests in FOLDER
suite() {
    suite=$1
    rm -rf "$root/test"
    cp -r "$2" "$root/test"
    cp tests/clips/h264.mkv "$root/test/"
    shift 2
    in_env python -m pytest -q -p no:cacheprovider "$@"
    check "wheels/$suite/pytest" "$(grep -E '^(FAILED|ERROR)' "$work/said" | head -n 3 | paste -s -d ' ') $said; see $log" test $? = 0
    say "$suite: $said"
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

# with_filters RELEASE: PyAV there gets the filter gpume, if its FFmpeg is of the release that is built here
with_filters() {
    make SERIES="$series" vapoursynth > "$work/made" 2>&1
    python3 tests/pyav_filters.py "$root"/env/lib/python3*/site-packages/av.libs "build/$series-plugin" > "$work/said" 2>&1
    case $? in
        0) ok "wheels/python-$1/pyav-filters" ;;
        2) skip "wheels/python-$1/pyav-filters" "$(cat "$work/said")" ;;
        *) fail "wheels/python-$1/pyav-filters" "$(tail -n 1 "$work/said")" ;;
    esac
}

part_python() {
    made wheel || return
    check wheels/size "$(stat -c %s "$file") bytes are more than 12 MiB" test "$(stat -c %s "$file")" -le 12582912
    for release in ${WHEELS_RELEASES-trixie $([ -n "$quick" ] || echo bookworm)}; do
        room "$release" amd64 || continue
        # shellcheck disable=SC2046  # a word or none
        in_env python -m pip install -q numpy pandas pytest auditwheel mypy tqdm $([ -n "$quick" ] || echo av)
        check "wheels/$release/peers" "$said; see $log" test $? = 0
        [ -n "$quick" ] || with_filters "$release"
        cp "$file" tests/clips/h264.mkv tests/clips/av1.mkv "$root/test/"
        files_of > "$work/before"
        tagged "python-$release" "$file"
        in_env python -m venv /fresh
        since=$(date +%s.%N)
        inside "$root" sh -c 'cd /test && /fresh/bin/pip install -q ./*.whl && /fresh/bin/python -c "
import gpume
field = next(gpume.vectors(\"h264.mkv\"))
print(\"first array:\", field.mv.shape)"' > "$work/said" 2>&1
        check "wheels/python-$release/first-array" "$(tail -n 1 "$work/said")" grep -q '^first array' "$work/said"
        say "$release: from pip install to the first array: $(seconds "$since") s"
        in_env python -m pip install -q "./$(basename "$file")"
        check "wheels/python-$release/installed" "$said; see $log" test $? = 0
        in_env python -c "import os, sys; sys.exit(os.path.exists('/env/bin/ffmpeg') or os.path.exists('/env/bin/ffprobe'))"
        check "wheels/python-$release/no-ffmpeg-on-the-path" "there is one" test $? = 0
        in_env gpume --help
        check "wheels/python-$release/entry-point" "$said; see $log" test $? = 0
        in_env pip show gpume
        check "wheels/python-$release/metadata" "$(cat "$work/said")" eval "grep -q '^Author: .*gpume' '$work/said'"
        in_env python -c "import gpume; print('AV1:', len(list(gpume.vectors('av1.mkv', device='cpu'))))"
        check "wheels/python-$release/av1" "$said" grep -qx 'AV1: 5' "$work/said"
        in_env python -c "import gpume, subprocess; subprocess.run([gpume.ffmpeg_exe(), '-v', 'error', '-i', 'h264.mkv', '-c:v',
            'libopenh264', '-b:v', '4M', 'out.mp4'], check=True)"
        check "wheels/python-$release/h264" "$said" test $? = 0 -a -s "$root/test/out.mp4"
        cp -r python/examples "$root/opt/examples"
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
    room trixie amd64 || return
    in_env python -m pip install -q numpy pytest auditwheel av vapoursynth vapoursynth-mvutensils \
        vapoursynth-bestsource vsjetpack
    check wheels/vapoursynth/peers "$said; see $log" test $? = 0
    # Debian's FFMS2 comes with Debian's FFmpeg and a hundred other packages
    [ -n "$quick" ] || inside "$root" apt-get -q install -y --no-install-recommends libffms2-5 >> "$log" 2>&1
    check wheels/vapoursynth/ffms2 "see $log" test $? = 0
    cp "$file" "$root/test/"
    files_of > "$work/before"
    tagged vapoursynth "$file"
    in_env python -m pip install -q "./$(basename "$file")"
    check wheels/vapoursynth/installed "$said; see $log" test $? = 0
    # ffmpeg, for comparing frames
    mkdir -p "$root/opt/ffmpeg"
    cp "build/$series/obj/ffmpeg" examples/vectors-in-mvutensils.vpy examples/vsdenoise_vectors.py "$root/opt/ffmpeg/"
    # the stand-in for the driver and what it needs, for Deinterlace on a GPU
    # an older stand-in would have older kernels
    if [ -f build/standin/libcuda.so.1 ] && make -f tests/standin/standin.mak standin >> "$log" 2>&1; then
        mkdir "$root/opt/standin"
        cp build/standin/libcuda.so.1 "$(gcc -print-file-name=libstdc++.so.6)" "$(gcc -print-file-name=libgcc_s.so.1)" "$root/opt/standin/"
    fi
    suite vapoursynth vapoursynth/tests
    leaves vapoursynth vapoursynth-gpume
}

# has NAME WHEEL PATTERN...: checks that the wheel has these files
has() {
    whose=$1
    python3 -m zipfile -l "$2" > "$work/listed"
    shift 2
    for pattern; do
        check "wheels/$whose/${pattern##*/}" "there is no such file" grep -qE "^[^ ]*$pattern " "$work/listed"
    done
}

# on_arm: tests both wheels, $python and $plugin, in a Debian that QEMU runs. There pip takes ten minutes, so this
# system's pip installs, as for Arm.
on_arm() {
    if [ -n "$missing" ] || ! have qemu-aarch64-static; then
        skip wheels/aarch64/imported "${missing:-there is no qemu-aarch64-static}"
        return
    fi
    root=$work/trixie-arm64
    bare_new trixie arm64 "$root" >> "$log" 2>&1 &&
        inside "$root" apt-get -q install -y --no-install-recommends python3 >> "$log" 2>&1
    check wheels/aarch64/room "see $log and $bare_folder/trixie-arm64.log" test $? = 0
    "$work/env/bin/pip" install -q --ignore-requires-python --no-compile --target "$root/site" --python-version 3.13 \
        --implementation cp --abi cp313 --abi abi3 --abi none --only-binary :all: --platform manylinux_2_36_aarch64 \
        --platform manylinux_2_35_aarch64 --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
        numpy pytest vapoursynth "$python" "$plugin" >> "$log" 2>&1
    check wheels/aarch64/installed "see $log" test $? = 0
    mkdir -p "$root/env/bin" "$root/opt/ffmpeg"
    printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/site exec /usr/bin/python3 "$@"\n' > "$root/env/bin/python"
    chmod +x "$root/env/bin/python"
    suite aarch64-python python/tests -k 'same_as_file or direction or estimator or records or syntax'
    cp "build/$series-aarch64/obj/ffmpeg" "$root/opt/ffmpeg/"
    suite aarch64-vapoursynth vapoursynth/tests -k 'vectors or cuts or properties'
    rm -rf --one-file-system "$root"
}

# on_windows: programs and plugin of both wheels, which are unpacked, under Wine
on_windows() {
    if ! have wine; then
        skip wheels/windows/run "there is no wine"
        return
    fi
    for name in ffmpeg ffprobe; do
        printf '#!/bin/sh\nexec "%s/tests/wine.sh" "%s/python/gpume/bin/%s.exe" "$@"\n' "$top" "$work" $name > "$work/$name"
        chmod +x "$work/$name"
    done
    "$work/ffmpeg" -version > /dev/null 2>&1
    # GPUME_FFMPEG is a program for Windows, on a system that is not
    (cd python/tests && PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1 GPUME_WINE=1 GPUME_FFMPEG=$work/ffmpeg GPUME_FFPROBE=$work/ffprobe \
        "$work/env/bin/python" -m pytest -q -p no:cacheprovider test_vectors.py test_convert.py \
        -k 'same_as_file or tree or direction or parts or estimator or errors or records or score or colours') > "$work/said" 2>&1
    check wheels/windows/pytest "$(grep -E '^(FAILED|ERROR)' "$work/said" | head -n 3 | paste -s -d ' '); see $log" test $? = 0
    cat "$work/said" >> "$log"
    say "windows, programs under Wine: $(grep . "$work/said" | tail -n 1)"
    dll=$work/vapoursynth/vapoursynth/plugins/gpume/gpume.dll
    x86_64-w64-mingw32-gcc -O1 -Wall -I"${VAPOURSYNTH_INCLUDE-build/vapoursynth}" tests/vapoursynth_load.c -o "$work/load.exe" \
        >> "$log" 2>&1 && tests/wine.sh "$work/load.exe" "$dll" 2> /dev/null | tr -d '\r' > "$work/said"
    check wheels/windows/plugin-loads "$(cat "$work/said")" grep -qx 'Analyse AnalyseMany Deinterlace Denoise FPS Help SCDetect Vectors View' "$work/said"
    x86_64-w64-mingw32-objdump -p "$dll" | sed -n 's/.*DLL Name: //p' | grep -vixE '(bcrypt|kernel32|msvcrt|shell32|ole32|psapi|user32)\.dll' > "$work/dlls"
    check wheels/windows/plugin-dlls "it needs $(paste -s -d ' ' "$work/dlls")" test ! -s "$work/dlls"
}

part_others() {
    python3 -m venv "$work/env" && "$work/env/bin/pip" install -q numpy pytest >> "$log" 2>&1
    check wheels/others/peers "see $log" test $? = 0
    for cross in ${WHEELS_CROSS-aarch64 windows}; do
        case $cross in
            aarch64) compiler=aarch64-linux-gnu-gcc kind='ELF 64-bit.*aarch64' tag='manylinux_2_[0-9]*_aarch64' exe="" so=so ;;
            windows) compiler=x86_64-w64-mingw32-gcc kind='PE32\+.*x86-64' tag=win_amd64 exe=.exe so=dll ;;
        esac
        if ! have "$compiler"; then
            skip "wheels/$cross" "there is no $compiler"
            continue
        fi
        for target in wheel vapoursynth; do
            made "$target" "$cross" || continue 2
            check "wheels/$cross/$target/tag" "$(basename "$file")" eval "basename '$file' | grep -qE -- '-py3-none-$tag\\.whl\$'"
            case $target in
                wheel)       python=$file unpacked=$work/python binary=gpume/bin/ffmpeg$exe
                             set -- "bin/ffmpeg$exe" "bin/ffprobe$exe" py.typed ;;
                vapoursynth) plugin=$file unpacked=$work/vapoursynth binary=vapoursynth/plugins/gpume/gpume.$so
                             set -- "$binary" ;;
            esac
            has "$cross/$target" "$file" licenses/LICENSE licenses/SOURCE.txt "$@"
            rm -rf "$unpacked"
            python3 -m zipfile -e "$file" "$unpacked"
            chmod +x "$unpacked/$binary"
            check "wheels/$cross/$target/binary" "$(file -b "$unpacked/$binary")" \
                eval "file -b '$unpacked/$binary' | grep -qE '$kind'"
        done
        case $cross in
            aarch64) on_arm ;;
            windows) on_windows ;;
        esac
    done
}

# shellcheck disable=SC2046  # words
[ $# -gt 0 ] || set -- python vapoursynth $([ -n "$quick" ] || echo others)
run_parts others "$@"
