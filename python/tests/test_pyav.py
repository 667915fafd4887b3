# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside PyAV: the same vectors for frames that it has decoded and, if its FFmpeg has the filter gpume, the same
arrays as the side data of its frames. tests/pyav_filters.py gives it the filter."""

import numpy as np
import pytest

import gpume

av = pytest.importorskip("av")


def test_decoded_frames(clip):
    """Frames that PyAV decodes have the vectors of the file."""
    found = []
    with av.open(clip) as video, gpume.Estimator(200, 140, "yuv420p", both=True, fps=10) as e:
        for frame in video.decode(video=0):
            found += e.push(frame.to_ndarray(format="yuv420p"))
        found += e.flush()
    wanted = list(gpume.vectors(clip, dir="both"))
    assert len(found) == len(wanted) == 10
    for a, b in zip(found, wanted):
        assert (a.number, a.distance) == (b.number, b.distance)
        assert np.array_equal(a.mv, b.mv) and np.array_equal(a.cost, b.cost) and np.array_equal(a.consistent, b.consistent)


def side_data(path, options):
    """Yield the motion vectors of frames behind the filter gpume, as PyAV has them."""
    with av.open(path) as video:
        graph, stream = av.filter.Graph(), video.streams.video[0]
        source, search, sink = graph.add_buffer(template=stream), graph.add("gpume", options), graph.add("buffersink")
        source.link_to(search)
        search.link_to(sink)
        graph.configure()

        def out():
            while True:
                try:
                    frame = sink.pull()
                except (av.error.BlockingIOError, av.error.EOFError):
                    return
                vectors = frame.side_data.get("MOTION_VECTORS")
                yield None if vectors is None else vectors.to_ndarray()
        for frame in video.decode(stream):
            source.push(frame)
            yield from out()
        source.push(None)
        yield from out()


@pytest.mark.skipif("gpume" not in av.filter.filters_available, reason="PyAV's FFmpeg has no filter gpume")
@pytest.mark.parametrize("options", [{"algo": "hme", "dir": "both", "refs": 2}, {"algo": "ds", "block": 16, "range": 12},
                                     {"algo": "hme", "tree": True, "qp": 36}])
def test_side_data(clip, options):
    """The arrays of this package are those of frame.side_data."""
    fields = {}
    for field in gpume.vectors(clip, device="cpu", **options):
        fields.setdefault(field.number, []).append(field)
    text = ":".join(f"{k}={int(v) if v is True else v}" for k, v in options.items())
    nb = 0
    for number, array in enumerate(side_data(clip, text), 1):
        assert (array is not None) == (number in fields)
        for field in fields.get(number, []):
            same = array[array["source"] == field.distance]
            mv = np.stack([same["motion_x"], same["motion_y"]], axis=1) / same["motion_scale"][:, None]
            assert np.array_equal(mv, field.mv.reshape(-1, 2))
            assert np.array_equal(same["flags"] & 1 == 0, field.consistent.reshape(-1))
            if field.x is not None:
                assert np.array_equal(same["dst_x"] - same["w"] // 2, field.x)
                assert np.array_equal(same["dst_y"] - same["h"] // 2, field.y)
            nb += len(same)
        if array is not None:
            assert len(array) == sum(len(f.cost.reshape(-1)) for f in fields[number])
    assert number == 6 and nb
