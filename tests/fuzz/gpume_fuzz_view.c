/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes become the size and format of a picture, options of mvview, and side
 * data. All ways of drawing must give the same picture. tests/fuzz/fuzz.sh runs it.
 *
 * With GPUME_FUZZ_BACKENDS=cuda the picture is on a device.
 */

#include "tests/gpume_view_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static AVBufferRef *device;

static void uninit(void)
{
    av_buffer_unref(&device);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *backends = getenv("GPUME_FUZZ_BACKENDS");

    test_init("gpume_fuzz");
    if (backends && !strcmp(backends, "cuda") && !(device = test_open_device())) {
        fprintf(stderr, "there is no CUDA device\n");
        exit(1);
    }
    atexit(uninit);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum AVPixelFormat on_device[] = {
        AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_P010, AV_PIX_FMT_RGB32,
    };
    TestRandom d = { .data = data, .size = size };
    Input in = { .w = 1 + test_draw(&d, 64), .h = 1 + test_draw(&d, 64), .even = !!device };
    const char *options = modes[test_draw(&d, FF_ARRAY_ELEMS(modes))];

    if (!size)
        return 0;
    in.format = device ? on_device[test_draw(&d, FF_ARRAY_ELEMS(on_device))] :
                         view_formats[test_draw(&d, FF_ARRAY_ELEMS(view_formats))];
    in.seed   = test_draw(&d, 256);
    if (test_draw(&d, 4)) {
        wild_vectors(&in, &d);
    } else {
        /* copies the bytes without change */
        in.size = FFMIN(d.size, sizeof(input_mvs));
        in.has_side_data = 1;
        memcpy(input_mvs, d.data, in.size);
    }
    snprintf(test_context, sizeof(test_context), "%dx%d %s %s", in.w, in.h,
             av_get_pix_fmt_name(in.format), options);
    if (device)
        check_once_on_device(device, &in, options, in.size < sizeof(AVMotionVector));
    else
        check_same(&in, options);
    if (test_nb_failures)
        abort();
    return 0;
}
