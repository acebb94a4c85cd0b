"""Units as Nsight Compute has spelled them over the years, brought to base units.

Base units are bytes, bytes/s, ns, Hz and percent; every other unit keeps its number. Kbyte is
1000 bytes: a report of 1040 bytes per block is exported as 1.04 Kbyte/block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kbs_engine.metrics import MetricUnit


class Unit(NamedTuple):
    """What a unit measures, and the factor to its base unit."""

    quantity: str
    """``bytes``, ``bytes_per_s``, ``ns``, ``hz``, ``pct``, ``plain`` or ``plain_per_s``."""
    factor: float


_PREFIX: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BYTES: Final = {f"{p}byte{s}": f for p, f in _PREFIX.items() for s in ("", "s")}
_HERTZ: Final = {f"{p}{hz}": f for p, f in _PREFIX.items() for hz in ("hz", "Hz")}
_TIME: Final = {
    "ns": 1.0, "nsecond": 1.0, "nanosecond": 1.0, "us": 1e3, "µs": 1e3, "usecond": 1e3,
    "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
}  # fmt: skip
_PLAIN: Final = frozenset(
    {
        "", "inst", "sector", "request", "warp", "thread", "block", "cycle", "register",
        "cluster", "SM", "TPC", "GPC", "CTA", "pass", "wavefront", "wavefronts", "op", "sample",
        "samples", "count", "threads", "warps", "blocks", "cycles", "instruction",
        "instructions", "sectors", "requests", "transaction", "transactions", "tag", "bank",
        "event", "node", "branches", "way", "ways", "device", "SMs",
    }
)  # fmt: skip


def parse_unit(text: str) -> Unit | None:
    """Return what ``text`` means, or None for a unit that is not known."""
    text = text.strip()
    top, slash, bottom = text.partition("/")
    if text == "%":
        return Unit("pct", 1.0)
    if not slash:
        return _simple(text)
    if bottom in _TIME:
        return _rate(top, _TIME[bottom])
    if bottom in _PLAIN and bottom:
        # byte/block is an amount of bytes, inst/cycle a plain number
        return _simple(top)
    return None


def _simple(text: str) -> Unit | None:
    if text in _BYTES:
        return Unit("bytes", _BYTES[text])
    if text in _TIME:
        return Unit("ns", _TIME[text])
    if text in _HERTZ:
        return Unit("hz", _HERTZ[text])
    return Unit("plain", 1.0) if text in _PLAIN else None


def _rate(top: str, ns: float) -> Unit | None:
    per_second = 1e9 / ns
    if top in _BYTES:
        return Unit("bytes_per_s", _BYTES[top] * per_second)
    if top in ("cycle", "cycles"):
        return Unit("hz", per_second)
    return Unit("plain_per_s", per_second) if top and top in _PLAIN else None


_ALLOWED: Final[dict[MetricUnit, frozenset[str]]] = {
    "ns": frozenset({"ns"}),
    "bytes": frozenset({"bytes"}),
    "bytes_per_s": frozenset({"bytes_per_s"}),
    "hz": frozenset({"hz"}),
    "pct": frozenset({"pct", "plain"}),
    "count": frozenset({"plain"}),
    "ratio": frozenset({"plain", "bytes", "pct"}),
}


def fits(unit: Unit, expected: MetricUnit) -> bool:
    """Whether a printed unit can be that of a metric with the expected unit."""
    return unit.quantity in _ALLOWED[expected]
