"""What is said of branches that lost, and of the template that a version starts from."""

from __future__ import annotations

import msgspec
import pytest

from kbs_engine.loop.exploring import Explored
from kbs_engine.loop.frontier import frontier_of
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.recording import _what
from kbs_engine.loop.version_files import methods_file
from tests.loop.test_failing import branch, decision
from tests.loop.test_machine import start


@pytest.mark.parametrize(
    ("median", "reason"), [(150.0, "slower by 50.0%"), (99.0, "not shown to be faster")]
)
def test_no_branch_is_slower_by_less_than_nothing(median, reason):
    ledger = Ledger(start())
    best, other = (branch(ledger, name, fault="") for name in ("b0", "b1"))
    best.median_ns, other.median_ns = 100.0, median
    (row,) = frontier_of(1, Explored(branches=[best, other], order=[], tries=1, feedback=()), best)
    assert (row.branch, row.reason) == ("b1", reason)


@pytest.mark.parametrize("template", ["", "softmax_rows_triton"])
def test_the_template_that_won_is_named_whichever_were_planned(template):
    ledger = Ledger(start())
    chosen = decision(ledger)
    facts = Facts(
        number=1, base=0, source=ledger.begin.baseline, methods=("loop_unrolling",),
        template=template,
    )  # fmt: skip
    (held,) = methods_file(ledger, 1, chosen, facts).methods
    (planned,) = (one for one in chosen.plan.methods if one.method == "loop_unrolling")
    wanted = f"Start from template {template}" if template else planned.change
    assert held.description == wanted
    plain = _what(ledger, msgspec.structs.replace(facts, template=""))
    assert _what(ledger, facts).replace(f" by template {template}", "") == plain
    assert (_what(ledger, facts) == plain) is not bool(template)
