# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVDEINT_NEEDS = GPUME_FILTER MVDEINT_FILTER TESTSRC2_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER SETFIELD_FILTER \
                SEPARATEFIELDS_FILTER SELECT_FILTER WEAVE_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# Frames of the fields of a pan; each field shows a different time. $(1): number of fields, 2 for
# each frame
MVDEINT_PAN  = testsrc2=s=128x96:r=50,format=yuv420p,crop=94:70:2*n:n,trim=end_frame=$(1)
# Weaves frames from fields. $(1): progressive frames, two for each output frame
MVDEINT_WEAVE = $(1),setfield=tff,separatefields,select=not(mod(n\,4))+not(mod(n-3\,4)),weave=first_field=top
MVDEINT_SRC  = $(call MVDEINT_WEAVE,$(call MVDEINT_PAN,$(1)))
MVDEINT_6    = $(call MVDEINT_SRC,12)
# Frames and their times. $(1): the source; $(2): the filter and later filters; $(3): options of
# ffmpeg
MVDEINT_CRC  = framecrc -lavfi "$(1),$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)
# Frames 2 and 3 of frames 0 to 5 are marked as progressive.
MVDEINT_MIXED = $(MVDEINT_6),split[a][b];[a]select=not(between(n\,2\,3))[c];[b]select=between(n\,2\,3),setfield=prog[d];[c][d]interleave

FATE_MVDEINT_PICTURES = $(foreach N,defaults passes-1 passes-3 refs-1 frame bff auto mixed disabled order cut late odd \
                                    one two none change before-mvfps,fate-mvdeint-$(N))
fate-mvdeint-defaults: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint)
fate-mvdeint-passes-1: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=passes=1)
fate-mvdeint-passes-3: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=passes=3)
fate-mvdeint-refs-1:   CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=refs=1)
fate-mvdeint-frame:    CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=mode=send_frame)
fate-mvdeint-bff:      CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=parity=bff:passes=1)
# the parity from the frames' flags
fate-mvdeint-auto:     CMD = $(call MVDEINT_CRC,$(MVDEINT_6)$(GPUME_COMMA)setfield=bff,mvdeint=passes=1)
fate-mvdeint-mixed:    CMD = $(call MVDEINT_CRC,$(MVDEINT_MIXED),mvdeint=deint=interlaced)
fate-mvdeint-disabled: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=enable=not(between(t\,0.09\,0.13)))
# the field order changes in the middle
fate-mvdeint-order:    CMD = $(call MVDEINT_CRC,$(MVDEINT_6)$(GPUME_COMMA)split[a][b];[a]trim=end_frame=3[c];[b]trim=start_frame=3$(GPUME_COMMA)setfield=bff[d];[c][d]interleave,mvdeint=passes=1)
fate-mvdeint-cut:      CMD = $(call MVDEINT_CRC,$(call MVDEINT_WEAVE,$(call MVDEINT_PAN,6)[a];testsrc2=s=128x96:r=50$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)hflip$(GPUME_COMMA)crop=94:70:2*n:n$(GPUME_COMMA)trim=end_frame=6[b];[a][b]concat),mvdeint)
# the first frame is not at 0; no times; odd sides
fate-mvdeint-late:     CMD = $(call MVDEINT_CRC,$(MVDEINT_6)$(GPUME_COMMA)setpts=PTS+0.49/TB,mvdeint=passes=1)
fate-mvdeint-odd:      CMD = $(call MVDEINT_CRC,$(call MVDEINT_SRC,8)$(GPUME_COMMA)crop=53:37:0:0:exact=1,mvdeint)
fate-mvdeint-one:      CMD = $(call MVDEINT_CRC,$(call MVDEINT_SRC,2),mvdeint)
fate-mvdeint-two:      CMD = $(call MVDEINT_CRC,$(call MVDEINT_SRC,4),mvdeint)
fate-mvdeint-none:     CMD = $(call MVDEINT_CRC,$(call MVDEINT_SRC,0),mvdeint)
# the filters work in one chain; other tests compare their pictures
fate-mvdeint-before-mvfps: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=passes=1$(GPUME_COMMA)mvdenoise=strength=0$(GPUME_COMMA)mvfps=fps=2x:mode=dup)
# two sizes in one stream. The position of crop is given: by default crop uses the middle of the
# first size, which would be beyond the edge of the second.
fate-mvdeint-change:   CMD = $(call MVDEINT_CRC,$(MVDEINT_6)$(GPUME_COMMA)scale=w=if(lt(n\$(GPUME_COMMA)3)\$(GPUME_COMMA)94\$(GPUME_COMMA)64):h=70:eval=frame:flags=neighbor+accurate_rnd+bitexact,mvdeint=passes=1$(GPUME_COMMA)crop=64:64:0:0)

# The result must not depend on the number of threads.
FATE_MVDEINT_SAME = $(foreach N,1 2 5,fate-mvdeint-threads-$(N)) fate-mvdeint-passes-2
$(FATE_MVDEINT_SAME): REF = $(SRC_PATH)/tests/ref/fate/mvdeint-defaults
fate-mvdeint-threads-%: CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint,-filter_complex_threads $(lastword $(subst -, ,$@)))
fate-mvdeint-passes-2:  CMD = $(call MVDEINT_CRC,$(MVDEINT_6),mvdeint=passes=2)

# One of each kind of format, as in mvfps.mak
FATE_MVDEINT_FORMATS = fate-mvdeint-formats fate-mvdeint-format
fate-mvdeint-format: MVFPS_FORMATS = yuv420p10
$(FATE_MVDEINT_FORMATS): CMD = $(call GPUME_EACH,$(MVFPS_FORMATS),$(call MVDEINT_CRC,$(call MVDEINT_SRC,6)$(GPUME_COMMA)$(GPUME_SCALE)$$f,mvdeint=passes=1) -pix_fmt $$f)

# Times, durations and flags must be those of bwdif, also of frames that pass and with unknown or
# unequal times.
MVDEINT_LIKE = field frame interlaced gaps unknown
MVDEINT_LIKE_field      = $(MVDEINT_6)
MVDEINT_LIKE_frame      = $(MVDEINT_6)
MVDEINT_LIKE_interlaced = $(MVDEINT_6),setfield=prog
MVDEINT_LIKE_gaps       = $(MVDEINT_6),select=not(eq(n\,2))*not(eq(n\,4)),settb=1/1000
MVDEINT_LIKE_unknown    = $(MVDEINT_6),setpts=if(eq(N\,2)\,NAN\,PTS)
MVDEINT_OPTIONS_field      = mode=send_field
MVDEINT_OPTIONS_frame      = mode=send_frame
MVDEINT_OPTIONS_interlaced = deint=interlaced
MVDEINT_OPTIONS_gaps       = mode=send_field
MVDEINT_OPTIONS_unknown    = mode=send_field
FATE_MVDEINT_LIKE   = $(MVDEINT_LIKE:%=fate-mvdeint-like-%)
FATE_MVDEINT_BWDIF  = $(MVDEINT_LIKE:%=fate-mvdeint-bwdif-%)
MVDEINT_KIND        = $(lastword $(subst -, ,$@))
MVDEINT_INFO = { ffmpeg -v info -copyts -lavfi "$(MVDEINT_LIKE_$(MVDEINT_KIND)),$(1)=$(MVDEINT_OPTIONS_$(MVDEINT_KIND)),showinfo=checksum=0" -f null - 2>&1 | sed -n "s/.* n: *\([0-9]*\) pts: *\([^ ]*\) .*duration: *\([^ ]*\) .* i:\(.\) .*/\1 \2 \3 \4/p"; }
$(FATE_MVDEINT_LIKE):  CMD = $(call MVDEINT_INFO,mvdeint)
$(FATE_MVDEINT_BWDIF): CMD = $(call MVDEINT_INFO,bwdif)
$(FATE_MVDEINT_BWDIF): REF = $(SRC_PATH)/tests/ref/fate/mvdeint-like-$(MVDEINT_KIND)

# Film in interlaced frames, whose fields fieldmatch puts together: its frames leave as they are. Then video with
# another time in each field, of which those frames that are still combed are deinterlaced: all but the first two.
MVDEINT_FILM  = testsrc2=s=94x70:r=24,format=yuv420p,trim=end_frame=8,telecine
MVDEINT_BOTH  = $(MVDEINT_FILM)[a];$(call MVDEINT_WEAVE,testsrc2=s=128x96:r=60$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)crop=94:70:2*n:n$(GPUME_COMMA)trim=end_frame=12)[b];[a][b]concat
MVDEINT_MATCH = framecrc -lavfi "$(1),fieldmatch=combmatch=full$(2)" -fps_mode passthrough
FATE_MVDEINT_FILM = $(foreach N,matched film both frames,fate-mvdeint-$(N))
fate-mvdeint-matched: CMD = $(call MVDEINT_MATCH,$(MVDEINT_FILM))
fate-mvdeint-film:    CMD = $(call MVDEINT_MATCH,$(MVDEINT_FILM),$(GPUME_COMMA)mvdeint=deint=interlaced:mode=send_frame)
fate-mvdeint-film:    REF = $(SRC_PATH)/tests/ref/fate/mvdeint-matched
fate-mvdeint-both:    CMD = $(call MVDEINT_MATCH,$(MVDEINT_BOTH),$(GPUME_COMMA)mvdeint=deint=interlaced)
fate-mvdeint-frames:  CMD = $(call MVDEINT_MATCH,$(MVDEINT_BOTH),$(GPUME_COMMA)mvdeint=deint=interlaced:mode=send_frame)

# Frames that are not marked: the motion shows which field comes first. vflip exchanges the fields' parities.
MVDEINT_LARGE = $(call MVDEINT_WEAVE,testsrc2=s=320x240:r=50$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)crop=128:128:3*n:100$(GPUME_COMMA)trim=end_frame=8)
FATE_MVDEINT_MARKED   = $(foreach N,tff bff,fate-mvdeint-marked-$(N))
FATE_MVDEINT_UNMARKED = $(foreach N,tff bff,fate-mvdeint-unmarked-$(N))
MVDEINT_ORDER_tff     = $(MVDEINT_LARGE)
MVDEINT_ORDER_bff     = $(MVDEINT_LARGE)$(GPUME_COMMA)vflip
$(FATE_MVDEINT_MARKED):   CMD = $(call MVDEINT_CRC,$(MVDEINT_ORDER_$(MVDEINT_KIND))$(GPUME_COMMA)setfield=$(MVDEINT_KIND),mvdeint=passes=1)
$(FATE_MVDEINT_UNMARKED): CMD = $(call MVDEINT_CRC,$(MVDEINT_ORDER_$(MVDEINT_KIND))$(GPUME_COMMA)setfield=prog,mvdeint=passes=1)
$(FATE_MVDEINT_UNMARKED): REF = $(SRC_PATH)/tests/ref/fate/mvdeint-marked-$(MVDEINT_KIND)

# Frames that are too small only pass unchanged.
FATE_MVDEINT_PICTURES += fate-mvdeint-small
fate-mvdeint-small: CMD = framecrc -lavfi "testsrc2=s=4x4,format=yuv420p,trim=end_frame=3,mvdeint=deint=interlaced"

# Messages
FATE_MVDEINT_ERRORS = fate-mvdeint-error-small fate-mvdeint-error-passes fate-mvdeint-warning-order
fate-mvdeint-warning-order: CMD = { ffmpeg -v info -lavfi "$(MVDEINT_ORDER_bff),setfield=prog,mvdeint=passes=1" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvdeint[^]]*. //p"; }
fate-mvdeint-error-small:  CMD = { ffmpeg -v error -lavfi "testsrc2=s=4x4,format=yuv420p,trim=end_frame=2,mvdeint" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvdeint[^]]*. //p"; }
fate-mvdeint-error-passes: CMD = { ffmpeg -v error -lavfi "$(MVDEINT_6),mvdeint=passes=4" -f null - 2>&1 | sed -n -e "s/^.*\(Value 4.*passes.*range.*\)/\1/p"; }

FATE_MVDEINT_ALL = $(FATE_MVDEINT_PICTURES) $(FATE_MVDEINT_SAME) $(FATE_MVDEINT_ERRORS) $(FATE_MVDEINT_LIKE) $(FATE_MVDEINT_MARKED) $(FATE_MVDEINT_UNMARKED)
FATE_MVDEINT-$(call ALLYES, $(MVDEINT_NEEDS) SETPTS_FILTER SETTB_FILTER CONCAT_FILTER INTERLEAVE_FILTER SPLIT_FILTER HFLIP_FILTER VFLIP_FILTER \
                            SCALE_FILTER SHOWINFO_FILTER MVDENOISE_FILTER MVFPS_FILTER NULL_MUXER) += $(FATE_MVDEINT_ALL)
FATE_MVDEINT-$(call ALLYES, $(MVDEINT_NEEDS) SETPTS_FILTER SETTB_FILTER SHOWINFO_FILTER BWDIF_FILTER NULL_MUXER) += $(FATE_MVDEINT_BWDIF)
FATE_MVDEINT-$(call ALLYES, $(MVDEINT_NEEDS) TELECINE_FILTER FIELDMATCH_FILTER CONCAT_FILTER) += $(FATE_MVDEINT_FILM)
FATE_MVDEINT-$(call ALLYES, $(MVDEINT_NEEDS) SCALE_FILTER) += $(FATE_MVDEINT_FORMATS)

FATE_MVDEINT_PROGRAMS-$(call ALLYES, GPUME_FILTER MVDEINT_FILTER BWDIF_FILTER) += fate-mvdeint-unit fate-mvdeint-unit-quick
