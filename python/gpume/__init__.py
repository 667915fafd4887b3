# SPDX-License-Identifier: LGPL-2.1-or-later
"""Motion vectors of videos as NumPy arrays, and what can be made with them.

    for field in gpume.vectors("in.mp4"):
        print(field.pts_time, field.mv.shape)
    gpume.interpolate("in.mp4", "out.mp4", fps=60)

All work is done by the ffmpeg that comes with the package, on an NVIDIA GPU if there is one.
"""

from ._arguments import OptionError
from ._arrays import (Deinterlacer, Denoiser, Interpolator, Picture, Stabilizer, Viewer, deinterlaced, denoised, drawn,
                      interpolated, stabilized)
from ._convert import (FrameScore, MotionScore, deinterlace, denoise, disparity, draw, interpolate, motion_score,
                       stabilize)
from ._field import Field, read_fields, read_record
from ._files import (flow_picture, read_flo, read_kitti, write_flo, write_kitti, write_npz, write_png)
from ._process import Error, FFmpegWarning, ffmpeg_exe
from ._vectors import Estimator, Pictures, Vectors, vectors
from ._version import __version__

__all__ = [
    "Deinterlacer", "Denoiser", "Error", "Estimator", "FFmpegWarning", "Field", "FrameScore", "Interpolator",
    "MotionScore", "OptionError", "Picture", "Pictures", "Stabilizer", "Vectors", "Viewer", "__version__", "deinterlace",
    "deinterlaced", "denoise", "denoised", "disparity", "draw", "drawn", "ffmpeg_exe", "flow_picture", "interpolate",
    "interpolated", "motion_score", "read_fields", "read_flo", "read_kitti", "read_record", "stabilize", "stabilized",
    "vectors", "write_flo", "write_kitti", "write_npz", "write_png",
]
