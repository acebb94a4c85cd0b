"""Two clocks: constant overhead passes, hidden work does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.refusals import REASONS
from kbs_engine.timing import check_clocks

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
