/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Unit tests of the backends: every backend, at every level of what the
 * processor can do, searches the same pictures through its own table of
 * functions, and has to give the vectors and costs of gpume_oracle.h.
 *
 * To add a search: list it in algos[]. To add a backend: list it in
 * open_entries().
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* MAP_ANONYMOUS */
#endif

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "libavutil/buffer.h"
#include "libavutil/cpu.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/eliminate.h"
#include "libavfilter/gpume/gpume.h"
#include "gpume_oracle.h"

#define MAX_FRAMES   6
#define MAX_FAILURES 10
#define NB_THREADS   4
/** A case that takes this long does not end, even under valgrind. */
#define CASE_SECONDS 300

/** The searches, as the backends and as the oracle name them. */
static const struct {
    int algo;
    const char *name;
} algos[] = {
    { GPUME_ALGO_FS,    "fs" },
    { GPUME_ALGO_TSS,   "tss" },
    { GPUME_ALGO_TDLS,  "tdls" },
    { GPUME_ALGO_NTSS,  "ntss" },
    { GPUME_ALGO_FSS,   "fss" },
    { GPUME_ALGO_DS,    "ds" },
    { GPUME_ALGO_HEXBS, "hexbs" },
    { GPUME_ALGO_EPZS,  "epzs" },
    { GPUME_ALGO_UMH,   "umh" },
};

enum Content {
    CONTENT_RANDOM,
    CONTENT_EXTREME,    ///< frames of all 0 and of all maximum in turn
    CONTENT_CHECKER,    ///< a checkerboard that changes sides
    CONTENT_FLAT,       ///< frames of one value: every candidate costs the same
    CONTENT_EQUAL,      ///< all frames are the same random one
    CONTENT_MOTION,     ///< a texture that moves, zooms and has noise
    CONTENT_SHIFT,      ///< random samples that move by just in or out of range
    CONTENT_BINARY,     ///< values 0 and 1: many ties
    CONTENT_STRIPES,    ///< of a short period: ties along and across them
    CONTENT_RAMP,       ///< a slope that a descent has far to go down
    CONTENT_SPEEDS,     ///< textures side by side that move at speeds of their own, which change
    NB_CONTENTS
};

static const char *const content_names[NB_CONTENTS] = {
    "random", "extreme", "checker", "flat", "equal", "motion", "shift",
    "binary", "stripes", "ramp", "speeds",
};

enum Executor {
    EXEC_SERIAL,
    EXEC_REVERSED,
    EXEC_SHUFFLED,
    EXEC_THREADS,
    NB_EXECUTORS
};

static const char *const executor_names[NB_EXECUTORS] = {
    "serial", "reversed", "shuffled", "threads",
};

typedef struct Case {
    int algo;               ///< index into algos
    int width, height;
    int block, range;
    int depth, shift, big_endian;
    int directions;         ///< mask of 1 << enum GpumeDirection
    int nb_frames;
    int in_flight;          ///< searches submitted before one is waited for
    enum Content content;
    enum Executor executor;
    int early_release;      ///< let go of pictures as soon as may be
    int late_compare;       ///< look at results when the backend is gone
    int abandon;            ///< close the backend with searches in flight
    uint64_t seed;          ///< of the samples and the layout in memory
} Case;

/** The pictures of a case, and what is to be found in them. */
typedef struct Movie {
    uint16_t *samples[MAX_FRAMES];
    AVFrame *frames[MAX_FRAMES];
    OracleVector *expected[MAX_FRAMES][GPUME_NB_DIRECTIONS];
} Movie;

/** A backend at a level. */
typedef struct Entry {
    const GpumeBackend *backend;
    const char *level;
    int cpu_flags;
    AVBufferRef *hw_device; ///< kept open, as opening one takes long
    int64_t nb_searches, nb_vectors;
} Entry;

static Entry entries[16];
static int nb_entries;

static uint64_t master_seed = 20120611;
static int64_t case_number;
static int nb_failures;
static int quick, verbose;

/* what runs at the moment, for messages */
static const Case *current_case;
static const Entry *current_entry;

/* Random numbers */

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

/* 0 to n - 1 */
static int rnd(uint64_t *state, int n)
{
    return (int)((next_random(state) >> 33) % (unsigned)n);
}

/* min to max, both included */
static int rnd_range(uint64_t *state, int min, int max)
{
    return min + rnd(state, max - min + 1);
}

/* Messages */

/* Written so that a handler of SIGSEGV may call it. */
static void print_current(void)
{
    const Case *c = current_case;
    char buf[640];
    int len = 0;

    if (c) {
        len = snprintf(buf, sizeof(buf),
                       "  case %"PRId64": %s %dx%d block %d range %d depth %d shift %d "
                       "%s-endian dir %d frames %d in flight %d content %s "
                       "executor %s early %d late %d abandon %d, backend %s %s\n"
                       "  reproduce: gpume_unit%s -seed %"PRIu64" -case %"PRId64"\n",
                       case_number, algos[c->algo].name, c->width, c->height,
                       c->block, c->range, c->depth, c->shift,
                       c->big_endian ? "big" : "little", c->directions,
                       c->nb_frames, c->in_flight, content_names[c->content],
                       executor_names[c->executor], c->early_release,
                       c->late_compare, c->abandon,
                       current_entry ? current_entry->backend->name : "none",
                       current_entry ? current_entry->level : "",
                       quick ? " -quick" : "", master_seed, case_number);
        if (write(STDOUT_FILENO, buf, FFMIN(len, sizeof(buf) - 1)) < 0)
            _exit(2);
    }
}

static void fail(const char *fmt, ...) av_printf_format(1, 2);

static void fail(const char *fmt, ...)
{
    va_list ap;

    printf("FAIL: ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
    print_current();

    if (++nb_failures >= MAX_FAILURES) {
        printf("gpume_unit: stopped after %d failures\n", nb_failures);
        exit(1);
    }
}

static void *check_alloc(void *p)
{
    if (!p) {
        printf("FAIL: the test itself is out of memory\n");
        exit(2);
    }
    return p;
}

static void on_segv(int sig)
{
    static const char msg[] =
        "FAIL: a sample outside of a picture was read, or a picture written to\n";

    if (write(STDOUT_FILENO, msg, sizeof(msg) - 1) < 0)
        _exit(2);
    print_current();
    _exit(1);
}

static void on_alarm(int sig)
{
    static const char msg[] = "FAIL: a search does not end\n";

    if (write(STDOUT_FILENO, msg, sizeof(msg) - 1) < 0)
        _exit(2);
    print_current();
    _exit(1);
}

static char last_log[1024];

static void log_callback(void *ctx, int level, const char *fmt, va_list vl)
{
    if (level <= AV_LOG_VERBOSE)
        vsnprintf(last_log, sizeof(last_log), fmt, vl);
    if (verbose && level <= AV_LOG_INFO)
        fputs(last_log, stderr);
}

/* Pictures */

/* A hash of a point of a lattice: 0 to 65535. */
static int lattice(uint64_t seed, int x, int y)
{
    return mix(seed ^ ((uint64_t)(uint32_t)x << 32 | (uint32_t)y)) >> 48;
}

/* Smooth noise; x and y in 1/256 samples, cells of 1 << log2_cell samples. */
static int texture(uint64_t seed, int x, int y, int log2_cell)
{
    const int bits = 8 + log2_cell;
    const int fx = (x & (1 << bits) - 1) >> log2_cell;
    const int fy = (y & (1 << bits) - 1) >> log2_cell;
    const int cx = x >> bits, cy = y >> bits;
    int64_t top    = lattice(seed, cx,     cy)     * (256 - fx) +
                     lattice(seed, cx + 1, cy)     * (int64_t)fx;
    int64_t bottom = lattice(seed, cx,     cy + 1) * (256 - fx) +
                     lattice(seed, cx + 1, cy + 1) * (int64_t)fx;

    return (top * (256 - fy) + bottom * fy) >> 16;
}

/* Anything from far out of range to nothing, mostly about the range's edge. */
static int random_motion(uint64_t *state, int range)
{
    static const int edge[] = { 0, 0, 1, 1, 2, -1 };
    int v;

    switch (rnd(state, 4)) {
    case 0:  return rnd_range(state, -2, 2);
    case 1:  v = rnd_range(state, 0, range); break;
    default: v = range + edge[rnd(state, FF_ARRAY_ELEMS(edge))]; break;
    }
    return rnd(state, 2) ? v : -v;
}

static void make_samples(const Case *c, Movie *m)
{
    const int max = (1 << c->depth) - 1;
    const int w = c->width, h = c->height;
    uint64_t state = mix(c->seed);
    uint64_t pattern = next_random(&state);
    int move_x = random_motion(&state, c->range);
    int move_y = random_motion(&state, c->range);
    const int zoom   = rnd(&state, 3) ? rnd_range(&state, -6, 6) : 0;
    const int noise  = rnd(&state, 3) ? 1 + max / 64 : 0;
    const int period = rnd_range(&state, 2, 9);
    const int slope_x = rnd_range(&state, -3, 3);
    const int slope_y = rnd_range(&state, -3, 3);

    if (c->content == CONTENT_SHIFT && !rnd(&state, 4))
        move_y = 0;

    for (int i = 0; i < c->nb_frames; i++) {
        uint16_t *dst = m->samples[i] =
            check_alloc(av_malloc_array((size_t)w * h, sizeof(*dst)));
        const int value = rnd(&state, max + 1);

        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++, dst++) {
                int64_t v = 0;

                switch (c->content) {
                case CONTENT_RANDOM:
                    v = rnd(&state, max + 1);
                    break;
                case CONTENT_EXTREME:
                    v = i & 1 ? max : 0;
                    break;
                case CONTENT_CHECKER:
                    v = x + y + i & 1 ? max : 0;
                    break;
                case CONTENT_FLAT:
                    v = value;
                    break;
                case CONTENT_EQUAL:
                    v = lattice(pattern, x, y) & max;
                    break;
                case CONTENT_MOTION: {
                    int tx = x * (256 + zoom * i) + 256 * move_x * i;
                    int ty = y * (256 + zoom * i) + 256 * move_y * i;

                    v = (texture(pattern, tx, ty, 4) +
                         texture(pattern + 1, tx, ty, 2)) * (int64_t)max >> 17;
                    if (noise)
                        v += rnd_range(&state, -noise, noise);
                    break;
                }
                case CONTENT_SHIFT:
                    v = lattice(pattern, x + move_x * i, y + move_y * i) & max;
                    break;
                case CONTENT_BINARY:
                    v = rnd(&state, 2);
                    break;
                case CONTENT_STRIPES:
                    v = ((pattern & 1 ? x : y) + i * move_x % period + period) %
                        period * max / period;
                    break;
                case CONTENT_RAMP:
                    v = max / 2 + slope_x * (x + move_x * i) +
                                  slope_y * (y + move_y * i);
                    break;
                case CONTENT_SPEEDS: {
                    /* a patch is about a block or two wide */
                    const int patch = lattice(pattern + 2, x / 24, y / 20);
                    const int speed_x = (patch & 15) - 8, speed_y = (patch >> 4 & 15) - 8;
                    const int i2 = i * (i + 1) / 2;

                    v = texture(pattern + patch % 3,
                                256 * (x + speed_x * i2 + (move_x & 7) * i),
                                256 * (y + speed_y * i2 - (move_y & 7) * i), 3) *
                        (int64_t)max >> 16;
                    break;
                }
                default:
                    abort();
                }
                *dst = v < 0 ? 0 : v > max ? max : v;
            }
        }
    }
}

typedef struct Mapping {
    uint8_t *base;
    size_t size;
} Mapping;

static void free_mapping(void *opaque, uint8_t *data)
{
    Mapping *map = opaque;

    munmap(map->base, map->size);
    av_free(map);
}

static enum AVPixelFormat format_of(const Case *c)
{
    const int be = c->big_endian;

    if (c->depth == 8)
        return AV_PIX_FMT_GRAY8;
    if (c->shift && c->depth == 10)
        return be ? AV_PIX_FMT_P010BE : AV_PIX_FMT_P010LE;
    if (c->shift && c->depth == 12)
        return be ? AV_PIX_FMT_P012BE : AV_PIX_FMT_P012LE;
    if (!c->shift && c->depth == 10)
        return be ? AV_PIX_FMT_GRAY10BE : AV_PIX_FMT_GRAY10LE;
    return be ? AV_PIX_FMT_GRAY16BE : AV_PIX_FMT_GRAY16LE;
}

/**
 * Lay samples out as a frame that nobody can write to, with pages that nobody
 * can read right before its first or right after its last sample. Bytes and
 * bits that are no samples hold anything.
 */
static AVFrame *make_frame(const Case *c, const uint16_t *samples, int index)
{
    uint64_t state = mix(c->seed + 77 * index + 1);
    const size_t page = sysconf(_SC_PAGESIZE);
    const int sample_size = c->depth > 8 ? 2 : 1;
    const int row = c->width * sample_size;
    int padding, negative = rnd(&state, 4) == 0, at_end = rnd(&state, 2);
    ptrdiff_t stride;
    size_t size, used;
    Mapping *map = check_alloc(av_mallocz(sizeof(*map)));
    AVFrame *frame = check_alloc(av_frame_alloc());
    uint8_t *lowest, *first;

    switch (rnd(&state, 4)) {
    case 0:  padding = 0; break;
    case 1:  padding = -row & 63; break;
    case 2:  padding = rnd_range(&state, 1, 40) | 1; break;
    default: padding = rnd_range(&state, 1, 100) * sample_size; break;
    }
    stride = row + padding;
    used   = stride * (c->height - 1) + row;
    size   = (used + page - 1) / page * page;

    map->size = size + 2 * page;
    map->base = mmap(NULL, map->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map->base == MAP_FAILED ||
        mprotect(map->base + page, size, PROT_READ | PROT_WRITE))
        check_alloc(NULL);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t garbage = next_random(&state);
        memcpy(map->base + page + i, &garbage, 8);
    }

    lowest = map->base + page + (at_end ? size - used : 0);
    first  = negative ? lowest + stride * (c->height - 1) : lowest;
    if (negative)
        stride = -stride;

    for (int y = 0; y < c->height; y++) {
        uint8_t *dst = first + y * stride;

        for (int x = 0; x < c->width; x++) {
            unsigned v = samples[y * c->width + x];

            if (sample_size == 1) {
                dst[x] = v;
            } else {
                v = v << c->shift | rnd(&state, 1 << c->shift);
                dst[2 * x + !c->big_endian] = v >> 8;
                dst[2 * x +  c->big_endian] = v;
            }
        }
    }
    if (mprotect(map->base + page, size, PROT_READ))
        check_alloc(NULL);

    frame->format      = format_of(c);
    frame->width       = c->width;
    frame->height      = c->height;
    frame->data[0]     = first;
    frame->linesize[0] = stride;
    frame->buf[0]      = check_alloc(av_buffer_create(map->base, map->size,
                                                      free_mapping, map,
                                                      AV_BUFFER_FLAG_READONLY));
    return frame;
}

static int reference_of(const Case *c, int frame, int direction)
{
    int ref = direction == GPUME_PAST ? frame - 1 : frame + 1;

    return c->directions & 1 << direction && ref >= 0 && ref < c->nb_frames ? ref : -1;
}

static OracleVector (*oracle_of(const Case *c))(const OracleBlock *b)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_searches); i++)
        if (!strcmp(oracle_searches[i].name, algos[c->algo].name))
            return oracle_searches[i].search;
    abort();
}

static void make_movie(const Case *c, Movie *m)
{
    const size_t nb_blocks = (size_t)oracle_blocks(c->width,  c->block) *
                                     oracle_blocks(c->height, c->block);

    memset(m, 0, sizeof(*m));
    make_samples(c, m);
    for (int i = 0; i < c->nb_frames; i++) {
        m->frames[i] = make_frame(c, m->samples[i], i);
        for (int j = 0; j < GPUME_NB_DIRECTIONS; j++) {
            int ref = reference_of(c, i, j);

            if (ref < 0)
                continue;
            m->expected[i][j] = check_alloc(av_malloc_array(nb_blocks,
                                            sizeof(*m->expected[i][j])));
        }
    }
    for (int i = 0; i < c->nb_frames; i++) {
        for (int j = 0; j < GPUME_NB_DIRECTIONS; j++) {
            int ref = reference_of(c, i, j);

            if (ref >= 0)
                oracle_field(oracle_of(c),
                             &(OraclePicture){ c->width, c->height, m->samples[i] },
                             &(OraclePicture){ c->width, c->height, m->samples[ref] },
                             c->block, c->range,
                             i > 0 ? m->expected[i - 1][j] : NULL,
                             i > 1 ? m->expected[i - 2][j] : NULL,
                             m->expected[i][j]);
        }
    }
}

static void free_movie(Movie *m)
{
    for (int i = 0; i < MAX_FRAMES; i++) {
        av_freep(&m->samples[i]);
        av_frame_free(&m->frames[i]);
        for (int j = 0; j < GPUME_NB_DIRECTIONS; j++)
            av_freep(&m->expected[i][j]);
    }
}

/* Executors */

typedef struct Pool {
    GpumeJob job;
    void *arg;
    int nb_jobs;
    atomic_int next;
} Pool;

static void *pool_thread(void *opaque)
{
    Pool *pool = opaque;
    int job;

    while ((job = atomic_fetch_add(&pool->next, 1)) < pool->nb_jobs)
        pool->job(pool->arg, job, pool->nb_jobs);
    return NULL;
}

static void execute(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    const Case *c = opaque;

    if (nb_jobs < 1) {
        fail("%d jobs were to be run", nb_jobs);
        return;
    }

    switch (c->executor) {
    case EXEC_SERIAL:
        for (int i = 0; i < nb_jobs; i++)
            job(arg, i, nb_jobs);
        break;
    case EXEC_REVERSED:
        for (int i = nb_jobs - 1; i >= 0; i--)
            job(arg, i, nb_jobs);
        break;
    case EXEC_SHUFFLED: {
        uint64_t state = c->seed;
        int *order = check_alloc(av_malloc_array(nb_jobs, sizeof(*order)));

        for (int i = 0; i < nb_jobs; i++) {
            int j = rnd(&state, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < nb_jobs; i++)
            job(arg, order[i], nb_jobs);
        av_free(order);
        break;
    }
    case EXEC_THREADS: {
        Pool pool = { .job = job, .arg = arg, .nb_jobs = nb_jobs };
        pthread_t threads[NB_THREADS];
        int nb_threads = 0;

        while (nb_threads < FFMIN(NB_THREADS, nb_jobs) &&
               !pthread_create(&threads[nb_threads], NULL, pool_thread, &pool))
            nb_threads++;
        pool_thread(&pool);
        while (nb_threads)
            pthread_join(threads[--nb_threads], NULL);
        break;
    }
    default:
        abort();
    }
}

/* Running a case */

static void expected_vector(AVMotionVector *mv, const Case *c, int bx, int by,
                            int direction, const OracleVector *v)
{
    const int x0 = bx * c->block, y0 = by * c->block;

    memset(mv, 0, sizeof(*mv));
    mv->source       = direction == GPUME_PAST ? -1 : 1;
    mv->w            = c->width  - x0 < c->block ? c->width  - x0 : c->block;
    mv->h            = c->height - y0 < c->block ? c->height - y0 : c->block;
    mv->dst_x        = x0 + mv->w / 2;
    mv->dst_y        = y0 + mv->h / 2;
    mv->src_x        = mv->dst_x + v->dx;
    mv->src_y        = mv->dst_y + v->dy;
    mv->motion_x     = v->dx;
    mv->motion_y     = v->dy;
    mv->motion_scale = 1;
}

static void format_vector(char *buf, size_t size, const AVMotionVector *mv,
                          uint32_t cost)
{
    snprintf(buf, size, "source %"PRId32" w %d h %d src %d,%d dst %d,%d flags %"PRIu64
             " motion %"PRId32",%"PRId32"/%d cost %"PRIu32,
             mv->source, mv->w, mv->h, mv->src_x, mv->src_y, mv->dst_x,
             mv->dst_y, mv->flags, mv->motion_x, mv->motion_y,
             mv->motion_scale, cost);
}

static void compare(const Case *c, const Movie *m, Entry *e, int frame,
                    const GpumeSearch *search)
{
    const int bw = oracle_blocks(c->width,  c->block);
    const int bh = oracle_blocks(c->height, c->block);
    const AVMotionVector *mv;
    const uint32_t *cost;
    size_t nb_directions = 0;

    for (int j = 0; j < GPUME_NB_DIRECTIONS; j++)
        nb_directions += reference_of(c, frame, j) >= 0;
    if (!search->mvs || !search->costs ||
        search->mvs->size   != nb_directions * bw * bh * sizeof(*mv) ||
        search->costs->size != nb_directions * bw * bh * sizeof(*cost)) {
        fail("frame %d: %zu bytes of vectors and %zu of costs of %d*%d*%zu blocks",
             frame, search->mvs ? search->mvs->size : 0,
             search->costs ? search->costs->size : 0, bw, bh, nb_directions);
        return;
    }

    mv   = (const AVMotionVector *)search->mvs->data;
    cost = (const uint32_t *)search->costs->data;
    for (int j = 0; j < GPUME_NB_DIRECTIONS; j++) {
        if (reference_of(c, frame, j) < 0)
            continue;
        for (int i = 0; i < bw * bh; i++, mv++, cost++) {
            const OracleVector *v = &m->expected[frame][j][i];
            AVMotionVector wanted;

            expected_vector(&wanted, c, i % bw, i / bw, j, v);
            if (memcmp(mv, &wanted, sizeof(wanted)) || *cost != v->cost) {
                char got_str[256], wanted_str[256];

                format_vector(got_str,    sizeof(got_str),    mv, *cost);
                format_vector(wanted_str, sizeof(wanted_str), &wanted, v->cost);
                fail("frame %d %s block (%d,%d)%s\n  got      %s\n  expected %s",
                     frame, j == GPUME_PAST ? "past" : "future", i % bw, i / bw,
                     strcmp(got_str, wanted_str) ? "" : ": bytes between the fields",
                     got_str, wanted_str);
                return;
            }
        }
    }
    e->nb_searches += nb_directions;
    e->nb_vectors  += nb_directions * bw * bh;
}

static void fill_params(const Case *c, GpumeParams *p)
{
    p->algo       = algos[c->algo].algo;
    p->width      = c->width;
    p->height     = c->height;
    p->block      = c->block;
    p->range      = c->range;
    p->exhaustive = (int)(c->seed >> 1 & 3) % 3 - 1;
    p->depth      = c->depth;
    p->shift      = c->shift;
    p->big_endian = c->big_endian;
    p->bw         = oracle_blocks(c->width,  c->block);
    p->bh         = oracle_blocks(c->height, c->block);
}

/* As the filter does it: a frame comes, what can start starts, the oldest ends. */
static void run_backend(const Case *c, const Movie *m, Entry *e)
{
    GpumeConfig cfg = {
        .max_searches = c->in_flight,
        .execute      = execute,
        .opaque       = (void *)c,
        /* without it the backend opens the same one itself */
        .hw_device    = c->seed & 1 ? e->hw_device : NULL,
    };
    GpumePicture pics[MAX_FRAMES] = { { 0 } };
    GpumeSearch searches[MAX_FRAMES] = { { 0 } };
    const int delay = !!(c->directions & 1 << GPUME_FUTURE);
    int submitted = 0, waited = 0;
    void *priv = check_alloc(av_mallocz(FFMAX(e->backend->priv_size, 1)));
    int ret;

    current_entry = e;
    av_force_cpu_flags(e->cpu_flags);
    fill_params(c, &cfg.params);

    ret = e->backend->init(priv, &cfg);
    /* the configuration is valid during the call only */
    memset(&cfg, 0xa5, sizeof(cfg));
    if (ret < 0) {
        fail("init: %s (%s)", av_err2str(ret), last_log);
        goto end;
    }

    for (int i = 0; i < c->nb_frames + delay; i++) {
        if (i < c->nb_frames) {
            pics[i].frame = check_alloc(av_frame_clone(m->frames[i]));
            ret = e->backend->import(priv, &pics[i]);
            if (ret < 0) {
                fail("import: %s", av_err2str(ret));
                goto end;
            }
        }

        for (; submitted <= i - delay; submitted++) {
            GpumeSearch *search = &searches[submitted];

            for (int j = 0; j < GPUME_NB_DIRECTIONS; j++) {
                int ref = reference_of(c, submitted, j);
                if (ref >= 0)
                    search->ref[j] = &pics[ref];
            }
            if (!search->ref[0] && !search->ref[1])
                continue;
            search->cur = &pics[submitted];
            ret = e->backend->submit(priv, search);
            if (ret < 0) {
                fail("submit: %s", av_err2str(ret));
                goto end;
            }
        }

        while (!c->abandon && submitted > waited &&
               (submitted - waited >= c->in_flight ||
                i == c->nb_frames + delay - 1)) {
            GpumeSearch *search = &searches[waited];

            if (search->cur) {
                ret = e->backend->wait(priv, search);
                if (ret < 0) {
                    fail("wait: %s", av_err2str(ret));
                    goto end;
                }
                if (!c->late_compare)
                    compare(c, m, e, waited, search);
            }
            if (c->early_release && waited > 0)
                ff_gpume_picture_uninit(&pics[waited - 1]);
            waited++;
        }
        if (c->abandon && submitted >= c->in_flight)
            break;
    }

end:
    e->backend->uninit(priv);
    av_free(priv);
    for (int i = 0; i < MAX_FRAMES; i++) {
        /* results outlive the backend, as side data has to */
        if (i < waited && searches[i].cur && ret >= 0 && c->late_compare)
            compare(c, m, e, i, &searches[i]);
        ff_gpume_search_uninit(&searches[i]);
        if (pics[i].frame && (pics[i].frame->data[0]     != m->frames[i]->data[0] ||
                              pics[i].frame->linesize[0] != m->frames[i]->linesize[0]))
            fail("frame %d was changed", i);
        ff_gpume_picture_uninit(&pics[i]);
    }
    current_entry = NULL;
}

static int64_t only_case = -1;

static void run_case(Case *c)
{
    const int is_thin = quick && c->algo != GPUME_ALGO_FS && c->algo != GPUME_ALGO_DS;
    Movie m;

    /* a slow build has some cases of each search; 5, for cases come in twos, threes and fours */
    if (only_case >= 0 ? only_case != case_number : is_thin && case_number % 5) {
        case_number++;
        return;
    }

    alarm(CASE_SECONDS);
    current_case = c;
    make_movie(c, &m);
    for (int i = 0; i < nb_entries; i++)
        run_backend(c, &m, &entries[i]);
    free_movie(&m);
    current_case = NULL;
    case_number++;
}

/* Cases */

static Case default_case(void)
{
    return (Case) {
        .width = 61, .height = 43, .block = 16, .range = 7,
        .depth = 8, .directions = 3, .nb_frames = 3, .in_flight = 1,
        .content = CONTENT_MOTION,
        .seed = mix(mix(master_seed) + case_number),
    };
}

static const struct {
    int depth, shift, big_endian;
} formats[] = {
    {  8, 0, 0 }, {  9, 0, 0 }, {  9, 0, 1 }, { 10, 0, 0 }, { 10, 0, 1 },
    { 10, 6, 0 }, { 10, 6, 1 }, { 11, 0, 0 }, { 11, 5, 1 }, { 12, 0, 0 },
    { 12, 0, 1 }, { 12, 4, 0 }, { 12, 4, 1 }, { 13, 3, 0 }, { 14, 0, 0 },
    { 14, 0, 1 }, { 15, 1, 0 }, { 16, 0, 0 }, { 16, 0, 1 },
};

static void set_format(Case *c, int i)
{
    c->depth      = formats[i].depth;
    c->shift      = formats[i].shift;
    c->big_endian = formats[i].big_endian;
}

/* What has to be tried in any case, chosen by hand. */
static void run_fixed(void)
{
    static const int sides[] = { 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 19 };
    static const int ranges[] = { 1, 2, 3, 8, 17, 1024 };
    const int nb_sides = FF_ARRAY_ELEMS(sides) / (quick ? 2 : 1);

    for (int algo = 0; algo < FF_ARRAY_ELEMS(algos); algo++) {
        /* every block with every way samples can lie */
        for (int block = 4; block <= 128; block *= 2) {
            for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++) {
                Case c = default_case();

                c.algo     = algo;
                c.block    = block;
                c.width    = block == 128 ? 131 : 74;
                c.height   = block == 128 ? 129 : 69;
                c.range    = algo ? 60 : 3;
                c.executor = i % NB_EXECUTORS;
                c.nb_frames = 2;
                set_format(&c, i);
                if (!quick || !(i % 6))
                    run_case(&c);
            }
        }

        /* every kernel: a thread of the full search on CUDA has 9, 11 or 13 vectors */
        for (int i = 0; i < 9; i++) {
            Case c = default_case();

            c.algo   = algo;
            c.block  = 4 << i / 3;
            c.range  = 4 + i % 3;
            c.width  = 75;
            c.height = 53;
            run_case(&c);
        }

        /* searches that go far: on CUDA, beyond what a warp has in shared memory */
        for (int i = 0; i < 27 && algo != GPUME_ALGO_FS; i++) {
            static const int widths[] = { 176, 182, 187 };
            Case c = default_case();

            c.algo    = algo;
            c.block   = 4 << i / 9;
            c.width   = widths[i % 3];
            c.height  = 96 + i % 2;
            c.range   = 90;
            c.content = CONTENT_RAMP;
            c.nb_frames = 2;
            set_format(&c, i / 3 % 3 * 5 / 2);  // 8 and 9 bits, p010
            run_case(&c);
        }

        /* narrow and high: candidates on top of each other only */
        for (int i = 0; i < 8; i++) {
            static const int blocks[] = { 128, 128, 16, 8 };
            Case c = default_case();

            c.algo   = algo;
            c.block  = blocks[i / 2];
            c.width  = i < 2 ? 8 : i < 4 ? 140 : 11 + 5 * (i & 1);
            c.height = i < 4 ? 900 : 400;
            c.range  = i < 4 ? 700 : 390;
            c.depth  = i & 1 ? 10 : 8;
            c.content = CONTENT_MOTION;
            c.nb_frames = 2;
            if (!quick || i & 1)
                run_case(&c);
        }

        /* half a block at the lower edge, rows that begin at 16 bytes */
        for (int i = 0; i < 12; i++) {
            Case c = default_case();

            c.algo   = algo;
            c.block  = i & 1 ? 8 : 16;
            c.width  = 80;
            c.height = 3 * c.block + c.block / 2;
            c.range  = 4 + 4 * (i / 2);
            c.content = CONTENT_MOTION;
            c.nb_frames = 2;
            run_case(&c);
        }

        /* more candidates in a row than a word has bits */
        for (int block = 4; block <= 128; block *= 2) {
            Case c = default_case();

            c.algo    = algo;
            c.block   = block;
            c.range   = 140;
            c.width   = 307;
            c.height  = block + 3;
            c.depth   = block & 0x48 ? 10 : 8;
            c.content = block & 0x18 ? CONTENT_SHIFT : CONTENT_MOTION;
            c.nb_frames = 2;
            run_case(&c);
        }

        /* pictures of any small size */
        for (int i = 0; i < nb_sides * nb_sides; i++) {
            Case c = default_case();

            c.algo    = algo;
            c.width   = sides[i % nb_sides];
            c.height  = sides[i / nb_sides];
            c.block   = i & 1 ? 8 : 4;
            c.range   = 1 + i % 9;
            c.content = CONTENT_SHIFT;
            set_format(&c, i % FF_ARRAY_ELEMS(formats));
            run_case(&c);
        }

        /* every content with ranges up to far beyond the picture */
        for (int content = 0; content < NB_CONTENTS; content++) {
            for (int i = 0; i < FF_ARRAY_ELEMS(ranges); i++) {
                Case c = default_case();

                c.algo      = algo;
                c.content   = content;
                c.range     = ranges[i];
                c.width     = 37;
                c.height    = 29;
                c.block     = 8;
                c.executor  = i % NB_EXECUTORS;
                c.in_flight = 1 + i % 3;
                c.early_release = i & 1;
                c.late_compare  = i >> 1 & 1;
                set_format(&c, i % 2 ? 0 : content);
                run_case(&c);
            }
        }

        /* one sample, one row, one column, one block, less than one block */
        for (int i = 0; i < 10; i++) {
            static const int sizes[10][3] = {
                { 1, 1, 4 }, { 1, 1, 128 }, { 90, 1, 8 }, { 1, 90, 8 },
                { 16, 16, 16 }, { 127, 127, 128 }, { 128, 128, 128 },
                { 128, 129, 128 }, { 5, 3, 64 }, { 33, 1, 32 },
            };
            Case c = default_case();

            c.algo     = algo;
            c.width    = sizes[i][0];
            c.height   = sizes[i][1];
            c.block    = sizes[i][2];
            c.range    = 5;
            c.content  = CONTENT_RANDOM;
            c.executor = i % NB_EXECUTORS;
            run_case(&c);
        }

        /* ranges of which candidates are left out: on all content, cut blocks too */
        for (int i = 0; i < 2 * NB_CONTENTS; i++) {
            Case c = default_case();

            c.algo      = algo;
            c.width     = i % 3 ? 71 : 96;
            c.height    = i % 3 ? 44 : 64;
            c.block     = i & 1 ? 16 : 8;
            c.range     = i & 1 ? 24 + i : 48;
            c.content   = i / 2;
            c.nb_frames = 2;
            c.seed     &= ~(uint64_t)6;     /* leave out what can be */
            run_case(&c);
        }

        /* what blocks around and pictures before have: many pictures, one row, one column */
        for (int i = 0; i < 24; i++) {
            static const int sizes[8][3] = {
                { 96, 80, 8 }, { 100, 75, 16 }, { 131, 16, 16 }, { 15, 150, 16 },
                { 8, 70, 8 }, { 70, 7, 4 }, { 61, 43, 4 }, { 40, 33, 32 },
            };
            Case c = default_case();

            c.algo       = algo;
            c.width      = sizes[i % 8][0];
            c.height     = sizes[i % 8][1];
            c.block      = sizes[i % 8][2];
            c.range      = 6 + i;
            c.content    = i & 8 ? CONTENT_MOTION : CONTENT_SPEEDS;
            c.directions = 1 + i % 3;
            c.executor   = (i + 3) % NB_EXECUTORS;
            c.nb_frames  = MAX_FRAMES;
            c.in_flight  = 1 + i / 4 % 3;
            if (algo == GPUME_ALGO_FS && i >= 8)
                break;
            run_case(&c);
        }

        /* the largest costs there are */
        for (int i = 0; i < 2; i++) {
            Case c = default_case();

            c.algo    = algo;
            c.width   = 130;
            c.height  = 129;
            c.block   = 128;
            c.range   = 2;
            c.content = CONTENT_EXTREME;
            c.depth   = i ? 16 : 8;
            run_case(&c);
        }

        /* the largest sides: 16 bits hold dst + range */
        for (int i = 0; i < 2; i++) {
            Case c = default_case();

            c.algo      = algo;
            c.width     = i ? 3 : 31743;
            c.height    = i ? 31743 : 3;
            c.block     = 128;
            c.range     = algo ? 1024 : 2;
            c.content   = CONTENT_RAMP;
            c.depth     = 16;
            c.nb_frames = 2;
            if (!quick)
                run_case(&c);
        }

        /* the same by every executor */
        for (int i = 0; i < NB_EXECUTORS; i++) {
            Case c = default_case();

            c.algo     = algo;
            c.executor = i;
            c.seed     = master_seed;
            c.nb_frames = MAX_FRAMES;
            run_case(&c);
        }

        /* closed in the middle */
        for (int i = 1; i <= 3; i++) {
            Case c = default_case();

            c.algo      = algo;
            c.in_flight = i;
            c.abandon   = 1;
            c.nb_frames = MAX_FRAMES;
            set_format(&c, i);
            run_case(&c);
        }
    }
}

static int random_side(uint64_t *s, int block, int max)
{
    int n;

    switch (rnd(s, 4)) {
    case 0:  n = rnd_range(s, 1, 9); break;
    case 1:  n = block * rnd_range(s, 1, FFMAX(max / block, 1)) + rnd_range(s, -1, 1); break;
    default: n = rnd_range(s, 1, max); break;
    }
    return FFMIN(n, max);
}

static void run_random(void)
{
    static const int ranges[] = {
        1, 2, 3, 4, 7, 8, 15, 16, 24, 31, 32, 33, 64, 100, 128, 255, 1024,
    };
    /* absolute differences of a full search: the oracle is slow */
    const double max_work = 3e6;
    Case c = default_case();
    uint64_t s = c.seed;
    int max = 160;

    c.algo  = rnd(&s, FF_ARRAY_ELEMS(algos));
    c.block = 4 << rnd(&s, 6);
    c.range = rnd(&s, 2) ? ranges[rnd(&s, FF_ARRAY_ELEMS(ranges))] : rnd_range(&s, 1, 40);
    if (c.block == 128)
        max = 280;
    do {
        c.width  = random_side(&s, c.block, max);
        c.height = random_side(&s, c.block, max);
        max -= max / 16;
    } while (!strcmp(algos[c.algo].name, "fs") &&
             max_work < (double)c.width * c.height *
                        FFMIN(2 * c.range + 1, c.width) *
                        FFMIN(2 * c.range + 1, c.height));
    if (rnd(&s, 2))
        set_format(&c, rnd(&s, FF_ARRAY_ELEMS(formats)));
    c.directions    = rnd_range(&s, 1, 3);
    c.nb_frames     = rnd_range(&s, 2, MAX_FRAMES);
    c.in_flight     = rnd_range(&s, 1, 3);
    c.content       = rnd(&s, 2) ? CONTENT_MOTION : rnd(&s, NB_CONTENTS);
    c.executor      = rnd(&s, NB_EXECUTORS);
    c.early_release = rnd(&s, 2);
    c.late_compare  = rnd(&s, 2);
    c.abandon       = rnd(&s, 24) == 0;
    run_case(&c);
}

/* What the filter asks before it opens a backend. */
static void test_params(void)
{
    static const struct {
        enum AVPixelFormat format;
        int depth, shift, big_endian;   // depth 0: refused
    } known[] = {
        { AV_PIX_FMT_GRAY8,       8, 0, 0 }, { AV_PIX_FMT_YUV420P,    8, 0, 0 },
        { AV_PIX_FMT_NV12,        8, 0, 0 }, { AV_PIX_FMT_NV24,       8, 0, 0 },
        { AV_PIX_FMT_YUVA444P,    8, 0, 0 }, { AV_PIX_FMT_P010LE,    10, 6, 0 },
        { AV_PIX_FMT_P010BE,     10, 6, 1 }, { AV_PIX_FMT_P012LE,    12, 4, 0 },
        { AV_PIX_FMT_P016BE,     16, 0, 1 }, { AV_PIX_FMT_YUV420P9LE, 9, 0, 0 },
        { AV_PIX_FMT_YUV422P10BE, 10, 0, 1 }, { AV_PIX_FMT_GRAY14LE, 14, 0, 0 },
        { AV_PIX_FMT_NV20LE,     10, 0, 0 }, { AV_PIX_FMT_RGB24,      0, 0, 0 },
        { AV_PIX_FMT_GBRP,        0, 0, 0 }, { AV_PIX_FMT_YUYV422,    0, 0, 0 },
        { AV_PIX_FMT_PAL8,        0, 0, 0 }, { AV_PIX_FMT_GRAYF32LE,  0, 0, 0 },
        { AV_PIX_FMT_YA8,         0, 0, 0 }, { AV_PIX_FMT_MONOWHITE,  0, 0, 0 },
        { AV_PIX_FMT_CUDA,        0, 0, 0 }, { AV_PIX_FMT_NONE,       0, 0, 0 },
    };
    static const struct {
        int width, height, ok;
    } sizes[] = {
        { 1, 1, 1 }, { 31743, 1, 1 }, { 1, 31743, 1 }, { 31743, 31743, 1 },
        { 31744, 1, 0 }, { 1, 31744, 0 }, { 0, 5, 0 }, { 5, 0, 0 }, { -1, 5, 0 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++) {
        GpumeParams p = { .block = 16, .range = 8 };
        int ret;

        last_log[0] = 0;
        ret = ff_gpume_params_init(&p, 70, 33, known[i].format, NULL);
        if (!known[i].depth) {
            if (ret != AVERROR(EINVAL) || !last_log[0])
                fail("format %d is not refused", known[i].format);
        } else if (ret < 0 || p.depth != known[i].depth ||
                   p.shift != known[i].shift ||
                   !p.big_endian != !known[i].big_endian ||
                   p.width != 70 || p.height != 33 || p.bw != 5 || p.bh != 3) {
            fail("format %d: %s depth %d shift %d big-endian %d, %dx%d, %dx%d blocks",
                 known[i].format, av_err2str(ret), p.depth, p.shift,
                 p.big_endian, p.width, p.height, p.bw, p.bh);
        }
    }

    for (int i = 0; i < FF_ARRAY_ELEMS(sizes); i++) {
        GpumeParams p = { .block = 4, .range = 1 };
        int ret;

        last_log[0] = 0;
        ret = ff_gpume_params_init(&p, sizes[i].width, sizes[i].height,
                                   AV_PIX_FMT_GRAY8, NULL);
        if (sizes[i].ok ? ret < 0 : ret != AVERROR(EINVAL) ||
                                    !strstr(last_log, "31743"))
            fail("%dx%d: %s (%s)", sizes[i].width, sizes[i].height,
                 av_err2str(ret), last_log);
    }
}

/* Samples of a depth in bytes or words, with runs of the least and greatest. */
static void fill_samples(uint64_t *state, uint8_t *dst, int n, int depth)
{
    const int max = (1 << depth) - 1;
    int kind = 0;

    for (int i = 0; i < n; i++) {
        unsigned v;

        if (!(i & 15))
            kind = rnd(state, 4);
        v = kind == 0 ? 0 : kind == 1 ? max : rnd(state, max + 1);
        if (depth > 8)
            memcpy(dst + 2 * i, &(uint16_t){ v }, 2);
        else
            dst[i] = v;
    }
}

/* Sums of absolute differences at this level, of every width and height. */
static void test_cost(const char *level, int flags)
{
    static const int depths[] = { 8, 9, 10, 12, 15, 16 };
    static const int heights[] = { 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 127, 128 };
    const int side = 2 * GPUME_MAX_BLOCK;
    uint64_t state = mix(master_seed + 1);
    uint8_t *samples[2];

    for (int i = 0; i < 2; i++)
        samples[i] = check_alloc(av_malloc(2 * side * side));
    for (int i = 0; i < FF_ARRAY_ELEMS(depths); i++) {
        const int depth = depths[i], size = depth > 8 ? 2 : 1;
        GpumeCostContext c, tested;

        av_force_cpu_flags(0);
        ff_gpume_cost_init(&c, depth);
        av_force_cpu_flags(flags);
        ff_gpume_cost_init(&tested, depth);

        for (int j = 0; j < FF_ARRAY_ELEMS(heights) * GPUME_NB_WIDTHS; j++) {
            const int h = heights[j / GPUME_NB_WIDTHS], w = j % GPUME_NB_WIDTHS;
            const ptrdiff_t linesize = (rnd(&state, 2) ? 1 : -1) *
                                       rnd_range(&state, size << w, size * side);
            const uint8_t *ref[4], *cur;
            uint32_t sad[4];

            fill_samples(&state, samples[0], side * side, depth);
            if (rnd(&state, 2))
                fill_samples(&state, samples[1], side * side, depth);
            else
                memset(samples[1], -rnd(&state, 2), 2 * side * side);
            /* a byte off any alignment, and rows above or below */
            cur = samples[0] + rnd(&state, 64);
            if (linesize < 0)
                cur -= linesize * (h - 1);
            for (int k = 0; k < 4; k++)
                ref[k] = samples[1] + (cur - samples[0]) + rnd(&state, 64);

            tested.sad_x4[w](cur, linesize, ref, linesize, h, sad, UINT32_MAX);
            for (int k = 0; k < 4; k++) {
                const uint32_t wanted = c.sad[w](cur, linesize, ref[k], linesize,
                                                 h, UINT32_MAX);
                const uint32_t got = tested.sad[w](cur, linesize, ref[k], linesize,
                                                   h, UINT32_MAX);
                if (got != wanted || sad[k] != wanted)
                    fail("%s: depth %d, %dx%d: %"PRIu32" and %"PRIu32", not %"PRIu32,
                         level, depth, 1 << w, h, got, sad[k], wanted);
            }
        }
    }
    for (int i = 0; i < 2; i++)
        av_free(samples[i]);
}

/*
 * Successive elimination at this level: sums are those of the samples, no bound
 * is above the cost, and the level keeps the candidates that C keeps.
 */
static void test_eliminate(const char *level, int flags)
{
    static const int depths[] = { 8, 10, 14, 16 };
    uint64_t state = mix(master_seed + 2);
    int64_t nb_kept = 0, nb_seen = 0;

    for (int i = 0; i < (quick ? 48 : 120); i++) {
        GpumeParams p = {
            .block  = 4 << i % 6,
            .depth  = depths[i / 6 % FF_ARRAY_ELEMS(depths)],
            .width  = rnd_range(&state, 1, 300),
            .height = rnd_range(&state, 1, 150),
        };
        const int size = p.depth > 8 ? 2 : 1;
        const ptrdiff_t linesize = p.width * size;
        const int w = FFMIN(p.width, p.block), h = FFMIN(p.height, p.block);
        const int nb = p.width - w + 1, nb_rows = p.height - h + 1;
        uint8_t *samples = check_alloc(av_malloc(linesize * p.height));
        uint8_t *sums[2], *scratch;
        uint64_t kept[2][GPUME_KEPT_WORDS(300)];
        GpumeEliminate e[2];
        GpumeCostContext cost;
        GpumeBounds b;
        ptrdiff_t x, y;
        uint32_t limit;

        av_force_cpu_flags(0);
        ff_gpume_eliminate_init(&e[0], &p);
        ff_gpume_cost_init(&cost, p.depth);
        av_force_cpu_flags(flags);
        ff_gpume_eliminate_init(&e[1], &p);

        if (i & 1)
            for (int j = 0; j < p.width * p.height; j++) {
                const unsigned v = texture(i, j % p.width << 8, j / p.width << 8, 4) >>
                                   (16 - p.depth);
                if (size == 2)
                    memcpy(samples + 2 * j, &(uint16_t){ v }, 2);
                else
                    samples[j] = v;
            }
        else
            fill_samples(&state, samples, p.width * p.height, p.depth);

        scratch = check_alloc(av_malloc(e[0].scratch_size));
        for (int k = 0; k < 2; k++) {
            const int middle = rnd(&state, p.height + 1);

            sums[k] = check_alloc(av_mallocz(e[k].size));
            ff_gpume_eliminate_sum(&e[k], sums[k], samples, linesize, 0, middle, scratch);
            ff_gpume_eliminate_sum(&e[k], sums[k], samples, linesize, middle, p.height,
                                   scratch);
        }
        /* of both planes, where the square is inside the picture */
        for (int j = 0; j < 2; j++) {
            const int side = p.block >> 1 + j;

            for (y = 0; y + side <= p.height; y++)
                for (x = 0; x + side <= p.width; x++) {
                    const ptrdiff_t at = j * e[0].size / 2 + y * e[0].linesize + x * 2;
                    unsigned sum = 0;

                    for (int u = 0; u < side; u++) {
                        unsigned column = 0;

                        for (int v = 0; v < side; v++) {
                            const uint8_t *s = samples + (y + v) * linesize + (x + u) * size;
                            column += size == 2 ? *(const uint16_t *)s : *s;
                        }
                        sum += column >> e[0].shift;
                    }
                    if (*(uint16_t *)(sums[0] + at) != sum ||
                        *(uint16_t *)(sums[1] + at) != sum || sum > INT16_MAX) {
                        fail("%s: depth %d block %d, sum at %d,%d of side %d: %d, not %u",
                             level, p.depth, p.block, (int)x, (int)y, side,
                             *(uint16_t *)(sums[1] + at), sum);
                        goto next;
                    }
                }
        }

        /* the block at (x, y) against all places of its own picture */
        x = rnd(&state, nb);
        y = rnd(&state, nb_rows);
        ff_gpume_eliminate_block(&e[1], &b, sums[1] + y * e[1].linesize + x * 2, w, h);
        b.nb_candidates = nb;
        limit = rnd(&state, 2) ? 1 : 1 + rnd(&state, (w * h << p.depth) / 8);
        ff_gpume_eliminate_limit(&e[1], &b, limit);
        for (int row = 0; row < nb_rows; row++) {
            const uint8_t *at = sums[1] + row * e[1].linesize;
            int found[2];

            /* this row only, then all up to the next that has one */
            for (int k = 0; k < 2; k++) {
                memset(kept[k], 0, sizeof(kept[k]));
                found[k] = e[k].bound(&b, at, 1, kept[k]);
            }
            for (int j = 0; j < nb; j++) {
                const int kept_c = kept[0][j / 64] >> (j & 63) & 1;
                const int kept_x = kept[1][j / 64] >> (j & 63) & 1;
                uint32_t sad = 0;

                for (int u = 0; u < w && !kept_x && sad < limit; u++)
                    sad += cost.sad[0](samples + y * linesize + (x + u) * size, linesize,
                                       samples + row * linesize + (j + u) * size, linesize,
                                       h, limit);
                if (kept_c != kept_x || sad < limit && !kept_x || kept_x && found[1]) {
                    fail("%s: depth %d block %d, candidate %d,%d of cost %"PRIu32" and "
                         "limit %"PRIu32" kept: %d, in C %d", level, p.depth, p.block,
                         j, row, sad, limit, kept_x, kept_c);
                    goto next;
                }
                nb_kept += kept_x;
                nb_seen++;
            }
            if (found[1] > found[0] || found[1] && e[1].bound(&b, at, nb_rows - row, kept[1]) >
                                                   e[0].bound(&b, at, nb_rows - row, kept[0])) {
                fail("%s: a row with candidates to be kept is left out", level);
                goto next;
            }
        }
next:
        for (int k = 0; k < 2; k++)
            av_free(sums[k]);
        av_free(scratch);
        av_free(samples);
    }
    if (nb_kept > nb_seen / 2)
        fail("%s: %"PRId64" of %"PRId64" candidates are kept", level, nb_kept, nb_seen);
}

static void add_entry(const GpumeBackend *backend, const char *level, int flags)
{
    entries[nb_entries++] = (Entry){ backend, level, flags };
}

static void open_entries(const char *only)
{
    static const struct {
        const char *name;
        int needs, all;
    } levels[] = {
#if ARCH_X86
#define LEVEL(name, needs, below) { name, needs, needs | (below) }
#define BELOW_SSE2  (AV_CPU_FLAG_MMX | AV_CPU_FLAG_MMXEXT | AV_CPU_FLAG_CMOV | AV_CPU_FLAG_SSE)
#define BELOW_SSSE3 (BELOW_SSE2  | AV_CPU_FLAG_SSE2 | AV_CPU_FLAG_SSE3)
#define BELOW_SSE4  (BELOW_SSSE3 | AV_CPU_FLAG_SSSE3)
#define BELOW_AVX2  (BELOW_SSE4  | AV_CPU_FLAG_SSE4 | AV_CPU_FLAG_SSE42 |     \
                     AV_CPU_FLAG_AVX | AV_CPU_FLAG_FMA3 | AV_CPU_FLAG_BMI1 |  \
                     AV_CPU_FLAG_BMI2)
        LEVEL("sse2",  AV_CPU_FLAG_SSE2,  BELOW_SSE2),
        LEVEL("ssse3", AV_CPU_FLAG_SSSE3, BELOW_SSSE3),
        LEVEL("sse4",  AV_CPU_FLAG_SSE4,  BELOW_SSE4),
        LEVEL("avx2",  AV_CPU_FLAG_AVX2,  BELOW_AVX2),
        LEVEL("avx512", AV_CPU_FLAG_AVX512, BELOW_AVX2 | AV_CPU_FLAG_AVX2),
        LEVEL("avx512icl", AV_CPU_FLAG_AVX512ICL,
              BELOW_AVX2 | AV_CPU_FLAG_AVX2 | AV_CPU_FLAG_AVX512),
#endif
        { "native", 0, -1 },
    };
    const int flags = av_get_cpu_flags();

    if (!only || !strcmp(only, "cpu")) {
        add_entry(&ff_gpume_backend_cpu, "c", 0);
        for (int i = 0; i < FF_ARRAY_ELEMS(levels); i++) {
            if ((flags & levels[i].needs) == levels[i].needs)
                add_entry(&ff_gpume_backend_cpu, levels[i].name,
                          flags & levels[i].all);
            else
                printf("cpu %s: skipped, this processor does not have it\n",
                       levels[i].name);
        }
    }

    if (!only || !strcmp(only, "cuda")) {
        const GpumeBackend *b = &ff_gpume_backend_cuda;
        void *priv = check_alloc(av_mallocz(FFMAX(b->priv_size, 1)));
        Case c = default_case();
        GpumeConfig cfg = {
            .max_searches = 1,
            .execute      = execute,
            .opaque       = &c,
            .fallback     = 1,
        };
        int ret;

        fill_params(&c, &cfg.params);
        last_log[0] = 0;
        ret = b->init(priv, &cfg);
        b->uninit(priv);
        av_free(priv);
        if (ret >= 0) {
            add_entry(b, "", flags);
            /* 1: AV_CUDA_USE_PRIMARY_CONTEXT, whose header needs NVIDIA's */
            ret = av_hwdevice_ctx_create(&entries[nb_entries - 1].hw_device,
                                         AV_HWDEVICE_TYPE_CUDA, NULL, NULL, 1);
            if (ret < 0)
                fail("the device cannot be opened: %s", av_err2str(ret));
        } else {
            last_log[strcspn(last_log, "\n")] = 0;
            printf("cuda: skipped, %s: %s\n", av_err2str(ret), last_log);
            if (!last_log[0])
                fail("a backend that cannot be opened has to say why");
        }
    }
}

static void usage(void)
{
    printf("usage: gpume_unit [-quick] [-seed N] [-cases N] [-case N] "
           "[-backend cpu|cuda] [-v]\n"
           "  -quick      fewer cases, for slow builds\n"
           "  -seed N     of the random cases (default %"PRIu64")\n"
           "  -cases N    how many random cases\n"
           "  -case N     this one case only\n"
           "  -backend B  this backend only, which has to be there\n", master_seed);
}

int main(int argc, char **argv)
{
    const char *backend = NULL;
    int nb_random = -1;
    int64_t nb_vectors = 0;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-quick")) {
            quick = 1;
        } else if (!strcmp(argv[i], "-v")) {
            verbose = 1;
        } else if (i + 1 < argc && !strcmp(argv[i], "-seed")) {
            master_seed = strtoull(argv[++i], NULL, 0);
        } else if (i + 1 < argc && !strcmp(argv[i], "-cases")) {
            nb_random = atoi(argv[++i]);
        } else if (i + 1 < argc && !strcmp(argv[i], "-case")) {
            only_case = strtoll(argv[++i], NULL, 0);
        } else if (i + 1 < argc && !strcmp(argv[i], "-backend")) {
            backend = argv[++i];
        } else {
            usage();
            return 2;
        }
    }
    if (nb_random < 0)
        nb_random = quick ? 60 : 2500;

    setvbuf(stdout, NULL, _IOLBF, 0);
    av_log_set_callback(log_callback);
    signal(SIGSEGV, on_segv);
    signal(SIGBUS,  on_segv);
    signal(SIGALRM, on_alarm);

    test_params();
    open_entries(backend);
    if (!nb_entries) {
        printf("FAIL: no backend to test\n");
        return 1;
    }

    for (int i = 0; only_case < 0 && i < nb_entries; i++) {
        if (entries[i].backend == &ff_gpume_backend_cpu) {
            test_cost(entries[i].level, entries[i].cpu_flags);
            test_eliminate(entries[i].level, entries[i].cpu_flags);
        }
    }

    run_fixed();
    for (int i = 0; only_case < 0 ? i < nb_random : case_number <= only_case; i++)
        run_random();

    for (int i = 0; i < nb_entries; i++) {
        printf("%s %s: %"PRId64" searches, %"PRId64" vectors compared\n",
               entries[i].backend->name, entries[i].level,
               entries[i].nb_searches, entries[i].nb_vectors);
        if (!entries[i].nb_vectors && !nb_failures && only_case < 0)
            fail("nothing was compared");
        nb_vectors += entries[i].nb_vectors;
        av_buffer_unref(&entries[i].hw_device);
    }
    printf("gpume_unit: seed %"PRIu64", %"PRId64" cases, %"PRId64" vectors compared, "
           "%d failures\n", master_seed, only_case < 0 ? case_number : 1,
           nb_vectors, nb_failures);
    return !!nb_failures;
}
