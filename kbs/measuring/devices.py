"""The device of a command: opened from its options, recorded if asked, closed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec

from kbs.context import Context
from kbs.measuring.options import DeviceOptions
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import KbsError
from kbs_engine.facts import Chip
from kbs_engine.jobs import Job, Result
from kbs_engine.ports import Device


class Measuring(msgspec.Struct, frozen=True, kw_only=True):
    """An open device, its store, and what to tell beside any answer."""

    device: Any
    """``kbs_engine.ports.Device``."""
    blobs: BlobStore
    notes: tuple[str, ...] = ()

    def run(self, job: Job) -> Result:
        """Submit and wait."""
        device: Device = self.device
        return device.submit(job).result()


@contextlib.contextmanager
def measuring(context: Context, options: DeviceOptions) -> Iterator[Measuring]:
    """Open the device; contents live in the home folder.

    Raises:
        MeasurementError: No GPU where one is needed; says how to do without.
        UsageError: No such device.
    """
    from kbs_backends.device import RecordedDevice, Recorder, open_device

    blobs = BlobStore(context.home / "blobs")
    spec = options.device
    settings: dict[str, Any] = {}
    notes: list[str] = []
    if not spec.startswith("recorded:"):
        settings = {"gpu": options.gpu, "arch": options.arch}
    if spec.startswith(("auto", "cuda")):
        settings["chip"], why_not = chip_here(context, options.gpu)
        notes += [f"no physics floor: {why_not}"] if why_not else []
    device: Any = open_device(spec, blobs, **settings)
    if isinstance(device, RecordedDevice):
        notes.append(f"replayed from {device.folder}: nothing was measured now")
        if not device.chained:
            notes.append("recorded without a chain of hashes: a line edited since would not show")
    if spec == "host" or (isinstance(device, RecordedDevice) and "host" in device.devices):
        notes.append("a dry run on the CPU: nothing here says anything about a GPU")
    if options.record is not None:
        device = Recorder(device, options.record, blobs)
    with device:
        yield Measuring(device=device, blobs=blobs, notes=tuple(notes))


def chip_here(context: Context, gpu: int) -> tuple[Chip | None, str]:
    """Cited specs of the GPU in this machine, or why there are none."""
    from kbs_backends.device.gpus import gpu_name

    name = gpu_name(gpu)
    if not name:
        return None, ""
    try:
        with context.store() as store:
            return store.chip(name), ""
    except KbsError as problem:
        return None, str(problem)
