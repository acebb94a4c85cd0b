"""Planted tampering is refused, each with its reason; an honest run passes."""

from __future__ import annotations

import pytest

from kbs.inspecting import gate_inspectors
from kbs_engine.gate import RULES, check_version
from kbs_engine.run import RunFolder
from tests.conftest import WIKI
from tests.run.tampering import AT_THE_END, WRONG


@pytest.fixture(scope="module")
def inspectors(made):
    return gate_inspectors([WIKI], made / "run")


def refusals(run_at, inspectors, *, number=1, final=False):
    with RunFolder.open(run_at) as run:
        return check_version(run, number, final, inspectors)


def test_an_honest_version_passes(run_at, inspectors):
    assert refusals(run_at, inspectors) == ()
    assert refusals(run_at, inspectors, final=True) == ()


@pytest.mark.parametrize("cheat", WRONG, ids=lambda cheat: cheat.__name__)
def test_tampering_is_refused_with_its_reason(cheat, run_at, inspectors):
    rule, words = WRONG[cheat]
    cheat(run_at)
    final = cheat in AT_THE_END
    found = [row for row in refusals(run_at, inspectors, final=final) if row.rule == rule]
    assert any(words in row.message for row in found), [str(row) for row in found]
    assert all(row.remedy and row.where for row in found)


def test_every_rule_that_speaks_of_content_is_tried():
    tried = {rule for rule, _ in WRONG.values()}
    elsewhere = {"current_version", "order", "one_change", "gpu_budget", "claims", "retold"}
    assert set(RULES) - tried == elsewhere
