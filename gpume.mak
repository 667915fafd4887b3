# SPDX-License-Identifier: LGPL-2.1-or-later
# Copied into FFmpeg as libavfilter/gpume/Makefile, which libavfilter/Makefile includes.

# The filters and the folders that each consists of: filters.list.
GPUME_DIR      := $(SRC_PATH)/libavfilter/gpume
GPUME_FILTERS  := $(shell sed -n 's/^\([a-z]*\) .*/\1/p' $(GPUME_DIR)/filters.list | grep -vx common)
gpume_folders   = $(shell sed -n 's/^$(1) //p' $(GPUME_DIR)/filters.list)
GPUME_FOLDERS  := $(shell sed -n 's/^[a-z][a-z]* //p' $(GPUME_DIR)/filters.list)
gpume_upper     = $(shell echo $(1) | tr a-z A-Z)

# The modules of kernels that a folder's modules.h lists, as words
# 'folder,name,family,depth,variant,side,cost'; and their objects.
gpume_modules   = $(shell sed -n 's/^ *M(\(.*\)).*/$(1),\1/p' $(GPUME_DIR)/$(1)/modules.h 2>/dev/null | tr -d ' ')
gpume_column    = $(word $(1),$(subst $(GPUME_COMMA), ,$(2)))
GPUME_COMMA    := ,
gpume_module    = gpume/$(call gpume_column,1,$(1))/gpume_$(call gpume_column,2,$(1))

# With NVIDIA's headers and either compiler of kernels CUDA, else stubs. FFmpeg looks for clang
# whether or not it has the headers.
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_LLVM)) = yes
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_NVCC)) = yes

# The objects of a folder: every source. Those that only CUDA needs are the ones in the folder
# cuda and those called cuda*.c; where there is no CUDA, stubs.c takes their place.
gpume_sources   = $(patsubst $(GPUME_DIR)/$(1)/%,%,$(wildcard $(GPUME_DIR)/$(1)/*.$(2)))
gpume_cuda      = $(if $(filter cuda cuda_common,$(1)),%,cuda%)
gpume_objects   = $(patsubst %.c,gpume/$(1)/%.o,$(if $(GPUME_CUDA-yes),                     \
                      $(filter-out stubs.c %_template.c,$(call gpume_sources,$(1),c)),      \
                      $(filter-out $(filter-out stubs.c,$(filter $(call gpume_cuda,$(1)),   \
                          $(call gpume_sources,$(1),c))) %_template.c,$(call gpume_sources,$(1),c)))) \
                  $(if $(GPUME_CUDA-yes),$(foreach M,$(call gpume_modules,$(1)),$(call gpume_module,$(M)).ptx.o))

# The objects of a folder's code for a processor, which has a folder in it: every source.
gpume_arch      = $(foreach E,c asm S,$(patsubst %.$(E),gpume/$(1)/$(2)/%.o,$(call gpume_sources,$(1)/$(2),$(E))))
# FFmpeg's lists of such objects, and their folders. Arm of 32 bits has NEON, too.
GPUME_ARCHS    := x86 aarch64
GPUME_ARCH      = $(if $(and $(ARCH_X86_64),$(HAVE_X86ASM)),X86ASM-OBJS x86) $(if $(ARCH_AARCH64),NEON-OBJS aarch64)

GPUME_COMMON   := $(foreach D,$(call gpume_folders,common),$(call gpume_objects,$(D))) \
                  $(if $(GPUME_CUDA-yes),cuda/load_helper.o)

define GPUME_FILTER
OBJS-$$(CONFIG_$(call gpume_upper,$(1))_FILTER)        += vf_$(1).o $$(GPUME_COMMON) \
    $$(foreach D,$$(call gpume_folders,$(1)),$$(call gpume_objects,$$(D)))
$(if $(GPUME_ARCH),$(firstword $(GPUME_ARCH))-$$(CONFIG_$(call gpume_upper,$(1))_FILTER) += \
    $$(foreach D,$$(call gpume_folders,common) $$(call gpume_folders,$(1)), \
        $$(call gpume_arch,$$(D),$(lastword $(GPUME_ARCH)))))
endef
$(foreach F,$(GPUME_FILTERS),$(eval $(call GPUME_FILTER,$(F))))
OBJS-$(CONFIG_MVSTEREO_FILTER) += framesync.o

# FFmpeg leaves loops as they are with most versions of gcc; here they are half of the work.
GPUME_VECTORIZED = $(addprefix libavfilter/gpume/,core/scene.o cpu/global.o cpu/pixels.o \
                     mvdeint/cpu.o mvdeint/order.o mvdeint/samples.o \
                     mvdenoise/noise.o mvdenoise/samples.o mvdenoise/transform.o mvdenoise/unclip.o \
                     mvstab/cpu.o mvstab/dsp.o mvstab/fit.o \
                     mvstereo/cpu.o mvstereo/dsp.o mvstereo/features.o mvstereo/match.o mvstereo/painter.o \
                     mvstereo/plane.o mvstereo/refine.o mvstereo/temporal.o)
$(GPUME_VECTORIZED): CFLAGS += -ftree-vectorize

# The path of the camera is computed in doubles, each operation rounded by itself on every processor.
libavfilter/gpume/mvstab/%.o libavfilter/tests/gpume_mvstab.o: CFLAGS += -ffp-contract=off

# Warp exchanges with a mask need PTX 6.0; clang writes 3.2 by default. It also stops
# unrolling long loops, which would spill the registers of the full search.
ifdef CONFIG_CUDA_LLVM
libavfilter/gpume/%.ptx: NVCCFLAGS += -Xclang -target-feature -Xclang +ptx60 \
                                                -mllvm -pragma-unroll-threshold=100000
# FFmpeg's kernels are for compute capability 3.0. Dot products of bytes need 6.1, of the device too.
libavfilter/gpume/%_dp4a.ptx: NVCCFLAGS += -Xclang -target-cpu -Xclang sm_61
# Half-precision numbers need 5.3, their absolute values PTX 6.5.
libavfilter/gpume/%_10.ptx: NVCCFLAGS += -Xclang -target-cpu -Xclang sm_53 -Xclang -target-feature -Xclang +ptx65
# Least values of such pairs, and of warps, need 8.0.
libavfilter/gpume/%_80.ptx: NVCCFLAGS += -Xclang -target-cpu -Xclang sm_80 -Xclang -target-feature -Xclang +ptx70
endif
# The kernels' own includes: FFmpeg's tree is not on nvcc's path.
libavfilter/gpume/%.ptx: NVCCFLAGS += -I$(SRC_LINK)
# The headers that kernels of a folder may include: its own and those of the common folders below it.
gpume_headers   = $(foreach D,$(sort $(filter-out cuda,$(call gpume_folders,common)) $(1)), \
                      $(wildcard $(GPUME_DIR)/$(D)/*.h $(GPUME_DIR)/$(D)/*.cuh))

# A module from its family's source; FFmpeg's rules make an object of it.
define GPUME_MODULE
libavfilter/$(call gpume_module,$(1)).ptx: NVCCFLAGS += \
    -DGPUME_CUDA_NAME=gpume_$(call gpume_column,2,$(1))        \
    -DGPUME_CUDA_DEPTH=$(call gpume_column,4,$(1))             \
    -DGPUME_CUDA_SIDE=$(call gpume_column,6,$(1))              \
    -DGPUME_CUDA_COST=GPUME_COST_$(call gpume_column,7,$(1))   \
    '-DGPUME_CUDA_VARIANT=$(call gpume_column,5,$(1))'
libavfilter/$(call gpume_module,$(1)).ptx: \
    $(GPUME_DIR)/$(call gpume_column,1,$(1))/$(call gpume_column,3,$(1)).cu \
    $(call gpume_headers,$(call gpume_column,1,$(1))) | libavfilter/gpume/$(call gpume_column,1,$(1))/
	$$(COMPILE_NVCC)
endef
$(foreach M,$(foreach D,$(GPUME_FOLDERS),$(call gpume_modules,$(D))),$(eval $(call GPUME_MODULE,$(M))))

# The movie filter is why libavfilter's programs are linked with libavcodec
GPUME_HAS_CODECS = $(if $(CONFIG_MOVIE_FILTER),$(CONFIG_MPEG4_ENCODER))

# Programs that need POSIX: links, pipes, limits, what /proc has.
GPUME_POSIX = $(if $(HAVE_SETRLIMIT),$(1))
TESTPROGS-$(CONFIG_GPUME_FILTER) += gpume_compare       \
                                    gpume_hint_constant      \
                                    $(call GPUME_POSIX,gpume_robustness gpume_soak) \
                                    $(if $(GPUME_HAS_CODECS),gpume_me_hint) \
                                    $(if $(CONFIG_MVFPS_FILTER),gpume_filter_streams gpume_mvfps)   \
                                    $(if $(CONFIG_MVDENOISE_FILTER),gpume_mvdenoise)     \
                                    $(if $(CONFIG_MVDEINT_FILTER),gpume_mvdeint)         \
                                    $(if $(CONFIG_MVSTAB_FILTER),gpume_mvstab)           \
                                    $(if $(CONFIG_MVSTEREO_FILTER),gpume_mvstereo)       \
                                    $(if $(CONFIG_MVVIEW_FILTER),gpume_mvview) \
                                    gpume_unit          \
                                    $(if $(GPUME_CUDA-yes),$(call GPUME_POSIX,gpume_bench))

# What the test programs share; one of them lets calls fail.
GPUME_FILTER_PROGS = $(addprefix libavfilter/tests/gpume_,mvdeint mvdenoise mvfps mvstab mvstereo mvview filter_streams)
GPUME_TEST_PROGS = $(GPUME_FILTER_PROGS) \
    $(addprefix libavfilter/tests/gpume_,compare hint_constant me_hint robustness soak unit)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER), gpume_fail.o gpume_harness.o gpume_filter_harness.o)
$(GPUME_TEST_PROGS:%=%$(EXESUF)): libavfilter/tests/gpume_harness.o
$(addsuffix $(EXESUF),$(GPUME_FILTER_PROGS) $(addprefix libavfilter/tests/gpume_,hint_constant robustness)): \
    libavfilter/tests/gpume_fail.o
$(GPUME_FILTER_PROGS:%=%$(EXESUF)): libavfilter/tests/gpume_filter_harness.o

# The benchmark (bench/README.md): one program in parts, with its own kernels.
GPUME_BENCH_PTX  = gpume_bench_ceilings gpume_bench_seed
GPUME_BENCH_OBJS = $(addprefix gpume_bench_, ceilings.o filters.o kernels.o nvofa.o seed.o seed_serial.o) \
                   $(GPUME_BENCH_PTX:%=%.ptx.o)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER),$(if $(GPUME_CUDA-yes),$(call GPUME_POSIX,$(GPUME_BENCH_OBJS))))
libavfilter/tests/gpume_bench$(EXESUF): $(GPUME_BENCH_OBJS:%=libavfilter/tests/%)
libavfilter/tests/%.ptx: NVCCFLAGS += -I$(SRC_LINK)
$(GPUME_BENCH_PTX:%=libavfilter/tests/%.ptx): $(call gpume_headers,cuda) \
    $(GPUME_BENCH_PTX:%=$(SRC_PATH)/libavfilter/tests/%.h) | libavfilter/tests/
.SECONDARY: $(foreach S,.ptx .ptx.gz .ptx.c,$(GPUME_BENCH_PTX:%=libavfilter/tests/%$(S)))

clean::
	$(RM) $(foreach D,$(GPUME_FOLDERS) $(foreach A,$(GPUME_ARCHS),$(GPUME_FOLDERS:%=%/$(A))), \
	    $(CLEANSUFFIXES:%=libavfilter/gpume/$(D)/%))
