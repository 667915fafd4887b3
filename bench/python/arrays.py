#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measure the classes that take arrays beside the same filter on a file of the same raw frames, in pairs.

usage: arrays.py CLIP [ROUNDS [NAME...]]     CLIP is scaled to 1280x720; NAME: Denoiser and so on
The package that Python finds is measured; GPUME_FFMPEG may name another ffmpeg. Prints a row for each class and format:
frames per second by time and by processor time, each over that of the file; how many frames go in after one before it comes
out if ffmpeg has time, with as many threads as processors and with one; and the most memory that ffmpeg has used, after a
third of the frames and at the end."""

import os
import re
import statistics
import sys
import tempfile
import time

import numpy as np

import gpume

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

W, H = 1280, 720
#: Class, arguments, the same filter, frames, and how many come out for each.
CASES = [
    (gpume.Denoiser, {}, "mvdenoise", 16, 1), (gpume.Interpolator, {"fps": 60}, "mvfps=fps=60", 30, 2),
    (gpume.Deinterlacer, {"tff": True}, "mvdeint=parity=tff", 12, 2), (gpume.Viewer, {}, "mvview", 30, 1),
    (gpume.Stabilizer, {}, "mvstab", 90, 1), (gpume.Estimator, {}, "gpume=algo=hme:async_depth=1:mv_file=x.npys", 30, 1),
]


def most_memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) >> 10


def through(stream, frames):
    """Return the most memory of ffmpeg after a third of the frames, and at the end."""
    memory = []
    with stream:
        for i, frame in enumerate(frames):
            stream.push(frame)
            if i in (len(frames) // 3, len(frames) - 1):
                memory.append(most_memory(stream._process.pid))
        stream.flush()
    return memory


def idle(pid):
    """Wait until ffmpeg uses no processor."""
    before = None
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            now = stat.read().split()[13:15]
        if now == before:
            return
        before = now
        time.sleep(0.5)


def delay(stream, frames, per_frame):
    """Return how many frames go in after one before it comes out, if ffmpeg has time."""
    with stream:
        nb = sum(len(stream.push(frame)) for frame in frames)
        idle(stream._process.pid)
        nb += len(getattr(stream, "_frames", ()))
    # the first frame of an Estimator has no field
    return len(frames) - 1 - (nb if isinstance(stream, gpume.Estimator) else (nb - 1) // per_frame)


def on_file(pix_fmt, filters, raw):
    packed = {"rgb24": "gbrp"}.get(pix_fmt)
    chain = ",".join([*([f"format={packed}"] if packed else []), filters, *([f"format={pix_fmt}"] if "gpume=" not in filters else [])])
    bench.run(gpume.ffmpeg_exe(), *bench.QUIET, "-threads", "1", *bench.raw_input((W, H), raw, pix_fmt, 30), "-vf", chain,
              "-fps_mode", "passthrough", "-f", "null", "-")


def main(clip, rounds="3", *names):
    clip = os.path.abspath(clip)
    print("| class | format | rate by time | by processor time | delay | MiB |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind, options, filters, nb, per_frame in CASES:
            for pix_fmt, shape in (("rgb24", (H, W, 3)), ("gray", (H, W))):
                if names and kind.__name__ not in names:
                    continue
                bench.run(gpume.ffmpeg_exe(), *bench.QUIET, "-stream_loop", "-1", "-i", clip, "-vf", f"scale={W}:{H}",
                          "-frames:v", str(nb), "-pix_fmt", pix_fmt, "-f", "rawvideo", "x.raw")
                frames = np.fromfile("x.raw", np.uint8).reshape(nb, *shape)
                ratios = []
                for _ in range(int(rounds)):
                    began, began_cpu = time.perf_counter(), bench.used()
                    on_file(pix_fmt, filters, "x.raw")
                    middle, middle_cpu = time.perf_counter(), bench.used()
                    memory = through(kind(W, H, pix_fmt, **options), frames)
                    ratios.append(((middle - began) / (time.perf_counter() - middle), (middle_cpu - began_cpu) / (bench.used() - middle_cpu)))
                waits = [delay(kind(W, H, pix_fmt, threads=threads, **options), frames, per_frame) for threads in (None, 1)]
                print(f"| {kind.__name__} | {pix_fmt} | {statistics.median(r for r, _ in ratios):.2f} | "
                      f"{statistics.median(r for _, r in ratios):.2f} | {waits} | {' '.join(map(str, memory))} |", flush=True)


main(*sys.argv[1:])
