/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */


/**
 * @file
 * libFuzzer target: bytes become a stream, sizes, strides, formats, changes, frames
 * that cannot be searched, references that are dropped, and options; all that comes
 * out is compared with the naive oracle. tests/fuzz/fuzz.sh runs it.
 *
 * GPUME_FUZZ_BACKENDS names where to search: cpu, cuda, frames or a list of these.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* mkdtemp() */
#endif

#include "libavutil/avstring.h"
#include "libavutil/log.h"

#include "tests/gpume_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static CaseLimits limits = {
    .max_side = 64, .max_work = 400000, .max_device_work = 60000, .hostile = 1,
};
static char folder[] = "/tmp/gpume_fuzz.XXXXXX";

static void uninit(void)
{
    av_buffer_unref(&limits.device);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[CASE_NB_BACKENDS] = { "cpu", "cuda", "frames" };
    const char *backends = getenv("GPUME_FUZZ_BACKENDS");

    av_log_set_level(AV_LOG_QUIET);
    case_init();
    for (int b = 0; b < CASE_NB_BACKENDS; b++)
        if (av_match_name(names[b], backends ? backends : "cpu"))
            limits.backends |= 1 << b;
    if (limits.backends & ~(1 << CASE_CPU) &&
        av_hwdevice_ctx_create(&limits.device, AV_HWDEVICE_TYPE_CUDA, NULL, NULL, 1) < 0) {
        fprintf(stderr, "there is no CUDA device\n");
        exit(1);
    }
    limits.folder = case_alloc(mkdtemp(folder));
    atexit(uninit);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Draw d = { .data = data, .size = size };
    unsigned counts[CASE_NB_BACKENDS] = { 0 };

    if (!size)
        return 0;
    if (run_case(&d, &limits, counts) < 0)
        abort();
    return 0;
}
