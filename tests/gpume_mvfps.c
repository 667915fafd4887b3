/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the pictures that mvfps makes, in memory and on a device, with those of the oracle, sample by
 * sample.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/scene.h"
#include "libavfilter/gpume/mvfps/mvfps.h"
#include "libavfilter/gpume/mvfps/timeline.h"
#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/field/sidedata.h"

#include "gpume_harness.h"
#include "gpume_oracle_mvfps.h"
#include "gpume_filter_harness.h"

#define MAX_FRAMES  4
#define MAX_VECTORS 4096

enum Content {
    CONTENT_RANDOM,
    CONTENT_TEXTURE,    ///< moves, has noise
    CONTENT_HALVES,     ///< two textures that move differently
    CONTENT_FLAT,
    CONTENT_EXTREME,    ///< samples of 0 and maximum
    CONTENT_FLICKER,    ///< alternating pictures of 0 and of maximum
    CONTENT_NB
};

static const char *const content_names[CONTENT_NB] = {
    "random", "texture", "halves", "flat", "extreme", "flicker",
};

/** Kinds of vectors: those of accelerated motion, the true ones, nearly true ones, arbitrary ones, ... */
enum Motion {
    MOTION_ACCELERATED,
    MOTION_TRUE,
    MOTION_NEAR,
    MOTION_RANDOM,
    MOTION_ZERO,
    MOTION_FAR,         ///< outside the picture
    MOTION_HUGE,
    MOTION_WILD,        ///< side data that no search writes
    MOTION_MIXED,
    MOTION_NB
};

static const char *const motion_names[MOTION_NB] = {
    "accelerated", "true", "near", "random", "zero", "far", "huge", "wild", "mixed",
};

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P,
    AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_NV12,
    AV_PIX_FMT_NV24, AV_PIX_FMT_GBRP, AV_PIX_FMT_GRAY10, AV_PIX_FMT_YUV420P10,
    AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010, AV_PIX_FMT_P016, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_NV16, AV_PIX_FMT_YUV422P, AV_PIX_FMT_P210,
};

/** Changes of velocity of MOTION_ACCELERATED, relative to the limits of the definition. */
enum Change {
    CHANGE_ANY,
    CHANGE_DIFFERENCE,  ///< their difference is near the limit
    CHANGE_SUM,         ///< their sum is near the limit
    CHANGE_NB
};

typedef struct Case {
    uint64_t seed;
    TestRandom r;
    TestShape shape;
    enum Content content;
    int fades;                          ///< textures become brighter and darker
    int repeats;                        ///< textures do not move
    enum Motion motion;
    int mx[2], my[2];           ///< motion of the textures from picture to picture, in quarter samples
    enum Change change;
    int changes[2][2][2];       ///< changes of velocity: by texture, before and after, x and y
    int slopes[2][2][2];        ///< across and down; by velocity and change, x and y; per 64 samples
    int shake;                  ///< random part of MOTION_ACCELERATED, in quarter samples
    int distances[MAX_FRAMES - 1][2];   ///< distances of each pair from the frames before and after it
    int noise;                  ///< amplitude in units of 8-bit samples
    int block;                  ///< side of a block; 0: mixed sizes
    int holes;                  ///< number of blocks of 8 without a vector
    int scale;                  ///< motion_scale; 0: mixed
    int junk;                   ///< words have bits below their samples

    int nb_frames;
    AVFrame *frames[MAX_FRAMES];
    uint8_t *copies[MAX_FRAMES];                ///< copies of the frames' bytes
    uint16_t *samples[MAX_FRAMES][4];           ///< without padding bits
} Case;

static int nb_made, nb_offset, nb_blends, nb_copies, nb_cuts, nb_fades, nb_repeats, nb_on_device;

/* Pictures */

/* Returns how far a texture has moved in picture n; i: x or y. */
static int way(const Case *c, int part, int n, int i)
{
    const int change = c->motion == MOTION_ACCELERATED && c->change == CHANGE_ANY;

    return n * (i ? c->my : c->mx)[part] + change * c->changes[part][0][i] * (n * (n - 1) / 2);
}

static int draw_sample(Case *c, int n, int i, int x, int y, int flat)
{
    const int part = c->content == CONTENT_HALVES && x >= test_width(&c->shape, i) / 2;
    const int max = (1 << c->shape.depth) - 1, moved = c->repeats ? 0 : n;
    int v;

    switch (c->content) {
    case CONTENT_RANDOM:  return test_draw(&c->r, max + 1);
    case CONTENT_FLAT:    return flat;
    case CONTENT_EXTREME: return test_draw(&c->r, 2) ? max : 0;
    case CONTENT_FLICKER: return n & 1 ? max : 0;
    default:
        v = test_texture(c->seed + 4 * part + i, 4 * x - (way(c, part, moved, 0) >> test_shift_x(&c->shape, i)),
                         4 * y - (way(c, part, moved, 1) >> test_shift_y(&c->shape, i)), 4);
        /* each picture is darker than the one before, or dark changes to bright */
        if (c->fades)
            v = v * (8 - 3 * moved % 8) / 8;
        v = (v << (c->shape.depth - 8)) +
            test_draw_range(&c->r, -c->noise, c->noise) * (1 << (c->shape.depth - 8));
        return av_clip(v, 0, max);
    }
}

/* Vectors */

static int draw_motion(Case *c, enum Motion motion, int truth)
{
    const int sign = test_draw(&c->r, 2) ? 1 : -1;

    switch (motion) {
    case MOTION_TRUE:   return truth;
    case MOTION_NEAR:   return truth + test_draw_range(&c->r, -3, 3);
    case MOTION_RANDOM: return test_draw_range(&c->r, -80, 80);
    case MOTION_FAR:    return sign * test_draw_range(&c->r, 200, 1200);
    case MOTION_HUGE:   return sign * test_draw_range(&c->r, 20000, 131000);
    default:            return 0;
    }
}

/* Returns x or y of a vector of frame n, which is the first or the second frame of a pair. */
static int draw_accelerated(Case *c, int n, int part, int x, int y, int future, int i)
{
    const int after = n & 1, pair = FFMIN(n - after, c->nb_frames - 2);
    const int whole = c->distances[pair][after];
    const int step = way(c, part, n - after + 1, i) - way(c, part, n - after, i) +
                     (c->slopes[0][0][i] * x + c->slopes[1][0][i] * y) / 64;
    const int change = c->changes[part][after][i] +
                       (c->slopes[0][1][i] * x + c->slopes[1][1][i] * y) / 64;
    int v;

    if (after != future)
        v = future ? step : -step;
    else
        v = lrint(whole * ((256 + whole) * change + (future ? 512. : -512.) * step) / 131072);
    return v + test_draw_range(&c->r, -c->shake, c->shake);
}

static void draw_vector(Case *c, AVMotionVector *mv, int n, int x, int y, int w, int h, int future)
{
    const int rare = test_draw(&c->r, 24);      // a distance other than 1
    static const int scales[] = { 1, 2, 4, 4, 3, 5, 16, 32, 1000, 0 };
    const int scale = c->scale ? c->scale : scales[test_draw(&c->r, FF_ARRAY_ELEMS(scales))];
    const enum Motion motion = c->motion == MOTION_MIXED ? test_draw(&c->r, MOTION_MIXED)
                                                         : c->motion;
    const int part = c->content == CONTENT_HALVES && x >= c->shape.w / 2;

    memset(mv, 0, sizeof(*mv));
    if (motion == MOTION_WILD) {
        for (int i = 0; i < sizeof(*mv); i++)
            ((uint8_t *)mv)[i] = test_draw(&c->r, 256);
        mv->motion_scale = scale;
        if (test_draw(&c->r, 2)) {
            mv->dst_x = test_draw(&c->r, c->shape.w);
            mv->dst_y = test_draw(&c->r, c->shape.h);
            mv->src_x = mv->dst_x + test_draw_range(&c->r, -30, 30);
            mv->src_y = mv->dst_y + test_draw_range(&c->r, -30, 30);
        }
    } else {
        const int sign = future ? 1 : -1, s = FFMAX(scale, 1);
        const int accelerated = motion == MOTION_ACCELERATED;
        const int dx = accelerated ? draw_accelerated(c, n, part, x, y, future, 0)
                                   : draw_motion(c, motion, sign * c->mx[part]);
        const int dy = accelerated ? draw_accelerated(c, n, part, x, y, future, 1)
                                   : draw_motion(c, motion, sign * c->my[part]);

        mv->w            = w;
        mv->h            = h;
        mv->dst_x        = x + w / 2;
        mv->dst_y        = y + h / 2;
        mv->motion_scale = scale;
        mv->motion_x     = dx * (int64_t)s / 4;
        mv->motion_y     = dy * (int64_t)s / 4;
        mv->src_x        = av_clip_int16(mv->dst_x + mv->motion_x / s);
        mv->src_y        = av_clip_int16(mv->dst_y + mv->motion_y / s);
        mv->flags        = !test_draw(&c->r, 4);
    }
    mv->source = future ? 1 + !rare : rare > 1 ? -1 : -2 * rare;
}

static int draw_field(Case *c, AVMotionVector *mvs, int nb, int n, int future)
{
    if (!c->block) {
        for (int i = test_draw(&c->r, c->shape.w * c->shape.h / 24 + 4); i >= 0 && nb < MAX_VECTORS; i--)
            draw_vector(c, &mvs[nb++], n, test_draw_range(&c->r, -20, c->shape.w + 2),
                        test_draw_range(&c->r, -20, c->shape.h + 2),
                        test_draw(&c->r, 30), test_draw(&c->r, 30), future);
        return nb;
    }
    for (int y = 0; y < c->shape.h; y += c->block)
        for (int x = 0; x < c->shape.w && nb < MAX_VECTORS; x += c->block)
            if (test_draw(&c->r, 8) >= c->holes)
                draw_vector(c, &mvs[nb++], n, x, y, c->block, c->block, future);
    return nb;
}

static void draw_side_data(Case *c, AVFrame *f, int n)
{
    AVMotionVector *mvs = test_alloc(av_calloc(MAX_VECTORS, sizeof(*mvs)));
    const int most = c->motion == MOTION_ACCELERATED && test_draw(&c->r, 16);
    const int fields = most ? 3 : test_draw(&c->r, 6);      // all but 0 to 2: both
    int nb = 0;

    if (fields & 1 || fields > 2)
        nb = draw_field(c, mvs, nb, n, 0);
    if (fields & 2 || fields > 2)
        nb = draw_field(c, mvs, nb, n, 1);
    if (!test_draw(&c->r, 3))                   // in any order
        for (int i = nb - 1; i > 0; i--)
            FFSWAP(AVMotionVector, mvs[i], mvs[test_draw(&c->r, i + 1)]);
    if (nb || test_draw(&c->r, 2)) {
        const size_t size = nb * sizeof(*mvs);
        const size_t rest = test_draw(&c->r, 4) ? 0 : test_draw(&c->r, sizeof(*mvs));
        AVFrameSideData *sd =
            test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS, size + rest));

        memset(sd->data, TEST_CANARY, size + rest);
        memcpy(sd->data, mvs, size);
    }
    av_free(mvs);
}

/* The oracle's field of a frame. */
static void read_field(const Case *c, BetweenField *field, const AVFrame *f, int future)
{
    const AVFrameSideData *sd = av_frame_get_side_data(f, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t nb = gpume_nb_vectors(sd);

    memset(field, 0, sizeof(*field));
    field->blocks = test_alloc(av_calloc(nb + 1, sizeof(*field->blocks)));
    for (size_t i = 0; i < nb; i++) {
        GpumeBlockVector v;

        if (gpume_read_vector(&v, sd, i, c->shape.w, c->shape.h) && v.distance == (future ? 1 : -1))
            field->blocks[field->nb_blocks++] =
                (BetweenBlock) { gpume_block_left(&v), gpume_block_top(&v), v.w, v.h, v.dx, v.dy };
    }
}

/* Cases */

/* Sets the distances of a pair from the frames before and after it, in 1/256 of that within the pair. */
static void draw_distances(Case *c, int *distances)
{
    static const int some[] = { 63, 64, 100, 171, 255, 256, 257, 300, 512, 1023, 1024, 1025, 0 };
    const int even = test_draw(&c->r, 2);

    for (int i = 0; i < 2; i++) {
        const int which = test_draw(&c->r, FF_ARRAY_ELEMS(some) + 1);

        distances[i] = even ? 256 : which < FF_ARRAY_ELEMS(some) ? some[which]
                                  : test_draw_range(&c->r, 64, 1024);
    }
}

/* Draws both changes of a texture's velocity. */
static void draw_changes(Case *c, int changes[2][2])
{
    /* the part that is horizontal; the rest is vertical */
    const int across = test_draw_range(&c->r, 0, 256);
    const int difference = 128 + test_draw_range(&c->r, -1, 1), part = test_draw_range(&c->r, 0, difference);
    const int most = test_draw(&c->r, 2) ? 60 : 12;

    for (int i = 0; i < 2; i++) {
        const int sign = test_draw(&c->r, 2) ? 1 : -1;

        changes[0][i] = changes[1][i] = test_draw_range(&c->r, -most, most);
        if (c->change == CHANGE_DIFFERENCE) {
            changes[1][i] -= sign * (i ? difference - part : part);
        } else if (c->change == CHANGE_SUM) {
            changes[0][i] = changes[1][i] = sign * (i ? 256 - across : across);
            changes[1][i] -= i ? 0 : sign * (int)test_draw(&c->r, 2);
        }
    }
}

static void draw_case(Case *c, uint64_t seed, int large)
{
    static const int scales[] = { 1, 2, 4, 4, 0 }, blocks[] = { 4, 8, 8, 16, 16, 0 };
    const int size = test_mix(seed) % 8;
    int flat;

    memset(c, 0, sizeof(*c));
    c->seed   = seed;
    c->r      = (TestRandom) { .state = test_mix(seed + 1) };
    c->shape.w = 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 40 : 90);
    c->shape.h = 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 36 : 70);
    /* so that a sample of the small pictures stands for several */
    if (size == 6 && !test_draw(&c->r, 3)) {
        c->shape.w = test_draw_range(&c->r, 120, 400);
        c->shape.h = test_draw_range(&c->r, 1, 24);
    }
    test_set_format(&c->shape, formats[seed % FF_ARRAY_ELEMS(formats)]);
    c->content = test_draw(&c->r, 2) ? CONTENT_TEXTURE + test_draw(&c->r, 2)
                                     : test_draw(&c->r, CONTENT_NB);
    c->fades   = !(test_mix(seed) % 3);
    c->repeats = !(test_mix(seed) % 5);
    c->motion = test_draw(&c->r, 2) ? test_draw(&c->r, 4) : test_draw(&c->r, MOTION_NB);
    if (test_draw(&c->r, 2))
        c->motion = MOTION_ACCELERATED;
    c->block  = blocks[test_draw(&c->r, FF_ARRAY_ELEMS(blocks))];
    c->scale  = scales[test_draw(&c->r, FF_ARRAY_ELEMS(scales))];
    c->holes  = test_draw(&c->r, 2) ? 0 : test_draw(&c->r, 8);
    c->noise  = test_draw(&c->r, 2) ? 0 : test_draw(&c->r, 24);
    c->junk   = !test_draw(&c->r, 2);
    for (int i = 0; i < 2; i++) {
        c->mx[i] = test_draw_range(&c->r, -40, 40);
        c->my[i] = test_draw_range(&c->r, -24, 24);
    }
    c->change = test_draw(&c->r, 2) ? CHANGE_ANY : test_draw(&c->r, CHANGE_NB);
    c->shake  = test_draw(&c->r, 3) ? test_draw(&c->r, 4) : 0;
    for (int i = 0; i < 2; i++)
        draw_changes(c, c->changes[i]);
    if (c->change == CHANGE_ANY && test_draw(&c->r, 2))
        for (int i = 0; i < 8; i++)
            c->slopes[i & 1][i >> 1 & 1][i >> 2] = test_draw_range(&c->r, -40, 40);
    for (int i = 0; i < MAX_FRAMES - 1; i++)
        draw_distances(c, c->distances[i]);
    if (c->motion == MOTION_ACCELERATED && !large && !test_draw(&c->r, 8)) {
        c->mx[0] *= 500;
        c->my[1] *= 500;
    }
    c->nb_frames = test_draw_range(&c->r, 2, size < 7 ? MAX_FRAMES : 2);
    if (large) {
        /* the largest block, and sums of its samples that have 33 bits */
        c->shape     = test_shape(AV_PIX_FMT_YUV444P16, 230, 210);
        c->content   = CONTENT_FLICKER;
        c->motion    = MOTION_NEAR;
        c->block     = 255;
        c->holes     = 0;
        c->nb_frames = 2;
    }
    for (int n = 0; n < c->nb_frames; n++) {
        AVFrame *f = c->frames[n] = test_canaries(&c->shape, &c->r);

        flat = test_draw(&c->r, 1 << c->shape.depth);
        for (int i = 0; i < c->shape.nb_components; i++) {
            const int w = test_width(&c->shape, i), h = test_height(&c->shape, i);
            const int shift = test_component(&c->shape, i)->shift;
            uint16_t *dst = c->samples[n][i] = test_alloc(av_malloc_array(w * h, sizeof(*dst)));

            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++, dst++) {
                    *dst = draw_sample(c, n, i, x, y, flat);
                    test_set_word(&c->shape, f, i, x, y,
                                  *dst << shift | (c->junk ? test_draw(&c->r, 1 << shift) : 0));
                }
        }
        draw_side_data(c, f, n);
        c->copies[n] = test_bytes(f);
    }
}

static void free_case(Case *c)
{
    for (int n = 0; n < c->nb_frames; n++) {
        av_frame_free(&c->frames[n]);
        av_freep(&c->copies[n]);
        for (int i = 0; i < 4; i++)
            av_freep(&c->samples[n][i]);
    }
}

/* Frames on the device */

/* Returns whether the device can have such pictures and has kernels for them. */
static int fits_device(const Case *c)
{
    const AVPixFmtDescriptor *desc = c->shape.desc;

    return desc->log2_chroma_w <= 1 && desc->log2_chroma_h <= desc->log2_chroma_w && test_fits_device(c->shape.format);
}

/* Where pictures are made, and the frames between which they are made. */
typedef struct Target {
    Mvfps *mvfps;
    AVBufferRef *hw_frames;             ///< NULL: in memory
    AVFrame *frames[MAX_FRAMES];
} Target;

static void open_target(Target *t, const Case *c, const MvfpsConfig *cfg, int on_device)
{
    MvfpsConfig with_frames = *cfg;
    int ret;

    memset(t, 0, sizeof(*t));
    if (on_device)
        t->hw_frames = with_frames.hw_frames = test_device_frames(&c->shape);
    for (int i = 0; i < c->nb_frames; i++)
        t->frames[i] = test_upload(&c->shape, t->hw_frames, c->frames[i]);
    ret = ff_mvfps_open(&t->mvfps, &with_frames);
    CHECK(ret >= 0, "%s", av_err2str(ret));
}

static void close_target(Target *t)
{
    ff_mvfps_close(&t->mvfps);
    for (int i = 0; i < MAX_FRAMES; i++)
        av_frame_free(&t->frames[i]);
    av_buffer_unref(&t->hw_frames);
}

/* Returns the expected word of a picture. With MVFPS_MCI, b must have been made. */
static int expected_word(const Case *c, const BetweenComponent *m, int n, int i, int at, int part,
                         enum MvfpsMode mode)
{
    if (mode == MVFPS_DUP)
        return test_word(&c->shape, c->frames[n + (part > 2048)], i, at % m->w, at / m->w);
    return (mode == MVFPS_MCI ? m->out[at] : mvfps_oracle_blend(m->a[at], m->c[at], part)) <<
           test_component(&c->shape, i)->shift;
}

/*
 * Makes a picture and compares all of it.
 * @param wanted requested mode
 * @param mode   expected mode
 */
static void check_make(Case *c, Target *t, Between *b, int n, int part, enum MvfpsMode wanted, enum MvfpsMode mode)
{
    TestOutput out   = test_output(&c->shape, &c->r, t->hw_frames);
    const int ret    = ff_mvfps_make(t->mvfps, out.frame, part, wanted);
    TestShape words  = c->shape;
    uint16_t *all[4] = { NULL };

    CHECK(ret >= 0, "%s", av_err2str(ret));
    b->t = part;
    for (int i = 0; i < c->shape.nb_components; i++) {
        BetweenComponent *m = &b->components[i];

        *m = (BetweenComponent) {
            .w = test_width(&c->shape, i), .h = test_height(&c->shape, i),
            .sx = test_shift_x(&c->shape, i), .sy = test_shift_y(&c->shape, i),
            .a = c->samples[n][i], .c = c->samples[n + 1][i],
        };
        all[i] = m->out = test_alloc(av_malloc_array(m->w * m->h, sizeof(*m->out)));
    }
    if (mode == MVFPS_MCI) {
        mvfps_oracle_make(b);
        nb_offset += !!b->nb_offsets;
    }
    for (int i = 0; i < c->shape.nb_components; i++)
        for (int at = 0; at < b->components[i].w * b->components[i].h; at++)
            all[i][at] = expected_word(c, &b->components[i], n, i, at, part, mode);
    words.is_words = 1;
    test_check_output(&words, &out, all, "picture", n);
    if (!t->hw_frames)
        test_check_unchanged(c->frames, c->copies, c->nb_frames);
    for (int i = 0; i < c->shape.nb_components; i++)
        av_free(all[i]);
    nb_made      += mode == MVFPS_MCI;
    nb_blends    += mode == MVFPS_BLEND;
    nb_copies    += mode == MVFPS_DUP;
    nb_on_device += !!t->hw_frames;
}

static void run_pair(Case *c, Target *t, int n, const char *name)
{
    const int *distances = c->distances[n];
    Between b = { .w = c->shape.w, .h = c->shape.h, .d = c->shape.depth, .nb_components = c->shape.nb_components,
                  .p = distances[0], .q = distances[1] };
    enum MvfpsMode begun = MVFPS_MCI, cut = MVFPS_BLEND, found = MVFPS_MCI;
    char pair[500];
    int ret, nb, looked = 0;

    read_field(c, &b.f,  c->frames[n],     1);
    read_field(c, &b.k,  c->frames[n + 1], 0);
    read_field(c, &b.f0, c->frames[n],     0);
    read_field(c, &b.k0, c->frames[n + 1], 1);
    nb = b.f.nb_blocks + b.k.nb_blocks;
    if (!test_draw(&c->r, 6))
        begun = MVFPS_BLEND;
    snprintf(pair, sizeof(pair), "%s; pair %d, F, K, F0, K0 have %d, %d, %d, %d vectors, "
             "distances %d and %d", name, n, b.f.nb_blocks, b.k.nb_blocks, b.f0.nb_blocks,
             b.k0.nb_blocks, distances[0], distances[1]);
    snprintf(test_context, sizeof(test_context), "%s", pair);
    ret = ff_mvfps_begin(t->mvfps, t->frames[n], t->frames[n + 1], distances, begun);
    CHECK(ret == (begun == MVFPS_MCI && nb), "%d vectors, but %d", nb, ret);
    if (!test_draw(&c->r, 2)) {
        const int is_repeat = mvfps_oracle_is_repeat(c->samples[n][0], c->samples[n + 1][0], c->shape.w,
                                                     c->shape.h, c->shape.depth);

        ret = ff_mvfps_is_repeat(t->mvfps, t->frames[n], t->frames[n + 1]);
        CHECK(ret == is_repeat, "%d instead of %d: a repeat", ret, is_repeat);
        nb_repeats += is_repeat;
    }
    for (int i = test_draw(&c->r, 3); i >= 0; i--) {
        enum MvfpsMode mode = begun == MVFPS_MCI && nb && (i || test_draw(&c->r, 3)) ? MVFPS_MCI : MVFPS_BLEND;
        int part = test_draw(&c->r, 3) ? test_draw_range(&c->r, 1, 4095)
                                      : (int[]) { 1, 2048, 4095 }[test_draw(&c->r, 3)];

        if (!looked && !test_draw(&c->r, 3)) {
            const double figure = mvfps_oracle_new_detail(c->samples[n][0], c->samples[n + 1][0], c->shape.w,
                                                          c->shape.h, c->shape.depth);
            const int is_cut = test_draw(&c->r, 2) && figure > 0;
            int is_fade;

            cut    = test_draw(&c->r, 2) ? MVFPS_BLEND : MVFPS_DUP;
            is_fade = mvfps_oracle_is_fade(c->samples[n][0], c->samples[n + 1][0], c->shape.w, c->shape.h,
                                           c->shape.depth);
            found   = is_cut && !is_fade ? cut : mode;
            nb_cuts  += is_cut && !is_fade;
            nb_fades += is_cut && is_fade;
            ret    = ff_mvfps_find_cut(t->mvfps, mode, cut, is_cut ? figure : nextafter(figure, INFINITY));
            looked = 1 + mode;
            snprintf(test_context, sizeof(test_context), "%s, figure %.17g", pair, figure);
            CHECK(ret == (t->hw_frames ? mode : found), "mode %d", ret);
        }
        /* the result on the device depends on what it has found */
        if (looked)
            mode = looked - 1;
        /* at a phase near one of the frames, long vectors still point into the picture */
        if (c->motion > MOTION_ZERO && test_draw(&c->r, 2))
            part = part & 1 ? 1 + part % 47 : 4095 - part % 47;
        if (mode == MVFPS_BLEND)
            part = av_clip(part + test_draw_range(&c->r, -1, 1), 0, 4096);
        snprintf(test_context, sizeof(test_context), "%s, %s at %d%s", pair,
                 mode == MVFPS_MCI ? "mci" : "blend", part, !looked ? "" : found == mode ? ", no cut" : ", a cut");
        if (!looked)
            check_make(c, t, &b, n, part, mode, mode);
        else if (t->hw_frames)
            check_make(c, t, &b, n, part, mode, found);
        else if (found != MVFPS_DUP)
            check_make(c, t, &b, n, part, found, found);
    }
    av_freep(&b.f.blocks);
    av_freep(&b.k.blocks);
    av_freep(&b.f0.blocks);
    av_freep(&b.k0.blocks);
}

/* Makes a frame a copy of another one. */
static void check_copy(Case *c, Target *t)
{
    AVFrame *out = test_upload(&c->shape, t->hw_frames, NULL), *made;
    int ret = ff_mvfps_copy(t->mvfps, out, t->frames[0]), nb_wrong;

    CHECK(ret >= 0, "%s", av_err2str(ret));
    made = test_download(&c->shape, out);
    nb_wrong = test_nb_differences(&c->shape, made, c->frames[0]);
    CHECK(!nb_wrong, "%d words of a copy are wrong", nb_wrong);
    test_check_beside(&c->shape, made);
    av_frame_free(&made);
    av_frame_free(&out);
}

/* A seed gives the same case on the device as in memory. */
static void run_case(uint64_t seed, int on_device)
{
    TestExecutor executor = { .seed = seed };
    MvfpsConfig cfg = { 0 };
    char name[400];
    Target t;
    Case c;

    test_begin_case(seed);
    draw_case(&c, seed, seed % 128 == 77);
    cfg.executor = test_draw_executor(&c.r, &executor);
    snprintf(name, sizeof(name), "-seed %" PRIu64 "%s: %dx%d %s, %s, vectors %s in blocks of %d, "
             "%d of 8 missing, scale %d, %d threads, %s", seed, on_device ? " -device" : "", c.shape.w, c.shape.h,
             c.shape.desc->name, content_names[c.content], motion_names[c.motion], c.block, c.holes, c.scale,
             cfg.executor.nb_threads, test_executor_names[executor.kind]);
    snprintf(test_context, sizeof(test_context), "%s", name);
    if (!on_device || fits_device(&c)) {
        open_target(&t, &c, &cfg, on_device);
        for (int n = 0; n + 1 < c.nb_frames && t.mvfps; n++) {
            run_pair(&c, &t, n, name);
            if (on_device && !test_draw(&c.r, 4))
                check_copy(&c, &t);
        }
        close_target(&t);
    }
    free_case(&c);
}

/* Scenes */

#define SCENE_W 256
#define SCENE_H 144

/* Returns a value from 0 to 255 of an infinite picture that has detail of all sizes, like photos. */
static double photo(uint64_t seed, double x, double y)
{
    double sum = 0, weight = 0;

    for (int size = 4; size <= 128; size *= 2) {
        const double w = sqrt(size);

        sum    += w * test_texture(seed + size, lrint(x * 16 / size), lrint(y * 16 / size), 4);
        weight += w;
    }
    return 128 + 2.5 * (sum / weight - 128);
}

/** How a photo changes from one frame to the next. */
typedef struct Scenery {
    const char *name;
    double dx, dy, zoom;        ///< motion from the first frame to the second, relative to width and height
    double shutter;             ///< exposure time, relative to the time between frames
    double fire;                ///< radius of an explosion in the second frame, relative to the height; it doubles
    double light;               ///< levels that are added to the second frame
    double gain;                ///< factor of the second frame
    int other;                  ///< the second frame shows another photo, or another part of it
    double still;               ///< share of the width, on the left, that stands still
    double passes;              ///< width of a car that is in the second frame only, relative to the width
    int is_cut;
} Scenery;

static const Scenery sceneries[] = {
    { "still",                      .zoom = 1, .gain = 1 },
    { "pan of 1/40 of the width",   .dx = 1 / 40.,  .zoom = 1, .gain = 1 },
    { "pan of 1/20",                .dx = 1 / 20., .dy = 1 / 60., .zoom = 1, .gain = 1 },
    { "pan of 1/10",                .dx = 1 / 10., .dy = 1 / 60., .zoom = 1, .gain = 1 },
    { "pan of 1/6",                 .dx = 1 / 6., .dy = 1 / 60., .zoom = 1, .gain = 1 },
    { "blurred pan of 1/40",        .dx = 1 / 40.,  .shutter = .5, .zoom = 1, .gain = 1 },
    { "blurred pan of 1/20",        .dx = 1 / 20., .shutter = 1, .zoom = 1, .gain = 1 },
    { "blurred pan of 1/10",        .dx = 1 / 10., .shutter = 1, .zoom = 1, .gain = 1 },
    { "blurred pan of 1/6",         .dx = 1 / 6., .shutter = 1, .zoom = 1, .gain = 1 },
    { "tilt of 1/9 of the height",  .dy = 1 / 9., .shutter = .5, .zoom = 1, .gain = 1 },
    { "shake",                      .dx = -1 / 30., .dy = 1 / 20., .shutter = 1, .zoom = 1, .gain = 1 },
    { "strong shake",               .dx = 1 / 13., .dy = -1 / 13., .shutter = .5, .zoom = 1, .gain = 1 },
    { "zoom",                       .zoom = 1.1, .gain = 1 },
    { "explosion",                  .dx = 1 / 100., .zoom = 1, .fire = .3, .light = 30, .gain = 1 },
    { "large explosion",            .dx = 1 / 100., .zoom = 1, .fire = .6, .light = -40, .gain = 1 },
    { "camera flash",               .zoom = 1, .light = 50, .gain = 1 },
    { "fade",                       .zoom = 1, .gain = .9 },
    { "another scene",              .zoom = 1, .gain = 1, .other = 2, .is_cut = 1 },
    { "another part of a scene",    .zoom = 1, .gain = 1, .other = 1, .is_cut = 1 },
    { "a similar scene, darker",    .zoom = 1, .gain = .8, .other = 2, .is_cut = 1 },
    { "close-up",                   .zoom = 3, .gain = 1, .is_cut = 1 },
    { "another scene beside a still",       .zoom = 1, .gain = 1, .other = 2, .still = .5, .is_cut = 1 },
    { "a small part has another scene",     .zoom = 1, .gain = 1, .other = 2, .still = .7 },
    { "a car passes a still",               .zoom = 1, .gain = 1, .passes = .3 },
    { "a car passes a pan",                 .dx = 1 / 20., .zoom = 1, .gain = 1, .passes = .3 },
    { "strong flash",                       .zoom = 1, .light = 90, .gain = 1 },
    { "flicker",                            .zoom = 1, .gain = .4 },
};

/* Returns a sample of frame 0 or 1 at one moment of its exposure. */
static double scene_sample(const Scenery *s, uint64_t seed, int n, double moment, int x, int y)
{
    const double time = n + moment * s->shutter, zoom = pow(s->zoom, time);
    const double cx = (x - SCENE_W / 2) / zoom, cy = (y - SCENE_H / 2) / zoom;
    const int other = n && x >= s->still * SCENE_W ? s->other : 0;

    if (n && fabs(x - SCENE_W / 2) < s->passes / 2 * SCENE_W && y > SCENE_H / 8)
        return photo(seed + 2000, x, y);
    return photo(seed + (other == 2 ? 1000 : 0), cx - time * s->dx * SCENE_W + (other == 1 ? 3 * SCENE_W : 0),
                 cy - time * s->dy * SCENE_H);
}

static AVFrame *draw_scene(const Scenery *s, uint64_t seed, int n)
{
    const int nb = s->shutter > 0 ? 6 : 1;
    AVFrame *f = test_alloc_frame(AV_PIX_FMT_GRAY8, SCENE_W, SCENE_H);
    TestRandom r = { .state = seed + n };

    for (int y = 0; y < SCENE_H; y++)
        for (int x = 0; x < SCENE_W; x++) {
            const double radius = s->fire * SCENE_H * (n ? 1 : .5);
            const double distance = hypot(x - SCENE_W * .4, y - SCENE_H * .6);
            double v = 0;

            for (int i = 0; i < nb; i++)
                v += scene_sample(s, seed, n, (i + .5) / nb, x, y) / nb;
            /* half of the visible explosion is new in each frame */
            if (s->fire > 0 && distance < radius)
                v = FFMAX(v, 90 + .5 * photo(seed + 50, x, y) + .5 * photo(seed + 60 + n, x, y));
            v = n ? v * s->gain + s->light : v;
            f->data[0][y * f->linesize[0] + x] = av_clip(lrint(v) + test_draw_range(&r, -2, 2), 0, 255);
        }
    return f;
}

/* Tests that the default of scene finds exactly the cuts, from the pictures alone. */
static void find_cuts(int nb)
{
    static const int distances[2] = { 256, 256 };
    TestExecutor executor = { TEST_SERIAL };
    const MvfpsConfig cfg = { .executor = { test_execute, &executor, 1 } };

    for (int i = 0; i < FF_ARRAY_ELEMS(sceneries); i++)
        for (int seed = 0; seed < nb; seed++) {
            const Scenery *s = &sceneries[i];
            AVFrame *before = draw_scene(s, 7 * seed, 0), *after = draw_scene(s, 7 * seed, 1);
            Mvfps *mvfps;
            int ret;

            snprintf(test_context, sizeof(test_context), "%s, photo %d", s->name, seed);
            ret = ff_mvfps_open(&mvfps, &cfg);
            if (ret >= 0)
                ret = ff_mvfps_begin(mvfps, before, after, distances, MVFPS_BLEND);
            if (ret >= 0)
                ret = ff_mvfps_find_cut(mvfps, MVFPS_BLEND, MVFPS_DUP, GPUME_DEFAULT_SCENE);
            CHECK(ret == (s->is_cut ? MVFPS_DUP : MVFPS_BLEND), "%s", ret < 0 ? av_err2str(ret) :
                  s->is_cut ? "the cut is not found" : "it is taken for a cut");
            ff_mvfps_close(&mvfps);
            av_frame_free(&before);
            av_frame_free(&after);
        }
}

/*
 * Draws vectors, some of which are inconsistent. Some share a motion, side by side or not, or have one that changes
 * slowly.
 */
static void draw_motions(AVMotionVector *mvs, int nb, TestRandom *r)
{
    static const int shares[] = { 0, 1, 2, 5, 10, 20, 60, 101 };
    const int common = shares[test_draw(r, 8)], likely = shares[test_draw(r, 8)];
    const int together = test_draw(r, 3), drift = test_draw(r, 2);
    const int scale = 1 << test_draw(r, 5), x = test_draw_range(r, -40, 40), y = test_draw_range(r, -40, 40);
    const int far = test_draw(r, 4) ? 100 : INT_MAX / scale - 1;

    for (int i = 0; i < nb; i++) {
        const int shared = !together ? i * 100LL / nb < common : test_draw(r, 100) < common;
        const int to_x = shared ? x + (drift ? i / 4 : test_draw_range(r, -1, 1)) : test_draw_range(r, -far, far);
        const int to_y = shared ? y : test_draw_range(r, -far, far);

        mvs[i] = (AVMotionVector) {
            .source = test_draw(r, 50) ? -1 : 1, .motion_scale = test_draw(r, 100) ? scale : 0,
            .motion_x = to_x * scale + (test_draw(r, 3) ? 0 : test_draw_range(r, -scale / 2, scale / 2)),
            .motion_y = to_y * scale, .flags = test_draw(r, 100) >= likely && !shared,
        };
    }
}

/* Compares whether vectors show a motion with the oracle. */
static void motions(int nb_cases)
{
    static const int most[] = { 0, 3, 40, 899, 950, 2100, 8191, 9000 };
    AVMotionVector *mvs = test_alloc(av_malloc_array(9000, sizeof(*mvs)));
    int nb_beside = 0, nb_shared = 0, nb_none = 0;

    for (int i = 0; i < nb_cases; i++) {
        TestRandom r = { .state = i };
        const int largest = most[test_draw(&r, 8)], nb = test_draw(&r, 2) ? largest : test_draw(&r, largest + 1);
        int shows[2], found;

        draw_motions(mvs, nb, &r);
        snprintf(test_context, sizeof(test_context), "%d vectors, seed %d", nb, i);
        oracle_shows_motion(mvs, nb, shows);
        found = ff_gpume_scene_is_moving((const uint8_t *)mvs, nb, -1);
        CHECK(found == (shows[0] || shows[1]), "motion %d, but %d by neighbours and %d by a shared one", found,
              shows[0], shows[1]);
        nb_beside += shows[0] && !shows[1];
        nb_shared += shows[1] && !shows[0];
        nb_none   += !shows[0] && !shows[1];
    }
    snprintf(test_context, sizeof(test_context), "motions");
    CHECK(nb_beside > 4 && nb_shared > 4 && nb_none > 4, "%d by neighbours, %d by a shared motion, %d without one",
          nb_beside, nb_shared, nb_none);
    av_free(mvs);
}

/* Tests what is made before, between and after frames, at the end, at jumps and behind damaged times. */
static void decisions(void)
{
    /* times in units of 1/100 s, -1 at the end, for an output frame each 2; what is decided, as enum MvfpsAction has
     * it, with the tenth of each B; and the end of the last frame, or 0 */
    static const struct {
        const char *name;
        int64_t pts[5];
        int end;
        const char *actions;
    } rows[] = {
        { "twice the rate",   { 0, 4, 8, -1 },              0, "WOWB5NOWB5NOWW" },
        { "the last lasts",   { 0, 4, -1 },                 8, "WOWB5NOWAW" },
        { "half the rate",    { 0, 1, 2, 3, -1 },           0, "WOWNWNOWNWW" },
        { "3/2 of the rate",  { 0, 3, 6, -1 },              0, "WOWB7NWB3NOWW" },
        { "not later",        { 5, 5, 9, 8, -1 },           0, "WOWWB5NOWWW" },
        { "a jump",           { 0, 1000000, 1000004, -1 },  0, "WOWWJOB5NOWW" },
        { "a damaged time",   { 0, 1000000, 4, -1 },        0, "WOWWDB5NOWW" },
        { "a jump at the end", { 0, 1000000, -1 },          0, "WOWWJOW" },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        char actions[64] = "";
        MvfpsTimeline t;
        int next = 0, is_over = 0, part;

        ff_mvfps_timeline_init(&t, &(MvfpsTimelineConfig) {
            .rate = { 50, 1 }, .time_base = { 1, 100 }, .in_time_base = { 1, 100 }, .gap = 2000000,
        });
        while (!is_over && strlen(actions) + 3 < sizeof(actions)) {
            const enum MvfpsAction action = ff_mvfps_timeline_decide(&t, &part, 10);

            snprintf(actions + strlen(actions), 3, action == MVFPS_BETWEEN ? "%c%d" : "%c", "WNJDOAB"[action], part);
            t.index += action >= MVFPS_ORIGINAL;
            if (action != MVFPS_WAIT)
                continue;
            is_over = t.has_ended;
            if (rows[i].pts[next] < 0)
                ff_mvfps_timeline_end(&t, AV_NOPTS_VALUE, rows[i].end);
            else
                ff_mvfps_timeline_take(&t, rows[i].pts[next++], 0);
        }
        CHECK(!strcmp(actions, rows[i].actions), "%s: %s instead of %s", rows[i].name, actions, rows[i].actions);
    }
}

/* Puts the times of frames, in steps of a grid of 3000 units, into a timeline. Replaces them by their final times. */
static void run_timeline(int64_t *times, int nb, int is_sparse)
{
    MvfpsTimeline t;
    int next = 0, first = 0, part;

    ff_mvfps_timeline_init(&t, &(MvfpsTimelineConfig) {
        .rate = { 60, 1 }, .time_base = { 1, 180000 }, .in_rate = { 60, 1 }, .in_time_base = { 1, 60 },
        .gap = 2000000, .is_sparse = is_sparse,
    });
    for (;;) {
        switch (ff_mvfps_timeline_decide(&t, &part, MVFPS_PARTS)) {
        case MVFPS_WAIT:
            if (t.has_ended)
                return;
            if (next == nb)
                ff_mvfps_timeline_end(&t, AV_NOPTS_VALUE, AV_NOPTS_VALUE);
            else
                CHECK(ff_mvfps_timeline_take(&t, 3000 * times[next], 3000), "frame %d is not taken", next);
            next += next < nb;
            break;
        case MVFPS_NEXT:
            first++;
            break;
        default:
            t.index++;
        }
        times[first] = t.pts[0];
    }
}

/* Tests that even sequences on a grid become even again, and that other times stay. */
static void even_times(void)
{
    enum { NB = 60 };
    /* frames of the sequence take so many steps of the grid; even: whether the grid explains enough of it */
    static const struct { int num, den, even; } rows[] = {
        { 5, 2, 1 }, { 5, 4, 1 }, { 6, 5, 1 }, { 12, 5, 1 }, { 3, 2, 1 }, { 4, 3, 1 }, { 5, 3, 1 }, { 7, 3, 1 },
        { 2, 1, 0 }, { 1, 1, 0 }, { 4, 1, 0 }, { 31, 30, 0 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++)
        for (int offset = 0; offset < rows[i].den; offset++) {
            int64_t times[NB], own[NB];

            snprintf(test_context, sizeof(test_context), "%d/%d steps, offset %d", rows[i].num, rows[i].den, offset);
            for (int k = 0; k < NB; k++)
                times[k] = own[k] = (k * rows[i].num + offset) / rows[i].den;
            run_timeline(times, NB, 1);
            for (int k = 1; k < NB; k++) {
                const int64_t step = rows[i].even ? 3000 * rows[i].num / rows[i].den : 3000 * (own[k] - own[k - 1]);

                CHECK(times[k] - times[k - 1] == step, "frame %d is %"PRId64" behind the one before it, not %"PRId64, k,
                      times[k] - times[k - 1], step);
                CHECK(llabs(times[k] - 3000 * own[k]) < 3000, "frame %d is shown at %"PRId64, k, times[k]);
            }
        }
    /* a single duplicate, and a frame that was lost */
    for (int is_sparse = 0; is_sparse < 2; is_sparse++) {
        int64_t times[NB];

        snprintf(test_context, sizeof(test_context), "a single duplicate, sparse: %d", is_sparse);
        for (int k = 0; k < NB; k++)
            times[k] = k + (k > NB / 2);
        run_timeline(times, NB, is_sparse);
        for (int k = 0; k < NB; k++)
            CHECK(times[k] == 3000 * (k + (k > NB / 2)), "frame %d is shown at %"PRId64, k, times[k]);
    }
}

/* Tests which side data is read: complete vectors whose block is at least partly in the picture. */
static void side_data(void)
{
    static const struct {
        int size, x, y, w, h;
        int found;
    } rows[] = {
        { -1, 16, 16, 16, 16, 0 },      // none
        {  0, 16, 16, 16, 16, 0 },
        { sizeof(AVMotionVector) - 1,     16, 16, 16, 16, 0 },
        { sizeof(AVMotionVector),         16, 16, 16, 16, 1 },
        { sizeof(AVMotionVector) + 1,     16, 16, 16, 16, 1 },
        { 3 * sizeof(AVMotionVector) - 1, 16, 16, 16, 16, 2 },
        { 3 * sizeof(AVMotionVector),     16, 16, 16, 16, 3 },
        { sizeof(AVMotionVector), 16, 16,  0, 16, 0 },
        { sizeof(AVMotionVector), 16, 16, 16,  0, 0 },
        { sizeof(AVMotionVector), -8, 16, 16, 16, 0 },
        { sizeof(AVMotionVector), -7, 16, 16, 16, 1 },
        { sizeof(AVMotionVector), 40, 16, 16, 16, 0 },
        { sizeof(AVMotionVector), 39, 16, 16, 16, 1 },
        { sizeof(AVMotionVector), 16, -8, 16, 16, 0 },
        { sizeof(AVMotionVector), 16, 32, 16, 16, 0 },
        { sizeof(AVMotionVector), 16, 31, 16, 16, 1 },
    };
    TestExecutor executor = { TEST_SERIAL };
    const MvfpsConfig cfg = { .executor = { test_execute, &executor, 1 } };

    for (int i = 0; i < 4 * FF_ARRAY_ELEMS(rows); i++) {
        const int row = i / 4, of_after = i & 1, future = i >> 1 & 1, size = rows[row].size;
        Case c = { .shape = test_shape(AV_PIX_FMT_GRAY8, 32, 24) };
        AVFrame *f[2] = { test_canaries(&c.shape, &c.r), test_canaries(&c.shape, &c.r) };
        Mvfps *mvfps;
        const int found = of_after != future ? rows[row].found : 0;
        int ret;

        if (size >= 0) {
            AVFrameSideData *sd =
                test_alloc(av_frame_new_side_data(f[of_after], AV_FRAME_DATA_MOTION_VECTORS, size));
            const AVMotionVector mv = {
                .source = future ? 1 : -1, .w = rows[row].w, .h = rows[row].h, .motion_scale = 1,
                .dst_x = rows[row].x, .dst_y = rows[row].y,
                .src_x = rows[row].x, .src_y = rows[row].y,
            };

            for (int at = 0; at < size; at += sizeof(mv))
                memcpy(sd->data + at, &mv, FFMIN(sizeof(mv), size - at));
        }
        snprintf(test_context, sizeof(test_context), "side data, row %d, of the frame %s, %s", row,
                 of_after ? "after" : "before", future ? "forward" : "back");
        ret = ff_mvfps_open(&mvfps, &cfg);
        if (ret >= 0)
            ret = ff_mvfps_begin(mvfps, f[0], f[1], (const int[2]) { 256, 256 }, MVFPS_MCI);
        CHECK(ret == !!found, "%d instead of %d", ret, !!found);
        ff_mvfps_close(&mvfps);
        av_frame_free(&f[0]);
        av_frame_free(&f[1]);
    }
}

/* The filter in its graph */

#define MAX_CASES 3

/** Successive frames of one format, and the output of mvfps. */
typedef struct Sequence {
    Case cases[MAX_CASES];      ///< each with its own size
    int nb_cases;
    TestFilter filter;
    int keep;                   ///< output frames stay on the device
    TestFrames in, out;
} Sequence;

static void draw_sequence(Sequence *q, uint64_t seed, int nb_cases, const char *options)
{
    int pts = 0;

    memset(q, 0, sizeof(*q));
    q->nb_cases = nb_cases;
    q->filter   = (TestFilter) { .name = "mvfps", .options = options, .nb_threads = 2 };
    for (int i = 0; i < nb_cases; i++) {
        draw_case(&q->cases[i], seed + (uint64_t)i * FF_ARRAY_ELEMS(formats), 0);
        for (int n = 0; n < q->cases[i].nb_frames; n++)
            q->cases[i].frames[n]->pts = pts++;
    }
}

/* These determine the distances of a pair from the frames around it. */
static void draw_times(Sequence *q, uint64_t seed)
{
    static const int steps[] = { 1, 1, 1, 2, 3, 4 }, durations[] = { 0, 1, 1, 1, 2, 3, 4, 9 };
    TestRandom r = { .state = test_mix(seed) };
    const int even = test_draw(&r, 2);
    int pts = 0;

    for (int i = 0; i < q->nb_cases; i++)
        for (int n = 0; n < q->cases[i].nb_frames; n++) {
            AVFrame *f = q->cases[i].frames[n];

            f->pts      = pts;
            f->duration = durations[test_draw(&r, FF_ARRAY_ELEMS(durations))];
            pts += even ? 1 : steps[test_draw(&r, FF_ARRAY_ELEMS(steps))];
        }
}

static void free_frames(Sequence *q)
{
    test_free_frames(&q->in);
    test_free_frames(&q->out);
}

static void free_sequence(Sequence *q)
{
    free_frames(q);
    for (int i = 0; i < q->nb_cases; i++)
        free_case(&q->cases[i]);
}

static void set_input(Sequence *q, int on_device)
{
    for (int i = 0; i < q->nb_cases; i++)
        test_add_frames(&q->in, &q->cases[i].shape, q->cases[i].frames, q->cases[i].nb_frames, on_device);
}

static int run_sequence(Sequence *q)
{
    const TestShape *shape = &q->cases[0].shape;

    return test_run_filter(&q->filter, shape, &q->in, q->keep ? NULL : shape, &q->out);
}

static int same_out(const Sequence *q, const Sequence *other)
{
    if (q->out.nb != other->out.nb)
        return 0;
    for (int n = 0; n < q->out.nb; n++) {
        const AVFrame *a = q->out.frames[n], *b = other->out.frames[n];
        const TestShape shape = test_shape(q->cases[0].shape.format, a->width, a->height);

        if (a->width != b->width || a->height != b->height || a->pts != b->pts || a->duration != b->duration ||
            !av_frame_get_side_data(a, AV_FRAME_DATA_MOTION_VECTORS) !=
            !av_frame_get_side_data(b, AV_FRAME_DATA_MOTION_VECTORS) || test_nb_differences(&shape, a, b))
            return 0;
    }
    return 1;
}

static const char *const sequence_options[] = {
    "scene=0", "fps=5/2x", "mode=blend:fps=3x:scene=0.6", "mode=dup:fps=3x", "fps=60:scene=0.51:cut=blend",
    "fps=3/4x", "mode=blend:scene=0.45:fps=70",
};

static int nb_sequences, nb_travelling;

/* Tests several sizes, on the device and in memory: the same frames at the same times. */
static void sequences_on_device(int nb)
{
    for (uint64_t i = 0; i < nb; i++) {
        Sequence memory, q;
        int ret, expected;

        draw_sequence(&q, 5000 + i, 1 + i % MAX_CASES, sequence_options[i % FF_ARRAY_ELEMS(sequence_options)]);
        draw_times(&q, i);
        if (fits_device(&q.cases[0])) {
            memory = q;
            set_input(&memory, 0);
            set_input(&q, 1);
            snprintf(test_context, sizeof(test_context), "sequence %" PRIu64 ", %s, %d sizes, %s", i,
                     q.cases[0].shape.desc->name, q.nb_cases, q.filter.options);
            expected = run_sequence(&memory);
            ret      = run_sequence(&q);
            CHECK(ret == expected, "%d instead of %d", ret, expected);
            CHECK(same_out(&q, &memory), "other frames, %d instead of %d", q.out.nb, memory.out.nb);
            nb_sequences += ret >= 0;
            free_frames(&memory);
        }
        free_sequence(&q);
    }
}

/* Tests frames on the device whose samples get another format: nothing is interpolated between the two. */
static void other_format_on_device(void)
{
    const TestShape shapes[] = { test_shape(AV_PIX_FMT_NV12, 64, 48), test_shape(AV_PIX_FMT_P010, 64, 48) };
    static const int values[] = { 99, 0x4000 };
    AVBufferRef *hw_frames[2] = { 0 };
    TestFilter f = { .name = "mvfps", .options = "mode=blend:fps=2x:scene=0", .nb_threads = 1 };
    TestRandom r = { .state = 1 };
    int nb[2] = { 0 }, ret;

    snprintf(test_context, sizeof(test_context), "another format on the device");
    for (int i = 0; i < 2; i++)
        hw_frames[i] = test_device_frames(&shapes[i]);
    f.hw_frames = hw_frames[0];
    ret = test_open_filter(&f, shapes[0].format, shapes[0].w, shapes[0].h);
    for (int n = 0; n <= 4 && ret >= 0; n++) {
        const TestShape *shape = &shapes[n / 2 % 2];
        AVFrame *flat = test_canaries(shape, &r), *in = NULL, *out;

        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                test_set_word(shape, flat, 0, x, y, values[n / 2 % 2]);
        flat->pts = n;
        if (n < 4)
            in = test_upload(shape, hw_frames[n / 2], flat);
        av_frame_free(&flat);
        ret = av_buffersrc_add_frame(f.src, in);
        av_frame_free(&in);
        /* these are of two pools */
        while (ret >= 0 && (f.pool = NULL, ret = test_take_frame(&f, NULL, &out)) >= 0) {
            const AVHWFramesContext *frames = (const AVHWFramesContext *)out->hw_frames_ctx->data;
            const int i = frames->sw_format == AV_PIX_FMT_P010;
            AVFrame *samples = test_download(&shapes[i], out);

            nb[i]++;
            for (int y = 0; y < shapes[i].h; y++)
                for (int x = 0; x < shapes[i].w; x++)
                    CHECK(test_word(&shapes[i], samples, 0, x, y) == values[i], "frame %d, (%d,%d)", nb[0] + nb[1], x,
                          y);
            av_frame_free(&samples);
            av_frame_free(&out);
        }
        ret = ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
    }
    CHECK(ret >= 0 && nb[0] == 4 && nb[1] == 3, "%d and %d frames, %s", nb[0], nb[1], av_err2str(ret));
    avfilter_graph_free(&f.graph);
    for (int i = 0; i < 2; i++)
        av_buffer_unref(&hw_frames[i]);
}

/* Cells of fields that are attached to a frame, and of the same vectors as side data */

/* Fields of random vectors, as searches leave them. */
static void draw_fields(GpumeFieldSet *set, TestRandom *r, int w, int h, int block)
{
    static const int distances[] = { -1, -2, 1 };
    const int bw = (w + block - 1) / block, bh = (h + block - 1) / block, pel = 1 << test_draw(r, 3);
    const size_t nb = bw * (size_t)bh;

    *set = (GpumeFieldSet) { .nb = 1 + test_draw(r, FF_ARRAY_ELEMS(distances)) };
    set->mvs   = test_alloc(av_buffer_alloc(set->nb * nb * sizeof(AVMotionVector)));
    set->costs = test_alloc(av_buffer_allocz(set->nb * nb * sizeof(uint32_t)));
    for (int i = 0; i < set->nb; i++) {
        uint32_t *words = (uint32_t *)(set->mvs->data + i * nb * sizeof(AVMotionVector));

        set->host[i] = (GpumeMotionField) {
            .distance = distances[i], .pel = pel, .width = w, .height = h, .block = block, .bw = bw, .bh = bh,
            .mvs = (uintptr_t)words, .costs = (uintptr_t)(set->costs->data + i * nb * sizeof(uint32_t)),
        };
        for (int j = 0; j < nb; j++, words += GPUME_VECTOR_WORDS) {
            const int x0 = j % bw * block, y0 = j / bw * block;
            const GpumeBox b = { .x0 = x0, .y0 = y0, .w = FFMIN(block, w - x0), .h = FFMIN(block, h - y0) };
            const int dx = test_draw_range(r, -4000, 4000), dy = test_draw_range(r, -4000, 4000);
            const int flags = test_draw(r, 2);

            for (int k = 0; k < GPUME_VECTOR_WORDS; k++)
                words[k] = gpume_subpel_vector_word(k, distances[i], &b, dx, dy, pel, flags);
        }
    }
}

/* Returns the same vectors as another filter would attach them, optionally at an odd address. */
static AVFrame *copy_side_data(const AVFrame *from, int odd)
{
    AVFrame *f = test_alloc(av_frame_clone(from));
    const AVFrameSideData *sd = av_frame_get_side_data(from, AV_FRAME_DATA_MOTION_VECTORS);
    AVFrameSideData *copy;

    av_frame_remove_side_data(f, AV_FRAME_DATA_MOTION_VECTORS);
    if (!sd)
        return f;
    copy = test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS, sd->size + odd));
    copy->data += odd;
    copy->size -= odd;
    memcpy(copy->data, sd->data, sd->size);
    CHECK(!ff_gpume_frame_fields(f), "a copy is mistaken for gpume's fields");
    return f;
}

static GpumeCellVector *fill_cells(TestRandom *r, const AVFrame *f, const GpumeCells *cells, int distance)
{
    GpumeCellVector *v = test_alloc(av_malloc_array(cells->cols * cells->rows, sizeof(*v)));
    GpumeCellField field = { 0 };
    int first = 0;

    if (ff_gpume_cells_find(&field, cells, f, distance)) {
        if (ff_gpume_cells_alloc(&field) < 0)
            test_alloc(NULL);
        ff_gpume_cells_map(&field);
        while (first < cells->rows) {
            const int end = test_draw_range(r, first + 1, cells->rows);

            ff_gpume_cells_fill(&field, v, first, end);
            first = end;
        }
    } else {
        av_freep(&v);
    }
    ff_gpume_cells_free(&field);
    return v;
}

static void cells_of_fields(void)
{
    for (int i = 0; i < 400; i++) {
        TestRandom r = { .state = test_mix(i) };
        const int w = 1 + test_draw(&r, 300), h = 1 + test_draw(&r, 300), block = 4 << test_draw(&r, 6);
        const int log2_side = 1 + test_draw(&r, 5), distance = (int[]) { -2, -1, 1, 2 }[i & 3];
        const GpumeCells cells = gpume_cells(w, h, log2_side, test_draw(&r, 2) << (log2_side - 1));
        AVFrame *ours = test_alloc_frame(AV_PIX_FMT_GRAY8, w, h), *copy;
        GpumeCellVector *a, *b;
        GpumeFieldSet set;
        int has = 0;

        draw_fields(&set, &r, w, h, block);
        for (int j = 0; j < set.nb; j++)
            has |= set.host[j].distance == distance;
        test_alloc(ff_gpume_fields_attach(ours, &set) < 0 ? NULL : ours);
        copy = copy_side_data(ours, i % 5);
        snprintf(test_context, sizeof(test_context), "fields %d, %dx%d in blocks of %d, cells of %d at %d, distance %d",
                 i, w, h, block, 1 << log2_side, cells.sample, distance);
        CHECK(ff_gpume_frame_fields(ours), "gpume's fields are not recognised");
        a = fill_cells(&r, ours, &cells, distance);
        b = fill_cells(&r, copy, &cells, distance);
        CHECK(!a == !has && !b == !has, "there is a field: %d and %d, not %d", !!a, !!b, has);
        CHECK(!a || !b || !memcmp(a, b, cells.cols * cells.rows * sizeof(*a)), "other cells");
        ours->width++;
        CHECK(!ff_gpume_frame_fields(ours), "fields of a picture of another size are taken");
        av_free(a);
        av_free(b);
        av_frame_free(&ours);
        av_frame_free(&copy);
    }
}

/* Tests that the output is the same with fields of gpume and with the same vectors of another filter. */
static void travelling_fields(int nb, int on_device)
{
    static const char *const searches[] = {
        "algo=hme:dir=both:block=8", "algo=ds:dir=both:refs=2:range=9", "algo=fs:range=3:block=4:dir=future",
        "algo=hme:dir=past:pel=1:block=4", "algo=ds:range=20:block=32:dir=both:check=1",
    };

    for (int i = 0; i < nb; i++) {
        Sequence q, searched, with, without;
        Case *c = &q.cases[0];
        int ret;

        draw_sequence(&q, 12000 + i, 1, sequence_options[i % FF_ARRAY_ELEMS(sequence_options)]);
        if (c->shape.desc->flags & AV_PIX_FMT_FLAG_RGB || on_device && !fits_device(c)) {
            free_sequence(&q);
            continue;
        }
        set_input(&q, on_device);
        snprintf(test_context, sizeof(test_context), "search %d, %dx%d %s, %s, %s", i, c->shape.w, c->shape.h,
                 c->shape.desc->name, searches[i % FF_ARRAY_ELEMS(searches)], q.filter.options);
        searched = with = without = q;
        searched.filter.name    = "gpume";
        searched.filter.options = searches[i % FF_ARRAY_ELEMS(searches)];
        searched.keep           = 1;
        ret = run_sequence(&searched);
        CHECK(ret >= 0 && searched.out.nb == c->nb_frames, "%d frames, %s", searched.out.nb, av_err2str(ret));
        for (int n = 0; n < searched.out.nb; n++) {
            const GpumeFieldSet *set = ff_gpume_frame_fields(searched.out.frames[n]);

            CHECK(!set || !on_device || set->on_device, "the fields are not on the device");
            nb_travelling += !!set;
            with.in.frames[n]    = searched.out.frames[n];
            without.in.frames[n] = copy_side_data(searched.out.frames[n], 0);
        }
        if (searched.out.nb == c->nb_frames) {
            const int expected = run_sequence(&without);

            ret = run_sequence(&with);
            CHECK(ret == expected, "%d instead of %d", ret, expected);
            CHECK(same_out(&with, &without), "other frames, %d instead of %d", with.out.nb, without.out.nb);
        }
        for (int n = 0; n < searched.out.nb; n++)
            av_frame_free(&without.in.frames[n]);
        test_free_frames(&with.out);
        test_free_frames(&without.out);
        test_free_frames(&searched.out);
        free_sequence(&q);
    }
}

/* Makes each allocation of a graph fail in turn, with two sizes. */
static void failing_allocations(int on_device)
{
    static const struct {
        const char *options;
        enum AVPixelFormat format;
    } rows[] = {
        { "fps=3x:scene=0.6", AV_PIX_FMT_NV12 },      { "mode=blend:scene=0.6:fps=3x", AV_PIX_FMT_YUV420P },
        { "fps=5/2x:scene=0", AV_PIX_FMT_YUV420P },   { "fps=2x:scene=1", AV_PIX_FMT_P010 },
        { "mode=blend:fps=60", AV_PIX_FMT_GBRP },     { "fps=3x:scene=0.001:cut=dup", AV_PIX_FMT_GRAY8 },
    };

    for (int i = 0; i < (on_device ? 2 : FF_ARRAY_ELEMS(rows)); i++) {
        Sequence q;
        const Case *c = q.cases;
        char what[100];

        for (uint64_t seed = 9000;; seed++) {
            draw_sequence(&q, seed, 2, rows[i].options);
            if (c->shape.format == rows[i].format && c->nb_frames == 3 && c[1].nb_frames == 2 &&
                c->shape.w * c->shape.h < 500 && c[1].shape.w * c[1].shape.h < 500) {
                /* it is an error if there are no vectors */
                q.filter.never_searches = 1;
                set_input(&q, on_device);
                if (run_sequence(&q) >= 0)
                    break;
            }
            free_sequence(&q);
        }
        snprintf(what, sizeof(what), "%s, %s", rows[i].options, on_device ? "on the device" : "in memory");
        test_failing_filter(&q.filter, &c->shape, &q.in, 1, 50, what);
        free_sequence(&q);
    }
}

int main(int argc, char **argv)
{
    TestOptions o;
    int nb;

    if (test_begin(&o, "gpume_mvfps", argc, argv) < 0)
        return 1;
    if (!o.device_only) {
        nb = test_nb_cases(&o, 250, 2500);
        if (o.only < 0) {
            side_data();
            decisions();
            motions(nb > 600 ? 2000 : 400);
            even_times();
            find_cuts(nb > 600 ? 8 : 3);
            cells_of_fields();
            travelling_fields(nb / 20, 0);
            failing_allocations(0);
        }
        test_run_cases(&o, nb, run_case, 0);
    }
    if (test_begin_device()) {
        nb = test_nb_cases(&o, 80, 600);
        test_run_cases(&o, nb, run_case, 1);
        if (o.only < 0) {
            sequences_on_device(nb / 3);
            other_format_on_device();
            test_failing_change("mvfps", "mode=blend", o.quick ? 11 : 1);
            travelling_fields(nb / 3, 1);
        }
        if (o.only < 0 && !o.device_only)
            failing_allocations(1);
    }
    if (o.only < 0) {
        snprintf(test_context, sizeof(test_context), "all cases");
        CHECK(nb_made < 400 || nb_offset > nb_made / 8, "only %d of %d pictures have offsets", nb_offset,
              nb_made);
        CHECK(nb_made < 400 || nb_repeats > nb_made / 25, "only %d repeats", nb_repeats);
        CHECK(nb_made < 400 || nb_cuts > nb_made / 25 && nb_fades > nb_made / 25, "only %d cuts and %d fades",
              nb_cuts, nb_fades);
    }
    printf("gpume_mvfps: %d pictures along vectors, %d of them with offsets, %d means, %d copies, %d cuts, %d fades, "
           "%d repeats, %d of all on the device, %d sequences, %d frames with fields, %d checks, %d failures\n",
           nb_made, nb_offset, nb_blends, nb_copies, nb_cuts, nb_fades, nb_repeats, nb_on_device, nb_sequences,
           nb_travelling, test_nb_checks, test_nb_failures);
    return test_end(&o, nb_on_device);
}
