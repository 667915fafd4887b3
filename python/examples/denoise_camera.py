#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denoise a camera's picture live. OUT.png is the newest frame, before and after, twice a second.

usage: denoise_camera.py /dev/video0 OUT.png    Ctrl-C ends it. A video does instead of a camera"""

import subprocess
import sys
import time

import numpy as np

import gpume

W, H = 640, 360

camera, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
kind = ["-f", "v4l2"] if camera.startswith("/dev/") else []
command = [gpume.ffmpeg_exe(), "-v", "error", "-nostdin", *kind, "-i", camera, "-vf", f"scale={W}:{H}",
           "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
shown, waiting = 0.0, []
reader = subprocess.Popen(command, stdout=subprocess.PIPE)
with reader, gpume.Denoiser(W, H, "rgb24", radius=1, passes=1) as denoiser:
    try:
        while True:
            data = reader.stdout.read(W * H * 3)
            is_end = len(data) < W * H * 3
            if not is_end:
                waiting.append(np.frombuffer(data, np.uint8).reshape(H, W, 3))
            for clean in denoiser.flush() if is_end else denoiser.push(waiting[-1]):
                before = waiting.pop(0)
                if time.monotonic() > shown + 0.5:
                    gpume.write_png(out, np.concatenate([before, clean], axis=1))
                    shown = time.monotonic()
            if is_end:
                break
    except KeyboardInterrupt:
        reader.kill()
