"""The roofline of one launch, from cited specs, the work, and what was measured."""

from __future__ import annotations

from typing import Final, Literal

from kbs_engine.doubts import doubt, dram_bytes, flag_model, flag_traffic
from kbs_engine.facts import Chip
from kbs_engine.limiter import LimiterReading, find_limiter
from kbs_engine.peaks import compute_roof, measured_compute_roof, memory_roof
from kbs_engine.roofs import Roof, Roofline
from kbs_engine.vocabulary import Bound, Limiter
from kbs_engine.work import Work

NEAR_PEAK_CITED: Final = 0.85
NEAR_PEAK_MEASURED: Final = 0.90
NEAR_PEAK_LIMITER: Final = 0.90
TRAFFIC_SLACK: Final = 1.1
"""Traffic up to this multiple of the compulsory bytes counts as minimal."""
BINDING: Final = 0.60
"""A roof binds when its time is at least this share of the measurement."""
THROTTLED: Final = 0.97
"""A clock below this share of the one that a cited peak assumes is worth a flag."""

_COMPUTE_PIPES: Final = ("tensor_pct", "fma_pct", "alu_pct", "xu_pct", "fp64_pct")


def build_roofline(
    metrics: dict[str, float],
    *,
    chip: Chip | None,
    work: Work | None,
    time_ns: float | None = None,
    time_source: Literal["profiler", "timer"] = "profiler",
) -> Roofline:
    """Roofline of one launch.

    Args:
        metrics: canonical metrics; ``duration_ns`` is the time unless ``time_ns`` is given.
        chip: cited specs, or None when the chip is unknown (then no roof is drawn).
        work: compulsory work, or None.
        time_ns: a time from elsewhere, in nanoseconds, with its ``time_source``.
        time_source: where ``time_ns`` comes from.
    """
    time = time_ns if time_ns is not None else metrics.get("duration_ns")
    reading = find_limiter(metrics)
    flags: list[str] = []
    cited, measured = _roofs(chip, work, metrics.get("sm_clock_hz"), flags)
    fixed = chip.find("empty_launch_time", measured=True) if chip else None
    fixed_ns = fixed.base_value if fixed else None
    model_cited = _model(cited, fixed_ns)
    model_measured = _model(_prefer_measured(cited, measured), fixed_ns) if measured else None
    why = doubt(chip, work, [r for r in cited if r.basis == "cited"], time, metrics)
    near, reason = False, ""
    if why:
        flags.append(why)
    else:
        flag_model(time, model_cited, model_measured, flags)
        flag_traffic(metrics, work, flags)
        near, reason = _near_peak(metrics, work, time, model_cited, model_measured, reading)
    reason = _marked(cited, reason, flags, near=near)
    roofs = (*cited, *measured)
    model = None if why else model_cited if model_measured is None else model_measured
    return Roofline(
        time_ns=time,
        time_source="none" if time is None else time_source,
        algorithm_bound=_algorithm_bound(cited, work, metrics, time),
        arithmetic_intensity=_intensity(work),
        ridge=_ridge(cited),
        limiter=_limiter_name(reading, time, fixed_ns),
        limiter_share=reading.share,
        roofs=roofs,
        fixed_ns=fixed_ns,
        fixed_citation=fixed.cite(chip.name) if fixed and chip else "",
        model_ns=model,
        model_cited_ns=model_cited,
        model_measured_ns=model_measured,
        gap=_gap(model, time),
        gap_memory=_gap(_best_time(roofs, "memory"), time),
        gap_compute=_gap(_best_time(roofs, "compute"), time),
        gap_latency=None if reading.share is None else 1 - reading.share,
        near_peak=near,
        near_peak_reason=reason,
        binding=_binding(cited, time, reading),
        work_doubted=bool(why),
        flags=tuple(flags),
    )


def _marked(cited: list[Roof], reason: str, flags: list[str], *, near: bool) -> str:
    """Why it is near its peak, with what the user's placeholders stand for."""
    stood_in = ", ".join(roof.metric for roof in cited if roof.basis == "placeholder")
    if not stood_in:
        return reason
    flags.append(f"rests on a placeholder given by the user: {stood_in}")
    return f"{reason}, with a placeholder for {stood_in}" if near else ""


def _roofs(
    chip: Chip | None, work: Work | None, clock_hz: float | None, flags: list[str]
) -> tuple[list[Roof], list[Roof]]:
    if chip is None:
        flags.append("chip unknown: no roof is drawn")
        return [], []
    if work is None:
        flags.append("work unknown: the answer rests on counters only")
        return [], []
    cited: list[Roof] = []
    measured: list[Roof] = []
    if chip.device_is_die:
        flags.append(f"{chip.id} is two devices to software: its roofs are those of one die")
    if work.bytes_min is None:
        known = "in" if work.bytes_in is not None else "out" if work.bytes_out is not None else ""
        told = f"only bytes {known} are known" if known else "bytes in and out are not known"
        flags.append(f"{told}: no memory roof")
    else:
        for is_measured, roofs in ((False, cited), (True, measured)):
            roof = memory_roof(chip, work.bytes_min, measured=is_measured)
            if roof is not None:
                roofs.append(roof)
    pipe = compute_roof(chip, work, clock_hz=clock_hz)
    flags.extend(pipe.notes)
    if pipe.roof is not None and work.flops is not None:
        cited.append(pipe.roof)
        _flag_clock(chip, pipe.roof, clock_hz, flags)
        ceiling = measured_compute_roof(chip, pipe.roof, work.flops)
        if ceiling is not None:
            measured.append(ceiling)
    return cited, measured


def _flag_clock(chip: Chip, pipe: Roof, clock_hz: float | None, flags: list[str]) -> None:
    if clock_hz is None:
        return
    if pipe.clock_hz is None:
        flags.append(f"{pipe.metric} of {chip.id} states no clock; its roof is as cited")
        return
    share = pipe.value / pipe.cited_value
    if share < THROTTLED:
        flags.append(
            f"clock_throttled: ran at {pipe.clock_hz / 1e9:.2f} GHz, "
            f"{share:.2f} of the clock that the cited peak assumes"
        )


def _prefer_measured(cited: list[Roof], measured: list[Roof]) -> list[Roof]:
    by_kind = {roof.kind: roof for roof in cited}
    by_kind.update({roof.kind: roof for roof in measured})
    return list(by_kind.values())


def _model(roofs: list[Roof], fixed_ns: float | None) -> float | None:
    if not roofs:
        return None
    return (fixed_ns or 0.0) + max(roof.time_ns for roof in roofs)


def _gap(model: float | None, time: float | None) -> float | None:
    if model is None or not time:
        return None
    return max(0.0, 1 - model / time)


def _best_time(roofs: tuple[Roof, ...], kind: str) -> float | None:
    times = {roof.basis: roof.time_ns for roof in roofs if roof.kind == kind}
    return times.get("measured", times.get("cited", times.get("placeholder")))


def _intensity(work: Work | None) -> float | None:
    if work is None or work.flops is None or not work.bytes_min:
        return None
    return work.flops / work.bytes_min


def _ridge(cited: list[Roof]) -> float | None:
    values = {roof.kind: roof.value for roof in cited}
    if "compute" not in values or "memory" not in values:
        return None
    return values["compute"] / values["memory"]


def _algorithm_bound(
    cited: list[Roof], work: Work | None, metrics: dict[str, float], time: float | None
) -> Bound:
    """Intensity against the ridge; where arithmetic is not counted, the busiest pipe stands in.

    With compulsory bytes known and flops not, the algorithm is called memory-bound only when
    its memory roof takes a larger share of the time than any arithmetic pipe was busy.
    """
    times = {roof.kind: roof.time_ns for roof in cited}
    if "memory" in times and "compute" in times:
        return "compute" if times["compute"] > times["memory"] else "memory"
    if work is None or work.flops is not None or "memory" not in times or not time:
        return "unknown"
    pipes = [metrics[name] / 100 for name in _COMPUTE_PIPES if name in metrics]
    if pipes and times["memory"] / time > max(pipes):
        return "memory"
    return "unknown"


def _limiter_name(reading: LimiterReading, time: float | None, fixed_ns: float | None) -> Limiter:
    if reading.limiter == "latency" and time and fixed_ns and time < 2 * fixed_ns:
        return "launch"
    return reading.limiter


def _binding(
    cited: list[Roof], time: float | None, reading: LimiterReading
) -> Literal["memory", "compute", "none", "unknown"]:
    if not cited or not time:
        return "none" if reading.limiter == "latency" else "unknown"
    top = max(cited, key=lambda roof: roof.time_ns)
    return top.kind if top.time_ns / time >= BINDING else "none"


def _near_peak(
    metrics: dict[str, float],
    work: Work | None,
    time: float | None,
    model_cited: float | None,
    model_measured: float | None,
    reading: LimiterReading,
) -> tuple[bool, str]:
    if time and model_measured is not None and model_measured / time >= NEAR_PEAK_MEASURED:
        return True, f"model at measured ceilings is {model_measured / time:.2f} of the time"
    if time and model_cited is not None and model_cited / time >= NEAR_PEAK_CITED:
        return True, f"model at cited peaks is {model_cited / time:.2f} of the time"
    if reading.limiter == "dram" and reading.share and reading.share >= NEAR_PEAK_LIMITER:
        moved = dram_bytes(metrics)
        least = work.bytes_min if work else None
        if moved is not None and least and moved <= TRAFFIC_SLACK * least:
            return True, f"DRAM is {reading.share:.2f} busy and moves only what it must"
    return False, ""
