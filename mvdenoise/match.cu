/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The best match of each patch in pictures. Eight lanes have a patch, each a candidate in every picture. Of those
 * that are equal only one is tried, so the block of threads makes a list of all, in which those are beside each
 * other that read the same rows of the same planes. The variant is 1 if sums of squares take more than 32 bits;
 * 2 for devices that have dot products of bytes.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Words of a row of a patch. */
#define ROW    (MVDENOISE_PATCH / MVDENOISE_PER_WORD)
#define FIELDS MVDENOISE_CUDA_FIELDS
#define FRACTIONS 16
/** Rows of a patch that are read at once, and blocks of threads that a multiprocessor is to have. */
#define ROWS     (MVDENOISE_BYTES == 1 ? 8 : 2)
#define RESIDENT (MVDENOISE_BYTES == 1 ? 6 : 5)

typedef GpumeU64 U64;

#define WIDE (GPUME_CUDA_VARIANT == 1)

template<int> struct SquaresOf   { typedef GpumeU32 Squares; };
template<> struct SquaresOf<1>  { typedef GpumeU64 Squares; };
typedef SquaresOf<WIDE>::Squares Squares;

/** Samples from which a candidate is taken, four of a number of bytes with a sign each, the first the lowest. */
#define BYTES4(a, b, c, d) (((U64)(a) & 255) | ((U64)(b) & 255) << 8 | ((U64)(c) & 255) << 16 | ((U64)(d) & 255) << 24)
#define PLACES_X (BYTES4(0, 7, 0, 7) | BYTES4(-8, 15, 3, 0) << 32)
#define PLACES_Y (BYTES4(0, 0, 7, 7) | BYTES4(3, 3, -8, 0) << 32)

/** Where a row of a patch is. Strides are multiples of 8. */
struct Row {
    GpumeU32 at;                ///< offset of the double word in which it begins
    int odd, shift;             ///< whether it begins in the second word of that, and before which bit
};

static __device__ __forceinline__ Row row_at(GpumeU32 at)
{
    const Row row = { at & ~7u, (int)(at & 4), 8 * (int)(at & 3) };

    return row;
}

/** The samples of a row. Double words are read, as caches take long to find each. */
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
        v[i] = gpume_funnel(gpume_select(row.odd, words[i + 1], words[i]),
                            gpume_select(row.odd, words[i + 2], words[i + 1]), row.shift);
}

/** Bits of inverted samples that are 0: of 16 bits, if they have at most 15, so that differences do not borrow. */
#define UNUSED (MVDENOISE_BYTES == 1 || WIDE ? 0 : 0x80008000u)

/** The inverted rounded means of both words' samples: less the two, and half of what they differ. */
static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
{
    return (~(a | b) & ~UNUSED) + (((a ^ b) & (MVDENOISE_BYTES == 1 ? 0xfefefefeu : 0xfffefffeu)) >> 1);
}

/** The absolute differences of four bytes. */
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

/** Adds the squared differences of both words' samples: a as share_patch() leaves it, b as mean() does. */
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

/** The cell of which a lane has the vector. */
static __device__ __forceinline__ int cell_of(const GpumeCells &g, const MvdenoiseCudaComponent &c, int x, int y,
                                              int lane)
{
    const int i = (signed char)(PLACES_X >> 8 * lane), j = (signed char)(PLACES_Y >> 8 * lane);
    const int col = av_clip((x + i) * (1 << c.hsub) >> MVDENOISE_LOG2_CELL, 0, g.cols - 1);
    const int row = av_clip((y + j) * (1 << c.vsub) >> MVDENOISE_LOG2_CELL, 0, g.rows - 1);

    return row * g.cols + col;
}

/** A lane's candidate, in quarters of the component's samples: the last one zero. */
static __device__ __forceinline__ GpumeU32 candidate(const MvdenoiseCudaComponent &c, GpumeU32 word, int lane)
{
    return lane == MVDENOISE_PLACES ? 0 : !mvdenoise_is_vector(word) ? word :
           mvdenoise_of_vector(mvdenoise_subsampled((short)(word & 0xffff), c.hsub),
                               mvdenoise_subsampled((short)(word >> 16), c.vsub));
}

/** Whether a lane has a vector that none before it has. */
static __device__ __forceinline__ int is_new(GpumeU32 vector, int lane)
{
    int is = mvdenoise_is_vector(vector);

    GPUME_UNROLL for (int i = 1; i < MVDENOISE_CUDA_LANES; i++) {
        const GpumeU32 other = __shfl_xor_sync(GPUME_WHOLE_WARP, vector, i);

        /* lane ^ i is before the lane if the highest bit in which they differ is the lane's */
        is &= !(lane & (i > 3 ? 4 : i > 1 ? 2 : 1)) || other != vector;
    }
    return is;
}

/** The sum of the samples of a word. */
static __device__ __forceinline__ GpumeU32 sum_of(GpumeU32 word)
{
    if (MVDENOISE_BYTES == 1)
        word = (word & 0xff00ff) + (word >> 8 & 0xff00ff);
    return (word & 0xffff) + (word >> 16);
}

/** Leaves the patch in shared memory, inverted, of which each lane has a row. Returns the sum of the lane's samples. */
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
 * The squared differences of a patch and its match.
 * @param PAIR whether the match is the rounded mean of two, else these are the same
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

/** What the block of threads shares; elements of threads' candidates are those of its pictures, one after the other. */
struct Shared {
    GpumeU32 *patches;          ///< MVDENOISE_CUDA_PATCH words each
    Squares *squares;           ///< of candidates
    GpumeU32 *vectors;          ///< candidates
    GpumeU16 *list;             ///< which candidates are to be tried
    GpumeU64 *places;           ///< of each picture: it, vectors, matches
    MvdenoisePair *pairs;       ///< of each fraction
    GpumeU32 *bins;             ///< BINS of each picture: how many of its candidates are before those of each
    GpumeU32 *totals;           ///< candidates of each picture: that are no pairs, all
    GpumeU32 *tones;            ///< of patches
};

/** Whether a match is the mean of two: not of samples, and of half samples in a row or column. */
static __device__ __forceinline__ int is_pair(GpumeU32 vector)
{
    const int x = vector & 3, y = vector >> 16 & 3;

    return (x | y) & 1;
}

/**
 * Vectors of a picture whose fractions are the same, and the rows of whose matches by 2, come into a bin. Those that
 * are pairs come last: warps are to have either.
 */
#define BINS MVDENOISE_CUDA_MATCH_BINS

static __device__ __forceinline__ int bin_of(GpumeU32 vector)
{
    return is_pair(vector) * (BINS / 2) + ((vector >> 16 & 7) << 2 | (vector & 3));
}

/** Makes places in the list of numbers of candidates, of picture i by its warp. */
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
    /* those that are not pairs, and all */
    if (lane % 16 == 15)
        s.totals[2 * i + lane / 16] = end;
}

/** Lists what is to be tried, of which the thread's bits tell. Returns how many there are. */
static __device__ __forceinline__ int list(const Shared &s, GpumeU32 listed, int nb)
{
    GpumeU32 single = 0, pairs = 0;

    __syncthreads();
    /* as many warps as there can be pictures */
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
                                                  int number, int first_col, int y)
{
    const GpumeU32 vector = s.vectors[number];
    const int patch = number % MVDENOISE_CUDA_THREADS / MVDENOISE_CUDA_LANES;
    const GpumeU32 end     = mvdenoise_end_of(c, mvdenoise_place(first_col + patch, c.w), y, vector);
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

/** The least of what eight lanes have. */
static __device__ __forceinline__ Squares least(Squares sum)
{
    GPUME_UNROLL for (int bit = 1; bit < MVDENOISE_CUDA_LANES; bit <<= 1) {
        const Squares other = WIDE ? (Squares)mvdenoise_of_lane(sum, bit)
                                   : (Squares)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)sum, bit);

        sum = other < sum ? other : sum;
    }
    return sum;
}

/** Finds where in shared memory what is, and notes where pictures are: arguments with an index are slow. */
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
        s.places[3 * i]     = mvdenoise_element(args.pictures, i);
        s.places[3 * i + 1] = mvdenoise_element(args.vectors,  i);
        s.places[3 * i + 2] = mvdenoise_element(args.matches,  i);
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
    const int x    = mvdenoise_place(u.col, c.w), y = mvdenoise_place(u.row, c.h);
    const GpumeU32 cell = (GpumeU32)cell_of(args.cells, c, x, y, lane);
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
        const GpumeU32 vector = candidate(c, word, lane);

        /* that of the next picture, which is there when it is needed */
        word = mvdenoise_word(s.places[3 * gpume_min(i + 1, args.nb - 1) + 1] + 4ull * cell);
        s.vectors[MVDENOISE_CUDA_THREADS * i + threadIdx.x] = vector;
        if (is_new(vector, lane) && u.is_there) {
            atomicAdd(&s.bins[BINS * i + bin_of(vector)], 1u);
            listed |= 1u << i;
        }
    }
    all = list(s, listed, args.nb);
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < all; i += MVDENOISE_CUDA_THREADS)
        try_vector(args, s, c, noise, s.list[i], u.first_col, y);
    __syncthreads();
    GPUME_NO_UNROLL for (int i = 0; i < args.nb; i++) {
        const int number   = MVDENOISE_CUDA_THREADS * i + threadIdx.x;
        const Squares own  = listed >> i & 1 ? s.squares[number] : ~(Squares)0, best = least(own);
        const GpumeU32 are = __ballot_sync(GPUME_WHOLE_WARP, own == best) >> (threadIdx.x & 24) & 0xff;

        /* of equal ones it is the first */
        if (u.is_there && lane == gpume_first_bit(are))
            ((GpumeU32 *)s.places[3 * i + 2])[c.number + u.row * c.cols + u.col] =
                best <= noise[s.tones[group]].accept[args.second] ? s.vectors[number] : MVDENOISE_NO_VECTOR;
    }
}
