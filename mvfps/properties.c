/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/dict.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/mvfps/properties.h"

static int remove_metadata(AVFrame *frame, const char *prefix)
{
    const AVDictionaryEntry *entry;
    int ret = 0;

    while (ret >= 0 && (entry = av_dict_get(frame->metadata, prefix, NULL, AV_DICT_IGNORE_SUFFIX)))
        ret = av_dict_set(&frame->metadata, entry->key, NULL, 0);
    return ret;
}

int ff_mvfps_remove_relations(AVFrame *frame)
{
    av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    av_frame_remove_side_data(frame, AV_FRAME_DATA_VIDEO_HINT);
    return remove_metadata(frame, "lavfi.gpume.");
}

int ff_mvfps_remove_own(AVFrame *frame)
{
    static const enum AVFrameSideDataType types[] = {
        AV_FRAME_DATA_A53_CC, AV_FRAME_DATA_GOP_TIMECODE, AV_FRAME_DATA_S12M_TIMECODE,
        AV_FRAME_DATA_SEI_UNREGISTERED, AV_FRAME_DATA_VIDEO_ENC_PARAMS, AV_FRAME_DATA_LCEVC,
    };
    /* metadata that compares a frame with the previous one, or marks the beginning or the end of something */
    static const char *const prefixes[] = {
        "lavfi.scd.", "lavfi.scene_score", "lavfi.freezedetect.", "lavfi.black_start", "lavfi.black_end",
        "lavfi.idet.", "lavfi.siti.", "timecode",
    };
    int ret = ff_mvfps_remove_relations(frame);

    for (int i = 0; i < FF_ARRAY_ELEMS(types); i++)
        av_frame_remove_side_data(frame, types[i]);
    for (int i = 0; i < FF_ARRAY_ELEMS(prefixes) && ret >= 0; i++)
        ret = remove_metadata(frame, prefixes[i]);
    frame->flags    &= ~AV_FRAME_FLAG_KEY;
    frame->pict_type = AV_PICTURE_TYPE_NONE;
    return ret;
}
