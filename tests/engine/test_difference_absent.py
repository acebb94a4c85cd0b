"""Comparisons of launches of which not the same was collected: absent is never zero."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from kbs.render.difference import show_difference
from kbs_engine.difference import compare
from kbs_engine.execution import as_one_call, execution_of
from kbs_engine.profiles import Profile
from kbs_engine.traffic import level_amount
from tests.engine.test_difference import BASE, changed, counters, logs, side

STALLED = {name: value for name, value in BASE.items() if name.startswith("stall_")}
COUNTED = (*STALLED, "inst_issued", "inst_executed", "dram_read_bytes", "opcode_FFMA")


def numbers(row):
    """Every value that is told of a side, by term and part."""
    for term in row.terms:
        yield from ((term.id, "", term.first), (term.id, "", term.second))
        for part in term.parts:
            yield from ((term.id, part.id, part.first), (term.id, part.id, part.second))


def test_stall_reasons_of_one_side_alone_are_not_zero_on_the_other():
    bare = {name: value for name, value in BASE.items() if name not in STALLED}
    row = compare(side(BASE), side(bare))
    assert all(term.log == pytest.approx(0.0, abs=1e-9) for term in row.terms)
    assert all(term.parts == () for term in row.terms if term.id == "stalls")
    assert "traffic" not in logs(row)  # no wait on memory is known on both sides
    assert any("collected on both sides" in note for note in row.notes)
    assert "WarpStateStats" in row.missing


@given(counters, st.sets(st.sampled_from(sorted(COUNTED))), st.booleans())
def test_a_launch_against_itself_with_less_collected_has_no_reasons(a, gone, swapped):
    """Whatever is not collected on one side: nothing is credited, nothing is told as zero."""
    less = {name: value for name, value in a.items() if name not in gone}
    pair = (side(less), side(a)) if swapped else (side(a), side(less))
    row = compare(*pair)
    assert row.unexplained.log == pytest.approx(0.0, abs=1e-6)
    for term in row.terms:
        assert term.log == pytest.approx(0.0, abs=1e-6)
        if term.id == "stalls" or not gone & {"opcode_FFMA"}:
            assert all(part.log == pytest.approx(0.0, abs=1e-6) for part in term.parts)
    told = {part for _, part, _ in numbers(row)}
    assert told.isdisjoint(name.removeprefix("stall_") for name in gone)


def test_a_reason_that_one_launch_of_a_call_lacks_is_not_known_of_the_call():
    less = {name: value for name, value in BASE.items() if name != "stall_drain"}
    call = as_one_call([Profile(name="k", launch=n, metrics=m) for n, m in enumerate((BASE, less))])
    assert "drain" not in call.stalls
    assert call.stalls["barrier"] > 0


def test_a_reason_that_was_measured_as_zero_counts_whole_as_wait():
    b = changed(stall_drain=4.0, warp_cycles_per_issue=BASE["warp_cycles_per_issue"] + 4.0)
    (stalls,) = [term for term in compare(side(BASE), side(b)).terms if term.id == "stalls"]
    (drain,) = [part for part in stalls.parts if part.id == "drain"]
    assert drain.first == 0.0
    assert drain.log == pytest.approx(math.log(26 / 30), rel=0.01)


def on(chip, capability=None):
    return execution_of(
        Profile(name="k", launch=0, metrics=BASE, chip=chip, compute_capability=capability)
    )


TWO = "two different chips"
UNNAMED = "no one chip is named for "


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (on("H100", "9.0"), on("H100", "9.0"), None),
        (on("H100", "9.0"), on("A100", "8.0"), TWO),
        (on("H100", "9.0"), on("H200", "9.0"), TWO),
        (on("H100", "9.0"), on(None, "9.0"), UNNAMED + "B:"),
        (on(None), on("H100", "9.0"), UNNAMED + "A:"),
        (on(None), on(None), UNNAMED + "A and B:"),
        (on("H100", "9.0"), on(None, "8.0"), TWO),
        (on(None, "9.0"), on(None, "8.0"), TWO),
    ],
)
def test_an_unknown_chip_is_neither_the_same_nor_another(a, b, told):
    notes = [note for note in compare(a, b).notes if "chip" in note]
    assert len(notes) == (1 if told else 0)
    assert not told or notes[0].startswith(told)


def test_doubts_of_the_reader_are_told():
    a = Profile(name="k", launch=0, metrics=BASE, flags=("cut off", "a summary"))
    b = Profile(name="k", launch=0, metrics=BASE, flags=("a summary",))
    assert compare(execution_of(a), execution_of(b)).notes[:2] == ("a summary", "A: cut off")


@pytest.mark.parametrize("gone", ["local_load_bytes", "local_store_bytes", "tma_load_bytes"])
def test_l1_traffic_is_not_known_where_a_part_of_it_was_not_counted(gone):
    whole = {
        "global_load_sectors": 10.0, "global_store_sectors": 10.0, "local_load_bytes": 32.0,
        "local_store_bytes": 32.0, "tma_load_bytes": 64.0, "tma_load_instructions": 1.0,
    }  # fmt: skip
    assert level_amount(whole, "l1") == 20 * 32 + 128
    assert level_amount({k: v for k, v in whole.items() if k != gone}, "l1") is None
    without = {k: v for k, v in whole.items() if not k.startswith("tma_")}
    assert level_amount(without, "l1") == 20 * 32 + 64


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ((100.0, 100.0), "A and B take the same time"),
        ((100.0, 100.0999), "the same time to three digits (B is 1.001 times as slow)"),
        ((100.0999, 100.0), "the same time to three digits (B is 1.001 times as fast)"),
        ((102.0, 100.0), "B is 1.02 times as fast as A"),
        ((100.0, 102.0), "B is 1.02 times as slow as A"),
    ],
)
def test_the_verdict_never_says_one_time_as_slow(times, told):
    row = compare(*(side({"duration_ns": time}) for time in times))
    out = io.StringIO()
    show_difference(Console(file=out, width=200), row, verbose=False)
    assert told in out.getvalue()
    assert "is 1 times" not in out.getvalue()
