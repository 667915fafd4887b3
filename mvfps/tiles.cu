/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes the picture at a phase along its vectors. The variant is the subsampling of chroma.
 *
 * A warp has a tile. It groups the vectors of the cells around the tile to hypotheses and adds up
 * their contributions, one hypothesis after the other. Half of the warp computes the match of a
 * hypothesis in the earlier picture, the other half the match in the later picture. There is no
 * rounding between the vertical and the horizontal filter, so their order does not matter. Both
 * chroma components are made at once if they have few columns.
 *
 * Data flow:
 * - once: loads tables of taps and windows, and the vector of a cell, from global memory to one
 *   register of each lane; lanes exchange them later
 * - vertical: a lane loads a column of samples from global memory to registers, filters it, and
 *   writes the sums to shared memory
 * - horizontal: a lane reads several adjacent sums, which other lanes have written, from shared
 *   memory, and filters them in registers
 * - exchange: the halves of the warp exchange samples, so that each lane has a part of the tile
 *   from both pictures; adds the weighted samples to sums in registers
 * - end: divides the sums in registers and writes the samples to global memory
 */

#include "libavfilter/gpume/mvfps/device.cuh"

#define CHROMA_X (GPUME_CUDA_VARIANT % 10)
#define CHROMA_Y (GPUME_CUDA_VARIANT / 10)

/** Bit mask of the cells that come first: those whose centres are the tile's corners. */
#define CORNERS 0x660u

/** A tile of the picture, made by a warp. */
struct MvfpsTile {
    const MvfpsCudaTilesArgs &args;
    GpumeU32 *shared;               ///< shared memory of this warp
    int x, y, max;                  ///< position in cells; largest sample
    GpumeU32 taps, long_taps;       ///< taps of one sixteenth of a sample, held by this lane; two lanes hold six taps
};

/** A motion that several of the cells around a tile have. */
struct MvfpsHypothesis {
    GpumeU32 v, offset;             ///< MvfpsVectors as words
    GpumeU32 cells;                 ///< bit mask of cells
    int share, difference;          ///< the tile's of luma, in levels of 8 bits
};

/** The part of a component, or of two, for which a lane is responsible. */
template<int SX, int SY> struct MvfpsPart {
    static const int W = MVFPS_CELL >> SX, H = MVFPS_CELL >> SY;
    static const int TAPS = W == 8 ? 6 : 4;
    /** Number of lanes of a match of a component: one for each column, including those that only the taps need. */
    static const int LANES   = W == 8 ? 16 : 8;
    static const int PICTURE = 16;              ///< lanes of each picture
    /** Number of adjacent samples of a match that a lane computes, and of those that it keeps from both pictures. */
    static const int RUN = W * H > LANES ? W * H / LANES : 1;
    static const int OWN = RUN > 1 ? RUN / 2 : 1;
    /** Words of shared memory: columns of a row, and a match. Matches begin in different banks. */
    static const int ROW   = W == 8 ? 20 : 8;
    static const int MATCH = H * ROW + (W == 8 ? 16 : 8);
    static_assert(RUN != 4 || (MATCH % 4 == 0 && ROW % 4 == 0 && MVFPS_CUDA_TILE_WORDS % 4 == 0), "fours are aligned");
    static_assert(32 / LANES * MATCH <= MVFPS_CUDA_TILE_WORDS, "the matches fit");

    int x, y;                       ///< position of the computed samples in the tile
    int own_x;                      ///< column of the kept samples
    int has;                        ///< whether the lane keeps samples
    GpumeU32 columns[OWN], row;     ///< windows of four cells at these positions, as bytes
    GpumeU32 sums[OWN], weights[OWN];
    int values[OWN];

    /**
     * Must be called by all lanes.
     * @param wx, wy first lanes that hold the windows of the tile's columns and rows
     */
    __device__ __forceinline__ void init(GpumeU32 table_x, int wx, GpumeU32 table_y, int wy)
    {
        const int lane = threadIdx.x % 32, i = lane % LANES;
        const int high = lane >= PICTURE;

        x     = i * RUN % W;
        y     = i * RUN / W % H;
        own_x = x + (RUN > 1 && high ? OWN : 0);
        has   = i * RUN < W * H && (RUN > 1 || !high);
        row   = __shfl_sync(GPUME_WHOLE_WARP, table_y, wy + y);
        GPUME_UNROLL for (int k = 0; k < OWN; k++) {
            columns[k] = __shfl_sync(GPUME_WHOLE_WARP, table_x, wx + own_x + k);
            sums[k] = weights[k] = 0;
            values[k] = 0;
        }
    }

    /** Returns the taps of a sixteenth of a sample. Must be called by all lanes. */
    static __device__ __forceinline__ void taps_at(const MvfpsTile &t, int fraction, int (&taps)[TAPS])
    {
        const GpumeU32 first = __shfl_sync(GPUME_WHOLE_WARP, TAPS == 6 ? t.long_taps : t.taps, fraction);
        const GpumeU32 last  = TAPS == 6 ? __shfl_sync(GPUME_WHOLE_WARP, t.long_taps, 16 + fraction) : 0;

        GPUME_UNROLL for (int n = 0; n < TAPS; n++)
            taps[n] = (signed char)((n < 4 ? first : last) >> 8 * (n % 4));
    }

    /**
     * Computes this lane's part of the matches along a vector.
     * @param component bytes from c to a second component; 0: there is none
     */
    __device__ __forceinline__ void match(const MvfpsTile &t, const GpumeCudaComponent &c, long long component,
                                          const MvfpsHypothesis &h, int (&before)[OWN], int (&after)[OWN])
    {
        const MvfpsVector v = mvfps_of_word(h.v), offset = mvfps_of_word(h.offset);
        const int part = t.args.part;
        const int lane = threadIdx.x % 32, i = lane % LANES;
        const int high = lane >= PICTURE;
        /* in sixteenths of the component's samples */
        const int dx = (2 * (high ? mvfps_after(v.x, part) : mvfps_before(v.x, part)) + offset.x) >> SX;
        const int dy = (2 * (high ? mvfps_after(v.y, part) : mvfps_before(v.y, part)) + offset.y) >> SY;
        const int left = gpume_inside(((MVFPS_CELL * t.x + MVFPS_CELL / 2) >> SX) + (dx >> 4), c.w) - TAPS / 2 + 1;
        const int top  = gpume_inside(((MVFPS_CELL * t.y + MVFPS_CELL / 2) >> SY) + (dy >> 4), c.h) - TAPS / 2 + 1;
        int across[TAPS], down[TAPS];
        GpumeU32 *columns_of = t.shared + lane / LANES * MATCH;
        int out[RUN];

        taps_at(t, dx & 15, across);
        taps_at(t, dy & 15, down);
        __syncwarp();
        /* with four taps one column more than needed, because four are read at a time */
        if (i < W + FFMAX(TAPS - 1, 4)) {
            const GpumeU64 p = c.first + (high ? t.args.behind : 0) + (LANES == 8 && lane & 8 ? component : 0) +
                               (long long)top * c.stride + (left + i) * MVFPS_BYTES;
            int s[H + TAPS - 1];

            GPUME_UNROLL for (int k = 0; k < H + TAPS - 1; k++)
                s[k] = mvfps_load_sample<MvfpsSample>(p + k * c.stride);
            GPUME_UNROLL for (int k = 0; k < H; k++) {
                int sum = 0;

                GPUME_UNROLL for (int n = 0; n < TAPS; n++)
                    sum += down[n] * s[k + n];
                columns_of[k * ROW + i] = sum;
            }
        }
        __syncwarp();
        {
            const GpumeU32 *from = columns_of + y * ROW + x;
            GpumeU32 s[RUN + 5];

            if (RUN == 4) {
                gpume_load4(s, from);
                gpume_load4(s + 4, from + 4);
            }
            GPUME_UNROLL for (int k = RUN == 4 ? 8 : 0; k < RUN + TAPS - 1; k++)
                s[k] = from[k];
            GPUME_UNROLL for (int k = 0; k < RUN; k++) {
                int sum = 2048;

                GPUME_UNROLL for (int n = 0; n < TAPS; n++)
                    sum += across[n] * (int)s[k + n];
                out[k] = gpume_max(0, gpume_min(sum >> 12, t.max));
            }
        }
        GPUME_UNROLL for (int k = 0; k < OWN; k++) {
            /* the lanes of the later picture keep the second half of the samples */
            const GpumeU32 first = out[k], second = out[RUN > 1 ? OWN + k : k];
            const GpumeU32 keep  = gpume_select(high, second, first);
            const GpumeU32 other = __shfl_xor_sync(GPUME_WHOLE_WARP, gpume_select(high, first, second), PICTURE);

            before[k] = (int)gpume_select(high, other, keep);
            after[k]  = (int)gpume_select(high, keep, other);
        }
    }

    /** Adds the contribution of a hypothesis, or sets it if the hypothesis is the only one. */
    __device__ __forceinline__ void
    add(const MvfpsHypothesis &h, const int (&before)[OWN], const int (&after)[OWN], int depth)
    {
        const int bits = h.cells == 0xffff ? 0 : mvfps_value_bits(depth);

        GPUME_UNROLL for (int k = 0; k < OWN; k++)
            values[k] = mvfps_value(before[k], after[k], h.share, bits);
        if (h.cells == 0xffff)
            return;
        GPUME_UNROLL for (int k = 0; k < OWN; k++) {
            GpumeU32 window = 0;

            GPUME_UNROLL for (int q = 0; q < 4; q++) {
                /* expands each bit of a cell to a byte of ones */
                const GpumeU32 bytes = ((h.cells >> 4 * q & 15) * 0x204081 & 0x1010101) * 255;

                window += ((columns[k] & bytes) * 0x1010101 >> 24) * (row >> 8 * q & 255);
            }
            window     *= mvfps_trust(h.difference, FFABS(before[k] - after[k]) >> (depth - 8), depth);
            sums[k]    += window * values[k];
            weights[k] += window;
        }
    }

    /** Adds the contribution of a hypothesis to a component, or to two, see match(). */
    __device__ __forceinline__ void show(const MvfpsTile &t, const GpumeCudaComponent &c, long long component,
                                         const MvfpsHypothesis &h)
    {
        int before[OWN], after[OWN];

        match(t, c, component, h, before, after);
        add(h, before, after, t.args.depth);
    }

    /**
     * Writes this lane's samples.
     * @param c the component of the samples
     */
    __device__ __forceinline__ void store(const MvfpsTile &t, const GpumeCudaComponent &c, int offset, GpumeU64 plane)
    {
        const int to_x = ((MVFPS_CELL * t.x + MVFPS_CELL / 2) >> SX) + own_x;
        const int to_y = ((MVFPS_CELL * t.y + MVFPS_CELL / 2) >> SY) + y;
        const GpumeU64 p = plane + c.linesize * to_y +
                           ((long long)to_x * (1 << c.log2_step) + offset) * MVFPS_BYTES;

        if (!has || to_y < 0 || to_y >= c.h)
            return;
        GPUME_UNROLL for (int k = 0; k < OWN; k++) {
            const GpumeU32 whole = weights[k] << mvfps_value_bits(t.args.depth);

            if (whole)
                values[k] = (int)((sums[k] + whole / 2) / whole);
            values[k] <<= t.args.shift;
        }
        if (OWN == 2 && !c.log2_step && to_x >= 0 && to_x + 2 <= c.w && !(p & (2 * MVFPS_BYTES - 1))) {
            if (MVFPS_BYTES == 1)
                *(GpumeU16 *)p = (GpumeU16)(values[0] | values[OWN - 1] << 8);
            else
                *(GpumeU32 *)p = (GpumeU32)values[0] | (GpumeU32)values[OWN - 1] << 16;
            return;
        }
        GPUME_UNROLL for (int k = 0; k < OWN; k++)
            if (to_x + k >= 0 && to_x + k < c.w)
                ((MvfpsSample *)p)[k << c.log2_step] = (MvfpsSample)values[k];
    }
};

typedef MvfpsPart<0, 0> MvfpsLuma;
typedef MvfpsPart<CHROMA_X, CHROMA_Y> MvfpsChroma;

/** Whether other components are made like luma, one at a time. */
#define LIKE_LUMA (GPUME_CUDA_VARIANT == 0)
/** Maximum number of components, or pairs of components, after component 0. */
#define OTHERS (LIKE_LUMA ? 3 : 1)

/** Sums of a warp for luma and the other components. */
struct MvfpsSums {
    MvfpsLuma luma, alpha;
    MvfpsChroma others[OTHERS];

    __device__ __forceinline__ void init(GpumeU32 taps, GpumeU32 chroma_y)
    {
        luma.init(taps, MVFPS_CUDA_WINDOW, taps, MVFPS_CUDA_WINDOW);
        GPUME_UNROLL for (int i = 0; i < OTHERS; i++)
            others[i].init(taps, MVFPS_CUDA_CHROMA_X, chroma_y, 0);
        if (!LIKE_LUMA)
            alpha.init(taps, MVFPS_CUDA_WINDOW, taps, MVFPS_CUDA_WINDOW);
    }

    /** Adds the samples of a hypothesis. Its share and difference follow from luma. */
    __device__ __forceinline__ void add(const MvfpsTile &t, MvfpsHypothesis h)
    {
        const MvfpsCudaTilesArgs &args = t.args;
        const MvfpsFields fields = mvfps_fields(args.fields);
        int before[MvfpsLuma::OWN], after[MvfpsLuma::OWN];
        GpumeU32 difference = 0;

        luma.match(t, args.components[0], 0, h, before, after);
        GPUME_UNROLL for (int k = 0; k < MvfpsLuma::OWN; k++)
            difference += FFABS(before[k] - after[k]);
        difference = mvfps_add_lanes(difference, 1, 32) >> (args.depth - 8);
        h.difference = (int)difference;
        h.share = mvfps_share(&fields, args.components[0].w, args.components[0].h, mvfps_of_word(h.v),
                              (t.x + 1) * MVFPS_CELL, (t.y + 1) * MVFPS_CELL, args.part, (int)difference);
        luma.add(h, before, after, args.depth);

        if (LIKE_LUMA) {
            GPUME_UNROLL for (int i = 0; i < OTHERS; i++)
                if (i + 1 < args.nb_components)
                    others[i].show(t, args.components[i + 1], 0, h);
        } else {
            others[0].show(t, args.components[1],
                           (long long)(args.components[2].first - args.components[1].first), h);
            if (args.nb_components > 3)
                alpha.show(t, args.components[3], 0, h);
        }
    }

    __device__ __forceinline__ void store(const MvfpsTile &t)
    {
        const MvfpsCudaTilesArgs &args = t.args;
        const GpumeCudaComponent &c = args.components[1], &d = args.components[2];
        const int second = threadIdx.x & 8;

        luma.store(t, args.components[0], args.components[0].offset, args.components[0].plane);
        if (LIKE_LUMA) {
            GPUME_UNROLL for (int i = 0; i < OTHERS; i++) {
                const GpumeCudaComponent &e = args.components[i + 1];

                if (i + 1 < args.nb_components)
                    others[i].store(t, e, e.offset, e.plane);
            }
        } else {
            const GpumeCudaComponent &e = args.components[3];

            others[0].store(t, c, second ? d.offset : c.offset, second ? d.plane : c.plane);
            if (args.nb_components > 3)
                alpha.store(t, e, e.offset, e.plane);
        }
    }
};

/**
 * grid:   MVFPS_CUDA_TILE_WARPS tiles of a row each, rows
 * block:  MVFPS_CUDA_TILE_WARPS warps
 * shared: MVFPS_CUDA_TILE_WORDS words for each warp
 */
GPUME_KERNEL_OF(MvfpsCudaTilesArgs, 32 * MVFPS_CUDA_TILE_WARPS)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, cell = lane % 16;
    const int limit = CORNERS >> cell & 1 ? 1 : 2;
    const int tx = (int)blockIdx.x * MVFPS_CUDA_TILE_WARPS + warp - 1, ty = (int)blockIdx.y - 1;
    const int x = gpume_max(0, gpume_min(tx - 1 + cell % 4, args.fields.cols - 1));
    const int y = gpume_max(0, gpume_min(ty - 1 + cell / 4, args.fields.rows - 1));
    GpumeU32 taps, long_taps, chroma_y, word, offset_word = 0, left = 0xffff;
    MvfpsSums sums;

    GPUME_SHARED(GpumeU32, matches);

    if (tx * MVFPS_CELL + MVFPS_CELL / 2 >= args.components[0].w || mvfps_is_cut(args.is_cut))
        return;
    gpume_load_global(&taps, (const void *)(args.table + 4 * lane));
    gpume_load_global(&long_taps, (const void *)(args.table + 4 * (MVFPS_CUDA_LONG_TAPS + lane)));
    gpume_load_global(&chroma_y, (const void *)(args.table + 4 * (MVFPS_CUDA_CHROMA_Y + lane % 8)));
    sums.init(taps, chroma_y);
    gpume_load_global(&word, (const void *)(args.vectors + 4ll * (y * args.fields.cols + x)));
    if (args.offsets)
        gpume_load_global(&offset_word, (const void *)(args.offsets + 4ll * (y * args.fields.cols + x)));

    const MvfpsTile t = { args, matches + warp * MVFPS_CUDA_TILE_WORDS, tx, ty, (1 << args.depth) - 1, taps,
                         long_taps };

    while (left) {
        /* the first remaining cell has the vector of the next hypothesis */
        const int leader = gpume_first_bit(left & CORNERS ? left & CORNERS : left);
        const GpumeU32 leader_word = __shfl_sync(GPUME_WHOLE_WARP, word, leader);
        const MvfpsVector v = mvfps_of_word(leader_word), u = mvfps_of_word(word);
        const GpumeU32 cells = __ballot_sync(GPUME_WHOLE_WARP, FFABS(u.x - v.x) + FFABS(u.y - v.y) <= limit) & left;

        left &= ~cells;
        sums.add(t, { leader_word, __shfl_sync(GPUME_WHOLE_WARP, offset_word, leader), cells, 0, 0 });
    }
    sums.store(t);
}
