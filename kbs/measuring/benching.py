"""The work of ``kbs bench``: check, time against baselines, and what the samples say."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs.measuring.devices import Measuring
from kbs.measuring.subject import Subject
from kbs_engine.errors import UsageError
from kbs_engine.jobs import Arm, BaselineRef, Check, Provenance, Result, Time, TimingSettings
from kbs_engine.results import ArmTimes, Timed, read
from kbs_engine.run.benches import build_bench
from kbs_engine.run.measured import ArmSummary, Bench, StatedComparison

BASELINES = ("pytorch-eager", "torch-compile", "flashinfer")
SHORT_NS = 50_000.0
"""Kernels below it get a warning beside their times."""


class Benched(msgspec.Struct, frozen=True, kw_only=True):
    """A finished bench: the record of raw answers and stated figures, and its task."""

    subject: Subject
    bench: Bench
    baselines: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def timed(self) -> Timed | None:
        """The timing, where the kernel passed its check."""
        return self.bench.timed()

    def raw(self, name: str) -> ArmTimes | None:
        """The raw arm of a baseline."""
        timed = self.timed
        arms = timed.arms if timed else ()
        return next((arm for arm in arms if arm.name == name and not arm.sha256), None)


def chosen_baselines(words: tuple[str, ...]) -> tuple[str, ...]:
    """``all``, ``none`` or names, separated by commas or repeated; UsageError for others."""
    names = [name for text in words for name in text.replace(",", " ").split()]
    if names == ["none"]:
        return ()
    if names == ["all"]:
        return BASELINES
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} is no baseline", where="--baselines",
            remedy=f"use {', '.join(BASELINES)}, all or none",
        )  # fmt: skip
    return tuple(dict.fromkeys(names))


def run_bench(
    measuring: Measuring,
    subject: Subject,
    *,
    baselines: tuple[str, ...],
    settings: TimingSettings,
    process_pairs: int,
    noise: float,
) -> Benched:
    """Check first; only a correct kernel is timed.

    Raises:
        MeasurementError: A job could not be carried out at all.
    """
    check = measuring.run(Check(source=subject.source, task=subject.task))
    _carried_out(check)
    blocks: list[Result] = []
    if check.value is not None and check.value["passed"]:
        arms: list[Arm] = [subject.source]
        arms += [BaselineRef(name=name) for name in baselines]  # type: ignore[arg-type]
        job = Time(
            arms=tuple(arms), task=subject.task, settings=settings, fresh_processes=process_pairs
        )
        blocks.append(measuring.run(job))
        _carried_out(blocks[0])
    bench = build_bench(
        version=0, name="bench", source_sha256=subject.source.sha256, checks=[check],
        blocks=blocks, settings=settings, noise=noise,
    )  # fmt: skip
    notes = (*measuring.notes, *_short(bench))
    return Benched(subject=subject, bench=bench, baselines=baselines, notes=notes)


def _short(bench: Bench) -> tuple[str, ...]:
    """A warning for a kernel so short that launch cost and noise show."""
    own = bench.own()
    if own is None or own.median_ns >= SHORT_NS:
        return ()
    text = (
        f"the kernel takes {own.median_ns / 1000:.1f} µs: under {SHORT_NS / 1000:.0f} µs the "
        "launch cost and the noise of the clock are a visible share of every figure"
    )
    return (text,)


def bench_json(done: Benched) -> dict[str, Any]:
    """The JSON of ``kbs bench`` (docs/cli.md)."""
    bench, timed = done.bench, done.timed
    own = bench.own()
    raw = next((a for a in timed.arms if a.sha256 == bench.source_sha256), None) if timed else None
    where = (bench.blocks or bench.checks)[0].provenance
    return {
        "correct": bench.correct,
        "reason": bench.reason,
        "detail": bench.detail,
        "solution": _timing(own, timed) if bench.correct else None,
        "baselines": {name: _baseline(done, name) for name in done.baselines},
        "best_baseline": best_baseline(bench),
        "cold_first_call_ns": raw.cold_first_call_ns if raw else None,
        "floor_ns": raw.floor_ns if raw else None,
        "kernel": {"name": done.subject.source.name, "language": done.subject.source.language,
                   "sha256": bench.source_sha256},
        "dims": done.subject.task.dims,
        "settings": {**msgspec.to_builtins(bench.settings), "method": _method(bench, where)},
        "clocks_before_mhz": timed.clocks_before_mhz if timed else {},
        "clocks_after_mhz": timed.clocks_after_mhz if timed else {},
        "provenance": msgspec.to_builtins(where),
        "notes": [*done.notes, *done.subject.notes, *(timed.warnings if timed else ())],
    }  # fmt: skip


def _method(bench: Bench, where: Provenance) -> str:
    """How calls were timed: a host has its own clock, whatever was asked for."""
    return "host_time" if where.device == "host" else bench.settings.method


def best_baseline(bench: Bench) -> str | None:
    """The fastest of the baselines: what a headline is measured against."""
    others = [arm for arm in bench.arms if arm.sha256 != bench.source_sha256]
    return min(others, key=lambda arm: arm.median_ns).name if others else None


def compared(bench: Bench, name: str) -> StatedComparison | None:
    """The kernel against one baseline."""
    return next((row for row in bench.comparisons if row.b == name), None)


def _timing(arm: ArmSummary | None, timed: Timed | None) -> dict[str, Any] | None:
    if arm is None or timed is None:
        return None
    names = ("median_ns", "mean_ns", "p20_ns", "p80_ns", "min_ns", "max_ns", "std_ns", "count")
    return {**{name: getattr(arm, name) for name in names}, "timer": timed.timer}


def _baseline(done: Benched, name: str) -> dict[str, Any]:
    raw = done.raw(name)
    if raw is None or raw.reason is not None:
        return {
            "median_ns": None, "speedup": None, "ci95": None,
            "reason": raw.reason if raw else "not_timed", "detail": raw.detail if raw else "",
        }  # fmt: skip
    row = compared(done.bench, name)
    return {
        **(_timing(done.bench.arm(name), done.timed) or {}),
        "speedup": row.ratio if row else None,
        "ci95": [row.low, row.high] if row else None,
        "verdict": row.verdict if row else None,
        "smallest_detectable": row.smallest_detectable if row else None,
    }


def _carried_out(result: Result) -> None:
    """A job without a value is an error of the measurement, not an answer about the kernel."""
    if result.value is None:
        read(result, object)
