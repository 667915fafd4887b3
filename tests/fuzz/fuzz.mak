# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the fuzzers (tests/fuzz/README.md) with the libraries in OBJ, a tree built by
# clang with -fsanitize=fuzzer-no-link. From the repository's root:
# make -f tests/fuzz/fuzz.mak OBJ=build/9.0-fuzz/obj SRC=build/9.0/src

FUZZ_DIR     = tests/fuzz
FUZZ_TARGETS = $(patsubst $(FUZZ_DIR)/%.c,$(OBJ)/%,$(wildcard $(FUZZ_DIR)/gpume_fuzz_*.c))
FUZZ_CC     ?= clang
FUZZ_FFNVCODEC = $(firstword $(wildcard build/ffnvcodec/include) /usr/include)
FUZZ_CFLAGS  = -std=c17 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined \
               -fno-sanitize-recover=all -Wall -Wno-pointer-sign -Wno-parentheses -Wno-unused-function \
               -I. -I$(OBJ) -I$(SRC) -I$(FUZZ_FFNVCODEC)
FUZZ_LIBS    = $(OBJ)/libavfilter/libavfilter.a $(OBJ)/libavutil/libavutil.a

fuzz: $(FUZZ_TARGETS)

$(OBJ)/gpume_fuzz_%: $(FUZZ_DIR)/gpume_fuzz_%.c tests/gpume_harness.c $(wildcard tests/*.h) $(FUZZ_LIBS)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -o $@ $< tests/gpume_harness.c $(FUZZ_LIBS) -lm -lpthread -ldl

.PHONY: fuzz
