"""The limiter, canonical metrics, units and messages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.limiter import BUSY_PCT, UNITS, find_limiter
from kbs_engine.message import fill, template_fields
from kbs_engine.metrics import (
    SHARE_LIMIT_PCT,
    MetricMap,
    MetricRule,
    canonical,
    drop_no_durations,
    impossible,
)
from kbs_engine.ports import Rows
from kbs_engine.profiles import Profile
from kbs_engine.rows import Call
from kbs_engine.units import QUANTITY, SPEC_UNITS, human_bytes, human_ns, human_rate, to_base


@pytest.mark.parametrize(
    ("metrics", "limiter"),
    [
        ({}, "unknown"),
        ({"dram_pct": 92.0, "l2_pct": 60.0}, "dram"),
        ({"dram_pct": 81.4, "l2_pct": 82.9}, "dram"),  # L2 only passes DRAM traffic on
        ({"dram_pct": 40.0, "l2_pct": 82.9}, "l2"),
        ({"l1_pct": 98.0, "fma_pct": 30.0, "dram_pct": 0.5}, "l1"),
        ({"tensor_pct": 90.0, "l1_pct": 73.0}, "tensor"),
        ({"fma_pct": 91.0, "issue_active_pct": 95.0}, "fma"),
        ({"dram_pct": 59.0, "tensor_pct": 20.0}, "latency"),
        ({"dram_pct": 50.0}, "unknown"),  # nobody looked at arithmetic
        ({"l1_pct": 73.0, "dram_pct": 30.0, "compute_pct": 90.0}, "mixed"),  # the pipe is hidden
        ({"memory_pct": 80.0, "compute_pct": 30.0}, "mixed"),
        ({"memory_pct": 30.0, "compute_pct": 30.0}, "latency"),
    ],
)
def test_limiter(metrics, limiter):
    assert find_limiter(metrics).limiter == limiter


@given(st.dictionaries(st.sampled_from([name for name, _ in UNITS]), st.floats(0, 200)))
def test_the_limiter_is_among_the_busiest(metrics):
    found = find_limiter(metrics)
    if not metrics:
        assert found.limiter == "unknown"
        return
    top = max(metrics.values())
    if top > SHARE_LIMIT_PCT:
        assert (found.limiter, found.share) == ("unknown", None)
    elif top < BUSY_PCT:
        arithmetic = {"tensor_pct", "fma_pct", "issue_active_pct"}
        sides = "dram_pct" in metrics and arithmetic & set(metrics)
        assert found.limiter == ("latency" if sides else "unknown")
    else:
        assert metrics[found.metric] >= top - 5
        assert found.share == min(metrics[found.metric] / 100, 1)


RULES = MetricMap(
    vendor="nvidia",
    metrics={
        "a_pct": MetricRule(unit="pct", description="", names=("new", "old")),
        "b_bytes": MetricRule(unit="bytes", description="", sum=(("x",), ("y", "y2"))),
        "c_pct": MetricRule(unit="pct", description="", max=("m1", "m2"), scale=100),
        "d": MetricRule(unit="ratio", description="", ratio=(("n",), ("d",))),
        "e": MetricRule(unit="count", description="", names=("hopper_only",), min_arch=90),
    },
)


def test_first_present_name_wins_and_absent_stays_absent():
    assert canonical(RULES, {"old": 3.0}) == {"a_pct": 3.0}
    assert canonical(RULES, {"old": 3.0, "new": 4.0}) == {"a_pct": 4.0}
    assert canonical(RULES, {}) == {}


def test_a_sum_needs_every_term_and_a_ratio_a_denominator():
    assert canonical(RULES, {"x": 1.0}) == {}
    assert canonical(RULES, {"x": 1.0, "y2": 2.0}) == {"b_bytes": 3.0}
    assert canonical(RULES, {"n": 6.0, "d": 0.0}) == {}
    assert canonical(RULES, {"n": 6.0, "d": 2.0}) == {"d": 3.0}
    assert canonical(RULES, {"m1": 0.25, "m2": 0.5}) == {"c_pct": 50.0}


def test_names_hold_only_on_the_architectures_where_they_mean_it():
    raw = {"hopper_only": 1.0}
    assert canonical(RULES, raw, arch=80) == {}
    assert canonical(RULES, raw, arch=90) == {"e": 1.0}


def test_impossible_values_are_flagged_and_kept():
    doubts = impossible(RULES, {"a_pct": 130.0, "b_bytes": -1.0, "c_pct": 104.0})
    assert len(doubts) == 2
    assert "a_pct" in doubts[0]


def test_every_unit_has_a_quantity():
    assert set(SPEC_UNITS) <= set(QUANTITY)


def test_units_agree_with_each_other():
    assert to_base(4.0, "TB/s") == to_base(4000.0, "GB/s")
    assert to_base(1, "KiB") == 1024
    assert human_bytes(134217728) == "134.2 MB"
    assert human_ns(41184) == "41.18 µs"
    assert human_rate(3.35e12, "B/s") == "3.35 TB/s"
    assert human_ns(999) == "999 ns"


ROWS = Rows(p={"dram_pct": 78.468}, c={}, w={"kernel": "gemm"}, h={"gap": None})


def test_templates_read_whole_names_and_nothing_else():
    assert fill("{p.dram_pct:.0f} % in {w.kernel}, {h.gap}", ROWS) == "78 % in gemm, n/a"
    assert template_fields("{p.dram_pct:.0f} {w.kernel}") == {"p.dram_pct", "w.kernel"}
    assert fill("{p.dram_pct.__class__}", ROWS) == "n/a"


@pytest.mark.parametrize("value", [-5e6, 0.0, math.nan, math.inf])
def test_what_is_no_duration_is_taken_as_not_measured(value):
    metrics = {"duration_ns": value, "dram_pct": 50.0}
    (note,) = drop_no_durations(metrics)
    assert "not measured" in note
    assert metrics == {"dram_pct": 50.0}
    assert drop_no_durations({"duration_ns": 1.0}) == ()


def test_sums_of_a_call_are_unknown_where_one_launch_has_no_time():
    timed = Profile(name="a", launch=0, metrics={"duration_ns": 1000.0})
    call = Call.of([timed, Profile(name="b", launch=1, metrics={})])
    assert (call.kernel_count, call.kernel_time_ns, call.short_kernel_count) == (2, None, None)
    assert Call.of([timed]).kernel_time_ns == 1000.0
