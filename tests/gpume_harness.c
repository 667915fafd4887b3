/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* MAP_ANONYMOUS */
#endif

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _WIN32
#include <direct.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <sys/mman.h>
#endif

#include "config.h"
#include "libavutil/avstring.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/intfloat.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include "libavutil/random_seed.h"
#include "libavutil/thread.h"

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/params.h"

#include "gpume_harness.h"

#define MAX_FAILURES 20

/* from libavutil/hwcontext_cuda.h, which needs CUDA's headers */
#ifndef AV_CUDA_USE_PRIMARY_CONTEXT
#define AV_CUDA_USE_PRIMARY_CONTEXT 1
#endif

/* Messages */

char test_context[4096];
int test_nb_checks, test_nb_failures, test_verbose;
char test_errors[4096], test_warnings[4096], test_last_log[1024];
int test_nb_errors;

static const char *program_name;
static char folder[64];
static AVMutex log_lock = AV_MUTEX_INITIALIZER;

void test_fail(const char *fmt, ...)
{
    va_list ap;

    printf("FAIL: ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n  %s\n", test_context);
    fflush(stdout);
    if (++test_nb_failures >= MAX_FAILURES) {
        printf("%s: stopped after %d failures\n", program_name, test_nb_failures);
        exit(1);
    }
}

static int share = 1, nb_shares = 1, nb_asked;

int test_set_share(const char *text)
{
    return sscanf(text, "%d/%d", &share, &nb_shares) == 2 && share >= 1 && share <= nb_shares ? 0 : -1;
}

int test_is_whole(void)
{
    return nb_shares == 1;
}

int test_is_mine(void)
{
    return nb_asked++ % nb_shares == share - 1;
}

void *test_alloc(void *p)
{
    if (!p) {
        printf("FAIL: the test itself is out of memory\n");
        exit(2);
    }
    return p;
}

AVFrame *test_alloc_frame(enum AVPixelFormat format, int w, int h)
{
    AVFrame *f = test_alloc(av_frame_alloc());

    f->format = format;
    f->width  = w;
    f->height = h;
    return test_alloc(av_frame_get_buffer(f, 0) < 0 ? NULL : f);
}

int test_plane_rows(const AVFrame *f, int plane)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(f->format);

    return plane == 1 || plane == 2 ? AV_CEIL_RSHIFT(f->height, desc->log2_chroma_h) : f->height;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t test_hash_frame(uint64_t hash, const AVFrame *f)
{
    const int64_t values[] = { f->pts, f->duration, f->width, f->height, f->format, f->color_range, f->nb_side_data };
    int linesizes[4];

    hash = hash_bytes(hash, values, sizeof(values));
    av_image_fill_linesizes(linesizes, f->format, f->width);
    for (int i = 0; i < av_pix_fmt_count_planes(f->format); i++)
        for (int y = 0; y < test_plane_rows(f, i); y++)
            hash = hash_bytes(hash, f->data[i] + y * (ptrdiff_t)f->linesize[i], linesizes[i]);
    return hash;
}

static void log_callback(void *ctx, int level, const char *fmt, va_list vl)
{
    char line[sizeof(test_last_log)];
    va_list copy;

    if (level > AV_LOG_VERBOSE)
        return;
    va_copy(copy, vl);
    if (test_verbose)
        av_log_default_callback(ctx, level, fmt, copy);
    va_end(copy);
    vsnprintf(line, sizeof(line), fmt, vl);

    ff_mutex_lock(&log_lock);
    memcpy(test_last_log, line, strlen(line) + 1);
    /* libavfilter's own message has no information */
    if (level <= AV_LOG_ERROR && !av_strstart(line, "Failed to configure", NULL)) {
        av_strlcat(test_errors, line, sizeof(test_errors));
        test_nb_errors++;
    } else if (level == AV_LOG_WARNING) {
        av_strlcat(test_warnings, line, sizeof(test_warnings));
    }
    ff_mutex_unlock(&log_lock);
}

void test_forget_log(void)
{
    test_last_log[0] = test_errors[0] = test_warnings[0] = 0;
    test_nb_errors = 0;
}

/* Returns the oracle's search; NULL for hme. */
static OracleVector (*oracle_of(int algo))(const OracleBlock *b)
{
    if (gpume_kind(algo) == GPUME_KIND_HIERARCHICAL)
        return NULL;
    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_searches); i++)
        if (!strcmp(oracle_searches[i].name, test_algos[algo]))
            return oracle_searches[i].search;
    fprintf(stderr, "the oracle has no search '%s'\n", test_algos[algo]);
    abort();
}

static OracleCost oracle_cost_of(int cost)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_costs); i++)
        if (!strcmp(oracle_costs[i].name, test_costs[cost]))
            return oracle_costs[i].cost;
    fprintf(stderr, "the oracle has no cost '%s'\n", test_costs[cost]);
    abort();
}

void test_init(const char *program)
{
    const AVPixFmtDescriptor *desc = NULL;

    program_name = program;
    setvbuf(stdout, NULL, _IOLBF, 0);
    av_log_set_callback(log_callback);

    for (int i = 0; i < GPUME_NB_ALGOS; i++)
        oracle_of(i);
    for (int i = 0; i < GPUME_NB_COSTS; i++)
        oracle_cost_of(i);
    while ((desc = av_pix_fmt_desc_next(desc))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);

        if (ff_gpume_format_supported(format) && test_nb_formats < FF_ARRAY_ELEMS(test_formats))
            test_formats[test_nb_formats++] = format;
    }
}

/* System-dependent functions */

/* Prints a message; may be called in a signal handler. */
static void print_in_handler(const char *msg)
{
    if (write(STDOUT_FILENO, msg, strlen(msg)) < 0 ||
        write(STDOUT_FILENO, test_context, strlen(test_context)) < 0 ||
        write(STDOUT_FILENO, "\n", 1) < 0)
        _exit(2);
}

static const char outside_text[] = "FAIL: a sample outside a picture was read, or a picture was written: ";
static const char endless_text[] = "FAIL: this test does not end: ";

#ifdef _WIN32
static LONG CALLBACK on_exception(EXCEPTION_POINTERS *e)
{
    if (e->ExceptionRecord->ExceptionCode == EXCEPTION_ACCESS_VIOLATION)
        print_in_handler(outside_text);
    return EXCEPTION_CONTINUE_SEARCH;
}

static void CALLBACK on_timer(void *opaque, BOOLEAN fired)
{
    print_in_handler(endless_text);
    _exit(1);
}

void test_watch(int seconds)
{
    static HANDLE timer;

    SetUnhandledExceptionFilter(on_exception);
    if (timer)
        DeleteTimerQueueTimer(NULL, timer, INVALID_HANDLE_VALUE);
    timer = NULL;
    if (seconds && !CreateTimerQueueTimer(&timer, NULL, on_timer, NULL, 1000 * seconds, 0, WT_EXECUTEONLYONCE))
        test_alloc(NULL);
}

/* Makes the folder in the current folder, because the colon of a drive's letter would separate options. */
const char *test_make_folder(const char *program)
{
    snprintf(folder, sizeof(folder), "%s.%08"PRIx32, program, av_get_random_seed());
    return test_alloc(_mkdir(folder) ? NULL : folder);
}

static size_t page_size(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* Maps whole pages, with an inaccessible page before and after them. Returns the address of the first page. */
static uint8_t *map_guarded(size_t size, size_t page)
{
    uint8_t *base = VirtualAlloc(NULL, size + 2 * page, MEM_RESERVE, PAGE_NOACCESS);

    return base && VirtualAlloc(base + page, size, MEM_COMMIT, PAGE_READWRITE) ? base : NULL;
}

static void protect(uint8_t *data, size_t size)
{
    DWORD before;

    if (!VirtualProtect(data, size, PAGE_READONLY, &before))
        test_alloc(NULL);
}

static void unmap_buffer(void *opaque, uint8_t *data)
{
    VirtualFree(data, 0, MEM_RELEASE);
}

void *test_driver_function(const char *name)
{
    const HMODULE lib = LoadLibraryA("nvcuda.dll");

    return lib ? (void *)(uintptr_t)GetProcAddress(lib, name) : NULL;
}
#else
static struct sigaction old_segv, old_bus;
static int is_watched;

static void on_segv(int sig)
{
    print_in_handler(outside_text);
    /* returns to the same access, which the sanitizer's handler then reports */
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS,  &old_bus,  NULL);
}

static void on_alarm(int sig)
{
    print_in_handler(endless_text);
    _exit(1);
}

void test_watch(int seconds)
{
    const struct sigaction segv = { .sa_handler = on_segv };

    if (!is_watched) {
        sigaction(SIGSEGV, &segv, &old_segv);
        sigaction(SIGBUS,  &segv, &old_bus);
        signal(SIGALRM, on_alarm);
    }
    is_watched = 1;
    alarm(seconds);
}

const char *test_make_folder(const char *program)
{
    snprintf(folder, sizeof(folder), "/tmp/%s.XXXXXX", program);
    return test_alloc(mkdtemp(folder));
}

static size_t page_size(void)
{
    return sysconf(_SC_PAGESIZE);
}

/* Maps whole pages, with an inaccessible page before and after them. Returns the address of the first page. */
static uint8_t *map_guarded(size_t size, size_t page)
{
    uint8_t *base = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return base == MAP_FAILED || mprotect(base + page, size, PROT_READ | PROT_WRITE) ? NULL : base;
}

static void protect(uint8_t *data, size_t size)
{
    if (mprotect(data, size, PROT_READ))
        test_alloc(NULL);
}

static void unmap_buffer(void *opaque, uint8_t *data)
{
    munmap(data, (size_t)(uintptr_t)opaque);
}

void *test_driver_function(const char *name)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);

    return lib ? dlsym(lib, name) : NULL;
}
#endif

int test_remove_folder(void)
{
    return rmdir(folder);
}

/* Random numbers */

uint64_t test_mix(uint64_t x)
{
    /* Sebastiano Vigna's splitmix64 */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

unsigned test_draw(TestRandom *r, unsigned n)
{
    unsigned v = 0;

    if (!r->data) {
        const uint64_t x = test_mix(r->state);

        r->state += UINT64_C(0x9e3779b97f4a7c15);
        return x % n;
    }
    for (unsigned max = n - 1; max; max >>= 8) {
        v = v << 8 | (r->size ? *r->data : 0);
        if (r->size) {
            r->data++;
            r->size--;
        }
    }
    return v % n;
}

int test_draw_range(TestRandom *r, int min, int max)
{
    return (int)(min + test_draw(r, (unsigned)max - min + 1));
}

void test_each_choice(const char *text, void (*run)(const void *opaque, const char *text),
                      const void *opaque)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *item, *end;
    char buf[1024];

    if (!open) {
        run(opaque, text);
        return;
    }
    for (item = open + 1; item <= close; item = end + 1) {
        end = item + strcspn(item, ",}");
        snprintf(buf, sizeof(buf), "%.*s%.*s%s", (int)(open - text), text,
                 (int)(end - item), item, close + 1);
        test_each_choice(buf, run, opaque);
    }
}

/* Pictures */

const char *const test_content_names[TEST_NB_CONTENTS] = {
    "random", "extreme", "checker", "flat", "equal", "motion", "shift",
    "binary", "stripes", "ramp", "speeds", "hadamard",
    "faint", "small",
};

const char *const test_algos[GPUME_NB_ALGOS] = {
#define NAME(ID, name, ...) #name,
    GPUME_SEARCHES(NAME)
#undef NAME
};

const char *const test_costs[GPUME_NB_COSTS] = {
#define NAME(ID, name, title) #name,
    GPUME_COSTS(NAME)
#undef NAME
};

enum AVPixelFormat test_formats[256];
int test_nb_formats;

/* Returns the component that is searched: luma, or green for RGB. */
static const AVComponentDescriptor *searched(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);

    return &desc->comp[av_stristr(desc->name, "rgb") || av_stristr(desc->name, "bgr") ||
                       av_stristr(desc->name, "gbr") || av_stristr(desc->name, "argb") ? 1 : 0];
}

int test_depth(enum AVPixelFormat format)
{
    return FFMIN(searched(format)->depth, 16);
}

int test_same_picture(const TestPicture *a, const TestPicture *b)
{
    return a->w == b->w && a->h == b->h && a->format == b->format;
}

/* Returns the hash of a point of a lattice: 0 to 65535. */
static int lattice(uint64_t seed, int x, int y)
{
    return test_mix(seed ^ ((uint64_t)(uint32_t)x << 32 | (uint32_t)y)) >> 48;
}

/* Returns a sample of smooth noise; x and y in 1/256 samples, cells of 1 << log2_cell samples. */
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

/* Returns a motion from 0 to far out of range, often close to the limit of the range. */
static int random_motion(TestRandom *r, int range)
{
    static const int edge[] = { 0, 0, 1, 1, 2, -1 };
    int v;

    switch (test_draw(r, 4)) {
    case 0:  return test_draw_range(r, -2, 2);
    case 1:  v = test_draw_range(r, 0, range); break;
    default: v = range + edge[test_draw(r, FF_ARRAY_ELEMS(edge))]; break;
    }
    return test_draw(r, 2) ? v : -v;
}

/* Returns a sample of adjacent squares that move at different speeds over a still texture; 16 bits. */
static int64_t small_squares(uint64_t pattern, int x, int y, int i)
{
    for (int k = 0; k < 9; k++) {
        const int cx = x / 48 + k % 3 - 1, cy = y / 48 + k / 3 - 1;
        const int draw = lattice(pattern + 2, cx, cy);
        const int side = 12 + (draw & 15);
        const int u = x - 48 * cx - 16 - i * ((draw >> 4 & 63) - 32);
        const int v = y - 48 * cy - 16 - i * ((draw >> 10 & 31) - 16);

        if (u >= 0 && v >= 0 && u < side && v < side)
            return texture(pattern + 3 + draw, 256 * u, 256 * v, 1);
    }
    return texture(pattern, 256 * x, 256 * y, 2);
}

void test_samples(TestStream *s, enum TestContent content, uint64_t seed, int range)
{
    TestRandom r = { .state = test_mix(seed) };
    const uint64_t pattern = test_mix(seed + 1);
    const int move_x  = random_motion(&r, range);
    const int move_y  = content == TEST_SHIFT && !test_draw(&r, 4) ? 0 : random_motion(&r, range);
    const int zoom    = test_draw(&r, 3) ? test_draw_range(&r, -6, 6) : 0;
    const int noisy   = test_draw(&r, 3);
    const int period  = test_draw_range(&r, 2, 9);
    const int slope_x = test_draw_range(&r, -3, 3);
    const int slope_y = test_draw_range(&r, -3, 3);

    for (int i = 0; i < s->nb; i++) {
        TestPicture *pic = &s->pics[i];
        const int max = (1 << test_depth(pic->format)) - 1;
        const int value = test_draw(&r, max + 1), noise = 1 + max / 64;
        uint16_t *dst = pic->samples =
            test_alloc(av_malloc_array((size_t)pic->w * pic->h, sizeof(*dst)));

        for (int y = 0; y < pic->h; y++) {
            for (int x = 0; x < pic->w; x++, dst++) {
                int64_t v = 0;

                switch (content) {
                case TEST_RANDOM:
                    v = test_draw(&r, max + 1);
                    break;
                case TEST_EXTREME:
                    v = i & 1 ? max : 0;
                    break;
                case TEST_CHECKER:
                    v = x + y + i & 1 ? max : 0;
                    break;
                case TEST_HADAMARD:
                    v = (av_popcount(x & y & 7) + i) & 1 ? max : 0;
                    break;
                case TEST_FLAT:
                    v = value;
                    break;
                case TEST_EQUAL:
                    v = lattice(pattern, x, y) & max;
                    break;
                case TEST_MOTION: {
                    const int tx = x * (256 + zoom * i) + 256 * move_x * i;
                    const int ty = y * (256 + zoom * i) + 256 * move_y * i;

                    v = (texture(pattern, tx, ty, 4) +
                         texture(pattern + 1, tx, ty, 2)) * (int64_t)max >> 17;
                    if (noisy)
                        v += test_draw_range(&r, -noise, noise);
                    break;
                }
                case TEST_SHIFT:
                    v = lattice(pattern, x + move_x * i, y + move_y * i) & max;
                    break;
                case TEST_BINARY:
                    v = test_draw(&r, 2);
                    break;
                case TEST_FAINT:
                    v = (x / 20 & 1 ? max / 2 : max / 8) + test_draw(&r, 4);
                    break;
                case TEST_SMALL:
                    v = small_squares(pattern, x, y, i) * max >> 16;
                    break;
                case TEST_STRIPES:
                    v = ((pattern & 1 ? x : y) + i * move_x % period + period) %
                        period * max / period;
                    break;
                case TEST_RAMP:
                    v = max / 2 + slope_x * (x + move_x * i) + slope_y * (y + move_y * i);
                    break;
                case TEST_SPEEDS: {
                    /* patches are one or two blocks wide */
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

void test_layout(TestStream *s, uint64_t seed)
{
    TestRandom r = { .state = test_mix(seed) };

    for (int i = 0; i < s->nb; i++) {
        TestPicture *pic = &s->pics[i];
        const int sample_size = test_depth(pic->format) > 8 ? 2 : 1;

        pic->guarded  = 1;
        pic->negative = !test_draw(&r, 4);
        pic->at_end   = test_draw(&r, 2);
        switch (test_draw(&r, 4)) {
        case 0:  pic->padding = 0; break;
        case 1:  pic->padding = -pic->w * sample_size & 63; break;
        case 2:  pic->padding = test_draw_range(&r, 1, 40) | 1; break;
        default: pic->padding = test_draw_range(&r, 1, 100) * sample_size; break;
        }
    }
}

static void fill(uint8_t *dst, size_t size)
{
    for (size_t i = 0; i < size; i++)
        dst[i] = i * 113 >> 3 ^ 0x5a;
}

static void get_guarded_buffer(AVFrame *frame, const TestPicture *pic, size_t page)
{
    const int row = pic->w * searched(pic->format)->step;
    ptrdiff_t stride = row + pic->padding;
    const size_t used = stride * (pic->h - 1) + row;
    const size_t size = FFALIGN(used, page);
    uint8_t *base = test_alloc(map_guarded(size, page));

    fill(base + page, size);
    frame->buf[0] = test_alloc(av_buffer_create(base, size + 2 * page, unmap_buffer,
                                                (void *)(uintptr_t)(size + 2 * page),
                                                AV_BUFFER_FLAG_READONLY));
    frame->data[0] = base + page + (pic->at_end ? size - used : 0);
    if (pic->negative) {
        frame->data[0] += stride * (pic->h - 1);
        stride = -stride;
    }
    frame->linesize[0] = stride;
}

AVFrame *test_frame(const TestPicture *pic)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(pic->format);
    const AVComponentDescriptor *c = searched(pic->format);
    const int shift = c->shift, wide = test_depth(pic->format) > 8;
    /* other components share the same two bytes */
    const int above = c->step > 2 && c->depth + shift < 16 ? c->depth + shift : 16;
    const int be = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    const size_t page = page_size();
    AVFrame *frame = test_alloc(av_frame_alloc());

    frame->format = pic->format;
    frame->width  = pic->w;
    frame->height = pic->h;
    frame->pts    = pic->pts;
    frame->colorspace  = AVCOL_SPC_BT470BG;
    frame->color_range = AVCOL_RANGE_MPEG;
    if (pic->guarded) {
        get_guarded_buffer(frame, pic, page);
    } else {
        if (av_frame_get_buffer(frame, 0) < 0)
            test_alloc(NULL);
        for (int i = 0; i < FF_ARRAY_ELEMS(frame->buf) && frame->buf[i]; i++)
            fill(frame->buf[i]->data, frame->buf[i]->size);
    }

    for (int y = 0; y < pic->h; y++) {
        uint8_t *row = frame->data[0] + c->offset + y * (ptrdiff_t)frame->linesize[0];
        const uint16_t *src = pic->samples + (size_t)y * pic->w;

        for (int x = 0; x < pic->w; x++) {
            /* the bits below the sample have arbitrary values */
            const unsigned v = src[x] << shift | ((13 * x + 7 * y) & ((1 << shift) - 1)) |
                               (unsigned)(5 * x + 3 * y) << above;

            if (wide) {
                row[c->step * x + !be] = v >> 8;
                row[c->step * x +  be] = v;
            } else {
                row[c->step * x] = v;
            }
        }
    }
    if (pic->guarded)
        protect(frame->buf[0]->data + page, frame->buf[0]->size - 2 * page);
    if (pic->fault == TEST_NO_LUMA)
        frame->data[0] = NULL;
    else if (pic->fault == TEST_NARROW)
        frame->linesize[0] = (frame->linesize[0] < 0 ? -1 : 1) * (pic->w * c->step - 1);
    return frame;
}

static int pel_of(const TestStream *s)
{
    return s->pel ? s->pel : 1;
}

int test_sweeps(const TestStream *s)
{
    return s->sweeps ? s->sweeps : gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL ? 4 : 2;
}

int64_t test_full_work(const TestStream *s, int w, int h)
{
    const int least = FFMAX(32, 2 * s->block);
    int range = s->range;

    if (gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL) {
        for (int level = 1; s->levels ? level < s->levels : FFMIN(w, h) >= least; level++) {
            w     = (w + 1) / 2;
            h     = (h + 1) / 2;
            range = (range + 1) / 2;
        }
    } else if (gpume_kind(s->algo) != GPUME_KIND_FULL) {
        return 0;
    }
    return (int64_t)w * h * FFMIN(2 * range + 1, w) * FFMIN(2 * range + 1, h);
}

static OracleMotion motion_of(const TestStream *s, int i)
{
    return (OracleMotion){
        .search = oracle_of(s->algo), .cost = oracle_cost_of(s->cost),
        .block  = s->block, .range = s->range,
        .depth  = test_depth(s->pics[i].format), .smooth = s->smooth,
        .sweeps = test_sweeps(s), .pel = pel_of(s), .levels = s->levels,
    };
}

/*
 * Searches picture i in the picture at distance j with the oracle.
 * @param first     first picture of the same size and format
 * @param smaller   fields of smaller blocks, from which hme's larger blocks begin; may be NULL
 * @param nb_passes number of passes that follow then
 */
static void expect_field(TestStream *s, int i, int j, int first, const TestStream *smaller, int nb_passes)
{
    TestPicture *pic = &s->pics[i];
    const size_t nb = (size_t)oracle_blocks(pic->w, s->block) * oracle_blocks(pic->h, s->block);
    const OracleMotion m = motion_of(s, i);
    const OraclePicture cur = { pic->w, pic->h, pic->samples };
    const OraclePicture ref = { pic->w, pic->h, s->pics[i + s->distance[j]].samples };

    pic->found[j]   = test_alloc(av_calloc(nb, sizeof(*pic->found[j])));
    pic->vectors[j] = test_alloc(av_calloc(nb, sizeof(*pic->vectors[j])));
    if (smaller) {
        oracle_larger(&m, &cur, &ref, smaller->pics[i].vectors[j], nb_passes, pic->vectors[j]);
        return;
    }
    oracle_motion(&m, &cur, &ref, i - 1 >= first ? s->pics[i - 1].found[j] : NULL,
                  i - 2 >= first ? s->pics[i - 2].found[j] : NULL, pic->found[j],
                  pic->vectors[j]);
}

static void free_fields(TestPicture *pic)
{
    for (int j = 0; j < GPUME_MAX_REFERENCES; j++) {
        av_freep(&pic->vectors[j]);
        av_freep(&pic->found[j]);
        free(pic->trees[j].leaves);
        pic->trees[j] = (OracleTree){ 0 };
    }
}

/* Returns the reference at the same distance on the other side; negative if there is none. */
static int opposite_of(const TestStream *s, int j)
{
    for (int k = 0; k < s->nb_distances; k++)
        if (s->distance[k] == -s->distance[j])
            return k;
    return -1;
}

/*
 * Computes fields of blocks of one size, without the check.
 * @param smaller, nb_passes see expect_field()
 */
static void expect_fields(TestStream *s, const TestStream *smaller, int nb_passes)
{
    int first[TEST_MAX_PICTURES];   ///< the first picture of the same size and format

    for (int i = 0; i < s->nb; i++)
        first[i] = i && test_same_picture(&s->pics[i - 1], &s->pics[i]) ? first[i - 1] : i;
    for (int i = 0; i < s->nb; i++) {
        for (int j = 0; j < s->nb_distances; j++) {
            const int ref = i + s->distance[j];

            if (ref >= 0 && ref < s->nb && first[ref] == first[i])
                expect_field(s, i, j, first[i], smaller, nb_passes);
        }
    }
}

/* Checks the fields and sets their costs. */
static void expect_final(TestStream *s)
{
    for (int i = 0; s->check && i < s->nb; i++) {
        for (int j = 0; j < s->nb_distances; j++) {
            /* handles each pair once */
            if (s->pics[i].vectors[j] && s->distance[j] < 0) {
                const OracleMotion m = motion_of(s, i);

                oracle_check(&m, s->pics[i].w, s->pics[i].h, s->pics[i].vectors[j],
                             s->pics[i + s->distance[j]].vectors[opposite_of(s, j)]);
            }
        }
    }
    for (int i = 0; i < s->nb; i++) {
        const TestPicture *pic = &s->pics[i];
        const OracleMotion m = motion_of(s, i);

        for (int j = 0; j < s->nb_distances; j++)
            if (pic->vectors[j])
                oracle_set_costs(&m, &(OraclePicture){ pic->w, pic->h, pic->samples },
                                 &(OraclePicture){ pic->w, pic->h,
                                                   s->pics[i + s->distance[j]].samples },
                                 pic->vectors[j]);
    }
}

/*
 * Computes the leaves of picture i in reference j.
 * @param sized streams for nb sizes of blocks
 */
static void expect_tree(TestStream *s, int i, int j, const TestStream *sized, int nb)
{
    TestPicture *pic = &s->pics[i];
    OracleTree *t = &pic->trees[j];
    OracleSizes sizes = {
        .w = pic->w, .h = pic->h, .block = s->block, .nb = nb, .depth = test_depth(pic->format),
        .lambda = oracle_lambda(s->lambda, s->qp),
    };

    for (int k = 0; k < nb; k++)
        if (!(sizes.fields[k] = sized[k].pics[i].vectors[j]))
            return;
    oracle_tree(&sizes, t);
    pic->vectors[j] = test_alloc(av_calloc(t->nb, sizeof(*pic->vectors[j])));
    for (int k = 0; k < t->nb; k++)
        pic->vectors[j][k] = t->leaves[k].v;
}

static void expect_trees(TestStream *s)
{
    const int hme = gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL;
    TestStream *sized = test_alloc(av_calloc(ORACLE_MAX_SIZES, sizeof(*sized)));
    int nb = 0;

    for (int block = s->block; block <= s->tree_max; block *= 2, nb++) {
        sized[nb] = *s;
        sized[nb].block = block;
        expect_fields(&sized[nb], hme && nb ? &sized[nb - 1] : NULL, nb == 1);
    }
    for (int k = 0; k < nb; k++)
        expect_final(&sized[k]);
    for (int i = 0; i < s->nb; i++)
        for (int j = 0; j < s->nb_distances; j++)
            expect_tree(s, i, j, sized, nb);
    /* the streams share the samples */
    for (int k = 0; k < nb; k++)
        for (int i = 0; i < s->nb; i++)
            free_fields(&sized[k].pics[i]);
    av_free(sized);
}

void test_expect(TestStream *s)
{
    s->nb_distances = s->nb_references;
    for (int j = 0; s->check && j < s->nb_references; j++)
        if (opposite_of(s, j) < 0)
            s->distance[s->nb_distances++] = -s->distance[j];
    for (int i = 0; i < s->nb; i++) {
        TestPicture *pic = &s->pics[i];

        free_fields(pic);
        pic->intra = oracle_intra(oracle_cost_of(s->cost),
                                  &(OraclePicture){ pic->w, pic->h, pic->samples }, s->block);
    }
    if (s->tree_max) {
        expect_trees(s);
    } else {
        expect_fields(s, NULL, 0);
        expect_final(s);
    }
}

void test_free_stream(TestStream *s)
{
    for (int i = 0; i < TEST_MAX_PICTURES; i++) {
        av_freep(&s->pics[i].samples);
        free_fields(&s->pics[i]);
    }
}

void test_set_dir(TestStream *s, int dir, int refs)
{
    s->nb_references = 0;
    for (int i = 1; i <= refs && dir & 1; i++)
        s->distance[s->nb_references++] = -i;
    for (int i = 1; i <= refs && dir & 2; i++)
        s->distance[s->nb_references++] = i;
}

int test_default(int algo, const char *option)
{
    static const struct {
        const char *name;
        int value, of_hme;
    } defaults[] = {
        { "block", 16, 8 }, { "range", 16, 256 }, { "smooth", 0, 2 }, { "check", 0, 1 }, { "pel", 1, 4 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(defaults); i++)
        if (!strcmp(defaults[i].name, option))
            return gpume_kind(algo) == GPUME_KIND_HIERARCHICAL ? defaults[i].of_hme
                                                               : defaults[i].value;
    abort();
}

void test_parse_options(TestStream *s, const char *options)
{
    AVDictionary *dict = NULL;
    const AVDictionaryEntry *e = NULL;
    int tree = 0, tree_max = 64;

    av_dict_parse_string(&dict, options, "=", ":", 0);
    e = av_dict_get(dict, "algo", NULL, 0);
    for (int i = 0; i < GPUME_NB_ALGOS && e; i++)
        if (!strcmp(e->value, test_algos[i]))
            s->algo = i;
    e = av_dict_get(dict, "cost", NULL, 0);
    for (int i = 0; i < GPUME_NB_COSTS && e; i++)
        if (!strcmp(e->value, test_costs[i]))
            s->cost = i;
    s->range  = test_default(s->algo, "range");
    s->smooth = test_default(s->algo, "smooth");
    s->check  = test_default(s->algo, "check");
    s->pel    = test_default(s->algo, "pel");
    s->lambda = s->qp = -1;
    e = NULL;
    while ((e = av_dict_iterate(dict, e))) {
        const struct {
            const char *name;
            int *value;
        } numbers[] = {
            { "block", &s->block }, { "range", &s->range }, { "smooth", &s->smooth },
            { "check", &s->check }, { "pel", &s->pel }, { "sweeps", &s->sweeps },
            { "levels", &s->levels }, { "tree", &tree }, { "tree_max", &tree_max },
            { "lambda", &s->lambda }, { "qp", &s->qp },
        };

        for (int i = 0; i < FF_ARRAY_ELEMS(numbers); i++)
            if (!strcmp(e->key, numbers[i].name))
                *numbers[i].value = atoi(e->value);
        if (!strcmp(e->key, "dir"))
            test_set_dir(s, e->value[0] == 'p' ? 1 : e->value[0] == 'f' ? 2 : 3, 1);
    }
    s->tree_max = tree ? tree_max : 0;
    av_dict_free(&dict);
}

static int nb_blocks(const TestStream *s, int i)
{
    return oracle_blocks(s->pics[i].w, s->block) * oracle_blocks(s->pics[i].h, s->block);
}

int test_nb_vectors(const TestStream *s, int i, int j)
{
    return s->tree_max ? s->pics[i].trees[j].nb : nb_blocks(s, i);
}

int64_t test_nb_leaves(const TestStream *s, int side)
{
    int64_t nb = 0;

    for (int i = 0; i < s->nb; i++)
        for (int j = 0; j < s->nb_references; j++)
            for (int k = 0; k < s->pics[i].trees[j].nb; k++)
                nb += s->pics[i].trees[j].leaves[k].side == side;
    return nb;
}

/* Returns the position of block or leaf k of picture i in reference j. */
static OracleLeaf place_of(const TestStream *s, int i, int j, int k)
{
    const int bw = oracle_blocks(s->pics[i].w, s->block);

    if (s->tree_max)
        return s->pics[i].trees[j].leaves[k];
    return (OracleLeaf){ k % bw * s->block, k / bw * s->block, s->block };
}

/* Returns block or leaf k of picture i in reference j, as in side data. */
static AVMotionVector expected_vector(const TestStream *s, int i, int j, int k)
{
    const TestPicture *pic = &s->pics[i];
    const OracleVector *v = &pic->vectors[j][k];
    const OracleLeaf place = place_of(s, i, j, k);
    const int x0 = place.x0, y0 = place.y0, pel = pel_of(s);
    AVMotionVector mv;

    /* clears the padding, too */
    memset(&mv, 0, sizeof(mv));
    mv.source       = s->distance[j];
    mv.w            = oracle_min(place.side, pic->w - x0);
    mv.h            = oracle_min(place.side, pic->h - y0);
    mv.dst_x        = x0 + mv.w / 2;
    mv.dst_y        = y0 + mv.h / 2;
    mv.src_x        = mv.dst_x + oracle_floor(v->dx + pel / 2, pel);
    mv.src_y        = mv.dst_y + oracle_floor(v->dy + pel / 2, pel);
    mv.flags        = v->inconsistent;
    mv.motion_x     = v->dx;
    mv.motion_y     = v->dy;
    mv.motion_scale = pel;
    return mv;
}

static void format_vector(char *buf, size_t size, const AVMotionVector *mv, int64_t cost)
{
    snprintf(buf, size, "source %"PRId32" w %d h %d src %d,%d dst %d,%d flags %"PRIu64
             " motion %"PRId32",%"PRId32"/%d cost %"PRId64,
             mv->source, mv->w, mv->h, mv->src_x, mv->src_y, mv->dst_x, mv->dst_y,
             mv->flags, mv->motion_x, mv->motion_y, mv->motion_scale, cost);
}

int test_compare_field(const TestStream *s, int i, int j, const void *mvs,
                       const uint32_t *costs, char wrong[1024])
{
    const int nb = test_nb_vectors(s, i, j);
    const uint8_t *p = mvs;

    for (int k = 0; k < nb; k++, p += sizeof(AVMotionVector)) {
        const AVMotionVector wanted = expected_vector(s, i, j, k);
        const uint32_t cost = s->pics[i].vectors[j][k].cost;
        const uint32_t got_cost = costs ? costs[k] : cost;

        if (memcmp(p, &wanted, sizeof(wanted)) || got_cost != cost) {
            char got_str[256], wanted_str[256];
            AVMotionVector got;

            memcpy(&got, p, sizeof(got));
            format_vector(got_str,    sizeof(got_str),    &got,    got_cost);
            format_vector(wanted_str, sizeof(wanted_str), &wanted, cost);
            snprintf(wrong, 1024, "picture %d reference %d block %d at (%d,%d)%s\n"
                     "  got      %s\n  expected %s", i, s->distance[j], k,
                     place_of(s, i, j, k).x0, place_of(s, i, j, k).y0,
                     strcmp(got_str, wanted_str) ? "" : ": bytes between the fields",
                     got_str, wanted_str);
            return -1;
        }
    }
    return 0;
}

int test_compare(const TestStream *s, int i, const void *mvs, size_t size,
                 const uint32_t *costs, char wrong[1024])
{
    size_t nb = 0, first = 0;

    for (int j = 0; j < s->nb_references; j++)
        nb += s->pics[i].vectors[j] ? test_nb_vectors(s, i, j) : 0;
    if (size != nb * sizeof(AVMotionVector)) {
        snprintf(wrong, 1024, "picture %d: %zu bytes of vectors, expected %zu of %zu blocks", i, size,
                 nb * sizeof(AVMotionVector), nb);
        return -1;
    }
    for (int j = 0; j < s->nb_references; j++) {
        if (!s->pics[i].vectors[j])
            continue;
        if (test_compare_field(s, i, j, (const uint8_t *)mvs + first * sizeof(AVMotionVector),
                               costs ? costs + first : NULL, wrong))
            return -1;
        first += test_nb_vectors(s, i, j);
    }
    return 0;
}

/* Files of the filter */

typedef struct FieldStats {
    uint64_t cost;
    int zero;
    double mean, max;
    double sound, scene;
} FieldStats;

/* Additional keys of trees. */
static const char *const tree_keys[] = {
    "leaves4", "leaves8", "leaves16", "leaves32", "leaves64", "bits", "rd",
};

/* Gets a value of a field. Returns 0 if the field has no such value. */
static int tree_value(const TestStream *s, int i, int j, int key, uint64_t *value)
{
    const OracleTree *t = &s->pics[i].trees[j];
    const int side = 4 << key;

    *value = 0;
    if (key >= ORACLE_MAX_SIZES) {
        *value = key > ORACLE_MAX_SIZES ? t->rd : t->bits;
        return !!s->tree_max;
    }
    for (int k = 0; k < t->nb; k++)
        *value += t->leaves[k].side == side;
    return side >= s->block && side <= s->tree_max;
}

/*
 * Prints the values of a tree.
 * @param format format of a key and its value
 */
static void print_tree(AVBPrint *text, const TestStream *s, int i, int j, const char *format)
{
    uint64_t value;

    for (int key = 0; key < FF_ARRAY_ELEMS(tree_keys); key++)
        if (tree_value(s, i, j, key, &value))
            av_bprintf(text, format, tree_keys[key], value);
}

static FieldStats field_stats(const TestStream *s, int i, int j)
{
    const OracleVector *v = s->pics[i].vectors[j];
    const int nb = test_nb_vectors(s, i, j);
    const uint64_t intra = s->pics[i].intra;
    FieldStats f = { 0 };
    int nb_inconsistent = 0;

    for (int k = 0; k < nb; k++, v++) {
        const double len = sqrt((double)v->dx * v->dx + (double)v->dy * v->dy);

        f.cost += v->cost;
        f.zero += !v->dx && !v->dy;
        f.mean += len;
        f.max   = FFMAX(f.max, len);
        nb_inconsistent += v->inconsistent;
    }
    f.mean /= nb * pel_of(s);
    f.max  /= pel_of(s);
    f.sound = 1 - (double)nb_inconsistent / nb;
    f.scene = !f.cost ? 0 : f.cost >= intra ? 1 : (double)f.cost / intra;
    return f;
}

/* Writes the name of a reference in files and metadata: past, future, past2 ... */
static const char *reference_name(char name[16], int distance)
{
    snprintf(name, 16, abs(distance) > 1 ? "%s%d" : "%s", distance < 0 ? "past" : "future", abs(distance));
    return name;
}

/* Formats the time of a picture of a stream of 25 frames/s; none is the text for an unknown time. */
static const char *time_text(char buf[32], int64_t pts, const char *none)
{
    const int64_t us = pts == AV_NOPTS_VALUE ? 0 : pts * 40000;

    snprintf(buf, 32, "%s%"PRId64".%06d", us < 0 ? "-" : "", FFABS(us) / 1000000, (int)(FFABS(us) % 1000000));
    return pts == AV_NOPTS_VALUE ? none : buf;
}

static void expect_csv(AVBPrint *text, const TestStream *s, int i, int j)
{
    for (int k = 0; k < test_nb_vectors(s, i, j); k++) {
        const AVMotionVector mv = expected_vector(s, i, j, k);
        char time[32];

        av_bprintf(text, "%d,%d,%d,%d,%d,%d,%d,%d,0x%d,%d,%d,%d,%"PRIu32",%s\n", i + 1, mv.source,
                   mv.w, mv.h, mv.src_x, mv.src_y, mv.dst_x, mv.dst_y, (int)mv.flags, mv.motion_x,
                   mv.motion_y, mv.motion_scale, s->pics[i].vectors[j][k].cost,
                   time_text(time, s->pics[i].pts, ""));
    }
}

/* Returns the block or leaf that contains a block of size s->block; negative if the reference does not exist. */
static int containing(const TestStream *s, int i, int j, int block)
{
    const int bw = oracle_blocks(s->pics[i].w, s->block);
    const int x = block % bw * s->block, y = block / bw * s->block;

    if (!s->pics[i].vectors[j])
        return -1;
    for (int k = 0; k < test_nb_vectors(s, i, j); k++) {
        const OracleLeaf l = place_of(s, i, j, k);

        if (x >= l.x0 && x < l.x0 + l.side && y >= l.y0 && y < l.y0 + l.side)
            return k;
    }
    abort();
}

static void expect_npy(AVBPrint *text, const TestStream *s, int i, int j)
{
    static const OracleVector none = { 0, 0, -1 };

    for (int block = 0; block < nb_blocks(s, i); block++) {
        const int k = containing(s, i, j, block);
        const OracleVector *v = k >= 0 ? &s->pics[i].vectors[j][k] : &none;
        const uint32_t numbers[4] = { v->dx, v->dy, v->cost, k >= 0 ? place_of(s, i, j, k).side : 0 };

        for (int m = 0; m < (s->tree_max ? 16 : 12); m++)
            av_bprint_chars(text, numbers[m / 4] >> 8 * (m % 4) & 255, 1);
    }
}

static void little_endian(AVBPrint *text, uint64_t number, int nb_bytes)
{
    for (int i = 0; i < nb_bytes; i++)
        av_bprint_chars(text, number >> 8 * i & 255, 1);
}

static void expect_npys_header(AVBPrint *text, const TestStream *s, int i, int j)
{
    const int bh = oracle_blocks(s->pics[i].h, s->block), bw = oracle_blocks(s->pics[i].w, s->block);
    const unsigned start = text->len;
    char shape[32];

    if (s->tree_max)
        snprintf(shape, sizeof(shape), "(%d,", test_nb_vectors(s, i, j));
    else
        snprintf(shape, sizeof(shape), "(%d, %d", bh, bw);
    av_bprint_append_data(text, "\x93NUMPY\x01\x00\xf6\x01", 10);
    av_bprintf(text, "{'descr': [('number', '<i8'), ('pts', '<i8'), ('pts_time', '<f8'), ('distance', '<i4'), "
               "('pel', '<i4'), ('block', '<i4'), ('width', '<i4'), ('height', '<i4'), ('leaves', '<i4'), "
               "('mv', '<f4', %s%s 2)), ('cost', '<i4', %s)), ", shape, s->tree_max ? "" : ",", shape);
    if (s->tree_max)
        av_bprintf(text, "('x', '<i4', %s)), ('y', '<i4', %s)), ('size', '<i2', %s)), ", shape, shape, shape);
    av_bprintf(text, "('consistent', '|b1', %s))], 'fortran_order': False, 'shape': ()}", shape);
    av_bprintf(text, "%*s\n", 511 - (int)(text->len - start), "");
}

static void expect_npys(AVBPrint *text, const TestStream *s, int i, int j)
{
    const TestPicture *p = &s->pics[i];
    const int nb = test_nb_vectors(s, i, j), has_pts = p->pts != AV_NOPTS_VALUE;
    const double time = has_pts ? p->pts / 25. : NAN;

    expect_npys_header(text, s, i, j);
    little_endian(text, i + 1, 8);
    little_endian(text, p->pts, 8);
    little_endian(text, av_double2int(time), 8);
    little_endian(text, s->distance[j], 4);
    little_endian(text, pel_of(s), 4);
    little_endian(text, s->block, 4);
    little_endian(text, p->w, 4);
    little_endian(text, p->h, 4);
    little_endian(text, s->tree_max ? nb : 0, 4);
    for (int k = 0; k < nb; k++) {
        little_endian(text, av_float2int((float)p->vectors[j][k].dx / pel_of(s)), 4);
        little_endian(text, av_float2int((float)p->vectors[j][k].dy / pel_of(s)), 4);
    }
    for (int k = 0; k < nb; k++)
        little_endian(text, p->vectors[j][k].cost, 4);
    for (int k = 0; k < nb && s->tree_max; k++)
        little_endian(text, place_of(s, i, j, k).x0, 4);
    for (int k = 0; k < nb && s->tree_max; k++)
        little_endian(text, place_of(s, i, j, k).y0, 4);
    for (int k = 0; k < nb && s->tree_max; k++)
        little_endian(text, place_of(s, i, j, k).side, 2);
    for (int k = 0; k < nb; k++)
        little_endian(text, !p->vectors[j][k].inconsistent, 1);
}

static void expect_stats(AVBPrint *text, const TestStream *s, int i, int j)
{
    const FieldStats f = field_stats(s, i, j);
    char name[16], time[32];

    av_bprintf(text, "n:%d pts:", i + 1);
    if (s->pics[i].pts == AV_NOPTS_VALUE)
        av_bprintf(text, "NOPTS");
    else
        av_bprintf(text, "%"PRId64, s->pics[i].pts);
    av_bprintf(text, " dir:%s blocks:%d cost:%"PRIu64" zero:%d mean_mv:%.2f max_mv:%.1f "
               "sound:%.4f intra:%"PRIu64" scene:%.4f ", reference_name(name, s->distance[j]),
               test_nb_vectors(s, i, j), f.cost, f.zero, f.mean, f.max, f.sound, s->pics[i].intra, f.scene);
    /* most pictures are too small to tell a cut; the rule itself is tested by gpume_mvfps.c */
    av_bprintf(text, "%spts_time:%s", s->distance[j] == -1 ? "cut:0 " : "", time_text(time, s->pics[i].pts, "NOPTS"));
    print_tree(text, s, i, j, " %s:%"PRIu64);
    av_bprintf(text, "\n");
}

/* Prints the same values as JSON. */
static void expect_json(AVBPrint *text, const TestStream *s, int i, int j)
{
    const FieldStats f = field_stats(s, i, j);
    const int has_pts = s->pics[i].pts != AV_NOPTS_VALUE;
    char name[16], time[32], pts[32];

    snprintf(pts, sizeof(pts), "%"PRId64, s->pics[i].pts);
    av_bprintf(text, "{\"n\":%d,\"pts\":%s,\"dir\":\"%s\",\"blocks\":%d,\"cost\":%"PRIu64",\"zero\":%d,",
               i + 1, has_pts ? pts : "null", reference_name(name, s->distance[j]), test_nb_vectors(s, i, j),
               f.cost, f.zero);
    av_bprintf(text, "\"mean_mv\":%.2f,\"max_mv\":%.1f,\"sound\":%.4f,\"intra\":%"PRIu64",\"scene\":%.4f,",
               f.mean, f.max, f.sound, s->pics[i].intra, f.scene);
    av_bprintf(text, "%s\"pts_time\":%s", s->distance[j] == -1 ? "\"cut\":0," : "",
               time_text(time, s->pics[i].pts, "null"));
    print_tree(text, s, i, j, ",\"%s\":%"PRIu64);
    av_bprintf(text, "}\n");
}

void test_expect_file(AVBPrint *text, const TestStream *s, enum TestFile kind, int nb)
{
    av_bprint_init(text, 0, AV_BPRINT_SIZE_UNLIMITED);
    if (kind == TEST_CSV) {
        av_bprintf(text, "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,"
                   "motion_y,motion_scale,cost,pts_time\n");
    } else if (kind == TEST_NPY) {
        /* version 1.0; the header's length is at byte 8 */
        av_bprint_append_data(text, "\x93NUMPY\x01\x00\x76\x00", 10);
        av_bprintf(text, "{'descr': '<i4', 'fortran_order': False, "
                   "'shape': (%d, %d, %d, %d, %d), }", nb, s->nb_references,
                   oracle_blocks(s->pics[0].h, s->block), oracle_blocks(s->pics[0].w, s->block),
                   s->tree_max ? 4 : 3);
        av_bprintf(text, "%*s\n", 127 - (int)text->len, "");
    }
    for (int i = 0; i < nb; i++) {
        for (int j = 0; j < s->nb_references; j++) {
            if (kind == TEST_NPY)
                expect_npy(text, s, i, j);
            else if (s->pics[i].vectors[j])
                (kind == TEST_CSV   ? expect_csv  : kind == TEST_NPYS ? expect_npys :
                 kind == TEST_JSONL ? expect_json : expect_stats)(text, s, i, j);
        }
    }
}

int test_read_file(AVBPrint *text, const char *path)
{
    FILE *f = fopen(path, "rb");
    char buf[4096];
    size_t nb;

    av_bprint_init(text, 0, AV_BPRINT_SIZE_UNLIMITED);
    if (!f)
        return 0;
    while ((nb = fread(buf, 1, sizeof(buf), f)))
        av_bprint_append_data(text, buf, nb);
    fclose(f);
    return 1;
}

/* Executors */

const char *const test_executor_names[TEST_NB_EXECUTORS] = {
    "serial", "reversed", "shuffled", "threads",
};

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

void test_execute(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    const TestExecutor *e = opaque;

    if (nb_jobs < 1) {
        test_fail("%d jobs were to be run", nb_jobs);
        return;
    }
    switch (e->kind) {
    case TEST_SERIAL:
        for (int i = 0; i < nb_jobs; i++)
            job(arg, i, nb_jobs);
        break;
    case TEST_REVERSED:
        for (int i = nb_jobs - 1; i >= 0; i--)
            job(arg, i, nb_jobs);
        break;
    case TEST_SHUFFLED: {
        TestRandom r = { .state = e->seed };
        int *order = test_alloc(av_malloc_array(nb_jobs, sizeof(*order)));

        for (int i = 0; i < nb_jobs; i++) {
            const int j = test_draw(&r, i + 1);

            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < nb_jobs; i++)
            job(arg, order[i], nb_jobs);
        av_free(order);
        break;
    }
    case TEST_THREADS: {
        Pool pool = { .job = job, .arg = arg, .nb_jobs = nb_jobs };
        pthread_t threads[TEST_NB_THREADS - 1];
        int nb_threads = 0;

        while (nb_threads < FFMIN(TEST_NB_THREADS, nb_jobs) - 1 &&
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

/* Backends */

AVBufferRef *test_open_device(void)
{
    AVBufferRef *device = NULL;

    av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_CUDA, NULL, NULL,
                           AV_CUDA_USE_PRIMARY_CONTEXT);
    return device;
}

/* Returns whether a backend opens. */
static int can_open(int id)
{
    GpumeEngine *engine;
    TestExecutor executor = { TEST_SERIAL };
    const GpumeEngineConfig cfg = {
        .params        = { .block = 16, .range = 7, .nb_references = 1, .distance = { -1 } },
        .backend       = id,
        .max_in_flight = 1,
        .executor      = { test_execute, &executor, 1 },
    };
    int ret;

    test_forget_log();
    ret = ff_gpume_engine_open(&engine, &cfg, 64, 48, AV_PIX_FMT_GRAY8, NULL);
    ff_gpume_engine_close(&engine);
    if (ret < 0) {
        test_last_log[strcspn(test_last_log, "\n")] = 0;
        printf("%s: skipped, %s: %s\n", ff_gpume_backends[id]->name, av_err2str(ret),
               test_last_log);
        if (!test_last_log[0])
            test_fail("a backend that cannot be opened must log the reason");
    }
    return ret >= 0;
}

int test_backends(TestBackend backends[TEST_MAX_BACKENDS], const char *only)
{
    static const struct {
        const char *name;
        int needs, all;
    } levels[] = {
        { "c", 0, 0 },
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
#elif ARCH_AARCH64
        { "neon", AV_CPU_FLAG_NEON, AV_CPU_FLAG_ARMV8 | AV_CPU_FLAG_VFP | AV_CPU_FLAG_NEON },
        { "dotprod", AV_CPU_FLAG_DOTPROD,
          AV_CPU_FLAG_ARMV8 | AV_CPU_FLAG_VFP | AV_CPU_FLAG_NEON | AV_CPU_FLAG_DOTPROD },
#endif
        { "native", 0, -1 },
    };
    const int flags = av_get_cpu_flags();
    int nb = 0;

    for (int id = 0; id < GPUME_NB_BACKENDS; id++) {
        if ((only && strcmp(only, ff_gpume_backends[id]->name)) || !can_open(id))
            continue;
        if (id != GPUME_BACKEND_cpu) {
            TestBackend *b = &backends[nb++];

            *b = (TestBackend){ .id = id, .level = "", .cpu_flags = flags };
            if (ff_gpume_backends[id]->hw_format == AV_PIX_FMT_CUDA &&
                !(b->hw_device = test_open_device()))
                test_fail("the device cannot be opened");
            continue;
        }
        for (int i = 0; i < FF_ARRAY_ELEMS(levels); i++) {
            if ((flags & levels[i].needs) == levels[i].needs)
                backends[nb++] = (TestBackend){ .id = id, .level = levels[i].name,
                                                .cpu_flags = flags & levels[i].all };
            else
                printf("cpu %s: skipped, this processor does not have it\n", levels[i].name);
        }
    }
    return nb;
}

/* Filters in graphs */

AVBufferRef *test_hw_frames(AVBufferRef *device, enum AVPixelFormat format, int w, int h)
{
    AVBufferRef *ref = test_alloc(av_hwframe_ctx_alloc(device));
    AVHWFramesContext *frames = (AVHWFramesContext *)ref->data;
    int ret;

    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = format;
    frames->width     = FFALIGN(w, 2);
    frames->height    = FFALIGN(h, 2);
    ret = av_hwframe_ctx_init(ref);
    CHECK(ret >= 0, "frames on the device: %s", av_err2str(ret));
    return ref;
}

/* Begins a graph with the source of frames at 25 frames/s. Frees the parameters. */
static int open_source(AVFilterGraph **graph, AVFilterContext **src, AVBufferSrcParameters *params, int nb_threads)
{
    int ret;

    *graph = test_alloc(avfilter_graph_alloc());
    *src   = test_alloc(avfilter_graph_alloc_filter(*graph, avfilter_get_by_name("buffer"), "in"));
    (*graph)->nb_threads = nb_threads;
    avfilter_graph_set_auto_convert(*graph, AVFILTER_AUTO_CONVERT_NONE);
    if (params->hw_frames_ctx)
        params->format = AV_PIX_FMT_CUDA;
    params->time_base  = (AVRational) { 1, 25 };
    ret = av_buffersrc_parameters_set(*src, params);
    av_free(params);
    return ret < 0 ? ret : avfilter_init_str(*src, NULL);
}

int test_open_filter(TestFilter *f, enum AVPixelFormat format, int w, int h)
{
    AVBufferSrcParameters *params = test_alloc(av_buffersrc_parameters_alloc());
    AVFilterContext *ctx;
    int ret;

    params->format        = format;
    params->hw_frames_ctx = f->hw_frames;
    params->width         = w;
    params->height        = h;
    params->frame_rate    = (AVRational) { 25, 1 };
    if (f->colorspace)
        params->color_space = f->colorspace;
    if ((ret = open_source(&f->graph, &f->src, params, f->nb_threads)) < 0 ||
        (ret = avfilter_graph_create_filter(&ctx, avfilter_get_by_name(f->name), f->name, f->options, NULL,
                                            f->graph)) < 0 ||
        (f->never_searches && av_opt_find(ctx->priv, "search", NULL, 0, 0) &&
         (ret = av_opt_set(ctx->priv, "search", "never", 0)) < 0) ||
        (ret = avfilter_graph_create_filter(&f->sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            f->graph)) < 0 ||
        (ret = avfilter_link(f->src, 0, ctx, 0)) < 0 || (ret = avfilter_link(ctx, 0, f->sink, 0)) < 0)
        return ret;
    if (f->configure)
        f->configure();
    return avfilter_graph_config(f->graph, NULL);
}

/* Adds filters after *last, and sets *last to the last of them. */
static int open_behind(TestGraph *g, const char *names, AVFilterContext **last)
{
    char name[64], *options;
    int ret = 0;

    for (; *names && ret >= 0; names += strspn(names, ",")) {
        const size_t length = strcspn(names, ",");
        AVFilterContext *f;

        av_strlcpy(name, names, FFMIN(length + 1, sizeof(name)));
        options = strchr(name, '=');
        if (options)
            *options++ = 0;
        ret = avfilter_graph_create_filter(&f, avfilter_get_by_name(name), name, options, NULL, g->graph);
        if (ret >= 0)
            ret = avfilter_link(*last, 0, f, 0);
        *last  = f;
        names += length;
    }
    return ret;
}

int test_open_graph(TestGraph *g, const TestRun *r, const TestPicture *first)
{
    AVBufferSrcParameters *params = test_alloc(av_buffersrc_parameters_alloc());
    AVFilterContext *last;
    char download[64];
    int ret;

    memset(g, 0, sizeof(*g));
    g->stage = "graph";
    params->format              = first->format;
    params->hw_frames_ctx       = r->hw_frames;
    params->width               = first->w;
    params->height              = first->h;
    params->sample_aspect_ratio = (AVRational) { 4, 3 };
    params->color_space         = AVCOL_SPC_BT470BG;
    params->color_range         = AVCOL_RANGE_MPEG;
    params->frame_rate          = (AVRational) { r->behind ? 25 : 0, 1 };
    if ((ret = open_source(&g->graph, &g->src, params, r->nb_threads)) < 0 ||
        (ret = avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"),
                                            "sink", NULL, NULL, g->graph)) < 0)
        goto fail;
    g->stage = "options";
    if ((ret = avfilter_graph_create_filter(&g->gpume, avfilter_get_by_name("gpume"),
                                            "gpume", r->options, NULL, g->graph)) < 0)
        goto fail;

    /* before the configuration, libavfilter ignores failed allocations and loses options */
    g->stage = "configuration";
    if (r->at)
        r->at(r->opaque, g->stage);
    last = g->src;
    if (r->upload && (ret = open_behind(g, "hwupload_cuda", &last)) < 0)
        goto fail;
    if (r->device) {
        g->gpume->hw_device_ctx = test_alloc(av_buffer_ref(r->device));
        if (r->upload)
            last->hw_device_ctx = test_alloc(av_buffer_ref(r->device));
    }
    if ((ret = avfilter_link(last, 0, g->gpume, 0)) < 0)
        goto fail;
    last = g->gpume;
    snprintf(download, sizeof(download), "hwdownload,format=%s", av_get_pix_fmt_name(first->format));
    if ((r->behind && (ret = open_behind(g, r->behind, &last)) < 0) ||
        (r->download && (ret = open_behind(g, download, &last)) < 0) ||
        (ret = avfilter_link(last, 0, g->sink, 0)) < 0 ||
        (ret = avfilter_graph_config(g->graph, NULL)) < 0)
        goto fail;
    return 0;

fail:
    avfilter_graph_free(&g->graph);
    return ret;
}

/* Compares a key lavfi.gpume.* of a frame. On a difference, returns nonzero and sets wrong. */
static int check_key(const AVFrame *frame, int i, int distance, const char *name, const char *wanted,
                     char wrong[1024])
{
    const AVDictionaryEntry *entry;
    char key[64], reference[16];

    snprintf(key, sizeof(key), "lavfi.gpume.%s.%s", reference_name(reference, distance), name);
    entry = av_dict_get(frame->metadata, key, NULL, 0);
    if (!strcmp(entry ? entry->value : "", wanted))
        return 0;
    snprintf(wrong, 1024, "frame %d %s is '%s', expected '%s'", i, key, entry ? entry->value : "", wanted);
    return -1;
}

/* Compares all keys lavfi.gpume.* of a frame. On a difference, returns nonzero and sets wrong. */
static int check_metadata(const TestStream *s, int i, const AVFrame *frame, char wrong[1024])
{
    static const char *const keys[] = {
        "cost", "zero", "mean_mv", "max_mv", "sound", "intra", "scene",
    };

    for (int distance = -GPUME_MAX_REFS; distance <= GPUME_MAX_REFS; distance++) {
        char wanted[FF_ARRAY_ELEMS(keys)][64] = { "" }, wanted_tree[FF_ARRAY_ELEMS(tree_keys)][64] = { "" };
        uint64_t value;

        for (int j = 0; j < s->nb_references; j++) {
            if (s->distance[j] == distance && s->pics[i].vectors[j]) {
                const FieldStats f = field_stats(s, i, j);

                snprintf(wanted[0], 64, "%"PRIu64, f.cost);
                snprintf(wanted[1], 64, "%d", f.zero);
                snprintf(wanted[2], 64, "%.2f", f.mean);
                snprintf(wanted[3], 64, "%.1f", f.max);
                snprintf(wanted[4], 64, "%.4f", f.sound);
                snprintf(wanted[5], 64, "%"PRIu64, s->pics[i].intra);
                snprintf(wanted[6], 64, "%.4f", f.scene);
                for (int k = 0; k < FF_ARRAY_ELEMS(tree_keys); k++)
                    if (tree_value(s, i, j, k, &value))
                        snprintf(wanted_tree[k], 64, "%"PRIu64, value);
            }
        }
        /* distance 0 is the picture itself, which is no reference */
        for (int k = 0; k < FF_ARRAY_ELEMS(keys) && distance; k++)
            if (check_key(frame, i, distance, keys[k], wanted[k], wrong))
                return -1;
        for (int k = 0; k < FF_ARRAY_ELEMS(tree_keys) && distance; k++)
            if (check_key(frame, i, distance, tree_keys[k], wanted_tree[k], wrong))
                return -1;
    }
    return 0;
}

typedef struct Feeder {
    TestRun *run;
    const TestStream *stream;
    TestGraph graph;
    int nb_in;
    AVFrame *kept[TEST_MAX_PICTURES];
    const uint8_t *luma[TEST_MAX_PICTURES];
} Feeder;

static int push(Feeder *f)
{
    const TestRun *r = f->run;
    const TestStream *s = f->stream;
    const int i = f->nb_in++;
    AVFrame *frame = i >= s->nb ? NULL : r->frames ? r->frames[i] : test_frame(&s->pics[i]);
    const int keep = frame && (r->frames || s->pics[i].keep);
    int ret;

    if (frame)
        f->luma[i] = frame->data[0];
    /* the caller keeps a reference, or the filter gets the only one */
    ret = av_buffersrc_add_frame_flags(f->graph.src, frame, keep ? AV_BUFFERSRC_FLAG_KEEP_REF : 0);
    if (frame && !keep)
        av_frame_free(&frame);
    if (frame && !r->frames)
        f->kept[i] = frame;
    /* the caller frees a kept frame before all frames have been searched */
    if (i >= 2 && i < s->nb + 2)
        av_frame_free(&f->kept[i - 2]);
    return ret;
}

/* Pulls all available frames. Returns 0 or the error of the sink. */
static int pull(Feeder *f, AVFrame *out)
{
    TestRun *r = f->run;
    const TestStream *s = f->stream;
    const int i = r->nb_out;
    const int ret = av_buffersink_get_frame(f->graph.sink, out);
    const AVFrameSideData *sd;
    int nb_sd = 0, nb_fields = 0;

    if (ret < 0)
        return ret;
    r->nb_out++;
    if (r->wrong[0])
        goto end;
    if (i >= s->nb) {
        snprintf(r->wrong, sizeof(r->wrong), "more frames came out than went in");
        goto end;
    }
    if (out->pts != s->pics[i].pts || out->width != s->pics[i].w ||
        out->height != s->pics[i].h ||
        (!r->upload && !r->hw_frames && out->format != s->pics[i].format) ||
        (!r->upload && !r->download && out->data[0] != f->luma[i])) {
        snprintf(r->wrong, sizeof(r->wrong), "the output is not frame %d but %dx%d, pts "
                 "%"PRId64"%s", i, out->width, out->height, out->pts,
                 out->data[0] == f->luma[i] ? "" : ", a copy");
        goto end;
    }
    for (int j = 0; j < out->nb_side_data; j++)
        nb_sd += out->side_data[j]->type == AV_FRAME_DATA_MOTION_VECTORS;
    for (int j = 0; j < s->nb_references; j++)
        nb_fields += !!s->pics[i].vectors[j];
    sd = av_frame_get_side_data(out, AV_FRAME_DATA_MOTION_VECTORS);
    if (nb_sd != !!nb_fields)
        snprintf(r->wrong, sizeof(r->wrong), "frame %d has %d side data of %d fields", i, nb_sd,
                 nb_fields);
    else if (!sd || !test_compare(s, i, sd->data, sd->size, NULL, r->wrong))
        if (strstr(r->options, "metadata=1"))
            check_metadata(s, i, out, r->wrong);
    if (r->look)
        r->look(r->opaque, i, r->frames ? r->frames[i] : NULL, out);
end:
    av_frame_unref(out);
    return 0;
}

/* Checks that an error persists; frames that were ready may still follow it. */
static void check_error_stays(Feeder *f, AVFrame *out)
{
    TestRun *r = f->run;
    int ret;

    for (int tries = 0; tries < 4 * TEST_MAX_PICTURES; tries++) {
        ret = pull(f, out);
        /* FFmpeg 7.1 needs another frame before it reports the error again */
        if (ret == AVERROR(EAGAIN) && f->nb_in < f->stream->nb)
            ret = push(f);
        if (ret < 0)
            break;
    }
    if (ret != r->ret && (ret != AVERROR(EAGAIN) || f->nb_in < f->stream->nb) && !r->wrong[0])
        snprintf(r->wrong, sizeof(r->wrong), "%s, once %s", av_err2str(ret), av_err2str(r->ret));
}

int test_run(TestRun *r, const TestStream *s)
{
    Feeder f = { .run = r, .stream = s };
    AVFrame *out = test_alloc(av_frame_alloc());
    int ret, pulled = 0;

    r->nb_out   = 0;
    r->wrong[0] = 0;
    ret = test_open_graph(&f.graph, r, &s->pics[0]);
    r->stage = f.graph.stage;
    if (ret < 0)
        goto end;
    r->stage = "frames";
    if (r->at)
        r->at(r->opaque, r->stage);

    while (ret >= 0 && f.nb_in <= s->nb && !(f.nb_in == s->nb && r->no_end)) {
        ret    = push(&f);
        pulled = 0;
        while (ret >= 0 && (!r->feed_all || f.nb_in > s->nb) &&
               !(r->closes && r->nb_out >= r->close_after)) {
            pulled = 1;
            ret    = pull(&f, out);
        }
        if (ret == AVERROR(EAGAIN) && f.nb_in <= s->nb)
            ret = 0;
        if (r->closes && !r->no_end && r->nb_out >= r->close_after)
            break;
    }
    r->ret = ret;
    if (ret == AVERROR_EOF) {
        if (r->nb_out != s->nb && !r->wrong[0])
            snprintf(r->wrong, sizeof(r->wrong), "%d frames came out of %d", r->nb_out, s->nb);
        ret = 0;
    } else if (ret < 0 && pulled) {
        check_error_stays(&f, out);
    }
    if (r->at)
        r->at(r->opaque, "close");
    avfilter_graph_free(&f.graph.graph);
end:
    for (int i = 0; i < s->nb; i++)
        av_frame_free(&f.kept[i]);
    av_frame_free(&out);
    r->ret = ret;
    return ret;
}
