#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws pairs of pictures whose flow is known exactly.

usage: scenes.py DIR [NAME...]

Writes DIR/NAME/frame01.pgm, frame02.pgm (8-bit gray), gt.flo (flow from the first picture to the
second) and range (the search distance that the motion needs). The name's part before the last underscore is its group. Random numbers come from
integers, so that the scenes do not depend on NumPy's version.
"""

import functools
import multiprocessing
import os
import sys

import numpy as np

import pairs

WIDTH, HEIGHT = 640, 360
SUB = 4  # points per sample and axis, averaged as a camera does
TEXTURE_WIDTH, TEXTURE_HEIGHT = 1024, 768  # in samples; repeats outside, beyond every motion here
TEXELS = 2  # per sample and axis


class Random:
    """Random numbers from a name: SplitMix64 with the counter as its state."""

    def __init__(self, name):
        self.state = 0xCBF29CE484222325  # FNV-1a
        for byte in name.encode():
            self.state = ((self.state ^ byte) * 0x100000001B3) % 2**64
        self.count = 0

    def integers(self, shape):
        """Integers of 64 bits."""
        n = int(np.prod(shape))
        z = np.arange(self.count + 1, self.count + n + 1, dtype=np.uint64)
        self.count += n
        z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(self.state)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))).reshape(shape)

    def uniform(self, low=0.0, high=1.0, shape=()):
        """Numbers in [low, high)."""
        return low + (high - low) * ((self.integers(shape) >> np.uint64(11)) * 2.0**-53)

    def normal(self, shape):
        """Nearly normal numbers of variance 1: the sum of twelve."""
        total = np.zeros(shape)
        for _ in range(12):
            total += self.uniform(0, 1, shape)
        return total - 6


# Textures are drawn as arrays of (TEXTURE_HEIGHT, TEXTURE_WIDTH) * TEXELS, and repeat on all sides.

class Texture:
    """Gray levels, and the place of theirs that is at (0, 0) of the first picture."""

    def __init__(self, levels, x=0.0, y=0.0):
        self.levels = np.asarray(levels, np.float32)
        self.x, self.y = x, y

    def elsewhere(self, random):
        """Another part of it: drawing a new one takes long."""
        return Texture(self.levels, random.uniform(0, TEXTURE_WIDTH), random.uniform(0, TEXTURE_HEIGHT))

    def at(self, x, y):
        """The levels at these places, in samples, by bilinear interpolation."""
        rows, cols = self.levels.shape
        x, y = (x + self.x) * TEXELS, (y + self.y) * TEXELS
        x0, y0 = np.floor(x).astype(np.int32), np.floor(y).astype(np.int32)
        fx, fy = (x - x0).astype(np.float32), (y - y0).astype(np.float32)
        x0, y0 = x0 % cols, y0 % rows
        x1, y1 = (x0 + 1) % cols, (y0 + 1) % rows
        above = self.levels[y0, x0] * (1 - fx) + self.levels[y0, x1] * fx
        below = self.levels[y1, x0] * (1 - fx) + self.levels[y1, x1] * fx
        return above * (1 - fy) + below * fy


def octave(random, period):
    """Smooth noise in -1 to 1 whose lattice has this period, in samples."""
    rows, cols = TEXTURE_HEIGHT // period, TEXTURE_WIDTH // period
    lattice = random.uniform(-1, 1, (rows, cols))

    def along(values, n):
        """Interpolates the first axis to n values, by cubic B-splines: no corners."""
        x = np.arange(n) * (len(values) / n)
        i = np.floor(x).astype(int)
        t = (x - i)[:, None]
        weights = ((1 - t)**3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3)
        return sum(w * values[(i + k - 1) % len(values)] for k, w in enumerate(weights)) / 6

    return along(along(lattice, TEXTURE_HEIGHT * TEXELS).T, TEXTURE_WIDTH * TEXELS).T


def noise(random, longest=128, shortest=2, slope=0.8):
    """Octaves of noise; an octave of half the period has 2**-slope of the amplitude."""
    total, period = 0, longest
    while period >= shortest:
        total = total + octave(random, period) * (period / longest)**slope
        period //= 2
    return total / np.abs(total).max()


def window(x, y, reach):
    """Rows, columns and coordinates (in samples, around x and y) of a square of the texture."""
    side = np.arange(-int(reach * TEXELS), int(reach * TEXELS) + 1)
    rows, cols = side + int(y * TEXELS), side + int(x * TEXELS)
    at = np.ix_(rows % (TEXTURE_HEIGHT * TEXELS), cols % (TEXTURE_WIDTH * TEXELS))
    yy, xx = np.meshgrid(rows / TEXELS - y, cols / TEXELS - x, indexing="ij")
    return at, xx, yy


def polygons(random, texture, count, smallest=8, largest=70, contrast=90):
    """Adds convex polygons, each with a level and a gradient of its own."""
    for _ in range(count):
        size = smallest * (largest / smallest)**random.uniform()
        x, y = random.uniform(0, TEXTURE_WIDTH), random.uniform(0, TEXTURE_HEIGHT)
        at, xx, yy = window(x, y, size)
        inside = np.ones(xx.shape, bool)
        sides = 3 + int(random.uniform(0, 4))
        first = random.uniform(0, 2 * np.pi)
        for k in range(sides):
            angle = first + 2 * np.pi * (k + 0.6 * random.uniform()) / sides
            inside &= xx * np.cos(angle) + yy * np.sin(angle) < size * random.uniform(0.25, 0.7)
        level = random.uniform(-contrast, contrast)
        slope = random.uniform(-0.3, 0.3, (2,)) * contrast / size
        values = texture[at]
        texture[at] = np.where(inside, 0.5 * values + 64 + level + slope[0] * xx + slope[1] * yy,
                               values)


def strokes(random, texture, count, size=10, contrast=110):
    """Adds groups of thin strokes that look like writing."""
    for _ in range(count):
        x, y = random.uniform(0, TEXTURE_WIDTH), random.uniform(0, TEXTURE_HEIGHT)
        level = random.uniform(-contrast, contrast)
        for letter in range(3 + int(random.uniform(0, 8))):
            at, xx, yy = window(x + 0.8 * size * letter, y, size)
            ends = random.uniform(-0.45 * size, 0.45 * size, (4, 2))
            values = texture[at]
            for (ax, ay), (bx, by) in zip(ends[:-1], ends[1:]):
                dx, dy = bx - ax, by - ay
                t = ((xx - ax) * dx + (yy - ay) * dy) / max(dx * dx + dy * dy, 1e-6)
                t = np.clip(t, 0, 1)
                near = (xx - ax - t * dx)**2 + (yy - ay - t * dy)**2 < (0.11 * size)**2
                values = np.where(near, np.clip(128 + level, 10, 245), values)
            texture[at] = values


def natural(random):
    """Noise, polygons and writing: like a picture of real things."""
    levels = 128 + 70 * noise(random, shortest=16)
    polygons(random, levels, 250)
    strokes(random, levels, 60)
    # fine texture, here more, there hardly any
    grain = np.clip(16 + 40 * noise(random, 128, 64), 1, None)
    return Texture(np.clip(levels + grain * noise(random, 16, 2, 0.5), 0, 255))


def patchy(random):
    """Mostly flat, with some islands of texture."""
    busy = natural(random).levels
    island = np.clip(6 * noise(random, 256, 64) - 1, 0, 1)
    return Texture(150 + 6 * noise(random, 256, 128) + island * (busy - 150))


def flat(random, contrast=6.0):
    """Hardly any texture: a slow change of brightness."""
    return Texture(128 + random.uniform(-40, 40) + contrast * noise(random, 256, 128))


def repeating(random, period, grid, flaws=0):
    """Stripes, or a grid, of this period in samples; flaws: number of polygons on it."""
    y, x = np.mgrid[:TEXTURE_HEIGHT * TEXELS, :TEXTURE_WIDTH * TEXELS] / TEXELS
    # rounded, so that the texture's end meets its beginning
    def wave(t, size):
        phase = 2 * np.pi * t * round(size / period) / size
        return np.tanh(3 * np.sin(phase + 1))
    levels = 128 + 55 * wave(x, TEXTURE_WIDTH) + (40 * wave(y, TEXTURE_HEIGHT) if grid else 0)
    polygons(random, levels, flaws, 6, 20)
    return Texture(np.clip(levels, 0, 255))


# Motions: matrices of 2x3 that lead from a place in the first picture to that in the second.

def shift(dx, dy):
    """A translation, in samples."""
    return np.array([[1, 0, dx], [0, 1, dy]], float)


def turn(degrees, scale=1.0, centre=(WIDTH / 2, HEIGHT / 2), dx=0.0, dy=0.0):
    """A rotation and a zoom around a place, then a translation."""
    angle = np.radians(degrees)
    linear = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = np.array(centre)
    return np.column_stack([linear, centre - linear @ centre + (dx, dy)])


def moved(motion, x, y):
    """Where these places go."""
    return (motion[0, 0] * x + motion[0, 1] * y + motion[0, 2],
            motion[1, 0] * x + motion[1, 1] * y + motion[1, 2])


def inverse(motion):
    """The motion back."""
    linear = np.linalg.inv(motion[:, :2])
    return np.column_stack([linear, -linear @ motion[:, 2]])


# Shapes: in the first picture, around (x, y), no further than reach; covers() is exact.

class Blob:
    """An irregular round shape."""

    def __init__(self, random, x, y, radius, waves=4, roughness=0.35):
        self.x, self.y = x, y
        self.amplitudes = random.uniform(-1, 1, (waves,)) * roughness / np.arange(1, waves + 1)**0.5
        self.phases = random.uniform(0, 2 * np.pi, (waves,))
        self.radius = radius
        self.reach = radius * (1 + np.abs(self.amplitudes).sum())

    def covers(self, x, y):
        x, y = x - self.x, y - self.y
        angle = np.arctan2(y, x)
        border = 1 + sum(a * np.cos((k + 2) * angle + p)
                         for k, (a, p) in enumerate(zip(self.amplitudes, self.phases)))
        return x * x + y * y < (self.radius * np.maximum(border, 0.2))**2


class Bar:
    """A rectangle at an angle; count of them in a row make a fence."""

    def __init__(self, x, y, length, thickness, degrees, count=1, distance=0.0):
        self.x, self.y = x, y
        self.length, self.thickness = length, thickness
        self.angle = np.radians(degrees)
        self.count, self.distance = count, distance
        self.reach = length + thickness + count * distance

    def covers(self, x, y):
        x, y = x - self.x, y - self.y
        along = x * np.cos(self.angle) + y * np.sin(self.angle)
        across = y * np.cos(self.angle) - x * np.sin(self.angle)
        inside = np.zeros(np.shape(x), bool)
        for i in range(self.count):
            middle = (i - (self.count - 1) / 2) * self.distance
            inside |= np.abs(across - middle) < self.thickness / 2
        return inside & (np.abs(along) < self.length / 2)


class Layer:
    """A texture that moves. shape: what it covers in the first picture; None: everything."""

    def __init__(self, texture, motion, shape=None):
        self.texture, self.motion, self.shape = texture, motion, shape

    def covers(self, x, y, motion):
        """Whether it covers these places after this motion."""
        if self.shape is None:
            return np.ones(np.shape(x), bool)
        return self.shape.covers(*moved(inverse(motion), x, y))

    def part(self, motion, xs, ys):
        """Slices of rows ys and columns xs, increasing, beyond which it covers nothing."""
        if self.shape is None:
            return slice(None), slice(None)
        x, y = moved(motion, self.shape.x, self.shape.y)
        reach = self.shape.reach * np.abs(np.linalg.eigvals(motion[:, :2])).max()
        columns = slice(*np.searchsorted(xs, [x - reach, x + reach]))
        return slice(*np.searchsorted(ys, [y - reach, y + reach])), columns


class Scene:
    """Layers, from back to front, and what happens to the second picture's brightness."""

    def __init__(self, *layers, sigma=0.0, gain=1.0, offset=0.0, gradient=0.0):
        self.layers = layers
        self.sigma = sigma  # sigma of the noise in both pictures
        self.gain, self.offset, self.gradient = gain, offset, gradient


STILL = shift(0, 0)


def fine_picture(scene, second):
    """The picture at SUB points per sample, from -1 to WIDTH and -1 to HEIGHT."""
    xs = (np.arange((WIDTH + 1) * SUB) + 0.5) / SUB - 1
    ys = (np.arange((HEIGHT + 1) * SUB) + 0.5) / SUB - 1
    out = np.zeros((len(ys), len(xs)), np.float32)
    for layer in scene.layers:
        motion = layer.motion if second else STILL
        rows, columns = layer.part(motion, xs, ys)
        x, y = np.meshgrid(xs[columns], ys[rows])
        levels = layer.texture.at(*moved(inverse(motion), x, y))
        out[rows, columns] = np.where(layer.covers(x, y, motion), levels, out[rows, columns])
    return out


def camera(fine):
    """The mean around each sample, weighted by a triangle two samples wide."""
    weights = SUB - np.abs(np.arange(2 * SUB) + 0.5 - SUB)
    weights = (weights / weights.sum()).astype(np.float32)

    def along(values, n):
        return sum(w * values[k:k + n * SUB:SUB] for k, w in enumerate(weights))

    return along(along(fine, HEIGHT).T, WIDTH).T


def finish(scene, picture, random, second):
    """Brightness, noise and rounding: (HEIGHT, WIDTH), uint8."""
    if second:
        ramp = scene.gradient * (np.arange(WIDTH) / WIDTH - 0.5)
        picture = picture * scene.gain + scene.offset + ramp
    if scene.sigma:
        picture = picture + scene.sigma * random.normal(picture.shape)
    return np.clip(np.floor(picture + 0.5), 0, 255).astype(np.uint8)


def true_flow(scene):
    """The flow (HEIGHT, WIDTH, 2) from the first picture to the second."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    flow = np.zeros((HEIGHT, WIDTH, 2))
    for layer in scene.layers:
        to = np.stack(moved(layer.motion, x, y), -1)
        flow = np.where(layer.covers(x, y, STILL)[..., None], to - np.stack([x, y], -1), flow)
    return flow.astype(np.float32)


# Groups: functions of a random generator and the variant's number that return a scene.

def translate(random, i):
    dx, dy = [(2.25, -1.5), (-7.37, 3.81), (13.5, 9.12), (-24.68, -15.25)][i]
    back = natural(random)
    return Scene(Layer(back, shift(dx, dy)),
                 Layer(back.elsewhere(random), shift(dx + 3.4, dy - 2.3), Blob(random, 330, 170, 95)))


def rotate(random, i):
    degrees = [1.5, -3.0, 5.0, -8.0][i]
    return Scene(Layer(natural(random), turn(degrees, dx=1.3 * i, dy=-0.7 * i)))


def zoom(random, i):
    scale = [1.02, 0.96, 1.07, 0.9][i]
    return Scene(Layer(natural(random), turn(0, scale, (280, 200))))


def layers(random, i):
    speed = 3 + 3 * i
    back, other = natural(random), natural(random)
    scene = [Layer(back, shift(*random.uniform(-speed, speed, (2,))))]
    for k in range(4):
        x, y = random.uniform(60, WIDTH - 60), random.uniform(50, HEIGHT - 50)
        motion = turn(random.uniform(-2, 2), random.uniform(0.98, 1.02), (x, y),
                      *random.uniform(-2 * speed, 2 * speed, (2,)))
        texture = (other if k % 2 else back).elsewhere(random)
        scene.append(Layer(texture, motion, Blob(random, x, y, random.uniform(35, 90))))
    fence = Bar(WIDTH / 2, HEIGHT / 2, 700, 14, 70 + 15 * i, 6, 95)
    scene.append(Layer(other.elsewhere(random), shift(speed * 0.9, -1.25), fence))
    return Scene(*scene)


def flat_regions(random, i):
    busy = natural(random)
    scene = [Layer(patchy(random), shift(*random.uniform(-4, 4, (2,))))]
    speed = 4 + 3 * i
    for k in range(7):
        x, y = random.uniform(40, WIDTH - 40), random.uniform(40, HEIGHT - 40)
        motion = turn(random.uniform(-1, 1), 1, (x, y), *random.uniform(-speed, speed, (2,)))
        texture = flat(random) if k % 3 == 1 else busy.elsewhere(random)
        scene.append(Layer(texture, motion, Blob(random, x, y, random.uniform(15, 70))))
    return Scene(*scene, sigma=1.0)


def repeat(random, i):
    period = [9, 14, 20, 26][i]
    far = [0.35, 0.4, 0.6, 0.85][i]  # beyond half a period only its surroundings tell
    motion = shift(far * period, 0.3 * period)
    pattern = repeating(random, period, i % 2 == 1, 60 if i < 2 else 20)
    if i < 2:
        return Scene(Layer(pattern, motion), sigma=1.0)
    return Scene(Layer(natural(random), shift(-2.5, 1.25)),
                 Layer(pattern, motion, Blob(random, 330, 180, 120)), sigma=1.0)


def noisy(random, i):
    scene = layers(random, i % 2)
    scene.sigma = [2, 4, 6, 8][i]
    return scene


def fade(random, i):
    scene = layers(random, i % 2)
    changes = [(0.98, 0, 0), (0.94, 0, 0), (1, 5, 0), (0.97, 2, 12)]
    scene.gain, scene.offset, scene.gradient = changes[i]
    return scene


def fast(random, i):
    dx, dy = [(70.5, -12.25), (-96.3, 30.7), (118.75, 66.5), (-150.2, -40.4)][i]
    x, y = WIDTH / 2 - dx / 2, HEIGHT / 2 - dy / 2
    back = natural(random)
    return Scene(Layer(back, shift(0.35 * dx, 0.2 * dy)),
                 Layer(back.elsewhere(random), turn(1.5 * i, 1, (x, y), dx, dy),
                       Blob(random, x, y, 110)))


def small(random, i):
    pan = [(0, 0), (0, 0), (5.5, -2.25), (-11.3, 3.6)][i]
    back = natural(random)
    scene = [Layer(back, shift(*pan))]
    for k in range(10):
        x, y = random.uniform(50, WIDTH - 50), random.uniform(50, HEIGHT - 50)
        angle, speed = random.uniform(0, 2 * np.pi), random.uniform(10, 28)
        motion = shift(speed * np.cos(angle), speed * np.sin(angle))
        shape = Blob(random, x, y, [5, 7, 10, 14][k % 4])
        scene.append(Layer(back.elsewhere(random), motion, shape))
    return Scene(*scene)


def squares(random, i):
    """Textured squares that move by more than their side over a background that stands still."""
    move = [12, 24, 40, 56][i]
    back, other = natural(random), natural(random)
    scene = [Layer(back, STILL)]
    for k in range(12):
        side = [12, 16, 20, 24, 28, 32][k % 6]
        x, y = 90 + 150 * (k % 4) + random.uniform(0, 8), 80 + 95 * (k // 4) + random.uniform(0, 8)
        motion = [shift(move, 0), shift(0, move), shift(-move, 0), shift(0, -move)][int(random.uniform(0, 4))]
        scene.append(Layer(other.elsewhere(random), motion, Bar(x, y, side, side, 0)))
    return Scene(*scene)


GROUPS = {"translate": translate, "rotate": rotate, "zoom": zoom, "layers": layers,
          "flat": flat_regions, "repeat": repeat, "noise": noisy, "fade": fade, "fast": fast,
          "small": small, "squares": squares}
VARIANTS = 4


def names():
    """All scenes, in order."""
    return [f"{group}_{i + 1}" for group in GROUPS for i in range(VARIANTS)]


def draw(name):
    """Both pictures (uint8) and the flow (float32) of a scene."""
    group, number = name.rsplit("_", 1)
    random = Random(name)
    scene = GROUPS[group](random, int(number) - 1)
    both = [finish(scene, camera(fine_picture(scene, second)), random, second)
            for second in (False, True)]
    return (*both, true_flow(scene))


def search_range(flow):
    """The distance to search for this flow: a multiple of 32."""
    return max(32, int(np.ceil(np.abs(flow).max() / 32)) * 32)


def write(folder, name):
    """Draws a scene and writes its files."""
    first, second, flow = draw(name)
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    pairs.write_pgm(os.path.join(path, "frame01.pgm"), first)
    pairs.write_pgm(os.path.join(path, "frame02.pgm"), second)
    pairs.write_flo(os.path.join(path, "gt.flo"), flow)
    with open(os.path.join(path, "range"), "w", encoding="ascii") as f:
        f.write(f"{search_range(flow)}\n")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    wanted = sys.argv[2:] or names()
    for name in wanted:
        if name not in names():
            sys.exit(f"error: there is no scene {name}")
    with multiprocessing.Pool() as pool:
        pool.map(functools.partial(write, sys.argv[1]), wanted, chunksize=1)


if __name__ == "__main__":
    main()
