/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4, 8 and 16 bytes at once; costs of those of 16 are kept: those of larger blocks are sums
 * of them. A warp has a tile, whose rows of 4x4 blocks it takes one after the other, as full4.cu does with one.
 */

#include "libavfilter/gpume/cuda/full4.cuh"
#include "libavfilter/gpume/cuda/sums.cuh"

#define TILE   GPUME_CUDA_SUMS_TILE
#define ACROSS GPUME_CUDA_SUMS4_ACROSS
#define DOWN   GPUME_CUDA_SUMS4_DOWN
#define WARPS  (ACROSS * DOWN)
#define WORDS  (TILE / 4)

static_assert(GPUME_NB_DY == 2, "the costs of two candidates lie in a word");
static_assert(GPUME_ACROSS * GPUME_SIDE == TILE, "a row of blocks is a tile's");

/** Added to the order of a 16x16 block's candidate that is not admissible, which is above any cost << 16. */
#define NO_TILE 0xffff0000u

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

/** The lower halves of two words, and the upper ones. */
static __device__ __forceinline__ GpumeU32 gpume_low_halves(GpumeU32 a, GpumeU32 b)
{
    return (a & 0xffff) | b << 16;
}

static __device__ __forceinline__ GpumeU32 gpume_high_halves(GpumeU32 a, GpumeU32 b)
{
    return a >> 16 | (b & 0xffff0000);
}

/** Store two words at an address of 8 bytes. */
static __device__ __forceinline__ void gpume_store_two(GpumeU16 *p, GpumeU32 first, GpumeU32 second)
{
    int2 v;

    v.x = first;
    v.y = second;
    *(int2 *)p = v;
}

/** Rows of 8x8 blocks of the tile at (x, y); 0: there is none, or it is cut. */
static __device__ __forceinline__ int gpume_halves_of(const GpumeParams &p, int x, int y)
{
    const int h = p.height - y;

    return x + TILE > p.width ? 0 : h >= TILE ? 2 : h == TILE / 2;
}

/** The least of all lanes' keys: lane i has that of key i. */
static __device__ __forceinline__ GpumeU32 gpume_share_out_least(GpumeU32 (&key)[32], int lane)
{
    GPUME_UNROLL for (int nb = 16; nb; nb /= 2)
        GPUME_UNROLL for (int i = 0; i < nb; i++) {
            const GpumeU32 kept = lane & nb ? key[i + nb] : key[i];

            key[i] = gpume_umin(kept, gpume_xor_lane(lane & nb ? key[i] : key[i + nb], nb));
        }
    return key[0];
}

/** A row of blocks of a tile in shared memory. */
struct GpumeFoursOfTile {
    const GpumeSharedWords &tile;
    const int first;                ///< its row of samples
    GpumeU32 row[GPUME_SIDE][GPUME_ACROSS];

    __device__ __forceinline__ void need(int y)
    {
        tile.load4<0>(row[y], (first + y) * WORDS);
    }
};

/** A tile of 16x16 samples, or of 16x8 as in 1080 lines. */
struct GpumeTileOfFours {
    static const int BLOCKS = GPUME_ACROSS;             ///< of 4x4 in a row

    const GpumeCudaSumsArgs &s;
    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeSharedWords tile;    ///< its samples
    const int x0, y0;
    const int halves;               ///< 8 rows each
    const int left;                 ///< displacement at which the window begins: at a word
    const int inner;                ///< the picture's edges are out of reach
    GpumeU32 fours[BLOCKS * BLOCKS], eights[4], whole;  ///< smallest keys

    __device__ __forceinline__ GpumeTileOfFours(const GpumeCudaSumsArgs &args, const GpumeU32 *words, int x, int y,
                                                int nb_halves, int window)
        : s(args), a(args.search), p(args.search.params), tile(words), x0(x), y0(y), halves(nb_halves), left(window),
          inner(x >= p.range && x + TILE + p.range <= p.width && y >= p.range && y + TILE + p.range <= p.height)
    {
        GPUME_UNROLL for (int i = 0; i < BLOCKS * BLOCKS; i++)
            fours[i] = ~0u;
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            eights[i] = ~0u;
        whole = ~0u;
    }

    /** Take those of a row of 8x8 blocks, the first ones. @param cost of both of each place across */
    template<int INNER>
    __device__ __forceinline__ void
    take_eights(const GpumeU32 (&cost)[2][GPUME_NB_DX], const GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY],
                const GpumeU32 *across, int y)
    {
        GpumeU32 outside[GPUME_NB_DY];

        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
            outside[j] = INNER ? 0 : gpume_outside(y + j, 8, p.height);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int c = 0; c < 2; c++) {
                const GpumeU32 columns = INNER ? 0 : across[2 * c + k] | across[2 * c + k + 1];
                const GpumeU32 first   = INNER ? key[k][0] : key[k][0] + (columns | outside[0]);
                const GpumeU32 second  = INNER ? key[k][1] : key[k][1] + (columns | outside[1]);


                eights[c] = gpume_umin(eights[c], (cost[c][k] << 16) + first);
                /* no bit of one is set in the other: costs have 14 */
                eights[c] = gpume_umin(eights[c], (cost[c][k] & 0xffff0000) | second);
            }
    }

    /** Take those of the tile. */
    template<int INNER>
    __device__ __forceinline__ void
    take_whole(const GpumeU32 (&cost)[GPUME_NB_DX], const GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY],
               const GpumeU32 *across, int y)
    {
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++) {
                const GpumeU32 outside = INNER ? 0 : across[k] | across[k + BLOCKS - 1] |
                                                     gpume_outside(y + j, 8 * halves, p.height);
                const GpumeU32 order   = key[k][j] >= GPUME_INADMISSIBLE || outside ? NO_TILE : key[k][j];

                whole = gpume_umin(whole, (j ? cost[k] & 0xffff0000 : cost[k] << 16) | order);
            }
    }

    /** Keep the costs of the tile's candidates from (dx, dy) on. */
    __device__ __forceinline__ void keep(const GpumeU32 (&cost)[GPUME_NB_DX], int dx, int dy) const
    {
        const int range = p.range, words = range >> 1;
        const int d     = dx + range, place = (d & 3) * words + (d >> 2);
        GpumeU16 *row   = gpume_sums_of(s, x0 / TILE, y0 / TILE) + (dy + range) * s.pitch;
        const int next  = dy < range ? s.pitch : 0;

        if (!(range & 7) && d + 4 * (GPUME_NB_DX - 1) < 4 * words) {
            /* they are neighbours; the second row first, as it may be the same */
            gpume_store_two(row + place + next, gpume_high_halves(cost[0], cost[1]),
                            gpume_high_halves(cost[2], cost[3]));
            gpume_store_two(row + place, gpume_low_halves(cost[0], cost[1]), gpume_low_halves(cost[2], cost[3]));
            return;
        }
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
            /* as gpume_place_of_column() has it */
            GpumeU16 *at = row + (d + 4 * k < 4 * words ? place + k : d + 4 * k);

            if ((unsigned)(d + 4 * k) <= (unsigned)(2 * range)) {
                at[next] = (GpumeU16)(cost[k] >> 16);
                at[0]    = (GpumeU16)cost[k];
            }
        }
    }

    /**
     * Try 8 rows of the tile, whose keys are the first ones; these and the others change places.
     * @param cost their costs are added to these, as in take_whole()
     */
    template<int INNER>
    __device__ __forceinline__ void
    try_half(int half, const GpumeU32 *win, int pitch, const GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY],
             const GpumeU32 *across, int dy, GpumeU32 (&cost)[GPUME_NB_DX])
    {
        const int y = y0 + 8 * half + dy;
        GpumeU32 eight[2][GPUME_NB_DX];

        GPUME_UNROLL for (int row = 0; row < 2; row++) {
            GpumeU32 sum[BLOCKS][GPUME_NB_DX][GPUME_NB_DY];
            GpumeFoursOfTile cur = { tile, 8 * half + GPUME_SIDE * row };
            GpumeU32 down[GPUME_NB_DY];

            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY && !INNER; j++)
                down[j] = gpume_outside(y + GPUME_SIDE * row + j, GPUME_SIDE, p.height);
            gpume_add_up(sum, cur, win + (8 * half + GPUME_SIDE * row) * pitch, pitch);
            gpume_take_best<INNER>(fours + row * BLOCKS, sum, key, across, down);
            GPUME_UNROLL for (int c = 0; c < 2; c++)
                GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                    eight[c][k] = (row ? eight[c][k] : 0) + sum[2 * c][k][0] + sum[2 * c + 1][k][0] +
                                  ((sum[2 * c][k][1] + sum[2 * c + 1][k][1]) << 16);
        }
        take_eights<INNER>(eight, key, across, y);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            cost[k] += eight[0][k] + eight[1][k];
        gpume_swap_halves(fours);
        gpume_swap_halves(eights);
    }

    /** Try a lane's candidates, of all blocks: from (dx, dy) on, which the window's words from win on are for. */
    template<int INNER>
    __device__ __forceinline__ void
    try_group(const GpumeU32 *win, int pitch, const GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY], int dx, int dy)
    {
        GpumeU32 across[BLOCKS + GPUME_NB_DX - 1], cost[GPUME_NB_DX] = { 0 };

        GPUME_UNROLL for (int k = 0; k < BLOCKS + GPUME_NB_DX - 1 && !INNER; k++)
            across[k] = gpume_outside(x0 + dx + 4 * k, GPUME_SIDE, p.width);

        /* what is in a cache of instructions is fetched faster than twice as much */
        GPUME_NO_UNROLL for (int half = 0; half < (INNER ? 2 : halves); half++)
            try_half<INNER>(half, win, pitch, key, across, dy, cost);
        if (!INNER && halves == 1) {
            gpume_swap_halves(fours);
            gpume_swap_halves(eights);
        }
        take_whole<INNER>(cost, key, across, y0 + dy);
        if (s.sums)
            keep(cost, dx, dy);
    }

    /** Store what the warp has found. */
    __device__ __forceinline__ void store()
    {
        const int lane = threadIdx.x & 31, range = p.range, side = 2 * range + 1;
        const int x = x0 + lane % BLOCKS * GPUME_SIDE, y = y0 + lane / BLOCKS % BLOCKS * GPUME_SIDE;
        const int eight = lane - BLOCKS * BLOCKS;
        GpumeU32 keys[32], zero, zero8, zero16;

        GPUME_UNROLL for (int i = 0; i < 32; i++)
            keys[i] = i < 16 ? fours[i % 16] : i < 20 ? eights[i % 4] : i == 20 ? whole : ~0u;
        const GpumeU32 key = gpume_share_out_least(keys, lane);

        zero   = lane < 8 * halves ? gpume_zero_cost(a, gpume_field(a, 0).plane, x, y) : 0;
        zero8  = zero  + gpume_xor_lane(zero, 1);
        zero8 += gpume_xor_lane(zero8, 4);
        zero16 = zero8 + gpume_xor_lane(zero8, 2);
        zero16 += gpume_xor_lane(zero16, 8);
        zero8  = gpume_of_lane(zero8, (lane & 1) * 2 + (lane & 2) * 4);
        zero16 = gpume_of_lane(zero16, 0);
        if (eight >= 0)
            zero = eight < 4 ? zero8 : zero16;

        /* the zero vector comes before those of equal cost */
        const int has      = zero > key >> 16;
        const int its      = (int)(key & 0xffff) + left + range;
        const int dx       = has ? its % side - range : 0, dy = has ? its / side - range : 0;
        const GpumeU32 cost = has ? key >> 16 : zero;

        if (lane < 8 * halves) {
            const GpumeBox b = gpume_box(&p, GPUME_SIDE, x / GPUME_SIDE, y / GPUME_SIDE);

            gpume_store(a, b, 0, x / GPUME_SIDE, y / GPUME_SIDE, dx, dy, cost);
        } else if (eight >= 0 && eight < 2 * halves) {
            gpume_store_side(s, s.eights, 8, gpume_box(&p, 8, x0 / 8 + eight % 2, y0 / 8 + eight / 2), dx, dy, cost);
        } else if (eight == 4) {
            gpume_store_size(s, 0, gpume_box(&p, TILE, x0 / TILE, y0 / TILE), dx, dy, cost);
        }
    }
};

/** Try the candidates of so many runs from displacement cy on. @param words the window's words of the tile */
template<int INNER>
static __device__ __forceinline__ void
gpume_try_runs(GpumeTileOfFours &its, const GpumeRuns &r, const GpumeU32 *words, int cy, int runs)
{
    GPUME_NO_UNROLL for (int i = threadIdx.x & 31; i < r.in_run * runs; i += 32) {
        const int run   = GPUME_DIVIDE_HIGH(i, r.reciprocal);
        const int place = i - run * r.in_run;
        const int dy    = cy + run * GPUME_NB_DY;
        GpumeU32 key[GPUME_NB_DX][GPUME_NB_DY];
        const GpumeU32 *win = r.get(key, words, place, run, dy);

        its.try_group<INNER>(win, r.pitch, key, r.dx(place), dy);
    }
}

/** All warps search a tile each, of those from (x0, y0) on. */
static __device__ __forceinline__ void
gpume_search_tiles(const GpumeCudaSumsArgs &s, GpumeU32 *shared, int x0, int y0)
{
    const GpumeCudaArgs &a = s.search;
    const GpumeParams &p   = a.params;
    const GpumeCudaPlane ref = gpume_field(a, 0).plane;
    const int range  = p.range;
    const int warp   = threadIdx.x / 32, lane = threadIdx.x & 31;
    const int column = warp % ACROSS * TILE, row = warp / ACROSS * TILE;
    const int halves = gpume_halves_of(p, x0 + column, y0 + row);
    const int min_dy = gpume_min_displacement(range, y0 + DOWN * TILE - GPUME_SIDE);
    const int max_dy = gpume_max_displacement(range, p.height, y0 + GPUME_SIDE);
    GpumeU32 *tile = shared + a.full.shared_words + warp * TILE * WORDS;
    const GpumeRuns r(a, shared + a.full.shared_words + WARPS * TILE * WORDS);
    const GpumeU32 *words = shared + row * r.pitch + column / 4;
    GpumeTileOfFours its(s, tile, x0 + column, y0 + row, halves, r.left);

    if (x0 + TILE > p.width || y0 + TILE / 2 > p.height)
        return;
    for (int i = lane; i < 8 * halves * WORDS; i += 32) {
        const GpumeU8 *line = (const GpumeU8 *)a.cur.data + (its.y0 + i / WORDS) * a.cur.linesize;

        tile[i] = gpume_load<GpumeU8>(line + its.x0 + 4 * (i % WORDS), 4, line + p.width);
    }
    r.make();
    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);

        __syncthreads();
        gpume_load_window<GpumeU8>(a, ref, shared, r.pitch, x0 + r.left, y0 + cy, (r.columns + ACROSS) * 4,
                          runs * GPUME_NB_DY + DOWN * TILE - 1);
        __syncthreads();
        if (!halves)
            continue;
        if (its.inner)
            gpume_try_runs<1>(its, r, words, cy, runs);
        else
            gpume_try_runs<0>(its, r, words, cy, runs);
    }
    if (halves)
        its.store();
}

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE.
 *
 * grid:   GPUME_CUDA_SUMS4_ACROSS tiles side by side, GPUME_CUDA_SUMS4_DOWN of a strip's rows of them
 * block:  a warp for each tile
 * shared: runs * GPUME_NB_DY + rows of the tiles - 1 rows of 4 * copy_words words, that is shared_words;
 *         then the tiles, and a GpumeRuns' table
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, 32 * WARPS, 16 / WARPS)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeParams &p = args.search.params;
    const int x0 = blockIdx.x * ACROSS * TILE;
    const int y0 = (args.first_row + (int)blockIdx.y * DOWN) * TILE;

    gpume_search_tiles(args, shared, x0, y0);
    /* the right and the bottom edge cut tiles */
    GPUME_NO_UNROLL for (int i = 0; i < WARPS; i++) {
        const GpumePlace at = { x0 + i % ACROSS * TILE, y0 + i / ACROSS * TILE, 0 };
        const GpumeTileSums sums = { args, at };

        if (at.x < p.width && at.y < p.height && !gpume_halves_of(p, at.x, at.y))
            gpume_search_cut<GpumeU8, GPUME_SIDE>(args, shared, at, sums);
    }
}
