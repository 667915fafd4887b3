# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests that need a bare Debian: debootstrap fills a folder, and chroot runs commands in it. Each command has
# its own mount namespace, so its mounts disappear with it. Arm's programs run with QEMU, which is registered with the
# kernel only in that namespace. Needs root, debootstrap and unshare; for Arm also qemu-aarch64-static.

bare_folder=$top/build/chroots

# bare_missing: prints what this machine lacks for bare Debians
bare_missing() {
    if [ "$(id -u)" != 0 ]; then
        echo "only root can use chroot"
    elif ! have debootstrap && [ ! -x /usr/sbin/debootstrap ]; then
        echo "there is no debootstrap"
    elif ! unshare --mount true 2> /dev/null; then
        echo "unshare cannot make a namespace"
    fi
}

# bare_mirror: prints the archive that this system uses
bare_mirror() {
    if [ -n "${MIRROR-}" ]; then
        echo "$MIRROR"
    else
        cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
            grep -hoE '(https?|file)://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' '
    fi
}

# bare_new RELEASE ARCHITECTURE DIR: makes a minimal Debian in DIR. The first one of its kind is kept in build/chroots
# and copied the next time.
bare_new() {
    base=$bare_folder/$1-$2
    if [ ! -f "$base/.made" ]; then
        rm -rf --one-file-system "$base"
        mkdir -p "$base"
        foreign=
        [ "$2" = "$(dpkg --print-architecture)" ] || foreign=--foreign
        PATH=$PATH:/usr/sbin debootstrap ${foreign:+"$foreign"} --arch="$2" --variant=minbase "$1" "$base" "$(bare_mirror)" \
            > "$base.log" 2>&1 || return 1
        if [ -n "$foreign" ]; then
            # debootstrap may not make devices there, and need not
            inside "$base" env container=lxc /debootstrap/debootstrap --second-stage >> "$base.log" 2>&1 || return 1
        fi
        cp -a /etc/apt/apt.conf.d/. "$base/etc/apt/apt.conf.d/" 2> /dev/null || :
        printf 'deb %s %s main\ndeb-src %s %s main\n' "$(bare_mirror)" "$1" "$(bare_mirror)" "$1" > "$base/etc/apt/sources.list"
        inside "$base" apt-get -q update >> "$base.log" 2>&1 || return 1
        : > "$base/.made"
    fi
    rm -rf --one-file-system "$3"
    cp -a "$base" "$3" && cp /etc/resolv.conf "$3/etc/"
}

# inside ROOT COMMAND...: runs the command in ROOT
inside() {
    room=$1
    shift
    # shellcheck disable=SC2016  # expanded inside
    set -- sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" || exit
        chroot=$(command -v chroot || echo /usr/sbin/chroot)
        root=$1
        shift
        exec "$chroot" "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$room" "$@"
    if [ "$(od -An -j 18 -N 1 -t u1 "$room/usr/bin/env" | tr -d ' ')" = 183 ]; then
        as_arm "$@"
    else
        unshare --mount "$@"
    fi
}

# as_arm COMMAND...: runs the command where the kernel gives programs for Arm to QEMU. A user namespace has its own
# table of interpreters; an older kernel has one table for all, which the package qemu-user-static fills.
as_arm() {
    gate=$(mktemp -d)
    mkfifo "$gate/fifo"
    # shellcheck disable=SC2016
    unshare --user --mount sh -c 'read -r go < "$1"
        shift
        if mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2> /dev/null; then
            ones="\xff\xff\xff\xff"
            printf "%s" ":arm:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:$ones\xff\xff\xff\x00$ones$ones\xfe\xff\xff\xff:$(command -v qemu-aarch64-static):F" \
                > /proc/sys/fs/binfmt_misc/register
        fi
        exec "$@"' sh "$gate/fifo" "$@" < /dev/null &
    arm=$!
    # the program opens this file in the new namespace, and reads it when the namespace has its
    # users
    exec 9> "$gate/fifo"
    echo '0 0 4294967295' > "/proc/$arm/uid_map"
    echo '0 0 4294967295' > "/proc/$arm/gid_map"
    echo go >&9
    exec 9>&-
    wait "$arm"
    arm=$?
    rm -r "$gate"
    return "$arm"
}

# What packages.sh and wheels.sh share

# begin NAME: begins a script's tests; sets $missing, the folder $work, which is removed at the end, and the file $log
begin() {
    tests=$1
    missing=$(bare_missing)
    mkdir -p build/check build/results
    work=$top/$(mktemp -d "build/check/$tests.XXXXXX")
    trap 'rm -rf --one-file-system "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    log=$top/build/results/$(basename "$results" .txt).log
    : > "$log"
}

# made TARGET [CROSS]: runs 'make TARGET' for that system; sets $file to the package
made() {
    echo "== make $1 ${2:+CROSS=$2}" >> "$log"
    make SERIES="$series" ${2:+"CROSS=$2"} "$1" > "$work/made" 2>&1
    status=$?
    cat "$work/made" >> "$log"
    file=$(sed -n 's/^\(\/.*\): [0-9.]*[KM].*/\1/p' "$work/made" | tail -n 1)
    check "$tests/${2:+$2-}$1" "$(tail -n 1 "$work/made")" test "$status" = 0 -a -f "$file"
    [ "$status" = 0 ] && say "$(tail -n 1 "$work/made")"
}

# seconds SINCE: prints the elapsed time, with tenths
seconds() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }

# run_parts ANYWHERE PART...: runs the parts; all but those in ANYWHERE need a bare Debian
run_parts() {
    anywhere=$1
    shift
    for part; do
        if [ -n "$missing" ] && [ "${anywhere#*"$part"}" = "$anywhere" ]; then
            skip "$tests/$part" "$missing"
            continue
        fi
        began=$(date +%s)
        "part_$part"
        say "$tests, $part: $(($(date +%s) - began)) s"
    done
}
