# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other programs that find the motion of a camera, where they are installed: OpenCV, and Depan of MVUtensils."""
import numpy as np

from truth import H, W


def opencv(frames):
    """Homographies of corners that optical flow follows, from each frame to the one before; None without OpenCV."""
    try:
        import cv2
    except ImportError:
        return None
    path, middle = [], np.array([[(W - 1) / 2, (H - 1) / 2]])
    for before, frame in zip(frames, frames[1:]):
        corners = cv2.goodFeaturesToTrack(frame, 1000, 0.01, 10)
        found, status, _ = cv2.calcOpticalFlowPyrLK(frame, before, corners, None, winSize=(21, 21), maxLevel=4)
        a, b = ((p.reshape(-1, 2)[status.ravel() == 1] - middle).astype(np.float32) for p in (corners, found))
        m = cv2.findHomography(a, b, cv2.RANSAC, 1.0)[0] if len(a) >= 4 else None
        path.append(np.eye(3) if m is None else m)
    return path


def depan(frames, smoothing):
    """The similarities of mvu.DepanAnalyse and the frames of mvu.DepanStabilise; (None, None) without MVUtensils."""
    try:
        import vapoursynth as vs
        mvu = vs.core.mvu
    except (ImportError, AttributeError):
        return None, None
    from plugins import clip_of
    clip = clip_of([f.ravel() for f in frames], W, H, vs.GRAY8)
    vectors = mvu.Analyse(mvu.Super(clip, blksize=[16, 16], overlap=[8, 8]), delta=-1)
    data, path = mvu.DepanAnalyse(clip, vectors), []
    for f in list(data.frames())[1:]:
        turn = f.props["Depan_zoom"] * np.exp(1j * np.radians(f.props["Depan_rot"]))
        path.append(np.array([[turn.real, -turn.imag, f.props["Depan_dx"]], [turn.imag, turn.real, f.props["Depan_dy"]],
                              [0, 0, 1]]))
    # its cutoff in Hz: a window of as many frames a side
    steady = mvu.DepanStabilise(clip, data, cutoff=25 / (2 * smoothing + 1), mirror=0)
    return path, [np.asarray(f[0]).copy() for f in steady.frames()]
