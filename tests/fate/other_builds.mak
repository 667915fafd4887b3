# SPDX-License-Identifier: LGPL-2.1-or-later
# Included by gpume.mak.
#
# Lists the tests that FFmpeg's other series, another processor (QEMU) and another system (Wine) run
# in .ci/run. FATE of the newest series tests every search and every picture. A series, a processor
# or a system can also break gpume's interfaces: options, files, errors, frames that change,
# threads, side data, encoders. The programs (units, checkasm) run there as well, in their quick
# form: they compare all code for the processor with the oracles.
#
# A test belongs here if it found, or would have found, a fault that only one of these builds had:
#   help                         FFmpeg's own text around ours differs between series (7.1, 9.0)
#   error-removed, -size         filters that change the size keep side data or not (7.1's scale)
#   gap, jump, film, ntsc        setpts and fps lose rates and durations (7.1)
#   npy, change-files, stdout    a file's temporary name, its rename, its line ends (Arm's cycle counter, Windows)
#   error-full, -folder, -cuda   errno and the driver's library by other names (Windows)
#   instances, spelling          one file by two names (Windows)
#   encode                       each series has its own patches of the encoders
#   format                       conversions differ between series, so one picture of each layout of samples
#   statistics, metadata, jsonl  printed numbers: printf of 64 bits, another C library (Windows)
# A new filter adds: its picture with vectors of gpume and with its own search, its messages, one
# format of more than 8 bits, and its behaviour at the end and at a change of the stream.

# Options and messages
GPUME_OTHER_BUILDS  = gpume-help gpume-defaults gpume-alias-method gpume-auto gpume-bad-nosuch-1 gpume-bad-range-far \
               gpume-error-folder gpume-error-full gpume-error-instances gpume-error-spelling gpume-error-cuda

# Files, standard output, statistics
GPUME_OTHER_BUILDS += gpume-npy gpume-npys gpume-npys-change gpume-npy-stdout gpume-numpy gpume-stdout-dev gpume-pipe gpume-jsonl gpume-metadata \
               gpume-stats-hme

# Streams that are empty, end, or change their format; threads
GPUME_OTHER_BUILDS += gpume-frames-0 gpume-change-hme gpume-change-input gpume-change-files gpume-change-message \
               gpume-vf-4 gpume-hme-threads-5

# Samples of more than 8 bits, side data that other filters read
GPUME_OTHER_BUILDS += gpume-hme-10bit-p010be gpume-tree-npy gpume-overlay-twice

# Encoders
GPUME_OTHER_BUILDS += gpume-encode-mpeg4-b-3 gpume-encode-mpeg2video gpume-encode-h263p-off

# mvview
GPUME_OTHER_BUILDS += mvview-all mvview-alone mvview-byte-order mvview-no-vectors mvview-format

# mvfps: pictures, times, messages
GPUME_OTHER_BUILDS += mvfps-defaults mvfps-alone mvfps-gap mvfps-jump mvfps-film-late mvfps-ntsc-ms mvfps-statistics \
               mvfps-error-size mvfps-error-fields mvfps-error-removed mvfps-error-gap mvfps-repeats-twos mvfps-format

# mvdenoise: pictures, messages
GPUME_OTHER_BUILDS += mvdenoise-alone mvdenoise-late mvdenoise-before-mvfps mvdenoise-error-removed \
               mvdenoise-format

# mvdeint: pictures, times, a change of the size
GPUME_OTHER_BUILDS += mvdeint-defaults mvdeint-frame mvdeint-mixed mvdeint-change mvdeint-like-gaps \
               mvdeint-format

# mvstab: paths, the warp, formats
GPUME_OTHER_BUILDS += mvstab-defaults mvstab-tripod mvstab-keep mvstab-cut mvstab-change mvstab-formats mvstab-error-rows
# mvstereo: maps, views in one frame or one after the other, messages
GPUME_OTHER_BUILDS += mvstereo-max mvstereo-rows mvstereo-layout-sbsr mvstereo-layout-al mvstereo-color mvstereo-error-layout
