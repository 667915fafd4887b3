/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/scene.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

#define OUTPUT(name) extern const GpumeOutput ff_gpume_output_##name;
GPUME_OUTPUTS(OUTPUT)
#undef OUTPUT

static const GpumeOutput *const table[] = {
#define OUTPUT(name) &ff_gpume_output_##name,
    GPUME_OUTPUTS(OUTPUT)
#undef OUTPUT
};

/** An output in use. */
typedef struct Open {
    const GpumeOutput *output;  ///< NULL: the entry is unused
    GpumeFile file;
    void *priv;
} Open;

struct GpumeOutputs {
    Open open[FF_ARRAY_ELEMS(table)];
    const GpumeSink *sink;      ///< may be NULL
    int needs_stats;
    GpumeExecutor executor;
    AVFrame *previous;          ///< with needs_stats, the last picture
};

void ff_gpume_reference_name(char *buf, size_t size, int distance)
{
    const int n = snprintf(buf, size, "%s", distance < 0 ? "past" : "future");

    if (FFABS(distance) > 1 && n < size)
        snprintf(buf + n, size - n, "%d", FFABS(distance));
}

enum GpumeMvFormat ff_gpume_mv_format(const GpumeOutputConfig *cfg)
{
    if (!cfg->mv_file || cfg->mv_format)
        return cfg->mv_file ? cfg->mv_format : GPUME_MV_AUTO;
    return ff_gpume_has_ending(cfg->mv_file, ".npy")  ? GPUME_MV_NPY :
           ff_gpume_has_ending(cfg->mv_file, ".npys") ? GPUME_MV_NPYS :
           ff_gpume_has_ending(cfg->mv_file, ".csv") ||
           ff_gpume_is_direct(cfg->mv_file) ? GPUME_MV_CSV : GPUME_MV_AUTO;
}

enum GpumeStatsFormat ff_gpume_stats_format(const GpumeOutputConfig *cfg)
{
    if (cfg->stats_format)
        return cfg->stats_format;
    return cfg->stats_file && ff_gpume_has_ending(cfg->stats_file, ".jsonl") ? GPUME_STATS_JSONL : GPUME_STATS_TEXT;
}

/* Rejects options for files that are not written. */
static int check_unused_options(const GpumeOutputConfig *cfg)
{
    const char *option = NULL, *with = "mv_file or stats_file";

    if (cfg->mv_format && !cfg->mv_file) {
        option = "mv_format";
        with   = "mv_file";
    } else if (cfg->stats_format && !cfg->stats_file) {
        option = "stats_format";
        with   = "stats_file";
    } else if (!cfg->overwrite && !cfg->mv_file && !cfg->stats_file) {
        option = "overwrite=0";
    }
    if (!option)
        return 0;
    av_log(cfg->log_ctx, AV_LOG_ERROR, "'%s' is only valid with %s.\n", option, with);
    return AVERROR(EINVAL);
}

int ff_gpume_outputs_check(const GpumeOutputConfig *cfg)
{
    const char *mv_file = cfg->mv_file, *stats_file = cfg->stats_file;

    if (check_unused_options(cfg) < 0)
        return AVERROR(EINVAL);
    if (mv_file && !*mv_file) {
        av_log(cfg->log_ctx, AV_LOG_ERROR, "'mv_file' is empty; it must be a file name, "
               "or '-' for standard output.\n");
        return AVERROR(EINVAL);
    }
    if (mv_file && !ff_gpume_mv_format(cfg)) {
        av_log(cfg->log_ctx, AV_LOG_ERROR, "'mv_file' is '%s'; it must end in .csv, .npy or .npys, or be '-' (CSV on "
               "standard output). With another name, use mv_format=csv, npy or npys.\n", mv_file);
        return AVERROR(EINVAL);
    }
    /* before the file is opened, which would wait for a reader */
    if (ff_gpume_mv_format(cfg) == GPUME_MV_NPY && ff_gpume_is_pipe(mv_file))
        return ff_gpume_npy_refuse(mv_file, GPUME_NPY_REMEDY, cfg->log_ctx);
    if (stats_file && !*stats_file) {
        av_log(cfg->log_ctx, AV_LOG_ERROR, "'stats_file' is empty; it must be a file name, "
               "or '-' for standard output.\n");
        return AVERROR(EINVAL);
    }
    if (mv_file && stats_file && ff_gpume_is_same_file(mv_file, stats_file)) {
        const int equal = !strcmp(mv_file, stats_file);

        av_log(cfg->log_ctx, AV_LOG_ERROR, "'mv_file' and 'stats_file' must differ, but %s%s%s%s'.\n",
               equal ? "both are '" : "'", mv_file, equal ? "" : "' is the same file as '",
               equal ? "" : stats_file);
        return AVERROR(EINVAL);
    }
    return 0;
}

static av_cold int open_output(Open *o, const GpumeOutput *output, const char *path,
                               const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    int ret = 0;

    o->output = output;
    o->file.log_ctx = cfg->log_ctx;
    o->priv   = av_mallocz(FFMAX(output->priv_size, 1));
    if (!o->priv)
        return AVERROR(ENOMEM);
    if (path)
        ret = ff_gpume_file_open(&o->file, path, cfg->overwrite, cfg->log_ctx);
    if (ret >= 0 && output->open)
        ret = output->open(o->priv, &o->file, cfg, params);
    if (ret >= 0 && path)
        ret = ff_gpume_file_flush(&o->file);
    return ret;
}

av_cold int ff_gpume_outputs_open(GpumeOutputs **outputs, const GpumeOutputConfig *cfg,
                                  const GpumeParams *params)
{
    GpumeOutputs *s = *outputs = av_mallocz(sizeof(*s));
    int ret = 0;

    if (!s)
        return AVERROR(ENOMEM);
    s->sink        = cfg->sink;
    s->executor    = cfg->executor;
    s->needs_stats = s->sink && s->sink->needs_stats;
    for (int i = 0; i < FF_ARRAY_ELEMS(table) && ret >= 0; i++) {
        const char *path = NULL;

        if (!table[i]->wanted(cfg, &path))
            continue;
        errno = 0;
        ret   = open_output(&s->open[i], table[i], path, cfg, params);
        s->needs_stats |= table[i]->needs_stats;
    }
    if (ret < 0)
        ff_gpume_outputs_close(outputs, GPUME_END_FAILED);
    return ret;
}

static void compute_stats(GpumeStats *stats, const GpumeField *field, const GpumeParams *params)
{
    double sum = 0;
    int64_t max = 0;
    size_t nb_inconsistent = 0;

    memset(stats, 0, sizeof(*stats));
    stats->nb       = field->nb;
    stats->block    = params->block;
    stats->nb_sizes = params->tree ? ff_gpume_nb_sizes(params) : 0;
    stats->bits     = field->bits;
    stats->rd       = field->rd;
    for (int i = 0; i < field->nb; i++) {
        const AVMotionVector *mv = &field->mvs[i];
        const int64_t square = (int64_t)mv->motion_x * mv->motion_x +
                               (int64_t)mv->motion_y * mv->motion_y;

        stats->cost     += field->costs[i];
        stats->zero     += !square;
        nb_inconsistent += mv->flags & GPUME_FLAG_INCONSISTENT;
        sum             += sqrt(square);
        if (params->tree)
            stats->leaves[field->sizes[i]]++;
        if (square > max)
            max = square;
    }
    stats->mean_mv = sum / field->nb / params->pel;
    stats->max_mv  = sqrt(max) / params->pel;
    stats->sound   = 1 - (double)nb_inconsistent / field->nb;
    stats->intra   = field->intra;
    stats->scene   = stats->cost < stats->intra ? (double)stats->cost / stats->intra : !!stats->cost;
    stats->cut     = -1;
}

/* Decides whether a scene begins with a picture. Pictures are only compared if the field makes it possible. */
static int find_cut(GpumeStats *stats, const GpumeField *field, const GpumeOutputs *s, const AVFrame *frame)
{
    const AVFrame *previous = s->previous;
    int ret = 0;

    if (previous && previous->format == frame->format && previous->width == frame->width &&
        previous->height == frame->height && 2 * stats->cost >= stats->intra &&
        !ff_gpume_scene_is_moving((const uint8_t *)field->mvs, field->nb, -1))
        ret = ff_gpume_scene_begins(previous, frame, GPUME_DEFAULT_SCENE, &s->executor);
    stats->cut = ret;
    return FFMIN(ret, 0);
}

int ff_gpume_outputs_write(GpumeOutputs *s, GpumeResult *r)
{
    GpumeStats stats[GPUME_MAX_REFERENCES];
    int ret = 0;

    for (int i = 0; s->needs_stats && i < r->search.nb_fields && ret >= 0; i++) {
        const GpumeField *field = &r->search.fields[i];

        compute_stats(&stats[i], field, r->params);
        if (r->params->distance[field->reference] == -1)
            ret = find_cut(&stats[i], field, s, r->frame);
    }
    if (ret < 0)
        return ret;
    if (s->needs_stats) {
        av_frame_free(&s->previous);
        s->previous = av_frame_clone(r->frame);
        if (!s->previous)
            return AVERROR(ENOMEM);
    }
    if (s->sink)
        ret = s->sink->write(s->sink->opaque, r, stats);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->open) && ret >= 0; i++) {
        Open *o = &s->open[i];

        if (!o->output)
            continue;
        errno = 0;
        ret   = o->output->write(o->priv, &o->file, r, stats);
        if (ret >= 0 && o->file.f)
            ret = ff_gpume_file_flush(&o->file);
    }
    return ret;
}

av_cold int ff_gpume_outputs_close(GpumeOutputs **outputs, enum GpumeEnd end)
{
    GpumeOutputs *s = *outputs;
    int keep = end != GPUME_END_FAILED, ret = 0, err;

    if (!s)
        return 0;
    for (int i = 0; i < FF_ARRAY_ELEMS(s->open); i++) {
        Open *o = &s->open[i];

        errno = 0;
        err   = keep && o->file.f && !o->file.failed && o->output->complete ?
                o->output->complete(o->priv, &o->file) : 0;
        if (ret >= 0)
            ret = err;
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(s->open); i++) {
        err = ff_gpume_file_close(&s->open[i].file);
        if (ret >= 0)
            ret = err;
        /* an earlier failure has been reported */
        keep &= !s->open[i].file.failed;
    }
    keep &= ret >= 0;
    /* all files are completed, or none */
    for (int i = 0; i < FF_ARRAY_ELEMS(s->open); i++) {
        Open *o = &s->open[i];

        if (keep && ret >= 0)
            ret = ff_gpume_file_complete(&o->file, end == GPUME_END_INPUT);
        else if (keep)
            ff_gpume_file_keep_part(&o->file);
        ff_gpume_file_uninit(&o->file);
        if (o->priv && o->output->uninit)
            o->output->uninit(o->priv);
        av_freep(&o->priv);
    }
    av_frame_free(&s->previous);
    av_freep(outputs);
    return ret;
}
