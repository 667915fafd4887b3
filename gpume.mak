# SPDX-License-Identifier: LGPL-2.1-or-later
# Copied into FFmpeg as libavfilter/gpume/Makefile, which libavfilter/Makefile includes.

# The modules of kernels that a folder's modules.h lists, as words
# 'folder,name,family,depth,side,cost,variant'; and their objects.
gpume_modules  = $(shell sed -n 's/^ *M(\(.*\)).*/$(1),\1/p' \
                         $(SRC_PATH)/libavfilter/gpume/$(1)/modules.h | tr -d ' ')
gpume_column   = $(word $(1),$(subst $(GPUME_COMMA), ,$(2)))
GPUME_COMMA   := ,
gpume_module   = gpume/$(call gpume_column,1,$(1))/gpume_$(call gpume_column,2,$(1))
GPUME_MODULES  := $(call gpume_modules,cuda)
MVVIEW_MODULES := $(call gpume_modules,view)
MVFPS_MODULES  := $(call gpume_modules,between)

# With NVIDIA's headers and either compiler of kernels the CUDA backend, else its
# stub. FFmpeg looks for clang whether or not it has the headers.
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_LLVM)) = yes
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_NVCC)) = yes
# What every filter with kernels needs, and its modules' objects.
gpume_kernels   = cuda/load_helper.o gpume/cuda/driver.o gpume/cuda/uploads.o $(foreach M,$(1),$(call gpume_module,$(M)).ptx.o)
GPUME_CUDA_OBJS = $(if $(GPUME_CUDA-yes),                     \
                      gpume/cuda/backend.o                    \
                      gpume/cuda/launch.o                     \
                      gpume/cuda/modules.o                    \
                      gpume/cuda/motion.o                     \
                      gpume/cuda/same.o                       \
                      $(call gpume_kernels,$(GPUME_MODULES)), \
                      gpume/cuda/stubs.o)

MVVIEW_CUDA_OBJS = $(if $(GPUME_CUDA-yes),                      \
                      gpume/view/cuda.o                        \
                      $(call gpume_kernels,$(MVVIEW_MODULES)), \
                      gpume/view/stubs.o)

MVFPS_CUDA_OBJS  = $(if $(GPUME_CUDA-yes),                      \
                      gpume/between/cuda.o                     \
                      $(call gpume_kernels,$(MVFPS_MODULES)),  \
                      gpume/between/stubs.o)

OBJS-$(CONFIG_GPUME_FILTER) += vf_gpume.o               \
                               gpume/core/backend.o     \
                               gpume/core/engine.o      \
                               gpume/core/params.o      \
                               gpume/core/plan.o        \
                               gpume/core/same.o        \
                               gpume/cpu/backend.o      \
                               gpume/cpu/check.o        \
                               gpume/cpu/cost.o         \
                               gpume/cpu/pixels.o       \
                               gpume/cpu/planes.o       \
                               gpume/cpu/propagation.o  \
                               gpume/cpu/sad.o          \
                               gpume/cpu/sea.o          \
                               gpume/cpu/search.o       \
                               gpume/cpu/task.o         \
                               gpume/cpu/wavefront.o    \
                               gpume/output/constant.o  \
                               gpume/output/csv.o       \
                               gpume/output/file.o      \
                               gpume/output/metadata.o  \
                               gpume/output/npy.o       \
                               gpume/output/output.o    \
                               gpume/output/sidedata.o  \
                               gpume/output/stats.o     \
                               gpume/chain.o            \
                               $(GPUME_CUDA_OBJS)

X86ASM-OBJS-$(CONFIG_GPUME_FILTER) += gpume/cpu/x86/pixels.o         \
                                      gpume/cpu/x86/pixels_init.o    \
                                      gpume/cpu/x86/sad.o            \
                                      gpume/cpu/x86/sad_init.o       \
                                      gpume/cpu/x86/sea.o            \
                                      gpume/cpu/x86/sea_init.o

OBJS-$(CONFIG_MVVIEW_FILTER) += vf_mvview.o         \
                                gpume/view/canvas.o \
                                gpume/view/cpu.o    \
                                gpume/view/field.o  \
                                gpume/view/stamp.o  \
                                gpume/view/view.o   \
                                $(MVVIEW_CUDA_OBJS)

X86ASM-OBJS-$(CONFIG_MVVIEW_FILTER) += gpume/view/x86/blend.o      \
                                       gpume/view/x86/blend_init.o

OBJS-$(CONFIG_MVFPS_FILTER) += vf_mvfps.o             \
                               gpume/between/between.o \
                               gpume/between/blend.o   \
                               gpume/between/cpu.o     \
                               gpume/between/fields.o  \
                               gpume/between/layout.o  \
                               gpume/between/mci.o     \
                               gpume/between/picture.o \
                               gpume/between/scene.o   \
                               gpume/chain.o           \
                               $(MVFPS_CUDA_OBJS)

X86ASM-OBJS-$(CONFIG_MVFPS_FILTER) += gpume/between/x86/mci.o       \
                                      gpume/between/x86/mci_init.o

# Warp exchanges with a mask need PTX 6.0; clang writes 3.2 by default. It also stops
# unrolling long loops, which would spill the registers of the full search.
ifdef CONFIG_CUDA_LLVM
libavfilter/gpume/%.ptx: NVCCFLAGS += -Xclang -target-feature -Xclang +ptx60 \
                                                -mllvm -pragma-unroll-threshold=100000
endif
# The kernels' own includes: FFmpeg's tree is not on nvcc's path.
libavfilter/gpume/%.ptx: NVCCFLAGS += -I$(SRC_PATH)
gpume_headers = $(wildcard $(addprefix $(SRC_PATH)/libavfilter/gpume/, $(1)))
GPUME_KERNEL_HEADERS-cuda := $(call gpume_headers, core/*.h cuda/*.h cuda/*.cuh)
GPUME_KERNEL_HEADERS-view := $(call gpume_headers, *.h cuda/common.cuh view/*.h view/*.cuh)
GPUME_KERNEL_HEADERS-between := $(call gpume_headers, *.h cuda/common.cuh between/*.h between/*.cuh)

# A module from its family's source; FFmpeg's rules make an object of it.
define GPUME_MODULE
libavfilter/$(call gpume_module,$(1)).ptx: NVCCFLAGS += \
    -DGPUME_CUDA_NAME=gpume_$(call gpume_column,2,$(1))        \
    -DGPUME_CUDA_DEPTH=$(call gpume_column,4,$(1))             \
    -DGPUME_CUDA_SIDE=$(call gpume_column,5,$(1))              \
    -DGPUME_CUDA_COST=GPUME_COST_$(call gpume_column,6,$(1))   \
    '-DGPUME_CUDA_VARIANT=$(call gpume_column,7,$(1))'
libavfilter/$(call gpume_module,$(1)).ptx: \
    $(SRC_PATH)/libavfilter/gpume/$(call gpume_column,1,$(1))/$(call gpume_column,3,$(1)).cu \
    $(GPUME_KERNEL_HEADERS-$(call gpume_column,1,$(1))) | libavfilter/gpume/$(call gpume_column,1,$(1))/
	$$(COMPILE_NVCC)
endef
$(foreach M,$(GPUME_MODULES) $(MVVIEW_MODULES) $(MVFPS_MODULES),$(eval $(call GPUME_MODULE,$(M))))

# The movie filter is why libavfilter's programs are linked with libavcodec
GPUME_HAS_CODECS = $(if $(CONFIG_MOVIE_FILTER),$(CONFIG_MPEG4_ENCODER))

TESTPROGS-$(CONFIG_GPUME_FILTER) += gpume_compare       \
                                    gpume_constant      \
                                    gpume_input         \
                                    $(if $(GPUME_HAS_CODECS),gpume_me_hint) \
                                    $(if $(CONFIG_MVFPS_FILTER),gpume_fps gpume_mvfps)   \
                                    $(if $(CONFIG_MVVIEW_FILTER),gpume_mvview) \
                                    gpume_soak          \
                                    gpume_unit          \
                                    $(if $(GPUME_CUDA-yes),gpume_bench)

# What the test programs share; one of them lets calls fail.
GPUME_TEST_PROGS = $(addprefix libavfilter/tests/, gpume_compare gpume_constant gpume_fps gpume_input gpume_me_hint gpume_mvfps gpume_mvview gpume_soak gpume_unit)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER), gpume_fail.o gpume_harness.o)
$(GPUME_TEST_PROGS:%=%$(EXESUF)): libavfilter/tests/gpume_harness.o
$(addprefix libavfilter/tests/, gpume_constant$(EXESUF) gpume_fps$(EXESUF) gpume_input$(EXESUF) gpume_mvfps$(EXESUF) gpume_mvview$(EXESUF)): libavfilter/tests/gpume_fail.o

# The benchmark (bench/README.md): one program in parts, with its own kernels.
GPUME_BENCH_PTX  = gpume_bench_ceilings gpume_bench_seed
GPUME_BENCH_OBJS = $(addprefix gpume_bench_, between.o ceilings.o draw.o kernels.o memory.o nvofa.o seed.o) \
                   $(GPUME_BENCH_PTX:%=%.ptx.o)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER),$(if $(GPUME_CUDA-yes),$(GPUME_BENCH_OBJS)))
libavfilter/tests/gpume_bench$(EXESUF): $(GPUME_BENCH_OBJS:%=libavfilter/tests/%)
libavfilter/tests/%.ptx: NVCCFLAGS += -I$(SRC_PATH)
$(GPUME_BENCH_PTX:%=libavfilter/tests/%.ptx): $(GPUME_KERNEL_HEADERS-cuda) \
    $(GPUME_BENCH_PTX:%=$(SRC_PATH)/libavfilter/tests/%.h) | libavfilter/tests/
.SECONDARY: $(foreach S,.ptx .ptx.gz .ptx.c,$(GPUME_BENCH_PTX:%=libavfilter/tests/%$(S)))

clean::
	$(RM) $(foreach D,between between/x86 core cpu cpu/x86 cuda output view view/x86,$(CLEANSUFFIXES:%=libavfilter/gpume/$(D)/%))
