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


/**
 * @file
 * libFuzzer target: bytes are the filter's options, as a filter graph has them. What
 * they leave open is searched: three frames come out, or there is an error.
 * tests/fuzz/fuzz.sh runs it.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* mkdtemp() */
#endif

#include <dirent.h>

#include "libavutil/log.h"

#include "tests/gpume_case.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/gpume_fuzz.XXXXXX";

/* The folder is the working directory. */
static int remove_files(void)
{
    DIR *dir = case_alloc(opendir("."));
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
    rmdir(folder);
}

/* Names of the options and of their values, as -dict= takes them. */
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
    av_log_set_level(AV_LOG_QUIET);
    /* what libFuzzer says goes to standard error; files named - go here */
    if (!freopen("/dev/null", "w", stdout) || !mkdtemp(folder) || chdir(folder))
        abort();
    atexit(remove_folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CaseFrame f = { .w = 40, .h = 24, .format = AV_PIX_FMT_GRAY8 };
    CaseGraph g;
    AVFrame *out = case_alloc(av_frame_alloc());
    Draw d = { .state = size };
    char options[1024];
    int ret, nb = 0, has_files;

    if (size >= sizeof(options))
        goto end;
    memcpy(options, data, size);
    options[size] = 0;
    /* names that look like an unfinished file's would be taken for one */
    if (strstr(options, "gpume-part"))
        goto end;
    has_files = !!strstr(options, "file");
    /* files stay in the folder */
    for (char *c = options; *c; c++)
        if (*c == '/')
            *c = '_';

    draw_samples(&d, &f, NULL);
    ret = open_case_graph(&g, &f, options, 1, 0, NULL);
    for (int i = 0; i < 4 && ret >= 0; i++) {
        AVFrame *in = i < 3 ? case_frame(&f, 0) : NULL;

        ret = av_buffersrc_add_frame(g.src, in);
        av_frame_free(&in);
        while (ret >= 0 && (ret = av_buffersink_get_frame(g.sink, out)) >= 0) {
            av_frame_unref(out);
            nb++;
        }
        if (ret == AVERROR(EAGAIN))
            ret = 0;
    }
    if (ret == AVERROR_EOF && nb != 3) {
        fprintf(stderr, "%d frames came out\n", nb);
        abort();
    }
    avfilter_graph_free(&g.graph);
    if (has_files && remove_files() && ret < 0 && ret != AVERROR_EOF) {
        fprintf(stderr, "a file was left by a run that failed\n");
        abort();
    }
    av_free(f.samples);
end:
    av_frame_free(&out);
    return 0;
}
