"""Weighted sums of log times over the variants of one interleaved job, block by block."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from kbs_engine.errors import InputError
from kbs_engine.results import Timed
from kbs_engine.timing.blocks import block_log_ratios
from kbs_engine.timing.comparison import NOISE, PRIOR_SHARE, Comparison, compare_ratios, resolution

Switched = frozenset[str]
"""The methods that are on."""


class Variants:
    """The variants of one job by what is on in them; the champion has everything on.

    Raises:
        InputError: Variants and arms do not match, or the one with everything on is missing.
    """

    def __init__(
        self,
        timed: Timed,
        variants: Sequence[Mapping[str, bool]],
        *,
        noise: float = NOISE,
        process_noise: float | None = None,
    ) -> None:
        if not variants or len(variants) != len(timed.arms):
            raise InputError(f"{len(variants)} variants and {len(timed.arms)} timed arms")
        self.timed, self.noise, self.process_noise = timed, noise, process_noise
        self.methods = tuple(variants[0])
        self._index = {
            frozenset(name for name, on in switches.items() if on): index
            for index, switches in enumerate(variants)
        }
        self.full = frozenset(self.methods)
        if self.full not in self._index:
            raise InputError("no variant has every method on", remedy="time the champion too")
        self._against_full: dict[Switched, dict[int, np.ndarray]] = {}

    def refusal(self, on: Switched) -> str | None:
        """Why there is no time of this variant; None when there is one."""
        index = self._index.get(on)
        if index is None:
            return "not timed"
        arm = self.timed.arms[index]
        return None if arm.reason is None else f"{arm.reason} {arm.detail}".strip()

    def has(self, *several: Switched) -> bool:
        """Whether all of these were timed."""
        return all(self.refusal(on) is None for on in several)

    def contrast(self, weights: Mapping[Switched, float]) -> Comparison:
        """Speedup whose log is Σ weight · ln time over variants; the weights sum to zero.

        With weights {slow: 1, fast: -1} it is the speedup of fast over slow. Variants are
        compared within a block, so that a drift of the machine cancels.
        """
        used = {on: weight for on, weight in weights.items() if weight}
        rest = {on: weight for on, weight in used.items() if on != self.full}
        rows = {on: self._ratios(on) for on in rest}
        processes = set.intersection(*(set(row) for row in rows.values()))
        combined: dict[int, np.ndarray] = {}
        for process in sorted(processes):
            length = min(row[process].size for row in rows.values())
            parts = [weight * rows[on][process][:length] for on, weight in rest.items()]
            combined[process] = np.sum(parts, axis=0)
        spread = math.sqrt(sum(weight**2 for weight in used.values()) / 2.0)
        offset = self.process_noise
        if offset is None:
            offset = PRIOR_SHARE * math.log1p(self.noise)
        arms = tuple(self._index[on] for on in used)
        step = resolution(self.timed, arms)
        wider = msgspec.structs.replace(step, log=step.log * spread)
        return compare_ratios(
            combined, noise=self.noise, process_noise=offset * spread, resolution=wider
        )

    def speedup(self, on: Switched, over: Switched) -> Comparison:
        """Speedup of the variant ``on`` over the variant ``over``."""
        return self.contrast({on: -1.0, over: 1.0})

    def _ratios(self, on: Switched) -> dict[int, np.ndarray]:
        if on not in self._against_full:
            self._against_full[on] = block_log_ratios(
                self.timed, self._index[self.full], self._index[on]
            )
        return self._against_full[on]
