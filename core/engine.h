/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The engine: pictures of a stream are pushed in order, and pulled in the same order, each with its
 * fields. It decides which pictures are references of which, and how many searches are in flight.
 * It opens a backend, and reopens it when the size or format of the pictures changes; the first
 * picture after a change has no past reference.
 *
 * Push a picture, pull results until EAGAIN, and repeat; then flush and pull the remaining results.
 * Calls must come from one thread at a time. After an error other than EAGAIN and EOF, only
 * ff_gpume_engine_close() is allowed.
 */

#ifndef AVFILTER_GPUME_CORE_ENGINE_H
#define AVFILTER_GPUME_CORE_ENGINE_H

#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"

/** Configuration of the engine. Pointers must remain valid until it is closed. */
typedef struct GpumeEngineConfig {
    GpumeParams params;         ///< the parameters that the user has chosen; the engine sets the others
    int backend;                ///< enum GpumeBackendId; negative: the best that can be opened
    int max_in_flight;          ///< number of searches; 1: lowest latency; 0: the backend's choice
    /**
     * Whether the fields of hardware frames are only read on their device, by work queued on its
     * stream after they have been pulled. They are then neither waited for nor copied to the host,
     * where their vectors and costs stay undefined. Not with intra, same or tree.
     */
    int on_device;
    GpumeExecutor executor;
    AVBufferRef *hw_device;     ///< preferred device of backends that need one; may be NULL
    const char *device;         ///< name of the device to open instead; may be NULL
    void *log_ctx;
} GpumeEngineConfig;

/** An output picture. */
typedef struct GpumeResult {
    AVFrame *frame;             ///< the pushed frame; its properties may be changed, its samples not
    int64_t number;             ///< number of the picture in the stream, from 1 on
    const GpumeParams *params;  ///< parameters of the search; valid until the next pull
    GpumeSearch search;         ///< its fields; nb_fields is 0 if there was no reference
    GpumeFieldSet set;          ///< the set that contains the fields, in the same order
    AVBufferRef *same;          ///< the buffer that contains GpumeField.same, or NULL
} GpumeResult;

typedef struct GpumeEngine GpumeEngine;

/**
 * Opens a backend for pictures of this size and format.
 * @param hw_frames AVHWFramesContext of hardware frames, or NULL
 * @return 0; AVERROR(EINVAL) for invalid parameters, or another error of the backend, with a
 *         message; on error *engine is NULL
 */
int ff_gpume_engine_open(GpumeEngine **engine, const GpumeEngineConfig *cfg, int width,
                         int height, enum AVPixelFormat format, AVBufferRef *hw_frames);

/** Returns the current parameters, including those that the engine has set. */
const GpumeParams *ff_gpume_engine_params(const GpumeEngine *engine);

/** Returns the name of the backend. */
const char *ff_gpume_engine_backend(const GpumeEngine *engine);

/**
 * Adds the next picture of the stream.
 * @param frame the engine takes it and sets it to NULL, except for EAGAIN and EOF
 * @return 0; AVERROR(EAGAIN): pull all available results, then push the frame again; AVERROR_EOF:
 *         after a flush; or another error
 */
int ff_gpume_engine_push(GpumeEngine *engine, AVFrame **frame);

/**
 * Adds a reference to the samples of a picture like ff_gpume_engine_push().
 * @param is_read 0: the picture is only a reference of others. Its own fields are not searched, unless the fields of
 *                other pictures depend on them, and its result need not have any. Those of the others stay the same.
 */
int ff_gpume_engine_push_clone(GpumeEngine *engine, const AVFrame *frame, int is_read);

/** Starts searches of what was pushed, as ff_gpume_engine_pull() does otherwise. @return 0 or an AVERROR code */
int ff_gpume_engine_start(GpumeEngine *engine);

/**
 * Takes the next result, which the caller frees with ff_gpume_result_uninit().
 * @return 0; AVERROR(EAGAIN): push or flush first; AVERROR_EOF: no more results after a flush; or
 *         another error
 */
int ff_gpume_engine_pull(GpumeEngine *engine, GpumeResult *result);

/** Tells the engine that no more pictures follow. */
void ff_gpume_engine_flush(GpumeEngine *engine);

/** Closes the backend, even with searches in flight, and frees the pictures. Sets *engine to NULL. */
void ff_gpume_engine_close(GpumeEngine **engine);

/** Unreferences the contents of a result, and zeroes it. */
void ff_gpume_result_uninit(GpumeResult *result);

#endif /* AVFILTER_GPUME_CORE_ENGINE_H */
