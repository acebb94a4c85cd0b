"""What a work sidecar says of a report: the work of each launch, and the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from kbs_engine.profiles import Profile, Report
from kbs_engine.work import Work

if TYPE_CHECKING:
    from kbs_ingest.work_file import WorkFile


def sidecar_of(path: Path, named: Path | None) -> WorkFile | None:
    """The sidecar that the user named, else the one beside the report."""
    from kbs_ingest.work_file import find_work_file, read_work

    found = named or find_work_file(path)
    return read_work(found) if found else None


def with_work(
    report: Report, sidecar: WorkFile | None, path: Path
) -> list[tuple[Profile, Work | None]]:
    """Each launch with its work; a launch whose entry cannot be told apart says so in a flag."""
    if sidecar is None:
        return [(profile, None) for profile in report.profiles]
    _tell_idle(sidecar, {_stated(report, one) for one in report.profiles}, path)
    unclear = _unclear(report) & set(sidecar.launches)
    found = []
    for profile in report.profiles:
        stated: int | None = _stated(report, profile)
        told = profile
        if stated in unclear:
            flag = (
                f"the work sidecar's entry for launch {stated} is left out: id {stated} occurs "
                "more than once, for different kernels or shapes; give the work under kernels:"
            )
            told = msgspec.structs.replace(profile, flags=(*profile.flags, flag))
            stated = None
        found.append((told, sidecar.for_launch(stated, profile.name)))
    return found


def _stated(report: Report, profile: Profile) -> int:
    """The id of a launch in the report, which a sidecar goes by."""
    return report.reported.get(profile.launch, profile.launch)


def _unclear(report: Report) -> set[int]:
    """Ids that stand for launches of different kernels or shapes."""
    kinds: dict[int, set[tuple[object, ...]]] = {}
    for one in report.profiles:
        shape = (one.metrics.get("grid_size"), one.metrics.get("block_size"))
        kinds.setdefault(_stated(report, one), set()).add((one.name, *shape))
    return {stated for stated, kind in kinds.items() if len(kind) > 1}


def _tell_idle(sidecar: WorkFile, launches: set[int], path: Path) -> None:
    """Say which launches of a sidecar the report does not have."""
    idle = sorted(set(sidecar.launches) - launches)
    if idle:
        told = ", ".join(map(str, idle))
        click.echo(f"note: the work sidecar of {path.name} names launches {told}, "
                   "which the report does not have", err=True)  # fmt: skip
