"""Scores of recommendations: recall, reciprocal rank, bad advice, and knowing when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kbs_engine.evaluation.cases import Labels

STOP_BAR: Final = 0.05
"""Advice that expects to return less than this share of the time is no reason to go on."""

Ranking = Sequence[str]


class RecommendScore(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one recommender. Shares are None where no case asks."""

    recall_at_1: float | None
    recall_at_3: float | None
    recall_at_5: float | None
    mrr: float | None
    recall_at_1_relaxed: float | None
    recall_at_3_relaxed: float | None
    recall_at_5_relaxed: float | None
    bad_in_top3: float | None
    """Of all methods listed as ``did_not_work``, the share that stands in the first three."""
    stops_right: float | None = None
    """Of the cases in which nothing worked, the share with no score above the bar."""
    stops_wrongly: float | None = None
    """Of the cases in which something worked, the share with no score above the bar."""


def near(names: Sequence[str], groups: Sequence[frozenset[str]]) -> frozenset[str]:
    """The methods and their near-equivalents."""
    wanted = set(names)
    return frozenset(wanted.union(*(group for group in groups if group & wanted)))


def first_hit(ranking: Ranking, accepted: Sequence[str] | frozenset[str]) -> int | None:
    """Rank (from 1) of the first accepted method."""
    return next((rank for rank, name in enumerate(ranking, 1) if name in accepted), None)


def score(
    labels: Sequence[Labels],
    rankings: Sequence[Ranking],
    groups: Sequence[frozenset[str]],
    *,
    best_scores: Sequence[float] | None = None,
    bar: float = STOP_BAR,
) -> RecommendScore:
    """All figures of one recommender.

    Args:
        labels: the labels of the cases.
        rankings: its recommendations for each case, best first.
        groups: near-equivalent methods.
        best_scores: the score of the best recommendation of each case (0 without any), for
            recommenders whose score is the share of time that they expect to return.
        bar: under which score a recommender is taken to say stop.
    """
    rows = list(zip(labels, rankings, strict=True))
    helped = [(row, ranking) for row, ranking in rows if row.worked]
    strict = [first_hit(ranking, row.worked) for row, ranking in helped]
    relaxed = [first_hit(ranking, near(row.worked, groups)) for row, ranking in helped]
    bad = [name in ranking[:3] for row, ranking in rows for name in row.did_not_work]
    stops: list[bool] = []
    wrong: list[bool] = []
    if best_scores is not None:
        for row, best in zip(labels, best_scores, strict=True):
            (wrong if row.worked else stops).append(best < bar)
    return RecommendScore(
        recall_at_1=_recall(strict, 1),
        recall_at_3=_recall(strict, 3),
        recall_at_5=_recall(strict, 5),
        mrr=_mean([1 / rank if rank else 0.0 for rank in strict]),
        recall_at_1_relaxed=_recall(relaxed, 1),
        recall_at_3_relaxed=_recall(relaxed, 3),
        recall_at_5_relaxed=_recall(relaxed, 5),
        bad_in_top3=_mean([float(value) for value in bad]),
        stops_right=_mean([float(value) for value in stops]),
        stops_wrongly=_mean([float(value) for value in wrong]),
    )


def _recall(ranks: Sequence[int | None], k: int) -> float | None:
    return _mean([float(rank is not None and rank <= k) for rank in ranks])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
