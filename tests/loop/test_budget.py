"""Slots shared out by score: caps, worth, one-change mode; laws by hypothesis."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.loop.budget import share_slots
from kbs_engine.recommendations import Recommendation


def row(method: str, axis: str, score: float, gain: float) -> Recommendation:
    return Recommendation(
        method=method, title=method, axis=axis, score=score, gain=gain, chance=0.5, fit=1.0,
        fit_parts={}, predicted_gain=(0.0, gain), addresses=(), status="cited", citations=(),
    )  # fmt: skip


def test_uncoalesced_kernel_gets_memory_slots_first():
    usable = [
        row("coalesced_access", "memory", 0.4, 0.6),
        row("vectorized_access", "memory", 0.3, 0.4),
        row("more_ilp", "latency", 0.1, 0.2),
        row("fast_math_intrinsics", "compute", 0.01, 0.02),
    ]
    budget = share_slots(usable)
    assert budget.by_axis == {"memory": 2, "compute": 0, "latency": 1}
    assert budget.unused == 0


def test_axis_that_returns_under_a_tenth_gets_nothing_and_slots_stay_unused():
    usable = [row("a", "memory", 0.4, 0.6), row("b", "compute", 0.3, 0.05)]
    budget = share_slots(usable)
    assert budget.by_axis == {"memory": 1, "compute": 0, "latency": 0}
    assert budget.unused == 2
    assert "under 0.10" in next(axis.why for axis in budget.axes if axis.axis == "compute")


def test_a_tenth_counts_for_the_best_methods_together():
    usable = [row("a", "latency", 0.05, 0.06), row("b", "latency", 0.04, 0.06)]
    assert share_slots(usable).of("latency") == 2


def test_the_gap_bounds_what_an_axis_returns():
    usable = [row("a", "memory", 0.4, 0.6)]
    assert share_slots(usable, bound=0.05).of("memory") == 0


def test_one_change_mode():
    usable = [row("a", "memory", 0.4, 0.6), row("b", "latency", 0.5, 0.6)]
    budget = share_slots(usable, slots=1)
    assert budget.by_axis == {"memory": 0, "compute": 0, "latency": 1}


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["memory", "compute", "latency"]),
        st.floats(0.0, 1.0),
        st.floats(0.0, 1.0),
    ),
    max_size=12,
)


@given(ROWS, st.integers(1, 6), st.integers(1, 3))
def test_never_more_than_there_is(rows, slots, cap):
    usable = [row(f"m{i}", axis, score, gain) for i, (axis, score, gain) in enumerate(rows)]
    budget = share_slots(usable, slots=slots, cap=cap)
    assert sum(budget.by_axis.values()) <= slots
    assert all(given_ <= min(cap, slots) for given_ in budget.by_axis.values())
    for axis in budget.axes:
        assert axis.slots == 0 or axis.recoverable >= 0.10
        assert axis.slots <= sum(one.axis == axis.axis for one in usable)


@given(ROWS)
def test_order_of_the_methods_does_not_matter(rows):
    usable = [row(f"m{i}", axis, score, gain) for i, (axis, score, gain) in enumerate(rows)]
    assert share_slots(usable) == share_slots(list(reversed(usable)))


def test_a_gap_that_nothing_explains_is_asked_by_the_best_method_of_each_axis():
    usable = [
        row("a", "memory", 0.03, gain=0.04), row("b", "memory", 0.02, gain=0.04),
        row("c", "latency", 0.01, gain=0.02), row("d", "compute", 0.0, gain=0.0),
    ]  # fmt: skip
    budget = share_slots(usable, bound=0.38)
    assert budget.by_axis == {"memory": 1, "latency": 1, "compute": 0}
    memory = next(axis for axis in budget.axes if axis.axis == "memory")
    assert "nothing explains the gap of 0.38" in memory.why
    assert share_slots(usable, bound=0.38, slots=1).by_axis["memory"] == 1
    assert sum(share_slots(usable, bound=0.38, slots=1).by_axis.values()) == 1
    for bound in (0.08, None):  # near its roof, or nobody knows how far it is
        assert sum(share_slots(usable, bound=bound).by_axis.values()) == 0


def test_an_axis_that_is_worth_a_slot_leaves_none_to_questions():
    usable = [row("a", "memory", 0.3, gain=0.4), row("c", "latency", 0.01, gain=0.02)]
    assert share_slots(usable, bound=0.5).by_axis["latency"] == 0
