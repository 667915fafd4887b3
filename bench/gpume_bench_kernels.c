/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the kernels of gpume's searches.
 */

#include <stdint.h>
#include <stdio.h>

#include "libavutil/macros.h"

#include "libavfilter/gpume/core/geometry.h"
#include "gpume_bench.h"

/* Returns the number of absolute differences of a full search, of admissible candidates only. */
static double nb_differences(const GpumeParams *p)
{
    double differences = 0;

    for (int by = 0; by < p->bh; by++)
        for (int bx = 0; bx < p->bw; bx++) {
            const GpumeBox box = gpume_box(p, p->block, bx, by);

            differences += (double)box.w * box.h * (box.max_dx - box.min_dx + 1) *
                           (box.max_dy - box.min_dy + 1);
        }
    return differences;
}

/* Measures a search. */
static void bench_kernel(Bench *b, const char *part, const char *name, int algo, int block, int range, int exhaustive)
{
    BenchRow row = {
        .part = part, .what = name, .content = b->content, .width = b->width, .height = b->height, .block = block,
        .range = range, .depth = b->depth, .metric = "time", .unit = "us",
    };
    BenchSearch s;
    BenchTimes t;
    double us;

    bench_search_init(b, &s, algo, block, range, exhaustive);
    bench_time_launches(b, bench_search_launch, &s, 0, &t);
    us = bench_median(&t);
    printf("%-13s %-5s %4dx%-4d %4d %5d %5d %10.2f %9.0f %5.1f %%", name, b->content, b->width,
           b->height, b->depth, block, range, us, 1e6 / us, bench_spread(&t));
    bench_times(b, &row, &t);
    if (exhaustive) {
        const double rate = nb_differences(&s.params) / us * 1e-6;

        row.metric = "differences";
        row.unit   = "10^12/s";
        bench_number(b, &row, rate);
        printf(" %8.2f T/s", rate);
        /* the ceiling is measured with bytes */
        if (b->ceiling && b->depth == 8) {
            row.metric = "of the ceiling";
            row.unit   = "%";
            bench_number(b, &row, 100 * rate / b->ceiling);
            printf(" %5.1f %%", 100 * rate / b->ceiling);
        }
    }
    printf("\n");
    bench_search_uninit(b, &s);
}

void bench_kernels(Bench *b)
{
    static const int blocks[] = { 4, 8, 16 };
    static const int ranges[] = { 8, 16, 32, 64 };

    if (!b->ceiling)
        bench_absdiff_ceiling(b);
    printf("\n%-13s %-5s %9s %4s %5s %5s %10s %9s %7s\n", "kernel", "", "size", "bits", "block", "range", "us", "fps",
           "spread");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++)
        for (int j = 0; j < FF_ARRAY_ELEMS(ranges); j++) {
            bench_kernel(b, "kernels", "fs exhaustive", GPUME_ALGO_FS, blocks[i], ranges[j], 1);
            bench_kernel(b, "kernels", "fs", GPUME_ALGO_FS, blocks[i], ranges[j], 0);
        }
}

void bench_searches(Bench *b)
{
    static const char *const names[GPUME_NB_ALGOS] = {
#define NAME(ID, name, ...) #name,
        GPUME_SEARCHES(NAME)
#undef NAME
    };
    static const int blocks[] = { 16, 8, 4 };

    printf("\n%-13s %-5s %9s %4s %5s %5s %10s %9s %7s\n", "search", "", "size", "bits", "block", "range", "us", "fps",
           "spread");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++)
        for (int algo = 0; algo < GPUME_NB_ALGOS; algo++)
            if (gpume_kind(algo) != GPUME_KIND_HIERARCHICAL)    // bench_motion() measures hme
                bench_kernel(b, "searches", names[algo], algo, blocks[i], 16, 0);
}

/** Number of pictures that are kept: those of simultaneous searches, and the next one. */
#define MOTION_PICTURES (BENCH_QUEUES + 2)

/** Searches of neighbouring pictures in both directions. Each search has its own planes, if any. */
typedef struct BenchMotion {
    GpumeParams params;
    int at_once;                ///< number of simultaneous pairs, at most BENCH_QUEUES; each has a stream
    GpumeCudaSearch search[BENCH_QUEUES];
    GpumeCudaLeaves leaves[BENCH_QUEUES];
    GpumeCudaPlane luma[MOTION_PICTURES];   ///< picture n is at n % MOTION_PICTURES
    CUdeviceptr planes[MOTION_PICTURES];
    CUevent made;               ///< the planes are complete
    CUevent done[BENCH_QUEUES]; ///< the last search of each stream has ended
    int nb;                     ///< number of pictures so far
} BenchMotion;

static void bench_planes_launch(Bench *b, void *opaque, int i)
{
    BenchMotion *m = opaque;
    const int place = m->nb % MOTION_PICTURES;

    m->luma[place] = (GpumeCudaPlane) { b->pictures[b->next], b->pitch };
    if (m->planes[0])
        bench_check(b, ff_gpume_cuda_motion_planes(&m->search[0].motions[0], &m->luma[place], m->planes[place],
                                                   b->stream), "make planes");
    m->nb++;
    b->next = (b->next + 1) % b->nb_pictures;
}

static void bench_motion_launch(Bench *b, void *opaque, int i)
{
    BenchMotion *m = opaque;
    const int which = m->nb % m->at_once;
    const CUstream queue = b->queues[which];
    const int nb_fields = m->params.check ? 2 : 1;
    GpumeCudaSearchField fields[2] = { { .is_stored = 1, .leaves = m->leaves[which] } };

    /* waits for the search that has used the planes of the next picture; the last search of the
     * stream has waited for it */
    BENCH_CU(b, cuStreamWaitEvent(b->stream, m->done[which], 0));
    bench_planes_launch(b, opaque, i);
    BENCH_CU(b, cuEventRecord(m->made, b->stream));
    BENCH_CU(b, cuStreamWaitEvent(queue, m->made, 0));
    for (int j = 0; j < nb_fields; j++) {
        const int cur = (m->nb - 1 - j) % MOTION_PICTURES, ref = (m->nb - 2 + j) % MOTION_PICTURES;

        fields[j].cur        = m->luma[cur];
        fields[j].ref        = m->luma[ref];
        fields[j].cur_planes = m->planes[cur];
        fields[j].ref_planes = m->planes[ref];
        fields[j].reference  = j;
    }
    if (m->params.tree)
        BENCH_CU(b, cuMemsetD8Async(m->leaves[which].sums, 0, m->search[which].tree.nb_sums, queue));
    bench_check(b, ff_gpume_cuda_search_launch(&m->search[which], fields, nb_fields, 0, queue), "launch the search");
    BENCH_CU(b, cuEventRecord(m->done[which], queue));
}

static void bench_leaves_init(Bench *b, const BenchMotion *m, GpumeCudaLeaves *leaves)
{
    const size_t nb = (size_t)m->params.bw * m->params.bh;

    BENCH_CU(b, cuMemAlloc(&leaves->mvs,   nb * sizeof(AVMotionVector)));
    BENCH_CU(b, cuMemAlloc(&leaves->costs, nb * sizeof(uint32_t)));
    BENCH_CU(b, cuMemAlloc(&leaves->sizes, nb));
    BENCH_CU(b, cuMemAlloc(&leaves->blocks, nb * sizeof(AVMotionVector)));
    BENCH_CU(b, cuMemAlloc(&leaves->sums,  FFMAX(m->search[0].tree.nb_sums, 1)));
}

/*
 * Initializes the searches.
 * @param chosen the parameters from which the others follow
 */
static void bench_motion_init(Bench *b, BenchMotion *m, GpumeParams chosen, int at_once)
{
    GpumePlan plan;
    size_t size;
    int ret;

    *m = (BenchMotion) { .params = chosen, .at_once = at_once };
    m->params.smooth        = m->params.check = m->params.lambda = m->params.qp = GPUME_AUTO;
    m->params.nb_references = 1;
    m->params.distance[0]   = -1;
    if (!m->params.tree)
        m->params.lambda = m->params.qp = 0;
    ret = ff_gpume_params_init(&m->params, b->width, b->height, bench_format(b->depth), NULL);
    if (ret < 0)
        bench_die("parameters", ret);
    plan = ff_gpume_plan(&m->params);
    BENCH_CU(b, cuEventCreate(&m->made, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < at_once; i++) {
        ret = ff_gpume_cuda_search_init(&m->search[i], &b->cuda, &m->params, &plan, at_once, NULL);
        if (ret < 0)
            bench_die("kernels", ret);
        bench_leaves_init(b, m, &m->leaves[i]);
        BENCH_CU(b, cuEventCreate(&m->done[i], CU_EVENT_DISABLE_TIMING));
    }
    size = m->search[0].motions[0].planes.size;
    for (int i = 0; i < MOTION_PICTURES && size; i++) {
        BENCH_CU(b, cuMemAlloc(&m->planes[i], size));
        BENCH_CU(b, cuMemsetD8Async(m->planes[i], 0, size, b->stream));
    }
    for (int i = 0; i < 2; i++)
        bench_planes_launch(b, m, i);
}

static void bench_motion_uninit(Bench *b, BenchMotion *m)
{
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    for (int i = 0; i < MOTION_PICTURES; i++)
        if (m->planes[i])
            BENCH_CU(b, cuMemFree(m->planes[i]));
    BENCH_CU(b, cuEventDestroy(m->made));
    for (int i = 0; i < m->at_once; i++) {
        BENCH_CU(b, cuEventDestroy(m->done[i]));
        BENCH_CU(b, cuMemFree(m->leaves[i].mvs));
        BENCH_CU(b, cuMemFree(m->leaves[i].costs));
        BENCH_CU(b, cuMemFree(m->leaves[i].sizes));
        BENCH_CU(b, cuMemFree(m->leaves[i].blocks));
        BENCH_CU(b, cuMemFree(m->leaves[i].sums));
        ff_gpume_cuda_search_uninit(&m->search[i]);
    }
}

/* Measures blocks of several sizes. */
static void bench_trees(Bench *b)
{
    static const GpumeParams chosen[] = {
        { .algo = GPUME_ALGO_FS, .block = 8, .range = 16 }, { .algo = GPUME_ALGO_FS, .block = 8, .range = 32 },
        { .algo = GPUME_ALGO_HME, .block = 8 }, { .algo = GPUME_ALGO_HME, .block = 4 },
    };

    printf("\n%-13s %-5s %9s %4s %5s %5s %10s\n", "tree=1", "", "size", "bits", "block", "range", "us");
    for (int i = 0; i < FF_ARRAY_ELEMS(chosen); i++) {
        static BenchMotion m;       // large
        GpumeParams p = chosen[i];
        BenchRow row = {
            .part = "motion", .what = p.algo == GPUME_ALGO_FS ? "fs" : "hme", .content = b->content, .width = b->width,
            .height = b->height, .block = p.block, .depth = b->depth, .metric = "time of a tree", .unit = "us",
        };
        BenchTimes t;

        p.tree = 1;
        bench_motion_init(b, &m, p, 1);
        row.range = m.params.range;
        bench_time_launches(b, bench_motion_launch, &m, 0, &t);
        bench_times(b, &row, &t);
        printf("%-13s %-5s %4dx%-4d %4d %5d %5d %10.2f\n", row.what, b->content, b->width, b->height, b->depth,
               p.block, row.range, bench_median(&t));
        bench_motion_uninit(b, &m);
    }
}

/*
 * Measures pairs of searches.
 * @param at_once number of simultaneous pairs: 1 or BENCH_QUEUES
 */
static void bench_pairs(Bench *b, GpumeParams chosen, int at_once)
{
    static const char *const names[2][2] = { { "hme", "hme sweeps=2" }, { "hme pel=1", "hme pel=1 sweeps=2" } };
    BenchRow row = {
        .part = "motion", .what = names[chosen.pel == 1][chosen.sweeps != 4],
        .content = b->content, .width = b->width, .height = b->height, .block = chosen.block, .depth = b->depth,
        .metric = at_once > 1 ? "time of a pair with eight at once" : "time of a pair", .unit = "us",
    };
    static BenchMotion m;       // large
    BenchTimes t;

    bench_motion_init(b, &m, chosen, at_once);
    row.range = m.params.range;
    bench_time_launches(b, bench_motion_launch, &m, 0, &t);
    bench_times(b, &row, &t);
    if (at_once == 1)
        printf("%-13s %-5s %4dx%-4d %4d %5d %5d %6d %10.2f %9.0f %5.1f %%", "hme", b->content, b->width, b->height,
               b->depth, chosen.block, chosen.pel, m.params.sweeps, bench_median(&t), 1e6 / bench_median(&t),
               bench_spread(&t));
    else
        printf(" %10.2f %9.0f\n", bench_median(&t), 1e6 / bench_median(&t));
    bench_motion_uninit(b, &m);
}

void bench_motion(Bench *b)
{
    static const int blocks[] = { 16, 8, 4 };

    printf("\n%-13s %-5s %9s %4s %5s %5s %6s %10s %9s %7s %10s %9s\n", "search", "", "size", "bits",
           "block", "pel", "sweeps", "us", "pairs/s", "spread", "8 at once", "pairs/s");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++)
        for (int pel = 4; pel; pel >>= 2)
            for (int sweeps = 4; sweeps >= 2; sweeps -= 2)
                for (int at_once = 1; at_once <= BENCH_QUEUES; at_once += BENCH_QUEUES - 1)
                    bench_pairs(b, (GpumeParams) { .algo = GPUME_ALGO_HME, .block = blocks[i], .pel = pel,
                                                   .sweeps = sweeps }, at_once);
    bench_trees(b);
}
