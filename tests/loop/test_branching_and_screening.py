"""Which variants are tried, and which the compiler's word alone drops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.loop.branching import Space, assignments
from kbs_engine.loop.screening import Branch, screen
from kbs_engine.results import Compiled, CompileMessage, KernelResources

BLOCK = Space(name="BLOCK", current=128, values=(32, 64, 128, 256))
WARPS = Space(name="warps", current=4, values=(2, 4, 8))


def test_walk_begins_where_the_source_stands_then_seeds_then_neighbours():
    walk = list(assignments([BLOCK, WARPS], seeds=[{"BLOCK": 32, "other": 1}]))
    assert walk[0] == {"BLOCK": 128, "warps": 4}
    assert walk[1] == {"BLOCK": 32, "warps": 4}
    assert walk[2] == {"BLOCK": 256, "warps": 4}
    assert walk[3] == {"BLOCK": 128, "warps": 8}
    assert len(walk) == 12


def test_seeds_outside_the_values_are_left_out():
    walk = list(assignments([BLOCK], seeds=[{"BLOCK": 999}]))
    assert [row["BLOCK"] for row in walk] == [128, 256, 64, 32]


def test_what_was_tried_is_not_tried_again():
    walk = list(assignments([BLOCK], tried=[{"BLOCK": 128}, {"BLOCK": 256}]))
    assert [row["BLOCK"] for row in walk] == [64, 32]


def test_a_source_without_tunables_is_one_branch():
    assert list(assignments([])) == [{}]


def test_true_and_one_are_not_the_same_value():
    walk = list(assignments([Space(name="A", current=True, values=(True, False, 1))]))
    assert [row["A"] for row in walk] == [True, False, 1]


SPACES = st.lists(
    st.tuples(st.sets(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 3)), max_size=3
)


@given(SPACES)
def test_every_assignment_comes_once_and_is_allowed(rows):
    spaces = [
        Space(name=f"t{i}", current=sorted(values)[at % len(values)], values=tuple(sorted(values)))
        for i, (values, at) in enumerate(rows)
    ]
    walk = list(assignments(spaces))
    keys = [tuple(sorted(row.items())) for row in walk]
    assert len(keys) == len(set(keys))
    assert all(row[space.name] in space.values for row in walk for space in spaces)
    assert walk == list(assignments(spaces))


def compiled(artifact: str = "", *, spill: int = 0, ok: bool = True) -> Compiled:
    message = CompileMessage(severity="error", message="no such name", line=7)
    return Compiled(
        ok=ok, arch="sm_90a", compiler="nvcc", artifact_sha256=artifact,
        messages=() if ok else (message,),
        resources=(
            KernelResources(kernel="k", registers=64, spill_store_bytes=spill, shared_bytes=1024),
        ),
    )  # fmt: skip


def test_what_does_not_compile_goes_with_the_line():
    (row,) = screen([Branch(name="b0", compiled=compiled(ok=False))], chip=None, incumbent=None)
    assert not row.kept
    assert row.reason == "does not compile: line 7: no such name"


def test_the_same_machine_code_is_raced_once():
    rows = screen(
        [
            Branch(name="b0", compiled=compiled("one")),
            Branch(name="b1", compiled=compiled("one")),
            Branch(name="b2", compiled=compiled("two")),
        ],
        chip=None,
        incumbent=compiled("two"),
    )
    assert [row.kept for row in rows] == [True, False, False]
    assert "of b0" in rows[1].reason
    assert "the incumbent" in rows[2].reason


def test_spills_drop_a_branch_only_where_others_do_without():
    both = [
        Branch(name="b0", compiled=compiled("a", spill=64)),
        Branch(name="b1", compiled=compiled("b")),
    ]
    assert [row.kept for row in screen(both, chip=None, incumbent=compiled("c"))] == [False, True]
    assert screen(both[:1], chip=None, incumbent=compiled("c"))[0].kept
    assert screen(both, chip=None, incumbent=compiled("c", spill=8))[0].kept


def test_what_is_not_compiled_here_is_kept():
    (row,) = screen([Branch(name="b0", compiled=None)], chip=None, incumbent=None)
    assert row.kept
    assert row.notes
