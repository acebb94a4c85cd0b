"""What each memory level moved, and which level two launches are compared at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from kbs_engine.execution import Execution

SECTOR_BYTES: Final = 32

LEVELS: Final[dict[str, tuple[str, str]]] = {
    "dram": ("device memory", "byte"),
    "l2": ("L2 to L1", "byte"),
    "l1": ("L1", "byte"),
    "shared": ("shared memory", "wavefront"),
}
"""Words and unit of each level, deepest first."""

MEMORY_REASONS: Final[dict[str, frozenset[str]]] = {
    "dram": frozenset({"long_scoreboard", "lg_throttle", "tex_throttle", "drain"}),
    "l2": frozenset({"long_scoreboard", "lg_throttle", "tex_throttle", "drain"}),
    "l1": frozenset({"long_scoreboard", "lg_throttle", "tex_throttle", "drain"}),
    "shared": frozenset({"short_scoreboard", "mio_throttle"}),
}
"""Stall reasons that wait on a level (meanings: gpu-wiki/profiling/ncu.md, Stall reasons)."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """The level at which the traffic of two launches is compared."""

    name: str
    words: str
    unit: str
    first: float
    second: float


def level_amount(metrics: Mapping[str, float], level: str) -> float | None:
    """Bytes (wavefronts for shared memory) that a level moved; None where not all was counted.

    L1 is None when TMA stored, because no counter gives those bytes at L1. Chips without TMA
    have no counter of it: only loads that were counted without their bytes are uncounted.
    """
    if level == "dram":
        return _total(metrics, ("dram_read_bytes", "dram_write_bytes"))
    if level == "l2":
        return _total(metrics, ("l2_to_l1_bytes", "l1_to_l2_bytes"))
    if level == "shared":
        return _total(metrics, ("shared_load_wavefronts", "shared_store_wavefronts"))
    sectors = _total(metrics, ("global_load_sectors", "global_store_sectors"))
    local = _total(metrics, ("local_load_bytes", "local_store_bytes"))
    bulk = metrics.get("tma_load_bytes", None if metrics.get("tma_load_instructions") else 0.0)
    if sectors is None or local is None or bulk is None or metrics.get("tma_store_instructions"):
        return None
    return sectors * SECTOR_BYTES + local + bulk


def _total(metrics: Mapping[str, float], names: tuple[str, ...]) -> float | None:
    if any(name not in metrics for name in names):
        return None
    return sum(metrics[name] for name in names)


def common_level(first: Execution, second: Execution) -> tuple[Level | None, str]:
    """The busiest memory level of the slower side whose traffic both sides counted.

    The choice is the same when the sides are swapped. The text says why it is not the busiest.
    """
    slower, faster = sorted(
        (first, second), key=lambda one: (-one.time_ns, sorted(one.busy_pct.items()))
    )
    order = sorted(
        (name for name in LEVELS if name in slower.busy_pct),
        key=lambda name: (-slower.busy_pct[name], list(LEVELS).index(name)),
    )
    for name in order:
        if slower.traffic.get(name) and faster.traffic.get(name):
            words, unit = LEVELS[name]
            level = Level(
                name=name,
                words=words,
                unit=unit,
                first=first.traffic[name],
                second=second.traffic[name],
            )
            if name == order[0]:
                return level, ""
            return level, (
                f"traffic is compared at {words}: {LEVELS[order[0]][0]} is busier in the slower "
                f"launch, but its traffic was not counted on both sides"
            )
    return None, "traffic was not counted on both sides: memory waits stand per instruction"
