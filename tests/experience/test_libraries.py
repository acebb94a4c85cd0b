"""Baselines that judge others: machines are counted, and what a merge takes out is told."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.experience import Libraries, Mask, Unmask, entry_of, record_id
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.query import Reading
from tests.experience.records import entries, outcome
from tests.experience.test_merge_laws import _write

times = st.none() | st.sampled_from([1.0, 5.0, 100.0, 1e6])
claims = st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abcd"), times, times))


def judging(told):
    libraries = Libraries()
    for claim in told:
        libraries.add(*claim)
    return libraries.judging()


@given(claims, st.randoms())
def test_neither_order_nor_repetition_matters(told, random):
    again = [*told, *told[:2]]
    random.shuffle(again)
    assert judging(again) == judging(told)


@given(claims, st.sampled_from("xy"), times)
def test_no_machine_alone_makes_a_baseline_judge(told, task, library):
    """Whatever others reached, and by whatever name the one machine goes."""
    silent = [(where, machine, None, reached) for where, machine, _, reached in told]
    for machine in "ae":
        assert judging([*silent, (task, machine, library, None)]) == {}


@given(st.integers(0, 4), st.integers(0, 4))
def test_more_machines_must_state_a_baseline_than_reach_what_it_forbids(stating, reaching):
    told = [("x", f"s{n}", 100.0, None) for n in range(stating)]
    told += [("x", f"r{n}", None, 1.0) for n in range(reaching)]
    assert judging(told) == ({"x": 100.0} if stating > reaching > 0 else {})


def stated(machine, ns=1e9, **changes):
    fields = {"before_ns": ns / 5, "after_ns": ns / 5, "gain": 0.0, "verdict": "ineffective"}
    return outcome(baseline="torch", baseline_ns=ns, machine=machine, measurement=f"b {machine}",
                   **{**fields, **changes})  # fmt: skip


HONEST = [outcome(machine=f"h{n}", measurement=str(n)) for n in range(3)]


@pytest.mark.parametrize(
    "poison",
    [
        stated("evil"),
        stated("h0"),
        stated("evil", verdict="effective", before_ns=1e5, after_ns=5e4, gain=0.5),
        stated("evil", device="host"),
    ],
)
@pytest.mark.parametrize("merged", [(0, 1), (1, 0), (1, 0, 1)])
def test_a_poisoned_record_costs_no_other(tmp_path, poison, merged):
    files = [tmp_path / "honest.jsonl", tmp_path / "poison.jsonl"]
    _write(files[0], entries(*HONEST))
    _write(files[1], entries(poison))
    home = tmp_path / "home"
    for place in merged:
        merge(home, [files[place]], lore=Lore(), origin="me")
    states = {row.id: row.state for row in Reading(home, Lore()).rows()}
    assert [states[record_id(record)] for record in HONEST] == ["counts"] * len(HONEST)


LENDERS = [stated("a", 7e5), stated("b", 7e5)]
FAST = outcome(measurement="fast")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_what_a_merge_takes_out_is_told_in_every_order(tmp_path, order):
    """By the merge that takes it out, wherever the record stands; never twice for one merge."""
    records = [*LENDERS, FAST]
    home, told = tmp_path / "home", []
    for place in order:
        path = tmp_path / f"{place}.jsonl"
        _write(path, entries(records[place]))
        told += [(path, bad) for bad in merge(home, [path], lore=Lore(), origin="me").quarantined]
    ((path, bad),) = told
    assert path == tmp_path / f"{order[-1]}.jsonl"
    assert "11.7 times as fast" in bad.reason
    assert (bad.file == str(path)) == (order[-1] == 2)
    (row,) = [row for row in Reading(home, Lore()).rows() if row.state == "quarantined"]
    assert row.id == record_id(FAST)
    again = merge(home, [tmp_path / "2.jsonl"], lore=Lore(), origin="me")
    assert [bad.line for bad in again.quarantined] == [1]


def test_an_unmask_that_makes_a_baseline_judge_again_tells_what_it_takes_out(tmp_path):
    home, log, undo = tmp_path / "home", tmp_path / "log.jsonl", tmp_path / "undo.jsonl"
    mask = entry_of(Mask(targets=(record_id(LENDERS[0]),), reason="a test"), "me")
    _write(log, [*entries(*LENDERS, FAST), mask])
    assert merge(home, [log], lore=Lore(), origin="me").quarantined == ()
    _write(undo, entries(Unmask(masks=(mask.id,))))
    (bad,) = merge(home, [undo], lore=Lore(), origin="me").quarantined
    assert bad.file.startswith("experience/")
    assert {row.state for row in Reading(home, Lore()).rows()} == {"counts", "quarantined"}
