"""Notes: what is written is read back, and texts by hand in the same headings are read too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbs_engine.errors import InputError
from kbs_engine.run.markdown import (
    HYPOTHESIS,
    evidence_text,
    hypothesis_text,
    parse_evidence,
    parse_hypothesis,
    parse_plan,
    plan_text,
)
from kbs_engine.run.records import (
    EvidenceNote,
    Hypothesis,
    PlanNote,
    Query,
    Search,
    SelectedEvidence,
    ShortHypothesis,
)

KIND = st.sampled_from(["kernel", "bottleneck"])
FEW = settings(max_examples=30, deadline=None)
LINE = st.from_regex(r"[a-z0-9][a-z0-9 .,%<>+]{0,40}[a-z0-9]", fullmatch=True).map(
    lambda text: " ".join(text.split())
)
LINES = st.lists(LINE.filter(lambda t: t not in ("none", "n/a")), min_size=1, max_size=3).map(tuple)


@FEW
@given(
    st.builds(
        Hypothesis, version=st.integers(0, 99), current_evidence=LINES, decision_link=LINE,
        change=LINES, rationale=LINE, expected=LINES, risk=LINE, evidence_used=LINES,
        decision_rule=LINE,
    )
)  # fmt: skip
def test_a_hypothesis_is_read_back(note):
    assert parse_hypothesis(hypothesis_text(note), "h") == note


@FEW
@given(st.builds(ShortHypothesis, hypothesis=LINE, rationale=LINE, expected=LINE))
def test_a_short_hypothesis_is_read_back(note):
    assert parse_hypothesis(hypothesis_text(note), "h") == note


@FEW
@given(
    st.builds(
        EvidenceNote, version=st.integers(0, 99), facts=LINES,
        queries=st.lists(
            st.builds(Query, kind=KIND, text=LINE, answer=LINE),
            max_size=3,
        ).map(tuple),
        selected=st.lists(st.builds(SelectedEvidence, citation=LINE, says=LINE), max_size=3).map(
            tuple
        ),
        rejected=LINES, decision_link=LINE,
    )
)  # fmt: skip
def test_evidence_is_read_back(note):
    assert parse_evidence(evidence_text(note), "e") == note


@FEW
@given(
    st.builds(
        PlanNote, version=st.integers(0, 99), input_evidence=LINES,
        search_log=st.lists(
            st.builds(Search, source=LINE.filter(lambda t: t != "Source"), query=LINE, finding=LINE,
                      actionability=LINE),
            max_size=2,
        ).map(tuple),
        action=LINES, expected_impact=LINES, risks_and_rollback=LINES,
    )
)  # fmt: skip
def test_a_plan_is_read_back(note):
    assert parse_plan(plan_text(note), "p") == note


def test_forms_of_predecessors_are_read():
    short = parse_hypothesis("Hypothesis: wide loads\nRationale: fewer\nExpected: faster\n", "h")
    assert short == ShortHypothesis(hypothesis="wide loads", rationale="fewer", expected="faster")
    bodies = "\n\n".join(f"## {title}\nv1 says so" for title in HYPOTHESIS)
    assert parse_hypothesis(bodies, "h").version == 1
    kbs = (
        "# KBS Evidence\n\n## NCU Facts\n- dram 90\n\n## Queries\n1. kernel-specific: softmax\n"
        "2. **bottleneck-pattern**: uncoalesced\n\n## Selected Evidence\n- a\n\n"
        "## Rejected / Limits\n- none\n\n## Decision Link\nso\n"
    )
    assert [query.kind for query in parse_evidence(kbs, "e").queries] == ["kernel", "bottleneck"]
    atrex = (
        "# Plan\n\n## Input Evidence\nx\n\n## Search Log\n| Source | Query | Finding | "
        "Actionability |\n|---|---|---|---|\n| wiki | q | f | a |\n\n"
        "## This Iteration's Optimization Action\ny\n\n## Expected Impact\nz\n\n"
        "## Risks and Rollback\nr\n"
    )
    assert parse_plan(atrex, "p").search_log[0].query == "q"


@pytest.mark.parametrize(
    ("change", "words", "line"),
    [
        (lambda t: t.replace("## Risk\n", "## Rest\n"), "lacks the heading Risk", None),
        (lambda t: t.replace("## Risk\ntails\n", "## Risk\n"), "nothing stands under", 21),
        (lambda t: t + "\n## Version\nv2\n", "stands twice or out of order", 30),
        (lambda t: t.replace("v3 -> v4", "next"), "names no version", 3),
    ],
)
def test_a_broken_hypothesis_is_told_with_its_line(change, words, line):
    note = Hypothesis(
        version=3, current_evidence=("a",), decision_link="b", change=("c",), rationale="d",
        expected=("e",), risk="tails", evidence_used=("f",), decision_rule="g",
    )  # fmt: skip
    with pytest.raises(InputError, match=words) as caught:
        parse_hypothesis(change(hypothesis_text(note)), "h.txt")
    if line is not None:
        assert caught.value.where == f"h.txt:{line}"
