"""Predicted gain against realised gain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.experience import calibrate
from tests.experience.records import outcome


def foretold(low, high, gain, **changes):
    verdict = "effective" if gain > 0 else "harmful"
    return outcome(predicted_gain=(low, high), gain=gain, verdict=verdict, **changes)


def test_coverage_and_bias_per_method_and_chip():
    found = calibrate(
        [
            foretold(0.1, 0.3, 0.2),
            foretold(0.1, 0.3, 0.05),
            foretold(0.1, 0.3, 0.4),
            foretold(0.0, 0.2, -0.1, method="split_k"),
            foretold(0.0, 0.2, 0.1, chip="a100_sxm"),
        ]
    )
    assert [(row.method, row.chip, row.count) for row in found.rows] == [
        ("coalesced_access", "h100_sxm", 3),
        ("coalesced_access", "a100_sxm", 1),
        ("split_k", "h100_sxm", 1),
    ]
    first = found.rows[0]
    assert (first.covered, first.below, first.above) == (1, 1, 1)
    assert first.coverage == pytest.approx(1 / 3)
    assert first.bias == pytest.approx(0.2 - 0.65 / 3)
    assert found.overall.count == 5
    assert found.rows[2].bias == pytest.approx(0.2)


def test_what_makes_no_statement_about_a_gain_is_left_out():
    found = calibrate(
        [
            outcome(predicted_gain=None),
            foretold(0.1, 0.2, 0.15, verified=False),
            outcome(predicted_gain=(0.1, 0.2), gain=None),
            outcome(predicted_gain=(0.1, 0.2), verdict="inseparable"),
            outcome(predicted_gain=(0.1, 0.2), verdict="implementation_failed", gain=-0.5),
        ]
    )
    assert found.overall is None
    assert found.rows == ()


@given(st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0.01, 0.9)), min_size=1))
def test_every_prediction_is_inside_below_or_above(rows):
    overall = calibrate([foretold(*row) for row in rows]).overall
    assert overall.covered + overall.below + overall.above == overall.count == len(rows)
    assert 0 <= overall.coverage <= 1
    assert overall.bias == pytest.approx(overall.predicted_mean - overall.realised_mean)
    assert overall.absolute_error >= abs(overall.bias) - 1e-12
