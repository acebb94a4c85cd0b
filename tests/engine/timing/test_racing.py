"""Races: right champion, few calls, no wrong elimination however often one looks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import UsageError
from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing import Race
from kbs_engine.timing.sequences import log_evidence, median_interval, trimmed
from tests.engine.timing.simulated import timed


def run(race, factors, *, seed=0, noise=0.01, calls=10):
    step = 0
    while race.needs():
        arms = race.needs()
        race.add(
            timed([factors[i] for i in arms], calls=calls, noise=noise, seed=1000 * seed + step)
        )
        step += 1
    return race


def test_the_fastest_wins_and_the_slow_leave_early():
    report = run(Race(4), [1.3, 1.0, 1.1, 2.0]).report()
    assert report.champion == 1
    assert report.decided
    assert [fate.outcome for fate in report.fates] == ["slower", "champion", "slower", "slower"]
    assert report.calls_spent < report.calls_planned
    assert report.fates[3].calls <= report.fates[1].calls
    assert report.fates[3].ratio == pytest.approx(2.0, rel=0.05)


def test_equal_branches_end_as_equal():
    report = run(Race(3, planned_calls=400), [1.0, 1.001, 1.0005], noise=0.005).report()
    assert report.decided
    assert {fate.outcome for fate in report.fates} == {"champion", "equal"}


def test_a_race_that_cannot_be_told_stops_at_the_plan():
    report = run(Race(2, planned_calls=40), [1.0, 1.0], noise=0.5).report()
    assert not report.decided
    assert report.calls_spent == report.calls_planned == 80
    assert {fate.outcome for fate in report.fates} == {"champion", "undecided"}


def test_a_refused_branch_leaves_with_its_reason():
    race = Race(3)
    block = timed([1.0, 1.0, 1.1], calls=10)
    bad = ArmTimes(name="cheat", reason="cached_output", detail="round 3")
    race.add(Timed(arms=(bad, *block.arms[1:]), timer="simulated"))
    assert 0 not in race.needs()
    report = run(race, [0, 1.0, 1.1]).report()
    assert report.champion == 1
    assert report.fates[0].outcome == "refused"
    assert report.fates[0].detail == "cached_output round 3"


def test_when_all_are_refused_there_is_no_champion():
    race = Race(2)
    bad = ArmTimes(name="cheat", reason="crashed")
    race.add(Timed(arms=(bad, bad), timer="simulated"))
    assert race.done
    assert race.champion is None
    assert race.needs() == ()


def test_a_lone_branch_needs_no_race():
    race = Race(1)
    assert race.done
    assert race.champion == 0
    assert race.report().calls_spent == 0


def test_a_block_of_others_is_refused():
    with pytest.raises(UsageError, match="3 are needed"):
        Race(3).add(timed([1.0, 1.0]))
    with pytest.raises(UsageError, match="a race of 0"):
        Race(0)


def test_wrong_eliminations_over_whole_races_are_rare():
    """All equal, 150 races, up to 10 looks each: a branch may leave in at most 5 % of races."""
    races = [run(Race(4), [1.0] * 4, seed=seed, noise=0.03) for seed in range(150)]
    wrong = sum(any(f.outcome == "slower" for f in race.report().fates) for race in races)
    assert wrong / len(races) <= 0.05


def test_looking_after_every_block_keeps_the_error():
    """400 sequences of 100 blocks, looked at after each: ever excluding the truth is rare."""
    rng = np.random.default_rng(0)
    ever = 0
    for _ in range(400):
        above = np.cumsum(rng.random(100) < 0.5)
        ever += any(log_evidence(int(s), n) >= math.log(20) for n, s in enumerate(above, 1))
    assert ever / 400 <= 0.05


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.floats(0.001, 0.2))
def test_the_interval_holds_the_median_and_mirrors(values, alpha):
    low, high = median_interval(values, alpha)
    assert low <= float(np.median(values)) <= high
    mirrored = median_interval([-v for v in values], alpha)
    assert mirrored == (-high, -low)


@given(st.integers(1, 200), st.floats(0.001, 0.2))
def test_a_smaller_alpha_never_narrows(count, alpha):
    def beyond(level):
        found = trimmed(count, level)
        return -1 if found is None else found

    assert beyond(alpha / 2) <= beyond(alpha)


@settings(max_examples=20, deadline=None)
@given(st.permutations([0, 1, 2]))
def test_the_order_of_the_branches_does_not_matter(order):
    factors = [1.0, 1.2, 1.4]
    report = run(Race(3), [factors[i] for i in order], noise=0.005).report()
    assert order[report.champion] == 0
