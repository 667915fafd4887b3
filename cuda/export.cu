/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes the results of a search as AVMotionVectors and costs. The costs of replaced vectors are
 * computed here; these vectors may point outside the picture.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

/** The reference picture and its samples at any position. */
typedef struct GpumeReference {
    GpumeU64 data, parts;
    long long linesize, parts_linesize;
    int width, height, max_value;
} GpumeReference;

static __device__ __forceinline__ int gpume_part_sample(const GpumeReference &r, int plane, int x, int y)
{
    const int byte = x * (int)sizeof(GpumeModuleSample);

    return *(const GpumeModuleSample *)(r.parts + r.parts_linesize * y +
                                        GPUME_CUDA_PARTS_PLANE(r.parts_linesize, plane) + byte);
}

/** Returns a sample at a whole position, clamped to the picture. */
static __device__ __forceinline__ int gpume_edge_sample(const GpumeReference &r, int x, int y)
{
    const GpumeU64 row = r.data + r.linesize * gpume_max(0, gpume_min(y, r.height - 1));

    return ((const GpumeModuleSample *)row)[gpume_max(0, gpume_min(x, r.width - 1))];
}

/** Returns the sum of the filter taps, horizontally or vertically, as step says. */
static __device__ __forceinline__ int gpume_edge_taps(const GpumeReference &r, int x, int y, int down)
{
    int v[6];

    GPUME_UNROLL for (int i = 0; i < 6; i++)
        v[i] = gpume_edge_sample(r, x + (down ? 0 : i - 2), y + (down ? i - 2 : 0));
    return gpume_taps(v[0], v[1], v[2], v[3], v[4], v[5]);
}

/** Returns a sample at a fractional position, by its definition, from a picture whose edges are repeated. */
static __device__ __attribute__((noinline)) int
gpume_outer_sample(const GpumeReference &r, int plane, int x, int y)
{
    int v;

    if (plane == GPUME_PLANE_CENTRE) {
        int sums[6];

        GPUME_UNROLL for (int i = 0; i < 6; i++)
            sums[i] = gpume_edge_taps(r, x, y + i - 2, 0);
        v = (gpume_taps(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]) + 512) >> 10;
    } else {
        v = (gpume_edge_taps(r, x, y, plane == GPUME_PLANE_BELOW) + 16) >> 5;
    }
    return gpume_max(0, gpume_min(v, r.max_value));
}

/** Returns one of the two samples of gpume_subpel_pair(), at a whole position. */
static __device__ __forceinline__ int gpume_subpel_sample(const GpumeReference &r, int which, int x, int y)
{
    const int plane = which & 3;

    x += which >> 2 & 1;
    y += which >> 3 & 1;
    if (plane == GPUME_PLANE_WHOLE)
        return gpume_edge_sample(r, x, y);
    return x >= 0 && x < r.width && y >= 0 && y < r.height ? gpume_part_sample(r, plane, x, y) :
                                                             gpume_outer_sample(r, plane, x, y);
}

/** Returns a lane's share of the SAD of a block. @param share number of the lane, of so many lanes */
template<int PARTS>
static __device__ __forceinline__ GpumeU32
gpume_inner_share(const GpumeCudaExportArgs &a, const GpumeCudaPair &pair, const GpumeBox &b, GpumeVector v,
                  int share, int lanes)
{
    typedef GpumeMatches<GpumeSad<GpumeModuleSample>, 0, PARTS> Matches;
    const int byte = b.x0 * Matches::BYTES;
    const long long linesize = PARTS ? a.parts_linesize : a.linesize;
    const Matches m = {
        (const GpumeU8 *)pair.cur + a.linesize * b.y0 + byte, pair.ref + (PARTS ? a.parts : 0) + linesize * b.y0,
        byte, (int)a.linesize, (int)linesize, (int)GPUME_CUDA_PARTS_PLANE(linesize, 1), a.params.pel, b.w, b.h
    };

    return m.share_of_any(v.dx, v.dy, share, lanes);
}

/** Returns D of a vector that may point anywhere; called by a warp. */
static __device__ __forceinline__ GpumeU32
gpume_cost(const GpumeCudaExportArgs &a, const GpumeCudaPair &pair, const GpumeBox &b, GpumeVector v)
{
    const GpumeReference r = {
        pair.ref, pair.ref + a.parts, a.linesize, a.parts_linesize,
        a.params.width, a.params.height, (1 << a.params.depth) - 1
    };
    const int pel  = a.params.pel;
    const int log2 = gpume_log2_pel(pel);
    const int two  = gpume_subpel_pair((v.dx & (pel - 1)) << (2 - log2), (v.dy & (pel - 1)) << (2 - log2));
    const int x0   = b.x0 + (v.dx >> log2), y0 = b.y0 + (v.dy >> log2);
    GpumeU32 sum   = GpumeModuleCost::by_warp(b.w, b.h, [&](int x, int y) {
        const int cur = ((const GpumeModuleSample *)(pair.cur + a.linesize * (b.y0 + y)))[b.x0 + x];
        int ref = gpume_subpel_sample(r, two & 15, x0 + x, y0 + y);

        if (two >> 4 != (two & 15))
            ref = (ref + gpume_subpel_sample(r, two >> 4, x0 + x, y0 + y) + 1) >> 1;
        return cur - ref;
    });

    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
    return sum;
}

/**
 * grid:   thread blocks for all blocks, GPUME_CUDA_EXPORT_LANES() each; fields that are output
 * block:  GPUME_CUDA_EXPORT_THREADS
 * shared: GPUME_CUDA_EXPORT_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaExportArgs, GPUME_CUDA_EXPORT_THREADS, 6)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeParams &p = args.params;
    const int lanes = GPUME_CUDA_EXPORT_LANES(p.block);     // that share a block
    const int lane  = threadIdx.x % 32, share = lane % lanes;
    const int z     = blockIdx.y;
    const int nb_blocks = p.bw * p.bh;
    const int first = (int)(blockIdx.x * GPUME_CUDA_EXPORT_THREADS + threadIdx.x - lane) / lanes;
    const int nb    = gpume_min(nb_blocks - first, 32 / lanes);
    const int block = gpume_min(first + lane / lanes, nb_blocks - 1);
    const GpumeU64 field = (GpumeU64)nb_blocks * z;
    const GpumeCudaPair pair = gpume_pair(args.pairs, z);
    const GpumeU32 word = ((const GpumeU32 *)args.vectors)[field + block];
    const GpumeU32 ring = args.rings ? ((const GpumeU32 *)args.rings)[field + block] : 0;
    const GpumeVector v = gpume_of_word(word);
    const GpumeBox b    = gpume_box(&p, p.block, block % p.bw, block / p.bw);
    const int source = z ? args.source[1] : args.source[0];
    const int exists = lane / lanes < nb, replaced = exists && ring && ring != GPUME_CUDA_RING_LEFT;
    /* whether the match is inside the picture, and its cost is a sum over words */
    const int inner  = GpumeModuleCost::LANES == 1 && replaced &&
                       v.dx >= b.min_dx * p.pel && v.dx <= b.max_dx * p.pel &&
                       v.dy >= b.min_dy * p.pel && v.dy <= b.max_dy * p.pel;
    GpumeU32 *mvs   = (GpumeU32 *)(z ? args.mvs[1]   : args.mvs[0]) + first * GPUME_VECTOR_WORDS;
    GpumeU32 *costs = (GpumeU32 *)(z ? args.costs[1] : args.costs[0]);
    GpumeU32 *words = shared + (threadIdx.x - lane) * GPUME_VECTOR_WORDS;
    GpumeU32 cost   = ((const GpumeU32 *)args.from_costs)[field + block], sum = 0, left;

    if (inner)
        sum = p.pel > 1 ? gpume_inner_share<1>(args, pair, b, v, share, lanes) :
                          gpume_inner_share<0>(args, pair, b, v, share, lanes);
    GPUME_NO_UNROLL for (int bit = 1; bit < lanes; bit <<= 1)
        sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
    cost = inner ? sum : cost;
    left = __ballot_sync(GPUME_WHOLE_WARP, replaced && !inner && !share);
    GPUME_NO_UNROLL while (left) {
        const int whose = gpume_first_bit(left);
        const int other = (int)gpume_of_lane((GpumeU32)block, whose);
        const GpumeBox box = gpume_box(&p, p.block, other % p.bw, other / p.bw);

        sum  = gpume_cost(args, pair, box, gpume_of_word(gpume_of_lane(word, whose)));
        cost = lane == whose ? sum : cost;
        left &= left - 1;
    }
    if (exists && !share) {
        costs[block] = cost;
        GPUME_UNROLL for (int i = 0; i < GPUME_VECTOR_WORDS; i++)
            words[lane / lanes * GPUME_VECTOR_WORDS + i] =
                gpume_subpel_vector_word(i, source, &b, v.dx, v.dy, p.pel, ring ? GPUME_FLAG_INCONSISTENT : 0);
    }
    __syncwarp();
    /* consecutive words are written together */
    GPUME_NO_UNROLL for (int i = lane; i < nb * GPUME_VECTOR_WORDS; i += 32)
        mvs[i] = words[i];
}
