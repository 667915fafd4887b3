/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes become options and a stream with sizes, strides, formats, changes,
 * unsupported frames and dropped references. All output is compared with the oracle.
 * tests/fuzz/fuzz.sh runs it.
 *
 * GPUME_FUZZ_BACKENDS lists the backends: cpu, cuda, frames.
 */

#include "tests/gpume_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static CaseLimits limits = {
    .max_side = 64, .max_work = 1000000, .max_device_work = 60000, .hostile = 1,
};

static void uninit(void)
{
    av_buffer_unref(&limits.device);
    test_remove_folder();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *backends = getenv("GPUME_FUZZ_BACKENDS");

    test_init("gpume_fuzz");
    limits.backends = case_backends_of(backends ? backends : "cpu");
    if (limits.backends & ~(1 << CASE_CPU) && !(limits.device = test_open_device())) {
        fprintf(stderr, "there is no CUDA device\n");
        exit(1);
    }
    limits.folder = test_make_folder("gpume_fuzz");
    atexit(uninit);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TestRandom d = { .data = data, .size = size };
    unsigned counts[CASE_NB_BACKENDS] = { 0 };

    if (!size)
        return 0;
    if (run_case(&d, &limits, counts) < 0)
        abort();
    return 0;
}
