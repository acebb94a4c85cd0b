"""Which assignments a search tries next: laws of ``propose_variants``, and that it finds."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_backends.search import ENUMERATED, Space, Trial, propose_variants
from kbs_engine.loop.branching import key_of

BLOCK = Space(name="BLOCK", current=128, values=(32, 64, 128, 256))
WARPS = Space(name="warps", current=4, values=(1, 2, 4, 8))
LARGE = [
    *(Space(name=f"T{i}", current=32, values=(16, 32, 64, 128, 256)) for i in range(4)),
    Space(name="KIND", current="a", values=("a", "b", "c")),
]


def space_of(index: int, values: set[int], at: int) -> Space:
    ordered = tuple(sorted(values))
    return Space(name=f"t{index}", current=ordered[at % len(ordered)], values=ordered)


SPACES = st.lists(
    st.tuples(st.sets(st.integers(0, 9), min_size=1, max_size=5), st.integers(0, 4)),
    min_size=1, max_size=4,
).map(lambda rows: [space_of(i, values, at) for i, (values, at) in enumerate(rows)])  # fmt: skip


@st.composite
def searches(draw):
    spaces = draw(SPACES)
    picked = st.fixed_dictionaries({s.name: st.sampled_from(s.values) for s in spaces})
    times = st.one_of(st.none(), st.floats(1.0, 1e6))
    seen = draw(st.lists(st.builds(Trial, assignment=picked, time_ns=times), max_size=6))
    odd = st.fixed_dictionaries({"t0": st.integers(-5, 12), "unknown": st.just(1)})
    seeds = draw(st.lists(st.one_of(picked, odd), max_size=3))
    return spaces, seen, seeds, draw(st.integers(0, 8)), draw(st.integers(0, 3))


@given(searches())
@settings(max_examples=40, deadline=None)
def test_proposals_are_valid_fresh_distinct_and_the_same_every_time(search):
    spaces, seen, seeds, k, seed = search
    current = {space.name: space.current for space in spaces}
    rows = propose_variants(spaces, seen, seeds, k, seed=seed)
    keys = [key_of(row, current) for row in rows]
    assert len(rows) <= k
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {key_of(row.assignment, current) for row in seen}
    for row in rows:
        assert set(row) == set(current)
        assert all(row[space.name] in space.values for space in spaces)
    assert rows == propose_variants(spaces, seen, seeds, k, seed=seed)


@given(searches())
@settings(max_examples=40, deadline=None)
def test_a_small_space_is_used_up_and_then_ends(search):
    spaces, seen, seeds, _, seed = search
    size = prod(len(space.values) for space in spaces)
    if size > ENUMERATED:
        return
    current = {space.name: space.current for space in spaces}
    left = size - len({key_of(row.assignment, current) for row in seen})
    assert len(propose_variants(spaces, seen, seeds, size + 5, seed=seed)) == left


def test_seeds_come_right_after_the_present_assignment():
    rows = propose_variants([BLOCK, WARPS], [], [{"BLOCK": 32, "warps": 8}], 3)
    assert rows[:2] == ({"BLOCK": 128, "warps": 4}, {"BLOCK": 32, "warps": 8})
    now = Trial(assignment={"BLOCK": 128, "warps": 4}, time_ns=10.0)
    assert propose_variants([BLOCK, WARPS], [now], [{"BLOCK": 32}], 1) == (
        {"BLOCK": 32, "warps": 4},
    )


def test_after_a_race_the_neighbours_of_the_fastest_come_first():
    seen = [
        Trial(assignment={"BLOCK": 128, "warps": 4}, time_ns=10.0),
        Trial(assignment={"BLOCK": 32, "warps": 8}, time_ns=5.0),
        Trial(assignment={"BLOCK": 256, "warps": 8}),
    ]
    rows = propose_variants([BLOCK, WARPS], seen, [], 2)
    assert rows == ({"BLOCK": 64, "warps": 8}, {"BLOCK": 32, "warps": 4})


def landscape(row: dict) -> float:
    """A made-up time with one valley, away from where the search begins; T2 and T3 interact."""
    order = (16, 32, 64, 128, 256)
    at = [order.index(row[f"T{i}"]) for i in range(4)]
    away = (at[0] - 3) ** 2 + (at[1] - 2) ** 2 + (at[2] - at[3]) ** 2 + (at[2] - 4) ** 2
    return 10.0 + away + {"a": 3, "b": 0, "c": 6}[row["KIND"]]


@pytest.mark.parametrize("wrong", [False, True])
def test_a_large_space_is_searched_with_what_was_measured(wrong):
    best = min(landscape(dict(zip((s.name for s in LARGE), values, strict=True)))
               for values in product(*(s.values for s in LARGE)))  # fmt: skip
    seen: list[Trial] = []
    for _ in range(16):
        for row in propose_variants(LARGE, seen, [], 4):
            fails = wrong and row["T0"] == 256
            seen.append(Trial(assignment=row, time_ns=None if fails else landscape(row)))
    found = min(row.time_ns for row in seen if row.time_ns is not None)
    assert len(seen) == 64
    assert found <= best + 2


def test_what_is_to_be_skipped_is_never_proposed():
    skip = [{"BLOCK": 256}, {"BLOCK": 128, "warps": 8}]
    rows = propose_variants([BLOCK, WARPS], [], [{"BLOCK": 256}], 16, skip=skip)
    assert len(rows) == 14
    assert {"BLOCK": 256, "warps": 4} not in rows
    assert {"BLOCK": 128, "warps": 8} not in rows


def test_a_value_that_is_no_longer_allowed_misleads_nobody():
    seen = [Trial(assignment={f"T{i}": 999 for i in range(4)} | {"KIND": "a"}, time_ns=1.0)]
    seen += [Trial(assignment={"T0": v}, time_ns=float(v)) for v in (16, 64, 128, 256)]
    rows = propose_variants(LARGE, seen, [], 6)
    assert len(rows) == 6
    assert all(row["T0"] in LARGE[0].values for row in rows)
