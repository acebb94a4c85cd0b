"""The host as a device: shared memory, the host's clock. Never a claim about a GPU.

The arena is a sealed memfd (a worker cannot shrink it under the owner). The gate is a message.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import platform
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from kbs_backends.device import proc
from kbs_backends.device.accelerators.base import ArenaHandle
from kbs_backends.device.messages import Armed, Go, Method
from kbs_backends.device.versions import library_versions
from kbs_backends.device.wire import Channel
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Provenance
from kbs_engine.results import Machine

if TYPE_CHECKING:
    import torch


class HostBlock:
    """A sealed memfd."""

    def __init__(self, nbytes: int) -> None:
        """Make and map it; OSError or ValueError where there is not so much."""
        self._fd = os.memfd_create("kbs-arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._fd, nbytes)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, seals)
        self.bytes = _mapped(self._fd, nbytes)

    @property
    def handle(self) -> ArenaHandle:
        """The memfd."""
        return ArenaHandle(data=b"memfd", nbytes=self.bytes.numel(), fds=(self._fd,))

    def release(self, gate: int, channel: Channel, method: Method) -> None:
        """Say Go."""
        del method
        channel.send(Go(gate=gate))

    def free(self) -> None:
        """Close the memfd; the mapping goes with its last tensor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class HostOwner:
    """Owner's side: CPU tensors in shared memory."""

    name = "host"
    torch_device = "cpu"
    timer = "perf_counter_ns"
    timer_step_ns = 1.0
    clock_slack_ns = 4e6
    """A loaded CI machine takes the processor away for some milliseconds at any time."""
    queues_launches = False

    @property
    def memory_bytes(self) -> int:
        """Memory of the machine."""
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def allocate(self, nbytes: int) -> HostBlock:
        """A sealed memfd, mapped."""
        try:
            return HostBlock(nbytes)
        except (OSError, ValueError) as problem:
            raise MeasurementError(
                f"no {nbytes} bytes of shared memory for the task's arguments: {problem}",
                remedy="use smaller dims",
            ) from problem

    def flush_cache(self) -> None:
        """Nothing: the host's caches are no part of any claim."""

    def synchronize(self) -> None:
        """Nothing: calls on the host return when they are done."""

    def starved_ns(self, pid: int) -> float:
        """Run-queue waits of the main threads (sched-stats.rst: second number of schedstat)."""
        return sum(proc.waited_ns(one) for one in (pid, os.getpid()))

    def machine(self) -> Machine:
        """The CPU."""
        return Machine(
            device="host",
            gpu=_cpu_name(),
            unit_count=os.cpu_count(),
            memory_bytes=self.memory_bytes,
            counters_why_not="the host device has no GPU",
            versions=library_versions(),
        )

    def provenance(self) -> Provenance:
        """The CPU and the libraries."""
        return Provenance(
            device="host",
            gpu=_cpu_name(),
            versions=library_versions(),
            date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )

    def clocks_mhz(self) -> dict[str, float]:
        """Nothing tells them."""
        return {}

    def close(self) -> None:
        """Nothing to free."""


class HostWorker:
    """Worker's side: the same memory, mapped."""

    torch_device = "cpu"

    def __init__(self) -> None:
        """Keep the clock of now: a candidate may put another in its place later."""
        self._clock = perf_counter_ns
        self._map: mmap.mmap | None = None

    def open(self, handle: ArenaHandle, fds: list[int]) -> None:
        """Map the memfd and close it."""
        self._map = mmap.mmap(fds[0], handle.nbytes)
        os.close(fds[0])

    def bytes_at(self, offset: int, nbytes: int) -> torch.Tensor:
        """A tensor over a part of the map."""
        import torch

        if self._map is None:
            raise RuntimeError("no arena is mapped")
        return torch.frombuffer(self._map, dtype=torch.uint8, count=nbytes, offset=offset)

    def timed(
        self,
        call: Callable[[], Any],
        gate: int,
        *,
        method: Method,
        channel: Channel,
        wait: Callable[[int], None],
    ) -> tuple[Any, float]:
        """Wait for Go, then call."""
        del method
        clock = self._clock
        channel.send(Armed(gate=gate))
        wait(gate)
        start = clock()
        value = call()
        return value, float(clock() - start)

    def dirty_next(self) -> None:
        """There is no on-chip memory to a processor's thread."""

    def finish(self) -> None:
        """Nothing: copies on the host are done when they return."""


def _mapped(fd: int, nbytes: int) -> torch.Tensor:
    import torch

    return torch.frombuffer(mmap.mmap(fd, nbytes), dtype=torch.uint8)


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        return platform.machine()
    return platform.machine()
