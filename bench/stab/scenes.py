# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes shaken clips whose motion is known.

usage: scenes.py FFMPEG CLIP OUT [scene ...]
CLIP has at least 1280x720 samples; its first and its 101st frame are the pictures. OUT/NAME.nut is the shaken clip,
OUT/NAME.steady.nut the same without shake, OUT/NAME.npz the poses. FRAMES: number of frames [60]."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from truth import H, W, mapped, pose  # noqa: E402

FPS = 25
GRID = np.stack(np.meshgrid(np.arange(W) - (W - 1) / 2, np.arange(H) - (H - 1) / 2), -1).reshape(-1, 2)


def picture(ffmpeg, clip, number):
    """Luma of a frame, scaled to 1280x720."""
    raw = bench.filtered(ffmpeg, ["-i", clip], f"select=eq(n\\,{number}),scale=1280:720,trim=end_frame=1")
    return raw.reshape(720, 1280).astype(float)


def weights(f):
    """Taps of the cubic convolution for fractions."""
    return np.stack([((-.5 * f + 1) * f - .5) * f, (1.5 * f - 2.5) * f * f + 1, ((-1.5 * f + 2) * f + .5) * f,
                     (.5 * f - .5) * f * f])


def sample(image, points):
    """The image at points relative to its middle, mirrored at its edges."""
    h, w = image.shape
    x, y = points[:, 0] + (w - 1) / 2, points[:, 1] + (h - 1) / 2
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    wx, wy = weights(x - x0), weights(y - y0)
    cols = [w - 1 - np.abs(w - 1 - np.abs(x0 - 1 + k)) for k in range(4)]
    rows = [h - 1 - np.abs(h - 1 - np.abs(y0 - 1 + k)) for k in range(4)]
    return sum(wy[j] * sum(wx[i] * image[rows[j], cols[i]] for i in range(4)) for j in range(4))


def shake(random, nb, shift, degrees, zoom):
    """Sums of waves of 1 to 8 Hz whose amplitude falls with the frequency, at eighths of frames; 0 at first."""
    f, phase = random.uniform(1, 8, (4, 12, 1)), random.uniform(0, 2 * np.pi, (4, 12, 1))
    size = 1 / f / np.sqrt((1 / f ** 2).sum(1, keepdims=True) / 2)
    waves = (size * np.sin(2 * np.pi * f * np.arange(8 * nb) / 8 / FPS + phase)).sum(1)
    x, y, turn, grow = (waves - waves[:, :1]) * np.array([shift, shift, np.radians(degrees), zoom])[:, None]
    return x + 1j * y, grow + 1j * turn


class Writer:
    def __init__(self, ffmpeg, path):
        self.process = subprocess.Popen([ffmpeg, "-v", "error", "-y", *bench.raw_input((W, H), pix_fmt="gray", rate=FPS),
                                         "-pix_fmt", "yuv420p", "-c:v", "ffv1", path], stdin=subprocess.PIPE)

    def write(self, luma):
        self.process.stdin.write(np.clip(np.rint(luma), 0, 255).astype(np.uint8).tobytes())

    def close(self):
        self.process.stdin.close()
        if self.process.wait():
            sys.exit("the scene cannot be encoded")


def person(luma, points, texture, width, x, t):
    """Covers what is inside an upright ellipse that crosses the picture, nodding."""
    p = points - [x, 12 * np.sin(.35 * t)]
    inside = (p[:, 0] / (width / 2)) ** 2 + (p[:, 1] / (H * .55)) ** 2 < 1
    luma.reshape(-1)[inside] = sample(texture, p[inside] * .8)
    return luma


def make(ffmpeg, out, name, nb, pictures, seed, shift=5., degrees=.25, zoom=.003, wide=0, blur=1, noise=0, contrast=1.,
         cut=None, width=0, x0=0, speed=0):
    random = np.random.default_rng(seed)
    d, m = shake(random, nb, shift, degrees, zoom)
    true = {"D": d[::8], "M": m[::8], "fovf": wide, "cut": -1 if cut is None else cut}
    shaken, steady = Writer(ffmpeg, f"{out}/{name}.nut"), Writer(ffmpeg, f"{out}/{name}.steady.nut")
    for t in range(nb):
        image = pictures[0 if cut is None or t < cut else 1]
        both = []
        for moments in ([np.maximum(np.arange(8 * t - blur // 4, 8 * t + blur // 4 + 1), 0)], [[None]]):
            luma = np.zeros((H, W))
            for i in moments[0]:
                p = GRID if i is None else mapped(pose({**true, "D": d, "M": m}, int(i)), GRID)
                part = sample(image, p).reshape(H, W)
                luma += person(part, p, pictures[1], width, x0 + speed * t, t) if width else part
            both.append(128 + (luma / len(moments[0]) - 128) * contrast)
        shaken.write(both[0] + (random.normal(0, noise, (H, W)) if noise else 0))
        steady.write(both[1])
    shaken.close()
    steady.close()
    np.savez(f"{out}/{name}.npz", **true)
    print(name, flush=True)


def main():
    ffmpeg, clip, out = sys.argv[1:4]
    nb = int(os.environ.get("FRAMES", 60))
    a, b = picture(ffmpeg, clip, 0), picture(ffmpeg, clip, 100)
    soft = a
    for _ in range(24):
        soft = (soft + np.roll(soft, 1, 0) + np.roll(soft, 1, 1) + np.roll(soft, (1, 1), (0, 1))) / 4
    scenes = {
        "picture": {"pictures": (a, b), "seed": 1}, "other": {"pictures": (b, a), "seed": 2},
        "large": {"pictures": (a, b), "seed": 3, "shift": 14, "degrees": .8, "zoom": .006},
        "blur": {"pictures": (b, a), "seed": 4, "blur": 8}, "noise": {"pictures": (a, b), "seed": 5, "noise": 16},
        "soft": {"pictures": (soft, b), "seed": 6, "contrast": .5, "noise": 2},
        "person40": {"pictures": (a, b), "seed": 7, "width": 400, "x0": -300, "speed": 6},
        "person60": {"pictures": (a, b), "seed": 8, "width": 600, "x0": -80, "speed": 3},
        "wide": {"pictures": (a, b), "seed": 9, "wide": W / 2, "zoom": 0},
        "cut": {"pictures": (a, b), "seed": 10, "cut": nb // 2},
    }
    for name in sys.argv[4:] or scenes:
        make(ffmpeg, out, name, nb, **scenes[name])


if __name__ == "__main__":
    main()
