"""Ablation: the champion with methods switched off, timed against it; a verdict per method.

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
    factorial_group,
    plan_variants,
    variant_name,
)
from kbs_engine.jobs import Check, Result, SourceRef
from kbs_engine.loop.actions import PutBlob
from kbs_engine.loop.asks import MarksRead, ReadMarks, Write, Written
from kbs_engine.loop.attributing import attribution_file
from kbs_engine.loop.costs import ablation_costs, affords
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.measuring import check_job, run_jobs, time_job
from kbs_engine.loop.parts import Offered, Variant
from kbs_engine.results import Checked, Timed, read
from kbs_engine.run.benches import build_bench, verdict
from kbs_engine.run.judged import SassCheck


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
    """The variants of a version's first round, written and not yet checked."""

    how: How | None = None
    """None: the version has no method."""
    planned: Sequence[Mapping[str, bool]] = ()
    """The champion first; empty where no method can be switched off."""
    rows: list[Ablated] = msgspec.field(default_factory=list)

    def checks(self, ledger: Ledger) -> list[Check]:
        """The checks of the variants that could be written, in order."""
        return _checks(ledger, self.rows)


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
        begun.rows = _named(begun.planned, ())
        yield from _sources(facts, base, how, begun.rows)
    return begun


def ablate(
    ledger: Ledger,
    facts: Facts,
    base: Facts,
    ablation: Ablation,
    checked: Sequence[Result],
    sass: SassCheck,
) -> Steps:
    """Attribute a version's gain to its methods; returns the AttributionFile, files written.

    Args:
        ledger: the run.
        facts: the version.
        base: what it was made from.
        ablation: as ``begin_ablation`` returned it.
        checked: what its checks gave, in their order.
        sass: the verdicts of the version's machine code.
    """
    how, rows = ablation.how, ablation.rows
    if how is None:
        note = "it differs from its base by its tunables alone: there is no method to attribute"
        yield ledger.progress("ablate", facts.number, note, done=True)
        return attribution_file(ledger.settings, facts, None, {}, [], sass, note)
    found: Attribution | None = None
    if how.methods:
        _judge(rows, checked)
        found = yield from _timed(ledger, facts, ablation.planned, rows)
        if found is not None and found.needs_factorial:
            planned = plan_variants(how.methods, "factorial", among=factorial_group(found))
            if affords(ledger, ablation_costs(ledger, len(planned) - 2)):
                note = "single effects do not add up: factorial"
                yield ledger.progress("ablate", facts.number, note)
                again = yield from _round(ledger, facts, base, how, planned, rows)
                found = again or found
            else:
                note = "single effects do not add up, and the budget holds no factorial"
                yield ledger.progress("ablate", facts.number, note)
    yield from _write(ledger, facts, rows)
    told = "; ".join(f"{m}: {why}" for m, why in how.why_not.items())
    file = attribution_file(ledger.settings, facts, found, how.why_not, rows, sass, told)
    shown = ", ".join(f"{row.method} {row.verdict}" for row in file.methods)
    yield ledger.progress("ablate", facts.number, shown, done=True)
    return file


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


def _round(
    ledger: Ledger,
    facts: Facts,
    base: Facts,
    how: How,
    planned: Sequence[Mapping[str, bool]],
    rows: list[Ablated],
) -> Steps:
    """Write, check and time what ``rows`` lack of ``planned``; the Attribution, or None."""
    mine = _named(planned, rows)
    had = {row.name for row in rows}
    fresh = [row for row in mine if row.name not in had]
    rows += fresh
    yield from _sources(facts, base, how, fresh)
    results = yield from run_jobs(ledger, _checks(ledger, fresh), "check ablations", facts.number)
    _judge(fresh, results)
    found = yield from _timed(ledger, facts, planned, mine)
    return found


def _named(planned: Sequence[Mapping[str, bool]], rows: Sequence[Ablated]) -> list[Ablated]:
    """A row for every variant but the champion: those of ``rows`` among them."""
    known = {row.name: row for row in rows}
    return [
        known.get(variant_name(on)) or Ablated(name=variant_name(on), on=dict(on))
        for on in planned[1:]
    ]


def _checks(ledger: Ledger, rows: Sequence[Ablated]) -> list[Check]:
    return [check_job(ledger, row.source) for row in rows if row.source is not None]


def _judge(rows: Sequence[Ablated], results: Sequence[Result]) -> None:
    """The answers of ``_checks``, each to its row."""
    writable = [row for row in rows if row.source is not None]
    for row, result in zip(writable, results, strict=True):
        row.check, row.checked = result, read(result, Checked)
        if not row.checked.passed:
            row.fault = f"wrong without it: {row.checked.reason}: {row.checked.detail}"


def _timed(
    ledger: Ledger,
    facts: Facts,
    planned: Sequence[Mapping[str, bool]],
    mine: Sequence[Ablated],
) -> Steps:
    """Time the right ones of ``mine`` with the champion; the Attribution, or None."""
    right = [row for row in mine if row.right]
    if not right:
        return None
    arms = [facts.source, *(row.source for row in right if row.source is not None)]
    pairs, block = ledger.settings.process_pairs, ledger.next_block(facts.number)
    job = time_job(ledger, arms, pairs=pairs, block=block)
    (result,) = yield from run_jobs(ledger, [job], "ablations against the champion", facts.number)
    timed = read(result, Timed)
    for row in right:
        row.blocks.append(result)
    if timed.arms[0].reason is not None:
        return None
    variants = [planned[0], *(row.on for row in right)]
    return attribute(timed, variants, noise=ledger.settings.noise)


def _sources(facts: Facts, base: Facts, how: How, fresh: Sequence[Ablated]) -> Steps:
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


def _write(ledger: Ledger, facts: Facts, rows: Sequence[Ablated]) -> Steps:
    """Kernel and bench.json of every variant that could be written."""
    for row in rows:
        if row.source is None:
            continue
        folder = f"v{facts.number}/ablations/{row.name}"
        yield PutBlob(path=f"{folder}/{ledger.settings.kernel_file}", sha256=row.source.sha256)
        bench = build_bench(
            version=facts.number,
            name=row.name,
            source_sha256=row.source.sha256,
            checks=[row.check] if row.check else [],
            blocks=row.blocks,
            settings=ledger.settings.timing,
            noise=ledger.settings.noise,
            tunables=row.source.tunables,
            switches=row.source.switches,
        )
        yield put(f"{folder}/bench.json", bench)
