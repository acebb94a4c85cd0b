"""What one launch, or several summed as one call, executed: totals, from which rates follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kbs_engine.errors import UsageError
from kbs_engine.metrics import DURATION, usable
from kbs_engine.profiles import Profile
from kbs_engine.traffic import LEVELS, level_amount

_STALL = "stall_"
_OPCODE = "opcode_"
_NAMED = 3
"""Kernels of a call that are named one by one."""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison. None is *not measured*, never zero."""

    name: str
    launches: tuple[int, ...]
    time_ns: float
    chip: str | None = None
    source: str = ""
    clock_hz: float | None = None
    """SM clock, weighted by time."""
    unit_count: float | None = None
    active_share: float | None = None
    """Share (0–1) of the elapsed cycles in which the mean SM had a resident warp."""
    warps: float | None = None
    """Resident warps per scheduler and active cycle."""
    issue_rate: float | None = None
    """Instructions issued per scheduler and active cycle."""
    compute_capability: str | None = None
    executed: float | None = None
    issued: float | None = None
    latency: float | None = None
    """Warp cycles per issued instruction."""
    stalls: dict[str, float] = msgspec.field(default_factory=dict)
    """Warp-cycles by stall reason; a reason that was not collected is absent."""
    opcodes: dict[str, float] = msgspec.field(default_factory=dict)
    traffic: dict[str, float] = msgspec.field(default_factory=dict)
    """Amount moved by memory level (traffic.LEVELS)."""
    busy_pct: dict[str, float] = msgspec.field(default_factory=dict)
    """Throughput of each memory level against its peak."""
    flags: tuple[str, ...] = ()
    """Doubts of the reader."""

    @property
    def instructions(self) -> float | None:
        """Instructions issued; those executed stand for them where they were not counted."""
        return self.executed if self.issued is None else self.issued

    @property
    def warp_cycles(self) -> float:
        """Warp-cycles of all instructions; 0 when latency was not measured."""
        return (self.instructions or 0.0) * (self.latency or 0.0)


def execution_of(profile: Profile) -> Execution:
    """One launch as a side of a comparison; UsageError when it has no time.

    A negative value is none that a counter can have, nor is a share far above 100 %: it is taken
    as not measured.
    """
    metrics = usable(profile.metrics)
    time = metrics.get(DURATION)
    if not time:
        raise UsageError(
            f"launch {profile.launch} ({profile.name}) has no duration",
            where=profile.source,
            remedy="collect gpu__time_duration.sum (section SpeedOfLight)",
        )
    issued, executed = metrics.get("inst_issued"), metrics.get("inst_executed")
    instructions = executed if issued is None else issued
    elapsed, active = metrics.get("cycles_elapsed"), metrics.get("sm_active_cycles_avg")
    rate = metrics.get("issue_active_pct")
    stalls = {
        name.removeprefix(_STALL): value * instructions
        for name, value in metrics.items()
        if name.startswith(_STALL) and instructions
    }
    return Execution(
        name=profile.name,
        launches=(profile.launch,),
        time_ns=time,
        chip=profile.chip,
        source=profile.source,
        clock_hz=metrics.get("sm_clock_hz"),
        unit_count=metrics.get("sm_count"),
        active_share=active / elapsed if active and elapsed else None,
        warps=metrics.get("active_warps"),
        issue_rate=rate / 100 if rate else None,
        compute_capability=profile.compute_capability,
        executed=executed,
        issued=issued,
        latency=metrics.get("warp_cycles_per_issue"),
        stalls=stalls,
        opcodes=_opcodes(metrics),
        traffic={
            name: amount for name in LEVELS if (amount := level_amount(metrics, name)) is not None
        },
        busy_pct={name: metrics[f"{name}_pct"] for name in LEVELS if f"{name}_pct" in metrics},
        flags=profile.flags,
    )


def counted_alike(sides: Sequence[Execution]) -> list[Execution]:
    """The same with one count of instructions: issued on all sides, or executed on all."""
    if all(one.issued is not None for one in sides):
        return list(sides)
    return [_by_executed(one) for one in sides]


def _by_executed(one: Execution) -> Execution:
    if one.issued is None:
        return one
    ratio = (one.executed or 0.0) / one.issued if one.issued else 0.0
    stalls = {name: cycles * ratio for name, cycles in one.stalls.items()}
    return msgspec.structs.replace(one, issued=None, stalls=stalls)


def _opcodes(metrics: Mapping[str, float]) -> dict[str, float]:
    """Executed instructions by mnemonic; a variant beside its mnemonic counts once.

    ``opcode_MUFU_RCP`` is part of ``opcode_MUFU``; ``opcode_UCGABAR_ARV`` is a mnemonic.
    """
    names = {
        name.removeprefix(_OPCODE): value
        for name, value in metrics.items()
        if name.startswith(_OPCODE) and name != "opcode_total" and value
    }
    return {
        name: value
        for name, value in names.items()
        if "_" not in name or name.split("_")[0] not in names
    }


def as_one_call(profiles: Sequence[Profile]) -> Execution:
    """Several launches summed as one call; a quantity that one of them lacks is not known.

    Counts add. Rates are weighted by what they are rates of: the clock and utilization by
    time, active share by cycles, resident warps and issue rate by active SM cycles, latency by
    instructions.
    """
    sides = counted_alike([execution_of(profile) for profile in profiles])
    if len(sides) == 1:
        return sides[0]
    times = [one.time_ns for one in sides]
    cycles = [one.time_ns * (one.clock_hz or 0.0) * (one.unit_count or 0.0) for one in sides]
    active = [cycle * (one.active_share or 0.0) for cycle, one in zip(cycles, sides, strict=True)]
    names = list(dict.fromkeys(one.name for one in sides))
    chips = {one.chip for one in sides}
    capabilities = {one.compute_capability for one in sides}
    counted = all(one.opcodes for one in sides)
    return Execution(
        name=" + ".join(names) if len(names) <= _NAMED else f"{names[0]} + {len(names) - 1} more",
        launches=tuple(one.launches[0] for one in sides),
        time_ns=sum(times),
        chip=chips.pop() if len(chips) == 1 else None,
        source=sides[0].source,
        clock_hz=_mean([one.clock_hz for one in sides], times),
        unit_count=_mean(
            [one.unit_count for one in sides],
            [one.time_ns * (one.clock_hz or 0.0) for one in sides],
        ),
        active_share=_mean([one.active_share for one in sides], cycles),
        warps=_mean([one.warps for one in sides], active),
        issue_rate=_mean([one.issue_rate for one in sides], active),
        compute_capability=capabilities.pop() if len(capabilities) == 1 else None,
        executed=_sum([one.executed for one in sides]),
        issued=_sum([one.issued for one in sides]),
        latency=_mean([one.latency for one in sides], [one.instructions or 0.0 for one in sides]),
        stalls=_shared([one.stalls for one in sides]),
        opcodes=_add([one.opcodes for one in sides]) if counted else {},
        traffic=_shared([one.traffic for one in sides]),
        busy_pct={
            name: value
            for name in LEVELS
            if (value := _mean([one.busy_pct.get(name) for one in sides], times)) is not None
        },
        flags=tuple(dict.fromkeys(flag for one in sides for flag in one.flags)),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value for value in values if value is not None]
    total = sum(weights)
    if len(known) != len(values) or total <= 0:
        return None
    return sum(value * weight for value, weight in zip(known, weights, strict=True)) / total


def _add(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    names = {name for row in rows for name in row}
    return {name: sum(row.get(name, 0.0) for row in rows) for name in sorted(names)}


def _shared(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Sums of what every row has."""
    names = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: sum(row[name] for row in rows) for name in names}
