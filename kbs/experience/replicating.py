"""A capsule's two kernels checked and timed again here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError
from kbs_engine.experience import Replication
from kbs_engine.experience.capsule import Capsule, Opened, unpack
from kbs_engine.inputs import read_regular
from kbs_engine.jobs import Check, Job, Probe, Result, SourceRef, Time
from kbs_engine.refusals import REASONS
from kbs_engine.results import Checked, Machine, Timed, read
from kbs_engine.timing import Comparison, compare
from kbs_ingest.experience.places import host_tag

if TYPE_CHECKING:
    from kbs_engine.ports import Device
    from kbs_ingest.experience import Lore

Tell = Callable[[str], None]


def read_capsule(path: Path) -> Opened:
    """The capsule in a file; InputError when it is none."""
    try:
        data = read_regular(path)
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="name a file that `kbs capsule` wrote",
        ) from problem
    return unpack(data, str(path))


def replicate(
    capsule: Opened,
    device: Device,
    blobs: BlobStore,
    *,
    replayed: bool = False,
    lore: Lore,
    tell: Tell = lambda _: None,
) -> Replication:
    """Check both kernels, time them against each other, and say whether the claim holds.

    Args:
        capsule: what ``read_capsule`` gave.
        device: where to measure.
        blobs: the store that the device reads sources from.
        replayed: the device answers from a recording.
        lore: gives the chip its id.
        tell: is told each step.

    Raises:
        InputError: It names another chip than the one it was measured on.
        MeasurementError: A job could not be carried out; nothing is claimed.
    """
    manifest = capsule.manifest
    _require_chip(manifest, lore)
    for content in capsule.files.values():
        blobs.put(content)
    tell("probing the machine")
    probed = device.submit(Probe()).result()
    machine = read(probed, Machine)
    found = _Found(capsule, machine, probed, lore, replayed=replayed)
    for name, source in (("v0", manifest.v0), ("champion", manifest.champion)):
        tell(f"checking {name}")
        checked = _ask(device, Check(source=source, task=manifest.task,
                                     rounds=manifest.check_rounds), Checked)  # fmt: skip
        if not checked.passed:
            return found.failed(name, checked.reason or "", checked.detail)
    tell(f"timing {manifest.process_pairs} process pairs")
    timed = _ask(device, _timing(manifest), Timed)
    for name, arm in zip(("champion", "v0"), timed.arms, strict=True):
        if arm.reason is not None:
            return found.failed(name, arm.reason, arm.detail)
    return found.measured(compare(timed, 0, 1, noise=manifest.claim.noise))


def _require_chip(manifest: Capsule, lore: Lore) -> None:
    """Refuse a chip or arch that is not that of the GPU, where the wiki knows the GPU."""
    known = lore.chip(manifest.gpu) if manifest.gpu else None
    if known is None:
        return
    for name, stated, real in (
        ("chip", manifest.chip, known.id),
        ("architecture", manifest.arch.rstrip("af"), known.arch.rstrip("af")),
    ):
        if stated and stated != real:
            raise InputError(
                f"its parts do not agree: {manifest.gpu} is of {name} {real}, not {stated}",
                remedy="pack it again with `kbs capsule RUN`",
            )


def _timing(manifest: Capsule) -> Time:
    arms: tuple[SourceRef, ...] = (manifest.champion, manifest.v0)
    return Time(
        arms=arms,
        task=manifest.task,
        settings=manifest.timing,
        fresh_processes=manifest.process_pairs,
    )


def _ask(device: Device, job: Job, kind: Any) -> Any:
    return read(device.submit(job).result(), kind)


class _Found:
    """Puts the parts of a replication together."""

    def __init__(
        self, capsule: Opened, machine: Machine, probed: Result, lore: Lore, *, replayed: bool
    ) -> None:
        manifest = capsule.manifest
        chip = lore.chip(machine.gpu)
        claim = manifest.claim
        self._fields: dict[str, Any] = {
            "capsule": capsule.id,
            "targets": manifest.targets,
            "run": manifest.run,
            "kernel": manifest.kernel,
            "language": manifest.language,
            "chip": chip.id if chip else machine.gpu,
            "arch": machine.arch or (chip.arch if chip else ""),
            "dims": manifest.task.dims,
            "machine": machine.gpu_uuid or f"host-{host_tag()}",
            "device": "recorded" if replayed else machine.device,
            "driver": machine.driver,
            "versions": {**probed.provenance.versions, **machine.versions},
            "claimed": (claim.ratio, claim.low, claim.high),
            "noise": claim.noise,
        }

    def failed(self, name: str, reason: str, detail: str) -> Replication:
        """A kernel that failed its check or was refused while it was timed."""
        known = REASONS.get(reason)
        fault = known is None or known.kind != "integrity"
        told = f"{name}: {reason}" + (f" ({detail})" if detail else "")
        return self._record(correct=not fault, integrity=fault, verdict="failed", reason=told)

    def measured(self, found: Comparison) -> Replication:
        """Both kernels passed; the ratio decides."""
        good = found.verdict == "faster"
        return self._record(
            correct=True,
            integrity=True,
            verdict="replicated" if good else "not replicated",
            reason="" if good else f"the champion is {found.verdict} here",
            ratio=found.ratio,
            low=found.low,
            high=found.high,
        )

    def _record(self, **fields: Any) -> Replication:
        return msgspec.convert({**self._fields, **fields}, Replication)
