/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What kernels of fields that follow the motion have in common: vectors as words, and the
 * SAD of a block and its match.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_CUH
#define AVFILTER_GPUME_CUDA_MOTION_CUH

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/motion.h"

static __device__ __forceinline__ GpumeU32 gpume_vector_of(int dx, int dy)
{
    return ((GpumeU32)dx & 0xffff) | (GpumeU32)dy << 16;
}

static __device__ __forceinline__ GpumeVector gpume_of_word(GpumeU32 word)
{
    GpumeVector v;

    v.dx = (short)(word & 0xffff);
    v.dy = (short)(word >> 16);
    return v;
}

/** By comparisons, as an index has the compiler keep the arguments in memory. */
static __device__ __forceinline__ GpumeCudaPair
gpume_pair(const GpumeCudaPair (&pairs)[GPUME_MAX_REFERENCES], int z)
{
    GpumeCudaPair pair = pairs[0];

    GPUME_UNROLL for (int i = 1; i < GPUME_MAX_REFERENCES; i++) {
        pair.cur = z == i ? pairs[i].cur : pair.cur;
        pair.ref = z == i ? pairs[i].ref : pair.ref;
    }
    return pair;
}

/** The means of each sample of two words, halves up. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_mean2(GpumeU32 a, GpumeU32 b)
{
    const GpumeU32 low = sizeof(Sample) == 1 ? 0x7f7f7f7f : 0x7fff7fff;

    return (a | b) - (((a ^ b) >> 1) & low);
}

/** By quarters of a sample, fy * 4 + fx: gpume_between(); words of shared memory. */
#define GPUME_NB_BETWEEN 16

static __device__ __forceinline__ void gpume_make_between(GpumeU32 *between)
{
    if (threadIdx.x < GPUME_NB_BETWEEN)
        between[threadIdx.x] = gpume_between(threadIdx.x & 3, threadIdx.x >> 2);
}

/**
 * Matches of a block, in planes. All lanes of a warp call cost().
 * @tparam SIDE  of blocks, 0: any
 * @tparam PARTS vectors are in parts of a sample
 */
template<class Cost, int SIDE, int PARTS>
struct GpumeMatcher {
    typedef typename Cost::Sample Sample;
    static const int BYTES    = GpumeSample<Sample>::bytes;
    static const int PER_WORD = GpumeSample<Sample>::per_word;
    static const int WORDS    = SIDE ? SIDE * BYTES / 4 : 1;
    /** Rows that are loaded at a time. */
    static const int ROWS     = WORDS > 4 ? 2 : 4;
    /** Lanes that share a candidate, each has every so manieth row. */
    static const int SHARES   = GPUME_CUDA_STEP_LANES(SIDE) / 16;

    const GpumeU8 *cur;         ///< the block's first sample
    GpumeU64 ref;               ///< and that at its place
    int linesize;
    long long plane_size;
    int pel;
    int w, h;                   ///< of the block, 1 or more
    const GpumeU32 *between;

    /** Where the match's first sample lies, in the two planes whose mean it is. */
    __device__ __forceinline__ void place(int dx, int dy, GpumeU64 *first, GpumeU64 *second) const
    {
        if (PARTS) {
            const int log2 = gpume_log2_pel(pel);
            const int fx = (dx & (pel - 1)) << (2 - log2), fy = (dy & (pel - 1)) << (2 - log2);
            const GpumeU32 two = between[fy * 4 + fx];
            const GpumeU64 at = ref + (long long)(dy >> log2) * linesize + (dx >> log2) * BYTES;

            *first  = at + (two & 3) * plane_size + (two >> 2 & 1) * BYTES + (two >> 3 & 1) * linesize;
            *second = at + (two >> 4 & 3) * plane_size + (two >> 6 & 1) * BYTES + (two >> 7) * linesize;
        } else {
            *first = *second = ref + (long long)dy * linesize + dx * BYTES;
        }
    }

    /** A row's words from any address. */
    static __device__ __forceinline__ void load_words(GpumeU32 *words, GpumeU64 at)
    {
        const GpumeU8 *p = (const GpumeU8 *)(at & ~(GpumeU64)3);
        const int shift  = 8 * (int)(at & 3);
        GpumeU32 raw[WORDS + 1];

        GPUME_UNROLL for (int j = 0; j <= WORDS; j++)
            gpume_load_global(&raw[j], p + 4 * j);
        GPUME_UNROLL for (int j = 0; j < WORDS; j++)
            words[j] = gpume_funnel(raw[j], raw[j + 1], shift);
    }

    /** Add the cost of some rows. */
    template<int PARTIAL>
    __device__ __forceinline__ GpumeU32 rows(int from, GpumeU64 first, GpumeU64 second, GpumeU32 sum) const
    {
        GPUME_UNROLL for (int r = 0; r < ROWS; r++) {
            const long long row = PARTIAL ? gpume_min(from + r, h - 1) : from + r;
            GpumeU32 c[WORDS], m[WORDS], n[WORDS];

            gpume_load_row<WORDS>(c, cur + row * linesize);
            load_words(m, first + row * linesize);
            if (PARTS) {
                load_words(n, second + row * linesize);
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    m[j] = gpume_mean2<Sample>(m[j], n[j]);
            }
            GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
                const GpumeU32 mask = !PARTIAL ? ~0u : from + r < h ?
                                      gpume_mask<Sample>(w - j * PER_WORD) : 0;

                sum = Cost::word(c[j] & mask, m[j] & mask, sum);
            }
        }
        return sum;
    }

    /** Add the cost of a row of any length. */
    __device__ __forceinline__ GpumeU32 row(int r, GpumeU64 first, GpumeU64 second, GpumeU32 sum) const
    {
        const GpumeU8 *c = cur + (long long)r * linesize;

        first  += (long long)r * linesize;
        second += (long long)r * linesize;
        GPUME_NO_UNROLL for (int x = 0; x < w; x += PER_WORD) {
            const GpumeU32 mask = gpume_mask<Sample>(w - x);
            GpumeU32 word[1], match[1], other[1];

            gpume_load_global(word, c + x * BYTES);
            load_words(match, first + x * BYTES);
            if (PARTS) {
                load_words(other, second + x * BYTES);
                match[0] = gpume_mean2<Sample>(match[0], other[0]);
            }
            sum = Cost::word(word[0] & mask, match[0] & mask, sum);
        }
        return sum;
    }

    /**
     * D of a vector.
     * @param wanted no lane loads anything that does not want it
     * @param limit  D may be any from here on where it is not less
     */
    __device__ __forceinline__ GpumeU32 cost(int dx, int dy, int wanted, GpumeU32 limit) const
    {
        GpumeU64 first, second;
        GpumeU32 sum = 0;

        if (!__any_sync(GPUME_WHOLE_WARP, wanted))
            return 0;
        place(dx, dy, &first, &second);
        if (!SIDE) {
            if (wanted) {
                GPUME_NO_UNROLL for (int r = threadIdx.x % 32 / 16; r < h; r += SHARES)
                    sum = row(r, first, second, sum);
            }
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, 16);
            return sum;
        }

        const int partial = __any_sync(GPUME_WHOLE_WARP, w < SIDE || h < SIDE);

        GPUME_NO_UNROLL for (int r = 0; r < SIDE; r += ROWS) {
            if (wanted)
                sum = partial ? rows<1>(r, first, second, sum) : rows<0>(r, first, second, sum);
            if (r + ROWS < SIDE) {
                wanted &= sum < limit;
                if (!__any_sync(GPUME_WHOLE_WARP, wanted))
                    break;
            }
        }
        return sum;
    }
};

/** The matches of a block on a step's level. */
template<class Matcher>
static __device__ __forceinline__ Matcher
gpume_matcher(const GpumeCudaStepArgs &a, const GpumeCudaPair &pair, const GpumeBox &b,
              const GpumeU32 *between)
{
    const long long at = (long long)a.linesize * b.y0 + b.x0 * Matcher::BYTES;
    Matcher m;

    m.cur        = (const GpumeU8 *)pair.cur + at;
    m.ref        = pair.ref + at;
    m.linesize   = (int)a.linesize;
    m.plane_size = a.plane_size;
    m.pel        = a.params.pel;
    m.w          = b.w;
    m.h          = b.h;
    m.between    = between;
    return m;
}

#endif /* AVFILTER_GPUME_CUDA_MOTION_CUH */
