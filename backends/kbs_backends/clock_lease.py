"""Locked GPU clocks as a lease that is always given back.

Clocks are locked only when a user asks. A lease file says who locked which card; a watchdog
process in a session of its own waits for the holder to end, however it ends, and restores the
card; what even the watchdog could not undo (a reboot loses it anyway) ``kbs doctor`` heals.
"""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from kbs_backends.run_tool import run_tool
from kbs_engine.decoding import decode_json
from kbs_engine.durable import write_whole
from kbs_engine.errors import InputError, MeasurementError, UsageError

FOLDER: Final = "clock-leases"
SMI: Final = "nvidia-smi"


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """Who locked the clocks of which card."""

    gpu: int
    sm_clock_mhz: int
    pid: int
    started: str
    """Start time of the process as the kernel counts it, so that a reused pid is not it."""
    since: str
    """ISO 8601, UTC."""


class ClockLease:
    """A context in which the SM clock of one GPU is locked.

    Args:
        home: the home folder; the lease file stands in its ``clock-leases``.
        gpu: index of the card for nvidia-smi.
        sm_clock_mhz: the clock asked for; one that the card can hold under load.

    Raises:
        UsageError: another living process holds the lease.
        MeasurementError: the driver refuses to lock the clocks.
    """

    def __init__(self, home: Path, gpu: int, sm_clock_mhz: int) -> None:
        """Nothing is locked before the context is entered."""
        self.path = home / FOLDER / f"gpu{gpu}.json"
        self.gpu, self.sm_clock_mhz = gpu, sm_clock_mhz
        self._watchdog: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ClockLease:  # noqa: PYI034 - typing.Self needs Python 3.11
        """Write the lease, start the watchdog, lock; in this order, so that nothing is lost."""
        held = read_lease(self.path) if self.path.exists() else None
        if held and alive(held):
            raise UsageError(
                f"process {held.pid} has locked the clocks of GPU {self.gpu} since {held.since}",
                where=str(self.path),
                remedy="wait for it, or end it; its watchdog then restores the clocks",
            )
        lease = Lease(
            gpu=self.gpu, sm_clock_mhz=self.sm_clock_mhz, pid=os.getpid(),
            started=start_time(os.getpid()),
            since=dt.datetime.now(tz=dt.timezone.utc).isoformat(timespec="seconds"),
        )  # fmt: skip
        write_whole(self.path, msgspec.json.encode(lease) + b"\n")
        self._watchdog = _start_watchdog(self.path)
        clock = str(self.sm_clock_mhz)
        run = run_tool((SMI, f"--id={self.gpu}", f"--lock-gpu-clocks={clock},{clock}"))
        if not run.ok:
            self._end()
            raise MeasurementError(
                f"the clocks of GPU {self.gpu} cannot be locked: {run.why()}",
                remedy="run as root on a host that permits it, or time without --lock-clocks",
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the clocks and end the lease."""
        self._end()

    def _end(self) -> None:
        if self._watchdog is not None and self._watchdog.stdin is not None:
            self._watchdog.stdin.close()  # what it waits for: it restores and ends
            self._watchdog.wait(timeout=60)
        if self.path.exists():  # the watchdog was killed or could not restore
            restore(self.path)


def _start_watchdog(path: Path) -> subprocess.Popen[bytes]:
    """A process that restores the clocks once the pipe to its stdin breaks."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen(
        [sys.executable, "-m", "kbs_backends.clock_lease", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def read_lease(path: Path) -> Lease:
    """The lease in a file; InputError when it is none."""
    try:
        return decode_json(path.read_bytes(), Lease)
    except (OSError, msgspec.DecodeError) as problem:
        raise InputError(
            f"no clock lease: {problem}",
            where=str(path),
            remedy="check the card with nvidia-smi -q -d CLOCK, reset it with nvidia-smi -rgc, "
            "and remove the file",
        ) from problem


def start_time(pid: int) -> str:
    """When a process began, in the kernel's ticks; empty for one that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    return text.rsplit(")", 1)[1].split()[19]


def alive(lease: Lease) -> bool:
    """Whether the process that took the lease still runs (the same, not one with its pid)."""
    started = start_time(lease.pid)
    return started != "" and started == lease.started


def restore(path: Path) -> None:
    """Reset the clocks of a lease's card and remove the lease.

    Raises:
        MeasurementError: the driver refuses; the lease stays, so that doctor tells it.
    """
    lease = read_lease(path)
    run = run_tool((SMI, f"--id={lease.gpu}", "--reset-gpu-clocks"))
    if not run.ok:
        raise MeasurementError(
            f"the clocks of GPU {lease.gpu} could not be reset: {run.why()}",
            where=str(path),
            remedy=f"run {SMI} --id={lease.gpu} --reset-gpu-clocks as root, then kbs doctor",
        )
    path.unlink(missing_ok=True)


def stale_leases(home: Path) -> tuple[Path, ...]:
    """Lease files whose process is gone."""
    return tuple(
        path for path in sorted((home / FOLDER).glob("gpu*.json")) if not alive(read_lease(path))
    )


def main(arguments: Sequence[str]) -> None:
    """The watchdog: wait for the end of stdin, then restore."""
    path = Path(arguments[0])
    while sys.stdin.buffer.read(1):
        pass
    if path.exists():
        restore(path)


if __name__ == "__main__":
    main(sys.argv[1:])
