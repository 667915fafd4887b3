#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fetches an upstream tarball from Debian's archive, using the system's mirror, and
# checks its signature. apt works in a folder of its own: the system's apt state does
# not change, and root is not needed.
#
# usage: fetch.sh BUILD_DIR PACKAGE VERSION_PREFIX...
# Prints the tarball's path. Exits with 2 if the archive does not have the version,
# with 1 if no archive can be reached.

set -eu
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tools/common.sh"

# sid has the newest FFmpeg, trixie the release before it. forky is tried only if those two
# have newer versions than the wanted ones.
suites='sid trixie'
later_suites='forky'

build=$1
package=$2
shift 2
mkdir -p "$build"
build=$(cd "$build" && pwd)
dist=$build/dist
apt=$build/apt
mkdir -p "$dist"

# Uses a tarball from an earlier run, or one that the user put there, under Debian's or upstream's name.
for prefix; do
    for f in "$dist/${package}_$prefix".*.orig.tar.* "$dist/${package}_$prefix".orig.tar.* \
             "$dist/$package-$prefix".*.tar.* "$dist/$package-$prefix".tar.*; do
        case $f in
            *.asc|*.part) continue ;;
        esac
        if [ -f "$f" ]; then
            printf '%s\n' "$f"
            exit 0
        fi
    done
done

if ! have apt-get || ! have apt-cache; then
    exit 1
fi
keyring=
for f in /usr/share/keyrings/debian-archive-keyring.gpg \
         /usr/share/keyrings/debian-archive-keyring.pgp; do
    if [ -z "$keyring" ] && [ -f "$f" ]; then
        keyring=$f
    fi
done
if [ -z "$keyring" ]; then
    exit 1
fi

# Prints the mirrors of the system's Debian sources. apt knows the origin of a source
# once it has the lists; before that it is guessed from the address.
mirrors() {
    # shellcheck disable=SC2016  # apt-get's variables, not the shell's
    apt-get -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        indextargets 'Created-By: Packages' \
        --format '$(ORIGIN)|$(COMPONENT)|$(RELEASE)|$(REPO_URI)' 2>/dev/null |
    awk -F'|' '
        $2 != "main" || $3 ~ /security|\/updates/ { next }
        $1 == "Debian"                            { sure[++n] = $4; next }
        $1 ~ /^(\$|$)/ && $4 ~ /\/debian\/?$/     { likely[++m] = $4 }
        END {
            for (i = 1; i <= n; i++) print sure[i]
            for (i = 1; i <= m; i++) print likely[i]
        }' | awk '!seen[$0]++'
}

# use_mirror URI SUITES
use_mirror() {
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    cat > "$apt/debian.sources" <<EOF
Types: deb-src
URIs: $1
Suites: $2
Components: main
Signed-By: $keyring
EOF
    # Do not run the hooks of the system's own 'update'.
    cat > "$apt/apt.conf" <<EOF
Dir::Etc::sourcelist "$apt/debian.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Retries "3";
EOF
    if [ "$(id -u)" = 0 ]; then
        # apt's unprivileged user may not have write access here
        echo 'APT::Sandbox::User "root";' >> "$apt/apt.conf"
    fi
}

# private COMMAND ARGUMENT...: runs an apt command with the configuration of this script.
private() {
    command=$1
    shift
    "$command" -c "$apt/apt.conf" "$@"
}

# newest PREFIX: prints the newest available version with this prefix, ignoring epochs.
newest() {
    private apt-cache showsrc "$package" 2>/dev/null |
    awk -v package="$package" -v prefix="$1" '
        $1 == "Package:" { name = $2 }
        $1 == "Version:" && name == package {
            version = $2
            sub(/^[0-9]+:/, "", version)
            rest = substr(version, length(prefix) + 1)
            if (index(version, prefix) == 1 && rest !~ /^[0-9]/)
                print version, $2
        }' | sort -V | sed -n '$s/.* //p'
}

# pick PREFIX...: sets $version to the first of the wanted versions that is available.
pick() {
    for prefix; do
        version=$(newest "$prefix")
        if [ -n "$version" ]; then
            return
        fi
    done
    return 1
}

# try_fetch PREFIX...: downloads what pick finds in the current lists.
try_fetch() {
    pick "$@" || return 1
    say "fetching $package $version" >&2
    (cd "$apt" && private apt-get -q source --tar-only "$package=$version") \
        > "$apt/log" 2>&1 || return 1
    for f in "$apt/${package}_"*.orig.tar.*; do
        mv -f "$f" "$dist/" && printf '%s\n' "$dist/$(basename "$f")"
        return
    done
}

# update: fetches new lists. A mirror may be a snapshot with expired lists. They are
# still signed, and downloads are still checked against them.
update() {
    if private apt-get -q update > "$apt/log" 2>&1; then
        return
    fi
    grep -q 'is expired\|not valid yet' "$apt/log" || return 1
    warn "the mirror's lists are out of date; their signature is valid, so they are used anyway"
    cat >> "$apt/apt.conf" <<EOF
Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
EOF
    private apt-get -q update > "$apt/log" 2>&1
}

reached=
for uri in $(mirrors); do
    for set in "$suites" "$later_suites"; do
        use_mirror "$uri" "$set"
        if try_fetch "$@"; then
            exit 0
        fi
        say "looking for $package in Debian's archive ($set)" >&2
        if update; then
            reached=1
            if try_fetch "$@"; then
                exit 0
            fi
        else
            grep '^E: ' "$apt/log" >&2 || :
        fi
    done
    if [ -n "$reached" ]; then
        exit 2
    fi
done
exit 1
