"""In which order arms take turns, so that a drift hits all of them alike."""

from __future__ import annotations

import random


def abba(arms: int, rounds: int, seed: int | None = None) -> tuple[int, ...]:
    """Indices of arms for ``rounds`` forward-and-back passes: 0 1 … k-1, k-1 … 1 0.

    A drift that is linear in time cancels within each pass. With ``seed`` each pass starts
    from a random permutation, so that a candidate cannot count its way to its own turn.
    """
    if arms < 1 or rounds < 1:
        msg = f"no order of {arms} arms in {rounds} rounds"
        raise ValueError(msg)
    chooser = None if seed is None else random.Random(seed)  # noqa: S311 - an order, no secret
    turns: list[int] = []
    for _ in range(rounds):
        forward = list(range(arms))
        if chooser is not None:
            chooser.shuffle(forward)
        turns += [*forward, *reversed(forward)]
    return tuple(turns)
