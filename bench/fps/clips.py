#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws clips whose intermediate frames are known, as raw YUV 4:2:0 of 640x360 without colour.

usage: clips.py NAME FRAMES > FILE
       clips.py            lists the names

The scenes are those of bench/quality/scenes.py, with the motion of a pair of pictures from each
frame to the second one after it: where every second frame is left out, it is the same again. One
more has writing that stands still over a picture that moves.
"""

import multiprocessing
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "quality"))

import scenes  # noqa: E402

STEP = 0.5  # how far the scene's motion advances from frame to frame


def part_of(motion, t):
    """A motion for a time t: done for 1 / t times it is the whole one."""
    linear, offset = motion[:, :2], motion[:, 2]
    scale = np.sqrt(np.linalg.det(linear))
    angle = np.arctan2(linear[1, 0], linear[0, 0])
    if abs(scale - 1) < 1e-9 and abs(angle) < 1e-9:
        return scenes.shift(*(t * offset))
    fixed = np.linalg.solve(np.eye(2) - linear, offset)
    return scenes.turn(np.degrees(t * angle), scale**t, fixed)


def at(scene, t):
    """The scene at a time, as one whose second picture that is."""
    layers = [scenes.Layer(layer.texture, part_of(layer.motion, t), layer.shape)
              for layer in scene.layers]
    return scenes.Scene(*layers, sigma=scene.sigma, gain=scene.gain**t, offset=scene.offset * t,
                        gradient=scene.gradient * t)


class Writing:
    """Letters of a few strokes, in two rows at the bottom, and a mark in a corner."""

    def __init__(self, random):
        self.x, self.y, self.reach = scenes.WIDTH / 2, scenes.HEIGHT / 2, scenes.WIDTH
        self.bars = [scenes.Bar(570, 40, 60, 26, 0), scenes.Bar(570, 40, 26, 60, 0)]
        for row in range(2):
            for column in range(22):
                x, y = 110 + 20 * column, 300 + 26 * row
                for _ in range(3):
                    angle = 90 * int(random.uniform(0, 2)) + random.uniform(-20, 20)
                    self.bars.append(scenes.Bar(x + random.uniform(-4, 4), y + random.uniform(-4, 4),
                                                random.uniform(10, 18), 3, angle))

        self.inside = None

    def covers(self, x, y):
        if self.inside is None:  # it stands still: all pictures ask for the same places
            self.inside = np.zeros(np.shape(x), bool)
            for bar in self.bars:
                self.inside |= bar.covers(x, y)
        return self.inside


def writing(random):
    white = scenes.Texture(np.full((2, 2), 230.0))
    back = scenes.natural(random)
    return scenes.Scene(scenes.Layer(back, scenes.shift(9.5, -2.25)),
                        scenes.Layer(back.elsewhere(random), scenes.shift(-6.25, 3.5),
                                     scenes.Blob(random, 330, 240, 80)),
                        scenes.Layer(white, scenes.STILL, Writing(random)))


def of_pair(name):
    """A scene of scenes.py."""
    group, number = name.rsplit("_", 1)
    return lambda random: scenes.GROUPS[group](random, int(number) - 1)


CLIPS = {name.replace("_", "-"): of_pair(name) for name in (
    "translate_2", "rotate_3", "zoom_3", "layers_2", "flat_2", "repeat_3", "noise_2", "fade_2",
    "small_3")}
CLIPS["writing"] = writing


drawn = {}  # the name and scene of the clip that each process draws


def begin(name, scene):
    drawn.update(name=name, scene=scene)


def draw(n):
    now = at(drawn["scene"], n * STEP)
    random = scenes.Random(f"{drawn['name']} {n}")
    return scenes.finish(now, scenes.camera(scenes.fine_picture(now, True)), random, True).tobytes()


def main():
    if len(sys.argv) == 1:
        print(*CLIPS)
        return
    name, frames = sys.argv[1], int(sys.argv[2])
    scene = CLIPS[name](scenes.Random(name))
    with multiprocessing.Pool(initializer=begin, initargs=(name, scene)) as pool:
        for picture in pool.imap(draw, range(frames)):
            sys.stdout.buffer.write(picture + bytes([128]) * (len(picture) // 2))


if __name__ == "__main__":
    main()
