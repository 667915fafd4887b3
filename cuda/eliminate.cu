/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search by successive elimination (Li and Salari, IEEE TIP 4(1), 1995; with sums of parts of
 * the block: Gao, Duanmu and Zou, IEEE TIP 9(3), 2000). A candidate whose lower bound, from the sums
 * of square_sums.cuh, is above a cost already found is not the best. A search has two launches.
 *
 * 1. This kernel. A thread block has a tile of the picture, and each warp a square of 16x16 samples
 *    of the tile: one block of 16x16, or four of 8x8. All threads compute the sums of the tile; then,
 *    for one chunk of displacements after the other,
 *    - all threads compute the sums of the reference that the chunk needs (gpume_fill_sums());
 *    - each warp follows the smallest bounds to a good candidate and evaluates it (guess()), so that
 *      most bounds are above its cost;
 *    - each warp computes the bounds of all candidates (go_down()), lists those that may be the best
 *      (note()), and evaluates these (evaluate()), eight lanes each.
 *    At the end a lane of each block stores its best candidate. If a warp has more candidates to
 *    evaluate than are worth it, it adds its square to the list of remaining squares instead.
 * 2. The kernel of scan.cu, which searches the remaining squares. If nearly all squares of the
 *    previous picture have remained, as in noise, most tiles are left to it at once
 *    (gpume_expects_remaining()).
 *
 * The warp's functions are in three structs, each of which adds to the one before: GpumeSeaEvaluator
 * evaluates candidates, GpumeSeaBounds bounds single ones, GpumeSeaWarp bounds all of a chunk.
 */

#include "libavfilter/gpume/cuda/square_sums.cuh"

static_assert(GPUME_CUDA_COST == GPUME_COST_SAD, "sums bound no other cost");
static_assert(GPUME_MAX_SIDE / GPUME_CUDA_SEA_SQUARE < 1 << 12, "GPUME_CUDA_SQUARE() has 12 bits");
static_assert(2 * GPUME_MAX_RANGE < 1 << 12, "gpume_pack_vector() has 12 bits");

#define SIDE GPUME_CUDA_SIDE
#define GPUME_SEA_WARPS        (GPUME_CUDA_SEA_THREADS / 32)

/** Returns dx and dy as one number, which increases in raster order. */
static __device__ __forceinline__ GpumeU32 gpume_pack_vector(int dx, int dy)
{
    return (GpumeU32)(dy + GPUME_MAX_RANGE) << 12 | (GpumeU32)(dx + GPUME_MAX_RANGE);
}

static __device__ __forceinline__ int gpume_unpack_dx(GpumeU32 vector)
{
    return (int)(vector & 4095) - GPUME_MAX_RANGE;
}

static __device__ __forceinline__ int gpume_unpack_dy(GpumeU32 vector)
{
    return (int)(vector >> 12 & 4095) - GPUME_MAX_RANGE;
}

/** Returns the order of a vector among those of equal cost: zero first, then raster order. */
static __device__ __forceinline__ GpumeU32 gpume_order_of(GpumeU32 vector)
{
    return vector == gpume_pack_vector(0, 0) ? 0 : vector + 1;
}

/** A warp that searches the blocks of a square, one of 16x16 or four of 8x8, and evaluates their candidates. */
struct GpumeSeaEvaluator {
    static const int across = GPUME_CUDA_SEA_SQUARE / SIDE;
    static const int blocks = across * across;
    /** Lanes that hold the result of a block. */
    static const int lanes  = 32 / blocks;
    /** Number of 4x4 squares in a column of a block. */
    static const int pieces = SIDE / 4;
    /** Rows of 4x4 squares after which the candidates found so far are looked at. */
    static const int rows   = blocks == 1 ? 4 : 1;

    int lane;
    int x, y;                   ///< the square's first sample in the tile
    GpumeU32 *candidates;       ///< candidates to be evaluated, 32 at most
    GpumeU32 *hits;             ///< positions of candidates, see go_down()
    int nb_hits;
    int evaluated;              ///< candidates evaluated so far
    GpumeU64 best;              ///< key, for block lane / lanes
    GpumeU32 sums[GPUME_CUDA_SEA_SQUARE / 4];  ///< sums of the current picture as bytes, a row of 4x4 squares a word
    GpumeU32 mask[GPUME_CUDA_SEA_SQUARE / 4];  ///< ones for 4x4 squares that the picture's edge does not cut
    /**
     * By block: minus the smallest sum of byte differences that is too large. Sums begin with this
     * value, and are negative for a candidate that may be the best.
     */
    GpumeU32 start[blocks];

    /** Returns the rectangle of a block of the square. */
    __device__ __forceinline__ GpumeBox
    box(const GpumeCudaArgs &a, const GpumeSeaTile &t, int block) const
    {
        return gpume_box(&a.params, SIDE, (t.x + x) / SIDE + block % across,
                                          (t.y + y) / SIDE + block / across);
    }

    /** Returns whether (dx, dy) is admissible for a block. */
    __device__ __forceinline__ int
    admissible(const GpumeCudaArgs &a, const GpumeSeaTile &t, int block, int dx, int dy) const
    {
        const GpumeBox b = box(a, t, block);

        return b.w > 0 && b.h > 0 && gpume_admissible(&b, dx, dy);
    }

    /** Returns how many lanes in the mask are before this lane. */
    __device__ __forceinline__ int rank(GpumeU32 mask) const
    {
        return gpume_popcount(mask & ((1u << lane) - 1));
    }

    /** Evaluates this lane's candidate, if it has one. All lanes call it. */
    __device__ __forceinline__ void
    evaluate(const GpumeCudaArgs &a, const GpumeSeaTile &t,
             int has, int block, int dx, int dy)
    {
        const int bytes = GpumeSample<Sample>::bytes;
        const int words = SIDE * bytes / 4;
        const int slack = pieces * pieces * ((1 << t.scale) - 1);
        const GpumeU32 mask = __ballot_sync(~0u, has);
        const int nb = gpume_popcount(mask);

        if (!nb)
            return;
        if (has)
            candidates[rank(mask)] =
                (GpumeU32)block << 24 | gpume_pack_vector(dx, dy);
        __syncwarp();

        /* eight lanes evaluate each candidate */
        for (int i = 0; i < nb; i += 4) {
            const int valid = i + (lane >> 3) < nb;
            const GpumeU32 entry = candidates[valid ? i + (lane >> 3) : i];
            const int which = entry >> 24;
            const int in_x  = x + which % across * SIDE;
            const int in_y  = y + which / across * SIDE;
            const int w     = box(a, t, which).w;
            const int h     = box(a, t, which).h;
            const int x0    = t.x + in_x + gpume_unpack_dx(entry);
            const int start = x0 * bytes & 3;
            const int last  = (start + w * bytes - 1) / 4;
            const GpumeU8 *row  = gpume_row(t.ref, t.y + in_y + gpume_unpack_dy(entry) + (lane & 7), t.linesize) +
                                  x0 * bytes - start;
            const GpumeU32 *cur = t.cur + (in_y + (lane & 7)) * GPUME_SEA_TILE_WORDS + in_x * bytes / 4;
            /* rows that are loaded together to overlap their latency; samples of two bytes need more registers */
            const int together = bytes == 1 ? SIDE : 8;
            GpumeU32 cost = 0;
            GpumeU64 key;

            GPUME_UNROLL for (int first = 0; first < SIDE; first += together) {
                GpumeU32 ref[together / 8][words + 1];

                GPUME_UNROLL for (int j = 0; j < together; j += 8)
                    if (first + j + (lane & 7) < h) {
                        GPUME_UNROLL for (int c = 0; c <= words; c++)
                            gpume_load_global(&ref[j / 8][c], gpume_row(row, first + j, t.linesize) +
                                                              4 * gpume_min(c, last));
                    }
                GPUME_UNROLL for (int j = 0; j < together; j += 8)
                    if (first + j + (lane & 7) < h) {
                        GPUME_UNROLL for (int c = 0; c < words; c++) {
                            const GpumeU32 v = gpume_funnel_shift(ref[j / 8][c], ref[j / 8][c + 1], 8 * start) &
                                               gpume_mask<Sample>(w - c * (4 / bytes));

                            cost = GpumeSad<Sample>::word(cur[(first + j) * GPUME_SEA_TILE_WORDS + c],
                                       GpumeSample<Sample>::right_justify(v, a.params.shift), cost);
                        }
                    }
            }
            for (int l = 4; l; l >>= 1)
                cost += __shfl_xor_sync(~0u, cost, l);
            key = valid ? gpume_key(cost, gpume_order_of(entry & 0xffffff)) : ~0ull;
            if (blocks == 1) {
                key  = gpume_least<8, 32>(key);
                best = key < best ? key : best;
            } else {
                GPUME_UNROLL for (int l = 0; l < 32; l += 8) {
                    const GpumeU64 other = gpume_of_lane(key, l);

                    if (gpume_of_lane((GpumeU32)which, l) == lane / lanes && other < best)
                        best = other;
                }
            }
        }
        __syncwarp();
        evaluated += nb;
        GPUME_UNROLL for (int i = 0; i < blocks; i++) {
            const GpumeU32 cost = gpume_of_lane((GpumeU32)(best >> 32), i * lanes);

            /* no candidate is better for a block without a cost: it is outside the picture */
            start[i] = cost == ~0u ? 0 : ~((cost + slack) >> t.scale);
        }
    }
};

/** Bounds of single candidates. */
struct GpumeSeaBounds : GpumeSeaEvaluator {
    /** Returns a row of 4x4 squares of a square displaced by (dx, dy), as bytes. */
    static __device__ __forceinline__ GpumeU32
    load_row(const GpumeSeaTile &t, int in_x, int in_y, int dx, int dy)
    {
        const int column = in_x + dx - t.cx;
        const GpumeU32 *p = t.sums + (in_y + dy - t.cy) * t.pitch +
                            (column & 3) * t.phase + (column >> 4);

        return gpume_funnel_shift(p[0], p[1], (column >> 2 & 3) * 8);
    }

    /** Returns the word of sums of the left or right block of 8x8, from the sums of its rows. */
    static __device__ __forceinline__ GpumeU32
    half(int right, GpumeU32 upper, GpumeU32 lower)
    {
        return right ? upper >> 16 | (lower & 0xffff0000) : (upper & 0xffff) | lower << 16;
    }

    /** Returns the sum of byte differences of this lane's block at (dx, dy). */
    __device__ __forceinline__ GpumeU32
    bound(const GpumeSeaTile &t, int dx, int dy) const
    {
        GpumeU32 sum = 0;

        if (blocks == 1) {
            GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_SEA_SQUARE / 4; i++)
                sum = gpume_sad4(sums[i], load_row(t, x, y + 4 * i, dx, dy) & mask[i], sum);
        } else {
            const int block = lane / lanes;
            const int in_x  = x + block % across * SIDE;
            const int in_y  = y + block / across * SIDE;
            const GpumeU32 upper = block < across ? sums[0] : sums[2];
            const GpumeU32 lower = block < across ? sums[1] : sums[3];
            const GpumeU32 upper_mask = block < across ? mask[0] : mask[2];
            const GpumeU32 lower_mask = block < across ? mask[1] : mask[3];

            sum = gpume_sad4(half(block % across, upper, lower),
                             half(0, load_row(t, in_x, in_y,     dx, dy),
                                     load_row(t, in_x, in_y + 4, dx, dy)) &
                             half(block % across, upper_mask, lower_mask), 0);
        }
        return sum;
    }

    /**
     * Finds and evaluates a good candidate, so that the bounds of other candidates exceed its cost:
     * follows the smallest bounds in decreasing steps.
     */
    __device__ __forceinline__ void
    guess(const GpumeCudaArgs &a, const GpumeSeaTile &t)
    {
        const int block = lane / lanes;
        const int point = blocks == 1 ? lane : lane % lanes + (lane % lanes >= 4);
        const int side   = blocks == 1 ? 5 : 3;
        const int centre = side * side / 2;
        const int px    = point % side - side / 2;
        const int py    = point / side - side / 2;
        const GpumeBox b = box(a, t, block);
        const int min_dx = gpume_max(b.min_dx, t.cx);
        const int min_dy = gpume_max(b.min_dy, t.cy);
        const int max_dx = gpume_min(b.max_dx, t.cx + a.sea.chunk_width  - 1);
        const int max_dy = b.w > 0 && b.h > 0 && point < side * side ?
                           gpume_min(b.max_dy, t.cy + a.sea.chunk_height - 1) : min_dy - 1;
        /* the chunk may have no vector of the block */
        int dx = gpume_max(min_dx, gpume_min(0, max_dx));
        int dy = gpume_max(min_dy, gpume_min(0, t.cy + a.sea.chunk_height - 1));
        GpumeU32 least = ~0u >> 5;

        /* with a single block, the centre is one of the points that are tried below */
        if (blocks > 1 && dx <= max_dx && dy <= max_dy)
            least = bound(t, dx, dy);

        for (int step = 4; step; step >>= 1)
            for (int i = 0; i < 8; i++) {
                const int tx = dx + px * step;
                const int ty = dy + py * step;
                GpumeU32 key = ~0u, moved;

                if (tx >= min_dx && tx <= max_dx && ty >= min_dy && ty <= max_dy)
                    key = bound(t, tx, ty) << 5 | (point ^ centre);
                key   = gpume_least<1, lanes>(key);
                moved = key >> 5 < least && (key & 31);
                least = gpume_umin(least, key >> 5);
                if (moved) {
                    const GpumeU32 to = (key & 31) ^ centre;

                    dx += (int)(to % side - side / 2) * step;
                    dy += (int)(to / side - side / 2) * step;
                }
                if (!__ballot_sync(~0u, moved))
                    break;
            }

        /* one lane tests the zero vector, which precedes others of equal cost */
        const int zero = lane % lanes == 1;

        dx = zero ? 0 : dx;
        dy = zero ? 0 : dy;
        evaluate(a, t, lane % lanes < 2 && admissible(a, t, block, dx, dy), block, dx, dy);
    }

    /**
     * Returns whether no candidate can be better than those found: whether zero vectors, which
     * precede others, have cost 0.
     */
    __device__ __forceinline__ int found() const
    {
        return !__any_sync(~0u, best != 0);
    }

    static __device__ __forceinline__ int warp_sum(int n)
    {
        for (int l = 16; l; l >>= 1)
            n += (int)__shfl_xor_sync(~0u, (GpumeU32)n, l);
        return n;
    }
};

/** Bounds of all candidates of a chunk. */
struct GpumeSeaWarp : GpumeSeaBounds {
    /** Stores which sums of this lane have become negative, in rows from row on and before the last. */
    __device__ __forceinline__ void note(const GpumeU32 (&ended)[rows][4 * blocks], int row, int last, int valid)
    {
        GpumeU32 bits = 0, mask;

        static_assert(4 * blocks * rows == 16, "a bit each");
        GPUME_UNROLL for (int r = 0; r < rows; r++) {
            GpumeU32 tops = 0;

            GPUME_UNROLL for (int i = 4 * blocks - 1; i >= 0; i--)
                tops = gpume_funnel_shift(ended[r][i], tops, 31);
            bits += tops << 4 * blocks * r;
        }
        if (last - row < rows)
            bits &= (1u << 4 * blocks * (last - row)) - 1;
        bits = valid ? bits : 0;
        mask = __ballot_sync(~0u, bits);
        if (bits)
            hits[nb_hits + rank(mask)] = (GpumeU32)row << 21 | lane << 16 | bits;
        nb_hits += gpume_popcount(mask);
    }

    /**
     * Processes rows of 4x4 squares, several at a time, and stores where sums have become negative:
     * the first of these rows, the lane, and a bit for each of its sums.
     * @tparam CUT  the picture's edge cuts the square
     * @param at    the word of sums of row 0, for this lane; up to three rows behind the last are
     *              read
     * @param row   first row; set to the row behind the last that was processed, which is earlier
     *              where more rows might exceed the list. The next call repeats the previous rows
     *              whose candidates are incomplete: this is rare, and no registers are needed
     *              between calls
     */
    template<int CUT>
    __device__ __forceinline__ void
    go_down(const GpumeSeaTile &t, int at, int &row, int last, int valid)
    {
        const int stride = 4 * t.pitch;
        const int first  = gpume_max(0, row - (pieces - 1));
        /*
         * Sums of the four candidates that a lane begins in row i are in sum[i % 4]. In a square of
         * several blocks, they end with the next row; previous has the words of the previous row.
         */
        GpumeU32 sum[4][4], previous[4];

        GPUME_UNROLL for (int k = 0; k < 4; k++) {
            previous[k] = 0;
            /* no sum below 0 is complete before it has begun */
            GPUME_UNROLL for (int i = 0; i < 4; i++)
                sum[i][k] = 0;
        }
        at += first * stride;
        row = first;

        static_assert(GPUME_CUDA_SEA_SQUARE / 4 == 4, "sum has as many rows");
        while (row < last && nb_hits <= GPUME_CUDA_SEA_HITS - 32) {
            GpumeU32 ended[rows][4 * blocks], sign = 0;

            GPUME_UNROLL for (int r = 0; r < rows; r++) {
                const int word    = at + r * stride;
                const GpumeU32 lo = t.sums[word], hi = t.sums[word + 1];

                GPUME_UNROLL for (int k = 0; k < 4; k++) {
                    const GpumeU32 w = k ? gpume_funnel_shift(lo, hi, 8 * k) : lo;

                    if (blocks == 1) {
                        GPUME_UNROLL for (int i = 0; i < 4; i++) {
                            const int j = (r - i) & 3;

                            sum[i][k] = gpume_sad4(sums[j], CUT ? w & mask[j] : w, j ? sum[i][k] : start[0]);
                            if (j == 3)
                                ended[r][k] = sum[i][k];
                        }
                    } else {
                        GPUME_UNROLL for (int i = 0; i < 4; i++) {
                            const int j = i / 2 * 2;
                            const GpumeU32 v = half(i & 1, previous[k], w);

                            ended[r][4 * i % (4 * blocks) + k] =
                                gpume_sad4(half(i & 1, sums[j], sums[j + 1]),
                                           CUT ? v & half(i & 1, mask[j], mask[j + 1]) : v, start[i % blocks]);
                        }
                        previous[k] = w;
                    }
                }
                GPUME_UNROLL for (int i = 0; i < 4 * blocks; i++)
                    sign |= ended[r][i];
            }

            /* rarely true */
            if (__any_sync(~0u, valid && (int)sign < 0))
                note(ended, row, last, valid && (blocks == 1 || row > first));
            row += rows;
            at  += rows * stride;
        }
    }

    /**
     * Tests all candidates of a chunk. A lane has four candidates, 4 columns apart, in every fourth
     * row. With each row of 4x4 squares, it completes the candidates for which this is the last
     * row.
     * @return 0 if so many candidates had to be evaluated that elimination is not faster
     */
    __device__ __forceinline__ int
    try_all(const GpumeCudaArgs &a, const GpumeSeaTile &t)
    {
        const int nx = gpume_min(a.sea.chunk_width,  a.params.range + 1 - t.cx);
        const int ny = gpume_min(a.sea.chunk_height, a.params.range + 1 - t.cy);
        const int units   = nx / 16 * 4 + gpume_min(nx % 16, 4);    // in a row
        const int nb_rows = (ny + 3) / 4;
        const int total   = units * gpume_min(ny, 4);
        const GpumeU32 reciprocal = GPUME_RECIPROCAL(units);
        const int cut     = (mask[0] & mask[1] & mask[2] & mask[3]) != ~0u;

        int noted = 0, all_hits = 0;

        for (int base = 0; base < total; base += 32) {
            const int nb = gpume_min(total - base, 32);
            int length = nb_rows, index = base + lane, first = 0, valid = 1;

            if (nb <= 16) {
                /* too few for all lanes, so rows are also shared, by a power of two of lanes */
                int shift = 4;

                while (shift > 0 && nb <= 1 << (shift - 1))
                    shift--;
                length = (nb_rows + (32 >> shift) - 1) >> (5 - shift);
                index  = lane & ((1 << shift) - 1);
                first  = gpume_min((lane >> shift) * length, nb_rows - length);
                valid  = index < nb;
                index  = base + (valid ? index : 0);
            } else if (nb < 32) {
                valid = lane < nb;
                index = base + (valid ? lane : 0);
            }

            const int line     = GPUME_DIVIDE(index, reciprocal);
            const int unit     = index - line * units;
            const int dx       = t.cx + unit / 4 * 16 + unit % 4;
            const int dy       = t.cy + line + 4 * first;
            const int last     = length + GPUME_CUDA_SEA_SQUARE / 4 - 1;
            const int at       = (y + line + 4 * first) * t.pitch +
                                 unit % 4 * t.phase + x / 16 + unit / 4;
            int row = 0;

            while (row < last) {
                if (cut)
                    go_down<1>(t, at, row, last, valid);
                else
                    go_down<0>(t, at, row, last, valid);

                __syncwarp();
                GPUME_NO_UNROLL for (int i = 0; i < nb_hits; i += 32)
                    noted += i + lane < nb_hits ? gpume_popcount(hits[i + lane] & 0xffff) : 0;
                all_hits += nb_hits;

                /* rare: with this many candidates, evaluating them is not faster */
                const int most = (128 + base / 2 * length + 16 * row) * blocks;

                if (all_hits * 16 > most && warp_sum(noted) > most)
                    return 0;
                for (; nb_hits > 0; nb_hits -= 32) {
                    const GpumeU32 hit = lane < nb_hits ? hits[nb_hits - 1 - lane] : 0;
                    const int from_lane = hit >> 16 & 31;
                    const int hit_dx   = gpume_of_lane((GpumeU32)dx, from_lane);
                    const int hit_dy   = gpume_of_lane((GpumeU32)dy, from_lane);
                    GpumeU32 bits      = hit & 0xffff;

                    while (__ballot_sync(~0u, bits)) {
                        const int i     = gpume_first_bit(bits);
                        const int block = blocks == 1 ? 0 : i / 4;
                        const int ended = (hit >> 21) + (blocks == 1 ? i / 4 : 0);
                        /* the block's last row of 4x4 squares */
                        const int from  = ended + 1 - (block / across + 1) * pieces;
                        const int tx    = hit_dx + i % 4 * 4;
                        const int ty    = hit_dy + 4 * from;

                        evaluate(a, t, bits && from >= 0 && from < length &&
                                       admissible(a, t, block, tx, ty), block, tx, ty);
                        bits &= bits - 1;
                        if (evaluated > a.sea.max_evaluated)
                            return 0;
                    }
                }
                nb_hits = 0;
                __syncwarp();
            }
        }
        return 1;
    }
};

/**
 * Returns whether to leave a tile to the kernel that evaluates all candidates, before any is
 * tested. This is so if nearly all squares of the previous search have remained, as in noise; one
 * tile of eight is still tested to see when this ends. The vectors do not depend on it.
 * @param before  number of squares that remained in the previous search
 */
static __device__ __forceinline__ int gpume_expects_remaining(const GpumeCudaArgs &a, GpumeU32 before)
{
    const GpumeU32 nb = gpume_blocks(a.params.width,  GPUME_CUDA_SEA_SQUARE) *
                        gpume_blocks(a.params.height, GPUME_CUDA_SEA_SQUARE) * a.nb_fields;

    return before > nb - nb / 32 && (blockIdx.x + 3 * blockIdx.y) % 8;
}

/** Adds all squares of a tile to the remaining squares. The first warp calls it. */
static __device__ __forceinline__ void gpume_add_remaining(const GpumeCudaArgs &a)
{
    GpumeCudaRemaining *remaining = (GpumeCudaRemaining *)a.remaining;
    const int x      = blockIdx.x * (GPUME_CUDA_SEA_TILE_WIDTH  / GPUME_CUDA_SEA_SQUARE);
    const int y      = blockIdx.y * (GPUME_CUDA_SEA_TILE_HEIGHT / GPUME_CUDA_SEA_SQUARE);
    const int across = gpume_min(GPUME_CUDA_SEA_TILE_WIDTH  / GPUME_CUDA_SEA_SQUARE,
                                 gpume_blocks(a.params.width,  GPUME_CUDA_SEA_SQUARE) - x);
    const int down   = gpume_min(GPUME_CUDA_SEA_TILE_HEIGHT / GPUME_CUDA_SEA_SQUARE,
                                 gpume_blocks(a.params.height, GPUME_CUDA_SEA_SQUARE) - y);
    const int column = threadIdx.x % (GPUME_CUDA_SEA_TILE_WIDTH / GPUME_CUDA_SEA_SQUARE);
    const int line   = threadIdx.x / (GPUME_CUDA_SEA_TILE_WIDTH / GPUME_CUDA_SEA_SQUARE);
    GpumeU32 first = 0;

    if (!threadIdx.x)
        first = atomicAdd(&remaining->nb[a.parity], across * down);
    first = gpume_of_lane(first, 0);
    if (column < across && line < down)
        remaining->squares[first + line * across + column] = GPUME_CUDA_SQUARE(x + column, y + line, blockIdx.z);
}

/** Stores the results of a warp's square, or adds it to the remaining squares. */
static __device__ __forceinline__ void
gpume_end_square(const GpumeCudaArgs &a, const GpumeSeaTile &t, const GpumeSeaWarp &w, int settled)
{
    const int block = w.lane / w.lanes;
    const int x0    = t.x + w.x + block % w.across * SIDE;
    const int y0    = t.y + w.y + block / w.across * SIDE;

    if (!settled && !w.lane) {
        GpumeCudaRemaining *remaining = (GpumeCudaRemaining *)a.remaining;

        remaining->squares[atomicAdd(&remaining->nb[a.parity], 1)] =
            GPUME_CUDA_SQUARE((t.x + w.x) / GPUME_CUDA_SEA_SQUARE, (t.y + w.y) / GPUME_CUDA_SEA_SQUARE, blockIdx.z);
    }
    if (!settled || w.lane % w.lanes || x0 >= a.params.width || y0 >= a.params.height)
        return;

    const GpumeBox b = gpume_box(&a.params, SIDE, x0 / SIDE, y0 / SIDE);
    const GpumeU32 order = (GpumeU32)w.best;

    gpume_store(a, b, blockIdx.z, x0 / SIDE, y0 / SIDE, order ? gpume_unpack_dx(order - 1) : 0,
                order ? gpume_unpack_dy(order - 1) : 0, (GpumeU32)(w.best >> 32));
}

/**
 * A thread block searches a tile of the picture, and a warp a square of it, in chunks of
 * displacements. Squares with too many candidates to evaluate remain for the kernel that evaluates
 * all candidates.
 *
 * grid:   tiles in a row, in a column, fields
 * block:  GPUME_CUDA_SEA_THREADS
 * shared: GPUME_CUDA_SEA_SHARED() words
 */
GPUME_KERNEL(GPUME_CUDA_SEA_THREADS, 2)
{
    const GpumeCudaArgs &a = args;
    GPUME_SHARED(GpumeU32, shared);

    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
    const int warp = threadIdx.x / 32;
    GpumeSeaTile t;
    GpumeSeaWarp w;
    int settled;                // whether the search of this warp's square needs no other kernel
    int searching, any_searching = 1;   // whether this warp still searches, and whether any does

    t.ref      = (const GpumeU8 *)ref.data;
    t.linesize = ref.linesize;
    t.x        = blockIdx.x * GPUME_CUDA_SEA_TILE_WIDTH;
    t.y        = blockIdx.y * GPUME_CUDA_SEA_TILE_HEIGHT;
    t.phase    = GPUME_CUDA_SEA_PHASE(a.sea.chunk_width);
    t.pitch    = 4 * t.phase;
    t.cur      = shared;
    t.cur_sums = t.cur + GPUME_CUDA_SEA_TILE_HEIGHT * GPUME_SEA_TILE_WORDS;
    w.hits     = t.cur_sums + GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT / 64;
    t.sums     = w.hits + GPUME_SEA_WARPS * (GPUME_CUDA_SEA_HITS + 32);

    GpumeU32 words[GPUME_SEA_TILE_LOADS];

    gpume_load_column<Sample>(a, words, t.x + threadIdx.x % GPUME_SEA_TILE_WORDS * GpumeSample<Sample>::per_word,
                              t.y + threadIdx.x / GPUME_SEA_TILE_WORDS,
                              GPUME_CUDA_SEA_THREADS / GPUME_SEA_TILE_WORDS);

    const GpumeU32 before = gpume_load_volatile(&((const GpumeCudaRemaining *)a.remaining)->nb[a.parity ^ 1]);

    GPUME_UNROLL for (int i = 0; i < GPUME_SEA_TILE_LOADS; i++)
        t.cur[threadIdx.x + i * GPUME_CUDA_SEA_THREADS] = words[i];
    if (gpume_expects_remaining(a, before)) {
        if (!warp)
            gpume_add_remaining(a);
        return;
    }
    gpume_zero_behind(a, t);
    __syncthreads();

    const int any = gpume_sum_tile(a, t, w.hits);

    __syncthreads();
    w.hits      += warp * (GPUME_CUDA_SEA_HITS + 32);
    w.candidates = w.hits + GPUME_CUDA_SEA_HITS;
    w.lane      = threadIdx.x & 31;
    w.x         = warp % (GPUME_CUDA_SEA_TILE_WIDTH / GPUME_CUDA_SEA_SQUARE) * GPUME_CUDA_SEA_SQUARE;
    w.y         = warp / (GPUME_CUDA_SEA_TILE_WIDTH / GPUME_CUDA_SEA_SQUARE) * GPUME_CUDA_SEA_SQUARE;
    w.nb_hits   = 0;
    w.evaluated = 0;
    w.best      = ~0ull;
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_SEA_SQUARE / 4; i++) {
        const int columns = (p.width - t.x - w.x) / 4;

        w.mask[i] = t.y + w.y + 4 * i + 4 > p.height ? 0 : gpume_mask<GpumeU8>(columns);
        w.sums[i] = any ? t.cur_sums[((w.y / 4 + i) * GPUME_CUDA_SEA_TILE_WIDTH + w.x) / 16] & w.mask[i] : 0;
    }

    /* squares outside the picture are not searched */
    const int inside = t.x + w.x < p.width && t.y + w.y < p.height;

    searching = settled = any && inside;
    if (any)
        for (t.cy = -((p.range + 3) & ~3); t.cy <= p.range && any_searching; t.cy += a.sea.chunk_height)
            for (t.cx = -((p.range + 3) & ~3); t.cx <= p.range; t.cx += a.sea.chunk_width) {
                /* chunks that no block of the tile can reach */
                if (t.x + GPUME_CUDA_SEA_TILE_WIDTH  + t.cx + a.sea.chunk_width  <= 0 || t.x + t.cx >= p.width ||
                    t.y + GPUME_CUDA_SEA_TILE_HEIGHT + t.cy + a.sea.chunk_height <= 0 || t.y + t.cy >= p.height)
                    continue;
                any_searching = __syncthreads_or(searching);
                if (!any_searching)
                    break;
                gpume_fill_sums(a, t);
                __syncthreads();
                if (searching) {
                    w.guess(a, t);
                    /* in a still picture, all flat areas would otherwise be listed */
                    searching = !w.found();
                    if (searching)
                        searching = settled = w.try_all(a, t);
                }
            }
    if (inside)
        gpume_end_square(a, t, w, settled);
}
