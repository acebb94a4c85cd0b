"""When a run ends: each reason alone, and which comes first."""

from __future__ import annotations

import pytest

from kbs_engine.loop.stopping import Standing, stop_now


@pytest.mark.parametrize(
    ("standing", "reason"),
    [
        (Standing(target_reached="time target reached"), "target_reached"),
        (Standing(near_peak=True, near_peak_reason="model is 0.93 of the time"), "near_peak"),
        (Standing(attempts=3, allowed=3), "iterations_done"),
        (Standing(gpu_seconds=91.0, gpu_seconds_allowed=90.0), "budget_spent"),
        (Standing(gpu_seconds=80, next_costs=11, gpu_seconds_allowed=90), "budget_spent"),
        (Standing(plannable=False, plannable_why="nothing fits"), "no_method_left"),
        (Standing(asked_to_stop=True), "stopped"),
    ],
)
def test_reasons(standing, reason):
    stop = stop_now(standing)
    assert stop is not None
    assert stop.reason == reason
    assert stop.detail


def test_a_run_goes_on_while_none_holds():
    assert stop_now(Standing(gpu_seconds=80, next_costs=5, gpu_seconds_allowed=90)) is None


def test_the_target_comes_before_physics_and_budget():
    standing = Standing(target_reached="yes", near_peak=True, attempts=9, plannable=False)
    stop = stop_now(standing)
    assert stop is not None
    assert stop.reason == "target_reached"
