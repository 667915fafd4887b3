/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the test programs share: random numbers, pictures that may not be touched around
 * or written to, what the oracle finds in them, backends at every level of what the
 * processor can do, executors, graphs with the filter, files, and messages.
 */

#ifndef GPUME_HARNESS_H
#define GPUME_HARNESS_H

#include <stdint.h>
#include <stdio.h>

#include "libavutil/attributes.h"
#include "libavutil/bprint.h"
#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixfmt.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/searches.h"

#include "gpume_oracle_tree.h"

/* Messages */

/** What is being tried; printed with a failure, and by test_watch(). */
extern char test_context[4096];
extern int test_nb_checks, test_nb_failures;
/** Nonzero: the log is shown. */
extern int test_verbose;

/** To be called first. @param program its name */
void test_init(const char *program);

/**
 * From now on what touches memory that it may not, or takes longer than so many seconds,
 * is a failure that says what was being tried. Not for a program that has handlers of its own.
 */
void test_watch(int seconds);

/** A failure; after some of them the program ends. */
void test_fail(const char *fmt, ...) av_printf_format(1, 2);

#define CHECK(cond, ...)                                            \
    do {                                                            \
        test_nb_checks++;                                           \
        if (!(cond))                                                \
            test_fail(__VA_ARGS__);                                 \
    } while (0)

/**
 * Takes the share "I/N" of the tests, so that N processes can run them side by side.
 * @return 0, or -1 where that is none
 */
int test_set_share(const char *text);
/** Returns whether the share is all tests: what must occur somewhere is asked of all of them only. */
int test_is_whole(void);
/** Returns whether the next test belongs to the share; to be asked once for each. */
int test_is_mine(void);

/** Ends the program where p is NULL: the test itself is out of memory. */
void *test_alloc(void *p);

/** Name and size for mkdtemp(); the same folder is removed by test_remove_folder(). */
const char *test_make_folder(const char *program);
/** Nonzero: there are files in it. */
int test_remove_folder(void);

/** A function of NVIDIA's driver, or of its stand-in; NULL: there is none. */
void *test_driver_function(const char *name);

/* What was logged since test_forget_log(), cut where it is long. */
extern char test_errors[4096];  ///< errors
extern char test_warnings[4096];
extern char test_last_log[1024];///< the last message of any level up to verbose
extern int test_nb_errors;
void test_forget_log(void);

/* Random numbers */

/** Where numbers come from: bytes, zeros behind them; without bytes a generator. */
typedef struct TestRandom {
    const uint8_t *data;
    size_t size;
    uint64_t state;
} TestRandom;

uint64_t test_mix(uint64_t x);
/** 0 to n - 1 */
unsigned test_draw(TestRandom *r, unsigned n);
/** min to max, both included */
int test_draw_range(TestRandom *r, int min, int max);

/**
 * Call run() with every choice that the braces of a text leave: {A,B} {C,D} with A C, A D,
 * B C and B D. Braces do not nest.
 */
void test_each_choice(const char *text, void (*run)(const void *opaque, const char *text),
                      const void *opaque);

/* Pictures */

#define TEST_MAX_PICTURES 16

enum TestContent {
    TEST_RANDOM,
    TEST_EXTREME,       ///< pictures of all 0 and of all maximum in turn
    TEST_CHECKER,       ///< a checkerboard that changes sides
    TEST_FLAT,          ///< pictures of one value: every candidate costs the same
    TEST_EQUAL,         ///< all pictures are the same random one
    TEST_MOTION,        ///< a texture that moves, zooms and has noise
    TEST_SHIFT,         ///< random samples that move by just in or out of range
    TEST_BINARY,        ///< values 0 and 1: many ties
    TEST_STRIPES,       ///< of a short period: ties along and across them
    TEST_RAMP,          ///< a slope that a descent has far to go down
    TEST_SPEEDS,        ///< textures side by side that move at speeds of their own, which change
    TEST_NB_DRAWN,      ///< those above are for random cases
    /** A Hadamard matrix and its opposite in turn: of all pictures the largest transformed differences. */
    TEST_HADAMARD = TEST_NB_DRAWN,
    TEST_FAINT,         ///< areas far apart, with faint noise: bounds of few bits hardly tell candidates apart
    TEST_SMALL,         ///< squares smaller than blocks of a pyramid, which move by more than their side
    TEST_NB_CONTENTS
};

extern const char *const test_content_names[TEST_NB_CONTENTS];

/** What is wrong with a frame. */
enum TestFault {
    TEST_FINE,
    TEST_NO_LUMA,
    TEST_NARROW,            ///< rows overlap
    TEST_NB_FAULTS
};

typedef struct TestPicture {
    int w, h;
    enum AVPixelFormat format;
    int64_t pts;
    /** Nonzero: luma only, read-only, next to pages that cannot be read. */
    int guarded;
    int at_end;             ///< the page behind it, not that before it
    int negative;           ///< linesize
    int padding;            ///< bytes between rows
    int keep;               ///< the caller keeps it while it is searched
    int fault;              ///< enum TestFault
    uint16_t *samples;      ///< without padding bits
    /** By TestStream.distance; NULL: it has no such reference. */
    OracleVector *vectors[GPUME_MAX_REFERENCES];
    OracleVector *found[GPUME_MAX_REFERENCES];      ///< what the search itself found; not with a tree
    /** With a tree: its leaves, whose vectors are those above. */
    OracleTree trees[GPUME_MAX_REFERENCES];
    uint64_t intra;
} TestPicture;

/** Pictures, and what is to be searched in them. */
typedef struct TestStream {
    int algo, cost, block, range;
    int smooth, check;
    int pel;                ///< 0: 1
    int sweeps;             ///< 0: test_sweeps()
    int levels;             ///< of hme; 0: by itself
    int tree_max;           ///< side of the largest blocks of a tree; 0: blocks of one size
    int lambda, qp;         ///< of a tree; below 0: not given
    int nb_references;
    /** test_expect() adds that of the opposite direction where check is on and it is not there. */
    int distance[GPUME_MAX_REFERENCES];
    int nb_distances;       ///< set by test_expect()
    int nb;
    TestPicture pics[TEST_MAX_PICTURES];
} TestStream;

/** The formats that can be searched. */
extern enum AVPixelFormat test_formats[256];
extern int test_nb_formats;

/** Names of searches and costs; all of the filter's tables have to be in the oracle, too. */
extern const char *const test_algos[GPUME_NB_ALGOS];
extern const char *const test_costs[GPUME_NB_COSTS];

int test_depth(enum AVPixelFormat format);
int test_same_picture(const TestPicture *a, const TestPicture *b);

/** How many passes that is. */
int test_sweeps(const TestStream *s);

/** Draw the samples of all pictures. @param range what moves does by about so much */
void test_samples(TestStream *s, enum TestContent content, uint64_t seed, int range);

/** Draw how frames lie in memory. */
void test_layout(TestStream *s, uint64_t seed);

/** Samples as a frame. What is no sample of luma is anything. */
AVFrame *test_frame(const TestPicture *pic);

/** Let the oracle search all pictures; the past ends where size or format change. */
void test_expect(TestStream *s);

/** Vectors of picture i in reference j: blocks, or leaves. */
int test_nb_vectors(const TestStream *s, int i, int j);

/** How many leaves of all fields that are asked for have this side. */
int64_t test_nb_leaves(const TestStream *s, int side);

void test_free_stream(TestStream *s);

/** The filter's option dir, 1 to 3, as references. */
void test_set_dir(TestStream *s, int dir, int refs);

/** What an option of the filter is by default: range, smooth, check or pel. */
int test_default(int algo, const char *option);

/** Take the search from options of the filter, with their defaults; other options are ignored. */
void test_parse_options(TestStream *s, const char *options);

/**
 * Compare the vectors of picture i with the oracle's.
 * @param costs NULL: not known
 * @return 0, or -1 with what differs in wrong
 */
int test_compare(const TestStream *s, int i, const void *mvs, size_t size,
                 const uint32_t *costs, char wrong[1024]);

/** The same of its field with reference j alone, which is one of nb_distances. */
int test_compare_field(const TestStream *s, int i, int j, const void *mvs,
                       const uint32_t *costs, char wrong[1024]);

/* Files of the filter */

enum TestFile { TEST_NO_FILE, TEST_CSV, TEST_NPY, TEST_NPYS, TEST_STATS, TEST_JSONL, TEST_NB_FILES };

/** What has to be in a file of the first nb pictures. */
void test_expect_file(AVBPrint *text, const TestStream *s, enum TestFile kind, int nb);

/** Returns 0 where there is no such file. */
int test_read_file(AVBPrint *text, const char *path);

/* Backends */

typedef struct TestBackend {
    int id;                     ///< enum GpumeBackendId
    const char *level;
    int cpu_flags;              ///< for av_force_cpu_flags()
    AVBufferRef *hw_device;     ///< kept open, as opening one takes long
    int64_t nb_searches, nb_vectors;
} TestBackend;

#define TEST_MAX_BACKENDS 16

/**
 * The backends that can be opened, the CPU's at every level.
 * @param only a backend's name, or NULL
 * @return how many
 */
int test_backends(TestBackend backends[TEST_MAX_BACKENDS], const char *only);

/** A CUDA device, or NULL. */
AVBufferRef *test_open_device(void);

enum TestExecutorKind {
    TEST_SERIAL,
    TEST_REVERSED,
    TEST_SHUFFLED,
    TEST_THREADS,
    TEST_NB_EXECUTORS
};

extern const char *const test_executor_names[TEST_NB_EXECUTORS];

typedef struct TestExecutor {
    enum TestExecutorKind kind;
    uint64_t seed;
} TestExecutor;

/** Number of threads of TEST_THREADS. */
#define TEST_NB_THREADS 4

/** For GpumeEngineConfig; opaque is a TestExecutor. */
void test_execute(void *opaque, GpumeJob job, void *arg, int nb_jobs);

/* The filter in its graph */

typedef struct TestGraph {
    AVFilterGraph *graph;
    AVFilterContext *src, *gpume, *sink;
    const char *stage;      ///< what an error is from: "graph", "options" or "configuration"
} TestGraph;

/** How a stream goes through a graph, and what comes of it. */
typedef struct TestRun {
    const char *options;    ///< the filter's
    int nb_threads;
    int upload;             ///< frames go up to the device before the filter
    AVBufferRef *hw_frames; ///< frames that are given lie there; may be NULL
    int download;           ///< they come down behind it
    const char *behind;     ///< names of filters behind it, separated by commas; may be NULL
    AVBufferRef *device;    ///< the filter's; may be NULL
    int feed_all;           ///< push everything before the first frame is pulled
    int closes;             ///< closed after close_after frames have come out
    int close_after;
    int no_end;             ///< the end of the stream is not said
    AVFrame **frames;       ///< those of the stream; NULL: they are made, and pushed away
    /** Called with the stage that begins: "configuration", "frames", "close"; may be NULL. */
    void (*at)(void *opaque, const char *stage);
    /** Called with frame i on its way out; may be NULL. */
    void (*look)(void *opaque, int i, const AVFrame *in, const AVFrame *out);
    void *opaque;

    int ret;                ///< 0, or the error that it ended with
    const char *stage;      ///< of the error
    int nb_out;
    char wrong[1024];       ///< what is wrong in what came out; empty: nothing
} TestRun;

int test_open_graph(TestGraph *g, const TestRun *r, const TestPicture *first);

/** Run, and compare all that comes out. Returns r->ret. */
int test_run(TestRun *r, const TestStream *s);

/* Calls that fail, gpume_fail.c */

/** To be called first. */
void test_fail_init(void);
/** Begin to remember allocations of FFmpeg's, or end it. */
void test_track(int on);
extern int test_nb_outstanding;     ///< allocations that were not given back
/**
 * Let the n-th allocation from now on fail, and those after it where after is not 0.
 * 0: none, but where each is made is noted.
 */
void test_fail_allocation(int n, int after);
extern int test_nb_failed;          ///< allocations that failed since
/** Where those since test_fail_allocation(0, 0) were made, a hash each. Returns how many. */
int test_allocation_sites(const uint64_t **sites);
extern const char *test_failing_call;   ///< rename, link, fdopen or fclose; NULL: none
extern int test_nb_calls_failed;

#endif /* GPUME_HARNESS_H */
