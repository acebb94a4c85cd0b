"""The same GPU seconds spent otherwise: blind random search, and the policy of triton.autotune.

Both search the tunables of the champion's own source, so that they start where the optimizer
ended up, rewrites and template included; or (``random-v0``, ``autotune-v0``) those of the kernel
that it began with, as whoever has no optimizer would. What they find is then timed against the
champion in one interleaved timing with fresh processes.

``autotune``: a kernel's launch tunables and module constants cannot be handed to the decorator
without rewriting the kernel, so what ``triton.autotune`` does is done from outside: every
configuration in order, each timed alone by ``triton.testing.do_bench``, the smallest time wins.
On a host the host clock takes its place.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from kbs.looping.sources import described, put_variant, read_marks
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import InputError
from kbs_engine.jobs import LEAST_SAMPLES, Check, Job, SourceRef, Task, Time, TimingSettings
from kbs_engine.loop.asks import ReadMarks
from kbs_engine.loop.parts import Tunable
from kbs_engine.results import Checked, Timed, read
from kbs_engine.timing import compare, summary
from tests.cases.records import Factor, Searched, Start

AUTOTUNES = TimingSettings(
    method="do_bench", warmup_calls=0, warmup_ms=0.0, trials=LEAST_SAMPLES, discard_first=0
)
"""``do_bench`` warms up and repeats by itself, 125 ms a time: as few of it as a timing may have."""
BLOCK = 4
"""Variants that are timed in one job."""


class Race(msgspec.Struct, kw_only=True):
    """What both ways share: a device, a task, a champion, and the GPU seconds that may go."""

    device: Any
    blobs: BlobStore
    task: Task
    champion: SourceRef
    v0: SourceRef | None = None
    """The kernel that the run began with, for searches that begin there too."""
    seconds: float
    ends: float = math.inf
    """Of the monotonic clock: what was found by then counts, whatever GPU time is left."""
    timing: TimingSettings
    rounds: int = 10
    pairs: int = 3
    cuda: bool = True
    spent: float = 0.0
    jobs: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether time of either kind is left."""
        return self.spent < self.seconds and time.monotonic() < self.ends

    def run(self, job: Job, kind: Any) -> Any:
        """The value of one job; its GPU time counts as spent."""
        value = read(self.device.submit(job).result(), kind)
        self.spent += getattr(value, "gpu_time_s", None) or 0.0
        return value

    def times(self, sources: list[SourceRef], timing: TimingSettings, pairs: int = 1) -> Timed:
        """Time some sources in one job."""
        self.jobs += 1
        job = Time(
            arms=tuple(sources), task=self.task, settings=timing, block=10_000 + self.jobs,
            fresh_processes=pairs,
        )  # fmt: skip
        timed: Timed = self.run(job, Timed)
        return timed


def source_of(path: Path, language: Any, blobs: BlobStore) -> SourceRef:
    """A kernel's file as a source."""
    text = path.read_text(encoding="utf-8")
    return described(SourceRef(sha256=blobs.put(text), language=language, name=path.name),
                     text, blobs)  # fmt: skip


HOW = ("random", "autotune", "random-v0", "autotune-v0")
"""Ways to search, and from where."""


def search(race: Race, way: str, *, seed: int = 0) -> Searched:
    """Spend the budget in one way of ``HOW``; what it found against the champion."""
    how, _, named = way.partition("-")
    begin: Start = "v0" if named else "champion"
    source = race.champion if begin == "champion" else race.v0
    if source is None:
        raise ValueError(f"{way}: the race knows no v0")
    tunables = read_marks(ReadMarks(source=source), race.blobs).tunables
    skipped = ""
    if not tunables:
        skipped = "v0 has no tunables" if named else "the champion has no tunables"
    if how == "autotune" and source.language != "triton":
        skipped = "it tunes Triton kernels only"
    if skipped:
        return Searched(how=how, start=begin, gpu_seconds=0.0, tried=0, skipped=skipped)
    rows = _shuffled(tunables, seed) if how == "random" else _in_order(tunables)
    timing, block = race.timing, BLOCK
    if how == "autotune":
        block = 1
        if race.cuda:
            timing = AUTOTUNES
    found = _spend(race, source, rows, timing, block)
    space = prod(len(row.values) for row in tunables)
    return msgspec.structs.replace(found, how=how, start=begin, space=space)


def _spend(
    race: Race,
    begin: SourceRef,
    rows: Iterator[dict[str, Any]],
    timing: TimingSettings,
    block: int,
) -> Searched:
    best: tuple[float, SourceRef, dict[str, Any]] | None = None
    tried = wrong = 0
    trace: list[tuple[float, float]] = []
    while race.goes_on and (batch := list(islice(rows, block))):
        right = []
        for row in batch:
            tried += 1
            source = _right(race, begin, row)
            if source is None:
                wrong += 1
            else:
                right.append((source, row))
        if not right:
            continue
        timed = race.times([source for source, _ in right], timing)
        for arm, (source, row) in zip(timed.arms, right, strict=True):
            if arm.reason is not None or not arm.samples_ns:
                wrong += 1
                continue
            median = summary(arm.samples_ns).median_ns
            if best is None or median < best[0]:
                best = (median, source, row)
        if best is not None:
            trace.append((race.spent, best[0]))
    spent = race.spent
    return Searched(
        how="",
        gpu_seconds=spent,
        tried=tried,
        wrong=wrong,
        best_ns=best[0] if best else None,
        tunables=best[2] if best else {},
        trace=tuple(trace),
        champion=_against(race, best[1]) if best else None,
    )


def _right(race: Race, begin: SourceRef, row: dict[str, Any]) -> SourceRef | None:
    """A variant that can be written and passes the check; None otherwise."""
    text = race.blobs.text(begin.sha256)
    try:
        source = put_variant(begin, text, race.blobs, row, {})
    except InputError:
        return None
    checked = race.run(Check(source=source, task=race.task, rounds=race.rounds), Checked)
    return source if checked.passed else None


def _against(race: Race, found: SourceRef) -> Factor | None:
    """The champion against what was found: how many times faster it is."""
    if found.sha256 == race.champion.sha256:
        return Factor(ratio=1.0, low=1.0, high=1.0, verdict="within noise")
    timed = race.times([race.champion, found], race.timing, race.pairs)
    if any(arm.reason is not None for arm in timed.arms):
        return None
    row = compare(timed, 0, 1)
    return Factor(ratio=row.ratio, low=row.low, high=row.high, verdict=row.verdict)


def _in_order(tunables: tuple[Tunable, ...]) -> Iterator[dict[str, Any]]:
    names = [row.name for row in tunables]
    for values in product(*(row.values for row in tunables)):
        yield dict(zip(names, values, strict=True))


def _shuffled(tunables: tuple[Tunable, ...], seed: int) -> Iterator[dict[str, Any]]:
    """Every assignment once, drawn blindly."""
    rng = random.Random(seed)
    seen: set[str] = set()
    space = prod(len(row.values) for row in tunables)
    while len(seen) < space:
        row = {one.name: rng.choice(one.values) for one in tunables}
        if repr(row) not in seen:
            seen.add(repr(row))
            yield row
