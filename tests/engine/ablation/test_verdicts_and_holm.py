"""The verdict table is total; Holm's correction is monotone."""

import itertools
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.ablation import (
    VERDICTS,
    Effect,
    MethodEffect,
    Opcodes,
    explain_verdict,
    holm,
    left_open,
    p_beyond_noise,
    verdict,
)
from kbs_engine.errors import InputError
from kbs_engine.timing import compare
from kbs_engine.vocabulary import VERDICTS as WORDS
from tests.engine.timing.simulated import timed

P_VALUES = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.floats(0, 1), max_size=8)


def test_every_cell_is_defined_and_every_verdict_is_reached():
    cells = [(o, e, c) for o in get_args(Opcodes) for e in get_args(Effect) for c in (True, False)]
    assert set(cells) == set(VERDICTS)
    assert set(VERDICTS.values()) == set(WORDS)


@pytest.mark.parametrize(
    ("opcodes", "effect", "correct", "expected"),
    [
        ("confirmed", "helps", True, "effective"),
        ("confirmed", "within noise", True, "ineffective"),
        ("confirmed", "harms", True, "harmful"),
        ("confirmed", "inseparable", True, "inseparable"),
        ("confirmed", "not measured", True, "inseparable"),
        ("refuted", "helps", True, "implementation_failed"),
        ("refuted", "within noise", True, "implementation_failed"),
        ("not observable", "helps", True, "effective"),
        ("not_observable", "harms", True, "harmful"),
        ("confirmed", "helps", False, "implementation_failed"),
    ],
)
def test_cells(opcodes, effect, correct, expected):
    assert verdict(opcodes, effect, correct=correct) == expected


def test_a_word_outside_the_table_is_refused():
    with pytest.raises(InputError, match="maybe"):
        verdict("maybe", "helps")


def test_a_gain_without_the_opcodes_belongs_to_something_else():
    effect = MethodEffect(method="a", effect="helps")
    assert "something else" in explain_verdict("implementation_failed", effect, "refuted")
    assert "something else" not in explain_verdict("effective", effect, "confirmed")


@given(P_VALUES)
def test_holm_never_lowers_and_keeps_the_order(raw):
    adjusted = holm(raw)
    assert adjusted.keys() == raw.keys()
    for name in raw:
        assert raw[name] <= adjusted[name] <= 1.0
    ordered = sorted(raw, key=lambda name: raw[name])
    assert all(adjusted[x] <= adjusted[y] for x, y in itertools.pairwise(ordered))


@given(P_VALUES, st.floats(0, 1))
def test_one_more_test_never_helps_the_others(raw, extra):
    more = holm({**raw, "zz": extra})
    assert all(holm(raw)[name] <= more[name] for name in raw)


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.015, 1.03, 1.2])
def test_the_p_value_is_the_interval_inverted(factor):
    for seed in range(5):
        found = compare(timed([1.0, factor], processes=3, seed=seed), 0, 1)
        assert (p_beyond_noise(found) < 0.05) == (found.verdict != "within noise")


def within_noise(factor: float, *, spread: float, processes: int = 3) -> MethodEffect:
    found = compare(timed([1.0, factor], processes=processes, offset=spread), 0, 1)
    return MethodEffect(
        method="a", effect="within noise", speedup=found, p_holm=p_beyond_noise(found)
    )


def test_an_effect_measured_within_the_noise_is_called_so():
    effect = within_noise(1.0, spread=0.0005)
    told = explain_verdict("ineffective", effect, "confirmed")
    assert "its effect lies within the noise threshold of 2 %" in told
    assert not left_open("ineffective", effect.gain_interval[1], 0.02)


def test_an_effect_that_did_not_show_is_not_called_small():
    effect = within_noise(1.3, spread=0.3)
    gain, (low, high) = effect.gain, effect.gain_interval
    assert low < 0.02
    assert high > 0.2
    told = explain_verdict("ineffective", effect, "confirmed")
    assert "no effect beyond the noise threshold of 2 % was shown" in told
    assert f"{100 * gain:.1f} % [{100 * low:.1f}, {100 * high:.1f}]" in told
    smallest = 1 - 1 / (1 + effect.speedup.smallest_detectable)
    assert f"the smallest gain that would have shown is {100 * smallest:.1f} %" in told
    assert "less than" not in told


@pytest.mark.parametrize(
    ("verdict", "high", "expected"),
    [
        ("ineffective", 0.743, True),
        ("ineffective", 0.04, True),
        ("ineffective", 0.035, False),
        ("ineffective", -0.2, False),  # it surely does not help
        ("ineffective", None, False),
        ("harmful", 0.743, False),
        ("effective", 0.743, False),
    ],
)
def test_what_a_coarse_timing_leaves_open(verdict, high, expected):
    assert left_open(verdict, high, 0.02) is expected
