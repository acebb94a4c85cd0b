"""Units of specs and metrics, brought to base units (bytes, bytes/s, FLOP/s, Hz, ns)."""

from __future__ import annotations

from typing import Final

SPEC_UNITS: Final[dict[str, float]] = {
    "": 1.0, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
    "B/s": 1.0, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "GiB/s": 2.0**30, "TiB/s": 2.0**40,
    "Hz": 1.0, "MHz": 1e6, "GHz": 1e9,
    "FLOPS": 1.0, "GFLOPS": 1e9, "TFLOPS": 1e12, "PFLOPS": 1e15,
    "OPS": 1.0, "GOPS": 1e9, "TOPS": 1e12, "POPS": 1e15,
    "FLOP/clk/unit": 1.0, "OP/clk/unit": 1.0, "B/clk": 1.0, "B/clk/unit": 1.0,
    "W": 1.0, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 1.0,
}  # fmt: skip
"""Factor to the base unit of the same quantity. GB is decimal, GiB binary, times are in ns."""

QUANTITY: Final[dict[str, str]] = {
    **dict.fromkeys(("B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"), "bytes"),
    **dict.fromkeys(("B/s", "MB/s", "GB/s", "TB/s", "GiB/s", "TiB/s"), "bytes_per_s"),
    **dict.fromkeys(("Hz", "MHz", "GHz"), "hz"),
    **dict.fromkeys(
        ("FLOPS", "GFLOPS", "TFLOPS", "PFLOPS", "OPS", "GOPS", "TOPS", "POPS"), "ops_per_s"
    ),
    **dict.fromkeys(("FLOP/clk/unit", "OP/clk/unit"), "ops_per_clock"),
    **dict.fromkeys(("B/clk", "B/clk/unit"), "bytes_per_clock"),
    **dict.fromkeys(("ns", "us", "µs", "ms", "s"), "ns"),
    "": "count",
    "W": "watt",
    "%": "pct",
}
"""What a spec unit measures; two values compare only within one quantity."""


def to_base(value: float, unit: str) -> float:
    """Return ``value`` in the base unit of ``unit``; KeyError names an unknown unit."""
    return value * SPEC_UNITS[unit]


def human_bytes(value: float) -> str:
    """Decimal bytes as people read them: ``134.2 MB``."""
    for factor, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {name}"
    return f"{value:.0f} B"


def human_ns(value: float) -> str:
    """A time as people read it: ``41.2 µs``."""
    for factor, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {name}"
    return f"{value:.0f} ns"


def human_rate(value: float, unit: str) -> str:
    """A rate with a decimal prefix: ``human_rate(3.35e12, "B/s")`` is ``3.35 TB/s``."""
    for factor, name in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {name}{unit}"
    return f"{value:.4g} {unit}"
