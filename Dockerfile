# SPDX-License-Identifier: LGPL-2.1-or-later
# An image with FFmpeg and the filters, and nothing else. With NVIDIA's container toolkit it uses the GPU.
#
#   docker build -t gpume .
#   docker run --rm --gpus all -v "$PWD:/work" gpume -i input.mkv -vf mvdenoise output.mkv

FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make
COPY . /gpume
WORKDIR /gpume
RUN ./configure && make && make install DESTDIR=/out PREFIX=/usr/local && rm -rf /out/usr/local/share/doc

FROM debian:trixie-slim
COPY --from=build /out /
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,video,utility
WORKDIR /work
ENTRYPOINT ["ffmpeg"]
