"""Racing of branches: time on only what may still win.

Three calls, as a stopping rule: ``needs()`` says which arms the next block times, ``add()``
takes the block, ``done`` says that no more blocks are needed. A branch leaves when a confidence
sequence shows it slower than the leader; the race ends when no branch left can be better than
the leader by more than the noise threshold. Both hold at every look together with probability
1 - alpha, shared out over all pairs of branches (Bonferroni).
"""

from __future__ import annotations

import itertools
import math
from typing import Final, Literal

import msgspec
import numpy as np

from kbs_engine.errors import UsageError
from kbs_engine.results import Timed
from kbs_engine.timing.blocks import block_log_ratios
from kbs_engine.timing.comparison import NOISE
from kbs_engine.timing.sequences import median_interval

SCHEMA_VERSION = 1

Outcome = Literal["champion", "equal", "slower", "refused", "undecided"]

PLANNED_CALLS: Final = 100
"""Calls of every branch in the fixed-count plan that a race is measured against."""


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one branch."""

    arm: int
    outcome: Outcome
    calls: int
    after_blocks: int
    """Blocks of the race when it was decided."""
    ratio: float | None = None
    """Time of this branch over the champion's: above 1 is slower."""
    low: float | None = None
    high: float | None = None
    detail: str = ""


class RaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the race went, and what it cost against timing everything to the end."""

    champion: int | None
    decided: bool
    """False when the plan was used up before the intervals told the branches apart."""
    fates: tuple[Fate, ...]
    calls_spent: int
    calls_planned: int
    alpha: float


class Race:
    """A race of ``k`` branches within ``planned_calls`` calls of each.

    Args:
        k: Number of branches, the incumbent among them where it takes part.
        noise: Branches closer than this count as equal.
        alpha: Chance that any elimination or the end is wrong, over the whole race.
        planned_calls: Calls per branch after which the race ends undecided.
    """

    def __init__(
        self,
        k: int,
        noise: float = NOISE,
        *,
        alpha: float = 0.05,
        planned_calls: int = PLANNED_CALLS,
    ) -> None:
        if k < 1 or planned_calls < 1:
            raise UsageError(f"a race of {k} branches with {planned_calls} calls each")
        self.k, self.noise, self.alpha, self.planned_calls = k, noise, alpha, planned_calls
        self._alive = list(range(k))
        self._ratios: dict[tuple[int, int], list[float]] = {
            pair: [] for pair in itertools.combinations(range(k), 2)
        }
        self._calls = [0] * k
        self._out: dict[int, Fate] = {}
        self._blocks = 0
        self._settled = k == 1

    def needs(self) -> tuple[int, ...]:
        """The branches that the next block must time, in order; empty when done."""
        return () if self.done else tuple(self._alive)

    @property
    def done(self) -> bool:
        """Whether no more blocks are needed."""
        used_up = any(self._calls[arm] >= self.planned_calls for arm in self._alive)
        return self._settled or len(self._alive) <= 1 or used_up

    @property
    def champion(self) -> int | None:
        """The leader so far; None when every branch was refused."""
        if not self._alive:
            return None
        return min(self._alive, key=lambda arm: (self._losses(arm), arm))

    def add(self, block: Timed) -> None:
        """Take a block whose arms are those of ``needs()``, in that order.

        Raises:
            UsageError: The race is over, or the block has another number of arms.
        """
        arms = self.needs()
        if not arms or len(block.arms) != len(arms):
            raise UsageError(f"a block of {len(block.arms)} arms where {len(arms)} are needed")
        self._blocks += 1
        for arm, times in zip(arms, block.arms, strict=True):
            self._calls[arm] += len(times.samples_ns)
            if times.reason is not None:
                self._leave(arm, "refused", detail=f"{times.reason} {times.detail}".strip())
        place = {arm: index for index, arm in enumerate(arms)}
        for i, j in itertools.combinations(self._alive, 2):
            per_process = block_log_ratios(block, place[i], place[j])
            self._ratios[i, j] += [float(v) for values in per_process.values() for v in values]
        self._decide()

    def interval(self, arm: int, other: int) -> tuple[float, float, float]:
        """Median of ln(time of arm / time of other) with its confidence sequence."""
        i, j = min(arm, other), max(arm, other)
        values = [v if arm > other else -v for v in self._ratios[i, j]]
        low, high = median_interval(values, self._alpha_of_a_pair)
        return (float(np.median(values)) if values else 0.0), low, high

    def report(self) -> RaceReport:
        """Fates of all branches, and calls spent against the plan."""
        champion = self.champion
        rows = [self._fate(arm, champion) for arm in range(self.k)]
        return RaceReport(
            champion=champion,
            decided=self._settled or len(self._alive) <= 1,
            fates=tuple(rows),
            calls_spent=sum(self._calls),
            calls_planned=self.k * self.planned_calls,
            alpha=self.alpha,
        )

    @property
    def _alpha_of_a_pair(self) -> float:
        return self.alpha / max(1, len(self._ratios))

    def _losses(self, arm: int) -> float:
        """Largest median log-ratio against any branch alive: the leader has none above 0."""
        return max((self.interval(arm, other)[0] for other in self._alive if other != arm),
                   default=0.0)  # fmt: skip

    def _leave(
        self,
        arm: int,
        outcome: Outcome,
        *,
        detail: str = "",
        measured: tuple[float, float, float] | None = None,
    ) -> None:
        ratio, low, high = (_exp(v) for v in measured) if measured else (None, None, None)
        self._alive.remove(arm)
        self._out[arm] = Fate(
            arm=arm, outcome=outcome, calls=self._calls[arm], after_blocks=self._blocks,
            ratio=ratio, low=low, high=high, detail=detail,
        )  # fmt: skip

    def _decide(self) -> None:
        leader = self.champion
        if leader is None:
            return
        for arm in [arm for arm in self._alive if arm != leader]:
            measured = self.interval(arm, leader)
            if measured[1] > 0.0:
                self._leave(arm, "slower", detail=f"than branch {leader}", measured=measured)
        self._settled = all(
            self.interval(arm, leader)[1] > -math.log1p(self.noise)
            for arm in self._alive
            if arm != leader
        )

    def _fate(self, arm: int, champion: int | None) -> Fate:
        if arm in self._out:
            return self._out[arm]
        if arm == champion or champion is None:
            outcome: Outcome = "champion"
            ratio: float | None = 1.0
            low: float | None = 1.0
            high: float | None = 1.0
        else:
            outcome = "equal" if self._settled else "undecided"
            ratio, low, high = (_exp(v) for v in self.interval(arm, champion))
        return Fate(
            arm=arm, outcome=outcome, calls=self._calls[arm], after_blocks=self._blocks,
            ratio=ratio, low=low, high=high,
        )  # fmt: skip


def _exp(value: float) -> float | None:
    return math.exp(value) if math.isfinite(value) else None
