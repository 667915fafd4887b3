# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is compared: gpume's searches, peers, and the best that block vectors can do.

A method has a name, and
    vectors(pair, block)    (frames - 1, rows, columns, 2), in samples, from each frame to the next
                            one; rows and columns are those of the blocks, partial ones included
    rate(speed, block)      frames/s on one thread on the pictures of a Speed; None: it has none
Either raises Failed if it cannot be.
"""

import csv
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
    """Pictures to measure rates with, as a file of raw frames and as (frames, height, width)."""

    def __init__(self, path, frames):
        self.path, self.frames = path, frames
        self.reading = {}  # seconds a frame, by ffmpeg


def block_means(dense, block):
    """The mean of a dense field (height, width, 2) in each block, without what is not a number."""
    return np.nanmean(by_blocks(dense, block), 2)


def by_blocks(values, block):
    """(height, width, ...) as (rows, columns, samples, ...), padded with what is not a number."""
    height, width = values.shape[:2]
    rows, cols = -(-height // block), -(-width // block)
    padded = np.full((rows * block, cols * block) + values.shape[2:], np.nan, np.float32)
    padded[:height, :width] = values
    split = padded.reshape((rows, block, cols, block) + values.shape[2:]).swapaxes(1, 2)
    return split.reshape((rows, cols, block * block) + values.shape[2:])


def median_seconds(call, runs=3):
    """The median time of a call, after one that is not counted."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[runs // 2]


class Zero:
    """Vectors of zero."""

    name = "zero"

    def vectors(self, pair, block):
        height, width = pair.size
        return np.zeros((len(pair.frames) - 1, -(-height // block), -(-width // block), 2))

    def rate(self, speed, block):
        return None


class Best:
    """The ground truth's median in each block, by component, rounded to 1/pel samples."""

    def __init__(self, pel):
        self.pel = pel
        self.name = {1: "best whole", 2: "best half", 4: "best quarter"}[pel]

    def vectors(self, pair, block):
        if pair.flow is None:
            raise Failed("there is no ground truth")
        flow = np.where(pair.known[..., None], pair.flow, np.nan)
        median = np.nan_to_num(np.nanmedian(by_blocks(flow, block), 2))
        return (np.floor(median * self.pel + 0.5) / self.pel)[None]

    def rate(self, speed, block):
        return None


class Dense:
    """An optical flow of OpenCV, averaged over blocks."""

    def __init__(self, name, flow):
        """flow: a function of two pictures that returns (height, width, 2)."""
        self.name, self.flow = name, flow

    def vectors(self, pair, block):
        if self.name not in pair.flows:  # it does not depend on the block
            both = zip(pair.frames[:-1], pair.frames[1:])
            pair.flows[self.name] = [self.flow(first, second) for first, second in both]
        return np.stack([block_means(dense, block) for dense in pair.flows[self.name]])

    def rate(self, speed, block):
        first, second = speed.frames[:2]
        return 1 / median_seconds(lambda: self.flow(first, second))


def dis(first, second):
    """Dense inverse search (Kroeger et al., ECCV 2016). Threads cannot share the object."""
    search = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    return search.calc(first, second, None)


def farneback(first, second):
    """Polynomial expansion (Farneback, SCIA 2003), with five levels of a pyramid."""
    return cv2.calcOpticalFlowFarneback(first, second, None, 0.5, 5, 15, 3, 5, 1.1, 0)


def opencv_peers():
    """The peers of OpenCV, if it is there."""
    return [Dense("DIS medium", dis), Dense("Farneback", farneback)] if cv2 else []


class MVTools:
    """MVTools' search with its defaults (truemotion=1), or without what holds vectors together."""

    lock = threading.Lock()  # one search at a time, on one thread

    def __init__(self, truemotion):
        self.truemotion = truemotion
        self.name = "MVTools" if truemotion else "MVTools, no truemotion"

    def node(self, frames, block):
        """The clip of its results for these frames, which are whole numbers of blocks."""
        from plugins import clip_of
        core = vapoursynth.core
        core.num_threads = 1
        count, height, width = frames.shape
        clip = clip_of(frames.reshape(count, -1), width, height, vapoursynth.GRAY8)
        clip = core.std.Loop(clip, 100)     # longer than the pictures, so that rates can be measured
        # isb: to the following frame
        return core.mv.Analyse(core.mv.Super(clip, pel=4), blksize=block, isb=1, delta=1, overlap=0,
                               truemotion=self.truemotion)

    def vectors(self, pair, block):
        # it leaves blocks out that the edge cuts
        bottom, right = (-side % block for side in pair.size)
        frames = np.pad(pair.frames, ((0, 0), (0, bottom), (0, right)), "edge")
        shape = frames.shape[1] // block, frames.shape[2] // block
        with self.lock:
            node = self.node(frames, block)
            return np.stack([self.parse(node.get_frame(n).props["MVTools_vectors"], shape)
                             for n in range(len(frames) - 1)])

    @staticmethod
    def parse(data, shape):
        """The finest level, which comes last: its size in bytes, then x, y (32 bits, quarter
        samples) and cost (64 bits) of each block. Versions before 24 are otherwise."""
        words = np.frombuffer(data, np.int32)
        count = shape[0] * shape[1]
        if len(words) <= 4 * count or words[-4 * count - 1] != 4 + 16 * count:
            raise Failed("this version writes vectors in a layout that is not known here")
        return words[-4 * count:].reshape(*shape, 4)[..., :2] / 4

    def rate(self, speed, block):
        """With the time for the enlarged picture (Super), which each frame needs once."""
        node = self.node(speed.frames[:, :speed.frames.shape[1] // block * block], block)
        node.get_frame(0)
        start, frames = time.perf_counter(), 0
        while time.perf_counter() - start < 2:
            frames += 1
            node.get_frame(frames)
        return frames / (time.perf_counter() - start)


def mvtools_peers():
    """MVTools, if VapourSynth has it."""
    if vapoursynth is None or not hasattr(vapoursynth.core, "mv"):
        return []
    return [MVTools(1), MVTools(0)]


class Gpume:
    """A search of the filter, by the first option's value and the other options.

    device: the Device for the rate with backend=cuda, or None.
    """

    def __init__(self, options, ffmpeg, distance, device=None):
        self.name, self.ffmpeg, self.distance, self.device = options, ffmpeg, distance, device
        algo, _, others = options.partition(":")
        self.options = dict(o.partition("=")[::2] for o in others.split(":") if o)
        self.options["algo"] = algo
        self.pel = int(self.options.get("pel", 4 if algo == "hme" else 1))

    def filter(self, block, distance, **more):
        """The filter's text."""
        options = {"range": distance, "backend": "cpu", **self.options, "block": block,
                   "dir": "future", **more}
        if self.options["algo"] == "hme" and "range" not in self.options:
            del options["range"]  # it finds a good one itself
        return "gpume=" + ":".join(f"{k}={v}" for k, v in options.items())

    def run(self, *arguments, level="error"):
        """Runs ffmpeg and returns what it says."""
        return bench.run(self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-loglevel", level, "-y", "-filter_threads", "1",
                         *arguments, "-f", "null", "-")[1]

    def vectors(self, pair, block, **more):
        """more: options of the filter."""
        height, width = pair.size
        with tempfile.TemporaryDirectory() as folder:
            # no character in the names that means something to the filter graph's parser
            raw, npy = os.path.join(folder, "pictures.gray"), os.path.join(folder, "vectors.npy")
            pair.frames.tofile(raw)
            text = self.filter(block, pair.range or self.distance, mv_file=npy, **more)
            self.run(*bench.raw_input((width, height), raw, "gray"), "-vf", text)
            found = np.load(npy)
        if (found[:-1, 0, ..., 2] < 0).any():
            raise Failed("frames without vectors")
        return found[:-1, 0, ..., :2] / self.pel

    def seconds(self, speed, frames, text):
        """What this many frames take, from the first to the last."""
        count, height, width = speed.frames.shape
        said = self.run("-benchmark", "-stream_loop", str(frames // count), *bench.raw_input((width, height), speed.path, "gray"),
                        "-vf", text, "-frames:v", str(frames), level="info")
        return bench.bench_times(said)[2]

    def rate(self, speed, block):
        """Without the time for reading the pictures, which is measured first; on a GPU, of the kernels."""
        if self.options.get("backend") == "cuda":
            if self.options["algo"] != "hme" or not self.device:
                raise Failed("make bench-gpu PARTS=kernels has the rate")
            return 1e6 / self.device.time_of_hme(speed, block, self.pel)
        if not speed.reading:
            speed.reading["null"] = self.seconds(speed, 200, "null") / 200
        text = self.filter(block, self.distance)
        count = len(speed.frames)
        frames = count * max(1, int(1 / (self.seconds(speed, count, text) + 1e-3)))
        times = sorted(self.seconds(speed, frames, text) for _ in range(3))
        return frames / max(times[1] - frames * speed.reading["null"], 1e-4)


class Device:
    """A GPU, through gpume_bench: a run has all levels of its optical-flow hardware, and all of hme."""

    COLUMNS = ("part", "what", "content", "width", "height", "block", "range", "depth", "count",
               "metric", "unit", "median", "min", "max", "runs")

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()  # one program on the device at a time
        self.times = {}  # part of the program: its rows

    def run(self, part, size, raw, csv="-"):
        """Runs the program on a file of pictures."""
        height, width = size
        out, said = bench.run(self.path, "-p", part, csv, f"{width}x{height}={raw}")
        if b"skipped" in out:
            raise Failed(bench.first_complaint(said + out.decode()))

    def flow(self, pair, level):
        """Vectors of 4x4 samples of every picture but the last, in samples."""
        with self.lock:
            if self not in pair.flows:
                pair.flows[self] = self.measure_flow(pair)
            return pair.flows[self][level]

    def measure_flow(self, pair):
        """All levels."""
        rows, columns = (-(-side // Nvofa.GRID) for side in pair.size)
        with tempfile.TemporaryDirectory() as folder:
            raw = os.path.join(folder, "pictures")
            # it leads from a picture to the one before
            pair.frames[::-1].tofile(raw)
            self.run("flow", pair.size, raw)
            flows = {level: np.fromfile(f"{raw}.{level}", "<i2").reshape(-1, rows, columns, 2) / 32
                     for level in Nvofa.LEVELS}
        # the program repeats its pictures
        return {level: flow[:len(pair.frames) - 1][::-1] for level, flow in flows.items()}

    def rows(self, part, speed):
        """What the program measures of the speed's pictures: rows as bench/README.md has them."""
        with self.lock:
            if part not in self.times:
                self.times[part] = self.measure_rows(part, speed)
            return self.times[part]

    def measure_rows(self, part, speed):
        """A run of the program."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            self.run(part, speed.frames.shape[1:], speed.path, path)
            with open(path, encoding="ascii") as file:
                return list(csv.DictReader(file, self.COLUMNS))

    def time_of_flow(self, speed, level):
        """Microseconds for a picture, without transfers."""
        return self.one(r for r in self.rows("nvofa", speed)
                        if r["what"] == f"nvofa {level}" and r["metric"] == "time")

    def time_of_hme(self, speed, block, pel):
        """Microseconds for both directions of a pair, without transfers."""
        what = {4: "hme", 1: "hme pel=1"}.get(pel)
        return self.one(r for r in self.rows("motion", speed)
                        if r["what"] == what and r["metric"] == "time of a pair"
                        and (r["content"], r["block"], r["depth"]) == ("clip", str(block), "8"))

    @staticmethod
    def one(rows):
        """The figure of the first of the rows."""
        row = next(rows, None)
        if row is None:
            raise Failed("no rate")
        return float(row["median"])


class Nvofa:
    """NVIDIA's optical-flow hardware, a vector for each 4x4; larger blocks have their mean."""

    GRID = 4
    LEVELS = ("slow", "medium", "fast")

    def __init__(self, level, device):
        self.name, self.level, self.device = f"NVOFA {level}", level, device

    def vectors(self, pair, block):
        found = self.device.flow(pair, self.level)
        each = block // self.GRID
        rows, columns = found.shape[1:3]
        pad = ((0, 0), (0, -rows % each), (0, -columns % each), (0, 0))
        found = np.pad(found, pad, "edge")
        count, rows, columns = found.shape[:3]
        return found.reshape(count, rows // each, each, columns // each, each, 2).mean((2, 4))

    def rate(self, speed, block):
        """The hardware alone, which always makes vectors of its grid."""
        return 1e6 / self.device.time_of_flow(speed, self.level)


def nvofa_peers(device):
    """NVOFA, if there is a Device."""
    return [Nvofa(level, device) for level in Nvofa.LEVELS] if device else []
