"""How many methods of each axis one version may try: slots shared out by score.

Three slots by default (one in one-change mode), at most two per axis. An axis whose best
methods together could return less than a tenth of the time gets none, and what it does not
use stays unused: a slot is never handed to an axis that has nothing to win. Where no axis has
that much, though the version is far from its roof, what was measured does not tell what holds
it: then the best method of each axis gets a slot, as a question rather than a promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kbs_engine.causes import together
from kbs_engine.recommendations import Recommendation
from kbs_engine.vocabulary import METHOD_AXES

SLOTS: Final = 3
AXIS_CAP: Final = 2
WORTH: Final = 0.10
"""Share of the time that the best methods of an axis must be able to return together."""


class AxisBudget(msgspec.Struct, frozen=True, kw_only=True):
    """Slots of one axis and what they rest on."""

    axis: str
    slots: int
    recoverable: float
    """Share of the time (0–1) that its best methods, at most the cap, could return together."""
    score: float
    """Sum of the scores of those methods."""
    why: str


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Slots of one version over the axes."""

    slots: int
    cap: int
    axes: tuple[AxisBudget, ...]

    @property
    def unused(self) -> int:
        """Slots that no axis is worth."""
        return self.slots - sum(axis.slots for axis in self.axes)

    def of(self, axis: str) -> int:
        """Slots of one axis."""
        return next((row.slots for row in self.axes if row.axis == axis), 0)

    @property
    def by_axis(self) -> dict[str, int]:
        """Slots by axis."""
        return {row.axis: row.slots for row in self.axes}


def share_slots(
    usable: Sequence[Recommendation],
    *,
    slots: int = SLOTS,
    cap: int = AXIS_CAP,
    bound: float | None = None,
    worth: float = WORTH,
) -> Budget:
    """Share ``slots`` over the axes, each next slot to the axis with the best method left.

    Args:
        usable: ranked methods that may be planned at all.
        slots: method slots of the version; 1 is strict one-change mode.
        cap: most slots of one axis.
        bound: Δ, the most that anything could return; None where it is not known.
        worth: least share that an axis must be able to return.
    """
    cap = min(cap, slots)
    best = {
        axis: sorted(
            (row for row in usable if row.axis == axis), key=lambda row: (-row.score, row.method)
        )[:cap]
        for axis in METHOD_AXES
    }
    recoverable = {
        axis: min(together([row.gain for row in rows]), 1.0 if bound is None else bound)
        for axis, rows in best.items()
    }
    queue = sorted(
        (row for axis, rows in best.items() if recoverable[axis] >= worth for row in rows),
        key=lambda row: (-row.score, row.method),
    )
    unexplained = not queue and bound is not None and bound >= worth
    if unexplained:
        first = [rows[0] for rows in best.values() if rows and rows[0].score > 0.0]
        queue = sorted(first, key=lambda row: (-row.score, row.method))
    given: list[str] = [row.axis for row in queue[:slots]]
    return Budget(
        slots=slots,
        cap=cap,
        axes=tuple(
            AxisBudget(
                axis=axis,
                slots=given.count(axis),
                recoverable=recoverable[axis],
                score=sum(row.score for row in rows),
                why=_unexplained(bound or 0.0, recoverable[axis])
                if unexplained and axis in given
                else _why(axis, given.count(axis), recoverable[axis], len(rows), worth),
            )
            for axis, rows in best.items()
        ),
    )


def _why(axis: str, slots: int, recoverable: float, methods: int, worth: float) -> str:
    if not methods:
        return f"no method on the {axis} axis may be tried"
    if recoverable < worth:
        return f"its best methods together return {recoverable:.2f} at most, under {worth:.2f}"
    if not slots:
        return "methods of other axes score higher"
    return f"its best methods together return {recoverable:.2f} at most"


def _unexplained(bound: float, recoverable: float) -> str:
    return (
        f"its best methods together return {recoverable:.2f} at most, but nothing explains the "
        f"gap of {bound:.2f} to the roof: the best one is tried"
    )
