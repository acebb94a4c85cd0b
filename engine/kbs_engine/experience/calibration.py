"""Predicted gain against realised gain, per method and chip."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kbs_engine.outcomes import Outcome


class Calibrated(msgspec.Struct, frozen=True, kw_only=True):
    """How well the predictions of one method on one chip (or all together) held."""

    method: str
    chip: str
    count: int
    covered: int
    """Realised gains inside the predicted interval."""
    coverage: float
    below: int
    """Realised gains under the interval: the prediction promised too much."""
    above: int
    predicted_mean: float
    """Mean middle of the predicted intervals, a share of time."""
    realised_mean: float
    bias: float
    """Predicted less realised: above 0 the predictions promise too much."""
    absolute_error: float


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """All predictions together, and one row per method and chip."""

    overall: Calibrated | None
    rows: tuple[Calibrated, ...]


class Sums:
    """Running sums of one row."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.count = self.covered = self.below = self.above = 0
        self.predicted = self.realised = self.error = 0.0

    def add(self, low: float, high: float, realised: float) -> None:
        """One prediction and what came of it."""
        middle = (low + high) / 2
        self.count += 1
        self.covered += low <= realised <= high
        self.below += realised < low
        self.above += realised > high
        self.predicted += middle
        self.realised += realised
        self.error += abs(middle - realised)

    def row(self, method: str, chip: str) -> Calibrated:
        """The sums as a row."""
        count = self.count
        return Calibrated(
            method=method,
            chip=chip,
            count=count,
            covered=self.covered,
            coverage=self.covered / count,
            below=self.below,
            above=self.above,
            predicted_mean=self.predicted / count,
            realised_mean=self.realised / count,
            bias=(self.predicted - self.realised) / count,
            absolute_error=self.error / count,
        )


class Calibrator:
    """Takes outcomes one at a time, so that a log of any length can be read through."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._rows: dict[tuple[str, str], Sums] = {}
        self._all = Sums()

    def add(self, outcome: Outcome) -> None:
        """Count an outcome that carries a prediction and a realised gain.

        A method that could not be written, or that ablation could not tell from another, says
        nothing about the size of a gain.
        """
        if outcome.predicted_gain is None or outcome.gain is None or not outcome.verified:
            return
        if outcome.verdict in ("implementation_failed", "inseparable"):
            return
        low, high = sorted(outcome.predicted_gain)
        row = self._rows.setdefault((outcome.method, outcome.chip), Sums())
        row.add(low, high, outcome.gain)
        self._all.add(low, high, outcome.gain)

    def result(self) -> Calibration:
        """Rows by count, the largest first."""
        rows = [sums.row(method, chip) for (method, chip), sums in self._rows.items()]
        rows.sort(key=lambda row: (-row.count, row.method, row.chip))
        overall = self._all.row("", "") if self._all.count else None
        return Calibration(overall=overall, rows=tuple(rows))


def calibrate(outcomes: Iterable[Outcome]) -> Calibration:
    """Coverage and bias of the predicted intervals."""
    calibrator = Calibrator()
    for outcome in outcomes:
        calibrator.add(outcome)
    return calibrator.result()
