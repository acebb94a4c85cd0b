"""Hints: what search and published cases are worth, by hand."""

from __future__ import annotations

import pytest

from kbs_engine.hints import LIMIT, MOST, Hint, Published, nearness, votes


def case(name, *methods, helped=True, **more):
    return Published(id=name, methods=frozenset(methods), helped=helped, **more)


def test_nothing_found_is_no_share():
    assert Hint().share == 0.0
    assert Hint(cases=-1.0).share == 0.0


def test_everything_found_is_the_most_and_never_all():
    best = Hint(pages=1, sayings=1, saying_meaning=1)
    assert best.share == pytest.approx(MOST)
    assert Hint(pages=1, sayings=1, saying_meaning=1, cases=1).share <= LIMIT
    assert Hint(pages=1, sayings=1, saying_meaning=1, scale=0.1).share == pytest.approx(MOST / 10)


def test_sayings_count_more_than_pages():
    assert Hint(sayings=0.5).share > Hint(pages=0.5).share


def test_near_cases_speak_for_what_helped_and_against_what_hurt():
    cases = [case("a", "good"), case("b", "bad", helped=False), case("far", "good", "bad")]
    found = votes(cases, {"a": 0.9, "b": 0.9, "far": 0.1})
    assert found["good"].value > 0.2
    assert found["bad"].value < -0.2
    assert found["good"].read == ("a", "far")


def test_far_cases_leave_what_all_cases_say():
    cases = [case("a", "m"), case("b", "m"), case("c", "n", helped=False)]
    found = votes(cases, {})
    assert found["m"].value == pytest.approx(2 / 4)
    assert found["n"].value == pytest.approx(-1 / 3)
    assert found["m"].read == ()


def test_one_case_half_as_near_has_an_eighth_of_the_voice():
    cases = [case("a", "m"), case("b", "m", helped=False)]
    even = votes(cases, {"a": 0.5, "b": 0.5})["m"].value
    near = votes(cases, {"a": 1.0, "b": 0.5})["m"].value
    assert even == pytest.approx(0.0)
    assert near == pytest.approx((1 - 1 / 8) / (1 + 1 / 8 + 0.5))


def test_the_same_kernel_and_language_are_nearer():
    one = case("a", "m", family="scan", language="triton")
    assert nearness(one, 0.5, "scan", "triton") > nearness(one, 0.5, "scan", "hip")
    assert nearness(one, 0.5, None, None) == 0.5
    assert nearness(case("b", "m"), 0.5, None, None) == 0.5
