/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/parseutils.h"

#include "libavfilter/gpume/mvfps/rate.h"

/** Highest output rate in frames per second; a higher rate is a mistake. */
#define MAX_RATE 100000

/* Sets the output's rate to a multiple of the input's; the text before the final x is the factor. */
static av_cold int multiply_rate(AVRational *rate, const char *fps, AVRational in_rate, void *log_ctx)
{
    AVRational factor;
    char *number;
    int ret;

    if (in_rate.num <= 0 || in_rate.den <= 0) {
        av_log(log_ctx, AV_LOG_ERROR, "The input's frame rate is unknown, so 'fps=%s' cannot be used. "
               "Set fps to a number of frames per second, such as fps=60.\n", fps);
        return AVERROR(EINVAL);
    }
    number = av_strndup(fps, strlen(fps) - 1);
    if (!number)
        return AVERROR(ENOMEM);
    ret = av_parse_ratio(&factor, number, INT_MAX, AV_LOG_MAX_OFFSET, log_ctx);
    av_free(number);
    if (ret < 0 || factor.num <= 0 || factor.den <= 0)
        return AVERROR_INVALIDDATA;
    *rate = av_mul_q(in_rate, factor);
    if (av_q2d(*rate) <= MAX_RATE)
        return 0;
    av_log(log_ctx, AV_LOG_ERROR, "The input's frame rate is %d/%d, so 'fps=%s' is %.0f frames/s, more than the %d "
           "that mvfps supports. Set fps to a number of frames per second, such as fps=60.\n", in_rate.num,
           in_rate.den, fps, av_q2d(*rate), MAX_RATE);
    return AVERROR(EINVAL);
}

av_cold int ff_mvfps_parse_rate(AVRational *rate, const char *fps, AVRational in_rate, void *log_ctx)
{
    const size_t length = strlen(fps);
    const int is_factor = length && fps[length - 1] == 'x';
    int ret;

    if (is_factor) {
        ret = multiply_rate(rate, fps, in_rate, log_ctx);
    } else {
        ret = av_parse_video_rate(rate, fps);
        if (ret < 0 || rate->num <= 0 || rate->den <= 0 || av_q2d(*rate) > MAX_RATE)
            ret = AVERROR_INVALIDDATA;
    }
    if (ret != AVERROR_INVALIDDATA)
        return ret;
    av_log(log_ctx, AV_LOG_ERROR, "'fps=%s' is not a frame rate: it must be a number such as 60 or 30000/1001, "
           "or a factor such as 2x, above 0 and up to %d frames/s.\n", fps, MAX_RATE);
    return AVERROR(EINVAL);
}
