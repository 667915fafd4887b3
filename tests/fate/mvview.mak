# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak; uses its sources.
#
# Tests that must give the same pictures share one reference.

MVVIEW_NEEDS  = $(GPUME_SRC_NEEDS) MVVIEW_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
MVVIEW_REF    = $(SRC_PATH)/tests/ref/fate/mvview-
# one word of a test's name
MVVIEW_WORD   = $(word $(1),$(subst -, ,$(@:fate-mvview-%=%)))
MVVIEW_SRC    = $(GPUME_SRC),gpume=algo=hme:range=24:block=8

# Prints checksums of a source's pictures. $(1): the source; $(2): options of mvview, $(3): of
# ffmpeg
MVVIEW_CRC = framecrc $(3) -lavfi "$(1),mvview=$(2)"

FATE_MVVIEW_MODES = fate-mvview-defaults fate-mvview-flow fate-mvview-blocks fate-mvview-all    \
                    fate-mvview-step fate-mvview-scale fate-mvview-max fate-mvview-opacity      \
                    fate-mvview-legend fate-mvview-gray fate-mvview-black fate-mvview-both      \
                    fate-mvview-past fate-mvview-future fate-mvview-sizes fate-mvview-distance
fate-mvview-defaults: CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC))
fate-mvview-flow:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow)
fate-mvview-blocks:   CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=blocks)
fate-mvview-all:      CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=arrows+flow+blocks:legend=1)
fate-mvview-step:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),step=3)
fate-mvview-scale:    CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),scale=7.5:step=1)
fate-mvview-max:      CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow:max=2.5)
fate-mvview-opacity:  CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow:opacity=0.25)
fate-mvview-legend:   CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow:legend=1)
fate-mvview-gray:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow+arrows:background=gray)
fate-mvview-black:    CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=flow+arrows:background=black)
fate-mvview-both:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both,mode=flow+arrows)
fate-mvview-past:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both,mode=flow+arrows:source=past)
fate-mvview-future:   CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both,mode=flow+arrows:source=future)
fate-mvview-distance: CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both:refs=2,mode=flow+arrows:distance=2)
# options that a command changes
FATE_MVVIEW_COMMANDS = fate-mvview-command fate-mvview-command-apart
$(FATE_MVVIEW_COMMANDS): REF = $(SRC_PATH)/tests/ref/fate/mvview-command
fate-mvview-command:       CMD = { cleanfiles="$$cleanfiles $(GPUME_TMP).txt"; echo "0.1 mvview mode flow; 0.2 mvview background black" > $(GPUME_TMP).txt; framecrc -lavfi "$(GPUME_SRC),sendcmd=f=$(GPUME_TMP).txt,mvview"; }
fate-mvview-command-apart: CMD = framecrc -lavfi "$(GPUME_SRC),mvview=enable=lt(t\,0.1),mvview=mode=flow:enable=eq(n\,1),mvview=mode=flow:background=black:enable=gte(t\,0.2)"
fate-mvview-sizes:    CMD = $(call MVVIEW_CRC,$(GPUME_BIG)$(GPUME_COMMA)gpume=algo=ds:block=32,mode=arrows+blocks)

FATE_MVVIEW_SAME = $(foreach N,1 2 5,fate-mvview-threads-$(N)) fate-mvview-named
fate-mvview-threads-%: CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=arrows+flow+blocks:legend=1,-filter_complex_threads $(call MVVIEW_WORD,2))
$(FATE_MVVIEW_SAME): REF = $(MVVIEW_REF)all
fate-mvview-named:     CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC),mode=blocks+flow+arrows:source=both:scale=1:max=0:step=0:opacity=0.6:legend=1:background=picture)

# Draws the nearest of several distances.
FATE_MVVIEW_SAME += fate-mvview-nearest
fate-mvview-nearest: REF = $(MVVIEW_REF)both
fate-mvview-nearest: CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both:refs=2,mode=flow+arrows)

# Without vectors, mvview searches what it draws.
FATE_MVVIEW_MODES += fate-mvview-readme fate-mvview-readme-future fate-mvview-readme-distance fate-mvview-readme-enable
FATE_MVVIEW_ALONE  = fate-mvview-alone fate-mvview-alone-future fate-mvview-alone-distance fate-mvview-alone-enable
FATE_MVVIEW_SAME  += $(FATE_MVVIEW_ALONE)
MVVIEW_README = $(GPUME_SRC),gpume=algo=hme
fate-mvview-readme:          CMD = $(call MVVIEW_CRC,$(MVVIEW_README),mode=flow+arrows)
fate-mvview-readme-future:   CMD = $(call MVVIEW_CRC,$(MVVIEW_README):dir=future,mode=flow+arrows:source=future)
fate-mvview-readme-distance: CMD = $(call MVVIEW_CRC,$(MVVIEW_README):refs=3,mode=flow+arrows:distance=3)
fate-mvview-readme-enable:   CMD = $(call MVVIEW_CRC,$(MVVIEW_README),mode=flow+arrows:enable=lt(n\,3))
fate-mvview-alone:           CMD = $(call MVVIEW_CRC,$(GPUME_SRC),mode=flow+arrows)
fate-mvview-alone-future:    CMD = $(call MVVIEW_CRC,$(GPUME_SRC),mode=flow+arrows:source=future:search=auto)
fate-mvview-alone-distance:  CMD = $(call MVVIEW_CRC,$(GPUME_SRC),mode=flow+arrows:distance=3)
fate-mvview-alone-enable:    CMD = $(call MVVIEW_CRC,$(GPUME_SRC),mode=flow+arrows:enable=lt(n\,3))
$(FATE_MVVIEW_ALONE): REF = $(@:fate-mvview-alone%=$(MVVIEW_REF)readme%)

# Samples of more than 8 bits are converted to the byte order of this machine.
FATE_MVVIEW_10BIT = fate-mvview-byte-order fate-mvview-no-vectors fate-mvview-error-options
fate-mvview-byte-order: CMD = { ffmpeg -auto_conversion_filters -v info -lavfi "$(GPUME_SRC),$(GPUME_SCALE)gbrpf32,mvview,showinfo=checksum=0" -f null - 2>&1 | sed -e "/ fmt:/!d" -e "s/.* fmt://" -e "s/ .*//" -e "s/.*le$$/le/" | uniq; }
fate-mvview-no-vectors: CMD = { for n in 4 1; do ffmpeg -v warning -lavfi "$(GPUME_SRC),trim=end_frame=$$n,mvview=search=never" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvview[^]]*. //p"; done; }
# options without effect
fate-mvview-error-options: CMD = { for o in mode=0 mode=flow:scale=2 mode=blocks:step=3 max=4 opacity=0.5 legend=1 mode=flow:legend=1; do ffmpeg -v warning -lavfi "$(GPUME_SRC),crop=60:40,mvview=$$o" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvview[^]]*. //p"; done; }
# mvview warns of vectors that were moved, once for itself and the filters after it; its own vectors are right
MVVIEW_WARNINGS = ffmpeg -v warning -lavfi "$(GPUME_SRC),$(1),mvview,mvfps" -f null - 2>&1 | sed -n -e "s/^.Parsed_\(mv[a-z]*\)[^]]*.*\(The filter\)/\1: \2/p"
fate-mvview-moved: CMD = { $(call MVVIEW_WARNINGS,gpume=dir=both$(GPUME_COMMA)hflip) ; echo "its own vectors:" ; $(call MVVIEW_WARNINGS,hflip) ; }
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) SCALE_FILTER SHOWINFO_FILTER NULL_MUXER) += $(FATE_MVVIEW_10BIT)
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) MVFPS_FILTER HFLIP_FILTER NULL_MUXER) += fate-mvview-moved

# Two filters in sequence; the second draws into the frames of the first.
FATE_MVVIEW_SAME += fate-mvview-twice
fate-mvview-twice: REF = $(MVVIEW_REF)past
fate-mvview-twice: CMD = $(call MVVIEW_CRC,$(MVVIEW_SRC)$(GPUME_COMMA)mvview=mode=flow,mode=arrows)

# One of each kind of format
MVVIEW_FORMATS = gray yuv410p yuv411p yuv440p yuv444p yuva420p nv12 nv24 gray16le gray16be yuv420p10le \
                 yuv420p10be yuv422p12le yuv444p16be p010le p016be rgb24 bgra 0rgb gbrp gbrap \
                 gbrp10le gbrp16be rgb48le
# FFmpeg's series convert to these differently, so the background must not have samples of the picture.
FATE_MVVIEW_FORMATS = fate-mvview-formats fate-mvview-format
fate-mvview-format: MVVIEW_FORMATS = p010le
$(FATE_MVVIEW_FORMATS): CMD = $(call GPUME_EACH,$(MVVIEW_FORMATS),case $$f in (gray16*|p0*|gbrp1*|rgb48*) b=black;; (*) b=gray;; esac; $(call MVVIEW_CRC,$(MVVIEW_SRC):dir=both$(GPUME_COMMA)$(GPUME_SCALE)$$f,mode=arrows+flow+blocks:legend=1:background=$$b) -pix_fmt $$f)
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS)) += $(FATE_MVVIEW_MODES) $(FATE_MVVIEW_SAME)
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) SCALE_FILTER) += $(FATE_MVVIEW_FORMATS)

# RGB of more than 8 bits in gray, of samples that need no conversion
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) NULLSRC_FILTER GEQ_FILTER) += fate-mvview-gray-deep
fate-mvview-gray-deep: CMD = framecrc -lavfi "nullsrc=s=64x48:r=10$(GPUME_COMMA)trim=end_frame=2$(GPUME_COMMA)format=gbrp16le$(GPUME_COMMA)geq=r=X*1000:g=65535-Y*100:b=65535-X*8$(GPUME_COMMA)gpume=algo=hme$(GPUME_COMMA)mvview=background=gray" -pix_fmt gbrp16le

# Drawing changes rectangles that the hint says are constant, so no output frame may have the hint.
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) COLOR_FILTER DRAWBOX_FILTER SIDEDATA_FILTER) += fate-mvview-hint
fate-mvview-hint: CMD = framecrc -lavfi "color=gray:s=128x96:r=10,format=yuv420p,drawbox=x=20*t:y=8:w=16:h=16:color=white:t=fill,trim=end_frame=14,gpume=algo=hme:block=16:hint=constant,mvview,sidedata=select:type=VIDEO_HINT"

# Vectors of another producer
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) MESTIMATE_FILTER) += fate-mvview-mestimate
fate-mvview-mestimate: CMD = $(call MVVIEW_CRC,$(GPUME_SRC)$(GPUME_COMMA)mestimate=ds:8,mode=flow+arrows)

# Frames without vectors pass unchanged.
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS)) += fate-mvview-none
FATE_MVVIEW-$(call ALLYES, $(MVVIEW_NEEDS) SENDCMD_FILTER) += $(FATE_MVVIEW_COMMANDS)
fate-mvview-none: CMD = $(call MVVIEW_CRC,$(GPUME_SRC),mode=flow:background=black:search=never)
fate-mvview-none: REF = $(GPUME_REF)frames

FATE_MVVIEW_PROGRAMS-$(call ALLYES, GPUME_FILTER MVVIEW_FILTER) += fate-mvview-unit fate-mvview-unit-quick
