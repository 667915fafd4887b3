# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tasks of doc/tasks.md: each script runs as it is, and its results are those of a texture that moves."""

import csv
import os
import pathlib
import runpy
import sys

import numpy as np
import pytest

from conftest import make

FOLDER = next((p for p in (pathlib.Path(__file__).parents[1] / "examples", pathlib.Path("/opt/examples")) if p.is_dir()), None)
pytestmark = pytest.mark.skipif(FOLDER is None or "GPUME_WINE" in os.environ, reason="the examples are not there")


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """A texture of which the content moves by (-4, -2) a frame; a folder of its own has it."""
    return make(tmp_path_factory.mktemp("films") / "film.mkv", "color=gray:s=80x60:r=25,trim=end_frame=1,noise=alls=100,loop=11:1,"
                "scale=320x240,format=yuv420p,crop=200:140:4*n:2*n", "-c:v", "ffv1")


def run(monkeypatch, name, *arguments):
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    return runpy.run_path(str(FOLDER / name), run_name="__main__")


def test_regions(monkeypatch, video, tmp_path):
    pytest.importorskip("pandas")
    run(monkeypatch, "regions_to_pandas.py", video, tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == 33 and [row["region"] for row in rows[:3]] == ["left", "right", "middle"]
    assert {round(float(row["time"]), 2) for row in rows} == {n / 25 for n in range(1, 12)}
    for row in rows:
        if row["region"] == "middle":
            assert (abs(float(row["x"]) + 4), abs(float(row["y"]) + 2), abs(float(row["motion"]) - 20 ** 0.5)) < (0.1, 0.1, 0.1), row


def test_flow(monkeypatch, video, tmp_path):
    made = run(monkeypatch, "torch_dataset.py", video, tmp_path / "out.png")
    pairs = list(made["Flow"]([video, video], size=(200, 140)))
    assert len(pairs) == 22 and (tmp_path / "out.png").stat().st_size > 1000
    for picture, flow in pairs:
        assert picture.shape == (3, 140, 200) and picture.max() <= 1 and np.median(flow, axis=(1, 2)).tolist() == [-4, -2]


def test_camera(monkeypatch, video, tmp_path):
    made = run(monkeypatch, "denoise_camera.py", video, tmp_path / "out.png")
    assert made["waiting"] == [] and (tmp_path / "out.png").read_bytes()[16:24] == b"\0\0\5\0\0\0\1\x68"     # 1280x360


def test_cuts(monkeypatch, video, tmp_path, capsys):
    (tmp_path / "films").mkdir()
    make(tmp_path / "films" / "two.mkv", "testsrc2=s=160x120:r=25,trim=end_frame=10[a];mandelbrot=s=160x120:r=25,trim=end_frame=10[b];"
         "[a][b]concat", "-c:v", "ffv1")
    (tmp_path / "films" / "one.mkv").write_bytes(pathlib.Path(video).read_bytes())
    (tmp_path / "films" / "text.txt").write_text("no video")
    run(monkeypatch, "cuts.py", tmp_path / "films", tmp_path / "out.png")
    said = capsys.readouterr()
    assert said.out == "one.mkv: 0 cuts in 12 frames\ntwo.mkv: 1 cuts in 20 frames 0.40 s\n" and said.err.startswith("text.txt: no video")


def test_slow_motion(monkeypatch, video, tmp_path):
    made = run(monkeypatch, "slow_motion.py", video, tmp_path / "out.png")
    assert [f.pts for f in made["slow"][:45]] == [n / 4 for n in range(45)] and len(made["slow"]) == 48
    assert np.array_equal(made["slow"][8], made["frames"][2]) and (tmp_path / "out.png").stat().st_size > 1000


@pytest.mark.parametrize("name", sorted(p.name for p in FOLDER.glob("*.py")) if FOLDER else [])
def test_usage(monkeypatch, name):
    with pytest.raises(SystemExit, match="usage: " + name):
        run(monkeypatch, name)
