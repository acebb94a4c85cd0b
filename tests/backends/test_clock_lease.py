"""Locked clocks are restored however the holder ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import msgspec
import pytest

from kbs_backends.clock_lease import ClockLease, Lease, alive, restore, stale_leases, start_time
from kbs_engine.errors import InputError, MeasurementError, UsageError

SMI = """#!/bin/sh
case "$*" in
  *--lock-gpu-clocks*) [ -e "{log}.refuse" ] && {{ echo "no permission" >&2; exit 4; }};;
  *--reset-gpu-clocks*) [ -e "{log}.stuck" ] && {{ echo "stuck" >&2; exit 4; }};;
esac
echo "$*" >> {log}
"""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """A driver tool that writes down what it is asked."""
    log = tmp_path / "smi.log"
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(SMI.format(log=log))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return log


def asked(log):
    return [line.split("--")[2] for line in log.read_text().splitlines()] if log.exists() else []


def test_clocks_are_locked_inside_and_restored_after(tmp_path, smi):
    with ClockLease(tmp_path, 0, 1500) as lease:
        assert asked(smi) == ["lock-gpu-clocks=1500,1500"]
        assert lease.path.exists()
    assert asked(smi)[-1] == "reset-gpu-clocks"
    assert not lease.path.exists()


def test_clocks_are_restored_when_the_measurement_fails(tmp_path, smi):
    with pytest.raises(ZeroDivisionError), ClockLease(tmp_path, 0, 1500):
        _ = 1 / 0
    assert asked(smi)[-1] == "reset-gpu-clocks"


def test_a_living_holder_is_named(tmp_path, smi):
    with ClockLease(tmp_path, 0, 1500), pytest.raises(UsageError, match=str(os.getpid())):
        ClockLease(tmp_path, 0, 1200).__enter__()
    assert asked(smi).count("reset-gpu-clocks") == 1


def test_a_refusal_leaves_no_lease(tmp_path, smi):
    (tmp_path / "smi.log.refuse").touch()
    with pytest.raises(MeasurementError, match="no permission"):
        ClockLease(tmp_path, 0, 1500).__enter__()
    assert list(tmp_path.glob("clock-leases/*.json")) == []


def test_kill_9_of_the_holder_restores_the_clocks(tmp_path, smi):
    script = (
        "import sys, time\nfrom pathlib import Path\n"
        "from kbs_backends.clock_lease import ClockLease\n"
        "with ClockLease(Path(sys.argv[1]), 1, 1400):\n print('held', flush=True)\n time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, env=environment
    )
    assert holder.stdout.readline() == b"held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    deadline = time.monotonic() + 20
    while list(tmp_path.glob("clock-leases/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert asked(smi)[-1] == "reset-gpu-clocks"
    assert list(tmp_path.glob("clock-leases/*.json")) == []


def test_a_lease_left_behind_is_found_and_healed(tmp_path, smi):
    path = tmp_path / "clock-leases" / "gpu3.json"
    path.parent.mkdir()
    gone = Lease(gpu=3, sm_clock_mhz=1500, pid=os.getpid(), started="1", since="2026-01-01")
    path.write_bytes(msgspec.json.encode(gone))
    assert stale_leases(tmp_path) == (path,)
    restore(path)
    assert stale_leases(tmp_path) == ()
    assert asked(smi) == ["reset-gpu-clocks"]


def test_a_card_that_cannot_be_reset_keeps_its_lease(tmp_path, smi):
    (tmp_path / "smi.log.stuck").touch()
    path = tmp_path / "clock-leases" / "gpu0.json"
    path.parent.mkdir()
    path.write_bytes(
        msgspec.json.encode(Lease(gpu=0, sm_clock_mhz=1, pid=1, started="0", since=""))
    )
    with pytest.raises(MeasurementError, match="stuck"):
        restore(path)
    assert path.exists()


def test_a_damaged_lease_says_what_to_do(tmp_path):
    path = tmp_path / "clock-leases" / "gpu0.json"
    path.parent.mkdir()
    path.write_text("{")
    with pytest.raises(InputError, match="nvidia-smi -rgc"):
        stale_leases(tmp_path)


def test_a_reused_pid_is_not_the_holder():
    me = os.getpid()
    lease = Lease(gpu=0, sm_clock_mhz=1, pid=me, started=start_time(me), since="")
    assert alive(lease)
    assert not alive(msgspec.structs.replace(lease, started="1"))
