/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames in, frames with motion fields out: those that bring vectors keep them, a stream without
 * any is searched. With it a filter that needs vectors works alone.
 */

#ifndef AVFILTER_GPUME_CORE_SEARCHER_H
#define AVFILTER_GPUME_CORE_SEARCHER_H

#include "libavfilter/gpume/core/engine.h"

/** Values of a filter's option search. */
enum GpumeSearchWhen {
    GPUME_SEARCH_NEVER,
    GPUME_SEARCH_AUTO,          ///< where frames have no vectors
};

/** What a searcher is opened with. Pointers must remain valid until it is closed. */
typedef struct GpumeSearcherConfig {
    enum GpumeSearchWhen when;
    GpumeParams params;         ///< of a search, as those of GpumeEngineConfig
    const char *options;        ///< the same as options of the filter gpume, for messages
    int sequence;               ///< the vectors have to lead from each frame to the next one
    GpumeExecutor executor;
    AVBufferRef *hw_device;     ///< for frames in system memory; may be NULL
    /**
     * Called once, when it is known that vectors come, or that they are searched, before the first
     * frame leaves.
     * @param searched whether they are searched
     */
    void (*decided)(void *log_ctx, int searched);
    void *log_ctx;
} GpumeSearcherConfig;

typedef struct GpumeSearcher GpumeSearcher;

/** @return 0 or AVERROR(ENOMEM) */
int ff_gpume_searcher_open(GpumeSearcher **searcher, const GpumeSearcherConfig *cfg);

/**
 * Add the next frame of the stream. All that leaves must have been pulled before. Frames leave in
 * the same order with the same properties, and with side data of vectors where they were searched.
 * Of the first two frames one must have vectors, or the stream is searched: a search into the past
 * gives the first frame none, and neither does a decoder.
 * @return 0, in which case the frame was taken over and *frame is NULL, or a negative error code
 */
int ff_gpume_searcher_push(GpumeSearcher *searcher, AVFrame **frame);

/**
 * Get the next frame.
 * @return 0, AVERROR(EAGAIN): push another one, AVERROR_EOF: there are no more after the flush, or
 *         another negative error code
 */
int ff_gpume_searcher_pull(GpumeSearcher *searcher, AVFrame **frame);

/** Tell the searcher that no more frames follow. */
void ff_gpume_searcher_flush(GpumeSearcher *searcher);

/** Close it, even with searches in flight; sets *searcher to NULL. */
void ff_gpume_searcher_close(GpumeSearcher **searcher);

#endif /* AVFILTER_GPUME_CORE_SEARCHER_H */
