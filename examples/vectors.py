#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns a clip into a NumPy array of motion vectors, and plots one frame with its vectors.

The array has the shape (frames, rows, blocks, 2): for each frame and block the displacement to its
match in the previous frame, horizontal and vertical, in samples; NaN where a frame has no vectors.

usage: vectors.py CLIP [OPTIONS]; vectors.py -h lists them. As a module: read(), plot().
Needs NumPy, and for a plot matplotlib.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

FFMPEG = os.environ.get('FFMPEG', 'ffmpeg')
if os.path.dirname(FFMPEG):
    FFMPEG = os.path.abspath(FFMPEG)    # it is run in another folder


def read(clip, block=16, options='algo=hme', pel=4):
    """Returns the vectors of a clip. block is the side of a block, in samples."""
    with tempfile.TemporaryDirectory() as folder:
        # written from inside the folder: some characters of a path have a meaning in a filter's options
        subprocess.run([FFMPEG, '-v', 'error', '-nostdin', '-i', os.path.abspath(clip), '-vf',
                        f'gpume={options}:block={block}:pel={pel}:mv_file=vectors.npy', '-f', 'null', '-'],
                       cwd=folder, check=True)
        array = np.load(os.path.join(folder, 'vectors.npy'))
    vectors = array[:, 0, :, :, :2].astype(np.float32) / pel
    vectors[array[:, 0, :, :, 2] < 0] = np.nan
    return vectors


def picture(clip, number):
    """Returns frame number, from 0, as an array of shape (height, width, 3)."""
    ppm = subprocess.run([FFMPEG, '-v', 'error', '-nostdin', '-i', os.path.abspath(clip), '-vf',
                          f'trim=start_frame={number}:end_frame={number + 1}', '-f', 'rawvideo', '-c:v', 'ppm',
                          '-pix_fmt', 'rgb24', '-'], stdout=subprocess.PIPE, check=True).stdout
    if not ppm:
        raise ValueError(f'{clip} has no frame {number}')
    _, width, height, _ = ppm.split(None, 3)[:4]
    width, height = int(width), int(height)
    return np.frombuffer(ppm[-3 * width * height:], np.uint8).reshape(height, width, 3)


def plot(clip, vectors, number, name, block=16):
    """Draws frame number with arrows from where its blocks were to where they are."""
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    image = picture(clip, number)
    field = vectors[number]
    height, width = image.shape[:2]
    rows, cols = field.shape[:2]
    # centres of blocks; those at the edge may be smaller
    x = (np.arange(cols) * block + np.minimum((np.arange(cols) + 1) * block, width)) / 2
    y = (np.arange(rows) * block + np.minimum((np.arange(rows) + 1) * block, height)) / 2
    figure = plt.figure(figsize=(width / 100, height / 100), dpi=100)
    axes = figure.add_axes([0, 0, 1, 1])
    axes.imshow(image)
    axes.quiver(x[None, :] + field[..., 0], y[:, None] + field[..., 1], -field[..., 0], -field[..., 1],
                np.hypot(field[..., 0], field[..., 1]), angles='xy', scale_units='xy', scale=1, cmap='autumn',
                width=1.5 / width, headwidth=5)
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    axes.axis('off')
    figure.savefig(name)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description='Turns a clip into a NumPy array of motion vectors, and plots one frame.')
    parser.add_argument('clip')
    parser.add_argument('--block', type=int, default=16, help='side of a block, in samples (default %(default)s)')
    parser.add_argument('--options', default='algo=hme', help='other options of gpume (default %(default)s)')
    parser.add_argument('--output', metavar='FILE.npy', help='write the array to this file')
    parser.add_argument('--plot', metavar='FILE.png', help='draw a frame with its vectors')
    parser.add_argument('--frame', type=int, default=1, help='number of that frame, from 0 (default %(default)s)')
    arguments = parser.parse_args()
    try:
        open(arguments.clip, 'rb').close()
        vectors = read(arguments.clip, arguments.block, arguments.options)
        if arguments.output:
            np.save(arguments.output, vectors)
        if arguments.plot:
            if not 0 <= arguments.frame < len(vectors):
                raise ValueError(f'--frame: the clip has frames 0 to {len(vectors) - 1}')
            plot(arguments.clip, vectors, arguments.frame, arguments.plot, arguments.block)
    except (OSError, ValueError, subprocess.CalledProcessError, ImportError) as error:
        sys.exit(f'vectors.py: {error}')
    length = np.hypot(vectors[..., 0], vectors[..., 1])
    print(f'{vectors.shape[0]} frames of {vectors.shape[1]} x {vectors.shape[2]} blocks, '
          f'mean length of a vector {np.nanmean(length):.2f} samples')


if __name__ == '__main__':
    main()
