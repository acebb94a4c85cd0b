"""Ablation: the champion with methods switched off, timed against it; a verdict per method.

The first round stands in the timing that proves the champion (``variants.Ablation.take``), or
is timed here once the champion is proven, in runs whose settings say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbs_engine.ablation import Attribution, factorial_group, plan_variants
from kbs_engine.loop.actions import PutBlob
from kbs_engine.loop.attributing import attribution_file
from kbs_engine.loop.costs import ablation_costs, affords
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.measuring import run_jobs, time_job
from kbs_engine.loop.variants import (
    Ablated,
    Ablation,
    How,
    checks_of,
    effects_in,
    judge,
    named,
    write_variants,
)
from kbs_engine.run.benches import build_bench
from kbs_engine.run.judged import SassCheck


def ablate(
    ledger: Ledger,
    facts: Facts,
    base: Facts,
    ablation: Ablation,
    sass: SassCheck,
) -> Steps:
    """Attribute a version's gain to its methods; returns the AttributionFile, files written.

    Args:
        ledger: the run.
        facts: the version.
        base: what it was made from.
        ablation: its variants, checked.
        sass: the verdicts of the version's machine code.
    """
    how, rows = ablation.how, ablation.rows
    if how is None:
        note = f"{_alone(ledger, facts, base)}: there is no method to attribute"
        yield ledger.progress("ablate", facts.number, note, done=True)
        return attribution_file(ledger.settings, facts, None, {}, [], sass, note)
    found: Attribution | None = None
    if how.methods:
        found = ablation.found
        if not ablation.taken:
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


def _alone(ledger: Ledger, facts: Facts, base: Facts) -> str:
    """What a version without a method of its own is."""
    for other in (base, ledger.versions[0]):
        if facts.source.sha256 == other.source.sha256:
            return f"it is v{other.number} measured again"
    return facts.origin or "it differs from its base by its tunables alone"


def _round(
    ledger: Ledger,
    facts: Facts,
    base: Facts,
    how: How,
    planned: Sequence[Mapping[str, bool]],
    rows: list[Ablated],
) -> Steps:
    """Write, check and time what ``rows`` lack of ``planned``; the Attribution, or None."""
    mine = named(planned, rows)
    had = {row.name for row in rows}
    fresh = [row for row in mine if row.name not in had]
    rows += fresh
    yield from write_variants(facts, base, how, fresh)
    results = yield from run_jobs(ledger, checks_of(ledger, fresh), "check ablations", facts.number)
    judge(fresh, results)
    found = yield from _timed(ledger, facts, planned, mine)
    return found


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
    return effects_in(result, planned[0], right, ledger.settings.noise)


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
