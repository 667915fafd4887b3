/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the tests of filters that make pictures share: samples of frames in memory and on a device, bytes that must
 * not be written to, allocations that fail, and the options of the programs.
 */

#ifndef GPUME_SAMPLES_H
#define GPUME_SAMPLES_H

#include "libavutil/pixdesc.h"

#include "gpume_harness.h"

/** In bytes of a frame that are no samples. */
#define TEST_CANARY 0xa5

/** Format and size of pictures. Components are numbered as in the definitions: luma or green is 0. */
typedef struct TestShape {
    enum AVPixelFormat format;
    const AVPixFmtDescriptor *desc;
    int depth, nb_components;
    int w, h;                   ///< of component 0
} TestShape;

TestShape test_shape(enum AVPixelFormat format, int w, int h);
/** Sets another format. The size stays. */
void test_set_format(TestShape *s, enum AVPixelFormat format);

const AVComponentDescriptor *test_component(const TestShape *s, int i);
int test_shift_x(const TestShape *s, int i);
int test_shift_y(const TestShape *s, int i);
int test_width(const TestShape *s, int i);
int test_height(const TestShape *s, int i);

/** A word of component i: a sample, with the bits beside it. */
int test_word(const TestShape *s, const AVFrame *f, int i, int x, int y);
void test_set_word(const TestShape *s, AVFrame *f, int i, int x, int y, int v);

/** 0 to 255, a smooth texture. Neighbours at a distance of 1 << log2_side units are independent. */
int test_texture(uint64_t seed, int x, int y, int log2_side);

/** Returns a frame of canaries, with bytes between its rows, which lie in either order. */
AVFrame *test_canaries(const TestShape *s, TestRandom *r);
/**
 * Checks all samples of a frame.
 * @param wanted samples of each component, row by row
 * @param what   a few words about the frame, for the message
 */
void test_compare_samples(const TestShape *s, const AVFrame *f, const uint16_t *const wanted[4], const char *what);
/** Returns a copy of the bytes of such a frame, for av_free(). */
uint8_t *test_bytes(const AVFrame *f);
/** Checks that nothing but samples differs from the bytes that were copied, and overwrites the samples. */
void test_check_around(const TestShape *s, AVFrame *f, const uint8_t *before);

/* On a device */

/** The device that test_begin_device() opened, or NULL. */
extern AVBufferRef *test_device;

/** Opens a device. Returns whether there is one. */
int test_begin_device(void);
void test_end_device(void);

/** Whether pictures of this format can be on the device. */
int test_fits_device(enum AVPixelFormat format);
/** Returns a pool of frames of an even size. */
AVBufferRef *test_device_frames(const TestShape *s);
/** Returns a frame on the device with the samples and properties of this one or, if that is NULL, of canaries. */
AVFrame *test_upload(const TestShape *s, AVBufferRef *frames, const AVFrame *from);
/** Returns a frame in memory, of an even size, with the samples of a frame on the device. */
AVFrame *test_download(const TestShape *s, AVFrame *from);
/** Checks that what is beside the picture in a frame that came from the device is still made of canaries. */
void test_check_beside(const TestShape *s, const AVFrame *f);

/* A filter in its graph */

/** A graph that is fed with frames of a test, and how it is set up. */
typedef struct TestFilter {
    const char *name, *options;
    int nb_threads;
    enum AVColorSpace colorspace;
    AVBufferRef *hw_frames;     ///< NULL: frames in memory
    int fails;                  ///< test_let_fail() is called when all options are set
    int writable;               ///< nobody else may have the frames on the device that come out

    AVFilterGraph *graph;
    AVFilterContext *src, *sink;
    /** Pool of the last frame that came out, and its size. */
    const void *pool;
    int pool_w, pool_h;
} TestFilter;

/** Opens a graph for frames of this shape at 25 frames/s. Formats are not converted. @return 0 or an AVERROR code */
int test_open_filter(TestFilter *f, const TestShape *s);
/**
 * Takes the next frame that comes out. Checks that frames of one size on the device are of one pool. A frame on the
 * device is downloaded, with its properties, if s is given.
 * @return 0, or an AVERROR code as av_buffersink_get_frame() returns it
 */
int test_take_frame(TestFilter *f, const TestShape *s, AVFrame **out);

/* Allocations that fail */

/**
 * Has run() called, with the first allocation failing, then the second, until one call needs no more of them. Checks
 * that each call either fails or has the right result, and that nothing leaks.
 * @param run     returns 0 or a negative error code; calls test_let_fail() where allocations may begin to fail
 * @param release frees what run() leaves
 * @param step    every so many allocations one fails
 * @param least   number of allocations that the test needs to be one
 * @param what    a few words about the test, for messages
 */
void test_failing_allocations(int (*run)(void *opaque), void (*release)(void *opaque), void *opaque, int step,
                              int least, const char *what);
void test_let_fail(void);
/** Begins something that must not fail inside run(), or ends it. */
void test_pause_failing(int pause);

/* Options */

/** What the command line asks for. */
typedef struct TestOptions {
    int quick;
    int device_only;
    int nb_cases;               ///< 0: not given
    int64_t only;               ///< seed of the only case, or -1
} TestOptions;

/** Reads the command line. Returns 0, or -1 and prints how the program is used. */
int test_options(TestOptions *o, const char *program, int argc, char **argv);

#endif /* GPUME_SAMPLES_H */
