/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of backends: a table of functions for the CPU and for each kind of device. All backends make the same
 * pictures.
 */

#ifndef AVFILTER_GPUME_MVSTAB_BACKEND_H
#define AVFILTER_GPUME_MVSTAB_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvstab/mvstab.h"
#include "libavfilter/gpume/picture/sequence.h"

/** A picture as the backend keeps it. */
typedef struct MvstabPicture {
    /** A gray frame with the samples of component 0, which is searched. Its memory contains all components. */
    AVFrame *frame;
    /** MvstabTensor of each block. Can be read when a search of the frame has ended. */
    AVBufferRef *tensors;
} MvstabPicture;

/** How a frame is made. */
typedef struct MvstabWarp {
    MvstabMatrix matrix;
    enum MvstabBorder border;
    int chroma_x, chroma_y;     ///< position of chroma samples in 1/256 of their distance
    int black[GPUME_COMPONENTS];
    const AVFrame *before;      ///< MVSTAB_KEEP: the previous output frame; NULL: edges are repeated
} MvstabWarp;

/** A backend. */
typedef struct MvstabBackend {
    GpumeFrameBackend common;
    /** Copies the samples of a frame into a new picture, and computes tensors. */
    int (*load)(void *priv, MvstabPicture *picture, const AVFrame *frame);
    /** Makes another picture from component 0 of a picture, warped as by MVSTAB_CROP, and computes tensors. */
    int (*align)(void *priv, MvstabPicture *aligned, const AVFrame *picture, const MvstabMatrix *matrix);
    /** Makes an output frame. */
    int (*warp)(void *priv, AVFrame *out, const AVFrame *picture, const MvstabWarp *warp);
} MvstabBackend;

extern const MvstabBackend ff_mvstab_backend_cpu;
extern const MvstabBackend ff_mvstab_backend_cuda;

/** Returns the number of points of a mesh along a side. */
static inline int mvstab_points(int length)
{
    return ((length + MVSTAB_CELL - 1) >> MVSTAB_LOG2_CELL) + 1;
}

/**
 * Computes rows first to end - 1 of a component's mesh: where output samples (16 i, 16 j) are in the input frame.
 * @param mesh the points of all rows
 */
void ff_mvstab_mesh(MvstabPoint *mesh, const GpumeLayout *l, int component, int first, int end, const MvstabWarp *warp);

#endif /* AVFILTER_GPUME_MVSTAB_BACKEND_H */
