/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the option me_hint of FFmpeg's encoders: it finds motion that no search finds, over several
 * pictures and with B frames; without the option or without vectors nothing changes; side data may
 * have any contents; the number of threads does not matter.
 */

#include <string.h>

#include "libavutil/adler32.h"
#include "libavutil/dict.h"
#include "libavutil/frame.h"
#include "libavutil/macros.h"
#include "libavutil/motion_vector.h"

#include "libavcodec/avcodec.h"

#include "gpume_harness.h"

#define WIDTH     352
#define HEIGHT    288
#define NB_FRAMES 10
/** Motion of the noise from frame to frame; H.263 has vectors of up to 16 samples. */
#define MOVE_X    13
#define MOVE_Y    -7
#define CANVAS    (WIDTH + NB_FRAMES * MOVE_X)

enum Vectors {
    NO_VECTORS,
    TRUE_VECTORS,       ///< vectors of blocks of all sizes, in whole, half and quarter samples
    POSITIONS_ONLY,     ///< motion and scale are arbitrary, because mestimate leaves them uninitialized
    WRONG_SIZES,        ///< true vectors at odd addresses, and then a part of one
    GARBAGE,            ///< arbitrary bytes, at odd addresses as well
};

typedef struct Result {
    int64_t size;
    uint32_t sum;
    int nb_packets;
} Result;

static uint8_t canvas[CANVAS][CANVAS];

static void draw_canvas(TestRandom *r)
{
    for (int y = 0; y < CANVAS; y++)
        for (int x = 0; x < CANVAS; x++)
            canvas[y][x] = 64 + test_draw(r, 128);
}

/* Draws noise, in which a search finds no slope to follow. */
static AVFrame *draw_frame(int n)
{
    AVFrame *f = test_alloc_frame(AV_PIX_FMT_YUV420P, WIDTH, HEIGHT);

    f->pts = n;
    for (int y = 0; y < HEIGHT; y++)
        memcpy(f->data[0] + y * f->linesize[0],
               &canvas[y - n * MOVE_Y][(NB_FRAMES - n) * MOVE_X], WIDTH);
    for (int p = 1; p < 3; p++)
        memset(f->data[p], 128, f->linesize[p] * (HEIGHT / 2));
    return f;
}

static void add_vectors(AVFrame *f, enum Vectors kind, TestRandom *r)
{
    const int side  = 4 << test_draw(r, 5);
    const int bw    = (WIDTH + side - 1) / side, bh = (HEIGHT + side - 1) / side;
    const int scale = 1 << test_draw(r, 3);
    size_t size     = 2 * bw * bh * sizeof(AVMotionVector);
    AVBufferRef *buf;
    AVFrameSideData *sd;

    if (kind == NO_VECTORS)
        return;
    if (kind == WRONG_SIZES)
        size += test_draw(r, sizeof(AVMotionVector));
    if (kind == GARBAGE)
        size = test_draw(r, 3) ? test_draw(r, 20000) : 0;
    buf = test_alloc(av_buffer_alloc(size + 1));
    if (kind >= WRONG_SIZES)
        buf->data++;
    buf->size = size;
    sd = test_alloc(av_frame_new_side_data_from_buf(f, AV_FRAME_DATA_MOTION_VECTORS, buf));
    for (size_t i = 0; i < size; i++)
        sd->data[i] = test_draw(r, 4) ? test_draw(r, 256) : 0;

    for (int i = 0; i < size / sizeof(AVMotionVector); i++) {
        const int dir = i < bw * bh ? -1 : 1, x = i % bw, y = i / bw % bh;
        AVMotionVector mv;

        memcpy(&mv, sd->data + i * sizeof(mv), sizeof(mv));
        mv.source = dir;
        if (kind == GARBAGE) {
            /* passes the first checks, with arbitrary other fields */
            mv.source = test_draw_range(r, -2, 2);
        } else {
            mv.w     = FFMIN(side, WIDTH  - x * side);
            mv.h     = FFMIN(side, HEIGHT - y * side);
            mv.dst_x = x * side + mv.w / 2;
            mv.dst_y = y * side + mv.h / 2;
            mv.src_x = mv.dst_x + dir * MOVE_X;
            mv.src_y = mv.dst_y + dir * MOVE_Y;
        }
        if (kind != POSITIONS_ONLY && kind != GARBAGE) {
            mv.motion_scale = scale;
            mv.motion_x     = dir * MOVE_X * scale;
            mv.motion_y     = dir * MOVE_Y * scale;
        }
        memcpy(sd->data + i * sizeof(mv), &mv, sizeof(mv));
    }
}

static void take_packets(AVCodecContext *avctx, AVPacket *pkt, Result *res)
{
    while (avcodec_receive_packet(avctx, pkt) >= 0) {
        res->size += pkt->size;
        res->sum   = av_adler32_update(res->sum, pkt->data, pkt->size);
        res->nb_packets++;
        av_packet_unref(pkt);
    }
}

static Result encode(const char *name, const char *options, const char *more,
                     enum Vectors kind, uint64_t seed)
{
    const AVCodec *codec  = avcodec_find_encoder_by_name(name);
    AVCodecContext *avctx = test_alloc(avcodec_alloc_context3(codec));
    AVPacket *pkt         = test_alloc(av_packet_alloc());
    TestRandom r          = { .state = seed };
    AVDictionary *dict    = NULL;
    Result res            = { 0 };

    snprintf(test_context, sizeof(test_context), "%s %s,%s, vectors %d, seed %d",
             name, options, more, kind, (int)seed);
    avctx->width          = WIDTH;
    avctx->height         = HEIGHT;
    avctx->pix_fmt        = AV_PIX_FMT_YUV420P;
    avctx->time_base      = (AVRational) { 1, 25 };
    avctx->gop_size       = 100;
    avctx->flags         |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT;
    avctx->global_quality = 8 * FF_QP2LAMBDA;
    if (av_dict_parse_string(&dict, options, "=", ",", 0) < 0 ||
        av_dict_parse_string(&dict, more, "=", ",", 0) < 0 ||
        avcodec_open2(avctx, codec, &dict) < 0 || av_dict_count(dict)) {
        test_fail("cannot be opened");
        goto end;
    }
    for (int i = 0; i < NB_FRAMES; i++) {
        AVFrame *f = draw_frame(i);

        add_vectors(f, kind, &r);
        f->quality = avctx->global_quality;
        CHECK(avcodec_send_frame(avctx, f) >= 0, "frame %d was refused", i);
        av_frame_free(&f);
        take_packets(avctx, pkt, &res);
    }
    avcodec_send_frame(avctx, NULL);
    take_packets(avctx, pkt, &res);
    CHECK(res.nb_packets == NB_FRAMES, "%d packets", res.nb_packets);
end:
    av_dict_free(&dict);
    av_packet_free(&pkt);
    avcodec_free_context(&avctx);
    return res;
}

static int same(Result a, Result b)
{
    return a.size == b.size && a.sum == b.sum;
}

static void one_encoder(const char *name, const char *options, int nb_seeds)
{
    Result plain, hinted;

    if (!avcodec_find_encoder_by_name(name))
        return;
    plain = encode(name, options, "", NO_VECTORS, 0);
    CHECK(same(plain, encode(name, options, "me_hint=0", TRUE_VECTORS, 0)),
          "vectors matter without the option");
    CHECK(same(plain, encode(name, options, "me_hint=1", NO_VECTORS, 0)),
          "the option matters without vectors");

    for (int seed = 0; seed < nb_seeds; seed++)
        for (int kind = TRUE_VECTORS; kind <= WRONG_SIZES; kind++) {
            hinted = encode(name, options, "me_hint=1", kind, seed);
            CHECK(hinted.size < plain.size / 3, "%d bytes, and %d without vectors",
                  (int)hinted.size, (int)plain.size);
        }
    for (int seed = 0; seed < 4 * nb_seeds; seed++)
        encode(name, options, "me_hint=1", GARBAGE, seed);

    if (avcodec_find_encoder_by_name(name)->capabilities & AV_CODEC_CAP_SLICE_THREADS) {
        for (int kind = TRUE_VECTORS; kind <= GARBAGE; kind++)
            CHECK(same(encode(name, options, "me_hint=1,slices=4,threads=1", kind, 7),
                       encode(name, options, "me_hint=1,slices=4,threads=4", kind, 7)),
                  "threads matter");
    }
}

int main(int argc, char **argv)
{
    const int nb_seeds = argc > 1 && !strcmp(argv[1], "-quick") ? 1 : 4;
    TestRandom r = { .state = 1 };

    test_init("gpume_me_hint");
    test_watch(600);
    draw_canvas(&r);
    one_encoder("mpeg4",      "bf=0", nb_seeds);
    one_encoder("mpeg4",      "bf=2", nb_seeds);
    /* sanitizers run -quick, and report shifts of negative vectors by mepre in FFmpeg's own code */
    one_encoder("mpeg4",      nb_seeds > 1 ? "bf=1,flags=+qpel+mv4,mbd=rd,mepre=2" :
                                             "bf=1,flags=+qpel+mv4,mbd=rd", nb_seeds);
    one_encoder("mpeg2video", "bf=2", nb_seeds);
    one_encoder("mpeg2video", "bf=1,flags=+ilme+ildct", nb_seeds);
    one_encoder("mpeg1video", "bf=3", nb_seeds);
    one_encoder("h263p",      "bf=0", nb_seeds);
    one_encoder("h263",       "bf=0", nb_seeds);
    one_encoder("flv",        "bf=0", nb_seeds);
    printf("gpume_me_hint: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return !!test_nb_failures;
}
