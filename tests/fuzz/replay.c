/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs a libFuzzer target once for each file that is named, without libFuzzer: any compiler can build it.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    static uint8_t data[1 << 16];

    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        size_t size;

        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size = fread(data, 1, sizeof(data), f);
        fclose(f);
        /* the last line names the input if the target ends the process */
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput(data, size);
    }
    fprintf(stderr, "%d inputs\n", argc - 1);
    return 0;
}
