"""From the branches of a version to its champion: one whose gain holds in fresh processes.

Opening and closing processes is most of what a timing costs, so one timing proves a champion and
ablates it: its arms are the champion, the best version, v0 where that is another, and then the
champion's right variants. Its profile and the checks of its variants come before. In a run whose
settings do not say so (``Settings.together``), the champion is proven first and alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kbs_engine.jobs import Arm, SourceRef
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import Explored, Tried, write_branches
from kbs_engine.loop.ledger import Facts, Ledger, Steps
from kbs_engine.loop.measuring import inspect, not_believed, time_with
from kbs_engine.loop.parts import Offered
from kbs_engine.loop.variants import Ablation, begin_ablation
from kbs_engine.units import human_ns


class Proven(msgspec.Struct, frozen=True, kw_only=True):
    """A champion and what is known of it."""

    branch: Tried
    facts: Facts
    ablation: Ablation | None
    """Its ablation, timed with it; None where it was proven alone and is yet to be profiled."""


def choose_champion(ledger: Ledger, number: int, decision: Decision, explored: Explored) -> Steps:
    """The fastest right branch that stands a re-measurement in fresh processes: Proven, or None."""
    for branch in explored.order:
        if branch.source is None:
            continue
        facts = _facts(number, decision, explored, branch, branch.source)
        ablation: Ablation | None = None
        if ledger.settings.together:
            # For a branch that does not stand, profile and variants are made in vain. That is
            # rare: it was right in every check and raced to the end.
            ablation = yield from inspected(ledger, facts, decision.base, branch.offered)
        beside = rivals(ledger)
        variants = ablation.arms(beside) if ablation else []
        what = "champion in fresh processes" + ", with its ablations" * bool(variants)
        refused = yield from time_with(ledger, facts, [*beside, *variants], what)
        refused = refused or not_believed(ledger, facts)
        if refused is None:
            if ablation is not None and facts.time is not None:
                ablation.take(facts.time, ledger.settings.noise)
            yield ledger.progress("champion", number, _time(facts), done=True)
            return Proven(branch=branch, facts=facts, ablation=ablation)
        branch.blocks += [facts.time] if facts.time else []
        branch.reason = refused.reason or ""
        branch.fault = f"{refused.reason}: {refused.detail}".rstrip(": ")
        yield from write_branches(ledger, number, [branch])
    return None


def inspected(ledger: Ledger, facts: Facts, base: Facts, offered: Offered) -> Steps:
    """Inspect a version and check its variants beside; returns its Ablation, not yet timed."""
    ablation: Ablation = yield from begin_ablation(ledger, facts, base, offered)
    checked = yield from inspect(ledger, facts, beside=ablation.checks(ledger))
    ablation.judge(checked)
    return ablation


def rivals(ledger: Ledger) -> Sequence[Arm]:
    """The best version, and v0 last where that is another one."""
    best, zero = ledger.versions[ledger.best].source, ledger.versions[0].source
    return [best] if best.sha256 == zero.sha256 else [best, zero]


def _facts(
    number: int, decision: Decision, explored: Explored, branch: Tried, source: SourceRef
) -> Facts:
    planned = {row.method for row in decision.plan.methods}
    return Facts(
        number=number,
        base=decision.base.number,
        source=source,
        methods=tuple(m for m in branch.offered.methods if m in planned),
        inherited=decision.base.applied,
        origin="" if branch.offered.methods else branch.offered.note,
        template=branch.offered.template,
        checked=branch.checked,
        check=branch.check,
        compiled=branch.compiled,
        tried=tuple(b.tunables for b in explored.branches if b.standing),
    )


def _time(facts: Facts) -> str:
    return "not timed" if facts.median_ns is None else human_ns(facts.median_ns)
