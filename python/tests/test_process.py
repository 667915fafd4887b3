# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing remains: no process and no half file, whatever ends the work."""

import ast
import gc
import os
import signal
import subprocess
import sys
import time

import pytest

import gpume

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def children(pid):
    """Return the processes whose parent this one is."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry))
    return found


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, limit=20):
    end = time.time() + limit
    while time.time() < end:
        if not any(map(lives, pids)):
            return True
        time.sleep(0.05)
    return False


@linux
def test_forgotten(long_clip):
    fields = gpume.vectors(long_clip, algo="ds")
    next(fields)
    pid = fields._records._process.pid
    assert lives(pid)
    del fields
    gc.collect()
    assert gone([pid])


@linux
def test_stopped_early(long_clip):
    for field in gpume.vectors(long_clip, algo="ds"):
        if field.number == 3:
            break
    with pytest.raises(ZeroDivisionError), gpume.Estimator(64, 48) as e:
        1 / 0
    del field
    gc.collect()
    assert e._records._process.wait() is not None
    assert not children(os.getpid())


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("work", [
    "for f in gpume.vectors(clip, algo='ds'): print(f.number, flush=True)",
    "gpume.interpolate(clip, out, fps=100, progress=lambda t: print(t, flush=True))",
    "e = gpume.Estimator(64, 48); e.push(numpy.zeros((48, 64), 'u1')); print(1, flush=True); time.sleep(60)",
    "print(1, flush=True); gpume.__main__.main(['vectors', clip, out[:-3] + 'npy', '--set', 'algo=ds'])",
])
@pytest.mark.parametrize("group", [False, True], ids=["alone", "group"])
def test_killed(long_clip, tmp_path, how, work, group):
    """A terminal sends Ctrl-C to ffmpeg, too, which then would complete its file."""
    out = tmp_path / "out.mkv"
    out.write_text("as it was")
    # where tests run in the background SIGINT is ignored
    script = ("import signal, time, numpy, gpume, gpume.__main__\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
              f"clip, out = {long_clip!r}, {str(out)!r}\n{work}\n")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    with process.stdout:
        process.stdout.readline()
        end_it(process, how, group)
    assert [p.name for p in tmp_path.iterdir()] == ["out.mkv"] and out.read_text() == "as it was"


def end_it(process, how, group):
    """End the script, and see its children end."""
    pids, end = children(process.pid), time.time() + 60     # a busy machine starts processes slowly
    while not pids and time.time() < end and process.poll() is None:
        time.sleep(0.05)
        pids = children(process.pid)
    assert pids, f"no ffmpeg was seen; the script's status is {process.poll()}"
    if group:
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    process.wait(30)
    assert gone(pids)


@linux
def test_memory_is_flat(long_clip):
    """A long video needs no more than a short one."""
    script = ("import resource, gpume\n"
              "for f in gpume.vectors(%r, algo='ds', block=8, duration=%d): pass\n"
              "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    short, long = (int(subprocess.run([sys.executable, "-c", script % (long_clip, seconds)], check=True,
                                      stdout=subprocess.PIPE).stdout) for seconds in (2, 20))
    assert long < short + 4096      # KiB


def test_no_program(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUME_FFMPEG", str(tmp_path / "nothing"))
    with pytest.raises(gpume.Error):
        list(gpume.vectors("x"))


def test_syntax():
    """Python 3.9 can read it."""
    folder = os.path.dirname(gpume.__file__)
    for name in os.listdir(folder):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                ast.parse(f.read(), feature_version=(3, 9))


def test_package():
    """No program is put on the path, and types are told."""
    folder = os.path.dirname(gpume.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    assert os.path.exists(gpume.ffmpeg_exe()) and os.path.exists(gpume.ffmpeg_exe("ffprobe"))
    assert gpume.__version__
    for name in gpume.__all__:
        thing = getattr(gpume, name)
        assert not callable(thing) or thing.__doc__, name
    with open(gpume.ffmpeg_exe(), "rb") as f:
        assert f.read(4) in (b"\x7fELF", b"MZ\x90\x00")
