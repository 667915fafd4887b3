# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the fuzzers (tests/fuzz/README.md). From the repository's root:
#   make -f tests/fuzz/fuzz.mak OBJ=build/9.0-fuzz/obj SRC=build/9.0/src
#       with the libraries of a tree that clang has built with -fsanitize=fuzzer-no-link
#   make -f tests/fuzz/fuzz.mak OBJ=build/9.0-san/obj SRC=build/9.0/src replay
#       programs gpume_replay_* that only run files, with the libraries of a tree with sanitizers

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

REPLAY_TARGETS = $(FUZZ_TARGETS:$(OBJ)/gpume_fuzz_%=$(OBJ)/gpume_replay_%)
REPLAY_CC     ?= $(shell sed -n 's/^CC=//p' $(OBJ)/ffbuild/config.mak 2>/dev/null)
REPLAY_CFLAGS  = $(subst =fuzzer$(COMMA),=,$(FUZZ_CFLAGS))
REPLAY_LIBS    = $(foreach L,avfilter avformat avcodec swscale swresample avutil,$(wildcard $(OBJ)/lib$(L)/lib$(L).a))
COMMA := ,

replay: $(REPLAY_TARGETS)

$(OBJ)/gpume_replay_%: $(FUZZ_DIR)/gpume_fuzz_%.c $(FUZZ_DIR)/replay.c tests/gpume_harness.c $(wildcard tests/*.h) $(REPLAY_LIBS)
	$(REPLAY_CC) $(REPLAY_CFLAGS) -o $@ $< $(FUZZ_DIR)/replay.c tests/gpume_harness.c $(REPLAY_LIBS) -lm -lpthread -ldl -lz

.PHONY: fuzz replay
