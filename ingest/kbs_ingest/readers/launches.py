"""One launch as a report gave it, and how it becomes a Profile."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from kbs_engine.metrics import MetricMap, MetricUnit, canonical, drop_no_durations, impossible
from kbs_engine.profiles import Profile, VendorRule
from kbs_ingest.readers.derived import derive
from kbs_ingest.readers.text import printable
from kbs_ingest.readers.vendor_units import fits, parse_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPCODES: Final = "sass__inst_executed_per_opcode"
"""The instanced metric whose instances are opcode mnemonics."""


@dataclass
class Launch:
    """Values under the vendor's names, with the units that the report printed."""

    number: int
    name: str
    values: dict[str, tuple[float, str]] = field(default_factory=dict)
    chip: str | None = None
    compute_capability: str | None = None
    sections: list[str] = field(default_factory=list)
    rules: list[VendorRule] = field(default_factory=list)
    opcodes: dict[str, float] = field(default_factory=dict)
    functions: dict[str, float] = field(default_factory=dict)
    """Special functions by kind, part of the opcode MUFU."""
    flags: list[str] = field(default_factory=list)


def plain_values(metric_map: MetricMap) -> dict[str, MetricUnit]:
    """Expected unit of each vendor name that stands for a canonical metric as it is."""
    expected: dict[str, MetricUnit] = {}
    for rule in metric_map.metrics.values():
        if rule.scale == 1:
            names = [*rule.names, *rule.max, *(name for term in rule.sum for name in term)]
            expected.update((name, rule.unit) for name in names)
    return expected


def to_profile(
    launch: Launch, metric_map: MetricMap, source: str, *, expected: Mapping[str, MetricUnit]
) -> Profile:
    """Convert units, rename to canonical metrics, and flag what is doubtful."""
    flags = list(launch.flags)
    raw: dict[str, float] = {}
    for name, (value, printed) in launch.values.items():
        unit = parse_unit(printed)
        if unit is None:
            flags.append(f"{name}: unit {printed!r} is not known, left out")
        elif name in expected and not fits(unit, expected[name]):
            shown = repr(printed) if printed else "missing"
            flags.append(f"{name}: unit {shown} does not fit {expected[name]}, left out")
        elif math.isfinite(value * unit.factor):
            raw[name] = value * unit.factor
        else:
            flags.append(
                f"{name} reads {value:g} {printed}".rstrip() + ", which no number holds; left out"
            )
    if launch.opcodes:
        raw.update((f"opcode:{opcode}", count) for opcode, count in launch.opcodes.items())
        for name in metric_map.vendor_names():
            if name.startswith("opcode:"):
                raw.setdefault(name, 0.0)
    flags.extend(derive(raw, metric_map.vendor_names()))
    flags.extend(_drop_endless(raw))
    metrics = canonical(metric_map, raw, arch=_arch(launch.compute_capability))
    metrics.update((f"opcode_{op}", count) for op, count in launch.opcodes.items())
    metrics.update((f"opcode_{op}", count) for op, count in launch.functions.items())
    if launch.opcodes:
        metrics["opcode_total"] = sum(launch.opcodes.values())
    flags.extend(_drop_endless(metrics))
    flags.extend(drop_no_durations(metrics))
    flags.extend(f"{doubt}; no answer rests on it" for doubt in impossible(metric_map, metrics))
    return Profile(
        name=printable(launch.name),
        launch=launch.number,
        metrics=metrics,
        chip=printable(launch.chip) if launch.chip else None,
        compute_capability=launch.compute_capability,
        sections=tuple(dict.fromkeys(printable(name) for name in launch.sections)),
        vendor_rules=tuple(_plain_rule(rule) for rule in launch.rules),
        flags=tuple(dict.fromkeys(printable(flag) for flag in flags)),
        source=source,
    )


def _drop_endless(values: dict[str, float]) -> list[str]:
    """Remove what overflowed on the way, and say so."""
    endless = [name for name, value in values.items() if not math.isfinite(value)]
    for name in endless:
        del values[name]
    return [f"{name} is too large for a number, left out" for name in endless]


def _plain_rule(rule: VendorRule) -> VendorRule:
    speedup = rule.estimated_speedup_pct
    return msgspec.structs.replace(
        rule,
        rule=printable(rule.rule),
        title=printable(rule.title),
        message=printable(rule.message),
        section=printable(rule.section),
        estimated_speedup_pct=None if speedup is None or not math.isfinite(speedup) else speedup,
    )


def to_profiles(
    launches: Iterable[Launch], metric_map: MetricMap, source: str
) -> tuple[Profile, ...]:
    """Convert all launches of one report, in order."""
    expected = plain_values(metric_map)
    return tuple(to_profile(one, metric_map, source, expected=expected) for one in launches)


def _arch(capability: str | None) -> int | None:
    """Compute capability × 10, for example 90 for ``9.0``."""
    major, _, minor = (capability or "").partition(".")
    return int(major) * 10 + int(minor) if major.isdigit() and minor.isdigit() else None
