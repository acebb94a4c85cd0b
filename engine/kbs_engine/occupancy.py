"""Static occupancy of a launch from cited limits; an UNKNOWN limit makes it unknown.

The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h of the CUDA toolkit):
registers are allocated per warp in units and belong to one sub-partition of the SM, shared
memory per block in units after CUDA's own reserve, and warps and blocks have limits of their
own. The smallest of the four counts.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from kbs_engine.facts import UNKNOWN_NOTE, Chip, Spec

SCHEMA_VERSION = 1

Resource = Literal["blocks", "warps", "registers", "shared"]

LIMITS: Final[tuple[str, ...]] = (
    "warp_size", "max_warps_per_unit", "max_blocks_per_unit", "max_threads_per_block",
    "registers_per_unit", "registers_per_thread_max", "registers_per_block_max",
    "register_alloc_unit", "sub_partitions_per_unit", "shared_per_unit",
    "shared_per_block_max", "shared_reserved_per_block", "shared_alloc_unit", "unit_count",
)  # fmt: skip
"""Hardware metrics that the calculation reads."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What a block asks for."""

    block: int
    registers: int
    shared_bytes: float = 0.0
    """Static and dynamic shared memory per block, without what CUDA reserves."""
    shared_config_bytes: float | None = None
    """Shared memory that the driver sets aside per SM; None: as much as the SM has."""


class BlockLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks per SM that one resource allows; None where a limit is UNKNOWN."""

    resource: Resource
    blocks: int | None
    how: str


class Occupancy(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks and warps resident on one SM. None is unknown, never a guess."""

    fits: bool | None
    blocks_per_unit: int | None
    warps_per_block: int | None
    warps_per_unit: int | None
    occupancy_pct: float | None
    limits: tuple[BlockLimit, ...]
    binding: tuple[Resource, ...] = ()
    faults: tuple[str, ...] = ()
    """Why a block does not fit at all."""
    unknown: tuple[str, ...] = ()
    """Limits that the wiki lacks."""
    citations: tuple[str, ...] = ()


def cited(chip: Chip, metric: str) -> str:
    """The citation line of a limit, UNKNOWN included."""
    spec = chip.find(metric)
    return spec.cite(chip.name) if spec else f"{chip.name} {metric}: {UNKNOWN_NOTE}"


def occupancy(chip: Chip, launch: Launch) -> Occupancy:
    """How many blocks of ``launch`` one SM of ``chip`` holds."""
    values = {name: chip.number(name) for name in LIMITS}
    citations = tuple(cited(chip, name) for name in LIMITS)
    if not _per_warp(chip.find("register_alloc_unit")):
        values["register_alloc_unit"] = None
    warp = values["warp_size"]
    warps = math.ceil(launch.block / warp) if warp else None
    faults = _faults(launch, values, warps)
    limits = (
        BlockLimit(
            resource="blocks",
            blocks=_whole(values["max_blocks_per_unit"]),
            how="resident blocks",
        ),
        _by_warps(values, warps),
        _by_registers(values, launch, warps),
        _by_shared(values, launch),
    )
    known = [limit.blocks for limit in limits]
    unknown = tuple(name for name in LIMITS if values[name] is None and name != "unit_count")
    complete = all(count is not None for count in known)
    blocks = min(count for count in known if count is not None) if complete else None
    if faults:
        blocks = 0
    total = values["max_warps_per_unit"]
    resident = blocks * warps if blocks is not None and warps is not None else None
    return Occupancy(
        fits=None if blocks is None else blocks > 0,
        blocks_per_unit=blocks,
        warps_per_block=warps,
        warps_per_unit=resident,
        occupancy_pct=100 * resident / total if resident is not None and total else None,
        limits=limits,
        binding=tuple(limit.resource for limit in limits if complete and limit.blocks == blocks),
        faults=faults,
        unknown=unknown,
        citations=citations,
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _per_warp(spec: Spec | None) -> bool:
    """AMD pages count the allocation unit per thread: another rule, not modelled here."""
    return spec is not None and "registers per warp" in spec.basis.remarks


def _faults(launch: Launch, values: dict[str, float | None], warps: int | None) -> tuple[str, ...]:
    """Requests above a known limit of one block or thread."""
    reserve = values["shared_reserved_per_block"] or 0.0
    registers = _registers_per_warp(values, launch)
    rows = (
        ("threads per block", launch.block, values["max_threads_per_block"]),
        ("registers per thread", launch.registers, values["registers_per_thread_max"]),
        ("bytes of shared memory per block", launch.shared_bytes, values["shared_per_block_max"]),
        (
            "bytes of shared memory with CUDA's reserve per SM",
            launch.shared_bytes + reserve,
            launch.shared_config_bytes or values["shared_per_unit"],
        ),
        (
            "registers per block as allocated",
            registers * warps if registers is not None and warps is not None else 0,
            values["registers_per_block_max"],
        ),
    )
    return tuple(
        f"{asked:g} {words}, the limit is {limit:g}"
        for words, asked, limit in rows
        if limit is not None and asked > limit
    )


def _registers_per_warp(values: dict[str, float | None], launch: Launch) -> float | None:
    unit, warp = values["register_alloc_unit"], values["warp_size"]
    if not unit or not warp:
        return None
    return math.ceil(launch.registers * warp / unit) * unit


def _by_warps(values: dict[str, float | None], warps: int | None) -> BlockLimit:
    most = values["max_warps_per_unit"]
    if most is None or warps is None:
        return BlockLimit(resource="warps", blocks=None, how="a limit is UNKNOWN")
    return BlockLimit(
        resource="warps", blocks=int(most // warps), how=f"{most:g} warps / {warps} per block"
    )


def _by_registers(values: dict[str, float | None], launch: Launch, warps: int | None) -> BlockLimit:
    file, parts = values["registers_per_unit"], values["sub_partitions_per_unit"]
    per_warp = _registers_per_warp(values, launch)
    if not file or not parts or not per_warp or warps is None:
        return BlockLimit(resource="registers", blocks=None, how="a limit is UNKNOWN")
    resident = int(file / parts // per_warp) * int(parts)
    return BlockLimit(
        resource="registers",
        blocks=resident // warps,
        how=f"{launch.registers} per thread are {per_warp:g} per warp; "
        f"{file / parts:g} registers in each of {parts:g} sub-partitions hold "
        f"{resident // int(parts)} warps; {resident} warps / {warps} per block",
    )


def _by_shared(values: dict[str, float | None], launch: Launch) -> BlockLimit:
    unit, reserve = values["shared_alloc_unit"], values["shared_reserved_per_block"]
    most = launch.shared_config_bytes or values["shared_per_unit"]
    if not unit or reserve is None or not most:
        return BlockLimit(resource="shared", blocks=None, how="a limit is UNKNOWN")
    block = math.ceil((launch.shared_bytes + reserve) / unit) * unit
    return BlockLimit(
        resource="shared",
        blocks=int(most // block),
        how=f"{launch.shared_bytes:g} B + {reserve:g} B reserved are {block:g} B in units of "
        f"{unit:g} B; {most:g} B / {block:g} B",
    )
