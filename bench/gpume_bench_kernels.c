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

/*
 * Returns the median time in microseconds.
 * @param all time of the search that evaluates every candidate, or 0
 */
static double bench_kernel(Bench *b, int algo, int block, int range, int exhaustive, double all)
{
    const char *name = algo == GPUME_ALGO_DS ? "ds" : exhaustive ? "fs exhaustive" : "fs";
    BenchRow row = {
        .part = "kernels", .what = name, .content = b->content, .width = b->width,
        .height = b->height, .block = block, .range = range, .depth = b->depth,
        .metric = "time", .unit = "us",
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
    } else if (all) {
        row.metric = "of exhaustive";
        row.unit   = "ratio";
        bench_number(b, &row, us / all);
        printf(" %8.3f x", us / all);
    }
    bench_search_uninit(b, &s);
    printf("\n");
    return us;
}

void bench_kernels(Bench *b)
{
    static const int blocks[] = { 4, 8, 16 };
    /* 30: the area of 64x64 around a block of 4x4 in bench/seed */
    static const int fs_ranges[] = { 8, 16, 30, 32, 64 };
    static const int ds_ranges[] = { 8, 16, 32, 64, 128 };

    if (!b->ceiling)
        bench_absdiff_ceiling(b);
    printf("\n%-13s %-5s %9s %4s %5s %5s %10s %9s %7s %10s\n", "kernel", "", "size", "bits", "block",
           "range", "us", "fps", "spread", "of all");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++) {
        for (int j = 0; j < FF_ARRAY_ELEMS(fs_ranges); j++) {
            double all;

            if (fs_ranges[j] == 30 && blocks[i] != 4)
                continue;
            all = bench_kernel(b, GPUME_ALGO_FS, blocks[i], fs_ranges[j], 1, 0);
            bench_kernel(b, GPUME_ALGO_FS, blocks[i], fs_ranges[j], 0, all);
        }
        for (int j = 0; j < FF_ARRAY_ELEMS(ds_ranges); j++)
            bench_kernel(b, GPUME_ALGO_DS, blocks[i], ds_ranges[j], 0, 0);
    }
}

/** Number of pictures whose costs are summed. */
#define NB_COST_PICTURES 20

/* Returns the sum of the costs of successive pictures. */
static uint64_t bench_algo(Bench *b, int algo, const char *name, int block, int range,
                           uint64_t full_cost)
{
    BenchRow row = {
        .part = "searches", .what = name, .content = b->content, .width = b->width,
        .height = b->height, .block = block, .range = range, .depth = b->depth,
        .metric = "time", .unit = "us",
    };
    uint64_t cost = 0;
    BenchSearch s;
    BenchTimes t;
    double us;

    bench_search_init(b, &s, algo, block, range, 0);
    /* in order, because some searches predict from previous pictures */
    for (int i = 1; i < FFMIN(b->nb_pictures, NB_COST_PICTURES + 1); i++)
        cost += bench_search_residual(b, &s, i);
    bench_time_launches(b, bench_search_launch, &s, 0, &t);
    us = bench_median(&t);
    printf("%-13s %-5s %4dx%-4d %4d %5d %5d %10.2f %9.0f %5.1f %%", name, b->content, b->width,
           b->height, b->depth, block, range, us, 1e6 / us, bench_spread(&t));
    bench_times(b, &row, &t);
    if (full_cost) {
        row.metric = "cost more than full search";
        row.unit   = "%";
        bench_number(b, &row, 100.0 * cost / full_cost - 100);
        printf(" %+9.3f %%", 100.0 * cost / full_cost - 100);
    }
    printf("\n");
    bench_search_uninit(b, &s);
    return cost;
}

void bench_searches(Bench *b)
{
    static const char *const names[GPUME_NB_ALGOS] = {
#define NAME(ID, name, ...) #name,
        GPUME_SEARCHES(NAME)
#undef NAME
    };
    static const int blocks[] = { 16, 8, 4 };

    printf("\n%-13s %-5s %9s %4s %5s %5s %10s %9s %7s %11s\n", "search", "", "size", "bits",
           "block", "range", "us", "fps", "spread", "cost");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++) {
        uint64_t full_cost = 0;

        /* full search is first, so that the costs of the others are compared with it */
        for (int algo = 0; algo < GPUME_NB_ALGOS; algo++) {
            uint64_t cost;

            if (gpume_kind(algo) == GPUME_KIND_HIERARCHICAL)
                continue;   /* bench_motion() measures hme */
            cost = bench_algo(b, algo, names[algo], blocks[i], 16, full_cost);
            if (algo == GPUME_ALGO_FS)
                full_cost = cost;
        }
    }
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
        bench_check(b, ff_gpume_cuda_search_planes(&m->search[0], &m->luma[place], m->planes[place], b->stream),
                    "make planes");
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
        ret = ff_gpume_cuda_search_init(&m->search[i], &b->cuda, &m->params, &plan, 0, at_once, NULL);
        if (ret < 0)
            bench_die("kernels", ret);
        bench_leaves_init(b, m, &m->leaves[i]);
        BENCH_CU(b, cuEventCreate(&m->done[i], CU_EVENT_DISABLE_TIMING));
    }
    size = ff_gpume_cuda_search_planes_size(&m->search[0]);
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

/* Measures blocks of several sizes and the smallest blocks alone. */
static void bench_trees(Bench *b)
{
    static const GpumeParams chosen[] = {
        { .algo = GPUME_ALGO_FS, .block = 8, .range = 16 }, { .algo = GPUME_ALGO_FS, .block = 8, .range = 32 },
        { .algo = GPUME_ALGO_FS, .block = 4, .range = 16 }, { .algo = GPUME_ALGO_FS, .block = 4, .range = 32 },
        { .algo = GPUME_ALGO_DS, .block = 8, .range = 16 },
        { .algo = GPUME_ALGO_HME, .block = 8 }, { .algo = GPUME_ALGO_HME, .block = 4 },
    };

    printf("\n%-13s %-5s %9s %4s %5s %5s %10s %10s %7s\n", "search", "", "size", "bits", "block", "range", "us",
           "tree=1, us", "times");
    for (int i = 0; i < FF_ARRAY_ELEMS(chosen); i++) {
        BenchTimes t[2];

        for (int tree = 0; tree < 2; tree++) {
            static BenchMotion m;       // large
            GpumeParams p = chosen[i];
            BenchRow row = {
                .part = "motion", .what = gpume_kind(p.algo) == GPUME_KIND_HIERARCHICAL ? "hme" :
                                          p.algo == GPUME_ALGO_FS ? "fs" : "ds",
                .content = b->content, .width = b->width, .height = b->height, .block = p.block,
                .depth = b->depth, .metric = tree ? "time of a tree" : "time beside a tree", .unit = "us",
            };

            p.tree = tree;
            bench_motion_init(b, &m, p, 1);
            row.range = m.params.range;
            bench_time_launches(b, bench_motion_launch, &m, 0, &t[tree]);
            bench_times(b, &row, &t[tree]);
            if (tree)
                printf("%-13s %-5s %4dx%-4d %4d %5d %5d %10.2f %10.2f %7.2f\n", row.what, b->content, b->width,
                       b->height, b->depth, p.block, row.range, bench_median(&t[0]), bench_median(&t[1]),
                       bench_median(&t[1]) / bench_median(&t[0]));
            bench_motion_uninit(b, &m);
        }
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
    BenchTimes t, planes;

    bench_motion_init(b, &m, chosen, at_once);
    row.range = m.params.range;
    bench_time_launches(b, bench_motion_launch, &m, 0, &t);
    bench_times(b, &row, &t);
    if (at_once == 1) {
        bench_time_launches(b, bench_planes_launch, &m, 0, &planes);
        row.metric = "time of planes";
        bench_times(b, &row, &planes);
        printf("%-13s %-5s %4dx%-4d %4d %5d %5d %6d %10.2f %9.0f %5.1f %% %10.2f", "hme", b->content, b->width,
               b->height, b->depth, chosen.block, chosen.pel, m.params.sweeps, bench_median(&t),
               1e6 / bench_median(&t), bench_spread(&t), bench_median(&planes));
    } else {
        printf(" %10.2f %9.0f\n", bench_median(&t), 1e6 / bench_median(&t));
    }
    bench_motion_uninit(b, &m);
}

void bench_motion(Bench *b)
{
    static const int blocks[] = { 16, 8, 4 };

    printf("\n%-13s %-5s %9s %4s %5s %5s %6s %10s %9s %7s %10s %10s %9s\n", "search", "", "size", "bits",
           "block", "pel", "sweeps", "us", "pairs/s", "spread", "planes, us", "8 at once", "pairs/s");
    for (int i = 0; i < FF_ARRAY_ELEMS(blocks); i++)
        for (int pel = 4; pel; pel >>= 2)
            for (int sweeps = 4; sweeps >= 2; sweeps -= 2)
                for (int at_once = 1; at_once <= BENCH_QUEUES; at_once += BENCH_QUEUES - 1)
                    bench_pairs(b, (GpumeParams) { .algo = GPUME_ALGO_HME, .block = blocks[i], .pel = pel,
                                                   .sweeps = sweeps }, at_once);
    bench_trees(b);
}
