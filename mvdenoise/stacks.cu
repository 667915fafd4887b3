/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises patches. Eight lanes transform a stack; a lane has eight positions of all its patches.
 * The variant is the maximum number of patches of a stack, plus 10 in the second pass.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

#define MVDENOISE_TABLE static __device__ const
#include "libavfilter/gpume/mvdenoise/over_time.h"

#define MOST   (GPUME_CUDA_VARIANT % 10)
#define SECOND (GPUME_CUDA_VARIANT / 10)
/** Index of the current picture, which is in the middle. */
#define OWN    (MOST / 2)
/** Number of positions that are transformed over time at once; the coefficients of all must stay in registers. */
#define PART   (MOST > 5 ? 2 : 4)
#define THREADS MVDENOISE_CUDA_STACK_THREADS
/**
 * Number of rows of patches that a thread block makes in sequence; they share samples, which are
 * then in the cache.
 */
#define ROWS    MVDENOISE_CUDA_STACK_ROWS
/** Number of thread blocks that a multiprocessor should have at the same time, as far as registers suffice. */
#define RESIDENT ((MOST > 7 ? 3 : MOST > 5 ? 4 : SECOND ? 5 : 6) * 128 / THREADS)

/** State of a stack in a lane. */
struct Stack {
    MvdenoiseCudaComponent c;
    GpumeU32 plane;
    int x, y;               ///< position of the patch
    int lane;               ///< number in the group of eight
    GpumeU32 *tile;         ///< shared memory for transpositions
    const int *matrix;      ///< matrix over time, MOST * MOST
    const int *gains;
    MvdenoisePair match;    ///< position of the match in this lane's picture or, without a match, of the patch
    GpumeU32 exist;         ///< bit mask of the pictures with a match
    int are_whole;          ///< whether all pictures of all stacks of the warp have a match
    int base;               ///< base of the patches' samples
    int textured;           ///< whether the component may have texture
    int most_texture;       ///< limit of coefficients of texture
    int fraction;
    GpumeU32 most_weight;   ///< weight of a patch of which only the mean remains
};

/** Transforms eight values after subtracting a base from each. */
static __device__ __forceinline__ void forward(int v[8], int base, int shift)
{
    const int round = 1 << shift >> 1;
    const int e0 = v[0] + v[7], o0 = v[0] - v[7];
    const int e1 = v[1] + v[6], o1 = v[1] - v[6];
    const int e2 = v[2] + v[5], o2 = v[2] - v[5];
    const int e3 = v[3] + v[4], o3 = v[3] - v[4];

    v[0] = (64 * (e0 + e1 + e2 + e3 - 8 * base) + round) >> shift;
    v[1] = (89 * o0 + 75 * o1 + 50 * o2 + 18 * o3 + round) >> shift;
    v[2] = (83 * (e0 - e3) + 36 * (e1 - e2) + round) >> shift;
    v[3] = (75 * o0 - 18 * o1 - 89 * o2 - 50 * o3 + round) >> shift;
    v[4] = (64 * (e0 - e1 - e2 + e3) + round) >> shift;
    v[5] = (50 * o0 - 89 * o1 + 18 * o2 + 75 * o3 + round) >> shift;
    v[6] = (36 * (e0 - e3) - 83 * (e1 - e2) + round) >> shift;
    v[7] = (18 * o0 - 50 * o1 + 75 * o2 - 89 * o3 + round) >> shift;
}

/**
 * Transforms eight values back.
 * @param less subtracted before rounding
 */
static __device__ __forceinline__ void inverse(int v[8], int shift, int less)
{
    const int round = (1 << shift >> 1) - less;
    const int a  = 64 * (v[0] + v[4]) + round, b = 64 * (v[0] - v[4]) + round;
    const int c  = 83 * v[2] + 36 * v[6], d = 36 * v[2] - 83 * v[6];
    const int o0 = 89 * v[1] + 75 * v[3] + 50 * v[5] + 18 * v[7];
    const int o1 = 75 * v[1] - 18 * v[3] - 89 * v[5] - 50 * v[7];
    const int o2 = 50 * v[1] - 89 * v[3] + 18 * v[5] + 75 * v[7];
    const int o3 = 18 * v[1] - 50 * v[3] + 75 * v[5] - 89 * v[7];

    v[0] = (a + c + o0) >> shift;
    v[1] = (b + d + o1) >> shift;
    v[2] = (b - d + o2) >> shift;
    v[3] = (a - c + o3) >> shift;
    v[4] = (a - c - o3) >> shift;
    v[5] = (b - d - o2) >> shift;
    v[6] = (b + d - o1) >> shift;
    v[7] = (a + c - o0) >> shift;
}

/** Transposes the values of eight lanes. */
static __device__ __forceinline__ void transpose(const Stack &s, int v[8])
{
    GpumeU32 words[8];

    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        s.tile[MVDENOISE_CUDA_TILE_ROW * i + s.lane] = (GpumeU32)v[i];
    __syncwarp();
    gpume_load4(words,     s.tile + MVDENOISE_CUDA_TILE_ROW * s.lane);
    gpume_load4(words + 4, s.tile + MVDENOISE_CUDA_TILE_ROW * s.lane + 4);
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] = (int)words[i];
}

/** Returns the address a number of rows below another. */
static __device__ __forceinline__ GpumeU64 below(GpumeU64 p, int stride, int rows)
{
    return p + (GpumeU64)(GpumeU32)stride * rows;
}

/** Samples of 8 bits are doubled when they are read, so that the mean of two is exact. */
#define DOUBLED (MVDENOISE_BYTES == 1)

/** Reads this lane's column of the match in a picture. */
static __device__ __forceinline__ void read_column(const Stack &s, int v[8], GpumeU64 copy, int field)
{
    const int lane   = (threadIdx.x & 24) + field;
    const GpumeU64 a = copy + (__shfl_sync(GPUME_WHOLE_WARP, s.match.a, lane) + s.lane * MVDENOISE_BYTES);
    const GpumeU64 b = copy + (__shfl_sync(GPUME_WHOLE_WARP, s.match.b, lane) + s.lane * MVDENOISE_BYTES);

    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] = (mvdenoise_sample(below(a, s.c.stride, i)) + mvdenoise_sample(below(b, s.c.stride, i)) + !DOUBLED) >>
               !DOUBLED;
}

/** Reads this lane's column of the patch itself. */
static __device__ __forceinline__ void read_own(const Stack &s, int v[8], GpumeU64 copy)
{
    const GpumeU64 at = copy + (s.c.first + (GpumeU32)(s.y * s.c.stride + (s.x + s.lane) * MVDENOISE_BYTES));

    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] = mvdenoise_sample(below(at, s.c.stride, i));
}

/** Returns the index in the stack of the patch of a picture; fields do not count the current picture. */
static __device__ __forceinline__ int rank_of(const Stack &s, int i)
{
    return gpume_popcount(s.exist & ((1u << (i - (i > OWN))) - 1)) + (i > OWN);
}

/** Transforms stacks of MOST patches, the most frequent number, over time. The matrix is symmetric. */
static __device__ __forceinline__ void over_whole(int c[MOST][8])
{
    GPUME_UNROLL for (int i = 0; i < 8; i++) {
        int both[2][MOST / 2], middle = c[OWN][i];

        GPUME_UNROLL for (int j = 0; j < OWN; j++) {
            both[0][j] = c[j][i] + c[MOST - 1 - j][i];
            both[1][j] = c[j][i] - c[MOST - 1 - j][i];
        }
        GPUME_UNROLL for (int k = 0; k < MOST; k++) {
            int sum = 1 << MVDENOISE_LOG2_TIME >> 1;

            GPUME_UNROLL for (int j = 0; j < OWN; j++)
                sum += mvdenoise_over_time[MOST - 1][k][j] * both[k & 1][j];
            if (!(k & 1))
                sum += mvdenoise_over_time[MOST - 1][k][OWN] * middle;
            c[k][i] = sum >> MVDENOISE_LOG2_TIME;
        }
    }
}

/** Transforms all pictures at each of the lane's positions over time. */
static __device__ __forceinline__ void over_time(const Stack &s, int c[MOST][8])
{
    if (s.are_whole) {
        over_whole(c);
        return;
    }
    GPUME_UNROLL for (int first = 0; first < 8; first += PART) {
        int sums[MOST][PART];

        GPUME_UNROLL for (int k = 0; k < MOST; k++) {
            GPUME_UNROLL for (int i = 0; i < PART; i++)
                sums[k][i] = 1 << MVDENOISE_LOG2_TIME >> 1;
            GPUME_UNROLL for (int j = 0; j < MOST; j++) {
                const int m = s.matrix[MOST * k + rank_of(s, j)];

                GPUME_UNROLL for (int i = 0; i < PART; i++)
                    sums[k][i] += m * c[j][first + i];
            }
        }
        GPUME_UNROLL for (int k = 0; k < MOST; k++) {
            GPUME_UNROLL for (int i = 0; i < PART; i++)
                c[k][first + i] = sums[k][i] >> MVDENOISE_LOG2_TIME;
        }
    }
}

/** Sums of squares of up to 10 bits fit into 32 bits. */
template<int BYTES> struct TextureOf { typedef GpumeU32 Texture; };
template<> struct TextureOf<2>       { typedef GpumeU64 Texture; };
typedef TextureOf<sizeof(MvdenoiseSample)>::Texture Texture;

/**
 * Computes the coefficients of a stack of noisy pictures or pilots. Pictures without a match have
 * coefficients of 0.
 * @return the sum of this lane's squared coefficients of the patch itself, limited, without the first
 */
static __device__ __forceinline__ Texture transform(const Stack &s, int c[MOST][8], const MvdenoiseCudaStacksArgs &args,
                                                   int noisy)
{
    Texture texture = 0;


    GPUME_UNROLL for (int j = 0; j < MOST; j++) {
        const int at        = MVDENOISE_MAX_RADIUS - OWN + j, field = j - (j > OWN);
        const GpumeU64 copy = noisy ? args.noisy[at] : args.pilot[at];

        GPUME_UNROLL for (int i = 0; i < 8; i++)
            c[j][i] = 0;
        /* the same for all threads */
        if (!copy)
            continue;
        if (j == OWN) {
            read_own(s, c[j], copy);
            GPUME_UNROLL for (int i = 0; i < 8; i++)
                c[j][i] <<= DOUBLED;
        } else {
            read_column(s, c[j], copy, field);
        }
        /* fraction bits are equivalent to a smaller shift */
        forward(c[j], s.base << DOUBLED, 7 - s.fraction + DOUBLED);
        transpose(s, c[j]);
        forward(c[j], 0, 8);
        if (j != OWN && !s.are_whole) {
            GPUME_UNROLL for (int i = 0; i < 8; i++)
                c[j][i] = s.exist >> field & 1 ? c[j][i] : 0;
        }
        if (SECOND && j == OWN) {
            GPUME_UNROLL for (int i = 0; i < 8; i++) {
                const Texture limited = gpume_min(FFABS(c[j][i]), s.most_texture);

                texture += s.lane || i ? limited * limited : 0;
            }
        }
    }
    over_time(s, c);
    return texture;
}

/** Sets coefficients that noise explains to 0. Returns the weight. */
static __device__ __forceinline__ GpumeU32 threshold(const Stack &s, int c[MOST][8], const MvdenoiseNoise *noise)
{
    const int first = c[0][0];
    /* a single patch has no mean over time */
    const int other = noise->threshold[1], mean = s.exist ? noise->threshold[0] : other;
    GpumeU32 left = 0;

    GPUME_UNROLL for (int k = 0; k < MOST; k++) {
        GPUME_UNROLL for (int i = 0; i < 8; i++) {
            const int stays = FFABS(c[k][i]) >= (k ? other : mean);

            left   += stays && (s.lane || k || i);
            c[k][i] = stays ? c[k][i] : 0;
        }
    }
    if (!s.lane)
        c[0][0] = first;
    return s.most_weight / (1 + mvdenoise_add_lanes(left, 1, MVDENOISE_CUDA_LANES));
}

/** Returns the address of four words of a lane's gains in shared memory, which saves registers. */
static __device__ __forceinline__ GpumeU32 *gains_of(GpumeU32 *gains, int k)
{
    return gains + 4 * (THREADS * k + threadIdx.x);
}

/** Computes the Wiener gains from the coefficients of the pilot, times 32768, two in a word. */
static __device__ __forceinline__ void find_gains(const Stack &s, GpumeU32 *gains, const int c[MOST][8],
                                                  const MvdenoiseRatios &ratios, GpumeU32 *weight)
{
    GpumeU32 squares = 0;

    GPUME_UNROLL for (int k = 0; k < MOST; k++) {
        GpumeU32 pairs[4];
        int4 words;

        GPUME_UNROLL for (int i = 0; i < 8; i++) {
            const int value      = s.lane || k || i ? c[k][i] : 0;
            const GpumeU32 ratio = (GpumeU32)gpume_min(FFABS(value), ratios.most) * (GpumeU32)ratios.reciprocal >>
                                   16;
            const GpumeU32 gain  = s.gains[ratio];

            pairs[i / 2] = i & 1 ? pairs[i / 2] | gain << 16 : gain;
            squares += (gain >> 7) * (gain >> 7);
        }
        words.x = (int)pairs[0];
        words.y = (int)pairs[1];
        words.z = (int)pairs[2];
        words.w = (int)pairs[3];
        *(int4 *)gains_of(gains, k) = words;
    }
    squares = mvdenoise_add_lanes(squares, 1, MVDENOISE_CUDA_LANES);
    *weight = (s.most_weight << 16) / ((1 << 16) + squares);
}

static __device__ __forceinline__ void filter(const Stack &s, int c[MOST][8], GpumeU32 *gains)
{
    const int first = c[0][0];

    GPUME_UNROLL for (int k = 0; k < MOST; k++) {
        GpumeU32 pairs[4];

        gpume_load4(pairs, gains_of(gains, k));
        GPUME_UNROLL for (int i = 0; i < 8; i++) {
            const int gain = pairs[i / 2] >> 16 * (i & 1) & 0xffff;

            c[k][i] = MVDENOISE_BYTES == 1 ? (c[k][i] * gain + (1 << 14)) >> 15
                                           : (int)(((long long)c[k][i] * gain + (1 << 14)) >> 15);
        }
    }
    if (!s.lane)
        c[0][0] = first;
}

/** Transforms the current picture's patch back and writes this lane's column. */
static __device__ __forceinline__ void back(const Stack &s, GpumeU64 dst, const int c[MOST][8], int depth, int is_there)
{
    const int max = ((1 << depth) - 1) << s.fraction, rank = rank_of(s, OWN);
    int v[8];
    int4 words;

    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] = 1 << MVDENOISE_LOG2_TIME >> 1;
    GPUME_UNROLL for (int k = 0; k < MOST; k++) {
        const int m = s.matrix[MOST * k + rank];

        GPUME_UNROLL for (int i = 0; i < 8; i++)
            v[i] += m * c[k][i];
    }
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] >>= MVDENOISE_LOG2_TIME;
    inverse(v, 8, 0);
    transpose(s, v);
    inverse(v, 7, s.lane & 1);
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        v[i] = av_clip(v[i] + (s.base << s.fraction), 0, max);
    words.x = v[0] | v[1] << 16;
    words.y = v[2] | v[3] << 16;
    words.z = v[4] | v[5] << 16;
    words.w = v[6] | v[7] << 16;
    if (is_there)
        *(int4 *)(dst + 2 * MVDENOISE_PATCH * s.lane) = words;
}

/** Finds the matches and the matrix, and computes the mean of the patch. */
static __device__ __forceinline__ void begin(const MvdenoiseCudaStacksArgs &args, Stack *s, const int *tables,
                                             int number)
{
    const int group = threadIdx.x & 24;
    GpumeU64 matches = 0;
    int column[8], exists;
    GpumeU32 sum = 0, exist, vector, end;

    GPUME_UNROLL for (int i = 0; i < MOST - 1; i++)
        matches = s->lane == i ? args.matches[MVDENOISE_MAX_RADIUS - OWN + i] : matches;
    vector     = matches ? mvdenoise_word(matches + 4ull * number) : MVDENOISE_NO_VECTOR;
    exists     = mvdenoise_is_vector(vector);
    vector     = exists ? vector : 0;
    end        = mvdenoise_end_of(s->c, s->x, s->y, vector);
    s->match   = mvdenoise_pair_of(s->c, s->plane, mvdenoise_fraction_of(vector));
    s->match.a += end;
    s->match.b += end;
    exist      = __ballot_sync(GPUME_WHOLE_WARP, exists);
    s->exist   = exist >> group & 0xff;
    s->are_whole = exist == ((1u << (MOST - 1)) - 1) * 0x01010101u;
    s->matrix  = tables + gpume_popcount(s->exist) * MOST * MOST;
    s->gains   = tables + MOST * MOST * MOST;
    read_own(*s, column, args.noisy[MVDENOISE_MAX_RADIUS]);
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        sum += column[i];
    s->base = (int)(mvdenoise_add_lanes(sum, 1, MVDENOISE_CUDA_LANES) + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES;
}

/** Shared memory of a thread block. */
struct Shared {
    GpumeU32 *tiles, *gains;
    int *tables;
};

static __device__ __forceinline__ Shared share(const MvdenoiseCudaStacksArgs &args, GpumeU32 *shared)
{
    Shared to;

    to.tiles  = shared;
    to.gains  = shared + THREADS / MVDENOISE_CUDA_LANES * MVDENOISE_CUDA_TILE;
    to.tables = (int *)to.gains + (SECOND ? MVDENOISE_CUDA_GAINS(MOST) : 0);
    for (int i = threadIdx.x; i < (SECOND ? MVDENOISE_CUDA_TABLE(MOST) : MOST * MOST * MOST); i += THREADS)
        to.tables[i] = (int)mvdenoise_word(args.table + 4ull * i);
    __syncthreads();
    return to;
}

/** Denoises the patch at s->x, s->y. */
static __device__ __forceinline__ void make(const MvdenoiseCudaStacksArgs &args, const Shared &shared, Stack *s,
                                            const MvdenoiseNoise *noise, int number, int is_there)
{
    int coefs[MOST][8];
    GpumeU32 weight = 0;

    begin(args, s, shared.tables, number);
    noise += mvdenoise_tone(s->base, args.depth);
    s->most_texture = s->textured ? mvdenoise_most_texture(noise->sigma, args.depth) : 0;
    /* not unrolled, because the instruction cache has room for only one copy */
    GPUME_NO_UNROLL for (int noisy = !SECOND; noisy < 2; noisy++) {
        const Texture texture = transform(*s, coefs, args, noisy);

        if (!SECOND)
            weight = threshold(*s, coefs, noise);
        else if (noisy)
            filter(*s, coefs, shared.gains);
        else
            find_gains(*s, shared.gains, coefs,
                       mvdenoise_ratios(noise->sigma, mvdenoise_add_lanes(texture, 1, MVDENOISE_CUDA_LANES),
                                        args.depth), &weight);
    }
    back(*s, args.results + 2ull * MVDENOISE_SAMPLES * number, coefs, args.depth, is_there);
    if (!s->lane && is_there)
        ((GpumeU16 *)args.weights)[number] = (GpumeU16)weight;
}

/**
 * grid:   MVDENOISE_CUDA_STACK_ROWS rows of patches of MVDENOISE_CUDA_STACK_THREADS / 8, of all components
 * block:  MVDENOISE_CUDA_STACK_THREADS
 * shared: MVDENOISE_CUDA_STACK_SHARED(MOST, SECOND) bytes
 */
GPUME_KERNEL_OF(MvdenoiseCudaStacksArgs, THREADS, RESIDENT)
{
    GPUME_SHARED(GpumeU32, words);
    Stack s;
    const MvdenoiseUnit u       = mvdenoise_unit<THREADS / MVDENOISE_CUDA_LANES, ROWS>(args.components, &s.c);
    const MvdenoiseNoise *noise = (const MvdenoiseNoise *)args.noise + u.component * MVDENOISE_TONES;
    Shared shared;

    if (!noise->sigma)
        return;
    shared     = share(args, words);
    s.most_weight = 1u << MVDENOISE_LOG2_WEIGHT(args.components.log2_step);
    s.plane    = args.plane;
    s.textured = args.textured >> u.component & 1;
    s.lane     = threadIdx.x % MVDENOISE_CUDA_LANES;
    s.tile     = shared.tiles + threadIdx.x / MVDENOISE_CUDA_LANES * MVDENOISE_CUDA_TILE;
    s.fraction = MVDENOISE_BYTES == 1 ? 2 : mvdenoise_fraction(args.depth);
    GPUME_NO_UNROLL for (int row = u.row; row < gpume_min(u.row + ROWS, s.c.rows); row++) {
        s.x = mvdenoise_x(u.col, row, s.c.w);
        s.y = mvdenoise_y(row, s.c.h, args.components.log2_step);
        make(args, shared, &s, noise, s.c.number + row * s.c.cols + u.col, u.is_there);
    }
}
