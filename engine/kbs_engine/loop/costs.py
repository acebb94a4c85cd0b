"""What the next version will cost in GPU seconds, so that a budget is kept and not overrun."""

from __future__ import annotations

from typing import Final

from kbs_engine.loop.ledger import Ledger


def unit_costs(ledger: Ledger) -> float:
    """GPU seconds of one arm in one process pair, by v0's timing; 0 where nothing told it."""
    zero = ledger.versions.get(0)
    spent = zero.timed.gpu_time_s if zero and zero.timed else None
    if not spent or zero is None or zero.timed is None:
        return 0.0
    return spent / (len(zero.timed.arms) * ledger.settings.process_pairs)


def benchmark_costs(ledger: Ledger) -> float:
    """GPU seconds of the final benchmark: the best, v0 and the libraries."""
    settings = ledger.settings
    return unit_costs(ledger) * settings.process_pairs * (2 + len(settings.baselines))


def proof_costs(ledger: Ledger) -> float:
    """GPU seconds of what follows a race: the champion beside two rivals, and the ablation."""
    settings = ledger.settings
    return unit_costs(ledger) * settings.process_pairs * (3 + settings.slots + 2)


MARGIN: Final = 1.05
"""Versions are not alike: a budget that was overrun is refused by the gate."""


def next_costs(ledger: Ledger) -> float:
    """GPU seconds of one more version and the final benchmark; 0 where nothing told its cost.

    The dearest version so far is the measure. Before the first one it is v0's timing, per arm
    and process pair: a race of two blocks over all branches, the champion beside two rivals,
    and an ablation of every slot.
    """
    unit = unit_costs(ledger)
    if not unit:
        return 0.0
    if ledger.dearest:
        return MARGIN * (ledger.dearest + benchmark_costs(ledger))
    race = unit * 2 * ledger.settings.branches
    return MARGIN * (race + proof_costs(ledger) + benchmark_costs(ledger))
