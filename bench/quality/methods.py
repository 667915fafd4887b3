# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is compared: gpume's searches, peers, and the best vectors that blocks can have.

A method has a name, and
    vectors(pair, block)    (rows, columns, 2), in samples, from the first picture to the second; rows and columns are
                            those of the blocks, partial ones included
    rate(speed, block)      frames/s on one thread on the pictures of a Speed, or None
Either raises Failed if it cannot be.
"""

import os
import sys
import tempfile
import threading
import time
import warnings

import numpy as np

try:
    import cv2
    cv2.setNumThreads(1)
except ImportError:
    cv2 = None

try:
    import vapoursynth
except ImportError:
    vapoursynth = None

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import Failed  # noqa: E402

# blocks without any number
warnings.filterwarnings("ignore", "Mean of empty slice|All-NaN slice")


class Speed:
    """Pictures to measure rates with: a file of raw frames, also as (frames, height, width)."""

    def __init__(self, path, size):
        self.path, self.frames = path, np.fromfile(path, np.uint8).reshape(-1, *map(int, reversed(size.split("x"))))


def by_blocks(values, block):
    """(height, width, ...) as (rows, columns, samples, ...), padded with what is not a number."""
    height, width = values.shape[:2]
    rows, cols = -(-height // block), -(-width // block)
    padded = np.full((rows * block, cols * block) + values.shape[2:], np.nan, np.float32)
    padded[:height, :width] = values
    split = padded.reshape((rows, block, cols, block) + values.shape[2:]).swapaxes(1, 2)
    return split.reshape((rows, cols, block * block) + values.shape[2:])


def block_means(dense, block):
    """The mean of a dense field (height, width, ...) in each block, without what is not a number."""
    return np.nanmean(by_blocks(dense, block), 2)


class Best:
    """The ground truth's median in each block, by component, rounded to quarter samples."""

    name = "best quarter"

    def vectors(self, pair, block):
        flow = np.where(pair.known[..., None], pair.flow, np.nan)
        median = np.nan_to_num(np.nanmedian(by_blocks(flow, block), 2))
        return np.floor(median * 4 + 0.5) / 4

    def rate(self, speed, block):
        return None


class Dis:
    """OpenCV's dense inverse search (Kroeger et al., ECCV 2016), averaged over blocks."""

    name = "DIS medium"

    @staticmethod
    def flow(first, second):
        # threads cannot share the object
        return cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(first, second, None)

    def vectors(self, pair, block):
        return block_means(pair.kept(self.name, lambda: self.flow(*pair.frames)), block)

    def rate(self, speed, block):
        times = []
        for _ in range(4):
            start = time.perf_counter()
            self.flow(*speed.frames[:2])
            times.append(time.perf_counter() - start)
        return 1 / sorted(times[1:])[1]     # the first run warms up


class MVTools:
    """MVTools' search with its defaults (truemotion=1), or without what holds vectors together."""

    lock = threading.Lock()  # one search at a time, on one thread

    def __init__(self, truemotion):
        self.truemotion = truemotion
        self.name = "MVTools" if truemotion else "MVTools, no truemotion"

    def vectors(self, pair, block):
        from plugins import clip_of
        core = vapoursynth.core
        core.num_threads = 1
        # it leaves blocks out that the edge cuts
        bottom, right = (-side % block for side in pair.size)
        frames = np.pad(pair.frames, ((0, 0), (0, bottom), (0, right)), "edge")
        count, height, width = frames.shape
        with self.lock:
            clip = clip_of(frames.reshape(count, -1), width, height, vapoursynth.GRAY8)
            # isb: to the following frame
            node = core.mv.Analyse(core.mv.Super(clip, pel=4), blksize=block, isb=1, delta=1, overlap=0,
                                   truemotion=self.truemotion)
            return self.parse(node.get_frame(0).props["MVTools_vectors"], (height // block, width // block))

    @staticmethod
    def parse(data, shape):
        """The finest level, which comes last: its size in bytes, then x, y (32 bits, quarter samples) and cost (64 bits)."""
        words = np.frombuffer(data, np.int32)
        count = shape[0] * shape[1]
        if len(words) <= 4 * count or words[-4 * count - 1] != 4 + 16 * count:
            raise Failed("this version writes vectors in a layout that is not known here")
        return words[-4 * count:].reshape(*shape, 4)[..., :2] / 4

    def rate(self, speed, block):
        return None


class Gpume:
    """A search of the filter: the value of algo, then other options."""

    def __init__(self, options, ffmpeg, distance):
        self.name, self.ffmpeg, self.distance = options, ffmpeg, distance
        algo, _, others = options.partition(":")
        self.options = dict(o.partition("=")[::2] for o in others.split(":") if o)
        self.options["algo"] = algo
        self.pel = int(self.options.get("pel", 4 if algo == "hme" else 1))

    def filter(self, block, distance, **more):
        options = {"range": distance, "backend": "cpu", **self.options, "block": block, "dir": "future", **more}
        if self.options["algo"] == "hme" and "range" not in self.options:
            del options["range"]  # it finds a good one itself
        return "gpume=" + ":".join(f"{k}={v}" for k, v in options.items())

    def vectors(self, pair, block):
        with tempfile.TemporaryDirectory() as folder:
            # no character in the name means something to the filter graph's parser
            npy = os.path.join(folder, "vectors.npy")
            bench.filtered(self.ffmpeg, bench.raw_input(pair.size[::-1], pix_fmt="gray"),
                           self.filter(block, pair.range or self.distance, mv_file=npy), data=pair.frames.tobytes(), threads=1)
            found = np.load(npy)[0, 0]
        if (found[..., 2] < 0).any():
            raise Failed("frames without vectors")
        return found[..., :2] / self.pel

    def seconds(self, speed, frames, text):
        """What this many frames take, from the first to the last."""
        count, height, width = speed.frames.shape
        said = bench.run(self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-filter_threads", "1", "-stream_loop",
                         str(frames // count), *bench.raw_input((width, height), speed.path, "gray"), "-vf", text,
                         "-frames:v", str(frames), "-f", "null", "-")[1]
        return bench.bench_times(said)[2]

    def rate(self, speed, block):
        """Without the time for reading the pictures; that of kernels is measured by gpume_bench."""
        if self.options.get("backend") == "cuda":
            return None
        text, count = self.filter(block, self.distance), len(speed.frames)
        frames = count * max(1, int(1 / (self.seconds(speed, count, text) + 1e-3)))
        times = sorted(self.seconds(speed, frames, text) for _ in range(3))
        return frames / max(times[1] - self.seconds(speed, frames, "null"), 1e-4)


class Nvofa:
    """NVIDIA's optical-flow hardware by gpume_bench, a vector for each 4x4; larger blocks have their mean."""

    GRID = 4
    LEVELS = ("slow", "medium", "fast")
    lock = threading.Lock()  # one program on the device at a time

    def __init__(self, level, program):
        self.name, self.level, self.program = f"NVOFA {level}", level, program

    def measure(self, pair):
        """The vectors of all levels."""
        height, width = pair.size
        with tempfile.TemporaryDirectory() as folder:
            raw = os.path.join(folder, "pictures")
            # it leads from a picture to the one before
            pair.frames[::-1].tofile(raw)
            out, said = bench.run(self.program, "-p", "flow", "-", f"{width}x{height}={raw}")
            if b"skipped" in out:
                raise Failed(bench.first_complaint(said + out.decode()))
            shape = -1, -(-height // self.GRID), -(-width // self.GRID), 2
            # the program repeats its pictures
            return {level: np.fromfile(f"{raw}.{level}", "<i2").reshape(shape)[0] / 32 for level in self.LEVELS}

    def vectors(self, pair, block):
        with self.lock:
            flow = pair.kept("NVOFA", lambda: self.measure(pair))[self.level]
        return block_means(flow, block // self.GRID)

    def rate(self, speed, block):
        return None


def all_methods(options):
    """The methods that can be on this machine."""
    chosen = [Gpume(text, options.ffmpeg, options.range) for text in options.methods.split()]
    for title, peers in (("DIS", [Dis()] if cv2 else []),
                         ("MVTools", [MVTools(1), MVTools(0)] if vapoursynth and hasattr(vapoursynth.core, "mv") else [])):
        if not peers:
            print(f"left out: {title}, not installed for this Python")
        chosen += peers
    return chosen + [Nvofa(level, options.nvofa) for level in Nvofa.LEVELS if options.nvofa] + [Best()]
