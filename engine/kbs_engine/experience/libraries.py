"""Library baselines that judge the records of others: no machine alone silences another.

Where a baseline that one record states and the time that another one tells cannot both be true,
nothing in either says which of the two was made up. So machines are counted, not rows: a record
that states no baseline is held against those of others only where more machines state one than
there are machines that reached what it forbids. What a record states itself holds for itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from kbs_engine.experience.quarantine import LIBRARY_FACTOR
from kbs_engine.outcomes import Outcome

T = TypeVar("T", bound=Hashable)

UNTOLD: Final = math.inf
"""In place of a time that no record tells."""


def reached_ns(outcome: Outcome) -> float | None:
    """The shortest time that a record tells of its kernel, with the method or without it."""
    return min(filter(None, (outcome.before_ns, outcome.after_ns)), default=None)


class Libraries(Generic[T]):
    """The best baseline and the shortest time of each machine, by task.

    Minima: neither the order of the records nor how often one is added matters. Only records
    that count may be added, for no other record is judged by one that does not.
    """

    def __init__(self) -> None:
        """Nothing told yet."""
        self._tasks: dict[T, dict[str, tuple[float, float]]] = {}

    def add(
        self, task: T, machine: str, library_ns: float | None, reached: float | None = None
    ) -> None:
        """What one record of ``machine`` tells of ``task``: a baseline, a time, or both."""
        if library_ns is None and reached is None:
            return
        told = self._tasks.setdefault(task, {})
        library, time = told.get(machine, (UNTOLD, UNTOLD))
        told[machine] = (min(library, library_ns or UNTOLD), min(time, reached or UNTOLD))

    def __bool__(self) -> bool:
        """Whether anything was told."""
        return bool(self._tasks)

    def judging(self) -> dict[T, float]:
        """The baseline that stands against some record, of each task that has one."""
        found = {task: _judging(list(told.values())) for task, told in self._tasks.items()}
        return {task: library for task, library in found.items() if library is not None}


def _judging(machines: list[tuple[float, float]]) -> float | None:
    best = min(library for library, _ in machines)
    if best == UNTOLD:
        return None
    stating = sum(library != UNTOLD for library, _ in machines)
    denying = sum(best / time > LIBRARY_FACTOR for _, time in machines)
    return best if stating > denying > 0 else None
