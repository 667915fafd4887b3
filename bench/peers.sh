# shellcheck shell=sh disable=SC2154,SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced after lib.sh by the benchmarks that compare pictures with those of others: Python with
# packages in $out/venv, MVTools, an ffmpeg with libvmaf.

# can_vmaf PROGRAM: whether it measures VMAF; sets 'why' if not.
can_vmaf() {
    if ! "$1" -hide_banner -filters > "$out/meter.log" 2>&1; then
        why="it does not run"
    elif ! grep -q ' libvmaf ' "$out/meter.log"; then
        why="it has no libvmaf"
    elif ! head -c 49152 /dev/zero | "$1" -v error -f rawvideo -pixel_format yuv420p -video_size 128x128 -i - \
            -filter_complex "split,libvmaf=log_fmt=json:log_path=$out/vmaf.json" -fps_mode passthrough \
            -f null - > "$out/meter.log" 2>&1; then
        why="it fails, see $out/meter.log"
    elif ! grep -q pooled_metrics "$out/vmaf.json"; then
        why="its libvmaf is older than version 2"
    else
        return 0
    fi
    return 1
}

# take_meter PROGRAM: sets $meter to METER, or to this ffmpeg, and $vmaf to --vmaf if it can measure that.
take_meter() {
    meter=${METER:-$1}
    vmaf=
    if can_vmaf "$meter"; then
        vmaf=--vmaf
    elif [ "${METER:-}" ]; then
        die "METER: $METER cannot measure VMAF: $why"
    else
        say "left out: VMAF, $meter: $why (METER=PROGRAM takes another ffmpeg)"
    fi
}

# Sets $python to that of a virtual environment, made of PYTHON, and $version. Where there can be none,
# to PYTHON itself, with what it has.
take_python() {
    python=${PYTHON:-python3}
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
        die "PYTHON: cannot run $python"
    venv=$out/venv
    if [ "$("$venv/bin/python" --version 2>&1)" != "$("$python" --version 2>&1)" ]; then
        rm -rf "$venv"
        if ! "$python" -m venv --system-site-packages "$venv" > "$out/pip.log" 2>&1; then
            rm -rf "$venv"
            say "left out: packages that $python does not have, and it makes no virtual environments (Debian's package: python3-venv)"
            venv=
        fi
    fi
    python=${venv:+$venv/bin/}${venv:+python}
    python=${python:-${PYTHON:-python3}}
    export MPLCONFIGDIR="$out/.matplotlib"
}

# package CODE PACKAGE...: has pip install what this code wants, unless it is there.
package() {
    code=$1
    shift
    if ! "$python" -c "$code" 2>/dev/null; then
        [ -n "$venv" ] && "$python" -m pip install -q --disable-pip-version-check --retries 1 --only-binary :all: \
            "$@" > "$out/pip.log" 2>&1 && "$python" -c "$code" >> "$out/pip.log" 2>&1
    fi
}

# Has MVTools installed where that is possible.
take_mvtools() {
    if ! package "import vapoursynth; vapoursynth.core.mv" vapoursynth vapoursynth-mvtools; then
        case $version in
            2.* | 3.? | 3.1[01]) why="it needs Python 3.12 or newer (PYTHON=PROGRAM), this is $version" ;;
            *)                   why="pip cannot install it for Python $version, see $out/pip.log" ;;
        esac
        say "left out: MVTools, $why"
    fi
}
