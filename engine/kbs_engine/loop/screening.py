"""The static screen: what a compiler says is enough to drop a branch before it is raced.

A branch goes when it does not compile, when a block cannot fit on the chip by cited limits,
when it is the machine code of another branch again, or when it spills and neither the
incumbent nor another branch does. What is not known drops nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.occupancy import Launch, occupancy
from kbs_engine.results import Compiled, KernelResources


class Screened(msgspec.Struct, frozen=True, kw_only=True):
    """What the screen says of one branch."""

    name: str
    kept: bool
    reason: str = ""
    """Why it was dropped: a sentence; empty when kept."""
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    occupancy_pct: float | None = None
    notes: tuple[str, ...] = ()


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A branch as compiled; ``compiled`` is None where the language needs no compiler here."""

    name: str
    compiled: Compiled | None


def screen(
    branches: Sequence[Branch], *, chip: Chip | None, incumbent: Compiled | None
) -> tuple[Screened, ...]:
    """The verdict on each branch, in order."""
    first = [_alone(branch, chip) for branch in branches]
    if _spills(incumbent) == 0 and any(row.kept and row.spill_bytes == 0 for row in first):
        first = [_no_spill(row) for row in first]
    return _no_twins(branches, first, incumbent)


def _alone(branch: Branch, chip: Chip | None) -> Screened:
    compiled = branch.compiled
    if compiled is None:
        return Screened(name=branch.name, kept=True, notes=("not compiled ahead of its run",))
    numbers = _largest(compiled.resources)
    if not compiled.ok:
        error = next(m for m in compiled.messages if m.severity == "error")
        where = f"line {error.line}: " if error.line else ""
        reason = f"does not compile: {where}{error.message}"
        return Screened(name=branch.name, kept=False, reason=reason, **numbers)
    faults, share = _fit(compiled.resources, chip)
    return Screened(
        name=branch.name,
        kept=not faults,
        reason="; ".join(faults),
        occupancy_pct=share,
        **numbers,
    )


def _largest(resources: Sequence[KernelResources]) -> dict[str, Any]:
    def most(values: Sequence[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return max(known) if known else None

    spills = [
        None
        if row.spill_store_bytes is None and row.spill_load_bytes is None
        else (row.spill_store_bytes or 0) + (row.spill_load_bytes or 0)
        for row in resources
    ]
    return {
        "registers": most([row.registers for row in resources]),
        "spill_bytes": most(spills),
        "shared_bytes": most([row.shared_bytes for row in resources]),
    }


def _fit(
    resources: Sequence[KernelResources], chip: Chip | None
) -> tuple[tuple[str, ...], float | None]:
    """Why blocks do not fit, and the smallest static occupancy, where both can be known."""
    faults: list[str] = []
    shares: list[float] = []
    for row in resources:
        if chip is None or row.registers is None or not row.threads_per_block:
            continue
        found = occupancy(
            chip,
            Launch(
                block=row.threads_per_block,
                registers=row.registers,
                shared_bytes=row.shared_bytes or 0,
            ),
        )
        if found.fits is False:
            faults += [f"{row.kernel}: {fault}" for fault in found.faults] or [
                f"{row.kernel}: a block does not fit"
            ]
        if found.occupancy_pct is not None:
            shares.append(found.occupancy_pct)
    return tuple(faults), min(shares) if shares else None


def _spills(compiled: Compiled | None) -> int | None:
    if compiled is None:
        return None
    spilled: int | None = _largest(compiled.resources)["spill_bytes"]
    return spilled


def _no_spill(row: Screened) -> Screened:
    if not row.kept or not row.spill_bytes:
        return row
    reason = f"spills {row.spill_bytes} bytes, which the incumbent and other branches do not"
    return msgspec.structs.replace(row, kept=False, reason=reason)


def _no_twins(
    branches: Sequence[Branch], rows: Sequence[Screened], incumbent: Compiled | None
) -> tuple[Screened, ...]:
    """Drop what compiles to machine code that stands there already."""
    seen: dict[str, str] = {}
    if incumbent is not None and incumbent.artifact_sha256:
        seen[incumbent.artifact_sha256] = "the incumbent"
    kept = []
    for branch, row in zip(branches, rows, strict=True):
        code = branch.compiled.artifact_sha256 if branch.compiled else ""
        if row.kept and code in seen:
            reason = f"compiles to the machine code of {seen[code]}"
            kept.append(msgspec.structs.replace(row, kept=False, reason=reason))
            continue
        if row.kept and code:
            seen[code] = branch.name
        kept.append(row)
    return tuple(kept)
