/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/avutil.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "libavcodec/codec_desc.h"

#include "mpi/film.h"

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
static int64_t *sort_pts(const Film *film)
{
    int64_t *pts = av_malloc_array(FFMAX(film->nb_packets, 1), sizeof(*pts));
    int64_t nb = 0;

    for (int64_t i = 0; i < film->nb_packets && pts; i++)
        if (film->packets[i].shown)
            pts[nb++] = film->packets[i].pts;
    if (pts)
        qsort(pts, nb, sizeof(*pts), compare_pts);
    return pts;
}

/* Returns whether every picture has a timestamp of its own. */
static int all_have_pts(const Film *film)
{
    int64_t *pts = sort_pts(film);
    int ok = pts && (!film->nb_frames || pts[0] != AV_NOPTS_VALUE);

    for (int64_t i = 1; i < film->nb_frames && ok; i++)
        ok = pts[i - 1] < pts[i];
    av_free(pts);
    return ok;
}

/* Without timestamps, sets the order of the packets by the parser. Returns whether the order is known. */
static int order_by_parser(Film *film, enum AVCodecID codec, int has_reordering)
{
    const int by_type = codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO ||
                        codec == AV_CODEC_ID_MPEG4;
    const int by_poc  = codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC;
    int64_t key = 0;
    int key_order = 0;

    for (int64_t i = 0; i < film->nb_packets; i++) {
        FilmPacket *p = &film->packets[i];

        if (p->key) {
            key       = i;
            key_order = p->order;
        }
        if (has_reordering && !(p->parsed && (by_type || by_poc)))
            return 0;
        /* from here on it only matters whether a packet is shown before the key frame */
        if (!has_reordering || i == key)
            p->order = 1;
        else if (by_poc)
            p->order = p->order < key_order ? -1 : 1;
        else
            p->order = p->type == AV_PICTURE_TYPE_B && (i == key + 1 || film->packets[i - 1].order < 0) ? -1 : 1;
    }
    return 1;
}

/* Computes a checksum of the pictures and their positions, which ranks rely on after a seek. */
static void hash_packets(Film *film)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();

    if (!ctx)
        return;     /* the checksum stays zero, which is valid, but identifies no film */
    av_murmur3_init(ctx);
    for (int64_t i = 0; i < film->nb_packets; i++) {
        const FilmPacket *p = &film->packets[i];
        const int64_t v[] = { p->pts, p->dts, p->duration, p->pos, p->size, p->hash, p->key, p->shown };

        av_murmur3_update(ctx, (const uint8_t *)v, sizeof(v));
    }
    av_murmur3_final(ctx, film->hash);
    av_free(ctx);
}

void film_count(Film *film, enum AVCodecID codec, int has_reordering)
{
    const AVCodecDescriptor *desc = avcodec_descriptor_get(codec);

    film->nb_frames = 0;
    for (int64_t i = 0; i < film->nb_packets; i++)
        film->nb_frames += film->packets[i].shown;
    film->has_pts = all_have_pts(film);
    hash_packets(film);
    if (desc && desc->props & AV_CODEC_PROP_INTRA_ONLY)
        has_reordering = 0;
    if (!film->has_pts && !order_by_parser(film, codec, has_reordering))
        av_strlcpy(film->why_whole, "its packets have no display order",
                   sizeof(film->why_whole));
}

void film_trim(Film *film, int64_t first)
{
    const FilmPacket *f = &film->packets[first];

    for (int64_t i = 0; i < film->nb_packets; i++) {
        FilmPacket *p = &film->packets[i];
        const int before = film->has_pts ? p->pts < f->pts : i < first || i > first && p->order < 0;

        /* without timestamps, only packets behind the first key frame are known to be shown before it */
        if (!film->has_pts && i > first && !before)
            break;
        if (before && p->shown) {
            p->shown = 0;
            film->nb_frames--;
        }
    }
}

int film_whole(Film *film, const char *why)
{
    if (why != film->why_whole)
        av_strlcpy(film->why_whole, why, sizeof(film->why_whole));
    av_freep(&film->segments);
    film->segments = av_mallocz(sizeof(*film->segments));
    film->nb_segments = film->segments ? 1 : 0;
    return film->segments ? 0 : AVERROR(ENOMEM);
}

/*
 * Describes the segment that would begin with a key packet. Returns whether a segment can begin there.
 * @param pts      sorted timestamps of all pictures; NULL: the packets have none
 * @param max_pts  largest timestamp of the shown packets before the key packet
 * @param nb_shown number of shown packets before the key packet
 */
static int describe(const Film *film, const int64_t *pts, int64_t key, int64_t max_pts, int64_t nb_shown,
                    FilmSegment *s)
{
    const FilmPacket *p = film->packets;
    int64_t i, limit;

    *s = (FilmSegment) { .packet = key, .last = key, .number = nb_shown };
    if (!p[key].shown || film->has_pts && max_pts > p[key].pts)
        return 0;
    for (i = key + 1; i < film->nb_packets && !p[i].key; i++) {
        const int before = film->has_pts ? p[i].pts < p[key].pts : p[i].order < 0;

        if (!before && film->has_pts == 0)
            break;
        s->number += before && p[i].shown;
    }
    /* the next key frame is shown before this one, or too few pictures follow */
    if (film->has_pts && i < film->nb_packets && p[i].shown && p[i].pts < p[key].pts ||
        film->nb_frames - s->number <= film->shared)
        return 0;
    limit = pts ? pts[s->number + film->shared - 1] : INT64_MAX;
    for (i = key; i < film->nb_packets && nb_shown < s->number + film->shared; i++)
        if (p[i].shown && p[i].pts <= limit) {
            nb_shown++;
            s->last = i;
        }
    return 1;
}

int film_divide(Film *film, int nb_ranks, int64_t least)
{
    const int64_t wanted = FFMAX(least ? least : av_clip64(film->nb_frames / (SEGMENTS_OF_RANK * (int64_t)nb_ranks),
                                                           LOWEST_MINIMUM, HIGHEST_MINIMUM), film->shared + 1);
    int64_t max_pts = INT64_MIN, nb_shown = 0, *pts = NULL;
    FilmSegment *last;
    int ret;

    ret = film_whole(film, film->why_whole);
    if (ret < 0 || film->why_whole[0])
        return ret;
    if (film->has_pts && !(pts = sort_pts(film)))
        return AVERROR(ENOMEM);
    for (int64_t i = 0; i < film->nb_packets; i++) {
        const FilmPacket *p = &film->packets[i];
        FilmSegment s;

        last = &film->segments[film->nb_segments - 1];
        if (i && p->key && nb_shown - last->number >= wanted &&
            describe(film, pts, i, max_pts, nb_shown, &s)) {
            last = av_realloc_array(film->segments, film->nb_segments + 1, sizeof(*last));
            if (!last) {
                ret = AVERROR(ENOMEM);
                break;
            }
            film->segments = last;
            film->segments[film->nb_segments++] = s;
        }
        nb_shown += p->shown;
        if (p->shown)
            max_pts = FFMAX(max_pts, p->pts);
    }
    av_free(pts);
    return ret;
}

int64_t film_first(const Film *film, int segment)
{
    return segment >= film->nb_segments ? film->nb_frames :
           segment ? film->segments[segment].number + film->past : 0;
}

void film_free(Film *film)
{
    av_freep(&film->packets);
    av_freep(&film->segments);
    memset(film, 0, sizeof(*film));
}
