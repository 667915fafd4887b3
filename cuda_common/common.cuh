/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code that the kernels of all filters share, and CUDA functions that FFmpeg's cuda_runtime.h for clang
 * lacks. nvcc and the tests' host build have these functions themselves.
 */

#ifndef AVFILTER_GPUME_CUDA_COMMON_COMMON_CUH
#define AVFILTER_GPUME_CUDA_COMMON_COMMON_CUH

#if defined(__clang__) && defined(__CUDA__)
#define __shared__      __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif

/** Placed before a loop: GPUME_UNROLL unrolls the loop fully, GPUME_NO_UNROLL keeps it as a loop. */
#define GPUME_UNROLL    _Pragma("unroll")
#define GPUME_NO_UNROLL _Pragma("unroll 1")

/** The qualifiers of every function in a header that the host includes as well. */
#define GPUME_INLINE static __device__ __forceinline__
/** Tells these headers that they are compiled as device code. */
#define GPUME_DEVICE_CODE 1

typedef unsigned char      GpumeU8;
typedef unsigned short     GpumeU16;
typedef unsigned int       GpumeU32;
typedef unsigned long long GpumeU64;

#if defined(__clang__) && defined(__CUDA__)
#define __shfl_xor_sync(mask, v, lane)  ((GpumeU32)__nvvm_shfl_sync_bfly_i32(mask, v, lane, 31))
#define __shfl_sync(mask, v, lane)      ((GpumeU32)__nvvm_shfl_sync_idx_i32(mask, v, lane, 31))
#define __ballot_sync(mask, predicate)  __nvvm_vote_ballot_sync(mask, predicate)
#define __any_sync(mask, predicate)     __nvvm_vote_any_sync(mask, predicate)
#define __syncwarp()                    __nvvm_bar_warp_sync(~0u)
#define __syncthreads_or(predicate)     __nvvm_bar0_or(predicate)
#define __threadfence()                 __nvvm_membar_gl()
#define atomicMax(p, v)                 __nvvm_atom_max_gen_ui(p, v)
#define atomicMin(p, v)                 __nvvm_atom_min_gen_ui(p, v)
#define atomicExch(p, v)                ((GpumeU32)__nvvm_atom_xchg_gen_i((int *)(p), (int)(v)))
#endif

/* Loads from memory that the kernel does not write, hence neither volatile nor a memory clobber. */
#ifdef GPUME_HOST
template<typename T> static inline void gpume_load_global(T *v, const void *p) { *v = *(const T *)p; }
#else
static __device__ __forceinline__ void gpume_load_global(GpumeU32 *v, const void *p)
{
    asm("ld.global.u32 %0, [%1];" : "=r"(*v) : "l"(p));
}

static __device__ __forceinline__ void gpume_load_global(int2 *v, const void *p)
{
    asm("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v->x), "=r"(v->y) : "l"(p));
}

static __device__ __forceinline__ void gpume_load_global(int4 *v, const void *p)
{
    asm("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v->x), "=r"(v->y), "=r"(v->z), "=r"(v->w) : "l"(p));
}

/** The dynamic shared memory of the thread block. */
#define GPUME_SHARED(type, name) extern __shared__ __align__(16) type name[]

/* Access to words that other thread blocks of the same launch read or write. */
static __device__ __forceinline__ GpumeU32 gpume_load_volatile(const GpumeU32 *p)
{
    GpumeU32 v;

    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

static __device__ __forceinline__ void gpume_store_volatile(GpumeU32 *p, GpumeU32 v)
{
    asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}

static __device__ __forceinline__ GpumeU64 gpume_load_volatile(const GpumeU64 *p)
{
    GpumeU64 v;

    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(p));
    return v;
}

static __device__ __forceinline__ void gpume_store_volatile(GpumeU64 *p, GpumeU64 v)
{
    asm volatile("st.volatile.global.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory");
}
#endif

/**
 * Returns element i of an array of the arguments. Uses comparisons, because an index would make the compiler copy the
 * arguments to local memory.
 */
template<typename T, int NB>
static __device__ __forceinline__ T gpume_element(const T (&a)[NB], int i)
{
    T v = a[0];

    GPUME_UNROLL for (int n = 1; n < NB; n++)
        v = i == n ? a[n] : v;
    return v;
}

static __device__ __forceinline__ int gpume_min(int a, int b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ int gpume_max(int a, int b)
{
    return a > b ? a : b;
}

static __device__ __forceinline__ GpumeU32 gpume_umin(GpumeU32 a, GpumeU32 b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ GpumeU32 gpume_umax(GpumeU32 a, GpumeU32 b)
{
    return a > b ? a : b;
}

/** Returns a or b. Without this function, the compiler would select the address of an array's element instead of its
    value, and would keep the array in local memory. */
static __device__ __forceinline__ GpumeU32 gpume_select(int first, GpumeU32 a, GpumeU32 b)
{
    return first ? a : b;
}

#ifndef GPUME_HOST
/** Returns acc plus the absolute differences of the four bytes of a and b. */
static __device__ __forceinline__ GpumeU32 gpume_sad4(GpumeU32 a, GpumeU32 b,
                                                      GpumeU32 acc)
{
    GpumeU32 ret;

    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
        : "=r"(ret) : "r"(a), "r"(b), "r"(acc));
    return ret;
}

/** Returns acc plus the absolute differences of the two 16-bit halves of a and b. */
static __device__ __forceinline__ GpumeU32 gpume_sad2(GpumeU32 a, GpumeU32 b,
                                                      GpumeU32 acc)
{
    GpumeU32 ret;

    asm("sad.u32 %0, %1, %2, %3;"
        : "=r"(ret) : "r"(a & 0xffff), "r"(b & 0xffff), "r"(acc));
    asm("sad.u32 %0, %1, %2, %3;"
        : "=r"(ret) : "r"(a >> 16), "r"(b >> 16), "r"(ret));
    return ret;
}

#endif

/*
 * These functions compute with words that hold two half-precision numbers of IEEE 754. The bits of an integer below
 * 2048, read as a half-precision number, are the integer times 2^-24. So sums and differences of such integers are
 * exact while they are below 2048.
 */
#ifndef GPUME_HOST
static __device__ __forceinline__ GpumeU32 gpume_subtract_halves(GpumeU32 a, GpumeU32 b)
{
    GpumeU32 ret;

    asm("sub.f16x2 %0, %1, %2;" : "=r"(ret) : "r"(a), "r"(b));
    return ret;
}

/** Returns |a| + |b|. */
static __device__ __forceinline__ GpumeU32 gpume_add_absolute_halves(GpumeU32 a, GpumeU32 b)
{
    GpumeU32 ret;

    asm("{ .reg .b32 u, v;\n"
        "abs.f16x2 u, %1;\n"
        "abs.f16x2 v, %2;\n"
        "add.f16x2 %0, u, v; }\n" : "=r"(ret) : "r"(a), "r"(b));
    return ret;
}
#endif

/** Loads four words of shared memory at once, from an address that is a multiple of 16 bytes. */
static __device__ __forceinline__ void gpume_load4(GpumeU32 *v, const GpumeU32 *p)
{
#if defined(__clang__) && defined(__CUDA__)
    /* clang would split a vector load into four loads */
    asm volatile("{\n"
                 ".reg .u64 at;\n"
                 "cvta.to.shared.u64 at, %4;\n"
                 "ld.shared.v4.u32 {%0, %1, %2, %3}, [at];\n"
                 "}"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "l"(p) : "memory");
#elif defined(__NVCC__)
    const uint4 four = *(const uint4 *)p;

    v[0] = four.x;
    v[1] = four.y;
    v[2] = four.z;
    v[3] = four.w;
#else
    for (int i = 0; i < 4; i++)
        v[i] = p[i];
#endif
}

/**
 * Words of shared memory that are loaded four at a time, from addresses that are multiples of 16 bytes. The
 * addresses have 32 bits, because the compiler would move both halves of the 64-bit addresses of gpume_load4().
 */
struct GpumeSharedWords {
#if defined(__clang__) && defined(__CUDA__)
    GpumeU32 at;

    __device__ __forceinline__ GpumeSharedWords(const GpumeU32 *p)
    {
        asm("{\n"
            ".reg .u64 shared;\n"
            "cvta.to.shared.u64 shared, %1;\n"
            "cvt.u32.u64 %0, shared;\n"
            "}" : "=r"(at) : "l"(p));
    }

    /** Returns the words from word i on. */
    __device__ __forceinline__ GpumeSharedWords from(int i) const
    {
        GpumeSharedWords words = *this;

        words.at += (int)sizeof(GpumeU32) * i;
        return words;
    }

    /** Loads four words, beginning with word i + OFFSET. */
    template<int OFFSET>
    __device__ __forceinline__ void load4(GpumeU32 *v, int i) const
    {
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4+%5];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at + 4 * i), "n"(4 * OFFSET) : "memory");
    }
#else
    const GpumeU32 *at;

    __device__ __forceinline__ GpumeSharedWords(const GpumeU32 *p) : at(p) {}

    __device__ __forceinline__ GpumeSharedWords from(int i) const
    {
        return GpumeSharedWords(at + i);
    }

    template<int OFFSET>
    __device__ __forceinline__ void load4(GpumeU32 *v, int i) const
    {
        gpume_load4(v, at + i + OFFSET);
    }
#endif
};

/** Returns the number of bits that are set. */
static __device__ __forceinline__ int gpume_popcount(GpumeU32 bits)
{
#ifdef __NVCC__
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
}

/** Returns the number of the lowest bit that is set. For bits = 0 the result is undefined. */
static __device__ __forceinline__ int gpume_first_bit(GpumeU32 bits)
{
    return gpume_popcount((bits & (0u - bits)) - 1) & 31;
}

/** Returns the low word of hi:lo >> shift, with shift below 32. */
static __device__ __forceinline__ GpumeU32 gpume_funnel_shift(GpumeU32 lo, GpumeU32 hi, int shift)
{
    return (((GpumeU64)hi << 32) | lo) >> shift;
}

#define GPUME_WHOLE_WARP ~0u


/** The type of samples of a depth in bits. */
template<int DEPTH> struct GpumeSampleOf { typedef GpumeU16 Sample; };
template<> struct GpumeSampleOf<8>       { typedef GpumeU8  Sample; };

/** Begins the module's kernel, whose only parameter args has type Args. ... are the arguments of __launch_bounds__. */
#define GPUME_KERNEL_OF(Args, ...) \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) GPUME_CUDA_NAME(const Args args)

#endif /* AVFILTER_GPUME_CUDA_COMMON_COMMON_CUH */
