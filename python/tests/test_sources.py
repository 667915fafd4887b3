# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures beside their fields, the decoder's vectors, files that are no names, options in help()."""

import io
import os
import pathlib
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import gpume
from conftest import PAN, make
from gpume import _options

on_posix = pytest.mark.skipif(sys.platform == "win32" or "GPUME_WINE" in os.environ, reason="not on Windows")


def raw(path, pix_fmt, *more):
    return subprocess.run([gpume.ffmpeg_exe(), "-v", "error", *more, "-i", path, "-f", "rawvideo", "-pix_fmt", pix_fmt, "-"],
                          check=True, stdout=subprocess.PIPE).stdout


@on_posix
@pytest.mark.parametrize("options", [{}, {"dir": "future"}, {"dir": "both", "refs": 2, "block": 4}, {"tree": True}],
                         ids=lambda o: "-".join(o) or "past")
@pytest.mark.parametrize("pix_fmt", ["rgb24", "gray", "yuv420p", "yuv444p16le"])
def test_pictures(clip, pix_fmt, options):
    """Each picture is ffmpeg's, and its fields are those without pictures."""
    fields = list(gpume.vectors(clip, **options))
    pairs = list(gpume.vectors(clip, pictures=pix_fmt, **options))
    assert b"".join(picture.tobytes() for picture, _ in pairs) == raw(clip, pix_fmt) and len(pairs) == 6
    assert pairs[0][0].shape == {"rgb24": (140, 200, 3), "gray": (140, 200), "yuv420p": (210, 200)}.get(pix_fmt, (3, 140, 200))
    assert [f.number for n, (_, some) in enumerate(pairs) for f in some if f.number != n + 1] == []
    some = [f for _, some in pairs for f in some]
    assert len(some) == len(fields) > 4
    for one, two in zip(some, fields):
        assert one.distance == two.distance and one.number == two.number and np.array_equal(one.mv, two.mv)


@on_posix
def test_large_pictures(tmp_path):
    """Pictures and fields that no pipe holds, one picture, scaled ones, an early end."""
    big = make(tmp_path / "big.mkv", "testsrc2=s=1920x1080:r=5,trim=end_frame=3", "-c:v", "ffv1")
    for direction, nb in (("past", [0, 1, 1]), ("future", [1, 1, 0])):
        pairs = list(gpume.vectors(big, pictures="rgb24", dir=direction, block=4, algo="ds"))
        assert [len(fields) for _, fields in pairs] == nb and pairs[2][0].shape == (1080, 1920, 3)
    one = make(tmp_path / "one.mkv", "testsrc2=s=64x48:r=5,trim=end_frame=1", "-c:v", "ffv1")
    (picture, fields), = gpume.vectors(one, pictures="gray")
    assert picture.shape == (48, 64) and fields == []
    with gpume.vectors(big, pictures="gray", size="320x180") as pairs:
        assert next(pairs)[0].shape == (180, 320)
    with pytest.raises(StopIteration):
        next(pairs)
    for bad, what in (({"pictures": "nv12"}, "must be one of gray, yuv420p"), ({"pictures": "yuv420p", "size": (63, 48)}, "must be even"),
                      ({"pictures": "gray", "nosuch": 1}, "nosuch"), ({"source": "file"}, "must be 'search' or 'codec'")):
        with pytest.raises(ValueError, match=what):
            gpume.vectors(one, **bad)
    with pytest.raises(FileNotFoundError):
        gpume.vectors(tmp_path / "none.mkv", pictures="gray")


@pytest.mark.parametrize("codec", ["mpeg4", "mpeg2video", "libopenh264"])
def test_codec(tmp_path, codec):
    """The decoder's vectors point where the content has been: 4 to the right and 2 down in the frame before."""
    known = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-encoders"], check=True, stdout=subprocess.PIPE).stdout.decode()
    if codec not in known:
        pytest.skip("this ffmpeg has no encoder " + codec)
    more = {"libopenh264": ["-b:v", "2M"], "mpeg4": ["-q:v", "2"]}.get(codec, ["-q:v", "2", "-bf", "2"])
    video = make(tmp_path / "film.mkv", "color=gray:s=80x60:r=25,trim=end_frame=1,noise=alls=100,loop=11:1,scale=320x240,format=yuv420p,"
                 "crop=200:140:4*n:2*n", "-c:v", codec, "-g", "100", *more)
    fields = list(gpume.vectors(video, source="codec"))
    kinds = {f.number: f.frame_type for f in fields}
    assert len(kinds) == 12 and kinds[1] == "I" and "I" not in list(kinds.values())[1:]
    assert len(fields[0].mv) == 0 and fields[0].grid().shape == (9, 13, 2) and fields[0].distance == -1
    # FFmpeg's decoders of MPEG say nothing of the frame that comes out when the file ends
    fields = [f for f in fields if len(f.mv) or f.number < 12]
    for f in fields[1:]:
        assert f.cost.shape == (len(f.mv),) and f.x.min() >= 0 and f.size.shape == (len(f.mv), 2) and (f.width, f.height) == (200, 140)
        if codec != "mpeg2video":
            assert f.frame_type == "P" and np.median(f.mv, axis=0).tolist() == [4, 2]
    if codec == "mpeg2video":
        assert {f.distance for f in fields if f.frame_type == "B"} == {-1, 1}
        near = [f for f in fields if f.frame_type == "B" and f.number in (2, 3)]     # between the frames 1 and 4
        assert [np.median(f.mv, axis=0).tolist() for f in near] == [[4, 2], [-8, -4], [8, 4], [-4, -2]]
    one = fields[-1]
    grid = one.grid()
    for i in range(len(one.mv)):
        y, x = one.y[i] // one.block, one.x[i] // one.block
        if y < grid.shape[0] and x < grid.shape[1]:
            assert grid[y, x].tolist() == one.mv[i].tolist()
    if sys.platform != "win32" and "GPUME_WINE" not in os.environ:
        pairs = list(gpume.vectors(video, source="codec", pictures="gray"))
        assert [len(some) for _, some in pairs] == [sum(f.number == n for f in fields) or 1 for n in range(1, 13)]


def test_codec_is_the_same_in_each_run(tmp_path):
    """Decoders with several threads export other vectors in each run, so there must be one thread, whatever is wanted."""
    videos = [make(tmp_path / "film.mkv", "testsrc2=s=320x240:r=25,trim=end_frame=40,noise=alls=20:allf=t,format=yuv420p", "-c:v", "mpeg4",
                   "-bf", "2", "-q:v", "4")]
    places = [folder / name for folder in pathlib.Path(__file__).parents for name in ("h264.mkv", "tests/clips/h264.mkv")]
    videos += [str(path) for path in places if path.exists()][:1]
    for video in videos:
        one, two = ([(f.number, f.distance, f.frame_type, *(a.tobytes() for a in (f.mv, f.x, f.y, f.size)))
                     for f in gpume.vectors(video, source="codec", input_options=["-threads", "8"])] for _ in range(2))
        assert one == two and {"I", "P", "B"} == {kind for _, _, kind, *_ in one}, video


def test_codec_without_vectors(clip):
    with pytest.raises(gpume.Error, match="the codec is ffv1, whose decoder exports no vectors; .*h264, mpeg1video, mpeg2video"):
        gpume.vectors(clip, source="codec")
    with pytest.raises(TypeError, match="'block' is not valid with source='codec'"):
        gpume.vectors(clip, source="codec", block=8)


class Stuck(io.RawIOBase):
    """A file object that fails in the middle, and cannot go back."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, size=-1):
        if self.data.tell() > 3000:
            raise RuntimeError("the cable is out")
        return self.data.read(min(size, 2000))


def test_files_without_a_name(clip, tmp_path):
    data = pathlib.Path(clip).read_bytes()
    wanted = [f.mv for f in gpume.vectors(clip)]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(clip, "clip.mkv")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive, archive.open("clip.mkv") as member, open(clip, "rb") as file:
        for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), member, file):
            assert all(np.array_equal(f.mv, w) for f, w in zip(gpume.vectors(source), wanted))
    assert gpume.motion_score(data) == gpume.motion_score(clip)
    file = io.BytesIO(data)
    gpume.denoise(file, tmp_path / "a.mkv", sigma=3)
    gpume.denoise(clip, tmp_path / "b.mkv", sigma=3)
    assert raw(str(tmp_path / "a.mkv"), "yuv420p") == raw(str(tmp_path / "b.mkv"), "yuv420p")
    # more than a pipe holds, and no more is read
    with gpume.vectors(data * 50) as fields:
        next(fields)
    with pytest.raises(RuntimeError, match="the cable is out"):
        list(gpume.vectors(Stuck(data * 3)))
    with pytest.raises(ValueError, match="cannot be read twice: give its bytes"):
        gpume.motion_score(Stuck(data))
    with pytest.raises(TypeError, match="open the file in binary mode"):
        list(gpume.vectors(io.StringIO("text")))
    with pytest.raises(TypeError, match="names of files"):
        gpume.disparity(data, data, tmp_path / "x.mkv")
    late = make(tmp_path / "late.mp4", "testsrc2=s=640x480:r=25,trim=end_frame=50", "-c:v", "mpeg4", "-q:v", "2")
    early = make(tmp_path / "early.mp4", PAN + ",trim=end_frame=6", "-c:v", "mpeg4", "-movflags", "+faststart")
    assert len(list(gpume.vectors(pathlib.Path(early).read_bytes()))) == 5
    with pytest.raises(gpume.Error, match="has its index at its end: write it to a file"):
        list(gpume.vectors(pathlib.Path(late).read_bytes()))
    with pytest.raises(gpume.Error, match="has its index at its end: write it to a file"):
        list(gpume.vectors(pathlib.Path(late).read_bytes(), pictures="rgb24"))
    with pytest.raises(gpume.Error):
        list(gpume.vectors(b""))


def test_planes(clip, tmp_path):
    """A list, as in VapourSynth."""
    for planes, bits in (([0], 1), ([1, 2], 6), ([0, 0, 2], 5), (np.arange(2), 3)):
        gpume.denoise(clip, tmp_path / "a.mkv", sigma=9, planes=planes)
        gpume.denoise(clip, tmp_path / "b.mkv", sigma=9, planes=bits)
        assert raw(str(tmp_path / "a.mkv"), "yuv420p") == raw(str(tmp_path / "b.mkv"), "yuv420p")
    noise = np.random.default_rng(1).integers(0, 256, (4, 48, 64, 3), np.uint8)
    for pix_fmt in ("rgb24", "bgr24"):
        red = list(gpume.denoised(noise, pix_fmt=pix_fmt, sigma=20, planes=[0]))
        same = [all(np.array_equal(one[..., i], two[..., i]) for one, two in zip(red, noise)) for i in range(3)]
        assert same == ([False, True, True] if pix_fmt == "rgb24" else [True, True, False])
    for planes in ([], [4], [-1]):
        with pytest.raises(gpume.OptionError, match="planes is"):
            gpume.denoise(clip, tmp_path / "x.mkv", planes=planes)


@pytest.mark.skipif(not _options.HELP, reason="options are in help() where the wheel was made")
def test_help(clip):
    """Every function tells all options of its filter, as the program does, and asks no program for them."""
    for function, name, without in (
            (gpume.interpolate, "mvfps", "fps"), (gpume.Interpolator.__init__, "mvfps", "fps"), (gpume.denoise, "mvdenoise", ""),
            (gpume.Denoiser.__init__, "mvdenoise", ""), (gpume.deinterlace, "mvdeint", ""), (gpume.draw, "mvview", ""),
            (gpume.disparity, "mvstereo", "inputs output backend"), (gpume.vectors, "gpume", ""), (gpume.motion_score, "gpume", "dir refs")):
        text = subprocess.run([gpume.ffmpeg_exe(), "-hide_banner", "-h", "filter=" + name], check=True, stdout=subprocess.PIPE).stdout.decode()
        assert text.split() == _options.HELP[name].split()
        known = gpume._arguments._parse(text)
        for key in set(known) - set(without.split()) - gpume._arguments._OURS - {"device"}:
            assert f"        {key}: {known[key].text}\n" in function.__doc__ + "\n", (function, key)
    assert "sigma: double: standard deviation" in gpume.denoise.__doc__ and "(from 0 to 100) (default 0)" in gpume.denoise.__doc__
    assert "it is one of mci, blend, dup" in gpume.interpolate.__doc__
