#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measure the Python package: vectors per second beside ffmpeg's own file of them, and memory over a long film.

usage: rate.py CLIP [ROUNDS [FRAMES]]     CLIP is scaled to 1920x1080; FRAMES of the long film [10000]
The package that Python finds is measured; GPUME_FFMPEG may name another ffmpeg."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import gpume

clip = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
frames = int(sys.argv[3]) if len(sys.argv) > 3 else 10000


def ffmpeg(*arguments):
    subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-y", *arguments], check=True, stdin=subprocess.DEVNULL)


def by_package(path):
    with gpume.vectors(path, algo="hme") as fields:
        return sum(field.cost.size for field in fields)


def by_file(path):
    ffmpeg("-i", path, "-map", "0:v:0", "-vf", "gpume=algo=hme:mv_file=x.npy", "-fps_mode", "passthrough", "-f", "null", "-")


def used():
    """Return the seconds of processor of this process and of those that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    ffmpeg("-i", clip, "-vf", "scale=1920:1080", "-frames:v", "60", "-c:v", "mpeg4", "-q:v", "3", "hd.mkv")
    seconds = {by_package: [], by_file: []}
    cpu = {by_package: [], by_file: []}
    for _ in range(rounds):
        for function in seconds:
            began, began_cpu = time.perf_counter(), used()
            nb = function("hd.mkv") or nb
            seconds[function].append(time.perf_counter() - began)
            cpu[function].append(used() - began_cpu)
    for function, name in ((by_package, "gpume.vectors()"), (by_file, "mv_file=x.npy")):
        print(f"{name:16} {nb / statistics.median(seconds[function]):9.0f} vectors/s, "
              f"{nb / statistics.median(cpu[function]):9.0f} a second of processor")
    for name, values in (("time", seconds), ("processor time", cpu)):
        print(f"{statistics.median(values[by_file]) / statistics.median(values[by_package]):.2f} of the rate, by {name}")
    film = f"testsrc2=s=320x180:r=25,trim=end_frame={frames}"
    for number, field in enumerate(gpume.vectors(film, algo="ds", block=16, input_options=["-f", "lavfi"]), 1):
        if number in (frames // 10, frames - 1):
            print(f"after {number} frames: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MiB at most")
