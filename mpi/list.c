/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "mpi/clip.h"
#include "mpi/done.h"
#include "mpi/list.h"

typedef struct Item {
    char *name;
    int64_t size;           ///< bytes; 0: unknown
} Item;

typedef struct List {
    char *text;             ///< the names, each followed by a 0
    int64_t length;
    Item *items;
    int nb;
} List;

static void list_free(List *l)
{
    av_freep(&l->text);
    av_freep(&l->items);
}

/* Reads the whole file, on rank 0. */
static int read_text(List *l, const char *path)
{
    FILE *f = fopen(path, "rb");
    int ret = 0;
    size_t n;

    while (f && ret >= 0) {
        if (av_reallocp(&l->text, l->length + BUFSIZ + 1) < 0) {
            ret = AVERROR(ENOMEM);
            break;
        }
        n = fread(l->text + l->length, 1, BUFSIZ, f);
        l->length += n;
        if (!n)
            break;
    }
    if (!f || ferror(f))
        ret = AVERROR(errno ? errno : EIO);
    if (f)
        fclose(f);
    if (ret >= 0)
        l->text[l->length] = 0;
    return ret;
}

/* Splits the text into names: the lines that are not empty. */
static int split(List *l)
{
    char *save = NULL;

    for (char *line = strtok_r(l->text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        struct stat st;
        Item *items = av_realloc_array(l->items, l->nb + 1, sizeof(*items));

        if (!items)
            return AVERROR(ENOMEM);
        l->items = items;
        items[l->nb++] = (Item) { line, !stat(line, &st) ? st.st_size : 0 };
    }
    return l->nb ? 0 : AVERROR_INVALIDDATA;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(base_name(((const Item *)a)->name), base_name(((const Item *)b)->name));
}

/* Rejects two films of the same name, because they would have the same output files. */
static int check_names(const List *l, const Shared *world)
{
    Item *sorted = av_memdup(l->items, l->nb * sizeof(*sorted));
    int ret = sorted ? 0 : AVERROR(ENOMEM);

    if (sorted)
        qsort(sorted, l->nb, sizeof(*sorted), compare_names);
    for (int i = 1; sorted && i < l->nb && ret >= 0; i++)
        if (!compare_names(&sorted[i - 1], &sorted[i])) {
            shared_report(world, -1, "two films of the list have the name %s", base_name(sorted[i].name));
            ret = AVERROR(EINVAL);
        }
    av_free(sorted);
    return ret;
}

static int list_read(List *l, const char *path, Shared *world)
{
    int ret = !world->rank ? read_text(l, path) : 0;

    if (ret < 0)
        shared_report(world, -1, "%s: %s", path, av_err2str(ret));
    ret = shared_agree(world, ret);
    if (ret >= 0)
        ret = shared_broadcast(world, &l->length, sizeof(l->length));
    if (ret < 0)
        return ret;
    if (world->rank)
        l->text = av_mallocz(l->length + 1);
    ret = shared_agree(world, l->text ? 0 : AVERROR(ENOMEM));
    if (ret >= 0)
        ret = shared_broadcast(world, l->text, l->length);
    if (ret >= 0)
        ret = split(l);
    if (ret == AVERROR_INVALIDDATA && !world->rank)
        shared_report(world, -1, "%s names no film", path);
    if (ret >= 0 && !world->rank)
        ret = check_names(l, world);
    ret = shared_agree(world, ret);
    /* the sizes that rank 0 sees, so that all ranks divide the list alike */
    for (int i = 0; i < l->nb && ret >= 0; i++)
        ret = shared_broadcast(world, &l->items[i].size, sizeof(l->items[i].size));
    return ret;
}

/* Returns the name of an output: %s becomes the name of the film. The caller frees it; NULL: out of memory. */
static char *output_name(const char *pattern, const char *film)
{
    const char *at = pattern ? strstr(pattern, "%s") : NULL;

    return at ? av_asprintf("%.*s%s%s", (int)(at - pattern), pattern, base_name(film), at + 2) : NULL;
}

static int run_item(const Options *o, Shared *s, const Device *device, const Item *item, int progress)
{
    char *mv_file = output_name(o->mv_file, item->name), *stats_file = output_name(o->stats_file, item->name);
    int ret = o->mv_file && !mv_file || o->stats_file && !stats_file ? AVERROR(ENOMEM) : 0;

    ret = shared_agree(s, ret);
    if (ret >= 0)
        ret = clip_run(o, s, device, item->name, mv_file, stats_file, progress);
    av_free(mv_file);
    av_free(stats_file);
    return ret;
}

/* Removes finished films, so that the others are divided among the ranks. */
static int skip_finished(List *l, const Options *o, Shared *world)
{
    int nb = 0, ret = 0;

    for (int i = 0; i < l->nb && ret >= 0; i++) {
        char *mv_file = output_name(o->mv_file, l->items[i].name);
        char *stats_file = output_name(o->stats_file, l->items[i].name);
        int skip = !world->rank && (mv_file || stats_file) &&
                   done_skip(o, world, l->items[i].name, mv_file, stats_file);

        if (o->resume)
            ret = shared_broadcast(world, &skip, sizeof(skip));
        if (!skip)
            l->items[nb++] = l->items[i];
        av_free(mv_file);
        av_free(stats_file);
    }
    l->nb = nb;
    return ret;
}

int list_run(const Options *o, Shared *world, const Device *device, int progress)
{
    Shared self = { .win = MPI_WIN_NULL };
    List l = { 0 };
    int64_t all = 0;
    int *small = NULL, nb_small = 0, nb_failed = 0, piece, ret;

    ret = list_read(&l, o->list, world);
    if (ret >= 0)
        ret = shared_agree(world, shared_open(&self, MPI_COMM_SELF));
    if (ret >= 0) {
        small = av_malloc_array(l.nb, sizeof(*small));
        ret   = shared_agree(world, small ? 0 : AVERROR(ENOMEM));
    }
    if (ret >= 0)
        ret = skip_finished(&l, o, world);
    if (ret < 0)
        goto end;
    for (int i = 0; i < l.nb; i++)
        all += l.items[i].size;
    /* all ranks search such a film together: it is more than half of the work of a rank, and others would wait */
    for (int i = 0; i < l.nb; i++)
        if (world->size > 1 && l.items[i].size > all / world->size / 2)
            nb_failed += !world->rank & run_item(o, world, device, &l.items[i], progress) < 0;
        else
            small[nb_small++] = i;
    ret = shared_divide(world, nb_small);
    while (ret >= 0 && (ret = shared_take(world, &piece)) >= 0 && piece >= 0)
        nb_failed += run_item(o, &self, device, &l.items[small[piece]], 0) < 0;
    ret = shared_agree(world, ret < 0 ? ret : nb_failed ? AVERROR_INVALIDDATA : 0);
end:
    shared_close(&self);
    av_free(small);
    list_free(&l);
    return ret;
}
