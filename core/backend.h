/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the engine and the backends share: pictures, searches, and the interface of a
 * backend, which is a table of functions.
 *
 * import() prepares a picture. It is then searched any number of times, as the current picture or
 * as a reference, and released with ff_gpume_picture_uninit(). submit() starts a search; wait()
 * returns its result. Searches are submitted and waited for in stream order, from one thread at a
 * time.
 */

#ifndef AVFILTER_GPUME_CORE_BACKEND_H
#define AVFILTER_GPUME_CORE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/core/same_args.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/util/executor.h"

/** A frame, and the luma that a backend reads. */
typedef struct GpumePicture {
    AVFrame *frame;         ///< owned by the engine; unchanged by backends
    const uint8_t *luma;    ///< first luma sample, set by import(); in the frame or in copy
    ptrdiff_t linesize;     ///< bytes between rows of luma; may be negative
    AVBufferRef *copy;      ///< the backend's copy of luma; NULL: the frame's luma is read in place
    AVBufferRef *planes;    ///< the backend's planes that steps of a plan read; or NULL
} GpumePicture;

/** A field to be searched, for an ordered pair of pictures: the current picture and its reference. */
typedef struct GpumeField {
    int reference;          ///< index into GpumeParams.distance
    int opposite;           ///< with GpumeParams.check: index of the field of the search with exchanged pictures
    const GpumePicture *cur;
    const GpumePicture *ref;
    /** The set of cur that receives the field. NULL: only the check needs the field, and it is not output. */
    GpumeFieldSet *set;
    int slot;               ///< index in set->host and set->device
    /** Number of vectors: bw * bh in raster order; with GpumeParams.tree the number of leaves, set by wait(). */
    int nb;
    AVMotionVector *mvs;    ///< in the buffer of set; complete when wait() returns
    uint32_t *costs;        ///< cost of the vector with the same index; complete when wait() returns
    /**
     * With GpumeParams.tree the sizes of leaves, complete when wait() returns; else NULL. 0: the
     * side is GpumeParams.block, 1: twice that, and so on; leaves that the edge of the picture cuts
     * have the size before cutting.
     */
    uint8_t *sizes;
    uint64_t bits;          ///< with GpumeParams.tree, set by wait(): bits of vectors and splits
    uint64_t rd;            ///< with GpumeParams.tree, set by wait(): sum of the costs of roots, including bits
    /**
     * With GpumeParams.intra, set by wait(): the sum over all blocks of cur of the cost between a
     * block and its rounded mean.
     */
    uint64_t intra;
    /**
     * With GpumeParams.same, complete when wait() returns: for each cell of core/same_args.h in
     * raster order, 1 if the cell equals that of ref, else 0. It is equal if all blocks that
     * overlap it have the zero vector at cost 0, and its bytes in all other planes are equal.
     * Otherwise NULL.
     */
    uint8_t *same;
} GpumeField;

/**
 * A search of a picture in its references or, with GpumeParams.check, of pairs of pictures in each
 * other. Each field has another reference. A search without fields only says when the work on the
 * pictures imported before it has ended, so that their memory may be used again.
 */
typedef struct GpumeSearch {
    int nb_fields;          ///< 0 to GpumeParams.nb_distances
    GpumeField fields[GPUME_MAX_REFERENCES];    ///< in the order of GpumeParams.distance
} GpumeSearch;

/** Configuration of a backend. */
typedef struct GpumeBackendConfig {
    GpumeParams params;     ///< as returned by ff_gpume_params_init()
    GpumePlan plan;         ///< plan for these parameters
    int max_searches;       ///< maximum number of searches in flight, 1 or more

    GpumeExecutor executor;

    AVBufferRef *hw_device; ///< AVHWDeviceContext of the graph, or NULL
    AVBufferRef *hw_frames; ///< AVHWFramesContext of the input; NULL: frames in system memory
    const char *device;     ///< the device to open instead of hw_device; NULL: hw_device, or the first device
    int on_device;          ///< whether wait() need only order the search before later work on the stream of hw_frames

    void *log_ctx;
    /**
     * Nonzero: another backend will be tried next. A missing device is then no error, and a device
     * that cannot be opened only causes a warning.
     */
    int fallback;
} GpumeBackendConfig;

/**
 * A backend. Its functions return 0 or an AVERROR code; after an error only uninit() is allowed.
 * priv points to priv_size bytes, which are zero before init() is called.
 */
typedef struct GpumeBackend {
    const char *name;
    size_t priv_size;
    /** Pixel format of the hardware frames that the backend searches, or AV_PIX_FMT_NONE. */
    enum AVPixelFormat hw_format;
    /**
     * Returns the best number of searches in flight; cfg.max_searches is not set. NULL: 1, because
     * submit() does all the work.
     */
    int  (*depth)(const GpumeBackendConfig *cfg);   // optional

    /**
     * Returns ENOSYS if the backend is not part of this build, ENODEV if there is no device. cfg is
     * valid only during the call.
     */
    int  (*init)(void *priv, const GpumeBackendConfig *cfg);
    /** Makes the luma of pic->frame readable: checks it, and sets luma, linesize and, if needed, copy. */
    int  (*import)(void *priv, GpumePicture *pic);
    /**
     * Allocates a set of nb fields of a picture, and sets all members except distances. With
     * GpumeParams.same, *same gets a buffer for GpumeField.same of all fields in sequence, else
     * NULL.
     */
    int  (*alloc)(void *priv, GpumeFieldSet *set, AVBufferRef **same, int nb);
    /**
     * Starts a search. The search and its pictures must not move until wait() returns. Without
     * GpumeParams.check, the fields of a search belong to one set and have consecutive slots.
     */
    int  (*submit)(void *priv, GpumeSearch *search);
    /** Finishes the oldest submitted search. */
    int  (*wait)(void *priv, GpumeSearch *search);
    /** Is also called after init() has failed, and with searches in flight. */
    void (*uninit)(void *priv);
} GpumeBackend;

/**
 * The backends, slowest first: B(name, help). The last backend that can be opened is preferred.
 * Options and the array below are generated from this list.
 */
#define GPUME_BACKENDS(B)                           \
    B(cpu,  "the CPU")                              \
    B(cuda, "an NVIDIA GPU; fail if there is none")

enum GpumeBackendId {
#define GPUME_BACKEND_ID(name, help) GPUME_BACKEND_##name,
    GPUME_BACKENDS(GPUME_BACKEND_ID)
#undef GPUME_BACKEND_ID
    GPUME_NB_BACKENDS
};

/** Indexed by enum GpumeBackendId. */
extern const GpumeBackend *const ff_gpume_backends[GPUME_NB_BACKENDS];

/**
 * Checks whether import() can read the frame's rows of luma.
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_check_luma(const AVFrame *frame, const GpumeParams *params, void *log_ctx);

/** Returns whether searches cannot read a frame's luma, or green, in place in system memory. */
int ff_gpume_luma_is_converted(const GpumeParams *params);

/**
 * Copies share job of nb_jobs of a frame's luma, or green, in the form that searches read: bytes,
 * or words in native order without padding bits.
 */
void ff_gpume_copy_luma(uint8_t *dst, ptrdiff_t dst_linesize, const AVFrame *frame,
                        const GpumeParams *params, int job, int nb_jobs);

/** Unreferences the frame and the copy, and zeroes pic. */
void ff_gpume_picture_uninit(GpumePicture *pic);

/** Returns the size of the costs and, with a tree, the sizes of params->nb_references fields, in bytes. */
size_t ff_gpume_costs_size(const GpumeParams *params);

/**
 * Implements alloc() in system memory, from pools whose buffers are large enough for
 * params->nb_references fields: one pool for vectors, and one for ff_gpume_costs_size() bytes.
 * @return 0 or AVERROR(ENOMEM); the set may then have buffers
 */
int ff_gpume_fields_alloc(GpumeFieldSet *set, const GpumeParams *params, int nb, AVBufferPool *mvs,
                          AVBufferPool *costs);

#endif /* AVFILTER_GPUME_CORE_BACKEND_H */
