"""The registry of reason codes: complete, consistent, and closed."""

import pytest

from kbs_engine.refusals import DEFENCES, REASONS, explain, reason


def test_every_reason_names_a_defence_a_meaning_and_a_remedy():
    for code, entry in REASONS.items():
        assert code == entry.code
        assert entry.defence in DEFENCES, code
        assert entry.meaning, code
        assert entry.remedy, code


def test_codes_are_lower_case_words():
    assert all(code.replace("_", "").isalpha() and code.islower() for code in REASONS)


def test_meanings_are_told_apart():
    assert len({entry.meaning for entry in REASONS.values()}) == len(REASONS)


def test_a_device_may_not_invent_a_code():
    with pytest.raises(ValueError, match="not registered"):
        reason("felt_wrong")


def test_a_line_for_people_holds_code_detail_and_remedy():
    line = explain("late_write", "12 elements of `out`")
    assert line.startswith("late_write: ")
    assert "12 elements of `out`" in line
    assert line.endswith(REASONS["late_write"].remedy)
