/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What filters with one input and one output share: they take frames, perhaps with motion vectors of a searcher, make
 * output frames, drain at the end, and end after an error. A filter has the functions of GpumeStreamFunctions, and a
 * GpumeStream in its context.
 */

#ifndef AVFILTER_GPUME_STREAM_STREAM_H
#define AVFILTER_GPUME_STREAM_STREAM_H

#include "libavfilter/avfilter.h"
#include "libavfilter/filters.h"

#include "libavfilter/gpume/core/searcher.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/options.h"

/** The option search, for a table of options in a file that defines OFFSET. */
#define GPUME_SEARCH_OPTION(field)                                                             \
    { "search", "when the filter searches motion vectors", OFFSET(field), AV_OPT_TYPE_INT,     \
      { .i64 = GPUME_SEARCH_AUTO }, GPUME_SEARCH_NEVER, GPUME_SEARCH_AUTO, FLAGS, .unit = "search" }, \
        CONST("never", "never", GPUME_SEARCH_NEVER, "search"),                                 \
        CONST("auto", "if the input frames have none", GPUME_SEARCH_AUTO, "search"),

/** State of a filter's input and output. Zeroed before use. */
typedef struct GpumeStream {
    GpumeSearcher *searcher;    ///< gives frames motion vectors; NULL: they need none
    GpumeSequence *sequence;    ///< to which push() adds frames; NULL: the filter says itself what continues it
    AVFrame *next;              ///< the frame that begins the next sequence, until all frames before it are made
    int eof;                    ///< whether no more frames follow
    int status;                 ///< status of the output at its end
    int64_t status_pts;         ///< time of the end, in the input's time base until finish() converts it
} GpumeStream;

/** What a filter does. Optional functions may be NULL. All of them return a negative error code if they fail. */
typedef struct GpumeStreamFunctions {
    /** Whether frames are sent only as the output asks for them, because many can be made of one input frame. */
    int on_demand;
    /** Sends the next output frame, if its input has arrived. @return 1: one was sent or skipped; 0: none */
    int (*produce)(AVFilterContext *ctx);
    /**
     * Takes a frame, with vectors if there is a searcher. Sets *frame to NULL if it keeps the frame. A filter of
     * sequences instead leaves the frame and finds out what push() needs.
     */
    int (*take)(AVFilterContext *ctx, AVFrame **frame);
    /**
     * The functions of a filter of sequences; optional. push() adds a frame that continues the sequence. If a frame
     * does not, the sequence is flushed, and the frame is pushed when produce() has sent all frames. If it does not
     * continue the sequence even then, open() opens the filter for frames in system memory, or for those of hw_frames.
     * continues() is only needed if GpumeStream.sequence alone does not decide.
     */
    int (*push)(AVFilterContext *ctx, AVFrame **frame);
    int (*continues)(AVFilterContext *ctx, const AVFrame *frame);
    int (*open)(AVFilterContext *ctx, AVBufferRef *hw_frames);
    /**
     * Takes an input frame before it is given to the searcher, and gives it to the searcher, now or later. Is called
     * with *frame NULL when the input has ended, before the searcher is told so. Optional.
     */
    int (*feed)(AVFilterContext *ctx, AVFrame **frame);
    /** Gives the searcher a frame that feed() has kept. Optional. @return 1: one was given; 0: there is none */
    int (*refill)(AVFilterContext *ctx);
    /** Is called when no more frames follow for take(). Optional. */
    int (*flush)(AVFilterContext *ctx);
    /** Is called once when all frames have been sent. Optional. */
    int (*finish)(AVFilterContext *ctx);
} GpumeStreamFunctions;

/** The callback activate() of a filter. Sends at most one frame a call, so that no frame waits behind others. */
int ff_gpume_stream_activate(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *functions);

/** Frees the frame that waits, and closes the searcher. */
void ff_gpume_stream_close(GpumeStream *s);

/** The callback query_func of a filter whose output has the format of its input. */
int ff_gpume_stream_query_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                                  AVFilterFormatsConfig **cfg_out, const GpumeSequenceKind *kind);

/** Defines query_formats() of such a filter, with its GpumeSequenceKind. */
#define GPUME_DEFINE_QUERY_FORMATS(kind)                                                            \
    static int query_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,            \
                             AVFilterFormatsConfig **cfg_out)                                       \
    {                                                                                               \
        return ff_gpume_stream_query_formats(ctx, cfg_in, cfg_out, &kind);                          \
    }

/** The callback GpumeSearcherConfig.decided. log_ctx is the filter. */
void ff_gpume_stream_decided(void *log_ctx, int searched);

#endif /* AVFILTER_GPUME_STREAM_STREAM_H */
