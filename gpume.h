/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * What the filter and its backends share: pictures, searches, and the table of
 * functions that a backend is.
 *
 * A picture enters with import(), is searched any number of times as current
 * picture or reference, and leaves with ff_gpume_picture_uninit(). submit()
 * starts the search of one picture against one or two references; wait()
 * collects it. Searches are submitted and waited for in the order of the
 * stream, from one thread at a time.
 */

#ifndef AVFILTER_GPUME_GPUME_H
#define AVFILTER_GPUME_GPUME_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/gpume_params.h"

/** A frame, and where a backend reads its luma. */
typedef struct GpumePicture {
    AVFrame *frame;         ///< owned by the filter; unchanged by backends
    const uint8_t *luma;    ///< first luma sample, set by import(): the frame's own or that of copy
    ptrdiff_t linesize;     ///< bytes from a row of luma to the next; may be negative
    AVBufferRef *copy;      ///< the backend's own luma; NULL where the frame's is read in place
} GpumePicture;

/** The search of one picture, and what it found. */
typedef struct GpumeSearch {
    const GpumePicture *cur;
    /** By enum GpumeDirection; NULL: not searched in this direction. */
    const GpumePicture *ref[GPUME_NB_DIRECTIONS];
    /**
     * Set by wait(): AVMotionVector[bh * bw] for each direction searched, past
     * first, raster order, as side data has them; size is exactly that.
     */
    AVBufferRef *mvs;
    /** Set by wait(): uint32_t, the SAD of the vector of equal index. */
    AVBufferRef *costs;
    void *priv;             ///< the backend's, between submit() and wait()
} GpumeSearch;

/** One of nb_jobs independent parts of a piece of work. */
typedef void (*GpumeJob)(void *arg, int job, int nb_jobs);

/** What a backend is opened with. */
typedef struct GpumeConfig {
    GpumeParams params;
    int max_searches;       ///< submitted and not yet waited for, at most

    /** Runs all jobs, on as many threads as it has, and returns when done. */
    void (*execute)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;

    AVBufferRef *hw_device; ///< AVHWDeviceContext of the graph, or NULL
    AVBufferRef *hw_frames; ///< AVHWFramesContext of the input, NULL: system memory
    const char *device;     ///< the device to open where hw_device is NULL; NULL: the first

    void *log_ctx;
    /**
     * Nonzero: another backend will be tried, so that it is no error that there
     * is no device, and one that cannot be opened is worth a warning only.
     */
    int fallback;
} GpumeConfig;

/**
 * A backend. Functions return 0 or an AVERROR code; after an error only
 * uninit() may follow. All have been given priv_size zeroed bytes.
 */
typedef struct GpumeBackend {
    const char *name;
    size_t priv_size;
    /** Pixel format of the hardware frames that it searches, or AV_PIX_FMT_NONE. */
    enum AVPixelFormat hw_format;
    /** Nonzero: submit() returns before the search ends. */
    int async;

    /** ENOSYS: not part of this build; ENODEV: no device. cfg is valid during the call only. */
    int  (*init)(void *priv, const GpumeConfig *cfg);
    /** Make pic->frame's luma readable: set luma, linesize and perhaps copy. */
    int  (*import)(void *priv, GpumePicture *pic);
    /** Start a search; its pictures must stay until wait() returns. */
    int  (*submit)(void *priv, GpumeSearch *search);
    /** Finish the oldest search submitted. */
    int  (*wait)(void *priv, GpumeSearch *search);
    /** Also after a failed init() and with searches in flight. */
    void (*uninit)(void *priv);
} GpumeBackend;

extern const GpumeBackend ff_gpume_backend_cpu;
extern const GpumeBackend ff_gpume_backend_cuda;

/** Blocks of the given side that it takes to cover length samples. */
static inline int ff_gpume_blocks(int length, int block)
{
    return (length + block - 1) / block;
}

/**
 * Whether luma of this format can be searched: planar or semi-planar YUV or
 * gray of 8 to 16 bits in whole bytes.
 */
int ff_gpume_format_supported(enum AVPixelFormat format);

/**
 * Fill the fields of params that follow from picture and block size.
 * format is that of the samples: of hardware frames, their sw_format.
 * @return 0, or AVERROR(EINVAL) with a message for what is beyond the limits
 */
int ff_gpume_params_init(GpumeParams *params, int width, int height,
                         enum AVPixelFormat format, void *log_ctx);

/** Write the vector of block (bx, by) as side data has it. */
void ff_gpume_set_vector(AVMotionVector *mv, const GpumeParams *params,
                         int bx, int by, int direction, int dx, int dy);

/**
 * Copy a row of luma as the searches read it: bytes, or right-justified words in
 * native order.
 */
void ff_gpume_copy_row(uint8_t *dst, const uint8_t *src, const GpumeParams *params);

/** Unreference the frame and the copy, and blank pic. */
void ff_gpume_picture_uninit(GpumePicture *pic);

/**
 * Get buffers for the results of a search, cut to the directions that it has,
 * from pools of buffers that would do for all.
 * @return how many directions it has, or AVERROR(ENOMEM)
 */
int ff_gpume_search_alloc(GpumeSearch *search, const GpumeParams *params,
                          AVBufferPool *mvs, AVBufferPool *costs);

/** Unreference the results, and blank search. */
void ff_gpume_search_uninit(GpumeSearch *search);

#endif /* AVFILTER_GPUME_GPUME_H */
