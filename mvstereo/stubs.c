/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Replaces the CUDA backend in a build without CUDA.
 */

#include "libavfilter/gpume/mvstereo/backend.h"

const MvstereoBackend ff_mvstereo_backend_cuda = { .common = { .hw_format = AV_PIX_FMT_NONE } };
const MvstereoBackend ff_mvstereo_backend_upload = { .common = { .hw_format = AV_PIX_FMT_NONE } };
