# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs configure and FFmpeg's own make. 'make help' lists the targets.

# Targets that need no configured tree.
PLAIN = help help-all clean distclean check-patches check-gpu bench-gpu
ifneq ($(filter-out $(PLAIN),$(or $(MAKECMDGOALS),all)),)
include build/config.mk
endif

comma   = ,
PREFIX ?= /usr/local
SERIES ?= $(DEFAULT_SERIES)
# the suffix of the folder that is built in: the name of another system, 'shared' for shared libraries, else empty
CROSS  ?= $(if $(SHARED),shared,$(DEFAULT_CROSS))
BASE    = build/$(SERIES)
TREE    = $(BASE)$(CROSS:%=-%)
OBJ     = $(TREE)/obj
SAN     = $(BASE)-san/obj
IS_SHARED = $(filter shared,$(CROSS))
# the suffix of programs' names
EXE     = $(if $(filter windows,$(CROSS)),.exe)
JOBS   ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
# does not override the jobserver of a 'make -j' that called this make
SUBJOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
# shows the progress; V=1 shows each command's name instead
SUBMAKE = +@MAKE='$(MAKE)' V='$(V)' tools/progress.sh

# Let ccache find what another clone compiled: debug information contains the directory of the clone, and
# FFmpeg's configure and rules pass absolute paths of headers.
export CCACHE_NOHASHDIR = 1
export CCACHE_BASEDIR = $(CURDIR)

all: configured
	$(SUBMAKE) $(OBJ) $(SUBJOBS)
	$(if $(IS_SHARED),@mkdir -p $(TREE)/lib && cd $(TREE)/lib && ln -sf ../obj/lib*/lib*.so.* .)
	@if [ -n '$(IS_DEFAULT)' ]; then \
	    mkdir -p build/bin; \
	    for p in $(addsuffix $(EXE),ffmpeg ffprobe ffplay); do \
	        if [ -x $(OBJ)/$$p ]; then ln -sf ../$(notdir $(TREE))/obj/$$p build/bin/; else rm -f build/bin/$$p; fi; \
	    done; \
	fi
	@[ -x $(OBJ)/ffplay ] || [ -n '$(CROSS)' ] || \
	    echo "no ffplay: it needs SDL2 (Debian's package: libsdl2-dev); make play installs it"
	@echo "FFmpeg $(SERIES) with gpume: $(OBJ)/ffmpeg$(EXE)$(if $(IS_DEFAULT),$(comma) or build/bin/ffmpeg$(EXE))"

help:
	@echo 'make             build ffmpeg, ffprobe, and ffplay if SDL2 is installed, with the filters'
	@echo 'make demo        show what the filters do, in build/demo/; INPUT=FILE uses your clip'
	@echo 'make play INPUT=FILE   show the motion vectors over the video in ffplay'
	@echo 'make bench       compare gpume with mestimate on the CPU; INPUT=FILE uses your clip'
	@echo 'make check       run the tests of this series, for half an hour on two cores'
	@echo 'make install     install the programs and their documents; PREFIX=$(PREFIX) DESTDIR='
	@echo 'make deb         pack the programs as a Debian package; make dist: as an archive'
	@echo 'make clean       remove compiled files'
	@echo
	@echo 'make help-all lists the other targets, ./configure --help the options for sources and build.'

help-all: help
	@echo
	@echo 'Build:'
	@echo '  make mpi             build gpume-mpi, which splits a video across MPI processes'
	@echo '  make gpl             build a second ffmpeg under the GPL, with libx264'
	@echo '  make SERIES=7.1      build with FFmpeg 7.1'
	@echo '  make CROSS=aarch64   build for 64-bit Arm; CROSS=windows: for Windows'
	@echo '  make SHARED=1        build shared libraries; make install SHARED=1 also installs them and their headers'
	@echo '  make wheel           pack the Python package gpume; make vapoursynth: the plugin for VapourSynth'
	@echo '  make source-patch    write the filters as one patch for a source package of FFmpeg'
	@echo '  make distclean       remove build/ except for the downloaded tarballs in build/dist'
	@echo
	@echo 'Tests:'
	@echo '  make check-series SERIES=7.1   build another FFmpeg and run its FATE tests;' \
	      'QUICK=1: only those in tests/fate/other_builds.mak'
	@echo '  make check-aarch64   compile for 64-bit Arm and test with QEMU; QUICK=1: as above'
	@echo '  make check-windows   compile for Windows and test with Wine; QUICK=1: as above'
	@echo '  make check-others    both of these, all other series and the wheels, side by side;' \
	      'OTHERS="series windows" chooses; QUICK=1: as above'
	@echo '  make check-gpu       run the tests on a GPU'
	@echo '  make check-shared    build the shared libraries and test programs that link them'
	@echo '  make check-packages  test the packages in bare Debians, with QEMU and with Wine, for an hour;' \
	      'PARTS="linux deb" chooses'
	@echo '  make check-wheels    test the wheels in bare Debians; PARTS="python vapoursynth others" chooses;' \
	      'QUICK=1: Debian 13 only'
	@echo '  make check-ffmpeg    run the tests of FFmpeg itself that need no samples, in a separate build'
	@echo '  make check-patches   apply the patches of every series to its unchanged source'
	@echo '  make soak N=5        compare random streams on every backend with the oracle, for 5 minutes'
	@echo '  make fuzz N=5        build the fuzzers and run each for 5 minutes; without N only build them'
	@echo '  make endurance       measure memory over 100,000 frames, 1,000 graphs and 1,000 picture changes'
	@echo '  make nightly         run all tests at full length, for hours, and print a summary'
	@echo
	@echo 'Measurements (INPUT=FILE uses your clip; QUICK=1 measures less):'
	@echo '  make bench-gpu       measure gpume, other systems and the limits of a GPU; PARTS="kernels start" chooses'
	@echo '  make bench-scaling   measure searches and mvfps on the CPU with 1 to 16 threads'
	@echo '  make bench-encode    measure encoders with vectors and hints'
	@echo '  make bench-fps       measure frames interpolated by mvfps and by others'
	@echo '  make bench-deint     measure frames deinterlaced by mvdeint and by others'
	@echo '  make bench-denoise   measure noise removed by mvdenoise and by others'
	@echo '  make bench-stab      measure the shake that mvstab and others leave in scenes whose motion is known'
	@echo '  make bench-stereo    compare maps of mvstereo and of OpenCV with ground truth; DATA=DIR uses your pairs'
	@echo '  make bench-mpi       measure gpume-mpi with 1, 2, 4 ranks'
	@echo '  make quality         compare vectors with ground truth; DATA=DIR uses Middlebury'

# configure runs automatically the first time, and again when it has changed.
build/config.mk: configure
	@./configure $(CONFIGURE_ARGS)

# set if this is the build that configure was last called for
IS_DEFAULT = $(filter $(SERIES)-$(CROSS),$(DEFAULT_SERIES)-$(DEFAULT_CROSS))
CROSS_aarch64 = --cross=aarch64-linux-gnu
CROSS_windows = --cross=x86_64-w64-mingw32
CROSS_shared  = --enable-shared
CONFIGURE = ./configure $(if $(IS_DEFAULT),$(CONFIGURE_ARGS),\
                $(NO_INSTALL:-n=--no-install-deps) --not-default --ffmpeg-series=$(SERIES) \
                $(CROSS_$(CROSS)) $(SERIES_ARGS))

$(BASE)/src/.gpume-origin:
	@$(CONFIGURE)

$(TREE)/configure-ffmpeg.sh: | $(BASE)/src/.gpume-origin
	@$(CONFIGURE)

configured: $(TREE)/configure-ffmpeg.sh
	@tools/lay.sh -q $(BASE)/src $(SERIES)
	@tools/ffconfigure.sh $(TREE)

demo: all
	@tools/demo.sh demo $(OBJ) '$(INPUT)'

play: configured
	@tools/deps.sh $(NO_INSTALL) play
	@if ! grep -q enable-ffplay $(TREE)/configure-ffmpeg.sh; then $(CONFIGURE); fi
	+@$(MAKE) --no-print-directory all
	@tools/demo.sh play $(OBJ) '$(INPUT)'

# MPI, Slurm and libx264 are not installed for this, but tested where they are; .ci/run installs them. 60: minutes of
# processor time.
CHECK = fate san cuda valgrind gpl examples mpi build soak long threads failures files patches demo style
check: check-deps
	$(if $(CROSS),@echo "error: this is not the usual build: make check-$(CROSS) tests it" >&2; false)
	+@GPUME_MINUTES=60 tests/run.sh -s $(SERIES) $(CHECK) $(MORE)

# All tests at full length: hours. Prints a summary of what they found.
nightly: build/config.mk
	@.ci/run nightly

# Parts of 'make check', for any length of time.
soak: check-deps
	+@GPUME_SOAK=$$(($(or $(N),1) * 60)) tests/run.sh -s $(SERIES) soak

fuzz: check-deps
	+@GPUME_FUZZ=$$(($(or $(N),0) * 60)) GPUME_TEST_LIMIT=100000 tests/run.sh -s $(SERIES) fuzz

endurance: check-deps
	+@GPUME_LONG=whole tests/run.sh -s $(SERIES) long

check-series:
	+@tests/run.sh -s $(SERIES) fate

# Tests for another system, by an emulator. QUICK=1: the tests of tests/fate/other_builds.mak.
check-aarch64:
	@tools/deps.sh $(NO_INSTALL) aarch64 tests
	+@tests/run.sh -s $(SERIES) aarch64

check-windows:
	@tools/deps.sh $(NO_INSTALL) windows wine tests
	+@tests/run.sh -s $(SERIES) windows

# All other systems side by side: the other series of FFmpeg, 64-bit Arm, Windows and the wheels.
OTHERS = series aarch64 windows wheels
check-others: export QUICK := $(QUICK)
check-others: all
	@tools/deps.sh $(NO_INSTALL) \
	    $(patsubst windows,windows wine,$(patsubst wheels,packages,$(filter-out series,$(OTHERS)))) tests
	+@tests/run.sh -s $(SERIES) $(OTHERS)

# Tests packages in bare Debians, with QEMU and with Wine. Needs root. PARTS="linux deb" chooses.
check-packages: export PARTS := $(PARTS)
check-packages: all
	@tools/deps.sh $(NO_INSTALL) packages aarch64 windows wine tests
	+@tests/run.sh -s $(SERIES) packages

# Wheels in empty environments of bare Debians. Needs root; QUICK=1: Debian 13 only; PARTS="python vapoursynth" chooses.
check-wheels: export PARTS := $(PARTS)
check-wheels: export QUICK := $(QUICK)
check-wheels: all
	@tools/deps.sh $(NO_INSTALL) packages tests
	+@tests/run.sh -s $(SERIES) wheels

# Tests programs that link the shared libraries. It takes long because it compiles the libraries first.
check-shared:
	@tools/deps.sh $(NO_INSTALL) shared tests
	+@tests/run.sh -s $(SERIES) shared

# Runs FFmpeg's own tests, in a tree with everything that FFmpeg has.
check-ffmpeg:
	+@tests/run.sh -s $(SERIES) ffmpeg

fate-tree: configured
	@tools/ffconfigure.sh $(BASE)-fate
	$(SUBMAKE) $(BASE)-fate/obj $(SUBJOBS)

check-deps:
	@tools/deps.sh $(NO_INSTALL) tests

# Runs the tests on a machine with a GPU. The programs may have been built elsewhere.
check-gpu:
	+@tests/gpu.sh $(SERIES)

# PARTS, QUICK and BENCH_... go to the scripts through the environment.
bench: all
	@tools/deps.sh $(NO_INSTALL) bench
	@bench/bench.sh $(OBJ) '$(INPUT)'

# DATA, METHODS and others go to the script through the environment.
quality: all
	@bench/quality/quality.sh $(OBJ) '$(INPUT)'

# FIELDS, ENCODERS, GPUME_VIDEO, SCENES, SIGMAS, QUICK and others go to these scripts in the same way.
bench-deint bench-fps bench-stab bench-stereo: bench-%: all
	@bench/$*/$*.sh $(OBJ) '$(INPUT)'

bench-encode bench-denoise: gpl
bench-encode bench-denoise: bench-%: all
	@bench/$*/$*.sh $(OBJ) $(BASE)-gpl/obj '$(INPUT)'

# BENCH_... go to the script through the environment.
bench-scaling: all
	@bench/scaling.sh $(OBJ) '$(INPUT)'

# Builds a second tree under the GPL if libx264 is installed. Tests and benchmarks use it.
gpl: configured
	@tools/deps.sh $(NO_INSTALL) gpl
	+@if pkg-config --exists x264; then \
	    tools/ffconfigure.sh $(BASE)-gpl && \
	    MAKE='$(MAKE)' V='$(V)' tools/progress.sh $(BASE)-gpl/obj -j$(JOBS) ffmpeg ffprobe; \
	fi

# Builds the program for many processes if MPI is installed.
mpi:
	$(if $(filter windows,$(CROSS)),@echo "error: gpume-mpi is not for Windows: it needs POSIX files and signals" >&2; \
	    exit 1)
	$(if $(IS_SHARED),@echo "error: gpume-mpi needs the usual build: make mpi CROSS=" >&2; exit 1)
	+@$(MAKE) --no-print-directory all
	@tools/deps.sh $(NO_INSTALL) mpi
	+@if command -v $(or $(MPICC),mpicc) > /dev/null; then \
	    $(MAKE) -s --no-print-directory -j$(JOBS) -f mpi/mpi.mak OBJ=$(OBJ) SRC=$(BASE)/src mpi && \
	    if [ -n '$(IS_DEFAULT)' ]; then ln -sf ../$(notdir $(TREE))/obj/gpume-mpi build/bin/; fi; \
	fi

# BENCH_... go to the script through the environment.
bench-mpi: mpi
	@bench/mpi.sh $(OBJ) '$(INPUT)'

bench-gpu:
	@if [ -f build/config.mk ]; then tools/deps.sh $(NO_INSTALL) bench bench-gpu; fi
	+@tests/gpu.sh -g $(SERIES)
	@bench/bench-gpu.sh build/gpu/obj '$(INPUT)'

check-patches:
	@tests/run.sh patches

# Targets for tests/run.sh.
tests: all
	$(SUBMAKE) $(OBJ) $(SUBJOBS) $(addprefix libavfilter/tests/gpume_,unit compare robustness soak) tests/checkasm/checkasm

sanitized: configured
	@tools/ffconfigure.sh $(BASE)-san

INSTALL_DOC = $(DESTDIR)$(PREFIX)/share/doc/gpume
# the command that runs programs of another system
TARGET_EXEC = $(shell sed -n 's/^TARGET_EXEC=//p' $(OBJ)/ffbuild/config.mak 2>/dev/null)

# Completion for shells and a manual page, from the built program's help. The page needs perl.
build/share/gpume.bash: $(OBJ)/ffmpeg$(EXE) tools/options.sh filters.list
	@mkdir -p build/share
	GPUME_EXEC='$(TARGET_EXEC)' tools/options.sh completion $(OBJ)/ffmpeg$(EXE) > $@.new && mv $@.new $@

build/share/gpume.7: $(OBJ)/ffmpeg$(EXE) tools/options.sh $(wildcard doc/*.texi)
	@mkdir -p build/share
	GPUME_EXEC='$(TARGET_EXEC)' tools/options.sh manual $(OBJ)/ffmpeg$(EXE) build/$(SERIES)/src/doc > $@.new && \
	    mv $@.new $@

# FFmpeg's configure does not know the prefix, so this writes it into pkg-config's files.
define INSTALL_LIBS
+$(MAKE) -s --no-print-directory -C $(OBJ) prefix='$(PREFIX)' install-libs install-headers
for f in $(OBJ)/lib*/lib*.pc; do \
    sed 's,^\([a-z]*\)=/usr/local,\1=$(PREFIX),' $$f > '$(DESTDIR)$(PREFIX)/lib/pkgconfig/'"$${f##*/}" || exit; \
done
endef

install: all
	$(MAKE) SERIES=$(SERIES) build/share/gpume.bash build/share/gpume.7
	install -d '$(DESTDIR)$(PREFIX)/share/man/man7' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions'
	install -m 644 build/share/gpume.7 '$(DESTDIR)$(PREFIX)/share/man/man7/'
	install -m 644 build/share/gpume.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/ffmpeg'
	ln -sf ffmpeg '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/ffplay'
	install -d '$(DESTDIR)$(PREFIX)/bin'
	$(if $(IS_SHARED),$(INSTALL_LIBS))
	for p in $(addsuffix $(EXE),ffmpeg ffprobe ffplay) gpume-mpi; do \
	    if [ -f $(OBJ)/$$p ]; then install -m 755 $(OBJ)/$$p '$(DESTDIR)$(PREFIX)/bin/' || exit; fi; \
	done
	tools/documents.sh '$(INSTALL_DOC)'

# Makes packages in build/packages; tools/package.sh describes them.
dist deb wheel: $(if $(IS_SHARED),,all)
	$(if $(IS_SHARED),@echo "error: packages are made of the usual build: make $@ CROSS=" >&2; exit 1)
	tools/package.sh $@ $(TREE) build/packages

# Packs the plugin for VapourSynth. It has libraries of its own, from a tree with nothing else.
vapoursynth: configured
	@tools/ffconfigure.sh $(BASE)-plugin$(CROSS:%=-%)
	$(SUBMAKE) $(BASE)-plugin$(CROSS:%=-%)/obj $(SUBJOBS)
	tools/package.sh vapoursynth $(BASE)-plugin$(CROSS:%=-%) build/packages

# Makes one patch with the filters for a source package of FFmpeg; SERIES=7.1 is Debian 13's.
source-patch: build/config.mk
	tools/package.sh patch $(SERIES) build/packages

clean:
	rm -rf build/*/obj build/demo build/results build/bin build/check

distclean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name dist -exec rm -rf {} +; fi

.PHONY: all help help-all nightly soak fuzz endurance check-gpu check-ffmpeg fate-tree bench bench-deint \
        bench-denoise bench-encode bench-fps bench-gpu bench-mpi bench-scaling \
        bench-stab bench-stereo mpi gpl quality configured demo play check check-series check-others \
        check-aarch64 check-windows check-packages check-shared check-wheels check-deps check-patches \
        sanitized tests install dist deb wheel vapoursynth source-patch clean distclean
