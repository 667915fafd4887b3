# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVDENOISE_NEEDS = GPUME_FILTER MVDENOISE_FILTER TESTSRC2_FILTER NOISE_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER \
                  RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# A pan with noise. $(1): frames
MVDENOISE_SRC = $(GPUME_PAN),trim=end_frame=$(1),noise=alls=20:allf=t
MVDENOISE_6   = $(call MVDENOISE_SRC,6)
MVDENOISE_CLEAN = testsrc2=s=200x140:r=10,format=yuv420p,trim=end_frame=4
# Frames and their times. $(1): the source; $(2): the filter and later filters; $(3): options of
# ffmpeg
MVDENOISE_CRC = framecrc -lavfi "$(1),$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)
# mvdenoise's own search. $(1): refs
MVDENOISE_HME = gpume=algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=$(1)

FATE_MVDENOISE_PICTURES = $(foreach N,defaults radius-0 radius-1 radius-4 passes-1 sigma strength planes past cut late \
                                      sparse one two none odd rgb rgb-planes rgb-12 rgb-alpha rgb-16 clean dense dense-small before-mvfps,fate-mvdenoise-$(N))
fate-mvdenoise-defaults: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),$(call MVDENOISE_HME,2)$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-radius-0: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=radius=0)
fate-mvdenoise-radius-1: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=radius=1)
fate-mvdenoise-radius-4: CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,11),mvdenoise=radius=4:sigma=6)
fate-mvdenoise-passes-1: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=passes=1)
fate-mvdenoise-sigma:    CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=sigma=7.3)
fate-mvdenoise-strength: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=strength=0.5)
fate-mvdenoise-planes:   CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=planes=2)
fate-mvdenoise-past:     CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),gpume=algo=hme:block=16:refs=2$(GPUME_COMMA)mvdenoise)
# two scenes, one after the other
fate-mvdenoise-cut:      CMD = $(call MVDENOISE_CRC,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=4[a];testsrc2=s=400x300:r=10$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)crop=94:70:210+n:190$(GPUME_COMMA)trim=end_frame=4[b];[a][b]concat$(GPUME_COMMA)noise=alls=20:allf=t,mvdenoise)
# the first frame is not at 0; frames at unequal distances; fewer frames than the filter waits for
fate-mvdenoise-late:     CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)setpts=PTS+0.49/TB,mvdenoise)
fate-mvdenoise-sparse:   CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,12)$(GPUME_COMMA)select=1-mod(n\,7)*mod(n\,3),mvdenoise)
fate-mvdenoise-one:      CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,1),mvdenoise)
fate-mvdenoise-two:      CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,2),mvdenoise)
fate-mvdenoise-none:     CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,0),mvdenoise)
fate-mvdenoise-odd:      CMD = $(call MVDENOISE_CRC,testsrc2=s=96x80:r=10$(GPUME_COMMA)format=yuv444p$(GPUME_COMMA)crop=53:37:3*n:2*n$(GPUME_COMMA)trim=end_frame=4$(GPUME_COMMA)noise=alls=20:allf=t,mvdenoise)
# RGB as opponent colours: of 8 bits, of 12, with alpha; and each colour alone: one left out, and 16 bits
MVDENOISE_RGB = testsrc2=s=128x96:r=10,format=$(1),crop=94:70:3*n:2*n,noise=alls=20:allf=t,trim=end_frame=4
fate-mvdenoise-rgb:        CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_RGB,gbrp),mvdenoise=sigma=9)
fate-mvdenoise-rgb-planes: CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_RGB,gbrp),mvdenoise=planes=5)
fate-mvdenoise-rgb-12:     CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_RGB,gbrp)$(GPUME_COMMA)scale=flags=accurate_rnd+bitexact$(GPUME_COMMA)format=gbrp12le,mvdenoise)
fate-mvdenoise-rgb-alpha:  CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_RGB,gbrap),mvdenoise=planes=15)
fate-mvdenoise-rgb-16:     CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_RGB,gbrp)$(GPUME_COMMA)scale=flags=accurate_rnd+bitexact$(GPUME_COMMA)format=gbrp16le,mvdenoise)
fate-mvdenoise-dense:    CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=dense=1)
# patches in one or two rows, the last one not at a multiple of 2
fate-mvdenoise-dense-small: CMD = $(call MVDENOISE_CRC,testsrc2=s=96x80:r=10$(GPUME_COMMA)format=yuv444p$(GPUME_COMMA)crop=25:19:3*n:2*n$(GPUME_COMMA)trim=end_frame=4$(GPUME_COMMA)noise=alls=20:allf=t,mvdenoise=dense=1:radius=1)
# without noise, frames pass unchanged
fate-mvdenoise-clean:    CMD = $(call MVDENOISE_CRC,$(MVDENOISE_CLEAN),mvdenoise)
fate-mvdenoise-before-mvfps: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),$(call MVDENOISE_HME,2)$(GPUME_COMMA)mvdenoise$(GPUME_COMMA)mvfps=fps=2x:search=never)

# The result must not depend on the number of threads, nor on which filter searches.
FATE_MVDENOISE_SAME = $(foreach N,1 2 5,fate-mvdenoise-threads-$(N)) fate-mvdenoise-alone fate-mvdenoise-more fate-mvdenoise-off
fate-mvdenoise-alone fate-mvdenoise-more: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-defaults
$(foreach N,1 2 5,fate-mvdenoise-threads-$(N)): REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-defaults
fate-mvdenoise-threads-%: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise,-filter_complex_threads $(lastword $(subst -, ,$@)))
fate-mvdenoise-alone:     CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=search=auto)
# vectors of more references than the filter needs
fate-mvdenoise-more:      CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),$(call MVDENOISE_HME,3)$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-off: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-clean
fate-mvdenoise-off:       CMD = $(call MVDENOISE_CRC,$(MVDENOISE_CLEAN),mvdenoise=sigma=10:strength=0)

# Repeats are not denoised again and have no weight: the frames between them are the same as without
# repeats.
FATE_MVDENOISE_SAME += fate-mvdenoise-repeats
fate-mvdenoise-repeats: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-defaults
fate-mvdenoise-repeats: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)fps=30,mvdenoise$(GPUME_COMMA)fps=10)
# repeated frames with vectors, and more repeats than share a result
FATE_MVDENOISE_PICTURES += fate-mvdenoise-repeats-vectors fate-mvdenoise-repeats-still fate-mvdenoise-enable
fate-mvdenoise-repeats-vectors: CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,4)$(GPUME_COMMA)fps=20$(GPUME_COMMA)$(call MVDENOISE_HME,4),mvdenoise=radius=4)
fate-mvdenoise-repeats-still:   CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,4)$(GPUME_COMMA)fps=70,mvdenoise=radius=1)
# frames 0, 1, 4 and 5 must be those of the input
fate-mvdenoise-enable:          CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=enable=between(n\,2\,3))

# A command changes the strength. With one pass, frames are those of as many filters; where the strength was 0 at
# first, they begin another sequence. The second frame changes the estimate of the first one, but not its strength.
FATE_MVDENOISE_COMMANDS = fate-mvdenoise-command fate-mvdenoise-command-apart fate-mvdenoise-command-on fate-mvdenoise-command-on-apart
fate-mvdenoise-command fate-mvdenoise-command-apart:       REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-command
fate-mvdenoise-command-on fate-mvdenoise-command-on-apart: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-command-on
MVDENOISE_COMMAND = { cleanfiles="$$cleanfiles $(GPUME_TMP).txt"; echo "$(1)" > $(GPUME_TMP).txt; $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)settb=AVTB$(GPUME_COMMA)sendcmd=f=$(GPUME_TMP).txt,$(2)); }
fate-mvdenoise-command:          CMD = $(call MVDENOISE_COMMAND,0.1 mvdenoise strength 0.5; 0.3 mvdenoise strength 0,mvdenoise=passes=1)
fate-mvdenoise-command-apart:    CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)settb=AVTB,split=3[a][b][c];[a]mvdenoise=passes=1$(GPUME_COMMA)trim=end_frame=1[d];[b]mvdenoise=passes=1:strength=0.5$(GPUME_COMMA)trim=start_frame=1:end_frame=3[e];[c]trim=start_frame=3[f];[d][e][f]interleave=3)
fate-mvdenoise-command-on:       CMD = $(call MVDENOISE_COMMAND,0.2 mvdenoise strength 1,mvdenoise=strength=0)
fate-mvdenoise-command-on-apart: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)settb=AVTB,split[a][b];[a]trim=end_frame=2[c];[b]trim=start_frame=2$(GPUME_COMMA)mvdenoise[d];[c][d]interleave)

# Samples above their depth, whose mean is that of no tone: frames come out. What is in them depends on the processor.
FATE_MVDENOISE_ABOVE = fate-mvdenoise-above
fate-mvdenoise-above: CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,4)$(GPUME_COMMA)$(GPUME_SCALE)gray10le$(GPUME_COMMA)geq=lum=64000+mod(X*X*37+Y*911+N*333\$(GPUME_COMMA)1500),mvdenoise) | sed -e "s/ *0x.*//"

# Which frames have vectors where some came with them and repeats are near others does not depend on threads
FATE_MVDENOISE_HAVE = $(foreach N,1 5,fate-mvdenoise-have-$(N))
$(FATE_MVDENOISE_HAVE): REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-have
fate-mvdenoise-have-%: CMD = { ffmpeg -v info -filter_complex_threads $(lastword $(subst -, ,$@)) -lavfi "$(call MVDENOISE_SRC,12)$(GPUME_COMMA)split[a][b];[a]trim=end_frame=6$(GPUME_COMMA)fps=20[c];[b]trim=start_frame=6$(GPUME_COMMA)setpts=PTS-STARTPTS$(GPUME_COMMA)$(call MVDENOISE_HME,2)[d];[c][d]concat$(GPUME_COMMA)mvdenoise$(GPUME_COMMA)showinfo" -f null - 2>&1 | sed -n -e "s/^.Parsed_showinfo.* n: *\([0-9]*\) .*/\1/p" -e "s/^.Parsed_showinfo.*side data.*/has vectors/p"; }

# PSNR of luma if much of the picture has no noise, or noise that is not white. $(1): filters for
# noisy frames; $(2): filters for all frames; $(3): options of mvdenoise; $(4): noise
MVDENOISE_WIDE  = testsrc2=s=640x480:r=25$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)crop=320:240:20+3*n:30+n$(GPUME_COMMA)trim=end_frame=8
MVDENOISE_WHITE = noise=alls=20:allf=t
MVDENOISE_PSNR  = { ffmpeg -v info -lavfi "$(MVDENOISE_WIDE)$(GPUME_COMMA)split[a][b];[a]$(1)$(GPUME_COMMA)$(2)$(GPUME_COMMA)mvdenoise$(3)[c];[b]$(2)[d];[c][d]psnr" -f null - 2>&1 | sed -n -e "s/^.*PSNR y:\([0-9]*[.][0-9]\).*/\1/p"; }
MVDENOISE_BOX   = drawbox=x=$(1):y=$(2):w=$(3):h=$(4):color=$(5):t=fill
FATE_MVDENOISE_PSNR = $(foreach N,white box letterbox circle tiles background grid crushed bright sensor sensor-single sensor-few dense,fate-mvdenoise-psnr-$(N))
fate-mvdenoise-psnr-white:      CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),null)
fate-mvdenoise-psnr-dense:      CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),null,=dense=1)
fate-mvdenoise-psnr-box:        CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),$(call MVDENOISE_BOX,40,40,96,64,black))
fate-mvdenoise-psnr-letterbox:  CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),$(call MVDENOISE_BOX,0,0,320,35,black)$(GPUME_COMMA)$(call MVDENOISE_BOX,0,205,320,35,black))
fate-mvdenoise-psnr-circle:     CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),geq=lum=if(gt(hypot(X-160\$(GPUME_COMMA)Y-120)\$(GPUME_COMMA)115)\$(GPUME_COMMA)16\$(GPUME_COMMA)lum(X\$(GPUME_COMMA)Y)):cb=128:cr=128)
fate-mvdenoise-psnr-tiles:      CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),$(call MVDENOISE_BOX,0,0,160,120,black)$(GPUME_COMMA)$(call MVDENOISE_BOX,160,120,160,120,black))
fate-mvdenoise-psnr-background: CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),$(call MVDENOISE_BOX,0,0,230,240,gray))
fate-mvdenoise-psnr-grid:       CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),drawgrid=w=40:h=40:t=3:color=white)
fate-mvdenoise-psnr-crushed:    CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),lutyuv=y=clip(val-60\,16\,235))
fate-mvdenoise-psnr-bright:     CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_WHITE),lutyuv=y=clip(val+60\,16\,235))
# noise that is stronger where the picture is brighter
MVDENOISE_SENSOR = split=3[e][f][g];[e]noise=alls=4:allf=t[h];[f]noise=alls=50:allf=t[i];[h][i][g]maskedmerge
fate-mvdenoise-psnr-sensor:        CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_SENSOR),null)
fate-mvdenoise-psnr-sensor-single: CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_SENSOR),null,=levels=0)
# few blocks of each brightness
fate-mvdenoise-psnr-sensor-few:    CMD = $(call MVDENOISE_PSNR,$(MVDENOISE_SENSOR),$(call MVDENOISE_BOX,80,0,240,240,gray))

# Noise that was encoded. $(1): name; $(2): noise; $(3): options of the encoder
MVDENOISE_CODED = { ffmpeg -lavfi "$(MVDENOISE_WIDE)$(GPUME_COMMA)noise=alls=$(2):allf=t" $(3) -flags +bitexact -dct int -idct simple -threads 1 -y tests/data/fate/mvdenoise-$(1).nut; ffmpeg -v info -flags +bitexact -idct simple -i tests/data/fate/mvdenoise-$(1).nut -lavfi "[0:v]mvdenoise$(GPUME_COMMA)setpts=N/25/TB[a];$(MVDENOISE_WIDE)$(GPUME_COMMA)setpts=N/25/TB[b];[a][b]psnr" -f null - 2>&1 | sed -n -e "s/^.*PSNR y:\([0-9]*[.][0-9]\).*/\1/p"; }
FATE_MVDENOISE_CODED = $(foreach N,mpeg2 mpeg4 mpeg4-kept,fate-mvdenoise-psnr-$(N))
fate-mvdenoise-psnr-mpeg2: CMD = $(call MVDENOISE_CODED,mpeg2,8,-c:v mpeg2video -q:v 5)
fate-mvdenoise-psnr-mpeg4: CMD = $(call MVDENOISE_CODED,mpeg4,14,-c:v mpeg4 -q:v 8)
# the encoder keeps half of the fine differences
fate-mvdenoise-psnr-mpeg4-kept: CMD = $(call MVDENOISE_CODED,mpeg4-kept,20,-c:v mpeg4 -q:v 5)

# The mean of flat noisy gray must not change: prints the means of the planes of noisy frames, then
# of denoised frames.
FATE_MVDENOISE_MEAN = fate-mvdenoise-mean
fate-mvdenoise-mean: CMD = { for f in null mvdenoise; do ffmpeg -lavfi "color=gray:s=640x480:r=25:d=0.32$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)noise=alls=20:allf=t$(GPUME_COMMA)$$f$(GPUME_COMMA)signalstats$(GPUME_COMMA)metadata=print:file=-" -f null - | sed -n -e "s/^.*signalstats.\([YUV]\)AVG=/\1 /p" | awk "{ sum[\$$1] += \$$2 / 8 } END { printf \"%.2f %.2f %.2f\\n\", sum[\"Y\"], sum[\"U\"], sum[\"V\"] }"; done; }

# One of each kind of format, as in mvfps.mak
FATE_MVDENOISE_FORMATS = fate-mvdenoise-formats fate-mvdenoise-format
fate-mvdenoise-format: MVFPS_FORMATS = yuv422p12
$(FATE_MVDENOISE_FORMATS): CMD = $(call GPUME_EACH,$(MVFPS_FORMATS),$(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)$(GPUME_SCALE)$$f,mvdenoise=radius=1:sigma=5) -pix_fmt $$f)

# Vectors of another producer, of distance 1
fate-mvdenoise-mestimate: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mestimate=epzs:8$(GPUME_COMMA)mvdenoise=radius=1)

# Messages
FATE_MVDENOISE_ERRORS = $(foreach N,vectors refs size dropped removed alone off radius options,fate-mvdenoise-error-$(N))
MVDENOISE_SAYS = { ffmpeg -v $(1) -lavfi "$(MVDENOISE_6),$(2)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvdenoise[^]]*. //p"; }
fate-mvdenoise-error-vectors: CMD = $(call MVDENOISE_SAYS,warning,mvdenoise=search=never)
fate-mvdenoise-error-refs:    CMD = $(call MVDENOISE_SAYS,warning,gpume=algo=hme:dir=both$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-size:    CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)crop=64:48$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-dropped: CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)select=not(eq(n\,2))$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-removed: CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)scale=60:40$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-alone:   CMD = $(call MVDENOISE_SAYS,info,mvdenoise) | sed "s/backend=[a-z]*/backend=/"
# no frame is searched, and no vectors are missed
fate-mvdenoise-error-off:     CMD = $(call MVDENOISE_SAYS,info,mvdenoise=strength=0) && echo "no more"
# options without effect
fate-mvdenoise-error-options: CMD = { for o in planes=0 sigma=5:levels=0 radius=0:levels=0 radius=0:search=never planes=8 sigma=0.1:strength=0.5; do $(call MVDENOISE_SAYS,warning,mvdenoise=$$o); done; }
fate-mvdenoise-error-radius:  CMD = { ffmpeg -v error -lavfi "$(MVDENOISE_6)$(GPUME_COMMA)mvdenoise=radius=5" -f null - 2>&1 | sed -n -e "s/^.*\(Value 5.*radius.*range.*\)/\1/p"; }

# FFmpeg 7.1's scale keeps vectors
MVDENOISE_OTHER = $(if $(GPUME_SERIES_7),fate-mvdenoise-error-removed)

FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) FPS_FILTER SELECT_FILTER SETTB_FILTER DRAWBOX_FILTER DRAWGRID_FILTER LUTYUV_FILTER \
                              MASKEDMERGE_FILTER GEQ_FILTER SPLIT_FILTER PSNR_FILTER NULL_FILTER NULL_MUXER) += $(FATE_MVDENOISE_PSNR)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) PSNR_FILTER MPEG2VIDEO_ENCODER MPEG2VIDEO_DECODER MPEG4_ENCODER MPEG4_DECODER \
                              SETPTS_FILTER NUT_MUXER NUT_DEMUXER FILE_PROTOCOL NULL_MUXER) += $(FATE_MVDENOISE_CODED)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) COLOR_FILTER SIGNALSTATS_FILTER METADATA_FILTER NULL_FILTER NULL_MUXER) += \
                              $(FATE_MVDENOISE_MEAN)

FATE_MVDENOISE_ALL = $(FATE_MVDENOISE_PICTURES) $(FATE_MVDENOISE_SAME) $(FATE_MVDENOISE_ERRORS)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SETPTS_FILTER SETTB_FILTER FPS_FILTER SELECT_FILTER CONCAT_FILTER SCALE_FILTER MVFPS_FILTER \
                              NULL_MUXER) += $(filter-out $(MVDENOISE_OTHER),$(FATE_MVDENOISE_ALL))
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SENDCMD_FILTER SPLIT_FILTER INTERLEAVE_FILTER SETTB_FILTER) += $(FATE_MVDENOISE_COMMANDS)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SCALE_FILTER) += $(FATE_MVDENOISE_FORMATS)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SCALE_FILTER GEQ_FILTER) += $(FATE_MVDENOISE_ABOVE)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SPLIT_FILTER FPS_FILTER SETPTS_FILTER CONCAT_FILTER SHOWINFO_FILTER NULL_MUXER) += \
                              $(FATE_MVDENOISE_HAVE)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) MESTIMATE_FILTER) += fate-mvdenoise-mestimate

FATE_MVDENOISE_PROGRAMS-$(call ALLYES, GPUME_FILTER MVDENOISE_FILTER) += fate-mvdenoise-unit fate-mvdenoise-unit-quick
