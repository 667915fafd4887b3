/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames of VapourSynth as frames of libavutil, and back, with their properties.
 */

#include <stdio.h>

#include "plugin.h"

#include "libavutil/imgutils.h"
#include "libavutil/pixdesc.h"

/* Pixel formats */

enum AVPixelFormat pixel_format(const VSVideoFormat *f)
{
    char name[32];
    const int is_wide = f->bitsPerSample > 8;

    if (f->sampleType != stInteger || f->bitsPerSample > 16)
        return AV_PIX_FMT_NONE;
    if (f->colorFamily == cfGray)
        snprintf(name, sizeof(name), is_wide ? "gray%dle" : "gray", f->bitsPerSample);
    else if (f->colorFamily == cfRGB)
        snprintf(name, sizeof(name), is_wide ? "gbrp%dle" : "gbrp", f->bitsPerSample);
    else if (f->colorFamily == cfYUV && f->subSamplingW <= 2 && f->subSamplingH <= 2) {
        static const char *const sampling[3][3] = { { "444", "440", "" }, { "422", "420", "" }, { "411", "", "410" } };

        snprintf(name, sizeof(name), is_wide ? "yuv%sp%dle" : "yuv%sp", sampling[f->subSamplingW][f->subSamplingH],
                 f->bitsPerSample);
    } else {
        return AV_PIX_FMT_NONE;
    }
    return av_get_pix_fmt(name);
}

int plane_of(const Clip *c, int plane)
{
    return c->in.format.colorFamily == cfRGB ? (plane + 1) % 3 : plane;
}

static void copy_planes(const Clip *c, VSFrame *write, const VSFrame *read, AVFrame *frame)
{
    const VSAPI *vs = c->vs;
    const VSFrame *f = write ? write : read;

    for (int i = 0; i < c->in.format.numPlanes; i++) {
        const int p = plane_of(c, i), rows = vs->getFrameHeight(f, p);
        const int bytes = vs->getFrameWidth(f, p) * c->in.format.bytesPerSample;
        const ptrdiff_t stride = vs->getStride(f, p);

        if (write)
            av_image_copy_plane(vs->getWritePtr(write, p), stride, frame->data[i], frame->linesize[i], bytes, rows);
        else
            av_image_copy_plane(frame->data[i], frame->linesize[i], vs->getReadPtr(f, p), stride, bytes, rows);
    }
}

static void free_origin(void *vs, uint8_t *frame)
{
    ((const VSAPI *)vs)->freeFrame((const VSFrame *)frame);
}

int64_t property(const Clip *c, const VSMap *map, const char *key, int64_t otherwise)
{
    int error;
    const int64_t value = c->vs->mapGetInt(map, key, 0, &error);

    return error ? otherwise : value;
}

/* Returns whether a frame of DEINTERLACE has two fields. */
static int is_interlaced(const Clip *c, const VSMap *map)
{
    const int64_t fields = property(c, map, "_FieldBased", 0);

    return c->by_combed ? property(c, map, "_Combed", fields > 0) != 0 : fields > 0;
}

int check_order(const Clip *c, const VSFrame *f, int number)
{
    const VSMap *map = c->vs->getFramePropertiesRO(f);

    if (!c->needs_order || property(c, map, "_FieldBased", 0) > 0 || c->by_combed && !is_interlaced(c, map))
        return 0;
    av_log(NULL, AV_LOG_ERROR, "frame %d does not say which field is first: set tff=1 or tff=0, or its property "
           "_FieldBased to 2 (top) or 1 (bottom), as std.SetFieldBased does\n", number);
    return AVERROR(EINVAL);
}

static void set_properties(const Clip *c, AVFrame *frame, const VSFrame *f)
{
    const VSMap *map = c->vs->getFramePropertiesRO(f);
    const int64_t range = property(c, map, "_Range", -1), old_range = property(c, map, "_ColorRange", -1);

    frame->colorspace  = property(c, map, "_Matrix", AVCOL_SPC_UNSPECIFIED);
    frame->color_range = range == 1 || range < 0 && old_range == 0 ? AVCOL_RANGE_JPEG :
                         range == 0 || range < 0 && old_range == 1 ? AVCOL_RANGE_MPEG : AVCOL_RANGE_UNSPECIFIED;
    if (is_interlaced(c, map))
        frame->flags |= AV_FRAME_FLAG_INTERLACED;
    if (property(c, map, "_FieldBased", 0) == 2)
        frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
}

AVFrame *import_frame(const Clip *c, const VSFrame *f, int64_t pts)
{
    AVFrame *frame = av_frame_alloc();

    if (!frame)
        return NULL;
    frame->width    = c->in.width;
    frame->height   = c->in.height;
    frame->format   = c->format;
    frame->pts      = pts;
    frame->duration = 1;
    set_properties(c, frame, f);
    /* the output frame gets the properties of this frame */
    frame->opaque_ref = av_buffer_create((uint8_t *)f, 1, free_origin, (void *)c->vs, 0);
    if (frame->opaque_ref)
        c->vs->addFrameRef(f);
    if (!frame->opaque_ref || av_frame_get_buffer(frame, 0) < 0)
        av_frame_free(&frame);
    else
        copy_planes(c, NULL, f, frame);
    return frame;
}

static void set_duration(const Clip *c, VSMap *map)
{
    if (c->kind == FPS || c->per_frame == 2)
        c->vs->mapDeleteKey(map, "_AbsoluteTime");
    if (c->kind == FPS) {
        c->vs->mapSetInt(map, "_DurationNum", c->out.fpsDen, maReplace);
        c->vs->mapSetInt(map, "_DurationDen", c->out.fpsNum, maReplace);
    } else if (c->kind == DEINTERLACE) {
        const int64_t den = property(c, map, "_DurationDen", 0);

        c->vs->mapSetInt(map, "_FieldBased", 0, maReplace);
        c->vs->mapSetInt(map, "_Combed", 0, maReplace);
        if (den && c->per_frame == 2)
            c->vs->mapSetInt(map, "_DurationDen", den * 2, maReplace);
    }
}

const VSFrame *export_frame(const Clip *c, AVFrame *frame)
{
    const VSFrame *origin = frame->opaque_ref ? (const VSFrame *)frame->opaque_ref->data : NULL;
    VSFrame *out = c->vs->newVideoFrame(&c->out.format, c->out.width, c->out.height, origin, c->core);

    copy_planes(c, out, NULL, frame);
    set_duration(c, c->vs->getFramePropertiesRW(out));
    return out;
}
