"""Counts, gains and calibration of a whole log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from kbs_engine.chance import machine_of
from kbs_engine.experience.calibration import Calibration, Calibrator
from kbs_engine.experience.records import Mask, Replication, Unmask
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.query import Reading


class MethodStats(msgspec.Struct, frozen=True, kw_only=True):
    """What the counting outcomes of one method say."""

    method: str
    tried: int
    helped: int
    machines: int
    mean_gain: float | None
    """Mean share of time returned where it helped and says by how much."""


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The whole log in numbers; everything but ``states`` speaks of what counts."""

    outcomes: int
    states: dict[str, int]
    unverified: int
    machines: int
    origins: dict[str, int]
    verdicts: dict[str, int]
    kernels: dict[str, int]
    chips: dict[str, int]
    languages: dict[str, int]
    months: dict[str, int]
    gains: dict[str, int]
    """Outcomes by share of time returned, in steps of ten percent."""
    methods: tuple[MethodStats, ...]
    masks: int
    unmasks: int
    replications: dict[str, int]
    quarantine_reasons: dict[str, int]
    bad_lines: int
    calibration: Calibration


class _Method:
    def __init__(self) -> None:
        self.tried = self.helped = self.known = 0
        self.gain = 0.0
        self.machines: set[str] = set()

    def add(self, outcome: Outcome) -> None:
        self.tried += 1
        self.machines.add(machine_of(outcome))
        if outcome.helped:
            self.helped += 1
            if outcome.gain is not None:
                self.known += 1
                self.gain += outcome.gain

    def row(self, method: str) -> MethodStats:
        return MethodStats(
            method=method,
            tried=self.tried,
            helped=self.helped,
            machines=len(self.machines),
            mean_gain=self.gain / self.known if self.known else None,
        )


def stats(home: Path, lore: Lore) -> Stats:
    """Read the log of ``home`` through and count."""
    reading = Reading(home, lore)
    counts: dict[str, Counter[str]] = {}
    methods: dict[str, _Method] = {}
    machines: set[str] = set()
    calibrator = Calibrator()
    total = unverified = 0

    def count(kind: str, value: str) -> None:
        counts.setdefault(kind, Counter())[value] += 1

    for row in reading.rows():
        total += 1
        count("states", row.state)
        if row.state == "quarantined":
            count("reasons", _kind_of(row.why))
        if row.state != "counts":
            continue
        outcome = row.outcome
        unverified += not outcome.verified
        machines.add(machine_of(outcome))
        for kind, value in _labels(outcome, row.origin).items():
            count(kind, value)
        methods.setdefault(outcome.method, _Method()).add(outcome)
        calibrator.add(outcome)
    marks = [mark.record for mark in reading.marks.values()]
    rows = sorted(
        (item.row(name) for name, item in methods.items()), key=lambda row: (-row.tried, row.method)
    )
    replications: Counter[str] = Counter(
        mark.verdict for mark in marks if isinstance(mark, Replication)
    )
    return Stats(
        outcomes=total,
        states=_sorted(counts, "states"),
        unverified=unverified,
        machines=len(machines),
        origins=_sorted(counts, "origins"),
        verdicts=_sorted(counts, "verdicts"),
        kernels=_sorted(counts, "kernels"),
        chips=_sorted(counts, "chips"),
        languages=_sorted(counts, "languages"),
        months=dict(sorted(counts.get("months", Counter()).items())),
        gains=dict(sorted(counts.get("gains", Counter()).items(), key=lambda item: int(item[0]))),
        methods=tuple(rows),
        masks=sum(isinstance(mark, Mask) for mark in marks),
        unmasks=sum(isinstance(mark, Unmask) for mark in marks),
        replications=dict(replications),
        quarantine_reasons=_sorted(counts, "reasons"),
        bad_lines=len(reading.bad),
        calibration=calibrator.result(),
    )


def _labels(outcome: Outcome, origin: str) -> dict[str, str]:
    found = {
        "origins": origin or "unnamed",
        "verdicts": outcome.verdict,
        "kernels": outcome.kernel,
        "chips": outcome.chip or "unknown",
        "languages": outcome.language,
        "months": outcome.date[:7] or "undated",
    }
    if outcome.gain is not None:
        found["gains"] = str(max(-100, int(outcome.gain * 10 // 1) * 10))
    return found


def _sorted(counts: dict[str, Counter[str]], kind: str) -> dict[str, int]:
    """Most frequent first, equals by name."""
    found = counts.get(kind, Counter())
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _kind_of(why: str) -> str:
    """A reason without its numbers, so that like reasons are counted together."""
    for part, name in (
        ("floor", "past the physics floor"),
        ("shorter than any launch", "past the physics floor"),
        ("times as fast as", "implausible against the best library baseline"),
        ("architecture", "names a GPU that there is not"),
        (" %", "more than the whole of a unit"),
        ("without the times", "a factor without its times"),
    ):
        if part in why:
            return name
    return "contradicts itself"
