# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plugin against ffmpeg, in any order, beside other plugins."""

import os
import random
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
import vapoursynth as vs

core = vs.core
FFMPEG = os.environ.get("GPUME_FFMPEG", "/opt/ffmpeg/ffmpeg")
EXAMPLES = os.environ.get("GPUME_EXAMPLES", os.path.dirname(FFMPEG))
STANDIN = os.environ.get("GPUME_STANDIN", "/opt/standin")
FFMS2 = "/usr/lib/x86_64-linux-gnu/libffms2.so.5"
W, H = 160, 128
NAMES = {vs.YUV420P8: "yuv420p", vs.YUV444P10: "yuv444p10le", vs.GRAY16: "gray16le", vs.RGB24: "gbrp", vs.RGB48: "gbrp16le",
         vs.YUV422P12: "yuv422p12le"}


def run(*arguments, data=None):
    return subprocess.run([FFMPEG, "-v", "error", *arguments, "-f", "rawvideo", "-"], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def source(nb, name="yuv420p", more=""):
    """Return frames, as bytes, of a pattern with noise."""
    return run("-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:r=24,format=yuv420p,noise=alls=14:allf=t{more},trim=end_frame={nb},"
               f"format={name}")


def planes(f):
    """Return the order in which ffmpeg has the planes."""
    return [1, 2, 0] if f.format.color_family == vs.RGB else range(f.format.num_planes)


def data_of(f):
    return b"".join(np.asarray(f[p]).tobytes() for p in planes(f))


def clip_of(raw, format=vs.YUV420P8, fps=(24, 1), w=W, h=H):
    blank = core.std.BlankClip(width=w, height=h, format=format, length=1, fpsnum=fps[0], fpsden=fps[1])
    size = len(data_of(blank.get_frame(0)))
    blank = blank * (len(raw) // size)

    def put(n, f):
        f, at = f.copy(), n * size
        for p in planes(f):
            a = np.asarray(f[p])
            a[:] = np.frombuffer(raw, a.dtype, a.size, at).reshape(a.shape)
            at += a.nbytes
        return f
    return core.std.ModifyFrame(blank, blank, put)


def by_ffmpeg(raw, filters, name="yuv420p", rate="24", w=W, h=H):
    return run("-f", "rawvideo", "-pixel_format", name, "-video_size", f"{w}x{h}", "-framerate", rate, "-i", "-", "-vf", filters,
               data=raw)


CASES = [
    (lambda c: core.gpume.Denoise(c, sigma=6), "mvdenoise=sigma=6"),
    (lambda c: core.gpume.Denoise(c, sigma=9, radius=1, passes=1, strength=0.7, planes=[0]),
     "mvdenoise=sigma=9:radius=1:passes=1:strength=0.7:planes=1"),
    (lambda c: core.gpume.Denoise(c, sigma=6, backend="cpu", radius=3), "mvdenoise=sigma=6:radius=3"),
    (lambda c: core.gpume.Denoise(c, sigma=6, radius=0), "mvdenoise=sigma=6:radius=0"),
    (lambda c: core.gpume.FPS(c), "mvfps"),
    (lambda c: core.gpume.FPS(c, fpsnum=60, backend="cpu"), "mvfps=fps=60"),
    (lambda c: core.gpume.FPS(c, fpsnum=1), "mvfps=fps=1"),
    (lambda c: core.gpume.FPS(c, fpsnum=60, scene=0, gap=0.01), "mvfps=fps=60:scene=0:gap=0.01"),
    (lambda c: core.gpume.FPS(c, fpsnum=30000, fpsden=1001, mode="blend"), "mvfps=fps=30000/1001:mode=blend"),
    (lambda c: core.gpume.FPS(c, fpsnum=10, search="algo=ds:block=16:dir=both"), "gpume=algo=ds:block=16:dir=both,mvfps=fps=10"),
    (lambda c: core.gpume.View(c, mode="flow+arrows", legend=1), "mvview=mode=flow+arrows:legend=1"),
    (lambda c: core.gpume.View(c, source="future", distance=2, backend="cpu"), "mvview=source=future:distance=2"),
    (lambda c: core.gpume.Deinterlace(c, tff=1, passes=1), "mvdeint=parity=tff:passes=1"),
    (lambda c: core.gpume.Deinterlace(c, tff=1, passes=3, refs=1), "mvdeint=parity=tff:passes=3:refs=1"),
    (lambda c: core.gpume.Deinterlace(c, tff=0, rate="single", passes=1), "mvdeint=parity=bff:passes=1:mode=send_frame"),
    (lambda c: core.gpume.Denoise(c, search="algo=hme:block=16:dir=both:refs=1", radius=1, sigma=6),
     "gpume=algo=hme:block=16:dir=both:refs=1,mvdenoise=radius=1:sigma=6"),
]


@pytest.mark.parametrize("make,filters", CASES, ids=[c[1] for c in CASES])
def test_same_as_ffmpeg(make, filters):
    """In order, and in any order."""
    nb = 24 if "mvdeint" in filters else 40
    raw = source(nb)
    wanted = by_ffmpeg(raw, filters)
    clip = make(clip_of(raw))
    size = len(data_of(clip.get_frame(0)))
    wanted = [wanted[i:i + size] for i in range(0, len(wanted), size)]
    assert len(clip) == len(wanted)
    # several frames at a time
    assert [data_of(f) for f in clip.frames(prefetch=8)] == wanted
    order = list(range(len(clip)))
    random.Random(1).shuffle(order)
    fresh = make(clip_of(raw))
    for n in order[:30]:
        assert data_of(fresh.get_frame(n)) == wanted[n], n
    back = make(clip_of(raw))
    for n in [*range(len(clip) - 1, max(len(clip) - 24, -1), -1), 0, len(clip) // 2]:
        assert data_of(back.get_frame(n)) == wanted[n], n


@pytest.mark.parametrize("fps,rate", [((24, 1), "24"), ((25, 1), "25"), ((30, 1), "30"), ((30000, 1001), "30000/1001"),
                                      ((24000, 1001), "24000/1001"), ((50, 1), "50")])
def test_number_of_frames(fps, rate):
    """FPS has as many frames as the filter, whatever the last one's time."""
    raw = source(7)
    size = len(raw) // 7
    for nb in (1, 2, 5, 7):
        for num, den in ((60, 1), (24, 1), (48000, 1001), (7, 2), (1, 1)):
            clip = core.gpume.FPS(clip_of(raw[:nb * size], fps=fps), fpsnum=num, fpsden=den, mode="dup")
            assert len(clip) == len(by_ffmpeg(raw[:nb * size], f"mvfps=fps={num}/{den}:mode=dup", rate=rate)) // size, (nb, num, den)
            assert clip.get_frame(len(clip) - 1)
    # as it was reported: 60 frames of 29.97 frames/s are 121 of 60
    blank = core.std.BlankClip(width=64, height=48, length=60, fpsnum=30000, fpsden=1001, format=vs.GRAY8)
    assert len(core.gpume.FPS(blank, fpsnum=60)) == 121


REPEATS = {"double": [n // 2 for n in range(20)], "five": [n // 5 for n in range(40)],
           "still": [0, 1, 2] + [3] * 23 + [4, 5, 6, 7]}


@pytest.mark.parametrize("name", list(REPEATS))
@pytest.mark.parametrize("make,filters", [
    (lambda c: core.gpume.Denoise(c, sigma=6), "mvdenoise=sigma=6"),
    (lambda c: core.gpume.FPS(c, fpsnum=60, repeats="interpolate"), "mvfps=fps=60:repeats=interpolate")],
    ids=["Denoise", "FPS"])
def test_repeats(make, filters, name):
    """Frames that repeat others are left out of the sequence, so that more frames before and behind are needed."""
    raw, size = source(8), W * H * 3 // 2
    raw = b"".join(raw[n * size:][:size] for n in REPEATS[name])
    wanted = by_ffmpeg(raw, filters)
    wanted = [wanted[i:i + size] for i in range(0, len(wanted), size)]
    assert [data_of(f) for f in make(clip_of(raw)).frames(prefetch=4)] == wanted
    for n in range(len(wanted)):
        assert data_of(make(clip_of(raw)).get_frame(n)) == wanted[n], n


def test_many_readers():
    """Requests from all over a clip, many at a time, more than there are runs."""
    raw, size = source(60), W * H * 3 // 2
    wanted = by_ffmpeg(raw, "mvdenoise=sigma=6:passes=1:radius=1")
    order = [n % 60 for n in range(0, 7 * 60, 7)]
    threads = core.num_threads
    core.num_threads = 8
    try:
        made = core.gpume.Denoise(clip_of(raw), sigma=6, passes=1, radius=1)
        futures = [made.get_frame_async(n) for n in order]
        for n, future in zip(order, futures):
            assert data_of(future.result(120)) == wanted[n * size:][:size], n
    finally:
        core.num_threads = threads


def test_all_options():
    """Each option of a filter that suits is an argument."""
    for function, name, without in (("Denoise", "mvdenoise", ""), ("FPS", "mvfps", "fps"), ("View", "mvview", ""),
                                    ("Deinterlace", "mvdeint", "mode parity")):
        said = subprocess.run([FFMPEG, "-hide_banner", "-h", "filter=" + name], check=True, stdout=subprocess.PIPE).stdout
        options = set(re.findall(r"^   (\w+) +<", said.decode().split("AVOptions")[1], re.M)) - set(without.split())
        arguments = re.findall(r"(\w+):", getattr(core.gpume, function).signature)
        assert options and options <= set(arguments), function
    assert core.gpume.Denoise.signature.startswith("clip:vnode;radius:int:opt;sigma:float:opt;strength:float:opt;")
    # as the page says
    for function, first in (("FPS", "clip fpsnum fpsden mode scene cut"), ("Vectors", "clip algo block range dir refs"),
                            ("Analyse", "super clip delta algo range")):
        assert re.findall(r"(\w+):\w+(?:\[\])?(?::opt)?;", getattr(core.gpume, function).signature)[:len(first.split())] == first.split()


@pytest.mark.parametrize("format", list(NAMES), ids=list(NAMES.values()))
def test_formats(format):
    raw = source(8, NAMES[format])
    clip = clip_of(raw, format)
    for made, filters in ((core.gpume.Denoise(clip, sigma=5), "mvdenoise=sigma=5"), (core.gpume.FPS(clip), "mvfps")):
        assert b"".join(data_of(f) for f in made.frames()) == by_ffmpeg(raw, filters, NAMES[format])
    assert core.gpume.View(clip).get_frame(3).format.id == format


def test_vectors(tmp_path):
    raw = source(12)
    by_ffmpeg(raw, f"gpume=algo=hme:dir=both:refs=2:mv_file={tmp_path}/v.npy")
    wanted = np.load(tmp_path / "v.npy")
    clip = core.gpume.Vectors(clip_of(raw), dir="both", refs=2)
    for n in (7, 6, 5, 0, 11, 8, 9, 1):
        f = clip.get_frame(n)
        p = f.props
        distances = [d for d in (-1, -2, 1, 2) if 0 <= n + d < 12]
        assert np.atleast_1d(p["GpumeDistances"]).tolist() == distances and data_of(f) == raw[n * W * H * 3 // 2:][:W * H * 3 // 2]
        for d in distances:
            name = ("Past" if d < 0 else "Future") + str(abs(d))
            shape = p["GpumeRows"], p["GpumeCols"]
            same = wanted[n, (-1, -2, 1, 2).index(d)]
            assert np.array_equal(np.frombuffer(p["GpumeVectors" + name], "<i4").reshape(*shape, 2), same[..., :2])
            assert np.array_equal(np.frombuffer(p["GpumeCosts" + name], "<i4").reshape(shape), same[..., 2])


def test_cuts():
    raw = source(6) + by_ffmpeg(source(6), "negate,hflip,transpose,scale=160:128:flags=neighbor")
    clip = core.gpume.Vectors(clip_of(raw))
    assert [n for n in range(1, 12) if clip.get_frame(n).props["_SceneChangePrev"]] == [6]


def test_scene_changes():
    """SCDetect tells both neighbours of a cut, as Vectors tells one, and leaves the rest alone."""
    raw = source(6) + by_ffmpeg(source(6), "negate,hflip,transpose,scale=160:128:flags=neighbor")
    clip = clip_of(raw).std.SetFrameProps(mine=3)
    made = core.gpume.SCDetect(clip)
    for n in (6, 0, 11, *range(12)):
        p = made.get_frame(n).props
        assert (p["_SceneChangePrev"], p["_SceneChangeNext"], p["mine"]) == (n == 6, n == 5, 3) and "GpumeCols" not in p, n
        assert data_of(made.get_frame(n)) == raw[n * W * H * 3 // 2:][:W * H * 3 // 2]
    with pytest.raises(vs.Error, match="^SCDetect: 'algo' is .no.; it must be"):
        core.gpume.SCDetect(clip, algo="no")


@pytest.mark.parametrize("tff", [0, 1])
def test_fields(tff):
    """Between the fields of a scene that stands still there is no motion, although their lines lie half a line apart."""
    smooth = clip_of(run("-f", "lavfi", "-i", f"perlin=s={W}x{H}:octaves=3:random_mode=seed:random_seed=2:xscale=9:yscale=9:r=24,"
                         "trim=end_frame=1,loop=5:1,format=yuv420p"))
    fields = smooth.std.SeparateFields(tff=tff)
    plain = core.gpume.Vectors(fields, dir="both", refs=2)
    moved = core.gpume.Vectors(fields, dir="both", refs=2, fields=1)
    for n in (0, 3, 4, 7):
        a, b = plain.get_frame(n).props, moved.get_frame(n).props
        for d in np.atleast_1d(a["GpumeDistances"]).tolist():
            name = "GpumeVectors" + ("Past" if d < 0 else "Future") + str(abs(d))
            one, two = (np.frombuffer(p[name], "<i4").reshape(-1, 2) for p in (a, b))
            is_top = tff != n % 2
            assert np.array_equal(two - one, np.broadcast_to([0, d % 2 * (2 if is_top else -2)], one.shape))
            assert np.median(two, axis=0).tolist() == [0, 0], (n, d)
    # without the property, tff says it
    bare = fields.std.RemoveFrameProps("_Field")
    with pytest.raises(vs.Error, match="does not say which field it is: set tff"):
        core.gpume.Vectors(bare, fields=1).get_frame(1)
    again = core.gpume.Vectors(bare, dir="both", refs=2, fields=1, tff=tff)
    for n in (5, 2):
        assert again.get_frame(n).props["GpumeVectorsPast1"] == moved.get_frame(n).props["GpumeVectorsPast1"]
    with pytest.raises(vs.Error, match="'tff' is only valid with fields=1"):
        core.gpume.Vectors(bare, tff=1)
    sup = core.mvu.Super(fields, blksize=[16, 16], overlap=[0, 0])
    def vertical(**more):
        v = np.array(core.gpume.Analyse(sup, fields, **more).get_frame(4).props["MVUtensilsAnalysisVectors"], np.int64)
        return np.median((v >> 32).astype(np.int32)) / core.gpume.Analyse(sup, fields).get_frame(4).props["MVUtensilsAnalysisPel"]
    assert vertical(fields=1) == 0 and vertical() == (-0.5 if tff else 0.5)


def test_delta():
    clip = clip_of(source(12))
    sup = core.mvu.Super(clip, blksize=[16, 16], overlap=[0, 0])
    many = core.gpume.AnalyseMany(sup, clip, radius=2, delta=2)
    theirs = core.mvu.AnalyseMany(sup, radius=2, delta=2)
    for made, same, delta in zip(many, theirs, (2, -2, 4, -4)):
        one = core.gpume.Analyse(sup, clip, delta=delta).get_frame(6).props
        assert made.get_frame(6).props["MVUtensilsAnalysisVectors"] == one["MVUtensilsAnalysisVectors"]
        assert made.get_frame(6).props["MVUtensilsAnalysisDeltaFrame"] == same.get_frame(6).props["MVUtensilsAnalysisDeltaFrame"] == delta
    assert len(many) == 4
    with pytest.raises(vs.Error, match="radius . delta at most 8"):
        core.gpume.AnalyseMany(sup, clip, radius=3, delta=3)


def shots(*lengths):
    """Return frames of shots of a shaken texture."""
    random = np.random.default_rng(3)
    frames = []
    for length in lengths:
        texture = random.integers(0, 256, (24, 28)).repeat(8, 0).repeat(8, 1)
        for axis in (0, 1):
            texture = sum(np.roll(texture, i, axis) for i in range(8)) // 8
        texture = texture.astype(np.uint8)
        for x, y in random.integers(0, 9, (length, 2)):
            frames.append(texture[y:y + H, x:x + W].tobytes() + bytes([128]) * (W * H // 2))
    return b"".join(frames)


@pytest.mark.parametrize("make,filters,furthest", [
    (lambda c: core.gpume.Stabilize(c, smoothing=3, zoom=1.1), "mvstab=smoothing=3:zoom=1.1", 28),
    (lambda c: core.gpume.Stabilize(c, smoothing=3), "mvstab=smoothing=3", 30),
    (lambda c: core.gpume.Stabilize(c, mode="tripod", border="black"), "mvstab=mode=tripod:border=black", 80),
    (lambda c: core.gpume.Stabilize(c, mode="follow", smoothing=4, border="keep"), "mvstab=mode=follow:smoothing=4:border=keep", 30)],
    ids=["smooth", "zoom", "tripod", "follow"])
def test_stabilize(make, filters, furthest):
    """A frame needs all of its shot before it, but not the shots before that."""
    raw = shots(50, 30, 20)
    wanted = by_ffmpeg(raw, filters)
    wanted = [wanted[i:i + W * H * 3 // 2] for i in range(0, len(wanted), W * H * 3 // 2)]
    clip, asked = clip_of(raw), []

    def count(n, f):
        asked.append(n)
        return f

    assert [data_of(f) for f in make(clip).frames(prefetch=8)] == wanted
    fresh = make(clip)
    for n in [70, 71, 20, 99, 98, 97, 96, 72, 73, 0, 85, 40, 55, 1, 84, 83]:
        assert data_of(fresh.get_frame(n)) == wanted[n], n
    jump = make(clip.std.ModifyFrame(clip, count))
    assert data_of(jump.get_frame(90)) == wanted[90] and min(asked) >= 90 - furthest
    # requests from all over the clip, many at a time
    fresh = make(clip)
    futures = [(n % 100, fresh.get_frame_async(n % 100)) for n in range(0, 700, 7)]
    assert all(data_of(f.result()) == wanted[n] for n, f in futures)


def test_stabilize_behind_black():
    """A run that starts in frames in which the path is held does not know the shot before them."""
    size, raw = W * H * 3 // 2, bytearray(shots(90))
    raw[20 * size:60 * size] = (bytes(W * H) + bytes([128]) * (W * H // 2)) * 40
    wanted = by_ffmpeg(bytes(raw), "mvstab=smoothing=3:border=mirror")
    for n in (75, 61, 89, 58):
        made = core.gpume.Stabilize(clip_of(bytes(raw)), smoothing=3, border="mirror")
        assert data_of(made.get_frame(n)) == wanted[n * size:(n + 1) * size], n


def test_help():
    """Help has the range, the default and the text of each option, as the program tells them."""
    for function, name in (("Denoise", "mvdenoise"), ("FPS", "mvfps"), ("View", "mvview"), ("Deinterlace", "mvdeint"),
                           ("Stabilize", "mvstab"), ("Vectors", "gpume")):
        text = core.gpume.Help(function)
        said = subprocess.run([FFMPEG, "-hide_banner", "-h", "filter=" + name], check=True, stdout=subprocess.PIPE).stdout.decode()
        lines = {key: (kind, more) for key, kind, more in re.findall(r"^   (\w+) +<(\w+)> +\S+ (.*)$", said.split("AVOptions")[1], re.M)}
        arguments = set(re.findall(r"(\w+):", getattr(core.gpume, function).signature))
        found = re.findall(r"^(\w+): (\w+)(.*)$", text, re.M)
        assert {key for key, _, _ in found} >= arguments & set(lines) - {"planes", "search", "algo", "device"} and len(found) > 2
        for key, type, more in found:
            kind, told = lines[key]
            what = told.split(" (from")[0].split(" (default")[0]
            assert more.endswith(": " + what), (function, key)
            limits = re.search(r"\(from (\S+) to (\S+)\) \(default (\S+)\)", told)
            if limits and "one of" not in more and kind != "duration":
                assert more.startswith(", %s to %s, default %s:" % limits.groups()), (function, key)
    with pytest.raises(vs.Error, match="must be one of Denoise, FPS, .*SCDetect"):
        core.gpume.Help("Blur")


def test_example():
    """What the example makes of a texture that moves: the frame before, moved, is this one; where all is fast, all is blurred."""
    path = os.path.join(EXAMPLES, "vectors-in-mvutensils.vpy")
    noise = np.random.default_rng(5).integers(0, 256, (70, 80)).repeat(4, 0).repeat(4, 1).astype(np.uint8)
    clip = clip_of(b"".join(noise[2 * n:2 * n + H, 8 * n:8 * n + W].tobytes() + bytes([128]) * (W * H // 2) for n in range(9)))
    vs.clear_outputs()
    runpy.run_path(path, {"clip": clip})
    blurred, before = (np.asarray(vs.get_output(i).clip.get_frame(4)[0]).astype(int)[32:-32, 32:-32] for i in (0, 1))
    this = np.asarray(clip.get_frame(4)[0]).astype(int)[32:-32, 32:-32]
    assert np.abs(before - this).mean() < 2 and 0.5 * this.std() < blurred.std() < 0.95 * this.std()
    vs.clear_outputs()


@pytest.mark.parametrize("format,most", [(vs.YUV420P8, 1), (vs.YUV444P16, 257), (vs.YUV420PS, 1 / 219)])
def test_vsdenoise(format, most):
    """The adaptor's vectors lead to the frames around, and vsdenoise's degrain takes noise out along them."""
    vsdenoise = pytest.importorskip("vsdenoise")
    search = runpy.run_path(os.path.join(EXAMPLES, "vsdenoise_vectors.py"))["search"]
    random = np.random.default_rng(5)
    texture = random.integers(60, 180, (70, 80)).repeat(4, 0).repeat(4, 1)
    frames = [texture[2 * n:2 * n + H, 8 * n:8 * n + W] for n in range(9)]
    clean, noisy = (clip_of(b"".join(np.rint(f + random.normal(0, sigma, f.shape)).astype(np.uint8).tobytes() + bytes([128]) * (W * H // 2)
                                     for f in frames)).resize.Point(format=format) for sigma in (0, 3))

    def error(one, other):
        one, other = (np.asarray(clip.get_frame(4)[0]).astype(float)[32:-32, 32:-32] for clip in (one, other))
        return np.abs(one - other).mean() / most
    mv = vsdenoise.MVTools(noisy)
    assert search(mv, tr=2) is mv.vectors and mv.vectors.deltas == [1, 2]
    assert 2 < error(noisy, clean) < 3 and error(mv.degrain(tr=2), clean) < 0.6 * error(noisy, clean)
    for direction in (vsdenoise.MVDirection.BACKWARD, vsdenoise.MVDirection.FORWARD):
        assert error(core.mvu.Compensate(clean, mv.super(clean), mv.vectors.get_vector(direction, 2)), clean) < 1
    assert error(vsdenoise.mc_degrain(noisy, vectors=mv.vectors, tr=2), clean) < 0.6 * error(noisy, clean)
    fields = vsdenoise.MVTools(noisy.std.SeparateFields(tff=1), field=True)
    assert search(fields, tr=2).deltas == [2, 4] and fields.degrain(tr=2).get_frame(4)


ON_GPU = """
import sys
import vapoursynth as vs
sys.path.insert(0, sys.argv[1])
import test_plugin as t
for name, format, options, filters in (
        ("yuv420p", vs.YUV420P8, {}, "mvdeint=parity=tff"),
        ("yuv444p", vs.YUV444P8, {"passes": 1, "rate": "single"}, "mvdeint=parity=tff:passes=1:mode=send_frame")):
    raw = t.source(3, name, ",crop=64:48")
    made = vs.core.gpume.Deinterlace(t.clip_of(raw, format, w=64, h=48), tff=1, backend="cuda", device=0, **options)
    assert b"".join(t.data_of(f) for f in made.frames()) == t.by_ffmpeg(raw, filters, name, w=64, h=48), name
raw = t.source(7, "yuv420p", ",crop=64:48")      # a jump, before which frames are discarded
made = vs.core.gpume.Deinterlace(t.clip_of(raw, w=64, h=48), tff=1, passes=1, backend="cuda")
assert t.data_of(made.get_frame(9)) == t.by_ffmpeg(raw, "mvdeint=parity=tff:passes=1", w=64, h=48)[9 * 4608:10 * 4608]
raw = t.source(4)
made = vs.core.gpume.Stabilize(t.clip_of(raw), smoothing=2, backend="cuda", device=0)
assert b"".join(t.data_of(f) for f in made.frames()) == t.by_ffmpeg(raw, "mvstab=smoothing=2")
print("equal")
"""


@pytest.mark.skipif(not os.path.exists(STANDIN + "/libcuda.so.1"), reason="the stand-in for the driver is not there")
def test_frames_on_gpu():
    done = subprocess.run([sys.executable, "-c", ON_GPU, os.path.dirname(os.path.abspath(__file__))], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "LD_LIBRARY_PATH": STANDIN})
    assert done.returncode == 0 and done.stdout == b"equal\n", done.stderr.decode()[-2000:]


@pytest.mark.parametrize("blksize,overlap", [(16, 0), (16, 8), (8, 4), (4, 0), (32, 16)])
def test_analyse(blksize, overlap, capfd):
    """MVUtensils takes the vectors, and they are as good as its own."""
    # a texture that moves
    noise = np.random.default_rng(5).integers(0, 256, (70, 80)).repeat(4, 0).repeat(4, 1).astype(np.uint8)
    frames = [noise[2 * n:2 * n + H, 3 * n:3 * n + W].tobytes() + bytes([128]) * (W * H // 2) for n in range(9)]
    clip = clip_of(b"".join(frames))
    sup = core.mvu.Super(clip, blksize=[blksize, blksize], overlap=[overlap, overlap])
    for delta in (1, -1, 2):
        ours, theirs = core.gpume.Analyse(sup, clip, delta=delta), core.mvu.Analyse(sup, delta=delta)
        for n in (0, 4, 8):
            a, b = ours.get_frame(n).props, theirs.get_frame(n).props
            keys = [k for k in b if "Analysis" in k]
            assert sorted(k for k in a if "Analysis" in k) == sorted(keys)
            for k in keys:
                if k.endswith(("Vectors", "SAD")):
                    assert len(a[k]) == len(b[k])
                elif not k.endswith("Levels"):
                    assert a[k] == b[k], k
        v = np.array(ours.get_frame(4).props["MVUtensilsAnalysisVectors"], np.int64)
        pel = ours.get_frame(4).props["MVUtensilsAnalysisPel"]
        x, y = (v & 0xffffffff).astype(np.uint32).astype(np.int32), (v >> 32).astype(np.int32)
        # delta 1 is the next frame, in which the content is 3 to the left and 2 up
        assert (np.median(x) / pel, np.median(y) / pel) == (-3 * delta, -2 * delta)
    many = core.gpume.AnalyseMany(sup, clip, radius=2)
    for delta, made in zip((1, -1, 2, -2), many):
        for n in (4, 0, 7, 8):
            a, b = made.get_frame(n).props, core.gpume.Analyse(sup, clip, delta=delta).get_frame(n).props
            assert list(a) == list(b) and all(a[k] == b[k] for k in a if "Analysis" in k)
    assert len(many) == 4
    core.mvu.Degrain(clip, sup, many).get_frame(4)
    both = [core.gpume.Analyse(sup, clip, delta=d) for d in (1, -1)]
    for made in (core.mvu.Degrain(clip, sup, both), core.mvu.Compensate(clip, sup, both[1]),
                 core.mvu.FlowFPS(clip, sup, both, num=48, den=1)):
        made.get_frame(4)
    moved = np.asarray(core.mvu.Compensate(clip, sup, both[1]).get_frame(4)[0]).astype(int)
    inner = (slice(32, -32), slice(32, -32))
    assert np.abs(moved[inner] - np.asarray(clip.get_frame(4)[0]).astype(int)[inner]).mean() < 1
    # far motion at the edges stays within what MVUtensils can read
    core.mvu.Degrain(clip_of(source(6)), core.mvu.Super(clip_of(source(6)), blksize=[8, 8], overlap=[4, 4]),
                     [core.gpume.Analyse(core.mvu.Super(clip_of(source(6)), blksize=[8, 8], overlap=[4, 4]), clip_of(source(6)),
                                         algo="fs", range=64, delta=d) for d in (1, -1)]).get_frame(3)
    assert "warn" not in capfd.readouterr().err.lower()


def test_properties():
    clip = clip_of(source(6)).std.SetFrameProps(_Matrix=1, _FieldBased=2, mine=7)
    f = core.gpume.Denoise(clip, sigma=3).get_frame(2).props
    assert f["mine"] == 7 and f["_FieldBased"] == 2 and (f["_DurationNum"], f["_DurationDen"]) == (1, 24)
    f = core.gpume.FPS(clip, fpsnum=60).get_frame(3).props
    assert f["mine"] == 7 and (f["_DurationNum"], f["_DurationDen"]) == (1, 60)
    made = core.gpume.Deinterlace(clip, passes=1)
    f = made.get_frame(3).props
    assert f["_FieldBased"] == 0 and f["_Combed"] == 0 and (f["_DurationNum"], f["_DurationDen"]) == (1, 48)
    assert (made.fps, len(made)) == (48, 12)
    # frames that are not combed pass
    mixed = clip.std.SetFrameProps(_Combed=0)
    made = core.gpume.Deinterlace(mixed, deint="interlaced", rate="single", passes=1)
    assert data_of(made.get_frame(3)) == data_of(clip.get_frame(3))


def test_frames_that_pass():
    """At the double rate, frames that are not combed come twice, and those around them keep their places."""
    clip = clip_of(source(24)).std.SetFieldBased(2)
    mixed = clip[:5].std.SetFrameProps(_Combed=0) + clip[5:9] + clip[9:].std.SetFrameProps(_Combed=0)
    ordered = [data_of(f) for f in core.gpume.Deinterlace(mixed, deint="interlaced").frames()]
    jumped = core.gpume.Deinterlace(mixed, deint="interlaced")
    assert len(ordered) == len(jumped) == 48
    for n in (47, 46, 31, 14, 15, 17, 18, 8, 9, 1):
        assert data_of(jumped.get_frame(n)) == ordered[n] and (ordered[n] == data_of(clip.get_frame(n // 2))) == (not 10 <= n < 18), n


def test_search_is_only_a_search(tmp_path):
    """No option of search writes a file, and no text becomes a filter."""
    clip, before = clip_of(source(3)), set(os.listdir("."))
    for function in (core.gpume.Denoise, core.gpume.FPS, core.gpume.View):
        for text, wrong in ((f"mv_file={tmp_path}/x.csv", "'mv_file', which is no option of the search"), ("mv_file=x.csv", "mv_file"),
                            (f"algo=ds:stats_file={tmp_path}/x", "stats_file"), ("hint=constant", "hint"), ("metadata=1", "metadata"),
                            ("backend=cpu", "backend"), ("async_depth=4", "async_depth"), ("nosuch=1", "it can have algo, .*range"),
                            ("algo", "must be a list of options"), ("hme", "must be a list"), ("range=8,negate", "range.*8,negate"),
                            ("algo=ds,mvview[x];[x]null", "algo"), ("algo=best", "algo.* must be one of fs, .*hme"), ("range=9999", "range")):
            with pytest.raises(vs.Error, match=wrong):
                function(clip, search=text).get_frame(0)
    for call in (lambda: core.gpume.FPS(clip, mode="dup,negate"), lambda: core.gpume.View(clip, mode="flow[x];[x]negate"),
                 lambda: core.gpume.Vectors(clip, algo="ds:mv_file=x.csv"), lambda: core.gpume.Vectors(clip, cost="sad,negate"),
                 lambda: core.gpume.Denoise(clip, backend="cpu,negate")):
        with pytest.raises(vs.Error, match="must be one of"):
            call()
    assert not os.listdir(tmp_path) and set(os.listdir(".")) == before


def test_field_order():
    """Without tff, each frame has to say which field is first."""
    raw = source(4)
    clip = clip_of(raw)
    for unknown in (clip, clip.std.SetFrameProps(_FieldBased=0)):
        with pytest.raises(vs.Error, match="frame 0 does not say which field is first: set tff"):
            core.gpume.Deinterlace(unknown, passes=1).get_frame(0)
        assert core.gpume.Deinterlace(unknown, tff=1, passes=1).get_frame(0)
    mixed = clip.std.SetFieldBased(2)[:2] + clip[2:]
    with pytest.raises(vs.Error, match="frame 2 does not say"):
        core.gpume.Deinterlace(mixed, passes=1).get_frame(7)
    # frames that are not interlaced need no order
    made = core.gpume.Deinterlace(clip, deint="interlaced", rate="single", passes=1)
    assert data_of(made.get_frame(2)) == data_of(clip.get_frame(2))
    with pytest.raises(vs.Error, match="does not say"):
        core.gpume.Deinterlace(clip.std.SetFrameProps(_Combed=1), deint="interlaced", passes=1).get_frame(0)
    for value, parity in ((2, "tff"), (1, "bff")):
        made = core.gpume.Deinterlace(clip.std.SetFieldBased(value), passes=1)
        assert b"".join(data_of(f) for f in made.frames()) == by_ffmpeg(raw, f"mvdeint=parity={parity}:passes=1")


@pytest.mark.parametrize("call,text", [
    (lambda c: core.gpume.Denoise(c, radius=9), "radius"), (lambda c: core.gpume.FPS(c, mode="best"), "best"),
    (lambda c: core.gpume.Denoise(c.resize.Point(format=vs.YUV420PS)), "integers: convert .*YUV420P16.*format=clip.format"),
    (lambda c: core.gpume.Vectors(c.resize.Point(format=vs.GRAYH)), "GRAY16"), (lambda c: core.gpume.View(core.std.BlankClip(format=vs.RGBS)), "RGB48"),
    (lambda c: core.gpume.Vectors(c, algo="ds", levels=3), "'levels' is only valid with algo=hme"),
    (lambda c: core.gpume.FPS(c, fpsnum=0), "fpsnum.*above 0"), (lambda c: core.gpume.FPS(c, fpsden=2), "'fpsden' is only valid with 'fpsnum'"),
    (lambda c: core.gpume.FPS(c, fpsnum=60, fpsden=0), "fpsden.*above 0"), (lambda c: core.gpume.FPS(c, mode="best"), "'mode' is .best.; it must be one of mci, blend, dup"),
    (lambda c: core.gpume.View(c, mode="arrows+best"), "'mode' is .arrows.best.; it must be one of arrows, flow, blocks"),
    (lambda c: core.gpume.Denoise(c, backend="gpu"), "'backend' is .gpu.; it must be one of auto, cpu, cuda"),
    (lambda c: core.gpume.Vectors(c, algo="no"), "'algo' is .no.; it must be one of fs, .*hme"),
    (lambda c: core.gpume.Vectors(c, dir="up"), "'dir' is .up.; it must be one of past, future, both"), (lambda c: core.gpume.Analyse(c, c), "mvu.Super"),
    (lambda c: core.gpume.AnalyseMany(c, c, radius=-1), "radius"), (lambda c: core.gpume.Analyse(c, c, delta=9), "delta"),
    (lambda c: core.gpume.Analyse(core.mvu.Super(c, blksize=[8, 8], overlap=0), c, algo="no"), "no"),
    (lambda c: core.gpume.Analyse(core.mvu.Super(c, blksize=[16, 8], overlap=0), c), "square blocks of 4, 8"),
    (lambda c: core.gpume.Denoise(c, search="algo=nothing"), "nothing"),
    (lambda c: core.gpume.Denoise(c, search="algo=hme,negate"), "negate"), (lambda c: core.gpume.Denoise(c, threads=-1), "threads"),
    (lambda c: core.gpume.Denoise(c, planes=[0, 7]), "planes"), (lambda c: core.gpume.Deinterlace(c, rate="half"), "rate"),
    (lambda c: core.gpume.Deinterlace(c, tff=1, backend="gpu"), "'backend' must be .cpu. or .cuda."),
    (lambda c: core.gpume.Stabilize(c, mode="still"), "'mode' is .still.; it must be one of smooth, tripod, follow"),
    (lambda c: core.gpume.Stabilize(c, device=0), "'device' is only valid with backend=.cuda."),
    (lambda c: core.gpume.Stabilize(c.std.SetFieldBased(2)).get_frame(0), "interlaced"),
    (lambda c: core.gpume.Deinterlace(c, tff=1, device=0), "'device' is only valid with backend=.cuda."),
    (lambda c: core.gpume.FPS(core.std.AssumeFPS(c, fpsnum=0, fpsden=1) if 0 else
                              core.std.BlankClip(varformat=1, format=vs.GRAY8)), "must not change"),
])
def test_errors(call, text):
    with pytest.raises(vs.Error, match=text.replace("'", ".")):
        call(clip_of(source(3)))


def test_beside_others(tmp_path):
    """Other copies of FFmpeg in one process: BestSource's, PyAV's and, where FFMS2 is installed, Debian's."""
    video = tmp_path / "film.mkv"
    subprocess.run([FFMPEG, "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:r=24,format=yuv420p,trim=end_frame=12",
                    "-c:v", "ffv1", str(video)], check=True)
    av = pytest.importorskip("av")
    clips = [core.bs.VideoSource(str(video))]
    if os.path.exists(FFMS2):
        core.std.LoadPlugin(FFMS2)
        clips.append(core.ffms2.Source(str(video), cachefile=str(tmp_path / "index")))
    with av.open(str(video)) as f:
        raw = b"".join(frame.to_ndarray(format="yuv420p").tobytes() for frame in f.decode(video=0))
    wanted = subprocess.run([FFMPEG, "-v", "error", "-i", str(video), "-vf", "mvdenoise=sigma=4", "-f", "rawvideo", "-"],
                            check=True, stdout=subprocess.PIPE).stdout
    size = W * H * 3 // 2
    wanted = [wanted[i:i + size] for i in range(0, len(wanted), size)]
    for clip in clips + [clip_of(raw)]:
        made = core.gpume.FPS(core.gpume.Denoise(clip, sigma=4))
        assert [data_of(f) for f in made.frames()][::2] == wanted
    # nothing of its FFmpeg is to be seen
    path = [p for p in core.plugins() if p.namespace == "gpume"][0].plugin_path
    with open("/proc/self/maps") as f:
        assert path in f.read()
    import ctypes
    with pytest.raises(AttributeError):
        ctypes.CDLL(path).av_malloc


def test_memory():
    """It does not grow with the length of the clip."""
    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096
    clip = clip_of(source(40) * 10)
    made = core.gpume.FPS(clip, mode="dup")
    before = None
    for n, _ in enumerate(made.frames(close=True)):
        if n == 200:
            before = resident()
    assert resident() < before + (32 << 20)
