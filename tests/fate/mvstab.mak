# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVSTAB_NEEDS = GPUME_FILTER MVSTAB_FILTER TESTSRC2_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER LOOP_FILTER \
               RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# A still picture, shaken by up to 6 samples. $(1): number of frames; $(2): format
MVSTAB_SHAKEN = testsrc2=s=240x180:r=25,format=$(2),trim=end_frame=1,loop=$(1):1,trim=end_frame=$(1),crop=160:120:40+mod(n*7\,13):30+mod(n*5\,11):exact=1
MVSTAB_SRC    = $(call MVSTAB_SHAKEN,$(1),yuv420p)
MVSTAB_10     = $(call MVSTAB_SRC,10)
# $(1): the source; $(2): the filter and later filters; $(3): options of ffmpeg
MVSTAB_CRC    = framecrc -lavfi "$(1),$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)

FATE_MVSTAB_PICTURES = $(foreach N,defaults follow tripod keep black mirror similarity homography limits zoom one none odd cut held vfr \
                                   enable late change,fate-mvstab-$(N))
fate-mvstab-defaults:   CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab)
fate-mvstab-follow:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=mode=follow:smoothing=4)
fate-mvstab-tripod:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=mode=tripod)
fate-mvstab-keep:       CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=mode=tripod:border=keep)
fate-mvstab-black:      CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=mode=tripod:border=black)
fate-mvstab-mirror:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=smoothing=3:border=mirror)
fate-mvstab-similarity: CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=smoothing=3:model=similarity)
fate-mvstab-homography: CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=smoothing=3:model=homography)
fate-mvstab-limits:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=max_shift=2:max_angle=1)
fate-mvstab-zoom:       CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=zoom=1.2:smoothing=5)
fate-mvstab-one:        CMD = $(call MVSTAB_CRC,$(call MVSTAB_SRC,1),mvstab)
fate-mvstab-none:       CMD = $(call MVSTAB_CRC,$(call MVSTAB_SRC,0),mvstab)
fate-mvstab-odd:        CMD = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)crop=53:37:0:0:exact=1,mvstab=border=black)
# the path begins anew
fate-mvstab-cut:        CMD = $(call MVSTAB_CRC,$(call MVSTAB_SRC,5)[a];$(call MVSTAB_SRC,5)$(GPUME_COMMA)hflip$(GPUME_COMMA)negate[b];[a][b]concat,mvstab)
# a black frame and two white ones: the path is held
fate-mvstab-held:       CMD = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)drawbox=t=fill:c=black:enable=eq(n\,3)$(GPUME_COMMA)drawbox=t=fill:c=white:enable=between(n\,6\,7),mvstab=smoothing=3:border=black)
# frames 3 and 4 are missing
fate-mvstab-vfr:        CMD = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)select=not(between(n\,3\,4)),mvstab=smoothing=3)
fate-mvstab-enable:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=enable=not(between(n\,2\,4)))
fate-mvstab-late:       CMD = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)setpts=PTS+0.49/TB,mvstab=smoothing=2)
# two sizes in one stream, as in mvdeint.mak
fate-mvstab-change:     CMD = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)scale=w=if(lt(n\$(GPUME_COMMA)5)\$(GPUME_COMMA)160\$(GPUME_COMMA)96):h=96:eval=frame:flags=neighbor+accurate_rnd+bitexact,mvstab$(GPUME_COMMA)crop=96:96:0:0)

# The result must not depend on the number of threads, and be the same with a path that was written to a file.
FATE_MVSTAB_SAME = $(foreach N,1 2 5,fate-mvstab-threads-$(N)) fate-mvstab-read
$(FATE_MVSTAB_SAME): REF = $(SRC_PATH)/tests/ref/fate/mvstab-defaults
fate-mvstab-threads-%: CMD = $(call MVSTAB_CRC,$(MVSTAB_10),mvstab,-filter_complex_threads $(lastword $(subst -, ,$@)))
fate-mvstab-read:      CMD = ffmpeg -v error -lavfi "$(MVSTAB_10),mvstab=smoothing=2:file=$(GPUME_TMP).npy" -f null - && $(call MVSTAB_CRC,$(MVSTAB_10),mvstab=file=$(GPUME_TMP).npy:read=1)

# One of each kind of format, as in mvfps.mak
FATE_MVSTAB_FORMATS = fate-mvstab-formats
$(FATE_MVSTAB_FORMATS): CMD = $(call GPUME_EACH,$(MVFPS_FORMATS),$(call MVSTAB_CRC,$(call MVSTAB_SRC,4)$(GPUME_COMMA)$(GPUME_SCALE)$$f,mvstab=mode=tripod:border=black) -pix_fmt $$f)

# The rows of a path are found by the time of frames: the result is that of a search of the last six frames.
FATE_MVSTAB_PICTURES += fate-mvstab-read-later
MVSTAB_LATER = $(call MVSTAB_CRC,$(MVSTAB_10)$(GPUME_COMMA)select=gte(n\,4)$(GPUME_COMMA)mvstab=smoothing=2:zoom=1.1$(1))
fate-mvstab-read-later: CMD = { ffmpeg -v error -lavfi "$(MVSTAB_10),mvstab=smoothing=2:file=$(GPUME_TMP).npy" -f null - && $(call MVSTAB_LATER,) && $(call MVSTAB_LATER,:file=$(GPUME_TMP).npy:read=1); }

# The row of the first frame behind a cut is skipped: the next frame begins a shot.
FATE_MVSTAB_TEXTS += fate-mvstab-read-gap
MVSTAB_CUT = $(call MVSTAB_SRC,10)$(GPUME_COMMA)hflip=enable=gte(n\,5)$(GPUME_COMMA)negate=enable=gte(n\,5)
fate-mvstab-read-gap: CMD = { ffmpeg -v error -lavfi "$(MVSTAB_CUT),mvstab=file=$(GPUME_TMP).npy" -f null - && ffmpeg -v error -lavfi "$(MVSTAB_CUT),select=not(eq(n\,5)),mvstab=file=$(GPUME_TMP).npy:read=1,metadata=print:key=lavfi.mvstab.begins:file=-" -f null -; }

# Metadata and messages
MVSTAB_FAILS = { ffmpeg -v error -lavfi "$(1)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstab[^]]*. //p"; }
FATE_MVSTAB_TEXTS += $(foreach N,metadata error-interlaced error-ending error-options error-rows error-file,fate-mvstab-$(N))
fate-mvstab-metadata:         CMD = { ffmpeg -v error -lavfi "$(call MVSTAB_SRC,3),mvstab=mode=tripod:border=keep,metadata=print:file=-" -f null - | sed "s/\(\.[0-9][0-9]\)[0-9]*/\1/g"; }
fate-mvstab-error-interlaced: CMD = $(call MVSTAB_FAILS,$(call MVSTAB_SRC,2)$(GPUME_COMMA)setfield=tff$(GPUME_COMMA)mvstab)
fate-mvstab-error-ending:     CMD = $(call MVSTAB_FAILS,$(call MVSTAB_SRC,2)$(GPUME_COMMA)mvstab=file=path.csv)
fate-mvstab-error-options:    CMD = { $(call MVSTAB_FAILS,$(call MVSTAB_SRC,2)$(GPUME_COMMA)mvstab=read=1); $(call MVSTAB_FAILS,$(call MVSTAB_SRC,2)$(GPUME_COMMA)mvstab=zoom=0.01); }
fate-mvstab-error-rows:       CMD = { ffmpeg -v error -lavfi "$(call MVSTAB_SRC,2),mvstab=file=$(GPUME_TMP).npy" -f null -; $(call MVSTAB_FAILS,$(call MVSTAB_SRC,3)$(GPUME_COMMA)mvstab=file=$(GPUME_TMP).npy:read=1); }
# a text; a path whose first transform is zero; one whose end is missing; one of other columns; a folder; paths that
# another program has made, with a time, inliers and perspective that cannot be; one of three dimensions
MVSTAB_BAD = { printf $(2) | dd of=$(GPUME_TMP).npy bs=1 seek=$(1) conv=notrunc 2> /dev/null; $(MVSTAB_READS); }
MVSTAB_READS = $(call MVSTAB_FAILS,$(call MVSTAB_SRC,3)$(GPUME_COMMA)mvstab=file=$(GPUME_TMP).npy:read=1)
MVSTAB_PATH  = ffmpeg -v error -lavfi "$(call MVSTAB_SRC,3),mvstab=file=$(GPUME_TMP).npy" -f null -
fate-mvstab-error-file:       CMD = { echo text > $(GPUME_TMP).npy; $(MVSTAB_READS); $(MVSTAB_PATH); head -c 300 $(GPUME_TMP).npy > $(GPUME_TMP).part; dd if=/dev/zero of=$(GPUME_TMP).npy bs=1 seek=128 count=64 conv=notrunc 2> /dev/null; $(MVSTAB_READS); $(MVSTAB_PATH); $(call MVSTAB_BAD,390,zz); $(call MVSTAB_BAD,286,0@); $(MVSTAB_PATH); $(call MVSTAB_BAD,182,0@); $(call MVSTAB_BAD,182,"\360\377"); $(call MVSTAB_BAD,66,$(GPUME_COMMA)); $(call MVSTAB_BAD,64,10); mv $(GPUME_TMP).part $(GPUME_TMP).npy; $(MVSTAB_READS); rm $(GPUME_TMP).npy; mkdir $(GPUME_TMP).npy; $(MVSTAB_READS); rmdir $(GPUME_TMP).npy; }

# The size changes, and with it the filter graph: its path is that of the second file. A perspective of 1/64 is possible in
# 96x96 samples, frame 5, but not in 160x120, frame 1. Times that begin anew with the graph replace rows.
FATE_MVSTAB-$(call ALLYES, $(MVSTAB_NEEDS) SETPTS_FILTER IMAGE2_MUXER IMAGE2_DEMUXER PGM_ENCODER PGM_DECODER FILE_PROTOCOL) += fate-mvstab-read-change
MVSTAB_SIZES = ffmpeg -v warning -c:v pgm -i $(GPUME_TMP)-%d.pgm -vf $(2)mvstab=smoothing=2:file=$(GPUME_TMP).npy$(1) -bitexact -f framecrc -
MVSTAB_TELLS = $(MVSTAB_SIZES) 2>&1 | sed -n -e "s/^.Parsed_mvstab[^]]*. //p"
MVSTAB_LEANS = { printf "\220?" | dd of=$(GPUME_TMP).npy bs=1 seek=$(1) conv=notrunc 2> /dev/null; $(call MVSTAB_TELLS,:read=1); }
fate-mvstab-read-change: CMD = { cleanfiles="$$cleanfiles $(GPUME_TMP)-*.pgm $(GPUME_TMP)*.npy"; rm -f $(GPUME_TMP)*.npy; \
                                 ffmpeg -y -lavfi "$(call MVSTAB_SHAKEN,4,gray)" -c:v pgm $(GPUME_TMP)-%d.pgm; \
                                 ffmpeg -y -lavfi "$(call MVSTAB_SHAKEN,4,gray)$(GPUME_COMMA)crop=96:96:9:9" -c:v pgm -start_number 5 $(GPUME_TMP)-%d.pgm; \
                                 $(call MVSTAB_SIZES); $(call MVSTAB_SIZES,:read=1); $(call MVSTAB_LEANS,622); $(call MVSTAB_LEANS,270); \
                                 $(call MVSTAB_TELLS,,setpts=N/25/TB$(GPUME_COMMA)); }

FATE_MVSTAB-$(call ALLYES, $(MVSTAB_NEEDS) CONCAT_FILTER HFLIP_FILTER NEGATE_FILTER DRAWBOX_FILTER SELECT_FILTER SETPTS_FILTER SCALE_FILTER SETFIELD_FILTER \
                           METADATA_FILTER NULL_MUXER) += $(FATE_MVSTAB_PICTURES) $(FATE_MVSTAB_SAME) $(FATE_MVSTAB_FORMATS) $(FATE_MVSTAB_TEXTS)

FATE_MVSTAB_PROGRAMS-$(call ALLYES, GPUME_FILTER MVSTAB_FILTER) += fate-mvstab-unit fate-mvstab-unit-quick
