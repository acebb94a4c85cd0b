"""Optuna's tree-structured Parzen estimator over tunables, behind ``ask``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbs_engine.loop.branching import Assignment, Space, Trial


class Sampler:
    """Samples assignments from what was measured; each tunable is an index into its values.

    Values have an order (32, 64, 128), which an index keeps and a category would lose.
    """

    def __init__(self, spaces: Sequence[Space], seen: Sequence[Trial], *, seed: int) -> None:
        """Tell the study everything that was measured.

        What was wrong or did not fit is told as twice the slowest time, so that its
        surroundings are avoided.
        """
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.spaces = [space for space in spaces if len(space.values) > 1]
        self.fixed = {space.name: space.values[0] for space in spaces if len(space.values) == 1}
        self.distributions: dict[str, Any] = {
            space.name: optuna.distributions.IntDistribution(0, len(space.values) - 1)
            for space in self.spaces
        }
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=0)
        self.study: Any = optuna.create_study(sampler=sampler)
        worst = max((row.time_ns for row in seen if row.time_ns is not None), default=1.0)
        for row in seen:
            indices = self._indices(row)
            if indices is None:
                continue
            told = optuna.trial.create_trial(
                params=indices,
                distributions=self.distributions,
                value=row.time_ns if row.time_ns is not None else 2 * worst,
            )
            self.study.add_trial(told)

    def ask(self) -> Assignment:
        """One assignment; it may be one that was seen."""
        trial = self.study.ask(self.distributions)
        picked = {space.name: space.values[trial.params[space.name]] for space in self.spaces}
        return {**self.fixed, **picked}

    def _indices(self, row: Trial) -> dict[str, int] | None:
        """Indices of a seen assignment; None where it names a value that is not allowed."""
        found: dict[str, int] = {}
        for space in self.spaces:
            value = repr(row.assignment.get(space.name, space.current))
            at = [index for index, one in enumerate(space.values) if repr(one) == value]
            if not at:
                return None
            found[space.name] = at[0]
        return found
