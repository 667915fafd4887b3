# SPDX-License-Identifier: LGPL-2.1-or-later
# Copied into FFmpeg as libavfilter/gpume/Makefile, which libavfilter/Makefile includes.

# The modules of kernels: a backend loads the one that it needs.
GPUME_PTX = gpume_ds gpume_ds4 gpume_ds8 gpume_ds16 gpume_fs gpume_fs4            \
            gpume_fs8_9 gpume_fs8_11 gpume_fs8_13 gpume_fs16_9 gpume_fs16_11 gpume_fs16_13 \
            gpume_predict gpume_predict4 gpume_predict8 gpume_predict16 \
            gpume_sea8 gpume_sea16 gpume_walk gpume_walk4 gpume_walk8 gpume_walk16

# With NVIDIA's headers and either compiler of kernels the CUDA backend, else its
# stub. FFmpeg looks for clang whether or not it has the headers.
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_LLVM)) = yes
GPUME_CUDA-$(if $(CONFIG_FFNVCODEC),$(CONFIG_CUDA_NVCC)) = yes
GPUME_CUDA_OBJS = $(if $(GPUME_CUDA-yes),                \
                      cuda/load_helper.o                 \
                      gpume/cuda/backend.o               \
                      gpume/cuda/kernels.o               \
                      $(GPUME_PTX:%=gpume/cuda/%.ptx.o), \
                      gpume/cuda/stubs.o)

OBJS-$(CONFIG_GPUME_FILTER) += vf_gpume.o               \
                               gpume/core/backend.o     \
                               gpume/core/engine.o      \
                               gpume/core/params.o      \
                               gpume/core/plan.o        \
                               gpume/cpu/backend.o      \
                               gpume/cpu/sad.o          \
                               gpume/cpu/sea.o          \
                               gpume/cpu/search.o       \
                               gpume/cpu/task.o         \
                               gpume/cpu/wavefront.o    \
                               gpume/output/csv.o       \
                               gpume/output/file.o      \
                               gpume/output/metadata.o  \
                               gpume/output/npy.o       \
                               gpume/output/output.o    \
                               gpume/output/sidedata.o  \
                               gpume/output/stats.o     \
                               $(GPUME_CUDA_OBJS)

X86ASM-OBJS-$(CONFIG_GPUME_FILTER) += gpume/cpu/x86/sad.o            \
                                      gpume/cpu/x86/sad_init.o       \
                                      gpume/cpu/x86/sea.o            \
                                      gpume/cpu/x86/sea_init.o

# Warp exchanges with a mask need PTX 6.0; clang writes 3.2 by default. It also stops
# unrolling long loops, which would spill the registers of the full search.
ifdef CONFIG_CUDA_LLVM
libavfilter/gpume/cuda/%.ptx: NVCCFLAGS += -Xclang -target-feature -Xclang +ptx60 \
                                                -mllvm -pragma-unroll-threshold=100000
endif
# The kernels' own includes: FFmpeg's tree is not on nvcc's path.
libavfilter/gpume/cuda/%.ptx: NVCCFLAGS += -I$(SRC_PATH)
$(GPUME_PTX:%=libavfilter/gpume/cuda/%.ptx): $(addprefix $(SRC_PATH)/libavfilter/gpume/, \
    core/geometry.h core/params.h core/searches.h core/vector.h cuda/gpume_cuda.h cuda/gpume_device.h cuda/gpume_ds.cuh cuda/gpume_fs.cuh \
    cuda/gpume_pattern.cuh cuda/gpume_predict.cuh cuda/gpume_sea.cuh cuda/gpume_walk.cuh) \
    | libavfilter/gpume/cuda/

TESTPROGS-$(CONFIG_GPUME_FILTER) += gpume_compare       \
                                    gpume_input         \
                                    gpume_soak          \
                                    gpume_unit          \
                                    $(if $(GPUME_CUDA-yes),gpume_bench)

# What the test programs share; one of them lets calls fail.
GPUME_TEST_PROGS = $(addprefix libavfilter/tests/, gpume_compare gpume_input gpume_soak gpume_unit)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER), gpume_fail.o gpume_harness.o)
$(GPUME_TEST_PROGS:%=%$(EXESUF)): libavfilter/tests/gpume_harness.o
libavfilter/tests/gpume_input$(EXESUF): libavfilter/tests/gpume_fail.o

# The benchmark (bench/README.md): one program in parts, with its own kernels.
GPUME_BENCH_PTX  = gpume_bench_ceilings gpume_bench_seed
GPUME_BENCH_OBJS = $(addprefix gpume_bench_, ceilings.o kernels.o memory.o nvofa.o seed.o) \
                   $(GPUME_BENCH_PTX:%=%.ptx.o)
TESTOBJS += $(if $(CONFIG_GPUME_FILTER),$(if $(GPUME_CUDA-yes),$(GPUME_BENCH_OBJS)))
libavfilter/tests/gpume_bench$(EXESUF): $(GPUME_BENCH_OBJS:%=libavfilter/tests/%)
libavfilter/tests/%.ptx: NVCCFLAGS += -I$(SRC_PATH)
$(GPUME_BENCH_PTX:%=libavfilter/tests/%.ptx): $(addprefix $(SRC_PATH)/libavfilter/, \
    gpume/core/params.h gpume/cuda/gpume_cuda.h gpume/cuda/gpume_device.h $(GPUME_BENCH_PTX:%=tests/%.h)) \
    | libavfilter/tests/
.SECONDARY: $(foreach S,.ptx .ptx.gz .ptx.c,$(GPUME_BENCH_PTX:%=libavfilter/tests/%$(S)))

clean::
	$(RM) $(foreach D,core cpu cpu/x86 cuda output,$(CLEANSUFFIXES:%=libavfilter/gpume/$(D)/%))
