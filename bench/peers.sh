# shellcheck shell=sh disable=SC2154,SC2034
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced after lib.sh by the benchmarks that compare pictures with those of other programs. Provides
# Python with packages in $out/venv, MVTools, and an ffmpeg with libvmaf.

# can_vmaf PROGRAM: returns whether the ffmpeg PROGRAM can measure VMAF. If not, sets $why.
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
        say "left out: VMAF, because $meter cannot measure it: $why (METER=PROGRAM uses another ffmpeg)"
    fi
}

# Sets $python to the interpreter of a virtual environment of PYTHON, and $version to its version. If
# there can be no virtual environment, sets $python to PYTHON itself.
take_python() {
    python=${PYTHON:-python3}
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
        die "PYTHON: cannot run $python"
    venv=$out/venv
    if [ "$("$venv/bin/python" --version 2>&1)" != "$("$python" --version 2>&1)" ]; then
        rm -rf "$venv"
        if ! "$python" -m venv --system-site-packages "$venv" > "$out/pip.log" 2>&1; then
            rm -rf "$venv"
            say "left out: packages that $python lacks, because it cannot make virtual environments (Debian's package: python3-venv)"
            venv=
        fi
    fi
    python=${venv:+$venv/bin/}${venv:+python}
    python=${python:-${PYTHON:-python3}}
    export MPLCONFIGDIR="$out/.matplotlib"
}

# package CODE PACKAGE...: installs the packages with pip, unless the Python code CODE already runs.
package() {
    code=$1
    shift
    if ! "$python" -c "$code" 2>/dev/null; then
        [ -n "$venv" ] && "$python" -m pip install -q --disable-pip-version-check --retries 1 --only-binary :all: \
            "$@" > "$out/pip.log" 2>&1 && "$python" -c "$code" >> "$out/pip.log" 2>&1
    fi
}

# take_plugins NAMES: installs the plugins of VapourSynth that are among the names, if that is possible.
take_plugins() {
    for plugin in MVTools:mv:vapoursynth-mvtools V-BM3D:bm3d:vapoursynth-bm3d; do
        name=${plugin%%:*}
        space=${plugin#*:}
        case $1 in
            *"$name"*) ;;
            *) continue ;;
        esac
        package "import vapoursynth; vapoursynth.core.${space%:*}" vapoursynth "${plugin##*:}" && continue
        case $version in
            2.* | 3.? | 3.1[01]) why="it needs Python 3.12 or newer, and this is $version (PYTHON=PROGRAM uses another)" ;;
            *)                   why="pip cannot install it for Python $version, see $out/pip.log" ;;
        esac
        say "left out: $name: $why"
    done
}
