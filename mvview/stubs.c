/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Replaces the CUDA painter in a build without CUDA.
 */

#include "libavfilter/gpume/mvview/painter.h"

const MvviewPainter ff_mvview_painter_cuda = { .common = { .hw_format = AV_PIX_FMT_NONE } };
