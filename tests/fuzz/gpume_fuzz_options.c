/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * libFuzzer target: bytes are options of the filter in the syntax of filter graphs. A search with
 * them must output three frames or end with an error. tests/fuzz/fuzz.sh runs it.
 */

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "libavutil/opt.h"

#include "tests/gpume_harness.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Removes the files in the working directory. */
static int remove_files(void)
{
    DIR *dir = test_alloc(opendir("."));
    const struct dirent *entry;
    int nb = 0, nb_parts = 0;

    while ((entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        nb_parts += !!strstr(entry->d_name, ".gpume-part");
        unlink(entry->d_name);
        nb++;
    }
    closedir(dir);
    if (nb_parts) {
        fprintf(stderr, "an unfinished file was left\n");
        abort();
    }
    return nb;
}

static void remove_folder(void)
{
    remove_files();
    test_remove_folder();
}

/* Prints the names of options and of their values, as -dict= reads them. */
static void print_dict(void)
{
    const AVClass *class = avfilter_get_by_name("gpume")->priv_class;
    const AVOption *o = NULL;

    while ((o = av_opt_next(&class, o)))
        printf("\"%s%s\"\n", o->name, o->type == AV_OPT_TYPE_CONST ? "" : "=");
    printf("\":\"\n\".csv\"\n\".npy\"\n");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 2 && !strcmp((*argv)[1], "-dict")) {
        print_dict();
        exit(0);
    }
    test_init("gpume_fuzz");
    /* libFuzzer writes to standard error; standard output receives files named "-" */
    if (!freopen("/dev/null", "w", stdout) || chdir(test_make_folder("gpume_fuzz")))
        abort();
    atexit(remove_folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TestStream s = { .nb = 3 };
    char options[1024];
    TestRun r = { .options = options, .nb_threads = 1 };
    int has_files;

    if (size >= sizeof(options))
        return 0;
    memcpy(options, data, size);
    options[size] = 0;
    /* rejects names that look like those of incomplete files */
    if (strstr(options, "gpume-part"))
        return 0;
    has_files = !!strstr(options, "file");
    /* replaces slashes, so that files stay in the folder */
    for (char *c = options; *c; c++)
        if (*c == '/')
            *c = '_';

    for (int i = 0; i < s.nb; i++)
        s.pics[i] = (TestPicture){ .w = 40, .h = 24, .format = AV_PIX_FMT_GRAY8 };
    test_samples(&s, TEST_EQUAL, size, 1);
    test_run(&r, &s);
    if (r.ret >= 0 && r.nb_out != s.nb) {
        fprintf(stderr, "%d frames came out\n", r.nb_out);
        abort();
    }
    if (has_files && remove_files() && r.ret < 0) {
        fprintf(stderr, "a file was left by a run that failed\n");
        abort();
    }
    test_free_stream(&s);
    return 0;
}
