/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of backends: a table of functions for the CPU and for each kind of device. All backends
 * make the same pictures.
 */

#ifndef AVFILTER_GPUME_MVDEINT_BACKEND_H
#define AVFILTER_GPUME_MVDEINT_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/mvdeint/mvdeint.h"
#include "libavfilter/gpume/picture/sequence.h"

/** Number of slots of a backend; each holds the samples of an input frame. */
#define MVDEINT_SLOTS 3

/** Number of fields around a field, including itself. */
enum { MVDEINT_AROUND = 2 * MVDEINT_MAX_REFS + 1 };

/**
 * Estimates of a field are frames of a backend. The search reads only luma; data has all components
 * of the layout.
 */

/** A first estimate, made from three input frames. */
typedef struct MvdeintFirst {
    int before, frame, after;   ///< slots; before and after may equal frame at the ends of the sequence
    int parity;                 ///< parity of the field's lines
    int is_second;              ///< whether the field is the second field of its frame
    int is_alone;               ///< whether the estimate uses only the field's own lines
    int is_progressive;         ///< whether all lines are those of the frame, without interpolation
    AVFrame *out;               ///< the estimate
    /**
     * The missing lines, interpolated within the field. Lines y ^ 1, which can be after the last
     * line, are flags: 1 where nothing changes, else 0.
     */
    AVFrame *intra;
} MvdeintFirst;

/** A pass for a field. */
typedef struct MvdeintStep {
    int pass;                                   ///< from 0 on
    const AVFrame *estimates[MVDEINT_AROUND];   ///< index 0 has distance -MVDEINT_MAX_REFS; NULL: no field
    int parities[MVDEINT_AROUND];               ///< parities of these fields
    int refs;
    const GpumeFieldSet *set;                   ///< motion fields of the estimate
    const AVFrame *first, *intra;               ///< see MvdeintFirst
    AVFrame *out;                               ///< output as an estimate, or NULL
    AVFrame *frame;                             ///< output as a frame, or NULL
} MvdeintStep;

/** A backend. */
typedef struct MvdeintBackend {
    GpumeFrameBackend common;
    /**
     * Puts the samples of an input frame into a slot.
     * @param later whether this may be done in estimate(), which is called next; the frame is valid until then
     */
    int  (*load)(void *priv, int slot, const AVFrame *frame, int later);
    /** Allocates an estimate with undefined samples, or returns NULL. Its buffers may outlive the backend. */
    AVFrame *(*alloc)(void *priv);
    /** Makes the first estimates of both fields of a frame. */
    int  (*estimate)(void *priv, const MvdeintFirst first[2]);
    int  (*make)(void *priv, const MvdeintStep *step);
    /** Copies an estimate to an output frame. */
    int  (*put)(void *priv, AVFrame *frame, const AVFrame *estimate);
    /** Copies the frame of a slot to an output frame. Only backends of hardware frames have this function. */
    int  (*copy)(void *priv, AVFrame *frame, int slot);
} MvdeintBackend;

extern const MvdeintBackend ff_mvdeint_backend_cpu;
extern const MvdeintBackend ff_mvdeint_backend_cuda;

#endif /* AVFILTER_GPUME_MVDEINT_BACKEND_H */
