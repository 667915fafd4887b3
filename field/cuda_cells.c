/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"

#include "libavfilter/gpume/field/cuda_cells.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/field/modules.h"

/** Minimum size of a part of the vectors that a thread copies. Waking a thread can take as long as copying less. */
#define MIN_PART (2 << 20)

#define DECLARE(name, ...) GPUME_CUDA_DECLARE(name)
GPUME_FIELD_MODULES(DECLARE)

av_cold int ff_gpume_cuda_cells_init(GpumeCudaFilter *s, GpumeCudaCells *c)
{
    static const GpumeCudaCode codes[] = {
#define MODULE(name, ...) GPUME_CUDA_CODE(name),
        GPUME_FIELD_MODULES(MODULE)
    };
    int ret;

    c->map.threads = c->read.threads = GPUME_CUDA_CELL_THREADS;
    ret = ff_gpume_cuda_load(&s->cuda, &c->map, &codes[0]);
    return ret < 0 ? ret : ff_gpume_cuda_load(&s->cuda, &c->read, &codes[1]);
}

av_cold void ff_gpume_cuda_cells_forget(GpumeCudaCells *c)
{
    ff_gpume_cuda_free(&c->maps);
}

av_cold void ff_gpume_cuda_cells_uninit(GpumeCudaFilter *s, GpumeCudaCells *c)
{
    ff_gpume_cuda_unload(&s->cuda, &c->map);
    ff_gpume_cuda_unload(&s->cuda, &c->read);
}

int ff_gpume_cuda_cells_find(GpumeCellField *f, const GpumeCells *cells, const AVFrame *frame, int distance)
{
    const int found = ff_gpume_cells_find(f, cells, frame, distance);

    f->nb = FFMIN(f->nb, INT_MAX / GPUME_CUDA_CELL_THREADS);
    return found;
}

typedef struct CopyArg {
    uint8_t *dst;
    const uint8_t *src;
    size_t size;
} CopyArg;

static void copy_job(void *opaque, int job, int nb_jobs)
{
    const CopyArg *arg = opaque;
    const size_t begin = arg->size * job / nb_jobs, end = arg->size * (job + 1) / nb_jobs;

    memcpy(arg->dst + begin, arg->src + begin, end - begin);
}

/* Queues the upload of a frame's vectors. */
static int upload(GpumeCudaFilter *s, const GpumeExecutor *executor, const AVFrameSideData *sd, GpumeCudaUpload **up)
{
    int ret;

    ret = ff_gpume_cuda_uploads_next(&s->cuda, &s->uploads, sd->size, up);
    if (ret < 0)
        return ret;
    gpume_execute(executor, copy_job, &(CopyArg) { (*up)->buffer.pinned, sd->data, sd->size },
                  av_clip(sd->size / MIN_PART, 1, FFMAX(executor->nb_threads, 1)));
    return ff_gpume_cuda_upload(&s->cuda, *up, sd->size, "upload vectors");
}

/*
 * Finds the vectors of a frame's fields on the device, and sets sources[] to them. If they are not
 * on the device, *up is set to the upload that sends them.
 */
static int find_vectors(GpumeCudaFilter *s, const GpumeExecutor *executor, const AVFrame *frame,
                        const GpumeCellField *fields, int nb, GpumeCellSource *sources, GpumeCudaUpload **up)
{
    const GpumeFieldSet *set  = ff_gpume_frame_fields(frame);
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const int is_there = set && set->on_device && set->device_ctx == ff_gpume_cuda_device_ctx(&s->cuda);
    int ret;

    *up = NULL;
    if (!is_there && (ret = upload(s, executor, sd, up)) < 0)
        return ret;
    for (int i = 0; i < nb; i++) {
        const GpumeCellField *f = &fields[i];

        sources[i] = f->nb ? f->source : (GpumeCellSource) { 0 };
        /* a field that a search has left on the device is never a list, even if it is a list in system memory */
        if (f->nb && is_there)
            sources[i] = gpume_cell_source(gpume_field_at(set->device, set->nb, f->distance));
        else if (f->nb)
            sources[i].mvs = (*up)->buffer.data + (f->source.mvs - (uintptr_t)sd->data);
    }
    return 0;
}

static int launch(GpumeCudaFilter *s, GpumeCudaLaunch *l, int nb, int nb_fields, GpumeCudaCellsArgs *args,
                  const char *what)
{
    l->grid[0] = gpume_divide_up(nb, GPUME_CUDA_CELL_THREADS);
    l->grid[1] = nb_fields;
    return ff_gpume_cuda_filter_check(s, ff_gpume_cuda_launch(&s->cuda, l, 1, args, ff_gpume_cuda_filter_stream(s)),
                                      what);
}

/* Provides zeroed maps for lists. */
static int get_maps(GpumeCudaFilter *s, GpumeCudaCells *c, const GpumeCellField *fields, int nb, size_t size,
                    GpumeCudaCellsArgs *args)
{
    int ret;

    for (int i = 0; i < nb; i++) {
        if (!fields[i].is_list || !fields[i].nb)
            continue;
        if (!c->maps.data) {
            ret = ff_gpume_cuda_filter_memory(s, &c->maps, GPUME_CUDA_CELL_FIELDS * size, "maps");
            if (ret < 0)
                return ret;
            if ((ret = GPUME_CUDA_CALL(s, cuMemsetD8Async(c->maps.data, 0, c->maps.size,
                                                          ff_gpume_cuda_filter_stream(s)), "clear maps")) < 0)
                return ret;
        }
        args->fields[i].map = c->maps.data + i * size;
        args->vectors       = args->fields[i].mvs;
        args->nb            = fields[i].nb;
    }
    return 0;
}

int ff_gpume_cuda_cells_read(GpumeCudaFilter *s, GpumeCudaCells *c, const GpumeExecutor *executor, const AVFrame *frame,
                             const GpumeCellField *fields, int nb, CUdeviceptr to)
{
    GpumeCudaCellsArgs args = { .to = to };
    GpumeCudaUpload *up;
    size_t size;
    int nb_cells, ret;

    for (int i = 0; i < nb; i++)
        if (fields[i].nb) {
            args.cells        = fields[i].cells;
            args.distances[i] = fields[i].distance;
        }
    nb_cells = args.cells.cols * args.cells.rows;
    size     = nb_cells * sizeof(uint32_t);
    ret = find_vectors(s, executor, frame, fields, nb, args.fields, &up);
    if (ret >= 0 && up)
        ret = get_maps(s, c, fields, nb, size, &args);
    if (ret >= 0 && args.nb)
        ret = launch(s, &c->map, args.nb, 1, &args, "map the vectors");
    if (ret >= 0)
        ret = launch(s, &c->read, nb_cells, nb, &args, "read the vectors");
    return ret < 0 || !up ? ret : ff_gpume_cuda_upload_end(&s->cuda, up);
}
