/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Shared by the engine and the backends: pictures, searches, and the interface of a
 * backend, which is a table of functions.
 *
 * A picture enters with import(), is searched any number of times as current
 * picture or reference, and leaves with ff_gpume_picture_uninit(). submit()
 * starts a search; wait() collects it.
 * Searches are submitted and waited for in the order of the stream, from one
 * thread at a time.
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

/** A frame, and where a backend reads its luma. */
typedef struct GpumePicture {
    AVFrame *frame;         ///< owned by the engine; unchanged by backends
    const uint8_t *luma;    ///< first luma sample, set by import(): the frame's own or that of copy
    ptrdiff_t linesize;     ///< bytes from a row of luma to the next; may be negative
    AVBufferRef *copy;      ///< the backend's own luma; NULL where the frame's is read in place
    AVBufferRef *planes;    ///< the backend's own: what steps of a plan read; or NULL
} GpumePicture;

/** A field that is searched: one ordered pair of pictures, the current one and its reference. */
typedef struct GpumeField {
    int reference;          ///< which of GpumeParams.distance
    int opposite;           ///< with GpumeParams.check: the field of the search with both exchanged
    const GpumePicture *cur;
    const GpumePicture *ref;
    /** Where the field goes: one of cur's. NULL: only the check needs it, and it goes nowhere. */
    GpumeFieldSet *set;
    int slot;               ///< set->host[slot], set->device[slot]
    /** Vectors: bh * bw in raster order; with GpumeParams.tree leaves, and then set by wait(). */
    int nb;
    AVMotionVector *mvs;    ///< those of set, written until wait() returns
    uint32_t *costs;        ///< the cost of the vector of equal index, likewise
    /**
     * With GpumeParams.tree, likewise, else NULL: the sizes of leaves, also of those that the picture's
     * edge cuts. 0: the side is GpumeParams.block, 1: twice that, and so on.
     */
    uint8_t *sizes;
    uint64_t bits;          ///< with GpumeParams.tree, set by wait(): of vectors and splits
    uint64_t rd;            ///< likewise: the sum of what roots cost, bits included
    /**
     * With GpumeParams.intra, set by wait(): the sum over all blocks of cur of the cost between
     * the block and its rounded mean.
     */
    uint64_t intra;
    /**
     * With GpumeParams.same, written until wait() returns, of each cell of core/same_args.h in
     * raster order: 1 if it is that of ref. All blocks that it is a part of have the zero vector at
     * cost 0, and its bytes in all other planes are equal; else 0. Otherwise NULL.
     */
    uint8_t *same;
} GpumeField;

/**
 * A search: of one picture in its references or, with GpumeParams.check, of pictures in each
 * other, two by two. Each field is of another reference.
 */
typedef struct GpumeSearch {
    int nb_fields;          ///< 1 to GpumeParams.nb_distances
    GpumeField fields[GPUME_MAX_REFERENCES];    ///< in the order of GpumeParams.distance
} GpumeSearch;

/** What a backend is opened with. */
typedef struct GpumeBackendConfig {
    GpumeParams params;     ///< as ff_gpume_params_init() left them
    GpumePlan plan;         ///< of these
    int max_searches;       ///< submitted and not yet waited for, at most, 1 or more

    GpumeExecutor executor;

    AVBufferRef *hw_device; ///< AVHWDeviceContext of the graph, or NULL
    AVBufferRef *hw_frames; ///< AVHWFramesContext of the input, NULL: system memory
    const char *device;     ///< the device to open, rather than hw_device; NULL: that, or the first

    void *log_ctx;
    /**
     * Nonzero: another backend will be tried next. A missing device is then not an
     * error, and a device that cannot be opened only causes a warning.
     */
    int fallback;
} GpumeBackendConfig;

/**
 * A backend. Functions return 0 or an AVERROR code; after an error only
 * uninit() may follow. priv points to priv_size bytes, which are zero before init().
 */
typedef struct GpumeBackend {
    const char *name;
    size_t priv_size;
    /** Pixel format of the hardware frames that it searches, or AV_PIX_FMT_NONE. */
    enum AVPixelFormat hw_format;
    /**
     * Returns how many searches in flight suit it, cfg.max_searches not being set. NULL: 1, as
     * submit() does all the work.
     */
    int  (*depth)(const GpumeBackendConfig *cfg);   // optional

    /** ENOSYS: not part of this build; ENODEV: no device. cfg is valid during the call only. */
    int  (*init)(void *priv, const GpumeBackendConfig *cfg);
    /** Make pic->frame's luma readable: check it, set luma, linesize and perhaps copy. */
    int  (*import)(void *priv, GpumePicture *pic);
    /**
     * Get room for nb fields of a picture, and set all of the set but distances. With
     * GpumeParams.same *same gets room for GpumeField.same of each, one after the other, else NULL.
     */
    int  (*alloc)(void *priv, GpumeFieldSet *set, AVBufferRef **same, int nb);
    /**
     * Start a search. It and its pictures must stay where they are until wait() returns. Fields
     * of a search without GpumeParams.check are of one set, in slots that follow each other.
     */
    int  (*submit)(void *priv, GpumeSearch *search);
    /** Finish the oldest search submitted. */
    int  (*wait)(void *priv, GpumeSearch *search);
    /** Also after a failed init() and with searches in flight. */
    void (*uninit)(void *priv);
} GpumeBackend;

/**
 * The backends, slowest first: B(name, help). The last one that can be opened is
 * preferred. Options and the array below are made from this list.
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

/** By enum GpumeBackendId. */
extern const GpumeBackend *const ff_gpume_backends[GPUME_NB_BACKENDS];

/**
 * For import(): whether the frame's rows of luma can be read.
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_check_luma(const AVFrame *frame, const GpumeParams *params, void *log_ctx);

/** Whether searches cannot read a frame's luma, or green, in system memory where it lies. */
int ff_gpume_luma_is_converted(const GpumeParams *params);

/**
 * Copy one of nb_jobs shares of a frame's luma, or green, as the searches read it: bytes, or
 * words in native order without padding bits.
 */
void ff_gpume_copy_luma(uint8_t *dst, ptrdiff_t dst_linesize, const AVFrame *frame,
                        const GpumeParams *params, int job, int nb_jobs);

/** Unreference the frame and the copy, and blank pic. */
void ff_gpume_picture_uninit(GpumePicture *pic);

/** Returns the bytes of the costs and, with a tree, the sizes of params->nb_references fields. */
size_t ff_gpume_costs_size(const GpumeParams *params);

/**
 * For alloc(): the set in memory, from pools whose buffers are large enough for
 * params->nb_references fields: of vectors, and of ff_gpume_costs_size() bytes.
 * @return 0 or AVERROR(ENOMEM); the set may then have buffers
 */
int ff_gpume_fields_alloc(GpumeFieldSet *set, const GpumeParams *params, int nb, AVBufferPool *mvs,
                          AVBufferPool *costs);

#endif /* AVFILTER_GPUME_CORE_BACKEND_H */
