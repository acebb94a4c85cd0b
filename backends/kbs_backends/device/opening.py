"""From the word of a command line to a device, and several GPUs as one device."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbs_backends.device.gpus import gpu_count
from kbs_backends.device.local import LocalDevice
from kbs_backends.device.recorded import RecordedDevice
from kbs_backends.device.wide_pass import Widest
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import UsageError
from kbs_engine.jobs import Job, Result

if TYPE_CHECKING:
    from typing_extensions import Self

FORMS = "auto, cuda, cuda:1, cuda:0,1, cuda:all, host, recorded:DIR"


class DevicePool:
    """Several devices as one: a job goes to the one with the fewest jobs waiting."""

    def __init__(self, devices: Sequence[LocalDevice]) -> None:
        """At least one device; the pool closes them."""
        if not devices:
            msg = "a pool without devices"
            raise ValueError(msg)
        self.devices = tuple(devices)
        self._waiting = [0] * len(devices)
        self._lock = threading.Lock()

    def submit(self, job: Job) -> Future[Result]:
        """Queue on the least busy device."""
        with self._lock:
            index = self._waiting.index(min(self._waiting))
            self._waiting[index] += 1
        future = self.devices[index].submit(job)
        future.add_done_callback(lambda _: self._ended(index))
        return future

    def expect_many(self, widest: Widest | None = None) -> None:
        """A run's jobs will come."""
        for device in self.devices:
            device.expect_many(widest)

    def close(self) -> None:
        """Close all."""
        for device in self.devices:
            device.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close."""
        for device in self.devices:
            device.__exit__(*problem)

    def _ended(self, index: int) -> None:
        with self._lock:
            self._waiting[index] -= 1


AnyDevice = LocalDevice | RecordedDevice | DevicePool


def open_device(spec: str, blobs: BlobStore, **options: Any) -> AnyDevice:
    """``auto``, ``cuda``, ``cuda:1``, ``cuda:0,1``, ``cuda:all``, ``host``, ``recorded:DIR``.

    ``options`` go to ``LocalDevice``.

    Raises:
        UsageError: Another word.
        MeasurementError: A GPU is asked for and there is none.
        InputError: No recording in the folder.
    """
    kind, _, rest = spec.partition(":")
    if kind == "recorded" and rest:
        return RecordedDevice(Path(rest), blobs)
    if spec in ("auto", "host", "cuda"):
        return LocalDevice(blobs, kind=spec, **options)  # type: ignore[arg-type]
    if kind == "cuda":
        return _gpus(spec, rest, blobs, options)
    raise UsageError(f"{spec!r} is no device", where="--device", remedy=f"use one of {FORMS}")


def _gpus(spec: str, rest: str, blobs: BlobStore, options: dict[str, Any]) -> AnyDevice:
    words = [str(i) for i in range(gpu_count())] if rest == "all" else rest.split(",")
    if not words or not all(word.isdigit() for word in words):
        raise UsageError(f"{spec!r} names no GPU", where="--device", remedy=f"use one of {FORMS}")
    options = {name: value for name, value in options.items() if name != "gpu"}
    devices = [LocalDevice(blobs, kind="cuda", gpu=int(word), **options) for word in words]
    return devices[0] if len(devices) == 1 else DevicePool(devices)
