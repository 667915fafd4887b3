# SPDX-License-Identifier: LGPL-2.1-or-later
# Copied into FFmpeg as tests/fate/gpume.mak.
#
# fate-gpume            all tests
# fate-gpume-other-builds      the tests for other series, processors and systems (other_builds.mak)
# fate-gpume-san        the tests for a build with sanitizers on the stand-in for the driver
# fate-gpume-valgrind   the tests that run under TARGET_EXEC=valgrind
# fate-gpume-gpl        the tests that need a build under the GPL
# fate-gpume-device     the tests that reach the device when backend=auto has one
#
# No test needs samples. If GPUME_VIDEO or GPUME_CLIPS is a folder, its clips are searched, too.
# Tests that must give the same result share one reference.

# The names of all searches, or of those of one kind, from the table of searches.
GPUME_NAMES      = $(shell sh $(SRC_PATH)/libavfilter/gpume/tools/searches.sh $(1))
GPUME_SEARCHES  := $(call GPUME_NAMES)
GPUME_PREDICTIVE := $(call GPUME_NAMES,PREDICTIVE)

# A window that pans over a moving test pattern.
GPUME_PAN   = testsrc2=s=128x96:r=10,format=yuv420p,crop=94:70:3*n:2*n
GPUME_SRC   = $(GPUME_PAN),trim=end_frame=4
GPUME_BIG   = testsrc2=s=240x180:r=5,format=gray,crop=200:140:5*n:4*n,trim=end_frame=2
GPUME_ODD   = testsrc2=s=96x80:r=10,format=gray,crop=53:37:3*n:2*n,trim=end_frame=3
GPUME_10BIT = $(GPUME_SRC),scale=flags=accurate_rnd+bitexact,format=yuv420p10le
GPUME_SCALE = scale=flags=accurate_rnd+bitexact,format=
# Makes the output of a command short (gpume_sums.sh).
GPUME_SUMS  = . $(SRC_PATH)/tests/fate/gpume_sums.sh; gpume_sums
# Runs a command that prints CRCs for each format f of a list.
GPUME_EACH  = each() { for f in $(1); do $(2) | sed -e "/^\#/d" -e "s/^/$$f: /"; done; }; $(GPUME_SUMS) each
GPUME_COMMA = ,
# Not empty with FFmpeg 7.
GPUME_SERIES_7 := $(filter 7.%,$(shell cat $(SRC_PATH)/RELEASE))
GPUME_REF   = $(SRC_PATH)/tests/ref/fate/gpume-
GPUME_TMP   = tests/data/fate/$(@:fate-%=%)

GPUME_SRC_NEEDS = GPUME_FILTER TESTSRC2_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER
GPUME_NEEDS     = $(GPUME_SRC_NEEDS) WRAPPED_AVFRAME_ENCODER NULL_MUXER

# Prints the vectors of a source, or one line for each motion field. $(1): the source; $(2): options of gpume, $(3): of
# ffmpeg
GPUME_ROWS = ffmpeg $(3) -lavfi "$(1),gpume=$(2):mv_file=-" -f null -
GPUME_CSV  = $(GPUME_SUMS) $(GPUME_ROWS)

# Prints the filter's messages and the exit status of commands that must fail. $(1): options of
# gpume; $(2): text before and $(3) after the command
GPUME_FAILS = { $(2) ffmpeg -v error -lavfi "$(GPUME_SRC),gpume=$(1)" -f null - $(3)   \
                && echo "it worked" || echo "it failed"; } 2>&1 |                    \
              sed -n -e "/Failed to configure/d" -e "s/^\[Parsed_gpume[^]]*\] *//p" -e "/^it /p"

# Options that must not change the vectors. $(1): options of gpume, $(2): of ffmpeg
GPUME_SAME = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=64:dir=both$(1),$(2))

# The searches, the directions, the options and their alternative names
FATE_GPUME_VECTORS = fate-gpume-fs fate-gpume-ds fate-gpume-past fate-gpume-future     \
                     fate-gpume-defaults fate-gpume-odd fate-gpume-yuv420p         \
                     fate-gpume-wide
fate-gpume-fs:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=fs:range=7:block=16:dir=both)
fate-gpume-ds:       CMD = $(GPUME_SAME)
fate-gpume-past:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=32:dir=past)
fate-gpume-future:   CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=32:dir=future)
fate-gpume-defaults: CMD = $(GPUME_SUMS) ffmpeg -lavfi "$(GPUME_SRC),gpume=mv_file=-" -f null -
fate-gpume-odd:      CMD = $(call GPUME_CSV,$(GPUME_ODD),algo=fs:range=1024:block=8)
fate-gpume-wide:     CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=fs:range=48:block=16)
fate-gpume-yuv420p:  CMD = $(call GPUME_ROWS,$(GPUME_SRC),algo=ds:range=20:block=32)

FATE_GPUME_SEARCHES = $(addprefix fate-gpume-,$(filter-out fs ds hme,$(GPUME_SEARCHES)))
FATE_GPUME_VECTORS += $(FATE_GPUME_SEARCHES)
$(FATE_GPUME_SEARCHES): CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=$(@:fate-gpume-%=%):range=24:dir=both)

# The other cost, with tiles that the edges cut
FATE_GPUME_SATD = fate-gpume-satd-fs fate-gpume-satd-ds fate-gpume-satd-hme fate-gpume-satd-odd
$(FATE_GPUME_SATD):  CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=$(@:fate-gpume-satd-%=%):block=16:cost=satd:range=12:dir=both)
fate-gpume-satd-odd: CMD = $(call GPUME_CSV,$(GPUME_ODD),algo=hme:cost=satd:block=8:dir=both)
FATE_GPUME_VECTORS += $(FATE_GPUME_SATD)

# Rows of blocks that wait for each other
FATE_GPUME_WAVES = $(foreach S,$(GPUME_PREDICTIVE),$(foreach N,1 2 5,fate-gpume-$(S)-threads-$(N)))
GPUME_SEARCH_OF  = $(word 3,$(subst -, ,$(1)))
$(FATE_GPUME_WAVES): CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=$(call GPUME_SEARCH_OF,$@):range=24:dir=both,-filter_complex_threads $(lastword $(subst -, ,$@)))
$(FATE_GPUME_WAVES): REF = $(GPUME_REF)$(call GPUME_SEARCH_OF,$@)
FATE_GPUME_VECTORS += $(FATE_GPUME_WAVES)

# True motion: hme, and other searches with smooth, check and pel
FATE_GPUME_HME = fate-gpume-hme fate-gpume-hme-4 fate-gpume-hme-8 fate-gpume-hme-both       \
                 fate-gpume-hme-odd fate-gpume-hme-plain fate-gpume-smooth fate-gpume-check \
                 fate-gpume-pel fate-gpume-pel-2
fate-gpume-hme:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:block=16)
fate-gpume-hme-4:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:block=4:range=40:dir=future)
fate-gpume-hme-8:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:block=8)
fate-gpume-hme-both:  CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:dir=both:block=16)
fate-gpume-hme-odd:   CMD = $(call GPUME_CSV,$(GPUME_ODD),algo=hme:block=8:range=1024:dir=both)
fate-gpume-hme-plain: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:block=16:levels=2:smooth=0:check=0:pel=1:sweeps=1)
fate-gpume-smooth:    CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:smooth=2)
fate-gpume-check:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:block=8:check=1)
fate-gpume-pel:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:pel=4:sweeps=1)
fate-gpume-pel-2:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:pel=2)
GPUME_MOTION_SEARCHES = fs ds epzs
FATE_GPUME_HME += $(GPUME_MOTION_SEARCHES:%=fate-gpume-motion-%)
$(GPUME_MOTION_SEARCHES:%=fate-gpume-motion-%): CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=$(@:fate-gpume-motion-%=%):range=12:smooth=2:check=1:pel=4:dir=both)
FATE_GPUME_HME += fate-gpume-hme-named fate-gpume-hme-default
fate-gpume-hme-default: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme)
fate-gpume-hme-default: REF = $(GPUME_REF)hme-8
fate-gpume-hme-named: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:block=16:range=256:smooth=2:check=1:pel=4:sweeps=4:levels=3)
fate-gpume-hme-named: REF = $(GPUME_REF)hme
FATE_GPUME_HME_SAME = $(foreach N,1 2 5,fate-gpume-hme-threads-$(N)) fate-gpume-hme-depth-1
fate-gpume-hme-threads-%: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:dir=both:block=16,-filter_complex_threads $(@:fate-gpume-hme-threads-%=%))
fate-gpume-hme-depth-1:   CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=hme:dir=both:block=16:async_depth=1)
$(FATE_GPUME_HME_SAME): REF = $(GPUME_REF)hme-both
FATE_GPUME_VECTORS += $(FATE_GPUME_HME) $(FATE_GPUME_HME_SAME)

GPUME_BLOCKS = 4 8 16 32 64 128
FATE_GPUME_VECTORS += $(GPUME_BLOCKS:%=fate-gpume-block-%)
$(GPUME_BLOCKS:%=fate-gpume-block-%): CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=ds:range=24:block=$(@:fate-gpume-block-%=%))

FATE_GPUME_FS = fate-gpume-alias-esa fate-gpume-alias-method
fate-gpume-alias-esa:    CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=esa:range=7:block=16:dir=both)
fate-gpume-alias-method: CMD = $(call GPUME_CSV,$(GPUME_SRC),method=esa:search_param=7:mb_size=16:dir=both)
FATE_GPUME_WIDE = fate-gpume-exhaustive
fate-gpume-exhaustive:   CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=fs:range=48:block=16:exhaustive=1)
FATE_GPUME_DEFAULTS = fate-gpume-defaults-named
fate-gpume-defaults-named: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=fs:range=16:block=16:dir=past:backend=auto:async_depth=2:metadata=0)
FATE_GPUME_DS = fate-gpume-alias-ds fate-gpume-threads-1 fate-gpume-threads-4          \
                fate-gpume-depth-1 fate-gpume-depth-64 fate-gpume-cpu fate-gpume-auto  \
                fate-gpume-twice
fate-gpume-alias-ds:  CMD = $(call GPUME_CSV,$(GPUME_SRC),method=ds:search_param=64:mb_size=16:dir=both)
fate-gpume-threads-%: CMD = $(call GPUME_SAME,,-filter_complex_threads $(@:fate-gpume-threads-%=%))
fate-gpume-depth-%:   CMD = $(call GPUME_SAME,:async_depth=$(@:fate-gpume-depth-%=%))
fate-gpume-cpu:       CMD = $(call GPUME_SAME,:backend=cpu)
# no device is visible, and no message is printed
fate-gpume-auto:      CMD = quiet() { $(subst $(GPUME_SUMS),,$(call GPUME_SAME,:backend=auto,-v error)) 2>&1; }; export CUDA_VISIBLE_DEVICES=; $(GPUME_SUMS) quiet
# the vectors of the second filter replace those of the first
fate-gpume-twice:     CMD = $(call GPUME_CSV,$(GPUME_SRC)$(GPUME_COMMA)gpume=algo=fs:block=4:range=2,algo=ds:range=64:dir=both)

FATE_GPUME_VF-$(call ALLYES, LAVFI_INDEV) += fate-gpume-vf-1 fate-gpume-vf-4
fate-gpume-vf-%: CMD = $(GPUME_SUMS) ffmpeg -filter_threads $(@:fate-gpume-vf-%=%) -f lavfi -i "$(GPUME_SRC)" -vf gpume=algo=ds:range=64:dir=both:mv_file=- -f null -
FATE_GPUME_DS += $(FATE_GPUME_VF-yes)

$(FATE_GPUME_FS):       REF = $(GPUME_REF)fs
$(FATE_GPUME_DS):       REF = $(GPUME_REF)ds
$(FATE_GPUME_DEFAULTS): REF = $(GPUME_REF)defaults
$(FATE_GPUME_WIDE):     REF = $(GPUME_REF)wide
FATE_GPUME_VECTORS += $(FATE_GPUME_FS) $(FATE_GPUME_DS) $(FATE_GPUME_DEFAULTS) $(FATE_GPUME_WIDE)

# The position of a sample's bits in its two bytes must not matter.
FATE_GPUME_LUMA = fate-gpume-nv12 fate-gpume-yuv444p
$(FATE_GPUME_LUMA): CMD = $(call GPUME_ROWS,$(GPUME_SRC)$(GPUME_COMMA)$(GPUME_SCALE)$(@:fate-gpume-%=%),algo=ds:range=20:block=32)
$(FATE_GPUME_LUMA): REF = $(GPUME_REF)yuv420p
FATE_GPUME_10BIT = $(addprefix fate-gpume-10bit-,yuv420p10le yuv420p10be p010le p010be)
$(FATE_GPUME_10BIT): CMD = $(call GPUME_CSV,$(GPUME_10BIT)$(GPUME_COMMA)$(GPUME_SCALE)$(@:fate-gpume-10bit-%=%),algo=fs:range=6:dir=both)
$(FATE_GPUME_10BIT): REF = $(GPUME_REF)10bit
FATE_GPUME_HME_10BIT = $(addprefix fate-gpume-hme-10bit-,yuv420p10le p010be)
$(FATE_GPUME_HME_10BIT): CMD = $(call GPUME_CSV,$(GPUME_10BIT)$(GPUME_COMMA)$(GPUME_SCALE)$(@:fate-gpume-hme-10bit-%=%),algo=hme:block=16:range=40)
$(FATE_GPUME_HME_10BIT): REF = $(GPUME_REF)hme-10bit
FATE_GPUME_SCALED-$(call ALLYES, $(GPUME_NEEDS) SCALE_FILTER) += $(FATE_GPUME_HME_10BIT)
FATE_GPUME_16BIT = $(addprefix fate-gpume-16bit-,gray16le gray16be)
$(FATE_GPUME_16BIT): CMD = $(call GPUME_CSV,$(GPUME_ODD)$(GPUME_COMMA)$(GPUME_SCALE)gray16le$(GPUME_COMMA)$(GPUME_SCALE)$(@:fate-gpume-16bit-%=%),algo=ds:range=30:block=8)
$(FATE_GPUME_16BIT): REF = $(GPUME_REF)16bit
FATE_GPUME_SCALED-$(call ALLYES, $(GPUME_NEEDS) SCALE_FILTER) += $(FATE_GPUME_LUMA) $(FATE_GPUME_10BIT) $(FATE_GPUME_16BIT)

# Blocks of several sizes
FATE_GPUME_TREES = $(addprefix fate-gpume-tree-,fs ds hme epzs satd pel odd 16 64 lambda-0 lambda-65536 qp both refs \
                     stats stats-hme jsonl npy)
fate-gpume-tree-%:        CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=$(@:fate-gpume-tree-%=%):range=9:dir=future:tree=1)
fate-gpume-tree-satd:     CMD = $(call GPUME_CSV,$(GPUME_ODD),algo=ds:cost=satd:tree=1:tree_max=32:block=4:qp=24)
fate-gpume-tree-pel:      CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=12:smooth=2:check=1:pel=4:tree=1)
fate-gpume-tree-odd:      CMD = $(call GPUME_CSV,$(GPUME_ODD),algo=hme:dir=both:tree=1:block=4:lambda=700)
fate-gpume-tree-16:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=fs:range=7:tree=1:tree_max=16:block=8:lambda=300)
fate-gpume-tree-64:       CMD = $(call GPUME_ROWS,$(GPUME_BIG),algo=fs:range=7:tree=1:tree_max=64:block=32:lambda=300)
fate-gpume-tree-lambda-%: CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=12:tree=1:lambda=$(@:fate-gpume-tree-lambda-%=%))
fate-gpume-tree-qp:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=12:tree=1:qp=44)
fate-gpume-tree-both:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=12:dir=both:tree=1:block=16)
fate-gpume-tree-refs:     CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=epzs:range=12:refs=2:tree=1:block=16)
fate-gpume-tree-stats:    CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=12:dir=both:tree=1:stats_file=-" -f null -
fate-gpume-tree-stats-hme: CMD = ffmpeg -lavfi "$(GPUME_ODD),gpume=algo=hme:tree=1:tree_max=32:block=4:stats_file=-" -f null -
fate-gpume-tree-jsonl:    CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=12:tree=1:tree_max=16:stats_format=jsonl:stats_file=-" -f null -
fate-gpume-tree-npy:      CMD = $(call GPUME_NPY,$(GPUME_ODD),algo=ds:range=12:tree=1)
# default values; threads and frames in flight
FATE_GPUME_TREES += fate-gpume-tree-named $(foreach N,1 2 5,fate-gpume-tree-threads-$(N)) fate-gpume-tree-depth-1
fate-gpume-tree-named:    CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=hme:range=9:dir=future:tree=1:block=8:tree_max=64:qp=28:lambda=-1)
fate-gpume-tree-threads-%: CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=hme:range=9:dir=future:tree=1,-filter_complex_threads $(@:fate-gpume-tree-threads-%=%))
fate-gpume-tree-depth-1:  CMD = $(call GPUME_CSV,$(GPUME_BIG),algo=hme:range=9:dir=future:tree=1:async_depth=1)
fate-gpume-tree-named fate-gpume-tree-threads-% fate-gpume-tree-depth-1: REF = $(GPUME_REF)tree-hme
FATE_GPUME_VECTORS += $(FATE_GPUME_TREES)
FATE_GPUME_TREES_10BIT = $(addprefix fate-gpume-tree-10bit-,yuv420p10le p010be)
$(FATE_GPUME_TREES_10BIT): CMD = $(call GPUME_CSV,$(GPUME_10BIT)$(GPUME_COMMA)$(GPUME_SCALE)$(@:fate-gpume-tree-10bit-%=%),algo=hme:range=40:tree=1:block=16:lambda=2000)
$(FATE_GPUME_TREES_10BIT): REF = $(GPUME_REF)tree-10bit
FATE_GPUME_SCALED-$(call ALLYES, $(GPUME_NEEDS) SCALE_FILTER) += $(FATE_GPUME_TREES_10BIT)

# Streams that are short or change size
FATE_GPUME_VECTORS += fate-gpume-frames-0 fate-gpume-frames-1 fate-gpume-frames-2
fate-gpume-frames-%: CMD = $(call GPUME_ROWS,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=$(@:fate-gpume-frames-%=%),algo=ds:block=32:dir=both)
FATE_GPUME_SCALED-$(call ALLYES, $(GPUME_NEEDS) SCALE_FILTER) += fate-gpume-change fate-gpume-change-hme
fate-gpume-change fate-gpume-change-hme: CMD = $(call GPUME_CSV,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=7$(GPUME_COMMA)scale=w=if(lt(n\$(GPUME_COMMA)3)\$(GPUME_COMMA)94\$(GPUME_COMMA)64):h=70:eval=frame:flags=neighbor+accurate_rnd+bitexact,algo=$(or $(word 4,$(subst -, ,$@)),ds):block=32:dir=both)
# either one filter graph searches both sizes, or ffmpeg makes a second graph
FATE_GPUME_CHANGE-$(call ALLYES, $(GPUME_NEEDS) IMAGE2_MUXER IMAGE2_DEMUXER PGM_ENCODER PGM_DECODER FILE_PROTOCOL) += fate-gpume-change-input fate-gpume-change-reinit
GPUME_CHANGE = ffmpeg -y -lavfi "testsrc2=s=64x48:r=3,format=gray,trim=end_frame=3" -f image2 -c:v pgm $(GPUME_TMP)-%d.pgm && \
               ffmpeg -y -lavfi "testsrc2=s=40x60:r=3,format=gray,trim=end_frame=3" -f image2 -c:v pgm -start_number 4 $(GPUME_TMP)-%d.pgm && \
               cleanfiles="$$cleanfiles $(foreach N,1 2 3 4 5 6,$(GPUME_TMP)-$(N).pgm)" && \
               $(GPUME_SUMS) ffmpeg -c:v pgm $(1) -i $(GPUME_TMP)-%d.pgm -vf gpume=algo=fs:range=9:dir=both:$(2)mv_file=- -f null -
fate-gpume-change-input:  CMD = $(call GPUME_CHANGE,-reinit_filter 0)
# frames in flight are lost with the graph
fate-gpume-change-reinit: CMD = $(call GPUME_CHANGE,,async_depth=1:)
# the files of the first graph are not lost
FATE_GPUME_CHANGE-$(call ALLYES, $(GPUME_NEEDS) IMAGE2_MUXER IMAGE2_DEMUXER PGM_ENCODER PGM_DECODER FILE_PROTOCOL) += fate-gpume-change-files fate-gpume-change-message
fate-gpume-change-files:  CMD = cleanfiles="$$cleanfiles $(GPUME_TMP).csv $(GPUME_TMP)-2.csv"; rm -f $$cleanfiles; \
                                $(subst $(GPUME_SUMS),,$(subst mv_file=-,mv_file=$(GPUME_TMP).csv,$(call GPUME_CHANGE,,async_depth=1:))) && \
                                $(GPUME_SUMS) cat $(GPUME_TMP).csv $(GPUME_TMP)-2.csv
fate-gpume-change-files:  REF = $(GPUME_REF)change-reinit
fate-gpume-change-message: CMD = cleanfiles="$$cleanfiles $(GPUME_TMP).csv $(GPUME_TMP)-2.csv"; rm -f $$cleanfiles; \
                                 { $(subst $(GPUME_SUMS),,$(subst mv_file=-,mv_file=$(GPUME_TMP).csv,$(call GPUME_CHANGE,-v warning,))); } 2>&1 | \
                                 sed -n "s/^\[Parsed_gpume[^]]*\] *//p"

# Files
FATE_GPUME_VECTORS += fate-gpume-stats fate-gpume-stats-1 fate-gpume-stats-hme fate-gpume-stats-satd
fate-gpume-stats-hme: CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=hme:block=16:dir=both:stats_file=-" -f null -
fate-gpume-stats-satd: CMD = ffmpeg -lavfi "$(GPUME_ODD),gpume=algo=ds:cost=satd:range=64:block=32:stats_file=-" -f null -
fate-gpume-stats:   CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=64:dir=both:stats_file=-" -f null -
fate-gpume-stats-1: CMD = ffmpeg -lavfi "$(GPUME_SRC),setpts=N*7-3,gpume=algo=fs:range=3:block=64:stats_file=-" -f null -
FATE_GPUME_VECTORS += fate-gpume-jsonl
fate-gpume-jsonl:   CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=64:dir=both:stats_format=jsonl:stats_file=-" -f null -
FATE_GPUME_METADATA-$(call ALLYES, $(GPUME_NEEDS) METADATA_FILTER) += fate-gpume-metadata
fate-gpume-metadata: CMD = ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=64:dir=both:metadata=1,metadata=print:file=-" -f null -

# The first frames of scenes: no part of a pan, a bar that passes, a flash, a fade; also beside a still. $(1): a scene
# in which a window moves; $(2) to $(4): where it is
GPUME_SCENE = color=gray:s=80x60:r=10,noise=c0s=100:c0_seed=$(1),scale=320:240:flags=accurate_rnd+bitexact,format=yuv420p,trim=end_frame=1,loop=$(4):1:0,setpts=N/10/TB,crop=160:120:$(2):$(3)
GPUME_BARS  = drawbox=w=40:h=120:x=30:color=white:t=fill:enable=eq(n\,3),drawbox=w=40:h=120:x=75:color=white:t=fill:enable=eq(n\,4),lutyuv=y=val*1.6:enable=eq(n\,6)
GPUME_CUTS  = ffmpeg -lavfi "$(call GPUME_SCENE,1,8*n,60,7)[a];$(call GPUME_SCENE,2,60,2*n,9)$(1),settb=1/10,setpts=N$(2),gpume=algo=hme:metadata=1,metadata=print:key=lavfi.gpume.past.cut:value=1:file=-" -f null -
FATE_GPUME_METADATA-$(call ALLYES, $(GPUME_NEEDS) METADATA_FILTER NOISE_FILTER SCALE_FILTER CROP_FILTER LOOP_FILTER CONCAT_FILTER DRAWBOX_FILTER LUTYUV_FILTER FADE_FILTER HSTACK_FILTER) += fate-gpume-cuts fate-gpume-cuts-half
fate-gpume-cuts:      CMD = $(call GPUME_CUTS,$(GPUME_COMMA)$(GPUME_BARS)[b];[a][b]concat,$(GPUME_COMMA)fade=out:12:6)
fate-gpume-cuts-half: CMD = $(call GPUME_CUTS,[b];[a][b]concat[d];$(call GPUME_SCENE,3,0,0,17)[c];[c][d]hstack)

# Standard output by its other names, and as a seekable file. On Windows no other descriptor is
# inherited.
GPUME_POSIX = $(if $(HAVE_SETRLIMIT),$(1))
FATE_GPUME_VECTORS += fate-gpume-stdout-dev $(call GPUME_POSIX,fate-gpume-stdout-fd fate-gpume-pipe)
fate-gpume-stdout-dev fate-gpume-stdout-fd fate-gpume-pipe: REF = $(GPUME_REF)defaults
fate-gpume-stdout-dev: CMD = $(GPUME_SUMS) ffmpeg -lavfi "$(GPUME_SRC),gpume=mv_file=/dev/stdout" -f null -
fate-gpume-stdout-fd:  CMD = run4() { ffmpeg -lavfi "$(GPUME_SRC),gpume=mv_file=/dev/fd/4" -f null - 4>&1; }; $(GPUME_SUMS) run4
fate-gpume-pipe:       CMD = run4() { ffmpeg -lavfi "$(GPUME_SRC),gpume=mv_file=/dev/fd/4" -f null - 4>&1 >/dev/null | cat; }; $(GPUME_SUMS) run4
FATE_GPUME_VECTORS += fate-gpume-npy-stdout
fate-gpume-npy-stdout: CMD = cleanfiles="$$cleanfiles $(GPUME_TMP).npy"; \
                             ffmpeg -lavfi "$(GPUME_SRC),gpume=algo=ds:range=64:dir=both:mv_format=npy:mv_file=-" -f null - > $(GPUME_TMP).npy && \
                             $(GPUME_SUMS) gpume_npy $(GPUME_TMP).npy
fate-gpume-npy-stdout: REF = $(GPUME_REF)npy

# prints the header as text, then the numbers
FATE_GPUME_VECTORS += fate-gpume-npy fate-gpume-npy-past fate-gpume-npy-0 fate-gpume-npy-hme
GPUME_NPY = cleanfiles="$$cleanfiles $(GPUME_TMP).npy"; \
            ffmpeg -lavfi "$(1),gpume=$(2):mv_file=$(GPUME_TMP).npy" -f null - && \
            $(GPUME_SUMS) gpume_npy $(GPUME_TMP).npy
fate-gpume-npy:      CMD = $(call GPUME_NPY,$(GPUME_SRC),algo=ds:range=64:dir=both)
fate-gpume-npy-hme:  CMD = $(call GPUME_NPY,$(GPUME_ODD),algo=hme:range=9:block=8)
fate-gpume-npy-past: CMD = $(subst gpume_sums gpume_npy,gpume_npy,$(call GPUME_NPY,$(GPUME_ODD),algo=fs:range=9:block=32))
fate-gpume-npy-0:    CMD = $(call GPUME_NPY,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=0,dir=future)

# records in a pipe, and with a change of the picture's size
FATE_GPUME_VECTORS += fate-gpume-npys fate-gpume-npys-tree fate-gpume-npys-0
GPUME_NPYS = $(GPUME_SUMS) gpume_npys -lavfi "$(1),gpume=$(2):mv_file=-:mv_format=npys" -f null -
fate-gpume-npys:      CMD = $(call GPUME_NPYS,$(GPUME_ODD),algo=hme:range=9:block=16:dir=both)
fate-gpume-npys-tree: CMD = $(call GPUME_NPYS,$(GPUME_ODD),algo=ds:range=12:tree=1:tree_max=32:lambda=3000)
# a patch cannot make an empty reference
fate-gpume-npys-0:    CMD = $(call GPUME_NPYS,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=1,dir=future) && echo no record
FATE_GPUME_SCALED-$(call ALLYES, $(GPUME_NEEDS) SCALE_FILTER) += fate-gpume-npys-change
fate-gpume-npys-change: CMD = $(subst gpume_sums gpume_npys,gpume_npys,$(call GPUME_NPYS,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=4$(GPUME_COMMA)scale=w=if(lt(n\$(GPUME_COMMA)2)\$(GPUME_COMMA)94\$(GPUME_COMMA)64):h=70:eval=frame:flags=neighbor+accurate_rnd+bitexact,block=32))

# Several references, also with the check; their files, statistics and metadata
FATE_GPUME_VECTORS += fate-gpume-refs fate-gpume-refs-check fate-gpume-refs-epzs
fate-gpume-refs:       CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=ds:range=24:block=32:dir=both:refs=3)
fate-gpume-refs-check: CMD = $(call GPUME_ROWS,$(GPUME_ODD),algo=hme:range=24:block=16:refs=2)
fate-gpume-refs-epzs:  CMD = $(call GPUME_CSV,$(GPUME_SRC),algo=epzs:range=24:block=32:dir=past:refs=2)
FATE_GPUME_REFS-$(call ALLYES, $(GPUME_NEEDS) SPLIT_FILTER SELECT_FILTER NULLSINK_FILTER) += fate-gpume-refs-distances
fate-gpume-refs-distances: CMD = . $(SRC_PATH)/tests/fate/gpume_refs.sh; gpume_refs \
    "testsrc2=s=64x48:r=10,format=gray,crop=53:37:n/2:n/3,trim=end_frame=18" gpume-refs \
    $(foreach A,$(filter-out epzs,$(GPUME_SEARCHES)),algo=$(A):range=9:block=8 $(if $(filter hme,$(A)),,algo=$(A):range=5:block=16:check=1:pel=2:smooth=1))

# numpy reads the .npy file and compares it with the .csv file of another instance.
FATE_GPUME_NUMPY-$(call ALLYES, $(GPUME_NEEDS) SPLIT_FILTER) += fate-gpume-numpy
fate-gpume-numpy: CMP = null
fate-gpume-numpy: CMD = cleanfiles="$$cleanfiles $(GPUME_TMP).npy $(GPUME_TMP).csv $(GPUME_TMP).npys"; \
                        ffmpeg -lavfi "$(GPUME_SRC),split=3[a][b][c];[a]gpume=dir=both:mv_file=$(GPUME_TMP).npy[d];[b]gpume=dir=both:mv_file=$(GPUME_TMP).csv[e];[c]gpume=dir=both:mv_file=$(GPUME_TMP).npys[f]" -map [d] -f null - -map [e] -f null - -map [f] -f null - && \
                        if command -v python3 >/dev/null; then python3 $(SRC_PATH)/tests/fate/gpume_npy.py $(GPUME_TMP).npy $(GPUME_TMP).csv $(GPUME_TMP).npys; \
                        else echo "numpy: skipped, there is no python3"; fi >&3

# All frames pass unchanged; then the vectors are drawn.
FATE_GPUME_FRAMECRC-$(call ALLYES, $(GPUME_SRC_NEEDS) NULL_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL) += fate-gpume-frames fate-gpume-frames-null
fate-gpume-frames:      CMD = framecrc -lavfi "$(GPUME_SRC),gpume=algo=ds:dir=both"
fate-gpume-frames-null: CMD = framecrc -lavfi "$(GPUME_SRC),null"
fate-gpume-frames-null: REF = $(GPUME_REF)frames
FATE_GPUME_FRAMECRC-$(call ALLYES, $(GPUME_SRC_NEEDS) CODECVIEW_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL) += fate-gpume-overlay fate-gpume-overlay-twice
fate-gpume-overlay:       CMD = framecrc -lavfi "$(GPUME_SRC),gpume=algo=ds:range=64:dir=both,codecview=mv_type=fp+bp"
fate-gpume-overlay-twice: CMD = framecrc -lavfi "$(GPUME_SRC),gpume=algo=fs:block=8:range=3:dir=both,gpume=algo=ds:range=64:dir=both,codecview=mv_type=fp+bp"
fate-gpume-overlay-twice: REF = $(GPUME_REF)overlay

# A filter under the GPL that finds moving parts of the picture: the pan has bars around it.
FATE_GPUME_GPL-$(call ALLYES, $(GPUME_NEEDS) CROPDETECT_FILTER PAD_FILTER METADATA_FILTER) += fate-gpume-cropdetect
fate-gpume-cropdetect: CMD = ffmpeg -lavfi "$(GPUME_PAN),trim=end_frame=8,pad=w=160:h=128:x=32:y=24,gpume=algo=hme:block=8,cropdetect=mode=mvedges:mv_threshold=2,metadata=print:file=-" -f null -
FATE_GPUME_GPL = $(FATE_GPUME_GPL-yes)

# Options that must fail
GPUME_BAD = range-1025 range-far block-2 block-24 block-256 algo-xyz dir-up \
            backend-gpu nosuch-1 device_size-0 smooth-65 cost-xyz pel-3 pel-5 sweeps-17 levels-12 lambda-65537 qp-52 tree-2
FATE_GPUME_BAD = $(GPUME_BAD:%=fate-gpume-bad-%)
$(FATE_GPUME_BAD): CMD = $(call GPUME_FAILS,$(subst -,=,$(@:fate-gpume-bad-%=%))) | tail -n 1
$(FATE_GPUME_BAD): CMP = oneline
$(FATE_GPUME_BAD): REF = it failed
FATE_GPUME_ERRORS = fate-gpume-error-block fate-gpume-error-folder fate-gpume-error-ending \
                    fate-gpume-error-full fate-gpume-error-full-csv fate-gpume-error-same  \
                    fate-gpume-error-size fate-gpume-error-cuda fate-gpume-error-pel      \
                    fate-gpume-error-sweeps fate-gpume-error-levels fate-gpume-error-hint \
                    fate-gpume-error-exhaustive fate-gpume-error-device fate-gpume-error-format \
                    fate-gpume-error-spelling fate-gpume-error-instances fate-gpume-error-pipe \
                    $(addprefix fate-gpume-error-tree-,max block both without hint)
fate-gpume-error-tree-max:     CMD = $(call GPUME_FAILS,tree=1:tree_max=48)
fate-gpume-error-tree-block:   CMD = $(call GPUME_FAILS,tree=1:block=64) ; $(call GPUME_FAILS,tree=1:tree_max=16:block=16)
fate-gpume-error-tree-both:    CMD = $(call GPUME_FAILS,tree=1:lambda=5:qp=20)
fate-gpume-error-tree-without: CMD = $(call GPUME_FAILS,tree_max=32) ; $(call GPUME_FAILS,lambda=0) ; $(call GPUME_FAILS,qp=20)
fate-gpume-error-tree-hint:    CMD = $(call GPUME_FAILS,tree=1:hint=constant)
fate-gpume-error-exhaustive: CMD = $(call GPUME_FAILS,algo=ds:exhaustive=1)
fate-gpume-error-device:   CMD = $(call GPUME_FAILS,backend=cpu:device=9)
fate-gpume-error-format:   CMD = $(call GPUME_FAILS,mv_format=csv)
fate-gpume-error-spelling: CMD = $(call GPUME_FAILS,mv_file=s.csv:stats_file=./s.csv)
fate-gpume-error-instances: CMD = $(call GPUME_FAILS,mv_file=tests/data/two.csv$(GPUME_COMMA)gpume=mv_file=./tests/data/two.csv)
fate-gpume-error-pipe:     CMD = $(call GPUME_FAILS,mv_format=npy:mv_file=-,,| cat) | sed -e "/^it /d"
fate-gpume-error-pel:      CMD = $(call GPUME_FAILS,pel=3)
fate-gpume-error-sweeps:   CMD = $(call GPUME_FAILS,sweeps=2)
fate-gpume-error-levels:   CMD = $(call GPUME_FAILS,algo=ds:levels=3)
fate-gpume-error-block:    CMD = $(call GPUME_FAILS,block=24)
fate-gpume-error-folder:   CMD = $(call GPUME_FAILS,mv_file=tests/data/nosuch/x.npy)
fate-gpume-error-ending:   CMD = $(call GPUME_FAILS,mv_file=vectors.txt)
fate-gpume-error-full:     CMD = $(call GPUME_FAILS,stats_file=/dev/full)
fate-gpume-error-full-csv: CMD = $(call GPUME_FAILS,mv_file=-,,>/dev/full)
fate-gpume-error-same:     CMD = $(call GPUME_FAILS,mv_file=-:stats_file=-)
fate-gpume-error-hint:     CMD = $(call GPUME_FAILS,dir=future:hint=constant)
fate-gpume-error-size:     GPUME_SRC = testsrc2=s=31744x2,format=gray,trim=end_frame=2
fate-gpume-error-size:     CMD = $(call GPUME_FAILS,algo=ds)
# the message depends on the build and the machine, but is always one line
fate-gpume-error-cuda:     CMD = $(call GPUME_FAILS,backend=cuda,export CUDA_VISIBLE_DEVICES= GPUME_STANDIN_DEVICES=0;) | sed -e "/^it /!s/.*/a message/"

include $(SRC_PATH)/tests/fate/mvview.mak
include $(SRC_PATH)/tests/fate/mvfps.mak
include $(SRC_PATH)/tests/fate/mvdenoise.mak
include $(SRC_PATH)/tests/fate/mvdeint.mak
include $(SRC_PATH)/tests/fate/mvstab.mak
include $(SRC_PATH)/tests/fate/mvstereo.mak
include $(SRC_PATH)/tests/fate/other_builds.mak

FATE_GPUME_HELP-$(CONFIG_GPUME_FILTER) += fate-gpume-help
# FFmpeg 9.0 adds a line 'Exiting ...'
fate-gpume-help: CMD = ffmpeg -hide_banner -h filter=gpume | sed -e "/^Exiting/d" -e "/^[[:space:]]*$$/d"

FATE_GPUME_FFMPEG-$(call ALLYES, $(GPUME_NEEDS)) += $(FATE_GPUME_VECTORS) $(FATE_GPUME_BAD) $(FATE_GPUME_ERRORS)
FATE_GPUME_FFMPEG = $(FATE_GPUME_FFMPEG-yes) $(FATE_GPUME_SCALED-yes) $(FATE_GPUME_CHANGE-yes) \
                    $(FATE_GPUME_METADATA-yes) $(FATE_GPUME_NUMPY-yes) $(FATE_GPUME_REFS-yes)                          \
                    $(FATE_GPUME_FRAMECRC-yes) $(FATE_GPUME_HELP-yes) $(FATE_MVVIEW-yes)      \
                    $(FATE_MVFPS-yes) $(FATE_MVDENOISE-yes) $(FATE_MVDEINT-yes) $(FATE_MVSTAB-yes) $(FATE_MVSTEREO-yes) $(FATE_GPUME_ENCODE) $(FATE_GPUME_GPL)

# Encoders that try the vectors. Without their option they must write the same files as FFmpeg
# without patches does for frames without vectors; the references are from there.
GPUME_ENCODERS-$(CONFIG_MPEG1VIDEO_ENCODER) += mpeg1video
GPUME_ENCODERS-$(CONFIG_MPEG2VIDEO_ENCODER) += mpeg2video
GPUME_ENCODERS-$(CONFIG_MPEG4_ENCODER)      += mpeg4
GPUME_ENCODERS-$(CONFIG_H263P_ENCODER)      += h263p
GPUME_ENCODERS-$(CONFIG_FLV_ENCODER)        += flv
GPUME_ENCODE_NEEDS = $(GPUME_SRC_NEEDS) FRAMECRC_MUXER PIPE_PROTOCOL
# $(1): the filter; $(2): options of the encoder. The output of side data depends on the series.
GPUME_ENCODE = framecrc -lavfi "testsrc2=s=192x160:r=25,format=yuv420p,crop=144:112:3*n:2*n,trim=end_frame=9,$(1)" \
               -c:v $(word 4,$(subst -, ,$@)) -q:v 4 -flags +bitexact -dct fastint -idct simple $(2) | \
               sed "s/, [FS]=.*//"
FATE_GPUME_ENCODE-$(call ALLYES, $(GPUME_ENCODE_NEEDS)) += $(GPUME_ENCODERS-yes:%=fate-gpume-encode-%) \
                                                           $(GPUME_ENCODERS-yes:%=fate-gpume-encode-%-off)
fate-gpume-encode-%:     CMD = $(call GPUME_ENCODE,gpume=algo=hme:block=8:dir=both,-me_hint 1)
fate-gpume-encode-%-off: CMD = $(call GPUME_ENCODE,gpume=algo=hme:block=8:dir=both)
# B frames; threads; other producers
FATE_GPUME_ENCODE-$(call ALLYES, $(GPUME_ENCODE_NEEDS) MPEG4_ENCODER) += fate-gpume-encode-mpeg4-b-1 fate-gpume-encode-mpeg4-b-3
fate-gpume-encode-mpeg4-b-%: CMD = $(call GPUME_ENCODE,gpume=algo=hme:block=8:dir=both,-me_hint 1 -bf 2 -slices 3 -threads $(lastword $(subst -, ,$@)))
fate-gpume-encode-mpeg4-b-1 fate-gpume-encode-mpeg4-b-3: REF = $(GPUME_REF)encode-mpeg4-b
FATE_GPUME_ENCODE-$(call ALLYES, $(GPUME_ENCODE_NEEDS) MPEG4_ENCODER MESTIMATE_FILTER) += fate-gpume-encode-mpeg4-mestimate
fate-gpume-encode-mpeg4-mestimate: CMD = $(call GPUME_ENCODE,mestimate=esa:search_param=7,-me_hint 1)
# The vectors of a decoder, of frames of all types
FATE_GPUME_ENCODE-$(call ALLYES, $(GPUME_ENCODE_NEEDS) MPEG4_ENCODER MPEG4_DECODER MATROSKA_MUXER MATROSKA_DEMUXER \
                                 WRAPPED_AVFRAME_ENCODER NULL_MUXER) += fate-gpume-npys-codec
fate-gpume-npys-codec: CMD = cleanfiles="$$cleanfiles $(GPUME_TMP).mkv"; \
    ffmpeg -lavfi "$(GPUME_PAN),trim=end_frame=6" -c:v mpeg4 -bf 1 -q:v 4 -flags +bitexact -dct fastint -idct simple -y $(GPUME_TMP).mkv && \
    $(GPUME_SUMS) gpume_npys -threads 1 -flags2 +export_mvs -i $(GPUME_TMP).mkv -vf gpume=algo=ds:range=1:block=128:mv_file=-:mv_format=codec -f null -
FATE_GPUME_ENCODE = $(FATE_GPUME_ENCODE-yes)

# Test programs
# Each has a test that runs all of it, and a short one. $(1): test; $(2): program
define GPUME_PROGRAM
fate-$(1) fate-$(1)-quick: libavfilter/tests/$(2)$(EXESUF)
fate-$(1):       CMD = runecho libavfilter/tests/$(2)$(EXESUF)
fate-$(1)-quick: CMD = runecho libavfilter/tests/$(2)$(EXESUF) -quick
endef
$(foreach N,mvview mvfps mvdenoise mvdeint mvstab mvstereo,$(eval $(call GPUME_PROGRAM,$(N)-unit,gpume_$(N))))
FATE_GPUME_PROGRAMS-$(CONFIG_GPUME_FILTER) += fate-gpume-hint-constant fate-gpume-hint-constant-quick
$(eval $(call GPUME_PROGRAM,gpume-hint-constant,gpume_hint_constant))
FATE_GPUME_PROGRAMS-$(call ALLYES, GPUME_FILTER MPEG4_ENCODER MOVIE_FILTER) += fate-gpume-me-hint fate-gpume-me-hint-quick
$(eval $(call GPUME_PROGRAM,gpume-me-hint,gpume_me_hint))
# in shares that run in parallel
GPUME_SHARES = 1 2 3 4
GPUME_UNIT   = $(GPUME_SHARES:%=fate-gpume-unit-%)
GPUME_UNIT_QUICK = $(GPUME_SHARES:%=fate-gpume-unit-quick-%)
FATE_GPUME_PROGRAMS-$(CONFIG_GPUME_FILTER) += $(GPUME_UNIT) $(GPUME_UNIT_QUICK) $(call GPUME_POSIX,$(GPUME_ROBUSTNESS))
$(GPUME_UNIT) $(GPUME_UNIT_QUICK): libavfilter/tests/gpume_unit$(EXESUF)
GPUME_SHARE = -share $(lastword $(subst -, ,$@))/$(words $(GPUME_SHARES))
$(GPUME_UNIT):       CMD = runecho libavfilter/tests/gpume_unit$(EXESUF) $(GPUME_SHARE)
# tests/run.sh sets GPUME_EVERY for builds in which each case is slow
$(GPUME_UNIT_QUICK): CMD = runecho libavfilter/tests/gpume_unit$(EXESUF) -quick -seed 7 $(GPUME_SHARE) $(GPUME_EVERY:%=-every %)
GPUME_ROBUSTNESS = $(addprefix fate-gpume-,robustness robustness-quick disks disks-quick)
$(GPUME_ROBUSTNESS): libavfilter/tests/gpume_robustness$(EXESUF)
# two thirds of the runs test full disks, which do not depend on the device
fate-gpume-robustness:       CMD = runecho libavfilter/tests/gpume_robustness$(EXESUF) -except full-disks
fate-gpume-robustness-quick: CMD = runecho libavfilter/tests/gpume_robustness$(EXESUF) -quick -except full-disks
fate-gpume-disks:       CMD = runecho libavfilter/tests/gpume_robustness$(EXESUF) full-disks
fate-gpume-disks-quick: CMD = runecho libavfilter/tests/gpume_robustness$(EXESUF) -quick full-disks

GPUME_COMPARE_NEEDS = $(GPUME_SRC_NEEDS) MESTIMATE_FILTER SPLIT_FILTER TPAD_FILTER SETPTS_FILTER
FATE_GPUME_COMPARE-$(call ALLYES, $(GPUME_COMPARE_NEEDS)) += fate-gpume-compare fate-gpume-compare-quick fate-gpume-compare-share
ifneq ($(GPUME_VIDEO),)
FATE_GPUME_COMPARE-$(call ALLYES, $(GPUME_COMPARE_NEEDS) MOVIE_FILTER MOV_DEMUXER H264_DECODER) += fate-gpume-compare-clips
endif
ifneq ($(GPUME_CLIPS),)
FATE_GPUME_COMPARE-$(call ALLYES, $(GPUME_COMPARE_NEEDS) MOVIE_FILTER MATROSKA_DEMUXER H264_DECODER) += fate-gpume-compare-small
endif
$(FATE_GPUME_COMPARE-yes): libavfilter/tests/gpume_compare$(EXESUF)
fate-gpume-compare:       CMD = runecho libavfilter/tests/gpume_compare$(EXESUF)
fate-gpume-compare-quick: CMD = runecho libavfilter/tests/gpume_compare$(EXESUF) -quick
# the generated sources are compared at full length; the clips show that real pictures are no different
fate-gpume-compare-clips: CMD = runecho libavfilter/tests/gpume_compare$(EXESUF) $(if $(GPUME_LONG),,-quick) -clips $(GPUME_VIDEO)
# a share that has no leaves of some sizes
fate-gpume-compare-share: CMD = runecho libavfilter/tests/gpume_compare$(EXESUF) -quick -share 14/14
fate-gpume-compare-small: CMD = runecho libavfilter/tests/gpume_compare$(EXESUF) -clips $(GPUME_CLIPS)
FATE_GPUME_PROGRAMS = $(FATE_GPUME_PROGRAMS-yes) $(FATE_GPUME_COMPARE-yes) $(FATE_MVVIEW_PROGRAMS-yes) \
                      $(FATE_MVFPS_PROGRAMS-yes) $(FATE_MVDENOISE_PROGRAMS-yes) $(FATE_MVDEINT_PROGRAMS-yes) $(FATE_MVSTAB_PROGRAMS-yes) $(FATE_MVSTEREO_PROGRAMS-yes)
$(FATE_GPUME_PROGRAMS): CMP = null

# FFmpeg's checkasm test has its own name
FATE_GPUME_CHECKASM = $(if $(HAVE_X86ASM)$(ARCH_AARCH64),$(if $(CONFIG_GPUME_FILTER),$(filter fate-checkasm-vf_gpume,$(FATE_CHECKASM))))

# Slow builds run the quick form of a program, fate-NAME-quick.
GPUME_QUICK = $(GPUME_UNIT_QUICK) $(filter %-quick,$(FATE_GPUME_PROGRAMS))
GPUME_SLOW  = $(GPUME_UNIT) $(patsubst %-quick,%,$(filter %-quick,$(FATE_GPUME_PROGRAMS))) \
              fate-gpume-compare-clips fate-gpume-compare-small

FATE_FFMPEG += $(FATE_GPUME_FFMPEG)
FATE        += $(FATE_GPUME_PROGRAMS)

FATE_GPUME     = $(if $(CONFIG_FFMPEG),$(FATE_GPUME_FFMPEG)) $(filter-out $(GPUME_QUICK),$(FATE_GPUME_PROGRAMS)) \
                 $(FATE_GPUME_CHECKASM)
# For the other series, processors and systems: the tests in other_builds.mak and the quick programs.
FATE_GPUME_OTHER_BUILDS = $(if $(CONFIG_FFMPEG),$(filter $(GPUME_OTHER_BUILDS:%=fate-%),$(FATE_GPUME_FFMPEG))) \
                   $(filter $(GPUME_QUICK),$(FATE_GPUME_PROGRAMS)) $(FATE_GPUME_CHECKASM)
# The excluded tests are about options, messages and the CPU's threads, or hide the device.
FATE_GPUME_DEVICE = $(filter-out $(FATE_GPUME_CHECKASM) $(FATE_GPUME_BAD) $(FATE_GPUME_WAVES) $(FATE_GPUME_VF-yes) \
                        $(filter-out %-full %-full-csv,$(FATE_GPUME_ERRORS)) $(FATE_GPUME_HELP-yes)               \
                        $(FATE_MVVIEW-yes) $(FATE_MVFPS-yes) $(FATE_MVDENOISE-yes) $(FATE_MVDEINT-yes) $(FATE_MVSTAB-yes) $(FATE_MVSTEREO-yes) fate-gpume-filter-streams fate-gpume-filter-streams-quick \
                        $(FATE_GPUME_ENCODE) fate-gpume-me-hint fate-gpume-disks \
                        $(addprefix fate-gpume-,alias-% threads-% hme-threads-% %-named cpu auto frames-null), \
                    $(FATE_GPUME))
# The stand-in for the driver is too slow for the long form of the programs. The comparisons of
# searches with mestimate and of distances with each other, and the cuts, which the host finds, add
# nothing to the units, so only 'make nightly' runs them on the stand-in.
GPUME_LONG_STANDIN = $(if $(GPUME_LONG),,fate-gpume-compare-quick fate-gpume-compare-share fate-gpume-refs-distances \
                                         fate-gpume-cuts fate-gpume-cuts-half)
FATE_GPUME_STANDIN = $(filter-out $(GPUME_SLOW) $(GPUME_LONG_STANDIN),$(FATE_GPUME_DEVICE))     \
                     $(filter $(filter-out $(GPUME_LONG_STANDIN) fate-gpume-me-hint-quick       \
                                  fate-gpume-disks-quick fate-gpume-filter-streams-quick,$(GPUME_QUICK)), \
                         $(FATE_GPUME_PROGRAMS))
# With sanitizers and no device: the tests that the stand-in does not run, except options that
# repeat the results of other tests, and except three tests in which FFmpeg overflows integers if a
# time is unknown, in drawbox and in ffmpeg's encoding.
FATE_GPUME_SAN = $(filter-out $(FATE_GPUME_STANDIN) $(FATE_GPUME_BAD) $(FATE_GPUME_CHECKASM) $(GPUME_SLOW) \
                     $(foreach N,1 2,$(filter %-threads-$(N),$(FATE_GPUME_FFMPEG))) %-named fate-gpume-alias-% fate-mvview-hint \
                     fate-mvdeint-bwdif-unknown fate-mvdeint-like-unknown, \
                     $(FATE_GPUME) $(filter $(GPUME_QUICK),$(FATE_GPUME_PROGRAMS))) fate-gpume-ds fate-gpume-hme
# Valgrind runs one of the units' shares, and a filter whose vectors read what is beyond a row of odd width.
FATE_GPUME_VALGRIND = fate-gpume-ds fate-gpume-hme fate-gpume-unit-quick-1 fate-mvdeint-odd

# the longest tests begin first, so that no core waits for them at the end
GPUME_LONGEST = fate-gpume-unit-% fate-gpume-robustness% fate-gpume-disks% fate-mvdenoise-unit% fate-mvview-unit% fate-gpume-compare%
gpume_order   = $(filter $(GPUME_LONGEST),$(1)) $(filter-out $(GPUME_LONGEST),$(1))

fate-gpume:          $(call gpume_order,$(FATE_GPUME))
fate-gpume-other-builds:    $(call gpume_order,$(FATE_GPUME_OTHER_BUILDS))
fate-gpume-san:      $(call gpume_order,$(FATE_GPUME_SAN))
fate-gpume-standin:  $(call gpume_order,$(FATE_GPUME_STANDIN))
fate-gpume-valgrind: $(FATE_GPUME_VALGRIND)
fate-gpume-device:   $(FATE_GPUME_DEVICE)
fate-gpume-gpl:      $(FATE_GPUME_GPL)
fate-gpume fate-gpume-other-builds fate-gpume-san fate-gpume-standin fate-gpume-valgrind fate-gpume-device fate-gpume-gpl:
	$(if $(strip $^),,@echo "$@: this FFmpeg has nothing that $@ could test"; false)

# Prints the names in other_builds.mak that are not tests.
fate-gpume-other-builds-missing:
	@echo $(filter-out $(FATE_GPUME_FFMPEG:fate-%=%),$(GPUME_OTHER_BUILDS))
