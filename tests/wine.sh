#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a program for Windows, with settings of its own: target-exec of ./configure --cross=x86_64-w64-mingw32.
top=$(cd "$(dirname "$0")/.." && pwd)
WINEPREFIX=${WINEPREFIX:-$top/build/wine}
WINEDEBUG=${WINEDEBUG:--all}
# leave out parts of Wine that no test needs
WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mscoree,mshtml,winemenubuilder.exe=}
# names of files and arguments are in UTF-8
LC_ALL=C.UTF-8
export LC_ALL WINEPREFIX WINEDEBUG WINEDLLOVERRIDES
mkdir -p "$WINEPREFIX"
# Debian's wineserver ends with its last program, and a program that starts at that moment fails with "Connection reset
# by peer". So start one that stays for a minute; if a server is running, this does nothing.
if command -v wineserver > /dev/null; then
    wineserver -p60 < /dev/null > /dev/null 2>&1
fi
exec wine "$@"
