# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVDENOISE_NEEDS = GPUME_FILTER MVDENOISE_FILTER TESTSRC2_FILTER NOISE_FILTER FORMAT_FILTER CROP_FILTER TRIM_FILTER \
                  RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# A pan with noise. $(1): frames
MVDENOISE_SRC = $(GPUME_PAN),trim=end_frame=$(1),noise=alls=20:allf=t
MVDENOISE_6   = $(call MVDENOISE_SRC,6)
MVDENOISE_CLEAN = testsrc2=s=200x140:r=10,format=yuv420p,trim=end_frame=4
# Frames and their times. $(1): the source; $(2): the filter and what is behind it; $(3): options of ffmpeg
MVDENOISE_CRC = framecrc -lavfi "$(1),$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)
# The search of mvdenoise alone. $(1): refs
MVDENOISE_HME = gpume=algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=$(1)

FATE_MVDENOISE_PICTURES = $(foreach N,defaults radius-0 radius-1 radius-4 passes-1 sigma strength planes past cut late \
                                      sparse one two none odd clean before-mvfps,fate-mvdenoise-$(N))
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
# the first frame is not at 0; frames at unequal distances; fewer of them than it waits for
fate-mvdenoise-late:     CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)setpts=PTS+0.49/TB,mvdenoise)
fate-mvdenoise-sparse:   CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,12)$(GPUME_COMMA)select=1-mod(n\,7)*mod(n\,3),mvdenoise)
fate-mvdenoise-one:      CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,1),mvdenoise)
fate-mvdenoise-two:      CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,2),mvdenoise)
fate-mvdenoise-none:     CMD = $(call MVDENOISE_CRC,$(call MVDENOISE_SRC,0),mvdenoise)
fate-mvdenoise-odd:      CMD = $(call MVDENOISE_CRC,testsrc2=s=96x80:r=10$(GPUME_COMMA)format=yuv444p$(GPUME_COMMA)crop=53:37:3*n:2*n$(GPUME_COMMA)trim=end_frame=4$(GPUME_COMMA)noise=alls=20:allf=t,mvdenoise)
# without noise, frames pass unchanged
fate-mvdenoise-clean:    CMD = $(call MVDENOISE_CRC,$(MVDENOISE_CLEAN),mvdenoise)
fate-mvdenoise-before-mvfps: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),$(call MVDENOISE_HME,2)$(GPUME_COMMA)mvdenoise$(GPUME_COMMA)mvfps=fps=2x:search=never)

# The same with any number of threads, and where the filter searches
FATE_MVDENOISE_SAME = $(foreach N,1 2 5,fate-mvdenoise-threads-$(N)) fate-mvdenoise-alone fate-mvdenoise-more fate-mvdenoise-off fate-mvdenoise-no-planes
fate-mvdenoise-alone fate-mvdenoise-more: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-defaults
$(foreach N,1 2 5,fate-mvdenoise-threads-$(N)): REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-defaults
fate-mvdenoise-threads-%: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise,-filter_complex_threads $(lastword $(subst -, ,$@)))
fate-mvdenoise-alone:     CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mvdenoise=search=auto)
# vectors of more references than it needs
fate-mvdenoise-more:      CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),$(call MVDENOISE_HME,3)$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-off fate-mvdenoise-no-planes: REF = $(SRC_PATH)/tests/ref/fate/mvdenoise-clean
fate-mvdenoise-no-planes: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_CLEAN),mvdenoise=sigma=10:planes=0)
fate-mvdenoise-off:       CMD = $(call MVDENOISE_CRC,$(MVDENOISE_CLEAN),mvdenoise=sigma=10:strength=0)

# One of each kind of format, as in mvfps.mak
FATE_MVDENOISE_FORMATS = $(MVFPS_FORMATS:%=fate-mvdenoise-format-%)
$(FATE_MVDENOISE_FORMATS): CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6)$(GPUME_COMMA)$(GPUME_SCALE)$(lastword $(subst -, ,$@)),mvdenoise=radius=1:sigma=5) -pix_fmt $(lastword $(subst -, ,$@))

# Vectors of another producer, of distance 1
fate-mvdenoise-mestimate: CMD = $(call MVDENOISE_CRC,$(MVDENOISE_6),mestimate=epzs:8$(GPUME_COMMA)mvdenoise=radius=1)

# Messages
FATE_MVDENOISE_ERRORS = $(foreach N,vectors refs size dropped removed alone off radius,fate-mvdenoise-error-$(N))
MVDENOISE_SAYS = { ffmpeg -v $(1) -lavfi "$(MVDENOISE_6),$(2)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvdenoise[^]]*. //p"; }
fate-mvdenoise-error-vectors: CMD = $(call MVDENOISE_SAYS,warning,mvdenoise=search=never)
fate-mvdenoise-error-refs:    CMD = $(call MVDENOISE_SAYS,warning,gpume=algo=hme:dir=both$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-size:    CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)crop=64:48$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-dropped: CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)select=not(eq(n\,2))$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-removed: CMD = $(call MVDENOISE_SAYS,warning,$(call MVDENOISE_HME,2)$(GPUME_COMMA)scale=60:40$(GPUME_COMMA)mvdenoise)
fate-mvdenoise-error-alone:   CMD = $(call MVDENOISE_SAYS,info,mvdenoise) | sed "s/backend=[a-z]*/backend=/"
# nothing is searched, and nothing is missing
fate-mvdenoise-error-off:     CMD = $(call MVDENOISE_SAYS,info,mvdenoise=strength=0) && echo "no more"
fate-mvdenoise-error-radius:  CMD = { ffmpeg -v error -lavfi "$(MVDENOISE_6)$(GPUME_COMMA)mvdenoise=radius=5" -f null - 2>&1 | sed -n -e "s/^.*\(Value 5.*radius.*range.*\)/\1/p"; }

# FFmpeg 7.1's scale keeps vectors
MVDENOISE_OTHER = $(if $(GPUME_SERIES_7),fate-mvdenoise-error-removed)

FATE_MVDENOISE_ALL = $(FATE_MVDENOISE_PICTURES) $(FATE_MVDENOISE_SAME) $(FATE_MVDENOISE_ERRORS)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SETPTS_FILTER SELECT_FILTER CONCAT_FILTER SCALE_FILTER MVFPS_FILTER \
                              NULL_MUXER) += $(filter-out $(MVDENOISE_OTHER),$(FATE_MVDENOISE_ALL))
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) SCALE_FILTER) += $(FATE_MVDENOISE_FORMATS)
FATE_MVDENOISE-$(call ALLYES, $(MVDENOISE_NEEDS) MESTIMATE_FILTER) += fate-mvdenoise-mestimate

FATE_MVDENOISE_PROGRAMS-$(call ALLYES, GPUME_FILTER MVDENOISE_FILTER) += fate-mvdenoise-unit fate-mvdenoise-unit-quick
fate-mvdenoise-unit fate-mvdenoise-unit-quick: libavfilter/tests/gpume_mvdenoise$(EXESUF)
fate-mvdenoise-unit:       CMD = runecho libavfilter/tests/gpume_mvdenoise$(EXESUF)
fate-mvdenoise-unit-quick: CMD = runecho libavfilter/tests/gpume_mvdenoise$(EXESUF) -quick
