"""A version none of whose branches is right: only what was really tried has failed."""

from __future__ import annotations

from kbs_engine.loop.asks import Remember
from kbs_engine.loop.deciding import spent
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import Explored, Tried
from kbs_engine.loop.failing import fail
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.parts import Offered
from kbs_engine.loop.planning import Planning, make_plan
from kbs_engine.loop.version_files import methods_file
from kbs_engine.run.records import Feedback
from tests.loop.test_machine import start
from tests.loop.test_planning import row

PLANNED = {"smem_padding": "memory", "loop_unrolling": "latency", "avoid_fp64": "compute"}


def decision(ledger: Ledger) -> Decision:
    base = Facts(number=0, base=None, source=ledger.begin.baseline)
    ledger.versions[0] = base
    ranked = tuple(row(name, axis, 0.4) for name, axis in PLANNED.items())
    plan, budget = make_plan(Planning(ranked=ranked))
    assert {one.method for one in plan.methods} == set(PLANNED)
    return Decision(base=base, plan=plan, budget=budget, stop=None, ranked=ranked)


def branch(ledger: Ledger, name: str, *methods: str, fault: str) -> Tried:
    offered = Offered(source=ledger.begin.baseline, methods=methods)
    return Tried(name=name, offered=offered, source=offered.source, tunables={}, fault=fault)


def failed(*claims: tuple[str, ...]) -> tuple[Ledger, Decision, Explored, Remember]:
    ledger = Ledger(start())
    chosen = decision(ledger)
    branches = [
        branch(ledger, f"b{i}", *names, fault=f"wrong_result: {i}")
        for i, names in enumerate(claims)
    ]
    feedback = tuple(
        Feedback(attempt=1, branch=one.name, reason="wrong_result", detail=one.fault)
        for one in branches
    )
    explored = Explored(branches=branches, order=[], tries=1, feedback=feedback)
    actions = list(fail(ledger, 1, chosen, explored))
    (remember,) = (one for one in actions if isinstance(one, Remember))
    return ledger, chosen, explored, remember


def test_a_method_that_nobody_wrote_has_not_failed():
    ledger, chosen, _, remember = failed(("smem_padding",), ("loop_unrolling", "other"))
    assert [one.method for one in ledger.state.verdicts] == ["smem_padding", "loop_unrolling"]
    assert [one.method for one in remember.outcomes] == ["smem_padding", "loop_unrolling"]
    assert set(spent(ledger, chosen.base)) == {"smem_padding", "loop_unrolling"}


def test_each_method_is_told_with_the_fault_of_its_own_branch():
    *_, remember = failed(("smem_padding",), ("loop_unrolling",))
    assert [one.notes for one in remember.outcomes] == ["wrong_result: 0", "wrong_result: 1"]


def test_where_nothing_was_written_the_plan_is_set_aside_and_nothing_is_called_failed():
    ledger, chosen, _, remember = failed()
    assert (ledger.state.verdicts, remember.outcomes) == ((), ())
    assert set(spent(ledger, chosen.base)) == set(PLANNED)
    assert "no kernel was written" in spent(ledger, chosen.base)["avoid_fp64"]


def test_the_failed_version_holds_what_was_claimed_and_skips_the_rest():
    ledger, chosen, explored, _ = failed(("loop_unrolling",))
    file = methods_file(ledger, 1, chosen, None, explored.claimed)
    assert [one.method for one in file.methods] == ["loop_unrolling"]
    why = "planned, but no branch claimed it"
    assert [(one.method, one.reason) for one in file.skipped] == [
        ("smem_padding", why),
        ("avoid_fp64", why),
    ]
