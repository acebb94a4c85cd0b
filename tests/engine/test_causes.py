"""Root causes and their effects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbs_engine.causes import EXPLAINS_AT_LEAST, find_causes, together
from kbs_engine.facts import Citation
from kbs_engine.ports import Rows
from kbs_engine.symptoms import RuleResult, SymptomRule


def rule(name, explains=(), axis="memory"):
    return SymptomRule(
        id=name, axis=axis, title=name, needs=("p.dram_pct",), when="true", severity="1",
        recoverable="1", message="{p.dram_pct:.1f} of {p.l2_pct:.0f}", explains=tuple(explains),
        citation=Citation(path=f"symptoms/{name}.yaml", line=1),
    )  # fmt: skip


def fired(name, recoverable, severity=1.0):
    return RuleResult(id=name, fired=True, severity=severity, recoverable=recoverable)


def rows(**h):
    return Rows(p={"dram_pct": 50.0}, c={}, w={}, h=h)


def split(rules, results, **h):
    causes, effects, missing = find_causes(rules, results, rows(**h))
    return [c.id for c in causes], [c.id for c in effects], [m.id for m in missing]


def test_an_explained_symptom_is_an_effect_and_names_its_cause():
    rules = [rule("a", ["b"]), rule("b")]
    causes, effects, _ = find_causes(rules, [fired("a", 0.4), fired("b", 0.5)], rows())
    assert [c.id for c in causes] == ["a"]
    assert effects[0].explained_by == ("a",)
    assert causes[0].explains == ("b",)


def test_a_trickle_does_not_explain_a_flood():
    rules = [rule("a", ["b"]), rule("b")]
    little = 0.5 * EXPLAINS_AT_LEAST * 0.9
    assert split(rules, [fired("a", little), fired("b", 0.9)]) == (["b", "a"], [], [])


def test_chains_explain_through():
    rules = [rule("a", ["b"]), rule("b", ["c"]), rule("c")]
    results = [fired("a", 0.3), fired("b", 0.3), fired("c", 0.31)]
    assert split(rules, results) == (["a"], ["c", "b"], [])


def test_of_two_that_explain_each_other_the_larger_is_the_root():
    rules = [rule("a", ["b"]), rule("b", ["a"])]
    assert split(rules, [fired("a", 0.2), fired("b", 0.4)])[0] == ["b"]
    assert split(rules, [fired("a", 0.4), fired("b", 0.2)])[0] == ["a"]


def test_what_did_not_fire_explains_nothing():
    rules = [rule("a", ["b"]), rule("b")]
    quiet = RuleResult(id="a", fired=False)
    assert split(rules, [quiet, fired("b", 0.5)]) == (["b"], [], [])


def test_what_was_not_measured_is_said_and_not_read_as_fine():
    unknown = RuleResult(id="a", fired=None, missing=("p.dram_pct",))
    assert split([rule("a")], [unknown]) == ([], [], ["a"])


def test_nothing_returns_more_than_the_gap_and_nothing_cheap_is_severe():
    causes, _, _ = find_causes([rule("a")], [fired("a", 0.9)], rows(gap=0.05))
    assert causes[0].recoverable == 0.05
    assert causes[0].severity == 0.1


def test_a_finding_explains_whatever_it_names():
    rules = [rule("roof", ["a"], axis="none"), rule("a")]
    assert split(rules, [fired("roof", 0.0, 0.0), fired("a", 0.9)]) == (["roof"], ["a"], [])


def test_messages_are_filled_and_absent_values_say_so():
    causes, _, _ = find_causes([rule("a")], [fired("a", 0.5)], rows())
    assert causes[0].message == "50.0 of n/a"
    assert causes[0].evidence[0].metric == "dram_pct"
    assert causes[0].evidence[0].unit == "%"


names = st.sampled_from("abcdefg")


@given(
    st.dictionaries(names, st.sets(names), min_size=1),
    st.dictionaries(names, st.floats(0, 1), min_size=1),
)
def test_every_fired_symptom_is_cause_or_effect_and_something_is_a_root(graph, shares):
    rules = [rule(name, sorted(explains)) for name, explains in graph.items()]
    results = [fired(name, shares[name]) for name in graph if name in shares]
    causes, effects, _ = split(rules, results)
    assert sorted([*causes, *effects]) == sorted(result.id for result in results)
    assert bool(causes) == bool(results)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_cures_together_return_at_most_their_sum_and_at_least_the_best(shares):
    both = together(shares)
    assert 0 <= both <= 1
    assert both <= sum(shares) + 1e-9
    assert both >= max(shares, default=0) - 1e-9
