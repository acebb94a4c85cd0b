"""Plans keep their budget and never pass over a better method silently."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.facts import Citation
from kbs_engine.loop.planning import Planning, make_plan
from kbs_engine.methods import Method
from kbs_engine.recommendations import AntiStrategy, Recommendation


def row(method: str, axis: str, score: float, gain: float = 0.5) -> Recommendation:
    return Recommendation(
        method=method, title=f"Title of {method}", axis=axis, score=score, gain=gain, chance=0.5,
        fit=1.0, fit_parts={}, predicted_gain=(0.1, gain), addresses=(), status="cited",
        triggers=(f"{method} is asked for",), citations=(),
    )  # fmt: skip


def page(method: str, axis: str = "memory", **fields) -> Method:
    return Method(
        id=method, title=method, axis=axis, priority=1, languages=("triton",), addresses={},
        status="cited", citation=Citation(path="methods/x.md", line=1), **fields,
    )  # fmt: skip


def test_reasons_for_everything_better_that_is_skipped():
    ranked = (
        row("a", "memory", 0.5), row("b", "memory", 0.4), row("c", "memory", 0.3),
        row("d", "compute", 0.2), row("e", "latency", 0.1),
    )  # fmt: skip
    plan, budget = make_plan(Planning(ranked=ranked, excluded={"b": "no rewrite of it"}))
    assert [one.method for one in plan.methods] == ["a", "c", "d"]
    assert {one.method: one.reason for one in plan.skipped} == {"b": "no rewrite of it"}
    assert budget.by_axis["memory"] == 2


def test_methods_under_the_last_planned_one_need_no_reason():
    plan, _ = make_plan(Planning(ranked=(row("a", "memory", 0.5), row("z", "compute", 0.0, 0.01))))
    assert plan.skipped == ()


def test_conflicting_methods_do_not_meet():
    ranked = (row("a", "memory", 0.5), row("b", "memory", 0.4), row("c", "memory", 0.3))
    pages = {"a": page("a", conflicts=("b",))}
    plan, _ = make_plan(Planning(ranked=ranked, methods=pages))
    assert [one.method for one in plan.methods] == ["a", "c"]
    assert plan.skipped[0].reason == "conflicts with a, which ranks higher"


def test_a_conflict_counts_whichever_page_states_it():
    ranked = (row("a", "memory", 0.5), row("b", "compute", 0.4))
    plan, _ = make_plan(Planning(ranked=ranked, methods={"b": page("b", conflicts=("a",))}))
    assert [one.method for one in plan.methods] == ["a"]


def test_hypothesis_of_a_method():
    asked = Planning(
        ranked=(row("a", "memory", 0.5),),
        methods={"a": page("a", moves={"dram_pct": "up"})},
        warnings=(AntiStrategy(method="a", id="w", because="it spills", citation="x"),),
    )
    plan, _ = make_plan(asked)
    (one,) = plan.methods
    assert one.evidence == "a is asked for"
    assert one.change == "Title of a"
    assert one.expected["dram_pct"] == "up"
    assert one.risk == "it spills"
    assert "95 % interval" in one.decision_rule


def test_counter_free_plans_claim_no_metric():
    asked = Planning(
        ranked=(row("a", "memory", 0.5),),
        methods={"a": page("a", moves={"dram_pct": "up"})},
        counters=False,
    )
    plan, _ = make_plan(asked)
    assert set(plan.methods[0].expected) == {"time"}


def test_an_empty_plan_says_why_of_every_method():
    ranked = (row("a", "memory", 0.5), row("b", "compute", 0.4, 0.01))
    plan, _ = make_plan(Planning(ranked=ranked, excluded={"a": "tried in v1: harmful"}))
    assert plan.methods == ()
    assert [one.method for one in plan.skipped] == ["a", "b"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["memory", "compute", "latency"]), st.floats(0.0, 1.0)),
        max_size=10,
    ),
    st.sets(st.integers(0, 9)),
    st.integers(1, 4),
)
def test_nothing_better_is_skipped_in_silence(rows, out, slots):
    ranked = [row(f"m{i}", axis, gain / 2, gain) for i, (axis, gain) in enumerate(rows)]
    ranked.sort(key=lambda one: (-one.score, one.method))
    excluded = {f"m{i}": "excluded" for i in out}
    plan, budget = make_plan(Planning(ranked=tuple(ranked), excluded=excluded, slots=slots))
    chosen = [one.method for one in plan.methods]
    assert len(chosen) <= slots
    assert not set(chosen) & set(excluded)
    for axis, given_ in budget.by_axis.items():
        assert sum(one.axis == axis for one in plan.methods) <= given_
    if chosen:
        last = [one.method for one in ranked].index(chosen[-1])
        reasons = {one.method for one in plan.skipped}
        assert {one.method for one in ranked[:last]} <= set(chosen) | reasons
