"""A version that its gate refuses and that nothing mends: what stood before it counts again."""

from __future__ import annotations

import msgspec

from kbs_engine.loop.ledger import Kept, Ledger, Steps


def keep(ledger: Ledger) -> Kept:
    """What counts now that a version passed."""
    zero = ledger.versions[0]
    return Kept(
        state=ledger.state,
        counted=ledger.counted,
        described=ledger.described,
        baselines=dict(ledger.baselines),
        check=zero.check,
        median_ns=zero.median_ns,
    )


def give_up(ledger: Ledger, number: int, why: str) -> Steps:
    """Record v``number`` as refused. Its files and its entry stay; nothing rests on them."""
    kept = ledger.kept
    if kept is None:
        raise ValueError("v0 cannot be given up")
    entry = ledger.state.version(number)
    ledger.best = kept.state.best_version
    ledger.update(
        best_version=kept.state.best_version,
        best_ns=kept.state.best_ns,
        verdicts=kept.state.verdicts,
    )
    if entry is not None:
        ledger.amend(number, status="refused", refusal=why)
        if entry.epoch != kept.state.epoch:
            take_back(ledger, kept)
    yield ledger.save()
    yield ledger.progress("gate", number, f"given up: {why}", done=True)


def take_back(ledger: Ledger, kept: Kept) -> None:
    """The constraints of before, under which the best version was measured."""
    now, then = ledger.settings, kept.state.settings
    ledger.settings = msgspec.structs.replace(
        then, iterations=now.iterations, gpu_seconds=now.gpu_seconds
    )
    ledger.counted, ledger.baselines = kept.counted, dict(kept.baselines)
    ledger.described, ledger.chip = kept.described, kept.described.limits
    ledger.versions[0].check, ledger.versions[0].median_ns = kept.check, kept.median_ns
    ledger.remeasure = False
    ledger.update(epoch=kept.state.epoch, settings=ledger.settings, tolerance=kept.state.tolerance)
