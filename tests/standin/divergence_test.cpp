/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Launches the kernels of divergence_kernels.cu once: two blocks of 64 threads.
 *
 * usage: divergence_test LIBCUDA
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <initializer_list>

#include <ffnvcodec/dynlink_cuda.h>

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry dv_branches(\n.param .u64 a,\n.param .u32 b\n)\n{\nret;\n}\n"
    ".visible .entry dv_long(\n.param .u64 a,\n.param .u32 b\n)\n{\nret;\n}\n";

static void check(int result, const char *what)
{
    if (result) {
        fprintf(stderr, "%s: error %d\n", what, result);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    void *lib = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;

    if (!lib) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: divergence_test LIBCUDA");
        return 1;
    }
#define LOAD(name, type) type *name = (type *)dlsym(lib, #name)
    LOAD(cuInit, tcuInit);
    LOAD(cuCtxCreate_v2, tcuCtxCreate_v2);
    LOAD(cuCtxDestroy_v2, tcuCtxDestroy_v2);
    LOAD(cuModuleLoadData, tcuModuleLoadData);
    LOAD(cuModuleUnload, tcuModuleUnload);
    LOAD(cuModuleGetFunction, tcuModuleGetFunction);
    LOAD(cuMemAlloc_v2, tcuMemAlloc_v2);
    LOAD(cuMemFree_v2, tcuMemFree_v2);
    LOAD(cuLaunchKernel, tcuLaunchKernel);
    LOAD(cuStreamSynchronize, tcuStreamSynchronize);
#define CHECK(x) check(x, #x)
    CUcontext context;
    CUmodule module;
    CUdeviceptr out;
    unsigned n = 1;

    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuMemAlloc_v2(&out, 4));
    for (const char *name : { "dv_branches", "dv_long" }) {
        CUfunction function;
        void *params[] = { &out, &n };

        CHECK(cuModuleGetFunction(&function, module, name));
        CHECK(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        CHECK(cuStreamSynchronize(NULL));
    }
    CHECK(cuMemFree_v2(out));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy_v2(context));
    return 0;
}
