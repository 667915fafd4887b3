# SPDX-License-Identifier: LGPL-2.1-or-later
# Lets programs and libraries find the other libraries relative to their own folder, so that they run
# without ldconfig in any prefix, which is known only when they are installed. ffconfigure.sh appends
# this file to FFmpeg's ffbuild/config.mak if shared libraries are built.
LDEXEFLAGS += -Wl,-rpath,'$$ORIGIN/../lib'
# FFmpeg expands this once more
LDSOFLAGS  += -Wl,-rpath,'$$$$ORIGIN'
