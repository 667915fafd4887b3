/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes become options of mvfps and a stream with arbitrary vectors, times and
 * sizes. tests/fuzz/fuzz.sh runs it.
 */

#include "tests/gpume_fps_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    test_init("gpume_fuzz");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TestRandom d = { .data = data, .size = size };
    FpsCase c;

    if (!size)
        return 0;
    draw_fps_case(&c, &d);
    check_fps(&c);
    free_fps_case(&c);
    if (test_nb_failures)
        abort();
    return 0;
}
