/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code common to the kernels of all filters, and what FFmpeg's cuda_runtime.h for
 * clang lacks of CUDA. nvcc and the tests' host build bring those themselves.
 */

#ifndef AVFILTER_GPUME_CUDA_COMMON_CUH
#define AVFILTER_GPUME_CUDA_COMMON_CUH

#if defined(__clang__) && defined(__CUDA__)
#define __shared__      __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif

/** Before a loop: all of it, or none, is unrolled. */
#define GPUME_UNROLL    _Pragma("unroll")
#define GPUME_NO_UNROLL _Pragma("unroll 1")

/** Begins every function in a header that the host reads, too. */
#define GPUME_INLINE static __device__ __forceinline__
/** Tells such a header that it is device code. */
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
#define atomicMax(p, v)                 __nvvm_atom_max_gen_ui(p, v)
#endif

/* Loads from planes: of what the kernel does not write, hence neither volatile nor a clobber. */
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

/** All dynamic shared memory of the block of threads. */
#define GPUME_SHARED(type, name) extern __shared__ __align__(16) type name[]

/* A word that other blocks of threads write or read in the same launch. */
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
#endif

static __device__ __forceinline__ int gpume_min(int a, int b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ int gpume_max(int a, int b)
{
    return a > b ? a : b;
}

/** The module's kernel, whose only parameter is an Args, with the arguments of __launch_bounds__. */
#define GPUME_KERNEL_OF(Args, ...) \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) GPUME_CUDA_NAME(const Args args)

#endif /* AVFILTER_GPUME_CUDA_COMMON_CUH */
