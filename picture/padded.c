/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/picture/padded.h"

size_t ff_gpume_padded_place(GpumePadded *p, const GpumeLayout *l, uint8_t *memory)
{
    size_t size = 0;

    for (int i = 0; i < l->nb_components; i++) {
        GpumeSamples *s = &p->components[i];

        s->w      = l->components[i].w;
        s->h      = l->components[i].h;
        s->stride = FFALIGN((s->w + 2 * GPUME_PAD) * l->bytes, 64);
        s->first  = memory ? memory + size + GPUME_PAD * s->stride + GPUME_PAD * l->bytes : NULL;
        size     += s->stride * (s->h + 2 * GPUME_PAD);
    }
    return size + 64;       // code that reads whole vectors may read beyond the end
}

int ff_gpume_padded_alloc(GpumePadded *p, const GpumeLayout *l)
{
    ff_gpume_padded_free(p);
    p->memory = av_malloc(ff_gpume_padded_place(p, l, NULL));
    if (!p->memory)
        return AVERROR(ENOMEM);
    ff_gpume_padded_place(p, l, p->memory);
    return 0;
}

void ff_gpume_padded_free(GpumePadded *p)
{
    av_freep(&p->memory);
}

AVFrame *ff_gpume_padded_frame(AVBufferPool *pool, const GpumeLayout *l)
{
    AVFrame *f = av_frame_alloc();
    GpumePadded place = { 0 };

    if (!f)
        return NULL;
    f->width  = l->w;
    f->height = l->h;
    f->format = ff_gpume_gray_format(l->depth);
    f->buf[0] = av_buffer_pool_get(pool);
    if (!f->buf[0]) {
        av_frame_free(&f);
        return NULL;
    }
    ff_gpume_padded_place(&place, l, f->buf[0]->data);
    for (int i = 0; i < l->nb_components; i++) {
        f->data[i]     = place.components[i].first;
        f->linesize[i] = place.components[i].stride;
    }
    return f;
}

void ff_gpume_store_row(AVFrame *frame, const GpumeLayout *l, int component, int y, const uint8_t *samples)
{
    const GpumeComponent *c = &l->components[component];
    uint8_t *dst = gpume_layout_row(l, c, frame, y);

    if (c->step == 1 && !l->shift)
        memcpy(dst, samples, c->w * (size_t)l->bytes);
    else if (l->bytes == 1)
        for (int x = 0; x < c->w; x++)
            dst[x * c->step] = samples[x];
    else
        for (int x = 0; x < c->w; x++)
            ((uint16_t *)dst)[x * c->step] = ((const uint16_t *)samples)[x] << l->shift;
}

/* Copies a row without padding bits. */
static void load_row(uint8_t *dst, const uint8_t *src, const GpumeLayout *l, const GpumeComponent *c)
{
    const uint16_t *src16 = (const uint16_t *)src;
    uint16_t *dst16 = (uint16_t *)dst;

    if (c->step == 1 && !l->shift) {
        memcpy(dst, src, c->w * (size_t)l->bytes);
    } else if (l->bytes == 1) {
        for (int x = 0; x < c->w; x++)
            dst[x] = src[x * c->step];
    } else {
        for (int x = 0; x < c->w; x++)
            dst16[x] = src16[x * c->step] >> l->shift;
    }
}

static void repeat(uint8_t *dst, const uint8_t *sample, int bytes, int nb)
{
    for (int i = 0; i < nb; i++)
        memcpy(dst + i * bytes, sample, bytes);
}

void ff_gpume_padded_repeat(const GpumeSamples *s, int bytes, int y)
{
    const int first = y ? y : -GPUME_PAD, end = y == s->h - 1 ? s->h + GPUME_PAD : y + 1;
    uint8_t *row = s->first + y * s->stride;

    repeat(row - GPUME_PAD * bytes, row, bytes, GPUME_PAD);
    repeat(row + s->w * bytes, row + (s->w - 1) * bytes, bytes, GPUME_PAD);
    for (int i = first; i < end; i++)
        if (i != y)
            memcpy(s->first + i * s->stride - GPUME_PAD * bytes, row - GPUME_PAD * bytes,
                   (s->w + 2 * GPUME_PAD) * (size_t)bytes);
}

void ff_gpume_padded_load(GpumePadded *p, const GpumeLayout *l, const AVFrame *frame, int job, int nb_jobs)
{
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        const GpumeSamples *s   = &p->components[i];
        const int rows = s->h + 2 * GPUME_PAD;
        const int end  = rows * (job + 1LL) / nb_jobs - GPUME_PAD;

        for (int y = rows * (int64_t)job / nb_jobs - GPUME_PAD; y < end; y++) {
            uint8_t *row = s->first + y * s->stride;

            load_row(row, gpume_layout_row(l, c, frame, av_clip(y, 0, s->h - 1)), l, c);
            repeat(row - GPUME_PAD * l->bytes, row, l->bytes, GPUME_PAD);
            repeat(row + s->w * l->bytes, row + (s->w - 1) * l->bytes, l->bytes, GPUME_PAD);
        }
    }
}
