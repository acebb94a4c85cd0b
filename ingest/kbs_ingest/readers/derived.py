"""Counters that a metric map cannot express, worked out from those that a report has.

They are added to the values of a launch under ``derived:`` names, or under the vendor's name of
an equal quantity. Each needs all its inputs; nothing is assumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SECTOR_BYTES: Final = 32
WARP_SIZE: Final = 32

_WAVEFRONTS: Final = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS: Final = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_SECTORS: Final = "l1tex__t_sectors_pipe_lsu_mem_{}_op_{}.sum"
_BYTES: Final = "smsp__sass_average_data_bytes_per_sector_mem_{}_op_{}.ratio"
_HIT: Final = "l1tex__t_sector_pipe_lsu_mem_{}_op_{}_hit_rate.pct"
_ASYNC: Final = "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum"
_ELAPSED: Final = ".pct_of_peak_sustained_elapsed"
_ACTIVE: Final = ".pct_of_peak_sustained_active"
_BUSY: Final = "sm__cycles_active.avg"
_CYCLES: Final = ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")

DIFFERENCES: Final[dict[str, tuple[str, str]]] = {
    # wavefronts that would remain without bank conflicts
    "derived:shared_wavefronts_ideal_op_ld": (_WAVEFRONTS.format("ld"), _CONFLICTS.format("ld")),
    "derived:shared_wavefronts_ideal_op_st": (_WAVEFRONTS.format("st"), _CONFLICTS.format("st")),
    "derived:lds_cycles_without_conflicts": ("SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT"),
}
"""Minuend and subtrahend."""

_TCP_MISSES: Final = (
    "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum", "TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
    "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
)  # fmt: skip

EXCESS: Final[dict[str, tuple[str, str]]] = {
    f"derived:{word}_excess_sectors": (_SECTORS.format("global", op), _BYTES.format("global", op))
    for word, op in (("load", "ld"), ("store", "st"))
}
"""Sectors, and the bytes used of each: sectors × (1 - bytes / 32)."""

EMPTY: Final[dict[str, str]] = {
    **{
        _HIT.format(space, op): _SECTORS.format(space, op)
        for space in ("global", "local")
        for op in ("ld", "st")
    },
    **{
        name: name for space in ("global", "local") for op in ("ld", "st")
        for name in (_BYTES.format(space, op),)
    },
}  # fmt: skip
"""Ratios that ncu prints as 0 when the counter beside them is 0, that is, where nothing was
accessed. An access uses at least one byte of its sector, so 0 bytes per sector is no access."""


def inputs(names: Iterable[str]) -> frozenset[str]:
    """Vendor counters to read so that ``names`` can be found or worked out."""
    wanted = set(names)
    wanted.update((_BUSY, *_CYCLES))
    for pair in (*DIFFERENCES.values(), *EXCESS.values(), *EMPTY.items()):
        wanted.update(pair)
    wanted.update((_ASYNC, "launch__grid_size", "launch__block_size"))
    for name in tuple(wanted):
        if name.startswith("sm__") and name.endswith(_ELAPSED):
            wanted.add(name.removesuffix(_ELAPSED) + _ACTIVE)
        twin = _bytes_twin(name)
        if twin:
            wanted.add(twin)
    return frozenset(name for name in wanted if ":" not in name)


def derive(raw: dict[str, float], names: Iterable[str]) -> tuple[str, ...]:
    """Add what can be worked out, and remove ratios of nothing; ``raw`` is in base units.

    Returns what the reader of the profile should know about it.
    """
    for ratio, count in EMPTY.items():
        if raw.get(count) == 0:
            raw.pop(ratio, None)
    for name, (total, part) in DIFFERENCES.items():
        if total in raw and part in raw and raw[total] >= raw[part]:
            raw[name] = raw[total] - raw[part]
    _amd(raw)
    for name, (sectors, used) in EXCESS.items():
        mixed = name.endswith("load_excess_sectors") and raw.get(_ASYNC, 0) > 0
        if sectors in raw and used in raw and not mixed:
            raw[name] = raw[sectors] * max(0.0, 1 - raw[used] / SECTOR_BYTES)
    if "launch__grid_size" in raw and "launch__block_size" in raw:
        warps = -(-raw["launch__block_size"] // WARP_SIZE)
        raw["derived:warps_launched"] = raw["launch__grid_size"] * warps
    missing = [name for name in names if name not in raw]
    for name in missing:
        twin = _bytes_twin(name)
        if twin in raw:
            factor = SECTOR_BYTES if "_bytes" in name else 1 / SECTOR_BYTES
            raw[name] = raw[twin] * factor
    return _from_active(raw, missing)


def _amd(raw: dict[str, float]) -> None:
    """Hit rates and workgroups from the counters and columns of AMD's tools."""
    hits, misses = raw.get("TCC_HIT_sum"), raw.get("TCC_MISS_sum")
    if hits is not None and misses is not None and hits + misses > 0:
        raw["derived:l2_hit_pct"] = 100 * hits / (hits + misses)
    accesses = raw.get("TCP_TOTAL_CACHE_ACCESSES_sum")
    if accesses is not None and all(name in raw for name in _TCP_MISSES):
        passed_on = sum(raw[name] for name in _TCP_MISSES)
        if passed_on <= accesses:
            raw["derived:tcp_hits"] = accesses - passed_on
    if raw.get("launch:block_threads") and "launch:grid_threads" in raw:
        raw["derived:blocks"] = raw["launch:grid_threads"] // raw["launch:block_threads"]


def _from_active(raw: dict[str, float], missing: Iterable[str]) -> tuple[str, ...]:
    """Turn shares of active cycles into shares of elapsed cycles where only those are there."""
    busy = raw.get(_BUSY)
    basis = next((name for name in _CYCLES if raw.get(name)), None)
    if busy is None or basis is None:
        return ()
    found = 0
    for name in missing:
        active = name.removesuffix(_ELAPSED) + _ACTIVE
        if name.startswith("sm__") and name.endswith(_ELAPSED) and active in raw:
            raw[name] = raw[active] * busy / raw[basis]
            found += 1
    if not found:
        return ()
    return (f"{found} pipe shares are worked out from shares of active cycles and {basis}",)


def _bytes_twin(name: str) -> str | None:
    """``l1tex__t_sectors_x.sum`` for ``l1tex__t_bytes_x.sum`` and back: a sector is 32 bytes."""
    if not name.endswith(".sum") or not name.startswith(("l1tex__t_", "lts__t_", "dram__")):
        return None
    if "__t_bytes" in name or name.startswith("dram__bytes"):
        return name.replace("_bytes", "_sectors", 1)
    if "__t_sectors" in name or name.startswith("dram__sectors"):
        return name.replace("_sectors", "_bytes", 1)
    return None
