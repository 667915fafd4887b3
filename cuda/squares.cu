/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4, 8, 16 and 32 samples at once, of up to 10 bits. A block of threads has a square of 32x32
 * samples, and each warp a tile of it, whose rows of 4x4 blocks it takes one after the other, as full4.cu does with
 * one. Warps show each other the costs of tiles. Those of squares, their sums, are kept: blocks of 64 are sums of them.
 */

#include "libavfilter/gpume/cuda/full4.cuh"
#include "libavfilter/gpume/cuda/full10.cuh"
#include "libavfilter/gpume/cuda/sums.cuh"

#define SIDE   GPUME_CUDA_SIDE
#define TILE   GPUME_CUDA_SUMS_TILE
#define SQUARE GPUME_CUDA_SQUARES_SIDE
#define ACROSS (SQUARE / TILE)
#define WARPS  (ACROSS * ACROSS)
#define BLOCKS (TILE / GPUME_SIDE)

static_assert(GPUME_NB_DY == 2, "candidates are taken in pairs");
static_assert(GPUME_NB_DX == WARPS, "each warp has a column of all lanes' candidates of the square");
static_assert(GPUME_ACROSS == BLOCKS, "a row of blocks is a tile's");

/** Copies of the window; words of a row of a tile. */
#define COPIES    GpumeSample<GpumeModuleSample>::per_word
#define ROW_WORDS (TILE / COPIES)
/** Pieces of a row of 4x4 blocks that are evaluated one after the other: more does not fit into registers. */
#define PIECES    (COPIES == 4 ? 1 : 2)
/** Blocks of a piece. */
#define NB_FOURS  (BLOCKS / PIECES)

/** Exchanges the halves of an array. */
template<int NB>
static __device__ __forceinline__ void gpume_swap_halves(GpumeU32 (&keys)[NB])
{
    GPUME_UNROLL for (int i = 0; i < NB / 2; i++) {
        const GpumeU32 first = keys[i];

        keys[i]          = keys[i + NB / 2];
        keys[i + NB / 2] = first;
    }
}

/** A piece of a row of 4x4 blocks of a tile in shared memory. */
struct GpumeFoursOfTile {
    static const int WORDS = ROW_WORDS / PIECES;

    const GpumeSharedWords &tile;
    const int first;                ///< its first word
    GpumeU32 row[GPUME_SIDE][WORDS];

    __device__ __forceinline__ void need(int y)
    {
        tile.load4<0>(row[y], first + y * ROW_WORDS);
        if (WORDS > 4)
            tile.load4<WORDS - 4>(row[y] + WORDS - 4, first + y * ROW_WORDS);
    }
};

/**
 * Costs of a pair of candidates on top of each other, of samples of a type.
 *
 * INADMISSIBLE             the mark of an order
 * mark(order, marks)       puts such marks on one, which may have one already
 * add_up()                 the costs of a row of 4x4 blocks, as gpume_add_up() has it
 * key(cost, order)         of one of these
 * Pair                     costs of a pair, of a block of 8x8 samples or of a tile
 * add(two, a, b)           to those of a block of 8x8 samples, the pairs of costs of 4x4 blocks
 * add(pair, a, b)          to those of a tile, those of two such blocks
 * key<J>(pair, order)      the key of one of a block of 8x8 samples
 * cost(pair, j)            the cost of one of a tile
 * Key, key_of_tile()       its key, which has the order only if it is not marked
 * cost_of(key)             what is in one
 */
template<typename Sample> struct GpumeCosts;

/* Each has 16 bits. */
template<> struct GpumeCosts<GpumeU8> : GpumeKeysOf4 {
    using GpumeKeysOf4::key;
    static const GpumeU32 INADMISSIBLE = GPUME_INADMISSIBLE;
    typedef GpumeU32 Key;
    struct Pair { GpumeU32 both; };

    template<class Fours>
    static __device__ __forceinline__ void
    add_up(GpumeU32 (&sum)[NB_FOURS][GPUME_NB_DX][GPUME_NB_DY], Fours &cur, const GpumeU32 *win, int pitch)
    {
        gpume_add_up(sum, cur, win, pitch);
    }

    static __device__ __forceinline__ void clear(Pair &pair)
    {
        pair.both = 0;
    }

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&a)[2], const GpumeU32 (&b)[2])
    {
        pair.both += a[0] + b[0] + ((a[1] + b[1]) << 16);
    }

    static __device__ __forceinline__ void add(Pair &pair, const Pair &a, const Pair &b)
    {
        pair.both += a.both + b.both;
    }

    template<int J>
    static __device__ __forceinline__ GpumeU32 key(const Pair &pair, GpumeU32 order)
    {
        /* no bit of one is set in the other: costs have 14 */
        return J ? (pair.both & 0xffff0000) | order : (pair.both << 16) + order;
    }

    static __device__ __forceinline__ GpumeU32 cost(const Pair &pair, int j)
    {
        return j ? pair.both >> 16 : pair.both & 0xffff;
    }

    static __device__ __forceinline__ Key key_of_tile(const Pair &pair, int j, GpumeU32 order, int inadmissible)
    {
        return (j ? pair.both & 0xffff0000 : pair.both << 16) | (inadmissible ? 0xffff0000 : order);
    }

    static __device__ __forceinline__ GpumeU32 cost_of(Key key)
    {
        return key >> 16;
    }
};

/* Each is the sum of two halves, but for that of a tile. */
template<> struct GpumeCosts<GpumeU10> {
    static const GpumeU32 INADMISSIBLE = 0xffff0000u;       // above any cost << 16, which has 64 * 1023 at most
    typedef GpumeU64 Key;
    struct Pair { GpumeU32 cost[2]; };

    static __device__ __forceinline__ GpumeU32 mark(GpumeU32 order, GpumeU32 marks)
    {
        return order | marks;
    }

    template<class Fours>
    static __device__ __forceinline__ void
    add_up(GpumeU32 (&sum)[NB_FOURS][GPUME_NB_DX][GPUME_NB_DY], Fours &cur, const GpumeU32 *win, int pitch)
    {
        gpume_add_halves<GPUME_SIDE, GPUME_SIDE>(sum, cur, win, pitch);
    }

    static __device__ __forceinline__ GpumeU32 key(GpumeU32 cost, GpumeU32 order)
    {
        return (((cost << 16) + cost) & 0xffff0000) | order;
    }

    static __device__ __forceinline__ void clear(Pair &pair)
    {
        pair.cost[0] = pair.cost[1] = 0;
    }

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&a)[2], const GpumeU32 (&b)[2])
    {
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            pair.cost[j] += a[j] + b[j];
    }

    static __device__ __forceinline__ void add(Pair &pair, const Pair &a, const Pair &b)
    {
        GPUME_UNROLL for (int j = 0; j < 2; j++) {
            const GpumeU32 both = a.cost[j] + b.cost[j];

            pair.cost[j] += (both & 0xffff) + (both >> 16);
        }
    }

    template<int J>
    static __device__ __forceinline__ GpumeU32 key(const Pair &pair, GpumeU32 order)
    {
        return key(pair.cost[J], order);
    }

    static __device__ __forceinline__ GpumeU32 cost(const Pair &pair, int j)
    {
        return pair.cost[j];
    }

    static __device__ __forceinline__ Key key_of_tile(const Pair &pair, int j, GpumeU32 order, int inadmissible)
    {
        return gpume_key(inadmissible ? ~0u : pair.cost[j], order);
    }

    static __device__ __forceinline__ GpumeU32 cost_of(Key key)
    {
        return (GpumeU32)(key >> 32);
    }
};

typedef GpumeCosts<GpumeModuleSample> Costs;
typedef GpumeRuns<COPIES, Costs::INADMISSIBLE> Runs;

/** Rows of 8x8 blocks of the tile at (x, y); 0: there is none, or it is cut. */
static __device__ __forceinline__ int gpume_halves_of(const GpumeParams &p, int x, int y)
{
    const int h = p.height - y;

    return x + TILE > p.width ? 0 : h >= TILE ? 2 : h == TILE / 2;
}

/** A tile of 16x16 samples, or of 16x8 as in 1080 lines. */
struct GpumeTileOfFours {
    const GpumeCudaSumsArgs &s;
    const GpumeParams &p;
    const GpumeSharedWords tile;    ///< its samples
    const int x0, y0;
    const int halves;               ///< 8 rows each; 0: it is not searched
    GpumeU32 fours[BLOCKS * BLOCKS], eights[4];     ///< smallest keys
    Costs::Key whole;

    __device__ __forceinline__ GpumeTileOfFours(const GpumeCudaSumsArgs &args, const GpumeU32 *words, int x, int y)
        : s(args), p(args.search.params), tile(words), x0(x), y0(y), halves(gpume_halves_of(args.search.params, x, y))
    {
        GPUME_UNROLL for (int i = 0; i < BLOCKS * BLOCKS; i++)
            fours[i] = ~0u;
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            eights[i] = ~0u;
        whole = ~(Costs::Key)0;
    }

    /** Load its samples. */
    __device__ __forceinline__ void load(GpumeU32 *words) const
    {
        const GpumeCudaPlane &cur = s.search.cur;

        for (int i = threadIdx.x & 31; i < 8 * halves * ROW_WORDS; i += 32) {
            const GpumeU8 *row = (const GpumeU8 *)cur.data + (y0 + i / ROW_WORDS) * cur.linesize;
            const GpumeU8 *at  = row + (x0 + i % ROW_WORDS * COPIES) * GpumeSample<GpumeModuleSample>::bytes;

            words[i] = GpumeSample<GpumeModuleSample>::right_justify(
                gpume_load<GpumeModuleSample>(at, COPIES, row + p.width * GpumeSample<GpumeModuleSample>::bytes),
                p.shift);
        }
    }

    /** The mark of candidates that are not inside the picture: of so many rows, of blocks of so many. */
    __device__ __forceinline__ GpumeU32 outside(int y, int rows) const
    {
        return gpume_outside<Costs::INADMISSIBLE>(y, rows, p.height);
    }

    /**
     * Take those of a piece of a row of 4x4 blocks.
     * @param across marks, by column in words from the piece's first sample
     */
    template<int INNER>
    __device__ __forceinline__ void
    take_fours(GpumeU32 *best, const GpumeU32 (&sum)[NB_FOURS][GPUME_NB_DX][GPUME_NB_DY],
               const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY], const GpumeU32 *across, int y)
    {
        GpumeU32 down[GPUME_NB_DY];

        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY && !INNER; j++)
            down[j] = outside(y + j, GPUME_SIDE);
        gpume_take_best<INNER, Costs, GPUME_SIDE / COPIES>(best, sum, order, across, down);
    }

    /** The same of a row of 8x8 blocks. */
    template<int INNER>
    __device__ __forceinline__ void
    take_eights(const Costs::Pair (&cost)[2][GPUME_NB_DX], const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY],
                const GpumeU32 *across, int y)
    {
        GpumeU32 down[GPUME_NB_DY];

        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY && !INNER; j++)
            down[j] = outside(y + j, 8);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int c = 0; c < 2; c++) {
                const GpumeU32 columns = INNER ? 0 : across[at(8 * c, k)] | across[at(8 * c + 4, k)];
                const GpumeU32 first   = INNER ? order[k][0] : Costs::mark(order[k][0], columns | down[0]);
                const GpumeU32 second  = INNER ? order[k][1] : Costs::mark(order[k][1], columns | down[1]);

                eights[c] = gpume_umin(eights[c], Costs::key<0>(cost[c][k], first));
                eights[c] = gpume_umin(eights[c], Costs::key<1>(cost[c][k], second));
            }
    }

    /** Take those of the tile. */
    template<int INNER>
    __device__ __forceinline__ void
    take_whole(const Costs::Pair (&cost)[GPUME_NB_DX], const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY],
               const GpumeU32 *across, int y)
    {
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++) {
                const GpumeU32 marks = INNER ? 0 : across[at(0, k)] | across[at(TILE - 4, k)] |
                                                   outside(y + j, 8 * halves);
                const Costs::Key key = Costs::key_of_tile(cost[k], j, order[k][j], order[k][j] >> 16 || marks);

                whole = key < whole ? key : whole;
            }
    }

    /** Where the mark of a block's column of candidates is. @param x of the block in the tile */
    static __device__ __forceinline__ int at(int x, int k)
    {
        return x / COPIES + k;
    }

    /**
     * Try 8 rows of the tile, whose keys are the first ones; these and the others change places.
     * @param cost their costs are added to these, as in take_whole()
     */
    template<int INNER>
    __device__ __forceinline__ void
    try_half(int half, const GpumeU32 *win, int pitch, const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY],
             const GpumeU32 *across, int dy, Costs::Pair (&cost)[GPUME_NB_DX])
    {
        const int y = y0 + 8 * half + dy;
        Costs::Pair eight[2][GPUME_NB_DX];

        GPUME_UNROLL for (int c = 0; c < 2; c++)
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                Costs::clear(eight[c][k]);
        GPUME_UNROLL for (int row = 0; row < 2; row++)
            GPUME_UNROLL for (int piece = 0; piece < PIECES; piece++) {
                const int line = 8 * half + GPUME_SIDE * row, word = piece * (ROW_WORDS / PIECES);
                GpumeU32 sum[NB_FOURS][GPUME_NB_DX][GPUME_NB_DY];
                GpumeFoursOfTile cur = { tile, line * ROW_WORDS + word };

                Costs::add_up(sum, cur, win + line * pitch + word, pitch);
                if (SIDE == 4)
                    take_fours<INNER>(fours + row * BLOCKS + piece * NB_FOURS, sum, order, across + word,
                                      y + GPUME_SIDE * row);
                GPUME_UNROLL for (int c = 0; c < NB_FOURS / 2; c++)
                    GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                        Costs::add(eight[piece * NB_FOURS / 2 + c][k], sum[2 * c][k], sum[2 * c + 1][k]);
            }
        take_eights<INNER>(eight, order, across, y);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            Costs::add(cost[k], eight[0][k], eight[1][k]);
        gpume_swap_halves(fours);
        gpume_swap_halves(eights);
    }

    /**
     * Try a lane's candidates, of all blocks: from (dx, dy) on, which the window's words from win on are for.
     * @param cost is set to those of the tile
     */
    template<int INNER>
    __device__ __forceinline__ void
    try_group(const GpumeU32 *win, int pitch, const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY], int dx, int dy,
              Costs::Pair (&cost)[GPUME_NB_DX])
    {
        const int nb = (TILE - 4) / COPIES + GPUME_NB_DX;
        GpumeU32 across[nb];

        GPUME_UNROLL for (int k = 0; k < nb && !INNER; k++)
            across[k] = gpume_outside<Costs::INADMISSIBLE>(x0 + dx + COPIES * k, GPUME_SIDE, p.width);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            Costs::clear(cost[k]);

        /* what is in a cache of instructions is fetched faster than twice as much */
        GPUME_NO_UNROLL for (int half = 0; half < (INNER ? 2 : halves); half++)
            try_half<INNER>(half, win, pitch, order, across, dy, cost);
        if (!INNER && halves == 1) {
            gpume_swap_halves(fours);
            gpume_swap_halves(eights);
        }
        take_whole<INNER>(cost, order, across, y0 + dy);
    }

    /** Store what the warp has found. */
    __device__ __forceinline__ void store()
    {
        const int lane = threadIdx.x & 31, range = p.range, side = 2 * range + 1;
        const int x = x0 + lane % BLOCKS * GPUME_SIDE, y = y0 + lane / BLOCKS % BLOCKS * GPUME_SIDE;
        const int eight = lane - BLOCKS * BLOCKS;
        GpumeU32 keys[32], zero, zero8, zero16;

        GPUME_UNROLL for (int i = 0; i < 32; i++)
            keys[i] = i < 16 ? fours[i % 16] : i < 20 ? eights[i % 4] : ~0u;
        whole = gpume_least<1, 32>(whole);
        gpume_share_out_least<32, 16>(keys, lane);

        const GpumeU32 key  = keys[0];
        const int order     = (int)((eight == 4 ? (GpumeU32)whole : key) & 0xffff);
        const GpumeU32 cost = eight == 4 ? Costs::cost_of(whole) : key >> 16;

        zero   = lane < 8 * halves ?
                 gpume_sum_of_block<GpumeModuleSample>(s.search, gpume_box(&p, GPUME_SIDE, x / GPUME_SIDE,
                                                                           y / GPUME_SIDE), 0, 0) : 0;
        zero8  = zero  + gpume_xor_lane(zero, 1);
        zero8 += gpume_xor_lane(zero8, 4);
        zero16 = zero8 + gpume_xor_lane(zero8, 2);
        zero16 += gpume_xor_lane(zero16, 8);
        zero8  = gpume_of_lane(zero8, (lane & 1) * 2 + (lane & 2) * 4);
        zero16 = gpume_of_lane(zero16, 0);
        if (eight >= 0)
            zero = eight < 4 ? zero8 : zero16;

        /* the zero vector comes before those of equal cost */
        const int has = zero > cost;
        const int its = order + GPUME_CUDA_RUNS_LEFT(range, COPIES) + range;
        const int dx  = has ? its % side - range : 0, dy = has ? its / side - range : 0;
        const GpumeU32 least = has ? cost : zero;

        if (lane < 8 * halves && SIDE == 4) {
            const GpumeBox b = gpume_box(&p, GPUME_SIDE, x / GPUME_SIDE, y / GPUME_SIDE);

            gpume_store_side<GPUME_SIDE>(s, b, dx, dy, least);
        } else if (eight >= 0 && eight < 2 * halves) {
            const GpumeBox b = gpume_box(&p, 8, x0 / 8 + eight % 2, y0 / 8 + eight / 2);

            gpume_store_side<8>(s, b, dx, dy, least);
        } else if (eight == 4) {
            gpume_store_side<TILE>(s, gpume_box(&p, TILE, x0 / TILE, y0 / TILE), dx, dy, least);
        }
    }
};

/** A square: the sums of its tiles' costs. */
struct GpumeSquare {
    const GpumeCudaSumsArgs &s;
    const GpumeParams &p;
    const GpumeBox box;
    const int warp, lane;
    const int cut;                  ///< there are tiles that are cut: all costs are not yet known
    GpumeU32 *const sums;
    GpumeU64 best;                  ///< smallest key

    __device__ __forceinline__ GpumeSquare(const GpumeCudaSumsArgs &args, int column, int row)
        : s(args), p(args.search.params), box(gpume_box(&args.search.params, SQUARE, column, row)),
          warp(threadIdx.x / 32), lane(threadIdx.x & 31), cut(box.w % TILE || box.h % (TILE / 2)),
          sums(gpume_square_sums_of(args, column, row)), best(~0ull) { }

    /** All threads: sums of tiles that are cut are added to these, also where no whole block is inside the picture. */
    __device__ __forceinline__ void clear() const
    {
        for (int i = threadIdx.x; i < gpume_nb_sums(s); i += blockDim.x)
            sums[i] = 0;
    }

    /** Where the sum of a place's column is. */
    __device__ __forceinline__ GpumeU32 *at(int places, int column, int place, int dy) const
    {
        return sums + (dy + p.range) * s.pitch + column * places + place;
    }

    /**
     * Take candidates of a place from displacement dy on: all warps those of the same lanes.
     * @param shown GPUME_CUDA_SQUARES_SHOWN() words
     * @param cost  of the warp's tile
     * @param keep  nonzero: it is the first lane to have the place
     */
    template<int INNER>
    __device__ __forceinline__ void
    take(Costs::Pair *shown, const Costs::Pair (&cost)[GPUME_NB_DX], const Runs &r, int place, int dy, int keep)
    {
        const int range = p.range;
        const int dx    = r.dx(place) + COPIES * warp;
        const int outside = (unsigned)(dx + range) > (unsigned)(2 * range);
        GpumeU32 sum[GPUME_NB_DY] = { 0 };

        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            shown[(warp * GPUME_NB_DX + k) * 32 + lane] = cost[k];
        __syncthreads();
        GPUME_UNROLL for (int i = 0; i < WARPS; i++) {
            const Costs::Pair its = shown[(i * GPUME_NB_DX + warp) * 32 + lane];

            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                sum[j] += Costs::cost(its, j);
        }
        /* all have read them */
        __syncthreads();
        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++) {
            const int wrong    = INNER ? outside || dy + j > range : !gpume_admissible(&box, dx, dy + j);
            const GpumeU64 key = gpume_key(wrong ? ~0u : sum[j], gpume_order(range, dx, dy + j));

            best = key < best ? key : best;
            if (keep && dy + j <= range)
                *at(r.in_run, warp, place, dy + j) = sum[j];
        }
    }

    /** Take all candidates from what is kept of them. */
    __device__ __forceinline__ void take_kept(const Runs &r)
    {
        const int range = p.range, side = 2 * range + 1, nb = r.in_run * GPUME_NB_DX * side;

        best = ~0ull;
        for (int i = threadIdx.x; i < nb; i += blockDim.x) {
            const int dy = i / (r.in_run * GPUME_NB_DX) - range;
            const int column = i / r.in_run % GPUME_NB_DX, place = i % r.in_run;
            const int dx = r.dx(place) + COPIES * column;

            if (gpume_admissible(&box, dx, dy)) {
                const GpumeU64 key = gpume_key(*at(r.in_run, column, place, dy), gpume_order(range, dx, dy));

                best = key < best ? key : best;
            }
        }
    }

    /** All threads: store what has been found. */
    __device__ __forceinline__ void store(GpumeU32 *shared) const
    {
        GpumeU64 keys[1] = { best };
        const GpumeU64 key = gpume_least_of_all<1>(shared, keys);
        const GpumeVector v = gpume_vector_of_order(p.range, (int)(GpumeU32)key);

        if (!threadIdx.x)
            gpume_store_side<SQUARE>(s, box, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

/** Keeps the sums of a tile that is cut. */
struct GpumeSumsOfCut {
    const GpumeSquare &square;
    const Runs &r;

    __device__ __forceinline__ void store_cut(GpumeU32 sum, int dx, int dy) const
    {
        const int d = dx - r.left, word = d / COPIES;

        if (square.s.sums)
            *square.at(r.in_run, word % GPUME_NB_DX, word / GPUME_NB_DX * COPIES + d % COPIES, dy) += sum;
    }
};

/** Try the candidates of so many runs from displacement cy on. @param words the window's words of the tile */
template<int INNER>
static __device__ __forceinline__ void
gpume_try_runs(GpumeTileOfFours &tile, GpumeSquare &square, Costs::Pair *shown, const Runs &r, const GpumeU32 *words,
               int cy, int runs)
{
    const int nb = r.in_run * runs;

    GPUME_NO_UNROLL for (int first = 0; first < nb; first += 32) {
        /* the last one again where there are no more: warps wait for each other */
        const int i     = gpume_min(first + square.lane, nb - 1);
        const int run   = GPUME_DIVIDE_HIGH(i, r.reciprocal);
        const int place = i - run * r.in_run;
        const int dy    = cy + run * GPUME_NB_DY;
        GpumeU32 order[GPUME_NB_DX][GPUME_NB_DY];
        Costs::Pair cost[GPUME_NB_DX];
        const GpumeU32 *win = r.get(order, words, place, run, dy);

        if (INNER || tile.halves) {
            tile.try_group<INNER>(win, r.pitch, order, r.dx(place), dy, cost);
        } else {
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                Costs::clear(cost[k]);
        }
        if (square.s.sums)
            square.take<INNER>(shown, cost, r, place, dy, first + square.lane < nb);
    }
}

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE, blocks of 4 or 8 samples and larger ones.
 *
 * grid:   squares side by side, and on top of each other of a strip
 * block:  GPUME_CUDA_SQUARES_THREADS
 * shared: runs * GPUME_NB_DY + rows of a square - 1 rows of GPUME_CUDA_RUNS_PITCH() words, that is shared_words; then
 *         the tiles, GPUME_CUDA_SQUARES_SHOWN() words, and Runs' table
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_SQUARES_THREADS, SIDE == 4 ? 3 : 4)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeCudaArgs &a = args.search;
    const GpumeParams &p   = a.params;
    const GpumeCudaPlane ref = gpume_field(a, 0).plane;
    const int range = p.range, warp = threadIdx.x / 32;
    const int x0 = blockIdx.x * SQUARE, y0 = args.first_row * TILE + (int)blockIdx.y * SQUARE;
    const int inner  = x0 >= range && x0 + SQUARE + range <= p.width && y0 >= range && y0 + SQUARE + range <= p.height;
    const int min_dy = gpume_min_displacement(range, y0 + SQUARE - GPUME_SIDE);
    const int max_dy = gpume_max_displacement(range, p.height, y0 + GPUME_SIDE);
    GpumeU32 *tiles  = shared + a.full.shared_words, *words = tiles + warp * TILE * ROW_WORDS;
    Costs::Pair *shown = (Costs::Pair *)(tiles + WARPS * TILE * ROW_WORDS);
    const Runs r(a, tiles + WARPS * TILE * ROW_WORDS + GPUME_CUDA_SQUARES_SHOWN(COPIES));
    GpumeTileOfFours tile(args, words, x0 + warp % ACROSS * TILE, y0 + warp / ACROSS * TILE);
    GpumeSquare square(args, x0 / SQUARE, y0 / SQUARE);

    tile.load(words);
    r.make();
    if (square.cut && args.sums)
        square.clear();
    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);
        const GpumeU32 *win = shared + warp / ACROSS * TILE * r.pitch + warp % ACROSS * ROW_WORDS;

        __syncthreads();
        gpume_load_window<GpumeModuleSample>(a, ref, shared, r.pitch, x0 + r.left, y0 + cy,
                                             r.columns * GPUME_NB_DX + ACROSS * ROW_WORDS,
                                             runs * GPUME_NB_DY + SQUARE - 1);
        __syncthreads();
        if (inner)
            gpume_try_runs<1>(tile, square, shown, r, win, cy, runs);
        else
            gpume_try_runs<0>(tile, square, shown, r, win, cy, runs);
    }
    if (tile.halves)
        tile.store();
    if (square.cut) {
        __syncthreads();
        GPUME_NO_UNROLL for (int i = 0; i < WARPS; i++) {
            const GpumePlace at = { x0 + i % ACROSS * TILE, y0 + i / ACROSS * TILE, 0 };
            const GpumeSumsOfCut sums = { square, r };

            if (at.x < p.width && at.y < p.height && !gpume_halves_of(p, at.x, at.y))
                gpume_search_cut<GpumeModuleSample, SIDE>(args, shared, at, sums);
        }
        __syncthreads();
        if (args.sums)
            square.take_kept(r);
    }
    if (args.sums)
        square.store(shared);
}
