/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Predictive search: costs of the blocks of a row, one after another.
 *
 * Data flow of GpumeRingEvaluator (the other evaluator reads samples from global memory each time):
 * - begin: the columns of the reference that the first two blocks need are copied from global to
 *   shared memory, into the ring; the first block is loaded into registers
 * - advance: the data prefetched for the next block are copied from registers to the ring, and the
 *   data that the block after it needs are prefetched from global memory to registers; meanwhile
 *   the current block, which was prefetched in the same way, is searched
 * - a candidate: a lane compares its rows of the ring with the block in its registers; its group
 *   sums the shares by shuffles
 * - a round of candidates: all threads read the smallest key of every warp from shared memory
 * - the result: one thread writes the vector's word to global memory, where the row below and the
 *   next searches read it; another thread writes the AVMotionVector and the cost
 *
 * An evaluator has these constants, the block of its last advance() and
 *     begin(by)       all threads: begins the row; must be followed by a barrier
 *     advance(bx)     all threads: moves to the next block; all warps have finished with the window
 *                     of the block before the previous one
 *     share(dx, dy)   the lane's share of the cost of an admissible vector
 */

#ifndef AVFILTER_GPUME_CUDA_RING_CUH
#define AVFILTER_GPUME_CUDA_RING_CUH

#include "libavfilter/gpume/cuda/evaluators.cuh"

/**
 * Evaluates blocks of SIDE x SIDE samples; blocks at the right and at the bottom may be cut. The
 * search window is in shared memory.
 */
template<class Cost, int SIDE, int WARPS_>
struct GpumeRingEvaluator {
    typedef typename Cost::Sample Sample;
    static const int WARPS = WARPS_;
    static const int LANES = GPUME_CUDA_WAVEFRONT_LANES(SIDE);
    static const int BYTES = GpumeSample<Sample>::bytes;
    static const int PER_WORD = GpumeSample<Sample>::per_word;
    static const int ROWS  = SIDE / LANES;          ///< rows of a lane
    static const int WORDS = SIDE * BYTES / 4;      ///< words of a row
    /** Maximum number of columns of 16 bytes that the next block adds. */
    static const int NEW_COLUMNS = SIDE * BYTES > 16 ? SIDE * BYTES / 16 : 1;
    static const int LOADS = GPUME_CUDA_WAVEFRONT_LOADS;
    static const int REPEATED = GPUME_CUDA_WAVEFRONT_REPEATED(SIDE, BYTES);
    static_assert(Cost::LANES == 1, "a lane has rows that are not neighbours");

    const GpumeCudaArgs &a;
    const GpumeCudaPlane &plane;
    GpumeU32 *ring;
    GpumeGroup g;
    int by;
    int first_line, lines;      ///< rows of the picture in the ring
    int origin;                 ///< column at the ring's first position
    int loaded, loading;        ///< columns before these are in the ring; are in the ring or being loaded
    int4 column[NEW_COLUMNS][LOADS];
    GpumeU32 cur[ROWS][WORDS], next[ROWS][WORDS];
    GpumeU32 mask[WORDS];       ///< mask of the samples of the block
    GpumeU32 present[ROWS];     ///< ones if the block has the row
    int offset[ROWS];           ///< words from the block's first row; for rows that the block does not have, to its
                                ///< last row

    __device__ __forceinline__
    GpumeRingEvaluator(const GpumeCudaArgs &args, const GpumeCudaPlane &ref, GpumeU32 *shared) : a(args), plane(ref)
    {
        ring = shared;
    }

    /** Returns the first column that block bx does not need. */
    __device__ __forceinline__ int needed(int bx) const
    {
        return gpume_min((((bx + 1) * SIDE + a.params.range) * BYTES + 4 + 15) / 16,
                         GPUME_CUDA_WAVEFRONT_PICTURE_COLUMNS(SIDE, BYTES, a.params.bw));
    }

    __device__ __forceinline__ int4 load_column(int c, int line) const
    {
        int4 v;

        gpume_load_global(&v, gpume_inside<Sample, GPUME_CUDA_UNIT>(gpume_plane_row(plane, first_line + line),
                                                                    16 / BYTES * c, a.params.width));
        return v;
    }

    __device__ __forceinline__ void store_column(int c, int line, int4 v)
    {
        int place = c - origin;
        GpumeU32 *dst;

        place -= place >= a.wavefront.ring_columns ? a.wavefront.ring_columns : 0;
        dst    = ring + line * a.wavefront.ring_pitch + 4 * place;
        v.x    = GpumeSample<Sample>::right_justify(v.x, a.params.shift);
        v.y    = GpumeSample<Sample>::right_justify(v.y, a.params.shift);
        v.z    = GpumeSample<Sample>::right_justify(v.z, a.params.shift);
        v.w    = GpumeSample<Sample>::right_justify(v.w, a.params.shift);
        *(int4 *)dst = v;
        if (place < REPEATED)
            *(int4 *)(dst + 4 * a.wavefront.ring_columns) = v;
    }

    /* Loads the lane's rows of block bx. */
    __device__ __forceinline__ void load_block(int bx)
    {
        const int x = bx * SIDE;
        const int y = by * SIDE + g.lane;

        GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
            const GpumeU8 *row = gpume_plane_row(a.cur, y + i * LANES);

            if (y + i * LANES >= a.params.height) {
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    next[i][j] = 0;
            } else if (x + SIDE <= a.params.width) {
                gpume_load_row<WORDS>(next[i], row + x * BYTES);
            } else {
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    gpume_load_global(&next[i][j], gpume_inside<Sample, 4>(row, x + j * PER_WORD, a.params.width));
            }
        }
    }

    __device__ __forceinline__ void begin(int row)
    {
        by         = row;
        g.lane     = threadIdx.x % LANES;
        first_line = gpume_max(0, by * SIDE - a.params.range);
        lines      = gpume_min(a.params.height, (by + 1) * SIDE + a.params.range) - first_line;
        origin     = 0;
        loaded     = needed(1);
        loading    = loaded;
        GPUME_NO_UNROLL for (int c = 0; c < loaded; c++)
            GPUME_NO_UNROLL for (int line = threadIdx.x; line < lines; line += 32 * WARPS)
                store_column(c, line, load_column(c, line));
        load_block(0);
    }

    __device__ __forceinline__ void advance(int bx)
    {
        const int first = gpume_max(0, (bx * SIDE - a.params.range) * BYTES) / 16;

        if (first - origin >= a.wavefront.ring_columns)
            origin += a.wavefront.ring_columns;
        /* columns of the next block; threads read them after a barrier of this block */
        GPUME_UNROLL for (int k = 0; k < NEW_COLUMNS; k++)
            GPUME_UNROLL for (int i = 0; i < LOADS; i++) {
                const int line = threadIdx.x + i * 32 * WARPS;

                if (loaded + k < loading && line < lines)
                    store_column(loaded + k, line, column[k][i]);
            }
        loaded  = loading;
        loading = needed(bx + 2);
        GPUME_UNROLL for (int k = 0; k < NEW_COLUMNS; k++)
            GPUME_UNROLL for (int i = 0; i < LOADS; i++) {
                const int line = threadIdx.x + i * 32 * WARPS;

                if (loaded + k < loading && line < lines)
                    column[k][i] = load_column(loaded + k, line);
            }

        g = gpume_group(a.params, SIDE, LANES, bx, by);
        GPUME_UNROLL for (int j = 0; j < WORDS; j++)
            mask[j] = gpume_mask<Sample>(g.w - j * PER_WORD);
        GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
            const int line = g.lane + i * LANES;

            present[i] = line < g.h ? ~0u : 0;
            offset[i]  = gpume_min(line, g.h - 1) * a.wavefront.ring_pitch;
            GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                cur[i][j] = GpumeSample<Sample>::right_justify(next[i][j] & mask[j], a.params.shift);
        }
        if (bx + 1 < a.params.bw)
            load_block(bx + 1);
    }

    __device__ __forceinline__ GpumeU32 share(int dx, int dy) const
    {
        const int around = 16 * a.wavefront.ring_columns;
        const int byte   = (g.x0 + dx) * BYTES - 16 * origin;
        const int place  = byte - (byte >= around ? around : 0);
        const GpumeU32 *p = ring + (g.y0 + dy - first_line) * a.wavefront.ring_pitch + place / 4;
        GpumeU32 sum = 0;

        /* without branches, so that loads of several candidates overlap */
        GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
            const GpumeU32 *row = p + offset[i];
            GpumeU32 lo = row[0], part = 0;

            GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
                const GpumeU32 hi = row[j + 1];

                part = Cost::word(cur[i][j], gpume_funnel_shift(lo, hi, 8 * (place & 3)) & mask[j] & present[i], part);
                lo = hi;
            }
            sum += part;
        }
        return sum;
    }
};

/** Evaluates blocks of any size; reads all samples from global memory. */
template<class Cost, int WARPS_>
struct GpumeRowPlaneEvaluator {
    static const int WARPS = WARPS_;
    static const int LANES = 8;
    /* a lane has every eighth row */
    typedef GpumePlaneEvaluator<Cost, LANES * GPUME_POINTS / Cost::LANES, GpumeU64> Plane;

    const GpumeCudaArgs &a;
    GpumeGroup g;
    Plane e;
    int by;

    __device__ __forceinline__ GpumeRowPlaneEvaluator(const GpumeCudaArgs &args,
                                                 const GpumeCudaPlane &ref, GpumeU32 *shared)
        : a(args), e(args, ref, gpume_group(args.params, args.params.block, LANES, 0, 0))
    {
    }

    __device__ __forceinline__ void begin(int row)
    {
        by = row;
    }

    __device__ __forceinline__ void advance(int bx)
    {
        g        = gpume_group(a.params, a.params.block, LANES, bx, by);
        e.g      = g;
        e.g.lane = g.lane * Plane::SLOTS;
    }

    __device__ __forceinline__ GpumeU32 share(int dx, int dy) const
    {
        return e.share(g.x0 + dx, g.y0 + dy);
    }
};

#endif /* AVFILTER_GPUME_CUDA_RING_CUH */
