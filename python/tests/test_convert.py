# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the conversion of files, motion scores, and the command line."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import gpume
from conftest import PAN, make


def frames_of(path, options=()):
    return subprocess.run([gpume.ffmpeg_exe(), "-v", "error", *options, "-i", str(path), "-f", "framemd5", "-"], check=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout.decode().split("\n")


def hashes(path, *options):
    return [line.split(",")[-1].strip() for line in frames_of(path, options) if line[:1].isdigit()]


def by_ffmpeg(clip, filters, path):
    subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-i", clip, "-vf", filters, "-c:v", "ffv1", str(path)],
                   check=True, stdin=subprocess.DEVNULL)
    return hashes(path)


def command(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "gpume", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@pytest.mark.parametrize("function,options,filters", [
    (gpume.interpolate, {"fps": 20}, "mvfps=fps=20"),
    (gpume.interpolate, {"fps": "2x", "mode": "blend", "device": "cpu"}, "mvfps=fps=2x:mode=blend"),
    (gpume.interpolate, {"fps": 30, "device": "cpu"}, "mvfps=fps=30"),
    (gpume.denoise, {"sigma": 8}, "mvdenoise=sigma=8"),
    (gpume.denoise, {"sigma": 8, "radius": 1, "device": "cpu"}, "mvdenoise=sigma=8:radius=1"),
    (gpume.draw, {"mode": "flow"}, "mvview=mode=flow"),
    (gpume.draw, {"search": {"algo": "ds", "block": 16}, "threads": 1}, "gpume=algo=ds:block=16,mvview"),
])
def test_same_as_ffmpeg(clip, tmp_path, function, options, filters):
    out, times = tmp_path / "a,b'.mkv", []
    function(clip, out, progress=times.append, **options)
    assert hashes(out) == by_ffmpeg(clip, filters, tmp_path / "other.mkv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a,b'.mkv", "other.mkv"]
    assert times and times == sorted(times)


def test_devices(tmp_path):
    """The device does not change the result, not even with repeated frames, which mvdenoise does not search."""
    video = make(tmp_path / "film.mkv", PAN.replace("r=10", "r=5") + ",trim=end_frame=5,fps=10,noise=alls=9", "-c:v", "ffv1")
    gpume.denoise(video, tmp_path / "cpu.mkv", device="cpu")
    assert hashes(tmp_path / "cpu.mkv") == by_ffmpeg(video, "mvdenoise", tmp_path / "other.mkv")
    for function in (gpume.denoise, gpume.interpolate, gpume.draw, gpume.deinterlace, gpume.stabilize):
        with pytest.raises(ValueError, match="device"):
            function(video, tmp_path / "x.mkv", device="gpu")
        if not os.path.exists("/dev/nvidiactl") and sys.platform == "linux":
            with pytest.raises(gpume.Error, match="command: .*-init_hw_device cuda=gpume:7"):
                function(video, tmp_path / "x.mkv", device=7)
    assert not (tmp_path / "x.mkv").exists()


def test_odd_size(tmp_path):
    """No column or row is lost in .mp4."""
    clip = make(tmp_path / "odd.mkv", "testsrc2=s=164x100:r=10,format=yuv444p,crop=161:97,trim=end_frame=2", "-c:v", "ffv1")
    gpume.denoise(clip, tmp_path / "odd.mp4")
    w, h = map(int, subprocess.run([gpume.ffmpeg_exe("ffprobe"), "-v", "error", "-show_entries", "stream=width,height", "-of",
                                    "csv=p=0", str(tmp_path / "odd.mp4")], check=True, stdout=subprocess.PIPE).stdout.split(b","))
    assert (w, h) in ((161, 97), (162, 98))


@pytest.mark.parametrize("ending,codec", [("mp4", "h264"), ("mov", "h264"), ("mkv", "ffv1"), ("avi", "mpeg4"), ("y4m", "rawvideo")])
def test_endings(clip, tmp_path, ending, codec):
    known = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-encoders"], check=True, stdout=subprocess.PIPE).stdout.decode()
    if codec == "h264" and "libopenh264" not in known and "libx264" not in known:
        codec = "mpeg4"
    out = tmp_path / ("x." + ending)
    gpume.interpolate(clip, out, fps=10, mode="dup")
    said = subprocess.run([gpume.ffmpeg_exe("ffprobe"), "-v", "error", "-show_entries", "stream=codec_name", "-of",
                           "csv=p=0", str(out)], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    assert said == codec


def test_sound_stays(tmp_path):
    video = make(tmp_path / "film.mkv", PAN + ",trim=end_frame=10[out0];sine=d=1[out1]", "-c:v", "ffv1", "-c:a", "flac")
    gpume.denoise(video, tmp_path / "out.mkv", radius=0, sigma=1)
    said = subprocess.run([gpume.ffmpeg_exe("ffprobe"), "-v", "error", "-show_entries", "stream=codec_name", "-of",
                           "csv=p=0", str(tmp_path / "out.mkv")], check=True, stdout=subprocess.PIPE).stdout.split()
    assert said == [b"ffv1", b"flac"]
    # sound that a format cannot hold
    assert command("denoise", video, tmp_path / "out.avi", "--no-audio", "--set", "radius=0").returncode == 0


def test_overwriting(clip, tmp_path):
    out = tmp_path / "out.mkv"
    out.write_text("as it was")
    with pytest.raises(FileExistsError):
        gpume.draw(clip, out, overwrite=False)
    with pytest.raises(gpume.Error, match="scene"):
        gpume.interpolate(clip, out, scene=-5)
    assert out.read_text() == "as it was"
    with pytest.raises(FileNotFoundError):
        gpume.draw(clip, tmp_path / "nowhere" / "out.mkv")
    gpume.draw(clip, out)
    assert len(hashes(out)) == 6
    new = tmp_path / "new.mkv"
    gpume.draw(clip, new, overwrite=False)
    assert len(hashes(new)) == 6
    # an option for which ffmpeg opens the file again
    gpume.draw(clip, tmp_path / "fast.mp4", output_options=["-movflags", "+faststart"])
    assert len(hashes(tmp_path / "fast.mp4")) == 6
    assert not [p for p in tmp_path.iterdir() if "part" in p.name]


def test_stabilize(clip, tmp_path):
    gpume.stabilize(clip, tmp_path / "x.mkv", smoothing=3, border="mirror")
    assert hashes(tmp_path / "x.mkv") == by_ffmpeg(clip, "mvstab=smoothing=3:border=mirror", tmp_path / "y.mkv")
    assert list(gpume.stabilized([])) == []
    # a path in a file, written and read
    gpume.stabilize(clip, tmp_path / "z.mkv", smoothing=9, file=tmp_path / "path.npy")
    gpume.stabilize(clip, tmp_path / "z.mkv", smoothing=3, border="mirror", file=tmp_path / "path.npy", read=True)
    assert hashes(tmp_path / "z.mkv") == hashes(tmp_path / "x.mkv") and len(np.load(tmp_path / "path.npy")) == 6
    for option, text in (({"smoothing": "many"}, "from 1 to 250"), ({"smoothing": 0}, "from 1 to 250"),
                         ({"zoom": 0.05}, "it must be 0 or from 0.1 to 10"), ({"zoom": 11}, "it must be 0 or from 0.1 to 10"),
                         ({"max_angle": "steep"}, "from -1 to 180"), ({"mode": "still"}, "one of smooth, tripod, follow")):
        with pytest.raises(gpume.OptionError, match=text):
            gpume.stabilize(clip, tmp_path / "z.mkv", **option)
    gpume.stabilize(clip, tmp_path / "z.mkv", smoothing="min", max_shift="2*3")
    for place in (tmp_path, tmp_path / "none.npy"):
        with pytest.raises(gpume.Error, match="must end in .npy|No such file"):
            gpume.stabilize(clip, tmp_path / "z.mkv", file=place, read=True)


def test_deinterlace_and_disparity(clip, tmp_path):
    with pytest.warns(gpume.FFmpegWarning, match="field comes first"):
        gpume.deinterlace(clip, tmp_path / "x.mkv", passes=1, mode="send_frame")
    assert hashes(tmp_path / "x.mkv") == by_ffmpeg(clip, "mvdeint=passes=1:mode=send_frame", tmp_path / "y.mkv")
    # views that are no pair would be warned of
    pair = make(tmp_path / "pair.mkv", PAN + ",trim=end_frame=6,split,hstack", "-c:v", "ffv1")
    gpume.disparity(pair, None, tmp_path / "x.mkv", show="color", layout="sbsl")
    assert hashes(tmp_path / "x.mkv") == by_ffmpeg(pair, "mvstereo=layout=sbsl:output=color", tmp_path / "z.mkv")
    gpume.disparity(clip, clip, tmp_path / "x.mkv", start=0.2, show="gray8", max=32, threads=1)
    assert len(hashes(tmp_path / "x.mkv")) == 4
    gpume.disparity(clip, clip, tmp_path / "x.mkv", file=str(tmp_path / "maps.npy"), max=32)
    maps = np.load(tmp_path / "maps.npy")
    assert maps.shape == (6, 140, 200) and maps.dtype == np.float32 and abs(np.median(maps[np.isfinite(maps)])) < 0.1
    with pytest.raises(ValueError, match="maps.npy"):
        gpume.disparity(clip, clip, tmp_path / "x.mkv", show="float")
    with pytest.raises(gpume.Error, match="nosuch"):
        gpume.disparity(clip, clip, tmp_path / "x.mkv", nosuch=1)
    # what cannot keep 16 bits
    for path, options, what in (("y.mp4", {}, "16 bits"), ("y.mov", {"show": "depth"}, "16 bits"),
                                ("y.m4v", {}, "16 bits"), ("y.mpg", {}, "16 bits"),
                                ("y.mkv", {"device": -1}, "device")):
        with pytest.raises(ValueError, match=what):
            gpume.disparity(clip, clip, tmp_path / path, **options)
    gpume.disparity(clip, clip, tmp_path / "y.mp4", show="gray8", max=32)
    if not os.path.exists("/dev/nvidiactl") and sys.platform == "linux":
        with pytest.raises(gpume.Error, match="command: .*-init_hw_device cuda=gpume:7.*backend=cuda"):
            gpume.disparity(clip, clip, tmp_path / "x.mkv", device=7)


def test_many_files(clip, tmp_path):
    with pytest.raises(ValueError, match="many files"):
        gpume.disparity(clip, clip, tmp_path / "d%02d.png", max=32)
    gpume.draw(clip, tmp_path / "100%d.mkv")
    assert [p.name for p in tmp_path.iterdir()] == ["100%d.mkv"]


def test_score(tmp_path):
    video = make(tmp_path / "film.mkv", PAN + ",trim=end_frame=8[a];mandelbrot=s=200x140:r=10,format=yuv420p,"
                 "trim=end_frame=8[b];[a][b]concat", "-c:v", "ffv1")
    score = gpume.motion_score(video)
    assert [f.number for f in score.frames] == list(range(2, 17))
    assert score.cuts == [pytest.approx(0.8, abs=1e-3)]
    assert (score.width, score.height) == (200, 140)
    pan = score.frames[2]
    assert 2 < pan.motion < 10 and pan.max_motion >= pan.motion and 0 < pan.residual < 10 and not pan.cut
    assert score.speed == pytest.approx(score.motion * 10 / 140, rel=0.02)
    still = make(tmp_path / "still.mkv", "testsrc2=s=64x48:r=10,trim=end_frame=1,loop=5:1", "-c:v", "ffv1")
    assert gpume.motion_score(still).motion == 0
    assert gpume.motion_score(still, size=(32, 24)).height == 24
    one = make(tmp_path / "one.mkv", "testsrc2=s=64x48:r=10,trim=end_frame=1", "-c:v", "ffv1")
    assert gpume.motion_score(one).frames == []
    # a picture that players rotate
    subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-display_rotation", "90", "-i", make(
        tmp_path / "flat.mp4", PAN + ",trim=end_frame=3"), "-c", "copy", str(tmp_path / "turned.mp4")], check=True)
    score = gpume.motion_score(tmp_path / "turned.mp4")
    assert (score.width, score.height) == (140, 200) and score.speed == pytest.approx(score.motion * 10 / 200, rel=0.02)
    said = command("score", video, "--json")
    assert said.returncode == 0 and json.loads(said.stdout)["frames"][0]["number"] == 2
    assert b"cuts: 0.8" in command("score", video).stdout


def test_size_changes(tmp_path):
    """Pictures are scaled to the first one's size: arrays have one shape, and no frame is lost or renumbered."""
    parts = [make(tmp_path / f"{i}.mpg", f"{source}:r=10,trim=end_frame=8,format=yuv420p", "-c:v", "mpeg2video")
             for i, source in enumerate(("testsrc2=s=320x240", "mandelbrot=s=200x140"))]
    video = tmp_path / "film.mpg"
    video.write_bytes(b"".join(pathlib.Path(part).read_bytes() for part in parts))
    fields = list(gpume.vectors(video))
    nb = len(fields) + 1
    assert [f.number for f in fields] == list(range(2, nb + 1)) and nb >= 14
    assert {(f.width, f.height) for f in fields} == {(320, 240)}
    score = gpume.motion_score(video)
    assert len(score.cuts) == 1 and all(f.cut or f.residual < 5 for f in score.frames)
    assert command("vectors", video, tmp_path / "v.npy").returncode == 0
    assert len(np.load(tmp_path / "v.npy")) == nb
    assert command("flow", video, tmp_path / "flo").returncode == 0
    assert len(os.listdir(tmp_path / "flo")) == nb - 1


def test_frames_on_a_gpu(clip):
    """With frames on a GPU, no filter for frames in memory is inserted before gpume."""
    gpu = ["-hwaccel", "cuda", "-hwaccel_output_format", "cuda"]
    with gpume.vectors(clip, input_options=gpu) as fields:
        command = fields._records._process.command
    assert command[command.index("-vf") + 1].startswith("gpume=") and "-reinit_filter" not in command


def test_no_video(tmp_path):
    sound = make(tmp_path / "sound.mkv", "sine=d=1", "-c:a", "flac")
    for call in (lambda: list(gpume.vectors(sound)), lambda: gpume.motion_score(sound),
                 lambda: gpume.denoise(sound, tmp_path / "x.mkv")):
        with pytest.raises(gpume.Error, match="the input has no video"):
            call()
    assert os.listdir(tmp_path) == ["sound.mkv"]


def test_command_line(clip, tmp_path):
    for name in ("v.csv", "v.npy", "v.npys"):
        assert command("vectors", clip, name, "--set", "block=16", cwd=tmp_path).returncode == 0
    assert np.load(tmp_path / "v.npy").shape == (6, 1, 9, 13, 3)
    said = command("vectors", clip, "-", "--set", "block=16")
    assert said.stdout == (tmp_path / "v.npys").read_bytes()
    assert command("vectors", clip, tmp_path / "npz").returncode == 0
    field = next(gpume.vectors(clip))
    loaded = np.load(tmp_path / "npz" / "000002.npz")
    assert np.array_equal(loaded["mv"], field.mv) and loaded["distance"] == -1
    flow = [f.flow() for f in gpume.vectors(clip, dir="future")]
    assert command("flow", clip, tmp_path / "flo").returncode == 0
    assert np.array_equal(gpume.read_flo(tmp_path / "flo" / "000003.flo"), flow[2])
    assert command("flow", clip, tmp_path / "kitti", "--format", "kitti").returncode == 0
    assert np.array_equal(gpume.read_kitti(tmp_path / "kitti" / "000003.png")[0], flow[2])
    assert command("flow", clip, tmp_path / "png", "--format", "picture").returncode == 0
    assert len(os.listdir(tmp_path / "png")) == 5
    assert command("fps", clip, tmp_path / "fps.mkv", "--fps", "20").returncode == 0
    assert len(hashes(tmp_path / "fps.mkv")) in (11, 12)
    assert command("denoise", clip, tmp_path / "clean.mkv", "--set", "sigma=4").returncode == 0
    assert command("draw", clip, tmp_path / "drawn.mp4", "--duration", "0.3").returncode == 0
    assert command("disparity", clip, clip, tmp_path / "map.mkv", "--show", "color", "--set", "max=32").returncode == 0
    gpume.disparity(clip, clip, tmp_path / "other.mkv", show="color", max=32)
    assert hashes(tmp_path / "map.mkv") == hashes(tmp_path / "other.mkv")
    # both views in one file; the filter's own name of the option
    side = "movie=pan.mkv,split,hstack"
    (tmp_path / "pan.mkv").write_bytes(pathlib.Path(clip).read_bytes())
    assert command("disparity", side, "map.mkv", "--format-in", "lavfi", "--set", "layout=sbsl", "--set", "max=32",
                   "--set", "output=color", cwd=tmp_path).returncode == 0
    assert hashes(tmp_path / "map.mkv") == hashes(tmp_path / "other.mkv")
    # a reader that closes the pipe early
    pipe = subprocess.Popen([sys.executable, "-m", "gpume", "score", clip, "--json"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    pipe.stdout.close()
    with pipe.stderr:
        assert pipe.stderr.read() == b"" and pipe.wait() == 0
    bad = command("vectors", clip, tmp_path / "x.npy", "--set", "nosuch=1")
    assert bad.returncode == 1 and b"nosuch" in bad.stderr
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("x.")]
    # a file name with an unknown extension does not become a folder by mistake
    for arguments in (("vectors", clip, "v.txt"), ("flow", clip, "v.flo")):
        bad = command(*arguments, cwd=tmp_path)
        assert bad.returncode == 1 and b"is no folder" in bad.stderr and not (tmp_path / arguments[2]).exists()
    assert command("deinterlace", clip, tmp_path / "x.mkv", "--size", "64x48").returncode == 2
    bad = command("disparity", clip, clip, tmp_path / "x.mkv", "--show", "float")
    assert bad.returncode == 1 and b"maps.npy" in bad.stderr
    bad = command("fps", tmp_path / "none.mkv", tmp_path / "x.mkv")
    assert bad.returncode == 1 and b"No such file" in bad.stderr and b"Traceback" not in bad.stderr


def test_files(tmp_path):
    flow = (np.random.default_rng(2).integers(-2000, 2000, (11, 17, 2)) / 4).astype(np.float32)
    gpume.write_flo(tmp_path / "x.flo", flow)
    assert np.array_equal(gpume.read_flo(tmp_path / "x.flo"), flow)
    data = (tmp_path / "x.flo").read_bytes()
    assert data[:12] == b"PIEH\x11\x00\x00\x00\x0b\x00\x00\x00" and np.float32(202021.25).tobytes() == data[:4]
    (tmp_path / "x.flo").write_bytes(data[:-1])
    valid = np.arange(11 * 17).reshape(11, 17) % 3 > 0
    gpume.write_kitti(tmp_path / "x.png", flow, valid)
    back, known = gpume.read_kitti(tmp_path / "x.png")
    assert np.array_equal(known, valid & (flow < 512 - 1 / 128).all(2)) and np.array_equal(back[known], flow[known])
    for call in (lambda: gpume.read_flo(tmp_path / "x.flo"), lambda: gpume.read_flo(tmp_path / "x.png"),
                 lambda: gpume.write_flo(tmp_path / "y", flow[..., :1]), lambda: gpume.flow_picture(flow, 0),
                 lambda: gpume.write_kitti(tmp_path / "y", flow, valid[1:]), lambda: gpume.read_kitti(tmp_path / "x.flo"),
                 lambda: gpume.write_png(tmp_path / "y", flow)):
        with pytest.raises(ValueError):
            call()
    assert not (tmp_path / "y").exists()


def test_colours_are_those_of_mvview(clip):
    """The picture of a field is what the filter draws over a clip."""
    raw = subprocess.run(
        [gpume.ffmpeg_exe(), "-v", "error", "-i", clip, "-vf",
         "format=gbrp,gpume=algo=hme,mvview=mode=flow:opacity=1:max=8,format=rgb24", "-f", "rawvideo", "-"],
        check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    drawn = np.frombuffer(raw, np.uint8).reshape(-1, 140, 200, 3)
    raw = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-i", clip, "-vf", "format=gbrp,format=rgb24", "-f",
                          "rawvideo", "-"], check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, 140, 200, 3)
    with gpume.Estimator(200, 140, "rgb24") as e:
        for i, frame in enumerate(frames):
            for field in e.push(frame):
                assert np.array_equal(field.picture(8), drawn[i])
