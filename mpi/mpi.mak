# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds gpume-mpi with the libraries in OBJ, a configured and built tree. From the repository's root:
# make -f mpi/mpi.mak OBJ=build/9.0/obj SRC=build/9.0/src

include $(OBJ)/ffbuild/config.mak

MPICC     ?= mpicc
MPI_OBJ    = $(OBJ)/mpi
MPI_SRCS   = $(wildcard mpi/*.c)
MPI_OBJS   = $(MPI_SRCS:mpi/%.c=$(MPI_OBJ)/%.o)
MPI_NAMES  = avdevice avfilter avformat avcodec swscale swresample avutil
MPI_LIBS   = $(wildcard $(foreach L,avfilter avformat avcodec swscale swresample avutil,$(OBJ)/lib$(L)/lib$(L).a))
MPI_CFLAGS = -std=c17 -O2 -g -Wall -Wno-parentheses -Wno-pointer-sign -Wno-switch -Wmissing-prototypes -Werror=vla \
             -D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -pthread \
             -I. -I$(OBJ) -I$(SRC) $(if $(CONFIG_FFNVCODEC),-Ibuild/ffnvcodec/include)
# the compiler that configure chose, ccache and all
MPI_ENV    = OMPI_CC='$(CC)' MPICH_CC='$(CC)'

$(OBJ)/gpume-mpi: $(MPI_OBJS) $(MPI_LIBS)
	$(MPI_ENV) $(MPICC) $(filter-out -Wl$(GPUME_COMMA)-rpath%,$(LDFLAGS)) -pthread -o $@ $(MPI_OBJS) -Wl,--start-group $(MPI_LIBS) -Wl,--end-group \
	    $(EXTRALIBS-avfilter) $(EXTRALIBS-avformat) $(EXTRALIBS-avcodec) $(EXTRALIBS-swscale) \
	    $(EXTRALIBS-swresample) $(EXTRALIBS-avutil) $(EXTRALIBS)

$(MPI_OBJ)/%.o: mpi/%.c $(OBJ)/config.h
	@mkdir -p $(MPI_OBJ)
	$(MPI_ENV) $(MPICC) $(MPI_CFLAGS) -MMD -c -o $@ $<

-include $(MPI_OBJS:.o=.d)
