#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares mvdenoise's estimate of the noise with the best sigma that is given.

Small crops of clips get noise of many kinds, then boxes, borders or clipped tones, and some of them are encoded. Some
cells have full range, 10 or 16 bits, or show chroma. Each cell is denoised with eleven values of sigma and with the
default. The matrix shows by how many dB of PSNR (of luma, or of chroma) the default is below the best of those; clean
clips show the PSNR of the output against the input. Noise is the same in every run with the same --seed. Wanted: within 0.5 dB in nine of ten cells, within 1.5 dB in all, never below the input, and clean
clips at 48 dB or more.
"""

import argparse
import os
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import run  # noqa: E402

WIDTH, HEIGHT, FRAMES = 240, 176, 9
PLANES = np.array([4, 5]) * WIDTH * HEIGHT // 4     # where those of chroma begin
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


class Form:
    """How frames are stored: a pixel format, and which of its samples are measured."""

    def __init__(self, pix_fmt, depth=8, full=False, chroma=False):
        self.pix_fmt, self.full, self.chroma = pix_fmt, full, chroma
        self.one = 1 << (depth - 8)

    def samples(self, clip):
        """Those of a clip, which is YUV 4:2:0 of 8 bits, in units of 8 bits."""
        y = clip if self.chroma else clip[:, :WIDTH * HEIGHT]
        return np.clip((y.astype(float) - 16) * 255 / 219, 0, 255) if self.full else y.astype(float)

    def words(self, samples):
        most = 256 * self.one - 1
        return np.clip(np.rint(samples * self.one), 0, most).astype("<u2" if self.one > 1 else np.uint8)

    def measured(self, words):
        """Samples that are measured, in units of 8 bits, of frames or stacks of frames."""
        return words.astype(float)[..., WIDTH * HEIGHT if self.chroma else 0:] / self.one


FORMS = {"": Form("gray"), "full range": Form("gray", full=True), "10 bits": Form("gray10le", 10),
         "16 bits": Form("gray16le", 16), "chroma": Form("yuv420p", chroma=True)}
IN_FORMS = ["clean", "white 5", "white 20", "3 x + 9", "grain 2", "mpeg4"]


class Bench:
    def __init__(self, args):
        options = [*bench.QUIET[:3], "-filter_threads", "1", "-filter_complex_threads", "1"]
        self.command = [args.ffmpeg, *options]
        programs = {p: run(p, "-v", "error", "-encoders")[0].decode().split() for p in (args.encoder or args.ffmpeg, args.ffmpeg)}
        # each encoder, and the program that has it
        self.encoders = {e: [p, *options] for p, names in programs.items() for e in names}
        self.seed = args.seed

    def clip(self, name):
        """A clip, NAME or NAME@FIRST_FRAME, scaled down so that little is left of its own noise."""
        name, _, first = name.partition("@")
        chain = (f"trim=start_frame={first or 0},setpts=N/25/TB,"
                 f"scale={WIDTH}:{HEIGHT}:flags=area:force_original_aspect_ratio=increase,crop={WIDTH}:{HEIGHT}")
        source = ["-f", "lavfi", "-i", DRAWN[name]] if name in DRAWN else ["-i", name, "-vf", chain]
        made, _ = run(*self.command, *source, "-map", "0:v:0", "-frames:v", str(FRAMES), *bench.RAW_OUT, "-pix_fmt", "yuv420p", "-")
        return np.frombuffer(made, np.uint8).reshape(-1, WIDTH * HEIGHT * 3 // 2)

    def encode(self, words, options):
        """Frames of 8 bits, with gray chroma if they have none."""
        gray = np.full((len(words), WIDTH * HEIGHT * 3 // 2 - words.shape[1]), 128, np.uint8)
        coded, _ = run(*self.encoders[options.split()[0]], *bench.raw_input((WIDTH, HEIGHT)), "-c:v", *options.split(),
                       "-threads", "1", "-f", "nut", "-", data=np.hstack([words, gray]).tobytes())
        made, _ = run(*self.command, "-i", "-", *bench.RAW_OUT, "-pix_fmt", "yuv420p", "-", data=coded)
        return np.frombuffer(made, np.uint8).reshape(len(words), -1)[:, :words.shape[1]]

    def denoise(self, words, pix_fmt):
        """What each sigma makes, then the default; vectors are searched once."""
        options = [f"=sigma={s}" for s in SIGMAS] + [""]
        pads = [f"[a{i}]" for i in range(len(options))]
        graph = f"gpume=algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=2,split={len(options)}{''.join(pads)};"
        graph += ";".join(f"{a}mvdenoise{o}{a.replace('a', 'b')}" for a, o in zip(pads, options))
        graph += f";{''.join(pads).replace('a', 'b')}vstack=inputs={len(options)}"
        made, _ = run(*self.command, *bench.raw_input((WIDTH, HEIGHT), pix_fmt=pix_fmt), "-filter_complex", graph,
                      "-f", "rawvideo", "-pix_fmt", pix_fmt, "-", data=words.tobytes())
        frames = np.frombuffer(made, words.dtype).reshape(len(words), -1)
        planes = [p.reshape(len(words), len(options), -1) for p in np.split(frames, len(options) * PLANES, 1) if p.size]
        return np.concatenate(planes, 2).swapaxes(0, 1)

    def cell(self, clip, noise, area, form):
        """PSNR of the noisy frames, of each sigma, of the default."""
        seeds = [sum(map(ord, noise)), sum(map(ord, area)), sum(map(ord, form)), self.seed]
        random = np.random.default_rng(seeds)
        f = FORMS[form]
        cover = lambda x: x if not area else AREAS[area](x.reshape(-1, HEIGHT, WIDTH)).reshape(x.shape)
        clean, add = cover(f.samples(clip)), NOISES.get(noise)
        if noise in ENCODED:
            add = white(ENCODED[noise][0])
        noisy = f.samples(clip)
        if add is not None:
            planes = [p.reshape(-1, HEIGHT >> (i > 0), WIDTH >> (i > 0)) for i, p in enumerate(np.split(noisy, PLANES, 1))]
            noisy = np.hstack([(p + add(p, random)).reshape(len(noisy), -1) for p in planes if p.size])
        noisy = cover(f.words(noisy))
        if noise in ENCODED:
            noisy = self.encode(noisy, ENCODED[noise][1])
        clean = f.measured(f.words(clean))
        return [bench.decibels(np.mean((f.measured(x) - clean)**2), 1e-4) for x in (noisy, *self.denoise(noisy, f.pix_fmt))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--encoder", help="an ffmpeg that encodes, as with libx264, beside that of --ffmpeg")
    parser.add_argument("--out", required=True)
    parser.add_argument("--noises", default="all", help="names, separated by commas")
    parser.add_argument("--areas", default="all", help="names of areas and forms, separated by commas; 'plain': without either")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--drawn", default=",".join(DRAWN), help="clips that FFmpeg draws, separated by commas")
    parser.add_argument("clips", nargs="*", help="FILE or FILE@FRAME, from which there are at least 9 frames")
    args = parser.parse_args()
    measure = Bench(args)
    clips = {os.path.basename(c).replace(".", "@").split("@")[0] + "@" * ("@" in c) + c.partition("@")[2]: measure.clip(c)
             for c in [*args.clips, *filter(None, args.drawn.split(","))]}
    cells = [(n, "", "") for n in [*NOISES, *ENCODED]]
    cells += [(n, a, "") for a in AREAS if a for n in IN_AREAS] + [(n, "", f) for f in FORMS if f for n in IN_FORMS]
    rows, losses = [], []
    print("| noise | " + " | ".join(clips) + " |\n| --- |" + " --- |" * len(clips))
    for noise, area, form in cells:
        if args.noises != "all" and noise not in args.noises.split(",") or noise in ENCODED and FORMS[form].one > 1 or \
                args.areas != "all" and (area or form or "plain") not in args.areas.split(","):
            continue
        if noise in ENCODED and ENCODED[noise][1].split()[0] not in measure.encoders:
            print(f"left out: {noise}, there is no such encoder", file=sys.stderr)
            continue
        shown = []
        for name, clip in clips.items():
            values = measure.cell(clip, noise, area, form)
            best = max(values[:-1])
            rows.append((name, noise, area, form, *(f"{v:.3f}" for v in values)))
            if noise == "clean":
                shown.append("unchanged" if values[-1] > 88 else f"{values[-1]:.1f} dB")
                continue
            losses.append((values[-1] - best, values[-1] - values[0]))
            shown.append(f"{values[-1]:.1f} ({values[-1] - best:+.2f})")
        print(f"| {', '.join(filter(None, (noise, area, form)))} | " + " | ".join(shown) + " |", flush=True)
    bench.write_csv(f"{args.out}/noise.csv", ("clip", "noise", "area", "form", "noisy", *(f"sigma {s}" for s in SIGMAS), "default"), rows)
    if losses:
        loss, gain = np.array(losses).T
        print(f"\n{len(loss)} cells: {loss.mean():+.3f} dB beside the best sigma in the mean, "
              f"{loss.min():+.2f} at worst; within 0.5 dB: {np.mean(loss > -.5):.1%}, within 1.5 dB: {np.mean(loss > -1.5):.1%}, "
              f"below the input: {np.sum(gain < 0)}")
    print(f"figures: {args.out}/noise.csv")


if __name__ == "__main__":
    main()
