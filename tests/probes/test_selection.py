"""The rotating sample reaches everything, and is the same for every worker of a run."""

from __future__ import annotations

import datetime as dt

from tests.probes.selection import of_the_week, week_number
from tests.probes.toolchain import gencode

IDS = [f"page_{n}" for n in range(29)]


def test_every_id_has_its_week():
    weeks = [of_the_week(IDS, 8, week) for week in range(100, 104)]
    assert all(len(chosen) == 8 for chosen in weeks)
    assert frozenset.union(*weeks) == frozenset(IDS)


def test_the_order_of_ids_does_not_matter():
    assert of_the_week(IDS, 8, 7) == of_the_week(IDS[::-1], 8, 7)


def test_a_small_set_is_taken_whole():
    assert of_the_week(IDS[:3], 8, 7) == frozenset(IDS[:3])


def test_weeks_begin_on_monday_and_go_on_over_the_year():
    sunday, monday = dt.date(2027, 1, 3), dt.date(2027, 1, 4)
    assert week_number(monday) == week_number(sunday) + 1
    assert week_number(dt.date(2026, 12, 31)) == week_number(sunday)


def test_machine_code_alone_is_asked_for():
    assert gencode("sm_90a")[-1] == "arch=compute_90a,code=sm_90a"
