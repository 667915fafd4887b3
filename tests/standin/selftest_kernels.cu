/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Kernels for the stand-in's tests: correct kernels, and kernels with one fault each, which the
 * stand-in must detect.
 */

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

extern "C" {

/* One barrier is missing. */
__global__ void st_no_barrier(const u32 *in, u32 *out)
{
    GPUME_SHARED(u32, s);
    const u32 t = threadIdx.x;

    s[t] = in[t];
    __syncthreads();
    for (u32 k = blockDim.x / 2; k; k /= 2)
        if (t < k)
            s[t] += s[t + k];
    if (!t)
        *out = s[0];
}

__global__ void st_read_past(const u32 *in, u32 *out, int n)
{
    out[threadIdx.x] = in[(int)threadIdx.x + n];
}

__global__ void st_write_past(u8 *out, int n)
{
    out[n] = (u8)n;
}

__global__ void st_shared_past(u32 *out)
{
    GPUME_SHARED(u32, s);

    s[threadIdx.x + 1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void st_shared_unwritten(u32 *out)
{
    GPUME_SHARED(u32, s);

    if (threadIdx.x != 5)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

/* Shared memory does not persist from one block to the next. */
__global__ void st_shared_left_over(u32 *out)
{
    GPUME_SHARED(u32, s);

    if (blockIdx.x == 0)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void st_copy(u32 *out, const u32 *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

__global__ void st_fill(u32 *out, int n, u32 value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = value + i;
}

__global__ void st_add(u32 *out, int n, u32 value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] += value;
}

__global__ void st_all_write(u32 *out)
{
    *out = threadIdx.x;
}

__global__ void st_byte_race(u8 *out)
{
    out[threadIdx.x / 2] = (u8)threadIdx.x;
}

__global__ void st_blocks_write(u32 *out)
{
    if (!threadIdx.x)
        *out = blockIdx.x;
}

/* One block writes what the other blocks read. */
__global__ void st_blocks_read(u32 *out, u32 *sum)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 3)
        out[0] = 1;
    else
        sum[blockIdx.x] = out[0];
}

/* The last block sums what all blocks have written. */
static __forceinline__ void last_block(u32 *parts, u32 *counter, u32 *out, bool fence)
{
    if (threadIdx.x)
        return;
    parts[blockIdx.x] = blockIdx.x + 1;
    if (fence)
        __threadfence();
    if (atomicAdd(counter, 1) + 1 < gridDim.x)
        return;
    __threadfence();
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; i++)
        sum += parts[i];
    *out = sum;
}

__global__ void st_last_block_unfenced(u32 *parts, u32 *counter, u32 *out)
{
    last_block(parts, counter, out, false);
}

__global__ void st_divergent_barrier(u32 *out)
{
    if (threadIdx.x & 1)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

/* Lane 0 waits for lane 1, which waits for lane 2. */
__global__ void st_lane_overlap(u32 *out)
{
    if (threadIdx.x < 3)
        __syncwarp(threadIdx.x == 0 ? 0x3u : 0x6u);
    out[threadIdx.x] = 1;
}

__global__ void st_stuck_warp(u32 *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, threadIdx.x, 0);
}

__global__ void st_lane_gone(u32 *out)
{
    if (threadIdx.x == 7)
        return;
    out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 1);
}

__global__ void st_lane_masks(u32 *out)
{
    const u32 mask = threadIdx.x == 9 ? 0xFFFFFEFFu : 0xFFFFFFFFu;

    out[threadIdx.x] = __shfl_xor_sync(mask, threadIdx.x, 1);
}

__global__ void st_lane_left_out(u32 *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_xor_sync(0xFFFFu, threadIdx.x, 16);
}

/* Exchanges words between lanes through shared memory, which needs __syncwarp. */
static __forceinline__ void neighbour(u32 *out, u32 *s, u32 mask, u32 other, bool sync)
{
    s[threadIdx.x] = threadIdx.x * 3;
    if (sync)
        __syncwarp(mask);
    out[threadIdx.x] = s[other];
}

__global__ void st_warp_lockstep(u32 *out)
{
    GPUME_SHARED(u32, s);
    neighbour(out, s, 0xFFFFFFFFu, threadIdx.x ^ 1, false);
}

__global__ void st_halves_crossed(u32 *out)
{
    GPUME_SHARED(u32, s);
    const u32 mask = threadIdx.x & 16 ? 0xFFFF0000u : 0xFFFFu;

    neighbour(out, s, mask, threadIdx.x ^ 16, true);
}

/* Many lanes read a word, then one lane writes it, with __syncwarp instead of a barrier. */
__global__ void st_read_then_write(u32 *out, int sync)
{
    GPUME_SHARED(u32, s);
    u32 sum = 0;

    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int i = 0; i < 32; i++)
        sum += s[i];
    if (sync)
        __syncwarp();
    if (threadIdx.x == 13)
        s[4] = 0;
    out[threadIdx.x] = sum;
}

__global__ void st_misaligned(const u32 *in, u32 *out, int offset)
{
    const uint4 v = *(const uint4 *)(in + offset);

    out[0] = v.x + v.y + v.z + v.w;
}

__global__ void st_null(const u32 *in, u32 *out)
{
    out[threadIdx.x] = *in;
}

__global__ void st_ldg(u32 *data, u32 *out)
{
    data[threadIdx.x] = 1;
    out[threadIdx.x]  = __ldg(&data[threadIdx.x]);
}

__global__ void st_shift(u32 *out, int by)
{
    out[threadIdx.x] = 1 << by;
}

__global__ void st_overflow(int *out, int a)
{
    out[threadIdx.x] = a + a;
}

__global__ void st_index(int *out, int i)
{
    int local[4] = { 1, 2, 3, 4 };

    out[threadIdx.x] = local[i];
}

/* Waits for a word that no other thread writes. */
__global__ void st_spin(volatile u32 *flag, u32 *out)
{
    while (!*flag)
        ;
    out[threadIdx.x] = 1;
}

/* Waits until another launch, which may not have begun, writes the word. */
__global__ void st_wait(const u32 *word)
{
    while (!standin_load_volatile(word))
        ;
}

/* Blocks run in the order of their tickets; each reads what the previous one has stored. */
static __forceinline__ void chain(u32 *words, u32 *ticket, u32 *out, bool waits, bool is_plain)
{
    GPUME_SHARED(u32, first);

    if (threadIdx.x == 0)
        first[0] = atomicAdd(ticket, 1);
    __syncthreads();
    const u32 i = first[0];
    u32 word = 1;

    if (i)
        do {
            word = is_plain ? words[i - 1] : standin_load_volatile(words + i - 1);
        } while (waits && !word);
    out[i * blockDim.x + threadIdx.x] = word;
    if (threadIdx.x == 0)
        standin_store_volatile(words + i, word + 1);
}

__global__ void st_chain_plain(u32 *words, u32 *ticket, u32 *out)
{
    chain(words, ticket, out, true, true);
}

__global__ void st_trap(u32 *out)
{
    if (threadIdx.x == 2)
        __trap();
    out[threadIdx.x] = 1;
}

__global__ void st_atomic_and_plain(u32 *out)
{
    if (threadIdx.x & 1)
        atomicAdd(out, 1);
    else
        *out = 0;
}

}

/* Must be found although a macro writes it; the template must not be taken for a kernel. */
template<typename T> __global__ void st_template(T *out)
{
    out[threadIdx.x] = 1;
}

#define MADE(name, type) \
    extern "C" __global__ void __launch_bounds__(64) st_made_##name(type *out) { st_template<type>(out); }
MADE(8,  u8)
MADE(32, u32)
