"""The split of a speed difference: exact, antisymmetric, and sensible on a real report."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.difference import compare, log_mean, opcode_changes
from kbs_engine.errors import UsageError
from kbs_engine.execution import as_one_call, execution_of
from kbs_engine.profiles import Profile

REASONS = ("long_scoreboard", "short_scoreboard", "barrier", "drain", "wait", "selected")
OPCODES = ("FFMA", "LDG", "STG", "HMMA", "BAR")


def synthetic(draw_values):
    """Counters that obey the identity of difference.py exactly."""
    clock, units, share, warps, executed, again, stalls, opcodes, traffic = draw_values
    stalls = dict(zip(REASONS, stalls, strict=True))
    latency = sum(stalls.values())
    issued = executed * again
    elapsed = issued * latency / (share * units * 4 * warps)
    total = sum(opcodes) or 1.0
    return {
        "duration_ns": elapsed / clock * 1e9,
        "sm_clock_hz": clock,
        "sm_count": units,
        "cycles_elapsed": elapsed,
        "sm_active_cycles_avg": elapsed * share,
        "active_warps": warps,
        "warp_cycles_per_issue": latency,
        "issue_active_pct": 100 * warps / latency,
        "inst_executed": executed,
        "inst_issued": issued,
        "dram_pct": 70.0,
        "dram_read_bytes": traffic,
        "dram_write_bytes": 0.0,
        **{f"stall_{name}": value for name, value in stalls.items()},
        **{
            f"opcode_{name}": executed * n / total for name, n in zip(OPCODES, opcodes, strict=True)
        },
    }


positive = st.floats(1e-3, 1e3)
counters = st.tuples(
    st.floats(2e8, 3e9),
    st.integers(1, 200).map(float),
    st.floats(0.01, 1.0),
    st.floats(0.1, 16.0),
    st.floats(1e3, 1e12),
    st.floats(1.0, 1.5),
    st.tuples(*[st.one_of(st.just(0.0), positive)] * (len(REASONS) - 1), positive),
    st.tuples(*[st.one_of(st.just(0.0), positive)] * (len(OPCODES) - 1), positive),
    st.floats(1.0, 1e13),
).map(synthetic)


def side(metrics, launch=0, name="k"):
    return execution_of(Profile(name=name, launch=launch, metrics=metrics))


def logs(row):
    return {term.id: term.log for term in row.terms}


@settings(max_examples=200)
@given(counters, counters)
def test_the_identity_leaves_nothing_unexplained_when_the_counters_agree(a, b):
    row = compare(side(a), side(b))
    assert row.unexplained.log == pytest.approx(0.0, abs=1e-6)
    total = sum(term.log for term in row.terms) + row.unexplained.log
    assert total == pytest.approx(math.log(a["duration_ns"] / b["duration_ns"]), abs=1e-9)
    assert row.speed_ratio == pytest.approx(math.exp(row.log_ratio))


@settings(max_examples=200)
@given(counters, counters)
def test_swapping_the_sides_negates_every_term_and_part(a, b):
    there, back = compare(side(a), side(b)), compare(side(b), side(a))
    reverse = {term.id: term for term in back.terms}
    assert there.unexplained.log == pytest.approx(-back.unexplained.log, abs=1e-9)
    for term in there.terms:
        assert term.log == pytest.approx(-reverse[term.id].log, abs=1e-9)
        parts = {part.id: part.log for part in reverse[term.id].parts}
        for part in term.parts:
            if part.id != "all others" and part.id in parts:
                assert part.log == pytest.approx(-parts[part.id], abs=1e-9)


@settings(max_examples=200)
@given(counters)
def test_a_launch_against_itself_is_all_zeros(a):
    row = compare(side(a), side(a))
    assert row.speed_ratio == 1.0
    for term in (*row.terms, row.unexplained):
        assert term.log == pytest.approx(0.0, abs=1e-12)
        assert all(part.log == pytest.approx(0.0, abs=1e-12) for part in term.parts)
    assert row.opcodes == ()


@settings(max_examples=200)
@given(counters, counters)
def test_the_parts_of_a_term_add_up_to_it(a, b):
    for term in compare(side(a), side(b)).terms:
        if term.parts:
            assert sum(part.log for part in term.parts) == pytest.approx(term.log, abs=1e-9)


@settings(max_examples=100)
@given(counters, counters, counters)
def test_summed_launches_still_obey_the_identity(a, b, c):
    call = as_one_call([Profile(name="k", launch=n, metrics=m) for n, m in enumerate((a, b))])
    row = compare(call, side(c))
    total = sum(term.log for term in row.terms) + row.unexplained.log
    assert total == pytest.approx(row.log_ratio, abs=1e-9)
    assert call.time_ns == pytest.approx(a["duration_ns"] + b["duration_ns"])
    assert call.executed == pytest.approx(a["inst_executed"] + b["inst_executed"])
    assert row.unexplained.log == pytest.approx(0.0, abs=1e-6)


BASE = synthetic(
    (1.5e9, 100.0, 0.9, 8.0, 1e8, 1.0, (20.0, 2.0, 1.0, 0.0, 2.0, 1.0), (5, 2, 1, 0, 1), 1e9)
)


def changed(**values):
    return {**BASE, **values}


def test_half_the_bytes_at_the_same_wait_per_byte_is_traffic_alone():
    a = dict(BASE)
    b = changed(
        dram_read_bytes=0.5e9,
        stall_long_scoreboard=10.0,
        warp_cycles_per_issue=16.0,
        cycles_elapsed=BASE["cycles_elapsed"] * 16 / 26,
        sm_active_cycles_avg=BASE["sm_active_cycles_avg"] * 16 / 26,
        duration_ns=BASE["duration_ns"] * 16 / 26,
    )
    found = logs(compare(side(a), side(b)))
    assert found["traffic"] == pytest.approx(math.log(26 / 16), abs=1e-9)
    assert found["stalls"] == pytest.approx(0.0, abs=1e-9)
    assert found["instructions"] == pytest.approx(0.0, abs=1e-9)


def test_a_higher_clock_alone_is_the_clock_term():
    b = changed(sm_clock_hz=1.8e9, duration_ns=BASE["duration_ns"] * 1.5 / 1.8)
    row = compare(side(BASE), side(b))
    assert logs(row)["clock"] == pytest.approx(math.log(1.2))
    assert sum(abs(term.log) for term in row.terms) == pytest.approx(math.log(1.2))


def test_a_report_of_times_alone_leaves_everything_unexplained_and_names_sections():
    row = compare(side({"duration_ns": 200.0}), side({"duration_ns": 100.0}))
    assert row.terms == ()
    assert row.unexplained.log == pytest.approx(math.log(2))
    assert {"SpeedOfLight", "WarpStateStats", "InstructionStats"} <= set(row.missing)
    assert any("unexplained" in note for note in row.notes)


def test_without_stall_reasons_the_issue_rate_stands_in():
    names = ("warp_cycles_per_issue", "active_warps")
    a = {k: v for k, v in BASE.items() if k not in names and not k.startswith("stall_")}
    b = {**a, "issue_active_pct": a["issue_active_pct"] * 2, "duration_ns": a["duration_ns"] / 2,
         "cycles_elapsed": a["cycles_elapsed"] / 2,
         "sm_active_cycles_avg": a["sm_active_cycles_avg"] / 2}  # fmt: skip
    row = compare(side(a), side(b))
    assert logs(row)["issue_rate"] == pytest.approx(math.log(2))
    assert row.unexplained.log == pytest.approx(0.0, abs=1e-9)
    assert "WarpStateStats" in row.missing


def test_uncounted_traffic_is_told_and_never_zero():
    bare = {k: v for k, v in BASE.items() if not k.startswith("dram_read")}
    row = compare(side(bare), side(BASE))
    assert "traffic" not in logs(row)
    assert any("not counted" in note for note in row.notes)


def test_a_launch_without_time_is_refused():
    with pytest.raises(UsageError, match="no duration"):
        side({"sm_clock_hz": 1e9})


def test_opcodes_that_came_and_went():
    rows = opcode_changes(
        {"A": 100.0, "B": 50.0, "C": 10.0, "D": 5.0}, {"B": 80.0, "C": 10.0, "E": 7.0}
    )
    assert {(row.opcode, row.change) for row in rows} == {
        ("A", "vanished"), ("B", "grew"), ("D", "vanished"), ("E", "appeared"),
    }  # fmt: skip
    assert opcode_changes({}, {"A": 1.0}) == ()


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_the_logarithmic_mean_lies_between_and_is_symmetric(x, y):
    mean = log_mean(x, y)
    assert mean == pytest.approx(log_mean(y, x), rel=1e-6)
    assert min(x, y) * (1 - 1e-6) <= mean <= max(x, y) * (1 + 1e-6)
    assert log_mean(0.0, y) == 0.0


def test_a_variant_of_an_opcode_is_not_counted_beside_it():
    metrics = {
        "duration_ns": 1.0, "opcode_MUFU": 5.0, "opcode_MUFU_RCP": 3.0, "opcode_UCGABAR_ARV": 2.0,
        "opcode_total": 7.0,
    }  # fmt: skip
    assert side(metrics).opcodes == {"MUFU": 5.0, "UCGABAR_ARV": 2.0}
