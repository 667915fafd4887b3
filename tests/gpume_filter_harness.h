/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions that the tests of picture filters share: samples of frames in memory and on a device,
 * canaries around samples, failing allocations, and the options of the programs.
 */

#ifndef GPUME_FILTER_HARNESS_H
#define GPUME_FILTER_HARNESS_H

#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"

#include "gpume_harness.h"

/** Seconds after which a part of a test is considered to hang. */
#define TEST_SECONDS 600
/** Value of the bytes of a frame that are not samples. */
#define TEST_CANARY 0xa5

/** Format and size of pictures. Components are numbered as in the definitions: component 0 is luma or green. */
typedef struct TestShape {
    enum AVPixelFormat format;
    const AVPixFmtDescriptor *desc;
    int depth, nb_components;
    int w, h;                   ///< size of component 0
    int is_words;               ///< whether samples are compared with the padding bits around them
} TestShape;

/** Formats of every depth and subsampling of chroma, with planes. */
extern const enum AVPixelFormat test_planar_formats[20];

TestShape test_shape(enum AVPixelFormat format, int w, int h);
/** Sets another format and keeps the size. */
void test_set_format(TestShape *s, enum AVPixelFormat format);

const AVComponentDescriptor *test_component(const TestShape *s, int i);
int test_shift_x(const TestShape *s, int i);
int test_shift_y(const TestShape *s, int i);
int test_width(const TestShape *s, int i);
int test_height(const TestShape *s, int i);

/** Returns a word of component i: a sample with the padding bits around it. */
int test_word(const TestShape *s, const AVFrame *f, int i, int x, int y);
void test_set_word(const TestShape *s, AVFrame *f, int i, int x, int y, int v);

/** Returns the samples of component i, row by row and without padding bits, for av_free(). */
uint16_t *test_read_samples(const TestShape *s, const AVFrame *f, int i);
/** Copies the words of all components. */
void test_copy_words(const TestShape *s, AVFrame *to, const AVFrame *from);
/** Returns the number of words that differ. */
int test_nb_differences(const TestShape *s, const AVFrame *a, const AVFrame *b);

/** Returns a gray frame with these samples, row by row. */
AVFrame *test_gray_frame(enum AVPixelFormat format, const uint16_t *samples, int w, int h);

/** Returns a sample of a smooth texture, 0 to 255. Samples 2 << log2_side apart are independent. */
int test_texture(uint64_t seed, int x, int y, int log2_side);

/** Returns a frame of canaries, with padding between its rows, which may be in reverse order. */
AVFrame *test_canaries(const TestShape *s, TestRandom *r);
/**
 * Compares all samples of a frame.
 * @param wanted expected samples of each component, row by row
 * @param what   describes the frame in messages, with its number
 */
void test_compare_samples(const TestShape *s, const AVFrame *f, uint16_t *const wanted[4], const char *what, int n);
/** Returns a copy of the bytes of a frame of canaries, for av_free(). */
uint8_t *test_bytes(const AVFrame *f);
/** Checks that only samples differ from the copied bytes, and overwrites the samples with canaries. */
void test_check_around(const TestShape *s, AVFrame *f, const uint8_t *before);
/** Checks that the bytes of nb frames are still the copied ones. */
void test_check_unchanged(AVFrame *const *frames, uint8_t *const *copies, int nb);

/* On a device */

/** The device that test_begin_device() opened, or NULL. */
extern AVBufferRef *test_device;

/** Opens a device. Returns whether there is one. */
int test_begin_device(void);
void test_end_device(void);

/** Returns whether frames on the device can have this format. */
int test_fits_device(enum AVPixelFormat format);
/** Returns a pool of frames on the device whose size is rounded up to even numbers. */
AVBufferRef *test_device_frames(const TestShape *s);
/**
 * Returns a frame on the device with the samples and properties of a frame, or with canaries if from is NULL.
 * @param frames NULL: returns a reference to the frame in memory
 */
AVFrame *test_upload(const TestShape *s, AVBufferRef *frames, const AVFrame *from);
/** Returns a frame in memory with the samples of a frame on the device; its size is even. */
AVFrame *test_download(const TestShape *s, AVFrame *from);
/** Checks that the samples outside the picture are still canaries, in a frame that came from the device. */
void test_check_beside(const TestShape *s, const AVFrame *f);

/* Searches */

/**
 * Searches frames with gpume's search on the CPU, which tests/gpume_unit.c tests, and frees them.
 * @param take called with each result; n: number of the frame
 */
void test_search(const GpumeParams *params, AVFrame **frames, int nb,
                 void (*take)(void *opaque, int n, const GpumeResult *r), void *opaque);

/* A filter in its graph */

/**
 * Takes the next output frame. Checks that frames of one size on the device belong to one pool. If
 * s is not NULL, downloads a frame on the device, with its properties.
 * @return 0, or the AVERROR code of av_buffersink_get_frame()
 */
int test_take_frame(TestFilter *f, const TestShape *s, AVFrame **out);
/**
 * Sends a frame, or the end if it is NULL, and takes all available output frames as test_take_frame() does.
 * @param nb number of frames in out, at most max
 * @return 0 or an AVERROR code
 */
int test_filter_frame(TestFilter *f, AVFrame *frame, const TestShape *s, AVFrame **out, int *nb, int max);

/** Frames that a filter gets or makes. */
typedef struct TestFrames {
    AVFrame *frames[200];
    int nb;
    AVBufferRef *hw_frames[4];  ///< pools of the frames that were uploaded
    int nb_pools;
} TestFrames;

/** Adds references to frames of one shape, or uploads the frames to a pool of their own. */
void test_add_frames(TestFrames *f, const TestShape *s, AVFrame *const *frames, int nb, int on_device);
void test_free_frames(TestFrames *f);
/**
 * Sends frames to a filter in a new graph, and takes its output.
 * @param down as s of test_take_frame()
 * @param out  is freed before
 * @return 0 or an AVERROR code
 */
int test_run_filter(const TestFilter *filter, const TestShape *s, const TestFrames *in, const TestShape *down,
                    TestFrames *out);

/* Allocations that fail */

/**
 * Calls run() repeatedly: allocation 1 fails, then allocation 1 + step, and so on until a call makes fewer allocations.
 * Checks that nothing leaks; run() itself checks the result of a call that succeeds.
 * @param run     returns 0 or a negative error code; calls test_let_fail() when allocations may
 *                begin to fail
 * @param release frees the results of run()
 * @param step    interval between the allocations that fail
 * @param least   minimum number of allocations, else the test is invalid
 * @param strict  whether each failure must make run() fail; otherwise up to a quarter may do no harm
 * @param what    describes the test in messages
 */
void test_failing_allocations(int (*run)(void *opaque), void (*release)(void *opaque), void *opaque, int step,
                              int least, int strict, const char *what);
void test_let_fail(void);
/**
 * Runs a filter as test_run_filter() does, with each allocation failing in turn, from the configuration on: FFmpeg
 * loses options if their memory cannot be allocated. The result must be an error or the frames of a run in which
 * nothing fails.
 * @param step, least, what see test_failing_allocations()
 */
void test_failing_filter(const TestFilter *filter, const TestShape *s, const TestFrames *in, int step, int least,
                         const char *what);
/** Begins or ends a section of run() in which allocations must not fail. */
void test_pause_failing(int pause);
/**
 * Changes the format of a filter's frames on the device in mid-stream, as an application that goes on after errors,
 * while allocations fail as in test_failing_allocations(). Does nothing without the stand-in for the driver.
 */
void test_failing_change(const char *name, const char *options, int step);

/* Options */

/** Options of the command line. */
typedef struct TestOptions {
    int quick;
    int device_only;
    int nb_cases;               ///< number of cases; 0: not set
    int64_t only;               ///< seed of the only case, or -1
} TestOptions;

/** Begins a program, and reads its command line. Returns 0; or -1 after printing the usage. */
int test_begin(TestOptions *o, const char *program, int argc, char **argv);
/** Returns the number of cases: 1 if there is only one, or the number in the options, or one of these. */
int test_nb_cases(const TestOptions *o, int quick, int full);
/** Runs the only case, or the first nb cases. @param place passed to run() */
void test_run_cases(const TestOptions *o, int nb, void (*run)(uint64_t seed, int place), int place);
/** Begins a case: every second one is in plain C. */
void test_begin_case(uint64_t seed);
/** Draws an executor, and its number of threads. @param e its opaque; the kind is set */
GpumeExecutor test_draw_executor(TestRandom *r, TestExecutor *e);
/** Ends a program. Returns its exit status. @param nb_on_device number of cases that ran on a device */
int test_end(const TestOptions *o, int nb_on_device);

/** A frame that a filter makes, of canaries before. */
typedef struct TestOutput {
    AVFrame *frame;
    uint8_t *before;            ///< its bytes; NULL: it is on the device
} TestOutput;

/** Returns a frame to be made. @param hw_frames NULL: in memory */
TestOutput test_output(const TestShape *s, TestRandom *r, AVBufferRef *hw_frames);
/**
 * Compares a frame as test_compare_samples() does, checks that nothing else was written, and releases the frame.
 * @param wanted NULL: the frame was not made
 */
void test_check_output(const TestShape *s, TestOutput *o, uint16_t *const wanted[4], const char *what, int n);

#endif /* GPUME_FILTER_HARNESS_H */
