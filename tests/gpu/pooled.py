"""Comparisons of several sessions of one harness as one: counts and bounds from all of them."""

from __future__ import annotations

import math
from typing import Any

from kbs_engine.timing import Comparison, power, self_comparison

HARNESS = 2
"""Counts up when the way in which arms are timed changes: other comparisons are not of it."""
_DIGITS = 6


def row(found: Comparison) -> list[Any]:
    """What is kept of a comparison."""
    return [*(round(one, _DIGITS) for one in (found.ratio, found.low, found.high)), found.verdict]


def self_comparisons(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The data of a self-comparison from those of its parts: rows laid together, bounds anew."""
    data = {**parts[-1], "all": _rows(parts, "all"), "disjoint_all": _rows(parts, "disjoint_all")}
    effects = parts[-1]["slowed_all"]
    data["slowed_all"] = {
        effect: [one for part in parts for one in part["slowed_all"][effect]] for effect in effects
    }
    data["failures"] = _rows(parts, "failures")
    data["jobs"] = sum(part["jobs"] for part in parts)
    squares = sum(part["jobs"] * (part["process_noise"] or 0.0) ** 2 for part in parts)
    data["process_noise"] = math.sqrt(squares / data["jobs"])
    data["comparisons"] = len(data["all"])
    data["summary"] = self_comparison(_comparisons(data["all"]))
    data["disjoint"] = self_comparison(_comparisons(data["disjoint_all"]))
    data["slowed_in_the_record"] = [
        power(float(effect), _comparisons(rows)) for effect, rows in data["slowed_all"].items()
    ]
    return data


def powers(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The data of the power of the comparison, in the same way."""
    points = []
    for number, point in enumerate(parts[-1]["points"]):
        rows = [one for part in parts for one in part["points"][number]["all"]]
        points.append(effect_of(point["asked"], _comparisons(rows)))
    return {**parts[-1], "points": points, "failures": _rows(parts, "failures")}


def effect_of(asked: float, comparisons: list[Comparison]) -> dict[str, Any]:
    """How often a kernel that was slowed was found, and by how much it truly was slower."""
    true = sorted(one.ratio for one in comparisons)[len(comparisons) // 2] - 1
    return {"asked": asked, "median_measured": true, "point": power(asked, comparisons),
            "all": [row(one) for one in comparisons]}  # fmt: skip


def _rows(parts: list[dict[str, Any]], name: str) -> list[Any]:
    return [one for part in parts for one in part[name]]


def _comparisons(rows: list[Any]) -> list[Comparison]:
    return [
        Comparison(
            ratio=ratio, low=low, high=high, verdict=verdict, smallest_detectable=0.0, pairs=0,
            process_pairs=0,
        )
        for ratio, low, high, verdict in rows
    ]  # fmt: skip
