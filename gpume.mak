# SPDX-License-Identifier: LGPL-2.1-or-later
# Laid into FFmpeg as libavfilter/gpume/Makefile; included by libavfilter/Makefile.

OBJS-$(CONFIG_GPUME_FILTER) += vf_gpume.o               \
                               gpume/gpume.o            \
                               gpume/gpume_output.o     \
                               gpume/cpu/backend.o      \
                               gpume/cpu/cost.o         \
                               gpume/cpu/search.o       \
                               gpume/cuda/stubs.o       \

TESTPROGS-$(CONFIG_GPUME_FILTER) += gpume_compare       \
                                    gpume_input         \
                                    gpume_unit          \

clean::
	$(RM) $(foreach D,gpume gpume/cpu gpume/cpu/x86 gpume/cuda,$(CLEANSUFFIXES:%=libavfilter/$(D)/%))
