/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions that the test programs share: messages, random numbers, pictures in guarded memory,
 * expected results from the oracle, files, backends at every CPU level, executors, and graphs with
 * the filter.
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

/** Describes the current test; printed with a failure, and by the handlers of test_watch(). */
extern char test_context[4096];
extern int test_nb_checks, test_nb_failures;
/** Nonzero: prints the log. */
extern int test_verbose;

/** Must be called first. @param program name of the program */
void test_init(const char *program);

/**
 * From now on, an invalid memory access, or a test longer than this number of seconds, is reported
 * as a failure of the current test. Not for programs that have signal handlers.
 */
void test_watch(int seconds);

/** Reports a failure. The program ends after several failures. */
void test_fail(const char *fmt, ...) av_printf_format(1, 2);

#define CHECK(cond, ...)                                            \
    do {                                                            \
        test_nb_checks++;                                           \
        if (!(cond))                                                \
            test_fail(__VA_ARGS__);                                 \
    } while (0)

/**
 * Selects the share "I/N" of the tests, so that N processes can run them in parallel.
 * @return 0, or -1 if the text is invalid
 */
int test_set_share(const char *text);
/** Returns whether the share is all tests. Only then can a test require that something occurs at least once. */
int test_is_whole(void);
/** Returns whether the next test belongs to the share. Must be called once for each test. */
int test_is_mine(void);

/** Ends the program if p is NULL, because the test is out of memory. Returns p. */
void *test_alloc(void *p);
/** Returns a frame with samples that are not set. */
AVFrame *test_alloc_frame(enum AVPixelFormat format, int w, int h);
/** Returns the number of rows of a plane of a frame. */
int test_plane_rows(const AVFrame *f, int plane);
/** Adds the samples and some properties of a frame to a hash. */
uint64_t test_hash_frame(uint64_t hash, const AVFrame *f);

/** Makes a temporary folder with the program's name. test_remove_folder() removes it. */
const char *test_make_folder(const char *program);
/** Removes the folder. Returns nonzero if it contains files. */
int test_remove_folder(void);

/** Returns a function of NVIDIA's driver or of the stand-in, or NULL. */
void *test_driver_function(const char *name);

/* Messages since test_forget_log(), truncated to the size of the arrays */
extern char test_errors[4096];  ///< errors
extern char test_warnings[4096];
extern char test_last_log[1024];///< the last message of any level up to verbose
extern int test_nb_errors;
void test_forget_log(void);

/* Random numbers */

/** A source of random numbers: bytes, then zeros; without bytes a generator. */
typedef struct TestRandom {
    const uint8_t *data;
    size_t size;
    uint64_t state;
} TestRandom;

uint64_t test_mix(uint64_t x);
/** Returns a number from 0 to n - 1. */
unsigned test_draw(TestRandom *r, unsigned n);
/** Returns a number from min to max, inclusive. */
int test_draw_range(TestRandom *r, int min, int max);

/**
 * Calls run() with every choice from the braces of a text: {A,B} {C,D} gives A C, A D, B C and B D.
 * Braces do not nest.
 */
void test_each_choice(const char *text, void (*run)(const void *opaque, const char *text),
                      const void *opaque);

/* Pictures */

#define TEST_MAX_PICTURES 16

enum TestContent {
    TEST_RANDOM,
    TEST_EXTREME,       ///< pictures of all 0 and of all maximum alternate
    TEST_CHECKER,       ///< a checkerboard that is inverted in every other picture
    TEST_FLAT,          ///< pictures of one value: every candidate costs the same
    TEST_EQUAL,         ///< all pictures are the same random one
    TEST_MOTION,        ///< a texture that moves and zooms, with noise
    TEST_SHIFT,         ///< random samples that move by slightly less or more than the range
    TEST_BINARY,        ///< values 0 and 1: many ties
    TEST_STRIPES,       ///< stripes of a short period: ties along and across them
    TEST_RAMP,          ///< a slope that takes a descent many steps
    TEST_SPEEDS,        ///< textures side by side that move at different, changing speeds
    TEST_NB_DRAWN,      ///< the contents above are used for random cases
    /** A Hadamard matrix and its negative alternate: they have the largest possible SATD. */
    TEST_HADAMARD = TEST_NB_DRAWN,
    TEST_FAINT,         ///< distant areas with faint noise: bounds of few bits hardly distinguish candidates
    TEST_SMALL,         ///< squares smaller than blocks of a pyramid, which move by more than their side
    TEST_NB_CONTENTS
};

extern const char *const test_content_names[TEST_NB_CONTENTS];

/** The fault of a frame that the filter must reject. */
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
    /** Nonzero: luma only, read-only, next to pages that cannot be accessed. */
    int guarded;
    int at_end;             ///< the inaccessible page is after the samples, not before them
    int negative;           ///< whether linesize is negative
    int padding;            ///< bytes between rows
    int keep;               ///< whether the caller keeps the frame during the search
    int fault;              ///< enum TestFault
    uint16_t *samples;      ///< without padding bits
    /** The expected vectors, by TestStream.distance; NULL: the picture has no such reference. */
    OracleVector *vectors[GPUME_MAX_REFERENCES];
    OracleVector *found[GPUME_MAX_REFERENCES];      ///< vectors that the search found before the check; not with a
                                                    ///< tree
    /** With a tree: its leaves, which have the vectors above. */
    OracleTree trees[GPUME_MAX_REFERENCES];
    uint64_t intra;
} TestPicture;

/** Pictures, and the parameters of their search. */
typedef struct TestStream {
    int algo, cost, block, range;
    int smooth, check;
    int pel;                ///< 0: 1
    int sweeps;             ///< 0: test_sweeps()
    int levels;             ///< levels of hme; 0: automatic
    int tree_max;           ///< side of the largest blocks of a tree; 0: blocks of one size
    int lambda, qp;         ///< options of trees; negative: not set
    int nb_references;
    /** test_expect() adds the opposite direction of a distance if check is on and it is missing. */
    int distance[GPUME_MAX_REFERENCES];
    int nb_distances;       ///< set by test_expect()
    int nb;
    TestPicture pics[TEST_MAX_PICTURES];
} TestStream;

/** The supported formats. */
extern enum AVPixelFormat test_formats[256];
extern int test_nb_formats;

/** Names of searches and costs. The oracle must have all searches and costs of the filter. */
extern const char *const test_algos[GPUME_NB_ALGOS];
extern const char *const test_costs[GPUME_NB_COSTS];

int test_depth(enum AVPixelFormat format);
int test_same_picture(const TestPicture *a, const TestPicture *b);

/** Returns the number of passes. */
int test_sweeps(const TestStream *s);

/** Returns the number of samples times candidates that a search evaluates in full on any level. */
int64_t test_full_work(const TestStream *s, int w, int h);

/** Draws the samples of all pictures. @param range approximate length of motions */
void test_samples(TestStream *s, enum TestContent content, uint64_t seed, int range);

/** Draws the memory layout of frames. */
void test_layout(TestStream *s, uint64_t seed);

/** Returns the samples as a frame. Bytes that are not luma samples have arbitrary values. */
AVFrame *test_frame(const TestPicture *pic);

/** Runs the oracle on all pictures. Searches do not cross a change of size or format. */
void test_expect(TestStream *s);

/** Returns the number of vectors of picture i in reference j: blocks or leaves. */
int test_nb_vectors(const TestStream *s, int i, int j);

/** Returns the number of leaves with this side in all requested fields. */
int64_t test_nb_leaves(const TestStream *s, int side);

void test_free_stream(TestStream *s);

/** Sets the references from the filter's options dir (1 to 3) and refs. */
void test_set_dir(TestStream *s, int dir, int refs);

/** Returns the filter's default of an option: range, smooth, check or pel. */
int test_default(int algo, const char *option);

/** Sets the search from options of the filter, with their defaults. Ignores other options. */
void test_parse_options(TestStream *s, const char *options);

/**
 * Compares the vectors of picture i with those of the oracle.
 * @param costs NULL: unknown
 * @return 0, or -1 with the difference in wrong
 */
int test_compare(const TestStream *s, int i, const void *mvs, size_t size,
                 const uint32_t *costs, char wrong[1024]);

/** Compares only the field of reference j, which is below nb_distances. */
int test_compare_field(const TestStream *s, int i, int j, const void *mvs,
                       const uint32_t *costs, char wrong[1024]);

/* Files of the filter */

enum TestFile { TEST_NO_FILE, TEST_CSV, TEST_NPY, TEST_NPYS, TEST_STATS, TEST_JSONL, TEST_NB_FILES };

/** Prints the expected contents of a file for the first nb pictures. */
void test_expect_file(AVBPrint *text, const TestStream *s, enum TestFile kind, int nb);

/** Reads a file. Returns 0 if it does not exist. */
int test_read_file(AVBPrint *text, const char *path);

/* Backends */

typedef struct TestBackend {
    int id;                     ///< enum GpumeBackendId
    const char *level;
    int cpu_flags;              ///< argument of av_force_cpu_flags()
    AVBufferRef *hw_device;     ///< stays open because opening a device is slow
    int64_t nb_searches, nb_vectors;
} TestBackend;

#define TEST_MAX_BACKENDS 16

/**
 * Lists the available backends; the CPU once for each level.
 * @param only name of the only backend to list, or NULL
 * @return the number of backends
 */
int test_backends(TestBackend backends[TEST_MAX_BACKENDS], const char *only);

/** Returns a CUDA device, or NULL. */
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

/** GpumeExecutor.run(); opaque is a TestExecutor. */
void test_execute(void *opaque, GpumeJob job, void *arg, int nb_jobs);

/* Filters in graphs */

/** Returns a pool of frames on a device whose size is rounded up to even numbers. */
AVBufferRef *test_hw_frames(AVBufferRef *device, enum AVPixelFormat format, int w, int h);

/** A graph with one filter, which is fed with frames of a test. */
typedef struct TestFilter {
    const char *name, *options;
    int nb_threads;
    int never_searches;         ///< sets search=never: frames come with vectors, or without any
    enum AVColorSpace colorspace;   ///< 0: unknown
    AVBufferRef *hw_frames;     ///< NULL: frames in system memory
    void (*configure)(void);    ///< called when the options are set; may be NULL
    int writable;               ///< whether output frames on the device must have no other reference

    AVFilterGraph *graph;
    AVFilterContext *src, *sink;
    /** Pool and size of the last output frame. */
    const void *pool;
    int pool_w, pool_h;
} TestFilter;

/** Opens a graph for frames of this format at 25 frames/s. Formats are not converted. @return 0 or an AVERROR code */
int test_open_filter(TestFilter *f, enum AVPixelFormat format, int w, int h);

typedef struct TestGraph {
    AVFilterGraph *graph;
    AVFilterContext *src, *gpume, *sink;
    const char *stage;      ///< the stage of an error: "graph", "options" or "configuration"
} TestGraph;

/** How a stream is sent through a graph, and the result. */
typedef struct TestRun {
    const char *options;    ///< the filter's options
    int nb_threads;
    int upload;             ///< whether frames are uploaded before the filter
    AVBufferRef *hw_frames; ///< if not NULL, frames are already on this device
    int download;           ///< whether frames are downloaded after the filter
    const char *behind;     ///< the filters after gpume, NAME or NAME=OPTIONS, separated by commas; may be NULL
    AVBufferRef *device;    ///< device of the filter; may be NULL
    int feed_all;           ///< push all frames before the first is pulled
    int closes;             ///< whether the graph is closed after close_after frames were output
    int close_after;
    int no_end;             ///< do not signal the end of the stream
    AVFrame **frames;       ///< the frames of the stream; NULL: they are made from the stream and freed after the
                            ///< push
    /** Called when a stage begins: "configuration", "frames", "close"; may be NULL. */
    void (*at)(void *opaque, const char *stage);
    /** Called with output frame i; may be NULL. */
    void (*look)(void *opaque, int i, const AVFrame *in, const AVFrame *out);
    void *opaque;

    int ret;                ///< 0, or the error that ended the run
    const char *stage;      ///< stage of the error
    int nb_out;
    char wrong[1024];       ///< describes wrong output; empty: none
} TestRun;

int test_open_graph(TestGraph *g, const TestRun *r, const TestPicture *first);

/** Runs the graph and compares its output. Returns r->ret. */
int test_run(TestRun *r, const TestStream *s);

/* Calls that fail, gpume_fail.c */

/** Must be called first. */
void test_fail_init(void);
/** Starts or stops the tracking of FFmpeg's allocations. */
void test_track(int on);
extern int test_nb_outstanding;     ///< number of tracked allocations that were not freed
/**
 * Makes the n-th allocation from now on fail and, if after is nonzero, all later ones. If n is 0,
 * no allocation fails, and the call sites of allocations are recorded.
 */
void test_fail_allocation(int n, int after);
extern int test_nb_failed;          ///< number of allocations that have failed since then
/** Gets the call sites that were recorded since test_fail_allocation(0, 0), a hash for each. Returns their number. */
int test_allocation_sites(const uint64_t **sites);
extern const char *test_failing_call;   ///< function that fails: rename, link, fdopen or fclose; NULL: none
extern int test_nb_calls_failed;

#endif /* GPUME_HARNESS_H */
