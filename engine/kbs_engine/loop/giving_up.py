"""A version or constraints that come to nothing for good: what stood before counts again."""

from __future__ import annotations

import msgspec

from kbs_engine.loop.actions import MakeFront
from kbs_engine.loop.ledger import Constraints, Kept, Ledger, Steps


def keep(ledger: Ledger) -> Kept:
    """What counts now that a version passed."""
    state = ledger.state
    return Kept(best=state.best_version, best_ns=state.best_ns, verdicts=state.verdicts)


def constraints(ledger: Ledger) -> Constraints:
    """The epoch as it stands, before other constraints begin the next."""
    zero = ledger.versions[0]
    return Constraints(
        epoch=ledger.state.epoch,
        settings=ledger.settings,
        tolerance=ledger.state.tolerance,
        attempts=ledger.attempts,
        counted=ledger.counted,
        described=ledger.described,
        baselines=dict(ledger.baselines),
        check=zero.check,
        median_ns=zero.median_ns,
    )


def give_up(ledger: Ledger, number: int, why: str) -> Steps:
    """Record v``number`` as refused. Its files and its entry stay; nothing rests on them.

    With the version that began an epoch its constraints go too.
    """
    kept, entry = ledger.kept, ledger.state.version(number)
    if kept is None or entry is None:
        raise ValueError("only what came after an accepted version can be given up")
    ledger.best = kept.best
    ledger.update(best_version=kept.best, best_ns=kept.best_ns, verdicts=kept.verdicts)
    ledger.amend(number, status="refused", refusal=why)
    begun = {one.number: one.first_version for one in ledger.state.epochs}
    if entry.epoch and begun.get(entry.epoch) == number:
        yield from take_back(ledger, why)
    yield ledger.save()
    yield ledger.progress("gate", number, f"given up: {why}", done=True)


def take_back(ledger: Ledger, why: str) -> Steps:
    """The constraints of the epoch before, under which the best version was measured."""
    before = ledger.before
    if before is None:
        raise ValueError("no other constraints were set")
    now, zero = ledger.settings, ledger.versions[0]
    ledger.settings = msgspec.structs.replace(
        before.settings, iterations=now.iterations, gpu_seconds=now.gpu_seconds
    )
    ledger.attempts, ledger.counted = before.attempts, before.counted
    ledger.described, ledger.chip = before.described, before.described.limits
    ledger.baselines, ledger.remeasure = dict(before.baselines), False
    zero.check, zero.median_ns = before.check, before.median_ns
    *rest, last = ledger.state.epochs
    told = f"{last.reason} (taken back: {why})".lstrip()
    ledger.update(epochs=(*rest, msgspec.structs.replace(last, reason=told)))
    ledger.update(epoch=before.epoch, settings=ledger.settings, tolerance=before.tolerance)
    yield ledger.save()
    work = ledger.counted.work if ledger.counted else None
    yield MakeFront(described=ledger.described, work=work)
