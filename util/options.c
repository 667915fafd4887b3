/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/opt.h"

#include "libavfilter/gpume/util/options.h"

av_cold int ff_gpume_check_options(AVFilterContext *ctx, const GpumeDependency *dependencies, int nb)
{
    for (int i = 0; i < nb; i++) {
        const GpumeDependency *d = &dependencies[i];

        if (d->has_effect || av_opt_is_set_to_default_by_name(ctx->priv, d->option, AV_OPT_SEARCH_CHILDREN))
            continue;
        av_log(ctx, AV_LOG_ERROR, "'%s' is only valid with %s.\n", d->option, d->needed);
        return AVERROR(EINVAL);
    }
    return 0;
}
