/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes: decides for each root which nodes are split, then writes its leaves
 * behind the leaves of earlier roots.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/search_args.h"
#include "libavfilter/gpume/field/field_args.h"

/** A root; each thread block has one. */
struct GpumeTreeRoot {
    const GpumeCudaTreeArgs &a;
    int z;                          // field
    int last;                       // size of roots
    int bx, by;

    __device__ __forceinline__ GpumeTreeRoot(const GpumeCudaTreeArgs &args)
        : a(args), z(blockIdx.z), last(args.nb_sizes - 1),
          bx(blockIdx.x), by(blockIdx.y) { }

    __device__ __forceinline__ int bw() const { return a.sizes[last].bw; }
    __device__ __forceinline__ int bh() const { return a.sizes[last].bh; }

    __device__ __forceinline__ GpumeCudaRoot *decided(int x) const
    {
        return (GpumeCudaRoot *)a.roots + ((GpumeU64)z * bh() + by) * bw() + x;
    }

    /** Returns the index of node (x, y) of a size in the arrays of its field; -1: the node is outside the picture. */
    __device__ __forceinline__ long long place(int size, int x, int y) const
    {
        const GpumeCudaTreeSize &s = a.sizes[size];
        const int column = (bx << (last - size)) + x;
        const int row    = (by << (last - size)) + y;

        return column < s.bw && row < s.bh ? ((long long)z * s.bh + row) * s.bw + column : -1;
    }

    __device__ __forceinline__ const GpumeU32 *vector(int size, long long place) const
    {
        return (const GpumeU32 *)a.sizes[size].mvs + place * GPUME_VECTOR_WORDS;
    }

    __device__ __forceinline__ GpumeVector motion(int size, long long place) const
    {
        const GpumeU32 *mv = vector(size, place);
        GpumeVector v;

        v.dx = (short)mv[6];
        v.dy = (short)mv[7];
        return v;
    }

    __device__ __forceinline__ GpumeVector predictor(int size, int x, int y) const
    {
        GpumeVector n[GPUME_ROOT_NEIGHBOURS];

        if (size < last)
            return motion(size + 1, place(size + 1, x >> 1, y >> 1));
        GPUME_UNROLL for (int i = 0; i < GPUME_ROOT_NEIGHBOURS; i++) {
            const int at = gpume_root_neighbour(i, bx, by, bw());

            n[i].dx = n[i].dy = 0;
            if (at >= 0)
                n[i] = motion(last, (long long)z * bh() * bw() + at);
        }
        return gpume_root_predictor(n, by);
    }
};

/** Returns the index of the first node of a size, after all nodes of smaller sizes. @param last size of roots */
static __device__ __forceinline__ int gpume_first_node(int size, int last)
{
    int first = 0;

    for (int i = 0; i < size; i++)
        first += 1 << 2 * (last - i);
    return first;
}

/** Returns the even bits of a number: the column of a block in the order in which a tree is visited. */
static __device__ __forceinline__ int gpume_even_bits(int n)
{
    int even = 0;

    GPUME_UNROLL for (int i = 0; i < GPUME_MAX_SIZES - 1; i++)
        even |= (n >> 2 * i & 1) << i;
    return even;
}

#if GPUME_CUDA_VARIANT == 0

/** Cost of each node, and its number of leaves and bits. */
struct GpumeTreeNodes {
    GpumeU32 *cost;
    GpumeU32 *made;                 // bits, and leaves times LEAF
};

#define LEAF 0x10000u

static_assert(GPUME_CUDA_TREE_NODES * (2 * GPUME_MAX_COMPONENT_BITS + 1) < LEAF, "bits of a root");

/** Stores the cost and the bits of a node that is not split; zeros if the node is outside the picture. */
static __device__ __forceinline__ void
gpume_leaf(const GpumeTreeRoot &r, GpumeTreeNodes &n, int node)
{
    GpumeU32 cost = 0, made = 0;
    long long place;
    int size = 0, i = node, log2, x, y;

    while (i >= 1 << 2 * (r.last - size))
        i -= 1 << 2 * (r.last - size++);
    log2  = r.last - size;
    x     = i & ((1 << log2) - 1);
    y     = i >> log2;
    place = r.place(size, x, y);
    if (place >= 0) {
        const GpumeU32 sad = ((const GpumeU32 *)r.a.sizes[size].costs)[place];
        const int bits = gpume_vector_bits(r.motion(size, place), r.predictor(size, x, y)) + (size > 0);

        cost = sad + gpume_rate(r.a.bit_cost, bits);
        made = LEAF + bits;
    }
    n.cost[node] = cost;
    n.made[node] = made;
}

/** Decides whether node i of a size from 1 on is split, after its children. Returns whether it is split. */
static __device__ __forceinline__ int
gpume_decide(const GpumeTreeRoot &r, GpumeTreeNodes &n, int size, int i)
{
    const int log2  = r.last - size;
    const int x     = i & ((1 << log2) - 1), y = i >> log2;
    const int node  = gpume_first_node(size, r.last) + i;
    const int child = gpume_first_node(size - 1, r.last) + (2 * y << (log2 + 1)) + 2 * x;
    GpumeU32 split  = gpume_rate(r.a.bit_cost, 1), made = 1;

    if (!n.made[node])
        return 0;
    GPUME_UNROLL for (int j = 0; j < 4; j++) {
        const int at = child + (j & 1) + ((j >> 1) << (log2 + 1));

        split += n.cost[at];
        made  += n.made[at];
    }
    if (split >= n.cost[node])
        return 0;
    n.cost[node] = split;
    n.made[node] = made;
    return 1;
}

/** Writes the decisions of a root. */
static __device__ __forceinline__ void
gpume_write_root(const GpumeTreeRoot &r, const GpumeTreeNodes &n, const GpumeU32 (&splits)[GPUME_CUDA_TREE_SPLITS])
{
    const int node = gpume_first_node(r.last, r.last);
    GpumeCudaTreeSums *sums = (GpumeCudaTreeSums *)(r.z ? r.a.sums[1] : r.a.sums[0]);
    GpumeU32 *rows = (GpumeU32 *)(r.z ? r.a.rows[1] : r.a.rows[0]);
    GpumeCudaRoot *root = r.decided(r.bx);

    root->nb = n.made[node] / LEAF;
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_TREE_SPLITS; i++)
        root->splits[i] = splits[i];
    atomicAdd(&rows[r.by], n.made[node] / LEAF);
    atomicAdd(&sums->nb,   (GpumeU64)(n.made[node] / LEAF));
    atomicAdd(&sums->bits, (GpumeU64)(n.made[node] % LEAF));
    atomicAdd(&sums->rd,   (GpumeU64)n.cost[node]);
}

/**
 * grid:   roots in a row, rows of them, fields
 * block:  whole warps, a thread for each node
 * shared: GPUME_CUDA_TREE_DECIDE_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaTreeArgs, GPUME_CUDA_TREE_DECIDE_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeTreeRoot r(args);
    GpumeTreeNodes n;
    GpumeU32 splits[GPUME_CUDA_TREE_SPLITS] = { 0 };
    int nb = 0;                     // nodes that could be split

    n.cost = shared;
    n.made = shared + GPUME_CUDA_TREE_NODES;
    if (threadIdx.x < gpume_first_node(r.last + 1, r.last))
        gpume_leaf(r, n, threadIdx.x);
    __syncthreads();
    if (threadIdx.x >= 32)
        return;

    GPUME_NO_UNROLL for (int size = 1; size <= r.last; size++) {
        const int all = 1 << 2 * (r.last - size);

        GPUME_NO_UNROLL for (int first = 0; first < all; first += 32) {
            const int i = first + (int)threadIdx.x;
            const int is_split  = i < all && gpume_decide(r, n, size, i);
            const GpumeU32 bits = __ballot_sync(GPUME_WHOLE_WARP, is_split);

            GPUME_UNROLL for (int j = 0; j < GPUME_CUDA_TREE_SPLITS; j++) {
                if (nb / 32 == j)
                    splits[j] |= bits << nb % 32;
                if (nb % 32 && nb / 32 + 1 == j)
                    splits[j] |= bits >> (32 - nb % 32);
            }
            nb += gpume_min(all - first, 32);
        }
        __syncwarp();
    }
    if (!threadIdx.x)
        gpume_write_root(r, n, splits);
}

#else

/** Returns whether node i of a size is split. */
static __device__ __forceinline__ int
gpume_is_split(const GpumeCudaRoot &root, int size, int last, int i)
{
    const int bit = gpume_first_node(size, last) - (1 << 2 * last) + i;
    const GpumeU32 word = bit < 32 ? root.splits[0] : bit < 64 ? root.splits[1] : root.splits[2];

    return word >> bit % 32 & 1;
}

/** Returns the size of the leaf that contains a smallest block of a root. */
static __device__ __forceinline__ int
gpume_leaf_size(const GpumeCudaRoot &root, int last, int x, int y)
{
    int size = last;

    while (size && gpume_is_split(root, size, last, (y >> size) << (last - size) | x >> size))
        size--;
    return size;
}

/** Makes the smallest block (x, y) of a root, with the vector of its leaf, which is mv. */
static __device__ __forceinline__ void
gpume_make_block(const GpumeTreeRoot &r, int x, int y, const GpumeU32 (&mv)[GPUME_VECTOR_WORDS], GpumeU32 *dst)
{
    GpumeBox b;

    b.x0 = ((r.bx << r.last) + x) * r.a.block;
    b.y0 = ((r.by << r.last) + y) * r.a.block;
    b.w  = gpume_min(r.a.block, r.a.width  - b.x0);
    b.h  = gpume_min(r.a.block, r.a.height - b.y0);
    GPUME_UNROLL for (int i = 0; i < GPUME_VECTOR_WORDS; i++)
        dst[i] = gpume_subpel_vector_word(i, (int)mv[0], &b, (int)mv[6], (int)mv[7], r.a.pel,
                                          (mv[4] | mv[5]) != 0);
}

/** Writes the smallest blocks: a warp writes a row of the root, consecutive words at once. All threads call it. */
static __device__ __forceinline__ void
gpume_write_blocks(const GpumeTreeRoot &r, const GpumeU32 *blocks)
{
    const GpumeCudaTreeSize &s = r.a.sizes[0];
    const int x  = r.bx << r.last, y = r.by << r.last;
    const int nx = gpume_min(1 << r.last, s.bw - x), ny = gpume_min(1 << r.last, s.bh - y);
    GpumeU32 *dst = (GpumeU32 *)(r.z ? r.a.blocks[1] : r.a.blocks[0]) +
                    ((GpumeU64)y * s.bw + x) * GPUME_VECTOR_WORDS;

    GPUME_NO_UNROLL for (int row = threadIdx.x / 32; row < ny; row += blockDim.x / 32)
        GPUME_NO_UNROLL for (int i = threadIdx.x % 32; i < nx * GPUME_VECTOR_WORDS; i += 32)
            dst[(GpumeU64)row * s.bw * GPUME_VECTOR_WORDS + i] = blocks[(row << r.last) * GPUME_VECTOR_WORDS + i];
}

/** Returns the number of leaves of all earlier roots; every warp adds them up. */
static __device__ __forceinline__ GpumeU32 gpume_leaves_before(const GpumeTreeRoot &r)
{
    const GpumeU32 *rows = (const GpumeU32 *)(r.z ? r.a.rows[1] : r.a.rows[0]);
    GpumeU32 sum = 0;

    GPUME_NO_UNROLL for (int y = threadIdx.x % 32; y < r.by; y += 32)
        sum += rows[y];
    GPUME_NO_UNROLL for (int x = threadIdx.x % 32; x < r.bx; x += 32)
        sum += r.decided(x)->nb;
    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
    return sum;
}

/**
 * grid:   roots in a row, rows of them, fields
 * block:  whole warps, a thread for each of the smallest blocks
 * shared: GPUME_CUDA_TREE_WRITE_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaTreeArgs, GPUME_CUDA_TREE_WRITE_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeTreeRoot r(args);
    GpumeU32 *made = shared + GPUME_CUDA_TREE_WRITE_THREADS / 32;
    const int i = threadIdx.x, lane = i % 32;
    const int x = gpume_even_bits(i), y = gpume_even_bits(i >> 1);
    const GpumeCudaRoot root = *r.decided(r.bx);
    const GpumeU64 first = gpume_leaves_before(r);
    GpumeU32 mv[GPUME_VECTOR_WORDS];
    int size = 0, begins = 0, rank;
    long long place = -1;

    if (i < 1 << 2 * r.last && r.place(0, x, y) >= 0) {
        size   = gpume_leaf_size(root, r.last, x, y);
        place  = r.place(size, x >> size, y >> size);
        begins = !(i & ((1 << 2 * size) - 1));
    }

    const GpumeU32 all = __ballot_sync(GPUME_WHOLE_WARP, begins);

    if (!lane)
        shared[i / 32] = gpume_popcount(all);
    if (place >= 0) {
        GPUME_UNROLL for (int j = 0; j < GPUME_VECTOR_WORDS; j += 2)
            gpume_load_row<2>(mv + j, (const GpumeU8 *)(r.vector(size, place) + j));
        gpume_make_block(r, x, y, mv, made + ((y << r.last) + x) * GPUME_VECTOR_WORDS);
    }
    __syncthreads();
    gpume_write_blocks(r, made);
    __syncthreads();

    /* behind the leaves of the previous warps */
    rank = gpume_popcount(all & ((1u << lane) - 1));
    for (int j = 0; j < i / 32; j++)
        rank += shared[j];
    if (begins) {
        GPUME_UNROLL for (int j = 0; j < GPUME_VECTOR_WORDS; j++)
            made[rank * GPUME_VECTOR_WORDS + j] = mv[j];
        ((GpumeU32 *)(r.z ? r.a.costs[1] : r.a.costs[0]))[first + rank] =
            ((const GpumeU32 *)r.a.sizes[size].costs)[place];
        ((GpumeU8 *)(r.z ? r.a.leaf_sizes[1] : r.a.leaf_sizes[0]))[first + rank] = (GpumeU8)size;
    }
    __syncthreads();

    GpumeU32 *mvs = (GpumeU32 *)(r.z ? r.a.mvs[1] : r.a.mvs[0]) + first * GPUME_VECTOR_WORDS;

    GPUME_NO_UNROLL for (int j = i; j < (int)root.nb * GPUME_VECTOR_WORDS; j += blockDim.x)
        mvs[j] = made[j];
}

#endif
