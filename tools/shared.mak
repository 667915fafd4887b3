# SPDX-License-Identifier: LGPL-2.1-or-later
# ffconfigure.sh appends this to FFmpeg's ffbuild/config.mak where shared libraries are built: programs
# and libraries find the others from where they are themselves. So they run without ldconfig, in any
# prefix, which is known only when they are installed.
LDEXEFLAGS += -Wl,-rpath,'$$ORIGIN/../lib'
# FFmpeg expands this once more
LDSOFLAGS  += -Wl,-rpath,'$$$$ORIGIN'
