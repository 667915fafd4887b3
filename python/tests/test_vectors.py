# SPDX-License-Identifier: LGPL-2.1-or-later
"""Vectors of files and arrays, against what the filter writes."""

import csv
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import gpume


def by_filter(clip, options, tmp_path, name="v.npy"):
    """Return what gpume writes into a file."""
    subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-i", clip, "-vf", f"gpume={options}:mv_file={name}",
                    "-f", "null", "-"], check=True, cwd=tmp_path, stdin=subprocess.DEVNULL)
    return tmp_path / name


@pytest.mark.parametrize("options", [{"algo": "hme"}, {"algo": "ds", "range": 12, "block": 16, "refs": 2},
                                     {"algo": "hme", "dir": "both", "block": 16, "pel": 2}])
def test_same_as_file(clip, tmp_path, options):
    text = ":".join(f"{k}={v}" for k, v in options.items())
    array = np.load(by_filter(clip, text, tmp_path))
    refs = options.get("refs", 1)
    distances = [-d for d in range(1, refs + 1)] + ([1] if options.get("dir") == "both" else [])
    nb = 0
    for field in gpume.vectors(clip, device="cpu", **options):
        same = array[field.number - 1, distances.index(field.distance)]
        assert np.array_equal(field.mv * field.pel, same[..., :2])
        assert np.array_equal(field.cost, same[..., 2])
        assert (field.width, field.height) == (200, 140)
        assert field.pts_time == pytest.approx((field.number - 1) / 10, abs=1e-3)
        nb += 1
    assert nb == (array[..., 0, 0, 2] >= 0).sum() > 0


def test_consistent_and_tree(clip, tmp_path):
    path = by_filter(clip, "algo=hme:tree=1:qp=36", tmp_path, "v.csv")
    with open(path) as f:
        rows = list(csv.DictReader(f))
    fields = list(gpume.vectors(clip, tree=True, qp=36))
    assert sum(len(f.cost) for f in fields) == len(rows)
    at = 0
    for field in fields:
        flow = field.flow()
        assert flow.shape == (140, 200, 2)
        for i in range(len(field.cost)):
            row = {k: v for k, v in rows[at].items()}
            at += 1
            x, y = int(field.x[i]), int(field.y[i])
            assert x == int(row["dstx"]) - int(row["blockw"]) // 2 and y == int(row["dsty"]) - int(row["blockh"]) // 2
            assert field.mv[i].tolist() == [int(row["motion_x"]) / 4, int(row["motion_y"]) / 4]
            assert field.consistent[i] == (int(row["flags"], 16) == 0)
            assert (flow[y:y + int(row["blockh"]), x:x + int(row["blockw"])] == field.mv[i]).all()
    assert any((~f.consistent).any() for f in fields)


def test_direction_and_flow():
    """The window moves right and down, so the picture in it moves left and up."""
    noise = np.random.default_rng(3).integers(0, 256, (60, 80)).repeat(4, 0).repeat(4, 1)
    texture = ((noise[:-2, :-2] + noise[1:-1, 1:-1] + 2 * noise[2:, 2:]) // 4).astype(np.uint8)
    found = []
    with gpume.Estimator(202, 140, both=True) as e:
        for i in range(4):
            found += e.push(texture[2 * i:2 * i + 140, 3 * i:3 * i + 202])
        found += e.flush()
    assert [(f.number, f.distance) for f in found] == [(1, 1), (2, -1), (2, 1), (3, -1), (3, 1), (4, -1)]
    for field in found:
        assert field.mv.shape == (18, 26, 2) and field.mv.dtype == np.float32 and field.cost.dtype == np.int32
        flow = field.flow()
        assert flow.shape == (140, 202, 2)
        assert (np.median(flow, axis=(0, 1)) == [-3 * field.distance, -2 * field.distance]).all()
        assert (flow[:8, :8] == field.mv[0, 0]).all() and (flow[-4:, -2:] == field.mv[-1, -1]).all()


def test_parts_and_sizes(clip):
    fields = list(gpume.vectors(pathlib.Path(clip), size=(100, 70), start=0.2, duration=0.3))
    assert len(fields) == 2 and (fields[0].width, fields[0].height) == (100, 70)
    assert next(gpume.vectors("testsrc2=s=64x48,trim=end_frame=2", input_options=["-f", "lavfi"])).width == 64


def test_two_at_once_and_closing(long_clip):
    with gpume.vectors(long_clip, algo="ds") as a, gpume.vectors(long_clip, algo="hexbs", block=32) as b:
        for one, other in zip(a, b):
            assert one.number == other.number
            if one.number == 4:
                break
        process = a._records._process
    assert process.wait() != 0
    with pytest.raises(StopIteration):
        next(a)
    a.close()


@pytest.mark.parametrize("both,refs", [(False, 1), (True, 1), (True, 2)])
def test_estimator(clip, both, refs):
    """Arrays have the vectors of the file that they come from."""
    raw = subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-i", clip, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
                         check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(6, 210, 200)
    wanted = list(gpume.vectors(clip, dir="both" if both else "past", refs=refs))
    found, ahead = [], refs if both else 0
    with gpume.Estimator(200, 140, "yuv420p", both=both, refs=refs, fps=10) as e:
        for i, frame in enumerate(frames):
            fields = e.push(frame)
            assert all(f.number == i + 1 - ahead for f in fields) and bool(fields) == (i > ahead or both and i == ahead)
            found += fields
        found += e.flush()
        with pytest.raises(ValueError):
            e.push(frames[0])
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert (one.number, one.distance) == (other.number, other.distance)
        assert np.array_equal(one.mv, other.mv) and np.array_equal(one.cost, other.cost)
        assert one.pts_time == pytest.approx(other.pts_time, abs=1e-3)


def test_estimator_of_16_bits_and_colours():
    noise = np.random.default_rng(1).integers(0, 65535, (120, 160), np.uint16)
    with gpume.Estimator(96, 64, "gray16le", algo="fs", block=16, device="cpu") as e:
        assert e.push(noise[:64, :96]) == []
        # what is at (x, y) was at (x + 3, y + 5)
        assert (e.push(noise[5:69, 3:99])[0].mv[1, 1] == [3, 5]).all()
        assert (e.push(noise[10:74, 6:102])[0].mv[:2, :4] == [3, 5]).all()
    with gpume.Estimator(96, 64, "rgb24") as e:
        e.push(np.zeros((64, 96, 3), np.uint8))
        assert not e.push(np.zeros((64, 96, 3), np.uint8))[0].mv.any()


@pytest.mark.parametrize("call", [
    lambda: gpume.Estimator(64, 48, "nv12"), lambda: gpume.Estimator(65, 48, "yuv420p"),
    lambda: gpume.Estimator(0, 48), lambda: gpume.Estimator(64, 48, refs=9), lambda: gpume.Estimator(64, 48, fps=0),
    lambda: gpume.vectors("x", device="gpu"), lambda: gpume.vectors("x", device=-1),
])
def test_bad_values(call):
    with pytest.raises(ValueError):
        call()


def test_bad_frame():
    with gpume.Estimator(64, 48) as e:
        for frame in (np.zeros((48, 65), np.uint8), np.zeros((48, 64), np.float32), np.zeros((48, 64, 3), np.uint8)):
            with pytest.raises(ValueError, match="it must be uint8"):
                e.push(frame)


def test_errors(tmp_path, clip):
    for name in (tmp_path / "none.mp4", str(tmp_path / "none.mp4")):
        with pytest.raises(FileNotFoundError, match="No such file"):
            gpume.vectors(name)
    with pytest.raises(IsADirectoryError):
        gpume.vectors(str(tmp_path))
    with pytest.raises(gpume.Error, match="No such file") as info:
        next(gpume.vectors("file:none.mp4"))
    assert info.value.command[0] == gpume.ffmpeg_exe() and info.value.lines and info.value.status
    with pytest.raises(gpume.Error, match="'levels' is only valid with algo=hme"):
        list(gpume.vectors(clip, algo="ds", levels=3))
    with pytest.raises(gpume.Error, match="nosuch"):
        list(gpume.vectors(clip, nosuch=1))
    with pytest.raises(TypeError, match="'mv_file' is not valid here"):
        gpume.vectors(clip, mv_file="x.csv")
    text = tmp_path / "text.mp4"
    text.write_text("this is no video")
    with pytest.raises(gpume.Error):
        list(gpume.vectors(text))
    e = gpume.Estimator(64, 48, algo="ds", levels=3)
    with pytest.raises(gpume.Error, match="levels"):
        for _ in range(20):
            e.push(np.zeros((48, 64), np.uint8))


def test_records(tmp_path, clip):
    path = by_filter(clip, "algo=ds", tmp_path, "v.npys")
    fields = list(gpume.read_fields(str(path)))
    assert len(fields) == 5
    with open(path, "rb") as f:
        assert np.array_equal(np.load(f)["mv"], fields[0].mv)
    # as workers of PyTorch's DataLoader pass them
    copy = pickle.loads(pickle.dumps(fields[1]))
    assert np.array_equal(copy.mv, fields[1].mv) and copy.number == 3
    data = path.read_bytes()
    (tmp_path / "cut.npys").write_bytes(data[:-1])
    with pytest.raises(ValueError, match="mid-record"):
        list(gpume.read_fields(str(tmp_path / "cut.npys")))
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(ValueError):
        list(gpume.read_fields(str(tmp_path / "other")))
