/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The best match of each patch in a picture. Eight lanes have a patch, each a candidate. Of those that are
 * equal only one is tried, so the block of threads makes a list, in which those are beside each other that read
 * the same rows of the same planes.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Words of a row of a patch. */
#define ROW (MVDENOISE_PATCH / MVDENOISE_PER_WORD)

typedef GpumeU64 U64;

/** Sums of squares of 16 bits take more than 32. */
template<int BYTES> struct SquaresOf { typedef GpumeU32 Squares; };
template<> struct SquaresOf<2>       { typedef GpumeU64 Squares; };
typedef SquaresOf<sizeof(MvdenoiseSample)>::Squares Squares;

/** Samples from which a candidate is taken, four of a number of bytes with a sign each, the first the lowest. */
#define BYTES4(a, b, c, d) (((U64)(a) & 255) | ((U64)(b) & 255) << 8 | ((U64)(c) & 255) << 16 | ((U64)(d) & 255) << 24)
#define PLACES_X (BYTES4(0, 7, 0, 7) | BYTES4(-8, 15, 3, 0) << 32)
#define PLACES_Y (BYTES4(0, 0, 7, 7) | BYTES4(3, 3, -8, 0) << 32)

/** The samples of a row of a patch, from any place on. */
static __device__ __forceinline__ void read_row(GpumeU32 v[ROW], GpumeU64 at, int shift)
{
    GpumeU32 words[ROW + 1];

    GPUME_UNROLL for (int i = 0; i < ROW + 1; i++)
        words[i] = mvdenoise_word(at + 4 * i);
    GPUME_UNROLL for (int i = 0; i < ROW; i++)
        v[i] = gpume_funnel(words[i], words[i + 1], shift);
}

/** The rounded means of both words' samples. */
static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
{
    return (a | b) - ((a ^ b) >> 1 & (MVDENOISE_BYTES == 1 ? 0x7f7f7f7f : 0x7fff7fff));
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

/** Adds the squared differences of both words' samples. */
static __device__ __forceinline__ void add_squares(Squares *sum, GpumeU32 a, GpumeU32 b)
{
    const int bits = 8 * MVDENOISE_BYTES;

    if (MVDENOISE_BYTES == 1) {
        const GpumeU32 d = differences(a, b);

        GPUME_UNROLL for (int i = 0; i < 32; i += 8)
            *sum += (d >> i & 0xff) * (d >> i & 0xff);
        return;
    }
    GPUME_UNROLL for (int i = 0; i < 32; i += bits) {
        const int d = (int)(a >> i & ((1u << bits) - 1)) - (int)(b >> i & ((1u << bits) - 1));

        *sum += (Squares)((long long)d * d);
    }
}

/** The vector that a lane has, in quarters of the component's samples: the last one zero. */
static __device__ __forceinline__ GpumeU32 candidate(const GpumeCells &g, const MvdenoiseCudaComponent &c,
                                                     GpumeU64 vectors, int x, int y, int lane)
{
    const int i = (signed char)(PLACES_X >> 8 * lane), j = (signed char)(PLACES_Y >> 8 * lane);
    const int col = av_clip((x + i) * (1 << c.hsub) >> MVDENOISE_LOG2_CELL, 0, g.cols - 1);
    const int row = av_clip((y + j) * (1 << c.vsub) >> MVDENOISE_LOG2_CELL, 0, g.rows - 1);
    const GpumeU32 word = mvdenoise_word(vectors + 4ull * (GpumeU32)(row * g.cols + col));

    return lane == MVDENOISE_PLACES ? 0 : !mvdenoise_is_vector(word) ? word :
           mvdenoise_of_vector(mvdenoise_subsampled((short)(word & 0xffff), c.hsub),
                               mvdenoise_subsampled((short)(word >> 16), c.vsub));
}

/** Whether a lane has a vector that none before it has. */
static __device__ __forceinline__ int is_new(GpumeU32 vector, int lane)
{
    int is = mvdenoise_is_vector(vector);

    GPUME_UNROLL for (int i = 1; i < MVDENOISE_CUDA_LANES; i++) {
        const GpumeU32 other = __shfl_sync(GPUME_WHOLE_WARP, vector, (threadIdx.x - i) & 31);

        is &= lane < i || other != vector;
    }
    return is;
}

/** Leaves the patch in shared memory, of which each lane has a row. */
static __device__ __forceinline__ void share_patch(GpumeU32 *own, GpumeU64 copy, GpumeU32 at, int stride, int lane)
{
    GpumeU32 row[ROW];

    at += (GpumeU32)(stride * lane);
    read_row(row, copy + (at & ~3u), 8 * (int)(at & 3));
    GPUME_UNROLL for (int i = 0; i < ROW; i++)
        own[ROW * lane + i] = row[i];
}

/** The squared differences of a patch and its match. */
static __device__ __forceinline__ Squares compare(const GpumeU32 *own, GpumeU64 copy, MvdenoisePair pair, int stride)
{
    const int shift_a = 8 * (int)(pair.a & 3), shift_b = 8 * (int)(pair.b & 3);
    Squares sum = 0;

    pair.a &= ~3u;
    pair.b &= ~3u;
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PATCH; i++) {
        GpumeU32 a[ROW], b[ROW], words[4];

        read_row(a, copy + pair.a, shift_a);
        read_row(b, copy + pair.b, shift_b);
        pair.a += stride;
        pair.b += stride;
        if (ROW == 4 || !(i & 1))
            gpume_load4(words, own + ROW * i);
        GPUME_UNROLL for (int k = 0; k < ROW; k++)
            add_squares(&sum, words[ROW == 4 ? k : ROW * (i & 1) + k], mean(a[k], b[k]));
    }
    return sum;
}

/** What the block of threads shares. */
struct Shared {
    GpumeU32 *patches;          ///< MVDENOISE_CUDA_PATCH words each
    Squares *squares;           ///< of each thread's candidate
    GpumeU32 *vectors, *whose;  ///< the list: candidates, and their threads
    GpumeU64 *places;           ///< of each picture: it, vectors, matches
    GpumeU32 *bins;             ///< BINS: how many are in the list before those of each
};

/** Vectors whose fractions, and the rows of whose matches, are the same by 4 come into a bin. */
#define BINS 64

static __device__ __forceinline__ int bin_of(GpumeU32 vector)
{
    return (vector >> 16 & 15) << 2 | (vector & 3);
}

/** Lists what is to be tried. Returns how many there are. */
static __device__ __forceinline__ GpumeU32 list(const Shared &s, GpumeU32 vector, int is_listed)
{
    const int bin = bin_of(vector), lane = threadIdx.x;
    GpumeU32 nb;

    if (lane < BINS)
        s.bins[lane] = 0;
    __syncthreads();
    if (is_listed)
        atomicAdd(&s.bins[bin], 1u);
    __syncthreads();
    if (lane < 32) {
        const GpumeU32 first = s.bins[2 * lane], second = s.bins[2 * lane + 1];
        GpumeU32 end = first + second;

        GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1) {
            const GpumeU32 before = __shfl_sync(GPUME_WHOLE_WARP, end, (lane - bit) & 31);

            end += lane >= bit ? before : 0;
        }
        s.bins[2 * lane]     = end - first - second;
        s.bins[2 * lane + 1] = end - second;
        if (lane == 31)
            s.bins[BINS] = end;
    }
    __syncthreads();
    nb = s.bins[BINS];
    if (is_listed) {
        const GpumeU32 at = atomicAdd(&s.bins[bin], 1u);

        s.vectors[at] = vector;
        s.whose[at]   = threadIdx.x;
    }
    __syncthreads();
    return nb;
}

/** Tries candidate i of the list. */
static __device__ __forceinline__ void try_vector(const MvdenoiseCudaMatchArgs &args, const Shared &s, GpumeU64 picture,
                                                  const MvdenoiseCudaComponent &c, const MvdenoiseNoise *noise, int i,
                                                  int first_col, int y)
{
    const GpumeU32 vector = s.vectors[i];
    const int whose = s.whose[i], patch = whose / MVDENOISE_CUDA_LANES;
    const MvdenoisePair pair = mvdenoise_pair(c, args.plane, mvdenoise_place(first_col + patch, c.w), y, vector);
    Squares sum = compare(s.patches + patch * MVDENOISE_CUDA_PATCH, picture, pair, c.stride);

    if (!args.second)
        sum += (Squares)noise->penalty[(vector >> 16 & 3) << 2 | (vector & 3)];
    s.squares[whose] = sum;
}

/** The best of a patch's candidates; of equal ones it is the first. Bits above the lane's number are its squares. */
static __device__ __forceinline__ Squares best_of(Squares sum)
{
    GPUME_UNROLL for (int bit = 1; bit < MVDENOISE_CUDA_LANES; bit <<= 1) {
        const Squares other = MVDENOISE_BYTES == 1
                              ? (Squares)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)sum, bit)
                              : (Squares)mvdenoise_of_lane(sum, bit);

        sum = other < sum ? other : sum;
    }
    return sum;
}

/** Finds where in shared memory what is, and notes where pictures are: arguments with an index are slow. */
static __device__ __forceinline__ Shared share(const MvdenoiseCudaMatchArgs &args, GpumeU32 *shared)
{
    const int i = threadIdx.x;
    Shared s;

    s.patches = shared;
    s.squares = (Squares *)(s.patches + MVDENOISE_CUDA_ROW * MVDENOISE_CUDA_PATCH);
    s.places  = (GpumeU64 *)(s.squares + MVDENOISE_CUDA_THREADS);
    s.vectors = (GpumeU32 *)(s.places + 3 * MVDENOISE_CUDA_FIELDS);
    s.whose   = s.vectors + MVDENOISE_CUDA_THREADS;
    s.bins    = s.whose + MVDENOISE_CUDA_THREADS;
    if (i < MVDENOISE_CUDA_FIELDS) {
        s.places[3 * i]     = mvdenoise_element(args.pictures, i);
        s.places[3 * i + 1] = mvdenoise_element(args.vectors,  i);
        s.places[3 * i + 2] = mvdenoise_element(args.matches,  i);
    }
    return s;
}

/**
 * grid:   rows of MVDENOISE_CUDA_ROW patches, of all components
 * block:  MVDENOISE_CUDA_THREADS
 * shared: MVDENOISE_CUDA_PATCH + MVDENOISE_CUDA_TRIED words for every 8 threads, BINS + 1, 6 for every field
 */
GPUME_KERNEL_OF(MvdenoiseCudaMatchArgs, MVDENOISE_CUDA_THREADS, 6)
{
    GPUME_SHARED(GpumeU32, shared);
    MvdenoiseCudaComponent c;
    const MvdenoiseUnit u = mvdenoise_unit(args.components, &c);
    const MvdenoiseNoise *noise = (const MvdenoiseNoise *)args.noise + u.component;
    const int lane = threadIdx.x % MVDENOISE_CUDA_LANES, group = threadIdx.x / MVDENOISE_CUDA_LANES;
    const int x    = mvdenoise_place(u.col, c.w), y = mvdenoise_place(u.row, c.h);
    Shared s;

    if (!noise->sigma)
        return;
    s = share(args, shared);
    share_patch(s.patches + group * MVDENOISE_CUDA_PATCH, args.own,
                c.first + (GpumeU32)(y * c.stride + x * MVDENOISE_BYTES), c.stride, lane);
    __syncthreads();
    GPUME_NO_UNROLL for (int i = 0; i < args.nb; i++) {
        const GpumeU32 vector = candidate(args.cells, c, s.places[3 * i + 1], x, y, lane);
        const int is_listed   = is_new(vector, lane) && u.is_there;
        const GpumeU32 nb     = list(s, vector, is_listed);
        Squares sum = ~(Squares)0, best;

        if (threadIdx.x < nb)
            try_vector(args, s, s.places[3 * i], c, noise, threadIdx.x, u.first_col, y);
        __syncthreads();
        if (is_listed)
            sum = s.squares[threadIdx.x] << 3 | lane;
        best = best_of(sum);
        if (is_listed && sum == best)
            ((GpumeU32 *)s.places[3 * i + 2])[c.number + u.row * c.cols + u.col] =
                (best >> 3) <= noise->accept[args.second] ? vector : MVDENOISE_NO_VECTOR;
    }
}
