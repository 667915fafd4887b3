/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the filter through libavfilter's API with hostile input: empty streams, changing sizes,
 * invalid options, full disks, exhausted memory. Each row of a table must end with the correct
 * result, or with an error and a message, and must not leak.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* mkdtemp() */
#endif

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

#include "gpume_harness.h"

/** A part that takes longer than this hangs, even under valgrind. */
#define PART_SECONDS 900

enum Sweep {
    ONCE,
    DISK,               ///< a disk with space for no byte, one byte, two ... until the run succeeds
    DISK_STEPS,         ///< the same with increasing steps
    MEMORY,             ///< allocation N fails, for every N
    MEMORY_AFTER,       ///< allocation N and all later ones fail
};

/**
 * A test case. {A,B} in options, stream and how makes one test for each choice; @ is the folder, #
 * a long name.
 */
typedef struct Row {
    const char *options;    ///< appended to the default options
    const char *stream;     ///< [COUNT*]WIDTHxHEIGHT[:FORMAT] ...
    /**
     * How to run: all: push all frames first; threads=N; pts=none, some or wild; open: close
     * without an end of the stream; close=N: close after N output frames.
     */
    const char *how;
    int code;               ///< 0 or the expected error
    const char *message;    ///< part of the only message that may be logged
    const char *before;     ///< KIND:NAME ...: files that exist before, see prepare()
    const char *after;      ///< files that must exist afterwards, see check_file(); NULL: same as before
    const char *during;     ///< files that are created after the configuration
    const char *call;       ///< name of the function that fails
    int sweep;
    int not_root;
} Row;

static const char *backend = "auto";
/** Whether a real driver is used, whose allocations cannot be distinguished from the filter's. */
static int gpu;
static int quick, nb_choices;
static const char *folder;
static int nb_runs, nb_tried, nb_harmless;

static const char default_options[] = "algo=ds:block=8:range=9:dir=both";

static const char *substitute(char *buf, size_t size, const char *text)
{
    buf[0] = 0;
    for (; *text; text++) {
        if (*text == '@')
            av_strlcat(buf, folder, size);
        else if (*text == '#')
            for (int i = 0; i < 251; i++)
                av_strlcat(buf, "n", size);
        else
            av_strlcatf(buf, size, "%c", *text);
    }
    return buf;
}

/* Files. An entry is KIND:NAME or KIND:NAME=VALUE; it ends at the next entry or at NULL. */

static const char *next_entry(const char **list, char kind[16], char path[512], char value[64])
{
    char name[320], buf[600];
    int len = 0;

    value[0] = 0;
    if (!*list || sscanf(*list, " %15[^:]:%319[^ =]%n", kind, name, &len) < 1 || !len)
        return NULL;
    *list += len;
    if (**list == '=' && sscanf(*list, "=%63s%n", value, &len) == 1)
        *list += len;
    substitute(buf, sizeof(buf), name);
    snprintf(path, 512, "%s/%.320s", folder, strcmp(buf, ".") ? buf : "");
    return path;
}

static int fifo = -1;

static void prepare(const char *list)
{
    char kind[16], path[512], value[64];

    while (next_entry(&list, kind, path, value)) {
        int ret = 0;

        if (!strcmp(kind, "text")) {
            FILE *f = test_alloc(fopen(path, "wb"));

            fputs("as it was", f);
            fclose(f);
        } else if (!strcmp(kind, "dir")) {
            ret = mkdir(path, 0777);
        } else if (!strcmp(kind, "link")) {
            ret = symlink(value, path);
        } else if (!strcmp(kind, "mode")) {
            ret = chmod(path, strtol(value, NULL, 8));
        } else if (!strcmp(kind, "fifo")) {
            ret  = mkfifo(path, 0666);
            fifo = open(path, O_RDWR | O_NONBLOCK);
        } else {
            abort();
        }
        CHECK(!ret, "%s:%s", kind, path);
    }
}

/* Replaces the path of a finished file by its temporary name, which a message must contain. */
static void find_part(char path[512])
{
    const char *name = strrchr(path, '/') + 1;
    const struct dirent *entry;
    char found[512] = "";
    DIR *dir = test_alloc(opendir(folder));

    while ((entry = readdir(dir)))
        if (!strncmp(entry->d_name, name, strlen(name)) && strstr(entry->d_name, ".gpume-part"))
            snprintf(found, sizeof(found), "%s/%.255s", folder, entry->d_name);
    closedir(dir);
    CHECK(found[0], "%s has no part file", path);
    CHECK(strstr(test_errors, found) || strstr(test_warnings, found),
          "no message contains %s: %s%s", found, test_errors, test_warnings);
    snprintf(path, 512, "%s", found);
}

static void check_file(const char *kind, const char *path, const char *value,
                       const TestStream *s, int nb)
{
    AVBPrint text, wanted;
    struct stat st = { 0 };
    const int there = !lstat(path, &st);
    char c;

    CHECK(there, "there is no %s", path);
    if (!strcmp(kind, "dir")) {
        CHECK(S_ISDIR(st.st_mode), "%s is no longer a folder", path);
    } else if (!strcmp(kind, "link")) {
        CHECK(S_ISLNK(st.st_mode), "%s is no longer a link", path);
    } else if (!strcmp(kind, "mode")) {
        CHECK((st.st_mode & 0777) == strtol(value, NULL, 8), "%s has mode %o", path, st.st_mode);
    } else if (!strcmp(kind, "fifo")) {
        CHECK(S_ISFIFO(st.st_mode), "%s is no longer a pipe", path);
        CHECK((read(fifo, &c, 1) == 1) == !strcmp(value, "full"), "%s is not %s", path, value);
    } else {
        const int is_text = !strcmp(kind, "text");
        size_t n = 0;

        test_read_file(&text, path);
        test_expect_file(&wanted, s, is_text                ? TEST_NO_FILE :
                                     !strcmp(kind, "csv")   ? TEST_CSV :
                                     !strcmp(kind, "npy")   ? TEST_NPY :
                                     !strcmp(kind, "npys")  ? TEST_NPYS :
                                     !strcmp(kind, "jsonl") ? TEST_JSONL : TEST_STATS,
                         is_text ? 0 : nb);
        if (is_text)
            av_bprintf(&wanted, "as it was");
        while (n < text.len && n < wanted.len && text.str[n] == wanted.str[n])
            n++;
        CHECK(text.len == wanted.len && n == text.len,
              "%s: %u bytes, expected %u; from byte %zu on '%.40s', expected '%.40s'",
              path, text.len, wanted.len, n, text.str + n, wanted.str + n);
        av_bprint_finalize(&text, NULL);
        av_bprint_finalize(&wanted, NULL);
    }
}

/* Checks that exactly the files of a list exist, and removes them. */
static void check_files(const char *list, const TestStream *s, int nb, int names_only)
{
    char kind[16], path[512], value[64];
    const struct dirent *entry;
    const char *rest = list;
    int nb_wanted = 0, nb_there = 0, nb_parts = 0;
    DIR *dir;

    while (next_entry(&rest, kind, path, value)) {
        const char *of_part = kind;

        if (av_strstart(kind, "part-", &of_part)) {
            find_part(path);
            nb_parts++;
        }
        if (!names_only)
            check_file(of_part, path, value, s, nb);
        nb_wanted += !!strcmp(kind, "mode");
    }
    chmod(folder, 0755);
    if (fifo >= 0)
        close(fifo);
    fifo = -1;

    dir = test_alloc(opendir(folder));
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        if (strstr(entry->d_name, "gpume-part"))
            CHECK(nb_parts-- > 0, "%s was left", entry->d_name);
        snprintf(path, sizeof(path), "%s/%.255s", folder, entry->d_name);
        remove(path);
        nb_there++;
    }
    closedir(dir);
    CHECK(names_only ? nb_there <= nb_wanted : nb_there == nb_wanted, "there are %d files",
          nb_there);
}

/* Streams */

static void parse_stream(TestStream *s, const char *text, const char *how)
{
    static const int64_t pts[][9] = {
        { 5, 8, 11, 14, 17, 20, 23, 26, 29 },
        { 0, AV_NOPTS_VALUE, 2, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 5, 6, 7, 8 },
        { 9, 7, 7, -3, 0, INT64_MAX / 4, 8, 9, 9 },
    };
    const int kind = strstr(how, "pts=some") ? 1 : strstr(how, "pts=wild") ? 2 : 0;
    int len;

    s->nb = 0;
    for (; *text; text += len) {
        char format[32] = "gray";
        int count = 1, w, h;

        len = 0;
        if (sscanf(text, "%d*%n", &count, &len) < 1 || !len)
            count = 1;
        else
            text += len;
        len = 0;
        if (sscanf(text, "%dx%d%n:%31[^ ]%n", &w, &h, &len, format, &len) < 2)
            abort();
        len += strspn(text + len, " ");
        /* an empty stream has a format, too */
        s->pics[0].w      = s->nb ? s->pics[0].w : w;
        s->pics[0].h      = s->nb ? s->pics[0].h : h;
        s->pics[0].format = s->nb ? s->pics[0].format : av_get_pix_fmt(format);
        while (count-- > 0) {
            s->pics[s->nb] = (TestPicture){
                .w = w, .h = h, .format = av_get_pix_fmt(format),
                .pts = strstr(how, "pts=none") ? AV_NOPTS_VALUE : pts[kind][s->nb % 9],
            };
            s->nb++;
        }
    }
}

static int number(const char *how, const char *key, int otherwise)
{
    const char *at = strstr(how, key);

    return at ? atoi(at + strlen(key)) : otherwise;
}

static void check_end(const TestRun *r, int code, const char *message)
{
    nb_runs++;
    CHECK(r->ret == code, "%s, expected %s: %s", r->ret < 0 ? av_err2str(r->ret) : "success",
          code ? av_err2str(code) : "success", test_errors);
    CHECK(!r->wrong[0], "%s", r->wrong);
    CHECK(strstr(test_errors, message ? message : ""), "'%s' does not have '%s'",
          test_errors, message);
    CHECK(test_nb_errors == !!code, "%d messages: %s", test_nb_errors, test_errors);
}

static struct {
    const Row *row;
    int fail_at, fail_after;
} now;

static void at_stage(void *opaque, const char *stage)
{
    if (now.fail_at >= 0 && !strcmp(stage, "configuration"))
        test_fail_allocation(now.fail_at, now.fail_after);
    if (!strcmp(stage, "frames"))
        prepare(now.row->during);
}

/* Runs a row with a disk of increasing size. */
static void sweep_disk(const Row *row, TestRun *r, const TestStream *s)
{
    struct rlimit limit, old;
    off_t room;

    getrlimit(RLIMIT_FSIZE, &old);
    for (room = 0;; room += row->sweep == DISK ? 1 : 1 + room / 3) {
        prepare(row->before);
        test_forget_log();
        limit = old;
        limit.rlim_cur = room;
        setrlimit(RLIMIT_FSIZE, &limit);
        test_run(r, s);
        setrlimit(RLIMIT_FSIZE, &old);
        if (r->ret >= 0)
            break;
        check_end(r, AVERROR(EFBIG), row->message);
        check_files(row->before, s, 0, 0);
        nb_tried++;
    }
    check_end(r, 0, NULL);
    CHECK(room > 100, "there was room in %d bytes", (int)room);
    if (row->sweep == DISK) {
        char kind[16], path[512], value[64];
        const char *list = row->after;
        struct stat st;
        off_t size = 0;

        while (next_entry(&list, kind, path, value))
            if (!stat(path, &st))
                size = FFMAX(size, st.st_size);
        CHECK(room == size, "there was room in %d bytes for %d", (int)room, (int)size);
    }
    check_files(row->after, s, r->nb_out, 0);
}

/* Returns whether allocation i of nb is the first, second or last at its call site; with -quick only the first. */
static int is_tested(const uint64_t *sites, int nb, int i)
{
    int nb_before = 0, nb_after = 0;

    for (int j = 0; j < nb; j++)
        if (sites[j] == sites[i])
            (*(j < i ? &nb_before : &nb_after))++;
    return quick ? !nb_before : nb_before < 2 || nb_after == 1;
}

/*
 * Runs a row with failing allocations. Each run must end with an error, or with the correct result
 * if FFmpeg can continue without the memory, as when realloc() fails to shrink a string.
 */
static void sweep_memory(const Row *row, TestRun *r, const TestStream *s)
{
    const uint64_t *noted;
    uint64_t *sites = NULL;
    int nb = 1, failed = 1;

    now.fail_after = row->sweep == MEMORY_AFTER;
    for (int n = 0; failed; n++) {
        const int outstanding = test_nb_outstanding;

        /* not all allocations of a call site are tested; those beyond nb are new */
        while (n > 0 && n <= nb && !is_tested(sites, nb, n - 1))
            n++;
        now.fail_at = n;
        prepare(row->before);
        test_forget_log();
        test_run(r, s);
        failed = !n || test_nb_failed;
        CHECK(test_nb_outstanding == outstanding, "allocation %d%s fails: %d buffers leaked", n,
              now.fail_after ? " and all after it" : "", test_nb_outstanding - outstanding);
        if (!n) {
            nb    = test_allocation_sites(&noted);
            sites = test_alloc(malloc(nb * sizeof(*sites)));
            memcpy(sites, noted, nb * sizeof(*sites));
        } else {
            test_fail_allocation(0, 0);
        }
        nb_runs++;
        nb_tried    += n && failed;
        nb_harmless += n && failed && r->ret >= 0;
        CHECK((n && failed) || r->ret >= 0, "allocation %d of %d: %s", n, nb, av_err2str(r->ret));
        CHECK(!n || !now.fail_after || !failed || r->ret < 0, "allocation %d failed, but the run succeeded", n);
        CHECK(!r->wrong[0], "allocation %d fails: %s", n, r->wrong);
        /* if other allocations have failed and the graph was closed, files of the output frames exist */
        check_files(row->after, s, r->nb_out, r->ret < 0);
    }
    now.fail_at = -1;
    free(sites);
}

static void run_choice(const void *opaque, const char *text)
{
    const Row *row = opaque;
    char options[1024] = "", stream[256] = "", how[128] = "", buf[1024];
    TestStream s = { 0 };
    TestRun r = { .options = buf, .at = at_stage };
    AVFrame *frames[TEST_MAX_PICTURES] = { NULL };

    sscanf(text, "%1023[^|]|%255[^|]|%127[^|]", options, stream, how);
    snprintf(buf, sizeof(buf), "%s:backend=%s", default_options, backend);
    if (options[1])
        substitute(buf + strlen(buf), sizeof(buf) - strlen(buf), options);
    snprintf(test_context, sizeof(test_context), "%s, frames %s, %s%s%s", buf, stream, how,
             row->before ? ", with " : "", row->before ? row->before : "");
    if (row->not_root && !geteuid())
        return;
    /* tests the first choice of a row, and one of 7 others: choices come in twos, threes and fives */
    if (quick && nb_choices++ % 7)
        return;

    parse_stream(&s, stream, how);
    test_parse_options(&s, buf);
    test_samples(&s, TEST_MOTION, 11, 4);
    test_expect(&s);
    r.nb_threads  = number(how, "threads=", 1);
    r.feed_all    = !!strstr(how, "all");
    r.no_end      = !!strstr(how, "open");
    r.closes      = !!strstr(how, "close=");
    r.close_after = number(how, "close=", 0);
    now.row       = row;
    if (row->sweep) {
        for (int i = 0; i < s.nb; i++)
            frames[i] = test_frame(&s.pics[i]);
        r.frames = frames;
        (row->sweep == DISK || row->sweep == DISK_STEPS ? sweep_disk : sweep_memory)(row, &r, &s);
        for (int i = 0; i < s.nb; i++)
            av_frame_free(&frames[i]);
    } else {
        prepare(row->before);
        test_forget_log();
        test_nb_calls_failed = 0;
        test_failing_call    = row->call;
        test_run(&r, &s);
        test_failing_call    = NULL;
        check_end(&r, row->code, row->message);
        CHECK(!row->call || test_nb_calls_failed, "%s() was not called", row->call);
        check_files(row->after ? row->after : row->before, &s, r.nb_out, 0);
    }
    test_free_stream(&s);
}

static void run_row(const Row *row)
{
    char text[1024];

    snprintf(text, sizeof(text), ":%s|%s|%s ", row->options, row->stream,
             row->how ? row->how : "");
    nb_choices = 0;
    test_each_choice(text, run_choice, row);
}

/* The tables. A part ends with a row without a stream. */

#define ALL_DIRS "dir={past,future,both}"
/** Searches with all kinds of processing of their vectors. */
#define MOTION   "{algo=hme,algo=hme:sweeps=3:levels=2,algo=epzs:smooth=2:check=1:pel=4," \
                 "algo=fs:check=1,algo=ds:smooth=9:pel=2,algo=ds:cost=satd:smooth=1}"

/** Blocks of several sizes. */
#define TREES    "tree=1:{algo=hme:block=8:tree_max=32,algo=fs:block=4:tree_max=16:lambda=50," \
                 "algo=epzs:smooth=2:check=1:pel=4:block=8:qp=35,algo=ds:cost=satd:block=32:lambda=0}"

static const Row streams[] = {
    { "algo={ds,epzs}:" ALL_DIRS ":async_depth={1,2,5,64}", "{0,1,2,3,9}*26x19:yuv420p",
      "{all,} {threads=3,}" },
    { "algo={fs,umh}:" ALL_DIRS ":async_depth={1,5}", "3*26x19:yuv420p", "{all,} threads=3" },
    { MOTION ":" ALL_DIRS ":async_depth={1,5}", "{0,1,2,5}*26x19:yuv420p", "{all,} threads=3" },
    { TREES ":" ALL_DIRS ":async_depth={1,5}:metadata=1", "{0,1,2,5}*76x49:yuv420p", "{all,} threads=3" },
    { NULL }
};

static const Row timestamps[] = {
    { "{algo=ds,algo=hme,algo=fs:cost=satd}:metadata=1:" ALL_DIRS, "6*40x24", "pts={none,some,wild}" },
    { NULL }
};

#define ALGOS "algo={ds,fs,epzs,umh}:metadata=1"

static const Row sizes[] = {
    { ALGOS ":block=4:range=1",      "3*1x1:{gray,gray16be}" },
    { ALGOS ":block=128:range=1024", "3*1x1:{gray,gray16be}" },
    { ALGOS ":block=16:range=16",    "3*{1x70,70x1}:{gray,gray16be}" },
    { ALGOS ":block=64:range=16",    "3*3x2:{gray,gray16be}" },
    { ALGOS ":block=128:range=16",   "3*100x90:{gray,gray16be}" },
    { ALGOS ":block=16:range=1024",  "3*17x33:{gray,gray16be}" },
    { ALGOS ":block=128:range=3",    "3*130x6:{gray,gray16be}" },
    { MOTION ":block={4,128}:range=1024:metadata=1", "3*{1x1,1x70,70x1,3x2,33x17}:{gray,gray16be}" },
    { TREES ":range=1024:metadata=1", "3*{1x1,1x70,70x1,3x2,33x17,64x64,65x66}:{gray,gray16be}" },
    { TREES ":range=3:dir=past", "2*{31743x1,1x31743}:{gray,gray16be}" },
    /* the largest sides */
    { ALGOS ":block=64:range=3:dir=past",  "2*31743x1:{gray,gray16be}" },
    { ALGOS ":block=128:range=3:dir=past", "2*1x31743:{gray,gray16be}" },
    { "algo=hme:block=128:range=3:dir=past", "2*{31743x1,1x31743}:{gray,gray16be}" },
    /* larger sides, also in mid-stream */
    { "", "2*{31744x1,1x31744,40000x2}", NULL, AVERROR(EINVAL), "31743" },
    { "", "8x8 {31744x1,1x31744,40000x2}", NULL, AVERROR(EINVAL), "31743" },
    { NULL }
};

/* the second search predicts from previous pictures, but not across a change */
#define CHANGES "algo={ds,epzs}:" ALL_DIRS ":async_depth={1,64}"

static const Row changes[] = {
    { CHANGES, "3*40x30 2*64x50 9x70 3*40x30", "{all,}" },
    /* every frame changes */
    { CHANGES, "20x20 21x20 20x21 1x1 20x20 300x4", "{all,}" },
    /* only one side changes */
    { CHANGES, "2*30x20 2*30x41 2*51x41 30x41 30x20", "{all,}" },
    { MOTION ":" ALL_DIRS, "3*40x30 2*64x50 9x70 3*40x30 20x20 21x20 20x21 1x1 2*20x20", "{all,}" },
    { TREES ":" ALL_DIRS, "3*40x30 2*64x50 9x70 3*40x30 20x20 21x20 20x21 1x1 2*20x20", "{all,}" },
    /* only the format changes */
    { CHANGES, "2*33x17:yuv420p 2*33x17:p010le 2*33x17:p010be 2*33x17:nv12 2*33x17:gray16le",
      "{all,}" },
    { MOTION, "2*33x17:yuv420p 2*33x17:p010le 2*33x17:gray16le" },
    /* a format that no search supports */
    { "", "3*32x32 32x32:rgb565le", NULL, AVERROR(EINVAL), "rgb565le" },
    { NULL }
};

static const Row teardown[] = {
    { "async_depth=4:" ALL_DIRS, "{0,1,2,3,4,5}*48x32:p010le",
      "open threads=2 close={0,1,2,3,4,5}" },
    { "algo=hme:async_depth=4:" ALL_DIRS, "{0,1,2,5}*48x32:p010le", "open threads=2 close={0,1,2,5}" },
    { NULL }
};

#define SIZES "{33x20,1x1,64x64}:yuv420p10le"

static const Row files[] = {
    { ALL_DIRS ":mv_file=@/v.csv:stats_file=@/stats", "{0,1,4}*" SIZES, "pts={some,usual}",
      .after = "csv:v.csv stats:stats" },
    { ALL_DIRS ":mv_file=@/V.NPY", "{0,1,4}*" SIZES, .after = "npy:V.NPY" },
    { ALL_DIRS ":stats_file=@/s.JSONL", "{0,1,4}*" SIZES, "pts={some,usual,none}", .after = "jsonl:s.JSONL" },
    /* a format that does not follow from the name */
    { ALL_DIRS ":mv_file=@/v.NPYS", "{0,1,4}*" SIZES, "pts={some,usual,none,wild}", .after = "npys:v.NPYS" },
    { "mv_file=@/vectors:mv_format=npys", "4*" SIZES, .after = "npys:vectors" },
    { "mv_file=@/vectors:mv_format=csv:stats_file=@/s:stats_format=jsonl", "4*" SIZES,
      .after = "csv:vectors jsonl:s" },
    { "mv_file=@/v.csv:mv_format=npy:stats_file=@/s.jsonl:stats_format=text", "4*" SIZES,
      .after = "npy:v.csv stats:s.jsonl" },
    { "mv_file=@/v.npy:mv_format=auto:stats_file=@/s.jsonl:stats_format=auto", "4*" SIZES,
      .after = "npy:v.npy jsonl:s.jsonl" },
    { MOTION ":" ALL_DIRS ":mv_file=@/v.csv:stats_file=@/stats", "4*" SIZES,
      .after = "csv:v.csv stats:stats" },
    { MOTION ":" ALL_DIRS ":mv_file=@/v.npy", "4*" SIZES, .after = "npy:v.npy" },
    { TREES ":" ALL_DIRS ":mv_file=@/v.csv:stats_file=@/stats", "4*" SIZES, "pts={some,usual}",
      .after = "csv:v.csv stats:stats" },
    { TREES ":" ALL_DIRS ":stats_file=@/s.jsonl", "4*" SIZES, .after = "jsonl:s.jsonl" },
    { TREES ":" ALL_DIRS ":mv_file=@/v.npy", "{0,1,4}*" SIZES, .after = "npy:v.npy" },
    { MOTION ":" ALL_DIRS ":mv_file=@/v.npys", "4*" SIZES, .after = "npys:v.npys" },
    { TREES ":" ALL_DIRS ":mv_file=@/v.npys", "{0,1,4}*" SIZES, .after = "npys:v.npys" },
    /* the size changes */
    { "mv_file=@/v.csv:stats_file=@/stats", "3*40x24 3*60x60", .after = "csv:v.csv stats:stats" },
    { "mv_file=@/v.npys", "3*40x24 3*60x60", .after = "npys:v.npys" },
    { "mv_file=@/v.npy", "3*40x24 3*60x60", .code = AVERROR(EINVAL), .message = ".npy" },
    /* continues while the number of blocks stays the same */
    { "mv_file=@/v.npy", "3*40x24 3*33x17", .after = "npy:v.npy" },
    { NULL }
};

#define BIG "4*200x200"

static const Row bad_files[] = {
    { "{mv_file=@/missing/v.csv,mv_file=@/missing/v.npy,stats_file=@/missing/s}", BIG,
      .code = AVERROR(ENOENT), .message = "missing" },
    { "mv_file=@/v.csv",  BIG, .code = AVERROR(EISDIR), .message = "v.csv", .before = "dir:v.csv" },
    { "mv_file=@/v.npy",  BIG, .code = AVERROR(EISDIR), .message = "v.npy", .before = "dir:v.npy" },
    { "stats_file=@/log", BIG, .code = AVERROR(EISDIR), .message = "log",   .before = "dir:log" },
    /* the disk is full from the start */
    { "mv_file=@/v.csv",  BIG, .code = AVERROR(ENOSPC), .message = "v.csv",
      .before = "link:v.csv=/dev/full" },
    { "mv_file=@/v.npy",  BIG, .code = AVERROR(ENOSPC), .message = "v.npy",
      .before = "link:v.npy=/dev/full" },
    { "stats_file=@/log", BIG, .code = AVERROR(ENOSPC), .message = "log",
      .before = "link:log=/dev/full" },
    /*
     * The disk becomes full at some position. Tested on the CPU only: files do not depend on the
     * backend, and a device is slow.
     */
    { "backend=cpu:mv_file=@/v.csv",  BIG, .message = "v.csv", .after = "csv:v.csv", .sweep = DISK_STEPS },
    { "backend=cpu:mv_file=@/v.npy",  BIG, .message = "v.npy", .after = "npy:v.npy", .sweep = DISK_STEPS },
    { "backend=cpu:mv_file=@/v.npys", BIG, .message = "v.npys", .after = "npys:v.npys", .sweep = DISK_STEPS },
    { "backend=cpu:stats_file=@/log", BIG, .message = "log",   .after = "stats:log", .sweep = DISK_STEPS },
    /* .npy must be seekable, .csv need not be; the data fits into the pipe */
    { "mv_file=@/pipe.npy", "4*40x40", .code = AVERROR(ESPIPE), .message = "pipe.npy",
      .before = "fifo:pipe.npy", .after = "fifo:pipe.npy=empty" },
    { "mv_file=@/pipe:mv_format=npy", "4*40x40", .code = AVERROR(ESPIPE), .message = "mv_format=npys or csv",
      .before = "fifo:pipe", .after = "fifo:pipe=empty" },
    { "mv_file=@/pipe.npys", "4*40x40", .before = "fifo:pipe.npys", .after = "fifo:pipe.npys=full" },
    { "mv_file=@/pipe.csv", "4*40x40", .before = "fifo:pipe.csv", .after = "fifo:pipe.csv=full" },
    { "mv_file=@/pipe", "4*40x40", .before = "fifo:pipe", .after = "fifo:pipe=full" },
    /* two spellings of one name, one of them through a link */
    { "mv_file=@/v.csv:stats_file=@/./v.csv", BIG, .code = AVERROR(EINVAL), .message = "/./v.csv" },
    { "mv_file=@/v.csv:stats_file=@/l", BIG, .code = AVERROR(EINVAL), .message = "v.csv",
      .before = "text:v.csv link:l=v.csv" },
    { "mv_file=@/pipe:stats_file=@/./pipe", BIG, .code = AVERROR(EINVAL), .message = "/./pipe",
      .before = "fifo:pipe", .after = "fifo:pipe=empty" },
    /* a descriptor that is not open */
    { "mv_file=/dev/fd/999", BIG, .code = AVERROR(EBADF), .message = "/dev/fd/999" },
    { NULL }
};

/*
 * The disk is full at each byte of the output. There is no new file, and an old file stays
 * unchanged. With one more byte the file is complete.
 */
#define SMALL "backend=cpu:"

static const Row full_disks[] = {
    { SMALL "mv_file=@/v.csv",   "3*24x16", .message = "v.csv", .after = "csv:v.csv", .sweep = DISK },
    { SMALL "mv_file=@/v.csv",   "3*24x16", .message = "v.csv", .after = "csv:v.csv", .sweep = DISK,
      .before = "text:v.csv" },
    { SMALL "mv_file=@/v.npy",   "3*24x16", .message = "v.npy", .after = "npy:v.npy", .sweep = DISK },
    { SMALL "mv_file=@/v.npy",   "3*24x16", .message = "v.npy", .after = "npy:v.npy", .sweep = DISK,
      .before = "text:v.npy" },
    { SMALL "stats_file=@/log",  "3*24x16", .message = "log",   .after = "stats:log", .sweep = DISK },
    { SMALL "stats_file=@/log",  "3*24x16", .message = "log",   .after = "stats:log", .sweep = DISK,
      .before = "text:log" },
    /* both files are complete, or neither exists */
    { SMALL "mv_file=@/v.csv:stats_file=@/log", "3*24x16", .after = "csv:v.csv stats:log", .sweep = DISK },
    { SMALL "mv_file=@/v.csv:stats_file=@/log", "3*24x16", .after = "csv:v.csv stats:log", .sweep = DISK,
      .before = "text:v.csv text:log" },
    { NULL }
};

#define NEW_FILES "mv_file=@/v.csv:stats_file=@/log:overwrite=0"

static const Row whole_files[] = {
    /* with overwrite=0, an existing file is an error before anything is searched */
    { NEW_FILES, "4*40x24", .code = AVERROR(EEXIST), .message = "log",   .before = "text:log" },
    { NEW_FILES, "4*40x24", .code = AVERROR(EEXIST), .message = "v.csv", .before = "text:v.csv" },
    { NEW_FILES, "4*40x24", .code = AVERROR(EEXIST), .message = "v.csv", .before = "text:v.csv text:log" },
    { NEW_FILES, "4*40x24", .after = "csv:v.csv stats:log" },
    /* a file that is created during the search is not overwritten either */
    { "mv_file=@/v.csv:overwrite=0", "40x24", .code = AVERROR(EEXIST), .message = "v.csv",
      .during = "text:v.csv", .after = "text:v.csv part-csv:v.csv" },
    /* a graph that is closed before the first frame changes no file; later it keeps its output */
    { "mv_file=@/v.csv", "0*40x24", "open", .before = "text:v.csv" },
    { "mv_file=@/v.csv:dir=past", "{1,2,3}*40x24", "open", .before = "text:v.csv", .after = "csv:v.csv" },
    /* permissions are kept; a file that is not writable is not replaced */
    { "mv_file=@/v.npy", "4*40x24", .after = "npy:v.npy mode:v.npy=640" },
    { "mv_file=@/v.npy", "4*40x24", .before = "text:v.npy mode:v.npy=604",
      .after = "npy:v.npy mode:v.npy=604" },
    { "mv_file=@/v.npy", "4*40x24", .code = AVERROR(EACCES), .message = "v.npy",
      .before = "text:v.npy mode:v.npy=444", .not_root = 1 },
    { "mv_file=@/v.npy", "4*40x24", .code = AVERROR(EACCES), .message = "v.npy",
      .before = "mode:.=555", .not_root = 1 },
    /* the target of a link is replaced */
    { "mv_file=@/link.npy", "4*40x24", .before = "text:v.npy link:link.npy=v.npy",
      .after = "npy:v.npy link:link.npy" },
    /* the longest possible name */
    { "mv_file=@/#.npy", "4*40x24", .after = "npy:#.npy" },
    { "mv_file=@/#n.npy", "4*40x24", .code = AVERROR(ENAMETOOLONG), .message = "Could not open" },
    /* each function that handles files fails */
    { "mv_file=@/v.csv",  "4*40x24", .code = AVERROR(EIO), .message = "v.csv", .call = "rename",
      .after = "part-csv:v.csv" },
    { "mv_file=@/v.npy:stats_file=@/log", "4*40x24", .code = AVERROR(EIO), .message = "v.npy", .call = "rename",
      .before = "text:log", .after = "text:log part-npy:v.npy part-stats:log" },
    { "mv_file=@/v.{csv,npy}", "4*40x24", .code = AVERROR(ENOMEM), .message = "v.", .call = "fdopen" },
    { "mv_file=@/v.{csv,npy}:overwrite={0,1}", "4*40x24", .code = AVERROR(EDQUOT), .message = "v.",
      .call = "fclose" },
    /* some file systems have no links */
    { "mv_file=@/v.npy:overwrite=0", "4*40x24", .after = "npy:v.npy", .call = "link" },
    { "mv_file=@/v.npy:overwrite=0", "40x24", .code = AVERROR(EPERM), .message = "v.npy",
      .during = "text:v.npy", .after = "text:v.npy part-npy:v.npy", .call = "link" },
    { NULL }
};

#define CHANGE "3*16x8:gray16be 2*12x8:gray16be"
#define CSV_AND_STATS "metadata=1:mv_file=@/v.csv:stats_file=@/log"

static const Row memory[] = {
    { "dir=past", "5*16x8", .sweep = MEMORY },
    { "dir=past", "5*16x8", .sweep = MEMORY_AFTER },
    { "", CHANGE, "threads=3", .sweep = MEMORY },
    { "", CHANGE, "threads=3", .sweep = MEMORY_AFTER },
    { CSV_AND_STATS, "5*16x8:p010le", .after = "csv:v.csv stats:log", .sweep = MEMORY },
    { CSV_AND_STATS, "5*16x8:p010le", .after = "csv:v.csv stats:log", .sweep = MEMORY_AFTER },
    { "async_depth=4:dir=future:mv_file=@/v.npy", "5*16x8:yuv420p", .after = "npy:v.npy", .sweep = MEMORY },
    { "dir=future:mv_file=@/v.npys", "3*16x8:yuv420p", .after = "npys:v.npys", .sweep = MEMORY },
    { "async_depth=4:dir=future:mv_file=@/v.npy", "5*16x8:yuv420p", .after = "npy:v.npy",
      .sweep = MEMORY_AFTER },
    { "{algo=hme,smooth=2:pel=2}:" CSV_AND_STATS, "5*16x8:p010le", .after = "csv:v.csv stats:log",
      .sweep = MEMORY },
    { MOTION, CHANGE, "threads=3", .sweep = MEMORY_AFTER },
    { "{algo=hme,algo=epzs:check=1}:tree=1:block=8:" CSV_AND_STATS, "4*40x24:p010le",
      .after = "csv:v.csv stats:log", .sweep = MEMORY },
    { "{algo=hme,algo=ds}:tree=1:tree_max=16:block=4:mv_file=@/v.npy", "4*16x8", "threads=3",
      .after = "npy:v.npy", .sweep = MEMORY_AFTER },
    { NULL }
};

static void memory_of_searches(void)
{
    /* every search, with a change of size */
    for (int i = 0; i < GPUME_NB_ALGOS; i++) {
        char options[64];

        snprintf(options, sizeof(options), "algo=%s", test_algos[i]);
        run_row(&(Row){ options, CHANGE, .sweep = MEMORY });
    }
    printf("  %d allocations failed in turn; %d of them FFmpeg did without\n",
           nb_tried, nb_harmless);
    CHECK(nb_tried > 100 && nb_harmless < nb_tried / 4, "%d of %d", nb_harmless, nb_tried);
}

/* Options that are rejected, with a part of the message, and options that are accepted (NULL). */
static const struct Option {
    const char *options, *message;
} options[] = {
    { "range={1025,-1,far}", "range" },
    { "search_param={-1,9999999999}", "search_param" },
    { "cost={xyz,9,-1}", "cost" },        { "cost={sad,satd}", NULL },
    { "smooth={65,-2,much}", "smooth" },  { "check={2,-2,maybe}", "check" },
    { "{algo=hme:,}pel={3,5,8,-1,half}", "pel" },
    { "algo=hme:sweeps={17,-1}", "sweeps" }, { "algo=hme:levels={12,-1}", "levels" },
    { "{algo=fs,algo=epzs:smooth=2}:levels={1,3}", "'levels' is only valid with algo=hme" },
    { "{algo=fs,algo=epzs:check=1}:{smooth=0,pel=1,smooth=-1}:sweeps={1,2}", "algo=hme, smooth or pel" },
    { "smooth={0,1,64}", NULL },          { "check={0,1}", NULL }, { "pel={1,2,4}", NULL },
    { "{smooth=1,pel=2,algo=hme}:sweeps={1,16}", NULL }, { "algo=hme:levels={1,11}", NULL },
    { "algo=hme:smooth=0:check=0:pel=1:range=16", NULL },
    { "algo=umh:smooth=64:check=1:pel=4:sweeps=16:dir=future:block=4", NULL },
    { "block={5,24,2,256,-16,x}", "block" },
    { "mb_size=12", "block" },          { "mb_size=1", "block" },
    { "algo={xyz,99,-1}", "algo" },     { "method=zzz", "method" },
    { "dir={sideways,0,4}", "dir" },    { "backend={gpu,9}", "backend" },
    { "async_depth={65,-1}", "async_depth" },
    { "metadata={2,maybe}", "metadata" }, { "overwrite=2", "overwrite" },
    { "exhaustive={2,-1}", "exhaustive" }, { "nosuch=1", "nosuch" },
    { "mv_file=vectors.txt", "vectors.txt" }, { "mv_file=vectors", "vectors" },
    { "mv_file=.csv", ".csv" },         { "mv_file=.npy", ".npy" },
    { "mv_file=", "mv_file" },          { "mv_file=x.csv.gz", "x.csv.gz" },
    { "mv_file=same.csv:stats_file=same.csv", "same.csv" },
    { "mv_file=-:stats_file=-", "-" },  { "mv_file=a.csv:stats_file=", "stats_file" },
    { "range={1,1024}", NULL },         { "block={0,4,8,16,32,64,128}", NULL },
    { "mb_size=32:search_param=40", NULL },
    { "algo=fs:dir=both:backend=cpu:async_depth=64:metadata=1:exhaustive=1", NULL },
    { "async_depth={0,1}:metadata=0:backend=cpu", NULL },
    { "{tree=1,tree=1:block=32,tree=1:tree_max=16,tree=1:tree_max=64:block=4,tree=1:tree_max=0}", NULL },
    { "tree=1:{lambda=0,lambda=65536,lambda=-1,qp=0,qp=51,qp=-1,lambda=-1:qp=3,lambda=3:qp=-1}",
      NULL },
    { "tree={2,-1,oak}", "tree" },      { "tree=1:tree_max={8,24,48,128,-1}", "tree_max" },
    { "tree=1:{block=64,block=128,tree_max=32:block=32,tree_max=16:block=16}", "less than tree_max" },
    { "tree=1:lambda={65537,-2,x}", "lambda" }, { "tree=1:qp={52,-2,x}", "qp" },
    { "tree=1:lambda=1:qp=1", "'lambda' and 'qp'" }, { "tree=1:hint=constant", "hint=constant" },
    { "{tree=0:,}tree_max={16,64}", "'tree_max' is only valid with tree=1" },
    { "{tree=0:,}lambda={0,1,65536}", "'lambda' is only valid with tree=1" },
    { "{tree=0:,}qp={0,1,51}", "'qp' is only valid with tree=1" },
    { "tree=0:tree_max=0:lambda=-1:qp=-1", NULL },
    /* an option without effect is an error unless it has its default value */
    { "algo={ds,epzs,hme}:exhaustive=1", "'exhaustive' is only valid with algo=fs" },
    { "algo={ds,epzs,hme}:exhaustive=0", NULL },
    { "{algo=fs:,algo=fs:cost=satd:}exhaustive=1", NULL },
    { "backend=cpu:device={0,9}", "'device' is only valid with" },
    { "device=999", "" },
    { "mv_format={csv,npy,npys}", "'mv_format' is only valid with mv_file" },
    { "stats_format={text,jsonl}", "'stats_format' is only valid with stats_file" },
    { "mv_format=auto:stats_format=auto:overwrite=1", NULL },
    { "overwrite=0", "'overwrite=0' is only valid with mv_file or stats_file" },
    { "mv_file=a.csv:mv_format=txt", "mv_format" }, { "stats_file=a:stats_format=csv", "stats_format" },
    { "", NULL },
    /* every search by each of its names */
#define SEARCH(ID, name, ...) { "{algo,method}=" #name, NULL },
#define ALIAS(name, ...)      { "{algo,method}=" #name, NULL },
    GPUME_SEARCHES_AND_ALIASES(SEARCH, ALIAS)
#undef SEARCH
#undef ALIAS
};

static void open_options(const void *opaque, const char *text)
{
    const struct Option *o = opaque;
    const TestPicture first = { .w = 40, .h = 40, .format = AV_PIX_FMT_GRAY8 };
    const TestRun r = { .options = text };
    TestGraph g;
    int ret;

    snprintf(test_context, sizeof(test_context), "options '%s'", text);
    test_forget_log();
    ret = test_open_graph(&g, &r, &first);
    avfilter_graph_free(&g.graph);
    if (o->message) {
        CHECK(ret < 0, "accepted");
        CHECK(test_nb_errors > 0 && strstr(test_errors, o->message), "the message is '%s'",
              test_errors);
    } else {
        CHECK(ret >= 0 && !test_nb_errors, "%s: %s", av_err2str(ret), test_errors);
    }
    nb_runs++;
}

static void all_options(void)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(options); i++)
        test_each_choice(options[i].options, open_options, &options[i]);
}

/*
 * Tests graphs that replace each other, as ffmpeg's do when the picture changes. Each graph writes
 * its own files, whether the previous graph was closed in mid-stream or its input has ended. If the
 * files were removed, the numbering restarts.
 */
static void continued_files(void)
{
    static const char *const wanted[][2] = {
        { "v.csv", "log.txt" }, { "v-2.csv", "log-2.txt" }, { "v-3.csv", "log-3.txt" },
        { "v.csv", "log.txt" }, { "v-2.csv", "log-2.txt" },
    };
    char options[512], path[512], wrong[512];
    TestStream s[FF_ARRAY_ELEMS(wanted)] = { 0 };

    snprintf(options, sizeof(options), "%s:backend=%s:dir=past:async_depth=1:mv_file=%s/v.csv:stats_file=%s/log.txt",
             default_options, backend, folder, folder);
    for (int i = 0; i < FF_ARRAY_ELEMS(wanted); i++) {
        TestRun r = { .options = options, .nb_threads = 1, .no_end = i < 3 };

        snprintf(test_context, sizeof(test_context), "graph %d in the place of others", i);
        parse_stream(&s[i], i & 1 ? "3*24x16" : "3*40x40", "");
        test_parse_options(&s[i], options);
        test_samples(&s[i], TEST_MOTION, 11, 4);
        test_expect(&s[i]);
        for (int j = 0; j < i && i == 3; j++)
            for (int k = 0; k < 2; k++) {
                snprintf(path, sizeof(path), "%s/%s", folder, wanted[j][k]);
                CHECK(!remove(path), "there is no %s", path);
            }
        test_forget_log();
        test_run(&r, &s[i]);
        check_end(&r, 0, NULL);
        /* the files of previous graphs are unchanged */
        for (int j = i >= 3 ? 3 : 0; j <= i; j++) {
            snprintf(wrong, sizeof(wrong), "%s/%s", folder, wanted[j][0]);
            check_file("csv", wrong, "", &s[j], 3);
            snprintf(wrong, sizeof(wrong), "%s/%s", folder, wanted[j][1]);
            check_file("stats", wrong, "", &s[j], 3);
        }
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(wanted); i++)
        test_free_stream(&s[i]);
    check_files("csv:v.csv stats:log.txt csv:v-2.csv stats:log-2.txt", NULL, 0, 1);
}

/* Tests two filters of one process that would write the same file. */
static void shared_files(void)
{
    const TestPicture first = { .w = 40, .h = 40, .format = AV_PIX_FMT_GRAY8 };
    char one[512], two[512];
    TestRun a = { .options = one }, b = { .options = two };
    TestGraph g, h;
    int ret;

    snprintf(one, sizeof(one), "backend=cpu:mv_file=%s/v.csv", folder);
    snprintf(two, sizeof(two), "backend=cpu:stats_file=%s/../%s/./v.csv", folder, strrchr(folder, '/') + 1);
    snprintf(test_context, sizeof(test_context), "'%s' beside '%s'", two, one);
    test_forget_log();
    ret = test_open_graph(&g, &a, &first);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    ret = test_open_graph(&h, &b, &first);
    CHECK(ret == AVERROR(EBUSY), "the second one: %s", av_err2str(ret));
    CHECK(strstr(test_errors, "/v.csv: another") && strstr(test_errors, ", as /"), "the message is '%s'", test_errors);
    avfilter_graph_free(&h.graph);
    avfilter_graph_free(&g.graph);
    /* the name is free after the first filter is closed */
    test_forget_log();
    ret = test_open_graph(&h, &b, &first);
    CHECK(ret >= 0, "afterwards: %s", av_err2str(ret));
    avfilter_graph_free(&h.graph);
    nb_runs += 3;
    check_files(NULL, NULL, 0, 1);
}

static void files_of_several(void)
{
    continued_files();
    shared_files();
}

/* Decides by the name alone, so that the test does not repeat the filter's code. */
static int is_luma_format(const char *name)
{
    static const char *const known[] = {
        "yuv4", "yuvj4", "yuva4", "nv", "p0", "p2", "p4", "gbrp", "gbrap", "gray", "ya", "ayuv", "vuy", "uyva",
        "yuyv", "uyvy", "yvyu", "y21", "v30x", "xv30", "xv36", "xv48", "rgb24", "bgr24", "rgba", "bgra", "argb",
        "abgr", "rgb0", "bgr0", "0rgb", "0bgr", "rgb48", "bgr48", "x2rgb10", "x2bgr10", "vyu444",
    };
    /* floating point, more than 16 bits, samples that do not begin at a byte */
    static const char *const other[] = { "f16", "f32", "gray32", "gbrap32", "rgb96", "rgba128", "xv30be", "v30xbe" };

    for (int i = 0; i < FF_ARRAY_ELEMS(other); i++)
        if (strstr(name, other[i]))
            return 0;
    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++)
        if (av_strstart(name, known[i], NULL))
            return 1;
    return 0;
}

static void all_formats(void)
{
    const AVPixFmtDescriptor *desc = NULL;
    int nb_accepted = 0, nb_refused = 0;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        TestPicture first = { .w = 21, .h = 14, .format = av_pix_fmt_desc_get_id(desc) };
        const TestRun r = { .options = "algo=ds:backend=cpu" };
        char stream[64];
        TestGraph g;
        int ret;

        if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        snprintf(test_context, sizeof(test_context), "format %s", desc->name);
        ret = test_open_graph(&g, &r, &first);
        avfilter_graph_free(&g.graph);
        CHECK((ret >= 0) == is_luma_format(desc->name), "%s",
              ret < 0 ? av_err2str(ret) : "it is accepted");
        *(ret < 0 ? &nb_refused : &nb_accepted) += 1;
        snprintf(stream, sizeof(stream), "3*21x14:%s", desc->name);
        if (ret >= 0)
            run_row(&(Row){ "metadata=1:algo={ds,fs,hme}", stream });
    }
    printf("  %d formats searched, %d refused\n", nb_accepted, nb_refused);
    CHECK(nb_accepted > 150 && nb_refused > 40, "%d and %d", nb_accepted, nb_refused);
}

/* Frame properties that must pass through unchanged; P(field, value) of frame j. */
#define PROPERTIES(P)                                                           \
    P(duration, 17 + j) P(pict_type, AV_PICTURE_TYPE_I + j % 3)                 \
    P(flags, j & 1 ? AV_FRAME_FLAG_KEY | AV_FRAME_FLAG_INTERLACED               \
                   : AV_FRAME_FLAG_TOP_FIELD_FIRST)                             \
    P(sample_aspect_ratio.num, 4) P(sample_aspect_ratio.den, 3)                 \
    P(quality, 100 + j) P(repeat_pict, j) P(pkt_dts, 1000 + j)                  \
    P(best_effort_timestamp, 2000 + j) P(color_primaries, AVCOL_PRI_BT709)      \
    P(color_trc, AVCOL_TRC_BT709) P(chroma_location, AVCHROMA_LOC_LEFT)         \
    P(crop_left, 2) P(opaque, &frames[j]) P(time_base.den, 25)

static const AVMotionVector bogus[3] = { { .source = 7, .w = 99 } };

static void look_at_properties(void *opaque, int j, const AVFrame *in, const AVFrame *out)
{
    const AVFrameSideData *sd;
    const AVDictionaryEntry *e;

#define SAME(field, value) CHECK(out->field == in->field, "frame %d: " #field, j);
    PROPERTIES(SAME)
#undef SAME
    for (int k = 0; k < 3; k++)
        CHECK(out->data[k] == in->data[k] && out->linesize[k] == in->linesize[k],
              "frame %d plane %d was copied", j, k);
    e = av_dict_get(out->metadata, "number", NULL, 0);
    CHECK(e && atoi(e->value) == j, "frame %d: metadata", j);
    e = av_dict_get(out->metadata, "lavfi.gpume.kept", NULL, 0);
    CHECK(e && !strcmp(e->value, "yes"), "frame %d: metadata", j);
    sd = av_frame_get_side_data(out, AV_FRAME_DATA_A53_CC);
    CHECK(sd && sd->size == 5 && sd->data[4] == j, "frame %d: side data", j);

    /* other references of the frame do not see the side data */
    sd = av_frame_get_side_data(in, AV_FRAME_DATA_MOTION_VECTORS);
    CHECK(sd && sd->size == sizeof(bogus) && !memcmp(sd->data, bogus, sizeof(bogus)),
          "frame %d: its other reference changed", j);
    CHECK(av_dict_count(in->metadata) == 2, "frame %d: its other reference changed", j);
    ++*(int *)opaque;
}

static void all_properties(void)
{
    for (int dir = 1; dir <= 3; dir++) {
        static const char *const dirs[] = { "", "past", "future", "both" };
        TestStream s = { 0 };
        AVFrame *frames[TEST_MAX_PICTURES] = { NULL };
        char buf[256];
        int nb_seen = 0;
        TestRun r = { .options = buf, .nb_threads = 1, .feed_all = 1, .frames = frames,
                      .look = look_at_properties, .opaque = &nb_seen };

        snprintf(buf, sizeof(buf), "%s:backend=%s:metadata=1:dir=%s", default_options, backend,
                 dirs[dir]);
        snprintf(test_context, sizeof(test_context), "properties, %s", buf);
        parse_stream(&s, "4*48x32:yuv422p", "");
        test_parse_options(&s, buf);
        test_samples(&s, TEST_MOTION, 3, 4);
        test_expect(&s);
        for (int j = 0; j < s.nb; j++) {
            AVFrame *f = frames[j] = test_frame(&s.pics[j]);
            AVFrameSideData *sd;

#define SET(field, value) f->field = value;
            PROPERTIES(SET)
#undef SET
            av_dict_set_int(&f->metadata, "number", j, 0);
            av_dict_set(&f->metadata, "lavfi.gpume.kept", "yes", 0);
            sd = test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_A53_CC, 5));
            memset(sd->data, j, 5);
            sd = test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS,
                                                   sizeof(bogus)));
            memcpy(sd->data, bogus, sizeof(bogus));
        }
        test_forget_log();
        test_run(&r, &s);
        check_end(&r, 0, NULL);
        CHECK(nb_seen == s.nb, "%d frames", nb_seen);
        for (int j = 0; j < s.nb; j++)
            av_frame_free(&frames[j]);
        test_free_stream(&s);
    }
}

static const struct {
    const char *name;
    const Row *rows;
    void (*run)(void);
} parts[] = {
    { "options",     NULL, all_options },
    { "streams",     streams },
    { "timestamps",  timestamps },
    { "sizes",       sizes },
    { "changes",     changes },
    { "properties",  NULL, all_properties },
    { "teardown",    teardown },
    { "formats",     NULL, all_formats },
    { "files",       files },
    { "bad-files",   bad_files },
    { "full-disks",  full_disks },
    { "whole-files", whole_files },
    { "several",     NULL, files_of_several },
    { "memory",      memory, memory_of_searches },
};

int main(int argc, char **argv)
{
    const char *except = "";
    AVBufferRef *device = NULL;
    int i;

    test_fail_init();
    test_init("gpume_robustness");
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-v"))
            test_verbose = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-backend"))
            backend = argv[++i];
        else if (!strcmp(argv[i], "-gpu"))
            gpu = 1;
        else if (!strcmp(argv[i], "-quick"))
            quick = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-except"))
            except = argv[++i];
        else
            break;
    }
    if (i < argc && argv[i][0] == '-') {
        printf("usage: gpume_robustness [-v] [-quick] [-gpu] [-backend NAME] [-except PART] [PART...]\n"
               "  -quick  fewer choices, for slow builds\n"
               "  -gpu  on a real GPU: what the driver allocates is not counted\nparts:");
        for (int j = 0; j < FF_ARRAY_ELEMS(parts); j++)
            printf(" %s", parts[j].name);
        printf("\n");
        return 2;
    }

    signal(SIGXFSZ, SIG_IGN);
    umask(027);
    now.fail_at = -1;
    folder = test_make_folder("gpume_robustness");

    /* an open device makes further openings fast */
    if (gpu && !(device = test_open_device())) {
        printf("FAIL: no device\n");
        return 2;
    }

    for (int j = 0; j < FF_ARRAY_ELEMS(parts); j++) {
        const int runs = nb_runs, checks = test_nb_checks;
        int wanted = i == argc && strcmp(except, parts[j].name);

        for (int k = i; k < argc; k++)
            wanted |= !strcmp(argv[k], parts[j].name);
        if (!wanted)
            continue;
        if (gpu && parts[j].rows == memory) {
            printf("memory: skipped, the driver's allocations are not to fail\n");
            continue;
        }
        test_track(!gpu);
        test_watch(PART_SECONDS);
        nb_tried = nb_harmless = 0;
        for (const Row *row = parts[j].rows; row && row->stream; row++)
            run_row(row);
        if (parts[j].run)
            parts[j].run();
        snprintf(test_context, sizeof(test_context), "part %s", parts[j].name);
        CHECK(!test_nb_outstanding, "%d buffers leaked", test_nb_outstanding);
        printf("%s: %d runs, %d checks\n", parts[j].name, nb_runs - runs,
               test_nb_checks - checks);
    }
    if (!test_nb_checks) {
        printf("FAIL: nothing was checked\n");
        test_nb_failures++;
    }

    av_buffer_unref(&device);
    if (test_remove_folder()) {
        printf("FAIL: files were left in %s\n", folder);
        test_nb_failures++;
    }
    printf("gpume_robustness: %d runs, %d checks, %d failures\n", nb_runs, test_nb_checks,
           test_nb_failures);
    return !!test_nb_failures;
}
