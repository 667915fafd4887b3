# SPDX-License-Identifier: LGPL-2.1-or-later
# Sets how much each part of FFmpeg is optimized. ffconfigure.sh appends this file to FFmpeg's
# ffbuild/config.mak if there is assembly code. With -O1 compiling takes half as long as with FFmpeg's
# -O3; -O1 is enough for code that reads and writes files, and for C functions that assembly replaces.
# Decoders, filters and scalers are compiled with -O2. This project's code, the code that it is compared
# with, and encoders are compiled with -O3. If several patterns match, make applies the most specific
# one last.
lib%.o fftools/%.o: CFLAGS += -O1

libavcodec/h264_%.o libavcodec/h264dec%o libavcodec/h264idct%o: CFLAGS += -O2
libavcodec/hevc/%.o libavcodec/vp8%.o libavcodec/vp9%.o libavcodec/ffv1%.o libavcodec/png%.o: CFLAGS += -O2
libavcodec/mjpeg%.o libavcodec/huff%.o libavcodec/prores%.o libavcodec/ituh263%.o libavcodec/mpeg%.o: CFLAGS += -O2
libavcodec/vp9recon%o libavcodec/hevc/dsp%o libavcodec/hevc/ps%o libavcodec/hevc/sei%o: CFLAGS += -O1
libavcodec/vp9dsp%.o libavcodec/vp8dsp%o libavcodec/mpegaudio%.o: CFLAGS += -O1
libavfilter/v%.o libswscale/%.o libavutil/%.o: CFLAGS += -O2

libavcodec/motion_est%o libavcodec/me_%.o libavcodec/mpegvideo_enc%o libavcodec/mpegvideo_motion%o: CFLAGS += -O3
libavcodec/mpeg12enc%o libavcodec/mpeg4videoenc%o libavcodec/ituh263enc%o libavcodec/ratecontrol%o: CFLAGS += -O3
libavfilter/gpume/%.o libavfilter/vf_gpume%o libavfilter/vf_mv%.o: CFLAGS += -O3
libavfilter/motion_estimation%o libavfilter/vf_mestimate%o libavfilter/vf_minterpolate%o: CFLAGS += -O3
libavfilter/vf_framerate%o libavfilter/scene_sad%o libavfilter/tests/%.o: CFLAGS += -O3
