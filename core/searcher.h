/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Takes frames and returns them with motion fields. Frames that arrive with vectors keep them; a stream
 * without vectors is searched. So a filter that needs vectors works without an earlier search.
 */

#ifndef AVFILTER_GPUME_CORE_SEARCHER_H
#define AVFILTER_GPUME_CORE_SEARCHER_H

#include "libavfilter/gpume/core/engine.h"

/** Values of a filter's option search. */
enum GpumeSearchWhen {
    GPUME_SEARCH_NEVER,
    GPUME_SEARCH_AUTO,          ///< search if frames have no vectors
};

/** Configuration of a searcher. Pointers must remain valid until it is closed. */
typedef struct GpumeSearcherConfig {
    enum GpumeSearchWhen when;
    GpumeParams params;         ///< parameters of the search, as in GpumeEngineConfig
    const char *options;        ///< the parameters as options of the filter gpume, for messages
    int sequence;               ///< whether vectors must lead from each frame to the next
    GpumeExecutor executor;
    AVBufferRef *hw_device;     ///< device for frames in system memory; may be NULL
    /**
     * Called once before the first frame is output, when it is known whether vectors arrive or are
     * searched.
     * @param searched whether they are searched
     */
    void (*decided)(void *log_ctx, int searched);
    void *log_ctx;
} GpumeSearcherConfig;

typedef struct GpumeSearcher GpumeSearcher;

/** @return 0 or AVERROR(ENOMEM) */
int ff_gpume_searcher_open(GpumeSearcher **searcher, const GpumeSearcherConfig *cfg);

/**
 * Adds the next frame of the stream. All available frames must have been pulled before. Frames are
 * output in the same order with the same properties; if the stream is searched, they get side data
 * with vectors. If neither of the first two frames has vectors, the stream is searched: the first
 * frame may have none, because a search into the past and decoders give it none.
 * @return 0, in which case the frame was taken over and *frame is NULL, or a negative error code
 */
int ff_gpume_searcher_push(GpumeSearcher *searcher, AVFrame **frame);

/**
 * Gets the next frame.
 * @return 0; AVERROR(EAGAIN): push another frame; AVERROR_EOF: no frame is left after the flush; or
 *         another negative error code
 */
int ff_gpume_searcher_pull(GpumeSearcher *searcher, AVFrame **frame);

/** Tells the searcher that no more frames follow. */
void ff_gpume_searcher_flush(GpumeSearcher *searcher);

/** Closes the searcher, even with searches in flight. Sets *searcher to NULL. */
void ff_gpume_searcher_close(GpumeSearcher **searcher);

#endif /* AVFILTER_GPUME_CORE_SEARCHER_H */
