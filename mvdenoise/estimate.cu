/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Estimates the noise of a picture from what was measured of its blocks. A block of threads has a
 * component, the last one looks for a cut; the one that is done last puts together what is known, so
 * that the host need not know it.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

#define THREADS MVDENOISE_CUDA_ESTIMATE_THREADS
#define BINS    MVDENOISE_CUDA_BINS
/** Values that a thread reads at once, as each takes long. */
#define READ    8
/** Bits of a value below its first one by which values are told apart at first, together with where that is. */
#define MANTISSA (MVDENOISE_CUDA_LOG2_BINS - 6)

/** An energy, as it is in memory. */
template<int BYTES> struct EnergyOf { typedef GpumeU32 Energy; };
template<> struct EnergyOf<2>       { typedef GpumeU64 Energy; };
typedef EnergyOf<sizeof(MvdenoiseSample)>::Energy Energy;

#define NO_ENERGY ((Energy)~0ull)

/** What the threads share. */
struct Shared {
    GpumeU64 *sums;             ///< two of each warp
    GpumeU32 *bins;             ///< BINS, and two words
};

/** Adds up both values over all threads; all of them get the sums. */
static __device__ __forceinline__ void add_all(const Shared &s, GpumeU64 *a, GpumeU64 *b)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    *a = mvdenoise_add_lanes(*a, 1, 32);
    *b = mvdenoise_add_lanes(*b, 1, 32);
    __syncthreads();
    if (!lane) {
        s.sums[2 * warp]     = *a;
        s.sums[2 * warp + 1] = *b;
    }
    __syncthreads();
    *a = mvdenoise_add_lanes(s.sums[2 * lane],     1, 32);
    *b = mvdenoise_add_lanes(s.sums[2 * lane + 1], 1, 32);
}

/** Energies i, i + THREADS, ... of nb. */
static __device__ __forceinline__ void read_energies(Energy e[READ], const Energy *energies, int i, int nb)
{
    GPUME_UNROLL for (int n = 0; n < READ; n++)
        e[n] = i + n * THREADS < nb ? energies[i + n * THREADS] : NO_ENERGY;
}

/** Drops energies of bars, which are flat from one edge to the other. Returns how many count. */
static __device__ __forceinline__ GpumeU32 choose(const MvdenoiseCudaMeasureArgs &m, const Shared &s, GpumeU64 lively,
                                                  const MvdenoiseCudaComponent &c, Energy *energies)
{
    const int nb = c.cols * c.rows;
    GpumeU64 zeros = 0, all = 0;

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb; i += READ * THREADS) {
        Energy e[READ];

        read_energies(e, energies, i, nb);
        GPUME_UNROLL for (int n = 0; n < READ; n++) {
            const int at = i + n * THREADS;

            /* where there is an energy, there is one in its row and column */
            if (!e[n] && (mvdenoise_word(lively + 4ull * (at % c.cols)) != m.picture ||
                          mvdenoise_word(lively + 4ull * (c.cols + at / c.cols)) != m.picture)) {
                energies[at] = NO_ENERGY;
                e[n] = NO_ENERGY;
            }
            all += e[n] != NO_ENERGY;
        }
    }
    add_all(s, &all, &zeros);
    return (GpumeU32)all;
}

/** Finds the bin that has the energy of a rank, which becomes its rank in the bin. */
static __device__ __forceinline__ int find_bin(const Shared &s, GpumeU32 *rank)
{
    const int lane = threadIdx.x, part = BINS / 32;

    __syncthreads();
    if (lane < 32) {
        GpumeU32 sum = 0, end;

        /* lanes begin at different banks */
        GPUME_NO_UNROLL for (int i = 0; i < part; i++)
            sum += s.bins[lane * part + ((i + lane) & (part - 1))];
        end = sum;
        GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1) {
            const GpumeU32 before = __shfl_sync(GPUME_WHOLE_WARP, end, (lane - bit) & 31);

            end += lane >= bit ? before : 0;
        }
        end -= sum;
        if (*rank >= end && *rank - end < sum) {
            int i = lane * part;

            while (*rank - end >= s.bins[i])
                end += s.bins[i++];
            s.bins[BINS]     = i;
            s.bins[BINS + 1] = *rank - end;
        }
    }
    __syncthreads();
    *rank = s.bins[BINS + 1];
    return s.bins[BINS];
}

static __device__ __forceinline__ void clear_bins(const Shared &s)
{
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        s.bins[i] = 0;
    __syncthreads();
}

/** Returns the number of the highest bit that is set. */
static __device__ __forceinline__ int first_bit(GpumeU64 v)
{
#ifdef __NVCC__
    return 63 - __clzll(v);
#else
    return 63 - __builtin_clzll(v);
#endif
}

/** Returns the energy of a rank. */
static __device__ __forceinline__ GpumeU64 select(const Shared &s, const Energy *energies, int nb, GpumeU32 rank)
{
    GpumeU64 zeros = 0, none = 0, value;
    int bin, bits;

    clear_bins(s);
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb; i += READ * THREADS) {
        Energy e[READ];

        read_energies(e, energies, i, nb);
        GPUME_UNROLL for (int n = 0; n < READ; n++) {
            zeros += !e[n];
            if (e[n] && e[n] != NO_ENERGY) {
                const int first = first_bit(e[n]);

                atomicAdd(&s.bins[first << MANTISSA | (int)((GpumeU64)e[n] << (63 - first) >> (63 - MANTISSA) &
                                                             ((1 << MANTISSA) - 1))], 1u);
            }
        }
    }
    add_all(s, &zeros, &none);
    if (rank < zeros)
        return 0;
    rank -= (GpumeU32)zeros;
    bin   = find_bin(s, &rank);
    value = 1 << MANTISSA | (bin & ((1 << MANTISSA) - 1));
    bits  = (bin >> MANTISSA) - MANTISSA;
    if (bits < 0)
        value >>= -bits;
    /* then as many bits at a time as there are bins for */
    while (bits > 0) {
        const int now = gpume_min(bits, MVDENOISE_CUDA_LOG2_BINS);

        clear_bins(s);
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb; i += READ * THREADS) {
            Energy e[READ];

            read_energies(e, energies, i, nb);
            GPUME_UNROLL for (int n = 0; n < READ; n++)
                if ((GpumeU64)e[n] >> bits == value)
                    atomicAdd(&s.bins[(int)((GpumeU64)e[n] >> (bits - now)) & ((1 << now) - 1)], 1u);
        }
        bits -= now;
        value = value << now | find_bin(s, &rank);
    }
    return value;
}

/** Returns the mean energy of noise in the blocks of a component. */
static __device__ __forceinline__ GpumeU64 own_energy(const MvdenoiseCudaMeasureArgs &m, const Shared &s, int component)
{
    const MvdenoiseCudaComponent c = mvdenoise_component(m.components, component);
    Energy *energies = (Energy *)m.energies + c.number;
    const int nb = c.cols * c.rows;
    const GpumeU32 nb_counted = choose(m, s, mvdenoise_element(m.lively, component), c, energies);
    GpumeU64 mean;

    if (nb_counted < (m.halved ? MVDENOISE_HALVED_LEAST : 1))
        return 0;
    mean = select(s, energies, nb, (GpumeU32)((GpumeU64)nb_counted * MVDENOISE_QUANTILE / 256)) *
           MVDENOISE_FROM_QUANTILE >> 10;
    GPUME_NO_UNROLL for (int round = 0; round < MVDENOISE_ROUNDS; round++) {
        GpumeU64 sum = 0, n = 0;

        GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb; i += READ * THREADS) {
            Energy e[READ];

            read_energies(e, energies, i, nb);
            GPUME_UNROLL for (int k = 0; k < READ; k++) {
                sum += e[k] <= mean ? e[k] : 0;
                n   += e[k] <= mean;
            }
        }
        add_all(s, &sum, &n);
        mean = n ? sum / n * MVDENOISE_FROM_LOWER >> 10 : 0;
    }
    return mean;
}

/** Whether a picture shows something else than the one before, by the means of their blocks. */
static __device__ __forceinline__ int is_cut(const MvdenoiseCudaEstimateArgs &args, const Shared &s)
{
    const int nb = args.measured[0].components.c[0].cols * args.measured[0].components.c[0].rows;
    GpumeU64 sum = 0, difference = 0, spread = 0, none = 0;
    int mean;

    if (!args.before || !nb)
        return 0;
    for (int i = threadIdx.x; i < nb; i += THREADS)
        sum += mvdenoise_half(args.measured[0].means + 2ull * i);
    add_all(s, &sum, &none);
    mean = (int)(sum / nb);
    for (int i = threadIdx.x; i < nb; i += THREADS) {
        const int b = mvdenoise_half(args.measured[0].means + 2ull * i), a = mvdenoise_half(args.before + 2ull * i);

        difference += FFABS(a - b);
        spread     += FFABS(b - mean);
    }
    add_all(s, &difference, &spread);
    return 2 * difference > spread;
}

/** What another block of threads has found out. */
static __device__ __forceinline__ GpumeU64 read_own(const MvdenoiseCudaEstimate *e, int halved, int component)
{
    const GpumeU32 *words = (const GpumeU32 *)&e->own[halved][component];

    return (GpumeU64)gpume_load_volatile(words + 1) << 32 | gpume_load_volatile(words);
}

/** Sets the noise of the picture. One thread calls it. */
static __device__ __forceinline__ void conclude(const MvdenoiseCudaEstimateArgs &args, MvdenoiseCudaEstimate *e)
{
    const int first = !args.before || (!args.sigma && gpume_load_volatile(&e->is_cut));

    GPUME_NO_UNROLL for (int i = 0; i < args.measured[0].components.nb; i++) {
        long long sigma = args.sigma;
        int strength = 0;

        if (args.chosen >> i & 1) {
            if (!args.sigma) {
                const int own = mvdenoise_sigma(read_own(e, 0, i), read_own(e, 1, i), args.measured[0].depth);

                sigma = first ? own : (3 * e->sigma[i] + own + 2) >> 2;
                e->sigma[i] = (int)sigma;
            }
            strength = mvdenoise_strength(sigma, args.strength);
        }
        ((MvdenoiseNoise *)args.noise)[i] = mvdenoise_noise(strength, args.measured[0].depth);
    }
}

/**
 * grid:   components, these at half the size, and one more; 1 if the noise is given
 * block:  MVDENOISE_CUDA_ESTIMATE_THREADS
 * shared: MVDENOISE_CUDA_ESTIMATE_THREADS / 32 * 2 of 8 bytes, MVDENOISE_CUDA_BINS + 2 words
 */
GPUME_KERNEL_OF(MvdenoiseCudaEstimateArgs, MVDENOISE_CUDA_ESTIMATE_THREADS)
{
    GPUME_SHARED(GpumeU64, shared);
    const Shared s = { shared, (GpumeU32 *)(shared + THREADS / 32 * 2) };
    MvdenoiseCudaEstimate *e = (MvdenoiseCudaEstimate *)args.estimate;
    const int block = blockIdx.x, nb = args.measured[0].components.nb;

    if (!args.sigma && block == 2 * nb) {
        const int cut = is_cut(args, s);

        if (!threadIdx.x)
            e->is_cut = cut;
    } else if (!args.sigma && args.chosen >> (block % nb) & 1) {
        const GpumeU64 own = own_energy(args.measured[block / nb], s, block % nb);

        if (!threadIdx.x)
            e->own[block / nb][block % nb] = own;
    }
    if (threadIdx.x)
        return;
    __threadfence();
    if (atomicAdd(&e->nb_done, 1u) + 1 != (GpumeU32)args.grid)
        return;
    __threadfence();
    conclude(args, e);
    e->nb_done = 0;
}
