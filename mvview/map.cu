/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the longest vector if args.next is set. Otherwise, computes the flow: the colour of each vector,
 * and the vector of each cell of 4x4 samples. Motion fields need no vectors of cells, because the grid
 * of blocks determines them; only the first field is drawn as flow.
 */

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvview/fields.cuh"

/** Sets args.fields.longest to the maximum of length over all threads of the launch, and clears args.next. */
static __device__ __forceinline__ void mvview_longest(const MvviewCudaMapArgs &args, unsigned length)
{
    for (int lanes = 16; lanes; lanes /= 2) {
        const unsigned other = __shfl_xor_sync(GPUME_WHOLE_WARP, length, lanes);

        length = FFMAX(length, other);
    }
    if (threadIdx.x % 32 == 0 && length)
        atomicMax((GpumeU32 *)args.fields.longest, length);
    if (!(blockIdx.x | blockIdx.y | threadIdx.x))
        *(GpumeU32 *)args.next = 0;
}

/**
 * grid:   x one thread per vector or block, y fields
 * block:  MVVIEW_CUDA_MAP_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvviewCudaMapArgs, MVVIEW_CUDA_MAP_THREADS)
{
    const MvviewCudaCanvas *canvas = (const MvviewCudaCanvas *)args.canvas;
    const MvviewCudaVector *vectors = (const MvviewCudaVector *)args.vectors;
    const int i = blockIdx.x * MVVIEW_CUDA_MAP_THREADS + threadIdx.x;
    GpumeU32 *cells = (GpumeU32 *)args.cells;
    GpumeU16 *colour = (GpumeU16 *)args.colours + 4ll * i;
    unsigned length = 0, key, full;
    unsigned char rgb[3];
    int dx = 0, dy = 0;

    if (i < args.nb) {
        if (args.fields.nb) {
            const GpumeBlockVector v = mvview_read(args.fields, blockIdx.y, i);

            dx = v.dx;
            dy = v.dy;
        } else {
            dx = vectors[i].dx;
            dy = vectors[i].dy;
        }
        length = mvview_sqrt((unsigned long long)((long long)dx * dx + (long long)dy * dy));
    }
    if (args.next)
        mvview_longest(args, length);
    if (args.next || i >= args.nb)
        return;
    full = mvview_full(args.fields);
    if (args.nb_comps == 1)
        rgb[0] = rgb[1] = rgb[2] = FFMIN(length, full) * 255ull / full;
    else
        mvview_wheel(rgb, dx, dy, length, full);
    for (int c = 0; c < args.nb_comps; c++)
        colour[c] = mvview_component(canvas->matrix[c], canvas->offset[c], rgb[0], rgb[1], rgb[2],
                                     args.depth);

    if (args.fields.nb)
        return;
    key = i + 1 + (vectors[i].y1 & MVVIEW_CUDA_FUTURE ? 0 : args.nb);
    for (int y = vectors[i].y0; y < (vectors[i].y1 & ~MVVIEW_CUDA_FUTURE); y++)
        for (int x = vectors[i].x0; x < vectors[i].x1; x++)
            atomicMax(cells + (long long)y * args.cells_w + x, key);
}
