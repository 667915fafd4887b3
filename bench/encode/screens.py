#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws recordings of a screen as raw YUV 4:2:0: what changes is small, or moves by whole rows.

usage: screens.py SCENE WIDTH HEIGHT FRAMES > FILE
SCENE is insert (a video in a corner of a page), scrolling (a page that scrolls now and then) or
typing (text that grows by a letter every few frames). The same on every machine.
"""

import sys

import numpy as np

GLYPH = (16, 8)  # height and width of a letter's cell
MARGIN = 16


def glyphs(random, number=64):
    """Letters: random strokes, dark on light."""
    cells = np.full((number, *GLYPH), 235, np.uint8)
    for cell in cells:
        for _ in range(3):
            if random.integers(2):
                y = random.integers(3, 13)
                cell[y, 1:6] = 40
            else:
                x = random.integers(1, 6)
                cell[3:13, x] = 40
    return cells


def page(random, letters, rows, columns):
    """Rows of words, each a number of letters and a gap."""
    text = np.full((rows * GLYPH[0], columns * GLYPH[1]), 235, np.uint8)
    for row in range(rows):
        column = 0
        end = random.integers(columns // 2, columns)
        while column < end:
            for _ in range(random.integers(2, 9)):
                if column < end:
                    put(text, letters[random.integers(len(letters))], row, column)
                    column += 1
            column += 1
    return text


def put(text, letter, row, column):
    text[row * GLYPH[0]:(row + 1) * GLYPH[0], column * GLYPH[1]:(column + 1) * GLYPH[1]] = letter


def desktop(width, height):
    """A gradient with a bar at the top, and its chroma."""
    y = np.tile(np.linspace(60, 160, width).astype(np.uint8), (height, 1))
    y[:24] = 50
    u = np.tile(np.linspace(150, 110, width // 2).astype(np.uint8), (height // 2, 1))
    v = np.tile(np.linspace(110, 140, height // 2).astype(np.uint8)[:, None], (1, width // 2))
    return y, u, v


def window(planes, text):
    """Puts text, without colour, into the middle."""
    y, u, v = planes
    h, w = min(text.shape[0], y.shape[0] - 64) & ~1, text.shape[1]
    top, left = 40, (y.shape[1] - w) // 2 & ~1
    y[top:top + h, left:left + w] = text[:h]
    u[top // 2:(top + h) // 2, left // 2:(left + w) // 2] = 128
    v[top // 2:(top + h) // 2, left // 2:(left + w) // 2] = 128


def video(planes, n, size=(180, 240)):
    """Waves that move, with grain, in the lower right corner."""
    y, u, v = planes
    h, w = size
    ys, xs = np.mgrid[0:h, 0:w]
    picture = 128 + 50 * np.sin((xs + 3 * n) / 17) + 40 * np.sin((ys - 2 * n + xs / 2) / 11)
    picture += np.random.default_rng(n).normal(0, 3, size)
    y[-h - 16:-16, -w - 16:-16] = picture.clip(16, 235).astype(np.uint8)
    u[-h // 2 - 8:-8, -w // 2 - 8:-8] = (128 + 30 * np.sin((xs[::2, ::2] - n) / 23)).astype(np.uint8)
    v[-h // 2 - 8:-8, -w // 2 - 8:-8] = (128 + 30 * np.sin((ys[::2, ::2] + n) / 19)).astype(np.uint8)


def main():
    scene, (width, height, frames) = sys.argv[1], map(int, sys.argv[2:5])
    random = np.random.default_rng(1)
    letters = glyphs(random)
    rows, columns = (height - 64) // GLYPH[0], (width - 2 * MARGIN) * 3 // 4 // GLYPH[1]
    long_page = page(random, letters, rows + 3 * frames, columns)
    typed = np.full((rows * GLYPH[0], columns * GLYPH[1]), 235, np.uint8)
    scrolled = 0
    for n in range(frames):
        planes = desktop(width, height)
        if scene == "insert":
            window(planes, long_page)
            video(planes, n)
        elif scene == "scrolling":
            scrolled += 24 if n % 30 < 12 else 0
            window(planes, long_page[scrolled:])
        elif scene == "typing":
            if n % 3 == 0 and n // 3 % 7:
                put(typed, letters[random.integers(len(letters))], *divmod(n // 3, columns))
            shown = typed.copy()
            if n % 24 < 12:  # the cursor
                row, column = divmod(n // 3 + 1, columns)
                shown[row * 16:row * 16 + 16, column * 8:column * 8 + 2] = 16
            window(planes, shown)
        else:
            sys.exit(__doc__)
        for plane in planes:
            sys.stdout.buffer.write(plane.tobytes())


if __name__ == "__main__":
    main()
