# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds gpume-mpi with the libraries in OBJ, a configured and built tree. From the repository's root:
# make -f mpi/mpi.mak OBJ=build/9.0/obj SRC=build/9.0/src [NV=FOLDER_OF_FFNVCODEC] [MPICC=mpicc]

include $(OBJ)/ffbuild/config.mak

MPICC     ?= mpicc
NV        ?= build/ffnvcodec/include
MPI_OBJ    = $(OBJ)/mpi
MPI_OBJS   = $(patsubst mpi/%.c,$(MPI_OBJ)/%.o,$(wildcard mpi/*.c))
MPI_LIBS   = $(foreach L,avfilter avformat avcodec swscale swresample avutil,$(OBJ)/lib$(L)/lib$(L).a)
MPI_CFLAGS = -std=c17 -O2 -g -Wall -Wno-parentheses -Wno-pointer-sign -Wno-switch -Wmissing-prototypes -Werror=implicit-function-declaration \
             -D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -pthread \
             -I. -I$(OBJ) -I$(SRC) $(if $(CONFIG_FFNVCODEC),-I$(NV))
# paths are relative to OBJ there
MPI_EXTRA  = $(subst ../../,build/,$(EXTRALIBS-avfilter) $(EXTRALIBS-avformat) $(EXTRALIBS-avcodec) \
             $(EXTRALIBS-swscale) $(EXTRALIBS-swresample) $(EXTRALIBS-avutil) $(EXTRALIBS)) -ldl
# the compiler that configure chose
MPI_CC     = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)
MPI_LINK   = $(MPI_CC) -pthread -o $@ $(filter %.o,$^) -Wl,--start-group $(MPI_LIBS) -Wl,--end-group $(MPI_EXTRA)

mpi: $(OBJ)/gpume-mpi

$(OBJ)/gpume-mpi: $(MPI_OBJS) $(MPI_LIBS)
	$(MPI_LINK)

$(MPI_OBJ)/%.o: mpi/%.c mpi/mpi.mak $(OBJ)/config.h
	@mkdir -p $(@D)
	$(MPI_CC) $(MPI_CFLAGS) -MMD -c -o $@ $<

-include $(MPI_OBJS:.o=.d)
# without a rule, make stops at headers that an earlier build used and that have been renamed
mpi/%.h $(SRC)/libavfilter/gpume/%.h: ;

.PHONY: mpi
