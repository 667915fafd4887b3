/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Unit tests of the engine and the backends. Every backend searches the same pictures, the CPU once
 * for each instruction set, and must return the vectors and costs of gpume_oracle.h.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/cpu.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/params.h"
#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/cpu/sea.h"

#include "gpume_harness.h"

/** A case that takes longer than this hangs, even under valgrind. */
#define CASE_SECONDS 300

/** A stream, and how it is sent through the engine or a backend. */
typedef struct Case {
    TestStream s;
    enum TestContent content;
    int exhaustive, always_sea;
    int intra;              ///< whether the fields' intra is requested
    int automatic;          ///< do not set parameters that have the search's default
    int in_flight, nb_threads;
    TestExecutor executor;
    int push_all;           ///< push until a result must be pulled
    unsigned references;    ///< bit mask of pictures that are only references of others
    int close_after;        ///< close after this number of results; -1: at the end
    /**
     * Nonzero: test a backend without an engine. The pictures have one size, and the case calls
     * submit() and wait().
     */
    int backend;
    int early_release;      ///< release pictures as early as possible
    int abandon;            ///< close the backend with searches in flight
    int late_compare;       ///< compare results after the engine and the backend are closed
    uint64_t seed;          ///< seed of the samples and the memory layout
    AVFrame *frames[TEST_MAX_PICTURES];
} Case;

static TestBackend backends[TEST_MAX_BACKENDS];
static int nb_backends;
static uint64_t master_seed = 20120611;
static int64_t case_number, only_case = -1;
static int quick, every = 11;
static int64_t nb_leaves[ORACLE_MAX_SIZES];     ///< expected leaves, by side

/* Running a case */

/* Returns the picture to which field j of search i belongs. With check it is one of a pair of pictures. */
static int current_of(const Case *c, int i, int j)
{
    const TestStream *s = &c->s;
    const int length = abs(s->distance[j]);
    int first = i - length;

    if (!s->check)
        return i;
    /* picture i begins the pair if its future is requested, else it ends the pair */
    for (int k = 0; k < s->nb_references; k++)
        if (s->distance[k] == length)
            first = i;
    return s->distance[j] < 0 ? first + length : first;
}

static int has_field(const Case *c, int cur, int j)
{
    return cur >= 0 && cur < c->s.nb && c->s.pics[cur].vectors[j];
}

/* Returns the number of fields that a picture has among the first nb references. */
static int count_fields(const Case *c, int cur, int nb)
{
    int found = 0;

    for (int j = 0; j < nb; j++)
        found += has_field(c, cur, j);
    return found;
}

/*
 * Compares the position of a field in its set, and the size of the set.
 * @param result whether the set is that of a result
 */
static void compare_place(const Case *c, int cur, int j, const GpumeField *f, const GpumeFieldSet *set, int result)
{
    const int slot = count_fields(c, cur, j), all = count_fields(c, cur, c->s.nb_references);
    const int nb = oracle_blocks(c->s.pics[cur].w, c->s.block) * oracle_blocks(c->s.pics[cur].h, c->s.block);
    /* the leaves of a result are packed; a backend reserves space for the maximum number of leaves of each field */
    const int packed = c->s.tree_max && result;
    int first = packed ? 0 : slot * nb, nb_vectors = packed ? 0 : all * nb;

    for (int k = 0; packed && k < c->s.nb_references; k++) {
        const int nb_leaves = has_field(c, cur, k) ? test_nb_vectors(&c->s, cur, k) : 0;

        first      += k < j ? nb_leaves : 0;
        nb_vectors += nb_leaves;
    }
    CHECK(f->nb == test_nb_vectors(&c->s, cur, j), "picture %d, reference %d: %d vectors", cur, j, f->nb);
    CHECK(f->slot == slot && f->mvs == (AVMotionVector *)set->mvs->data + first && set->nb == all &&
          set->mvs->size == nb_vectors * sizeof(AVMotionVector),
          "picture %d, reference %d: slot %d of %d, %zu bytes", cur, j, f->slot, set->nb, set->mvs->size);
    /* the costs of leaves need not be packed */
    CHECK(packed ? f->costs >= (uint32_t *)set->costs->data &&
                   (uint8_t *)(f->costs + f->nb) <= set->costs->data + set->costs->size :
                   f->costs == (uint32_t *)set->costs->data + slot * nb &&
                   set->costs->size == all * nb * sizeof(uint32_t),
          "picture %d, reference %d: costs of slot %d, %zu bytes", cur, j, slot, set->costs->size);
    CHECK(!set->sizes == !c->s.tree_max && !f->sizes == !c->s.tree_max, "picture %d, reference %d: sizes", cur, j);
}

/* Compares the values of a tree other than vectors and costs. */
static void compare_tree(const Case *c, int cur, int j, const GpumeField *f)
{
    const OracleTree *t = &c->s.pics[cur].trees[j];

    for (int k = 0; k < t->nb && k < f->nb; k++) {
        if (c->s.block << f->sizes[k] != t->leaves[k].side) {
            test_fail("picture %d, reference %d: leaf %d has size %d", cur, j, k, f->sizes[k]);
            break;
        }
    }
    CHECK(f->bits == t->bits && f->rd == t->rd, "picture %d, reference %d: %"PRIu64" bits, rd %"PRIu64
          ", expected %"PRIu64" and %"PRIu64, cur, j, f->bits, f->rd, t->bits, t->rd);
}

/*
 * Compares the fields of search i.
 * @param result the set of a result; NULL: the fields of a backend, which with check belong to
 *               pairs of pictures
 */
static void compare(const Case *c, TestBackend *b, int i, const GpumeSearch *search, const GpumeFieldSet *result)
{
    const int pair = !result;
    const int nb = oracle_blocks(c->s.pics[i].w, c->s.block) *
                   oracle_blocks(c->s.pics[i].h, c->s.block);
    char wrong[1024];
    int nb_fields = 0;

    for (int j = 0; j < (pair ? c->s.nb_distances : c->s.nb_references); j++) {
        const int cur = pair ? current_of(c, i, j) : i;
        const GpumeField *f = &search->fields[nb_fields];

        if (!has_field(c, cur, j))
            continue;
        CHECK(nb_fields < search->nb_fields && f->reference == j && (result || !f->set == (j >= c->s.nb_references)),
              "picture %d, reference %d: field %d of %d is of reference %d", i, j, nb_fields,
              search->nb_fields, f->reference);
        if (nb_fields < search->nb_fields && (result || f->set)) {
            const GpumeFieldSet *set = result ? result : f->set;
            const GpumeMotionField *h = &set->host[count_fields(c, cur, j)];

            compare_place(c, cur, j, f, set, !pair);
            CHECK(h->mvs == (uintptr_t)f->mvs && h->costs == (uintptr_t)f->costs &&
                  h->bw * h->bh == nb && h->block == c->s.block && h->width == c->s.pics[cur].w &&
                  h->height == c->s.pics[cur].h && (pair || h->distance == c->s.distance[j]),
                  "picture %d, reference %d: the field's geometry", cur, j);
            if (f->nb == test_nb_vectors(&c->s, cur, j))
                CHECK(!test_compare_field(&c->s, cur, j, f->mvs, f->costs, wrong), "%s", wrong);
            if (c->s.tree_max)
                compare_tree(c, cur, j, f);
            CHECK(!c->intra || f->intra == c->s.pics[cur].intra, "picture %d has intra %"PRIu64
                  ", expected %"PRIu64, cur, f->intra, c->s.pics[cur].intra);
            b->nb_vectors += f->nb;
        }
        nb_fields++;
    }
    CHECK(search->nb_fields == nb_fields, "picture %d has %d fields, not %d", i,
          search->nb_fields, nb_fields);
    b->nb_searches += nb_fields;
}

static GpumeParams chosen(const Case *c)
{
    GpumeParams p = {
        .algo = c->s.algo, .cost = c->s.cost, .block = c->s.block, .range = c->s.range,
        .exhaustive = c->exhaustive && c->s.algo == GPUME_ALGO_FS, .always_sea = c->always_sea, .intra = c->intra,
        .small_strips = test_mix(c->seed + 3) & 1,
        .smooth = c->s.smooth, .check = c->s.check, .pel = FFMAX(c->s.pel, 1),
        .sweeps = c->s.sweeps, .levels = c->s.levels,
        .tree = !!c->s.tree_max, .tree_max = c->s.tree_max, .lambda = c->s.lambda, .qp = c->s.qp,
        .nb_references = c->s.nb_references,
    };

    if (c->automatic && p.range == test_default(p.algo, "range"))
        p.range = 0;
    if (c->automatic && p.smooth == test_default(p.algo, "smooth"))
        p.smooth = GPUME_AUTO;
    if (c->automatic && p.check == test_default(p.algo, "check"))
        p.check = GPUME_AUTO;
    if (c->automatic && p.tree_max == 64)
        p.tree_max = 0;
    if (c->automatic && p.pel == test_default(p.algo, "pel"))
        p.pel = 0;
    memcpy(p.distance, c->s.distance, p.nb_references * sizeof(*p.distance));
    return p;
}

static void check_result(const Case *c, int i, const GpumeResult *r)
{
    const TestPicture *pic = &c->s.pics[i];

    CHECK(i < c->s.nb && r->number == i + 1, "result %d has number %"PRId64, i, r->number);
    if (i >= c->s.nb)
        return;
    CHECK(r->frame->data[0] == c->frames[i]->data[0] && r->frame->pts == pic->pts &&
          r->frame->linesize[0] == c->frames[i]->linesize[0], "result %d has a different picture", i);
    CHECK(r->params->width == pic->w && r->params->height == pic->h &&
          r->params->bw == oracle_blocks(pic->w, c->s.block) &&
          r->params->bh == oracle_blocks(pic->h, c->s.block) &&
          r->params->depth == test_depth(pic->format), "picture %d has other parameters", i);
}

/* Compares the result of picture i. A picture that is only a reference has no fields, if no other field needs them. */
static void compare_result(const Case *c, TestBackend *b, int i, const GpumeResult *r)
{
    if (c->references >> i & 1 && !gpume_has_memory(c->s.algo))
        CHECK(!r->search.nb_fields && !r->set.nb && !r->set.mvs, "picture %d has %d fields", i, r->search.nb_fields);
    else
        compare(c, b, i, &r->search, &r->set);
}

static void run_engine(Case *c, TestBackend *b)
{
    GpumeEngineConfig cfg = {
        .params        = chosen(c),
        .backend       = b->id,
        .max_in_flight = c->in_flight,
        .executor      = { test_execute, &c->executor, c->nb_threads },
        /* without a device, the backend opens the same device itself */
        .hw_device     = c->seed & 1 ? b->hw_device : NULL,
    };
    GpumeResult results[TEST_MAX_PICTURES + 1] = { { 0 } };
    GpumeEngine *engine;
    int ret, nb_in = 0, nb_out = 0, flushed = 0, nb_stuck = 0;

    ret = ff_gpume_engine_open(&engine, &cfg, c->s.pics[0].w, c->s.pics[0].h,
                               c->s.pics[0].format, NULL);
    /* the engine must not need the configuration any longer */
    memset(&cfg, 0xa5, sizeof(cfg));
    CHECK(ret >= 0, "open: %s (%s)", av_err2str(ret), test_last_log);
    if (ret < 0)
        return;

    while (nb_out != c->close_after) {
        int full = 0;

        while (nb_in < c->s.nb && !full) {
            AVFrame *frame = test_alloc(av_frame_clone(c->frames[nb_in]));
            const int is_read = !(c->references >> nb_in & 1);

            ret  = is_read && nb_in & 1 ? ff_gpume_engine_push(engine, &frame) :
                                          ff_gpume_engine_push_clone(engine, frame, is_read);
            full = ret == AVERROR(EAGAIN);
            CHECK(!is_read || !(nb_in & 1) || !frame == (ret != AVERROR(EAGAIN)), "push: %s and a frame",
                  av_err2str(ret));
            av_frame_free(&frame);
            CHECK(ret >= 0 || (full && c->push_all), "push: %s", av_err2str(ret));
            if (ret < 0 && !full)
                goto end;
            nb_in += !full;
            if (!c->push_all)
                break;
        }
        /* at the end, the flush comes at different times relative to the pulls */
        if (nb_in == c->s.nb && !flushed && !full && (nb_out >= c->s.nb / 2 || c->seed & 2)) {
            ff_gpume_engine_flush(engine);
            if (c->seed & 4)
                ff_gpume_engine_flush(engine);
            flushed = 1;
        }
        do {
            GpumeResult r;

            ret = ff_gpume_engine_pull(engine, &r);
            CHECK(ret >= 0 || (!r.frame && !r.set.mvs), "pull: %s and a result",
                  av_err2str(ret));
            if (ret < 0)
                break;
            check_result(c, nb_out, &r);
            if (!c->late_compare)
                compare_result(c, b, FFMIN(nb_out, c->s.nb - 1), &r);
            results[nb_out++] = r;
            if (!c->late_compare)
                ff_gpume_result_uninit(&results[nb_out - 1]);
        } while (!c->push_all && nb_out < c->s.nb && nb_out != c->close_after);
        CHECK(ret != AVERROR(EAGAIN) || !flushed, "pull: EAGAIN after the end");
        /* a picture of another kind may need the next picture */
        nb_stuck = full && ret == AVERROR(EAGAIN) ? nb_stuck + 1 : 0;
        CHECK(nb_stuck < 2, "neither push() nor pull() can continue");
        if (nb_stuck > 1)
            break;
        CHECK(ret != AVERROR_EOF || (flushed && nb_out == c->s.nb), "%d of %d came out", nb_out,
              c->s.nb);
        if (ret == AVERROR(EAGAIN) && nb_in == c->s.nb && !flushed) {
            ff_gpume_engine_flush(engine);
            flushed = 1;
        } else if (ret < 0 && ret != AVERROR(EAGAIN)) {
            break;
        }
    }
    if (c->close_after < 0) {
        GpumeResult r;

        CHECK(ret == AVERROR_EOF, "pull: %s", av_err2str(ret));
        CHECK(ret != AVERROR_EOF || ff_gpume_engine_pull(engine, &r) == ret, "pull after the end");
    }
end:
    ff_gpume_engine_close(&engine);
    CHECK(!engine, "the pointer to the engine is not NULL");
    for (int i = 0; i < nb_out; i++) {
        /* results must outlive the engine, as side data does */
        if (c->late_compare)
            compare_result(c, b, i, &results[i]);
        ff_gpume_result_uninit(&results[i]);
    }
}

/* Gives the requested fields of a search their memory, as the engine does. */
static int place_fields(const Case *c, const GpumeBackend *backend, void *priv, GpumePicture *pics,
                        GpumeFieldSet *sets, GpumeSearch *search)
{
    for (int i = 0; i < search->nb_fields; i++) {
        GpumeField *f = &search->fields[i];
        const int cur = f->cur - pics;
        AVBufferRef *same = NULL;
        int ret = 0;

        for (int j = 0; c->s.check && j < search->nb_fields; j++)
            if (c->s.distance[search->fields[j].reference] == -c->s.distance[f->reference])
                f->opposite = j;
        if (f->reference >= c->s.nb_references)
            continue;
        if (!sets[cur].nb)
            ret = backend->alloc(priv, &sets[cur], &same, count_fields(c, cur, c->s.nb_references));
        CHECK(ret >= 0 && !same, "alloc: %s", av_err2str(ret));
        if (ret < 0)
            return ret;
        f->set   = &sets[cur];
        f->slot  = count_fields(c, cur, f->reference);
        f->mvs   = gpume_field_mvs(f->set, f->slot);
        f->costs = gpume_field_costs(f->set, f->slot);
        f->nb    = oracle_blocks(c->s.pics[cur].w, c->s.block) * oracle_blocks(c->s.pics[cur].h, c->s.block);
        f->sizes = f->set->sizes ? f->set->sizes + f->slot * f->nb : NULL;
    }
    return 0;
}

/* Runs a case with a backend alone. Keeps the maximum number of searches in flight. */
static void run_backend(Case *c, TestBackend *b)
{
    const GpumeBackend *backend = ff_gpume_backends[b->id];
    const TestStream *s = &c->s;
    GpumeBackendConfig cfg = {
        .params       = chosen(c),
        .max_searches = c->in_flight,
        .executor     = { test_execute, &c->executor, c->nb_threads },
        .hw_device    = c->seed & 1 ? b->hw_device : NULL,
    };
    GpumePicture pics[TEST_MAX_PICTURES] = { { 0 } };
    GpumeFieldSet sets[TEST_MAX_PICTURES] = { { 0 } };
    GpumeSearch searches[TEST_MAX_PICTURES] = { { 0 } };
    void *priv = test_alloc(av_mallocz(FFMAX(backend->priv_size, 1)));
    int ret, reach = 0, nb_imported = 0, nb_waited = 0;

    for (int j = 0; j < s->nb_references; j++)
        reach = FFMAX(reach, abs(s->distance[j]));
    ret = ff_gpume_params_init(&cfg.params, s->pics[0].w, s->pics[0].h, s->pics[0].format, NULL);
    CHECK(ret >= 0, "parameters: %s", av_err2str(ret));
    cfg.plan = ff_gpume_plan(&cfg.params);
    ret = backend->init(priv, &cfg);
    /* the configuration is valid only during the call */
    memset(&cfg, 0xa5, sizeof(cfg));
    CHECK(ret >= 0, "init: %s (%s)", av_err2str(ret), test_last_log);

    for (int i = 0; i < s->nb + c->in_flight && ret >= 0; i++) {
        for (; nb_imported < FFMIN(i + reach + 1, s->nb) && ret >= 0; nb_imported++) {
            pics[nb_imported].frame = test_alloc(av_frame_clone(c->frames[nb_imported]));
            ret = backend->import(priv, &pics[nb_imported]);
            CHECK(ret >= 0, "import: %s", av_err2str(ret));
        }
        for (int j = 0; i < s->nb && j < s->nb_distances; j++) {
            const int cur = current_of(c, i, j);

            if (has_field(c, cur, j))
                searches[i].fields[searches[i].nb_fields++] = (GpumeField){
                    .reference = j, .cur = &pics[cur], .ref = &pics[cur + s->distance[j]],
                };
        }
        if (ret >= 0 && i < s->nb && searches[i].nb_fields) {
            ret = place_fields(c, backend, priv, pics, sets, &searches[i]);
            if (ret >= 0)
                ret = backend->submit(priv, &searches[i]);
            CHECK(ret >= 0, "submit: %s", av_err2str(ret));
        }
        if (c->abandon && i + 1 >= c->in_flight)
            break;
        if (i + 1 < c->in_flight || nb_waited >= s->nb || ret < 0)
            continue;
        if (searches[nb_waited].nb_fields) {
            ret = backend->wait(priv, &searches[nb_waited]);
            CHECK(ret >= 0, "wait: %s", av_err2str(ret));
            if (!c->late_compare && ret >= 0)
                compare(c, b, nb_waited, &searches[nb_waited], NULL);
        }
        if (c->early_release && nb_waited >= reach)
            ff_gpume_picture_uninit(&pics[nb_waited - reach]);
        nb_waited++;
    }

    backend->uninit(priv);
    av_free(priv);
    for (int i = 0; i < s->nb; i++) {
        /* results must outlive the backend, as side data does */
        if (i < nb_waited && searches[i].nb_fields && c->late_compare && ret >= 0)
            compare(c, b, i, &searches[i], NULL);
        CHECK(!pics[i].frame || (pics[i].frame->data[0]     == c->frames[i]->data[0] &&
                                 pics[i].frame->linesize[0] == c->frames[i]->linesize[0]),
              "picture %d was changed", i);
        ff_gpume_picture_uninit(&pics[i]);
    }
    for (int i = 0; i < s->nb; i++)
        ff_gpume_fields_uninit(&sets[i]);
}

static void run_case(Case *c, const char *text)
{
    const int len = snprintf(test_context, sizeof(test_context),
        "case %"PRId64": %s\n  reproduce: gpume_unit%s -seed %"PRIu64" -case %"PRId64"\n  ",
        case_number, text, quick ? " -quick" : "", master_seed, case_number);

    test_watch(CASE_SECONDS);
    test_samples(&c->s, c->content, c->seed, c->s.range);
    test_layout(&c->s, c->seed + 1);
    test_expect(&c->s);
    for (int i = 0; i < ORACLE_MAX_SIZES; i++)
        nb_leaves[i] += test_nb_leaves(&c->s, 4 << i);
    for (int i = 0; i < c->s.nb; i++)
        c->frames[i] = test_frame(&c->s.pics[i]);
    for (int i = 0; i < nb_backends; i++) {
        TestBackend *b = &backends[i];

        snprintf(test_context + len, sizeof(test_context) - len, "backend %s %s, %s",
                 ff_gpume_backends[b->id]->name, b->level, c->backend ? "itself" : "in an engine");
        av_force_cpu_flags(b->cpu_flags);
        (c->backend ? run_backend : run_engine)(c, b);
    }
    for (int i = 0; i < c->s.nb; i++)
        av_frame_free(&c->frames[i]);
    test_free_stream(&c->s);
}

/* Cases as text: KEY=VALUE ...; other keys are drawn from the seed. */

static int find_name(const char *const *names, int nb, const char *name)
{
    for (int i = 0; i < nb; i++)
        if (!strcmp(names[i], name))
            return i;
    printf("unknown name: %s\n", name);
    exit(2);
}

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_GRAY8,    AV_PIX_FMT_GRAY9LE,  AV_PIX_FMT_GRAY9BE,  AV_PIX_FMT_GRAY10LE,
    AV_PIX_FMT_GRAY10BE, AV_PIX_FMT_P010LE,   AV_PIX_FMT_P010BE,   AV_PIX_FMT_GRAY12LE,
    AV_PIX_FMT_GRAY12BE, AV_PIX_FMT_P012LE,   AV_PIX_FMT_P012BE,   AV_PIX_FMT_GRAY14LE,
    AV_PIX_FMT_GRAY14BE, AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_GRAY16BE,
};

/** Sizes for random streams and for size=?. */
typedef struct Size {
    int w, h;
} Size;

static int random_side(TestRandom *r, int block, int max)
{
    int n;

    switch (test_draw(r, 4)) {
    case 0:  n = test_draw_range(r, 1, 9); break;
    case 1:  n = block * test_draw_range(r, 1, FFMAX(max / block, 1)) + test_draw_range(r, -1, 1); break;
    default: n = test_draw_range(r, 1, max); break;
    }
    return FFMIN(n, max);
}

static Size random_size(TestRandom *r, const Case *c)
{
    /* limits the work of a full search, because the oracle is slow */
    const int max_work = 3000000;
    /* limits it further with subpel vectors */
    int max = (c->s.block == 128 ? 280 : 160) / (c->s.pel > 1 ? 2 : 1);
    Size s;

    do {
        s = (Size){ random_side(r, c->s.block, max), random_side(r, c->s.block, max) };
        max -= max / 16;
    } while (test_full_work(&c->s, s.w, s.h) > max_work);
    return s;
}

static int random_range(TestRandom *r)
{
    static const int ranges[] = {
        1, 2, 3, 4, 7, 8, 15, 16, 24, 31, 32, 33, 64, 100, 128, 255, 1024,
    };

    return test_draw(r, 2) ? ranges[test_draw(r, FF_ARRAY_ELEMS(ranges))] : test_draw_range(r, 1, 40);
}

/* Draws the processing of vectors, and the number of levels of hme. */
static void draw_motion(TestRandom *r, TestStream *s)
{
    const int hme = gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL;

    s->smooth = test_draw(r, 3) ? 0 : 1 << test_draw(r, 7);
    s->check  = test_draw(r, 2);
    s->pel    = 1 << test_draw(r, 3);
    s->levels = hme && test_draw(r, 2) ? test_draw_range(r, 1, GPUME_MAX_LEVELS) : 0;
    if ((hme || s->smooth || s->pel > 1) && test_draw(r, 2))
        s->sweeps = 1 << test_draw(r, 3);
}

/*
 * Makes some cases search blocks of several sizes. Does not draw from r, so that other values of
 * the case do not change.
 */
static void draw_tree(uint64_t seed, TestStream *s)
{
    TestRandom r = { .state = test_mix(seed + 1) };

    if (test_draw(&r, 4) || s->block > 32)
        return;
    do {
        s->tree_max = 16 << test_draw(&r, 3);
    } while (s->tree_max <= s->block);
    switch (test_draw(&r, 3)) {
    case 0: s->qp     = test_draw_range(&r, -1, 51); break;
    case 1: s->lambda = test_draw(&r, (1 << test_draw(&r, 17)) + 1); break;
    case 2: s->lambda = test_draw(&r, 1500); break;
    }
}

/* Reads distances from a list such as -1/2. Returns their number. */
static int read_distances(int distance[GPUME_MAX_REFERENCES], const char *list)
{
    int nb = 0;

    for (char *end; nb < GPUME_MAX_REFERENCES; list = end + 1) {
        distance[nb++] = strtol(list, &end, 10);
        if (*end != '/')
            break;
    }
    return nb;
}

/** The pictures of a case, before they are drawn. */
typedef struct Drawn {
    enum AVPixelFormat format;
    char pictures[TEST_MAX_PICTURES + 1];   ///< kinds of pictures; empty: all are of the first kind
    int frames;
    Size size;
    int random_size;
} Drawn;

/* Sets a value of a case by its name in a text. */
static void set_value(Case *c, Drawn *d, TestRandom *r, const char *name, const char *value)
{
    const int random = value[0] == '?', n = atoi(value);
    const struct {
        const char *name;
        int *value;
    } numbers[] = {
        { "check", &c->s.check }, { "pel", &c->s.pel }, { "sweeps", &c->s.sweeps }, { "levels", &c->s.levels },
        { "qp", &c->s.qp }, { "flight", &c->in_flight }, { "backend", &c->backend }, { "close", &c->close_after },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(numbers); i++)
        if (!strcmp(name, numbers[i].name)) {
            *numbers[i].value = n;
            return;
        }
    if (!strcmp(name, "algo")) {
        c->s.algo = random ? test_draw(r, GPUME_NB_ALGOS) :
                   find_name(test_algos, GPUME_NB_ALGOS, value);
        c->s.smooth = test_default(c->s.algo, "smooth");
        c->s.check  = test_default(c->s.algo, "check");
        c->s.pel    = test_default(c->s.algo, "pel");
    } else if (!strcmp(name, "block"))
        c->s.block = random ? 4 << test_draw(r, 6) : n;
    else if (!strcmp(name, "cost"))
        /* does not draw from r, so that other values of the case do not depend on the cost */
        c->s.cost = random ? test_mix(c->seed) % 3 % GPUME_NB_COSTS : find_name(test_costs, GPUME_NB_COSTS, value);
    else if (!strcmp(name, "range"))
        c->s.range = random ? random_range(r) : n;
    else if (!strcmp(name, "motion"))
        draw_motion(r, &c->s);
    else if (!strcmp(name, "smooth"))
        c->s.smooth = random ? test_draw(r, 4) : n;
    else if (!strcmp(name, "tree"))
        random ? draw_tree(c->seed, &c->s) : (void)(c->s.tree_max = n);
    else if (!strcmp(name, "lambda"))
        c->s.lambda = random ? (int)(test_mix(c->seed + 2) % 2000) : n;
    else if (!strcmp(name, "size"))
        d->random_size = sscanf(value, "%dx%d", &d->size.w, &d->size.h) < 2;
    else if (!strcmp(name, "format"))
        d->format = av_get_pix_fmt(value);
    else if (!strcmp(name, "frames"))
        d->frames = random ? test_draw_range(r, 2, 6) : n;
    else if (!strcmp(name, "content"))
        c->content = random ? test_draw(r, 2) ? TEST_MOTION : test_draw(r, TEST_NB_DRAWN)
                           : find_name(test_content_names, TEST_NB_CONTENTS, value);
    else if (!strcmp(name, "dir"))
        test_set_dir(&c->s, random ? 1 + test_draw(r, 3) : n, 1);
    else if (!strcmp(name, "refs"))
        c->s.nb_references = read_distances(c->s.distance, value);
    else if (!strcmp(name, "executor"))
        c->executor.kind = find_name(test_executor_names, TEST_NB_EXECUTORS, value);
    else if (!strcmp(name, "push"))
        c->push_all = !strcmp(value, "all");
    else if (!strcmp(name, "abandon"))
        c->abandon = random ? !test_draw(r, 24) : n;
    else if (!strcmp(name, "sea"))
        c->exhaustive = !(c->always_sea = n);
    else if (!strcmp(name, "pictures"))
        d->frames = av_strlcpy(d->pictures, value, sizeof(d->pictures));
    else
        find_name(NULL, 0, name);
}

static void run_text(const void *opaque, const char *text)
{
    const uint64_t seed = test_mix(test_mix(master_seed) + case_number);
    TestRandom r = { .state = seed };
    Drawn d = {
        .format = test_draw(&r, 2) ? AV_PIX_FMT_GRAY8 : formats[test_draw(&r, FF_ARRAY_ELEMS(formats))],
        .frames = 3, .size = { 61, 43 },
    };
    char name[32], value[64];
    int len;
    Case c = {
        .s           = { .block = 16, .range = 7, .lambda = -1, .qp = -1 },
        .content     = TEST_MOTION,
        .in_flight   = test_draw_range(&r, 1, 3),
        .nb_threads  = test_draw_range(&r, 1, 5),
        .executor    = { test_draw(&r, TEST_NB_EXECUTORS), seed },
        .push_all    = test_draw(&r, 2),
        .references  = test_mix(seed + 4) % 4 ? 0 : test_mix(seed + 5),
        .close_after = -1,
        .seed        = seed,
        .backend     = !test_draw(&r, 3),
        .early_release = test_draw(&r, 2),
        .late_compare  = !test_draw(&r, 3),
        .intra         = test_draw(&r, 2),
        .automatic     = test_draw(&r, 2),
    };

    switch (test_draw(&r, 4)) {
    case 0: c.exhaustive = 1; break;
    case 1: c.always_sea = 1; break;
    }
    if (only_case >= 0 && only_case != case_number) {
        case_number++;
        return;
    }
    /* every is a prime above 5, because choices come in twos, threes and fives */
    if ((quick && only_case < 0 && case_number % every) || !test_is_mine()) {
        case_number++;
        return;
    }

    test_set_dir(&c.s, 3, 1);
    for (const char *p = text; sscanf(p, " %31[^= ]=%63s%n", name, value, &len) == 2; p += len)
        set_value(&c, &d, &r, name, value);
    if (d.random_size)
        d.size = random_size(&r, &c);
    c.s.nb = d.frames;
    for (int i = 0; i < FFMAX(d.frames, 1); i++) {
        /* a: the first size, b: wider, c: higher, d: another format */
        const int kind = d.pictures[0] ? d.pictures[i] : 'a';

        c.s.pics[i] = (TestPicture){
            .w = d.size.w + 9 * (kind == 'b'), .h = d.size.h + 5 * (kind == 'c'), .pts = 2 * i + 3,
            .format = kind != 'd' ? d.format : d.format == AV_PIX_FMT_GRAY8 ? AV_PIX_FMT_P010LE
                                                                            : AV_PIX_FMT_GRAY8,
        };
    }
    if (c.backend && (d.pictures[0] || c.close_after >= 0))
        c.backend = 0;
    if (c.abandon)
        c.backend = 1;
    run_case(&c, text);
    case_number++;
}

#define FORMATS "format={gray,gray9le,gray9be,gray10le,gray10be,p010le,p010be,gray12le,gray12be," \
                "p012le,p012be,gray14le,gray14be,gray16le,gray16be}"
#define CONTENTS "content={random,extreme,checker,flat,equal,motion,shift,binary,stripes,ramp,speeds}"
#define SIDES "{1,2,3,4,5,7,8,9,12,15,16,17,19}"
#define BLOCKS "block={4,8,16,32,64,128}"
#define NEIGHBOURS "{size=96x80 block=8,size=100x75 block=16,size=131x16 block=16,"   \
                   "size=15x150 block=16,size=8x70 block=8,size=70x7 block=4,"        \
                   "size=61x43 block=4,size=40x33 block=32}"

#define FULL 1      // full search
#define REST 2      // pattern and predictive searches
#define HME  4
#define ALL  (FULL | REST | HME)

/** Cases that are always tested. */
static const struct {
    int kinds;
    const char *text;
} fixed[] = {
    /* every block size with every memory layout of samples */
    { FULL, "block={4,8,16,32,64} " FORMATS " size=74x69 range=3 frames=2" },
    { FULL, "block=128 " FORMATS " size=131x129 range=3 frames=2" },
    { REST, "block={4,8,16,32,64} " FORMATS " size=74x69 range=60 frames=2" },
    { REST, "block=128 " FORMATS " size=131x129 range=60 frames=2" },
    /* every kernel: a thread of the full search on CUDA has 9, 11 or 13 vectors */
    { FULL | REST, "block={4,8,16} range={4,5,6} size=75x53" },
    /* searches that go far: on CUDA, beyond the samples that a warp has in shared memory */
    { REST, "block={4,8,16} size={176x96,182x97,187x96} range=90 content=ramp "
            "format={gray,gray9le,p010le} frames=2" },
    /* narrow and high pictures: candidates only above each other */
    { FULL | REST, "{size=8x900 block=128 range=700,size=11x400 block=16 range=390,"
                   "size=16x400 block=8 range=390} format={gray,gray10le} frames=2" },
    { FULL, "size=140x290 block=128 range=160 format={gray,gray10le} frames=2 dir=1" },
    { REST, "size=140x900 block=128 range=700 format={gray,gray10le} frames=2" },
    /* half a block at the lower edge, rows that begin at multiples of 16 bytes */
    { FULL | REST, "{size=80x28 block=8,size=80x56 block=16} range={4,8,12,16,20,24} frames=2" },
    /* more candidates in a row than a word has bits */
    { FULL | REST, "{size=307x7 block=4,size=307x35 block=32,size=307x131 block=128} range=140 "
                   "frames=2 format=gray" },
    { FULL | REST, "{size=307x11 block=8 format=gray10le,size=307x19 block=16 format=gray} "
                   "range=140 frames=2 content=shift" },
    { FULL | REST, "size=307x67 block=64 range=140 frames=2 format=gray10le" },
    /* all small sizes */
    { FULL | REST, "size=" SIDES "x" SIDES " block={4,8} range=?  content=shift" },
    /* all contents, with ranges up to far beyond the picture */
    { FULL | REST, CONTENTS " range={1,2,3,8,17,1024} size=37x29 block=8" },
    /* one sample, one row, one column, one block, less than a block */
    { FULL | REST, "{size=1x1 block=4,size=1x1 block=128,size=90x1 block=8,size=1x90 block=8,"
                   "size=16x16,size=127x127 block=128,size=128x128 block=128,"
                   "size=128x129 block=128,size=5x3 block=64,size=33x1 block=32} "
                   "range=5 content=random" },
    /* elimination with all contents, and with blocks that the edges cut */
    { FULL, CONTENTS " {size=96x64 block=8 range=40,size=71x44 block=16 range=33} "
            "sea=1 frames=2" },
    /* predictors from neighbours and from previous pictures: many pictures, one row, one column */
    { FULL, NEIGHBOURS " range=9 frames=6 content=speeds dir=?" },
    { REST, NEIGHBOURS " range=24 frames=6 content={motion,speeds} dir=?" },
    /* the largest possible costs */
    { FULL | REST, "size=130x129 block=128 range=2 content=extreme format={gray,gray16le}" },
    /* the largest sides: dst + range fits into 16 bits */
    { FULL, "size={31743x3,3x31743} block=128 range=2 content=ramp format=gray16le frames=2" },
    { REST, "size={31743x1,1x31743} block=128 range=1024 content=ramp format=gray16le frames=2" },
    /* every executor */
    { ALL, "executor={serial,reversed,shuffled,threads} frames=6 backend={0,1}" },
    /* closed in mid-stream */
    { ALL, "flight={1,2,3} abandon=1 frames=6" },
    { ALL, "flight={1,3} close={0,1,2,3} push={all,one} frames=6 size=30x22" },
    /* few pictures, many searches in flight */
    { ALL, "frames={0,1,2} dir={1,2,3} flight={1,2,8} push={all,one} backend=0 size=20x12" },
    { ALL, "flight={1,2,3,4,5,6,7,8,9,16,64} dir=3 push={all,one} frames=12 range=2 "
                   "backend=0 size=20x12" },
    /* size and format change: no past reference, and no predictors from previous searches */
    { ALL, "pictures={aabb,abab,aaaacccc,aaddaa,abcdabcd,aaabaaa} dir={1,2,3} "
                   "push={all,one} size=40x26 block=8" },
    /* references at other distances than 1 */
    { FULL | REST, "refs={-2,2,-1/-2,1/-1,-3/2,-2/2,3/1} frames=7 size=40x26 block=8 backend={0,1}" },
    { HME, "refs={-2,2,1/-1,-2/2,3/-3} frames=7 size=40x26 block=8 backend={0,1}" },
    { HME, "refs={-1/-2,3/1} check=0 frames=7 size=40x26 block=8 backend={0,1}" },
    /* several references on both sides, and fewer pictures than references */
    { FULL | REST, "refs={-1/-2/-3/1/2/3,2/-1/3/-3,-8/1} frames={2,9} check={0,1} size=30x22 block=8 backend={0,1}" },
    { HME, "refs={-1/-2/-3/1/2/3,-1/-2,1/2/3,2/-1/3/-3,-8/1} frames={2,9} size=40x26 block=8 backend={0,1} "
           "flight={1,3}" },
    /* SATD: every block size, samples of one and two bytes, tiles that the edges cut */
    { ALL, "cost=satd block={4,8,16,32,64} format={gray,gray9le,p010be,gray16le} size=74x69 range={3,30} frames=2" },
    { FULL | REST, "cost=satd block=128 format={gray,gray10le} size=131x129 range=3 frames=2" },
    { FULL, "cost=satd size=" SIDES "x" SIDES " block={8,16} range=6 content=shift frames=2" },
    { FULL | REST, "cost=satd " CONTENTS " range=8 size=37x29 block=8 frames=2" },
    { FULL | REST, "cost=satd content={hadamard,extreme,checker} format={gray,gray16le} size=130x129 "
                   "block=128 range=2" },
    { REST, "cost=satd " NEIGHBOURS " range=24 frames=4 content=speeds dir=?" },
    /* bounds in bytes: one to eight bits above 8, whole tiles, half a tile at the lower edge,
     * several searches at once */
    { FULL, "block={4,8,16} format={gray9le,gray10le,p012le,gray16le} {size=80x72 range=5,size=61x43 range=16} "
            "content={random,motion} frames=2" },
    { FULL, "block={4,8,16} format={gray10le,p016le} size=61x43 range=127 content=binary frames=2" },
    /* bounds for 4x4 samples of every depth above 10 */
    { FULL, "block=4 format={gray12le,p012be,gray14le,gray16le} {size=80x72 range=5,size=70x45 range=20} "
            "content={random,motion,faint} frames=2" },
    /* content for which many candidates survive the bounds */
    { FULL, "block={4,8,16} format={gray10le,p012le,gray16le} size=80x56 range={5,16} content=faint frames=2" },
    /* every candidate of 10 bits: eight adjacent displacements and the remaining ones, whole and divided windows */
    { FULL, "block={4,8,16} format={gray9le,p010le} size=112x72 range={16,23,64} content=extreme sea=0 frames=2" },
    /* every candidate of more than 10 bits, also beyond all edges */
    { FULL, "block={4,8,16} format={gray12le,p012be,gray16le} content={extreme,random,faint} sea=0 frames=2 "
            "{size=112x72 range=5,size=112x72 range=23,size=80x56 range=64,size=61x43 range=16,size=61x43 range=127}" },
    /* two samples at once: the largest sums of 10 and 12 bits, for every position of the bits in a word */
    { REST, "block={4,8,16} format={gray10le,p010le,gray12le,p012le} content={extreme,checker,random} size=96x72 "
            "range={2,30} frames=2" },
    /* costs of large blocks as sums: whole tiles, half a tile at the lower edge, tiles that the edges cut */
    { FULL, "block={32,64} size={128x128,64x72,144x70} range={5,12} frames=2 dir=?" },
    { FULL, "block={32,64} size={80x64,33x90,90x33} range=40 content=random frames=2" },
};

/** Each kind of processing of vectors, and all of them together. */
#define PARTS "{smooth=2,check=1,pel=2,pel=4,smooth=2 check=1,smooth=3 pel=2,smooth=1 pel=4," \
              "check=1 pel=2,check=1 pel=4,smooth=2 check=1 pel=4}"
#define SOME  "{algo=ds smooth=2,algo=ds check=1,algo=ds pel=4,algo=epzs smooth=2 check=1 pel=2," \
              "algo=hme}"

/** Cases of true motion. */
static const char *const motion[] = {
    "algo={fs,ds,tss,umh,epzs} " PARTS " block={4,8,16} frames=3 dir={1,2,3}",
    /* subpel samples, and means of four samples, with every memory layout */
    "algo={ds,hme} smooth=2 check=1 pel={1,2,4} block={4,8,16,32,64} " FORMATS
    " size=74x69 range=20 frames=2",
    "algo={ds,hme} smooth=2 check=1 pel={1,4} block=128 " FORMATS " size=131x129 range=20 frames=2",
    /* all small sizes, one sample, less than a block */
    "algo={epzs,hme} size=" SIDES "x" SIDES " block={4,8} range=? content=shift frames=2 motion=?",
    SOME " {size=1x1 block=4,size=1x1 block=128,size=90x1 block=8,size=1x90 block=8,"
    "size=16x16,size=127x127 block=128,size=128x128 block=128,size=128x129 block=128,"
    "size=5x3 block=64,size=33x1 block=32,size=200x3 block=4,size=2x200 block=16} "
    "range=5 content={random,motion}",
    /* all contents, with ranges up to far beyond the picture */
    "algo={fs,epzs,hme} " CONTENTS " range={1,2,3,8,17,1024} size=37x29 block=8 motion=?",
    "algo={fs,epzs,hme} " CONTENTS " range=9 size=67x58 block=4 frames=2 pel={1,4} smooth={0,2} check=1",
    /* pyramids that end at one sample, or that consist of the picture itself */
    "algo=hme levels={1,2,3,4,5,6,7,8,9,10,11} size={1x1,1x70,97x1,33x20,100x75,64x64} "
    "block={4,16} range={1,5,1024} frames=2",
    /* global candidates: blocks of every size, both costs, one and two directions, blocks that the edges cut */
    "algo=hme content=small block={4,8,16,32} pel={1,4} cost={sad,satd} check={0,1} range={24,64} "
    "format={gray,gray10le} size={150x133,127x70} frames=2",
    /* the automatic number of levels */
    "algo=hme size={31x31,32x32,33x70,63x64,64x64,65x130,127x128,130x129} block={4,8,16,32,64} "
    "range={7,40,256} frames=2",
    "algo=hme size=257x260 block=128 range={7,256} frames=2",
    /* parents next to the block's own, at odd sizes */
    NEIGHBOURS " algo=hme range=24 frames=3 content=speeds dir=? motion=?",
    NEIGHBOURS " algo={umh,epzs} range=24 frames=6 content={motion,speeds} dir=? motion=?",
    NEIGHBOURS " algo=epzs range=24 frames=6 content=speeds check=1 smooth={0,2} pel={1,4} dir={1,2,3}",
    /* numbers of passes and strengths */
    "algo={ds,hme} smooth={0,1,2} pel={2,4} sweeps={1,2,3,5,8,15,16}",
    "algo={ds,hme} smooth={1,2} pel=1 sweeps={1,2,3,5,8,15,16}",
    /* more phases than the GPU has numbers for, so that numbering restarts */
    "algo=hme levels=11 sweeps=16 pel=4 refs=-1/-2/-3/-4/-5/-6/-7/-8 frames=16 size=18x17 block=8 "
    "range=2 content=speeds",
    /* enough blocks for each warp to have several */
    "algo=hme levels=1 sweeps=1 pel={1,4} block=4 size=16516x12 range=4 content=speeds frames=2",
    "algo={fs,hme} smooth={1,2,7,16,63,64} block={4,8,16,32,64,128} range=6 "
    "format={gray,gray10le,gray16le} pel={1,4} frames=2",
    /* the largest possible costs */
    "algo={ds,hme} size=130x129 block=128 range=2 content={extreme,checker} format={gray,gray16le} "
    "smooth=64 pel={1,2,4} check={0,1} frames=2",
    /* the largest sides */
    "{algo=ds range=1024,algo=hme range=40} size={31743x1,1x31743} block=128 content=ramp "
    "format=gray16le smooth=2 check=1 pel=4 frames=2",
    "algo={ds,hme} block={4,8,16} format={gray10le,p010le,gray12le,p012le} content={extreme,checker,random} size=80x72 "
    "range=9 smooth=2 check=1 pel={1,2,4} frames=2",
    /* content without consistent vectors: the replacement searches in rings */
    "algo={fs,ds,hme} content={random,shift,binary,stripes,speeds} check=1 pel={1,4} smooth=? "
    "block={4,8} size=91x66 range={3,12} frames=2",
    /* every executor, closed in mid-stream, few pictures, many searches in flight */
    SOME " executor={serial,reversed,shuffled,threads} frames=4 backend={0,1} size=91x66 block=8",
    SOME " flight={1,2,3} abandon=1 frames=6 dir={1,2,3}",
    SOME " flight={1,3} close={0,1,2,3} push={all,one} frames=6 size=30x22 dir={1,2,3}",
    SOME " frames={0,1,2} dir={1,2,3} flight={1,2,8} push={all,one} backend=0 size=20x12",
    SOME " flight={1,2,3,5,8,64} dir=? push={all,one} frames=12 range=2 backend=0 size=20x12",
    SOME " flight={1,2,3} dir={1,2,3} frames=8 range=5 backend=1 size=40x26 block=8",
    SOME " pictures={aabb,abab,aaaacccc,aaddaa,abcdabcd,aaabaaa} dir={1,2,3} push={all,one} "
    "size=40x26 block=8",
    "algo={ds,epzs} check=1 smooth=? pel={1,4} refs={-2,2,1/-1,-2/2,3/-3} frames=7 size=40x26 "
    "block=8 backend={0,1}",
    "algo={ds,epzs,hme} check=1 refs={-1/-2/1/2,-1/-2,2/-1} frames=6 size=40x26 block=8 backend={0,1}",
    "algo={ds,epzs} smooth=2 pel=4 refs={-1/-2,-3/2} frames=7 size=40x26 block=8 backend={0,1}",
    /* SATD */
    "cost=satd algo={fs,ds,umh,epzs} " PARTS " block={4,8,16} frames=3 dir=?",
    "cost=satd algo={ds,hme} smooth=2 check=1 pel={1,2,4} block={4,8,16,32,64} "
    "format={gray,gray9le,p010be,gray16le} size=74x69 range=20 frames=2",
    "cost=satd algo={ds,hme} size=130x129 block=128 range=2 content={hadamard,extreme} format={gray,gray16le} "
    "smooth=64 pel={1,2,4} check={0,1} frames=2",
    "cost=satd " NEIGHBOURS " algo={hme,epzs} range=24 frames=3 content=speeds dir=? motion=?",
};

/** Sizes of blocks: the largest and the smallest. */
#define TREES "{tree=16 block=4,tree=16 block=8,tree=32 block=4,tree=32 block=8,tree=32 block=16," \
              "tree=64 block=4,tree=64 block=8,tree=64 block=16,tree=64 block=32}"

/** Cases of blocks of several sizes. */
static const char *const trees[] = {
    /* every search with all later steps, and every cost */
    "algo={fs,tss,tdls,ntss,fss,ds,hexbs,epzs,umh,hme} " TREES " size=150x90 content=speeds "
    "lambda={100,1000} frames=3 dir=?",
    "algo={fs,ds,epzs,hme} " PARTS " tree={16,32,64} block=8 size=91x66 content=speeds lambda=300 frames=3 dir=?",
    "algo={ds,hme} cost=satd " TREES " smooth=2 check=1 pel={1,2,4} size=91x66 content=speeds qp=20 frames=2",
    /* costs that are sums of the costs of parts, exact and as bounds */
    "algo=fs {sea=0,cost=satd} " TREES " content={speeds,stripes} {range=3 size=91x83,range=7 size=75x70} "
    "lambda=200 frames=2",
    "algo=fs {sea=0,cost=satd,cost=satd sea=0} format={gray10le,gray16le} tree=64 block={4,8,16} "
    "content={speeds,extreme} size=75x70 range=9 dir=? frames=2",
    /* the cost of a bit, from 0 to the maximum */
    "algo={fs,hme} tree=64 block={4,16} lambda={0,1,2,7,64,256,1290,9999,65535,65536} size=131x100 range=5 "
    "content={motion,speeds,random} frames=2",
    "algo=ds tree={16,64} block=4 qp={-1,0,1,12,28,29,51} format={gray,gray10le,gray16le} size=75x70 range=9 "
    "content=speeds frames=2",
    /* every memory layout of samples */
    "algo={ds,hme} check=1 pel={1,4} tree=64 block=8 " FORMATS " size=74x69 range=20 content=speeds frames=2",
    /* all small sizes, one root, less than a block, one row, one column */
    "algo={epzs,hme} tree={16,32} size=" SIDES "x" SIDES " block=4 range=? content={shift,binary} lambda=? frames=2",
    SOME " {tree=16 block=4,tree=64 block=4,tree=64 block=32} {size=1x1,size=90x1,size=1x90,size=16x16,size=64x64,"
    "size=65x64,size=64x65,size=63x127,size=5x3,size=33x1,size=200x3,size=2x200,size=16x150,size=150x16} range=5 "
    "lambda={0,200} content={random,motion}",
    /* roots that have predictors, at the ends of rows */
    "algo={fs,hme} tree=16 block={4,8} size={16x90,32x90,33x90,48x90,49x90,47x47} range=12 lambda={50,700} "
    "content={speeds,shift} frames=3",
    /* all contents */
    "algo={fs,epzs,hme} " CONTENTS " tree={16,32} block=4 range={3,9} lambda=? size=67x58 frames=2 pel={1,4} check=1",
    /* the largest costs of samples and of vectors */
    "algo={ds,hme} size=130x129 tree=64 block={4,32} range=1024 content={extreme,checker,random} "
    "format={gray,gray16le} lambda=65536 pel={1,4} cost={sad,satd} frames=2",
    "algo=fs size=8x900 tree=64 block=4 range=700 pel=4 content=random format=gray16le lambda={65536,10} frames=2",
    /* several references, and predictors from previous searches */
    "algo={epzs,ds} smooth={0,2} check={0,1} refs={-1/-2,2/-1/3} tree=32 block=8 frames=6 size=70x50 content=speeds "
    "lambda=? backend={0,1}",
    "algo=hme refs={-1/-2,2/-1/3} tree=32 block=8 frames=6 size=70x50 content=speeds lambda=? backend={0,1}",
    /* every executor, closed in mid-stream, few pictures, many searches in flight, changing pictures */
    SOME " tree=32 block=4 executor={serial,reversed,shuffled,threads} frames=4 backend={0,1} size=91x66 "
    "content=speeds",
    SOME " tree=32 block=4 flight={1,2,3} abandon=1 frames=5 dir={1,2,3} size=50x40",
    SOME " tree=32 block=4 flight={1,3} close={0,1,3} push={all,one} frames=5 size=30x22 dir={1,2,3}",
    SOME " tree=32 block=4 frames={0,1,2} dir={1,2,3} flight={1,8} push={all,one} backend=0 size=20x12",
    SOME " tree=16 block=4 flight={1,2,5,64} dir=? push={all,one} frames=9 range=2 backend={0,1} size=40x26",
    SOME " pictures={aabb,abab,aaddaa,abcdabcd,aaabaaa} dir={1,2,3} push={all,one} size=40x26 tree=32 block=8",
    /* costs as sums: whole tiles, half a tile at the lower edge, few and many displacements, with later steps */
    "algo=fs " TREES " {size=112x88 range=4,size=80x72 range=16} lambda=50 content=speeds frames=2",
    "algo=fs tree=64 block={4,8,16} size=80x66 range=33 content={random,equal} lambda=0 frames=2",
    "algo=fs tree={16,64} block={4,8} size=48x40 range=127 content={extreme,random} lambda=9 frames=2",
    "algo=fs tree=64 block={4,8} size=96x72 range=7 " PARTS " frames=3 refs=-1/-2",
    /* bounds for more than 8 bits: every depth, scale and order of equal costs */
    "algo=fs " TREES " format={gray9le,gray10be,p010le,gray16le} {size=112x88 range=4,size=80x72 range=16} lambda=50 "
    "content={speeds,faint} frames=2",
    "algo=fs tree=64 block={8,16,32} format={gray10le,gray16be} size={130x75,64x64,79x129} range={5,17} lambda={0,90} "
    "content={random,extreme,checker,flat,equal,binary,stripes,ramp,faint} frames=2",
    "algo=fs tree={16,64} block={4,8} format={p012le,gray16le} size=48x40 range=127 content={extreme,random,faint} "
    "lambda=9 frames=2",
    "algo=fs tree=64 block=8 format=p010be size=96x72 range=7 frames=3 refs=-1/-2 content=speeds",
    "algo=fs tree=64 block={8,16,32} format={gray9le,gray16le} size={150x100,5x70} range={1,2,3} content=random "
    "frames=2",
    "algo=fs block={32,64} format={gray10le,gray16le} size={130x75,79x129} range={5,33} content={speeds,faint,stripes} "
    "frames=2 dir=?",
};

static void run_fixed(void)
{
    for (int algo = 0; algo < GPUME_NB_ALGOS; algo++) {
        for (int i = 0; i < FF_ARRAY_ELEMS(fixed); i++) {
            const int kind = gpume_kind(algo) == GPUME_KIND_FULL         ? FULL :
                             gpume_kind(algo) == GPUME_KIND_HIERARCHICAL ? HME  : REST;
            char text[512];

            snprintf(text, sizeof(text), "algo=%s %s", test_algos[algo], fixed[i].text);
            if (fixed[i].kinds & kind)
                test_each_choice(text, run_text, NULL);
        }
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(motion); i++)
        test_each_choice(motion[i], run_text, NULL);
    for (int i = 0; i < FF_ARRAY_ELEMS(trees); i++)
        test_each_choice(trees[i], run_text, NULL);
}

#define CHOSEN(...) { .block = 16, .range = 8, .nb_references = 1, .distance = { -1 }, __VA_ARGS__ }
#define PYRAMID(...) CHOSEN(.algo = GPUME_ALGO_HME, __VA_ARGS__)

/* Tests which pixel formats are rejected, and what follows from the others. */
static void test_pixel_formats(void)
{
    static const struct {
        enum AVPixelFormat format;
        int depth, shift, big_endian;   // depth 0: rejected
    } known[] = {
        { AV_PIX_FMT_GRAY8,       8, 0, 0 }, { AV_PIX_FMT_YUV420P,    8, 0, 0 },
        { AV_PIX_FMT_NV12,        8, 0, 0 }, { AV_PIX_FMT_NV24,       8, 0, 0 },
        { AV_PIX_FMT_YUVA444P,    8, 0, 0 }, { AV_PIX_FMT_P010LE,    10, 6, 0 },
        { AV_PIX_FMT_P010BE,     10, 6, 1 }, { AV_PIX_FMT_P012LE,    12, 4, 0 },
        { AV_PIX_FMT_P016BE,     16, 0, 1 }, { AV_PIX_FMT_YUV420P9LE, 9, 0, 0 },
        { AV_PIX_FMT_YUV422P10BE, 10, 0, 1 }, { AV_PIX_FMT_GRAY14LE, 14, 0, 0 },
        { AV_PIX_FMT_NV20LE,     10, 0, 0 }, { AV_PIX_FMT_RGB24,      8, 0, 0 },
        { AV_PIX_FMT_GBRP,        8, 0, 0 }, { AV_PIX_FMT_YUYV422,    8, 0, 0 },
        { AV_PIX_FMT_GBRP12BE,   12, 0, 1 }, { AV_PIX_FMT_X2RGB10LE, 10, 2, 0 },
        { AV_PIX_FMT_Y210LE,     10, 6, 0 }, { AV_PIX_FMT_RGB565LE,   0, 0, 0 },
        { AV_PIX_FMT_UYYVYY411,   0, 0, 0 },
        { AV_PIX_FMT_PAL8,        0, 0, 0 }, { AV_PIX_FMT_GRAYF32LE,  0, 0, 0 },
        { AV_PIX_FMT_YA8,         8, 0, 0 }, { AV_PIX_FMT_MONOWHITE,  0, 0, 0 },
        { AV_PIX_FMT_CUDA,        0, 0, 0 }, { AV_PIX_FMT_NONE,       0, 0, 0 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++) {
        GpumeParams p = CHOSEN();
        int ret;

        snprintf(test_context, sizeof(test_context), "format %d", known[i].format);
        test_forget_log();
        ret = ff_gpume_params_init(&p, 70, 33, known[i].format, NULL);
        CHECK(ff_gpume_format_supported(known[i].format) == !!known[i].depth, "supported or not");
        if (!known[i].depth)
            CHECK(ret == AVERROR(EINVAL) && test_nb_errors == 1, "it is not refused");
        else
            CHECK(ret >= 0 && p.depth == known[i].depth && p.shift == known[i].shift &&
                  !p.big_endian == !known[i].big_endian && p.width == 70 && p.height == 33 &&
                  p.bw == 5 && p.bh == 3, "%s depth %d shift %d big-endian %d, %dx%d, %dx%d blocks",
                  av_err2str(ret), p.depth, p.shift, p.big_endian, p.width, p.height, p.bw, p.bh);
    }
}

/* Tests which parameters are rejected. */
static void test_valid_params(void)
{
    static const struct {
        GpumeParams p;
        int w, h;
        const char *message;    ///< NULL: accepted
    } rows[] = {
        { CHOSEN(), 1, 1 }, { CHOSEN(), 31743, 1 }, { CHOSEN(), 1, 31743 },
        { CHOSEN(.block = 4, .range = 1),      31743, 31743 },
        { CHOSEN(.block = 128, .range = 1024), 31743, 31743 },
        { CHOSEN(), 31744, 1, "31743" }, { CHOSEN(), 1, 31744, "31743" },
        { CHOSEN(), 0, 5, "31743" },     { CHOSEN(), 5, 0, "31743" },
        { CHOSEN(), -1, 5, "31743" },
        { CHOSEN(.algo = -1), 9, 9, "Search -1" },
        { CHOSEN(.algo = GPUME_NB_ALGOS), 9, 9, "Search" },
        { CHOSEN(.cost = -1), 9, 9, "cost -1" },
        { CHOSEN(.cost = GPUME_NB_COSTS), 9, 9, "cost" },
        { CHOSEN(.block = 24), 9, 9, "'block' is 24" }, { CHOSEN(.block = 2), 9, 9, "'block' is 2" },
        { CHOSEN(.block = 256), 9, 9, "block" },      { CHOSEN(.block = 0), 9, 9 },
        { CHOSEN(.block = -16), 9, 9, "block" },
        { CHOSEN(.range = -1), 9, 9, "'range' is -1" },
        { CHOSEN(.range = 1025), 9, 9, "'range' is 1025" },
        { CHOSEN(.levels = 1), 9, 9, "levels" },
        { PYRAMID(.levels = 12), 9, 9, "'levels' is 12" }, { PYRAMID(.levels = -1), 9, 9, "'levels' is -1" },
        { PYRAMID(.levels = 1), 9, 9 }, { PYRAMID(.levels = 11), 1, 1 },
        { CHOSEN(.smooth = 65), 9, 9, "'smooth' is 65" },
        { CHOSEN(.smooth = -2), 9, 9, "'smooth' is -2" },
        { CHOSEN(.smooth = 64), 9, 9 }, { CHOSEN(.smooth = GPUME_AUTO), 9, 9 },
        { CHOSEN(.pel = 3), 9, 9, "'pel' is 3" }, { CHOSEN(.pel = 5), 9, 9, "'pel' is 5" },
        { CHOSEN(.pel = 8), 9, 9, "'pel' is 8" }, { CHOSEN(.pel = -1), 9, 9, "'pel' is -1" },
        { PYRAMID(.pel = 3), 9, 9, "'pel' is 3" },
        { CHOSEN(.pel = 1), 9, 9 }, { CHOSEN(.pel = 2), 9, 9 }, { CHOSEN(.pel = 4), 9, 9 },
        { PYRAMID(.sweeps = 17), 9, 9, "'sweeps' is 17" }, { PYRAMID(.sweeps = -1), 9, 9, "'sweeps' is -1" },
        { CHOSEN(.sweeps = 2), 9, 9, "sweeps" },
        { CHOSEN(.sweeps = 1, .smooth = GPUME_AUTO, .check = 1, .pel = 1), 9, 9, "sweeps" },
        { CHOSEN(.sweeps = 16, .smooth = 1), 9, 9 }, { CHOSEN(.sweeps = 1, .pel = 2), 9, 9 },
        { PYRAMID(.sweeps = 2, .smooth = 0, .pel = 1), 9, 9 },
        { CHOSEN(.check = 1, .distance = { -2 }), 9, 9 },
        { CHOSEN(.check = 1, .nb_references = 2, .distance = { -1, 1 }), 9, 9 },
        { CHOSEN(.check = 1, .nb_references = 2, .distance = { 3, -3 }), 9, 9 },
        { CHOSEN(.check = 1, .nb_references = 2, .distance = { -1, -2 }), 9, 9 },
        { CHOSEN(.check = 1, .nb_references = 2, .distance = { -1, 2 }), 9, 9 },
        { CHOSEN(.nb_references = 2, .distance = { -1, 9 }), 9, 9, "references" },
        { CHOSEN(.check = GPUME_AUTO, .nb_references = 2, .distance = { -1, -2 }), 9, 9 },
        { PYRAMID(.check = 0, .nb_references = 2, .distance = { -1, -2 }), 9, 9 },
        { PYRAMID(.check = GPUME_AUTO, .nb_references = 2, .distance = { -1, -2 }), 9, 9 },
        { CHOSEN(.distance = { 0 }), 9, 9, "references" },
        { CHOSEN(.nb_references = 2, .distance = { -1, -1 }), 9, 9, "references" },
        { CHOSEN(.nb_references = 2, .distance = { -1, 0 }), 9, 9, "references" },
        { CHOSEN(.nb_references = 2, .distance = { -1, 1 }), 9, 9 },
        { CHOSEN(.nb_references = 2, .distance = { 3, 1 }), 9, 9 },
        { CHOSEN(.nb_references = 0), 9, 9, "references" },
        { CHOSEN(.nb_references = -1), 9, 9, "references" },
        { CHOSEN(.nb_references = GPUME_MAX_REFERENCES + 1), 9, 9, "references" },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        GpumeParams p = rows[i].p;
        int ret;

        snprintf(test_context, sizeof(test_context), "row %d of parameters", i);
        test_forget_log();
        ret = ff_gpume_params_init(&p, rows[i].w, rows[i].h, AV_PIX_FMT_GRAY8, NULL);
        if (rows[i].message)
            CHECK(ret == AVERROR(EINVAL) && test_nb_errors == 1 &&
                  strstr(test_errors, rows[i].message), "%s (%s)", av_err2str(ret), test_errors);
        else
            CHECK(ret >= 0 && !test_nb_errors, "%s (%s)", av_err2str(ret), test_errors);
        /* initialised parameters must be valid for the next size of the stream */
        if (!rows[i].message)
            CHECK(ff_gpume_params_init(&p, 9, 9, AV_PIX_FMT_GRAY8, NULL) >= 0, "with the next size: %s",
                  test_errors);
    }
}

/* Tests the default values of each search. */
static void test_default_params(void)
{
    for (int algo = 0; algo < GPUME_NB_ALGOS; algo++) {
        GpumeParams p = CHOSEN(.algo = algo, .smooth = GPUME_AUTO, .check = GPUME_AUTO);

        snprintf(test_context, sizeof(test_context), "defaults of %s", test_algos[algo]);
        p.range = p.block = 0;
        CHECK(ff_gpume_params_init(&p, 9, 9, AV_PIX_FMT_GRAY8, NULL) >= 0, "%s", test_errors);
        CHECK(p.block == test_default(algo, "block") && p.range == test_default(algo, "range") &&
              p.smooth == test_default(algo, "smooth") &&
              p.check == test_default(algo, "check") && p.pel == test_default(algo, "pel"),
              "block %d range %d smooth %d check %d pel %d", p.block, p.range, p.smooth, p.check, p.pel);
        CHECK(p.nb_distances == 1 + p.check && p.nb_references == 1 && p.distance[0] == -1 &&
              p.distance[1] == p.check, "%d distances of %d, the second is %d", p.nb_distances,
              p.nb_references, p.distance[1]);
    }
}

static void test_params(void)
{
    test_pixel_formats();
    test_valid_params();
    test_default_params();
}

/* Tests that an engine reports what it does not support, and is then NULL. */
static void test_engine_errors(void)
{
    TestExecutor executor = { TEST_SERIAL };
    GpumeEngineConfig cfg = {
        .params = CHOSEN(.block = 24), .backend = GPUME_BACKEND_cpu, .max_in_flight = 1,
        .executor = { test_execute, &executor, 1 },
    };
    const TestPicture pictures[] = {
        { .w = 9, .h = 9, .format = AV_PIX_FMT_GRAY8, .fault = TEST_NO_LUMA },
        { .w = 9, .h = 9, .format = AV_PIX_FMT_GRAY8, .fault = TEST_NARROW },
        { .w = 9, .h = 9, .format = AV_PIX_FMT_RGB565 },
        { .w = 31744, .h = 1, .format = AV_PIX_FMT_GRAY8 },
    };
    GpumeEngine *engine;
    GpumeResult r;
    int ret;

    snprintf(test_context, sizeof(test_context), "errors of the engine");
    ret = ff_gpume_engine_open(&engine, &cfg, 9, 9, AV_PIX_FMT_GRAY8, NULL);
    CHECK(ret == AVERROR(EINVAL) && !engine, "open: %s", av_err2str(ret));
    ff_gpume_engine_close(&engine);

    cfg.params.block = 16;
    for (int i = 0; i < FF_ARRAY_ELEMS(pictures); i++) {
        TestStream s = { .nb = 1, .pics = { pictures[i] } };
        AVFrame *frame;

        test_forget_log();
        ret = ff_gpume_engine_open(&engine, &cfg, 9, 9, AV_PIX_FMT_GRAY8, NULL);
        CHECK(ret >= 0, "open: %s", av_err2str(ret));
        test_samples(&s, TEST_FLAT, 1, 1);
        frame = test_frame(&s.pics[0]);
        /* a picture of another kind is examined after all previous pictures have left */
        ret = ff_gpume_engine_push(engine, &frame);
        if (ret >= 0)
            ret = ff_gpume_engine_pull(engine, &r);
        CHECK(ret == AVERROR(EINVAL) && test_nb_errors == 1, "picture %d: %s, %d messages: %s", i,
              av_err2str(ret), test_nb_errors, test_errors);
        av_frame_free(&frame);
        ff_gpume_engine_close(&engine);
        test_free_stream(&s);
    }
}

/*
 * Tests successive elimination in C; checkasm compares the other levels with it. Sums must be those
 * of the samples, and no skipped candidate may be better than the limit.
 */
static void test_sea(void)
{
    TestRandom r = { .state = master_seed };
    int64_t nb_kept = 0, nb_seen = 0;

    av_force_cpu_flags(0);
    for (int i = 0; i < 48; i++) {
        TestStream s = { .nb = 1, .pics = { {
            .w = test_draw_range(&r, 1, 150), .h = test_draw_range(&r, 1, 90),
            .format = (const int []){ AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY10, AV_PIX_FMT_GRAY14,
                                      AV_PIX_FMT_GRAY16 }[i / 6 % 4],
        } } };
        GpumeParams p = CHOSEN(.block = 4 << i % 6);
        const uint16_t *samples;
        AVFrame *frame;
        GpumeSea sea;
        GpumeSeaBounds b;
        uint8_t *sums, *scratch;
        uint64_t kept[GPUME_SEA_KEPT_WORDS(150)];
        int w, h, x0, y0, middle;
        uint32_t limit;

        snprintf(test_context, sizeof(test_context), "elimination %d, seed %"PRIu64, i, master_seed);
        test_samples(&s, i & 1 ? TEST_MOTION : TEST_RANDOM, master_seed + i, 3);
        samples = s.pics[0].samples;
        frame   = test_frame(&s.pics[0]);
        ff_gpume_params_init(&p, s.pics[0].w, s.pics[0].h, s.pics[0].format, NULL);
        ff_gpume_sea_init(&sea, &p);
        sums    = test_alloc(av_mallocz(sea.size));
        scratch = test_alloc(av_malloc(sea.scratch_size));
        middle  = test_draw(&r, p.height + 1);
        ff_gpume_sea_sum(&sea, sums, frame->data[0], frame->linesize[0], 0, middle, scratch);
        ff_gpume_sea_sum(&sea, sums, frame->data[0], frame->linesize[0], middle, p.height, scratch);

        /* both planes, where the square is inside the picture */
        for (int j = 0; j < 2; j++) {
            const int side = p.block >> (1 + j);

            for (int y = 0; y + side <= p.height; y++) {
                for (int x = 0; x + side <= p.width; x++) {
                    const unsigned got = *(uint16_t *)(sums + j * sea.size / 2 +
                                                       y * sea.linesize + x * 2);
                    unsigned sum = 0;

                    for (int u = 0; u < side; u++) {
                        unsigned column = 0;

                        for (int v = 0; v < side; v++)
                            column += samples[(y + v) * p.width + x + u];
                        sum += column >> sea.shift;
                    }
                    if (got != sum || sum > INT16_MAX) {
                        test_fail("sum at %d,%d of side %d: %u, not %u", x, y, side, got, sum);
                        x = p.width;
                        y = p.height;
                    }
                }
            }
        }

        /* compares a block with all positions in its own picture */
        w     = FFMIN(p.width,  p.block);
        h     = FFMIN(p.height, p.block);
        x0    = test_draw(&r, p.width  - w + 1);
        y0    = test_draw(&r, p.height - h + 1);
        limit = test_draw(&r, 2) ? 1 : 1 + test_draw(&r, (w * h << p.depth) / 8);
        ff_gpume_sea_block(&sea, &b, sums + y0 * sea.linesize + x0 * 2, w, h);
        b.nb_candidates = p.width - w + 1;
        ff_gpume_sea_limit(&sea, &b, limit);
        for (int y = 0; y + h <= p.height; y++) {
            const int found = !sea.bound(&b, sums + y * sea.linesize, 1, kept);

            for (int x = 0; x + w <= p.width; x++) {
                const int is_kept = found && kept[x / 64] >> (x & 63) & 1;
                int64_t cost = 0;

                for (int k = 0; k < w * h && !is_kept; k++)
                    cost += abs(samples[(y0 + k / w) * p.width + x0 + k % w] -
                                samples[(y  + k / w) * p.width + x  + k % w]);
                nb_kept += is_kept;
                nb_seen++;
                CHECK(is_kept || cost >= limit, "%dx%d depth %d: candidate %d,%d of cost %"PRId64
                      " and limit %"PRIu32" is left out", w, h, p.depth, x, y, cost, limit);
            }
        }
        av_free(sums);
        av_free(scratch);
        av_frame_free(&frame);
        test_free_stream(&s);
    }
    CHECK(nb_kept < nb_seen / 2, "%"PRId64" of %"PRId64" candidates are kept", nb_kept, nb_seen);
}

/* Tests the oracle's numbers of bits and its lambdas against known values. */
static void test_tree_bits(void)
{
    static const struct {
        int v, bits;
    } known[] = {
        { 0, 1 }, { 1, 3 }, { -1, 3 }, { 2, 5 }, { -2, 5 }, { 3, 5 }, { -3, 5 }, { 4, 7 }, { -4, 7 },
        { 7, 7 }, { -7, 7 }, { 8, 9 }, { -8, 9 }, { 15, 9 }, { 16, 11 }, { -4096, 27 }, { 8191, 27 }, { 8192, 29 },
    };
    /* 256 times 2^(qp / 6 - 2), computed with 50 decimals */
    static const int lambdas[52] = {
        64, 72, 81, 91, 102, 114, 128, 144, 161, 181, 203, 228, 256, 287, 323, 362, 406, 456, 512, 575, 645, 724,
        813, 912, 1024, 1149, 1290, 1448, 1625, 1825, 2048, 2299, 2580, 2896, 3251, 3649, 4096, 4598, 5161, 5793,
        6502, 7298, 8192, 9195, 10321, 11585, 13004, 14596, 16384, 18390, 20643, 23170,
    };

    snprintf(test_context, sizeof(test_context), "bits of the oracle");
    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++)
        CHECK(oracle_bits(known[i].v) == known[i].bits, "%d takes %d bits, not %d", known[i].v,
              oracle_bits(known[i].v), known[i].bits);
    for (int qp = 0; qp < FF_ARRAY_ELEMS(lambdas); qp++)
        CHECK(oracle_lambda(-1, qp) == lambdas[qp], "qp %d is lambda %d", qp, oracle_lambda(-1, qp));
    CHECK(oracle_lambda(-1, -1) == 1625 && oracle_lambda(7, 20) == 7 && !oracle_lambda(0, -1), "lambda");
}

/* Tests a picture of two roots of side 16; the edge cuts the second to two blocks of 8. */
static void test_tree_by_hand(void)
{
    static const OracleVector small[2 * 3] = {
        { 5, 0, 10 }, { 5, 0, 10 }, { 1, 0, 3 },
        { 5, 0, 10 }, { 9, 0, 10 }, { 1, 0, 4, 1 },
    };
    static const struct {
        int lambda, depth, second;      ///< cost of the second root
        int nb, bits, rd;
    } rows[] = {
        /* the cheaper block is chosen; the larger one if costs are equal */
        {    0,  8, 7, 5, 24,  47 },
        {    0,  8, 8, 6, 28,  47 },
        {    0, 16, 8, 6, 28,  47 },
        /* the first root costs 9 bits, or 15 if split; the second 9, or 13 */
        {  256,  8, 7, 5, 24,  71 },
        { 1200,  8, 7, 5, 24, 159 },
        { 1280,  8, 7, 2, 18, 167 },
        {  320, 10, 7, 2, 18, 167 },
    };
    static const OracleLeaf leaves[] = {
        { 0, 0, 8 }, { 8, 0, 8 }, { 0, 8, 8 }, { 8, 8, 8 }, { 16, 0, 8 }, { 16, 8, 8 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        const OracleVector large[2] = { { 5, 0, 70 }, { 2, -1, rows[i].second } };
        const OracleSizes s = { 21, 14, 8, 2, { small, large }, rows[i].depth, rows[i].lambda };
        OracleTree t;

        snprintf(test_context, sizeof(test_context), "row %d of trees by hand", i);
        oracle_tree(&s, &t);
        CHECK(t.nb == rows[i].nb && t.bits == rows[i].bits && t.rd == rows[i].rd,
              "%d leaves, %"PRIu64" bits, rd %"PRIu64, t.nb, t.bits, t.rd);
        for (int k = 0; k < 6 && t.nb == 6; k++)
            CHECK(t.leaves[k].x0 == leaves[k].x0 && t.leaves[k].y0 == leaves[k].y0 &&
                  t.leaves[k].side == leaves[k].side && t.leaves[k].v.inconsistent == (k == 5),
                  "leaf %d is at %d,%d", k, t.leaves[k].x0, t.leaves[k].y0);
        free(t.leaves);
    }
}

/* Tests the predictors of roots. */
static void test_tree_roots(void)
{
    static const OracleVector roots[2 * 3] = {
        { 1, 10 }, { 5, 2 }, { 3, 7 },
        { 2, 2 },  { 4, 4 }, { 9, 9 },
    };
    static const OracleVector wanted[2 * 3] = {
        { 0, 0 }, { 1, 10 }, { 5, 2 },
        { 1, 2 }, { 3, 2 },  { 4, 4 },
    };
    const OracleSizes s = { 33, 20, 8, 2, { NULL, roots } }, column = { 16, 48, 8, 2, { NULL, roots } };

    snprintf(test_context, sizeof(test_context), "predictors of roots");
    for (int i = 0; i < 2 * 3; i++) {
        const OracleNode n = oracle_root(&s, i % 3, i / 3), c = oracle_root(&column, 0, i);

        CHECK(n.px == wanted[i].dx && n.py == wanted[i].dy, "root %d: %d,%d", i, n.px, n.py);
        CHECK(i >= 3 || (!c.px && !c.py), "root %d of a column: %d,%d", i, c.px, c.py);
    }
}

/* Returns the least J of all ways to divide a node, two sizes down: 1 + 2^4 ways. */
static int64_t least_of_all(const OracleSizes *s, OracleNode n)
{
    int64_t least = oracle_leaf_j(s, n);
    OracleNode child;

    for (int mask = 0; mask < 16; mask++) {
        int64_t j = oracle_price(s, 1);

        for (int i = 0; i < 4; i++)
            if (oracle_child(s, n, i, &child))
                j += mask >> i & 1 ? oracle_equal_j(s, child, n.k - 2) : oracle_leaf_j(s, child);
        least = FFMIN(least, j);
    }
    return least;
}

/* Tests properties that all trees have, with random vectors and costs. */
static void test_tree_always(void)
{
    TestRandom r = { .state = master_seed };
    int64_t nb_split = 0, nb_roots = 0;

    for (int i = 0; i < 400; i++) {
        const int depth = test_draw(&r, 2) ? 8 : test_draw_range(&r, 9, 16), far = 1 << test_draw(&r, 13);
        OracleVector *fields[ORACLE_MAX_SIZES] = { NULL };
        OracleSizes s = {
            test_draw_range(&r, 1, 150), test_draw_range(&r, 1, 100), 4 << test_draw(&r, 3), 2 + test_draw(&r, 2),
        };
        const int root = s.block << (s.nb - 1), bw = oracle_blocks(s.w, root), bh = oracle_blocks(s.h, root);
        int64_t cost = 0, area = 0, rd = 0;
        OracleTree t;

        snprintf(test_context, sizeof(test_context), "tree %d, seed %"PRIu64, i, master_seed);
        s.depth  = depth;
        s.lambda = test_draw(&r, 3) ? 256 * test_draw(&r, 1 << test_draw(&r, 9)) : test_draw(&r, 65537);
        for (int k = 0; k < s.nb; k++) {
            const int nb = oracle_blocks(s.w, s.block << k) * oracle_blocks(s.h, s.block << k);

            s.fields[k] = fields[k] = test_alloc(av_calloc(nb, sizeof(*fields[k])));
            for (int b = 0; b < nb; b++)
                fields[k][b] = (OracleVector){ test_draw_range(&r, -far, far), test_draw_range(&r, -far, far),
                                               (test_draw(&r, 4000) << 2 * k) / (1 + k) };
        }
        oracle_tree(&s, &t);
        for (int k = 0; k < t.nb; k++) {
            const OracleLeaf *l = &t.leaves[k];

            cost += l->v.cost;
            area += FFMIN(l->side, s.w - l->x0) * FFMIN(l->side, s.h - l->y0);
            for (int j = 0; j < k; j++)
                CHECK(l->x0 >= t.leaves[j].x0 + t.leaves[j].side || t.leaves[j].x0 >= l->x0 + l->side ||
                      l->y0 >= t.leaves[j].y0 + t.leaves[j].side || t.leaves[j].y0 >= l->y0 + l->side,
                      "leaves %d and %d overlap", j, k);
        }
        CHECK(area == s.w * s.h, "leaves of %"PRId64" samples", area);
        for (int k = 0; k < bw * bh; k++) {
            const OracleNode n = oracle_root(&s, k % bw, k / bw);
            const int64_t j = oracle_node_j(&s, n);

            /* the cost is at most that of blocks of any single size */
            for (int size = 0; size < s.nb; size++)
                CHECK(j <= oracle_equal_j(&s, n, size), "root %d: %"PRId64" and %"PRId64" with blocks of %d", k, j,
                      oracle_equal_j(&s, n, size), s.block << size);
            CHECK(s.nb < 3 || j == least_of_all(&s, n), "root %d: not %"PRId64, k, least_of_all(&s, n));
            rd       += j;
            nb_split += j < oracle_leaf_j(&s, n);
            nb_roots++;
        }
        CHECK(t.rd == rd, "rd is %"PRIu64", not %"PRId64, t.rd, rd);
        /* rd is not rounded if a bit costs a whole number */
        CHECK(s.lambda % 256 || t.rd == cost + (s.lambda / 256 << (depth - 8)) * t.bits,
              "%"PRId64" and %"PRIu64" bits at lambda %d are not %"PRIu64, cost, t.bits, s.lambda, t.rd);
        free(t.leaves);
        for (int k = 0; k < s.nb; k++)
            av_free(fields[k]);
    }
    CHECK(nb_split > nb_roots / 20 && nb_split < nb_roots / 2, "%"PRId64" of %"PRId64" roots are split",
          nb_split, nb_roots);
}

static int usage(void)
{
    printf("usage: gpume_unit [-quick] [-share I/N] [-seed N] [-cases N] [-case N] "
           "[-backend NAME] [-v]\n"
           "  -quick      fewer cases, for slow builds: every 11th\n"
           "  -every N    with -quick: every N-th case\n"
           "  -share I/N  the I-th of N shares of the cases\n"
           "  -seed N     seed of the random cases (default %"PRIu64")\n"
           "  -cases N    number of random cases\n"
           "  -case N     run only this case\n"
           "  -backend B  test only this backend, and fail if it is not available\n", master_seed);
    return 2;
}

int main(int argc, char **argv)
{
    const char *backend = NULL;
    int nb_random = -1;
    int64_t nb_vectors = 0;

    test_init("gpume_unit");
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-quick"))
            quick = 1;
        else if (!strcmp(argv[i], "-v"))
            test_verbose = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-share") && !test_set_share(argv[i + 1]))
            i++;
        else if (i + 1 < argc && !strcmp(argv[i], "-every") && atoi(argv[i + 1]) > 0)
            every = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-seed"))
            master_seed = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && !strcmp(argv[i], "-cases"))
            nb_random = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-case"))
            only_case = strtoll(argv[++i], NULL, 0);
        else if (i + 1 < argc && !strcmp(argv[i], "-backend"))
            backend = argv[++i];
        else
            return usage();
    }
    if (nb_random < 0)
        nb_random = quick ? 275 : 2500;

    test_watch(CASE_SECONDS);
    nb_backends = test_backends(backends, backend);
    if (!nb_backends) {
        printf("FAIL: no backend to test\n");
        return 1;
    }
    if (only_case < 0) {
        test_params();
        test_engine_errors();
        test_sea();
        test_tree_bits();
        test_tree_by_hand();
        test_tree_roots();
        test_tree_always();
    }
    run_fixed();
    for (int i = 0; only_case < 0 ? i < nb_random : case_number <= only_case; i++)
        run_text(NULL, i % 4 ? "algo=? cost=? block=? tree=? range=? size=? content=? frames=? dir=? abandon=?" :
                 "algo=? cost=? block=? tree=? range=? motion=? size=? content=? frames=? dir=? abandon=?");

    test_context[0] = 0;
    printf("leaves:");
    for (int i = 0; i < ORACLE_MAX_SIZES; i++) {
        printf(" %"PRId64" of side %d%s", nb_leaves[i], 4 << i, i + 1 < ORACLE_MAX_SIZES ? "," : "\n");
        CHECK(nb_leaves[i] || test_nb_failures || only_case >= 0, "no leaf of side %d was expected", 4 << i);
    }
    for (int i = 0; i < nb_backends; i++) {
        TestBackend *b = &backends[i];

        printf("%s %s: %"PRId64" searches, %"PRId64" vectors compared\n",
               ff_gpume_backends[b->id]->name, b->level, b->nb_searches, b->nb_vectors);
        CHECK(b->nb_vectors || test_nb_failures || only_case >= 0, "nothing was compared");
        nb_vectors += b->nb_vectors;
        av_buffer_unref(&b->hw_device);
    }
    printf("gpume_unit: seed %"PRIu64", %"PRId64" cases, %"PRId64" vectors compared, "
           "%d failures\n", master_seed, only_case < 0 ? case_number : 1, nb_vectors,
           test_nb_failures);
    return !!test_nb_failures;
}
