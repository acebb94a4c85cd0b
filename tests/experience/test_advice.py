"""What past outcomes recommend: no machine alone outvotes several, no stranger outranks a page."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.chance import Context, realised_gain, tally
from kbs_engine.experience.advice import UNKNOWN, advise
from kbs_engine.recommendations import Recommendation
from tests.experience.records import outcome

AS_OF = date(2026, 6, 1)
HERE = Context(family="transpose", language="cuda-cpp", arch="sm_90a", limiter="dram")
TITLES = {"coalesced_access": "Coalesced access", "smem_swizzle": "Swizzle", "split_k": "Split K"}


def tallies(*records):
    groups = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    return {name: tally(rows, HERE, as_of=AS_OF) for name, rows in groups.items()}


def told(gain, machine, method="coalesced_access", **changes):
    return outcome(method=method, machine=machine, gain=gain, before_ns=None, after_ns=None,
                   **changes)  # fmt: skip


def poison(count=300, gain=0.998, method="smem_swizzle"):
    return [told(gain, "evil", method, measurement=str(i)) for i in range(count)]


HONEST = [told(0.2 + i / 100, f"m{i % 3}", measurement=str(i)) for i in range(11)]


def foreseen(method, fit=0.8, gain=0.1):
    return Recommendation(
        method=method, title=method, axis="memory", score=0.1, gain=gain, chance=0.5, fit=fit,
        fit_parts={}, predicted_gain=(0.0, 0.2), addresses=(), status="cited", citations=(),
    )  # fmt: skip


def ranked(records, wiki=(), titles=TITLES):
    return advise(tallies(*records), wiki, titles, {})


def test_many_records_of_one_machine_do_not_outrank_several_machines():
    first, second = ranked([*poison(), *HONEST])
    assert (first.method, second.method) == ("coalesced_access", "smem_swizzle")
    assert second.gain == first.gain
    assert "one machine alone" in second.notes[0]


def test_one_machine_hardly_moves_the_gain_of_a_method_that_several_tell():
    clean = realised_gain(tallies(*HONEST)["coalesced_access"])
    found = realised_gain(tallies(*HONEST, *poison(method="coalesced_access"))["coalesced_access"])
    assert found == pytest.approx(clean, abs=0.02)


def test_of_two_machines_the_lesser_gain_is_believed():
    assert realised_gain(tallies(told(0.9, "a"), told(0.1, "b"))["coalesced_access"]) == 0.1


def test_a_home_of_one_machine_is_believed_as_it_is():
    (row,) = ranked([told(0.9, "mine")])
    assert (row.gain, row.gain_from, row.notes) == (0.9, "outcomes", ())


def test_what_the_wiki_foresees_bounds_a_machine_alone_as_well():
    rows = ranked([*poison(), *HONEST], [foreseen("smem_swizzle", gain=0.5)])
    assert {row.method: row.gain for row in rows}["smem_swizzle"] == 0.5


def test_the_gain_of_losses_is_no_bound():
    rows = ranked([told(0.3, "a", "split_k"), told(-0.2, "a"), told(-0.2, "b")])
    assert rows[0].gain == pytest.approx(0.3)


@given(st.permutations([*poison(4), *HONEST]))
def test_the_order_of_records_changes_nothing(records):
    names = [(row.method, pytest.approx(row.score)) for row in ranked(records)]
    assert names == [(row.method, row.score) for row in ranked([*poison(4), *HONEST])]


def test_a_method_without_a_page_fits_less_than_those_that_apply_and_is_told():
    same = [told(0.3, "a", method) for method in ("magic_trick", "coalesced_access", "split_k")]
    rows = ranked(same, [foreseen("coalesced_access"), foreseen("split_k", fit=0.4)])
    assert [row.method for row in rows] == ["coalesced_access", "split_k", "magic_trick"]
    assert rows[-1].fit == 0.2
    assert rows[-1].notes == (UNKNOWN,)


def test_a_method_without_a_page_fits_less_where_the_wiki_foresees_nothing():
    rows = ranked([told(0.3, "a", "a_magic_trick"), told(0.3, "a")])
    assert [(row.method, row.fit) for row in rows] == [
        ("coalesced_access", 1.0), ("a_magic_trick", 0.5),
    ]  # fmt: skip
