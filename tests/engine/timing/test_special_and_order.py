"""Quantiles against known values; the order of turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.timing import abba
from kbs_engine.timing.special import (
    binomial_lower,
    binomial_upper,
    incomplete_beta,
    student_t_cdf,
    student_t_quantile,
)


@pytest.mark.parametrize(
    ("degrees", "value"),
    [(1, 12.706205), (2, 4.302653), (4, 2.776445), (10, 2.228139), (30, 2.042272)],
)
def test_student_quantiles_of_the_tables(degrees, value):
    assert student_t_quantile(0.975, degrees) == pytest.approx(value, abs=1e-5)


@given(st.floats(0.001, 0.999), st.floats(1.0, 60.0))
def test_the_quantile_inverts_the_distribution(probability, degrees):
    assert student_t_cdf(student_t_quantile(probability, degrees), degrees) == pytest.approx(
        probability, abs=1e-9
    )


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.0, 1.0))
def test_incomplete_beta_is_symmetric(a, b, x):
    assert incomplete_beta(a, b, x) == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-9)


def test_clopper_pearson_knows_the_rule_of_three():
    assert binomial_upper(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-9)
    assert binomial_lower(1000, 1000) == pytest.approx(0.05 ** (1 / 1000), rel=1e-9)
    assert binomial_upper(7, 7) == 1.0


@given(st.integers(0, 200), st.integers(1, 200))
def test_the_bounds_enclose_the_share(successes, trials):
    successes = min(successes, trials)
    assert (
        binomial_lower(successes, trials) <= successes / trials <= binomial_upper(successes, trials)
    )


def test_a_share_above_one_is_refused():
    with pytest.raises(ValueError, match="no share"):
        binomial_upper(3, 2)


@given(st.integers(1, 6), st.integers(1, 8), st.one_of(st.none(), st.integers(0, 99)))
def test_every_pass_is_its_own_mirror_image(arms, rounds, seed):
    order = abba(arms, rounds, seed)
    assert len(order) == 2 * arms * rounds
    for start in range(0, len(order), 2 * arms):
        part = order[start : start + 2 * arms]
        assert part == tuple(reversed(part))
        assert sorted(part) == sorted([*range(arms)] * 2)


def test_nobody_to_order_is_refused():
    with pytest.raises(ValueError, match="no order"):
        abba(0, 3)
