#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares mvdenoise's estimate of the noise with the best sigma that is given.

Small crops of clips get noise of many kinds, then boxes, borders or clipped tones, and some of them are encoded. Each
of these cells is denoised with eleven values of sigma and with the default. The matrix shows by how many dB of luma's
PSNR the default is below the best of those; clean clips show the PSNR of the output against the input. Noise is the
same in every run. Wanted: within 0.5 dB in nine of ten cells, within 1.5 dB in all, never below the input, and clean
clips at 48 dB or more.
"""

import argparse
import csv
import os
import subprocess
import sys

import numpy as np

WIDTH, HEIGHT, FRAMES = 240, 176, 9
SIGMAS = [1, 1.7, 2.6, 4, 6, 8, 10.5, 14, 20, 30, 44]
# clips that FFmpeg draws, beside those that are given
DRAWN = {
    "mandelbrot": f"mandelbrot=s={WIDTH}x{HEIGHT}:r=25:end_scale=0.3",
    "pan": f"testsrc2=s=480x352:r=25,format=yuv420p,gblur=0.7,crop={WIDTH}:{HEIGHT}:20+3*n:30+n",
}


def white(sigma):
    return lambda y, random: random.normal(0, sigma, y.shape)


def sensor(a, b):
    """Variance a * signal + b."""
    return lambda y, random: random.normal(0, 1, y.shape) * np.sqrt(a * y + b)


def grain(sigma, kernel):
    def add(y, random):
        noise = random.normal(0, 1, y.shape)
        for axis in (1, 2):
            noise = sum(np.roll(noise, i - len(kernel) // 2, axis) * k for i, k in enumerate(kernel))
        return noise / noise.std() * sigma
    return add


def scaled(sigma):
    """White noise of a smaller picture that was scaled up by 1.5, linearly."""
    def add(y, random):
        frames, height, width = y.shape
        small = random.normal(0, sigma, (frames, height * 2 // 3 + 2, width * 2 // 3 + 2))
        at = [np.arange(n) / 1.5 for n in (height, width)]
        (rows, columns), (down, right) = [a.astype(int) for a in at], [a % 1 for a in at]
        row = lambda i: small[:, rows + i] * (down if i else 1 - down)[:, None]
        wide = row(0) + row(1)
        return wide[:, :, columns] * (1 - right) + wide[:, :, columns + 1] * right
    return add


NOISES = {
    "clean": None, "white 2": white(2), "white 5": white(5), "white 10": white(10), "white 20": white(20),
    "white 40": white(40), "x + 4": sensor(1, 4), "3 x + 9": sensor(3, 9),
    "grain 2": grain(6, [.25, .5, .25]), "grain 3": grain(6, [.1, .25, .3, .25, .1]), "scaled": scaled(10),
}
# sigma of the white noise, and the encoder that it goes through
ENCODED = {
    "mpeg2": (5, "mpeg2video -q:v 5"), "mpeg4": (10, "mpeg4 -q:v 6"), "mpeg4 q8": (14, "mpeg4 -q:v 8"),
    "mjpeg": (10, "mjpeg -q:v 5 -strict unofficial"), "x264": (10, "libx264 -preset medium -crf 24"),
    "x264 crf20": (6, "libx264 -preset medium -crf 20"),
}


def box(share):
    def cover(y):
        height, width = (int(n * share**.5) for n in y.shape[1:])
        top, left = (y.shape[1] - height) // 3 | 1, (y.shape[2] - width) // 3 | 1
        y = y.copy()
        y[:, top:top + height, left:left + width] = 16
        return y
    return cover


def letterbox(y):
    y = y.copy()
    y[:, :y.shape[1] // 8] = y[:, -(y.shape[1] // 8):] = 16
    return y


def circle(y):
    height, width = y.shape[1:]
    rows, columns = np.mgrid[:height, :width]
    return np.where((rows - height / 2)**2 + (columns - width / 2)**2 > (height * .48)**2, 16, y).astype(np.uint8)


def moved(by):
    """Tones that are cut off at black or white of limited range."""
    return lambda y: np.clip(y.astype(int) + by, 16, 235).astype(np.uint8)


AREAS = {"": lambda y: y, "box 1 %": box(.01), "box 8 %": box(.08), "box 30 %": box(.3), "box 50 %": box(.5),
         "letterbox": letterbox, "circle": circle, "black": moved(-60), "white": moved(60)}
IN_AREAS = ["white 10", "mpeg4", "3 x + 9", "grain 2", "mpeg2"]


def run(*command, data=None):
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: " + (done.stderr.decode().splitlines() or ["failed"])[-1])
    return done.stdout


class Bench:
    def __init__(self, args):
        self.command = [args.ffmpeg, "-v", "error", "-nostdin", "-filter_threads", "1", "-filter_complex_threads", "1"]
        self.encoders = run(args.ffmpeg, "-v", "error", "-encoders").decode()

    def raw(self, y):
        return ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{y.shape[2]}x{y.shape[1]}", "-r", "25", "-i", "-"]

    def clip(self, name):
        """Luma of a clip, scaled down so that little is left of its own noise."""
        chain = (f"setpts=N/25/TB,scale={WIDTH}:{HEIGHT}:flags=area:force_original_aspect_ratio=increase,"
                 f"crop={WIDTH}:{HEIGHT},format=gray")
        source = ["-f", "lavfi", "-i", f"{DRAWN[name]},format=gray"] if name in DRAWN else ["-i", name, "-vf", chain]
        made = run(*self.command, *source, "-map", "0:v:0", "-frames:v", str(FRAMES), "-fps_mode", "passthrough",
                   "-f", "rawvideo", "-")
        return np.frombuffer(made, np.uint8).reshape(-1, HEIGHT, WIDTH)

    def encode(self, y, options):
        frames, height, width = y.shape
        gray = bytes([128]) * (width * height // 2)
        coded = run(*self.command, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-r", "25",
                    "-i", "-", "-c:v", *options.split(), "-threads", "1", "-f", "nut", "-",
                    data=b"".join(f.tobytes() + gray for f in y))
        made = run(*self.command, "-i", "-", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
                   data=coded)
        return np.frombuffer(made, np.uint8).reshape(frames, -1)[:, :width * height].reshape(y.shape)

    def denoise(self, y):
        """What each sigma makes, then the default; vectors are searched once."""
        options = [f"=sigma={s}" for s in SIGMAS] + [""]
        pads = [f"[a{i}]" for i in range(len(options))]
        graph = f"gpume=algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=2,split={len(options)}{''.join(pads)};"
        graph += ";".join(f"{a}mvdenoise{o}{a.replace('a', 'b')}" for a, o in zip(pads, options))
        graph += f";{''.join(pads).replace('a', 'b')}vstack=inputs={len(options)}"
        made = run(*self.command, *self.raw(y), "-filter_complex", graph, "-f", "rawvideo", "-pix_fmt", "gray", "-",
                   data=y.tobytes())
        return np.frombuffer(made, np.uint8).reshape(len(y), len(options), *y.shape[1:]).swapaxes(0, 1)

    def cell(self, y, noise, area):
        """PSNR of the noisy frames, of each sigma, of the default."""
        random = np.random.default_rng([sum(map(ord, noise)), sum(map(ord, area))])
        clean, add = AREAS[area](y), NOISES.get(noise)
        if noise in ENCODED:
            add = white(ENCODED[noise][0])
        noisy = y if add is None else np.clip(np.rint(y + add(y.astype(float), random)), 0, 255).astype(np.uint8)
        noisy = AREAS[area](noisy)
        if noise in ENCODED:
            noisy = self.encode(noisy, ENCODED[noise][1])
        return [psnr(x, clean) for x in (noisy, *self.denoise(noisy))]


def psnr(x, y):
    return 10 * np.log10(65025 / max(np.mean((x.astype(float) - y)**2), 1e-4))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--noises", default="all", help="names, separated by commas")
    parser.add_argument("clips", nargs="*", help="files of at least 9 frames")
    args = parser.parse_args()
    bench = Bench(args)
    clips = {os.path.basename(c).rsplit(".", 1)[0]: bench.clip(c) for c in [*args.clips, *DRAWN]}
    cells = [(n, "") for n in [*NOISES, *ENCODED]] + [(n, a) for a in AREAS if a for n in IN_AREAS]
    rows, losses = [], []
    print("| noise | " + " | ".join(clips) + " |\n| --- |" + " --- |" * len(clips))
    for noise, area in cells:
        if args.noises != "all" and noise not in args.noises.split(","):
            continue
        if noise in ENCODED and f" {ENCODED[noise][1].split()[0]} " not in bench.encoders:
            print(f"left out: {noise}, there is no such encoder", file=sys.stderr)
            continue
        shown = []
        for name, y in clips.items():
            values = bench.cell(y, noise, area)
            best = max(values[:-1])
            rows.append((name, noise, area, *(f"{v:.3f}" for v in values)))
            if noise == "clean":
                shown.append("unchanged" if values[-1] > 88 else f"{values[-1]:.1f} dB")
                continue
            losses.append((values[-1] - best, values[-1] - values[0]))
            shown.append(f"{values[-1]:.1f} ({values[-1] - best:+.2f})")
        print(f"| {noise}{', ' * bool(area)}{area} | " + " | ".join(shown) + " |", flush=True)
    with open(f"{args.out}/noise.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(("clip", "noise", "area", "noisy", *(f"sigma {s}" for s in SIGMAS), "default"))
        writer.writerows(rows)
    if losses:
        loss, gain = np.array(losses).T
        print(f"\n{len(loss)} cells: {loss.mean():+.3f} dB beside the best sigma in the mean, "
              f"{loss.min():+.2f} at worst; within 0.5 dB: {np.mean(loss > -.5):.1%}, within 1.5 dB: {np.mean(loss > -1.5):.1%}, "
              f"below the input: {np.sum(gain < 0)}")
    print(f"figures: {args.out}/noise.csv")


if __name__ == "__main__":
    main()
