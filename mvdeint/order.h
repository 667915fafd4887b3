/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides by the motion which field of unmarked frames comes first. In the wrong order motion goes back and forth, so
 * fields that are neighbours in that order are combed more if they are woven.
 */

#ifndef AVFILTER_GPUME_MVDEINT_ORDER_H
#define AVFILTER_GPUME_MVDEINT_ORDER_H

#include <stdint.h>

#include "libavutil/frame.h"

#include "libavfilter/gpume/picture/layout.h"

/** Side of the blocks of samples whose combing is compared, and the least sides of a picture with a decision. */
enum { MVDEINT_ORDER_BLOCK = 16, MVDEINT_ORDER_LEAST = 128 };

/** What pairs of frames say. */
typedef struct MvdeintEvidence {
    int64_t difference;         ///< evidence for the top field, less evidence for the bottom field
    int64_t sum;                ///< sum of both
} MvdeintEvidence;

/** The frames so far. Zero is the beginning. */
typedef struct MvdeintOrder {
    GpumeLayout layout;
    AVFrame *before;            ///< the frame before, in system memory
    int nb_frames;              ///< number of frames, after the first ones modulo a period
    MvdeintEvidence evidence;
    int is_known, bottom_first;
} MvdeintOrder;

/**
 * Adds what two frames say: compares the bottom field of the first with the top field of the second, and the other
 * way round.
 */
void ff_mvdeint_order_compare(MvdeintEvidence *e, const GpumeLayout *l, const AVFrame *first, const AVFrame *second);

/** Returns 1 if the top field comes first, -1 if the bottom field does, or 0 and forgets half of the evidence. */
int ff_mvdeint_order_decide(MvdeintEvidence *e, const GpumeLayout *l);

/**
 * Adds the next frame, in system memory or on a device. A frame of another size or format begins anew.
 * @param frame NULL: the next frame is marked
 * @return 1: this frame has decided the order, which also holds for the frame before it; 0; or an AVERROR code
 */
int ff_mvdeint_order_add(MvdeintOrder *order, const AVFrame *frame);

void ff_mvdeint_order_uninit(MvdeintOrder *order);

#endif /* AVFILTER_GPUME_MVDEINT_ORDER_H */
