"""Devices behind one small protocol: ``cuda`` and ``host``."""

from __future__ import annotations

from kbs_backends.device.accelerators.base import ArenaHandle, Block, OwnerSide, WorkerSide

__all__ = ["ArenaHandle", "Block", "OwnerSide", "WorkerSide", "owner_side", "worker_side"]


def owner_side(name: str, gpu: int) -> OwnerSide:
    """The owner's side of ``cuda`` or ``host``."""
    if name == "cuda":
        from kbs_backends.device.accelerators.cuda_owner import CudaOwner

        return CudaOwner(gpu)
    from kbs_backends.device.accelerators.host import HostOwner

    return HostOwner()


def worker_side(name: str, gpu: int) -> WorkerSide:
    """The worker's side of ``cuda`` or ``host``."""
    if name == "cuda":
        from kbs_backends.device.accelerators.cuda_worker import CudaWorker

        return CudaWorker(gpu)
    from kbs_backends.device.accelerators.host import HostWorker

    return HostWorker()
