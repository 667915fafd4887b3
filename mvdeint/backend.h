/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What deinterlaces pictures: a table of functions for the CPU and for each kind of device. All of
 * them make the same pictures.
 */

#ifndef AVFILTER_GPUME_MVDEINT_BACKEND_H
#define AVFILTER_GPUME_MVDEINT_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/mvdeint/mvdeint.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frame_backend.h"

/** Input frames whose samples a backend keeps, in slots. */
#define MVDEINT_SLOTS 3

/** Of a field and those around it. */
enum { MVDEINT_AROUND = 2 * MVDEINT_MAX_REFS + 1 };

/**
 * Estimates of a field are frames of a backend, of which the search sees luma only; data has all
 * components of the layout.
 */

/** An estimate that is to be made of three input frames. */
typedef struct MvdeintFirst {
    int before, frame, after;   ///< slots; before and after may be the frame's
    int parity;                 ///< of the field's lines
    int is_second;              ///< of the fields of its frame
    int is_alone;               ///< it is made of its own lines only
    int is_progressive;         ///< all lines are the frame's; there is no second interpolation
    AVFrame *out;               ///< the estimate
    /**
     * Its missing lines, interpolated within the field. Lines y ^ 1 beside them, which can be behind the last
     * one, say where nothing changes: 1, or 0.
     */
    AVFrame *intra;
} MvdeintFirst;

/** A pass for a field. */
typedef struct MvdeintStep {
    int pass;                                   ///< from 0 on
    const AVFrame *estimates[MVDEINT_AROUND];   ///< from distance -MVDEINT_MAX_REFS on; NULL: there is none
    int parities[MVDEINT_AROUND];               ///< of these fields
    int refs;
    const GpumeFieldSet *set;                   ///< motion fields of the estimate
    const AVFrame *first, *intra;               ///< as MvdeintFirst has them
    AVFrame *out;                               ///< an estimate, or
    AVFrame *frame;                             ///< an output frame; the other one is NULL
} MvdeintStep;

/** A backend. priv points to common.priv_size bytes, which are zero before init(). */
typedef struct MvdeintBackend {
    GpumeFrameBackend common;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvdeintConfig *cfg);
    /** Forgets all pictures. Those from now on have this layout, which stays. */
    int  (*set_layout)(void *priv, const GpumeLayout *layout);
    /** Puts the samples of an input frame into a slot. */
    int  (*load)(void *priv, int slot, const AVFrame *frame);
    /** Returns a new estimate of any samples, or NULL. Its buffers may outlive the backend. */
    AVFrame *(*alloc)(void *priv);
    int  (*estimate)(void *priv, const MvdeintFirst *first);
    int  (*make)(void *priv, const MvdeintStep *step);
    /** Makes an output frame of an estimate. */
    int  (*put)(void *priv, AVFrame *frame, const AVFrame *estimate);
    /** Makes an output frame of what is in a slot. Only of backends of hardware frames. */
    int  (*copy)(void *priv, AVFrame *frame, int slot);
    /** Also after a failed init(). */
    void (*uninit)(void *priv);
} MvdeintBackend;

/** Returns the format of an estimate's luma, for the search. */
enum AVPixelFormat ff_mvdeint_gray(int depth);

extern const MvdeintBackend ff_mvdeint_backend_cpu;
/** In a build without CUDA one that takes no frames. */
extern const MvdeintBackend ff_mvdeint_backend_cuda;

#endif /* AVFILTER_GPUME_MVDEINT_BACKEND_H */
