/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds faults that appear only after a while: compares random streams on every backend with the
 * oracle, also on several threads, for a given time; measures memory and file descriptors over many
 * frames, many graphs and many changes of the picture.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* mkdtemp() */
#endif

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "libavutil/random_seed.h"
#include "libavutil/time.h"

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"

#include "gpume_case.h"

/* Differential tests */

typedef struct Soak {
    CaseLimits limits;
    AVBufferRef *device;
    uint64_t seed;
    int64_t nb_cases;       ///< 0: run until end
    int64_t end;            ///< time of av_gettime_relative()
    atomic_llong next;
    atomic_int differs;
    const char *folder;
} Soak;

typedef struct Worker {
    Soak *soak;
    pthread_t thread;
    char folder[80];
    int64_t nb_cases;
    unsigned counts[CASE_NB_BACKENDS];
} Worker;

static void *soak_thread(void *arg)
{
    Worker *w = arg;
    Soak *s = w->soak;

    while (!s->differs && (s->nb_cases || av_gettime_relative() < s->end)) {
        const int64_t n = atomic_fetch_add(&s->next, 1);
        CaseLimits l = s->limits;
        TestRandom d = { .state = s->seed + n };

        if (s->nb_cases && n >= s->nb_cases)
            break;
        l.folder = w->folder;
        /* some filters share a given device, others open one */
        l.device = d.state & 1 ? s->device : NULL;
        if (!l.device)
            l.backends &= ~(1 << CASE_FRAMES);
        /* half of the cases are small enough for the stand-in for the driver */
        if (l.backends & 1 << CASE_CUDA && d.state & 2) {
            l.max_side = FFMAX(l.max_side / 4, 2);
            l.max_work = l.max_device_work;
        }
        if (run_case(&d, &l, w->counts) < 0) {
            fprintf(stderr, "gpume_soak: to see this again: gpume_soak -seed %"PRIu64
                    " -cases 1 -side %d", s->seed + n, s->limits.max_side);
            for (int b = 0; b < CASE_NB_BACKENDS; b++)
                if (s->limits.backends & 1 << b)
                    fprintf(stderr, "%s%s", s->limits.backends & ((1 << b) - 1) ? "," : " -backends ",
                            case_backends[b]);
            fprintf(stderr, "\n");
            s->differs = 1;
        }
        w->nb_cases++;
    }
    return NULL;
}

static int soak(Soak *s, int nb_threads)
{
    Worker workers[64] = { { 0 } };
    int64_t start = av_gettime_relative(), nb_cases = 0;
    unsigned counts[CASE_NB_BACKENDS] = { 0 };

    for (int i = 0; i < nb_threads; i++) {
        Worker *w = &workers[i];

        w->soak = s;
        snprintf(w->folder, sizeof(w->folder), "%s.%d", s->folder, i);
        if (mkdir(w->folder, 0777))
            test_alloc(NULL);
        if (pthread_create(&w->thread, NULL, soak_thread, w))
            test_alloc(NULL);
    }
    for (int i = 0; i < nb_threads; i++) {
        pthread_join(workers[i].thread, NULL);
        nb_cases += workers[i].nb_cases;
        for (int b = 0; b < CASE_NB_BACKENDS; b++)
            counts[b] += workers[i].counts[b];
        if (rmdir(workers[i].folder)) {
            fprintf(stderr, "gpume_soak: files were left in %s\n", workers[i].folder);
            s->differs = 1;
        }
    }
    printf("gpume_soak: seed %"PRIu64", %"PRId64" cases in %d s on %d threads:", s->seed,
           nb_cases, (int)((av_gettime_relative() - start) / 1000000), nb_threads);
    for (int b = 0; b < CASE_NB_BACKENDS; b++)
        printf(" %u %s%s", counts[b], case_backends[b], b + 1 < CASE_NB_BACKENDS ? "," : "");
    printf(": %s\n", s->differs ? "a difference" : "no difference");
    if (!counts[CASE_CPU] && !counts[CASE_CUDA])
        return 1;
    return s->differs;
}

/* Memory and file descriptors */

typedef struct Usage {
    int64_t host;           ///< allocated bytes
    int64_t resident;       ///< private resident bytes of the process
    int64_t device;         ///< bytes of the device in use; 0 without one
    int files;              ///< open descriptors
} Usage;

static struct {
    int (*retain)(void **ctx, int device), (*release)(int device);
    int (*push)(void *ctx), (*pop)(void **ctx);
    int (*get_info)(size_t *available, size_t *total);
    int (*alloc)(unsigned long long *p, size_t size);
    void *ctx;              ///< context of the first device; NULL: not open
} driver;

/* Opens the first device with the driver's own functions. Returns whether there is one. */
static int open_driver(void)
{
    const struct {
        const char *name;
        void **function;
    } functions[] = {
        { "cuDevicePrimaryCtxRetain", (void **)&driver.retain }, { "cuMemGetInfo_v2", (void **)&driver.get_info },
        { "cuDevicePrimaryCtxRelease_v2", (void **)&driver.release }, { "cuMemAlloc_v2", (void **)&driver.alloc },
        { "cuCtxPushCurrent_v2", (void **)&driver.push }, { "cuCtxPopCurrent_v2", (void **)&driver.pop },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(functions); i++)
        if (!(*functions[i].function = test_driver_function(functions[i].name)))
            return 0;
    return !driver.retain(&driver.ctx, 0);
}

/* Returns the driver's value of the memory in use on the first device. The last call closes the device. */
static int64_t device_usage(int last)
{
    size_t available = 0, total = 0;
    void *dummy;

    if (last) {
        if (driver.ctx)
            driver.release(0);
        return 0;
    }
    if (!driver.ctx && !open_driver() || driver.push(driver.ctx))
        return 0;
    driver.get_info(&available, &total);
    driver.pop(&dummy);
    return total - available;
}

static Usage usage(int with_device)
{
    const struct mallinfo2 info = mallinfo2();
    Usage u = { .host = info.uordblks + info.hblkhd };
    DIR *dir;
    FILE *f;
    long long size, resident, shared;

    /* returns free memory between blocks to the system; code that is used for the first time does not count */
    malloc_trim(0);
    f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lld %lld %lld", &size, &resident, &shared) == 3)
        u.resident = (resident - shared) * sysconf(_SC_PAGESIZE);
    if (f)
        fclose(f);
    dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        u.files++;
    if (dir)
        closedir(dir);
    if (with_device)
        u.device = device_usage(0);
    return u;
}

/* Sets u to the minimum of both, because queued data differs from frame to frame. */
static void lower(Usage *u, Usage other)
{
    if (!u->resident) {
        *u = other;
        return;
    }
    u->host     = FFMIN(u->host,     other.host);
    u->resident = FFMIN(u->resident, other.resident);
    u->device   = FFMIN(u->device,   other.device);
    u->files    = FFMIN(u->files,    other.files);
}

static int check_usage(const char *what, Usage a, Usage b, enum CaseBackend backend)
{
    /* the system counts whole pages, and allocates stacks at any time */
    const int64_t slack = 256 << 10;
    /* memory of queues and records of the driver, or of its stand-in: less than a byte a frame */
    const int64_t driver = backend == CASE_CPU ? 0 : 16 << 10;
    const int ok = b.host   <= a.host   + a.host   / 100 + driver &&
                   b.device <= a.device + a.device / 100 &&
                   b.resident <= a.resident + a.resident / 100 + slack && b.files <= a.files;

    printf("%s: allocated %"PRId64" bytes, then %"PRId64"; resident %"PRId64" kB, then %"PRId64
           "; device %"PRId64" bytes, then %"PRId64"; descriptors %d, then %d: %s\n",
           what, a.host, b.host, a.resident >> 10, b.resident >> 10, a.device, b.device,
           a.files, b.files, ok ? "fine" : "it grows");
    return ok ? 0 : 1;
}

/* Returns a frame of noise that depends only on n. */
static AVFrame *noise_frame(int w, int h, enum AVPixelFormat format, int n)
{
    TestStream s = { .nb = 1, .pics = { { .w = w, .h = h, .format = format, .pts = n } } };
    AVFrame *frame;

    test_samples(&s, TEST_RANDOM, n % 16, 1);
    frame = test_frame(&s.pics[0]);
    test_free_stream(&s);
    return frame;
}

static const char *behind;      ///< filters after gpume, or NULL

static void long_options(char *buf, size_t size, enum CaseBackend backend, const char *algo)
{
    snprintf(buf, size, "algo=%s:backend=%s:block=8:range=3:dir=both:metadata=1:"
             "stats_file=/dev/null", algo, backend == CASE_CPU ? "cpu" : "cuda");
    /* the default number of references of mvdenoise */
    if (behind && strstr(behind, "mvdenoise"))
        av_strlcat(buf, ":refs=2", size);
}

static int open_long_graph(TestGraph *g, const TestPicture *first, const char *options,
                           int nb_threads, enum CaseBackend backend, AVBufferRef *device)
{
    const TestRun r = { .options = options, .nb_threads = nb_threads, .device = device,
                        .upload = backend == CASE_FRAMES, .behind = behind };

    return test_open_graph(g, &r, first);
}

/*
 * Drops the output of the sink.
 * @param max maximum number of frames
 * @return 0 or an error; EAGAIN and EOF are no errors
 */
static int drain(TestGraph *g, int max, int *nb_out)
{
    AVFrame *out = test_alloc(av_frame_alloc());
    int ret = 0;

    while (max-- > 0 && (ret = av_buffersink_get_frame(g->sink, out)) >= 0) {
        av_frame_unref(out);
        ++*nb_out;
    }
    av_frame_free(&out);
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

/* Sends many frames through one graph. */
static int run_long(enum CaseBackend backend, const char *algo, int nb_frames, AVBufferRef *device)
{
    enum { W = 22, H = 16 };
    const TestPicture first = { .w = W, .h = H, .format = AV_PIX_FMT_YUV420P };
    const int look = FFMIN(1000, nb_frames / 2);
    Usage early = { 0 }, late = { 0 };
    char options[256], what[256];
    TestGraph g;
    int ret, nb_out = 0;

    long_options(options, sizeof(options), backend, algo);
    ret = open_long_graph(&g, &first, options, 2, backend, device);
    if (ret == AVERROR(ENOSYS))
        return 0;
    for (int i = 0; i < nb_frames && ret >= 0; i++) {
        AVFrame *in = noise_frame(W, H, first.format, i);

        ret = av_buffersrc_add_frame(g.src, in);
        av_frame_free(&in);
        if (ret >= 0)
            ret = drain(&g, INT_MAX, &nb_out);
        if (i > look - 32 && i <= look)
            lower(&early, usage(backend != CASE_CPU));
        if (test_verbose && i % 10000 == 9999)
            printf("  frame %d: %"PRId64" bytes\n", i + 1, usage(0).host);
        if (i >= nb_frames - 32)
            lower(&late, usage(backend != CASE_CPU));
    }
    /* frames in flight must be output at the end */
    if (ret >= 0)
        ret = av_buffersrc_add_frame(g.src, NULL);
    if (ret >= 0)
        ret = drain(&g, INT_MAX, &nb_out);
    if (ret == AVERROR_EOF)
        ret = 0;
    snprintf(what, sizeof(what), "%d frames, %s, %s%s%s", nb_frames, case_backends[backend], algo,
             behind ? "," : "", behind ? behind : "");
    if (ret < 0 || nb_out < nb_frames) {
        fprintf(stderr, "%s: %s after %d frames\n", what, av_err2str(ret), nb_out);
        ret = 1;
    } else {
        ret = check_usage(what, early, late, backend);
    }
    avfilter_graph_free(&g.graph);
    return ret;
}

/* Opens many graphs and closes them at random times. */
static int run_teardown(enum CaseBackend backend, const char *algo, int nb, uint64_t seed,
                        AVBufferRef *device)
{
    TestRandom d = { .state = seed };
    Usage early = { 0 };
    char options[256], what[256];
    int ret = 0, nb_out = 0;

    for (int i = 0; i < nb; i++) {
        const TestPicture first = { .w = 2 + 2 * test_draw(&d, 12), .h = 2 + 2 * test_draw(&d, 12),
                                  .format = AV_PIX_FMT_YUV420P };
        const int nb_in = test_draw(&d, 9), nb_pulls = test_draw(&d, 9);
        int threads;
        TestGraph g;

        long_options(options, sizeof(options), backend, algo);
        av_strlcatf(options, sizeof(options), ":async_depth=%d", 1 + (int)test_draw(&d, 6));
        threads = 1 + test_draw(&d, 3);
        ret = open_long_graph(&g, &first, options, threads, backend,
                              test_draw(&d, 2) || backend == CASE_FRAMES ? device : NULL);
        if (ret == AVERROR(ENOSYS))
            return 0;
        for (int j = 0; j < nb_in && ret >= 0; j++) {
            AVFrame *in = noise_frame(first.w, first.h, first.format, j);

            ret = av_buffersrc_add_frame(g.src, in);
            av_frame_free(&in);
            if (ret >= 0 && j < nb_pulls)
                ret = drain(&g, 1, &nb_out);
        }
        if (ret >= 0 && !test_draw(&d, 4))
            ret = av_buffersrc_add_frame(g.src, NULL);
        avfilter_graph_free(&g.graph);
        if (ret < 0)
            break;
        if (i + 1 == nb / 4)
            early = usage(backend != CASE_CPU);
    }
    snprintf(what, sizeof(what), "%d graphs torn down, %s, %s, seed %"PRIu64, nb,
             case_backends[backend], algo, seed);
    if (ret < 0)
        fprintf(stderr, "%s: %s\n", what, av_err2str(ret));
    else
        ret = check_usage(what, early, usage(backend != CASE_CPU), backend);
    return ret && ret != AVERROR(ENOSYS);
}

/* Changes size and format of the pictures of one graph all the time. */
static int run_changes(enum CaseBackend backend, const char *algo, int nb, uint64_t seed)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_P010LE, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV444P16BE,
    };
    TestRandom d = { .state = seed };
    TestPicture now = { .w = 16, .h = 16, .format = AV_PIX_FMT_YUV420P };
    Usage early = { 0 };
    char options[256], what[256];
    int ret, nb_in = 0, nb_out = 0;
    TestGraph g;

    long_options(options, sizeof(options), backend, algo);
    ret = open_long_graph(&g, &now, options, 2, backend, NULL);
    for (int i = 0; i < nb && ret >= 0; i++) {
        /* memory is measured twice, with the same picture */
        const int look = i + 1 == nb / 4 || i + 1 == nb;
        const int old_w = now.w;

        do {
            now.w = 1 + test_draw(&d, look ? 2 : 24);
        } while (now.w == old_w);
        now.h      = look ? 20 : 1 + test_draw(&d, 24);
        now.format = formats[look ? 0 : test_draw(&d, FF_ARRAY_ELEMS(formats))];
        for (int j = look ? 3 : test_draw(&d, 3); j >= 0 && ret >= 0; j--) {
            AVFrame *in = noise_frame(now.w, now.h, now.format, nb_in++);

            ret = av_buffersrc_add_frame(g.src, in);
            av_frame_free(&in);
            if (ret >= 0)
                ret = drain(&g, INT_MAX, &nb_out);
        }
        if (i + 1 == nb / 4)
            early = usage(backend != CASE_CPU);
    }
    snprintf(what, sizeof(what), "%d changes, %s, %s, seed %"PRIu64, nb, case_backends[backend],
             algo, seed);
    if (ret == AVERROR(ENOSYS))
        ret = 0;
    else if (ret < 0 || nb_out < nb_in - 8)
        fprintf(stderr, "%s: %s, %d frames of %d\n", what, av_err2str(ret), nb_out, nb_in);
    else
        ret = check_usage(what, early, usage(backend != CASE_CPU), backend);
    avfilter_graph_free(&g.graph);
    return !!ret;
}

/*
 * Makes every call of the driver fail once, in one process. A run must end with an error or correct
 * vectors; a later run without failures must give correct vectors.
 */
static int run_failures(int algo, const char *folder)
{
    unsigned long long (*fail)(unsigned long long n) =
        (unsigned long long (*)(unsigned long long))test_driver_function("gpume_standin_fail");
    CaseLimits l = { .folder = folder };
    Case c = {
        .s = { .algo = algo, .block = 8, .range = 6, .nb = 4 }, .dir = 3, .async_depth = 3,
        .metadata = 1, .file = TEST_NPY, .nb_threads = 2, .close_after = -1,
    };
    int ret = 0, nb = 0, nb_errors = 0;

    if (!fail) {
        fprintf(stderr, "only the stand-in for the driver lets calls fail\n");
        return 1;
    }
    for (int i = 0; i < c.s.nb; i++)
        c.s.pics[i] = (TestPicture){ .w = 28, .h = 16, .format = AV_PIX_FMT_GRAY8, .pts = i,
                                     .keep = i & 1 };
    c.s.smooth = test_default(algo, "smooth");
    c.s.check  = test_default(algo, "check");
    c.s.pel    = test_default(algo, "pel");
    test_set_dir(&c.s, c.dir, 1);
    test_samples(&c.s, TEST_MOTION, 1, 4);
    test_expect(&c.s);

    for (int n = 0, more = 1; more && !ret; n++) {
        /* the first run has no failure; later runs have one each, and are followed by a run without */
        for (int failing = !!n; failing >= 0 && !ret; failing--) {
            unsigned long long made;
            TestRun r;

            fail(failing ? n : 0);
            run_case_on(&c, &l, CASE_CUDA, &r);
            made = fail(0);
            if (!n && r.ret == AVERROR(ENOSYS)) {
                more = 0;
            } else if (r.wrong[0] || (!failing && r.ret < 0)) {
                fprintf(stderr, "%s: call %d of the driver %s: %s\n", test_algos[algo], n,
                        failing ? "fails" : "has failed", r.wrong[0] ? r.wrong : av_err2str(r.ret));
                ret = 1;
            }
            if (failing) {
                more       = made >= n;
                nb        += more;
                nb_errors += r.ret < 0;
            }
        }
    }
    if (nb && !nb_errors)
        ret = 1;
    printf("%s: %d calls of the driver failed in turn, %d runs ended with an error: %s\n",
           test_algos[algo], nb, nb_errors, ret ? "not all is well" : "fine");
    test_free_stream(&c.s);
    return ret;
}

/* Allocates all memory of the device but the given amount until it is stopped. */
static int hog(int left)
{
    size_t available = 0, total = 0, taken = 0, chunk = (size_t)256 << 20;
    unsigned long long p;

    if (!open_driver() || driver.push(driver.ctx)) {
        printf("gpume_soak: there is no CUDA device\n");
        return 1;
    }
    while (!driver.get_info(&available, &total) && available > (size_t)left << 20 && chunk >= 1 << 20) {
        if (available < chunk + ((size_t)left << 20) || driver.alloc(&p, chunk))
            chunk /= 2;
        else
            taken += chunk;
    }
    printf("taken %zu MiB, %zu MiB of %zu are left\n", taken >> 20, available >> 20, total >> 20);
    for (;;)
        pause();
}

/*
 * Restarts the program without malloc's cache for each thread, because cached memory counts as
 * allocated.
 */
static void restart_without_cache(char **argv)
{
    static const char setting[] = "glibc.malloc.tcache_count=0";
    const char *now = getenv("GLIBC_TUNABLES");

    if (now && strstr(now, setting))
        return;
    setenv("GLIBC_TUNABLES", setting, 1);
    execv("/proc/self/exe", argv);
}

static int usage_error(void)
{
    printf("usage: gpume_soak [-seconds N] [-cases N] [-seed N] [-threads N] [-side N]\n"
           "                  [-backends cpu,cuda,frames] [-v]\n"
           "       gpume_soak -long FRAMES | -teardown N | -changes N | -failures 1 [-algo NAME|all] [-seed N] ...\n"
           "                  [-behind FILTERS]   (with -long and -teardown, separated by commas)\n"
           "       gpume_soak -hog MIB   (takes all memory of the GPU but so much)\n"
           "Without a GPU or the stand-in for its driver only the CPU is tested.\n");
    return 2;
}

int main(int argc, char **argv)
{
    Soak s = {
        .limits = { .max_side = 160, .max_work = 12000000, .max_device_work = 300000,
                    .backends = (1 << CASE_NB_BACKENDS) - 1 },
    };
    int seconds = 60, nb_threads = 1, nb_long = 0, nb_teardown = 0, nb_changes = 0, failures = 0;
    const char *algo = "ds";
    int ret = 0, seeded = 0;

#ifdef M_ARENA_MAX
    /* a second arena, made when two threads first allocate at the same time, would count as 2 kB in use */
    mallopt(M_ARENA_MAX, 1);
#endif
    test_init("gpume_soak");
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *value;

        if (!strcmp(arg, "-v")) {
            test_verbose = 1;
            continue;
        }
        if (++i >= argc)
            return usage_error();
        value = argv[i];
        if (!strcmp(arg, "-seconds")) {
            seconds = atoi(value);
        } else if (!strcmp(arg, "-cases")) {
            s.nb_cases = atoll(value);
        } else if (!strcmp(arg, "-seed")) {
            s.seed = strtoull(value, NULL, 10);
            seeded = 1;
        } else if (!strcmp(arg, "-threads")) {
            nb_threads = av_clip(atoi(value), 1, 64);
        } else if (!strcmp(arg, "-side")) {
            s.limits.max_side = av_clip(atoi(value), 2, 4096);
        } else if (!strcmp(arg, "-long")) {
            nb_long = atoi(value);
        } else if (!strcmp(arg, "-teardown")) {
            nb_teardown = atoi(value);
        } else if (!strcmp(arg, "-changes")) {
            nb_changes = atoi(value);
        } else if (!strcmp(arg, "-hog")) {
            return !(s.device = test_open_device()) || hog(atoi(value));
        } else if (!strcmp(arg, "-failures")) {
            failures = atoi(value);
        } else if (!strcmp(arg, "-algo")) {
            algo = value;
        } else if (!strcmp(arg, "-behind")) {
            behind = value;
        } else if (!strcmp(arg, "-backends")) {
            s.limits.backends = case_backends_of(value);
        } else {
            return usage_error();
        }
    }
    if (nb_long || nb_teardown || nb_changes)
        restart_without_cache(argv);
    if (!seeded)
        s.seed = av_get_random_seed();

    if (s.limits.backends & ~(1 << CASE_CPU) && !(s.device = test_open_device())) {
        printf("gpume_soak: there is no CUDA device\n");
        s.limits.backends &= 1 << CASE_CPU;
    }
    if (!s.limits.backends)
        return 1;

    s.folder = test_make_folder("gpume_soak");
    for (int i = 0; i < GPUME_NB_ALGOS; i++) {
        if (strcmp(algo, "all") && strcmp(algo, test_algos[i]))
            continue;
        if (failures && s.device)
            ret |= run_failures(i, s.folder);
        for (int b = 0; b < CASE_NB_BACKENDS; b++) {
            if (!(s.limits.backends & 1 << b))
                continue;
            if (nb_long)
                ret |= run_long(b, test_algos[i], nb_long, s.device);
            if (nb_teardown)
                ret |= run_teardown(b, test_algos[i], nb_teardown, s.seed, s.device);
            if (nb_changes && b != CASE_FRAMES)
                ret |= run_changes(b, test_algos[i], nb_changes, s.seed);
        }
    }
    if (!nb_long && !nb_teardown && !nb_changes && !failures) {
        s.end = av_gettime_relative() + seconds * INT64_C(1000000);
        ret = soak(&s, nb_threads);
    }
    test_remove_folder();
    device_usage(1);
    av_buffer_unref(&s.device);
    return ret;
}
