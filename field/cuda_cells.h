/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The cells of a frame's motion fields on the device, for filters that work on CUDA frames. Fields that a
 * search has left on the device are read there; other vectors are uploaded once.
 */

#ifndef AVFILTER_GPUME_FIELD_CUDA_CELLS_H
#define AVFILTER_GPUME_FIELD_CUDA_CELLS_H

#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/field/cuda_args.h"
#include "libavfilter/gpume/util/executor.h"

/** Makes cells. Must be zeroed before the first use. */
typedef struct GpumeCudaCells {
    GpumeCudaLaunch map, read;
    GpumeCudaBuffer maps;       ///< maps of lists: unsigned[field][cell], zeroed; freed when the number of cells
                                ///< changes
} GpumeCudaCells;

/** Loads the kernels into the current context. @return 0 or an AVERROR code with a message */
int ff_gpume_cuda_cells_init(GpumeCudaFilter *s, GpumeCudaCells *c);

/**
 * Finds a field of a frame, as ff_gpume_cells_find() does, if one launch can handle its vectors.
 * @return whether there is a field
 */
int ff_gpume_cuda_cells_find(GpumeCellField *f, const GpumeCells *cells, const AVFrame *frame, int distance);

/**
 * Queues kernels that make the cells of a frame's fields. At least one field exists. The caller has
 * pushed the CUDA context.
 * @param executor threads that copy the vectors, if they have to be uploaded
 * @param fields   the fields that were found in the frame; those with nb = 0 are skipped
 * @param nb       number of fields, 1 to GPUME_CUDA_CELL_FIELDS
 * @param to       memory for nb * cols * rows GpumeCellVectors; those of absent fields are not
 *                 written
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_cells_read(GpumeCudaFilter *s, GpumeCudaCells *c, const GpumeExecutor *executor, const AVFrame *frame,
                             const GpumeCellField *fields, int nb, CUdeviceptr to);

/** Frees the maps, because the number of cells changes. No kernel may be in flight. */
void ff_gpume_cuda_cells_forget(GpumeCudaCells *c);

/** Unloads the kernels from the current context. */
void ff_gpume_cuda_cells_uninit(GpumeCudaFilter *s, GpumeCudaCells *c);

#endif /* AVFILTER_GPUME_FIELD_CUDA_CELLS_H */
