"""What the next version will cost in GPU seconds, so that a budget is kept and not overrun."""

from __future__ import annotations

from typing import Final

from kbs_engine.loop.ledger import Ledger


def unit_costs(ledger: Ledger) -> float:
    """GPU seconds of one arm in one process pair, by v0's timing; 0 where nothing told it.

    v0 is slow, and its timing is the first of its kind: what later ones took is known better.
    Beside the arms of a job its second clock runs, which costs about as much as one of them.
    """
    zero = ledger.versions.get(0)
    spent = zero.timed.gpu_time_s if zero and zero.timed else None
    if not spent or zero is None or zero.timed is None:
        return 0.0
    return spent / ((len(zero.timed.arms) + 1) * ledger.settings.process_pairs)


def timing_costs(ledger: Ledger, arms: int, pairs: int) -> float:
    """GPU seconds of one timing: as the dearest of so many process pairs in any version was."""
    return (ledger.units.get(pairs) or unit_costs(ledger)) * (arms + 1) * pairs


def check_costs(ledger: Ledger, sources: int) -> float:
    """GPU seconds of the checks of so many sources; 0 where no check told its cost.

    The dearest check of a candidate is the measure, that of v0 until there was one.
    """
    return ledger.checks.get(True, ledger.checks.get(False, 0.0)) * sources


def benchmark_costs(ledger: Ledger) -> float:
    """GPU seconds of the final benchmark: the best, v0 and the libraries, which may be slow."""
    settings = ledger.settings
    pairs, arms = settings.process_pairs, 2 + len(settings.baselines)
    return max(timing_costs(ledger, arms, pairs), unit_costs(ledger) * (arms + 1) * pairs)


def proof_costs(ledger: Ledger, methods: int) -> float:
    """GPU seconds of what follows a race: the champion beside two rivals, and the ablation.

    Each variant of the ablation, one for each method, is checked before it is timed. Where they
    are timed together, the champion and the second clock run once for both.
    """
    pairs = ledger.settings.process_pairs
    if ledger.settings.together:
        variants = methods + (methods > 1)  # the last has none of several methods
        return timing_costs(ledger, 3 + variants, pairs) + check_costs(ledger, methods)
    return timing_costs(ledger, 3, pairs) + ablation_costs(ledger, methods)


def ablation_costs(ledger: Ledger, variants: int) -> float:
    """GPU seconds of checking variants and timing them beside the champion and its base."""
    timed = timing_costs(ledger, variants + 2, ledger.settings.process_pairs)
    return timed + check_costs(ledger, variants)


def race_costs(ledger: Ledger, branches: int, looks: int) -> float:
    """GPU seconds of checking branches and timing the race between them in so many looks."""
    return check_costs(ledger, branches) + looks * timing_costs(ledger, branches, 1)


MARGIN: Final = 1.05
"""Versions are not alike: a budget that was overrun is refused by the gate."""


def next_costs(ledger: Ledger, methods: int) -> float:
    """GPU seconds of one more version and the final benchmark; 0 where nothing told its cost.

    The dearest version so far is the measure; what its search took beyond the first round is made
    only where there is time for it. Before the first one it is v0's timing, per arm
    and process pair, and its check: a race of two blocks over all branches, the champion beside
    two rivals, and an ablation of every method that is planned.
    """
    if not unit_costs(ledger):
        return 0.0
    if ledger.dearest:
        return MARGIN * (ledger.dearest + benchmark_costs(ledger))
    race = race_costs(ledger, ledger.settings.branches, 2)
    return MARGIN * (race + proof_costs(ledger, methods) + benchmark_costs(ledger))


def affords(ledger: Ledger, seconds: float) -> bool:
    """Whether the budget holds so many more GPU seconds and the final benchmark."""
    allowed = ledger.settings.gpu_seconds
    needs = MARGIN * (seconds + benchmark_costs(ledger))
    return allowed is None or ledger.state.gpu_seconds_used + needs <= allowed
