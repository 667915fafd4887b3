/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes become options of a filter, which the environment variable GPUME_FUZZ_FILTER names, and a
 * stream that the filter does not expect. tests/fuzz/fuzz.sh runs it.
 */

#include <stdlib.h>

#include "tests/gpume_stream_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const StreamKind *kind;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *filter = getenv("GPUME_FUZZ_FILTER");

    test_init("gpume_fuzz");
    kind = stream_kind(filter ? filter : "mvfps");
    if (!kind) {
        fprintf(stderr, "GPUME_FUZZ_FILTER: there are no streams for '%s'\n", filter);
        exit(1);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TestRandom d = { .data = data, .size = size };
    StreamCase c;

    if (!size)
        return 0;
    draw_stream(&c, kind, &d);
    check_stream(&c);
    free_stream(&c);
    if (test_nb_failures)
        abort();
    return 0;
}
