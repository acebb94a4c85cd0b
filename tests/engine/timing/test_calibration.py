"""Calibration over recordings."""

import msgspec
import pytest

from kbs_engine.timing import (
    compare,
    cut,
    power,
    process_noise,
    self_comparison,
    slowed,
)
from tests.engine.timing.simulated import timed


def test_a_long_recording_is_cut_into_short_ones():
    parts = cut(timed([1.0, 1.0], calls=100), 20)
    assert len(parts) == 5
    assert all(len(arm.samples_ns) == len(arm.position) == 20 for p in parts for arm in p.arms)
    report = self_comparison([compare(part, 0, 1) for part in parts])
    assert report.comparisons == 5
    assert report.upper_bound > report.share


def test_slowing_in_the_record_is_labelled_and_found():
    data = slowed(timed([1.0, 1.0], processes=3), 1, 0.10)
    assert "slowed by 10% in the record" in data.arms[1].name
    result = compare(data, 0, 1)
    assert result.verdict == "faster"
    point = power(0.10, [result])
    assert (point.found, point.covered, point.share) == (1, 1, 1.0)
    assert point.lower_bound == pytest.approx(0.05)


def test_process_noise_is_recovered():
    recorded = [timed([1.0, 1.0], processes=4, offset=0.01, noise=0.005, seed=s) for s in range(40)]
    assert process_noise(recorded) == pytest.approx(0.01, rel=0.25)
    calm = [timed([1.0, 1.0], processes=4, noise=0.005, seed=s) for s in range(40)]
    assert process_noise(calm) < 0.002


def test_one_process_says_nothing_about_offsets():
    assert process_noise([timed([1.0, 1.0])]) is None


def test_nothing_cannot_be_summed_up():
    with pytest.raises(ValueError, match="0 comparisons"):
        self_comparison([])
    with pytest.raises(ValueError, match="no comparisons"):
        power(0.05, [])


def test_thresholds_are_not_mixed():
    data = timed([1.0, 1.0])
    with pytest.raises(ValueError, match="2 noise thresholds"):
        self_comparison([compare(data, 0, 1), compare(data, 0, 1, noise=0.05)])


def test_a_record_survives_json():
    report = self_comparison([compare(timed([1.0, 1.0], seed=s), 0, 1) for s in range(3)])
    assert msgspec.json.decode(msgspec.json.encode(report), type=type(report)) == report
