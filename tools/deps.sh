#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Lists the missing programs and libraries that gpume needs for building, testing and
# playing, and installs them if the system has apt-get.
#
# usage: deps.sh [-n] CLASS...     (-n: list only)
# Exits with 1 if a package of the classes build, x86, aarch64 or windows is still missing at the end. For other classes
# it only prints a warning.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"

# class   check                 Debian package   what it is for
table='
build     cmd:gcc|cc            gcc              C compiler
build     inc:stdlib.h          libc6-dev        C library headers
build     cmd:make              make             GNU make
x86       cmd:nasm              nasm             assembler of the x86 code
build     cmd:pkg-config        pkg-config       finds libraries
build     cmd:patch             patch            applies patches/
build     cmd:xz                xz-utils         unpacks the sources
build     inc:zlib.h            zlib1g-dev       PNG pictures
cuda      cmd:clang             clang            compiles CUDA kernels without a CUDA toolkit
dav1d     cmd:meson             meson            builds dav1d, which decodes AV1
dav1d     cmd:ninja             ninja-build      builds dav1d, which decodes AV1
openh264  cmd:meson             meson            builds OpenH264, which encodes H.264
openh264  cmd:ninja             ninja-build      builds OpenH264, which encodes H.264
openh264  cmd:g++               g++              builds OpenH264, which encodes H.264
tests     cmd:g++               g++              the stand-in for the CUDA driver
tests     cmd:python3           python3          reads the vectors back
tests     python:numpy          python3-numpy    reads .npy files
tests     cmd:valgrind          valgrind         memory checks
tests     clang:-fsanitize=fuzzer   libclang-rt-dev   the fuzzers
bench     python:matplotlib     python3-matplotlib   draws the plots
gpl       pkg:x264              libx264-dev      the build under the GPL: libx264
bench-gpu cmd:x264              x264             makes an H.264 clip for the pipelines
mpi       cmd:mpicc             libopenmpi-dev   gpume-mpi: MPI
mpi       cmd:mpirun            openmpi-bin      gpume-mpi: starts its processes
slurm     cmd:/usr/sbin/munged     munge         tests of gpume-mpi under Slurm
slurm     cmd:/usr/sbin/slurmctld  slurmctld     tests of gpume-mpi under Slurm
slurm     cmd:/usr/sbin/slurmd     slurmd        tests of gpume-mpi under Slurm
slurm     cmd:sbatch            slurm-client     tests of gpume-mpi under Slurm
aarch64   cmd:aarch64-linux-gnu-gcc   gcc-aarch64-linux-gnu   C compiler for Arm
aarch64   file:/usr/aarch64-linux-gnu/include/stdlib.h   libc6-dev-arm64-cross   C library for Arm
aarch64   cmd:aarch64-linux-gnu-g++   g++-aarch64-linux-gnu   the stand-in for the CUDA driver, for Arm
aarch64   cmd:qemu-aarch64      qemu-user        runs programs for Arm
windows   cmd:x86_64-w64-mingw32-gcc   gcc-mingw-w64-x86-64-win32   C compiler for Windows
windows   cmd:x86_64-w64-mingw32-g++   g++-mingw-w64-x86-64-win32   C++ compiler for Windows
windows   file:/usr/x86_64-w64-mingw32/include/zlib.h   libz-mingw-w64-dev   PNG pictures, for Windows
wine      cmd:wine              wine             runs programs for Windows
wine      file:/usr/lib/wine/wine64   wine64     runs programs for Windows
wine      cmd:winegcc           wine64-tools     the stand-in for the CUDA driver, for Windows
wine      file:/usr/include/wine/wine/windows/windows.h   libwine-dev   the stand-in for the CUDA driver, for Windows
packages  cmd:lintian           lintian          tests of packages
packages  cmd:/usr/sbin/debootstrap   debootstrap   tests of packages in bare Debians
packages  file:/usr/share/keyrings/debian-archive-keyring.gpg   debian-archive-keyring   tests of packages in bare Debians
packages  cmd:qemu-aarch64-static   qemu-user-static   tests of packages for Arm
libdav1d  pkg:dav1d             libdav1d-dev     decodes AV1 faster
libopus   pkg:opus              libopus-dev      encodes Opus
libsvtav1 pkg:SvtAv1Enc         libsvtav1enc-dev   encodes AV1
libvpx    pkg:vpx               libvpx-dev       encodes VP8 and VP9
libx264   pkg:x264              libx264-dev      encodes H.264; under the GPL
shared    python:ensurepip      python3-venv     tests of the shared libraries with PyAV
shared    pkg:python3           python3-dev      tests of the shared libraries with PyAV
play      pkg:sdl2              libsdl2-dev      the window of ffplay
'

list_only=
if [ "${1-}" = -n ]; then
    list_only=1
    shift
fi

# present CHECK: succeeds if the program, header or library is installed.
present() {
    what=${1#*:}
    case $1 in
        cmd:*)    have "${what%%|*}" || { [ "$what" != "${what#*|}" ] && have "${what#*|}"; } ;;
        inc:*)    cc=$(command -v gcc || command -v cc || :)
                  [ -n "$cc" ] && printf '#include <%s>\n' "$what" | "$cc" -E -x c - >/dev/null 2>&1 ;;
        clang:*)  have clang && echo 'int LLVMFuzzerTestOneInput(const void *p, long n) { return 0; }' |
                  clang "$what" -x c - -o /dev/null >/dev/null 2>&1 ;;
        file:*)   [ -f "$what" ] ;;
        pkg:*)    have pkg-config && pkg-config --exists "$what" ;;
        python:*) # Debian's packages install for /usr/bin/python3, which may not be first in PATH
                  python3 -c "import $what" 2>/dev/null || /usr/bin/python3 -c "import $what" 2>/dev/null ;;
    esac
}

# missing: sets $packages, $required (of classes build, x86, aarch64, windows) and $list.
missing() {
    packages=''
    required=''
    list=''
    for class; do
        while read -r row_class check package reason; do
            if [ "$row_class" = "$class" ] && ! present "$check"; then
                case " $packages " in
                    *" $package "*) continue ;;
                esac
                packages="$packages $package"
                list="$list
  $package	$reason"
                case $class in
                    build|x86|aarch64|windows) required="$required $package" ;;
                esac
            fi
        done <<EOF
$table
EOF
    done
    packages=${packages# }
    required=${required# }
}

give_up() {
    if [ -n "$required" ]; then
        die "$1: please install $required (Debian package names)"
    fi
    warn "$1: continuing without $packages"
    exit 0
}

missing "$@"
if [ -z "$packages" ]; then
    exit 0
fi
say "missing packages:$list"

if [ -n "$list_only" ]; then
    give_up "installation is disabled"
fi
if ! have apt-get; then
    give_up "this system has no apt-get"
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif have sudo; then
    as_root=sudo
else
    give_up "not running as root, and sudo is not installed"
fi

# shellcheck disable=SC2086  # $as_root and $packages are lists of words
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}
log=$(mktemp "${TMPDIR:-/tmp}/gpume-apt.XXXXXX")
trap 'rm -f "$log"' EXIT

# The package lists may be missing or stale. Update them only if the installation fails.
say "installing: $packages"
# shellcheck disable=SC2086
if ! apt install -y --no-install-recommends $packages > "$log" 2>&1; then
    say "updating the package lists"
    if ! apt update > "$log" 2>&1 ||
       ! apt install -y --no-install-recommends $packages > "$log" 2>&1; then
        tail -n 20 "$log" >&2
        missing "$@"
        give_up "apt-get failed"
    fi
fi
missing "$@"
if [ -n "$packages" ]; then
    give_up "still not found after installation"
fi
