"""Values worth trying for a launch or tile constant that its author did not mark."""

from __future__ import annotations

import re

from kbs_backends.variants.records import Value

_TILE = re.compile(
    r"(?:.*_)?(?:BLOCK|TILE|CHUNK)(?:_?SIZE)?(?:_?[A-Z0-9]+)*\Z|B[MNK]\Z|BLOCK[MNK]\Z|T[MN]\Z"
    r"|(?:n(?:um)?_?)?(?:threads|block|blockdim)(?:_?(?:size|dim|per_?block))*\Z"
    r"|(?:BLOCK_?|NUM_?)?(?:N?THREADS|TPB|BDIM)(?:_?PER_?BLOCK)?\Z",
    re.IGNORECASE,
)
_GROUP = re.compile(r"GROUP(?:_?SIZE)?(?:_?M)?\Z", re.IGNORECASE)
_WARPS = (1, 2, 4, 8, 16)
_STAGES = (1, 2, 3, 4, 5)
_GROUPS = (1, 4, 8, 16)
_SMALLEST, _LARGEST_BLOCK, _LARGEST_TILE = 16, 1024, 65536
_SMALLEST_2D, _LARGEST_2D = 16, 256
_TWO_DIMENSIONAL = re.compile(r"(?:.*_|B|BLOCK|TILE)[MNKXYHWD]\d?\Z")


def is_tile_name(name: str) -> bool:
    """Return whether a name speaks of a block, a tile or its number of threads."""
    return _TILE.match(name) is not None


def launch_values(name: str, current: Value) -> tuple[Value, ...]:
    """Values of a Triton launch constant; only ``current`` where the name says nothing."""
    if not isinstance(current, int) or isinstance(current, bool):
        return (current,)
    if name == "num_warps":
        return _with(current, _WARPS)
    if name == "num_stages":
        return _with(current, _STAGES)
    if _GROUP.match(name):
        return _with(current, _GROUPS)
    if not is_tile_name(name) or current < 1 or current & (current - 1):
        return (current,)
    low, high = _SMALLEST, _LARGEST_TILE
    if _TWO_DIMENSIONAL.match(name) and current <= _LARGEST_2D:
        low, high = _SMALLEST_2D, _LARGEST_2D
    return _with(current, _around(current, low, high))


def thread_values(name: str, current: Value) -> tuple[Value, ...]:
    """Values of a number of threads per block: powers of two from a warp to 1,024."""
    if not isinstance(current, int) or isinstance(current, bool) or not is_tile_name(name):
        return (current,)
    if current < 1 or current & (current - 1) or current > _LARGEST_BLOCK:
        return (current,)
    return _with(current, _around(current, min(32, current), _LARGEST_BLOCK))


def _around(current: int, low: int, high: int) -> tuple[int, ...]:
    factors = (current // 4, current // 2, current, current * 2, current * 4)
    return tuple(value for value in factors if low <= value <= high)


def _with(current: int, values: tuple[int, ...]) -> tuple[Value, ...]:
    return tuple(sorted({current, *values}))
