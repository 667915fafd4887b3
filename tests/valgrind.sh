#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# TARGET_EXEC for FATE: a memory error or a leak makes the test fail.
exec valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite --malloc-fill=0xa5 --free-fill=0x5a "$@"
