# SPDX-License-Identifier: LGPL-2.1-or-later
# The stand-in for the CUDA driver (tests/standin/README.md). Run it from the repository's
# root: make -f tests/standin/standin.mak TARGET
#
#   standin          build/standin/libcuda.so.1, for LD_LIBRARY_PATH
#   standin-asan     build/standin-asan/libcuda.so.1, for programs built with
#                    AddressSanitizer
#   check-standin    the stand-in's own tests
#   check-standin-asan   the same under the sanitizers
#
# All kernels in the modules.h of any folder are included; new ones need no changes here.

STANDIN_DIR   = tests/standin
STANDIN_OUT   = build/standin
STANDIN_OBJCOPY ?= objcopy
STANDIN_CXX  ?= $(shell command -v g++ || command -v clang++ || echo c++)
# Use the compiler cache if configure found one. As in the Makefile, the cache ignores the clone's directory.
export CCACHE_NOHASHDIR = 1
STANDIN_CCACHE := $(if $(shell grep -ls '^CC=ccache' build/*/obj/ffbuild/config.mak),ccache)
override STANDIN_CXX := $(if $(findstring ccache,$(STANDIN_CXX)),,$(STANDIN_CCACHE)) $(STANDIN_CXX)
STANDIN_FFNVCODEC ?= $(firstword $(wildcard build/ffnvcodec/include) /usr/include)

# The modules as words 'folder,name,family,depth,variant,side,cost', as in gpume.mak.
STANDIN_COMMA   := ,
STANDIN_FOLDERS := $(patsubst %/modules.h,%,$(wildcard */modules.h))
STANDIN_MODULES := $(foreach F,$(STANDIN_FOLDERS),$(shell sed -n 's/^ *M(\(.*\)).*/$(F),\1/p' $(F)/modules.h | tr -d ' '))
standin_column   = $(word $(1),$(subst $(STANDIN_COMMA), ,$(2)))
standin_module   = $(call standin_column,1,$(1))/gpume_$(call standin_column,2,$(1))
STANDIN_KERNELS  = $(foreach M,$(STANDIN_MODULES),$(call standin_module,$(M)))
STANDIN_HEADERS = $(STANDIN_DIR)/standin.h $(STANDIN_DIR)/cuda_runtime.h
STANDIN_PARTS   = report memory check exec queue api

STANDIN_FLAGS = -std=c++17 -O2 -g -fPIC -fvisibility=hidden -fno-strict-aliasing \
                -Wall -Wextra -I$(STANDIN_FFNVCODEC) $(STANDIN_CXXFLAGS)

# The kernels' loads and stores must be those of the source, each preceded by a call.
# Alignment is checked as in the source, before a vector load is split.
STANDIN_IS_CLANG := $(shell $(STANDIN_CXX) --version 2>/dev/null | grep -c clang)
STANDIN_KERNEL_FLAGS = -std=c++11 -O2 -g -fPIC -fvisibility=hidden -fsigned-char \
    -fno-exceptions -fno-rtti -fno-stack-protector \
    -Wall -Wno-unknown-pragmas -Wno-unused-function -Wno-sign-compare \
    -fsanitize=thread,alignment,shift,bounds,integer-divide-by-zero,signed-integer-overflow,unreachable,return \
    -include $(STANDIN_DIR)/cuda_runtime.h -I$(STANDIN_OUT)/include -I.
ifeq ($(STANDIN_IS_CLANG),0)
STANDIN_KERNEL_FLAGS += -fno-tree-vectorize -fno-tree-slp-vectorize -fno-store-merging \
    -fno-tree-loop-distribute-patterns \
    --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0
else
STANDIN_KERNEL_FLAGS += -fno-vectorize -fno-slp-vectorize -Wno-pass-failed \
    -mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-read-before-write=1 \
    -mllvm -tsan-instrument-func-entry-exit=0
endif

# The compiler's calls to the C library are checked too.
STANDIN_REDEFINE = --redefine-sym memcpy=standin_memcpy --redefine-sym memmove=standin_memmove \
                   --redefine-sym memset=standin_memset

STANDIN_LINK = $(STANDIN_CXX) -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete -Wl,-z,defs \
               -Wl,--version-script=$(STANDIN_DIR)/libcuda.map $(STANDIN_CXXFLAGS)

STANDIN_OBJS         = $(STANDIN_PARTS:%=$(STANDIN_OUT)/%.o)
STANDIN_KERNEL_OBJS  = $(STANDIN_KERNELS:%=$(STANDIN_OUT)/%.cu.o)
STANDIN_SELFTEST     = $(STANDIN_OUT)/selftest

standin: $(STANDIN_OUT)/libcuda.so.1

standin-asan: $(STANDIN_OUT)-asan/libcuda.so.1

$(STANDIN_OUT)/libcuda.so.1: $(STANDIN_OBJS) $(STANDIN_KERNEL_OBJS) $(STANDIN_DIR)/libcuda.map
	$(STANDIN_LINK) -o $@ $(filter %.o,$^) -lpthread -ldl

$(STANDIN_OUT)/%.o: $(STANDIN_DIR)/%.cpp $(STANDIN_HEADERS) $(STANDIN_DIR)/standin.mak
	@mkdir -p $(@D)
	$(STANDIN_CXX) $(STANDIN_FLAGS) -c -o $@ $<

# The include paths of FFmpeg's tree.
$(STANDIN_OUT)/include/libavfilter/gpume: FORCE
	@mkdir -p $(@D)
	@if [ "`readlink $@`" != '$(CURDIR)' ]; then ln -sfn '$(CURDIR)' $@; fi

define STANDIN_MODULE
$(addprefix $(STANDIN_OUT)/$(call standin_module,$(1)).cu,.cpp .o): STANDIN_DEFINES = \
    -DGPUME_CUDA_NAME=gpume_$(call standin_column,2,$(1))      \
    -DGPUME_CUDA_DEPTH=$(call standin_column,4,$(1))           \
    -DGPUME_CUDA_SIDE=$(call standin_column,6,$(1))            \
    -DGPUME_CUDA_COST=GPUME_COST_$(call standin_column,7,$(1)) \
    '-DGPUME_CUDA_VARIANT=$(call standin_column,5,$(1))'
$(STANDIN_OUT)/$(call standin_module,$(1)).cu.cpp: $(call standin_column,1,$(1))/$(call standin_column,3,$(1)).cu
endef
$(foreach M,$(STANDIN_MODULES),$(eval $(call STANDIN_MODULE,$(M))))

# a folder's kernels depend on its own headers and on those that all kernels share
define STANDIN_FOLDER
$(STANDIN_OUT)/$(1)/%.cu.cpp: $(wildcard core/*.h cuda/*.cuh cuda_common/*.cuh field/*.h field/*.cuh picture/*.h util/*.h $(1)/*.h $(1)/*.cuh) $(STANDIN_DIR)/mkkernels.sh $(STANDIN_DIR)/cuda_runtime.h $(STANDIN_DIR)/standin.mak | $(STANDIN_OUT)/include/libavfilter/gpume
	@mkdir -p $$(@D)
	$(STANDIN_DIR)/mkkernels.sh $$(filter %.cu,$$^) $$@ $(STANDIN_CXX) $(STANDIN_KERNEL_FLAGS) $$(STANDIN_DEFINES)
endef
$(foreach F,$(STANDIN_FOLDERS),$(eval $(call STANDIN_FOLDER,$(F))))

$(STANDIN_OUT)/%.cu.o: $(STANDIN_OUT)/%.cu.cpp
	$(STANDIN_CXX) $(STANDIN_KERNEL_FLAGS) $(STANDIN_DEFINES) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
	$(STANDIN_OBJCOPY) $(STANDIN_REDEFINE) $@

-include $(STANDIN_KERNEL_OBJS:.o=.d)

# Only the parts that run on the host's own stack are instrumented. Kernels run on other
# stacks, which they may leave at any point.
STANDIN_ASAN_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined
STANDIN_ASAN_PARTS = api queue memory
STANDIN_ASAN_OBJS  = $(STANDIN_ASAN_PARTS:%=$(STANDIN_OUT)-asan/%.o) \
                     $(patsubst %,$(STANDIN_OUT)/%.o,$(filter-out $(STANDIN_ASAN_PARTS),$(STANDIN_PARTS)))

$(STANDIN_OUT)-asan/%.o: $(STANDIN_DIR)/%.cpp $(STANDIN_HEADERS) $(STANDIN_DIR)/standin.mak
	@mkdir -p $(@D)
	$(STANDIN_CXX) $(STANDIN_FLAGS) $(STANDIN_ASAN_FLAGS) -c -o $@ $<

# No -z defs: the sanitizers' runtime is in the program.
STANDIN_LINK_ASAN = $(subst -Wl$(STANDIN_COMMA)-z$(STANDIN_COMMA)defs,,$(STANDIN_LINK))

$(STANDIN_OUT)-asan/libcuda.so.1: $(STANDIN_ASAN_OBJS) $(STANDIN_KERNEL_OBJS) $(STANDIN_DIR)/libcuda.map
	$(STANDIN_LINK_ASAN) -o $@ $(filter %.o,$^) -lpthread -ldl

# The stand-in's own tests, with their own kernels.
$(STANDIN_SELFTEST)/%.cu.cpp: $(STANDIN_DIR)/%.cu $(STANDIN_DIR)/mkkernels.sh $(STANDIN_DIR)/cuda_runtime.h $(STANDIN_DIR)/standin.mak | $(STANDIN_OUT)/include/libavfilter/gpume
	@mkdir -p $(@D)
	$(STANDIN_DIR)/mkkernels.sh $< $@ $(STANDIN_CXX) $(STANDIN_KERNEL_FLAGS)

$(STANDIN_SELFTEST)/libcuda.so.1: $(STANDIN_OBJS) $(STANDIN_SELFTEST)/selftest_kernels.cu.o $(STANDIN_DIR)/libcuda.map
	$(STANDIN_LINK) -o $@ $(filter %.o,$^) -lpthread -ldl

$(STANDIN_SELFTEST)/selftest: $(STANDIN_DIR)/selftest.cpp $(STANDIN_HEADERS)
	@mkdir -p $(@D)
	$(STANDIN_CXX) $(STANDIN_FLAGS) -o $@ $< -lpthread -ldl

-include $(STANDIN_SELFTEST)/selftest_kernels.cu.d

check-standin: $(STANDIN_SELFTEST)/selftest $(STANDIN_SELFTEST)/libcuda.so.1
	$(STANDIN_SELFTEST)/selftest $(STANDIN_SELFTEST)/libcuda.so.1

check-standin-asan: $(STANDIN_OUT)-asan/selftest/selftest $(STANDIN_OUT)-asan/selftest/libcuda.so.1
	$(STANDIN_OUT)-asan/selftest/selftest $(STANDIN_OUT)-asan/selftest/libcuda.so.1

$(STANDIN_OUT)-asan/selftest/libcuda.so.1: $(STANDIN_ASAN_OBJS) $(STANDIN_SELFTEST)/selftest_kernels.cu.o $(STANDIN_DIR)/libcuda.map
	@mkdir -p $(@D)
	$(STANDIN_LINK_ASAN) -o $@ $(filter %.o,$^) -lpthread -ldl

$(STANDIN_OUT)-asan/selftest/selftest: $(STANDIN_DIR)/selftest.cpp $(STANDIN_HEADERS)
	@mkdir -p $(@D)
	$(STANDIN_CXX) $(STANDIN_FLAGS) $(STANDIN_ASAN_FLAGS) -o $@ $< -lpthread -ldl

.PHONY: standin standin-asan check-standin check-standin-asan FORCE
.PRECIOUS: $(STANDIN_FOLDERS:%=$(STANDIN_OUT)/%/%.cu.cpp) $(STANDIN_SELFTEST)/%.cu.cpp
