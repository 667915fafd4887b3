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

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/cuda/load_helper.h"
#include "libavfilter/gpume/cuda/kernels.h"
#include "libavfilter/gpume/gpume.h"
#include "libavfilter/gpume/gpume_searches.h"

/* Of CUresult; nv-codec-headers name few. */
#define ERROR_OUT_OF_MEMORY            2
#define ERROR_INVALID_PTX            218
#define ERROR_UNSUPPORTED_PTX        222
#define ERROR_NO_BINARY_FOR_GPU      209
#define ERROR_JIT_COMPILER_NOT_FOUND 221

/* Kernels write AVMotionVector as words. */
#define IS_AT(field, word, byte) \
    (offsetof(AVMotionVector, field) == 4 * (word) + (byte))
_Static_assert(sizeof(AVMotionVector) == 4 * GPUME_CUDA_VECTOR_WORDS &&
               IS_AT(source,   0, 0) && IS_AT(w,        1, 0) && IS_AT(h,     1, 1) &&
               IS_AT(src_x,    1, 2) && IS_AT(src_y,    2, 0) && IS_AT(dst_x, 2, 2) &&
               IS_AT(dst_y,    3, 0) && IS_AT(flags,    4, 0) &&
               IS_AT(motion_x, 6, 0) && IS_AT(motion_y, 7, 0) &&
               IS_AT(motion_scale, 8, 0), "layout of AVMotionVector");

/** Every GPU gives a block of threads as much shared memory, bytes. */
#define MAX_SHARED (48 << 10)

_Static_assert(MAX_SHARED / 16 < 4096, "GPUME_DIVIDE() takes the units of a window");

/** And bytes that the system takes of a multiprocessor's for each of them. */
#define RESERVED_SHARED 1024

/** CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, which FFmpeg's headers lack. */
#define ATTRIBUTE_MULTIPROCESSOR_SHARED ((CUdevice_attribute)81)

/** Blocks of threads that search what elimination leaves. */
#define LEFT_GRID 4096

/** Compiled kernels. */
typedef struct Module {
    const unsigned char *ptx;
    const unsigned int *ptx_len;
} Module;

#define PTX(name)                                           \
    extern const unsigned char ff_##name##_ptx_data[];      \
    extern const unsigned int ff_##name##_ptx_len;          \
    static const Module name = { ff_##name##_ptx_data, &ff_##name##_ptx_len };
PTX(gpume_ds)
PTX(gpume_ds4)
PTX(gpume_ds8)
PTX(gpume_ds16)
PTX(gpume_fs)
PTX(gpume_fs4)
PTX(gpume_fs8_9)
PTX(gpume_fs8_11)
PTX(gpume_fs8_13)
PTX(gpume_fs16_9)
PTX(gpume_fs16_11)
PTX(gpume_fs16_13)
PTX(gpume_predict)
PTX(gpume_predict4)
PTX(gpume_predict8)
PTX(gpume_predict16)
PTX(gpume_sea8)
PTX(gpume_sea16)
PTX(gpume_walk)
PTX(gpume_walk4)
PTX(gpume_walk8)
PTX(gpume_walk16)

/* Blocks of any size, with a number of threads; returns the words of shared memory. */
static int configure_tiles(GpumeCudaArgs *a, int max_threads)
{
    const GpumeParams *p = &a->params;
    const int per_word   = p->depth > 8 ? 2 : 4;
    const int cur_words  = p->block / per_word;
    /* candidates side by side and on top of each other, at most */
    const int nx = FFMIN(2 * p->range, p->width  - FFMIN(p->width,  p->block)) + 1;
    const int ny = FFMIN(2 * p->range, p->height - FFMIN(p->height, p->block)) + 1;
    const int rows = FFMIN(p->block, GPUME_CUDA_FS_STRIP);
    GpumeCudaTiles *t = &a->tiles;

    t->x = FFMIN((nx + GPUME_CUDA_FS_TILE_COLS - 1) / GPUME_CUDA_FS_TILE_COLS, 64);
    t->y = FFMIN((ny + GPUME_CUDA_FS_TILE_ROWS - 1) / GPUME_CUDA_FS_TILE_ROWS,
                 max_threads / t->x);
    /* odd: rows that are read together begin in different banks */
    t->pitch = (t->x * GPUME_CUDA_FS_TILE_COLS / per_word + cur_words) | 1;
    /* a narrow and high picture has many on top of each other */
    t->y = FFMIN(t->y, ((MAX_SHARED / 4 - GPUME_CUDA_FS_STRIP * cur_words) / t->pitch - rows) /
                       GPUME_CUDA_FS_TILE_ROWS);
    return GPUME_CUDA_FS_STRIP * cur_words +
           (t->y * GPUME_CUDA_FS_TILE_ROWS + rows) * t->pitch;
}

static int round_up(int n, int multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Displacements of a thread, one below the other, of which there are kernels. */
static const struct {
    int rows;
    const Module *modules[2];   ///< of blocks of 8, of 16
} fast[] = {
    { 13, { &gpume_fs8_13, &gpume_fs16_13 } },
    { 11, { &gpume_fs8_11, &gpume_fs16_11 } },
    {  9, { &gpume_fs8_9,  &gpume_fs16_9  } },
};

/* Blocks of 4x4 bytes. */
static const Module *configure_fs4(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                   char *name, size_t size)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int width  = GPUME_CUDA_FS4_ACROSS * p->block;
    const int height = GPUME_CUDA_FS4_DOWN   * p->block;
    /* from the words at which displacements begin */
    const int columns = ((FFALIGN(p->range, 4) + p->range) / 4 + GPUME_CUDA_FS4_DX) /
                        GPUME_CUDA_FS4_DX;
    const int groups  = (2 * p->range + GPUME_CUDA_FS4_DY) / GPUME_CUDA_FS4_DY;
    int words, chunks = 0;

    a->copy_words = (columns + 1) * 4;
    do {
        chunks++;
        a->groups = (groups + chunks - 1) / chunks;
        words     = (a->groups * GPUME_CUDA_FS4_DY + height - 1) * 4 * a->copy_words;
    } while (4 * (words + GPUME_CUDA_FS4_ACROSS * GPUME_CUDA_FS4_DOWN) > MAX_SHARED);

    l->threads      = 32 * GPUME_CUDA_FS4_DOWN;
    l->grid[0]      = (p->width  + width  - 1) / width;
    l->grid[1]      = (p->height + height - 1) / height;
    a->shared_words = FFMAX(words, configure_tiles(a, l->threads));
    l->shared       = 4 * (a->shared_words + GPUME_CUDA_FS4_ACROSS * GPUME_CUDA_FS4_DOWN);
    snprintf(name, size, "gpume_fs4_8");
    return &gpume_fs4;
}

/*
 * As much of the window as fits, in pieces of equal size, for threads of that many
 * rows. Returns the pieces.
 */
static int configure_pieces(GpumeCudaArgs *a, int ny, int rows, int more, int *words)
{
    const int groups = (ny + rows - 1) / rows;
    int pieces = 0;

    do {
        pieces++;
        a->groups = (groups + pieces - 1) / pieces;
        *words    = (a->groups * rows + a->params.block - 1) *
                    GPUME_CUDA_FS_PITCH(a->copy_words);
    } while (4 * (*words + more) > MAX_SHARED);
    return pieces;
}

/* Every candidate is evaluated. */
static const Module *configure_exhaustive(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                          char *name, size_t size)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int blocks = GPUME_CUDA_FS_TILE_WIDTH / p->block;
    /* words of shared memory after the window */
    const int more   = blocks + p->block * GPUME_CUDA_FS_TILE_WIDTH / 4;
    const int left   = l != k->launches;
    const int ny = FFMIN(2 * p->range, p->height - FFMIN(p->height, p->block)) + 1;
    /* words at which candidates begin; the first may lie up to 3 samples early */
    const int columns = (2 * p->range + 3) / 4 + 1;
    int best = 0, least = INT_MAX, rows, words;

    if (p->depth > 8 || p->block > 16 || p->range > GPUME_CUDA_FS_FAST_RANGE) {
        snprintf(name, size, "gpume_fs_%d", p->depth > 8 ? 16 : 8);
        l->grid[0] = p->bw;
        l->grid[1] = p->bh;
        l->shared  = 4 * configure_tiles(a, GPUME_CUDA_FS_THREADS);
        l->threads = FFALIGN(a->tiles.x * a->tiles.y, 32);
        return &gpume_fs;
    }
    if (p->block == 4)
        return configure_fs4(k, l, name, size);

    a->copy_words = FFALIGN(columns + GPUME_CUDA_FS_TILE_WIDTH / 4 - 1, 4);
    /* a block that is left over is to end soon: few turns; else the fewest rows in all */
    l->threads = left ? 128 : 64;
    for (int i = 0; i < FF_ARRAY_ELEMS(fast); i++) {
        const int pieces = configure_pieces(a, ny, fast[i].rows, more, &words);
        const int units  = a->groups * (2 * p->range + 1) / 4 * 4;
        const int turns  = (units + (int)l->threads - 1) / (int)l->threads;
        const int cost   = left ? pieces * turns * fast[i].rows : round_up(ny, fast[i].rows);

        if (cost < least) {
            least = cost;
            best  = i;
        }
    }
    rows = fast[best].rows;
    configure_pieces(a, ny, rows, more, &words);
    snprintf(name, size, "gpume_fs%d_8_%d", p->block, rows);

    /* the fewest that fill a multiprocessor, as they wait for each other */
    while (!left && l->threads < GPUME_CUDA_FS_FAST_THREADS &&
           k->multiprocessor_shared / (4 * (words + more) + RESERVED_SHARED) * l->threads <
           2 * GPUME_CUDA_FS_FAST_THREADS)
        l->threads *= 2;
    l->grid[0] = (p->width + GPUME_CUDA_FS_TILE_WIDTH - 1) / GPUME_CUDA_FS_TILE_WIDTH;
    l->grid[1] = p->bh;
    words      = FFMAX(words, (int)l->threads / 32 * blocks);
    /* blocks at the edges are searched by the same threads */
    words      = FFMAX(words, configure_tiles(a, l->threads));
    a->shared_words = words;
    l->shared  = 4 * (words + more);
    return fast[best].modules[p->block == 16];
}

/*
 * Candidates are eliminated by sums. Returns NULL where there is no such kernel, or
 * nothing to gain.
 */
static const Module *configure_elimination(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                           char *name, size_t size)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int bytes  = p->depth > 8 ? 2 : 1;
    const int square = GPUME_CUDA_SEA_SQUARE / p->block;
    const int side   = 2 * p->range + 1;
    /* displacements begin at a word of bytes */
    const int span   = FFALIGN(p->range, 4) + p->range + 1;
    int least = INT_MAX;

    if (p->exhaustive > 0 || p->block != 8 && p->block != 16)
        return NULL;

    l->threads = GPUME_CUDA_SEA_THREADS;
    l->grid[0] = (p->width  + GPUME_CUDA_SEA_TILE_WIDTH  - 1) / GPUME_CUDA_SEA_TILE_WIDTH;
    l->grid[1] = (p->height + GPUME_CUDA_SEA_TILE_HEIGHT - 1) / GPUME_CUDA_SEA_TILE_HEIGHT;
    /*
     * Few candidates, or few blocks of threads that take long one by one, are quicker
     * to evaluate; of samples of two bytes none is.
     */
    if (bytes == 1 && !p->exhaustive &&
        (p->range < (p->block == 8 ? 48 : 24) ||
         l->grid[0] * l->grid[1] < (p->block == 8 ? 768 : 256)))
        return NULL;

    /* the chunks that have the fewest sums in all */
    for (int nx = 1; nx <= span / 16 + 1; nx++)
        for (int ny = 1; ny <= span / 4 + 1; ny++) {
            const int width  = FFALIGN((span + nx - 1) / nx, 16);
            const int height = FFALIGN((span + ny - 1) / ny, 4);
            const int words  = GPUME_CUDA_SEA_SHARED(width, height, bytes);

            if (4 * words > MAX_SHARED || nx * ny * words >= least ||
                (width + GPUME_CUDA_SEA_TILE_WIDTH) / 4 > GPUME_CUDA_SEA_THREADS)
                continue;
            least           = nx * ny * words;
            a->chunk_width  = width;
            a->chunk_height = height;
            l->shared       = 4 * words;
        }
    /* more of them take longer than all candidates in the kernel that is made for it */
    a->max_evaluated = (64 + side * side / 64) * square * square / (bytes == 1 ? 2 : 1);

    snprintf(name, size, "gpume_sea%d_%d", p->block, 8 * bytes);
    return p->block == 8 ? &gpume_sea8 : &gpume_sea16;
}

/* Bytes of a GpumeCudaLeft for every square of a picture. */
static size_t left_size(const GpumeParams *p)
{
    return sizeof(GpumeCudaLeft) + sizeof(unsigned) * GPUME_NB_DIRECTIONS *
           (size_t)ff_gpume_blocks(p->width,  GPUME_CUDA_SEA_SQUARE) *
           ff_gpume_blocks(p->height, GPUME_CUDA_SEA_SQUARE);
}

/* A warp for each block, or for several. */
static void shape_walk(const GpumeParams *p, GpumeCudaLaunch *l)
{
    l->threads = 32 * GPUME_CUDA_DS_WARPS;
    if (p->block <= 16) {
        const int width  = GPUME_CUDA_DS_WARPS * GPUME_CUDA_DS_TILE_WIDTH;
        const int height = GPUME_CUDA_DS_TILE_HEIGHT(p->block);

        l->grid[0] = (p->width  + width  - 1) / width;
        l->grid[1] = (p->height + height - 1) / height;
        l->shared  = 4 * GPUME_CUDA_DS_WARPS *
                     GPUME_CUDA_DS_WINDOW_WORDS(p->block, p->depth > 8 ? 2 : 1);
    } else {
        l->grid[0] = (p->bw + GPUME_CUDA_DS_WARPS - 1) / GPUME_CUDA_DS_WARPS;
        l->grid[1] = p->bh;
    }
}

/* The module of a block's side: the first, for any, or that of 4, 8 or 16. */
static const Module *choose_side(const GpumeParams *p, const char *search,
                                 const Module *const modules[4], char *name, size_t size)
{
    const int bits = p->depth > 8 ? 16 : 8;

    if (p->block > 16)
        snprintf(name, size, "gpume_%s_%d", search, bits);
    else
        snprintf(name, size, "gpume_%s%d_%d", search, p->block, bits);
    return modules[p->block > 16 ? 0 : p->block == 4 ? 1 : p->block == 8 ? 2 : 3];
}

static const Module *configure_ds(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                  char *name, size_t size)
{
    static const Module *const modules[4] = {
        &gpume_ds, &gpume_ds4, &gpume_ds8, &gpume_ds16
    };

    shape_walk(&k->args.params, l);
    return choose_side(&k->args.params, "ds", modules, name, size);
}

/* Whatever walks. */
static const Module *configure_walk(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                    char *name, size_t size)
{
    static const Module *const modules[4] = {
        &gpume_walk, &gpume_walk4, &gpume_walk8, &gpume_walk16
    };

    shape_walk(&k->args.params, l);
    return choose_side(&k->args.params, "walk", modules, name, size);
}

/* A block of threads for each row. */
static const Module *configure_predict(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                       char *name, size_t size)
{
    static const Module *const modules[4] = {
        &gpume_predict, &gpume_predict4, &gpume_predict8, &gpume_predict16
    };
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int umh   = p->algo == GPUME_ALGO_UMH;
    const int bits  = p->depth > 8 ? 16 : 8;
    const int lines = FFMIN(2 * p->range + p->block, p->height);
    int words;

    l->threads = 32 * (umh ? GPUME_CUDA_UMH_WARPS : GPUME_CUDA_EPZS_WARPS);
    l->grid[0] = p->bh;
    l->grid[1] = 1;

    a->ring_columns = FFMIN(GPUME_CUDA_PREDICT_COLUMNS(p->block, bits / 8, p->range),
                            GPUME_CUDA_PREDICT_PICTURE_COLUMNS(p->block, bits / 8, p->bw));
    /* odd in columns: rows that are read together begin in different banks */
    a->ring_pitch   = 4 * ((a->ring_columns +
                            GPUME_CUDA_PREDICT_REPEATED(p->block, bits / 8)) | 1);
    words           = GPUME_CUDA_PREDICT_WINDOW + lines * a->ring_pitch;
    if (p->block > 16 || lines > GPUME_CUDA_PREDICT_LOADS * l->threads ||
        4 * words > MAX_SHARED) {
        l->shared = 4 * GPUME_CUDA_PREDICT_WINDOW;
        snprintf(name, size, "gpume_%s_%d", umh ? "umh" : "epzs", bits);
        return &gpume_predict;
    }
    l->shared = 4 * words;
    return choose_side(p, umh ? "umh" : "epzs", modules, name, size);
}

/* Bytes of what searches that predict keep: fields, and behind them the ticket. */
static size_t state_size(const GpumeParams *p)
{
    return ((size_t)GPUME_NB_DIRECTIONS * GPUME_NB_FIELDS * p->bw * p->bh + 1) *
           sizeof(unsigned);
}

/* What a search that predicts reads and writes. */
static void begin_fields(GpumeCudaKernel *kernel, int nb_references)
{
    GpumeCudaArgs *a = &kernel->args;
    const size_t size = (size_t)a->params.bw * a->params.bh * sizeof(unsigned);

    a->nb_directions = nb_references;
    for (int i = 0; i < nb_references; i++) {
        const int direction = a->source[i] < 0 ? GPUME_PAST : GPUME_FUTURE;
        const unsigned n = kernel->nb_searches[direction];

        kernel->nb_searches[direction] = (n + 1) % GPUME_CUDA_NB_EPOCHS;
        for (int age = 0; age < GPUME_NB_FIELDS; age++)
            a->fields[i][age] = kernel->state + size * (direction * GPUME_NB_FIELDS +
                (n % GPUME_NB_FIELDS + GPUME_NB_FIELDS - age) % GPUME_NB_FIELDS);
        a->epoch[i] = n % GPUME_CUDA_NB_EPOCHS + 1;
    }
}

/**
 * How a kernel is chosen and shaped: fill its fields of k's args and l's shape,
 * write its name, return the module that has it; or NULL, for none.
 */
typedef const Module *Configure(GpumeCudaKernel *k, GpumeCudaLaunch *l,
                                char *name, size_t size);

/** The launches of a search, in order. One that has no entry walks, in one launch. */
static Configure *const configure[GPUME_NB_ALGOS][GPUME_CUDA_MAX_LAUNCHES] = {
    [GPUME_ALGO_FS]   = { configure_elimination, configure_exhaustive },
    [GPUME_ALGO_DS]   = { configure_ds },
    [GPUME_ALGO_EPZS] = { configure_predict },
    [GPUME_ALGO_UMH]  = { configure_predict },
};

int ff_gpume_cuda_check(void *log_ctx, int level, CudaFunctions *cu,
                        CUresult err, const char *what)
{
    const char *name = NULL, *text = NULL, *hint = "";
    int ret = AVERROR_EXTERNAL;

    if (err == CUDA_SUCCESS)
        return 0;

    switch ((int)err) {
    case ERROR_OUT_OF_MEMORY:
        ret  = AVERROR(ENOMEM);
        hint = " Free memory of the device, or search fewer or smaller streams.";
        break;
    case ERROR_INVALID_PTX:
    case ERROR_UNSUPPORTED_PTX:
    case ERROR_NO_BINARY_FOR_GPU:
    case ERROR_JIT_COMPILER_NOT_FOUND:
        hint = " The driver is too old for these kernels: update it, or use "
               "backend=cpu.";
        break;
    }
    cu->cuGetErrorName(err, &name);
    cu->cuGetErrorString(err, &text);
    av_log(log_ctx, level, "Could not %s: %s (%s).%s\n", what,
           text ? text : "unknown error", name ? name : "no name", hint);
    return ret;
}

av_cold int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel,
                                      AVCUDADeviceContext *hwctx,
                                      const GpumeParams *params,
                                      void *log_ctx, int level)
{
    CUresult err;
    CUdevice device;
    int ret;

    kernel->cu                     = hwctx->internal->cuda_dl;
    kernel->args.params            = *params;
    kernel->args.params.big_endian = 0;

    err = kernel->cu->cuCtxGetDevice(&device);
    if (err == CUDA_SUCCESS)
        err = kernel->cu->cuDeviceGetAttribute(&kernel->multiprocessor_shared,
                                               ATTRIBUTE_MULTIPROCESSOR_SHARED, device);
    ret = ff_gpume_cuda_check(log_ctx, level, kernel->cu, err, "read the device's properties");
    if (ret < 0)
        return ret;

    for (int i = 0; i < GPUME_CUDA_MAX_LAUNCHES; i++) {
        GpumeCudaLaunch *l = &kernel->launches[kernel->nb_launches];
        const Module *module = NULL;
        char name[32];

        if (configure[params->algo][i])
            module = configure[params->algo][i](kernel, l, name, sizeof(name));
        else if (!configure[params->algo][0] && !i)
            module = configure_walk(kernel, l, name, sizeof(name));
        if (!module)
            continue;
        av_assert0(l->shared <= MAX_SHARED);
        if (kernel->nb_launches++) {
            l->grid[0] = LEFT_GRID;
            l->grid[1] = 1;
        }

        ret = ff_cuda_load_module(log_ctx, hwctx, &l->module,
                                  module->ptx, *module->ptx_len);
        if (ret < 0) {
            av_log(log_ctx, level, "Could not load the search kernels: the driver "
                   "may be too old for them; update it, or use backend=cpu.\n");
            return ret;
        }
        ret = ff_gpume_cuda_check(log_ctx, level, kernel->cu,
            kernel->cu->cuModuleGetFunction(&l->function, l->module, name),
            "find the search kernel");
        if (ret < 0)
            return ret;
    }
    if (kernel->nb_launches > 1) {
        CUdeviceptr left;

        ret = ff_gpume_cuda_check(log_ctx, level, kernel->cu,
                                  kernel->cu->cuMemAlloc(&left, left_size(params)),
                                  "allocate device memory for a list of blocks");
        if (ret < 0)
            return ret;
        kernel->args.left = left;
        kernel->new_left  = 1;
    }
    if (gpume_predicts(params->algo)) {
        ret = ff_gpume_cuda_check(log_ctx, level, kernel->cu,
                                  kernel->cu->cuMemAlloc(&kernel->state, state_size(params)),
                                  "allocate device memory for the vectors of searches");
        if (ret < 0)
            return ret;
        kernel->args.ticket = kernel->state + state_size(params) - sizeof(unsigned);
        kernel->new_state   = 1;
    }
    return 0;
}

CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_references,
                                     CUstream stream)
{
    void *params[] = { &kernel->args };
    CUresult err = CUDA_SUCCESS;

    if (kernel->new_left) {
        err = kernel->cu->cuMemsetD8Async(kernel->args.left + offsetof(GpumeCudaLeft, nb), 0,
                                          sizeof(((GpumeCudaLeft *)0)->nb), stream);
        kernel->new_left = 0;
    }
    if (kernel->new_state && err == CUDA_SUCCESS) {
        err = kernel->cu->cuMemsetD8Async(kernel->state, 0, state_size(&kernel->args.params),
                                          stream);
        kernel->new_state = 0;
    }
    if (kernel->state)
        begin_fields(kernel, nb_references);
    for (int i = 0; i < kernel->nb_launches && err == CUDA_SUCCESS; i++) {
        const GpumeCudaLaunch *l = &kernel->launches[i];

        kernel->args.only_left = i > 0;
        kernel->args.grid      = l->grid[0];
        err = kernel->cu->cuLaunchKernel(l->function, l->grid[0], l->grid[1],
                                         i > 0 ? 1 : nb_references, l->threads, 1, 1,
                                         l->shared, stream, params, NULL);
    }
    kernel->args.turn ^= 1;
    kernel->args.first_ticket += nb_references * kernel->args.params.bh;
    return err;
}

av_cold void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel)
{
    for (int i = 0; i < kernel->nb_launches; i++)
        if (kernel->launches[i].module)
            kernel->cu->cuModuleUnload(kernel->launches[i].module);
    kernel->nb_launches = 0;
    if (kernel->args.left)
        kernel->cu->cuMemFree(kernel->args.left);
    kernel->args.left = 0;
    if (kernel->state)
        kernel->cu->cuMemFree(kernel->state);
    kernel->state = 0;
}
