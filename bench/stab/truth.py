# SPDX-License-Identifier: LGPL-2.1-or-later
"""The true motion of a scene of scenes.py, and the error of a path."""
import numpy as np

W, H = 960, 544
CORNERS = np.array([[x, y] for y in (-(H - 1) / 2, (H - 1) / 2) for x in (-(W - 1) / 2, (W - 1) / 2)])


def rotation(d, m, f):
    """The rotation of a wide-angle camera, as the scenes have it."""
    a, b, r = d.real / f, -d.imag / f, m.imag
    ry = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    rx = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    rz = np.array([[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]])
    return ry @ rx @ rz


def pose(truth, t):
    """The matrix from frame t to the steady picture."""
    d, m, f = truth["D"][t], truth["M"][t], float(truth["fovf"])
    if f:
        k = np.diag([f, f, 1])
        return k @ rotation(d, m, f) @ np.linalg.inv(k)
    return np.array([[1 + m.real, -m.imag, d.real], [m.imag, 1 + m.real, d.imag], [0, 0, 1]])


def mapped(matrix, points):
    q = points @ matrix[:, :2].T + matrix[:, 2]
    return q[:, :2] / q[:, 2:]


def steps(truth):
    """The matrices from each frame to the one before."""
    return [np.linalg.inv(pose(truth, t - 1)) @ pose(truth, t) for t in range(1, len(truth["D"]))]


def smoothed(truth, radius):
    """The matrices with which the true path is smoothed as mvstab does, where the window has frames on both sides."""
    weights = (1 - (np.arange(-radius, radius + 1) / (radius + 1)) ** 2) ** 3
    poses, out = [pose(truth, t) for t in range(len(truth["D"]))], []
    for t, p in enumerate(poses):
        window = [poses[min(max(t + i, 0), len(poses) - 1)] for i in range(-radius, radius + 1)]
        m = sum(w * np.linalg.inv(p) @ q / (np.linalg.inv(p) @ q)[2, 2] for w, q in zip(weights, window))
        out.append(m / m[2, 2])
    return out


def errors(truth, path):
    """Mean distance at the corners for each frame but the first; path: matrices from each frame to the one before."""
    cut = int(truth["cut"])
    return np.array([np.linalg.norm(mapped(a, CORNERS) - mapped(b, CORNERS), axis=1).mean()
                     for t, (a, b) in enumerate(zip(steps(truth), path), 1) if t != cut])


def read_path(name):
    """The matrices of a file that mvstab has written, without that of the first frame."""
    rows = np.load(name)
    return [np.append(r[:8], 1).reshape(3, 3) for r in rows[1:]]
