"""A caller that is killed or interrupted amid a job leaves no process and no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from kbs_backends.device import proc
from tests.backends.device.conftest import HEAD, REFERENCE

HANGS = (
    HEAD
    + """
def run_kernel(x, y, **_):
    open(__file__ + ".started", "w").close()
    while True:
        pass
"""
)
CALLER = """
import signal, sys
from pathlib import Path
from kbs_backends.device import LocalDevice
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, SourceRef, Task
signal.signal(signal.SIGINT, signal.default_int_handler)
home = Path(sys.argv[1])
blobs = BlobStore(home / "blobs")
reference = blobs.put((home / "ref.py").read_text())
source = SourceRef(sha256=blobs.put((home / "k.py").read_text()), language="triton", name="k.py")
with LocalDevice(blobs, kind="host") as device:
    task = Task(reference_sha256=reference, dims={})
    device.submit(Check(source=source, task=task)).result()
"""


def until(holds, seconds):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


INTERRUPTED = pytest.param(signal.SIGINT, marks=pytest.mark.sweep)
SAME_AS_KILLED = pytest.param(signal.SIGTERM, marks=pytest.mark.sweep)
"""The caller does not handle it: the kernel ends it there and then, as by SIGKILL."""


@pytest.mark.parametrize("number", [signal.SIGKILL, SAME_AS_KILLED, INTERRUPTED])
@pytest.mark.sweep
def test_nothing_is_left_when_the_caller_goes_amid_a_hung_call(tmp_path, number):
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "k.py").write_text(HANGS)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    path = os.pathsep.join(part for part in sys.path if part)
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": path}
    with subprocess.Popen(
        (sys.executable, "-c", CALLER, str(tmp_path)), env=environment, stderr=subprocess.DEVNULL
    ) as caller:
        try:
            assert until(lambda: caller.poll() or list(scratch.glob("*/*/*.started")), 90)
            assert caller.poll() is None
            processes = proc.descendants(caller.pid)
            assert len(processes) >= 3, "owner, zygote, worker"
            caller.send_signal(number)
            assert caller.wait(timeout=30) != 0
        finally:
            caller.kill()
    assert until(lambda: all(proc.ended(pid) for pid in processes), 15)
    assert until(lambda: not list(scratch.glob("kbs-device-*")), 5)
