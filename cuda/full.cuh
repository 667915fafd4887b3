/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: what its kernels have in common: blocks of any size, and windows of four
 * copies.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL_CUH
#define AVFILTER_GPUME_CUDA_FULL_CUH

#include "libavfilter/gpume/cuda/module.cuh"

/** A piece of a plane: it begins at (x, y) inside the picture. */
typedef struct GpumePiece {
    int x, y;
    int rows, words;            ///< its size
    int columns, lines;         ///< samples that count: the others are 0
} GpumePiece;

/** Loads a piece into shared memory, samples without padding bits. */
template<typename Sample>
static __device__ __forceinline__ void
gpume_load_piece(GpumeU32 *dst, int pitch, const GpumeCudaPlane &plane, const GpumeParams &params,
                 const GpumePiece &piece)
{
    const int bytes    = GpumeSample<Sample>::bytes;
    const GpumeU8 *row = (const GpumeU8 *)plane.data + piece.y * plane.linesize;
    const GpumeU8 *p   = row + piece.x * bytes;
    const GpumeU8 *end = row + params.width * bytes;

    for (int i = threadIdx.x; i < piece.rows * piece.words; i += blockDim.x) {
        const int y = i / piece.words;
        const int x = i - y * piece.words;
        GpumeU32 word = 0;

        if (y < piece.lines)
            word = gpume_load<Sample>(p + y * plane.linesize + 4 * x,
                                      piece.columns - x * GpumeSample<Sample>::per_word,
                                      end + y * plane.linesize);
        dst[y * pitch + x] = GpumeSample<Sample>::right_justify(word, params.shift);
    }
}

/** A block, or a tile of the picture by its first sample, and the field that it is searched for. */
typedef struct GpumePlace {
    int x, y, z;
} GpumePlace;

/**
 * Where a block of threads searches: at one place of its own, or, behind successive
 * elimination, at every grid's of those that remain.
 */
struct GpumePlaces {
    const GpumeCudaArgs &a;
    const int width, height;    ///< of the tile at a place
    int at, end;

    __device__ __forceinline__ GpumePlaces(const GpumeCudaArgs &args, int w, int h)
        : a(args), width(w), height(h)
    {
        at  = blockIdx.x;
        end = at + 1;
        if (a.full.only_remaining) {
            GpumeCudaRemaining *remaining = (GpumeCudaRemaining *)a.remaining;

            end = remaining->nb[a.parity] * (GPUME_CUDA_SEA_SQUARE / width) *
                  (GPUME_CUDA_SEA_SQUARE / height);
            /* for the next search */
            if (!blockIdx.x && !threadIdx.x)
                remaining->nb[a.parity ^ 1] = 0;
        }
    }

    /** The next place; returns 0 if there is none. */
    __device__ __forceinline__ int next(GpumePlace *place)
    {
        if (at >= end)
            return 0;
        if (a.full.only_remaining) {
            const int across = GPUME_CUDA_SEA_SQUARE / width;
            const int tiles  = GPUME_CUDA_SEA_SQUARE / height * across;
            const GpumeU32 square = ((GpumeCudaRemaining *)a.remaining)->squares[at / tiles];

            place->x = GPUME_CUDA_SQUARE_X(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles % across * width;
            place->y = GPUME_CUDA_SQUARE_Y(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles / across * height;
            place->z = GPUME_CUDA_SQUARE_Z(square);
        } else {
            place->x = blockIdx.x * width;
            place->y = blockIdx.y * height;
            place->z = blockIdx.z;
        }
        at += a.full.grid;
        return 1;
    }
};

/** The place of a candidate of a range among those of equal cost: the zero vector, then raster order. */
static __device__ __forceinline__ GpumeU32 gpume_order(int range, int dx, int dy)
{
    return !dx && !dy ? 0 : 1 + (dy + range) * (2 * range + 1) + dx + range;
}

/**
 * How samples between two become numbers of BITS bits, x >> scale less base: with the least scale that leaves them no
 * more than range, and in the middle.
 */
template<int BITS>
static __device__ __forceinline__ void
gpume_fit_numbers(int depth, GpumeU32 range, GpumeU32 least, GpumeU32 most, int *scale, int *base)
{
    int its = 0;

    while (its < depth - BITS && (most - least) >> its > range)
        its++;
    *scale = its;
    *base  = gpume_max(0, gpume_min((int)((least + most) >> 1 >> its) - (1 << (BITS - 1)),
                                    (1 << (depth - its)) - (1 << BITS)));
}

/** The displacement that has such a place. */
static __device__ __forceinline__ GpumeVector gpume_vector_of_order(int range, int order)
{
    const int side = 2 * range + 1;
    GpumeVector v;

    v.dx = (short)(order ? (order - 1) % side - range : 0);
    v.dy = (short)(order ? (order - 1) / side - range : 0);
    return v;
}

/**
 * The least of each of NB keys over lanes that differ in some bits, of which there are as many values as of their
 * combinations: in the end a lane has one of them, key[0], as gpume_share_out() has sums.
 */
template<int NB, int BIT>
static __device__ __forceinline__ void gpume_share_out_least(GpumeU32 (&key)[NB], int lane)
{
    GPUME_UNROLL for (int nb = NB / 2, bit = BIT; nb; nb /= 2, bit /= 2)
        GPUME_UNROLL for (int i = 0; i < nb; i++) {
            const GpumeU32 given = gpume_select(lane & bit, key[i], key[i + nb]);

            key[i] = gpume_umin(gpume_select(lane & bit, key[i + nb], key[i]), gpume_xor_lane(given, bit));
        }
}

/**
 * The least of all threads' keys, of each of NB results. Threads 0 to NB - 1 return theirs.
 * @param shared a key of each for each warp, not in use any more
 */
template<int NB>
static __device__ __forceinline__ GpumeU64 gpume_least_of_all(GpumeU32 *shared, GpumeU64 (&best)[NB])
{
    GpumeU64 *keys  = (GpumeU64 *)shared;
    const int which = gpume_min(threadIdx.x, NB - 1);
    GpumeU64 least;

    // every lane's smallest key, then every warp's
    GPUME_UNROLL for (int k = 0; k < NB; k++)
        best[k] = gpume_least<1, 32>(best[k]);
    __syncthreads();
    if (!(threadIdx.x & 31)) {
        GPUME_UNROLL for (int k = 0; k < NB; k++)
            keys[(threadIdx.x >> 5) * NB + k] = best[k];
    }
    __syncthreads();
    least = keys[which];
    if (threadIdx.x < NB)
        for (int i = 1; i < blockDim.x >> 5; i++)
            if (keys[i * NB + which] < least)
                least = keys[i * NB + which];
    return least;
}

/**
 * The result of block b: the least of all threads' keys, whose orders are gpume_order()'s.
 * @param shared a key for each warp, not in use any more
 */
static __device__ __forceinline__ void
gpume_store_least(const GpumeCudaArgs &a, GpumeU32 *shared, const GpumeBox &b, const GpumePlace &at, GpumeU64 best)
{
    GpumeU64 keys[1] = { best };
    const GpumeU64 least = gpume_least_of_all<1>(shared, keys);
    const GpumeVector v  = gpume_vector_of_order(a.params.range, (int)(GpumeU32)least);

    if (!threadIdx.x)
        gpume_store(a, b, at.z, at.x, at.y, v.dx, v.dy, (GpumeU32)(least >> 32));
}

/**
 * All threads search one block of the picture, of any size. They go over the candidates as
 * many at a time as across x down threads have; a thread has FULL_DX x FULL_DY of them,
 * whose sums stay in its registers while strips of the block, and the window of the
 * reference that they meet, pass through shared memory.
 */
template<class Cost>
static __device__ __forceinline__ void
gpume_search_any(const GpumeCudaArgs &a, GpumeU32 *shared, int bx, int by, int z)
{
    typedef typename Cost::Sample Sample;
    const int nb_dx = GPUME_CUDA_FULL_DX, nb_dy = GPUME_CUDA_FULL_DY;
    const int per_word  = GpumeSample<Sample>::per_word;
    const int bytes     = GpumeSample<Sample>::bytes;
    const int across    = a.full.across;
    const int down      = a.full.down;
    const int pitch     = a.full.pitch;
    const int dx_words  = nb_dx / per_word;     // from a thread's columns to the next one's
    const GpumeBox b    = gpume_box(&a.params, a.params.block, bx, by);
    const int words     = (b.w + per_word - 1) / per_word;
    const int cur_pitch = a.params.block / per_word;
    GpumeU32 *cur       = shared;
    GpumeU32 *window    = shared + GPUME_CUDA_FULL_STRIP * cur_pitch;
    const int column    = threadIdx.x % across;
    const int line      = threadIdx.x / across;
    const GpumeCudaPlane ref = gpume_field(a, z).plane;
    GpumeU64 best       = ~0ull;

    static_assert(Cost::LANES == 1, "a thread has candidates of its own");
    for (int cy = b.min_dy; cy <= b.max_dy; cy += down * nb_dy)
        for (int cx = b.min_dx; cx <= b.max_dx; cx += across * nb_dx) {
            GpumeU32 sum[nb_dy][nb_dx];

            GPUME_UNROLL for (int j = 0; j < nb_dy; j++)
                GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                    sum[j][k] = 0;

            for (int strip = 0; strip < b.h; strip += GPUME_CUDA_FULL_STRIP) {
                const int rows  = gpume_min(GPUME_CUDA_FULL_STRIP, b.h - strip);
                const int cur_y = b.y0 + strip;
                const int win_x = b.x0 + cx;
                const int win_y = cur_y + cy;

                __syncthreads();
                gpume_load_piece<Sample>(cur, cur_pitch, a.cur, a.params,
                                         { b.x0, cur_y, rows, words, b.w, rows });
                gpume_load_piece<Sample>(window, pitch, ref, a.params,
                                         { win_x, win_y, down * nb_dy + rows - 1,
                                           across * dx_words + words,
                                           a.params.width - win_x, a.params.height - win_y });
                __syncthreads();

                if (line >= down)
                    continue;
                for (int r = 0; r < nb_dy + rows - 1; r++) {
                    const GpumeU32 *win = window + (line * nb_dy + r) * pitch +
                                          column * dx_words;

                    for (int c = 0; c < words; c++) {
                        const GpumeU32 mask = gpume_mask<Sample>(b.w - c * per_word);
                        GpumeU32 w[nb_dx];

                        GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                            w[k] = gpume_funnel(win[c + k / per_word],
                                                win[c + k / per_word + 1],
                                                k % per_word * 8 * bytes) & mask;
                        GPUME_UNROLL for (int j = 0; j < nb_dy; j++) {
                            const int y = r - j;

                            if (y < 0 || y >= rows)
                                continue;
                            const GpumeU32 v = cur[y * cur_pitch + c];
                            GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                                sum[j][k] = Cost::word(v, w[k], sum[j][k]);
                        }
                    }
                }
            }

            if (line >= down)
                continue;
            GPUME_UNROLL for (int j = 0; j < nb_dy; j++)
                GPUME_UNROLL for (int k = 0; k < nb_dx; k++) {
                    const int dx = cx + column * nb_dx + k;
                    const int dy = cy + line * nb_dy + j;

                    const GpumeU64 key = gpume_key(sum[j][k], gpume_order(a.params.range, dx, dy));

                    if (dx <= b.max_dx && dy <= b.max_dy && key < best)
                        best = key;
                }
        }

    gpume_store_least(a, shared, b, { bx, by, z }, best);
}

/** A word of a window shifted by some samples to the left, hi being the word after it. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_shifted(GpumeU32 lo, GpumeU32 hi, int samples)
{
    return samples ? gpume_funnel(lo, hi, 8 * GpumeSample<Sample>::bytes * samples) : lo;
}

/** A row of the reference, or the one next to it where it has none. */
static __device__ __forceinline__ const GpumeU8 *
gpume_row_inside(const GpumeParams &p, const GpumeCudaPlane &ref, int y)
{
    return (const GpumeU8 *)ref.data + ref.linesize * gpume_max(0, gpume_min(y, p.height - 1));
}

/** Samples of a window as they are in the picture, without padding bits. */
template<typename Sample>
struct GpumeJustify {
    int shift;

    __device__ __forceinline__ GpumeU32 operator()(GpumeU32 word) const
    {
        return GpumeSample<Sample>::right_justify(word, shift);
    }
};

/**
 * The window of the reference from (left, top) on into shared memory, as often as a word has
 * samples: the first copy as it is, the others shifted by one sample more each. What lies
 * outside the picture is of no admissible candidate, hence may be anything.
 * @param left       a multiple of the samples of a word
 * @param row_words  up to 256; copies have room for a multiple of four
 * @param convert    makes a word of the window of one of the picture
 */
template<typename Sample, class Convert>
static __device__ __forceinline__ void
gpume_load_window(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, GpumeU32 *window,
                  int pitch, int left, int top, int row_words, int rows, const Convert &convert)
{
    typedef GpumeSample<Sample> Of;
    const GpumeParams &p = a.params;
    const int copies = Of::per_word, four = 4 * copies;     // of words, samples
    const int whole = gpume_whole_words(ref, p);
    const int quads = !((ref.data | ref.linesize | Of::bytes * (p.width | left)) & 15);
    const int units = quads ? (row_words + 3) / 4 : row_words;
    const GpumeU32 reciprocal = copies == 4 ? GPUME_RECIPROCAL(units) : GPUME_RECIPROCAL_LARGE(units);
    const int nb    = rows * units;
    const int fill  = 3;    // units of a thread at a time

    if (quads) {
        for (int i = threadIdx.x; i < nb; i += fill * blockDim.x) {
            int4 lo[fill];
            GpumeU32 hi[fill];
            int at[fill];

            /* together: they take their time */
            GPUME_UNROLL for (int j = 0; j < fill; j++) {
                /* the last one again where there are no more */
                const int k = gpume_min(i + j * blockDim.x, nb - 1);
                const int y = copies == 4 ? GPUME_DIVIDE(k, reciprocal) : GPUME_DIVIDE_LARGE(k, reciprocal);
                const int x = 4 * (k - y * units);
                const int column = left + copies * x;
                const GpumeU8 *row = gpume_row_inside(p, ref, top + y);

                at[j] = y * pitch + x;
                gpume_load_global(&lo[j], row + Of::bytes * gpume_max(0, gpume_min(column, p.width - four)));
                hi[j] = gpume_load_any<Sample>(1, row, column + four, p.width);
            }
            GPUME_UNROLL for (int j = 0; j < fill; j++) {
                const GpumeU32 word[5] = {
                    convert(lo[j].x), convert(lo[j].y), convert(lo[j].z), convert(lo[j].w), convert(hi[j]),
                };

                if (j && i + j * blockDim.x >= nb)
                    break;
                GPUME_UNROLL for (int copy = 0; copy < copies; copy++) {
                    int4 v;

                    v.x = gpume_shifted<Sample>(word[0], word[1], copy);
                    v.y = gpume_shifted<Sample>(word[1], word[2], copy);
                    v.z = gpume_shifted<Sample>(word[2], word[3], copy);
                    v.w = gpume_shifted<Sample>(word[3], word[4], copy);
                    *(int4 *)(window + at[j] + copy * a.full.copy_words) = v;
                }
            }
        }
        return;
    }
    for (int i = threadIdx.x; i < nb; i += 4 * blockDim.x) {
        GpumeU32 lo[4], hi[4];
        int at[4];

        GPUME_UNROLL for (int j = 0; j < 4; j++) {
            const int k = gpume_min(i + j * blockDim.x, nb - 1);
            const int y = copies == 4 ? GPUME_DIVIDE(k, reciprocal) : GPUME_DIVIDE_LARGE(k, reciprocal);
            const int x = k - y * units;
            const int column = left + copies * x;
            const GpumeU8 *row = gpume_row_inside(p, ref, top + y);

            at[j] = y * pitch + x;
            /* one branch for both */
            if (whole) {
                lo[j] = gpume_load_any<Sample>(1, row, column,          p.width);
                hi[j] = gpume_load_any<Sample>(1, row, column + copies, p.width);
            } else {
                lo[j] = gpume_load_any<Sample>(0, row, column,          p.width);
                hi[j] = gpume_load_any<Sample>(0, row, column + copies, p.width);
            }
        }
        GPUME_UNROLL for (int j = 0; j < 4; j++) {
            const GpumeU32 first = convert(lo[j]), next = convert(hi[j]);

            if (j && i + j * blockDim.x >= nb)
                break;
            GPUME_UNROLL for (int copy = 0; copy < copies; copy++)
                window[at[j] + copy * a.full.copy_words] = gpume_shifted<Sample>(first, next, copy);
        }
    }
}

template<typename Sample>
static __device__ __forceinline__ void
gpume_load_window(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, GpumeU32 *window,
                  int pitch, int left, int top, int row_words, int rows)
{
    gpume_load_window<Sample>(a, ref, window, pitch, left, top, row_words, rows,
                              GpumeJustify<Sample>{ a.params.shift });
}

/**
 * Add up the differences of blocks of SIDE bytes side by side and NB_ROWS displacements of them on top of each other.
 * @param win the window's words of the first row at the first displacement; pitch: from row to row
 */
template<int SIDE, int BLOCKS, int NB_ROWS, int HEIGHT, int WORDS>
static __device__ __forceinline__ void
gpume_add_differences(GpumeU32 (&sum)[BLOCKS][NB_ROWS], const GpumeU32 (&cur)[HEIGHT][WORDS], const GpumeU32 *win,
                      int pitch)
{
    GPUME_UNROLL for (int r = 0; r < HEIGHT + NB_ROWS - 1; r++) {
        GpumeU32 w[WORDS];

        GPUME_UNROLL for (int c = 0; c < WORDS; c++)
            w[c] = win[r * pitch + c];
        GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
            GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                if (r - j >= 0 && r - j < HEIGHT)
                    sum[4 * c / SIDE][j] = gpume_sad4(cur[r - j < 0 || r - j >= HEIGHT ? 0 : r - j][c],
                                                      w[c], sum[4 * c / SIDE][j]);
    }
}

#endif /* AVFILTER_GPUME_CUDA_FULL_CUH */
