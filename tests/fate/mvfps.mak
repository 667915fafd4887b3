# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.

MVFPS_NEEDS = GPUME_FILTER MVFPS_FILTER TESTSRC2_FILTER FORMAT_FILTER TRIM_FILTER SELECT_FILTER \
              SETTB_FILTER SETPTS_FILTER LOOP_FILTER RAWVIDEO_ENCODER FRAMECRC_MUXER PIPE_PROTOCOL
# $(1): frames per second
MVFPS_SRC   = testsrc2=s=70x50:r=$(1),format=gray
MVFPS_5     = $(MVFPS_SRC),trim=end_frame=5
# Frames and their times. $(1): the source; $(2): options of mvfps; $(3): of ffmpeg
MVFPS_CRC   = framecrc -lavfi "$(1),mvfps=$(2)" -fps_mode passthrough -copyts -enc_time_base filter $(3)

# Times of frames: interpolated frames are means, so the picture shows their phase.
MVFPS_MEANS = mode=blend:scene=0:fps
FATE_MVFPS_RATES = $(foreach N,2x 5-2x 1-2x film 24-60 ntsc slower late coarse sparse order one none \
                               two untimed untimed-first untimed-all dup cut cut-blend gap gap-dup gap-long jump damaged,fate-mvfps-$(N))
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
# a frame that is not later than the previous one is dropped
fate-mvfps-order:     CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=(N-2*eq(N\,3))/25/TB,$(MVFPS_MEANS)=50)
fate-mvfps-one:       CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=1,fps=3x)
fate-mvfps-two:       CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=2,$(MVFPS_MEANS)=3x)
# a frame without a timestamp begins where the frame before it ends
fate-mvfps-untimed:   CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=if(eq(N\,2)\,NAN\,PTS),$(MVFPS_MEANS)=2x)
fate-mvfps-untimed:   REF = $(SRC_PATH)/tests/ref/fate/mvfps-2x
# or, if that is unknown, is dropped
fate-mvfps-untimed-first: CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=if(lt(N\,2)\,NAN\,PTS),$(MVFPS_MEANS)=2x)
fate-mvfps-untimed-all:   CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=NAN,fps=3x)
fate-mvfps-untimed-all:   REF = $(SRC_PATH)/tests/ref/fate/mvfps-none
fate-mvfps-none:      CMD = $(call MVFPS_CRC,$(call MVFPS_SRC,25)$(GPUME_COMMA)trim=end_frame=0,fps=3x)
fate-mvfps-dup:       CMD = $(call MVFPS_CRC,$(call MVFPS_5,25),mode=dup:fps=5/2x)
# frames are interpolated between frames 2 s apart, but not between those 3 s apart
fate-mvfps-gap:       CMD = $(call MVFPS_CRC,$(call MVFPS_5,1)$(GPUME_COMMA)setpts=(2*N+gt(N\,2))/TB,$(MVFPS_MEANS)=2)
fate-mvfps-gap-dup:   CMD = $(call MVFPS_CRC,$(call MVFPS_5,1)$(GPUME_COMMA)setpts=(2*N+gt(N\,2))/TB,mode=dup:fps=2)
# unless the user wants them to be
fate-mvfps-gap-long:  CMD = $(call MVFPS_CRC,$(call MVFPS_5,1)$(GPUME_COMMA)setpts=(2*N+gt(N\,2))/TB,$(MVFPS_MEANS)=2:gap=3)
# the times continue after a jump, or the time of one frame is wrong
fate-mvfps-jump:      CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=PTS+gt(N\,1)*4e9/TB,$(MVFPS_MEANS)=50)
fate-mvfps-damaged:   CMD = $(call MVFPS_CRC,$(call MVFPS_5,25)$(GPUME_COMMA)setpts=PTS+eq(N\,1)*4e9/TB,$(MVFPS_MEANS)=50)
# two scenes, one after the other
MVFPS_CUT   = $(GPUME_PAN),trim=end_frame=3[a];testsrc2=s=400x300:r=10,format=yuv420p,crop=94:70:210+n:190,trim=end_frame=3[b];[a][b]concat
fate-mvfps-cut:       CMD = $(call MVFPS_CRC,$(MVFPS_CUT)$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both,fps=2x)
fate-mvfps-cut-blend: CMD = $(call MVFPS_CRC,$(MVFPS_CUT)$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both,fps=2x:cut=blend)

# A fade is not a cut; a flash is one, also a flash of a single colour. gpume's statistics do not
# matter. $(1): filters that change the picture; $(2): metadata of gpume
MVFPS_LIT   = $(call MVFPS_CRC,testsrc2=s=192x144:r=10$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)trim=end_frame=9$(GPUME_COMMA)$(1)$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both:metadata=$(2),fps=2x)
FATE_MVFPS_LIGHTS = $(foreach N,fade fade-metadata flash flash-metadata,fate-mvfps-$(N))
fate-mvfps-fade:           CMD = $(call MVFPS_LIT,fade=in:0:5$(GPUME_COMMA)fade=out:4:5,0)
fate-mvfps-fade-metadata:  CMD = $(call MVFPS_LIT,fade=in:0:5$(GPUME_COMMA)fade=out:4:5,1)
fate-mvfps-fade-metadata:  REF = $(SRC_PATH)/tests/ref/fate/mvfps-fade
fate-mvfps-flash:          CMD = $(call MVFPS_LIT,drawbox=c=white:t=fill:enable=eq(n\,4),0)
fate-mvfps-flash-metadata: CMD = $(call MVFPS_LIT,drawbox=c=white:t=fill:enable=eq(n\,4),1)
fate-mvfps-flash-metadata: REF = $(SRC_PATH)/tests/ref/fate/mvfps-flash

# Rounded times: an output frame at the time of an input frame must be that frame, so without
# interpolated frames the output equals the input. $(1): the source's rate; $(2): filters that
# change its times; $(3): mvfps and the frames that are dropped after it
MVFPS_ORIGINALS = framecrc -lavfi "$(call MVFPS_SRC,$(1)),trim=end_frame=60$(2)$(3),settb=1/25,setpts=N" -fps_mode passthrough -enc_time_base filter
MVFPS_FILM  = $(call MVFPS_ORIGINALS,24000/1001,$(1),$(GPUME_COMMA)mvfps=$(MVFPS_MEANS)=2x$(GPUME_COMMA)select=not(mod(n\,2)))
MVFPS_NTSC  = $(call MVFPS_ORIGINALS,ntsc,$(1),$(GPUME_COMMA)mvfps=$(MVFPS_MEANS)=1x)
# in milliseconds, and the first frame's time is rounded, too
MVFPS_LATE  = $(GPUME_COMMA)settb=1/240000$(GPUME_COMMA)setpts=PTS+4150$(GPUME_COMMA)settb=1/1000
FATE_MVFPS_FILM = $(foreach N,exact ms late ticks,fate-mvfps-film-$(N))
FATE_MVFPS_NTSC = $(foreach N,ms late,fate-mvfps-ntsc-$(N))
FATE_MVFPS_ROUNDED = $(FATE_MVFPS_FILM) $(FATE_MVFPS_NTSC) fate-mvfps-film-input fate-mvfps-ntsc-input
$(FATE_MVFPS_FILM): REF = $(SRC_PATH)/tests/ref/fate/mvfps-film-input
$(FATE_MVFPS_NTSC): REF = $(SRC_PATH)/tests/ref/fate/mvfps-ntsc-input
fate-mvfps-film-input: CMD = $(call MVFPS_ORIGINALS,24000/1001)
fate-mvfps-film-exact: CMD = $(call MVFPS_FILM)
fate-mvfps-film-ms:    CMD = $(call MVFPS_FILM,$(GPUME_COMMA)settb=1/1000)
fate-mvfps-film-late:  CMD = $(call MVFPS_FILM,$(MVFPS_LATE))
fate-mvfps-film-ticks: CMD = $(call MVFPS_FILM,$(GPUME_COMMA)settb=1/90000)
fate-mvfps-ntsc-input: CMD = $(call MVFPS_ORIGINALS,ntsc)
fate-mvfps-ntsc-ms:    CMD = $(call MVFPS_NTSC,$(GPUME_COMMA)settb=1/1000)
fate-mvfps-ntsc-late:  CMD = $(call MVFPS_NTSC,$(MVFPS_LATE))

# Motion-compensated pictures of a source. $(1): options of gpume, $(2): of mvfps
MVFPS_MCI   = $(call MVFPS_CRC,$(GPUME_SRC)$(GPUME_COMMA)gpume=$(1),$(2))
FATE_MVFPS_MCI = $(foreach N,defaults readme readme-gbrp hme-4 hme-16 umh past future 5x,fate-mvfps-$(N))
fate-mvfps-readme:    CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=both:pel=1:sweeps=4)
fate-mvfps-readme-gbrp: CMD = $(call MVFPS_CRC,$(GPUME_SRC)$(GPUME_COMMA)$(GPUME_SCALE)gbrp$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both:pel=1:sweeps=4,fps=2x)
fate-mvfps-defaults:  CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=both)
fate-mvfps-hme-4:     CMD = $(call MVFPS_MCI,algo=hme:block=4:dir=both,scene=0)
fate-mvfps-hme-16:    CMD = $(call MVFPS_MCI,algo=hme:block=16:dir=both:pel=1:sweeps=8,scene=0)
fate-mvfps-umh:       CMD = $(call MVFPS_MCI,algo=umh:range=16:dir=both,scene=0)
fate-mvfps-past:      CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=past,scene=0)
fate-mvfps-future:    CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=future,scene=0)
fate-mvfps-5x:        CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=both,fps=5x:scene=0)

# The result must not depend on the number of threads, nor on gpume's own statistics of the scene.
FATE_MVFPS_SAME = $(foreach N,1 2 5,fate-mvfps-threads-$(N)) fate-mvfps-metadata
$(FATE_MVFPS_SAME): REF = $(SRC_PATH)/tests/ref/fate/mvfps-defaults
fate-mvfps-threads-%: CMD = $(call MVFPS_CRC,$(GPUME_SRC)$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both,fps=2x,-filter_complex_threads $(lastword $(subst -, ,$@)))
# mvfps searches as in the README's command line
FATE_MVFPS_SAME += fate-mvfps-alone fate-mvfps-alone-3 fate-mvfps-alone-gbrp
fate-mvfps-alone fate-mvfps-alone-3: REF = $(SRC_PATH)/tests/ref/fate/mvfps-readme
fate-mvfps-alone:     CMD = $(call MVFPS_CRC,$(GPUME_SRC),fps=2x)
fate-mvfps-alone-3:   CMD = $(call MVFPS_CRC,$(GPUME_SRC),fps=2x:search=auto,-filter_complex_threads 3)
fate-mvfps-alone-gbrp: REF = $(SRC_PATH)/tests/ref/fate/mvfps-readme-gbrp
fate-mvfps-alone-gbrp: CMD = $(call MVFPS_CRC,$(GPUME_SRC)$(GPUME_COMMA)$(GPUME_SCALE)gbrp,fps=2x)
fate-mvfps-metadata:  CMD = $(call MVFPS_MCI,algo=hme:block=8:dir=both:metadata=1)
# Nothing is searched as long as each output frame is an input frame; then the result is that of a search from the first
# frame on. $(1): the search
MVFPS_LEAVES = $(call MVFPS_CRC,$(GPUME_PAN)$(GPUME_COMMA)trim=end_frame=8$(GPUME_COMMA)settb=1/1000$(GPUME_COMMA)setpts=(N+gt(N\,3)/4)/10/TB$(1),fps=10)
FATE_MVFPS_SAME += fate-mvfps-leaves fate-mvfps-leaves-searched fate-mvfps-stays
fate-mvfps-leaves fate-mvfps-leaves-searched: REF = $(SRC_PATH)/tests/ref/fate/mvfps-leaves
fate-mvfps-leaves:          CMD = $(call MVFPS_LEAVES)
fate-mvfps-leaves-searched: CMD = $(call MVFPS_LEAVES,$(GPUME_COMMA)gpume=algo=hme:block=8:dir=both:pel=1:sweeps=4)
fate-mvfps-stays: CMD = { for o in 10 1x 5 12; do ffmpeg -v info -lavfi "$(GPUME_SRC),mvfps=fps=$$o" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvfps.*Searching.*/fps=$$o searches/p"; done; }
fate-mvfps-stays: REF = $(SRC_PATH)/tests/ref/fate/mvfps-stays

# One format of each kind except gray16, p010 and p016, to which FFmpeg's series convert differently
MVFPS_FORMATS = gray yuv410p yuv411p yuv440p yuv444p yuva420p nv12 nv24 gbrp yuv420p10 yuv422p12 yuv444p16
FATE_MVFPS_FORMATS = fate-mvfps-formats fate-mvfps-format
fate-mvfps-format:  MVFPS_FORMATS = nv12
$(FATE_MVFPS_FORMATS): CMD = $(call GPUME_EACH,$(MVFPS_FORMATS),$(call MVFPS_MCI,algo=hme:block=8:dir=both$(GPUME_COMMA)$(GPUME_SCALE)$$f,scene=0) -pix_fmt $$f)

# Interpolated frames must not have statistics of another frame's motion, but all other properties.
fate-mvfps-statistics: CMD = ffmpeg -lavfi "$(MVFPS_CUT),gpume=algo=ds:range=9:metadata=1,scdet=threshold=5,metadata=add:key=lavfi.kept:value=1,mvfps=mode=dup,metadata=print:file=-" -f null -

# Output frames have no vectors, so a later filter must search as if no filter had searched before.
FATE_MVFPS_CHAIN = $(foreach N,mvfps denoise,fate-mvfps-before-$(N) fate-mvfps-before-$(N)-removed)
MVFPS_CHAINED = testsrc2=s=128x96:r=24,format=yuv420p,trim=end_frame=7
fate-mvfps-before-mvfps:           CMD = $(call MVFPS_CRC,$(MVFPS_CHAINED)$(GPUME_COMMA)mvfps=fps=96,fps=60)
fate-mvfps-before-mvfps-removed:   CMD = $(call MVFPS_CRC,$(MVFPS_CHAINED)$(GPUME_COMMA)mvfps=fps=96$(GPUME_COMMA)sidedata=delete:MOTION_VECTORS,fps=60)
fate-mvfps-before-denoise:         CMD = framecrc -lavfi "$(MVFPS_CHAINED),mvfps=fps=50,mvdenoise=sigma=5"
fate-mvfps-before-denoise-removed: CMD = framecrc -lavfi "$(MVFPS_CHAINED),mvfps=fps=50,sidedata=delete:MOTION_VECTORS,mvdenoise=sigma=5"
fate-mvfps-before-mvfps-removed fate-mvfps-before-denoise-removed: REF = $(SRC_PATH)/tests/ref/fate/$(@:fate-%-removed=%)

# Animation drawn on twos or threes must move as if each frame had been drawn; a still must not
# move. $(1): the source
MVFPS_REPEATS = $(call MVFPS_CRC,testsrc2=s=128x96$(GPUME_COMMA)format=yuv420p$(GPUME_COMMA)$(1),fps=48:$(2))
FATE_MVFPS_REPEATS = $(foreach N,twos threes still film,fate-mvfps-repeats-$(N) fate-mvfps-repeats-$(N)-once) fate-mvfps-repeats-fifth
fate-mvfps-repeats-twos:        CMD = $(call MVFPS_REPEATS,settb=1/12$(GPUME_COMMA)setpts=N$(GPUME_COMMA)trim=end_frame=5$(GPUME_COMMA)fps=24,repeats=interpolate)
# some of the frames and repeats have no timestamps
fate-mvfps-repeats-twos-untimed: CMD = $(call MVFPS_REPEATS,settb=1/12$(GPUME_COMMA)setpts=N$(GPUME_COMMA)trim=end_frame=5$(GPUME_COMMA)fps=24$(GPUME_COMMA)setpts=if(mod(N\,4)\,NAN\,PTS),repeats=interpolate)
fate-mvfps-repeats-twos-untimed: REF = $(SRC_PATH)/tests/ref/fate/mvfps-repeats-twos
fate-mvfps-repeats-twos-once:   CMD = $(call MVFPS_REPEATS,settb=1/12$(GPUME_COMMA)setpts=N$(GPUME_COMMA)trim=end_frame=5$(GPUME_COMMA)fps=12$(GPUME_COMMA)settb=1/24,repeats=keep)
fate-mvfps-repeats-threes:      CMD = $(call MVFPS_REPEATS,settb=1/8$(GPUME_COMMA)setpts=N$(GPUME_COMMA)trim=end_frame=5$(GPUME_COMMA)fps=24,repeats=interpolate)
fate-mvfps-repeats-threes-once: CMD = $(call MVFPS_REPEATS,settb=1/8$(GPUME_COMMA)setpts=N$(GPUME_COMMA)trim=end_frame=5$(GPUME_COMMA)fps=8$(GPUME_COMMA)settb=1/24,repeats=keep)
# a video at 60 frames/s, and with one duplicate in five
fate-mvfps-repeats-film:        CMD = $(call MVFPS_REPEATS,fps=24$(GPUME_COMMA)trim=end_frame=20$(GPUME_COMMA)fps=60,repeats=interpolate)
fate-mvfps-repeats-film-once:   CMD = $(call MVFPS_REPEATS,fps=24$(GPUME_COMMA)trim=end_frame=20$(GPUME_COMMA)settb=1/240,repeats=keep)
fate-mvfps-repeats-fifth:       CMD = $(call MVFPS_REPEATS,fps=24$(GPUME_COMMA)trim=end_frame=20$(GPUME_COMMA)fps=30,repeats=interpolate)
fate-mvfps-repeats-still:       CMD = $(call MVFPS_REPEATS,trim=end_frame=8$(GPUME_COMMA)loop=4:1:2,repeats=interpolate)
fate-mvfps-repeats-still-once:  CMD = $(call MVFPS_REPEATS,trim=end_frame=8$(GPUME_COMMA)loop=4:1:2,repeats=keep)
$(FATE_MVFPS_REPEATS): REF = $(SRC_PATH)/tests/ref/fate/$(patsubst fate-%,%,$(@:%-once=%))
fate-mvfps-repeats-fifth: REF = $(SRC_PATH)/tests/ref/fate/mvfps-repeats-film

# Vectors of another producer
fate-mvfps-mestimate: CMD = $(call MVFPS_CRC,$(GPUME_SRC)$(GPUME_COMMA)mestimate=epzs:8,scene=0)

# Messages
FATE_MVFPS_ERRORS = $(foreach N,vectors rate factor fast gap options size fields dropped repeated moved removed,fate-mvfps-error-$(N))
MVFPS_FAILS = { ffmpeg -v error -lavfi "$(1)" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvfps[^]]*. //p"; }
fate-mvfps-error-vectors: CMD = $(call MVFPS_FAILS,$(GPUME_SRC)$(GPUME_COMMA)mvfps=fps=60:search=never)
# removal of vectors and motion between the search and the filter
MVFPS_SAYS = { ffmpeg -v warning -lavfi "$(GPUME_SRC),gpume=algo=hme:dir=both,$(1),mvfps" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvfps[^]]*. //p"; }
fate-mvfps-error-size:     CMD = $(call MVFPS_SAYS,crop=64:48)
# a filter that is not listed as moving the picture, but changes its size
fate-mvfps-error-fields:   CMD = $(call MVFPS_SAYS,separatefields)
fate-mvfps-error-dropped:  CMD = $(call MVFPS_SAYS,select=not(eq(n\,2)))
fate-mvfps-error-repeated: CMD = $(call MVFPS_SAYS,loop=1:1:2)
fate-mvfps-error-moved:    CMD = $(call MVFPS_SAYS,hflip)
fate-mvfps-error-removed:  CMD = $(call MVFPS_SAYS,scale=60:40)
fate-mvfps-error-rate:    CMD = $(call MVFPS_FAILS,$(GPUME_SRC)$(GPUME_COMMA)mvfps=fps=fast)
fate-mvfps-error-factor:  CMD = $(call MVFPS_FAILS,$(GPUME_SRC)$(GPUME_COMMA)mvfps=fps=0x)
# cover art has a rate that cannot be doubled
fate-mvfps-error-fast:    CMD = $(call MVFPS_FAILS,color=r=90000:s=16x16$(GPUME_COMMA)trim=end_frame=3$(GPUME_COMMA)mvfps)
# options without effect
fate-mvfps-error-options: CMD = { for o in mode=dup:scene=0 mode=blend:cut=blend mode=dup:repeats=interpolate mode=blend:search=never repeats=interpolate:search=never scene=10; do $(call MVFPS_FAILS,$(GPUME_SRC)$(GPUME_COMMA)mvfps=$$o); done; }
# printed once
fate-mvfps-error-gap:     CMD = { ffmpeg -v warning -lavfi "$(call MVFPS_5,1),setpts=3*N/TB,mvfps=fps=2" -f null - 2>&1 | sed -n -e "s/^.Parsed_mvfps[^]]*. //p"; }

# Every second frame of still writing over a pan is made again: prints the PSNR of luma, rounded down.
MVFPS_LETTERS = $(subst $(MVFPS_NONE) $(MVFPS_NONE),,$(foreach X,30 52 74 96 118 140 162 184 206 228 250,$(foreach B,x=$(X):y=108:w=4:h=24 x=$(X):y=108:w=14:h=4 x=$(X):y=118:w=14:h=4,$(GPUME_COMMA)drawbox=$(B):color=white:t=fill)))
# pictures, how far they move from one to the next, and letters that stand still over them
MVFPS_WRITING = { ffmpeg -v info -lavfi "$(1),$(GPUME_SCALE)yuv420p,trim=end_frame=1,loop=21:1:0,setpts=N/50/TB,crop=320:240:40+$(2)*n:60$(MVFPS_LETTERS)$(GPUME_COMMA)split[a][b];[a]select=not(mod(n\,2)),setpts=N/25/TB,fps=25,mvfps=fps=50,trim=start_frame=3:end_frame=18,setpts=N,crop=260:34:24:103[c];[b]trim=start_frame=3:end_frame=18,setpts=N,crop=260:34:24:103[d];[c][d]psnr" -f null - 2>&1 | sed -n -e "s/^.*PSNR y:\([0-9inf]*\).*/\1/p"; }
fate-mvfps-writing:      CMD = $(call MVFPS_WRITING,testsrc2=s=640x480:r=50,4)
fate-mvfps-writing-fast: CMD = $(call MVFPS_WRITING,mandelbrot=s=960x480:r=50,8)
# without writing: smooth samples that move by four do not stand still
fate-mvfps-pan-slow: MVFPS_LETTERS =
fate-mvfps-pan-slow: CMD = $(call MVFPS_WRITING,color=gray:s=40x30:r=50$(GPUME_COMMA)noise=c0s=100$(GPUME_COMMA)scale=640:480:flags=accurate_rnd+bitexact,2)
# a pan of 5/16 of the width from frame to frame is no cut
fate-mvfps-pan-fast: MVFPS_LETTERS =
fate-mvfps-pan-fast: CMD = $(call MVFPS_WRITING,color=gray:s=160x60:r=50$(GPUME_COMMA)noise=c0s=100$(GPUME_COMMA)scale=1280:480:flags=accurate_rnd+bitexact,50)
# neither is one of 3/10 with noise, where vectors that share the motion are few
fate-mvfps-pan-noise: MVFPS_LETTERS = $(GPUME_COMMA)noise=c0s=10:c0f=t
fate-mvfps-pan-noise: CMD = $(call MVFPS_WRITING,mandelbrot=s=1920x480:r=50,48)
# what stands still may cover half of it
fate-mvfps-pan-front: MVFPS_LETTERS = $(subst $(MVFPS_NONE) $(MVFPS_NONE),,$(foreach B,y=20:color=red y=60:color=white y=100:color=teal y=140:color=yellow y=180:color=navy,$(GPUME_COMMA)drawbox=$(B):w=180:h=40:t=fill))
fate-mvfps-pan-front: CMD = $(call MVFPS_WRITING,testsrc2=s=1600x480:r=50,50)

# FFmpeg 7.1's setpts forgets the frame rate and durations, and its scale keeps vectors
MVFPS_OTHER_IN_7 = $(foreach N,untimed untimed-first untimed-all gap gap-dup gap-long error-gap jump film-late ntsc-late leaves leaves-searched error-removed,fate-mvfps-$(N))
MVFPS_OTHER      = $(if $(GPUME_SERIES_7),$(MVFPS_OTHER_IN_7))

FATE_MVFPS_ALL = $(FATE_MVFPS_RATES) $(FATE_MVFPS_MCI) $(FATE_MVFPS_SAME) $(FATE_MVFPS_ERRORS)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER CONCAT_FILTER NULL_MUXER) += $(filter-out $(MVFPS_OTHER),$(FATE_MVFPS_ALL))
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER SCALE_FILTER) += $(FATE_MVFPS_FORMATS)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS)) += $(filter-out $(MVFPS_OTHER),$(FATE_MVFPS_ROUNDED))
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) FADE_FILTER DRAWBOX_FILTER) += $(FATE_MVFPS_LIGHTS)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER CONCAT_FILTER SCDET_FILTER METADATA_FILTER NULL_MUXER) += fate-mvfps-statistics
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER DRAWBOX_FILTER SPLIT_FILTER FPS_FILTER PSNR_FILTER SCALE_FILTER NULL_MUXER) += fate-mvfps-writing fate-mvfps-pan-front
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER DRAWBOX_FILTER SPLIT_FILTER FPS_FILTER PSNR_FILTER SCALE_FILTER NULL_MUXER MANDELBROT_FILTER) += \
                  fate-mvfps-writing-fast
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER NOISE_FILTER SPLIT_FILTER FPS_FILTER PSNR_FILTER SCALE_FILTER NULL_MUXER MANDELBROT_FILTER) += \
                  fate-mvfps-pan-noise
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER NOISE_FILTER SPLIT_FILTER FPS_FILTER PSNR_FILTER SCALE_FILTER NULL_MUXER) += fate-mvfps-pan-slow fate-mvfps-pan-fast
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) FPS_FILTER) += $(FATE_MVFPS_REPEATS) $(if $(GPUME_SERIES_7),,fate-mvfps-repeats-twos-untimed)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) MVDENOISE_FILTER SIDEDATA_FILTER) += $(FATE_MVFPS_CHAIN)
FATE_MVFPS-$(call ALLYES, $(MVFPS_NEEDS) CROP_FILTER MESTIMATE_FILTER) += fate-mvfps-mestimate

FATE_MVFPS_PROGRAMS-$(call ALLYES, GPUME_FILTER MVFPS_FILTER) += fate-gpume-filter-streams fate-gpume-filter-streams-quick
fate-gpume-filter-streams fate-gpume-filter-streams-quick: libavfilter/tests/gpume_filter_streams$(EXESUF)
# without a device, because NVIDIA's driver does not survive allocations of its own that fail
fate-gpume-filter-streams:       CMD = export CUDA_VISIBLE_DEVICES=; runecho libavfilter/tests/gpume_filter_streams$(EXESUF)
fate-gpume-filter-streams-quick: CMD = export CUDA_VISIBLE_DEVICES=; runecho libavfilter/tests/gpume_filter_streams$(EXESUF) -quick
FATE_MVFPS_PROGRAMS-$(call ALLYES, GPUME_FILTER MVFPS_FILTER) += fate-mvfps-unit fate-mvfps-unit-quick
