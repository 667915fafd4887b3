/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search that evaluates every candidate: blocks of 4, 8 or 16 samples, alone or with all larger
 * sizes up to 64. The module's side is that of the smallest blocks, its
 * variant that of the largest.
 *
 * A warp has a tile of the picture, or shares it with other warps. A lane has GPUME_NB_DX x
 * GPUME_NB_DY candidates at a time, whose displacements are a word apart horizontally, so that they
 * share words of the window. The cost of a larger block is the sum of the costs of its parts. For
 * blocks of 32, warps exchange the costs of their tiles. For blocks of 64, the sums of these costs
 * are stored in memory; the thread block that is the last one of four adds them up.
 */

#include "libavfilter/gpume/cuda/samples.cuh"

#define SMALLEST GPUME_CUDA_SIDE
#define LARGEST  GPUME_CUDA_VARIANT
#define WARPS    GPUME_CUDA_SCAN_WARPS
#define SQUARE   GPUME_CUDA_SCAN_SQUARE
/** A warp's tile: width, height, and the numbers of its parts of 8 rows, of its blocks of 4 and of its blocks of 8. */
#define WIDTH    GPUME_CUDA_TILE_WIDTH
#define HEIGHT   GPUME_CUDA_SCAN_TILE_HEIGHT(LARGEST)
#define HALVES   (HEIGHT / 8)
#define FOURS    (SMALLEST == 4 ? 8 * HALVES : 0)
#define EIGHTS   (SMALLEST <= 8 && LARGEST >= 8 ? 2 * HALVES : 0)
/** Number of a lane's keys without the key of the tile, rounded up to a power of two. */
#define KEYS     (FOURS + EIGHTS > 16 ? 32 : FOURS + EIGHTS > 4 ? 8 : FOURS + EIGHTS > 2 ? 4 : 2)

typedef GpumeSamples<GpumeModuleSample> Samples;
typedef GpumeSums Sums;
#define COPIES    Samples::COPIES
#define ROW_WORDS (WIDTH / COPIES)

static_assert(GPUME_CUDA_COST == GPUME_COST_SAD, "sums are made for that");
static_assert(GPUME_NB_DX == WARPS, "each warp has a column of all lanes' candidates of the square");
static_assert(FOURS + EIGHTS <= KEYS, "room for all keys");

/** Edges of the picture: they cut the tile; candidates may be outside the picture; or neither. */
enum { CUT, NEAR, INNER };

/**
 * Positions of a lane's candidates in the window, in runs of GPUME_NB_DY rows. A position in a run
 * has GPUME_NB_DX columns.
 */
struct Runs {
    const int range;
    const int copy, pitch;          ///< words between copies, and between rows
    const int left;                 ///< displacement at which the window begins: aligned to a word
    const int columns;              ///< columns of GPUME_NB_DX words
    const int in_run;               ///< positions in a run
    const int zero, zero_column;    ///< position of the zero vector, and its column in that position
    const GpumeU32 reciprocal;      ///< 2 * GPUME_RECIPROCAL_LARGE(in_run)
    GpumeU32 *const table;          ///< GPUME_NB_DX words for each position, see make(); aligned to 16 bytes
    const GpumeSharedWords orders;  ///< table, as shared memory

    __device__ __forceinline__ Runs(const GpumeCudaArgs &a, GpumeU32 *words)
        : range(a.params.range), copy(a.full.copy_words), pitch(GPUME_CUDA_SCAN_PITCH(copy, COPIES)),
          left(GPUME_CUDA_SCAN_LEFT(range, COPIES)), columns(GPUME_CUDA_SCAN_COLUMNS(range, COPIES)),
          in_run(GPUME_CUDA_SCAN_PLACES(range, COPIES)),
          zero(-left / COPIES / GPUME_NB_DX * COPIES), zero_column(-left / COPIES % GPUME_NB_DX),
          reciprocal(2 * GPUME_RECIPROCAL_LARGE(in_run)), table(words), orders(words) { }

    /** Returns the word in a row of a copy at which the first column of a position is. */
    __device__ __forceinline__ int word(unsigned place) const
    {
        /* positions in different copies share the same word index */
        return place / COPIES * GPUME_NB_DX;
    }

    /** Returns the displacement of the first column of a position. */
    __device__ __forceinline__ int dx(unsigned place) const
    {
        return left + COPIES * word(place) + place % COPIES;
    }

    /**
     * Fills the table: for each position the orders of its columns, counted from 1 at the left of
     * the window, with INADMISSIBLE where they are out of range. All threads call it, and must
     * synchronize before they read the table.
     */
    __device__ __forceinline__ void make() const
    {
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < in_run; i += blockDim.x) {
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
                const int d = dx(i) + COPIES * k;

                table[GPUME_NB_DX * i + k] = 1 + d - left + ((unsigned)(d + range) <= (unsigned)(2 * range) ? 0 :
                                                             Samples::INADMISSIBLE);
            }
        }
    }

    /**
     * Sets the orders of the candidates of a position from displacement dy on, without regard to
     * edges of the picture.
     * @param has_zero nonzero: one of the candidates is the zero vector
     */
    __device__ __forceinline__ void
    get(GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY], int place, int dy, int has_zero) const
    {
        const int side       = 2 * range + 1;
        const GpumeU32 first = (dy + range) * side, next = dy < range ? side : Samples::INADMISSIBLE;
        GpumeU32 right[GPUME_NB_DX];

        orders.load4<0>(right, GPUME_NB_DX * place);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
            order[k][0] = first + right[k];
            order[k][1] = order[k][0] + next;
        }
        /* the zero vector precedes all others of equal cost */
        if (has_zero)
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                    order[k][j] = gpume_select(k == zero_column && dy + j == 0, 0u, order[k][j]);
    }
};

/** Returns INADMISSIBLE if not all of the samples from x on are inside a picture of this size, otherwise 0. */
static __device__ __forceinline__ GpumeU32 gpume_outside(int x, int samples, int size)
{
    return (unsigned)x <= (unsigned)(size - samples) ? 0 : Samples::INADMISSIBLE;
}

/** Marks (0 or INADMISSIBLE) of a lane's columns of candidates, for every four samples of a tile's width. */
template<int EDGES> struct Columns {
    __device__ __forceinline__ Columns(const GpumeParams &p, int x0, int dx) { }
    __device__ __forceinline__ GpumeU32 get(int c, int k) const { return 0; }
};

template<> struct Columns<NEAR> {
    GpumeU32 marks[(WIDTH - 4) / COPIES + GPUME_NB_DX];     ///< by word; adjacent blocks share them

    __device__ __forceinline__ Columns(const GpumeParams &p, int x0, int dx)
    {
        GPUME_UNROLL for (int i = 0; i < (WIDTH - 4) / COPIES + GPUME_NB_DX; i++)
            marks[i] = gpume_outside(x0 + dx + COPIES * i, 4, p.width);
    }

    __device__ __forceinline__ GpumeU32 get(int c, int k) const
    {
        return marks[4 * c / COPIES + k];
    }
};

template<> struct Columns<CUT> {
    GpumeU32 marks[WIDTH / 4][GPUME_NB_DX];

    __device__ __forceinline__ Columns(const GpumeParams &p, int x0, int dx)
    {
        GPUME_UNROLL for (int c = 0; c < WIDTH / 4; c++) {
            const int x = x0 + 4 * c, w = gpume_min(4, p.width - x);

            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                marks[c][k] = w > 0 ? gpume_outside(x + dx + COPIES * k, w, p.width) : 0;
        }
    }

    __device__ __forceinline__ GpumeU32 get(int c, int k) const
    {
        return marks[c][k];
    }
};

/** A part of a tile in shared memory; its rows are loaded from there into registers. */
template<int EDGES, int LINES_, int WORDS_>
struct Rows {
    static const int LINES = LINES_;
    static const int WORDS = WORDS_;

    const GpumeSharedWords &tile;
    const int first;                ///< first word of the part
    const int width, height;        ///< size in samples, from there on, inside the picture; only for tiles that are
                                    ///< cut
    GpumeU32 row[LINES_][WORDS_];

    /** Loads a row. */
    __device__ __forceinline__ void load(int y)
    {
        tile.load4<0>(row[y], first + y * ROW_WORDS);
        if (WORDS > 4)
            tile.load4<WORDS - 4>(row[y] + WORDS - 4, first + y * ROW_WORDS);
    }

    __device__ __forceinline__ GpumeU32 get(int y, int c) const
    {
        return row[y < 0 || y >= LINES ? 0 : y][c];
    }

    /** Returns a word of the window for comparison with (y, c); it is 0 at samples outside the picture. */
    __device__ __forceinline__ GpumeU32 masked(GpumeU32 word, int y, int c) const
    {
        return EDGES != CUT ? word :
               word & gpume_select(y < height, gpume_mask<GpumeModuleSample>(width - c * COPIES), 0u);
    }
};

/** A tile 16 samples wide, and for each of its blocks the smallest key among this lane's candidates. */
struct TileKeys {
    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const int lane;
    int x0, y0;
    int edges;
    int halves;                     ///< halves of 8 rows inside the picture; 0: nothing is searched
    Samples::BlockKey fours[FOURS + 1], eights[EIGHTS + 1];
    Samples::Key whole;

    /** Initializes the tile at (x, y) and loads its samples into words. */
    __device__ __forceinline__ TileKeys(const GpumeCudaArgs &args, GpumeU32 *words, int x, int y)
        : a(args), p(args.params), lane(threadIdx.x & 31), x0(x), y0(y)
    {
        const int range = p.range, w = p.width - x, h = p.height - y;

        halves = w <= 0 || h <= 0 ? 0 : gpume_min((h + 7) / 8, HALVES);
        /* a tile with exactly its upper 8 rows inside the picture, as with 1080 lines, is not cut */
        edges  = w < WIDTH || (h < HEIGHT && h % 8) ? CUT :
                 x < range || w < WIDTH + range || y < range || h < HEIGHT + range ? NEAR : INNER;
        GPUME_UNROLL for (int i = 0; i < FOURS; i++)
            fours[i] = ~(Samples::BlockKey)0;
        GPUME_UNROLL for (int i = 0; i < EIGHTS; i++)
            eights[i] = ~(Samples::BlockKey)0;
        whole = ~(Samples::Key)0;

        const int per_word = GpumeSample<GpumeModuleSample>::per_word, row = WIDTH / per_word;
        GpumeU32 loaded[HEIGHT * row / 32];

        gpume_load_column<GpumeModuleSample>(a, loaded, x + lane % row * per_word, y + lane / row, 32 / row);
        GPUME_UNROLL for (int i = 0; i < HEIGHT * row / 32; i++) {
            if (COPIES > 1) {
                words[lane + 32 * i] = loaded[i];
            } else {
                words[2 * (lane + 32 * i)]     = loaded[i] & 0xffff;
                words[2 * (lane + 32 * i) + 1] = loaded[i] >> 16;
            }
        }
    }

    /** Stores the result of block (bx, by) of a side. */
    template<int BLOCK>
    __device__ __forceinline__ void store_block(int z, int bx, int by, int dx, int dy, GpumeU32 cost) const
    {
        const GpumeBox b = gpume_box(&p, BLOCK, bx, by);

        if (b.w > 0 && b.h > 0 && SMALLEST == LARGEST)
            gpume_store(a, b, z, bx, by, dx, dy, cost);
        else if (b.w > 0 && b.h > 0)
            gpume_store_size<BLOCK>(a, b, dx, dy, cost);
    }

    /**
     * Stores the best candidates that the warps of a tile have found. All threads call it.
     * @param shared two keys and KEYS keys of blocks for each warp, no longer in use
     */
    __device__ __forceinline__ void store(GpumeU32 *shared, int z, int split, int left)
    {
        const int warp = threadIdx.x / 32, lanes = 32 / KEYS, side = 2 * p.range + 1, eight = lane - FOURS;
        const int is_tile = LARGEST >= 16 && eight == EIGHTS;
        Samples::Key *wholes = (Samples::Key *)shared;
        Samples::BlockKey *others = (Samples::BlockKey *)(shared + 2 * WARPS), keys[KEYS], key = ~(Samples::BlockKey)0;

        GPUME_UNROLL for (int i = 0; i < KEYS; i++)
            keys[i] = i < FOURS ? fours[i < FOURS ? i : 0] :
                      i < FOURS + EIGHTS ? eights[i < FOURS ? 0 : i < FOURS + EIGHTS ? i - FOURS : 0] : key;
        gpume_share_out_least<KEYS>(keys, lane);
        whole = gpume_least<1, 32>(whole);
        __syncthreads();
        if (lane % lanes == 0)
            others[warp * KEYS + lane / lanes] = keys[0];
        if (!lane)
            wholes[warp] = whole;
        __syncthreads();
        if (warp % split || !halves)
            return;

        if (eight > EIGHTS || (eight == EIGHTS && !is_tile))
            return;
        for (int i = 0; i < split; i++) {
            whole = gpume_lesser_key(whole, wholes[warp + i]);
            if (!is_tile)
                key = gpume_lesser_key(key, others[(warp + i) * KEYS + lane]);
        }

        const GpumeU32 cost = is_tile ? gpume_cost_of(whole) : gpume_cost_of(key);
        const int order = (is_tile ? (GpumeU32)whole : key) & 0xffff, i = order - 1 + left + p.range;
        const int dx = order ? i % side - p.range : 0, dy = order ? i / side - p.range : 0;

        if (lane < FOURS)
            store_block<4>(z, x0 / 4 + lane % 4, y0 / 4 + lane / 4, dx, dy, cost);
        else if (eight < EIGHTS)
            store_block<8>(z, x0 / 8 + eight % 2, y0 / 8 + eight / 2, dx, dy, cost);
        else
            store_block<16>(z, x0 / 16, y0 / 16, dx, dy, cost);
    }
};

/** Tests candidates of a tile. */
struct Tile : TileKeys {
    /**
     * Words in a row, and rows, that are compared at a time: more of them do not fit into
     * registers, or sums into 16 bits. For rows see also TOGETHER.
     */
    static const int WORDS  = SMALLEST > 4 ? Samples::WORDS : 4;
    static const int LINES  = SMALLEST == 4 ? 4 : 8;
    static const int BLOCKS = WORDS * COPIES / 4;       ///< blocks of 4 that are compared at a time
    static const int ACROSS = SMALLEST == 16 ? 1 : 2;   ///< sums of a row of blocks of 8, or of the tile
    /** Words after which other sums begin, unless all words are compared at a time. */
    static const int PART_WORDS = WORDS == ROW_WORDS ? ROW_WORDS : ROW_WORDS / ACROSS;
    /** Nonzero: both halves are added to the same sums, since sums of bytes have room for 16 rows. */
    static const int TOGETHER = SMALLEST == 16 && COPIES == 4;

    const GpumeSharedWords tile;

    __device__ __forceinline__ Tile(const GpumeCudaArgs &args, GpumeU32 *words, int x, int y)
        : TileKeys(args, words, x, y), tile(words) { }

    /** Exchanges the halves of an array, so that a loop over halves uses the same registers for both. */
    template<int NB>
    static __device__ __forceinline__ void swap(Samples::BlockKey *keys)
    {
        GPUME_UNROLL for (int i = 0; i < NB / 2 && HALVES > 1; i++) {
            const Samples::BlockKey first = keys[i];

            keys[i]          = keys[i + NB / 2];
            keys[i + NB / 2] = first;
        }
    }

    /** Returns the marks of a row of candidates, for blocks of a side that begin at row y of the picture. */
    template<int EDGES>
    __device__ __forceinline__ GpumeU32 outside(int y, int side, int dy) const
    {
        return EDGES == INNER ? 0 : gpume_outside(y + dy, gpume_min(side, p.height - y), p.height);
    }

    /**
     * Updates the smallest keys of blocks of a side.
     * @param first column of the first block, in units of 4 samples
     * @param y     row of the picture at which the blocks begin
     */
    template<int EDGES, int BLOCK, int NB>
    __device__ __forceinline__ void take(Samples::BlockKey *best, const Sums (&sum)[NB], const Sums &order,
                                         const Columns<EDGES> &columns, int first, int y, int dy) const
    {
        const int span = BLOCK / 4;

        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++) {
            const GpumeU32 down = outside<EDGES>(y, BLOCK, dy + j);

            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                GPUME_UNROLL for (int c = 0; c < NB; c++) {
                    const GpumeU32 marks = down | columns.get(first + c * span, k) |
                                           columns.get(first + c * span + span - 1, k);

                    best[c] = gpume_lesser_key(best[c], Samples::key(sum[c][k][j], order[k][j] | marks));
                }
        }
    }

    /** Updates the smallest key of the tile. */
    template<int EDGES>
    __device__ __forceinline__ void take_whole(const Samples::Pair (&cost)[GPUME_NB_DX], const Sums &order,
                                               const Columns<EDGES> &columns, int dy)
    {
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
            GpumeU32 marks = 0;

            GPUME_UNROLL for (int c = 0; c < WIDTH / 4; c += EDGES == CUT ? 1 : WIDTH / 4 - 1)
                marks |= columns.get(c, k);
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                whole = gpume_lesser_key(whole, Samples::key(cost[k], j, order[k][j] | marks |
                                                             outside<EDGES>(y0, HEIGHT, dy + j)));
        }
    }

    /** Adds sums to the costs of the tile if LARGEST is 16 or more. */
    static __device__ __forceinline__ void add(Samples::Pair (&cost)[GPUME_NB_DX], Sums (&sum)[ACROSS])
    {
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX && LARGEST >= 16; k++) {
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY && ACROSS > 1; j++)
                sum[0][k][j] += sum[ACROSS - 1][k][j];
            Samples::add(cost[k], sum[0][k]);
        }
    }

    /** Adds up the differences of a part of the tile. @param line, word first row and word of the part */
    template<int EDGES, int NB_LINES>
    __device__ __forceinline__ void
    compare(Sums *sum, const GpumeSharedWords &win, int pitch, int line, int word) const
    {
        Rows<EDGES, NB_LINES, WORDS> rows = { tile, line * ROW_WORDS + word, p.width - x0 - word * COPIES,
                                              p.height - y0 - line };

        Samples::add_up<SMALLEST>(sum, rows, win.from(line * pitch + word), pitch);
    }

    /** Adds up the differences of rows of the tile, of blocks of 8 separately. */
    template<int EDGES, int NB_LINES>
    __device__ __forceinline__ void
    compare_rows(Sums (&sum)[ACROSS], const GpumeSharedWords &win, int pitch, int line) const
    {
        /* tiles that are cut are rare: less code is compiled sooner */
        const int nb = EDGES == CUT ? 4 : NB_LINES;

        GPUME_UNROLL for (int first = 0; first < ROW_WORDS; first += PART_WORDS)
            /* not unrolled, like halves of the tile */
            GPUME_NO_UNROLL for (int word = first; word < first + PART_WORDS; word += WORDS)
                GPUME_NO_UNROLL for (int y = line; y < line + NB_LINES; y += nb)
                    compare<EDGES, nb>(sum + first / PART_WORDS, win, pitch, y, word);
    }

    /**
     * Tests 8 rows of the tile, whose keys are the first in the arrays; then exchanges them with
     * the others.
     * @param sum differences of the rows are added to these, those of blocks of 8 separately
     */
    template<int EDGES>
    __device__ __forceinline__ void try_half(int half, const GpumeSharedWords &win, int pitch, const Sums &order,
                                             const Columns<EDGES> &columns, int dy, Sums (&sum)[ACROSS])
    {
        const int y = y0 + 8 * half;

        if (SMALLEST == 4) {
            GPUME_UNROLL for (int row = 0; row < 2; row++)
                GPUME_UNROLL for (int word = 0; word < ROW_WORDS; word += WORDS) {
                    const int first = word * COPIES / 4;
                    Sums four[BLOCKS] = { };

                    compare<EDGES, LINES>(four, win, pitch, 8 * half + 4 * row, word);
                    take<EDGES, 4>(fours + 4 * row + first, four, order, columns, first, y + 4 * row, dy);
                    GPUME_UNROLL for (int c = 0; c < BLOCKS && LARGEST > 4; c++)
                        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                                sum[(first + c) / 2][k][j] += four[c][k][j];
                }
        } else {
            compare_rows<EDGES, LINES>(sum, win, pitch, 8 * half);
        }
        if (EIGHTS)
            take<EDGES, 8>(eights, sum, order, columns, 0, y, dy);
        swap<FOURS>(fours);
        swap<EIGHTS>(eights);
    }

    /**
     * Tests a lane's candidates from (dx, dy) on, for which win has the words of the window.
     * @param cost must be 0; the costs of the tile are added if LARGEST is 16 or more
     */
    template<int EDGES>
    __device__ __forceinline__ void try_group(const GpumeSharedWords &win, int pitch, const Sums &order, int dx, int dy,
                                              Samples::Pair (&cost)[GPUME_NB_DX])
    {
        const Columns<EDGES> columns(p, x0, dx);
        Sums sum[ACROSS] = { };

        if (TOGETHER && EDGES == INNER) {
            /* 16 rows at once: the second half would wait for its first words, too */
            compare_rows<EDGES, HEIGHT>(sum, win, pitch, 0);
        } else {
            /* not unrolled: half the code fits better into the instruction cache */
            GPUME_NO_UNROLL for (int half = 0; half < (EDGES == INNER ? HALVES : halves); half++) {
                Sums of_half[ACROSS] = { };

                try_half<EDGES>(half, win, pitch, order, columns, dy, TOGETHER ? sum : of_half);
                if (!TOGETHER)
                    add(cost, of_half);
            }
        }
        if (TOGETHER)
            add(cost, sum);
        if (EDGES != INNER && halves < HALVES) {
            swap<FOURS>(fours);
            swap<EIGHTS>(eights);
        }
        if (LARGEST >= 16)
            take_whole<EDGES>(cost, order, columns, dy);
    }
};

/** Returns where the costs of square (column, row) of the picture are stored. */
static __device__ __forceinline__ GpumeU32 *gpume_kept_sums(const GpumeCudaArgs &a, int column, int row)
{
    const GpumeCudaTreeSearch &t = a.tree;

    return (GpumeU32 *)t.sums +
           ((GpumeU64)(row - t.first_row) * t.across + column) * (2 * a.params.range + 1) * t.pitch;
}

/** A square of 32x32 samples, whose costs are sums of the costs of its tiles. */
struct Square {
    const GpumeCudaArgs &a;
    const GpumeBox box;
    const int warp, lane;
    const int is_searched;          ///< whether blocks of 32 or 64 are searched
    GpumeU32 *const sums;           ///< where costs are kept for blocks of 64; NULL: these are not searched
    Samples::Pair *const exchanged; ///< costs of all warps: GPUME_CUDA_SCAN_EXCHANGED() words
    GpumeU64 best;                  ///< smallest key

    __device__ __forceinline__ Square(const GpumeCudaArgs &args, GpumeU32 *words, int column, int row)
        : a(args), box(gpume_box(&args.params, SQUARE, column, row)), warp(threadIdx.x / 32), lane(threadIdx.x & 31),
          is_searched(args.tree.sums || args.tree.sizes[GPUME_CUDA_SIZE(SQUARE)].costs),
          sums(args.tree.sums ? gpume_kept_sums(args, column, row) : 0),
          exchanged((Samples::Pair *)words), best(~0ull) { }

    /**
     * Tests candidates of a position from displacement dy on. All warps have the same position in
     * each lane.
     * @param cost costs of the warp's tile
     * @param keep nonzero: this is the first lane with this position
     */
    __device__ __forceinline__ void take(const Samples::Pair (&cost)[GPUME_NB_DX], const Runs &r, int place, int dy,
                                         int keep)
    {
        const int range = r.range, dx = r.dx(place) + COPIES * warp;
        GpumeU32 sum[GPUME_NB_DY] = { 0 };

        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            exchanged[(warp * GPUME_NB_DX + k) * 32 + lane] = cost[k];
        __syncthreads();
        GPUME_UNROLL for (int i = 0; i < WARPS; i++) {
            const Samples::Pair pair = exchanged[(i * GPUME_NB_DX + warp) * 32 + lane];

            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                sum[j] += Samples::cost(pair, j);
        }
        /* all warps have read the costs */
        __syncthreads();
        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++) {
            const int admissible = gpume_admissible(&box, dx, dy + j);

            best = gpume_lesser_key(best, gpume_key(admissible ? sum[j] : ~0u, gpume_order(range, dx, dy + j)));
            if (sums && keep && dy + j <= range)
                sums[(dy + j + range) * a.tree.pitch + warp * r.in_run + place] = sum[j];
        }
    }

    /** Stores the result. All threads call it. */
    __device__ __forceinline__ void store(GpumeU32 *shared) const
    {
        const GpumeU64 key  = gpume_least_of_all(shared, best);
        const GpumeVector v = gpume_vector_of_order(a.params.range, (int)(GpumeU32)key);

        if (!threadIdx.x)
            gpume_store_size<SQUARE>(a, box, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

/** Returns the smallest key of the candidates of block (x, y) of 64, by the costs of its squares, in thread 0. */
static __device__ __forceinline__ GpumeU64
gpume_search_merged(const GpumeCudaArgs &a, GpumeU32 *shared, const Runs &r, const GpumeBox &b, int x, int y)
{
    const int across = a.tree.pitch / GPUME_NB_DX, down = GPUME_CUDA_SCAN_THREADS / across;
    const int line   = threadIdx.x / across, column = threadIdx.x % across * GPUME_NB_DX;
    const int right  = b.w > SQUARE, below = b.h > SQUARE;
    GpumeU64 best = ~0ull;

    GPUME_NO_UNROLL for (int dy = b.min_dy + line; dy <= b.max_dy && line < down; dy += down) {
        GpumeU64 sum[2] = { 0 };

        /* sums of two costs in a word, each of less than 32 bits */
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const GpumeU64 *kept = (const GpumeU64 *)(gpume_kept_sums(a, 2 * x + i % 2, 2 * y + i / 2) +
                                                      (dy + r.range) * a.tree.pitch + column);

            GPUME_UNROLL for (int j = 0; j < 2 && (i % 2 <= right && i / 2 <= below); j++)
                sum[j] += gpume_load_volatile(kept + j);
        }
        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DX; j++) {
            const int run = (column + j) / r.in_run;
            const int dx  = r.dx(column + j - run * r.in_run) + COPIES * run;

            if (dx >= b.min_dx && dx <= b.max_dx)
                best = gpume_lesser_key(best, gpume_key((GpumeU32)(sum[j / 2] >> 32 * (j % 2)),
                                                        gpume_order(r.range, dx, dy)));
        }
    }
    return gpume_least_of_all(shared, best);
}

/** Searches block (x, y) of 64 after the last of its squares. All threads call it. */
static __device__ __forceinline__ void
gpume_merge(const GpumeCudaArgs &a, GpumeU32 *shared, const Runs &r, int x, int y)
{
    const GpumeBox b = gpume_box(&a.params, GPUME_CUDA_MERGE_SQUARE, x, y);
    GpumeU32 *count  = (GpumeU32 *)a.tree.counts + y * gpume_blocks(a.params.width, GPUME_CUDA_MERGE_SQUARE) + x;
    const GpumeU32 nb = gpume_blocks(b.w, SQUARE) * gpume_blocks(b.h, SQUARE);

    __threadfence();
    __syncthreads();
    if (!threadIdx.x)
        shared[0] = atomicAdd(count, 1u) + 1 == nb;
    __syncthreads();
    if (!shared[0])
        return;
    __threadfence();

    const GpumeU64 key  = gpume_search_merged(a, shared, r, b, x, y);
    const GpumeVector v = gpume_vector_of_order(r.range, (int)(GpumeU32)key);

    if (!threadIdx.x) {
        gpume_store_size<GPUME_CUDA_MERGE_SQUARE>(a, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        *count = 0;
    }
}

/** Tests the candidates of a number of runs from displacement cy on. @param words words of the window for the tile */
static __device__ __forceinline__ void
gpume_try_runs(Tile &tile, Square &square, const Runs &r, const GpumeU32 *words, int cy, int runs)
{
    const int nb = r.in_run * runs, split = tile.a.full.split;
    const int zero = (-cy >> 1) * r.in_run + r.zero;    // number of the position with the zero vector
    const GpumeSharedWords window(words);

    GPUME_NO_UNROLL for (int first = threadIdx.x / 32 % split * 32; first < nb; first += 32 * split) {
        /* lanes without a candidate repeat the last one */
        const int i     = gpume_min(first + tile.lane, nb - 1);
        const int run   = (GpumeU64)i * r.reciprocal >> 32, dy = cy + run * GPUME_NB_DY;
        const unsigned place = i - run * r.in_run;
        const GpumeSharedWords win =
            window.from(run * GPUME_NB_DY * r.pitch + place % COPIES * r.copy + r.word(place));
        Sums order;
        Samples::Pair cost[GPUME_NB_DX] = { };

        r.get(order, place, dy, i == zero);
        if (tile.edges == INNER)
            tile.try_group<INNER>(win, r.pitch, order, r.dx(place), dy, cost);
        else if (tile.edges == NEAR)
            tile.try_group<NEAR>(win, r.pitch, order, r.dx(place), dy, cost);
        else if (tile.halves)
            tile.try_group<CUT>(win, r.pitch, order, r.dx(place), dy, cost);
        if (LARGEST == 32 && square.is_searched)
            square.take(cost, r, place, dy, first + tile.lane < nb);
    }
}

/**
 * Searches the area of a thread block that begins at a place.
 * @param fixed the words behind the window: tiles of all warps, and what they exchange
 */
static __device__ __forceinline__ void
gpume_search_area(const GpumeCudaArgs &a, GpumeU32 *shared, GpumeU32 *fixed, const Runs &r, const GpumePlace &at)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, at.z).plane;
    const int warp   = threadIdx.x / 32, across = a.full.across, tile_index = warp / a.full.split;
    const int x      = tile_index % across * WIDTH, y = tile_index / across * HEIGHT, height = a.full.down * HEIGHT;
    const int min_dy = gpume_min_displacement(p.range, at.y + height - SMALLEST);
    const int max_dy = gpume_max_displacement(p.range, p.height, gpume_min(p.height, at.y + SMALLEST));
    Tile tile(a, fixed + warp * HEIGHT * ROW_WORDS, at.x + x, at.y + y);
    Square square(a, fixed + WARPS * HEIGHT * ROW_WORDS, at.x / SQUARE, at.y / SQUARE);

    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);
        const GpumeWindow window = { shared, r.copy, r.pitch, at.x + r.left, at.y + cy,
                                     r.columns * GPUME_NB_DX + across * ROW_WORDS, runs * GPUME_NB_DY + height - 1 };

        __syncthreads();
        gpume_load_window<GpumeModuleSample, COPIES>(p, ref, window);
        __syncthreads();
        gpume_try_runs(tile, square, r, shared + y * r.pitch + x / COPIES, cy, runs);
    }
    tile.store(shared, at.z, a.full.split, r.left);
    if (LARGEST == 32 && square.is_searched)
        square.store(shared);
    if (LARGEST == 32 && square.sums)
        gpume_merge(a, shared, r, at.x / GPUME_CUDA_MERGE_SQUARE, at.y / GPUME_CUDA_MERGE_SQUARE);
}

/**
 * Searches ranges up to GPUME_CUDA_FULL_MAX_RANGE.
 *
 * grid:   areas of across x down tiles in a row, in a column, fields; or any number. With LARGEST 32,
 *         rows of areas from tree.first_row on
 * block:  GPUME_CUDA_SCAN_THREADS; split warps for each tile
 * shared: runs * GPUME_NB_DY + rows of an area - 1 rows of GPUME_CUDA_SCAN_PITCH() words, which are
 *         shared_words; then a tile for each warp, with LARGEST 32 GPUME_CUDA_SCAN_EXCHANGED() words,
 *         and the table of Runs
 */
GPUME_KERNEL(GPUME_CUDA_SCAN_THREADS, LARGEST == 32 ? (SMALLEST == 4 ? 3 : 4) : COPIES == 4 && SMALLEST > 4 ? 5 : 4)
{
    GPUME_SHARED(GpumeU32, shared);
    GpumeU32 *fixed = shared + args.full.shared_words;
    const Runs r(args, fixed + WARPS * HEIGHT * ROW_WORDS + (LARGEST == 32 ? GPUME_CUDA_SCAN_EXCHANGED(COPIES) : 0));
    GpumePlaces places(args, args.full.across * WIDTH, args.full.down * HEIGHT);
    GpumePlace at;

    r.make();
    while (places.next(&at)) {
        at.y += LARGEST == 32 ? args.tree.first_row * SQUARE : 0;
        gpume_search_area(args, shared, fixed, r, at);
    }
}
