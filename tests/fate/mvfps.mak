# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVFPS_NEEDS = GPUME_FILTER MVFPS_FILTER TESTSRC2_FILTER FORMAT_FILTER TRIM_FILTER SELECT_FILTER \
              SETTB_FILTER SETPTS_FILTER LOOP_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# $(1): frames per second
MVFPS_SRC   = testsrc2=s=70x50:r=$(1),format=gray
MVFPS_5     = $(MVFPS_SRC),trim=end_frame=5
# Frames and their times. $(1): the source; $(2): options of mvfps; $(3): of ffmpeg
MVFPS_CRC   = framecrc -lavfi "$(1),mvfps=$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)

# When frames are: those in between are means, so their place shows in the picture
MVFPS_MEANS = mode=blend:scene=0:fps
FATE_MVFPS_RATES = $(foreach N,2x 5-2x 1-2x film 24-60 ntsc slower late coarse sparse order one none \
                               two dup cut cut-blend,fate-mvfps-$(N))
fate-mvfps-2x:        CMD = $(call MVFPS_CRC,$(call MVFPS_5,25),$(MVFPS_MEANS)=2x)
fate-mvfps-5-2x:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,24),$(MVFPS_MEANS)=5/2x)
fate-mvfps-1-2x:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,50),$(MVFPS_MEANS)=1/2x)
fate-mvfps-24-60:     CMD = $(call MVFPS_CRC,$(call MVFPS_5,24),$(MVFPS_MEANS)=60)
fate-mvfps-film:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,24000/1001),$(MVFPS_MEANS)=60)
fate-mvfps-ntsc:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,25),$(MVFPS_MEANS)=ntsc)
fate-mvfps-slower:    CMD = $(call MVFPS_CRC,$(MVFPS_SRC)$(GPUME_COMMA)trim=end_frame=12,$(MVFPS_MEANS)=24)
fate-mvfps-slower:    MVFPS_SRC = testsrc2=s=70x50:r=60,format=gray
# the first frame is not at 0
fate-mvfps-late:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=PTS+0.49/TB,$(MVFPS_MEANS)=60)
# timestamps in milliseconds, as Matroska has them
fate-mvfps-coarse:    CMD = $(call MVFPS_CRC,$(call MVFPS_5,24)$(GPUME_COMMA)settb=1/1000,$(MVFPS_MEANS)=60)
# frames at unequal distances
fate-mvfps-sparse:    CMD = $(call MVFPS_CRC,$(MVFPS_SRC)$(GPUME_COMMA)trim=end_frame=16$(GPUME_COMMA)select=1-mod(n\,7)*mod(n\,3),$(MVFPS_MEANS)=50)
fate-mvfps-sparse:    MVFPS_SRC = testsrc2=s=70x50:r=25,format=gray
# a frame that is not later than the one before is left out
fate-mvfps-order:     CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=(N-2*eq(N\,3))/25/TB,$(MVFPS_MEANS)=2x)
fate-mvfps-one:       CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=1,fps=3x)
fate-mvfps-two:       CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=2,$(MVFPS_MEANS)=3x)
fate-mvfps-none:      CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=0,fps=3x)
fate-mvfps-dup:       CMD = $(call MVFPS_CRC,$(call MVFPS_5,25),mode=dup:fps=5/2x)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS)) += $(FATE_MVFPS_RATES)
