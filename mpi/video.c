/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "libavutil/avutil.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "mpi/video.h"

/** Limits of the minimum number of frames of a segment, unless the user sets it. */
#define LOWEST_MINIMUM    24
#define HIGHEST_MINIMUM 1000
/** Number of segments for each rank, unless they would be too short. */
#define SEGMENTS_OF_RANK 40

static int compare_pts(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the sorted timestamps of the pictures, which the caller frees; NULL: out of memory. */
static int64_t *sort_pts(const Video *video)
{
    int64_t *pts = av_malloc_array(FFMAX(video->nb_packets, 1), sizeof(*pts));
    int64_t nb = 0;

    for (int64_t i = 0; i < video->nb_packets && pts; i++)
        if (video->packets[i].shown)
            pts[nb++] = video->packets[i].pts;
    if (pts)
        qsort(pts, nb, sizeof(*pts), compare_pts);
    return pts;
}

int video_count(Video *video)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    int64_t *pts = sort_pts(video);
    int ret = ctx && pts ? 0 : AVERROR(ENOMEM);

    if (ret < 0)
        goto end;
    av_murmur3_init(ctx);
    for (int64_t i = 0; i < video->nb_packets; i++) {
        const VideoPacket *p = &video->packets[i];
        const int64_t v[] = { p->pts, p->dts, p->duration, p->pos, p->size, p->hash, p->key, p->shown };

        av_murmur3_update(ctx, (const uint8_t *)v, sizeof(v));
        video->nb_frames += p->shown;
    }
    av_murmur3_final(ctx, video->hash);
    for (int64_t i = 0; i < video->nb_frames; i++)
        if (pts[i] == AV_NOPTS_VALUE || i && pts[i] == pts[i - 1])
            ret = AVERROR_PATCHWELCOME;
end:
    av_free(pts);
    av_free(ctx);
    return ret;
}

void video_trim(Video *video, int64_t first)
{
    for (int64_t i = 0; i < video->nb_packets; i++) {
        VideoPacket *p = &video->packets[i];

        if (p->shown && p->pts < video->packets[first].pts) {
            p->shown = 0;
            video->nb_frames--;
        }
    }
}

/*
 * Describes the segment that would begin with a key packet. Returns whether a segment can begin there.
 * @param pts      sorted timestamps of all pictures
 * @param max_pts  largest timestamp of the shown packets before the key packet
 * @param nb_shown number of shown packets before the key packet
 */
static int describe(const Video *video, const int64_t *pts, int64_t key, int64_t max_pts, int64_t nb_shown,
                    VideoSegment *s)
{
    const VideoPacket *p = video->packets;
    int64_t i;

    *s = (VideoSegment) { .packet = key, .last = key, .number = nb_shown };
    if (!p[key].shown || max_pts > p[key].pts)
        return 0;
    for (i = key + 1; i < video->nb_packets && !p[i].key; i++)
        s->number += p[i].shown && p[i].pts < p[key].pts;
    /* the next key frame is shown before this one, or too few pictures follow */
    if (i < video->nb_packets && p[i].shown && p[i].pts < p[key].pts || video->nb_frames - s->number <= video->shared)
        return 0;
    for (i = key; i < video->nb_packets && nb_shown < s->number + video->shared; i++)
        if (p[i].shown && p[i].pts <= pts[s->number + video->shared - 1]) {
            nb_shown++;
            s->last = i;
        }
    return 1;
}

int video_divide(Video *video, int nb_ranks, int64_t least)
{
    const int64_t wanted = FFMAX(least ? least : av_clip64(video->nb_frames / (SEGMENTS_OF_RANK * (int64_t)nb_ranks),
                                                           LOWEST_MINIMUM, HIGHEST_MINIMUM), video->shared + 1);
    int64_t max_pts = INT64_MIN, nb_shown = 0, *pts = sort_pts(video);
    unsigned size = 0;
    int ret = AVERROR(ENOMEM);

    if (!pts)
        goto end;
    av_freep(&video->segments);
    video->nb_segments = 0;
    for (int64_t i = 0; i < video->nb_packets; i++) {
        const VideoPacket *p = &video->packets[i];
        VideoSegment s = { 0 }, *segments;

        if (!i || p->key && nb_shown - video->segments[video->nb_segments - 1].number >= wanted &&
                  describe(video, pts, i, max_pts, nb_shown, &s)) {
            segments = av_fast_realloc(video->segments, &size, (video->nb_segments + 1) * sizeof(*segments));
            if (!segments)
                goto end;
            video->segments = segments;
            video->segments[video->nb_segments++] = s;
        }
        nb_shown += p->shown;
        if (p->shown)
            max_pts = FFMAX(max_pts, p->pts);
    }
    ret = 0;
end:
    av_free(pts);
    return ret;
}

int64_t video_first(const Video *video, int segment)
{
    return segment >= video->nb_segments ? video->nb_frames :
           segment ? video->segments[segment].number + video->past : 0;
}

void video_free(Video *video)
{
    av_freep(&video->packets);
    av_freep(&video->segments);
    memset(video, 0, sizeof(*video));
}
