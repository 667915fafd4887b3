/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches one film with many processes in another way than gpume-mpi, as a baseline: rank 0
 * decodes and broadcasts the luma of each frame, each rank searches its share of the rows of
 * blocks, and rank 0 gathers the vectors. A rank's share is a picture of its own, so candidates end
 * at the share's edge, which is slightly less work.
 *
 * usage: mpirun -n RANKS broadcast FILM SEARCH RANGE cpu|cuda THREADS
 * Prints 'frames N seconds S'.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/searches.h"

#include "mpi/device.h"
#include "mpi/input.h"

#define BLOCK 16

typedef struct Share {
    int width, height;          ///< size of the whole picture
    int first, rows;            ///< first row and number of rows of samples of this rank's share
    GpumeEngine *engine;
    AVMotionVector *all;        ///< vectors of the whole picture, on rank 0
    int *counts, *places;       ///< sizes in bytes of each rank's vectors, and their offsets
    int64_t nb_results;
} Share;

static void check(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "broadcast: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Runs jobs on the caller's thread. */
static void execute(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    for (int i = 0; i < nb_jobs; i++)
        job(arg, i, nb_jobs);
}

static int search_of(const char *name)
{
#define SEARCH(ID, n, ...) if (!strcmp(name, #n)) return GPUME_ALGO_##ID;
    GPUME_SEARCHES(SEARCH)
#undef SEARCH
    return -1;
}

/* Divides the rows of blocks as evenly as possible. */
static void divide(Share *s, int rank, int size)
{
    const int bh = (s->height + BLOCK - 1) / BLOCK, bw = (s->width + BLOCK - 1) / BLOCK;
    int place = 0;

    s->counts = av_calloc(size, sizeof(*s->counts));
    s->places = av_calloc(size, sizeof(*s->places));
    check(s->counts && s->places, "no memory");
    for (int i = 0; i < size; i++) {
        const int from = (int64_t)bh * i / size, to = (int64_t)bh * (i + 1) / size;

        s->counts[i] = (to - from) * bw * sizeof(AVMotionVector);
        s->places[i] = place;
        place += s->counts[i];
        if (i == rank) {
            s->first = from * BLOCK;
            s->rows  = FFMIN(to * BLOCK, s->height) - s->first;
        }
    }
    check(s->rows > 0, "fewer rows of blocks than ranks");
    s->all = rank ? NULL : av_malloc(place);
    check(rank || s->all, "no memory");
}

static void open_engine(Share *s, const Device *device, char **argv)
{
    const int cuda = !strcmp(argv[4], "cuda");
    const GpumeEngineConfig cfg = {
        .params = { .algo = search_of(argv[2]), .block = BLOCK, .range = atoi(argv[3]), .smooth = GPUME_AUTO,
                    .check = GPUME_AUTO, .nb_references = 1, .distance = { -1 } },
        .backend = cuda ? GPUME_BACKEND_cuda : GPUME_BACKEND_cpu, .max_in_flight = 2,
        .executor = { execute, NULL, 1 }, .hw_device = device->cuda,
    };

    check(cfg.params.algo >= 0 && cfg.params.range > 0, "unknown search or range");
    check(ff_gpume_engine_open(&s->engine, &cfg, s->width, s->rows, AV_PIX_FMT_GRAY8, NULL) >= 0,
          "the engine could not be opened");
}

/* Gathers all vectors of a picture on rank 0. */
static void gather(Share *s, int rank)
{
    GpumeResult result;
    int ret;

    while ((ret = ff_gpume_engine_pull(s->engine, &result)) >= 0) {
        /* the first picture has no reference */
        if (result.search.nb_fields)
            check(MPI_Gatherv(result.search.fields[0].mvs, s->counts[rank], MPI_BYTE, s->all, s->counts,
                              s->places, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Gatherv");
        s->nb_results++;
        ff_gpume_result_uninit(&result);
    }
    check(ret == AVERROR(EAGAIN) || ret == AVERROR_EOF, "the search failed");
}

/* Sends the luma of a frame from rank 0 to the engine of each rank. */
static void share_frame(Share *s, const AVFrame *decoded, int rank)
{
    const size_t size = (size_t)s->width * s->height;
    AVBufferRef *buf = av_buffer_alloc(size + AV_INPUT_BUFFER_PADDING_SIZE);
    AVFrame *frame = av_frame_alloc();

    check(buf && frame, "no memory");
    if (!rank)
        av_image_copy_plane(buf->data, s->width, decoded->data[0], decoded->linesize[0], s->width, s->height);
    check(MPI_Bcast(buf->data, size, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Bcast");
    frame->buf[0]      = buf;
    frame->data[0]     = buf->data + (size_t)s->first * s->width;
    frame->linesize[0] = s->width;
    frame->width       = s->width;
    frame->height      = s->rows;
    frame->format      = AV_PIX_FMT_GRAY8;
    check(ff_gpume_engine_push(s->engine, &frame) >= 0, "the search failed");
    gather(s, rank);
}

/* Decodes the next picture to system memory, on rank 0. Returns 0 at the end. */
static int decode(Input *in, AVFrame *frame)
{
    AVFrame *copy = NULL;
    int ret;

    while ((ret = avcodec_receive_frame(in->dec, frame)) == AVERROR(EAGAIN)) {
        ret = av_read_frame(in->fmt, in->pkt);
        if (ret < 0 || in->pkt->stream_index == in->st->index)
            check(avcodec_send_packet(in->dec, ret < 0 ? NULL : in->pkt) >= 0, "the decoder failed");
        av_packet_unref(in->pkt);
    }
    if (ret >= 0 && frame->hw_frames_ctx) {
        copy = av_frame_alloc();
        check(copy && av_hwframe_transfer_data(copy, frame, 0) >= 0, "a frame could not be downloaded");
        av_frame_unref(frame);
        av_frame_move_ref(frame, copy);
        av_frame_free(&copy);
    }
    return ret >= 0;
}

int main(int argc, char **argv)
{
    Input in = { 0 };
    Share s = { 0 };
    Shared world;
    Device device;
    AVFrame *frame = av_frame_alloc();
    int size[2] = { 0 }, more;
    double start;

    check(MPI_Init(&argc, &argv) == MPI_SUCCESS && frame, "MPI_Init");
    check(argc == 6, "usage: broadcast FILM SEARCH RANGE cpu|cuda THREADS");
    check(shared_open(&world, MPI_COMM_WORLD) >= 0, "MPI");
    check(device_open(&device, &world, !strcmp(argv[4], "cuda")) >= 0, "there is no GPU");
    start = MPI_Wtime();
    if (!world.rank) {
        check(input_open(&in, argv[1], atoi(argv[5]), device.cuda) >= 0, "the film could not be opened");
        check(decode(&in, frame), "the film has no picture");
        size[0] = frame->width;
        size[1] = frame->height;
    }
    check(MPI_Bcast(size, 2, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Bcast");
    s.width  = size[0];
    s.height = size[1];
    divide(&s, world.rank, world.size);
    open_engine(&s, &device, argv);
    do {
        share_frame(&s, frame, world.rank);
        av_frame_unref(frame);
        more = !world.rank && decode(&in, frame);
        check(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Bcast");
    } while (more);
    ff_gpume_engine_flush(s.engine);
    gather(&s, world.rank);
    if (!world.rank)
        printf("frames %lld seconds %.3f\n", (long long)s.nb_results, MPI_Wtime() - start);
    ff_gpume_engine_close(&s.engine);
    av_frame_free(&frame);
    if (!world.rank)
        input_close(&in);
    device_close(&device);
    shared_close(&world);
    MPI_Finalize();
    return 0;
}
