# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures mvstab, and others where they are installed, with scenes whose motion is known.

usage: stab.py FFMPEG SCENES OUT.csv [scene ...]
SCENES has NAME.nut, NAME.steady.nut and NAME.npz as scenes.py makes them; VIDSTAB names an ffmpeg with vid.stab."""
import os
import sys
import tempfile

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
import peers  # noqa: E402
import truth  # noqa: E402

SMOOTHING = 15


def run(ffmpeg, source, chain):
    """Frames of gray samples behind a chain of filters."""
    return bench.filtered(ffmpeg, ["-i", source], chain).reshape(-1, truth.H, truth.W)


def psnr(frames, steady):
    """Mean over all frames, without a tenth of each side at the edges."""
    y, x = truth.H // 10, truth.W // 10
    e = [((a[y:-y, x:-x].astype(float) - b[y:-y, x:-x]) ** 2).mean() for a, b in zip(frames, steady)]
    return bench.decibels(np.mean(e), 1e-3)


def vidstab(ffmpeg, source, options, folder):
    """Frames that vid.stab has stabilised."""
    data = os.path.join(folder, "transforms.trf")
    bench.run(ffmpeg, *bench.QUIET, "-i", source, "-vf", f"vidstabdetect=result={data}{options[0]}", "-f", "null", "-")
    return run(ffmpeg, source, f"vidstabtransform=input={data}:crop=black:optzoom=0{options[1]},format=gray")


def matrices(ffmpeg, source, chain):
    """The matrices from output to input frames that mvstab tells."""
    text = bench.run(ffmpeg, *bench.QUIET, "-i", source, "-vf", f"{chain},metadata=print:key=lavfi.mvstab.matrix:file=-",
                     "-f", "null", "-")[0].decode()
    return [np.append(np.array(line.split("=")[1].split(), float), 1).reshape(3, 3)
            for line in text.splitlines() if "matrix=" in line]


def residual(true, moved):
    """Mean distance by which the corners of the output move in a frame, where the window has frames on both sides."""
    at = [truth.mapped(truth.pose(true, t) @ m, truth.CORNERS) for t, m in enumerate(moved)]
    return np.mean([np.linalg.norm(b - a, axis=1).mean() for a, b in zip(at, at[1:])][SMOOTHING:-SMOOTHING])


def measure(ffmpeg, folder, name):
    """Rows of scene, program, measure, value."""
    source, steady = f"{folder}/{name}.nut", f"{folder}/{name}.steady.nut"
    true = np.load(f"{folder}/{name}.npz")
    still = run(ffmpeg, steady, "null")
    rows = [("none", "error", truth.errors(true, [np.eye(3)] * (len(true["D"]) - 1)).mean()),
            ("none", "tripod", psnr(run(ffmpeg, source, "null"), still))]
    with tempfile.TemporaryDirectory() as tmp:
        run(ffmpeg, source, f"mvstab=file={tmp}/path.npy")
        rows.append(("mvstab", "error", truth.errors(true, truth.read_path(f"{tmp}/path.npy")).mean()))
        frames = run(ffmpeg, source, "null")
        depan, steady_depan = peers.depan(frames, SMOOTHING)
        for program, path in (("OpenCV", peers.opencv(frames)), ("Depan", depan)):
            if path is not None:
                rows.append((program, "error", truth.errors(true, path).mean()))
        if int(true["cut"]) < 0:
            rows.append(("mvstab", "tripod", psnr(run(ffmpeg, source, "mvstab=mode=tripod:border=black"), still)))
            chain = f"mvstab=zoom=1:smoothing={SMOOTHING}"
            rows += [("mvstab", "residual", residual(true, matrices(ffmpeg, source, chain))),
                     ("exact path", "residual", residual(true, truth.smoothed(true, SMOOTHING))),
                     ("none", "neighbours", psnr(frames[1:], frames))]
            for program, out in (("mvstab", run(ffmpeg, source, chain)), ("Depan", steady_depan)):
                if out is not None:
                    rows.append((program, "neighbours", psnr(out[1:], out)))
        if os.environ.get("VIDSTAB"):
            out = vidstab(os.environ["VIDSTAB"], source, (":tripod=1", ":tripod=1"), tmp)
            rows.append(("vid.stab", "tripod", psnr(out, still)))
    return [(name, *r) for r in rows]


def paths(ffmpeg, folder, name, out):
    """Draws where the middle of the picture is in each frame, before and after."""
    plt = bench.use_matplotlib()
    if not plt:
        return
    true = np.load(f"{folder}/{name}.npz")
    moved = matrices(ffmpeg, f"{folder}/{name}.nut", "mvstab=zoom=1")
    middle = np.zeros((1, 2))
    before = np.array([truth.mapped(truth.pose(true, t), middle)[0] for t in range(len(moved))])
    after = np.array([truth.mapped(truth.pose(true, t) @ m, middle)[0] for t, m in enumerate(moved)])
    figure, axes = plt.subplots(1, 2, figsize=(10, 3), sharey=True)
    for i, axis in enumerate(axes):
        axis.plot(before[:, i], color="#bbbbbb", label="camera")
        axis.plot(after[:, i], color="#1f77b4", linewidth=2, label="mvstab")
        axis.set_xlabel("frame")
        axis.set_ylabel(("horizontal", "vertical")[i] + ", samples")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out, dpi=100)


def main():
    ffmpeg, folder, out = sys.argv[1:4]
    names = sys.argv[4:] or sorted(f[:-4] for f in os.listdir(folder) if f.endswith(".npz"))
    rows = []
    for name in names:
        made = [(*row[:3], f"{row[3]:.4f}") for row in measure(ffmpeg, folder, name)]
        print(*(" ".join(row) for row in made), sep="\n", flush=True)
        rows += made
    bench.write_csv(out, ("scene", "program", "measure", "value"), rows)
    paths(ffmpeg, folder, names[0], os.path.join(os.path.dirname(out), "paths.png"))


if __name__ == "__main__":
    main()
