"""What is true of a kernel, and what a diagnosis claims about it."""

from __future__ import annotations

from typing import Final

import msgspec

from kbs_engine.work import Work

ALARM: Final = 0.3
"""A claim about a healthy kernel above this severity is a false alarm."""


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """The label of one kernel."""

    key: int | str
    """Launch number, whole kernel name, prefix of one, or name of a case."""
    line: int
    healthy: bool = False
    cause: tuple[str, ...] = ()
    """Symptom ids that count as right."""
    axis: tuple[str, ...] = ()
    work: Work | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One cause that a predictor names.

    ``ids`` are all symptom ids that fit its words: a baseline that says less precisely what is
    wrong is right when any of them is accepted.
    """

    says: str
    ids: tuple[str, ...]
    axes: tuple[str, ...]
    severity: float


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """One launch with its label and the ranked claims of every predictor."""

    kernel: str
    launch: int
    report: str
    truth: Truth
    claims: dict[str, tuple[Claim, ...]]
