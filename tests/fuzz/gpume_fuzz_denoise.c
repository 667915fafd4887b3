/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes become options of mvdenoise and a stream with arbitrary vectors, times
 * and sizes. tests/fuzz/fuzz.sh runs it.
 */

#include "tests/gpume_denoise_case.h"

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
    DenoiseStream c;

    if (!size)
        return 0;
    draw_denoise_stream(&c, &d);
    check_denoise(&c);
    free_denoise_stream(&c);
    if (test_nb_failures)
        abort();
    return 0;
}
