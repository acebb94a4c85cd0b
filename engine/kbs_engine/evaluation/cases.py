"""Labelled optimization cases: the question that recommenders see, and the labels they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """All that a recommender is told of a case: not its id, labels, reference or split."""

    kernel: str = ""
    """The kernel in the words of the case."""
    family: str | None = None
    language: str | None = None
    gpu: str | None = None
    metrics: dict[str, float | str] = msgspec.field(default_factory=dict)
    """Names as the case writes them: canonical, a vendor's, or another profiler's words."""
    text: str = ""


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the answer; fed to no recommender."""

    worked: tuple[str, ...]
    did_not_work: tuple[str, ...] = ()
    reference: str = ""
    split: str = ""


class EvalCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case."""

    id: str
    line: int
    question: Question
    labels: Labels


def most_frequent(labels: Sequence[Labels]) -> list[tuple[str, ...]]:
    """For each case, the methods that worked most often in the other cases; ties by id."""
    total = Counter(name for row in labels for name in set(row.worked))
    ranked = []
    for row in labels:
        rest = total.copy()
        rest.subtract(set(row.worked))
        names = [name for name, count in rest.items() if count > 0]
        ranked.append(tuple(sorted(names, key=lambda name: (-rest[name], name))))
    return ranked
