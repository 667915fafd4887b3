# SPDX-License-Identifier: LGPL-2.1-or-later
"""No file is wrong and no loss silent: outputs by their ending, arguments, times of the video, damage, messages."""

import fractions
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import gpume
from conftest import PAN, make

STILL = "testsrc2=s=160x96:r=10,format=yuv420p,crop=120:80:%d:4,trim=end_frame=1"


def probe(path, entries):
    """Return what ffprobe lists, a line each."""
    return subprocess.run([gpume.ffmpeg_exe("ffprobe"), "-v", "error", "-select_streams", "v", "-show_entries", entries, "-of",
                           "csv=p=0", str(path)], check=True, stdout=subprocess.PIPE).stdout.decode().replace(",\n", "\n").split()


def samples(arguments, pix_fmt):
    return subprocess.run([gpume.ffmpeg_exe(), "-v", "error", *map(str, arguments), "-f", "rawvideo", "-pix_fmt", pix_fmt, "-"],
                          check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout


def command(*arguments, **more):
    return subprocess.run([sys.executable, "-W", "error", "-m", "gpume", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    return [make(folder / name, STILL % x) for name, x in (("left.png", 10), ("right.png", 16))]


@pytest.mark.filterwarnings("ignore:A single frame")
@pytest.mark.parametrize("ending,codec", [("png", "png"), ("jpg", "mjpeg"), ("JPEG", "mjpeg"), ("ppm", "ppm"), ("mkv", "ffv1"),
                                          ("y4m", "rawvideo"), ("mpg", "mpeg2video"), ("gif", "gif")])
@pytest.mark.parametrize("function,options", [
    (gpume.interpolate, {"fps": 10}), (gpume.denoise, {}), (gpume.deinterlace, {"mode": "send_frame", "parity": "tff"}),
    (gpume.draw, {}), (gpume.disparity, {"show": "color"})])
def test_endings_of_all_functions(views, tmp_path, ending, codec, function, options):
    out = tmp_path / ("out." + ending)
    if ending == "mpg":
        options = {**options, "output_options": ["-r", "25"]}
    more = views[1:] if function is gpume.disparity else []
    function(views[0], *more, str(out), **options)
    assert probe(out, "stream=codec_name") == [codec]
    assert os.listdir(tmp_path) == [out.name]


def test_maps(views, tmp_path):
    """A map has the filter's samples in each file that keeps them, also from the command line."""
    both = ["-i", views[0], "-i", views[1], "-filter_complex"]
    wanted = samples([*both, "mvstereo=inputs=2"], "gray16le")
    assert len(set(wanted)) > 2
    for ending in ("png", "mkv", "y4m", "pgm"):
        out = tmp_path / ("map." + ending)
        assert command("disparity", *views, out).returncode == 0
        assert samples(["-i", out], "gray16le") == wanted
    assert command("disparity", *views, tmp_path / "gray.png", "--show", "gray8").returncode == 0
    assert samples(["-i", tmp_path / "gray.png"], "gray") == samples([*both, "mvstereo=inputs=2:output=gray8"], "gray")
    gpume.disparity(*views, tmp_path / "map.npy")
    gpume.disparity(*views, tmp_path / "map.mkv", file=str(tmp_path / "other.npy"))
    maps = np.load(tmp_path / "map.npy")
    assert maps.shape == (1, 80, 120) and np.array_equal(maps, np.load(tmp_path / "other.npy"), equal_nan=True)
    assert 5.5 < np.nanmedian(maps) < 6.5
    for out, options, text in (("x.jpg", {}, "16 bits"), ("x.npy", {"show": "gray8"}, "disparities"),
                               ("x.mkv", {"show": "float"}, "maps.npy"), ("d%02d.png", {}, "many files")):
        with pytest.raises(ValueError, match=text):
            gpume.disparity(*views, tmp_path / out, **options)
    assert not list(tmp_path.glob("x.*"))


def test_one_picture(clip, tmp_path):
    with pytest.raises(gpume.Error, match="holds one picture, and there are more"):
        gpume.draw(clip, tmp_path / "x.png")
    with pytest.warns(gpume.FFmpegWarning, match="A single frame has no motion vectors"):
        gpume.draw(clip, tmp_path / "x.png", start=0.5)
    assert probe(tmp_path / "x.png", "stream=width,height") == ["200,140"]
    assert os.listdir(tmp_path) == ["x.png"]


def test_missing_encoder(views, tmp_path):
    """Where this ffmpeg has no encoder, the message says what to do."""
    known = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-encoders"], check=True, stdout=subprocess.PIPE).stdout.decode()
    for ending, codec in (("bmp", "bmp"), ("tif", "tiff"), ("webm", "vp9")):
        if f" {codec} " in known:
            gpume.denoise(views[0], tmp_path / ("x." + ending))
            assert probe(tmp_path / ("x." + ending), "stream=codec_name") == [codec]
        else:
            with pytest.raises(gpume.Error, match=f"no encoder '{codec}': write .mkv, .*GPUME_FFMPEG"):
                gpume.denoise(views[0], tmp_path / ("x." + ending))
            assert not (tmp_path / ("x." + ending)).exists()


@pytest.mark.parametrize("pix_fmt", ["gray", "gray10le", "gray16le", "yuv420p9le", "yuv420p10le", "yuv422p12le", "yuv444p14le",
                                     "yuv444p16le"])
def test_deep_y4m(tmp_path, pix_fmt):
    video = make(tmp_path / "film.mkv", PAN + f",trim=end_frame=3,format={pix_fmt}", "-c:v", "ffv1")
    gpume.denoise(video, tmp_path / "x.y4m", sigma=3)
    assert probe(tmp_path / "x.y4m", "stream=pix_fmt") == [pix_fmt]
    assert samples(["-i", tmp_path / "x.y4m"], pix_fmt) == samples(["-i", video, "-vf", "mvdenoise=sigma=3"], pix_fmt)


def test_rgb_into_y4m(tmp_path):
    video = make(tmp_path / "film.mkv", PAN + ",trim=end_frame=3,format=gbrp10le", "-c:v", "ffv1")
    gpume.denoise(video, tmp_path / "x.y4m")
    assert probe(tmp_path / "x.y4m", "stream=pix_fmt") == ["yuv444p10le"]


@pytest.mark.parametrize("size", ["100x70", (100, 70), [100, 70], (np.int64(100), np.int32(70)), np.array([100, 70]), "100X70"])
def test_sizes(clip, tmp_path, size):
    assert next(gpume.vectors(clip, size=size)).flow().shape == (70, 100, 2)
    gpume.draw(clip, tmp_path / "x.mkv", size=size)
    assert probe(tmp_path / "x.mkv", "stream=width,height") == ["100,70"]
    assert gpume.motion_score(clip, size=size).height == 70


@pytest.mark.parametrize("argument,value", [
    *[("size", v) for v in ("320", "3x", "axb", "320x240x1", "0x0", "-1x70", (640,), (1, 2, 3), (0, 70), (-1, 70), (1.5, 2),
                            (True, 70), ("3", "2"), 640, 99999999, (40000, 40), "")],
    *[("start", v) for v in (-1, float("nan"), float("inf"), "x", "", "1:2:3:4", "1:30s", True, (1,), "-3")],
    *[("duration", v) for v in (0, 0.0, "0", "00:00", 1e-9, -1, "abc", float("nan"), False)],
    *[("threads", v) for v in (-1, 1.5, "2", True)],
    *[("device", v) for v in ("gpu", -1, True, 1.5, None, "0")],
])
def test_refused(clip, tmp_path, argument, value):
    """What is not valid is an error that names the argument, before anything is written."""
    for call in (lambda **o: gpume.vectors(clip, **o), lambda **o: gpume.motion_score(clip, **o),
                 lambda **o: gpume.interpolate(clip, tmp_path / "x.mkv", **o), lambda **o: gpume.denoise(clip, tmp_path / "x.mkv", **o),
                 lambda **o: gpume.draw(clip, tmp_path / "x.mkv", **o)):
        with pytest.raises(ValueError, match=f"^{argument} is "):
            call(**{argument: value})
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("call", [
    lambda c, out: gpume.vectors(c, input_options="-f lavfi"), lambda c, out: gpume.denoise(c, out, input_options=[1]),
    lambda c, out: gpume.denoise(c, out, output_options="-r 25")])
def test_refused_lists(clip, tmp_path, call):
    with pytest.raises(TypeError, match="must be a list of texts"):
        call(clip, tmp_path / "x.mkv")


def test_accepted(clip):
    for start in ("0.2", "0:00.2", "00:00:00.20", "200ms", 0.2, np.float32(0.2), fractions.Fraction(1, 5)):
        assert next(gpume.vectors(clip, start=start)).pts_time == pytest.approx(0.3)
    assert gpume.vectors(clip, device=np.int64(3))._records._process.command.count("-vf") == 1


@pytest.mark.parametrize("offset", [0, 7])
@pytest.mark.parametrize("ending,codec", [("mkv", "ffv1"), ("mp4", "mpeg4"), ("ts", "mpeg2video")])
def test_times_are_the_films(tmp_path, ending, codec, offset):
    video = make(tmp_path / ("film." + ending), PAN.replace("r=10", "r=25") + ",trim=end_frame=60", "-c:v", codec, "-g", "5",
                 "-output_ts_offset", str(offset))
    frames = [line.split(",")[:2] for line in probe(video, "frame=pts,pts_time")]
    wanted = {int(pts): float(time) for pts, time in frames}
    times = sorted(wanted.values())
    assert times[0] >= offset and len(times) == 60
    fields = list(gpume.vectors(video, algo="ds", block=32))
    assert [f.pts_time for f in fields] == pytest.approx(times[1:]) and all(wanted[f.pts] == pytest.approx(f.pts_time) for f in fields)
    part = list(gpume.vectors(video, algo="ds", block=32, start=1, duration=0.5))
    assert [f.pts_time for f in part] == pytest.approx([t for t in times if times[0] + 1 - 1e-6 < t < times[0] + 1.5 - 1e-6][1:])
    score = gpume.motion_score(video, start=1)
    assert [f.pts_time for f in score.frames] == pytest.approx([t for t in times if t > times[0] + 1 + 1e-6])
    assert command("vectors", video, tmp_path / "v.csv", "--start", "1").returncode == 0
    assert command("vectors", video, tmp_path / "v.npys", "--start", "1").returncode == 0
    assert next(gpume.read_fields(str(tmp_path / "v.npys"))).pts_time == pytest.approx(times[0] + 1.04)


def test_cuts_of_a_part(tmp_path):
    video = make(tmp_path / "film.mkv", PAN + ",trim=end_frame=15[a];mandelbrot=s=200x140:r=10,format=yuv420p,"
                 "trim=end_frame=8[b];[a][b]concat", "-c:v", "ffv1", "-output_ts_offset", "3")
    assert gpume.motion_score(video).cuts == gpume.motion_score(video, start=1).cuts == [pytest.approx(4.5)]
    assert json.loads(command("score", video, "--json", "--start", "0:01").stdout)["cuts"] == [pytest.approx(4.5)]


def test_nothing_in_the_part(clip, tmp_path):
    sound = make(tmp_path / "both.mkv", PAN + ",trim=end_frame=5[out0];sine=d=9[out1]", "-c:v", "ffv1", "-c:a", "flac")
    for video in (clip, sound):
        for call in (lambda: list(gpume.vectors(video, start=5)), lambda: gpume.motion_score(video, start=5),
                     lambda: gpume.denoise(video, tmp_path / "x.mkv", start=5), lambda: gpume.draw(video, tmp_path / "x.png", start=5),
                     lambda: gpume.disparity(video, video, tmp_path / "x.npy", start=5)):
            with pytest.raises(gpume.Error, match="the input has no frame in this part"):
                call()
    said = command("denoise", clip, tmp_path / "x.mkv", "--start", "100")
    assert said.returncode == 1 and b"no frame in this part" in said.stderr
    assert os.listdir(tmp_path) == ["both.mkv"]


@pytest.mark.parametrize("ending,codec", [("mkv", "mpeg4"), ("avi", "mjpeg"), ("ts", "mpeg2video"), ("mkv", "ffv1")])
def test_damage(tmp_path, ending, codec):
    good = pathlib.Path(make(tmp_path / ("good." + ending), "testsrc2=s=320x240:r=30,format=yuv420p,trim=end_frame=60", "-c:v",
                             codec, "-q:v", "4"))
    data = bytearray(good.read_bytes())
    at = len(data) // 3
    data[at:at + 60000] = np.random.default_rng(1).integers(0, 256, 60000, np.uint8).tobytes()
    bad, cut = tmp_path / ("bad." + ending), tmp_path / ("cut." + ending)
    bad.write_bytes(data)
    cut.write_bytes(good.read_bytes()[:at])
    nb = len(list(gpume.vectors(good, algo="ds", block=32, strict=True)))
    assert nb == 59
    for video in [bad] + [cut] * (ending == "mkv"):
        with pytest.warns(gpume.FFmpegWarning, match="input is damaged") as caught:
            assert len(list(gpume.vectors(video, algo="ds", block=32))) < nb
        assert caught[0].filename == __file__
        with pytest.warns(gpume.FFmpegWarning, match="input is damaged"):
            gpume.denoise(video, tmp_path / "x.mkv", radius=0, sigma=1)
        with pytest.warns(gpume.FFmpegWarning, match="input is damaged"):
            gpume.motion_score(video, algo="ds")
        (tmp_path / "x.mkv").unlink()
        for call in (lambda: list(gpume.vectors(video, algo="ds", block=32, strict=True)),
                     lambda: gpume.motion_score(video, algo="ds", strict=True),
                     lambda: gpume.denoise(video, tmp_path / "x.mkv", radius=0, sigma=1, strict=True)):
            with pytest.raises(gpume.Error):
                call()
        said = command("score", video)
        assert said.returncode == 0 and b"gpume: warning: the input is damaged" in said.stderr
        assert command("draw", video, tmp_path / "x.mkv", "--strict").returncode == 1
    assert not (tmp_path / "x.mkv").exists()


def test_remarks_of_filters(tmp_path):
    """What a filter warns of reaches the user."""
    video = make(tmp_path / "film.mkv", PAN + ",trim=end_frame=3,setfield=tff", "-c:v", "ffv1", "-flags", "+ildct")
    with pytest.warns(gpume.FFmpegWarning, match="interlaced"):
        gpume.interpolate(video, tmp_path / "x.mkv")


def test_without_warnings(clip, tmp_path):
    """python -W error finds nothing, also where things are not used up."""
    script = ("import gc, sys, numpy, gpume\nclip, out = sys.argv[1:]\n"
              "list(gpume.vectors(clip))\nnext(gpume.vectors(clip))\ngpume.denoise(clip, out)\ngpume.motion_score(clip)\n"
              "e = gpume.Estimator(64, 48)\ne.push(numpy.zeros((48, 64), 'u1'))\ndel e\n"
              "f = gpume.vectors(clip)\nnext(f)\nf.close()\ndel f\ngc.collect()\n"
              "try: gpume.denoise(clip, out, nosuch=1)\nexcept gpume.Error: pass\n")
    said = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", script, clip, str(tmp_path / "x.mkv")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (said.returncode, said.stderr) == (0, b"")


@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_files_that_fail(clip, tmp_path, kind):
    """Errors are those of open(), for texts and paths alike."""
    none, out = kind(tmp_path / "none.mkv"), kind(tmp_path / "x.mkv")
    calls = [lambda p: gpume.vectors(p), lambda p: gpume.motion_score(p), lambda p: gpume.denoise(p, out),
             lambda p: gpume.disparity(clip, p, out), lambda p: gpume.disparity(p, None, out, layout="sbsl")]
    for call in calls:
        with pytest.raises(FileNotFoundError, match="none.mkv"):
            call(none)
        with pytest.raises(IsADirectoryError):
            call(kind(tmp_path))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        gpume.denoise(clip, kind(tmp_path))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        gpume.denoise(clip, str(tmp_path / "new") + os.sep)
    with pytest.raises(FileNotFoundError):
        gpume.denoise(clip, kind(tmp_path / "nowhere" / "x.mkv"))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which even root cannot write")
def test_read_only_folder(clip, tmp_path):
    folder = "/proc/self"
    if os.getuid():
        folder = tmp_path / "locked"
        folder.mkdir(0o500)
    for out in (os.path.join(folder, "x.mkv"), os.path.join(folder, "x.png"), os.path.join(folder, "x.mp4")):
        with pytest.raises(OSError) as info:
            gpume.draw(clip, out)
        assert not isinstance(info.value, gpume.Error)
    said = command("vectors", clip, os.path.join(folder, "x.npy"))
    assert said.returncode == 1 and b"Traceback" not in said.stderr and b"x." in said.stderr


@pytest.mark.parametrize("call,text", [
    (lambda c, out: gpume.interpolate(c, out, mode="best"), "mode is 'best'; it must be one of mci, blend, dup"),
    (lambda c, out: gpume.draw(c, out, mode="arows"), "mode is 'arows'; it must be some of, joined by .*arrows, flow, blocks"),
    (lambda c, out: gpume.vectors(c, algo="no"), "algo is 'no'; it must be one of fs, .*hme"),
    (lambda c, out: gpume.draw(c, out, search={"algo": "no"}), "algo is 'no'; it must be one of fs, .*hme"),
    (lambda c, out: gpume.disparity(c, c, out, backend="gpu"), "backend is 'gpu'; it must be one of auto, cpu, cuda"),
    (lambda c, out: gpume.disparity(c, c, out, show="grey"), "output is 'grey'; it must be one of disparity, .*gray8"),
    (lambda c, out: gpume.denoise(c, out, radius=9), "radius is 9; it must be from 0 to 4"),
    (lambda c, out: gpume.denoise(c, out, sigma=None), "sigma is None; an option"),
    (lambda c, out: gpume.denoise(c, out, radius=[1]), "radius is \\[1\\]; an option"),
    (lambda c, out: gpume.denoise(c, out, sigmma=3), "'sigmma' is no option of the filter mvdenoise; it has .*sigma"),
    (lambda c, out: gpume.Estimator(64, 48, nosuch=3), "'nosuch' is no option of the filter gpume"),
    (lambda c, out: gpume.denoise(c, out.with_suffix("")), "has no ending; it must end in one of .mkv, .mp4"),
    (lambda c, out: gpume.denoise(c, out.with_suffix(".xyz")), "ends in .xyz; it must end in one of .mkv, .mp4"),
    (lambda c, out: gpume.denoise(c, out, quality=0), "quality is 0; it must be from 1"),
])
def test_messages(clip, tmp_path, call, text):
    with pytest.raises(ValueError, match=text):
        call(clip, tmp_path / "x.mkv")
    assert not os.listdir(tmp_path)


def test_option_errors_are_both_kinds(clip):
    with pytest.raises(gpume.Error):
        gpume.vectors(clip, nosuch=1)
    assert issubclass(gpume.OptionError, gpume.Error) and issubclass(gpume.OptionError, ValueError)


def test_command_can_be_pasted(tmp_path):
    video = tmp_path / "a film's.mkv"
    video.write_text("none")
    with pytest.raises(gpume.Error) as info:
        list(gpume.vectors(video))
    line = str(info.value).rsplit("command: ", 1)[1]
    assert subprocess.run(["sh", "-c", 'for a; do printf "%s\\n" "$a"; done', "sh"] + info.value.command, check=True,
                          stdout=subprocess.PIPE).stdout == subprocess.run(
        ["sh", "-c", f'for a in {line}; do printf "%s\\n" "$a"; done'], check=True, stdout=subprocess.PIPE).stdout


def test_missing_program(monkeypatch, clip, tmp_path):
    monkeypatch.setenv("GPUME_FFMPEG", str(tmp_path / "nothing"))
    for call in (lambda: gpume.vectors(clip), lambda: gpume.Estimator(64, 48), lambda: gpume.denoise(clip, tmp_path / "x.mkv")):
        with pytest.raises(gpume.Error, match="GPUME_FFMPEG is '.*nothing', which is no program"):
            call()
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 'Unknown filter.'\n")
    other.chmod(0o755)
    monkeypatch.setenv("GPUME_FFMPEG", str(other))
    with pytest.raises(gpume.Error, match="has no filter 'gpume'"):
        gpume.vectors(clip)
