# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVSTEREO_NEEDS = GPUME_FILTER MVSTEREO_FILTER TESTSRC2_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER SPLIT_FILTER \
                 VSTACK_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# Two views, labelled l and r. The disparity is 6 samples in the upper part and 17 in the lower.
MVSTEREO_VIEWS = testsrc2=s=200x140:r=10,format=$(1),trim=end_frame=3,split=4[a][b][c][d];[a]crop=150:60:20:10[lu];[b]crop=150:60:26:10[ru];[c]crop=150:40:20:90[ll];[d]crop=150:40:37:90[rl];[lu][ll]vstack[l];[ru][rl]vstack[r]
# Frames and their times. $(1): filters after the views; $(2): pixel format; $(3): options of ffmpeg
MVSTEREO_CRC = framecrc -lavfi "$(call MVSTEREO_VIEWS,$(or $(2),yuv444p));[l][r]$(1)" -fps_mode passthrough $(3)

FATE_MVSTEREO_MAPS = $(foreach N,defaults max negative up-to-0 gray8 color no-legend depth confidence holes rows right fast apart temporal pan both float left-gray8 left-gray8-rows longer range near black,fate-mvstereo-$(N))
fate-mvstereo-defaults:   CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2)
fate-mvstereo-max:        CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32)
fate-mvstereo-negative:   CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:min=-9:max=24)
fate-mvstereo-up-to-0:    CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r][l]mvstereo=inputs=2:min=-30:max=0" -fps_mode passthrough
fate-mvstereo-gray8:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=gray8)
fate-mvstereo-color:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=color)
fate-mvstereo-no-legend:  CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=color:legend=0)
fate-mvstereo-depth:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=depth:focal=500:baseline=63)
fate-mvstereo-confidence: CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=confidence)
fate-mvstereo-holes:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:fill=0)
fate-mvstereo-right:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:view=right)
fate-mvstereo-fast:       CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:min=-8:max=88:fast=1)
# windows that have nothing in common: the least cost of a path and the penalty need more than a byte
fate-mvstereo-apart:      CMD = framecrc -lavfi "testsrc2=s=208x84:r=10,format=yuv444p,trim=end_frame=2,mvstereo=layout=abl:max=96:fast=1" -fps_mode passthrough
fate-mvstereo-temporal:   CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]trim=end_frame=1,loop=3:1,setpts=N,noise=c0s=9:c0f=t:c0_seed=5[m];[r]trim=end_frame=1,loop=3:1,setpts=N,noise=c0s=9:c0f=t:c0_seed=6[s];[m][s]mvstereo=inputs=2:max=32:temporal=1" -fps_mode passthrough
fate-mvstereo-pan:        CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]trim=end_frame=1,loop=3:1,setpts=N,crop=130:96:2*n:n,noise=c0s=9:c0f=t:c0_seed=5[m];[r]trim=end_frame=1,loop=3:1,setpts=N,crop=130:96:2*n:n,noise=c0s=9:c0f=t:c0_seed=6[s];[m][s]mvstereo=inputs=2:max=32:temporal=1:view=both" -fps_mode passthrough
fate-mvstereo-both:       CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:view=both:output=gray8)
fate-mvstereo-float:      CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:min=-9:max=24:fill=0:output=float)
fate-mvstereo-left-gray8: CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:output=left+gray8,yuv420p10)
fate-mvstereo-left-gray8-rows: CMD = $(call MVSTEREO_CRC,framepack=lines$(GPUME_COMMA)mvstereo=layout=irl:max=32:output=left+gray8,yuv420p)
# as many maps as left frames
fate-mvstereo-longer:     CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]trim=end_frame=2[m];[m][r]mvstereo=inputs=2:max=32" -fps_mode passthrough
fate-mvstereo-range:      CMD = ffmpeg -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l][r]mvstereo=inputs=2,metadata=print:file=-" -f null -
# all disparities are larger than those that are searched
fate-mvstereo-near:       CMD = ffmpeg -lavfi "testsrc2=s=5196x32:r=10,format=yuv444p,noise=c0s=90:c0_seed=5,trim=end_frame=1,split[a][b];[a]crop=4096:32:0:0[l];[b]crop=4096:32:1100:0[r];[l][r]mvstereo=inputs=2,metadata=print:file=-" -f null -
# the first pair has no range, the third one does not change it
fate-mvstereo-black:      CMD = ffmpeg -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]drawbox=t=fill:c=black:enable=not(mod(n\,2))[m];[r]drawbox=t=fill:c=black:enable=not(mod(n\,2))[s];[m][s]mvstereo=inputs=2$(GPUME_COMMA)metadata=print:file=-" -f null -
fate-mvstereo-rows:       CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32:rows=1)

# The map must not depend on the layout, the number of threads or the depth.
MVSTEREO_LAYOUTS = sbsl abl irl icl al
FATE_MVSTEREO_SAME = $(MVSTEREO_LAYOUTS:%=fate-mvstereo-layout-%) $(foreach N,1 2 5,fate-mvstereo-threads-$(N)) \
                     fate-mvstereo-layout-sbsr fate-mvstereo-layout-sbs2l fate-mvstereo-gray fate-mvstereo-auto
$(FATE_MVSTEREO_SAME): REF = $(SRC_PATH)/tests/ref/fate/mvstereo-max
fate-mvstereo-layout-%:     CMD = $(call MVSTEREO_CRC,framepack=$(MVSTEREO_PACK_$(lastword $(subst -, ,$@)))$(GPUME_COMMA)mvstereo=max=32:layout=$(lastword $(subst -, ,$@)))
fate-mvstereo-layout-sbsr:  CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r][l]hstack,mvstereo=max=32:layout=sbsr" -fps_mode passthrough
fate-mvstereo-layout-sbs2l: CMD = $(call MVSTEREO_CRC,hstack$(GPUME_COMMA)mvstereo=max=32:layout=sbs2l$(GPUME_COMMA)setsar=1)
MVSTEREO_PACK_sbsl = sbs
MVSTEREO_PACK_abl  = tab
MVSTEREO_PACK_irl  = lines
MVSTEREO_PACK_icl  = columns
MVSTEREO_PACK_al   = frameseq
fate-mvstereo-threads-%:    CMD = $(call MVSTEREO_CRC,mvstereo=inputs=2:max=32,,-filter_complex_threads $(lastword $(subst -, ,$@)))
# The right view is 0.04 s later or earlier, as cameras that are not started at the same time, or clocks that round.
FATE_MVSTEREO_SAME += fate-mvstereo-later fate-mvstereo-earlier
fate-mvstereo-later fate-mvstereo-earlier: REF = $(SRC_PATH)/tests/ref/fate/mvstereo-max
MVSTEREO_SHIFTED = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r]settb=1/1000$(GPUME_COMMA)setpts=PTS$(1)[s];[l][s]mvstereo=inputs=2:max=32" -fps_mode passthrough -enc_time_base 1/10
fate-mvstereo-later:        CMD = $(call MVSTEREO_SHIFTED,+40)
fate-mvstereo-earlier:      CMD = $(call MVSTEREO_SHIFTED,-40)
fate-mvstereo-gray:         CMD = framecrc -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]extractplanes=y[a];[r]extractplanes=y[b];[a][b]mvstereo=inputs=2:max=32" -fps_mode passthrough
# A map has other colours than the video; beside the left view they stay. No map has the rectangles of a hint.
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) SETPARAMS_FILTER SHOWINFO_FILTER NULL_MUXER) += fate-mvstereo-properties
fate-mvstereo-properties: CMD = { for o in gray8 color left+gray8; do ffmpeg -v info -lavfi "testsrc2=s=64x48:r=10,format=yuv420p,trim=end_frame=1,setparams=range=tv:color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc$(GPUME_COMMA)mvstereo=layout=sbs:max=32:output=$$o$(GPUME_COMMA)showinfo" -f null - 2>&1 | sed -n -e "s/^.*\(color_range.*color_trc:[a-z0-9]*\).*/\1/p"; done; }
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) COLOR_FILTER DRAWBOX_FILTER SIDEDATA_FILTER) += fate-mvstereo-hint
fate-mvstereo-hint: CMD = framecrc -lavfi "color=gray:s=256x96:r=10,format=yuv420p,drawbox=x=24:y=8:w=16:h=16:color=white:t=fill:enable=mod(n\,2),trim=end_frame=14,gpume=algo=hme:block=16:hint=constant,mvstereo=layout=sbs:max=32,sidedata=select:type=VIDEO_HINT"
# Files whose metadata states the layout of the views. FFmpeg 7.1's links do not pass it on.
fate-mvstereo-auto: CMD = { ffmpeg -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r][l]hstack" -c:v ffv1 -metadata:s:v stereo_mode=right_left -f matroska -y tests/data/fate/mvstereo-auto.mkv && ffmpeg -i tests/data/fate/mvstereo-auto.mkv -lavfi mvstereo=max=32 -fps_mode passthrough -enc_time_base 1/10 -f framecrc -bitexact -; }
# The file says that the left view is first, but its first frame says that it is the right one.
fate-mvstereo-auto-views: REF = $(SRC_PATH)/tests/ref/fate/mvstereo-max
fate-mvstereo-auto-views: CMD = { ffmpeg -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r][l]framepack=frameseq" -c:v ffv1 -metadata:s:v stereo_mode=block_lr -f matroska -y tests/data/fate/mvstereo-auto-views.mkv && ffmpeg -i tests/data/fate/mvstereo-auto-views.mkv -lavfi "split[a][b];[a]select=mod(n\,2)$(GPUME_COMMA)setpts=N/10/TB[l];[b]select=not(mod(n\,2))$(GPUME_COMMA)setpts=N/10/TB$(GPUME_COMMA)sidedata=delete:STEREO3D[r];[l][r]framepack=frameseq$(GPUME_COMMA)shuffleframes=1|0$(GPUME_COMMA)mvstereo=max=32" -fps_mode passthrough -enc_time_base 1/10 -f framecrc -bitexact -; }

# Messages
FATE_MVSTEREO_ERRORS = $(foreach N,layout type views lost times no-times no-right range min focal alone framesync pass repeatlast size once squeezed bits,fate-mvstereo-error-$(N))
MVSTEREO_SAYS = { ffmpeg -v error -lavfi "$(1)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; }
MVSTEREO_ONE  = testsrc2=s=64x48:r=10$(GPUME_COMMA)format=gray$(GPUME_COMMA)trim=end_frame=1
fate-mvstereo-error-layout: CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo)
fate-mvstereo-error-type:   CMD = { ffmpeg -v error -lavfi "$(MVSTEREO_ONE)" -c:v ffv1 -metadata:s:v stereo_mode=checkerboard_lr -f matroska -y tests/data/fate/mvstereo-type.mkv; ffmpeg -v error -i tests/data/fate/mvstereo-type.mkv -vf mvstereo -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; }
fate-mvstereo-error-views:  CMD = $(call MVSTEREO_SAYS,testsrc2=s=64x48:r=10$(GPUME_COMMA)format=gray$(GPUME_COMMA)trim=end_frame=2$(GPUME_COMMA)split[a][b];[a][b]framepack=frameseq$(GPUME_COMMA)select=mod(n\,2)$(GPUME_COMMA)mvstereo=layout=al)
# the right view begins two frames later; its first frame is used three times, and there are as many maps as left frames
fate-mvstereo-error-times:  CMD = { ffmpeg -v warning -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r]trim=start_frame=2[s];[l][s]mvstereo=inputs=2:max=32" -f framecrc - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p" -e "s/^0,.*0x/a map: 0x/p"; }
# times that are unknown are not compared, so there is a map and no message
fate-mvstereo-error-no-times: CMD = { ffmpeg -v warning -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l]trim=end_frame=1[m];[r]trim=end_frame=1$(GPUME_COMMA)setpts=NAN[s];[m][s]mvstereo=inputs=2:max=32" -f framecrc - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p" -e "s/^0,.*0x/a map: 0x/p"; }
fate-mvstereo-error-no-right: CMD = { ffmpeg -v warning -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[r]trim=end_frame=0[s];[l][s]mvstereo=inputs=2:max=32" -f framecrc - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p" -e "s/^0,.*0x/a map: 0x/p"; }
# a left frame is lost, or a right one: the other one of the pair is dropped
fate-mvstereo-error-lost:   CMD = { for n in 2 3; do ffmpeg -v warning -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l][r]framepack=frameseq$(GPUME_COMMA)select=not(eq(n\,$$n))$(GPUME_COMMA)mvstereo=layout=al:max=32" -f framecrc - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p" -e "s/^0,.*0x/a map: 0x/p" | sort -s -k1,1; done; }
fate-mvstereo-error-range:  CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:min=-200:max=1000)
fate-mvstereo-error-min:    CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:min=3)
fate-mvstereo-error-focal:  CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:output=depth)
fate-mvstereo-error-alone:  CMD = { for o in legend=0 output=confidence:fill=0 output=confidence:temporal=0 fill=0:temporal=0 file= file=x.csv; do $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:$$o); done; }
MVSTEREO_BOTH = $(MVSTEREO_ONE)$(GPUME_COMMA)split[l][r];[l][r]mvstereo=inputs=2
fate-mvstereo-error-pass:   CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_BOTH):eof_action=pass)
fate-mvstereo-error-repeatlast: CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_BOTH):repeatlast=0)
fate-mvstereo-error-framesync: CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:shortest=1)
# a warning, printed once
fate-mvstereo-error-once:   CMD = { ffmpeg -v warning -lavfi "$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:max=32:fast=1" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; }
# views that are squeezed, and some that are not
fate-mvstereo-error-squeezed: CMD = { for o in 192x108:sbsr 384x108:sbsl 192x108:sbs2l 192x108:abl 192x216:abl; do ffmpeg -v warning -lavfi "color=s=$${o%:*}:r=10$(GPUME_COMMA)format=gray$(GPUME_COMMA)trim=end_frame=1$(GPUME_COMMA)mvstereo=max=32:layout=$${o#*:}" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; done; }
# 8 bits after the filter, or after another one that does not change samples; 16 bits or an output of 8 bits are right
fate-mvstereo-error-bits:   CMD = { for o in max=32$(GPUME_COMMA)scale$(GPUME_COMMA)format=gray max=32:output=float$(GPUME_COMMA)setpts=PTS$(GPUME_COMMA)scale$(GPUME_COMMA)format=yuv420p max=32$(GPUME_COMMA)scale$(GPUME_COMMA)format=yuv444p16 max=32:output=gray8$(GPUME_COMMA)scale$(GPUME_COMMA)format=yuv420p; do ffmpeg -v warning -lavfi "color=s=256x64:r=10$(GPUME_COMMA)format=gray$(GPUME_COMMA)trim=end_frame=1$(GPUME_COMMA)mvstereo=layout=sbs:$$o" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; done; }
# Views that disagree: swapped, also with a range that is found; with rows that are off, up to those that are searched; and views that agree
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) NOISE_FILTER AVGBLUR_FILTER NULL_MUXER) += fate-mvstereo-error-disagree
MVSTEREO_DISAGREE = ffmpeg -v warning -lavfi "testsrc2=s=400x200:r=10$(GPUME_COMMA)format=yuv444p$(GPUME_COMMA)trim=end_frame=2$(GPUME_COMMA)noise=c0s=90:c0_seed=5$(GPUME_COMMA)avgblur=1$(GPUME_COMMA)split[a][b];[a]crop=300:160:20:10[l];[b]crop=300:160:45:$(1)[r];$(2)mvstereo=inputs=2:$(3)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"
fate-mvstereo-error-disagree: CMD = { $(call MVSTEREO_DISAGREE,10,[r][l],max=64); $(call MVSTEREO_DISAGREE,10,[r][l],max=0); $(call MVSTEREO_DISAGREE,12,[l][r],max=64); $(call MVSTEREO_DISAGREE,7,[l][r],max=64); $(call MVSTEREO_DISAGREE,7,[l][r],max=64:rows=3); $(call MVSTEREO_DISAGREE,10,[l][r],max=64); $(call MVSTEREO_DISAGREE,10,[l][r],max=0); }
fate-mvstereo-error-size:   CMD = $(call MVSTEREO_SAYS,$(MVSTEREO_ONE)$(GPUME_COMMA)split[a][b];[b]crop=32:32[c];[a][c]mvstereo=inputs=2)

FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) FRAMEPACK_FILTER EXTRACTPLANES_FILTER HSTACK_FILTER SETSAR_FILTER SETTB_FILTER LOOP_FILTER NOISE_FILTER SETPTS_FILTER METADATA_FILTER DRAWBOX_FILTER NULL_MUXER) += $(filter-out fate-mvstereo-auto,$(FATE_MVSTEREO_MAPS) $(FATE_MVSTEREO_SAME))
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) HSTACK_FILTER MATROSKA_MUXER MATROSKA_DEMUXER FFV1_ENCODER FFV1_DECODER FILE_PROTOCOL) += $(if $(GPUME_SERIES_7),,fate-mvstereo-auto)
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) FRAMEPACK_FILTER SELECT_FILTER SETPTS_FILTER SIDEDATA_FILTER SHUFFLEFRAMES_FILTER MATROSKA_MUXER MATROSKA_DEMUXER FFV1_ENCODER FFV1_DECODER FILE_PROTOCOL) += $(if $(GPUME_SERIES_7),,fate-mvstereo-auto-views)
# An array for NumPy: its header, its sum, and what of it is not replaced
fate-mvstereo-npy: CMD = { rm -f tests/data/fate/mvstereo.npy; ffmpeg -v error -lavfi "$(call MVSTEREO_VIEWS,yuv444p);[l][r]mvstereo=inputs=2:max=32:view=both:file=tests/data/fate/mvstereo.npy" -f null - && head -c 127 tests/data/fate/mvstereo.npy | tail -c 117 | sed "s/ *$$//" && echo && do_md5sum tests/data/fate/mvstereo.npy && ffmpeg -v error -lavfi "$(MVSTEREO_ONE)$(GPUME_COMMA)mvstereo=layout=sbs:overwrite=0:file=tests/data/fate/mvstereo.npy" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvstereo[^]]*. //p"; }

FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) FILE_PROTOCOL NULL_MUXER) += fate-mvstereo-npy
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) COLOR_FILTER SCALE_FILTER FRAMEPACK_FILTER SELECT_FILTER SETPTS_FILTER NULL_MUXER) += $(filter-out fate-mvstereo-error-type,$(FATE_MVSTEREO_ERRORS))
FATE_MVSTEREO-$(call ALLYES, $(MVSTEREO_NEEDS) NULL_MUXER MATROSKA_MUXER MATROSKA_DEMUXER FFV1_ENCODER FFV1_DECODER FILE_PROTOCOL) += $(if $(GPUME_SERIES_7),,fate-mvstereo-error-type)

FATE_MVSTEREO_PROGRAMS-$(call ALLYES, GPUME_FILTER MVSTEREO_FILTER) += fate-mvstereo-unit fate-mvstereo-unit-quick
