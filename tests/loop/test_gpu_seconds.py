"""GPU seconds: counted once for the state and the gate, checks among them; a way out of too few."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbs_engine.gate.rules.gpu_budget import check
from kbs_engine.jobs import Result
from kbs_engine.loop import ablating
from kbs_engine.loop.costs import (
    ablation_costs,
    affords,
    benchmark_costs,
    check_costs,
    next_costs,
    race_costs,
    timing_costs,
    unit_costs,
)
from kbs_engine.run.journal import Journal
from tests.loop.test_searching import World, ledger_of

CHECKED = Result(job_key="a", kind="check", value={"rounds": [], "elapsed_s": 2.0})
TIMED = Result(job_key="b", kind="time", value={"gpu_time_s": 3.0, "elapsed_s": 9.0})
OTHER = Result(job_key="c", kind="disassemble", value={"elapsed_s": 5.0})
BROKEN = Result(job_key="d", kind="time", failure="no GPU")


def test_the_state_and_the_journal_count_the_same_seconds(tmp_path):
    journal = Journal(tmp_path / "events.jsonl")
    journal.open_for_writing()
    ledger = ledger_of(World())
    for result in (CHECKED, TIMED, OTHER, BROKEN):
        journal.job_finished(result, kind=result.kind)
        ledger.spend(result)
    told = [event.data["gpu_time_s"] or 0.0 for event in journal.of_kind("job_finished")]
    assert ledger.state.gpu_seconds_used == sum(told) == 5.0


def test_what_the_next_version_costs_holds_its_checks():
    ledger = ledger_of(World())
    without = next_costs(ledger, 2)
    ledger.spend(CHECKED)
    assert check_costs(ledger, 3) == 6.0
    checks = ledger.settings.branches + 2
    assert next_costs(ledger, 2) == pytest.approx(without + 1.05 * 2.0 * checks)


def timed(arms, pairs, seconds):
    process = [pair for pair in range(pairs) for _ in range(4)]
    value = {"arms": [{"process": process}] * arms, "gpu_time_s": seconds}
    return Result(job_key="t", kind="time", value=value)


def test_what_later_jobs_took_is_the_measure_and_v0_until_there_was_one():
    ledger = ledger_of(World())
    ledger.attempts = 0
    ledger.spend(CHECKED)
    ledger.spend(timed(2, 3, 90.0))
    before = timing_costs(ledger, 4, 1)
    assert (check_costs(ledger, 4), before) == (8.0, unit_costs(ledger) * 5)
    ledger.attempts = 1
    ledger.spend(Result(job_key="e", kind="check", value={"rounds": [], "elapsed_s": 0.5}))
    ledger.spend(timed(4, 1, 0.5))
    ledger.spend(timed(4, 1, 0.25))
    ledger.spend(timed(4, 3, 0.9))
    assert check_costs(ledger, 4) == 2.0
    assert timing_costs(ledger, 4, 1) == pytest.approx(0.5), "the dearest of its kind"
    assert timing_costs(ledger, 4, 3) == pytest.approx(0.9)
    assert race_costs(ledger, 4, 2) == pytest.approx(2.0 + 2 * 0.5)
    assert benchmark_costs(ledger) >= unit_costs(ledger) * 3, "libraries are as slow as ever"


def test_a_version_of_one_method_is_forecast_cheaper_than_one_of_three():
    ledger = ledger_of(World())
    ledger.spend(CHECKED)
    assert next_costs(ledger, 1) < next_costs(ledger, 3)


def test_a_factorial_is_afforded_only_beside_the_final_benchmark():
    free = ledger_of(World())
    assert affords(free, 1e9)  # no budget, no bound
    needs = 1.05 * (ablation_costs(free, 6) + benchmark_costs(free))
    for spare, enough in ((0.1, True), (-0.1, False)):
        ledger = ledger_of(World(), gpu_seconds=free.state.gpu_seconds_used + needs + spare)
        assert affords(ledger, ablation_costs(ledger, 6)) is enough


@pytest.mark.parametrize(("seconds", "rounds"), [(None, 2), (1e6, 2), (1.0, 1)])
def test_an_ablation_goes_on_to_a_factorial_only_where_the_budget_holds_it(
    monkeypatch, seconds, rounds
):
    found, made = SimpleNamespace(needs_factorial=True), []

    def steps(answer):
        yield None
        return answer

    def one_round(*_):
        made.append(found)
        return steps(found)

    how = ablating.How(methods=("a", "b"), switches=frozenset("ab"), tuning="", base_values={},
                       by_base=False, why_not={})  # fmt: skip
    monkeypatch.setattr(ablating, "_timed", one_round)
    monkeypatch.setattr(ablating, "_round", one_round)
    monkeypatch.setattr(ablating, "_write", lambda *_: steps(None))
    monkeypatch.setattr(ablating, "factorial_group", lambda _: ("a", "b"))
    monkeypatch.setattr(ablating, "attribution_file", lambda *_: SimpleNamespace(methods=()))
    facts = SimpleNamespace(methods=("a", "b"), number=1)
    ledger = ledger_of(World(), gpu_seconds=seconds)
    for _ in ablating.ablate(ledger, facts, None, ablating.Ablation(how=how), None):
        pass
    assert len(made) == rounds


@pytest.mark.parametrize(
    ("version", "changes", "refused"),
    [(1, (), True), (1, ({"gpu_seconds": 6.0},), False), (1, ({"gpu_seconds": None},), False),
     (1, ({"notes": "x"},), True), (1, ({"gpu_seconds": 9.0}, {"gpu_seconds": 2.0}), True),
     (0, (), False)],
)  # fmt: skip
def test_a_run_over_its_budget_passes_once_more_is_ordered(tmp_path, version, changes, refused):
    journal = Journal(tmp_path / "events.jsonl")
    journal.open_for_writing()
    journal.append("version_opened", version=version)
    for row in changes:
        journal.append("order", order={"kind": "set", "changes": row})
    told = []
    context = SimpleNamespace(
        state=SimpleNamespace(settings=SimpleNamespace(gpu_seconds=4.0)),
        finished={"b": SimpleNamespace(gpu_time_s=5.0)},
        run=SimpleNamespace(journal=journal, root=tmp_path, paths=SimpleNamespace(journal="j")),
        refuse=lambda *words: words,
    )
    told = list(check(context))
    assert bool(told) == refused
    assert all("--set gpu_seconds=10" in row[-1] for row in told)
