"""What an ablation found, method by method."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.ablation.planning import Mode
from kbs_engine.timing.comparison import Comparison

SCHEMA_VERSION = 1

Effect = Literal["helps", "within noise", "harms", "inseparable", "not measured"]


class MethodEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What one method does in the champion."""

    method: str
    effect: Effect
    speedup: Comparison | None = None
    """Time without the method over time with it, all others on: above 1 it helps."""
    p_value: float | None = None
    p_holm: float | None = None
    """Adjusted over the methods of this ablation."""
    alone: Comparison | None = None
    """The same with all others off, where a factorial measured it."""
    share: Comparison | None = None
    """Shapley share of the total speedup (the shares multiply to it); factorial only."""
    partners: tuple[str, ...] = ()
    """Methods with which it interacts or from which it cannot be told apart."""
    detail: str = ""

    @property
    def gain(self) -> float | None:
        """Share of the time without the method that it returns: 1 - t_with / t_without."""
        return None if self.speedup is None else 1.0 - 1.0 / self.speedup.ratio

    @property
    def gain_interval(self) -> tuple[float, float] | None:
        """The interval of ``gain``."""
        if self.speedup is None:
            return None
        return 1.0 - 1.0 / self.speedup.low, 1.0 - 1.0 / self.speedup.high


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """What several methods do together beyond what their parts do, in a factorial.

    ``factor`` above 1: together they help more than the product of their own effects
    (synergy); below 1: less (they do the same thing).
    """

    methods: tuple[str, ...]
    factor: Comparison
    p_holm: float
    significant: bool


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """All methods of one ablation."""

    mode: Mode
    effects: tuple[MethodEffect, ...]
    total: Comparison | None = None
    """Time with all off over time with all on; None where the plain variant has no time."""
    unexplained: Comparison | None = None
    """Total over the product of the single speedups; 1 when they add up."""
    interactions: tuple[Interaction, ...] = ()
    needs_factorial: bool = False
    """Single effects do not add up to the total, so leave-one-out cannot attribute it."""
    notes: tuple[str, ...] = ()

    def of(self, method: str) -> MethodEffect:
        """The effect of ``method``; KeyError for one that was not ablated."""
        for effect in self.effects:
            if effect.method == method:
                return effect
        raise KeyError(method)
