"""Two clocks: constant overhead passes, hidden work does not."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.refusals import REASONS
from kbs_engine.timing import check_clocks, check_gain, compare
from tests.engine.timing.simulated import timed

RNG = np.random.default_rng(1)
TRUSTED = 80_000 + RNG.gamma(2.0, 500.0, 50)


def calls(device=20_000.0, overhead=80_000.0, hidden=0.0, seed=2, count=50):
    rng = np.random.default_rng(seed)
    own = device * rng.normal(1.0, 0.01, count)
    return own, own + overhead + hidden + rng.gamma(2.0, 500.0, count)


def test_a_constant_overhead_is_no_mismatch():
    device, host = calls()
    assert check_clocks(device, host, overhead_ns=TRUSTED).ok


def test_work_that_the_events_did_not_see_is_a_mismatch():
    device, host = calls(hidden=50_000.0)
    check = check_clocks(device, host, overhead_ns=TRUSTED)
    assert not check.ok
    assert check.reason == "clock_mismatch"
    assert check.reason in REASONS
    assert "the host saw time" in check.detail


def test_events_longer_than_the_host_saw_are_a_mismatch():
    device, host = calls()
    check = check_clocks(device * 3, host, overhead_ns=TRUSTED)
    assert check.reason == "clock_mismatch"
    assert "exceed the host" in check.detail


def test_noise_of_the_candidate_buys_no_room():
    device, host = calls(hidden=50_000.0)
    noisy = host + np.random.default_rng(3).gamma(1.0, 200_000.0, host.size)
    assert not check_clocks(device, noisy, overhead_ns=TRUSTED).ok


def test_spikes_of_the_host_are_forgiven():
    device, host = calls()
    host[::3] += 5e6
    assert check_clocks(device, host, overhead_ns=TRUSTED).ok


def test_events_of_nothing_are_refused_by_the_timer():
    device, host = calls()
    device[4] = 0.0
    assert check_clocks(device, host, overhead_ns=TRUSTED).reason == "timer_below_step"


def test_too_few_calls_say_nothing():
    with pytest.raises(ValueError, match="trusted times"):
        check_clocks([1.0], [2.0], overhead_ns=TRUSTED)
    with pytest.raises(ValueError, match="trusted times"):
        check_clocks([1.0] * 4, [2.0] * 3, overhead_ns=TRUSTED)


@settings(max_examples=50, deadline=None)
@given(st.floats(1_000, 1e8), st.integers(0, 1000))
def test_honest_kernels_of_any_length_pass(device_ns, seed):
    device, host = calls(device=device_ns, seed=seed)
    assert check_clocks(device, host, overhead_ns=TRUSTED).ok


def with_host(data, lie=0.0, overhead=80_000.0, spread=300.0):
    """Host times of the true device times; arm 0 then claims ``lie`` nanoseconds less."""
    rng = np.random.default_rng(7)
    arms = []
    for index, arm in enumerate(data.arms):
        true = np.asarray(arm.samples_ns)
        host = true + overhead + rng.gamma(2.0, spread, true.size)
        claimed = true - (lie if index == 0 else 0.0)
        arms.append(msgspec.structs.replace(arm, samples_ns=tuple(claimed), host_ns=tuple(host)))
    return msgspec.structs.replace(data, arms=tuple(arms))


def test_a_small_lie_about_time_is_not_seen_by_the_host():
    lied = with_host(timed([1.0, 1.0], calls=40, processes=3), lie=1_900.0)
    device, host = lied.arms[0].samples_ns, lied.arms[0].host_ns
    assert check_clocks(device, host, overhead_ns=TRUSTED).ok
    found = check_gain(lied, 0, 1)
    assert found.reason == "clock_mismatch"
    assert any("the clocks disagree" in note for note in compare(lied, 0, 1).notes)


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.03, 1.5])
def test_a_true_gain_is_seen_by_the_host(factor):
    data = with_host(timed([1.0, factor], calls=40, processes=3))
    found = check_gain(data, 0, 1)
    assert found.ok or abs(found.excess_ns) < 200
    assert not compare(data, 0, 1).notes[1:]


def test_what_differs_between_processes_contradicts_no_gain():
    """Measured on a GPU: around the same calls one process waits 20 to 60 µs more than another."""
    data = with_host(timed([1.0, 1.5], calls=40, processes=3))
    first, second = data.arms
    more = [(0.0, 12_000.0, 30_000.0)[p] for p in first.process]
    slower = tuple(h + m for h, m in zip(first.host_ns, more, strict=True))
    data = msgspec.structs.replace(
        data, arms=(msgspec.structs.replace(first, host_ns=slower), second)
    )
    assert check_gain(data, 0, 1).ok


def test_one_process_pair_contradicts_nothing():
    assert check_gain(with_host(timed([1.0, 1.0], calls=100), lie=1_900.0), 0, 1) is None


def test_without_host_times_nothing_is_contradicted():
    assert check_gain(timed([1.0, 1.1]), 0, 1) is None
