"""When a run ends, and why: each reason is a good, honest end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

StopReason = Literal[
    "near_peak", "target_reached", "no_method_left", "iterations_done", "budget_spent", "stopped"
]
"""The words of ``run.state.EndReason`` that a rule can give."""


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run stops."""

    reason: StopReason
    detail: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What the stop rules look at."""

    near_peak: bool = False
    near_peak_reason: str = ""
    target_reached: str = ""
    """How the run's target was reached, in words; empty while it was not."""
    attempts: int = 0
    """Versions tried after v0 in this epoch."""
    allowed: int = 3
    gpu_seconds: float = 0.0
    gpu_seconds_allowed: float | None = None
    next_costs: float = 0.0
    """GPU seconds that one more version and the final benchmark will take, as far as is known."""
    asked_to_stop: bool = False
    asked_why: str = "the reports were asked for"
    plannable: bool = True
    """Whether a method or an untried tunable is left above the bar."""
    plannable_why: str = ""


def stop_now(standing: Standing) -> Stop | None:
    """The first rule that ends the run, or None.

    The target comes first, because it is what the user asked for; then the physics; then what
    was allowed to be spent; and last that nothing is left to try.
    """
    return next(_rules(standing), None)


def _rules(at: Standing) -> Iterator[Stop]:
    if at.target_reached:
        yield Stop(reason="target_reached", detail=at.target_reached)
    if at.asked_to_stop:
        yield Stop(reason="stopped", detail=at.asked_why)
    if at.near_peak:
        yield Stop(reason="near_peak", detail=at.near_peak_reason)
    if at.attempts >= at.allowed:
        yield Stop(reason="iterations_done", detail=f"{at.attempts} versions tried")
    allowed = at.gpu_seconds_allowed
    if allowed is not None and at.gpu_seconds + at.next_costs > allowed:
        told = (
            f"{at.gpu_seconds:.1f} s of GPU time spent, about {at.next_costs:.1f} s for one more "
            f"version, {allowed:.1f} s allowed"
        )
        yield Stop(reason="budget_spent", detail=told)
    if not at.plannable:
        told = at.plannable_why or "no method is left above the bar"
        yield Stop(reason="no_method_left", detail=told)
