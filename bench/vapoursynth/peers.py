#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the plugin with its peers, in one run: PSNR of the luma in dB, and processor time.

usage: peers.py FFMPEG CLIP [FRAMES]     the middle of CLIP, 640x360, with white noise of sigma 10; and every second frame
made again. Needs VapourSynth with the plugin (GPUME_PLUGIN names the file of one that is not installed), MVUtensils,
MVTools and VapourSynth-BM3D."""

import os
import sys
import time

import numpy as np
import vapoursynth as vs

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from plugins import clip_of, smoothed  # noqa: E402

core = vs.core
if "GPUME_PLUGIN" in os.environ:
    core.std.LoadPlugin(os.environ["GPUME_PLUGIN"])
W, H = 640, 360
ffmpeg, video = sys.argv[1:3]
frames = int(sys.argv[3]) if len(sys.argv) > 3 else 40
raw = bench.filtered(ffmpeg, ["-i", video], f"crop={W}:{H},trim=end_frame={frames}", "yuv420p")
size = W * H * 3 // 2
clean = raw.reshape(-1, size)
noise = np.random.default_rng(1).normal(0, 10, clean.shape)
noisy = np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)


def in_memory(array, fps):
    """A clip of frames in memory, so that no Python copies samples while it is measured."""
    made = [f.copy() for f in clip_of(array, W, H).frames(close=True)]
    blank = core.std.BlankClip(width=W, height=H, format=vs.YUV420P8, length=len(made), fpsnum=fps, fpsden=1, keep=True)
    return core.std.ModifyFrame(blank, blank, lambda n, f: made[n])


def measure(name, clip, reference):
    began, used = time.time(), bench.used()
    lumas = [np.asarray(f[0]).copy() for f in clip.frames(close=True)]
    used = bench.used() - used
    errors = [np.mean((a.astype(float) - b[:W * H].reshape(H, W)) ** 2) for a, b in zip(lumas, reference)]
    errors = [e for e in errors if e > 0]       # frames that passed
    psnr = np.mean([bench.decibels(e) for e in errors])
    print(f"{name:40} {psnr:6.2f} dB  {1000 * used / len(lumas):7.1f} ms of processor a frame, "
          f"{len(lumas) / (time.time() - began):6.1f} frames/s", flush=True)


def degrain(clip, n, thsad, analyse):
    blocks = {"blksize": [16, 16], "overlap": [8, 8]}
    search = smoothed(clip)
    vectors = analyse(core.mvu.Super(search, **blocks), search, n)
    return core.mvu.Degrain(clip, core.mvu.Super(clip, **blocks), vectors, thsad=thsad, thscd1=16000)


def theirs(sup, clip, n):
    return [core.mvu.Analyse(sup, delta=d) for i in range(1, n + 1) for d in (i, -i)]


def ours(sup, clip, n):
    return core.gpume.AnalyseMany(sup, clip, radius=n)


source = in_memory(noisy, 24)
measure("noisy", source, clean)
measure("gpume.Denoise(sigma=10)", core.gpume.Denoise(source, sigma=10), clean)
measure("gpume.Denoise(sigma=10, radius=1, passes=1)", core.gpume.Denoise(source, sigma=10, radius=1, passes=1), clean)
measure("gpume.Denoise()", core.gpume.Denoise(source), clean)
# thresholds and sigmas around the best of each
for n in (2, 6, 12):
    for thsad in (600, 800, 1200):
        measure(f"mvu.Degrain, {n} a side, thsad={thsad}", degrain(source, n, thsad, theirs), clean)
for thsad in (600, 800, 1200):
    measure(f"mvu.Degrain, 2 a side, gpume.AnalyseMany, thsad={thsad}", degrain(source, 2, thsad, ours), clean)
luma = source.std.ShufflePlanes(0, vs.GRAY).std.Expr("x 255 /", vs.GRAYS)
for sigma in (13, 16):
    basic = core.bm3d.VAggregate(core.bm3d.VBasic(luma, radius=2, sigma=[sigma]), radius=2, sample=1)
    final = core.bm3d.VAggregate(core.bm3d.VFinal(luma, basic, radius=2, sigma=[sigma]), radius=2, sample=1)
    measure(f"V-BM3D, luma only, radius 2, sigma {sigma}", final.std.Expr("x 255 *", vs.GRAY8), clean)

half = in_memory(clean[::2], 12)
sup = core.mvu.Super(half, blksize=[16, 16], overlap=[8, 8])
pair, made = theirs(sup, half, 1), ours(sup, half, 1)
old = core.mv.Super(half, pel=2)
fields = [core.mv.Analyse(old, blksize=16, overlap=8, isb=isb) for isb in (1, 0)]
measure("gpume.FPS()", core.gpume.FPS(half), clean)
measure("mvu.FlowFPS", core.mvu.FlowFPS(half, sup, pair, num=24, den=1), clean)
measure("mvu.FlowFPS, gpume.AnalyseMany", core.mvu.FlowFPS(half, sup, made, num=24, den=1), clean)
measure("mv.BlockFPS", core.mv.BlockFPS(half, old, *fields, num=24, den=1), clean)
