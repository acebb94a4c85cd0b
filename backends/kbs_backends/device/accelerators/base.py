"""The one place that differs between a GPU and the host: memory, gate, clock, cache.

``OwnerSide`` runs in the owner process, ``WorkerSide`` in the process of a candidate.
Everything else of the harness (owner, zygote, worker, checking, interleaving, refusals) is
shared, so that what CI runs on the host is what runs on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kbs_backends.device.messages import Method
from kbs_backends.device.wire import Channel
from kbs_engine.jobs import Provenance
from kbs_engine.results import Machine

if TYPE_CHECKING:
    import torch


class ArenaHandle(msgspec.Struct, frozen=True, kw_only=True):
    """How another process maps an arena."""

    data: bytes
    nbytes: int
    gate: bytes = b""
    fds: tuple[int, ...] = ()


class Block(Protocol):
    """Device memory of the owner that one worker maps."""

    @property
    def bytes(self) -> torch.Tensor:
        """The memory as a flat tensor of bytes, in the owner."""
        ...

    @property
    def handle(self) -> ArenaHandle:
        """How a worker maps it."""
        ...

    def release(self, gate: int, channel: Channel, method: Method) -> None:
        """Open the gate for the armed call."""
        ...

    def free(self) -> None:
        """Give the memory back; nobody may use it any more."""
        ...


class OwnerSide(Protocol):
    """What the owner needs of a device."""

    @property
    def name(self) -> str:
        """``cuda`` or ``host``."""
        ...

    @property
    def torch_device(self) -> str:
        """Where tensors live: ``cuda:0``, ``cpu``."""
        ...

    @property
    def memory_bytes(self) -> int:
        """All of its memory."""
        ...

    @property
    def timer(self) -> str:
        """What the fine clock is, for provenance."""
        ...

    @property
    def timer_step_ns(self) -> float:
        """The step of the fine clock."""
        ...

    @property
    def clock_slack_ns(self) -> float:
        """By how much the two clocks may differ on a busy machine, beyond calibrated noise."""
        ...

    def allocate(self, nbytes: int) -> Block:
        """New memory that a worker can map.

        Raises:
            MeasurementError: It does not fit; says how much was asked for.
        """
        ...

    def flush_cache(self) -> None:
        """Evict L2 and reset persisting lines; done when it returns or in stream order."""
        ...

    def synchronize(self) -> None:
        """Wait for the owner's own work."""
        ...

    @property
    def queues_launches(self) -> bool:
        """Whether a call's launches can be queued before its gate opens."""
        ...

    def starved_ns(self, pid: int) -> float:
        """Time for which this process and ``pid`` have waited for a processor so far.

        Only where calls run on the processor itself; 0 on a GPU.
        """
        ...

    def machine(self) -> Machine:
        """What this machine is, without counters."""
        ...

    def provenance(self) -> Provenance:
        """On what is measured; clocks and temperature of now."""
        ...

    def clocks_mhz(self) -> dict[str, float]:
        """Clocks of now; empty where nothing tells them."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...


class WorkerSide(Protocol):
    """What a worker needs of a device."""

    @property
    def torch_device(self) -> str:
        """Where tensors live."""
        ...

    def open(self, handle: ArenaHandle, fds: list[int]) -> None:
        """Map the owner's arena."""
        ...

    def bytes_at(self, offset: int, nbytes: int) -> torch.Tensor:
        """Bytes of the arena as a tensor with a storage of its own, of just that size."""
        ...

    def timed(
        self,
        call: Callable[[], Any],
        gate: int,
        *,
        method: Method,
        channel: Channel,
        wait: Callable[[int], None],
    ) -> tuple[Any, float]:
        """Arm, wait for the gate, call, wait for the whole device; (value, nanoseconds).

        ``wait(gate)`` blocks until the owner says Go on the channel. ``method`` host_time asks for
        the time of the host around launch and wait, in place of the device's.
        """
        ...

    def dirty_next(self) -> None:
        """Leave values in on-chip memory, where there is any, before the next call."""
        ...

    def finish(self) -> None:
        """Wait for the copies of returned values."""
        ...
