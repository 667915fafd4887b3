/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Loads the plugin for VapourSynth on Windows, without VapourSynth, and prints what it registers.
 *
 * usage: load.exe gpume.dll
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "VapourSynth4.h"

static const char *names[64];
static int nb;

static int VS_CC config(const char *identifier, const char *ns, const char *name, int version, int api, int flags,
                        VSPlugin *plugin)
{
    return !strcmp(ns, "gpume");
}

static int VS_CC add(const char *name, const char *args, const char *returns, VSPublicFunction func, void *data,
                     VSPlugin *plugin)
{
    if (strstr(args, "clip:vnode;") && !strncmp(returns, "clip:vnode", 10) && func && nb < 64)
        names[nb++] = name;
    return 1;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int main(int argc, char **argv)
{
    const VSPLUGINAPI api = { .configPlugin = config, .registerFunction = add };
    HMODULE library = LoadLibraryA(argv[argc - 1]);
    VSInitPlugin init = library ? (VSInitPlugin)(void *)GetProcAddress(library, "VapourSynthPluginInit2") : NULL;

    if (!init) {
        printf("cannot load %s: error %lu\n", argv[argc - 1], GetLastError());
        return 1;
    }
    init(NULL, &api);
    qsort(names, nb, sizeof(*names), compare);
    for (int i = 0; i < nb; i++)
        printf("%s%c", names[i], i < nb - 1 ? ' ' : '\n');
    return 0;
}
