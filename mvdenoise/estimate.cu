/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Estimates the noise of a picture from the measurements of its blocks. Each component has
 * a thread block; an additional thread block looks for a cut. The thread block that ends last combines
 * the results, so the host does not wait.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

#define THREADS MVDENOISE_CUDA_ESTIMATE_THREADS
#define LEVELS  MVDENOISE_LEVELS
#define BINS    MVDENOISE_BINS
#define WARPS   (THREADS / 32)

/** Shared memory of a thread block. */
struct Shared {
    MvdenoiseBins bins;
    unsigned all[2][BINS];      ///< histograms of energies and of differences over all levels
    GpumeU64 sums[2 * WARPS];
    MvdenoiseCurve curves[GPUME_CUDA_COMPONENTS];
    int noisy[GPUME_CUDA_COMPONENTS], noisy_before[GPUME_CUDA_COMPONENTS], before[GPUME_CUDA_COMPONENTS];
    int calm[LEVELS];           ///< last bins of textures of calm blocks
    int is_last;
};

/** Adds two values over all threads; all threads get the sums. */
static __device__ __forceinline__ void add_all(Shared *s, GpumeU64 *a, GpumeU64 *b)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    *a = mvdenoise_add_lanes(*a, 1, 32);
    *b = mvdenoise_add_lanes(*b, 1, 32);
    __syncthreads();
    if (!lane) {
        s->sums[2 * warp]     = *a;
        s->sums[2 * warp + 1] = *b;
    }
    __syncthreads();
    *a = mvdenoise_add_lanes(s->sums[2 * lane],     1, 32);
    *b = mvdenoise_add_lanes(s->sums[2 * lane + 1], 1, 32);
}

/** Reads the bins of a component, and resets them to 0. */
static __device__ __forceinline__ void read_bins(Shared *s, unsigned *bins)
{
    unsigned *to = (unsigned *)&s->bins;

    for (int i = threadIdx.x; i < (int)(sizeof(MvdenoiseBins) / sizeof(*bins)); i += THREADS) {
        to[i]   = bins[i];
        bins[i] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * BINS; i += THREADS) {
        unsigned sum = 0;

        for (int level = 0; level < LEVELS; level++)
            sum += i < BINS ? s->bins.energies[level][i] : s->bins.matched[level][i - BINS];
        s->all[i / BINS][i % BINS] = sum;
    }
    __syncthreads();
}

/** Returns the number of values in bins; the lanes of a warp add them. */
static __device__ __forceinline__ unsigned count(const unsigned *bins)
{
    GpumeU32 nb = 0;

    for (int i = threadIdx.x % 32; i < BINS; i += 32)
        nb += bins[i];
    return mvdenoise_add_lanes(nb, 1, 32);
}

/** Counts the values of calm blocks. */
static __device__ __forceinline__ void count_calm(const MvdenoiseCudaEstimateArgs &args, Shared *s, int component)
{
    const MvdenoiseBlock *blocks = (const MvdenoiseBlock *)args.blocks;
    const int warp = threadIdx.x / 32;

    if (warp < LEVELS) {
        const unsigned nb = count(s->bins.textures[warp]);

        if (!(threadIdx.x % 32))
            s->calm[warp] = mvdenoise_calm_bin(s->bins.textures[warp], nb);
    }
    for (int i = 0; i < component; i++)
        blocks += args.nb_blocks[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < args.nb_blocks[component]; i += THREADS) {
        const MvdenoiseBlock b = blocks[i];

        if (b.matched == MVDENOISE_NO_BIN || b.texture > s->calm[b.level])
            continue;
        atomicAdd(&s->bins.calm[MVDENOISE_CALM_ENERGY][b.energy], 1u);
        atomicAdd(&s->bins.calm[MVDENOISE_CALM_MATCHED][b.matched], 1u);
        atomicAdd(&s->bins.calm[MVDENOISE_CALM_COARSE][b.coarse], 1u);
        atomicAdd(&s->bins.calm[MVDENOISE_CALM_TEXTURE][b.texture], 1u);
    }
    __syncthreads();
}

/** Evaluates the bins of a component; each warp handles some of them. */
static __device__ __forceinline__ void evaluate(Shared *s, MvdenoiseFound *f)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, level = warp >> 1, is_energy = !(warp & 1);
    const int other = warp - 2 * LEVELS - 2;    /* 0: the halved component; more: a histogram of calm blocks */
    const unsigned *bins;
    long long variance;
    unsigned nb;

    if (other > MVDENOISE_CALM)
        return;
    if (level < LEVELS)
        bins = is_energy ? s->bins.energies[level] : s->bins.matched[level];
    else if (level == LEVELS)
        bins = s->all[!is_energy];
    else
        bins = other ? s->bins.calm[other - 1] : s->bins.halved;
    nb       = count(bins);
    variance = !other ? mvdenoise_halved_variance(bins, nb) :
               other > 0 ? mvdenoise_calm_median(bins, nb, other - 1) :
               is_energy ? mvdenoise_fine_variance(bins, nb) : mvdenoise_total_variance(bins, nb);
    if (lane)
        return;
    if (!other) {
        f->nb_halved = nb;
        f->halved    = variance;
    } else if (other > 0) {
        f->calm[other - 1] = variance;
    } else if (is_energy) {
        f->nb_fine[level]  = nb;
        f->fine[level]     = variance;
    } else {
        f->nb_total[level] = nb;
        f->total[level]    = variance;
    }
}

/** Returns whether there is a cut between a picture and the previous one, from the means of their blocks. */
static __device__ __forceinline__ int is_cut(const MvdenoiseCudaEstimateArgs &args, Shared *s)
{
    const int nb = args.nb_means;
    GpumeU64 sum = 0, difference = 0, spread = 0, unused = 0;
    int mean;

    if (!args.means_before || !nb)
        return 0;
    for (int i = threadIdx.x; i < nb; i += THREADS)
        sum += mvdenoise_half(args.means + 2ull * i);
    add_all(s, &sum, &unused);
    mean = (int)(sum / nb);
    for (int i = threadIdx.x; i < nb; i += THREADS) {
        const int b = mvdenoise_half(args.means + 2ull * i), a = mvdenoise_half(args.means_before + 2ull * i);

        difference += FFABS(a - b);
        spread     += FFABS(b - mean);
    }
    add_all(s, &difference, &spread);
    return 2 * difference > spread;
}

/** Reads the results of another thread block. */
static __device__ __forceinline__ MvdenoiseFound read_found(const MvdenoiseCudaEstimate *e, int component)
{
    const GpumeU32 *words = (const GpumeU32 *)&e->found[component];
    MvdenoiseFound f;

    for (int i = 0; i < (int)(sizeof(f) / sizeof(*words)); i++)
        ((GpumeU32 *)&f)[i] = gpume_load_volatile(words + i);
    return f;
}

/** Updates the state of a component. Only one thread calls it. */
static __device__ __forceinline__ void learn(const MvdenoiseCudaEstimateArgs &args, MvdenoiseCudaEstimate *e, Shared *s,
                                             int component)
{
    const int chosen = args.chosen >> component & 1;
    MvdenoiseCurve *c = &s->curves[component];

    s->before[component] = 0;
    mvdenoise_level(c, args.sigma);
    if (chosen && !args.sigma) {
        const MvdenoiseFound found = read_found(e, component);
        const int anew = !args.means_before || gpume_load_volatile(&e->is_cut);

        s->before[component] = mvdenoise_learn(&e->known[component], &found, anew, args.has_field,
                                               args.nb_blocks[component]);
        *c = e->known[component].curve;
        if (args.single)
            mvdenoise_level(c, c->single);
    }
    s->noisy[component]        = chosen && mvdenoise_is_noisy(c, args.strength);
    s->noisy_before[component] = chosen && mvdenoise_is_noisy(c, args.strength_before);
    if (args.curves)
        ((MvdenoiseCurve *)args.curves)[component] = *c;
    if (args.curves && s->before[component])
        ((MvdenoiseCurve *)args.curves_before)[component] = *c;
}

/** Sets the noise of the picture. */
static __device__ __forceinline__ void conclude(const MvdenoiseCudaEstimateArgs &args, MvdenoiseCudaEstimate *e,
                                                Shared *s)
{
    if ((int)threadIdx.x < args.nb)
        learn(args, e, s, threadIdx.x);
    __syncthreads();
    for (int i = threadIdx.x; i < args.nb * MVDENOISE_TONES; i += THREADS) {
        const int component = i / MVDENOISE_TONES, tone = i % MVDENOISE_TONES;
        const MvdenoiseCurve *c = &s->curves[component];

        ((MvdenoiseNoise *)args.noise)[i] = mvdenoise_noise_at(c, tone, args.strength, s->noisy[component], args.depth);
        if (s->before[component])
            ((MvdenoiseNoise *)args.noise_before)[i] =
                mvdenoise_noise_at(c, tone, args.strength_before, s->noisy_before[component], args.depth);
    }
}

/**
 * grid:   one thread block for each component, and one more; only one if the noise is given
 * block:  MVDENOISE_CUDA_ESTIMATE_THREADS
 * shared: sizeof(Shared), at most MVDENOISE_CUDA_ESTIMATE_SHARED
 */
GPUME_KERNEL_OF(MvdenoiseCudaEstimateArgs, MVDENOISE_CUDA_ESTIMATE_THREADS)
{
    GPUME_SHARED(GpumeU64, shared);
    Shared *s = (Shared *)shared;
    MvdenoiseCudaEstimate *e = (MvdenoiseCudaEstimate *)args.estimate;
    const int block = blockIdx.x;

    if (!args.sigma && block == args.nb) {
        const int cut = is_cut(args, s);

        if (!threadIdx.x)
            e->is_cut = cut;
    } else if (!args.sigma && args.chosen >> block & 1) {
        read_bins(s, (unsigned *)((MvdenoiseBins *)args.bins + block));
        if (args.has_field)
            count_calm(args, s, block);
        evaluate(s, &e->found[block]);
    }
    __threadfence();
    __syncthreads();
    if (!threadIdx.x)
        s->is_last = atomicAdd(&e->nb_done, 1u) + 1 == (GpumeU32)args.grid;
    __syncthreads();
    if (!s->is_last)
        return;
    __threadfence();
    conclude(args, e, s);
    if (!threadIdx.x)
        e->nb_done = 0;
}
