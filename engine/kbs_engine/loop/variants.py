"""Variants of a champion with methods switched off: planned, written, checked, read from a timing.

Exact where every method is a switch: the variant differs in that method alone. A method that
the tunables carry is switched off by the base's values; one change without any switch is
switched off by the base itself. Other methods without a switch cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbs_engine.ablation import (
    Attribution,
    attribute,
    pick_arms,
    places_of,
    plan_variants,
    variant_name,
)
from kbs_engine.jobs import Arm, Check, Result, SourceRef
from kbs_engine.loop.asks import MarksRead, ReadMarks, Write, Written
from kbs_engine.loop.ledger import Facts, Ledger, Steps
from kbs_engine.loop.measuring import check_job
from kbs_engine.loop.parts import Offered, Variant
from kbs_engine.results import Checked, Timed, read
from kbs_engine.run.benches import verdict
from kbs_engine.timing import Comparison, compare


class Ablated(msgspec.Struct, kw_only=True):
    """One variant: which methods are on, its source, and what was measured of it."""

    name: str
    on: dict[str, bool]
    source: SourceRef | None = None
    fault: str = ""
    check: Result | None = None
    checked: Checked | None = None
    blocks: list[Result] = msgspec.field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether it may be timed."""
        return self.source is not None and self.checked is not None and self.checked.passed

    @property
    def correct(self) -> bool:
        """Whether checks and timings all say that it is."""
        if self.source is None or self.check is None:
            return False
        return verdict(self.source.sha256, [self.check], self.blocks)[0]


class How(msgspec.Struct, frozen=True, kw_only=True):
    """How the methods of a version are switched off."""

    methods: tuple[str, ...]
    """Those that can be."""
    switches: frozenset[str]
    tuning: str
    base_values: dict[str, Any]
    """Values of the base's tunables, as far as the version has them too."""
    by_base: bool
    """The base itself is the version without its one method."""
    why_not: dict[str, str]


class Ablation(msgspec.Struct, kw_only=True):
    """The variants of a version's first round: written, then checked, then perhaps timed."""

    how: How | None = None
    """None: the version has no method."""
    planned: Sequence[Mapping[str, bool]] = ()
    """The champion first; empty where no method can be switched off."""
    rows: list[Ablated] = msgspec.field(default_factory=list)
    taken: bool = False
    """Whether the timing that proved the champion held the right variants too."""
    found: Attribution | None = None
    """What that timing gave; None where no variant was right."""

    def checks(self, ledger: Ledger) -> list[Check]:
        """The checks of the variants that could be written, in order."""
        return checks_of(ledger, self.rows)

    def judge(self, results: Sequence[Result]) -> None:
        """The answers of ``checks``, in their order."""
        judge(self.rows, results)

    @property
    def right(self) -> list[Ablated]:
        """The variants that may be timed."""
        return [row for row in self.rows if row.right]

    def arms(self, rivals: Sequence[Arm]) -> list[Arm]:
        """What the right variants add to a timing of the champion beside ``rivals``.

        A variant that is a rival's own source, as the base may be, has that arm already.
        """
        there = {arm.sha256 for arm in rivals if isinstance(arm, SourceRef)}
        sources = [row.source for row in self.right if row.source is not None]
        return [source for source in sources if source.sha256 not in there]

    def faster(self, facts: Facts, noise: float) -> Offered | None:
        """The right variant that beats the champion by most, beyond the noise, as a candidate."""
        best: tuple[float, Ablated] | None = None
        for row in self.right:
            found = _against_champion(row, noise)
            if found is None or found.verdict != "faster":
                continue
            if best is None or found.ratio > best[0]:
                best = (found.ratio, row)
        if best is None or best[1].source is None:
            return None
        without = ", ".join(name for name, on in best[1].on.items() if not on)
        told = f"v{facts.number} without {without}, which its ablation found {best[0]:.3f} times"
        return Offered(source=best[1].source, name=f"without {without}", note=f"{told} as fast")

    def take(self, result: Result, noise: float) -> None:
        """The first round out of the timing that proved the champion, its first arm."""
        self.taken = True
        if self.right:
            self.found = effects_in(result, self.planned[0], self.right, noise)


def _against_champion(row: Ablated, noise: float) -> Comparison | None:
    """A variant against the champion in the timing that they took turns in."""
    if not row.blocks or row.source is None:
        return None
    timed = read(row.blocks[-1], Timed)
    places = places_of(timed, [row.source.sha256])
    if places is None or any(timed.arms[i].reason is not None for i in (0, places[0])):
        return None
    return compare(timed, places[0], 0, noise=noise)


def begin_ablation(ledger: Ledger, facts: Facts, base: Facts, offered: Offered) -> Steps:
    """Plan and write the variants of a version; returns the Ablation."""
    if not facts.methods:
        return Ablation()
    how = yield from _how(facts, base, offered)
    begun = Ablation(how=how)
    if how.methods:
        mode = ledger.settings.attribution if len(how.methods) > 1 else "loo"
        among = how.methods[:4] if mode == "factorial" else ()
        begun.planned = plan_variants(how.methods, mode, among=among)
        begun.rows = named(begun.planned, ())
        yield from write_variants(facts, base, how, begun.rows)
    return begun


def _how(facts: Facts, base: Facts, offered: Offered) -> Steps:
    marks: MarksRead = yield ReadMarks(source=facts.source)
    before: MarksRead = yield ReadMarks(source=base.source)
    switches = frozenset(row.method for row in marks.switches)
    mine = {row.name: row for row in marks.tunables}
    values = {
        row.name: row.current
        for row in before.tunables
        if row.name in mine and row.current in mine[row.name].values
    }
    tuned = any(values[name] != mine[name].current for name in values)
    tuning = offered.tuning if offered.tuning in facts.methods and tuned else ""
    able = tuple(m for m in facts.methods if m in switches or m == tuning)
    by_base = not able and len(facts.methods) == 1
    why = {
        m: "its tunables are those of the base"
        if m == offered.tuning
        else "the source has no switch for it, so it cannot be switched off alone"
        for m in facts.methods
        if m not in able and not by_base
    }
    return How(
        methods=facts.methods if by_base else able,
        switches=switches,
        tuning=tuning,
        base_values=values,
        by_base=by_base,
        why_not=why,
    )


def named(planned: Sequence[Mapping[str, bool]], rows: Sequence[Ablated]) -> list[Ablated]:
    """A row for every variant but the champion: those of ``rows`` among them."""
    known = {row.name: row for row in rows}
    return [
        known.get(variant_name(on)) or Ablated(name=variant_name(on), on=dict(on))
        for on in planned[1:]
    ]


def checks_of(ledger: Ledger, rows: Sequence[Ablated]) -> list[Check]:
    """The checks of the variants that could be written, in order."""
    return [check_job(ledger, row.source) for row in rows if row.source is not None]


def judge(rows: Sequence[Ablated], results: Sequence[Result]) -> None:
    """The answers of ``checks_of``, each to its row."""
    writable = [row for row in rows if row.source is not None]
    for row, result in zip(writable, results, strict=True):
        row.check, row.checked = result, read(result, Checked)
        if not row.checked.passed:
            row.fault = f"wrong without it: {row.checked.reason}: {row.checked.detail}"


def effects_in(
    result: Result, full: Mapping[str, bool], right: Sequence[Ablated], noise: float
) -> Attribution | None:
    """Effects from a timing of the champion, its first arm, and every variant of ``right``.

    Each of them keeps the block. None where the champion was refused.
    """
    timed = read(result, Timed)
    for row in right:
        row.blocks.append(result)
    places = places_of(timed, [row.source.sha256 for row in right if row.source is not None])
    if timed.arms[0].reason is not None or places is None:
        return None
    return attribute(pick_arms(timed, places), [full, *(row.on for row in right)], noise=noise)


def write_variants(facts: Facts, base: Facts, how: How, fresh: Sequence[Ablated]) -> Steps:
    """The sources of ``fresh``, each in its row, or why it could not be written."""
    if how.by_base:
        for row in fresh:
            row.source = base.source
        return
    if not fresh:
        return
    answer: Written = yield Write(
        source=facts.source, variants=tuple(_variant(how, row) for row in fresh)
    )
    for row, source, fault in zip(fresh, answer.sources, answer.faults, strict=True):
        row.source, row.fault = source, fault


def _variant(how: How, row: Ablated) -> Variant:
    off = {method for method, on in row.on.items() if not on}
    return Variant(
        tunables=how.base_values if how.tuning in off else {},
        switches=dict.fromkeys(sorted(off & how.switches), False),
    )
