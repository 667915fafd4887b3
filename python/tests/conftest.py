# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips that the tests share, made by the package's own ffmpeg."""

import os
import subprocess

import pytest

import gpume


def pytest_configure(config):
    """No warning goes by: neither of a file that is not closed nor of an input that is not damaged."""
    config.addinivalue_line("filterwarnings", "error")


#: A window that pans over a test pattern: 3 samples to the right and 2 down a frame.
PAN = "testsrc2=s=320x240:r=10,format=yuv420p,crop=200:140:3*n:2*n"


def make(path, source, *options):
    subprocess.run([gpume.ffmpeg_exe(), "-v", "error", "-y", "-f", "lavfi", "-i", source, *options, str(path)],
                   check=True, stdin=subprocess.DEVNULL)
    return str(path)


@pytest.fixture(scope="session")
def clip(tmp_path_factory):
    """Six frames of a pan, 200x140, ten a second."""
    # file names on Windows have no colon
    name = "pan [1].mkv" if os.name == "nt" or "GPUME_WINE" in os.environ else "pan: [1].mkv"
    return make(tmp_path_factory.mktemp("clip") / name, PAN + ",trim=end_frame=6", "-c:v", "ffv1")


@pytest.fixture(scope="session")
def long_clip(tmp_path_factory):
    """A clip that is so long that processing it takes seconds."""
    return make(tmp_path_factory.mktemp("long") / "long.mkv", "testsrc2=s=640x480:r=25,trim=end_frame=1500",
                "-c:v", "mpeg4", "-q:v", "10")
