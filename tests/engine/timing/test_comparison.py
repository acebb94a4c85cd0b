"""Comparisons: laws, coverage with fixed seeds, power, and what they refuse."""

import math
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import MeasurementError
from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing import (
    block_log_ratios,
    compare,
    compare_ratios,
    power,
    self_comparison,
    summary,
)
from tests.engine.timing.simulated import timed


def test_ratio_is_the_speedup_of_the_first_over_the_second():
    result = compare(timed([1.0, 1.1], processes=3), 0, 1)
    assert result.verdict == "faster"
    assert result.low <= 1.1 <= result.high
    assert compare(timed([1.1, 1.0], processes=3), 0, 1).verdict == "slower"


def test_an_effect_inside_the_threshold_is_not_called():
    result = compare(timed([1.0, 1.015], noise=0.001, processes=3), 0, 1)
    assert result.low > 1.0
    assert result.verdict == "within noise"


def test_a_wide_interval_that_crosses_the_threshold_is_not_called():
    result = compare(timed([1.0, 1.05], noise=0.3, calls=20), 0, 1)
    assert result.ratio != 1.0
    assert result.verdict == "within noise"
    assert result.smallest_detectable > 0.05


def test_anyone_recomputes_the_same_interval():
    data = timed([1.0, 1.03], processes=3, seed=5)
    again = msgspec.json.decode(msgspec.json.encode(data), type=Timed)
    assert compare(data, 0, 1) == compare(again, 0, 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.8, 1.25), st.integers(1, 4))
def test_swapping_the_arms_gives_the_reciprocal(seed, factor, processes):
    data = timed([1.0, factor], calls=20, processes=processes, seed=seed)
    there, back = compare(data, 0, 1), compare(data, 1, 0)
    assert there.ratio == pytest.approx(1 / back.ratio, rel=1e-12)
    assert there.low == pytest.approx(1 / back.high, rel=1e-9)
    assert there.high == pytest.approx(1 / back.low, rel=1e-9)
    mirrored = {"faster": "slower", "slower": "faster", "within noise": "within noise"}
    assert back.verdict == mirrored[there.verdict]
    assert there.smallest_detectable == pytest.approx(back.smallest_detectable, rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(seed, scale):
    data = timed([1.0, 1.04], calls=20, seed=seed)
    scaled = msgspec.structs.replace(
        data,
        arms=tuple(
            msgspec.structs.replace(a, samples_ns=tuple(v * scale for v in a.samples_ns))
            for a in data.arms
        ),
    )
    first, second = (compare_ratios(block_log_ratios(d, 0, 1)) for d in (data, scaled))
    assert first.ratio == pytest.approx(second.ratio, rel=1e-9)
    assert first.low == pytest.approx(second.low, rel=1e-9)
    assert first.high == pytest.approx(second.high, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.3), st.integers(1, 4))
def test_the_interval_holds_the_estimate(seed, noise, processes):
    result = compare(
        timed([1.0, 1.02], calls=10, noise=noise, processes=processes, seed=seed), 0, 1
    )
    assert result.low <= result.ratio <= result.high
    assert result.smallest_detectable >= result.noise


def test_identical_arms_compare_as_one():
    samples = tuple(float(v) for v in np.random.default_rng(0).uniform(100, 200, 40))
    place = tuple(range(40))
    arm = ArmTimes(name="same", samples_ns=samples)
    data = Timed(
        arms=(
            msgspec.structs.replace(arm, position=tuple(2 * p for p in place)),
            msgspec.structs.replace(arm, position=tuple(2 * p + 1 for p in place)),
        ),
        timer="simulated",
    )
    result = compare(data, 0, 1)
    assert result.ratio == 1.0
    assert math.log(result.low) == pytest.approx(-math.log(result.high), abs=1e-12)


@dataclass
class Case:
    calls: int
    processes: int
    offset: float
    noise: float
    step: float = 0.0


CASES = {
    "one process": Case(50, 1, 0.003, 0.01),
    "noisy, one process": Case(50, 1, 0.003, 0.05),
    "few calls": Case(10, 1, 0.003, 0.02),
    "three processes with large offsets": Case(20, 3, 0.02, 0.01),
    "a coarse timer": Case(50, 1, 0.003, 0.002, step=500.0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_kernel_compared_with_itself_hardly_ever_looks_different(case):
    """200 comparisons in each of five situations: 1,000 in all, fixed seeds."""
    results = [
        compare(
            timed([1.0, 1.0], calls=case.calls, processes=case.processes, offset=case.offset,
                  noise=case.noise, step=case.step, seed=seed), 0, 1)
        for seed in range(200)
    ]  # fmt: skip
    report = self_comparison(results)
    assert report.comparisons == 200
    assert report.share <= 0.05
    assert report.upper_bound <= 0.09
    assert report.false_wins <= 1


@pytest.mark.parametrize(("effect", "at_least"), [(0.05, 0.8), (0.10, 0.99)])
def test_slowdowns_are_found(effect, at_least):
    results = [
        compare(timed([1.0, 1 + effect], calls=50, processes=3, offset=0.003, seed=seed), 0, 1)
        for seed in range(120)
    ]
    point = power(effect, results)
    assert point.share >= at_least
    assert point.covered / point.comparisons >= 0.95


def test_a_drift_of_the_clocks_cancels():
    result = compare(timed([1.0, 1.0], noise=1e-4, drift=0.002, processes=3), 0, 1)
    assert result.ratio == pytest.approx(1.0, abs=1e-3)


def test_a_random_order_of_turns_is_read_as_well():
    data = timed([1.0, 1.1, 1.2], processes=3, order_seed=3, drift=0.002)
    assert compare(data, 0, 2).ratio == pytest.approx(1.2, rel=0.02)


def test_turns_of_several_calls_make_blocks():
    places_a = [*range(10), *range(30, 40)]
    places_b = [*range(10, 30)]
    data = Timed(
        arms=(
            ArmTimes(name="a", samples_ns=(100.0,) * 20, position=tuple(places_a)),
            ArmTimes(name="b", samples_ns=(110.0,) * 20, position=tuple(places_b)),
        ),
        timer="simulated",
    )
    (values,) = block_log_ratios(data, 0, 1).values()
    assert values == pytest.approx([math.log(1.1)])


def test_a_timer_step_widens_the_interval():
    data = timed([1.0, 1.0], noise=1e-5, step=1000.0, base=10_000.0, processes=3)
    result = compare(data, 0, 1)
    assert result.timer_step_ns in (0.0, 1000.0)
    mixed = timed([1.0, 1.04], noise=0.02, step=1000.0, base=10_000.0, processes=3)
    assert compare(mixed, 0, 1).timer_step_ns == 1000.0
    assert compare(mixed, 0, 1).verdict == "within noise"


def test_one_outlier_of_the_host_changes_little():
    data = timed([1.0, 1.0], processes=3)
    arm = data.arms[0]
    struck = msgspec.structs.replace(arm, samples_ns=(1e9, *arm.samples_ns[1:]))
    hit = msgspec.structs.replace(data, arms=(struck, data.arms[1]))
    assert compare(hit, 0, 1).ratio == pytest.approx(compare(data, 0, 1).ratio, rel=0.005)


def test_a_refused_arm_has_no_speed():
    data = timed([1.0, 1.1])
    bad = msgspec.structs.replace(data.arms[1], reason="cached_output")
    with pytest.raises(MeasurementError, match="cached_output"):
        compare(msgspec.structs.replace(data, arms=(data.arms[0], bad)), 0, 1)


def test_arms_that_never_met_are_not_compared():
    a = ArmTimes(name="a", samples_ns=(1.0, 2.0), process=(0, 0), position=(0, 1))
    b = ArmTimes(name="b", samples_ns=(1.0, 2.0), process=(1, 1), position=(0, 1))
    with pytest.raises(MeasurementError, match="never timed in one process pair"):
        compare(Timed(arms=(a, b), timer="x"), 0, 1)


@pytest.mark.parametrize("bad", [0.0, -5.0, math.nan, math.inf])
def test_a_sample_that_is_no_time_is_refused(bad):
    a = ArmTimes(name="a", samples_ns=(10.0, bad))
    with pytest.raises(MeasurementError, match="is no time"):
        compare(Timed(arms=(a, a), timer="x"), 0, 1)
    with pytest.raises(MeasurementError, match="is no time"):
        summary((10.0, bad))


def test_a_torn_record_is_refused():
    a = ArmTimes(name="a", samples_ns=(1.0, 2.0), process=(0,), position=(0, 1))
    with pytest.raises(MeasurementError, match="do not belong together"):
        compare(Timed(arms=(a, a), timer="x"), 0, 1)


def test_summary_of_samples():
    result = summary([3.0, 1.0, 2.0, 4.0, 5.0])
    assert (result.median_ns, result.mean_ns, result.min_ns, result.max_ns) == (3, 3, 1, 5)
    assert (result.p20_ns, result.p80_ns) == (pytest.approx(1.8), pytest.approx(4.2))
    assert result.std_ns == pytest.approx(math.sqrt(2.5))
    with pytest.raises(MeasurementError, match="no samples"):
        summary([])


def test_clocks_that_moved_are_noted():
    data = msgspec.structs.replace(
        timed([1.0, 1.1], processes=3),
        clocks_before_mhz={"sm": 1980.0}, clocks_after_mhz={"sm": 1500.0},
    )  # fmt: skip
    assert any("1980 to 1500 MHz" in note for note in compare(data, 0, 1).notes)
