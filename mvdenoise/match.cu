/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the best match of each patch in other pictures. Eight lanes have a patch, with one
 * candidate in every picture for each lane. Equal candidates are tried once: the thread block makes
 * a list of all different candidates, sorted so that candidates that read the same rows of the same
 * planes are adjacent. Variant 1: sums of squares need more than 32 bits; variant 2: for devices
 * with dot products of bytes.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Number of words of a row of a patch. */
#define ROW    (MVDENOISE_PATCH / MVDENOISE_PER_WORD)
#define FIELDS MVDENOISE_CUDA_FIELDS
#define FRACTIONS 16
/** Number of rows of a patch that are read at once, and of thread blocks that a multiprocessor should have. */
#define ROWS     (MVDENOISE_BYTES == 1 ? 8 : 2)
#define RESIDENT (MVDENOISE_BYTES == 1 ? 6 : 5)

typedef GpumeU64 U64;

#define WIDE (GPUME_CUDA_VARIANT == 1)

template<int> struct SquaresOf   { typedef GpumeU32 Squares; };
template<> struct SquaresOf<1>  { typedef GpumeU64 Squares; };
typedef SquaresOf<WIDE>::Squares Squares;

/**
 * Offsets of the samples from which candidates are taken: signed bytes, the first in the lowest byte. In the second
 * pass the first MVDENOISE_NEAR lanes have candidates; the others repeat the first one, which is not tried again.
 */
#define BYTES4(a, b, c, d) (((U64)(a) & 255) | ((U64)(b) & 255) << 8 | ((U64)(c) & 255) << 16 | ((U64)(d) & 255) << 24)
#define PLACES_X (BYTES4(0, 7, 0, 7) | BYTES4(-8, 15, 3, 0) << 32)
#define PLACES_Y (BYTES4(0, 0, 7, 7) | BYTES4(3, 3, -8, 0) << 32)
#define NEAR_X   (BYTES4(0, -12, 12, -8) | BYTES4(8, 0, 0, 0) << 32)
#define NEAR_Y   (BYTES4(0, -8, 8, 12) | BYTES4(-12, 0, 0, 0) << 32)

/** Position of a row of a patch. Strides are multiples of 8. */
struct Row {
    GpumeU32 at;                ///< offset of the double word in which the row begins
    int odd, shift;             ///< whether it begins in the second word, and at which bit
};

static __device__ __forceinline__ Row row_at(GpumeU32 at)
{
    const Row row = { at & ~7u, (int)(at & 4), 8 * (int)(at & 3) };

    return row;
}

/** Reads the samples of a row. Reads double words, because each cache access takes long. */
static __device__ __forceinline__ void read_row(GpumeU32 v[ROW], GpumeU64 copy, const Row &row)
{
    GpumeU32 words[ROW + 2];

    GPUME_UNROLL for (int i = 0; i < ROW + 2; i += 2) {
        int2 two;

        gpume_load_global(&two, (const void *)(copy + row.at + 4 * i));
        words[i]     = (GpumeU32)two.x;
        words[i + 1] = (GpumeU32)two.y;
    }
    GPUME_UNROLL for (int i = 0; i < ROW; i++)
        v[i] = gpume_funnel_shift(gpume_select(row.odd, words[i + 1], words[i]),
                                  gpume_select(row.odd, words[i + 2], words[i + 1]), row.shift);
}

/**
 * Bits of inverted samples that are cleared: bit 15 for samples of at most 15 bits, so that
 * differences do not borrow.
 */
#define UNUSED (MVDENOISE_BYTES == 1 || WIDE ? 0 : 0x80008000u)

/** Returns the inverted rounded means of the samples of two words. */
static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
{
    return (~(a | b) & ~UNUSED) + (((a ^ b) & (MVDENOISE_BYTES == 1 ? 0xfefefefeu : 0xfffefffeu)) >> 1);
}

/** Returns the absolute differences of four bytes. */
static __device__ __forceinline__ GpumeU32 differences(GpumeU32 a, GpumeU32 b)
{
#ifdef GPUME_HOST
    return __vabsdiffu4(a, b);
#else
    GpumeU32 v;

    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(0));
    return v;
#endif
}

/**
 * Adds the squared differences of the samples of two words.
 * @param a as share_patch() stores it
 * @param b as mean() returns it
 */
static __device__ __forceinline__ void add_squares(Squares *sum, GpumeU32 a, GpumeU32 b)
{
    if (MVDENOISE_BYTES == 1) {
        const GpumeU32 d = differences(a, b);

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610 && GPUME_CUDA_VARIANT == 2
        asm("dp4a.u32.u32 %0, %1, %1, %0;" : "+r"(*sum) : "r"(d));
#else
        GPUME_UNROLL for (int i = 0; i < 32; i += 8)
            *sum += (d >> i & 0xff) * (d >> i & 0xff);
#endif
    } else if (WIDE) {
        GPUME_UNROLL for (int i = 0; i < 32; i += 16) {
            const int d = (int)(a >> i & 0xffff) - (int)(b >> i & 0xffff);

            *sum += (Squares)((long long)d * d);
        }
    } else {
        const int d = (int)((a - b) ^ UNUSED), low = (short)d, high = d >> 16;

        *sum += low * low + high * high;
    }
}

/** Returns the cell, or in the second pass the patch, whose vector a lane tries. */
static __device__ __forceinline__ int cell_of(const MvdenoiseCudaMatchArgs &args, const MvdenoiseCudaComponent &c,
                                              int x, int y, int lane)
{
    const int i = (signed char)((args.second ? NEAR_X : PLACES_X) >> 8 * lane);
    const int j = (signed char)((args.second ? NEAR_Y : PLACES_Y) >> 8 * lane);
    const int cols = args.second ? c.cols : args.cells.cols, rows = args.second ? c.rows : args.cells.rows;
    const int row  = av_clip(args.second ? (y + j) >> args.components.log2_step :
                                           (y + j) * (1 << c.vsub) >> MVDENOISE_LOG2_CELL, 0, rows - 1);
    const int col  = av_clip(args.second ? (x + i + mvdenoise_left(row)) >> MVDENOISE_LOG2_STEP :
                                           (x + i) * (1 << c.hsub) >> MVDENOISE_LOG2_CELL, 0, cols - 1);

    return row * cols + col + (args.second ? c.number : 0);
}

/** Returns this lane's candidate, in quarters of the component's samples. The last lane's candidate is zero. */
static __device__ __forceinline__ GpumeU32 candidate(const MvdenoiseCudaMatchArgs &args,
                                                     const MvdenoiseCudaComponent &c, GpumeU32 word, int lane)
{
    return lane == MVDENOISE_PLACES ? 0 : args.second || !mvdenoise_is_vector(word) ? word :
           mvdenoise_of_vector(mvdenoise_subsampled((short)(word & 0xffff), c.hsub),
                               mvdenoise_subsampled((short)(word >> 16), c.vsub));
}

/** Returns whether a lane has a vector that no lane before it has. */
static __device__ __forceinline__ int is_new(GpumeU32 vector, int lane)
{
    int is = mvdenoise_is_vector(vector);

    GPUME_UNROLL for (int i = 1; i < MVDENOISE_CUDA_LANES; i++) {
        const GpumeU32 other = __shfl_xor_sync(GPUME_WHOLE_WARP, vector, i);

        /* lane ^ i comes before this lane if the highest bit in which they differ is set in this lane */
        is &= !(lane & (i > 3 ? 4 : i > 1 ? 2 : 1)) || other != vector;
    }
    return is;
}

/** Returns the sum of the samples of a word. */
static __device__ __forceinline__ GpumeU32 sum_of(GpumeU32 word)
{
    if (MVDENOISE_BYTES == 1)
        word = (word & 0xff00ff) + (word >> 8 & 0xff00ff);
    return (word & 0xffff) + (word >> 16);
}

/** Stores the inverted patch in shared memory; each lane has a row. Returns the sum of this lane's samples. */
static __device__ __forceinline__ GpumeU32 share_patch(GpumeU32 *own, GpumeU64 copy, GpumeU32 at, int stride, int lane)
{
    GpumeU32 row[ROW], sum = 0;

    read_row(row, copy, row_at(at + (GpumeU32)(stride * lane)));
    GPUME_UNROLL for (int i = 0; i < ROW; i++) {
        own[ROW * lane + i] = ~row[i];
        sum += sum_of(row[i]);
    }
    return sum;
}

/**
 * Returns the squared differences of a patch and its match.
 * @param PAIR whether the match is the rounded mean of two samples; else both are the same
 */
template<int PAIR>
static __device__ __forceinline__ Squares compare(const GpumeU32 *own, GpumeU64 copy, MvdenoisePair pair, int stride)
{
    Row row_a = row_at(pair.a), row_b = row_at(pair.b);
    Squares sum = 0;

    GPUME_NO_UNROLL for (int first = 0; first < MVDENOISE_PATCH; first += ROWS) {
        GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
            GpumeU32 a[ROW], b[ROW], words[4];

            read_row(a, copy, row_a);
            if (PAIR)
                read_row(b, copy, row_b);
            row_a.at += stride;
            row_b.at += stride;
            if (ROW == 4 || !(i & 1))
                gpume_load4(words, own + ROW * (first + i));
            GPUME_UNROLL for (int k = 0; k < ROW; k++)
                add_squares(&sum, words[ROW == 4 ? k : ROW * (i & 1) + k], PAIR ? mean(a[k], b[k]) : ~a[k] & ~UNUSED);
        }
    }
    return sum;
}

/** Shared memory of the thread block; a thread's candidates are in sequence, one for each picture. */
struct Shared {
    GpumeU32 *patches;          ///< MVDENOISE_CUDA_PATCH words each
    Squares *squares;           ///< sums of squared differences of candidates
    GpumeU32 *vectors;          ///< candidates
    GpumeU16 *list;             ///< indices of the candidates to be tried
    GpumeU64 *places;           ///< for each picture: its address, its vectors, its matches
    MvdenoisePair *pairs;       ///< for each fraction
    GpumeU32 *bins;             ///< BINS of each picture: number of its candidates before those of each bin
    GpumeU32 *totals;           ///< numbers of candidates of each picture: those that are no pairs, and all
    GpumeU32 *tones;            ///< tones of patches
};

/**
 * Returns whether a match is the mean of two samples: not for whole samples, nor for half samples
 * in a row or column.
 */
static __device__ __forceinline__ int is_pair(GpumeU32 vector)
{
    const int x = vector & 3, y = vector >> 16 & 3;

    return (x | y) & 1;
}

/**
 * Number of bins of a picture. A bin has the vectors with the same fraction and the same parity of
 * their match's row. Pairs come last, so that a warp has only pairs or none.
 */
#define BINS MVDENOISE_CUDA_MATCH_BINS

static __device__ __forceinline__ int bin_of(GpumeU32 vector)
{
    return is_pair(vector) * (BINS / 2) + ((vector >> 16 & 7) << 2 | (vector & 3));
}

/** Turns the counts of picture i into positions in the list; a warp handles a picture. */
static __device__ __forceinline__ void count(const Shared &s, int i, int lane)
{
    GpumeU32 *bins = s.bins + BINS * i + 2 * lane;
    const GpumeU32 first = bins[0], second = bins[1];
    GpumeU32 end = first + second;

    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1) {
        const GpumeU32 before = __shfl_sync(GPUME_WHOLE_WARP, end, (lane - bit) & 31);

        end += lane >= bit ? before : 0;
    }
    bins[0] = end - first - second;
    bins[1] = end - second;
    /* the number of those that are no pairs, and of all */
    if (lane % 16 == 15)
        s.totals[2 * i + lane / 16] = end;
}

/** Lists the candidates to be tried, which the thread's bits mark. Returns their number. */
static __device__ __forceinline__ int list(const Shared &s, GpumeU32 listed, int nb)
{
    GpumeU32 single = 0, pairs = 0;

    __syncthreads();
    /* there are at least as many warps as pictures */
    if (threadIdx.x / 32 < nb)
        count(s, threadIdx.x / 32, threadIdx.x % 32);
    __syncthreads();
    GPUME_NO_UNROLL for (int i = 0; i < nb; i++)
        pairs += s.totals[2 * i];
    GPUME_NO_UNROLL for (int i = 0; i < nb; i++) {
        const GpumeU32 candidate = MVDENOISE_CUDA_THREADS * i + threadIdx.x, nb_single = s.totals[2 * i];

        if (listed >> i & 1) {
            const GpumeU32 vector = s.vectors[candidate];
            const GpumeU32 place  = atomicAdd(&s.bins[BINS * i + bin_of(vector)], 1u);

            s.list[place + (is_pair(vector) ? pairs - nb_single : single)] = (GpumeU16)candidate;
        }
        single += nb_single;
        pairs  += s.totals[2 * i + 1] - nb_single;
    }
    __syncthreads();
    return (int)pairs;
}

/** Tries a candidate. */
static __device__ __forceinline__ void try_vector(const MvdenoiseCudaMatchArgs &args, const Shared &s,
                                                  const MvdenoiseCudaComponent &c, const MvdenoiseNoise *noise,
                                                  int number, const MvdenoiseUnit &u, int y)
{
    const GpumeU32 vector = s.vectors[number];
    const int patch = number % MVDENOISE_CUDA_THREADS / MVDENOISE_CUDA_LANES;
    const GpumeU32 end     = mvdenoise_end_of(c, mvdenoise_x(u.first_col + patch, u.row, c.w), y, vector);
    MvdenoisePair pair     = s.pairs[mvdenoise_fraction_of(vector)];
    const GpumeU32 *own    = s.patches + patch * MVDENOISE_CUDA_PATCH;
    const GpumeU64 picture = s.places[3 * (number / MVDENOISE_CUDA_THREADS)];
    Squares sum;

    pair.a += end;
    pair.b += end;
    sum = is_pair(vector) ? compare<1>(own, picture, pair, c.stride) : compare<0>(own, picture, pair, c.stride);
    if (!args.second)
        sum += (Squares)noise[s.tones[patch]].penalty[mvdenoise_fraction_of(vector)];
    s.squares[number] = sum;
}

/** Returns the minimum over eight lanes. */
static __device__ __forceinline__ Squares least(Squares sum)
{
    GPUME_UNROLL for (int bit = 1; bit < MVDENOISE_CUDA_LANES; bit <<= 1) {
        const Squares other = WIDE ? (Squares)mvdenoise_of_lane(sum, bit)
                                   : (Squares)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)sum, bit);

        sum = other < sum ? other : sum;
    }
    return sum;
}

/** Lays out shared memory, and stores the addresses of pictures there, because indexed arguments are slow. */
static __device__ __forceinline__ Shared share(const MvdenoiseCudaMatchArgs &args, const MvdenoiseCudaComponent &c,
                                               GpumeU32 *shared)
{
    const int i = threadIdx.x, candidates = MVDENOISE_CUDA_THREADS * args.nb;
    Shared s;

    s.patches = shared;
    s.places  = (GpumeU64 *)(s.patches + MVDENOISE_CUDA_ROW * MVDENOISE_CUDA_PATCH);
    s.pairs   = (MvdenoisePair *)(s.places + 3 * FIELDS);
    s.bins    = (GpumeU32 *)(s.pairs + FRACTIONS);
    s.totals  = s.bins + BINS * FIELDS;
    s.tones   = s.totals + 2 * FIELDS;
    s.squares = (Squares *)(s.tones + MVDENOISE_CUDA_ROW);
    s.vectors = (GpumeU32 *)(s.squares + candidates);
    s.list    = (GpumeU16 *)(s.vectors + candidates);
    if (i < FIELDS) {
        s.places[3 * i]     = gpume_element(args.pictures, i);
        s.places[3 * i + 1] = gpume_element(args.vectors,  i);
        s.places[3 * i + 2] = gpume_element(args.matches,  i);
    }
    if (i < FRACTIONS)
        s.pairs[i] = mvdenoise_pair_of(c, args.plane, i);
    for (int j = threadIdx.x; j < BINS * FIELDS; j += MVDENOISE_CUDA_THREADS)
        s.bins[j] = 0;
    return s;
}

/**
 * grid:   rows of MVDENOISE_CUDA_ROW patches, of all components
 * block:  MVDENOISE_CUDA_THREADS
 * shared: MVDENOISE_CUDA_MATCH_SHARED bytes
 */
GPUME_KERNEL_OF(MvdenoiseCudaMatchArgs, MVDENOISE_CUDA_THREADS, RESIDENT)
{
    GPUME_SHARED(GpumeU32, shared);
    MvdenoiseCudaComponent c;
    const MvdenoiseUnit u = mvdenoise_unit<MVDENOISE_CUDA_ROW, 1>(args.components, &c);
    const MvdenoiseNoise *noise = (const MvdenoiseNoise *)args.noise + u.component * MVDENOISE_TONES;
    const int lane = threadIdx.x % MVDENOISE_CUDA_LANES, group = threadIdx.x / MVDENOISE_CUDA_LANES;
    const int x = mvdenoise_x(u.col, u.row, c.w), y = mvdenoise_y(u.row, c.h, args.components.log2_step);
    const GpumeU32 cell = (GpumeU32)cell_of(args, c, x, y, lane);
    GpumeU32 listed = 0, word, sum;
    int all;
    Shared s;

    if (!noise->sigma)
        return;
    s = share(args, c, shared);
    sum = share_patch(s.patches + group * MVDENOISE_CUDA_PATCH, args.own,
                      c.first + (GpumeU32)(y * c.stride + x * MVDENOISE_BYTES), c.stride, lane);
    sum = mvdenoise_add_lanes(sum, 1, MVDENOISE_CUDA_LANES);
    if (!lane)
        s.tones[group] = (GpumeU32)mvdenoise_tone((int)((sum + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES), args.depth);
    __syncthreads();
    word = mvdenoise_word(s.places[1] + 4ull * cell);
    GPUME_NO_UNROLL for (int i = 0; i < args.nb; i++) {
        const GpumeU32 vector = candidate(args, c, word, lane);

        /* loads the word for the next picture in advance */
        word = mvdenoise_word(s.places[3 * gpume_min(i + 1, args.nb - 1) + 1] + 4ull * cell);
        s.vectors[MVDENOISE_CUDA_THREADS * i + threadIdx.x] = vector;
        if (is_new(vector, lane) && u.is_there) {
            atomicAdd(&s.bins[BINS * i + bin_of(vector)], 1u);
            listed |= 1u << i;
        }
    }
    all = list(s, listed, args.nb);
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < all; i += MVDENOISE_CUDA_THREADS)
        try_vector(args, s, c, noise, s.list[i], u, y);
    __syncthreads();
    GPUME_NO_UNROLL for (int i = 0; i < args.nb; i++) {
        const int number   = MVDENOISE_CUDA_THREADS * i + threadIdx.x;
        const Squares own  = listed >> i & 1 ? s.squares[number] : ~(Squares)0, best = least(own);
        const GpumeU32 are = __ballot_sync(GPUME_WHOLE_WARP, own == best) >> (threadIdx.x & 24) & 0xff;

        /* the first of equal candidates wins */
        if (u.is_there && lane == gpume_first_bit(are))
            ((GpumeU32 *)s.places[3 * i + 2])[c.number + u.row * c.cols + u.col] =
                best <= noise[s.tones[group]].accept[args.second] ? s.vectors[number] : MVDENOISE_NO_VECTOR;
    }
}
