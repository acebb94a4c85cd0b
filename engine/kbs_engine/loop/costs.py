"""What the next version will cost in GPU seconds, so that a budget is kept and not overrun."""

from __future__ import annotations

from kbs_engine.loop.ledger import Ledger


def next_costs(ledger: Ledger) -> float:
    """GPU seconds of one more version and the final benchmark; 0 where nothing told its cost.

    The dearest version so far is the measure. Before the first one it is v0's timing, per arm
    and process pair: a race of two blocks over all branches, the champion beside two rivals,
    and an ablation of every slot.
    """
    settings, zero = ledger.settings, ledger.versions.get(0)
    spent = zero.timed.gpu_time_s if zero and zero.timed else None
    if not spent or zero is None or zero.timed is None:
        return 0.0
    unit = spent / (len(zero.timed.arms) * settings.process_pairs)
    benchmark = unit * settings.process_pairs * (2 + len(settings.baselines))
    if ledger.dearest:
        return ledger.dearest + benchmark
    race = unit * 2 * settings.branches
    pairs = unit * settings.process_pairs * (3 + settings.slots + 2)
    return race + pairs + benchmark
