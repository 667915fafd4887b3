/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the rate of NVOFA, the optical-flow hardware of GPUs, through the public API of its library,
 * and writes its vectors. The declarations are the used part of API 2.0, according to the headers of
 * github.com/NVIDIA/NVIDIAOpticalFlowSDK.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/common.h"
#include "libavutil/mem.h"

#include "gpume_bench.h"

#define FLOW_LIBRARY "libnvidia-opticalflow.so.1"
#define FLOW_API_VERSION (2 << 4 | 0)

#define GRID 4
/** Number of pictures in the hardware's buffers. */
#define FLOW_PICTURES 48

enum { MODE_FLOW = 1 };
enum { LEVEL_SLOW = 5, LEVEL_MEDIUM = 10, LEVEL_FAST = 20 };
enum { USAGE_INPUT = 1, USAGE_OUTPUT = 2 };
enum { FORMAT_GRAY8 = 1, FORMAT_SHORT2 = 5 };
enum { BUFFER_DEVICE_POINTER = 2 };

typedef struct FlowInit {
    uint32_t width, height;
    uint32_t grid, hint_grid;
    uint32_t mode, level;
    uint32_t hints, cost;               ///< booleans
    void *priv;
    uint32_t disparity_range, roi;
} FlowInit;

typedef struct FlowBufferDesc {
    uint32_t width, height, usage, format;
} FlowBufferDesc;

typedef struct FlowStrides {
    struct { uint32_t x, y; } planes[3];    ///< x: bytes of a row
    uint32_t nb_planes;
} FlowStrides;

typedef struct FlowInput {
    void *input, *reference, *hints;
    uint32_t no_temporal_hints, padding;
    void *priv;
    uint32_t padding2, nb_rois;
    void *rois;
} FlowInput;

typedef struct FlowOutput {
    void *vectors, *cost, *priv;
} FlowOutput;

/** Vectors in 1/32 samples, from the input to the reference. */
typedef struct FlowVector {
    int16_t x, y;
} FlowVector;

_Static_assert(sizeof(FlowInit) == 48 && sizeof(FlowInput) == 56 && sizeof(FlowOutput) == 24 &&
               sizeof(FlowStrides) == 28 && sizeof(FlowVector) == 4, "layout of NVOFA's API");

/** The library sets these pointers; their order is that of the API. Functions return 0 or an error. */
typedef struct FlowFunctions {
    int (*create)(CUcontext ctx, void **flow);
    int (*init)(void *flow, const FlowInit *init);
    int (*create_buffer)(void *flow, const FlowBufferDesc *desc, int type, void **buffer);
    void *(*get_array)(void *buffer);
    CUdeviceptr (*get_pointer)(void *buffer);
    int (*get_strides)(void *buffer, FlowStrides *strides);
    int (*set_streams)(void *flow, CUstream input, CUstream output);
    int (*execute)(void *flow, const FlowInput *in, FlowOutput *out);
    int (*destroy_buffer)(void *buffer);
    int (*destroy)(void *flow);
    int (*get_last_error)(void *flow, char *text, uint32_t *size);
    int (*get_caps)(void *flow, int what, uint32_t *values, uint32_t *nb);
} FlowFunctions;

typedef int FlowCreateInstance(uint32_t version, FlowFunctions *functions);

typedef struct Flow {
    FlowFunctions f;
    void *handle;
    void *inputs[FLOW_PICTURES];
    void *outputs[2];
    int nb_inputs, next;
    int failed;                         ///< the first error
} Flow;

static void copy_2d(Bench *b, CUdeviceptr dst, size_t dst_pitch, CUdeviceptr src,
                    size_t src_pitch, size_t width, size_t height)
{
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice     = src,
        .srcPitch      = src_pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice     = dst,
        .dstPitch      = dst_pitch,
        .WidthInBytes  = width,
        .Height        = height,
    };

    BENCH_CU(b, cuMemcpy2D(&copy));
}

static int open_flow(Bench *b, Flow *flow, int level)
{
    const FlowInit init = {
        .width = b->width, .height = b->height, .grid = GRID, .mode = MODE_FLOW, .level = level,
    };
    const FlowBufferDesc in = { b->width, b->height, USAGE_INPUT, FORMAT_GRAY8 };
    const FlowBufferDesc out = {
        (b->width + GRID - 1) / GRID, (b->height + GRID - 1) / GRID, USAGE_OUTPUT, FORMAT_SHORT2,
    };
    int ret = flow->f.create(b->hwctx->cuda_ctx, &flow->handle);

    if (!ret)
        ret = flow->f.init(flow->handle, &init);
    if (!ret)
        ret = flow->f.set_streams(flow->handle, b->stream, b->stream);
    for (flow->nb_inputs = 0; !ret && flow->nb_inputs < FFMIN(FLOW_PICTURES, b->nb_pictures);
         flow->nb_inputs++) {
        void **input = &flow->inputs[flow->nb_inputs];
        FlowStrides strides;

        ret = flow->f.create_buffer(flow->handle, &in, BUFFER_DEVICE_POINTER, input);
        if (!ret)
            ret = flow->f.get_strides(*input, &strides);
        if (!ret)
            copy_2d(b, flow->f.get_pointer(*input), strides.planes[0].x,
                    b->pictures[flow->nb_inputs], b->pitch, b->width, b->height);
    }
    for (int i = 0; !ret && i < FF_ARRAY_ELEMS(flow->outputs); i++)
        ret = flow->f.create_buffer(flow->handle, &out, BUFFER_DEVICE_POINTER, &flow->outputs[i]);
    return ret;
}

static void close_flow(Flow *flow)
{
    for (int i = 0; i < FLOW_PICTURES; i++)
        if (flow->inputs[i])
            flow->f.destroy_buffer(flow->inputs[i]);
    for (int i = 0; i < FF_ARRAY_ELEMS(flow->outputs); i++)
        if (flow->outputs[i])
            flow->f.destroy_buffer(flow->outputs[i]);
    if (flow->handle)
        flow->f.destroy(flow->handle);
}

/* BenchLaunch: searches neighbouring pictures pair by pair, as in a stream. */
static void launch_flow(Bench *b, void *opaque, int i)
{
    Flow *flow = opaque;
    FlowInput in = { .reference = flow->inputs[flow->next] };
    FlowOutput out = { 0 };
    int ret;

    flow->next  = (flow->next + 1) % flow->nb_inputs;
    in.input    = flow->inputs[flow->next];
    out.vectors = flow->outputs[flow->next & 1];
    ret = flow->f.execute(flow->handle, &in, &out);
    if (ret && !flow->failed)
        flow->failed = ret;
}

/* Returns the number of vectors of a pair. */
static size_t nb_vectors(const Bench *b)
{
    return (size_t)((b->width + GRID - 1) / GRID) * ((b->height + GRID - 1) / GRID);
}

/* Gets the vectors from picture i to the previous picture. Must be called for the pairs in order. */
static int flow_vectors(Bench *b, Flow *flow, int i, FlowVector *vectors)
{
    const int bw = (b->width + GRID - 1) / GRID, bh = (b->height + GRID - 1) / GRID;
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost       = vectors,
        .dstPitch      = bw * sizeof(*vectors),
        .WidthInBytes  = bw * sizeof(*vectors),
        .Height        = bh,
    };
    void *output;
    FlowStrides strides;

    launch_flow(b, flow, i);
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    output = flow->outputs[flow->next & 1];
    if (flow->failed || flow->f.get_strides(output, &strides))
        return AVERROR_EXTERNAL;
    copy.srcDevice = flow->f.get_pointer(output);
    copy.srcPitch  = strides.planes[0].x;
    BENCH_CU(b, cuMemcpy2D(&copy));
    return 0;
}

static const struct { int level; const char *name, *word; } levels[] = {
    { LEVEL_SLOW, "nvofa slow", "slow" }, { LEVEL_MEDIUM, "nvofa medium", "medium" },
    { LEVEL_FAST, "nvofa fast", "fast" },
};

/* Returns the library, or NULL with a message. */
static FFNV_LIB_HANDLE load_flow(FlowFunctions *functions)
{
    FFNV_LIB_HANDLE lib = FFNV_LOAD_FUNC(FLOW_LIBRARY);
    FlowCreateInstance *create;
    int ret;

    create = lib ? (FlowCreateInstance *)FFNV_SYM_FUNC(lib, "NvOFAPICreateInstanceCuda") : NULL;
    if (create && !(ret = create(FLOW_API_VERSION, functions)))
        return lib;
    if (create)
        printf("\nnvofa: %s does not know API 2.0 (error %d): skipped\n", FLOW_LIBRARY, ret);
    else
        printf("\nnvofa: there is no %s: skipped\n", FLOW_LIBRARY);
    if (lib)
        FFNV_FREE_FUNC(lib);
    return NULL;
}

/* Writes the vectors that one level finds in all neighbouring pictures. */
static void write_flow(Bench *b, Flow *flow, const char *path, const char *word)
{
    FlowVector *vectors = av_malloc_array(nb_vectors(b), sizeof(*vectors));
    char name[1024];
    FILE *f;

    snprintf(name, sizeof(name), "%s.%s", path, word);
    f = fopen(name, "wb");
    if (!f || !vectors)
        bench_die(name, f ? AVERROR(ENOMEM) : AVERROR(errno));
    flow->next = 0;
    for (int i = 1; i < flow->nb_inputs && !flow_vectors(b, flow, i, vectors); i++)
        if (fwrite(vectors, sizeof(*vectors), nb_vectors(b), f) != nb_vectors(b))
            bench_die(name, AVERROR(errno));
    if (fclose(f))
        bench_die(name, AVERROR(errno));
    av_free(vectors);
}

void bench_flow(Bench *b, const char *path)
{
    FlowFunctions functions = { 0 };
    FFNV_LIB_HANDLE lib = load_flow(&functions);

    if (!lib)
        return;
    for (int i = 0; i < FF_ARRAY_ELEMS(levels); i++) {
        Flow flow = { .f = functions };
        const int ret = open_flow(b, &flow, levels[i].level);

        if (!ret)
            write_flow(b, &flow, path, levels[i].word);
        if (ret || flow.failed)
            printf("%-16s error %d of the library\n", levels[i].name, ret ? ret : flow.failed);
        BENCH_CU(b, cuStreamSynchronize(b->stream));
        close_flow(&flow);
    }
    FFNV_FREE_FUNC(lib);
}

void bench_nvofa(Bench *b)
{
    FlowFunctions functions = { 0 };
    FFNV_LIB_HANDLE lib = load_flow(&functions);

    if (!lib)
        return;
    printf("\nNVOFA, a vector for each 4x4\n");
    for (int i = 0; i < FF_ARRAY_ELEMS(levels); i++) {
        const BenchRow row = {
            .part = "nvofa", .what = levels[i].name, .content = b->content, .width = b->width, .height = b->height,
            .block = GRID, .depth = 8, .metric = "time", .unit = "us",
        };
        Flow flow = { .f = functions };
        BenchTimes t;
        int ret = open_flow(b, &flow, levels[i].level);

        if (!ret) {
            bench_time_launches(b, launch_flow, &flow, 200, &t);
            ret = flow.failed;
        }
        printf("%-16s %4dx%-4d ", levels[i].name, b->width, b->height);
        if (ret)
            printf("error %d of the library\n", ret);
        else {
            printf("%10.1f us %9.1f fps %5.1f %%\n", bench_median(&t), 1e6 / bench_median(&t), bench_spread(&t));
            bench_times(b, &row, &t);
        }
        BENCH_CU(b, cuStreamSynchronize(b->stream));
        close_flow(&flow);
    }
    /* the library is not closed, because the driver has threads in it */
}
