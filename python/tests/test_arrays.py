# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that are arrays, into a filter and out of it, against the same filter on a file."""

import datetime
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import numpy as np
import pytest

import gpume
from test_process import children, gone, linux

W, H, NB = 96, 64, 12
SOURCE = f"testsrc2=s=320x240:r=10,format=yuv444p,crop={W}:{H}:3*n:2*n,noise=alls=9:allf=t,trim=end_frame={NB}"
SHAPES = {"gray": (H, W), "rgb24": (H, W, 3), "yuv420p": (H * 3 // 2, W), "yuv422p": (H * 2, W), "yuv444p": (3, H, W)}
FORMATS = {"gray": "gray", "gray10le": "gray", "gray16le": "gray", "rgb24": "rgb24", "bgr24": "rgb24", "rgb48le": "rgb24",
           "yuv420p": "yuv420p", "yuv420p10le": "yuv420p", "yuv422p": "yuv422p", "yuv444p": "yuv444p", "yuv444p16le": "yuv444p"}


def run(pix_fmt, filters=""):
    """Return the source's frames in this format, behind the filters."""
    packed = {"rgb24": "gbrp", "bgr24": "gbrp", "rgb48le": "gbrp16le"}.get(pix_fmt)
    chain = [SOURCE, f"format={pix_fmt}", *([f"format={packed}"] if packed and filters else []), *([filters] if filters else []),
             f"format={pix_fmt}"]
    raw = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", ",".join(chain), "-fps_mode", "passthrough", "-f",
                          "rawvideo", "-"], check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return np.frombuffer(raw, np.uint16 if "1" in pix_fmt.replace("yuv4", "") or "48" in pix_fmt else np.uint8).reshape(
        -1, *SHAPES[FORMATS[pix_fmt]])


def through(stream, frames):
    found = []
    with stream:
        for i, frame in enumerate(frames):
            found += stream.push(frame, i)
        found += stream.flush()
        with pytest.raises(ValueError, match="is closed"):
            stream.push(frames[0])
        assert stream.flush() == []
    return found


@pytest.mark.parametrize("pix_fmt", list(FORMATS))
def test_formats(pix_fmt):
    frames = run(pix_fmt)
    assert len(frames) == NB
    found = through(gpume.Denoiser(W, H, pix_fmt, sigma=6, radius=1), frames)
    assert np.array_equal(found, run(pix_fmt, "mvdenoise=sigma=6:radius=1")) and not np.array_equal(found, frames)
    assert [f.pts for f in found] == list(range(NB)) and all(f.dtype == frames.dtype for f in found)


@pytest.mark.parametrize("make,filters,times", [
    (lambda: gpume.Denoiser(W, H, "yuv420p"), "mvdenoise", 1), (lambda: gpume.Denoiser(W, H, "yuv420p", device="cpu", threads=1, planes=1), "mvdenoise=planes=1", 1),
    (lambda: gpume.Interpolator(W, H, "yuv420p"), "mvfps", 2), (lambda: gpume.Interpolator(W, H, "yuv420p", 25, source_fps=10), "mvfps=fps=25", 2.5),
    (lambda: gpume.Deinterlacer(W, H, tff=True, passes=1), "mvdeint=parity=tff:passes=1", 2),
    (lambda: gpume.Deinterlacer(W, H, tff=False, passes=1, mode="send_frame"), "mvdeint=parity=bff:passes=1:mode=send_frame", 1),
    (lambda: gpume.Stabilizer(W, H, "yuv420p", smoothing=2), "mvstab=smoothing=2", 1),
    (lambda: gpume.Viewer(W, H, "yuv420p", mode="flow+arrows"), "mvview=mode=flow+arrows", 1),
    (lambda: gpume.Viewer(W, H, "yuv420p", search={"algo": "ds", "block": 16}), "gpume=algo=ds:block=16,mvview", 1)])
def test_filters(make, filters, times):
    frames = run("yuv420p")
    found = through(make(), frames)
    assert np.array_equal(found, run("yuv420p", filters))
    assert [f.pts for f in found] == pytest.approx([n / times for n in range(len(found))])


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv444p"])
def test_planes_in_a_list(pix_fmt):
    frames, wanted = run(pix_fmt), run(pix_fmt, "mvdenoise=sigma=6")
    x = W // (2 if pix_fmt == "yuv420p" else 1)

    def planes(frame):
        flat = frame.reshape(-1)
        y = H * W
        return [flat[:y].reshape(H, W), *flat[y:].reshape(2, -1, x)]
    found = list(gpume.denoised([planes(f) for f in frames], pix_fmt=pix_fmt, sigma=6))
    assert len(found) == NB
    for one, other in zip(found, wanted):
        assert all(np.array_equal(a, b) for a, b in zip(one, planes(other)))


def test_iterators():
    gray, rgb, yuv = run("gray"), run("rgb24"), run("yuv422p")
    assert np.array_equal(list(gpume.denoised(iter(gray), sigma=5)), run("gray", "mvdenoise=sigma=5"))
    assert np.array_equal(list(gpume.denoised(list(rgb), sigma=5)), run("rgb24", "mvdenoise=sigma=5"))
    assert np.array_equal(list(gpume.interpolated(rgb, 30, source_fps=10)), run("rgb24", "mvfps=fps=30"))
    assert np.array_equal(list(gpume.deinterlaced(yuv, pix_fmt="yuv422p", tff=True)), run("yuv422p", "mvdeint=parity=tff"))
    assert np.array_equal(list(gpume.drawn(rgb)), run("rgb24", "mvview"))
    assert list(gpume.denoised([])) == []
    # arrays that do not lie in one piece
    assert np.array_equal(list(gpume.denoised((f[:, ::-1] for f in gray), sigma=5)),
                          list(gpume.denoised(np.ascontiguousarray(gray[:, :, ::-1]), sigma=5)))


def test_times():
    frames = run("gray")
    with gpume.Denoiser(W, H, "gray", sigma=5, radius=0) as d:
        found = [f for i, frame in enumerate(frames) for f in d.push(frame, 100 + 40 * i)] + d.flush()
    assert [f.pts for f in found] == [100 + 40 * i for i in range(NB)]
    with gpume.Denoiser(W, H, "gray", sigma=5) as d:
        found = [f for frame in frames for f in d.push(frame)] + d.flush()
    assert [f.pts for f in found] == [None] * NB
    # any unit: nanoseconds stay exact, NumPy's integers do not overflow; parts of a picture keep it
    start = datetime.datetime(2020, 1, 1)
    for pts, wanted in (([10 ** 18 + 2 * i for i in range(3)], [10 ** 18 + i for i in range(6)]),
                        (np.array([255, 254, 253], np.uint8), [255, 254.5, 254, 253.5, 253, 252.5]),
                        ([Fraction(i, 3) for i in range(3)], [Fraction(i, 6) for i in range(6)]),
                        ([start + i * datetime.timedelta(days=2) for i in range(3)], [start + i * datetime.timedelta(days=1) for i in range(6)])):
        with gpume.Interpolator(W, H, "gray", mode="dup") as d:
            found = [f for frame, at in zip(frames, pts) for f in d.push(frame, at)] + d.flush()
        assert [f[3:5].pts for f in found] == wanted
    with gpume.Interpolator(W, H, "gray") as d:
        with pytest.raises(TypeError, match="pts is 'a'; it must be a number or a time"):
            d.push(frames[0], "a")
    with gpume.Denoiser(W, H, "gray", sigma=5) as d:
        assert [f.pts for f in d.push(frames[0], "a") + d.flush()] == ["a"]


def test_threads():
    """Frames that several threads push stay whole; a thread can close what another one uses."""
    found, d = [], gpume.Denoiser(640, 480, "rgb24", sigma=1, radius=0)

    def work(value):
        for _ in range(15):
            found.extend(d.push(np.full((480, 640, 3), value, np.uint8)))
    threads = [threading.Thread(target=work, args=(value,)) for value in (10, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found += d.flush()
    assert sorted(int(f.min()) for f in found) == [10] * 15 + [100] * 15 + [200] * 15 and all(f.min() == f.max() for f in found)
    noise = np.random.default_rng(1).integers(0, 256, (60, 480, 640), np.uint8)
    for use in (lambda d: [d.push(frame) for frame in noise], lambda d: d.push(noise[0]) or d.push(noise[1]) or d.flush()):
        with gpume.Denoiser(640, 480, "gray", radius=3, passes=2, device="cpu", threads=1) as d:
            timer = threading.Timer(0.05, d.close)
            timer.start()
            with pytest.raises(ValueError, match="the Denoiser is closed"):
                while True:
                    use(d)
                    d.push(noise[0])
            timer.join()


@pytest.mark.parametrize("call,text", [
    (lambda: gpume.Denoiser(W, H, "nv12"), "pix_fmt is 'nv12'; it must be one of gray"),
    (lambda: gpume.Denoiser(W + 1, H, "yuv420p"), "must be even"), (lambda: gpume.Denoiser(0, H), "size is"),
    (lambda: gpume.Denoiser(W, H, radius=9), "radius is 9"), (lambda: gpume.Denoiser(W, H, nosuch=1), "'nosuch' is no option"),
    (lambda: gpume.Denoiser(W, H, device="gpu"), "device is"), (lambda: gpume.Denoiser(W, H, threads=-1), "threads is"),
    (lambda: gpume.Interpolator(W, H, fps="x"), "fps is ''"), (lambda: gpume.Interpolator(W, H, fps=0), "fps is 0"),
    (lambda: gpume.Interpolator(W, H, source_fps=-1), "source_fps is -1"), (lambda: gpume.Viewer(W, H, mode="x"), "mode is 'x'"),
    (lambda: next(gpume.denoised([np.zeros(5)])), "rows and columns"), (lambda: gpume.Denoiser(W, H, ["gray"]), "pix_fmt is"),
    (lambda: next(gpume.denoised([np.zeros((3, H, W), np.uint8)])), "it must be .rows, columns, 3.: frame.transpose"),
    (lambda: gpume.Denoiser(W, H, radius=1.5), "radius is 1.5; it must be a whole number"),
    (lambda: gpume.Denoiser(W, H, radius="many"), "radius is 'many'; it must be a number"),
    (lambda: gpume.Denoiser(W, H, radius=float("nan")), "radius is nan"),
    (lambda: gpume.Denoiser(W, H, "gray", planes=[1]), "planes is .1.; it must be a list of some of 0, such as"),
    (lambda: gpume.Denoiser(W, H, planes=[0.0]), "planes is"), (lambda: gpume.Denoiser(W, H, planes=np.array([3])), "some of 0, 1, 2, such"),
    (lambda: gpume.Deinterlacer(W, H, tff="bff"), "tff is 'bff'; it must be True or False"), (lambda: gpume.Deinterlacer(W, H, tff=None), "tff is None"),
])
def test_bad_arguments(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("pix_fmt,frame", [
    ("gray", np.zeros((H, W + 1), np.uint8)), ("gray", np.zeros((H, W), np.float32)), ("gray", np.zeros((H, W, 3), np.uint8)),
    ("gray", np.zeros((H, W), np.uint16)), ("gray16le", np.zeros((H, W), ">u2")), ("rgb24", np.zeros((3, H, W), np.uint8)),
    ("gray", [[1, 2], [3]]), ("yuv420p", np.zeros((H, W), np.uint8)), ("yuv420p", [np.zeros((H, W), np.uint8)] * 3), ("rgb24", [np.zeros((H, W), np.uint8)] * 3)])
def test_bad_frames(pix_fmt, frame):
    with gpume.Denoiser(W, H, pix_fmt) as d:
        with pytest.raises(ValueError, match="the frame is .*; it must be "):
            d.push(frame)
        # nothing was taken of it
        good = np.zeros(SHAPES[FORMATS[pix_fmt]], d._format.dtype)
        assert len(d.push(good) + d.flush()) == 1


def test_errors_in_the_middle():
    d = gpume.Viewer(W, H, "gray", search={"algo": "ds", "levels": 3})
    with pytest.raises(gpume.Error, match="'levels' is only valid with algo=hme"):
        for _ in range(200):
            d.push(np.zeros((H, W), np.uint8))
    with pytest.raises(ValueError, match="closed"):
        d.push(np.zeros((H, W), np.uint8))
    d = gpume.Denoiser(W, H, "gray")
    d.push(np.zeros((H, W), np.uint8))
    d._process.kill()
    with pytest.raises(gpume.Error):
        for _ in range(200):
            d.push(np.zeros((H, W), np.uint8))
    d = gpume.Denoiser(W, H, "gray")
    d.push(np.zeros((H, W), np.uint8))
    d._process.kill()
    with pytest.raises(gpume.Error):
        d.flush()


def test_push_does_not_wait_for_a_reader():
    """Hundreds of frames whose results nobody takes: more than pipes hold."""
    frame, done = np.zeros((480, 640, 3), np.uint8), threading.Event()

    def work():
        with gpume.Interpolator(640, 480, fps="4x", mode="dup") as d:
            nb = sum(len(d.push(frame)) for _ in range(60))
            assert nb + len(d.flush()) == 240
        done.set()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(120)
    assert done.is_set()


def test_delay():
    """Nothing but the filter holds frames back: with one search at a time, a picture is drawn when it has come."""
    frames = run("gray")
    with gpume.Viewer(W, H, "gray", search={"algo": "ds", "async_depth": 1}) as d:
        d.push(frames[0])       # without motion; it comes with the next one
        for n in range(1, NB):
            end = time.monotonic() + 20
            d.push(frames[n])
            while len(d._frames) + d._nb_out < n + 1 and time.monotonic() < end:
                time.sleep(0.01)
            assert len(d._frames) + d._nb_out == n + 1


@linux
def test_nothing_remains():
    frame = np.zeros((H, W), np.uint8)
    d = gpume.Denoiser(W, H, "gray")
    d.push(frame)
    pid, reader = d._process.pid, d._reader
    del d
    gc.collect()
    assert gone([pid])
    reader.join(20)
    assert not reader.is_alive()
    for clean in gpume.denoised([frame] * 50):
        break
    del clean
    with pytest.raises(ZeroDivisionError), gpume.Denoiser(W, H, "gray") as d:
        d.push(frame)
        1 / 0
    gc.collect()
    assert not children(os.getpid()) and not [t for t in threading.enumerate() if t.name == "gpume reader"]


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_killed(how):
    script = ("import signal, time, numpy, gpume\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
              "d = gpume.Denoiser(640, 480, 'gray')\nf = numpy.zeros((480, 640), 'u1')\nd.push(f)\nprint(1, flush=True)\n"
              "while True: d.push(f)\n")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process.stdout:
        process.stdout.readline()
        time.sleep(0.3)
        pids = children(process.pid)
        process.send_signal(how)
        assert pids and process.wait(30) != 0 and gone(pids)


@linux
def test_memory_is_flat():
    script = ("import resource, numpy, gpume\nf = numpy.zeros((480, 640), 'u1')\n"
              "for _ in gpume.denoised((f for _ in range(%d)), sigma=1, passes=1, radius=1): pass\n"
              "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    short, long = (int(subprocess.run([sys.executable, "-c", script % nb], check=True, stdout=subprocess.PIPE).stdout)
                   for nb in (100, 600))
    assert long < short + 20 * 300      # KiB: twenty frames
