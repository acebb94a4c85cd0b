"""What a roofline chart shows: roofs with their origin, launches as points or bandwidths.

Roofs are cited specs; where nobody cites one (L2 and L1 seldom are), the peak that the
profiler itself printed stands in and is called so. A level with neither is left out and named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.metrics import usable
from kbs_engine.peaks import compute_roof
from kbs_engine.traffic import level_amount
from kbs_engine.units import human_rate
from kbs_engine.work import Work

LevelName = Literal["dram", "l2", "l1"]
LEVEL_WORDS: Final[dict[LevelName, str]] = {"dram": "DRAM", "l2": "L2 to SM", "l1": "L1 loads"}

_REPORT_PEAKS: Final[dict[LevelName, tuple[str, str]]] = {
    "dram": ("dram_peak_bytes_per_cycle", "dram_clock_hz"),
    "l2": ("l2_peak_bytes_per_cycle", "l2_clock_hz"),
    "l1": ("l1_peak_bytes_per_cycle", "l1_clock_hz"),
}
"""Bytes per cycle and clock, as ncu's hierarchical roofline sections collect them."""
_LINK_PCT: Final[dict[LevelName, str]] = {"l2": "l2_to_sm_link_pct", "l1": "l1_load_return_pct"}
"""Share of that same peak, so that points and roofs speak of one quantity."""
_CLOCK: Final = 0.01
"""A clock nearer than this to the cited one is not worth a note."""
_BYPASSES_L1: Final = ("async_copy_instructions", "tma_load_instructions")


class ChartLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, or a task with a known time, to be drawn."""

    launch: int
    name: str
    metrics: dict[str, float]
    chip: Chip | None = None
    work: Work | None = None
    time_ns: float | None = None


class ChartRoof(msgspec.Struct, frozen=True, kw_only=True):
    """One roof: bytes/s when ``level`` is set, FLOP/s otherwise."""

    level: LevelName | None
    value: float
    label: str
    origin: str
    """The citation line, or how the report states it."""


class ChartPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A launch with known FLOPs at one level."""

    launch: int
    level: LevelName
    intensity: float
    """FLOP per byte that this level really moved."""
    rate: float
    """FLOP/s."""


class ChartBandwidth(msgspec.Struct, frozen=True, kw_only=True):
    """A launch whose FLOPs nobody knows: what a level moved per second, against its roof."""

    launch: int
    level: LevelName
    value: float
    share: float | None


class ChartData(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is drawn."""

    title: str
    names: dict[int, str]
    roofs: tuple[ChartRoof, ...]
    points: tuple[ChartPoint, ...]
    bandwidths: tuple[ChartBandwidth, ...]
    notes: tuple[str, ...] = ()


def chart_data(launches: Sequence[ChartLaunch]) -> ChartData:
    """Collect roofs and points of launches on one chip; the first chip gives the roofs."""
    notes: list[str] = []
    if len({one.launch for one in launches}) < len(launches):
        launches = [
            msgspec.structs.replace(one, launch=number) for number, one in enumerate(launches)
        ]
        notes.append("several reports: launches are numbered through, in the order given")
    chip = next((one.chip for one in launches if one.chip), None)
    if any(one.chip and chip and one.chip.id != chip.id for one in launches):
        notes.append(f"several chips: the roofs are those of {chip.name if chip else ''}")
    memory = _memory_roofs(launches, chip, notes)
    values = {roof.level: roof.value for roof in memory}
    points: list[ChartPoint] = []
    bandwidths: list[ChartBandwidth] = []
    for one in launches:
        _draw(one, values, points, bandwidths, notes)
    names = {one.launch: one.name for one in launches}
    return ChartData(
        title=f"Roofline of {chip.name}" if chip else "Roofline, chip unknown",
        names=names,
        roofs=(*memory, *_compute_roofs(launches, chip, notes)),
        points=tuple(points),
        bandwidths=tuple(bandwidths),
        notes=_merged(notes),
    )


def _merged(notes: Sequence[str]) -> tuple[str, ...]:
    """The same word about several launches is said once."""
    groups: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        launch, mark, text = note.partition(": ")
        alone = not mark or not launch.startswith("launch ") or not launch[7:].isdigit()
        groups.setdefault(note if alone else text, []).append("" if alone else launch[7:])
    return tuple(
        text
        if not numbers[0]
        else f"launch{'es' if len(numbers) > 1 else ''} {', '.join(numbers)}: {text}"
        for text, numbers in groups.items()
    )


def _memory_roofs(
    launches: Sequence[ChartLaunch], chip: Chip | None, notes: list[str]
) -> list[ChartRoof]:
    roofs = []
    spec = chip.find("memory_bandwidth") if chip else None
    for level, words in LEVEL_WORDS.items():
        if level == "dram" and chip and spec and spec.base_value:
            shown = human_rate(spec.base_value, "B/s")
            roofs.append(
                ChartRoof(
                    level=level, value=spec.base_value, label=f"{words} {shown}",
                    origin=spec.cite(chip.name),
                )
            )  # fmt: skip
            continue
        found = max((_report_peak(one.metrics, level) for one in launches), default=(0.0, 0.0))
        if not found[0]:
            if any(one.metrics for one in launches):
                notes.append(f"{words} roof: UNKNOWN (neither cited nor in the report)")
            continue
        value, clock = found
        shown = human_rate(value, "B/s")
        roofs.append(
            ChartRoof(
                level=level,
                value=value,
                label=f"{words} {shown} (ncu)",
                origin=f"{words}: {shown}, {value / clock:g} B/cycle × {clock / 1e9:.3g} GHz, "
                f"peak printed by the profiler in this report",
            )
        )
    return roofs


def _report_peak(metrics: Mapping[str, float], level: LevelName) -> tuple[float, float]:
    width, clock = (metrics.get(name, 0.0) for name in _REPORT_PEAKS[level])
    return width * clock, clock


def _compute_roofs(
    launches: Sequence[ChartLaunch], chip: Chip | None, notes: list[str]
) -> list[ChartRoof]:
    """One roof per precision that some task with known FLOPs (else any task) permits, as cited."""
    roofs: dict[str, ChartRoof] = {}
    counted = [one for one in launches if one.work and one.work.flops]
    for one in counted or launches:
        if chip is None or one.work is None:
            continue
        for dtype in one.work.precisions:
            asked = msgspec.structs.replace(one.work, permitted=(dtype,), flops=1.0)
            roof = compute_roof(chip, asked, clock_hz=None).roof
            if roof is None:
                continue
            _clock_note(one, chip, roof.metric, notes)
            words = roof.metric.removeprefix("peak_").replace("_", " ")
            shown = human_rate(roof.value, "FLOP/s")
            roofs[roof.metric] = ChartRoof(
                level=None, value=roof.value, label=f"{words} {shown}", origin=roof.citation
            )
    return sorted(roofs.values(), key=lambda roof: (-roof.value, roof.label))


def _clock_note(one: ChartLaunch, chip: Chip, metric: str, notes: list[str]) -> None:
    """Roofs stand as cited; a launch that ran at another clock has another one."""
    spec, clock = chip.find(metric), one.metrics.get("sm_clock_hz")
    if spec and clock and spec.basis.clock_hz and abs(clock / spec.basis.clock_hz - 1) >= _CLOCK:
        notes.append(
            f"launch {one.launch} ran at {clock / 1e9:.3g} GHz: its {spec.words or metric} roof is "
            f"{clock / spec.basis.clock_hz:.2f} of the one drawn, which is cited at "
            f"{spec.basis.clock_hz / 1e9:.3g} GHz"
        )


def _draw(
    one: ChartLaunch,
    roofs: Mapping[LevelName | None, float],
    points: list[ChartPoint],
    bandwidths: list[ChartBandwidth],
    notes: list[str],
) -> None:
    time = one.time_ns if one.time_ns is not None else one.metrics.get("duration_ns")
    if not time:
        work = one.work
        known = work.flops / work.bytes_min if work and work.flops and work.bytes_min else None
        lies = f"; its compulsory work is {known:.4g} FLOP per DRAM byte" if known else ""
        notes.append(f"{one.name} has no time: no point is drawn{lies}")
        return
    flops = one.work.flops if one.work else None
    if not flops:
        notes.append(f"launch {one.launch}: FLOPs not known, drawn as bandwidth only")
    for level in LEVEL_WORDS:
        moved = _bytes_per_s(one, level, time, notes)
        if not moved:
            continue
        if flops:
            rate = flops / time * 1e9
            points.append(
                ChartPoint(launch=one.launch, level=level, intensity=rate / moved, rate=rate)
            )
        else:
            roof = roofs.get(level)
            share = moved / roof if roof else None
            bandwidths.append(
                ChartBandwidth(launch=one.launch, level=level, value=moved, share=share)
            )


def _bytes_per_s(one: ChartLaunch, level: LevelName, time: float, notes: list[str]) -> float | None:
    """What the level moved per second, by the counter that its roof is of where there is one."""
    metrics = usable(one.metrics)
    if level == "dram":
        moved = level_amount(metrics, level)
        if moved is None and not one.metrics and one.work and one.work.bytes_min:
            moved = one.work.bytes_min
            notes.append(f"{one.name}: compulsory bytes stand for the traffic, nothing is measured")
        return None if moved is None else moved / time * 1e9
    if level == "l1" and any(metrics.get(name) for name in _BYPASSES_L1):
        notes.append(f"launch {one.launch}: no L1 point, asynchronous copies bypass that counter")
        return None
    share = metrics.get(_LINK_PCT[level])
    peak = _report_peak(metrics, level)[0]
    if share is not None and peak:
        return share / 100 * peak
    moved = level_amount(metrics, level)
    return None if moved is None else moved / time * 1e9
