#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws scenes in which deinterlacers fail, interlaces them, has filters deinterlace them, and compares with the scenes.

usage: scenes.py OUT FFMPEG [SCENE...]
Environment (defaults in brackets):
  FRAMES  fields of each scene, at most 50 [40]
  NOISE   sigma of noise that is added to each scene [0]
  PHOTO   a picture for the scenes 'photo' and 'board_on_photo' [noise of seven octaves]
Each scene has 720x576 samples; its chroma is its luma, halved. PSNR is that of luma of the whole picture, of luma in the part
that the scene names (the lines beside an edge, a board, a thing that moves) and of chroma, without the first and last three
fields. Writes OUT/scenes.md. A figure of mvdeint that is more than 0.2 dB below bwdif's has the mark '!': the exit status is 1.
"""

import os
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from deint import EDGE, Clip  # noqa: E402

W, H = 720, 576
METHODS = ('bwdif=1', 'yadif=1', 'mvdeint=passes=1', 'mvdeint=passes=2', 'mvdeint=passes=3')
LEAST, EXACT = -0.2, 99.


class Scenes:
    """Each method draws a scene: it returns the luma of field t's frame. It names the part that is measured in 'part'."""

    def __init__(self, ffmpeg):
        def noise(options, width=1000, height=700):
            source = f'perlin=s={width}x{height}:random_mode=seed:{options},trim=end_frame=1'
            return bench.filtered(ffmpeg, ['-f', 'lavfi', '-i', source], 'null').reshape(height, width).astype(np.float32)
        self.back = noise('seed=1:xscale=60:yscale=60')
        self.other = noise('seed=2:xscale=40:yscale=40')
        self.photo = noise('seed=3:octaves=7:persistence=0.7:xscale=8:yscale=6')
        if os.environ.get('PHOTO'):
            photo = bench.filtered(ffmpeg, ['-i', os.environ['PHOTO']], 'trim=end_frame=1,scale=1000:700:flags=area')
            self.photo = photo.reshape(700, 1000).astype(np.float32)
        self.y, self.x = np.mgrid[:H, :W].astype(np.float32)
        self.text = self.letters(1400)
        rng = np.random.default_rng(5)
        self.flakes = rng.uniform((0, 0, -2, 2, 20), (W, H, 2, 6, 250), (400, 5))
        self.drops = rng.uniform((0, 0, 9, 14), (W, H, 13, 40), (300, 4))
        self.noise = np.random.default_rng(6)

    def letters(self, width):
        """White letters of strokes, with a dark outline, of 28 lines: their luma and their coverage."""
        rng, bits = np.random.default_rng(4), np.zeros((28, width), np.float32)
        for x in range(4, width - 18, 18):
            for stroke in rng.integers(0, 6, 3):
                y0, y1, x0, x1 = ((4, 24, 0, 3), (4, 24, 9, 12), (4, 6, 0, 12), (22, 24, 0, 12), (13, 15, 0, 12), (4, 24, 5, 8))[stroke]
                bits[y0:y1, x + x0:x + x1] = 1
        wide = np.max([np.roll(bits, (i, j), (0, 1)) for i in (-2, 0, 2) for j in (-2, 0, 2)], 0)
        return 16 + 219 * bits, wide

    def box(self, top, bottom, left=0, right=W):
        """The measured part is this one."""
        self.part = (self.y >= top) & (self.y < bottom) & (self.x >= left) & (self.x < right)

    def beside(self, *lines):
        """The measured part is two lines on each side of each of these edges."""
        self.part = np.any([np.abs(self.y + 0.5 - y) < 2 for y in lines], 0)

    def pan(self, t, dx=4, dy=0, picture=None, height=H):
        picture = self.back if picture is None else picture
        return picture[20 + dy * t:20 + dy * t + height, dx * t:dx * t + W].copy()

    def bars(self, t, bar, dx=4, dy=0, picture=None):
        out = np.full((H, W), 16, np.float32)
        out[bar:H - bar] = self.pan(t, dx, dy, picture, H - 2 * bar)
        self.beside(bar, H - bar)
        return out

    def letterbox(self, t):
        return self.bars(t, 72)

    def letterbox_two_ways(self, t):
        return self.bars(t, 72, 4, 2)

    def letterbox_a_line_down(self, t):
        return self.bars(t, 72, 0, 1)

    def pan_two_ways(self, t):
        self.box(0, H)
        return self.pan(t, 4, 2)

    def photo_71(self, t, bar=71):
        return self.bars(t, bar, picture=self.photo)

    def photo_72(self, t):
        return self.photo_71(t, 72)

    def photo_73(self, t):
        return self.photo_71(t, 73)

    def photo_76(self, t):
        return self.photo_71(t, 76)

    def board(self, t, picture=None, dx=4, dy=0):
        out = self.pan(t, dx, dy, picture)
        out[40:100, 40:300] = 16
        self.box(36, 104, 36, 304)
        return out

    def board_on_photo(self, t):
        return self.board(t, self.photo)

    def board_a_line_down(self, t):
        return self.board(t, None, 3, 1)

    def logo(self, t):
        out = self.pan(t)
        self.box(36, 108, 576, 684)
        ring = np.abs(np.hypot(self.x - 630, self.y - 72) - 24) < 8
        out[ring | ((np.abs(self.x - 630) < 46) & (np.abs(self.y - 72) < 5))] *= 0.5
        out[ring | ((np.abs(self.x - 630) < 46) & (np.abs(self.y - 72) < 5))] += 117
        return out

    def fade_under_logo(self, t):
        out = self.pan(t)
        ring = (np.abs(np.hypot(self.x - 630, self.y - 72) - 24) < 8) | ((np.abs(self.x - 630) < 46) & (np.abs(self.y - 72) < 5))
        self.box(36, 108, 576, 684)
        return np.where(ring, 235, 16 + (out - 16) * max(0, 36 - t) / 36)

    def subtitle(self, t):
        out = self.pan(t)
        luma, coverage = (a[:, 100:600] for a in self.text)
        for top in (470, 506):
            out[top:top + 28, 110:610] += coverage * (luma - out[top:top + 28, 110:610])
        self.box(466, 538, 106, 614)
        return out

    def ticker(self, t):
        out = self.pan(t, 1)
        out[500:540] = 40
        out[506:534] += self.text[1][:, 3 * t:3 * t + W] * (self.text[0][:, 3 * t:3 * t + W] - 40)
        self.box(496, 544)
        return out

    def split_screen(self, t):
        out = self.pan(t)
        out[288:] = self.other[288:288 + 288, 200 - 3 * t:200 - 3 * t + W]
        self.beside(288)
        return out

    def split_screen_down(self, t):
        out = self.pan(t, 0, 1)
        out[288:] = self.other[288 - 2 * t:288 - 2 * t + 288, 2 * t:2 * t + W]
        self.beside(288)
        return out

    def split_screen_across(self, t):
        out = self.pan(t)
        out[:, 360:] = self.other[100 - 2 * t:100 - 2 * t + H, :360]
        self.box(0, H, 352, 368)
        return out

    def picture_in_picture(self, t):
        out = self.pan(t)
        out[72:216, 440:680] = self.other[2 * t:2 * t + 144, 300:540]
        self.box(68, 220, 436, 684)
        return out

    def matte(self, t):
        out = self.pan(t)
        inside = ((self.x - 360) / 300) ** 2 + ((self.y - 288) / 220) ** 2
        self.part = np.abs(inside - 1) < 0.03
        return np.where(inside < 1, out, 60)

    def confetti(self, t):
        out = self.pan(t, 0)
        for x, y, dx, dy, v in self.flakes:
            x, y = int(x + dx * t) % (W - 6), int(y + dy * t) % (H - 6)
            out[y:y + 5, x:x + 6] = v
        self.box(0, H)
        return out

    def rain(self, t, x=0):
        out = self.pan(1, x)
        for x, y, dy, length in self.drops:
            x, y = int(x), int(y + dy * t) % (H - 40)
            out[y:y + int(length), x] += 0.3 * (235 - out[y:y + int(length), x])
        self.box(0, H)
        return out

    def tickers(self, t):
        out = self.pan(t, 2)
        for top, at in ((40, 3 * t), (500, 5 * (50 - t))):
            out[top:top + 40] = 40
            out[top + 6:top + 34] += self.text[1][:, at:at + W] * (self.text[0][:, at:at + W] - 40)
        self.part = (np.abs(self.y - 60) < 24) | (np.abs(self.y - 520) < 24)
        return out

    def moving_picture_in_picture(self, t):
        out, x, y = self.pan(t), 60 + 5 * t, 72 + 3 * t
        out[y:y + 144, x:x + 240] = self.other[2 * t:2 * t + 144, 300:540]
        self.box(68, 370, 56, 560)
        return out

    def subtitle_fading_in(self, t):
        return self.pan(t) + (self.subtitle(t) - self.pan(t)) * np.clip((t - 4) / 20, 0, 1)

    def wipe_across(self, t):
        return np.where(self.x < 80 + 9 * t, self.other[:H, :W], self.pan(t))

    def wipe_down(self, t):
        self.box(60, 300)
        return np.where(self.y < 80 + 5 * t, self.other[:H, :W], self.pan(t))

    def credits(self, t, lines=1, over_video=False):
        out = self.pan(t) if over_video else np.full((H, W), 16, np.float32)
        for n in range(16):
            top = 40 * n + 50 - lines * t
            if 0 <= top <= H - 28:
                luma, coverage = (a[:, 30 * n:30 * n + 400] for a in self.text)
                out[top:top + 28, 160:560] += coverage * (luma - out[top:top + 28, 160:560])
        self.box(0, H, 160, 560)
        return out

    def credits_2(self, t):
        return self.credits(t, 2)

    def credits_3(self, t):
        return self.credits(t, 3)

    def credits_over_video(self, t):
        return self.credits(t, 1, True)

    def credits_2_over_video(self, t):
        return self.credits(t, 2, True)

    def credits_3_over_video(self, t):
        return self.credits(t, 3, True)

    def thin_lines(self, t):
        out = self.pan(0)
        for n in range(6):
            angle = np.pi * n / 6 + 0.01 * t
            cover = np.clip(1.5 - np.abs((self.x - 360) * np.sin(angle) + (self.y - 288) * np.cos(angle)), 0, 1)
            out += cover * (230 - out)
        self.part = np.hypot(self.x - 360, self.y - 288) < 250
        return out

    def flashing_lights(self, t):
        out = self.pan(t)
        for n in range(12):
            light = np.exp(-((self.x - 60 * n - 30) ** 2 + (self.y - 100 - 30 * n) ** 2) / 300)
            out += (t // (n % 3 + 1) % (n % 4 + 3) == 0) * light * (250 - out)
        return out

    def film_behind_rain(self, t):
        return self.rain(t, 3 * (t // 2 * 2))

    def spokes(self, t):
        angle, r = np.arctan2(self.y - 288, self.x - 360), np.hypot(self.x - 360, self.y - 288)
        self.part = r < 250
        spoke = np.clip(0.5 + np.sin(12 * (angle - 0.03 * t)) * r / 12, 0, 1)
        return np.where(r < 250, 40 + 160 * spoke, self.pan(0))

    def ball(self, t):
        out = self.pan(0)
        y, x = 260 + 15 - abs((3 * t) % 60 - 30), 200 + 3 * t
        cover = np.clip(8.5 - np.hypot(self.x - x, self.y - y), 0, 1)
        self.box(230, 300, 180, 340)
        return out + cover * (220 - out)

    def progressive(self, t):
        return self.subtitle(t // 2 * 2)

    def progressive_shifted(self, t):
        return self.subtitle((t + 1) // 2 * 2)

    def stripes(self, t):
        self.box(0, H)
        return np.where(self.y % 2, 60, 180)

    def stripes_with_noise(self, t):
        return self.stripes(t) + self.noise.normal(0, 0.6, (H, W))

    def names(self):
        return [n for n, f in vars(Scenes).items() if callable(f) and n[0] != '_'
                and n not in ('letters', 'box', 'beside', 'pan', 'bars', 'names', 'frames')]

    def frames(self, name):
        """The fields' frames in yuv420p, and where the named part is."""
        out, sigma, rng = [], float(os.environ.get('NOISE', 0)), np.random.default_rng(7)
        self.box(0, H)
        for t in range(int(os.environ.get('FRAMES', 40))):
            luma = np.clip(np.rint(getattr(self, name)(t) + sigma * rng.standard_normal((H, W), np.float32)), 0, 255).astype(np.uint8)
            half = luma.reshape(H // 2, 2, W // 2, 2).mean((1, 3)) + 0.5
            out.append(np.concatenate([luma.ravel(), half.astype(np.uint8).ravel(), (255 - half).astype(np.uint8).ravel()]))
        return np.stack(out), self.part


def psnr(a, b, part=None):
    """The PSNR of planes, in a part of their samples."""
    off = (a[EDGE:-EDGE].astype(np.float32) - b[EDGE:-EDGE]) ** 2
    error = (off[:, part] if part is not None else off).mean(dtype=np.float64)
    return min(bench.decibels(error), EXACT)


def main():
    out, ffmpeg, *names = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    scenes, worse = Scenes(ffmpeg), 0
    with open(out + '/scenes.md', 'w') as table:
        def write(*cells):
            line = '| %s |' % ' | '.join(cells)
            print(line, flush=True)
            print(line, file=table)
        write('scene', 'where', *METHODS)
        write(*['---'] * (len(METHODS) + 2))
        for name in names or scenes.names():
            frames, part = scenes.frames(name)
            clip, figures = Clip(ffmpeg, name, out, (W, H), frames), []
            for method in METHODS:
                made = clip.deinterlace(method)
                if made is None:
                    if method.startswith('mvdeint'):
                        sys.exit('%s: %s failed' % (name, method))
                    figures.append(None)
                    continue
                pairs = list(zip(clip.planes(made[0]), clip.planes(clip.truth)))
                figures.append((psnr(*pairs[0]), psnr(*pairs[0], part), psnr(*(np.concatenate(p, 1) for p in zip(*pairs[1:])))))
            for i, where in enumerate(('picture', 'part', 'chroma')):
                if where == 'part' and part.all():
                    continue
                is_worse = [method.startswith('mvdeint') and f is not None and f[i] < figures[0][i] + LEAST
                            for method, f in zip(METHODS, figures)]
                worse += sum(is_worse)
                write(name, where, *('-' if f is None else '%.1f%s' % (f[i], '!' if w else '') for f, w in zip(figures, is_worse)))
    for name in ('fields.yuv', 'out.yuv'):
        if os.path.exists(out + '/' + name):
            os.remove(out + '/' + name)
    print('%d figures are more than %.1f dB below those of bwdif' % (worse, -LEAST))
    return int(worse > 0)


if __name__ == '__main__':
    sys.exit(main())
