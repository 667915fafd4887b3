/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The engine: pictures of a stream go in, in order, and come out in the same order, each
 * with the fields that were searched. It decides which pictures are references of which
 * and how many searches are in flight. It opens a backend, and reopens it when the size
 * or format of the pictures changes; the first picture after that has no past reference.
 *
 * Push a picture, pull results until there are none (EAGAIN), and repeat; then flush and
 * pull the rest. Calls come from one thread at a time. After an error other than EAGAIN and
 * EOF only ff_gpume_engine_close() may follow.
 */

#ifndef AVFILTER_GPUME_CORE_ENGINE_H
#define AVFILTER_GPUME_CORE_ENGINE_H

#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"

/** What the engine is opened with. Pointers must remain valid until it is closed. */
typedef struct GpumeEngineConfig {
    GpumeParams params;         ///< the chosen ones, see there; the rest is filled in
    int backend;                ///< enum GpumeBackendId; below 0: the best that can be opened
    int max_in_flight;          ///< searches; 1: lowest latency; 0: as many as suit the backend
    GpumeExecutor executor;
    AVBufferRef *hw_device;     ///< preferred by backends that need a device; may be NULL
    const char *device;         ///< which one they open instead; may be NULL
    void *log_ctx;
} GpumeEngineConfig;

/** An output picture. */
typedef struct GpumeResult {
    AVFrame *frame;             ///< the frame pushed; properties may be changed, samples not
    int64_t number;             ///< of the picture in the stream, from 1 on
    const GpumeParams *params;  ///< of the search; valid until the next pull
    GpumeSearch search;         ///< its fields; nb_fields is 0 where there was no reference
    GpumeFieldSet set;          ///< in which they lie, in the same order
    AVBufferRef *same;          ///< in which GpumeField.same lies, or NULL
} GpumeResult;

typedef struct GpumeEngine GpumeEngine;

/**
 * Open a backend for pictures of this size and format.
 * @param hw_frames AVHWFramesContext of hardware frames, or NULL
 * @return 0; AVERROR(EINVAL) for invalid parameters, or other errors of the backend, with
 *         a message and *engine NULL
 */
int ff_gpume_engine_open(GpumeEngine **engine, const GpumeEngineConfig *cfg, int width,
                         int height, enum AVPixelFormat format, AVBufferRef *hw_frames);

/** The current parameters, including those that were filled in. */
const GpumeParams *ff_gpume_engine_params(const GpumeEngine *engine);

/** The name of the backend that searches. */
const char *ff_gpume_engine_backend(const GpumeEngine *engine);

/**
 * Add the stream's next picture.
 * @param frame the engine takes it and sets it to NULL, except for EAGAIN and EOF
 * @return 0; AVERROR(EAGAIN): first pull results until there is none, then push it again;
 *         AVERROR_EOF: after a flush; or an error
 */
int ff_gpume_engine_push(GpumeEngine *engine, AVFrame **frame);

/**
 * Take the next result, and free it with ff_gpume_result_uninit().
 * @return 0; AVERROR(EAGAIN): push or flush first; AVERROR_EOF: no more results after
 *         a flush; or an error
 */
int ff_gpume_engine_pull(GpumeEngine *engine, GpumeResult *result);

/** Tell the engine that no more pictures follow. */
void ff_gpume_engine_flush(GpumeEngine *engine);

/** Close the backend, even with searches in flight, and free the pictures; sets *engine to NULL. */
void ff_gpume_engine_close(GpumeEngine **engine);

/** Unreference the contents of a result, and blank it. */
void ff_gpume_result_uninit(GpumeResult *result);

#endif /* AVFILTER_GPUME_CORE_ENGINE_H */
